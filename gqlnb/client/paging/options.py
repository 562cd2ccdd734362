"""The options of paging and their validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import msgspec

from gqlnb.client.call_options import CallOptions
from gqlnb.errors import OptionError
from gqlnb.option_checks import check_whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FrameOptions", "PagingLimits", "PagingOptions", "check_options"]


class PagingBounds(TypedDict, total=False):
    """The limits of paging, as keyword arguments.

    Attributes
    ----------
    page_size
        Items per page; None for the size in the query, or else 100, growing on long lists.
    max_results
        Most items of an outermost list; None for all.
    max_requests
        Most requests; None for no limit.
    """

    page_size: int | None
    max_results: int | None
    max_requests: int | None


class PagingOptions(PagingBounds, CallOptions, total=False):
    """The options of paging and of every call, as keyword arguments.

    Attributes
    ----------
    path
        Dotted name of the list to follow, together with the lists around it and in it; None for
        all lists.
    """

    path: str | None


class FrameOptions(PagingBounds, CallOptions, total=False):
    """The limits of paging, the options of a frame and of every call, as keyword arguments.

    Attributes
    ----------
    short, explode, strict
        As for :meth:`gqlnb.Result.frame`.
    """

    short: bool
    explode: str | None
    strict: bool


class PagingLimits(msgspec.Struct, frozen=True):
    """The limits of paging, with the meaning of :class:`PagingBounds`."""

    page_size: int | None = None
    max_results: int | None = None
    max_requests: int | None = None


def check_options(options: Mapping[str, object]) -> tuple[str | None, PagingLimits]:
    """Return the path of the list to follow, and the limits.

    Raises
    ------
    OptionError
        If a value is invalid.
    """
    path = options.get("path")
    limits: dict[str, int] = {}
    for name, value in options.items():
        if name == "path":
            continue
        if value is not None:
            limits[name] = check_whole_number(name, value, least=1, or_none=True)
    if not isinstance(path, str | None):
        msg = f"path= takes the dotted name of a list; got {type(path).__name__}."
        raise OptionError(msg)
    return path, PagingLimits(**limits)

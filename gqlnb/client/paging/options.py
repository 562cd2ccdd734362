"""The options of paging: how far to go, in pages of which size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from gqlnb.errors import OptionError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FrameOptions", "PagingBounds", "PagingLimits", "PagingOptions", "check_options"]

OPTION_NAMES = ("page_size", "max_results", "max_requests")


class PagingBounds(TypedDict, total=False):
    """How far to page, as keyword arguments.

    Attributes
    ----------
    page_size
        Items of every page; None for the text's size, else 100, which grows on long lists.
    max_results
        Most items of an outermost list; None for all.
    max_requests
        Most requests; None for any number.
    """

    page_size: int | None
    max_results: int | None
    max_requests: int | None


class PagingOptions(PagingBounds, total=False):
    """The options of paging, as keyword arguments.

    Attributes
    ----------
    path
        The dotted name of the list to follow, with those it stands in and those in it; None for
        all.
    """

    path: str | None


class FrameOptions(PagingBounds, total=False):
    """How far to page, and how the rows become a frame, as keyword arguments.

    Attributes
    ----------
    short, explode, strict
        As for :meth:`gqlnb.Result.frame`.
    """

    short: bool
    explode: str | None
    strict: bool


@dataclass(frozen=True, slots=True)
class PagingLimits:
    """How far to page: items of a page, most items of an outermost list, most requests."""

    page_size: int | None = None
    max_results: int | None = None
    max_requests: int | None = None


def check_options(options: Mapping[str, object]) -> tuple[str | None, PagingLimits]:
    """Return the path of the list to follow, and the limits.

    Raises
    ------
    OptionError
        If there is no such option, or it takes no such value.
    """
    given = dict(options)
    path = given.pop("path", None)
    limits: dict[str, int | None] = {}
    for name, value in given.items():
        if name not in OPTION_NAMES:
            known = "=, ".join(("path", *OPTION_NAMES))
            msg = f"There is no option {sanitize_text(name, 40)}=. Paging takes {known}=."
            raise OptionError(msg)
        whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
        if value is not None and not whole:
            msg = f"{name}= takes a whole number above 0, or None; got {sanitize_text(repr(value), 40)}."
            raise OptionError(msg)
        limits[name] = value if isinstance(value, int) else None
    if not isinstance(path, str | None):
        msg = f"path= takes the dotted name of a list; got {type(path).__name__}."
        raise OptionError(msg)
    return path, PagingLimits(**limits)

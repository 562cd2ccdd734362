"""How far to page: the options of paging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from gqlnb.errors import OptionError, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Bounds", "Extent", "Options", "checked"]

NAMES = ("page_size", "max_results", "max_requests")


class Bounds(TypedDict, total=False):
    """How far to page, as keyword arguments.

    Attributes
    ----------
    page_size
        Items of a page; None for what the text says, else 100.
    max_results
        Most items of an outermost connection; None for all.
    max_requests
        Most requests; None for any number.
    """

    page_size: int | None
    max_results: int | None
    max_requests: int | None


class Extent(Bounds, total=False):
    """The same, and which connection to follow.

    Attributes
    ----------
    path
        Its dotted name, with those it stands in and those in it; None for all.
    """

    path: str | None


@dataclass(frozen=True, slots=True)
class Options:
    """How far to page: items a page, most items of an outermost connection, most requests."""

    page_size: int | None = None
    max_results: int | None = None
    max_requests: int | None = None


def checked(options: Mapping[str, Any]) -> tuple[str | None, Options]:
    """Return the path of the connection to follow, and the other options, checked.

    Raises
    ------
    OptionError
        If there is no such option, or it has no such value.
    """
    given = dict(options)
    path = given.pop("path", None)
    for name, value in given.items():
        if name not in NAMES:
            known = "=, ".join(("path", *NAMES))
            msg = f"There is no option {plain(name, 40)}=. Paging takes {known}=."
            raise OptionError(msg)
        whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
        if value is not None and not whole:
            msg = f"{name}= takes a whole number above 0, or None; got {plain(repr(value), 40)}."
            raise OptionError(msg)
    if not isinstance(path, (str, type(None))):
        msg = f"path= takes the dotted name of a connection; got {type(path).__name__}."
        raise OptionError(msg)
    return path, Options(**given)

"""Whether a list has a further page, and where it begins: rules on the page that came last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.model.page_info import get_path
from gqlnb.model.report import COMPLETE

if TYPE_CHECKING:
    from gqlnb.client.paging.cursors import ListCursor

__all__ = ["MAY_GO_ON", "next_page"]

BARREN_NUMBERS = 2  # pages in a row that may bring nothing new, of lists paged by numbers
LAST_PAGES = ("lastPage", "last_page")  # numbers of pages; the others are counts of them
MAY_GO_ON = "the list may go on, and the object it stands in cannot be asked for again."


def next_page(
    cursor: ListCursor, page: dict[str, Any], *, new: bool, cut: bool, counted: bool
) -> str | None:
    """Move a list to its next page.

    Parameters
    ----------
    cursor
        The list, with the length of the page taken in.
    page
        The page that came last.
    new
        Whether it brought anything new.
    cut
        Whether enough items have come.
    counted
        Whether a count of all items can be compared with those that came.

    Returns
    -------
    str or None
        Why there is no further page to ask for, `COMPLETE` if the list is over; None if there is
        one. `MAY_GO_ON` where that depends on the pages of other lists.
    """
    cursor.barren = 0 if new else cursor.barren + 1
    cursor.is_probing = False
    if cursor.field.kind == "none":
        return _check_bound(cursor)
    if cursor.field.kind == "cursor":
        return _follow_cursor(cursor, page, cut=cut)
    return _follow_number(cursor, page, cut=cut, counted=counted)


def _check_bound(cursor: ListCursor) -> str:
    """Return whether a list that cannot be continued is shorter than its bound."""
    arguments = cursor.field.arguments
    bound = cursor.asked if cursor.asked is not None else arguments.default_size
    if cursor.last == 0 or (bound is not None and cursor.last < bound):
        return COMPLETE
    name = ".".join(arguments.size)
    return f"the list is bounded by `{name}:`, and the schema offers no way to ask for more."


def _follow_cursor(cursor: ListCursor, page: dict[str, Any], *, cut: bool) -> str | None:
    info = cursor.field.info
    more = get_path(page, info.more) if info.more else None
    following = get_path(page, info.cursor)
    if cursor.field.is_connection:
        if not isinstance(get_path(page, info.more[:-1]), dict):
            return "no pageInfo came"
        if not more:
            return COMPLETE
    elif (info.more and more is False) or (
        not info.more and (following is None or not cursor.last)
    ):
        return COMPLETE
    return "max_results" if cut else cursor.move_to(following)


def _follow_number(
    cursor: ListCursor, page: dict[str, Any], *, cut: bool, counted: bool
) -> str | None:
    more = _says_more(cursor, page)
    over = cursor.last == 0 or (
        counted and cursor.total is not None and cursor.came >= cursor.total
    )
    if more is False or (more is None and over):
        return COMPLETE
    if cursor.last == 0:
        return "there is more, but an empty page came"
    if cut:
        return "max_results"
    if cursor.same_page or cursor.barren >= BARREN_NUMBERS:
        name = ".".join(cursor.field.arguments.position)
        return f"the same page came again: the endpoint does not look at `{name}:`."
    full = cursor.asked is not None and cursor.last >= cursor.asked
    cursor.is_probing = more is None and not full
    cursor.advance(page)
    undecided = cursor.is_probing and not cursor.reachable
    return MAY_GO_ON if undecided else cursor.unreachable


def _says_more(cursor: ListCursor, page: dict[str, Any]) -> bool | None:
    """Return whether a page says that there is more; None if it does not say."""
    info = cursor.field.info
    value = get_path(page, info.more) if info.more else None
    if not info.more or (value is None and info.meaning != "pointer"):
        return None
    if info.meaning == "pages":
        return _is_before_last(cursor, page, value)
    return {"flag": bool(value), "last": not value, "pointer": value is not None}[info.meaning]


def _is_before_last(cursor: ListCursor, page: dict[str, Any], pages: Any) -> bool | None:
    """Return whether a page comes before the last one; None if that is not known.

    `pages` is the number of the last page, or how many there are.
    """
    info = cursor.field.info
    if not isinstance(pages, int):
        return None
    current = get_path(page, info.current) if info.current else None
    number = current if isinstance(current, int) else cursor.page_number
    if info.more[-1] in LAST_PAGES:
        return None if number is None else number < pages
    return (number or cursor.pages) < pages

"""Whether a list has a further page, and where it begins: rules on the page that came last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.model.page_info import ENDS, get_path
from gqlnb.model.report import COMPLETE

if TYPE_CHECKING:
    from gqlnb.client.paging.cursors import ListCursor

__all__ = ["MAY_GO_ON", "looks_cut", "next_page"]

ALIKE_PAGES = 40  # pages in a row that may be equal, in rows that nothing tells apart
BARREN_NUMBERS = 2  # pages in a row that may bring nothing new, of lists paged by numbers
LAST_PAGES = ("lastPage", "last_page")  # numbers of pages; the others are counts of them
MAY_GO_ON = "the list may go on, and the object it stands in cannot be asked for again."
SHORTEST_LIMIT = 5  # items; no service is known to cut lists at fewer


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
    if cursor.last == 0:
        return COMPLETE
    name = ".".join(arguments.size)
    if bound is None or cursor.last >= bound:
        return f"the list is bounded by `{name}:`, and the schema offers no way to ask for more."
    if looks_cut(cursor.last, bound):
        return (
            f"{cursor.last:,} items came for `{name}: {bound}`, which may be the most that the "
            "endpoint gives, and the schema offers no way to ask for more."
        )
    return COMPLETE


def looks_cut(length: int, asked: int | None) -> bool:
    """Return whether a list of a length may be one that the endpoint cut.

    It is as long as it was asked for, or as long as the limits that services set by themselves:
    a multiple of five, or a power of two.
    """
    if asked is not None and length >= asked:
        return True
    power = length & (length - 1) == 0
    return length >= SHORTEST_LIMIT and (length % 5 == 0 or power)


def _follow_cursor(cursor: ListCursor, page: dict[str, Any], *, cut: bool) -> str | None:
    info = cursor.field.info
    more = get_path(page, info.more) if info.more else None
    following = get_path(page, info.cursor)
    if cursor.field.is_connection:
        if not isinstance(get_path(page, info.more[:-1]), dict):
            return "no pageInfo came"
        if more is None:
            return f"`{info.more[-1]}` came as null"
        if not more or (cursor.is_bounded and not cursor.last):
            return COMPLETE  # behind the other bound of the text there may be more
    elif info.more and more is not None:
        if more is False:
            return COMPLETE
    elif following is None or (not cursor.last and info.cursor[-1] in ENDS):
        return COMPLETE  # an empty page with a token is not the end: AppSync filters its pages
    return "max_results" if cut else cursor.move_to(following)


def _follow_number(
    cursor: ListCursor, page: dict[str, Any], *, cut: bool, counted: bool
) -> str | None:
    more = _says_more(cursor, page)
    full = cursor.asked is not None and cursor.last >= cursor.asked
    left = None if cursor.total is None or not counted else cursor.total - cursor.came
    over = cursor.last == 0 or (left is not None and left <= 0)
    if left == 0 and cursor.last and cursor.is_outermost:
        # A count may be too small, or that of one page; if pages overlap, more come than it says.
        first = cursor.pages == 1 and looks_cut(cursor.last, cursor.asked)
        over = not (full or first or cursor.repeated)
    if more is False or (more is None and over):
        return COMPLETE
    if cursor.last == 0:
        return "there is more, but an empty page came"
    if cut:
        return "max_results"
    if cursor.same_page or cursor.barren >= BARREN_NUMBERS or cursor.alike >= ALIKE_PAGES:
        name = ".".join(cursor.field.arguments.position)
        return f"the same page came again: the endpoint does not look at `{name}:`."
    cursor.is_probing = more is None and (left == 0 or not full)
    cursor.advance(page)
    undecided = cursor.is_probing and not cursor.reachable
    return MAY_GO_ON if undecided else cursor.unreachable


def _says_more(cursor: ListCursor, page: dict[str, Any]) -> bool | None:
    """Return whether a page says that there is more; None if it does not say."""
    info = cursor.field.info
    value = get_path(page, info.more) if info.more else None
    if not info.more or (value is None and info.meaning != "pointer"):
        return None
    if value is None and not isinstance(get_path(page, info.more[:-1]), dict):
        return None  # the object that holds the pointer is null
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

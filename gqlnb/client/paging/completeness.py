"""Whether a list has a further page, and where it begins: rules on the page that came last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.document.paging_conventions import END_CURSORS, get_at_path
from gqlnb.result.paging_report import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gqlnb.client.paging.cursors import ListCursor
    from gqlnb.document.paged_fields import PagedField

__all__ = [
    "MAY_CONTINUE",
    "advance_cursor",
    "describe_doubt",
    "find_null",
    "find_unknown_lists",
    "is_likely_truncated",
    "list_response_paths",
]

MAX_EQUAL_PAGES = 40  # pages in a row that may be equal, in rows that nothing tells apart
MAX_BARREN_NUMBERED_PAGES = (
    2  # pages in a row that may bring nothing new, of lists paged by numbers
)
LAST_PAGE_FIELDS = ("lastPage", "last_page")  # numbers of pages; the others are counts of them
MAY_CONTINUE = "the list may go on, and the object it stands in cannot be asked for again."
SMALLEST_SERVICE_LIMIT = 5  # items; no service is known to cut lists at fewer


def advance_cursor(
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
        one. `MAY_CONTINUE` where that depends on the pages of other lists.
    """
    cursor.barren_pages = 0 if new else cursor.barren_pages + 1
    cursor.is_probing = False
    if cursor.field.kind == "none":
        return _check_bound(cursor)
    if cursor.field.kind == "cursor":
        return _follow_cursor(cursor, page, cut=cut)
    return _follow_number(cursor, page, cut=cut, counted=counted)


def _check_bound(cursor: ListCursor) -> str:
    """Return whether a list that cannot be continued is shorter than its bound."""
    arguments = cursor.field.arguments
    bound = cursor.requested_size if cursor.requested_size is not None else arguments.default_size
    if cursor.last_length == 0:
        return COMPLETE
    name = ".".join(arguments.size)
    if bound is None or cursor.last_length >= bound:
        return f"the list is bounded by `{name}:`, and the schema offers no way to ask for more."
    if is_likely_truncated(cursor.last_length, bound):
        return (
            f"{cursor.last_length:,} items came for `{name}: {bound}`, which may be the most that the "
            "endpoint gives, and the schema offers no way to ask for more."
        )
    return COMPLETE


def is_likely_truncated(length: int, asked: int | None) -> bool:
    """Return whether a list of a length may be one that the endpoint cut.

    It is as long as it was asked for, or as long as the limits that services set by themselves:
    a multiple of five, or a power of two.
    """
    if asked is not None and length >= asked:
        return True
    power = length & (length - 1) == 0
    return length >= SMALLEST_SERVICE_LIMIT and (length % 5 == 0 or power)


def _follow_cursor(cursor: ListCursor, page: dict[str, Any], *, cut: bool) -> str | None:
    info = cursor.field.info
    more = get_at_path(page, info.more) if info.more else None
    following = get_at_path(page, info.cursor)
    if cursor.field.is_connection:
        if not isinstance(get_at_path(page, info.more[:-1]), dict):
            return "no pageInfo came"
        if more is None:
            return f"`{info.more[-1]}` came as null"
        if not more or (cursor.is_bounded and not cursor.last_length):
            return COMPLETE  # behind the other bound of the text there may be more
    elif info.more and more is not None:
        if more is False:
            return COMPLETE
    elif following is None or (not cursor.last_length and info.cursor[-1] in END_CURSORS):
        return COMPLETE  # an empty page with a token is not the end: AppSync filters its pages
    return "max_results" if cut else cursor.move_to(following)


def _follow_number(
    cursor: ListCursor, page: dict[str, Any], *, cut: bool, counted: bool
) -> str | None:
    more = _read_has_more(cursor, page)
    full = cursor.requested_size is not None and cursor.last_length >= cursor.requested_size
    left = None if cursor.total is None or not counted else cursor.total - cursor.received
    over = cursor.last_length == 0 or (left is not None and left <= 0)
    if left == 0 and cursor.last_length and cursor.is_outermost:
        # A count may be too small, or that of one page; if pages overlap, more come than it says.
        first = cursor.pages == 1 and is_likely_truncated(cursor.last_length, cursor.requested_size)
        over = not (full or first or cursor.repeated)
    if more is False or (more is None and over):
        return COMPLETE
    if cursor.last_length == 0:
        return "there is more, but an empty page came"
    if cut:
        return "max_results"
    if (
        cursor.same_page
        or cursor.barren_pages >= MAX_BARREN_NUMBERED_PAGES
        or cursor.equal_pages >= MAX_EQUAL_PAGES
    ):
        name = ".".join(cursor.field.arguments.position)
        return f"the same page came again: the endpoint does not look at `{name}:`."
    cursor.is_probing = more is None and (left == 0 or not full)
    cursor.advance(page)
    undecided = cursor.is_probing and not cursor.reachable
    return MAY_CONTINUE if undecided else cursor.unreachable


def _read_has_more(cursor: ListCursor, page: dict[str, Any]) -> bool | None:
    """Return whether a page says that there is more; None if it does not say."""
    info = cursor.field.info
    value = get_at_path(page, info.more) if info.more else None
    if not info.more or (value is None and info.meaning != "pointer"):
        return None
    if value is None and not isinstance(get_at_path(page, info.more[:-1]), dict):
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
    current = get_at_path(page, info.current) if info.current else None
    number = current if isinstance(current, int) else cursor.page_number
    if info.more[-1] in LAST_PAGE_FIELDS:
        return None if number is None else number < pages
    return (number or cursor.pages) < pages


MAX_ITEMS_INSPECTED = 20  # items of a list that are looked into


def describe_doubt(cursor: ListCursor) -> str | None:
    """Return why a list may be incomplete although the endpoint says that it ended; or None."""
    counted = cursor.total is not None
    if counted and cursor.got != cursor.total and not cursor.is_outermost:
        more = "more" if cursor.got > (cursor.total or 0) else "fewer"
        return f"{more} items came than the endpoint counts."
    if cursor.ambiguous:
        return "the same id came with different items, so rows cannot be told apart."
    if cursor.overlaps:
        return (
            "pages overlapped or came twice, and nothing tells their rows apart. "
            "Select a field that identifies them."
        )
    if cursor.duplicates and not (counted and cursor.is_recounted):
        return (
            f"{cursor.duplicates:,} items came twice, so items moved between pages, and others may "
            "have been missed. Select a count of all items, if there is one, or an order that does "
            "not change."
        )
    return None


def find_unknown_lists(data: Any, fields: Sequence[PagedField]) -> Iterator[str]:
    """Yield the dotted names of lists in an answer that no paged field explains.

    Without a schema nobody knows whether such a list has arguments for further pages.
    """
    followed = {place for field in fields for place in list_response_paths(field)}
    found: dict[str, None] = {}
    waiting: list[tuple[Any, tuple[str, ...]]] = [(data, ())]
    while waiting:
        value, steps = waiting.pop()
        if isinstance(value, list):
            if steps not in followed:
                found[".".join(steps)] = None
            waiting.extend((item, steps) for item in value[:MAX_ITEMS_INSPECTED])
        elif isinstance(value, dict):
            waiting.extend((inner, (*steps, name)) for name, inner in value.items())
    yield from found


def find_null(data: Any, path: Sequence[str | int]) -> tuple[str, ...] | None:
    """Return the response names that lead to the first null on a path; None if there is none."""
    names: list[str] = []
    for step in path:
        if data is None:
            break
        if isinstance(step, str):
            names.append(step)
            data = data.get(step) if isinstance(data, dict) else None
        else:
            data = data[step] if isinstance(data, list) and step < len(data) else None
    return tuple(names) if data is None and names else None


def list_response_paths(field: PagedField) -> Iterator[tuple[str, ...]]:
    """Yield the response names from the data to the lists of a field."""
    steps = tuple(step for step in field.steps if step)
    outer = () if field.outer is None else _build_page_path(field.outer)
    for each in field.items:
        yield (*outer, *steps, each.key) if each.key else (*outer, *steps)


def _build_page_path(field: PagedField) -> tuple[str, ...]:
    """Return the response names from the data to the pages of a field."""
    outer = () if field.outer is None else _build_page_path(field.outer)
    return (*outer, *(step for step in field.steps if step))

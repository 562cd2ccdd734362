"""Rules for the end of a list: whether a page follows, and whether the end can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.document.paging_conventions import END_CURSORS, get_at_path
from gqlnb.result.paging_report import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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

MAX_EQUAL_PAGES = 40  # equal pages in a row, of rows without an identifier
MAX_BARREN_NUMBERED_PAGES = 2  # pages in a row without new rows, of lists paged by numbers
LAST_PAGE_FIELDS = ("lastPage", "last_page")  # a page number; other fields count the pages
MAY_CONTINUE = "the list may have more items, but its object cannot be requested again."
SMALLEST_SERVICE_LIMIT = 5  # items; no service is known that cuts lists to fewer
MAX_ITEMS_INSPECTED = 20  # items of each list that are searched for further lists


def advance_cursor(
    cursor: ListCursor, page: Mapping[str, object], *, new: bool, cut: bool, counted: bool
) -> str | None:
    """Move a list to its next page.

    Parameters
    ----------
    cursor
        The list, after :meth:`ListCursor.add_length` for `page`.
    page
        The last page.
    new
        Whether the page has new items.
    cut
        Whether `max_results` is reached.
    counted
        Whether the total can be compared with the number of items.

    Returns
    -------
    str or None
        None if there is a next page to request, else the reason why not. `COMPLETE` at the end of
        the list; `MAY_CONTINUE` if the pages of other lists must decide whether this is the end.
    """
    cursor.barren_pages = 0 if new else cursor.barren_pages + 1
    cursor.is_probing = False
    if cursor.field.kind == "none":
        return _check_bound(cursor)
    if cursor.field.kind == "cursor":
        return _follow_cursor(cursor, page, cut=cut)
    return _follow_number(cursor, page, cut=cut, counted=counted)


def _check_bound(cursor: ListCursor) -> str:
    """Compare the length of a list without further pages with its bound."""
    arguments = cursor.field.arguments
    bound = cursor.requested_size if cursor.requested_size is not None else arguments.default_size
    if cursor.last_length == 0:
        return COMPLETE
    name = ".".join(arguments.size)
    if bound is None or cursor.last_length >= bound:
        return f"the list is bounded by `{name}:`, and the schema offers no way to ask for more."
    if is_likely_truncated(cursor.last_length, bound):
        return (
            f"{cursor.last_length:,} items came for `{name}: {bound}`, which may be the most that "
            "the endpoint gives, and the schema offers no way to ask for more."
        )
    return COMPLETE


def is_likely_truncated(length: int, asked: int | None) -> bool:
    """Return whether the endpoint may have cut a list to `length` items.

    That is the case for the size asked for, and for the limits that services usually set:
    multiples of five and powers of two.
    """
    if asked is not None and length >= asked:
        return True
    is_power_of_two = length & (length - 1) == 0
    return length >= SMALLEST_SERVICE_LIMIT and (length % 5 == 0 or is_power_of_two)


def _follow_cursor(cursor: ListCursor, page: Mapping[str, object], *, cut: bool) -> str | None:
    info = cursor.field.info
    more = get_at_path(page, info.more) if info.more else None
    following = get_at_path(page, info.cursor)
    if cursor.field.is_connection:
        if not isinstance(get_at_path(page, info.more[:-1]), dict):
            return "no pageInfo came"
        if more is None:
            return f"`{info.more[-1]}` came as null"
        # With a bound such as `before:`, hasNextPage may refer to the items beyond the bound.
        if not more or (cursor.is_bounded and not cursor.last_length):
            return COMPLETE
    elif info.more and more is not None:
        if more is False:
            return COMPLETE
    # An empty page with a token is not the end: AppSync filters pages after it has cut them.
    elif following is None or (not cursor.last_length and info.cursor[-1] in END_CURSORS):
        return COMPLETE
    return "max_results" if cut else cursor.move_to(following)


def _follow_number(
    cursor: ListCursor, page: Mapping[str, object], *, cut: bool, counted: bool
) -> str | None:
    more = _read_has_more(cursor, page)
    full = cursor.requested_size is not None and cursor.last_length >= cursor.requested_size
    left = None if cursor.total is None or not counted else cursor.total - cursor.received
    over = cursor.last_length == 0 or (left is not None and left <= 0)
    if left == 0 and cursor.last_length and cursor.field.outer is None:
        # The total may be too small, or the length of the page; and overlapping pages have more
        # items than the total. One more page shows it.
        first = cursor.pages == 1 and is_likely_truncated(cursor.last_length, cursor.requested_size)
        over = not (full or first or cursor.repeated)
    if more is False or (more is None and over):
        return COMPLETE
    if cursor.last_length == 0:
        return "there are more items, but an empty page came"
    if cut:
        return "max_results"
    if (
        cursor.same_page
        or cursor.barren_pages >= MAX_BARREN_NUMBERED_PAGES
        or cursor.equal_pages >= MAX_EQUAL_PAGES
    ):
        name = ".".join(cursor.field.arguments.position)
        return f"the same page came again: the endpoint ignores `{name}:`."
    cursor.is_probing = more is None and (left == 0 or not full)
    cursor.advance(page)
    undecided = cursor.is_probing and not cursor.reachable
    return MAY_CONTINUE if undecided else cursor.unreachable


def _read_has_more(cursor: ListCursor, page: Mapping[str, object]) -> bool | None:
    """Return whether a page says that another one follows; None if it does not say."""
    info = cursor.field.info
    value = get_at_path(page, info.more) if info.more else None
    if not info.more or (value is None and info.meaning != "pointer"):
        return None
    if value is None and not isinstance(get_at_path(page, info.more[:-1]), dict):
        return None  # the object that holds the pointer is null
    if info.meaning != "pages":
        return {"flag": bool(value), "last": not value, "pointer": value is not None}[info.meaning]
    if not isinstance(value, int):
        return None
    current = get_at_path(page, info.current) if info.current else None
    number = current if isinstance(current, int) else cursor.page_number
    if info.more[-1] in LAST_PAGE_FIELDS:
        return None if number is None else number < value
    return (number or cursor.pages) < value


def describe_doubt(cursor: ListCursor) -> str | None:
    """Return why a list may be incomplete although the endpoint says that it ended; or None."""
    counted = cursor.total is not None
    if counted and cursor.got != cursor.total and cursor.field.outer is not None:
        more = "more" if cursor.got > (cursor.total or 0) else "fewer"
        return f"{more} items came than the endpoint counts."
    if cursor.ambiguous:
        return "the same id came with different items, so rows cannot be told apart."
    if cursor.overlaps:
        return (
            "pages overlapped or came twice, and nothing tells their rows apart. "
            "Select a field that identifies them."
        )
    if cursor.duplicates and not (counted and cursor.field.counted):
        return (
            f"{cursor.duplicates:,} items came twice, so items moved between pages, and others may "
            "have been missed. Select a count of all items, if there is one, or an order that does "
            "not change."
        )
    return None


def find_unknown_lists(data: object, fields: Sequence[PagedField]) -> Iterator[str]:
    """Yield the dotted names of lists that do not belong to a paged field.

    Without a schema it is unknown whether such a list has arguments for further pages.
    """
    followed = {path for field in fields for path in list_response_paths(field)}
    found: dict[str, None] = {}
    waiting: list[tuple[object, tuple[str, ...]]] = [(data, ())]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, list):
            if path not in followed:
                found[".".join(path)] = None
            waiting.extend((item, path) for item in value[:MAX_ITEMS_INSPECTED])
        elif isinstance(value, dict):
            waiting.extend((inner, (*path, name)) for name, inner in value.items())
    yield from found


def find_null(data: object, path: Sequence[str | int]) -> tuple[str, ...] | None:
    """Return the response names that lead to the first null on a path; None without a null."""
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
    """Yield the response names that lead from the data to the lists of a field."""
    path: tuple[str, ...] = ()
    around: PagedField | None = field
    while around is not None:
        path = (*(step for step in around.steps if step), *path)
        around = around.outer
    for items in field.items:
        yield (*path, items.key) if items.key else path

"""Rules for the end of a list: whether a page follows, and whether the end can be trusted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gqlnb.document.paging_conventions import (
    are_offsets,
    detect_offset_format,
    format_argument,
    get_at_path,
)
from gqlnb.document.selections import ADDED_PREFIX, is_on_path
from gqlnb.document.suspect_lists import find_objects, is_usual
from gqlnb.result.paging_report import COMPLETE, LIMITS_REACHED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gqlnb.client.paging.cursors import ListCursor
    from gqlnb.document.paged_fields import PagedField
    from gqlnb.result.shape import Shape

MAX_PAGES_AFTER_END = 20  # with items, of a list that the endpoint reported to have ended
MAX_EQUAL_PAGES = 40  # equal pages in a row, of rows without an identifier
MAX_NUMBERED_PAGES_WITHOUT_NEW_ITEMS = (
    2  # pages in a row without new rows, of lists paged by numbers
)
SHARED_LIMIT = (
    "the lists of several objects have together as many items as one page, so the endpoint may "
    "have cut them. Request the list of one object to compare."
)
EMPTY_PROMISE = (
    "the endpoint reported a next page, and it was empty: rows may be missing, where the order has "
    "nulls or equal values. Order by an id."
)
LAST_ROW = (
    "`last: 1` brings a row that is not among those that came: rows may be missing, where the "
    "order has nulls, or beyond a limit of the endpoint."
)
SHARED_CURSORS = (
    "rows of one page have the same cursor, so that others with it may be missing between two "
    "pages. Order by an id."
)
MOVED = "items moved between two pages."
LOST_ROW = (
    "the second page does not begin with the row after its cursor, so that others may be missing "
    "between pages, too. Order by an id."
)
MAY_CONTINUE = (
    "the list may have more items, but its object cannot be requested again: give it larger pages "
    "in the query."
)
SHARED_VALUE = (
    "as many rows as a page have the same `{}`, after which the next page begins, so that others "
    "with it may be missing."
)
SMALLEST_SHARED_LIMIT = 10  # items; short lists have that many together by chance
MAX_ITEMS_INSPECTED = 20  # items of each list that are searched for further lists


def advance_cursor(
    cursor: ListCursor, page: Mapping[str, object], *, new: bool, cut: bool, counted: bool
) -> str | None:
    """Move a list to its next page.

    Parameters
    ----------
    cursor
        The list, after :meth:`ListCursor.add_lengths` for `page`.
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
    cursor.evidence.note_page(new=new)
    if cursor.field.may_lack_lists and not any(each.key in page for each in cursor.field.items):
        return "the endpoint returned an object of another type, without the list."
    if cursor.field.kind == "none":
        return check_bound(cursor)
    if cursor.field.kind == "cursor":
        return _follow_cursor(cursor, page, cut=cut, counted=counted)
    return _follow_number(cursor, page, cut=cut, counted=counted)


def check_bound(cursor: ListCursor) -> str:
    """Compare the length of a list without further pages with its bound."""
    # An endpoint that once returned more items did not cut the list at this length.
    if cursor.field.is_outermost and cursor.evidence.last_length < cursor.evidence.longest_answer:
        return COMPLETE
    arguments = cursor.field.arguments
    bound = cursor.place.requested_size
    bound = arguments.default_size if bound is None else bound
    # Of a size found by experiments, these say whether the list is whole.
    if cursor.evidence.last_length == 0 or arguments.found_size is not None:
        return COMPLETE
    name = format_argument(arguments.size)
    if not name:
        return (
            "the list has no arguments for further pages, so the endpoint may have cut it. "
            "Slice(cap=...) takes the most rows that it returns."
        )
    if bound is None or cursor.evidence.last_length >= bound:
        return f"the list is bounded by `{name}:`, and the schema does not say how to fetch more."
    likely = (length for length in cursor.evidence.lengths if is_likely_truncated(length, bound))
    length = next(likely, None)
    if length is None:
        return COMPLETE
    return (
        f"{length:,} items were returned for `{name}: {bound}`, which may be the endpoint's "
        "maximum, and the schema does not say how to fetch more."
    )


def is_likely_truncated(length: int, asked: int | None) -> bool:
    """Return whether the endpoint may have cut a list to `length` items."""
    return (asked is not None and length >= asked) or is_usual(length)


def _follow_cursor(
    cursor: ListCursor, page: Mapping[str, object], *, cut: bool, counted: bool
) -> str | None:
    field, info, evidence = cursor.field, cursor.field.info, cursor.evidence
    more = get_at_path(page, info.more) if info.more else None
    # Where tokens come from protocol buffers, as in MLflow, the last one is an empty text.
    following = cursor.read_row_cursor(page) if info.is_of_row else get_at_path(page, info.cursor)
    size, length = field.arguments.found_size or 0, evidence.last_length + cursor.place.dropped
    if following is None and info.is_of_row and length >= size > 0:
        return SHARED_VALUE.format(".".join(info.cursor))
    following = None if following == "" else following
    if following is None and field.is_connection and not field.backward:
        rows = page.get(field.items[0].key)
        following = get_at_path(rows[-1], ("cursor",)) if isinstance(rows, list) and rows else None
    is_held = info.is_of_row or isinstance(get_at_path(page, info.cursor[:-1]), dict)
    is_unknown = not is_held or (bool(info.more) and more is None)
    # With a bound such as `before:`, hasNextPage may refer to the items beyond the bound; in
    # nestjs-graphql-connection it compares the count of all items with those of the page.
    is_counted = following is None and cursor.got == evidence.total
    if not evidence.last_length and (field.is_bounded or is_counted):
        return COMPLETE
    if following is None and evidence.last_length and is_unknown:
        steps = info.more if is_held else info.cursor[:-1]
        name = ".".join(step.removeprefix(ADDED_PREFIX) for step in steps)
        return f"`{name}` is null, so nothing says whether more items follow."
    if more is False:
        return _verify_end(cursor, following, cut=cut) if field.is_connection else COMPLETE
    # An empty page with a token is not the end: AppSync and Codex filter pages after they have cut
    # them. An end cursor that was sent before is: there are no rows from which to make another.
    is_known = not cursor.place.can_move_to(following)
    is_empty_end = not evidence.last_length and info.is_end_cursor and is_known
    if more is None and (following is None or is_empty_end):
        # There are endpoints that never fill a token: a full first page is requested once more,
        # at twice its size.
        can_verify = counted and not (cut or info.more or info.is_of_row or field.is_connection)
        evidence.is_verifying = evidence.is_probing = (
            can_verify
            and cursor.place.pages == 1
            and cursor.has_full_page
            and evidence.total != cursor.got
            and bool(field.arguments.size)
            and field.is_outermost
            and cursor.reachable
        )
        return None if evidence.is_verifying else COMPLETE
    evidence.is_verifying = False
    reason = "max_results" if cut else cursor.move_to(following)
    if reason is None:
        cursor.repeat_last_row(page)
    return reason


def _verify_end(cursor: ListCursor, following: object, *, cut: bool) -> str | None:
    """Return the reason for the end that ``hasNextPage: false`` reports; None to request a page.

    A full page is followed by a request for the next one, which must be empty: there are endpoints
    that compute ``hasNextPage`` from an estimated count, or do not compute it at all. So is a page
    beside a larger count: Datasette 2.2 reports the end of 2,350 rows after none or a few of them.
    """
    place, evidence, field = cursor.place, cursor.evidence, cursor.field
    last = detect_offset_format(following, place.received)
    is_at_cap = last is not None and last.max_items is not None and cursor.got >= last.max_items
    # A count of fewer rows than came is wrong: Parse Server counts 0 until PostgreSQL has analyzed
    # a table, and says that none follow the first 100.
    is_counted = evidence.total is not None and cursor.got <= evidence.total
    is_short = is_counted and cursor.got != evidence.total and not is_at_cap
    evidence.is_verifying = evidence.is_probing = (
        field.is_outermost
        and (is_short if is_counted else cursor.has_full_page)
        and (evidence.last_length > 0 or place.pages == 1)
        and not (cut or field.is_bounded or field.backward)
        and cursor.reachable
        and place.can_move_to(following)
    )
    if not evidence.is_verifying:
        return COMPLETE
    if evidence.pages_after_end >= MAX_PAGES_AFTER_END and not is_short:
        return (
            f"the endpoint reports the end of the list, but {MAX_PAGES_AFTER_END} pages after it "
            "had items."
        )
    return cursor.move_to(following)


def _follow_number(
    cursor: ListCursor, page: Mapping[str, object], *, cut: bool, counted: bool
) -> str | None:
    place, evidence = cursor.place, cursor.evidence
    # A sign of the end that a further page contradicted says nothing of the pages after it, either.
    more = None if evidence.pages_after_end else _read_has_more(cursor, page)
    size, length, full = place.requested_size, evidence.last_length, cursor.has_full_page
    if more is False and cursor.field.has_separate_lists:
        # It may describe another of the lists. After an empty or a short page there is no doubt.
        more = None if any(is_likely_truncated(each, size) for each in evidence.lengths) else False
    left = None if evidence.total is None or not counted else evidence.total - place.received
    if left is not None and cursor.got > (evidence.total or 0):
        left = None  # a wrong total, such as the number of items in the page, ends nothing
    over = length == 0 or (left is not None and left <= 0)
    can_verify = cursor.field.is_outermost
    if left == 0 and length and can_verify:
        # The total may be too small, or the length of the page; and overlapping pages have more
        # items than the total. One more page shows it.
        is_found = cursor.field.arguments.found_size is not None  # as rows came behind these
        first = place.pages == 1 and (is_found or is_likely_truncated(length, size))
        over = not (full or first or any(each.repeated for each in cursor.filters))
    # There are endpoints that declare such a sign and never fill it, even beside a larger count.
    can_verify = can_verify and cursor.reachable and not cut and place.pages == 1
    evidence.is_verifying = more is False and can_verify and (full if left is None else left > 0)
    if (more is False and not evidence.is_verifying) or (more is None and over):
        return COMPLETE
    if length == 0:
        return "a page is empty, but the endpoint reports more items"
    if cut:
        return "max_results"
    name = format_argument(cursor.field.arguments.position)
    if cursor.same_page or min(each.equal_pages for each in cursor.filters) >= MAX_EQUAL_PAGES:
        ignores = f"the same page was returned again: the endpoint ignores `{name}:`."
        return COMPLETE if all(each.is_uncut for each in cursor.filters) else ignores
    without_new_items = evidence.pages_without_new_items
    if without_new_items >= MAX_NUMBERED_PAGES_WITHOUT_NEW_ITEMS:
        return (
            f"{without_new_items} consecutive pages contained no new items: the endpoint may "
            f"ignore `{name}:`."
        )
    evidence.is_probing = evidence.is_verifying or (more is None and (left == 0 or not full))
    place.advance(page)
    undecided = evidence.is_probing and not cursor.reachable
    return MAY_CONTINUE if undecided else cursor.unreachable


def may_be_bounded(
    field: PagedField, page: object, size: int | None, *, filled: int = 0, left: object = None
) -> bool:
    """Return whether a page may lack the rows behind it though it says that none follow.

    Endpoints that return 100 rows at most, say, may compare them with the size that was requested
    to say whether others follow. What a request for as many rows as came says can be believed.

    Parameters
    ----------
    field, page
        A paged field, and its page.
    size
        The number of rows that was requested.
    filled
        The largest number of rows that came as requested; 0 for the first page.
    left
        The number of rows from this page on, if the endpoint counts them.
    """
    if size is None or not isinstance(page, dict):
        return False
    length = max((len(page.get(each.key) or ()) for each in field.items), default=0)
    more = get_at_path(page, field.info.more) if field.info.more else None
    cursor = get_at_path(page, field.info.cursor) if field.info.cursor else None
    if field.info.meaning in {"flag", "last"} and more is not None:
        is_end = bool(more) == (field.info.meaning == "last")
    else:
        is_end = field.kind == "cursor" and not field.info.is_of_row and not cursor
    return is_end and length != left and max(1, filled) <= length < size


def _read_has_more(cursor: ListCursor, page: Mapping[str, object]) -> bool | None:
    """Return whether a page says that another one follows; None if it does not say."""
    info = cursor.field.info
    value = get_at_path(page, info.more) if info.more else None
    if not info.more or (value is None and info.meaning != "pointer"):
        return None
    if value is None and not isinstance(get_at_path(page, info.more[:-1]), dict):
        return None  # the object that holds the pointer is null
    if info.meaning not in {"number", "pages"}:
        return {"flag": bool(value), "last": not value, "pointer": value is not None}[info.meaning]
    if not isinstance(value, int):
        return None
    current = get_at_path(page, info.current) if info.current else None
    number = current if isinstance(current, int) else cursor.place.page_number
    if info.meaning == "number":
        return None if number is None else number < value
    return (number or cursor.place.pages) < value


class SharedLimit:
    """The lengths of the lists of several objects, which an endpoint may have cut together.

    Endpoints that load the lists of all objects by one database query have to limit each list. If
    they limit the query instead, the lists have together as many rows as one page, or one more, and
    their page info reports no further page. nestjs-query does so, and strawberry-sqlalchemy-mapper,
    where the first list takes the whole limit and reports a further page.
    """

    def __init__(self) -> None:
        self._is_refuted = False
        self._reached = 0  # items of the pages that were reached

    def add_lists(self, cursors: Sequence[ListCursor]) -> None:
        """Add the first pages of the lists of one answer."""
        size = cursors[0].place.requested_size if cursors else None
        is_counted = any(cursor.evidence.total is not None for cursor in cursors)
        if size is None or is_counted or len(cursors) * size <= size + 1:
            return  # a page of each of them would be no more
        total = sum(cursor.evidence.last_length for cursor in cursors)
        # A few rows are as many as a small page by chance, but not in every answer.
        self._is_refuted |= total > size + 1 or total < size < SMALLEST_SHARED_LIMIT
        self._reached += max(size, 2) if total >= size else 0

    @property
    def is_likely(self) -> bool:
        """Whether the lists never had more rows together than one page, and once as many."""
        return self._reached >= SMALLEST_SHARED_LIMIT and not self._is_refuted


class CompletenessDoubts:
    """The reasons why it is not proved that all items came, with their numbers.

    Parameters
    ----------
    path
        The list to follow; None for all.

    Attributes
    ----------
    ends
        The reasons why lists ended early, by name of the list and reason.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._counts: Counter[tuple[str, str]] = Counter()
        self.ends: Counter[tuple[str, str]] = Counter()

    def add(self, name: str, reason: str) -> None:
        """Add a reason; the name of the list may be empty."""
        self._counts[name, reason] += 1

    def get_first_end(self) -> str:
        """Return the reason of the outermost list that ended early; `COMPLETE` if none did."""
        ends = sorted(self.ends, key=lambda end: end[0].count("."))
        return ends[0][1] if ends else COMPLETE

    def format_lines(
        self, undecided: Mapping[str, int]
    ) -> tuple[list[str], tuple[tuple[str, str], ...]]:
        """Return the reasons as sentences, and with their names those about lists left out.

        Parameters
        ----------
        undecided
            The number of lists that may have more items, by name.
        """
        lines, left_out = [], []
        may_continue = {(name, MAY_CONTINUE): count for name, count in undecided.items()}
        for (name, reason), count in {**self.ends, **self._counts, **may_continue}.items():
            if reason in LIMITS_REACHED:
                continue  # the user has set it, and the report has it as its end
            times = "" if count == 1 else f" ({count:,} times)"
            lines.append(f"{name}: {reason}{times}" if name else reason)
            if name and self._path is not None and not is_on_path(name, self._path):
                left_out.append((name, lines[-1]))
        return lines, tuple(left_out)


def is_empty_promise(cursor: ListCursor) -> bool:
    """Return whether a page that the endpoint reported was empty, behind a cursor of values.

    Such a cursor loses the rows after a null, as no value is greater than it.
    """
    place = cursor.place
    if cursor.field.backward:
        is_offset = are_offsets([place.position])
    else:  # a number that is not that of the rows so far is a value
        is_offset = detect_offset_format(place.position, place.received) is not None
    return (
        not is_offset
        and cursor.field.is_connection
        and bool(cursor.field.info.more)
        and place.pages > 1
        and not cursor.evidence.last_length
        and cursor.evidence.was_promised
    )


def lacks_counted(cursor: ListCursor) -> bool:
    """Return whether the cursors of a list ended before as many items came as it counts."""
    return cursor.field.kind == "cursor" and cursor.got < (cursor.evidence.total or 0)


def describe_doubt(cursor: ListCursor) -> str | None:
    """Return why a list may be incomplete although the endpoint says that it ended; or None."""
    counted = cursor.evidence.total is not None
    if counted and cursor.got != cursor.evidence.total and not cursor.field.is_outermost:
        more = "more" if cursor.got > (cursor.evidence.total or 0) else "fewer"
        return f"{more} items were returned than the endpoint's total count."
    is_wrong_end = cursor.field.kind == "cursor" and cursor.evidence.pages_after_end > 0
    if is_wrong_end and cursor.got != cursor.evidence.total:
        return "the endpoint reported the end of the list, but more items followed."
    if not counted and is_empty_promise(cursor):
        return EMPTY_PROMISE
    if cursor.lacks_last_row:
        return LAST_ROW
    if cursor.evidence.has_shared_cursors and cursor.place.pages > 1:
        return SHARED_CURSORS
    return _describe_doubtful_items(cursor, counted=counted)


def _describe_doubtful_items(cursor: ListCursor, *, counted: bool) -> str | None:
    """Return why items may be missing, by the identifiers of those that came; or None."""
    if nulls := sum(each.nulls for each in cursor.filters):
        return f"{nulls:,} of its items are null, so the endpoint did not send them."
    if any(each.ambiguous for each in cursor.filters):
        return "different items have the same id, so duplicates cannot be detected."
    if cursor.overlaps:
        return (
            "pages overlapped or were repeated, and no selected field tells the rows apart. "
            "Select a field that identifies each row."
        )
    if any(each.is_uneven for each in cursor.filters) and cursor.field.kind != "cursor":
        return "its lists have pages of different lengths, so items of the shorter may be missing."
    duplicates = sum(each.duplicates for each in cursor.filters)
    if duplicates and not (counted and cursor.field.counted):
        return (
            f"{duplicates:,} items were returned twice, so items moved between pages, and others "
            "may have been missed. Select a count of all items, if there is one, or an order "
            "that does not change."
        )
    return None


def explain_cap(cursor: ListCursor) -> str | None:
    """Return why a list ended at the most items that its endpoint returns; None if it did not."""
    # The position of a list that has ended is the one its last page began at.
    last = detect_offset_format(
        cursor.place.position, cursor.place.received - cursor.evidence.last_length
    )
    most = None if last is None else last.max_items
    if most is None or cursor.place.received < most:
        return None
    return (
        f"One search returns at most {most:,} items, as on GitHub. Use gqlnb.github.harvest() or "
        "gqlnb.stars(limit=None), which send several searches."
    )


def find_unknown_lists(data: object, shape: Shape, fields: Sequence[PagedField]) -> Iterator[str]:
    """Yield the dotted names of lists that do not belong to a paged field."""
    # Without a schema it is unknown whether such a list has arguments for further pages. Not so
    # those in a JSON value, an object of which nothing is selected: its shape has no children.
    followed = {path for field in fields for path in list_response_paths(field)}
    found: dict[str, None] = {}
    waiting: list[tuple[object, tuple[str, ...], Shape]] = [(data, (), shape)]
    while waiting:
        value, path, shape = waiting.pop()
        if isinstance(value, list):
            if path not in followed:
                found[".".join(path)] = None
            waiting.extend((item, path, shape) for item in value[:MAX_ITEMS_INSPECTED])
        elif isinstance(value, dict):
            children = shape.children.items()
            waiting.extend((value.get(name), (*path, name), child) for name, child in children)
    yield from found


def find_null(data: object, path: Sequence[str | int]) -> tuple[str, ...] | None:
    """Return the response names that lead to the first null on a path; None without a null."""
    for end in range(1, len(path) + 1):
        if get_at_path(data, tuple(path[:end])) is None:
            return tuple(step for step in path[:end] if isinstance(step, str))
    return None


def has_value(data: object, names: tuple[str, ...]) -> bool:
    """Return whether any object at the end of response names, through lists, has a value."""
    *above, last = names or ("",)
    return any(holder.get(last) is not None for _, holder in find_objects(data, tuple(above)))


def list_response_paths(field: PagedField) -> Iterator[tuple[str, ...]]:
    """Yield the response names that lead from the data to the lists of a field."""
    path: tuple[str, ...] = ()
    around: PagedField | None = field
    while around is not None:
        path = (*(step for step in around.steps if step), *path)
        around = around.outer
    for items in field.items:
        yield (*path, items.key) if items.key else path

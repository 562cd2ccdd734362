"""The position in one paged list, and joining its pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from gqlnb.client.paging.duplicates import DuplicateFilter, build_key
from gqlnb.document.paged_fields import PLAIN_LIST_STEP
from gqlnb.document.paging_conventions import (
    IDENTIFIERS,
    are_offsets,
    contains_offset,
    detect_offset_format,
    get_at_path,
)
from gqlnb.document.selections import ADDED_PREFIX
from gqlnb.document.suspect_lists import find_objects
from gqlnb.result.paging_report import NO_CURSOR

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from gqlnb.document.paged_fields import PagedField
    from gqlnb.document.paging_conventions import OffsetFormat
    from gqlnb.result.result import Result

MIN_OVERLAPPING_PAGE = 4  # items; of smaller pages the item would be a large share
MAX_PAGES_WITHOUT_NEW_ITEMS = 5  # in a row: filters can leave pages empty
MAX_EMPTY_PAGES = 100  # in a row of other lists than connections: AppSync filters pages it has cut
SAME_CURSOR = "the same cursor was returned twice"
UNIQUE_NAMES = frozenset({*IDENTIFIERS, "cursor"})  # of values of which each row has its own
ResponsePath = tuple[str | int, ...]
Position = str | int | None  # of a page: a cursor, an offset or a page number


def find_lists(holder: object, field: PagedField) -> Iterator[tuple[ResponsePath, dict[str, Any]]]:
    """Yield path and page of each list of a field, in the data or in a page of the field around it.

    A plain list is wrapped in an object with the key `PLAIN_LIST_STEP`.
    """
    *above, last = field.steps
    for path, page in find_objects(holder, tuple(above) if field.is_plain else field.steps):
        if not field.is_plain:
            yield path, page
        elif isinstance(page.get(last), list):
            yield (*path, last), {PLAIN_LIST_STEP: page[last]}


class ObjectKey(NamedTuple):
    """The type and the key of an object to request again."""

    type_name: str
    values: tuple[Any, ...]


@dataclasses.dataclass(slots=True, eq=False)
class Place:
    """The place in a list where its next page begins.

    Attributes
    ----------
    field
        The paged field.
    position
        Start of the next page: a cursor, an offset or a page number.
    start
        Start of the first page: an offset or a page number; 0 for cursors.
    is_numbered
        Whether the number of the first page is known.
    received
        Items so far, with duplicates.
    covered
        Items requested so far, in pages of known size.
    pages
        Pages so far.
    requested_size
        Size of the last page as requested; None if the endpoint chose it.
    overlap
        Number of items of the last page that the next one repeats, to notice items that move.
    seen
        Cursors so far.
    row_value, repeated
        The value in the last row, if further pages begin after one, and the keys of the rows with
        it, which the next page repeats.
    dropped
        Number of rows of the last page that it repeated.
    """

    field: PagedField
    position: Position = None
    start: int = 0
    is_numbered: bool = False
    received: int = 0
    covered: int = 0
    pages: int = 0
    requested_size: int | None = None
    overlap: int = 0
    seen: set[Position] = dataclasses.field(default_factory=set)
    row_value: object = None
    repeated: set[Hashable] = dataclasses.field(default_factory=set)
    dropped: int = 0

    def begin(self, start: int | None) -> None:
        """Set the start of the first page: that of the query, or else the schema's default."""
        start = start if start is not None else self.field.arguments.default_position
        self.start, self.is_numbered = start or 0, start is not None

    @property
    def next_item(self) -> int:
        """Number of items before the next page."""
        return self.received - self.overlap

    @property
    def page_number(self) -> int | None:
        """The number of the last page; None if it is unknown."""
        if not self.is_numbered:
            return None
        pages = self.covered // self.requested_size if self.requested_size else self.pages
        return self.start + pages - 1

    def can_move_to(self, cursor: object) -> TypeGuard[str | int]:
        """Return whether a value is a cursor of a page that was not requested before."""
        return isinstance(cursor, str | int) and cursor != "" and cursor not in self.seen

    def move_to(self, cursor: str | int) -> None:
        """Move to the next page by its cursor."""
        self.seen.add(cursor)
        offset = detect_offset_format(cursor, self.received) if self.overlap else None
        if offset is None:
            self.overlap = 0
        self.position = cursor if offset is None else offset.format_cursor(self.next_item)

    def advance(self, page: Mapping[str, Any]) -> None:
        """Move to the next page by its offset or number."""
        # Some services return the number of the page, which tells where they begin to count.
        current = get_at_path(page, self.field.info.current) if self.field.info.current else None
        if isinstance(current, int) and not self.is_numbered and self.pages == 1:
            self.start, self.is_numbered = current, True
        # Duplicates count in an offset: the endpoint does not know that we left them out.
        if self.field.kind == "offset":
            self.position = self.start + self.next_item
        else:
            self.position = self.covered or self.pages

    def build_argument(self, position: Position, size: int | None) -> Position:
        """Return the argument for the page at a position."""
        arguments = self.field.arguments
        if self.field.kind == "page" and isinstance(position, int):
            position = self.start + (position // size if size and self.covered else self.pages)
        if arguments.is_number and isinstance(position, str):
            return int(position)
        return str(position) if arguments.position in arguments.quoted else position


@dataclasses.dataclass(slots=True, eq=False)
class EndEvidence:
    """What the pages of a list say about its end.

    Attributes
    ----------
    total
        Number of items as the endpoint last counted.
    counts_page
        Whether each count so far was the number of items in its page.
    ignores_total
        Whether these numbers differed, so that they are no totals.
    lengths
        Items of the last page, by filter.
    pages_without_new_items
        Pages in a row without new items.
    is_probing
        Whether the next page is requested although nothing says that it exists.
    was_promised
        Whether the page before said that the last page exists.
    is_verifying
        Whether the next page is requested although the endpoint says that there is none.
    pages_after_end
        Number of such pages that had items.
    has_short_pages
        Whether a page before the last one was shorter than requested.
    has_shared_cursors
        Whether rows of the first page have the same cursor, and others another.
    longest_answer
        Number of items that the endpoint returned of the outermost list in one answer to another
        request.
    """

    total: int | None = None
    counts_page: bool = True
    ignores_total: bool = False
    lengths: Sequence[int] = ()
    pages_without_new_items: int = 0
    is_probing: bool = False
    was_promised: bool = False
    is_verifying: bool = False
    pages_after_end: int = 0
    has_short_pages: bool = False
    has_shared_cursors: bool = False
    longest_answer: int = 0

    @property
    def last_length(self) -> int:
        """Items of the last page; of the longest list if a page has several."""
        return max(self.lengths, default=0)

    def note_total(self, total: int, received: int, got: int) -> bool:
        """Take the count of a page; return whether it differs from those before.

        Some services count the items of the page: commercetools by `count`, beside `total`. Others
        leave out those `received` in the pages before: graphql-db 1.0 counts behind the cursor.
        Nor is a count of a page that is less than the `got` items a total.
        """
        if self.total == total + received:
            return False
        before, self.total = self.total, total
        self.counts_page = self.counts_page and total == self.last_length
        self.ignores_total |= self.counts_page and (before not in {None, total} or got > total)
        if self.ignores_total and self.counts_page:
            self.total = None
            return False
        return before not in {None, total}

    def note_page(self, *, new: bool) -> None:
        """Note whether a page had new items, and came after the reported end."""
        self.pages_without_new_items = 0 if new else self.pages_without_new_items + 1
        self.pages_after_end += self.is_verifying and new
        self.was_promised = not (self.is_probing or self.is_verifying)
        self.is_probing = False


@dataclasses.dataclass(slots=True, eq=False)
class ListCursor:
    """One list of one object: its place, its pages, and the evidence of its end.

    Parameters
    ----------
    field
        The paged field.
    target
        The first page, to which further pages are added.
    path
        Path of the page in the data.
    keeps_rows
        Whether the rows of all pages are kept.

    Attributes
    ----------
    key
        The object to request again; None if the path from the data is enough.
    reachable
        Whether further pages can be requested.
    place
        Where its next page begins.
    evidence
        What its pages say about its end.
    filters
        Removes duplicates, one for each list of a page.
    round
        Round of requests of the last page.
    attempts
        Number of times the next page came as null.
    in_flight
        Positions of the pages requested.
    early_pages
        Pages that came before their turn, by position: answer, number in it, and size.
    last_page
        The page with the last row, of which the field was added to the query; else None.
    """

    field: PagedField
    target: dict[str, Any]
    path: ResponsePath = ()
    key: ObjectKey | None = None
    reachable: bool = False
    keeps_rows: bool = True
    place: Place = dataclasses.field(init=False)
    evidence: EndEvidence = dataclasses.field(default_factory=EndEvidence)
    filters: list[DuplicateFilter] = dataclasses.field(init=False)
    round: int = 0
    attempts: int = 0
    in_flight: set[Position] = dataclasses.field(default_factory=set)
    early_pages: dict[Position, tuple[int, Result, int | None]] = dataclasses.field(
        default_factory=dict
    )
    last_page: object = None
    _cursor_before: str | None = None  # the last row, on the first page
    _last_keys: dict[str, Hashable] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        items = self.field.items
        groups = [[each] for each in items] if self.field.has_separate_lists else [items]
        self.filters = [DuplicateFilter(group, self.keeps_rows) for group in groups]
        self.place = Place(self.field)

    def attach(self, holder: object, path: Sequence[str | int]) -> None:
        """Find out how further pages can be requested, by the path of the list in `holder`."""
        if self.field.kind == "none":
            return
        if self.field.rooted and not any(isinstance(step, int) for step in path):
            self.reachable = True
            return
        anchor = self.field.anchor
        if anchor is None:
            return
        end = [at for at, step in enumerate(path) if isinstance(step, str)][anchor.depth]
        if any(isinstance(step, int) for step in path[end:]):
            return
        around = get_at_path(holder, tuple(path[:end]))
        # A key may be selected under several names, of which those in other types' fragments
        # are missing.
        values = [
            next((v for name in names if (v := around.get(name)) is not None), None)
            for names in anchor.keys
        ]
        type_name = around.get(anchor.typename) if anchor.typename else anchor.on
        if values and None not in values and type_name is not None:
            pairs = zip(anchor.lookup.keys, values, strict=True)
            self.key = ObjectKey(type_name, tuple(key.convert(value) for key, value in pairs))
            self.reachable = True

    @property
    def lacks_last_row(self) -> bool:
        """Whether the row that is said to be the last one is not among those that came."""
        page = self.last_page
        return isinstance(page, dict) and any(
            each.count_items(page) and not each.is_repeat(page) for each in self.filters
        )

    def note_shared_cursors(self, page: Mapping[str, Any]) -> None:
        """Note whether some rows of the first page have the same cursor."""
        for each in self.field.items if self.field.last_row else ():
            key = each.cursor or f"{ADDED_PREFIX}cursor"
            edges = page.get(each.key) if each.node is not None else None
            found = [e[key] for e in edges or () if isinstance(e, dict) and e.get(key)]
            # One for all of them is that of the page, unless the next page begins after it.
            is_of_row = found[-1:] == [get_at_path(page, self.field.info.cursor)]
            distinct = len(set(map(repr, found)))
            self.evidence.has_shared_cursors |= (1 - is_of_row) < distinct < len(found)
            is_of_row &= self.keeps_rows and 1 < distinct == len(found) and not are_offsets(found)
            self._cursor_before = found[-2] if is_of_row else None

    # -- an answer

    def add_lengths(self, page: dict[str, Any], size: int | None) -> None:
        """Count the items of a page, and those requested."""
        place, evidence = self.place, self.evidence
        asked = place.requested_size
        if place.pages and asked is not None and evidence.last_length < asked:
            evidence.has_short_pages = True
        evidence.lengths = [each.count_items(page) for each in self.filters]
        length = evidence.last_length
        for each, own in zip(self.filters, evidence.lengths, strict=True):
            each.note_length(own, length)
        place.requested_size = size
        place.received += length
        place.pages += 1
        place.covered += size or 0

    def check_numbering(self, page: Mapping[str, Any]) -> bool:
        """Return whether the second page, requested as page 1, is the first page again."""
        # Some services count pages from 0, others from 1. If neither the query nor the schema says
        # which, this does.
        place = self.place
        if place.is_numbered or place.pages != 1:
            return False
        place.is_numbered = True
        filled = [each for each in self.filters if each.count_items(page)]
        if not filled or not all(each.is_repeat(page) for each in filled):
            return False
        place.start = 1
        return True

    def is_rounded_down(self, page: Mapping[str, Any], size: int | None) -> bool:
        """Return whether a page begins before its offset, which is no multiple of its size."""
        # remult computes the number of a page from an offset, and drops the rest.
        place = self.place
        if self.field.kind != "offset" or place.overlap or self.is_grown:
            return False
        if size is None or not isinstance(place.position, int) or not place.position % size:
            return False
        first = {key: rows[:1] for key, rows in page.items() if isinstance(rows, list)}
        return any(each.is_repeat(first) for each in self.filters)

    def remove_duplicates(self, page: dict[str, Any]) -> int:
        """Remove the repeated items of a page, and return their number."""
        counted, asked = self.evidence.total is not None, self.place.requested_size
        return sum(
            each.remove_duplicates(
                page, counted=counted, is_short=asked is not None and length < asked
            )
            for each, length in zip(self.filters, self.evidence.lengths, strict=True)
        )

    def keep_items(self, page: dict[str, Any], most: int | None) -> bool:
        """Count the new items of a page, cut at `most`; return whether no list needs more."""
        is_full = most is not None
        for each in self.filters:
            left = None if most is None else max(0, most - each.kept)
            for described in each.lists:
                items = page.get(described.key)
                if left is not None and isinstance(items, list) and len(items) > left:
                    del items[
                        slice(len(items) - left) if self.field.backward else slice(left, None)
                    ]
            each.kept += each.count_items(page)
            if most is not None:
                is_full &= each.kept >= most or each.was_shorter
        return is_full

    def build_sort_key(self, number: int) -> tuple[bool | int | ResponsePath, ...]:
        """Return the key by which lists are continued: failed, outer and long ones first.

        `number` is that of the list's field.
        """
        # It does not use the order of the answers, as the number of requests would then vary.
        total = self.evidence.total
        left = 0 if total is None else self.got - total
        is_probing = self.evidence.is_probing  # ended ones come last
        return not self.attempts, is_probing, self.field.depth, left, self.round, number, self.path

    @property
    def got(self) -> int:
        """Items so far, without duplicates."""
        return sum(each.kept for each in self.filters)

    @property
    def has_items(self) -> bool:
        """Whether the target has items."""
        return any(each.count_items(self.target) for each in self.filters)

    @property
    def overlaps(self) -> bool:
        """Whether pages may overlap, in a list without identifiers."""
        # Not counted if a page before the last one was short: the total may include rows that the
        # endpoint left out of that page.
        counted = self.got == self.evidence.total and not self.evidence.has_short_pages
        return any(each.may_overlap(counted=counted) for each in self.filters)

    @property
    def is_grown(self) -> bool:
        """Whether its first page is requested again, larger, to verify that nothing follows."""
        return self.evidence.is_verifying and self.place.position is None

    def leave_out_received(self, page: Mapping[str, Any]) -> dict[str, Any]:
        """Return a larger first page without the items that came before."""
        lists = {each.key: page.get(each.key) or [] for each in self.field.items}
        # There are endpoints that return their usual page where too many items are asked for.
        is_larger = max(map(len, lists.values())) > self.place.received
        rest = {key: items[self.place.received :] for key, items in lists.items()}
        return {**page, **rest} if is_larger else rest

    @property
    def has_full_page(self) -> bool:
        """Whether the last page has as many items as were requested."""
        size = self.place.requested_size
        return size is not None and self.evidence.last_length >= size

    @property
    def same_page(self) -> bool:
        """Whether the last page had come before."""
        lengths = zip(self.filters, self.evidence.lengths, strict=True)
        filled = [each for each, length in lengths if length]
        return bool(filled) and all(each.same_page for each in filled)

    # -- the next page

    def move_to(self, cursor: object) -> str | None:
        """Move to the next page by its cursor; return the reason if it cannot be requested."""
        if not self.place.can_move_to(cursor):
            repeated = isinstance(cursor, str | int) and cursor in self.place.seen
            return SAME_CURSOR if repeated else NO_CURSOR
        is_filtered = not (self.evidence.last_length or self.field.is_connection)
        most = MAX_EMPTY_PAGES if is_filtered else MAX_PAGES_WITHOUT_NEW_ITEMS
        if self.evidence.pages_without_new_items >= most:
            return f"{most} consecutive pages contained no new items"
        self.place.move_to(cursor)
        return self.unreachable

    # -- overlapping pages

    def begin_overlap(self, page: Mapping[str, Any]) -> None:
        """Note the last items of a page, if the next one can repeat them."""
        lists = [page.get(each.key) or [] for each in self.field.items]
        can_overlap = self.field.kind in {"offset", "cursor"} and not self.field.backward
        is_large = (self.place.requested_size or 0) >= MIN_OVERLAPPING_PAGE
        self.place.overlap = int(can_overlap and is_large and all(lists))
        pairs = zip(self.field.items, lists, strict=True)
        self._last_keys = {each.key: build_key(items[-1], each) for each, items in pairs if items}

    def repeat_last_row(self, page: Mapping[str, Any]) -> None:
        """Let the second page begin with the last row of the first, if rows have cursors.

        Cursors that lose rows lose it, too: those of pothos-drizzle and join-monster hold a time in
        milliseconds, and the column has microseconds.
        """
        if self._cursor_before is not None:
            self.begin_overlap(page)
        if self._cursor_before is not None and self.place.overlap:
            self.place.position = self._cursor_before
        self._cursor_before = None

    def remove_overlap(self, page: Mapping[str, Any]) -> bool:
        """Remove the item that a page repeats; return whether it begins with that item."""
        for each in self.field.items:
            items = page.get(each.key)
            if not items or build_key(items[0], each) != self._last_keys[each.key]:
                return False
        for each in self.field.items:
            del page[each.key][0]
        return True

    def read_row_cursor(self, page: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a JSON value
        """Return the value of a row after which the next page begins; None without one.

        Of a value that rows may share, such as a time, it is the last one but one, and the next
        page repeats the rows with the last: else those that did not fit would be left out.
        """
        path, (items, *others) = self.field.info.cursor, self.field.items
        rows = page.get(items.key) or ()
        values = [get_at_path(row, path) for row in rows]
        last = values[-1] if values else None
        is_unique = path[-1].removeprefix(ADDED_PREFIX) in UNIQUE_NAMES
        if last is None or is_unique or not items.ids or others:
            return last
        place, before = self.place, self.place.row_value
        place.row_value = last
        repeated = {build_key(row, items) for row, v in zip(rows, values, strict=True) if v == last}
        place.repeated = repeated | (place.repeated if before == last else set())
        return next((value for value in [*values[::-1], before] if value != last), None)

    def drop_repeated_rows(self, page: Mapping[str, Any]) -> int:
        """Remove the rows that a page repeats as their value may be shared; return their number."""
        if not self.place.repeated:
            return 0
        items = self.field.items[0]
        rows = page.get(items.key) or []
        new = [row for row in rows if build_key(row, items) not in self.place.repeated]
        self.place.dropped = len(rows) - len(new)
        rows[:] = new
        return self.place.dropped

    def build_page_steps(self, number: int) -> ResponsePath:
        """Return the path of its page in the answer to a request with several pages."""
        field = self.field
        if self.key is None or field.anchor is None:
            return field.steps
        return (*self._build_object_steps(number), *field.steps[field.anchor.depth :])

    def _build_object_steps(self, number: int) -> ResponsePath:
        """Return the path of the object around it in such an answer."""
        steps: ResponsePath = (f"{ADDED_PREFIX}{number}",)
        lookup = None if self.field.anchor is None else self.field.anchor.lookup
        if lookup is not None and lookup.around:
            steps = (*steps, lookup.field)
        return (*steps, 0) if lookup is not None and lookup.is_of_list else steps

    def has_keys(self, data: object, number: int) -> bool:
        """Return whether a lookup returned the object with the key in the request."""
        node = get_at_path(data, self._build_object_steps(number))
        keys = () if self.key is None else self.key.values
        values = [node.get(f"{ADDED_PREFIX}k{n}") for n in range(len(keys))] if node else []
        return [str(value) for value in values] == [str(key) for key in keys]

    @property
    def unreachable(self) -> str | None:
        """The reason why further pages cannot be requested; None if they can."""
        if self.reachable:
            return None
        size = self.field.arguments.size
        remedy = f": give a larger `{size[-1]}:` in the query" if size else ""
        return f"there are more items, but their object cannot be requested again{remedy}"

    def release(self) -> None:
        """Free the memory that is needed only for further pages."""
        for each in self.filters:
            each.release()
        self.place.seen = set()
        self.in_flight = set()
        self.early_pages = {}

    @property
    def is_waiting(self) -> bool:
        """Whether its next page is requested, or came already."""
        position = self.place.position
        return position in self.in_flight or position in self.early_pages

    @property
    def offset(self) -> OffsetFormat | None:
        """The format of its cursors if they are offsets and the total is known."""
        if self.evidence.total is None or self.field.backward or self.field.kind != "cursor":
            return None
        return detect_offset_format(self.place.position, self.place.next_item)

    @property
    def has_positions(self) -> bool:
        """Whether it may be continued by positions, which shift where rows are deleted."""
        # The position of a list that has ended is the one its last page began at.
        place = self.place
        ends = (place.received, place.received - self.evidence.last_length)
        counts = {end - repeated for end in ends for repeated in (0, place.overlap)}
        is_offset = any(contains_offset(place.position, count) for count in counts)
        return self.field.kind != "cursor" or is_offset

    # -- joining pages

    def count_lengths(self) -> dict[str, int]:
        """Return the number of items before the next page, by response name."""
        back = self.field.backward
        lists = ((each.key, self.target.get(each.key)) for each in self.field.items)
        return {key: 0 if back else len(items or ()) for key, items in lists}

    def merge(self, page: dict[str, Any]) -> None:
        """Add a page to the target: after its items, or before them if paging backwards."""
        target, field = self.target, self.field
        for described in field.items:
            new, old = page.get(described.key), target.get(described.key)
            if not isinstance(new, list):
                continue
            if not isinstance(old, list):
                target[described.key] = new
            elif field.backward:
                target[described.key] = new + old
            else:
                old.extend(new)
        for key in field.page_infos:
            old, new = target.get(key), page.get(key)
            if isinstance(old, dict) and isinstance(new, dict):
                # The end from which paging started is described by the first page.
                ends = ("hasNextPage", "endCursor", "hasPreviousPage", "startCursor")
                first_end = ends[:2] if field.backward else ends[2:]
                target[key] = new | {name: old[name] for name in first_end if name in old}
        if field.counted and field.total[0] in page:
            target[field.total[0]] = page[field.total[0]]


@dataclasses.dataclass(slots=True, eq=False)
class PageRequest:
    """A request to send.

    Attributes
    ----------
    text, variables, operation
        The GraphQL request.
    cursors
        The lists of the pages; none for the first request.
    positions, sizes
        Start and size of each page.
    scale
        Number of halvings of the page sizes.
    sent
        Number of times it was sent.
    cost
        Bytes and seconds of its answer.
    """

    text: str
    variables: dict[str, Any]
    cursors: list[ListCursor] = dataclasses.field(default_factory=list)
    positions: list[Position] = dataclasses.field(default_factory=list)
    sizes: list[int | None] = dataclasses.field(default_factory=list)
    scale: int = 0
    sent: int = 0
    operation: str | None = None
    cost: tuple[int, float] = (0, 0.0)


def foresee_pages(
    cursors: Sequence[ListCursor], sizes: Sequence[tuple[int, int | None]]
) -> Iterator[tuple[list[ListCursor], list[str], int]]:
    """Yield the pages after the next ones: lists, their positions, and the number of pages ahead.

    Yields nothing unless the positions of all lists can be computed.

    Parameters
    ----------
    cursors
        The lists whose next page is requested.
    sizes
        Page size and most items of each list; None for all items.
    """
    offsets = [(each, offset) for each in cursors if (offset := each.offset) is not None]
    for step in count(1) if len(offsets) == len(cursors) else ():
        ahead = []
        for (cursor, offset), (size, most) in zip(offsets, sizes, strict=True):
            place, ends = cursor.place, (cursor.evidence.total, offset.max_items, most)
            items = place.next_item + step * (size - place.overlap)
            if items + place.overlap < min(end for end in ends if end is not None):
                ahead.append((cursor, offset.format_cursor(items)))
        if not ahead:
            return
        missing = [(cursor, at) for cursor, at in ahead if at not in cursor.early_pages]
        if missing:
            yield [cursor for cursor, _ in missing], [at for _, at in missing], step


def read_error_path(error: Mapping[str, Any]) -> ResponsePath:
    """Return the path of an error; empty if it has none, or not one of names and indices."""
    path = error.get("path")
    if not isinstance(path, list | tuple) or not all(isinstance(step, str | int) for step in path):
        return ()
    return tuple(path)


def read_error_fields(error: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names on the path of an error, without the indices of rows."""
    return tuple(step for step in read_error_path(error) if isinstance(step, str))


def move_errors(
    errors: Iterable[Mapping[str, Any]],
    steps: ResponsePath,
    where: ResponsePath,
    lists: Mapping[str, int],
) -> list[Mapping[str, Any]]:
    """Return the errors of an answer that concern one page, with their paths in the joined data.

    Parameters
    ----------
    errors
        The errors of the answer.
    steps
        Path of the page in the answer.
    where
        Path of the list in the joined data.
    lists
        Number of items before the page, by response name.
    """
    moved: list[Mapping[str, Any]] = []
    for error in errors:
        path = read_error_path(error)
        short = min(len(path), len(steps))
        if not path or tuple(path[:short]) != tuple(steps[:short]):
            continue
        rest: list[Any] = list(path[len(steps) :])
        if PLAIN_LIST_STEP in lists and rest and isinstance(rest[0], int):
            rest[0] += lists[PLAIN_LIST_STEP]
        elif len(rest) > 1 and rest[0] in lists and isinstance(rest[1], int):
            rest[1] += lists[rest[0]]
        moved.append({**error, "path": [*where, *rest]})
    return moved

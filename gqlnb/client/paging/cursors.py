"""The position in one paged list, joining its pages, and repeated items.

Pages overlap if rows are inserted or deleted while paging, so that items repeat. The keys of the
items of a list so far are kept in little memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from gqlnb.document.error_details import read_error_path
from gqlnb.document.paged_fields import PLAIN_LIST_STEP
from gqlnb.document.paging_conventions import (
    IDENTIFIERS,
    are_offsets,
    contains_offset,
    detect_offset_format,
    get_at_path,
)
from gqlnb.document.selections import ADDED_PREFIX
from gqlnb.document.suspect_lists import SMALLEST_BOUND, find_objects
from gqlnb.result.paging_report import NO_CURSOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gqlnb.document.paged_fields import ItemList, PagedField
    from gqlnb.document.paging_conventions import OffsetFormat
    from gqlnb.result.result import Result

MAX_EXACT_KEYS = 10_000  # of a list whose rows are not kept
# Bytes of a digest. Two of 10 million keys have the same one with a probability of 6e-16. With 8
# bytes it would be 3e-6, and a row would be removed.
DIGEST_BYTES = 12
BUCKETS = 2**12
MAX_REPEATING_KINDS = 2  # distinct rows; equal pages of so few may be genuine
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


class KnownKeys:
    """A set of keys, which stores digests instead of many keys.

    A key takes about 200 bytes in a set, a digest 13 to 22. Iterating over the pages of a list
    keeps nothing else of its rows. A digest takes three times as long, though.

    Parameters
    ----------
    most
        Number of keys beyond which their digests are stored; None for any number of keys.
    """

    def __init__(self, most: int | None) -> None:
        self._most = inf if most is None else most
        self._keys: set[Hashable] = set()
        self._buckets: list[bytearray] = []  # of digests, one after the other

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys or (bool(self._buckets) and self._has_digest(digest_key(key)))

    def update(self, keys: Iterable[Hashable]) -> None:
        """Add keys."""
        if not self._buckets:
            self._keys.update(keys)
            if len(self._keys) <= self._most:
                return
            self._buckets = [bytearray() for _ in range(BUCKETS)]
            keys, self._keys = self._keys, set()
        for digest in map(digest_key, keys):
            if not self._has_digest(digest):
                self._get_bucket(digest).extend(digest)

    def _get_bucket(self, digest: bytes) -> bytearray:
        return self._buckets[int.from_bytes(digest[:4], "big") % BUCKETS]

    def _has_digest(self, digest: bytes) -> bool:
        bucket = self._get_bucket(digest)
        place = bucket.find(digest)
        while place > 0 and place % DIGEST_BYTES:  # the end of one and the begin of the next
            place = bucket.find(digest, place + 1)
        return place >= 0


def digest_key(key: Hashable) -> bytes:
    """Return the digest of a key, by its text."""
    return blake2b(repr(key).encode(errors="surrogatepass"), digest_size=DIGEST_BYTES).digest()


@dataclasses.dataclass(slots=True, eq=False)
class DuplicateFilter:
    """Removes the items of a list that an earlier page contained.

    Parameters
    ----------
    lists
        The response names of the list; ``edges`` and ``nodes`` of a connection are one list.
    keeps_rows
        Whether the rows are kept, beside which their keys take little memory.

    Attributes
    ----------
    kept
        Items so far, without duplicates.
    duplicates
        Items removed as they had come before.
    repeated
        Items equal to items of another page, in lists without identifiers.
    equal_pages
        Pages in a row equal to earlier pages, in lists without identifiers.
    nulls
        Items that are null, or whose node is, in lists with identifiers or cursors.
    ambiguous
        Whether different items of one page had the same identifier.
    same_page
        Whether the last page had come before.
    is_uncut
        Whether that page was so short that nothing can have cut it: it is the whole list.
    was_shorter
        Whether a page of another list in the same object had more items.
    is_uneven
        Whether the list went on after such a page.
    """

    lists: Sequence[ItemList]
    keeps_rows: bool = True
    kept: int = 0
    duplicates: int = 0
    repeated: int = 0
    equal_pages: int = 0
    nulls: int = 0
    ambiguous: bool = False
    same_page: bool = False
    is_uncut: bool = False
    was_shorter: bool = False
    is_uneven: bool = False
    # Keys or texts of items, texts of pages.
    _known: KnownKeys = dataclasses.field(init=False)
    _uses_offsets: bool = False
    _previous: tuple[str, ...] = ()
    _previous_leaves: tuple[str, ...] = ()
    _natural_repeats: int = 0  # equal items within one page
    _pages: int = 0

    def __post_init__(self) -> None:
        self.release()

    def count_items(self, page: Mapping[str, Any]) -> int:
        """Return the number of items of a page."""
        return max((len(page.get(each.key) or ()) for each in self.lists), default=0)

    def note_length(self, length: int, longest: int) -> None:
        """Compare the length of a page with that of the longest list in the same object."""
        self.is_uneven |= self.was_shorter and length > 0
        self.was_shorter |= length < longest

    def is_repeat(self, page: Mapping[str, Any]) -> bool:
        """Return whether a page has items, all of them repeated."""
        for described in self.lists:
            items = page.get(described.key)
            if isinstance(items, list) and items:
                keys = [identify_item(item, described, ()) for item in items]
                if all(key is not None for key in keys):
                    return all(key in self._known for key in keys)
                return ("page", *map(repr, items)) in self._known
        return False

    def remove_duplicates(
        self, page: dict[str, Any], *, counted: bool, is_short: bool = False
    ) -> int:
        """Remove the repeated items of a page, and return their number.

        Parameters
        ----------
        page
            The page, which is changed.
        counted
            Whether the endpoint gives the number of all items.
        is_short
            Whether the page has fewer items than requested.
        """
        # Items are identified by the id of the node with the edge's own fields, as one node may
        # have several different edges; without an id by the edge's cursor with its content. Without
        # both only a whole repeated page is removed, as equal rows may be different items. Equal
        # items within one page are kept: the endpoint lists them twice.
        self._pages += 1
        self.same_page = False
        lists = [each for each in self.lists if isinstance(page.get(each.key), list)]
        values = [page[each.key] for each in lists]
        main = next((e for e in lists if e.ids), next((e for e in lists if e.cursor), None))
        if main is None or self.ambiguous:
            return self._check_repeated_page(values, counted=counted, is_short=is_short)
        items = page[main.key]
        self.nulls += sum(get_node(item, main) is None for item in items)
        parallel = [page[e.key] for e in lists if e is not main and len(page[e.key]) == len(items)]
        self._compare_without_cursors(main, items, parallel)
        keys = [
            identify_item(item, main, [values[n] for values in parallel])
            for n, item in enumerate(items)
        ]
        if None in keys and not any(keys) and any(get_node(item, main) for item in items):
            # The endpoint gives none of the identifiers, or they were left out after an error.
            return self._check_repeated_page(values, counted=counted, is_short=is_short)
        distinct = set(keys)
        is_plain = len(distinct) == len(keys) and None not in distinct
        if is_plain and not any(key in self._known for key in distinct):  # as on most pages
            self._known.update(distinct)
            return 0
        first_index: dict[Hashable, int] = {}
        for number, key in enumerate(keys):
            first = first_index.setdefault(key, number)
            if key is not None and first != number and items[first] != items[number]:
                self.ambiguous = True
                return 0
        present = [key for key in keys if key is not None]
        self._natural_repeats += len(present) - len(set(present))
        new = [n for n, key in enumerate(keys) if key is None or key not in self._known]
        if self._natural_repeats and new and main.ids:
            # A list that repeats items within a page may repeat them across pages, too.
            self.repeated += len(keys) - len(new)
            new = list(range(len(keys)))
        self._known.update(key for key in first_index if key is not None)
        removed = len(keys) - len(new)
        if removed:
            for column in (items, *parallel):
                column[:] = [column[number] for number in new]
            self.duplicates += removed
        return removed

    def _compare_without_cursors(
        self, main: ItemList, items: Sequence[Any], parallel: Sequence[Sequence[Any]]
    ) -> None:
        """Count the repeated items of a page whose cursors are offsets: one that moves changes."""
        if self._pages == 1 and not main.ids and main.cursor is not None:
            cursors = [e.get(main.cursor) if isinstance(e, dict) else None for e in items]
            self._uses_offsets = are_offsets(cursors)
        if self._uses_offsets:
            bare = (_omit_field(item, main.cursor) for item in items)
            self._count_repeated_items(zip(bare, *parallel, strict=True))

    def _count_repeated_items(self, items: Iterable[object]) -> None:
        """Count the items equal to items of earlier pages, and those equal within the page."""
        keys = [repr(item) for item in items]
        distinct = set(keys)
        self._natural_repeats += len(keys) - len(distinct)
        self.repeated += sum(key in self._known for key in distinct)
        self._known.update(distinct)

    def _check_repeated_page(
        self, lists: Sequence[list[Any]], *, counted: bool, is_short: bool
    ) -> int:
        """Count the items equal to those of earlier pages; remove a repeated page."""
        # Equal pages of at most two distinct rows may be equal by chance, unless they are so short
        # that nothing can have cut them.
        if not lists:
            return 0
        keys = [repr(item) for item in lists[0]]
        distinct, whole = set(keys), ("page", *keys)
        was_previous = whole == self._previous
        is_tiny = is_short and len(keys) < SMALLEST_BOUND
        self.is_uncut = was_previous and is_tiny and bool(keys)
        own = tuple(map(_print_leaves, lists[0])) if is_tiny else ()
        is_repeated = was_previous and (len(distinct) > MAX_REPEATING_KINDS or self.is_uncut)
        # Gatsby's groups take `skip:` and `limit:` for the list in each group.
        is_repeated |= bool(own) and own == self._previous_leaves and len(set(own)) == len(own)
        self._previous, self._previous_leaves = whole, own
        if is_repeated and not counted:
            self.same_page = True
            for items in lists:
                items.clear()
            removed = 0 if self.is_uncut else len(keys)  # nothing was missed
            self.duplicates += removed
            return removed
        self.equal_pages = self.equal_pages + 1 if distinct and whole in self._known else 0
        self._count_repeated_items(lists[0])
        self._known.update([whole])
        return 0

    def may_overlap(self, *, counted: bool) -> bool:
        """Return whether pages may overlap, in a list without identifiers."""
        # Rows equal to rows of other pages count as different rows only if the total agrees
        # (`counted`) and a page with equal rows shows that the list has such rows.
        was_repeated = self.same_page and not self.is_uncut
        return was_repeated or (self.repeated > 0 and not (self._natural_repeats and counted))

    def release(self) -> None:
        """Free the memory that is needed only for further pages."""
        self._known = KnownKeys(None if self.keeps_rows else MAX_EXACT_KEYS)


def identify_item(
    item: Any,  # noqa: ANN401 - a JSON value
    items: ItemList,
    parallel: Sequence[object],
) -> tuple[Hashable, ...] | None:
    """Return a key that identifies an item; None if it has none.

    `parallel` are the values at its index in the parallel lists, such as `nodes` beside `edges`.
    """
    node = get_node(item, items)
    if isinstance(node, dict):
        for name in items.ids:
            value = node.get(name)
            if value is not None:
                kind = node.get(items.typename) if items.typename else None
                edge = [item.get(field) for field in items.edge_fields]
                return (value, kind, repr(edge)) if edge else (value, kind)
    if items.cursor is not None and isinstance(item, dict) and item.get(items.cursor):
        return (item[items.cursor], repr(item), repr(parallel) if parallel else None)
    return None


def get_node(
    item: Any,  # noqa: ANN401 - a JSON value
    items: ItemList,
) -> Any:  # noqa: ANN401 - a JSON value
    """Return the node of an item: of an edge its field, otherwise the item itself."""
    if items.node is None:
        return item
    return item.get(items.node) if isinstance(item, dict) else None


def build_key(item: object, items: ItemList) -> Hashable:
    """Return the key of an item by its identifier, or its text without one."""
    # A cursor alone would not do: those that are positions are the same for other items.
    key = identify_item(item, items, ()) if items.ids else None
    return repr(item) if key is None else key


def build_row_key(item: object, items: ItemList) -> Hashable:
    """Return the key of an item, without the fields of its edge, which may change meanwhile."""
    return build_key(item, items._replace(edge_fields=()))


def _print_leaves(item: object) -> str:
    """Return an item as text, without the lists in it."""
    if not isinstance(item, dict):
        return repr(item)
    leaves = {key: value for key, value in item.items() if not isinstance(value, list)}
    return repr(leaves or item)


def _omit_field(item: object, name: str | None) -> object:
    if not isinstance(item, dict):
        return item
    return {key: value for key, value in item.items() if key != name}


# -- one list


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
        Nor is a count of a page that is less than the `got` items a total. By its
        users' reports AniList counts 5,000 until the last page, which has the number of all.
        """
        if self.total == total + received:
            return False
        before, self.total = self.total, total
        if before is not None and got == total < before // 2:
            return False
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
    _end_cursor: Position | None = None  # of that page, while the next one repeats its last row
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
        if self.field.is_outermost and not any(isinstance(step, int) for step in path):
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
        for each in self.field.items:
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
        # remult computes the number of a page from an offset, and drops the rest. Rows come again
        # behind a short page, too, as rows were left out of it; and a list that began at such an
        # offset began before it.
        place, evidence = self.place, self.evidence
        if self.field.kind != "offset" or place.overlap or self.is_grown:
            return False
        if size is None or not isinstance(place.position, int) or not place.position % size:
            return False
        is_short = evidence.has_short_pages or evidence.last_length < (place.requested_size or 0)
        if is_short or place.start % size:
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
        self._last_keys = {each.key: build_row_key(rows[-1], each) for each, rows in pairs if rows}

    def repeat_last_row(self, page: Mapping[str, Any]) -> None:
        """Let the second page begin with the last row of the first, if rows have cursors.

        Cursors that lose rows lose it, too: those of pothos-drizzle and join-monster hold a time in
        milliseconds, and the column has microseconds.
        """
        before, self._cursor_before = self._cursor_before, None
        if before is None:
            return
        self.begin_overlap(page)
        if self.place.overlap:
            self._end_cursor, self.place.position = self.place.position, before

    def go_to_end_cursor(self) -> bool:
        """Return whether the next page repeats the last row, and begin it behind that row again.

        For endpoints that take the end cursors of pages alone.
        """
        if self._end_cursor is None:
            return False
        self.place.position, self.place.overlap, self._end_cursor = self._end_cursor, 0, None
        return True

    def remove_overlap(self, page: Mapping[str, Any]) -> bool:
        """Remove the item that a page repeats; return whether it begins with that item."""
        self._end_cursor = None
        for each in self.field.items:
            items = page.get(each.key)
            if not items or build_row_key(items[0], each) != self._last_keys[each.key]:
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
    is_trial
        Whether it is an experiment.
    larger
        The sizes of lists in rows that a first request tries.
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
    is_trial: bool = False
    larger: Mapping[PagedField, int] = dataclasses.field(default_factory=dict)


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

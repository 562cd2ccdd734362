"""The position in one paged list, duplicates of its items, and joining its pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.client.paging.offset_cursors import are_offsets, detect_offset_format
from gqlnb.document.paged_fields import PLAIN_LIST_STEP
from gqlnb.document.paging_conventions import get_at_path
from gqlnb.errors import sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gqlnb.client.paging.offset_cursors import OffsetFormat
    from gqlnb.document.paged_fields import ItemList, PagedField
    from gqlnb.result.result import Result

__all__ = [
    "MAX_BARREN_PAGES",
    "FoundList",
    "ListCursor",
    "PageRequest",
    "Position",
    "ResponsePath",
    "count_items",
    "find_lists",
    "foresee_pages",
    "format_response_path",
    "move_error",
]

MAX_BARREN_PAGES = 5  # pages in a row without new items: filters can leave pages empty
MAX_REPEATING_KINDS = 2  # distinct rows; equal pages of so few may be genuine
ResponsePath = tuple[str | int, ...]
Position = str | int | None  # of a page: a cursor, an offset or a page number


class FoundList(NamedTuple):
    """A paged list in the data.

    Attributes
    ----------
    value
        The object of a page; a plain list is wrapped in one, with the key `PLAIN_LIST_STEP`.
    path
        Its path.
    anchor
        The object around it that can be requested again.
    listed
        Whether there is a list between the data and it.
    loose
        Whether there is a list between the anchor and it.
    """

    value: dict[str, Any]
    path: ResponsePath
    anchor: Any
    listed: bool
    loose: bool


def find_lists(
    holder: Any, steps: Sequence[str], depth: int, *, plain_list: bool
) -> Iterator[FoundList]:
    """Yield the paged lists at the end of response names; the first `depth` lead to the anchor."""
    waiting: list[tuple[Any, int, ResponsePath, Any, bool, bool]] = [
        (holder, 0, (), None, False, False)
    ]
    while waiting:
        value, at, path, anchor, listed, loose = waiting.pop()
        if at == len(steps) and plain_list:
            if isinstance(value, list):
                yield FoundList({PLAIN_LIST_STEP: value}, path, anchor, listed, loose)
        elif isinstance(value, list):
            below = [
                (item, at, (*path, i), anchor, True, anchor is not None)
                for i, item in enumerate(value)
            ]
            waiting.extend(reversed(below))
        elif isinstance(value, dict):
            if at == depth:
                anchor, loose = value, False
            if at == len(steps):
                yield FoundList(value, path, anchor, listed, loose)
            else:
                step = steps[at]
                below_path = path if step == PLAIN_LIST_STEP else (*path, step)
                waiting.append((value.get(step), at + 1, below_path, anchor, listed, loose))


@dataclasses.dataclass(slots=True, eq=False)
class ListCursor:
    """The position in one list of one object.

    Parameters
    ----------
    field
        The paged field.
    target
        The first page, to which further pages are added.
    path
        Path of the page in the data.

    Attributes
    ----------
    type_name
        Type of the object to request again; None if the path from the data is enough.
    keys
        Key of that object.
    position
        Start of the next page: a cursor, an offset or a page number.
    start
        Start of the first page: an offset or a page number; 0 for cursors.
    seen
        Cursors so far.
    got
        Items so far, without duplicates.
    received
        Items so far, with duplicates.
    covered
        Items requested so far, in pages of known size.
    last_length
        Items of the last page.
    pages
        Pages so far.
    requested_size
        Size of the last page as requested; None if the endpoint chose it.
    total
        Number of items as the endpoint last counted.
    round
        Round of requests of the last page.
    barren_pages
        Pages in a row without new items.
    duplicates
        Items removed as they had come before.
    repeated
        Items equal to items of another page, in lists without identifiers.
    equal_pages
        Pages in a row equal to earlier pages, in lists without identifiers.
    ambiguous
        Whether different items of one page had the same identifier.
    same_page
        Whether the last page had come before.
    is_probing
        Whether the next page is requested although nothing says that it exists.
    numbered
        Whether the number of the first page is known.
    reachable
        Whether further pages can be requested.
    is_bounded
        Whether the query bounds a connection at its end, with `before` beside `first`.
    attempts
        Number of times the next page came as null.
    in_flight
        Positions of the pages requested.
    early_pages
        Pages that came before their turn, by position: answer, number in it, and size.
    """

    field: PagedField
    target: dict[str, Any]
    path: ResponsePath
    type_name: str | None = None
    keys: tuple[Any, ...] = ()
    position: Position = None
    start: int = 0
    seen: set[Position] = dataclasses.field(default_factory=set)
    got: int = 0
    received: int = 0
    covered: int = 0
    last_length: int = 0
    pages: int = 0
    requested_size: int | None = None
    total: int | None = None
    round: int = 0
    barren_pages: int = 0
    duplicates: int = 0
    repeated: int = 0
    equal_pages: int = 0
    ambiguous: bool = False
    same_page: bool = False
    is_probing: bool = False
    numbered: bool = False
    reachable: bool = False
    is_bounded: bool = False
    attempts: int = 0
    in_flight: set[Position] = dataclasses.field(default_factory=set)
    early_pages: dict[Position, tuple[int, Result, int | None]] = dataclasses.field(
        default_factory=dict
    )
    _known: set[Hashable] = dataclasses.field(
        default_factory=set
    )  # keys or texts of items, texts of pages
    _uses_offsets: bool = False
    _has_short_pages: bool = False
    _size: int | None = None
    _previous: tuple[str, ...] = ()
    _natural_repeats: int = 0  # equal items within one page

    def attach(self, found: FoundList) -> None:
        """Find out how further pages can be requested."""
        if self.field.kind == "none":
            return
        if self.field.rooted and not found.listed:
            self.reachable = True
            return
        anchor = self.field.anchor
        if anchor is None or found.loose or not isinstance(found.anchor, dict):
            return
        values = [
            next((v for name in names if (v := found.anchor.get(name)) is not None), None)
            for names in anchor.keys
        ]
        self.keys = tuple(
            None if value is None else key.convert(value)
            for key, value in zip(anchor.lookup.keys, values, strict=True)
        )
        self.type_name = found.anchor.get(anchor.typename) if anchor.typename else anchor.on
        self.reachable = bool(self.keys) and None not in self.keys and self.type_name is not None

    # -- an answer

    def begin(self, start: int | None) -> None:
        """Set the start of the first page: that of the query, or else the schema's default."""
        start = start if start is not None else self.field.arguments.default_position
        self.start = start or 0
        self.numbered = start is not None

    def add_length(self, length: int) -> None:
        """Count the items of a page, and those requested."""
        if self.pages and self._size is not None and self.last_length < self._size:
            self._has_short_pages = True
        self._size = self.requested_size
        self.received += length
        self.last_length = length
        self.pages += 1
        self.covered += self.requested_size or 0
        self.same_page = False

    def check_numbering(self, page: Mapping[str, Any]) -> bool:
        """Return whether the second page, requested as page 1, is the first page again.

        Some services count pages from 0, others from 1. If neither the query nor the schema says
        which, this does.
        """
        if self.numbered or self.pages != 1:
            return False
        self.numbered = True
        if not self._is_repeat(page):
            return False
        self.start = 1
        return True

    def _is_repeat(self, page: Mapping[str, Any]) -> bool:
        """Return whether all items of a page came before."""
        for described in self.field.items:
            items = page.get(described.key)
            if isinstance(items, list) and items:
                keys = [identify_item(item, described, ()) for item in items]
                if all(key is not None for key in keys):
                    return self._known.issuperset(keys)
                return ("page", *map(repr, items)) in self._known
        return False

    def remove_duplicates(self, page: dict[str, Any]) -> int:
        """Remove the items of a page that came before, and return their number.

        Items are identified by the id of the node with the edge's own fields, as one node may have
        several different edges; without an id by the edge's cursor with its content. Without both
        only a whole repeated page is removed, as equal rows may be different items. Equal items
        within one page are kept: the endpoint lists them twice.
        """
        lists = [each for each in self.field.items if isinstance(page.get(each.key), list)]
        main = next((e for e in lists if e.ids), next((e for e in lists if e.cursor), None))
        if main is None or self.ambiguous:
            return self._check_repeated_page([page[each.key] for each in lists])
        items = page[main.key]
        parallel = [page[e.key] for e in lists if e is not main and len(page[e.key]) == len(items)]
        if self.pages == 1 and not main.ids and main.cursor is not None:
            cursors = [e.get(main.cursor) if isinstance(e, dict) else None for e in items]
            self._uses_offsets = are_offsets(cursors)
        if self._uses_offsets:  # an item that moves gets another cursor, so compare without it
            bare = (_omit_field(item, main.cursor) for item in items)
            self._count_repeated_items(zip(bare, *parallel, strict=True))
        keys = [
            identify_item(item, main, [values[n] for values in parallel])
            for n, item in enumerate(items)
        ]
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
        self._known.update(first_index)
        self._known.discard(None)
        removed = len(keys) - len(new)
        if removed:
            for values in (items, *parallel):
                values[:] = [values[number] for number in new]
            self.duplicates += removed
        return removed

    def _count_repeated_items(self, items: Iterable[object]) -> None:
        """Count the items equal to items of earlier pages, and those equal within the page."""
        keys = [repr(item) for item in items]
        distinct = set(keys)
        self._natural_repeats += len(keys) - len(distinct)
        self.repeated += len(distinct & self._known)
        self._known |= distinct

    def _check_repeated_page(self, lists: Sequence[list[Any]]) -> int:
        """Count the items equal to items of earlier pages; remove a page that came twice in a row.

        A page of at most two distinct rows is kept, as such pages may be equal by chance.
        """
        if not lists:
            return 0
        keys = [repr(item) for item in lists[0]]
        distinct, whole = set(keys), ("page", *keys)
        is_repeated = len(distinct) > MAX_REPEATING_KINDS and whole == self._previous
        self._previous = whole
        if is_repeated and self.total is None:
            self.same_page = True
            for items in lists:
                items.clear()
            self.duplicates += len(keys)
            return len(keys)
        self.equal_pages = self.equal_pages + 1 if distinct and whole in self._known else 0
        self._count_repeated_items(lists[0])
        self._known.add(whole)
        return 0

    @property
    def overlaps(self) -> bool:
        """Whether pages may overlap, in a list without identifiers.

        Rows equal to rows of other pages count as different rows only if the total agrees, a page
        with equal rows shows that the list has such rows, and no page before the last one was
        short: the total may include rows that the endpoint left out of a page.
        """
        counted = self.got == self.total and not self._has_short_pages
        return self.same_page or (self.repeated > 0 and not (self._natural_repeats and counted))

    # -- the next page

    def move_to(self, cursor: object) -> str | None:
        """Move to the next page by its cursor; return the reason if it cannot be requested."""
        if not isinstance(cursor, str | int) or cursor == "":
            return "there are more items, but no cursor"
        if cursor in self.seen:
            return "the same cursor came twice"
        if self.barren_pages >= MAX_BARREN_PAGES:
            return f"{MAX_BARREN_PAGES} pages came with nothing new"
        self.seen.add(cursor)
        self.position = cursor
        return self.unreachable

    def advance(self, page: Mapping[str, Any]) -> None:
        """Move to the next page by its offset or number."""
        current = get_at_path(page, self.field.info.current) if self.field.info.current else None
        if isinstance(current, int) and not self.numbered and self.pages == 1:
            self.start, self.numbered = current, True
        if self.field.kind == "offset":
            self.position = self.start + self.received
        else:
            self.position = self.covered or self.pages

    def build_argument(self, position: Position, size: int | None) -> Position:
        """Return the argument for the page at a position."""
        if self.field.kind != "page" or not isinstance(position, int):
            return position
        return self.start + (position // size if size and self.covered else self.pages)

    @property
    def page_number(self) -> int | None:
        """The number of the last page; None if it is unknown."""
        if not self.numbered:
            return None
        pages = self.covered // self.requested_size if self.requested_size else self.pages
        return self.start + pages - 1

    @property
    def unreachable(self) -> str | None:
        """The reason why further pages cannot be requested; None if they can."""
        if self.reachable:
            return None
        return "there are more items, but their object cannot be requested again"

    def release(self) -> None:
        """Free the memory that is needed only for further pages."""
        self._known = set()
        self.seen = set()
        self.in_flight = set()
        self.early_pages = {}

    @property
    def is_waiting(self) -> bool:
        """Whether its next page is requested, or came already."""
        return self.position in self.in_flight or self.position in self.early_pages

    @property
    def offset(self) -> OffsetFormat | None:
        """The format of its cursors if they are offsets and the total is known."""
        if self.total is None or self.field.backward or self.field.kind != "cursor":
            return None
        return detect_offset_format(self.position, self.received)

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
            ends = (cursor.total, offset.max_items, most)
            items = cursor.received + step * size
            if items < min(end for end in ends if end is not None):
                ahead.append((cursor, offset.format_cursor(items)))
        if not ahead:
            return
        missing = [(cursor, at) for cursor, at in ahead if at not in cursor.early_pages]
        if missing:
            yield [cursor for cursor, _ in missing], [at for _, at in missing], step


def identify_item(
    item: Any, items: ItemList, parallel: Sequence[object]
) -> tuple[Hashable, ...] | None:
    """Return a key that identifies an item; None if it has none.

    `parallel` are the values at its index in the parallel lists, such as `nodes` beside `edges`.
    """
    node = item
    if items.node is not None:
        node = item.get(items.node) if isinstance(item, dict) else None
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


def _omit_field(item: object, name: str | None) -> object:
    if not isinstance(item, dict):
        return item
    return {key: value for key, value in item.items() if key != name}


def count_items(page: Mapping[str, Any], field: PagedField) -> int:
    """Return the number of items of a page."""
    return max((len(page.get(described.key) or ()) for described in field.items), default=0)


def move_error(
    error: Mapping[str, Any], steps: Sequence[str], where: ResponsePath, lists: Mapping[str, int]
) -> Mapping[str, Any] | None:
    """Return an error with its path in the joined data; None if it belongs to another page.

    Parameters
    ----------
    error
        The error of an answer.
    steps
        Path of the page in the answer.
    where
        Path of the list in the joined data.
    lists
        Number of items before the page, by response name.
    """
    path = error.get("path")
    if not isinstance(path, list | tuple) or not path:
        return None
    short = min(len(path), len(steps))
    if tuple(path[:short]) != tuple(steps[:short]):
        return None
    rest = list(path[len(steps) :])
    if PLAIN_LIST_STEP in lists and rest and isinstance(rest[0], int):
        rest[0] += lists[PLAIN_LIST_STEP]
    elif len(rest) > 1 and rest[0] in lists and isinstance(rest[1], int):
        rest[1] += lists[rest[0]]
    return {**error, "path": [*where, *rest]}


def format_response_path(path: ResponsePath) -> str:
    """Return a path as text, such as ``a.b[0].c``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return sanitize_text(text.removeprefix("."), 120)

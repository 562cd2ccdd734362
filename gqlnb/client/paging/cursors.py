"""The position in one paged list of one object, and how a page joins those before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    "ResponsePath",
    "count_items",
    "find_lists",
    "foresee_pages",
    "format_response_path",
    "move_error",
]

MAX_BARREN_PAGES = 5  # pages in a row that may bring nothing new: filters can leave pages empty
MAX_REPEATING_KINDS = 2  # of rows, of which equal pages in a row may be a list's own
ResponsePath = tuple[str | int, ...]


class FoundList(NamedTuple):
    """A paged list in the data.

    Attributes
    ----------
    value
        The object that holds a page; a plain list is put into one, below `PLAIN_LIST_STEP`.
    path
        Its path.
    anchor
        The object above it that can be asked for again.
    listed
        Whether a list stands between the data and it.
    loose
        Whether a list stands between the anchor and it.
    """

    value: dict[str, Any]
    path: ResponsePath
    anchor: Any
    listed: bool
    loose: bool


def find_lists(
    holder: Any, steps: Sequence[str], depth: int, *, plain_list: bool
) -> Iterator[FoundList]:
    """Yield the paged lists that response names lead to; `depth` of them lead to the anchor."""
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


class ListCursor:
    """The position in one list of one object.

    Parameters
    ----------
    field
        The paged field.
    target
        The object that its pages are put into: the first page.
    path
        Its path in the data.

    Attributes
    ----------
    type_name
        The type of the object that is asked for again; None where the path from the data is enough.
    keys
        That object's key.
    position
        Where the next page begins: a cursor, an offset or the number of a page.
    start
        Where the first page began: an offset or the number of a page; 0 for cursors.
    seen
        The cursors so far.
    got
        Items so far, duplicates apart.
    received
        Items so far, duplicates included.
    covered
        Items asked for so far, in pages whose size is known.
    last_length
        Items of the last page.
    pages
        Pages so far.
    requested_size
        Items asked for in the last page; None if the endpoint decided.
    total
        How many there are, as the endpoint last said.
    round
        The round of requests in which its last page came.
    barren_pages
        Pages in a row that brought nothing new.
    duplicates
        Items that were removed because they had come before.
    repeated
        Items equal to ones of another page, where nothing tells them apart.
    equal_pages
        Pages in a row that are equal to earlier ones, where nothing tells their items apart.
    ambiguous
        Whether items of one page had the same identifier and other content.
    same_page
        Whether the last page was one that had come before.
    is_probing
        Whether nothing says that there is a next page.
    numbered
        Whether it is known where pages are counted from.
    reachable
        Whether further pages can be asked for.
    is_bounded
        Whether the text says where a connection ends: `before` beside `first`.
    attempts
        How often its next page came as null.
    in_flight
        The positions of pages that are asked for.
    early_pages
        Pages that came before their turn: the answer, the number in it and its size, by position.
    """

    __slots__ = (
        "_has_short_pages",
        "_known",
        "_natural_repeats",
        "_previous",
        "_size",
        "_uses_offsets",
        "ambiguous",
        "attempts",
        "barren_pages",
        "covered",
        "duplicates",
        "early_pages",
        "equal_pages",
        "field",
        "got",
        "in_flight",
        "is_bounded",
        "is_probing",
        "keys",
        "last_length",
        "numbered",
        "pages",
        "path",
        "position",
        "reachable",
        "received",
        "repeated",
        "requested_size",
        "round",
        "same_page",
        "seen",
        "start",
        "target",
        "total",
        "type_name",
    )

    def __init__(self, field: PagedField, target: dict[str, Any], where: ResponsePath) -> None:
        self.field, self.target, self.path = field, target, where
        self.type_name: str | None = None
        self.keys: tuple[Any, ...] = ()
        self.position: Any = None
        self.start = 0
        self.seen: set[Any] = set()
        self.got = self.received = self.covered = self.last_length = self.pages = 0
        self.equal_pages = self.barren_pages = self.round = self.repeated = self.attempts = (
            self.duplicates
        ) = 0
        self.is_probing = self.same_page = self.ambiguous = self.is_bounded = False
        self.requested_size: int | None = None
        self.in_flight: set[Any] = set()
        self.early_pages: dict[Any, tuple[int, Result, int | None]] = {}
        self.total: int | None = None
        self.numbered = False
        self.reachable = False
        self._known: set[Any] = set()
        self._uses_offsets = self._has_short_pages = False
        self._size: int | None = None
        self._previous: tuple[str, ...] = ()
        self._natural_repeats = 0  # equal items within one page

    @property
    def is_outermost(self) -> bool:
        """Whether it stands in no other paged list."""
        return self.field.outer is None

    def attach(self, found: FoundList) -> None:
        """Note how the further pages are asked for."""
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

    # -- a page that came

    def begin(self, given: int | None) -> None:
        """Note where the first page begins, as the text or else the schema says."""
        default = self.field.arguments.default_position
        known = given if given is not None else default
        self.start = known or 0
        self.numbered = known is not None

    def add_length(self, length: int) -> None:
        """Take in the length of a page, and how many items were asked for."""
        if self.pages and self._size is not None and self.last_length < self._size:
            self._has_short_pages = True
        self._size = self.requested_size
        self.received += length
        self.last_length = length
        self.pages += 1
        self.covered += self.requested_size or 0
        self.same_page = False

    def check_numbering(self, page: Mapping[str, Any]) -> bool:
        """Return whether the second page, asked for as page 1, is the first one again.

        Some services count pages from 0 and some from 1; where nobody says which, this shows it.
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
        for each in self.field.items:
            items = page.get(each.key)
            if isinstance(items, list) and items:
                keys = [identify_item(item, each, ()) for item in items]
                if all(key is not None for key in keys):
                    return self._known.issuperset(keys)
                return ("page", *map(repr, items)) in self._known
        return False

    def remove_duplicates(self, page: dict[str, Any]) -> int:
        """Remove the items of a page that came before, and return how many they were.

        They are told apart by the identifier of the node and the edge's own fields, since one node
        may stand in edges that differ; without one by the edge's cursor and its content. Without
        either nothing is removed, since equal rows may be two, but for a whole page that came
        before. Equal items within one page are the endpoint's: it lists them twice.
        """
        lists = [each for each in self.field.items if isinstance(page.get(each.key), list)]
        telling = next((e for e in lists if e.ids), next((e for e in lists if e.cursor), None))
        if telling is None or self.ambiguous:
            return self._check_repeated_page([page[each.key] for each in lists])
        items = page[telling.key]
        beside = [page[e.key] for e in lists if e is not telling and len(page[e.key]) == len(items)]
        if self._has_offsets(items, telling):
            bare = (_omit_field(item, telling.cursor) for item in items)
            self._count_repeated_items(zip(bare, *beside, strict=True))
        keys = [
            identify_item(item, telling, [b[n] for b in beside]) for n, item in enumerate(items)
        ]
        here: dict[Any, int] = {}
        for number, key in enumerate(keys):
            first = here.setdefault(key, number)
            if key is not None and first != number and items[first] != items[number]:
                self.ambiguous = True
                return 0
        present = [key for key in keys if key is not None]
        self._natural_repeats += len(present) - len(set(present))
        new = [n for n, key in enumerate(keys) if key is None or key not in self._known]
        if (
            self._natural_repeats and new and telling.ids
        ):  # items of other pages may be listed twice, too
            self.repeated += len(keys) - len(new)
            new = list(range(len(keys)))
        self._known.update(here)
        self._known.discard(None)
        if len(new) == len(items):
            return 0
        for values in (items, *beside):
            values[:] = [values[number] for number in new]
        self.duplicates += len(keys) - len(new)
        return len(keys) - len(new)

    def _has_offsets(self, edges: list[Any], described: ItemList) -> bool:
        """Return whether edges have offsets as cursors: a moved item has another one."""
        if self.pages == 1 and not described.ids and described.cursor is not None:
            cursors = [e.get(described.cursor) if isinstance(e, dict) else None for e in edges]
            self._uses_offsets = are_offsets(cursors)
        return self._uses_offsets

    def _count_repeated_items(self, items: Iterable[Any]) -> list[str]:
        """Count the items equal to ones of earlier pages; return what they are compared by."""
        keys = [repr(item) for item in items]
        distinct = set(keys)
        self._natural_repeats += len(keys) - len(distinct)
        self.repeated += len(distinct & self._known)
        self._known |= distinct
        return keys

    def _check_repeated_page(self, lists: Sequence[list[Any]]) -> int:
        """Count the items equal to ones of earlier pages; remove a page that came twice in a row.

        Rows of few kinds make equal pages, so a page of one or two kinds is kept.
        """
        if not lists:
            return 0
        keys = [repr(item) for item in lists[0]]
        distinct, whole = set(keys), ("page", *keys)
        again = len(distinct) > MAX_REPEATING_KINDS and whole == self._previous
        self._previous = whole
        if again and self.total is None:
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
    def is_recounted(self) -> bool:
        """Whether each page says how many items there are, not the first one alone."""
        return self.field.counted

    @property
    def overlaps(self) -> bool:
        """Whether pages may overlap, in rows that nothing tells apart.

        Rows that are equal to rows of other pages are taken for rows of their own only if the
        endpoint counts as many, equal rows within one page show that there are such rows, and no
        page before the last one was short: its rows may have been left out, and the count not.
        """
        counted = self.got == self.total and not self._has_short_pages
        return self.same_page or (self.repeated > 0 and not (self._natural_repeats and counted))

    # -- the next page

    def move_to(self, cursor: Any) -> str | None:
        """Take the cursor of the next page; return why it leads nowhere, None if it may."""
        if not isinstance(cursor, str | int) or cursor == "":
            return "there is more, without a cursor"
        if cursor in self.seen:
            return "the same cursor came twice"
        if self.barren_pages >= MAX_BARREN_PAGES:
            return f"{MAX_BARREN_PAGES} pages came with nothing new"
        self.seen.add(cursor)
        self.position = cursor
        return self.unreachable

    def advance(self, page: Mapping[str, Any]) -> None:
        """Move to the next page of a list whose pages are numbers."""
        current = get_at_path(page, self.field.info.current) if self.field.info.current else None
        if isinstance(current, int) and not self.numbered and self.pages == 1:
            self.start, self.numbered = current, True
        if self.field.kind == "offset":
            self.position = self.start + self.received
        else:
            self.position = self.covered or self.pages

    def build_argument(self, position: Any, size: int | None) -> Any:
        """Return the argument that asks for the page at a position."""
        if self.field.kind != "page":
            return position
        return self.start + (position // size if size and self.covered else self.pages)

    @property
    def page_number(self) -> int | None:
        """The number of the page that came last; None if it is not known."""
        if not self.numbered:
            return None
        return (
            self.start
            + (self.covered // self.requested_size if self.requested_size else self.pages)
            - 1
        )

    @property
    def unreachable(self) -> str | None:
        """Why no further page can be asked for; None if one can."""
        if self.reachable:
            return None
        return "there is more, of an object that cannot be asked for again"

    def release(self) -> None:
        """Free the memory that only further pages need."""
        self._known = set()
        self.seen = set()
        self.in_flight = set()
        self.early_pages = {}

    @property
    def is_waiting(self) -> bool:
        """Whether its next page is asked for, or there."""
        return self.position in self.in_flight or self.position in self.early_pages

    @property
    def offset(self) -> OffsetFormat | None:
        """How its cursors are written, where they are offsets and the end is known."""
        counted = self.total is not None and not self.field.backward
        return (
            detect_offset_format(self.position, self.received)
            if counted and self.is_cursor
            else None
        )

    @property
    def is_cursor(self) -> bool:
        """Whether its pages are asked for by cursors."""
        return self.field.kind == "cursor"

    # -- putting pages together

    def count_lengths(self) -> dict[Any, int]:
        """Return how many items there are so far in front of the next page, by response name."""
        back = self.field.backward
        lists = ((each.key, self.target.get(each.key)) for each in self.field.items)
        return {key: 0 if back else len(items or ()) for key, items in lists}

    def merge(self, page: dict[str, Any]) -> None:
        """Put a page into the target, behind or before the items there."""
        target, described = self.target, self.field
        for each in described.items:
            new, old = page.get(each.key), target.get(each.key)
            if not isinstance(new, list):
                continue
            if not isinstance(old, list):
                target[each.key] = new
            elif described.backward:
                target[each.key] = new + old
            else:
                old.extend(new)
        for key in described.page_infos:
            old, new = target.get(key), page.get(key)
            if isinstance(old, dict) and isinstance(new, dict):
                ends = ("hasNextPage", "endCursor", "hasPreviousPage", "startCursor")
                far = ends[:2] if described.backward else ends[2:]
                target[key] = new | {name: old[name] for name in far if name in old}
        if described.counted and described.total[0] in page:
            target[described.total[0]] = page[described.total[0]]


@dataclass(slots=True, eq=False)
class PageRequest:
    """A request to send.

    Attributes
    ----------
    text, variables, operation
        As sent.
    cursors
        The lists whose pages it asks for; none in the first request.
    positions, sizes
        Where each page begins, and its size.
    scale
        How often pages were halved by then.
    sent
        How often it was sent.
    cost
        Bytes and seconds of its answer.
    """

    text: str
    variables: dict[str, Any]
    cursors: list[ListCursor] = field(default_factory=list)
    positions: list[Any] = field(default_factory=list)
    sizes: list[int | None] = field(default_factory=list)
    scale: int = 0
    sent: int = 0
    operation: str | None = None
    cost: tuple[int, float] = (0, 0.0)


def foresee_pages(
    cursors: Sequence[ListCursor], sizes: Sequence[tuple[int, int | None]]
) -> Iterator[tuple[list[ListCursor], list[str], int]]:
    """Yield the pages after the next ones: lists, their positions, and how many pages ahead.

    Nothing if the position of one cannot be known: its pages would need requests of their own.

    Parameters
    ----------
    cursors
        Those whose next page is asked for.
    sizes
        The items of a page and the most items that are wanted, None for all, of each.
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
        due = [
            (cursor, position) for cursor, position in ahead if position not in cursor.early_pages
        ]
        if due:
            yield [cursor for cursor, _ in due], [position for _, position in due], step


def identify_item(item: Any, items: ItemList, beside: Sequence[Any]) -> Any:
    """Return a key that tells an item from others; None if there is none."""
    node = item
    if items.node is not None:
        node = item.get(items.node) if isinstance(item, dict) else None
    if isinstance(node, dict):
        for name in items.ids:
            value = node.get(name)
            if value is not None:
                kind = node.get(items.typename) if items.typename else None
                own = [item.get(each) for each in items.edge_fields]
                return (value, kind, repr(own)) if own else (value, kind)
    if items.cursor is not None and isinstance(item, dict) and item.get(items.cursor):
        return (item[items.cursor], repr(item), repr(beside) if beside else None)
    return None


def _omit_field(item: Any, name: str | None) -> Any:
    """Return an item without one of its fields."""
    if not isinstance(item, dict):
        return item
    return {key: value for key, value in item.items() if key != name}


def count_items(page: Mapping[str, Any], described: PagedField) -> int:
    """Return how many items a page holds."""
    return max((len(page.get(each.key) or ()) for each in described.items), default=0)


def move_error(
    error: Mapping[str, Any], steps: Sequence[str], where: ResponsePath, lists: Mapping[str, int]
) -> Mapping[str, Any] | None:
    """Return an error of a page with its path in the data; None if it is not about this page.

    Parameters
    ----------
    error
        As it came.
    steps
        The path to the page in its answer.
    where
        The path of the list in the data.
    lists
        How many items there were before, by response name.
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
    """Return a path as text."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return sanitize_text(text.removeprefix("."), 120)

"""Repeated items: pages overlap if rows are inserted or deleted while paging.

The keys of the items of a list so far are kept in little memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any

from gqlnb.document.paging_conventions import are_offsets
from gqlnb.document.suspect_lists import SMALLEST_BOUND

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gqlnb.document.paged_fields import ItemList

MAX_EXACT_KEYS = 10_000  # of a list whose rows are not kept
# Bytes of a digest. Two of 10 million keys have the same one with a probability of 6e-16. With 8
# bytes it would be 3e-6, and a row would be removed.
DIGEST_BYTES = 12
EMPTY = bytes(DIGEST_BYTES)
FIRST_CELLS = 2**15
MAX_REPEATING_KINDS = 2  # distinct rows; equal pages of so few may be genuine


class KnownKeys:
    """A set of keys, which stores digests instead of many keys.

    A key takes about 200 bytes in a set, a digest 17 to 34. Iterating over the pages of a list
    keeps nothing else of its rows. A digest takes three times as long, though.

    Parameters
    ----------
    most
        Number of keys beyond which their digests are stored; None for any number of keys.
    """

    def __init__(self, most: int | None) -> None:
        self._most = inf if most is None else most
        self._keys: set[Hashable] = set()
        self._cells = bytearray()  # a hash table with open addressing
        self._count = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys or (self._count > 0 and self._find_cell(digest_key(key)) is None)

    def add_new(self, keys: Collection[Hashable]) -> bool:
        """Add keys if none of them is known; return whether they were added."""
        if self._count:
            is_new = not any(key in self for key in keys)
        else:
            is_new = self._keys.isdisjoint(keys)
        if is_new:
            self.update(keys)
        return is_new

    def update(self, keys: Iterable[Hashable]) -> None:
        """Add keys."""
        if not self._count:
            self._keys.update(keys)
            if len(self._keys) <= self._most:
                return
            self._cells = bytearray(DIGEST_BYTES * FIRST_CELLS)
            keys, self._keys = self._keys, set()
        self._add_digests(map(digest_key, keys))

    def _add_digests(self, digests: Iterable[bytes]) -> None:
        for digest in digests:
            cell = self._find_cell(digest)
            if cell is None:
                continue
            self._cells[cell : cell + DIGEST_BYTES] = digest
            self._count += 1
            if 10 * self._count * DIGEST_BYTES > 7 * len(self._cells):
                old, self._cells, self._count = self._cells, bytearray(2 * len(self._cells)), 0
                cells = (
                    bytes(old[at : at + DIGEST_BYTES]) for at in range(0, len(old), DIGEST_BYTES)
                )
                self._add_digests(it for it in cells if it != EMPTY)

    def _find_cell(self, digest: bytes) -> int | None:
        """Return the offset of the cell for a digest; None if the table has it."""
        cells = self._cells
        cell = hash(digest) * DIGEST_BYTES % len(cells)
        while (there := cells[cell : cell + DIGEST_BYTES]) != EMPTY:
            if there == digest:
                return None
            cell = (cell + DIGEST_BYTES) % len(cells)
        return cell


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
        main = next((e for e in lists if e.ids), next((e for e in lists if e.cursor), None))
        if main is None or self.ambiguous:
            values = [page[each.key] for each in lists]
            return self._check_repeated_page(values, counted=counted, is_short=is_short)
        items = page[main.key]
        self.nulls += sum(get_node(item, main) is None for item in items)
        parallel = [page[e.key] for e in lists if e is not main and len(page[e.key]) == len(items)]
        if self._pages == 1 and not main.ids and main.cursor is not None:
            cursors = [e.get(main.cursor) if isinstance(e, dict) else None for e in items]
            self._uses_offsets = are_offsets(cursors)
        if self._uses_offsets:  # an item that moves gets another cursor, so compare without it
            bare = (_omit_field(item, main.cursor) for item in items)
            self._count_repeated_items(zip(bare, *parallel, strict=True))
        keys = [
            identify_item(item, main, [values[n] for values in parallel])
            for n, item in enumerate(items)
        ]
        distinct = set(keys)
        is_plain = len(distinct) == len(keys) and None not in distinct
        if is_plain and self._known.add_new(distinct):  # as on most pages
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
            for values in (items, *parallel):
                values[:] = [values[number] for number in new]
            self.duplicates += removed
        return removed

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

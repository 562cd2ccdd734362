"""A chain: the pages of one connection of one object, and how a page joins those before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.errors import plain
from gqlnb.model.offsets import offset_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gqlnb.model.connections import Connection, Items
    from gqlnb.model.offsets import Offset
    from gqlnb.model.result import Result

__all__ = [
    "BARREN",
    "Ask",
    "Chain",
    "Found",
    "Path",
    "beyond",
    "count_of",
    "dotted",
    "found",
    "moved",
]

BARREN = 5  # pages in a row that may bring nothing new: filters can leave pages empty
Path = tuple[str | int, ...]


class Found(NamedTuple):
    """A connection in data: its value, its path, the anchor above it, whether a list is between.

    `listed` tells of lists between the data and it, `loose` of lists between the anchor and it.
    """

    value: dict[str, Any]
    path: Path
    anchor: Any
    listed: bool
    loose: bool


def found(holder: Any, steps: Sequence[str], depth: int) -> Iterator[Found]:
    """Yield the connections that response names lead to; `depth` of them lead to the anchor."""
    waiting: list[tuple[Any, int, Path, Any, bool, bool]] = [(holder, 0, (), None, False, False)]
    while waiting:
        value, at, path, anchor, listed, loose = waiting.pop()
        if isinstance(value, list):
            below = [
                (item, at, (*path, i), anchor, True, anchor is not None)
                for i, item in enumerate(value)
            ]
            waiting.extend(reversed(below))
        elif isinstance(value, dict):
            if at == depth:
                anchor, loose = value, False
            if at == len(steps):
                yield Found(value, path, anchor, listed, loose)
            else:
                step = steps[at]
                waiting.append((value.get(step), at + 1, (*path, step), anchor, listed, loose))


class Chain:
    """The pages of one connection of one object.

    Parameters
    ----------
    connection
        The connection.
    target
        The object that its pages are put into: the first page.
    where
        Its path in the data.

    Attributes
    ----------
    on
        The type of the object that is asked for again; None where the way from the data is enough.
    id
        That object's identifier.
    cursor
        Where the next page begins.
    seen
        The cursors so far.
    got
        Items so far, duplicates apart.
    total
        How many there are, as the endpoint last said.
    round
        The round of requests in which its last page came.
    barren
        Pages in a row that brought nothing new.
    reachable
        Whether further pages can be asked for.
    came
        Items so far, duplicates included.
    flying
        The cursors of pages that are asked for.
    early
        Pages that came before their turn: the answer and the number in it, by cursor.
    """

    __slots__ = (
        "_known",
        "barren",
        "came",
        "connection",
        "cursor",
        "early",
        "flying",
        "got",
        "id",
        "on",
        "reachable",
        "round",
        "seen",
        "target",
        "total",
        "where",
    )

    def __init__(self, connection: Connection, target: dict[str, Any], where: Path) -> None:
        self.connection, self.target, self.where = connection, target, where
        self.on: str | None = None
        self.id: Any = None
        self.cursor: Any = None
        self.seen: set[Any] = set()
        self.got = self.came = self.barren = self.round = 0
        self.flying: set[Any] = set()
        self.early: dict[Any, tuple[int, Result]] = {}
        self.total: int | None = None
        self.reachable = False
        self._known: set[Any] = set()

    @property
    def outermost(self) -> bool:
        """Whether it stands in no other connection."""
        return self.connection.outer is None

    def root(self, place: Found) -> None:
        """Note how the further pages are asked for."""
        if self.connection.rooted and not place.listed:
            self.reachable = True
            return
        anchor = self.connection.anchor
        if anchor is None or place.loose or not isinstance(place.anchor, dict):
            return
        ids = (place.anchor.get(key) for key in anchor.ids)
        self.id = next((each for each in ids if each is not None), None)
        self.on = place.anchor.get(anchor.typename) if anchor.typename else anchor.on
        self.reachable = self.id is not None and self.on is not None

    def dedupe(self, page: dict[str, Any]) -> int:
        """Take out of a page what came before, and return how many items that were.

        By the identifier of the node and the edge's own fields, since one node may stand in edges
        that differ; without one by the edge's cursor and all that is in the edge. Without that
        either nothing is taken for a duplicate: rows may be equal and yet be two.
        """
        lists = [e for e in self.connection.items if isinstance(page.get(e.key), list)]
        telling = next((e for e in lists if e.ids), next((e for e in lists if e.cursor), None))
        if telling is None:
            return 0
        items = page[telling.key]
        keys = [_key(item, telling) for item in items]
        kept, known = [], self._known
        for number, key in enumerate(keys):
            if key is None or key not in known:
                kept.append(number)
                if key is not None:
                    known.add(key)
        if len(kept) == len(items):
            return 0
        for each in lists:
            if len(page[each.key]) == len(items):
                page[each.key] = [page[each.key][number] for number in kept]
        return len(items) - len(kept)

    def stuck(self, cursor: Any) -> str | None:
        """Take the cursor of the next page; return why it leads nowhere, None if it may."""
        if not isinstance(cursor, (str, int)) or cursor == "":
            return "there is more, without a cursor"
        if cursor in self.seen:
            return "the same cursor came twice"
        if self.barren >= BARREN:
            return f"{BARREN} pages came with nothing new"
        self.seen.add(cursor)
        self.cursor = cursor
        unreachable = "there is more, of an object that cannot be asked for again"
        return None if self.reachable else unreachable

    def forget(self) -> None:
        """Give back what only further pages need."""
        self._known = set()
        self.seen = set()
        self.flying = set()
        self.early = {}

    @property
    def waits(self) -> bool:
        """Whether its next page is asked for, or there."""
        return self.cursor in self.flying or self.cursor in self.early

    @property
    def offset(self) -> Offset | None:
        """How its cursors are written, where they are offsets and the end is known."""
        known = self.total is not None and not self.connection.backward
        return offset_of(self.cursor, self.came) if known else None

    def before(self) -> dict[Any, int]:
        """Return how many items there are so far in front of what comes, by response name."""
        back = self.connection.backward
        lists = ((each.key, self.target.get(each.key)) for each in self.connection.items)
        return {key: 0 if back else len(items or ()) for key, items in lists}

    def merge(self, page: dict[str, Any]) -> None:
        """Put a page into the target, behind or before what is there."""
        target, connection = self.target, self.connection
        for each in connection.items:
            new, old = page.get(each.key), target.get(each.key)
            if not isinstance(new, list):
                continue
            if not isinstance(old, list):
                target[each.key] = new
            elif connection.backward:
                target[each.key] = new + old
            else:
                old.extend(new)
        for key in connection.infos:
            old, new = target.get(key), page.get(key)
            if isinstance(old, dict) and isinstance(new, dict):
                ends = ("hasNextPage", "endCursor", "hasPreviousPage", "startCursor")
                far = ends[:2] if connection.backward else ends[2:]
                target[key] = new | {name: old[name] for name in far if name in old}
        if connection.total is not None and connection.total in page:
            target[connection.total] = page[connection.total]


@dataclass(slots=True, eq=False)
class Ask:
    """A request to send: its text, its variables, and the chains it continues; none at first.

    `cursors` are those it continues them from, `scale` is how often pages were halved by then,
    `sent` how often it was sent.
    """

    text: str
    variables: dict[str, Any]
    chains: list[Chain] = field(default_factory=list)
    cursors: list[Any] = field(default_factory=list)
    scale: int = 0
    sent: int = 0
    operation: str | None = None


def beyond(
    chains: Sequence[Chain], sizes: Sequence[tuple[int, int | None]]
) -> Iterator[tuple[list[Chain], list[str], int]]:
    """Yield what to ask for after the next pages: chains, their cursors, and how far it is.

    Nothing if the cursor of one cannot be told: its pages would need requests of their own.

    Parameters
    ----------
    chains
        Those whose next page is asked for.
    sizes
        The items of a page and the most items that are wanted, None for all, of each.
    """
    offsets = [(each, offset) for each in chains if (offset := each.offset) is not None]
    for step in count(1) if len(offsets) == len(chains) else ():
        told = []
        for (chain, offset), (size, most) in zip(offsets, sizes, strict=True):
            ends = (chain.total, offset.most, most)
            items = chain.came + step * size
            if items < min(end for end in ends if end is not None):
                told.append((chain, offset.cursor(items)))
        if not told:
            return
        due = [(chain, cursor) for chain, cursor in told if cursor not in chain.early]
        if due:
            yield [chain for chain, _ in due], [cursor for _, cursor in due], step


def _key(item: Any, items: Items) -> Any:
    """Return what tells an item from others; None for nothing."""
    node = item
    if items.node is not None:
        node = item.get(items.node) if isinstance(item, dict) else None
    if isinstance(node, dict):
        for name in items.ids:
            value = node.get(name)
            if value is not None:
                own = [item.get(each) for each in items.own]
                return (value, repr(own)) if own else value
    if items.cursor is not None and isinstance(item, dict) and item.get(items.cursor):
        return (item[items.cursor], repr(item))
    return None


def count_of(page: Mapping[str, Any], connection: Connection) -> int:
    """Return how many items a page holds."""
    return max((len(page.get(each.key) or ()) for each in connection.items), default=0)


def moved(
    error: Mapping[str, Any], steps: Sequence[str], where: Path, lists: Mapping[str, int]
) -> Mapping[str, Any] | None:
    """Return an error of a page with its path in the data; None if it is of none, or another.

    Parameters
    ----------
    error
        As it came.
    steps
        The way to the page in its answer.
    where
        The path of the connection in the data.
    lists
        How many items there were before, by response name.
    """
    path = error.get("path")
    if not isinstance(path, (list, tuple)) or not path:
        return None
    short = min(len(path), len(steps))
    if tuple(path[:short]) != tuple(steps[:short]):
        return None
    rest = list(path[len(steps) :])
    if len(rest) > 1 and rest[0] in lists and isinstance(rest[1], int):
        rest[1] += lists[rest[0]]
    return {**error, "path": [*where, *rest]}


def dotted(path: Path) -> str:
    """Return a path as text."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return plain(text.removeprefix("."), 120)

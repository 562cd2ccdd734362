"""The connections of a document.

A connection is told by the shape that Relay's specification gives it ("GraphQL Cursor Connections
Specification"): ``pageInfo`` beside ``edges`` of ``node``, or ``nodes``, in a field that takes
``after`` or ``before``. Where no schema is known, by the same names in the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
    is_object_type,
    print_ast,
)

from gqlnb.model.picking import (
    Pick,
    flat,
    grouped,
    picks_of,
)
from gqlnb.model.tables import TOTALS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gqlnb.model.document import Document
    from gqlnb.model.picking import Hidden

__all__ = ["Anchor", "Connection", "Finder", "Items", "name_of"]

FORWARD = ("hasNextPage", "endCursor")
BACKWARD = ("hasPreviousPage", "startCursor")


class Items(NamedTuple):
    """A list of a connection's items.

    Attributes
    ----------
    key
        The response name of ``edges`` or ``nodes``.
    node
        That of ``node`` in an edge; None where the items are the nodes.
    ids
        Those of the node's identifier; empty where there is none.
    cursor
        That of the edge's cursor; None where it is not asked for.
    own
        Those of the edge's other fields: the same node may stand in edges that differ.
    plumbing
        Whether its name says nothing of what is in it, as ``edges`` and ``nodes``.
    """

    key: str
    node: str | None
    ids: tuple[str, ...]
    cursor: str | None
    own: tuple[str, ...]
    plumbing: bool = True


@dataclass(slots=True, eq=False)
class Anchor:
    """An object that can be asked for again by its identifier, and what is selected of it.

    Attributes
    ----------
    depth
        How many of the connection's steps lead to it.
    picks
        Its selection.
    on
        The type it is asked for as; empty where its ``__typename`` must say.
    ids
        Response names of its identifier.
    typename
        That of its ``__typename``; empty where `on` is known.
    """

    depth: int
    picks: list[Pick]
    on: str
    ids: tuple[str, ...] = ()
    typename: str = ""


@dataclass(slots=True, eq=False)
class Connection:
    """A connection of a document.

    Attributes
    ----------
    name
        Its dotted name, as :meth:`gqlnb.Result.frame` takes it.
    outer
        The connection in whose items it stands, None for the data.
    steps
        Response names from there: from the outer connection, or the data.
    picks
        The fields that select it.
    items
        Its lists.
    info
        The response name of a ``pageInfo`` that says how to go on.
    infos
        Those of the ``pageInfo`` that the text itself asks for.
    total
        That of the count of all there are; None where it is not asked for.
    backward
        Whether its pages go from the last one to the first.
    sized
        Whether it takes the size of a page.
    rooted
        Whether no list stands between the data and it, as far as is known.
    anchor
        The innermost object around it that can be asked for again; None for none.
    cursor_type
        The type of its cursor variable.
    hidden
        What of it must not show.
    followed
        Whether its further pages are asked for.
    """

    name: str
    outer: Connection | None
    steps: tuple[str, ...]
    picks: list[Pick]
    items: list[Items] = field(default_factory=list)
    info: str = ""
    infos: tuple[str, ...] = ()
    total: str | None = None
    backward: bool = False
    sized: bool = True
    rooted: bool = False
    anchor: Anchor | None = None
    cursor_type: str = "String"
    hidden: Hidden | None = None
    followed: bool = True

    @property
    def depth(self) -> int:
        """How many connections it stands in."""
        return 0 if self.outer is None else self.outer.depth + 1

    @property
    def words(self) -> tuple[str, str]:
        """The fields of ``pageInfo`` that say whether there is more, and from where."""
        return BACKWARD if self.backward else FORWARD


class Place(NamedTuple):
    """Where in the document one is while looking for connections."""

    outer: Connection | None
    steps: tuple[str, ...]
    name: tuple[str, ...]
    listed: bool = False
    anchor: Anchor | None = None


class Finder:
    """Finds the connections of a document.

    Parameters
    ----------
    document
        A query.

    Attributes
    ----------
    picks
        Its selection.
    connections
        Its connections, outer ones before inner ones.
    lookup
        The type of the identifier that ``node(id:)`` takes, and the interface it gives; None where
        there is no such field. Without a schema it is taken to be there.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.schema = document.schema
        self.picks = picks_of(document)
        self.connections: list[Connection] = []
        self.lookup: tuple[str, Any] | None = ("ID!", None)
        root = None
        if self.schema is not None:
            root = self.schema.query_type
            declared = getattr(root, "fields", {}).get("node")
            self.lookup = None
            if declared is not None and "id" in declared.args:
                self.lookup = str(declared.args["id"].type), get_named_type(declared.type)
        self._find(self.picks, root, Place(None, (), ()))

    def _find(self, picks: list[Pick], kind: Any, place: Place) -> None:
        """Find the connections in the selection of an object."""
        for key, pieces in grouped(picks).items():
            inner = [each for pick in pieces for each in pick.inner or ()]
            if not inner:
                continue
            first = pieces[0]
            lists = first.declared is not None and _is_list(first.declared.type)
            name = place.name if _plumbing(place, key) else (*place.name, key)
            anchor = self._anchor(picks, kind, pieces, len(place.steps)) or place.anchor
            steps = (*place.steps, key)
            items = [] if lists else self._items(first, inner)
            if not items:
                listed = place.listed or lists  # what stands above a list can't be asked for one
                below = Place(place.outer, steps, name, listed, None if lists else anchor)
                self._find_below(pieces, below)
                continue
            made = Connection(".".join(name), place.outer, steps, pieces, items, anchor=anchor)
            made.rooted = place.outer is None and not place.listed
            self._describe(made, inner)
            self.connections.append(made)
            self._find_below(pieces, Place(made, (), name, anchor=None))

    def _find_below(self, pieces: list[Pick], place: Place) -> None:
        """Look into a field; what several selections of it ask for is one."""
        whole = pieces[0].inner or []
        if len(pieces) > 1:
            whole = [
                Pick(inner=pick.inner, on=name_of(pick.kind), kind=pick.kind) for pick in pieces
            ]
        self._find(whole, pieces[0].kind if len(pieces) == 1 else None, place)

    def _items(self, first: Pick, inner: list[Pick]) -> list[Items]:
        """Return the lists of a field that is a connection; none if it is none."""
        if self.schema is not None and first.declared is None:
            return []  # of introspection
        by_key = grouped(inner)
        found = []
        for key, pieces in by_key.items():
            below = grouped(each for pick in pieces for each in pick.inner or ())
            if pieces[0].name == "nodes" or _shortcut(first, pieces[0]):
                found.append(Items(key, None, (), None, (), pieces[0].name == "nodes"))
            elif pieces[0].name == "edges" and (below or self.schema is not None):
                node = next((k for k, p in below.items() if p[0].name == "node"), None)
                cursor = next((k for k, p in below.items() if p[0].name == "cursor"), None)
                own = tuple(k for k in below if k not in (node, cursor))
                found.append(Items(key, node, (), cursor, own))
        return found if self._is_connection(first, by_key) else []

    def _is_connection(self, first: Pick, by_key: Mapping[str, list[Pick]]) -> bool:
        names = {pieces[0].name for pieces in by_key.values()}
        if first.declared is None:
            said = {"first", "last", "after", "before"} & first.arguments.keys()
            edges = next((p for p in by_key.values() if p[0].name == "edges"), [])
            within = {each.name for pick in edges for each, _ in flat(pick.inner or ())}
            return bool(said) or "pageInfo" in names or "node" in within
        fields = getattr(first.kind, "fields", {})
        info = fields.get("pageInfo")
        known = getattr(get_named_type(info.type), "fields", {}) if info is not None else {}
        arguments = first.declared.args
        lists = all(_is_list(fields[name].type) for name in names & {"edges", "nodes"})
        forward = "after" in arguments and set(FORWARD) <= known.keys()
        return lists and (forward or ("before" in arguments and set(BACKWARD) <= known.keys()))

    def _describe(self, made: Connection, inner: list[Pick]) -> None:
        first = made.picks[0]
        given = first.arguments.keys()
        made.backward = "first" not in given and bool({"last", "before"} & given)
        if first.declared is not None and not made.backward:
            made.backward = "after" not in first.declared.args
        by_key = grouped(inner)
        made.infos = tuple(k for k, pieces in by_key.items() if pieces[0].name == "pageInfo")
        counts = {pieces[0].name: k for k, pieces in by_key.items() if not pieces[0].inner}
        others = [name for name in counts if name.endswith("Count")]
        made.total = next((counts[name] for name in (*TOTALS, *others) if name in counts), None)
        cursor = "before" if made.backward else "after"
        if first.declared is not None:
            made.cursor_type = str(get_nullable_type(first.declared.args[cursor].type))
            made.sized = ("last" if made.backward else "first") in first.declared.args
        elif isinstance(first.arguments.get(cursor), VariableNode):
            node = self.document.variables.get(first.arguments[cursor].name.value)
            made.cursor_type = "String" if node is None else print_ast(node.type).rstrip("!")

    def _anchor(
        self, picks: list[Pick], kind: Any, pieces: list[Pick], depth: int
    ) -> Anchor | None:
        """Return an object as an anchor for what one of its fields leads to, if it can be one."""
        if not depth or self.lookup is None:
            return None
        if self.schema is None:
            if not all(pick.name or pick.on or pick.directives for pick in picks):
                return None  # several selections of one field
            ids = [key for key, found in grouped(picks).items() if found[0].name == key == "id"]
            return Anchor(depth, picks, "", tuple(ids)) if ids else None
        if all(self.selections(picks, kind, pieces)):
            return Anchor(depth, picks, name_of(kind))
        return None

    def selections(
        self, picks: list[Pick], kind: Any, pieces: Iterable[Pick]
    ) -> Iterator[list[Pick] | None]:
        """Yield for each field the outermost selection around it that has an identifier."""
        wanted = {id(pick) for pick in pieces}
        for pick, around in flat(picks):
            if id(pick) in wanted:
                scopes = [(kind, picks), *((each.kind, each.inner or []) for each in around)]
                yield next((inner for type_, inner in scopes if self._known_again(type_)), None)

    def _known_again(self, kind: Any) -> bool:
        """Tell whether objects of a type can be asked for by their identifier."""
        if self.schema is None or self.lookup is None or "id" not in getattr(kind, "fields", {}):
            return False
        possible = [kind] if is_object_type(kind) else self.schema.get_possible_types(kind)
        given = self.lookup[1]
        every = [given] if is_object_type(given) else self.schema.get_possible_types(given)
        return set(possible) <= set(every)


def _plumbing(place: Place, key: str) -> bool:
    """Tell whether a response name only leads from a connection to its rows."""
    if place.outer is None or len(place.steps) > 1:
        return False
    if not place.steps:
        return any(each.key == key and each.plumbing for each in place.outer.items)
    return any((each.key, each.node) == (place.steps[0], key) for each in place.outer.items)


def _shortcut(connection: Pick, piece: Pick) -> bool:
    """Tell whether a list beside the edges is that of their nodes, as SWAPI names its own."""
    if piece.declared is None or not _is_list(piece.declared.type):
        return False
    edges = getattr(connection.kind, "fields", {}).get("edges")
    node = getattr(get_named_type(edges.type), "fields", {}).get("node") if edges else None
    return node is not None and get_named_type(node.type) is piece.kind


def _is_list(kind: Any) -> bool:
    return bool(is_list_type(get_nullable_type(kind)))


def name_of(kind: Any) -> str:
    """Return the name of a type; nothing where it is not known."""
    return "" if kind is None else str(kind)

"""The texts that ask for the pages of a document's connections.

What is needed to follow a connection is added where it is absent: ``pageInfo``, the size of a page,
identifiers of the items and of the objects that connections stand in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    IntValueNode,
    NullValueNode,
    VariableNode,
    is_union_type,
    print_ast,
    value_from_ast_untyped,
)

from gqlnb.model.connections import Finder, name_of
from gqlnb.model.picking import PREFIX, Pick, Writer, added, grouped, hidden, variables_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gqlnb.model.connections import Connection, Items
    from gqlnb.model.document import Document

__all__ = ["PAGE", "Paging", "Turn"]

PAGE = 100  # items; GitHub and Saleor take no more


class Turn(NamedTuple):
    """A page to ask for: the connection, how many items, and of which object of the anchor's type.

    `on` is that object's type, None for the data.
    """

    connection: Connection
    size: int
    on: str | None = None


class Paging:
    """What is known of the pages of a document.

    Parameters
    ----------
    document
        A query; it is not changed.
    path
        The name of the connection to follow, with those it stands in and those in it; None for all.

    Attributes
    ----------
    connections
        Its connections, outer ones before inner ones.
    hidden
        What of the first answer must not show.
    """

    def __init__(self, document: Document, path: str | None = None) -> None:
        self.document = document
        self.schema = document.schema
        self._finder = Finder(document)
        self.picks = self._finder.picks
        self.connections = self._finder.connections
        for each in self.connections:
            each.followed = path is None or path == each.name or _leads(path, each.name)
        for each in self.connections:
            if each.followed:
                self._complete(each)
        self.hidden = hidden(self.picks)
        for each in self.connections:
            each.hidden = hidden(p for pick in each.picks for p in pick.inner or ())

    # -- adding what is needed

    def _complete(self, connection: Connection) -> None:
        """Add to the picks what is needed to follow a connection."""
        for pick in connection.picks:
            connection.info = added(pick.inner or [], "pageInfo", connection.words)
        if len(connection.picks) > 1:  # each has its own, of the same name
            connection.info = PREFIX + "pageInfo"
            for pick in connection.picks:
                inner = pick.inner or []
                if connection.info not in grouped(inner):
                    below = [Pick(each, each) for each in connection.words]
                    inner.append(Pick("pageInfo", connection.info, inner=below, added=True))
        connection.items = [self._identified(connection, each) for each in connection.items]
        anchor = connection.anchor
        if anchor is None or connection.rooted:
            return
        if self.schema is None:
            anchor.typename = added(anchor.picks, "__typename")
            return
        pieces = grouped(anchor.picks)[connection.steps[anchor.depth]]
        kind = self.schema.get_type(anchor.on)
        selections = self._finder.selections(anchor.picks, kind, pieces)
        anchor.ids = tuple({added(inner, "id") for inner in selections if inner is not None})

    def _identified(self, connection: Connection, items: Items) -> Items:
        """Return items with the names of their identifiers, which are asked for."""
        keys: set[str] = set()
        for pick in connection.picks:
            for piece in grouped(pick.inner or ()).get(items.key, ()):
                nodes = [piece]
                if items.node is not None:
                    nodes = grouped(piece.inner or ()).get(items.node, [])
                keys.update(key for node in nodes for key in self._identifier(node))
                if not keys and "cursor" in getattr(piece.kind, "fields", {}) and piece.inner:
                    items = items._replace(cursor=added(piece.inner, "cursor"))
        return items._replace(ids=tuple(sorted(keys)))

    def _identifier(self, node: Pick) -> Iterator[str]:
        if node.inner is None:
            return
        if self.schema is None:
            yield from (k for k, p in grouped(node.inner).items() if p[0].name == k == "id")
        elif "id" in getattr(node.kind, "fields", {}):
            yield added(node.inner, "id")
        elif is_union_type(node.kind) or self.schema.get_possible_types(node.kind):
            given = None if self._finder.lookup is None else self._finder.lookup[1]
            members = set(self.schema.get_possible_types(node.kind))
            both = members & set(self.schema.get_possible_types(given)) if given else ()
            if both and "id" in getattr(given, "fields", {}):
                yield added(node.inner, "id", on=name_of(given))

    # -- writing

    def size(self, connection: Connection, variables: Mapping[str, Any]) -> int | None:
        """Return the page size that the text gives a connection; None for none."""
        node = connection.picks[0].arguments.get("last" if connection.backward else "first")
        if isinstance(node, VariableNode):
            name = node.name.value
            declared = self.document.variables.get(name)
            default = None if declared is None else declared.default_value
            value = variables.get(name, default and value_from_ast_untyped(default))
            return value if isinstance(value, int) else None
        return int(node.value) if isinstance(node, IntValueNode) else None

    def begins(self, connection: Connection, variables: Mapping[str, Any]) -> bool:
        """Tell whether the text gives a connection a cursor to begin or to end at."""
        for name in ("after", "before"):
            node = connection.picks[0].arguments.get(name)
            if isinstance(node, VariableNode):
                if variables.get(node.name.value) is not None:
                    return True
            elif node is not None and not isinstance(node, NullValueNode):
                return True
        return False

    def first(self, sizes: Mapping[Connection, int]) -> tuple[str, set[str]]:
        """Return the text of the first request, and the names of its variables.

        Parameters
        ----------
        sizes
            The page sizes of connections that get another than the text says.
        """
        writer = Writer(_sized(sizes))
        body = writer.selection(self.picks)
        return self._operation(body, [], writer.used), writer.used

    def next(self, turns: Sequence[Turn], sizes: Mapping[Connection, int]) -> tuple[str, set[str]]:
        """Return a text that asks for further pages, and the names of the document's variables.

        The cursor of turn n is the variable ``gqlnb_c<n>``; an object is ``gqlnb_<n>``, its
        identifier ``gqlnb_i<n>``.
        """
        writer, parts, declared = Writer(), [], []
        shared = self._shared(turns)
        names = {id(pick): name for name, pick in shared.items()}
        for number, turn in enumerate(turns):
            connection = turn.connection
            cursor, count = ("before", "last") if connection.backward else ("after", "first")
            edit = {cursor: f"${PREFIX}c{number}"}
            if connection.sized:
                edit[count] = str(turn.size)
            edits = {id(pick): edit for pick in connection.picks}
            writer.edits = {**_sized(sizes), **edits}
            declared.append(f"${PREFIX}c{number}: {connection.cursor_type}")
            anchor = connection.anchor
            if turn.on is None or anchor is None:
                parts.append(writer.way(self.picks, connection.steps, names))
                continue
            inside = writer.way(anchor.picks, connection.steps[anchor.depth :], names)
            kind = self._finder.lookup[0] if self._finder.lookup else "ID!"
            declared.append(f"${PREFIX}i{number}: {kind}")
            lookup = f"{PREFIX}{number}: node(id: ${PREFIX}i{number})"
            inside = f"... on {turn.on} {{ {inside} }}" if turn.on else inside
            parts.append(f"{lookup} {{ {inside} }}")
        writer.edits = _sized(sizes)
        fragments = [
            f"fragment {name} on {pick.kind} {writer.selection(pick.inner or ())}"
            for name, pick in shared.items()
        ]
        text = self._operation(f"{{ {' '.join(parts)} }}", declared, writer.used)
        return "\n".join([text, *fragments]), writer.used

    def _shared(self, turns: Sequence[Turn]) -> dict[str, Pick]:
        """Return the picks that several turns ask for, by the fragment that each is written as."""
        if self.schema is None:
            return {}
        asked = [turn.connection for turn in turns]
        several = [each for each in dict.fromkeys(asked) if asked.count(each) > 1]
        picks = [pick for each in several for pick in each.picks]
        return {f"{PREFIX}f{number}": pick for number, pick in enumerate(picks)}

    def _operation(self, body: str, declared: list[str], used: set[str]) -> str:
        operation = self.document.operation
        used.update(name for each in operation.directives or () for name in variables_in(each))
        own = [print_ast(self.document.variables[n]) for n in self.document.variables if n in used]
        given = f"({', '.join([*own, *declared])})" if own or declared else ""
        name = f" {self.document.name}" if self.document.name else ""
        marks = "".join(f" {print_ast(each)}" for each in operation.directives or ())
        return f"query{name}{given}{marks} {body}"


def _sized(sizes: Mapping[Connection, int]) -> dict[int, Mapping[str, str]]:
    return {
        id(pick): {"last" if each.backward else "first": str(size)}
        for each, size in sizes.items()
        if each.sized
        for pick in each.picks
    }


def _leads(path: str, name: str) -> bool:
    """Tell whether one dotted name stands in the other."""
    return path.startswith(f"{name}.") or name.startswith(f"{path}.")

"""The SDL of a schema over frames."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gqlnb.engine.frames.linking import Many, One
from gqlnb.engine.frames.scalars import DESCRIPTIONS
from gqlnb.errors import SchemaError, plain

if TYPE_CHECKING:
    from gqlnb.engine.frames.column import Column
    from gqlnb.engine.frames.table import Table

__all__ = ["written"]

COMMON = {
    "PageInfo": """"Where a page lies."
type PageInfo {
  hasNextPage: Boolean!
  hasPreviousPage: Boolean!
  startCursor: String
  endCursor: String
}""",
    "OrderDirection": "enum OrderDirection { ASC DESC }",
    "OrderNulls": """"Where rows without a value stand, whichever the direction."
enum OrderNulls { FIRST LAST }""",
}
BUILT_IN = ("Boolean", "Float", "ID", "Int", "String", "Query", "Mutation", "Subscription")
FILTER = (
    "All conditions must hold. A missing value matches neq, nin, isNull: true and eq: null, "
    "and nothing else."
)
LISTS = frozenset({"in", "nin"})
PAGING = "first: Int, after: String, last: Int, before: String"


class Definitions:
    """Type definitions by name, each made once."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = dict.fromkeys(BUILT_IN, "") | COMMON

    def add(self, name: str, text: str, table: Table) -> str:
        """Add the definition of a type that belongs to a table.

        Raises
        ------
        SchemaError
            If there is a type of that name.
        """
        if name in self.texts:
            msg = (
                f"Frame {table.name!r} makes a type {name!r}, and there is one already. "
                f"Name its rows otherwise: types={{{table.name!r}: ...}}."
            )
            raise SchemaError(msg)
        self.texts[name] = text
        return name

    def share(self, name: str, text: str) -> str:
        """Add a definition that several tables have in common, once."""
        self.texts.setdefault(name, text)
        return name

    def __str__(self) -> str:
        return "\n\n".join(text for text in self.texts.values() if text)


def written(tables: Mapping[str, Table], keys: Mapping[str, str]) -> str:
    """Return the SDL of tables by the names of their fields, and of look-ups by their keys."""
    made = Definitions()
    for table in tables.values():  # theirs first, so that a clash is found on the frame's side
        for name in (table.type, f"{table.type}Connection", f"{table.type}Edge"):
            made.add(name, "pending", table)
    arguments = {name: paged(table, made) for name, table in tables.items()}
    for table in tables.values():
        made.texts |= rows(table, made, arguments)
    fields = []
    for name, table in tables.items():
        fields += [
            f"  {description(f'The rows of {name}: filtered, ordered, in pages.')}",
            f"  {name}({arguments[name]}): {table.type}Connection",
        ]
        if name in keys:
            key = keys[name]
            if table.lookup in tables:
                msg = (
                    f"Frame {name!r} and the look-up of a {table.type} would both be field "
                    f"{table.lookup!r}. Name the rows otherwise: types={{{name!r}: ...}}."
                )
                raise SchemaError(msg)
            kind = type_of(table, key, made)
            fields += [
                f"  {description(f'The row of {name} with this {key}; null if there is none.')}",
                f"  {table.lookup}({key}: {kind}!): {table.type}",
            ]
    return "\n\n".join([block("type Query", fields), str(made)])


def rows(table: Table, made: Definitions, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the definitions of a table's rows, their edges and connections."""
    fields = []
    for name, field in table.fields.items():
        link = table.links.get(name)
        if isinstance(link, One):
            note, kind = f"The row of {link.table.name} that it refers to.", link.table.type
        else:
            note, kind = field.column.note, type_of(table, name, made)
            kind = f"{kind}!" if field.required else kind
        if field.label != name:
            note = f"Column {plain(field.label, 200)}. {note}".strip()
        fields += [f"  {description(note)}"] if note else []
        fields.append(f"  {name}: {kind}")
    for name, link in table.links.items():
        if isinstance(link, Many):
            other = link.table
            fields += [
                f"  {description(f'The rows of {other.name} that refer to it.')}",
                f"  {name}({arguments[other.name]}): {other.type}Connection",
            ]
    kind = table.type
    edge = ["  cursor: String!", f"  node: {kind}!"]
    connection = [
        f"  edges: [{kind}Edge!]!",
        f"  nodes: [{kind}!]!",
        "  pageInfo: PageInfo!",
        f"  {description('How many rows the filter leaves, on all pages.')}",
        "  totalCount: Int!",
    ]
    return {
        kind: f"{description(f'A row of {table.name}.')}\n{block(f'type {kind}', fields)}",
        f"{kind}Edge": block(f"type {kind}Edge", edge),
        f"{kind}Connection": block(f"type {kind}Connection", connection),
    }


def paged(table: Table, made: Definitions) -> str:
    """Return the arguments of a table's connection."""
    where, order = f"{table.type}Where", f"{table.type}Order"
    conditions = [f"  {name}: {condition(table, name, made)}" for name in table.fields]
    joined = [f"  and: [{where}!]", f"  or: [{where}!]", f"  not: {where}"]
    made.add(
        where,
        f"{description(FILTER)}\n{block(f'input {where}', [*conditions, *joined])}",
        table,
    )
    names = [name for name, field in table.fields.items() if field.column.ordered]
    if not names:
        return f"{PAGING}, where: {where}"
    listed = block(f"enum {order}Field", [f"  {name}" for name in names])
    fields = made.add(f"{order}Field", listed, table)
    members = [
        f"  field: {fields}!",
        "  direction: OrderDirection! = ASC",
        "  nulls: OrderNulls! = LAST",
    ]
    made.add(order, block(f"input {order}", members), table)
    return f"{PAGING}, where: {where}, orderBy: [{order}!]"


def condition(table: Table, name: str, made: Definitions) -> str:
    """Return the input type of the conditions on a column."""
    column = table.fields[name].column
    kind = type_of(table, name, made)
    members = [f"  {word}: {f'[{kind}!]' if word in LISTS else kind}" for word in column.operators]
    text = block(f"input {kind}Filter", [*members, "  isNull: Boolean"])
    return made.share(f"{kind}Filter", text)


def type_of(table: Table, name: str, made: Definitions) -> str:
    """Return the GraphQL type of a column, defined if it is none of GraphQL's own."""
    column: Column = table.fields[name].column
    if not column.type:
        kind = f"{table.type}{name[:1].upper()}{name[1:]}"
        text = block(f"enum {kind}", [f"  {member}" for member in column.names])
        if made.texts.get(kind, text) != text:
            made.add(kind, text, table)
        return made.share(kind, text)
    if column.type in DESCRIPTIONS:
        made.share(column.type, f"{description(DESCRIPTIONS[column.type])}\nscalar {column.type}")
    return column.type


def block(head: str, lines: Iterable[str]) -> str:
    """Return a definition with its members."""
    return "\n".join([f"{head} {{", *lines, "}"])


def description(text: str) -> str:
    """Return a description as a string of GraphQL, whose escapes are those of JSON."""
    return json.dumps(plain(text), ensure_ascii=False)

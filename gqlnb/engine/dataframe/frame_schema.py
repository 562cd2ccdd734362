"""The SDL of a schema over frames."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from graphql.pyutils import did_you_mean, suggestion_list

from gqlnb.engine.dataframe.arrow_column import ArrowColumn, build_column
from gqlnb.engine.dataframe.frame_table import (
    FrameTable,
    ToManyLink,
    ToOneLink,
    collect_fields_below,
)
from gqlnb.engine.dataframe.graphql_names import build_type_name, check_name
from gqlnb.engine.dataframe.scalar_parsers import BIGINT_DIGITS, SCALAR_DESCRIPTIONS, SCALAR_PARSERS
from gqlnb.engine.resolvers import tidy_guess
from gqlnb.errors import SchemaError, sanitize_text

if TYPE_CHECKING:
    from gqlnb.engine.dataframe.arrow_column import ArrowColumn
    from gqlnb.engine.dataframe.frame_table import FrameTable

__all__ = ["FrameSchema", "write_sdl"]

COMMON_TYPES = {
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
BUILT_IN_TYPES = ("Boolean", "Float", "ID", "Int", "String", "Query", "Mutation", "Subscription")
FILTER_DESCRIPTION = (
    "All conditions must hold. A missing value matches neq, nin, isNull: true and eq: null, "
    "and nothing else."
)
LIST_OPERATORS = frozenset({"in", "nin"})
PAGING_ARGUMENTS = "first: Int, after: String, last: Int, before: String"


class TypeDefinitions:
    """Type definitions by name, each made once."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = dict.fromkeys(BUILT_IN_TYPES, "") | COMMON_TYPES

    def add(self, name: str, text: str, table: FrameTable) -> str:
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


def write_sdl(tables: Mapping[str, FrameTable], keys: Mapping[str, str]) -> str:
    """Return the SDL of tables by the names of their fields, and of look-ups by their keys."""
    made = TypeDefinitions()
    for table in tables.values():  # theirs first, so that a clash is found on the frame's side
        for name in (table.type, f"{table.type}Connection", f"{table.type}Edge"):
            made.add(name, "pending", table)
    arguments = {name: write_connection_arguments(table, made) for name, table in tables.items()}
    for table in tables.values():
        made.texts |= write_row_types(table, made, arguments)
    fields = []
    for name, table in tables.items():
        fields += [
            f"  {format_description(f'The rows of {name}: filtered, ordered, in pages.')}",
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
            kind = write_column_type(table, key, made)
            fields += [
                f"  {format_description(f'The row of {name} with this {key}; null if there is none.')}",
                f"  {table.lookup}({key}: {kind}!): {table.type}",
            ]
    return "\n\n".join([format_block("type Query", fields), str(made)])


def write_row_types(
    table: FrameTable, made: TypeDefinitions, arguments: Mapping[str, str]
) -> dict[str, str]:
    """Return the definitions of a table's rows, their edges and connections."""
    fields = []
    for name, field in table.fields.items():
        link = table.links.get(name)
        if isinstance(link, ToOneLink):
            note, kind = f"The row of {link.table.name} that it refers to.", link.table.type
        else:
            note, kind = field.column.note, write_column_type(table, name, made)
            kind = f"{kind}!" if field.required else kind
        if field.label != name:
            note = f"Column {sanitize_text(field.label, 200)}. {note}".strip()
        fields += [f"  {format_description(note)}"] if note else []
        fields.append(f"  {name}: {kind}")
    for name, link in table.links.items():
        if isinstance(link, ToManyLink):
            other = link.table
            fields += [
                f"  {format_description(f'The rows of {other.name} that refer to it.')}",
                f"  {name}({arguments[other.name]}): {other.type}Connection",
            ]
    kind = table.type
    edge = ["  cursor: String!", f"  node: {kind}!"]
    connection = [
        f"  edges: [{kind}Edge!]!",
        f"  nodes: [{kind}!]!",
        "  pageInfo: PageInfo!",
        f"  {format_description('How many rows the filter leaves, on all pages.')}",
        "  totalCount: Int!",
    ]
    return {
        kind: f"{format_description(f'A row of {table.name}.')}\n{format_block(f'type {kind}', fields)}",
        f"{kind}Edge": format_block(f"type {kind}Edge", edge),
        f"{kind}Connection": format_block(f"type {kind}Connection", connection),
    }


def write_connection_arguments(table: FrameTable, made: TypeDefinitions) -> str:
    """Return the arguments of a table's connection."""
    where, order = f"{table.type}Where", f"{table.type}Order"
    conditions = [f"  {name}: {write_filter(table, name, made)}" for name in table.fields]
    joined = [f"  and: [{where}!]", f"  or: [{where}!]", f"  not: {where}"]
    made.add(
        where,
        f"{format_description(FILTER_DESCRIPTION)}\n{format_block(f'input {where}', [*conditions, *joined])}",
        table,
    )
    names = [name for name, field in table.fields.items() if field.column.ordered]
    if not names:
        return f"{PAGING_ARGUMENTS}, where: {where}"
    listed = format_block(f"enum {order}Field", [f"  {name}" for name in names])
    fields = made.add(f"{order}Field", listed, table)
    members = [
        f"  field: {fields}!",
        "  direction: OrderDirection! = ASC",
        "  nulls: OrderNulls! = LAST",
    ]
    made.add(order, format_block(f"input {order}", members), table)
    return f"{PAGING_ARGUMENTS}, where: {where}, orderBy: [{order}!]"


def write_filter(table: FrameTable, name: str, made: TypeDefinitions) -> str:
    """Return the input type of the conditions on a column."""
    column = table.fields[name].column
    kind = write_column_type(table, name, made)
    members = [
        f"  {word}: {f'[{kind}!]' if word in LIST_OPERATORS else kind}" for word in column.operators
    ]
    text = format_block(f"input {kind}Filter", [*members, "  isNull: Boolean"])
    return made.share(f"{kind}Filter", text)


def write_column_type(table: FrameTable, name: str, made: TypeDefinitions) -> str:
    """Return the GraphQL type of a column, defined if it is none of GraphQL's own."""
    column: ArrowColumn = table.fields[name].column
    if not column.type:
        kind = f"{table.type}{name[:1].upper()}{name[1:]}"
        text = format_block(f"enum {kind}", [f"  {member}" for member in column.names])
        if made.texts.get(kind, text) != text:
            made.add(kind, text, table)
        return made.share(kind, text)
    if column.type in SCALAR_DESCRIPTIONS:
        made.share(
            column.type,
            f"{format_description(SCALAR_DESCRIPTIONS[column.type])}\nscalar {column.type}",
        )
    return column.type


def format_block(head: str, lines: Iterable[str]) -> str:
    """Return a definition with its members."""
    return "\n".join([f"{head} {{", *lines, "}"])


def format_description(text: str) -> str:
    """Return a description as a string of GraphQL, whose escapes are those of JSON."""
    return json.dumps(sanitize_text(text), ensure_ascii=False)


OPTION_EXAMPLES = {
    "types": "{'people': 'Person'}",
    "keys": "{'owners': 'login'}",
    "relations": "{'repositories.owner': 'owners.login'}",
}
BIGINT_TYPE = pa.decimal128(BIGINT_DIGITS, 0)
MAX_EXACT_FLOAT = 2**53  # up to which a float holds every whole number
INTEGER_TYPES = {"Int": "whole number", "BigInt": "whole number"}
NUMBER_TYPES = {*INTEGER_TYPES, "Float", "Decimal"}


class FrameSchema:
    """Frames by name, and how they are asked.

    Parameters
    ----------
    frames, named
        DataFrames, or other tables that Arrow can read, by the name of their field.
    types
        The types of their rows, where they are not to be made from the names.
    keys
        The columns that their rows are looked up by.
    relations
        Columns by the columns that refer to them, ``{"repositories.owner": "owners.login"}``.
    page_sizes
        Rows of a page where none are asked for, and at most.

    Raises
    ------
    SchemaError
        If one of these does not fit the others; the message says what would.
    """

    def __init__(
        self,
        frames: Mapping[str, Any],
        named: Mapping[str, Any],
        types: Mapping[str, str] | None,
        keys: Mapping[str, str] | None,
        relations: Mapping[str, str] | None,
        page_sizes: tuple[int, int],
    ) -> None:
        if not isinstance(frames, Mapping):
            msg = "A frame needs a name: Schema.from_frame(rows=df)."
            raise SchemaError(msg)
        check_options(page_sizes, types=types, keys=keys, relations=relations)
        self.tables = {
            check_name(name, "a frame"): FrameTable(name, frame, build_type_name(name), page_sizes)
            for name, frame in {**frames, **named}.items()
        }
        if not self.tables:
            msg = "There is no frame to serve. Name one: Schema.from_frame(rows=df)."
            raise SchemaError(msg)
        for name, kind in (types or {}).items():
            self.get_table(name, "types").type = check_name(kind, "a type")
        given = {self.get_table(name, "keys").name: key for name, key in (keys or {}).items()}
        found = {name: self._find_key(name, given) for name in self.tables}
        self.keys = {name: key for name, key in found.items() if key is not None}
        for one, other in (relations or {}).items():
            self._add_relation(one, other)

    def get_table(self, name: str, option: str) -> FrameTable:
        """Return a table that an option names.

        Raises
        ------
        SchemaError
            If there is none of that name.
        """
        found = self.tables.get(name)
        if found is not None:
            return found
        meant = suggest_name(name, self.tables)
        msg = f"{option}= names {sanitize_text(name, 80)!r}, and there is no such frame{meant}"
        raise SchemaError(msg)

    def find_column(self, place: str) -> tuple[FrameTable, str]:
        """Return the table and the field that ``frame.find_column`` names.

        Raises
        ------
        SchemaError
            If there is none.
        """
        name, point, label = str(place).partition(".")
        if not point:
            msg = f"relations= names {sanitize_text(place, 80)!r}, and a column of a frame is frame.column."
            raise SchemaError(msg)
        table = self.get_table(name, "relations")
        return table, find_field_name(table, label)

    def _find_key(self, name: str, keys: Mapping[str, str]) -> str | None:
        """Return the field that a table's rows are looked up by, if there is one."""
        table = self.tables[name]
        if name in keys:
            found = find_field_name(table, keys[name])
            if not is_unique_key(table.fields[found].column):
                msg = (
                    f"Column {sanitize_text(keys[name], 80)!r} of frame {name!r} is no key: "
                    "a value is missing or occurs twice."
                )
                raise SchemaError(msg)
            return found
        index = [key for key, field in table.fields.items() if field.index]
        usual = index if len(index) == 1 else [key for key in ("id",) if key in table.fields]
        return next((key for key in usual if is_unique_key(table.fields[key].column)), None)

    def _add_relation(self, one: str, other: str) -> None:
        """Add the fields that lead from a row to the one it refers to, and back.

        Raises
        ------
        SchemaError
            If the columns hold different types, or a value refers to two rows.
        """
        (table, name), (target, key) = self.find_column(one), self.find_column(other)
        column, sought = align_columns(
            table.fields[name].column, target.fields[key].column, (one, other)
        )
        found, values = to_comparable_values(column, sought)
        if pc.count_distinct(values).as_py() < len(values) - values.null_count:
            msg = f"{one!r} can't refer to {other!r}: a value of the latter occurs twice."
            raise SchemaError(msg)
        places = pc.index_in(found, value_set=values, skip_nulls=True)
        table.links[name] = ToOneLink(target, places)
        back = table.name
        if back in target.fields or back in target.links:
            back = f"{table.name}_by_{name}"
        if back in target.fields or back in target.links:
            msg = f"The rows of {target.name!r} have a field {back!r} already. Rename that column."
            raise SchemaError(msg)
        target.links[back] = ToManyLink(table, places)

    @property
    def sdl(self) -> str:
        """The schema as SDL."""
        return write_sdl(self.tables, self.keys)

    @property
    def scalars(self) -> dict[str, Any]:
        """The parsers of the scalars that the columns have, by type and member."""
        used = {it.column.type for table in self.tables.values() for it in table.fields.values()}
        return {name: SCALAR_PARSERS[name] for name in SCALAR_PARSERS if name in used}

    def set_resolvers(self, types: Mapping[str, Any]) -> None:
        """Set the resolvers of the types that were built from the SDL."""
        for name, table in self.tables.items():
            types["Query"].fields[name].resolve = build_connection_resolver(table)
            if name in self.keys:
                types["Query"].fields[table.lookup].resolve = build_lookup_resolver(
                    table, self.keys[name]
                )
            for field, link in table.links.items():
                if isinstance(link, ToManyLink):
                    types[table.type].fields[field].resolve = build_connection_resolver(
                        link.table, link
                    )
            table.set_row_type(types[table.type])


def check_options(page_sizes: Any, **mappings: Any) -> None:
    """Check what options are.

    Raises
    ------
    SchemaError
        If one is of another kind than it has to be.
    """
    for word, given in mappings.items():
        if given is not None and not isinstance(given, Mapping):
            msg = (
                f"{word}= is a mapping such as {OPTION_EXAMPLES[word]}; got {type(given).__name__}."
            )
            raise SchemaError(msg)
    pair = isinstance(page_sizes, (tuple, list)) and len(page_sizes) == 2
    if (
        not pair
        or not all(isinstance(it, int) for it in page_sizes)
        or not (0 < page_sizes[0] <= page_sizes[1])
    ):
        msg = (
            "page_sizes is (usual, most), two whole numbers, 1 or more, in this order; got "
            f"{sanitize_text(repr(page_sizes), 80)}."
        )
        raise SchemaError(msg)


def build_connection_resolver(
    table: FrameTable, link: ToManyLink | None = None
) -> Callable[..., Any]:
    """Return the resolver of a connection: of a table, or of the rows that refer to one."""

    def resolve(source: Any, info: Any, /, **args: Any) -> Any:
        rows = None if link is None else link.find_rows(source[info.field_name])
        asked = collect_fields_below(info.field_nodes, info.fragments)
        return table.build_connection(args, asked, info.fragments, rows)

    return resolve


def build_lookup_resolver(table: FrameTable, key: str) -> Callable[..., Any]:
    """Return the resolver that looks a row up."""

    def resolve(_source: Any, info: Any, /, **args: Any) -> Any:
        rows = table.filter_rows({key: {"eq": args[key]}})
        return next(iter(table.build_nodes(rows, info.field_nodes, info.fragments)), None)

    return resolve


def find_field_name(table: FrameTable, label: str) -> str:
    """Return the field of a column, given its label or its name.

    Raises
    ------
    SchemaError
        If there is no such column.
    """
    if label in table.fields:
        return label
    found = [name for name, field in table.fields.items() if field.label == label]
    if found:
        return found[0]
    msg = f"Frame {table.name!r} has no column {sanitize_text(label, 80)!r}{suggest_name(label, table.fields)}"
    raise SchemaError(msg)


def suggest_name(word: str, known: Mapping[str, Any]) -> str:
    """Return the end of a sentence about an unknown name: a guess what was meant."""
    meant = tidy_guess(
        did_you_mean([f"'{name}'" for name in suggestion_list(str(word), list(known))])
    )
    return f".{meant}"


def is_unique_key(column: ArrowColumn) -> bool:
    """Tell whether a column has a value in every row, each a different one."""
    values = column.values
    return (
        column.ordered
        and not values.null_count
        and bool(pc.count_distinct(values).as_py() == len(values))
    )


def align_columns(
    column: ArrowColumn, sought: ArrowColumn, places: tuple[str, str]
) -> tuple[ArrowColumn, ArrowColumn]:
    """Return a column and the one that it refers to in forms that can be compared.

    Raises
    ------
    SchemaError
        If they hold different types.
    """
    if column.values.null_count == len(column.values):  # nothing in it says a type
        column = replace(sought, values=pa.nulls(len(column.values), sought.values.type))
    if column.type != sought.type and {column.type, sought.type} <= NUMBER_TYPES:
        column, sought = to_integer_column(column, places[0]), to_integer_column(sought, places[1])
    kinds = [INTEGER_TYPES.get(it.type, it.type or "String") for it in (column, sought)]
    if kinds[0] == kinds[1] == "Decimal" and column.step != sought.step:
        kinds = [f"Decimal with steps of {float(it.step or 1):g}" for it in (column, sought)]
    if kinds == ["JSON", "JSON"]:
        kinds[1] = "JSON too, which can't be compared"
    if kinds[0] != kinds[1] or not sought.ordered:
        what = f"one is {kinds[0]}, the other {kinds[1]}"
        msg = f"{places[0]!r} can't refer to {places[1]!r}: {what}."
        raise SchemaError(msg)
    return column, sought


def to_integer_column(column: ArrowColumn, place: str) -> ArrowColumn:
    """Return a column of numbers as one of whole numbers.

    pandas makes floats of whole numbers as soon as one is missing, as in a key that refers to
    nothing in some rows.

    Raises
    ------
    SchemaError
        If one is no whole number, or so large that a float may be another one.
    """
    if column.type in INTEGER_TYPES:
        return column
    ends = pc.min_max(column.values).as_py()
    if column.type == "Decimal" or max(-(ends["min"] or 0), ends["max"] or 0) <= MAX_EXACT_FLOAT:
        try:
            return build_column(column.values.cast(pa.int64()))
        except pa.ArrowInvalid:  # it has a fraction
            pass
    msg = (
        f"{place!r} holds numbers that are not whole, or beyond the 53 bits in which floats are "
        "exact, so they can't refer to whole numbers. Convert it with .astype('Int64')."
    )
    raise SchemaError(msg)


def to_comparable_values(column: ArrowColumn, sought: ArrowColumn) -> tuple[Any, Any]:
    """Return the values of two columns of a type in one Arrow type."""
    found, values = get_plain_values(column), get_plain_values(sought)
    if column.step and sought.step and column.step != sought.step:
        return refine_ticks(found, column.step / sought.step), refine_ticks(
            values, sought.step / column.step
        )
    if found.type != values.type:  # whole numbers, of which one has more than 64 bits
        found, values = found.cast(BIGINT_TYPE), values.cast(BIGINT_TYPE)
    return found, values


def refine_ticks(ticks: Any, times: Fraction) -> Any:
    """Return counted times in a step so many times finer; null where 64 bits don't hold it."""
    if times <= 1:
        return ticks
    most = (2**63 - 1) // int(times)
    held = pc.and_(pc.less_equal(ticks, most), pc.greater_equal(ticks, -most))
    return pc.if_else(held, pc.multiply(ticks, int(times)), None)


def get_plain_values(column: ArrowColumn) -> Any:
    """Return the values of a column in a form that those of another of its type have too."""
    if column.names:
        return pa.array(column.names, pa.large_string()).take(column.values)
    if column.type in INTEGER_TYPES and not pa.types.is_decimal(column.values.type):
        return column.values.cast(BIGINT_TYPE if column.values.type == pa.uint64() else pa.int64())
    return column.values.cast(pa.large_string()) if column.type == "String" else column.values

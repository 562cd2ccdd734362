"""The schema of frames: its SDL, keys, relations and resolvers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from gqlnb.engine.dataframe.arrow_column import (
    BIGINT_DIGITS,
    SCALAR_DESCRIPTIONS,
    SCALAR_PARSERS,
    ArrowArray,
    ArrowColumn,
    Value,
    build_column,
    build_type_name,
    check_name,
)
from gqlnb.engine.dataframe.frame_table import (
    FrameTable,
    ToManyLink,
    ToOneLink,
    collect_fields_below,
)
from gqlnb.errors import SchemaError, sanitize_text, suggest

if TYPE_CHECKING:
    from graphql import GraphQLResolveInfo

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
    """Type definitions by name."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = dict.fromkeys(BUILT_IN_TYPES, "") | COMMON_TYPES

    def add(self, name: str, text: str, table: FrameTable) -> str:
        """Add the definition of a type of one table."""
        if name in self.texts:
            msg = (
                f"Frame {table.name!r} makes a type {name!r}, and there is one already. "
                f"Name its rows otherwise: types={{{table.name!r}: ...}}."
            )
            raise SchemaError(msg)
        self.texts[name] = text
        return name

    def share(self, name: str, text: str) -> str:
        """Add a definition that several tables share, unless it exists."""
        self.texts.setdefault(name, text)
        return name

    def __str__(self) -> str:
        return "\n\n".join(text for text in self.texts.values() if text)


def write_sdl(tables: Mapping[str, FrameTable], keys: Mapping[str, str]) -> str:
    """Return the SDL of tables, by their root fields, and of look-ups by their keys."""
    definitions = TypeDefinitions()
    for table in tables.values():  # these first, so that a name clash is reported for the frame
        for name in (table.type, f"{table.type}Connection", f"{table.type}Edge"):
            definitions.add(name, "pending", table)
    arguments = {
        name: write_connection_arguments(table, definitions) for name, table in tables.items()
    }
    for table in tables.values():
        definitions.texts |= write_row_types(table, definitions, arguments)
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
            kind = write_column_type(table, key, definitions)
            note = f"The row of {name} with this {key}; null if there is none."
            fields += [
                f"  {format_description(note)}",
                f"  {table.lookup}({key}: {kind}!): {table.type}",
            ]
    return "\n\n".join([_format_block("type Query", fields), str(definitions)])


def write_row_types(
    table: FrameTable, definitions: TypeDefinitions, arguments: Mapping[str, str]
) -> dict[str, str]:
    """Return the definitions of a table's rows, their edges and connections."""
    fields = []
    for name, field in table.fields.items():
        link = table.links.get(name)
        if isinstance(link, ToOneLink):
            note, kind = f"The row of {link.table.name} that it refers to.", link.table.type
        else:
            note, kind = field.column.note, write_column_type(table, name, definitions)
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
    description = format_description(f"A row of {table.name}.")
    edge = ["  cursor: String!", f"  node: {kind}!"]
    connection = [
        f"  edges: [{kind}Edge!]!",
        f"  nodes: [{kind}!]!",
        "  pageInfo: PageInfo!",
        f"  {format_description('How many rows the filter leaves, on all pages.')}",
        "  totalCount: Int!",
    ]
    return {
        kind: f"{description}\n{_format_block(f'type {kind}', fields)}",
        f"{kind}Edge": _format_block(f"type {kind}Edge", edge),
        f"{kind}Connection": _format_block(f"type {kind}Connection", connection),
    }


def write_connection_arguments(table: FrameTable, definitions: TypeDefinitions) -> str:
    """Return the arguments of a table's connection."""
    where, order = f"{table.type}Where", f"{table.type}Order"
    conditions = [f"  {name}: {write_filter(table, name, definitions)}" for name in table.fields]
    joined = [f"  and: [{where}!]", f"  or: [{where}!]", f"  not: {where}"]
    block = _format_block(f"input {where}", [*conditions, *joined])
    definitions.add(where, f"{format_description(FILTER_DESCRIPTION)}\n{block}", table)
    names = [name for name, field in table.fields.items() if field.column.ordered]
    if not names:
        return f"{PAGING_ARGUMENTS}, where: {where}"
    listed = _format_block(f"enum {order}Field", [f"  {name}" for name in names])
    fields = definitions.add(f"{order}Field", listed, table)
    members = [
        f"  field: {fields}!",
        "  direction: OrderDirection! = ASC",
        "  nulls: OrderNulls! = LAST",
    ]
    definitions.add(order, _format_block(f"input {order}", members), table)
    return f"{PAGING_ARGUMENTS}, where: {where}, orderBy: [{order}!]"


def write_filter(table: FrameTable, name: str, definitions: TypeDefinitions) -> str:
    """Return the input type of the conditions on a column."""
    column = table.fields[name].column
    kind = write_column_type(table, name, definitions)
    members = [
        f"  {word}: {f'[{kind}!]' if word in LIST_OPERATORS else kind}" for word in column.operators
    ]
    text = _format_block(f"input {kind}Filter", [*members, "  isNull: Boolean"])
    return definitions.share(f"{kind}Filter", text)


def write_column_type(table: FrameTable, name: str, definitions: TypeDefinitions) -> str:
    """Return the GraphQL type of a column; define it if it is not built in."""
    column: ArrowColumn = table.fields[name].column
    if not column.type:
        kind = f"{table.type}{name[:1].upper()}{name[1:]}"
        text = _format_block(f"enum {kind}", [f"  {member}" for member in column.names])
        if definitions.texts.get(kind, text) != text:
            definitions.add(kind, text, table)
        return definitions.share(kind, text)
    if column.type in SCALAR_DESCRIPTIONS:
        definitions.share(
            column.type,
            f"{format_description(SCALAR_DESCRIPTIONS[column.type])}\nscalar {column.type}",
        )
    return column.type


def _format_block(head: str, lines: Iterable[str]) -> str:
    return "\n".join([f"{head} {{", *lines, "}"])


def format_description(text: str) -> str:
    """Return a description as a GraphQL string, which has the escapes of JSON."""
    return json.dumps(sanitize_text(text), ensure_ascii=False)


OPTION_EXAMPLES = {
    "types": "{'people': 'Person'}",
    "keys": "{'owners': 'login'}",
    "relations": "{'repositories.owner': 'owners.login'}",
}
BIGINT_TYPE = pa.decimal128(BIGINT_DIGITS, 0)
MAX_EXACT_FLOAT = 2**53  # a float is exact for every integer up to it
INTEGER_TYPES = {"Int": "whole number", "BigInt": "whole number"}
NUMBER_TYPES = {*INTEGER_TYPES, "Float", "Decimal"}


class FrameSchema:
    """The tables of a schema, with their keys and relations.

    The parameters are those of :meth:`gqlnb.Schema.from_frame`.
    """

    def __init__(
        self,
        frames: Mapping[str, object],
        named: Mapping[str, object],
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
        """Return the table named by an option.

        Raises
        ------
        SchemaError
            If no such table exists.
        """
        found = self.tables.get(name)
        if found is not None:
            return found
        msg = f"{option}= names {sanitize_text(name, 80)!r}, and there is no such frame."
        msg += suggest(str(name), self.tables)
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
            given = sanitize_text(place, 80)
            msg = f"relations= names {given!r}, and a column of a frame is frame.column."
            raise SchemaError(msg)
        table = self.get_table(name, "relations")
        return table, find_field_name(table, label)

    def _find_key(self, name: str, keys: Mapping[str, str]) -> str | None:
        """Return the field that a table's rows are looked up by; None without one."""
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
        # A named index is the frame's own statement about its key; several levels are not one key.
        index = [key for key, field in table.fields.items() if field.index]
        usual = index if len(index) == 1 else [key for key in ("id",) if key in table.fields]
        return next((key for key in usual if is_unique_key(table.fields[key].column)), None)

    def _add_relation(self, one: str, other: str) -> None:
        """Add the field from a row to the row it refers to, and the reverse field."""
        (table, name), (target, key) = self.find_column(one), self.find_column(other)
        column, sought = align_columns(
            table.fields[name].column, target.fields[key].column, (one, other)
        )
        found, values = to_comparable_values(column, sought)
        if pc.count_distinct(values).as_py() < len(values) - values.null_count:
            msg = f"{one!r} can't refer to {other!r}: a value of the latter occurs twice."
            raise SchemaError(msg)
        # One pass over the column at the start, instead of a look-up for each query.
        places = pc.index_in(found, value_set=values, skip_nulls=True)
        table.links[name] = ToOneLink(target, places)
        # The reverse field has the other frame's name, unless a column has it already.
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
    def scalars(self) -> dict[str, dict[str, object]]:
        """The parsers of the columns' scalars, by type and member."""
        used = {it.column.type for table in self.tables.values() for it in table.fields.values()}
        return {name: dict(SCALAR_PARSERS[name]) for name in SCALAR_PARSERS if name in used}

    def set_resolvers(self, types: Mapping[str, Any]) -> None:
        """Set the resolvers of the types built from the SDL."""
        for name, table in self.tables.items():
            types["Query"].fields[name].resolve = build_connection_resolver(table)
            if name in self.keys:
                types["Query"].fields[table.lookup].resolve = _build_lookup_resolver(
                    table, self.keys[name]
                )
            for field, link in table.links.items():
                if isinstance(link, ToManyLink):
                    types[table.type].fields[field].resolve = build_connection_resolver(
                        link.table, link
                    )
            table.set_row_type(types[table.type])


def check_options(page_sizes: Value, **mappings: object) -> None:
    """Check the types of options."""
    for name, given in mappings.items():
        if given is not None and not isinstance(given, Mapping):
            example = OPTION_EXAMPLES[name]
            msg = f"{name}= is a mapping such as {example}; got {type(given).__name__}."
            raise SchemaError(msg)
    valid = isinstance(page_sizes, (tuple, list)) and len(page_sizes) == 2
    valid = valid and all(isinstance(size, int) for size in page_sizes)
    if not valid or not 0 < page_sizes[0] <= page_sizes[1]:
        msg = (
            "page_sizes is (usual, most), two whole numbers, 1 or more, in this order; got "
            f"{sanitize_text(repr(page_sizes), 80)}."
        )
        raise SchemaError(msg)


def build_connection_resolver(
    table: FrameTable, link: ToManyLink | None = None
) -> Callable[..., object]:
    """Return the resolver of a connection: of all rows of a table, or of linked rows."""

    def resolve(source: Value, info: GraphQLResolveInfo[Any], /, **args: object) -> object:
        rows = None if link is None else link.find_rows(source[info.field_name])
        asked = collect_fields_below(info.field_nodes, info.fragments)
        return table.build_connection(args, asked, info.fragments, rows)

    return resolve


def _build_lookup_resolver(table: FrameTable, key: str) -> Callable[..., object]:

    def resolve(_source: object, info: GraphQLResolveInfo[Any], /, **args: object) -> object:
        rows = table.filter_rows({key: {"eq": args[key]}})
        return next(iter(table.build_nodes(rows, info.field_nodes, info.fragments)), None)

    return resolve


def find_field_name(table: FrameTable, label: str) -> str:
    """Return the field of a column, given its label or its name."""
    if label in table.fields:
        return label
    found = [name for name, field in table.fields.items() if field.label == label]
    if found:
        return found[0]
    msg = f"Frame {table.name!r} has no column {sanitize_text(label, 80)!r}."
    msg += suggest(str(label), table.fields)
    raise SchemaError(msg)


def is_unique_key(column: ArrowColumn) -> bool:
    """Return whether a column has a different value in every row."""
    values = column.values
    return (
        column.ordered
        and not values.null_count
        and bool(pc.count_distinct(values).as_py() == len(values))
    )


def align_columns(
    column: ArrowColumn, sought: ArrowColumn, places: tuple[str, str]
) -> tuple[ArrowColumn, ArrowColumn]:
    """Return a column and the one that it refers to as columns of comparable types."""
    if column.values.null_count == len(column.values):  # it has no values to show its type
        column = replace(sought, values=pa.nulls(len(column.values), sought.values.type))
    if column.type != sought.type and {column.type, sought.type} <= NUMBER_TYPES:
        column, sought = to_integer_column(column, places[0]), to_integer_column(sought, places[1])
    kinds = [INTEGER_TYPES.get(it.type, it.type or "String") for it in (column, sought)]
    if kinds[0] == kinds[1] == "Decimal" and column.step != sought.step:
        kinds = [f"Decimal with steps of {float(it.step or 1):g}" for it in (column, sought)]
    if kinds == ["JSON", "JSON"]:
        kinds[1] = "JSON too, which can't be compared"
    if kinds[0] != kinds[1] or not sought.ordered:
        reason = f"one is {kinds[0]}, the other {kinds[1]}"
        msg = f"{places[0]!r} can't refer to {places[1]!r}: {reason}."
        raise SchemaError(msg)
    return column, sought


def to_integer_column(column: ArrowColumn, place: str) -> ArrowColumn:
    """Return a column of numbers as a column of integers."""
    # pandas converts integers to floats if one is missing, as in a key without a target in some
    # rows.
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


def to_comparable_values(column: ArrowColumn, sought: ArrowColumn) -> tuple[ArrowArray, ArrowArray]:
    """Return the values of two columns of one GraphQL type in one Arrow type."""
    found, values = get_plain_values(column), get_plain_values(sought)
    if column.step and sought.step and column.step != sought.step:
        return refine_ticks(found, column.step / sought.step), refine_ticks(
            values, sought.step / column.step
        )
    if found.type != values.type:  # decimals, or integers with more than 64 bits
        common = pa.decimal128(BIGINT_DIGITS, getattr(found.type, "scale", 0))
        found, values = found.cast(common), values.cast(common)
    return found, values


def refine_ticks(ticks: ArrowArray, times: Fraction) -> ArrowArray:
    """Return ticks in a step so many times finer; null if 64 bits are too few."""
    if times <= 1:
        return ticks
    # pc.multiply wraps around on overflow, so that such values are masked.
    most = (2**63 - 1) // int(times)
    held = pc.and_(pc.less_equal(ticks, most), pc.greater_equal(ticks, -most))
    return pc.if_else(held, pc.multiply(ticks, int(times)), None)


def get_plain_values(column: ArrowColumn) -> ArrowArray:
    """Return the values of a column in the common Arrow type of its GraphQL type."""
    if column.names:
        return pa.array(column.names, pa.large_string()).take(column.values)
    if column.type in INTEGER_TYPES and not pa.types.is_decimal(column.values.type):
        return column.values.cast(BIGINT_TYPE if column.values.type == pa.uint64() else pa.int64())
    return column.values.cast(pa.large_string()) if column.type == "String" else column.values

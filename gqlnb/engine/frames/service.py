"""A schema over frames: its tables, the links between them, and what resolves its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from graphql.pyutils import did_you_mean, suggestion_list

from gqlnb.engine.binding import tidy
from gqlnb.engine.frames.column import Column, column_of
from gqlnb.engine.frames.linking import Many, One
from gqlnb.engine.frames.naming import check_name, type_name
from gqlnb.engine.frames.scalars import DIGITS, PARSERS
from gqlnb.engine.frames.sdl import written
from gqlnb.engine.frames.table import Table, asked_below
from gqlnb.errors import SchemaError, plain

__all__ = ["Service"]

FORMS = {
    "types": "{'people': 'Person'}",
    "keys": "{'owners': 'login'}",
    "relations": "{'repositories.owner': 'owners.login'}",
}
BIG = pa.decimal128(DIGITS, 0)
EXACT = 2**53  # up to which a float holds every whole number
WHOLE = {"Int": "whole number", "BigInt": "whole number"}
NUMBERS = {*WHOLE, "Float", "Decimal"}


class Service:
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
            check_name(name, "a frame"): Table(name, frame, type_name(name), page_sizes)
            for name, frame in {**frames, **named}.items()
        }
        if not self.tables:
            msg = "There is no frame to serve. Name one: Schema.from_frame(rows=df)."
            raise SchemaError(msg)
        for name, kind in (types or {}).items():
            self.table(name, "types").type = check_name(kind, "a type")
        given = {self.table(name, "keys").name: key for name, key in (keys or {}).items()}
        found = {name: self._key(name, given) for name in self.tables}
        self.keys = {name: key for name, key in found.items() if key is not None}
        for one, other in (relations or {}).items():
            self._relate(one, other)

    def table(self, name: str, option: str) -> Table:
        """Return a table that an option names.

        Raises
        ------
        SchemaError
            If there is none of that name.
        """
        found = self.tables.get(name)
        if found is not None:
            return found
        meant = guess(name, self.tables)
        msg = f"{option}= names {plain(name, 80)!r}, and there is no such frame{meant}"
        raise SchemaError(msg)

    def column(self, place: str) -> tuple[Table, str]:
        """Return the table and the field that ``frame.column`` names.

        Raises
        ------
        SchemaError
            If there is none.
        """
        name, point, label = str(place).partition(".")
        if not point:
            msg = f"relations= names {plain(place, 80)!r}, and a column of a frame is frame.column."
            raise SchemaError(msg)
        table = self.table(name, "relations")
        return table, named(table, label)

    def _key(self, name: str, keys: Mapping[str, str]) -> str | None:
        """Return the field that a table's rows are looked up by, if there is one."""
        table = self.tables[name]
        if name in keys:
            found = named(table, keys[name])
            if not is_key(table.fields[found].column):
                msg = (
                    f"Column {plain(keys[name], 80)!r} of frame {name!r} is no key: "
                    "a value is missing or occurs twice."
                )
                raise SchemaError(msg)
            return found
        index = [key for key, field in table.fields.items() if field.index]
        usual = index if len(index) == 1 else [key for key in ("id",) if key in table.fields]
        return next((key for key in usual if is_key(table.fields[key].column)), None)

    def _relate(self, one: str, other: str) -> None:
        """Add the fields that lead from a row to the one it refers to, and back.

        Raises
        ------
        SchemaError
            If the columns hold different types, or a value refers to two rows.
        """
        (table, name), (target, key) = self.column(one), self.column(other)
        column, sought = alike(table.fields[name].column, target.fields[key].column, (one, other))
        found, values = comparable(column, sought)
        if pc.count_distinct(values).as_py() < len(values) - values.null_count:
            msg = f"{one!r} can't refer to {other!r}: a value of the latter occurs twice."
            raise SchemaError(msg)
        places = pc.index_in(found, value_set=values, skip_nulls=True)
        table.links[name] = One(target, places)
        back = table.name
        if back in target.fields or back in target.links:
            back = f"{table.name}_by_{name}"
        if back in target.fields or back in target.links:
            msg = f"The rows of {target.name!r} have a field {back!r} already. Rename that column."
            raise SchemaError(msg)
        target.links[back] = Many(table, places)

    @property
    def sdl(self) -> str:
        """The schema as SDL."""
        return written(self.tables, self.keys)

    @property
    def scalars(self) -> dict[str, Any]:
        """The parsers of the scalars that the columns have, by type and member."""
        used = {it.column.type for table in self.tables.values() for it in table.fields.values()}
        return {name: PARSERS[name] for name in PARSERS if name in used}

    def resolve(self, types: Mapping[str, Any]) -> None:
        """Set the resolvers of the types that were built from the SDL."""
        for name, table in self.tables.items():
            types["Query"].fields[name].resolve = paging(table)
            if name in self.keys:
                types["Query"].fields[table.lookup].resolve = finding(table, self.keys[name])
            for field, link in table.links.items():
                if isinstance(link, Many):
                    types[table.type].fields[field].resolve = paging(link.table, link)
            table.known(types[table.type])


def check_options(page_sizes: Any, **mappings: Any) -> None:
    """Check what options are.

    Raises
    ------
    SchemaError
        If one is of another kind than it has to be.
    """
    for word, given in mappings.items():
        if given is not None and not isinstance(given, Mapping):
            msg = f"{word}= is a mapping such as {FORMS[word]}; got {type(given).__name__}."
            raise SchemaError(msg)
    pair = isinstance(page_sizes, (tuple, list)) and len(page_sizes) == 2
    if (
        not pair
        or not all(isinstance(it, int) for it in page_sizes)
        or not (0 < page_sizes[0] <= page_sizes[1])
    ):
        msg = (
            "page_sizes is (usual, most), two whole numbers, 1 or more, in this order; got "
            f"{plain(repr(page_sizes), 80)}."
        )
        raise SchemaError(msg)


def paging(table: Table, link: Many | None = None) -> Callable[..., Any]:
    """Return the resolver of a connection: of a table, or of the rows that refer to one."""

    def resolve(source: Any, info: Any, /, **args: Any) -> Any:
        rows = None if link is None else link.rows(source[info.field_name])
        asked = asked_below(info.field_nodes, info.fragments)
        return table.connection(args, asked, info.fragments, rows)

    return resolve


def finding(table: Table, key: str) -> Callable[..., Any]:
    """Return the resolver that looks a row up."""

    def resolve(_source: Any, info: Any, /, **args: Any) -> Any:
        rows = table.matching({key: {"eq": args[key]}})
        return next(iter(table.nodes(rows, info.field_nodes, info.fragments)), None)

    return resolve


def named(table: Table, label: str) -> str:
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
    msg = f"Frame {table.name!r} has no column {plain(label, 80)!r}{guess(label, table.fields)}"
    raise SchemaError(msg)


def guess(word: str, known: Mapping[str, Any]) -> str:
    """Return the end of a sentence about an unknown name: a guess what was meant."""
    meant = tidy(did_you_mean([f"'{name}'" for name in suggestion_list(str(word), list(known))]))
    return f".{meant}"


def is_key(column: Column) -> bool:
    """Tell whether a column has a value in every row, each a different one."""
    values = column.values
    return (
        column.ordered
        and not values.null_count
        and bool(pc.count_distinct(values).as_py() == len(values))
    )


def alike(column: Column, sought: Column, places: tuple[str, str]) -> tuple[Column, Column]:
    """Return a column and the one that it refers to in forms that can be compared.

    Raises
    ------
    SchemaError
        If they hold different types.
    """
    if column.values.null_count == len(column.values):  # nothing in it says a type
        column = replace(sought, values=pa.nulls(len(column.values), sought.values.type))
    if column.type != sought.type and {column.type, sought.type} <= NUMBERS:
        column, sought = whole(column, places[0]), whole(sought, places[1])
    kinds = [WHOLE.get(it.type, it.type or "String") for it in (column, sought)]
    if kinds[0] == kinds[1] == "Decimal" and column.step != sought.step:
        kinds = [f"Decimal with steps of {float(it.step or 1):g}" for it in (column, sought)]
    if kinds == ["JSON", "JSON"]:
        kinds[1] = "JSON too, which can't be compared"
    if kinds[0] != kinds[1] or not sought.ordered:
        what = f"one is {kinds[0]}, the other {kinds[1]}"
        msg = f"{places[0]!r} can't refer to {places[1]!r}: {what}."
        raise SchemaError(msg)
    return column, sought


def whole(column: Column, place: str) -> Column:
    """Return a column of numbers as one of whole numbers.

    pandas makes floats of whole numbers as soon as one is missing, as in a key that refers to
    nothing in some rows.

    Raises
    ------
    SchemaError
        If one is no whole number, or so large that a float may be another one.
    """
    if column.type in WHOLE:
        return column
    ends = pc.min_max(column.values).as_py()
    if column.type == "Decimal" or max(-(ends["min"] or 0), ends["max"] or 0) <= EXACT:
        try:
            return column_of(column.values.cast(pa.int64()))
        except pa.ArrowInvalid:  # it has a fraction
            pass
    msg = (
        f"{place!r} holds numbers that are not whole, or beyond the 53 bits in which floats are "
        "exact, so they can't refer to whole numbers. Convert it with .astype('Int64')."
    )
    raise SchemaError(msg)


def comparable(column: Column, sought: Column) -> tuple[Any, Any]:
    """Return the values of two columns of a type in one Arrow type."""
    found, values = contents(column), contents(sought)
    if column.step and sought.step and column.step != sought.step:
        return finer(found, column.step / sought.step), finer(values, sought.step / column.step)
    if found.type != values.type:  # whole numbers, of which one has more than 64 bits
        found, values = found.cast(BIG), values.cast(BIG)
    return found, values


def finer(ticks: Any, times: Fraction) -> Any:
    """Return counted times in a step so many times finer; null where 64 bits don't hold it."""
    if times <= 1:
        return ticks
    most = (2**63 - 1) // int(times)
    held = pc.and_(pc.less_equal(ticks, most), pc.greater_equal(ticks, -most))
    return pc.if_else(held, pc.multiply(ticks, int(times)), None)


def contents(column: Column) -> Any:
    """Return the values of a column in a form that those of another of its type have too."""
    if column.names:
        return pa.array(column.names, pa.large_string()).take(column.values)
    if column.type in WHOLE and not pa.types.is_decimal(column.values.type):
        return column.values.cast(BIG if column.values.type == pa.uint64() else pa.int64())
    return column.values.cast(pa.large_string()) if column.type == "String" else column.values

"""Python values in a JSON form, where no declared type says which."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import Any
from uuid import UUID

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
)

from gqlnb.document import duration, scalars
from gqlnb.document.input_records import (
    PANDAS_MISSING_TYPES,
    InputTable,
    is_library_instance,
    is_missing,
    is_plain_iterable,
    is_unread_table,
    read_items,
    read_record,
    read_table,
)
from gqlnb.document.scalar_values import unwrap
from gqlnb.document.upload import is_file
from gqlnb.errors import describe_path, sanitize_text

__all__ = [
    "BUILT_IN_SCALARS",
    "CELL_CHECKS",
    "PLAIN_TYPES",
    "CoercionError",
    "NoJsonFormError",
    "coerce_input",
    "convert_member",
    "convert_value",
    "describe_unknown_fields",
    "has_default",
    "is_row",
    "join_names",
    "refuse_unread_table",
]

PLAIN_TYPES = frozenset({str, int, bool})


class NoJsonFormError(TypeError):
    """A value without a JSON form.

    Parameters
    ----------
    what
        What it is.
    advice
        What to give instead.

    Attributes
    ----------
    path
        Where it stands in the variable.
    """

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice
        self.path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return f"{self.what}{describe_path(self.path)} has no JSON form.{self.advice}"


def convert_value(value: Any) -> Any:
    """Return a Python value as a JSON-like one.

    Dates and times become ISO 8601 text, decimals and UUIDs text, enum members their names, NumPy
    and pandas scalars plain ones (NaT and NA null), arrays and Series lists with null for NaN, data
    classes and models objects, tables lists of objects. Files stay as they are: whoever carries
    them says how.

    Raises
    ------
    UnfitError
        If the value is none of these, or no finite number.
    RecursionError
        If it holds itself.
    """
    if value is None or type(value) in PLAIN_TYPES:
        return value
    for kind, convert in CONVERTERS:
        if isinstance(value, kind):
            return convert(value)
    if type(value).__name__ in PANDAS_MISSING_TYPES:
        return None
    if is_file(value):
        return value
    return convert_foreign(value)


def convert_foreign(value: Any) -> Any:
    """Return a table, an array, a model or another iterable as a JSON-like value."""
    table = read_table(value)
    if table is not None:
        return convert_value(table.to_records())
    items = read_items(value)
    if items is not None:
        return [
            convert_member(index, None if is_missing(item) else item)
            for index, item in enumerate(items)
        ]
    if hasattr(value, "tolist"):  # a scalar of NumPy
        return convert_numpy_scalar(value)
    refuse_unread_table(value)
    if not isinstance(value, tuple):  # also a named one, which JSON libraries write as a list
        record = read_record(value)
        if record is not None:
            return {name: convert_member(name, item) for name, item in record.items()}
    if is_plain_iterable(value):
        return [convert_member(index, item) for index, item in enumerate(value)]
    what = f"a {type(value).__name__}"
    raise NoJsonFormError(what, get_advice(value))


def refuse_unread_table(value: Any) -> None:
    """Refuse a table that gives the names of its columns where its rows are meant.

    Raises
    ------
    UnfitError
        If the value is one.
    """
    if is_unread_table(value):
        what = f"a {type(value).__name__} of {type(value).__module__.partition('.')[0]}"
        raise NoJsonFormError(what, " Give a DataFrame of pandas or Polars, or a list of dicts.")


def convert_numpy_scalar(value: Any) -> Any:
    """Return a NumPy scalar as a plain value; of a moment with nanoseconds, text."""
    names = getattr(value.dtype, "names", None)
    if names:
        return {name: convert_member(name, value[name]) for name in names}
    if value.dtype.kind not in {"M", "m"}:
        return convert_value(value.tolist())
    if is_missing(value):
        return None
    return (
        duration.format_duration(duration.to_nanoseconds(value))
        if value.dtype.kind == "m"
        else f"{value}"
    )


def get_advice(value: Any) -> str:
    """Return what to give instead of bytes and paths, which are files perhaps."""
    if isinstance(value, (bytes, bytearray, PurePath)):
        return " To send a file, give gqlnb.Upload(...) of it."
    return ""


def convert_member(step: str | int, value: Any) -> Any:
    """Return a part of a value as a JSON-like one; where it has no form, the error says where."""
    try:
        return convert_value(value)
    except NoJsonFormError as error:
        error.path = (step, *error.path)
        raise


def require_finite(value: float) -> float:
    """Return a number that JSON can hold.

    Raises
    ------
    UnfitError
        If it is not finite.
    """
    if isfinite(value):
        return value
    raise NoJsonFormError(str(value), " Give None for null, or a finite number.")


def format_datetime(value: date | time) -> str | None:
    """Return a date or time as ISO 8601 text; None for NaT."""
    return value.isoformat() if value == value else None  # noqa: PLR0124 - NaT alone differs


CONVERTERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Enum, lambda value: value.name),
    (float, lambda value: require_finite(float(value))),
    ((date, time), format_datetime),
    (timedelta, lambda value: duration.format_duration(duration.to_nanoseconds(value))),
    ((Decimal, UUID), str),
    (
        Mapping,
        lambda value: {str(key): convert_member(str(key), item) for key, item in value.items()},
    ),
    (str, str.__str__),  # subclasses of the plain kinds
    (int, int.__int__),
    (
        (list, tuple),
        lambda value: [convert_member(index, item) for index, item in enumerate(value)],
    ),
)

Path = tuple[str | int, ...]
BUILT_IN_SCALARS = frozenset({"Int", "Float", "String", "Boolean", "ID"})
JSON_TYPES = frozenset({str, int, float, bool, dict, list})  # the types of parsed JSON
MAX_EXACT_FLOAT = 2**53  # from here on a float may stand for an integer beside it
MAX_NAMES_SHOWN = 5
MIN_SIMILARITY = 0.7  # of difflib: "name" for "naem" has more, "kind" for "index" less


class CoercionError(TypeError):
    """A value that does not fit its declared type; the message never holds the value."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.path: Path = ()

    def __str__(self) -> str:
        place = describe_path(self.path)
        return f"{place.removeprefix(' ')}: {self.args[0]}" if place else str(self.args[0])


# -- by declared type


def coerce_input(value: Any, kind: Any, *, sparse: bool = False) -> Any:
    """Return a value in the JSON form of its declared type.

    Parameters
    ----------
    value
        The Python value.
    kind
        The declared type: of a schema, or of a document where no schema is known.
    sparse
        Whether NaN is a missing value here: in tables, rows, arrays, and fields of input objects.

    Raises
    ------
    MisfitError
        If it does not fit the type.
    UnfitError
        If it has no JSON form.
    TypeError
        If the function of a custom scalar refuses it.
    """
    if isinstance(kind, (NonNullTypeNode, GraphQLNonNull)):
        inner = kind.type if isinstance(kind, NonNullTypeNode) else kind.of_type
        return coerce_input(value, inner, sparse=sparse)
    if value is None or is_file(value):
        return value
    if isinstance(kind, (ListTypeNode, GraphQLList)):
        inner = kind.type if isinstance(kind, ListTypeNode) else kind.of_type
        return coerce_list(value, inner, sparse=sparse)
    if isinstance(kind, GraphQLInputObjectType):
        return coerce_object(value, kind)
    name = kind.name.value if isinstance(kind, NamedTypeNode) else str(kind)
    if type(value) in PLAIN_TYPES and name in BUILT_IN_SCALARS:
        return value
    table = None if type(value) in JSON_TYPES else read_table(value)
    if table is not None and name in BUILT_IN_SCALARS:
        reason = f"a {table.kind} has rows and columns, and {name} takes one value."
        raise CoercionError(reason)
    if type(value) not in JSON_TYPES and name in BUILT_IN_SCALARS and read_items(value) is not None:
        reason = (
            f"a {type(value).__name__} holds many values, and {name} takes one. Give one of them, "
            f"or declare a list: [{name}]."
        )
        raise CoercionError(reason)
    if isinstance(kind, NamedTypeNode) and not scalars.is_known(name) and is_row(value):
        value = read_record(value)  # an input object, probably: the schema is not known
    return coerce_leaf(value, name, kind, sparse=sparse)


def coerce_list(value: Any, inner: Any, *, sparse: bool) -> Any:
    """Return a value for a list type: items, the rows of a table, or one item alone."""
    if type(value) is list:
        return [coerce_step(step, item, inner, sparse=sparse) for step, item in enumerate(value)]
    named = strip_non_null(inner)
    table = read_table(value)
    if table is not None:
        return coerce_table(table, inner)
    if isinstance(named, (GraphQLInputObjectType, NamedTypeNode)) and is_row(value, named):
        return coerce_input(value, inner)
    items = read_items(value)
    if items is not None:
        return [coerce_step(index, item, inner, sparse=True) for index, item in enumerate(items)]
    if is_plain_iterable(value) and not is_file(value):
        refuse_unread_table(value)
        return [coerce_step(step, item, inner, sparse=sparse) for step, item in enumerate(value)]
    return coerce_input(value, inner)  # GraphQL takes one item for a list of it


def coerce_object(value: Any, kind: GraphQLInputObjectType) -> Any:
    """Return a value for an input object type: a row, a model, a mapping."""
    table = None if isinstance(value, Mapping) else read_table(value)
    if table is not None:
        if table.length != 1:
            reason = (
                f"a {table.kind} of {table.length:,} rows, and {kind.name} takes one object. "
                f"Give one row, such as df.iloc[0], or declare a list: [{kind.name}!]."
            )
            raise CoercionError(reason)
        return coerce_table(table, kind)[0]
    record = read_record(value, kind.fields)
    if record is None:
        return convert_value(value)
    foreign = not isinstance(value, Mapping)
    if foreign and (unknown := [name for name in record if name not in kind.fields]):
        raise CoercionError(describe_unknown_fields(f"the {type(value).__name__}", unknown, kind))
    return {
        name: coerce_step(name, item, kind.fields[name].type, sparse=True)
        if name in kind.fields
        else convert_member(name, item)  # the check against the schema names it
        for name, item in record.items()
    }


def coerce_step(step: str | int, value: Any, kind: Any, *, sparse: bool = False) -> Any:
    """Return a part of a value in its JSON form; errors say where it stands."""
    try:
        return coerce_input(value, kind, sparse=sparse)
    except (NoJsonFormError, CoercionError) as error:
        error.path = (step, *error.path)
        raise


def coerce_leaf(value: Any, name: str, kind: Any, *, sparse: bool) -> Any:
    """Return a value for a scalar or an enum."""
    if type(value).__name__ in PANDAS_MISSING_TYPES or (sparse and is_missing(value)):
        return None
    if scalars.is_integer(name):
        return coerce_integer(value, name)
    if isinstance(value, Enum):
        value = convert_enum(value, name, kind)
    if isinstance(value, PurePath) and name in {"String", "ID"}:
        return str(value)
    return convert_value(scalars.serialise_value(name, value))


def coerce_integer(value: Any, name: str) -> Any:
    """Return a number for an integer type; a float that holds a whole number becomes one.

    pandas keeps integers as floats where some are missing, so 3.0 is meant as 3.
    """
    if isinstance(value, Enum):
        value = value.value
    value = unwrap(value)
    if isinstance(value, (float, Decimal)) and isfinite(value) and value == int(value):
        if isinstance(value, float) and abs(value) >= MAX_EXACT_FLOAT:
            reason = (
                f"a float from 2**53 on may have lost digits, and {name} takes whole numbers. "
                "Give an int; in pandas use the dtype 'Int64'."
            )
            raise CoercionError(reason)
        return int(value)
    if isinstance(value, Decimal):
        reason = f"a Decimal with a fraction, and {name} takes whole numbers."
        raise CoercionError(reason)
    return convert_value(scalars.serialise_value(name, value))


def convert_enum(value: Enum, name: str, kind: Any) -> Any:
    """Return what a member of an enum is sent as: its name, or its value where that is meant."""
    if name in BUILT_IN_SCALARS:
        return value.value
    if isinstance(kind, GraphQLEnumType):
        if value.name not in kind.values and isinstance(value.value, str):
            return value.value if value.value in kind.values else value.name
        return value.name
    return value


def strip_non_null(kind: Any) -> Any:
    """Return a type without its non-null wrapper."""
    if isinstance(kind, NonNullTypeNode):
        return kind.type
    return kind.of_type if isinstance(kind, GraphQLNonNull) else kind


def is_row(value: Any, kind: Any = None) -> bool:
    """Return whether a value is one object with named fields, rather than a list of items."""
    if isinstance(value, (Mapping, str, list, dict)):
        return False  # a mapping is one whatever its type is
    if is_library_instance(value, "pandas", "Series"):
        fields = getattr(kind, "fields", None)
        labels = [label for label in value.index if isinstance(label, str)]
        known = fields is None or any(label in fields for label in labels)
        return bool(labels) and len(labels) == len(value) and known
    return read_record(value) is not None


# -- tables


def coerce_table(table: InputTable, inner: Any) -> list[Any]:
    """Return the rows of a table as items of a list type.

    Raises
    ------
    MisfitError
        If its columns are not the fields of the input object, or a cell does not fit its field.
    """
    if table.repeated:
        reason = f"the {table.kind} has more than one column {table.repeated[0]!r}."
        raise CoercionError(reason)
    kind = strip_non_null(inner)
    if isinstance(kind, GraphQLInputObjectType):
        check_columns(table, kind)
        columns = {
            name: coerce_column(table, name, kind.fields[name].type) for name in table.columns
        }
        records = InputTable(table.kind, columns, table.length).to_records()
        if getattr(kind, "is_one_of", False):  # such an object has one member
            return [{k: v for k, v in row.items() if v is not None} for row in records]
        return records
    name = kind.name.value if isinstance(kind, NamedTypeNode) else str(kind)
    leaf = name in BUILT_IN_SCALARS or isinstance(kind, GraphQLEnumType)
    if leaf or isinstance(kind, (ListTypeNode, GraphQLList)):
        if len(table.columns) == 1 and leaf:
            column = next(iter(table.columns))
            return coerce_column(table, column, inner)
        shown = join_names(list(table.columns))
        reason = (
            f"a {table.kind} with the columns {shown}, and the list takes items of type {inner}. "
            "Give one column, such as df['name'], or the values alone: df.to_numpy()."
        )
        raise CoercionError(reason)
    rows: list[Any] = convert_value(table.to_records())
    return rows


def check_columns(table: InputTable, kind: GraphQLInputObjectType) -> None:
    """Check that the columns of a table are fields of an input object, none missing.

    Raises
    ------
    MisfitError
        If not; the message names the columns and what to do.
    """
    reasons = []
    unknown = [name for name in table.columns if name not in kind.fields]
    if unknown:
        reasons.append(
            describe_unknown_fields(f"the {table.kind}", unknown, kind, list(table.columns))
        )
    for name, field in kind.fields.items():
        required = isinstance(field.type, GraphQLNonNull) and not has_default(field)
        if name in table.columns or not required:
            continue
        where = " It is in the index: df.reset_index()." if name in table.index else ""
        reasons.append(
            f"the {table.kind} has no column {name!r}, which {kind.name} requires "
            f"({name}: {field.type}).{where}"
        )
    if reasons:
        raise CoercionError(" Also, ".join(reasons))


def has_default(field: Any) -> bool:
    """Return whether an input field has a default; graphql-core 3.2 and 3.3 say it differently."""
    from graphql import Undefined

    if getattr(field, "default", None) is not None:
        return True
    return getattr(field, "default_value", Undefined) is not Undefined


def describe_unknown_fields(
    what: str, unknown: list[str], kind: GraphQLInputObjectType, columns: list[str] | None = None
) -> str:
    """Return a sentence about names that an input type does not have, with the way out."""
    word = "fields" if columns is None else "columns"
    word = word if len(unknown) > 1 else word[:-1]
    said = f"{what} has the {word} {join_names(unknown)}, which the type {kind.name} does not have."
    near = {
        name: found[0]
        for name in unknown
        if (found := difflib.get_close_matches(name, kind.fields, 1, MIN_SIMILARITY))
    }
    near = {name: it for name, it in near.items() if columns is None or it not in columns}
    if near:
        said += f" Did you mean {join_names(list(near.values()))}?"
    if columns is None:
        if unknown == ["Index"] and what == "the Pandas":  # a row of itertuples()
            return f"{said} Leave the index out: df.itertuples(index=False)."
        return f"{said} It has: {join_names(list(kind.fields), 12)}."
    if near:
        pairs = ", ".join(
            f"'{sanitize_text(a, 40)}': '{b}'" for a, b in list(near.items())[:MAX_NAMES_SHOWN]
        )
        said += f" To rename: df.rename(columns={{{pairs}}})."
    wanted = [name for name in columns if name in kind.fields]
    if wanted:
        listed = ", ".join(f'"{name}"' for name in wanted)
        return f"{said} To send the others alone: df[[{listed}]]."
    return f"{said} {kind.name} has: {join_names(list(kind.fields), 12)}."


def join_names(names: list[str], limit: int = MAX_NAMES_SHOWN) -> str:
    """Return names in quotes, as many as can be read."""
    shown = ", ".join(repr(sanitize_text(name, 40)) for name in names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def coerce_column(table: InputTable, name: str, kind: Any) -> list[Any]:
    """Return the cells of a column in the JSON form of a declared type.

    Raises
    ------
    MisfitError
        If one does not fit; the message names the column and the row.
    """
    cells = table.columns[name]
    inner = strip_non_null(kind)
    if inner is not kind and None in cells:
        count, first = cells.count(None), cells.index(None)
        reason = (
            f"the column {sanitize_text(name, 40)!r} has no value in {count:,} of {table.length:,} rows, "
            f"first in row {first}, and {name}: {kind} needs one. Fill it, or leave these rows "
            f"out: df.dropna(subset=['{sanitize_text(name, 40)}'])."
        )
        raise CoercionError(reason)
    converted = []
    expected = get_cell_check(inner)
    row = 0
    try:
        for row, cell in enumerate(cells):  # noqa: B007 - the error names it
            found = None if cell is None else coerce_input(cell, inner, sparse=True)
            said = expected(found) if found is not None else ""
            if said:
                break
            converted.append(found)
        else:
            return converted
    except TypeError as error:
        said = (
            str(error)
            if isinstance(error, (NoJsonFormError, CoercionError))
            else sanitize_text(error, 200)
        )
    reason = f"row {row}, column {sanitize_text(name, 40)!r} of the {table.kind}: {said}"
    raise CoercionError(reason)


def get_cell_check(kind: Any) -> Callable[[Any], str]:
    """Return a function that says what is wrong with the JSON form of a cell; "" for nothing."""
    if isinstance(kind, GraphQLEnumType):
        values = kind.values

        def check_enum(value: Any) -> str:
            if isinstance(value, str) and value in values:
                return ""
            return f"not one of the values of {kind.name}: {join_names(list(values), 12)}."

        return check_enum
    return CELL_CHECKS.get(str(kind), accept_value)


def accept_value(_value: Any) -> str:
    """Accept any value."""
    return ""


def check_int(value: Any) -> str:
    """Check the JSON form of an Int."""
    if type(value) is not int:
        fraction = isinstance(value, float)
        found = "a number with a fraction" if fraction else f"a {type(value).__name__}"
        return f"{found}, and Int takes whole numbers."
    return "" if -(2**31) <= value < 2**31 else "the number does not fit into the 32 bits of Int."


def check_float(value: Any) -> str:
    """Check the JSON form of a Float."""
    right = type(value) in {float, int}
    return "" if right else f"a {type(value).__name__}, and Float takes numbers."


def check_string(value: Any) -> str:
    """Check the JSON form of a String."""
    if isinstance(value, str):
        return ""
    return f"a {type(value).__name__}, and String takes text: df['name'].astype(str)."


def check_boolean(value: Any) -> str:
    """Check the JSON form of a Boolean."""
    return "" if isinstance(value, bool) else f"a {type(value).__name__}, and Boolean takes bool."


def check_id(value: Any) -> str:
    """Check the JSON form of an ID."""
    if isinstance(value, str) or type(value) is int:
        return ""
    if isinstance(value, float):
        return (
            "a float, and ID takes text or whole numbers. For numbers with missing values use the "
            "dtype 'Int64'."
        )
    return f"a {type(value).__name__}, and ID takes text or whole numbers."


CELL_CHECKS: dict[str, Callable[[Any], str]] = {
    "Int": check_int,
    "Float": check_float,
    "String": check_string,
    "Boolean": check_boolean,
    "ID": check_id,
}

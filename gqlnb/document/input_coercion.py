"""Conversion of Python values to JSON values, with and without a declared type.

Rows, tables and arrays of other libraries are recognised without importing the libraries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

import msgspec
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    Undefined,
)

from gqlnb.document import scalars
from gqlnb.document.scalar_values import (
    MAX_EXACT_FLOAT,
    PANDAS_MISSING_TYPES,
    format_duration,
    is_missing,
    to_nanoseconds,
    unwrap,
)
from gqlnb.document.upload import is_file
from gqlnb.errors import describe_path, find_similar, join_names, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Container

    from graphql import GraphQLInputField

    from gqlnb.document.json_codec import JSON

# A value of any library, which is told by its attributes.
ForeignValue: TypeAlias = Any


class InputTable(msgspec.Struct, frozen=True):
    """A table as Python lists.

    Attributes
    ----------
    kind
        The name of the class, such as ``"DataFrame"``.
    columns
        The values of each column by name, in order; None for a missing value.
    length
        The number of rows.
    index
        The names of the index levels of a pandas frame, which are not columns.
    repeated
        The names of more than one column.
    """

    kind: str
    columns: dict[str, list[Any]]
    length: int
    index: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dict per row."""
        names = list(self.columns)
        if not names:
            return [{} for _ in range(self.length)]
        return [
            dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True)
        ]


def read_arrow_scalar(value: ForeignValue) -> ForeignValue:
    """Convert a scalar of Arrow to a Python value; return any other value unchanged."""
    return value.as_py() if is_library_instance(value, "pyarrow", "Scalar") else value


def is_library_instance(value: object, module: str, *names: str) -> bool:
    """Return whether a value is an instance of a class of a library, without importing it."""
    loaded = sys.modules.get(module)
    kinds = tuple(kind for name in names if isinstance(kind := getattr(loaded, name, None), type))
    return isinstance(value, kinds)


def read_table(value: ForeignValue) -> InputTable | None:
    """Return a pandas, Polars, Arrow or structured NumPy table; None for any other value."""
    kind = type(value).__name__
    if is_library_instance(value, "pandas", "DataFrame"):
        series = [value.iloc[:, position] for position in range(value.shape[1])]
        found = [(str(one.name), read_items(one) or []) for one in series]
        index = tuple(str(name) for name in value.index.names if name is not None)
        return build_input_table(kind, found, len(value), index)
    if is_library_instance(value, "polars", "DataFrame"):
        found = [(one.name, read_items(one) or []) for one in value.get_columns()]
        return build_input_table(kind, found, value.height)
    if is_library_instance(value, "pyarrow", "Table", "RecordBatch"):
        pairs = zip(value.schema.names, value.columns, strict=True)
        return build_input_table(
            kind, [(name, column.to_pylist()) for name, column in pairs], len(value)
        )
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names and getattr(value, "ndim", 0) == 1:  # a structured array of NumPy
        found = [(name, read_items(value[name]) or []) for name in names]
        return build_input_table("structured array", found, len(value))
    return None


def build_input_table(
    kind: str, found: list[tuple[str, list[Any]]], length: int, index: tuple[str, ...] = ()
) -> InputTable:
    """Return a table of named columns, with missing values as None."""
    names = [name for name, _ in found]
    repeated = tuple(dict.fromkeys(name for name in names if names.count(name) > 1))
    columns = {
        name: [None if is_missing(cell) else cell for cell in cells] for name, cells in found
    }
    return InputTable(kind, columns, length, index, repeated)


def read_items(value: ForeignValue) -> list[Any] | None:
    """Return the items of an array, a Series or an Index; None for any other value."""
    # Dates and durations are not converted, because those of Python do not have nanoseconds.
    if isinstance(value, (str, bytes, Mapping, list, tuple)):
        return None
    if not hasattr(value, "tolist"):
        methods = [getattr(value, name, None) for name in ("to_list", "to_pylist")]
        method: Any = next(filter(callable, methods), None)  # of Polars, of Arrow
        return None if method is None else list(method())
    if getattr(value, "ndim", 1) == 0:
        return None
    dtype = getattr(value, "dtype", None)
    exact = getattr(dtype, "kind", None) in {"M", "m"} or getattr(dtype, "names", None)
    return list(value) if exact else list(value.tolist())


def read_record(value: ForeignValue, known: Container[str] = ()) -> dict[str, Any] | None:
    """Return a row, a model or another object with named fields as a dict; else None.

    Supported are mappings, data classes, named tuples, pandas Series, rows of structured NumPy
    arrays, SQLite and SQLAlchemy, and models of attrs, pydantic and msgspec.

    Parameters
    ----------
    value
        The value.
    known
        The fields of the input type. If a pydantic field has an alias, the name among them is used.
    """
    if isinstance(value, type):
        return None
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    if is_dataclass(value):
        models = getattr(value, "__pydantic_fields__", {})  # of a data class of pydantic
        return {
            choose_field_name(each.name, models.get(each.name), known): getattr(value, each.name)
            for each in fields(value)
        }
    if is_library_instance(value, "pandas", "Series"):
        items = read_items(value) or []
        return dict(zip(map(str, value.index), items, strict=True))
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names and not getattr(value, "ndim", 0):
        return {name: value[name] for name in names}
    return read_model(value, known)


def read_model(value: ForeignValue, known: Container[str]) -> dict[str, Any] | None:
    """Return a named tuple, a database row, or a model of attrs, pydantic or msgspec as a dict."""
    kind = type(value)
    found: Any = None
    if isinstance(value, tuple):
        found = getattr(value, "_mapping", None)  # of SQLAlchemy
        names = getattr(value, "_fields", None)
        if isinstance(names, tuple):
            found = dict(zip(names, value, strict=False))
    elif hasattr(kind, "__attrs_attrs__"):
        found = {each.name: getattr(value, each.name) for each in kind.__attrs_attrs__}
    elif hasattr(kind, "__struct_encode_fields__"):  # of msgspec
        pairs = zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True)
        found = {name: getattr(value, field) for name, field in pairs}
        found = {key: it for key, it in found.items() if type(it).__name__ != "UnsetType"}
    elif hasattr(value, "dict") and isinstance(
        models := getattr(kind, "model_fields", None) or getattr(kind, "__fields__", None), Mapping
    ):  # of pydantic, version 2 or 1
        found = {
            choose_field_name(name, models[name], known): getattr(value, name) for name in models
        }
    elif callable(getattr(value, "keys", None)) and hasattr(value, "__getitem__"):  # of SQLite
        found = {str(key): value[key] for key in value.keys()}  # noqa: SIM118 - no mapping
    return dict(found) if isinstance(found, Mapping) else None


def choose_field_name(name: str, field: object, known: Container[str]) -> str:
    """Return the name of a pydantic field in the input type: its own, or an alias."""
    aliases = (getattr(field, "serialization_alias", None), getattr(field, "alias", None))
    found = [one for one in (name, *aliases) if isinstance(one, str) and one in known]
    return found[0] if found else name


def is_table(value: object) -> bool:
    """Return whether a value is a table, such as a DataFrame, a lazy frame or grouped rows."""
    # Iteration over it yields its columns or their names, which would be taken for the rows.
    kind = type(value)  # not the value: Polars computes the columns of a lazy frame, and warns
    if kind.__module__.startswith("pandas.") and hasattr(kind, "groups"):  # grouped
        return True
    return hasattr(kind, "columns") and (hasattr(kind, "dtypes") or hasattr(kind, "collect"))


def is_plain_iterable(value: object) -> bool:
    """Return whether a value is a list, a set, a generator or another sequence of items."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, Mapping))


InputKind: TypeAlias = Any  # an input type of a schema, or a type node where it is not known
Path = tuple[str | int, ...]

PLAIN_TYPES = frozenset({str, int, bool})
JSON_TYPES = frozenset({str, int, float, bool, dict, list})  # the types of parsed JSON
BUILT_IN_SCALARS = frozenset({"Int", "Float", "String", "Boolean", "ID"})
MAX_NAMES_SHOWN = 5
MIN_SIMILARITY = 0.7  # of difflib; "naem" and "name" have 0.75, "index" and "kind" 0.44


class CoercionError(TypeError):
    """A value that does not fit its declared type; the message never contains the value.

    Attributes
    ----------
    path
        The path within the variable.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.path: Path = ()

    def __str__(self) -> str:
        place = describe_path(self.path)
        return f"{place.removeprefix(' ')}: {self.args[0]}" if place else str(self.args[0])


class NoJsonFormError(CoercionError):
    """A value that cannot be converted to JSON.

    Parameters
    ----------
    noun
        The kind of the value, such as "a set".
    advice
        A sentence about an alternative.
    """

    def __init__(self, noun: str, advice: str = "") -> None:
        super().__init__(noun)
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.args[0]}{describe_path(self.path)} has no JSON form.{self.advice}"


# -- without a declared type


def convert_value(value: object) -> JSON:
    """Convert a Python value to a JSON value.

    Dates and times become ISO 8601 text, decimals and UUIDs text, enum members their names, NumPy
    and pandas scalars plain values (NaT and NA null), arrays and Series lists with null for NaN,
    data classes and models objects, tables lists of objects. Files are returned unchanged, for a
    multipart request.

    Raises
    ------
    CoercionError
        If the value cannot be converted, such as infinity.
    RecursionError
        If the value contains itself.
    """
    if value is None or type(value) in PLAIN_TYPES:
        return value
    value = read_arrow_scalar(value)
    for kind, convert in CONVERTERS:
        if isinstance(value, kind):
            return convert(value)
    if type(value).__name__ in PANDAS_MISSING_TYPES:
        return None
    return value if is_file(value) else convert_foreign(value)


def convert_foreign(value: object) -> JSON:
    """Convert a table, an array, a model or another iterable to a JSON value."""
    table = read_table(value)
    if table is not None:
        return convert_value(table.to_records())
    items = read_items(value)
    if items is not None:
        return convert_items(None if is_missing(item) else item for item in items)
    if hasattr(value, "tolist"):  # a NumPy scalar
        return convert_numpy_scalar(value)
    reject_unread_table(value)
    if not isinstance(value, tuple):  # named tuples are lists for JSON libraries too
        record = read_record(value)
        if record is not None:
            return {name: convert_member(name, item) for name, item in record.items()}
    if is_plain_iterable(value):
        return convert_items(value)
    may_be_file = isinstance(value, (bytes, bytearray, PurePath))
    advice = " To send a file, give gqlnb.Upload(...) of it." if may_be_file else ""
    noun = f"a {type(value).__name__}"
    raise NoJsonFormError(noun, advice)


def reject_unread_table(value: object) -> None:
    """Check that iteration over a value does not yield column names instead of rows.

    Raises
    ------
    NoJsonFormError
        If it does.
    """
    if is_table(value):
        noun = f"a {type(value).__name__} of {type(value).__module__.partition('.')[0]}"
        raise NoJsonFormError(noun, " Give a DataFrame of pandas or Polars, or a list of dicts.")


def convert_numpy_scalar(value: ForeignValue) -> JSON:
    """Convert a NumPy scalar to a JSON value; a datetime becomes text with all its digits."""
    names = getattr(value.dtype, "names", None)
    if names:
        return {name: convert_member(name, value[name]) for name in names}
    if value.dtype.kind not in {"M", "m"}:
        return convert_value(value.tolist())
    if is_missing(value):
        return None
    return format_timedelta(value) if value.dtype.kind == "m" else str(value)


def convert_member(
    step: str | int, value: object, kind: InputKind = None, *, sparse: bool = False
) -> JSON:
    """Convert a member of a value, for its type if that is known; an error gets its key or index.

    The parameters are those of :func:`coerce_input`.
    """
    try:
        return convert_value(value) if kind is None else coerce_input(value, kind, sparse=sparse)
    except CoercionError as error:
        error.path = (step, *error.path)
        raise


def convert_items(items: ForeignValue) -> list[JSON]:
    """Convert the items of an iterable."""
    return [convert_member(index, item) for index, item in enumerate(items)]


def require_finite(value: float) -> float:
    """Return a number, or raise NoJsonFormError for NaN and infinity."""
    if isfinite(value):
        return float(value)
    raise NoJsonFormError(str(float(value)), " Give None for null, or a finite number.")


def format_datetime(value: date | time) -> str | None:
    """Return a date or time as ISO 8601 text; None for NaT."""
    return value.isoformat() if value == value else None  # noqa: PLR0124 - only NaT differs


def format_timedelta(value: object) -> str:
    """Return a duration as ISO 8601 text."""
    return format_duration(to_nanoseconds(value))


CONVERTERS: tuple[tuple[Any, Callable[[Any], JSON]], ...] = (
    (Enum, lambda value: value.name),
    (float, require_finite),
    ((date, time), format_datetime),
    (timedelta, format_timedelta),
    ((Decimal, UUID), str),
    (Mapping, lambda value: {str(key): convert_member(str(key), it) for key, it in value.items()}),
    (str, str.__str__),  # subclasses of the plain types
    (int, int.__int__),
    ((list, tuple), convert_items),
)


# -- with a declared type


def coerce_input(value: object, kind: InputKind, *, sparse: bool = False) -> JSON:
    """Convert a value to the JSON form of its declared type.

    Parameters
    ----------
    value
        The Python value.
    kind
        The declared type: of a schema, or of a document if the schema is not known.
    sparse
        Whether NaN means a missing value: in tables, rows, arrays, and fields of input objects.

    Raises
    ------
    CoercionError
        If the value does not fit the type or has no JSON form, or its serialiser fails.
    """
    value = value if type(value) in JSON_TYPES else read_arrow_scalar(value)
    if value is None or is_file(value):
        return value  # whether null is allowed is checked with the schema
    kind = strip_non_null(kind)
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
        value = read_record(value)  # probably an input object; the schema is not known
    return coerce_leaf(value, name, kind, sparse=sparse)


def coerce_list(value: ForeignValue, inner: InputKind, *, sparse: bool) -> JSON:
    """Convert a value for a list type: an iterable, the rows of a table, or a single item."""
    items = value if type(value) is list else None
    if items is None:
        named = strip_non_null(inner)
        table = read_table(value)
        if table is not None:
            return coerce_table(table, inner)
        if isinstance(named, (GraphQLInputObjectType, NamedTypeNode)) and is_row(value, named):
            return coerce_input(value, inner)
        items = read_items(value)
        sparse = sparse or items is not None
    if items is None:
        if not is_plain_iterable(value) or is_file(value):
            return coerce_input(value, inner)  # GraphQL accepts a single item for a list
        reject_unread_table(value)
        items = value
    return [convert_member(step, item, inner, sparse=sparse) for step, item in enumerate(items)]


def coerce_object(value: object, kind: GraphQLInputObjectType) -> JSON:
    """Convert a row, a model or a mapping for an input object type."""
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
    fields = kind.fields
    is_foreign = not isinstance(value, Mapping)  # the schema check reports the others
    if is_foreign and (unknown := [name for name in record if name not in fields]):
        raise CoercionError(describe_unknown_fields(f"the {type(value).__name__}", unknown, kind))
    return {
        name: convert_member(name, item, fields[name].type if name in fields else None, sparse=True)
        for name, item in record.items()
    }


def coerce_leaf(value: object, name: str, kind: InputKind, *, sparse: bool) -> JSON:
    """Convert a value for a scalar or an enum."""
    # NaN is the missing value of pandas' text and categories, and no value of such a scalar.
    is_enum = isinstance(kind, GraphQLEnumType)
    if is_missing(value) and (sparse or is_enum or not scalars.may_be_nan(name)):
        return None
    if scalars.is_integer(name):
        return coerce_integer(value, name)
    if isinstance(value, Enum):
        if name in BUILT_IN_SCALARS:
            value = value.value
        elif isinstance(kind, GraphQLEnumType):
            text = value.value if isinstance(value.value, str) else value.name
            value = text if value.name not in kind.values and text in kind.values else value.name
    if isinstance(value, PurePath) and name in {"String", "ID"}:
        return str(value)
    return convert_value(serialise_leaf(name, value))


def coerce_integer(value: object, name: str) -> JSON:
    """Convert a number for an integer type."""
    # Whole floats become integers, because pandas stores integers with missing values as floats.
    value = unwrap(value.value if isinstance(value, Enum) else value)
    if isinstance(value, (float, Decimal)) and isfinite(value) and value == int(value):
        # Its integer may differ from the number that it was read from.
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
    return convert_value(serialise_leaf(name, value))


def serialise_leaf(name: str, value: object) -> object:
    """Apply the serialiser of a scalar; its errors get the path of the value."""
    try:
        return scalars.serialise_value(name, value)
    except TypeError as error:
        # An input object does not show the names of its scalars, which the advice needs.
        reason = sanitize_text(error, 240).replace("scalar(NAME", f"scalar({name!r}")
        raise CoercionError(reason) from error


def strip_non_null(kind: InputKind) -> InputKind:
    """Return a type without its non-null wrapper."""
    if isinstance(kind, NonNullTypeNode):
        return kind.type
    return kind.of_type if isinstance(kind, GraphQLNonNull) else kind


def is_row(value: ForeignValue, kind: InputKind = None) -> bool:
    """Return whether a value is one object with named fields rather than a list of items.

    Parameters
    ----------
    value
        The value; mappings are not rows here, because they need no conversion.
    kind
        The input object type, if known: the labels of a pandas Series must contain a field of it.
    """
    if isinstance(value, (Mapping, str, list)):
        return False
    if is_library_instance(value, "pandas", "Series"):
        fields = getattr(kind, "fields", None)
        labels = [label for label in value.index if isinstance(label, str)]
        known = fields is None or any(label in fields for label in labels)
        return bool(labels) and len(labels) == len(value) and known
    return read_record(value) is not None


# -- tables


def coerce_table(table: InputTable, inner: InputKind) -> list[JSON]:
    """Convert the rows of a table to items of a list type.

    Raises
    ------
    CoercionError
        If the columns are not the fields of the input object, or a cell does not fit its field.
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
        if getattr(kind, "is_one_of", False):  # such an object has exactly one member
            return [{k: v for k, v in row.items() if v is not None} for row in records]
        return records
    name = kind.name.value if isinstance(kind, NamedTypeNode) else str(kind)
    is_leaf = name in BUILT_IN_SCALARS or isinstance(kind, GraphQLEnumType)
    if is_leaf and len(table.columns) == 1:
        return coerce_column(table, next(iter(table.columns)), inner)
    if is_leaf or isinstance(kind, (ListTypeNode, GraphQLList)):
        shown = quote_names(list(table.columns))
        reason = (
            f"a {table.kind} with the columns {shown}, and the list takes items of type {inner}. "
            "Give one column, such as df['name'], or the values alone: df.to_numpy()."
        )
        raise CoercionError(reason)
    rows: list[JSON] = convert_value(table.to_records())
    return rows


def check_columns(table: InputTable, kind: GraphQLInputObjectType) -> None:
    """Check that the columns of a table are fields of an input object, and none is missing.

    Raises
    ------
    CoercionError
        If not; the message names the columns.
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


def has_default(field: GraphQLInputField) -> bool:
    """Return whether an input field has a default value, in graphql-core 3.2 or 3.3."""
    if getattr(field, "default", None) is not None:
        return True
    return getattr(field, "default_value", Undefined) is not Undefined


def describe_unknown_fields(
    owner: str, unknown: list[str], kind: GraphQLInputObjectType, columns: list[str] | None = None
) -> str:
    """Return a sentence about fields that an input type does not have, with a suggestion.

    Parameters
    ----------
    owner
        The object with the fields, such as "the DataFrame".
    unknown
        The names of the unknown fields.
    kind
        The input type.
    columns
        All columns, if the object is a table.
    """
    word = "fields" if columns is None else "columns"
    word = word if len(unknown) > 1 else word[:-1]
    sentence = (
        f"{owner} has the {word} {quote_names(unknown)}, which the type {kind.name} does not have."
    )
    renames = {
        name: similar
        for name in unknown
        if (similar := find_similar(name, kind.fields, MIN_SIMILARITY))
        and similar not in (columns or ())
    }
    if renames:
        sentence += f" Did you mean {quote_names(list(renames.values()))}?"
    if columns is None:
        if unknown == ["Index"] and owner == "the Pandas":  # a row of itertuples()
            return f"{sentence} Leave the index out: df.itertuples(index=False)."
        return f"{sentence} It has: {quote_names(list(kind.fields), 12)}."
    if renames:
        pairs = ", ".join(
            f"'{sanitize_text(a, 40)}': '{b}'" for a, b in list(renames.items())[:MAX_NAMES_SHOWN]
        )
        sentence += f" To rename: df.rename(columns={{{pairs}}})."
    others = ", ".join(f'"{name}"' for name in columns if name in kind.fields)
    if others:
        return f"{sentence} To send the others alone: df[[{others}]]."
    return f"{sentence} {kind.name} has: {quote_names(list(kind.fields), 12)}."


def quote_names(names: list[str], limit: int = MAX_NAMES_SHOWN) -> str:
    """Return names in quotes, at most `limit` of them, and the number of the others."""
    return join_names((repr(sanitize_text(name, 40)) for name in names), limit)


def coerce_column(table: InputTable, name: str, kind: InputKind) -> list[JSON]:
    """Convert the cells of a column.

    Raises
    ------
    CoercionError
        If a cell does not fit the type; the message names the column and the row.
    """
    cells, label = table.columns[name], sanitize_text(name, 40)
    inner = strip_non_null(kind)
    if inner is not kind and None in cells:
        reason = (
            f"the column {label!r} has no value in {cells.count(None):,} of {table.length:,} rows, "
            f"first in row {cells.index(None)}, and {name}: {kind} needs one. Fill it, or leave "
            f"these rows out: df.dropna(subset=['{label}'])."
        )
        raise CoercionError(reason)
    leaf = None if isinstance(inner, GraphQLEnumType) else str(inner)
    is_checked = leaf is None or leaf in BUILT_IN_SCALARS
    exact = {"String": str, "ID": str, "Boolean": bool, "Float": float}.get(leaf or "")
    converted: list[JSON] = []
    row = 0
    try:
        for row, cell in enumerate(cells):  # noqa: B007 - the error names it
            value = None if cell is None else coerce_input(cell, inner, sparse=True)
            if is_checked and value is not None and type(value) is not exact:
                reason = describe_cell_misfit(value, inner, leaf)
                if reason:
                    break
            converted.append(value)
        else:
            return converted
    except CoercionError as error:
        reason = str(error)
    reason = f"row {row}, column {label!r} of the {table.kind}: {reason}"
    raise CoercionError(reason)


# -- leaves

KIND_WORDS = {
    bool: "a Boolean",
    dict: "an object",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "text",
}
# The values that each scalar of the specification takes, as nouns for error messages.
ACCEPTED_VALUES = {
    "Int": "whole numbers",
    "Float": "numbers",
    "String": "text: df['name'].astype(str)",
    "Boolean": "bool",
    "ID": "text or whole numbers",
}


def describe_kind(value: object) -> str:
    """Return the kind of a JSON value in words, such as "a list"."""
    return KIND_WORDS.get(type(value), f"a {type(value).__name__}")


def find_misfit(value: JSON, name: str) -> str:
    """Return a description of a JSON value that is not valid for a built-in scalar, else ""."""
    if type(value) is str and name in {"String", "ID"}:
        return ""
    if name == "Boolean":
        fits = isinstance(value, bool)
    elif name == "Float":
        fits = type(value) in {float, int}
    else:
        fits = isinstance(value, str) and name != "Int"
        is_whole = type(value) is int or (isinstance(value, float) and value.is_integer())
        if name == "Int" and is_whole and not -(2**31) <= value < 2**31:
            return "a number of more than 32 bits"
        if name == "Int" and isinstance(value, float) and not is_whole:
            return "a number with a fraction"
        fits = fits or (name != "String" and is_whole)
    return "" if fits else describe_kind(value)


def describe_cell_misfit(value: JSON, kind: InputKind, name: str | None) -> str:
    """Return a clause about a converted cell that is not valid for a leaf type, else "".

    `name` is the name of a built-in scalar; None for an enum.
    """
    if name is None:
        if isinstance(value, str) and value in kind.values:
            return ""
        return f"not one of the values of {kind.name}: {quote_names(list(kind.values), 12)}."
    misfit = find_misfit(value, name)
    if name == "ID" and isinstance(value, float):  # a server might store 1.0 as the text "1.0"
        return (
            "a float, and ID takes text or whole numbers. For numbers with missing values use the "
            "dtype 'Int64'."
        )
    if misfit and name == "Int" and type(value) is int:
        return "the number does not fit into the 32 bits of Int."
    return misfit and f"{misfit}, and {name} takes {ACCEPTED_VALUES[name]}."

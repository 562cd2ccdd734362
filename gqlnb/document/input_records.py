"""Conversion of rows, tables and arrays of other libraries, without importing them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["ForeignValue", "InputTable", "is_missing", "read_items", "read_record", "read_table"]

# A value of any library, which is told by its attributes.
ForeignValue: TypeAlias = Any
PANDAS_MISSING_TYPES = frozenset({"NAType", "NaTType"})


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


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or NA."""
    if value is None:
        return True
    if isinstance(value, (float, Decimal)):
        return bool(value != value)  # noqa: PLR0124 - NaN alone differs
    if type(value).__name__ in PANDAS_MISSING_TYPES:
        return True
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return kind in {"M", "m", "f"} and not getattr(value, "ndim", 0) and bool(value != value)  # noqa: PLR0124


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
        return {each.name: getattr(value, each.name) for each in fields(value)}
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

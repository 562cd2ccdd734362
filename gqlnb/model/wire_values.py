"""Python values in a JSON form, where no declared type says which."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import Any
from uuid import UUID

from gqlnb.errors import at
from gqlnb.model import spans
from gqlnb.model.records import (
    PANDAS_MISSING,
    is_missing,
    is_plain_iterable,
    is_unread_table,
    read_items,
    read_record,
    read_table,
)
from gqlnb.model.upload import is_file

__all__ = ["PLAIN", "UnfitError", "member", "refuse_unread_table", "wire_value"]

PLAIN = frozenset({str, int, bool})


class UnfitError(TypeError):
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
        return f"{self.what}{at(self.path)} has no JSON form.{self.advice}"


def wire_value(value: Any) -> Any:
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
    if value is None or type(value) in PLAIN:
        return value
    for kind, convert in KINDS:
        if isinstance(value, kind):
            return convert(value)
    if type(value).__name__ in PANDAS_MISSING:
        return None
    if is_file(value):
        return value
    return wire_foreign(value)


def wire_foreign(value: Any) -> Any:
    """Return a table, an array, a model or another iterable as a JSON-like value."""
    table = read_table(value)
    if table is not None:
        return wire_value(table.records())
    items = read_items(value)
    if items is not None:
        return [
            member(index, None if is_missing(item) else item) for index, item in enumerate(items)
        ]
    if hasattr(value, "tolist"):  # a scalar of NumPy
        return wire_scalar(value)
    refuse_unread_table(value)
    if not isinstance(value, tuple):  # also a named one, which JSON libraries write as a list
        record = read_record(value)
        if record is not None:
            return {name: member(name, item) for name, item in record.items()}
    if is_plain_iterable(value):
        return [member(index, item) for index, item in enumerate(value)]
    what = f"a {type(value).__name__}"
    raise UnfitError(what, advice(value))


def refuse_unread_table(value: Any) -> None:
    """Refuse a table that gives the names of its columns where its rows are meant.

    Raises
    ------
    UnfitError
        If the value is one.
    """
    if is_unread_table(value):
        what = f"a {type(value).__name__} of {type(value).__module__.partition('.')[0]}"
        raise UnfitError(what, " Give a DataFrame of pandas or Polars, or a list of dicts.")


def wire_scalar(value: Any) -> Any:
    """Return a NumPy scalar as a plain value; of a moment with nanoseconds, text."""
    names = getattr(value.dtype, "names", None)
    if names:
        return {name: member(name, value[name]) for name in names}
    if value.dtype.kind not in {"M", "m"}:
        return wire_value(value.tolist())
    if is_missing(value):
        return None
    return spans.text(spans.nanoseconds(value)) if value.dtype.kind == "m" else f"{value}"


def advice(value: Any) -> str:
    """Return what to give instead of bytes and paths, which are files perhaps."""
    if isinstance(value, (bytes, bytearray, PurePath)):
        return " To send a file, give gqlnb.Upload(...) of it."
    return ""


def member(step: str | int, value: Any) -> Any:
    """Return a part of a value as a JSON-like one; where it has no form, the error says where."""
    try:
        return wire_value(value)
    except UnfitError as error:
        error.path = (step, *error.path)
        raise


def finite(value: float) -> float:
    """Return a number that JSON can hold.

    Raises
    ------
    UnfitError
        If it is not finite.
    """
    if isfinite(value):
        return value
    raise UnfitError(str(value), " Give None for null, or a finite number.")


def moment_text(value: date | time) -> str | None:
    """Return a date or time as ISO 8601 text; None for NaT."""
    return value.isoformat() if value == value else None  # noqa: PLR0124 - NaT alone differs


KINDS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Enum, lambda value: value.name),
    (float, lambda value: finite(float(value))),
    ((date, time), moment_text),
    (timedelta, lambda value: spans.text(spans.nanoseconds(value))),
    ((Decimal, UUID), str),
    (Mapping, lambda value: {str(key): member(str(key), item) for key, item in value.items()}),
    (str, str.__str__),  # subclasses of the plain kinds
    (int, int.__int__),
    ((list, tuple), lambda value: [member(index, item) for index, item in enumerate(value)]),
)

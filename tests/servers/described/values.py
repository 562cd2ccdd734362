"""The values of an endpoint's answers, compared with the data set, and frames with the answers."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from gqlnb.client.endpoint_report.describe import name_form
from tests.servers.described.data import make_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gqlnb import Client
    from tests.servers.described.table import KnownList

__all__ = ["COLUMNS", "ColumnValues", "compare_values"]

COLUMNS = {
    "day": "date",
    "local": "timestamp without a zone",
    "moment": "timestamp with a zone",
    "price": "decimal",
    "big": "integer above 2**53",
    "ratio": "float",
    "extra": "JSON",
}


class ColumnValues(NamedTuple):
    """How a server writes the values of a column.

    Attributes
    ----------
    column
        The column of the data set.
    scalar
        The scalar of its field.
    form
        The form of the values.
    truth
        Whether they are those of the data set: exact, changed or null.
    dtype
        The dtype in a frame.
    fault
        The first value that the frame does not hold as it came; empty for none.
    """

    column: str
    scalar: str
    form: str
    truth: str
    dtype: str
    fault: str = ""

    def describe(self) -> str:
        """Return a cell of the page."""
        return f"{self.scalar}: {self.form}, {self.truth}; {self.dtype}"


def compare_values(client: Client, known: KnownList) -> Iterator[ColumnValues]:
    """Yield how an endpoint writes each column, and what is wrong with it in a frame.

    A frame must hold what the answer holds: a date the same day, a timestamp the same moment, a
    number the same digits.
    """
    fields = get_fields(client, known)
    by_name = {field.lower().replace("_", ""): field for field in fields}
    for column in COLUMNS:
        field = by_name.get(column)
        if field is None:
            continue
        text = re.sub(r"\{ (id|rowId) \}", f"{{ \\1 {field} }}", known.text.replace("()", ""))
        result = client.execute(text)
        rows = collect_rows(result.data, known)
        received = [row and row.get(field) for row in rows]
        frame = result.frame(strict=False)
        series = frame[find_column(frame, field)]
        forms = sorted({name_form(value) for value in received} - {"null"})
        yield ColumnValues(
            column,
            fields[field],
            " or ".join(forms) or "null",
            describe_truth(column, received),
            str(series.dtype),
            find_difference(column, received, list(series)),
        )


def get_fields(client: Client, known: KnownList) -> dict[str, str]:
    """Return the fields of a row, with the names of their types."""
    from graphql import get_named_type

    kind: Any = client.schema.query_type
    for step in known.path:
        kind = get_named_type(kind.fields[step].type)
    return {name: get_named_type(it.type).name for name, it in kind.fields.items()}


def collect_rows(data: Any, known: KnownList) -> list[dict[str, Any]]:
    """Return the rows in an answer."""
    for step in known.path:
        data = [row[step] for row in data] if isinstance(data, list) else data[step]
    return data


def find_column(frame: pd.DataFrame, field: str) -> str:
    """Return the name of the column of a field."""
    return next(c for c in frame.columns if str(c).rpartition(".")[2] == field)


def find_difference(column: str, received: list[Any], shown: list[Any]) -> str:
    """Return the first difference between received values and those of a column, or ""."""
    if len(received) != len(shown):
        return f"{len(received)} values, and {len(shown)} in the frame"
    for value, cell in zip(received, shown, strict=True):
        is_missing = (
            cell is None
            or cell is pd.NA
            or cell is pd.NaT
            or (isinstance(cell, float) and isnan(cell))
        )
        if (value is None) != is_missing:
            return f"{value!r} became {cell!r}"
        if value is not None and normalize(column, value) != normalize(column, cell):
            return f"{value!r} became {cell!r}"
    return ""


def normalize(column: str, value: Any) -> Any:
    """Return a form in which a received value and that of a frame are equal."""
    if column == "day":
        return str(value)[:10]
    if column in {"local", "moment"} and isinstance(value, str | pd.Timestamp):
        stamp = pd.Timestamp(value)
        return stamp if stamp.tzinfo is None else stamp.tz_convert("UTC")
    if column == "extra":
        return json.loads(value) if isinstance(value, str) else value
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return str(value)


def describe_truth(column: str, received: list[Any]) -> str:
    """Return how a server writes the values of a column: exactly, rounded, or as null."""
    expected = [row[column] for row in make_rows()][: len(received)]
    pairs = [(a, b) for a, b in zip(expected, received, strict=False) if a is not None]
    if all(b is None for _, b in pairs):
        return "null"
    is_same = all(normalize(column, a) == normalize(column, b) for a, b in pairs)
    return "exact" if is_same else "changed"

"""Reading a frame: its columns as Arrow arrays that later changes of the frame do not reach."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import infer_dtype

from gqlnb.engine.dataframe.arrow_column import (
    BIGINT_DIGITS,
    ArrowArray,
    ArrowColumn,
    UnsupportedColumnError,
    build_column,
    build_field_names,
    encode_json_texts,
    format_label,
)
from gqlnb.errors import SchemaError, sanitize_text

CONVERSION_ERRORS = (pa.ArrowException, OverflowError, TypeError, ValueError)
# The names by pandas of objects that Arrow has a type for.
INFERRED_TYPES = {
    *("boolean", "date", "datetime", "datetime64", "decimal", "empty", "floating", "integer"),
    *("mixed-integer-float", "string", "time", "timedelta", "timedelta64"),
}
# Objects of pandas that Arrow truncates to microseconds by default: the attribute with the rest,
# and the type without truncation.
NANOSECOND_TYPES = {
    "datetime": ("nanosecond", pa.timestamp("ns", "UTC")),
    "timedelta": ("nanoseconds", pa.duration("ns")),
}
ZONED_TIME_MESSAGE = (
    "it holds times of day with a time zone, which Time lacks. Convert it with .astype(str)."
)
UNSUPPORTED_KINDS = {
    "period": "it holds periods. Convert it with .astype(str), or as a PeriodIndex to_timestamp().",
    "interval": "it holds intervals. Convert it with .astype(str).",
    "complex": "it holds complex numbers. Convert it to two columns, .real and .imag.",
}
# Conversions of other objects to a table, by an attribute of the object; the first that exists.
CONVERSIONS = {
    "to_frame": "{0}.to_frame()",
    "collect": "{0}.collect()",
    "with_columns": "{0}.to_pandas()",
    "__iter__": "pd.DataFrame({0})",
}


@dataclass(frozen=True, slots=True)
class FrameField:
    """A column and its origin.

    Attributes
    ----------
    label
        Its label in the frame, as text.
    column
        The column.
    required
        Whether its dtype has no null, so that the field is non-null too.
    index
        Whether it is the frame's index, or a level of it.
    """

    label: str
    column: ArrowColumn
    required: bool
    index: bool = False


def read_frame(frame: object, name: str) -> tuple[dict[str, FrameField], int, object]:
    """Return the fields of a frame by name, its number of rows, and a snapshot of the frame.

    The snapshot must live as long as the fields: pandas 3 copies on a write only while there is
    another reference to the data.

    Raises
    ------
    SchemaError
        If it is not a frame, has no columns, or one of them has no GraphQL type or no name.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        kept = take_snapshot(frame, name)
        index = frame.index.nlevels if len(kept.columns) > len(frame.columns) else 0
        fields = [
            build_field(kept.iloc[:, place], label, name, index=place < index)
            for place, label in enumerate(kept.columns)
        ]
    else:
        kept = to_arrow_table(frame, name)
        fields = [build_field(kept.column(i), it.name, name) for i, it in enumerate(kept.schema)]
    if not fields:
        msg = f"Frame {name!r} has no columns, so a row of it would have no fields."
        raise SchemaError(msg)
    names = build_field_names([field.label for field in fields], name)
    return dict(zip(names, fields, strict=True)), len(kept), kept


def to_arrow_table(frame: object, name: str) -> pa.Table:
    """Return a frame of another library than pandas as an Arrow table."""
    reason = ""
    if any(hasattr(frame, f"__arrow_c_{word}__") for word in ("stream", "array")):
        try:
            return pa.table(frame)
        except Exception as error:  # noqa: BLE001 - of any library
            reason = f" ({sanitize_text(error, 120)})"
    how = ""
    if not isinstance(frame, (str, bytes, type)):
        ways = (way for attribute, way in CONVERSIONS.items() if hasattr(frame, attribute))
        how = "".join(f" Give {way.format(name)}." for way in islice(ways, 1))
    msg = (
        f"Frame {sanitize_text(name, 80)!r} is a {type(frame).__name__}{reason}, and must be a "
        "table: a DataFrame of pandas or Polars, a Table of pyarrow, or another one that Arrow can "
        f"read.{how}"
    )
    raise SchemaError(msg)


def take_snapshot(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return an independent copy of a frame, with its named index as columns."""
    # From pandas 3.0 on a write copies the data first; before, only a deep copy is safe.
    kept = frame.copy(deep=int(pd.__version__.partition(".")[0]) < 3)
    if all(level is None for level in frame.index.names):
        return kept
    try:
        return kept.reset_index()
    except ValueError as error:
        reason = sanitize_text(error, 120)
    msg = f"Index and columns of frame {name!r} have a name in common: {reason}. Rename one."
    raise SchemaError(msg)


def build_field(
    values: pd.Series[Any] | ArrowArray, label: object, name: str, *, index: bool = False
) -> FrameField:
    """Return the field of a pandas Series or an Arrow column."""
    try:
        array, hint = (
            (values, None) if isinstance(values, pa.ChunkedArray) else convert_series(values)
        )
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        column = build_column(array, hint)
    except CONVERSION_ERRORS as error:
        reason = sanitize_text(error, 200)
        # Arrow's messages do not name a conversion.
        if not isinstance(error, UnsupportedColumnError):
            reason = f"{reason.rstrip('.')}. Convert it, to text for instance."
    else:
        dtype = getattr(values, "dtype", None)
        required = isinstance(dtype, np.dtype) and dtype.kind in "iub"
        return FrameField(format_label(label), column, required, index)
    column_name = sanitize_text(format_label(label), 80)
    msg = f"Column {column_name!r} of frame {name!r} can't be served: {reason}"
    raise SchemaError(msg)


def convert_series(values: pd.Series[Any]) -> tuple[ArrowArray, str | None]:
    """Return the Arrow array of a Series, and a hint for :func:`build_column`."""
    if values.dtype == object:
        return convert_objects(values)

    dtype = values.dtype
    if isinstance(dtype, pd.SparseDtype):
        return convert_series(values.astype(dtype.subtype))
    if isinstance(dtype, (pd.PeriodDtype, pd.IntervalDtype)):
        period = isinstance(dtype, pd.PeriodDtype)
        how = ".dt.to_timestamp()" if period else ".array.left, .array.right"
        content = "periods" if period else "intervals"
        msg = f"it holds {content}. Convert it with {how} or .astype(str)."
        raise UnsupportedColumnError(msg)
    if isinstance(dtype, pd.CategoricalDtype):
        kinds = dtype.categories.dtype
        if isinstance(kinds, (pd.PeriodDtype, pd.IntervalDtype)):
            values = values.cat.rename_categories(list(map(str, dtype.categories)))
        elif (
            kinds.kind == "O"
            and not isinstance(kinds, pd.StringDtype)
            and not all(isinstance(name, str) for name in dtype.categories)
        ):
            return convert_objects(values.astype(object))
    return pa.array(values, from_pandas=True), None


def convert_objects(values: pd.Series[Any]) -> tuple[ArrowArray, str | None]:
    """Return the Arrow array of a Series of objects, and a hint for :func:`build_column`."""
    kind = infer_dtype(values, skipna=True)
    lost = values.isna()
    present = values[~lost]
    if kind in UNSUPPORTED_KINDS or (kind == "time" and any(value.tzinfo for value in present)):
        raise UnsupportedColumnError(UNSUPPORTED_KINDS.get(kind, ZONED_TIME_MESSAGE))
    if kind == "date" and any(isinstance(value, datetime) for value in present):
        msg = "it mixes dates and moments. Convert it with pd.to_datetime."
        raise UnsupportedColumnError(msg)
    zones = {value.tzinfo is None for value in present} if kind == "datetime" else {True}
    if len(zones) == 2:
        msg = (
            "it mixes moments with and without a time zone. Convert it with "
            "pd.to_datetime(..., utc=True) if those without are in UTC."
        )
        raise UnsupportedColumnError(msg)
    cells = values.where(~lost, None).tolist()
    if kind == "decimal" or (kind in {"mixed", "mixed-integer"} and has_exact_numbers(present)):
        return build_decimal_array(cells), None
    if kind == "integer" and any(not -(2**63) <= value < 2**63 for value in present):
        return build_decimal_array(cells, are_integers=True), "BigInt"
    if kind in NANOSECOND_TYPES and any(
        getattr(value, NANOSECOND_TYPES[kind][0], 0) for value in present
    ):
        is_local = kind == "datetime" and True in zones
        return pa.array(cells, pa.timestamp("ns") if is_local else NANOSECOND_TYPES[kind][1]), None
    if kind in INFERRED_TYPES or kind == "bytes":  # build_column rejects bytes
        return pa.array(values, from_pandas=True), None
    if all(isinstance(value, UUID) for value in present):
        return pa.array([cell and str(cell) for cell in cells], pa.string()), "UUID"
    return encode_json_texts(cells), "JSON"


def has_exact_numbers(values: pd.Series[Any]) -> bool:
    """Return whether all values are decimals or integers, at least one a decimal."""
    plain_numbers = all(
        isinstance(value, (Decimal, int, np.integer)) and not isinstance(value, bool)
        for value in values
    )
    return plain_numbers and any(isinstance(value, Decimal) for value in values)


def build_decimal_array(cells: list[Any], *, are_integers: bool = False) -> pa.Array:
    """Return decimals, or integers beyond 64 bits, with all digits; infinity becomes null."""
    values = [None if it is None else Decimal(int(it) if are_integers else it) for it in cells]
    finite = [None if it is None or not it.is_finite() else it for it in values]
    is_bounded = are_integers or all(it is None for it in finite)
    try:
        return pa.array(finite, pa.decimal128(BIGINT_DIGITS, 0) if is_bounded else None)
    except pa.ArrowInvalid:
        digits = f"{BIGINT_DIGITS} digits" if are_integers else "the 76 digits that Arrow has"
    msg = f"a number of it has more than {digits}. Convert it with .astype(str)."
    raise UnsupportedColumnError(msg)

"""Reading a frame: its columns as Arrow arrays that nothing done to it later can change."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from gqlnb.engine.dataframe.arrow_column import (
    ArrowColumn,
    UnsupportedColumnError,
    build_column,
    encode_json_texts,
)
from gqlnb.engine.dataframe.graphql_names import build_field_names, format_label
from gqlnb.engine.dataframe.scalar_parsers import BIGINT_DIGITS
from gqlnb.errors import SchemaError, sanitize_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FrameField", "read_frame"]

CONVERSION_ERRORS = (
    pa.ArrowException,
    UnsupportedColumnError,
    UnicodeEncodeError,
    OverflowError,
    TypeError,
    ValueError,
)
# What pandas calls the objects that Arrow has a type for.
INFERRED_TYPES = {
    *("boolean", "date", "datetime", "datetime64", "decimal", "empty", "floating", "integer"),
    *("mixed-integer-float", "string", "time", "timedelta", "timedelta64"),
}
# Objects of pandas that Arrow cuts to microseconds unless it is told: by what they have beyond.
NANOSECOND_TYPES = {
    "datetime": ("nanosecond", pa.timestamp("ns", "UTC")),
    "timedelta": ("nanoseconds", pa.duration("ns")),
}
ZONED_TIME_MESSAGE = (
    "it holds times of day with a time zone, which Time has not. Convert it with .astype(str)."
)
UNSUPPORTED_KINDS = {
    "period": "it holds periods. Convert it with .astype(str), or as a PeriodIndex to_timestamp().",
    "interval": "it holds intervals. Convert it with .astype(str).",
    "complex": "it holds complex numbers. Convert it to two columns, .real and .imag.",
}
# What to give instead of that which is no table, by what it has; the first that fits.
CONVERSIONS = {
    "to_frame": "{0}.to_frame()",
    "collect": "{0}.collect()",
    "with_columns": "{0}.to_pandas()",
    "__iter__": "pd.DataFrame({0})",
}


@dataclass(frozen=True, slots=True)
class FrameField:
    """A column and where it came from.

    Attributes
    ----------
    label
        Its label in the frame, as text.
    column
        The column.
    required
        Whether its dtype has no null, so that the field is non-null too.
    index
        Whether it was the frame's index, or a level of it.
    """

    label: str
    column: ArrowColumn
    required: bool
    index: bool = False


def read_frame(frame: Any, name: str) -> tuple[dict[str, FrameField], int, Any]:
    """Return the fields of a frame by name, its number of rows, and what they rely on.

    The last must be kept as long as the fields are: pandas 3 copies what is changed elsewhere only
    while somebody else holds it.

    Raises
    ------
    SchemaError
        If it is no frame, has no columns, or one of them has no GraphQL type or no name.
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


def to_arrow_table(frame: Any, name: str) -> pa.Table:
    """Return what is no DataFrame of pandas as a table of Arrow.

    Raises
    ------
    SchemaError
        If it is none; the message says what to give instead.
    """
    reason = ""
    if any(hasattr(frame, f"__arrow_c_{word}__") for word in ("stream", "array")):
        try:
            return pa.table(frame)
        except Exception as error:  # it is any library's
            reason = f" ({sanitize_text(error, 120)})"
    known = [how for word, how in CONVERSIONS.items() if hasattr(frame, word)]
    made = known[:1] if not isinstance(frame, (str, bytes, type)) else []
    how = "".join(f" Give {way.format(name)}." for way in made)
    msg = (
        f"Frame {sanitize_text(name, 80)!r} is a {type(frame).__name__}{reason}, and must be a table: a "
        f"DataFrame of pandas or Polars, a Table of pyarrow, or what else Arrow can read.{how}"
    )
    raise SchemaError(msg)


def take_snapshot(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a frame that later changes of `frame` don't reach, its named index as columns."""
    import pandas as pd

    # From 3.0 on whoever writes copies first; before, only a copy of all is safe.
    kept = frame.copy(deep=int(pd.__version__.partition(".")[0]) < 3)
    if all(level is None for level in frame.index.names):
        return kept
    try:
        return kept.reset_index()
    except ValueError as error:
        reason = sanitize_text(error, 120)
    msg = f"Index and columns of frame {name!r} have a name in common: {reason}. Rename one."
    raise SchemaError(msg)


def build_field(values: Any, label: Any, name: str, *, index: bool = False) -> FrameField:
    """Return the field of a pandas Series or an Arrow column.

    Raises
    ------
    SchemaError
        If there is no GraphQL type for it.
    """
    try:
        array, hint = (
            (values, None) if isinstance(values, pa.ChunkedArray) else convert_series(values)
        )
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        column = build_column(array, hint)
    except CONVERSION_ERRORS as error:
        reason = sanitize_text(error, 200)
        if not isinstance(
            error, UnsupportedColumnError
        ):  # Arrow's words, which say what and not what to do
            reason = f"{reason.rstrip('.')}. Convert it, to text for instance."
    else:
        dtype = getattr(values, "dtype", None)
        required = isinstance(dtype, np.dtype) and dtype.kind in "iub"
        return FrameField(format_label(label), column, required, index)
    msg = f"Column {sanitize_text(format_label(label), 80)!r} of frame {name!r} can't be served: {reason}"
    raise SchemaError(msg)


def convert_series(values: pd.Series[Any]) -> tuple[Any, str | None]:
    """Return the Arrow array of a Series, and what is in it if its type does not say."""
    if values.dtype == object:
        return convert_objects(values)
    import pandas as pd

    dtype = values.dtype
    if isinstance(dtype, pd.SparseDtype):
        return convert_series(values.astype(dtype.subtype))
    if isinstance(dtype, (pd.PeriodDtype, pd.IntervalDtype)):
        told = "periods" if isinstance(dtype, pd.PeriodDtype) else "intervals"
        how = {"periods": ".dt.to_timestamp() or ", "intervals": ".array.left, .array.right or "}
        msg = f"it holds {told}. Convert it with {how[told]}.astype(str)."
        raise UnsupportedColumnError(msg)
    if isinstance(dtype, pd.CategoricalDtype):
        kinds = dtype.categories.dtype
        if isinstance(kinds, (pd.PeriodDtype, pd.IntervalDtype)):
            values = values.cat.rename_categories(list(map(str, dtype.categories)))
        elif kinds.kind == "O" and not isinstance(kinds, pd.StringDtype):
            return convert_categories(values)
    return pa.array(values, from_pandas=True), None


def convert_categories(values: pd.Series[Any]) -> tuple[Any, str | None]:
    """Return the Arrow array of categories that are objects, which may be of any kind."""
    if all(isinstance(name, str) for name in values.cat.categories):
        return pa.array(values, from_pandas=True), None
    return convert_objects(values.astype(object))


def convert_objects(values: pd.Series[Any]) -> tuple[Any, str | None]:
    """Return the Arrow array of a Series of objects, and what is in it if its type does not say."""
    from pandas.api.types import infer_dtype

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
        return build_big_integer_array(cells), "BigInt"
    if kind in NANOSECOND_TYPES and any(
        getattr(value, NANOSECOND_TYPES[kind][0], 0) for value in present
    ):
        is_local = kind == "datetime" and True in zones
        return pa.array(cells, pa.timestamp("ns") if is_local else NANOSECOND_TYPES[kind][1]), None
    if kind in INFERRED_TYPES or kind == "bytes":  # of bytes column_of says that they have no type
        return pa.array(values, from_pandas=True), None
    if all(isinstance(value, UUID) for value in present):
        return pa.array([cell and str(cell) for cell in cells], pa.string()), "UUID"
    return encode_json_texts(cells), "JSON"


def has_exact_numbers(values: pd.Series[Any]) -> bool:
    """Tell whether all values are exact numbers: decimals, and whole numbers between them."""
    plain_numbers = all(
        isinstance(value, (Decimal, int, np.integer)) and not isinstance(value, bool)
        for value in values
    )
    return plain_numbers and any(isinstance(value, Decimal) for value in values)


def build_decimal_array(cells: list[Any]) -> pa.Array:
    """Return decimals as an Arrow array, with the digits that they have; infinity is null."""
    made = [None if cell is None else Decimal(cell) for cell in cells]
    finite = [None if it is None or not it.is_finite() else it for it in made]
    kind = None if any(it is not None for it in finite) else pa.decimal128(BIGINT_DIGITS, 0)
    try:
        return pa.array(finite, kind)
    except pa.ArrowInvalid:
        pass
    msg = "its numbers have more digits than the 76 that Arrow has. Convert it with .astype(str)."
    raise UnsupportedColumnError(msg)


def build_big_integer_array(cells: list[Any]) -> pa.Array:
    """Return whole numbers beyond 64 bits as decimals, which Arrow has for them."""
    made = [None if cell is None else Decimal(int(cell)) for cell in cells]
    try:
        return pa.array(made, pa.decimal128(BIGINT_DIGITS, 0))
    except pa.ArrowInvalid:
        pass
    msg = f"a number of it has more than {BIGINT_DIGITS} digits. Convert it with .astype(str)."
    raise UnsupportedColumnError(msg)

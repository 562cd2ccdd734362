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

from gqlnb.engine.frames.column import Column, UnfitError, column_of, texts_of_json
from gqlnb.engine.frames.naming import field_names, text_of
from gqlnb.errors import SchemaError, plain

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Field", "read"]

UNFIT = (pa.ArrowException, UnfitError, UnicodeEncodeError, OverflowError, TypeError, ValueError)
# What pandas calls the objects that Arrow has a type for.
PLAIN = {
    *("boolean", "date", "datetime", "datetime64", "decimal", "empty", "floating", "integer"),
    *("mixed-integer-float", "string", "time", "timedelta", "timedelta64"),
}


@dataclass(frozen=True, slots=True)
class Field:
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
    column: Column
    required: bool
    index: bool = False


def read(frame: Any, name: str) -> tuple[dict[str, Field], int, Any]:
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
        kept = snapshot(frame, name)
        index = frame.index.nlevels if len(kept.columns) > len(frame.columns) else 0
        fields = [
            field(kept.iloc[:, place], label, name, index=place < index)
            for place, label in enumerate(kept.columns)
        ]
    elif hasattr(frame, "__arrow_c_stream__"):
        kept = pa.table(frame)
        fields = [field(kept.column(i), it.name, name) for i, it in enumerate(kept.schema)]
    else:
        msg = (
            f"{plain(name, 80)!r} must be a DataFrame, or another table that Arrow can read; "
            f"got {type(frame).__name__}."
        )
        raise SchemaError(msg)
    if not fields:
        msg = f"Frame {name!r} has no columns, so a row of it would have no fields."
        raise SchemaError(msg)
    names = field_names([field.label for field in fields], name)
    return dict(zip(names, fields, strict=True)), len(kept), kept


def snapshot(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a frame that later changes of `frame` don't reach, its named index as columns."""
    import pandas as pd

    # From 3.0 on whoever writes copies first; before, only a copy of all is safe.
    kept = frame.copy(deep=int(pd.__version__.partition(".")[0]) < 3)
    if all(level is None for level in frame.index.names):
        return kept
    try:
        return kept.reset_index()
    except ValueError as error:
        reason = plain(error, 120)
    msg = f"Index and columns of frame {name!r} have a name in common: {reason}. Rename one."
    raise SchemaError(msg)


def field(values: Any, label: Any, name: str, *, index: bool = False) -> Field:
    """Return the field of a pandas Series or an Arrow column.

    Raises
    ------
    SchemaError
        If there is no GraphQL type for it.
    """
    try:
        array, hint = (values, None) if isinstance(values, pa.ChunkedArray) else of_pandas(values)
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        column = column_of(array, hint)
    except UNFIT as error:
        reason = plain(error, 200)
    else:
        dtype = getattr(values, "dtype", None)
        required = isinstance(dtype, np.dtype) and dtype.kind in "iub"
        return Field(text_of(label), column, required, index)
    msg = f"Column {plain(text_of(label), 80)!r} of frame {name!r} can't be served: {reason}"
    raise SchemaError(msg)


def of_pandas(values: pd.Series[Any]) -> tuple[Any, str | None]:
    """Return the Arrow array of a Series, and what the text in it is if it is more than text."""
    if values.dtype != object:
        return pa.array(values, from_pandas=True), None
    from pandas.api.types import infer_dtype

    kind = infer_dtype(values, skipna=True)
    present = values[values.notna()]
    if kind == "date" and any(isinstance(value, datetime) for value in present):
        msg = "it mixes dates and moments. Convert it with pd.to_datetime."
        raise UnfitError(msg)
    if kind == "integer" and any(not -(2**63) <= value < 2**63 for value in present):
        numbers = [
            None if missing else Decimal(int(value))
            for value, missing in zip(values, values.isna(), strict=True)
        ]
        return pa.array(numbers, pa.decimal128(38, 0)), None
    if kind in PLAIN or kind == "bytes":  # which has no type, and is said to have none
        return pa.array(values, from_pandas=True), None
    cells = values.astype(object).where(values.notna(), None).tolist()
    if all(isinstance(value, UUID) for value in present):
        return pa.array([cell and str(cell) for cell in cells], pa.string()), "UUID"
    return texts_of_json(cells), "JSON"

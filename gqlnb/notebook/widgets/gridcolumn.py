"""One column of a grid: how its values are shown, read in full, copied, compared and searched."""

from __future__ import annotations

import json
import unicodedata
from cmath import isnan
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gqlnb.errors import plain
from gqlnb.model.grid import COUNTED, clipped, named, shown_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Column"]

CELL = 200  # characters of a cell; more is never seen at once
NAME = 120  # characters of a column's name
FULL = 20_000  # characters of the whole value beside the grid
SAMPLE = 300  # values that say how wide a column is and how its numbers are written
DECIMALS = 6  # at most; the whole number stands beside the grid
HUGE = 1e15  # floats from here on are not written out
DIGITS = 60  # of a whole number; Python refuses to write more than 4,300
LINE = json.JSONEncoder(ensure_ascii=False, default=named)


class Column:
    """A column of a frame, or a level of its index.

    Parameters
    ----------
    name
        Its name, which may be anything.
    values
        Its values; they are never changed.
    index
        Whether it is a level of the index.

    Attributes
    ----------
    label
        The name as one line of text.
    dtype
        The type of its values, in a word.
    kind
        ``"number"``, ``"time"`` or ``"text"``: how it is filtered and on which side it stands.
    """

    def __init__(self, name: object, values: pd.Series[Any], *, index: bool = False) -> None:
        self.values = values
        self.index = index
        self.label = plain(_title(name), NAME)
        self.dtype = plain(_dtype(values.dtype), NAME)
        self._sample = [value for value in self._sampled() if not missing(value)]
        self.kind = self._kind()
        self.show: Callable[[Any], str] = self._form()

    def __len__(self) -> int:
        return len(self.values)

    def _sampled(self) -> list[Any]:
        """Return the first values, and some of all others."""
        some = np.linspace(SAMPLE, len(self) - 1, SAMPLE).astype(int)
        rows = [*range(min(SAMPLE, len(self))), *(some if len(self) > 2 * SAMPLE else [])]
        values: list[Any] = self.values.iloc[rows].tolist()
        return values

    def _kind(self) -> str:
        dtype = self.values.dtype
        types = pd.api.types
        if types.is_bool_dtype(dtype) or types.is_complex_dtype(dtype):
            return "text"
        if types.is_numeric_dtype(dtype):
            return "number"
        if types.is_object_dtype(dtype):
            numbers = bool(self._sample) and all(map(is_number, self._sample))
            if numbers and all(map(is_number, self._present())):
                return "number"
        found = self.arrow
        return "time" if found is not None and is_time(found.type) else "text"

    def _form(self) -> Callable[[Any], str]:
        """Return how a value of this column is written, the same way in all its rows."""
        if self.kind == "number":
            plainly = self.index or bool(COUNTED.search(self.label))
            floats = [value for value in self._sample if isinstance(value, float)]
            decimals = max((_decimals(value) for value in floats), default=1)
            return lambda value: _number(value, decimals, plainly)
        if self.kind == "time" and all(_midnight(value) for value in self._sample):
            return lambda value: str(value)[:10]
        return shown

    def about(self) -> dict[str, Any]:
        """Return what the front end knows of it: name, dtype, kind, side, width in characters."""
        shown = [len(self.show(value)) for value in self._sample]
        return {
            "name": self.label,
            "dtype": self.dtype,
            "kind": self.kind,
            "right": self.kind == "number",
            "index": self.index,
            "chars": max(shown, default=0),
        }

    def shown(self, rows: Any) -> list[str | None]:
        """Return the texts of some rows; None for what is missing."""
        values = self.values.iloc[rows].tolist()
        return [None if missing(value) else self.show(value) for value in values]

    def full(self, row: int) -> str | None:
        """Return the whole value of a row as a person reads it; None for what is missing."""
        value = self.values.iloc[row]
        return None if missing(value) else _whole(value)

    def copied(self, rows: Any) -> list[str]:
        """Return the values of some rows as they are pasted elsewhere."""
        return [_pasted(value) for value in self.values.iloc[rows].tolist()]

    def _present(self) -> Iterable[Any]:
        return (value for value in self.values.tolist() if not missing(value))

    @cached_property
    def arrow(self) -> Any:
        """The values as Arrow has them, to be compared; None where it has no order for them."""
        values = self.values
        if isinstance(values.dtype, pd.CategoricalDtype):
            if values.cat.ordered:
                codes = values.cat.codes.to_numpy()
                return pa.array(codes, mask=codes < 0)
            values = values.astype(values.cat.categories.dtype)
        try:
            found = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return None
        if pa.types.is_dictionary(found.type):
            found = found.cast(found.type.value_type)
        if unordered(found.type):
            return None
        return found.cast(pa.float32()) if pa.types.is_float16(found.type) else found

    @cached_property
    def ranks(self) -> Any:
        """What the column is sorted by: its values, or where each of them stands among all."""
        if self.arrow is not None:
            return self.arrow
        values = self.values.tolist()
        present = [at for at, value in enumerate(values) if not missing(value)]
        keys = values if self.kind == "number" else [self.show(value) for value in values]
        made: list[int | None] = [None] * len(values)
        last, rank = None, -1
        for at in sorted(present, key=keys.__getitem__):
            rank += rank < 0 or keys[at] != last
            last, made[at] = keys[at], rank
        return pa.array(made, pa.int64())

    @cached_property
    def text(self) -> Any:
        """What is searched, as an Arrow array of texts."""
        found = self.arrow
        if isinstance(self.values.dtype, pd.CategoricalDtype):
            names = pa.array(map(self.show, self.values.cat.categories), pa.large_string())
            codes = self.values.cat.codes.to_numpy()
            return names.take(pa.array(codes, mask=codes < 0))
        if found is not None:
            if is_text(found.type):
                return found
            if getattr(found.type, "tz", None):
                found = pc.local_timestamp(found)
            if is_time(found.type) or pa.types.is_integer(found.type):
                return found.cast(pa.string())
        texts = self.shown(slice(None))
        if self.kind == "number":
            texts = [None if text is None else text.replace(",", "") for text in texts]
        return pa.array(texts, pa.large_string())

    def holding(self, words: str) -> Any:
        """Return which rows hold these words, in any case, as an Arrow array of booleans."""
        return pc.fill_null(pc.match_substring(self.text, words, ignore_case=True), False)


def shown(value: Any) -> str:
    """Return a value as one line of text."""
    if isinstance(value, (dict, list, tuple)):
        text = LINE.encode(clipped(value))
    elif isinstance(value, str):
        text = value
    else:
        return shown_value(value, CELL)
    # What `plain` would leave as it is; a column is searched as it is shown, all of it.
    return text if len(text) <= CELL and text.isprintable() else plain(text, CELL)


def _title(name: object) -> str:
    """Return a name as text; the names of the levels of a column beside each other."""
    if isinstance(name, tuple):
        return " / ".join(str(part) for part in name)
    return "" if name is None else named(name)


def _dtype(dtype: object) -> str:
    if isinstance(dtype, pd.ArrowDtype) and pa.types.is_dictionary(dtype.pyarrow_dtype):
        return "category"
    return str(dtype.pyarrow_dtype) if isinstance(dtype, pd.ArrowDtype) else str(dtype)


def missing(value: Any) -> bool:
    """Tell whether a value is none, of whichever kind."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    if isinstance(value, (float, complex)):
        return isnan(value)
    return isinstance(value, Decimal) and value.is_nan()


def is_number(value: Any) -> bool:
    """Tell whether a value of Python is a number that can be compared with others."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def is_text(kind: pa.DataType) -> bool:
    """Tell whether Arrow takes it for text."""
    types = pa.types
    return any((types.is_string(kind), types.is_large_string(kind), types.is_string_view(kind)))


def unordered(kind: pa.DataType) -> bool:
    """Tell whether Arrow sorts nothing of this type."""
    known = pa.types.is_nested(kind) or pa.types.is_null(kind)
    return bool(known or isinstance(kind, pa.BaseExtensionType))


def is_time(kind: pa.DataType) -> bool:
    """Tell whether Arrow takes it for a point in time."""
    return any((pa.types.is_timestamp(kind), pa.types.is_date(kind)))


def _midnight(value: Any) -> bool:
    return str(value)[10:].strip() in {"", "00:00:00"}


def _decimals(value: float) -> int:
    """Return how many digits behind the point a number has, up to what is shown."""
    rounded = repr(round(value, DECIMALS))
    return 1 if "e" in rounded else max(1, len(rounded.partition(".")[2]))


def _number(value: Any, decimals: int, plainly: bool) -> str:
    """Write a number so that numbers below each other can be compared; all digits stand beside."""
    group = "" if plainly else ","
    if isinstance(value, float):
        size = abs(value)
        if size >= HUGE or 0 < size < 0.5 * 10**-decimals:  # infinity too
            return f"{value:.6g}"
        return f"{value:{group}.{decimals}f}"
    if isinstance(value, int):
        return _digits(value) if abs(value) >= 10**DIGITS else f"{value:{group}d}"
    return plain(value, CELL) if isinstance(value, Decimal) else shown_value(value, CELL)


def _digits(value: int) -> str:
    try:
        return plain(value, CELL)
    except ValueError:  # more digits than Python writes
        return f"<an integer of {value.bit_length():,} bits>"


def _whole(value: Any) -> str:
    """Return a value in lines, without what would colour or reorder them."""
    if type(value).__name__ == "ndarray":
        value = value.tolist()
    if isinstance(value, (dict, list, tuple)):
        text = _cut(json.JSONEncoder(ensure_ascii=False, indent=2, default=named).iterencode(value))
    elif isinstance(value, str):
        text = value
    else:
        text = _digits(value) if isinstance(value, int) else named(value)
    more = f" … ({len(text):,} characters)" if len(text) > FULL else ""
    kept = "".join(
        " " if unicodedata.category(c)[0] == "C" and c not in "\n\t" else c for c in text[:FULL]
    )
    return kept + more


def _cut(parts: Iterable[str]) -> str:
    """Join the beginning of a text that may be long."""
    return "".join(islice(parts, FULL))


def _pasted(value: Any) -> str:
    if missing(value):
        return ""
    if type(value).__name__ == "ndarray":
        value = value.tolist()
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value, ensure_ascii=False, default=named)
    if isinstance(value, str):
        return value
    return (
        _digits(value) if isinstance(value, int) and value.bit_length() > 10_000 else named(value)
    )

"""Columns: values of one place, as Arrow arrays and as pandas arrays of the declared dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gqlnb.errors import FrameError, plain
from gqlnb.model import scalars

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.model.scalars import Scalar
    from gqlnb.model.shape import Shape
    from gqlnb.model.tables import Column

__all__ = ["Filled", "UnfitError", "arrow_type", "to_pandas"]

TYPES: dict[str, pa.DataType] = {
    "large_string": pa.large_string(),
    "json": pa.large_string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "moment": pa.timestamp("us", "UTC"),
    "date32": pa.date32(),
    "time64[us]": pa.time64("us"),
    "decimal128": pa.decimal128(38, 18),
}
LOW, HIGH = -(2**31), 2**31 - 1
FAILURES = (pa.ArrowException, TypeError, ValueError, ArithmeticError)
VALUE_SHOWN = 80


class UnfitError(FrameError):
    """A value that does not fit its column."""

    def __init__(self, message: str, column: Column) -> None:
        super().__init__(message)
        self.column = column


class Filled:
    """One column of a table while it is filled, and then what it holds.

    Parameters
    ----------
    column
        What it is in the table.
    table
        The name of the table, for messages.
    kept
        Whether values are kept as they came, because one of them does not fit.
    """

    def __init__(self, column: Column, table: str, *, kept: bool = False) -> None:
        self.column = column
        self.table = table
        self.cells = column.shape.lists > 0
        self.kind = scalars.UNKNOWN if kept or self.cells else scalars.of(column.shape)
        self.kept = kept
        self._arrays: list[pa.Array] = []
        self._values: list[Any] = []

    @property
    def objects(self) -> bool:
        """Whether the column holds Python values, rather than Arrow arrays."""
        return self.kind.dtype == "object" or self.kind.arrow is None

    def add(self, values: list[Any], start: int, *, checked: bool) -> None:
        """Add the values of some rows.

        Parameters
        ----------
        values
            One for each row, None for null.
        start
            The number of the first of these rows in its table.
        checked
            Whether their types are known to be those that the scalar has in JSON.

        Raises
        ------
        UnfitError
            If one does not fit; the message names column, row and value.
        """
        if self.cells and not self.kept:
            self._values += self._cells(values, start)
        elif not self.objects:
            self._arrays.append(self._array(values, start, checked=checked))
        elif self.kind.fix is None:
            self._values += values
        else:
            self._values += self._fixed(values, self.kind.fix, start)

    def _array(self, values: list[Any], start: int, *, checked: bool) -> pa.Array:
        kind = self.kind
        made = TYPES[kind.arrow or ""]
        try:
            if kind.exact and (checked or kind.exact.issuperset(_types(values))):
                if (
                    kind.arrow == "int64"
                    and (numbers := _integers(values, kind.stored)) is not None
                ):
                    return numbers
                if kind.stored is None:
                    return pa.array(values, made)
                return pa.array(values, TYPES[kind.stored]).cast(made)
        except FAILURES:
            pass  # one by one, then, to make them right or to say which is wrong
        right = values if kind.fix is None else self._fixed(values, kind.fix, start)
        try:
            return pa.array(right, made)
        except FAILURES as error:
            reason = plain(error, 120)
        what = f"rows {start:,} to {start + len(values) - 1:,}: {reason}"
        raise self._unfit(what)

    def _fixed(self, values: list[Any], fix: Callable[[Any], Any], start: int) -> list[Any]:
        made: list[Any] = []
        try:
            for value in values:
                made.append(None if value is None else fix(value))  # noqa: PERF401 - its number
        except Exception as error:  # a parser may be a person's own
            reason = plain(error, 120)
        else:
            return made
        wrong = plain(repr(values[len(made)]), VALUE_SHOWN)
        because = f" ({reason})" if reason else ""
        what = f"row {start + len(made):,} is {wrong}{because}"
        raise self._unfit(what)

    def _cells(self, values: list[Any], start: int) -> list[Any]:
        """Return lists as they are kept in cells: of a connection, the nodes of its edges."""
        made: list[Any] = []
        node = self.column.node
        drops = self.column.connection and self.column.shape.composite
        for value in values:
            if value is None:
                made.append(None)
            elif not isinstance(value, (list, tuple)):
                shown = plain(repr(value), VALUE_SHOWN)
                what = f"row {start + len(made):,} is {shown}, no list"
                raise self._unfit(what)
            elif node is not None:
                made.append([_joined(edge, node) for edge in value if _has(edge, node)])
            elif drops:
                made.append([item for item in value if item is not None])
            else:
                made.append(list(value))
        return made

    def _unfit(self, what: str) -> UnfitError:
        name, kind = self.column.name, self.column.shape.type
        where = f" of {self.table!r}" if self.table else ""
        msg = (
            f"Column {name!r}{where} does not hold values of type {kind}: {what}. "
            "Pass strict=False to keep the column as it came."
        )
        return UnfitError(msg, self.column)

    # -- what it holds

    def arrow(self) -> pa.Array:
        """Return the column as an Arrow array."""
        if not self.objects:
            made = self._whole()
            return self._coded(made) if self.column.shape.values else made
        if self.kind.arrow == "json":
            return pa.array([v if v is None else _json(v) for v in self._values], TYPES["json"])
        if self.kind.arrow is not None:
            return self._plain_array(TYPES[self.kind.arrow])
        if self.cells and not self.kept:
            return self._plain_array(arrow_type(self.column))
        if self.kind.dtype != "object":
            return pa.array(self.pandas(), from_pandas=True)
        return self._plain_array(None)

    def _plain_array(self, kind: pa.DataType | None) -> pa.Array:
        """Return Python values as an array of a type; as text where they do not fit into it."""
        try:
            return pa.array(self._values, kind)
        except FAILURES:
            written = str if kind is not None and pa.types.is_decimal(kind) else _json
        texts = [None if value is None else written(value) for value in self._values]
        return pa.array(texts, TYPES["json"])

    def pandas(self) -> Any:
        """Return the column as a pandas array of its dtype."""
        if not self.objects:
            return to_pandas(self.arrow(), self.kind, self.column.shape)
        made = np.empty(len(self._values), dtype=object)
        made[:] = self._values
        if self.kind.dtype == "object":
            return made
        dtype: Any = self.kind.dtype
        try:
            return pd.array(made, dtype=dtype)
        except FAILURES as error:
            reason = plain(error, 120)
        raise self._unfit(reason)

    def _whole(self) -> pa.Array:
        """Return the pieces as one array."""
        if len(self._arrays) != 1:
            empty = pa.array([], TYPES[self.kind.arrow or ""])
            self._arrays = [pa.concat_arrays(self._arrays or [empty])]
        return self._arrays[0]

    def _coded(self, texts: pa.Array) -> pa.DictionaryArray:
        """Return the values of an enum by their place in the schema, unknown ones last."""
        known = pa.array(self.column.shape.values, pa.large_string())
        codes = pc.index_in(texts, value_set=known)
        if codes.null_count > texts.null_count:
            unknown = pc.unique(texts.filter(pc.is_null(codes)).drop_null())
            known = pa.concat_arrays([known, unknown.take(pc.sort_indices(unknown))])
            codes = pc.index_in(texts, value_set=known)
        return pa.DictionaryArray.from_arrays(codes, known)


def to_pandas(array: pa.Array, kind: Scalar, shape: Shape) -> Any:
    """Return an Arrow array as a pandas array of the dtype of its scalar."""
    if shape.values:
        codes = pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False)
        return pd.Categorical.from_codes(codes, categories=array.dictionary.to_pylist())
    if kind.dtype == "datetime64[us]":
        return pd.array(array.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False))
    found: Any = (
        pd.StringDtype("pyarrow")
        if kind.dtype == "string"
        else pd.api.types.pandas_dtype(kind.dtype)
    )
    return found.__from_arrow__(array)


def arrow_type(column: Column) -> pa.DataType:
    """Return the type of the cells of a column: lists of what an item is."""
    item = column.shape if column.node is None else column.shape.children[column.node]
    inner = _nested(item, 0 if column.node is None else item.lists)
    if column.node is not None:
        beside = {k: s for k, s in column.shape.children.items() if k != column.node}
        own = list(inner) if pa.types.is_struct(inner) else []
        names = {field.name for field in own}
        extra = [(_beside(k, names), _nested(s, s.lists)) for k, s in beside.items()]
        if own:
            inner = pa.struct([*extra, *own])
    for _ in range(column.shape.lists):
        inner = pa.list_(inner)
    return inner


def _nested(shape: Shape, lists: int) -> pa.DataType:
    """Return the type of values in a cell, which are JSON values: moments are text there."""
    if shape.children:
        made = pa.struct([(name, _nested(c, c.lists)) for name, c in shape.children.items()])
    else:
        kind = scalars.of(shape)
        text = not kind.exact or kind.stored == "large_string"
        made = TYPES["large_string" if text else kind.arrow or "large_string"]
    for _ in range(lists):
        made = pa.list_(made)
    return made


def _has(edge: Any, node: str) -> bool:
    return isinstance(edge, dict) and edge.get(node) is not None


def _joined(edge: dict[str, Any], node: str) -> Any:
    """Return a node with what its edge says beside it, such as the size of a language."""
    row = edge[node]
    if len(edge) == 1 or not isinstance(row, dict):
        return row
    beside = {_beside(name, row): value for name, value in edge.items() if name != node}
    return beside | row


def _beside(name: str, taken: Any) -> str:
    return f"edge.{name}" if name in taken else name


def _json(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


def _integers(values: list[Any], stored: str | None) -> pa.Array | None:
    """Return integers, none of which is null, in half of Arrow's time; None for any others."""
    try:
        numbers = np.fromiter(values, np.int64, len(values))
    except (TypeError, OverflowError):
        return None
    if stored == "int32" and len(numbers) and (numbers.min() < LOW or numbers.max() > HIGH):
        return None
    return pa.array(numbers)


def _types(values: list[Any]) -> set[type]:
    return set(map(type, values)) - {type(None)}

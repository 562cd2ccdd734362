"""Columns: the values of one place as Arrow arrays, pandas arrays and text."""

from __future__ import annotations

import json
from bisect import bisect_right
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gqlnb.document import scalars
from gqlnb.document.scalar_values import (
    OtherFormError,
    WiderError,
    convert_seconds,
    format_duration,
    is_missing,
    to_nanoseconds,
)
from gqlnb.document.scalars import NUMBER, UNKNOWN, get_known_scalar
from gqlnb.errors import StrictError, describe_path, sanitize_text
from gqlnb.result.decoder import remove_decimals
from gqlnb.result.shape import Shape, infer_type
from gqlnb.result.tables import ResultColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gqlnb.result.decoder import Data


def get_cell_shape(column: ResultColumn) -> Shape:
    """Return the shape of the cells of a column; of edges, nodes merged with the edge fields."""
    shape = column.shape
    if column.node is None:
        return shape
    node = shape.children[column.node]
    if not node.children or node.lists:
        lists = shape.lists + node.lists
        return Shape(node.type, lists, node.values, node.children, like=node.like)
    beside = {
        _name_edge_field(name, node.children): child
        for name, child in shape.children.items()
        if name != column.node
    }
    return Shape(lists=shape.lists, children=beside | node.children)


def build_cell(values: Sequence[Any], column: ResultColumn) -> list[object]:
    """Return a list as a cell: of a connection, the nodes with the fields beside them."""
    node = column.node
    if node is None:
        drops = column.in_connection and column.shape.composite
        return [item for item in values if item is not None] if drops else list(values)
    names = column.shape.children[node].children
    cell = []
    for edge in values:
        row = edge.get(node) if isinstance(edge, dict) else None
        if row is None:
            continue
        # Fields beside the node would be lost if the cell held the nodes alone.
        if isinstance(row, dict) and len(edge) > 1:  # such as the size of a language
            beside = {_name_edge_field(k, names): v for k, v in edge.items() if k != node}
            row = beside | row
        cell.append(row)
    return cell


def _name_edge_field(name: str, taken: Container[str]) -> str:
    # The fields of the node keep their names: these are selected far more often.
    return f"edge.{name}" if name in taken else name


def flatten_lists(value: Data, levels: int) -> Iterable[object]:
    """Return the items of a list of that many levels; a null list has no items.

    Raises
    ------
    TypeError
        If a value in place of a list is not a list.
    """
    if value is None and levels:
        return ()
    if levels and not isinstance(value, (list, tuple)):
        raise TypeError
    if levels <= 1:
        return value  # type: ignore[no-any-return]
    return chain.from_iterable(flatten_lists(item, levels - 1) for item in value)


def nest_items(value: Data, levels: int, items: Iterator[object]) -> object:
    """Return a list with the next of `items` in place of those of :func:`flatten_lists`."""
    if value is None:
        return None
    if levels == 1:
        return list(islice(items, len(value)))
    return [nest_items(item, levels - 1, items) for item in value]


def build_list_array(values: Sequence[Any], levels: int, items: pa.Array) -> pa.Array:
    """Return lists as an Arrow array, given all their items one after another.

    Parameters
    ----------
    values
        Lists of that many levels, or None.
    levels
        The number of list levels around an item, at least one.
    items
        The items of all values, in the order of :func:`flatten_lists`.
    """
    if levels > 1:
        inner = [item for value in values for item in value or ()]
        items = build_list_array(inner, levels - 1, items)
    # Offsets and items, as Arrow stores a list: from Python lists pyarrow would infer a type again,
    # and another one for empty lists.
    ends = list(accumulate((len(value or ()) for value in values), initial=0))
    starts = [None if value is None else ends[n] for n, value in enumerate(values)]
    return pa.ListArray.from_arrays(pa.array([*starts, ends[-1]], pa.int32()), items)


def get_cell_type(shape: Shape) -> pa.DataType:
    """Return the type of values in a cell, which are JSON values: timestamps are text."""
    cell_type = CELL_TYPES.get(_get_leaf_type(shape), pa.large_string())
    if shape.children:
        cell_type = pa.struct(
            [(name, get_cell_type(child)) for name, child in shape.children.items()]
        )
    for _ in range(shape.lists):
        cell_type = pa.list_(cell_type)
    return cell_type


def _get_leaf_type(shape: Shape) -> str:
    """Return the name of the Arrow type of a leaf in a cell; empty for text."""
    kind = scalars.get_scalar(shape)
    return kind.arrow or "" if kind.exact_types and kind.stored != "large_string" else ""


def has_json(shape: Shape) -> bool:
    """Return whether a cell may contain values that are any JSON."""
    if shape.children:
        return any(map(has_json, shape.children.values()))
    return scalars.get_scalar(shape).arrow == "json"


def convert_cell(
    value: object, shape: Shape, to_text: Callable[[Any], str], to_json: Callable[[Any], str]
) -> object:
    """Return the value of a cell as it is stored in Arrow, mostly as text.

    Parameters
    ----------
    value
        The value, or a part of it.
    shape
        Its shape.
    to_text, to_json
        Functions that convert any value to text, and a value of a JSON scalar.

    Raises
    ------
    TypeError
        If an object or a list is missing in the value.
    """
    if value is None:
        return None
    if shape.lists:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        item = shape.get_item_shape()
        return [convert_cell(each, item, to_text, to_json) for each in value]
    if shape.children:
        if not isinstance(value, dict):
            raise TypeError
        return {
            name: convert_cell(value.get(name), child, to_text, to_json)
            for name, child in shape.children.items()
        }
    if _get_leaf_type(shape) in CELL_TYPES:
        return value
    return to_json(value) if scalars.get_scalar(shape).arrow == "json" else to_text(value)


CELL_TYPES = {name: pa.type_for_alias(name) for name in ("int64", "float64", "bool")}
PLAIN_NAMES = ("large_string", "int32", "timestamp[us]", "timestamp[ns]", "date32", "time64[us]")
ARROW_TYPES: dict[Any, pa.DataType] = {
    **CELL_TYPES,
    **{name: pa.type_for_alias(name) for name in PLAIN_NAMES},
    "json": pa.large_string(),
    "timestamp[us, UTC]": pa.timestamp("us", "UTC"),
    "timestamp[ns, UTC]": pa.timestamp("ns", "UTC"),
    "zoned time": pa.large_string(),  # Arrow's times have no zone
    "decimal128": pa.decimal128(38, 18),
    "decimal128(38)": pa.decimal128(38, 0),
}
NULL_TYPE = frozenset({type(None)})
PLAIN_TYPES = frozenset({type(None), str, int, bool, dict, list})
MIN_INT32, MAX_INT32 = -(2**31), 2**31 - 1
CONVERSION_ERRORS = (pa.ArrowException, TypeError, ValueError, ArithmeticError)
VALUE_SHOWN = 80
DURATION_NAMES = frozenset({"duration", "seconds"})
Path = tuple[str | int, ...]
# An extension array or a NumPy array of objects, and a dtype with `__from_arrow__`; pandas declares
# neither in a way that type checkers can use.
PandasArray: TypeAlias = Any
PandasDtype: TypeAlias = Any


class ColumnValueError(StrictError):
    """A value that does not fit its column.

    Parameters
    ----------
    column
        The column.
    table
        The name of its table.
    reason
        The fault, as a clause about the value: ``"is 'x' (...)"``.
    row
        The number of the row in the table; None if unknown.
    path
        The response path of the value; None if unknown.
    """

    def __init__(
        self,
        column: ResultColumn,
        table: str,
        reason: str,
        row: int | None = None,
        path: Path | None = None,
    ) -> None:
        of = f" of {table!r}" if table else ""
        clause = reason if row is None else f"row {row:,} {reason}"
        super().__init__(
            f"Column {column.name!r}{of} does not hold values of type {column.shape.type}: "
            f"{clause}{describe_path(path or ())}."
        )
        self.column = column
        self.table = table
        self.reason = reason
        self.row = row


class ColumnBuilder:
    """A column that is filled with values, and then converted.

    Parameters
    ----------
    column
        The column of the plan.
    table
        The name of its table, for messages.
    kept
        Whether values are kept unchanged, because one of them does not fit.
    decimals
        Whether decimals stand for JSON numbers; unchanged values have floats instead.
    form
        The form of the scalar for a column of nulls; empty for the one that its name implies.

    Attributes
    ----------
    remark
        A sentence about the values for the user; may be empty.
    """

    def __init__(
        self,
        column: ResultColumn,
        table: str,
        *,
        kept: bool = False,
        decimals: bool = False,
        form: str = "",
    ) -> None:
        shape = column.shape
        self.column = column
        self.table = table
        self.kind = UNKNOWN if kept else column.kind
        self.keeps_values = kept
        self.has_cells = shape.lists > 0 and not kept
        self.drops_decimals = decimals and (kept or bool(self.has_cells and shape.children))
        self.remark = ""
        if shape.mixed_kinds and not shape.lists:
            self.remark = f"Column {column.name!r} holds {shape.mixed_kinds}, each as received."
        if kept and column.hinted_dtype:
            self.remark = (
                f"Values of the scalar {shape.type!r} do not all fit {column.hinted_dtype}, so "
                f"column {column.name!r} keeps them as received."
            )
        self._form = form if form in self.kind.other_forms else ""
        self._count = 0  # of the values so far
        self._arrays: list[pa.Array] = []  # or, if the kind says so,
        self._values: list[Any] = []
        self._pandas_array: Any = None
        self._durations: pa.Array | None = None
        self._item_column: ColumnBuilder | None = None  # the items of lists in cells

    def add_values(self, values: list[object], *, checked: bool = False) -> None:
        """Add the values of the next rows.

        Parameters
        ----------
        values
            One value for each row, None for null.
        checked
            Whether they are known to have the JSON types of the scalar.

        Raises
        ------
        ColumnValueError
            If a value does not fit; the message names column, row and value.
        """
        if self.drops_decimals:
            values = [*map(remove_decimals, values)]
        try:
            if not self.kind.as_objects:
                self._arrays.append(self._build_array(values, checked=checked))
            elif self.has_cells:
                self._values += self._build_cells(values, checked=checked)
            else:
                present = values if checked or self.keeps_values else _replace_missing(values)
                self._values += self._fix_values(present)
        except (WiderError, OtherFormError) as error:
            if isinstance(error, OtherFormError):
                self._change_form(error.form)
            else:
                self._widen_type(error)
            self.add_values(values, checked=checked)
        else:
            self._count += len(values)

    def add_array(self, array: pa.Array) -> None:
        """Add values that are in Arrow already, of the type that :meth:`to_arrow` returns.

        Only for kinds whose columns are Arrow arrays; an enum is given as text.
        """
        self._arrays.append(array)
        self._count += len(array)

    def _change_form(self, form: str) -> None:
        """Switch to another form of the scalar, after values that are all null."""
        count, name, other = self._count, self.column.shape.type, self.kind.other_forms[form]
        self.kind = other.scalar
        self._values, self._arrays = [], []
        if self.kind.as_objects:
            self._values = [None] * count
        elif count:
            self._arrays = [pa.nulls(count, ARROW_TYPES[self.kind.arrow])]
        if other.described:
            self.remark = (
                f"Values of the scalar {name!r} are {other.described}, so their columns are "
                f"{self.kind.dtype}. gqlnb.scalar({name!r}, like={other.like!r}) says so for "
                "columns without values too."
            )

    def _widen_type(self, cause: ValueError) -> None:
        """Switch to the wider form of the scalar, which one of the next rows needs."""
        self.kind = self.kind.wider or self.kind
        if self.kind.as_objects:
            self._values = [value for array in self._arrays for value in array.to_pylist()]
            self._arrays = []
            return
        arrow_type = ARROW_TYPES[self.kind.arrow]
        try:
            self._arrays = [array.cast(arrow_type) for array in self._arrays]
        except CONVERSION_ERRORS:
            values = pa.chunked_array(self._arrays)
        else:
            return
        row = _find_first_misfit(values, lambda value: value.cast(arrow_type))
        reason = (
            f"in row {self._count:,} or a later one, {cause}, and {arrow_type} does not hold both"
        )
        fault = f"is {sanitize_text(str(values[row]), VALUE_SHOWN)} ({reason})"
        raise self._build_error(fault, row)

    def _build_array(self, values: list[Any], *, checked: bool) -> pa.Array:
        kind = self.kind
        arrow_type = ARROW_TYPES[kind.arrow]
        if kind.exact_types and (
            checked or kind.exact_types.issuperset({*map(type, values)} - NULL_TYPE)
        ):
            if kind.arrow == "int64":
                try:  # half of Arrow's time
                    numbers = np.fromiter(values, np.int64, len(values))
                except CONVERSION_ERRORS:  # null, text, or more than 64 bits
                    pass
                else:
                    lowest, highest = numbers.min(initial=0), numbers.max(initial=0)
                    if kind.stored is None or MIN_INT32 <= lowest <= highest <= MAX_INT32:
                        return pa.array(numbers)
            try:
                if kind.stored is None:
                    return pa.array(values, arrow_type, from_pandas=True)
                return pa.array(values, ARROW_TYPES[kind.stored]).cast(arrow_type)
            except CONVERSION_ERRORS:
                pass  # converted one by one, to fix them or to find the first that does not fit
        right = self._fix_values(_replace_missing(values))
        try:
            return pa.array(right, arrow_type)
        except CONVERSION_ERRORS as error:
            reason = sanitize_text(error, 120)
        # Arrow does not say which value it is.
        place = _find_first_misfit(right, lambda value: pa.array([value], arrow_type))
        fault = f"is {_format_value(values[place])} ({reason})"
        raise self._build_error(fault, self._count + place)

    def _fix_values(self, values: list[object]) -> list[object]:
        fix = self.kind.convert
        if fix is None:
            return values
        fixed: list[object] = []
        try:
            for value in values:
                # Its length is the number of the failing value, unlike with a comprehension.
                fixed.append(None if value is None else fix(value))  # noqa: PERF401
        except Exception as error:  # a registered parser may raise anything
            if isinstance(error, WiderError) and self.kind.wider is not None:
                raise
            reason = sanitize_text(error, 160)
            if isinstance(error, OtherFormError):
                if error.form in self.kind.other_forms and self._is_null(values[: len(fixed)]):
                    raise
                reason += ", unlike values before it" * (not self._is_null(values[: len(fixed)]))
        else:
            return fixed
        because = f" ({reason})" if reason else ""
        fault = f"is {_format_value(values[len(fixed)])}{because}"
        raise self._build_error(fault, self._count + len(fixed))

    def _is_null(self, values: list[object]) -> bool:
        """Return whether these values and all values before are null."""
        arrays = all(array.null_count == len(array) for array in self._arrays)
        return arrays and all(value is None for value in chain(self._values, values))

    def _build_cells(self, values: list[Any], *, checked: bool) -> list[list[object] | None]:
        cells: list[list[object] | None] = []
        for value in values:
            if value is not None and not isinstance(value, (list, tuple)):
                fault = f"is {_format_value(value)}, not a list"
                raise self._build_error(fault, self._count + len(cells))
            cell = None if value is None else build_cell(value, self.column)
            cells.append(cell if cell is None or checked else _replace_missing(cell))
        return cells

    def _build_error(self, reason: str, row: int | None = None) -> ColumnValueError:
        return ColumnValueError(self.column, self.table, reason, row)

    # -- conversion

    def close(self) -> None:
        """Finish the conversion to a dtype that depends on all values, once all were added.

        Raises
        ------
        ColumnValueError
            If pandas does not accept a value for a registered dtype.
        """
        if self.has_cells:
            self._convert_items()
        if self._form and self._is_null([]):
            remark = self.remark
            self._change_form(self._form)
            self.remark = remark
        if self.kind.arrow in DURATION_NAMES:
            self._convert_durations()
        if self.kind.as_objects and self.kind.dtype != "object":
            reason = self._convert_to_dtype(self._values)
            if reason is not None:
                rows = enumerate(self._values)
                row = next((row for row, value in rows if self._convert_to_dtype([value])), None)
                fault = (
                    reason if row is None else f"is {_format_value(self._values[row])} ({reason})"
                )
                raise self._build_error(fault, row)

    def _convert_items(self) -> None:
        """Convert the items of lists in cells like the values of a column of their scalar."""
        # The items are read as one column, so that the first item decides for all, as about a time
        # zone. Objects and items of JSON scalars are not converted.
        shape = get_cell_shape(self.column)
        leaf = Shape(shape.type, 0, shape.values, like=shape.like)
        if shape.children or not scalars.needs_conversion(scalars.get_scalar(leaf)):
            return
        items: list[object] = []
        ends: list[int] = []  # for each row, the number of items up to and including its own
        for row, value in enumerate(self._values):
            try:
                items.extend(flatten_lists(value, shape.lists))
            except TypeError:
                fault = f"is {_format_value(value)}, with an item that is not a list"
                raise self._build_error(fault, row) from None
            ends.append(len(items))
        column = ColumnBuilder(ResultColumn(self.column.name, leaf, nullable=True), self.table)
        try:
            column.add_values(items)
            column.close()
        except ColumnValueError as error:
            number, reason = error.row or 0, error.reason
        else:
            self.remark = self.remark or column.remark
            self._item_column = column
            converted = iter(column.to_list())
            self._values = [nest_items(value, shape.lists, converted) for value in self._values]
            return
        raise self._build_error(reason, bisect_right(ends, number))

    def infer_dtype(self) -> bool:
        """Convert values of an unknown scalar to the dtype of their only kind in JSON.

        Returns
        -------
        bool
            Whether they were: all are text, Booleans, or numbers that the dtype holds exactly.
        """
        shape = self.column.shape
        if self.kind is not UNKNOWN or shape.lists or shape.type is None:
            return False
        if self.keeps_values and not self.column.hinted_dtype:  # strict=False
            return False
        present = [value for value in self._values if value is not None]
        inferred = infer_type(set(map(type, present)), present)
        if inferred is None:
            return False
        kind = get_known_scalar("Long" if inferred in {"Int", "BigInt"} else inferred) or UNKNOWN
        try:
            array = pa.array(self._values, ARROW_TYPES[kind.arrow])
        except CONVERSION_ERRORS:  # a lone surrogate
            return False
        self.kind, self._values, self._arrays = kind, [], [array]
        return True

    def to_list(self) -> list[object]:
        """Return the values as a list, None for null."""
        if self.kind.dtype == "object" and self._durations is None:
            return self._values
        array = self.to_pandas()
        null: Any = pd.isna(array)
        return [None if null[n] else value for n, value in enumerate(array.astype(object))]

    def _convert_to_dtype(self, values: list[object]) -> str | None:
        """Convert values to a registered dtype; return the error of pandas, or None on success."""
        dtype: Any = self.kind.dtype
        try:
            self._pandas_array = pd.array(_build_object_array(values), dtype=dtype)
        except CONVERSION_ERRORS as error:
            return sanitize_text(error, 120)
        return None

    def to_arrow(self) -> pa.Array:
        """Return the column as an Arrow array."""
        if not self.kind.as_objects:
            if len(self._arrays) != 1:
                empty = pa.array([], ARROW_TYPES[self.kind.arrow])
                self._arrays = [pa.concat_arrays(self._arrays or [empty])]
            array = self._arrays[0]
            return self._encode_enum(array) if self.column.shape.values else array
        if self._item_column is not None:
            array = self._item_column.to_arrow()
            return build_list_array(self._values, get_cell_shape(self.column).lists, array)
        if self._durations is not None:
            return self._durations
        if self.kind.arrow in {"json", "zoned time"}:
            texts = self.to_text_array().tolist()
            return pa.array([None if v is None else str(v) for v in texts], pa.large_string())
        if self.kind.dtype != "object":
            try:
                return pa.array(self.to_pandas(), from_pandas=True)
            except CONVERSION_ERRORS:
                pass  # a dtype without an Arrow type
        return self._build_plain_array()

    def _build_plain_array(self) -> pa.Array:
        """Return Python values as an array of a type, or as text if they do not fit."""
        kind = ARROW_TYPES.get(self.kind.arrow)
        is_text = self.kind == UNKNOWN or self.kind.arrow in DURATION_NAMES
        candidates: list[Callable[[], list[object]]] = [lambda: self._values]
        if self.has_cells:
            shape = get_cell_shape(self.column)
            kind = get_cell_type(shape)
            if has_json(shape):  # JSON values are always text
                candidates = []
            candidates.append(
                lambda: [
                    convert_cell(v, shape, _convert_to_text, _encode_json) for v in self._values
                ]
            )
        elif kind is None and is_text and not self.keeps_values:
            kind = ARROW_TYPES["large_string"]  # not inferred
        if kind is None and any(map(_is_nested, self._values)):
            candidates = []  # a struct type would add the keys of other objects to each object
        for values in candidates:
            try:
                array = pa.array(values(), kind)
            except CONVERSION_ERRORS:
                continue
            text = array.type in {pa.string(), pa.null()}  # always large_string, as elsewhere
            return array.cast(ARROW_TYPES["large_string"]) if text else array
        return pa.array(_convert_to_texts(self._values), ARROW_TYPES["large_string"])

    def to_pandas(self) -> PandasArray:
        """Return the column as a pandas array of its dtype."""
        kind = self.kind
        if kind.as_objects and kind.dtype != "object":
            return self._pandas_array
        if self._durations is not None:
            return pd.array(self._durations.to_numpy(zero_copy_only=False))
        if kind.as_objects:
            return _build_object_array(self._values)
        array = self.to_arrow()
        if self.column.shape.values:
            codes = pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False)
            return pd.Categorical.from_codes(codes, categories=array.dictionary.to_pylist())
        if kind.dtype in {"datetime64[us]", "datetime64[ns]"}:
            unit = kind.dtype[-3:-1]
            return pd.array(array.cast(pa.timestamp(unit)).to_numpy(zero_copy_only=False))
        return _get_dtype(kind.dtype).__from_arrow__(array)

    def _convert_durations(self) -> None:
        """Convert durations; keep the values if one has no fixed length, such as a month.

        Numbers without a known unit become floats.
        """
        name = self.column.shape.type
        values: list[Any] = self._values
        convert = convert_seconds if self.kind.arrow == "seconds" else to_nanoseconds
        try:
            counts = [None if value is None else convert(value) for value in values]
            is_fine = any(count is not None and count % 1000 for count in counts)
            step, unit = (1, "ns") if is_fine else (1000, "us")
            scaled = [None if count is None else count // step for count in counts]
            self._durations = pa.array(scaled, pa.duration(unit))
        except CONVERSION_ERRORS:
            pass
        else:
            return
        found = "not all of a fixed length that fits, so their columns keep them as received"
        if {*map(type, values)} - NULL_TYPE <= {int, float, Decimal}:
            self.kind, self._values = NUMBER, []
            self._arrays = [pa.array([v if v is None else float(v) for v in values], pa.float64())]
            found = "numbers in a unit that is not known, so their columns are Float64"
        self.remark = f"Values of the scalar {name!r} are {found}."

    def to_text_array(self) -> PandasArray:
        """Return the column as an array for a text file, with JSON values and lists as JSON."""
        if self.kind.arrow == "json" or self.has_cells:
            return _build_object_array(
                [None if value is None else _encode_json(value) for value in self._values]
            )
        if any(map(_is_nested, self._values)):
            return _build_object_array(_convert_to_texts(self._values))
        return self.to_pandas()

    def _encode_enum(self, texts: pa.Array) -> pa.DictionaryArray:
        """Return an enum as a dictionary array in the order of the schema, unknown values last."""
        categories = pa.array(self.column.shape.values, pa.large_string())
        codes = pc.index_in(texts, value_set=categories)
        if codes.null_count > texts.null_count:
            # Sorted, so that the categories do not depend on the order of the rows.
            unknown = pc.unique(texts.filter(pc.is_null(codes)).drop_null())
            categories = pa.concat_arrays([categories, unknown.take(pc.sort_indices(unknown))])
            codes = pc.index_in(texts, value_set=categories)
        return pa.DictionaryArray.from_arrays(codes, categories)


@cache
def _get_dtype(name: str) -> PandasDtype:
    """Return a pandas dtype that reads Arrow arrays."""
    return pd.StringDtype("pyarrow") if name == "string" else pd.api.types.pandas_dtype(name)


def _build_object_array(values: Sequence[object]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_nested(value: object) -> bool:
    return isinstance(value, (dict, list, tuple))


def _convert_to_texts(values: list[object]) -> list[str | None]:
    return [None if value is None else _convert_to_text(value) for value in values]


def _convert_to_text(value: object) -> str:
    text = value if isinstance(value, str) else _encode_json(value)
    # JSON has no type for it, such as a Decimal: its text would be in quotation marks.
    if text[:1] == '"' and not isinstance(value, str):
        text = str(value)
    # A lone surrogate has no UTF-8 form, which Arrow requires.
    return text.encode(errors="backslashreplace").decode()


def _encode_json(value: object) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=_encode_other).decode()
    except (ValueError, TypeError):  # a lone surrogate, a mapping with other keys
        return json.dumps(value, default=str)


def _encode_other(value: object) -> object:
    """Convert a value that msgspec does not encode."""
    if is_missing(value):
        return None
    if isinstance(value, timedelta):  # Timedelta of pandas, like its Timestamp below
        return format_duration(to_nanoseconds(value))
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _replace_missing(values: list[object]) -> list[object]:
    """Return values with None for NaN, NaT and NA."""
    if PLAIN_TYPES.issuperset(map(type, values)):
        return values
    return [None if is_missing(value) else value for value in values]


def _find_first_misfit(values: Iterable[Any], convert: Callable[[Any], Any]) -> int:
    """Return the number of the first value that cannot be converted; 0 if each one can be."""
    for number, value in enumerate(values):
        try:
            convert(value)
        except CONVERSION_ERRORS:
            return number
    return 0


def _format_value(value: object) -> str:
    return sanitize_text(repr(value), VALUE_SHOWN)

"""The columns of a harvest's own fields: from the JSON of nodes to Arrow, and back to a frame."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pandas as pd
import pyarrow as pa

from gqlnb.errors import FrameError, sanitize_text
from gqlnb.github.harvester.own_fields import BASE_COLUMNS, ERRORS_KEY, RowShape
from gqlnb.result.column_builder import (
    CONVERSION_ERRORS,
    ColumnBuilder,
    ColumnValueError,
    get_cell_shape,
)
from gqlnb.result.decoder import decode_envelope, decode_untyped
from gqlnb.result.frames import assemble_frame, read_columns
from gqlnb.result.shape import Shape
from gqlnb.result.table_reader import AnswerData
from gqlnb.result.tables import ResultColumn, RowOptions, get_read_plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gqlnb.lists.store import LogHeader
    from gqlnb.result.frames import FrameColumn

ROWS = "rows"
MAX_REASONS = 100  # different reasons counted, since messages may contain ids
OTHER_REASONS = "other reasons"


class FieldColumns:
    """The columns of fields.

    Parameters
    ----------
    shape
        The shape of a repository with them.

    Attributes
    ----------
    arrow_fields
        Names and types of the columns, which depend on the schema alone.
    """

    def __init__(self, shape: RowShape) -> None:
        self._root = _wrap_rows(shape.restore())
        plan = get_read_plan(self._root, frozenset({ROWS}), ROWS)
        columns = plan.wanted[ROWS].columns if ROWS in plan.wanted else []
        self._columns = [column for column in columns if column.name not in BASE_COLUMNS]
        self.arrow_fields = [pa.field(each.name, _find_arrow_type(each)) for each in self._columns]

    def build_arrays(self, nodes: Sequence[str], errors: dict[str, int]) -> list[pa.Array]:
        """Convert nodes to columns.

        Parameters
        ----------
        nodes
            The JSON text of each node.
        errors
            The number of fields that are null because of an error or a value of another type, by
            field and reason; those of the nodes are added to it.

        Returns
        -------
        list of pyarrow.Array
            The arrays of `arrow_fields`.
        """
        faults = Counter[str]()
        for node in nodes:
            if ERRORS_KEY in node:
                faults.update(msgspec.json.decode(node)[ERRORS_KEY])
        body = f'{{"data":{{"{ROWS}":[{",".join(nodes)}]}}}}'.encode()
        envelope = decode_envelope(body, self._root)
        answer = AnswerData(SimpleNamespace(data=None), self._root, envelope)
        try:
            columns, _, _ = read_columns(answer, RowOptions(ROWS))
        except FrameError:
            for node in nodes:
                _count_misshapen(msgspec.json.decode(node), self._root.children[ROWS], "", faults)
            columns, _, _ = read_columns(answer, RowOptions(ROWS, strict=False))
        arrays = [
            _fit_array(cast("ColumnBuilder", columns[column.name]), column, field.type, faults)
            for column, field in zip(self._columns, self.arrow_fields, strict=True)
        ]
        for reason, count in faults.items():
            known = reason if reason in errors or len(errors) < MAX_REASONS else OTHER_REASONS
            errors[known] = errors.get(known, 0) + count
        return arrays

    def add_to_frame(self, frame: pd.DataFrame, rows: pa.Table) -> pd.DataFrame:
        """Return a frame with the columns of the rows beside its own, with the dtypes of Result."""
        columns: dict[str, Any] = {}
        for column in self._columns:
            builder = ColumnBuilder(_get_cell_column(column), "")
            array = rows[column.name].combine_chunks()
            if builder.kind.as_objects:
                values = array.to_pylist()
                if builder.kind.arrow == "json":
                    values = [None if value is None else decode_untyped(value) for value in values]
                builder.add_values(values)
            else:
                builder.add_array(array)
            builder.close()
            columns[column.name] = builder.to_pandas()
        own = assemble_frame(columns, rows.num_rows)
        return pd.concat([frame, own], axis=1) if columns else frame

    def explode(self, frame: pd.DataFrame, path: str) -> pd.DataFrame:
        """Return a frame of rows with one row per item of a list in them.

        Parameters
        ----------
        frame
            The frame of all columns.
        path
            The name of the list, as for :meth:`gqlnb.Result.frame`.

        Raises
        ------
        FrameError
            If there is no such list; the message has those there are.
        """
        lists = {each.name: get_cell_shape(each) for each in self._columns if each.shape.lists}
        name = next((n for n in lists if path == n or str(path).startswith(f"{n}.")), None)
        if name is None:
            listed = ", ".join(map(repr, lists)) or "no list"
            msg = f"explode={sanitize_text(repr(path), 80)}: the rows of the harvest have {listed}."
            raise FrameError(msg)
        cells = frame[name].tolist()
        lists[name].composite = bool(lists[name].children)
        row = Shape(children={"row": Shape("Int"), name: lists[name]}, composite=True)
        data = {ROWS: [{"row": number, name: cell} for number, cell in enumerate(cells)]}
        answer = AnswerData(SimpleNamespace(data=data), _wrap_rows(row))
        columns: Mapping[str, FrameColumn]
        columns, count, _ = read_columns(answer, RowOptions(ROWS, explode=path))
        items = assemble_frame({key: each.to_pandas() for key, each in columns.items()}, count)
        rows = frame.drop(columns=name).iloc[items.pop("row").to_numpy()].reset_index(drop=True)
        exploded = pd.concat([rows, items], axis=1)
        exploded.attrs = frame.attrs
        return exploded


def build_own_columns(header: LogHeader) -> FieldColumns | None:
    """Return the columns of the own fields of a harvest, given its header; None without."""
    shape = header.shape
    return None if shape is None else FieldColumns(msgspec.convert(shape, RowShape))


def _wrap_rows(row: Shape) -> Shape:
    """Return the shape of data with one list of rows."""
    row.lists, row.composite = 1, True
    return Shape(children={ROWS: row}, composite=True)


def _get_cell_column(column: ResultColumn) -> ResultColumn:
    """Return a column for values that were in one: lists without their connections."""
    shape = get_cell_shape(column) if column.shape.lists else column.shape
    return ResultColumn(column.name, shape, nullable=True)


def _find_arrow_type(column: ResultColumn) -> pa.DataType:
    """Return the type of a column without values."""
    builder = ColumnBuilder(column, "")
    builder.close()
    return _decode_enum(builder.to_arrow()).type


def _decode_enum(array: pa.Array) -> pa.Array:
    # As text, because every part has other values, in another order.
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _fit_array(
    builder: ColumnBuilder, column: ResultColumn, kind: pa.DataType, faults: Counter[str]
) -> pa.Array:
    """Return the values of a column in its type; null for values of another type, counted."""
    cells: Any = builder.to_list() if builder.keeps_values else _decode_enum(builder.to_arrow())
    if not builder.keeps_values:
        with suppress(*CONVERSION_ERRORS):
            return cells.cast(kind)
    fitted = []
    for cell in cells:  # of another JSON type, or such as a timestamp with nanoseconds
        try:
            value = _build_single(cell, column) if builder.keeps_values else cell
            fitted.append(value.cast(kind).as_py())
        except (ColumnValueError, *CONVERSION_ERRORS):
            faults[f"{column.name}: the value does not fit its type {column.shape.type}"] += 1
            fitted.append(None)
    return pa.array(fitted, kind)


def _build_single(value: object, column: ResultColumn) -> pa.Scalar:
    """Return the only value of a column."""
    builder = ColumnBuilder(column, "")
    builder.add_values([value])
    builder.close()
    return _decode_enum(builder.to_arrow())[0]


def _count_misshapen(node: Any, shape: Shape, path: str, faults: Counter[str]) -> None:  # noqa: ANN401 - JSON
    """Count the values in a node that should be objects or lists, and are not; they become null."""
    for name, child in shape.children.items():
        value, here = node.get(name), f"{path}{name}"
        if child.lists and isinstance(value, list):
            continue
        if child.composite and not child.lists and isinstance(value, dict):
            _count_misshapen(value, child, f"{here}.", faults)
        elif value is not None and (child.lists or child.composite):
            faults[f"{here}: the value is not {'a list' if child.lists else 'an object'}"] += 1

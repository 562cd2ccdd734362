"""Lists that are kept in one cell each: their shape, Arrow type and text."""

from __future__ import annotations

from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gqlnb.document import scalars
from gqlnb.result.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from gqlnb.result.decoder import Data
    from gqlnb.result.tables import ResultColumn

__all__ = [
    "build_cell",
    "build_list_array",
    "convert_cell",
    "flatten_lists",
    "get_cell_shape",
    "get_cell_type",
    "has_json",
    "nest_items",
]

CELL_TYPES = {
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}


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

"""Lists that are kept in one cell each: their shape, Arrow type and text."""

from __future__ import annotations

from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from gqlnb.document import scalars
from gqlnb.result.shape import Shape

Converter: TypeAlias = "Callable[[Any], object]"

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from gqlnb.result.tables import ResultColumn

__all__ = [
    "build_list_array",
    "build_text_converter",
    "flatten_lists",
    "get_cell_shape",
    "get_cell_type",
    "has_json",
    "has_node",
    "merge_edge",
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


def has_node(edge: object, node: str) -> bool:
    """Return whether a value is an edge with a node."""
    return isinstance(edge, dict) and edge.get(node) is not None


def merge_edge(edge: dict[str, object], column: ResultColumn) -> object:
    """Return a node with the fields beside it in its edge, such as the size of a language."""
    node = column.node or ""
    row = edge[node]
    if len(edge) == 1 or not isinstance(row, dict):
        return row
    names = column.shape.children[node].children
    beside = {_name_edge_field(name, names): value for name, value in edge.items() if name != node}
    return beside | row


def _name_edge_field(name: str, taken: Container[str]) -> str:
    return f"edge.{name}" if name in taken else name


def flatten_lists(value: Any, levels: int) -> Iterable[object]:
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


def nest_items(value: Any, levels: int, items: Iterator[object]) -> object:
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


def build_text_converter(
    shape: Shape, written: Callable[[Any], str], json: Callable[[Any], str]
) -> Converter:
    """Return a converter from cell values to the values stored in Arrow, mostly text.

    Parameters
    ----------
    shape
        The shape of the cell.
    written, json
        Functions that convert any value to text, and a value of a JSON scalar.
    """
    fit: Converter
    if shape.children:
        fit = _build_object_converter(
            {
                name: build_text_converter(child, written, json)
                for name, child in shape.children.items()
            }
        )
    elif _get_leaf_type(shape) in CELL_TYPES:
        return _keep_value
    else:
        fit = json if scalars.get_scalar(shape).arrow == "json" else written
    return _build_list_converter(fit, shape.lists)


def _build_object_converter(below: Mapping[str, Converter]) -> Converter:
    """Return a converter of objects, given one for each member."""

    def convert_object(value: object) -> object:
        if not isinstance(value, dict):
            raise TypeError
        return {name: below[name](value.get(name)) for name in below}

    return convert_object


def _keep_value(value: object) -> object:
    return value


def _build_list_converter(fit: Converter, lists: int) -> Converter:
    """Return a converter of the values in that many levels of lists, given one of a value."""
    below = _build_list_converter(fit, lists - 1) if lists else fit

    def convert_lists(value: object) -> object:
        if value is None:
            return None
        if not lists:
            return below(value)
        if not isinstance(value, (list, tuple)):
            raise TypeError
        return [below(item) for item in value]

    return convert_lists

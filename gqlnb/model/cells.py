"""Lists that stay in one cell each: what an item is, and their Arrow type."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gqlnb.model import scalars
from gqlnb.model.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gqlnb.model.tables import Column

__all__ = [
    "arrow_type",
    "fitted",
    "flatten",
    "has_node",
    "holds_json",
    "item_of",
    "list_array",
    "nest",
    "node_with_edge",
    "with_floats",
]

TYPES = {
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}


def item_of(column: Column) -> Shape:
    """Return the shape of the cells of a column: lists of nodes with what their edges say."""
    shape = column.shape
    if column.node is None:
        return shape
    node = shape.children[column.node]
    if not node.children or node.lists:
        lists = shape.lists + node.lists
        return Shape(node.type, lists, node.values, node.children, like=node.like)
    beside = {
        _beside(name, node.children): child
        for name, child in shape.children.items()
        if name != column.node
    }
    return Shape(lists=shape.lists, children=beside | node.children)


def has_node(edge: Any, node: str) -> bool:
    """Tell whether an edge has a node."""
    return isinstance(edge, dict) and edge.get(node) is not None


def node_with_edge(edge: dict[str, Any], column: Column) -> Any:
    """Return a node with what its edge says beside it, such as the size of a language."""
    node = column.node or ""
    row = edge[node]
    if len(edge) == 1 or not isinstance(row, dict):
        return row
    names = column.shape.children[node].children
    beside = {_beside(name, names): value for name, value in edge.items() if name != node}
    return beside | row


def _beside(name: str, taken: Any) -> str:
    return f"edge.{name}" if name in taken else name


def with_floats(value: Any) -> Any:
    """Return a JSON-like value with floats for decimals, at any depth."""
    if type(value) is Decimal:
        return float(value)
    if isinstance(value, list):
        return [with_floats(item) for item in value]
    if isinstance(value, dict):
        return {name: with_floats(item) for name, item in value.items()}
    return value


def flatten(value: Any, levels: int) -> Iterable[Any]:
    """Return the items of a list of that many levels, those of a null list being none.

    Raises
    ------
    TypeError
        If something else stands where a list should.
    """
    if value is None and levels:
        return ()
    if levels and not isinstance(value, (list, tuple)):
        raise TypeError
    if levels <= 1:
        return value  # type: ignore[no-any-return]
    return chain.from_iterable(flatten(item, levels - 1) for item in value)


def nest(value: Any, levels: int, items: Iterator[Any]) -> Any:
    """Return a list as it is, with the next of other `items` for those of :func:`flatten`."""
    if value is None:
        return None
    if levels == 1:
        return list(islice(items, len(value)))
    return [nest(item, levels - 1, items) for item in value]


def list_array(values: Sequence[Any], levels: int, items: pa.Array) -> pa.Array:
    """Return lists as an Arrow array, given all their items one after another.

    Parameters
    ----------
    values
        Lists of that many levels, or None.
    levels
        How many levels of lists stand around an item, at least one.
    items
        The items, as :func:`flatten` has them for all values together.
    """
    if levels > 1:
        inner = [item for value in values for item in value or ()]
        items = list_array(inner, levels - 1, items)
    ends = list(accumulate((len(value or ()) for value in values), initial=0))
    starts = [None if value is None else ends[n] for n, value in enumerate(values)]
    return pa.ListArray.from_arrays(pa.array([*starts, ends[-1]], pa.int32()), items)


def arrow_type(shape: Shape) -> pa.DataType:
    """Return the type of values in a cell, which are JSON values: moments are text there."""
    made = TYPES.get(_form(shape), pa.large_string())
    if shape.children:
        made = pa.struct([(name, arrow_type(child)) for name, child in shape.children.items()])
    for _ in range(shape.lists):
        made = pa.list_(made)
    return made


def _form(shape: Shape) -> str:
    """Return the name of the Arrow type of a leaf in a cell; empty for text."""
    kind = scalars.of(shape)
    return kind.arrow or "" if kind.exact and kind.stored != "large_string" else ""


def holds_json(shape: Shape) -> bool:
    """Tell whether there are values in a cell that may be any JSON."""
    if shape.children:
        return any(map(holds_json, shape.children.values()))
    return scalars.of(shape).arrow == "json"


def fitted(shape: Shape, written: Callable[[Any], str], json: Callable[[Any], str]) -> Any:
    """Return what makes text of the values in a cell that are text in Arrow.

    Parameters
    ----------
    shape
        The shape of the cell.
    written, json
        What makes text of any value, and of one of a scalar that holds any JSON.
    """
    fit: Callable[[Any], Any]
    if shape.children:
        fit = _members(
            {name: fitted(child, written, json) for name, child in shape.children.items()}
        )
    elif _form(shape) in TYPES:
        return _as_it_is
    else:
        fit = json if scalars.of(shape).arrow == "json" else written
    return _over(fit, shape.lists)


def _members(below: Mapping[str, Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Return what does to the members of an object what is given for each of them."""

    def fit(value: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError
        return {name: below[name](value.get(name)) for name in below}

    return fit


def _as_it_is(value: Any) -> Any:
    return value


def _over(fit: Callable[[Any], Any], lists: int) -> Callable[[Any], Any]:
    """Return what does to all values in that many levels of lists what `fit` does to one."""
    below = _over(fit, lists - 1) if lists else fit

    def over(value: Any) -> Any:
        if value is None:
            return None
        if not lists:
            return below(value)
        if not isinstance(value, (list, tuple)):
            raise TypeError
        return [below(item) for item in value]

    return over

"""The rows of data as they came, with the places they stand at in the answer."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from gqlnb.model.tables import Place, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gqlnb.model.tables import Column

__all__ = ["place_of", "places_of", "reached", "rows_of"]

Path = tuple[str | int, ...]


def places_of(table: Table, data: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the rows of a list with the response path of their item, in the order of the frame."""
    for path, row in _above(table, data):
        found = reached(row, table.place)
        if not isinstance(found, (list, tuple)):
            continue
        here = (*path, *table.place)
        for number, item in enumerate(found):
            node = item
            if table.node is not None:
                node = item.get(table.node) if isinstance(item, dict) else None
            if node is not None or not isinstance(table.row, Place):
                yield (*here, number), node


def reached(value: Any, path: tuple[str, ...]) -> Any:
    """Return what stands at a path of names; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _above(table: Table, data: Any) -> Iterator[tuple[Path, Any]]:
    parent = table.parent
    if parent is None or parent.parent is None:
        yield (), data
        return
    for path, row in places_of(parent, data):
        yield (path if parent.node is None else (*path, parent.node)), row


def rows_of(data: Any, table: Table) -> list[Any]:
    """Return the rows of a list as they came; null edges, nodes and objects are left out."""
    if table.parent is None:
        return [data] if data is not None else []
    return [row for _, row in places_of(table, data)]


def place_of(table: Table, column: Column, row: int, data: Any) -> Path | None:
    """Return the response path of one value: of a column, in a row of its table.

    None where there is no such row.
    """
    path: Path = ()
    if table.parent is not None:
        found = next(islice(places_of(table, data), row, None), None)
        if found is None:
            return None
        path = found[0]
    number = table.columns.index(column)
    beside = _names(table.edge, number) if table.edge is not None else None
    if beside is not None:
        return (*path, *beside)
    inside = _names(table.row, number) or () if isinstance(table.row, Place) else ()
    return (*path, *(() if table.node is None else (table.node,)), *inside)


def _names(place: Place, number: int) -> tuple[str, ...] | None:
    """Return the response names that lead to a column; None if it is not there."""
    for name, target in place.members:
        if isinstance(target, int) and target == number:
            return (name,)
        below = _names(target, number) if isinstance(target, Place) else None
        if below is not None:
            return (name, *below)
    return None

"""From an answer to a DataFrame: rows, columns, and dtypes taken from the schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from gqlnb.errors import FrameError, plain
from gqlnb.model.shape import Level, Shape, columns, inferred, level, levels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["beside", "frame_of", "rows_of"]

DTYPES = {
    "Int": "Int64",
    "Float": "Float64",
    "Boolean": "boolean",
    "ID": "string",
    "String": "string",
}
MOMENTS = frozenset({"DateTime", "Timestamp", "GitTimestamp", "PreciseDateTime"})
TEXTS = frozenset({"URI", "URL", "HTML", "UUID", "BigInt", "GitObjectID"})


def frame_of(data: Any, shape: Shape | None, path: str | None = None) -> pd.DataFrame:
    """Return the frame of an answer.

    Parameters
    ----------
    data
        The data of the answer, as mappings and lists.
    shape
        The shape that schema and document give; None infers it from `data`.
    path
        The list to take, as dotted response names without the plumbing of connections
        (``"search"``, ``"viewer.repositories"``); None where there is at most one.

    Returns
    -------
    DataFrame
        One row per item; one row in all where the answer holds no list. Columns are dotted
        response names. Inner lists stay in one cell each.

    Raises
    ------
    FrameError
        If `path` names no list, or is needed; the message lists the paths with their row counts.
    """
    shape = inferred(data) if shape is None else shape
    found = choose(data, shape, path)
    if found is None:
        return _build(
            [data] if data is not None else [], list(columns(shape)) if shape.children else []
        )
    rows = rows_of(data, found)
    if not found.row.children:
        return pd.DataFrame({found.name: _column(found.name, rows, found.row)})
    wanted = list(columns(found.row))
    frame = _build(rows, wanted)
    edges = [e for e in _items(data, found) if _node(e, found) is not None]
    for way, extra in found.extra.items():
        name = ".".join(way)
        label = name if name not in frame.columns else f"edge.{name}"
        frame[label] = _column(label, [_cell(edge, way, extra) for edge in edges], extra)
    return frame


def beside(data: Any, shape: Shape, path: str | None = None) -> dict[str, Any]:
    """Return what was asked for beside the rows of a frame.

    Parameters
    ----------
    data, shape, path
        As for :func:`frame_of`.

    Returns
    -------
    dict
        JSON values by dotted response name, in the order of selection: the scalars beside a list,
        and all of a connection but its rows. Empty where the frame is not of a list. Other lists
        are left out: they have frames of their own.
    """
    found = choose(data, shape, path)
    if found is None:
        return {}
    values = {".".join(name): value for name, value in _beside(data, shape, (), found)}
    plain_values: dict[str, Any] = json.loads(json.dumps(values, default=str))
    return plain_values


def _beside(
    value: Any, shape: Shape, path: tuple[str, ...], found: Level
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values below `path` that are not rows of `found`, nor another list."""
    for name, child in shape.children.items():
        here = (*path, name)
        if not isinstance(value, dict) or name not in value:
            continue  # a fragment on another type
        item = value[name]
        within = len(here) > len(found.path) and here[: len(found.path)] == found.path
        mine = here in (found.path, found.place)
        if (here == found.place and item is not None) or (
            not mine and not within and level(here, child) is not None
        ):
            continue
        if child.children and isinstance(item, dict):
            yield from _beside(item, child, here, found)
        else:
            yield here, item


def choose(data: Any, shape: Shape, path: str | None) -> Level | None:
    """Return the list that `path` names, or the only one; None where there is none to choose."""
    found = {item.name: item for item in levels(shape)}
    if path is None and len(found) <= 1:
        return next(iter(found.values()), None)
    if path in found:
        return found[path]
    listed = ", ".join(
        f"{name!r} ({len(rows_of(data, item)):,} rows)" for name, item in found.items()
    )
    if path is None:
        msg = f"The answer holds {len(found)} lists. Choose one with path=: {listed}."
        raise FrameError(msg)
    msg = f"The answer has no list at {plain(path, 80)!r}. It has: {listed or 'no list at all'}."
    raise FrameError(msg)


def rows_of(data: Any, found: Level) -> list[Any]:
    """Return the rows of a list; null edges, nodes and items of objects are left out."""
    rows = [_node(item, found) for item in _items(data, found)]
    return [row for row in rows if row is not None] if found.row.children else rows


def _items(data: Any, found: Level) -> Iterable[Any]:
    for name in (*found.path, found.steps[0]):
        if name is not None:
            data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, (list, tuple)) else ()


def _node(item: Any, found: Level) -> Any:
    step = found.steps[1]
    if step is None:
        return item
    return item.get(step) if isinstance(item, dict) else None


def _build(rows: list[Any], wanted: list[tuple[tuple[str, ...], Shape]]) -> pd.DataFrame:
    made = {
        ".".join(path): _column(".".join(path), [_cell(row, path, shape) for row in rows], shape)
        for path, shape in wanted
    }
    return pd.DataFrame(made)


def _cell(row: Any, path: tuple[str, ...], shape: Shape) -> Any:
    for name in path:
        row = row.get(name) if isinstance(row, dict) else None
    inner = level(path, shape) if row is not None and shape.children and not shape.lists else None
    if inner is None:
        return row
    found = Level((), inner.steps, inner.row)
    if not inner.extra:
        return rows_of(row, found)
    edges = [edge for edge in _items(row, found) if _node(edge, found) is not None]
    return [_with_extras(edge, _node(edge, found)) for edge in edges]


def _with_extras(edge: dict[str, Any], node: Any) -> Any:
    """Return a node with what its edge says beside it, such as the size of a language."""
    if not isinstance(node, dict):
        return node
    extras = {name: value for name, value in edge.items() if name != "node"}
    return {f"edge.{n}" if n in node else n: v for n, v in extras.items()} | node


def _column(name: str, values: list[Any], shape: Shape) -> pd.Series[Any]:
    """Return values as a column of the dtype the schema declares, or the one they show."""
    if shape.lists or shape.children:
        return pd.Series(values, dtype="object")
    try:
        if shape.values:
            known = [*shape.values, *sorted({v for v in values if v} - set(shape.values))]
            return pd.Series(pd.Categorical(values, categories=known))
        if shape.type in MOMENTS:
            moments = pd.Series(values, dtype="object")
            return pd.to_datetime(moments, utc=True, format="ISO8601").dt.as_unit("us")
        if shape.type is None:
            return pd.Series(values, dtype="object").convert_dtypes()
        dtype = "string" if shape.type in TEXTS else DTYPES.get(shape.type, "object")
        return pd.Series(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        reason = plain(error, 120)
    msg = f"Column {name!r} does not hold values of type {shape.type}: {reason}"
    raise FrameError(msg)

"""From an answer to a DataFrame: rows, columns, and dtypes taken from the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from gqlnb.errors import FrameError, plain
from gqlnb.model.shape import Level, Shape, columns, inferred, level, levels

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["frame_of", "rows_of"]

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
    for name, extra in found.extra.items():
        label = name if name not in frame.columns else f"edge.{name}"
        edges = [e for e in _items(data, found) if _node(e, found) is not None]
        frame[label] = _column(label, [edge.get(name) for edge in edges], extra)
    return frame


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
    return item if step is None or item is None else item.get(step)


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
    return row if inner is None else rows_of(row, Level((), inner.steps, inner.row))


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

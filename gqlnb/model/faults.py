"""The errors beside the data as a frame, with the rows they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from gqlnb.model.places import places_of
from gqlnb.model.render import where_of
from gqlnb.model.tables import plan_of

if TYPE_CHECKING:
    from gqlnb.model.reading import Answer

__all__ = ["errors_frame"]

DTYPES = {
    "message": "string",
    "path": "string",
    "frame": "string",
    "row": "Int64",
    "line": "Int64",
    "column": "Int64",
}
Path = tuple[Any, ...]


def errors_frame(errors: Sequence[Mapping[str, Any]], answer: Answer) -> pd.DataFrame:
    """Return errors as a DataFrame: message, path, list and row, line and column."""
    paths = [_path(error) for error in errors]
    found = _rows(answer, {path for path in paths if path}) if any(paths) else {}
    rows = [
        (
            str(error.get("message", "no message")),
            where_of(error),
            *_where(path, found),
            *_at(error),
        )
        for error, path in zip(errors, paths, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(DTYPES)).astype(DTYPES)


def _path(error: Mapping[str, Any]) -> Path:
    path = error.get("path")
    right = isinstance(path, (list, tuple)) and all(isinstance(p, (str, int)) for p in path)
    return tuple(path) if right and path is not None else ()


def _rows(answer: Answer, paths: set[Path]) -> dict[Path, tuple[str, int]]:
    """Return the list and the row of each item that stands on one of the paths."""
    starts = {path[: end + 1] for path in paths for end, p in enumerate(path) if type(p) is int}
    found: dict[Path, tuple[str, int]] = {}
    for table in plan_of(answer.shape).root.walk() if starts else ():
        if table.parent is None:
            continue
        for row, (place, _) in enumerate(places_of(table, answer.data())):
            if place in starts:
                found[place] = (table.name, row)
    return found


def _where(path: Path, found: Mapping[Path, tuple[str, int]]) -> tuple[str | None, int | None]:
    """Return the innermost list and the row in it that a path leads through."""
    ends = [end for end in range(len(path), 0, -1) if type(path[end - 1]) is int]
    return found.get(path[: ends[0]], (None, None)) if ends else (None, None)


def _at(error: Mapping[str, Any]) -> tuple[int | None, int | None]:
    places = error.get("locations")
    first = places[0] if isinstance(places, (list, tuple)) and places else None
    place = first if isinstance(first, Mapping) else {}
    return _number(place.get("line")), _number(place.get("column"))


def _number(value: Any) -> int | None:
    """Return a line or column; None for what an endpoint may send instead."""
    return value if isinstance(value, int) and 0 < value < 2**31 else None

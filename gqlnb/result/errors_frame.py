"""The errors beside the data as a frame, with the rows they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from gqlnb.result.renderer import format_error_path
from gqlnb.result.tables import get_read_plan, iter_rows_with_paths

if TYPE_CHECKING:
    from gqlnb.result.table_reader import AnswerData

__all__ = ["build_errors_frame"]

DTYPES = {
    "message": "string",
    "path": "string",
    "frame": "string",
    "row": "Int64",
    "line": "Int64",
    "column": "Int64",
}
Path = tuple[Any, ...]


def build_errors_frame(errors: Sequence[Mapping[str, Any]], answer: AnswerData) -> pd.DataFrame:
    """Return errors as a DataFrame: message, path, list and row, line and column."""
    paths = [_get_path(error) for error in errors]
    found = _find_rows(answer, {path for path in paths if path}) if any(paths) else {}
    rows = [
        (
            str(error.get("message", "no message")),
            format_error_path(error),
            *_find_row(path, found),
            *_get_location(error),
        )
        for error, path in zip(errors, paths, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(DTYPES)).astype(DTYPES)


def _get_path(error: Mapping[str, Any]) -> Path:
    path = error.get("path")
    right = isinstance(path, (list, tuple)) and all(isinstance(p, (str, int)) for p in path)
    return tuple(path) if right and path is not None else ()


def _find_rows(answer: AnswerData, paths: set[Path]) -> dict[Path, tuple[str, int]]:
    """Return the list and the row of each item that stands on one of the paths."""
    starts = {path[: end + 1] for path in paths for end, p in enumerate(path) if type(p) is int}
    found: dict[Path, tuple[str, int]] = {}
    for table in get_read_plan(answer.shape).root.walk() if starts else ():
        if table.parent is None:
            continue
        for row, (place, _) in enumerate(iter_rows_with_paths(table, answer.data())):
            if place in starts:
                found[place] = (table.name, row)
    return found


def _find_row(path: Path, found: Mapping[Path, tuple[str, int]]) -> tuple[str | None, int | None]:
    """Return the innermost list and the row in it that a path leads through."""
    ends = [end for end in range(len(path), 0, -1) if type(path[end - 1]) is int]
    return found.get(path[: ends[0]], (None, None)) if ends else (None, None)


def _get_location(error: Mapping[str, Any]) -> tuple[int | None, int | None]:
    places = error.get("locations")
    first = places[0] if isinstance(places, (list, tuple)) and places else None
    place = first if isinstance(first, Mapping) else {}
    return _parse_position(place.get("line")), _parse_position(place.get("column"))


def _parse_position(value: Any) -> int | None:
    """Return a line or column; None for what an endpoint may send instead."""
    return value if isinstance(value, int) and 0 < value < 2**31 else None

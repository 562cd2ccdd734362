"""Small pictures above the columns of a grid: a histogram, or the most frequent values.

Each part of a picture has the text of the filter that selects its rows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gqlnb.errors import format_count, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


__all__ = ["build_picture"]

BINS = 12
VALUES = 4  # the most frequent ones that have a part; the others share one
FREQUENT = 0.2  # of the rows: values that are rarer together have no parts
LABEL = 40  # characters
MOST_ROWS = 2_000_000  # counted in a tenth of a second; longer columns have no picture
SKEWED = 50  # times the median: beyond, equal widths would leave one bar
EXACT = 2**53  # floats, of which edges are made, hold no larger integer
DAY = 86_400_000_000  # microseconds


class PicturedColumn(Protocol):
    """The parts of a column of a grid that a picture is made of; see ``GridColumn``."""

    index: bool
    kind: str

    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    def arrow(self) -> pa.Array | None:
        """The values as an Arrow array."""

    @property
    def text(self) -> pa.Array:
        """The texts."""


def build_picture(column: PicturedColumn) -> dict[str, object] | None:
    """Return the picture of a column as JSON values; None if it has none.

    Returns
    -------
    dict
        ``kind``, ``"bars"`` or ``"values"``; ``parts``, each with ``count``, ``label`` and
        ``filter`` (empty for none); ``said``, a sentence.
    """
    if column.index or not 1 < len(column) <= MOST_ROWS:
        return None
    if column.kind == "text":
        return _build_values(column)
    numbers = _read_numbers(column)
    if numbers is None or not numbers.size or numbers.min() == numbers.max():
        return None
    is_time, is_whole = column.kind == "time", numbers.dtype.kind == "i"
    edges = _choose_edges(numbers, is_whole=is_whole, is_time=is_time)
    counts = np.histogram(numbers, edges)[0].tolist()
    is_exact = is_time or is_whole  # else two ranges share an end
    write = _write_times if is_time else (_write_integers if is_whole else _write_floats)
    ranges = list(write(edges.tolist()))
    parts = [
        {
            "count": count,
            "label": f"{low} to {high}",
            "filter": f"{low}..{high}" if is_exact else f">={low} <{high}",
        }
        for count, (low, high) in zip(counts, ranges, strict=True)
    ]
    # Open ends, so that rounding excludes neither the least value nor the largest.
    parts[0]["filter"] = f"..{ranges[0][1]}" if is_exact else f"<{ranges[0][1]}"
    parts[-1]["filter"] = f"{ranges[-1][0]}.." if is_exact else f">={ranges[-1][0]}"
    return {"kind": "bars", "parts": parts, "said": f"{ranges[0][0]} to {ranges[-1][1]}"}


def _read_numbers(column: PicturedColumn) -> NDArray[Any] | None:
    """Return the present values: integers, floats, or microseconds of times."""
    array = column.arrow
    if array is None:
        return None
    if column.kind == "time":
        zone = getattr(array.type, "tz", None)
        array = array.cast(pa.timestamp("us", zone)).cast(pa.int64())
    elif not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        array = array.cast(pa.float64(), safe=False)
    numbers: NDArray[Any] = array.drop_null().to_numpy(zero_copy_only=False)
    if numbers.dtype.kind == "f":
        finite: NDArray[Any] = numbers[np.isfinite(numbers)]
        return finite
    limit = 2**62 if column.kind == "time" else EXACT
    is_exact = not numbers.size or (numbers.min() >= -limit and numbers.max() <= limit)
    return numbers.astype(np.int64) if is_exact else None


def _choose_edges(numbers: NDArray[Any], *, is_whole: bool, is_time: bool) -> NDArray[Any]:
    low, high = numbers.min(), numbers.max()
    if is_time:
        step = DAY if high - low > 2 * BINS * DAY else 1_000_000
        count = min(BINS, int((high - low) // step) + 1)
        edges = np.linspace(low // step, high // step + 1, count + 1).astype(np.int64) * step
        return np.unique(edges)
    if low > 0 and high > SKEWED * np.median(numbers):
        edges = np.geomspace(low, high, BINS + 1)
    else:
        edges = np.linspace(low, high, BINS + 1)
    if is_whole:
        return np.unique([*np.floor(edges[:-1]), high + 1]).astype(np.int64)
    # As a filter writes them, so that it selects the rows that are counted.
    inner = np.unique([float(f"{edge:.6g}") for edge in edges[1:-1]])
    return np.array([low, *inner[(inner > low) & (inner < high)], high])


def _write_integers(edges: Sequence[int]) -> Iterator[tuple[str, str]]:
    for low, end in pairwise(edges):
        yield f"{low:,}", f"{end - 1:,}"


def _write_floats(edges: Sequence[float]) -> Iterator[tuple[str, str]]:
    for low, end in pairwise(edges):
        yield f"{low:.6g}", f"{end:.6g}"


def _write_times(edges: Sequence[int]) -> Iterator[tuple[str, str]]:
    is_days = all(edge % DAY == 0 for edge in edges)
    unit, form = (DAY, "%Y-%m-%d") if is_days else (1_000_000, "%Y-%m-%d %H:%M:%S")
    for low, end in pairwise(edges):
        ends = (pd.Timestamp(moment, unit="us") for moment in (low, end - unit))
        first, last = (moment.strftime(form) for moment in ends)
        yield first, last


def _build_values(column: PicturedColumn) -> dict[str, object] | None:
    """Return the most frequent values of a column of text."""
    if column.arrow is None:  # lists and other objects, whose texts would be made for this alone
        return None
    array = column.text
    present = array.drop_null()
    if not len(present):
        return None
    counted = pc.value_counts(present)
    counts = counted.field(1).to_numpy()
    order = np.argsort(-counts, kind="stable")[:VALUES]
    if counts[order].sum() < FREQUENT * len(present):  # names and ids
        return {"kind": "values", "parts": [], "said": f"{len(present):,} different values"}
    parts = [
        {"count": count, "label": sanitize_text(text, LABEL), "filter": _write_filter(text)}
        for text, count in zip(
            counted.field(0).take(pa.array(order)).to_pylist(), counts[order].tolist(), strict=True
        )
    ]
    others = len(present) - int(counts[order].sum())
    if others:
        more = format_count(len(counted) - len(order), "other value")
        parts.append({"count": others, "label": more, "filter": ""})
    if missing := len(array) - len(present):
        parts.append({"count": missing, "label": "missing", "filter": "="})
    return {
        "kind": "values",
        "parts": parts,
        "said": format_count(len(counted), "different value"),
    }


def _write_filter(text: str) -> str:
    """Return the filter for a value; empty for one that a box would change."""
    is_plain = text == text.strip() and text.isprintable() and 0 < len(text) <= 200
    return f"={text}" if is_plain else ""

"""A row for each item of a list: a table joined with one in its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gqlnb.model.reading import Rows

__all__ = ["exploded"]


def exploded(
    arrays: Mapping[str, Any], rows: Rows, chain: Sequence[Rows]
) -> tuple[dict[str, Any], int]:
    """Join a table with a list in its rows, and on with one in that.

    Parameters
    ----------
    arrays
        The columns of the table, by name.
    rows
        Its rows.
    chain
        The lists, each in the rows of the one before.

    Returns
    -------
    (dict, int)
        The columns, those of a list below its name in the row, and how many rows there are. A row
        whose list is empty or null is kept once, its columns of the list missing.
    """
    start = len(rows.table.name) + 1
    names = {each.table.name[start:] for each in chain}
    made = {name: array for name, array in arrays.items() if name not in names}
    at = np.arange(rows.count)  # for each row so far, its row in the table joined last
    for inner in chain:
        repeated, below = _joined(at, inner)
        made = {name: _taken(array, repeated) for name, array in made.items()}
        prefix = inner.table.name[start:]
        for filled in inner.columns:
            name = prefix if isinstance(inner.table.row, int) else f"{prefix}.{filled.column.name}"
            while name in made:
                name = f"item.{name}"
            made[name] = _taken(filled.pandas(), below)
        at = below
    return made, len(at)


def _joined(at: NDArray[np.int64], inner: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each row of the join the number of its row so far, and of its row of the list.

    The latter is -1 where the list is empty or null.
    """
    parents = inner.parents
    sizes = np.bincount(parents, minlength=int(at.max(initial=-1)) + 2)
    first = np.cumsum(sizes) - sizes
    counts = np.where(at >= 0, sizes[at], 0)
    times = np.maximum(counts, 1)
    repeated = np.repeat(np.arange(len(at)), times)
    within = np.arange(len(repeated)) - np.repeat(np.cumsum(times) - times, times)
    below = np.where(counts[repeated] > 0, first[at[repeated]] + within, -1)
    return repeated, below


def _taken(array: Any, rows: NDArray[np.int64]) -> Any:
    """Return the elements of those numbers, missing ones for -1."""
    if isinstance(array, pd.api.extensions.ExtensionArray):
        return array.take(rows, allow_fill=True)
    made = np.empty(len(rows), dtype=object)  # of None, as such columns have it, not NaN
    made[rows >= 0] = array[rows[rows >= 0]]
    return made

"""Rows of a harvest as Arrow columns, which take a tenth of the memory, and as a DataFrame."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    import pyarrow as pa

    from gqlnb.github.harvesting.values import Row

T = TypeVar("T", bound=Any)

__all__ = ["batch", "frame_of", "schema", "table", "without"]

_ORDER = [("stargazers", "descending"), ("by owner", "ascending"), ("by name", "ascending")]


@cache
def schema() -> pa.Schema:
    """Return the schema of each part."""
    import pyarrow as pa

    return pa.schema(
        [
            ("name", pa.string()),
            ("owner", pa.string()),
            ("stargazers", pa.int64()),
            ("created_at", pa.timestamp("s", "UTC")),
            ("id", pa.string()),
        ]
    )


def batch(rows: Sequence[Row]) -> pa.RecordBatch:
    """Return rows as Arrow columns."""
    import pyarrow as pa

    made = schema()
    ids, stars, created, names, owners = zip(*rows, strict=True) if rows else ((),) * 5
    columns = (names, owners, stars, created, ids)
    return pa.record_batch(
        [pa.array(values, each.type) for values, each in zip(columns, made, strict=True)], made
    )


def table(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Return batches as one table."""
    import pyarrow as pa

    return pa.Table.from_batches(list(batches), schema())


def without(rows: T, places: Sequence[int]) -> T:
    """Return a table, or a batch, without the rows at some places."""
    import numpy as np
    import pyarrow as pa

    kept = np.ones(rows.num_rows, dtype=bool)
    kept[list(places)] = False
    left: T = rows.filter(pa.array(kept))
    return left


def frame_of(rows: pa.Table) -> pd.DataFrame:
    """Return rows as a DataFrame, most stars first, equal ones in the order of owner and name."""
    import pandas as pd
    from pyarrow.compute import sort_indices, utf8_lower

    keys = rows.select(["stargazers"])
    for name in ("owner", "name"):  # in any case, as logins and names are alike in any case
        keys = keys.append_column(f"by {name}", utf8_lower(rows[name]))
    ordered = rows.take(sort_indices(keys, _ORDER))
    made = pd.DataFrame()
    for each in ordered.schema:
        column = ordered[each.name]
        if each.name == "stargazers":
            made[each.name] = pd.array(column.to_numpy(), dtype="Int64")
        elif each.name == "created_at":
            made[each.name] = column.to_pandas()
        else:
            made[each.name] = pd.array(column, dtype="string")
    return made

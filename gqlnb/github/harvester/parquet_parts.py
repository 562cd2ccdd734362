"""Rows of a harvest as Arrow columns, and as a DataFrame."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gqlnb.client.range_harvest.part_files import read_parquet
from gqlnb.errors import FrameError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from gqlnb.github.harvester.field_columns import FieldColumns
    from gqlnb.github.harvester.requests import RepositoryRow

__all__ = [
    "build_arrow_schema",
    "build_batch",
    "build_repository_frame",
    "concat_batches",
    "load_parts",
    "read_part",
]

_SORT_KEYS = [("stargazers", "descending"), ("by owner", "ascending"), ("by name", "ascending")]


@cache
def build_arrow_schema() -> pa.Schema:
    """Return the Arrow schema of all parts, without own fields."""
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


def build_batch(
    rows: Sequence[RepositoryRow], own_fields: Iterable[pa.Field] = (), own: Iterable[pa.Array] = ()
) -> pa.RecordBatch:
    """Return rows as Arrow columns, which take a tenth of the memory, with those of own fields."""
    import pyarrow as pa

    schema = build_arrow_schema()
    ids, stars, created, names, owners, _ = zip(*rows, strict=True) if rows else ((),) * 6
    columns = (names, owners, stars, created, ids)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    batch = pa.record_batch([*arrays, *own], pa.schema([*schema, *own_fields]))
    # Copied into one buffer of its own: Arrow's default allocator never returns the pages between
    # the arrays of many batches, so that memory would grow with the number of parts.
    buffer = batch.serialize(memory_pool=pa.system_memory_pool())
    return pa.ipc.read_record_batch(buffer, batch.schema)


def concat_batches(
    batches: Iterable[pa.RecordBatch], own_fields: Iterable[pa.Field] = ()
) -> pa.Table:
    """Return batches as one table, which is empty without batches."""
    import pyarrow as pa

    schema = pa.schema([*build_arrow_schema(), *own_fields])
    return pa.Table.from_batches(list(batches), schema)


def load_parts(paths: Iterable[Path], columns: FieldColumns | None) -> pa.Table:
    """Return the rows of parts as one table."""
    batches = (batch for path in paths for batch in read_part(path).to_batches())
    return concat_batches(batches, () if columns is None else columns.arrow_fields)


def build_repository_frame(
    rows: pa.Table, columns: FieldColumns | None = None, explode: str | None = None
) -> pd.DataFrame:
    """Return rows as a DataFrame, sorted by stars (descending), owner and name.

    Parameters
    ----------
    rows
        The rows.
    columns
        The columns of own fields in them, if there are any.
    explode
        A list in the rows whose items become rows.

    Raises
    ------
    FrameError
        If there is no such list.
    """
    import pandas as pd
    from pyarrow.compute import sort_indices, utf8_lower

    keys = rows.select(["stargazers"])
    for name in ("owner", "name"):  # GitHub compares logins and names without regard to case
        keys = keys.append_column(f"by {name}", utf8_lower(rows[name]))
    ordered = rows.take(sort_indices(keys, _SORT_KEYS))
    frame = pd.DataFrame()
    for name in build_arrow_schema().names:
        column = ordered[name]
        if name == "stargazers":
            frame[name] = pd.array(column.to_numpy(), dtype="Int64")
        elif name == "created_at":
            frame[name] = column.to_pandas()
        else:
            frame[name] = pd.array(column, dtype="string")
    if columns is not None:
        frame = columns.add_to_frame(frame, ordered)
    if explode is None:
        return frame
    if columns is None:
        msg = f"explode={sanitize_text(repr(explode), 80)}: the harvest has no fields= with lists."
        raise FrameError(msg)
    return columns.explode(frame, explode)


def read_part(path: Path) -> pa.Table:
    """Return the rows of a part."""
    import pyarrow as pa

    # Parquet stores no timestamps in seconds, so they come back in milliseconds.
    rows, schema = read_parquet(path).replace_schema_metadata(None), build_arrow_schema()
    return rows.cast(pa.schema([*schema, *list(rows.schema)[len(schema) :]]))

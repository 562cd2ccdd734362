"""A frame as a file: Parquet and CSV in which no value has become another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from gqlnb.result.frames import assemble_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.result.frames import FrameColumn

__all__ = ["write_csv", "write_parquet"]

PANDAS_ATTRS = b"PANDAS_ATTRS"  # where pandas itself keeps them


def write_parquet(parts: Mapping[str, FrameColumn], attrs: Any, file: Any, **options: Any) -> None:
    """Write columns as Parquet with their Arrow types, and what pandas needs to read them back.

    Parameters
    ----------
    parts
        The columns by name.
    attrs
        The ``attrs`` of the frame, JSON values.
    file
        A path, or a file that is open for bytes.
    **options
        Those of ``pyarrow.parquet.write_table``.
    """
    table = pa.table({name: _cast_dates(part.to_arrow()) for name, part in parts.items()})
    none = assemble_frame({name: part.to_pandas()[:0] for name, part in parts.items()}, 0)
    known = pa.Schema.from_pandas(none, preserve_index=False).metadata or {}
    more = {**known, PANDAS_ATTRS: json.dumps(attrs).encode()}
    pq.write_table(table.replace_schema_metadata(more), file, **options)


def _cast_dates(array: pa.Array) -> pa.Array:
    """Return days as moments, as which frames have them; as days pandas would read objects."""
    return array.cast(pa.timestamp("us")) if pa.types.is_date32(array.type) else array


def write_csv(parts: Mapping[str, FrameColumn], file: Any = None, **options: Any) -> str | None:
    """Write columns as CSV, lists and JSON values as JSON; return it as text where `file` is None.

    Parameters
    ----------
    parts
        The columns by name.
    file
        A path, or a file that is open for text.
    **options
        Those of ``pandas.DataFrame.to_csv``.
    """
    columns = {name: part.to_text_array() for name, part in parts.items()}
    frame = assemble_frame(columns, max(map(len, columns.values()), default=0))
    made: str | None = frame.to_csv(file, **{"index": False, **options})
    return made

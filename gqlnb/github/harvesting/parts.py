"""The Parquet parts of a harvest: each is there whole, or not at all."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from gqlnb.errors import OptionError, plain
from gqlnb.github.harvesting.rows import schema, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pyarrow as pa

__all__ = ["named", "read", "replaced", "strangers", "synced", "write"]

_NAME = re.compile(r"part-\d{5,}\.parquet")


def named(folder: Path, number: int) -> Path:
    """Return the file of a part, counted from 0."""
    return folder / f"part-{number:05}.parquet"


def write(
    folder: Path, number: int, batches: Iterable[pa.RecordBatch], about: Mapping[str, str]
) -> None:
    """Write a part; one of the same number is replaced.

    Parameters
    ----------
    folder
        Where it belongs.
    number
        Which one, from 0.
    batches
        Its rows.
    about
        What stands in the metadata of its schema.

    Raises
    ------
    OSError
        If it can't be written; nothing is left of it then.
    """
    import pyarrow.parquet as pq

    rows = table(batches).combine_chunks()
    rows = rows.replace_schema_metadata({f"gqlnb.{name}": text for name, text in about.items()})
    path = named(folder, number)
    # Readers of the whole folder pass over names that begin with an underscore.
    unfinished = folder / f"_{path.name}.tmp"
    try:
        pq.write_table(rows, unfinished, compression="zstd")
        replaced(unfinished, path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise


def read(path: Path) -> pa.Table:
    """Return the rows of a part as they were written."""
    import pyarrow.parquet as pq

    return pq.read_table(path).replace_schema_metadata(None).cast(schema())  # it keeps no seconds


def replaced(unfinished: Path, path: Path) -> None:
    """Put a finished file in the place of another one, for whoever reads and after a power cut."""
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)
    synced(path.parent)


def synced(folder: Path) -> None:
    """Have the system write down which files a folder holds."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def strangers(folder: Path) -> None:
    """Check that a folder holds no Parquet file but parts: it would be read as one.

    Raises
    ------
    OptionError
        If it does.
    """
    found = sorted(each.name for each in folder.glob("*.parquet") if not _NAME.fullmatch(each.name))
    if found:
        msg = (
            f"{plain(folder, 120)} holds {plain(found[0], 80)!r}, which is no part of a harvest "
            "and would be read as one. Name a folder of its own."
        )
        raise OptionError(msg)

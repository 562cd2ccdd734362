"""The files of a harvest: Parquet parts, files that survive a power failure, repeated rows."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from gqlnb.errors import OptionError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

ROWS_PER_GROUP = 20_000  # whose encoded columns are held in memory until they are written
_PARQUET_END = b"PAR1"
_PART_PATTERN = re.compile(r"part-\d{5,}\.parquet")


def build_part_path(folder: Path, number: int) -> Path:
    """Return the path of a part; `number` counts from 0."""
    return folder / f"part-{number:05}.parquet"


def write_part(folder: Path, number: int, rows: pa.Table, about: Mapping[str, str]) -> None:
    """Write or replace a part.

    Parameters
    ----------
    folder
        The folder of the harvest.
    number
        Number of the part, from 0.
    rows
        The rows, with metadata for pandas or none.
    about
        Further metadata of their schema.

    Raises
    ------
    OSError
        If it cannot be written; no partial file is left.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    metadata = {f"gqlnb.{name}".encode(): text.encode() for name, text in about.items()}
    metadata = {**(rows.schema.metadata or {}), **metadata}
    rows = rows.replace_schema_metadata(metadata)
    path = build_part_path(folder, number)
    # Readers of the whole folder (pandas, Dask, Spark) ignore names that begin with an underscore.
    unfinished = folder / f"_{path.name}.tmp"
    try:
        pq.write_table(rows, unfinished, compression="zstd", row_group_size=ROWS_PER_GROUP)
        replace_durably(unfinished, path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    # Arrow keeps what writing took, about 60 MB, in part too fragmented to be used again.
    pa.default_memory_pool().release_unused()


def find_lost_part(folder: Path, count: int) -> str | None:
    """Return which of the first `count` parts is missing or damaged, in words, or None."""
    for number in range(count):
        path = build_part_path(folder, number)
        if not path.exists():
            return f"{path.name} is missing"
        if not has_end(path):
            return f"{path.name} is damaged"
    return None


def has_end(path: Path) -> bool:
    """Return whether a Parquet file ends as one; a copy that was cut does not."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_PARQUET_END)))
        return file.read() == _PARQUET_END


def read_parquet(path: Path) -> pa.Table:
    """Return the rows of a part.

    Raises
    ------
    OptionError
        If its contents are damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowInvalid) as error:
        msg = (
            f"{sanitize_text(path.parent, 120)}: {path.name} is damaged "
            f"({sanitize_text(error, 120)}). Put it back."
        )
        raise OptionError(msg) from None


def remove_parts(folder: Path, first: int) -> None:
    """Remove the parts from number `first` on."""
    while (path := build_part_path(folder, first)).exists():
        path.unlink()
        first += 1


def replace_durably(unfinished: Path, path: Path) -> None:
    """Rename a finished file to `path`, atomically, and so that it survives a power failure."""
    with unfinished.open("r+b") as file:  # Windows refuses to sync a file opened for reading
        os.fsync(file.fileno())
    unfinished.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Write the directory entries of a folder to the disk, after a file was renamed or cut."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes) -> None:
    """Replace a file by `data`, as :func:`replace_durably` does."""
    unfinished = path.with_name(f"{path.name}.tmp")
    unfinished.write_bytes(data)
    replace_durably(unfinished, path)


def check_foreign_files(folder: Path) -> None:
    """Check that a folder contains no other Parquet files, which would be read as parts.

    Raises
    ------
    OptionError
        If it contains one.
    """
    names = sorted(file.name for file in folder.glob("*.parquet"))
    foreign = [name for name in names if not _PART_PATTERN.fullmatch(name)]
    if foreign:
        msg = (
            f"{sanitize_text(folder, 120)} holds {sanitize_text(foreign[0], 80)!r}, which is not a "
            "part of a harvest and would be read as one. Name a folder of its own."
        )
        raise OptionError(msg)


def find_repeated_rows(parts: Callable[[], Iterable[Sequence[str]]]) -> dict[int, dict[int, str]]:
    """Find the rows whose id comes again later.

    A set of all ids would take about 100 bytes per row. Instead their hashes take 8, and then the
    ids of the rows with equal hashes are compared.

    Parameters
    ----------
    parts
        Returns the ids of each part; it is called twice.

    Returns
    -------
    dict
        The ids of these rows by their index, by the number of their part, from 0.
    """
    hashes = [np.fromiter(map(hash, ids), np.int64, len(ids)) for ids in parts()]
    joined = np.sort(np.concatenate([np.empty(0, np.int64), *hashes]))
    suspects = set(joined[1:][joined[1:] == joined[:-1]].tolist())
    last: dict[str, tuple[int, int]] = {}
    found: dict[int, dict[int, str]] = {}
    for number, ids in enumerate(parts() if suspects else ()):
        for index, id_ in enumerate(ids):
            if hash(id_) in suspects:
                if id_ in last:
                    part, before = last[id_]
                    found.setdefault(part, {})[before] = id_
                last[id_] = number, index
    return found

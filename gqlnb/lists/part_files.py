"""The files of a harvest: Parquet parts, files that survive a power failure, repeated rows."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gqlnb.errors import OptionError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

T = TypeVar("T", "pa.Table", "pa.RecordBatch")

HASHES_AT_ONCE = 250_000  # hashes in memory: 2 MB, and as much for their places and their order
ROWS_PER_GROUP = 20_000  # whose encoded columns are held in memory until they are written
_PART_STRIDE = 2**32  # more than the rows of any part
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


def drop_rows(rows: T, places: Sequence[int]) -> T:
    """Return a table or batch without the rows at the given indexes."""
    import pyarrow as pa

    mask = np.ones(rows.num_rows, dtype=bool)
    mask[list(places)] = False
    return rows.filter(pa.array(mask))


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


def find_repeated_rows(
    parts: Callable[[], Iterable[Iterable[Sequence[str]]]],
    rows: int,
    at_once: int = HASHES_AT_ONCE,
) -> dict[int, list[int]]:
    """Find the rows that repeat the id of an earlier row.

    A set of all ids would take about 100 bytes per row. Instead the parts are read once per
    `at_once` ids for the rows with equal hashes, and then once more to compare the ids of those.

    Parameters
    ----------
    parts
        Returns the ids of each part, in pieces of any length; it is called several times.
    rows
        Approximate number of ids.
    at_once
        Number of hashes to hold in memory.

    Returns
    -------
    dict
        Sorted indexes of the repeated rows, by the number of their part, from 0.
    """
    shares = max(1, -(-rows // at_once))
    suspects = np.concatenate([_find_equal_hashes(parts, n, shares) for n in range(shares)])
    if not len(suspects):
        return {}
    suspects.sort()
    seen: set[str] = set()
    found: dict[int, list[int]] = {}
    for number, first, ids in _iterate_pieces(parts):
        begin, end = np.searchsorted(suspects, [first, first + len(ids)])
        for place in suspects[begin:end].tolist():
            if ids[place - first] in seen:
                found.setdefault(number, []).append(place % _PART_STRIDE)
            seen.add(ids[place - first])
    return found


def _iterate_pieces(
    parts: Callable[[], Iterable[Iterable[Sequence[str]]]],
) -> Iterator[tuple[int, int, Sequence[str]]]:
    """Yield the number of the part, the number of the first row, and the ids of each piece."""
    for number, pieces in enumerate(parts()):
        first = number * _PART_STRIDE
        for ids in pieces:
            yield number, first, ids
            first += len(ids)


def _find_equal_hashes(
    parts: Callable[[], Iterable[Iterable[Sequence[str]]]], share: int, shares: int
) -> NDArray[np.int64]:
    """Return the rows with equal hashes, among the share of hashes that is `share` modulo `shares`.

    Rows are numbered as number of the part times `_PART_STRIDE` plus index.
    """
    hashes, places = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for _, first, ids in _iterate_pieces(parts):
        all_hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
        indexes = np.flatnonzero(all_hashes % shares == share)
        hashes.append(all_hashes[indexes])
        places.append(indexes + first)
    joined = np.concatenate(hashes)
    order = np.argsort(joined)
    joined = joined[order]
    equal = np.flatnonzero(joined[1:] == joined[:-1])
    return np.unique(np.concatenate(places)[order[np.concatenate([equal, equal + 1])]])

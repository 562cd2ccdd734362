"""Rows of a harvest as Arrow columns, which take a tenth of the memory, and as a DataFrame."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gqlnb.errors import OptionError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from gqlnb.github.harvester.search_windows import RepositoryRow

__all__ = [
    "HASHES_AT_ONCE",
    "build_arrow_schema",
    "build_batch",
    "build_part_path",
    "build_repository_frame",
    "check_foreign_files",
    "concat_batches",
    "drop_rows",
    "find_repeated_rows",
    "read_part",
    "replace_durably",
    "sync_folder",
    "write_part",
]

T = TypeVar("T", bound=Any)

_SORT_KEYS = [("stargazers", "descending"), ("by owner", "ascending"), ("by name", "ascending")]


@cache
def build_arrow_schema() -> pa.Schema:
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


def build_batch(rows: Sequence[RepositoryRow]) -> pa.RecordBatch:
    """Return rows as Arrow columns."""
    import pyarrow as pa

    made = build_arrow_schema()
    ids, stars, created, names, owners = zip(*rows, strict=True) if rows else ((),) * 5
    columns = (names, owners, stars, created, ids)
    return pa.record_batch(
        [pa.array(values, each.type) for values, each in zip(columns, made, strict=True)], made
    )


def concat_batches(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Return batches as one table."""
    import pyarrow as pa

    return pa.Table.from_batches(list(batches), build_arrow_schema())


def drop_rows(rows: T, places: Sequence[int]) -> T:
    """Return a table, or a batch, without the rows at some places."""
    import numpy as np
    import pyarrow as pa

    kept = np.ones(rows.num_rows, dtype=bool)
    kept[list(places)] = False
    left: T = rows.filter(pa.array(kept))
    return left


def build_repository_frame(rows: pa.Table) -> pd.DataFrame:
    """Return rows as a DataFrame, most stars first, equal ones in the order of owner and name."""
    import pandas as pd
    from pyarrow.compute import sort_indices, utf8_lower

    keys = rows.select(["stargazers"])
    for name in ("owner", "name"):  # in any case, as logins and names are alike in any case
        keys = keys.append_column(f"by {name}", utf8_lower(rows[name]))
    ordered = rows.take(sort_indices(keys, _SORT_KEYS))
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


_PART_PATTERN = re.compile(r"part-\d{5,}\.parquet")


def build_part_path(folder: Path, number: int) -> Path:
    """Return the file of a part, counted from 0."""
    return folder / f"part-{number:05}.parquet"


def write_part(
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

    rows = concat_batches(batches).combine_chunks()
    rows = rows.replace_schema_metadata({f"gqlnb.{name}": text for name, text in about.items()})
    path = build_part_path(folder, number)
    # Readers of the whole folder pass over names that begin with an underscore.
    unfinished = folder / f"_{path.name}.tmp"
    try:
        pq.write_table(rows, unfinished, compression="zstd")
        replace_durably(unfinished, path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise


def read_part(path: Path) -> pa.Table:
    """Return the rows of a part as they were written."""
    import pyarrow.parquet as pq

    return (
        pq.read_table(path).replace_schema_metadata(None).cast(build_arrow_schema())
    )  # it keeps no seconds


def replace_durably(unfinished: Path, path: Path) -> None:
    """Put a finished file in the place of another one, for whoever reads and after a power cut."""
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the system write down which files a folder holds."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def check_foreign_files(folder: Path) -> None:
    """Check that a folder holds no Parquet file but parts: it would be read as one.

    Raises
    ------
    OptionError
        If it does.
    """
    found = sorted(
        each.name for each in folder.glob("*.parquet") if not _PART_PATTERN.fullmatch(each.name)
    )
    if found:
        msg = (
            f"{sanitize_text(folder, 120)} holds {sanitize_text(found[0], 80)!r}, which is no part of a harvest "
            "and would be read as one. Name a folder of its own."
        )
        raise OptionError(msg)


HASHES_AT_ONCE = 250_000  # hashes in memory, 2 MB, and as much for their places and their order
_PART_STRIDE = 2**32  # more than the rows of any part


def find_repeated_rows(
    parts: Callable[[], Iterable[Sequence[str]]], rows: int, at_once: int = HASHES_AT_ONCE
) -> dict[int, list[int]]:
    """Return which ids have come before.

    Parameters
    ----------
    parts
        Returns the ids of each part; it is called several times.
    rows
        How many ids there are, roughly.
    at_once
        How many to look at together.

    Returns
    -------
    dict
        By the number of the part, counted from 0, the places of those ids in it, in their order.
    """
    turns = max(1, -(-rows // at_once))
    suspects = np.concatenate([_find_equal_hashes(parts, turn, turns) for turn in range(turns)])
    if not len(suspects):
        return {}
    suspects.sort()
    seen: set[str] = set()
    found: dict[int, list[int]] = {}
    for number, ids in enumerate(parts()):
        begin, end = np.searchsorted(suspects, [number * _PART_STRIDE, (number + 1) * _PART_STRIDE])
        for place in (suspects[begin:end] - number * _PART_STRIDE).tolist():
            if ids[place] in seen:
                found.setdefault(number, []).append(place)
            seen.add(ids[place])
    return found


def _find_equal_hashes(
    parts: Callable[[], Iterable[Sequence[str]]], turn: int, turns: int
) -> NDArray[np.int64]:
    """Return the places of ids with equal hashes, of one share of all hashes."""
    shares = [*_iterate_hashes(parts(), turn, turns)]
    hashes = np.concatenate([np.empty(0, np.int64), *(each for each, _ in shares)])
    places = np.concatenate([np.empty(0, np.int64), *(each for _, each in shares)])
    order = np.argsort(hashes)
    hashes = hashes[order]
    equal = np.flatnonzero(hashes[1:] == hashes[:-1])
    return np.unique(places[order[np.concatenate([equal, equal + 1])]])


def _iterate_hashes(
    parts: Iterable[Sequence[str]], turn: int, turns: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the hashes of one share, and where their ids stand."""
    for number, ids in enumerate(parts):
        hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
        mine = np.flatnonzero(hashes % turns == turn)
        yield hashes[mine], mine + number * _PART_STRIDE

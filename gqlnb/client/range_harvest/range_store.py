"""The rows of a harvest in ranges: in memory, or a folder with Parquet parts and a log."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING, Self

import msgspec

from gqlnb.client.range_harvest.harvest_log import (
    COVERAGE_NAME,
    RESTART_HINT,
    FolderLock,
    HarvestLog,
    LogHeader,
)
from gqlnb.client.range_harvest.part_files import (
    build_part_path,
    drop_rows,
    find_repeated_rows,
    remove_parts,
    replace_durably,
    write_part,
)
from gqlnb.client.range_harvest.range_state import (
    Changes,
    Event,
    HarvestState,
    RangeCoverage,
    RangeStep,
)
from gqlnb.document.json_codec import dump_valid_json
from gqlnb.errors import OptionError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

__all__ = [
    "ROWS_PER_PART",
    "RangeStore",
    "compare_hashes",
    "concat_tables",
    "hash_rows",
    "unify_texts",
]

ROWS_PER_PART = 100_000
PREVIOUS_NAME = "_previous.hashes"  # in the format of Parquet, but not a part
_EVENT_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of consecutive readings.

    Attributes
    ----------
    segments
        The numbers of the readings, each with its number of rows.
    table
        The rows; None if they are in a file.
    path
        The file.
    """

    segments: list[tuple[int, int]]
    table: pa.Table | None = None
    path: Path | None = None

    def load(self) -> pa.Table:
        """Return the rows."""
        import pyarrow.parquet as pq

        return self.table if self.path is None else pq.read_table(self.path)

    def drop_rows(self, indexes: Sequence[int]) -> tuple[pa.Table, list[tuple[int, int]]]:
        """Return the rows and the segments without the rows at some indexes."""
        readings = [number for number, rows in self.segments for _ in range(rows)]
        dropped = Counter(readings[index] for index in indexes)
        left = [(number, rows - dropped[number]) for number, rows in self.segments]
        return drop_rows(self.load(), indexes), [pair for pair in left if pair[1]]


class RangeStore:
    """The rows of a harvest, and its state.

    Parameters
    ----------
    folder
        The folder; None for memory.
    header
        The first line of the log.
    resume
        Whether to continue the harvest in the folder; else it is removed.
    rows_per_part
        Number of rows per part; a part may have as many more as a range.

    Attributes
    ----------
    state
        The state of the harvest.
    """

    def __init__(
        self,
        folder: Path | None,
        header: LogHeader,
        *,
        resume: bool = True,
        rows_per_part: int = ROWS_PER_PART,
    ) -> None:
        self.folder, self._header = folder, header
        self._resume, self._rows_per_part = resume, rows_per_part
        self.state = HarvestState()
        self._parts: list[Part] = []  # in files
        self._new: list[Part] = []  # in memory, and in the log
        self._paused: RangeCoverage | None = None
        self._log = None if folder is None else HarvestLog(folder, header, _EVENT_DECODER)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            if self.folder is not None and self._log is not None:
                stack.enter_context(FolderLock(self.folder))
                stack.callback(self._log.close)
                self._restore()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the log and unlock the folder."""
        self._stack.close()

    def _restore(self) -> None:
        """Read the log and the parts of the folder."""
        folder, log = self.folder, self._log
        assert folder is not None  # noqa: S101 - for mypy
        assert log is not None  # noqa: S101 - for mypy
        if not log.begin(self.state, resume=self._resume):
            return
        for event in log.read_events():
            if isinstance(event, HarvestState):
                self.state, self._new = event, []
            elif not self.state.pending:
                msg = (
                    f"The log in {sanitize_text(folder, 120)} is broken: it goes on after its end. "
                    f"{RESTART_HINT}"
                )
                raise OptionError(msg)
            else:
                self.state.apply_step(event)
                self._hold_rows(event, _decode_rows(event.rows) if event.rows else None)
        log.check_parts(self.state.parts)
        if not self.state.is_ended:
            log.remove_coverage()
        remove_parts(folder, self.state.parts)
        for number in range(self.state.parts):
            path = build_part_path(folder, number)
            self._parts.append(Part(_read_segments(path), path=path))

    @property
    def rows(self) -> int:
        """The number of rows, repeated ones included."""
        return sum(rows for part in self._list_parts() for _, rows in part.segments)

    @property
    def has_columns(self) -> bool:
        """Whether a range was read, even if it is empty."""
        return bool(self._list_parts())

    def add_step(self, step: RangeStep, table: pa.Table | None) -> None:
        """Log a step and add its rows, which are safe from interruption then."""
        if self._log is not None:
            rows = b"" if table is None else _encode_rows(table)
            self._log.append_event(msgspec.structs.replace(step, rows=rows))
        self.state.apply_step(step)
        self._hold_rows(step, table)
        if sum(rows for part in self._new for _, rows in part.segments) >= self._rows_per_part:
            self.save_state()

    def _hold_rows(self, step: RangeStep, table: pa.Table | None) -> None:
        # Without rows the columns are kept once.
        if table is not None and step.reading and (table.num_rows or not self._list_parts()):
            self._new.append(Part([(step.reading.number, table.num_rows)], table))

    def save_state(self) -> None:
        """Write the rows that are in memory as a part, and the state to the log."""
        if self.folder is None or self._log is None:
            self._parts, self._new = self._list_parts(), []
            return
        if self._new:
            segments = [pair for part in self._new for pair in part.segments]
            table = concat_tables([part.load() for part in self._new])
            self._parts.append(self._write_part(len(self._parts), table, segments))
            self._new = []
        self.state.parts = len(self._parts)
        self._log.restart_at(self.state)

    def _write_part(self, number: int, table: pa.Table, segments: list[tuple[int, int]]) -> Part:
        assert self.folder is not None  # noqa: S101 - for mypy
        readings = {"readings": dump_valid_json(segments).decode()}
        write_part(self.folder, number, table, self._header.build_metadata() | readings)
        return Part(segments, path=build_part_path(self.folder, number))

    def remove_old_rows(self) -> tuple[Counter[int], list[str]]:
        """Drop the rows of replaced readings, and keep the last of rows with equal ids.

        Returns
        -------
        (Counter, list)
            The number of rows left by reading, and the ids of which a row was dropped.
        """
        self.save_state()
        current = {reading.number for reading in self.state.readings}
        replaced: dict[int, list[int]] = {}
        for number, part in enumerate(self._parts):
            readings = [number for number, rows in part.segments for _ in range(rows)]
            if indexes := [n for n, reading in enumerate(readings) if reading not in current]:
                replaced[number] = indexes
        self._drop_rows(replaced)
        last = len(self._parts) - 1  # the rows are read backwards, as the first of equal ones stays
        sizes = [sum(rows for _, rows in part.segments) for part in self._parts]
        found = find_repeated_rows(
            lambda: ([self.list_keys(part)[::-1]] for part in reversed(self._parts)), self.rows
        )
        repeated = {
            last - number: [sizes[last - number] - 1 - index for index in indexes]
            for number, indexes in found.items()
        }
        moved = list[str]()
        for number, indexes in repeated.items():
            keys = self.list_keys(self._parts[number])
            moved += [keys[index] for index in indexes]
        self._drop_rows(repeated)
        left = Counter[int]()
        for part in self._parts:
            for number, rows in part.segments:
                left[number] += rows
        return left, moved

    def _drop_rows(self, places: dict[int, list[int]]) -> None:
        for number, indexes in places.items():
            table, segments = self._parts[number].drop_rows(indexes)
            if self.folder is None:
                self._parts[number] = replace(self._parts[number], table=table, segments=segments)
            else:
                self._parts[number] = self._write_part(number, table, segments)

    def list_keys(self, part: Part) -> list[str]:
        """Return the keys that identify the rows of a part."""
        return list_row_keys(part.load(), self.state.id, part.segments)

    def _list_parts(self) -> list[Part]:
        return [*self._parts, *self._new]

    def load_tables(self) -> list[pa.Table]:
        """Return the rows of each part."""
        return [part.load() for part in self._list_parts()]

    def save_fingerprints(self) -> None:
        """Keep a hash of each row to find the changes of a refresh; remove the report before."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        assert self.folder is not None  # noqa: S101 - for mypy
        (self.folder / COVERAGE_NAME).unlink(missing_ok=True)
        prints = self._read_fingerprints()
        table = pa.table({"key": list(prints), "hash": list(prints.values())})
        unfinished = self.folder / f"{PREVIOUS_NAME}.tmp"
        pq.write_table(table, unfinished)
        replace_durably(unfinished, self.folder / PREVIOUS_NAME)

    def find_changes(self) -> Changes | None:
        """Compare the rows with the hashes kept before, or None."""
        import pyarrow.parquet as pq

        assert self.folder is not None  # noqa: S101 - for mypy
        path = self.folder / PREVIOUS_NAME
        if not path.exists():
            return None
        before = dict(zip(*(column.to_pylist() for column in pq.read_table(path)), strict=True))
        now = self._read_fingerprints()
        return compare_hashes(before, now)

    def _read_fingerprints(self) -> dict[str, bytes]:
        """Return a hash of each row by its key; the same in every process."""
        prints: dict[str, bytes] = {}
        for part in self._list_parts():
            prints |= hash_rows(part.load(), self.list_keys(part))
        return prints

    @property
    def coverage(self) -> RangeCoverage | None:
        """The report on the harvest, finished or stopped; None while it runs."""
        return self.state.coverage or self._paused

    def pause(self, coverage: RangeCoverage) -> None:
        """Keep the report on a stopped harvest, which the next run continues."""
        self._paused = coverage

    def finish(self, coverage: RangeCoverage) -> None:
        """Write the report and mark the harvest as ended."""
        self.state.coverage = coverage
        if self._log is not None:
            values = {"complete": coverage.complete, **msgspec.to_builtins(coverage)}
            self._log.write_coverage(self._header.encode_report(values))
        self.save_state()
        if self.folder is not None:
            (self.folder / PREVIOUS_NAME).unlink(missing_ok=True)


def hash_rows(table: pa.Table, keys: Sequence[str]) -> dict[str, bytes]:
    """Return a hash of each row by its key; the same in every process."""
    rows = zip(keys, table.to_pylist(), strict=True)
    return {key: blake2b(str(row).encode(), digest_size=8).digest() for key, row in rows}


def compare_hashes(before: Mapping[str, bytes], now: Mapping[str, bytes]) -> Changes:
    """Return the keys that were added, removed, or have another hash."""
    return Changes(
        added=[key for key in now if key not in before],
        changed=[key for key in now if before.get(key, now[key]) != now[key]],
        removed=[key for key in before if key not in now],
    )


def list_row_keys(
    table: pa.Table, id_: str | None, segments: Sequence[tuple[int, int]]
) -> list[str]:
    """Return keys that identify rows: their ids, or the whole rows with numbers.

    Equal rows of one reading are different rows, so they are numbered within it.
    """
    if id_ is not None and id_ in table.column_names:
        ids = table[id_].to_pylist()
        if None not in ids:
            return [str(value) for value in ids]
    keys, rows = list[str](), iter(table.to_pylist())
    for _, count in segments:
        seen = Counter[str]()
        for _ in range(count):
            text = str(next(rows))
            seen[text] += 1
            keys.append(f"{text} {seen[text]}")
    return keys


def concat_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables as one; columns without a value get the type that others have."""
    import pyarrow as pa

    tables = unify_texts(tables)
    types: dict[str, pa.DataType] = {}
    for table in tables:
        for field in table.schema:
            if field.name not in types or table[field.name].null_count < table.num_rows:
                types[field.name] = field.type
    fitted = [
        pa.table(
            {
                name: table[name]
                if name in table.column_names and table[name].type == kind
                else _cast_column(table, name, kind)
                for name, kind in types.items()
            }
        )
        for table in tables
    ]
    return pa.concat_tables(fitted, promote_options="permissive").replace_schema_metadata(
        tables[-1].schema.metadata
    )


def unify_texts(tables: Sequence[pa.Table]) -> Sequence[pa.Table]:
    """Return tables with text in the columns that are text in one of them alone.

    Such a column is kept as received in one part, because one of its values does not fit.
    """
    import pyarrow as pa

    text, kinds, with_text = pa.large_string(), dict[str, set[pa.DataType]](), set[str]()
    for table in tables:
        for field in table.schema:
            kinds.setdefault(field.name, set()).add(field.type)
            if field.type == text and table[field.name].null_count < table.num_rows:
                with_text.add(field.name)
    mixed = {name for name in with_text if len(kinds[name]) > 1}
    return [_write_texts(table, mixed) for table in tables] if mixed else tables


def _write_texts(table: pa.Table, names: set[str]) -> pa.Table:
    """Return a table with text in the columns of these names, also for pandas."""
    import pyarrow as pa

    metadata = dict(table.schema.metadata or {})
    for at, field in enumerate(table.schema):
        if field.name in names:
            try:
                texts = table[field.name].cast(pa.large_string())
            except pa.ArrowException:  # lists
                values = [
                    None if value is None else msgspec.json.encode(value, enc_hook=str).decode()
                    for value in table[field.name].to_pylist()
                ]
                texts = pa.array(values, pa.large_string())
            table = table.set_column(at, field.name, texts)
    described = msgspec.json.decode(metadata.get(b"pandas", b'{"columns":[]}'))
    for column in described["columns"]:
        if column["name"] in names:
            column["numpy_type"] = "object"
    return table.replace_schema_metadata({**metadata, b"pandas": msgspec.json.encode(described)})


def _cast_column(table: pa.Table, name: str, kind: pa.DataType) -> pa.ChunkedArray:
    import pyarrow as pa

    if name not in table.column_names or table[name].null_count == table.num_rows:
        return pa.chunked_array([pa.nulls(table.num_rows, kind)])
    return table[name]  # the types are promoted where they are concatenated


def _encode_rows(table: pa.Table) -> bytes:
    import pyarrow.parquet as pq

    file = BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def _decode_rows(rows: bytes) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(BytesIO(rows))


def _read_segments(path: Path) -> list[tuple[int, int]]:
    import pyarrow.parquet as pq

    metadata = pq.read_schema(path).metadata or {}
    return msgspec.json.decode(metadata[b"gqlnb.readings"], type=list[tuple[int, int]])

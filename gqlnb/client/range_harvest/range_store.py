"""The state and the rows of a harvest in ranges, and their store."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.client.range_harvest.slices import ValueRange, parse_value
from gqlnb.lists.part_files import drop_rows, find_repeated_rows, replace_durably
from gqlnb.lists.report import Changes
from gqlnb.lists.store import (
    COVERAGE_NAME,
    ROWS_PER_PART,
    HarvestStore,
    LogHeader,
    Part,
    StoredState,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from gqlnb.lists.report import Coverage

__all__ = [
    "Ends",
    "RangeState",
    "RangeStep",
    "RangeStore",
    "Reading",
    "are_frequent",
    "compare_hashes",
    "concat_tables",
    "find_most_rows",
    "hash_rows",
    "unify_texts",
]

Ends = tuple[Any, Any]  # of a range, as JSON values in the log


class Reading(msgspec.Struct, kw_only=True):
    """A range that was read.

    Attributes
    ----------
    number
        Its number among all readings.
    ends
        The range.
    count
        The number of rows according to the endpoint; None if it does not say.
    got
        The number of rows that came.
    doubt
        The reason why completeness is not proved; empty if it is.
    has_lasting_doubt
        Whether another reading has the same doubt, as the endpoint does not count rows, or returns
        no more of them.
    requests
        The number of requests; the rows of a single one are of one moment.
    digest
        A hash of the ids of its rows.
    is_verified
        Whether another reading of the range returned the same rows.
    """

    number: int
    ends: Ends
    count: int | None
    got: int
    doubt: str = ""
    has_lasting_doubt: bool = False
    requests: int = 1
    digest: str = ""
    is_verified: bool = False


class RangeStep(msgspec.Struct, tag="range", kw_only=True):
    """A range was taken: it was read, or divided.

    Attributes
    ----------
    ends
        The range.
    parts
        The ranges into which it was divided; empty if it was read.
    reading
        The reading; None if it was divided.
    rows
        The rows of the reading, as a Parquet file.
    requests
        The number of requests.
    intervals, unstable
        The number of intervals between requests after which a change would have shown, and of
        readings in which rows changed.
    notes
        Notes of the endpoint on the answers, by a key that is the same for equal notes.
    """

    ends: Ends
    parts: list[Ends] = []
    reading: Reading | None = None
    rows: bytes = b""
    requests: int = 0
    intervals: int = 0
    unstable: int = 0
    notes: dict[str, str] = {}


class RangeState(StoredState, tag="state", kw_only=True):
    """The state of a harvest.

    Attributes
    ----------
    kind
        The kind of the values, as of :func:`find_kind`; empty before the first row.
    id
        The column that identifies a row, or None.
    has_nulls
        Whether the column may be null.
    total
        The number of rows at the beginning.
    started, previous
        The beginning of this harvest and of the one before, in seconds since 1970.
    pinned
        The last value, if the range was open and later rows are left out.
    pending
        The ranges to read; the last is the next.
    readings
        The ranges that were read.
    numbers
        The number of readings, replaced ones included.
    pages, counts
        Numbers of requests for rows, and of those that only counted.
    intervals, unstable
        The number of intervals between requests after which a change would have shown, and of
        readings in which rows changed.
    moves
        The number of times that the count of a range had changed when it was counted again.
    repeated
        The number of ranges that were read again.
    changes
        The differences to the harvest before; None if there was none.
    """

    kind: str = ""
    id: str | None = None
    has_nulls: bool = True
    total: int | None = None
    started: float = 0.0
    previous: float = 0.0
    pinned: Any = None
    pending: list[Ends] = msgspec.field(default_factory=list)
    readings: list[Reading] = msgspec.field(default_factory=list)
    numbers: int = 0
    pages: int = 0
    counts: int = 0
    intervals: int = 0
    unstable: int = 0
    moves: int = 0
    repeated: int = 0
    changes: Changes | None = None

    @property
    def is_moving(self) -> bool:
        """Whether rows change so often that changes may hide each other between two pages."""
        return are_frequent(self.unstable, self.intervals)

    def parse_range(self, ends: Ends) -> ValueRange:
        """Return a range with values of Python."""
        return ValueRange(*(parse_value(self.kind, end) if self.kind else end for end in ends))

    def apply_step(self, step: RangeStep) -> None:
        """Change the state after a range was read or divided."""
        self.pending.remove(step.ends)
        self.pages += step.requests
        self.intervals += step.intervals
        self.unstable += step.unstable
        self.add_notes(step.notes)
        if step.reading is None:
            self.pending.extend(reversed(step.parts))
            return
        self.numbers = step.reading.number + 1
        self.readings.append(step.reading)


# Changes come at random. If `seen` were seen in some intervals, about seen² / (4 * intervals) pairs
# of them, such as a deletion and an insertion, hid each other: less than 1/80 below this limit.
def are_frequent(seen: int, intervals: int) -> bool:
    """Return whether so many changes were seen that others may have hidden each other."""
    return seen**2 * 20 > intervals


def find_most_rows(count: int, cap: int | None) -> int:
    """Return the number of rows above which a list has grown beyond all rows that change."""
    return 2 * count + 10 * (cap or 1000)


PREVIOUS_NAME = "_previous.hashes"  # in the format of Parquet, but not a part
_DECODER: msgspec.json.Decoder[RangeState | RangeStep] = msgspec.json.Decoder(
    RangeState | RangeStep
)


class RangeStore(HarvestStore[RangeState]):
    """The store of a harvest in ranges.

    Parameters
    ----------
    folder, header, resume, rows_per_part
        As of :class:`gqlnb.lists.store.HarvestStore`.
    """

    def __init__(
        self,
        folder: Path | None,
        header: LogHeader,
        *,
        resume: bool = True,
        rows_per_part: int = ROWS_PER_PART,
    ) -> None:
        super().__init__(
            folder, header, RangeState(), _DECODER, resume=resume, rows_per_part=rows_per_part
        )
        self._paused: Coverage | None = None

    def _replay(self, event: RangeStep) -> None:
        """Change the state and the rows as a step of the log did."""
        self._hold_step(event, _decode_rows(event.rows) if event.rows else None)

    def _concat(self, tables: Sequence[pa.Table]) -> pa.Table:
        return concat_tables(tables)

    @property
    def has_columns(self) -> bool:
        """Whether a range was read, even if it is empty."""
        return bool(self._list_parts())

    def add_step(self, step: RangeStep, table: pa.Table | None) -> None:
        """Log a step and add its rows, which are safe from interruption then."""
        if self.folder is not None:
            rows = b"" if table is None else _encode_rows(table)
            self._append_event(msgspec.structs.replace(step, rows=rows))
        self._hold_step(step, table)
        self._save_full_part()

    def _hold_step(self, step: RangeStep, table: pa.Table | None) -> None:
        self.state.apply_step(step)
        # Without rows the columns are kept once.
        if table is not None and step.reading and (table.num_rows or not self._list_parts()):
            self._new.append(Part([(step.reading.number, table.num_rows)], table))

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
        """Remove the rows at some indexes of parts, by the number of the part."""
        for number, indexes in places.items():
            part = self._parts[number]
            readings = [reading for reading, rows in part.segments for _ in range(rows)]
            dropped = Counter(readings[index] for index in indexes)
            left = [(reading, rows - dropped[reading]) for reading, rows in part.segments]
            table, left = drop_rows(part.load(), indexes), [pair for pair in left if pair[1]]
            in_folder = self.folder is not None
            self._parts[number] = (
                self._write_part(number, table, left) if in_folder else Part(left, table)
            )

    def list_keys(self, part: Part) -> list[str]:
        """Return the keys that identify the rows of a part."""
        return list_row_keys(part.load(), self.state.id, part.segments)

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
    def coverage(self) -> Coverage | None:
        """The report on the harvest, finished or stopped; None while it runs."""
        return self.state.coverage or self._paused

    def pause(self, coverage: Coverage) -> None:
        """Keep the report on a stopped harvest, which the next run continues."""
        self._paused = coverage

    def finish(self, coverage: Coverage) -> None:
        """Write the report and mark the harvest as ended."""
        super().finish(coverage)
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

"""The state and the rows of the harvest of a list, their store, and the result."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from itertools import compress
from math import ceil
from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.lists.columns import ValueRange, parse_value
from gqlnb.lists.report import Changes, StoredState
from gqlnb.lists.store import (
    COVERAGE_NAME,
    HarvestStore,
    Part,
    find_repeated_rows,
    write_durably,
)
from gqlnb.option_checks import explain_keywords
from gqlnb.result.answer_notes import format_notes, summarize_notes
from gqlnb.result.renderer import register_frame_display, render_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from gqlnb.lists.report import Coverage

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
    doubt
        The reason why completeness is not proved; empty if it is.
    has_lasting_doubt
        Whether another reading has the same doubt, as the endpoint does not count rows, or returns
        no more of them.
    may_improve
        Whether another reading may prove it: a field failed, or rows may have been skipped between
        pages without a count. A reading after a deletion lacks the deleted rows, so that two
        readings with the same rows have skipped none.
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
    doubt: str = ""
    has_lasting_doubt: bool = False
    may_improve: bool = False
    requests: int = 1
    digest: str = ""
    is_verified: bool = False


class ListState(StoredState, tag="state", kw_only=True):
    """The state of a harvest.

    Attributes
    ----------
    kind
        The kind of the values, as of :func:`find_kind`; empty before the first row.
    id
        The column that identifies a row, or None.
    has_nulls
        Whether the column may be null.
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
    seen
        The number of changes that were seen: readings in which rows changed, and ranges whose count
        had changed when they were counted again.
    changes
        The differences to the harvest before; None if there was none.
    rows
        In the log, after the first state: the rows of the new reading, as a Parquet file.
    """

    kind: str = ""
    id: str | None = None
    has_nulls: bool = True
    started: float = 0.0
    previous: float = 0.0
    pinned: Any = None
    pending: list[Ends] = msgspec.field(default_factory=list)
    readings: list[Reading] = msgspec.field(default_factory=list)
    numbers: int = 0
    seen: int = 0
    changes: Changes | None = None
    rows: bytes = b""

    @property
    def is_moving(self) -> bool:
        """Whether so many changes were seen that others may have hidden each other."""
        return are_frequent(self.seen, len(self.readings))

    def parse_range(self, ends: Ends) -> ValueRange:
        """Return a range with values of Python."""
        return ValueRange(*(parse_value(self.kind, end) if self.kind else end for end in ends))


# Changes come at random. If `seen` were seen in some intervals, about seen² / (4 * intervals) pairs
# of them, such as a deletion and an insertion, hid each other: less than 1/80 below this limit.
def are_frequent(seen: int, intervals: int) -> bool:
    """Return whether so many changes were seen that others may have hidden each other."""
    return seen**2 * 20 > intervals


def find_most_rows(count: int, cap: int | None) -> int:
    """Return the number of rows above which a list has grown beyond all rows that change."""
    return 2 * count + 10 * (cap or 1000)


PREVIOUS_NAME = "_previous.json"


class ListStore(HarvestStore[ListState]):
    """The store of a harvest in ranges."""

    state_type = ListState
    decoder = msgspec.json.Decoder(ListState)

    def _take_state(self, state: ListState) -> None:
        import pyarrow.parquet as pq

        new, rows = state.readings, state.rows
        state.readings, state.rows = self.state.readings, b""
        self.state = state
        for reading in new:
            self._hold_reading(reading, pq.read_table(BytesIO(rows)))

    def _concat(self, tables: Sequence[pa.Table]) -> pa.Table:
        return concat_tables(tables)

    @property
    def has_columns(self) -> bool:
        """Whether a range was read, even if it is empty."""
        return bool(self._list_parts())

    def add_reading(self, reading: Reading | None, table: pa.Table) -> None:
        """Log the state, and a reading with its rows, which are safe from interruption then.

        Parameters
        ----------
        reading
            The reading; None if its range was divided.
        table
            Its rows.
        """
        import pyarrow.parquet as pq

        if self.folder is not None:
            rows = BytesIO()
            if reading is not None:
                pq.write_table(table, rows, compression="zstd")
            new = [] if reading is None else [reading]
            self._log_state(readings=new, rows=rows.getvalue())
        if reading is not None:
            self._hold_reading(reading, table)
            self._save_full_part()

    def _hold_reading(self, reading: Reading, table: pa.Table) -> None:
        self.state.readings.append(reading)
        if table.num_rows or not self._list_parts():  # without rows the columns are kept once
            self._new.append(Part([(reading.number, table.num_rows)], table))

    def remove_old_rows(self, moved: dict[str, None]) -> Counter[int]:
        """Drop the rows of replaced readings, and all but the last of rows with equal ids.

        Parameters
        ----------
        moved
            The ids of which a row was dropped; more are added.

        Returns
        -------
        Counter
            The number of rows left by reading.
        """
        self.save_state()
        current, left = {reading.number for reading in self.state.readings}, Counter[int]()
        for number, part in enumerate(self._parts):
            readings = part.list_readings()
            self._drop_rows(number, {n for n, each in enumerate(readings) if each not in current})
        repeated = find_repeated_rows(lambda: map(self.list_keys, self._parts))
        for number, ids in repeated.items():
            self._drop_rows(number, ids.keys())
            moved |= dict.fromkeys(ids.values())
        for part in self._parts:
            left.update(part.list_readings())
        return left

    def _drop_rows(self, number: int, indexes: Set[int]) -> None:
        """Remove the rows at some indexes of a part."""
        if not indexes:
            return
        part = self._parts[number]
        readings, table = part.list_readings(), part.load()
        is_left = [index not in indexes for index in range(len(readings))]
        left = [*Counter(compress(readings, is_left)).items()]
        table = table.filter(is_left)
        in_folder = self.folder is not None
        self._parts[number] = (
            self._write_part(number, table, left) if in_folder else Part(left, table)
        )

    def list_keys(self, part: Part) -> list[str]:
        """Return the keys that identify the rows of a part: ids, or whole rows with numbers."""
        table, id_ = part.load(), self.state.id
        if id_ is not None and id_ in table.column_names:
            ids = table[id_].to_pylist()
            if None not in ids:
                return [str(value) for value in ids]
        # Equal rows of one reading are different rows, so they are numbered within it.
        keys, seen = list[str](), Counter[tuple[int, str]]()
        for number, row in zip(part.list_readings(), map(str, table.to_pylist()), strict=True):
            seen[number, row] += 1
            keys.append(f"{row} {seen[number, row]}")
        return keys

    def save_fingerprints(self) -> None:
        """Keep a hash of each row to find the changes of a refresh; remove the report before."""
        assert self.folder is not None  # noqa: S101 - for mypy
        (self.folder / COVERAGE_NAME).unlink(missing_ok=True)
        prints = msgspec.json.encode(self._read_fingerprints())
        write_durably(self.folder / PREVIOUS_NAME, prints)

    def find_changes(self) -> Changes:
        """Compare the rows with the hashes kept before."""
        assert self.folder is not None  # noqa: S101 - for mypy
        before = (self.folder / PREVIOUS_NAME).read_bytes()
        hashes = msgspec.json.decode(before, type=dict[str, bytes])
        return compare_hashes(hashes, self._read_fingerprints())

    def _read_fingerprints(self) -> dict[str, bytes]:
        """Return a hash of each row by its key; the same in every process."""
        prints: dict[str, bytes] = {}
        for part in self._list_parts():
            prints |= hash_rows(part.load(), self.list_keys(part))
        return prints

    def finish(self, coverage: Coverage) -> None:
        """Take the report, and forget the rows before a refresh that has ended."""
        super().finish(coverage)
        if self.folder is not None and not coverage.stopped:
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


def concat_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables as one; columns without a value get the type that others have."""
    import pyarrow as pa

    found: dict[str, list[tuple[bool, pa.Field, dict[str, str]]]] = {}
    for table in tables:
        described = table.schema.pandas_metadata or {"columns": []}
        by_name = {entry["name"]: entry for entry in described["columns"]}
        for column in table.schema:
            has_values = table[column.name].null_count < table.num_rows
            entry = by_name.get(column.name, {})
            found.setdefault(column.name, []).append((has_values, column, entry))
    types, entries = dict[str, pa.DataType](), list[dict[str, str]]()
    for name, columns in found.items():
        used = [each for each in columns if each[0]] or columns[:1]
        _, column, entry = used[-1]
        schemas = [pa.schema([each]) for _, each, _ in used]
        try:
            pa.unify_schemas(schemas, promote_options="permissive")
        except pa.ArrowTypeError:  # all of a column is text if parts have no type in common
            types[name], entry = pa.large_string(), entry | {"numpy_type": "object"}
        else:
            types[name] = column.type
        entries += [entry] if "name" in entry else []
    fitted = [
        pa.table({name: _fit_column(table, name, kind) for name, kind in types.items()})
        for table in tables
    ]
    joined = pa.concat_tables(fitted, promote_options="permissive")
    metadata = dict(tables[-1].schema.metadata or {})
    if b"pandas" in metadata:
        described["columns"] = entries
        metadata[b"pandas"] = msgspec.json.encode(described)
    return joined.replace_schema_metadata(metadata)


def _fit_column(table: pa.Table, name: str, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column as text, or of this type where it has no values."""
    import pyarrow as pa

    if name not in table.column_names or table[name].null_count == table.num_rows:
        return pa.chunked_array([pa.nulls(table.num_rows, kind)])
    values = table[name]
    if kind != pa.large_string() or values.type == kind:
        return values  # the types are promoted where they are concatenated
    try:
        return values.cast(kind)
    except pa.ArrowException:  # lists
        items = values.to_pylist()
        texts = [
            None if each is None else msgspec.json.encode(each, enc_hook=str) for each in items
        ]
        return pa.chunked_array([pa.array(texts, pa.large_binary()).cast(kind)])


# -- the result

REFRESH_HINT = "refresh=True reads ranges again that may be proved now."


@explain_keywords
@dataclass(frozen=True, slots=True)
class RangeEstimate:
    """The expected cost of a harvest in ranges.

    Attributes
    ----------
    source
        Address of the endpoint.
    rows
        The number of rows; None if the endpoint does not say.
    cap
        The most rows that the endpoint returns of one list; None if it is unknown.
    notes
        Notes of the endpoint on its answer, such as data that it lacks, as sentences.

    Examples
    --------
    >>> text = "query ($low: Int) { books(low: $low) { total pages } }"  # doctest: +SKIP
    >>> client.harvest(text, slice="pages", dry_run=True)  # doctest: +SKIP
    5,210 rows from https://books.example/graphql, in 6 ranges or more
    """

    source: str
    rows: int | None
    cap: int | None
    notes: tuple[str, ...] = ()

    @property
    def least(self) -> int | None:
        """The fewest ranges, of which each takes at least a request; None if it is unknown."""
        return None if self.rows is None else max(1, ceil(self.rows / (self.cap or self.rows or 1)))

    def __repr__(self) -> str:
        text = f"{self.rows or 0:,} rows from {self.source}, in {self.least or 0:,} ranges or more"
        if self.rows is None:
            text = f"An unknown number of rows from {self.source}: it does not count them"
        return "\n  ".join([text, *format_notes(self.notes, "notes")])

    def _list_warnings(self) -> list[str]:
        return summarize_notes(self.notes, "notes")


@explain_keywords
@dataclass(frozen=True, slots=True)
class RangeHarvest:
    """The rows of a harvest in ranges, with a report on their completeness.

    Attributes
    ----------
    source
        Address of the endpoint.

    Examples
    --------
    >>> found = gqlnb.github.harvest_nodes("repo:owner/name", type="ISSUE")  # doctest: +SKIP
    >>> found.complete, len(found)  # doctest: +SKIP
    (True, 41234)
    """

    source: str
    _store: ListStore = field(repr=False)

    @property
    def coverage(self) -> Coverage:
        """The number of rows expected and received, the ranges, and those not proved complete."""
        return self._store.coverage

    @property
    def folder(self) -> Path | None:
        """Folder of the Parquet parts; None if the rows are in memory."""
        return self._store.folder

    @property
    def complete(self) -> bool:
        """Whether counts and rows prove that all rows were received."""
        return self.coverage.complete

    @property
    def changes(self) -> Changes | None:
        """The ids added, changed and removed since the harvest before, after ``refresh=True``."""
        return None if self.coverage.stopped else self._store.state.changes

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the endpoint on its answers, such as fields without data, as sentences."""
        return tuple(self.coverage.notes)

    def __len__(self) -> int:
        return self._store.rows

    def arrow(self) -> pa.Table:
        """Return all rows as an Arrow table.

        Returns
        -------
        pyarrow.Table
            The columns of :meth:`gqlnb.Result.arrow`; rows in the order in which they were read.
        """
        return self._store.load_table()

    def frame(self) -> pd.DataFrame:
        """Return all rows as a DataFrame; it must fit into memory.

        Returns
        -------
        DataFrame
            The columns and dtypes of :meth:`gqlnb.Result.frame`, rows in the order in which they
            were read; decimals with as many places as the longest of their column needs. ``attrs``
            with ``source``, ``partial``, ``notes`` (the warnings) and ``coverage``.
        """
        register_frame_display()
        frame = build_range_frame(self.arrow())
        warnings = self._list_warnings()
        frame.attrs = self.coverage.build_attrs(len(self), self.source, warnings)
        return frame

    @property
    def _hint(self) -> str:
        # Rows in memory cannot be refreshed.
        return "" if self.folder is None else REFRESH_HINT

    def _list_warnings(self) -> list[str]:
        return self.coverage.list_warnings(self._hint)

    def __repr__(self) -> str:
        changes = [f"since the harvest before: {self.changes}"] if self.changes is not None else []
        title = f"{len(self):,} rows from {self.source}"
        return self.coverage.describe_harvest(title, self.folder, hint=self._hint, details=changes)

    def _repr_html_(self) -> str:
        return render_lines(repr(self))


def build_range_frame(table: pa.Table) -> pd.DataFrame:
    """Return the rows of a harvest in ranges as a DataFrame."""
    import pyarrow as pa

    for index, column in enumerate(table.schema):
        if not pa.types.is_decimal(column.type):
            continue
        # Parts have 18 places, since a later part may need more than this one.
        build_type = pa.decimal128 if pa.types.is_decimal128(column.type) else pa.decimal256
        for scale in range(column.type.scale):
            with suppress(pa.ArrowInvalid):
                values = table[column.name].cast(build_type(column.type.precision, scale))
                table = table.set_column(index, column.name, values)
                break
    frame: pd.DataFrame = table.to_pandas()
    return frame

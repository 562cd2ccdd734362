"""The harvest of a list by windows of a column: reading, dividing, and comparing in the end.

First its state and the store of its rows, then the result, then the harvest itself, without I/O.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from io import BytesIO
from itertools import compress
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gqlnb.errors import OptionError, format_count, sanitize_text
from gqlnb.lists.columns import (
    ValueRange,
    divide_range,
    is_between_steps,
    match_value,
    parse_value,
    shift,
)
from gqlnb.lists.report import Changes, Coverage, Gap, StoredState
from gqlnb.lists.store import (
    HarvestStore,
    Part,
    build_range_frame,
    compare_hashes,
    find_repeated_rows,
    hash_rows,
    write_durably,
)
from gqlnb.lists.window_harvest import Task, TaskQueue
from gqlnb.option_checks import explain_keywords
from gqlnb.result.answer_notes import format_notes, summarize_notes
from gqlnb.result.renderer import register_frame_display, render_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
    from pathlib import Path
    from typing import TypeVar

    import pandas as pd
    import pyarrow as pa

    from gqlnb.lists.columns import Slice
    from gqlnb.lists.window_harvest import TaskRequest

    Result = TypeVar("Result")
    Steps = Generator[list["ListRequest"], list[Any], Result]

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
        The kind of the values, as of :func:`gqlnb.lists.columns.find_kind`; empty before any row.
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
        """Keep a hash of each row to find the changes of a refresh."""
        assert self.folder is not None  # noqa: S101 - for mypy
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


# -- the harvest

COUNTS = 3  # of later rows, until two are equal
MAX_ROUNDS = 3  # in which ranges with other counts, or without a proof, are read again
# Rows that the endpoint shows late, and a clock that is ahead of the endpoint's.
OVERLAP = timedelta(minutes=5)
NULLS = (
    "{} more rows are in no range: their {} is null, or the filter leaves them out for another "
    "reason."
)
NO_COUNT = (
    "The endpoint does not count rows, so that rows whose {} is null, which are in no range, would "
    "not be noticed. Select a count of all rows if there is one."
)
BETWEEN_STEPS = (
    "The values of {} are closer together than the ends of adjacent ranges, so that rows between "
    "them may be missing. Use a filter that includes only one end, or give step= of the Slice."
)
NOT_AGAIN = (
    "{} came before their range was divided, and not again: they were deleted meanwhile, or "
    "the endpoint rounds an end of the filter, or applies only one."
)
SHIFTING = (
    "Each reading brought other rows, and the endpoint does not count them. Larger pages, or a "
    "count beside the list, may prove it."
)
CAPPED_COUNT = "The endpoint counts no more rows than it returns, so it does not count all of them."
MOVING = (
    "Each reading brought other rows, so that rows which moved may be in none. If the values never "
    "change, say so with gqlnb.Slice(fixed=True)."
)
CHANGING = "The number of rows still changes."
GROWING = "The list grows faster than it is read: it has more than doubled meanwhile."
UNCOUNTED = (
    "The endpoint does not count rows, so that rows which were deleted since the harvest before, "
    "or came with an earlier {}, are not noticed. resume=False reads everything again."
)


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """The rows of a range.

    Attributes
    ----------
    table
        The rows.
    values
        Their values in the column of the slice, without nulls.
    kind
        The kind of the values, as of :func:`gqlnb.lists.columns.find_kind`; empty without rows.
    has_nulls
        Whether the column may be null, according to the schema.
    id
        The column that identifies a row, or None.
    count
        The number of rows according to the endpoint; None if it does not say.
    requests
        Number of requests.
    is_cut
        Whether the endpoint returns only some of the rows.
    page_rows
        Number of rows of the first page.
    has_changed
        Whether rows seem to have changed from page to page, so that others may be missing.
    may_skip
        Whether rows may have shifted between its pages without a count that shows it.
    failure
        The reason why rows that came may lack values, or stand for others; empty without.
    doubt
        The reason why completeness is not proved, `failure` if there is one; empty if it is.
    notes
        Notes of the endpoint on its answers, by a key that is the same for equal notes.
    absence
        The reason why there can be no rows, if the endpoint says that it lacks their data.
    """

    table: pa.Table
    values: list[Any]
    kind: str
    has_nulls: bool
    id: str | None
    count: int | None
    requests: int
    is_cut: bool
    page_rows: int
    has_changed: bool
    may_skip: bool
    failure: str
    doubt: str
    notes: Mapping[str, str]
    absence: str

    def compute_digest(self) -> str:
        """Return a hash of the ids of the rows, or of the rows if they have none."""
        rows = self.table.to_pylist() if self.id is None else self.table[self.id].to_pylist()
        return blake2b("\n".join(sorted(map(str, rows))).encode(), digest_size=16).hexdigest()


class ListRequest(NamedTuple):
    """A request for the rows of a range, or for one number or value.

    Attributes
    ----------
    kind
        ``"rows"``, ``"count"``, or ``"example"`` for some value of the column.
    range_
        The range.
    total
        The number of rows in the whole list, if it is known.
    whole
        Whether to read on up to the cap if the endpoint counts more.
    """

    kind: str
    range_: ValueRange
    total: int | None = None
    whole: bool = False


ListTask = Task["ListRequest"]  # its subject is the ends of a pending range, or None


class ListHarvest(TaskQueue[ListRequest, ListTask]):
    """The harvest of a list without cheap counts or sort orders, without I/O.

    It reads a range, with the count that comes with it, and divides it if the endpoint cut it. In
    the end it compares the counts, or the rows of a second reading, unless values never change.

    Parameters
    ----------
    slice_
        The slice.
    store
        The rows and the state.
    notes
        Sentences for the report, to which the caller may add.

    Attributes
    ----------
    is_stopped
        Whether to end before all ranges are read.
    """

    def __init__(self, slice_: Slice, store: ListStore, notes: Sequence[str]) -> None:
        super().__init__()
        self.is_stopped = False
        self._slice, self._store, self._state, self._notes = slice_, store, store.state, notes
        self._digests: dict[ValueRange, str] = {}  # of ranges that are read again
        self._missing: set[str] = set()  # ids of rows that came before a division, and not since
        self._whole = ValueRange(slice_.least, slice_.most)
        self._grows: bool | None = None  # unknown before rows came in excess of the first count
        self._is_settled = False
        self._moved: dict[str, None] = {}  # ids of rows that came from several ranges

    @property
    def progress(self) -> tuple[int, int | None, int]:
        """The number of rows so far, of rows expected, and of requests."""
        state = self._state
        return self._store.rows, state.expected, state.pages + state.counts

    def list_stages(self) -> Iterator[Callable[[], ListTask | None]]:
        """Yield, for each stage of the harvest, a function that returns its next task, or None.

        All tasks of a stage have to end before the next one. Of a finished harvest the ranges are
        read in which rows may have come or changed since, and those that may be proved now.

        Yields
        ------
        function
            For :meth:`take_from`.
        """
        state = self._state
        yield self._list_once(self._match_ends())
        if state.coverage is not None:
            if state.expected is not None:
                yield self._list_once(self._count_again())
            self._begin_refresh()
        elif not state.started or (state.pending and not state.kind):
            # If it was interrupted before its first answer, the log has the ends as texts.
            state.started = state.started or time.time()
            state.pending = [self._whole]
            self._store.save_state()
        yield self._take_window
        for left_rounds in reversed(range(MAX_ROUNDS + 1)):
            if not self.is_stopped:
                yield self._list_once(self._compare(left_rounds))
            if self.is_stopped or self._is_settled:
                break
            yield self._take_window
            self._mark_verified()
        if self.is_stopped:
            left = self._store.remove_old_rows(self._moved)  # each row is available once
            self._store.finish(self._build_coverage(state.expected, left.total(), []))

    def _list_once(self, steps: Steps[None]) -> Callable[[], ListTask | None]:
        tasks = iter([ListTask(steps)])
        return lambda: next(tasks, None)

    def take_from(self, stage: Callable[[], ListTask | None]) -> TaskRequest[ListRequest] | None:
        """Return the next request of a stage; None if there is none before another answer."""
        while not self._pending:
            task = stage()
            if task is None:
                return None
            self._start_task(task)
        return self.take()

    def feed(self, request: TaskRequest[ListRequest], answer: object) -> None:
        """Take the answer to a request."""
        self._state.counts += request.request.kind != "rows"
        self._give_answer(request, answer)

    def _match_ends(self) -> Steps[None]:
        """Convert the ends that the user gave to the type of the column.

        Texts may be times, a day may be a time, and each is followed by another value.

        Yields
        ------
        list of ListRequest
            Requests for a value of the column.

        Raises
        ------
        OptionError
            If the filter cannot select the rows at the low end.
        """
        ends = [end for end in self._whole if isinstance(end, str | date)]
        is_exact = self._slice.closed == "both" and all(isinstance(end, datetime) for end in ends)
        example = None
        # Some endpoints require the filter. Between ends that it excludes there may be no row.
        for range_ in (self._whole, ValueRange(None, None)):
            if ends and not is_exact and example is None:
                (example,) = yield [ListRequest("example", range_)]
        if example is not None:
            self._whole = ValueRange(*(match_value(end, example) for end in self._whole))
            if isinstance(self._whole.low, str) and self._slice.closed in {"right", "neither"}:
                msg = (
                    "least= is a text, and the filter leaves out its low end: no text comes just "
                    "before another one. Use a filter that includes it, or leave least= out."
                )
                raise OptionError(msg)

    # -- ranges

    def _take_window(self) -> ListTask | None:
        """Return a task for a pending range, the lowest first; None without one."""
        # A stop takes effect when the columns are known, so that its frame has them.
        if self.is_stopped and self._store.has_columns:
            return None
        taken = [task.subject for task in self._tasks.values()]
        if taken and not self._state.kind:
            return None  # the first answer tells the kind of the values
        free = [ends for ends in self._state.pending if ends not in taken]
        # A row that changes moves up, as to the time of its change: it is missed if the range that
        # it enters was read before the one that it leaves. So the highest range is read last.
        if not free or (taken and len(free) == 1 and not self._is_fixed):
            return None
        return ListTask(self._read_window(free[-1]), free[-1])

    def _read_window(self, ends: Ends) -> Steps[None]:
        """Read a range, and store its rows, or its parts."""
        range_, total = self._state.parse_range(ends), self._state.expected
        (answer,) = yield [ListRequest("rows", range_, total)]
        parts = self._divide_range(range_, answer)
        is_outgrown = bool(parts) and (yield from self._is_outgrown(answer))
        if is_outgrown:
            parts = []
        if answer.is_cut and not (parts or (is_outgrown and self._slice.cap is None)):
            before = answer.requests
            (answer,) = yield [ListRequest("rows", range_, total, whole=True)]
            answer = replace(answer, requests=answer.requests + before)
        self._add_answer(ends, answer, parts)

    def _is_outgrown(self, answer: WindowAnswer) -> Steps[bool]:
        """Return whether the list grows so fast that dividing its ranges might never end."""
        total, cap = self._state.expected, self._slice.cap
        known = self._store.rows + (answer.count or 0)
        if self._grows is None and total is not None and known > find_most_rows(total, cap):
            # Some endpoints count all rows only up to a limit, and have had more all the time.
            (count,) = yield [ListRequest("count", self._whole)]
            self._grows = (count or 0) > 2 * total
        return bool(self._grows)

    def _divide_range(self, range_: ValueRange, answer: WindowAnswer) -> list[ValueRange]:
        """Return the parts of a range that is cut, or that changed while it was read; or none."""
        slice_ = self._slice
        if not (answer.is_cut or answer.has_changed):
            return []
        if not answer.is_cut:  # the rows of one page are of one moment
            slice_ = replace(slice_, cap=answer.page_rows or slice_.cap)
        whole = range_ if self._state.kind else self._complete_range(range_, answer)
        # Without a count, a page larger than the cap would say that all rows came.
        most = self._slice.cap if answer.count is None else None
        return divide_range(whole, answer.values[:most], answer.count, slice_)

    def _add_answer(self, ends: Ends, answer: WindowAnswer, parts: list[ValueRange]) -> None:
        """Store the rows of a range, or its parts."""
        state = self._state
        range_ = state.parse_range(ends)
        if not state.kind and answer.kind:
            range_ = ends = self._note_first_answer(range_, answer)
        state.pending.remove(ends)
        state.pending += reversed(parts)
        state.pages += answer.requests
        state.seen += answer.has_changed
        state.add_notes(answer.notes)
        reading = None if parts else self._build_reading(range_, answer)
        state.numbers += not parts
        self._store.add_reading(reading, answer.table)
        if answer.id is not None and answer.count is None:  # a count shows whether rows are missing
            # nestjs-graphql-tools 0.9 reads both ends of a filter with the value of the last, and
            # ZenStack 3 cuts a time to milliseconds, so that a range lacks the rows at its end.
            ids = map(str, answer.table[answer.id].to_pylist())
            if not parts:
                self._missing.difference_update(ids)
            elif not answer.has_nulls:  # which are in no part, and a gap of their own
                self._missing.update(ids)

    def _complete_range(self, range_: ValueRange, answer: WindowAnswer) -> ValueRange:
        """Return the first range in the type of its values, with its last value if it is fixed."""
        if not answer.values:
            return range_
        like = answer.values[0]
        low, high = (match_value(end, like) for end in range_)
        is_aware = isinstance(like, datetime) and like.tzinfo is not None
        if answer.is_cut and high is None and self._slice.fixed and is_aware:
            # Rows that are created meanwhile would keep the counts from agreeing.
            high = self._get_time(self._state.started)
        return ValueRange(low, high)

    def _note_first_answer(self, range_: ValueRange, answer: WindowAnswer) -> ValueRange:
        """Record facts about the column; return the range in its type, with its last value."""
        state = self._state
        state.kind, state.id, state.expected = answer.kind, answer.id, answer.count
        state.has_nulls = answer.has_nulls
        whole = self._complete_range(range_, answer)
        if whole.high is not None and range_.high is None:
            state.pinned = whole.high
        state.pending = [whole]
        if answer.values:
            self._store.save_state()
        return whole

    def _get_time(self, seconds: float) -> datetime:
        """Return a time in whole seconds."""
        return datetime.fromtimestamp(int(seconds), UTC)

    def _build_reading(self, range_: ValueRange, answer: WindowAnswer) -> Reading:
        doubt, got, limit = answer.doubt, answer.table.num_rows, self._slice.cap
        is_lasting = False
        if answer.is_cut:
            cap = "" if limit is None else f" {limit:,}"
            doubt = f"More rows than the{cap} that the endpoint returns, and no value divides them."
            # Fewer rows came if a page failed.
            is_lasting = limit is not None and got >= limit and not answer.failure
            if self._grows:
                doubt, is_lasting = GROWING, False
            doubt = f"{doubt} {answer.failure}".rstrip()
        elif answer.absence:
            doubt = answer.absence
        elif answer.count is None and range_ != self._whole and not doubt:
            has_steps = (self._slice.closed, self._slice.step) == ("both", None)
            if answer.has_nulls:
                doubt = NO_COUNT.format(self._slice.column)
            elif has_steps and any(map(is_between_steps, answer.values)):
                doubt = BETWEEN_STEPS.format(self._slice.column)
            is_lasting = bool(doubt)
        return Reading(
            number=self._state.numbers,
            ends=range_,
            count=answer.count,
            doubt=doubt,
            has_lasting_doubt=is_lasting,
            may_improve=not answer.is_cut and bool(answer.doubt or answer.may_skip),
            requests=answer.requests,
            digest=answer.compute_digest(),
        )

    # -- the end

    def _compare(self, left_rounds: int) -> Steps[None]:
        """Find the ranges that changed, or are not proved, to be read again; or end the harvest."""
        state = self._state
        left = self._store.remove_old_rows(self._moved)
        total = yield from self._count_whole()
        again, changed = self._find_unproved(), list[tuple[Reading, int | None]]()
        # Counts of many ranges that change meanwhile agree by chance only. Of fixed values each
        # range was complete at its time.
        if not again and not (self._is_fixed and (state.is_moving or not left_rounds)):
            changed = yield from self._find_changed(left, total)
            again = {reading.number for reading, _ in changed}
        if not again or not left_rounds:
            self._is_settled = True
            self._finish(left, total, changed)
            return
        highest_first = sorted(state.readings, key=self._find_low, reverse=True)
        if not self._is_fixed:
            again.add(highest_first[0].number)  # a row that left a lower range may be there
            is_refresh = state.previous and left_rounds == MAX_ROUNDS  # then they moved earlier
            # Rows enter the highest range in any case if their values are times; rows that have
            # left it may have moved to a lower one, in place of one that was deleted.
            pairs = [] if is_refresh else changed
            if self._has_times:
                pairs = [pair for pair in pairs if pair[0] is not highest_first[0]]
            sizes = ((count, self._get_size(each, left)) for each, count in pairs)
            state.seen += sum(self._is_move(*pair) for pair in sizes)
        replaced = [each for each in highest_first if each.number in again]
        state.pending = [each.ends for each in replaced]
        state.readings = [each for each in state.readings if each.number not in again]
        state.repeated += len(replaced)
        self._digests = {state.parse_range(each.ends): each.digest for each in replaced}
        self._store.save_state()

    def _mark_verified(self) -> None:
        """Mark the new readings that have the same rows as those that they replace."""
        state = self._state
        same = [
            each
            for each in state.readings
            if self._digests.get(state.parse_range(each.ends)) == each.digest
        ]
        others = len(self._digests) - len(same)  # with other rows, or divided meanwhile
        # Without a count nothing shows the range that a row entered which has left another one: it
        # may be one that was read before.
        is_blind = not (self._is_fixed or self._has_times) and any(x.count is None for x in same)
        if not (others if is_blind else are_frequent(others, len(state.readings))):
            for each in same:
                each.is_verified = True

    @property
    def _is_fixed(self) -> bool:
        """Whether the values of a row never change."""
        return self._slice.fixed or self._slice.column == self._state.id

    def _is_move(self, count: int | None, before: int | None) -> bool:
        """Return whether a range has another number of rows, as others may have moved into it."""
        return (count or 0) > (before or 0) if self._has_times else count != before

    @property
    def _is_rising(self) -> bool:
        """Whether rows that come or change have later values than the others.

        So have times, which are mostly those of the creation or of the last change, and whole
        numbers that never change, which are mostly counted up, as ids are.
        """
        return self._has_times or (self._is_fixed and self._state.kind == "int")

    @property
    def _has_times(self) -> bool:
        return self._state.kind in {"date", "datetime"}

    # The proof. A range is read in one request, or the count that comes with each page, or a second
    # reading, shows that no row was skipped between its pages. The counts at the end show that no
    # row has moved to a range that was read before. Both miss changes that hide each other, such as
    # a deletion and an insertion, so where changes are frequent ranges are read again until their
    # rows are the same.
    def _find_unproved(self) -> set[int]:
        """Return the numbers of the readings that have to be repeated although counts agree."""
        state = self._state
        several, is_moving = len(state.readings) > 1, state.is_moving
        unproved = set[int]()
        for each in state.readings:
            is_paged = each.requests > 1
            may_move = (is_paged or several) and (each.count is None or is_moving)
            if each.is_verified or (each.doubt and not each.may_improve):
                continue
            if each.may_improve or (is_paged and is_moving) or (may_move and not self._is_fixed):
                unproved.add(each.number)
        return unproved

    def _find_low(self, reading: Reading) -> tuple[bool, Any]:
        """Return a key that sorts readings by their ranges."""
        low = self._state.parse_range(reading.ends).low
        return low is not None, low

    def _count_again(self) -> Steps[None]:
        (self._state.expected,) = yield [ListRequest("count", self._whole)]

    def _count_whole(self) -> Steps[int | None]:
        """Return the number of all rows up to the pinned end; None if it is unknown."""
        state, whole = self._state, self._whole
        if state.pinned is not None:
            whole = ValueRange(whole.low, state.parse_range((state.pinned, None)).low)
        if state.pinned is None or not state.has_nulls:
            (total,) = yield [ListRequest("count", whole)]
            return total  # type: ignore[no-any-return]
        # Rows with null are in no range, so all rows are counted, and the later ones subtracted.
        later = ListRequest("count", ValueRange(shift(whole.high, 1, self._slice.step), None))
        (after,) = yield [later]
        for _ in range(COUNTS):
            before = after
            (total,) = yield [ListRequest("count", self._whole)]
            (after,) = yield [later]
            if before == after:
                break
        return None if total is None else total - (after or 0)

    def _find_changed(
        self, left: Counter[int], total: int | None
    ) -> Steps[list[tuple[Reading, int | None]]]:
        """Return the readings with another number of rows than a new count, with the count."""
        readings = self._state.readings
        if total is None or (self._is_fixed and total == left.total()):
            return []
        counts: list[int | None] = [total]
        if len(readings) > 1:
            ranges = (self._state.parse_range(each.ends) for each in readings)
            counts = yield [ListRequest("count", range_) for range_ in ranges]
        return [
            (each, count)
            for each, count in zip(readings, counts, strict=True)
            if count != self._get_size(each, left) and (each.has_lasting_doubt or not each.doubt)
        ]

    def _get_size(self, reading: Reading, left: Counter[int]) -> int | None:
        """Return the number of rows in a range: of those here, or counted if not all came."""
        return reading.count if reading.has_lasting_doubt else left[reading.number]

    def _finish(
        self,
        left: Counter[int],
        total: int | None,
        changed: list[tuple[Reading, int | None]],
    ) -> None:
        """Write the report."""
        state = self._state
        gaps = list[Gap]()
        got = explained = 0
        counts = {reading.number: count for reading, count in changed}
        unproved = self._find_unproved()
        for reading in state.readings:
            rows = left[reading.number]
            got += rows
            count, why = reading.count, reading.doubt
            if reading.number in unproved:
                why = why or (SHIFTING if self._is_fixed else MOVING)
            if reading.number in counts:
                count = counts[reading.number]
                if not reading.has_lasting_doubt:
                    why = "" if self._is_fixed else CHANGING
                explained += (count or rows) - rows
            reading.doubt = why  # a refresh reads it again, as later counts may agree by chance
            if why:
                text = str(state.parse_range(reading.ends))
                lasts = reading.has_lasting_doubt
                gaps.append(Gap(text, count, rows, why, lasts))
                if reading.number not in counts:
                    explained += (count or rows) - rows
        gaps += self._list_whole_gaps(total, got, got + explained)
        state.changes = self._store.find_changes() if state.previous else None
        self._store.finish(self._build_coverage(total, got, gaps))

    def _list_whole_gaps(self, total: int | None, got: int, known: int) -> list[Gap]:
        """Return the gaps of the whole; `known` rows are here, or missing in a range with a gap."""
        state, doubts = self._state, dict[str, bool]()  # the reasons, and whether they last
        if total is not None and total != known:
            is_outside = total > known and not (state.is_moving or self._grows)
            if total == self._slice.cap:
                doubts[CAPPED_COUNT] = True
            elif is_outside:
                doubts[NULLS.format(f"{total - known:,}", self._slice.column)] = True
            else:
                doubts[GROWING if self._grows else CHANGING] = False
        if state.doubt:
            doubts[state.doubt] = True
        if self._missing:
            doubts[NOT_AGAIN.format(format_count(len(self._missing), "row"))] = True
        return [Gap("All rows", total, got, why, lasts) for why, lasts in doubts.items()]

    def _build_coverage(self, expected: int | None, got: int, gaps: list[Gap]) -> Coverage:
        state = self._state
        return state.build_coverage(
            got,
            expected=expected,
            windows=len(state.readings),
            moved=(*self._moved,),
            gaps=tuple(gaps),
            notes=(*state.notes.values(), *self._notes),
            stopped=self.is_stopped,
        )

    # -- refreshing

    def _begin_refresh(self) -> None:
        """Make ranges pending: of later values, without a proof, and where rows may have come.

        Where rows come, and change, with a later value than all before, the other ranges are as
        they were, except for deleted rows. Otherwise all are read again: counts would not show that
        a row came to a range and another one left it.
        """
        state = self._state
        self._store.save_fingerprints()
        state.previous, state.started = state.started, time.time()
        state.coverage = state.changes = None
        state.notes, state.seen = {}, 0
        readings = sorted(state.readings, key=lambda each: each.number)
        ranges = {each.number: state.parse_range(each.ends) for each in readings}
        tail = self._find_tail(list(ranges.values()))
        if state.pinned is not None:
            state.pinned = self._get_time(state.started)
        state.pending, state.readings = [tail], []
        again = list[Reading]()
        if tail.low is not None and state.kind:  # without a row so far, all is read again
            for reading in readings:
                low, high = ranges[reading.number]
                if low is not None and low >= tail.low:
                    continue
                if high is None or high >= tail.low:
                    high = shift(tail.low, -1, self._slice.step)
                reading.ends = low, high
                can_be_proved = reading.doubt and not reading.has_lasting_doubt
                is_stale = can_be_proved or not self._is_rising
                (again if is_stale else state.readings).append(reading)
        if state.readings and all(each.count is None for each in state.readings):
            state.notes["uncounted"] = UNCOUNTED.format(sanitize_text(self._slice.column, 80))
        again.sort(key=self._find_low, reverse=True)  # the last one is the next
        state.pending += [each.ends for each in again]
        self._store.save_state()

    def _find_tail(self, ranges: list[ValueRange]) -> ValueRange:
        """Return the range of the values that are later than the harvest before."""
        state = self._state
        if len(ranges) < 2:
            return self._whole
        last = max(ranges, key=lambda each: (each.low is not None, each.low))
        high = last.high if state.pinned is None else self._get_time(state.started)
        since = self._get_time(state.previous) - OVERLAP
        low = last.low
        if isinstance(low, datetime):
            low = min(low, since if low.tzinfo else since.replace(tzinfo=None))
        elif isinstance(low, date):
            low = min(low, (since - timedelta(days=1)).date())
        return ValueRange(low, high)

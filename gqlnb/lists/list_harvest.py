"""The harvest of a list by windows of a column: reading, dividing, and comparing in the end."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.errors import OptionError, sanitize_text
from gqlnb.lists.columns import (
    ValueRange,
    divide_range,
    is_between_steps,
    match_value,
    shift,
)
from gqlnb.lists.list_store import (
    Reading,
    are_frequent,
    find_most_rows,
)
from gqlnb.lists.report import Coverage, Gap
from gqlnb.lists.window_harvest import Task, TaskQueue

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from typing import TypeVar

    import pyarrow as pa

    from gqlnb.lists.columns import Slice
    from gqlnb.lists.list_store import Ends, ListStore
    from gqlnb.lists.window_harvest import TaskRequest

    Result = TypeVar("Result")
    Steps = Generator[list["ListRequest"], list[Any], Result]

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
        The kind of the values, as of :func:`find_kind`; empty without rows.
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

        Raises
        ------
        OptionError
            If the filter cannot select the rows at the low end.
        """
        ends = [end for end in self._whole if isinstance(end, str | date)]
        is_exact = self._slice.closed == "both" and all(isinstance(end, datetime) for end in ends)
        if not ends or is_exact:
            return
        example = None
        # Some endpoints require the filter. Between ends that it excludes there may be no row.
        for range_ in (self._whole, ValueRange(None, None)):
            if example is None:
                (example,) = yield [ListRequest("example", range_)]
        if example is None:
            return
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
        return divide_range(whole, answer.values, answer.count, slice_)

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

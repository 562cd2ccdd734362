"""The loop of a harvest in ranges: reading, dividing, and comparing counts at the end."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gqlnb.client.progress import Progress
from gqlnb.client.range_harvest.accounts import Account, AccountPool, ReaderPool
from gqlnb.client.range_harvest.harvest_result import RangeEstimate, RangeHarvest
from gqlnb.client.range_harvest.range_reader import RangeReader
from gqlnb.client.range_harvest.range_store import (
    RangeState,
    RangeStep,
    RangeStore,
    Reading,
    are_frequent,
    find_most_rows,
)
from gqlnb.client.range_harvest.slices import (
    ValueRange,
    divide_range,
    is_between_steps,
    match_value,
    shift,
)
from gqlnb.errors import GqlnbError, OptionError, sanitize_text
from gqlnb.lists.report import Coverage, Gap
from gqlnb.lists.store import ROWS_PER_PART, LogHeader
from gqlnb.option_checks import check_whole_number

if TYPE_CHECKING:
    import os
    from collections import Counter
    from collections.abc import Callable, Sequence

    from gqlnb.client.paging.pager import Pager
    from gqlnb.client.progress import ProgressCallback, ShowProgress
    from gqlnb.client.range_harvest.range_reader import RangeAnswer, RangeQuery
    from gqlnb.client.range_harvest.range_store import Ends
    from gqlnb.client.range_harvest.slices import Slice

__all__ = ["RangeHarvester", "estimate_ranges", "harvest_ranges"]

READS_PER_RANGE = 3  # of a range that changes while it is read
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


def harvest_ranges(
    query: RangeQuery,
    pager: Pager,
    *,
    source: str,
    out: str | os.PathLike[str] | None = None,
    progress: ShowProgress = "auto",
    resume: bool = True,
    refresh: bool = False,
    part: int = ROWS_PER_PART,
    find_accounts: Callable[[], AccountPool[Pager]] | None = None,
) -> RangeHarvest:
    """Return the rows of a list, read range by range, without a warning.

    Parameters
    ----------
    query
        The list.
    pager
        The pager of the client.
    source
        Address of the endpoint.
    out, progress, resume, refresh, part
        As for :meth:`gqlnb.Client.harvest`.
    find_accounts
        Returns the accounts that share the ranges; None for the client alone.

    Raises
    ------
    GqlnbError
        As for :meth:`gqlnb.Client.harvest`.
    """
    part = check_whole_number("part", part, least=1)
    if out is None and refresh:
        msg = "refresh=True updates the harvest in a folder: name it with out=."
        raise OptionError(msg)
    header = LogHeader(query=query.describe(), source=source)
    folder = None if out is None else Path(out).expanduser()
    store = RangeStore(folder, header, resume=resume, rows_per_part=part)
    with store, Progress(progress, "Harvest") as bar:
        if refresh or store.state.coverage is None:
            found = (
                AccountPool([Account("", [pager])]) if find_accounts is None else find_accounts()
            )
            accounts = [
                Account(each.name, [RangeReader(pager, query) for pager in each.clients])
                for each in found.accounts
            ]
            pool = ReaderPool(accounts, found.notes, found.doubt)
            RangeHarvester(pool, query.slice, store, bar).run()
    return RangeHarvest(source, store)


def estimate_ranges(query: RangeQuery, pager: Pager, source: str) -> RangeEstimate:
    """Return the number of rows of a list, and the cost of its harvest, from one request.

    Raises
    ------
    GqlnbError
        If the request fails.
    """
    whole = ValueRange(query.slice.least, query.slice.most)
    count, notes = RangeReader(pager, query).count_rows(whole)
    return RangeEstimate(source, count, query.slice.cap, tuple(notes.values()))


class RangeHarvester:
    """One run of a harvest in ranges.

    Parameters
    ----------
    pool
        Reads ranges.
    slice_
        The slice.
    store
        The rows and the state.
    watch
        Called with rows so far, rows expected, requests and the remaining budget; the harvest
        stops if it returns False.
    """

    def __init__(
        self, pool: ReaderPool, slice_: Slice, store: RangeStore, watch: ProgressCallback
    ) -> None:
        self._pool, self._slice, self._store, self._watch = pool, slice_, store, watch
        self._in_flight: list[Ends] = []
        self._digests: dict[ValueRange, str] = {}  # of ranges that are read again
        self._whole = ValueRange(slice_.least, slice_.most)
        self._is_stopped = False
        self._grows: bool | None = None  # unknown before rows came in excess of the first count

    @property
    def _state(self) -> RangeState:
        return self._store.state

    def run(self) -> None:
        """Read all ranges, and compare their counts with new ones until they agree.

        Of a finished harvest the ranges are read in which rows may have come or changed since, and
        those that may be proved now.

        Raises
        ------
        GqlnbError
            If a request fails for good. The rows so far are stored.
        """
        state = self._state
        self._match_ends()
        if state.coverage is not None:
            self._begin_refresh()
        elif not state.started:
            state.started = time.time()
            state.pending = [self._whole]
            self._store.save_state()
        elif not state.kind and state.pending:
            # It was interrupted before its first answer, and the log has the ends as texts.
            state.pending = [self._whole]
        if self._pool.doubt and not state.doubt:  # also about the rows of later runs
            state.doubt = self._pool.doubt
            self._store.save_state()
        try:
            self._read_pending()
            if not self._is_stopped:
                self._settle()
            if self._is_stopped:
                self._pause()
        except GqlnbError as error:
            self._store.add_hint(error)
            raise

    def _match_ends(self) -> None:
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
                self._state.counts += 1
                example = self._pool.call(partial(RangeReader.read_example, range_=range_))
        if example is None:
            return
        low, high = (None if end is None else match_value(end, example) for end in self._whole)
        self._whole = ValueRange(low, high)
        if isinstance(low, str) and self._slice.closed in {"right", "neither"}:
            msg = (
                "least= is a text, and the filter leaves out its low end: no text comes just "
                "before another one. Use a filter that includes it, or leave least= out."
            )
            raise OptionError(msg)

    # -- ranges

    def _read_pending(self) -> None:
        self._pool.run_tasks(self._take_range, self._read_range, self._add_answer)

    def _take_range(self) -> Ends | None:
        """Return a pending range that nobody reads yet, the lowest first; None without one."""
        # A stop takes effect when the columns are known, so that its frame has them.
        if self._is_stopped and self._store.has_columns:
            return None
        if self._in_flight and not self._state.kind:
            return None  # the first answer tells the kind of the values
        free = [ends for ends in self._state.pending if ends not in self._in_flight]
        # A row that changes moves up, as to the time of its change: it is missed if the range that
        # it enters was read before the one that it leaves. So the highest range is read last.
        if not free or (self._in_flight and len(free) == 1 and not self._is_fixed):
            return None
        self._in_flight.append(free[-1])
        return free[-1]

    def _read_range(
        self, ends: Ends, reader: RangeReader
    ) -> tuple[RangeAnswer, list[ValueRange], int]:
        """Read a range, again if it changes meanwhile.

        Returns
        -------
        (RangeAnswer, list of ValueRange, int)
            The answer; the parts of the range if it is divided; how often rows changed meanwhile.
        """
        range_, requests, unstable = self._state.parse_range(ends), 0, 0
        before, is_whole, parts = self._digests.get(range_, ""), False, list[ValueRange]()
        for _ in range(READS_PER_RANGE):
            one_page = self._state.is_moving
            answer = reader.read_range(range_, self._state.total, whole=is_whole, one_page=one_page)
            requests += answer.requests
            unstable += answer.is_unstable
            parts = [] if is_whole else self._divide_range(range_, answer, one_page=one_page)
            if parts and self._is_outgrown(answer, reader):
                parts, is_whole = [], is_whole or self._slice.cap is None
            if parts or (answer.is_cut and is_whole):
                break
            if answer.is_cut:
                is_whole = True
            elif answer.may_skip and not answer.doubt:
                # Rows may be skipped where others are deleted. A reading after it lacks the deleted
                # ones, so that equal readings have skipped none.
                digest = answer.compute_digest()
                if before == digest:
                    break
                before, answer = digest, replace(answer, doubt=SHIFTING)
            elif not answer.doubt:
                break
        return replace(answer, requests=requests), parts, unstable

    def _is_outgrown(self, answer: RangeAnswer, reader: RangeReader) -> bool:
        """Return whether the list grows so fast that dividing its ranges might never end."""
        total, cap = self._state.total, self._slice.cap
        if self._grows is None and total is not None:
            known = sum(each.got for each in self._state.readings) + (answer.count or 0)
            if known > find_most_rows(total, cap):
                # Some endpoints count all rows only up to a limit, and have had more all the time.
                self._grows = (reader.count_rows(self._whole)[0] or 0) > 2 * total
                self._state.counts += 1
        return bool(self._grows)

    def _divide_range(
        self, range_: ValueRange, answer: RangeAnswer, *, one_page: bool
    ) -> list[ValueRange]:
        """Return the parts of a range that is cut, or that changed while it was read; or none."""
        slice_ = self._slice
        is_doubtful = answer.is_short or answer.is_unstable
        if not (answer.is_cut or is_doubtful):
            return []
        if one_page or not answer.is_cut:  # the rows of one page are of one moment
            slice_ = replace(slice_, cap=answer.page_rows or slice_.cap)
        whole = range_ if self._state.kind else self._complete_range(range_, answer)
        return divide_range(whole, answer.values, answer.count, slice_)

    def _add_answer(self, ends: Ends, found: tuple[RangeAnswer, list[ValueRange], int]) -> None:
        """Store the rows of a range, or its parts."""
        answer, parts, unstable = found
        self._in_flight.remove(ends)
        range_ = self._state.parse_range(ends)
        if not self._state.kind and answer.kind:
            range_ = ends = self._note_first_answer(range_, answer)
        notes = dict(answer.notes)
        step = RangeStep(
            ends=ends,
            parts=[*parts],
            requests=answer.requests,
            intervals=answer.intervals,
            unstable=unstable,
            notes=notes,
        )
        if not parts:
            step.reading = self._build_reading(range_, answer)
        self._store.add_step(step, None if parts else answer.table)
        state, rows = self._state, self._store.rows
        if self._watch(rows, state.total, state.pages + state.counts, self._pool.budget) is False:
            self._is_stopped = True

    def _complete_range(self, range_: ValueRange, answer: RangeAnswer) -> ValueRange:
        """Return the first range in the type of its values, with its last value if it is fixed."""
        if not answer.values:
            return range_
        like = answer.values[0]
        low, high = (None if end is None else match_value(end, like) for end in range_)
        is_aware = isinstance(like, datetime) and like.tzinfo is not None
        if answer.is_cut and high is None and self._slice.fixed and is_aware:
            # Rows that are created meanwhile would keep the counts from agreeing.
            high = self._get_time(self._state.started)
        return ValueRange(low, high)

    def _note_first_answer(self, range_: ValueRange, answer: RangeAnswer) -> ValueRange:
        """Record facts about the column; return the range in its type, with its last value."""
        state = self._state
        state.kind, state.id, state.total = answer.kind, answer.id, answer.count
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

    def _build_reading(self, range_: ValueRange, answer: RangeAnswer) -> Reading:
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
        elif answer.count is None and answer.has_nulls and range_ != self._whole and not doubt:
            doubt, is_lasting = NO_COUNT.format(self._slice.column), True
        elif (
            answer.count is None
            and not doubt
            and range_ != self._whole
            and (self._slice.closed, self._slice.step) == ("both", None)
            and any(map(is_between_steps, answer.values))
        ):
            doubt, is_lasting = BETWEEN_STEPS.format(self._slice.column), True
        return Reading(
            number=self._state.numbers,
            ends=range_,
            count=answer.count,
            got=got,
            doubt=doubt,
            has_lasting_doubt=is_lasting,
            requests=answer.requests,
            digest=answer.compute_digest(),
        )

    # -- the end

    def _settle(self) -> None:
        """Read the ranges again that changed, or that are not proved, until the counts agree."""
        state, moved = self._state, dict[str, None]()
        fewest, is_useless = dict[bool, int](), False
        for left_rounds in reversed(range(MAX_ROUNDS + 1)):
            left, found = self._store.remove_old_rows()
            moved |= dict.fromkeys(found)
            total = self._count_whole()
            again, changed = self._find_unproved(), list[tuple[Reading, int | None]]()
            # Counts of many ranges that change meanwhile agree by chance only. Of fixed values each
            # range was complete at its time.
            is_enough = self._is_fixed and (state.is_moving or not left_rounds)
            if not again and not is_enough:
                changed = self._find_changed(left, total)
                again = {reading.number for reading, _ in changed}
            if not again or not left_rounds or is_useless:
                break
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
                state.moves += sum(self._is_move(*pair) for pair in sizes)
            replaced = [each for each in highest_first if each.number in again]
            state.pending = [each.ends for each in replaced]
            state.readings = [each for each in state.readings if each.number not in again]
            state.repeated += len(replaced)
            self._digests = {state.parse_range(each.ends): each.digest for each in replaced}
            self._store.save_state()
            self._read_pending()
            if self._is_stopped:
                return
            others = self._mark_verified()
            # Where no fewer ranges change than in the round before, another round is useless,
            # unless they are few: then it may be the one without a change.
            score = len(changed) or others
            is_useless = score >= fewest.get(bool(changed), score + 1)
            is_useless = is_useless and are_frequent(score, len(state.readings))
            fewest[bool(changed)] = score
        self._finish(left, total, changed, [*moved])

    def _mark_verified(self) -> int:
        """Mark the new readings that have the same rows as those that they replace.

        Returns
        -------
        int
            The number of ranges with other rows, and of those that were divided meanwhile.
        """
        state = self._state
        same = [
            each
            for each in state.readings
            if self._digests.get(state.parse_range(each.ends)) == each.digest
        ]
        others = len(self._digests) - len(same)
        # Without a count nothing shows the range that a row entered which has left another one: it
        # may be one that was read before.
        is_blind = not (self._is_fixed or self._has_times) and any(x.count is None for x in same)
        if not (others if is_blind else are_frequent(others, len(state.readings))):
            for each in same:
                each.is_verified = True
        return others

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
        several = len(state.readings) > 1
        is_shifting = state.is_moving
        # Rows that change while a range is read may enter others, too. Times are mostly those of
        # the last change, so that such rows enter the highest range, which is read last.
        changes = state.moves + (0 if self._has_times else state.unstable)
        is_mixing = are_frequent(changes, len(state.readings))
        unproved = set[int]()
        for each in state.readings:
            is_paged = each.requests > 1
            may_shift = is_paged and is_shifting
            may_move = (is_paged or several) and (each.count is None or is_mixing)
            if may_shift or (may_move and not self._is_fixed):
                unproved.add(each.number)
        proved = {each.number for each in state.readings if each.is_verified or each.doubt}
        return unproved - proved

    def _find_low(self, reading: Reading) -> tuple[bool, Any]:
        """Return a key that sorts readings by their ranges."""
        low = self._state.parse_range(reading.ends).low
        return low is not None, low

    def _pause(self) -> None:
        """Make the rows so far available, each of them once."""
        state = self._state
        left, moved = self._store.remove_old_rows()
        self._store.pause(self._build_coverage(state.total, left.total(), moved, []))

    def _count_whole(self) -> int | None:
        """Return the number of all rows up to the pinned end; None if it is unknown."""
        state = self._state
        if state.pinned is None:
            return self._count(self._whole)
        pinned = state.parse_range((state.pinned, None)).low
        if not state.has_nulls:
            return self._count(ValueRange(self._whole.low, pinned))
        # Rows with null are in no range, so all rows are counted, and the later ones subtracted.
        later = ValueRange(shift(pinned, 1, self._slice.step), None)
        after = self._count(later)
        for _ in range(READS_PER_RANGE):
            before, total, after = after, self._count(self._whole), self._count(later)
            if before == after:
                break
        return None if total is None else total - (after or 0)

    def _count(self, range_: ValueRange) -> int | None:
        self._state.counts += 1
        return self._pool.call(lambda reader: reader.count_rows(range_)[0])

    def _count_readings(self, readings: Sequence[Reading]) -> list[int | None]:
        """Return the number of rows in the range of each reading."""
        ranges = [self._state.parse_range(each.ends) for each in readings]
        counts: dict[int, int | None] = {}
        numbers = iter(range(len(ranges)))
        self._pool.run_tasks(
            lambda: next(numbers, None),
            lambda number, reader: reader.count_rows(ranges[number])[0],
            counts.__setitem__,
        )
        self._state.counts += len(ranges)
        return [counts[number] for number in range(len(ranges))]

    def _find_changed(
        self, left: Counter[int], total: int | None
    ) -> list[tuple[Reading, int | None]]:
        """Return the readings with another number of rows than a new count, with the count."""
        readings = self._state.readings
        if total is None or (self._is_fixed and total == left.total()):
            return []
        if len(readings) == 1:
            counts: list[int | None] = [total]
        else:
            counts = self._count_readings(readings)
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
        moved: list[str],
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
                why = MOVING
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
        self._store.finish(self._build_coverage(total, got, moved, gaps))

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

    def _build_coverage(
        self, expected: int | None, got: int, moved: list[str], gaps: list[Gap]
    ) -> Coverage:
        state = self._state
        return Coverage(
            expected=expected,
            got=got,
            windows=len(state.readings),
            pages=state.pages,
            counts=state.counts,
            repeated=state.repeated,
            moved=tuple(moved),
            gaps=tuple(gaps),
            notes=(*state.notes.values(), *self._pool.notes),
            stopped=self._is_stopped,
        )

    # -- refreshing

    def _begin_refresh(self) -> None:
        """Make ranges pending: of later values, without a proof, and where rows may have come.

        Where rows come, and change, with a later value than all before, the other ranges are as
        they were, except for deleted rows. Otherwise all are read again: counts would not show that
        a row came to a range and another one left it.
        """
        state = self._state
        if state.total is not None:
            state.total = self._count(self._whole)
        self._store.save_fingerprints()
        state.previous, state.started = state.started, time.time()
        state.coverage = state.changes = None
        state.notes, state.intervals, state.unstable, state.moves = {}, 0, 0, 0
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

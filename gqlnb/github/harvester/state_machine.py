"""How a search goes on behind its thousand results: lower, or divided by time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import ceil, inf
from typing import Any, Self

import msgspec

from gqlnb.errors import AnswerError
from gqlnb.github.harvester.query_range import Scope
from gqlnb.github.harvester.search_windows import (
    Coverage,
    CreationTimes,
    Gap,
    RepositoryRow,
    RowsById,
    SearchPage,
    SearchRequest,
    SearchWindow,
    SweepStep,
)
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS

__all__ = [
    "MAX_ROUNDS",
    "SORT_ORDERS",
    "TARGET_SLICE_SIZE",
    "CompletenessCheck",
    "Sweep",
    "count_slices",
    "list_exclusions",
    "split_by_stars",
    "split_by_time",
]

TARGET_SLICE_SIZE = (
    920  # a slice aimed at so many rarely holds more than the thousand that can be reached
)
SINGLE_SEARCH_LIMIT = 4000  # with fewer left, slices are made so small that each is one search
SPLIT_THRESHOLD = 100_000  # repositories left times those of equal stars, from which dividing pays
SAMPLES_PER_SLICE = 10  # times of creation for each slice, so that slices are about equal
MAX_EXCLUDED = 3  # repositories that a search may name to leave them out
_FULL_NAME_PATTERN = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_EARLIEST_CREATION, _LATEST_CREATION = (
    1167609600,
    2**31 - 1,
)  # 2007, when GitHub was begun, and the end of 32 bits


def count_slices(left: int, ties: int) -> int:
    """Return how many slices of time to go on with.

    Each search fetches some repositories again, those of the stars where the last one ended: half
    of `ties` on average, less in a slice. Each slice ends with a page that is half empty.

    Parameters
    ----------
    left
        How many repositories are left.
    ties
        How many of them have equal stars, about.
    """
    if left <= MAX_SEARCH_RESULTS or left * ties <= SPLIT_THRESHOLD:
        return 1
    return ceil(left / TARGET_SLICE_SIZE) if left < SINGLE_SEARCH_LIMIT else 2


def list_exclusions(rows: Iterable[RepositoryRow], lowest: int) -> tuple[str, ...]:
    """Return the repositories that the next search need not show again, if they are few.

    They have the stars where the last one ended, of which there may be more.
    """
    again = [row for row in rows if row.stars == lowest]
    names = [f"{row.owner}/{row.name}" for row in again[: MAX_EXCLUDED + 1]]
    few = len(names) <= MAX_EXCLUDED and all(map(_FULL_NAME_PATTERN.fullmatch, names))
    return tuple(names) if few else ()


def split_by_time(scope: Scope, created: Sequence[int], parts: int) -> list[Scope]:
    """Return a scope in slices of time that hold about equally many.

    Parameters
    ----------
    scope
        What to divide.
    created
        When some of its repositories were made, as a sample.
    parts
        How many slices there should be; fewer come where the sample is small, and one, the scope
        itself, where it is one second already.
    """
    sample = sorted(moment for moment in created if scope.is_in_time_range(moment))
    parts = max(2, min(parts, len(sample) // SAMPLES_PER_SLICE))
    cuts = {cut for part in range(1, parts) for cut in _find_cuts(sample, part / parts)}
    begin = _EARLIEST_CREATION if scope.begin is None else scope.begin
    end = _LATEST_CREATION if scope.end is None else scope.end
    inside = sorted(cut for cut in cuts if begin <= cut < end)
    if not inside and begin < end:
        inside = [(begin + end) // 2]
    starts = [scope.begin, *(cut + 1 for cut in inside)]
    ends = [*inside, scope.end]
    return [
        msgspec.structs.replace(scope, begin=first, end=last)
        for first, last in zip(starts, ends, strict=True)
    ]


def _find_cuts(sample: Sequence[int], share: float) -> list[int]:
    """Return the moment that divides sorted ones, and the one before where many are the same."""
    if not sample:
        return []
    cut = sample[int(len(sample) * share)]
    alike = bisect_right(sample, cut) - bisect_left(sample, cut)
    return [cut - 1, cut] if alike > len(sample) // SAMPLES_PER_SLICE else [cut]


def split_by_stars(scope: Scope, stars: Sequence[int]) -> list[Scope]:
    """Return a range of stars in two; one if it is a single number.

    Parameters
    ----------
    scope
        What to divide.
    stars
        How many stars some of its repositories have.
    """
    top = scope.high if scope.high is not None else max([*stars, scope.low])
    if scope.low >= top:
        return [scope]
    middle = (scope.low + top + 1) // 2
    return [
        msgspec.structs.replace(scope, low=middle),
        msgspec.structs.replace(scope, high=middle - 1),
    ]


MAX_ROUNDS = 6
"""How often is asked again to make counts and results agree."""
MAX_LOCAL_ROUNDS = 3  # how often for pages that came short, before that
FIRST_SPLIT_ROUND = (
    3  # from the third time on in halves: the smaller a search, the likelier it is whole
)
# Another order is another search to the endpoint: what one leaves out the other may show. By stars
# first, as that tells where results are missing.
SORT_ORDERS = ("stars-asc", "stars-desc", "forks-desc", "updated-desc", "forks-asc", "updated-asc")


class CompletenessCheck(msgspec.Struct):
    """What a window counted and showed, and what those that go on from it count and show.

    Attributes
    ----------
    number
        Its own.
    scope
        The range that the window should have completed.
    parent
        The number of the check that waits for this window; 0 for none.
    total
        How many the window counted.
    ids
        What it showed, and what was found in its range when it was asked again.
    recent
        What was shown above its range.
    waiting
        How many windows go on from it whose pages are not all there.
    held
        Windows that go on from those, and begin when all of them have shown what they can.
    below, below_total
        What those showed, and how many they counted.
    lacking
        How many results are known to be missing from its pages.
    ranges
        Where some are missing, these or what should have come when it was asked again.
    proving
        Whether it is settled by counts; before that only the pages that came short are repaired.
    doubt
        Whether a window showed fewer than it counted, and nothing tells what became of the others:
        then counts may agree by chance, and the range is asked for again.
    tries
        How often something was asked again.
    rounds
        How often it was for this purpose.
    out
        How many windows that ask again are not finished.
    before
        How many ids there were when they began.
    """

    number: int
    scope: Scope
    parent: int
    total: int
    ids: CreationTimes
    recent: CreationTimes
    waiting: int = 0
    held: list[int] = []
    below: CreationTimes = {}
    below_total: int = 0
    lacking: int = 0
    ranges: list[Scope] = []
    proving: bool = False
    doubt: bool = False
    tries: int = 0
    rounds: int = 0
    out: int = 0
    before: int = 0

    @property
    def left_by_count(self) -> int:
        """How many have left, by counts."""
        return self.total - self.below_total

    @property
    def left_by_ids(self) -> int:
        """How many have left, by what was shown."""
        return len(self.ids.keys() - self.below.keys())

    @property
    def is_consistent(self) -> bool:
        """Whether counts and results agree, and not by chance."""
        return self.left_by_count == self.left_by_ids and not self.doubt

    def has_shown(self, row_id: str) -> bool:
        """Tell whether a repository was shown by its window or its neighbours."""
        return row_id in self.ids or row_id in self.below or row_id in self.recent

    def begin_repair(self, within: Scope) -> list[Scope]:
        """Begin to ask again, and return what for; nothing more than is wanted at all."""
        self.tries += 1
        self.rounds += 1
        self.before = len(self.ids)
        ranges = (
            [_widen_range(each, within) for each in self.ranges] if self.proving else self.ranges
        )
        scopes, self.ranges = merge_ranges(ranges) or [_widen_range(self.scope, within)], []
        if self.rounds < FIRST_SPLIT_ROUND:
            return scopes
        created = [moment for moment in self.ids.values() if moment is not None]
        return [part for scope in scopes for part in split_by_time(scope, created, 2)]

    @property
    def repair_order(self) -> str:
        """The order to ask in, another one each time."""
        return SORT_ORDERS[(self.tries - 1) % len(SORT_ORDERS)]

    def finish_repair(self) -> bool:
        """Tell whether there is no more to be had from the pages that came short."""
        self.lacking -= len(self.ids) - self.before
        return self.lacking <= 0 or not self.ranges or self.rounds >= MAX_LOCAL_ROUNDS

    def begin_proof(self) -> None:
        """Begin to compare counts and results."""
        self.proving, self.ranges, self.rounds = True, [], 0


def _widen_range(scope: Scope, within: Scope) -> Scope:
    """Return a range with a star more on both sides: who moved meanwhile may stand there."""
    high = scope.high
    if high is not None and high != within.high:
        high += 1
    return msgspec.structs.replace(scope, low=max(scope.low - 1, within.low), high=high)


def merge_ranges(ranges: list[Scope]) -> list[Scope]:
    """Return ranges of stars, those of one slice of time that meet as one, most stars first."""
    found: list[Scope] = []
    for scope in sorted(ranges, key=_build_sort_key, reverse=True):
        last = found[-1] if found else None
        if (
            last is None
            or _get_time_range(last) != _get_time_range(scope)
            or _build_sort_key(scope)[1] < last.low
        ):
            found.append(scope)
        else:
            found[-1] = msgspec.structs.replace(last, low=min(last.low, scope.low))
    return found


def _get_time_range(scope: Scope) -> tuple[int, int]:
    return scope.begin or 0, scope.end or 0


def _build_sort_key(scope: Scope) -> tuple[tuple[int, int], float]:
    return _get_time_range(scope), inf if scope.high is None else scope.high


PAGES_BEFORE_REGROWTH = (
    10  # pages in a row that were not too large, after which larger ones are tried
)
MAX_EMPTY_TRIES = 3  # times a search may come without results that it counts
_MIN_RESULTS_OUTSIDE = 10  # results outside of what was asked for, from which it is no chance


class SweepState(msgspec.Struct):
    """All that a sweep knows."""

    scope: Scope
    most: int = MAX_PAGE_SIZE
    size: int = MAX_PAGE_SIZE
    calm: int = 0
    width: int = 1
    number: int = 0
    windows: dict[int, SearchWindow] = {}
    checks: dict[int, CompletenessCheck] = {}
    expected: int | None = None
    got: int = 0
    duplicates: int = 0
    requests: int = 0
    begun: int = 0
    splits: int = 0
    repairs: int = 0
    shifts: int = 0
    gaps: list[Gap] = []


class Sweep:
    """A harvest on its way, without I/O: see the top of this module.

    Parameters
    ----------
    scope
        What is wanted.
    size
        Most results of a page.
    width
        Into how many slices of time it is divided behind the first window, for as many chains at
        once; each costs about half a page.
    export_state
        What :meth:`export_state` returned: it goes on from there, and all else is taken from it.
    """

    def __init__(
        self, scope: Scope, *, size: int = MAX_PAGE_SIZE, width: int = 1, state: Any = None
    ) -> None:
        self._rows: list[RepositoryRow] = []
        self._requests: list[SearchRequest] = []
        self._notes: list[str] = []
        if state is not None:
            self._state = msgspec.convert(state, SweepState, str_keys=True)
            return
        self._state = SweepState(scope, size, size, width=width)
        self._open_window(scope)
        self._take_step()

    @classmethod
    def from_state(cls, state: Any) -> Self:
        """Go on from what :meth:`export_state` returned."""
        return cls(Scope(), state=state)

    def export_state(self) -> dict[str, Any]:
        """Return all of it as plain values, as JSON has them."""
        made: dict[str, Any] = msgspec.to_builtins(self._state, str_keys=True)
        return made

    def list_requests(self) -> list[SearchRequest]:
        """Return all requests that were not answered yet; what to ask first stands first."""
        windows = self._state.windows
        return [ask for number in sorted(windows, reverse=True) for ask in windows[number].waiting]

    def feed_page(self, ask: SearchRequest, page: SearchPage) -> SweepStep:
        """Take the answer to a request, and return what follows.

        Parameters
        ----------
        ask
            The request; one that was answered already changes nothing.
        page
            Its answer.

        Raises
        ------
        AnswerError
            If the endpoint does not heed what is asked for, so that there is no end to asking.
        """
        window = self._state.windows.get(ask.window)
        if window is None or window.asks.get(ask.start) != ask:
            return SweepStep()
        self._state.requests += 1
        if page.heavy and ask.first > 1:
            self._state.size, self._state.calm = min(self._state.size, ask.first // 2), 0
            self._requests.extend(window.split_request(ask))
        else:
            self._grow_pages()
            self._add_page(window, ask, page)
        return self._take_step()

    def build_coverage(self) -> Coverage:
        """Return how complete it is by now."""
        state = self._state
        return Coverage(
            scope=state.scope,
            expected=state.expected,
            got=state.got,
            duplicates=state.duplicates,
            requests=state.requests,
            bound=-(-state.got // MAX_PAGE_SIZE),
            windows=state.begun,
            splits=state.splits,
            repairs=state.repairs,
            shifts=state.shifts,
            gaps=tuple(state.gaps),
            open=len(state.windows),
        )

    # -- windows

    def _take_step(self) -> SweepStep:
        made = SweepStep(tuple(self._rows), tuple(self._requests), tuple(self._notes))
        self._rows, self._requests, self._notes = [], [], []
        return made

    def _grow_pages(self) -> None:
        """Ask for larger pages again when many have come."""
        state = self._state
        state.calm += 1
        if state.size < state.most and state.calm >= PAGES_BEFORE_REGROWTH:
            state.size, state.calm = min(state.most, state.size * 2), 0

    def _open_window(
        self, scope: Scope, held: CompletenessCheck | None = None, **details: Any
    ) -> None:
        """Begin a search, or hold it until a check has been shown all that it waits for."""
        self._state.begun += 1
        self._state.number += 1
        window = SearchWindow(self._state.number, scope, **details)
        self._state.windows[window.number] = window
        if held is None:
            self._requests.append(window.build_first_request(self._state.size))
        else:
            held.held.append(window.number)

    def _add_page(self, window: SearchWindow, ask: SearchRequest, page: SearchPage) -> None:
        """Keep a page; where it was the last one, go on from the window."""
        asks = window.add_page(ask, page)
        if self._state.expected is None:
            self._state.expected = page.total
        if not ask.start and page.total > MAX_SEARCH_RESULTS and self._split_early(window):
            return
        self._requests.extend(asks)
        if window.asks:
            return
        del self._state.windows[window.number]
        rows = window.collect_rows()
        self._check_results_match(window, rows)
        self._state.duplicates += sum(
            len(page.rows) - page.rows.count(None) for page in window.pages.values()
        ) - len(rows)
        if window.repairs:
            self._add_repair(window, rows, parts=0)
        else:
            self._finish_window(window, rows)

    def _split_early(self, window: SearchWindow) -> bool:
        """Divide a search that can't be completed, as its first page shows, without the others."""
        scope = window.scope
        if not (window.repairs or scope.low == scope.high):
            return False
        rows = window.collect_rows()
        if not rows:
            return False
        created = [row.created for row in rows.values() if row.created is not None]
        created += [each for each in window.recent.values() if each is not None]
        parts = split_by_time(scope, created, -(-window.total // TARGET_SLICE_SIZE))
        if len(parts) == 1 and window.repairs:
            parts = split_by_stars(scope, [row.stars for row in rows.values()])
        if len(parts) == 1:
            return False
        del self._state.windows[window.number]
        self._check_results_match(window, rows)
        if window.repairs:
            self._add_repair(window, rows, parts=len(parts))
            for part in parts:
                self._open_window(part, order=window.order, check=window.check, repairs=True)
        else:
            self._replace_window(window, rows, parts)
        return True

    def _finish_window(self, window: SearchWindow, rows: RowsById) -> None:
        """Go on from a window of the sweep whose pages are all there."""
        scope, last = window.scope, next(reversed(rows.values()), None)
        lowest = None if last is None else last.stars
        if lowest is None and window.total and window.tries < MAX_EMPTY_TRIES:
            tries = window.tries + 1
            self._open_window(scope, check=window.check, recent=window.recent, tries=tries)
            return
        parts: list[Scope] = []
        if window.total > MAX_SEARCH_RESULTS and lowest is not None:
            lowest = scope.clamp_stars(lowest)
            parts = self._plan_next_ranges(window, rows, lowest)
            if lowest == scope.high and len(parts) > 1:
                self._replace_window(window, rows, parts)
                return
        low = scope.low if not parts else (lowest or 0) + 1
        self._emit_rows(window, rows)
        self._start_check(window, rows, low, parts)

    def _plan_next_ranges(self, window: SearchWindow, rows: RowsById, lowest: int) -> list[Scope]:
        """Return what to search behind a window that shows a thousand of more; nothing if stuck."""
        scope, stars = window.scope, [row.stars for row in rows.values()]
        left = window.total - sum(map(lowest.__lt__, stars))
        count = count_slices(left, 2 * stars.count(lowest))
        if lowest == scope.low:
            count = -(-left // TARGET_SLICE_SIZE) if left > MAX_SEARCH_RESULTS else 1
        if window.number == 1:
            count = max(count, self._state.width)
        few = list_exclusions(rows.values(), lowest) if lowest != scope.high else ()
        below = msgspec.structs.replace(scope, high=lowest, without=few)
        if count == 1 and lowest != scope.high:
            return [below]
        created = [row.created for row in rows.values() if row.created is not None]
        parts = split_by_time(below, created, count)
        return parts if len(parts) > 1 or lowest != scope.high else []

    def _replace_window(self, window: SearchWindow, rows: RowsById, parts: list[Scope]) -> None:
        """Divide a window that one number of stars fills: others answer in its place."""
        self._emit_rows(window, rows)
        check = self._state.checks.get(window.check)
        if check is not None:
            check.waiting += len(parts) - 1
        shown = window.recent | {row.id: row.created for row in rows.values()}
        self._note_split(window, parts)
        for part in parts:
            self._open_window(part, check=window.check, recent=_filter_by_time(part, shown))

    def _note_split(self, window: SearchWindow, parts: list[Scope]) -> None:
        self._state.splits += 1
        self._notes.append(
            f"{window.text}: {window.total:,} match; it goes on in {len(parts)} slices of time."
        )

    def _emit_rows(self, window: SearchWindow, rows: RowsById) -> None:
        """Give out the repositories of a window of the sweep that were not known."""
        check = self._state.checks.get(window.check)
        known = window.recent if check is None else window.recent.keys() | check.ids.keys()
        new = [row for key, row in rows.items() if key not in known]
        self._rows += new
        self._state.got += len(new)
        if check is not None:
            check.below.update({key: row.created for key, row in rows.items()})

    def _check_results_match(self, window: SearchWindow, rows: RowsById) -> None:
        """Refuse to go on where most results are not what was asked for."""
        holds, made_in = window.scope.is_in_star_range, window.scope.is_in_time_range
        outside = sum(not (holds(row.stars) and made_in(row.created)) for row in rows.values())
        if outside >= _MIN_RESULTS_OUTSIDE and outside * 2 > len(rows):
            msg = (
                f"{outside} of {len(rows)} results of the search {window.text!r} are not what it "
                "asks for, so the endpoint does not heed 'stars:' or 'created:', without which "
                "there is no harvest."
            )
            raise AnswerError(msg)

    # -- checks

    def _start_check(
        self, window: SearchWindow, rows: RowsById, low: int, parts: list[Scope]
    ) -> None:
        """Go on from a window that has completed a range, and begin to check that."""
        scope = msgspec.structs.replace(window.scope, low=low)
        shown: CreationTimes = {row.id: row.created for row in rows.values()}
        check = CompletenessCheck(
            window.number, scope, window.check, window.total, shown, window.recent
        )
        check.waiting = len(parts)
        for count, place in window.find_missing():
            part = place.restrict_above(low)
            if part is not None:
                check.lacking += count
                check.ranges.append(part)
        self._state.checks[check.number] = check
        if len(parts) > 1:
            self._note_split(window, parts)
        above = self._state.checks.get(check.parent)
        others = above if above is not None and above.waiting > 1 else None
        for part in parts:
            self._open_window(part, others, check=check.number, recent=_filter_by_time(part, shown))
        if check.ranges:
            self._start_repair(check)
        else:
            self._report_to_parent(check)

    def _start_repair(self, check: CompletenessCheck) -> None:
        """Ask once more for what a check misses."""
        scopes = check.begin_repair(self._state.scope)
        check.out = len(scopes)
        for scope in scopes:
            self._state.repairs += 1
            self._open_window(scope, order=check.repair_order, check=check.number, repairs=True)
        self._notes.append(
            f"{scopes[0].format_expression()}: counts and results differ; asked again."
        )

    def _add_repair(self, window: SearchWindow, rows: RowsById, parts: int) -> None:
        """Take what asking again has brought."""
        check = self._state.checks[window.check]
        for row in rows.values():
            if not check.has_shown(row.id):
                self._rows.append(row)
                self._state.got += 1
            elif row.id not in check.recent or not check.scope.is_in_star_range(row.stars):
                continue
            check.ids[row.id] = row.created
            self._share_row(check, row)
        check.out += parts - 1
        if not parts and window.total > MAX_SEARCH_RESULTS:
            check.ranges.append(window.scope)
        elif not parts:
            missing = [place for _, place in window.find_missing()]
            whole = [window.scope] if window.has_possible_skips(rows) else []
            check.ranges.extend(missing or whole)
        if not check.out:
            self._finish_repair(check)

    def _share_row(self, check: CompletenessCheck, row: RepositoryRow) -> None:
        """Let those who go on below a range know what was found in it belatedly."""
        for window in self._state.windows.values():
            if window.check == check.number and not window.repairs:
                window.recent[row.id] = row.created
        for each in self._state.checks.values():
            if each.parent == check.number:
                each.recent[row.id] = row.created
            if each.number == check.parent:
                each.below[row.id] = row.created

    def _finish_repair(self, check: CompletenessCheck) -> None:
        """Go on with a check when all that was asked again is there."""
        if not check.proving:
            if check.finish_repair():
                self._report_to_parent(check)
            else:
                self._start_repair(check)
        elif check.is_consistent:
            self._close_check(check)
        elif not check.ranges:
            self._state.shifts += check.left_by_count != check.left_by_ids
            self._close_check(check)
        elif check.rounds >= MAX_ROUNDS and check.left_by_count == check.left_by_ids:
            self._close_check(check)
        elif check.rounds >= MAX_ROUNDS:
            self._report_gap(check)
        else:
            self._start_repair(check)

    def _report_to_parent(self, check: CompletenessCheck) -> None:
        """Tell the check above that this window has shown what it can, and prove its own range."""
        above = self._state.checks.get(check.parent)
        short = (
            len(check.ids) < check.total if check.total <= MAX_SEARCH_RESULTS else check.lacking > 0
        )
        check.doubt = check.doubt or short
        if above is not None:
            above.doubt = above.doubt or check.doubt
            above.below_total += check.total
            above.below.update(check.ids)
            above.waiting -= 1
            self._release_windows(above)
            self._prove_range(above)
        check.begin_proof()
        self._prove_range(check)

    def _release_windows(self, check: CompletenessCheck) -> None:
        """Go deeper when all slices of a window have begun: counts of one time can be compared."""
        if not check.waiting:
            for number in check.held:
                self._requests.append(
                    self._state.windows[number].build_first_request(self._state.size)
                )
            check.held = []

    def _prove_range(self, check: CompletenessCheck) -> None:
        """Compare counts and results, when all are there."""
        if check.waiting or not check.proving or check.out:
            return
        if check.is_consistent:
            self._close_check(check)
        else:
            self._start_repair(check)

    def _close_check(self, check: CompletenessCheck) -> None:
        del self._state.checks[check.number]

    def _report_gap(self, check: CompletenessCheck) -> None:
        """Report a range that can't be completed."""
        scope = check.scope
        alone = scope.low == scope.high and scope.begin == scope.end is not None
        why = (
            f"More than {MAX_SEARCH_RESULTS:,} repositories of equal stars were made in one second."
            if alone and check.left_by_count > MAX_SEARCH_RESULTS
            else f"Counts and results still differed when it was asked for the {MAX_ROUNDS}th time."
        )
        gap = Gap(scope.format_expression(), check.left_by_count, check.left_by_ids, why)
        self._state.gaps.append(gap)
        self._notes.append(f"{gap.text}: {gap.got:,} of {gap.expected:,}. {why}")
        self._close_check(check)


def _filter_by_time(scope: Scope, ids: CreationTimes) -> CreationTimes:
    """Return those that may have been made in the slice of a scope."""
    return {key: created for key, created in ids.items() if scope.is_in_time_range(created)}

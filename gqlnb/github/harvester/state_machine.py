"""The state machine of a harvest: it decides which searches to send, and proves completeness.

A search shows at most 1,000 results. :class:`Sweep` therefore sorts by stars, and continues where
a search ended with ``stars:<=N`` (the *next window*); where many repositories have equal stars it
splits the range by creation time. A :class:`CompletenessCheck` compares the counts and the rows of
each window with those of the windows below it, and repeats searches until they agree.

It does no I/O: it is fed with pages and returns requests.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
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

TARGET_SLICE_SIZE = 920  # repositories; slices of this size rarely exceed the 1,000 of a search
SINGLE_SEARCH_LIMIT = 4000  # with fewer repositories left, each slice is one search
SPLIT_THRESHOLD = 100_000  # repositories left times those of equal stars; a split pays from here
SAMPLES_PER_SLICE = 10  # creation times per slice, so that slices are about equal
MAX_EXCLUDED = 3  # `-repo:` qualifiers in one search
_FULL_NAME_PATTERN = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_EARLIEST_CREATION = 1167609600  # 2007: GitHub was founded then
_LATEST_CREATION = 2**31 - 1  # seconds since 1970 in 32 bits

MAX_ROUNDS = 6
"""Number of times a range is searched again to make counts and results agree."""
MAX_LOCAL_ROUNDS = 3  # repetitions for pages with too few results, before that
FIRST_SPLIT_ROUND = 3  # from this repetition on in halves: small searches are more often complete
# The endpoint treats another order as another search, which may show results that the first left
# out. Stars come first, since that order shows in which range results are missing.
SORT_ORDERS = ("stars-asc", "stars-desc", "forks-desc", "updated-desc", "forks-asc", "updated-asc")

PAGES_BEFORE_REGROWTH = 10  # pages in a row that were not too large, before larger ones are tried
MAX_EMPTY_TRIES = 3  # repetitions of a search that shows no results although its count is above 0
_MIN_RESULTS_OUTSIDE = 10  # results outside of the range; fewer may have changed since


def count_slices(left: int, ties: int) -> int:
    """Return the number of time slices in which to continue.

    The next search returns again the repositories with as many stars as the last one had: half of
    `ties` on average, fewer in a slice. On the other hand each slice ends with a page that is half
    empty on average.

    Parameters
    ----------
    left
        Number of repositories left.
    ties
        Estimated number of repositories with equal stars.
    """
    if left <= MAX_SEARCH_RESULTS or left * ties <= SPLIT_THRESHOLD:
        return 1
    return ceil(left / TARGET_SLICE_SIZE) if left < SINGLE_SEARCH_LIMIT else 2


def list_exclusions(rows: Iterable[RepositoryRow], lowest: int) -> tuple[str, ...]:
    """Return the repositories with `lowest` stars if they are few enough to exclude by name.

    The next window begins with that number of stars, as there may be more of them.
    """
    repeated = [row for row in rows if row.stars == lowest]
    names = [f"{row.owner}/{row.name}" for row in repeated[: MAX_EXCLUDED + 1]]
    few = len(names) <= MAX_EXCLUDED and all(map(_FULL_NAME_PATTERN.fullmatch, names))
    return tuple(names) if few else ()


def split_by_time(scope: Scope, created: Sequence[int], parts: int) -> list[Scope]:
    """Split a scope into slices of creation time with about equally many repositories.

    Parameters
    ----------
    scope
        The scope to split.
    created
        Creation times of some of its repositories, as a sample.
    parts
        Number of slices. Fewer are returned if the sample is small, and only the scope itself if
        it is one second.
    """
    sample = sorted(moment for moment in created if scope.is_in_time_range(moment))
    parts = max(2, min(parts, len(sample) // SAMPLES_PER_SLICE))
    cuts: set[int] = set()
    for part in range(1, parts) if sample else ():
        cut = sample[int(len(sample) * (part / parts))]
        cuts.add(cut)
        if bisect_right(sample, cut) - bisect_left(sample, cut) > len(sample) // SAMPLES_PER_SLICE:
            cuts.add(cut - 1)  # a second with many repositories gets its own slice
    begin = _EARLIEST_CREATION if scope.begin is None else scope.begin
    end = _LATEST_CREATION if scope.end is None else scope.end
    inside = sorted(cut for cut in cuts if begin <= cut < end)
    if not inside and begin < end:
        inside = [(begin + end) // 2]
    starts = [scope.begin, *(cut + 1 for cut in inside)]
    return [
        msgspec.structs.replace(scope, begin=first, end=last)
        for first, last in zip(starts, [*inside, scope.end], strict=True)
    ]


def split_by_stars(scope: Scope, stars: Sequence[int]) -> list[Scope]:
    """Halve a star range; a single star count is returned as it is.

    Parameters
    ----------
    scope
        The scope to split.
    stars
        Star counts of some of its repositories.
    """
    top = scope.high if scope.high is not None else max([*stars, scope.low])
    if scope.low >= top:
        return [scope]
    middle = (scope.low + top + 1) // 2
    return [
        msgspec.structs.replace(scope, low=middle),
        msgspec.structs.replace(scope, high=middle - 1),
    ]


class CompletenessCheck(msgspec.Struct):
    """Comparison of the count and the rows of a window with those of the windows below it.

    Attributes
    ----------
    number
        Number of its window.
    scope
        Range that the window should have completed.
    parent
        Number of the check that waits for this window; 0 for none.
    total
        Count of the window.
    ids
        Repositories of the window, and those found in its range by repeated searches.
    recent
        Repositories found above its range.
    waiting
        Number of next windows that are not finished.
    held
        Windows below those, which start when all next windows are finished.
    below, below_total
        Repositories of the next windows, and the sum of their counts.
    lacking
        Number of results known to be missing from its pages.
    ranges
        Star ranges in which results are missing, from its own pages or from repeated searches.
    proving
        Whether counts are compared; before that only pages with too few results are repaired.
    doubt
        Whether a window showed fewer results than it counted, for an unknown reason: then counts
        may agree by chance, and the range is searched again.
    tries
        Number of repetitions.
    rounds
        Number of repetitions in the present phase.
    out
        Number of repeated searches that are not finished.
    before
        Number of ids when they began.
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
        """Number of repositories in the range, by the counts."""
        return self.total - self.below_total

    @property
    def left_by_ids(self) -> int:
        """Number of repositories in the range, by the rows."""
        return len(self.ids.keys() - self.below.keys())

    @property
    def is_consistent(self) -> bool:
        """Whether counts and rows agree, and not by chance."""
        return self.left_by_count == self.left_by_ids and not self.doubt

    def has_shown(self, row_id: str) -> bool:
        """Return whether a repository came from the window or from its neighbours."""
        return row_id in self.ids or row_id in self.below or row_id in self.recent

    def begin_repair(self, within: Scope) -> list[Scope]:
        """Start a round of repeated searches, and return their ranges, which lie in `within`."""
        self.tries += 1
        self.rounds += 1
        self.before = len(self.ids)
        ranges = self.ranges
        if self.proving:
            ranges = [_widen_range(scope, within) for scope in ranges]
        scopes, self.ranges = merge_ranges(ranges) or [_widen_range(self.scope, within)], []
        if self.rounds < FIRST_SPLIT_ROUND:
            return scopes
        created = [moment for moment in self.ids.values() if moment is not None]
        return [part for scope in scopes for part in split_by_time(scope, created, 2)]

    @property
    def repair_order(self) -> str:
        """The sort order of the present round."""
        return SORT_ORDERS[(self.tries - 1) % len(SORT_ORDERS)]

    def finish_repair(self) -> bool:
        """Return whether the repair of pages with too few results is over."""
        self.lacking -= len(self.ids) - self.before
        return self.lacking <= 0 or not self.ranges or self.rounds >= MAX_LOCAL_ROUNDS

    def begin_proof(self) -> None:
        """Start to compare counts and rows."""
        self.proving, self.ranges, self.rounds = True, [], 0


def _widen_range(scope: Scope, within: Scope) -> Scope:
    """Add one star on both sides: a repository may have moved there meanwhile."""
    high = scope.high
    if high is not None and high != within.high:
        high += 1
    return msgspec.structs.replace(scope, low=max(scope.low - 1, within.low), high=high)


def merge_ranges(ranges: list[Scope]) -> list[Scope]:
    """Merge overlapping star ranges of the same time slice, most stars first."""

    def sort_key(scope: Scope) -> tuple[int, int, float]:
        return scope.begin or 0, scope.end or 0, inf if scope.high is None else scope.high

    merged: list[Scope] = []
    for scope in sorted(ranges, key=sort_key, reverse=True):
        last = merged[-1] if merged else None
        *slice_, high = sort_key(scope)
        if last is not None and [*sort_key(last)[:2]] == slice_ and high >= last.low:
            merged[-1] = msgspec.structs.replace(last, low=min(last.low, scope.low))
        else:
            merged.append(scope)
    return merged


class SweepState(msgspec.Struct):
    """The whole state of a sweep, as it is written to the log of a harvest."""

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


# The harvest compares ids, not star counts, with the difference of the counts. What does not
# agree is requested again in a smaller range and another order, and reported if it never agrees.
# The log holds answers, not conclusions: the state machine is deterministic, so replaying the log
# restores its state.
class Sweep:
    """A harvest without I/O.

    Parameters
    ----------
    scope
        The repositories to harvest.
    size
        Largest page size.
    width
        Number of time slices after the first window, so that as many searches can run at once;
        each costs about half a page.
    state
        A state to continue from, instead of all others.
    """

    def __init__(
        self,
        scope: Scope,
        *,
        size: int = MAX_PAGE_SIZE,
        width: int = 1,
        state: SweepState | None = None,
    ) -> None:
        self._rows: list[RepositoryRow] = []
        self._requests: list[SearchRequest] = []
        self._notes: list[str] = []
        self._state = state or SweepState(scope, size, size, width=width)
        if state is None:
            self._open_window(SearchWindow(0, scope))
            self._take_step()

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """Continue from the state that :meth:`export_state` returned."""
        known = msgspec.convert(state, SweepState, str_keys=True)
        return cls(known.scope, state=known)

    def export_state(self) -> dict[str, Any]:
        """Return the whole state as JSON values."""
        state: dict[str, Any] = msgspec.to_builtins(self._state, str_keys=True)
        return state

    @property
    def expected(self) -> int | None:
        """Number of matching repositories; None before the first answer."""
        return self._state.expected

    @property
    def got(self) -> int:
        """Number of repositories so far."""
        return self._state.got

    def list_requests(self) -> list[SearchRequest]:
        """Return all requests without an answer, the one to send first in front."""
        windows = self._state.windows
        return [ask for number in sorted(windows, reverse=True) for ask in windows[number].waiting]

    def feed_page(self, ask: SearchRequest, page: SearchPage) -> SweepStep:
        """Process the answer to a request, and return its consequences.

        Parameters
        ----------
        ask
            The request; one that was answered before is ignored.
        page
            Its answer.

        Raises
        ------
        AnswerError
            If the endpoint ignores the search expression, so that the sweep would not end.
        """
        window, state = self._state.windows.get(ask.window), self._state
        if window is None or window.asks.get(ask.start) != ask:
            return SweepStep()
        state.requests += 1
        if page.heavy and ask.first > 1:
            state.size, state.calm = min(state.size, ask.first // 2), 0
            self._requests.extend(window.split_request(ask))
        else:
            state.calm += 1
            if state.size < state.most and state.calm >= PAGES_BEFORE_REGROWTH:
                state.size, state.calm = min(state.most, state.size * 2), 0
            self._add_page(window, ask, page)
        return self._take_step()

    def build_coverage(self) -> Coverage:
        """Return the completeness so far."""
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
        step = SweepStep(tuple(self._rows), tuple(self._requests), tuple(self._notes))
        self._rows, self._requests, self._notes = [], [], []
        return step

    def _open_window(self, window: SearchWindow, held_by: CompletenessCheck | None = None) -> None:
        """Start the search of a window, or hold it until a check has all its next windows."""
        self._state.begun += 1
        self._state.number += 1
        window.number = self._state.number
        self._state.windows[window.number] = window
        if held_by is None:
            self._requests.append(window.build_first_request(self._state.size))
        else:
            held_by.held.append(window.number)

    def _add_page(self, window: SearchWindow, ask: SearchRequest, page: SearchPage) -> None:
        """Store a page; after the last one of its window, continue from there."""
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
        shown = sum(len(page.rows) - page.rows.count(None) for page in window.pages.values())
        self._state.duplicates += shown - len(rows)
        if window.repairs:
            self._add_repair(window, rows, parts=0)
        else:
            self._finish_window(window, rows)

    def _split_early(self, window: SearchWindow) -> bool:
        """Split a search that cannot be completed after its first page, without the others."""
        scope = window.scope
        rows = window.collect_rows()
        if not rows or not (window.repairs or scope.low == scope.high):
            return False
        created = [row.created for row in rows.values() if row.created is not None]
        created += [moment for moment in window.recent.values() if moment is not None]
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
                self._open_window(SearchWindow(0, part, window.order, window.check, repairs=True))
        else:
            self._replace_window(window, rows, parts)
        return True

    def _finish_window(self, window: SearchWindow, rows: RowsById) -> None:
        """Continue from a window whose pages are complete."""
        scope, last = window.scope, next(reversed(rows.values()), None)
        lowest = None if last is None else last.stars
        if lowest is None and window.total and window.tries < MAX_EMPTY_TRIES:
            again = SearchWindow(0, scope, check=window.check, recent=window.recent)
            again.tries = window.tries + 1
            self._open_window(again)
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
        """Return the ranges after a window of more than 1,000; none if it cannot be continued."""
        scope, stars = window.scope, [row.stars for row in rows.values()]
        left = window.total - sum(map(lowest.__lt__, stars))
        count = count_slices(left, 2 * stars.count(lowest))
        if lowest == scope.low:
            count = -(-left // TARGET_SLICE_SIZE) if left > MAX_SEARCH_RESULTS else 1
        if window.number == 1:
            count = max(count, self._state.width)
        excluded = list_exclusions(rows.values(), lowest) if lowest != scope.high else ()
        below = msgspec.structs.replace(scope, high=lowest, without=excluded)
        if count == 1 and lowest != scope.high:
            return [below]
        created = [row.created for row in rows.values() if row.created is not None]
        parts = split_by_time(below, created, count)
        return parts if len(parts) > 1 or lowest != scope.high else []

    def _replace_window(self, window: SearchWindow, rows: RowsById, parts: list[Scope]) -> None:
        """Replace a window, all rows of which have equal stars, by time slices."""
        self._emit_rows(window, rows)
        check = self._state.checks.get(window.check)
        if check is not None:
            check.waiting += len(parts) - 1
        shown = window.recent | {row.id: row.created for row in rows.values()}
        self._note_split(window, parts)
        for part in parts:
            recent = _filter_by_time(part, shown)
            self._open_window(SearchWindow(0, part, check=window.check, recent=recent))

    def _note_split(self, window: SearchWindow, parts: list[Scope]) -> None:
        self._state.splits += 1
        self._notes.append(
            f"{window.text}: {window.total:,} match; continued in {len(parts)} time slices."
        )

    def _emit_rows(self, window: SearchWindow, rows: RowsById) -> None:
        """Return the new repositories of a window with the next step."""
        check = self._state.checks.get(window.check)
        known = window.recent if check is None else window.recent.keys() | check.ids.keys()
        new = [row for key, row in rows.items() if key not in known]
        self._rows += new
        self._state.got += len(new)
        if check is not None:
            check.below.update({key: row.created for key, row in rows.items()})

    def _check_results_match(self, window: SearchWindow, rows: RowsById) -> None:
        """Raise if most results lie outside of the range: the endpoint ignores the qualifiers."""
        scope = window.scope
        outside = sum(
            not (scope.is_in_star_range(row.stars) and scope.is_in_time_range(row.created))
            for row in rows.values()
        )
        if outside >= _MIN_RESULTS_OUTSIDE and outside * 2 > len(rows):
            msg = (
                f"{outside} of {len(rows)} results of the search {window.text!r} do not match it: "
                "the endpoint ignores 'stars:' or 'created:', and cannot be harvested without."
            )
            raise AnswerError(msg)

    # -- checks

    def _start_check(
        self, window: SearchWindow, rows: RowsById, low: int, parts: list[Scope]
    ) -> None:
        """Open the next windows, and start the check of the range from `low` stars up."""
        scope = msgspec.structs.replace(window.scope, low=low)
        shown: CreationTimes = {row.id: row.created for row in rows.values()}
        check = CompletenessCheck(
            window.number, scope, window.check, window.total, shown, window.recent
        )
        check.waiting = len(parts)
        for count, missing in window.find_missing():
            part = missing.restrict_above(low)
            if part is not None:
                check.lacking += count
                check.ranges.append(part)
        self._state.checks[check.number] = check
        if len(parts) > 1:
            self._note_split(window, parts)
        above = self._state.checks.get(check.parent)
        siblings = above if above is not None and above.waiting > 1 else None
        for part in parts:
            recent = _filter_by_time(part, shown)
            self._open_window(SearchWindow(0, part, check=check.number, recent=recent), siblings)
        if check.ranges:
            self._start_repair(check)
        else:
            self._report_to_parent(check)

    def _start_repair(self, check: CompletenessCheck) -> None:
        """Repeat the searches in which rows of a check are missing."""
        scopes = check.begin_repair(self._state.scope)
        check.out = len(scopes)
        for scope in scopes:
            self._state.repairs += 1
            repeated = SearchWindow(0, scope, check.repair_order, check.number, repairs=True)
            self._open_window(repeated)
        self._notes.append(
            f"{scopes[0].format_expression()}: counts and results differ; searched again."
        )

    def _add_repair(self, window: SearchWindow, rows: RowsById, parts: int) -> None:
        """Add the rows of a repeated search, which goes on in `parts` others."""
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
            missing = [scope for _, scope in window.find_missing()]
            whole = [window.scope] if window.has_possible_skips(rows) else []
            check.ranges.extend(missing or whole)
        if not check.out:
            self._finish_repair(check)

    def _share_row(self, check: CompletenessCheck, row: RepositoryRow) -> None:
        """Add a row that was found late to the neighbouring windows and checks."""
        for window in self._state.windows.values():
            if window.check == check.number and not window.repairs:
                window.recent[row.id] = row.created
        for other in self._state.checks.values():
            if other.parent == check.number:
                other.recent[row.id] = row.created
            if other.number == check.parent:
                other.below[row.id] = row.created

    def _finish_repair(self, check: CompletenessCheck) -> None:
        """Continue with a check when all its repeated searches are finished."""
        counts_agree = check.left_by_count == check.left_by_ids
        if not check.proving:
            if check.finish_repair():
                self._report_to_parent(check)
            else:
                self._start_repair(check)
        elif check.is_consistent:
            del self._state.checks[check.number]
        elif not check.ranges:
            # The searches were complete, so the endpoint's data changed between them.
            self._state.shifts += not counts_agree
            del self._state.checks[check.number]
        elif check.rounds < MAX_ROUNDS:
            self._start_repair(check)
        else:
            del self._state.checks[check.number]
            if not counts_agree:
                self._report_gap(check)

    def _report_to_parent(self, check: CompletenessCheck) -> None:
        """Pass the rows of a window to the check above, and start to prove its own range."""
        above = self._state.checks.get(check.parent)
        all_reachable = check.total <= MAX_SEARCH_RESULTS
        short = len(check.ids) < check.total if all_reachable else check.lacking > 0
        check.doubt = check.doubt or short
        if above is not None:
            above.doubt = above.doubt or check.doubt
            above.below_total += check.total
            above.below.update(check.ids)
            above.waiting -= 1
            if not above.waiting:  # all slices have begun, so their counts are of the same time
                for number in above.held:
                    window = self._state.windows[number]
                    self._requests.append(window.build_first_request(self._state.size))
                above.held = []
            self._prove_range(above)
        check.begin_proof()
        self._prove_range(check)

    def _prove_range(self, check: CompletenessCheck) -> None:
        """Compare counts and rows as soon as all windows are finished."""
        if check.waiting or not check.proving or check.out:
            return
        if check.is_consistent:
            del self._state.checks[check.number]
        else:
            self._start_repair(check)

    def _report_gap(self, check: CompletenessCheck) -> None:
        scope = check.scope
        indivisible = scope.low == scope.high and scope.begin == scope.end is not None
        why = (
            f"More than {MAX_SEARCH_RESULTS:,} repositories with equal stars were created in "
            "one second."
            if indivisible and check.left_by_count > MAX_SEARCH_RESULTS
            else f"Counts and results still differed after {MAX_ROUNDS} repeated searches."
        )
        gap = Gap(scope.format_expression(), check.left_by_count, check.left_by_ids, why)
        self._state.gaps.append(gap)
        self._notes.append(f"{gap.text}: {gap.got:,} of {gap.expected:,}. {why}")


def _filter_by_time(scope: Scope, ids: CreationTimes) -> CreationTimes:
    """Return the ids that may lie in the time slice of a scope."""
    return {key: created for key, created in ids.items() if scope.is_in_time_range(created)}

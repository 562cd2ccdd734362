"""The state machine of a harvest: it decides which searches to send, and proves completeness.

A search shows at most 1,000 results. While the data stand still, :class:`Sweep` reads *chains*: it
sorts by stars, and continues where a search ended with ``stars:<=N`` (the *next window*); where
many repositories have equal stars it splits the range by creation time. A :class:`CountCheck`
compares the count and the rows of each window with those of the windows below it.

As soon as anything disagrees, a chain proves nothing any more: repositories move across the borders
between its windows. The sweep then reads *closed windows*: slices of creation time, which never
changes, of at most 1,000 results, each of which has to prove its own completeness
(:meth:`SearchWindow.assess`). A closed window that does not is read again: around the places where
a repository may have been skipped (:class:`RangeRepair`), then in halves and in other orders.

It does no I/O: it is fed with pages and returns requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import msgspec

from gqlnb.client.paging.offset_cursors import detect_offset_format
from gqlnb.errors import AnswerError
from gqlnb.github.harvester.query_range import (
    TARGET_SLICE_SIZE,
    Scope,
    count_slices,
    join_ranges,
    merge_ranges,
    split_by_stars,
    split_by_time,
)
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
    list_exclusions,
)
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS

__all__ = ["Sweep"]

#: Number of times a range is searched again, each time in smaller parts or another order.
MAX_TRIES = 12
# The endpoint treats another order as another search, which may show results that the first left
# out. Stars come first, since that order shows in which range results are missing.
SORT_ORDERS = ("stars-desc", "stars-asc", "updated-desc", "forks-desc", "updated-asc", "forks-asc")
# At the end all are counted again: changes that hid each other in a chain have changed the count.
# Other orders are other searches, whose counts are wrong in another way where they are wrong. In a
# short chain few counts were compared, so more are requested.
RECOUNT_ORDERS = ("stars-asc", "updated-desc", "forks-desc")
SHORT_CHAIN = 4  # windows
# Checks that agreed shortly before others did not: movement had begun, and may have hidden itself.
CHECKS_REOPENED = 30
CLOSED_SLICE_SIZE = 800  # repositories; fewer than in chains, as their distribution is less known
# A slice is a small share of all, so that changes at the same time rarely hide each other in it.
MIN_CLOSED_SLICES = 8
MIN_SLICE_SIZE = 85  # repositories, mostly on one page
MIN_LOCAL_TOTAL = 250  # a smaller window is read again whole
# One second is searched again whole before its parts are: where only results were left out, this
# many searches and the next prove it together.
MAX_WHOLE_READS = 3
# Where counts are wrong, repetitions bring nothing. They stop when they took so many more pages
# than those that helped, and this share of all; what is not proved then is reported.
FRUITLESS_PAGES = 16
FRUITLESS_SHARE = 0.1
MAX_MISCOUNTS = 2  # counts that are too low for their own answer; they stop then too

PAGES_BEFORE_REGROWTH = 10  # pages in a row that were not too large, before larger ones are tried
_MIN_RESULTS_OUTSIDE = 10  # results outside of the range; fewer may have changed since


class CountCheck(msgspec.Struct):
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
        Repositories of the window.
    recent
        Repositories that came before it.
    waiting
        Number of next windows that are not finished.
    held
        Windows below those, which start when all next windows are finished.
    below, below_total
        Repositories of the next windows, and the sum of their counts.
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

    @property
    def is_consistent(self) -> bool:
        """Whether counts and rows agree on the number of repositories in the range."""
        return self.total - self.below_total == len(self.ids.keys() - self.below.keys())


class RangeRepair(msgspec.Struct):
    """Closed windows that search again for repositories that another one may have skipped.

    They search the star ranges around the places where it may have skipped repositories, or
    everything in parts. If everything shows less than was counted, the count was wrong.

    Attributes
    ----------
    number
        Number of the window that is repaired.
    scope
        Its range.
    tries
        How often it was searched before.
    ids
        Its repositories, and those that the new windows found.
    recent
        Repositories that came before it.
    missing
        Number of repositories that may have been skipped around these places; 0 for the whole
        range.
    unseen
        Number of repositories that were counted all the time, and not shown.
    found
        Number that they found in the range.
    open
        Number of them that are not finished.
    failed
        Whether one of them ended as a gap.
    whole
        Whether they search the whole range, and only that.
    parent
        Number of the repair that waits for this one; 0 for none.
    counted
        Whether its range was counted again at the end.
    """

    number: int
    scope: Scope
    tries: int
    ids: CreationTimes
    recent: CreationTimes
    missing: int
    unseen: int = 0
    found: int = 0
    open: int = 0
    failed: bool = False
    whole: bool = False
    parent: int = 0
    counted: bool = False


class SweepState(msgspec.Struct):
    """The whole state of a sweep, as it is written to the log of a harvest."""

    scope: Scope
    most: int = MAX_PAGE_SIZE
    size: int = MAX_PAGE_SIZE
    calm: int = 0
    width: int = 1
    number: int = 0
    windows: dict[int, SearchWindow] = {}
    checks: dict[int, CountCheck] = {}
    proved: list[CountCheck] = []
    repairs: dict[int, RangeRepair] = {}
    moving: bool = False
    recounted: bool = False
    compared: bool = False
    grown: bool = False  # whether a slice counted more than it had shown
    slices: list[tuple[Scope, int]] = []
    expected: int | None = None
    got: int = 0
    duplicates: int = 0
    requests: int = 0
    begun: int = 0
    splits: int = 0
    repeated: int = 0
    fruitless: int = 0
    miscounts: int = 0
    shifts: int = 0
    gaps: list[Gap] = []
    recovered: list[str] = []


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

    @property
    def is_moving(self) -> bool:
        """Whether counts or results disagreed, so that it reads slices of creation time."""
        return self._state.moving

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
        if not state.windows:
            self._start_last_counts()
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
            repairs=state.repeated,
            shifts=state.shifts,
            gaps=tuple(state.gaps) or self._list_doubts(),
            open=len(state.windows),
            recovered=tuple(sorted(state.recovered)),
        )

    def _list_doubts(self) -> tuple[Gap, ...]:
        """Return the whole range as a gap if counts were wrong: then they agreed by chance."""
        state = self._state
        if not state.miscounts or state.windows:
            return ()
        text, expected = state.scope.format_expression(), state.expected or 0
        why = f"{state.miscounts} counts were wrong, so others may be right by chance."
        return (Gap(text, expected, state.got, why),)

    # -- windows

    def _take_step(self) -> SweepStep:
        step = SweepStep(tuple(self._rows), tuple(self._requests), tuple(self._notes))
        self._rows, self._requests, self._notes = [], [], []
        return step

    def _add_window(self, window: SearchWindow) -> None:
        """Give a window its number."""
        self._state.begun += 1
        self._state.number += 1
        window.number = self._state.number
        self._state.windows[window.number] = window

    def _open_window(self, window: SearchWindow, held_by: CountCheck | None = None) -> None:
        """Start the search of a window, or hold it until a check has all its next windows."""
        self._add_window(window)
        if held_by is None:
            self._requests.append(window.build_first_request(self._state.size))
        else:
            held_by.held.append(window.number)

    def _open_parts(
        self,
        parts: list[Scope],
        known: CreationTimes,
        held_by: CountCheck | None = None,
        **about: Any,  # noqa: ANN401 - of several types
    ) -> None:
        """Open a window for each part of a range, with its share of the known facts."""
        for part in parts:
            recent = {key: made for key, made in known.items() if part.is_in_time_range(made)}
            self._open_window(SearchWindow(0, part, recent=recent, **about), held_by)

    def _add_page(self, window: SearchWindow, ask: SearchRequest, page: SearchPage) -> None:
        """Store a page; after the last one of its window, continue from there."""
        if window.comparison:
            self._compare_count(window, page)
            return
        asks = window.add_page(ask, page)
        if self._state.expected is None:
            self._state.expected = page.total
        if not window.closed and window.has_movement:
            self._requests.extend(asks)
            self._leave_chains()
        elif not ask.start and self._split_early(window):
            return
        else:
            self._requests.extend(asks)
        if window.asks or window.number not in self._state.windows:
            return
        rows = window.collect_rows()
        self._check_results_match(window, rows)
        self._state.duplicates += window.count_repeated_rows()
        if window.closed:
            del self._state.windows[window.number]
            self._finish_closed_window(window, rows)
        elif len(rows) < window.reach:
            self._leave_chains()
        else:
            del self._state.windows[window.number]
            self._finish_chain_window(window, rows)

    def _split_early(self, window: SearchWindow) -> bool:
        """Split a search that cannot be completed after its first page, without the others."""
        scope, rows = window.scope, window.collect_rows()
        if not rows or not (window.closed or scope.low == scope.high):
            return False
        size, most = TARGET_SLICE_SIZE, MAX_SEARCH_RESULTS - 1
        if window.closed:
            share = (self._state.expected or 0) // MIN_CLOSED_SLICES
            size = min(CLOSED_SLICE_SIZE, max(share, MIN_SLICE_SIZE))
            if not window.tries:
                most = min(most, max(share * 5 // 4, MAX_PAGE_SIZE))
            if detect_offset_format(window.pages[0].end, window.sizes[0]) is None:
                # Pages that cannot overlap prove nothing together, so that each is a search.
                size, most = MIN_SLICE_SIZE, MAX_PAGE_SIZE
        if window.total <= most:
            return False
        created = [row.created for row in rows.values() if row.created is not None]
        created += [moment for moment in window.recent.values() if moment is not None]
        parts = split_by_time(scope, created, -(-window.total // size))
        if len(parts) == 1:
            too_many = window.closed and window.is_capped
            return too_many and self._split_second(window, rows, window.tries)
        del self._state.windows[window.number]
        self._check_results_match(window, rows)
        if window.closed:
            self._note_split(window, parts)
            self._emit_rows(window, rows)
            self._replace_closed_window(window, rows, parts, "stars-desc", window.tries)
        else:
            self._replace_window(window, rows, parts)
        return True

    def _split_second(self, window: SearchWindow, rows: RowsById, tries: int) -> bool:
        """Search the lower half of the stars of one second first, then the upper half.

        In this order, a repository that gains stars between them is in one of them at least.
        """
        state, scope = self._state, window.scope
        halves = split_by_stars(scope, [row.stars for row in rows.values()])
        if len(halves) == 1:
            return False
        state.windows.pop(window.number, None)
        self._check_results_match(window, rows)
        self._emit_rows(window, rows)
        state.splits += 1
        self._notes.append(f"{window.text}: continued in two ranges of stars, the lower one first.")
        repair = state.repairs.get(window.parent)
        if repair is not None:
            repair.open += 1
        upper, lower = halves
        # The margin is for those that lose stars; the upper half has to be smaller than the whole.
        low = max(self._widen_range(upper).low, scope.low + 1)
        above = [msgspec.structs.replace(upper, low=low), *window.above]
        self._open_closed_window(window, rows, lower, above, tries)
        return True

    def _open_closed_window(
        self, window: SearchWindow, rows: RowsById, scope: Scope, above: list[Scope], tries: int = 0
    ) -> None:
        """Search a range of the same second as the window that has just ended."""
        shown = window.recent | _map_creation(rows)
        self._open_window(
            SearchWindow(0, scope, "stars-desc", window.parent, True, shown, tries, above=above)
        )

    def _note_split(self, window: SearchWindow, parts: list[Scope]) -> None:
        self._state.splits += 1
        self._notes.append(
            f"{window.text}: {window.total:,} match; continued in {len(parts)} time slices."
        )

    def _emit_rows(self, window: SearchWindow, rows: RowsById) -> list[str]:
        """Return the new repositories of a window with the next step; return their ids."""
        check = self._state.checks.get(window.parent)
        known = window.recent if check is None else window.recent.keys() | check.ids.keys()
        new = [row for key, row in rows.items() if key not in known]
        self._rows += new
        self._state.got += len(new)
        if check is not None:
            check.below |= _map_creation(rows)
        return [row.id for row in new]

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

    # -- chains

    def _finish_chain_window(self, window: SearchWindow, rows: RowsById) -> None:
        """Continue below a window after all its pages were received."""
        scope, parts = window.scope, list[Scope]()
        low = scope.low
        if window.is_capped:
            lowest = scope.clamp_stars(next(reversed(rows.values())).stars)
            parts = self._plan_next_ranges(window, rows, lowest)
            if lowest == scope.high and len(parts) > 1:
                self._replace_window(window, rows, parts)
                return
            low = lowest + 1 if parts else low
        self._emit_rows(window, rows)
        self._start_check(window, rows, low, parts)

    def _plan_next_ranges(self, window: SearchWindow, rows: RowsById, lowest: int) -> list[Scope]:
        """Return the ranges after a window of more than 1,000; none if it cannot be continued."""
        scope, stars = window.scope, [row.stars for row in rows.values()]
        left = window.total - sum(map(lowest.__lt__, stars))
        # Endpoints may lack the repositories with the fewest stars: data for tests, by language.
        low = max(scope.low, lowest * len(stars) / (len(stars) + left) / 2)
        count = count_slices(left, low, lowest, 2 * stars.count(lowest))
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
        check = self._state.checks.get(window.parent)
        if check is not None:
            check.waiting += len(parts) - 1
        self._note_split(window, parts)
        self._open_parts(parts, window.recent | _map_creation(rows), parent=window.parent)

    def _start_check(
        self, window: SearchWindow, rows: RowsById, low: int, parts: list[Scope]
    ) -> None:
        """Open the next windows, and start the check of the range from `low` stars up."""
        scope = msgspec.structs.replace(window.scope, low=low)
        shown = _map_creation(rows)
        check = CountCheck(
            window.number, scope, window.parent, window.total, shown, window.recent, len(parts)
        )
        self._state.checks[check.number] = check
        if len(parts) > 1:
            self._note_split(window, parts)
        above = self._state.checks.get(check.parent)
        siblings = above if above is not None and above.waiting > 1 else None
        self._open_parts(parts, shown, siblings, parent=check.number)
        if above is not None:
            above.below_total += check.total
            above.waiting -= 1
            if not above.waiting:  # all slices have begun, so their counts are of the same time
                for number in above.held:
                    held = self._state.windows[number]
                    self._requests.append(held.build_first_request(self._state.size))
                above.held = []
        for each in (above, check):
            if each is None or each.waiting:
                continue
            if not each.is_consistent:
                self._leave_chains()
                return
            self._state.proved.append(self._state.checks.pop(each.number))
            del self._state.proved[:-CHECKS_REOPENED]

    # -- counts at the end

    def _start_last_counts(self) -> None:
        """Count everything again: after chains in other orders, after closed windows once."""
        state = self._state
        if state.moving:
            if not state.compared:
                state.compared = True
                self._request_count(SearchWindow(0, state.scope, comparison="rows"))
            return
        if state.recounted:
            return
        state.recounted = True
        number = 1 if state.requests == 1 else max(1, SHORT_CHAIN - state.begun)
        for order in RECOUNT_ORDERS[:number]:
            self._open_window(SearchWindow(0, state.scope, order, comparison="chains"))

    def _request_count(self, window: SearchWindow) -> None:
        """Request one result of a search, for its count."""
        self._add_window(window)
        self._requests.append(window.build_first_request(1))

    def _compare_count(self, window: SearchWindow, page: SearchPage) -> None:
        """Process the answer to a request for a count."""
        del self._state.windows[window.number]
        if window.comparison == "chains":
            self._finish_recount(window, page)
        elif window.comparison == "rows":
            self._compare_with_rows(page.total)
        elif window.comparison == "slice":
            self._compare_with_slice(window, page.total)
        else:
            self._finish_repair_count(self._state.repairs[window.parent], page.total)

    def _finish_recount(self, window: SearchWindow, page: SearchPage) -> None:
        """Compare a count, and the page that came with it, with all chains."""
        state = self._state
        known: CreationTimes = {}
        for check in state.proved:
            known |= check.recent | check.ids
        is_known = len(known) == state.got  # else the oldest checks are forgotten
        unknown = is_known and any(row is not None and row.id not in known for row in page.rows)
        if page.total == state.got and not unknown:
            return
        repair = RangeRepair(window.number, state.scope, 0, known, {}, 0, whole=True)
        repair.unseen = page.total - state.got if is_known else 0
        state.repairs[repair.number] = repair
        self._leave_chains(state.scope, repair=repair)

    def _compare_with_rows(self, total: int) -> None:
        """Count each closed window again if all of them have fewer rows than are counted.

        Answers that were cut count no more than they show, so that each proves itself. Where the
        count has changed, other rows have come meanwhile.
        """
        state = self._state
        if state.gaps or total != state.expected or total <= state.got:
            return
        for scope, shown in state.slices:
            window = SearchWindow(0, scope, closed=True, comparison="slice", shown=shown)
            self._request_count(window)
        if not state.slices:
            self._report_missing(total)

    def _compare_with_slice(self, window: SearchWindow, total: int) -> None:
        """Search a slice again that counts more than it showed."""
        state = self._state
        if total > window.shown:
            state.grown = True
            state.repeated += 1
            self._open_window(SearchWindow(0, window.scope, closed=True))
        elif not state.grown and not state.windows:
            self._report_missing(state.expected or 0)

    def _report_missing(self, total: int) -> None:
        """Report that fewer repositories came than were counted at the beginning and the end."""
        state = self._state
        why = "The count is the same as at the beginning, and fewer repositories came."
        state.gaps.append(Gap(state.scope.format_expression(), total, state.got, why))

    def _note_slice(self, scope: Scope, shown: int) -> None:
        """Note the number of repositories of a proved slice of the whole range of stars."""
        whole = self._state.scope
        if (scope.low, scope.high) == (whole.low, whole.high):
            self._state.slices.append((scope, shown))

    # -- closed windows

    def _leave_chains(self, *ranges_again: Scope, repair: RangeRepair | None = None) -> None:
        """Replace the open windows and checks of chains by closed windows, as parts of a repair."""
        state = self._state
        state.moving = True
        ranges = [*ranges_again]
        known: CreationTimes = {}
        for check in (*state.proved, *state.checks.values()):
            ranges.append(check.scope)
            known |= check.recent | check.ids | check.below
        for window in [window for window in state.windows.values() if not window.closed]:
            rows = window.collect_rows()
            self._emit_rows(window, rows)
            known |= window.recent | _map_creation(rows)
            ranges.append(window.scope)
            del state.windows[window.number]
        state.checks, state.proved = {}, []
        ranges = [msgspec.structs.replace(scope, without=()) for scope in ranges]
        parts = [self._widen_range(scope) for scope in join_ranges(ranges)]
        if repair is not None:
            repair.open += len(parts)
        self._open_parts(parts, known, parent=repair.number if repair else 0, closed=True)
        self._notes.append("Counts and results differ; continued in slices of creation time.")

    def _widen_range(self, scope: Scope) -> Scope:
        """Add some stars on both sides: a repository may have moved there meanwhile."""
        whole, high = self._state.scope, scope.high
        low = max(whole.low, scope.low - 1 - scope.low // 100)
        if high is not None:
            high += 1 + high // 100
            high = high if whole.high is None else min(high, whole.high)
        return msgspec.structs.replace(scope, low=low, high=high)

    def _finish_closed_window(self, window: SearchWindow, rows: RowsById) -> None:
        """Accept a closed window, or search its range again."""
        state = self._state
        new = self._emit_rows(window, rows)
        repair = state.repairs.get(window.parent)
        if repair is not None or window.tries:
            state.recovered += new
        for each in self._list_repairs(window.parent):
            # Windows around a place are wider than the range: rows beyond it belong to others.
            is_wider = not (each.whole and each is repair)
            is_inside = each.scope.is_in_star_range
            inside = {key for key, row in rows.items() if not is_wider or is_inside(row.stars)}
            each.found += len(inside - each.ids.keys())
            each.ids |= _map_creation(rows)
        verdict = window.assess()
        if verdict.proved or window.is_proved_by_repetition():
            state.shifts += window.tries > 0
            self._note_slice(window.scope, len(rows))
            state.fruitless = max(0, state.fruitless - len(window.pages) * (window.tries > 0))
            self._close_window(window)
            return
        if window.tries:
            state.fruitless += -len(new) if new else len(window.pages)
        state.miscounts += window.has_miscount
        is_hopeless = (
            state.fruitless > FRUITLESS_PAGES + FRUITLESS_SHARE * state.requests
            or state.miscounts >= MAX_MISCOUNTS
        )
        if window.is_capped and rows:
            self._report_gap(
                window,
                len(rows),
                f"More than {MAX_SEARCH_RESULTS:,} repositories with equal stars were created in "
                "one second.",
            )
        elif is_hopeless:
            self._report_gap(window, len(rows), "Counts differ, and repetitions bring nothing new.")
        elif window.tries >= MAX_TRIES:
            self._report_gap(
                window,
                len(rows),
                f"Counts and results still differed after {MAX_TRIES} repeated searches.",
            )
        elif verdict.ranges and (repair is None or repair.whole) and self._can_be_repaired(window):
            self._repair_ranges(window, rows, verdict.missing, verdict.ranges)
        else:
            if repair is None:
                window.parent = self._start_repair(window, rows, 0, whole=True).number
            self._search_again(window, rows)

    def _can_be_repaired(self, window: SearchWindow) -> bool:
        """Return whether parts of a window may be searched again, instead of all of it.

        Not in a single second: its windows are split by stars, and a wider range would return what
        the window beside it contains.
        """
        scope = window.scope
        is_second = scope.begin is not None and scope.begin == scope.end
        return window.total >= MIN_LOCAL_TOTAL and not is_second

    def _repair_ranges(
        self, window: SearchWindow, rows: RowsById, missing: int, ranges: tuple[Scope, ...]
    ) -> None:
        """Search the ranges again in which a window may have skipped repositories."""
        ids = window.recent | _map_creation(rows)
        scopes = merge_ranges([self._widen_range(scope) for scope in ranges])
        repair = self._start_repair(window, rows, missing)
        repair.open = len(scopes)
        self._state.repeated += len(scopes)
        for scope in scopes:
            self._open_window(
                SearchWindow(
                    0, scope, parent=repair.number, closed=True, recent=ids, tries=window.tries + 1
                )
            )

    def _start_repair(
        self, window: SearchWindow, rows: RowsById, missing: int, *, whole: bool = False
    ) -> RangeRepair:
        """Add the repair of a window, with one open window."""
        shown = _map_creation(rows)
        is_steady = len({page.total for page in window.pages.values()}) == 1
        repair = RangeRepair(
            window.number,
            window.scope,
            window.tries,
            shown,
            window.recent,
            missing,
            unseen=window.total - len(shown) if is_steady else 0,
            open=1,
            whole=whole,
            parent=window.parent,
        )
        self._state.repairs[repair.number] = repair
        return repair

    def _list_repairs(self, number: int) -> list[RangeRepair]:
        """Return a repair and those that wait for it."""
        found = []
        while (repair := self._state.repairs.get(number)) is not None:
            found.append(repair)
            number = repair.parent
        return found

    def _search_again(self, window: SearchWindow, rows: RowsById) -> None:
        """Search the range of a window again, in halves if it has several pages or fails often."""
        order = SORT_ORDERS[(window.tries + 1) % len(SORT_ORDERS)]
        parts = [window.scope]
        is_large = window.total > MAX_PAGE_SIZE or window.tries >= len(SORT_ORDERS)
        is_divided = is_large and bool(rows)
        if is_divided:
            created = [row.created for row in rows.values() if row.created is not None]
            parts = split_by_time(window.scope, created, 2)
            is_stuck = len(parts) == 1 and len(window.reads) >= MAX_WHOLE_READS
            if is_stuck and self._split_second(window, rows, window.tries + 1):
                return
        self._state.repeated += len(parts)
        self._replace_closed_window(window, rows, parts, order, window.tries + 1)
        if len(parts) == 1:  # every order may leave out something else
            again = self._state.windows[self._state.number]
            again.reads = [*window.reads, window.summarize_pages()]
            again.above = window.above

    def _replace_closed_window(
        self, window: SearchWindow, rows: RowsById, parts: list[Scope], order: str, tries: int
    ) -> None:
        """Replace a closed window by others, with the same parent."""
        repair = self._state.repairs.get(window.parent)
        if repair is not None:
            repair.open += len(parts) - 1
        self._open_parts(
            parts,
            window.recent | _map_creation(rows),
            order=order,
            parent=window.parent,
            closed=True,
            tries=tries,
        )

    def _close_window(self, window: SearchWindow) -> None:
        """Finish a closed window; the last one of a repair finishes the repair."""
        if window.above:
            self._open_closed_window(
                window, window.collect_rows(), window.above[0], window.above[1:]
            )
        self._close_part(window.parent)

    def _close_part(self, number: int) -> None:
        """Finish one of the windows of a repair; the last one finishes the repair."""
        state = self._state
        repair = state.repairs.get(number)
        if repair is None:
            return
        repair.open -= 1
        if repair.open:
            return
        if not (repair.whole or repair.failed):
            if repair.found < repair.missing:  # they are elsewhere
                self._repair_whole(repair)
                return
            if not repair.counted:
                # What was found may be new, and what was skipped elsewhere after a large jump.
                repair.open, repair.counted = 1, True
                self._request_count(
                    SearchWindow(0, repair.scope, parent=number, closed=True, comparison="repair")
                )
                return
        state.miscounts += repair.found < repair.unseen and not repair.failed
        del state.repairs[repair.number]
        self._close_part(repair.parent)

    def _repair_whole(self, repair: RangeRepair) -> None:
        """Search the whole range of a repair again, in halves."""
        parts = split_by_time(repair.scope, [*filter(None, repair.ids.values())], 2)
        repair.whole, repair.open = True, len(parts)
        self._state.repeated += len(parts)
        known = repair.recent | repair.ids
        self._open_parts(parts, known, parent=repair.number, closed=True, tries=repair.tries + 2)

    def _finish_repair_count(self, repair: RangeRepair, total: int) -> None:
        """Accept a repair if its range has no more repositories than came of it."""
        if total > len(repair.ids):
            self._repair_whole(repair)
        else:
            self._note_slice(repair.scope, len(repair.ids))
            self._close_part(repair.number)

    def _report_gap(self, window: SearchWindow, got: int, why: str) -> None:
        total = max(page.total for page in window.pages.values())
        gap = Gap(window.scope.format_expression(), total, got, why)
        self._state.gaps.append(gap)
        self._notes.append(f"{gap.text}: {gap.got:,} of {gap.expected:,}. {why}")
        for repair in self._list_repairs(window.parent):
            repair.failed = True
        self._close_window(window)


def _map_creation(rows: RowsById) -> CreationTimes:
    """Return the creation times of rows by id."""
    return {row.id: row.created for row in rows.values()}

"""The state machine of a harvest: it decides which searches to send, and proves completeness.

A search shows at most 1,000 results. While the data stand still, :class:`Sweep` reads *chains*: it
sorts by stars, and continues where a search ended with ``stars:<=N`` (the *next window*); where
many repositories have equal stars it splits the range by creation time. A :class:`CountCheck`
compares the count and the rows of each window with those of the windows below it.

As soon as anything disagrees, a chain proves nothing any more: repositories move across the borders
between its windows. Slices of what it has read are then compared with one more request each, and
the rest is read in *closed windows*: slices of creation time, which never changes, of at most 1,000
results, each of which has to prove its own completeness (:meth:`SearchWindow.assess`). A closed
window that does not is read again: around the places where a repository may have been skipped
(:class:`RangeRepair`), then in halves and in other orders. Where changes are frequent, a closed
window has one page, which is an answer at one moment. At the end all are counted again.

It does no I/O: it is fed with pages and returns requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import Any, Self

import msgspec

from gqlnb.github.harvester.query_range import (
    TARGET_SLICE_SIZE,
    Scope,
    join_ranges,
    merge_ranges,
    split_by_stars,
    split_by_time,
    widen_range,
)
from gqlnb.github.harvester.search_windows import (
    RECOUNT_ORDERS,
    SORT_ORDERS,
    Assessment,
    CompleteRead,
    Coverage,
    CreationTimes,
    Gap,
    RepositoryRow,
    RowsById,
    SearchPage,
    SearchRequest,
    SearchWindow,
    SweepStep,
    check_results_match,
    get_next_order,
    map_creation,
    plan_next_ranges,
)
from gqlnb.github.harvester.sweep_state import (
    MAX_SLICED_ROWS,
    MIN_CUT_SHARE,
    CountCheck,
    ProvedSlice,
    RangeRepair,
    SweepState,
)
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS

__all__ = ["Sweep"]

#: Number of times a range is searched again, each time in smaller parts or another order.
MAX_TRIES = 12
SHORT_CHAIN = 4  # windows; in a shorter one few counts were compared, so slices are counted
MAX_KEPT_CHECKS = 30  # the last ones, whose rows can be compared with their counts again
# Repositories of a chain that one request verifies, and requests for all of them, unless they are
# too many or on one page: the fewer repositories, the rarer changes hide each other.
MAX_VERIFIED_ROWS = 1000
VERIFICATIONS = 10
CLOSED_SLICE_SIZE = 800  # repositories; fewer than in chains, as their distribution is less known
# A slice is a small share of all, so that changes at the same time rarely hide each other in it.
MIN_CLOSED_SLICES = 8
MAX_ARRIVALS = 3  # repositories that are new in a slice, where counts change
MAX_COMPARISONS = 3  # of the rows of closed windows with the count of all
MIN_SLICE_SIZE = 85  # repositories, mostly on one page
MIN_LOCAL_TOTAL = 250  # a smaller window is read again whole
# One second is searched again whole before its parts are: where only results were left out, this
# many searches and the next prove it together.
MAX_WHOLE_READS = 3
PAGES_BEFORE_REGROWTH = 10  # pages in a row that were not too large, before larger ones are tried


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
    twice
        Whether to read everything a second time.
    state
        A state to continue from, instead of all others.
    """

    def __init__(
        self,
        scope: Scope,
        *,
        size: int = MAX_PAGE_SIZE,
        width: int = 1,
        twice: bool = False,
        state: SweepState | None = None,
    ) -> None:
        self._rows: list[RepositoryRow] = []
        self._requests: list[SearchRequest] = []
        self._notes: list[str] = []
        self._state = state or SweepState(scope, size, size, width=width, twice=twice)
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
        return dict(msgspec.to_builtins(self._state, str_keys=True))

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
        return self._state.build_coverage()

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
            window = SearchWindow(0, part, recent=recent, **about)
            if window.closed and "order" not in about and not part.is_one_second:
                window.order = SORT_ORDERS[0]
            self._open_window(window, held_by)

    def _add_page(self, window: SearchWindow, ask: SearchRequest, page: SearchPage) -> None:
        """Store a page; after the last one of its window, continue from there."""
        if window.comparison:
            self._compare_count(window, page)
            return
        asks = window.add_page(ask, page)
        if 0 in window.pages:
            self._state.note_counts(window.total, page.total)
        if self._state.expected is None:
            self._state.expected = page.total
        has_movement = not window.closed and window.has_movement
        self._state.changed |= has_movement
        if has_movement or (not window.closed and window.has_separate_pages):
            self._leave_chains()
        elif not ask.start and self._split_early(window):
            return
        else:
            self._requests.extend(asks)
        if window.asks or window.number not in self._state.windows:
            return
        rows = window.collect_rows()
        check_results_match(window, rows)
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
            if window.has_separate_pages or self._state.has_frequent_changes:
                most = window.sizes[0]  # each page has to prove itself as a search
                size = max(1, most * MIN_SLICE_SIZE // MAX_PAGE_SIZE)
        if window.total <= most:
            return False
        created = [row.created for row in rows.values() if row.created is not None]
        created += [moment for moment in window.recent.values() if moment is not None]
        parts = split_by_time(scope, created, -(-window.total // size))
        if len(parts) == 1:
            too_many = window.closed and window.is_capped
            return too_many and self._split_second(window, rows, window.tries)
        del self._state.windows[window.number]
        check_results_match(window, rows)
        if window.closed:
            self._note_split(window, parts)
            self._emit_rows(window, rows)
            self._replace_closed_window(window, rows, parts, window.tries)
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
        check_results_match(window, rows)
        self._emit_rows(window, rows)
        state.splits += 1
        state.has_split_second = True
        self._notes.append(f"{window.text}: continued in two ranges of stars, the lower one first.")
        repair = state.repairs.get(window.parent)
        if repair is not None:
            repair.open += 1
        upper, lower = halves
        # The margin is for those that lose stars; the upper half has to be smaller than the whole.
        low = max(widen_range(upper, state.scope).low, scope.low + 1)
        above = [msgspec.structs.replace(upper, low=low), *window.above]
        self._open_star_range(window, rows, lower, above, tries)
        return True

    def _open_star_range(
        self, window: SearchWindow, rows: RowsById, scope: Scope, above: list[Scope], tries: int = 0
    ) -> None:
        """Search a range of the same second as the window that has just ended."""
        known = window.recent | map_creation(rows)
        self._open_parts(
            [scope], known, closed=True, parent=window.parent, tries=tries, above=above
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
        new = self._state.select_new_rows(rows, known)
        self._rows += new
        if check is not None:
            check.below |= map_creation(rows)
        return [row.id for row in new]

    # -- chains

    def _finish_chain_window(self, window: SearchWindow, rows: RowsById) -> None:
        """Continue below a window after all its pages were received."""
        scope, parts = window.scope, list[Scope]()
        low = scope.low
        if window.is_capped:
            lowest = scope.clamp_stars(next(reversed(rows.values())).stars)
            parts = plan_next_ranges(window, rows, lowest, self._state.width)
            if lowest == scope.high and len(parts) > 1:
                self._replace_window(window, rows, parts)
                return
            low = lowest + 1 if parts else low
        self._emit_rows(window, rows)
        self._start_check(window, rows, low, parts)

    def _replace_window(self, window: SearchWindow, rows: RowsById, parts: list[Scope]) -> None:
        """Replace a window, all rows of which have equal stars, by time slices."""
        self._emit_rows(window, rows)
        check = self._state.checks.get(window.parent)
        if check is not None:
            check.waiting += len(parts) - 1
        self._note_split(window, parts)
        self._open_parts(parts, window.recent | map_creation(rows), parent=window.parent)

    def _start_check(
        self, window: SearchWindow, rows: RowsById, low: int, parts: list[Scope]
    ) -> None:
        """Open the next windows, and start the check of the range from `low` stars up."""
        scope = msgspec.structs.replace(window.scope, low=low)
        shown = map_creation(rows)
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
            if each.missing:
                self._state.note_counts(each.total, each.total - each.missing)
                self._leave_chains()
                return
            self._state.proved.append(self._state.checks.pop(each.number))
            self._state.has_forgotten |= len(self._state.proved) > MAX_KEPT_CHECKS
            del self._state.proved[:-MAX_KEPT_CHECKS]

    # -- counts at the end

    def _start_last_counts(self) -> None:
        """Count everything again: after chains in other orders, after closed windows once."""
        state = self._state
        if state.moving:
            if state.unverified:
                ranges, state.unverified = state.unverified, []
                self._verify_ranges(ranges, state.unverified_rows)
                state.unverified_rows = {}
                return
            if state.verified and self._reopen_verified():
                return
            if self._repeat_doubtful_slices():
                return
            is_last = state.compared == MAX_COMPARISONS
            if state.compared and (is_last or not state.reopened):
                state.compare_with_count(is_last=is_last)
            if not state.compared or (state.reopened and not is_last):
                state.compared += 1
                state.last_compared = state.counted, state.got
                state.counted, state.reopened = 0, False
                # With the last ones that changed, as these may have moved from search to search.
                sizes = (1, 1 if state.has_forgotten_ids else state.size)
                for order, size in zip(RECOUNT_ORDERS[:2], sizes, strict=True):
                    window = SearchWindow(0, state.scope, order, comparison="rows")
                    self._request_count(window, size)
            return
        if not state.recounted:
            state.recounted = True
            self._recount_chains()
        elif state.twice:
            state.is_repeated = True
            self._leave_chains(state.scope)

    def _reopen_verified(self) -> bool:
        """Search verified ranges, too, if many others did not agree; return whether it does."""
        state = self._state
        verified, state.verified = state.verified, []
        is_doubtful = state.may_agree_by_chance(verified)
        state.mismatches = 0
        for part in verified:
            if is_doubtful:
                state.repeated += 1
                self._open_parts([part.scope], part.rows, closed=True, tries=1)
            else:
                state.add_slice(part)
        return is_doubtful

    def _repeat_doubtful_slices(self) -> bool:
        """Search doubtful ranges again; return whether there are any."""
        state = self._state
        slices = state.take_doubtful_slices()
        state.repeated += len(slices)
        for part in slices:
            self._open_parts([part.scope], part.rows, closed=True)
        return bool(slices)

    def _recount_chains(self) -> None:
        """Compare the rows of chains with their counts, in some slices of creation time.

        Changes that hid each other in a chain have changed the counts of different slices.
        """
        state = self._state
        if state.has_forgotten:
            self._request_count(SearchWindow(0, state.scope, RECOUNT_ORDERS[0], comparison="all"))
            return
        known: CreationTimes = {}
        for check in state.proved:
            known |= check.recent | check.ids
        created = [made for made in known.values() if made is not None]
        number = max(1, SHORT_CHAIN - state.begun)
        number = min(number, -(-len(known) // MIN_SLICE_SIZE)) if state.requests > 1 else 1
        parts = [state.scope]
        if number > 1 and len(created) == len(known):
            parts = split_by_time(state.scope, created, number)
        for part, order in zip(parts, cycle(RECOUNT_ORDERS), strict=False):
            ids = [key for key, made in known.items() if part.is_in_time_range(made)]
            self._verify_rows(part, ids, known, 0, comparison="chains", order=order)

    def _request_count(self, window: SearchWindow, size: int = 1) -> None:
        """Request the first results of a search, for its count."""
        self._add_window(window)
        self._requests.append(window.build_first_request(size))

    def _compare_count(self, window: SearchWindow, page: SearchPage) -> None:
        """Process the answer to a request for a count."""
        del self._state.windows[window.number]
        if window.comparison == "all":
            # Search everything again if the count of all differs from the number of rows.
            if page.total != self._state.got:
                self._leave_chains(self._state.scope)
        elif window.comparison == "rows":
            self._compare_with_rows(window, page)
        elif window.comparison == "slice":
            self._compare_with_slice(window, page)
        elif window.comparison in ("known", "chains"):
            self._compare_with_known(window, page)
        else:
            self._finish_repair_count(self._state.repairs[window.parent], window, page)

    def _compare_with_rows(self, window: SearchWindow, page: SearchPage) -> None:
        """Count each closed window again if all of them have fewer rows than are counted.

        Answers that were cut count no more than they show, so that each proves itself. Where the
        count has changed, other rows may have come meanwhile, so that only few windows are counted.
        """
        state = self._state
        if not state.has_forgotten_ids:
            state.recovered += self._emit_rows(window, page.map_rows())
        if state.counted:
            state.note_counts(state.counted, page.total)
        state.counted = max(state.counted, page.total)
        is_again = state.has_cut_answers and state.compared < MAX_COMPARISONS
        state.reopened |= is_again  # what was cut twice may be found by a third answer
        if state.windows or state.gaps or (state.counted <= state.got and not is_again):
            return
        if not state.changed or state.lacks_many or state.got <= MAX_SLICED_ROWS:
            slices, state.slices = state.slices, []
            for part in slices:
                self._count_slice(part)

    def _count_slice(self, part: ProvedSlice) -> None:
        """Request the count of a proved range, and its first page if its rows are known."""
        # Another order is another text, for which other results may be left out.
        order = get_next_order(part.order)
        if part.rows:
            about = {"comparison": "slice", "order": order, "shown": part.shown}
            self._verify_rows(part.scope, part.rows, part.rows, 0, **about)
        else:
            window = SearchWindow(0, part.scope, order, comparison="slice", shown=part.shown)
            self._request_count(window)

    def _compare_with_slice(self, window: SearchWindow, page: SearchPage) -> None:
        """Search a slice again that counts more than it showed, by more than may be new."""
        state, before = self._state, self._state.got
        if state.compared > 1:  # before, another text was counted
            state.note_counts(window.shown, page.total)
        more = page.total - window.shown
        if window.reads:
            more = self._count_unknown(window, page) + state.got - before
        plausible = 0.0 if not state.changed else max(MAX_ARRIVALS, MIN_CUT_SHARE * page.total)
        if more > plausible:
            state.reopened = True
            state.repeated += 1
            self._search_counted(window, page.total, window.order)
        else:
            self._note_slice(window, page.total, window.recent if window.reads else {})

    def _note_slice(self, window: SearchWindow, shown: int, rows: CreationTimes) -> None:
        """Note the rows of a proved window, unless a repair covers more."""
        repair = self._state.repairs.get(window.parent)
        if repair is None or repair.whole:
            pages = len(window.pages) or -(-shown // MAX_PAGE_SIZE)
            self._state.add_slice(ProvedSlice(window.scope, shown, rows, pages, window.order))

    # -- closed windows

    def _leave_chains(self, *ranges_again: Scope) -> None:
        """Continue with closed windows; verify the rows of chains, or read ranges again."""
        state = self._state
        state.moving = True
        checks = [*state.proved, *state.checks.values()]
        above: CreationTimes = {}
        known: CreationTimes = {}
        for check in checks:
            above |= check.recent | check.ids
            known |= check.below
        known |= above
        ranges = [*ranges_again]
        if any(check.total < len(check.ids) for check in checks):  # counts that verify nothing
            ranges += [check.scope for check in checks]
        elif not ranges_again:
            state.unverified, state.unverified_rows = [check.scope for check in checks], above
        for window in [window for window in state.windows.values() if not window.closed]:
            rows = window.collect_rows()
            self._emit_rows(window, rows)
            known |= window.recent | map_creation(rows)
            ranges.append(window.scope)
            del state.windows[window.number]
        state.checks, state.proved = {}, []
        parts = [widen_range(scope, state.scope) for scope in join_ranges(ranges)]
        if ranges_again and state.has_forgotten_ids:  # the rows of the whole range are new again
            state.got = len(known)
        self._open_parts(parts, known, closed=True)
        why = "Everything is read again" if state.is_repeated else "Counts and results differ"
        self._notes.append(f"{why}; continued in slices of creation time.")

    def _verify_ranges(self, ranges: list[Scope], known: CreationTimes) -> None:
        """Compare ranges that chains have read with their counts.

        Movement is noticed late in a chain, since few repositories pass others with many stars.
        Most of what it has read by then is complete. It is compared when all below is read: what
        has gained many stars meanwhile was read there, or is counted here.
        """
        size = min(MAX_VERIFIED_ROWS, max(MIN_SLICE_SIZE, len(known) // VERIFICATIONS))
        for scope in join_ranges(ranges):
            inside = {key: made for key, made in known.items() if scope.is_in_time_range(made)}
            slices, parts = -(-len(inside) // size), [scope]
            if slices > 1:
                parts = split_by_time(scope, [*filter(None, inside.values())], slices)
            for part in parts:
                ids = [key for key, made in inside.items() if part.is_in_time_range(made)]
                wide = widen_range(part, self._state.scope)
                about = {"comparison": "known", "lowest": part.low}
                self._verify_rows(wide, ids, known, 0, **about)

    def _verify_rows(
        self,
        scope: Scope,
        ids: Iterable[str],
        known: CreationTimes,
        parent: int,
        **about: Any,  # noqa: ANN401 - of several types
    ) -> None:
        """Request the count of a range, and its first page, to compare them with its rows."""
        reads = [CompleteRead(-1, tuple(ids))]
        self._open_parts([scope], known, parent=parent, closed=True, reads=reads, **about)

    def _count_unknown(self, window: SearchWindow, page: SearchPage) -> int:
        """Return how many more rows a range has behind its first page than are known.

        The page shows those with the fewest stars: most of what came into the range since, or left
        it. What left it elsewhere makes the number smaller.
        """
        state = self._state
        shown = page.map_rows()
        hidden = set(window.reads[0].ids) - shown.keys()
        new = self._emit_rows(window, shown)
        inside = [key for key in new if shown[key].stars >= window.lowest]
        state.recovered += inside
        if state.has_forgotten_ids:  # the window below shows the others again
            state.got -= len(new) - len(inside)
        self._add_to_repairs(window, shown)
        window.recent = window.recent | map_creation(shown)
        return page.total - len(shown) - len(hidden)

    def _compare_with_known(self, window: SearchWindow, page: SearchPage) -> None:
        """Accept a range that chains have read if its count and its rows agree, or search it.

        At the end, a new row is a reason, too.
        """
        state = self._state
        before = state.got
        unknown = self._count_unknown(window, page)
        if not unknown and (window.comparison == "known" or state.got == before):
            rows = map_creation(page.map_rows())
            rows |= {key: window.recent.get(key) for key in window.reads[0].ids}
            pages = -(-page.total // MAX_PAGE_SIZE)
            part = ProvedSlice(window.scope, page.total, rows, pages, window.order)
            state.verified.append(part)
            return
        state.moving = True
        state.mismatches += 1
        state.has_mismatches = True
        if window.comparison == "chains" and page.total > MAX_SEARCH_RESULTS:
            self._verify_ranges([window.scope], window.recent)
        else:
            state.repeated += 1
            # Another text than the one that did not agree.
            self._search_counted(window, page.total, get_next_order(window.order))

    def _search_counted(self, window: SearchWindow, total: int, order: str) -> None:
        """Search a range again after its count did not agree with its rows."""
        about = {"closed": True, "order": order, "tries": 1, "shown": total}
        self._open_parts([window.scope], window.recent, None, **about)

    def _finish_closed_window(self, window: SearchWindow, rows: RowsById) -> None:
        """Accept a closed window, or search its range again."""
        state = self._state
        if window.shown:
            state.note_counts(window.shown, window.total)
        new = self._emit_rows(window, rows)
        repair = state.repairs.get(window.parent)
        if repair is not None or window.tries:
            state.recovered += new
        self._add_to_repairs(window, rows)
        state.forget_fallen(rows)
        verdict = window.assess()
        state.intervals += len(window.pages) - 1
        state.changed |= verdict.pulls > 0 or verdict.pushes > 0
        state.pulls += verdict.pulls
        state.pushes += verdict.pushes
        if state.has_frequent_changes and len(window.pages) > 1 and rows:
            self._divide_into_pages(window, rows)
        elif self._is_proved(window, verdict):
            state.shifts += window.tries > 0
            self._note_slice(window, len(rows), map_creation(rows))
            state.fruitless = max(0, state.fruitless - len(window.pages) * (window.tries > 0))
            self._close_window(window)
        else:
            self._repair_window(window, rows, verdict, new)

    def _is_proved(self, window: SearchWindow, verdict: Assessment) -> bool:
        """Return whether a closed window is complete; pages that cannot overlap prove nothing."""
        is_proved = verdict.proved and (len(window.pages) == 1 or not window.has_separate_pages)
        return is_proved or window.is_proved_by_repetition()

    def _divide_into_pages(self, window: SearchWindow, rows: RowsById) -> None:
        """Search the range of a window again in parts of a page, which prove themselves."""
        created = [row.created for row in rows.values() if row.created is not None]
        size = max(1, self._state.size * MIN_SLICE_SIZE // MAX_PAGE_SIZE)
        parts = split_by_time(window.scope, created, -(-window.total // size))
        if len(parts) == 1:
            why = "Its repositories changed too often while they were read."
            self._report_gap(window, len(rows), why)
        else:
            self._state.repeated += len(parts)
            self._replace_closed_window(window, rows, parts, window.tries)

    def _repair_window(
        self, window: SearchWindow, rows: RowsById, verdict: Assessment, new: list[str]
    ) -> None:
        """Search the range of a closed window again, or report it as a gap."""
        state = self._state
        repair = state.repairs.get(window.parent)
        if window.tries:
            state.fruitless += -len(new) if new else len(window.pages)
        state.miscounts += window.has_miscount
        if window.is_capped and rows:
            self._report_gap(
                window,
                len(rows),
                f"More than {MAX_SEARCH_RESULTS:,} repositories with equal stars were created in "
                "one second.",
            )
        elif state.is_hopeless:
            self._report_gap(window, len(rows), "Counts differ, and repetitions bring nothing new.")
        elif window.tries >= MAX_TRIES:
            self._report_gap(
                window,
                len(rows),
                f"Counts and results still differed after {MAX_TRIES} repeated searches.",
            )
        elif verdict.ranges and (repair is None or repair.whole) and self._can_be_repaired(window):
            self._repair_ranges(window, rows, verdict)
        else:
            if repair is None:
                window.parent = self._start_repair(window, rows, 0, whole=True).number
            self._search_again(window, rows)

    def _add_to_repairs(self, window: SearchWindow, rows: RowsById) -> None:
        """Add rows to the repair of their window, and to those that wait for it."""
        for each in self._state.list_repairs(window.parent):
            # Windows around a place are wider than the range: rows beyond it belong to others.
            is_wider = not (each.whole and each.number == window.parent)
            is_inside = each.scope.is_in_star_range
            inside = {key for key, row in rows.items() if not is_wider or is_inside(row.stars)}
            each.found += len(inside - each.ids.keys())
            each.ids |= map_creation(rows)

    def _can_be_repaired(self, window: SearchWindow) -> bool:
        """Return whether parts of a window may be searched again, instead of all of it.

        Not in a single second: its windows are split by stars, and a wider range would return what
        the window beside it contains.
        """
        return window.total >= MIN_LOCAL_TOTAL and not window.scope.is_one_second

    def _repair_ranges(self, window: SearchWindow, rows: RowsById, verdict: Assessment) -> None:
        """Search the ranges again in which a window may have skipped repositories."""
        repair = self._start_repair(window, rows, verdict.missing)
        whole = self._state.scope
        repair.held = merge_ranges([widen_range(scope, whole) for scope in verdict.ranges])
        repair.has_arrivals = verdict.has_arrivals
        if repair.has_arrivals:  # then nothing may be missing, which one request can show
            self._count_repair(repair)
        else:
            self._search_held_ranges(repair)

    def _search_held_ranges(self, repair: RangeRepair) -> None:
        """Search the ranges that a repair holds."""
        repair.open = len(repair.held)
        self._state.repeated += len(repair.held)
        known, tries = repair.recent | repair.ids, repair.tries + 1
        self._open_parts(repair.held, known, closed=True, parent=repair.number, tries=tries)
        repair.held = []

    def _start_repair(
        self, window: SearchWindow, rows: RowsById, missing: int, *, whole: bool = False
    ) -> RangeRepair:
        """Add the repair of a window, with one open window."""
        shown = map_creation(rows)
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

    def _search_again(self, window: SearchWindow, rows: RowsById) -> None:
        """Search the range of a window again, in halves if it has several pages or fails often."""
        order = get_next_order(window.order)
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
        self._replace_closed_window(window, rows, parts, window.tries + 1, order=order)
        if len(parts) == 1:  # every order may leave out something else
            again = self._state.windows[self._state.number]
            again.reads = [*window.reads, window.summarize_pages()]
            again.shown = window.total
            again.above = window.above

    def _replace_closed_window(
        self,
        window: SearchWindow,
        rows: RowsById,
        parts: list[Scope],
        tries: int,
        **about: Any,  # noqa: ANN401 - of several types
    ) -> None:
        """Replace a closed window by others, with the same parent."""
        repair = self._state.repairs.get(window.parent)
        if repair is not None:
            repair.open += len(parts) - 1
        known = window.recent | map_creation(rows)
        self._open_parts(parts, known, parent=window.parent, closed=True, tries=tries, **about)

    def _close_window(self, window: SearchWindow) -> None:
        """Finish a closed window; the last one of a repair finishes the repair."""
        if window.above:
            self._open_star_range(window, window.collect_rows(), window.above[0], window.above[1:])
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
            if repair.found < repair.missing and not repair.has_arrivals:  # they are elsewhere
                self._repair_whole(repair)
                return
            if not repair.counted:
                # What was found may be new, and what was skipped elsewhere after a large jump.
                repair.counted = True
                self._count_repair(repair)
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

    def _count_repair(self, repair: RangeRepair) -> None:
        """Request the count of a repair's range, to compare it with the rows of the repair."""
        repair.open = 1
        known = repair.recent | repair.ids
        self._verify_rows(repair.scope, repair.ids, known, repair.number, comparison="repair")

    def _finish_repair_count(
        self, repair: RangeRepair, window: SearchWindow, page: SearchPage
    ) -> None:
        """Accept a repair if its range has no more repositories than came of it."""
        if self._count_unknown(window, page) <= 0:
            part = ProvedSlice(repair.scope, page.total, repair.ids, 2, window.order)
            self._state.add_slice(part)
            repair.counted = True
            self._close_part(repair.number)
        elif repair.held:
            self._search_held_ranges(repair)
        else:
            self._repair_whole(repair)

    def _report_gap(self, window: SearchWindow, got: int, why: str) -> None:
        total = max(page.total for page in window.pages.values())
        gap = Gap(window.scope.format_expression(), total, got, why)
        self._state.gaps.append(gap)
        self._notes.append(f"{gap.text}: {gap.got:,} of {gap.expected:,}. {why}")
        for repair in self._state.list_repairs(window.parent):
            repair.failed = True
        self._close_window(window)

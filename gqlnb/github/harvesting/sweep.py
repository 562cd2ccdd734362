"""The self-splitting star sweep: what to ask next, and what follows from the answers. No I/O.

A search gives 1,000 results, whatever its count. Sorted by stars, falling, all above the lowest
star of those are complete; the next search begins there. Where many repositories have equal stars,
they are divided by the time in which they were made, and the parts go on by themselves. Each window
(one search of up to ten pages) is checked: see :mod:`gqlnb.github.harvesting.checks`.

    sweep = Sweep(Scope.read(">1000"))
    todo = [*reversed(sweep.asks())]         # a stack: few windows are open at a time
    while todo:
        ask = todo.pop()
        step = sweep.feed(ask, fetch(ask))   # pages in any order
        write(step.rows)                     # new repositories, each once
        todo.extend(reversed(step.asks))     # what may be asked now, too
    sweep.coverage()                         # expected, got, duplicates, requests, bound, gaps

What goes in and out are the plain values of :mod:`gqlnb.github.harvesting.values`. A sweep is
plain, too: :meth:`Sweep.state` returns it as JSON has it, and :meth:`Sweep.of` goes on from there;
or the same pages are fed again in the same order, and the same steps follow. The order of answers
changes the order of rows, and nothing else where nothing moves meanwhile.

A page that was too much for the endpoint (502, 504, RESOURCE_LIMITS) is fed as ``heavy``: it is
asked for in two halves, and pages stay that small for a while.
"""

from __future__ import annotations

from typing import Any, Self

import msgspec

from gqlnb.errors import AnswerError
from gqlnb.github.harvesting.checks import MOST, Check
from gqlnb.github.harvesting.planning import FULL, divided, halves, known, ways
from gqlnb.github.harvesting.scope import Scope
from gqlnb.github.harvesting.values import Ask, Coverage, Gap, Page, Row, Step
from gqlnb.github.harvesting.windows import Known, Rows, Window
from gqlnb.github.search import PAGE, REACH

__all__ = ["Sweep"]

CALM = 10  # pages in a row that were not too large, after which larger ones are tried
EMPTY = 3  # times a search may come without results that it counts
_SEVERAL = 10  # results outside of what was asked for, from which it is no chance


class State(msgspec.Struct):
    """All that a sweep knows."""

    scope: Scope
    most: int = PAGE
    size: int = PAGE
    calm: int = 0
    width: int = 1
    number: int = 0
    windows: dict[int, Window] = {}
    checks: dict[int, Check] = {}
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
    state
        What :meth:`state` returned: it goes on from there, and all else is taken from it.
    """

    def __init__(
        self, scope: Scope, *, size: int = PAGE, width: int = 1, state: Any = None
    ) -> None:
        self._rows: list[Row] = []
        self._asks: list[Ask] = []
        self._notes: list[str] = []
        if state is not None:
            self._state = msgspec.convert(state, State, str_keys=True)
            return
        self._state = State(scope, size, size, width=width)
        self._open(scope)
        self._step()

    @classmethod
    def of(cls, state: Any) -> Self:
        """Go on from what :meth:`state` returned."""
        return cls(Scope(), state=state)

    def state(self) -> dict[str, Any]:
        """Return all of it as plain values, as JSON has them."""
        made: dict[str, Any] = msgspec.to_builtins(self._state, str_keys=True)
        return made

    def asks(self) -> list[Ask]:
        """Return all requests that were not answered yet; what to ask first stands first."""
        windows = self._state.windows
        return [ask for number in sorted(windows, reverse=True) for ask in windows[number].waiting]

    def feed(self, ask: Ask, page: Page) -> Step:
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
            return Step()
        self._state.requests += 1
        if page.heavy and ask.first > 1:
            self._state.size, self._state.calm = min(self._state.size, ask.first // 2), 0
            self._asks.extend(window.parts(ask))
        else:
            self._grow()
            self._take(window, ask, page)
        return self._step()

    def coverage(self) -> Coverage:
        """Return how complete it is by now."""
        state = self._state
        return Coverage(
            scope=state.scope,
            expected=state.expected,
            got=state.got,
            duplicates=state.duplicates,
            requests=state.requests,
            bound=-(-state.got // PAGE),
            windows=state.begun,
            splits=state.splits,
            repairs=state.repairs,
            shifts=state.shifts,
            gaps=tuple(state.gaps),
            open=len(state.windows),
        )

    # -- windows

    def _step(self) -> Step:
        made = Step(tuple(self._rows), tuple(self._asks), tuple(self._notes))
        self._rows, self._asks, self._notes = [], [], []
        return made

    def _grow(self) -> None:
        """Ask for larger pages again when many have come."""
        state = self._state
        state.calm += 1
        if state.size < state.most and state.calm >= CALM:
            state.size, state.calm = min(state.most, state.size * 2), 0

    def _open(self, scope: Scope, held: Check | None = None, **details: Any) -> None:
        """Begin a search, or hold it until a check has been shown all that it waits for."""
        self._state.begun += 1
        self._state.number += 1
        window = Window(self._state.number, scope, **details)
        self._state.windows[window.number] = window
        if held is None:
            self._asks.append(window.begin(self._state.size))
        else:
            held.held.append(window.number)

    def _take(self, window: Window, ask: Ask, page: Page) -> None:
        """Keep a page; where it was the last one, go on from the window."""
        asks = window.take(ask, page)
        if self._state.expected is None:
            self._state.expected = page.total
        if not ask.start and page.total > REACH and self._divided_at_once(window):
            return
        self._asks.extend(asks)
        if window.asks:
            return
        del self._state.windows[window.number]
        rows = window.rows()
        self._heeded(window, rows)
        self._state.duplicates += sum(
            len(page.rows) - page.rows.count(None) for page in window.pages.values()
        ) - len(rows)
        if window.repairs:
            self._repaired(window, rows, parts=0)
        else:
            self._filled(window, rows)

    def _divided_at_once(self, window: Window) -> bool:
        """Divide a search that can't be completed, as its first page shows, without the others."""
        scope = window.scope
        if not (window.repairs or scope.low == scope.high):
            return False
        rows = window.rows()
        if not rows:
            return False
        created = [row.created for row in rows.values() if row.created is not None]
        created += [each for each in window.recent.values() if each is not None]
        parts = divided(scope, created, -(-window.total // FULL))
        if len(parts) == 1 and window.repairs:
            parts = halves(scope, [row.stars for row in rows.values()])
        if len(parts) == 1:
            return False
        del self._state.windows[window.number]
        self._heeded(window, rows)
        if window.repairs:
            self._repaired(window, rows, parts=len(parts))
            for part in parts:
                self._open(part, order=window.order, check=window.check, repairs=True)
        else:
            self._pass_on(window, rows, parts)
        return True

    def _filled(self, window: Window, rows: Rows) -> None:
        """Go on from a window of the sweep whose pages are all there."""
        scope, last = window.scope, next(reversed(rows.values()), None)
        lowest = None if last is None else last.stars
        if lowest is None and window.total and window.tries < EMPTY:
            tries = window.tries + 1
            self._open(scope, check=window.check, recent=window.recent, tries=tries)
            return
        parts: list[Scope] = []
        if window.total > REACH and lowest is not None:
            lowest = scope.nearest(lowest)
            parts = self._onward(window, rows, lowest)
            if lowest == scope.high and len(parts) > 1:
                self._pass_on(window, rows, parts)
                return
        low = scope.low if not parts else (lowest or 0) + 1
        self._emit(window, rows)
        self._check(window, rows, low, parts)

    def _onward(self, window: Window, rows: Rows, lowest: int) -> list[Scope]:
        """Return what to search behind a window that shows a thousand of more; nothing if stuck."""
        scope, stars = window.scope, [row.stars for row in rows.values()]
        left = window.total - sum(map(lowest.__lt__, stars))
        count = ways(left, 2 * stars.count(lowest))
        if lowest == scope.low:
            count = -(-left // FULL) if left > REACH else 1
        if window.number == 1:
            count = max(count, self._state.width)
        few = known(rows.values(), lowest) if lowest != scope.high else ()
        below = msgspec.structs.replace(scope, high=lowest, without=few)
        if count == 1 and lowest != scope.high:
            return [below]
        created = [row.created for row in rows.values() if row.created is not None]
        parts = divided(below, created, count)
        return parts if len(parts) > 1 or lowest != scope.high else []

    def _pass_on(self, window: Window, rows: Rows, parts: list[Scope]) -> None:
        """Divide a window that one number of stars fills: others answer in its place."""
        self._emit(window, rows)
        check = self._state.checks.get(window.check)
        if check is not None:
            check.waiting += len(parts) - 1
        shown = window.recent | {row.id: row.created for row in rows.values()}
        self._divide(window, parts)
        for part in parts:
            self._open(part, check=window.check, recent=_made_in(part, shown))

    def _divide(self, window: Window, parts: list[Scope]) -> None:
        self._state.splits += 1
        self._notes.append(
            f"{window.text}: {window.total:,} match; it goes on in {len(parts)} slices of time."
        )

    def _emit(self, window: Window, rows: Rows) -> None:
        """Give out the repositories of a window of the sweep that were not known."""
        check = self._state.checks.get(window.check)
        known = window.recent if check is None else window.recent.keys() | check.ids.keys()
        new = [row for key, row in rows.items() if key not in known]
        self._rows += new
        self._state.got += len(new)
        if check is not None:
            check.below.update({key: row.created for key, row in rows.items()})

    def _heeded(self, window: Window, rows: Rows) -> None:
        """Refuse to go on where most results are not what was asked for."""
        holds, made_in = window.scope.holds, window.scope.made_in
        outside = sum(not (holds(row.stars) and made_in(row.created)) for row in rows.values())
        if outside >= _SEVERAL and outside * 2 > len(rows):
            msg = (
                f"{outside} of {len(rows)} results of the search {window.text!r} are not what it "
                "asks for, so the endpoint does not heed 'stars:' or 'created:', without which "
                "there is no harvest."
            )
            raise AnswerError(msg)

    # -- checks

    def _check(self, window: Window, rows: Rows, low: int, parts: list[Scope]) -> None:
        """Go on from a window that has completed a range, and begin to check that."""
        scope = msgspec.structs.replace(window.scope, low=low)
        shown: Known = {row.id: row.created for row in rows.values()}
        check = Check(window.number, scope, window.check, window.total, shown, window.recent)
        check.waiting = len(parts)
        for count, place in window.missing():
            part = place.above(low)
            if part is not None:
                check.lacking += count
                check.ranges.append(part)
        self._state.checks[check.number] = check
        if len(parts) > 1:
            self._divide(window, parts)
        above = self._state.checks.get(check.parent)
        others = above if above is not None and above.waiting > 1 else None
        for part in parts:
            self._open(part, others, check=check.number, recent=_made_in(part, shown))
        if check.ranges:
            self._ask_again(check)
        else:
            self._shown(check)

    def _ask_again(self, check: Check) -> None:
        """Ask once more for what a check misses."""
        scopes = check.again(self._state.scope)
        check.out = len(scopes)
        for scope in scopes:
            self._state.repairs += 1
            self._open(scope, order=check.order, check=check.number, repairs=True)
        self._notes.append(f"{scopes[0].expression()}: counts and results differ; asked again.")

    def _repaired(self, window: Window, rows: Rows, parts: int) -> None:
        """Take what asking again has brought."""
        check = self._state.checks[window.check]
        for row in rows.values():
            if not check.knows(row.id):
                self._rows.append(row)
                self._state.got += 1
            elif row.id not in check.recent or not check.scope.holds(row.stars):
                continue
            check.ids[row.id] = row.created
            self._tell(check, row)
        check.out += parts - 1
        if not parts and window.total > REACH:
            check.ranges.append(window.scope)
        elif not parts:
            missing = [place for _, place in window.missing()]
            whole = [window.scope] if window.passed_over(rows) else []
            check.ranges.extend(missing or whole)
        if not check.out:
            self._asked_again(check)

    def _tell(self, check: Check, row: Row) -> None:
        """Let those who go on below a range know what was found in it belatedly."""
        for window in self._state.windows.values():
            if window.check == check.number and not window.repairs:
                window.recent[row.id] = row.created
        for each in self._state.checks.values():
            if each.parent == check.number:
                each.recent[row.id] = row.created
            if each.number == check.parent:
                each.below[row.id] = row.created

    def _asked_again(self, check: Check) -> None:
        """Go on with a check when all that was asked again is there."""
        if not check.proving:
            if check.repaired():
                self._shown(check)
            else:
                self._ask_again(check)
        elif check.agrees:
            self._settled(check)
        elif not check.ranges:
            self._state.shifts += check.left != check.gone
            self._settled(check)
        elif check.rounds >= MOST and check.left == check.gone:
            self._settled(check)
        elif check.rounds >= MOST:
            self._give_up(check)
        else:
            self._ask_again(check)

    def _shown(self, check: Check) -> None:
        """Tell the check above that this window has shown what it can, and prove its own range."""
        above = self._state.checks.get(check.parent)
        short = len(check.ids) < check.total if check.total <= REACH else check.lacking > 0
        check.doubt = check.doubt or short
        if above is not None:
            above.doubt = above.doubt or check.doubt
            above.below_total += check.total
            above.below.update(check.ids)
            above.waiting -= 1
            self._release(above)
            self._prove(above)
        check.prove()
        self._prove(check)

    def _release(self, check: Check) -> None:
        """Go deeper when all slices of a window have begun: counts of one time can be compared."""
        if not check.waiting:
            for number in check.held:
                self._asks.append(self._state.windows[number].begin(self._state.size))
            check.held = []

    def _prove(self, check: Check) -> None:
        """Compare counts and results, when all are there."""
        if check.waiting or not check.proving or check.out:
            return
        if check.agrees:
            self._settled(check)
        else:
            self._ask_again(check)

    def _settled(self, check: Check) -> None:
        del self._state.checks[check.number]

    def _give_up(self, check: Check) -> None:
        """Report a range that can't be completed."""
        scope = check.scope
        alone = scope.low == scope.high and scope.begin == scope.end is not None
        why = (
            f"More than {REACH:,} repositories of equal stars were made in one second."
            if alone and check.left > REACH
            else f"Counts and results still differed when it was asked for the {MOST}th time."
        )
        gap = Gap(scope.expression(), check.left, check.gone, why)
        self._state.gaps.append(gap)
        self._notes.append(f"{gap.text}: {gap.got:,} of {gap.expected:,}. {why}")
        self._settled(check)


def _made_in(scope: Scope, ids: Known) -> Known:
    """Return those that may have been made in the slice of a scope."""
    return {key: created for key, created in ids.items() if scope.made_in(created)}

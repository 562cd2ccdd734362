"""Driving a sweep: what is asked goes out, what comes is kept, and a sweep says what follows."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.client.attempts import tell
from gqlnb.client.threads import undisturbed
from gqlnb.errors import GqlnbError, RateLimited, TransportError, blame
from gqlnb.github.harvesting.asking import Load, errand
from gqlnb.github.harvesting.journal import Answered
from gqlnb.github.harvesting.values import Ask, Page
from gqlnb.github.search import REACH
from gqlnb.model.offsets import offset_of

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from gqlnb.github.harvesting.asking import Asker, Outcome
    from gqlnb.github.harvesting.keeping import Memory
    from gqlnb.github.harvesting.sweep import Sweep
    from gqlnb.github.harvesting.values import Row
    from gqlnb.model.offsets import Offset
    from gqlnb.wire.budget import Budget

__all__ = ["Drive"]

LOST = 3  # times that a request may be lost with the worker that had it
LIMITED = 8  # rate limits in a row after which nobody believes that waiting helps
BREATH = 0.5  # seconds before less is asked for, after it was too much
SMALLEST = 10  # results of a page; who fails to give so few fails for another reason
TOO_LARGE = Page(0, (), heavy=True)  # what came is that: the sweep asks for it in parts


class Flight(NamedTuple):
    """A request on its way.

    Attributes
    ----------
    asks
        What the sweep asked for.
    more
        What it will ask for, probably.
    """

    asks: list[Ask]
    more: list[Ask]

    @property
    def all(self) -> list[Ask]:
        """What is asked for."""
        return [*self.asks, *self.more]


class Drive:
    """One harvest on its way.

    Parameters
    ----------
    sweep
        What says what to ask.
    keeper
        Where rows go.
    asker
        What asks.
    executor
        Where it asks; None for threads of its own.
    width
        Most requests at once, if the endpoint takes so many.
    watch
        Called with rows so far, rows there will be, requests, and what is left of the budget; the
        harvest stops if it returns False.

    Attributes
    ----------
    notes
        What happened, a sentence each.
    stopped
        Whether it was told to stop.
    vain
        Pages that travelled with others and were not needed.
    """

    def __init__(
        self,
        sweep: Sweep,
        keeper: Memory,
        asker: Asker,
        executor: Executor | None,
        width: int,
        watch: Any,
    ) -> None:
        self.notes: list[str] = []
        self.stopped = False
        self.vain = 0
        self._sweep, self._keeper, self._asker = sweep, keeper, asker
        self._executor, self._width, self._watch = executor, width, watch
        self._todo = list(reversed(sweep.asks()))
        self._flying: dict[Future[Outcome], Flight] = {}
        self._offset: Offset | None = None  # how cursors are written, where they can be foretold
        self._load = Load()
        self._room = 1  # what the endpoint takes, before it has said anything
        self._resting = 0.0  # nothing is sent before this time of the monotonic clock
        self._limits = self._lost = 0
        self._unkept: tuple[Answered, list[Row]] | None = None  # what the sweep was fed last
        self._budget: Budget | None = None

    def run(self) -> None:
        """Ask until there is nothing more to ask.

        Raises
        ------
        GqlnbError
            If it can't go on. All that came is kept.
        """
        executor = self._executor or ThreadPoolExecutor(self._width, "gqlnb-harvest")
        try:
            self._send(executor)
            while (self._flying or self._todo) and not self.stopped:
                self._rest()
                self._send(executor)
                done, _ = wait(self._flying, return_when="FIRST_COMPLETED")
                came = [(self._flying.pop(each), each) for each in done]
                self._send(executor)
                self._take(came)
                self._send(executor)  # first, so that the endpoint need not wait for our disk
                self._keep()
                self._report()
        finally:
            self._keep()
            for future in self._flying:
                future.cancel()
            if self._executor is None:
                executor.shutdown(wait=False, cancel_futures=True)

    def _send(self, executor: Executor) -> None:
        """Ask for as much at once as may be."""
        while self._todo and len(self._flying) < min(self._width, self._room):
            if time.monotonic() < self._resting:
                return
            asks = [self._todo.pop() for _ in range(min(self._load.pages, len(self._todo)))]
            flight = Flight(asks, self._foreseen(asks))
            self._flying[executor.submit(errand, self._asker, flight.all)] = flight

    def _foreseen(self, asks: list[Ask]) -> list[Ask]:
        """Return what the sweep will ask when these are answered, as far as there is room for it.

        A search that goes on with thousands will be asked for all its pages. They travel with its
        first one, for the same point of a budget; those that it is not asked for are dropped.
        """
        coverage = self._sweep.coverage()
        offset, left = self._offset, (coverage.expected or 0) - coverage.got
        if offset is None or left < REACH:
            return []
        found = [
            Ask(ask.window, start, min(ask.first, REACH - start), ask.text, offset.cursor(start))
            for ask in asks
            if not ask.start
            for start in range(ask.first, REACH, ask.first)
        ]
        return found[: self._load.pages - len(asks)]

    def _rest(self) -> None:
        """Wait until something may be asked again."""
        left = self._resting - time.monotonic()
        if left > 0 and not self._flying:
            time.sleep(left)

    def _take(self, came: list[tuple[Flight, Future[Outcome]]]) -> None:
        """Take in what came of some requests.

        Raises
        ------
        GqlnbError
            If one failed; the others are taken in nevertheless.
        """
        failures: list[GqlnbError] = []
        for flight, future in came:
            try:
                outcome = future.result()
            except GqlnbError as error:
                failures.append(error)
            except (CancelledError, Exception) as error:  # whatever an executor raises
                self._again(flight.asks, error)
            else:
                self._took(flight, outcome)
        if failures:
            raise failures[0]

    def _took(self, flight: Flight, outcome: Outcome) -> None:
        """Take in what came of a request."""
        self._room = self._width if outcome.width > 1 else 1
        with undisturbed():
            if outcome.pages is None:
                self._refused(flight, outcome)
            else:
                self._answered(flight, outcome.pages, outcome.seconds)
        self._budget = outcome.budget

    def _keep(self) -> None:
        """Keep what came last, before its sweep is fed again: what is kept is how that stands."""
        with undisturbed():
            if self._unkept is not None:
                (event, rows), self._unkept = self._unkept, None
                self._keeper.add(event, rows, self._sweep)

    def _report(self) -> None:
        """Tell how far it is, and whether to go on."""
        keeper, wanted = self._keeper, self._sweep.coverage().expected
        if self._budget is not None:
            going = self._watch(keeper.rows, wanted, keeper.requests, self._budget)
            self.stopped = self.stopped or going is False

    def _answered(self, flight: Flight, pages: list[Page], seconds: float) -> None:
        """Take in an answer; of several pages at once those too large are asked for again alone."""
        self._limits = self._lost = 0
        came = dict(zip(flight.all, pages, strict=True))
        large = [ask for ask, page in came.items() if page.heavy] if len(came) > 1 else []
        for ask in large:
            del came[ask]
        if large:
            self._load.much()
            self._todo.extend(ask for ask in reversed(flight.asks) if ask in large)
        else:
            self._load.fine(seconds)
        if flight.asks[0] in came and not flight.asks[0].start:
            self._offset = offset_of(came[flight.asks[0]].end, flight.asks[0].first) or self._offset
        self._feed([ask for ask in flight.asks if ask in came], came)

    def _feed(self, asks: list[Ask], came: dict[Ask, Page]) -> None:
        """Keep the pages of an answer, and note what to ask next, unless it came already."""
        self._keep()
        rows: list[Row] = []
        fed: list[Ask] = []
        waiting = deque(asks)
        while waiting:
            ask = waiting.popleft()
            step = self._sweep.feed(ask, came[ask])
            fed.append(ask)
            rows.extend(step.rows)
            self.notes.extend(step.notes)
            waiting.extend(each for each in step.asks if each in came)
            self._todo.extend(each for each in reversed(step.asks) if each not in came)
        self.vain += len(came) - len(fed)
        if fed:
            self._unkept = Answered(fed, [came[ask] for ask in fed]), rows

    def _refused(self, flight: Flight, outcome: Outcome) -> None:
        """Ask again for what got no answer: later, or less at a time.

        Raises
        ------
        TransportError
            If neither would help.
        """
        asks, error = flight.asks, outcome.error
        if isinstance(error, RateLimited):
            self._limits += 1
            if self._limits > LIMITED:
                raise error
            self._todo.extend(reversed(asks))
            self._pause(outcome.wait, f"{error} Going on by itself.")
            return
        self._pause(BREATH)
        self._load.much()
        if len(flight.all) > 1:
            self._todo.extend(reversed(asks))
        elif error is not None and asks[0].first <= SMALLEST:
            raise error
        else:
            self._feed(asks, {asks[0]: TOO_LARGE})

    def _again(self, asks: list[Ask], error: BaseException) -> None:
        """Ask again for what was lost with a worker.

        Raises
        ------
        TransportError
            If that happened too often.
        """
        self._lost += 1
        self._todo.extend(reversed(asks))
        if self._lost > LOST:
            msg = f"The executor lost {self._lost} requests in a row: {blame(error)}"
            raise TransportError(msg) from error

    def _pause(self, seconds: float, said: str = "") -> None:
        self._resting = max(self._resting, time.monotonic() + seconds)
        if said:
            tell(said, seconds)

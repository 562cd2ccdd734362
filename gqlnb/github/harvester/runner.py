"""Driving a sweep: what is asked goes out, what comes is kept, and a sweep says what follows."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.background import defer_interrupt
from gqlnb.client.paging.offset_cursors import detect_offset_format
from gqlnb.client.retry_loop import announce_wait
from gqlnb.errors import GqlnbError, RateLimited, TransportError, describe_exception
from gqlnb.github.harvester.requests import BatchSize, fetch_pages
from gqlnb.github.harvester.search_windows import SearchPage, SearchRequest
from gqlnb.github.harvester.storage import AnsweredEvent
from gqlnb.github.search_syntax import MAX_SEARCH_RESULTS

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from gqlnb.client.paging.offset_cursors import OffsetFormat
    from gqlnb.github.harvester.requests import FetchOutcome, PortableClient
    from gqlnb.github.harvester.search_windows import RepositoryRow
    from gqlnb.github.harvester.state_machine import Sweep
    from gqlnb.github.harvester.storage import MemoryStorage
    from gqlnb.http.rate_limit_rules import Budget

__all__ = ["HarvestRunner"]

MAX_LOST = 3  # times that a request may be lost with the worker that had it
MAX_RATE_LIMITS = 8  # rate limits in a row after which nobody believes that waiting helps
OVERLOAD_PAUSE = 0.5  # seconds before less is asked for, after it was too much
MIN_PAGE_SIZE = 10  # results of a page; who fails to give so few fails for another reason
TOO_LARGE_PAGE = SearchPage(0, (), heavy=True)  # what came is that: the sweep asks for it in parts


class SentRequest(NamedTuple):
    """A request on its way.

    Attributes
    ----------
    asks
        What the sweep asked for.
    foreseen
        What it will ask for, probably.
    """

    asks: list[SearchRequest]
    foreseen: list[SearchRequest]

    @property
    def all(self) -> list[SearchRequest]:
        """What is asked for."""
        return [*self.asks, *self.foreseen]


class HarvestRunner:
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
    wasted_pages
        Pages that travelled with others and were not needed.
    """

    def __init__(
        self,
        sweep: Sweep,
        keeper: MemoryStorage,
        asker: PortableClient,
        executor: Executor | None,
        width: int,
        watch: Any,
    ) -> None:
        self.notes: list[str] = []
        self.stopped = False
        self.wasted_pages = 0
        self._sweep, self._storage, self._client = sweep, keeper, asker
        self._executor, self._width, self._watch = executor, width, watch
        self._pending = list(reversed(sweep.list_requests()))
        self._in_flight: dict[Future[FetchOutcome], SentRequest] = {}
        self._offset: OffsetFormat | None = (
            None  # how cursors are written, where they can be foretold
        )
        self._batch_size = BatchSize()
        self._endpoint_width = 1  # what the endpoint takes, before it has said anything
        self._paused_until = 0.0  # nothing is sent before this time of the monotonic clock
        self._rate_limit_count = self._lost_count = 0
        self._unstored: tuple[AnsweredEvent, list[RepositoryRow]] | None = (
            None  # what the sweep was fed last
        )
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
            self._send_requests(executor)
            while (self._in_flight or self._pending) and not self.stopped:
                self._wait_out_pause()
                self._send_requests(executor)
                done, _ = wait(self._in_flight, return_when="FIRST_COMPLETED")
                came = [(self._in_flight.pop(each), each) for each in done]
                self._send_requests(executor)
                self._take_results(came)
                self._send_requests(
                    executor
                )  # first, so that the endpoint need not wait for our disk
                self._store_rows()
                self._report_progress()
        finally:
            self._store_rows()
            for future in self._in_flight:
                future.cancel()
            if self._executor is None:
                executor.shutdown(wait=False, cancel_futures=True)

    def _send_requests(self, executor: Executor) -> None:
        """Ask for as much at once as may be."""
        while self._pending and len(self._in_flight) < min(self._width, self._endpoint_width):
            if time.monotonic() < self._paused_until:
                return
            asks = [
                self._pending.pop() for _ in range(min(self._batch_size.pages, len(self._pending)))
            ]
            flight = SentRequest(asks, self._foresee_requests(asks))
            self._in_flight[executor.submit(fetch_pages, self._client, flight.all)] = flight

    def _foresee_requests(self, asks: list[SearchRequest]) -> list[SearchRequest]:
        """Return what the sweep will ask when these are answered, as far as there is room for it.

        A search that goes on with thousands will be asked for all its pages. They travel with its
        first one, for the same point of a budget; those that it is not asked for are dropped.
        """
        coverage = self._sweep.build_coverage()
        offset, left = self._offset, (coverage.expected or 0) - coverage.got
        if offset is None or left < MAX_SEARCH_RESULTS:
            return []
        found = [
            SearchRequest(
                ask.window,
                start,
                min(ask.first, MAX_SEARCH_RESULTS - start),
                ask.text,
                offset.format_cursor(start),
            )
            for ask in asks
            if not ask.start
            for start in range(ask.first, MAX_SEARCH_RESULTS, ask.first)
        ]
        return found[: self._batch_size.pages - len(asks)]

    def _wait_out_pause(self) -> None:
        """Wait until something may be asked again."""
        left = self._paused_until - time.monotonic()
        if left > 0 and not self._in_flight:
            time.sleep(left)

    def _take_results(self, came: list[tuple[SentRequest, Future[FetchOutcome]]]) -> None:
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
                self._retry_lost(flight.asks, error)
            else:
                self._add_outcome(flight, outcome)
        if failures:
            raise failures[0]

    def _add_outcome(self, flight: SentRequest, outcome: FetchOutcome) -> None:
        """Take in what came of a request."""
        self._endpoint_width = self._width if outcome.width > 1 else 1
        with defer_interrupt():
            if outcome.pages is None:
                self._retry_refused(flight, outcome)
            else:
                self._add_answer(flight, outcome.pages, outcome.seconds)
        self._budget = outcome.budget

    def _store_rows(self) -> None:
        """Keep what came last, before its sweep is fed again: what is kept is how that stands."""
        with defer_interrupt():
            if self._unstored is not None:
                (event, rows), self._unstored = self._unstored, None
                self._storage.add_rows(event, rows, self._sweep)

    def _report_progress(self) -> None:
        """Tell how far it is, and whether to go on."""
        keeper, wanted = self._storage, self._sweep.build_coverage().expected
        if self._budget is not None:
            going = self._watch(keeper.rows, wanted, keeper.requests, self._budget)
            self.stopped = self.stopped or going is False

    def _add_answer(self, flight: SentRequest, pages: list[SearchPage], seconds: float) -> None:
        """Take in an answer; of several pages at once those too large are asked for again alone."""
        self._rate_limit_count = self._lost_count = 0
        came = dict(zip(flight.all, pages, strict=True))
        large = [ask for ask, page in came.items() if page.heavy] if len(came) > 1 else []
        for ask in large:
            del came[ask]
        if large:
            self._batch_size.halve_pages()
            self._pending.extend(ask for ask in reversed(flight.asks) if ask in large)
        else:
            self._batch_size.note_success(seconds)
        if flight.asks[0] in came and not flight.asks[0].start:
            self._offset = (
                detect_offset_format(came[flight.asks[0]].end, flight.asks[0].first) or self._offset
            )
        self._feed_pages([ask for ask in flight.asks if ask in came], came)

    def _feed_pages(self, asks: list[SearchRequest], came: dict[SearchRequest, SearchPage]) -> None:
        """Keep the pages of an answer, and note what to ask next, unless it came already."""
        self._store_rows()
        rows: list[RepositoryRow] = []
        fed: list[SearchRequest] = []
        waiting = deque(asks)
        while waiting:
            ask = waiting.popleft()
            step = self._sweep.feed_page(ask, came[ask])
            fed.append(ask)
            rows.extend(step.rows)
            self.notes.extend(step.notes)
            waiting.extend(each for each in step.asks if each in came)
            self._pending.extend(each for each in reversed(step.asks) if each not in came)
        self.wasted_pages += len(came) - len(fed)
        if fed:
            self._unstored = AnsweredEvent(fed, [came[ask] for ask in fed]), rows

    def _retry_refused(self, flight: SentRequest, outcome: FetchOutcome) -> None:
        """Ask again for what got no answer: later, or less at a time.

        Raises
        ------
        TransportError
            If neither would help.
        """
        asks, error = flight.asks, outcome.error
        if isinstance(error, RateLimited):
            self._rate_limit_count += 1
            if self._rate_limit_count > MAX_RATE_LIMITS:
                raise error
            self._pending.extend(reversed(asks))
            self._set_pause(outcome.wait, f"{error} Going on by itself.")
            return
        self._set_pause(OVERLOAD_PAUSE)
        self._batch_size.halve_pages()
        if len(flight.all) > 1:
            self._pending.extend(reversed(asks))
        elif error is not None and asks[0].first <= MIN_PAGE_SIZE:
            raise error
        else:
            self._feed_pages(asks, {asks[0]: TOO_LARGE_PAGE})

    def _retry_lost(self, asks: list[SearchRequest], error: BaseException) -> None:
        """Ask again for what was lost with a worker.

        Raises
        ------
        TransportError
            If that happened too often.
        """
        self._lost_count += 1
        self._pending.extend(reversed(asks))
        if self._lost_count > MAX_LOST:
            msg = f"The executor lost {self._lost_count} requests in a row: {describe_exception(error)}"
            raise TransportError(msg) from error

    def _set_pause(self, seconds: float, said: str = "") -> None:
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)
        if said:
            announce_wait(said, seconds)

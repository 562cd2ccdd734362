"""The loop of a harvest: it sends the requests of a sweep on an executor and stores the rows."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, NamedTuple

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
    from gqlnb.client.progress import ProgressCallback
    from gqlnb.github.harvester.requests import FetchOutcome, PortableClient
    from gqlnb.github.harvester.search_windows import RepositoryRow
    from gqlnb.github.harvester.state_machine import Sweep
    from gqlnb.github.harvester.storage import MemoryStorage
    from gqlnb.http.rate_limit_rules import Budget

__all__ = ["HarvestRunner"]

MAX_LOST = 3  # requests in a row that may be lost together with their worker
MAX_RATE_LIMITS = 8  # rate limits in a row after which waiting is given up
OVERLOAD_PAUSE = 0.5  # seconds before a smaller request follows one that was too large
MIN_PAGE_SIZE = 10  # results; a page of this size does not fail for its size
TOO_LARGE_PAGE = SearchPage(0, (), heavy=True)  # makes the sweep request the page in parts


class SentRequest(NamedTuple):
    """The contents of a request on its way: pages the sweep asked for, and pages it may ask for."""

    asks: list[SearchRequest]
    foreseen: list[SearchRequest]


class HarvestRunner:
    """One run of a harvest.

    Parameters
    ----------
    sweep
        The state machine.
    storage
        The storage of the rows.
    client
        The client.
    executor
        Executor of the requests; None for own threads.
    width
        Most requests at once, if the endpoint accepts as many.
    watch
        Called with rows so far, rows expected, requests and the remaining budget; the harvest
        stops if it returns False.

    Attributes
    ----------
    notes
        Events, as sentences.
    stopped
        Whether `watch` stopped the run.
    wasted_pages
        Foreseen pages that were not needed.
    """

    def __init__(
        self,
        sweep: Sweep,
        storage: MemoryStorage,
        client: PortableClient,
        executor: Executor | None,
        width: int,
        watch: ProgressCallback,
    ) -> None:
        self.notes: list[str] = []
        self.stopped = False
        self.wasted_pages = 0
        self._sweep, self._storage, self._client = sweep, storage, client
        self._executor, self._width, self._watch = executor, width, watch
        self._pending = list(reversed(sweep.list_requests()))
        self._in_flight: dict[Future[FetchOutcome], SentRequest] = {}
        self._offset: OffsetFormat | None = None  # set if cursors can be computed
        self._batch_size = BatchSize()
        self._endpoint_width = 1  # requests that the endpoint accepts at once
        self._paused_until = 0.0  # in time.monotonic()
        self._rate_limit_count = self._lost_count = 0
        self._unstored: tuple[AnsweredEvent, list[RepositoryRow]] | None = None
        self._budget: Budget | None = None

    def run(self) -> None:
        """Send requests until the sweep has no more.

        Raises
        ------
        GqlnbError
            If a request failed for good. All rows so far are stored.
        """
        executor = self._executor or ThreadPoolExecutor(self._width, "gqlnb-harvest")
        try:
            self._send_requests(executor)
            while (self._in_flight or self._pending) and not self.stopped:
                left = self._paused_until - time.monotonic()
                if left > 0 and not self._in_flight:
                    time.sleep(left)
                self._send_requests(executor)
                done, _ = wait(self._in_flight, return_when="FIRST_COMPLETED")
                finished = [(self._in_flight.pop(future), future) for future in done]
                # Requests are sent again before and after the answers are processed, and only then
                # rows are written, so that the endpoint does not wait for the disk.
                self._send_requests(executor)
                self._take_results(finished)
                self._send_requests(executor)
                self._store_rows()
                self._report_progress()
        finally:
            self._store_rows()
            for future in self._in_flight:
                future.cancel()
            if self._executor is None:
                executor.shutdown(wait=False, cancel_futures=True)

    def _send_requests(self, executor: Executor) -> None:
        """Send as many requests as may run at once."""
        while self._pending and len(self._in_flight) < min(self._width, self._endpoint_width):
            if time.monotonic() < self._paused_until:
                return
            count = min(self._batch_size.pages, len(self._pending))
            asks = [self._pending.pop() for _ in range(count)]
            sent = SentRequest(asks, self._foresee_requests(asks))
            future = executor.submit(fetch_pages, self._client, [*sent.asks, *sent.foreseen])
            self._in_flight[future] = sent

    def _foresee_requests(self, asks: list[SearchRequest]) -> list[SearchRequest]:
        """Return the further pages of searches that are likely to need them, as far as they fit.

        They cost no additional point of GitHub's budget. Those that the sweep does not need are
        dropped.
        """
        offset, left = self._offset, (self._sweep.expected or 0) - self._sweep.got
        if offset is None or left < MAX_SEARCH_RESULTS:
            return []
        foreseen = []
        for ask in asks:
            for start in range(ask.first, MAX_SEARCH_RESULTS, ask.first) if not ask.start else ():
                size, cursor = (
                    min(ask.first, MAX_SEARCH_RESULTS - start),
                    offset.format_cursor(start),
                )
                foreseen.append(SearchRequest(ask.window, start, size, ask.text, cursor))
        return foreseen[: self._batch_size.pages - len(asks)]

    def _take_results(self, finished: list[tuple[SentRequest, Future[FetchOutcome]]]) -> None:
        """Process all results, then raise the first error of an endpoint among them."""
        failures: list[GqlnbError] = []
        for sent, future in finished:
            try:
                outcome = future.result()
            except GqlnbError as error:
                failures.append(error)
                continue
            except (CancelledError, Exception) as error:  # executors raise errors of any class
                self._retry_lost(sent.asks, error)
                continue
            self._endpoint_width = self._width if outcome.width > 1 else 1
            with defer_interrupt():
                if outcome.pages is None:
                    self._retry_refused(sent, outcome)
                else:
                    self._add_answer(sent, outcome.pages, outcome.seconds)
            self._budget = outcome.budget
        if failures:
            raise failures[0]

    def _store_rows(self) -> None:
        """Store the last answer; a stored checkpoint is the state of the sweep right after it."""
        with defer_interrupt():
            if self._unstored is not None:
                (event, rows), self._unstored = self._unstored, None
                self._storage.add_rows(event, rows, self._sweep)

    def _report_progress(self) -> None:
        if self._budget is not None:
            rows, requests = self._storage.rows, self._storage.requests
            answer = self._watch(rows, self._sweep.expected, requests, self._budget)
            self.stopped = self.stopped or answer is False

    def _add_answer(self, sent: SentRequest, pages: list[SearchPage], seconds: float) -> None:
        """Feed an answer to the sweep; pages that were too large together are sent again alone."""
        self._rate_limit_count = self._lost_count = 0
        came = dict(zip([*sent.asks, *sent.foreseen], pages, strict=True))
        large = [ask for ask, page in came.items() if page.heavy] if len(came) > 1 else []
        for ask in large:
            del came[ask]
        if large:
            self._batch_size.halve_pages()
            self._pending.extend(ask for ask in reversed(sent.asks) if ask in large)
        else:
            self._batch_size.note_success(seconds)
        first = sent.asks[0]
        if first in came and not first.start:
            self._offset = detect_offset_format(came[first].end, first.first) or self._offset
        self._feed_pages([ask for ask in sent.asks if ask in came], came)

    def _feed_pages(self, asks: list[SearchRequest], came: dict[SearchRequest, SearchPage]) -> None:
        """Feed pages to the sweep, also foreseen ones that it asks for then."""
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
            waiting.extend(new for new in step.asks if new in came)
            self._pending.extend(new for new in reversed(step.asks) if new not in came)
        self.wasted_pages += len(came) - len(fed)
        if fed:
            self._unstored = AnsweredEvent(fed, [came[ask] for ask in fed]), rows

    def _retry_refused(self, sent: SentRequest, outcome: FetchOutcome) -> None:
        """Send a refused request again: later, or smaller; raise if neither helps."""
        asks, error = sent.asks, outcome.error
        if isinstance(error, RateLimited):
            self._rate_limit_count += 1
            if self._rate_limit_count > MAX_RATE_LIMITS:
                raise error
            self._pending.extend(reversed(asks))
            self._set_pause(outcome.wait)
            announce_wait(f"{error} Going on by itself.", outcome.wait)
            return
        self._set_pause(OVERLOAD_PAUSE)
        self._batch_size.halve_pages()
        if len(asks) + len(sent.foreseen) > 1:
            self._pending.extend(reversed(asks))
        elif error is not None and asks[0].first <= MIN_PAGE_SIZE:
            raise error
        else:
            self._feed_pages(asks, {asks[0]: TOO_LARGE_PAGE})

    def _retry_lost(self, asks: list[SearchRequest], error: BaseException) -> None:
        """Send a request again that was lost together with its worker; raise after a few times."""
        self._lost_count += 1
        self._pending.extend(reversed(asks))
        if self._lost_count > MAX_LOST:
            reason = describe_exception(error)
            msg = f"The executor lost {self._lost_count} requests in a row: {reason}"
            raise TransportError(msg) from error

    def _set_pause(self, seconds: float) -> None:
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

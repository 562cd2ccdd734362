"""The loop of a harvest: it sends the requests of a sweep on an executor and stores the rows."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.background import POLL_SECONDS, defer_interrupt
from gqlnb.client.paging.offset_cursors import detect_offset_format
from gqlnb.client.progress import announce_pause, sum_budgets
from gqlnb.client.range_harvest.reader_pool import describe_refusal
from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    RateLimited,
    TransportError,
    describe_exception,
)
from gqlnb.github.harvester.requests import BatchSize, NodeBatch, encode_node, fetch_pages
from gqlnb.github.harvester.search_windows import SearchPage, SearchRequest, list_page_starts
from gqlnb.github.harvester.storage import AnsweredEvent, FieldsEvent
from gqlnb.github.search_syntax import MAX_SEARCH_RESULTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor, Future

    from gqlnb.client.paging.offset_cursors import OffsetFormat
    from gqlnb.client.progress import ProgressCallback
    from gqlnb.github.harvester.identities import Identity
    from gqlnb.github.harvester.requests import FetchOutcome, PortableClient
    from gqlnb.github.harvester.search_windows import RepositoryRow
    from gqlnb.github.harvester.state_machine import Sweep
    from gqlnb.github.harvester.storage import MemoryStorage

__all__ = ["HarvestRunner"]

MAX_LOST = 3  # requests in a row that may be lost with their worker, or damaged on their way
MAX_RATE_LIMITS = 8  # rate limits in a row after which waiting is given up
OVERLOAD_PAUSE = 0.5  # seconds before a smaller request follows one that was too large
MIN_PAGE_SIZE = 10  # results; a page of this size does not fail for its size
SMALL_PAGE = 50  # results; own fields that are too large for such a page are fetched by id
TOO_LARGE_PAGE = SearchPage(0, (), heavy=True)  # makes the sweep request the page in parts


class SentRequest(NamedTuple):
    """A request on its way.

    Attributes
    ----------
    sender, client
        Its sender, and the client in use then.
    asks, foreseen
        Pages the sweep asked for, and pages it may ask for.
    rows
        Instead of pages: rows whose own fields are requested by id.
    """

    sender: Identity
    client: PortableClient
    asks: Sequence[SearchRequest] = ()
    foreseen: Sequence[SearchRequest] = ()
    rows: Sequence[RepositoryRow] = ()


class HarvestRunner:
    """One run of a harvest.

    Parameters
    ----------
    sweep
        The state machine.
    storage
        The storage of the rows.
    identities
        The senders; each has one request in flight, or more if the endpoint accepts them.
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
        Whether `watch` stopped the run before its end.
    wasted_pages
        Foreseen pages that were not needed.
    """

    def __init__(
        self,
        sweep: Sweep,
        storage: MemoryStorage,
        identities: Sequence[Identity],
        executor: Executor | None,
        width: int,
        watch: ProgressCallback,
    ) -> None:
        self.notes: list[str] = []
        self.stopped = False
        self.wasted_pages = 0
        self._sweep, self._storage, self._identities = sweep, storage, identities
        self._executor, self._watch = executor, watch
        self._width = max(width, len(identities))
        self._pending = list(reversed(sweep.list_requests()))
        self._in_flight: dict[Future[FetchOutcome], SentRequest] = {}
        self._offset: OffsetFormat | None = None  # set if cursors can be computed
        self._batch_size = BatchSize()
        self._lost_count = 0
        self._unstored: tuple[AnsweredEvent | FieldsEvent, list[RepositoryRow]] | None = None
        self._fields = "" if storage.own_columns is None else storage.own_columns.text
        self._incomplete = deque(storage.incomplete.values())
        # Own fields come with the pages, until pages with them turn out to be too large.
        self._by_id = bool(self._incomplete)
        self._node_batch = NodeBatch()
        self._refused_alone = 0  # requests in a row, each for one node
        self._last_limit: RateLimited | None = None

    def run(self) -> None:
        """Send requests until the sweep has no more, and all own fields came.

        Raises
        ------
        GqlnbError
            If a request failed for good. All rows so far are stored.
        """
        executor = self._executor or ThreadPoolExecutor(self._width, "gqlnb-harvest")
        try:
            self._send_requests(executor)
            while (self._in_flight or self._has_work) and not self.stopped:
                pause = self._compute_pause()
                if pause and not self._in_flight:
                    time.sleep(pause)
                self._send_requests(executor)
                pause = POLL_SECONDS if pause is None else min(pause, POLL_SECONDS)
                done, _ = wait(self._in_flight, pause, return_when="FIRST_COMPLETED")
                finished = [(self._in_flight.pop(future), future) for future in done]
                # Requests are sent again before and after the answers are processed, and only then
                # rows are written, so that the endpoint does not wait for the disk.
                self._send_requests(executor)
                self._take_results(finished)
                self._send_requests(executor)
                self._store_rows()
                self._report_progress()
            self.stopped = self.stopped and bool(self._in_flight or self._has_work)
            if not self.stopped and self._sweep.list_requests():
                msg = "the sweep waits for answers to requests that were not sent"
                raise AssertionError(msg)
        finally:
            self._store_rows()
            for future in self._in_flight:
                future.cancel()
            if self._executor is None:
                executor.shutdown(wait=False, cancel_futures=True)

    @property
    def _has_work(self) -> bool:
        """Whether there is a request to send."""
        return bool(self._pending or self._incomplete)

    def _list_senders(self) -> list[Identity]:
        """Return the identities that can send a request now, the least busy first."""
        live = [each for each in self._identities if not each.refusal]
        share = -(-self._width // len(live))  # of the requests at once
        free = [
            each
            for each in live
            if each.in_flight < min(share, each.width) and not each.compute_pause()
        ]
        return sorted(free, key=lambda each: each.in_flight)

    def _compute_pause(self) -> float | None:
        """Return the seconds until an identity may send again; None if none is waiting."""
        pauses = [each.compute_pause() for each in self._identities if not each.refusal]
        return min((pause for pause in pauses if pause), default=None) if self._has_work else None

    def _send_requests(self, executor: Executor) -> None:
        """Send as many requests as may run at once."""
        while self._has_work and (senders := self._list_senders()):
            sender = senders[0]
            # The pages of a search come one after another, so that little changes between them.
            if not self._pending or len(self._incomplete) >= MAX_SEARCH_RESULTS:
                count = min(self._node_batch.size, len(self._incomplete))
                rows = [self._incomplete.popleft() for _ in range(count)]
                self._submit(executor, SentRequest(sender, sender.client, rows=rows))
                continue
            # What is pending is shared, so that no identity waits for the requests of another.
            share = -(-len(self._pending) // len(senders))
            count = min(self._batch_size.pages, share)
            asks = [self._pending.pop() for _ in range(count)]
            foreseen = self._foresee_requests(asks)
            self._submit(executor, SentRequest(sender, sender.client, asks, foreseen))

    def _submit(self, executor: Executor, sent: SentRequest) -> None:
        pages, ids = [*sent.asks, *sent.foreseen], [row.id for row in sent.rows]
        fields = self._fields if ids or not self._by_id else ""
        try:
            future = executor.submit(fetch_pages, sent.client, pages, fields, ids)
        except RuntimeError as error:  # such as BrokenProcessPool: it accepts no further calls
            msg = f"The executor accepts no more requests: {describe_exception(error)}"
            raise TransportError(msg) from error
        sent.sender.in_flight += 1
        self._in_flight[future] = sent

    def _requeue(self, sent: SentRequest) -> None:
        """Send a request again."""
        self._pending.extend(reversed(sent.asks))
        self._incomplete.extendleft(reversed(sent.rows))

    def _foresee_requests(self, asks: list[SearchRequest]) -> list[SearchRequest]:
        """Return the further pages of searches that are likely to need them, as far as they fit.

        They cost no additional point of GitHub's budget. Those that the sweep does not need are
        dropped.
        """
        offset, left = self._offset, (self._sweep.expected or 0) - self._sweep.got
        if offset is None or left < MAX_SEARCH_RESULTS or self._sweep.is_moving:
            return []
        foreseen = []
        for ask in asks:
            for start in list_page_starts(ask.first, left) if not ask.start else ():
                cursor = offset.format_cursor(start)
                foreseen.append(SearchRequest(ask.window, start, ask.first, ask.text, cursor))
        return foreseen[: self._batch_size.pages - len(asks)]

    def _take_results(self, finished: list[tuple[SentRequest, Future[FetchOutcome]]]) -> None:
        """Process all results, then raise the first error of an endpoint among them."""
        failures: list[GqlnbError] = []
        for sent, future in finished:
            sender = sent.sender
            sender.in_flight -= 1
            try:
                outcome = future.result()
            except GqlnbError as error:
                if not self._continue_after(sent, error):
                    failures.append(error)
                continue
            except (CancelledError, Exception) as error:  # executors raise errors of any class
                self._retry_lost(sent, error)
                continue
            sender.requests += 1
            sender.width = self._width if outcome.width > 1 else 1
            sender.budget = outcome.budget
            with defer_interrupt():
                self._storage.add_notes(outcome.notes)
                if outcome.nodes is not None:
                    self._add_fields(sent, outcome.nodes, outcome.seconds)
                elif outcome.pages is None:
                    self._retry_refused(sent, outcome)
                else:
                    self._add_answer(sent, outcome.pages, outcome.seconds)
        if failures:
            raise failures[0]

    def _store_rows(self) -> None:
        """Store the last answer; a stored checkpoint is the state of the sweep right after it."""
        with defer_interrupt():
            if self._unstored is not None:
                (event, rows), self._unstored = self._unstored, None
                self._storage.add_rows(event, rows, self._sweep)
                if self._fields and isinstance(event, AnsweredEvent):
                    self._incomplete.extend(row for row in rows if row.data is None)

    def _report_progress(self) -> None:
        budget = sum_budgets(self._identities)
        if budget is not None:
            rows, requests = self._storage.rows, self._storage.requests
            answer = self._watch(rows, self._sweep.expected, requests, budget)
            self.stopped = self.stopped or answer is False

    def _add_answer(self, sent: SentRequest, pages: list[SearchPage], seconds: float) -> None:
        """Feed an answer to the sweep; pages that were too large together are sent again alone."""
        sent.sender.limits = self._lost_count = 0
        came = dict(zip([*sent.asks, *sent.foreseen], pages, strict=True))
        large = [ask for ask, page in came.items() if page.heavy] if len(came) > 1 else []
        for ask in large:
            del came[ask]
        if large:
            self._batch_size.halve_pages()
            self._pending.extend(ask for ask in reversed(sent.asks) if ask in large)
        else:
            self._batch_size.note_success(seconds)
        if len(pages) == 1 and pages[0].heavy and self._drop_fields(sent.asks[0]):
            return
        if self._fields and any(row and row.data is None for page in pages for row in page.rows):
            self._by_id = True  # its fields could not come with the page
        first = sent.asks[0]
        if first in came and not first.start:
            self._offset = detect_offset_format(came[first].end, first.first) or self._offset
        self._feed_pages([ask for ask in sent.asks if ask in came], came)

    def _feed_pages(
        self, asks: Sequence[SearchRequest], came: dict[SearchRequest, SearchPage]
    ) -> None:
        """Feed pages to the sweep, also foreseen ones that it asks for then."""
        self._store_rows()
        was_moving = self._sweep.is_moving
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
        if self._sweep.is_moving and not was_moving:  # it has left its searches
            waiting_for = set(self._sweep.list_requests())
            self._pending = [ask for ask in self._pending if ask in waiting_for]
        if fed:
            self._unstored = AnsweredEvent(fed, [came[ask] for ask in fed]), rows

    def _drop_fields(self, ask: SearchRequest) -> bool:
        """Request a page again without own fields, if it is too large in spite of being small."""
        if not self._fields or self._by_id or ask.first > SMALL_PAGE:
            return False
        self._by_id = True
        self._pending.append(ask)
        self.notes.append(
            f"Pages of {ask.first} are too large with these fields=, so they are fetched by id."
        )
        return True

    def _add_fields(self, sent: SentRequest, nodes: list[str | None], seconds: float) -> None:
        """Add rows that came with their own fields; request the too large ones again."""
        sent.sender.limits = self._lost_count = self._refused_alone = 0
        pairs = list(zip(sent.rows, nodes, strict=True))
        whole = [row._replace(data=node) for row, node in pairs if node is not None]
        again = [row for row, node in pairs if node is None]
        if again:
            self._node_batch.refuse()
        else:
            self._node_batch.note_success(len(pairs), seconds)
        self._incomplete.extendleft(reversed(again))
        self._store_rows()
        self._unstored = FieldsEvent(whole), whole

    def _retry_nodes(self, sent: SentRequest, error: TransportError) -> None:
        """Send a request for nodes again in smaller ones; give up a row that is refused alone."""
        self._node_batch.refuse()
        if len(sent.rows) > 1:
            self._requeue(sent)
            return
        self._refused_alone += 1
        if self._refused_alone > MAX_LOST * MAX_LOST:  # the endpoint fails, not a repository
            raise error
        if self._refused_alone % MAX_LOST:
            self._requeue(sent)
            return
        data = encode_node({}, [f"The fields were refused: {error}"]).decode()
        whole = [sent.rows[0]._replace(data=data)]
        self._store_rows()
        self._unstored = FieldsEvent(whole), whole

    def _retry_refused(self, sent: SentRequest, outcome: FetchOutcome) -> None:
        """Send a refused request again: later, or smaller; raise if neither helps."""
        sender, asks, error = sent.sender, sent.asks, outcome.error
        if isinstance(error, RateLimited):
            sender.limits += 1
            # The endpoint's own words, not ours about the wait that they began.
            if error.status is not None or self._last_limit is None:
                self._last_limit = error
            if sender.limits > MAX_RATE_LIMITS:
                error = self._last_limit
                if not self._replace_sender(sent, error):
                    raise error
                return
            self._requeue(sent)
            sender.pause(outcome.wait)
            if all(each.refusal or each.compute_pause() for each in self._identities):
                announce_pause(error, outcome.wait)
            return
        sender.pause(OVERLOAD_PAUSE)
        if sent.rows and error is not None:
            self._retry_nodes(sent, error)
            return
        self._batch_size.halve_pages()
        if len(asks) + len(sent.foreseen) > 1:
            self._requeue(sent)
        elif self._drop_fields(asks[0]):
            return
        elif error is not None and asks[0].first <= MIN_PAGE_SIZE:
            raise error
        else:
            self._feed_pages(asks, {asks[0]: TOO_LARGE_PAGE})

    def _retry_lost(self, sent: SentRequest, error: BaseException) -> None:
        """Send a request again that was lost together with its worker; raise after a few times."""
        self._lost_count += 1
        self._requeue(sent)
        if self._lost_count > MAX_LOST:
            reason = describe_exception(error)
            msg = f"The executor lost {self._lost_count} requests in a row: {reason}"
            raise TransportError(msg) from error

    def _continue_after(self, sent: SentRequest, error: GqlnbError) -> bool:
        """Send a failed request again if that may help; return whether it may."""
        if isinstance(error, AuthError):
            return self._replace_sender(sent, error)
        self._lost_count += 1
        if not isinstance(error, AnswerError) or error.broken or self._lost_count > MAX_LOST:
            return False
        # Proxies replace answers, which says nothing about the next. Those that they cut were
        # repeated by the client.
        self._requeue(sent)
        return True

    def _replace_sender(self, sent: SentRequest, error: GqlnbError) -> bool:
        """Give the request of a refused sender to the others; return whether there are any."""
        sent.sender.refuse(error, sent.client)
        if all(each.refusal for each in self._identities):
            return False
        self._requeue(sent)
        if (note := describe_refusal(sent.sender, error)) not in self.notes:
            self.notes.append(note)
        return True

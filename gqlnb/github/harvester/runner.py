"""The loop of a harvest: it sends its requests on an executor and stores the rows."""

from __future__ import annotations

from collections import deque
from concurrent.futures import CancelledError, ThreadPoolExecutor
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from gqlnb.background import defer_interrupt
from gqlnb.client.paging.page_size import is_overload
from gqlnb.errors import (
    AnswerError,
    GqlnbError,
    TransportError,
    describe_exception,
)
from gqlnb.github.harvester.requests import (
    COUNTS_PER_PAGE,
    BatchSize,
    NodeBatch,
    SearchRequest,
    encode_node,
    fetch_pages,
)
from gqlnb.github.harvester.scope import ORDERS
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS
from gqlnb.lists.windows import Page, PageRequest, TaskRequest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor, Future

    from gqlnb.client.progress import ProgressCallback
    from gqlnb.github.harvester.requests import FetchOutcome, PortableClient, RepositoryRow
    from gqlnb.github.harvester.scope import Scope
    from gqlnb.github.harvester.storage import RepositoryStore
    from gqlnb.lists.accounts import Account, AccountPool
    from gqlnb.lists.window_harvest import WindowHarvest

MAX_LOST = 3  # requests in a row that may be lost with their worker, or damaged on their way
OVERLOAD_PAUSE = 0.5  # seconds before a smaller request follows one that was too large
MIN_PAGE_SIZE = 10  # results; a page of this size does not fail for its size
SMALL_PAGE = 50  # results; own fields that are too large for such a page are fetched by id
TOO_LARGE_PAGE = Page(0, (), heavy=True)


def _lacks_fields(page: Page) -> bool:
    """Return whether a row of a page came without its own fields."""
    rows = cast("tuple[RepositoryRow | None, ...]", page.rows)
    return any(row is not None and row.data is None for row in rows)


class SentRequest(NamedTuple):
    """A request on its way.

    Attributes
    ----------
    tasks
        The pages and counts.
    rows
        Instead: rows whose own fields are requested by id.
    """

    tasks: Sequence[TaskRequest[PageRequest]] = ()
    rows: Sequence[RepositoryRow] = ()


class HarvestRunner:
    """One run of a harvest.

    Parameters
    ----------
    scope
        The search.
    harvest
        What to request.
    storage
        The storage of the rows.
    pool
        The accounts; each has one request in flight, or more if the endpoint accepts them.
    executor
        Executor of the requests; None for own threads.
    width
        Most requests at once, if the endpoint accepts as many.
    watch
        Called with rows so far, rows expected, requests and the remaining budget; the harvest
        stops if it returns False.

    Attributes
    ----------
    stopped
        Whether `watch` stopped the run before its end.
    """

    def __init__(
        self,
        scope: Scope,
        harvest: WindowHarvest,
        storage: RepositoryStore,
        pool: AccountPool[PortableClient],
        executor: Executor | None,
        width: int,
        watch: ProgressCallback,
    ) -> None:
        self.stopped = False
        self._scope, self._harvest = scope, harvest
        self._storage, self._pool = storage, pool
        self._executor, self._watch = executor, watch
        self._width = max(width, len(pool.accounts))
        self._batch_size = BatchSize()
        self._lost_count = 0
        self._fields = storage.header.fields or ""
        self._incomplete = deque(storage.state.incomplete.values())
        # Own fields come with the pages, until pages with them turn out to be too large.
        self._by_id = bool(self._incomplete)
        self._node_batch = NodeBatch()
        self._refused_alone = 0  # requests in a row, each for one node

    def run(self) -> None:
        """Send requests until all windows are read, and all own fields came.

        Raises
        ------
        GqlnbError
            If a request failed for good. All rows so far are stored.
        """
        executor = self._executor or ThreadPoolExecutor(self._width, "gqlnb-harvest")
        try:
            self._pool.run(
                self._take_request,
                partial(self._submit, executor),
                self._take_result,
                has_work=lambda: self._has_work and not self.stopped,
                end_round=self._end_round,
                width=self._width,
            )
            self.stopped = self.stopped and self._has_work
        finally:
            if self._executor is None:
                executor.shutdown(wait=False, cancel_futures=True)

    @property
    def _has_work(self) -> bool:
        """Whether there is a request to send."""
        return bool(self._harvest.has_requests or self._incomplete)

    def _take_request(self, senders: int) -> SentRequest | None:
        """Return the next request, for a number of accounts that are free; None without one."""
        if self.stopped or not self._has_work:
            return None
        if self._harvest.has_requests and len(self._incomplete) < MAX_SEARCH_RESULTS:
            return SentRequest(self._take_tasks(senders))
        count = min(self._node_batch.size, len(self._incomplete))
        return SentRequest(rows=[self._incomplete.popleft() for _ in range(count)])

    def _take_tasks(self, senders: int) -> list[TaskRequest[PageRequest]]:
        """Return the pages and counts of one request, the pages first."""
        harvest, tasks = self._harvest, list[TaskRequest[PageRequest]]()
        room, pages = self._batch_size.pages * COUNTS_PER_PAGE, 0
        # What is pending is shared, so that no identity waits for the requests of another.
        most = max(1, -(-harvest.pending // senders))
        while harvest.has_requests and len(tasks) - pages < COUNTS_PER_PAGE:
            is_page = bool(harvest.peek().request.first)
            room -= COUNTS_PER_PAGE if is_page else 1
            if tasks and (room < 0 or len(tasks) >= most):
                break
            pages += is_page
            tasks.append(harvest.take())
        return sorted(tasks, key=lambda task: not task.request.first)

    def _submit(
        self, executor: Executor, sent: SentRequest, client: PortableClient
    ) -> Future[FetchOutcome]:
        pages = [self._build_request(task) for task in sent.tasks]
        ids = [row.id for row in sent.rows]
        fields = self._fields if ids or not self._by_id else ""
        try:
            return executor.submit(fetch_pages, client, pages, fields, ids)
        except RuntimeError as error:  # such as BrokenProcessPool: it accepts no further calls
            msg = f"The executor accepts no more requests: {describe_exception(error)}"
            raise TransportError(msg) from error

    def _build_request(self, task: TaskRequest[PageRequest]) -> SearchRequest:
        window, order, first, after = task.request
        return SearchRequest(self._scope.format_window(window, ORDERS[order]), first, after)

    def _requeue(self, sent: SentRequest) -> None:
        """Send a request again."""
        self._harvest.put_back(sent.tasks)
        self._incomplete.extendleft(reversed(sent.rows))

    def _take_result(
        self,
        sent: SentRequest,
        sender: Account[PortableClient],
        client: PortableClient,
        future: Future[FetchOutcome],
    ) -> None:
        """Process an answer; raise the error of one that failed for good."""
        try:
            outcome = future.result()
        except GqlnbError as error:
            if isinstance(error, TransportError) and is_overload(error):
                sender.pause(OVERLOAD_PAUSE)
                self._retry_smaller(sent, error)
            elif (failure := self._pool.explain_failure(sender, client, error)) is None:
                self._requeue(sent)
            else:
                # Proxies replace answers, which says nothing about the next. Those that they cut
                # were repeated by the client.
                helps = isinstance(error, AnswerError) and not error.broken
                self._retry(sent, failure, helps=helps)
            return
        except (CancelledError, Exception) as error:  # executors raise errors of any class
            reason = describe_exception(error)
            msg = f"The executor lost {self._lost_count + 1} requests in a row: {reason}"
            self._retry(sent, TransportError(msg), error)
            return
        sender.requests, sender.limits = sender.requests + 1, 0
        sender.width = self._width if outcome.width > 1 else 1
        sender.budget = outcome.budget
        with defer_interrupt():
            self._storage.state.add_notes(outcome.notes)
            add = self._add_fields if sent.rows else self._add_answer
            add(sent, outcome.answers, outcome.seconds)

    def _store_answer(self, rows: Sequence[RepositoryRow] = ()) -> None:
        """Store the state after an answer, and the rows that it brought, with further rows."""
        added = [*rows, *cast("list[RepositoryRow]", self._harvest.take_rows())]
        state, answers = copy(self._harvest.state), self._harvest.take_answers()
        self._storage.add_answer(state, added, answers)
        if self._fields:
            self._incomplete.extend(row for row in added if row.data is None)

    def _end_round(self) -> None:
        """Report the progress."""
        budget = self._pool.budget
        if budget is not None:
            rows, requests = self._storage.rows, self._storage.state.requests
            answer = self._watch(rows, self._harvest.state.expected, requests, budget)
            self.stopped = self.stopped or answer is False

    def _add_answer(self, sent: SentRequest, pages: list[Page], seconds: float) -> None:
        """Take the pages of an answer; those that were too large together are sent again alone."""
        self._lost_count = 0
        several = len(pages) > 1
        pairs = list(zip(sent.tasks, pages, strict=True))
        large = [task for task, page in pairs if page.heavy and several]
        if large:
            self._batch_size.halve_pages()
            self._harvest.put_back(large)
            pairs = [(task, page) for task, page in pairs if not page.heavy]
        else:
            self._batch_size.note_success(seconds)
        if not several and pages[0].heavy and self._drop_fields(sent.tasks[0]):
            return
        if self._fields and any(map(_lacks_fields, pages)):
            self._by_id = True  # its fields could not come with the page
        self._feed_pages(pairs)

    def _feed_pages(self, pairs: Sequence[tuple[TaskRequest[PageRequest], Page]]) -> None:
        """Let the harvest take pages, and store the rows of the windows that they close."""
        for task, page in pairs:
            self._harvest.feed(task, page)
        self._store_answer()

    def _drop_fields(self, task: TaskRequest[PageRequest]) -> bool:
        """Request a page again without own fields, if it is too large in spite of being small."""
        first = task.request.first
        if not self._fields or self._by_id or not 0 < first <= SMALL_PAGE:
            return False
        self._by_id = True
        self._harvest.put_back([task])
        self._harvest.page_size = MAX_PAGE_SIZE
        self._pool.notes.append(
            f"Pages of {first} are too large with these fields=, so they are fetched by id."
        )
        return True

    def _add_fields(self, sent: SentRequest, nodes: list[str | None], seconds: float) -> None:
        """Add rows that came with their own fields; request the too large ones again."""
        self._lost_count = self._refused_alone = 0
        pairs = list(zip(sent.rows, nodes, strict=True))
        whole = [row._replace(data=node) for row, node in pairs if node is not None]
        again = [row for row, node in pairs if node is None]
        if again:
            self._node_batch.refuse()
        else:
            self._node_batch.note_success(len(pairs), seconds)
        self._incomplete.extendleft(reversed(again))
        self._store_answer(whole)

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
        self._store_answer([sent.rows[0]._replace(data=data)])

    def _retry_smaller(self, sent: SentRequest, error: TransportError) -> None:
        """Send a request that was too large again in parts; raise if that does not help."""
        if sent.rows:
            self._retry_nodes(sent, error)
            return
        self._batch_size.halve_pages()
        first, *others = sent.tasks
        if others:
            self._requeue(sent)
        elif self._drop_fields(first):
            return
        elif first.request.first <= MIN_PAGE_SIZE:
            # A count cannot be smaller, and a small page does not fail for its size.
            self._retry(sent, error, helps=not first.request.first)
        else:
            self._feed_pages([(first, TOO_LARGE_PAGE)])

    def _retry(
        self,
        sent: SentRequest,
        failure: GqlnbError,
        cause: BaseException | None = None,
        *,
        helps: bool = True,
    ) -> None:
        """Send a request again; raise the failure after a few in a row, or if it does not help."""
        self._lost_count += 1
        if not helps or self._lost_count > MAX_LOST:
            raise failure from cause
        self._requeue(sent)

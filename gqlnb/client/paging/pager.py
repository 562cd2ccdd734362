"""All pages of a query: a crawler driven by threads, and by a running loop."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gqlnb.background import defer_interrupt, iterate_completed, open_thread_pool
from gqlnb.client.paging.crawler import Crawler
from gqlnb.client.paging.options import check_options
from gqlnb.client.progress import Progress
from gqlnb.document.paging_plan import PagingPlan
from gqlnb.document.variables import bind_variables, check_variable_names
from gqlnb.errors import GqlnbError, QueryError, sanitize_text
from gqlnb.result.result import Result, attach_crawler, finish_pages, warn_incomplete

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.paging.crawler import PageRequest
    from gqlnb.client.rate_limiter import RateLimiter
    from gqlnb.client.request_preparer import RequestPreparer
    from gqlnb.client.request_sender import Outcome, RequestSender
    from gqlnb.client.schema_store import SchemaStore
    from gqlnb.document.document import Document

__all__ = ["ADVICE", "Pager"]

FAILED, INTERRUPTED = "failed", "interrupted"
ADVICE = "They are in error.result; client.resume() goes on from there."
GITHUB_PAGE = 100  # items; GitHub documentation, "Rate limits and query limits", node limit


class Pager:
    """Runs crawlers for one client, with threads or on a running loop.

    Parameters
    ----------
    endpoint
        The endpoint, which names the source of results.
    preparer, sender
        Check and send the requests of pages.
    store
        Gives the schema, on which paging depends.
    limiter
        Tells how many requests may run at once.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        preparer: RequestPreparer,
        sender: RequestSender,
        store: SchemaStore,
        limiter: RateLimiter,
    ) -> None:
        self._source = endpoint.source
        self._preparer, self._sender = preparer, sender
        self._schema_store, self._rate_limiter = store, limiter
        self._unfinished: Crawler | None = None

    # -- beginning

    def start_crawler(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None,
        operation: str | None,
        options: Mapping[str, Any],
        *,
        keep: bool = True,
    ) -> Crawler:
        """Return the crawler of a query; the endpoint is asked for its schema before."""
        path, limits = check_options(options)
        remarks = self._schema_store.load_for_paging()
        document = self._preparer.parse_document(text, operation)
        if document.kind != "query":
            msg = f"Only queries are paged; this is a {document.kind}. Use execute()."
            raise QueryError(msg)
        check_variable_names(document, variables)
        bound = bind_variables(document, variables)
        plan = PagingPlan(document, path, bound)
        if path is not None and not any(each.followed for each in plan.fields):
            names = ", ".join(each.name for each in plan.fields) or "none"
            msg = f"No list {sanitize_text(repr(path), 80)} to follow. The query has: {names}."
            raise QueryError(msg)
        most = GITHUB_PAGE if is_github(self._source, plan) else None
        return Crawler(plan, bound, limits, self._source, keep=keep, most=most, remarks=remarks)

    def reopen_crawler(
        self, failure: BaseException | Result | None, max_requests: int | None
    ) -> Crawler:
        """Return the crawler to go on with."""
        crawler = self._unfinished if failure is None else getattr(failure, "_crawler", None)
        if not isinstance(crawler, Crawler) or not crawler.is_open:
            msg = "There is nothing to go on with: no paging of this client failed or was stopped."
            raise QueryError(msg)
        check_options({"max_requests": max_requests})
        most = None if max_requests is None else crawler.requests + max_requests
        crawler.limits = replace(crawler.limits, max_requests=most)
        crawler.collect_remaining()
        return crawler

    # -- threads

    def iterate_pages(self, crawler: Crawler, progress: Progress) -> Iterator[Result]:
        """Yield the pages of a crawler; warn at the end if not everything is known to have come."""
        with self._keep_on_failure(crawler), progress as bar:
            while True:
                self._send_rounds(crawler, bar)
                result = self._hand_out_page(crawler)
                if not crawler.is_empty_page:
                    shown = result
                    yield result
                with defer_interrupt():
                    if not crawler.start_next_page():
                        break
        warn_incomplete(finish_pages(shown, crawler.build_result()), 2)

    def _hand_out_page(self, crawler: Crawler) -> Result:
        """Return a page; paging that is left there can be resumed with the next one."""
        crawler.handed_out = True
        self._unfinished = crawler if crawler.is_open else None
        return attach_open_crawler(crawler.build_page(), crawler)

    def run_crawler(self, crawler: Crawler, progress: Any) -> Result:
        """Return the result of all pages."""
        with self._keep_on_failure(crawler), Progress(progress) as bar:
            self._send_rounds(crawler, bar)
        return attach_open_crawler(crawler.build_result(), crawler)

    def _send_rounds(self, crawler: Crawler, bar: Progress) -> None:
        """Ask until there is nothing more to ask for, or the page is whole."""
        while not crawler.begun:
            self._send_round(crawler, [crawler.build_first_request()], bar)
        while requests := self._build_next_requests(crawler):
            self._send_round(crawler, requests, bar)

    def _build_next_requests(self, crawler: Crawler) -> list[PageRequest]:
        with defer_interrupt():
            return crawler.build_next_requests(self._rate_limiter.concurrency)

    def _send_round(self, crawler: Crawler, requests: list[PageRequest], bar: Progress) -> None:
        """Send requests, several at once where that is allowed, and take the answers in."""
        width = min(len(requests), self._rate_limiter.concurrency)
        if width <= 1:
            for request in requests:
                self._add_outcome(crawler, request, self._send_page(crawler, request), bar)
            return
        failures = []
        with open_thread_pool(width) as executor:
            futures = {executor.submit(self._send_page, crawler, r): r for r in requests}
            for future in iterate_completed(futures):
                request = futures.pop(future)  # or its page would be held until the round ends
                try:
                    self._add_outcome(crawler, request, future.result(), bar)
                except GqlnbError as error:
                    failures.append(error)
        if failures:
            raise failures[0]

    def _send_page(self, crawler: Crawler, page: PageRequest) -> Result | GqlnbError:
        """Send one request until it is answered, or will not be."""
        try:
            prepared = self._preparer.prepare(page.text, page.variables, page.operation)
            return self._sender.send(
                prepared,
                queued=True,
                give_up=crawler.is_heavy,
                on_attempt=partial(record_attempt, page),
            )
        except GqlnbError as error:
            return error

    def _add_outcome(
        self,
        crawler: Crawler,
        request: PageRequest,
        outcome: Result | GqlnbError,
        bar: Progress,
    ) -> None:
        """Take an answer in whole, or raise the error that came instead."""
        with defer_interrupt():
            if isinstance(outcome, Result):
                crawler.add_answer(request, outcome)
            goes_on = isinstance(outcome, Result) or crawler.add_failure(request, outcome)
        if isinstance(outcome, Result):
            bar(crawler.got, crawler.wanted, crawler.requests, self._rate_limiter.budget)
        elif not goes_on:
            raise outcome

    @contextmanager
    def _keep_on_failure(self, crawler: Crawler) -> Iterator[None]:
        """Keep the pages that came with whatever ends the paging."""
        try:
            yield
        except GqlnbError as error:
            crawler.recall_requests()
            attach_partial_result(error, crawler, FAILED)
            self._unfinished = crawler
            raise
        except GeneratorExit:
            raise
        except BaseException as error:
            crawler.recall_requests()
            attach_partial_result(error, crawler, INTERRUPTED)
            self._unfinished = crawler
            raise

    # -- a running loop

    async def aiterate_pages(
        self, start: Callable[[], Crawler], progress: Progress
    ) -> AsyncIterator[Result]:
        """Asynchronous version of :meth:`iterate_pages`; `start` runs in a thread."""
        crawler = await asyncio.to_thread(start)
        with self._keep_on_failure(crawler), progress as bar:
            while True:
                await self._asend_rounds(crawler, bar)
                result = self._hand_out_page(crawler)
                if not crawler.is_empty_page:
                    shown = result
                    yield result
                with defer_interrupt():
                    if not crawler.start_next_page():
                        break
        warn_incomplete(finish_pages(shown, crawler.build_result()), 2)

    async def arun_crawler(self, crawler: Crawler, progress: Any) -> Result:
        """Asynchronous version of :meth:`run_crawler`."""
        with self._keep_on_failure(crawler), Progress(progress) as bar:
            await self._asend_rounds(crawler, bar)
        return attach_open_crawler(crawler.build_result(), crawler)

    async def _asend_rounds(self, crawler: Crawler, bar: Progress) -> None:
        while not crawler.begun:
            await self._asend_round(crawler, [crawler.build_first_request()], bar)
        while requests := self._build_next_requests(crawler):
            await self._asend_round(crawler, requests, bar)

    async def _asend_round(
        self, crawler: Crawler, requests: list[PageRequest], bar: Progress
    ) -> None:
        tasks = [asyncio.ensure_future(self._asend_page(crawler, each)) for each in requests]
        failures = []
        try:
            for request, task in zip(requests, tasks, strict=True):
                outcome = await task
                try:
                    self._add_outcome(crawler, request, outcome, bar)
                except GqlnbError as error:
                    failures.append(error)
            if failures:
                raise failures[0]
        finally:
            for task in tasks:
                task.cancel()

    async def _asend_page(self, crawler: Crawler, page: PageRequest) -> Result | GqlnbError:
        try:
            prepared = await self._preparer.aprepare(page.text, page.variables, page.operation)
            return await self._sender.asend(
                prepared,
                queued=True,
                give_up=crawler.is_heavy,
                on_attempt=partial(record_attempt, page),
            )
        except GqlnbError as error:
            return error


def is_github(source: str, plan: PagingPlan) -> bool:
    """Return whether an endpoint is GitHub's service, or shaped like it: it refuses large pages."""
    if urlsplit(source).hostname == "api.github.com":
        return True
    root = None if plan.schema is None else plan.schema.query_type
    fields = {} if root is None else root.fields
    limit = fields.get("rateLimit")
    return (
        limit is not None and "search" in fields and "resetAt" in getattr(limit.type, "fields", {})
    )


def record_attempt(page: PageRequest, outcome: Outcome | None, seconds: float) -> None:
    """Count an attempt at a page, and note the bytes and seconds of its response."""
    page.sent += 1
    if outcome is not None:
        response = outcome.response if isinstance(outcome, Result) else None
        page.cost = len(getattr(response, "body", b"") or b""), seconds


def attach_open_crawler(result: Result, crawler: Crawler) -> Result:
    """Return a result that can be resumed if there are more pages."""
    return attach_crawler(result, crawler) if crawler.is_open else result


def attach_partial_result(error: BaseException, crawler: Crawler, ended: str) -> None:
    """Attach to an error the pages that came before it."""
    error._crawler = crawler  # type: ignore[attr-defined]  # noqa: SLF001 - of our own making
    if not crawler.begun:
        return
    result = attach_open_crawler(crawler.build_result(ended), crawler)
    error.result = result  # type: ignore[attr-defined]
    if ended == FAILED and error.args and not getattr(error, "problems", ()):
        error.args = (f"{error.args[0]} {crawler.got:,} items came before. {ADVICE}",)
    if ended == INTERRUPTED:
        error.add_note(f"{crawler.build_report(ended)}. Go on with client.resume().")

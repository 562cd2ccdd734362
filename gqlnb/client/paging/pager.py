"""Sending the requests of a crawler, with threads or on a running event loop."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gqlnb.background import defer_interrupt, iterate_completed, open_thread_pool, wake_loop
from gqlnb.client.endpoint import PagingOptions
from gqlnb.client.progress import Progress
from gqlnb.document.document import Document
from gqlnb.document.variables import bind_variables, check_variable_names
from gqlnb.errors import PAGES_ADVICE, GqlnbError, QueryError, sanitize_text
from gqlnb.http.rate_limit_rules import MAX_CONCURRENT
from gqlnb.result.result import Result, finish_pages, warn_incomplete

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import AbstractContextManager

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.paging.crawler import Crawler
    from gqlnb.client.paging.cursors import PageRequest
    from gqlnb.client.progress import ShowProgress
    from gqlnb.client.rate_limiter import RateLimiter
    from gqlnb.client.request_preparer import RequestPreparer
    from gqlnb.client.request_sender import Outcome, RequestSender
    from gqlnb.client.schema_store import SchemaStore
    from gqlnb.document.paged_fields import ListRole
    from gqlnb.document.paging_plan import PagingPlan
    from gqlnb.http.rate_limit_rules import Budget

GITHUB_PAGE = 100  # items; GitHub documentation, "Rate limits and query limits", node limit


class Pager:
    """Runs the crawlers of one client.

    Parameters
    ----------
    endpoint
        The endpoint.
    preparer, sender
        Check and send the requests.
    store
        The schema store; the schema tells how lists are paged.
    limiter
        The rate limiter; it limits the number of requests at once.
    unfinished
        The crawlers that can be continued, which clients share; None for a list of its own.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        preparer: RequestPreparer,
        sender: RequestSender,
        store: SchemaStore,
        limiter: RateLimiter,
        unfinished: list[Crawler] | None = None,
    ) -> None:
        self._source = endpoint.source
        self._preparer, self._sender = preparer, sender
        self._schema_store, self._rate_limiter = store, limiter
        # Found by experiments, of this client or of a report that was kept.
        self._roles: dict[tuple[str, str], ListRole] = {}
        for coordinate, settings in endpoint.lists.items():
            type_name, _, field = coordinate.partition(".")
            if settings.role is not None:
                self._roles[type_name, field] = settings.role
        sizes = (settings.largest for settings in endpoint.lists.values())
        self._most = min((size for size in sizes if size is not None), default=None)
        # At most one: the last that can be resumed.
        self.unfinished: list[Crawler] = [] if unfinished is None else unfinished

    @property
    def budget(self) -> Budget:
        """The remaining budget, as far as it is known."""
        return self._rate_limiter.budget

    def start_crawler(
        self,
        text: str | Document,
        variables: Mapping[str, object] | None,
        operation: str | None,
        options: PagingOptions,
        *,
        keep: bool = True,
        takes_unpaged: bool = False,
        examines: bool = True,
    ) -> Crawler:
        """Return a crawler for a query, after loading the schema.

        Parameters
        ----------
        text, variables, operation, options
            As for :meth:`gqlnb.Client.pages`.
        keep
            Whether to join all pages.
        takes_unpaged
            As for :class:`PagingPlan`.
        examines
            Whether to doubt lists that may be cut, and to find by experiments how they go on.

        Raises
        ------
        QueryError
            If the text is invalid or not a query, or `path` names no list of it.
        OptionError
            If an option is invalid.
        """
        from gqlnb.client.paging.crawler import Crawler
        from gqlnb.document.paging_plan import PagingPlan

        options = options.check()
        path = options.path
        # Before the text is parsed: without types it is unknown which fields are connections.
        remarks = self._schema_store.load_for_paging()
        document = self._preparer.parse_document(text, operation)
        if document.kind != "query":
            msg = f"Only queries are paged; this is a {document.kind}. Use execute()."
            raise QueryError(msg)
        if not document.is_parsed:
            msg = f"A query that cannot be parsed is not paged: use execute(). {document.fault}"
            raise QueryError(msg)
        check_variable_names(document, variables)
        bound = bind_variables(document, variables)
        roles = self._roles if examines else None
        build_plan = partial(
            PagingPlan,
            document,
            path,
            bound,
            takes_unpaged=takes_unpaged,
            roles=roles,
            follow=options.follow if examines else "all",
        )
        plan = build_plan()
        if plan.unfit_roles:  # Strapi and Directus take `page`, or an offset, but not both
            for coordinate in plan.unfit_roles:
                self._roles.pop(coordinate, None)
            plan = build_plan()
        lists = [field.name for field in plan.fields] + [each.name for each in plan.suspects]
        unknown = [] if plan.follow == "all" else [n for n in plan.follow if n not in lists]
        if path is not None and not any(field.followed or field.is_kept for field in plan.fields):
            unknown, lists = [path], [field.name for field in plan.fields]
        if unknown:
            shown, names = sanitize_text(repr(unknown[0]), 80), ", ".join(lists) or "none"
            msg = f"No list {shown} to follow. The query has: {names}."
            raise QueryError(msg)
        # GitHub refuses pages beyond this size; other endpoints are tried with growing pages.
        most = GITHUB_PAGE if is_github(self._source, plan) else self._most
        return Crawler(
            plan, options, self._source, keep=keep, most=most, remarks=remarks, roles=roles
        )

    def list_required_variables(self, text: str | Document, operation: str | None) -> list[str]:
        """Return the names of a query's variables that must have a value."""
        declared = self._preparer.parse_document(text, operation).variables
        return [
            name
            for name, node in declared.items()
            if node.type.kind == "non_null_type" and node.default_value is None
        ]

    def collect_pages(
        self,
        text: str | Document,
        variables: Mapping[str, object] | None,
        operation: str | None,
        options: PagingOptions,
    ) -> Result:
        """Return all pages as one result, without a warning; for callers that show it."""
        crawler = self.start_crawler(text, variables, operation, options)
        result = self.run_crawler(crawler, "auto")
        self.keep_unfinished(crawler)
        return result

    def reopen_crawler(
        self, failure: BaseException | Result | None, max_requests: int | None
    ) -> Crawler:
        """Return the crawler of a failure or result, or the last unfinished one, to continue it.

        Raises
        ------
        QueryError
            If there is none.
        OptionError
            If `max_requests` is invalid.
        """
        from gqlnb.client.paging.crawler import Crawler

        crawler = getattr(failure, "_crawler", None)
        if failure is None:
            crawler = next(iter(self.unfinished), None)
        if not isinstance(crawler, Crawler) or not crawler.is_open:
            msg = "There is nothing to resume: no paging of this client failed or was interrupted."
            raise QueryError(msg)
        PagingOptions(max_requests=max_requests).check()
        most = None if max_requests is None else crawler.requests + max_requests
        crawler.limits = replace(crawler.limits, max_requests=most)
        crawler.is_stopped = False
        crawler.collect_remaining()
        return crawler

    # -- threads

    def iterate_pages(self, crawler: Crawler, progress: Progress) -> Iterator[Result]:
        """Yield the pages of a crawler; warn at the end if completeness is not proved."""
        with self._keep_on_failure(crawler), progress as bar, self._open_pool() as pool:
            for step in self._iterate_steps(crawler):
                if isinstance(step, Result):
                    page = step
                    yield page
                else:
                    self._send_round(crawler, step, bar, pool)
        warn_incomplete(finish_pages(page, crawler.build_result()))

    def _iterate_steps(self, crawler: Crawler) -> Iterator[list[PageRequest] | Result]:
        """Yield the requests of each round, and each page when they are answered."""
        goes_on = True
        while goes_on:
            yield from self._iterate_rounds(crawler)
            # If the iterator is left here, resume() starts with the next page.
            crawler.handed_out = True
            self.keep_unfinished(crawler)
            if not crawler.is_empty_page:
                yield crawler.build_page()
            with defer_interrupt():
                goes_on = crawler.start_next_page()

    def run_crawler(self, crawler: Crawler, progress: ShowProgress) -> Result:
        """Return the joined result of all pages."""
        with self._keep_on_failure(crawler), Progress(progress) as bar, self._open_pool() as pool:
            for requests in self._iterate_rounds(crawler):
                self._send_round(crawler, requests, bar, pool)
        return crawler.build_result()

    def _iterate_rounds(self, crawler: Crawler) -> Iterator[list[PageRequest]]:
        """Yield the requests of each round until the result, or the present page, is complete."""
        while True:
            with defer_interrupt():
                requests = crawler.build_next_requests(self._rate_limiter.concurrency)
            if not requests:
                return
            yield requests

    def keep_unfinished(self, crawler: Crawler) -> None:
        """Let ``resume()`` without a result continue this crawler, if it can continue."""
        self.unfinished[:] = [crawler] if crawler.is_open else []

    def _open_pool(self) -> AbstractContextManager[ThreadPoolExecutor]:
        """Return the pool for the rounds of a run, whose threads start when they are needed."""
        # The rate limiter lets fewer requests pass if the endpoint allows fewer.
        return open_thread_pool(max(MAX_CONCURRENT, self._rate_limiter.concurrency))

    def _send_round(
        self, crawler: Crawler, requests: list[PageRequest], bar: Progress, pool: ThreadPoolExecutor
    ) -> None:
        """Send requests, as many at once as the rate limiter allows, and process the answers."""
        width = min(len(requests), self._rate_limiter.concurrency)
        if width <= 1:
            for request in requests:
                self._add_outcome(crawler, request, self._send_page(crawler, request), bar)
            return
        # An error does not discard the other answers of the round: they are processed first.
        failures = []
        futures = {pool.submit(self._send_page, crawler, r): r for r in requests}
        for future in iterate_completed(futures):
            request = futures.pop(future)  # frees the memory of the page before the round ends
            try:
                self._add_outcome(crawler, request, future.result(), bar)
            except GqlnbError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def _send_page(self, crawler: Crawler, page: PageRequest) -> Result | GqlnbError:
        """Send one request, with retries; return the error if it fails."""
        try:
            text = build_page_text(crawler, page)
            prepared = self._preparer.prepare(text, page.variables, page.operation)
            return self._sender.send(prepared, **list_send_options(crawler, page))
        except GqlnbError as error:
            return error

    def _add_outcome(
        self, crawler: Crawler, request: PageRequest, outcome: Result | GqlnbError, bar: Progress
    ) -> None:
        """Process an answer without interruption; raise an error unless the crawler continues."""
        with defer_interrupt():
            if isinstance(outcome, Result):
                crawler.add_answer(request, outcome)
            goes_on = isinstance(outcome, Result) or crawler.add_failure(request, outcome)
        if isinstance(outcome, Result):
            wanted = crawler.count_expected(crawler.limits.max_results)
            done = crawler.got, wanted, crawler.requests
            goes_on = bar(*done, self.budget, crawler.name_unproved())
            crawler.is_stopped = crawler.is_stopped or not goes_on
        elif not goes_on:
            raise outcome

    @contextmanager
    def _keep_on_failure(self, crawler: Crawler) -> Iterator[None]:
        """Attach the pages so far to an error or interrupt, and make it resumable."""
        try:
            yield
        except GeneratorExit:  # the iterator was closed
            raise
        except BaseException as error:
            crawler.recall_requests()
            self.unfinished[:] = [crawler]
            error._crawler = crawler  # type: ignore[attr-defined]  # noqa: SLF001 - our own
            if crawler.begun:
                attach_partial_result(error, crawler)
            raise

    # -- event loop

    async def aiterate_pages(
        self, start: Callable[[], Crawler], progress: Progress
    ) -> AsyncIterator[Result]:
        """Asynchronous version of :meth:`iterate_pages`; `start` runs in a thread."""
        with wake_loop():
            crawler = await asyncio.to_thread(start)
        with self._keep_on_failure(crawler), progress as bar:
            for step in self._iterate_steps(crawler):
                if isinstance(step, Result):
                    page = step
                    yield page
                else:
                    with wake_loop():
                        await self._asend_round(crawler, step, bar)
        warn_incomplete(finish_pages(page, crawler.build_result()))

    async def arun_crawler(self, crawler: Crawler, progress: ShowProgress) -> Result:
        """Asynchronous version of :meth:`run_crawler`."""
        with self._keep_on_failure(crawler), Progress(progress) as bar:
            for requests in self._iterate_rounds(crawler):
                await self._asend_round(crawler, requests, bar)
        return crawler.build_result()

    async def _asend_round(
        self, crawler: Crawler, requests: list[PageRequest], bar: Progress
    ) -> None:
        tasks = [asyncio.ensure_future(self._asend_page(crawler, r)) for r in requests]
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
            text = build_page_text(crawler, page)
            prepared = await self._preparer.aprepare(text, page.variables, page.operation)
            return await self._sender.asend(prepared, **list_send_options(crawler, page))
        except GqlnbError as error:
            return error


def build_page_text(crawler: Crawler, page: PageRequest) -> str | Document:
    """Return the text of a page; unchecked if the text that it was made from is."""
    if not crawler.fault:
        return page.text
    return Document.parse_unchecked(page.text, page.operation, crawler.fault)


def list_send_options(crawler: Crawler, page: PageRequest) -> dict[str, Any]:
    """Return the options with which a page is sent."""
    return {
        "queued": True,
        "give_up": crawler.is_heavy,
        "on_attempt": partial(record_attempt, page),
        "quiet": not crawler.advises,
    }


def is_github(source: str, plan: PagingPlan) -> bool:
    """Return whether an endpoint is GitHub or has its schema, and so its largest page size."""
    if urlsplit(source).hostname == "api.github.com":
        return True
    root = None if plan.schema is None else plan.schema.query_type
    fields = {} if root is None else root.fields
    limit = fields.get("rateLimit")
    has_limit = limit is not None and "resetAt" in getattr(limit.type, "fields", {})
    return has_limit and "search" in fields


def record_attempt(page: PageRequest, outcome: Outcome | None, seconds: float) -> None:
    """Count an attempt, and record the bytes and seconds of its response."""
    page.sent += 1
    if outcome is not None:
        response = outcome.response if isinstance(outcome, Result) else None
        page.cost = len(getattr(response, "body", b"") or b""), seconds


def attach_partial_result(error: BaseException, crawler: Crawler) -> None:
    """Attach the pages so far to an error or interrupt, with a hint at resume()."""
    is_failure = isinstance(error, GqlnbError)
    result = crawler.build_result("failed" if is_failure else "interrupted")
    error.result = result  # type: ignore[attr-defined]
    if not crawler.advises:  # resume() would continue a part of what was asked for
        return
    if is_failure and error.args and not getattr(error, "problems", ()):
        error.args = (
            f"{error.args[0]} {crawler.got:,} items were received before. {PAGES_ADVICE}",
        )
    if not is_failure:
        error.add_note(f"{result.report}. Continue with client.resume().")

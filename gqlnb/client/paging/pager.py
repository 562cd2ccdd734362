"""All pages of a query: a crawler driven by threads, and by a running loop."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import urlsplit

from gqlnb.background import defer_interrupt, iterate_completed, open_thread_pool
from gqlnb.client.client_base import ClientBase
from gqlnb.client.paging.crawler import Crawler
from gqlnb.client.paging.options import check_options
from gqlnb.client.progress import Progress
from gqlnb.client.retry_loop import RetryLoop
from gqlnb.document.paging_plan import PagingPlan
from gqlnb.document.variables import bind_variables, check_variable_names
from gqlnb.errors import GqlnbError, OptionError, QueryError, sanitize_text
from gqlnb.result.result import (
    Result,
    attach_crawler,
    build_frame,
    finish_pages,
    warn_incomplete,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    import pandas as pd

    from gqlnb.client.paging.crawler import PageRequest
    from gqlnb.client.paging.options import FrameOptions, PagingOptions
    from gqlnb.errors import TransportError

__all__ = ["ADVICE", "Pager"]

ALL_PAGES = "all"
FRAME_OPTIONS = ("short", "explode", "strict")
FAILED, INTERRUPTED = "failed", "interrupted"
ADVICE = "They are in error.result; client.resume() goes on from there."
GITHUB_PAGE = 100  # items; GitHub documentation, "Rate limits and query limits", node limit


class Pager(ClientBase):
    """The paging methods of a client; a part of :class:`gqlnb.Client`."""

    _unfinished: Crawler | None = None

    def pages(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Unpack[PagingOptions],
    ) -> Iterator[Result]:
        """Iterate over the pages of a query, each of them a result.

        A page holds the next items of the outermost lists, with everything that is nested in them
        complete. The other fields of the query are in each page.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`. A page size or a position that the text gives (``first: 50``,
            ``after: $endCursor``, ``offset: 200``) is where its list begins, ``last:`` and
            ``before:`` page backwards. `pageInfo`, page size, positions and a count of all items
            are added where they are absent; nothing that is added shows in data and frames.
        progress
            ``"auto"`` for a bar where a person sees it, True, False, or a function that is called
            as ``progress(got, wanted, requests, budget)``.
        **options
            ``path``, the dotted name of the one list to follow, with those it stands in and those
            in it; ``page_size``, the items of a page (the text's by default, else 100);
            ``max_results``, the most items of an outermost list; ``max_requests``.

        Yields
        ------
        Result
            ``.report`` tells what has come so far.

        Raises
        ------
        QueryError
            If the text is wrong, or not a query: a mutation is never sent twice.
        OptionError
            If an option is wrong.
        GqlnbError
            If a page fails; the items that came of it are in ``.result``, and :meth:`resume` goes
            on.

        Warns
        -----
        UserWarning
            Once, if the last page came and it is not proved that everything did.

        Notes
        -----
        Lists are followed by the arguments that the schema declares for them: cursors (Relay's
        connections, and ``nextToken`` and the like), ``offset`` or ``skip`` with ``limit``,
        ``first`` or ``take``, and ``page`` with ``perPage`` or ``pageSize``. The schema is loaded
        before the first page; where it cannot be had, the names in the text decide.

        Ends at a cursor that comes twice or is missing, and after five pages with nothing new.
        """
        crawler = self._start_crawler(text, variables, operation, options, keep=False)
        return self._iterate_pages(crawler, Progress(progress))

    def apages(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Unpack[PagingOptions],
    ) -> AsyncIterator[Result]:
        """Asynchronous version of :meth:`pages`.

        Parameters
        ----------
        text, variables, operation, progress, **options
            As for :meth:`pages`.

        Yields
        ------
        Result
            As of :meth:`pages`.

        Raises
        ------
        QueryError, OptionError, GqlnbError
            As for :meth:`pages`.
        """
        check_options(options)
        start = partial(self._start_crawler, text, variables, operation, options, keep=False)
        return self._aiterate_pages(start, Progress(progress))

    def execute_all(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Unpack[PagingOptions],
    ) -> Result:
        """Execute a query and return one result with all pages of its lists, nested ones too.

        Parameters
        ----------
        text, variables, operation, progress, **options
            As for :meth:`pages`. On long lists the pages grow beyond the text's size, up to the
            largest that the endpoint gives; ``page_size`` fixes it.

        Returns
        -------
        Result
            In the shape of the query; ``.report`` tells how many items came of how many, in how
            many requests, why it ended, and whether it is proved that everything came.

        Raises
        ------
        QueryError, OptionError
            As for :meth:`pages`.
        GqlnbError
            If a page fails: the pages that came are in ``.result``, the positions in its
            ``.report``, and :meth:`resume` goes on from there. So it does after an interrupt.

        Warns
        -----
        UserWarning
            If it is not proved that everything came, and neither ``max_results`` nor
            ``max_requests`` is the reason.

        Notes
        -----
        Lists nested in others are followed where the object they stand in can be asked for again by
        its key: ``node(id:)``, ``node(nodeId:)`` or a root field such as ``user(id:)``; up to ten
        objects in a request. Items are told from each other by their identifier, else by the
        cursor of their edge.

        Examples
        --------
        >>> import gqlnb
        >>> text = '{ search(query: "stars:>300000", type: REPOSITORY) { nodes { __typename } } }'
        >>> gqlnb.connect("demo").execute_all(text, page_size=5).report.requests
        3
        """
        crawler = self._start_crawler(text, variables, operation, options)
        return warn_incomplete(self._run_crawler(crawler, progress), 2)

    async def aexecute_all(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Unpack[PagingOptions],
    ) -> Result:
        """Asynchronous version of :meth:`execute_all`.

        Parameters
        ----------
        text, variables, operation, progress, **options
            As for :meth:`execute_all`.

        Returns
        -------
        Result
            As of :meth:`execute_all`.

        Raises
        ------
        QueryError, OptionError, GqlnbError
            As for :meth:`execute_all`.
        """
        check_options(options)
        crawler = await asyncio.to_thread(self._start_crawler, text, variables, operation, options)
        return warn_incomplete(await self._arun_crawler(crawler, progress), 2)

    def collect_pages(
        self,
        text: str,
        variables: Mapping[str, Any] | None,
        *,
        operation: str | None = None,
        **options: Unpack[PagingOptions],
    ) -> Result:
        """Return the result of :meth:`execute_all` without a warning; for callers that show it."""
        crawler = self._start_crawler(text, variables, operation, options)
        return self._run_crawler(crawler, "auto")

    def resume(
        self,
        failure: BaseException | Result | None = None,
        *,
        max_requests: int | None = None,
        progress: Any = "auto",
    ) -> Result:
        """Go on with paging that failed or was interrupted, and return the whole.

        Parameters
        ----------
        failure
            The error, or a result that ended at ``max_requests`` or lost a page; None for the last
            one that was interrupted.
        max_requests
            Most further requests.
        progress
            As for :meth:`pages`.

        Returns
        -------
        Result
            As of :meth:`execute_all`. After :meth:`pages` it holds the pages that are still to
            come: those before were handed out.

        Raises
        ------
        QueryError
            If there is nothing to go on with.
        GqlnbError
            If a page fails again.
        """
        return warn_incomplete(
            self._run_crawler(self._reopen_crawler(failure, max_requests), progress), 2
        )

    async def aresume(
        self,
        failure: BaseException | Result | None = None,
        *,
        max_requests: int | None = None,
        progress: Any = "auto",
    ) -> Result:
        """Asynchronous version of :meth:`resume`.

        Parameters
        ----------
        failure, max_requests, progress
            As for :meth:`resume`.

        Returns
        -------
        Result
            As of :meth:`resume`.

        Raises
        ------
        QueryError, GqlnbError
            As for :meth:`resume`.
        """
        crawler = self._reopen_crawler(failure, max_requests)
        return warn_incomplete(await self._arun_crawler(crawler, progress), 2)

    def frame(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        path: str | None = None,
        pages: str | None = None,
        **options: Unpack[FrameOptions],
    ) -> pd.DataFrame:
        """Execute an operation and return its rows: :meth:`execute`, then :meth:`Result.frame`.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`.
        path
            The list to take, as for :meth:`Result.frame`; with all pages also the one to follow.
        pages
            ``"all"`` for all pages, as of :meth:`execute_all`; None for the first ones.
        **options
            ``short``, ``explode`` and ``strict`` of :meth:`Result.frame`; any option of
            :meth:`execute_all` asks for all pages.

        Returns
        -------
        DataFrame
            ``attrs["partial"]`` is True unless it is known that all rows are there.

        Raises
        ------
        OptionError
            If `pages` or an option is wrong.
        GqlnbError
            As of :meth:`execute`, :meth:`execute_all` and :meth:`Result.frame`.
        """
        bounds: Any = {name: it for name, it in options.items() if name not in FRAME_OPTIONS}
        shape: Any = {name: it for name, it in options.items() if name in FRAME_OPTIONS}
        if pages not in (None, ALL_PAGES):
            msg = f"pages= takes 'all', or None for the first ones; got {sanitize_text(repr(pages), 40)}."
            raise OptionError(msg)
        if pages is None and not bounds:
            result = self.execute(text, variables, operation=operation)
        else:
            result = self.collect_pages(text, variables, operation=operation, path=path, **bounds)
            warn_incomplete(result, 2)
        return build_frame(result, path, 1, **shape)

    # -- beginning

    def _start_crawler(
        self,
        text: str,
        variables: Mapping[str, Any] | None,
        operation: str | None,
        options: Mapping[str, Any],
        *,
        keep: bool = True,
    ) -> Crawler:
        """Return the crawler of a query; the endpoint is asked for its schema before."""
        path, limits = check_options(options)
        remarks = self._load_paging_schema()
        document = self.parse_document(text, operation)
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
        most = GITHUB_PAGE if is_github(self.source, plan) else None
        return Crawler(plan, bound, limits, self.source, keep=keep, most=most, remarks=remarks)

    def _reopen_crawler(
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

    def _iterate_pages(self, crawler: Crawler, progress: Progress) -> Iterator[Result]:
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

    def _run_crawler(self, crawler: Crawler, progress: Any) -> Result:
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
            request, asked = self._prepare_request(page.text, page.variables, page.operation)
            attempts = RetryLoop("query", self.source, self._timeout, self._limits.wait)

            def send_attempt(until: float) -> Result | TransportError:
                page.sent += 1
                sent = monotonic()
                outcome = self._send_once(replace(request, deadline=until), asked)
                page.cost = measure_answer(outcome, monotonic() - sent)
                return outcome

            return attempts.run(send_attempt, self._rate_limiter.queue_request, crawler.is_heavy)
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

    async def _aiterate_pages(
        self, start: Callable[[], Crawler], progress: Progress
    ) -> AsyncIterator[Result]:
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

    async def _arun_crawler(self, crawler: Crawler, progress: Any) -> Result:
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
            request, asked = await self._aprepare_request(page.text, page.variables, page.operation)
            attempts = RetryLoop("query", self.source, self._timeout, self._limits.wait)

            async def asend_attempt(until: float) -> Result | TransportError:
                page.sent += 1
                sent = monotonic()
                outcome = await self._asend_once(replace(request, deadline=until), asked)
                page.cost = measure_answer(outcome, monotonic() - sent)
                return outcome

            return await attempts.arun(
                asend_attempt, self._rate_limiter.queue_request, crawler.is_heavy
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


def measure_answer(outcome: Result | GqlnbError, seconds: float) -> tuple[int, float]:
    """Return the bytes and seconds of an answer; 0 bytes where it had none."""
    response = outcome.response if isinstance(outcome, Result) else None
    return len(getattr(response, "body", b"") or b""), seconds


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

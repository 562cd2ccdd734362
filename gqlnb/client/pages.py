"""Asking for all pages: the two drivers of a walk, one for threads and one for a running loop."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from gqlnb.client.attempts import Attempts
from gqlnb.client.extent import checked
from gqlnb.client.progress import Progress
from gqlnb.client.walking import Walk
from gqlnb.errors import GqlnbError, OptionError, QueryError, TransportError, plain
from gqlnb.model.paging import Paging
from gqlnb.model.result import Result
from gqlnb.model.variables import bind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    import pandas as pd

    from gqlnb.client.pacing import Pace
    from gqlnb.client.walking import Ask
    from gqlnb.model.document import Document
    from gqlnb.model.limits import Limits
    from gqlnb.wire.answers import Asked
    from gqlnb.wire.request import Request

__all__ = ["ADVICE", "Paged"]

ALL = "all"
FAILED, INTERRUPTED = "failed", "interrupted"
ADVICE = "They are in error.result; client.resume() goes on from there."


class Paged:
    """What a client does with queries of several pages; it is a part of :class:`gqlnb.Client`."""

    _pace: Pace
    _timeout: float
    _limits: Limits
    _unfinished: Walk | None = None

    if TYPE_CHECKING:

        @property
        def source(self) -> str:
            """Where answers are from."""

        def document(self, text: str, operation: str | None = None) -> Document:
            """Return the document of a text."""

        def execute(
            self,
            text: str,
            variables: Mapping[str, Any] | None = None,
            *,
            operation: str | None = None,
        ) -> Result:
            """Execute an operation."""

        def _ask(
            self, text: str, variables: Mapping[str, Any] | None, operation: str | None
        ) -> tuple[Request, Asked]: ...

        def _attempt(self, request: Request, asked: Asked) -> Result | TransportError: ...

        async def _aattempt(self, request: Request, asked: Asked) -> Result | TransportError: ...

    def pages(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Any,
    ) -> Iterator[Result]:
        """Iterate over the pages of a query, each of them a result.

        A page holds the next items of the outermost connections, with everything that is nested in
        them complete. What is asked for beside them is in each page.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`. A page size or a cursor that the text gives (``first: 50``,
            ``after: $endCursor``) is where its connection begins, ``last:`` and ``before:`` page
            backwards. `pageInfo`, page size and cursors are added where they are absent; nothing
            that is added shows in data and frames.
        progress
            ``"auto"`` for a bar where a person sees it, True, False, or a function that is called
            as ``progress(got, wanted, requests, budget)``.
        **options
            ``path``, the dotted name of the one connection to follow, with those it stands in and
            those in it; ``page_size``, the items of a page (the text's by default, else 100);
            ``max_results``, the most items of an outermost connection; ``max_requests``.

        Yields
        ------
        Result
            ``.report`` tells what has come so far.

        Raises
        ------
        QueryError
            If the text is wrong, or no query: a mutation is never sent twice.
        OptionError
            If an option is wrong.
        GqlnbError
            If a page fails; what came of it is in ``.result``, and :meth:`resume` goes on.

        Notes
        -----
        Ends at a cursor that comes twice or is missing, and after five pages with nothing new.
        """
        walk = self._walk(text, variables, operation, options, keep=False)
        return self._pages(walk, Progress(progress))

    def apages(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Any,
    ) -> AsyncIterator[Result]:
        """Do as :meth:`pages`, without blocking the running loop."""
        walk = self._walk(text, variables, operation, options, keep=False)
        return self._apages(walk, Progress(progress))

    def execute_all(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Any,
    ) -> Result:
        """Execute a query and return one result with all pages of its connections, nested ones too.

        Parameters
        ----------
        text, variables, operation, progress, **options
            As for :meth:`pages`.

        Returns
        -------
        Result
            In the shape of the query; ``.report`` tells how many items came of how many, in how
            many requests, and why it ended.

        Raises
        ------
        QueryError, OptionError
            As for :meth:`pages`.
        GqlnbError
            If a page fails: the pages that came are in ``.result``, the cursors in its ``.report``,
            and :meth:`resume` goes on from there. So it does after an interrupt.

        Notes
        -----
        Connections nested in lists are followed where the object they stand in can be asked for
        again by ``node(id:)``, up to ten objects in a request. Items are told from each other by
        their `id`, else by the cursor of their edge.

        Examples
        --------
        >>> import gqlnb
        >>> text = '{ search(query: "stars:>300000", type: REPOSITORY) { nodes { __typename } } }'
        >>> gqlnb.connect("demo").execute_all(text, page_size=5).report.requests
        3
        """
        walk = self._walk(text, variables, operation, options)
        return self._finished(walk, progress)

    async def aexecute_all(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Any,
    ) -> Result:
        """Do as :meth:`execute_all`, without blocking the running loop."""
        walk = self._walk(text, variables, operation, options)
        return await self._afinished(walk, progress)

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
            The error, or a result that ended at ``max_requests``; None for what was interrupted
            last.
        max_requests
            Most further requests.
        progress
            As for :meth:`pages`.

        Returns
        -------
        Result
            As of :meth:`execute_all`. After :meth:`pages` it holds what is still to come: the pages
            before were handed out.

        Raises
        ------
        QueryError
            If there is nothing to go on with.
        GqlnbError
            If a page fails again.
        """
        return self._finished(self._again(failure, max_requests), progress)

    async def aresume(
        self,
        failure: BaseException | Result | None = None,
        *,
        max_requests: int | None = None,
        progress: Any = "auto",
    ) -> Result:
        """Do as :meth:`resume`, without blocking the running loop."""
        return await self._afinished(self._again(failure, max_requests), progress)

    def frame(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        path: str | None = None,
        pages: str | None = None,
        **options: Any,
    ) -> pd.DataFrame:
        """Execute an operation and return its rows: :meth:`execute`, then :meth:`Result.frame`.

        With ``pages="all"`` :meth:`execute_all` asks, and takes `options`; a `path` then names the
        connection to follow too.
        """
        if pages is None and not options:
            return self.execute(text, variables, operation=operation).frame(path)
        if pages not in (None, ALL):
            msg = f"pages= takes 'all', or None for the first ones; got {plain(repr(pages), 40)}."
            raise OptionError(msg)
        given = {"path": path} | options
        return self.execute_all(text, variables, operation=operation, **given).frame(path)

    # -- beginning

    def _walk(
        self,
        text: str,
        variables: Mapping[str, Any] | None,
        operation: str | None,
        options: Mapping[str, Any],
        *,
        keep: bool = True,
    ) -> Walk:
        path, chosen = checked(options)
        document = self.document(text, operation)
        if document.kind != "query":
            msg = f"Only queries are paged; this is a {document.kind}. Use execute()."
            raise QueryError(msg)
        paging = Paging(document, path)
        if path is not None and not any(each.followed for each in paging.connections):
            names = ", ".join(each.name for each in paging.connections) or "none"
            msg = f"No connection {plain(repr(path), 80)} to follow. The query has: {names}."
            raise QueryError(msg)
        return Walk(paging, bind(document, variables), chosen, self.source, keep=keep)

    def _again(self, failure: BaseException | Result | None, max_requests: int | None) -> Walk:
        """Return the walk to go on with."""
        walk = self._unfinished if failure is None else getattr(failure, "_walk", None)
        if not isinstance(walk, Walk) or not walk.open:
            msg = "There is nothing to go on with: no paging of this client failed or was stopped."
            raise QueryError(msg)
        checked({"max_requests": max_requests})
        most = None if max_requests is None else walk.requests + max_requests
        walk.options = replace(walk.options, max_requests=most)
        walk.gather()
        return walk

    # -- threads

    def _pages(self, walk: Walk, progress: Progress) -> Iterator[Result]:
        with self._watching(walk), progress as bar:
            while True:
                self._rounds(walk, bar)
                yield kept(walk.result(), walk)
                if not walk.turn_over():
                    return

    def _finished(self, walk: Walk, progress: Any) -> Result:
        with self._watching(walk), Progress(progress) as bar:
            self._rounds(walk, bar)
        return kept(walk.result(), walk)

    def _rounds(self, walk: Walk, bar: Progress) -> None:
        """Ask until there is nothing more to ask for, or the page is whole."""
        while not walk.begun:
            self._round(walk, [walk.first()], bar)
        while asks := walk.asks():
            self._round(walk, asks, bar)

    def _round(self, walk: Walk, asks: list[Ask], bar: Progress) -> None:
        """Send requests, several at once where that is allowed, and take the answers in."""
        width = min(len(asks), self._pace.width)
        waiting = dict.fromkeys(asks)
        try:
            if width <= 1:
                for ask in asks:
                    outcome = self._outcome(walk, ask)
                    del waiting[ask]
                    self._took(walk, ask, outcome, bar)
                return
            with pool(width) as executor:
                futures = {executor.submit(self._outcome, walk, ask): ask for ask in asks}
                failures = []
                for future in arriving(futures):
                    ask = futures.pop(future)  # or its page would be held until the round ends
                    del waiting[ask]
                    try:
                        self._took(walk, ask, future.result(), bar)
                    except GqlnbError as error:
                        failures.append(error)
            if failures:
                raise failures[0]
        finally:
            for ask in waiting:
                walk.release(ask)

    def _outcome(self, walk: Walk, ask: Ask) -> Result | GqlnbError:
        """Send one request until it is answered, or will not be."""
        try:
            request, asked = self._ask(ask.text, ask.variables, ask.operation)
            attempts = Attempts("query", self.source, self._timeout, self._limits.wait)
            while True:
                begun = monotonic()
                with self._pace.turn():
                    attempts.until += monotonic() - begun
                    ask.sent += 1
                    outcome = self._attempt(replace(request, until=attempts.until), asked)
                if isinstance(outcome, Result) or walk.heavy(outcome):
                    return outcome
                time.sleep(attempts.pause(outcome))
        except GqlnbError as error:
            return error

    def _took(self, walk: Walk, ask: Ask, outcome: Result | GqlnbError, bar: Progress) -> None:
        """Take an answer in, or raise what came instead."""
        if isinstance(outcome, Result):
            walk.took(ask, outcome)
            bar(walk.got, walk.wanted, walk.requests, self._pace.budget)
        elif not walk.failed(ask, outcome):
            raise outcome

    @contextmanager
    def _watching(self, walk: Walk) -> Iterator[None]:
        """Keep what came with whatever ends the walk."""
        try:
            yield
        except GqlnbError as error:
            keep_with(error, walk, FAILED)
            self._unfinished = walk
            raise
        except GeneratorExit:
            raise
        except BaseException as error:
            keep_with(error, walk, INTERRUPTED)
            self._unfinished = walk
            raise

    # -- a running loop

    async def _apages(self, walk: Walk, progress: Progress) -> AsyncIterator[Result]:
        with self._watching(walk), progress as bar:
            while True:
                await self._arounds(walk, bar)
                yield kept(walk.result(), walk)
                if not walk.turn_over():
                    return

    async def _afinished(self, walk: Walk, progress: Any) -> Result:
        with self._watching(walk), Progress(progress) as bar:
            await self._arounds(walk, bar)
        return kept(walk.result(), walk)

    async def _arounds(self, walk: Walk, bar: Progress) -> None:
        while not walk.begun:
            await self._around(walk, [walk.first()], bar)
        while asks := walk.asks():
            await self._around(walk, asks, bar)

    async def _around(self, walk: Walk, asks: list[Ask], bar: Progress) -> None:
        waiting = dict.fromkeys(asks)
        tasks = [asyncio.ensure_future(self._aoutcome(walk, ask)) for ask in asks]
        failures = []
        try:
            for ask, task in zip(asks, tasks, strict=True):
                outcome = await task
                del waiting[ask]
                try:
                    self._took(walk, ask, outcome, bar)
                except GqlnbError as error:
                    failures.append(error)
            if failures:
                raise failures[0]
        finally:
            for task in tasks:
                task.cancel()
            for ask in waiting:
                walk.release(ask)

    async def _aoutcome(self, walk: Walk, ask: Ask) -> Result | GqlnbError:
        try:
            request, asked = self._ask(ask.text, ask.variables, ask.operation)
            attempts = Attempts("query", self.source, self._timeout, self._limits.wait)
            while True:
                begun = monotonic()
                async with self._pace.turn():
                    attempts.until += monotonic() - begun
                    ask.sent += 1
                    outcome = await self._aattempt(replace(request, until=attempts.until), asked)
                if isinstance(outcome, Result) or walk.heavy(outcome):
                    return outcome
                await asyncio.sleep(attempts.pause(outcome))
        except GqlnbError as error:
            return error


@contextmanager
def pool(width: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads; an interrupt does not wait for what they still do."""
    executor = ThreadPoolExecutor(width, thread_name_prefix="gqlnb-pages")
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def arriving(futures: Mapping[Future[Any], Any]) -> Iterator[Future[Any]]:
    """Yield futures as they are done, those done together in the order they were given."""
    left = list(futures)
    while left:
        done, _ = wait(left, return_when="FIRST_COMPLETED")
        yield from (each for each in left if each in done)
        left = [each for each in left if each not in done]


def kept(result: Result, walk: Walk) -> Result:
    """Return a result that can be gone on with, where there is more."""
    if walk.open:
        result.__dict__["_walk"] = walk
    return result


def keep_with(error: BaseException, walk: Walk, ended: str) -> None:
    """Give an error what came before it."""
    error._walk = walk  # type: ignore[attr-defined]  # noqa: SLF001 - of our own making
    if not walk.begun:
        return
    error.result = kept(walk.result(ended), walk)  # type: ignore[attr-defined]
    if ended == FAILED and error.args and not getattr(error, "problems", ()):
        error.args = (f"{error.args[0]} {walk.got:,} items came before. {ADVICE}",)
    if ended == INTERRUPTED:
        error.add_note(f"{walk.report(ended)}. Go on with client.resume().")

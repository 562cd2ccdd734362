"""Asking for all pages: the two drivers of a walk, one for threads and one for a running loop."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Unpack

from gqlnb.client.attempts import Attempts
from gqlnb.client.extent import Bounds, checked
from gqlnb.client.overload import spelled_out
from gqlnb.client.part import Part
from gqlnb.client.progress import Progress
from gqlnb.client.threads import arriving, pool, undisturbed
from gqlnb.client.walking import Walk
from gqlnb.errors import (
    AnswerError,
    GqlnbError,
    OptionError,
    QueryError,
    SchemaError,
    TransportError,
    plain,
)
from gqlnb.model.paging import Paging
from gqlnb.model.result import Result
from gqlnb.model.variables import bind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    import pandas as pd

    from gqlnb.client.extent import Extent
    from gqlnb.client.walking import Ask

__all__ = ["ADVICE", "Paged"]

ALL = "all"
FAILED, INTERRUPTED = "failed", "interrupted"
ADVICE = "They are in error.result; client.resume() goes on from there."


class FrameOptions(Bounds, total=False):
    """How far pages are followed, and how their rows become a frame."""

    short: bool
    explode: str | None
    strict: bool


LOOK = ("short", "explode", "strict")


def finds_nothing(paging: Paging) -> bool:
    """Tell whether a query has nothing to follow, as far as can be told without a schema."""
    return paging.schema is None and not any(each.followed for each in paging.connections)


class Paged(Part):
    """What a client does with queries of several pages; it is a part of :class:`gqlnb.Client`."""

    _unfinished: Walk | None = None

    def pages(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Unpack[Extent],
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
        **options: Unpack[Extent],
    ) -> AsyncIterator[Result]:
        """Do as :meth:`pages`, without blocking the running loop."""
        make = partial(self._walk, text, variables, operation, options, keep=False)
        return self._apages(make(ask_schema=False), make, Progress(progress))

    def execute_all(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: Any = "auto",
        **options: Unpack[Extent],
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
        **options: Unpack[Extent],
    ) -> Result:
        """Do as :meth:`execute_all`, without blocking the running loop."""
        walk = self._walk(text, variables, operation, options, ask_schema=False)
        if finds_nothing(walk.paging):
            walk = await asyncio.to_thread(self._walk, text, variables, operation, options)
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
        **options: Unpack[FrameOptions],
    ) -> pd.DataFrame:
        """Execute an operation and return its rows: :meth:`execute`, then :meth:`Result.frame`.

        The options ``short``, ``explode`` and ``strict`` are those of :meth:`Result.frame`. With
        ``pages="all"``, or with one of the others, which :meth:`execute_all` explains, all pages
        are asked for; a `path` then names the connection to follow too.
        """
        look: Any = {name: options.pop(name) for name in LOOK if name in options}  # type: ignore[misc]
        if pages is None and not options:
            return self.execute(text, variables, operation=operation).frame(path, **look)
        if pages not in (None, ALL):
            msg = f"pages= takes 'all', or None for the first ones; got {plain(repr(pages), 40)}."
            raise OptionError(msg)
        bounds: Any = options
        result = self.execute_all(text, variables, operation=operation, path=path, **bounds)
        return result.frame(path, **look)

    # -- beginning

    def _walk(
        self,
        text: str,
        variables: Mapping[str, Any] | None,
        operation: str | None,
        options: Mapping[str, Any],
        *,
        keep: bool = True,
        ask_schema: bool = True,
    ) -> Walk:
        path, chosen = checked(options)
        document = self.document(text, operation)
        if document.kind != "query":
            msg = f"Only queries are paged; this is a {document.kind}. Use execute()."
            raise QueryError(msg)
        paging = Paging(document, path)
        if ask_schema and finds_nothing(paging):
            paging = self._schema_paging(text, operation, path) or paging
        if path is not None and not any(each.followed for each in paging.connections):
            names = ", ".join(each.name for each in paging.connections) or "none"
            msg = f"No connection {plain(repr(path), 80)} to follow. The query has: {names}."
            raise QueryError(msg)
        return Walk(paging, bind(document, variables), chosen, self.source, keep=keep)

    def _schema_paging(self, text: str, operation: str | None, path: str | None) -> Paging | None:
        """Return the paging of a text once the endpoint has told its schema; None if it does not.

        Without a schema only what looks like a connection is followed. Where nothing does, one
        request more may find some.
        """
        with suppress(SchemaError, TransportError, AnswerError):
            _ = self.schema
            return Paging(self.document(text, operation), path)
        return None

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
                yield self._handed(walk)
                with undisturbed():
                    if not walk.turn_over():
                        return

    def _handed(self, walk: Walk) -> Result:
        """Return a page; who stops there can go on with the next one."""
        walk.handed = True
        self._unfinished = walk if walk.open else None
        return kept(walk.result(), walk)

    def _finished(self, walk: Walk, progress: Any) -> Result:
        with self._watching(walk), Progress(progress) as bar:
            self._rounds(walk, bar)
        return kept(walk.result(), walk)

    def _rounds(self, walk: Walk, bar: Progress) -> None:
        """Ask until there is nothing more to ask for, or the page is whole."""
        while not walk.begun:
            self._round(walk, [walk.first()], bar)
        while asks := self._next(walk):
            self._round(walk, asks, bar)

    def _next(self, walk: Walk) -> list[Ask]:
        with undisturbed():
            return walk.asks(self._pace.width)

    def _round(self, walk: Walk, asks: list[Ask], bar: Progress) -> None:
        """Send requests, several at once where that is allowed, and take the answers in."""
        width = min(len(asks), self._pace.width)
        if width <= 1:
            for ask in asks:
                self._took(walk, ask, self._outcome(walk, ask), bar)
            return
        failures = []
        with pool(width) as executor:
            futures = {executor.submit(self._outcome, walk, ask): ask for ask in asks}
            for future in arriving(futures):
                ask = futures.pop(future)  # or its page would be held until the round ends
                try:
                    self._took(walk, ask, future.result(), bar)
                except GqlnbError as error:
                    failures.append(error)
        if failures:
            raise failures[0]

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
                outcome = spelled_out(outcome, self.source)
                if isinstance(outcome, Result) or walk.heavy(outcome):
                    return outcome
                time.sleep(attempts.pause(outcome))
        except GqlnbError as error:
            return error

    def _took(self, walk: Walk, ask: Ask, outcome: Result | GqlnbError, bar: Progress) -> None:
        """Take an answer in whole, or raise what came instead."""
        with undisturbed():
            if isinstance(outcome, Result):
                walk.took(ask, outcome)
            going = isinstance(outcome, Result) or walk.failed(ask, outcome)
        if isinstance(outcome, Result):
            bar(walk.got, walk.wanted, walk.requests, self._pace.budget)
        elif not going:
            raise outcome

    @contextmanager
    def _watching(self, walk: Walk) -> Iterator[None]:
        """Keep what came with whatever ends the walk."""
        try:
            yield
        except GqlnbError as error:
            walk.recall()
            keep_with(error, walk, FAILED)
            self._unfinished = walk
            raise
        except GeneratorExit:
            raise
        except BaseException as error:
            walk.recall()
            keep_with(error, walk, INTERRUPTED)
            self._unfinished = walk
            raise

    # -- a running loop

    async def _apages(
        self, walk: Walk, make: Callable[[], Walk], progress: Progress
    ) -> AsyncIterator[Result]:
        if finds_nothing(walk.paging):
            walk = await asyncio.to_thread(make)
        with self._watching(walk), progress as bar:
            while True:
                await self._arounds(walk, bar)
                yield self._handed(walk)
                with undisturbed():
                    if not walk.turn_over():
                        return

    async def _afinished(self, walk: Walk, progress: Any) -> Result:
        with self._watching(walk), Progress(progress) as bar:
            await self._arounds(walk, bar)
        return kept(walk.result(), walk)

    async def _arounds(self, walk: Walk, bar: Progress) -> None:
        while not walk.begun:
            await self._around(walk, [walk.first()], bar)
        while asks := self._next(walk):
            await self._around(walk, asks, bar)

    async def _around(self, walk: Walk, asks: list[Ask], bar: Progress) -> None:
        tasks = [asyncio.ensure_future(self._aoutcome(walk, ask)) for ask in asks]
        failures = []
        try:
            for ask, task in zip(asks, tasks, strict=True):
                outcome = await task
                try:
                    self._took(walk, ask, outcome, bar)
                except GqlnbError as error:
                    failures.append(error)
            if failures:
                raise failures[0]
        finally:
            for task in tasks:
                task.cancel()

    async def _aoutcome(self, walk: Walk, ask: Ask) -> Result | GqlnbError:
        try:
            request, asked = await self._aask(ask.text, ask.variables, ask.operation)
            attempts = Attempts("query", self.source, self._timeout, self._limits.wait)
            while True:
                begun = monotonic()
                async with self._pace.turn():
                    attempts.until += monotonic() - begun
                    ask.sent += 1
                    outcome = await self._aattempt(replace(request, until=attempts.until), asked)
                outcome = spelled_out(outcome, self.source)
                if isinstance(outcome, Result) or walk.heavy(outcome):
                    return outcome
                await asyncio.sleep(attempts.pause(outcome))
        except GqlnbError as error:
            return error


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

"""A subscription as a stream of results, for ``for`` and for ``async for``."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
)
from contextlib import aclosing
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from gqlnb import runtime
from gqlnb.engine.budget import Budget
from gqlnb.engine.metered import bounded, stopped
from gqlnb.engine.run import execute, execute_within, finished
from gqlnb.engine.subscription import RESOLVERS, stream
from gqlnb.errors import QueryError
from gqlnb.model.result import Result
from gqlnb.model.variables import check as check_variables

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from gqlnb.model.document import Document
    from gqlnb.model.limits import Limits

__all__ = ["Given", "Place", "Stream", "check", "compiled"]

# Seconds an event gets to notice by itself that its time is up, before it is given up.
SLACK = 0.25

# Calls a function, in a thread perhaps, and gives what it returned.
Place = Callable[[Callable[[], Any]], Awaitable[Any]]


class Stream(AsyncIterator[Result]):
    """The results of a subscription, one for each event, as they come.

    ``async for`` awaits them on the running loop; ``for`` and ``next()`` wait for them, while the
    process's background loop runs the functions. Leaving a ``for`` loop, by ``break``, by an error
    or by an interrupt, ends the subscription; so do :meth:`aclose`, :meth:`close` and the end of a
    ``with`` or ``async with`` block. Its function then runs its ``finally`` blocks.

    Attributes
    ----------
    document : Document
        The document that is executed.
    """

    def __init__(self, begin: Callable[[], Any], document: Document) -> None:
        self.document = document
        self._results: Any = results(begin, document)
        self._waiting: asyncio.Task[Any] | None = None  # of a thread that waits for a result
        self._closing = False

    async def __anext__(self) -> Result:
        return await anext(self._results)

    async def aclose(self) -> None:
        """End the subscription."""
        await self._results.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __next__(self) -> Result:
        found = runtime.run(self._next())
        if found is None:
            raise StopIteration
        return found

    def __iter__(self) -> Iterator[Result]:
        try:
            while (found := runtime.run(self._next())) is not None:
                yield found
        finally:
            self.close()

    async def _next(self) -> Result | None:
        if self._closing:
            return None
        self._waiting = asyncio.current_task()
        try:
            return await anext(self._results, None)
        except asyncio.CancelledError:
            if not self._closing:  # it was interrupted
                raise
            return None
        finally:
            self._waiting = None

    def close(self) -> None:
        """End the subscription, from any thread; who waits for a result finds the end."""
        runtime.run(self._close())

    async def _close(self) -> None:
        """End it on the loop where `_next` runs, so that neither comes in between the other."""
        waiting = self._waiting
        if waiting is None and not self._results.ag_running:
            self._closing = True
            await self.aclose()
        elif waiting is not None and not waiting.cancelling():  # else it was interrupted
            self._closing = True
            waiting.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Stream({self.document.name or self.document.text.strip()[:40]!r})"


async def results(begin: Callable[[], Any], document: Document) -> AsyncGenerator[Result, None]:
    """Yield a result for each event of a subscription that `begin` begins.

    Raises
    ------
    QueryError
        If nothing was begun: a variable does not fit its type.
    """
    begun = begin()
    if isawaitable(begun):
        begun = await begun
    if not hasattr(begun, "__aiter__"):  # the function of the field has failed
        yield finished(begun, document)
        return
    async with aclosing(begun) as outcomes:
        async for outcome in outcomes:
            yield outcome if isinstance(outcome, Result) else finished(outcome, document)


class Given(NamedTuple):
    """What a subscription is begun with, beside its document.

    Attributes
    ----------
    variables
        JSON-like values by name.
    context, root
        As for an execution.
    limits
        How many fields and seconds each event may take; None for no limit.
    place
        Where the plain resolvers of an event are called; None for here.
    """

    variables: Mapping[str, Any]
    context: Any
    root: Any
    limits: Limits | None
    place: Place | None


def compiled(
    schema: GraphQLSchema, document: Document, given: Given, resolvers: Mapping[str, Any]
) -> Callable[[], Any]:
    """Return what begins a subscription whose events run the compiled plan.

    Parameters
    ----------
    schema
        The schema the document was checked against.
    document
        The document with its operation chosen.
    given
        What else it is begun with.
    resolvers
        Resolvers other than those of the schema, as graphql-core calls them.
    """
    variables, limits = dict(given.variables), given.limits
    plain = {
        "context_value": given.context,
        "variable_values": variables,
        "operation_name": document.name,
    }
    asked = {name: function for name, function in resolvers.items() if name in RESOLVERS}
    shared = (given.context, variables or None, document.name)

    def executed(event: Any, budget: Budget | None) -> Any:
        road = execute if budget is None else partial(execute_within, budget)
        known = partial(road, schema, document.ast, event, *shared, **asked)
        return known() if budget is None else bounded(known, budget, document, finished)

    def here(event: Any) -> Any:
        return executed(event, Budget.of(limits) if limits is not None else None)

    each = here if given.place is None else placed(executed, given.place, limits, document)
    return lambda: stream(schema, document.ast, given.root, plain, dict(resolvers), each)


def placed(
    executed: Callable[[Any, Budget | None], Any],
    place: Place,
    limits: Limits | None,
    document: Document,
) -> Callable[[Any], Awaitable[Any]]:
    """Return a function that executes an event elsewhere and awaits here what came of it.

    An event that does not notice that its time is up, since a resolver hangs, is given up.
    """
    seconds = limits.seconds if limits is not None else None
    patience = None if seconds is None else seconds + SLACK

    async def elsewhere(event: Any) -> Any:
        budget = Budget.of(limits) if limits is not None else None
        deadline = asyncio.timeout(patience)
        try:
            async with deadline:
                made = await place(lambda: executed(event, budget))
                return await made if isawaitable(made) else made
        except TimeoutError:
            if budget is None or not deadline.expired():
                raise
            budget.stop()
            return stopped(budget, document)

    return elsewhere


def check(document: Document, variables: Mapping[str, Any]) -> None:
    """Refuse what is no subscription, and variables that do not fit.

    Raises
    ------
    QueryError
        Before anything is executed.
    """
    if document.kind != "subscription":
        message = f"A {document.kind} gives one result. Use execute() for it."
        raise QueryError(message, text=document.text)
    check_variables(document, dict(variables))

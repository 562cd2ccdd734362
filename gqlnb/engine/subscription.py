"""Subscriptions: graphql-core makes the stream, compiled plans execute its events."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import graphql
from graphql import ExecutionResult, GraphQLError, OperationType
from graphql import subscribe as core_subscribe

from gqlnb import background
from gqlnb.document.variables import check_variables
from gqlnb.engine.compiled_execution import build_result, execute, execute_within
from gqlnb.engine.execution_budget import ExecutionBudget, build_stopped_result, execute_bounded
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33, BaseExecutor
from gqlnb.errors import QueryError, sanitize_text
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import DocumentNode, GraphQLSchema

    from gqlnb.document.document import Document
    from gqlnb.document.limits import Limits

__all__ = [
    "RESOLVER_OPTIONS",
    "Runner",
    "Stream",
    "SubscriptionArguments",
    "ThreadedIterator",
    "build_subscription",
    "check_subscription",
    "open_event_source",
    "open_response_stream",
    "subscribe",
]

SIGNATURE = inspect.signature(core_subscribe)
# Arguments we subscribe with; any other is for graphql-core itself.
SUBSCRIBE_ARGUMENTS = (
    "field_resolver",
    "type_resolver",
    "subscribe_field_resolver",
    "max_coercion_errors",
)
RESOLVER_OPTIONS = frozenset({"field_resolver", "type_resolver"})  # those that execute an event
PLAIN_NAMES = ("context_value", "variable_values", "operation_name")
_execution: Any = graphql.execution


def subscribe(schema: GraphQLSchema, document: DocumentNode, *args: Any, **options: Any) -> Any:
    """Subscribe as ``graphql.subscribe`` does; each event runs the compiled plan.

    Parameters
    ----------
    schema, document, *args, **options
        As for the installed ``graphql.subscribe``.

    Returns
    -------
    AsyncIterator of ExecutionResult, or an ExecutionResult with errors
        Or an awaitable of one of these; what the installed graphql-core returns.

    Examples
    --------
    >>> import asyncio
    >>> from graphql import parse
    >>> async def ticks(root, args, context):
    ...     for number in range(3):
    ...         yield {"tick": number}
    >>> sdl = "type Query { hello: String } type Subscription { tick: Int }"
    >>> schema = gqlnb.Schema(sdl, {"Subscription": {"tick": ticks}})
    >>> async def listen():  # with graphql-core 3.2: await the events
    ...     document = parse("subscription { tick }")
    ...     events = gqlnb.engine.subscribe(schema.graphql, document)
    ...     return [event.data async for event in events]
    >>> asyncio.run(listen())
    [{'tick': 0}, {'tick': 1}, {'tick': 2}]
    """
    bound = SIGNATURE.bind(schema, document, *args, **options)
    given = dict(bound.arguments)
    root = given.pop("root_value", None)
    plain = {name: given.pop(name, None) for name in PLAIN_NAMES}
    if any(name not in (*SUBSCRIBE_ARGUMENTS, "schema", "document") for name in given):
        return core_subscribe(*bound.args, **bound.kwargs)
    resolvers = {name: given[name] for name in SUBSCRIBE_ARGUMENTS if name in given}
    each = _build_event_executor(schema, document, plain, resolvers)
    return open_response_stream(schema, document, root, plain, resolvers, each)


def open_response_stream(
    schema: GraphQLSchema,
    document: DocumentNode,
    root: Any,
    plain: dict[str, Any],
    resolvers: dict[str, Any],
    each: Callable[[Any], Any],
) -> Any:
    """Subscribe, with a function that executes each event.

    Parameters
    ----------
    schema, document
        What is subscribed to.
    root
        The root value of the source.
    plain
        The context, the variables and the operation's name, as graphql-core calls them.
    resolvers
        Resolvers other than those of the schema, as graphql-core calls them.
    each
        From the root value of an event to its ExecutionResult, or an awaitable of it.

    Returns
    -------
    As :func:`subscribe`.
    """
    made = _subscribe_new if IS_GRAPHQL_33 else _subscribe_old
    return made(schema, document, root, plain, resolvers, each)


def _build_event_executor(
    schema: GraphQLSchema, document: DocumentNode, plain: dict[str, Any], resolvers: dict[str, Any]
) -> Callable[[Any], Any]:
    """Return the function that executes one event."""
    asked = {name: f for name, f in resolvers.items() if name in RESOLVER_OPTIONS and f is not None}

    def execute_event(payload: Any) -> Any:
        return execute(schema, document, payload, **plain, **asked)

    return execute_event


def _subscribe_new(
    schema: GraphQLSchema,
    document: DocumentNode,
    root: Any,
    plain: dict[str, Any],
    resolvers: dict[str, Any],
    each: Callable[[Any], Any],
) -> Any:
    """Subscribe as graphql-core 3.3 does: at once where the resolver gives the stream at once."""
    variables = {"raw_variable_values": plain["variable_values"]}
    names = {k: v for k, v in plain.items() if k != "variable_values"}
    built = BaseExecutor.build(schema, document, root, **names, **variables, **resolvers)
    if isinstance(built, list):
        return ExecutionResult(None, errors=built)
    if built.operation.operation is not OperationType.SUBSCRIPTION:
        message = "Expected subscription operation."
        raise GraphQLError(message)

    def map_source(source: Any) -> Any:
        if not built.is_async_iterable(source):
            return source  # a result with errors
        return _execution.map_source_to_response_event(
            built, source, lambda event: each(event.root_value)
        )

    made = _execution.create_source_event_stream(built)
    if not built.is_awaitable(made):
        return map_source(made)

    async def await_source() -> Any:
        return map_source(await made)

    return await_source()


async def _subscribe_old(
    schema: GraphQLSchema,
    document: DocumentNode,
    root: Any,
    plain: dict[str, Any],
    resolvers: dict[str, Any],
    each: Callable[[Any], Any],
) -> Any:
    """Subscribe as graphql-core 3.2 does."""
    resolvers = {name: f for name, f in resolvers.items() if name not in RESOLVER_OPTIONS}
    source = await _execution.create_source_event_stream(
        schema, document, root, **plain, **resolvers
    )
    if isinstance(source, ExecutionResult):
        return source

    async def await_event_result(payload: Any) -> Any:
        made = each(payload)
        return await made if inspect.isawaitable(made) else made

    return _execution.MapAsyncIterator(source, await_event_result)


subscribe.__signature__ = SIGNATURE  # type: ignore[attr-defined]

_END = object()


def open_event_source(made: Any, place: str) -> AsyncIterable[Any] | Awaitable[AsyncIterable[Any]]:
    """Return events as an asynchronous iterable, whatever kind of iterable they are.

    Parameters
    ----------
    made
        What the function returned: an asynchronous iterable, an iterable, or an awaitable of one.
    place
        Type and field, for the error.

    Raises
    ------
    TypeError
        If it can't be iterated over.
    """
    if isinstance(made, AsyncIterable):
        return made
    if isawaitable(made):
        return _await_event_source(made, place)
    if isinstance(made, Iterable) and not isinstance(made, (str, bytes, dict)):
        return ThreadedIterator(iter(made))
    message = (
        f"The function for {place} must give its events one by one, as a generator does "
        f"('yield value', async or not); it returned {sanitize_text(type(made).__name__, 80)}."
    )
    raise TypeError(message)


async def _await_event_source(made: Awaitable[Any], place: str) -> AsyncIterable[Any]:
    source = open_event_source(await made, place)
    return await source if isawaitable(source) else source


class ThreadedIterator(AsyncIterator[Any]):
    """A plain iterator as an asynchronous one: each step runs in a thread of its own.

    A step may wait as long as it likes, for a clock or a queue. An iterator that is left in the
    middle of a step is closed when that step is over.
    """

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator
        self._lock = threading.Lock()  # held while the iterator works
        self._closed = False

    async def __anext__(self) -> Any:
        value = await background.run_in_thread(self._take_step)
        if value is _END:
            raise StopAsyncIteration
        return value

    async def aclose(self) -> None:
        """Close the iterator, now or at the end of its step; nobody waits for that."""
        self._closed = True
        if not self._lock.locked():  # else the step finds it closed, and does it
            await background.run_in_thread(self._close)

    def _take_step(self) -> Any:
        try:
            with self._lock:
                return _END if self._closed else next(self._iterator, _END)
        finally:
            if self._closed:
                self._close()

    def _close(self) -> None:
        close = getattr(self._iterator, "close", None)  # a list's iterator has none
        with self._lock:
            if close is not None:
                close()


# Seconds an event gets to notice by itself that its time is up, before it is given up.
TIMEOUT_SLACK = 0.25

# Calls a function, in a thread perhaps, and gives what it returned.
Runner = Callable[[Callable[[], Any]], Awaitable[Any]]


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
        self._results: Any = iterate_results(begin, document)
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
        found = background.run(self._next())
        if found is None:
            raise StopIteration
        return found

    def __iter__(self) -> Iterator[Result]:
        try:
            while (found := background.run(self._next())) is not None:
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
        background.run(self._close())

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


async def iterate_results(
    begin: Callable[[], Any], document: Document
) -> AsyncGenerator[Result, None]:
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
        yield build_result(begun, document)
        return
    async with aclosing(begun) as outcomes:
        async for outcome in outcomes:
            yield outcome if isinstance(outcome, Result) else build_result(outcome, document)


class SubscriptionArguments(NamedTuple):
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
    place: Runner | None


def build_subscription(
    schema: GraphQLSchema,
    document: Document,
    given: SubscriptionArguments,
    resolvers: Mapping[str, Any],
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
    asked = {name: function for name, function in resolvers.items() if name in RESOLVER_OPTIONS}
    shared = (given.context, variables or None, document.name)

    def execute_event(event: Any, budget: ExecutionBudget | None) -> Any:
        road = execute if budget is None else partial(execute_within, budget)
        known = partial(road, schema, document.ast, event, *shared, **asked)
        return known() if budget is None else execute_bounded(known, budget, document, build_result)

    def execute_here(event: Any) -> Any:
        return execute_event(
            event, ExecutionBudget.from_limits(limits) if limits is not None else None
        )

    each = (
        execute_here
        if given.place is None
        else build_placed_executor(execute_event, given.place, limits, document)
    )
    return lambda: open_response_stream(
        schema, document.ast, given.root, plain, dict(resolvers), each
    )


def build_placed_executor(
    executed: Callable[[Any, ExecutionBudget | None], Any],
    place: Runner,
    limits: Limits | None,
    document: Document,
) -> Callable[[Any], Awaitable[Any]]:
    """Return a function that executes an event elsewhere and awaits here what came of it.

    An event that does not notice that its time is up, since a resolver hangs, is given up.
    """
    seconds = limits.seconds if limits is not None else None
    patience = None if seconds is None else seconds + TIMEOUT_SLACK

    async def execute_elsewhere(event: Any) -> Any:
        budget = ExecutionBudget.from_limits(limits) if limits is not None else None
        deadline = asyncio.timeout(patience)
        try:
            async with deadline:
                made = await place(lambda: executed(event, budget))
                return await made if isawaitable(made) else made
        except TimeoutError:
            if budget is None or not deadline.expired():
                raise
            budget.stop()
            return build_stopped_result(budget, document)

    return execute_elsewhere


def check_subscription(document: Document, variables: Mapping[str, Any]) -> None:
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

"""Subscriptions: graphql-core makes the stream, compiled plans execute its events."""

from __future__ import annotations

import asyncio
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
from gqlnb.engine.compiled_execution import build_result, execute, execute_within, finish_execution
from gqlnb.engine.execution_budget import BudgetExceededError, ExecutionBudget, build_stopped_result
from gqlnb.engine.graphql_compat import (
    EXECUTOR_OPTION,
    IS_GRAPHQL_33,
    SUBSCRIBE_SIGNATURE,
    BaseExecutor,
    Outcome,
    Value,
)
from gqlnb.errors import QueryError, sanitize_text
from gqlnb.result.result import Result

if TYPE_CHECKING:
    import pandas as pd
    from graphql import DocumentNode, GraphQLSchema

    from gqlnb.document.document import Document
    from gqlnb.limits import Limits

# Arguments that this engine supports; with any other graphql-core itself subscribes.
RESOLVER_OPTIONS = frozenset({"field_resolver", "type_resolver"})
# Those for executing an event.
EVENT_OPTIONS = RESOLVER_OPTIONS | {"context_value", "variable_values", "operation_name"}
SUBSCRIBE_OPTIONS = EVENT_OPTIONS | {"subscribe_field_resolver", "max_coercion_errors"}
_execution: Any = graphql.execution


def subscribe(
    schema: GraphQLSchema, document: DocumentNode, *args: object, **options: object
) -> Outcome:
    """Subscribe like ``graphql.subscribe``; each event runs the compiled plan.

    Parameters
    ----------
    schema, document, *args, **options
        As for the installed ``graphql.subscribe``.

    Returns
    -------
    AsyncIterator of ExecutionResult, or an ExecutionResult with errors
        Or an awaitable of one of these; the same as the installed graphql-core returns.

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
    bound = SUBSCRIBE_SIGNATURE.bind(schema, document, *args, **options)
    given = dict(bound.arguments)
    del given["schema"], given["document"]
    root = given.pop("root_value", None)
    if given.keys() - SUBSCRIBE_OPTIONS:
        return core_subscribe(*bound.args, **bound.kwargs)
    chosen = {name: given[name] for name in EVENT_OPTIONS if given.get(name) is not None}

    def execute_event(payload: object) -> Outcome:
        return execute(schema, document, payload, **chosen)

    return open_response_stream(schema, document, root, given, execute_event)


def open_response_stream(
    schema: GraphQLSchema,
    document: DocumentNode,
    root: object,
    options: dict[str, Value],
    execute_event: Callable[[object], Outcome],
) -> Outcome:
    """Subscribe with a given function for events; the result is that of :func:`subscribe`.

    Parameters
    ----------
    schema, document, root
        As for ``graphql.subscribe``.
    options
        Its further arguments by graphql-core's names, and an executor class.
    execute_event
        Returns the ExecutionResult of an event's root value, or an awaitable of it.

    Returns
    -------
    AsyncIterator of ExecutionResult, or an ExecutionResult with errors
        Or an awaitable of one of these.

    Raises
    ------
    GraphQLError
        If the operation is not a subscription.
    """
    options = dict(options)
    if not IS_GRAPHQL_33:
        for name in RESOLVER_OPTIONS:
            options.pop(name, None)
        pending = _execution.create_source_event_stream(schema, document, root, **options)
        return _map_events(pending, execute_event)
    variables = options.pop("variable_values", None)
    executor = options.pop(EXECUTOR_OPTION, BaseExecutor).build(
        schema, document, root, raw_variable_values=variables, **options
    )
    if isinstance(executor, list):
        return ExecutionResult(None, errors=executor)
    if executor.operation.operation is not OperationType.SUBSCRIPTION:
        message = "Expected subscription operation."
        raise GraphQLError(message)

    def map_source(source: object) -> Outcome:
        if not executor.is_async_iterable(source):
            return source  # a result with errors
        return _execution.map_source_to_response_event(
            executor, source, lambda event: execute_event(event.root_value)
        )

    async def await_source(pending: Awaitable[object]) -> Outcome:
        return map_source(await pending)

    source = _execution.create_source_event_stream(executor)
    return await_source(source) if executor.is_awaitable(source) else map_source(source)


async def _map_events(
    pending: Awaitable[Value], execute_event: Callable[[object], Outcome]
) -> Outcome:
    """Return the responses to the events of a stream of graphql-core 3.2."""
    source = await pending
    if isinstance(source, ExecutionResult):
        return source

    async def await_event_result(payload: object) -> Outcome:
        result = execute_event(payload)
        return await result if isawaitable(result) else result

    return _execution.MapAsyncIterator(source, await_event_result)


subscribe.__signature__ = SUBSCRIBE_SIGNATURE  # type: ignore[attr-defined]

_END = object()


def open_event_source(
    source: object, place: str
) -> AsyncIterable[object] | Awaitable[AsyncIterable[object]]:
    """Return the events of a subscription's function as an asynchronous iterable.

    Parameters
    ----------
    source
        The function's return value: an asynchronous iterable, an iterable, or an awaitable of one.
    place
        Type and field, for the error.

    Returns
    -------
    AsyncIterable, or an awaitable of one
        An awaitable only for an awaitable; each step of a plain iterable runs in a thread.

    Raises
    ------
    TypeError
        If it is not iterable.
    """
    if isinstance(source, AsyncIterable):
        return source
    if isawaitable(source):
        return _await_event_source(source, place)
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes, dict)):
        return ThreadedIterator(iter(source))
    # Strings and mappings are iterable, but always a mistake here.
    message = (
        f"The function for {place} must give its events one by one, as a generator does "
        f"('yield value', async or not); it returned {sanitize_text(type(source).__name__, 80)}."
    )
    raise TypeError(message)


async def _await_event_source(pending: Awaitable[object], place: str) -> AsyncIterable[object]:
    source = open_event_source(await pending, place)
    return await source if isawaitable(source) else source


class ThreadedIterator(AsyncIterator[object]):
    """A plain iterator as an asynchronous one: each step runs in a thread.

    A step may block as long as it likes, on a clock or a queue. An iterator that is left in the
    middle of a step is closed when that step ends.
    """

    def __init__(self, iterator: Iterator[object]) -> None:
        self._iterator = iterator
        self._lock = threading.Lock()  # held during a step
        self._closed = False

    async def __anext__(self) -> object:
        value = await background.run_in_thread(self._take_step)
        if value is _END:
            raise StopAsyncIteration
        return value

    async def aclose(self) -> None:
        """Close the iterator, now or at the end of its step, without waiting for that."""
        self._closed = True
        if not self._lock.locked():  # else the step closes it
            await background.run_in_thread(self._close)

    def _take_step(self) -> object:
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


# Seconds that an event has to notice its own timeout, before it is abandoned.
TIMEOUT_SLACK = 0.25

# Calls a function, in a thread perhaps, and returns its result.
Runner = Callable[[Callable[[], Outcome]], Awaitable[Outcome]]


class Stream(AsyncIterator[Result]):
    """The results of a subscription, one for each event.

    ``async for`` awaits them on the running loop. ``for`` and ``next()`` block, while the process's
    background loop runs the functions. Leaving a ``for`` loop, by ``break``, an exception or an
    interrupt, ends the subscription; so do :meth:`aclose`, :meth:`close` and the end of a ``with``
    or ``async with`` block. The subscription's function then runs its ``finally`` blocks.

    Attributes
    ----------
    document : Document
        The document that is executed.
    """

    def __init__(self, begin: Callable[[], Outcome], document: Document) -> None:
        self.document = document
        self._results: Any = iterate_results(begin, document)
        self._waiting: asyncio.Task[Any] | None = None  # of a thread that waits for a result
        self._closing = False

    async def __anext__(self) -> Result:
        with background.wake_loop():
            return await anext(self._results)

    async def aclose(self) -> None:
        """End the subscription."""
        await self._results.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __next__(self) -> Result:
        result = background.run(self._next())
        if result is None:
            raise StopIteration
        return result

    def __iter__(self) -> Iterator[Result]:
        try:
            while (result := background.run(self._next())) is not None:
                yield result
        finally:
            self.close()

    def frame(
        self,
        count: int | None = None,
        path: str | None = None,
        *,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
    ) -> pd.DataFrame:
        """Wait for events, end the subscription, and return their rows as one DataFrame.

        Parameters
        ----------
        count
            The number of events; None for all until the stream ends.
        path, short, explode, strict
            As for :meth:`gqlnb.Result.frame`. If the events have no list, or several and no `path`,
            there is a row for each event.

        Returns
        -------
        DataFrame
            The rows in the order of the events, with the dtypes of the schema. ``attrs`` holds
            ``source``, ``events``, their number, and ``partial``, whether one has errors.

        Raises
        ------
        OptionError
            If `count` is not a positive whole number.
        FrameError
            As of :meth:`gqlnb.Result.frame`.
        GqlnbError
            If the subscription fails. ``error.result`` is the frame of the events before, as after
            an interrupt.

        Warns
        -----
        UserWarning
            If events have errors.
        """
        from gqlnb.result.event_frames import collect_frame

        options = {"short": short, "explode": explode, "strict": strict}
        try:
            return collect_frame(self, count, path, **options)
        finally:
            self.close()

    async def _next(self) -> Result | None:
        if self._closing:
            return None
        self._waiting = asyncio.current_task()
        try:
            return await anext(self._results, None)
        except asyncio.CancelledError:
            if not self._closing:  # an interrupt
                raise
            return None
        finally:
            self._waiting = None

    def close(self) -> None:
        """End the subscription, from any thread; a thread that waits for a result gets the end."""
        background.run(self._close())

    async def _close(self) -> None:
        # This runs on the loop of `_next`, so that neither can interrupt the other.
        waiting = self._waiting
        if waiting is None and not self._results.ag_running:
            self._closing = True
            await self.aclose()
        elif waiting is not None and not waiting.cancelling():  # else an interrupt ends it
            self._closing = True
            waiting.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Stream({self.document.name or self.document.text.strip()[:40]!r})"


async def iterate_results(
    begin: Callable[[], Outcome], document: Document
) -> AsyncGenerator[Result, None]:
    """Yield a result for each event of a subscription that `begin` begins."""
    outcomes = begin()
    if isawaitable(outcomes):
        outcomes = await outcomes
    if not hasattr(outcomes, "__aiter__"):  # an ExecutionResult: the field's function has failed
        yield build_result(outcomes, document)
        return
    # Closed here, since an abandoned asynchronous generator is finalized only at some later time.
    async with aclosing(outcomes):
        async for outcome in outcomes:
            yield outcome if isinstance(outcome, Result) else build_result(outcome, document)


# Each step of a plain generator runs in a thread of its own, since it may block for ever; plain
# resolvers of the events share the worker threads. One task iterates a stream from start to end,
# so that context managers in an async generator stay valid.
class SubscriptionArguments(NamedTuple):
    """The arguments of a subscription, beside its document.

    Attributes
    ----------
    variables
        JSON-like values by name.
    context, root
        As for an execution.
    limits
        Limits of fields and seconds for each event; None for no limit.
    run_in
        Awaits the result of a function called in a thread, say: it runs the plain resolvers of each
        event. None for the thread that iterates.
    extensions
        The extensions of the request, or None.
    """

    variables: Mapping[str, object]
    context: object = None
    root: object = None
    limits: Limits | None = None
    run_in: Runner | None = None
    extensions: Mapping[str, Any] | None = None


def build_subscription(
    schema: GraphQLSchema,
    document: Document,
    arguments: SubscriptionArguments,
    resolvers: Mapping[str, Value],
    library: type | None = None,
) -> Callable[[], Outcome]:
    """Return a function that begins a subscription with a compiled plan for its events.

    Parameters
    ----------
    schema
        The schema the document was validated against.
    document
        The document with its operation chosen.
    arguments
        The further arguments of the subscription.
    resolvers
        Resolvers that replace those of the schema, by graphql-core's parameter names.
    library
        The executor class of a library that builds info objects of its own, or None.

    Returns
    -------
    callable
        Takes no arguments and returns what :func:`subscribe` returns; an event's outcome may be a
        Result instead of an ExecutionResult.
    """
    variables, limits, run_in = dict(arguments.variables), arguments.limits, arguments.run_in
    options = {name: f for name, f in resolvers.items() if name in RESOLVER_OPTIONS}
    shared = (arguments.context, variables or None, document.name)

    def start_budget() -> ExecutionBudget | None:
        return None if limits is None else ExecutionBudget(limits.fields, limits.seconds)

    def execute_with(budget: ExecutionBudget | None, event: object) -> Outcome:
        given = (schema, document.ast, event, *shared)
        try:
            outcome = execute_within(*given, budget=budget, library=library, **options)
        except BudgetExceededError as error:
            return build_stopped_result(str(error), document)
        return finish_execution(outcome, budget, document)

    def execute_here(event: object) -> Outcome:
        return execute_with(start_budget(), event)

    async def execute_elsewhere(event: object) -> Outcome:
        budget = start_budget()
        seconds = limits.seconds if limits is not None else None
        # A resolver that hangs never looks at the clock: its event is abandoned a little later.
        deadline = asyncio.timeout(None if seconds is None else seconds + TIMEOUT_SLACK)
        try:
            async with deadline:
                result = await run_in(partial(execute_with, budget, event))  # type: ignore[misc]
                return await result if isawaitable(result) else result
        except TimeoutError:
            if budget is None or not deadline.expired():
                raise
            budget.stop()
            return build_stopped_result(budget.reason, document)

    given = {
        **resolvers,
        "context_value": arguments.context,
        "variable_values": variables,
        "operation_name": document.name,
        **({} if library is None else {EXECUTOR_OPTION: library}),
    }
    execute_event = execute_here if run_in is None else execute_elsewhere
    return partial(open_response_stream, schema, document.ast, arguments.root, given, execute_event)


def check_subscription(document: Document, variables: Mapping[str, object]) -> None:
    """Check that a document is a subscription, and its variables.

    Parameters
    ----------
    document
        The document with its operation chosen.
    variables
        JSON-like values by name.

    Raises
    ------
    QueryError
        If it is another operation, or a variable does not match its type.
    """
    if document.kind != "subscription":
        message = f"A {document.kind} gives one result. Use execute() for it."
        raise QueryError(message, text=document.text)
    check_variables(document, dict(variables))

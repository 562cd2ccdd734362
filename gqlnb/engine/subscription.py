"""Subscriptions: graphql-core makes the stream, compiled plans execute its events."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import graphql
from graphql import ExecutionResult, GraphQLError, OperationType
from graphql import subscribe as core_subscribe

from gqlnb.engine.run import execute
from gqlnb.engine.version import NEW, Base

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import DocumentNode, GraphQLSchema

__all__ = ["RESOLVERS", "stream", "subscribe"]

SIGNATURE = inspect.signature(core_subscribe)
# Arguments we subscribe with; any other is for graphql-core itself.
OURS = ("field_resolver", "type_resolver", "subscribe_field_resolver", "max_coercion_errors")
RESOLVERS = frozenset({"field_resolver", "type_resolver"})  # those that execute an event
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
    if any(name not in (*OURS, "schema", "document") for name in given):
        return core_subscribe(*bound.args, **bound.kwargs)
    resolvers = {name: given[name] for name in OURS if name in given}
    each = _executor(schema, document, plain, resolvers)
    return stream(schema, document, root, plain, resolvers, each)


def stream(
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
    made = _subscribe_new if NEW else _subscribe_old
    return made(schema, document, root, plain, resolvers, each)


def _executor(
    schema: GraphQLSchema, document: DocumentNode, plain: dict[str, Any], resolvers: dict[str, Any]
) -> Callable[[Any], Any]:
    """Return the function that executes one event."""
    asked = {name: f for name, f in resolvers.items() if name in RESOLVERS and f is not None}

    def each(payload: Any) -> Any:
        return execute(schema, document, payload, **plain, **asked)

    return each


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
    built = Base.build(schema, document, root, **names, **variables, **resolvers)
    if isinstance(built, list):
        return ExecutionResult(None, errors=built)
    if built.operation.operation is not OperationType.SUBSCRIPTION:
        message = "Expected subscription operation."
        raise GraphQLError(message)

    def mapped(source: Any) -> Any:
        if not built.is_async_iterable(source):
            return source  # a result with errors
        return _execution.map_source_to_response_event(
            built, source, lambda event: each(event.root_value)
        )

    made = _execution.create_source_event_stream(built)
    if not built.is_awaitable(made):
        return mapped(made)

    async def later() -> Any:
        return mapped(await made)

    return later()


async def _subscribe_old(
    schema: GraphQLSchema,
    document: DocumentNode,
    root: Any,
    plain: dict[str, Any],
    resolvers: dict[str, Any],
    each: Callable[[Any], Any],
) -> Any:
    """Subscribe as graphql-core 3.2 does."""
    resolvers = {name: f for name, f in resolvers.items() if name not in RESOLVERS}
    source = await _execution.create_source_event_stream(
        schema, document, root, **plain, **resolvers
    )
    if isinstance(source, ExecutionResult):
        return source

    async def result(payload: Any) -> Any:
        made = each(payload)
        return await made if inspect.isawaitable(made) else made

    return _execution.MapAsyncIterator(source, result)


subscribe.__signature__ = SIGNATURE  # type: ignore[attr-defined]

"""OpenTelemetry spans for operations and resolvers, on a copy of a schema.

A copy costs nothing where it is not used: neither the plans nor the resolvers of the schema itself
ask whether they are traced.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from functools import partial, update_wrapper
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from graphql import GraphQLObjectType

from gqlnb.document.sized_cache import SizedCache
from gqlnb.engine.graphql_compat import Outcome, Value
from gqlnb.engine.schema_adapters import MAX_DOCUMENTS, SchemaAdapter, StrawberryAdapter
from gqlnb.errors import SchemaError
from gqlnb.optional_imports import import_optional
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from graphql import ExecutionResult, GraphQLResolveInfo, GraphQLSchema

    from gqlnb.document.document import Document
    from gqlnb.engine.subscription import Runner, Stream, SubscriptionArguments

EndSpan = Callable[[Any, Any], None]  # ends a span, given the value or None


class OperationTracer:
    """Makes the spans of one schema.

    Parameters
    ----------
    provider
        The ``TracerProvider``; None for the global one.
    """

    def __init__(self, provider: object) -> None:
        self.api = import_optional("opentelemetry.trace", "opentelemetry-api", "trace operations")
        self.tracer: Any = self.api.get_tracer("gqlnb", tracer_provider=provider)

    def begin_operation(self, document: Document) -> Value:
        """Return the span of an operation, named as the semantic conventions of GraphQL say.

        The text is left out: its literals may be secrets.
        """
        attributes = {"graphql.operation.type": document.kind}
        if document.name:
            attributes["graphql.operation.name"] = document.name
        kind = self.api.SpanKind.SERVER
        return self.tracer.start_span(document.kind, attributes=attributes, kind=kind)

    def use(self, span: Value) -> Value:
        """Return a context manager in which a span is the current one; it ends no span."""
        return self.api.use_span(span, end_on_exit=False)

    def trace_operation(self, document: Document, execute: Callable[[], Outcome]) -> Outcome:
        """Execute an operation within a span; return its outcome, or an awaitable of it."""
        return self._run_within(self.begin_operation(document), execute, self._end_operation)

    def wrap_resolver(self, resolve: Callable[..., Any]) -> Callable[..., Any]:
        """Return a resolver with a span for each call, until its value is awaited."""

        def resolve_traced(
            source: object, info: GraphQLResolveInfo[Any], /, **args: object
        ) -> Value:
            name = f"{info.parent_type.name}.{info.field_name}"
            attributes = {
                "graphql.field.name": info.field_name,
                "graphql.field.path": ".".join(map(str, info.path.as_list())),
                "graphql.field.type": str(info.return_type),
            }
            span = self.tracer.start_span(f"graphql.resolve {name}", attributes=attributes)
            call = partial(resolve, source, info, **args)
            return self._run_within(span, call, lambda span, _value: span.end())

        return update_wrapper(resolve_traced, resolve, updated=())

    def _run_within(self, span: Value, call: Callable[[], Value], end: EndSpan) -> Value:
        """Call a function within a span; return its value, or an awaitable of it."""
        value, is_pending = None, False
        try:
            with self.use(span):
                value = call()
            is_pending = isawaitable(value)
            return self._await_within(span, value, end) if is_pending else value
        finally:
            if not is_pending:
                end(span, value)

    async def _await_within(self, span: Value, pending: Awaitable[Any], end: EndSpan) -> Value:
        value = None
        try:
            with self.use(span):
                value = await pending
            return value
        finally:
            end(span, value)

    def _end_operation(self, span: Value, result: Result | ExecutionResult | None) -> None:
        """End the span of an operation, given its result; None if it has raised an error."""
        if result is not None and result.errors:
            span.set_attribute("graphql.error.count", len(result.errors))
            span.set_status(self.api.StatusCode.ERROR)
        span.end()


class TracedAdapter(SchemaAdapter):
    """Executes documents like another adapter, each within a span."""

    tracer: OperationTracer

    def execute_document(
        self, document: Document, *given: Value, **options: Value
    ) -> Result | Awaitable[Result]:
        """Execute a document; its span ends with the execution."""
        run = partial(super().execute_document, document, *given, **options)
        return self.tracer.trace_operation(document, run)  # type: ignore[no-any-return]

    def subscribe_document(self, document: Document, arguments: SubscriptionArguments) -> Stream:
        """Return the stream of a subscription, with a span for each event.

        One span for the whole stream would be exported at its end only, hours later perhaps.
        """
        if document.kind == "subscription":
            run_in = partial(self._run_event, document, arguments.run_in)
            arguments = arguments._replace(run_in=run_in)
        return super().subscribe_document(document, arguments)

    async def _run_event(
        self, document: Document, run_in: Runner | None, execute: Callable[[], Outcome]
    ) -> Outcome:
        """Execute an event within a span, in a thread if the server does so."""
        run = partial(self.tracer.trace_operation, document, execute)
        outcome = run() if run_in is None else await run_in(run)
        return await outcome if isawaitable(outcome) else outcome


def copy_schema(schema: GraphQLSchema) -> GraphQLSchema:
    """Return a schema with types and fields of its own, and the same functions."""
    bare = copy.copy(schema)
    bare.extensions = {}  # other libraries keep objects there that can't be copied
    copied = copy.deepcopy(bare)
    copied.extensions = schema.extensions
    return copied


def build_traced_adapter(adapter: SchemaAdapter, provider: object) -> SchemaAdapter:
    """Return an adapter of a copy of a schema, with spans for resolvers and operations.

    Raises
    ------
    SchemaError
        If Strawberry executes the schema.
    MissingExtraError
        If OpenTelemetry's API is not installed.
    """
    tracer = OperationTracer(provider)
    if isinstance(adapter, StrawberryAdapter) and adapter.reason is not None:
        msg = (
            f"{adapter.reason}, so that its operations can't be traced here. "
            "Add Strawberry's own OpenTelemetryExtension to its extensions."
        )
        raise SchemaError(msg)
    traced: Any = copy.copy(adapter)
    for name in ("_executable", "delivers_parts"):  # cached for the original
        vars(traced).pop(name, None)
    if not isinstance(adapter, TracedAdapter):
        traced.__class__ = type("TracedAdapter", (TracedAdapter, type(adapter)), {})
    traced.tracer, traced.documents = tracer, SizedCache(MAX_DOCUMENTS)
    traced.graphql = copy_schema(adapter.graphql)
    for kind in traced.graphql.type_map.values():
        if isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__"):
            for field in kind.fields.values():
                if field.resolve is not None:
                    field.resolve = tracer.wrap_resolver(field.resolve)
    return traced  # type: ignore[no-any-return]

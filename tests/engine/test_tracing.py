"""Spans of OpenTelemetry, read by its own SDK."""

from __future__ import annotations

import asyncio
import sys

import pytest
import strawberry
from strawberry.extensions import SchemaExtension

from gqlnb import Client, MissingExtraError, Schema, SchemaError
from gqlnb.server.background_server import serve

SDL = """
type Query { hello: String slow: String bad: Int item: Item }
type Item { a: Int b: String }
type Subscription { n: Int }
"""
TEXT = "query Named { hello slow bad item { a b } }"


async def slow(*_):
    """Wait a little."""
    await asyncio.sleep(0)
    return "slow"


@pytest.fixture
def schema():
    """Return a schema with plain and async resolvers."""
    query = {"hello": lambda *_: "hi", "slow": slow, "bad": lambda *_: 1 / 0}
    query["item"] = lambda *_: {"a": 1}
    counting = {"n": lambda *_: iter((1, 2))}
    return Schema(SDL, {"Query": query, "Item": {"b": slow}, "Subscription": counting})


@pytest.fixture
def exported():
    """Return the provider of a tracer, and the exporter of its spans."""
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="OpenTelemetry is not installed.")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter


def test_each_run_has_the_same_spans(schema, exported):
    """One per operation, and below it one per call of a resolver; also of compiled runs."""
    provider, exporter = exported
    traced = schema.with_tracing(provider)
    for _ in range(4):
        exporter.clear()
        assert traced.execute(TEXT).data == schema.execute(TEXT).data
        *resolvers, operation = exporter.get_finished_spans()
        assert operation.name == "query"
        assert dict(operation.attributes) == {
            "graphql.operation.type": "query",
            "graphql.operation.name": "Named",
            "graphql.error.count": 1,
        }
        assert {span.parent.span_id for span in resolvers} == {operation.context.span_id}
        assert {span.attributes["graphql.field.path"] for span in resolvers} == {
            "hello", "slow", "bad", "item", "item.b",
        }  # fmt: skip
        [failed] = [span for span in resolvers if span.name == "graphql.resolve Query.bad"]
        assert failed.events[0].attributes["exception.type"] == "ZeroDivisionError"


def test_the_span_of_an_async_resolver_ends_when_it_was_awaited(exported):
    """Spans that it begins are below its own."""
    provider, exporter = exported
    tracer = provider.get_tracer("test")

    async def work(*_):
        await asyncio.sleep(0)
        with tracer.start_as_current_span("inner"):
            return "done"

    schema = Schema("type Query { work: String }", {"Query": {"work": work}})
    asyncio.run(schema.with_tracing(provider).aexecute("{ work }"))
    inner, resolver, operation = exporter.get_finished_spans()
    assert (inner.name, operation.name) == ("inner", "query")
    assert inner.parent.span_id == resolver.context.span_id
    assert resolver.end_time >= inner.end_time


def test_the_schema_itself_has_no_spans(schema, exported):
    """Its resolvers are the same objects as before."""
    provider, exporter = exported
    before = schema.graphql.query_type.fields["hello"].resolve
    schema.with_tracing(provider)
    assert schema.graphql.query_type.fields["hello"].resolve is before
    schema.execute(TEXT)
    assert not exporter.get_finished_spans()


def test_a_traced_schema_may_be_traced_again(schema, exported):
    """A second provider of spans, or the same one."""
    twice = schema.with_tracing(exported[0]).with_tracing(exported[0])
    assert twice.execute("{ hello }").data == schema.execute("{ hello }").data


def test_a_traced_schema_is_served(schema, exported):
    """Repeated requests, which run on the event loop, have their spans too."""
    provider, exporter = exported
    with serve(schema.with_tracing(provider), port=0) as server:
        client = Client(server.url)
        for _ in range(6):
            assert client.execute("{ hello }").data == {"hello": "hi"}
    assert [span.name for span in exporter.get_finished_spans()].count("query") == 6


@pytest.mark.parametrize("place", ["process", "server"])
def test_each_event_of_a_subscription_has_a_span(exported, place):
    """In this process and on a server, whose plain resolvers run in threads."""
    provider, exporter = exported

    async def items(*_):
        for number in (1, 0):
            yield {"item": {"a": number}}

    def divide(root, *_):
        return str(1 / root["a"])

    sdl = f"{SDL} extend type Subscription {{ item: Item }}"
    resolvers = {"Item": {"b": divide}, "Subscription": {"item": items}}
    traced = Schema(sdl, resolvers).with_tracing(provider)
    text = "subscription Watch { item { b } }"
    if place == "process":
        results = list(traced.subscribe(text))
    else:
        with serve(traced, port=0) as server, Client(server.url) as client:
            results = list(client.subscribe(text))
    assert [it.data for it in results] == [{"item": {"b": "1.0"}}, {"item": {"b": None}}]
    spans = exporter.get_finished_spans()
    events = [span for span in spans if span.name == "subscription"]
    attributes = {"graphql.operation.type": "subscription", "graphql.operation.name": "Watch"}
    assert [dict(span.attributes) for span in events] == [
        attributes,
        attributes | {"graphql.error.count": 1},
    ]
    assert [span.parent for span in events] == [None, None]
    inner = [span for span in spans if span.name == "graphql.resolve Item.b"]
    assert [span.parent.span_id for span in inner] == [it.context.span_id for it in events]


def test_a_subscription_that_is_left_ends_its_spans(exported):
    """Also in the middle of an event."""
    provider, exporter = exported
    entered = asyncio.Event()

    async def wait(*_):
        entered.set()
        await asyncio.Event().wait()

    async def items(*_):
        yield {"item": {}}

    sdl = f"{SDL} extend type Subscription {{ item: Item }}"
    resolvers = {"Item": {"b": wait}, "Subscription": {"item": items}}
    traced = Schema(sdl, resolvers).with_tracing(provider)

    async def leave():
        stream = traced.subscribe("subscription { item { b } }")
        step = asyncio.ensure_future(anext(stream))
        await entered.wait()
        step.cancel()
        await asyncio.wait([step])
        await stream.aclose()

    asyncio.run(leave())
    names = [span.name for span in exporter.get_finished_spans()]
    assert names[-2:] == ["graphql.resolve Item.b", "subscription"]


def test_strawberry_schemas_are_traced_unless_it_executes_them(exported):
    """The error names its own extension."""

    @strawberry.type
    class Query:
        @strawberry.field
        def a(self) -> int:
            return 3

    provider, exporter = exported
    assert Schema.adopt(strawberry.Schema(Query)).with_tracing(provider).execute("{ a }")["a"] == 3
    assert [span.name for span in exporter.get_finished_spans()][-1] == "query"
    extended = Schema.adopt(strawberry.Schema(Query, extensions=[SchemaExtension]))
    with pytest.raises(SchemaError, match="OpenTelemetryExtension"):
        extended.with_tracing(provider)


def test_without_opentelemetry_the_error_says_how_to_install_it(schema, monkeypatch):
    """The package to install."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    with pytest.raises(MissingExtraError, match="pip install opentelemetry-api"):
        schema.with_tracing()

"""Event streams reserved beforehand: each request of the protocol, and its broken forms."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest
import requests

from gqlnb import Access, Limits, Schema, reference_schema, serve
from gqlnb.server import streams
from gqlnb.server.app import App
from tests.asgi import ask_app

HEADER = "X-GraphQL-Event-Stream-Token"
SDL = "type Query { hello: String } type Subscription { ticks: Int }"


@pytest.fixture
def ended():
    """Return what is set when a subscription has ended."""
    return threading.Event()


@pytest.fixture
def schema(ended):
    """Return a schema with an endless subscription."""

    async def ticks(*_):
        try:
            while True:
                yield {"ticks": 1}
                await asyncio.sleep(0.01)
        finally:
            ended.set()

    resolvers = {"Query": {"hello": lambda *_: "Hello"}, "Subscription": {"ticks": ticks}}
    return Schema(SDL, resolvers)


@pytest.fixture
def server(schema):
    """Yield a server."""
    with serve(schema, port=0, limits=Limits(subscriptions=3)) as server:
        yield server


def send(server, method, token=None, **options):
    """Send a request with a token."""
    headers = {HEADER: token} if token else {}
    return requests.request(method, server.url, headers=headers, timeout=10, **options)


def start(server, token, query="subscription { ticks }", name="1"):
    """Start an operation."""
    body = {"query": query, "extensions": {"operationId": name}}
    return send(server, "POST", token, json=body)


def iterate_events(answer):
    """Return an iterator of the lines with data; requests closes the stream with it."""
    return (line for line in answer.iter_lines() if line.startswith(b"data: {"))


def test_operations_share_one_stream(server, ended):
    """Events carry the id of their operation; closing the stream ends all."""
    token = send(server, "PUT").text
    with contextlib.closing(send(server, "GET", token, stream=True)) as stream:
        assert start(server, token).status_code == 202
        assert start(server, token, "{ hello }", "2").status_code == 202
        events = iterate_events(stream)
        lines = [next(events) for _ in range(8)]
        assert b'data: {"id":"2","payload":{"data":{"hello":"Hello"}}}' in lines
        assert b'data: {"id":"1","payload":{"data":{"ticks":1}}}' in lines
        assert b'data: {"id":"2"}' in lines
    assert ended.wait(20)
    assert send(server, "GET", token).status_code == 404


def test_an_operation_is_stopped_by_its_id(server, ended):
    """The stream stays open."""
    token = send(server, "PUT").text
    with contextlib.closing(send(server, "GET", token, stream=True)) as stream:
        start(server, token)
        events = iterate_events(stream)
        next(events)
        assert send(server, "DELETE", token, params={"operationId": "1"}).status_code == 200
        assert ended.wait(20)
        assert send(server, "DELETE", token, params={"operationId": "1"}).status_code == 404
        assert start(server, token, "{ hello }").status_code == 202
        assert b"Hello" in next(line for line in events if b"ticks" not in line)


def test_refusals(server):
    """Unknown tokens, a second stream, ids in use, and bodies that are no operations."""
    assert send(server, "GET", "unknown").status_code == 404
    assert start(server, "unknown").status_code == 404
    token = send(server, "PUT").text
    assert start(server, token).status_code == 202
    assert start(server, token).status_code == 409
    for body in (b"{", b"[]", b'{"query": "{ hello }"}', b'{"query": "", "extensions": null}'):
        headers = {HEADER: token, "content-type": "application/json"}
        assert requests.post(server.url, data=body, headers=headers, timeout=9).status_code == 400
    with contextlib.closing(send(server, "GET", token, stream=True)):
        assert send(server, "GET", token).status_code == 409


def test_an_invalid_operation_is_an_event(server):
    """As in a stream of its own."""
    token = send(server, "PUT").text
    start(server, token, "{ nope }")
    with contextlib.closing(send(server, "GET", token, stream=True)) as stream:
        line = next(iterate_events(stream))
    assert b"Cannot query field" in line


def test_streams_and_operations_are_bounded(server):
    """By the limit of subscriptions."""
    tokens = [send(server, "PUT").text for _ in range(3)]
    assert send(server, "PUT").status_code == 503
    assert [start(server, tokens[0], name=f"{n}").status_code for n in range(4)] == [202] * 3 + [
        503
    ]


def test_a_reserved_stream_that_is_not_opened_expires(server, monkeypatch, ended):
    """With its operations."""
    monkeypatch.setattr(streams, "OPEN_SECONDS", 0.2)
    token = send(server, "PUT").text
    start(server, token)
    assert ended.wait(20)
    assert send(server, "GET", token).status_code == 404


def test_every_request_is_checked_as_any_other(schema):
    """The token of the server is required, and pages of other origins are refused."""
    with serve(schema, port=0, token="env:PATH") as server:
        assert send(server, "PUT").status_code == 401
    with serve(schema, port=0) as server:
        foreign = {"Origin": "http://evil.example"}
        assert requests.put(server.url, headers=foreign, timeout=9).status_code == 403


def test_a_schema_without_subscriptions_has_no_such_requests():
    """PUT is not allowed there."""
    with serve(reference_schema(), port=0) as server:
        assert send(server, "PUT").status_code == 405
        assert send(server, "GET", "x").status_code == 405


def test_a_preflight_allows_the_methods(schema):
    """Of an origin that has access."""
    origin = "http://localhost:5173"
    headers = {"Origin": origin, "Access-Control-Request-Method": "PUT"}
    with serve(schema, port=0, access=Access(origins=[origin])) as server:
        answer = requests.options(server.url, headers=headers, timeout=9)
        assert "PUT" in answer.headers["access-control-allow-methods"]
        reserved = requests.put(server.url, headers={"Origin": origin}, timeout=9)
        assert reserved.headers["access-control-allow-origin"] == origin


@pytest.mark.parametrize("parts", [1, 5])
@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_a_body_over_the_limit_is_no_part_of_a_stream(schema, method, parts):
    """Whether the host of the application sends it in pieces or whole."""
    app = App(schema, limits=Limits(body=2000))
    headers = {"host": "localhost", "content-type": "application/json"}
    head = headers if method == "PUT" else headers | {"x-graphql-event-stream-token": "0" * 32}
    body = b'{"query": "{ __typename }%b"}' % (b" " * 3000)
    answer = ask_app(app, method, "/graphql?operationId=a", head, body, parts=parts)
    assert answer.status == 400
    assert "The body is too large" in answer.json["errors"][0]["message"]

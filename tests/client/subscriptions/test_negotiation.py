"""Which way a subscription takes, what refuses it, and until when it waits."""

from __future__ import annotations

import json
import threading

import pytest

from gqlnb import (
    AuthError,
    Client,
    OptionError,
    QueryError,
    RateLimited,
    TargetError,
    TransportError,
)
from tests.client.faults import Close, Endpoint, answer, json_answer, stalled
from tests.client.subscriptions.tickers import (
    BOTH,
    EVENTS,
    PATIENCE,
    SUBSCRIPTION,
    until_it_breaks,
)


def test_the_way_is_found_once(url, monkeypatch):
    """A WebSocket if there is one."""
    client = Client(url)
    next(client.subscribe(SUBSCRIPTION))
    assert client._endpoint.transport.stream_kind == "ws"


STREAM = b'event: next\ndata: {"data": {"ticks": 1}}\n\nevent: complete\ndata:\n\n'


@pytest.mark.parametrize(
    "refusal",
    [
        answer("no", "404 Not Found"),
        answer("no", "405 Method Not Allowed"),
        answer("no", "400 Bad Request"),
        answer("<html>", "200 OK"),
        Close(b"SSH-2.0-x\r\n"),
        answer("", "302 Found", Location="http://127.0.0.1:1/"),
    ],
    ids=["404", "405", "400", "page", "no http", "redirect"],
)
def test_events_are_taken_where_there_is_no_websocket(refusal):
    """Whatever the endpoint says to the handshake."""
    with Endpoint(Close(refusal if isinstance(refusal, bytes) else refusal.data)) as endpoint:
        endpoint.answers = [Close(getattr(refusal, "data", refusal)), answer(STREAM, **EVENTS)]
        client = Client(endpoint.url)
        assert [result["ticks"] for result in client.subscribe(SUBSCRIPTION)] == [1]
        assert [result["ticks"] for result in client.subscribe(SUBSCRIPTION)] == [1]
        assert endpoint.requests[0].startswith(b"GET /graphql")
        assert [r.split(b" ")[0] for r in endpoint.requests[1:]] == [b"POST", b"POST"]


def test_where_there_is_neither_it_is_said():
    """With what the endpoint answered."""
    with Endpoint(answer("Not here", "404 Not Found", Content_Type="text/plain")) as endpoint:
        client = Client(endpoint.url)
        with pytest.raises(TransportError, match=r"404.*Not here.*neither a WebSocket"):
            list(client.subscribe(SUBSCRIPTION))
        with pytest.raises(TransportError, match=r"the endpoint offers no WebSocket \(HTTP 404\)"):
            list(client.subscribe(SUBSCRIPTION, transport="ws"))


@pytest.mark.parametrize("way", [None, "ws", "sse"])
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (json_answer({"message": "Bad credentials"}, "401 Unauthorized"), AuthError),
        (json_answer({"message": "Slow down"}, "429 Too Many", Retry_After=7), RateLimited),
        (json_answer({"errors": [{"message": "no"}]}, "503 Busy"), TransportError),
    ],
    ids=["401", "429", "503"],
)
def test_a_refusal_is_the_error_it_is_elsewhere(way, said, kind):
    """To a handshake as to a request."""
    with Endpoint(said) as endpoint, pytest.raises(kind) as caught:
        list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport=way, reconnect=0))
    assert type(caught.value) is kind


def test_an_error_of_the_request_is_the_error_it_is_elsewhere():
    """An endpoint may answer with JSON instead of events."""
    errors = {"errors": [{"message": "Cannot subscribe", "locations": [{"line": 1, "column": 3}]}]}
    with (
        Endpoint(json_answer(errors, "400 Bad Request")) as endpoint,
        pytest.raises(QueryError, match="Cannot subscribe"),
    ):
        list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport="sse"))


@pytest.mark.parametrize(
    ("said", "status", "kind"),
    [
        ({"errors": [{"message": "'n' got 'x'"}]}, "400 Bad Request", QueryError),
        ({"data": None, "errors": [{"message": "'n' got 'x'"}]}, "400 Bad Request", QueryError),
        ({"errors": [{"message": "'n' got 'x'"}]}, "401 Unauthorized", AuthError),
        ({"errors": [{"message": "'n' got 'x'"}]}, "500 Error", TransportError),
    ],
)
def test_a_refusal_that_is_written_as_an_event_is_read(said, status, kind):
    """GraphQL Yoga answers a wrong variable so."""
    stream = f"event: next\ndata: {json.dumps(said)}\n\nevent: complete\ndata:\n\n"
    with (
        Endpoint(answer(stream, status, **EVENTS)) as endpoint,
        pytest.raises(kind, match="'n' got 'x'") as caught,
    ):
        list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport="sse", reconnect=0))
    assert type(caught.value) is kind


def test_an_address_may_be_that_of_a_websocket(ticker, url):
    """`ws://` says the same host and port."""
    client = Client(url.replace("http:", "ws:"))
    assert client.source == url
    assert next(client.subscribe(SUBSCRIPTION))["ticks"] == 1
    assert client.execute("{ hello }")["hello"] == "Hello world!"


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"transport": "smoke"}, OptionError, "transport= takes 'ws', 'sse' or None"),
        ({"reconnect": -1}, OptionError, "reconnect= takes a number of attempts"),
        ({"reconnect": True}, OptionError, "reconnect= takes a number of attempts"),
        ({"init": "Bearer x"}, OptionError, "init= takes True or a mapping"),
        ({"init": {"a": "env:NOT_THERE"}}, AuthError, "NOT_THERE is not set"),
    ],
)
def test_an_option_that_cannot_be_is_refused_at_once(options, kind, words):
    """Before anything is sent."""
    client = Client("http://127.0.0.1:1/graphql")
    with pytest.raises(kind, match=words):
        client.subscribe(SUBSCRIPTION, **options)


def test_a_transport_of_ones_own_carries_no_subscriptions():
    """It is said, not tried."""

    class Own:
        source = "own"

        def send(self, request): ...

        async def asend(self, request): ...

        def close(self): ...

    with pytest.raises(TargetError, match="carries single answers"):
        Client(Own()).subscribe(SUBSCRIPTION)


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("ws", stalled(b"")),
        ("ws", stalled(b"HTTP/1.1 101 Switching")),
        ("sse", stalled(b"")),
        ("sse", stalled(b"HTTP/1.1 200 OK\r\n")),
    ],
    ids=["ws silent", "ws half", "sse silent", "sse half"],
)
def test_the_deadline_is_for_being_let_in(way, said):
    """An endpoint that never answers."""
    with Endpoint(said) as endpoint, pytest.raises(TransportError, match=r"within|in time"):
        list(Client(endpoint.url, timeout=0.1).subscribe(SUBSCRIPTION, transport=way))


@BOTH
def test_the_deadline_is_not_for_the_stream(ticker, relay, way):
    """Events may come long after it: it is over before the third one is asked for."""
    stream = Client(relay.url, timeout=0.3).subscribe(SUBSCRIPTION, transport=way, reconnect=0)
    next(stream), next(stream)
    waiting = threading.Thread(target=until_it_breaks, args=(stream,))
    waiting.start()
    waiting.join(0.5)  # nothing happens: that is what is tested
    assert waiting.is_alive()
    assert ticker.open == 1
    relay.cut()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()

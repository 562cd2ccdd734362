"""Protocol negotiation of subscriptions: the choice, refusals and deadlines."""

from __future__ import annotations

import json
import threading

import pytest

from gqlnb import (
    AuthError,
    Client,
    Limits,
    OptionError,
    QueryError,
    RateLimited,
    TargetError,
    TransportError,
)
from tests.client.faults import Close, Endpoint, Wire, answer, chunked, json_answer, stalled
from tests.client.subscriptions.tickers import EACH, EVENTS, PATIENCE, SUBSCRIPTION, until_it_breaks

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
def test_server_sent_events_are_used_without_websocket_support(refusal):
    """Whatever status the endpoint returns for the handshake."""
    with Endpoint(Close(refusal if isinstance(refusal, bytes) else refusal.data)) as endpoint:
        endpoint.answers = [Close(getattr(refusal, "data", refusal)), answer(STREAM, **EVENTS)]
        client = Client(endpoint.url)
        assert [result["ticks"] for result in client.subscribe(SUBSCRIPTION)] == [1]
        assert [result["ticks"] for result in client.subscribe(SUBSCRIPTION)] == [1]
        assert endpoint.requests[0].startswith(b"GET /graphql")
        assert [r.split(b" ")[0] for r in endpoint.requests[1:]] == [b"POST", b"POST"]


def test_an_endpoint_that_supports_neither_protocol_is_an_error():
    """With the endpoint's answer."""
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
def test_a_refused_handshake_is_the_same_error_as_a_refused_request(way, said, kind):
    """The class is that of a refused query."""
    with Endpoint(said) as endpoint, pytest.raises(kind) as caught:
        list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport=way, reconnect=0))
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("said", "status", "kind"),
    [
        ({"errors": [{"message": "'n' got 'x'"}]}, "400 Bad Request", QueryError),
        ({"data": None, "errors": [{"message": "'n' got 'x'"}]}, "400 Bad Request", QueryError),
        ({"errors": [{"message": "'n' got 'x'"}]}, "401 Unauthorized", AuthError),
        ({"errors": [{"message": "'n' got 'x'"}]}, "500 Error", TransportError),
    ],
)
def test_a_refusal_sent_as_an_event_is_an_error(said, status, kind):
    """GraphQL Yoga answers an invalid variable in this form."""
    stream = f"event: next\ndata: {json.dumps(said)}\n\nevent: complete\ndata:\n\n"
    with (
        Endpoint(answer(stream, status, **EVENTS)) as endpoint,
        pytest.raises(kind, match="'n' got 'x'") as caught,
    ):
        list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport="sse", reconnect=0))
    assert type(caught.value) is kind


def test_errors_in_a_single_answer_are_a_query_error():
    """Phoenix, of Strawberry, refuses documents in this form."""
    errors = [{"message": "no field 'ticks'", "locations": [{"line": 1, "column": 16}]}]
    with Endpoint(json_answer({"data": None, "errors": errors})) as endpoint:
        client = Client(endpoint.url)
        with pytest.raises(QueryError, match="no field 'ticks'\n  line 1, column 16"):
            list(client.subscribe(SUBSCRIPTION, transport="sse"))


def test_a_websocket_address_is_accepted(ticker, url):
    """`ws://` means the same host and port."""
    client = Client(url.replace("http:", "ws:"))
    assert client.source == url
    assert next(client.subscribe(SUBSCRIPTION))["ticks"] == 1
    assert client.execute("{ hello }")["hello"] == "Hello world!"


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"transport": "smoke"}, OptionError, "transport= takes 'ws', 'sse', 'multipart' or None"),
        ({"reconnect": -1}, OptionError, "reconnect= takes a whole number from 0 up"),
        ({"reconnect": True}, OptionError, "reconnect= takes a whole number from 0 up"),
        ({"init": "Bearer x"}, OptionError, "init= takes True or a mapping"),
        ({"init": {"a": "env:NOT_THERE"}}, AuthError, "NOT_THERE is not set"),
    ],
)
def test_an_invalid_option_is_refused(options, kind, words):
    """Before anything is sent."""
    client = Client("http://127.0.0.1:1/graphql")
    with pytest.raises(kind, match=words):
        client.subscribe(SUBSCRIPTION, **options)


def test_a_custom_transport_refuses_subscriptions():
    """The error is raised without sending a request."""
    wire = Wire("{}")
    with pytest.raises(TargetError, match="carries single answers"):
        Client(wire).subscribe(SUBSCRIPTION)
    assert not wire.requests


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
def test_the_deadline_applies_to_the_handshake(way, said):
    """The endpoint never answers."""
    with Endpoint(said) as endpoint, pytest.raises(TransportError, match=r"within|in time"):
        list(Client(endpoint.url, timeout=0.1).subscribe(SUBSCRIPTION, transport=way))


@EACH
def test_the_deadline_does_not_apply_to_the_stream(ticker, relay, way):
    """It has passed before the third event is requested."""
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


EVENT = 'event: next\ndata: {"data": {"ticks": 1}}\n\n'
COMPLETE_STREAMS = {
    "without data": EVENT + "event: complete\n\n",  # gqlgen, Hot Chocolate, Hive Router
    "without a space": EVENT.replace(": ", ":", 2) + "event:complete\n\n",  # Spring
    "with data": EVENT + "event: complete\ndata: {}\n\n",
    "with an id": "retry: 9\n\nid: 1\n" + EVENT + ": ping\n\nid: 2\nevent: complete\n\n",
    "with returns alone": EVENT.replace("\n", "\r") + "event: complete\r\r",
    "without an empty line": EVENT + "event: complete\n",
    "without a line end": EVENT + "event: complete",
    "with events of other names": "event: ping\n\n" + EVENT + "event: ka\n\nevent: complete\n\n",
    "with data first": 'data: {"data": {"ticks": 1}}\nevent: next\n\nevent: complete\n\n',
    "without names": EVENT.partition("\n")[2],
    "without names, and complete": EVENT.partition("\n")[2] + "event: complete\n\n",
}


@pytest.mark.parametrize("stream", COMPLETE_STREAMS.values(), ids=COMPLETE_STREAMS)
@pytest.mark.parametrize("size", [1, 10**6])
def test_a_complete_stream_is_requested_once(stream, size):
    """In each form that servers send: nothing repeats."""
    chunks = [stream.encode()[at : at + size] for at in range(0, len(stream), size)]
    with Endpoint(chunked(*chunks, **EVENTS)) as endpoint:
        results = list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport="sse", reconnect=0))
        assert [result.data for result in results] == [{"ticks": 1}]
        assert len(endpoint.requests) == 1


def test_a_refusal_ends_a_stream():
    """Hot Chocolate sends no other end after it."""
    refusal = 'event: next\ndata: {"errors": [{"message": "no"}]}\n\n'
    with Endpoint(answer(refusal, **EVENTS)) as endpoint, pytest.raises(QueryError, match="no"):
        list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport="sse", reconnect=0))


PARTS = {"Content_Type": 'multipart/mixed; boundary="graphql"; subscriptionSpec=1.0'}
PART, END = "\r\ncontent-type: application/json\r\n\r\n%s\r\n--graphql", "--\r\n"
BEGIN, ALIVE = "\r\n--graphql", PART % "{}"
FIRST = PART % '{"payload":{"data":{"ticks":1}}}'
LAST = PART % '{"payload":null,"errors":[{"message":"over"}]}'
LATE = PART % '{"payload":{"data":{"ticks":1}},"errors":[{"message":"over"}]}'


@pytest.mark.parametrize(
    ("stream", "errors"),
    [
        (BEGIN + ALIVE + FIRST + ALIVE + END, None),
        (BEGIN + FIRST + PART % '{"payload":null}', None),
        (BEGIN + FIRST + PART % ' { "payload" : null , "errors": [] } ' + END, None),
        (BEGIN + FIRST + PART.replace(" ", "") % "{\n}" + END, None),
        (BEGIN + PART % '{"data":{"ticks":1}}' + END, None),
        (BEGIN + LATE + END, ["over"]),
        (BEGIN + FIRST.replace("}}}", '}, "errors": [{"message":"a"}]}}') + END, ["a"]),
        ("a preamble\r\n--graphql" + (FIRST + END).replace("\r", "") + "an epilogue", None),
    ],
)
@pytest.mark.parametrize("size", [1, 10**6])
def test_events_in_multipart_are_results(stream, errors, size):
    """Signs of life are none; the end is that of Apollo Router or of the multipart body."""
    chunks = [stream.encode()[at : at + size] for at in range(0, len(stream), size)]
    with Endpoint(chunked(*chunks, **PARTS)) as endpoint:
        stream = Client(endpoint.url).subscribe(SUBSCRIPTION, transport="multipart", reconnect=0)
        [result] = stream
        assert result.data == {"ticks": 1}
        assert [error["message"] for error in result.errors] == (errors or [])
        accept = b"multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json"
        assert b"Accept: " + accept in endpoint.requests[0]


def test_a_multipart_stream_ends_with_its_reason():
    """Nothing is requested again."""
    with Endpoint(answer(BEGIN + FIRST + LAST, **PARTS)) as endpoint:
        stream = Client(endpoint.url).subscribe(SUBSCRIPTION, transport="multipart", reconnect=0)
        assert next(stream)["ticks"] == 1
        with pytest.raises(QueryError, match="over"):
            next(stream)


def test_multipart_is_read_wherever_it_comes():
    """The limit is one of each event."""
    event = PART % '{"payload":{"data":{"ticks":1}, "extensions":{"n":1}}}'
    with Endpoint(chunked((BEGIN + 50 * event + END).encode(), **PARTS)) as endpoint:
        client = Client(endpoint.url, limits=Limits(answer=300))
        results = list(client.subscribe(SUBSCRIPTION, transport="sse", reconnect=0))
        assert [result["ticks"] for result in results] == [1] * 50
        for end in (END, ""):  # whole, and not yet
            large = BEGIN + PART % ('{"payload":{"data":"' + "x" * 300) + end
            endpoint.answers = [chunked(large.encode(), **PARTS)]
            with pytest.raises(TransportError, match="larger than 300"):
                list(client.subscribe(SUBSCRIPTION, transport="sse", reconnect=0))


def test_an_endpoint_with_multipart_alone_is_asked_for_it():
    """It refuses server-sent events with 406, as Apollo Router does; the choice is remembered."""
    refusal = json_answer({"errors": [{"message": "'accept' header"}]}, "406 Not Acceptable")
    stream = answer(BEGIN + FIRST + END, **PARTS)
    with Endpoint(answer("no", "404 Not Found"), refusal, stream) as endpoint:
        client = Client(endpoint.url)
        for _ in range(2):
            assert [result["ticks"] for result in client.subscribe(SUBSCRIPTION)] == [1]
        accepts = [request.partition(b"Accept: ")[2][:9] for request in endpoint.requests[1:]]
        assert accepts == [b"text/even", b"multipart", b"multipart"]


@pytest.mark.parametrize(
    "stream",
    ["", EVENT, EVENT + EVENT[:-1], EVENT + "event: comp", EVENT.partition("\n")[2][:-1]],
    ids=["nothing", "no end", "a cut event", "a cut end", "an unnamed cut event"],
)
def test_a_stream_without_its_end_is_cut(stream):
    """It is not taken for complete."""
    with Endpoint(chunked(*filter(None, [stream.encode()]), **EVENTS)) as endpoint:
        events = Client(endpoint.url).subscribe(SUBSCRIPTION, transport="sse", reconnect=0)
        with pytest.raises(TransportError, match="ended before it was complete"):
            list(events)

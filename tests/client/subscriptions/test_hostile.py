"""Endpoints that send invalid messages, too much data, or streams without an end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gqlnb import AnswerError, AuthError, Client, GqlnbError, Limits, QueryError, TransportError
from tests.client.faults import Close, Endpoint, answer, chunked, endless
from tests.client.subscriptions.speaking import NEXT, greeted, speaking
from tests.client.subscriptions.tickers import EACH, EVENTS, HEAD, PATIENCE, SUBSCRIPTION


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ('{"type":5}', "not a JSON object"),
        ('{"id":"1"}', "not a JSON object"),
        ('{"type":"next","id":1,"payload":{}}', "not a JSON object"),
        ('{"type":"data","id":"1","payload":{}}', "its type 'data'"),
        ('{"type":"connection_ack"}', "its type 'connection_ack'"),
        ('{"type":"next","payload":{"data":{}}}', "its id None"),
        ('{"type":"next","id":"2","payload":{"data":{}}}', "its id '2'"),
        ('{"type":"next","id":"1"}', "without a payload"),
        ('{"type":"error","id":"1"}', "without a payload"),
        ('{"type":"complete","id":"2"}', "its id '2'"),
        ('{"type":"' + "x" * 500 + '"}', "its type 'xxx"),
        ('{"type":"next","id":' + "[" * 5000 + "}", "not a JSON object"),
        (b'{"type":"next"}', "it is binary"),
        (b"\xff", "it is binary"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_invalid_message_is_an_error_after_the_results(bad, why):
    """The error describes the problem briefly, and the subscription ends."""
    with speaking(greeted(NEXT, bad)) as url:
        stream = Client(url).subscribe(SUBSCRIPTION, transport="ws")
        assert next(stream)["ticks"] == 1
        with pytest.raises(AnswerError, match=why) as caught:
            next(stream)
        assert len(str(caught.value)) < 400
        assert stream.reconnects == 0


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ("5", AnswerError),
        ("null", AnswerError),
        ("{}", AnswerError),
        ('{"data":5}', AnswerError),
        ('{"data":null}', AnswerError),
        ('{"errors":[{"message":"no"}]}', QueryError),
        ('{"errors":[{"message":"no","extensions":{"code":"UNAUTHENTICATED"}}]}', AuthError),
        ('{"data":{"ticks":NaN}}', AnswerError),
        ('{"data":{"ticks":"\ud83d"}}'.encode("utf-8", "surrogatepass"), AnswerError),
    ],
)
@EACH
def test_an_invalid_result_is_the_same_error_as_for_a_query(way, payload, kind):
    """Over each transport."""
    text = payload if isinstance(payload, bytes) else payload.encode()
    streams = {
        "sse": answer(b"event: next\ndata: %b\n\nevent: complete\ndata:\n\n" % text, **EVENTS),
        # `"payload": null` is the end there, and `{}` a sign of life.
        "multipart": answer(
            b'--x\r\n\r\n{"payload":%b}\r\n--x--' % text.replace(b"null", b"0"),
            Content_Type="multipart/mixed;boundary=x;subscriptionSpec=1.0",
        ),
    }
    if way in streams:
        with Endpoint(streams[way]) as endpoint, pytest.raises(kind):
            list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport=way))
        return
    message = b'{"id":"1","type":"next","payload":' + text + b"}"

    def talk(link: Any) -> None:
        link.recv()
        link.send('{"type":"connection_ack"}')
        link.recv()
        link.send(message, text=True)
        link.recv(timeout=PATIENCE)

    with speaking(talk) as url, pytest.raises(kind):
        list(Client(url).subscribe(SUBSCRIPTION, transport=way))


@pytest.mark.parametrize("payload", ["5", "null", "{}", '"x"', "[5]", "[]"])
def test_a_malformed_error_message_is_an_error(payload):
    """Its payload should be a list of errors."""
    said = '{"id":"1","type":"error","payload":' + payload + "}"
    with speaking(greeted(said)) as url, pytest.raises(AnswerError):
        list(Client(url).subscribe(SUBSCRIPTION, transport="ws"))


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (4400, TransportError, "did not understand a message"),
        (4401, AuthError, "requires authentication"),
        (4403, AuthError, "refused the connection"),
        (4406, TransportError, "does not speak graphql-transport-ws"),
        (4408, TransportError, "received no connection_init"),
        (4409, TransportError, "already running"),
        (4429, TransportError, "a second connection_init"),
        (4500, TransportError, "the endpoint failed"),
        (4450, TransportError, "a reason of its own"),
        (1000, TransportError, "ended before the subscription was complete"),
        (1011, TransportError, "ended before the subscription was complete"),
    ],
)
def test_a_close_code_is_explained_in_the_error(code, kind, words):
    """With the endpoint's reason and the number."""

    def talk(link: Any) -> None:
        link.recv()
        link.close(code, "because of \x1b[31m me")

    with speaking(talk) as url, pytest.raises(kind, match=words) as caught:
        list(Client(url).subscribe(SUBSCRIPTION, transport="ws", reconnect=0))
    assert f"because of [31m me), close code {code}." in str(caught.value)
    assert type(caught.value) is kind


@EACH
def test_an_event_beyond_the_limit_is_an_error(ticker, url, way):
    """The limit applies to each event separately."""
    text = "subscription { flood(size: 20000) { number text } }"
    stream = Client(url, limits=Limits(answer=30_000)).subscribe(text, transport=way)
    assert [next(stream)["flood"]["number"] for _ in range(10)] == list(range(1, 11))
    text = "subscription { flood(size: 40000) { number text } }"
    with pytest.raises(GqlnbError, match=r"is larger than.*limits=gqlnb\.Limits\(answer="):
        list(Client(url, limits=Limits(answer=30_000)).subscribe(text, transport=way))
    stream.close()


@pytest.mark.parametrize(
    "said",
    [
        endless(HEAD, b"data: x\n" * 1000),
        endless(HEAD, b"x" * 8000),
        endless(HEAD + b"data: ", b"x" * 8000),
        Close(HEAD + b"event: next\n"),
        Close(HEAD[:40]),
        chunked(b"event: next\n", end=b"-1\r\n", **EVENTS),
        chunked(b"event: next\n", end=b"zz\r\n", **EVENTS),
        answer(b"\x1f\x8b", Content_Encoding="gzip", **EVENTS),
    ],
    ids=["lines", "line", "data", "cut", "head", "length", "chunk", "packed"],
)
def test_an_invalid_event_stream_is_an_error(said):
    """Without an end, cut off, or compressed."""
    with Endpoint(said) as endpoint:
        client = Client(endpoint.url, limits=Limits(answer=100_000))
        with pytest.raises(GqlnbError):
            list(client.subscribe(SUBSCRIPTION, transport="sse", reconnect=0))


def test_invalid_websocket_frames_are_an_error():
    """After a valid handshake."""

    def talk(link: Any) -> None:
        link.recv()
        link.socket.sendall(b"\x8f\x01x")

    with speaking(talk) as url, pytest.raises(AnswerError, match="invalid WebSocket frames"):
        list(Client(url).subscribe(SUBSCRIPTION, transport="ws"))


def test_pings_are_answered():
    """Pings of the protocol, before and after the acknowledgement."""
    heard = []

    def talk(link: Any) -> None:
        link.send('{"type":"ping","payload":{"a":1}}')
        heard.extend([link.recv(), link.recv()])
        link.send('{"type":"connection_ack","payload":{}}')
        heard.append(link.recv())
        link.send('{"type":"ping"}')
        heard.append(link.recv())
        link.send('{"type":"pong"}')
        link.send(NEXT)
        link.send('{"type":"complete","id":"1"}')

    with speaking(talk) as url:
        assert len(list(Client(url).subscribe(SUBSCRIPTION, transport="ws"))) == 1
    kinds = [json.loads(message)["type"] for message in heard]
    assert sorted(kinds) == ["connection_init", "pong", "pong", "subscribe"]


def test_a_handshake_without_a_subprotocol_is_an_error():
    """The server may use a different one."""
    words = "do not speak graphql-transport-ws"
    with (
        speaking(greeted(NEXT), subprotocols=None) as url,
        pytest.raises(TransportError, match=words),
    ):
        list(Client(url).subscribe(SUBSCRIPTION, transport="ws"))

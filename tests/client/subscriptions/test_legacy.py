"""The older WebSocket subprotocol: real servers that support only it, and hostile ones."""

from __future__ import annotations

import json
import queue
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import AnswerError, AuthError, Client, QueryError, Token, TransportError
from tests.client.subscriptions.speaking import speaking
from tests.client.test_foreign_subscriptions import transport_ws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 20.0  # seconds until a test gives up
COUNT = "subscription ($to: Int!) { count(to: $to) }"
QUIET = "subscription { quiet }"
SECRET = "canary-7d31"


def test_field_errors_are_partial_results():
    """An event whose field failed has data and errors."""
    with transport_ws() as server:
        stream = Client(server.url).subscribe("subscription { breaks }")
        assert next(stream)["breaks"] == 0
        result = next(stream)
        assert result.errors[0]["message"] == "It broke."


def test_a_token_in_the_init_message_is_accepted():
    """Without it, the error has the server's message and the remedy."""
    with transport_ws(token=SECRET) as server:
        client = Client(server.url, token=Token(SECRET))
        init = {"Authorization": Token(SECRET), "who": "Ann"}
        (result,) = client.subscribe("subscription { who }", init=init)
        assert result["who"] == "Ann"
        assert len(list(client.subscribe(COUNT, {"to": 2}, init=True))) == 2
        with pytest.raises(AuthError, match=r"Missing auth token!.*init=True") as caught:
            list(client.subscribe(COUNT, {"to": 2}))
        assert SECRET not in str(caught.value)


# -- servers that say what a test tells them to


def test_both_subprotocols_are_offered_and_the_server_chooses():
    """The newer one is offered first."""
    offered = []

    def talk(link: Any) -> None:
        offered.append(link.request.headers["Sec-WebSocket-Protocol"])
        assert link.subprotocol == "graphql-transport-ws"
        link.recv()
        link.send('{"type":"connection_ack"}')
        link.recv()
        link.send('{"type":"complete","id":"1"}')

    with speaking(talk, subprotocols=["graphql-transport-ws", "graphql-ws"]) as url:
        assert list(Client(url).subscribe(QUIET, transport="ws")) == []
    assert [name.strip() for name in offered[0].split(",")] == [
        "graphql-transport-ws",
        "graphql-ws",
    ]


def legacy(*messages: str, heard: queue.Queue[Any] | None = None) -> Callable[[Any], None]:
    """Return a talk that lets a client in, and then sends messages."""

    def talk(link: Any) -> None:
        said = queue.Queue() if heard is None else heard
        said.put(json.loads(link.recv()))
        link.send('{"type":"ka"}')
        link.send('{"type":"connection_ack","payload":null}')
        said.put(json.loads(link.recv()))
        for message in messages:
            link.send(message)
        for text in link:
            said.put(json.loads(text))

    return talk


DATA = '{"type":"data","id":"1","payload":{"data":{"quiet":7}}}'


def test_the_client_sends_the_messages_of_the_protocol():
    """It initializes, starts, stops and terminates."""
    heard: queue.Queue[Any] = queue.Queue()
    with (
        speaking(legacy(DATA, heard=heard), subprotocols=["graphql-ws"]) as url,
        Client(url).subscribe(QUIET, transport="ws") as stream,
    ):
        assert next(stream)["quiet"] == 7
    messages = [heard.get(timeout=PATIENCE) for _ in range(4)]
    assert [message["type"] for message in messages] == [
        "connection_init",
        "start",
        "stop",
        "connection_terminate",
    ]
    assert messages[0] == {"type": "connection_init", "payload": {}}
    assert messages[1] == {"id": "1", "type": "start", "payload": {"query": QUIET}}


@pytest.mark.parametrize(
    ("message", "kind", "words"),
    [
        ('{"type":"error","id":"1","payload":{"message":"no such field"}}', QueryError, "no such"),
        ('{"type":"error","id":"1","payload":[{"message":"no"}]}', QueryError, "no"),
        ('{"type":"error","id":"1","payload":{"errors":[{"message":"x"}]}}', QueryError, "x"),
        ('{"type":"error","id":"1","payload":{"error":"hasura"}}', QueryError, "hasura"),
        ('{"type":"error","id":"1","payload":[{"message":"a"},{"message":"b"}]}', QueryError, "b"),
        ('{"type":"error","id":"1","payload":"words"}', QueryError, "words"),
        ('{"type":"error","id":"1","payload":[]}', QueryError, "no reason given"),
        ('{"type":"error","id":"1","payload":[5]}', QueryError, "no reason given"),
        ('{"type":"error","id":"1","payload":null}', QueryError, "no reason given"),
        ('{"type":"connection_error","payload":{"message":"go"}}', AuthError, "connection: go. P"),
        ('{"type":"connection_error"}', AuthError, "no reason given"),
        ('{"type":"next","id":"1","payload":{}}', AnswerError, "message of graphql-ws: its type"),
        ('{"type":"data","id":"2","payload":{}}', AnswerError, "its id '2'"),
        ('{"type":"data","id":"1"}', AnswerError, "without a payload"),
        ('{"type":"connection_ack"}', AnswerError, "its type 'connection_ack'"),
        ("{", AnswerError, "not JSON"),
        ("5", AnswerError, "not a JSON object"),
        (b"{}", AnswerError, "it is binary"),
    ],
)
def test_every_form_of_failure_is_one_error(message, kind, words):
    """Servers report the end of a subscription in several forms."""
    spoken = speaking(legacy(message), subprotocols=["graphql-ws"])
    with spoken as url, pytest.raises(kind, match=words):
        list(Client(url).subscribe(QUIET, transport="ws", reconnect=0))


@contextmanager
def choosy(talk: Callable[[Any], None], refusing: str, times: int = 99) -> Iterator[Any]:
    """Yield the address of a server, and the handshakes it got.

    It leaves those unanswered, at most `times`, that offer the subprotocol `refusing`.
    """
    offers: list[list[str]] = []
    held = threading.Event()

    def hold(_connection: Any, request: Any) -> None:
        offered = [name.strip() for name in request.headers["Sec-WebSocket-Protocol"].split(",")]
        offers.append(offered)
        if refusing in offered and len(offers) <= times:
            held.wait(PATIENCE)

    options = {"subprotocols": ["graphql-transport-ws", "graphql-ws"], "process_request": hold}
    with speaking(talk, **options) as url:
        try:
            yield url, offers
        finally:
            held.set()


ALONE, TOGETHER = ["graphql-ws"], ["graphql-transport-ws", "graphql-ws"]


@pytest.mark.parametrize("way", [None, "ws"])
def test_the_older_subprotocol_is_offered_alone_after_a_timeout(way):
    """PostGraphile 4 ignores handshakes with unknown subprotocols; the choice is remembered."""
    done = '{"type":"complete","id":"1"}'
    with choosy(legacy(DATA, done), "graphql-transport-ws") as (url, offers):
        client = Client(url, timeout=3)
        for _ in range(2):
            stream = client.subscribe(QUIET, transport=way, reconnect=0)
            assert [result["quiet"] for result in stream] == [7]
    assert offers == [TOGETHER, ALONE, ALONE]


def test_a_slow_server_is_offered_both_subprotocols_again():
    """It supports only the newer one, and its first answer was late."""

    def talk(link: Any) -> None:
        link.recv()
        link.send('{"type":"connection_ack"}')
        link.recv()
        link.send('{"type":"complete","id":"1"}')

    with choosy(talk, "graphql-ws", times=2) as (url, offers):
        client = Client(url, timeout=1.5)
        assert list(client.subscribe(QUIET, transport="ws", reconnect=0)) == []
    assert offers == [TOGETHER, ALONE, TOGETHER]


@pytest.mark.parametrize("way", [None, "ws"])
def test_an_unanswered_handshake_is_one_error(way):
    """It states the client's timeout, and is raised within it."""
    begun = time.monotonic()
    with (
        choosy(legacy(), "graphql-ws") as (url, offers),
        pytest.raises(TransportError, match=r"no WebSocket was open within 0\.6 s") as caught,
    ):
        list(Client(url, timeout=0.6).subscribe(QUIET, transport=way, reconnect=0))
    assert type(caught.value) is TransportError
    assert 0.5 < time.monotonic() - begun < PATIENCE
    assert offers == [TOGETHER, ALONE, TOGETHER]


def test_a_server_that_supports_neither_subprotocol_is_an_error():
    """It accepts each subprotocol and closes the connection."""

    def talk(link: Any) -> None:
        link.recv()
        link.close(1002)

    spoken = speaking(talk, subprotocols=["graphql-transport-ws", "graphql-ws"])
    with spoken as url, pytest.raises(TransportError, match="close code 1002"):
        list(Client(url).subscribe(QUIET, transport="ws", reconnect=0))

"""GraphQL over WebSocket from a real server, with a real client."""

from __future__ import annotations

import json

import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from gqlnb.auth import Token
from gqlnb.document.limits import Limits
from gqlnb.engine.schema import reference_schema
from gqlnb.http.server_rules import Access
from gqlnb.server.app import App
from gqlnb.server.background_server import serve
from tests.server.stream_helpers import PATIENCE, SECRET, streaming_schema

SUBPROTOCOL = "graphql-transport-ws"
ACK = {"type": "connection_ack"}


class Peer:
    """A client of the subprotocol."""

    def __init__(self, url, *, payload=None, init=True, subprotocols=(SUBPROTOCOL,), **options):
        options = {"open_timeout": PATIENCE, "close_timeout": PATIENCE, "max_size": None} | options
        address = url.replace("http", "ws", 1)
        self._context = connect(address, subprotocols=subprotocols, proxy=None, **options)
        self.socket = self._context.__enter__()
        if init:
            self.send("connection_init", **({"payload": payload} if payload else {}))

    def send(self, kind, **members):
        """Send a message."""
        self.socket.send(json.dumps({"type": kind, **members}))

    def subscribe(self, query, name="1"):
        """Start an operation."""
        self.send("subscribe", id=name, payload={"query": query})

    def subscribe_at_once(self, query, names):
        """Start operations by messages that travel in one piece."""
        protocol = self.socket.protocol
        with self.socket.protocol_mutex:
            for name in names:
                message = {"type": "subscribe", "id": name, "payload": {"query": query}}
                protocol.send_text(json.dumps(message).encode())
            self.socket.socket.sendall(b"".join(protocol.data_to_send()))

    def next(self):
        """Return the next message."""
        return json.loads(self.socket.recv(PATIENCE))

    def rest(self):
        """Return kind and payload of each message up to the end of an operation."""
        found = []
        while not found or found[-1][0] not in {"complete", "error"}:
            message = self.next()
            found.append((message["type"], message.get("payload")))
        return found

    def closed(self):
        """Return the code with which the server closes the socket."""
        try:
            while True:
                self.next()
        except ConnectionClosed as error:
            return error.rcvd.code

    def close(self):
        """Leave."""
        self._context.__exit__(None, None, None)


@pytest.fixture
def schema(life):
    """Return a schema with subscriptions."""
    return streaming_schema(life)


@pytest.fixture
def served(schema):
    """Return a function that serves it."""
    opened = []

    def make(**options):
        opened.append(serve(schema, port=0, **options))
        return opened[-1]

    yield make
    for server in opened:
        server.close()


@pytest.fixture
def server(served):
    """Return a server of it."""
    return served()


@pytest.fixture
def peer(server):
    """Return a client that was let in."""
    made = Peer(server.url)
    assert made.next() == ACK
    yield made
    made.close()


def refusal(url, **options):
    """Return status and body of a refused handshake."""
    with pytest.raises(InvalidStatus) as caught:
        Peer(url, **options)
    response = caught.value.response
    return response.status_code, json.loads(response.body)["errors"][0]["message"]


# -- operations


@pytest.mark.parametrize("field", ["count", "plain"])
def test_each_event_is_a_next_and_the_end_is_a_complete(peer, field):
    """For async and for plain generators."""
    peer.subscribe(f"subscription {{ n: {field}(to: 2) }}")
    events = [("next", {"data": {"n": n}}) for n in range(2)]
    assert peer.rest() == [*events, ("complete", None)]


@pytest.mark.parametrize(
    ("query", "data"), [("{ hello }", {"hello": "Hello world!"}), ("mutation { add }", {"add": 1})]
)
def test_queries_and_mutations_are_answered(peer, query, data):
    """One result each."""
    peer.subscribe(query)
    assert peer.rest() == [("next", {"data": data}), ("complete", None)]


@pytest.mark.parametrize("query", ["subscription {", "{ nothing }", "subscription { count }", ""])
def test_what_is_wrong_with_an_operation_is_an_error(peer, query):
    """The socket stays open."""
    peer.subscribe(query)
    ((kind, errors),) = peer.rest()
    assert kind == "error"
    assert errors[0]["message"]
    peer.subscribe("{ hello }")
    assert peer.rest()[-1] == ("complete", None)


def test_operations_run_side_by_side(peer):
    """Each under its id."""
    peer.subscribe("subscription { quiet }", "a")
    assert peer.next() == {"type": "next", "id": "a", "payload": {"data": {"quiet": 0}}}
    peer.subscribe("{ hello }", "b")
    assert [peer.next()["id"] for _ in range(2)] == ["b", "b"]


def test_a_client_that_has_heard_enough_ends_the_source(life, peer):
    """And may use the id again at once."""
    peer.subscribe("subscription { quiet }")
    peer.next()
    peer.send("complete", id="1")
    peer.subscribe("subscription { count(to: 1) }")
    assert peer.rest() == [("next", {"data": {"count": 0}}), ("complete", None)]
    assert life.ended.wait(PATIENCE)


def test_a_client_that_leaves_ends_its_sources(life, peer):
    """Without having said so."""
    peer.subscribe("subscription { quiet }", "a")
    peer.next()
    peer.close()
    assert life.ended.wait(PATIENCE)


def test_a_client_that_does_not_read_holds_up_its_source_and_may_leave(life, server):
    """Events wait where they are made; the other sockets are answered."""
    flooded = Peer(server.url, max_queue=1)
    flooded.subscribe("subscription { flood }")
    assert life.begun.wait(PATIENCE)
    other = Peer(server.url)
    other.subscribe("{ hello }")
    assert other.next() == ACK
    assert other.rest()[-1] == ("complete", None)
    assert not life.ended.is_set()
    flooded.socket.socket.close()
    assert life.ended.wait(PATIENCE)
    other.close()


def test_a_closed_server_says_so_and_ends_its_streams(life, schema):
    """Their sources' `finally` has run when it returns."""
    with serve(schema, port=0) as server:
        peer = Peer(server.url)
        peer.subscribe("subscription { quiet }")
        assert peer.next() == ACK
        peer.next()
    assert life.ended.is_set()
    assert life.running == 0
    with pytest.raises(ConnectionClosed):
        peer.next()


def test_operations_are_counted(life, served):
    """One more than allowed is an error of its own; one that has ended makes room."""
    peer = Peer(served(limits=Limits(subscriptions=1)).url)
    assert peer.next() == ACK
    peer.subscribe("subscription { quiet }", "a")
    peer.next()
    peer.subscribe("{ hello }", "b")
    message = peer.next()
    assert (message["type"], message["id"]) == ("error", "b")
    assert "At most 1 " in message["payload"][0]["message"]
    peer.send("complete", id="a")
    assert life.ended.wait(PATIENCE)
    kinds = ["error"]
    while kinds == ["error"]:
        peer.subscribe("{ hello }", "b")
        kinds = [kind for kind, _ in peer.rest()]
    assert kinds == ["next", "complete"]
    peer.close()


def test_operations_that_are_asked_for_at_once_are_counted(life, served):
    """Although the server reads all of them before the first one runs."""
    peer = Peer(served(limits=Limits(subscriptions=2)).url)
    assert peer.next() == ACK
    names = ["a", "b", "c", "d", "e"]
    peer.subscribe_at_once("subscription { quiet }", names)
    kinds = sorted(peer.next()["type"] for _ in names)
    assert kinds == ["error", "error", "error", "next", "next"]
    assert life.running == 2
    peer.close()


# -- errors


@pytest.mark.parametrize(
    ("field", "kinds"),
    [
        ("breaks", ["next", "error"]),
        ("cancels", ["next", "error"]),
        ("refuses", ["next", "complete"]),
    ],
)
def test_a_source_that_fails_ends_its_operation_masked(server, peer, field, kinds):
    """Its words stay here, where they can be found; the socket stays open."""
    peer.subscribe(f"subscription S {{ {field} }}")
    messages = peer.rest()
    assert [kind for kind, _ in messages] == kinds
    assert SECRET not in json.dumps(messages)
    entry = server.log.iloc[-1]
    assert (entry["operation"], entry["status"]) == ("S", 101)
    assert server.error(entry["error_id"])
    peer.subscribe("{ hello }")
    assert peer.rest()[-1] == ("complete", None)


def test_the_log_has_a_line_for_each_operation_and_each_refusal(server, peer):
    """When they have ended."""
    peer.subscribe("query Named { hello }")
    peer.rest()
    Peer(server.url, subprotocols=None, init=False).closed()
    refusal(server.url, origin="http://evil.example")
    shown = server.log[["operation", "status"]].fillna("").to_numpy().tolist()
    assert shown == [["Named", 101], ["", 4406], ["", 403]]


# -- the handshake


@pytest.mark.parametrize(
    ("path", "options", "status", "words"),
    [
        ("", {"origin": "http://evil.example"}, 403, "Origin"),
        ("", {"origin": "null"}, 403, "Origin"),
        ("/other", {}, 404, "/graphql/other"),
        ("", {"additional_headers": {"X": "x" * 2**14}}, 431, "too large"),
    ],
)
def test_a_handshake_is_refused_before_it_is_accepted(server, path, options, status, words):
    """With our words, as any request."""
    found = refusal(server.url + path, **options)
    assert found[0] == status
    assert words in found[1]


def test_another_host_is_refused(server):
    """A page whose name was rebound to this machine."""
    headers = {
        "Host": "evil.example",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    assert requests.get(server.url, headers=headers, timeout=PATIENCE).status_code == 403


def test_the_own_page_and_named_pages_may_connect(served):
    """By their exact origin."""
    named = "http://localhost:5173"
    server = served(access=Access(origins=[named]))
    for origin in (named, f"http://127.0.0.1:{server.port}"):
        peer = Peer(server.url, origin=origin)
        assert peer.next() == ACK
        peer.close()
    assert refusal(server.url, origin="http://localhost:5174")[0] == 403


def test_a_schema_without_subscriptions_has_no_websocket():
    """It is refused at the handshake."""
    with serve(reference_schema(), port=0) as server:
        status, message = refusal(server.url)
    assert (status, "no subscriptions" in message) == (403, True)


@pytest.mark.parametrize("offered", [None, ["graphql-ws"], ["x", "y"]])
def test_another_subprotocol_is_not_acceptable(server, offered):
    """4406, as the protocol's own server closes it."""
    assert Peer(server.url, subprotocols=offered, init=False).closed() == 4406


# -- the token


def test_a_token_comes_with_the_handshake_or_the_introduction(served):
    """A browser can send no header."""
    server = served(token=Token("right"))
    header = {"Authorization": "Bearer right"}
    for options in ({"additional_headers": header}, {"payload": header}):
        peer = Peer(server.url, **options)
        assert peer.next() == ACK
        peer.close()


@pytest.mark.parametrize("payload", [None, {"Authorization": "Bearer wrong"}, {"token": "right"}])
def test_who_introduces_themselves_without_the_token_is_shut_out(served, payload):
    """4403."""
    assert Peer(served(token=Token("right")).url, payload=payload).closed() == 4403


def test_a_wrong_token_in_the_handshake_is_refused_there(served):
    """401, as any request."""
    headers = {"Authorization": "Bearer wrong"}
    url = served(token=Token("right")).url
    assert refusal(url, additional_headers=headers) == (401, "Bad credentials")


# -- what closes a socket


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        (['{"type":"subscribe","id":"1","payload":{"query":"{ hello }"}}'], 4401),
        (['{"type":"connection_init"}'] * 2, 4429),
        (["no JSON"], 4400),
        ([b"\x00"], 4400),
        (
            [
                '{"type":"connection_init"}',
                *['{"type":"subscribe","id":"1","payload":{"query":"subscription { quiet }"}}'] * 2,
            ],
            4409,
        ),
        (["x" * 1001], 1009),
    ],
)
def test_what_breaks_the_protocol_closes_the_socket(served, messages, code):
    """With the code of the protocol, and a line in the log."""
    server = served(limits=Limits(body=1000))
    peer = Peer(server.url, init=False)
    for message in messages:
        peer.socket.send(message)
    assert peer.closed() == code
    if code != 1009:  # the host may close it before the application sees it
        assert server.log["status"].tolist()[-1] == code


def test_who_does_not_introduce_themselves_is_shut_out(served):
    """4408; who did, may be silent."""
    server = served(limits=Limits(head_seconds=0.05))
    patient, silent = Peer(server.url), Peer(server.url, init=False)
    assert patient.next() == ACK
    assert silent.closed() == 4408
    patient.send("ping")
    assert patient.next() == {"type": "pong"}
    patient.close()


def test_a_host_that_cannot_send_our_words_refuses_plainly(schema):
    """Closing before accepting is HTTP 403, whatever the host."""
    import asyncio

    sent = []

    async def run():
        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"evil.example")]
        scope = {"type": "websocket", "path": "/graphql", "headers": headers, "subprotocols": []}
        await App(schema)(scope, receive, send)

    asyncio.run(run())
    assert sent == [{"type": "websocket.close", "code": 1008}]

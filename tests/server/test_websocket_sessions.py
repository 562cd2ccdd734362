"""GraphQL over WebSocket from a real server, with a real client."""

from __future__ import annotations

import json

import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from gqlnb.engine.schema import reference_schema
from gqlnb.http.server_rules import Access
from gqlnb.limits import Limits
from gqlnb.server.background_server import serve
from gqlnb.tokens import Token
from tests.server.stream_helpers import PATIENCE, SECRET, UPGRADE, streaming_schema

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
        """Return the code and the reason with which the server closes the socket."""
        try:
            while True:
                self.next()
        except ConnectionClosed as error:
            return error.rcvd.code, error.rcvd.reason

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


@pytest.mark.parametrize(
    ("query", "data"), [("{ hello }", {"hello": "Hello world!"}), ("mutation { add }", {"add": 1})]
)
def test_queries_and_mutations_give_one_result(peer, query, data):
    """One result each."""
    peer.subscribe(query)
    assert peer.rest() == [("next", {"data": data}), ("complete", None)]


@pytest.mark.parametrize("query", ["subscription {", "{ nothing }", "subscription { count }", ""])
def test_operation_errors_are_sent_as_error_messages(peer, query):
    """The socket stays open."""
    peer.subscribe(query)
    ((kind, errors),) = peer.rest()
    assert kind == "error"
    assert errors[0]["message"]
    peer.subscribe("{ hello }")
    assert peer.rest()[-1] == ("complete", None)


def test_operations_run_concurrently(peer):
    """Each has its own id."""
    peer.subscribe("subscription { quiet }", "a")
    assert peer.next() == {"type": "next", "id": "a", "payload": {"data": {"quiet": 0}}}
    peer.subscribe("{ hello }", "b")
    assert [peer.next()["id"] for _ in range(2)] == ["b", "b"]


def test_complete_from_the_client_closes_the_source(life, peer):
    """The id can be reused immediately."""
    peer.subscribe("subscription { quiet }")
    peer.next()
    peer.send("complete", id="1")
    peer.subscribe("subscription { count(to: 1) }")
    assert peer.rest() == [("next", {"data": {"count": 0}}), ("complete", None)]
    assert life.ended.wait(PATIENCE)


def test_backpressure_pauses_the_source_of_a_slow_client(life, server):
    """Events are not buffered, and other sockets are served."""
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


def test_closing_the_server_sends_a_close_code_and_ends_streams(life, schema):
    """`finally` blocks of the sources have run when close returns."""
    with serve(schema, port=0) as server:
        peer = Peer(server.url)
        peer.subscribe("subscription { quiet }")
        assert peer.next() == ACK
        peer.next()
    assert life.ended.is_set()
    assert life.running == 0
    with pytest.raises(ConnectionClosed) as caught:
        peer.next()
    assert caught.value.rcvd.code == 1012


def test_an_idle_client_stays_and_one_that_does_not_read_is_disconnected(life, served):
    """The timeout of idle connections is for what the server has to send."""
    server = served(limits=Limits(idle_seconds=0.2))
    idle, flooded = Peer(server.url), Peer(server.url, max_queue=1)
    flooded.subscribe("subscription { flood }")
    assert life.ended.wait(PATIENCE)
    assert idle.next() == ACK
    idle.send("ping")
    assert idle.next() == {"type": "pong"}
    idle.close()


def test_the_number_of_operations_is_limited(life, served):
    """One over the limit gets an error; a finished one frees its slot."""
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


def test_simultaneous_operations_are_limited(life, served):
    """Even if all are read before the first one runs."""
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
def test_an_error_in_the_source_is_masked_and_ends_the_operation(server, peer, field, kinds):
    """It can be looked up by id; the socket stays open."""
    peer.subscribe(f"subscription S {{ {field} }}")
    messages = peer.rest()
    assert [kind for kind, _ in messages] == kinds
    assert SECRET not in json.dumps(messages)
    entry = server.log.iloc[-1]
    assert (entry["operation"], entry["status"]) == ("S", 101)
    assert server.error(entry["error_id"])
    peer.subscribe("{ hello }")
    assert peer.rest()[-1] == ("complete", None)


def test_operations_and_rejections_are_logged(server, peer):
    """After they have ended."""
    peer.subscribe("query Named { hello }")
    peer.rest()
    Peer(server.url, subprotocols=None, init=False).closed()
    refusal(server.url, origin="http://evil.example")
    shown = server.log[["operation", "status"]].fillna("").to_numpy().tolist()
    assert shown == [["Named", 101], ["", 4406], ["", 403]]
    assert server.log["bytes_in"][0] > len("query Named { hello }")  # the message around it


# -- the handshake


@pytest.mark.parametrize(
    ("path", "options", "status", "words"),
    [
        ("", {"origin": "http://evil.example"}, 403, "origin"),
        ("", {"origin": "null"}, 403, "origin"),
        ("/other", {}, 404, "/graphql/other"),
        ("", {"additional_headers": {"X": "x" * 2**14}}, 431, "too large"),
    ],
)
def test_a_handshake_is_rejected_with_an_http_response(server, path, options, status, words):
    """The body is the same as for other requests."""
    found = refusal(server.url + path, **options)
    assert found[0] == status
    assert words in found[1]


def test_a_foreign_host_is_rejected(server):
    """Prevents DNS rebinding."""
    headers = {"Host": "evil.example", **UPGRADE}
    assert requests.get(server.url, headers=headers, timeout=PATIENCE).status_code == 403


def test_the_same_origin_and_allowed_origins_may_connect(served):
    """Origins are compared exactly."""
    named = "http://localhost:5173"
    server = served(access=Access(origins=[named]))
    for origin in (named, f"http://127.0.0.1:{server.port}"):
        peer = Peer(server.url, origin=origin)
        assert peer.next() == ACK
        peer.close()
    assert refusal(server.url, origin="http://localhost:5174")[0] == 403


def test_a_schema_without_subscriptions_rejects_websockets():
    """At the handshake."""
    with serve(reference_schema(), port=0) as server:
        status, message = refusal(server.url)
    assert (status, "no subscriptions" in message) == (403, True)


@pytest.mark.parametrize("offered", [None, ["graphql"], ["x", "y"]])
def test_an_unknown_subprotocol_is_rejected(server, offered):
    """With 4406, like the graphql-ws server."""
    assert Peer(server.url, subprotocols=offered, init=False).closed()[0] == 4406


# -- the token


def test_a_token_is_read_from_the_handshake_or_connection_init(served):
    """Browsers cannot set headers."""
    server = served(token=Token("right"))
    header = {"Authorization": "Bearer right"}
    init = {"authorization": "token right"}
    for options in ({"additional_headers": header}, {"payload": header}, {"payload": init}):
        peer = Peer(server.url, **options)
        assert peer.next() == ACK
        peer.close()


@pytest.mark.parametrize("payload", [None, {"Authorization": "Bearer wrong"}, {"token": "right"}])
def test_connection_init_without_the_token_closes_the_socket(served, payload):
    """With 4403."""
    assert Peer(served(token=Token("right")).url, payload=payload).closed() == (4403, "Forbidden")


def test_a_wrong_token_in_the_handshake_gets_401(served):
    """Like any other request."""
    headers = {"Authorization": "Bearer wrong"}
    url = served(token=Token("right")).url
    assert refusal(url, additional_headers=headers) == (401, "Bad credentials")


# -- what closes a socket


SUBSCRIBED = '{"type":"subscribe","id":"1","payload":{"query":"subscription { quiet }"}}'
INIT = '{"type":"connection_init"}'


@pytest.mark.parametrize(
    ("messages", "code", "reason"),
    [
        ([SUBSCRIBED], 4401, "Unauthorized"),
        ([INIT] * 2, 4429, "Too many initialisation requests"),
        (["no JSON"], 4400, ""),
        ([b"\x00"], 4400, ""),
        ([INIT, SUBSCRIBED, SUBSCRIBED], 4409, "Subscriber for 1 already exists"),
        (["x" * 1001], 1009, ""),
    ],
)
def test_protocol_violations_close_the_socket(served, messages, code, reason):
    """With the close code and the reason of the protocol, and a log entry."""
    server = served(limits=Limits(body=1000))
    peer = Peer(server.url, init=False)
    for message in messages:
        peer.socket.send(message)
    found, said = peer.closed()
    assert found == code
    assert reason in said
    if code != 1009:  # the host may close it before the application sees it
        assert server.log["status"].tolist()[-1] == code


def test_a_missing_connection_init_closes_the_socket(served):
    """With 4408; afterwards a client may be idle."""
    server = served(limits=Limits(head_seconds=0.05))
    patient, silent = Peer(server.url), Peer(server.url, init=False)
    assert patient.next() == ACK
    assert silent.closed() == (4408, "Connection initialisation timeout")
    patient.send("ping")
    assert patient.next() == {"type": "pong"}
    patient.close()

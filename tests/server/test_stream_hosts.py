"""Streams of the same application, unchanged, under other ASGI servers."""

from __future__ import annotations

import json
from time import monotonic

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.server.asgi_hosts import hosted
from tests.server.stream_helpers import PATIENCE, Reader

MODULE = """
import asyncio
from pathlib import Path

from gqlnb.engine.schema import Schema
from gqlnb.server.app import App

left = 0

async def quiet(root, args, context):
    global left
    try:
        yield 1
        await asyncio.Event().wait()
    finally:
        left += 1

async def count(root, args, context):
    for number in range(2):
        yield number

SDL = "type Query { left: Int } type Subscription { quiet: Int count: Int }"
SOURCES = {"quiet": quiet, "count": count}
app = App(Schema(SDL, {"Query": {"left": lambda *_: left}, "Subscription": SOURCES}))
"""
COMMANDS = {
    "uvicorn": ["uvicorn", "hosted:app", "--fd", "{fd}"],
    "uvicorn-h11": ["uvicorn", "hosted:app", "--fd", "{fd}", "--http", "h11", "--ws", "wsproto"],
    "granian": ["granian", "--interface", "asgi", "--port", "{port}", "hosted:app"],
    "hypercorn": ["hypercorn", "hosted:app", "--bind", "fd://{fd}"],
}


@pytest.fixture(scope="module", params=COMMANDS)
def port(request, tmp_path_factory):
    """Return the port of the application under one server."""
    folder = tmp_path_factory.mktemp("hosted")
    with hosted(COMMANDS[request.param], MODULE, folder, "wsproto") as port:
        yield port


def left(port):
    """Return how many sources were left."""
    reader = Reader(port, "{ left }", Accept="application/json")
    return json.loads(reader.response.read())["data"]["left"]


def wait_until_left(port, before):
    """Ask until one source more was left."""
    end = monotonic() + PATIENCE
    while left(port) == before:
        assert monotonic() < end


def socket_to(port, **options):
    """Return a WebSocket to the application."""
    url = f"ws://127.0.0.1:{port}/graphql"
    return connect(url, subprotocols=["graphql-transport-ws"], proxy=None, **options)


def test_events_are_sent_without_buffering(port):
    """A disconnecting client closes the source."""
    assert Reader(port, "subscription { count }").rest() == [
        ("next", {"data": {"count": 0}}),
        ("next", {"data": {"count": 1}}),
        ("complete", None),
    ]
    before, reader = left(port), Reader(port, "subscription { quiet }")
    assert reader.next() == ("next", {"data": {"quiet": 1}})
    reader.close()
    wait_until_left(port, before)


def test_a_websocket_runs_operations(port):
    """To completion, or until the client disconnects."""
    before = left(port)
    with socket_to(port) as peer:
        assert peer.subprotocol == "graphql-transport-ws"
        peer.send('{"type":"connection_init"}')
        for name, field in (("a", "count"), ("b", "quiet")):
            query = f"subscription {{ {field} }}"
            peer.send(json.dumps({"type": "subscribe", "id": name, "payload": {"query": query}}))
        found = [json.loads(peer.recv(PATIENCE)) for _ in range(5)]
    assert {"type": "connection_ack"} in found
    assert {"type": "complete", "id": "a"} in found
    assert {"type": "next", "id": "b", "payload": {"data": {"quiet": 1}}} in found
    wait_until_left(port, before)


def test_a_websocket_from_a_foreign_origin_is_rejected(port):
    """Before it is accepted."""
    with pytest.raises(InvalidStatus) as caught, socket_to(port, origin="http://evil.example"):
        pass
    assert caught.value.response.status_code == 403


def test_protocol_violations_close_the_socket(port):
    """With the close code of the protocol."""
    with socket_to(port) as peer:
        peer.send("no JSON")
        with pytest.raises(ConnectionClosed) as caught:
            peer.recv(PATIENCE)
    assert caught.value.rcvd.code == 4400

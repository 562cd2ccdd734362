"""Floods of small frames on WebSockets, with both event loops: bounded in memory and in turns."""

from __future__ import annotations

import json
import select
import threading

import pytest

from gqlnb.limits import Limits
from gqlnb.server.background_server import serve
from gqlnb.server.connections import PIECE_SIZE, WebSocketConnection
from tests.server.stream_helpers import PATIENCE, streaming_schema

pytestmark = pytest.mark.usefixtures("loop")

UPGRADE = (
    b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)
TEXT, CLOSE, PING, PONG, FINAL = 1, 8, 9, 10, 0x80
ENOUGH = 2**26  # bytes; more than any buffer between two programs


def frame(kind, data=b"", final=FINAL):
    """Return a frame of a client, of at most 125 bytes; its mask changes nothing."""
    assert len(data) < 126
    return bytes([final | kind, 0x80 | len(data)]) + bytes(4) + data


INIT = frame(TEXT, b'{"type":"connection_init"}')


@pytest.fixture
def server(life):
    """Return a server of subscriptions, with room for two WebSockets."""
    with serve(streaming_schema(life), port=0, limits=Limits(connections=4)) as made:
        yield made


@pytest.fixture
def opened(server, wire):
    """Return a WebSocket and the server's side of it."""
    one = wire(server.port)
    one.send(UPGRADE)
    assert one.head()[0] == 101
    one.send(INIT)
    assert next_frame(one) == (TEXT, b'{"type":"connection_ack"}')
    found = server._listener._watcher.list_connections()
    return one, next(it for it in found if isinstance(it, WebSocketConnection))


def read(one, size):
    """Return that many bytes."""
    data = bytearray()
    while len(data) < size:
        part = one.sock.recv(size - len(data))
        assert part, f"closed after {bytes(data)!r}"
        data += part
    return bytes(data)


def next_frame(one):
    """Return kind and data of the next frame, of at most 125 bytes."""
    first, size = read(one, 2)
    assert size < 126
    return first & 15, read(one, size)


def test_pings_of_a_client_that_does_not_read_are_left_unread(opened):
    """Their answers would fill the memory; all are sent when it reads."""
    one, connection = opened
    pings = frame(PING, b"x" * 125) * 1000
    sent = 0
    one.sock.setblocking(False)
    while sent < ENOUGH and select.select([], [one.sock], [], 1)[1]:
        sent += one.sock.send(pings[sent % len(pings) :])
    assert sent < ENOUGH
    assert connection.transport.get_write_buffer_size() < 2**20
    assert len(connection._unparsed) < 2**20
    one.sock.settimeout(PATIENCE)
    rest = frame(PING, b"x" * 125)[sent % 131 :] + frame(PING, b"last")
    sender = threading.Thread(target=one.send, args=[rest])
    sender.start()
    answer = bytes([FINAL | PONG, 125]) + b"x" * 125
    count = sent // 131 + 1
    assert read(one, count * len(answer)) == count * answer
    assert next_frame(one) == (PONG, b"last")
    sender.join()


def test_frames_received_together_are_parsed_in_pieces(opened, monkeypatch):
    """Other connections have their turns in between, and the order is kept."""
    one, _ = opened
    sizes, parse = [], WebSocketConnection._parse_piece

    def record(connection):
        before = len(connection._unparsed)
        parse(connection)
        sizes.append(before - len(connection._unparsed))

    monkeypatch.setattr(WebSocketConnection, "_parse_piece", record)
    pings = [frame(PING, b"%d" % number) for number in range(5000)]
    sender = threading.Thread(target=one.send, args=[b"".join(pings)])
    sender.start()
    for number in range(5000):
        assert next_frame(one) == (PONG, b"%d" % number)
    sender.join()
    assert max(sizes) <= PIECE_SIZE


def test_empty_fragments_are_not_collected(opened):
    """A message may have any number of them."""
    one, connection = opened
    message = b'{"type":"ping"}'
    fragments = [frame(0, b"", 0)] * 5000 + [frame(0, message[1:], 0)] + [frame(0, b"", 0)] * 5000
    one.send(frame(TEXT, message[:1], 0) + b"".join(fragments) + frame(PING))
    assert next_frame(one) == (PONG, b"")
    assert len(connection.frames) <= 1024
    one.send(frame(0))
    kind, text = next_frame(one)
    assert (kind, json.loads(text)) == (TEXT, {"type": "pong"})


def test_a_close_behind_other_messages_is_read(opened):
    """The server has closed because of the first, and waits for the client's close."""
    one, _ = opened
    message = frame(TEXT, b'{"type":"unknown"}')
    one.send(message * 1000 + frame(CLOSE, b"\x03\xe8"))
    kind, data = next_frame(one)
    assert (kind, data[:2]) == (CLOSE, (4400).to_bytes(2, "big"))
    one.sock.settimeout(5)  # seconds; uvicorn waits 10 for a close that does not come
    assert one.closed()


def test_websockets_leave_room_for_requests(opened, server, wire):
    """They are never closed for a new connection, so there are at most half as many."""
    second, third, fourth = wire(server.port), wire(server.port), wire(server.port)
    second.send(UPGRADE)
    assert second.head()[0] == 101
    third.send(UPGRADE)
    status, _, body = third.answer()
    assert status == 503
    assert json.loads(body)["errors"]
    assert third.closed()
    fourth.post()
    assert json.loads(fourth.answer()[2]) == {"data": {"hello": "Hello world!"}}

"""Each bound on connections, on raw sockets, with both event loops."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from contextlib import ExitStack, suppress

import pytest
import requests
from graphql import GraphQLError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gqlnb.engine.schema import Schema
from gqlnb.limits import Limits
from gqlnb.server.app import PART_BYTES
from gqlnb.server.background_server import serve
from gqlnb.server.connections import MAX_DRAINING, PIECE_SIZE
from gqlnb.tokens import Token
from tests.server.conftest import Gate

HELLO = b'{"query":"{ hello }"}'
ANSWER = {"data": {"hello": "Hello world!"}}
LINE = b"POST /graphql HTTP/1.1\r\n"
HEAD = LINE + b"Host: localhost\r\nContent-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(HELLO)
WHOLE = HEAD + LENGTH + b"\r\n" + HELLO
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
JSON_LINE = b"Content-Type: application/json\r\n"
BEARER = b"Authorization: Bearer open-sesame\r\n"
SOON = 0.2  # seconds, of the limits that are to be reached
LATE = 15.0  # seconds in which a limit of SOON was reached on the busiest machine


@pytest.fixture(params=["uvloop", "asyncio"], autouse=True)
def event_loop_library(request, monkeypatch):
    """Run each test on uvloop, and on asyncio's own loop as where uvloop is not installed."""
    if request.param == "asyncio":
        monkeypatch.setitem(sys.modules, "uvloop", None)
    monkeypatch.setattr("gqlnb.server.streams.LINGER_SECONDS", SOON)


@pytest.fixture
def guarded(schema):
    """Return a function that serves with limits."""
    with ExitStack() as stack:
        yield lambda **limits: stack.enter_context(serve(schema, port=0, limits=Limits(**limits)))


@pytest.fixture
def opened(guarded, wire):
    """Return a function that serves with limits and opens a connection."""
    return lambda **limits: wire(guarded(**limits).port)


def refused(one, status):
    """Check that the next answer is an error in JSON with which the connection ends."""
    found, headers, body = one.answer()
    assert found == status
    assert headers["content-type"] == "application/json; charset=utf-8"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["connection"] == "close"
    (error,) = json.loads(body)["errors"]
    assert error["message"]
    assert one.closed()


def dripped(one, data, pause=SOON / 20):
    """Send bytes one by one until the other side answers or closes; tell for how long."""
    one.sock.setblocking(False)
    begun = time.monotonic()
    for byte in data:
        with suppress(BlockingIOError):
            if one.sock.recv(1, socket.MSG_PEEK) is not None:
                break
        one.sock.send(bytes([byte]))
        time.sleep(pause)  # this is what the client does
    one.sock.settimeout(20)
    return time.monotonic() - begun


def endless(data):
    """Yield the bytes of `data` again and again."""
    while True:
        yield from data


# ---------------------------------------------------------------- time


def test_a_silent_connection_is_closed(opened):
    """Without any response."""
    begun = time.monotonic()
    assert opened(idle_seconds=SOON).closed()
    assert SOON * 0.9 <= time.monotonic() - begun < LATE


def test_a_new_silent_connection_has_the_head_timeout(opened):
    """The longer idle timeout applies after a first response."""
    assert opened(head_seconds=SOON, idle_seconds=60).closed()


def test_an_idle_connection_is_closed(opened):
    """The idle timeout restarts with each response."""
    one = opened(idle_seconds=SOON)
    for _ in range(8):
        one.post()
        assert one.answer()[0] == 200
        time.sleep(SOON / 4)
    begun = time.monotonic()
    assert one.closed()
    assert time.monotonic() - begun < LATE


@pytest.mark.parametrize("sent", [b"P", LINE, HEAD, HEAD + LENGTH])
def test_an_incomplete_head_times_out(opened, sent):
    """The client gets an error; a silent connection may wait longer."""
    one = opened(head_seconds=SOON)
    one.send(sent)
    refused(one, 408)


def test_an_incomplete_head_times_out_on_a_kept_connection(opened):
    """The limit is the same as on a new connection."""
    one = opened(head_seconds=SOON)
    one.send(WHOLE)
    assert one.answer()[0] == 200
    one.send(WHOLE + HEAD)
    assert one.answer()[0] == 200
    refused(one, 408)


def test_a_slowly_sent_head_times_out(opened):
    """The timeout covers the whole head, not each byte."""
    one = opened(head_seconds=SOON)
    one.send(HEAD)
    assert dripped(one, endless(b"X: y\r\n")) < LATE
    refused(one, 408)


def test_blank_lines_do_not_start_a_head(opened):
    """They may precede one (RFC 9112, 2.2)."""
    one = opened(idle_seconds=SOON)
    assert dripped(one, endless(b"\r\n")) < LATE
    assert one.closed()


@pytest.mark.parametrize(
    "head", [HEAD + b"Content-Length: 50\r\n\r\n", CHUNKED, CHUNKED + b"5\r\n", CHUNKED + b"5;a="]
)
def test_an_incomplete_body_times_out(opened, head):
    """With Content-Length or chunked; the client gets an error."""
    one = opened(body_seconds=SOON)
    one.send(head)
    refused(one, 408)


@pytest.mark.parametrize(
    ("head", "drops"),
    [
        (HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
        (CHUNKED, b"1\r\n \r\n"),
        (CHUNKED + b"1;extension=", b"x"),
        (CHUNKED + b"0\r\n", b"Trailer: x\r\n"),
    ],
    ids=["announced", "chunked", "extension", "trailers"],
)
def test_a_slowly_sent_body_times_out(opened, head, drops):
    """The timeout covers the whole body, not each byte."""
    one = opened(body_seconds=SOON)
    one.send(head)
    assert dripped(one, endless(drops)) < LATE
    refused(one, 408)


def test_connection_timeouts_do_not_apply_to_resolvers(opened, gate):
    """A resolver may take longer than any of them."""
    one = opened(head_seconds=SOON, body_seconds=SOON, idle_seconds=SOON)
    one.post(b'{"query":"{ wait }"}')
    assert gate.entered.wait(20)
    time.sleep(3 * SOON)
    gate.open.set()
    assert json.loads(one.answer()[2]) == {"data": {"wait": "open"}}
    assert one.closed()


@pytest.fixture
def large():
    """Return a schema whose answer fills every buffer between two programs."""
    text = "x" * 2**25  # made once, so that the operation is a fast one

    def fail(*_):
        msg = "It is broken."
        raise GraphQLError(msg)

    resolvers = {"large": lambda *_: text, "broken": fail}
    return Schema("type Query { large: String! broken: Int }", {"Query": resolvers})


def test_a_client_that_stops_reading_is_disconnected(large, wire):
    """The response is dropped and its memory freed."""
    with serve(large, port=0, limits=Limits(idle_seconds=SOON)) as server:
        one = wire(server.port)
        one.post(b'{"query":"{ large }"}')
        assert one.head()[0] == 200
        watch = server._listener._watcher
        until(lambda: not watch.list_connections())
        with pytest.raises(AssertionError, match="closed after"):
            read(one, 2**26)


def test_a_slow_reader_gets_the_complete_response(large, wire):
    """There is no timeout while the transfer makes progress."""
    with serve(large, port=0, limits=Limits(idle_seconds=SOON)) as server:
        one = wire(server.port)
        one.post(b'{"query":"{ large }"}')
        begun = time.monotonic()
        size = int(one.head()[1]["content-length"])
        for _ in range(8):
            read(one, size // 8)
            time.sleep(SOON / 2)
        read(one, size % 8)
        assert time.monotonic() - begun > 3 * SOON


@pytest.mark.parametrize("fields", ["large", "large broken"])
@pytest.mark.parametrize("warm", [0, 6])
def test_unread_responses_are_limited(large, wire, warm, fields):
    """Also those of repeated requests; small ones are answered, and the memory is bounded."""
    body = b'{"query":"{ %b }"}' % fields.encode()
    with serve(large, port=0, limits=Limits(unsent=2**25 + 2**20)) as server:
        reader, other = wire(server.port), wire(server.port)
        for _ in range(warm):
            other.post(body)
            assert other.answer()[0] == 200
        reader.post(body)
        size = int(reader.head()[1]["content-length"])
        other.post(body)
        status, headers, refusal = other.answer()
        assert (status, headers["retry-after"]) == (503, "1")
        assert "unsent" in json.loads(refusal)["errors"][0]["message"]
        other.post(b'{"query":"{ __typename }"}')
        assert other.answer()[0] == 200
        connections = server._listener._watcher.list_connections()
        assert sum(it.transport.get_write_buffer_size() for it in connections) <= 2 * PART_BYTES
        read(reader, size)
        until(lambda: not server._listener.app._unsent_bytes)
        other.post(body)
        assert other.answer()[0] == 200


def read(one, size):
    """Read so many bytes of a body."""
    while size:
        part = one.sock.recv(min(size, 2**20))
        assert part, "closed after less"
        size -= len(part)


def until(condition, seconds=LATE):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_none_disables_a_timeout(opened):
    """Connections may then be slow."""
    one = opened(head_seconds=None, body_seconds=None, idle_seconds=None, head=None, body=None)
    for part in (HEAD, b"X: " + b"x" * 2**17 + b"\r\n" + LENGTH + b"\r\n", HELLO):
        time.sleep(SOON / 4)
        one.send(part)
    assert json.loads(one.answer()[2]) == ANSWER


def test_serving_again_applies_new_limits_immediately(guarded, schema, wire):
    """Open connections are included."""
    server = guarded()
    one = wire(server.port)
    one.send(WHOLE)
    assert one.answer()[0] == 200
    with serve(schema, port=server.port, limits=Limits(idle_seconds=SOON)):
        assert one.closed()


# ---------------------------------------------------------------- size


def headed(size, field=b"X-Long: %b\r\n"):
    """Return a request whose head has so many bytes, and its parts."""
    bare = len(HEAD + LENGTH + b"\r\n" + field % b"")
    return HEAD + LENGTH + field % (b"x" * (size - bare)) + b"\r\n", HELLO


@pytest.mark.parametrize("limit", [300, PIECE_SIZE, 16 * 2**10])
@pytest.mark.parametrize("piece", [1000, 2**20])
def test_a_head_may_be_as_long_as_the_limit(guarded, wire, limit, piece):
    """One byte more is rejected, however the head is split."""
    server = guarded(head=limit)
    for size, status in ((limit, 200), (limit + 1, 431)):
        data, one = b"".join(headed(size)), wire(server.port)
        for start in range(0, len(data), piece):
            one.send(data[start : start + piece])
        if status == 431:
            refused(one, 431)
        else:
            assert json.loads(one.answer()[2]) == ANSWER


@pytest.mark.parametrize(
    "sent",
    [
        LINE.replace(b"/graphql", b"/graphql?" + b"x" * 2**15),
        HEAD + b"X-Long: " + b"x" * 2**15,
        HEAD + b"x" * 2**15,
        HEAD + b"X: y\r\n" * 2**13,
        HEAD + b"X: y\r\n" * 2**18,
    ],
    ids=["URL", "value", "name", "many", "a megabyte"],
)
def test_a_client_can_read_the_error_for_a_large_head(opened, sent):
    """Even while it is still sending."""
    one = opened()
    one.send(sent)
    refused(one, 431)


@pytest.mark.parametrize("size", [100, PIECE_SIZE, 2**16])
def test_trailers_have_the_limit_of_a_head(opened, size):
    """Their bytes are counted in the same way."""
    one, trailer = opened(), b"X: " + b"x" * size + b"\r\n"
    with suppress(ConnectionError):
        one.send(CHUNKED + b"1\r\n \r\n0\r\n" + trailer * (2**18 // size))
    refused(one, 431)


TRAILERS = {
    "token": (b"Authorization: Bearer open-sesame\r\n", b"Host: localhost\r\n" + JSON_LINE, 401),
    "host": (b"Host: localhost\r\n", BEARER + JSON_LINE, 400),
    "content type": (JSON_LINE, BEARER + b"Host: localhost\r\n", 415),
}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", TRAILERS)
def test_trailers_are_not_headers(schema, wire, name, whole):
    """A trailer field never satisfies a header check, whenever it arrives."""
    trailer, headers, status = TRAILERS[name]
    with serve(schema, port=0, token=Token("open-sesame")) as server:
        one = wire(server.port)
        head = LINE + headers + b"Transfer-Encoding: chunked\r\n\r\n"
        rest = b"%x\r\n%b\r\n0\r\n%b\r\n" % (len(HELLO), HELLO, trailer)
        for part in (head + rest,) if whole else (head, rest):
            one.send(part)
        assert one.answer()[0] == status


# ---------------------------------------------------------------- HTTP that is none

NO_HTTP = {
    "HTTP/2.0": WHOLE.replace(b"HTTP/1.1", b"HTTP/2.0"),
    "HTTP/0.9": WHOLE.replace(b"HTTP/1.1", b"HTTP/0.9"),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 3,
    "a word": b"hello\r\n\r\n",
    "two lengths": HEAD + LENGTH + b"Content-Length: 3\r\n\r\n" + HELLO,
    "length and chunks": HEAD + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": HEAD + b"Transfer-Encoding: chunked\r\n" + LENGTH + b"\r\n0\r\n\r\n",
    "no chunks last": HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "other coding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "length with a sign": HEAD + b"Content-Length: +21\r\n\r\n" + HELLO,
    "length below 0": HEAD + b"Content-Length: -1\r\n\r\n" + HELLO,
    "length in words": HEAD + b"Content-Length: 0x15\r\n\r\n" + HELLO,
    "blank before colon": HEAD + b"Content-Length : 21\r\n\r\n" + HELLO,
    "a null": HEAD + b"X: a\0b\r\n" + LENGTH + b"\r\n" + HELLO,
    "chunk of a wrong size": CHUNKED + b"zz\r\n",
    "chunk of a size with a sign": CHUNKED + b"-5\r\n",
    "chunk of a size with 0x": CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n",
    "chunk without end": CHUNKED + b"1\r\nxx\r\n0\r\n\r\n",
    "path beyond ASCII": WHOLE.replace(b"/graphql", b"/gr\xff", 1),
    "folded": HEAD + b"X: a\r\n b\r\n" + LENGTH + b"\r\n" + HELLO,
    "folded with a tab": HEAD + b"X: a\r\n\tb\r\n" + LENGTH + b"\r\n" + HELLO,
    "bare line feeds": WHOLE.replace(b"\r\n", b"\n"),
    "two equal lengths": HEAD + LENGTH * 2 + b"\r\n" + HELLO,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "other version": WHOLE.replace(b"1.1", b"1.2", 1),
}


@pytest.mark.parametrize("name", NO_HTTP)
def test_invalid_http_gets_a_json_error(server, wire, name, capfd):
    """Ambiguous requests are rejected, and the connection is closed."""
    one = wire()
    one.send(NO_HTTP[name])
    refused(one, 400)
    assert requests.post(server.url, data=HELLO, headers=JSON, timeout=20).json() == ANSWER
    assert capfd.readouterr() == ("", "")


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("wrong", [b"garbage\r\n\r\n" + WHOLE, CHUNKED + b"zz\r\n"])
def test_an_error_follows_the_responses_of_earlier_requests(opened, gate, wrong):
    """A pipelined invalid head or body is answered in its turn."""
    one = opened()
    one.post(b'{"query":"{ wait }"}')
    assert gate.entered.wait(20)
    one.send(WHOLE + wrong)
    gate.open.set()
    assert json.loads(one.answer()[2]) == {"data": {"wait": "open"}}
    assert json.loads(one.answer()[2]) == ANSWER
    refused(one, 400)


@pytest.mark.parametrize("last", [WHOLE, CHUNKED], ids=["whole", "a body without an end"])
def test_a_connection_that_is_aborted_before_its_responses_is_no_failure(wire, caplog, last):
    """Nothing more is written to it, and pipelined requests are not executed."""
    gate = Gate()
    query = {"large": lambda *_: "x" * 5_000_000, "wait": gate}
    schema = Schema("type Query { large: String wait: String }", {"Query": query})
    with serve(schema, port=0) as server:
        one, watcher = wire(server.port), server._listener._watcher
        one.post(b'{"query":"{ large }"}')
        one.post(b'{"query":"{ wait }"}')
        one.send(last)
        until(lambda: any(each.pipeline for each in watcher.list_connections()))
        one.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.sock.close()  # with a reset, of which the rest of the first response tells
        until(lambda: not watcher.list_connections())
        until(lambda: not watcher.state.tasks)
        assert not gate.entered.is_set()
    assert not caplog.records


OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARA\r\n"


@pytest.mark.parametrize("pieces", [1, 2, 300])
def test_an_upgrade_to_http_2_is_ignored(opened, pieces):
    """Java's client offers one with each request."""
    one = opened()
    for _ in range(2):
        data = WHOLE.replace(HEAD, HEAD + OFFER)
        step = len(data) // pieces + 1
        for start in range(0, len(data), step):
            one.send(data[start : start + step])
        assert json.loads(one.answer()[2]) == ANSWER
    one.send(WHOLE)
    assert json.loads(one.answer()[2]) == ANSWER


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200)
    | st.lists(
        st.sampled_from([HEAD, LENGTH, b"\r\n", HELLO, CHUNKED, WHOLE, b"5\r\n", OFFER, b"X: y"])
        | st.binary(max_size=5),
        max_size=8,
    ).map(b"".join),
    st.integers(1, 50),
)
def test_the_server_survives_arbitrary_bytes(fuzzed, data, step):
    """Each connection ends with JSON or silently, and the next client is served."""
    with socket.create_connection(("127.0.0.1", fuzzed.port), timeout=20) as sock:
        with suppress(ConnectionError):
            for start in range(0, len(data), step):
                sock.sendall(data[start : start + step])
            sock.shutdown(socket.SHUT_WR)
        answers = b""
        with suppress(ConnectionError):
            while part := sock.recv(2**16):
                answers += part
    assert answers == b"" or answers.startswith(b"HTTP/1.1 ")
    assert b"HTTP/1.1 5" not in answers
    assert b"text/plain" not in answers
    assert requests.post(fuzzed.url, data=HELLO, headers=JSON, timeout=20).json() == ANSWER


@pytest.fixture
def fuzzed(guarded):
    """Return a server that is soon out of patience."""
    return guarded(head_seconds=SOON, body_seconds=SOON, idle_seconds=SOON)


# ---------------------------------------------------------------- number


def test_a_thousand_pipelined_requests_are_answered_in_order(gate, guarded, wire):
    """Backpressure limits the number buffered in the server."""
    server = guarded()
    one, count = wire(server.port), 1000
    one.post(b'{"query":"{ wait }"}')
    assert gate.entered.wait(20)
    queries = [b'{"query":"{ a%d: hello }"}' % n for n in range(count)]
    whole = b"".join(HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(q), q) for q in queries)
    sending = threading.Thread(target=one.send, args=(whole,))
    sending.start()
    (connection,) = server._listener._watcher.list_connections()
    until(lambda: connection._held_data is not None)
    assert 1 < len(connection.pipeline) <= PIECE_SIZE
    assert len(connection._held_data) < 2**20
    gate.open.set()
    assert json.loads(one.answer()[2]) == {"data": {"wait": "open"}}
    for n in range(count):
        assert json.loads(one.answer()[2]) == {"data": {f"a{n}": "Hello world!"}}
    sending.join(20)
    one.send(WHOLE)
    assert json.loads(one.answer()[2]) == ANSWER


def test_the_longest_idle_connection_is_closed_for_a_new_one(guarded, wire):
    """Idle time counts, not age."""
    server = guarded(connections=3)
    first, second, third = (wire(server.port) for _ in range(3))
    for one in (second, third, first):
        one.send(WHOLE)
        assert one.answer()[0] == 200
    fourth = wire(server.port)
    for one in (fourth, third, first):
        one.send(WHOLE)
        assert one.answer()[0] == 200
    assert second.closed()


def test_an_idle_connection_is_closed_without_an_unexpected_response(guarded, wire):
    """Also if all its requests took the fast path: the next one would get that response."""
    server = guarded(connections=1)
    for _ in range(100):
        one = wire(server.port)
        one.send(WHOLE)
        assert one.answer()[0] == 200
        (connection,) = server._listener._watcher.state.connections
        if connection.cycle is None:
            break
    assert connection.cycle is None
    wire(server.port)
    assert one.closed()


def test_silent_connections_do_not_block_new_clients(guarded, wire):
    """However many are open, the next client is served."""
    server = guarded(connections=20)
    silent = [wire(server.port) for _ in range(20 + MAX_DRAINING + 20)]
    for half in (silent[-10:], silent[-20:-10]):
        for one in half:
            one.send(HEAD)
    for _ in range(3):
        assert requests.post(server.url, data=HELLO, headers=JSON, timeout=20).json() == ANSWER
    assert len(server._listener._watcher.state.connections) <= 20


@pytest.mark.parametrize("sent", [HEAD, HEAD + b"Content-Length: 50\r\n\r\n"])
def test_incomplete_requests_do_not_block_new_clients(guarded, wire, sent):
    """Without idle connections, the longest-sending ones are closed."""
    server = guarded(connections=3)
    slow = []
    for count in range(1, 4):
        slow.append(wire(server.port))
        slow[-1].send(sent)
        until(lambda: len(stages(server)) == count and "idle" not in stages(server))  # noqa: B023
    assert requests.post(server.url, data=HELLO, headers=JSON, timeout=20).json() == ANSWER
    refused(slow[0], 503)


def stages(server):
    """Return the stages of a server's connections."""
    return [one.get_stage() for one in server._listener._watcher.list_connections()]


def test_a_new_connection_is_rejected_if_all_are_busy(guarded, wire, gate):
    """Running requests are not aborted for it."""
    server = guarded(connections=3)
    busy = [wire(server.port) for _ in range(3)]
    for one in busy:
        one.post(b'{"query":"{ wait }"}')
    until(lambda: stages(server) == ["running"] * 3)
    response = requests.post(server.url, data=HELLO, headers=JSON, timeout=20)
    assert (response.status_code, list(response.json())) == (503, ["errors"])
    late = wire(server.port)
    refused(late, 503)
    gate.open.set()
    for one in busy:
        assert json.loads(one.answer()[2]) == {"data": {"wait": "open"}}
    assert requests.post(server.url, data=HELLO, headers=JSON, timeout=20).json() == ANSWER


def test_a_rejected_connection_is_dropped(guarded, wire):
    """A client that never closes its side is disconnected soon after."""
    server = guarded()
    many = [wire(server.port) for _ in range(MAX_DRAINING + 10)]
    for one in many:
        one.send(b"\0")
    for one in many:
        assert one.sock.recv(12) == b"HTTP/1.1 400"
    watch = server._listener._watcher
    until(lambda: len(watch.leaving) <= MAX_DRAINING)
    until(lambda: not watch.list_connections())


# ---------------------------------------------------------------- WebSocket

UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def test_a_pipelined_websocket_upgrade_is_rejected(wire, server, gate):
    """A pending response would be mixed with its frames."""
    one = wire(server.port)
    one.post(b'{"query":"{ wait }"}')
    assert gate.entered.wait(20)
    one.send(UPGRADE.replace(b"/", b"/graphql", 1))
    gate.open.set()
    assert json.loads(one.answer()[2]) == {"data": {"wait": "open"}}
    status, _, body = one.answer()
    assert status == 400
    assert json.loads(body)["errors"]
    assert one.closed()


@pytest.mark.parametrize("method", [b"GET", b"POST"])
def test_an_upgrade_with_a_body_is_rejected(wire, method):
    """A WebSocket handshake has no body."""
    one = wire()
    one.send(
        method + b" /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
        b"Upgrade: websocket\r\nContent-Length: 1\r\n\r\n"
    )
    assert one.head()[0] in {400, 403, 405}

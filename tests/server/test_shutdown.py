"""The end of a server: what runs may finish, nothing begins, and nothing is left behind."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from textwrap import dedent

import pytest

from gqlnb.server.background_server import serve

CYCLES = """
import gc, json, os, socket, sys, threading, tracemalloc
from gqlnb.engine.schema import reference_schema
from gqlnb.server.background_server import serve
{without}

BODY = b'{{"query":"{{ hello }}"}}'
HEAD = b"POST /graphql HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\n"
WHOLE = HEAD + b"Content-Length: %d\\r\\n\\r\\n" % len(BODY) + BODY
SOCKET = (
    b"GET /graphql HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: Upgrade\\r\\n"
    b"Upgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n"
)
schema, other, fixed = reference_schema(), reference_schema(), 0

def cycle():
    # Answered, refused, half sent and silent connections, left open; the schema swapped.
    global fixed
    server = serve(schema, port=fixed)
    fixed = server.port
    opened = [socket.create_connection(("127.0.0.1", fixed), timeout=20) for _ in range(5)]
    for sock, data in zip(opened, (WHOLE, b"garbage\\r\\n\\r\\n", SOCKET, WHOLE[:-3])):
        sock.sendall(data)
    for sock in opened[:3]:
        assert sock.recv(4096).startswith(b"HTTP/1.1 ")
    with serve(other, port=fixed):
        pass
    assert server.closed
    for sock in opened:
        sock.close()

def state():
    gc.collect()
    there = os.path.isdir("/proc/self/fd")
    files = len(os.listdir("/proc/self/fd")) if there else 0
    return threading.active_count(), files, len(gc.get_objects())

def cycles(count):
    for _ in range(count):
        cycle()
    return state()

first = cycles(30)
tracemalloc.start()
cycles(10)
growth = []
for _ in range(2):  # a leak shows in both rounds; a cache that grows once shows in one
    before, _ = tracemalloc.get_traced_memory()
    last = cycles(100)
    after, _ = tracemalloc.get_traced_memory()
    growth.append(after - before)
print(json.dumps([first, last, min(growth)]))
"""


@pytest.mark.parametrize("without", ["", "sys.modules['uvloop'] = None"])
def test_opening_and_closing_servers_leaks_nothing(without):
    """Threads, files, objects and memory are counted over hundreds of servers."""
    code = dedent(CYCLES.format(without=without))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, last, bytes_more = json.loads(done.stdout)
    assert last[:2] == first[:2]
    assert last[2] - first[2] < 100  # half an object a server would be 100
    assert bytes_more < 50 * 2**10  # half a kilobyte a server; what lists and dicts keep free


def test_the_grace_applies_to_running_requests_only(schema, gate, wire):
    """Idle, silent and incomplete connections are closed first."""
    server = serve(schema, port=0)
    running, idle, silent, half = (wire(server.port) for _ in range(4))
    running.post(b'{"query":"{ wait }"}')
    assert gate.entered.wait(20)
    idle.post()
    assert idle.answer()[0] == 200
    half.send(b"POST /graphql HTTP/1.1\r\nHost: localhost\r\n")
    closing = threading.Thread(target=server.close, kwargs={"grace": 20})
    closing.start()
    assert all(one.closed() for one in (idle, silent, half))
    running.post()  # sent behind the one that runs, and too late
    gate.open.set()
    status, headers, body = running.answer()
    assert (status, json.loads(body)) == (200, {"data": {"wait": "open"}})
    assert headers.get("connection") == "close"
    assert running.closed()
    closing.join(20)
    assert not closing.is_alive()

"""The same application, unchanged, under other ASGI servers in processes of their own."""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.server.asgi_hosts import hosted
from tests.server.stream_helpers import PATIENCE, Reader

HELLO = "Hello world!"
MODULE = """
import asyncio
import os
import time

from gqlnb.engine.schema import Schema
from gqlnb.limits import Limits
from gqlnb.server.app import App

async def later(*_):
    return "later"

async def process(*_):
    time.sleep(0.02)  # on the loop, so that the other process takes the next connection
    return os.getpid()

left = 0

async def quiet(*_):
    global left
    try:
        yield 1
        await asyncio.Event().wait()
    finally:
        left += 1

async def count(*_):
    for number in range(2):
        yield number

QUERY = {
    "hello": lambda *_: "Hello world!",
    "later": later,
    "process": process,
    "fails": lambda *_: 1 / 0,
    "left": lambda *_: left,
}
SDL = '''
type Query { hello: String later: String process: Int fails: Int left: Int }
type Subscription { quiet: Int count: Int }
'''
SOURCES = {"quiet": quiet, "count": count}
app = App(Schema(SDL, {"Query": QUERY, "Subscription": SOURCES}), limits=Limits(body_seconds=0.5))
"""
GRANIAN = ["granian", "--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}"]
H11 = ["--http", "h11", "--loop", "asyncio", "--ws", "wsproto"]
COMMANDS = {
    "uvicorn": ["uvicorn", "hosted:app", "--fd", "{fd}"],
    "uvicorn-h11": ["uvicorn", "hosted:app", "--fd", "{fd}", *H11],
    "uvicorn-2": ["uvicorn", "hosted:app", "--fd", "{fd}", "--workers", "2"],
    "granian": [*GRANIAN, "hosted:app"],
    "granian-2": [*GRANIAN, "--workers", "2", "hosted:app"],
    "hypercorn": ["hypercorn", "hosted:app", "--bind", "fd://{fd}"],
    "hypercorn-2": ["hypercorn", "hosted:app", "--bind", "fd://{fd}", "--workers", "2"],
}


# A source and those who ask about it are in one process.
ONE_PROCESS = pytest.mark.parametrize(
    "url", [name for name in COMMANDS if not name.endswith("-2")], indirect=True
)


@pytest.fixture(scope="module", params=COMMANDS)
def url(request, tmp_path_factory):
    """Return the URL of the application under one server."""
    folder = tmp_path_factory.mktemp("hosted")
    with hosted(COMMANDS[request.param], MODULE, folder, "wsproto") as port:
        yield f"http://127.0.0.1:{port}/graphql"


def post(url, query, **headers):
    """Post a query."""
    return requests.post(url, json={"query": query}, headers=headers, timeout=30)


def test_the_host_executes_queries(url):
    """Plain and async resolvers return their data."""
    response = post(url, "{ hello later }")
    assert response.json() == {"data": {"hello": "Hello world!", "later": "later"}}
    assert response.headers["content-type"] == "application/json; charset=utf-8"


def test_the_host_returns_the_same_error_statuses(url):
    """The statuses equal those of the package's own server."""
    assert requests.get(url, timeout=30).headers["allow"] == "POST"
    assert requests.head(url, timeout=30).status_code == 405
    assert requests.post(url, data=b"x", timeout=30).status_code == 415
    assert post(f"{url}/x", "{ hello }").status_code == 404
    assert post(url, "{ hello }", Host="evil.example").status_code == 403
    assert post(url, "{ helo }", Accept="application/graphql-response+json").status_code == 400


def test_worker_processes_are_independent(url, request):
    """Any process can answer any request."""
    count = 2 if request.node.callspec.params["url"].endswith("-2") else 1
    query = "query Named($on: Boolean!) { process hello @include(if: $on) }"
    found = {}

    def ask(on):
        body = {"query": query, "variables": {"on": on}}
        data = requests.post(url, json=body, timeout=30).json()["data"]
        found.setdefault(data.pop("process"), []).append(data == ({"hello": HELLO} if on else {}))

    end = time.monotonic() + 30
    while len(found) < count and time.monotonic() < end:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, [True, False] * 8))
    assert len(found) == count
    assert all(all(right) for right in found.values())


def test_the_host_masks_exceptions(url):
    """Exception messages are not sent."""
    response = post(url, "{ fails }")
    assert response.status_code == 200
    assert "division" not in response.text


def test_the_host_returns_an_error_for_a_large_body(url):
    """For 4 MiB, with Content-Length and chunked."""
    headers = {"Content-Type": "application/json"}
    for body in (b"x" * 2**22, iter([b"x" * 2**20] * 4)):
        response = requests.post(url, data=body, headers=headers, timeout=30)
        assert (response.status_code, list(response.json())) == (400, ["errors"])


def test_the_host_times_out_a_missing_body(url):
    """The client gets an error, and the connection is closed."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as sock:
        sock.sendall(
            b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 99\r\n\r\n{"
        )
        assert sock.recv(12) == b"HTTP/1.1 408"


def test_the_host_rejects_a_large_head(url):
    """Either the host or the application enforces the limit."""
    refused = requests.post(
        url, json={"query": "{ hello }"}, headers={"X-Long": "x" * 20_000}, timeout=30
    )
    assert refused.status_code == 431


def test_the_host_serves_the_page_to_a_browser(url):
    """The page is part of the application."""
    page = requests.get(url, headers={"Accept": "text/html"}, timeout=30)
    assert page.headers["content-type"] == "text/html; charset=utf-8"


@pytest.fixture
def port(url):
    """Return the port alone."""
    return urlsplit(url).port


def left(port):
    """Return how many sources were left."""
    reader = Reader(port, "{ left }", Accept="application/json")
    return json.loads(reader.response.read())["data"]["left"]


def wait_until_left(port, before):
    """Ask until one source more was left."""
    end = time.monotonic() + PATIENCE
    while left(port) == before:
        assert time.monotonic() < end


def socket_to(port, **options):
    """Return a WebSocket to the application."""
    url = f"ws://127.0.0.1:{port}/graphql"
    return connect(url, subprotocols=["graphql-transport-ws"], proxy=None, **options)


@ONE_PROCESS
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


@ONE_PROCESS
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


@ONE_PROCESS
def test_a_websocket_from_a_foreign_origin_is_rejected(port):
    """Before it is accepted."""
    with pytest.raises(InvalidStatus) as caught, socket_to(port, origin="http://evil.example"):
        pass
    assert caught.value.response.status_code == 403


@ONE_PROCESS
def test_protocol_violations_close_the_socket(port):
    """With the close code of the protocol."""
    with socket_to(port) as peer:
        peer.send("no JSON")
        with pytest.raises(ConnectionClosed) as caught:
            peer.recv(PATIENCE)
    assert caught.value.rcvd.code == 4400


@pytest.mark.parametrize("name", ["uvicorn-h11", "hypercorn"])
def test_trailers_are_not_headers(tmp_path, name):
    """A token in a trailer is not accepted, whenever it arrives."""
    module = MODULE.replace("limits=", "token=Token('open-sesame'), limits=")
    module = f"from gqlnb.tokens import Token\n{module}"
    with hosted(COMMANDS[name], module, tmp_path) as port:
        body = b'{"query":"{ hello }"}'
        head = (
            b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        trailer = b"0\r\nAuthorization: Bearer open-sesame\r\n\r\n"
        rest = b"%x\r\n%b\r\n%b" % (len(body), body, trailer)
        for parts in ((head + rest,), (head, rest)):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as one:
                for part in parts:
                    one.sendall(part)
                assert one.recv(12) == b"HTTP/1.1 401"


@pytest.mark.parametrize("name", ["uvicorn", "hypercorn"])
def test_an_application_has_a_path_below_the_root_path_of_its_host(name, tmp_path):
    """The host's prefix is removed once; health, metrics and the log are the application's."""
    rules = 'path="/api/gql", access=Access(health=True, metrics=True, log=True)'
    source = MODULE.replace("limits=Limits(body_seconds=0.5)", rules)
    source = f"from gqlnb.http.server_rules import Access\n{source}"
    # uvicorn gives the application the path with the prefix, which its proxy has removed;
    # hypercorn the path as it came, from a proxy that passes its own on.
    prefix = "" if name == "uvicorn" else "/hub"
    command = [*COMMANDS[name], "--root-path", "/hub"]
    with hosted(command, source, tmp_path, "prometheus_client") as port:
        base = f"http://127.0.0.1:{port}{prefix}"
        assert post(f"{base}/api/gql", "query Greet { hello }").json()["data"] == {"hello": HELLO}
        assert post(f"{base}/hub/hub/api/gql", "{ hello }").status_code == 404
        assert requests.get(f"{base}/health", timeout=30).json() == {"status": "ok"}
        counted = requests.get(f"{base}/metrics", timeout=30).text
        assert 'gqlnb_requests_total{operation="Greet",status="200"} 1.0' in counted

"""A schema, a server on a free port, and bytes on a raw socket."""

from __future__ import annotations

import socket
import sys
import threading

import pytest

from gqlnb.engine.schema import Schema
from gqlnb.server.background_server import serve
from tests.server.stream_helpers import PATIENCE, Life

SDL = """
type Query { hello: String wait: String later: String }
type Mutation { count: Int }
"""


class Gate:
    """A resolver that waits until the test lets it go on."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def __call__(self, *_: object) -> str:
        """Wait, as a resolver."""
        self.entered.set()
        return "open" if self.open.wait(PATIENCE) else "shut"


@pytest.fixture(params=["uvloop", "asyncio"])
def loop(request, monkeypatch):
    """Run a test on both event loops."""
    if request.param == "asyncio":
        monkeypatch.setitem(sys.modules, "uvloop", None)
    else:
        pytest.importorskip("uvloop")


@pytest.fixture
def free_port():
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


@pytest.fixture
def gate():
    """Return the gate before `{ wait }`; it opens when the test ends."""
    made = Gate()
    yield made
    made.open.set()


@pytest.fixture
def life():
    """Return what the endless sources of a streaming schema tell."""
    return Life()


@pytest.fixture
def schema(gate):
    """Return a schema with a plain, a slow and an async resolver and a mutation."""

    async def later(*_: object) -> str:
        return threading.current_thread().name

    query = {"hello": lambda *_: "Hello world!", "wait": gate, "later": later}
    return Schema(SDL, {"Query": query, "Mutation": {"count": lambda *_: 1}})


@pytest.fixture
def server(schema):
    """Return a server on a free port."""
    with serve(schema, port=0) as made:
        yield made


class Wire:
    """One connection, byte by byte."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self.sock.sendall(data)

    def post(
        self, body: bytes = b'{"query":"{ hello }"}', *headers: bytes, length: int | None = None
    ) -> None:
        """Send a POST; `length` announces more than is sent."""
        lines = [
            b"POST /graphql HTTP/1.1",
            b"Host: localhost",
            b"Content-Type: application/json",
            b"Content-Length: %d" % (len(body) if length is None else length),
            *headers,
        ]
        self.send(b"\r\n".join([*lines, b"", body]))

    def head(self) -> tuple[int, dict[str, str]]:
        """Read up to the end of a head and return status and headers."""
        data = b""
        while not data.endswith(b"\r\n\r\n"):
            byte = self.sock.recv(1)
            assert byte, f"closed after {data!r}"
            data += byte
        first, *lines = data.decode("latin-1").split("\r\n")[:-2]
        pairs = (line.partition(": ")[::2] for line in lines)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Read one response with a Content-Length."""
        status, headers = self.head()
        body = b""
        while missing := int(headers["content-length"]) - len(body):
            part = self.sock.recv(missing)
            assert part, f"closed after {body!r}"
            body += part
        return status, headers, body

    def closed(self) -> bool:
        """Wait until the other side closes; tell whether nothing came before."""
        try:
            return self.sock.recv(1) == b""
        except ConnectionResetError:
            return True


@pytest.fixture
def wire(server):
    """Return a function that opens a connection to the server, or to a port."""
    opened: list[Wire] = []

    def connect(port: int | None = None) -> Wire:
        opened.append(Wire(server.port if port is None else port))
        return opened[-1]

    yield connect
    for one in opened:
        one.sock.close()

"""An endpoint on raw sockets that does what a test tells it to, however wrong that is."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.http.messages import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JSON = "application/json"


class Close(NamedTuple):
    """Bytes after which the connection is closed."""

    data: bytes = b""


class Reset(NamedTuple):
    """Bytes after which the connection is reset."""

    data: bytes = b""


def answer(body: bytes | str, status: str = "200 OK", **headers: Any) -> bytes:
    """Return an answer; underscores in names of headers become hyphens, None leaves one out."""
    body = body if isinstance(body, bytes) else body.encode()
    named = {"Content-Type": JSON, "Content-Length": len(body)}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body


def json_answer(members: Any, status: str = "200 OK", **headers: Any) -> bytes:
    """Return an answer whose body is JSON."""
    return answer(json.dumps(members), status, **headers)


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n", **headers: Any) -> bytes:
    """Return an answer in chunks."""
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return answer(body + end, Content_Length=None, Transfer_Encoding="chunked", **headers)


def squeezed(members: Any) -> bytes:
    """Return JSON in gzip."""
    return gzip.compress(json.dumps(members).encode())


class Wire:
    """A transport that keeps its requests, and answers them with a body or by a function."""

    source = "wire"

    def __init__(self, answer: str | bytes | Callable[[Any], Response]) -> None:
        self.requests: list[Any] = []
        self._answer = answer

    def send(self, request: Any) -> Response:
        """Keep a request and answer it."""
        self.requests.append(request)
        if callable(self._answer):
            return self._answer(request)
        body = self._answer if isinstance(self._answer, bytes) else self._answer.encode()
        return Response(200, {"content-type": JSON}, body)

    async def asend(self, request: Any) -> Response:
        """Do the same."""
        return self.send(request)

    def close(self) -> None:
        """Do nothing."""


class Endpoint:
    """Gives each request the next answer of a list, the last one for ever.

    An answer is bytes, a `Close` or `Reset`, or a function that gets the connection and an event
    that is set when the test is over; the connection is closed when it returns.

    Attributes
    ----------
    requests : list of bytes
        What was sent to it.
    connections : int
        How many there were.
    gone : threading.Event
        Set when the client closes a connection while a function has it.
    """

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections = 0
        self.over, self.gone = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._open: list[socket.socket] = []
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/graphql"
        self._threads = [threading.Thread(target=self._listen)]
        self._threads[0].start()

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close everything, and wait for its threads."""
        self.over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join(10)
        self.hang_up()
        for thread in self._threads:
            thread.join(10)

    def hang_up(self) -> None:
        """Close the connections there are."""
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            thread = threading.Thread(target=self._talk, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while request := read_request(connection):
                with self._lock:
                    self.requests.append(request)
                    said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if not self._say(connection, said):
                    return

    def _say(self, connection: socket.socket, said: Any) -> bool:
        """Give one answer, and tell whether the connection stays."""
        if isinstance(said, bytes):
            connection.sendall(said)
            return True
        if isinstance(said, Reset):
            connection.sendall(said.data)
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        elif isinstance(said, Close):
            connection.sendall(said.data)
        else:
            try:
                said(connection, self.over)
            finally:
                self.gone.set()
        return False


def read_request(connection: socket.socket) -> bytes:
    """Read one request with a Content-Length; nothing if the connection was closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return b""
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    wanted = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < wanted:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def dripping(first: bytes, drop: bytes, pause: float = 0.02) -> Callable[..., None]:
    """Return an answer that goes on for ever, a little at a time."""

    def drip(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(first)
        while not over.wait(pause):
            connection.sendall(drop)

    return drip


def endless(first: bytes, piece: bytes) -> Callable[..., None]:
    """Return an answer that goes on for ever, as fast as it is read."""
    return dripping(first, piece, 0)


def silent(connection: socket.socket, over: threading.Event) -> None:
    """Say nothing until the client goes or the test is over."""
    connection.settimeout(30)
    connection.recv(1)


def stalled(first: bytes) -> Callable[..., None]:
    """Return an answer that begins and never goes on."""

    def stall(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(first)
        silent(connection, over)

    return stall


def cuts(said: bytes) -> Iterator[bytes]:
    """Yield an answer cut before each of its bytes."""
    for length in range(len(said)):
        yield said[:length]

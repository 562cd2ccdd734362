"""Connections that end: every wait of a call is bounded by its one deadline, and so are its bytes.

A timeout of requests is a limit for the next byte, so an endpoint that sends one every second keeps
a caller for ever. Here each receive waits no longer than what is left of the call. The classes
below have urllib3's connections keep that rule; its pools, TLS and proxies stay as they are.
"""

from __future__ import annotations

import http.client
import io
import logging
import re
import socket
import ssl
import threading
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

__all__ = ["Call", "DeadlineAdapter", "TooLargeError"]

HEAD_BYTES = 1 << 20  # bytes granted to the head of an answer beside its body
MAX_INTERIM = 32  # answers with a status 1xx before the final one; two are usual
BUFFER_BYTES = 1 << 16  # bytes
ALERT_SECONDS = 1.0  # seconds; it was sent before the connection was closed
MAX_PIECES = 64  # of a request; one of JSON has two
# RFC 9112, 7.1; int(text, 16) would take "-1" too, and read until the endpoint tires of sending.
CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?\r?\n", re.DOTALL)

_thread_state = threading.local()  # .call: what this thread is doing


def _is_foreign_record(_record: logging.LogRecord) -> bool:
    """Let urllib3 log what it does for others: it logs addresses, and headers it cannot read."""
    return getattr(_thread_state, "call", None) is None


for _room in ("connection", "connectionpool", "response", "util.retry"):
    logging.getLogger(f"urllib3.{_room}").addFilter(_is_foreign_record)


class TooLargeError(Exception):
    """More bytes came than were granted."""


class Call:
    """One exchange with an endpoint: when it must be over, and how much may come.

    Parameters
    ----------
    deadline
        The moment, of :func:`time.monotonic`, after which nothing is waited for.
    cap
        Bytes that may come, None for any number.

    Attributes
    ----------
    socket : Line or None
        The connection it went over, once there is one.
    is_reused : bool
        Whether that connection had carried another call before.
    received : int
        Bytes that came.
    """

    __slots__ = ("cap", "deadline", "is_reused", "received", "socket")

    def __init__(self, until: float, cap: int | None = None) -> None:
        self.deadline = until
        self.cap = inf if cap is None else cap + HEAD_BYTES
        self.socket: DeadlineSocket | None = None
        self.is_reused = False
        self.received = 0

    def __enter__(self) -> None:
        _thread_state.call = self

    def __exit__(self, *_: object) -> None:
        _thread_state.call = None

    def get_remaining(self) -> float:
        """Return the seconds left.

        Raises
        ------
        TimeoutError
            If there are none.
        """
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def cancel(self) -> None:
        """End it at once, from any thread: whoever waits for its bytes is woken."""
        self.deadline = -inf
        if self.socket is not None:
            self.socket.wake_reader(self)


class DeadlineSocket:
    """A socket that waits no longer than the call it is used for.

    It stands where urllib3 expects the socket, and hands on what it does not change.
    """

    def __init__(self, sock: socket.socket, owner: DeadlineConnection) -> None:
        self._sock = sock
        self._owner = owner
        self._call: Call | None = None
        self._pending: list[bytes] = []
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    def begin_call(self, call: Call, *, reused: bool) -> None:
        """Note whose waits these are from now on."""
        call.socket, call.is_reused = self, reused
        self._pending = []
        with self._lock:
            self._call = call

    def end_call(self, *, surplus: bool) -> None:
        """Note that an answer was read; what came beyond it would be taken for the next one."""
        with self._lock:
            self._call = None
        pending = getattr(self._sock, "pending", None)  # bytes that TLS has unpacked already
        if surplus or (pending is not None and pending()):
            self._owner.close()

    def wake_reader(self, call: Call) -> None:
        """Shut the connection down if it is still used by `call`.

        Closing alone would not wake a thread that waits in ``recv``.
        """
        with self._lock:
            if self._call is call:
                with suppress(OSError):
                    socket.socket.shutdown(self._sock, socket.SHUT_RDWR)

    def settimeout(self, _seconds: float | None) -> None:
        """Do nothing: the call says how long to wait."""

    def sendall(self, data: Any) -> None:
        """Keep bytes until all of a request is there.

        In one piece it wakes the other side once, not for the head and again for the body. What
        is read from a file while it is sent goes on its way at once.
        """
        self._pending.append(data)
        if len(data) >= BUFFER_BYTES or len(self._pending) >= MAX_PIECES:
            self.flush()

    def flush(self) -> None:
        """Send what was kept in the time that is left."""
        data, self._pending = b"".join(self._pending), []
        if not data:
            return
        self._sock.settimeout(self._get_remaining())
        ended: ssl.SSLEOFError | None = None
        try:
            self._sock.sendall(data)
        except ssl.SSLEOFError as error:
            ended = error
        if ended is not None:
            self._read_alert()  # not above: an alert is no connection that broke
            raise ended

    def _read_alert(self) -> None:
        """Raise the alert of TLS, if any, that the other side sent before it closed.

        In TLS 1.3 a server that wants a client certificate says so after the client's handshake
        is over, which may be while the request is sent.

        Raises
        ------
        ssl.SSLError
            If there is an alert.
        """
        self._sock.settimeout(ALERT_SECONDS)
        with suppress(ssl.SSLEOFError, TimeoutError, ConnectionError):
            self._sock.recv(1)

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        """Return a buffered file to read one answer from."""
        return AnswerReader(
            IncomingBytes(self, self._sock.makefile("rb", buffering=0)), BUFFER_BYTES
        )

    def receive_into(self, raw: io.RawIOBase, buffer: Any) -> int:
        """Receive some bytes into `buffer` in the time that is left, and count them."""
        self._sock.settimeout(self._get_remaining())
        count = raw.readinto(buffer) or 0
        call = self._call
        if call is not None:
            call.received += count
            if call.received > call.cap:
                raise TooLargeError
        return count

    def _get_remaining(self) -> float | None:
        left = inf if self._call is None else self._call.get_remaining()
        return None if left == inf else left


class IncomingBytes(io.RawIOBase):
    """The bytes that come in over a line.

    Attributes
    ----------
    ended : bool
        Whether the other side has closed.
    is_held : bool
        Whether to give nothing more: only what is buffered already counts.
    """

    def __init__(self, line: DeadlineSocket, raw: Any) -> None:
        self.socket = line
        self.ended = False
        self.is_held = False
        self._raw = raw

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Receive some bytes."""
        if self.is_held:
            return 0
        count = self.socket.receive_into(self._raw, buffer)
        self.ended = self.ended or not count
        return count

    def close(self) -> None:
        """Give back the hold on the socket."""
        if not self.closed:
            self._raw.close()
        super().close()


class AnswerReader(io.BufferedReader):
    """Reads one answer; closed when that has been read."""

    raw: IncomingBytes

    def close(self) -> None:
        """Close the connection too if more has come than the answer."""
        if not self.closed:
            self.raw.is_held = True  # so that the look waits for nothing
            surplus = bool(self.peek(1))
            self.raw.socket.end_call(surplus=surplus)
        super().close()


class StrictHTTPResponse(http.client.HTTPResponse):
    """Reads the head of an answer as strictly as RFC 9112 says, where the library is lenient."""

    def __init__(self, sock: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._raw: Any = self.fp.raw  # of the socket itself while a proxy is asked for a tunnel

    def begin(self) -> None:
        """Read the head; one that ends early is no head."""
        super().begin()
        if self._has_ended():
            self._raise_broken()
        lengths = {each.strip() for each in self.headers.get("content-length", "").split(",")}
        if self.chunked and lengths != {""}:
            self.will_close = True  # RFC 9112, 6.3: two lengths are an attempt to smuggle
        elif self.length is None and len(lengths) == 1 and (only := lengths.pop()).isdecimal():
            self.length = int(only)  # the same one twice in a line, which proxies make
            self.will_close = self._check_close()  # type: ignore[attr-defined]

    def _read_status(self) -> tuple[str, int, str]:
        """Read the first line of the final answer, past those with a status 1xx."""
        for _ in range(MAX_INTERIM):
            try:
                version, status, reason = super()._read_status()  # type: ignore[misc]
            except http.client.BadStatusLine:
                if self._has_ended():
                    self._raise_broken()
                raise
            if not 100 <= status < 200 or status == http.client.SWITCHING_PROTOCOLS:
                return version, status, reason
            http.client.parse_headers(self.fp)
        msg = "too many interim answers"
        raise http.client.HTTPException(msg)

    def _read_next_chunk_size(self) -> int:
        line = self.fp.readline(BUFFER_BYTES)
        match = CHUNK_SIZE.fullmatch(line)
        if match is None:
            self._close_conn()  # type: ignore[attr-defined]
            raise ValueError
        return int(match[1], 16)

    def _has_ended(self) -> bool:
        return getattr(self._raw, "ended", False)

    def _raise_broken(self) -> None:
        self.close()
        msg = "the head breaks off"
        raise http.client.RemoteDisconnected(msg)


class DeadlineMixin:
    """What a connection does for the call of its thread."""

    response_class: Any = StrictHTTPResponse
    call_count = 0  # calls, since it was connected
    debuglevel = 0  # whoever sets that of http.client would have it print our headers

    def connect(self) -> None:
        """Connect, and wrap the socket."""
        super().connect()  # type: ignore[misc]
        self.sock: Any = DeadlineSocket(self.sock, self)  # type: ignore[arg-type]
        self.call_count = 0
        _thread_state.call.socket = self.sock

    def request(self, *arguments: Any, **options: Any) -> None:
        """Send a request, connecting first where there is no connection."""
        if self.sock is None:
            self.connect()
        self.sock.begin_call(_thread_state.call, reused=self.call_count > 0)
        self.call_count += 1
        super().request(*arguments, **options)  # type: ignore[misc]
        self.sock.flush()


class DeadlineConnection(DeadlineMixin, HTTPConnection):
    """A connection in the clear."""


class SecureDeadlineConnection(DeadlineMixin, HTTPSConnection):
    """A connection over TLS."""


class DeadlinePool(HTTPConnectionPool):
    """Connections in the clear to one origin."""

    ConnectionCls = DeadlineConnection


class SecureDeadlinePool(HTTPSConnectionPool):
    """Connections over TLS to one origin."""

    ConnectionCls = SecureDeadlineConnection


POOLS = {"http": DeadlinePool, "https": SecureDeadlinePool}


class DeadlineAdapter(HTTPAdapter):
    """The adapter of requests, over connections of ours, a proxy's too.

    Parameters
    ----------
    context
        What checks certificates of endpoints and holds that of the client; None for requests' own.
    **options
        Those of :class:`requests.adapters.HTTPAdapter`.
    """

    def __init__(self, context: ssl.SSLContext | None = None, **options: Any) -> None:
        self._tls_options = {} if context is None else {"ssl_context": context}
        super().__init__(**options)

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Make the pools for connections to the endpoint itself."""
        super().init_poolmanager(*arguments, **{**options, **self._tls_options})
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Return the pools for connections through a proxy."""
        manager = super().proxy_manager_for(proxy, **options, **self._tls_options)
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = POOLS
        return manager

"""Limits of connections, in front of uvicorn's protocols, which limit idle connections only.

A connection is in one of five stages, and each but the execution has a time limit::

    idle > head > body > running > sending > idle ...
     75 s   10 s   10 s   (limit   75 s without progress: abort
     close  408    408    of app)

There is no timer per request. A :class:`ConnectionWatcher` checks every connection about once a
second, and measures the time since the last change of stage; an incomplete head or body is checked
with each part of it. A complete request, the usual case, costs a few attribute accesses.
"""

from __future__ import annotations

import asyncio
import sys
from email.utils import formatdate
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from gqlnb.http.preconditions import build_error_response

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Iterable

    from uvicorn.protocols.http.flow_control import FlowControl

    from gqlnb.document.limits import Limits
    from gqlnb.server.app import App

__all__ = [
    "BODY",
    "HEAD",
    "ConnectionWatcher",
    "LimitedConnection",
    "WatchedConnection",
    "has_body_header",
]

IDLE, HEAD, BODY, RUNNING, SENDING = "idle", "head", "body", "running", "sending"
_WAITING_STAGES = {IDLE, HEAD, BODY}  # stages that wait for the client
# Bytes given to the parser at once. The requests in them are started or queued before we can check,
# so this also limits the pipelined requests of a client.
PIECE_SIZE = 4096
# Seconds for which a refused connection is read on, and the maximum number of such connections:
# closed with unread bytes, a connection is reset, and the response may be lost (RFC 9112, 9.6).
_DRAIN_SECONDS = 2.0
MAX_DRAINING = 64
_MESSAGES = {
    400: "This is not HTTP/1.1 (RFC 9112), or could be read in two ways.",
    408: "The request did not come in time. Send it again, faster.",
    431: "The head of the request is too large. Send fewer or shorter headers, or a shorter URL.",
    503: "Too many requests are being answered. Try again in a moment.",
}


# One check per second over all connections, and one when a head or a body is incomplete, instead
# of a timer per request: the stage found twice tells how long it has lasted.
class ConnectionWatcher:
    """The limits of the connections of one listener.

    Parameters
    ----------
    app
        The application, whose `limits` apply. They may change.
    state
        The state shared by uvicorn's protocols: connections, tasks and default headers.

    Attributes
    ----------
    leaving
        Closing connections that still drain, with the time at which they are aborted.
    max_head
        Maximum size of a head in bytes.
    unchecked_bytes
        Bytes that need no check while nothing is incomplete.
    stage_timeouts
        Seconds by stage.
    interval
        Seconds between two checks.
    date
        The ``Date`` header line of every response.
    """

    date = b""

    def __init__(self, app: App, state: Any) -> None:
        self.app = app
        self.state = state
        self.leaving: dict[LimitedConnection, float] = {}
        self.apply_limits(app.limits)

    def apply_limits(self, limits: Limits) -> None:
        """Set the limits."""
        self.limits = limits
        self.max_head = limits.head or sys.maxsize
        self.unchecked_bytes = min(PIECE_SIZE, self.max_head)
        self.max_connections = limits.connections or sys.maxsize
        idle, head = limits.idle_seconds or inf, limits.head_seconds or inf
        body = limits.body_seconds or inf
        self.interval = min(1.0, min(idle, head, body) / 4)
        # The app has the same deadline for a body and logs it, so it must come first.
        body += self.interval
        self.stage_timeouts = {IDLE: idle, HEAD: head, BODY: body, RUNNING: inf, SENDING: idle}

    async def run(self) -> None:
        """Check every connection, and update the ``Date`` (RFC 9110, 6.6.1), until cancelled."""
        while True:
            self.date = b"date: %b\r\n" % (now := formatdate(usegmt=True).encode())
            self.state.default_headers = [(b"date", now)]
            self.check_connections(monotonic())
            await asyncio.sleep(self.interval)

    def check_connections(self, now: float) -> None:
        """Check every connection once."""
        limits = self.app.limits
        if limits is not self.limits:
            self.apply_limits(limits)
        for connection in list(self.state.connections):
            connection.check_stage(now)
        for connection, end in list(self.leaving.items()):
            if now >= end:
                del self.leaving[connection]
                connection.transport.abort()

    def admit_connection(self, new: LimitedConnection) -> None:
        """Close a connection if there are too many: the one idle longest, or sending slowest.

        The new connection is refused if all others have a complete request.
        """
        others = self.state.connections - {new}
        if len(others) < self.max_connections:
            return
        waiting = [
            it for it in others if it.get_stage() in _WAITING_STAGES and not it.count_unsent()
        ]
        victim = min(
            waiting, key=lambda it: (it.get_stage() is not IDLE, it.idle_since), default=new
        )
        if victim.cycle is not None and victim.get_stage() is IDLE:
            victim.close_connection()  # without a response: clients expect it with keep-alive
        else:
            victim.refuse_connection(503)

    def list_connections(self) -> list[Any]:
        """Return all connections, closing ones included."""
        return [*self.state.connections, *self.leaving]


class WatchedConnection:
    """A connection with time limits for its stages."""

    watcher: ConnectionWatcher
    transport: Any
    cycle: Any = None  # uvicorn's newest request; a WebSocket has none
    idle_since = 0.0
    _last_stage = IDLE
    _stage_since = 0.0
    _last_cycle: Any = None
    _last_unsent = 0

    def get_stage(self) -> str:
        """Return the stage of the newest request, apart from sending."""
        return RUNNING

    def count_unsent(self) -> int:
        """Return the number of bytes that the client has not received."""
        return self.transport.get_write_buffer_size()  # type: ignore[no-any-return]

    def check_stage(self, now: float) -> None:
        """Record the stage, and end one that is over its limit."""
        unsent = self.count_unsent()
        stage = SENDING if unsent else self.get_stage()
        has_progress = unsent < self._last_unsent
        if stage is not self._last_stage or self.cycle is not self._last_cycle or has_progress:
            self._last_stage, self._last_cycle, self._stage_since = stage, self.cycle, now
        if stage is IDLE:
            self._stage_since = self.idle_since  # requests between two checks change nothing else
        self._last_unsent = unsent
        if now - self._stage_since >= self.watcher.stage_timeouts[stage]:
            self.expire_stage(stage)

    def expire_stage(self, stage: str) -> None:  # noqa: ARG002 - a WebSocket has only SENDING
        """End a stage that is over its limit."""
        self.transport.abort()


class LimitedConnection(WatchedConnection, asyncio.Protocol):
    """Mixin with limits for one of uvicorn's HTTP protocols, the first of its base classes.

    Attributes
    ----------
    idle_since
        Monotonic time of the last response, or of the connection.
    """

    # These are uvicorn's.
    connections: set[Any]
    flow: FlowControl
    pipeline: deque[Any]  # requests that wait for the response to an earlier one
    server_state: Any  # its set of connections is typed for uvicorn's own protocols
    # Bytes that may be parsed without a check; 0 while a head or body is incomplete.
    _unchecked_bytes = PIECE_SIZE
    # Size of the incomplete head; behind a body, of its incomplete trailers.
    _pending_head_bytes = 0
    _ignores_input = False
    # Bytes received behind pipelined requests; None: reading is not paused.
    _held_data: bytes | None = None
    _final_status = 0  # the status of the response that will end the connection

    def find_incomplete_part(self) -> str | None:
        """Return the incomplete part of the current request: HEAD, BODY or None."""
        raise NotImplementedError

    def decline_upgrade(self, data: bytes) -> bytes | None:  # noqa: ARG002
        """Return the bytes to parse instead of `data`, if an offer to upgrade was in it."""
        return None

    def connection_made(self, transport: Any) -> None:
        """Accept or refuse a new connection."""
        super().connection_made(transport)
        self.idle_since = self._stage_since = monotonic()
        self._unchecked_bytes = self.watcher.unchecked_bytes
        self.watcher.admit_connection(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the watcher."""
        self.watcher.leaving.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data, and check the limits unless it is a complete request."""
        if len(data) > self._unchecked_bytes:
            self._read_pieces(data)
            return
        super().data_received(data)
        if self.pipeline or self.find_incomplete_part() is not None:
            cycle = self.cycle
            self._handle_incomplete(data, cycle is not None and not cycle.response_complete)

    def _read_pieces(self, data: bytes) -> None:
        """Parse data in pieces, and check the limits after each."""
        start = 0
        while start < len(data) and not self._ignores_input:
            if self.pipeline:
                self._hold_data(data[start:])
                return
            end = start + max(1, min(PIECE_SIZE, self.watcher.max_head - self._pending_head_bytes))
            piece, start = data[start:end], end
            part, cycle = self.find_incomplete_part(), self.cycle
            size = len(cycle.body) if part is BODY else 0
            super().data_received(piece)
            if self._ignores_input:
                return
            now = self.find_incomplete_part()
            same = cycle is self.cycle and now is (part or HEAD)
            if self.pipeline or now is not None:
                self._handle_incomplete(piece, not same or (now is BODY and len(cycle.body) > size))
            else:
                self._unchecked_bytes, self._pending_head_bytes = self.watcher.unchecked_bytes, 0

    def _handle_incomplete(self, data: bytes, fruitful: bool) -> None:
        """Check the limits after data that left a head or body incomplete, or requests waiting.

        Parameters
        ----------
        data
            The data just parsed.
        fruitful
            Whether it had a part of a body, or the end of a head.
        """
        if self._ignores_input:
            return
        again = self.decline_upgrade(data)
        if again is not None:
            self._unchecked_bytes = self._pending_head_bytes = 0
            self._read_pieces(again)
            return
        self._unchecked_bytes = 0
        # The parser keeps the trailers behind a body like a head, so they have the same limit.
        self._pending_head_bytes = 0 if fruitful else self._pending_head_bytes + len(data)
        if self._pending_head_bytes >= self.watcher.max_head:
            self.fail_request(431)
        elif self.pipeline:
            self._hold_data(b"")
        else:
            self.check_stage(monotonic())

    def _hold_data(self, data: bytes) -> None:
        """Pause reading until no request waits, and keep `data`, which was received already."""
        self._unchecked_bytes = 0
        self._held_data = (self._held_data or b"") + data
        self.flow.pause_reading()
        self.flow.read_paused = False  # so that uvicorn does not resume reading

    def resume_after_answer(self) -> None:
        """Resume reading after a response, if uvicorn has no further request waiting."""
        self.idle_since = monotonic()
        if self.pipeline or self._ignores_input:
            return
        if self._held_data is not None:
            held, self._held_data = self._held_data, None
            self._unchecked_bytes = (
                0 if self.find_incomplete_part() is not None else self.watcher.unchecked_bytes
            )
            self.transport.resume_reading()
            self._read_pieces(held)

    def get_stage(self) -> str:
        """Return the stage of the newest request, apart from sending."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return HEAD if self.find_incomplete_part() is HEAD else IDLE
        if not cycle.more_body or cycle.response_started or self.pipeline:
            return RUNNING
        return BODY

    def expire_stage(self, stage: str) -> None:
        """End a stage that lasted too long."""
        if stage is IDLE:
            self.close_connection()
        elif stage is SENDING:
            self.transport.abort()
        else:
            self.refuse_connection(408)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's text; ours is JSON
        """Refuse data that the parser rejected."""
        self.fail_request(400)

    def fail_request(self, status: int) -> None:
        """Stop reading, and refuse the connection after the responses to earlier requests."""
        cycle = self.cycle
        is_reading = cycle is not None and cycle.more_body and not cycle.response_complete
        if is_reading and self.pipeline:  # the invalid request waits: it must not start
            self.pipeline.popleft()
        elif is_reading or cycle is None or cycle.response_complete:
            self.refuse_connection(status)
            return
        self._ignores_input, self._unchecked_bytes, self._final_status = True, 0, status

    def refuse_connection(self, status: int) -> None:
        """Send an error, unless a response has begun, and close the connection."""
        cycle = self.cycle
        begun = cycle is not None and cycle.response_started and not cycle.response_complete
        if not begun and not self.transport.is_closing():
            self.transport.write(_encode_refusal(status, self.server_state.default_headers))
        self.close_connection(drain=not begun and len(self.watcher.leaving) < MAX_DRAINING)

    def close_connection(self, *, drain: bool = False) -> None:
        """Close the connection; it is aborted if that takes too long.

        Parameters
        ----------
        drain
            Whether to wait until the client has received everything and closed.
        """
        held, self._held_data = self._held_data, None
        self._ignores_input, self._unchecked_bytes = True, 0
        self.connections.discard(self)
        self.watcher.leaving[self] = monotonic() + _DRAIN_SECONDS
        if not drain:
            self.transport.close()
        elif not self.transport.is_closing():
            self.transport.write_eof()
            self.flow.resume_reading()
            if held is not None:
                self.transport.resume_reading()
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:  # tell the app
            cycle.disconnected = True
            cycle.message_event.set()
            self.flow.resume_writing()


def _encode_refusal(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the bytes of an error response with ``connection: close``."""
    response = build_error_response(status, _MESSAGES[status])
    lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
    lines += [b"%s: %s" % pair for pair in headers]
    lines += [f"{name}: {text}".encode("latin-1") for name, text in response.headers.items()]
    lines += [b"content-length: %d" % len(response.body), b"connection: close", b""]
    lines.append(response.body)
    return b"\r\n".join(lines)


def has_body_header(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether headers announce a body, which a WebSocket's must not."""
    lengths = {b"content-length", b"transfer-encoding"}
    return any(name.lower() in lengths and value != b"0" for name, value in headers)

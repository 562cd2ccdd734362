"""Bounds on connections, in front of uvicorn's protocols, which know none but the idle one.

A connection is always in one stage, and each but the work itself has its time::

    idle > head > body > running > sending > idle ...
     75 s   10 s   10 s   (the     as long as it gets on;
     close  408    408     app's)  75 s without: abort

Nothing is timed per request. A :class:`ConnectionWatcher` looks at every connection about once a second, and
where it finds the same stage again it knows how long that has lasted; data that leave a head or a
body incomplete are looked at as they come. A whole request, the usual case, costs a few attributes.
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
    from collections.abc import Iterable

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
WAITING_STAGES = {IDLE, HEAD, BODY}  # for the client
# Bytes given to the parser at once. What it finds in them is started or queued before we can look,
# so this is also what a client can have queued by sending requests ahead of the answers.
PIECE_SIZE = 4096
# Seconds for which a refused client may go on sending into the void, and how many at once: closed
# with bytes unread, a connection is reset, and the refusal may be lost (RFC 9112, 9.6).
DRAIN_SECONDS = 2.0
MAX_DRAINING = 64
MESSAGES = {
    400: "This is not HTTP/1.1 (RFC 9112), or could be read in two ways.",
    408: "The request did not come in time. Send it again, faster.",
    431: "The head of the request is too large. Send fewer or shorter headers, or a shorter URL.",
    503: "Too many requests are being answered. Try again in a moment.",
}


class ConnectionWatcher:
    """The connections of one listener: how many there may be, and how long each may take.

    Parameters
    ----------
    app
        Whose `limits` hold; those of an app it becomes hold from the next look on.
    state
        What uvicorn's protocols share: connections, tasks and headers of every answer.

    Attributes
    ----------
    leaving
        Refused connections that still drain, with the time at which they are cut off.
    max_head
        Bytes a head may have.
    unchecked_bytes
        Bytes that need no look while nothing is incomplete.
    stage_timeouts
        Seconds by stage.
    interval
        Seconds between two looks.
    date
        The line of every answer that says when it was made.
    """

    date = b""

    def __init__(self, app: App, state: Any) -> None:
        self.app = app
        self.state = state
        self.leaving: dict[LimitedConnection, float] = {}
        self.apply_limits(app.limits)

    def apply_limits(self, limits: Limits) -> None:
        """Take over limits."""
        self.limits = limits
        self.max_head = limits.head or sys.maxsize
        self.unchecked_bytes = min(PIECE_SIZE, self.max_head)
        self.max_connections = limits.connections or sys.maxsize
        idle, head = limits.idle_seconds or inf, limits.head_seconds or inf
        body = limits.body_seconds or inf
        self.interval = min(1.0, min(idle, head, body) / 4)
        # The app has the same deadline for a body, and a log to note it in: it goes first.
        body += self.interval
        self.stage_timeouts = {IDLE: idle, HEAD: head, BODY: body, RUNNING: inf, SENDING: idle}

    async def run(self) -> None:
        """Look at every connection, for ever; keep the ``Date`` current (RFC 9110, 6.6.1)."""
        while True:
            self.date = b"date: %b\r\n" % (now := formatdate(usegmt=True).encode())
            self.state.default_headers = [(b"date", now)]
            self.check_connections(monotonic())
            await asyncio.sleep(self.interval)

    def check_connections(self, now: float) -> None:
        """Look at every connection once."""
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
        """Make room for a connection: the one idle longest goes, or one that sends too slowly.

        Where every other has a request that came in full, the new one is refused.
        """
        others = self.state.connections - {new}
        if len(others) < self.max_connections:
            return
        waits = [
            one for one in others if one.get_stage() in WAITING_STAGES and not one.count_unsent()
        ]
        least = min(
            waits, key=lambda one: (one.get_stage() is not IDLE, one.idle_since), default=new
        )
        if least.cycle is not None and least.get_stage() is IDLE:
            least.close_connection()  # it has been answered, and a client expects that of a kept connection
        else:
            least.refuse_connection(503)

    def list_connections(self) -> list[Any]:
        """Return every connection, also those that are taking leave."""
        return [*self.state.connections, *self.leaving]


class WatchedConnection:
    """A connection whose stages are noted, so that none lasts too long."""

    watcher: ConnectionWatcher
    transport: Any
    cycle: Any = None  # the newest request; a WebSocket has none
    idle_since = 0.0
    _last_stage = IDLE
    _stage_since = 0.0
    _last_cycle: Any = None
    _last_unsent = 0

    def get_stage(self) -> str:
        """Return the stage, as far as requests go."""
        return RUNNING

    def count_unsent(self) -> int:
        """Return how many bytes of answers still wait for a slow reader."""
        return self.transport.get_write_buffer_size()  # type: ignore[no-any-return]

    def check_stage(self, now: float) -> None:
        """Note the stage, and end one that has lasted too long."""
        unsent = self.count_unsent()
        stage = SENDING if unsent else self.get_stage()
        got_on = unsent < self._last_unsent
        if stage is not self._last_stage or self.cycle is not self._last_cycle or got_on:
            self._last_stage, self._last_cycle, self._stage_since = stage, self.cycle, now
        if stage is IDLE:
            self._stage_since = self.idle_since  # what is answered quickly leaves no other trace
        self._last_unsent = unsent
        if now - self._stage_since >= self.watcher.stage_timeouts[stage]:
            self.expire_stage(stage)

    def expire_stage(self, stage: str) -> None:  # noqa: ARG002 - a WebSocket has but one that ends
        """End a stage that lasted too long."""
        self.transport.abort()


class LimitedConnection(WatchedConnection, asyncio.Protocol):
    """What stands before one of uvicorn's HTTP protocols, as the first of its base classes.

    Attributes
    ----------
    idle_since
        When the last answer was made, or the connection, on the monotonic clock.
    """

    connections: set[Any]
    flow: Any
    pipeline: Any  # requests that wait for the answers to those before them; true if there are any
    server_state: Any
    _unchecked_bytes = (
        PIECE_SIZE  # bytes that may come without a look; none while something is incomplete
    )
    _pending_head_bytes = (
        0  # bytes of the head so far; of a body, what came last and held nothing of it
    )
    _ignores_input = False  # nothing more is read from it
    _held_data: bytes | None = (
        None  # what came after requests that wait; None: it may go on sending
    )
    _final_status = 0  # the status that ends it once what is running is answered

    def find_incomplete_part(self) -> str | None:
        """Return what is incomplete of the request that is being read: HEAD, BODY or None."""
        raise NotImplementedError

    def decline_upgrade(self, data: bytes) -> bytes | None:  # noqa: ARG002
        """Return what is to be read in place of `data`, which ended in an offer to upgrade."""
        return None

    # ------------------------------------------------------------ what the loop calls

    def connection_made(self, transport: Any) -> None:
        """Take a connection, if there is room."""
        super().connection_made(transport)
        self.idle_since = self._stage_since = monotonic()
        self._unchecked_bytes = self.watcher.unchecked_bytes
        self.watcher.admit_connection(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self.watcher.leaving.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read; a whole request is passed on as it is."""
        if len(data) > self._unchecked_bytes:
            self._read_pieces(data)
            return
        super().data_received(data)
        if self.pipeline or self.find_incomplete_part() is not None:
            cycle = self.cycle
            self._handle_incomplete(data, cycle is not None and not cycle.response_complete)

    # ------------------------------------------------------------ reading

    def _read_pieces(self, data: bytes) -> None:
        """Read piece by piece, so that no piece brings more than is bearable."""
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
        """Note that a head or body has not come in full, or that requests wait.

        Parameters
        ----------
        data
            What has just been read.
        fruitful
            Whether a part of a body was in it, or the end of a head.
        """
        if self._ignores_input:
            return
        again = self.decline_upgrade(data)
        if again is not None:
            self._unchecked_bytes = self._pending_head_bytes = 0
            self._read_pieces(again)
            return
        self._unchecked_bytes = 0
        # A head is what comes until it ends. Behind a body come trailers, and the parser keeps
        # those as it keeps a head.
        self._pending_head_bytes = 0 if fruitful else self._pending_head_bytes + len(data)
        if self._pending_head_bytes >= self.watcher.max_head:
            self.fail_request(431)
        elif self.pipeline:
            self._hold_data(b"")
        else:
            self.check_stage(monotonic())

    def _hold_data(self, data: bytes) -> None:
        """Stop reading until no request waits; `data` has come already."""
        self._unchecked_bytes = 0
        self._held_data = (self._held_data or b"") + data
        self.flow.pause_reading()
        self.flow.read_paused = False  # so that uvicorn, which reads on sooner, does not resume

    def resume_after_answer(self) -> None:
        """Go on after an answer: uvicorn has begun the next request if one was waiting."""
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

    # ------------------------------------------------------------ stages and ends

    def get_stage(self) -> str:
        """Return the stage, as far as requests go."""
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

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's; ours is JSON
        """Refuse what the parser did not understand."""
        self.fail_request(400)

    def fail_request(self, status: int) -> None:
        """Read no more, and refuse once what was asked before is answered."""
        cycle = self.cycle
        own = cycle is not None and cycle.more_body and not cycle.response_complete
        if own and self.pipeline:  # the request at fault has not begun, and won't
            self.pipeline.popleft()
        elif own or cycle is None or cycle.response_complete:
            self.refuse_connection(status)
            return
        self._ignores_input, self._unchecked_bytes, self._final_status = True, 0, status

    def refuse_connection(self, status: int) -> None:
        """Answer with an error and take leave; where an answer has begun, without a word."""
        cycle = self.cycle
        begun = cycle is not None and cycle.response_started and not cycle.response_complete
        if not begun and not self.transport.is_closing():
            self.transport.write(encode_refusal(status, self.server_state.default_headers))
        self.close_connection(drain=not begun and len(self.watcher.leaving) < MAX_DRAINING)

    def close_connection(self, *, drain: bool = False) -> None:
        """Close the connection, cut off if that takes long.

        Parameters
        ----------
        drain
            Whether to wait until the client has read what was sent, and closed.
        """
        held, self._held_data = self._held_data, None
        self._ignores_input, self._unchecked_bytes = True, 0
        self.connections.discard(self)
        self.watcher.leaving[self] = monotonic() + DRAIN_SECONDS
        if not drain:
            self.transport.close()
        elif not self.transport.is_closing():
            self.transport.write_eof()
            self.flow.resume_reading()
            if held is not None:
                self.transport.resume_reading()
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:  # let the app know
            cycle.disconnected = True
            cycle.message_event.set()
            self.flow.resume_writing()


def encode_refusal(status: int, headers: list[tuple[bytes, bytes]]) -> bytes:
    """Return an error as it goes over the wire, after which the connection is closed."""
    made = build_error_response(status, MESSAGES[status])
    lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
    lines += [b"%s: %s" % pair for pair in headers]
    lines += [f"{name}: {text}".encode("latin-1") for name, text in made.headers.items()]
    lines += [b"content-length: %d" % len(made.body), b"connection: close", b"", made.body]
    return b"\r\n".join(lines)


def has_body_header(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tell whether a head says that a body follows; a WebSocket's must not."""
    lengths = {b"content-length", b"transfer-encoding"}
    return any(name.lower() in lengths and value != b"0" for name, value in headers)

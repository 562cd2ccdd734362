"""uvicorn's protocols with limits, of which uvicorn has one for idle connections only.

A connection is in one of five stages, and each but the execution has a time limit::

    idle > head > body > running > sending > idle ...
     75 s   10 s   10 s   (limit   75 s without progress: abort
     close  408    408    of app)

A connection that never sent anything is closed when a head would be late.

There is no timer per request. A :class:`ConnectionWatcher` checks every connection about once a
second, and measures the time since the last change of stage; an incomplete head or body is checked
with each part of it. A complete request, the usual case, costs a few attribute accesses.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from asyncio import CancelledError
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import httptools
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from gqlnb.http.preconditions import build_error_response
from gqlnb.server.app import HEAD_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
    from websockets.frames import Frame

    from gqlnb.limits import Limits
    from gqlnb.server.app import App

# The logger of uvicorn's protocols. It keeps exceptions only: no addresses, paths and invalid
# requests of clients, and no requests that close() cancelled.
_HTTP = logging.getLogger("gqlnb.server.http")
_HTTP.setLevel(logging.ERROR)
_HTTP.addFilter(lambda r: bool(r.exc_info and not isinstance(r.exc_info[1], CancelledError)))
IDLE, HEAD, BODY, RUNNING, SENDING = "idle", "head", "body", "running", "sending"
_INCOMPLETE_STAGES = {HEAD, BODY}  # stages that wait for the rest of a request
# Bytes given to the parser at once. The requests in them are started or queued before we can check,
# so this also limits the pipelined requests of a client.
PIECE_SIZE = 4096
# Seconds for which a refused connection is read on, and the maximum number of such connections:
# closed with unread bytes, a connection is reset, and the response may be lost (RFC 9112, 9.6).
_DRAIN_SECONDS = 2.0
MAX_DRAINING = 64
_MAX_FRAGMENTS = 1024  # of a WebSocket message; more are joined
_MESSAGES = {
    400: "This is not HTTP/1.1 (RFC 9112), or could be read in two ways.",
    408: "The request did not come in time. Send it again, faster.",
    431: "The head of the request is too large. Send fewer or shorter headers, or a shorter URL.",
    503: "Too many requests are being answered. Try again in a moment.",
}
_HTTP_VERSIONS = {"1.0", "1.1"}  # the parser accepts 0.9 and 2.0 as well
_HEAD_END = b"\r\n\r\n"
_UPGRADE_HEADERS = {b"connection", b"http2-settings", b"upgrade"}  # headers of an offer to upgrade
_BODY_HEADERS = {b"content-length", b"transfer-encoding"}


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
    max_connections, max_websockets
        Maximum number of connections, and of the WebSockets among them.
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

    def __init__(self, app: App, state: Any) -> None:  # noqa: ANN401 - its connections are ours
        self.app = app
        self.state = state
        self.leaving: dict[HttpConnection, float] = {}
        self.apply_limits(app.rules.limits)

    def apply_limits(self, limits: Limits) -> None:
        """Set the limits."""
        self.limits = limits
        self.max_head = limits.head or sys.maxsize
        self.unchecked_bytes = min(PIECE_SIZE, self.max_head)
        self.max_connections = limits.connections or sys.maxsize
        # A WebSocket is never closed for a new connection, so they leave room for requests.
        self.max_websockets = max(1, self.max_connections // 2)
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
        limits = self.app.rules.limits
        if limits is not self.limits:
            self.apply_limits(limits)
        for connection in list(self.state.connections):
            connection.check_stage(now)
        for connection, end in list(self.leaving.items()):
            if now >= end:
                del self.leaving[connection]
                connection.transport.abort()

    def admit_connection(self, new: HttpConnection) -> None:
        """Close a connection if there are too many: the one idle longest, or sending slowest.

        The new connection is refused if all others have a complete request.
        """
        if len(self.state.connections) <= self.max_connections:  # with the new one
            return
        victim = self._find_victim(new)
        has_answered = victim is not new and not victim.is_unused
        if has_answered and victim.get_stage() is IDLE:
            victim.close_connection()  # without a response: clients expect it with keep-alive
        else:
            victim.refuse_connection(503)

    def _find_victim(self, new: HttpConnection) -> HttpConnection:
        """Return the connection idle longest, else one with an incomplete request, else `new`."""
        # A search of 256 connections takes 0.1 ms; an order kept for it would cost each response.
        others = [
            one for one in self.state.connections if one is not new and not one.count_unsent()
        ]
        for stages in ({IDLE}, _INCOMPLETE_STAGES):
            waiting = (one for one in others if one.get_stage() in stages)
            victim = min(waiting, key=lambda one: one.idle_since, default=None)
            if victim is not None:
                return victim  # type: ignore[no-any-return]
        return new

    def count_websockets(self) -> int:
        """Return the number of WebSockets."""
        return sum(isinstance(one, WebSocketConnection) for one in self.state.connections)

    def list_connections(self) -> list[Any]:
        """Return all connections, closing ones included."""
        return [*self.state.connections, *self.leaving]


class WatchedConnection:
    """A connection with time limits for its stages."""

    watcher: ConnectionWatcher
    transport: Any
    cycle: Any = None  # uvicorn's newest request; a WebSocket has none
    is_unused = False  # no request was answered yet
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
        timeout = self.watcher.stage_timeouts[stage]
        if self.is_unused and stage is IDLE:
            timeout = min(timeout, self.watcher.stage_timeouts[HEAD])
        if now - self._stage_since >= timeout:
            self.expire_stage(stage)

    def expire_stage(self, stage: str) -> None:  # noqa: ARG002 - a WebSocket has only SENDING
        """End a stage that is over its limit."""
        self.transport.abort()


class HttpConnection(WatchedConnection, HttpToolsProtocol):
    """uvicorn's httptools protocol, with limits and the fast path.

    Attributes
    ----------
    idle_since
        Monotonic time of the last response, or of the connection.
    """

    # Bytes that may be parsed without a check; 0 while a head or body is incomplete.
    _unchecked_bytes = PIECE_SIZE
    # Size of the incomplete head; behind a body, of its incomplete trailers.
    _pending_head_bytes = 0
    _ignores_input = False
    # Bytes received behind pipelined requests; None: reading is not paused.
    _held_data: bytes | None = None
    _held_head = b""  # a known head, not parsed before its body is there
    _declined_upgrade: tuple[bytes, int] | None = None
    _final_status = 0  # the status of the response that will end the connection

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as uvicorn's
        """Accept or refuse a new connection."""
        super().connection_made(transport)
        self._unanswered: list[RequestResponseCycle] = []
        self.idle_since = self._stage_since = monotonic()
        self._unchecked_bytes = self.watcher.unchecked_bytes
        self.watcher.admit_connection(self)
        self.is_unused = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the watcher."""
        self.watcher.leaving.pop(self, None)
        super().connection_lost(exc)
        # uvicorn tells the newest of pipelined requests alone; the one that runs would write to the
        # closed connection, which is an exception on uvloop.
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Answer a repeated request from the fast path; parse any other."""
        if self._held_head:
            data, self._held_head = self._held_head + data, b""
        end = data.find(_HEAD_END) + len(_HEAD_END)
        if end < len(_HEAD_END) or not self._is_between_requests():
            self._parse(data)
            return
        head, app = data[:end], self.watcher.app
        if end == len(data) and app.needs_body(head):
            # http.client, and so requests and urllib3, sends the body in a segment of its own.
            self._held_head = head
            return
        answer = app.answer_from_hot_path(head, data[end:])
        if answer is not None:
            status, rest = answer
            self.transport.write(b"".join((STATUS_LINE[status], self.watcher.date, rest)))
            self.mark_idle()
            return
        began, app.began = app.began, None
        self._parse(data)
        if self._is_whole_request(len(data) - end):
            # Before the application runs. A function, as uvicorn's trace has the text of the scope,
            # and heads may have a token.
            self.scope["state"][HEAD_KEY] = lambda: (head, began)

    def _parse(self, data: bytes) -> None:
        """Parse data, and check the limits unless it is a complete request."""
        if len(data) > self._unchecked_bytes:
            self._parse_pieces(data)
            return
        super().data_received(data)
        if self.pipeline or self._find_incomplete_part() is not None:
            cycle = self.cycle
            self._handle_incomplete(
                data, fruitful=cycle is not None and not cycle.response_complete
            )

    def on_headers_complete(self) -> None:
        """Start the request with a copy of its headers, and its target as it was sent."""
        # The parser reports the fields of a trailer like headers, and uvicorn appends them to its
        # list, before the application runs if all is received at once. They must not pass for a
        # token or a Host (RFC 9110, 6.5.1).
        version = self.parser.get_http_version()
        if version not in _HTTP_VERSIONS:
            raise httptools.HttpParserError
        self.expect_100_continue &= version == "1.1"  # RFC 9110, 10.1.1
        super().on_headers_complete()
        self._unanswered = [one for one in self._unanswered if not one.response_complete]
        if self.cycle is not None:
            self._unanswered.append(self.cycle)
        self.scope["headers"] = self.headers.copy()
        if not self.url.startswith(b"/"):
            # uvicorn drops the host of a target in absolute form, which decides over `Host`
            # (RFC 9112, 3.2.2); the application checks it.
            self.scope["path"] = self.url.partition(b"?")[0].decode("latin-1")

    def _is_between_requests(self) -> bool:
        """Return whether no request is being read, answered or sent."""
        cycle = self.cycle
        done = cycle is None or cycle.response_complete
        return (
            done
            and self._unchecked_bytes > 0
            and self._find_incomplete_part() is None
            and not self.flow.write_paused
        )

    def _is_whole_request(self, length: int) -> bool:
        """Return whether the data just read is exactly one request with keep-alive."""
        cycle = self.cycle
        return (
            cycle is not None
            and cycle.scope is self.scope
            and cycle.keep_alive
            and not cycle.more_body
            and not cycle.response_complete
            and len(cycle.body) == length
            and not self.pipeline
            and self.scope["http_version"] == "1.1"
        )

    def _find_incomplete_part(self) -> str | None:
        """Return the incomplete part: uvicorn sets a request's `scope` first, its `cycle` last."""
        cycle = self.cycle
        if cycle is not None and cycle.scope is self.scope:
            return BODY if cycle.more_body else None
        return HEAD if self.headers is not None else None  # type: ignore[redundant-expr]

    def _parse_pieces(self, data: bytes) -> None:
        """Parse data in pieces, and check the limits after each."""
        start = 0
        while start < len(data) and not self._ignores_input:
            if self.pipeline:
                self._hold_data(data[start:])
                return
            end = start + max(1, min(PIECE_SIZE, self.watcher.max_head - self._pending_head_bytes))
            piece, start = data[start:end], end
            part, cycle = self._find_incomplete_part(), self.cycle
            size = len(cycle.body) if part is BODY else 0
            super().data_received(piece)
            if self._ignores_input:
                return
            now = self._find_incomplete_part()
            same = cycle is self.cycle and now is (part or HEAD)
            if self.pipeline or now is not None:
                self._handle_incomplete(
                    piece, fruitful=not same or (now is BODY and len(cycle.body) > size)
                )
            else:
                self._unchecked_bytes, self._pending_head_bytes = self.watcher.unchecked_bytes, 0

    def _handle_incomplete(self, data: bytes, *, fruitful: bool) -> None:
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
        if self._declined_upgrade is not None:
            (head, offset), self._declined_upgrade = self._declined_upgrade, None
            self._unchecked_bytes = self._pending_head_bytes = 0
            self._parse_pieces(head + data[offset:])
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

    def on_response_complete(self) -> None:
        """Continue with pipelined requests; the watcher replaces uvicorn's keep-alive timer."""
        if self.transport.is_closing():
            return
        if self.pipeline:
            super().on_response_complete()
        elif self._final_status:
            self.refuse_connection(self._final_status)
            return
        else:
            self.flow.resume_reading()
        self.mark_idle()
        if self._held_data is not None and not (self.pipeline or self._ignores_input):
            held, self._held_data = self._held_data, None
            is_incomplete = self._find_incomplete_part() is not None
            self._unchecked_bytes = 0 if is_incomplete else self.watcher.unchecked_bytes
            self.transport.resume_reading()
            self._parse_pieces(held)

    def count_unsent(self) -> int:
        """Return the number of bytes that the client has not received, with those not written."""
        # The application writes a long response in parts: what is left of it gets less all the
        # time, while the transport's buffer is filled again and again.
        cycle = self.cycle
        left = 0 if cycle is None or cycle.response_complete else cycle.expected_content_length
        return super().count_unsent() + left

    def mark_idle(self) -> None:
        """Record the time at which the connection became idle."""
        self.idle_since, self.is_unused = monotonic(), False

    def get_stage(self) -> str:
        """Return the stage of the newest request, apart from sending."""
        if self._held_head:
            return BODY
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return HEAD if self._find_incomplete_part() is HEAD else IDLE
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

    # A client may offer an upgrade to HTTP/2, as Java's does with its first request. A server may
    # ignore it (RFC 9110, 7.8), but httptools ends a request there and uvicorn drops the body
    # behind it. So such a request is parsed again, without the offer.

    def _should_upgrade(self) -> bool:
        return self._get_upgrade() is not None

    def handle_websocket_upgrade(self) -> None:
        """Start a WebSocket, or store the end of an offer of any other protocol."""
        offset = sys.exception().args[0]  # type: ignore[union-attr]
        if self._get_upgrade() != b"websocket":
            self._declined_upgrade = self._rebuild_head(), offset
        elif any(name in _BODY_HEADERS and value != b"0" for name, value in self.headers) or (
            self.cycle is not None and not self.cycle.response_complete
        ):
            # A WebSocket has no body, and earlier responses must be sent before it starts.
            self.fail_request(400)
        elif self.watcher.count_websockets() >= self.watcher.max_websockets:
            self.fail_request(503)
        else:
            self._ignores_input, self._unchecked_bytes = True, 0
            super().handle_websocket_upgrade()

    def _rebuild_head(self) -> bytes:
        method, version = (self.scope[name].encode() for name in ("method", "http_version"))
        lines = [b"%s %s HTTP/%s" % (method, self.url, version)]
        lines += [b"%s: %s" % pair for pair in self.headers if pair[0] not in _UPGRADE_HEADERS]
        return b"\r\n".join([*lines, b"", b""])


# A WebSocket has no idle limit: uvicorn's pings detect dead clients. The application limits
# messages and the time until `connection_init`.
class WebSocketConnection(WatchedConnection, WebSocketsSansIOProtocol):
    """uvicorn's WebSocket protocol, with limits on the time of sending and on memory.

    uvicorn answers every ping at once, whether or not the client reads the answers, and parses all
    frames that were received together: a flood of small ones would fill the memory, and delay all
    other connections. So frames are parsed in pieces, with a turn of the event loop after each, and
    nothing is read while a message waits for the application, or data for the client.
    """

    _unparsed = b""
    _is_parse_scheduled = False

    def data_received(self, data: bytes) -> None:
        """Parse data, unless earlier data wait."""
        self._unparsed += data
        self._read_on(now=len(self._unparsed) == len(data))

    def _read_on(self, *, now: bool = False) -> None:
        """Read on, or parse the received bytes, now or in the next turn of the loop."""
        if self.transport.is_closing():
            return
        is_blocked = self.read_paused or not self.writable.is_set()
        if not is_blocked and not self._unparsed:
            self.transport.resume_reading()
            return
        self.transport.pause_reading()
        if is_blocked or self._is_parse_scheduled:
            return
        if now:
            self._parse_piece()
        else:
            self._is_parse_scheduled = True
            self.loop.call_soon(self._parse_piece)

    def _parse_piece(self) -> None:
        self._is_parse_scheduled = False
        piece, self._unparsed = self._unparsed[:PIECE_SIZE], self._unparsed[PIECE_SIZE:]
        super().data_received(piece)
        self._read_on()

    async def receive(self) -> Any:  # noqa: ANN401 - as uvicorn's
        """Return the next message."""
        message = await super().receive()  # which resumes reading
        self._read_on()
        return message

    async def send(self, message: Any) -> None:  # noqa: ANN401 - as uvicorn's
        """Send a message; one that closes resumes reading, for the close of the client."""
        await super().send(message)
        self._read_on()

    def pause_writing(self) -> None:
        """Stop reading while the client does not read."""
        super().pause_writing()
        self._read_on()

    def resume_writing(self) -> None:
        """Read on when the client does."""
        super().resume_writing()
        self._read_on()

    def handle_cont(self, event: Frame) -> None:
        """Add a fragment to the message; its size is limited, but not the number of fragments."""
        super().handle_cont(event)
        if len(self.frames) >= _MAX_FRAGMENTS:
            self.frames = [b"".join(self.frames)]


def _encode_refusal(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the bytes of an error response with ``connection: close``."""
    response = build_error_response(status, _MESSAGES[status])
    lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
    lines += [b"%s: %s" % pair for pair in headers]
    lines += [f"{name}: {text}".encode("latin-1") for name, text in response.headers.items()]
    lines += [b"content-length: %d" % len(response.body), b"connection: close", b""]
    lines.append(response.body)
    return b"\r\n".join(lines)


def create_protocol_factory(app: App) -> tuple[Callable[[], Any], ConnectionWatcher]:
    """Return a factory of uvicorn's protocols with limits, and the watcher of their connections."""
    # The protocols use our own logger: uvicorn's loggers print to the cell, and other code in this
    # process that runs uvicorn may have configured them.
    watch = ConnectionWatcher(app, ServerState())
    config = Config(
        app,
        interface="asgi3",
        lifespan="off",
        http=HttpConnection,
        ws=partial(_create_websocket_protocol, watch),  # type: ignore[arg-type]
        ws_max_size=watch.limits.body,  # type: ignore[arg-type]
        # Compression saves nothing on loopback, and costs 64 KiB per connection.
        ws_per_message_deflate=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
    )
    config.load()

    def create_protocol() -> HttpConnection:
        protocol = HttpConnection(config=config, server_state=watch.state, app_state={})
        protocol.watcher, protocol.logger, protocol.access_log = watch, _HTTP, False
        return protocol

    return create_protocol, watch


def _create_websocket_protocol(
    watch: ConnectionWatcher,
    **options: Any,  # noqa: ANN401 - uvicorn's
) -> WebSocketConnection:
    # The limits may have changed since the listener was opened.
    options["config"].ws_max_size = watch.app.rules.limits.body
    protocol = WebSocketConnection(**options)
    protocol.watcher, protocol.logger, protocol.conn.logger = watch, _HTTP, _HTTP
    return protocol

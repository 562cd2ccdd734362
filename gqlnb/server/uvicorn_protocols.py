"""uvicorn's protocols with the limits of :mod:`gqlnb.server.connection_limits`."""

from __future__ import annotations

import sys
from time import monotonic

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from gqlnb.server.connection_limits import (
    BODY,
    HEAD,
    LimitedConnection,
    WatchedConnection,
    has_body_header,
)

__all__ = ["HttptoolsConnection", "WatchedWebSocket"]

_HEAD_END = b"\r\n\r\n"
_UPGRADE_HEADERS = {b"connection", b"http2-settings", b"upgrade"}  # headers of an offer to upgrade


class HttptoolsConnection(LimitedConnection, HttpToolsProtocol):
    """uvicorn's httptools protocol, with limits."""

    _declined_upgrade: tuple[bytes, int] | None = None

    def data_received(self, data: bytes) -> None:
        """Answer a repeated request from the fast path; parse any other."""
        end = data.find(_HEAD_END) + len(_HEAD_END)
        if end < len(_HEAD_END) or not self._is_between_requests():
            super().data_received(data)
            return
        head, app = data[:end], self.watcher.app
        answer = app.answer_from_hot_path(head, data[end:])
        if answer is not None:
            status, rest = answer
            self.transport.write(b"".join((STATUS_LINE[status], self.watcher.date, rest)))
            self.idle_since = monotonic()
            return
        super().data_received(data)
        length = len(data) - end
        if self._is_whole_request(length):
            app.remember_head(head, self.scope, length)

    def _is_between_requests(self) -> bool:
        """Return whether no request is being read, answered or sent."""
        cycle = self.cycle
        done = cycle is None or cycle.response_complete
        return (
            done
            and self._unchecked_bytes > 0
            and self.find_incomplete_part() is None
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

    def find_incomplete_part(self) -> str | None:
        """Return the incomplete part: uvicorn sets a request's `scope` first, its `cycle` last."""
        cycle = self.cycle
        if cycle is not None and cycle.scope is self.scope:
            return BODY if cycle.more_body else None
        return HEAD if self.headers is not None else None  # type: ignore[redundant-expr]

    def on_response_complete(self) -> None:
        """Continue with pipelined requests; the watcher replaces uvicorn's keep-alive timer."""
        if self.transport.is_closing():
            return
        if self.pipeline:
            super().on_response_complete()
        elif self._final_status:
            self.refuse_connection(self._final_status)
        else:
            self.flow.resume_reading()
        self.resume_after_answer()

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
        elif has_body_header(self.headers) or (
            self.cycle is not None and not self.cycle.response_complete
        ):
            # A WebSocket has no body, and earlier responses must be sent before it starts.
            self.fail_request(400)
        else:
            self._ignores_input, self._unchecked_bytes = True, 0
            super().handle_websocket_upgrade()

    def _rebuild_head(self) -> bytes:
        method, version = (self.scope[name].encode() for name in ("method", "http_version"))
        lines = [b"%s %s HTTP/%s" % (method, self.url, version)]
        lines += [b"%s: %s" % pair for pair in self.headers if pair[0] not in _UPGRADE_HEADERS]
        return b"\r\n".join([*lines, b"", b""])

    def decline_upgrade(self, data: bytes) -> bytes | None:
        """Return the request without its offer, and the bytes behind it."""
        if self._declined_upgrade is None:
            return None
        (head, offset), self._declined_upgrade = self._declined_upgrade, None
        return head + data[offset:]


class WatchedWebSocket(WatchedConnection, WebSocketsSansIOProtocol):
    """uvicorn's WebSocket protocol, with a limit on the time of sending.

    It has no idle limit: uvicorn's pings detect dead clients. The application limits messages and
    the time until ``connection_init``.
    """

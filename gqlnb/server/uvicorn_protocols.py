"""The guard over uvicorn's httptools protocol; imported where a listener starts."""

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

HEAD_END = b"\r\n\r\n"  # of a head
_UPGRADE_HEADERS = {b"connection", b"http2-settings", b"upgrade"}  # headers of an offer to upgrade


class HttptoolsConnection(LimitedConnection, HttpToolsProtocol):
    """HTTP/1.1 as httptools parses it, bounded."""

    _declined_upgrade: tuple[bytes, int] | None = None

    def data_received(self, data: bytes) -> None:
        """Answer what was asked before, byte for byte; read anything else."""
        end = data.find(HEAD_END) + len(HEAD_END)
        if end < len(HEAD_END) or not self._is_between_requests():
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
        """Tell whether nothing is being read, answered or sent."""
        cycle = self.cycle
        done = cycle is None or cycle.response_complete
        return (
            done
            and self._unchecked_bytes > 0
            and self.find_incomplete_part() is None
            and not self.flow.write_paused
        )

    def _is_whole_request(self, length: int) -> bool:
        """Tell whether what was just read is one request that may be asked again as it is."""
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
        """Return what is incomplete: uvicorn notes a request's `scope` first, its `cycle` last."""
        cycle = self.cycle
        if cycle is not None and cycle.scope is self.scope:
            return BODY if cycle.more_body else None
        return HEAD if self.headers is not None else None  # type: ignore[redundant-expr]

    def on_response_complete(self) -> None:
        """Go on with what waits; where nothing does, uvicorn would start a timer each time."""
        if self.transport.is_closing():
            return
        if self.pipeline:
            super().on_response_complete()
        elif self._final_status:
            self.refuse_connection(self._final_status)
        else:
            self.flow.resume_reading()
        self.resume_after_answer()

    # A client may offer to go on in another protocol, as Java's does with every first request. An
    # offer can be ignored (RFC 9110, 7.8), but httptools ends a request with it and uvicorn drops
    # what follows: the body. So such a request is read once more, without the offer.

    def _should_upgrade(self) -> bool:
        return self._get_upgrade() is not None

    def handle_websocket_upgrade(self) -> None:
        """Hand over to a WebSocket, or note where the offer of anything else ended."""
        offset = sys.exception().args[0]  # type: ignore[union-attr]
        if self._get_upgrade() != b"websocket":
            self._declined_upgrade = self._rebuild_head(), offset
        elif has_body_header(self.headers) or (
            self.cycle is not None and not self.cycle.response_complete
        ):
            # A WebSocket has no body, and an answer may still be to come in the old protocol.
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
        """Return the request without its offer, and what followed it."""
        if self._declined_upgrade is None:
            return None
        (head, offset), self._declined_upgrade = self._declined_upgrade, None
        return head + data[offset:]


class WatchedWebSocket(WatchedConnection, WebSocketsSansIOProtocol):
    """A WebSocket that may be silent for ever, as its pings are answered, but must read.

    uvicorn pings it, and what a message may hold and when a client must have said who it is are
    the application's to say.
    """

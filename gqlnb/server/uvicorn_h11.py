"""The guard over uvicorn's h11 protocol, for where there is no httptools; a third as fast."""

from __future__ import annotations

from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from gqlnb.server.connection_limits import BODY, HEAD, LimitedConnection, has_body_header

__all__ = ["H11Connection"]


class H11Connection(LimitedConnection, H11Protocol):
    """HTTP/1.1 as h11 parses it, bounded."""

    def find_incomplete_part(self) -> str | None:
        """Return what is incomplete of the request that is being read."""
        if self.conn.their_state is h11.SEND_BODY:
            return BODY
        return HEAD if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0] else None

    @property
    def pipeline(self) -> bytes:
        """What came behind a request and waits for its answer."""
        read = {h11.DONE, h11.MIGHT_SWITCH_PROTOCOL}  # type: ignore[attr-defined]
        return self.conn.trailing_data[0] if self.conn.their_state in read else b""

    def on_response_complete(self) -> None:
        """Go on with what waits; the watch is the timer."""
        super().on_response_complete()
        self._unset_keepalive_if_required()
        if not self.transport.is_closing():
            self.resume_after_answer()

    def _should_upgrade(self) -> bool:
        # The first that uvicorn asks about a head. h11 reads chunks where a length stands as well;
        # what stands before us may not.
        names = {name for name, _ in self.headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            self.fail_request(400)
        return self._ignores_input or super()._should_upgrade()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand over to a WebSocket, unless the head was refused."""
        if has_body_header(self.headers):
            self.fail_request(400)
        elif not self._ignores_input:
            self._ignores_input, self._unchecked_bytes = True, 0
            super().handle_websocket_upgrade(event)

"""uvicorn's WebSocket protocol, watched; imported when the first client asks for one."""

from __future__ import annotations

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from gqlnb.server.guard import Watched

__all__ = ["Protocol"]


class Protocol(Watched, WebSocketsSansIOProtocol):
    """A WebSocket that may be silent for ever, as its pings are answered, but must read.

    uvicorn pings it, and what a message may hold and when a client must have said who it is are
    the application's to say.
    """

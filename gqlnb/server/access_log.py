"""The access log: one line for each request, in the common log format of web servers.

Source: Apache HTTP Server, "Log Files", Common Log Format::

    127.0.0.1 - - [23/Nov/2026:12:30:35 +0000] "POST /graphql HTTP/1.1" 200 33

The query string, headers and bodies are left out: they hold queries, variables and tokens.
"""

from __future__ import annotations

import logging
from email.utils import formatdate
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from gqlnb.server.streams import Send

__all__ = ["ACCESS_LOGGER", "AccessLine"]

MAX_PATH = 200  # characters
ACCESS_LOGGER = logging.getLogger("gqlnb.access")
ACCESS_LOGGER.setLevel(logging.INFO)  # the option is the switch


class AccessLine:
    """The line of one request, completed from the messages that are sent.

    Parameters
    ----------
    scope
        The ASGI scope.
    send
        The ASGI callable.
    """

    def __init__(self, scope: Mapping[str, Any], send: Send) -> None:
        self._scope, self._send = scope, send
        self._time = formatdate(usegmt=True)  # strftime would depend on the locale
        self._status: object = "-"
        self._size = 0

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send an ASGI message."""
        kind = message["type"]
        if kind.endswith("response.start"):
            self._status = message["status"]
        elif kind == "websocket.accept":
            self._status = 101
        elif kind == "websocket.close" and self._status == "-":
            self._status = 403  # the server's response to a refused handshake
        self._size += len(message.get("body", b""))
        await self._send(message)

    def write(self) -> None:
        """Log the line; its status is ``-`` if the client left before a response."""
        scope, client = self._scope, self._scope.get("client")
        # Quoted, none of them has a space, quote or line end that could begin another field or
        # line; the address may be a proxy's X-Forwarded-For.
        path = quote(scope["path"][:MAX_PATH], errors="replace")
        address = quote(client[0], safe=":", errors="replace") if client else "-"
        target = (
            f"{quote(scope.get('method', 'GET'))} {path} HTTP/{scope.get('http_version', '1.1')}"
        )
        _, day, month, year, clock, _ = self._time.split()
        ACCESS_LOGGER.info(
            '%s - - [%s/%s/%s:%s +0000] "%s" %s %s',
            *(address, day, month, year, clock),
            *(target, self._status, self._size or "-"),
        )

"""What stands before the endpoints: who may come in; and behind them: what stays inside."""

from __future__ import annotations

import logging
from pathlib import PurePath
from secrets import token_hex
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from gqlnb.errors import plain
from gqlnb.wire.http import fields, host_name, same_origin
from gqlnb.wire.json import dump

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from gqlnb.github.rest.callers import Callers, Ticket

__all__ = ["HOSTS", "Gate", "answer"]

# The names that this machine has for itself, on the address we listen on. Any other one that leads
# here was rebound by someone's DNS, and the page that did so must not read an answer.
HOSTS = frozenset({"localhost", "127.0.0.1"})
_SAME = frozenset({None, "same-origin", "none"})  # none: the person typed the address
_LOG = logging.getLogger("gqlnb")
_LOG.addHandler(logging.NullHandler())


def answer(status: int, value: Any, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as an answer in JSON."""
    every = {"x-content-type-options": "nosniff", **(headers or {})}
    return Response(dump(value), status, every, "application/json")


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer that says why nothing was done."""
    return answer(status, {"message": message}, headers)


class Gate:
    """Middleware: the Host, the Origin, the API key and its limit; then the endpoints.

    Parameters
    ----------
    app
        What answers those who are let in.
    callers
        Who may ask, and how often.
    hosts
        Lower-case names, without port, that the ``Host`` header may hold; None for any.
    """

    def __init__(self, app: ASGIApp, callers: Callers, hosts: frozenset[str] | None) -> None:
        self._app = app
        self._callers = callers
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever it is."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = fields(scope["headers"])
        closed = self._foreign(headers, scope["method"])
        if closed is not None:
            await closed(scope, receive, send)
            return
        name = self._callers.name(headers.get("x-api-key"))
        if name is None:
            await no_key()(scope, receive, send)
            return
        ticket = self._callers.admit(name)
        told = telling(send, self._callers.limit, ticket)
        inside = self._masked if ticket.admitted else too_many(ticket)
        await inside(scope, receive, told)

    def _foreign(self, headers: Mapping[str, str], method: str) -> Response | None:
        """Refuse what a page of somebody else's sends."""
        host, origin = headers.get("host", ""), headers.get("origin")
        name = host_name(host)
        if name is None:
            return refusal(400, "The Host header is missing or malformed.")
        if self._hosts is not None and name not in self._hosts:
            return refusal(403, f"Host {plain(name, 80)} is not served here. Ask localhost.")
        if origin is not None and not same_origin(origin, host):
            return refusal(403, f"Origin {plain(origin, 80)} may not ask this service.")
        if method not in {"GET", "HEAD"} and headers.get("sec-fetch-site") not in _SAME:
            return refusal(403, "A page of another site may not ask this service.")
        return None

    async def _masked(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask the endpoints; what goes wrong there gets a number, and its words stay here."""
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            return  # there is nobody to answer
        except Exception as error:
            number = token_hex(4)
            # No traceback: the words of an exception may be those of a client.
            _LOG.error("REST %s: %s (%s)", number, type(error).__name__, place(error))
            failed = refusal(500, f"Internal error {number}. The log of the service says where.")
        else:
            return
        if not begun:
            await failed(scope, receive, send)


def place(error: Exception) -> str:
    """Return file and line where an exception was raised."""
    frame = extract_tb(error.__traceback__)[-1]
    return f"{PurePath(frame.filename).name}:{frame.lineno}"


def no_key() -> Response:
    """Return the refusal of a caller who is not known."""
    message = "Send your API key in the header X-API-Key; the one you sent, if any, is not known."
    return refusal(401, message, {"www-authenticate": "X-API-Key"})


def too_many(ticket: Ticket) -> Response:
    """Return the refusal of a caller who has asked too often; the status is GitHub's."""
    message = f"API rate limit exceeded. Ask again in {ticket.wait} s."
    return refusal(403, message, {"retry-after": str(ticket.wait)})


def telling(send: Send, limit: int | None, ticket: Ticket) -> Send:
    """Return a `send` that adds how much of the limit is left, in GitHub's headers."""
    if limit is None:
        return send
    added = [
        (b"x-ratelimit-limit", str(limit).encode()),
        (b"x-ratelimit-remaining", str(ticket.remaining).encode()),
        (b"x-ratelimit-reset", str(ticket.reset).encode()),
    ]

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return told

"""The server as one ASGI application: bytes in, bytes out, the rules are in the protocol.

It keeps nothing between requests, so any ASGI host may run it, in as many processes as it likes::

    app = App(schema)          # in module.py
    $ uvicorn module:app       # or: hypercorn module:app
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.errors import AuthError
from gqlnb.sealing import unseen
from gqlnb.server.execution import Executable, Executor, executor, servable
from gqlnb.server.journal import Journal
from gqlnb.server.page import pages
from gqlnb.token import Token
from gqlnb.wire.http import HttpRequest, fields
from gqlnb.wire.protocol import LOOPBACK, Documentation, Rules, respond, screen

if TYPE_CHECKING:
    from gqlnb.wire.response import Response

__all__ = ["App"]

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header = tuple[bytes, bytes]

# Seconds to go on reading what is not wanted, so that who sends it reads our answer instead of a
# reset connection (RFC 9112, 9.6); nginx's lingering_timeout is the same.
LINGER = 5.0
CLOSE: tuple[Header, ...] = ((b"connection", b"close"),)  # HTTP/2 knows no such header


class Serving(NamedTuple):
    """What an application serves at one moment."""

    schema: Executable
    execute: Executor
    rules: Rules


def serving(schema: Any, rules: Rules) -> Serving:
    """Return a schema, adopted if it is another library's, as it is served by these rules."""
    executable = servable(schema)
    return Serving(executable, executor(executable), rules)


class App:
    """A schema on ``/graphql`` as a raw ASGI 3 application.

    Parameters
    ----------
    schema
        The schema to serve: a Schema, or a schema object that :meth:`gqlnb.Schema.adopt` takes.
    token
        What a request must send as ``Authorization: Bearer ...``: a Token, ``"env:NAME"``,
        ``"keyring:NAME"`` or ``"prompt"``; None asks for none.
    hosts
        Lower-case names, without port, that the ``Host`` header may hold; None allows any and
        leaves the endpoint to DNS rebinding unless a token protects it.
    page
        Whether a browser gets a page to type queries into. Never with a token.
    documentation
        The two addresses a 401 sends its reader to: without a token, and with a wrong one; by
        default those of GitHub.

    Raises
    ------
    ServerError
        If `schema` can't be served.

    Attributes
    ----------
    running : int
        Requests read in full whose answer is not yet sent.
    journal : Journal
        What was answered lately, and the exceptions that were kept from clients.
    """

    @unseen(AuthError)
    def __init__(
        self,
        schema: Any,
        *,
        token: Token | str | None = None,
        hosts: frozenset[str] | None = LOOPBACK,
        page: bool = True,
        documentation: tuple[str, str] | None = None,
    ) -> None:
        shown = pages() if page and token is None else {}
        secret, urls = Token.of(token), Documentation(*(documentation or ()))
        rules = Rules(token=secret, hosts=hosts, pages=shown, documentation=urls)
        self._serving = serving(schema, rules)
        self.running = 0
        self.journal = Journal()

    @property
    def schema(self) -> Any:
        """The schema served; setting it takes effect on the next request."""
        return self._serving.schema

    @schema.setter
    def schema(self, schema: Any) -> None:
        self._serving = serving(schema, self._serving.rules)

    def become(self, other: App) -> None:
        """Serve what another application serves, by its rules, from the next request on."""
        self._serving = other._serving

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one connection of the host: a request, or the host's own life."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            # Closing before accepting is HTTP 403, whatever the host.
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        note = self.journal.begin()
        serving = self._serving  # read once, so that a swap falls between two requests
        request = HttpRequest(scope["method"], local_path(scope), fields(scope["headers"]))
        closing = CLOSE if scope.get("http_version", "1.1") < "2" else ()
        response = screen(request, serving.rules)
        if response is not None:
            note.end(response)
            await give(send, response, receive if announces_body(request) else None, closing)
            return
        body, more = await read(receive, serving.rules.body_limit)
        if body is None:
            return  # the client has left
        self.running += 1
        try:
            execute = partial(serving.execute, trace=note.trace)
            whole = replace(request, body=body)
            response = await respond(whole, execute, serving.rules, note.trace)
            note.end(response, len(body))  # before it is sent: who has the answer finds it noted
            await give(send, response, receive if more else None, closing)
        finally:
            self.running -= 1


def local_path(scope: Mapping[str, Any]) -> str:
    """Return the path below the point where a host has mounted the application."""
    path, root = scope["path"], scope.get("root_path", "").rstrip("/")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path  # type: ignore[no-any-return]


def announces_body(request: HttpRequest) -> bool:
    """Tell whether a body follows the head."""
    length = request.headers.get("content-length", "0")
    return length != "0" or "transfer-encoding" in request.headers


async def read(receive: Receive, limit: int) -> tuple[bytes | None, bool]:
    """Read a body, at most one message past the limit.

    Returns
    -------
    (bytes or None, bool)
        What came, None if the client left; whether more would follow.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None, False
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if not more or len(body) > limit:
            return bytes(body), more


async def give(
    send: Send, response: Response, rest: Receive | None, closing: Sequence[Header]
) -> None:
    """Send a response; where a body was left unread, `rest` of it, close the connection after it.

    Closed at once, the connection would be reset by what is still on its way, and the client might
    never read our answer.
    """
    headers = [
        *(
            (name.encode("latin-1"), text.encode("latin-1"))
            for name, text in response.headers.items()
        ),
        (b"content-length", str(len(response.body)).encode()),
        *(closing if rest else ()),
    ]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": rest is not None})
    if rest is not None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                while (await rest()).get("more_body"):
                    pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return

"""The server as one ASGI application: bytes in, bytes out, the rules are in the protocol.

It keeps nothing between requests, so any ASGI host may run it, in as many processes as it likes::

    app = App(schema)          # in module.py
    $ uvicorn module:app       # or: hypercorn module:app
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.errors import OptionError, plain
from gqlnb.model.limits import Limits
from gqlnb.sealing import unseen
from gqlnb.server.execution import Executable, Execution, servable
from gqlnb.server.journal import Journal, clocks
from gqlnb.server.page import pages
from gqlnb.server.quick import Heads, answered
from gqlnb.server.streams import Exchange, Slots, Streamer, streamed, streamer
from gqlnb.server.websocket import serve_socket
from gqlnb.token import Token
from gqlnb.wire.access import Access
from gqlnb.wire.http import HttpRequest, absolute, fields
from gqlnb.wire.protocol import failed, respond
from gqlnb.wire.rules import LOOPBACK, Documentation, Rules
from gqlnb.wire.screening import screen, too_slow

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from gqlnb.server.streams import Receive, Send
    from gqlnb.wire.response import Response

__all__ = ["App", "head_of"]

Header = tuple[bytes, bytes]

# Seconds to go on reading what is not wanted, so that who sends it reads our answer instead of a
# reset connection (RFC 9112, 9.6); nginx's lingering_timeout is the same.
LINGER = 5.0
CLOSE: tuple[Header, ...] = ((b"connection", b"close"),)  # HTTP/2 knows no such header


class Serving(NamedTuple):
    """What an application serves at one moment."""

    schema: Executable
    execute: Execution
    rules: Rules
    streams: Streamer | None
    heads: Heads


def serving(schema: Any, rules: Rules) -> Serving:
    """Return a schema, adopted if it is another library's, as it is served by these rules."""
    executable = servable(schema)
    execute = Execution(executable, rules.limits, rules.access)
    streams = streamer(executable, execute, rules)
    return Serving(executable, execute, rules, streams, Heads(rules))


class App:
    """A schema on ``/graphql`` as a raw ASGI 3 application.

    Parameters
    ----------
    schema
        The schema to serve: a Schema, or a schema object that :meth:`gqlnb.Schema.adopt` takes.
    token
        What a request must send as ``Authorization: Bearer ...``: a Token, ``"env:NAME"``,
        ``"keyring:NAME"`` or ``"prompt"``; None asks for none.
    limits
        How much is let through; by default :class:`gqlnb.Limits` as it stands. Those of heads and
        connections are kept by :func:`gqlnb.serve`, and by another host in its own way.
    access
        Who may ask, and for what; by default :class:`gqlnb.Access` as it stands.
    documentation
        The two addresses a 401 sends its reader to: without a token, and with a wrong one; by
        default those of GitHub.
    hosts
        Lower-case names, without port, that the ``Host`` header may hold beside those of `access`;
        None allows any and leaves the endpoint to DNS rebinding unless a token protects it.

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
    slots : Slots
        How many operations are streamed.
    """

    @unseen
    def __init__(
        self,
        schema: Any,
        *,
        token: Token | str | None = None,
        limits: Limits | None = None,
        access: Access | None = None,
        documentation: tuple[str, str] | None = None,
        hosts: frozenset[str] | None = LOOPBACK,
    ) -> None:
        for name, value, kind in (("limits", limits, Limits), ("access", access, Access)):
            if value is not None and not isinstance(value, kind):
                word = kind.__name__
                msg = f"{name}= takes a gqlnb.{word}(...); got {plain(type(value).__name__, 80)}."
                raise OptionError(msg)
        access = access or Access()
        rules = Rules(
            token=Token.of(token),
            hosts=hosts if hosts is None else hosts | frozenset(access.hosts),
            limits=limits or Limits(),
            access=access,
            pages=pages() if access.page and token is None else {},
            documentation=Documentation(*(documentation or ())),
        )
        self._serving = serving(schema, rules)
        self.running = 0
        self.journal = Journal()
        self.slots = Slots()

    @property
    def schema(self) -> Any:
        """The schema served; setting it takes effect on the next request."""
        return self._serving.schema

    @schema.setter
    def schema(self, schema: Any) -> None:
        self._serving = serving(schema, self._serving.rules)

    @property
    def limits(self) -> Limits:
        """How much is let through."""
        return self._serving.rules.limits

    @property
    def access(self) -> Access:
        """Who may ask, and for what."""
        return self._serving.rules.access

    def become(self, other: App) -> None:
        """Serve what another application serves, by its rules, from the next request on."""
        self._serving = other._serving

    def quickly(self, head: bytes, body: bytes) -> tuple[int, bytes] | None:
        """Answer a request that was answered before, and fast; None for any other.

        Parameters
        ----------
        head
            The bytes of the head, the empty line included.
        body
            All that came behind it.

        Returns
        -------
        (int, bytes)
            The status, and the answer from the line behind the status on.
        """
        serving = self._serving
        found = serving.heads.get(head)
        if found is None or found.length != len(body):
            return None
        return answered(body, found, serving.execute, serving.rules, self.journal)

    def remember(self, head: bytes, scope: Mapping[str, Any], length: int) -> None:
        """Remember the bytes of a head for :meth:`quickly`, if it is a usual one.

        Parameters
        ----------
        head
            The bytes, the empty line included.
        scope
            What they were parsed into.
        length
            Bytes of the body that came with it.
        """
        self._serving.heads.remember(head, head_of(scope), length)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one connection of the host: a request, or the host's own life."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "websocket":
            serving = self._serving
            exchange = Exchange(head_of(scope), self.journal, self.slots, receive, send)
            await serve_socket(serving.streams, exchange, serving.rules, scope)

    async def _http(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        began = clocks()
        serving = self._serving  # read once, so that a swap falls between two requests
        rules = serving.rules
        request = head_of(scope)
        closing = CLOSE if scope.get("http_version", "1.1") < "2" else ()
        response = screened(request, rules)
        if response is not None:
            self.journal.add(began, response)
            await give(send, response, receive if announces_body(request) else None, closing)
            return
        try:
            body, more = await read(receive, rules.limits)
        except TimeoutError:
            response = too_slow(request, rules)
            self.journal.add(began, response)
            await give(send, response, receive, closing)
            return
        if body is None:
            return  # the client has left
        request = replace(request, body=body)
        if serving.streams is not None:
            exchange = Exchange(request, self.journal, self.slots, receive, send)
            if await streamed(serving.streams, exchange):
                return
        self.running += 1
        try:
            response = await respond(request, serving.execute, rules)
            # Before it is sent: who has the answer finds it noted.
            self.journal.add(began, response, len(body))
            await give(send, response, receive if more else None, closing)
        finally:
            self.running -= 1


def screened(request: HttpRequest, rules: Rules) -> Response | None:
    """Judge the head alone; where that fails, as a token may that is fetched, answer 500."""
    try:
        return screen(request, rules)
    except Exception as error:
        return failed(error, None, [])


def head_of(scope: Mapping[str, Any]) -> HttpRequest:
    """Return the head of a request as a plain value."""
    path, headers = scope["path"], fields(scope["headers"])
    if not path.startswith("/"):
        path, headers = absolute(path, headers)
    root = scope.get("root_path", "").rstrip("/")
    if root and path.startswith(f"{root}/"):
        path = path[len(root) :]  # below the point where a host has mounted the application
    method = scope.get("method", "CONNECT")  # a WebSocket's is told by HTTP/2 alone
    return HttpRequest(method, path, headers, query_string=scope.get("query_string", b""))


def announces_body(request: HttpRequest) -> bool:
    """Tell whether a body follows the head."""
    length = request.headers.get("content-length", "0")
    return length != "0" or "transfer-encoding" in request.headers


async def read(receive: Receive, limits: Limits) -> tuple[bytes | None, bool]:
    """Read a body, at most one message past the limit.

    Returns
    -------
    (bytes or None, bool)
        What came, None if the client left; whether more would follow.

    Raises
    ------
    TimeoutError
        If it does not come in time, however steadily it drips.
    """
    async with asyncio.timeout(limits.body_seconds):
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            return message.get("body", b""), False  # the usual case, spared a copy
        return await gathered(message, receive, limits.body)


async def gathered(
    message: MutableMapping[str, Any], receive: Receive, most: int | None
) -> tuple[bytes | None, bool]:
    """Put a body together, beginning with a message of it."""
    body = bytearray()
    while message["type"] == "http.request":
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if not more or (most is not None and len(body) > most):
            return bytes(body), more
        message = await receive()
    return None, False


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
        *(closing if rest else ()),
    ]
    if response.status != 204:  # which has no body (RFC 9110, 8.6)
        headers.append((b"content-length", str(len(response.body)).encode()))
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

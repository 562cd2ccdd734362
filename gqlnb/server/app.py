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

from gqlnb.auth import Token
from gqlnb.document.limits import Limits
from gqlnb.errors import OptionError, sanitize_text
from gqlnb.http.handler import build_internal_error, handle_checked_request
from gqlnb.http.headers import HttpRequest, parse_headers, split_absolute_target
from gqlnb.http.preconditions import build_timeout_error, check_preconditions
from gqlnb.http.server_rules import LOOPBACK_HOSTS, Access, DocumentationUrls, ServerRules
from gqlnb.redact import hide_locals
from gqlnb.server.hot_path import HeadCache, answer_known_request
from gqlnb.server.page import build_pages
from gqlnb.server.request_executor import Executable, RequestExecutor, adopt_schema
from gqlnb.server.request_log import RequestLog, read_clocks
from gqlnb.server.streams import Exchange, Streamer, StreamSlots, create_streamer, try_event_stream
from gqlnb.server.websocket_sessions import serve_websocket

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from gqlnb.http.messages import Response
    from gqlnb.server.streams import Receive, Send

__all__ = ["App", "parse_scope"]

Header = tuple[bytes, bytes]

# Seconds to go on reading what is not wanted, so that who sends it reads our answer instead of a
# reset connection (RFC 9112, 9.6); nginx's lingering_timeout is the same.
LINGER_SECONDS = 5.0
CLOSE_HEADER: tuple[Header, ...] = ((b"connection", b"close"),)  # HTTP/2 knows no such header


class ServedSchema(NamedTuple):
    """What an application serves at one moment."""

    schema: Executable
    execute: RequestExecutor
    rules: ServerRules
    streams: Streamer | None
    heads: HeadCache


def build_served_schema(schema: Any, rules: ServerRules) -> ServedSchema:
    """Return a schema, adopted if it is another library's, as it is served by these rules."""
    executable = adopt_schema(schema)
    execute = RequestExecutor(executable, rules.limits, rules.access)
    streams = create_streamer(executable, execute, rules)
    return ServedSchema(executable, execute, rules, streams, HeadCache(rules))


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
    running_requests : int
        Requests read in full whose answer is not yet sent.
    request_log : Journal
        What was answered lately, and the exceptions that were kept from clients.
    slots : Slots
        How many operations are streamed.
    """

    @hide_locals
    def __init__(
        self,
        schema: Any,
        *,
        token: Token | str | None = None,
        limits: Limits | None = None,
        access: Access | None = None,
        documentation: tuple[str, str] | None = None,
        hosts: frozenset[str] | None = LOOPBACK_HOSTS,
    ) -> None:
        for name, value, kind in (("limits", limits, Limits), ("access", access, Access)):
            if value is not None and not isinstance(value, kind):
                word = kind.__name__
                msg = f"{name}= takes a gqlnb.{word}(...); got {sanitize_text(type(value).__name__, 80)}."
                raise OptionError(msg)
        access = access or Access()
        rules = ServerRules(
            token=Token.from_source(token),
            hosts=hosts if hosts is None else hosts | frozenset(access.hosts),
            limits=limits or Limits(),
            access=access,
            pages=build_pages() if access.page and token is None else {},
            documentation=DocumentationUrls(*(documentation or ())),
        )
        self._served = build_served_schema(schema, rules)
        self.running_requests = 0
        self.request_log = RequestLog()
        self.slots = StreamSlots()

    @property
    def schema(self) -> Any:
        """The schema served; setting it takes effect on the next request."""
        return self._served.schema

    @schema.setter
    def schema(self, schema: Any) -> None:
        self._served = build_served_schema(schema, self._served.rules)

    @property
    def limits(self) -> Limits:
        """How much is let through."""
        return self._served.rules.limits

    @property
    def access(self) -> Access:
        """Who may ask, and for what."""
        return self._served.rules.access

    def switch_to(self, other: App) -> None:
        """Serve what another application serves, by its rules, from the next request on."""
        self._served = other._served

    def answer_from_hot_path(self, head: bytes, body: bytes) -> tuple[int, bytes] | None:
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
        serving = self._served
        found = serving.heads.get(head)
        if found is None or found.length != len(body):
            return None
        return answer_known_request(body, found, serving.execute, serving.rules, self.request_log)

    def remember_head(self, head: bytes, scope: Mapping[str, Any], length: int) -> None:
        """Remember the bytes of a head for :meth:`answer_from_hot_path`, if it is a usual one.

        Parameters
        ----------
        head
            The bytes, the empty line included.
        scope
            What they were parsed into.
        length
            Bytes of the body that came with it.
        """
        self._served.heads.add_head(head, parse_scope(scope), length)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one connection of the host: a request, or the host's own life."""
        if scope["type"] == "http":
            await self._handle_http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _handle_lifespan(receive, send)
        elif scope["type"] == "websocket":
            serving = self._served
            exchange = Exchange(parse_scope(scope), self.request_log, self.slots, receive, send)
            await serve_websocket(serving.streams, exchange, serving.rules, scope)

    async def _handle_http(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        began = read_clocks()
        serving = self._served  # read once, so that a swap falls between two requests
        rules = serving.rules
        request = parse_scope(scope)
        closing = CLOSE_HEADER if scope.get("http_version", "1.1") < "2" else ()
        response = check_head(request, rules)
        if response is not None:
            self.request_log.add_request(began, response)
            await send_response(send, response, receive if has_body(request) else None, closing)
            return
        try:
            body, more = await read_body(receive, rules.limits)
        except TimeoutError:
            response = build_timeout_error(request, rules)
            self.request_log.add_request(began, response)
            await send_response(send, response, receive, closing)
            return
        if body is None:
            return  # the client has left
        request = replace(request, body=body)
        if serving.streams is not None:
            exchange = Exchange(request, self.request_log, self.slots, receive, send)
            if await try_event_stream(serving.streams, exchange):
                return
        self.running_requests += 1
        try:
            response = await handle_checked_request(request, serving.execute, rules)
            # Before it is sent: who has the answer finds it noted.
            self.request_log.add_request(began, response, len(body))
            await send_response(send, response, receive if more else None, closing)
        finally:
            self.running_requests -= 1


def check_head(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Judge the head alone; where that fails, as a token may that is fetched, answer 500."""
    try:
        return check_preconditions(request, rules)
    except Exception as error:
        return build_internal_error(error, None, [])


def parse_scope(scope: Mapping[str, Any]) -> HttpRequest:
    """Return the head of a request as a plain value."""
    path, headers = scope["path"], parse_headers(scope["headers"])
    if not path.startswith("/"):
        path, headers = split_absolute_target(path, headers)
    root = scope.get("root_path", "").rstrip("/")
    if root and path.startswith(f"{root}/"):
        path = path[len(root) :]  # below the point where a host has mounted the application
    method = scope.get("method", "CONNECT")  # a WebSocket's is told by HTTP/2 alone
    return HttpRequest(method, path, headers, query_string=scope.get("query_string", b""))


def has_body(request: HttpRequest) -> bool:
    """Tell whether a body follows the head."""
    length = request.headers.get("content-length", "0")
    return length != "0" or "transfer-encoding" in request.headers


async def read_body(receive: Receive, limits: Limits) -> tuple[bytes | None, bool]:
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
        return await collect_body(message, receive, limits.body)


async def collect_body(
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


async def send_response(
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
            async with asyncio.timeout(LINGER_SECONDS):
                while (await rest()).get("more_body"):
                    pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _handle_lifespan(receive: Receive, send: Send) -> None:
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return

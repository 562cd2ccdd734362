"""The ASGI application: reads requests, sends responses; the rules are in :mod:`gqlnb.http`.

Any ASGI server can run it, in any number of processes::

    app = App(schema)          # in module.py
    $ uvicorn module:app       # or: hypercorn module:app
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gqlnb.document.json_codec import JSONError, dump_json, dump_valid_json, encode_in_pieces
from gqlnb.document.sized_cache import SizedCache
from gqlnb.errors import OptionError, sanitize_text
from gqlnb.http import incremental
from gqlnb.http.content_encoding import MIN_COMPRESSED_BYTES, compress_body, negotiate_encoding
from gqlnb.http.handler import RESOLVER_EXCEPTIONS, build_internal_error, handle_checked_request
from gqlnb.http.messages import (
    GRAPHQL_CONTENT_TYPE,
    HttpRequest,
    negotiate_media_type,
    parse_headers,
    split_absolute_target,
)
from gqlnb.http.preconditions import (
    GRAPHQL_HEADERS,
    JSON_HEADERS,
    add_cors_headers,
    build_error_response,
    check_preconditions,
    is_event_connection_request,
)
from gqlnb.http.server_rules import (
    BEARER_GUIDES,
    ENDPOINT,
    GUIDES_EXTENSION,
    LOOPBACK_HOSTS,
    METRICS_PATH,
    Access,
    ServerRules,
)
from gqlnb.limits import Limits
from gqlnb.redact import hide_locals
from gqlnb.result.result import Result
from gqlnb.server.authentication import authenticate, read_token_option
from gqlnb.server.deployment import check_path
from gqlnb.server.page import build_pages
from gqlnb.server.request_executor import RequestExecutor, adopt_schema
from gqlnb.server.request_log import AccessLine, Metrics, RequestLog, read_clocks
from gqlnb.server.streams import (
    PART_BYTES,
    AsgiExchange,
    EventConnections,
    Streamer,
    StreamSlots,
    send_response,
    try_stream,
)
from gqlnb.server.websocket_sessions import serve_websocket
from gqlnb.server.worker_pool import NoThreadError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping

    from gqlnb.engine.schema import Schema
    from gqlnb.http.messages import Request, Response
    from gqlnb.server.authentication import TokenOption
    from gqlnb.server.streams import Header, Receive, Send
    from gqlnb.server.worker_pool import HangingCall

MAX_HEADS = 256
MAX_INLINE_BYTES = 65_536  # compressed on the event loop, in half a millisecond
# In the state of a request that came whole: returns the bytes of its head, and when it was run.
HEAD_KEY = "gqlnb.head"
MAX_HEAD_BYTES = 2048  # so that the cache has half a megabyte at most
# Headers without secrets, that request neither another protocol, nor a chunked body, nor
# 100-continue.
_CACHEABLE_HEADERS = frozenset(
    {"accept", "accept-encoding", "accept-language", "cache-control", "connection"}
    | {"content-length", "content-type", "dnt", "host", "origin", "pragma", "priority", "referer"}
    | {"sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform", "sec-fetch-dest", "sec-fetch-mode"}
    | {"sec-fetch-site", "sec-gpc", "user-agent"}
)


# Behind uvicorn's parser, a table holds the bytes of request heads that passed every check,
# except heads that could contain a secret. A request with the same bytes needs no second check.
# We do not parse HTTP here. With a token or allowed origins every head is checked.
class KnownHead(NamedTuple):
    """The head of a request that passed all checks.

    Attributes
    ----------
    length
        Length of the body in bytes.
    graphql
        Whether the response has GraphQL's media type.
    encoding
        The content coding of long responses; None for no compression.
    """

    length: int
    graphql: bool
    encoding: str | None


HeadCache = SizedCache[bytes, KnownHead]


def add_head(heads: HeadCache, head: bytes, request: HttpRequest, rules: ServerRules) -> None:
    """Store the bytes of a head that has passed all checks, if it is cacheable."""
    headers = request.headers
    accept = headers.get("accept")
    if (
        len(head) <= MAX_HEAD_BYTES
        and not rules.requires_token
        and not rules.access.log  # its lines have the address of the client
        and rules.context is None  # which depends on the request
        and not rules.access.origins  # their responses differ by origin
        and _CACHEABLE_HEADERS.issuperset(headers)
        and headers.get("connection", "keep-alive").lower() == "keep-alive"
        and request.method == "POST"
        and incremental.negotiate_events(accept) == "never"
        and incremental.negotiate_parts(accept) is None
    ):
        is_graphql = negotiate_media_type(accept) == GRAPHQL_CONTENT_TYPE
        encoding = negotiate_encoding(headers.get("accept-encoding"))
        known = KnownHead(int(headers.get("content-length", "0")), is_graphql, encoding)
        heads.add(head, known, len(head))


def _encode_plain_result(result: object, *, is_json_safe: bool) -> bytes | None:
    """Return a result as JSON if it consists of data."""
    if not isinstance(result, Result) or result.errors or result.extensions:
        return None
    try:
        return (dump_valid_json if is_json_safe else dump_json)({"data": result.data})
    except Exception:  # noqa: BLE001 - encode_response makes an error of it
        return None


async def _raise_later(error: BaseException) -> Result:
    raise error


def _encode_header_lines(headers: Mapping[str, str]) -> bytes:
    """Return header lines, and the name of ``content-length`` without its value."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{lines}content-length: ".encode("latin-1")


_VARY_LINE = b"vary: Accept-Encoding\r\n"
_HEADER_LINES = {
    False: _encode_header_lines(JSON_HEADERS),
    True: _encode_header_lines(GRAPHQL_HEADERS),
}


_VARY_ENCODING = "Accept-Encoding"

_CLOSE_HEADER: tuple[Header, ...] = ((b"connection", b"close"),)  # not allowed in HTTP/2


# One tuple, replaced in one assignment: requests on the loop never see a schema with the rules of
# another, although a cell replaces it from its own thread.
class ServedSchema(NamedTuple):
    """A schema with all that depends on it; replaced as a whole when the schema changes."""

    schema: Schema
    execute: RequestExecutor
    rules: ServerRules
    streams: Streamer | None
    heads: HeadCache


def _build_served_schema(schema: object, rules: ServerRules) -> ServedSchema:
    executable = adopt_schema(schema)
    graphql = executable.graphql
    rules = replace(
        rules,
        has_subscriptions=graphql.subscription_type is not None,
        token_guides=graphql.extensions.get(GUIDES_EXTENSION, BEARER_GUIDES),
    )
    execute = RequestExecutor(executable, rules)
    has_streams = rules.has_subscriptions or execute.adapter.delivers_parts
    streams = Streamer(execute) if has_streams else None
    return ServedSchema(
        executable, execute, rules, streams, SizedCache(MAX_HEADS, MAX_HEADS * MAX_HEAD_BYTES)
    )


class App:
    """A schema as a raw ASGI 3 application, at ``/graphql``.

    Parameters
    ----------
    schema
        The schema to serve: a Schema, or a schema object that :meth:`gqlnb.Schema.adopt` takes.
    token
        The token required as ``Authorization: Bearer ...``: a Token, ``"env:NAME"``,
        ``"keyring:NAME"`` or ``"prompt"``; None for none. Or a mapping of names to tokens, or a
        function that verifies a token; see :func:`gqlnb.serve`.
    limits
        The limits; by default those of :class:`gqlnb.Limits`. The limits of heads and connections
        are enforced by :func:`gqlnb.serve`; other ASGI servers have their own.
    access
        The access rules; by default those of :class:`gqlnb.Access`.
    context
        A function, plain or ``async``, that makes the context of resolvers from a request; see
        :func:`gqlnb.serve`.
    hosts
        Lower-case names, without port, that the ``Host`` header may have beside those of `access`;
        None allows any, which permits DNS rebinding unless a token protects the endpoint.
    path
        The path of the endpoint, below the ``root_path`` of the ASGI server.

    Raises
    ------
    ServerError
        If `schema` can't be served.

    Attributes
    ----------
    running_requests : int
        Number of requests that were read and are not yet answered.
    request_log : RequestLog
        The last requests, and the exceptions masked for clients.
    slots : StreamSlots
        The count of streamed operations.
    """

    @hide_locals
    def __init__(
        self,
        schema: object,
        *,
        token: TokenOption = None,
        limits: Limits | None = None,
        access: Access | None = None,
        context: Callable[[HttpRequest], object] | None = None,
        hosts: frozenset[str] | None = LOOPBACK_HOSTS,
        path: str = ENDPOINT,
    ) -> None:
        for name, value, kind in (("limits", limits, Limits), ("access", access, Access)):
            if value is not None and not isinstance(value, kind):
                given = sanitize_text(type(value).__name__, 80)
                msg = f"{name}= takes a gqlnb.{kind.__name__}(...); got {given}."
                raise OptionError(msg)
        access = access or Access()
        if context is not None and not callable(context):
            given = sanitize_text(type(context).__name__, 80)
            msg = f"context= takes a function of the request; got {given}."
            raise OptionError(msg)
        single, verify = read_token_option(token)
        rules = ServerRules(
            path=check_path(path),
            token=single,
            verify=verify,
            context=context,
            hosts=hosts if hosts is None else hosts | frozenset(access.hosts),
            limits=limits or Limits(),
            access=access,
            pages=build_pages(path) if access.page and token is None else {},
        )
        self._served = _build_served_schema(schema, rules)
        self.running_requests = 0
        # When the run of the fast path began that the executor answers next, for the log.
        self.began: tuple[float, float] | None = None
        self._unsent_bytes = 0
        self._is_encoding = False
        self.request_log = RequestLog()
        self.request_log.metrics = Metrics() if rules.access.metrics else None
        self.slots = StreamSlots()
        self._event_connections = EventConnections()

    @property
    def schema(self) -> Schema:
        """The schema served; setting it takes effect on the next request."""
        return self._served.schema

    @schema.setter
    def schema(self, schema: object) -> None:
        self._replace_served(_build_served_schema(schema, self._served.rules))

    @property
    def rules(self) -> ServerRules:
        """The rules, with the limits, the access rules and the path of the endpoint."""
        return self._served.rules

    def is_in_resolver(self) -> bool:
        """Return whether the calling thread runs a resolver for this application."""
        return self._served.execute.pool.is_in_call()

    def list_hanging(self) -> list[HangingCall]:
        """Return the resolvers that run for longer than a second, the oldest first."""
        return self._served.execute.list_hanging()

    def switch_to(self, other: App) -> None:
        """Serve the schema of another application, under its rules, from the next request on."""
        # Metrics count on, as the log does.
        self.request_log.metrics = self.request_log.metrics or other.request_log.metrics
        self._replace_served(other._served)

    def _replace_served(self, new: ServedSchema) -> None:
        old, self._served = self._served, new
        old.execute.close()

    def close(self) -> None:
        """End the worker threads; a request that comes later starts new ones."""
        self._served.execute.close()

    async def close_streams(self) -> None:
        """End the streams that are shared by several operations; called on the loop."""
        await self._event_connections.close()

    def needs_body(self, head: bytes) -> bool:
        """Return whether these bytes are a known head that announces a body."""
        known = self._served.heads.get(head)
        return known is not None and known.length > 0

    def answer_from_hot_path(self, head: bytes, body: bytes) -> tuple[int, bytes] | None:
        """Answer a repeated request that has proven fast; return None for any other.

        Parameters
        ----------
        head
            The bytes of the head, the empty line included.
        body
            The bytes behind it.

        Returns
        -------
        (int, bytes)
            The status, and the bytes of the response behind the status line.
        """
        served = self._served
        known_head = served.heads.get(head)
        if known_head is None or known_head.length != len(body):
            return None
        execute = served.execute
        known = execute.scheduler.find_known(body)
        if known is None or not known.is_fast or known.pending_runs or known.is_large:
            return None
        began = read_clocks()
        result: Result | Awaitable[Result]
        try:
            # Each request runs in a context of its own.
            result = copy_context().run(execute.run_inline, known, execute.create_budget())
        except BaseException as error:  # noqa: BLE001 - the executor masks it
            result = _raise_later(error)
        encoded = _encode_plain_result(result, is_json_safe=known.is_json_safe)
        if encoded is None or len(encoded) > PART_BYTES:
            # The executor, which answers this request now, takes it from there.
            known.is_large = encoded is not None
            known.pending_runs.append(result)
            self.began = began
            return None
        lines = _HEADER_LINES[known_head.graphql]
        if len(encoded) >= MIN_COMPRESSED_BYTES:
            lines = _VARY_LINE + lines
            # A longer one is not compressed: no other thread is involved here.
            if known_head.encoding is not None and len(encoded) <= MAX_INLINE_BYTES:
                encoded = compress_body(encoded, known_head.encoding)
                lines = b"content-encoding: %b\r\n%b" % (known_head.encoding.encode(), lines)
        name = known.document.name
        self.request_log.add_entry(began, name, len(body), len(encoded))
        return 200, b"%b%d\r\n\r\n%b" % (lines, len(encoded), encoded)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Handle an ASGI connection: a request, a WebSocket or the lifespan."""
        is_logged = self._served.rules.access.log and scope["type"] != "lifespan"
        line = AccessLine(scope, send) if is_logged else None
        try:
            # Some hosts raise it from `send` after a disconnect (ASGI, "Disconnected client").
            with suppress(OSError):
                handle = getattr(self, f"_handle_{scope['type']}", None)
                if handle is not None:
                    await handle(scope, receive, line.send if line else send)
        finally:
            if line:
                line.write()

    async def _handle_websocket(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        served = self._served
        exchange = AsgiExchange(
            parse_scope(scope), self.request_log, self.slots, receive, send, read_clocks()
        )
        await serve_websocket(served.streams, exchange, served.rules, scope)

    async def _handle_lifespan(
        self, _scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        while True:
            event = (await receive())["type"]
            if event == "lifespan.shutdown":
                await self.close_streams()
            await send({"type": f"{event}.complete"})
            if event == "lifespan.shutdown":
                return

    async def _handle_http(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        served = self._served  # read once: another thread may replace it
        head, ran = scope.get("state", {}).get(HEAD_KEY, lambda: (None, None))()
        began, rules, request = ran or read_clocks(), served.rules, parse_scope(scope)
        closing = _CLOSE_HEADER if scope.get("http_version", "1.1") < "2" else ()
        request, response = await self._check_head(request, served, head)
        if response is not None:
            self.request_log.add_request(began, response)
            length = request.headers.get("content-length", "0")
            has_body = length != "0" or "transfer-encoding" in request.headers
            await send_response(send, response, receive if has_body else None, closing)
            return
        try:
            body, more = await read_body(receive, rules.limits)
        except TimeoutError:
            late = f"The body was not received within {rules.limits.body_seconds:g} seconds."
            response = add_cors_headers(build_error_response(408, late), request, rules)
            self.request_log.add_request(began, response)
            await send_response(send, response, receive, closing)
            return
        if body is None:
            return  # the client has disconnected
        request = replace(request, body=body)
        if served.streams is not None:
            exchange = AsgiExchange(request, self.request_log, self.slots, receive, send, began)
            if not more and is_event_connection_request(request, rules):
                await self._event_connections.answer(served.streams, exchange)
                return
            if await try_stream(served.streams, exchange):
                return
        # From here on close() waits for the request; one that is still being read it does not.
        self.running_requests += 1
        unsent = 0
        try:
            execute = partial(self._execute_and_encode, served.execute)
            response = await handle_checked_request(request, execute, rules)
            if len(response.body) >= MIN_COMPRESSED_BYTES:
                response = await compress_response(response, request, served.execute)
                response = self._limit_unsent(response, request, rules)
            # Logged before it is sent, so that the client finds it in the log.
            self.request_log.add_request(began, response, len(body))
            unsent = len(response.body)
            self._unsent_bytes += unsent
            await send_response(send, response, receive if more else None, closing)
        finally:
            self._unsent_bytes -= unsent
            self.running_requests -= 1

    async def _check_head(
        self, request: HttpRequest, served: ServedSchema, head: bytes | None
    ) -> tuple[HttpRequest, Response | None]:
        """Return a request with the identity of its client, and the response that ends it.

        The bytes of a `head` that passes are kept: the same bytes need no second check.
        """
        if head is not None and head in served.heads:
            return request, None
        try:
            response = check_preconditions(request, served.rules)
        except RESOLVER_EXCEPTIONS as error:  # a token's source may fail
            response = build_internal_error(error, None, [])
        if response is None and head is not None:
            add_head(served.heads, head, request, served.rules)
        if response is None and served.rules.verify is not None:
            header = request.headers.get("authorization")
            request, response = await authenticate(request, served.execute, header)
        if response is None and request.path == METRICS_PATH and self.request_log.metrics:
            response = self.request_log.metrics.build_response()
        return request, response

    # Encoding 100 MB takes 60 ms, which nothing else on the loop would wait for; in other threads
    # msgspec holds the GIL. One after another, so that few wait in memory to be sent or refused.
    async def _execute_and_encode(self, execute: RequestExecutor, request: Request) -> Response:
        """Execute a request, and encode a long response without errors in pieces."""
        done = await execute(request)
        if done.members is None or "errors" in done.members:
            return done
        body, is_large = bytearray(), False
        try:
            for _ in encode_in_pieces(done.members, body, is_valid=done.is_json_safe):
                if len(body) > PART_BYTES and not is_large:
                    if (known := execute.scheduler.find_known(request.raw)) is not None:
                        known.is_large = True  # not for `answer_from_hot_path`
                    while self._is_encoding:
                        await asyncio.sleep(0)
                    is_large = self._is_encoding = True
                if is_large:
                    await asyncio.sleep(0)
        except (JSONError, UnicodeEncodeError):
            return done  # the error is located when it is encoded again
        finally:
            if is_large:
                self._is_encoding = False
        if not is_large:
            return replace(done, body=bytes(body))
        return replace(done, body=cast("bytes", body))  # copying it takes half as long again

    def _limit_unsent(
        self, response: Response, request: HttpRequest, rules: ServerRules
    ) -> Response:
        """Return a response, or an error in its place while too many bytes wait for clients."""
        size, most, waiting = len(response.body), rules.limits.unsent, self._unsent_bytes
        if most is None or size <= PART_BYTES or not waiting or waiting + size <= most:
            return response
        message = (
            f"The operation was executed, and its response of {size:,} bytes is not sent: clients "
            f"have not read {waiting:,} bytes of other responses, and the limit is {most:,} "
            "(unsent). Try again in a moment, or request less at once."
        )
        refusal = build_error_response(503, message, {"retry-after": "1"})
        refusal = replace(refusal, operation=response.operation)
        return add_cors_headers(refusal, request, rules)


def parse_scope(scope: Mapping[str, Any]) -> HttpRequest:
    """Return the head of a request."""
    path, headers = scope["path"], parse_headers(scope["headers"])
    if not path.startswith("/"):
        path, headers = split_absolute_target(path, headers)
    root = scope.get("root_path", "").rstrip("/")
    if root and path.startswith(f"{root}/"):
        path = path[len(root) :]  # the path below the mount point
    method = scope.get("method", "CONNECT")  # WebSockets have one in HTTP/2 only
    query, client = scope.get("query_string", b""), scope.get("client")
    return HttpRequest(
        method, path, headers, query_string=query, client=client[0] if client else None
    )


async def read_body(receive: Receive, limits: Limits) -> tuple[bytes | None, bool]:
    """Read a body, at most one message past the limit.

    Returns
    -------
    (bytes or None, bool)
        The body, None if the client disconnected; whether more of it would follow.

    Raises
    ------
    TimeoutError
        If the whole body is not received in time.
    """
    parts, size = [], 0
    async with asyncio.timeout(limits.body_seconds):
        while (message := await receive())["type"] == "http.request":
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more = message.get("more_body", False)
            if not more or (limits.body is not None and size > limits.body):
                return b"".join(parts), more
    return None, False


async def compress_response(
    response: Response, request: HttpRequest, execute: RequestExecutor
) -> Response:
    """Return a long response in the content coding that the client prefers."""
    body, coding = response.body, negotiate_encoding(request.headers.get("accept-encoding"))
    vary = response.headers.get("vary")
    headers = {**response.headers, "vary": f"{vary}, Accept-Encoding" if vary else _VARY_ENCODING}
    if coding is None:
        return replace(response, headers=headers)
    if len(body) <= MAX_INLINE_BYTES:
        body = compress_body(body, coding)
    else:
        try:
            body = await execute.pool.run(lambda: compress_body(response.body, coding))
        except NoThreadError:  # all threads hang; the client takes it as it is
            return replace(response, headers=headers)
    return replace(response, body=body, headers={**headers, "content-encoding": coding})

"""Subscriptions and responses in parts, as server-sent events or multipart/mixed.

Several operations may share one connection, reserved beforehand. The protocol is that of
``graphql-sse`` in its single connection mode, for browsers that open few connections to one server
over HTTP/1.1::

    PUT                      201, a token           reserve a stream
    GET    with the token    200, the stream        events carry the id of their operation
    POST   with the token    202                    start an operation
    DELETE with the token    200, ?operationId=     stop it

The token is sent in a header, or as ``?token=`` by a browser's ``EventSource``. It is no secret to
protect data: every request is checked as any other, ``Authorization`` included.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs

from graphql import GraphQLError

from gqlnb.document.json_codec import dump_json
from gqlnb.document.variables import bind_variables
from gqlnb.engine.subscription import Stream, SubscriptionArguments
from gqlnb.http import incremental
from gqlnb.http.graphql_ws import check_operation_id
from gqlnb.http.handler import (
    RESOLVER_EXCEPTIONS,
    RETRY_AFTER,
    attach_http_request,
    encode_members,
    mask_exception,
    parse_operations,
)
from gqlnb.http.messages import (
    BadRequestError,
    HttpRequest,
    Request,
    Response,
    build_request,
    load_body,
)
from gqlnb.http.preconditions import EVENT_CONNECTION_HEADER, add_cors_headers, build_error_response
from gqlnb.server.request_executor import REQUEST_ERRORS, RequestExecutor, build_response
from gqlnb.server.request_log import read_clocks
from gqlnb.server.worker_pool import is_cancelled

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from gqlnb.engine.incremental_execution import ResponsePart
    from gqlnb.http.handler import MaskedErrors
    from gqlnb.http.server_rules import ServerRules
    from gqlnb.limits import Limits
    from gqlnb.server.request_log import RequestLog

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header = tuple[bytes, bytes]
# Longer responses are sent in parts, each when the client has read the one before. The transport's
# buffer would take them whole, uncounted, and asyncio's moves all that is left at each write.
PART_BYTES = 1 << 20

# Seconds to go on reading a refused body: otherwise the client gets a connection reset instead of
# our response (RFC 9112, 9.6). nginx's lingering_timeout is the same.
LINGER_SECONDS = 5.0
# Seconds of silence: proxies close connections after a minute. graphql-sse pings as often.
KEEP_ALIVE_SECONDS = 12.0
_LOG = logging.getLogger("gqlnb")


async def _stream_parts(
    parts: AsyncGenerator[ResponsePart, None], operation: str | None, *, is_legacy: bool
) -> AsyncGenerator[Response, None]:
    """Yield parts as responses to be encoded, in the form of 2022 if `is_legacy`."""
    writer = incremental.LegacyPartWriter() if is_legacy else None
    async with aclosing(parts):
        async for part in parts:
            members = part.members if writer is None else writer.convert(part.members, part.starts)
            yield Response(200, members=members, causes=part.causes, operation=operation)


EVENT_PARTS = incremental.PartFormat("text/event-stream", is_legacy=True)  # of a WebSocket, too
Started = Stream | AsyncGenerator[Response, None] | Response | None


class Streamer:
    """Runs operations, subscriptions included, for clients that read streams.

    Parameters
    ----------
    execute
        Runs queries and mutations, on a schema with a subscription type, ``@defer`` or ``@stream``.
    """

    def __init__(self, execute: RequestExecutor) -> None:
        self.execute, self.rules = execute, execute.rules

    async def start_operation(
        self, request: Request, parts: incremental.PartFormat | None, *, events: bool = True
    ) -> Started:
        """Return a stream, an error, or None for an operation with a single response.

        Parameters
        ----------
        request
            The request.
        parts
            The format in which the client reads responses in parts; None for none.
        events
            Whether the client reads the events of subscriptions.
        """
        try:
            request = await self.execute.prepare_request(request)
            return await self.execute.pool.run(lambda: self._start(request, parts, events=events))
        except REQUEST_ERRORS as error:
            return self.execute.build_refusal(request, error)
        except RESOLVER_EXCEPTIONS as error:
            return _build_error(error, request)

    def _start(
        self, request: Request, parts: incremental.PartFormat | None, *, events: bool
    ) -> Started:
        limits, adapter = self.rules.limits, self.execute.adapter
        document = self.execute.schema.parse_document(
            request.query,
            request.operation_name,
            limits=limits,
            introspection=self.rules.access.introspection,
        )
        if request.safe and document.kind == "mutation":
            return Response(405)
        is_subscription = document.kind == "subscription"
        has_parts = adapter.delivers_parts and bool(document.incremental_directives)
        if not (events if is_subscription else has_parts and parts is not None):
            return None
        arguments = SubscriptionArguments(
            bind_variables(document, request.variables),
            limits=limits,
            run_in=self.execute.pool.run,
            context=request.context,
            extensions=request.extensions,
        )
        if parts is None or is_subscription:
            return adapter.subscribe_document(document, arguments)
        increments = adapter.execute_in_parts(document, arguments)
        return _stream_parts(increments, document.name, is_legacy=parts.is_legacy)

    async def run_operation(
        self,
        request: Request,
        start: Awaitable[Started],
        request_log: RequestLog,
        *,
        size: int,
        status: int = 200,
    ) -> AsyncGenerator[StreamedAnswer, None]:
        """Yield the responses to an operation, which is logged before the client learns of its end.

        Nothing is raised: an exception of the source ends the stream with a response without data.

        Parameters
        ----------
        request
            The request.
        start
            The running :meth:`start_operation`.
        request_log
            The log. Exceptions are added at once, since the client gets their ids.
        size, status
            The size of the request in bytes, and the status to log.
        """
        began, sent, summary = read_clocks(), 0, Response(status)
        error: StreamedAnswer | None = None
        try:
            async with aclosing(self._stream_responses(request, await start)) as responses:
                async for response in responses:
                    masked: MaskedErrors = []
                    body = _encode_response(response, self.rules.limits, masked)
                    if masked:
                        request_log.keep_errors(masked, size)
                    sent += len(body)
                    summary = replace(
                        summary,
                        operation=response.operation or summary.operation,
                        # The log has one id per operation: that of the first exception.
                        masked_errors=summary.masked_errors or tuple(masked[:1]),
                    )
                    # Later parts have no data either.
                    if {"data", "hasNext"}.isdisjoint(response.members or {}):
                        error = StreamedAnswer(body, is_error=True)
                    else:
                        yield StreamedAnswer(body)
        finally:
            request_log.add_request(began, summary, size, sent)
        if error is not None:
            yield error

    async def _stream_responses(
        self, request: Request, started: Started
    ) -> AsyncGenerator[Response, None]:
        try:
            if started is None:
                yield await self.execute(request)
            elif isinstance(started, Response):
                yield started
            else:
                async for item in started:
                    yield item if isinstance(item, Response) else build_response(item)
        except REQUEST_ERRORS as error:
            yield self.execute.build_refusal(request, error)
        except RESOLVER_EXCEPTIONS as error:
            yield _build_error(error, request)
        except asyncio.CancelledError as error:
            if is_cancelled():
                raise
            yield _build_error(error, request)  # something that the source awaited was cancelled
        finally:
            if started is not None and not isinstance(started, Response):
                try:
                    await started.aclose()
                except Exception as error:  # noqa: BLE001 - the responses have ended
                    _LOG.error("The source of a stream failed to close", exc_info=error)


def _build_error(error: BaseException, request: Request) -> Response:
    """Return the response that ends a stream after an exception."""
    shown = error.formatted if isinstance(error, GraphQLError) else {"message": str(error)}
    members = {"errors": [dict(shown)]}
    return Response(500, members=members, causes=(error,), operation=request.operation_name)


class StreamSlots:
    """The count of streamed operations of an application."""

    def __init__(self) -> None:
        self.in_use = 0

    def explain_refusal(self, rules: ServerRules) -> str | None:
        """Return an error message if the limit is reached, else None."""
        most = rules.limits.subscriptions
        if most is None or self.in_use < most:
            return None
        return f"At most {most:,} operations are streamed at once. Try again when one has ended."


class StreamedAnswer(NamedTuple):
    """A response of a streamed operation, as JSON; an error without data is its last one."""

    body: bytes
    is_error: bool = False


def _encode_response(done: Response, limits: Limits, masked: MaskedErrors) -> bytes:
    """Return a response as JSON; one that cannot be encoded becomes an internal error."""
    try:
        return encode_members(done, limits, masked)
    except RESOLVER_EXCEPTIONS as error:
        return dump_json({"errors": [{"message": mask_exception(error, "the request", masked)}]})


class AsgiExchange(NamedTuple):
    """One request and its ASGI connection.

    Attributes
    ----------
    request
        The whole request, whose head was checked.
    request_log
        The log of the application.
    slots
        The count of streamed operations.
    receive, send
        The ASGI callables.
    began
        When the request came, for the log.
    """

    request: HttpRequest
    request_log: RequestLog
    slots: StreamSlots
    receive: Receive
    send: Send
    began: tuple[float, float]


class StreamFormat(NamedTuple):
    """The bytes around the responses of a stream.

    Attributes
    ----------
    headers
        The headers of the HTTP response.
    head, tail
        The bytes before the first and after the last response.
    encode
        Returns the bytes of a response from its JSON.
    keep_alive
        Bytes for times of silence; None where the format has none.
    """

    headers: Mapping[str, str]
    head: bytes
    tail: bytes
    encode: Callable[[bytes], bytes]
    keep_alive: bytes | None


EVENT_FORMAT = StreamFormat(
    incremental.EVENT_STREAM_HEADERS,
    incremental.KEEP_ALIVE_COMMENT,  # hosts send the head with the first bytes only
    incremental.COMPLETE_EVENT,
    incremental.encode_event,
    incremental.KEEP_ALIVE_COMMENT,
)


def build_multipart_format(boundary: str, *, is_legacy: bool | None) -> StreamFormat:
    """Return the format of multipart/mixed; `is_legacy` is None for a subscription's events."""
    encode = (
        incremental.encode_multipart_event
        if is_legacy is None
        else incremental.encode_multipart_part
    )
    return StreamFormat(
        incremental.build_multipart_headers(boundary, is_legacy=is_legacy),
        head=incremental.encode_delimiter(boundary),
        tail=b"--\r\n",
        encode=partial(encode, boundary=boundary),
        keep_alive=incremental.encode_multipart_part(b"{}", boundary)
        if is_legacy is None
        else None,
    )


async def try_stream(streams: Streamer, exchange: AsgiExchange) -> bool:
    """Answer a request with a stream; return False, with nothing sent, if it is to be JSON."""
    request, rules = exchange.request, streams.rules
    accept = request.headers.get("accept")
    preference, parts = incremental.negotiate_events(accept), incremental.negotiate_parts(accept)
    is_wanted = parts is not None or preference != "never"
    operation = _parse_request(request, rules) if is_wanted else None
    if operation is None:
        return False
    if reason := exchange.slots.explain_refusal(rules):
        refusal = build_error_response(503, reason, {"retry-after": RETRY_AFTER})
        await _respond(exchange, refusal, rules)
        return True
    exchange.slots.in_use += 1
    try:
        boundary = incremental.negotiate_event_boundary(accept) if preference == "never" else None
        events = boundary is not None or preference != "never"
        start = asyncio.ensure_future(streams.start_operation(operation, parts, events=events))
        started = await start
        # A 405 needs its status and the Allow header, which an event cannot carry.
        if isinstance(started, Response) and started.status == 405:
            return False
        is_in_parts = isinstance(started, AsyncGenerator)
        if not (is_in_parts or isinstance(started, Stream) or preference == "always"):
            return False
        stream_format = EVENT_FORMAT
        if not is_in_parts:
            if boundary is not None:
                stream_format = build_multipart_format(boundary, is_legacy=None)
        elif parts is not None and parts.media_type == incremental.MULTIPART_MIXED:
            stream_format = build_multipart_format(parts.boundary, is_legacy=parts.is_legacy)
        answers = streams.run_operation(
            operation, start, exchange.request_log, size=len(request.body)
        )
        await _send_stream(_encode_stream(answers, stream_format), exchange, rules, stream_format)
    finally:
        exchange.slots.in_use -= 1
    return True


async def _encode_stream(
    answers: AsyncGenerator[StreamedAnswer, None], stream_format: StreamFormat
) -> AsyncGenerator[bytes, None]:
    yield stream_format.head
    async with aclosing(answers):
        async for answer in answers:
            yield stream_format.encode(answer.body)
    yield stream_format.tail


def _parse_request(request: HttpRequest, rules: ServerRules) -> Request | None:
    """Return the operation of a request; None for an invalid one, which gets a JSON response."""
    most = rules.limits.body
    if most is not None and len(request.body) > most:
        return None
    try:
        parsed = parse_operations(request, rules)
    except BadRequestError:
        return None
    return None if isinstance(parsed, list) else parsed


def build_start_message(response: Response) -> dict[str, Any]:
    """Return the ASGI message with the head of a response."""
    headers = [(name.encode(), text.encode("latin-1")) for name, text in response.headers.items()]
    return {"type": "http.response.start", "status": response.status, "headers": headers}


async def send_response(
    send: Send, response: Response, rest: Receive | None, closing: Sequence[Header]
) -> None:
    """Send a response; `rest` receives the unread body, after which the connection is closed."""
    head = build_start_message(response)
    head["headers"] += closing if rest else ()
    if response.status != 204:  # no content-length (RFC 9110, 8.6)
        head["headers"].append((b"content-length", str(len(response.body)).encode()))
    await send(head)
    body = response.body
    for start in range(0, len(body) or 1, PART_BYTES):
        end = start + PART_BYTES
        part, more = body[start:end], end < len(body) or rest is not None
        await send({"type": "http.response.body", "body": part, "more_body": more})
        if end < len(body):
            await asyncio.sleep(0)  # a lost connection is noticed, to which asyncio logs each write
    if rest is not None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (await rest()).get("more_body"):
                    pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _respond(exchange: AsgiExchange, response: Response, rules: ServerRules) -> None:
    """Log and send a response in the place of a stream."""
    response = add_cors_headers(response, exchange.request, rules)
    exchange.request_log.add_request(exchange.began, response, len(exchange.request.body))
    await send_response(exchange.send, response, None, ())


async def _send_stream(
    parts: AsyncGenerator[bytes, None],
    exchange: AsgiExchange,
    rules: ServerRules,
    stream_format: StreamFormat,
) -> None:
    """Send the bytes of a stream until they end or the client disconnects."""
    lock = asyncio.Lock()  # responses and keep-alive comments are sent one at a time

    async def send_part(part: bytes, *, more: bool = True) -> None:
        async with lock:
            message = {"type": "http.response.body", "body": part, "more_body": more}
            await exchange.send(message)

    async def send_all() -> None:
        head = add_cors_headers(Response(200, stream_format.headers), exchange.request, rules)
        await exchange.send(build_start_message(head))
        async with aclosing(parts):
            async for part in parts:
                await send_part(part)
        await send_part(b"", more=False)

    async def wait_for_disconnect() -> None:
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    message = await exchange.receive()
            except TimeoutError:
                if stream_format.keep_alive is not None:
                    await send_part(stream_format.keep_alive)
                continue
            if message["type"] == "http.disconnect":
                return

    await _run_until_disconnect(send_all(), wait_for_disconnect())


async def _run_until_disconnect(
    work: Coroutine[Any, Any, None], disconnect: Coroutine[Any, Any, None]
) -> None:
    """Run `work` to its end, or cancel it when `disconnect` ends; wait for its ``finally``."""
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(disconnect)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


MAX_CONNECTIONS = 100  # reserved or open, where no limit is set
OPEN_SECONDS = 10.0  # within which a reserved stream has to be opened
CLOSE_SECONDS = 1.0  # for operations to end
_MAX_QUEUED = 64  # events; a slow client stops its operations
_TEXT_HEADERS = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}


class RunningOperations:
    """The running operations of one connection, by the ids that its client gives them."""

    def __init__(self, slots: StreamSlots) -> None:
        self._slots = slots
        self._by_id: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()  # cancelled ones included

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Start an operation, which is counted from now on."""
        self._slots.in_use += 1  # the next message may be handled before the task runs
        task = self._by_id[name] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(partial(self._release, name))

    def _release(self, name: str, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._slots.in_use -= 1
        if self._by_id.get(name) is task:
            del self._by_id[name]

    def __contains__(self, name: str) -> bool:
        return name in self._by_id

    def is_current(self, name: str) -> bool:
        """Return whether the calling operation still has its id: a later one may reuse it."""
        return self._by_id.get(name) is asyncio.current_task()

    def stop(self, name: str) -> bool:
        """Cancel an operation; return whether it was running."""
        task = self._by_id.pop(name, None)
        return task is not None and task.cancel()

    def cancel(self) -> list[asyncio.Task[None]]:
        """Cancel all operations; return their tasks, whose ``finally`` blocks are still to run."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        return tasks


class EventConnection:
    """One reserved or open stream, its operations, and the events to send."""

    def __init__(self, slots: StreamSlots) -> None:
        self.events: asyncio.Queue[bytes] = asyncio.Queue(_MAX_QUEUED)
        self.operations = RunningOperations(slots)
        self.is_open = False

    async def list_events(self) -> AsyncGenerator[bytes, None]:
        """Yield the events to send, without end."""
        yield EVENT_FORMAT.head
        while True:
            yield await self.events.get()


class EventConnections:
    """The reserved and open streams of an application."""

    def __init__(self) -> None:
        self._by_token: dict[str, EventConnection] = {}

    async def answer(self, streams: Streamer, exchange: AsgiExchange) -> None:
        """Answer a request of the protocol, for which `is_event_connection_request` is true."""
        request = exchange.request
        token = request.headers.get(EVENT_CONNECTION_HEADER) or _find_parameter(request, "token")
        connection = self._by_token.get(token)
        if request.method == "PUT":
            response = self._reserve(streams, exchange.slots)
        elif connection is None:
            reason = "There is no such event stream. Reserve one by PUT."
            response = build_error_response(404, reason)
        elif request.method == "DELETE":
            response = self._stop_operation(connection, request)
        elif request.method == "POST":
            response = self._start_operation(connection, streams, exchange)
        elif connection.is_open:
            response = build_error_response(409, "The event stream is open already.")
        else:
            await self._stream_events(connection, token, streams, exchange)
            return
        await _respond(exchange, response, streams.rules)

    async def _stream_events(
        self, connection: EventConnection, token: str, streams: Streamer, exchange: AsgiExchange
    ) -> None:
        connection.is_open = True
        try:
            await _send_stream(connection.list_events(), exchange, streams.rules, EVENT_FORMAT)
        finally:
            connection.operations.cancel()
            self._by_token.pop(token, None)

    async def close(self) -> None:
        """Stop all operations, and wait for their ``finally`` blocks."""
        tasks = [task for one in self._by_token.values() for task in one.operations.cancel()]
        self._by_token.clear()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)

    def _reserve(self, streams: Streamer, slots: StreamSlots) -> Response:
        most = streams.rules.limits.subscriptions or MAX_CONNECTIONS
        if len(self._by_token) >= most:
            reason = f"At most {most:,} event streams are open at once. Try again later."
            return build_error_response(503, reason, {"retry-after": RETRY_AFTER})
        token = token_urlsafe(24)
        self._by_token[token] = EventConnection(slots)
        asyncio.get_running_loop().call_later(OPEN_SECONDS, self._expire, token)
        return Response(201, _TEXT_HEADERS, token.encode())

    def _expire(self, token: str) -> None:
        connection = self._by_token.get(token)
        if connection is not None and not connection.is_open:
            connection.operations.cancel()
            del self._by_token[token]

    @staticmethod
    def _stop_operation(connection: EventConnection, request: HttpRequest) -> Response:
        if not connection.operations.stop(_find_parameter(request, "operationId")):
            return build_error_response(404, "There is no such operation; it may have ended.")
        return Response(200, _TEXT_HEADERS)

    def _start_operation(
        self, connection: EventConnection, streams: Streamer, exchange: AsgiExchange
    ) -> Response:
        try:
            name, request = _parse_operation(exchange.request.body)
        except BadRequestError as error:
            return build_error_response(400, str(error))
        request = attach_http_request(request, exchange.request, streams.rules)
        if name in connection.operations:
            return build_error_response(409, "An operation with this id is running already.")
        if reason := exchange.slots.explain_refusal(streams.rules):
            return build_error_response(503, reason, {"retry-after": RETRY_AFTER})
        connection.operations.start(
            name, _run_operation(connection, name, request, streams, exchange)
        )
        return Response(202, _TEXT_HEADERS)


def _find_parameter(request: HttpRequest, name: str) -> str:
    return parse_qs(request.query_string.decode("latin-1")).get(name, [""])[0]


def _parse_operation(body: bytes) -> tuple[str, Request]:
    """Return the id and the request of an operation.

    Raises
    ------
    BadRequestError
        If the body is not JSON or not a request, or has no id.
    """
    members = load_body(body)
    request = build_request(members, raw=body)
    name = (members.get("extensions") or {}).get("operationId")
    return check_operation_id(name, "extensions.operationId"), request


async def _run_operation(
    connection: EventConnection,
    name: str,
    request: Request,
    streams: Streamer,
    exchange: AsgiExchange,
) -> None:
    """Run an operation, and queue its events."""
    quoted = dump_json(name)
    start = streams.start_operation(request, EVENT_PARTS)
    answers = streams.run_operation(request, start, exchange.request_log, size=len(request.raw))
    async with aclosing(answers):
        async for answer in answers:
            event = b'{"id":%b,"payload":%b}' % (quoted, answer.body)
            await connection.events.put(incremental.encode_event(event))
    await connection.events.put(b'event: complete\ndata: {"id":%b}\n\n' % quoted)

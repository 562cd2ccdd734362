"""Server-sent events of several operations over one connection, reserved beforehand.

The protocol is that of ``graphql-sse`` in its single connection mode, for browsers that open few
connections to one server over HTTP/1.1::

    PUT                      201, a token           reserve a stream
    GET    with the token    200, the stream        events carry the id of their operation
    POST   with the token    202                    start an operation
    DELETE with the token    200, ?operationId=     stop it

The token is sent in a header, or as ``?token=`` by a browser's ``EventSource``. It is no secret to
protect data: every request is checked as any other, ``Authorization`` included.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from secrets import token_urlsafe
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.http import incremental
from gqlnb.http.handler import RETRY_AFTER, attach_http_request
from gqlnb.http.messages import BadRequestError, Response, build_request
from gqlnb.http.preconditions import (
    EVENT_CONNECTION_HEADER,
    add_cors_headers,
    build_error_response,
)
from gqlnb.server.streams import (
    EVENT_PARTS,
    KEEP_ALIVE_SECONDS,
    StreamedOperation,
    build_start_message,
    run_until_disconnect,
)

if TYPE_CHECKING:
    from gqlnb.http.headers import HttpRequest
    from gqlnb.http.messages import Request
    from gqlnb.server.streams import AsgiExchange, Streamer

MAX_CONNECTIONS = 100  # reserved or open, where no limit is set
OPEN_SECONDS = 10.0  # within which a reserved stream has to be opened
CLOSE_SECONDS = 1.0  # for operations to end
_MAX_ID_LENGTH = 256  # characters; each event repeats the id of its operation
_MAX_QUEUED = 64  # events; a slow client stops its operations
_TEXT_HEADERS = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}


class EventConnection:
    """One reserved or open stream, its operations, and the events to send."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[bytes] = asyncio.Queue(_MAX_QUEUED)
        self.operations: dict[str, asyncio.Task[None]] = {}
        self.is_open = False

    def close(self) -> None:
        """Stop all operations."""
        for task in self.operations.values():
            task.cancel()


class EventConnections:
    """The reserved and open streams of an application."""

    def __init__(self) -> None:
        self._by_token: dict[str, EventConnection] = {}

    async def answer(self, streams: Streamer, exchange: AsgiExchange) -> Response | None:
        """Answer a request of the protocol.

        Parameters
        ----------
        streams
            Runs the operations.
        exchange
            The request, for which `is_event_connection_request` is true.

        Returns
        -------
        Response or None
            The response to send; None if it was a stream, which has ended.
        """
        request = exchange.request
        if request.method == "PUT":
            return self._reserve(streams)
        token = _find_token(request)
        connection = self._by_token.get(token)
        if connection is None:
            return build_error_response(404, "There is no such event stream. Reserve one by PUT.")
        if request.method == "DELETE":
            return self._stop_operation(connection, request)
        if request.method == "POST":
            return self._start_operation(connection, streams, exchange)
        if connection.is_open:
            return build_error_response(409, "The event stream is open already.")
        connection.is_open = True
        try:
            await self._send_events(connection, streams, exchange)
        finally:
            connection.close()
            self._by_token.pop(token, None)
        return None

    async def close(self) -> None:
        """Stop all operations, and wait for their ``finally`` blocks."""
        connections = self._by_token.values()
        tasks = [task for it in connections for task in it.operations.values()]
        for connection in connections:
            connection.close()
        self._by_token.clear()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)

    def _reserve(self, streams: Streamer) -> Response:
        most = streams.rules.limits.subscriptions or MAX_CONNECTIONS
        if len(self._by_token) >= most:
            reason = f"At most {most:,} event streams are open at once. Try again later."
            return build_error_response(503, reason, {"retry-after": RETRY_AFTER})
        token = token_urlsafe(24)
        self._by_token[token] = EventConnection()
        asyncio.get_running_loop().call_later(OPEN_SECONDS, self._expire, token)
        return Response(201, _TEXT_HEADERS, token.encode())

    def _expire(self, token: str) -> None:
        connection = self._by_token.get(token)
        if connection is not None and not connection.is_open:
            connection.close()
            del self._by_token[token]

    @staticmethod
    def _stop_operation(connection: EventConnection, request: HttpRequest) -> Response:
        names = parse_qs(request.query_string.decode("latin-1")).get("operationId", [])
        task = connection.operations.pop(names[0], None) if len(names) == 1 else None
        if task is None:
            return build_error_response(404, "There is no such operation; it may have ended.")
        task.cancel()
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
        exchange.slots.in_use += 1  # now: the next request may be handled before the task runs
        connection.operations[name] = asyncio.create_task(
            _run_operation(connection, name, request, streams, exchange)
        )
        return Response(202, _TEXT_HEADERS)

    @staticmethod
    async def _send_events(
        connection: EventConnection, streams: Streamer, exchange: AsgiExchange
    ) -> None:
        async def send_part(part: bytes) -> None:
            message = {"type": "http.response.body", "body": part, "more_body": True}
            await exchange.send(message)

        async def send_all() -> None:
            headers = Response(200, incremental.EVENT_STREAM_HEADERS)
            head = add_cors_headers(headers, exchange.request, streams.rules)
            await exchange.send(build_start_message(head))
            await send_part(
                incremental.KEEP_ALIVE_COMMENT
            )  # hosts send the head with the first part only
            while True:
                try:
                    async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                        part = await connection.events.get()
                except TimeoutError:
                    part = incremental.KEEP_ALIVE_COMMENT
                await send_part(part)

        async def wait_for_disconnect() -> None:
            while (await exchange.receive())["type"] != "http.disconnect":
                pass

        await run_until_disconnect(send_all(), wait_for_disconnect())


def _find_token(request: HttpRequest) -> str:
    token = request.headers.get(EVENT_CONNECTION_HEADER)
    return token or parse_qs(request.query_string.decode("latin-1")).get("token", [""])[0]


def _parse_operation(body: bytes) -> tuple[str, Request]:
    """Return the id and the request of an operation.

    Raises
    ------
    BadRequestError
        If the body is not a request, or has no id.
    """
    try:
        members = load_json(body)
    except JSONError as error:
        msg = f"The body is not JSON: {error}"
        raise BadRequestError(msg) from None
    request = build_request(members, raw=body)
    name = (members.get("extensions") or {}).get("operationId")
    if isinstance(name, str) and 0 < len(name) <= _MAX_ID_LENGTH:
        return name, request
    msg = f"The member extensions.operationId must be a string of 1 to {_MAX_ID_LENGTH} characters."
    raise BadRequestError(msg)


async def _run_operation(
    connection: EventConnection,
    name: str,
    request: Request,
    streams: Streamer,
    exchange: AsgiExchange,
) -> None:
    """Run an operation, and queue its events."""
    size = len(exchange.request.body)
    streamed = StreamedOperation(exchange.request_log, streams.rules, 200, size)
    shown = dump_json(name)
    try:
        started = await streams.start_operation(request, EVENT_PARTS)
        async with aclosing(streams.stream_responses(request, started)) as responses:
            async for response in responses:
                body = streamed.encode_answer(response)
                event = b'{"id":%b,"payload":%b}' % (shown, body)
                await connection.events.put(incremental.encode_event(event))
        streamed.log_end()
        await connection.events.put(b'event: complete\ndata: {"id":%b}\n\n' % shown)
    finally:
        streamed.log_end()
        exchange.slots.in_use -= 1
        if connection.operations.get(name) is asyncio.current_task():
            del connection.operations[name]

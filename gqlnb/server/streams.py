"""Subscriptions: running them, and their responses as server-sent events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import aclosing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from graphql import GraphQLError

from gqlnb.document.json_codec import dump_json
from gqlnb.document.variables import bind_variables
from gqlnb.errors import QueryError
from gqlnb.http import sse
from gqlnb.http.handler import RESOLVER_EXCEPTIONS
from gqlnb.http.headers import HttpRequest
from gqlnb.http.messages import (
    BadRequestError,
    Request,
    Response,
    parse_query_string,
    parse_request_body,
)
from gqlnb.http.preconditions import add_cors_headers, build_error_response
from gqlnb.http.response_encoder import encode_members, mask_exception
from gqlnb.server import scheduling
from gqlnb.server.request_executor import (
    Executable,
    ResolverRunner,
    build_response,
    is_cancelled,
)
from gqlnb.server.request_log import read_clocks

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping

    from gqlnb.document.document import Document
    from gqlnb.document.limits import Limits
    from gqlnb.http.handler import ExecuteRequest
    from gqlnb.http.response_encoder import MaskedErrors
    from gqlnb.http.server_rules import ServerRules
    from gqlnb.result.result import Result
    from gqlnb.server.request_log import RequestLog

__all__ = [
    "Exchange",
    "Receive",
    "Send",
    "StreamSlots",
    "StreamedOperation",
    "Streamer",
    "build_start_message",
    "create_streamer",
    "try_event_stream",
]

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# Seconds of silence: proxies close connections after a minute. graphql-sse pings as often.
KEEP_ALIVE_SECONDS = 12.0
_RETRY_AFTER = "5"  # seconds
_LOG = logging.getLogger("gqlnb")


class ResultStream(Protocol):
    """The stream of a subscription."""

    def __aiter__(self) -> AsyncIterator[Result]:
        """Yield results."""

    async def aclose(self) -> None:
        """End it."""


class Subscribable(Executable, Protocol):
    """A schema with subscriptions."""

    def subscribe_document(
        self,
        document: Document,
        variables: Mapping[str, Any],
        *,
        limits: Limits,
        place: Callable[..., Any],
    ) -> ResultStream:
        """Start a subscription; `place` runs a function in a worker thread."""


class Streamer:
    """Runs operations, subscriptions included, for clients that read streams.

    Parameters
    ----------
    schema
        A schema with a subscription type.
    execute
        Runs queries and mutations.
    rules
        The rules of the server.
    """

    def __init__(self, schema: Subscribable, execute: ExecuteRequest, rules: ServerRules) -> None:
        self.rules = rules
        self._schema = schema
        self._execute = execute
        self._runner = ResolverRunner(schema, rules.limits, rules.access)

    async def start_operation(self, request: Request) -> ResultStream | Response | None:
        """Return the stream of a subscription, an error, or None for other operations."""
        try:
            return await scheduling.run_in_thread(lambda: self._subscribe(request))
        except RESOLVER_EXCEPTIONS as error:
            return _build_error(error, request)

    def _subscribe(self, request: Request) -> ResultStream | Response | None:
        limits, introspection = self.rules.limits, self.rules.access.introspection
        try:
            document = self._schema.parse_document(
                request.query, request.operation_name, limits=limits, introspection=introspection
            )
            if document.kind != "subscription":
                return Response(405) if request.safe and document.kind == "mutation" else None
            variables = bind_variables(document, request.variables)
            return self._schema.subscribe_document(
                document, variables, limits=limits, place=scheduling.run_in_thread
            )
        except QueryError as error:
            return self._runner.build_refusal(request, error)

    async def stream_responses(
        self, request: Request, started: ResultStream | Response | None
    ) -> AsyncGenerator[Response, None]:
        """Yield the responses to a started operation.

        Nothing is raised: an exception of the source ends the stream with a response without data.
        """
        try:
            if started is None:
                yield await self._execute(request)
            elif isinstance(started, Response):
                yield started
            else:
                async for result in started:
                    yield build_response(result)
        except QueryError as error:
            yield self._runner.build_refusal(request, error)
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
                except Exception as error:  # the responses have ended
                    _LOG.error("The source of a subscription failed to close", exc_info=error)


def create_streamer(
    schema: Executable, execute: ExecuteRequest, rules: ServerRules
) -> Streamer | None:
    """Return the Streamer of a schema; None for a schema without subscriptions."""
    core = getattr(schema, "graphql", None)
    if core is None or core.subscription_type is None or not hasattr(schema, "subscribe_document"):
        return None
    return Streamer(cast("Subscribable", schema), execute, rules)


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

    def acquire_slot(self) -> None:
        """Count one more operation."""
        self.in_use += 1

    def release_slot(self) -> None:
        """Count one operation less."""
        self.in_use -= 1

    @contextmanager
    def hold_slot(self) -> Iterator[None]:
        """Count one operation for the time of a ``with`` block."""
        self.acquire_slot()
        try:
            yield
        finally:
            self.release_slot()


class StreamedOperation:
    """One streamed operation: encodes its responses, and logs it when it ends.

    Parameters
    ----------
    request_log
        The log. Exceptions are added at once, since the client gets their ids.
    rules
        The rules of the server, for errors.
    status
        The status to log.
    size
        Size of the request in bytes.
    """

    def __init__(self, request_log: RequestLog, rules: ServerRules, status: int, size: int) -> None:
        self._request_log, self._limits = request_log, rules.limits
        self._began, self._size, self._sent = read_clocks(), size, 0
        self._log_response = Response(status)
        self._is_open = True

    def encode_answer(self, done: Response) -> bytes:
        """Return a response as JSON; one that cannot be encoded becomes an internal error."""
        masked: MaskedErrors = []
        try:
            body = encode_members(done, self._limits, masked)
        except RESOLVER_EXCEPTIONS as error:
            message = mask_exception(error, "the request", masked)
            body = dump_json({"errors": [{"message": message}]})
        if masked:
            self._request_log.keep_errors(masked)
        self._sent += len(body)
        self._log_response = replace(
            self._log_response,
            operation=done.operation or self._log_response.operation,
            # The log has one id per operation: that of the first exception.
            masked_errors=self._log_response.masked_errors or tuple(masked[:1]),
        )
        return body

    def log_end(self) -> None:
        """Log the operation, once. Call it before the client learns of the end."""
        if not self._is_open:
            return
        self._is_open = False
        self._request_log.add_request(self._began, self._log_response, self._size, self._sent)


class Exchange(NamedTuple):
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
    """

    request: HttpRequest
    request_log: RequestLog
    slots: StreamSlots
    receive: Receive
    send: Send


async def try_event_stream(streams: Streamer, exchange: Exchange) -> bool:
    """Answer a request with events; return False, with nothing sent, if the client wants JSON."""
    request, rules = exchange.request, streams.rules
    preference = sse.negotiate_events(request.headers.get("accept"))
    operation = None if preference == "never" else _parse_request(request, rules)
    if operation is None:
        return False
    if reason := exchange.slots.explain_refusal(rules):
        refusal = build_error_response(503, reason, {"retry-after": _RETRY_AFTER})
        refusal = add_cors_headers(refusal, request, rules)
        exchange.request_log.add_request(read_clocks(), refusal, len(request.body))
        await exchange.send(build_start_message(refusal))
        await exchange.send({"type": "http.response.body", "body": refusal.body})
        return True
    with exchange.slots.hold_slot():
        started = await streams.start_operation(operation)
        # A 405 needs its status and the Allow header, which an event cannot carry.
        if isinstance(started, Response) and started.status == 405:
            return False
        is_subscription = started is not None and not isinstance(started, Response)
        if not is_subscription and preference != "always":
            return False
        streamed = StreamedOperation(exchange.request_log, rules, 200, len(request.body))
        try:
            responses = streams.stream_responses(operation, started)
            await _send_events(responses, streamed, exchange, rules)
        finally:
            streamed.log_end()
    return True


def _parse_request(request: HttpRequest, rules: ServerRules) -> Request | None:
    """Return the operation of a request; None for an invalid one, which gets a JSON response."""
    most = rules.limits.body
    if most is not None and len(request.body) > most:
        return None
    try:
        if request.method == "GET":
            return parse_query_string(request.query_string)
        return parse_request_body(request.body)
    except BadRequestError:
        return None


def build_start_message(response: Response) -> dict[str, Any]:
    """Return the ASGI message with the head of a response."""
    headers = [(name.encode(), text.encode("latin-1")) for name, text in response.headers.items()]
    return {"type": "http.response.start", "status": response.status, "headers": headers}


async def _send_events(
    responses: AsyncGenerator[Response, None],
    streamed: StreamedOperation,
    exchange: Exchange,
    rules: ServerRules,
) -> None:
    """Send responses as events until they end or the client disconnects."""
    lock = asyncio.Lock()  # events and keep-alive comments are sent one at a time

    async def send_part(part: bytes, *, more: bool = True) -> None:
        async with lock:
            message = {"type": "http.response.body", "body": part, "more_body": more}
            await exchange.send(message)

    async def send_all() -> None:
        head = add_cors_headers(Response(200, sse.EVENT_STREAM_HEADERS), exchange.request, rules)
        await exchange.send(build_start_message(head))
        await send_part(sse.KEEP_ALIVE_COMMENT)  # hosts send the head with the first part only
        async with aclosing(responses):
            async for response in responses:
                await send_part(sse.encode_event(streamed.encode_answer(response)))
        streamed.log_end()
        await send_part(sse.COMPLETE_EVENT, more=False)

    async def wait_for_disconnect() -> None:
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    message = await exchange.receive()
            except TimeoutError:
                await send_part(sse.KEEP_ALIVE_COMMENT)
                continue
            if message["type"] == "http.disconnect":
                return

    with suppress(OSError):  # hosts raise it after a disconnect (ASGI, "Disconnected client")
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

"""Operations whose answers are streamed: what a subscription runs on, and server-sent events."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from graphql import GraphQLError

from gqlnb.document.json_codec import dump_json
from gqlnb.document.variables import bind_variables
from gqlnb.errors import QueryError
from gqlnb.http import sse
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
from gqlnb.server.request_executor import ResolverRunner, build_response, is_cancelled
from gqlnb.server.request_log import read_clocks

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Awaitable,
        Callable,
        Coroutine,
        Iterator,
        MutableMapping,
    )

    from gqlnb.http.response_encoder import MaskedErrors
    from gqlnb.http.server_rules import ServerRules
    from gqlnb.server.request_executor import Executable, Executor
    from gqlnb.server.request_log import RequestLog

    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

__all__ = [
    "Exchange",
    "StreamSlots",
    "StreamedOperation",
    "Streamer",
    "build_start_message",
    "create_streamer",
    "try_event_stream",
]

# Seconds of silence: proxies close what is silent for a minute. graphql-sse pings as often.
KEEP_ALIVE_SECONDS = 12.0
RETRY_AFTER = "5"  # seconds after which there may be room again
_LOG = logging.getLogger("gqlnb")


class ResultStream(Protocol):
    """The stream of a subscription."""

    def __aiter__(self) -> AsyncIterator[Any]:
        """Yield results."""

    async def aclose(self) -> None:
        """End it."""


class Streamer:
    """Answers operations one by one, and subscriptions event by event.

    Parameters
    ----------
    schema
        A schema with a subscription type.
    execute
        Runs queries and mutations.
    rules
        What is let through.
    """

    def __init__(self, schema: Executable, execute: Executor, rules: ServerRules) -> None:
        self.rules = rules
        self.execute = execute
        self._work = ResolverRunner(schema, rules.limits, rules.access)

    async def start_operation(self, request: Request) -> ResultStream | Response | None:
        """Return the stream of a subscription, what is wrong with the request, or None."""
        try:
            return await scheduling.run_in_thread(lambda: self._start_operation(request))
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            return build_stream_error(error, request)

    def _start_operation(self, request: Request) -> ResultStream | Response | None:
        schema: Any = self._work.schema
        limits, introspection = self.rules.limits, self.rules.access.introspection
        name = request.operation_name
        try:
            document = schema.parse_document(
                request.query, name, limits=limits, introspection=introspection
            )
            if document.kind != "subscription":
                refused = request.safe and document.kind == "mutation"
                return Response(405) if refused else None
            variables = bind_variables(document, request.variables)
            return schema.subscribe_document(  # type: ignore[no-any-return]
                document, variables, limits=limits, place=scheduling.run_in_thread
            )
        except QueryError as error:
            return self._work.build_refusal(request, error)

    async def stream_responses(
        self, request: Request, begun: ResultStream | Response | None
    ) -> AsyncGenerator[Response, None]:
        """Yield what the engine answers to a request that was begun.

        Nothing is raised: a source that breaks ends the stream with an answer without data.
        """
        try:
            if begun is None:
                yield await self.execute(request)
            elif isinstance(begun, Response):
                yield begun
            else:
                async for result in begun:
                    yield build_response(result)
        except QueryError as error:
            yield self._work.build_refusal(request, error)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            yield build_stream_error(error, request)
        except asyncio.CancelledError as error:
            if is_cancelled():
                raise
            yield build_stream_error(
                error, request
            )  # what the source awaited was cancelled, and not we
        finally:
            if begun is not None and not isinstance(begun, Response):
                await close_stream(begun)


async def close_stream(stream: ResultStream) -> None:
    """End a stream; nobody is left to hear what its source raises then."""
    try:
        await stream.aclose()
    except Exception as error:
        _LOG.error("The source of a subscription failed to close", exc_info=error)


def create_streamer(schema: Executable, execute: Executor, rules: ServerRules) -> Streamer | None:
    """Return what streams answers; None for a schema without subscriptions."""
    core = getattr(schema, "graphql", None)
    streams = (
        core is not None
        and core.subscription_type is not None
        and hasattr(schema, "subscribe_document")
    )
    return Streamer(schema, execute, rules) if streams else None


def build_stream_error(error: BaseException, request: Request) -> Response:
    """Return the answer that ends a stream whose source has raised an exception."""
    shown = error.formatted if isinstance(error, GraphQLError) else {"message": str(error)}
    name = request.operation_name
    return Response(500, members={"errors": [dict(shown)]}, causes=(error,), operation=name)


class StreamSlots:
    """How many operations an application streams at the moment."""

    def __init__(self) -> None:
        self.in_use = 0

    def explain_refusal(self, rules: ServerRules) -> str | None:
        """Return why there is no room for one more; None if there is."""
        most = rules.limits.subscriptions
        if most is None or self.in_use < most:
            return None
        return f"At most {most:,} operations are streamed at once. Try again when one has ended."

    def acquire_slot(self) -> None:
        """Count one more operation."""
        self.in_use += 1

    def release_slot(self) -> None:
        """Count one less."""
        self.in_use -= 1

    @contextmanager
    def hold_slot(self) -> Iterator[None]:
        """Take a place for as long as an operation is streamed."""
        self.acquire_slot()
        try:
            yield
        finally:
            self.release_slot()


class StreamedOperation:
    """One operation that is streamed: writes its answers, and notes it when it has ended.

    Parameters
    ----------
    journal
        Where it is noted; an exception at once, since the client has its id.
    rules
        What a client is told of errors.
    status
        The status it is noted with.
    size
        Bytes that asked for it.
    """

    def __init__(self, journal: RequestLog, rules: ServerRules, status: int, size: int) -> None:
        self._request_log, self._limits = journal, rules.limits
        self._began, self._size, self._sent = read_clocks(), size, 0
        self._log_response = Response(status)
        self._is_open = True

    def encode_answer(self, done: Response) -> bytes:
        """Return an answer as JSON; whatever it holds, there is something to send."""
        faults: MaskedErrors = []
        try:
            body = encode_members(done, self._limits, faults)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            body = dump_json(
                {"errors": [{"message": mask_exception(error, "the request", faults)}]}
            )
        if faults:
            self._request_log.keep_errors(faults)
        self._sent += len(body)
        # Of a stream that fails and fails again, the first exception.
        first = self._log_response.masked_errors or tuple(faults[:1])
        name = done.operation or self._log_response.operation
        self._log_response = replace(self._log_response, operation=name, masked_errors=first)
        return body

    def log_end(self) -> None:
        """Note the operation, once: before the client hears that it has ended."""
        if not self._is_open:
            return
        self._is_open = False
        self._request_log.add_request(self._began, self._log_response, self._size, self._sent)


# ---------------------------------------------------------------- server-sent events


class Exchange(NamedTuple):
    """One request and the ASGI host it came from.

    Attributes
    ----------
    request
        The whole request, whose head was screened.
    request_log
        Where it is noted.
    slots
        Room for streams.
    receive, send
        The two ends of the host.
    """

    request: HttpRequest
    request_log: RequestLog
    slots: StreamSlots
    receive: Receive
    send: Send


async def try_event_stream(streams: Streamer, exchange: Exchange) -> bool:
    """Answer a request as server-sent events; False, and nothing is sent, if it wants JSON."""
    request, rules = exchange.request, streams.rules
    operation = read_streamable_request(request, rules)
    if operation is None:
        return False
    if reason := exchange.slots.explain_refusal(rules):
        refused = add_cors_headers(
            build_error_response(503, reason, {"retry-after": RETRY_AFTER}), request, rules
        )
        exchange.request_log.add_request(read_clocks(), refused, len(request.body))
        await exchange.send(build_start_message(refused))
        await exchange.send({"type": "http.response.body", "body": refused.body})
        return True
    with exchange.slots.hold_slot():
        begun = await streams.start_operation(operation)
        if not wants_events(request, begun):
            return False
        account = StreamedOperation(exchange.request_log, rules, 200, len(request.body))
        try:
            await send_events(streams.stream_responses(operation, begun), account, exchange, rules)
        finally:
            account.log_end()
    return True


def build_start_message(response: Response) -> dict[str, Any]:
    """Return the message with the head of a response."""
    headers = [(name.encode(), text.encode("latin-1")) for name, text in response.headers.items()]
    return {"type": "http.response.start", "status": response.status, "headers": headers}


def read_streamable_request(request: HttpRequest, rules: ServerRules) -> Request | None:
    """Return the operation of a request that may have to be streamed; None for any other.

    What is wrong with the request itself is no event: it is answered as always.
    """
    most = rules.limits.body
    if sse.negotiate_events(request.headers.get("accept")) == "never":
        return None
    if most is not None and len(request.body) > most:
        return None
    try:
        return (
            parse_query_string(request.query_string)
            if request.method == "GET"
            else parse_request_body(request.body)
        )
    except BadRequestError:
        return None


def wants_events(request: HttpRequest, begun: ResultStream | Response | None) -> bool:
    """Tell whether a request that was begun is answered as events."""
    if isinstance(begun, Response) and begun.status == 405:
        return False
    if begun is None or isinstance(begun, Response):
        return sse.negotiate_events(request.headers.get("accept")) == "always"
    return True


async def send_events(
    answers: AsyncGenerator[Response, None],
    account: StreamedOperation,
    exchange: Exchange,
    rules: ServerRules,
) -> None:
    """Send answers as events until they end or the client leaves."""
    turn = asyncio.Lock()  # events and comments are sent one at a time

    async def send_part(part: bytes, *, more: bool = True) -> None:
        async with turn:
            message = {"type": "http.response.body", "body": part, "more_body": more}
            await exchange.send(message)

    async def send_all() -> None:
        head = add_cors_headers(Response(200, sse.EVENT_STREAM_HEADERS), exchange.request, rules)
        await exchange.send(build_start_message(head))
        await send_part(sse.KEEP_ALIVE_COMMENT)  # the head leaves now, not with the first event
        async with aclosing(answers):
            async for done in answers:
                await send_part(sse.encode_event(account.encode_answer(done)))
        account.log_end()
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

    with suppress(OSError):  # so a host says that the client has left (ASGI, "Disconnected client")
        await run_until_disconnect(send_all(), wait_for_disconnect())


async def run_until_disconnect(
    work: Coroutine[Any, Any, None], left: Coroutine[Any, Any, None]
) -> None:
    """Run `work` to its end, or cancel it when `left` ends.

    It has ended when this returns: its ``finally`` blocks, too.
    """
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(left)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()

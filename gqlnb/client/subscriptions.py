"""Results in a stream: subscriptions, begun again when they break, and answers in parts."""

from __future__ import annotations

import asyncio
import logging
import random
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from gqlnb.auth import Token
from gqlnb.client.asgi_streams import open_asgi_link, stream_asgi_events
from gqlnb.client.auth_headers import Credentials, bind_credentials, check_header_value
from gqlnb.client.event_streams import ACCEPT_PARTS, stream_events
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.recording.recording_transport import RecordingTransport
from gqlnb.client.recording.session import build_unrecordable_error
from gqlnb.client.retry_loop import is_interactive
from gqlnb.client.transports import AsgiTransport, InProcessTransport, make_response
from gqlnb.client.websocket_client import (
    LEGACY_ONLY,
    OPERATIONS,
    NotOfferedError,
    SilentHandshakeError,
    exchange_messages,
    open_network_link,
)
from gqlnb.document.json_codec import dump_json
from gqlnb.engine.schema_adapters import find_incremental_problems
from gqlnb.engine.subscription import Stream
from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    OptionError,
    Problem,
    QueryError,
    RateLimited,
    TargetError,
    TransportError,
    sanitize_text,
)
from gqlnb.http.graphql_ws_client import LEGACY_SUBPROTOCOL
from gqlnb.http.graphql_ws_server import SUBPROTOCOL
from gqlnb.http.incremental import IncrementalResponse, InvalidPartError, apply_part
from gqlnb.http.messages import Response
from gqlnb.http.rate_limit_rules import TRANSIENT_STATUSES, classify_failure
from gqlnb.http.response_parser import ResponseContext, parse_response
from gqlnb.http.sse import EVENT_STREAM
from gqlnb.redact import hide_locals, strip_traceback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from gqlnb.client.request_sender import PreparedRequest
    from gqlnb.client.transports import Transport
    from gqlnb.http.messages import Request, Response
    from gqlnb.result.result import Result

__all__ = [
    "DEFAULT_RECONNECTS",
    "MAX_BUFFERED_EVENTS",
    "ConnectionInit",
    "ResponseStream",
    "StreamKind",
    "Subscription",
    "SubscriptionOptions",
    "open_responses",
    "open_subscription",
    "read_ahead",
    "require_streaming",
]

DEFAULT_RECONNECTS = 5  # attempts in a row to subscribe again, as graphql-ws makes
FIRST_DELAY = 0.5  # seconds before the first of them; doubled for each further one
MAX_DELAY = 30.0  # seconds
NO_STREAM_HINT = (
    "It offers neither a WebSocket of graphql-transport-ws or graphql-ws nor server-sent events."
)
ANSWERED_ONCE = "the subscription was answered once, with JSON, and not with a stream of events."
ConnectionInit = Mapping[str, Any] | bool | None
_LOG = logging.getLogger("gqlnb")


class Subscription(Stream):
    """The Results of a subscription at an endpoint, one for each event, as they come.

    Of a query or mutation whose answer comes in parts (``@defer``, ``@stream``) each Result is the
    answer as far as it has come; the last one is all of it.

    It is iterated with ``for`` or ``async for``, and ends when the loop is left, by ``break``, an
    error or an interrupt, at the end of a ``with`` or ``async with`` block, and by :meth:`close` or
    :meth:`aclose`. The endpoint is asked at the first step. Up to 64 events are read ahead; whoever
    takes them more slowly slows the endpoint.

    Attributes
    ----------
    document : Document
        The document that was subscribed to.
    source : str
        Where the events are from.
    reconnects : int
        How often the connection broke and the endpoint let us in again. It has grown when the first
        Result after such a gap is there: events in between are missing.
    """

    def __init__(
        self,
        transport: Transport,
        request: Request,
        asked: ResponseContext,
        ways: SubscriptionOptions,
        again: int,
    ) -> None:
        self.source = asked.source
        self._runner = SubscriptionRunner(transport, request, asked, ways, again)
        super().__init__(self._runner.iterate_results, asked.document)

    @property
    def reconnects(self) -> int:
        """How often the endpoint let us in again."""
        return self._runner.reconnects

    def __repr__(self) -> str:
        return f"Subscription({self.source!r})"


class SubscriptionRunner:
    """Follows a subscription through its connections.

    The stream knows it and it does not know the stream, which ends when nobody holds it any more.
    """

    def __init__(
        self,
        transport: Transport,
        request: Request,
        asked: ResponseContext,
        ways: SubscriptionOptions,
        again: int,
    ) -> None:
        self.reconnects = 0
        self._transport, self._request, self._response_context = transport, request, asked
        self._options, self._max_attempts = ways, again
        self._is_accepted = self._was_accepted = False
        self._attempts = 0
        self._partial_answer = (
            None if asked.document.kind == "subscription" else IncrementalResponse()
        )
        self._last_result: Result | None = None

    async def iterate_results(self) -> AsyncGenerator[Result, None]:
        """Yield results, subscribing again as often as that may help."""
        while True:
            try:
                async with aclosing(self._iterate_connection()) as results:
                    async for result in results:
                        yield result
            except GqlnbError as error:
                ended = strip_traceback(error)
                if self._partial_answer is not None and ended.result is None:
                    ended.result = self._last_result
            else:
                return
            if self._attempts >= self._max_attempts or not self._may_recover(ended):
                raise self._explain_error(ended)
            self._attempts += 1
            self._announce_reconnect(ended)
            await asyncio.sleep(compute_backoff(self._attempts))

    async def _iterate_connection(self) -> AsyncGenerator[Result, None]:
        """Yield the results of one connection."""
        self._is_accepted = False
        async with aclosing(open_responses(self._transport, self._request, self._options)) as came:
            async for response in came:
                if response is None:  # the endpoint has let us in
                    self.reconnects += self._was_accepted
                    self._is_accepted = self._was_accepted = True
                    continue
                result = self._read_result(response)
                if not self._is_accepted and self._partial_answer is None:
                    msg = f"{self._response_context.source}: {ANSWERED_ONCE}"
                    raise AnswerError(msg, result=result)
                self._attempts = 0
                yield result
                if self._partial_answer is not None and not self._partial_answer.has_next:
                    return
        if self._partial_answer is not None:
            msg = (
                f"{self._response_context.source}: the stream ended before the last part of the answer. "
                "What had come is in error.result."
            )
            raise AnswerError(msg)  # with what had come, see `iterate_results`

    def _read_result(self, response: Response) -> Result:
        """Return the result of a response; of a part, the answer as far as it has come.

        Raises
        ------
        AnswerError
            If it is no part of the answer. What had come is its ``.result``.
        """
        growing = self._partial_answer
        fault = None
        if growing is not None and response.status == 200:
            try:
                response = apply_part(response, growing)
            except InvalidPartError as error:
                fault = (
                    f"{self._response_context.source}: part {growing.part_count} of the answer does not go with "
                    f"those before it: {error}. What had come is in error.result."
                )
        if fault is not None:
            raise AnswerError(fault)  # with what had come, see `iterate_results`
        self._last_result = parse_response(
            response, replace(self._response_context, now=time.time(), streaming=True)
        )
        return self._last_result

    def _may_recover(self, error: GqlnbError) -> bool:
        """Tell whether to subscribe again may help.

        Where the endpoint had let us in before, nobody there may mean that it is starting anew.
        """
        if not isinstance(error, TransportError) or isinstance(error, (AuthError, RateLimited)):
            return False
        anew = (
            self._was_accepted
            and not self._is_accepted
            and error.status in {None, *TRANSIENT_STATUSES}
        )
        return anew or classify_failure(error) is not None

    def _announce_reconnect(self, error: GqlnbError) -> None:
        """Say in the log, and once to a person who waits, that events may be missing."""
        missing = "; events in between are missing" if self._was_accepted else ""
        said = (
            f"{sanitize_text(error, 300)} Subscribing again (attempt {self._attempts} of {self._max_attempts})"
            f"{missing}."
        )
        _LOG.warning("%s", said)
        if not self.reconnects and self._attempts == 1 and is_interactive():
            sys.stderr.write(f"{said} Interrupt to stop.\n")

    def _explain_error(self, error: GqlnbError) -> GqlnbError:
        """Return the error that ends it, with what is known beside it."""
        said = ""
        if self._attempts:
            times = "once" if self._attempts == 1 else f"{self._attempts} times in a row"
            said = f" Tried {times} to subscribe again."
        elif isinstance(error, (TransportError, AnswerError)) and self._has_no_stream(error):
            said = f" {NO_STREAM_HINT}"
        if said:
            error.args = (f"{error.args[0]}{said}",)
        return error

    def _has_no_stream(self, error: GqlnbError) -> bool:
        """Tell whether there was an answer, but no stream, in either way."""
        about = isinstance(error, AnswerError) or getattr(error, "status", None) is not None
        known = self._options.kind or getattr(self._transport, "stream_kind", None)
        return about and known is None and not isinstance(error, (AuthError, RateLimited))


def compute_backoff(tried: int, fraction: Callable[[], float] = random.random) -> float:
    """Return the seconds to wait before an attempt: between half and all of each step."""
    return min(MAX_DELAY, FIRST_DELAY * 2.0 ** (tried - 1)) * (0.5 + fraction() / 2)


@hide_locals
def open_subscription(
    prepared: PreparedRequest,
    *,
    kind: StreamKind | None,
    reconnect: int,
    init: ConnectionInit,
    timeout: float,
) -> Subscription:
    """Return the stream of a subscription, or of an answer in parts.

    Parameters
    ----------
    prepared
        The request.
    kind, reconnect, init
        As `transport`, `reconnect` and `init` of :meth:`gqlnb.Client.subscribe`.
    timeout
        Seconds until an endpoint must have accepted the subscription.

    Raises
    ------
    QueryError
        If the document has a single answer, or has parts, which a schema of this process lacks.
    OptionError
        If an option has no such value.
    TargetError, AuthError, ReplayError
        If the transport carries no subscriptions, or a value of `init` is not valid, can't be
        found, or may not be sent there.
    """
    context = prepared.context
    document = context.document
    incremental = document.kind != "subscription"
    if incremental and not document.incremental_directives:
        message = f"A {document.kind} gives one result. Use execute() for it."
        raise QueryError(message, text=document.text)
    transport = require_streaming(prepared.transport)
    check_subscription_options(kind, reconnect, init)
    tokens: list[Token] = []
    payload = seal_init(init, tokens) if isinstance(init, Mapping) else init
    if tokens and isinstance(transport, HttpTransport):
        named = {f"init-{number}": token for number, token in enumerate(tokens)}
        bind_credentials(transport.url, Credentials(None, named))
    options = SubscriptionOptions(kind, payload, timeout)
    if incremental:
        if isinstance(transport, InProcessTransport):  # its engine answers in one piece
            raise QueryError(text=document.text, problems=find_incremental_problems(document))
        # Over HTTP unless asked otherwise, as the servers with @defer and @stream do.
        options = options._replace(kind=kind or "sse", accept=ACCEPT_PARTS)
        reconnect = 0

    def redact(text: str) -> str:
        for token in tokens:
            text = token.redact(text)
        return context.redact(text)

    if tokens:
        context = replace(context, redact=redact)
    return Subscription(transport, prepared.request, context, options, reconnect)


def check_subscription_options(kind: object, reconnect: object, init: object) -> None:
    """Raise OptionError for values that the options do not have."""
    if kind not in ("ws", "sse", None):
        msg = f"transport= takes 'ws', 'sse' or None, not {sanitize_text(repr(kind), 40)}."
        raise OptionError(msg)
    if type(reconnect) is not int or reconnect < 0:
        msg = (
            "reconnect= takes a number of attempts, 0 for none, not "
            f"{sanitize_text(repr(reconnect), 40)}."
        )
        raise OptionError(msg)
    if init is not None and not isinstance(init, (bool, Mapping)):
        msg = f"init= takes True or a mapping, not {type(init).__name__}."
        raise OptionError(msg)


def seal_init(given: Mapping[str, Any], secrets: list[Token]) -> dict[str, Any]:
    """Return a payload of ``connection_init`` whose secrets are Tokens, and add those to a list."""
    payload: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            payload[name] = seal_init(value, secrets)
        elif isinstance(value, (str, Token)) or hasattr(value, "token"):
            payload[name] = check_header_value(str(name), value)
        else:
            payload[name] = value
        if isinstance(payload[name], Token):
            secrets.append(payload[name])
    return payload


T = TypeVar("T")
MAX_BUFFERED_EVENTS = 64  # events read ahead; the sockets below hold some more


class StreamBuffer(Generic[T]):
    """What has come and was not taken yet.

    Parameters
    ----------
    most
        Items it holds at most.
    size
        Bytes it holds at most, one item apart; None for any number.
    """

    def __init__(self, most: int, size: int | None) -> None:
        self._max_items, self._max_bytes = most, size
        self._items: deque[tuple[T, int]] = deque()
        self._held_bytes = 0
        self._is_finished = False
        self._error: Exception | None = None
        self._changed = asyncio.Condition()

    async def put(self, item: T, size: int) -> None:
        """Add an item as soon as there is room."""
        async with self._changed:
            await self._changed.wait_for(self._has_room)
            self._items.append((item, size))
            self._held_bytes += size
            self._changed.notify_all()

    def _has_room(self) -> bool:
        full = self._max_bytes is not None and self._held_bytes >= self._max_bytes
        return len(self._items) < self._max_items and not full

    async def finish(self, fault: Exception | None) -> None:
        """Say that nothing more will be added, and why if that is an error."""
        async with self._changed:
            self._is_finished, self._error = True, fault
            self._changed.notify_all()

    async def take(self) -> tuple[T] | None:
        """Return the oldest item in a tuple, waiting for it; None at the end.

        Raises
        ------
        Exception
            What ended the stream, after its last item.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._items or self._is_finished)
            if not self._items and self._error is not None:
                raise self._error
            if not self._items:
                return None
            item, size = self._items.popleft()
            self._held_bytes -= size
            self._changed.notify_all()
            return (item,)


async def read_ahead(
    source: AsyncGenerator[T, None], size_of: Callable[[T], int], size: int | None
) -> AsyncGenerator[T, None]:
    """Yield what `source` yields, reading ahead in a task of its own.

    The source runs in that one task from beginning to end, so that it answers the other side's
    pings while nobody takes its items, until the buffer is full: 64 items, or `size` bytes. It has
    ended when this has.
    """
    buffer: StreamBuffer[T] = StreamBuffer(MAX_BUFFERED_EVENTS, size)

    async def fill_buffer() -> None:
        fault = None
        try:
            async with aclosing(source):
                async for item in source:
                    await buffer.put(item, size_of(item))
        except Exception as error:
            fault = error
        await buffer.finish(fault)

    task = asyncio.create_task(fill_buffer())
    try:
        while (taken := await buffer.take()) is not None:
            yield taken[0]
    finally:
        task.cancel()
        await asyncio.wait([task])


StreamKind = Literal["ws", "sse"]
ResponseStream = AsyncGenerator[Response | None, None]
SUBPROTOCOLS = tuple(OPERATIONS)
HANDSHAKE_SECONDS = 10.0  # seconds until a handshake is tried in another way
# Statuses of a handshake that are no word on WebSockets: about the token, or about to pass.
INCONCLUSIVE_STATUSES = frozenset({401, 407, 429, 502, 503, 504})


class SubscriptionOptions(NamedTuple):
    """How to subscribe.

    Attributes
    ----------
    kind
        ``"ws"``, ``"sse"``, or None for what the endpoint offers.
    init
        The payload of ``connection_init``, with Tokens in it; True for the client's headers; None
        for none.
    timeout
        Seconds until an endpoint must have let us in.
    accept
        The media types that may come over HTTP.
    """

    kind: StreamKind | None
    init: Mapping[str, Any] | bool | None
    timeout: float
    accept: str = EVENT_STREAM


def open_responses(
    transport: Transport, request: Request, ways: SubscriptionOptions
) -> ResponseStream:
    """Return the answers to a subscription: None when it is let in, then one for each event."""
    carrier = require_streaming(transport)
    if isinstance(carrier, InProcessTransport):
        return stream_in_process(carrier, request)
    cap = carrier.cap if isinstance(carrier, HttpTransport) else None
    return read_ahead(stream_by_first_offer(carrier, request, ways), measure_body, cap)


def require_streaming(transport: Transport) -> InProcessTransport | HttpTransport | AsgiTransport:
    """Return a transport that carries subscriptions.

    Raises
    ------
    TargetError, ReplayError
        If this one does not.
    """
    if isinstance(transport, (InProcessTransport, HttpTransport, AsgiTransport)):
        return transport
    if isinstance(transport, RecordingTransport):
        raise build_unrecordable_error(transport.recording, "subscriptions", "these need not end.")
    msg = (
        f"{transport.source}: a {type(transport).__name__} carries single answers, not "
        "subscriptions. Give the client the endpoint's address."
    )
    raise TargetError(msg)


def measure_body(response: Response | None) -> int:
    """Return the bytes of an answer."""
    return 0 if response is None else len(response.body)


async def stream_in_process(transport: InProcessTransport, request: Request) -> ResponseStream:
    """Yield the answers of a schema of this process.

    Raises
    ------
    QueryError
        If the function of the field fails after it has begun; what it raised is the cause.
    """
    document = request.document
    if document is None or document.schema is not transport.schema.graphql:
        document = transport.schema.parse_document(request.query, request.operation_name)
    failed: Exception | None = None
    yield None
    async with aclosing(
        transport.schema.subscribe_document(document, request.variables or {})
    ) as results:
        while failed is None:
            try:
                result = await anext(results, None)
            except GqlnbError:
                raise
            except Exception as error:  # whatever the function raises
                failed = error
                break
            if result is None:
                return
            yield make_response(result)
    problem = Problem(sanitize_text(failed) or type(failed).__name__)
    raise QueryError(text=document.text, problems=[problem]) from failed


async def stream_by_first_offer(
    transport: HttpTransport | AsgiTransport, request: Request, ways: SubscriptionOptions
) -> ResponseStream:
    """Yield answers by the way that was asked for, else by the first that the endpoint offers.

    WebSockets come first: whether there are any is found out before the operation is sent.
    """
    until = monotonic() + ways.timeout
    way = ways.kind or transport.stream_kind
    if way != "sse":
        try:
            async with aclosing(stream_over_websockets(transport, request, ways)) as came:
                async for response in came:
                    yield response
        except NotOfferedError as error:
            fault = error
        else:
            return
        if way is not None:
            raise TransportError(str(fault), status=fault.status)
    over = stream_events if isinstance(transport, HttpTransport) else stream_asgi_events
    left = until - monotonic()
    async with aclosing(over(transport, request, left, ways.accept)) as came:  # type: ignore[arg-type]
        async for response in came:
            if response is None and ways.accept == EVENT_STREAM:
                transport.stream_kind = "sse"
            yield response


async def stream_over_websockets(
    transport: HttpTransport | AsgiTransport, request: Request, ways: SubscriptionOptions
) -> ResponseStream:
    """Yield answers over a WebSocket, by the subprotocol that the endpoint speaks.

    A server may choose a subprotocol and then not speak it: the older one is offered next. Others
    do not answer a handshake that offers the newer one at all (PostGraphile 4 with ``websockets:
    ["v0"]``): the older one is offered alone, then both again, since a server may just be slow.

    Raises
    ------
    NotOfferedError
        If the endpoint opens none.
    TransportError
        If it answers no handshake.
    """
    until = monotonic() + ways.timeout
    offers = [LEGACY_ONLY if transport.speaks_legacy else SUBPROTOCOLS]
    fault: NotOfferedError | SilentHandshakeError | None = None
    is_silent = False
    while offers:
        offered = offers.pop(0)
        left = until - monotonic()
        is_last = offered is LEGACY_ONLY if fault is None else not offers
        limit = (
            left
            if is_last or isinstance(transport, AsgiTransport)
            else min(ways.timeout / 3, HANDSHAKE_SECONDS)
        )
        talk = stream_over_subprotocol(transport, request, ways, (limit, left), offered)
        try:
            async with aclosing(talk) as came:
                async for response in came:
                    yield response
        except NotOfferedError as error:
            if fault is None and error.subprotocol == SUBPROTOCOL:
                offers = [LEGACY_ONLY]
            fault = error if fault is None or is_silent else fault
        except SilentHandshakeError as error:
            if fault is None and offered is SUBPROTOCOLS:
                offers = [LEGACY_ONLY, SUBPROTOCOLS]
            fault, is_silent = error, True
        else:
            return
    if isinstance(fault, NotOfferedError):
        raise fault
    msg = f"{transport.source}: no WebSocket was open within {ways.timeout:.3g} s."
    raise TransportError(msg)


async def stream_over_subprotocol(
    transport: HttpTransport | AsgiTransport,
    request: Request,
    ways: SubscriptionOptions,
    limits: tuple[float, float],
    offered: Sequence[str],
) -> ResponseStream:
    """Yield answers over a WebSocket.

    Parameters
    ----------
    limits
        Seconds until the endpoint must have answered the handshake, and until it must have let us
        in.
    offered
        The subprotocols to choose from.

    Raises
    ------
    NotOfferedError
        If the endpoint opens none for them.
    SilentHandshakeError
        If it does not answer the handshake.
    """
    until = monotonic() + limits[1]
    link = await open_link(transport, limits[0], offered)
    if isinstance(link, BaseException):
        raise link
    if isinstance(link, Response):
        yield link  # it says by itself what is wrong
        return
    known, transport.stream_kind = transport.stream_kind, "ws"
    operation = OPERATIONS[link.subprotocol](request, encode_init(transport, ways))
    left = until - monotonic()
    talk = exchange_messages(link, operation, transport.source, transport.credentials.redact, left)
    try:
        async with aclosing(talk) as came:
            async for response in came:
                if response is None:
                    transport.speaks_legacy = link.subprotocol == LEGACY_SUBPROTOCOL
                yield response
    except NotOfferedError:
        transport.stream_kind = known
        raise


async def open_link(
    transport: HttpTransport | AsgiTransport, seconds: float, offered: Sequence[str]
) -> Any:
    """Return a WebSocket, the answer instead of it, or the error to raise."""
    if isinstance(transport, AsgiTransport):
        return await open_asgi_link(transport, seconds, offered)
    link = await open_network_link(transport, seconds, offered)
    if not isinstance(link, Response) or link.status in INCONCLUSIVE_STATUSES:
        return link
    return NotOfferedError(
        f"{transport.source}: no WebSocket is opened there (HTTP {link.status}).",
        status=link.status,
    )


def encode_init(
    transport: HttpTransport | AsgiTransport, ways: SubscriptionOptions
) -> bytes | None:
    """Return the payload of ``connection_init``, with its secrets: at the moment of sending."""
    if not ways.init:
        return None
    return dump_json(
        transport.credentials.build_headers() if ways.init is True else reveal_tokens(ways.init)
    )


def reveal_tokens(value: Any) -> Any:
    """Return a payload with what its Tokens send in their place."""
    if isinstance(value, Token):
        return value.build_header()
    if isinstance(value, Mapping):
        return {name: reveal_tokens(each) for name, each in value.items()}
    return value

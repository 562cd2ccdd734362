"""Streams of results: subscriptions with their reconnects, and responses in several parts."""

from __future__ import annotations

import asyncio
import logging
import random
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gqlnb.client.credentials import Credentials, check_header_value
from gqlnb.client.event_streams import (
    ACCEPT_EVENTS,
    ACCEPT_PARTS,
    open_asgi_link,
    stream_asgi_events,
    stream_events,
)
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.recording.session import RecordingTransport, build_unrecordable_error
from gqlnb.client.transports import AsgiTransport, InProcessTransport, StreamSecrets, make_response
from gqlnb.client.websocket_client import (
    LEGACY_ONLY,
    OPERATIONS,
    NotOfferedError,
    SilentHandshakeError,
    exchange_messages,
    open_network_link,
)
from gqlnb.document.document import build_problems
from gqlnb.document.json_codec import dump_json
from gqlnb.engine.schema_adapters import find_incremental_fault
from gqlnb.engine.subscription import Stream, SubscriptionArguments
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
from gqlnb.http.error_responses import is_token_refused, nullify_response
from gqlnb.http.graphql_ws import LEGACY_SUBPROTOCOL, SUBPROTOCOL
from gqlnb.http.incremental import apply_part
from gqlnb.http.messages import Response
from gqlnb.http.rate_limit_rules import TRANSIENT_STATUSES, classify_failure
from gqlnb.http.response_parser import ResponseContext, parse_response
from gqlnb.interactive import is_interactive
from gqlnb.option_checks import check_whole_number, raise_option_error
from gqlnb.redact import hide_locals, strip_traceback
from gqlnb.result.answer_notes import IncrementalResponse, InvalidPartError
from gqlnb.tokens import Token

if TYPE_CHECKING:
    from gqlnb.client.event_streams import AsgiLink
    from gqlnb.client.request_sender import PreparedRequest
    from gqlnb.client.transports import Transport
    from gqlnb.client.websocket_client import NetworkLink
    from gqlnb.http.messages import Request
    from gqlnb.result.result import Result

FIRST_DELAY = 0.5  # seconds before the first of them; doubled for each further one
MAX_DELAY = 30.0  # seconds
NO_STREAM_HINT = (
    "It offers neither a WebSocket of graphql-transport-ws or graphql-ws nor server-sent events. "
    'Some servers have events in multipart/mixed: transport="multipart" asks for them.'
)
ANSWERED_ONCE = "the endpoint returned a single JSON response instead of an event stream."
ConnectionInit = Mapping[str, Any] | bool | None
StreamingTransport = InProcessTransport | HttpTransport | AsgiTransport
_LOG = logging.getLogger("gqlnb")


# Only `complete` ends a stream. Any other end is a broken connection; the client subscribes
# again, says so and counts it. WebSocket is tried first, since its handshake sends no operation.
class Subscription(Stream):
    """The stream of a subscription: one Result for each event.

    For a query or mutation whose response comes in parts (``@defer``, ``@stream``) each Result
    holds all the parts so far; the last one is complete.

    Iterate with ``for`` or ``async for``. The stream ends when the loop is left, by ``break``, an
    error or an interrupt, at the end of a ``with`` or ``async with`` block, and by :meth:`close` or
    :meth:`aclose`. The request is sent at the first step. Up to 64 events are read ahead; a slower
    consumer slows the endpoint.

    Attributes
    ----------
    document : Document
        The document of the subscription.
    source : str
        The source of the events, as in :attr:`Result.source`.
    reconnects : int
        Number of times the connection broke and the endpoint accepted the subscription again. It
        is counted before the first Result after such a gap: events in between are missing.
    """

    def __init__(self, runner: SubscriptionRunner) -> None:
        self.source = runner.context.source
        self._runner = runner
        super().__init__(runner.iterate_results, runner.context.document)

    @property
    def reconnects(self) -> int:
        """Number of times the endpoint accepted the subscription again."""
        return self._runner.reconnects

    def __repr__(self) -> str:
        return f"Subscription({self.source!r})"


# A runner holds no reference to its stream, which ends when it is garbage-collected.
class SubscriptionRunner:
    """Runs a subscription over several connections."""

    def __init__(
        self,
        transport: StreamingTransport,
        request: Request,
        context: ResponseContext,
        options: SubscriptionOptions,
        reconnect: int,
    ) -> None:
        self.reconnects = 0
        self.context = context
        self._transport, self._request = transport, request
        self._options, self._max_attempts = options, reconnect
        self._is_accepted = self._was_accepted = False
        self._attempts = 0
        # A schema of this process gives merged results.
        in_parts = context.document.kind != "subscription" and not isinstance(
            transport, InProcessTransport
        )
        self._partial_answer = IncrementalResponse() if in_parts else None
        self._last_result: Result | None = None

    async def iterate_results(self) -> AsyncGenerator[Result, None]:
        """Yield results; subscribe again after errors that may be temporary."""
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
            # Jitter: after a restart of the endpoint its clients must not all return at once.
            await asyncio.sleep(compute_backoff(self._attempts))

    async def _iterate_connection(self) -> AsyncGenerator[Result, None]:
        """Yield the results of one connection."""
        self._is_accepted = False
        async with aclosing(open_responses(self._transport, self._request, self._options)) as came:
            async for response in came:
                if response is None:  # the endpoint accepted the subscription
                    self.reconnects += self._was_accepted
                    self._is_accepted = self._was_accepted = True
                    continue
                result = self._read_result(response)
                if not self._is_accepted and self._partial_answer is None:
                    # An error with a path is of an execution, as if it were a query.
                    if result.errors and not (
                        result.data or any("path" in e for e in result.errors)
                    ):
                        problems = build_problems(result.errors)
                        raise QueryError(
                            text=self.context.document.text, problems=problems, result=result
                        )
                    msg = f"{self.context.source}: {ANSWERED_ONCE}"
                    raise AnswerError(msg, result=result)
                self._attempts = 0  # an event proves that the connection works
                yield result
                if self._partial_answer is not None and not self._partial_answer.has_next:
                    return
        if self._partial_answer is not None:
            msg = (
                f"{self.context.source}: the stream ended before the last part of the "
                "answer. The parts before are in error.result."
            )
            raise AnswerError(msg)  # `iterate_results` adds the last result

    def _read_result(self, response: Response) -> Result:
        """Return the result of a response; of a part, the result of all parts so far."""
        growing = self._partial_answer
        if self.context.nan_as_null:
            response = nullify_response(response)
        if growing is not None and response.status == 200:
            try:
                response = apply_part(response, growing)
            except InvalidPartError as error:
                msg = (
                    f"{self.context.source}: part {growing.part_count} of the answer "
                    f"does not fit the parts before it: {error}. These are in error.result."
                )
                raise AnswerError(msg) from None  # `iterate_results` adds the last result
        self._last_result = parse_response(
            response, replace(self.context, now=time.time(), streaming=True)
        )
        return self._last_result

    def _may_recover(self, error: GqlnbError) -> bool:
        """Return whether to subscribe again after an error."""
        if isinstance(error, AuthError):
            # The token expired during the subscription: a function returns another one.
            credentials = getattr(self._transport, "credentials", None)
            return self._is_accepted and credentials is not None and credentials.is_renewable
        if not isinstance(error, TransportError) or isinstance(error, RateLimited):
            return False
        # An endpoint that had accepted us and does not answer now may be restarting.
        is_restarting = (
            self._was_accepted
            and not self._is_accepted
            and error.status in {None, *TRANSIENT_STATUSES}
        )
        return is_restarting or classify_failure(error) is not None

    def _announce_reconnect(self, error: GqlnbError) -> None:
        """Log that events may be missing; the first time also on stderr."""
        missing = "; events in between are missing" if self._was_accepted else ""
        text = (
            f"{sanitize_text(error, 300)} Subscribing again "
            f"(attempt {self._attempts} of {self._max_attempts}){missing}."
        )
        _LOG.warning("%s", text)
        if not self.reconnects and self._attempts == 1 and is_interactive():
            sys.stderr.write(f"{text} Interrupt to stop.\n")

    def _explain_error(self, error: GqlnbError) -> GqlnbError:
        """Return the final error, with the attempts or a hint added to its message."""
        answered = isinstance(error, AnswerError) or (
            isinstance(error, TransportError)
            and not isinstance(error, (AuthError, RateLimited))
            and error.status is not None
        )
        kind = self._options.kind or getattr(self._transport, "stream_kind", None)
        if self._attempts:
            times = "once" if self._attempts == 1 else f"{self._attempts} times in a row"
            error.args = (f"{error.args[0]} Tried {times} to subscribe again.",)
        elif answered and kind is None:
            error.args = (f"{error.args[0]} {NO_STREAM_HINT}",)
        return error


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
        Credentials(None, named).bind(transport.url, transport.uds)
    options = SubscriptionOptions(kind, payload, timeout)
    if incremental:
        if isinstance(transport, InProcessTransport) and (
            fault := find_incremental_fault(transport.adapter)
        ):
            raise QueryError(fault, text=document.text)
        # Over HTTP unless asked otherwise, as the servers with @defer and @stream do.
        options = options._replace(kind=kind or "sse", accept=ACCEPT_PARTS)
        reconnect = 0

    def redact(text: str) -> str:
        for token in tokens:
            text = token.redact(text)
        return context.redact(text)

    if tokens:
        context = replace(context, redact=redact)
    return Subscription(
        SubscriptionRunner(transport, prepared.request, context, options, reconnect)
    )


def check_subscription_options(kind: object, reconnect: object, init: object) -> None:
    """Raise OptionError for values that the options do not have."""
    if kind not in ("ws", "sse", "multipart", None):
        raise_option_error("transport", kind, "'ws', 'sse', 'multipart' or None")
    check_whole_number("reconnect", reconnect)
    if init is not None and not isinstance(init, (bool, Mapping)):
        msg = f"init= takes True or a mapping, not {type(init).__name__}."
        raise OptionError(msg)


def seal_init(given: Mapping[str, Any], secrets: list[Token]) -> dict[str, Any]:
    """Return a payload of ``connection_init`` with Tokens for secrets; append these to a list."""
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


StreamKind = Literal["ws", "sse", "multipart"]
ResponseStream = AsyncGenerator[Response | None, None]
MAX_BUFFERED_EVENTS = 64  # events read ahead; the sockets below hold some more
SUBPROTOCOLS = tuple(OPERATIONS)
HANDSHAKE_SECONDS = 10.0  # seconds until a handshake is tried in another way
# Statuses of a handshake that do not tell whether there are WebSockets: the token, or an overload.
INCONCLUSIVE_STATUSES = frozenset({401, 407, 429, 502, 503, 504})


class SubscriptionOptions(NamedTuple):
    """The options of a subscription.

    Attributes
    ----------
    kind
        ``"ws"``, ``"sse"``, ``"multipart"``, or None for the first that the endpoint offers.
    init
        The payload of ``connection_init``, with Tokens in it; True for the client's headers; None
        for none.
    timeout
        Seconds until an endpoint must have accepted the subscription.
    accept
        The ``Accept`` header over HTTP; None for that of the events of a subscription.
    """

    kind: StreamKind | None
    init: Mapping[str, Any] | bool | None
    timeout: float
    accept: str | None = None


async def read_ahead(source: ResponseStream, cap: int | None) -> ResponseStream:
    """Yield the responses of `source`, which a separate task reads ahead."""
    # The source runs in that one task from beginning to end, so that it answers pings while no
    # response is taken, until 64 responses or `cap` bytes are waiting. It ends before this
    # generator. The last item of the queue is no tuple: None, or the error of the source.
    queue: asyncio.Queue[tuple[Response | None] | Exception | None]
    queue = asyncio.Queue(MAX_BUFFERED_EVENTS)
    waiting_bytes, has_room = 0, asyncio.Event()
    has_room.set()

    def count_bytes(response: Response | None, sign: int) -> None:
        nonlocal waiting_bytes
        waiting_bytes += sign * (0 if response is None else len(response.body))
        if cap is None or waiting_bytes < cap:
            has_room.set()
        else:
            has_room.clear()

    async def fill_queue() -> None:
        fault = None
        try:
            async with aclosing(source):
                async for response in source:
                    await has_room.wait()
                    count_bytes(response, 1)
                    await queue.put((response,))
        except Exception as error:  # noqa: BLE001 - raised to the reader
            fault = error
        await queue.put(fault)

    task = asyncio.create_task(fill_queue())
    try:
        while isinstance(taken := await queue.get(), tuple):
            count_bytes(taken[0], -1)
            yield taken[0]
        if taken is not None:
            raise taken
    finally:
        task.cancel()
        await asyncio.wait([task])


def open_responses(
    transport: StreamingTransport, request: Request, options: SubscriptionOptions
) -> ResponseStream:
    """Return the responses of a subscription: None when it is accepted, then one per event."""
    if isinstance(transport, InProcessTransport):
        return stream_in_process(transport, request)
    # In process there is nothing to answer while no item is taken, so no reading ahead.
    cap = transport.cap if isinstance(transport, HttpTransport) else None
    return read_ahead(stream_by_first_offer(transport, request, options), cap)


def require_streaming(transport: Transport) -> StreamingTransport:
    """Return the transport, or raise TargetError or ReplayError if it carries no subscriptions."""
    if isinstance(transport, StreamingTransport):
        return transport
    if isinstance(transport, RecordingTransport):
        raise build_unrecordable_error(transport.recording, "subscriptions", "these need not end.")
    msg = (
        f"{transport.source}: a {type(transport).__name__} carries single answers, not "
        "subscriptions. Give the client the endpoint's address."
    )
    raise TargetError(msg)


async def stream_in_process(transport: InProcessTransport, request: Request) -> ResponseStream:
    """Yield the responses of a schema of this process.

    Raises
    ------
    QueryError
        If the resolver fails after its first event; its exception is the cause.
    """
    document = transport.get_document(request)
    arguments = SubscriptionArguments(request.variables or {})
    failed: Exception | None = None
    yield None
    async with aclosing(transport.adapter.subscribe_document(document, arguments)) as results:
        while failed is None:
            try:
                result = await anext(results, None)
            except GqlnbError:
                raise
            except Exception as error:  # noqa: BLE001 - of the resolver
                failed = error
                break
            if result is None:
                return
            yield make_response(result)
    problem = Problem(sanitize_text(failed) or type(failed).__name__)
    raise QueryError(text=document.text, problems=[problem]) from failed


async def stream_by_first_offer(
    transport: HttpTransport | AsgiTransport, request: Request, options: SubscriptionOptions
) -> ResponseStream:
    """Yield responses over the requested carrier, else over the first that the endpoint offers."""
    # WebSockets come first: a handshake shows whether they are offered before the operation is
    # sent.
    until = monotonic() + options.timeout
    way = options.kind or transport.stream_kind
    if way not in ACCEPT_EVENTS:
        try:
            async with aclosing(stream_over_websockets(transport, request, options)) as came:
                async for response in came:
                    yield response
        except NotOfferedError as error:
            fault = error
        else:
            return
        if way is not None:
            raise TransportError(str(fault), status=fault.status)
    over: Any = stream_events if isinstance(transport, HttpTransport) else stream_asgi_events
    kinds = [way] if way is not None else list(ACCEPT_EVENTS)
    for kind in kinds:
        accept = options.accept or ACCEPT_EVENTS[kind]
        left = until - monotonic()
        open_stream = partial(over, transport, request, left, accept)
        talk = stream_authorized(transport, request, options, open_stream)
        async with aclosing(talk) as came:
            async for response in came:
                if response is None and options.accept is None:
                    transport.stream_kind = kind
                # Not acceptable, so nothing was executed: Apollo Router has no server-sent events.
                if response is not None and response.status == 406 and kind != kinds[-1]:
                    break
                yield response
            else:
                return


async def stream_over_websockets(
    transport: HttpTransport | AsgiTransport, request: Request, options: SubscriptionOptions
) -> ResponseStream:
    """Yield responses over a WebSocket, in the subprotocol that the endpoint speaks.

    Raises
    ------
    NotOfferedError
        If the endpoint opens none.
    TransportError
        If it answers no handshake.
    """
    # A server may choose a subprotocol and then not speak it: the older one is offered next. Others
    # do not answer a handshake that offers the newer one at all (PostGraphile 4 with `websockets:
    # ["v0"]`): the older one is offered alone, then both again, since a server may just be slow.
    until = monotonic() + options.timeout
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
            else min(options.timeout / 3, HANDSHAKE_SECONDS)
        )
        over = partial(stream_over_subprotocol, transport, request, (limit, left), offered)
        talk = stream_authorized(transport, request, options, over)
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
    msg = f"{transport.source}: no WebSocket was open within {options.timeout:.3g} s."
    raise TransportError(msg)


async def stream_over_subprotocol(
    transport: HttpTransport | AsgiTransport,
    request: Request,
    limits: tuple[float, float],
    offered: Sequence[str],
    secrets: StreamSecrets,
) -> ResponseStream:
    """Yield responses over a WebSocket.

    Parameters
    ----------
    limits
        Seconds until the endpoint must have answered the handshake, and until it must have accepted
        the subscription.
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
    open_link: Any = open_network_link if isinstance(transport, HttpTransport) else open_asgi_link
    link: AsgiLink | NetworkLink | Response | TransportError
    link = await open_link(transport, limits[0], offered, secrets.headers)
    if isinstance(link, BaseException):
        raise link
    if isinstance(link, Response):
        if link.status in INCONCLUSIVE_STATUSES:
            yield link  # an error response, which the caller reads
            return
        msg = f"{transport.source}: the endpoint offers no WebSocket (HTTP {link.status})."
        raise NotOfferedError(msg, status=link.status)
    kind, transport.stream_kind = transport.stream_kind, "ws"
    payload = None if secrets.init is None else dump_json(secrets.init)
    operation = OPERATIONS[link.subprotocol](request, payload)
    left = until - monotonic()
    talk = exchange_messages(link, operation, transport.source, transport.credentials.redact, left)
    try:
        async with aclosing(talk) as came:
            async for response in came:
                if response is None:
                    transport.speaks_legacy = link.subprotocol == LEGACY_SUBPROTOCOL
                yield response
    except NotOfferedError:
        transport.stream_kind = kind
        raise


async def build_secrets(
    transport: HttpTransport | AsgiTransport,
    options: SubscriptionOptions,
    refused: StreamSecrets | None = None,
) -> StreamSecrets:
    """Return the secrets just before sending; functions of tokens are called in a thread."""
    headers = await transport.credentials.abuild_headers(refused and refused.headers)
    if not isinstance(options.init, Mapping):
        return StreamSecrets(headers, headers if options.init else None)
    before = refused and refused.init
    return StreamSecrets(headers, await asyncio.to_thread(reveal_tokens, options.init, before))


async def stream_authorized(
    transport: HttpTransport | AsgiTransport,
    request: Request,
    options: SubscriptionOptions,
    open_stream: Callable[[StreamSecrets], ResponseStream],
) -> ResponseStream:
    """Yield the responses of a stream; if its token is refused, of another one with a new token."""
    secrets = await build_secrets(transport, options)
    for is_last in (False, True):
        is_begun = is_last
        refusal: Response | AuthError | None = None
        try:
            async with aclosing(open_stream(secrets)) as came:
                async for response in came:
                    if not is_begun and response is not None:
                        refused = is_token_refused(response, is_query=request.is_query)
                        refusal = response if refused else None
                    if refusal is not None:
                        break
                    is_begun = True
                    yield response
        except AuthError as error:
            if is_begun:
                raise
            refusal = strip_traceback(error)
        if refusal is None:
            return
        renewed = await build_secrets(transport, options, secrets)
        if renewed == secrets:
            if isinstance(refusal, AuthError):
                raise refusal
            yield refusal
            return
        secrets = renewed


def reveal_tokens(value: object, refused: object = None) -> object:
    """Return a payload with the header values of its Tokens, given one that was refused."""
    if isinstance(value, Token):
        return value.build_header(refused if isinstance(refused, str) else None)
    if isinstance(value, Mapping):
        before = refused if isinstance(refused, Mapping) else {}
        return {name: reveal_tokens(item, before.get(name)) for name, item in value.items()}
    return value

"""Which way a subscription takes: in process, over a WebSocket, or over server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gqlnb.client.asgi_streams import asgi_opened, over_asgi_events
from gqlnb.client.buffers import buffered
from gqlnb.client.events import over_events
from gqlnb.client.http import Http
from gqlnb.client.recorder import Recorder
from gqlnb.client.recordings import unrecorded
from gqlnb.client.transports import Asgi, InProcess, response_of
from gqlnb.client.websocket import (
    LEGACY_ONLY,
    OPERATIONS,
    NotOfferedError,
    SilentHandshakeError,
    conversation,
    opened,
)
from gqlnb.errors import GqlnbError, Problem, QueryError, TargetError, TransportError, plain
from gqlnb.token import Token
from gqlnb.wire.graphql_ws import SUBPROTOCOL
from gqlnb.wire.graphql_ws_legacy import LEGACY_SUBPROTOCOL
from gqlnb.wire.json import dump
from gqlnb.wire.response import Response
from gqlnb.wire.sse import EVENTS

if TYPE_CHECKING:
    from gqlnb.client.transports import Transport
    from gqlnb.wire.request import Request

__all__ = ["Responses", "Way", "Ways", "checked_carrier", "responses"]

Way = Literal["ws", "sse"]
Responses = AsyncGenerator[Response | None, None]
BOTH = tuple(OPERATIONS)
HANDSHAKE = 10.0  # seconds until a handshake is tried in another way
# Statuses of a handshake that are no word on WebSockets: about the token, or about to pass.
ELSEWHERE = frozenset({401, 407, 429, 502, 503, 504})


class Ways(NamedTuple):
    """How to subscribe.

    Attributes
    ----------
    way
        ``"ws"``, ``"sse"``, or None for what the endpoint offers.
    init
        The payload of ``connection_init``, with Tokens in it; True for the client's headers; None
        for none.
    timeout
        Seconds until an endpoint must have let us in.
    accept
        The media types that may come over HTTP.
    """

    way: Way | None
    init: Mapping[str, Any] | bool | None
    timeout: float
    accept: str = EVENTS


def responses(transport: Transport, request: Request, ways: Ways) -> Responses:
    """Return the answers to a subscription: None when it is let in, then one for each event."""
    carrier = checked_carrier(transport)
    if isinstance(carrier, InProcess):
        return in_process(carrier, request)
    cap = carrier.cap if isinstance(carrier, Http) else None
    return buffered(chosen(carrier, request, ways), size, cap)


def checked_carrier(transport: Transport) -> InProcess | Http | Asgi:
    """Return a transport that carries subscriptions.

    Raises
    ------
    TargetError, ReplayError
        If this one does not.
    """
    if isinstance(transport, (InProcess, Http, Asgi)):
        return transport
    if isinstance(transport, Recorder):
        raise unrecorded(transport.recording, "subscriptions", "these need not end.")
    msg = (
        f"{transport.source}: a {type(transport).__name__} carries single answers, not "
        "subscriptions. Give the client the endpoint's address."
    )
    raise TargetError(msg)


def size(response: Response | None) -> int:
    """Return the bytes of an answer."""
    return 0 if response is None else len(response.body)


async def in_process(transport: InProcess, request: Request) -> Responses:
    """Yield the answers of a schema of this process.

    Raises
    ------
    QueryError
        If the function of the field fails after it has begun; what it raised is the cause.
    """
    document = request.document
    if document is None or document.schema is not transport.schema.graphql:
        document = transport.schema.document(request.query, request.operation_name)
    failed: Exception | None = None
    yield None
    async with aclosing(transport.schema.stream(document, request.variables or {})) as results:
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
            yield response_of(result)
    problem = Problem(plain(failed) or type(failed).__name__)
    raise QueryError(text=document.text, problems=[problem]) from failed


async def chosen(transport: Http | Asgi, request: Request, ways: Ways) -> Responses:
    """Yield answers by the way that was asked for, else by the first that the endpoint offers.

    WebSockets come first: whether there are any is found out before the operation is sent.
    """
    until = monotonic() + ways.timeout
    way = ways.way or transport.way
    if way != "sse":
        try:
            async with aclosing(over_websockets(transport, request, ways)) as came:
                async for response in came:
                    yield response
        except NotOfferedError as error:
            fault = error
        else:
            return
        if way is not None:
            raise TransportError(str(fault), status=fault.status)
    over = over_events if isinstance(transport, Http) else over_asgi_events
    left = until - monotonic()
    async with aclosing(over(transport, request, left, ways.accept)) as came:  # type: ignore[arg-type]
        async for response in came:
            if response is None and ways.accept == EVENTS:
                transport.way = "sse"
            yield response


async def over_websockets(transport: Http | Asgi, request: Request, ways: Ways) -> Responses:
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
    offers = [LEGACY_ONLY if transport.speaks_legacy else BOTH]
    fault: NotOfferedError | SilentHandshakeError | None = None
    is_silent = False
    while offers:
        offered = offers.pop(0)
        left = until - monotonic()
        is_last = offered is LEGACY_ONLY if fault is None else not offers
        limit = left if is_last or isinstance(transport, Asgi) else min(ways.timeout / 3, HANDSHAKE)
        talk = over_websocket(transport, request, ways, (limit, left), offered)
        try:
            async with aclosing(talk) as came:
                async for response in came:
                    yield response
        except NotOfferedError as error:
            if fault is None and error.chosen == SUBPROTOCOL:
                offers = [LEGACY_ONLY]
            fault = error if fault is None or is_silent else fault
        except SilentHandshakeError as error:
            if fault is None and offered is BOTH:
                offers = [LEGACY_ONLY, BOTH]
            fault, is_silent = error, True
        else:
            return
    if isinstance(fault, NotOfferedError):
        raise fault
    msg = f"{transport.source}: no WebSocket was open within {ways.timeout:.3g} s."
    raise TransportError(msg)


async def over_websocket(
    transport: Http | Asgi,
    request: Request,
    ways: Ways,
    limits: tuple[float, float],
    offered: Sequence[str],
) -> Responses:
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
    known, transport.way = transport.way, "ws"
    operation = OPERATIONS[link.subprotocol](request, init_of(transport, ways))
    left = until - monotonic()
    talk = conversation(link, operation, transport.source, transport.secrets.hide, left)
    try:
        async with aclosing(talk) as came:
            async for response in came:
                if response is None:
                    transport.speaks_legacy = link.subprotocol == LEGACY_SUBPROTOCOL
                yield response
    except NotOfferedError:
        transport.way = known
        raise


async def open_link(transport: Http | Asgi, seconds: float, offered: Sequence[str]) -> Any:
    """Return a WebSocket, the answer instead of it, or the error to raise."""
    if isinstance(transport, Asgi):
        return await asgi_opened(transport, seconds, offered)
    link = await opened(transport, seconds, offered)
    if not isinstance(link, Response) or link.status in ELSEWHERE:
        return link
    return NotOfferedError(
        f"{transport.source}: no WebSocket is opened there (HTTP {link.status}).",
        status=link.status,
    )


def init_of(transport: Http | Asgi, ways: Ways) -> bytes | None:
    """Return the payload of ``connection_init``, with its secrets: at the moment of sending."""
    if not ways.init:
        return None
    return dump(transport.secrets.lines() if ways.init is True else revealed(ways.init))


def revealed(value: Any) -> Any:
    """Return a payload with what its Tokens send in their place."""
    if isinstance(value, Token):
        return value.header()
    if isinstance(value, Mapping):
        return {name: revealed(each) for name, each in value.items()}
    return value

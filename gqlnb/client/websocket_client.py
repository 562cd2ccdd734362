"""Subscriptions over WebSocket: the I/O around the rules in :mod:`gqlnb.http`.

The library is :mod:`websockets`. It follows no redirect here, logs nothing, unpacks nothing, and
none of its exceptions, which hold headers, leaves this file.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast
from urllib.parse import urlsplit

import urllib3.exceptions
from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy

from gqlnb import background
from gqlnb.client.http_route import (
    CLIENT_CERTIFICATE,
    explain_failure,
    find_proxies,
    is_about_socks,
    is_broken,
    iterate_causes,
)
from gqlnb.client.transports import CONNECT_SECONDS, PROXY_LOGIN, USER_AGENT
from gqlnb.errors import AnswerError, AuthError, GqlnbError, TransportError, sanitize_text
from gqlnb.http.graphql_ws import (
    BAD_MESSAGE_CODE,
    LEGACY_SUBPROTOCOL,
    SUBPROTOCOL,
    WRONG_SUBPROTOCOL_CODES,
    BadMessageError,
    ClientProtocol,
    LegacyClientProtocol,
    RefusedError,
    SendMessage,
    explain_close_code,
)
from gqlnb.http.messages import Response
from gqlnb.limits import ANSWER_HINT
from gqlnb.redact import strip_traceback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from websockets.asyncio.client import ClientConnection, connect
    from websockets.exceptions import ConnectionClosed
    from websockets.typing import Subprotocol

    from gqlnb.client.http_transport import HttpTransport

PING_AFTER = 20.0  # seconds of silence before a ping
CLOSE_SECONDS = 1.0  # seconds for the closing handshake
READ_AHEAD = 2  # messages that the library reads ahead; `read_ahead` buffers more
# The subprotocols that are offered, in the order of preference, with their implementations.
OPERATIONS: Mapping[str, type[ClientProtocol]] = {
    SUBPROTOCOL: ClientProtocol,
    LEGACY_SUBPROTOCOL: LegacyClientProtocol,
}
LEGACY_ONLY = (LEGACY_SUBPROTOCOL,)
FRAME_OVERHEAD = 1 << 10  # bytes of a close frame and such beside the event
# A logger outside the tree, which cannot be switched on: the library logs headers.
SILENT_LOGGER = logging.Logger("gqlnb.websocket", logging.CRITICAL + 1)
HANDSHAKE_BROKEN = "the connection failed: it was closed before the WebSocket was open. Try again."
CERTIFICATE_HINT = f"If the endpoint asks for a client certificate, p{CLIENT_CERTIFICATE[1:]}"
TOKEN_HINT = "Pass a token the endpoint knows; some look for it in connection_init: init=True."  # noqa: S105

# Reasons of close codes that we send: RFC 6455, section 7.4.1.
OWN_CLOSE_REASONS = {
    1002: "it sent invalid WebSocket frames.",
    1007: "it sent text that is not UTF-8.",
    1009: f"an event is larger than limits.answer allows. Ask for fewer fields. {ANSWER_HINT}",
}


class NotOfferedError(TransportError):
    """The endpoint offers no WebSocket for these subprotocols.

    Attributes
    ----------
    subprotocol : str or None
        The subprotocol that it chose, and then did not speak.
    """

    subprotocol: str | None = None


class SilentHandshakeError(TransportError):
    """The endpoint did not answer the handshake of a WebSocket in time."""


class SocketClosed(NamedTuple):
    """The WebSocket was closed by the peer.

    Attributes
    ----------
    code
        Its close code; None without one.
    reason
        Its words.
    own_code
        The code with which we had closed before; None if we had not.
    """

    code: int | None
    reason: str = ""
    own_code: int | None = None


class WebSocketLink(Protocol):
    """An open WebSocket.

    Attributes
    ----------
    subprotocol
        The one that the other side chose.
    """

    subprotocol: str

    async def send(self, text: str) -> None:
        """Send a message; if the peer has closed, :meth:`receive` raises the error."""

    async def receive(self) -> str | bytes | SocketClosed:
        """Wait for the next message."""

    async def close(self, code: int = 1000) -> None:
        """Close the WebSocket; this never fails."""


class NetworkLink:
    """A WebSocket over the network."""

    def __init__(self, connection: ClientConnection) -> None:
        self.subprotocol = str(connection.subprotocol)
        self._connection = connection

    async def send(self, text: str) -> None:
        """Send a message; messages received before a close can still be read."""
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed):
            await self._connection.send(text)

    async def receive(self) -> str | bytes | SocketClosed:
        """Wait for the next message; after a long silence send a ping."""
        from websockets.exceptions import ConnectionClosed

        # Peers that are gone without a close would be waited for without end. The library's own
        # pings would end a connection whose messages are not taken for a while.
        pong: Any = None
        while True:
            try:
                async with asyncio.timeout(PING_AFTER):
                    return await self._connection.recv()
            except ConnectionClosed as error:
                return read_closure(error)
            except TimeoutError:
                if pong is not None and not pong.done():
                    return SocketClosed(None, "it does not answer any more")
            try:
                pong = await self._connection.ping()
            except ConnectionClosed as error:
                return read_closure(error)

    async def close(self, code: int = 1000) -> None:
        """Close the WebSocket; the peer has a second to answer."""
        with suppress(Exception):
            await self._connection.close(code)


def read_closure(error: ConnectionClosed) -> SocketClosed:
    """Return the close code and reason of an exception of the library."""
    sent, received = error.sent, error.rcvd
    if sent is not None and not error.rcvd_then_sent:
        return SocketClosed(None, own_code=sent.code)
    return SocketClosed(None) if received is None else SocketClosed(received.code, received.reason)


async def open_network_link(
    http: HttpTransport, seconds: float, offered: Sequence[str], secrets: Mapping[str, str]
) -> NetworkLink | Response | TransportError:
    """Return a WebSocket to an endpoint, the HTTP response of a refusal, or the error."""
    # Nothing is raised but what cancels it: the frames below hold headers.
    try:
        connection = await connect_socket(http, seconds, offered, secrets)
    except TransportError as error:
        return strip_traceback(error)
    except Exception as error:  # noqa: BLE001 - returned, see above
        return explain_unopened(http, error, seconds)
    if connection.subprotocol in offered:
        return NetworkLink(connection)
    await NetworkLink(connection).close()
    return build_not_spoken_error(http.source, offered)


def build_not_spoken_error(source: str, offered: Sequence[str]) -> NotOfferedError:
    """Return the error for a WebSocket that speaks none of the offered subprotocols."""
    return NotOfferedError(f"{source}: its WebSockets do not speak {' or '.join(offered)}.")


def explain_unopened(
    http: HttpTransport, error: Exception, seconds: float
) -> Response | TransportError:
    """Return the HTTP response of a refusal, or the error for a failed handshake."""
    from websockets.exceptions import InvalidHandshake, InvalidProxy, InvalidStatus, ProxyError

    host = urlsplit(http.url).hostname or ""
    if isinstance(error, (ProxyError, InvalidProxy)) or any(
        map(is_about_socks, iterate_causes(error))
    ):
        return explain_proxy_refusal(http, error, seconds)
    if isinstance(error, InvalidStatus):
        response = error.response
        head = {name.lower(): value for name, value in response.headers.raw_items()}
        return http.credentials.redact_echoes(
            Response(response.status_code, head, bytes(response.body or b""))
        )
    if isinstance(error, InvalidHandshake) and not isinstance(error.__cause__, (EOFError, OSError)):
        return NotOfferedError(f"{http.source}: the server there does not speak WebSocket.")
    if isinstance(error, InvalidHandshake):
        hint = f" {CERTIFICATE_HINT}" if http.url.startswith("https:") else ""
        return TransportError(f"{http.source}: {HANDSHAKE_BROKEN}{hint}", broken=True)
    if isinstance(error, TimeoutError):
        return SilentHandshakeError(f"{http.source}: no WebSocket was open within {seconds:.3g} s.")
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and find_proxy(http):
        error = urllib3.exceptions.ProxyError("", error)
    why = explain_failure(error, host, min(CONNECT_SECONDS, seconds), seconds)
    return TransportError(f"{http.source}: {why}", broken=is_broken(error))


def explain_proxy_refusal(http: HttpTransport, error: Exception, seconds: float) -> TransportError:
    """Return the error for a proxy that lets no WebSocket through."""
    host = urlsplit(http.url).hostname or ""
    if getattr(getattr(error, "response", None), "status_code", None) == 407:
        return TransportError(f"{http.source}: {PROXY_LOGIN}", status=407)
    if any(map(is_about_socks, iterate_causes(error))):
        return TransportError(f"{http.source}: {explain_failure(error, host, seconds, seconds)}")
    return NotOfferedError(f"{http.source}: the proxy refused the WebSocket connection.")


async def connect_socket(
    http: HttpTransport, seconds: float, offered: Sequence[str], secrets: Mapping[str, str]
) -> ClientConnection:
    """Return an open connection of the library."""
    options: dict[str, Any] = {} if http.uds is None else {"unix": True, "path": http.uds}
    if http.url.startswith("https:"):
        options["ssl"] = await background.run_in_thread(
            partial(build_ssl_context, verify=http.verify)
        )
    return await get_connect_class()(
        f"ws{http.url.removeprefix('http')}",
        subprotocols=cast("Sequence[Subprotocol]", offered),
        additional_headers=dict(secrets),
        user_agent_header=USER_AGENT,
        proxy=find_proxy(http),
        compression=None,
        open_timeout=seconds,
        ping_interval=None,
        close_timeout=CLOSE_SECONDS,
        max_size=None if http.cap is None else http.cap + FRAME_OVERHEAD,
        max_queue=READ_AHEAD,
        logger=SILENT_LOGGER,
        **options,
    )


def find_proxy(http: HttpTransport) -> str | None:
    """Return the address of the proxy in the environment for an endpoint, if any."""
    return select_proxy(http.url, find_proxies(http.url, http.uds))


@cache
def get_connect_class() -> type[connect]:
    """Return a subclass of the library's ``connect`` that follows no redirect."""
    from websockets.asyncio.client import connect

    class DirectConnect(connect):
        """A connection without redirects, along which our headers would be sent."""

        def process_redirect(self, exc: Exception) -> Exception:
            """Return the exception unchanged."""
            return exc

    return DirectConnect


def build_ssl_context(*, verify: bool | str | ssl.SSLContext) -> ssl.SSLContext:
    """Return the SSL context with the certificates that :mod:`requests` would use."""
    if isinstance(verify, ssl.SSLContext):
        return verify
    path = Path(DEFAULT_CA_BUNDLE_PATH if verify is True or not verify else verify)
    place = {"capath": path} if path.is_dir() else {"cafile": path}
    context = ssl.create_default_context(**place)  # type: ignore[arg-type]
    if verify is False:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def exchange_messages(
    link: WebSocketLink,
    operation: ClientProtocol,
    source: str,
    hide: Callable[[str], str],
    seconds: float,
) -> AsyncGenerator[Response | None, None]:
    """Subscribe over an open WebSocket, and close it in the end.

    Parameters
    ----------
    source
        The endpoint, as it is shown.
    hide
        Hides secrets in words of the other side.
    seconds
        Until the other side must have let us in.

    Yields
    ------
    Response or None
        None when it has, then a response for each event; one without data ends the stream.

    Raises
    ------
    NotOfferedError
        If the other side closes since it does not speak the subprotocol that it chose.
    TransportError, AuthError
        If it closes otherwise, or refuses.
    AnswerError
        If it sends an invalid message of the protocol.
    """
    code = 1000
    ended: GqlnbError | None = None
    try:
        gone = await perform_init(link, operation, source, seconds)
        if gone is None:
            yield None
        while gone is None and not operation.ended:
            response, gone = await process_message(link, operation)
            if response is not None:
                yield response
        if gone is not None:
            ended = build_closed_error(gone, operation, source, hide)
    except BadMessageError as error:
        code = BAD_MESSAGE_CODE
        what = f"an invalid message of {operation.subprotocol}"
        ended = AnswerError(f"{source} sent {what}: {hide(str(error))}")
    except RefusedError as error:
        words = sanitize_text(hide(str(error)), 200).rstrip(".")
        ended = AuthError(f"{source}: the endpoint refused the connection: {words}. {TOKEN_HINT}")
    finally:
        if code == 1000:
            await send_goodbye(link, operation)
        await link.close(code)
    if ended is not None:
        raise strip_traceback(ended)


async def perform_init(
    link: WebSocketLink, operation: ClientProtocol, source: str, seconds: float
) -> SocketClosed | None:
    """Send the first message and wait for the acknowledgement; return a close by the peer.

    Raises
    ------
    TransportError
        If it takes too long.
    """
    gone: SocketClosed | None = None
    try:
        async with asyncio.timeout(seconds):
            await link.send(operation.build_init())
            while not operation.acknowledged and gone is None:
                _, gone = await process_message(link, operation)
    except TimeoutError:
        msg = f"{source}: the WebSocket is open, but connection_init was not acknowledged in time."
        raise TransportError(msg) from None
    return gone


async def send_goodbye(link: WebSocketLink, operation: ClientProtocol) -> None:
    """Send the final message, if the peer takes it soon."""
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            for text in operation.build_end_messages():
                await link.send(text)


async def process_message(
    link: WebSocketLink, operation: ClientProtocol
) -> tuple[Response | None, SocketClosed | None]:
    """Process one message, and send its reply if it needs one."""
    message = await link.receive()
    if isinstance(message, SocketClosed):
        return None, message
    action = operation.receive(message)
    if not isinstance(action, SendMessage):
        return action, None
    await link.send(action.text)
    return None, None


def build_closed_error(
    gone: SocketClosed, operation: ClientProtocol, source: str, hide: Callable[[str], str]
) -> GqlnbError:
    """Return the error for a WebSocket closed by the peer during an operation."""
    if gone.own_code in OWN_CLOSE_REASONS:
        return AnswerError(f"{source}: {OWN_CLOSE_REASONS[gone.own_code]}")
    what = explain_close_code(gone.code)
    reason = sanitize_text(hide(gone.reason), 120)
    words = f" ({reason.rstrip('.')})" if reason else ""
    number = f", close code {gone.code}" if gone.code else ""
    msg = f"{source}: {what.description}{words}{number}."
    if not operation.acknowledged and gone.code in WRONG_SUBPROTOCOL_CODES:
        unspoken = NotOfferedError(msg)
        unspoken.subprotocol = operation.subprotocol
        return unspoken
    if what.refused:
        return AuthError(f"{msg} {TOKEN_HINT}")
    return TransportError(msg, broken=what.transient)

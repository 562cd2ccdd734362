"""Subscriptions at an ASGI application in this process, over WebSockets or server-sent events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gqlnb.client.event_streams import ACCEPT_PARTS, STREAM_CUT, make_stream_decoder
from gqlnb.client.transports import LATE_HINT, UNREADABLE, read_answer_headers
from gqlnb.client.websocket_client import NotOfferedError, SocketClosed, build_not_spoken_error
from gqlnb.errors import TransportError
from gqlnb.http.content_encoding import DecompressionError, create_decoder
from gqlnb.http.messages import Response
from gqlnb.redact import strip_traceback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence

    from gqlnb.client.http_call import StreamSecrets
    from gqlnb.client.transports import AsgiTransport
    from gqlnb.http.messages import Request

__all__ = ["AsgiLink", "open_asgi_link", "stream_asgi_events"]

Message = dict[str, Any]


class AsgiCall:
    """An application that runs with one scope, and the messages to and from it.

    Its next message waits until the last one was received here.

    Parameters
    ----------
    asgi
        The application.
    scope
        The ASGI scope.
    first
        The first message to it.
    last
        The message that disconnects.
    """

    def __init__(self, asgi: AsgiTransport, scope: Message, first: Message, last: Message) -> None:
        self._transport, self._disconnect = asgi, last
        self._incoming: asyncio.Queue[Message] = asyncio.Queue()
        # Of one message, so that an application is not faster than its reader.
        self._outgoing: asyncio.Queue[Message | BaseException | None] = asyncio.Queue(1)
        self._incoming.put_nowait(first)
        self._task = asyncio.create_task(self._run_app(scope))

    async def _run_app(self, scope: Message) -> None:
        end: BaseException | None = None
        try:
            await self._transport.app(scope, self._incoming.get, self._outgoing.put)
        except Exception as error:  # noqa: BLE001 - raised by the reader of the messages
            end = self._transport.build_failure(error)
        # Behind its last message, so that the reader gets all of them first.
        await self._outgoing.put(end)

    def send_message(self, message: Message) -> None:
        """Send a message to the application."""
        self._incoming.put_nowait(message)

    async def receive_message(self) -> Message | None:
        """Return the next message of the application; None after its end.

        Raises
        ------
        TransportError
            If it failed.
        """
        if self._task.done() and self._outgoing.empty():
            return None
        message = await self._outgoing.get()
        if isinstance(message, BaseException):
            raise strip_traceback(message)
        return message

    async def close(self) -> None:
        """Disconnect, and wait until the application has ended."""
        self._incoming.put_nowait(self._disconnect)
        try:
            for _ in range(3):  # a few loop iterations to end by itself
                await asyncio.sleep(0)
        finally:  # the waiting task may be cancelled meanwhile
            self._task.cancel()
            await asyncio.wait([self._task])


class AsgiLink:
    """A WebSocket of an application."""

    def __init__(self, running: AsgiCall, subprotocol: str) -> None:
        self.subprotocol = subprotocol
        self._call = running

    async def send(self, text: str) -> None:
        """Send a message."""
        self._call.send_message({"type": "websocket.receive", "text": text})

    async def receive(self) -> str | bytes | SocketClosed:
        """Wait for the next message."""
        message = await self._call.receive_message()
        if message is None or message["type"] == "websocket.close":
            code = None if message is None else message.get("code", 1000)
            return SocketClosed(code, (message or {}).get("reason") or "")
        text = message.get("text")
        return bytes(message.get("bytes") or b"") if text is None else str(text)

    async def close(self, _code: int = 1000) -> None:
        """Disconnect."""
        await self._call.close()


async def open_asgi_link(
    asgi: AsgiTransport, seconds: float, offered: Sequence[str], secrets: Mapping[str, str]
) -> AsgiLink | Response | TransportError:
    """Return a WebSocket of an application, the HTTP response instead of it, or the error."""
    # The scope is no local variable: it holds headers, and a traceback may show this frame.
    running = AsgiCall(
        asgi,
        build_socket_scope(asgi, offered, secrets),
        {"type": "websocket.connect"},
        {"type": "websocket.disconnect", "code": 1000},
    )
    message: Message | None = None
    fault: TransportError | None = None
    try:
        async with asyncio.timeout(seconds):
            message = await running.receive_message()
    except (TransportError, TimeoutError) as error:
        reason = str(error) or "no answer in time"
        fault = NotOfferedError(f"{asgi.source}: it opens no WebSocket ({reason}).")
    except BaseException:
        await running.close()
        raise
    if message is not None and message["type"] == "websocket.accept":
        chosen = message.get("subprotocol")
        if chosen is not None and chosen in offered:
            return AsgiLink(running, chosen)
        fault = build_not_spoken_error(asgi.source, offered)
    elif message is not None and message["type"] == "websocket.http.response.start":
        body = b"".join([part async for part in read_bodies(running.receive_message)])
        found = Response(message["status"], read_answer_headers(message), body)
        await running.close()
        return asgi.credentials.redact_echoes(found)
    await running.close()
    return fault or NotOfferedError(
        f"{asgi.source}: the application does not accept WebSocket connections."
    )


def build_socket_scope(
    asgi: AsgiTransport, offered: Sequence[str], secrets: Mapping[str, str]
) -> Message:
    """Return the scope for a WebSocket."""
    scope = asgi.build_scope("websocket", secrets, {})
    # The scope of a WebSocket has none (ASGI specification, "Websocket Connection Scope").
    del scope["method"]
    # With the extension an application may say why it refuses (ASGI specification, "WebSocket
    # Denial Response").
    extensions: Message = {"websocket.http.response": {}}
    more = {"scheme": "ws", "subprotocols": list(offered), "extensions": extensions}
    return {**scope, **more}


async def stream_asgi_events(
    asgi: AsgiTransport,
    request: Request,
    seconds: float,
    accept: str,
    secrets: StreamSecrets,
) -> AsyncGenerator[Response | None, None]:
    """Send one request to an application; yield its events, or the parts of its response.

    Yields
    ------
    Response or None
        As :func:`gqlnb.client.event_streams.stream_events` does.

    Raises
    ------
    TransportError
        If the application fails, or its stream ends early.
    """
    body = request.encode()
    headers = {"accept": accept, "content-length": str(len(body))}
    first = {"type": "http.request", "body": body, "more_body": False}
    scope = asgi.build_scope("http", secrets.headers, headers)
    running = AsgiCall(asgi, scope, first, {"type": "http.disconnect"})
    try:
        head: Message | None = None
        try:
            async with asyncio.timeout(seconds):
                head = await running.receive_message()
        except TimeoutError:
            msg = f"{asgi.source}: {LATE_HINT}"
            raise TransportError(msg) from None
        if head is None:
            msg = f"{asgi.source}: the application finished without sending a response."
            raise TransportError(msg)
        headers = read_answer_headers(head)
        is_subscription = accept != ACCEPT_PARTS
        answers = make_stream_decoder(
            headers.get("content-type", ""), is_subscription=is_subscription
        )
        if head["status"] != 200 or answers is None:
            parts = [part async for part in read_bodies(running.receive_message)]
            yield asgi.credentials.redact_echoes(Response(head["status"], headers, b"".join(parts)))
            return
        yield None
        encoding = asgi.credentials.redact(headers.get("content-encoding", ""))
        async for piece in read_pieces(running, encoding, asgi.source):
            for each in answers.feed(piece):
                yield each
            if answers.ended:
                return
        if not answers.may_end():
            msg = f"{asgi.source}: {STREAM_CUT}"
            raise TransportError(msg, broken=True)
    finally:
        await running.close()


async def read_pieces(running: AsgiCall, encoding: str, source: str) -> AsyncGenerator[bytes, None]:
    """Yield the decompressed pieces of a body.

    Raises
    ------
    TransportError
        If they can't be decompressed.
    """
    try:
        decoder = create_decoder(encoding)
        async for part in read_bodies(running.receive_message):
            for piece in decoder.feed(part):
                yield piece
    except DecompressionError as error:
        fault = str(error)
    else:
        return
    msg = f"{source}: {UNREADABLE} {fault}"
    raise TransportError(msg)


async def read_bodies(
    receive: Callable[[], Awaitable[Message | None]],
) -> AsyncGenerator[bytes, None]:
    """Yield the parts of a body."""
    while (message := await receive()) is not None:
        yield message.get("body", b"")
        if not message.get("more_body"):
            return

"""Subscriptions of an ASGI application of this process, over its WebSockets or its events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gqlnb.client.events import CUT, answers_in
from gqlnb.client.transports import LATE, UNREADABLE, answer_headers
from gqlnb.client.websocket import Dropped, NotOfferedError, not_spoken
from gqlnb.errors import TransportError
from gqlnb.sealing import bare
from gqlnb.wire.decompress import DecompressionError, create_decoder
from gqlnb.wire.response import Response
from gqlnb.wire.sse import EVENTS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from gqlnb.client.transports import Asgi
    from gqlnb.wire.request import Request

__all__ = ["AsgiLink", "asgi_opened", "over_asgi_events"]

Message = dict[str, Any]


class Running:
    """An application that answers one scope, and the messages between it and us.

    It waits with its next message until we have taken the last one.

    Parameters
    ----------
    asgi
        The application.
    scope
        What it is asked for.
    first
        The first message to it.
    last
        What it hears when we leave.
    """

    def __init__(self, asgi: Asgi, scope: Message, first: Message, last: Message) -> None:
        self._asgi, self._last = asgi, last
        self._to: asyncio.Queue[Message] = asyncio.Queue()
        self._from: asyncio.Queue[Message | BaseException | None] = asyncio.Queue(1)
        self._to.put_nowait(first)
        self._task = asyncio.create_task(self._run(scope))

    async def _run(self, scope: Message) -> None:
        end: BaseException | None = None
        try:
            await self._asgi.app(scope, self._to.get, self._from.put)
        except Exception as error:
            end = self._asgi.failure(error)
        await self._from.put(end)

    def say(self, message: Message) -> None:
        """Send it a message."""
        self._to.put_nowait(message)

    async def hear(self) -> Message | None:
        """Return its next message; None when it has ended.

        Raises
        ------
        TransportError
            If it failed.
        """
        if self._task.done() and self._from.empty():
            return None
        message = await self._from.get()
        if isinstance(message, BaseException):
            raise bare(message)
        return message

    async def close(self) -> None:
        """Leave: it is told, and has ended when this returns."""
        self._to.put_nowait(self._last)
        try:
            for _ in range(3):  # a turn or two to end by itself
                await asyncio.sleep(0)
        finally:  # whoever waits here may be cancelled meanwhile
            self._task.cancel()
            await asyncio.wait([self._task])


class AsgiLink:
    """A WebSocket of an application."""

    def __init__(self, running: Running, subprotocol: str) -> None:
        self.subprotocol = subprotocol
        self._running = running

    async def send(self, text: str) -> None:
        """Send a message."""
        self._running.say({"type": "websocket.receive", "text": text})

    async def receive(self) -> str | bytes | Dropped:
        """Wait for the next message."""
        message = await self._running.hear()
        if message is None or message["type"] == "websocket.close":
            code = None if message is None else message.get("code", 1000)
            return Dropped(code, (message or {}).get("reason") or "")
        text = message.get("text")
        return bytes(message.get("bytes") or b"") if text is None else str(text)

    async def close(self, _code: int = 1000) -> None:
        """Leave."""
        await self._running.close()


async def asgi_opened(
    asgi: Asgi, seconds: float, offered: Sequence[str]
) -> AsgiLink | TransportError:
    """Open a WebSocket of an application; return what went wrong, if anything did."""
    running = Running(
        asgi,
        socket_scope(
            asgi, offered
        ),  # no name here: it holds headers, and a traceback may show this frame
        {"type": "websocket.connect"},
        {"type": "websocket.disconnect", "code": 1000},
    )
    message: Message | None = None
    fault: TransportError | None = None
    try:
        async with asyncio.timeout(seconds):
            message = await running.hear()
    except (TransportError, TimeoutError) as error:
        said = str(error) or "nobody answered in time"
        fault = NotOfferedError(f"{asgi.source}: it opens no WebSocket ({said}).")
    except BaseException:
        await running.close()
        raise
    if message is not None and message["type"] == "websocket.accept":
        chosen = message.get("subprotocol")
        if chosen is not None and chosen in offered:
            return AsgiLink(running, chosen)
        fault = not_spoken(asgi.source, offered)
    await running.close()
    return fault or NotOfferedError(f"{asgi.source}: it opens no WebSocket.")


def socket_scope(asgi: Asgi, offered: Sequence[str]) -> Message:
    """Return what an application is asked for a WebSocket."""
    scope = asgi.scope("websocket", {})
    del scope["method"]
    return {**scope, "scheme": "ws", "subprotocols": list(offered)}


async def over_asgi_events(
    asgi: Asgi, request: Request, seconds: float, accept: str = EVENTS
) -> AsyncGenerator[Response | None, None]:
    """Ask an application once for many answers, or for one in parts.

    Yields
    ------
    Response or None
        As :func:`gqlnb.client.events.over_events` does.

    Raises
    ------
    TransportError
        If the application fails, or its stream breaks off.
    """
    body = request.encode()
    said = {"accept": accept, "content-length": str(len(body))}
    first = {"type": "http.request", "body": body, "more_body": False}
    running = Running(asgi, asgi.scope("http", said), first, {"type": "http.disconnect"})
    try:
        head: Message | None = None
        try:
            async with asyncio.timeout(seconds):
                head = await running.hear()
        except TimeoutError:
            msg = f"{asgi.source}: {LATE}"
            raise TransportError(msg) from None
        if head is None:
            msg = f"{asgi.source}: the application ended without an answer."
            raise TransportError(msg)
        headers = answer_headers(head)
        answers = answers_in(headers.get("content-type", ""))
        if head["status"] != 200 or answers is None:
            parts = [part async for part in bodies(running.hear)]
            yield asgi.secrets.unechoed(Response(head["status"], headers, b"".join(parts)))
            return
        yield None
        encoding = asgi.secrets.hide(headers.get("content-encoding", ""))
        async for piece in pieces(running, encoding, asgi.source):
            for each in answers.feed(piece):
                yield each
            if answers.ended:
                return
        if not answers.may_end():
            msg = f"{asgi.source}: {CUT}"
            raise TransportError(msg, broken=True)
    finally:
        await running.close()


async def pieces(running: Running, encoding: str, source: str) -> AsyncGenerator[bytes, None]:
    """Yield the decompressed pieces of a body.

    Raises
    ------
    TransportError
        If they can't be decompressed.
    """
    try:
        decoder = create_decoder(encoding)
        async for part in bodies(running.hear):
            for piece in decoder.feed(part):
                yield piece
    except DecompressionError as error:
        fault = str(error)
    else:
        return
    msg = f"{source}: {UNREADABLE} {fault}"
    raise TransportError(msg)


async def bodies(hear: Callable[[], Any]) -> AsyncGenerator[bytes, None]:
    """Yield the parts of a body."""
    while (message := await hear()) is not None:
        yield message.get("body", b"")
        if not message.get("more_body"):
            return

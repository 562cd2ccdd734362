"""Streams of an endpoint: server-sent events, responses in several parts, and ASGI applications."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import urllib3.exceptions

from gqlnb import background
from gqlnb.client.http_transport import CHUNK_BYTES, HttpTransport, build_fixed_headers, read_head
from gqlnb.client.transports import LATE_HINT, UNREADABLE, Call, enter_call, read_answer_headers
from gqlnb.client.websocket_client import NotOfferedError, SocketClosed, build_not_spoken_error
from gqlnb.errors import TransportError
from gqlnb.http.content_encoding import (
    Decoder,
    DecompressionError,
    TruncatedBodyError,
    create_decoder,
)
from gqlnb.http.graphql_ws import ANSWER_HEADERS
from gqlnb.http.incremental import (
    EVENT_STREAM,
    MULTIPART_MIXED,
    EventReader,
    MultipartReader,
    decode_multipart_event,
    is_event_stream,
    parse_boundary,
)
from gqlnb.http.messages import GRAPHQL_MEDIA_TYPE, JSON_MEDIA_TYPE, Response
from gqlnb.redact import strip_traceback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence

    from urllib3 import BaseHTTPResponse

    from gqlnb.client.transports import AsgiTransport, StreamSecrets
    from gqlnb.http.messages import Request

# Apollo Server sends parts only with this parameter, others for the bare type; servers without
# @defer choose JSON.
ACCEPT_PARTS = (
    f"{MULTIPART_MIXED};deferSpec=20220824, {MULTIPART_MIXED}, {EVENT_STREAM};q=0.9, "
    f"{GRAPHQL_MEDIA_TYPE};q=0.8, {JSON_MEDIA_TYPE};q=0.7"
)
RESULT_EVENTS = frozenset({"next", "message"})  # a browser's name for events without one
# Strawberry reads the first media type alone, and Apollo's clients ask for this boundary.
ACCEPT_EVENTS: dict[str, str] = {
    "sse": EVENT_STREAM,  # alone: graphql-sse accepts nothing else
    "multipart": f"{MULTIPART_MIXED};boundary=graphql;subscriptionSpec=1.0,{JSON_MEDIA_TYPE}",
}
PEER_GONE = "the endpoint stopped responding before the stream was complete."
STREAM_CUT = "the stream ended before it was complete."
# TCP keep-alive: seconds of silence before the first probe, seconds between two, and how many go
# unanswered before the connection counts as dead: a minute in all.
KEEPALIVE_PROBES = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


# urllib3 reads by blocking, so a stream of server-sent events has one thread for as long as it
# lasts.
class EventDecoder:
    """Decodes server-sent events to responses.

    Parameters
    ----------
    most
        Bytes that an event may have; None for any number.

    Attributes
    ----------
    ended
        Whether nothing more will come.
    """

    def __init__(self, most: int | None = None) -> None:
        self.ended = False
        self._reader = EventReader(most)
        self._has_unnamed = False

    def feed(self, part: bytes) -> list[Response]:
        """Add bytes, and return the responses that are complete."""
        answers = []
        for event in self._reader.feed(part):
            self.ended = self.ended or event.name == "complete"
            self._has_unnamed = self._has_unnamed or event.name == "message"
            if not self.ended and event.name in RESULT_EVENTS and event.data.strip():
                answers.append(Response(200, ANSWER_HEADERS, event.data))
        return answers

    def may_end(self) -> bool:
        """Return whether the stream is complete at the end of the bytes."""
        cut = self._reader.finish()
        if self.ended or cut == "complete":
            return True
        # Servers that do not name their events end a stream in this way alone.
        return self._has_unnamed and cut not in RESULT_EVENTS


class MixedDecoder:
    """Decodes multipart/mixed to the parts of a response, or to the events of a subscription.

    Parameters
    ----------
    boundary
        The boundary of the parts.
    most
        Bytes that an event, or all parts of a response, may have; None for any number.
    is_subscription
        Whether the parts are events.

    Attributes
    ----------
    ended
        Whether nothing more will come.
    """

    def __init__(self, boundary: str, most: int | None = None, *, is_subscription: bool) -> None:
        self.ended = False
        self._parts = MultipartReader(boundary, most, is_endless=is_subscription)
        self._is_subscription = is_subscription

    def feed(self, part: bytes) -> list[Response]:
        """Add bytes, and return the parts that are complete."""
        answers = []
        for body in self._parts.feed(part):
            response, is_last = (
                decode_multipart_event(body) if self._is_subscription else (body, False)
            )
            if not self.ended and response is not None:
                answers.append(Response(200, ANSWER_HEADERS, response))
            self.ended = self.ended or is_last
        self.ended = self.ended or self._parts.ended
        return answers

    def may_end(self) -> bool:
        """Return whether the stream is complete at the end of the bytes."""
        return self.ended


def make_stream_decoder(
    content_type: str, most: int | None = None, *, is_subscription: bool
) -> EventDecoder | MixedDecoder | None:
    """Return the decoder for a stream; None for a media type that has a single response.

    Parameters
    ----------
    content_type
        The ``Content-Type`` of the response.
    most
        Bytes that an answer may have; None for any number.
    is_subscription
        Whether the stream has the events of a subscription, not the parts of one response.
    """
    if is_event_stream(content_type):
        return EventDecoder(most)
    boundary = parse_boundary(content_type)
    if boundary is None:
        return None
    return MixedDecoder(boundary, most, is_subscription=is_subscription)


# No exception leaves these frames, whose locals hold headers: exceptions are returned.
class StreamedAnswer:
    """Reads one stream, in a thread of its own."""

    def __init__(
        self,
        http: HttpTransport,
        body: bytes,
        seconds: float,
        accept: str,
        secrets: Mapping[str, str],
    ) -> None:
        self._http, self._body = http, body
        # Without compression, which delays events in many servers; compressed streams are read
        # all the same.
        own = {"Accept": accept, "Accept-Encoding": "identity"}
        self._headers = {**build_fixed_headers(), **own, **secrets}
        self._call = Call(monotonic() + seconds, http.cap)
        self._answer: BaseHTTPResponse | None = None
        self._events: EventDecoder | MixedDecoder | None = None
        self._decoder: Decoder | None = None
        self._pieces: Iterator[bytes] = iter(())  # read, and not yet returned
        self._read_lock = threading.Lock()  # held while reading; `close` waits for it
        self._is_left = False

    def begin_stream(self) -> Response | BaseException | None:
        """Send the request; return None if a stream follows, else the response."""
        with self._read_lock:
            try:
                response = self._http.follow_redirects(self._post_request)
            except BaseException as error:  # noqa: BLE001 - returned, see above
                return self._http.convert_failure(error, self._call, changes=False)
            finally:
                self._close_if_left()
        if not (response.status == 200 and self._answer is not None):
            return response
        self._call.cap, self._call.deadline = None, inf  # from here on each event has its own cap
        enable_keepalive(self._call.socket)
        return None

    def _post_request(self, url: str) -> Response:
        with enter_call(self._call):
            answer = self._http.open_answer(url, self._body, self._call, self._headers)
            head = read_head(answer)
            decoder = make_stream_decoder(
                head.get("content-type", ""),
                self._http.cap,
                is_subscription=self._headers["Accept"] != ACCEPT_PARTS,
            )
            if answer.status != 200 or decoder is None:
                return self._http.read_answer(answer)
            self._answer, self._events = answer, decoder
            self._decoder = create_decoder(self._http.get_encoding(head))
            return self._http.credentials.redact_echoes(Response(200, head))

    def read_more(self) -> list[Response] | BaseException | None:
        """Return the next responses, an empty list if none is complete; None at the end."""
        with self._read_lock:
            answers = self._events
            if answers is None or answers.ended or self._answer is None:
                return None
            try:
                part = self._next_piece(self._answer)
                events = answers.feed(part)
            except (TimeoutError, urllib3.exceptions.ReadTimeoutError):
                return TransportError(f"POST {self._http.source}: {PEER_GONE}", broken=True)
            except BaseException as error:  # noqa: BLE001 - returned, see above
                return self._http.convert_failure(error, self._call, changes=False)
            finally:
                self._close_if_left()
        if part or events:
            return events
        if answers.may_end():
            return None
        return TransportError(f"POST {self._http.source}: {STREAM_CUT}", broken=True)

    def _next_piece(self, answer: BaseHTTPResponse) -> bytes:
        """Return the next bytes of the stream, decompressed; b"" at its end.

        Raises
        ------
        DecompressionError
            If they are not compressed as the head says, or end early.
        """
        # One piece at a time, since what was read at once may hold a thousand times as much.
        if self._decoder is None:
            return b""
        while True:
            piece = next(self._pieces, None)
            if piece is not None:
                return piece
            part = answer.read1(CHUNK_BYTES)
            if not part:
                break
            self._pieces = self._decoder.feed(part)
        if self._decoder.incomplete:
            msg = "it is incomplete. Try again."
            raise TruncatedBodyError(msg)
        return b""

    def close(self) -> None:
        """End the stream, from any thread; a read that waits returns and closes it."""
        self._is_left = True
        self._call.cancel()
        if self._read_lock.acquire(blocking=False):
            self._close_if_left()
            self._read_lock.release()

    def _close_if_left(self) -> None:
        if self._is_left and self._answer is not None:
            with suppress(OSError):
                self._answer.close()


def enable_keepalive(line: Any) -> None:  # noqa: ANN401 - a socket, or what stands for one
    """Switch TCP keep-alive on, which ends connections to peers that are gone."""
    with suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE_PROBES.items():
            if hasattr(socket, name):  # not on every system
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def stream_events(
    http: HttpTransport, request: Request, seconds: float, accept: str, secrets: StreamSecrets
) -> AsyncGenerator[Response | None, None]:
    """Send one request; yield its events, or the parts of its response.

    Parameters
    ----------
    seconds
        Until the head of the answer must be there.
    accept
        The media types that may come.
    secrets
        The headers of the credentials.

    Yields
    ------
    Response or None
        None where the endpoint has begun the stream, then a response for each event or part. Where
        there is no stream, the one response that came instead.

    Raises
    ------
    TransportError
        If no response came, or the stream ends early.
    """
    reading = StreamedAnswer(http, request.encode(), seconds, accept, secrets.headers)
    hand = background.WorkerThread()  # one thread for the whole stream
    try:
        begun = await hand.run(reading.begin_stream)
        if isinstance(begun, BaseException):
            raise begun
        yield begun
        if begun is not None:
            return
        while (events := await hand.run(reading.read_more)) is not None:
            if isinstance(events, BaseException):
                raise events
            for response in events:
                yield response
    finally:
        reading.close()
        hand.close()


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

    Attributes
    ----------
    incoming : asyncio.Queue
        The messages to the application.
    """

    def __init__(self, asgi: AsgiTransport, scope: Message, first: Message, last: Message) -> None:
        self._transport, self._disconnect = asgi, last
        self.incoming: asyncio.Queue[Message] = asyncio.Queue()
        # Of one message, so that an application is not faster than its reader.
        self._outgoing: asyncio.Queue[Message | BaseException | None] = asyncio.Queue(1)
        self.incoming.put_nowait(first)
        self._task = asyncio.create_task(self._run_app(scope))

    async def _run_app(self, scope: Message) -> None:
        end: BaseException | None = None
        try:
            await self._transport.app(scope, self.incoming.get, self._outgoing.put)
        except Exception as error:  # noqa: BLE001 - raised by the reader of the messages
            end = self._transport.build_failure(error)
        # Behind its last message, so that the reader gets all of them first.
        await self._outgoing.put(end)

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
        self.incoming.put_nowait(self._disconnect)
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
        self._call.incoming.put_nowait({"type": "websocket.receive", "text": text})

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
        response = Response(message["status"], read_answer_headers(message), body)
        await running.close()
        return asgi.credentials.redact_echoes(response)
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
    return {**scope, "scheme": "ws", "subprotocols": list(offered), "extensions": extensions}


async def stream_asgi_events(
    asgi: AsgiTransport, request: Request, seconds: float, accept: str, secrets: StreamSecrets
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
            for event in answers.feed(piece):
                yield event
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
        msg = f"{source}: {UNREADABLE} {error}"
        raise TransportError(msg) from None


async def read_bodies(
    receive: Callable[[], Awaitable[Message | None]],
) -> AsyncGenerator[bytes, None]:
    """Yield the parts of a body."""
    while (message := await receive()) is not None:
        yield message.get("body", b"")
        if not message.get("more_body"):
            return

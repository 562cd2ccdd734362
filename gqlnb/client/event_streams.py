"""One POST whose answer goes on: subscriptions over server-sent events, and answers in parts."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import urllib3.exceptions

from gqlnb import background
from gqlnb.client.deadline_sockets import Call
from gqlnb.client.http_transport import CHUNK_BYTES, HttpTransport, read_head
from gqlnb.errors import TransportError
from gqlnb.http.decompress import Decoder, TruncatedBodyError, create_decoder
from gqlnb.http.graphql_ws_client import ANSWER_HEADERS
from gqlnb.http.incremental import MULTIPART_MIXED, MultipartReader, parse_boundary
from gqlnb.http.messages import GRAPHQL_MEDIA_TYPE, JSON_MEDIA_TYPE, Response
from gqlnb.http.sse import EVENT_STREAM, EventReader, ServerSentEvent, is_event_stream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from urllib3 import BaseHTTPResponse

    from gqlnb.http.messages import Request

__all__ = ["ACCEPT_PARTS", "STREAM_CUT", "make_stream_decoder", "stream_events"]

# Apollo Server answers in parts to this parameter, others to the bare type. Who can't, or would
# rather not, answers with JSON.
ACCEPT_PARTS = f"{MULTIPART_MIXED};deferSpec=20220824, {MULTIPART_MIXED}, {EVENT_STREAM};q=0.9, {GRAPHQL_MEDIA_TYPE};q=0.8, {JSON_MEDIA_TYPE};q=0.7"
PEER_GONE = "nobody is there any more; the stream was not complete."
STREAM_CUT = "the stream breaks off before the end."
# TCP keep-alive: seconds of silence before the first probe, seconds between two, and how many go
# unanswered before the connection counts as dead: a minute in all.
KEEPALIVE_PROBES = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


class EventDecoder:
    """The answers in a stream of events.

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
        """Take what came, and return the answers that are whole."""
        answers = []
        for event in self._reader.feed(part):
            self._note_event(event)
            if not self.ended and event.name in ("next", "message") and event.data.strip():
                answers.append(Response(200, ANSWER_HEADERS, event.data))
        return answers

    def _note_event(self, event: ServerSentEvent) -> None:
        self.ended = self.ended or event.name == "complete"
        self._has_unnamed = self._has_unnamed or event.name == "message"

    def may_end(self) -> bool:
        """Tell whether the end of the bytes is the end of the stream.

        Servers that do not name their events have no other way to say so.
        """
        return self.ended or self._has_unnamed


class MixedDecoder:
    """The parts of an answer in a stream of them.

    Attributes
    ----------
    ended
        Whether nothing more will come.
    """

    def __init__(self, boundary: str, most: int | None = None) -> None:
        self._parts = MultipartReader(boundary, most)

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self._parts.ended

    def feed(self, part: bytes) -> list[Response]:
        """Take what came, and return the parts that are whole."""
        return [Response(200, ANSWER_HEADERS, body) for body in self._parts.feed(part)]

    def may_end(self) -> bool:
        """Tell whether the end of the bytes is the end of the stream."""
        return self.ended


def make_stream_decoder(
    content_type: str, most: int | None = None
) -> EventDecoder | MixedDecoder | None:
    """Return what reads the answers in a stream; None for a type that is no stream.

    Parameters
    ----------
    content_type
        What the body says it is.
    most
        Bytes that an answer may have; None for any number.
    """
    if is_event_stream(content_type):
        return EventDecoder(most)
    boundary = parse_boundary(content_type)
    return None if boundary is None else MixedDecoder(boundary, most)


class StreamedAnswer:
    """Reads one stream, in a thread of its own.

    No exception leaves its frames, whose locals hold headers: it returns them.
    """

    def __init__(
        self, http: HttpTransport, body: bytes, seconds: float, accept: str = EVENT_STREAM
    ) -> None:
        self._http, self._body = http, body
        # Without compression, which holds events back in many servers; what comes compressed all
        # the same is read.
        self._accept_headers = {"Accept": accept, "Accept-Encoding": "identity"}
        self._call = Call(monotonic() + seconds, http.cap)
        self._answer: BaseHTTPResponse | None = None
        self._events: EventDecoder | MixedDecoder | None = None
        self._decoder: Decoder | None = None
        self._pieces: Iterator[bytes] = iter(())  # of what was read, and not taken yet
        self._read_lock = threading.Lock()  # closing waits for who reads
        self._is_left = False

    def begin_stream(self) -> Response | BaseException | None:
        """Ask; return None where events follow, else the answer."""
        with self._read_lock:
            try:
                response = self._http.follow_redirects(self._post_request)
            except BaseException as error:
                return self._http.convert_failure(error, self._call, changes=False)
            finally:
                self._close_if_left()
        if not (response.status == 200 and self._answer is not None):
            return response
        self._call.cap = self._call.deadline = inf  # from here on each event has its own limit
        enable_keepalive(self._call.socket)
        return None

    def _post_request(self, url: str) -> Response:
        with self._call:
            answer = self._http.open_answer(url, self._body, self._call, self._accept_headers)
            head = read_head(answer)
            found = make_stream_decoder(head.get("content-type", ""), self._http.cap)
            if answer.status != 200 or found is None:
                return self._http.read_answer(answer)
            self._answer, self._events = answer, found
            self._decoder = create_decoder(self._http.get_encoding(head))
            return self._http.credentials.redact_echoes(Response(200, head))

    def read_more(self) -> list[Response] | BaseException | None:
        """Return the answers that came next, perhaps none; None at the end."""
        with self._read_lock:
            answers = self._events
            if answers is None or answers.ended or self._answer is None:
                return None
            try:
                part = self._next_piece(self._answer)
                found = answers.feed(part)
            except (TimeoutError, urllib3.exceptions.ReadTimeoutError):
                return TransportError(f"POST {self._http.source}: {PEER_GONE}", broken=True)
            except BaseException as error:
                return self._http.convert_failure(error, self._call, changes=False)
            finally:
                self._close_if_left()
        if part or found:
            return found
        if answers.may_end():
            return None
        return TransportError(f"POST {self._http.source}: {STREAM_CUT}", broken=True)

    def _next_piece(self, answer: BaseHTTPResponse) -> bytes:
        """Return the next bytes of the stream, decompressed; none at its end.

        One piece at a time, since what was read at once may hold a thousand times as much.

        Raises
        ------
        DecompressionError
            If they are not compressed as the head says, or end early.
        """
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
            msg = "it breaks off before its end. Try again."
            raise TruncatedBodyError(msg)
        return b""

    def close(self) -> None:
        """End it, from any thread: who reads is woken, and closes behind itself."""
        self._is_left = True
        self._call.cancel()
        if self._read_lock.acquire(blocking=False):
            self._close_if_left()
            self._read_lock.release()

    def _close_if_left(self) -> None:
        if self._is_left and self._answer is not None:
            with suppress(OSError):
                self._answer.close()


def enable_keepalive(line: Any) -> None:
    """Have the system ask a silent peer whether it is there, and end the connection if not."""
    with suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE_PROBES.items():
            if hasattr(socket, name):  # not on every system
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def stream_events(
    http: HttpTransport, request: Request, seconds: float, accept: str = EVENT_STREAM
) -> AsyncGenerator[Response | None, None]:
    """Ask once for many answers, or for one in parts.

    Parameters
    ----------
    seconds
        Until the head of the answer must be there.
    accept
        The media types that may come.

    Yields
    ------
    Response or None
        None where the endpoint has begun the stream, then a response for each event or part. Where
        there is no stream, the one response that came instead.

    Raises
    ------
    TransportError
        If no response came, or the stream breaks off.
    """
    reading = StreamedAnswer(http, request.encode(), seconds, accept)
    hand = background.WorkerThread()  # one thread for the whole stream
    try:
        begun = await hand.run(reading.begin_stream)
        if isinstance(begun, BaseException):
            raise begun
        yield begun
        if begun is not None:
            return
        while (found := await hand.run(reading.read_more)) is not None:
            if isinstance(found, BaseException):
                raise found
            for response in found:
                yield response
    finally:
        reading.close()
        hand.close()

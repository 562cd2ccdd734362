"""One POST whose answer goes on: subscriptions over server-sent events, and answers in parts."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import urllib3.exceptions

from gqlnb import runtime
from gqlnb.client.http import CHUNK, Http, head_of
from gqlnb.client.sockets import Call
from gqlnb.errors import TransportError
from gqlnb.wire.decompress import Decoder, TruncatedBodyError, create_decoder
from gqlnb.wire.graphql_ws_client import HEADERS
from gqlnb.wire.mixed import MIXED, Parts, boundary_of
from gqlnb.wire.response import GRAPHQL_TYPE, JSON_TYPE, Response
from gqlnb.wire.sse import EVENTS, Event, Reader, is_events

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from urllib3 import BaseHTTPResponse

    from gqlnb.wire.request import Request

__all__ = ["CUT", "IN_PARTS", "answers_in", "over_events"]

# Apollo Server answers in parts to this parameter, others to the bare type. Who can't, or would
# rather not, answers with JSON.
IN_PARTS = (
    f"{MIXED};deferSpec=20220824, {MIXED}, {EVENTS};q=0.9, {GRAPHQL_TYPE};q=0.8, {JSON_TYPE};q=0.7"
)
GONE = "nobody is there any more; the stream was not complete."
CUT = "the stream breaks off before the end."
# TCP keep-alive: seconds of silence before the first probe, seconds between two, and how many go
# unanswered before the connection counts as dead: a minute in all.
PROBES = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


class Events:
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
        self._reader = Reader(most)
        self._unnamed = False

    def feed(self, part: bytes) -> list[Response]:
        """Take what came, and return the answers that are whole."""
        answers = []
        for event in self._reader.feed(part):
            self._note(event)
            if not self.ended and event.name in ("next", "message") and event.data.strip():
                answers.append(Response(200, HEADERS, event.data))
        return answers

    def _note(self, event: Event) -> None:
        self.ended = self.ended or event.name == "complete"
        self._unnamed = self._unnamed or event.name == "message"

    def may_end(self) -> bool:
        """Tell whether the end of the bytes is the end of the stream.

        Servers that do not name their events have no other way to say so.
        """
        return self.ended or self._unnamed


class Mixed:
    """The parts of an answer in a stream of them.

    Attributes
    ----------
    ended
        Whether nothing more will come.
    """

    def __init__(self, boundary: str, most: int | None = None) -> None:
        self._parts = Parts(boundary, most)

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self._parts.ended

    def feed(self, part: bytes) -> list[Response]:
        """Take what came, and return the parts that are whole."""
        return [Response(200, HEADERS, body) for body in self._parts.feed(part)]

    def may_end(self) -> bool:
        """Tell whether the end of the bytes is the end of the stream."""
        return self.ended


def answers_in(content_type: str, most: int | None = None) -> Events | Mixed | None:
    """Return what reads the answers in a stream; None for a type that is no stream.

    Parameters
    ----------
    content_type
        What the body says it is.
    most
        Bytes that an answer may have; None for any number.
    """
    if is_events(content_type):
        return Events(most)
    boundary = boundary_of(content_type)
    return None if boundary is None else Mixed(boundary, most)


class Reading:
    """Reads one stream, in a thread of its own.

    No exception leaves its frames, whose locals hold headers: it returns them.
    """

    def __init__(self, http: Http, body: bytes, seconds: float, accept: str = EVENTS) -> None:
        self._http, self._body = http, body
        # Without compression, which holds events back in many servers; what comes compressed all
        # the same is read.
        self._accepted = {"Accept": accept, "Accept-Encoding": "identity"}
        self._call = Call(monotonic() + seconds, http.cap)
        self._answer: BaseHTTPResponse | None = None
        self._answers: Events | Mixed | None = None
        self._decoder: Decoder | None = None
        self._pieces: Iterator[bytes] = iter(())  # of what was read, and not taken yet
        self._turn = threading.Lock()  # closing waits for who reads
        self._left = False

    def begin(self) -> Response | BaseException | None:
        """Ask; return None where events follow, else the answer."""
        with self._turn:
            try:
                response = self._http.follow(self._ask)
            except BaseException as error:
                return self._http.failed(error, self._call, changes=False)
            finally:
                self._done()
        if not (response.status == 200 and self._answer is not None):
            return response
        self._call.cap = self._call.until = inf  # from here on each event has its own limit
        watch(self._call.line)
        return None

    def _ask(self, url: str) -> Response:
        with self._call:
            answer = self._http.begin(url, self._body, self._call, self._accepted)
            head = head_of(answer)
            found = answers_in(head.get("content-type", ""), self._http.cap)
            if answer.status != 200 or found is None:
                return self._http.whole(answer)
            self._answer, self._answers = answer, found
            self._decoder = create_decoder(self._http.encoding_of(head))
            return self._http.secrets.unechoed(Response(200, head))

    def more(self) -> list[Response] | BaseException | None:
        """Return the answers that came next, perhaps none; None at the end."""
        with self._turn:
            answers = self._answers
            if answers is None or answers.ended or self._answer is None:
                return None
            try:
                part = self._next_piece(self._answer)
                found = answers.feed(part)
            except (TimeoutError, urllib3.exceptions.ReadTimeoutError):
                return TransportError(f"POST {self._http.source}: {GONE}", broken=True)
            except BaseException as error:
                return self._http.failed(error, self._call, changes=False)
            finally:
                self._done()
        if part or found:
            return found
        if answers.may_end():
            return None
        return TransportError(f"POST {self._http.source}: {CUT}", broken=True)

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
            part = answer.read1(CHUNK)
            if not part:
                break
            self._pieces = self._decoder.feed(part)
        if self._decoder.incomplete:
            msg = "it breaks off before its end. Try again."
            raise TruncatedBodyError(msg)
        return b""

    def close(self) -> None:
        """End it, from any thread: who reads is woken, and closes behind itself."""
        self._left = True
        self._call.cancel()
        if self._turn.acquire(blocking=False):
            self._done()
            self._turn.release()

    def _done(self) -> None:
        if self._left and self._answer is not None:
            with suppress(OSError):
                self._answer.close()


def watch(line: Any) -> None:
    """Have the system ask a silent peer whether it is there, and end the connection if not."""
    with suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in PROBES.items():
            if hasattr(socket, name):  # not on every system
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def over_events(
    http: Http, request: Request, seconds: float, accept: str = EVENTS
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
    reading = Reading(http, request.encode(), seconds, accept)
    hand = runtime.hand()  # one thread for the whole stream
    try:
        begun = await hand.run(reading.begin)
        if isinstance(begun, BaseException):
            raise begun
        yield begun
        if begun is not None:
            return
        while (found := await hand.run(reading.more)) is not None:
            if isinstance(found, BaseException):
                raise found
            for response in found:
                yield response
    finally:
        reading.close()
        hand.close()

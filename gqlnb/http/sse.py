"""GraphQL over server-sent events: negotiation and encoding, and a reader for the client."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from gqlnb.http.content_encoding import BodyTooLargeError
from gqlnb.http.headers import find_media_quality, parse_accept
from gqlnb.http.messages import GRAPHQL_MEDIA_TYPE, JSON_MEDIA_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "COMPLETE_EVENT",
    "EVENT_STREAM",
    "EVENT_STREAM_HEADERS",
    "KEEP_ALIVE_COMMENT",
    "EventReader",
    "encode_event",
    "is_event_stream",
    "negotiate_events",
]

EVENT_STREAM = "text/event-stream"
EVENT_STREAM_HEADERS: Mapping[str, str] = {
    "content-type": f"{EVENT_STREAM}; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # nginx would buffer events
    "x-content-type-options": "nosniff",
}
# A browser dispatches no event without a data field (HTML, "Interpreting an event stream").
COMPLETE_EVENT = b"event: complete\ndata:\n\n"
KEEP_ALIVE_COMMENT = b":\n\n"  # a comment: proxies close silent connections


# The protocol is that of `graphql-sse` in its distinct connections mode: each request has a stream
# of its own, a `next` event for each result and a `complete` event at the end. Errors in an
# operation are a `next` event too, since a browser's `EventSource` shows a body only under status
# 200; a malformed request gets an ordinary response.
@lru_cache(maxsize=64)
def negotiate_events(accept: str | None) -> Literal["always", "subscriptions", "never"]:
    """Return the operations that a client wants answered as events.

    Returns
    -------
    str
        ``"always"`` where events are named and preferred to JSON; ``"subscriptions"`` where they
        are named with the weight of JSON, as some clients do with every request; else
        ``"never"``.
    """
    weights = parse_accept(accept or "")
    events = weights.get(EVENT_STREAM, 0.0)  # */* does not mean events
    if not events:
        return "never"
    json = max(find_media_quality(weights, it) for it in (JSON_MEDIA_TYPE, GRAPHQL_MEDIA_TYPE))
    return "always" if events > json else "subscriptions"


def encode_event(body: bytes) -> bytes:
    """Return the ``next`` event of a result in JSON, which has no line ends."""
    return b"event: next\ndata: " + body + b"\n\n"


_LINE_END = re.compile(rb"\r\n|\n|\r")


class ServerSentEvent(NamedTuple):
    """One event.

    Attributes
    ----------
    name
        Its name; ``"message"`` by default.
    data
        Its data lines, joined.
    """

    name: str
    data: bytes


class EventReader:
    """Incremental parser of an event stream.

    Parameters
    ----------
    most
        Maximum size of an event in bytes; None for no limit.

    Notes
    -----
    Source: HTML, "Interpreting an event stream". The fields ``id`` and ``retry`` are ignored:
    GraphQL servers do not resume streams. Unlike a browser's reader this one yields named events
    without data: gqlgen, Hot Chocolate and others end a stream with ``event: complete`` alone.
    """

    def __init__(self, most: int | None = None) -> None:
        self._max_bytes = most
        self._buffer = bytearray()  # the incomplete last line
        self._searched = 0  # bytes of it without a line end
        self._is_first_line = True
        self._is_after_return = False  # the last line ended in \r, whose \n may follow
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, part: bytes) -> Iterator[ServerSentEvent]:
        """Parse bytes, and yield the events that are complete.

        Raises
        ------
        BodyTooLargeError
            If an event is over the limit.
        """
        self._buffer += part
        for line in self._split_lines():
            event = self._handle_line(line)
            if event is not None:
                yield event
        self._check_size(len(self._buffer))

    def finish(self) -> str | None:
        """Parse the rest of an ended stream; return the name of an event that it cuts, or None."""
        if self._buffer:
            self._handle_line(bytes(self._buffer))
            self._buffer.clear()
        return (self._name or "message") if self._name or self._data else None

    def _split_lines(self) -> Iterator[bytes]:
        if self._is_after_return and self._buffer:
            self._is_after_return = False
            if self._buffer.startswith(b"\n"):
                del self._buffer[:1]
        begin = 0
        for end in _LINE_END.finditer(self._buffer, self._searched):
            yield bytes(self._buffer[begin : end.start()])
            begin = end.end()
            self._is_after_return = end[0] == b"\r" and begin == len(self._buffer)
        del self._buffer[:begin]
        self._searched = len(self._buffer)

    def _handle_line(self, line: bytes) -> ServerSentEvent | None:
        if self._is_first_line:
            line, self._is_first_line = line.removeprefix(BOM_UTF8), False
        if not line:
            return self._finish_event()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._check_size(len(value) + 1)
            self._size += len(value) + 1
            self._data.append(value)
        elif name == b"event":
            self._name = value.decode(errors="replace")
        return None

    def _finish_event(self) -> ServerSentEvent | None:
        name, data, is_named = self._name or "message", self._data, bool(self._name)
        self._name, self._data, self._size = "", [], 0
        return ServerSentEvent(name, b"\n".join(data)) if data or is_named else None

    def _check_size(self, more: int) -> None:
        if self._max_bytes is not None and self._size + more > self._max_bytes:
            raise BodyTooLargeError


def is_event_stream(media_type: str) -> bool:
    """Return whether a ``Content-Type`` is that of an event stream."""
    return media_type.partition(";")[0].strip().lower() == EVENT_STREAM

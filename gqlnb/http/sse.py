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
# An event without a data field is not dispatched (HTML, "Interpreting an event stream").
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
    GraphQL servers do not resume streams.
    """

    def __init__(self, most: int | None = None) -> None:
        self._max_bytes = most
        self._buffer = bytearray()  # the incomplete last line
        self._searched = 0  # bytes of it without a line end
        self._is_first_line = True
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

    def _split_lines(self) -> Iterator[bytes]:
        begin = 0
        # From the last byte searched: it may be a \r whose \n came only now.
        for end in _LINE_END.finditer(self._buffer, max(0, self._searched - 1)):
            if end[0] == b"\r" and end.end() == len(self._buffer):
                break  # a \n may follow in the next part
            yield bytes(self._buffer[begin : end.start()])
            begin = end.end()
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
        name, data = self._name or "message", self._data
        self._name, self._data, self._size = "", [], 0
        return ServerSentEvent(name, b"\n".join(data)) if data else None

    def _check_size(self, more: int) -> None:
        if self._max_bytes is not None and self._size + more > self._max_bytes:
            raise BodyTooLargeError


def is_event_stream(media_type: str) -> bool:
    """Return whether a ``Content-Type`` is that of an event stream."""
    return media_type.partition(";")[0].strip().lower() == EVENT_STREAM

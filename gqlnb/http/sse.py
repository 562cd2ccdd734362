"""GraphQL over server-sent events as plain values: who wants them, and how they are written.

The protocol is that of ``graphql-sse`` in its distinct connections mode: each request has a stream
of its own, a ``next`` event for each result and a ``complete`` event at the end. What is wrong
with an operation is a ``next`` event too, since a browser's ``EventSource`` shows the body of no
other status than 200; what is wrong with the request itself is answered as always.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from gqlnb.http.decompress import BodyTooLargeError
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
    "ServerSentEvent",
    "encode_event",
    "is_event_stream",
    "negotiate_events",
]

EVENT_STREAM = "text/event-stream"
EVENT_STREAM_HEADERS: Mapping[str, str] = {
    "content-type": f"{EVENT_STREAM}; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # nginx would hold events back
    "x-content-type-options": "nosniff",
}
# An event without a data field is not dispatched (HTML, "Interpreting an event stream").
COMPLETE_EVENT = b"event: complete\ndata:\n\n"
KEEP_ALIVE_COMMENT = b":\n\n"  # a comment: proxies close what is silent for long


@lru_cache(maxsize=64)
def negotiate_events(accept: str | None) -> Literal["always", "subscriptions", "never"]:
    """Tell which operations a client wants answered as events.

    Returns
    -------
    str
        ``"always"`` where events are named and preferred to JSON; ``"subscriptions"`` where they
        are named and JSON is as welcome, as some clients do with every request; else ``"never"``.
    """
    weights = parse_accept(accept or "")
    events = weights.get(EVENT_STREAM, 0.0)  # named: no client means events by */*
    if not events:
        return "never"
    json = max(
        find_media_quality(weights, media) for media in (JSON_MEDIA_TYPE, GRAPHQL_MEDIA_TYPE)
    )
    return "always" if events > json else "subscriptions"


def encode_event(body: bytes) -> bytes:
    """Return the ``next`` event of a result; JSON holds no line end."""
    return b"event: next\ndata: " + body + b"\n\n"


# ---------------------------------------------------------------- the client's side

LINE_END = re.compile(rb"\r\n|\n|\r")


class ServerSentEvent(NamedTuple):
    """One event.

    Attributes
    ----------
    name
        What it is called; ``"message"`` where it has no name.
    data
        Its data lines, joined.
    """

    name: str
    data: bytes


class EventReader:
    """Reads events from bytes, however they are cut.

    Parameters
    ----------
    most
        Bytes that an event may have; None for any number.

    Notes
    -----
    Source: HTML, "Interpreting an event stream". The fields ``id`` and ``retry`` are passed over:
    no server of GraphQL resumes a stream.
    """

    def __init__(self, most: int | None = None) -> None:
        self._max_bytes = most
        self._buffer = bytearray()  # the line that has not ended yet
        self._searched = 0  # bytes of it that were searched for an end
        self._is_first_line = True
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, part: bytes) -> Iterator[ServerSentEvent]:
        """Take what came, and yield the events that are whole.

        Raises
        ------
        BodyTooLargeError
            If an event has more bytes than it may.
        """
        self._buffer += part
        for line in self._split_lines():
            found = self._handle_line(line)
            if found is not None:
                yield found
        self._check_size(len(self._buffer))

    def _split_lines(self) -> Iterator[bytes]:
        begin = 0
        for end in LINE_END.finditer(self._buffer, max(0, self._searched - 1)):
            if end[0] == b"\r" and end.end() == len(self._buffer):
                break  # the other half of a line end may come
            yield bytes(self._buffer[begin : end.start()])
            begin = end.end()
        del self._buffer[:begin]
        self._searched = len(self._buffer)

    def _handle_line(self, line: bytes) -> ServerSentEvent | None:
        if self._is_first_line:
            line, self._is_first_line = line.removeprefix(BOM_UTF8), False
        if not line:
            return self._finish_event()
        word, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if word == b"data":
            self._check_size(len(value) + 1)
            self._size += len(value) + 1
            self._data.append(value)
        elif word == b"event":
            self._name = value.decode(errors="replace")
        return None

    def _finish_event(self) -> ServerSentEvent | None:
        """Return the event that an empty line ends; None where it has no data."""
        name, data = self._name or "message", self._data
        self._name, self._data, self._size = "", [], 0
        return ServerSentEvent(name, b"\n".join(data)) if data else None

    def _check_size(self, more: int) -> None:
        if self._max_bytes is not None and self._size + more > self._max_bytes:
            raise BodyTooLargeError


def is_event_stream(media_type: str) -> bool:
    """Tell whether a ``Content-Type`` is that of events."""
    return media_type.partition(";")[0].strip().lower() == EVENT_STREAM

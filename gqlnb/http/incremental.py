"""Responses in parts: server-sent events, and incremental delivery in multipart/mixed."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.http.content_encoding import BodyTooLargeError
from gqlnb.http.messages import (
    GRAPHQL_MEDIA_TYPE,
    JSON_CONTENT_TYPE,
    JSON_MEDIA_TYPE,
    VALID_BOUNDARY,
    find_media_quality,
    parse_accept,
    parse_parameters,
    split_accept,
)
from gqlnb.result.answer_notes import IncrementalResponse, InvalidPartError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gqlnb.http.messages import Response

EVENT_STREAM = "text/event-stream"
_STREAM_HEADERS = {
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # nginx would buffer the events or parts
    "x-content-type-options": "nosniff",
}
EVENT_STREAM_HEADERS: Mapping[str, str] = {
    "content-type": f"{EVENT_STREAM}; charset=utf-8",
    **_STREAM_HEADERS,
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
    json = max(find_media_quality(weights, kind) for kind in (JSON_MEDIA_TYPE, GRAPHQL_MEDIA_TYPE))
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


INCREMENTAL_ADVICE = (
    "Fields under @defer and @stream are delivered incrementally. Use client.subscribe(text), "
    "which yields the data received so far, or remove these directives."
)
# Apollo Server asks for `accept: multipart/mixed`, graphql-js refuses "multiple payloads".
_INCREMENTAL_WORDS = re.compile(
    r"multipart/mixed|incremental delivery|multiple payloads", re.IGNORECASE
)


def apply_part(response: Response, growing: IncrementalResponse) -> Response:
    """Return a response with all parts so far, this one included.

    Raises
    ------
    InvalidPartError
        If the part does not fit the parts before it.
    """
    try:
        part = load_json(response.body)
    except JSONError:
        part = None
    if part is None or not (growing.part_count or isinstance(part, dict)):
        return response  # the response parser raises the error
    return replace(response, body=dump_json(growing.feed(part)))


def assemble_response(response: Response) -> Response:
    """Return a response merged from its parts; any other response unchanged.

    Raises
    ------
    InvalidPartError
        If the parts do not fit together, or the last one is missing.
    """
    # Some servers answer `@defer` in parts, or anything as events, without a matching `Accept`.
    bodies = _split_body(response)
    if bodies is None:
        return response
    growing, whole, fault = IncrementalResponse(), b"", "the last one is missing"
    for body in bodies:
        try:
            whole = dump_json(growing.feed(load_json(body)))
        except JSONError as error:
            fault = f"one is not JSON ({error})"
            break
        if not growing.has_next:
            break
    if growing.has_next:
        raise InvalidPartError(fault)
    return replace(
        response, headers={**response.headers, "content-type": JSON_CONTENT_TYPE}, body=whole
    )


def take_first_part(response: Response) -> Response:
    """Return a response with the first result of its stream; any other response unchanged."""
    # GraphQL Yoga sends the reason why it refuses a subscription as an event, under status 400.
    return next(iter_parts(response), response)


def iter_parts(response: Response) -> Iterator[Response]:
    """Yield a response for each result in the body of a stream; none for any other response."""
    for body in _split_body(response) or ():
        headers = {**response.headers, "content-type": JSON_CONTENT_TYPE}
        yield replace(response, headers=headers, body=body)


def _split_body(response: Response) -> Iterable[bytes] | None:
    """Return the results in the body of a stream; None for any other response."""
    media = response.headers.get("content-type", "")
    boundary = parse_boundary(media)
    if boundary is not None:
        return MultipartReader(boundary).feed(response.body)
    return _read_event_data(response.body) if is_event_stream(media) else None


def _read_event_data(body: bytes) -> Iterator[bytes]:
    for event in EventReader().feed(body):
        if event.name in ("next", "message") and event.data.strip():
            yield event.data


def is_incremental(response: Response) -> bool:
    """Return whether a response is in parts, or refused since parts were not accepted."""
    # GraphQL Yoga answers 406 to `@defer` without a media type for parts.
    media = response.headers.get("content-type", "")
    return response.status == 406 or parse_boundary(media) is not None or is_event_stream(media)


def is_incremental_error(message: object) -> bool:
    """Return whether an error message says that an operation needs a response in parts."""
    return isinstance(message, str) and _INCREMENTAL_WORDS.search(message) is not None


MULTIPART_MIXED = "multipart/mixed"
# Apollo Client 4 asks in this way for the form of 2023. Clients that name no version read that of
# 2022; urql, for one, merges lists of the newer form wrongly.
_NEWER_FORM = "v0.2"  # of `incrementalSpec`
_EVENTS_PARAMETER = "subscriptionSpec=1.0"
_OWN_BOUNDARY = "-"  # as Apollo Server and GraphQL Yoga have it


def _choose_boundary(parameters: Mapping[str, str]) -> str:
    """Return the boundary that a client asks for, if it is valid, else our own."""
    # gql and older clients of Apollo ask for "graphql", and read no other.
    boundary = parameters.get("boundary", "")
    return boundary if VALID_BOUNDARY.fullmatch(boundary) else _OWN_BOUNDARY


class PartFormat(NamedTuple):
    """The format in which a client reads responses in parts.

    Attributes
    ----------
    media_type
        ``"multipart/mixed"`` or ``"text/event-stream"``.
    is_legacy
        Whether parts have the form of 2022, with paths instead of ids.
    boundary
        The boundary of multipart/mixed.
    """

    media_type: Literal["multipart/mixed", "text/event-stream"]
    is_legacy: bool
    boundary: str = _OWN_BOUNDARY


@lru_cache(maxsize=64)
def negotiate_parts(accept: str | None) -> PartFormat | None:
    """Return the preferred format of parts among those that a client names; None if it names none.

    Of equal weights multipart/mixed comes first, then the order of the header decides: clients
    that read both forms name the one they prefer first. The form is that of 2022, unless
    ``incrementalSpec=v0.2`` asks for that of 2023.
    """
    ranges = [
        (weight, media == MULTIPART_MIXED, parameters)
        for media, weight, parameters in split_accept(accept or "")
        if media in {MULTIPART_MIXED, EVENT_STREAM} and weight
    ]
    if not ranges:
        return None
    _, is_mixed, parameters = max(ranges, key=lambda entry: entry[:2])
    is_legacy = parameters.get("incrementalspec", "").lower() != _NEWER_FORM
    media_type: Literal["multipart/mixed", "text/event-stream"]
    media_type = "multipart/mixed" if is_mixed else "text/event-stream"
    return PartFormat(media_type, is_legacy, _choose_boundary(parameters))


@lru_cache(maxsize=64)
def negotiate_event_boundary(accept: str | None) -> str | None:
    """Return the boundary for a subscription's events in multipart/mixed; None if not accepted.

    Notes
    -----
    Source: Apollo, "Multipart HTTP protocol for GraphQL subscriptions", version 1.0.
    """
    for media, weight, parameters in split_accept(accept or ""):
        if media == MULTIPART_MIXED and weight > 0 and parameters.get("subscriptionspec") == "1.0":
            return _choose_boundary(parameters)
    return None


def encode_multipart_event(body: bytes, boundary: str) -> bytes:
    """Return the part of a subscription's event; clients ignore ``{}``, a sign of life."""
    return encode_multipart_part(b'{"payload":' + body + b"}", boundary)


class _EventPart(msgspec.Struct):
    """A part of a subscription, its payload not decoded, so that numbers stay exact."""

    payload: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    errors: list[Any] | None = None


_EVENT_DECODER = msgspec.json.Decoder(_EventPart)


def decode_multipart_event(body: bytes) -> tuple[bytes | None, bool]:
    """Return the response in a part of a subscription, or None, and whether the part is the last.

    Apollo's protocol has the payload of each event in a part, ``{}`` as a sign of life, and an end
    with ``"payload": null``, beside the reason if there is one. Other servers send parts without
    payload, which are returned unchanged.
    """
    if not body.strip(b"{} \t\r\n"):
        return None, False
    try:
        part = _EVENT_DECODER.decode(body)
    except msgspec.MsgspecError:
        return body, False  # the response parser raises the error
    if part.payload is msgspec.UNSET:
        return body, False
    payload = bytes(part.payload)
    is_last = payload == b"null"
    if part.errors:
        members = load_json(payload) or {}
        if isinstance(members, dict):
            errors = [*(members.get("errors") or ()), *part.errors]
            payload = dump_json({**members, "errors": errors})
    elif is_last:
        return None, True
    return payload, is_last


def encode_delimiter(boundary: str) -> bytes:
    """Return the delimiter of parts; the last one is followed by ``--``."""
    return f"\r\n--{boundary}".encode()


# The delimiter ends each part at once rather than beginning the next one, so that a client can
# read a part as soon as it arrives. Apollo Server and GraphQL Yoga write the same bytes.
def encode_multipart_part(body: bytes, boundary: str) -> bytes:
    """Return a part of a multipart body, up to its delimiter."""
    head = f"\r\nContent-Type: {JSON_CONTENT_TYPE}\r\n\r\n".encode()
    return head + body + encode_delimiter(boundary)


def build_multipart_headers(boundary: str, *, is_legacy: bool | None) -> dict[str, str]:
    """Return the headers of a multipart response; `is_legacy` is None for events."""
    form = "deferSpec=20220824" if is_legacy else "incrementalSpec=v0.2"
    form = _EVENTS_PARAMETER if is_legacy is None else form
    # gql looks for `boundary=graphql`, without quotation marks.
    text = boundary if boundary.isalnum() else f'"{boundary}"'
    return {"content-type": f"{MULTIPART_MIXED}; boundary={text}; {form}", **_STREAM_HEADERS}


class _PendingPlace:
    """The place of a fragment or list with parts to follow."""

    def __init__(self, pending: Mapping[str, Any], start: int) -> None:
        self.path = list(pending["path"])
        self.label = {"label": pending["label"]} if "label" in pending else {}
        self.next_index = start


class LegacyPartWriter:
    """Converts parts from the form of 2023 to that of 2022."""

    def __init__(self) -> None:
        self._places: dict[str, _PendingPlace] = {}  # by id

    def convert(self, part: Mapping[str, Any], starts: Mapping[str, int]) -> dict[str, Any]:
        """Return the next part in the form of 2022.

        Parameters
        ----------
        part
            The part, as graphql-core 3.3 writes it.
        starts
            The number of items that were already delivered of each list that the part announces,
            by id.
        """
        for pending in part.get("pending", ()):
            ident = pending["id"]
            self._places[ident] = _PendingPlace(pending, starts.get(ident, -1))
        converted = {
            name: part[name] for name in ("data", "errors", "hasNext", "extensions") if name in part
        }
        increments = [self._convert_increment(item) for item in part.get("incremental", ())]
        for completed in part.get("completed", ()):
            place = self._places.pop(completed["id"])
            if "errors" in completed:  # the whole fragment, or the rest of the list, is missing
                rest = {**place.label, "errors": completed["errors"]}
                if place.next_index < 0:
                    increments.append({"path": place.path, "data": None, **rest})
                else:
                    path = [*place.path, place.next_index]
                    increments.append({"path": path, "items": None, **rest})
        if increments:
            converted["incremental"] = increments
        return converted

    def _convert_increment(self, increment: Mapping[str, Any]) -> dict[str, Any]:
        place = self._places[increment["id"]]
        rest = {name: value for name, value in increment.items() if name not in {"id", "subPath"}}
        path = [*place.path, *increment.get("subPath", ())]
        if "items" in increment:
            path.append(place.next_index)
            place.next_index += len(increment["items"])
        return {"path": path, **place.label, **rest}


# The head of a part, which may be empty.
_PART_HEAD = re.compile(rb"^(?:[ \t]*\r?\n)?(?:[^\r\n]+\r?\n)*\r?\n")


def parse_boundary(content_type: str) -> str | None:
    """Return the boundary of a ``Content-Type``; None if it is not multipart/mixed."""
    media, parameters = parse_parameters(content_type)
    # The default is the boundary of the proposal.
    return parameters.get("boundary", "-") if media == MULTIPART_MIXED else None


class MultipartReader:
    """Incremental parser of a multipart body.

    Parameters
    ----------
    boundary
        The boundary of the ``Content-Type``.
    most
        Maximum size of the whole body in bytes; None for no limit.
    is_endless
        Whether the limit is one of each part instead.

    Attributes
    ----------
    ended
        Whether the closing delimiter was read.
    """

    def __init__(self, boundary: str, most: int | None = None, *, is_endless: bool = False) -> None:
        self.ended = False
        self._max_bytes = inf if most is None else most
        self._is_endless, self._size = is_endless, 0
        self._delimiter = re.compile(rb"(?:\r?\n)--" + re.escape(boundary.encode()))
        self._delimiter_length = len(boundary) + 4
        self._buffer = bytearray(b"\r\n")  # the first delimiter may be the first line
        self._searched = 0  # bytes of it without a delimiter
        self._is_started = False

    def feed(self, part: bytes) -> Iterator[bytes]:
        """Parse bytes, and yield the bodies of the parts that are complete.

        Raises
        ------
        BodyTooLargeError
            If the whole body, or a part, is over the limit.
        """
        self._buffer += part
        self._size += len(part)
        while not self.ended and (border := self._delimiter.search(self._buffer, self._searched)):
            part_bytes = bytes(self._buffer[: border.start()])
            del self._buffer[: border.end()]
            self._searched = 0
            if self._is_endless:
                self._check_size(len(part_bytes))
                self._size = len(self._buffer)
            if self._is_started and (body := _PART_HEAD.sub(b"", part_bytes, count=1)).strip():
                yield body
            self._is_started = True
            self.ended = self._buffer.startswith(b"--")
        self.ended = self.ended or (self._is_started and self._buffer.startswith(b"--"))
        if self.ended:
            self._buffer.clear()  # the epilogue (RFC 2046, 5.1.1)
        self._searched = max(0, len(self._buffer) - self._delimiter_length)
        self._check_size(self._size)

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise BodyTooLargeError

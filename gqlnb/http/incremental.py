"""Incremental delivery: responses in parts, for ``@defer`` and ``@stream``, and multipart/mixed.

Servers follow one of three versions of the proposal, named by their year; all three are read::

    2023  {"data": …, "pending": [{"id": "0", "path": ["user"]}], "hasNext": true}
          {"incremental": [{"id": "0", "data": …}, {"id": "1", "items": […]}],
           "completed": [{"id": "0"}], "hasNext": false}
    2022  {"incremental": [{"path": ["user"], "data": …}, {"path": ["list", 3], "items": […]}], …}
    2020  {"path": ["user"], "data": …, "hasNext": true}

Source: "RFC: GraphQL Defer and Stream Directives", github.com/graphql/graphql-wg, and the
discussions that changed it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from email.message import Message
from math import inf
from typing import TYPE_CHECKING, Any

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.errors import sanitize_text
from gqlnb.http.decompress import BodyTooLargeError
from gqlnb.http.messages import JSON_CONTENT_TYPE
from gqlnb.http.sse import EventReader, is_event_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gqlnb.http.messages import Response

__all__ = [
    "INCREMENTAL_ADVICE",
    "MULTIPART_MIXED",
    "IncrementalResponse",
    "InvalidPartError",
    "MultipartReader",
    "apply_part",
    "assemble_response",
    "is_incremental",
    "is_incremental_error",
    "parse_boundary",
    "take_first_part",
]

INCREMENTAL_ADVICE = (
    "Fields under @defer and @stream are answered in parts: read them with "
    "client.subscribe(text), which gives the answer as far as it has come, or leave these "
    "directives out."
)
# Apollo Server asks for `accept: multipart/mixed`, graphql-js refuses "multiple payloads".
_INCREMENTAL_WORDS = re.compile(
    r"multipart/mixed|incremental delivery|multiple payloads", re.IGNORECASE
)


class InvalidPartError(Exception):
    """The server sent an invalid part; the text is the reason, as the end of a sentence."""


class IncrementalResponse:
    """A response that is merged from its parts.

    Attributes
    ----------
    part_count
        Number of parts so far.
    has_next
        Whether more parts follow.
    """

    def __init__(self) -> None:
        self.part_count = 0
        self.has_next = True
        self._members: dict[str, Any] = {}
        self._pending_places: dict[str, tuple[Any, ...]] = {}  # places by id

    def feed(self, part: Any) -> Mapping[str, Any]:
        """Merge the next part.

        Returns
        -------
        Mapping
            The members of the response so far. The next part changes them in place.

        Raises
        ------
        InvalidPartError
            If the part is not an object, or does not fit the parts before it.
        """
        self.part_count += 1
        if not isinstance(part, Mapping):
            msg = f"it is {sanitize_text(repr(part), 40)}, not an object"
            raise InvalidPartError(msg)
        self.has_next = part.get("hasNext") is True
        for pending in _get_list(part, "pending"):
            self._pending_places[str(pending.get("id"))] = _get_path(pending)
        if self.part_count == 1:
            self._members = {name: part[name] for name in ("data", "errors") if name in part}
        elif "path" in part:
            self._add_part(part)
        self._add_extensions(part.get("extensions"))
        for increment in _get_list(part, "incremental"):
            self._add_part(increment)
        for completed in _get_list(part, "completed"):
            self._pending_places.pop(str(completed.get("id")), None)
            self._add_errors(completed)
        return self._members

    def _add_part(self, part: Mapping[str, Any]) -> None:
        self._add_errors(part)
        self._add_extensions(part.get("extensions"))
        if part.get("items") is not None:
            self._add_items(part, _get_list(part, "items", Any))
        elif "data" in part:
            self._add_data(part["data"], self._find_place(part))

    def _add_data(self, data: Any, place: Sequence[Any]) -> None:
        """Merge fields into their object; in the 2020 form also append an item to its list."""
        target = self._get_value(place)
        if isinstance(target, dict) and isinstance(data, Mapping):
            _merge_fields(target, data)
            return
        row = self._get_value(place[:-1]) if place else None
        if isinstance(row, list) and place[-1] == len(row):
            row.append(data)
        elif data is not None:  # null where it failed
            msg = (
                f"it puts fields into {_format_place(place)}, which is not an object of the answer"
            )
            raise InvalidPartError(msg)

    def _add_items(self, part: Mapping[str, Any], items: list[Any]) -> None:
        """Append items to their list; in the 2022 form the path ends with their index."""
        place, start = self._find_place(part), None
        if "id" not in part and place:
            *place, start = place
        target = self._get_value(place)
        if not isinstance(target, list) or (start is not None and start != len(target)):
            msg = f"it adds items to {_format_place(place)}, which is not a list that ends there"
            raise InvalidPartError(msg)
        target.extend(items)

    def _find_place(self, part: Mapping[str, Any]) -> Sequence[Any]:
        if "id" not in part:
            return _get_path(part)
        place = self._pending_places.get(str(part["id"]))
        if place is None:
            name = sanitize_text(repr(part["id"]), 40)
            msg = f"it is for {name}, which was not announced as pending"
            raise InvalidPartError(msg)
        return (*place, *_get_path(part, "subPath"))

    def _get_value(self, place: Sequence[Any]) -> Any:
        """Return the value at a path of the data; None if no such path exists."""
        value = self._members.get("data")
        for step in place:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and type(step) is int and 0 <= step < len(value):
                value = value[step]
            else:
                return None
        return value

    def _add_errors(self, part: Mapping[str, Any]) -> None:
        if errors := _get_list(part, "errors"):
            self._members["errors"] = [*self._members.get("errors", ()), *errors]

    def _add_extensions(self, extensions: Any) -> None:
        if isinstance(extensions, Mapping):
            self._members["extensions"] = {**self._members.get("extensions", {}), **extensions}


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

    Some servers answer ``@defer`` in parts, or anything as events, without a matching ``Accept``.

    Raises
    ------
    InvalidPartError
        If the parts do not fit together, or the last one is missing.
    """
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
    """Return a response with the first result of its stream; any other response unchanged.

    GraphQL Yoga sends the reason why it refuses a subscription as an event, under status 400.
    """
    first = next(iter(_split_body(response) or ()), None)
    if first is None:
        return response
    return replace(
        response, headers={**response.headers, "content-type": JSON_CONTENT_TYPE}, body=first
    )


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
    """Return whether a response is in parts, or refused since parts were not accepted.

    GraphQL Yoga answers 406 to ``@defer`` without a media type for parts.
    """
    media = response.headers.get("content-type", "")
    return response.status == 406 or parse_boundary(media) is not None or is_event_stream(media)


def is_incremental_error(message: object) -> bool:
    """Return whether an error message says that an operation needs a response in parts."""
    return isinstance(message, str) and _INCREMENTAL_WORDS.search(message) is not None


def _merge_fields(target: dict[str, Any], data: Mapping[str, Any]) -> None:
    """Add fields to an object; objects and lists in both are merged."""
    for name, value in data.items():
        target[name] = _merge_values(target[name], value) if name in target else value


def _merge_values(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, Mapping):
        _merge_fields(old, new)
        return old
    # Both lists come from the same field, so items of one index are the same object. Of lists of
    # different lengths that is unknown, and the newer one is taken.
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [_merge_values(*pair) for pair in zip(old, new, strict=True)]
    return new


def _get_list(part: Mapping[str, Any], name: str, kind: Any = Mapping) -> list[Any]:
    """Return a list member of a part; empty if it is missing."""
    items = part.get(name)
    if items is None:
        return []
    if isinstance(items, list) and (kind is Any or all(isinstance(item, kind) for item in items)):
        return items
    msg = f"its {name!r} is not a list" + ("" if kind is Any else " of objects")
    raise InvalidPartError(msg)


def _get_path(part: Mapping[str, Any], name: str = "path") -> tuple[Any, ...]:
    """Return the path of a part; empty, for the root, if it is missing."""
    return tuple(_get_list(part, name, Any))


def _format_place(place: Sequence[Any]) -> str:
    return sanitize_text(".".join(map(str, place)), 120) if place else "the root"


MULTIPART_MIXED = "multipart/mixed"
# The head of a part, which may be empty.
_PART_HEAD = re.compile(rb"^(?:[ \t]*\r?\n)?(?:[^\r\n]+\r?\n)*\r?\n")


def parse_boundary(content_type: str) -> str | None:
    """Return the boundary of a ``Content-Type``; None if it is not multipart/mixed."""
    head = Message()
    head["content-type"] = content_type
    if head.get_content_type() != MULTIPART_MIXED:
        return None
    return head.get_boundary("-")  # the boundary of the proposal


class MultipartReader:
    """Incremental parser of a multipart body.

    Parameters
    ----------
    boundary
        The boundary of the ``Content-Type``.
    most
        Maximum size of the whole body in bytes; None for no limit.

    Attributes
    ----------
    ended
        Whether the closing delimiter was read.
    """

    def __init__(self, boundary: str, most: int | None = None) -> None:
        self.ended = False
        self._bytes_left = inf if most is None else most
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
            If the whole body is over the limit.
        """
        self._bytes_left -= len(part)
        if self._bytes_left < 0:
            raise BodyTooLargeError
        self._buffer += part
        while not self.ended and (found := self._delimiter.search(self._buffer, self._searched)):
            part_bytes = bytes(self._buffer[: found.start()])
            del self._buffer[: found.end()]
            self._searched = 0
            if self._is_started and (body := _PART_HEAD.sub(b"", part_bytes, count=1)).strip():
                yield body
            self._is_started = True
            self.ended = self._buffer.startswith(b"--")
        self.ended = self.ended or (self._is_started and self._buffer.startswith(b"--"))
        if self.ended:
            self._buffer.clear()  # the epilogue (RFC 2046, 5.1.1)
        self._searched = max(0, len(self._buffer) - self._delimiter_length)

"""Incremental delivery as plain values: an answer that comes in parts, and grows with each.

What ``@defer`` and ``@stream`` put off comes behind the first part. Servers write that in three
ways, after the year of the proposal they follow, and all three are read::

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
INCREMENTAL_WORDS = re.compile(
    r"multipart/mixed|incremental delivery|multiple payloads", re.IGNORECASE
)


class InvalidPartError(Exception):
    """A part that no server may send; its text says why, as the end of a sentence."""


class IncrementalResponse:
    """An answer that grows.

    Attributes
    ----------
    part_count
        How many parts have come.
    has_next
        Whether there are more to come.
    """

    def __init__(self) -> None:
        self.part_count = 0
        self.has_next = True
        self._members: dict[str, Any] = {}
        self._pending_places: dict[str, tuple[Any, ...]] = {}  # places by id

    def feed(self, part: Any) -> Mapping[str, Any]:
        """Take the next part.

        Returns
        -------
        Mapping
            The members of the answer as far as it has come. They grow with the next part.

        Raises
        ------
        NoPartError
            If it is no object, or does not go with those before it.
        """
        self.part_count += 1
        if not isinstance(part, Mapping):
            msg = f"it is {sanitize_text(repr(part), 40)}, no object"
            raise InvalidPartError(msg)
        self.has_next = part.get("hasNext") is True
        for each in _get_list(part, "pending"):
            self._pending_places[str(each.get("id"))] = _get_path(each)
        if self.part_count == 1:
            self._members = {name: part[name] for name in ("data", "errors") if name in part}
        elif "path" in part:
            self._add_part(part)
        self._add_extensions(part.get("extensions"))
        for each in _get_list(part, "incremental"):
            self._add_part(each)
        for each in _get_list(part, "completed"):
            self._pending_places.pop(str(each.get("id")), None)
            self._add_errors(each)
        return self._members

    def _add_part(self, part: Mapping[str, Any]) -> None:
        """Put data or items in their place."""
        self._add_errors(part)
        self._add_extensions(part.get("extensions"))
        if part.get("items") is not None:
            self._add_items(part, _get_list(part, "items", Any))
        elif "data" in part:
            self._add_data(part["data"], self._find_place(part))

    def _add_data(self, data: Any, place: Sequence[Any]) -> None:
        """Put fields into their object; in the oldest form also one item behind its list."""
        found = self._get_value(place)
        if isinstance(found, dict) and isinstance(data, Mapping):
            merge_fields(found, data)
            return
        row = self._get_value(place[:-1]) if place else None
        if isinstance(row, list) and place[-1] == len(row):
            row.append(data)
        elif data is not None:  # null where it failed
            msg = f"it puts fields into {_format_place(place)}, which is no object of the answer"
            raise InvalidPartError(msg)

    def _add_items(self, part: Mapping[str, Any], items: list[Any]) -> None:
        """Put items at the end of their list; in the older form their path ends with where."""
        place, start = self._find_place(part), None
        if "id" not in part and place:
            *place, start = place
        found = self._get_value(place)
        if not isinstance(found, list) or (start is not None and start != len(found)):
            msg = f"it puts items into {_format_place(place)}, which is no list that they continue"
            raise InvalidPartError(msg)
        found.extend(items)

    def _find_place(self, part: Mapping[str, Any]) -> Sequence[Any]:
        """Return where a part belongs."""
        if "id" not in part:
            return _get_path(part)
        place = self._pending_places.get(str(part["id"]))
        if place is None:
            msg = f"it is for {sanitize_text(repr(part['id']), 40)}, which was not announced as pending"
            raise InvalidPartError(msg)
        return (*place, *_get_path(part, "subPath"))

    def _get_value(self, place: Sequence[Any]) -> Any:
        """Return what stands at a place of the answer; None if there is no such place."""
        found = self._members.get("data")
        for step in place:
            if isinstance(found, dict):
                found = found.get(step)
            elif isinstance(found, list) and type(step) is int and 0 <= step < len(found):
                found = found[step]
            else:
                return None
        return found

    def _add_errors(self, part: Mapping[str, Any]) -> None:
        """Add the errors of a part to those of the answer."""
        if errors := _get_list(part, "errors"):
            self._members["errors"] = [*self._members.get("errors", ()), *errors]

    def _add_extensions(self, extensions: Any) -> None:
        if isinstance(extensions, Mapping):
            self._members["extensions"] = {**self._members.get("extensions", {}), **extensions}


def apply_part(response: Response, growing: IncrementalResponse) -> Response:
    """Return a response that holds the answer with this part of it.

    Raises
    ------
    NoPartError
        If the part does not go with those before it.
    """
    try:
        part = load_json(response.body)
    except JSONError:
        part = None
    if part is None or not (growing.part_count or isinstance(part, dict)):
        return response  # what it is instead is said by whoever reads it
    return replace(response, body=dump_json(growing.feed(part)))


def assemble_response(response: Response) -> Response:
    """Return a response with its parts put together; any other one as it is.

    Some servers answer ``@defer`` in parts, or anything as events, without being asked to.

    Raises
    ------
    NoPartError
        If they do not go together, or the last one is missing.
    """
    bodies = _split_body(response)
    if bodies is None:
        return response
    growing, whole, fault = IncrementalResponse(), b"", "the last one is missing"
    for body in bodies:
        try:
            whole = dump_json(growing.feed(load_json(body)))
        except JSONError as error:
            fault = f"one is no JSON ({error})"
            break
        if not growing.has_next:
            break
    if growing.has_next:
        raise InvalidPartError(fault)
    return replace(
        response, headers={**response.headers, "content-type": JSON_CONTENT_TYPE}, body=whole
    )


def take_first_part(response: Response) -> Response:
    """Return a response that holds the first result of its stream; any other one as it is.

    GraphQL Yoga writes why it refuses a subscription as an event, under status 400.
    """
    first = next(iter(_split_body(response) or ()), None)
    if first is None:
        return response
    return replace(
        response, headers={**response.headers, "content-type": JSON_CONTENT_TYPE}, body=first
    )


def _split_body(response: Response) -> Iterable[bytes] | None:
    """Return the results in the body of a response that is a stream, or None for another one."""
    media = response.headers.get("content-type", "")
    boundary = parse_boundary(media)
    if boundary is not None:
        return MultipartReader(boundary).feed(response.body)
    return _read_event_data(response.body) if is_event_stream(media) else None


def _read_event_data(body: bytes) -> Iterator[bytes]:
    """Yield the results in a stream of server-sent events."""
    for event in EventReader().feed(body):
        if event.name in ("next", "message") and event.data.strip():
            yield event.data


def is_incremental(response: Response) -> bool:
    """Return whether a response has, or asks for, a media type of answers in parts.

    GraphQL Yoga answers 406 to ``@defer`` where no such type was accepted.
    """
    media = response.headers.get("content-type", "")
    return response.status == 406 or parse_boundary(media) is not None or is_event_stream(media)


def is_incremental_error(message: object) -> bool:
    """Return whether a server says that an operation would be answered in parts."""
    return isinstance(message, str) and INCREMENTAL_WORDS.search(message) is not None


def merge_fields(into: dict[str, Any], data: Mapping[str, Any]) -> None:
    """Add fields to an object; objects and lists that both have are added to in turn."""
    for name, value in data.items():
        into[name] = merge_values(into[name], value) if name in into else value


def merge_values(old: Any, new: Any) -> Any:
    """Return two values of one field as one."""
    if isinstance(old, dict) and isinstance(new, Mapping):
        merge_fields(old, new)
        return old
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [merge_values(*both) for both in zip(old, new, strict=True)]
    return new


def _get_list(part: Mapping[str, Any], name: str, kind: Any = Mapping) -> list[Any]:
    """Return a list of a part; an empty one where it has none."""
    found = part.get(name)
    if found is None:
        return []
    if isinstance(found, list) and (kind is Any or all(isinstance(each, kind) for each in found)):
        return found
    msg = f"its {name!r} is no list" + ("" if kind is Any else " of objects")
    raise InvalidPartError(msg)


def _get_path(part: Mapping[str, Any], name: str = "path") -> tuple[Any, ...]:
    """Return a path of a part; the empty one, which is the root, where it has none."""
    return tuple(_get_list(part, name, Any))


def _format_place(place: Sequence[Any]) -> str:
    return sanitize_text(".".join(map(str, place)), 120) if place else "the root"


MULTIPART_MIXED = "multipart/mixed"
HEAD_END = re.compile(rb"^(?:[ \t]*\r?\n)?(?:[^\r\n]+\r?\n)*\r?\n")  # a head may be empty


def parse_boundary(content_type: str) -> str | None:
    """Return the boundary of a ``Content-Type``; None if it is not that of parts."""
    head = Message()
    head["content-type"] = content_type
    if head.get_content_type() != MULTIPART_MIXED:
        return None
    return head.get_boundary("-")  # what the proposal has everybody use


class MultipartReader:
    """Reads the bodies of parts from bytes, however they are cut.

    Parameters
    ----------
    boundary
        What the delimiters are made of.
    most
        Bytes that all of them may have together; None for any number.

    Attributes
    ----------
    ended
        Whether the last delimiter has come.
    """

    def __init__(self, boundary: str, most: int | None = None) -> None:
        self.ended = False
        self._bytes_left = inf if most is None else most
        self._delimiter = re.compile(rb"(?:\r?\n)--" + re.escape(boundary.encode()))
        self._delimiter_length = len(boundary) + 4
        self._buffer = bytearray(b"\r\n")  # the first delimiter may be the first line
        self._searched = 0  # bytes of it that were searched for a delimiter
        self._is_started = False

    def feed(self, part: bytes) -> Iterator[bytes]:
        """Take what came, and yield the bodies that are whole.

        Raises
        ------
        BodyTooLargeError
            If more came than may.
        """
        self._bytes_left -= len(part)
        if self._bytes_left < 0:
            raise BodyTooLargeError
        self._buffer += part
        while not self.ended and (found := self._delimiter.search(self._buffer, self._searched)):
            whole = bytes(self._buffer[: found.start()])
            del self._buffer[: found.end()]
            self._searched = 0
            if self._is_started and (body := HEAD_END.sub(b"", whole, count=1)).strip():
                yield body
            self._is_started = True
            self.ended = self._buffer.startswith(b"--")
        self.ended = self.ended or (self._is_started and self._buffer.startswith(b"--"))
        if self.ended:
            self._buffer.clear()  # what follows means nothing
        self._searched = max(0, len(self._buffer) - self._delimiter_length)

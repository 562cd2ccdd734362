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
from typing import TYPE_CHECKING, Any

from gqlnb.errors import plain
from gqlnb.wire.json import JSONError, dump, load
from gqlnb.wire.mixed import Parts, boundary_of
from gqlnb.wire.response import JSON
from gqlnb.wire.sse import Reader, is_events

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gqlnb.wire.response import Response

__all__ = [
    "IN_PARTS_ADVICE",
    "Growing",
    "NoPartError",
    "grown",
    "in_one_piece",
    "is_about_parts",
    "is_in_parts",
    "take_first_part",
]

IN_PARTS_ADVICE = (
    "Fields under @defer and @stream are answered in parts: read them with "
    "client.subscribe(text), which gives the answer as far as it has come, or leave these "
    "directives out."
)
# Apollo Server asks for `accept: multipart/mixed`, graphql-js refuses "multiple payloads".
ABOUT_PARTS = re.compile(r"multipart/mixed|incremental delivery|multiple payloads", re.IGNORECASE)


class NoPartError(Exception):
    """A part that no server may send; its text says why, as the end of a sentence."""


class Growing:
    """An answer that grows.

    Attributes
    ----------
    parts
        How many parts have come.
    more
        Whether there are more to come.
    """

    def __init__(self) -> None:
        self.parts = 0
        self.more = True
        self._whole: dict[str, Any] = {}
        self._pending: dict[str, tuple[Any, ...]] = {}  # places by id

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
        self.parts += 1
        if not isinstance(part, Mapping):
            msg = f"it is {plain(repr(part), 40)}, no object"
            raise NoPartError(msg)
        self.more = part.get("hasNext") is True
        for each in _list(part, "pending"):
            self._pending[str(each.get("id"))] = _path(each)
        if self.parts == 1:
            self._whole = {name: part[name] for name in ("data", "errors") if name in part}
        elif "path" in part:
            self._add(part)
        self._extend(part.get("extensions"))
        for each in _list(part, "incremental"):
            self._add(each)
        for each in _list(part, "completed"):
            self._pending.pop(str(each.get("id")), None)
            self._note(each)
        return self._whole

    def _add(self, part: Mapping[str, Any]) -> None:
        """Put data or items in their place."""
        self._note(part)
        self._extend(part.get("extensions"))
        if part.get("items") is not None:
            self._add_items(part, _list(part, "items", Any))
        elif "data" in part:
            self._add_data(part["data"], self._place(part))

    def _add_data(self, data: Any, place: Sequence[Any]) -> None:
        """Put fields into their object; in the oldest form also one item behind its list."""
        found = self._at(place)
        if isinstance(found, dict) and isinstance(data, Mapping):
            merge(found, data)
            return
        row = self._at(place[:-1]) if place else None
        if isinstance(row, list) and place[-1] == len(row):
            row.append(data)
        elif data is not None:  # null where it failed
            msg = f"it puts fields into {_shown(place)}, which is no object of the answer"
            raise NoPartError(msg)

    def _add_items(self, part: Mapping[str, Any], items: list[Any]) -> None:
        """Put items at the end of their list; in the older form their path ends with where."""
        place, start = self._place(part), None
        if "id" not in part and place:
            *place, start = place
        found = self._at(place)
        if not isinstance(found, list) or (start is not None and start != len(found)):
            msg = f"it puts items into {_shown(place)}, which is no list that they continue"
            raise NoPartError(msg)
        found.extend(items)

    def _place(self, part: Mapping[str, Any]) -> Sequence[Any]:
        """Return where a part belongs."""
        if "id" not in part:
            return _path(part)
        place = self._pending.get(str(part["id"]))
        if place is None:
            msg = f"it is for {plain(repr(part['id']), 40)}, which was not announced as pending"
            raise NoPartError(msg)
        return (*place, *_path(part, "subPath"))

    def _at(self, place: Sequence[Any]) -> Any:
        """Return what stands at a place of the answer; None if there is no such place."""
        found = self._whole.get("data")
        for step in place:
            if isinstance(found, dict):
                found = found.get(step)
            elif isinstance(found, list) and type(step) is int and 0 <= step < len(found):
                found = found[step]
            else:
                return None
        return found

    def _note(self, part: Mapping[str, Any]) -> None:
        """Add the errors of a part to those of the answer."""
        if errors := _list(part, "errors"):
            self._whole["errors"] = [*self._whole.get("errors", ()), *errors]

    def _extend(self, extensions: Any) -> None:
        if isinstance(extensions, Mapping):
            self._whole["extensions"] = {**self._whole.get("extensions", {}), **extensions}


def grown(response: Response, growing: Growing) -> Response:
    """Return a response that holds the answer with this part of it.

    Raises
    ------
    NoPartError
        If the part does not go with those before it.
    """
    try:
        part = load(response.body)
    except JSONError:
        part = None
    if part is None or not (growing.parts or isinstance(part, dict)):
        return response  # what it is instead is said by whoever reads it
    return replace(response, body=dump(growing.feed(part)))


def in_one_piece(response: Response) -> Response:
    """Return a response with its parts put together; any other one as it is.

    Some servers answer ``@defer`` in parts, or anything as events, without being asked to.

    Raises
    ------
    NoPartError
        If they do not go together, or the last one is missing.
    """
    bodies = _split(response)
    if bodies is None:
        return response
    growing, whole, fault = Growing(), b"", "the last one is missing"
    for body in bodies:
        try:
            whole = dump(growing.feed(load(body)))
        except JSONError as error:
            fault = f"one is no JSON ({error})"
            break
        if not growing.more:
            break
    if growing.more:
        raise NoPartError(fault)
    return replace(response, headers={**response.headers, "content-type": JSON}, body=whole)


def take_first_part(response: Response) -> Response:
    """Return a response that holds the first result of its stream; any other one as it is.

    GraphQL Yoga writes why it refuses a subscription as an event, under status 400.
    """
    first = next(iter(_split(response) or ()), None)
    if first is None:
        return response
    return replace(response, headers={**response.headers, "content-type": JSON}, body=first)


def _split(response: Response) -> Iterable[bytes] | None:
    """Return the results in the body of a response that is a stream, or None for another one."""
    media = response.headers.get("content-type", "")
    boundary = boundary_of(media)
    if boundary is not None:
        return Parts(boundary).feed(response.body)
    return _event_data(response.body) if is_events(media) else None


def _event_data(body: bytes) -> Iterator[bytes]:
    """Yield the results in a stream of server-sent events."""
    for event in Reader().feed(body):
        if event.name in ("next", "message") and event.data.strip():
            yield event.data


def is_in_parts(response: Response) -> bool:
    """Return whether a response has, or asks for, a media type of answers in parts.

    GraphQL Yoga answers 406 to ``@defer`` where no such type was accepted.
    """
    media = response.headers.get("content-type", "")
    return response.status == 406 or boundary_of(media) is not None or is_events(media)


def is_about_parts(message: object) -> bool:
    """Return whether a server says that an operation would be answered in parts."""
    return isinstance(message, str) and ABOUT_PARTS.search(message) is not None


def merge(into: dict[str, Any], data: Mapping[str, Any]) -> None:
    """Add fields to an object; objects and lists that both have are added to in turn."""
    for name, value in data.items():
        into[name] = merged(into[name], value) if name in into else value


def merged(old: Any, new: Any) -> Any:
    """Return two values of one field as one."""
    if isinstance(old, dict) and isinstance(new, Mapping):
        merge(old, new)
        return old
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [merged(*both) for both in zip(old, new, strict=True)]
    return new


def _list(part: Mapping[str, Any], name: str, kind: Any = Mapping) -> list[Any]:
    """Return a list of a part; an empty one where it has none."""
    found = part.get(name)
    if found is None:
        return []
    if isinstance(found, list) and (kind is Any or all(isinstance(each, kind) for each in found)):
        return found
    msg = f"its {name!r} is no list" + ("" if kind is Any else " of objects")
    raise NoPartError(msg)


def _path(part: Mapping[str, Any], name: str = "path") -> tuple[Any, ...]:
    """Return a path of a part; the empty one, which is the root, where it has none."""
    return tuple(_list(part, name, Any))


def _shown(place: Sequence[Any]) -> str:
    return plain(".".join(map(str, place)), 120) if place else "the root"

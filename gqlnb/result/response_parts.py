"""Merging of a response that is delivered in parts, for ``@defer`` and ``@stream``.

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

from collections.abc import Mapping, Sequence
from typing import Any

from gqlnb.errors import sanitize_text
from gqlnb.result.answer_notes import merge_extensions

__all__ = ["IncrementalResponse", "InvalidPartError"]


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

    def feed(self, part: object) -> Mapping[str, Any]:
        """Merge the next part.

        Returns
        -------
        Mapping
            The members of the response so far. Later parts do not change them: what is merged is
            copied along its path.

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
        return dict(self._members)

    def _add_part(self, part: Mapping[str, Any]) -> None:
        self._add_errors(part)
        self._add_extensions(part.get("extensions"))
        if part.get("items") is not None:
            self._add_items(part, _get_list(part, "items", Any))
        elif "data" in part:
            self._add_data(part["data"], self._find_place(part))

    def _add_data(self, data: object, place: Sequence[Any]) -> None:
        """Merge fields into their object; in the 2020 form also append an item to its list."""
        target = self._get_value(place)
        if isinstance(target, dict) and isinstance(data, Mapping):
            self._set_value(place, _merge_fields(target, data))
            return
        row = self._get_value(place[:-1]) if place else None
        if isinstance(row, list) and place[-1] == len(row):
            self._set_value(place[:-1], [*row, data])
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
        self._set_value(place, target + items)

    def _find_place(self, part: Mapping[str, Any]) -> Sequence[Any]:
        if "id" not in part:
            return _get_path(part)
        place = self._pending_places.get(str(part["id"]))
        if place is None:
            name = sanitize_text(repr(part["id"]), 40)
            msg = f"it is for {name}, which was not announced as pending"
            raise InvalidPartError(msg)
        return (*place, *_get_path(part, "subPath"))

    def _get_value(self, place: Sequence[Any]) -> Any:  # noqa: ANN401 - a JSON value
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

    def _set_value(self, place: Sequence[Any], value: object) -> None:
        """Set the value at an existing path of the data, in copies of the containers above it."""
        if not place:
            self._members["data"] = value
            return
        above = self._members["data"] = self._members["data"].copy()
        for step in place[:-1]:
            above[step] = above[step].copy()
            above = above[step]
        above[place[-1]] = value

    def _add_errors(self, part: Mapping[str, Any]) -> None:
        if errors := _get_list(part, "errors"):
            self._members["errors"] = [*self._members.get("errors", ()), *errors]

    def _add_extensions(self, extensions: object) -> None:
        if isinstance(extensions, Mapping):
            before = self._members.get("extensions", {})
            self._members["extensions"] = merge_extensions(before, extensions)


def _merge_fields(target: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with more fields; objects and lists in both are merged."""
    merged = dict(target)
    for name, value in data.items():
        merged[name] = _merge_values(merged[name], value) if name in merged else value
    return merged


def _merge_values(old: object, new: object) -> object:
    if isinstance(old, dict) and isinstance(new, Mapping):
        return _merge_fields(old, new)
    # Both lists come from the same field, so items of one index are the same object. Of lists of
    # different lengths that is unknown, and the newer one is taken.
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [_merge_values(*pair) for pair in zip(old, new, strict=True)]
    return new


def _get_list(part: Mapping[str, Any], name: str, kind: type = Mapping) -> list[Any]:
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

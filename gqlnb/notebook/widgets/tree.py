"""JSON data for a tree view: the children of one value at a time, and search."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

from gqlnb.errors import QueryError, sanitize_text
from gqlnb.result.renderer import describe_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["TreeSource"]

LINE = 200  # characters of a value on its line
FEW = 8  # children in the line of a value
CHILDREN = 200  # limit of one message; the front end requests 100
FOUND = 200  # limit of places of one search
COPIED = 2_000_000  # characters of JSON in the clipboard; larger data belong in a file
ENCODER = json.JSONEncoder(ensure_ascii=False, default=describe_value)


# The front end is `tree.js`. A value is addressed by positions instead of keys, because keys of
# mappings may be of any type.
class TreeSource:
    """Answers the messages of a tree view.

    Parameters
    ----------
    data
        Returns the data, which must not change. It is called on the first message, since decoding
        may be slow.
    """

    def __init__(self, data: Callable[[], object]) -> None:
        self._data = data

    def answer(self, message: Mapping[str, object]) -> dict[str, object]:
        """Answer one message of a tree.

        Raises
        ------
        QueryError
            If the value does not exist, or is too large to copy.
        """
        match message:
            case {"ask": "root"}:
                return {"item": {**build_item("", self._data()), "step": ""}}
            case {"ask": "children", "at": list(at), "start": int(start), "end": int(end)}:
                first = max(0, start)
                last = first + min(end - start, CHILDREN)
                pairs = islice(iterate_children(self.get_value(at)), first, last)
                return {"items": [build_item(key, value) for key, value in pairs]}
            case {"ask": "find", "words": str(words)}:
                return find_words(self._data(), words)
            case {"ask": "copy", "at": list(at)}:
                return {"text": to_json(self.get_value(at))}
        msg = "The tree sent an unknown message. Run the cell again."
        raise QueryError(msg)

    def get_value(self, at: Sequence[object]) -> object:
        """Return the value at a path of positions.

        Raises
        ------
        QueryError
            If no such value exists.
        """
        value = self._data()
        for position in at:
            step = isinstance(position, int) and next(
                islice(iterate_children(value), max(0, position), None), None
            )
            if not step:
                msg = "There is no such value in the data. Run the cell again."
                raise QueryError(msg)
            value = step[1]
        return value


def iterate_children(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, (list, tuple)):
        yield from enumerate(value)


def build_item(key: object, value: object) -> dict[str, object]:
    """Return one line of the tree.

    Returns
    -------
    dict
        ``key`` as text; ``step``, its subscript in Python; ``kind`` (:func:`get_kind`); ``text``,
        the beginning of the value; ``size``, the number of children.
    """
    return {
        "key": sanitize_text(key, LINE),
        "step": sanitize_text(f"[{key!r}]", 10 * LINE),
        "kind": get_kind(value),
        "text": format_line(value),
        "size": len(value) if isinstance(value, (dict, list, tuple)) else 0,
    }


def get_kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", dict: "object"}
    return kinds.get(type(value), "array" if isinstance(value, (list, tuple)) else "other")


def format_line(value: object) -> str:
    """Return a leaf as JSON, or the first leaves of an object or array."""
    if isinstance(value, dict):
        pairs = islice(value.items(), FEW)
        shown = ", ".join(
            f"{sanitize_text(key, 40)}: {format_leaf(inner, 40)}" for key, inner in pairs
        )
        return "{" + shown + (", …" if len(value) > FEW else "") + "}"
    if isinstance(value, (list, tuple)):
        few = value[:FEW]
        if any(isinstance(inner, (dict, list, tuple)) for inner in few):
            return ""  # the view shows the size
        shown = ", ".join(format_leaf(inner, 40) for inner in few)
        return f"[{shown}{', …' if len(value) > FEW else ''}]"
    return format_leaf(value, LINE)


def format_leaf(value: object, limit: int) -> str:
    """Return a leaf as JSON, or the brackets of an object or array."""
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[…]" if value else "[]"
    if isinstance(value, str) and len(value) > limit:
        value = value[:limit] + "…"
    try:
        return sanitize_text(ENCODER.encode(value), 2 * limit)
    except ValueError:  # an integer with more digits than Python converts
        return f"<{type(value).__name__}>"


def find_words(data: object, words: str) -> dict[str, object]:
    """Search keys and values for words in any case; return the first places in order."""
    # A loop with a stack: deeply nested data would exceed the recursion limit.
    folded = words.strip().casefold()
    places: list[list[int]] = []
    stack: list[tuple[list[int], Iterator[tuple[object, object]]]] = [([], iterate_children(data))]
    numbers = [0]
    while stack and folded:
        at, left = stack[-1]
        step = next(left, None)
        if step is None:
            stack.pop()
            numbers.pop()
            continue
        here = [*at, numbers[-1]]
        numbers[-1] += 1
        if has_words(step, folded):
            if len(places) == FOUND:
                return {"places": places, "more": True}
            places.append(here)
        if isinstance(step[1], (dict, list, tuple)):
            stack.append((here, iterate_children(step[1])))
            numbers.append(0)
    return {"places": places, "more": False}


def has_words(step: tuple[object, object], folded: str) -> bool:
    key, value = step
    if isinstance(key, str) and folded in key.casefold():
        return True
    if isinstance(value, str):
        return folded in value.casefold()
    return not isinstance(value, (dict, list, tuple)) and folded in format_line(value).casefold()


def to_json(value: object) -> str:
    """Convert a value to JSON."""
    parts = []
    size = 0
    encoder = json.JSONEncoder(ensure_ascii=False, indent=2, default=describe_value)
    for part in encoder.iterencode(value):
        parts.append(part)
        size += len(part)
        if size > COPIED:
            msg = f"This is more than {COPIED:,} characters of JSON, too much to copy."
            raise QueryError(msg)
    return "".join(parts)

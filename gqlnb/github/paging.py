"""Pages of a connection, with GitHub's boundaries, cursors and refusals.

A cursor of a search is ``base64("cursor:N")`` for the N-th item, counted from 1. One of another
connection says what the item is sorted by and its number, ``base64("cursor:v2:" + MessagePack)``:
a walk goes on behind it even where the item has moved or is gone.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from graphql import GraphQLError

from gqlnb.errors import plain
from gqlnb.github.pricing import selected
from gqlnb.github.search import PAGE

__all__ = ["Cursors", "Keyset", "Offsets", "Page", "bounded", "page", "refused"]

_TOO_HEAVY = "Resource limits for this query exceeded."
_OFFSET = re.compile(rb"cursor:(\d{1,9})")
_SECOND = b"cursor:v2:"
_STANDARD = str.maketrans("-_", "+/")


def refused(message: str, kind: str) -> GraphQLError:
    """Return an error with GitHub's word for its kind.

    It stands in ``extensions``, the one place that an exception has for it; in the answers of the
    stand-in it stands where GitHub writes it, beside the message.
    """
    return GraphQLError(message, extensions={"type": kind})


class Cursors(Protocol):
    """What cursors of a connection are like; places are counted from 0."""

    def at(self, place: int) -> str:
        """Return the cursor of the item at a place."""

    def behind(self, text: str) -> int:
        """Return the place behind what a cursor names.

        Raises
        ------
        GraphQLError
            If it is none.
        """

    def ahead(self, text: str) -> int:
        """Return the place of what a cursor names, or where it would stand.

        Raises
        ------
        GraphQLError
            If it is none.
        """


class Offsets:
    """Cursors of a search: the place itself, counted from 1."""

    def at(self, place: int) -> str:
        """Return the cursor of the item at a place."""
        return b64encode(b"cursor:%d" % (place + 1)).decode()

    def behind(self, text: str) -> int:
        """Return the place behind what a cursor names."""
        try:
            match = _OFFSET.fullmatch(b64decode(text, validate=True))
        except ValueError:  # also what binascii raises
            match = None
        if match is None:
            raise _no_cursor(text)
        return int(match[1])

    def ahead(self, text: str) -> int:
        """Return the place of what a cursor names."""
        return self.behind(text) - 1


@dataclass(frozen=True, slots=True)
class Keyset:
    """Cursors that name what their items are sorted by.

    Attributes
    ----------
    key
        Returns the key of the item at a place; no two are equal.
    size
        How many items there are.
    kind
        The type of a key, such as ``tuple[str, int]``.
    descending
        Whether the largest key stands first.
    """

    key: Callable[[int], tuple[Any, ...]]
    size: int
    kind: Any
    descending: bool = False

    def at(self, place: int) -> str:
        """Return the cursor of the item at a place."""
        return urlsafe_b64encode(_SECOND + msgspec.msgpack.encode(self.key(place))).decode()

    def behind(self, text: str) -> int:
        """Return the place behind what a cursor names, or where it would stand."""
        given = self._read(text)
        if self.descending:
            return self.size - bisect_left(range(self.size), given, key=self._rising)
        return bisect_right(range(self.size), given, key=self.key)

    def ahead(self, text: str) -> int:
        """Return the place of what a cursor names, or where it would stand."""
        given = self._read(text)
        if self.descending:
            return self.size - bisect_right(range(self.size), given, key=self._rising)
        return bisect_left(range(self.size), given, key=self.key)

    def _rising(self, place: int) -> tuple[Any, ...]:
        return self.key(self.size - 1 - place)

    def _read(self, text: str) -> tuple[Any, ...]:
        """Return the key of a cursor; GitHub's are of the alphabet for addresses, now and then."""
        padded = text.translate(_STANDARD) + "=" * (-len(text) % 4)
        try:
            raw = b64decode(padded, validate=True)
            if raw.startswith(_SECOND):
                found: tuple[Any, ...] = msgspec.msgpack.decode(
                    raw.removeprefix(_SECOND), type=self.kind
                )
                return found
        except (ValueError, msgspec.DecodeError):
            pass
        raise _no_cursor(text)


def _no_cursor(text: str) -> GraphQLError:
    message = f"`{plain(text, 80)}` does not appear to be a valid cursor."
    return refused(message, "INVALID_CURSOR_ARGUMENTS")


_OFFSETS = Offsets()


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a connection.

    Attributes
    ----------
    name
        The field of the connection, for messages.
    items
        All that can be reached by paging.
    start, stop
        The page is ``items[start:stop]``; None where neither `first` nor `last` was given.
    total
        How many there are, also beyond reach.
    shown
        Which item stands at each place of the page, None for one that is missing; None where each
        stands at its own.
    most
        How many nodes there is strength for; the others are errors. None for all.
    cursors
        What their cursors are like.
    """

    name: str
    items: Sequence[Any]
    start: int | None
    stop: int
    total: int
    shown: Sequence[int | None] | None = None
    most: int | None = None
    cursors: Cursors = _OFFSETS

    @property
    def nodes(self) -> Sequence[Any]:
        """The items of this page.

        Raises
        ------
        GraphQLError
            If neither `first` nor `last` was given; counts alone need none.
        """
        if self.start is not None and self.shown is None and self.most is None:
            return tuple(self.items[self.start : self.stop])
        return tuple(node for _, node in self._placed())

    @property
    def edges(self) -> list[dict[str, Any]]:
        """The items of this page, each with its cursor."""
        return [{"cursor": self.cursors.at(place), "node": node} for place, node in self._placed()]

    def _placed(self) -> Iterator[tuple[int, Any]]:
        """Yield the items of this page with their places, counted from 0."""
        if self.start is None:
            raise _boundless(self.name)
        places = range(self.start, self.stop)
        for number, place in enumerate(places):
            item = place if self.shown is None else self.shown[number]
            if self.most is not None and number >= self.most:
                yield place, refused(_TOO_HEAVY, "RESOURCE_LIMITS_EXCEEDED")
            elif item is not None:
                yield place, self.items[item]

    @property
    def info(self) -> dict[str, Any]:
        """Where this page lies."""
        start, stop = self.start or 0, self.stop
        asked, filled = self.start is not None, stop > start
        return {
            "startCursor": self.cursors.at(start) if filled else None,
            "endCursor": self.cursors.at(stop - 1) if filled else None,
            "hasNextPage": asked and stop < len(self.items),
            "hasPreviousPage": asked and start > 0,
        }


def page(
    name: str,
    items: Sequence[Any],
    args: Mapping[str, Any],
    *,
    total: int | None = None,
    cursors: Cursors = _OFFSETS,
) -> Page:
    """Return the page of `items` that the arguments ask for.

    Parameters
    ----------
    name
        The field of the connection, for messages.
    items
        All that can be reached by paging.
    args
        ``first`` or ``last``, not both, 0 to 100; ``after`` and ``before``, cursors, both
        excluded.
    total
        How many there are; by default the number of items.
    cursors
        What cursors are like; by default, as in a search.

    Raises
    ------
    GraphQLError
        If a boundary is out of range, both are given, or a cursor is none.
    """
    first, last = _size(name, "first", args), _size(name, "last", args)
    if first is not None and last is not None:
        message = f"Passing both `first` and `last` to the `{name}` connection is not supported."
        raise refused(message, "UNPROCESSABLE")
    after, before = args.get("after"), args.get("before")
    start = 0 if after is None else min(cursors.behind(after), len(items))
    stop = len(items) if before is None else min(cursors.ahead(before), len(items))
    stop = max(start, stop)
    count = len(items) if total is None else total
    if first is not None:
        return Page(name, items, start, min(stop, start + first), count, cursors=cursors)
    if last is not None:
        return Page(name, items, max(start, stop - last), stop, count, cursors=cursors)
    return Page(name, items, None, 0, count)


def bounded(name: str, resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Return a resolver of a connection that refuses it, where items are asked without a boundary.

    Parameters
    ----------
    name
        The field of the connection, for messages.
    resolve
        Called as ``resolve(root, args, context)`` where `first` or `last` is given, or nothing
        but counts is asked.

    Returns
    -------
    function
        A resolver as graphql-core calls it: the refusal is about the connection, so that GitHub
        makes the connection null and not its items, and that needs a look at what is asked of it.
    """

    def resolver(root: Any, info: Any, /, **args: Any) -> Any:
        if args.get("first") is None and args.get("last") is None:
            sets = [field.selection_set for field in info.field_nodes if field.selection_set]
            given = info.variable_values  # graphql-core 3.3 holds them beside their sources
            asked = selected(sets, info.fragments, getattr(given, "coerced", given))
            if any(field.name.value in {"edges", "nodes"} for field in asked):
                raise _boundless(name)
        return resolve(root, args, info.context)

    return resolver


def _boundless(name: str) -> GraphQLError:
    message = (
        f"You must provide a `first` or `last` value to properly paginate the `{name}` connection."
    )
    return refused(message, "MISSING_PAGINATION_BOUNDARIES")


def _size(name: str, word: str, args: Mapping[str, Any]) -> int | None:
    """Return `first` or `last`, None if it was not given."""
    size: int | None = args.get(word)
    if size is not None and size > PAGE:
        message = (
            f"Requesting {size} records on the `{name}` connection exceeds the `{word}` limit "
            f"of {PAGE} records."
        )
        raise refused(message, "EXCESSIVE_PAGINATION")
    if size is not None and size < 0:
        message = f"`{word}` on the `{name}` connection is less than zero."
        raise refused(message, "UNPROCESSABLE")
    return size

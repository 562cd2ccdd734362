"""Pages of connections, with GitHub's boundaries and cursors.

A cursor of a search is ``base64("cursor:N")`` for the N-th item, counted from 1. A cursor of
another connection holds the sort key of its item and the item's number,
``base64("cursor:v2:" + MessagePack)``, so that paging continues behind it even if the item has
moved or is gone.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from graphql import GraphQLError

from gqlnb.errors import sanitize_text
from gqlnb.github.query_cost import iter_fields
from gqlnb.github.search_syntax import MAX_PAGE_SIZE

_RESOURCES_EXCEEDED = "Resource limits for this query exceeded."
_OFFSET_PATTERN = re.compile(rb"cursor:(\d{1,9})")
_KEYSET_PREFIX = b"cursor:v2:"
Resolver = Callable[..., Any]  # (root, args, context); what a field may be is in the SDL
_STANDARD_ALPHABET = str.maketrans("-_", "+/")


def make_github_error(message: str, kind: str) -> GraphQLError:
    """Return an error of one of GitHub's types."""
    # An exception can hold the type only in `extensions`; the schema's results have it beside the
    # message, where GitHub writes it.
    return GraphQLError(message, extensions={"type": kind})


class OffsetCursors:
    """Cursors of a search: the place itself, counted from 1; places are counted from 0.

    An invalid cursor raises GraphQLError, as with :class:`KeysetCursors`.
    """

    def encode_cursors(self, places: Sequence[int]) -> list[str]:
        """Return the cursors of the items at some places."""
        return [b64encode(b"cursor:%d" % (place + 1)).decode() for place in places]

    def find_after(self, text: str) -> int:
        """Return the place behind the item of a cursor."""
        try:
            match = _OFFSET_PATTERN.fullmatch(b64decode(text, validate=True))
        except ValueError:  # binascii.Error is one
            match = None
        if match is None:
            raise _make_cursor_error(text)
        return int(match[1])

    def find_before(self, text: str) -> int:
        """Return the place of the item of a cursor."""
        return self.find_after(text) - 1


@dataclass(frozen=True, slots=True)
class KeysetCursors:
    """Cursors that hold the sort key of their items.

    Attributes
    ----------
    get_key
        Returns the unique key of the item at a place.
    size
        The number of items.
    key_type
        The type of a key, such as ``tuple[str, int]``.
    descending
        Whether the largest key comes first.
    """

    get_key: Callable[[int], tuple[Any, ...]]
    size: int
    key_type: Any
    descending: bool = False

    def encode_cursors(self, places: Sequence[int]) -> list[str]:
        """Return the cursors of the items at some places."""
        keys = [_KEYSET_PREFIX + msgspec.msgpack.encode(self.get_key(place)) for place in places]
        return [urlsafe_b64encode(key).decode() for key in keys]

    def find_after(self, text: str) -> int:
        """Return the place behind a cursor, also if its item is gone."""
        key = self._decode_cursor(text)
        # bisect needs ascending keys: those of a descending list are read from its end.
        if self.descending:
            return self.size - bisect_left(range(self.size), key, key=self._get_ascending_key)
        return bisect_right(range(self.size), key, key=self.get_key)

    def find_before(self, text: str) -> int:
        """Return the place of a cursor, also if its item is gone."""
        key = self._decode_cursor(text)
        if self.descending:
            return self.size - bisect_right(range(self.size), key, key=self._get_ascending_key)
        return bisect_left(range(self.size), key, key=self.get_key)

    def _get_ascending_key(self, place: int) -> tuple[Any, ...]:
        return self.get_key(self.size - 1 - place)

    def _decode_cursor(self, text: str) -> tuple[Any, ...]:
        # GitHub's cursors are in the URL-safe alphabet now and then, so both are read.
        padded = text.translate(_STANDARD_ALPHABET) + "=" * (-len(text) % 4)
        try:
            raw = b64decode(padded, validate=True)
            if raw.startswith(_KEYSET_PREFIX):
                key: tuple[Any, ...] = msgspec.msgpack.decode(
                    raw.removeprefix(_KEYSET_PREFIX), type=self.key_type
                )
                return key
        except (ValueError, msgspec.DecodeError):
            pass
        raise _make_cursor_error(text)


# GitHub's answer, as recorded. Plain graphql-ruby has cursors of its own (MQ for the first item),
# takes "" and Base64 of no number for the beginning, without an error, and `first: -1` for 0.
def _make_cursor_error(text: str) -> GraphQLError:
    message = f"`{sanitize_text(text, 80)}` does not appear to be a valid cursor."
    return make_github_error(message, "INVALID_CURSOR_ARGUMENTS")


CursorCodec = OffsetCursors | KeysetCursors
_OFFSET_CURSORS = OffsetCursors()


@dataclass(frozen=True, slots=True)
class ConnectionPage:
    """A page of a connection.

    Attributes
    ----------
    name
        The field of the connection, for messages.
    items
        All items that can be reached by paging.
    start, stop
        The page is ``items[start:stop]``; `start` is None where neither `first` nor `last` was
        given.
    total
        The number of all items, also beyond reach.
    shown_items
        The number of the item at each place of the page, None for a missing one; None where each
        item is at its own place.
    max_nodes
        The number of nodes within the resource limits; the others are errors. None for all.
    cursors
        The codec of the cursors.
    kind
        The type of the search that found the items.
    """

    name: str
    items: Sequence[Any]
    start: int | None
    stop: int
    total: int
    shown_items: Sequence[int | None] | None = None
    max_nodes: int | None = None
    cursors: CursorCodec = _OFFSET_CURSORS
    kind: str = "REPOSITORY"

    @property
    def nodes(self) -> tuple[Any, ...]:
        """The items of this page.

        Raises
        ------
        GraphQLError
            If neither `first` nor `last` was given; counts alone need neither.
        """
        return self._select_items()[1]

    @property
    def edges(self) -> list[dict[str, Any]]:
        """The items of this page, each with its cursor.

        Raises
        ------
        GraphQLError
            If neither `first` nor `last` was given.
        """
        places, nodes = self._select_items()
        cursors = self.cursors.encode_cursors(places)
        return [{"cursor": c, "node": node} for c, node in zip(cursors, nodes, strict=True)]

    def _select_items(self) -> tuple[Sequence[int], tuple[Any, ...]]:
        """Return the places of this page, counted from 0, and their items."""
        if self.start is None:
            raise make_boundary_error(self.name)
        places = range(self.start, self.stop)
        # A slice builds its rows column by column, much faster than one after the other.
        if self.shown_items is None and self.max_nodes is None:
            return places, tuple(self.items[self.start : self.stop])
        shown: list[tuple[int, Any]] = []
        for number, place in enumerate(places):
            item = place if self.shown_items is None else self.shown_items[number]
            if self.max_nodes is not None and number >= self.max_nodes:
                error = make_github_error(_RESOURCES_EXCEEDED, "RESOURCE_LIMITS_EXCEEDED")
                shown.append((place, error))
            elif item is not None:
                shown.append((place, self.items[item]))
        return [place for place, _ in shown], tuple(item for _, item in shown)

    @property
    def page_info(self) -> dict[str, Any]:
        """The fields of ``PageInfo``."""
        start, stop = self.start or 0, self.stop
        is_bounded = self.start is not None
        ends: Sequence[str | None] = (None, None)
        if stop > start:
            ends = self.cursors.encode_cursors([start, stop - 1])
        return {
            "startCursor": ends[0],
            "endCursor": ends[1],
            "hasNextPage": is_bounded and stop < len(self.items),
            "hasPreviousPage": is_bounded and start > 0,
        }


def build_page(
    name: str,
    items: Sequence[Any],
    args: Mapping[str, Any],
    *,
    total: int | None = None,
    cursors: CursorCodec = _OFFSET_CURSORS,
) -> ConnectionPage:
    """Return the page of `items` that the arguments ask for.

    Parameters
    ----------
    name
        The field of the connection, for messages.
    items
        All items that can be reached by paging.
    args
        ``first`` or ``last``, not both, 0 to 100; ``after`` and ``before``, cursors, both
        excluded.
    total
        The number of all items; by default that of `items`.
    cursors
        The codec of the cursors; by default that of a search.

    Returns
    -------
    ConnectionPage
        The page, without the faults of a simulation.

    Raises
    ------
    GraphQLError
        If a boundary is out of range, both are given, or a cursor is not valid.
    """
    first, last = _parse_page_size(name, "first", args), _parse_page_size(name, "last", args)
    if first is not None and last is not None:
        message = f"Passing both `first` and `last` to the `{name}` connection is not supported."
        raise make_github_error(message, "UNPROCESSABLE")
    after, before = args.get("after"), args.get("before")
    start = 0 if after is None else min(cursors.find_after(after), len(items))
    stop = len(items) if before is None else min(cursors.find_before(before), len(items))
    stop = max(start, stop)
    count = len(items) if total is None else total
    # `first` counts from the lower cursor and `last` from the upper one (Relay, "Pagination
    # algorithm").
    if first is not None:
        return ConnectionPage(name, items, start, min(stop, start + first), count, cursors=cursors)
    if last is not None:
        return ConnectionPage(name, items, max(start, stop - last), stop, count, cursors=cursors)
    return ConnectionPage(name, items, None, 0, count)


def require_boundary(name: str, resolve: Resolver) -> Callable[..., Any]:
    """Return a resolver that refuses to list the items of a connection without a boundary.

    Parameters
    ----------
    name
        The field of the connection, for messages.
    resolve
        Called as ``resolve(root, args, context)`` where `first` or `last` is given, or only counts
        are selected.

    Returns
    -------
    function
        A resolver in graphql-core's convention, with ``info``. GitHub makes the connection null and
        not its items, so the refusal has to see the selection of the connection.
    """

    def resolve_bounded(root: Any, info: Any, /, **args: Any) -> Any:
        if args.get("first") is None and args.get("last") is None:
            sets = [field.selection_set for field in info.field_nodes if field.selection_set]
            values = info.variable_values  # graphql-core 3.3 wraps them with their sources
            fields = iter_fields(sets, info.fragments, getattr(values, "coerced", values))
            if any(field.name.value in {"edges", "nodes"} for field in fields):
                raise make_boundary_error(name)
        return resolve(root, args, info.context)

    return resolve_bounded


def make_boundary_error(name: str) -> GraphQLError:
    """Return the error for a connection that is selected without a page size."""
    message = (
        f"You must provide a `first` or `last` value to properly paginate the `{name}` connection."
    )
    return make_github_error(message, "MISSING_PAGINATION_BOUNDARIES")


def _parse_page_size(name: str, word: str, args: Mapping[str, Any]) -> int | None:
    size: int | None = args.get(word)
    if size is not None and size > MAX_PAGE_SIZE:
        message = (
            f"Requesting {size} records on the `{name}` connection exceeds the `{word}` limit "
            f"of {MAX_PAGE_SIZE} records."
        )
        raise make_github_error(message, "EXCESSIVE_PAGINATION")
    if size is not None and size < 0:
        message = f"`{word}` on the `{name}` connection is less than zero."
        raise make_github_error(message, "UNPROCESSABLE")
    return size

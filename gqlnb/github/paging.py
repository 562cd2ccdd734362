"""Pages of a connection, with GitHub's boundaries, cursors and refusals.

A cursor is ``base64("cursor:N")`` for the N-th item, counted from 1, as GitHub's searches have it
(its other connections have opaque ones; here all are alike).
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLError

from gqlnb.errors import plain
from gqlnb.github.pricing import selected
from gqlnb.github.search import PAGE

__all__ = ["Page", "bounded", "page", "refused"]

_TOO_HEAVY = "Resource limits for this query exceeded."
_CURSOR = re.compile(rb"cursor:(\d{1,9})")


def refused(kind: str, message: str) -> GraphQLError:
    """Return an error with GitHub's word for its kind.

    It stands in ``extensions``, the one place that an exception has for it; in the answers of the
    stand-in it stands where GitHub writes it, beside the message.
    """
    return GraphQLError(message, extensions={"type": kind})


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
    """

    name: str
    items: Sequence[Any]
    start: int | None
    stop: int
    total: int
    shown: Sequence[int | None] | None = None
    most: int | None = None

    @property
    def nodes(self) -> Sequence[Any]:
        """The items of this page.

        Raises
        ------
        GraphQLError
            If neither `first` nor `last` was given; counts alone need none.
        """
        return tuple(node for _, node in self._placed())

    @property
    def edges(self) -> list[dict[str, Any]]:
        """The items of this page, each with its cursor."""
        return [{"cursor": cursor(place), "node": node} for place, node in self._placed()]

    def _placed(self) -> Iterator[tuple[int, Any]]:
        """Yield the items of this page with their places, counted from 1."""
        if self.start is None:
            raise _boundless(self.name)
        places = range(self.start, self.stop)
        for number, place in enumerate(places):
            item = place if self.shown is None else self.shown[number]
            if self.most is not None and number >= self.most:
                yield place + 1, refused("RESOURCE_LIMITS_EXCEEDED", _TOO_HEAVY)
            elif item is not None:
                yield place + 1, self.items[item]

    @property
    def info(self) -> dict[str, Any]:
        """Where this page lies."""
        start, stop = self.start or 0, self.stop
        asked, filled = self.start is not None, stop > start
        return {
            "startCursor": cursor(start + 1) if filled else None,
            "endCursor": cursor(stop) if filled else None,
            "hasNextPage": asked and stop < len(self.items),
            "hasPreviousPage": asked and start > 0,
        }


def page(
    name: str, items: Sequence[Any], args: Mapping[str, Any], *, total: int | None = None
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

    Raises
    ------
    GraphQLError
        If a boundary is out of range, both are given, or a cursor is none.
    """
    first, last = _size(name, "first", args), _size(name, "last", args)
    if first is not None and last is not None:
        msg = "UNPROCESSABLE"
        raise refused(
            msg,
            f"Passing both `first` and `last` to the `{name}` connection is not supported.",
        )
    start = min(_place(args.get("after"), 0), len(items))
    stop = max(start, min(_place(args.get("before"), len(items) + 1) - 1, len(items)))
    count = len(items) if total is None else total
    if first is not None:
        return Page(name, items, start, min(stop, start + first), count)
    if last is not None:
        return Page(name, items, max(start, stop - last), stop, count)
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
    return refused(
        "MISSING_PAGINATION_BOUNDARIES",
        f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.",
    )


def cursor(place: int) -> str:
    """Return the cursor of the item at `place`, counted from 1."""
    return b64encode(b"cursor:%d" % place).decode()


def _place(text: str | None, default: int) -> int:
    """Return the place a cursor names, `default` for None."""
    if text is None:
        return default
    try:
        match = _CURSOR.fullmatch(b64decode(text, validate=True))
    except ValueError:  # also what binascii raises
        match = None
    if match is None:
        msg = "INVALID_CURSOR_ARGUMENTS"
        raise refused(msg, f"`{plain(text, 80)}` does not appear to be a valid cursor.")
    return int(match[1])


def _size(name: str, word: str, args: Mapping[str, Any]) -> int | None:
    """Return `first` or `last`, None if it was not given."""
    size: int | None = args.get(word)
    if size is not None and size > PAGE:
        msg = "EXCESSIVE_PAGINATION"
        raise refused(
            msg,
            f"Requesting {size} records on the `{name}` connection exceeds the `{word}` limit "
            f"of {PAGE} records.",
        )
    if size is not None and size < 0:
        msg = "UNPROCESSABLE"
        raise refused(msg, f"`{word}` on the `{name}` connection is less than zero.")
    return size

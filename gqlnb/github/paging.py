"""Pages of a connection, with GitHub's boundaries, cursors and refusals.

A cursor is ``base64("cursor:N")`` for the N-th item, counted from 1, as GitHub's searches have it
(its other connections have opaque ones; here all are alike).
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLError

from gqlnb.errors import plain
from gqlnb.github.search import PAGE

__all__ = ["Page", "page", "refused"]

_CURSOR = re.compile(rb"cursor:(\d{1,9})")


def refused(kind: str, message: str) -> GraphQLError:
    """Return an error with GitHub's word for its kind.

    GitHub writes the word beside the message, as a member ``type``; the specification of GraphQL
    leaves ``extensions`` for such members, so there it stands: ``extensions: {"type": kind}``.
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
    """

    name: str
    items: Sequence[Any]
    start: int | None
    stop: int
    total: int

    @property
    def nodes(self) -> Sequence[Any]:
        """The items of this page.

        Raises
        ------
        GraphQLError
            If neither `first` nor `last` was given; counts alone need none.
        """
        if self.start is None:
            msg = "MISSING_PAGINATION_BOUNDARIES"
            raise refused(
                msg,
                "You must provide a `first` or `last` value to properly paginate "
                f"the `{self.name}` connection.",
            )
        return self.items[self.start : self.stop]

    @property
    def edges(self) -> list[dict[str, Any]]:
        """The items of this page, each with its cursor."""
        return [
            {"cursor": cursor(place), "node": node}
            for place, node in enumerate(self.nodes, (self.start or 0) + 1)
        ]

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
            f"Requesting {size:,} records on the `{name}` connection exceeds the `{word}` limit "
            f"of {PAGE} records.",
        )
    if size is not None and size < 0:
        msg = "UNPROCESSABLE"
        raise refused(msg, f"`{word}` on the `{name}` connection is less than zero.")
    return size

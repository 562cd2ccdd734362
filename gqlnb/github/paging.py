"""Pages of a connection, with GitHub's boundaries, cursors and refusals.

A cursor is ``base64("cursor:N")`` for the N-th item, counted from 1, as GitHub's searches have it
(its other connections have opaque ones; here all are alike).
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLIncludeDirective,
    GraphQLSkipDirective,
    get_directive_values,
)

from gqlnb.errors import plain
from gqlnb.github.search import PAGE

if TYPE_CHECKING:
    from graphql import SelectionSetNode

__all__ = ["Page", "bounded", "page", "refused"]

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
            raise _boundless(self.name)
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
            asked = (field.selection_set for field in info.field_nodes)
            if any(_asks_items(selections, info, set()) for selections in asked):
                raise _boundless(name)
        return resolve(root, args, info.context)

    return resolver


def _boundless(name: str) -> GraphQLError:
    return refused(
        "MISSING_PAGINATION_BOUNDARIES",
        f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.",
    )


def _asks_items(selections: SelectionSetNode | None, info: Any, seen: set[str]) -> bool:
    """Tell whether `nodes` or `edges` are asked, in a fragment too."""
    for node in _included(selections, info):
        if isinstance(node, FieldNode):
            if node.name.value in {"edges", "nodes"}:
                return True
            continue
        inner = node
        if isinstance(node, FragmentSpreadNode):
            if node.name.value in seen:
                continue
            seen.add(node.name.value)
            inner = info.fragments[node.name.value]
        if _asks_items(inner.selection_set, info, seen):
            return True
    return False


def _included(selections: SelectionSetNode | None, info: Any) -> Iterator[Any]:
    """Yield the selections that are neither skipped nor left out."""
    for node in selections.selections if selections else ():
        skip = get_directive_values(GraphQLSkipDirective, node, info.variable_values)
        include = get_directive_values(GraphQLIncludeDirective, node, info.variable_values)
        if not (skip and skip["if"]) and (include is None or include["if"]):
            yield node


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

"""Pages of lists of known length: which places the arguments name, and what a page says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, GraphQLObjectType, get_named_type, get_nullable_type
from graphql.type import is_list_type, is_object_type

from gqlnb.engine.mocking.objects import Item
from gqlnb.errors import plain

if TYPE_CHECKING:
    from gqlnb.engine.mocking.objects import Kind

__all__ = ["LIMITS", "OFFSETS", "ORDERING", "PAGING", "Page", "node_type", "part", "places"]

LIMITS = ("first", "limit", "take")
OFFSETS = ("offset", "skip")
PAGING = frozenset({*LIMITS, *OFFSETS, "last", "after", "before"})
ORDERING = frozenset({"orderby", "order", "sort", "sortby", "direction", "orderdirection"})
COUNTS = frozenset({"totalCount", "total_count", "total", "count"})
MARK = "cursor:"


def node_type(kind: Any) -> Any:
    """Return the type of the items of a connection; None for what is none.

    A connection is an object type with ``edges`` that have a ``node``, or ``nodes``, beside
    ``pageInfo``.
    """
    if not is_object_type(kind) or "pageInfo" not in kind.fields:
        return None
    found = [items(kind, "nodes"), edge(items(kind, "edges"))]
    kinds = [inner for inner in found if inner is not None]
    if not kinds or len({get_named_type(inner).name for inner in kinds}) > 1:
        return None
    return kinds[0]


def items(kind: GraphQLObjectType, name: str) -> Any:
    """Return the type of the items of a list field, without null; None if it is no list."""
    field = kind.fields.get(name)
    type_: Any = get_nullable_type(field.type) if field else None
    return get_nullable_type(type_.of_type) if is_list_type(type_) else None


def edge(kind: Any) -> Any:
    """Return the type of the node of an edge; None for what is no edge."""
    if not is_object_type(kind) or "node" not in kind.fields:
        return None
    type_ = get_nullable_type(kind.fields["node"].type)
    return None if is_list_type(type_) else type_


def places(total: int, arguments: Mapping[str, Any], field: str) -> range:
    """Return the places of a page in a list.

    Parameters
    ----------
    total
        Its length.
    arguments
        Those of the field: ``first``, ``after``, ``last``, ``before``, ``limit``, ``offset`` and
        what they are called elsewhere.
    field
        Its name, for the error.

    Raises
    ------
    GraphQLError
        If a number is negative, or a cursor is none of ours.

    Notes
    -----
    Source: "GraphQL Cursor Connections Specification", 4.4, Pagination algorithm.
    """
    chosen = range(total)
    for name in OFFSETS:
        chosen = chosen[_count(arguments.get(name), name, field) or 0 :]
    after, before = (_place(arguments.get(name), field) for name in ("after", "before"))
    start = chosen.start if after is None else max(chosen.start, after + 1)
    stop = chosen.stop if before is None else min(chosen.stop, before)
    chosen = range(start, max(start, stop))
    for name in LIMITS:
        chosen = chosen[: _count(arguments.get(name), name, field)]
    last = _count(arguments.get("last"), "last", field)
    return chosen if last is None else chosen[max(0, len(chosen) - last) :]


def _count(given: Any, name: str, field: str) -> int | None:
    """Return a number of items, None if it is not said or is no number."""
    if not isinstance(given, int) or isinstance(given, bool):
        return None
    if given >= 0:
        return given
    msg = f"'{name}' of '{field}' is 0 or more; got {given:,}."
    raise GraphQLError(msg)


def _place(cursor: Any, field: str) -> int | None:
    """Return the place that a cursor names, None if there is none."""
    if cursor is None or not isinstance(cursor, (str, int)):
        return None
    digits = str(cursor).removeprefix(MARK)
    if digits.isascii() and digits.isdecimal() and len(digits) < 10:
        return int(digits)
    msg = f"{plain(cursor, 80)!r} is no cursor of '{field}'. Take one from its last answer."
    raise GraphQLError(msg)


class Page:
    """What a connection shows of its list.

    Parameters
    ----------
    total
        Items of the whole list.
    shown
        Places of those on the page.
    item
        Makes the item at a place.
    """

    __slots__ = ("item", "shown", "total")

    def __init__(self, total: int, shown: range, item: Callable[[int], Any]) -> None:
        self.total, self.shown, self.item = total, shown, item

    def nodes(self) -> list[Any]:
        """Return the items."""
        return [self.item(place) for place in self.shown]

    def info(self) -> dict[str, Any]:
        """Return what ``pageInfo`` says."""
        shown = self.shown
        return {
            "hasPreviousPage": shown.start > 0 and self.total > 0,
            "hasNextPage": shown.stop < self.total,
            "startCursor": shown.start if shown else None,
            "endCursor": shown.stop - 1 if shown else None,
        }


def part(kind: Kind, name: str, kinds: Callable[[Any], Kind]) -> Callable[[Page, Item], Any] | None:
    """Return what makes a part of a connection of its page; None for a field that is no part."""
    type_ = get_nullable_type(kind.type.fields[name].type)
    inner: Any = get_named_type(type_)
    if name in COUNTS and inner.name == "Int" and not is_list_type(type_):
        return lambda page, _item: page.total
    if name == "nodes" and is_list_type(type_):
        return lambda page, _item: page.nodes()
    if not is_object_type(inner):
        return None
    if name == "edges" and is_list_type(type_) and "node" in inner.fields:
        return edges(inner, kinds(inner))
    if name == "pageInfo" and not is_list_type(type_):
        known = kinds(inner)
        return lambda page, item: Item(known, item.key ^ known.salt, spelled(inner, page.info()))
    return None


def edges(inner: GraphQLObjectType, kind: Kind) -> Callable[[Page, Item], Any]:
    """Return what makes the edges of a page."""

    def made(page: Page, item: Item) -> list[Item]:
        found = []
        for place in page.shown:
            edge = kind.numbered(item.key, place)
            parts = {**spelled(inner, {"cursor": place}), "node": page.item(place)}
            edge.known = {**edge.known, **parts} if edge.known else parts
            found.append(edge)
        return found

    return made


def spelled(kind: GraphQLObjectType, values: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a page that a type has, cursors in the form of their type."""
    made = {}
    for name, value in values.items():
        if name not in kind.fields:
            continue
        whole = get_named_type(kind.fields[name].type).name == "Int"
        number = isinstance(value, int) and not isinstance(value, bool)
        made[name] = f"{MARK}{value}" if number and not whole else value
    return made

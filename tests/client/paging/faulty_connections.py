"""Faulty implementations of a connection, and a transport that fails on request.

`FAULTS` names the faults. Each serves the items 0 to 24 under ``Query.items``, with three parts of
each item that are served correctly; it also states which items a careful client can get, and
whether the client can know that these are all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from gqlnb import Client, Schema, TransportError
from gqlnb.client.transports import InProcessTransport
from gqlnb.http.messages import Response

if TYPE_CHECKING:
    from gqlnb.http.messages import Request

__all__ = ["FAULTS", "QUERY", "SIZE", "TOTAL", "Failing", "Fault", "Items", "faulty", "ids"]

TOTAL, SIZE = 25, 5
PARTS = 3
QUERY = (
    f"{{ items(first: {SIZE}) "
    "{ totalCount nodes { id n } pageInfo { hasNextPage endCursor } } }"
)
NESTED = (
    f"{{ items(first: {SIZE}) "
    "{ totalCount nodes { id n parts(first: 2) { nodes { id } } } } }"
)
SDL = """
type Query {
  items(first: Int, after: String): Items!
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
}
interface Node { id: ID! }
type Item implements Node { id: ID! n: Int! parts(first: Int, after: String): Parts! }
type Part implements Node { id: ID! }
type Items { totalCount: Int! nodes: [Item] edges: [ItemEdge] pageInfo: PageInfo! }
type ItemEdge { cursor: String! node: Item }
type Parts { totalCount: Int! nodes: [Part] pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
"""
Page = dict[str, Any]
# Given a right page, the place it begins at, and how often the connection was asked.
Spoil = Callable[["Items", Page, int, int], Page]


@dataclass(slots=True)
class Items:
    """The items of one connection, and how they are served.

    Attributes
    ----------
    spoil
        Makes a page wrong.
    numbers
        The items there are, in their order; a fault may change them.
    asked
        How often pages were asked for.
    sizes
        How many items each page was asked for.
    """

    spoil: Spoil
    numbers: list[int] = field(default_factory=lambda: list(range(TOTAL)))
    asked: int = 0
    sizes: list[int] = field(default_factory=list)

    def page(self, first: int | None, after: str | None) -> Page:
        """Return a page of the items."""
        self.asked += 1
        first = TOTAL if first is None else first
        self.sizes.append(first)
        begin = int(after.rpartition(":")[2]) if after else 0
        right = self.right(begin, first)
        return self.spoil(self, right, begin, first)

    def right(self, begin: int, first: int) -> Page:
        """Return a correct page."""
        return page(
            [item(n) for n in self.numbers[begin : begin + first]], begin, len(self.numbers)
        )


def page(nodes: list[Any], begin: int, total: int) -> Page:
    """Return a page of a connection."""
    end = begin + len(nodes)
    edges = [{"cursor": f"c:{begin + n + 1}", "node": node} for n, node in enumerate(nodes)]
    info = {"hasNextPage": end < total, "endCursor": f"c:{end}" if nodes else None}
    return {"totalCount": total, "nodes": nodes, "edges": edges, "pageInfo": info}


def item(number: int) -> dict[str, Any]:
    """Return an item."""
    return {"__typename": "Item", "id": f"item-{number}", "n": number}


# -- the faults


def spoil_info(start: int, **changes: Any) -> Spoil:
    """Return a fault of the page info, which is wrong from a place on."""
    return lambda _items, good, begin, _first: (
        good if begin < start else good | {"pageInfo": good["pageInfo"] | changes}
    )


def empty_pages(items: Items, good: Page, _begin: int, _first: int) -> Page:
    """Return empty pages without end after the last item, each with a new cursor."""
    if good["pageInfo"]["hasNextPage"]:
        return good
    info = {"hasNextPage": True, "endCursor": f"beyond-{items.asked}:{TOTAL}"}
    return good | {"pageInfo": info}


def shrinks(items: Items, good: Page, _begin: int, _first: int) -> Page:
    """Remove the last item after each page."""
    if len(items.numbers) > TOTAL - 3:
        items.numbers.pop()
    return good


def grows(items: Items, good: Page, _begin: int, _first: int) -> Page:
    """Add an item at the end after each of three pages."""
    if len(items.numbers) < TOTAL + 3:
        items.numbers.append(len(items.numbers))
    return good


def grows_in_front(items: Items, good: Page, _begin: int, _first: int) -> Page:
    """Add an item at the front after each of three pages, so that items come twice."""
    if len(items.numbers) < TOTAL + 3:
        items.numbers.insert(0, len(items.numbers))
    return good


def overlapping(items: Items, _good: Page, begin: int, first: int) -> Page:
    """Start each page with the last item of the page before."""
    before = max(0, begin - 1)
    nodes = [item(n) for n in items.numbers[before : begin + first]]
    return page(nodes, before, TOTAL)


def reordered(items: Items, good: Page, begin: int, first: int) -> Page:
    """Reverse the items of each page, and swap two neighbours between pages."""
    nodes = [item(n) for n in items.numbers[begin : begin + first]][::-1]
    edge = begin + first
    if edge < len(items.numbers):
        numbers = items.numbers
        numbers[edge - 1], numbers[edge] = numbers[edge], numbers[edge - 1]
    return good | {"nodes": nodes, "edges": page(nodes, begin, TOTAL)["edges"]}


def missing(_items: Items, good: Page, _begin: int, _first: int) -> Page:
    """Leave out each seventh item."""
    nodes = [each for each in good["nodes"] if each["n"] % 7 != 6]
    edges = [each for each in good["edges"] if each["node"]["n"] % 7 != 6]
    return good | {"nodes": nodes, "edges": edges}


def nulls(_items: Items, good: Page, _begin: int, _first: int) -> Page:
    """Return null for each seventh item."""
    nodes = [None if each["n"] % 7 == 6 else each for each in good["nodes"]]
    edges = [each | {"node": node} for each, node in zip(good["edges"], nodes, strict=True)]
    return good | {"nodes": nodes, "edges": edges}


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a connection, and the result that is possible with pages of five.

    Attributes
    ----------
    spoil
        What makes it wrong.
    numbers
        The items that a careful client gets, each once.
    ended
        The end that the report names.
    duplicates
        How many items come a second time; None where that depends on when the client gives up.
    most
        Requests that are enough to find out.
    """

    spoil: Spoil
    numbers: frozenset[int] = frozenset(range(TOTAL))
    ended: str = "complete"
    duplicates: int | None = 0
    most: int = TOTAL // SIZE


def upto(number: int) -> frozenset[int]:
    """Return the first items."""
    return frozenset(range(number))


SAME_CURSOR = "the same cursor was returned twice"
NO_CURSOR = "there are more items, but no cursor"
NO_NEW_ITEMS = "5 consecutive pages contained no new items"
WITHOUT_SEVENTH = frozenset(n for n in range(TOTAL) if n % 7 != 6)
FAULTS: Mapping[str, Fault] = {
    "right": Fault(lambda _items, good, _begin, _first: good),
    # The second page for every further cursor.
    "same page": Fault(
        lambda items, good, begin, first: good if begin < SIZE else items.right(SIZE, first),
        upto(10), SAME_CURSOR, duplicates=None, most=3),
    # From the second page on the same end cursor, and another page announced.
    "same cursor": Fault(spoil_info(SIZE, hasNextPage=True, endCursor=f"c:{2 * SIZE}"),
        upto(15), SAME_CURSOR, duplicates=None, most=3),
    # From the third page back to the first.
    "turning": Fault(spoil_info(2 * SIZE, hasNextPage=True, endCursor="c:0"), upto(15), SAME_CURSOR,
        duplicates=None, most=7),
    "null cursor": Fault(spoil_info(SIZE, hasNextPage=True, endCursor=None), upto(10), NO_CURSOR,
        most=2),
    "empty cursor": Fault(spoil_info(SIZE, hasNextPage=True, endCursor=""), upto(10), NO_CURSOR,
        most=2),
    "empty pages": Fault(empty_pages, ended=NO_NEW_ITEMS, most=15),
    # On the second page, against the count.
    "stops early": Fault(spoil_info(SIZE, hasNextPage=False)),
    # Another page is announced on the last one; it is empty, which ends the list.
    "goes on": Fault(lambda _items, good, begin, _first: good
        | {"pageInfo": good["pageInfo"] | {"hasNextPage": begin < TOTAL}}, most=6),
    "shrinks": Fault(shrinks, upto(22)),
    "grows": Fault(grows, upto(28), most=6),
    "grows in front": Fault(grows_in_front, duplicates=3, most=7),
    "overlapping": Fault(overlapping, duplicates=4),
    "reordered": Fault(reordered, duplicates=4, numbers=upto(TOTAL) - {5, 10, 15, 20}, most=6),
    "missing": Fault(missing, WITHOUT_SEVENTH, most=6),
    "nulls": Fault(nulls, WITHOUT_SEVENTH),
    # Null instead of the items of the second page, with more to come.
    "without lists": Fault(lambda _items, good, begin, _first: good
        | ({"nodes": None, "edges": None} if begin == SIZE else {}),
        upto(TOTAL) - frozenset(range(5, 10)), most=6),
    # Whether the last full page is the end is asked for.
    "no count": Fault(lambda _items, good, _begin, _first: good | {"totalCount": 0}, most=6),
}  # fmt: skip


# -- serving


def served(items: Items) -> Schema:
    """Return a schema with a faulty connection and correct parts of each item."""

    def parts(root: Mapping[str, Any], args: Mapping[str, Any], _context: Any) -> Page:
        begin = int(str(args.get("after") or "c:0").rpartition(":")[2])
        end = min(PARTS, begin + (args.get("first") or PARTS))
        nodes = [{"__typename": "Part", "id": f"{root['id']}-{n}"} for n in range(begin, end)]
        return page(nodes, begin, PARTS)

    def node(_root: Any, args: Mapping[str, Any], _context: Any) -> Any:
        kind, _, number = args["id"].partition("-")
        return item(int(number)) if kind == "item" else {"__typename": "Part", "id": args["id"]}

    def nodes(root: Any, args: Mapping[str, Any], context: Any) -> list[Any]:
        return [node(root, {"id": each}, context) for each in args["ids"]]

    def connection(_root: Any, args: Mapping[str, Any], _context: Any) -> Page:
        return items.page(args.get("first"), args.get("after"))

    resolvers = {
        "Query": {"items": connection, "node": node, "nodes": nodes},
        "Item": {"parts": parts},
    }
    return Schema(SDL, resolvers)


class Failing:
    """A transport to a schema of this process that fails when it is told to.

    Parameters
    ----------
    schema
        Where to execute.
    fails
        By the number of a request, from 1: the error to raise instead of its answer; or, if it is a
        mapping, the members of the answer.
    heavy
        Most rows of all connections of an answer together; beyond them it is a 502.
    refused
        The same, but with null and an error RESOURCE_LIMITS_EXCEEDED.

    Attributes
    ----------
    sent : list of Request
        What was asked, those that failed included.
    """

    source = "a failing endpoint"

    def __init__(
        self,
        schema: Schema,
        fails: Mapping[int, BaseException | type[BaseException] | Mapping[str, Any]] | None = None,
        *,
        heavy: int | None = None,
        refused: int | None = None,
    ) -> None:
        self.below = InProcessTransport(schema)
        self.fails = dict(fails or {})
        self.heavy, self.refused = heavy, refused
        self.sent: list[Request] = []
        self._numbers = count(1)

    def send(self, request: Request) -> Response:
        """Execute a request, or fail."""
        self.sent.append(request)
        fault = self.fails.get(next(self._numbers))
        if isinstance(fault, Mapping):
            return Response(200, members=fault)
        if fault is not None:
            raise fault
        response = self.below.send(request)
        assert response.members is not None
        rows = counted(response.members["data"])
        if self.heavy is not None and rows > self.heavy:
            raise gateway()
        if self.refused is not None and rows > self.refused:
            error = {
                "type": "RESOURCE_LIMITS_EXCEEDED",
                "message": "Resource limits for this query exceeded.",
            }
            data = dict.fromkeys(response.members["data"])
            return Response(200, members={"data": data, "errors": [error]})
        return response

    async def asend(self, request: Request) -> Response:
        """Asynchronous version of `send`."""
        return await asyncio.to_thread(self.send, request)

    def close(self) -> None:
        """Do nothing, as there is no connection."""


def gateway(status: int = 502) -> TransportError:
    """Return the error of a gateway timeout."""
    return TransportError(f"a failing endpoint: HTTP {status}.", status=status)


def counted(value: Any) -> int:
    """Return the number of rows in all lists of an answer."""
    if isinstance(value, Mapping):
        return sum(map(counted, value.values()))
    return sum(1 + counted(each) for each in value) if isinstance(value, list) else 0


def faulty(name: str, **options: Any) -> tuple[Client, Items, Failing]:
    """Return a client of a faulty connection, its items, and the transport that can fail too.

    Parameters
    ----------
    name
        One of `FAULTS`.
    **options
        As for :class:`Failing`.
    """
    items = Items(FAULTS[name].spoil)
    schema = served(items)
    transport = Failing(schema, **options)
    return Client(transport, schema=schema), items, transport


def ids(data: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the items in the data of `QUERY`, without nulls."""
    return [each["n"] for each in data["items"]["nodes"] or () if each is not None]

"""Paging finds, on any schema with connections, what a plain traversal of the same data finds.

Schemas, data, page sizes and the way a query is written are drawn at random; the answer put
together from pages must be equal to the traversal, item by item, and take no request too many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gqlnb import Client, Schema
from gqlnb.client.paging import crawler, page_size
from gqlnb.client.transports import InProcessTransport

HEAD = """
interface Node { id: ID! }
type PageInfo {
  hasNextPage: Boolean! endCursor: String hasPreviousPage: Boolean! startCursor: String
}
"""
ARGUMENTS = "(first: Int, after: String, last: Int, before: String)"


@dataclass
class Field:
    """A connection: its name, the type of its nodes, and how the query asks for it."""

    name: str
    kind: int
    size: int | None = None
    style: str = "nodes"
    backward: bool = False
    alias: str = ""
    fragment: str = ""
    named_id: bool = False
    info: bool = False
    inner: list[Field] = field(default_factory=list)

    @property
    def key(self) -> str:
        """Its response name."""
        return self.alias or self.name

    @property
    def page(self) -> int:
        """The items of a page."""
        return self.size or 100


@dataclass
class World:
    """A schema, its data, and a query."""

    fields: dict[int, list[str]]
    roots: list[Field]
    seed: int
    most: int

    def items(self, owner: str, name: str, kind: int) -> list[dict[str, Any]]:
        """Return the items of one connection of one object, the same each time."""
        count = Random(f"{self.seed} {owner} {name}").randrange(self.most + 1)
        return [{"id": f"{owner}/{name}.{i}", "name": f"n{i}", "kind": kind} for i in range(count)]


def sdl(world: World) -> str:
    """Return the schema of a world."""
    parts = [HEAD]
    for kind, names in world.fields.items():
        to = target(world, kind)
        below = " ".join(f"{name}{ARGUMENTS}: C{to}" for name in names)
        parts.append(
            f"type T{kind} implements Node {{ id: ID! name: String! box: T{kind} {below} }}"
        )
        parts.append(f"type E{kind} {{ cursor: String! node: T{kind} }}")
        shape = "totalCount: Int! pageInfo: PageInfo!"
        parts.append(f"type C{kind} {{ edges: [E{kind}] nodes: [T{kind}] {shape} }}")
    roots = " ".join(f"{each.name}{ARGUMENTS}: C{each.kind}" for each in world.roots)
    parts.append(f"type Query {{ node(id: ID!): Node {roots} }}")
    return "\n".join(parts)


def target(world: World, kind: int) -> int:
    """Return the type that the connections of a type lead to."""
    return min(kind + 1, max(world.fields))


def connection(items: list[Any], args: dict[str, Any]) -> dict[str, Any]:
    """Return one page, as the specification of connections says."""
    low = int(args["after"][1:]) if args.get("after") else 0
    high = int(args["before"][1:]) - 1 if args.get("before") else len(items)
    start, end = low, high
    if args.get("first") is not None:
        end = min(high, low + args["first"])
    elif args.get("last") is not None:
        start = max(low, high - args["last"])
    page = items[start:end]
    return {
        "nodes": page,
        "edges": [{"cursor": f"c{start + i + 1}", "node": e} for i, e in enumerate(page)],
        "totalCount": len(items),
        "pageInfo": {
            "hasNextPage": end < len(items),
            "hasPreviousPage": start > 0,
            "startCursor": f"c{start + 1}" if page else None,
            "endCursor": f"c{end}" if page else None,
        },
    }


def schema_of(world: World) -> Schema:
    """Return a schema with resolvers that answer from the world."""

    def below(name: str, kind: int) -> Any:
        return lambda root, args, _: connection(
            world.items((root or {}).get("id", ""), name, kind), args
        )

    def node(_: Any, args: dict[str, Any], __: Any) -> Any:
        owner, _, last = args["id"].rpartition("/")
        name, _, number = last.partition(".")
        depth = args["id"].count("/") - 1
        return world.items(owner, name, min(depth, max(world.fields)))[int(number)]

    resolvers: dict[str, dict[str, Any]] = {
        "Node": {"__resolveType": lambda value, _: f"T{value['kind']}"},
        "Query": {each.name: below(each.name, each.kind) for each in world.roots} | {"node": node},
    }
    for kind, names in world.fields.items():
        to = target(world, kind)
        resolvers[f"T{kind}"] = {name: below(name, to) for name in names}
        resolvers[f"T{kind}"]["box"] = lambda root, _, __: root
    return Schema(sdl(world), resolvers)


def text_of(world: World) -> str:
    """Return the query of a world."""
    fragments: list[str] = []
    body = " ".join(written(each, fragments) for each in world.roots)
    text = "\n".join([f"{{ {body} }}", *fragments])
    return f"query Q($n: Int = 3) {text}" if "$n" in text else text


def written(each: Field, fragments: list[str]) -> str:
    """Return a connection as query text, and add to the fragments."""
    inner = " ".join(written(below, fragments) for below in each.inner)
    node = f"{{ {'id ' if each.named_id else ''}name {inner} }}"
    if each.fragment == "inline":
        node = f"{{ name ... on Node {{ ... on T{each.kind} {node} }} }}"
    elif each.fragment == "named":
        name = f"F{len(fragments)}"
        fragments.append(f"fragment {name} on T{each.kind} {node}")
        node = f"{{ name ...{name} }}"
    elif each.fragment == "box":
        node = f"{{ name box {node} }}"
    rows = f"nodes {node}" if each.style == "nodes" else f"edges {{ node {node} }}"
    info = "pageInfo { hasNextPage endCursor } " if each.info else ""
    count = "last" if each.backward else "first"
    size = "" if each.size is None else f"({count}: {'$n' if each.size == 3 else each.size})"
    if each.backward and each.size is None:
        size = "(last: 100)"
    alias = f"{each.alias}: " if each.alias else ""
    return f"{alias}{each.name}{size} {{ {info}totalCount {rows} }}"


def traversed(world: World, owner: str, each: Field) -> dict[str, Any]:
    """Return a connection with all its items, found without pages."""
    items = world.items(owner, each.name, each.kind)
    rows = []
    for item in items:
        row = {"id": item["id"]} if each.named_id else {}
        row["name"] = item["name"]
        row |= {below.key: traversed(world, item["id"], below) for below in each.inner}
        rows.append({"name": item["name"], "box": row} if each.fragment == "box" else row)
    made = {"nodes": rows} if each.style == "nodes" else {"edges": [{"node": r} for r in rows]}
    if each.info:
        end = f"c{len(items)}" if items else None
        made["pageInfo"] = {"hasNextPage": False, "endCursor": end}
    return {"totalCount": len(items), **made}


def chains(world: World, owner: str, each: Field) -> tuple[int, int]:
    """Return the further pages of a connection and all below, and the longest row of them.

    What is below an item can be asked for once its page is there.
    """
    items = world.items(owner, each.name, each.kind)
    pages = max(1, ceil(len(items) / each.page)) - 1
    total, longest = pages, pages
    for number, item in enumerate(items):
        place = len(items) - 1 - number if each.backward else number
        for below in each.inner:
            more, far = chains(world, item["id"], below)
            total, longest = total + more, max(longest, place // each.page + far)
    return total, longest


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw a world."""
    depth = draw(st.integers(1, 3))
    fields = {kind: ["a", "b"][: draw(st.integers(1, 2))] for kind in range(depth)}
    world = World(fields, [], draw(st.integers(0, 10**6)), draw(st.sampled_from([0, 3, 7])))

    def drawn(name: str, kind: int, level: int) -> Field:
        made = Field(
            name,
            kind,
            draw(st.sampled_from([None, 1, 2, 3, 5, 50])),
            draw(st.sampled_from(["nodes", "edges"])),
            draw(st.booleans()) and level < 3,
            draw(st.sampled_from(["", f"{name}_{level}"])),
            draw(st.sampled_from(["", "", "inline", "named", "box"])),
            draw(st.booleans()),
            draw(st.booleans()),
        )
        if level < depth:
            to = target(world, kind)
            made.inner = [
                drawn(each, to, level + 1) for each in fields[kind] if draw(st.booleans())
            ]
        if made.backward:
            made.info = False
        return made

    world.roots = [drawn(name, 0, 1) for name in ["r", "s"][: draw(st.integers(1, 2))]]
    return world


class Counting(InProcessTransport):
    """Executes in this process and counts the requests."""

    sent = 0

    def send(self, request: Any) -> Any:
        """Execute a request."""
        self.sent += 1
        return super().send(request)


def counted(world: World) -> tuple[Client, Counting]:
    """Return a client of a world, and what counts its requests."""
    transport = Counting(schema_of(world))
    return Client(transport), transport


def expected_of(world: World) -> tuple[dict[str, Any], int, int]:
    """Return the data, the further pages, and the longest row of pages that need each other."""
    data = {each.key: traversed(world, "", each) for each in world.roots}
    every = [chains(world, "", each) for each in world.roots]
    return data, sum(total for total, _ in every), max(longest for _, longest in every)


@pytest.fixture(autouse=True, scope="module")
def steady_sizes():
    """Keep the page sizes that the texts give, on which the bounds below depend."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_size, "PAGES_BEFORE_GROWTH", 10**6)
        yield


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_paging_finds_the_rows_of_a_traversal(world):
    """The merged result equals the traversal; each request has the largest allowed size."""
    client, transport = counted(world)
    data, total, longest = expected_of(world)
    result = client.execute_all(text_of(world), follow="all")
    assert result.data == data
    assert result.report.complete
    assert result.report.duplicates == 0
    assert result.report.requests == transport.sent
    least = max(longest, ceil(total / crawler.PAGES_PER_BATCH))
    assert 1 + least <= transport.sent <= 1 + longest + ceil(total / crawler.PAGES_PER_BATCH)


@pytest.mark.parametrize("size", [1, 10**6])
@settings(max_examples=60, deadline=None)
@given(world=worlds())
def test_the_connections_of_a_request_decide_the_number_of_requests(world, size):
    """With one there are as many requests as pages; with any number the longest chain counts."""
    client, transport = counted(world)
    data, total, longest = expected_of(world)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crawler, "PAGES_PER_BATCH", size)
        assert client.execute_all(text_of(world), follow="all").data == data
    assert transport.sent == 1 + (total if size == 1 else longest)

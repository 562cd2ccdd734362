"""A schema whose operations are answered in parts, and the whole answers of graphql-core."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

from graphql import build_schema, graphql_sync

from gqlnb import Schema
from gqlnb.result.answer_notes import IncrementalResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["PATIENCE", "SDL", "Source", "build_part_schema", "execute_whole", "merge_parts"]

PATIENCE = 20.0  # seconds until a test gives up
SDL = """
directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD
type Query { item: Item  endless: [Int]  wait: String  where: String }
type Mutation { add: Item }
type Item {
  id: ID  name: String  later: String  fails: String  required: String!
  child: Item  items: [Item]  rows: [Item]  ticks: [Item]  tags: [String]  odd: Float
}
"""
PLAIN = build_schema(f"directive @at(initialCount: Int) on FIELD {SDL[SDL.index('type') :]}")


class Source:
    """An endless source, and whether it was begun and closed."""

    def __init__(self) -> None:
        self.begun, self.closed = threading.Event(), threading.Event()

    def __call__(self, *_: object) -> Iterator[int]:
        """Yield numbers, as a resolver."""
        number = 0
        self.begun.set()
        try:
            while not self.closed.wait(0.001):
                yield number
                number += 1
        finally:
            self.closed.set()


def fail(root: Any, *_: object) -> None:
    message = f"{root['id']} fails"
    raise ValueError(message)


async def later(root: Any, *_: object) -> str:
    await asyncio.sleep(0)
    return f"later {root['id']}"


def list_items(root: Any, *_: object) -> list[Any]:
    return [{"id": f"{root['id']}{number}"} for number in range(3)]


async def tick(root: Any, *_: object) -> Any:
    for item in list_items(root):
        await asyncio.sleep(0)
        yield item


def build_part_schema(**root_fields: Any) -> Schema:
    """Return the schema; `root_fields` are further resolvers of Query."""
    item = {
        "name": lambda root, *_: f"item {root['id']}",
        "later": later,
        "fails": fail,
        "required": fail,
        "child": lambda root, *_: {"id": f"{root['id']}c"},
        "items": list_items,
        "rows": lambda root, *_: iter(list_items(root)),
        "ticks": tick,
        "tags": lambda root, *_: ["a", None, root["id"]],
    }
    query = {"item": lambda *_: {"id": "i"}, **root_fields}
    mutation = {"add": lambda *_: {"id": "m"}}
    return Schema(SDL, {"Query": query, "Mutation": mutation, "Item": item})


def execute_whole(text: str) -> Any:
    """Return graphql-core's undivided answer: the same data from plain dicts."""

    def build_item(ident: str, depth: int = 5) -> dict[str, Any]:
        def below(name: str) -> Any:
            return lambda *_: build_item(name, depth - 1) if depth else None

        def listed(*_: object) -> list[Any]:
            return [build_item(f"{ident}{number}", depth - 1) for number in range(3)]

        def failing(*_: object) -> None:
            fail({"id": ident})

        return {
            "id": ident, "name": f"item {ident}", "later": f"later {ident}", "fails": failing,
            "required": failing, "child": below(f"{ident}c"), "items": listed, "rows": listed,
            "ticks": listed, "tags": ["a", None, ident],
        }  # fmt: skip

    plain = text.replace("@defer(if: $later)", "").replace("@stream(if: $later, ", "@at(")
    plain = plain.replace("query ($later: Boolean!)", "query")
    done = graphql_sync(PLAIN, plain, {"item": build_item("i")})
    return done.formatted


def merge_parts(parts: Iterable[Any]) -> Any:
    """Return what parts grow to as JSON; the last one says that it is the last."""
    growing, found = IncrementalResponse(), {}
    for part in parts:
        assert growing.has_next
        found = growing.feed(json.loads(json.dumps(part)))
    assert not growing.has_next
    return found

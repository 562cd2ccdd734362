"""What waits: our executor and graphql-core's in an event loop, side by side, without a clock."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import (
    build_schema,
    parse,
)

from gqlnb import engine
from tests.engine.comparison import PLACES, alike, told
from tests.property.differential.later import rest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.usefixtures("road"),
]
EXECUTORS = {"reference": graphql.execute, "ours": engine.execute}


async def turns() -> None:
    """Let others have some turns."""
    for _ in range(3):
        await asyncio.sleep(0)


def test_an_unawaited_result_can_be_closed():
    """Closing it runs no further resolver."""
    schema, document = build_schema(PLACES), parse("{ x s }")
    for execute in EXECUTORS.values():
        calls: list[str] = []

        async def later(info: Any, calls: list[str] = calls) -> int:
            calls.append("body")
            return 1

        result = execute(
            schema, document, {"x": later, "s": lambda info, c=calls: c.append("sync")}
        )
        result.close()
        assert calls == ["sync"]


ASYNC_ITEMS: dict[str, list[Any]] = {
    "plain": [1, 2, 3],
    "none": [],
    "nulls": [None, 1, None],
    "wrong": [1, "x", 3],
    "errors": [1, ValueError("item"), 3],
}


class Source:
    """An async iterator that tells what happens to it."""

    def __init__(self, items: list[Any], events: list[Any], fails: bool = False) -> None:
        self._items = iter(items)
        self._events = events
        self._fails = fails

    def __aiter__(self) -> Source:
        return self

    async def __anext__(self) -> Any:
        self._events.append("next")
        for item in self._items:
            return item
        if self._fails:
            msg = "source"
            raise RuntimeError(msg)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Tell that nobody wants more."""
        self._events.append("closed")


@pytest.mark.parametrize("name", ASYNC_ITEMS)
@pytest.mark.parametrize("kind", ["[Int]", "[Int!]", "[Int!]!"])
@pytest.mark.parametrize("fails", [False, True])
def test_async_iterables_are_lists(name, kind, fails):
    """They are read to the end or to an exception, and closed as in the reference."""

    async def generator(items: list[Any], events: list[Any]) -> Any:
        try:
            for item in items:
                yield item
            if fails:
                msg = "generator"
                raise RuntimeError(msg)
        finally:
            events.append("ended")

    schema = build_schema(f"type Query {{ a: {kind} b: {kind} c: Int }}")
    document = parse("{ a b c }")

    async def story(execute: Callable[..., Any]) -> Any:
        items, events = ASYNC_ITEMS[name], []  # type: ignore[var-annotated]
        root = {"a": Source(items, events, fails), "b": generator(items, events), "c": 1}
        answer = told(await execute(schema, document, root))
        await rest()
        return answer, sorted(events)

    alike(story)


# Order


@pytest.mark.parametrize("fails", [None, 0, 1])
def test_mutation_fields_run_serially(fails):
    """The side effects of one are complete before the next starts."""
    schema = build_schema(
        "type Query { x: Int } type Mutation { a(n: Int!): T b(n: Int!): Int! }"
        "type T { n: Int later: Int }"
    )
    document = parse("mutation { p: a(n: 0) { later n } q: a(n: 1) { n later } r: b(n: 2) }")

    async def story(execute: Callable[..., Any]) -> Any:
        events: list[Any] = []

        async def mutate(info: Any, n: int) -> Any:
            events.append(("start", n))
            await turns()
            events.append(("end", n))
            if n == fails:
                raise ValueError(n)

            async def later(info: Any) -> int:
                events.append(("below", n))
                await turns()
                events.append(("done", n))
                return n

            return n if n == 2 else {"n": n, "later": later}

        result = await execute(schema, document, {"a": mutate, "b": mutate})
        return told(result), events

    _, events = alike(story)
    numbers = [number for _, number in events]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 2


def test_context_variables_propagate_as_in_the_reference():
    """Resolvers see the caller's context, and their changes are visible alike."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")

    async def story(execute: Callable[..., Any]) -> Any:
        variable.set("outer")
        heard: list[Any] = []

        async def sets(info: Any) -> int:
            heard.append(("async", variable.get()))
            variable.set("async")
            await asyncio.sleep(0)
            heard.append(("async after", variable.get()))
            return 1

        def sync(info: Any) -> str:
            heard.append(("sync", variable.get()))
            variable.set("sync")
            return "s"

        async def reads(info: Any) -> int:
            await turns()
            heard.append(("reads", variable.get()))
            return 1

        root = {"x": sets, "s": sync, "y": reads, "t": {"i": reads, "n": sets}}
        result = await execute(build_schema(PLACES), parse("{ x s y t { i n } }"), root)
        return result.data, sorted(heard), variable.get()

    alike(story)

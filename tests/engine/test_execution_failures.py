"""What fails and what ends in an event loop, with our executor and with graphql-core's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from graphql import build_schema, parse

from tests.engine.comparison import PLACES, alike, answered, told, turn
from tests.property.differential.later import rest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.usefixtures("road"),
]


class Gates:
    """Lets waiting resolvers go by name, one after another."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Event] = {}
        self.events: list[str] = []

    def gate(self, name: str, value: Any = 1) -> Callable[..., Any]:
        """Return a resolver that waits, and tells what happens to it."""

        async def resolve(info: Any) -> Any:
            try:
                await self._open.setdefault(name, asyncio.Event()).wait()
            except asyncio.CancelledError:
                self.events.append(f"{name} cancelled")
                raise
            self.events.append(f"{name} done")
            if isinstance(value, Exception):
                raise value
            return value

        return resolve

    async def open(self, *names: str) -> None:
        """Let these go, each when the one before has had all its effects."""
        for name in names:
            await rest()
            self._open.setdefault(name, asyncio.Event()).set()
        await rest()


def test_siblings_of_a_failed_field_end_as_in_the_reference():
    """3.3 cancels them, 3.2 lets them complete."""
    schema = build_schema("type Query { t: T o: Int } type T { p: Int! q: Int list: [Int!] }")
    document = parse("{ t { p q list } o }")

    async def story(execute: Callable[..., Any]) -> Any:
        gates = Gates()
        items = [gates.gate("i")(None), gates.gate("j")(None)]
        row = {
            "p": gates.gate("p", ValueError("p")),
            "q": gates.gate("q"),
            "list": lambda info: items,
        }
        running = asyncio.ensure_future(execute(schema, document, {"t": row, "o": gates.gate("o")}))
        await gates.open("i", "p", "o")
        answer = told(await running)
        await gates.open("q", "j")
        return answer, sorted(gates.events), len(asyncio.all_tasks())

    alike(story)


def test_a_cancelled_execution_cancels_its_resolvers():
    """Cancelling the task that awaits an answer reaches every resolver that runs."""
    schema = build_schema(PLACES)
    document = parse("{ x list t { i } }")

    async def story(execute: Callable[..., Any]) -> Any:
        gates = Gates()
        root = {"x": gates.gate("x"), "t": {"i": gates.gate("i")}}
        root["list"] = lambda info: [gates.gate("a")(None), 1, gates.gate("b")(None)]
        running = asyncio.ensure_future(execute(schema, document, root))
        await gates.open("a")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await rest()
        return sorted(gates.events), len(asyncio.all_tasks())

    events, tasks = alike(story)
    assert events == ["a done", "b cancelled", "i cancelled", "x cancelled"]
    assert tasks == 1


def test_a_resolver_that_is_cancelled():
    """A cancellation from inside is no error of a field, as with the reference."""
    schema = build_schema(PLACES)

    async def cancelled(info: Any) -> int:
        raise asyncio.CancelledError

    async def story(execute: Callable[..., Any]) -> Any:
        try:
            return told(await execute(schema, parse("{ x s }"), {"x": cancelled, "s": "s"}))
        except asyncio.CancelledError:
            return "cancelled"

    alike(story)


def test_a_time_limit_in_a_resolver():
    """asyncio.timeout and TaskGroup work inside of resolvers."""

    async def limited(info: Any) -> int:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
        return 1

    async def grouped(info: Any) -> int:
        async with asyncio.TaskGroup() as group:
            both = [group.create_task(turn(n)) for n in (1, 2)]
        return sum(each.result() for each in both)

    answered(PLACES, "{ x y list }", lambda: {"x": limited, "y": grouped, "list": [1]})


@pytest.mark.parametrize(
    "error", [StopIteration("s"), StopAsyncIteration("a"), RecursionError("r"), RuntimeError("e")]
)
def test_exceptions_with_a_meaning_of_their_own(error):
    """Exceptions that end iterators are errors of their field, raised at once or later."""

    def raises(info: Any) -> Any:
        raise error

    async def later(info: Any) -> Any:
        await asyncio.sleep(0)
        raise error

    def root() -> dict[str, Any]:
        return {
            "x": raises,
            "y": later,
            "t": {"n": later},
            "list": lambda info: [turn(1), later(None)],
        }

    for text in ("{ x }", "{ y }", "{ x t { n } }", "{ list }", "{ x y list t { n } }"):
        answered(PLACES, text, root)

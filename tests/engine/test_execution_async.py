"""What waits, fails and ends in an event loop, with our executor and with graphql-core's."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import build_schema, parse

from gqlnb import engine
from tests.engine.comparison import PLACES, alike, answered, turn
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

    def gate(self, name: str) -> Callable[..., Any]:
        """Return a resolver that waits, and tells what happens to it."""

        async def resolve(info: Any) -> Any:
            try:
                await self._open.setdefault(name, asyncio.Event()).wait()
            except asyncio.CancelledError:
                self.events.append(f"{name} cancelled")
                raise
            self.events.append(f"{name} done")
            return 1

        return resolve

    async def open(self, *names: str) -> None:
        """Let these go, each when the one before has had all its effects."""
        for name in names:
            await rest()
            self._open.setdefault(name, asyncio.Event()).set()
        await rest()


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


def test_an_unawaited_result_can_be_closed():
    """Closing it runs no further resolver."""
    schema, document = build_schema(PLACES), parse("{ x s }")
    for execute in (graphql.execute, engine.execute):
        calls: list[str] = []

        async def later(info: Any, calls: list[str] = calls) -> int:
            calls.append("body")
            return 1

        result = execute(
            schema, document, {"x": later, "s": lambda info, c=calls: c.append("sync")}
        )
        result.close()
        assert calls == ["sync"]


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
            await asyncio.sleep(0)
            heard.append(("reads", variable.get()))
            return 1

        root = {"x": sets, "s": sync, "y": reads, "t": {"i": reads, "n": sets}}
        result = await execute(build_schema(PLACES), parse("{ x s y t { i n } }"), root)
        return result.data, sorted(heard), variable.get()

    alike(story)

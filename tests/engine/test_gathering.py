"""Lists of awaitables end in the same turn of the event loop as by graphql-core."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from random import Random
from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import build_schema, parse

import gqlnb.engine
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from tests.examples import count_examples

if TYPE_CHECKING:
    from collections.abc import Callable

    Execute = Callable[..., Any]

LEAVES = ("String", "String!", "Int", "Color!")
ROWS = ("[Row]", "[Row!]", "[Row!]!")
OUTCOMES = ("value", "value", "value", "error", "cancel", "shared", "shielded", "shielded")
KINDS = ("future", "coroutine", "mixed")
VALUES: dict[str, tuple[Any, ...]] = {
    "String": ("text", 7, None, {}),
    "Int": (7, "text", 1 << 40),
    "Color": ("RED", "BLACK", None),
}
SEEDS = range(count_examples(12))


class Scene:
    """Rows whose leaf is awaited, made from a number; what happens is logged with its turn."""

    def __init__(self, kind: str, leaf: str, rows: str, seed: int) -> None:
        self.random = Random(f"{kind} {leaf} {rows} {seed}")
        self.kind = kind
        self.values = VALUES[leaf.strip("!")]
        self.schema = build_schema(
            f"enum Color {{ RED }} type Row {{ n: Int leaf: {leaf} }} type Query {{ rows: {rows} }}"
        )
        resolver: Any = self.resolve_async if kind == "coroutine" else self.resolve
        self.schema.type_map["Row"].fields["leaf"].resolve = resolver
        size = self.random.choice((1, 2, 3, 8))
        self.plans = [
            (
                self.random.choice((0, 0, 1, 2, 5)),
                self.random.choice(OUTCOMES),
                self.random.choice(self.values[:1] * 8 + self.values),
            )
            for _ in range(size)
        ]
        self.futures: dict[int, asyncio.Future[Any]] = {}
        self.turn = 0
        self.log: list[Any] = []

    def start(self, n: int) -> asyncio.Future[Any]:
        """Return the future of a row, which may be that of the row above."""
        turns, outcome, value = self.plans[n]
        if outcome == "shared" and n - 1 in self.futures:
            return self.futures[n - 1]
        loop = asyncio.get_running_loop()
        future = self.futures[n] = loop.create_future()
        self.settle(n, future, turns, outcome, value)
        return future

    def settle(
        self, n: int, future: asyncio.Future[Any], turns: int, outcome: str, value: Any
    ) -> None:
        """Let a future end after some turns."""
        if future.done():
            self.log.append((self.turn, n, "cancelled" if future.cancelled() else "done"))
        elif turns:
            more = (n, future, turns - 1, outcome, value)
            asyncio.get_running_loop().call_soon(self.settle, *more)
        elif outcome == "error":
            future.set_exception(LookupError(f"row {n}"))
        elif outcome == "cancel":
            future.cancel()
        else:
            future.set_result(value)

    def resolve(self, source: Any, _info: Any) -> Any:
        """Return a future, or now and then something else."""
        if self.kind == "mixed" and source["n"] % 3 == 1:
            return "RED" if "RED" in self.values else self.values[0]
        if self.kind == "mixed" and source["n"] % 3 == 2:
            return self.resolve_async(source, None)
        return self.start(source["n"])

    async def resolve_async(self, source: Any, _info: Any) -> Any:
        """Await the future of a row."""
        n = source["n"]
        self.log.append((self.turn, n, "started"))
        try:
            return await self.start(n)
        except asyncio.CancelledError:
            if self.plans[n][1] == "shielded":
                return self.plans[n][2]
            raise

    async def count_turns(self) -> None:
        """Count the turns of the event loop."""
        while True:
            self.turn += 1
            await asyncio.sleep(0)

    async def execute(self, execute: Execute, cancelled_at: int | None) -> Any:
        """Execute, and return the answer with the log."""
        counter = asyncio.ensure_future(self.count_turns())
        root = {"rows": [{"n": n} for n in range(len(self.plans))]}
        outcome = execute(self.schema, parse("{ rows { n leaf } }"), root)
        if not asyncio.iscoroutine(outcome):
            counter.cancel()
            return (outcome.data, [e.formatted for e in outcome.errors or ()])
        task = asyncio.ensure_future(outcome)
        if cancelled_at is not None:
            while self.turn < cancelled_at:
                await asyncio.sleep(0)
            task.cancel()
        answer: Any = "cancelled"
        with suppress(asyncio.CancelledError):
            result = await task
            answer = (result.data, [error.formatted for error in result.errors or ()])
        # A cancellation meets an error that is under way a turn earlier than in graphql-core.
        end = self.turn if cancelled_at is None else None
        for _ in range(8):  # what goes on in the background
            await asyncio.sleep(0)
        counter.cancel()
        done = {n: future.cancelled() for n, future in self.futures.items()}
        for future in self.futures.values():
            if future.done() and not future.cancelled():
                future.exception()
        return answer, end, self.log, done


def run(execute: Execute, given: tuple[str, str, str, int], cancelled_at: int | None) -> Any:
    """Execute a scene on a loop of its own."""
    with closing(asyncio.new_event_loop()) as loop:
        loop.set_exception_handler(lambda *_: None)
        return loop.run_until_complete(Scene(*given).execute(execute, cancelled_at))


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch):
    monkeypatch.setattr("gqlnb.engine.compiler.plans.HOT", 0)


@pytest.mark.parametrize("cancelled_at", [None, 1, 2, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_every_turn_is_that_of_graphql_core(kind, cancelled_at):
    """Answers, errors in their order, the turn they come in, and which futures are cancelled."""
    for leaf in LEAVES:
        for rows in ROWS:
            for seed in SEEDS:
                given = (kind, leaf, rows, seed)
                expected = run(graphql.execute, given, cancelled_at)
                found = run(gqlnb.engine.execute, given, cancelled_at)
                # graphql-core 3.2 gathers single leaves, too, in further turns.
                compared = slice(None) if IS_GRAPHQL_33 else slice(1 if cancelled_at is None else 0)
                assert found[compared] == expected[compared], given

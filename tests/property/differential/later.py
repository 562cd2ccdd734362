"""Awaitables of every make, and a clock that lets them finish in an order of its own."""

from __future__ import annotations

import asyncio
import types
from typing import TYPE_CHECKING, Any

from tests.property.differential.chance import Chance

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

    Outcome = Callable[[], Any]  # returns a value or raises


class Clock:
    """Lets one waiting awaitable finish at a time, and the event loop come to rest in between.

    Which one is next is decided by its place in the answer. So two executors that need different
    numbers of turns of the event loop still see everything happen in the same order, and what
    a failing sibling cancels is the same for both.
    """

    def __init__(self, key: int) -> None:
        self._key = key
        self._waiting: list[tuple[int, tuple[Any, ...], asyncio.Future[None]]] = []
        self.released: list[tuple[Any, ...]] = []

    def wait(self, where: tuple[Any, ...]) -> asyncio.Future[None]:
        """Return a future that is done when it is the turn of `where`."""
        future = asyncio.get_running_loop().create_future()
        turn = Chance("turn", self._key, where).below(1 << 30)
        self._waiting.append((turn, where, future))
        return future

    async def conduct(self, task: asyncio.Task[Any]) -> bool:
        """Release what waits, one after another, until `task` is done; false if it never will."""
        while True:
            await rest()
            if task.done():
                return True
            self._waiting = [entry for entry in self._waiting if not entry[2].done()]
            if not self._waiting:
                return False
            first = min(self._waiting, key=lambda entry: entry[:1])
            self._waiting.remove(first)
            self.released.append(first[1])
            first[2].set_result(None)


async def rest() -> None:
    """Wait until nothing is left to do but to wait."""
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    while ready:
        await asyncio.sleep(0)


class Custom:
    """An awaitable that is no coroutine and no future; it can be awaited again and again."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._start = start

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._start().__await__()

    def __repr__(self) -> str:
        return "<Custom>"


class Later:
    """Makes the awaitables of one run.

    Parameters
    ----------
    clock
        Who decides when they finish; None for soon: at once, or after a few turns of the loop.
    """

    def __init__(self, clock: Clock | None) -> None:
        self.clock = clock
        self.coroutines: list[Coroutine[Any, Any, Any]] = []

    @property
    def phase(self) -> tuple[Any, ...]:
        """What was released last."""
        return self.clock.released[-1] if self.clock and self.clock.released else ()

    def make(
        self, outcome: Outcome, where: tuple[Any, ...], chance: Chance, *, again: bool = False
    ) -> Any:
        """Return an awaitable of what `outcome` returns or raises, and `again` if awaited again."""
        kind = chance.pick(LASTING if again else KINDS)
        turns = chance.below(3)
        if kind == "future":
            return self._future(outcome, where, turns)
        if kind == "generator":
            return self._kept(types.coroutine(lambda: self._generator(outcome, where, turns))())

        def start() -> Coroutine[Any, Any, Any]:
            return self._kept(self._coroutine(outcome, where, turns))

        if kind == "task":
            return asyncio.get_running_loop().create_task(start())
        return Custom(start) if kind == "custom" else start()

    def _kept(self, coroutine: Any) -> Any:
        self.coroutines.append(coroutine)
        return coroutine

    async def pause(self, where: tuple[Any, ...], turns: int) -> None:
        """Wait for the clock, or without one for some turns of the loop."""
        if self.clock is not None:
            await self.clock.wait(where)
        else:
            for _ in range(turns):
                await asyncio.sleep(0)

    async def _coroutine(self, outcome: Outcome, where: tuple[Any, ...], turns: int) -> Any:
        await self.pause(where, turns)
        return outcome()

    def _generator(self, outcome: Outcome, where: tuple[Any, ...], turns: int) -> Any:
        yield from self._kept(self.pause(where, turns)).__await__()
        return outcome()

    def _future(self, outcome: Outcome, where: tuple[Any, ...], turns: int) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def settle(_: Any = None) -> None:
            if future.done():
                return
            try:
                future.set_result(outcome())
            except Exception as error:
                future.set_exception(error)

        if self.clock is not None:
            self.clock.wait(where).add_done_callback(settle)
        elif turns:
            future.get_loop().call_soon(settle)
        else:
            settle()
        return future

    async def items(self, items: list[Any], where: tuple[Any, ...], fails: bool) -> Any:
        """Yield the items with pauses in between, and fail in place of the last one if told to."""
        for index, item in enumerate(items):
            if index % 2 or self.clock is not None:
                await self.pause((*where, index, "next"), 1)
            if fails and index == len(items) - 1:
                msg = "no more items"
                raise ValueError(msg)
            yield item

    def close(self) -> None:
        """Close what nobody awaited, so that Python does not complain about it later."""
        for coroutine in self.coroutines:
            coroutine.close()


KINDS = ("coroutine", "coroutine", "coroutine", "future", "task", "custom", "generator")
LASTING = ("future", "task", "custom")

"""Awaiting the missing members of a dict or list at once.

Observable behaviour is that of the installed graphql-core's gather: the order in which tasks start,
the turn of the event loop in which the waiting task goes on, errors, and cancellation.
"""

from __future__ import annotations

from asyncio import CancelledError, Future, gather, get_running_loop
from functools import partial
from types import coroutine
from typing import TYPE_CHECKING, Any

from gqlnb.engine.graphql_compat import IS_GRAPHQL_33, Value

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Awaitable, Generator, Sequence
    from contextvars import Context

    from gqlnb.engine.compiler.executor import PlanExecutor

__all__ = ["await_leaves", "await_members", "yield_to_loop"]


@coroutine
def yield_to_loop() -> Generator[None, None, None]:
    """Let every task that is ready run once."""
    yield


class MemberGathering(Future[None]):
    """The end of the tasks that await the missing members of a dict or list.

    A task reports its end itself: the callback with which ``asyncio.gather`` learns of it takes a
    fifth of the time of a short task.

    Parameters
    ----------
    result
        The dict or list.
    waiting
        Keys and awaitables.
    loop
        The running loop.
    """

    def __init__(
        self,
        result: Value,
        waiting: Sequence[tuple[str | int, Awaitable[Value]]],
        loop: AbstractEventLoop,
    ) -> None:
        super().__init__(loop=loop)
        self.result_of = result
        self.left = len(waiting)
        self.is_cancelled = False
        self.tasks: list[Future[None]] = []
        for key, value in waiting:
            filling = self.fill(key, value)
            filling.send(None)
            self.tasks.append(loop.create_task(filling))

    async def fill(self, key: str | int, value: Awaitable[Value]) -> None:
        """Await a member, and report its end."""
        try:
            # The task goes on from here, so that one that is cancelled before it starts ends below.
            await yield_to_loop()
            self.result_of[key] = await value
        except BaseException as error:
            self.get_loop().call_soon(self.fail, error)
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
        else:
            self.count_end()

    def count_end(self) -> None:
        """Note that a member is there."""
        self.left -= 1
        if not self.left:
            self.get_loop().call_soon(self.finish)

    def finish(self) -> None:
        """End, since all members are there."""
        if self.is_cancelled:
            self.fail(CancelledError())
        elif not self.done():
            self.set_result(None)

    def fail(self, error: BaseException) -> None:
        """End with the first error."""
        if not self.done():
            self.set_exception(error)

    def cancel(self, msg: object = None) -> bool:
        """Cancel the tasks; this future ends with the first of them."""
        if self.done():
            return False
        cancelled = [task.cancel(msg) for task in self.tasks]
        self.is_cancelled = self.is_cancelled or any(cancelled)
        return any(cancelled)


async def await_members(
    result: Value, waiting: Sequence[tuple[str | int, Awaitable[Value]]]
) -> None:
    """Await the missing members of a dict or list, and put them there."""
    gathering = MemberGathering(result, waiting, get_running_loop())
    try:
        await gathering
    except Exception:
        if IS_GRAPHQL_33:  # 3.2 lets the others go on
            for task in gathering.tasks:
                task.cancel()
            await gather(*gathering.tasks, return_exceptions=True)
        raise

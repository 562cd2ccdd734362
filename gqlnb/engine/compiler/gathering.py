"""Awaiting the missing members of a dict or list at once.

Observable behaviour is that of the installed graphql-core's gather: the order in which tasks start,
the turn of the event loop in which the waiting task goes on, errors, and cancellation.
"""

from __future__ import annotations

import sys
from asyncio import AbstractEventLoop, CancelledError, Future, gather, get_running_loop
from collections.abc import Awaitable, Generator, Sequence
from functools import partial
from types import coroutine
from typing import Any, TypeAlias

from gqlnb.engine.graphql_compat import CORO, IS_GRAPHQL_33, Value

ENDED_TURNS = 2 if sys.version_info < (3, 12) else 0  # that asyncio.gather takes for ended tasks
FUTURE = Future  # what loaders return
# The arguments of PlanExecutor.await_single_leaf: an object that waits for one leaf only, the key
# and the future of that leaf, its field and path, and the position that takes its error.
AwaitedLeaf: TypeAlias = tuple[Any, ...]


@coroutine
def yield_to_loop(turns: int = 1) -> Generator[None, None, None]:
    """Let every task that is ready run once, or several times."""
    for _ in range(turns):
        yield


def queue_awaitable(
    value: Value, key: str | int, waiting: list[tuple[str | int, Value]] | None
) -> tuple[Value, list[tuple[str | int, Value]] | None]:
    """Return a completed value, and the list of awaitables with it if it must be awaited."""
    if type(value) is CORO:
        waiting = [] if waiting is None else waiting
        waiting.append((key, value))
    return value, waiting


class Gathering(Future[None]):
    """The end of several awaitables, in the turn in which ``asyncio.gather`` would end.

    Each awaitable reports its end itself: the callback with which ``gather`` learns of it takes a
    fifth of the time of a short task.

    Parameters
    ----------
    left
        The number of awaitables.
    loop
        The running loop.
    """

    def __init__(self, left: int, loop: AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.left = left
        self.is_cancelled = False

    def count_end(self) -> None:
        """Note that an awaitable has ended."""
        self.left -= 1
        if not self.left:
            self.get_loop().call_soon(self._finish)

    def report_error(self, error: BaseException) -> None:
        """Note that an awaitable has failed or was cancelled."""
        self.left -= 1
        self.get_loop().call_soon(self._fail, error)
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise error

    def _finish(self) -> None:
        if self.is_cancelled:
            self._fail(CancelledError())
        elif not self.done():
            self.set_result(None)

    def _fail(self, error: BaseException) -> None:
        if not self.done():
            self.set_exception(error)


class MemberGathering(Gathering):
    """The end of the tasks that await the missing members of a dict or list.

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
        super().__init__(len(waiting), loop)
        self.tasks: list[Future[None]] = []
        for key, value in waiting:
            filling = self._fill(result, key, value)
            filling.send(None)
            self.tasks.append(loop.create_task(filling))

    async def _fill(self, result: Value, key: str | int, value: Awaitable[Value]) -> None:
        try:
            # The task goes on from here, so that one that is cancelled before it starts ends below.
            await yield_to_loop()
            result[key] = await value
        except BaseException as error:  # noqa: BLE001 - whatever a resolver raises
            self.report_error(error)
        else:
            self.count_end()

    def cancel(self, msg: object = None) -> bool:
        """Cancel the tasks; this future ends with the first of them."""
        if self.done():
            return False
        cancelled = [task.cancel(msg) for task in self.tasks]
        self.is_cancelled = self.is_cancelled or any(cancelled)
        return any(cancelled)


class LeafGathering(Gathering):
    """The end of the futures that the items of a list wait for, without a task for each.

    Parameters
    ----------
    run
        The executor.
    result
        The list, which contains the items.
    waiting
        Keys of items, and what they wait for.
    loop
        The running loop.
    """

    def __init__(
        self,
        run: Value,
        result: list[Value],
        waiting: Sequence[tuple[int, AwaitedLeaf]],
        loop: AbstractEventLoop,
    ) -> None:
        super().__init__(len(waiting), loop)
        self._executor = run
        self._items = result
        self._waiting = waiting
        self._is_started = False
        loop.call_soon(self._start)  # in the turn in which tasks would start

    def _start(self) -> None:
        self._is_started = True
        for entry in self._waiting:
            future = entry[1][2]
            if self.is_cancelled or future.done():
                self._complete(entry, future)
            else:
                future.add_done_callback(partial(self._complete, entry))

    def _complete(self, entry: tuple[int, AwaitedLeaf], future: Future[Value]) -> None:
        try:
            self._put_value(entry, future)
        except BaseException as error:  # noqa: BLE001 - whatever a resolver raises
            self.report_error(error)
        else:
            self.count_end()

    def _put_value(self, entry: tuple[int, AwaitedLeaf], future: Future[Value]) -> None:
        index, (item, key, _, field, path, *taker) = entry
        if self.is_cancelled:
            raise CancelledError
        try:
            value = future.result()
            if type(value) is not field.exact:
                value = field.completer(value, path, self._executor)
            item[key] = value
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises
            try:
                self._executor.fail(error, field, path)
                item[key] = None
            except Exception as located:  # noqa: BLE001 - of a leaf that must not be null
                if not taker:
                    raise
                self._executor.fail(located, *taker)
                self._items[index] = None

    def cancel(self, msg: object = None) -> bool:
        """Cancel the leaves; this future ends with the first of them."""
        return not self.done() and self.cancel_leaves(msg)

    def cancel_leaves(self, msg: object = None) -> bool:
        """Cancel the leaves that have not ended, and return whether there are any."""
        if not self.left:
            return False
        self.is_cancelled = True
        if self._is_started:  # a task that has not started does not cancel what it would await
            for _, leaf in self._waiting:
                leaf[2].cancel(msg)
        return True


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


def can_gather_leaves(waiting: Sequence[tuple[int, Value]]) -> bool:
    """Return whether all items of a list wait for one future each, in the running loop."""
    # The tasks of graphql-core 3.2 start and end in other turns of the loop.
    if not IS_GRAPHQL_33 or len(waiting) == 1:
        return False
    loop = get_running_loop()
    return all(type(value) is tuple and value[2].get_loop() is loop for _, value in waiting)


async def await_leaves(
    run: Value, result: list[Value], waiting: Sequence[tuple[int, AwaitedLeaf]]
) -> None:
    """Await the leaves that the items of a list wait for, and put them there."""
    gathering = LeafGathering(run, result, waiting, get_running_loop())
    try:
        await gathering
    except Exception:
        # The turns that tasks would take to be cancelled and gathered.
        await yield_to_loop(3 if gathering.cancel_leaves() else ENDED_TURNS)
        raise

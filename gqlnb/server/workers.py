"""Threads that run plain resolvers, so that a slow one stops neither the loop nor the exit.

``concurrent.futures`` would do, but its threads are joined when the interpreter exits: a resolver
that waits for an hour would keep the kernel for an hour. These are daemons.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MOST", "run"]

MOST = 40  # threads, as AnyIO has them: enough for resolvers that wait, few enough to forget

T = TypeVar("T")
# Where to report, in what context, and what to do.
_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Context, "Callable[[], Any]"]


class Workers:
    """Up to `MOST` daemon threads, started as needed, shared by the servers of this process."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._count = 0

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function in a thread and wait for it on the running loop.

        Whatever it raises is raised here, ``SystemExit`` included.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[T, None] | tuple[None, BaseException]] = loop.create_future()
        self._tasks.put((loop, future, copy_context(), function))
        self._grow()
        value, error = await future
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    def _grow(self) -> None:
        with self._lock:
            if self._idle.acquire(blocking=False) or self._count >= MOST:
                return
            self._count += 1
            name = f"gqlnb-worker-{self._count}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while True:
            loop, future, context, function = self._tasks.get()
            done = outcome(context, function)
            self._idle.release()  # before the news is out, so that the next call finds a thread
            with suppress(RuntimeError):  # the loop has closed: nobody waits any more
                loop.call_soon_threadsafe(settle, future, done)
            # Nothing of a request stays alive in a thread that waits for the next one.
            del loop, future, context, function, done


def outcome(context: Context, function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Call a function in a context and return its value, or what it raised."""
    try:
        return context.run(function), None
    except BaseException as error:
        # It is raised again on the loop that waits.
        return None, error


def settle(future: asyncio.Future[Any], done: tuple[Any, BaseException | None]) -> None:
    """Hand the outcome over, unless nobody waits for it any more."""
    if not future.done():
        future.set_result(done)


_workers = Workers()


async def run(function: Callable[[], T]) -> T:
    """Run a function in one of this process's worker threads and wait for it here."""
    return await _workers.run(function)


def _after_fork() -> None:
    global _workers  # noqa: PLW0603 - the threads stayed in the parent
    _workers = Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""Threads that run plain resolvers, so that a slow one stops neither the loop nor the exit.

``concurrent.futures`` would do, but its threads are joined when the interpreter exits: a resolver
that waits for an hour would keep the kernel for an hour. These are daemons, and a thread can't be
stopped: what hangs is left to itself, and others take its place.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from contextvars import Context, copy_context
from inspect import iscoroutine
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ALL", "MOST", "STALE", "HangingError", "hanging", "run"]

MOST = 40  # threads that may be at work, as AnyIO has them: enough for resolvers that wait a little
STALE = 1.0  # seconds after which a call no longer counts as work: it waits, or hangs
# Threads in all, those that hang included: as many as a server keeps connections, so that each of
# them may hang without a word from the others. A thread that waits costs some 50 kB.
ALL = 256

T = TypeVar("T")
# Where to report, in what context, and what to do.
_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Context, "Callable[[], Any]"]


class HangingError(Exception):
    """A function has not come to its end in time."""


class Workers:
    """Daemon threads, started as needed, shared by the servers of this process."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0  # threads
        self._idle = 0  # of these, that no call is on its way to
        self._unserved = 0  # calls that no thread is on its way to
        self._since: dict[int, float] = {}  # by thread, when the call it is at was begun

    @property
    def hanging(self) -> int:
        """Threads whose call has been running for longer than `STALE`."""
        with self._lock:
            return self._hanging()

    async def run(self, function: Callable[[], T], seconds: float | None = None) -> T:
        """Run a function in a thread and wait for it on the running loop.

        Whatever it raises is raised here, ``SystemExit`` included. Where nobody waits any more
        when its turn comes, it is not run.

        Parameters
        ----------
        function
            What to run.
        seconds
            How long to wait, until its turn comes and then for its end; None for any time.

        Raises
        ------
        HangingError
            If that is not enough. A thread that is at it stays with it.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[T, None] | tuple[None, BaseException]] = loop.create_future()
        if not self._served():
            loop.call_later(STALE, self._look_again, loop, future)
        self._tasks.put((loop, future, copy_context(), function))
        # Lighter than asyncio.timeout(), which would have to cancel the task that waits.
        timer = (
            loop.call_later(seconds, settle, future, (None, HangingError())) if seconds else None
        )
        try:
            value, error = await future
        finally:
            if timer is not None:
                timer.cancel()
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    def _served(self) -> bool:
        """Send a thread to the call that comes next, and tell whether there was one."""
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
                return True
            if self._started():
                return True
            self._unserved += 1
            return False

    def _look_again(
        self, loop: asyncio.AbstractEventLoop, future: asyncio.Future[tuple[Any, Any]]
    ) -> None:
        """Send more threads to a call that still waits, if those at work have become stale."""
        if future.done():
            return
        with self._lock:
            if self._unserved > 0 and self._started():
                self._unserved -= 1
        loop.call_later(STALE, self._look_again, loop, future)

    def _started(self) -> bool:
        """Start a thread, unless there are enough at work; the lock is held."""
        if self._count >= ALL or self._count - self._hanging() >= MOST:
            return False
        name = f"gqlnb-worker-{self._count + 1}"
        try:
            threading.Thread(target=self._work, name=name, daemon=True).start()
        except RuntimeError:  # the system gives no more
            if self._count == 0:
                raise
            return False
        self._count += 1
        return True

    def _hanging(self) -> int:
        stale = monotonic() - STALE
        return sum(since < stale for since in self._since.values())

    def _work(self) -> None:
        mine = threading.get_ident()
        while True:
            loop, future, context, function = self._tasks.get()
            with self._lock:
                self._since[mine] = monotonic()
            done = None if future.done() else outcome(context, function)
            last = self._finished(mine)  # before the news is out: the next call finds a thread
            if done is not None:
                with suppress(RuntimeError):  # the loop has closed: nobody waits any more
                    loop.call_soon_threadsafe(settle, future, done)
            # Nothing of a request stays alive in a thread that waits for the next one.
            del loop, future, context, function, done
            if last:
                return

    def _finished(self, mine: int) -> bool:
        """Note that a thread is free, and tell whether it is one too many."""
        with self._lock:
            del self._since[mine]
            if self._unserved > 0:
                self._unserved -= 1
            elif self._idle >= MOST:
                self._count -= 1
                return True
            else:
                self._idle += 1
            return False


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
    elif iscoroutine(done[0]):
        done[0].close()  # or Python would complain, in some cell, that nobody awaited it


_workers = Workers()


async def run(function: Callable[[], T], seconds: float | None = None) -> T:
    """Do as :meth:`Workers.run` with the worker threads of this process."""
    return await _workers.run(function, seconds)


def hanging() -> int:
    """Return how many worker threads of this process are at a call that does not end."""
    return _workers.hanging


def _after_fork() -> None:
    global _workers  # noqa: PLW0603 - the threads stayed in the parent
    _workers = Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

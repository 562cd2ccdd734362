"""Worker threads for resolvers: bounded in number, and shared fairly where resolvers hang.

At most `MAX_BUSY_THREADS` are busy. A thread whose call runs for longer than `STALE_SECONDS` does
not count as busy, and another may start, up to `MAX_THREADS`. Calls of one field may hold at most
as many threads as are free, so that a field whose resolver hangs leaves room for all others.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from contextlib import suppress
from contextvars import Context, copy_context
from functools import cached_property, partial
from inspect import isawaitable, iscoroutine, iscoroutinefunction
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakSet

import graphql

from gqlnb import engine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import FrameType

    from gqlnb.document.document import Document

# Prefixes of file names: of compiled code, of the engine and of graphql-core.
CODE_LOCATIONS = ("<gqlnb ", str(Path(engine.__file__).parent), str(Path(graphql.__file__).parent))
MAX_BUSY_THREADS = 40  # AnyIO's default: enough for resolvers that wait a little
# After this time a call counts as waiting for something rather than busy, and another thread may
# start. Shorter, and computing calls would get as many threads; longer, and others wait for a
# thread while calls of a hanging resolver arrive.
STALE_SECONDS = 0.25
HANGING_SECONDS = 1.0  # after this time it is listed as hanging
# All threads, hanging ones included: the default limit of connections, so that each of them may
# have a hanging request. A waiting thread takes about 50 kB.
MAX_THREADS = 256
IDLE_SECONDS = 10.0  # after this time a thread without calls ends
_TIMER_SECONDS = 0.001  # a timer may be early by less

T = TypeVar("T")


class HangingError(Exception):
    """A function did not return in time."""


class NoThreadError(Exception):
    """A function was not called, since there is no thread for it; the text says why."""


class HangingCall(NamedTuple):
    """A call that runs for longer than `HANGING_SECONDS`.

    Attributes
    ----------
    time
        Time of its begin, in seconds since 1970.
    seconds
        Seconds since then.
    operation
        The name of its operation; None where it has none.
    resolver
        The function of the schema that runs, and its line; None where it is not written in Python.
    """

    time: float
    seconds: float
    operation: str | None
    resolver: str | None


class _Call:
    """A function, its caller, and the thread that runs it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.loop = loop = asyncio.get_running_loop()
        self.future: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
        self.context: Context = copy_context()
        self.function = function
        self.document: Document | None = None  # of the operation that it executes, once known
        self.began: float | None = None
        self.is_refused = False  # the caller was told that it will not be called

    @cached_property
    def fields(self) -> frozenset[str]:
        """The root fields of its document that have resolvers."""
        names = self.document.root_fields if self.document else ()
        return frozenset(name for name in names if not name.startswith("__"))

    def has_run(self, seconds: float, now: float) -> bool:
        """Return whether it runs for longer than `seconds`."""
        return self.began is not None and self.began < now - seconds


# A ThreadPoolExecutor waits for its threads when the interpreter exits, and a hanging resolver
# would keep the process alive.
class WorkerPool:
    """Daemon threads of one server, started on demand."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Call | None] = SimpleQueue()  # None ends a thread
        self._lock = threading.Lock()
        self._count = 0
        self._idle = 0  # threads without a call assigned to them
        self._unserved = 0  # calls without a thread assigned to them
        self._running: dict[int, _Call] = {}  # by thread
        self._is_closed = False
        _pools.add(self)

    def list_hanging(self) -> list[HangingCall]:
        """Return the calls that run for longer than `HANGING_SECONDS`, the oldest first."""
        now, frames = monotonic(), sys._current_frames()  # noqa: SLF001 - its documented name
        with self._lock:
            calls = [(running, frames.get(ident)) for ident, running in self._running.items()]
        hanging = [
            HangingCall(
                time() - (now - call.began),
                now - call.began,
                call.document.name if call.document else None,
                describe_frame(find_resolver_frame(frame)),
            )
            for call, frame in calls
            if call.began is not None and call.has_run(HANGING_SECONDS, now)
        ]
        return sorted(hanging)

    def is_in_call(self) -> bool:
        """Return whether the calling thread is one of these, with a call."""
        return threading.get_ident() in self._running

    async def run(self, function: Callable[[], T], seconds: float | None = None) -> T:
        """Run a function in a thread, and return its value on the running loop.

        Its exceptions are raised here, ``SystemExit`` included. If the caller is cancelled before a
        thread is free, the function is not run.

        Parameters
        ----------
        function
            The function.
        seconds
            Maximum time to wait for a thread, and then for the function; None for no limit.

        Raises
        ------
        HangingError
            If the function does not return in time. Its thread goes on.
        NoThreadError
            If it was not called.
        """
        call = _Call(function)
        if not self._assign_thread():
            call.loop.call_later(STALE_SECONDS, self._recheck, call)
        self._tasks.put(call)
        # Lighter than asyncio.timeout(), which cancels the waiting task.
        timer = call.loop.call_later(seconds, self._expire, call, seconds) if seconds else None
        try:
            value, error = await call.future
        finally:
            if timer is not None:
                timer.cancel()
        if error is not None:
            raise error
        return value  # type: ignore[no-any-return]

    async def call_function(self, function: Callable[..., T | Awaitable[T]], argument: object) -> T:
        """Call a function of the user, in a thread unless it is ``async``."""
        if iscoroutinefunction(function):
            return await function(argument)  # type: ignore[no-any-return]
        result = await self.run(partial(function, argument))
        return await result if isawaitable(result) else result

    def close(self) -> None:
        """End the threads: idle ones now, others after their call. Later calls start new ones."""
        with self._lock:
            idle, self._idle = self._idle, 0
            self._count -= idle
            self._is_closed = True
        for _ in range(idle):
            self._tasks.put(None)

    # Half of a shared buffer for one queue, a quarter for the next: the rule is that of dynamic
    # thresholds in network switches (Choudhury and Hahne, 1998). A fixed share would be too small
    # for one slow field alone, or too large for several.
    def claim_fields(self, document: Document) -> None:
        """Record the document of the call in this thread, before its resolvers run.

        Raises
        ------
        NoThreadError
            If calls of one of its root fields hold as many threads as are free.
        """
        call = self._running.get(threading.get_ident())
        if call is None:  # it runs on the event loop
            return
        call.document = document
        if len(self._running) <= MAX_BUSY_THREADS:
            return
        with self._lock:
            others = [other for other in self._running.values() if other is not call]
        free = MAX_THREADS - len(others)
        for name in call.fields:
            holders = [
                other.began for other in others if name in other.fields and other.began is not None
            ]
            if len(holders) >= free:
                message = (
                    f"The operation was not executed: {len(holders)} calls of the field {name!r} "
                    f"are still running, one for {monotonic() - min(holders):.0f} s, and the other "
                    "worker threads are kept for other fields. Try again later."
                )
                raise NoThreadError(message)

    def _assign_thread(self) -> bool:
        """Assign a thread to the next call; return whether one was available.

        Raises
        ------
        NoThreadError
            If all threads hang.
        """
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
                return True
            if self._start_thread():
                return True
            if self._count_running(STALE_SECONDS) >= MAX_THREADS:
                message = (
                    f"The operation was not executed: all {MAX_THREADS} worker threads hang. "
                    "Try again later."
                )
                raise NoThreadError(message)
            self._unserved += 1
            return False

    def _recheck(self, call: _Call) -> None:
        """Start a thread for a call that still waits, if busy threads have become stale."""
        if call.future.done() or call.began is not None:
            return
        with self._lock:
            if self._unserved > 0 and self._start_thread():
                self._unserved -= 1
        call.loop.call_later(STALE_SECONDS, self._recheck, call)

    def _expire(self, call: _Call, seconds: float) -> None:
        """End the wait for a call that got no thread in time, or has run for too long."""
        with self._lock:
            call.is_refused = call.began is None
        if call.began is None:
            message = (
                f"The operation was not executed: no worker thread was free within {seconds:.0f} s."
                " Try again later."
            )
            _deliver_outcome(call.future, (None, NoThreadError(message)))
        elif (left := call.began + seconds - monotonic()) <= _TIMER_SECONDS:
            _deliver_outcome(call.future, (None, HangingError()))
        elif not call.future.done():
            call.loop.call_later(left, self._expire, call, seconds)

    def _start_thread(self) -> bool:
        """Start a thread, unless there are too many; the lock is held."""
        if (
            self._count >= MAX_THREADS
            or self._count - self._count_running(STALE_SECONDS) >= MAX_BUSY_THREADS
        ):
            return False
        name = f"gqlnb-resolver-{self._count + 1}"
        try:
            threading.Thread(target=self._run_worker, name=name, daemon=True).start()
        except RuntimeError:  # the system has no more
            if self._count == 0:
                raise
            return False
        self._count += 1
        return True

    def _count_running(self, seconds: float) -> int:
        """Return the number of calls that run for longer; the lock is held."""
        now = monotonic()
        return sum(call.has_run(seconds, now) for call in self._running.values())

    def _run_worker(self) -> None:
        mine = threading.get_ident()
        while True:
            try:
                call = self._tasks.get(timeout=IDLE_SECONDS)
            except Empty:
                if self._end_idle_thread():
                    return
                continue
            if call is None:
                return
            with self._lock:
                self._running[mine] = call
                if not (call.is_refused or call.future.done()):
                    call.began = monotonic()
            done: tuple[Any, BaseException | None] | None = None
            if call.began is not None:
                try:
                    done = call.context.run(call.function), None
                except BaseException as error:  # noqa: BLE001 - raised again on the caller's loop
                    done = None, error
            # Before the result is delivered, so that the caller's next call finds this thread.
            is_surplus = self._release_thread(mine)
            if done is not None:
                with suppress(RuntimeError):  # the loop has closed
                    call.loop.call_soon_threadsafe(_deliver_outcome, call.future, done)
            del call, done  # free the objects of the request while the thread waits
            if is_surplus:
                return

    def _end_idle_thread(self) -> bool:
        """Record that an idle thread ends, unless a call was just assigned to it."""
        with self._lock:
            if self._idle == 0:
                return False
            self._idle -= 1
            self._count -= 1
            return True

    def _release_thread(self, mine: int) -> bool:
        """Record that a thread is free; return whether it should end."""
        with self._lock:
            del self._running[mine]
            if self._unserved > 0:
                self._unserved -= 1
            elif self._is_closed or self._idle >= MAX_BUSY_THREADS:
                self._count -= 1
                return True
            else:
                self._idle += 1
            return False


def _deliver_outcome(future: asyncio.Future[Any], done: tuple[Any, BaseException | None]) -> None:
    """Set the result of a future, unless the caller was cancelled."""
    if not future.done():
        future.set_result(done)
    elif iscoroutine(done[0]):
        done[0].close()  # else Python warns that it was never awaited


def find_resolver_frame(frame: FrameType | None) -> FrameType | None:
    """Return the frame of the function that the engine has called, from the stack."""
    # From the innermost frame outwards: the last change from foreign code to the engine's is the
    # outermost call, since a resolver may execute queries itself.
    above = below = None
    while frame is not None:
        if not frame.f_code.co_filename.startswith(CODE_LOCATIONS):
            below = frame
        elif below is not None:
            above, below = below, None
        frame = frame.f_back
    return above


def describe_frame(frame: FrameType | None) -> str | None:
    """Return the name and line of a function that runs; None for None."""
    if frame is None:
        return None
    module = frame.f_globals.get("__name__", "?")
    return f"{module}.{frame.f_code.co_qualname}, line {frame.f_lineno}"


_pools: WeakSet[WorkerPool] = WeakSet()


def _reset_pools_after_fork() -> None:
    for pool in list(_pools):  # the threads stayed in the parent
        WorkerPool.__init__(pool)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_pools_after_fork)


def is_cancelled() -> bool:
    """Return whether the running task was cancelled."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0

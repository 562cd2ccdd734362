"""Scheduling of operations: on the event loop after fast runs, else in a worker thread.

Switching to a thread and back takes longer than a short operation; an operation that blocks the
loop delays all others. So run times are measured. A request that ran fast `NEEDED_RUNS` times in
threads, without waiting for anything, runs on the loop when it is repeated, variables included.
After slow runs on the loop it returns to threads, and needs more fast runs each time. A request
that waits, however briefly, may wait for this very loop, and always runs in a thread.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from contextvars import Context, copy_context
from copy import deepcopy
from inspect import iscoroutine
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gqlnb.document.variables import bind_variables

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gqlnb.document.document import Document
    from gqlnb.http.messages import Request
    from gqlnb.result.result import Result

__all__ = [
    "MAX_BUSY_THREADS",
    "MAX_THREADS",
    "STALE_SECONDS",
    "HangingError",
    "KnownRequest",
    "RunOutcome",
    "Scheduler",
    "SpeedRecord",
    "count_hanging",
    "run_in_thread",
]

FAST_SECONDS = 0.001  # a switch of threads takes a tenth of it, in an idle interpreter
# Another thread may hold the GIL for this long (sys.getswitchinterval()).
SLOW_SECONDS = 0.005
TOO_SLOW_SECONDS = 0.05  # one such run sends a request back to threads
SUSPICION_RUNS = 100  # fast runs after which a slow one is forgotten
NEEDED_RUNS = 2  # fast runs in threads, at first
# Seconds of idle time not counted as waiting; the shortest exchange with another thread takes
# several times as long.
MAX_IDLE_SECONDS = 0.00001
MAX_NEEDED_RUNS = 1024
MAX_KNOWN_REQUESTS = 512
_FLAT_TYPES = frozenset({str, int, float, bool})
MAX_KNOWN_BODY = 4096  # bytes, so that clients can fill two megabytes at most


class RunOutcome(NamedTuple):
    """The run of the plain resolvers of a request.

    Attributes
    ----------
    outcome
        A Result, or an awaitable of one where a resolver was ``async``.
    document
        The executed document.
    seconds
        Run time, without parsing and validation.
    waited
        Seconds of it in which the thread was idle.
    """

    outcome: Result | Awaitable[Result]
    document: Document
    seconds: float
    waited: float


class SpeedRecord:
    """The fast runs of a request; true if there were enough for the event loop."""

    __slots__ = ("fast_runs", "needed_runs", "suspicion")

    def __init__(self, needed: int) -> None:
        self.fast_runs = 0
        self.needed_runs = needed
        self.suspicion = 0  # fast runs until a slow one is forgotten

    def __bool__(self) -> bool:
        return self.fast_runs >= self.needed_runs

    def record_loop_run(self, seconds: float) -> None:
        """Record the time of a run on the loop.

        Other load on the machine makes any request slow occasionally. Two slow runs, or a very slow
        one, send the request back to threads.
        """
        if seconds <= SLOW_SECONDS:
            if self.suspicion:
                self.suspicion -= 1
            return
        if seconds > TOO_SLOW_SECONDS or self.suspicion:
            self.fast_runs = 0
            self.needed_runs = min(4 * self.needed_runs, MAX_NEEDED_RUNS)
        self.suspicion = SUSPICION_RUNS


class KnownRequest:
    """A query that was executed before, parsed and validated.

    Attributes
    ----------
    document
        The document.
    speed
        Its fast runs.
    pending_runs
        Runs started on the fast path that turned out to need an await; the executor awaits them.
    """

    __slots__ = ("_is_flat", "_variables", "document", "pending_runs", "speed")

    def __init__(self, document: Document, variables: Mapping[str, Any]) -> None:
        self.document = document
        self.speed = SpeedRecord(NEEDED_RUNS)
        self.pending_runs: list[Awaitable[Result]] = []
        self._variables = variables
        self._is_flat = all(
            value is None or type(value) in _FLAT_TYPES for value in variables.values()
        )

    @property
    def variables(self) -> Mapping[str, Any]:
        """The variables; copied if they are mutable, since resolvers may change them."""
        return self._variables if self._is_flat else deepcopy(self._variables)


# An operation moves to the event loop only after two fast runs with the same text and variables
# that awaited nothing, because anything that waits could be waiting for this very loop. It
# returns to a thread when it is slow. Mutations always run in threads, and a replaced resolver
# starts again.
class Scheduler:
    """The known requests of one schema; used on one loop.

    Parameters
    ----------
    schema
        The schema; its `revision`, if it has one, changes when a resolver is replaced.
    """

    def __init__(self, schema: object) -> None:
        self.schema = schema
        self._revision = self._read_revision()
        self._known_requests: dict[bytes, KnownRequest] = {}

    def find_known(self, body: bytes) -> KnownRequest | None:
        """Return a known request; all are forgotten when a resolver is replaced."""
        revision = self._read_revision()
        if revision != self._revision:
            self._revision = revision
            self._known_requests.clear()
        return self._known_requests.get(body)

    def record_thread_run(self, request: Request, done: RunOutcome) -> None:
        """Record a run in a thread, with nothing to await."""
        body = request.raw
        # Mutations are seldom repeated word for word, and their time depends on more than the text.
        if done.document.kind != "query" or not 0 < len(body) <= MAX_KNOWN_BODY:
            return
        known = self.find_known(body)
        if known is None:
            # Bound again: resolvers may have changed the variables of the run.
            variables = bind_variables(done.document, request.variables)
            known = self._known_requests[body] = KnownRequest(done.document, variables)
            # First in, first out: a dict keeps the order, and an LRU would cost each hit a move.
            if len(self._known_requests) > MAX_KNOWN_REQUESTS:
                del self._known_requests[next(iter(self._known_requests))]
        if done.seconds > SLOW_SECONDS:
            known.speed.fast_runs = 0
        elif done.seconds <= FAST_SECONDS and done.waited <= MAX_IDLE_SECONDS:
            known.speed.fast_runs += 1

    def _read_revision(self) -> int:
        return getattr(self.schema, "revision", 0)


MAX_BUSY_THREADS = 40  # AnyIO's default: enough for resolvers that wait a little
STALE_SECONDS = 1.0  # after this time a call counts as hanging, and another thread may start
# All threads, hanging ones included: the default limit of connections, so that each of them may
# have a hanging request. A waiting thread takes about 50 kB.
MAX_THREADS = 256

T = TypeVar("T")
# Loop and future of the caller, the context to run in, and the function.
_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Context, "Callable[[], Any]"]


class HangingError(Exception):
    """A function did not return in time."""


class WorkerPool:
    """Daemon threads, started on demand, shared by the servers of this process.

    A ThreadPoolExecutor waits for its threads when the interpreter exits, and a hanging resolver
    would keep the process alive.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0
        self._idle = 0  # threads without a call assigned to them
        self._unserved = 0  # calls without a thread assigned to them
        self._since: dict[int, float] = {}  # start of the current call by thread

    @property
    def hanging_count(self) -> int:
        """Number of threads with a call that runs for longer than `STALE_SECONDS`."""
        with self._lock:
            return self._count_stale()

    async def run(self, function: Callable[[], T], seconds: float | None = None) -> T:
        """Run a function in a thread, and return its value on the running loop.

        Its exceptions are raised here, ``SystemExit`` included. If the caller is cancelled before a
        thread is free, the function is not run.

        Parameters
        ----------
        function
            The function.
        seconds
            Maximum time, including the time until a thread is free; None for no limit.

        Raises
        ------
        HangingError
            If the function does not return in time. Its thread goes on.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[T, None] | tuple[None, BaseException]] = loop.create_future()
        if not self._assign_thread():
            loop.call_later(STALE_SECONDS, self._recheck, loop, future)
        self._tasks.put((loop, future, copy_context(), function))
        # Lighter than asyncio.timeout(), which cancels the waiting task.
        timer = (
            loop.call_later(seconds, _deliver_outcome, future, (None, HangingError()))
            if seconds
            else None
        )
        try:
            value, error = await future
        finally:
            if timer is not None:
                timer.cancel()
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    def _assign_thread(self) -> bool:
        """Assign a thread to the next call; return whether one was available."""
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
                return True
            if self._start_thread():
                return True
            self._unserved += 1
            return False

    def _recheck(
        self, loop: asyncio.AbstractEventLoop, future: asyncio.Future[tuple[Any, Any]]
    ) -> None:
        """Start a thread for a call that still waits, if busy threads have become stale."""
        if future.done():
            return
        with self._lock:
            if self._unserved > 0 and self._start_thread():
                self._unserved -= 1
        loop.call_later(STALE_SECONDS, self._recheck, loop, future)

    def _start_thread(self) -> bool:
        """Start a thread, unless there are too many; the lock is held."""
        if self._count >= MAX_THREADS or self._count - self._count_stale() >= MAX_BUSY_THREADS:
            return False
        name = f"gqlnb-worker-{self._count + 1}"
        try:
            threading.Thread(target=self._run_worker, name=name, daemon=True).start()
        except RuntimeError:  # the system has no more
            if self._count == 0:
                raise
            return False
        self._count += 1
        return True

    def _count_stale(self) -> int:
        stale = monotonic() - STALE_SECONDS
        return sum(since < stale for since in self._since.values())

    def _run_worker(self) -> None:
        mine = threading.get_ident()
        while True:
            loop, future, context, function = self._tasks.get()
            with self._lock:
                self._since[mine] = monotonic()
            done = None if future.done() else _call_in_context(context, function)
            # Before the result is delivered, so that the caller's next call finds this thread.
            is_surplus = self._release_thread(mine)
            if done is not None:
                with suppress(RuntimeError):  # the loop has closed
                    loop.call_soon_threadsafe(_deliver_outcome, future, done)
            # Free the objects of the request while the thread waits for the next one.
            del loop, future, context, function, done
            if is_surplus:
                return

    def _release_thread(self, mine: int) -> bool:
        """Record that a thread is free; return whether it should end."""
        with self._lock:
            del self._since[mine]
            if self._unserved > 0:
                self._unserved -= 1
            elif self._idle >= MAX_BUSY_THREADS:
                self._count -= 1
                return True
            else:
                self._idle += 1
            return False


def _call_in_context(
    context: Context, function: Callable[[], Any]
) -> tuple[Any, BaseException | None]:
    """Call a function in a context; return its value and its exception."""
    try:
        return context.run(function), None
    except BaseException as error:  # raised again on the caller's loop
        return None, error


def _deliver_outcome(future: asyncio.Future[Any], done: tuple[Any, BaseException | None]) -> None:
    """Set the result of a future, unless the caller was cancelled."""
    if not future.done():
        future.set_result(done)
    elif iscoroutine(done[0]):
        done[0].close()  # else Python warns that it was never awaited


_pool = WorkerPool()


async def run_in_thread(function: Callable[[], T], seconds: float | None = None) -> T:
    """Run a function in a worker thread of this process: :meth:`WorkerPool.run`."""
    return await _pool.run(function, seconds)


def count_hanging() -> int:
    """Return the number of worker threads with a hanging call."""
    return _pool.hanging_count


def _replace_pool_after_fork() -> None:
    global _pool  # noqa: PLW0603 - the threads stayed in the parent
    _pool = WorkerPool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_pool_after_fork)

"""Where an operation is executed: at once on the loop where it has proven fast, else in a thread.

A hop to a thread and back costs more than a short operation; an operation that blocks the loop
costs everybody. No resolver says which of the two it is, but it shows. A request that was executed
fast `NEEDED_RUNS` times, without waiting for anything, is proven: asked again word for word, variables
included, it is executed on the loop. After slow executions on the loop it must prove itself anew,
and for longer each time. What waits, however short, may wait for this very loop, and is left to
threads.
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

FAST_SECONDS = 0.001  # seconds; a hop takes a tenth of it, in an idle interpreter
# Seconds: for so long another thread may keep the interpreter, which is not the operation's fault.
SLOW_SECONDS = 0.005
TOO_SLOW_SECONDS = 0.05  # seconds; once is enough to begin anew
SUSPICION_RUNS = 100  # fast executions after which a slow one is forgotten
NEEDED_RUNS = 2  # fast executions in threads, at first
# Seconds without work that are not counted as waiting; the shortest exchange with another thread
# takes several times as long.
MAX_IDLE_SECONDS = 0.00001
MAX_NEEDED_RUNS = 1024  # fast executions in threads, however often one was slow on the loop
MAX_KNOWN_REQUESTS = 512  # remembered; the oldest are forgotten
FLAT_TYPES = frozenset({str, int, float, bool})
MAX_KNOWN_BODY = (
    4096  # bytes of a request that is remembered, so that strangers fill two megabytes at most
)


class RunOutcome(NamedTuple):
    """What became of the plain resolvers of a request.

    Attributes
    ----------
    outcome
        A Result, or an awaitable of one where a resolver was ``async``.
    document
        What was executed.
    seconds
        How long that took, without parsing and validation.
    waited
        For how many of them the thread did nothing.
    """

    outcome: Result | Awaitable[Result]
    document: Document
    seconds: float
    waited: float


class SpeedRecord:
    """How often something was fast, and how often that is asked of it."""

    __slots__ = ("fast_runs", "needed_runs", "suspicion")

    def __init__(self, needed: int) -> None:
        self.fast_runs = 0
        self.needed_runs = needed
        self.suspicion = 0  # fast executions until a slow one is forgotten

    def __bool__(self) -> bool:
        return self.fast_runs >= self.needed_runs

    def record_loop_run(self, seconds: float) -> None:
        """Note how long an execution kept the loop.

        A machine that does something else makes anything slow once in a while. What is slow twice,
        or very slow once, begins anew, and more is asked of it.
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
    """A query that was executed before, ready to be executed again.

    Attributes
    ----------
    document
        What to execute.
    speed
        What it has shown.
    pending_runs
        Executions on the loop that turned out to wait for something: for who asks next.
    """

    __slots__ = ("_is_flat", "_variables", "document", "pending_runs", "speed")

    def __init__(self, document: Document, variables: Mapping[str, Any]) -> None:
        self.document = document
        self.speed = SpeedRecord(NEEDED_RUNS)
        self.pending_runs: list[Any] = []
        self._variables = variables
        self._is_flat = all(
            value is None or type(value) in FLAT_TYPES for value in variables.values()
        )

    @property
    def variables(self) -> Mapping[str, Any]:
        """What to execute it with; nothing that a resolver could change for the next one."""
        return self._variables if self._is_flat else deepcopy(self._variables)


class Scheduler:
    """What the requests to one schema have shown; used on one loop.

    Parameters
    ----------
    schema
        The schema; its `age`, if it has one, counts how often a resolver was replaced.
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self._age = self._read_age()
        self._known_requests: dict[bytes, KnownRequest] = {}

    def find_known(self, body: bytes) -> KnownRequest | None:
        """Return what is known of a request: nothing, where a resolver was replaced since."""
        age = self._read_age()
        if age != self._age:
            self._age = age
            self._known_requests.clear()
        return self._known_requests.get(body)

    def record_thread_run(self, request: Request, done: RunOutcome) -> None:
        """Note that a request was executed in a thread, with nothing to await."""
        body = request.raw
        if done.document.kind != "query" or not 0 < len(body) <= MAX_KNOWN_BODY:
            return
        known = self.find_known(body)
        if known is None:
            # Bound anew: a resolver has had the others in its hands.
            variables = bind_variables(done.document, request.variables)
            known = self._known_requests[body] = KnownRequest(done.document, variables)
            if len(self._known_requests) > MAX_KNOWN_REQUESTS:
                del self._known_requests[next(iter(self._known_requests))]
        if done.seconds > SLOW_SECONDS:
            known.speed.fast_runs = 0
        elif done.seconds <= FAST_SECONDS and done.waited <= MAX_IDLE_SECONDS:
            known.speed.fast_runs += 1

    def _read_age(self) -> int:
        return getattr(self.schema, "revision", 0)


MAX_BUSY_THREADS = (
    40  # threads that may be at work, as AnyIO has them: enough for resolvers that wait a little
)
STALE_SECONDS = 1.0  # seconds after which a call no longer counts as work: it waits, or hangs
# Threads in all, those that hang included: as many as a server keeps connections, so that each of
# them may hang without a word from the others. A thread that waits costs some 50 kB.
MAX_THREADS = 256

T = TypeVar("T")
# Where to report, in what context, and what to do.
_Task = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Context, "Callable[[], Any]"]


class HangingError(Exception):
    """A function has not come to its end in time."""


class WorkerPool:
    """Daemon threads, started as needed, shared by the servers of this process."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0  # threads
        self._idle = 0  # of these, that no call is on its way to
        self._unserved = 0  # calls that no thread is on its way to
        self._since: dict[int, float] = {}  # by thread, when the call it is at was begun

    @property
    def hanging_count(self) -> int:
        """Threads whose call has been running for longer than `STALE_SECONDS`."""
        with self._lock:
            return self._count_stale()

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
        if not self._assign_thread():
            loop.call_later(STALE_SECONDS, self._recheck, loop, future)
        self._tasks.put((loop, future, copy_context(), function))
        # Lighter than asyncio.timeout(), which would have to cancel the task that waits.
        timer = (
            loop.call_later(seconds, deliver_outcome, future, (None, HangingError()))
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
        """Send a thread to the call that comes next, and tell whether there was one."""
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
        """Send more threads to a call that still waits, if those at work have become stale."""
        if future.done():
            return
        with self._lock:
            if self._unserved > 0 and self._start_thread():
                self._unserved -= 1
        loop.call_later(STALE_SECONDS, self._recheck, loop, future)

    def _start_thread(self) -> bool:
        """Start a thread, unless there are enough at work; the lock is held."""
        if self._count >= MAX_THREADS or self._count - self._count_stale() >= MAX_BUSY_THREADS:
            return False
        name = f"gqlnb-worker-{self._count + 1}"
        try:
            threading.Thread(target=self._run_worker, name=name, daemon=True).start()
        except RuntimeError:  # the system gives no more
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
            done = None if future.done() else call_in_context(context, function)
            last = self._release_thread(
                mine
            )  # before the news is out: the next call finds a thread
            if done is not None:
                with suppress(RuntimeError):  # the loop has closed: nobody waits any more
                    loop.call_soon_threadsafe(deliver_outcome, future, done)
            # Nothing of a request stays alive in a thread that waits for the next one.
            del loop, future, context, function, done
            if last:
                return

    def _release_thread(self, mine: int) -> bool:
        """Note that a thread is free, and tell whether it is one too many."""
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


def call_in_context(
    context: Context, function: Callable[[], Any]
) -> tuple[Any, BaseException | None]:
    """Call a function in a context and return its value, or what it raised."""
    try:
        return context.run(function), None
    except BaseException as error:
        # It is raised again on the loop that waits.
        return None, error


def deliver_outcome(future: asyncio.Future[Any], done: tuple[Any, BaseException | None]) -> None:
    """Hand the outcome over, unless nobody waits for it any more."""
    if not future.done():
        future.set_result(done)
    elif iscoroutine(done[0]):
        done[0].close()  # or Python would complain, in some cell, that nobody awaited it


_pool = WorkerPool()


async def run_in_thread(function: Callable[[], T], seconds: float | None = None) -> T:
    """Do as :meth:`WorkerPool.run_in_thread` with the worker threads of this process."""
    return await _pool.run(function, seconds)


def count_hanging() -> int:
    """Return how many worker threads of this process are at a call that does not end."""
    return _pool.hanging_count


def _replace_pool_after_fork() -> None:
    global _pool  # noqa: PLW0603 - the threads stayed in the parent
    _pool = WorkerPool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_pool_after_fork)

"""Process-wide background resources: open servers, the event loop thread, worker threads."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, Protocol, Self, TypeVar

T = TypeVar("T")
POLL_SECONDS = 1.0  # how often a waiting thread checks for an interrupt
WAKE_SECONDS = 0.1  # the longest delay of Stop in a cell that awaits
NOT_WAKING = nullcontext()
MAX_WORKER_THREADS = 256  # of functions that may block; a thread costs about 50 kB


class ServerLike(Protocol):
    """A server that can be registered."""

    @property
    def url(self) -> str:
        """The address of the server."""

    def close(self) -> None:
        """Stop the server."""


class ServerRegistry:
    """The open servers of this process, oldest first; thread-safe."""

    def __init__(self) -> None:
        self._open: list[ServerLike] = []
        self._lock = threading.Lock()

    def add(self, server: ServerLike) -> None:
        """Register a server that has started."""
        with self._lock:
            self._open.append(server)

    def remove(self, server: ServerLike) -> None:
        """Unregister a closed server; an unknown one is ignored."""
        with self._lock:
            self._open = [known for known in self._open if known is not server]

    def get_newest(self) -> Any:  # noqa: ANN401 - of any layer above
        """Return the server opened last, or None."""
        with self._lock:
            return self._open[-1] if self._open else None

    def list_open(self) -> tuple[Any, ...]:
        """Return the open servers, oldest first."""
        with self._lock:
            return tuple(self._open)

    def close(self) -> None:
        """Close all servers, newest first."""
        for server in reversed(self.list_open()):
            server.close()


servers = ServerRegistry()

_loop: asyncio.AbstractEventLoop | None = None
_loop_lock = threading.Lock()
_thread_slots = threading.Semaphore(MAX_WORKER_THREADS)


def _reset_after_fork() -> None:
    # A thread of the parent may have held a lock at the fork, and its threads do not run here.
    global _loop, _loop_lock, _thread_slots  # noqa: PLW0603
    servers.__init__()  # type: ignore[misc]  # other modules may have imported it by name
    _loop, _loop_lock = None, threading.Lock()
    _thread_slots = threading.Semaphore(MAX_WORKER_THREADS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def _get_loop() -> asyncio.AbstractEventLoop:
    """Return the running background loop; its daemon thread starts with the first call."""
    global _loop  # noqa: PLW0603
    with _loop_lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="gqlnb-loop", daemon=True).start()
        return _loop


def start(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine on the background loop.

    Returns
    -------
    concurrent.futures.Future
        Its ``cancel()`` cancels the coroutine.

    Raises
    ------
    RuntimeError
        If called on the background loop itself, where waiting for the future would block it.
    """
    loop = _get_loop()
    try:
        blocks_itself = asyncio.get_running_loop() is loop
    except RuntimeError:  # no loop runs in this thread
        blocks_itself = False
    if blocks_itself:
        coroutine.close()
        msg = (
            "execute() was called from a resolver on gqlnb's own event loop, which would block "
            "forever. Await aexecute() there."
        )
        raise RuntimeError(msg)
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the background loop and wait for its result.

    An interrupt cancels the coroutine. Exceptions of the coroutine are raised here; see
    :func:`start` for RuntimeError.
    """
    future: Future[T] | None = None
    try:
        future = start(coroutine)
        return _wait_for_result(future)
    except BaseException:
        if future is not None:
            future.cancel()
        else:  # an interrupt may come between the start and the assignment
            _cancel_task(coroutine)
        raise


def _cancel_task(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Cancel a coroutine if it runs on the background loop; else it would wait to be garbage."""
    loop = _get_loop()

    def cancel() -> None:
        for task in asyncio.all_tasks(loop):
            if task.get_coro() is coroutine:
                task.cancel()

    loop.call_soon_threadsafe(cancel)


def _wait_for_result(future: Future[T]) -> T:
    # Polls: Python handles an interrupt that arrives just before a thread blocks only after the
    # wait has ended.
    while True:
        try:
            return future.result(POLL_SECONDS)
        except TimeoutError:
            if future.done():  # the coroutine itself raised TimeoutError
                return future.result()


def wait_for_event(event: threading.Event, seconds: float | None = None) -> bool:
    """Wait for an event; Ctrl-C ends the wait on every system.

    Parameters
    ----------
    event
        The event.
    seconds
        The longest wait; None for no limit.

    Returns
    -------
    bool
        Whether the event is set.
    """
    # Polls: before Python 3.14, Windows handles Ctrl-C only after a wait has ended.
    end = math.inf if seconds is None else time.monotonic() + seconds
    while not event.wait(max(0.0, min(POLL_SECONDS, end - time.monotonic()))):
        if time.monotonic() >= end:
            return False
    return True


# On a thread of its own, a function that never returns, such as a read from a socket, blocks
# neither other functions nor the exit of the process. The thread starts with the first function.
def start_thread(work: Callable[[], object], name: str) -> threading.Thread | None:
    """Run a function in a daemon thread.

    Parameters
    ----------
    work
        The function; its result is ignored.
    name
        The name of the thread.

    Returns
    -------
    Thread or None
        The thread; None where Python has no threads, as in a browser, after the function has run.
    """
    if sys.platform == "emscripten":
        work()
        return None
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


class WorkerThread:
    """A daemon thread that runs blocking functions one after another, awaited on an event loop."""

    def __init__(self) -> None:
        self._slots = _thread_slots
        self._queue: SimpleQueue[Callable[[], bool]] = SimpleQueue()  # True: it was the last one
        self._is_started = False

    async def run(self, function: Callable[[], T], *, last: bool = False) -> T:
        """Run a function in the thread and return its result; its exceptions are raised here.

        Parameters
        ----------
        function
            The function, called with the context variables of the caller.
        last
            Whether to end the thread after this function, without :meth:`close`.

        Raises
        ------
        RuntimeError
            If 256 worker threads are running.
        """
        if not self._is_started:
            if not self._slots.acquire(blocking=False):
                message = (
                    f"{MAX_WORKER_THREADS} functions are running in worker threads, which is the "
                    "limit. Wait for one of them to return."
                )
                raise RuntimeError(message)
            self._is_started = True
            threading.Thread(target=self._run_queue, name="gqlnb-worker", daemon=True).start()
        loop, context = asyncio.get_running_loop(), copy_context()
        future: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

        def run_function() -> bool:
            try:
                outcome: tuple[Any, BaseException | None] = context.run(function), None
            except BaseException as error:  # noqa: BLE001 - raised again by the caller
                outcome = None, error
            if last:
                self._slots.release()
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_set_outcome, future, outcome)
            return last

        self._queue.put(run_function)
        value, error = await future
        if error is not None:
            raise error
        found: T = value
        return found

    def _run_queue(self) -> None:
        while not self._queue.get()():
            pass

    def close(self) -> None:
        """End the thread after the functions already submitted."""

        def release() -> bool:
            self._slots.release()
            return True

        if self._is_started:
            self._queue.put(release)


def _set_outcome(future: asyncio.Future[T], outcome: T) -> None:
    if not future.done():  # the awaiting task was not cancelled
        future.set_result(outcome)


class WorkerThreads:
    """Worker threads that run many functions at once, each again after its function.

    A context manager, which ends the threads; one with a running function ends after that.
    """

    # A thread for each function takes five times as long as handing it to one that waits.
    def __init__(self) -> None:
        self._idle: list[WorkerThread] = []
        self._is_closed = False

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function in a thread that runs no other, as :meth:`WorkerThread.run` does."""
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = WorkerThread()
        try:
            return await worker.run(function)
        except asyncio.CancelledError:
            self._is_closed = True  # the function still runs, perhaps for ever
            raise
        finally:
            self._idle.append(worker)
            if self._is_closed:
                self._end_idle()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed = True
        self._end_idle()

    def _end_idle(self) -> None:
        with suppress(IndexError):  # the loop's thread takes from the list, too
            while True:
                self._idle.pop().close()


async def run_in_thread(function: Callable[[], T]) -> T:
    """Run a function in a daemon thread of its own, as :meth:`WorkerThread.run` does."""
    return await WorkerThread().run(function, last=True)


@contextmanager
def open_thread_pool(width: int) -> Iterator[ThreadPoolExecutor]:
    """Return a context manager for a thread pool that does not wait for running tasks on exit."""
    executor = ThreadPoolExecutor(width, thread_name_prefix="gqlnb-pages")
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def iterate_completed(futures: Mapping[Future[Any], object]) -> Iterator[Future[Any]]:
    """Yield futures as they complete, those completed together in the given order."""
    left = list(futures)
    while left:
        done, _ = wait(left, return_when="FIRST_COMPLETED")
        yield from (future for future in left if future in done)
        left = [future for future in left if future not in done]


class LoopWaker:
    """A context manager that wakes the running loop several times per second."""

    def __enter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._wake()

    def _wake(self) -> None:
        self._timer = self._loop.call_later(WAKE_SECONDS, self._wake)

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def wake_loop() -> AbstractContextManager[None]:
    """Return a context manager for waiting on the running loop: Stop then ends a notebook's cell.

    It has no effect outside of ipykernel's main thread.
    """
    # ipykernel handles Stop in a cell that awaits by a callback, which it adds to the loop from the
    # loop's own thread. That does not end the loop's wait for its next event: without an earlier
    # one, the cell would end with the request's timeout. asyncio.run() wakes its loop itself.
    if "ipykernel" not in sys.modules or threading.current_thread() is not threading.main_thread():
        return NOT_WAKING
    return LoopWaker()


@contextmanager
def defer_interrupt() -> Iterator[None]:
    """Return a context manager that defers Ctrl-C to the end of the block."""
    # Without effect outside the main thread, which alone receives signals.
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda *args: received.append(args))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])

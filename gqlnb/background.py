"""What this process has open: its servers, its one background loop, threads that may wait."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping
    from concurrent.futures import Future

__all__ = [
    "WorkerThread",
    "defer_interrupt",
    "iterate_completed",
    "open_thread_pool",
    "open_worker_thread",
    "run",
    "run_in_thread",
    "servers",
    "start",
]

T = TypeVar("T")
POLL_SECONDS = 1.0  # seconds after which who waits for a result looks whether it was interrupted
MAX_WORKER_THREADS = 256  # functions that may wait in threads of their own; each costs some 50 kB


class ServerLike(Protocol):
    """What the registry knows of a server."""

    @property
    def url(self) -> str:
        """Where it answers."""

    def close(self) -> None:
        """Stop it."""


class ServerRegistry:
    """The open servers of this process, oldest first; safe to use from any thread."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._lock = threading.Lock()

    def add(self, server: ServerLike) -> None:
        """Note a server that has just begun to answer."""
        with self._lock:
            self._open.append(server)

    def remove(self, server: ServerLike) -> None:
        """Forget a server that has closed; one that is not noted is no error."""
        with self._lock:
            self._open = [known for known in self._open if known is not server]

    def get_newest(self) -> Any:
        """Return the server opened last, or None."""
        with self._lock:
            return self._open[-1] if self._open else None

    def list_open(self) -> tuple[Any, ...]:
        """Return the open servers, oldest first."""
        with self._lock:
            return tuple(self._open)

    def close(self) -> None:
        """Close them all, newest first."""
        for server in reversed(self.list_open()):
            server.close()


servers = ServerRegistry()


class BackgroundLoop:
    """One event loop in one daemon thread, started when first used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    def get(self) -> asyncio.AbstractEventLoop:
        """Return the running loop; a forked child gets one of its own."""
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                threading.Thread(
                    target=self._loop.run_forever, name="gqlnb-loop", daemon=True
                ).start()
            return self._loop

    def start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine on the loop, to wait for its future; to cancel that cancels it."""
        loop = self.get()
        if _get_running_loop() is loop:
            coroutine.close()
            msg = (
                "execute() was called from a resolver on gqlnb's own loop, which would wait for "
                "itself for ever. Await aexecute() there."
            )
            raise RuntimeError(msg)
        return asyncio.run_coroutine_threadsafe(coroutine, loop)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for it; an interrupt cancels it."""
        future: Future[T] | None = None
        try:
            future = self.start(coroutine)
            return _wait_for_result(future)
        except BaseException:
            if future is not None:
                future.cancel()
            raise


def _wait_for_result(future: Future[T]) -> T:
    """Wait for a future.

    Not in one go: Python sees an interrupt that comes just before a thread begins to wait only when
    the wait is over.
    """
    while True:
        try:
            return future.result(POLL_SECONDS)
        except TimeoutError:
            if future.done():  # it is the coroutine's own
                return future.result()


def _get_running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


_background = BackgroundLoop()
run = _background.run
start = _background.start


class WorkerThread:
    """A daemon thread that runs one function after another, for who awaits them on a loop.

    They are functions that may wait for ever, such as reading a socket: that keeps neither others
    nor the end of the process waiting. The thread begins with the first one.

    Parameters
    ----------
    places
        How many more hands may have a thread.
    """

    def __init__(self, places: threading.Semaphore) -> None:
        self._free_threads = places
        self._queue: SimpleQueue[Callable[[], bool]] = SimpleQueue()  # each says if it is the last
        self._is_started = False

    async def run(self, function: Callable[[], T], *, last: bool = False) -> T:
        """Run a function there and wait for it on the running loop; what it raises is raised here.

        Parameters
        ----------
        function
            The function.
        last
            Whether it is the last one, so that nobody needs to close the hand.

        Raises
        ------
        RuntimeError
            If 256 hands have a thread already.
        """
        if not self._is_started:
            self._start_thread()
        loop, context = asyncio.get_running_loop(), copy_context()
        future: asyncio.Future[tuple[T, None] | tuple[None, BaseException]] = loop.create_future()

        def run_function() -> bool:
            try:
                done: Any = context.run(function), None
            except BaseException as error:
                done = None, error
            if last:
                self._free_threads.release()
            with suppress(RuntimeError):  # the loop has closed: nobody waits any more
                loop.call_soon_threadsafe(_set_outcome, future, done)
            return last

        self._queue.put(run_function)
        value, fault = await future
        if fault is not None:
            raise fault
        return value  # type: ignore[return-value]

    def _start_thread(self) -> None:
        if not self._free_threads.acquire(blocking=False):
            message = (
                f"{MAX_WORKER_THREADS} functions wait in threads already; one more is not started."
            )
            raise RuntimeError(message)
        self._is_started = True
        threading.Thread(target=self._run_queue, name="gqlnb-aside", daemon=True).start()

    def _run_queue(self) -> None:
        while not self._queue.get()():
            pass

    def close(self) -> None:
        """Let the thread end, as soon as the functions it was given are over."""
        if self._is_started:
            self._queue.put(self._release_thread)

    def _release_thread(self) -> bool:
        self._free_threads.release()
        return True


class WorkerThreads:
    """The threads that functions of this process wait in."""

    def __init__(self) -> None:
        self._free_threads = threading.Semaphore(MAX_WORKER_THREADS)

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function in a daemon thread of its own, as :meth:`WorkerThread.run` does."""
        return await self.open_worker_thread().run(function, last=True)

    def open_worker_thread(self) -> WorkerThread:
        """Return a thread for several functions."""
        return WorkerThread(self._free_threads)


def _set_outcome(future: asyncio.Future[Any], done: Any) -> None:
    """Hand an outcome over, unless nobody waits for it any more."""
    if not future.done():
        future.set_result(done)


_worker_threads = WorkerThreads()
run_in_thread = _worker_threads.run
open_worker_thread = _worker_threads.open_worker_thread


def _reset_after_fork() -> None:
    """Give a forked child locks of its own: a thread of the parent may have held these."""
    servers.__init__()  # type: ignore[misc]
    _background.__init__()  # type: ignore[misc]
    _worker_threads.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


@contextmanager
def open_thread_pool(width: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads; an interrupt does not wait for what they still do."""
    executor = ThreadPoolExecutor(width, thread_name_prefix="gqlnb-pages")
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def iterate_completed(futures: Mapping[Future[Any], Any]) -> Iterator[Future[Any]]:
    """Yield futures as they are done, those done together in the order they were given."""
    left = list(futures)
    while left:
        done, _ = wait(left, return_when="FIRST_COMPLETED")
        yield from (each for each in left if each in done)
        left = [each for each in left if each not in done]


@contextmanager
def defer_interrupt() -> Iterator[None]:
    """Hold Ctrl-C back until the block is over; only the main thread hears it at all."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    heard: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda *args: heard.append(args))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if heard:
            usual(*heard[0])

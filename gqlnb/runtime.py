"""What this process has open: its servers, its one background loop, threads that may wait."""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

__all__ = ["Hand", "aside", "hand", "run", "servers", "start"]

T = TypeVar("T")
LOOK = 1.0  # seconds after which who waits for a result looks whether it was interrupted
ASIDE = 256  # functions that may wait in threads of their own; each costs some 50 kB


class ServerLike(Protocol):
    """What the registry knows of a server."""

    @property
    def url(self) -> str:
        """Where it answers."""

    def close(self) -> None:
        """Stop it."""


class Servers:
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

    def newest(self) -> Any:
        """Return the server opened last, or None."""
        with self._lock:
            return self._open[-1] if self._open else None

    def all(self) -> tuple[Any, ...]:
        """Return the open servers, oldest first."""
        with self._lock:
            return tuple(self._open)

    def close(self) -> None:
        """Close them all, newest first."""
        for server in reversed(self.all()):
            server.close()


servers = Servers()


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
        if _running_loop() is loop:
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
            return _waited(future)
        except BaseException:
            if future is not None:
                future.cancel()
            raise


def _waited(future: Future[T]) -> T:
    """Wait for a future.

    Not in one go: Python sees an interrupt that comes just before a thread begins to wait only when
    the wait is over.
    """
    while True:
        try:
            return future.result(LOOK)
        except TimeoutError:
            if future.done():  # it is the coroutine's own
                return future.result()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


_background = BackgroundLoop()
run = _background.run
start = _background.start


class Hand:
    """A daemon thread that runs one function after another, for who awaits them on a loop.

    They are functions that may wait for ever, such as reading a socket: that keeps neither others
    nor the end of the process waiting. The thread begins with the first one.

    Parameters
    ----------
    places
        How many more hands may have a thread.
    """

    def __init__(self, places: threading.Semaphore) -> None:
        self._places = places
        self._given: SimpleQueue[Callable[[], bool]] = SimpleQueue()  # each says if it is the last
        self._begun = False

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
        if not self._begun:
            self._begin()
        loop, context = asyncio.get_running_loop(), copy_context()
        future: asyncio.Future[tuple[T, None] | tuple[None, BaseException]] = loop.create_future()

        def work() -> bool:
            try:
                done: Any = context.run(function), None
            except BaseException as error:
                done = None, error
            if last:
                self._places.release()
            with suppress(RuntimeError):  # the loop has closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, future, done)
            return last

        self._given.put(work)
        value, fault = await future
        if fault is not None:
            raise fault
        return value  # type: ignore[return-value]

    def _begin(self) -> None:
        if not self._places.acquire(blocking=False):
            message = f"{ASIDE} functions wait in threads already; one more is not started."
            raise RuntimeError(message)
        self._begun = True
        threading.Thread(target=self._work, name="gqlnb-aside", daemon=True).start()

    def _work(self) -> None:
        while not self._given.get()():
            pass

    def close(self) -> None:
        """Let the thread end, as soon as the functions it was given are over."""
        if self._begun:
            self._given.put(self._end)

    def _end(self) -> bool:
        self._places.release()
        return True


class Aside:
    """The threads that functions of this process wait in."""

    def __init__(self) -> None:
        self._places = threading.Semaphore(ASIDE)

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function in a daemon thread of its own, as :meth:`Hand.run` does."""
        return await self.hand().run(function, last=True)

    def hand(self) -> Hand:
        """Return a thread for several functions."""
        return Hand(self._places)


def _settle(future: asyncio.Future[Any], done: Any) -> None:
    """Hand an outcome over, unless nobody waits for it any more."""
    if not future.done():
        future.set_result(done)


_aside = Aside()
aside = _aside.run
hand = _aside.hand


def _after_fork() -> None:
    """Give a forked child locks of its own: a thread of the parent may have held these."""
    servers.__init__()  # type: ignore[misc]
    _background.__init__()  # type: ignore[misc]
    _aside.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

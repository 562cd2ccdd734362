"""Threads that ask, and the one that takes in what came: an interrupt loses nothing of it."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["arriving", "pool", "undisturbed"]


@contextmanager
def pool(width: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads; an interrupt does not wait for what they still do."""
    executor = ThreadPoolExecutor(width, thread_name_prefix="gqlnb-pages")
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def arriving(futures: Mapping[Future[Any], Any]) -> Iterator[Future[Any]]:
    """Yield futures as they are done, those done together in the order they were given."""
    left = list(futures)
    while left:
        done, _ = wait(left, return_when="FIRST_COMPLETED")
        yield from (each for each in left if each in done)
        left = [each for each in left if each not in done]


@contextmanager
def undisturbed() -> Iterator[None]:
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

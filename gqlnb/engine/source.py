"""What the function of a subscription gives, as the stream of events that graphql-core reads."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Iterable, Iterator
from inspect import isawaitable
from typing import Any

from gqlnb import runtime
from gqlnb.errors import plain

__all__ = ["Steps", "source_of"]

_END = object()


def source_of(made: Any, place: str) -> AsyncIterable[Any] | Awaitable[AsyncIterable[Any]]:
    """Return events as an asynchronous iterable, whatever kind of iterable they are.

    Parameters
    ----------
    made
        What the function returned: an asynchronous iterable, an iterable, or an awaitable of one.
    place
        Type and field, for the error.

    Raises
    ------
    TypeError
        If it can't be iterated over.
    """
    if isinstance(made, AsyncIterable):
        return made
    if isawaitable(made):
        return _awaited(made, place)
    if isinstance(made, Iterable) and not isinstance(made, (str, bytes, dict)):
        return Steps(iter(made))
    message = (
        f"The function for {place} must give its events one by one, as a generator does "
        f"('yield value', async or not); it returned {plain(type(made).__name__, 80)}."
    )
    raise TypeError(message)


async def _awaited(made: Awaitable[Any], place: str) -> AsyncIterable[Any]:
    source = source_of(await made, place)
    return await source if isawaitable(source) else source


class Steps(AsyncIterator[Any]):
    """A plain iterator as an asynchronous one: each step runs in a thread of its own.

    A step may wait as long as it likes, for a clock or a queue. An iterator that is left in the
    middle of a step is closed when that step is over.
    """

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator
        self._lock = threading.Lock()  # held while the iterator works
        self._closed = False

    async def __anext__(self) -> Any:
        value = await runtime.aside(self._step)
        if value is _END:
            raise StopAsyncIteration
        return value

    async def aclose(self) -> None:
        """Close the iterator, now or at the end of its step; nobody waits for that."""
        self._closed = True
        if not self._lock.locked():  # else the step finds it closed, and does it
            await runtime.aside(self._close)

    def _step(self) -> Any:
        try:
            with self._lock:
                return _END if self._closed else next(self._iterator, _END)
        finally:
            if self._closed:
                self._close()

    def _close(self) -> None:
        close = getattr(self._iterator, "close", None)  # a list's iterator has none
        with self._lock:
            if close is not None:
                close()

"""A bounded buffer between a stream and who reads it: whoever is slow slows the other side."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import aclosing
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

__all__ = ["EVENTS", "buffered"]

T = TypeVar("T")
EVENTS = 64  # events read ahead; the sockets below hold some more


class Buffer(Generic[T]):
    """What has come and was not taken yet.

    Parameters
    ----------
    most
        Items it holds at most.
    size
        Bytes it holds at most, one item apart; None for any number.
    """

    def __init__(self, most: int, size: int | None) -> None:
        self._most, self._size = most, size
        self._items: deque[tuple[T, int]] = deque()
        self._held = 0
        self._over = False
        self._fault: Exception | None = None
        self._changed = asyncio.Condition()

    async def put(self, item: T, size: int) -> None:
        """Add an item as soon as there is room."""
        async with self._changed:
            await self._changed.wait_for(self._room)
            self._items.append((item, size))
            self._held += size
            self._changed.notify_all()

    def _room(self) -> bool:
        full = self._size is not None and self._held >= self._size
        return len(self._items) < self._most and not full

    async def end(self, fault: Exception | None) -> None:
        """Say that nothing more will be added, and why if that is an error."""
        async with self._changed:
            self._over, self._fault = True, fault
            self._changed.notify_all()

    async def take(self) -> tuple[T] | None:
        """Return the oldest item in a tuple, waiting for it; None at the end.

        Raises
        ------
        Exception
            What ended the stream, after its last item.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._items or self._over)
            if not self._items and self._fault is not None:
                raise self._fault
            if not self._items:
                return None
            item, size = self._items.popleft()
            self._held -= size
            self._changed.notify_all()
            return (item,)


async def buffered(
    source: AsyncGenerator[T, None], size_of: Callable[[T], int], size: int | None
) -> AsyncGenerator[T, None]:
    """Yield what `source` yields, reading ahead in a task of its own.

    The source runs in that one task from beginning to end, so that it answers the other side's
    pings while nobody takes its items, until the buffer is full: 64 items, or `size` bytes. It has
    ended when this has.
    """
    buffer: Buffer[T] = Buffer(EVENTS, size)

    async def fill() -> None:
        fault = None
        try:
            async with aclosing(source):
                async for item in source:
                    await buffer.put(item, size_of(item))
        except Exception as error:
            fault = error
        await buffer.end(fault)

    task = asyncio.create_task(fill())
    try:
        while (taken := await buffer.take()) is not None:
            yield taken[0]
    finally:
        task.cancel()
        await asyncio.wait([task])

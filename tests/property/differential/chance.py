"""Choices that a key decides, so that every case can be made again from its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

WORD = 2**64 - 1


class Chance:
    """A stream of choices decided by its key.

    A branch depends on the keys alone, not on what was drawn before or beside it: taking a field
    out of a document leaves the values of all other fields as they were.
    """

    __slots__ = ("_start", "_state")

    def __init__(self, *key: Any) -> None:
        text = repr(key).encode()
        self._start = crc32(text) << 32 | crc32(text, 0x5EED)
        self._state = self._start

    @property
    def start(self) -> int:
        """A number that stands for the key."""
        return self._start

    def _next(self) -> int:
        # splitmix64, the generator that seeds java.util.SplittableRandom.
        self._state = (self._state + 0x9E3779B97F4A7C15) & WORD
        mixed = self._state
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & WORD
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & WORD
        return mixed ^ mixed >> 31

    def branch(self, *key: Any) -> Chance:
        """Return the stream of a part."""
        return Chance(self._start, *key)

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to `limit` - 1."""
        return self._next() % limit

    def odds(self, percent: int) -> bool:
        """Return true in `percent` of 100 cases."""
        return self._next() % 100 < percent

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of `choices`."""
        return choices[self._next() % len(choices)]

    def some(self, choices: Sequence[T], least: int, most: int) -> list[T]:
        """Return from `least` to `most` different members of `choices`, in their order."""
        count = min(len(choices), least + self.below(most - least + 1))
        pool = list(range(len(choices)))
        kept = sorted(pool.pop(self.below(len(pool))) for _ in range(count))
        return [choices[index] for index in kept]

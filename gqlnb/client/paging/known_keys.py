"""The keys of the items of a list so far, in little memory."""

from __future__ import annotations

from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable

MAX_EXACT_KEYS = 10_000  # of a list whose rows are not kept
# Bytes of a digest. Two of 10 million keys have the same one with a probability of 6e-16. With 8
# bytes it would be 3e-6, and a row would be removed.
DIGEST_BYTES = 12
EMPTY = bytes(DIGEST_BYTES)
FIRST_CELLS = 2**15


class KnownKeys:
    """A set of keys, which stores digests instead of many keys.

    A key takes about 200 bytes in a set, a digest 17 to 34. Iterating over the pages of a list
    keeps nothing else of its rows. A digest takes three times as long, though.

    Parameters
    ----------
    most
        Number of keys beyond which their digests are stored; None for any number of keys.
    """

    def __init__(self, most: int | None) -> None:
        self._most = inf if most is None else most
        self._keys: set[Hashable] = set()
        self._cells = bytearray()  # a hash table with open addressing
        self._count = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys or (self._count > 0 and self._find_cell(digest_key(key)) is None)

    def add_new(self, keys: Collection[Hashable]) -> bool:
        """Add keys if none of them is known; return whether they were added."""
        if self._count:
            digests = [*map(digest_key, keys)]
            is_new = None not in map(self._find_cell, digests)
            if is_new:
                self._add_digests(digests)
            return is_new
        is_new = self._keys.isdisjoint(keys)
        if is_new:
            self.update(keys)
        return is_new

    def update(self, keys: Iterable[Hashable]) -> None:
        """Add keys."""
        if not self._count:
            self._keys.update(keys)
            if len(self._keys) <= self._most:
                return
            self._cells = bytearray(DIGEST_BYTES * FIRST_CELLS)
            keys, self._keys = self._keys, set()
        self._add_digests(map(digest_key, keys))

    def _add_digests(self, digests: Iterable[bytes]) -> None:
        for digest in digests:
            cell = self._find_cell(digest)
            if cell is None:
                continue
            self._cells[cell : cell + DIGEST_BYTES] = digest
            self._count += 1
            if 10 * self._count * DIGEST_BYTES > 7 * len(self._cells):
                old, self._cells, self._count = self._cells, bytearray(2 * len(self._cells)), 0
                cells = (
                    bytes(old[at : at + DIGEST_BYTES]) for at in range(0, len(old), DIGEST_BYTES)
                )
                self._add_digests(it for it in cells if it != EMPTY)

    def _find_cell(self, digest: bytes) -> int | None:
        """Return the offset of the cell for a digest; None if the table has it."""
        cells = self._cells
        cell = hash(digest) * DIGEST_BYTES % len(cells)
        while (there := cells[cell : cell + DIGEST_BYTES]) != EMPTY:
            if there == digest:
                return None
            cell = (cell + DIGEST_BYTES) % len(cells)
        return cell


def digest_key(key: Hashable) -> bytes:
    """Return the digest of a key, by its text."""
    return blake2b(repr(key).encode(errors="surrogatepass"), digest_size=DIGEST_BYTES).digest()

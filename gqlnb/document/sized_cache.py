"""A cache that is bounded by the size of its contents, for texts from untrusted clients."""

from __future__ import annotations

import threading
from typing import TypeVar

# A parsed and planned document takes 200 to 300 bytes for each character of its text, so a full
# cache of documents takes about 40 MB.
MAX_CACHED_CHARACTERS = 150_000

K = TypeVar("K")
V = TypeVar("V")


# First in, first out: a look-up is that of a dict and reorders nothing. An entry that is used often
# is parsed once more each time the cache was filled by others, which cost them as much per text.
class SizedCache(dict[K, V]):
    """A dict that drops its oldest entries; change it by :meth:`add` and :meth:`clear` only.

    Parameters
    ----------
    max_items
        Maximum number of entries.
    max_size
        Maximum sum of their sizes.
    """

    def __init__(self, max_items: int, max_size: int = MAX_CACHED_CHARACTERS) -> None:
        super().__init__()
        self._max_items, self._max_size = max_items, max_size
        self._sizes: dict[K, int] = {}
        self._size = 0
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, object]) -> SizedCache[K, V]:
        """Return an empty cache with the same bounds."""
        return SizedCache(self._max_items, self._max_size)

    def add(self, key: K, value: V, size: int) -> None:
        """Add or replace an entry; one that is larger than the cache is not added."""
        if size > self._max_size:
            return
        with self._lock:
            if key in self:
                self._drop(key)
            while len(self) >= self._max_items or self._size + size > self._max_size:
                self._drop(next(iter(self)))
            self[key], self._sizes[key] = value, size
            self._size += size

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            super().clear()
            self._sizes.clear()
            self._size = 0

    def _drop(self, key: K) -> None:
        self.pop(key, None)
        self._size -= self._sizes.pop(key, 0)

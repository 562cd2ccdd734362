"""The cache of what strangers send: bounded in number and in size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gqlnb.document.sized_cache import SizedCache


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=60))
def test_the_cache_is_bounded_in_number_and_size(entries):
    """Neither bound is exceeded, and the newest entry that fits is present."""
    cache: SizedCache[int, int] = SizedCache(4, 10)
    sizes: dict[int, int] = {}
    for key, size in entries:
        cache.add(key, size, size)
        if size <= 10:
            sizes[key] = size
            assert cache[key] == size
        assert len(cache) <= 4
        assert sum(sizes[kept] for kept in cache) <= 10


def test_the_oldest_entry_is_evicted_first():
    """A look-up does not renew an entry; adding it again does."""
    cache: SizedCache[str, int] = SizedCache(9, 10)
    for key in "abc":
        cache.add(key, 1, 3)
    assert cache.get("a") == 1
    cache.add("d", 1, 3)
    assert list(cache) == ["b", "c", "d"]
    cache.add("b", 2, 3)
    cache.add("e", 1, 4)
    assert list(cache) == ["d", "b", "e"]
    cache.clear()
    cache.add("f", 1, 10)
    assert list(cache) == ["f"]

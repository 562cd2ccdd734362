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

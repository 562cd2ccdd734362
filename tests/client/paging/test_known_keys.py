"""The keys by which repeated items are recognised, in long lists."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from gqlnb.client.paging import cursors
from gqlnb.client.paging.cursors import KnownKeys
from tests.client.paging.lists import build_client, build_page


@pytest.mark.parametrize("limit", [0, 10, None])
def test_known_keys_are_those_of_a_set(monkeypatch, limit):
    """Also when they become digests, and when many have the same bucket."""
    monkeypatch.setattr(cursors, "BUCKETS", 8)
    dice = random.Random(1)
    expected, known = set(), KnownKeys(limit)
    for _ in range(200):
        page = {(dice.randrange(3000), None) for _ in range(20)} | {("\ud800", dice.random())}
        assert {key for key in page if key in known} == page & expected
        known.update(page)
        expected |= page
    assert all(key in known for key in expected)


def test_a_key_takes_few_bytes():
    """Pages that nobody keeps would else take 190 bytes for a row."""
    count = 46_000
    tracemalloc.start()
    known = KnownKeys(100)
    for start in range(0, count, 100):
        known.update((f"MDEwOlJlcG9zaXRvcnkx{n}", None) for n in range(start, start + 100))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / count < 40


def test_repeated_rows_are_removed_from_long_lists(monkeypatch):
    """And reported."""
    monkeypatch.setattr(cursors, "MAX_EXACT_KEYS", 20)
    sdl = "rows(first: Int, after: String): Nodes!"
    ids = [*range(95), 3, 50, *range(95, 100)]
    rows = [{"id": str(each)} for each in ids]
    client = build_client(sdl, lambda args: build_page(rows, args.get("after"), 10))
    fields = "nodes { id } pageInfo { hasNextPage endCursor }"
    text = f"query($after: String) {{ rows(first: 10, after: $after) {{ {fields} }} }}"
    with pytest.warns(UserWarning, match="2 items were returned twice"):
        pages = list(client.pages(text))
    got = [row["id"] for page in pages for row in page.data["rows"]["nodes"]]
    assert got == [str(n) for n in range(100)]

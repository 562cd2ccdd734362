"""A window is cut into windows that fit a page, by counts."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.lists.window_harvest import Page, Plan, Window

if TYPE_CHECKING:
    from collections.abc import Sequence

END = 1_000_000


def plan(values: Sequence[int], room: int, error: int = 0) -> tuple[list[tuple[Window, int]], int]:
    """Return the parts for the values of all rows, and the number of counts."""

    def count(low: int, high: int) -> int:
        return bisect_left(values, high) - bisect_left(values, low)

    steps = Plan(Window(0, END), len(values), room=room, usual=(0, END)).divide(3)
    counts, answer = 0, None
    while True:
        try:
            requests = steps.send(answer)
        except StopIteration as stop:
            return stop.value, counts
        counts += len(requests)
        windows = [request.window for request in requests]
        answer = [Page(max(0, count(low, high) + error)) for low, high, _ in windows]


@given(
    st.lists(st.integers(0, END - 1), min_size=2, max_size=300).map(sorted),
    st.integers(1, 40),
    st.integers(-2, 2),
)
def test_the_parts_follow_each_other(values: list[int], room: int, error: int) -> None:
    """They cover the window, whatever the counts are."""
    parts, _ = plan(values, room, error)
    windows = [window for window, _ in parts]
    assert (windows[0].low, windows[-1].high) == (0, END)
    assert all(first.high == second.low for first, second in pairwise(windows))
    assert all(window.low < window.high for window in windows)


@pytest.mark.parametrize("size", [101, 195, 199, 600, 1_067, 1_500])
def test_windows_of_random_times_are_almost_full(size: int) -> None:
    """Each fits a page, and few counts are needed."""
    values = sorted(Random(size).sample(range(END), size))
    parts, counts = plan(values, 100)
    sizes = [count for _, count in parts]
    assert sum(sizes) == size
    assert sum(count > 100 for count in sizes) <= 1
    assert len(parts) <= -(-size // 100) + 2
    assert counts <= 5 * len(parts)

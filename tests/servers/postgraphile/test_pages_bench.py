"""The benchmark of all pages: equal answers in fewer requests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.server_pages import POSTS_CASE, assert_equal_rows, measure_sides

if TYPE_CHECKING:
    from tests.servers.postgraphile.postgraphile import PostGraphile


@pytest.mark.slow
def test_all_rows_are_equal_and_take_fewer_requests(plain: PostGraphile) -> None:
    """gqlnb, gql and requests return the same rows; ours needs fewer requests than the loops."""
    assert_equal_rows(plain.url, POSTS_CASE)
    figures = measure_sides(plain.url, POSTS_CASE, 1)
    ours, loop = figures["gqlnb execute_all"], figures["requests, loop"]
    assert ours.requests < loop.requests
    sys.stdout.write(f"{ours.seconds:.2f} s, the loop {loop.seconds:.2f} s\n")

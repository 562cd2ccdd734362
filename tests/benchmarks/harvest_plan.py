"""Hours of large harvests: ``python -m tests.benchmarks.harvest_plan [stars] [accounts ...]``.

Whole harvests of a synthetic GitHub of 2026, in simulated time: each page takes a second, as
GitHub's limit is a minute of processing per minute and account, and each request 0.2 s more. The
number of rows must be the number of repositories. With 16 million it takes some minutes and 4 GB.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gqlnb import github
from gqlnb.github.harvester.storage import RepositoryStore
from tests.github.harvester.populations import World
from tests.github.harvester.simulated_time import LATENCY, simulate_schedule

if TYPE_CHECKING:
    from gqlnb.github.harvester.requests import SearchRequest
    from gqlnb.github.harvester.storage import RepositoryRow
    from gqlnb.lists.window_harvest import Page

# Repositories of 2026 with as many stars: an estimate but for the largest.
SIZES = {1: 16_000_000, 5: 4_100_000, 50: 735_000, 1_000: 67_000}
SECONDS_PER_PAGE = 1.0


class CountingStorage(RepositoryStore):
    """Counts rows, and keeps none."""

    count = 0

    @property
    def rows(self) -> int:
        """Number of rows so far."""
        return self.count

    def hold_rows(self, rows: Iterable[RepositoryRow]) -> None:
        """Count rows."""
        self.count += sum(1 for _ in rows)


def main(least: int = 1_000, *accounts: int) -> None:
    """Print the hours with each number of accounts."""
    world = World(github.population(SIZES[least], year=2026))

    def answer(ask: SearchRequest) -> Page:
        world.asked.clear()
        return world(ask)

    def measure(pages: float) -> float:
        return LATENCY + SECONDS_PER_PAGE * pages

    for number in accounts or (1, 4, 20):
        made = simulate_schedule(answer, least, number, measure, CountingStorage())
        assert made.rows == SIZES[least]
        sys.stdout.write(
            f"{made.rows:,} rows, {number} accounts: {made.pages:,} pages in {made.requests:,} "
            f"requests, {made.seconds / 3600:.2f} hours\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""The count of a harvest's requests, at a small size: complete, and within its goals."""

from __future__ import annotations

import msgspec
import pytest

from gqlnb import github
from gqlnb.github.harvester.search_windows import SearchPage, SearchRequest
from tests.benchmarks import harvest
from tests.benchmarks.harvest import IncompleteError
from tests.github.harvester.populations import World


@pytest.fixture(scope="module")
def population() -> github.Population:
    """Return the top of a synthetic GitHub: down to about 2,800 stars."""
    return github.population(15_000)


@pytest.mark.parametrize(("threshold", "goal"), [(10_000, 1.01), (4_000, 1.02)])
def test_requests_are_counted_on_complete_harvests(
    population: github.Population, threshold: int, goal: float
) -> None:
    """The stand-in is asked just what the population itself is asked, and few times too often."""
    made = harvest.through_standin(population, threshold)
    assert made == harvest.direct(population, threshold)
    assert made.ratio <= goal
    ((line, reached),) = harvest.lines(iter([made]))
    assert reached
    assert line.startswith(f"| {threshold:>6,} | {made.wanted:>9,} |")


def test_with_faults_everything_is_there(population: github.Population) -> None:
    """All faults at once cost requests, and no rows."""
    made = harvest.faulty(population, 8_000, seed=1)
    assert made.ratio > 1.1
    assert made.coverage.complete


def test_an_incomplete_harvest_is_not_counted(population: github.Population) -> None:
    """Where rows are missing, nothing is said of requests."""
    world = World(population)

    def short(ask: SearchRequest) -> SearchPage:
        page = world(ask)
        return msgspec.structs.replace(page, rows=page.rows[:-1], total=page.total - 1)

    with pytest.raises(IncompleteError, match="lost"):
        harvest.run(population, 30_000, short)

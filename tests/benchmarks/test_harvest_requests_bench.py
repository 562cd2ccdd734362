"""The count of a harvest's requests, at a small size: complete, and within its goals."""

from __future__ import annotations

import pytest

from gqlnb import github
from tests.benchmarks import harvest
from tests.benchmarks.harvest import IncompleteError
from tests.github.harvester.populations import World


@pytest.fixture(scope="module")
def population():
    """Return the top of a synthetic GitHub: down to about 2,800 stars."""
    return github.population(15_000)


@pytest.mark.parametrize(("threshold", "goal"), [(10_000, 1.07), (4_000, 1.07)])
def test_requests_are_counted_on_complete_harvests(population, threshold, goal):
    """The stand-in receives the same requests as the population, with few repeats."""
    made = harvest.through_standin(population, threshold)
    assert made == harvest.direct(population, threshold)
    assert made.ratio <= goal
    ((line, reached),) = harvest.lines(iter([made]))
    assert reached
    assert line.startswith(f"| {threshold:>6,} | {made.wanted:>9,} |")


def test_a_harvest_with_all_faults_is_complete(population):
    """Faults cost requests, but no rows."""
    made = harvest.faulty(population, 8_000, seed=1)
    assert made.ratio > 1.1
    assert made.coverage.complete


def test_an_incomplete_harvest_is_not_counted(population):
    """Missing rows are an error instead of a request count."""
    world = World(github.population(15_000, seed=1))
    with pytest.raises(IncompleteError, match="lost"):
        harvest.run(population, 30_000, world)

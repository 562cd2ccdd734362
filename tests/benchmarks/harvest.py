"""Harvests against their yardsticks: requests, counted and not timed, on a synthetic GitHub.

For each threshold the rows of a harvest are first compared with a plain filter of the population,
each repository once. Then the requests are set against the fewest there can be, a page for every
hundred, and against the most that an estimate promises. A harvest runs against the population
itself, which is quick; ``--standin`` runs it through the stand-in and its GraphQL too, and wants
the same requests, word for word.

``--faults`` switches on dropped and repeated results, another order of equal ones for each search,
stars that move, pages that are too heavy: then what matched from the beginning to the end must be
there. ``--crowd`` takes a small population for that whose low numbers of stars are shared by very
many, so that low thresholds need what they need of millions. The environment sets sizes:
HARVEST_SIZE, HARVEST_SEEDS.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from math import inf
from typing import NamedTuple, cast

from gqlnb import github
from gqlnb.client.client import Client
from gqlnb.github.harvester.harvests import estimate_pages
from gqlnb.github.harvester.requests import PortableClient, SearchRequest, fetch_pages
from gqlnb.github.harvester.scope import Scope
from gqlnb.github.harvester.storage import RepositoryStore
from gqlnb.github.standin.repository_search import Population
from gqlnb.github.standin.simulation import Simulation
from gqlnb.lists.report import Coverage
from gqlnb.lists.window_harvest import Page
from tests.github.harvester.populations import World, crowd, harvest, truth

SIZE = 3_274_587
# Windows are planned to 97 of 100 rows.
GOALS = {10_000: 1.07, 1_000: 1.06, 500: 1.06, 100: 1.06, 50: 1.06, 20: 1.06}
FAULTS = {"ties": True, "dropped": 0.0003, "duplicated": 0.0003, "drift": 1, "resources": 90}


class IncompleteError(AssertionError):
    """A harvest brings something else than a plain filter."""


class Run(NamedTuple):
    """One harvest.

    Attributes
    ----------
    threshold
        More stars than so many.
    wanted
        How many repositories have them.
    coverage
        What the harvest says of it.
    """

    threshold: int
    wanted: int
    coverage: Coverage

    @property
    def ratio(self) -> float:
        """How many pages there were for each that there must be at least."""
        return self.coverage.pages / max(1, -(-self.wanted // 100))


class Counted:
    """Answers requests through the stand-in's GraphQL, in this process."""

    def __init__(self, population: Population) -> None:
        self._asker = PortableClient(Client(github.service(population=population)))
        self.asked: list[SearchRequest] = []

    def __call__(self, ask: SearchRequest) -> Page:
        """Return the page that is asked for."""
        self.asked.append(ask)
        (page,) = fetch_pages(self._asker, [ask]).answers
        return cast("Page", page)


def run(
    population: Population,
    threshold: int,
    answer: Callable[[SearchRequest], Page],
    now: Callable[[], Population] | None = None,
) -> Run:
    """Harvest what has more stars than a threshold.

    Parameters
    ----------
    population
        What there is.
    threshold
        The stars.
    answer
        What answers requests.
    now
        Returns what there is afterwards; by default the same.

    Raises
    ------
    IncompleteError
        If something is missing, comes twice, or should not be there.
    """
    text = f"stars:>{threshold}"
    wanted = truth(population, text)
    keeper = RepositoryStore()
    rows, coverage = harvest(Scope.parse(text), answer, most=1_000_000)
    keeper.hold_rows(rows)
    found = Counter(keeper.load_table()["id"].to_pylist())
    names = wanted if now is None else wanted & truth(now(), text)
    if len(found) != found.total() or not names <= found.keys() <= wanted:
        lost, twice = len(names - found.keys()), found.total() - len(found)
        msg = f"{text}: {lost:,} lost, {twice:,} twice, {len(found.keys() - wanted):,} too many"
        raise IncompleteError(msg)
    return Run(threshold, len(wanted), coverage)


def direct(population: Population, threshold: int) -> Run:
    """Harvest from the population itself."""
    return run(population, threshold, _Named(World(population)))


def through_standin(population: Population, threshold: int) -> Run:
    """Harvest through the stand-in.

    Raises
    ------
    IncompleteError
        If it is asked something else than the population itself is.
    """
    world, counted = World(population), Counted(population)
    run(population, threshold, _Named(world))
    made = run(population, threshold, _Named(counted))
    if counted.asked != world.asked:
        msg = f"stars:>{threshold}: the stand-in was asked something else"
        raise IncompleteError(msg)
    return made


def faulty(population: Population, threshold: int, seed: int) -> Run:
    """Harvest from the population with faults."""
    world = World(population, Simulation(seed=seed, **FAULTS))  # type: ignore[arg-type]
    return run(population, threshold, world, lambda: world.faults.population)


class _Named:
    """Answers with owner and name in the place of the id, to compare with a filter."""

    def __init__(self, answer: Callable[[SearchRequest], Page]) -> None:
        self._answer = answer

    def __call__(self, ask: SearchRequest) -> Page:
        """Return the page that is asked for."""
        page = self._answer(ask)
        rows = (row and row._replace(id=f"{row.owner}/{row.name}") for row in page.rows)
        return page._replace(rows=tuple(rows))


def lines(runs: Iterator[Run], *, goals: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield a line for each run, and whether its goal is reached; with faults there are none."""
    for made in runs:
        goal, coverage = GOALS.get(made.threshold) if goals else None, made.coverage
        most = estimate_pages(made.wanted)[1]  # what an estimate promises
        reached = not goals or (made.ratio <= (goal or inf) and coverage.pages <= most)
        yield (
            f"| {made.threshold:>6,} | {made.wanted:>9,} | {-(-made.wanted // 100):>6,} "
            f"| {coverage.pages:>6,} | {made.ratio:.4f} | {goal or '':>4} | {most:>6,} "
            f"| {coverage.windows:,} windows, {coverage.counts:,} counts, "
            f"{coverage.repeated:,} repeated, {len(coverage.gaps):,} gaps "
            f"| {'' if not goals else 'reached' if reached else 'MISSED'} |",
            reached,
        )


def main(arguments: list[str] | None = None) -> int:
    """Print a table; return how many goals are missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("thresholds", nargs="*", type=int, default=[*GOALS])
    parser.add_argument("--size", type=int, default=int(os.environ.get("HARVEST_SIZE", SIZE)))
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("HARVEST_SEEDS", "1")))
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--crowd", action="store_true")
    parser.add_argument("--standin", action="store_true")
    given = parser.parse_args(arguments)
    missed = 0
    for seed in range(given.seeds):
        population = (crowd if given.crowd else github.population)(given.size, seed)
        _say(f"{population!r}, faults: {FAULTS if given.faults else 'none'}")
        if given.faults:
            runs = (faulty(population, each, seed) for each in given.thresholds)
        else:
            kind = through_standin if given.standin else direct
            runs = (kind(population, each) for each in given.thresholds)
        for line, reached in lines(runs, goals=not given.faults):
            _say(line)
            missed += not reached
    return missed


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

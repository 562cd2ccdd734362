"""Populations with many equal star counts, and a direct answer to requests for them."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from gqlnb.github.harvester.requests import SearchRequest
from gqlnb.github.harvester.scope import ORDERS
from gqlnb.github.harvester.storage import RepositoryRow
from gqlnb.github.repositories import Owner, Repository, format_timestamp, parse_timestamp
from gqlnb.github.standin.repository_search import Population
from gqlnb.github.standin.simulation import DataFaults, Simulation
from gqlnb.lists.window_harvest import Page, WindowHarvest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gqlnb.github.harvester.scope import Scope
    from gqlnb.lists.report import Coverage

START = parse_timestamp("2010-01-01T00:00:00Z")


def crowd(
    n: int, seed: int = 0, *, top: int = 300, moments: Sequence[int] | None = None
) -> Population:
    """Return a population whose low numbers of stars are shared by very many.

    Parameters
    ----------
    n
        How many repositories.
    seed
        For chance.
    top
        The more, the fewer have equal stars.
    moments
        When they were made: any of these; by default any second of fifteen years.
    """
    chance = Random(seed)
    owners = [Owner(f"owner-{place:05}", "User") for place in range(max(1, n // 3))]
    rows = []
    for place in range(n):
        stars = int(top / (chance.random() + top / 200_000)) // 20
        made = START + chance.randrange(15 * 31_536_000) if not moments else chance.choice(moments)
        at = format_timestamp(made)
        forks = chance.randrange(stars + 1)
        rows.append(
            Repository(f"repo-{place:06}", chance.choice(owners), stars, forks, None, at, at)
        )
    return Population.from_repositories(rows, source=f"crowd of {n}, seed {seed}")


def cursor(place: int) -> str:
    """Return the cursor after the given number of results."""
    return b64encode(b"cursor:%d" % place).decode()


class World:
    """Answers the requests of a harvest from a population, as the stand-in does, without GraphQL.

    Parameters
    ----------
    population
        What there is.
    simulation
        Which faults to show: those of the data, and `resources`; `gateway` makes a page heavy.
    cursors
        How cursors are written.
    """

    def __init__(
        self,
        population: Population,
        simulation: Simulation | None = None,
        cursors: Callable[[int], str] = cursor,
    ) -> None:
        self.simulation = simulation or Simulation()
        self.faults = DataFaults(population, self.simulation)
        self.cursors = cursors
        self.asked: list[SearchRequest] = []
        self.starts: dict[str | None, int] = {}
        find = self.faults.find_repositories
        self._find = find if self.simulation.drift else lru_cache(64)(find)

    def __call__(self, ask: SearchRequest) -> Page:
        """Return the requested page."""
        self.asked.append(ask)
        items, total = self._find(ask.text)
        start = self.starts.get(ask.after, 0)
        stop = min(start + ask.first, len(items))
        places = range(start, max(start, stop))
        simulation = self.simulation
        shown: list[int | None] = list(places)
        if simulation.dropped or simulation.duplicated:
            shown = self.faults.choose_shown_items(ask.text, places, items)
        most = simulation.resources
        heavy = most is not None and len(places) > most
        heavy = heavy or simulation.is_triggered(simulation.gateway, "gateway", len(self.asked))
        here = dict(zip(places, items[places.start : places.stop], strict=True))
        found = tuple(row_of(here.get(n) or items[n]) for n in shown if n is not None)
        end = self.cursors(stop) if places else None
        self.starts[end] = stop
        return Page(total, found, stop < len(items), end, heavy)


def row_of(item: Repository) -> RepositoryRow:
    """Return a repository as a row of a search."""
    made = parse_timestamp(item.created_at)
    return RepositoryRow(item.full_name, item.stars, made, item.name, item.owner.login)


def harvest(
    scope: Scope,
    answer: Callable[[SearchRequest], Page],
    *,
    chance: Random | None = None,
    most: int = 20_000,
    twice: bool = False,
) -> tuple[list[RepositoryRow], Coverage]:
    """Run a harvest to its end, with at most `most` requests; with `chance`, in random order."""
    windows = WindowHarvest(scope.build_source(), twice=twice)
    rows, sent = list[RepositoryRow](), 0
    while windows.has_requests:
        tasks = [windows.take() for _ in range(windows.pending)]
        if chance is not None:
            chance.shuffle(tasks)
        for task in tasks:
            window, order, first, after = task.request
            text = scope.format_window(window, ORDERS[order])
            windows.feed(task, answer(SearchRequest(text, first, after)))
            rows.extend(windows.take_rows())
            sent += 1
            assert sent < most, windows.state.build_coverage(len(rows))
    assert windows.state.todo == []
    return rows, windows.state.build_coverage(len(rows))


def truth(population: Population, expression: str) -> set[str]:
    """Return the names of all matches of an expression, without the cap of a search."""
    made = population.frame(expression)
    return set(made["owner"] + "/" + made["name"])

"""Worlds to harvest: populations with heavy ties, and what answers requests from one directly."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from gqlnb.github.data import Owner, Repository, iso, seconds
from gqlnb.github.finding import Population
from gqlnb.github.harvesting.values import Page, Row
from gqlnb.github.simulation import Faults, Simulation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gqlnb.github.harvesting.sweep import Sweep
    from gqlnb.github.harvesting.values import Ask

START = seconds("2010-01-01T00:00:00Z")


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
        at = iso(made)
        forks = chance.randrange(stars + 1)
        rows.append(
            Repository(f"repo-{place:06}", chance.choice(owners), stars, forks, None, at, at)
        )
    return Population.of(rows, source=f"crowd of {n}, seed {seed}")


def cursor(place: int) -> str:
    """Return the cursor behind so many results."""
    return b64encode(b"cursor:%d" % place).decode()


class World:
    """Answers the requests of a sweep from a population, as the stand-in does, without GraphQL.

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
        self.faults = Faults(population, self.simulation)
        self.cursors = cursors
        self.asked: list[Ask] = []
        find = self.faults.find
        self._find = find if self.simulation.drift else lru_cache(64)(find)

    def __call__(self, ask: Ask) -> Page:
        """Return the page that is asked for."""
        self.asked.append(ask)
        items, total = self._find(ask.text)
        start, stop = ask.start, min(ask.start + ask.first, len(items))
        places = range(start, max(start, stop))
        self._right_cursor(ask)
        simulation = self.simulation
        shown: list[int | None] = list(places)
        if simulation.dropped or simulation.duplicated:
            shown = self.faults.shown(ask.text, places, items)
        most = simulation.resources
        heavy = most is not None and len(places) > most
        heavy = heavy or simulation.happens(simulation.gateway, "gateway", len(self.asked))
        here = dict(zip(places, items[places.start : places.stop], strict=True))
        found = tuple(row_of(here.get(n) or items[n]) for n in shown if n is not None)
        end = self.cursors(stop) if places else None
        return Page(total, found, stop < len(items), end, heavy)

    def _right_cursor(self, ask: Ask) -> None:
        assert ask.after == (self.cursors(ask.start) if ask.start else None), ask


def row_of(item: Repository) -> Row:
    """Return a repository as a sweep takes it."""
    made = seconds(item.created_at)
    return Row(item.full_name, item.stars, made, item.name, item.owner.login)


def harvest(
    sweep: Sweep,
    answer: Callable[[Ask], Page],
    *,
    chance: Random | None = None,
    most: int = 20_000,
) -> list[Row]:
    """Run a sweep to its end, after `most` requests at the latest; with `chance`, in any order."""
    todo = [*reversed(sweep.asks())]
    found: list[Row] = []
    while todo:
        assert sweep.coverage().requests < most, sweep.coverage()
        place = -1 if chance is None else chance.randrange(len(todo))
        ask = todo.pop(place)
        step = sweep.feed(ask, answer(ask))
        found.extend(step.rows)
        todo.extend(reversed(step.asks))
    assert not sweep.asks()
    return found


def truth(population: Population, expression: str) -> set[str]:
    """Return the names of what an expression finds, without the cap of a search."""
    made = population.frame(expression)
    return set(made["owner"] + "/" + made["name"])

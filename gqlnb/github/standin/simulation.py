"""What GitHub does to those who harvest it, on request: faults that come again with their seed.

Some belong to the data (:class:`DataFaults`, used by the stand-in wherever it is asked), others to HTTP
(:mod:`gqlnb.github.standin.http_app`, where it is served).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING, Any

from gqlnb.github.option_checks import (
    check_boolean,
    check_share,
    check_whole_number,
    raise_option_error,
)
from gqlnb.github.search_syntax import parse_expression
from gqlnb.github.standin.repository_columns import (
    Population,
    RepositoryMatches,
    RepositoryRows,
    scatter_numbers,
    select_rows,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gqlnb.github.repositories import Repository

__all__ = ["DataFaults", "Simulation"]

_UNLIMITED_OPTIONS = frozenset({"resources", "budget", "pace", "concurrency"})  # None for no limit
_OPTION_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("dropped", "duplicated", "gateway", "timeouts"), check_share),
    **dict.fromkeys(("seed", "drift", "penalty", *_UNLIMITED_OPTIONS), check_whole_number),
    **dict.fromkeys(("restricted", "ties"), check_boolean),
}
_MAX_DUPLICATE_DISTANCE = 100  # places that a repository which comes twice may have moved
_UNSTAR_SHARE = 0.1  # the share of changes that take a star back


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """Which faults of GitHub a stand-in shows, and how often; none by default.

    Chance is drawn from `seed` and the number of the request, or the text of the search: who asks
    the same in the same order meets the same faults. That needs memory, so a service with a
    simulation is not stateless.

    Attributes
    ----------
    seed
        Any whole number from 0 up.
    restricted
        Whether ``stargazers`` is refused with FORBIDDEN, one error for each repository that is not
        the viewer's own, as GitHub has refused it since mid-2026; ``stargazerCount`` is answered
        always.
    ties
        Whether repositories of equal stars stand in another order for each search expression.
    dropped
        The share of items that are missing from their page, 0 to 1; another expression may find
        them. ``repositoryCount`` counts them.
    duplicated
        The share of places, 0 to 1, where a repository of one of the 100 places before stands a
        second time, and the one that belongs there is missing.
    drift
        How many stars are given before each search to repositories that it can reach; one in ten is
        taken away instead. Pages of one search may then repeat a repository, or miss one.
    resources
        Most nodes of a page; those beyond are null, each with an error RESOURCE_LIMITS_EXCEEDED.
        None for no limit.
    gateway
        The share of requests that get 502 or 504 with a page of HTML.
    timeouts
        The share of requests that get 502 or 504 with JSON that says "Something went wrong while
        executing your query", its ``data`` null, or the text "null".
    penalty
        Points that each time-out takes from the `budget`. GitHub says that it takes some for the
        next hour, and not how many.
    budget
        Points that a token has for an hour; GitHub's are 5,000. A query that costs more than is
        left gets an answer with status 200, no data and RATE_LIMITED, or RATE_LIMIT with
        ``x-ratelimit-remaining`` above 0. None for no end of them.
    pace
        Points that a token has for a minute, 1 for each query; GitHub's are 2,000. What comes then
        has the words of the secondary limit, status 403, now and then 200 or 429, and mostly
        ``retry-after``. None for no limit.
    concurrency
        Requests of a token at once; GitHub's are 100. Those beyond get the same as those beyond the
        `pace`. None for no limit.
    clock
        Returns seconds since 1970. With one of your own no test waits for an hour to pass.

    Raises
    ------
    OptionError
        If a share is not 0 to 1, a number is negative or not whole, or a switch is neither True nor
        False; the message names it.

    Examples
    --------
    >>> Simulation(seed=1, ties=True, dropped=0.001, budget=5000)
    Simulation(seed=1, ties=True, dropped=0.001, budget=5000)
    """

    seed: int = 0
    restricted: bool = False
    ties: bool = False
    dropped: float = 0.0
    duplicated: float = 0.0
    drift: int = 0
    resources: int | None = None
    gateway: float = 0.0
    timeouts: float = 0.0
    penalty: int = 10
    budget: int | None = None
    pace: int | None = None
    concurrency: int | None = None
    clock: Callable[[], float] = field(default=time.time, compare=False)

    def __post_init__(self) -> None:
        """Refuse what is no share, no number and no switch."""
        for name, checked in _OPTION_CHECKS.items():
            value = getattr(self, name)
            if value is not None or name not in _UNLIMITED_OPTIONS:
                object.__setattr__(self, name, checked(name, value))
        if not callable(self.clock):
            raise_option_error("clock", self.clock, "a function that returns seconds since 1970")

    def __repr__(self) -> str:
        shown = [
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if each.compare and getattr(self, each.name) != each.default
        ]
        return f"Simulation({', '.join(shown)})"

    def make_random(self, *what: object) -> Random:
        """Return a source of chance that is the same for the same seed and things."""
        return Random(self.draw_number(*what))  # noqa: S311 - not a secret

    def draw_number(self, *what: object) -> int:
        """Return a number from 0 to 2**64 - 1 that is the same for the same seed and things."""
        text = "\0".join(map(str, (self.seed, *what)))
        return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())

    def is_triggered(self, share: float, *what: object) -> bool:
        """Tell whether something of that share happens to these things."""
        return share > 0 and self.draw_number(*what) < share * 2**64


class DataFaults:
    """The faults of the data over one population; safe to use from any thread.

    Parameters
    ----------
    population
        What there is at first; it stays as it is.
    simulation
        Which faults to show.
    viewer
        The login that ``@me`` stands for in searches.

    Attributes
    ----------
    population
        What there is now.
    """

    def __init__(
        self, population: Population, simulation: Simulation, viewer: str | None = None
    ) -> None:
        self.population = population.copy_writable() if simulation.drift else population
        self._viewer = viewer
        self._simulation = simulation
        self._lock = threading.Lock()
        self._searches = 0

    def find_repositories(self, text: str) -> RepositoryMatches:
        """Return what a search expression finds now.

        Raises
        ------
        QueryError
            If it cannot be read.
        """
        expression, drift = parse_expression(text, self._viewer), self._simulation.drift
        if not drift:
            rows, total = select_rows(
                self.population, expression, ties=self._make_tie_breaker(text)
            )
            return RepositoryMatches(RepositoryRows(self.population, rows), total)
        with self._lock:
            self._searches += 1
            self._drift_stars(
                select_rows(self.population, expression, ties=self._make_tie_breaker(text))[0]
            )
            rows, total = select_rows(
                self.population, expression, ties=self._make_tie_breaker(text)
            )
            return RepositoryMatches(self.population.copy_rows(rows), total)  # before others move

    def _drift_stars(self, rows: NDArray[Any]) -> None:
        """Give and take stars among some rows."""
        chance = self._simulation.make_random("drift", self._searches)
        # Their ranks are names by which they are known when others have moved.
        near = dict(zip(self.population.rank[rows].tolist(), rows.tolist(), strict=True))
        for rank in chance.choices(list(near), k=self._simulation.drift) if near else ():
            self._move_repository(near, rank, -1 if chance.random() < _UNSTAR_SHARE else 1)

    def choose_shown_items(
        self, text: str, places: range, items: Sequence[Repository]
    ) -> list[int | None]:
        """Return which item stands at each place of a page, None for one that is missing.

        Parameters
        ----------
        text
            The search expression.
        places
            The places of the page among all results, from 0.
        items
            All results.
        """
        simulation = self._simulation
        found: list[int | None] = []
        here = items[places.start : places.stop]
        for place, its in zip(places, here, strict=True):
            item: int | None = place
            if place and simulation.is_triggered(simulation.duplicated, "again", text, place):
                item = place - simulation.make_random("whose", text, place).randint(
                    1, min(place, _MAX_DUPLICATE_DISTANCE)
                )
            elif simulation.is_triggered(simulation.dropped, "dropped", text, its.full_name):
                item = None
            found.append(item)
        return found

    def _make_tie_breaker(self, text: str) -> Callable[[NDArray[Any]], NDArray[Any]] | None:
        if not self._simulation.ties:
            return None
        rank, salt = self.population.rank, self._simulation.draw_number("ties", text) % 2**32
        return lambda rows: scatter_numbers(rank[rows], salt)

    def _move_repository(self, rows: dict[int, int], rank: int, gain: int) -> None:
        """Give a repository a star, or take one, and put its row where it then belongs."""
        population = self.population
        row = rows[rank]
        stars = int(population.stars[row])
        if stars + gain < 0:
            return
        begin, end = population.find_star_range(stars, stars)
        edge = begin if gain > 0 else end - 1
        if edge != row:
            other = int(population.rank[edge])
            population.swap_rows(row, edge)
            rows[rank] = edge
            if other in rows:
                rows[other] = row
        population.stars[edge] += gain

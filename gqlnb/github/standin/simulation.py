"""Simulated faults of GitHub, the same for the same seed.

Faults of the data are in :class:`DataFaults`, for the stand-in in every use; faults of HTTP are in
:mod:`gqlnb.github.standin.http_app`, where it is served.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING, Any

from gqlnb.github.search_syntax import parse_expression
from gqlnb.github.standin.repository_columns import RepositoryRows, Rows
from gqlnb.github.standin.repository_search import (
    Population,
    RepositoryMatches,
    scatter_numbers,
    select_rows,
)
from gqlnb.option_checks import (
    check_boolean,
    check_share,
    check_whole_number,
    explain_keywords,
    raise_option_error,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gqlnb.github.repositories import Repository

_UNLIMITED_OPTIONS = frozenset({"resources", "budget", "pace", "concurrency"})  # None for no limit
_OPTION_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("dropped", "duplicated", "gateway", "timeouts"), check_share),
    **dict.fromkeys(("seed", "drift", "penalty", *_UNLIMITED_OPTIONS), check_whole_number),
    **dict.fromkeys(("restricted", "ties"), check_boolean),
}
_MAX_DUPLICATE_DISTANCE = 100  # places that a repository which comes twice may have moved
_UNSTAR_SHARE = 0.1  # the share of changes that take a star back


@explain_keywords
@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """The faults of GitHub that a stand-in shows, and their frequency; none by default.

    Faults are drawn from `seed` and the number of the request, or the text of the search: the same
    requests in the same order meet the same faults. A service with a simulation is not stateless.

    Attributes
    ----------
    seed
        Any whole number from 0 up.
    restricted
        Whether ``stargazers`` is refused with FORBIDDEN, one error for each repository that is not
        the viewer's own, as GitHub has refused it since mid-2026; ``stargazerCount`` is always
        answered.
    ties
        Whether the order of repositories of equal stars depends on the search expression.
    dropped
        The share of items that are missing from their page, 0 to 1; another expression may find
        them. ``repositoryCount`` counts them.
    duplicated
        The share of places, 0 to 1, that repeat a repository of one of the 100 places before
        instead of their own.
    drift
        The number of stars given before each search to repositories that it can reach; one in ten
        is taken away instead. Pages of one search may then repeat a repository, or miss one.
    resources
        Most nodes of a page; further ones are null, each with an error RESOURCE_LIMITS_EXCEEDED.
        None for no limit.
    gateway
        The share of requests that are answered 502 or 504 with HTML.
    timeouts
        The share of requests that are answered 502 or 504 with the JSON error "Something went wrong
        while executing your query", its ``data`` null, or the text "null".
    penalty
        Points that each time-out takes from the `budget`. GitHub's documentation gives no number.
    budget
        Points of a token in an hour, 5,000 at GitHub. A query that costs more than is left is
        answered with status 200, no data and RATE_LIMITED, or RATE_LIMIT with
        ``x-ratelimit-remaining`` above 0. None for no limit.
    pace
        Points of a token in a minute, 1 for each query; 2,000 at GitHub. Further requests are
        answered with the message of the secondary limit, status 403, now and then 200 or 429, and
        mostly ``retry-after``. None for no limit.
    concurrency
        Requests of a token at the same time, 100 at GitHub. Further ones are answered as those over
        the `pace`. None for no limit.
    clock
        Returns seconds since 1970; a test can pass its own.

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
        """Validate the options."""
        for name, check in _OPTION_CHECKS.items():
            value = getattr(self, name)
            if value is not None or name not in _UNLIMITED_OPTIONS:
                object.__setattr__(self, name, check(name, value))
        if not callable(self.clock):
            raise_option_error("clock", self.clock, "a function that returns seconds since 1970")

    def __repr__(self) -> str:
        shown = [
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if each.compare and getattr(self, each.name) != each.default
        ]
        return f"Simulation({', '.join(shown)})"

    def make_random(self, *key: object) -> Random:
        """Create a random generator seeded by the simulation's seed and a key.

        Parameters
        ----------
        *key
            Any values; the generator depends on their ``str()``.

        Returns
        -------
        random.Random
            A new generator, in the same state for the same key.
        """
        return Random(self.draw_number(*key))  # noqa: S311 - not a secret

    def draw_number(self, *key: object) -> int:
        """Draw a number from the seed and a key.

        Parameters
        ----------
        *key
            Any values; the number depends on their ``str()``.

        Returns
        -------
        int
            A number from 0 to 2**64 - 1, the same for the same key.
        """
        # A hash instead of one generator: a fault does not depend on the faults before it.
        text = "\0".join(map(str, (self.seed, *key)))
        return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())

    def is_triggered(self, share: float, *key: object) -> bool:
        """Return whether a fault of a share happens for a key.

        Parameters
        ----------
        share
            The share of keys for which it happens, 0 to 1.
        *key
            As for :meth:`draw_number`.

        Returns
        -------
        bool
            Always the same for the same key and share.
        """
        return share > 0 and self.draw_number(*key) < share * 2**64


class DataFaults:
    """The faults of the data over one population; safe to use from any thread.

    Parameters
    ----------
    population
        The repositories at first; it is not changed.
    simulation
        The faults to show.
    viewer
        The login that ``@me`` stands for in searches.

    Attributes
    ----------
    population
        The repositories now.
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
        """Return the repositories that a search expression finds now.

        Parameters
        ----------
        text
            The search expression.

        Returns
        -------
        RepositoryMatches
            The first 1,000 in the order of the expression, and the number of all.

        Raises
        ------
        QueryError
            If it cannot be parsed.
        """
        expression, drift = parse_expression(text, self._viewer), self._simulation.drift
        ties = None
        if self._simulation.ties:
            rank, salt = self.population.rank, self._simulation.draw_number("ties", text) % 2**32

            def ties(rows: Rows) -> NDArray[np.uint32]:
                return scatter_numbers(rank[rows], salt)

        if not drift:
            rows, total = select_rows(self.population, expression, ties=ties)
            return RepositoryMatches(RepositoryRows(self.population, rows), total)
        with self._lock:
            self._searches += 1
            self._drift_stars(select_rows(self.population, expression, ties=ties)[0])
            rows, total = select_rows(self.population, expression, ties=ties)
            # A copy: later searches move rows while pages of this one are read.
            return RepositoryMatches(self.population.copy_rows(rows), total)

    def _drift_stars(self, rows: NDArray[Any]) -> None:
        """Give and take stars among some rows."""
        chance = self._simulation.make_random("drift", self._searches)
        # Rows move, so repositories are identified by their rank, which does not change.
        row_of = dict(zip(self.population.rank[rows].tolist(), rows.tolist(), strict=True))
        for rank in chance.choices(list(row_of), k=self._simulation.drift) if row_of else ():
            self._move_repository(row_of, rank, -1 if chance.random() < _UNSTAR_SHARE else 1)

    def choose_shown_items(
        self, text: str, places: range, items: Sequence[Repository]
    ) -> list[int | None]:
        """Return the number of the item at each place of a page, None for a missing one.

        Parameters
        ----------
        text
            The search expression.
        places
            The places of the page among all results, from 0.
        items
            All results.

        Returns
        -------
        list
            For each place the index into `items`: its own, that of an item up to 100 places before,
            or None.
        """
        simulation = self._simulation
        shown: list[int | None] = []
        own_items = items[places.start : places.stop]
        for place, own in zip(places, own_items, strict=True):
            item: int | None = place
            # The place decides on a repetition, the name on a loss: a repository that is left out
            # is so with pages of any size.
            if place and simulation.is_triggered(simulation.duplicated, "again", text, place):
                item = place - simulation.make_random("whose", text, place).randint(
                    1, min(place, _MAX_DUPLICATE_DISTANCE)
                )
            elif simulation.is_triggered(simulation.dropped, "dropped", text, own.full_name):
                item = None
            shown.append(item)
        return shown

    def _move_repository(self, rows: dict[int, int], rank: int, gain: int) -> None:
        """Give a repository a star, or take one, and move its row to keep the order."""
        population = self.population
        row = rows[rank]
        stars = int(population.stars[row])
        if stars + gain < 0:
            return
        # To the edge of the rows with as many stars: one star more or less keeps the order there.
        begin, end = population.find_star_range(stars, stars)
        edge = begin if gain > 0 else end - 1
        if edge != row:
            other = int(population.rank[edge])
            population.swap_rows(row, edge)
            rows[rank] = edge
            if other in rows:
                rows[other] = row
        population.stars[edge] += gain

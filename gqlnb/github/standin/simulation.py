"""Simulated faults of GitHub and its rate limits, the same for the same seed.

Faults of the data are in :class:`DataFaults`, for the stand-in in every use; faults of HTTP are in
:mod:`gqlnb.github.standin.http_app`, where it is served.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from functools import partial
from hashlib import blake2b, sha256
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.document.sized_cache import SizedCache
from gqlnb.github.query_cost import QueryCost
from gqlnb.github.repositories import format_timestamp
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
from gqlnb.tokens import ACCEPTED_SCHEMES

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
        parts = [
            f"{option.name}={getattr(self, option.name)!r}"
            for option in fields(self)
            if option.compare and getattr(self, option.name) != option.default
        ]
        return f"Simulation({', '.join(parts)})"

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


#: Points of a user's token for an hour. Source: GitHub documentation, "Primary rate limit".
HOURLY_LIMIT = 5_000
HOUR_SECONDS = 3_600.0
_NO_COST = QueryCost(0, 0)


@dataclass(slots=True)
class RequestMeter:
    """The cost of one request and the state of its token's budget.

    Attributes
    ----------
    limit
        Points in an hour.
    used
        Points used before the request.
    reset
        The end of the hour, in seconds since 1970; 0 without a budget, an hour from now then.
    charge_account
        Takes the cost from the account of the token: ``charge_account(meter, forced=...)`` returns
        whether there were enough points; None where there is no budget.
    cost
        The cost of the request, once it is known.
    is_free
        Whether it is not charged, because it is a dry run.
    refusal
        The error with which it was refused before execution, in GitHub's form.
    is_over_budget
        Whether too few points were left for it.
    outcomes
        What stands for the fields in the answer that the data do not contain, by place:
        ``{"Repository.description": "null"}``.
    """

    limit: int = HOURLY_LIMIT
    used: int = 0
    reset: float = 0.0
    charge_account: Callable[..., bool] | None = field(default=None, repr=False)
    cost: QueryCost = _NO_COST
    is_free: bool = False
    refusal: dict[str, Any] | None = None
    is_over_budget: bool = False
    outcomes: dict[str, str] = field(default_factory=dict)

    def charge_penalty(self, points: int) -> None:
        """Charge points for a request that was not executed, as far as points are left."""
        self.cost = QueryCost(points, 0)
        if self.charge_account is not None:
            self.charge_account(self, forced=True)

    @property
    def charged(self) -> int:
        """The points charged for the request."""
        return 0 if self.is_free or self.is_over_budget or self.refusal else self.cost.points

    @property
    def spent(self) -> int:
        """The points used after the request, at most `limit`."""
        return min(self.limit, self.used + self.charged)

    @property
    def remaining(self) -> int:
        """The points left after the request."""
        return self.limit - self.spent

    def build_fields(self) -> dict[str, Any]:
        """Return the fields of ``RateLimit``."""
        return {
            "cost": self.cost.points,
            "limit": self.limit,
            "nodeCount": self.cost.nodes,
            "remaining": self.remaining,
            "resetAt": format_timestamp(int(self.reset or time.time() + HOUR_SECONDS)),
            "used": self.spent,
        }


CURRENT_METER: ContextVar[RequestMeter | None] = ContextVar("METER", default=None)

_MINUTE_SECONDS = 60.0
_MAX_TOKENS = 10_000  # remembered at once, so that made-up tokens do not fill the memory


@dataclass(slots=True)
class _TokenUsage:
    reset: float
    used: int = 0
    minute_start: float = 0.0
    minute_requests: int = 0
    running: int = 0


class CountedRequest(NamedTuple):
    """One request while it is counted.

    Attributes
    ----------
    number
        The number of requests so far, this one included.
    meter
        The meter that charges its account.
    retry_after
        Seconds to wait if it came too soon, else None.
    """

    number: int
    meter: RequestMeter
    retry_after: int | None


# The cost of a query is known before it runs, and is charged under one lock, so that concurrent
# requests cannot spend the same points.
class TokenBudgets:
    """The accounts of all tokens, by a digest of each; safe to use from any thread.

    Without limits in the simulation no token is stored.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._usages: SizedCache[bytes, _TokenUsage] = SizedCache(_MAX_TOKENS)
        self._lock = threading.Lock()
        self._requests = 0
        limits = (simulation.budget, simulation.pace, simulation.concurrency)
        self._is_tracking = limits != (None, None, None)

    @contextmanager
    def track_request(self, caller: str) -> Iterator[CountedRequest]:
        """Count a request of a caller, by its ``Authorization`` header, while it runs.

        Its meter charges the account under the lock, so that requests at the same time cannot spend
        a point twice.

        Yields
        ------
        CountedRequest
            The request, with its meter.
        """
        account = self._find_usage(caller)
        now = self._simulation.clock()
        with self._lock:
            self._requests += 1
            account.running += 1  # before the check, which counts this request too
            wait = self._compute_wait(account, now)
            budget = self._simulation.budget
            limit = HOURLY_LIMIT if budget is None else budget
            take = None if budget is None else partial(self._charge_usage, account)
            meter = RequestMeter(limit, account.used, account.reset, take)
            counted = CountedRequest(self._requests, meter, wait)
        try:
            yield counted
        finally:
            with self._lock:
                account.running -= 1

    def _charge_usage(self, account: _TokenUsage, meter: RequestMeter, *, forced: bool) -> bool:
        """Take the cost of a request from its account; False, and nothing, if it is too much."""
        with self._lock:
            meter.used, meter.reset = account.used, account.reset
            left = max(0, meter.limit - account.used)
            # A query over the budget is refused as a whole and charged nothing.
            if meter.charged > left and not forced:
                return False
            account.used += min(left, meter.charged)
            return True

    def _find_usage(self, caller: str) -> _TokenUsage:
        """Return the account of a caller, with a full budget if its hour is over."""
        now = self._simulation.clock()
        fresh = _TokenUsage(now + HOUR_SECONDS, minute_start=now)
        if not self._is_tracking:
            return fresh
        scheme, _, credential = caller.partition(" ")
        # One token has one account, whether it is sent as bearer or as token.
        named = credential.strip() if scheme.lower() in ACCEPTED_SCHEMES else caller
        # A digest, so that the memory of the process holds no tokens.
        key = sha256(named.encode("utf-8", "replace")).digest()
        with self._lock:
            account = self._usages.get(key, fresh)
            if account is fresh:
                self._usages.add(key, fresh, 1)
            if account.reset <= now:
                account.reset, account.used = now + HOUR_SECONDS, 0
            return account

    def _compute_wait(self, account: _TokenUsage, now: float) -> int | None:
        """Return the seconds that a caller has to wait, or None."""
        pace, concurrency = self._simulation.pace, self._simulation.concurrency
        if concurrency is not None and account.running > concurrency:
            return int(_MINUTE_SECONDS)
        if now >= account.minute_start + _MINUTE_SECONDS:
            account.minute_start, account.minute_requests = now, 0
        account.minute_requests += 1
        if pace is None or account.minute_requests <= pace:
            return None
        return max(1, int(account.minute_start + _MINUTE_SECONDS - now))

"""Harvests in simulated time: the schedule of requests, independent of the machine's load.

Requests take a time that depends on their pages, and nothing else takes any.
"""

from __future__ import annotations

import heapq
import itertools
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

from gqlnb.github.harvester.harvests import TASKS_PER_REQUEST
from gqlnb.github.harvester.requests import COUNTS_PER_PAGE, FetchOutcome, HarvestRunner
from gqlnb.github.harvester.scope import Scope
from gqlnb.github.harvester.storage import RepositoryStore
from gqlnb.http.rate_limit_rules import Budget
from gqlnb.lists.accounts import Account, AccountPool
from gqlnb.lists.window_harvest import WindowHarvest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from gqlnb.github.harvester.requests import SearchRequest
    from gqlnb.lists.window_harvest import Page

LATENCY = 0.2  # seconds


class Schedule(NamedTuple):
    """One harvest.

    Attributes
    ----------
    seconds
        Its simulated duration, with one request for each account's login.
    rows, requests, pages
        Numbers.
    """

    seconds: float
    rows: int
    requests: int
    pages: int


class SimulatedExecutor(Executor):
    """Answers each request of a harvest some simulated time later.

    Parameters
    ----------
    answer
        Returns a page of a search.
    measure
        Returns the seconds of a request from its number of pages.
    """

    def __init__(
        self,
        answer: Callable[[SearchRequest], Page],
        measure: Callable[[float], float] = lambda _: LATENCY,
    ) -> None:
        self.answer, self.measure, self.now = answer, measure, 0.0
        self._numbers = itertools.count()
        self._answers: list[tuple[float, int, Future[Any], FetchOutcome]] = []

    def submit(self, _fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        """Compute the answer to a request now, and give it later."""
        pages: Sequence[SearchRequest] = args[1]
        found = [self.answer(page) for page in pages]
        seconds = self.measure(sum(1 if page.first else 1 / COUNTS_PER_PAGE for page in pages))
        outcome = FetchOutcome(found, 1, Budget(), seconds)
        future: Future[Any] = Future()
        entry = self.now + seconds, next(self._numbers), future, outcome
        heapq.heappush(self._answers, entry)
        return future

    def wait(self, *_: object, **__: object) -> tuple[Collection[Future[Any]], set[object]]:
        """Advance the time to the next answers; in place of ``concurrent.futures.wait``."""
        self.now, done = self._answers[0][0], set()
        while self._answers and self._answers[0][0] <= self.now:
            *_, future, outcome = heapq.heappop(self._answers)
            future.set_result(outcome)
            done.add(future)
        return done, set()


def simulate_schedule(
    answer: Callable[[SearchRequest], Page],
    least: int,
    accounts: int,
    measure: Callable[[float], float] = lambda _: LATENCY,
    storage: RepositoryStore | None = None,
) -> Schedule:
    """Harvest what `answer` returns, from the number of stars `least` up."""
    executor, storage = SimulatedExecutor(answer, measure), storage or RepositoryStore()
    scope = Scope.parse(f">={least}")
    harvest = WindowHarvest(scope.build_source(), tasks=TASKS_PER_REQUEST * accounts)
    pool = AccountPool[Any]([Account(f"account {number}", [None]) for number in range(accounts)])
    runner = HarvestRunner(scope, harvest, storage, pool, executor, 1, lambda *_: None)
    with patch("gqlnb.lists.accounts.wait", executor.wait):
        runner.run()
    coverage = harvest.state.build_coverage(storage.rows)
    assert coverage.complete
    logins = 0 if accounts == 1 else accounts * LATENCY  # one after another
    return Schedule(executor.now + logins, storage.rows, storage.state.requests, coverage.pages)

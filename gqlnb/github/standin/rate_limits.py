"""Budgets of tokens: the meter of one request, which ``rateLimit`` reads, and its account.

Source of the numbers: GitHub documentation, "Rate limits and query limits for the GraphQL API".
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.github.query_cost import QueryCost
from gqlnb.github.repositories import format_timestamp
from gqlnb.tokens import ACCEPTED_SCHEMES

if TYPE_CHECKING:
    from gqlnb.github.standin.simulation import Simulation

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
        self._usages: dict[bytes, _TokenUsage] = {}
        self._lock = threading.Lock()
        self._requests = 0
        limits = (simulation.budget, simulation.pace, simulation.concurrency)
        self._is_tracking = limits != (None, None, None)

    @contextmanager
    def track_request(self, caller: str) -> Iterator[CountedRequest]:
        """Count a request of a caller, by its ``Authorization`` header, while it runs.

        Its meter charges the account under the lock, so that requests at the same time cannot spend
        a point twice.
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
            if key not in self._usages and len(self._usages) >= _MAX_TOKENS:
                self._drop_expired(now)
            account = self._usages.setdefault(key, fresh)
            if account.reset <= now:
                account.reset, account.used = now + HOUR_SECONDS, 0
            return account

    def _drop_expired(self, now: float) -> None:
        """Drop expired accounts, or else the oldest tenth."""
        idle = [key for key, account in self._usages.items() if not account.running]
        expired = [key for key in idle if self._usages[key].reset <= now]
        for key in expired or idle[: max(1, _MAX_TOKENS // 10)]:
            del self._usages[key]

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

"""The budget that one request is told of: set by who answers it, read by ``rateLimit``."""

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

from gqlnb.auth import ACCEPTED_SCHEMES
from gqlnb.github.query_cost import QueryCost
from gqlnb.github.repositories import format_timestamp

if TYPE_CHECKING:
    from gqlnb.github.standin.simulation import Simulation

__all__ = ["CURRENT_METER", "HOURLY_LIMIT", "HOUR_SECONDS", "RequestMeter", "TokenBudgets"]

HOURLY_LIMIT = 5_000
"""Points of a user's token for an hour. Source: GitHub documentation, "Primary rate limit"."""
HOUR_SECONDS = 3_600.0
_NO_COST = QueryCost(0, 0)


@dataclass(slots=True)
class RequestMeter:
    """One request's look at the budget.

    Attributes
    ----------
    limit
        Points for an hour.
    used
        How many were used before.
    reset
        When the hour is over, in seconds since 1970.
    charge_account
        Takes what it costs from the account of its token, as ``charge_account(meter, forced=...)``, and says
        whether there was enough; None where nobody counts.
    cost
        What the request costs, once that is known.
    is_free
        Whether it is not charged: a dry run.
    refusal
        The error that it was refused with before it was executed, as GitHub writes it.
    is_over_budget
        Whether there were too few points left for it.
    """

    limit: int = HOURLY_LIMIT
    used: int = 0
    reset: float = field(default_factory=lambda: time.time() + HOUR_SECONDS)
    charge_account: Callable[..., bool] | None = field(default=None, repr=False)
    cost: QueryCost = _NO_COST
    is_free: bool = False
    refusal: dict[str, Any] | None = None
    is_over_budget: bool = False

    def charge_cost(self) -> bool:
        """Pay the price; False, and nothing is paid, where too few points are left."""
        self.is_over_budget = self.charge_account is not None and not self.charge_account(
            self, forced=False
        )
        return not self.is_over_budget

    def charge_penalty(self, points: int) -> None:
        """Pay for what is charged without having been executed, as far as points are left."""
        self.cost = QueryCost(points, 0)
        if self.charge_account is not None:
            self.charge_account(self, forced=True)

    @property
    def charged(self) -> int:
        """The points that the request takes from the budget."""
        return 0 if self.is_free or self.is_over_budget or self.refusal else self.cost.points

    @property
    def spent(self) -> int:
        """The points that are gone after it; no more than there are."""
        return min(self.limit, self.used + self.charged)

    @property
    def remaining(self) -> int:
        """The points that are left after it."""
        return self.limit - self.spent

    def build_fields(self) -> dict[str, Any]:
        """Return the fields of ``RateLimit``."""
        return {
            "cost": self.cost.points,
            "limit": self.limit,
            "nodeCount": self.cost.nodes,
            "remaining": self.remaining,
            "resetAt": format_timestamp(int(self.reset)),
            "used": self.spent,
        }


CURRENT_METER: ContextVar[RequestMeter | None] = ContextVar("METER", default=None)

_MINUTE_SECONDS = 60.0
_MAX_TOKENS = 10_000  # remembered at once, so that made-up tokens do not fill the memory


@dataclass(slots=True)
class _TokenUsage:
    """What one token has done."""

    reset: float
    used: int = 0
    minute_start: float = 0.0
    minute_requests: int = 0
    running: int = 0


class CountedRequest(NamedTuple):
    """One request on its way.

    Attributes
    ----------
    number
        How many there have been, this one included.
    meter
        Its look at the budget, which it pays from.
    retry_after
        Seconds to wait, if it came too soon; else None.
    """

    number: int
    meter: RequestMeter
    retry_after: int | None


class TokenBudgets:
    """The accounts of all tokens, by a digest of each; safe to use from any thread.

    Without a budget, a pace and a bound for concurrency it remembers none of them.
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
        """Count a request of a caller among those that run, until it is over.

        Its meter pays from the account under the lock, so that requests at the same time cannot
        spend a point twice.
        """
        account = self._find_usage(caller)
        now = self._simulation.clock()
        with self._lock:
            self._requests += 1
            account.running += 1
            wait = self._compute_wait(account, now)
            budget = self._simulation.budget
            limit = HOURLY_LIMIT if budget is None else budget
            take = None if budget is None else partial(self._charge_usage, account)
            meter = RequestMeter(limit, account.used, account.reset, take)
            visit = CountedRequest(self._requests, meter, wait)
        try:
            yield visit
        finally:
            with self._lock:
                account.running -= 1

    def _charge_usage(self, account: _TokenUsage, meter: RequestMeter, *, forced: bool) -> bool:
        """Take what a request costs from its account, or nothing where that is too much."""
        with self._lock:
            meter.used, meter.reset = account.used, account.reset
            left = max(0, meter.limit - account.used)
            if meter.charged > left and not forced:
                return False
            account.used += min(left, meter.charged)
            return True

    def _find_usage(self, caller: str) -> _TokenUsage:
        """Return the account of a caller; its budget is whole again where its hour is over."""
        now = self._simulation.clock()
        fresh = _TokenUsage(now + HOUR_SECONDS, minute_start=now)
        if not self._is_tracking:
            return fresh
        scheme, _, credential = caller.partition(" ")
        # One token has one account, whichever word stands before it.
        named = credential.strip() if scheme.lower() in ACCEPTED_SCHEMES else caller
        key = sha256(named.encode("utf-8", "replace")).digest()
        with self._lock:
            if key not in self._usages and len(self._usages) >= _MAX_TOKENS:
                self._drop_expired(now)
            account = self._usages.setdefault(key, fresh)
            if account.reset <= now:
                account.reset, account.used = now + HOUR_SECONDS, 0
            return account

    def _drop_expired(self, now: float) -> None:
        """Forget the accounts whose hour is over; where there are none, the oldest tenth."""
        idle = [key for key, account in self._usages.items() if not account.running]
        over = [key for key in idle if self._usages[key].reset <= now]
        for key in over or idle[: max(1, _MAX_TOKENS // 10)]:
            del self._usages[key]

    def _compute_wait(self, account: _TokenUsage, now: float) -> int | None:
        """Return how many seconds a caller has to wait, None for none."""
        pace, concurrency = self._simulation.pace, self._simulation.concurrency
        if concurrency is not None and account.running > concurrency:
            return int(_MINUTE_SECONDS)
        if now >= account.minute_start + _MINUTE_SECONDS:
            account.minute_start, account.minute_requests = now, 0
        account.minute_requests += 1
        if pace is None or account.minute_requests <= pace:
            return None
        return max(1, int(account.minute_start + _MINUTE_SECONDS - now))

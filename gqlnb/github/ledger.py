"""What a simulation remembers of each token: budget, pace, and how many requests are running."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.github.metering import HOUR, LIMIT, Meter
from gqlnb.token import SCHEMES

if TYPE_CHECKING:
    from gqlnb.github.simulation import Simulation

__all__ = ["Ledger"]

_MINUTE = 60.0
_ACCOUNTS = 10_000  # remembered at once, so that made-up tokens do not fill the memory


@dataclass(slots=True)
class _Account:
    """What one token has done."""

    reset: float
    used: int = 0
    minute: float = 0.0
    asked: int = 0
    running: int = 0


class Visit(NamedTuple):
    """One request on its way.

    Attributes
    ----------
    number
        How many there have been, this one included.
    meter
        Its look at the budget, which it pays from.
    hasty
        Seconds to wait, if it came too soon; else None.
    """

    number: int
    meter: Meter
    hasty: int | None


class Ledger:
    """The accounts of all tokens, by a digest of each; safe to use from any thread.

    Without a budget, a pace and a bound for concurrency it remembers none of them.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._accounts: dict[bytes, _Account] = {}
        self._lock = threading.Lock()
        self._requests = 0
        limits = (simulation.budget, simulation.pace, simulation.concurrency)
        self._remembers = limits != (None, None, None)

    @contextmanager
    def entered(self, caller: str) -> Iterator[Visit]:
        """Count a request of a caller among those that run, until it is over.

        Its meter pays from the account under the lock, so that requests at the same time cannot
        spend a point twice.
        """
        account = self._account(caller)
        now = self._simulation.clock()
        with self._lock:
            self._requests += 1
            account.running += 1
            wait = self._wait(account, now)
            budget = self._simulation.budget
            limit = LIMIT if budget is None else budget
            take = None if budget is None else partial(self._take, account)
            meter = Meter(limit, account.used, account.reset, take)
            visit = Visit(self._requests, meter, wait)
        try:
            yield visit
        finally:
            with self._lock:
                account.running -= 1

    def _take(self, account: _Account, meter: Meter, *, forced: bool) -> bool:
        """Take what a request costs from its account, or nothing where that is too much."""
        with self._lock:
            meter.used, meter.reset = account.used, account.reset
            left = max(0, meter.limit - account.used)
            if meter.charged > left and not forced:
                return False
            account.used += min(left, meter.charged)
            return True

    def _account(self, caller: str) -> _Account:
        """Return the account of a caller; its budget is whole again where its hour is over."""
        now = self._simulation.clock()
        fresh = _Account(now + HOUR, minute=now)
        if not self._remembers:
            return fresh
        scheme, _, credential = caller.partition(" ")
        # One token has one account, whichever word stands before it.
        named = credential.strip() if scheme.lower() in SCHEMES else caller
        key = sha256(named.encode("utf-8", "replace")).digest()
        with self._lock:
            if key not in self._accounts and len(self._accounts) >= _ACCOUNTS:
                self._forget(now)
            account = self._accounts.setdefault(key, fresh)
            if account.reset <= now:
                account.reset, account.used = now + HOUR, 0
            return account

    def _forget(self, now: float) -> None:
        """Forget the accounts whose hour is over; where there are none, the oldest tenth."""
        idle = [key for key, account in self._accounts.items() if not account.running]
        over = [key for key in idle if self._accounts[key].reset <= now]
        for key in over or idle[: max(1, _ACCOUNTS // 10)]:
            del self._accounts[key]

    def _wait(self, account: _Account, now: float) -> int | None:
        """Return how many seconds a caller has to wait, None for none."""
        pace, concurrency = self._simulation.pace, self._simulation.concurrency
        if concurrency is not None and account.running > concurrency:
            return int(_MINUTE)
        if now >= account.minute + _MINUTE:
            account.minute, account.asked = now, 0
        account.asked += 1
        if pace is None or account.asked <= pace:
            return None
        return max(1, int(account.minute + _MINUTE - now))

"""The delay before a request to a rate-limited endpoint, on plain values.

An endpoint has up to three limits, and :class:`Throttle` observes all of them:

- points of a window or bucket (:class:`~gqlnb.http.rate_limit_rules.Budget`),
- a time before which it accepts no request (``Retry-After``, secondary limits),
- at GitHub, the total response time: 60 seconds in each minute.

Requests to an endpoint that reports no limits are not delayed.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gqlnb.http.rate_limit_rules import CLOCK_MARGIN, RATE_LIMIT_HEADERS, UNKNOWN_BUDGET, Budget
from gqlnb.http.retry_rules import compute_default_wait

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAX_CONCURRENT", "OBSERVED_HEADERS", "Throttle"]

MAX_CONCURRENT = 6  # requests at once; browsers open as many connections to one host
# GitHub allows 60 s of CPU time per minute, "estimated by the total response time" (its
# documentation, "Secondary rate limits"): one request at a time, without a pause.
GITHUB_MAX_CONCURRENT = 1
MINUTE = 60.0
_GITHUB_HEADERS = frozenset({"x-github-request-id", "x-github-media-type"})
OBSERVED_HEADERS = RATE_LIMIT_HEADERS | _GITHUB_HEADERS
# Seconds by which the reset times of one window differ, where they are sent as seconds from now.
_RESET_TOLERANCE = 2.0
RECOVERY_ANSWERS = 10  # responses in a row after which concurrency is raised again


class ResponseTimes:
    """Response times of the last minute, by the second of their end."""

    def __init__(self) -> None:
        self._seconds: deque[list[float]] = deque()  # second, sum, count
        self._mean_seconds = 0.0  # of one response

    def add(self, took: float, now: float) -> None:
        """Record the response time of a request."""
        second = now // 1
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append([second, 0.0, 0])
        self._seconds[-1][1] += took
        self._seconds[-1][2] += 1
        spent, count = (sum(entry[n] for entry in self._seconds) for n in (1, 2))
        self._mean_seconds = spent / count

    def compute_wait(self, flying: int, now: float) -> float | None:
        """Return the seconds until one more response of the mean duration fits into a minute.

        Parameters
        ----------
        flying
            Number of requests in flight; None is returned if it does not fit beside them.
        now
            The time.
        """
        while self._seconds and self._seconds[0][0] + 1 + MINUTE <= now:
            self._seconds.popleft()
        over = sum(entry[1] for entry in self._seconds) + (flying + 1) * self._mean_seconds - MINUTE
        wait = 0.0
        for second, seconds, _ in self._seconds:
            if over <= 0:
                return wait
            over -= seconds
            wait = second + 1 + MINUTE - now
        return wait if over <= 0 or not flying else None


class Throttle(msgspec.Struct):
    """The rate limits of one endpoint; not thread-safe.

    Times are seconds since the epoch.

    Parameters
    ----------
    max_concurrent
        Maximum number of requests at once.

    Attributes
    ----------
    in_flight
        Number of requests in flight.
    reserved_points
        Estimated cost of the requests in flight.
    blocked_until
        Time before which nothing is sent.
    requested_until
        Time before which the endpoint itself forbids requests.
    is_unconstrained
        Whether a response without rate-limit headers changes nothing.
    """

    max_concurrent: int = MAX_CONCURRENT
    in_flight: int = 0
    reserved_points: float = 0.0
    blocked_until: float = 0.0
    requested_until: float = 0.0
    is_unconstrained: bool = False
    _budget: Budget = UNKNOWN_BUDGET
    _budget_time: float = 0.0
    _has_answer: bool = False
    _is_github: bool = False
    _unexplained_limits: int = 0  # in a row, without Retry-After
    _slowdowns: int = 0
    _recoveries: int = 0
    _response_times: ResponseTimes = msgspec.field(default_factory=ResponseTimes)

    @property
    def capacity(self) -> int:
        """The current maximum number of requests at once.

        One until the first response shows the kind of endpoint; half as many after each rate
        limit, and twice as many again after ten responses without one.
        """
        most = self.max_concurrent
        if self._is_github:
            most = min(most, GITHUB_MAX_CONCURRENT)
        # Multiplicative decrease and slow increase, as in TCP: many clients then share a limit.
        return max(1, most >> self._slowdowns) if self._has_answer else 1

    def estimate_budget(self, now: float) -> Budget:
        """Return the budget at a time, estimated from the last response."""
        last = self._budget
        if last.remaining is None:
            return last
        if last.restored:
            restored = last.remaining + (now - self._budget_time) * last.restored
            restored = restored if last.limit is None else min(restored, last.limit)
            return replace(last, remaining=max(last.remaining, int(restored)))
        if last.reset is not None and now >= last.reset.timestamp() + CLOCK_MARGIN:
            return Budget(last.limit, last.limit, None, last.cost)
        return last

    def compute_delay(self, points: float, now: float) -> float | None:
        """Return the seconds to wait before a request, None to wait for another one's response.

        Parameters
        ----------
        points
            Estimated cost of the request.
        now
            The time.
        """
        wait = max(0.0, self.blocked_until - now)
        known = self.estimate_budget(now)
        if known.remaining is not None:
            need = points if known.limit is None else min(points, known.limit)
            short = need + self.reserved_points - known.remaining
            if short > 0 and need <= known.remaining and self.in_flight:
                return None  # the endpoint may have counted those in flight already
            if short > 0 and known.restored:
                wait = max(wait, short / known.restored)
            elif short > 0 and known.reset is not None:
                wait = max(wait, known.reset.timestamp() + CLOCK_MARGIN - now)
        # Only GitHub counts response times; elsewhere a long response is no reason to wait.
        spans = self._response_times.compute_wait(self.in_flight, now) if self._is_github else 0.0
        if spans is None or (self.in_flight >= self.capacity and not wait):
            return None
        return max(wait, spans)

    def start_request(self, points: float) -> None:
        """Record that a request of an estimated cost is sent."""
        self.in_flight += 1
        self.reserved_points += points

    def finish_request(self, points: float) -> None:
        """Record the end of a request of an estimated cost."""
        self.in_flight -= 1
        self.reserved_points = max(0.0, self.reserved_points - points) if self.in_flight else 0.0

    def record_loss(self, took: float, wait: float | None, now: float) -> None:
        """Record a request without a response: the endpoint may have charged it.

        Parameters
        ----------
        took
            Seconds until it failed.
        wait
            Seconds to wait according to the endpoint, None if unknown.
        now
            The time.
        """
        if self._is_github and took > 0:
            self._response_times.add(took, now)
        self.blocked_until = max(self.blocked_until, now + (wait or 0.0))
        remaining = self._budget.remaining
        if remaining is not None:
            self._budget = replace(self._budget, remaining=max(0, remaining - 1))

    def record_answer(
        self, budget: Budget, headers: Mapping[str, str], took: float, now: float
    ) -> None:
        """Record a response.

        Parameters
        ----------
        budget
            The budget in the response.
        headers
            Its headers by lower-case name.
        took
            Seconds from the request to the end of the response.
        now
            The time.
        """
        self._has_answer = True
        self._is_github = self._is_github or not _GITHUB_HEADERS.isdisjoint(headers)
        if self._is_github and took > 0:
            self._response_times.add(took, now)
        if budget:
            self._update_budget(budget, now)

    def record_success(self, now: float) -> None:
        """Record that a response was not a rate limit."""
        if now < self.blocked_until:
            return  # it was sent before the limit was reached
        self._unexplained_limits = 0
        if self._slowdowns:
            self._recoveries += 1
            if self._recoveries >= RECOVERY_ANSWERS:
                self._slowdowns, self._recoveries = self._slowdowns - 1, 0
        self.is_unconstrained = self._has_answer and not self._slowdowns

    def record_limit(self, wait: float | None, now: float) -> None:
        """Record that a rate limit was reached.

        Parameters
        ----------
        wait
            Seconds to wait according to the endpoint; None if unknown: then the delay is a minute,
            and longer each time. Requests in flight that reach the same limit do not extend it.
        now
            The time.
        """
        self._has_answer, self.is_unconstrained = True, False
        fresh = now >= self.blocked_until
        if fresh:
            self._slowdowns = min(self._slowdowns + 1, self.max_concurrent.bit_length())
            self._recoveries = 0
        if wait is not None:
            self.requested_until = max(self.requested_until, now + wait)
            self.blocked_until = max(self.blocked_until, self.requested_until)
        elif fresh:
            self._unexplained_limits += 1
            self.blocked_until = now + compute_default_wait(self._unexplained_limits)

    def _update_budget(self, budget: Budget, now: float) -> None:
        known = self._budget
        if budget.remaining is None:
            self._budget = replace(known, cost=budget.cost) if known else budget
            return
        if budget.reset is not None and known.reset is not None and known.remaining is not None:
            later = (budget.reset - known.reset).total_seconds()
            if later < -_RESET_TOLERANCE and budget.reset <= datetime.fromtimestamp(now, UTC):
                return  # of an earlier window
            if abs(later) <= _RESET_TOLERANCE:  # responses may arrive out of order
                budget = replace(budget, remaining=min(budget.remaining, known.remaining))
        self._budget, self._budget_time = budget, now
        if budget.cost is None:
            self._budget = replace(budget, cost=known.cost)

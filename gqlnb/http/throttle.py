"""How many requests may go at once, and when the next one: rules on plain values.

An endpoint limits those who ask by up to three things at once, and :class:`Throttle` keeps to each:

- points of a window, or in a bucket (:class:`~gqlnb.http.estimate_budget.Budget`),
- a time before which it does not want to be asked (``Retry-After``, secondary limits),
- at GitHub, the time that it works for somebody: 60 seconds in 60.

Of an endpoint that speaks of none of them nothing is waited for.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gqlnb.http.rate_limit_rules import (
    CLOCK_MARGIN,
    RATE_LIMIT_HEADERS,
    UNKNOWN_BUDGET,
    Budget,
    compute_default_wait,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAX_CONCURRENT", "OBSERVED_HEADERS", "Throttle"]

MAX_CONCURRENT = 6  # requests at once; as many connections as browsers open to one host
# GitHub works 60 s of a minute for somebody, "estimated by the total response time" (its
# documentation, "Secondary rate limits"): that is one request at a time, all the time.
GITHUB_MAX_CONCURRENT = 1
MINUTE = 60.0
GITHUB_HEADERS = frozenset({"x-github-request-id", "x-github-media-type"})  # headers of its own
OBSERVED_HEADERS = RATE_LIMIT_HEADERS | GITHUB_HEADERS
RESET_TOLERANCE = (
    2.0  # seconds by which the reset times of one window differ, where they count from now on
)
RECOVERY_ANSWERS = 10  # answers in a row after which one more request may go at once again


class ResponseTimes:
    """How long answers took of the last minute, by the second in which they came."""

    def __init__(self) -> None:
        self._seconds: deque[list[float]] = deque()  # second, sum, how many
        self._mean_seconds = 0.0  # seconds of one answer

    def add(self, took: float, now: float) -> None:
        """Note that an answer took so many seconds."""
        second = now // 1
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append([second, 0.0, 0])
        self._seconds[-1][1] += took
        self._seconds[-1][2] += 1
        spent, count = (sum(each[n] for each in self._seconds) for n in (1, 2))
        self._mean_seconds = spent / count

    def compute_wait(self, flying: int, now: float) -> float | None:
        """Return the seconds until one more answer, as long as these, fits into a minute.

        Parameters
        ----------
        flying
            How many more are under way; None is returned if it does not fit beside these.
        now
            The time.
        """
        while self._seconds and self._seconds[0][0] + 1 + MINUTE <= now:
            self._seconds.popleft()
        over = sum(each[1] for each in self._seconds) + (flying + 1) * self._mean_seconds - MINUTE
        wait = 0.0
        for second, seconds, _ in self._seconds:
            if over <= 0:
                return wait
            over -= seconds
            wait = second + 1 + MINUTE - now
        return wait if over <= 0 or not flying else None


@dataclass(slots=True)
class Throttle:
    """The requests to one endpoint, and what it has said of them; not safe to use from two threads.

    Times are seconds since the epoch.

    Parameters
    ----------
    max_concurrent
        Most requests at once.

    Attributes
    ----------
    in_flight
        Requests on their way.
    reserved_points
        What they are taken to cost together.
    blocked_until
        Nothing is sent before this time.
    requested_until
        The same, where the endpoint itself named the time.
    """

    max_concurrent: int = MAX_CONCURRENT
    in_flight: int = 0
    reserved_points: float = 0.0
    blocked_until: float = 0.0
    requested_until: float = 0.0
    _budget: Budget = UNKNOWN_BUDGET
    _budget_time: float = 0.0
    _has_answer: bool = False
    _is_github: bool = False
    _unexplained_limits: int = 0  # in a row, that did not say how long
    _slowdowns: int = 0
    _recoveries: int = 0
    _response_times: ResponseTimes = field(default_factory=ResponseTimes)

    @property
    def capacity(self) -> int:
        """How many requests may be on their way at once.

        One until the first answer has shown what kind of endpoint it is; half as many after each
        limit that was met, and one step back for each ten answers without one.
        """
        most = (
            min(self.max_concurrent, GITHUB_MAX_CONCURRENT)
            if self._is_github
            else self.max_concurrent
        )
        return max(1, most >> self._slowdowns) if self._has_answer else 1

    @property
    def is_unconstrained(self) -> bool:
        """Whether an answer that says nothing changes nothing."""
        return self._has_answer and not self._slowdowns and not self._unexplained_limits

    def estimate_budget(self, now: float) -> Budget:
        """Return what is known of the budget at a time."""
        told = self._budget
        if told.remaining is None:
            return told
        if told.restored:
            back = told.remaining + (now - self._budget_time) * told.restored
            left = back if told.limit is None else min(back, told.limit)
            return replace(told, remaining=max(told.remaining, int(left)))
        if told.reset is not None and now >= told.reset.timestamp() + CLOCK_MARGIN:
            return Budget(told.limit, told.limit, None, told.cost)
        return told

    def compute_delay(self, points: float, now: float) -> float | None:
        """Return the seconds to wait before a request, None to wait until another one is back.

        Parameters
        ----------
        points
            What it is taken to cost.
        now
            The time.
        """
        wait = max(0.0, self.blocked_until - now)
        known = self.estimate_budget(now)
        if known.remaining is not None:
            need = points if known.limit is None else min(points, known.limit)
            short = need + self.reserved_points - known.remaining
            if short > 0 and need <= known.remaining and self.in_flight:
                return None  # those on their way may be counted already
            if short > 0 and known.restored:
                wait = max(wait, short / known.restored)
            elif short > 0 and known.reset is not None:
                wait = max(wait, known.reset.timestamp() + CLOCK_MARGIN - now)
        spans = self._response_times.compute_wait(self.in_flight, now) if self._is_github else 0.0
        if spans is None or (self.in_flight >= self.capacity and not wait):
            return None
        return max(wait, spans)

    def start_request(self, points: float) -> None:
        """Note that a request goes."""
        self.in_flight += 1
        self.reserved_points += points

    def finish_request(self, points: float) -> None:
        """Note that a request is back, which began with so many points."""
        self.in_flight -= 1
        self.reserved_points = max(0.0, self.reserved_points - points) if self.in_flight else 0.0

    def record_loss(self, took: float, wait: float | None, now: float) -> None:
        """Note that a request got no answer: it took its time, and may have been charged.

        Parameters
        ----------
        took
            Seconds until that was known.
        wait
            Seconds that the endpoint asks to wait, None if it does not.
        now
            The time.
        """
        if self._is_github and took > 0:
            self._response_times.add(took, now)
        self.blocked_until = max(self.blocked_until, now + (wait or 0.0))
        left = self._budget.remaining
        if left is not None:
            self._budget = replace(self._budget, remaining=max(0, left - 1))

    def record_answer(
        self, told: Budget, headers: Mapping[str, str], took: float, now: float
    ) -> None:
        """Note an answer.

        Parameters
        ----------
        told
            What it says of the budget.
        headers
            Its headers.
        took
            Seconds from the request to its end.
        now
            The time.
        """
        self._has_answer = True
        self._is_github = self._is_github or not GITHUB_HEADERS.isdisjoint(headers)
        if self._is_github and took > 0:
            self._response_times.add(took, now)
        if told:
            self._update_budget(told, now)

    def record_success(self, now: float) -> None:
        """Note that an answer was no refusal."""
        if now < self.blocked_until:
            return  # it was on its way when the limit was met
        self._unexplained_limits = 0
        if self._slowdowns:
            self._recoveries += 1
            if self._recoveries >= RECOVERY_ANSWERS:
                self._slowdowns, self._recoveries = self._slowdowns - 1, 0

    def record_limit(self, wait: float | None, now: float) -> None:
        """Note that a limit was met.

        Parameters
        ----------
        wait
            Seconds that the endpoint asks to wait; None if it does not say, and then a minute is
            waited, and longer each time. Whoever hears of the same limit adds nothing to it.
        now
            The time.
        """
        self._has_answer = True
        fresh = now >= self.blocked_until
        if fresh:
            self._slowdowns, self._recoveries = (
                min(self._slowdowns + 1, self.max_concurrent.bit_length()),
                0,
            )
        if wait is not None:
            self.requested_until = max(self.requested_until, now + wait)
            self.blocked_until = max(self.blocked_until, self.requested_until)
        elif fresh:
            self._unexplained_limits += 1
            self.blocked_until = now + compute_default_wait(self._unexplained_limits)

    def _update_budget(self, told: Budget, now: float) -> None:
        known = self._budget
        if told.remaining is None:
            self._budget = replace(known, cost=told.cost) if known else told
            return
        if told.reset is not None and known.reset is not None and known.remaining is not None:
            later = (told.reset - known.reset).total_seconds()
            if later < -RESET_TOLERANCE and told.reset <= datetime.fromtimestamp(now, UTC):
                return  # of a window that is over
            if (
                abs(later) <= RESET_TOLERANCE
            ):  # answers may come in another order than they were given
                told = replace(told, remaining=min(told.remaining, known.remaining))
        self._budget, self._budget_time = told, now
        if told.cost is None:
            self._budget = replace(told, cost=known.cost)

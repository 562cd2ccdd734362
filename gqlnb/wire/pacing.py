"""How many requests may go at once, and when the next one: rules on plain values.

An endpoint limits those who ask by up to three things at once, and :class:`Flow` keeps to each:

- points of a window, or in a bucket (:class:`~gqlnb.wire.budget.Budget`),
- a time before which it does not want to be asked (``Retry-After``, secondary limits),
- at GitHub, the time that it works for somebody: 60 seconds in 60.

Of an endpoint that speaks of none of them nothing is waited for.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gqlnb.wire.budget import MARGIN, TELLING, UNKNOWN, Budget
from gqlnb.wire.retry import unsaid

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MARKS", "WIDTH", "Flow"]

WIDTH = 6  # requests at once; as many connections as browsers open to one host
# GitHub works 60 s of a minute for somebody, "estimated by the total response time" (its
# documentation, "Secondary rate limits"): that is one request at a time, all the time.
GITHUB_WIDTH = 1
MINUTE = 60.0
GITHUB = frozenset({"x-github-request-id", "x-github-media-type"})  # headers of its own
MARKS = TELLING | GITHUB
SAME = 2.0  # seconds by which the reset times of one window differ, where they count from now on
EASED = 10  # answers in a row after which one more request may go at once again


class Spans:
    """How long answers took of the last minute, by the second in which they came."""

    def __init__(self) -> None:
        self._seconds: deque[list[float]] = deque()  # second, sum, how many
        self._usual = 0.0  # seconds of one answer

    def add(self, took: float, now: float) -> None:
        """Note that an answer took so many seconds."""
        second = now // 1
        if not self._seconds or self._seconds[-1][0] != second:
            self._seconds.append([second, 0.0, 0])
        self._seconds[-1][1] += took
        self._seconds[-1][2] += 1
        spent, count = (sum(each[n] for each in self._seconds) for n in (1, 2))
        self._usual = spent / count

    def wait(self, flying: int, now: float) -> float | None:
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
        over = sum(each[1] for each in self._seconds) + (flying + 1) * self._usual - MINUTE
        wait = 0.0
        for second, seconds, _ in self._seconds:
            if over <= 0:
                return wait
            over -= seconds
            wait = second + 1 + MINUTE - now
        return wait if over <= 0 or not flying else None


@dataclass(slots=True)
class Flow:
    """The requests to one endpoint, and what it has said of them; not safe to use from two threads.

    Times are seconds since the epoch.

    Parameters
    ----------
    width
        Most requests at once.

    Attributes
    ----------
    flying
        Requests on their way.
    points
        What they are taken to cost together.
    held
        Nothing is sent before this time.
    asked
        The same, where the endpoint itself named the time.
    """

    width: int = WIDTH
    flying: int = 0
    points: float = 0.0
    held: float = 0.0
    asked: float = 0.0
    _told: Budget = UNKNOWN
    _told_at: float = 0.0
    _heard: bool = False
    _github: bool = False
    _limits: int = 0  # in a row, that did not say how long
    _strain: int = 0
    _eased: int = 0
    _spans: Spans = field(default_factory=Spans)

    @property
    def room(self) -> int:
        """How many requests may be on their way at once.

        One until the first answer has shown what kind of endpoint it is; half as many after each
        limit that was met, and one step back for each ten answers without one.
        """
        most = min(self.width, GITHUB_WIDTH) if self._github else self.width
        return max(1, most >> self._strain) if self._heard else 1

    @property
    def easy(self) -> bool:
        """Whether an answer that says nothing changes nothing."""
        return self._heard and not self._strain and not self._limits

    def budget(self, now: float) -> Budget:
        """Return what is known of the budget at a time."""
        told = self._told
        if told.remaining is None:
            return told
        if told.restored:
            back = told.remaining + (now - self._told_at) * told.restored
            left = back if told.limit is None else min(back, told.limit)
            return replace(told, remaining=max(told.remaining, int(left)))
        if told.reset is not None and now >= told.reset.timestamp() + MARGIN:
            return Budget(told.limit, told.limit, None, told.cost)
        return told

    def delay(self, points: float, now: float) -> float | None:
        """Return the seconds to wait before a request, None to wait until another one is back.

        Parameters
        ----------
        points
            What it is taken to cost.
        now
            The time.
        """
        wait = max(0.0, self.held - now)
        known = self.budget(now)
        if known.remaining is not None:
            need = points if known.limit is None else min(points, known.limit)
            short = need + self.points - known.remaining
            if short > 0 and need <= known.remaining and self.flying:
                return None  # those on their way may be counted already
            if short > 0 and known.restored:
                wait = max(wait, short / known.restored)
            elif short > 0 and known.reset is not None:
                wait = max(wait, known.reset.timestamp() + MARGIN - now)
        spans = self._spans.wait(self.flying, now) if self._github else 0.0
        if spans is None or (self.flying >= self.room and not wait):
            return None
        return max(wait, spans)

    def begin(self, points: float) -> None:
        """Note that a request goes."""
        self.flying += 1
        self.points += points

    def end(self, points: float) -> None:
        """Note that a request is back, which began with so many points."""
        self.flying -= 1
        self.points = max(0.0, self.points - points) if self.flying else 0.0

    def lost(self, took: float, wait: float | None, now: float) -> None:
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
        if self._github and took > 0:
            self._spans.add(took, now)
        self.held = max(self.held, now + (wait or 0.0))
        left = self._told.remaining
        if left is not None:
            self._told = replace(self._told, remaining=max(0, left - 1))

    def answered(self, told: Budget, headers: Mapping[str, str], took: float, now: float) -> None:
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
        self._heard = True
        self._github = self._github or not GITHUB.isdisjoint(headers)
        if self._github and took > 0:
            self._spans.add(took, now)
        if told:
            self._learn(told, now)

    def good(self, now: float) -> None:
        """Note that an answer was no refusal."""
        if now < self.held:
            return  # it was on its way when the limit was met
        self._limits = 0
        if self._strain:
            self._eased += 1
            if self._eased >= EASED:
                self._strain, self._eased = self._strain - 1, 0

    def limited(self, wait: float | None, now: float) -> None:
        """Note that a limit was met.

        Parameters
        ----------
        wait
            Seconds that the endpoint asks to wait; None if it does not say, and then a minute is
            waited, and longer each time. Whoever hears of the same limit adds nothing to it.
        now
            The time.
        """
        self._heard = True
        fresh = now >= self.held
        if fresh:
            self._strain, self._eased = min(self._strain + 1, self.width.bit_length()), 0
        if wait is not None:
            self.asked = max(self.asked, now + wait)
            self.held = max(self.held, self.asked)
        elif fresh:
            self._limits += 1
            self.held = now + unsaid(self._limits)

    def _learn(self, told: Budget, now: float) -> None:
        known = self._told
        if told.remaining is None:
            self._told = replace(known, cost=told.cost) if known else told
            return
        if told.reset is not None and known.reset is not None and known.remaining is not None:
            later = (told.reset - known.reset).total_seconds()
            if later < -SAME and told.reset <= datetime.fromtimestamp(now, UTC):
                return  # of a window that is over
            if abs(later) <= SAME:  # answers may come in another order than they were given
                told = replace(told, remaining=min(told.remaining, known.remaining))
        self._told, self._told_at = told, now
        if told.cost is None:
            self._told = replace(told, cost=known.cost)

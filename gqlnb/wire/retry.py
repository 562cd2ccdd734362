"""Whether to ask again, and when: a rule on plain values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gqlnb.errors import RateLimited, TransportError
from gqlnb.wire.budget import LONGEST, MARGIN, from_headers, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ATTEMPTS", "PASSING", "UNSAID", "Attempt", "asked_wait", "decide", "failure", "unsaid"]

Failure = Literal["broken", "busy", "limited"]

ATTEMPTS = 4  # in all; GitHub counts each against the same limits
FIRST = 0.5  # seconds before the second attempt; doubled for each further one
# GitHub, "Rate limits and query limits for the GraphQL API": without a word on how long, wait for
# at least one minute, and longer each time.
UNSAID = 60.0
PASSING = frozenset({502, 503, 504})  # the statuses that urllib3 and GitHub's guide name
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")  # some endpoints send fractions of a second
DOUBLED = 6  # times at most: an hour


@dataclass(frozen=True, slots=True)
class Attempt:
    """How an attempt ended.

    Attributes
    ----------
    kind
        ``"query"``, ``"mutation"`` or ``"subscription"``.
    failure
        ``"broken"``: the connection ended before the whole answer had come. ``"busy"``: an HTTP
        status that passes, or an answer that reports a transient failure. ``"limited"``: a rate
        limit. None: anything else.
    number
        Attempts so far, this one included.
    left
        Seconds that may still be spent on waiting.
    wait
        Seconds the endpoint asks to wait, None if it does not say.
    """

    kind: str
    failure: Failure | None
    number: int
    left: float
    wait: float | None = None


def decide(attempt: Attempt, fraction: float) -> float | None:
    """Return the seconds to wait before the next attempt, or None to give up.

    Parameters
    ----------
    attempt
        How the last one ended.
    fraction
        A random number, ``0 <= fraction < 1``, so that many clients do not come back at once.

    Returns
    -------
    float or None
        At least what the endpoint asks for, at most what is left.

    Notes
    -----
    Only queries are sent again: of a mutation whose answer was lost nobody knows whether it was
    executed. Backoff grows from 0.5 s; between half and all of each step is waited.
    """
    if attempt.kind != "query" or attempt.failure is None or attempt.number >= ATTEMPTS:
        return None
    backoff = FIRST * 2.0 ** (attempt.number - 1) * (0.5 + fraction / 2)
    if attempt.wait is not None:
        wait = max(attempt.wait, backoff)
    elif attempt.failure == "limited":
        wait = unsaid(attempt.number)
    else:
        wait = backoff
    return wait if wait <= attempt.left else None


def unsaid(number: int) -> float:
    """Return the seconds to wait after the n-th rate limit in a row that does not say how long."""
    return UNSAID * 2.0 ** min(number - 1, DOUBLED)


def failure(error: Exception) -> Failure | None:
    """Return what kind of failure an error is; None for one that asking again would not mend."""
    if isinstance(error, RateLimited):
        return "limited"
    if not isinstance(error, TransportError):
        return None
    if error.transient or error.status in PASSING:
        return "busy"
    return "broken" if error.broken else None


def asked_wait(headers: Mapping[str, str], now: float, *, limited: bool) -> float | None:
    """Return the seconds an endpoint asks to wait, None if it does not.

    Parameters
    ----------
    headers
        Those of its answer, by lower-case name: ``Retry-After`` in seconds or as a date, else when
        the budget is whole again, as :func:`~gqlnb.wire.budget.from_headers` reads it.
    now
        Seconds since the epoch; for dates the endpoint's own clock counts, if it tells the time.
    limited
        Whether the answer says that a limit is reached: ``x-ratelimit-remaining`` may be above 0
        then (yanyongyu/githubkit#271). Otherwise the reset time counts where nothing remains.
    """
    after = headers.get("retry-after", "").strip()
    if NUMBER.fullmatch(after):
        return min(float(after), LONGEST)
    until = seconds(after)
    if until is not None:
        told = seconds(headers.get("date", ""))
        return max(0.0, until - (now if told is None else told))
    said = from_headers(headers, now)
    if said.reset is not None and (limited or said.remaining == 0):
        return min(max(0.0, said.reset.timestamp() + MARGIN - now), LONGEST)
    return None

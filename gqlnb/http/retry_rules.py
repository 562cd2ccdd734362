"""Transient failures, and the delay before another attempt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from gqlnb.errors import AnswerError, RateLimited, TransportError
from gqlnb.http.rate_limit_rules import (
    CLOCK_MARGIN,
    MAX_SECONDS,
    parse_http_date,
    read_budget_headers,
)

__all__ = [
    "DEFAULT_LIMIT_WAIT",
    "MAX_ATTEMPTS",
    "TRANSIENT_STATUSES",
    "Attempt",
    "FailureKind",
    "classify_failure",
    "compute_default_wait",
    "compute_retry_delay",
    "read_retry_after",
]

FailureKind = Literal["broken", "busy", "limited"]

MAX_ATTEMPTS = 4  # in all; GitHub counts each against the same limits
FIRST_BACKOFF = 0.5  # seconds before the second attempt; doubled for each further one
# GitHub, "Rate limits and query limits for the GraphQL API": without Retry-After, wait for at least
# one minute, and longer each time.
DEFAULT_LIMIT_WAIT = 60.0
TRANSIENT_STATUSES = frozenset({502, 503, 504})  # the statuses that urllib3 and GitHub's guide name
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?")  # some endpoints send fractions of a second
_MAX_DOUBLINGS = 6  # 64 times: about an hour


class Attempt(msgspec.Struct, frozen=True):
    """The end of an attempt.

    Attributes
    ----------
    kind
        ``"query"``, ``"mutation"`` or ``"subscription"``.
    failure
        ``"broken"``: the response ended before it was complete, or was empty. ``"busy"``: a
        transient HTTP status, or a response that reports a transient failure. ``"limited"``: a
        rate limit. None: any other end.
    number
        Attempts so far, this one included.
    seconds_left
        Seconds left for waiting.
    retry_after
        Seconds to wait according to the endpoint, None if unknown.
    """

    kind: str
    failure: FailureKind | None
    number: int
    seconds_left: float
    retry_after: float | None = None


# A mutation is never repeated, because it may have been executed. The error then says that this
# is unknown.
def compute_retry_delay(attempt: Attempt, fraction: float) -> float | None:
    """Return the seconds to wait before the next attempt, or None to give up.

    Parameters
    ----------
    attempt
        The end of the last attempt.
    fraction
        A random number, ``0 <= fraction < 1``, so that many clients do not retry at once.

    Returns
    -------
    float or None
        At least the endpoint's `retry_after`, at most `seconds_left`.

    Notes
    -----
    Only queries are sent again: a mutation whose response was lost may have been executed. Backoff
    starts at 0.5 s and doubles; the delay is between half and all of it.
    """
    if attempt.kind != "query" or attempt.failure is None or attempt.number >= MAX_ATTEMPTS:
        return None
    # Jitter of half a step: see "Exponential Backoff And Jitter" of the AWS architecture blog.
    backoff = FIRST_BACKOFF * 2.0 ** (attempt.number - 1) * (0.5 + fraction / 2)
    if attempt.retry_after is not None:
        wait = max(attempt.retry_after, backoff)
    elif attempt.failure == "limited":
        wait = compute_default_wait(attempt.number)
    else:
        wait = backoff
    return wait if wait <= attempt.seconds_left else None


def compute_default_wait(number: int) -> float:
    """Return the seconds to wait after the n-th rate limit in a row without Retry-After."""
    return DEFAULT_LIMIT_WAIT * 2.0 ** min(number - 1, _MAX_DOUBLINGS)


def classify_failure(error: Exception) -> FailureKind | None:
    """Return the kind of a transient failure; None for an error that a retry does not fix."""
    if isinstance(error, RateLimited):
        return "limited"
    if isinstance(error, AnswerError):
        return "broken" if error.broken else None
    if not isinstance(error, TransportError):
        return None
    if error.transient or error.status in TRANSIENT_STATUSES:
        return "busy"
    return "broken" if error.broken else None


def read_retry_after(headers: Mapping[str, str], now: float, *, limited: bool) -> float | None:
    """Return the seconds to wait according to an endpoint, None if unknown.

    Parameters
    ----------
    headers
        Header values by lower-case name: ``Retry-After`` in seconds or as a date, else the reset
        time of the budget (:func:`read_budget_headers`).
    now
        Seconds since the epoch; dates are by the endpoint's own clock, if it sends one.
    limited
        Whether the response reports a rate limit: ``x-ratelimit-remaining`` may be above 0 then
        (yanyongyu/githubkit#271). Otherwise the reset time counts only if nothing remains.
    """
    after = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(after):
        return min(float(after), MAX_SECONDS)
    until = parse_http_date(after)
    if until is not None:
        endpoint_now = parse_http_date(headers.get("date", ""))
        return max(0.0, until - (now if endpoint_now is None else endpoint_now))
    budget = read_budget_headers(headers, now)
    if budget.reset is not None and (limited or budget.remaining == 0):
        return min(max(0.0, budget.reset.timestamp() + CLOCK_MARGIN - now), MAX_SECONDS)
    return None

"""Rate limits: budgets in responses, in all spellings, and delays of requests and retries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Literal

import msgspec
from msgspec.structs import fields, replace

from gqlnb.errors import AnswerError, RateLimited, TransportError

CLOCK_MARGIN = 1.0  # seconds; the clock of an endpoint may differ from that of its reset times
MAX_SECONDS = 1e9  # 30 years; Retry-After may have any number of digits
_AMOUNT = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(?:[,;].*)?")  # a policy may follow
# The IETF's draft, from its 7th revision on: `limit=100, remaining=50, reset=5`, then
# `"default";r=50;t=5`, with the limit in a policy `"default";q=100;w=60`.
_PARAMETER = re.compile(r"(?<![a-z])(limit|remaining|reset|r|t|q|w)=([0-9]{1,15})", re.IGNORECASE)
_PREFIXES = ("x-ratelimit-", "ratelimit-", "x-rate-limit-")
RATE_LIMIT_HEADERS = frozenset(
    {f"{prefix}{name}" for prefix in _PREFIXES for name in ("limit", "remaining", "reset")}
    | {"ratelimit", "ratelimit-policy"}
)


class Budget(msgspec.Struct, frozen=True):
    """The rate-limit budget of an endpoint; unknown values are None.

    Attributes
    ----------
    limit
        Points, or requests, of a whole window or bucket.
    remaining
        Points left.
    reset
        Time at which the whole limit is available again, in UTC.
    cost
        Points of the last request.
    restored
        Points restored each second, for a leaky bucket such as Shopify's.
    """

    limit: float | None = None
    remaining: float | None = None
    reset: datetime | None = None
    cost: float | None = None
    restored: float | None = None

    def __bool__(self) -> bool:
        """Return whether any value is known."""
        return self != UNKNOWN_BUDGET

    def __repr__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.reset is not None:
            values["reset"] = f"{self.reset:%Y-%m-%d %H:%M:%S} UTC"
        parts = [f"{name}={value!r}" for name, value in values.items() if value is not None]
        return f"Budget({', '.join(parts)})"

    def __str__(self) -> str:
        if self.remaining is None:
            return ""
        of = "" if self.limit is None else f" of {self.limit:,.0f}"
        until = "" if self.reset is None else f" until {self.reset:%H:%M} UTC"
        return f"{self.remaining:,.0f}{of} left{until}"


UNKNOWN_BUDGET = Budget()


def read_budget(
    headers: Mapping[str, str], extensions: Mapping[str, Any], data: object, now: float
) -> Budget:
    """Return the budget in a response; :data:`UNKNOWN_BUDGET` if there is none.

    Parameters
    ----------
    headers
        Header values by lower-case name.
    extensions
        The member of that name.
    data
        The data, if the document asks for ``rateLimit``; else None.
    now
        Seconds since the epoch.
    """
    budget = read_cost_extension(extensions) if extensions else UNKNOWN_BUDGET
    if not RATE_LIMIT_HEADERS.isdisjoint(headers):
        budget = _merge_budgets(budget, read_budget_headers(headers, now))
    return budget if data is None else _merge_budgets(budget, read_rate_limit_field(data))


def _merge_budgets(first: Budget, second: Budget) -> Budget:
    """Return the first budget with known points, with a cost of either."""
    cost = second.cost if first.cost is None else first.cost
    return replace(second if first.remaining is None else first, cost=cost)


def read_budget_headers(headers: Mapping[str, str], now: float) -> Budget:
    """Return the budget in headers: GitHub's ``x-ratelimit-*``, and the IETF's in three revisions.

    Parameters
    ----------
    headers
        Header values by lower-case name.
    now
        Seconds since the epoch.

    Notes
    -----
    Source: GitHub documentation, "Rate limits and query limits for the GraphQL API";
    draft-ietf-httpapi-ratelimit-headers, revisions 3, 7 and 9. Of several limits the one with the
    least remaining counts. A reset is a time or a number of seconds from now, whichever is nearer;
    if the response has a date, times are those of the endpoint's clock.
    """
    for prefix in _PREFIXES:
        remaining = _parse_amount(headers.get(f"{prefix}remaining"))
        reset = _parse_reset_time(headers.get(f"{prefix}reset", ""), headers, now)
        if remaining is not None or reset is not None:
            return Budget(_parse_amount(headers.get(f"{prefix}limit")), remaining, reset)
    if "ratelimit" not in headers:
        return UNKNOWN_BUDGET
    return _parse_ratelimit_header(headers, now)


def _parse_ratelimit_header(headers: Mapping[str, str], now: float) -> Budget:
    """Return the budget in the single header of the draft's later revisions."""
    text, policies = headers["ratelimit"], {}
    if "=" in text.partition(",")[0] and ";" not in text:  # revision 7: one limit, in a list
        items = [text]
    else:
        items = text.split(",")
        for policy in headers.get("ratelimit-policy", "").split(","):
            policies[_parse_policy_name(policy)] = _parse_parameters(policy)
    budgets = []
    for item in items:
        own, policy_values = _parse_parameters(item), policies.get(_parse_policy_name(item), {})
        budget = Budget(
            _parse_amount(own.get("limit") or policy_values.get("q")),
            _parse_amount(own.get("remaining") or own.get("r")),
            _parse_reset_time(own.get("reset") or own.get("t") or "", headers, now),
        )
        if budget.remaining is not None:
            budgets.append(budget)
    return min(budgets, key=lambda budget: budget.remaining or 0, default=UNKNOWN_BUDGET)


def _parse_policy_name(item: str) -> str:
    return item.partition(";")[0].strip().strip('"')


def _parse_parameters(item: str) -> dict[str, str]:
    return {match[1].lower(): match[2] for match in _PARAMETER.finditer(item)}


def read_cost_extension(extensions: Mapping[str, Any]) -> Budget:
    """Return the budget in ``extensions.cost``, in Shopify's form.

    Notes
    -----
    Source: Shopify documentation, "API limits": ``requestedQueryCost``, ``actualQueryCost`` and
    ``throttleStatus`` with ``maximumAvailable``, ``currentlyAvailable`` and ``restoreRate``.
    """
    cost = extensions.get("cost")
    if not isinstance(cost, Mapping):
        return UNKNOWN_BUDGET
    status = cost.get("throttleStatus")
    status = status if isinstance(status, Mapping) else {}
    spent = _parse_amount(cost.get("actualQueryCost"))
    return Budget(
        limit=_parse_amount(status.get("maximumAvailable")),
        remaining=_parse_amount(status.get("currentlyAvailable")),
        cost=_parse_amount(cost.get("requestedQueryCost")) if spent is None else spent,
        restored=_parse_amount(status.get("restoreRate")),
    )


def compute_restore_wait(budget: Budget) -> float | None:
    """Return the seconds until the cost of the request is restored; None if unknown."""
    if not budget.restored or budget.cost is None or budget.remaining is None:
        return None
    return max(0.0, (budget.cost - budget.remaining) / budget.restored)


def read_rate_limit_field(data: object) -> Budget:
    """Return the budget in GitHub's root field ``rateLimit``, under any alias."""
    for value in data.values() if isinstance(data, Mapping) else ():
        if isinstance(value, Mapping) and not {"remaining", "cost"}.isdisjoint(value):
            limit, remaining, cost = (
                _parse_amount(value.get(n)) for n in ("limit", "remaining", "cost")
            )
            return Budget(limit, remaining, _parse_iso_date(value.get("resetAt")), cost)
    return UNKNOWN_BUDGET


def _parse_amount(value: object) -> float | None:
    """Return a number from 0 on, as int if it is whole; None for any other value."""
    if isinstance(value, str):
        match = _AMOUNT.fullmatch(value)
        value = float(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    return None if value < 0 else int(value) if value == int(value) else value


def _parse_reset_time(text: str, headers: Mapping[str, str], now: float) -> datetime | None:
    """Return a reset time by our own clock; None if it is malformed."""
    value = _parse_amount(text)
    if value is not None and value < now / 2:
        return _from_timestamp(now + value)  # seconds from now
    if value is not None:
        moment: float | None = value / 1000 if value > now * 100 else value  # or in ms
    else:
        moment = parse_http_date(text)
        date = _parse_iso_date(text) if moment is None else None
        moment = moment if date is None else date.timestamp()
    if moment is None:
        return None
    endpoint_now = parse_http_date(headers.get("date", ""))
    return _from_timestamp(moment if endpoint_now is None else moment - endpoint_now + now)


def _from_timestamp(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):  # beyond the calendar
        return None


def _parse_iso_date(value: object) -> datetime | None:
    """Return a date in ISO 8601, as ``resetAt`` is, in UTC; None if it is malformed."""
    if not isinstance(value, str):
        return value if isinstance(value, datetime) and value.tzinfo is not None else None
    try:
        date = datetime.fromisoformat(value.upper())
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_http_date(date: str) -> float | None:
    """Return an HTTP date as seconds since the epoch; None if it is malformed."""
    try:
        parsed = parsedate_to_datetime(date)
        return parsed.replace(tzinfo=parsed.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError, TypeError):
        return None


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


MAX_CONCURRENT = 6  # requests at once; browsers open as many connections to one host
# GitHub allows 60 s of CPU time per minute, "estimated by the total response time" (its
# documentation, "Secondary rate limits"): one request at a time cannot take more.
GITHUB_MAX_CONCURRENT = 1
_GITHUB_HEADERS = frozenset({"x-github-request-id", "x-github-media-type"})
OBSERVED_HEADERS = RATE_LIMIT_HEADERS | _GITHUB_HEADERS
# Seconds by which the reset times of one window differ, where they are sent as seconds from now.
_RESET_TOLERANCE = 2.0
RECOVERY_ANSWERS = 10  # responses in a row after which concurrency is raised again


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
    blocked_until
        Time before which nothing is sent.
    requested_until
        Time before which the endpoint itself forbids requests.
    is_unconstrained
        Whether a response without rate-limit headers changes nothing.
    """

    max_concurrent: int = MAX_CONCURRENT
    in_flight: int = 0
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

    def compute_delay(self, now: float) -> float | None:
        """Return the seconds to wait before a request, None to wait for another one's response."""
        wait = max(0.0, self.blocked_until - now)
        budget = self.estimate_budget(now)
        if budget.remaining is not None:
            # A point each: what a request costs is known only from its response.
            need = 1 if budget.limit is None else min(1, budget.limit)
            short = need + self.in_flight - budget.remaining
            if short > 0 and need <= budget.remaining and self.in_flight:
                return None  # the endpoint may have counted those in flight already
            if short > 0 and budget.restored:
                wait = max(wait, short / budget.restored)
            elif short > 0 and budget.reset is not None:
                wait = max(wait, budget.reset.timestamp() + CLOCK_MARGIN - now)
        return None if self.in_flight >= self.capacity and not wait else wait

    def start_request(self) -> None:
        """Record that a request is sent."""
        self.in_flight += 1

    def finish_request(self) -> None:
        """Record the end of a request."""
        self.in_flight -= 1

    def record_loss(self, wait: float | None, now: float) -> None:
        """Record a request without a response: the endpoint may have charged it.

        Parameters
        ----------
        wait
            Seconds to wait according to the endpoint, None if unknown.
        now
            The time.
        """
        self.blocked_until = max(self.blocked_until, now + (wait or 0.0))
        remaining = self._budget.remaining
        if remaining is not None:
            self._budget = replace(self._budget, remaining=max(0, remaining - 1))

    def record_answer(self, budget: Budget, headers: Mapping[str, str], now: float) -> None:
        """Record a response.

        Parameters
        ----------
        budget
            The budget in the response.
        headers
            Its headers by lower-case name.
        now
            The time.
        """
        self._has_answer = True
        self._is_github = self._is_github or not _GITHUB_HEADERS.isdisjoint(headers)
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
        last = self._budget
        if budget.remaining is None:
            self._budget = replace(last, cost=budget.cost) if last else budget
            return
        if budget.reset is not None and last.reset is not None and last.remaining is not None:
            later = (budget.reset - last.reset).total_seconds()
            if later < -_RESET_TOLERANCE and budget.reset <= datetime.fromtimestamp(now, UTC):
                return  # of an earlier window
            if abs(later) <= _RESET_TOLERANCE:  # responses may arrive out of order
                budget = replace(budget, remaining=min(budget.remaining, last.remaining))
        self._budget, self._budget_time = budget, now
        if budget.cost is None:
            self._budget = replace(budget, cost=last.cost)

"""What an endpoint says about how much may still be asked of it, in each of the spellings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from gqlnb.errors import RateLimited, TransportError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CLOCK_MARGIN",
    "DEFAULT_LIMIT_WAIT",
    "MAX_ATTEMPTS",
    "MAX_SECONDS",
    "RATE_LIMIT_HEADERS",
    "TRANSIENT_STATUSES",
    "UNKNOWN_BUDGET",
    "Attempt",
    "Budget",
    "classify_failure",
    "compute_default_wait",
    "compute_restore_wait",
    "compute_retry_delay",
    "parse_http_date",
    "read_budget",
    "read_budget_headers",
    "read_cost_extension",
    "read_rate_limit_field",
    "read_retry_after",
]

CLOCK_MARGIN = 1.0  # seconds that the clock of an endpoint may differ from its reset time
MAX_SECONDS = (
    1e9  # seconds, 30 years: an endpoint may ask for more digits than a number should have
)
AMOUNT_PATTERN = re.compile(
    r"\s*([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(?:[,;].*)?"
)  # a policy may stand behind
# The IETF's draft, from its 7th revision on: `limit=100, remaining=50, reset=5`, then
# `"default";r=50;t=5`, with the limit in a policy `"default";q=100;w=60`.
PARAMETER_PATTERN = re.compile(
    r"(?<![a-z])(limit|remaining|reset|r|t|q|w)=([0-9]{1,15})", re.IGNORECASE
)
PREFIXES = ("x-ratelimit-", "ratelimit-", "x-rate-limit-")
RATE_LIMIT_HEADERS = frozenset(
    {f"{prefix}{name}" for prefix in PREFIXES for name in ("limit", "remaining", "reset")}
    | {"ratelimit", "ratelimit-policy"}
)
NO_MEMBERS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, repr=False)
class Budget:
    """How much may still be asked of an endpoint, as far as it has said so.

    What it has not said is None.

    Attributes
    ----------
    limit
        Points, or requests, of a whole window; what a bucket holds.
    remaining
        How many of them are left.
    reset
        When all of them are there again, in UTC.
    cost
        How many the last request took.
    restored
        How many come back each second, where they do so steadily, as at Shopify.
    """

    limit: float | None = None
    remaining: float | None = None
    reset: datetime | None = None
    cost: float | None = None
    restored: float | None = None

    def __bool__(self) -> bool:
        """Tell whether anything is known."""
        return self != UNKNOWN_BUDGET

    def __repr__(self) -> str:
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.reset is not None:
            said["reset"] = f"{self.reset:%Y-%m-%d %H:%M:%S} UTC"
        shown = [f"{name}={value!r}" for name, value in said.items() if value is not None]
        return f"Budget({', '.join(shown)})"

    def __str__(self) -> str:
        if self.remaining is None:
            return ""
        of = "" if self.limit is None else f" of {self.limit:,.0f}"
        until = "" if self.reset is None else f" until {self.reset:%H:%M} UTC"
        return f"{self.remaining:,.0f}{of} left{until}"


UNKNOWN_BUDGET = Budget()


def read_budget(
    headers: Mapping[str, str], extensions: Mapping[str, Any], data: Any, now: float
) -> Budget:
    """Return what an answer says about the budget; nothing known if it says nothing.

    Parameters
    ----------
    headers
        By lower-case name.
    extensions
        The member of that name.
    data
        The data, if the document asks for ``rateLimit``; else None.
    now
        Seconds since the epoch.
    """
    told = read_cost_extension(extensions) if extensions else UNKNOWN_BUDGET
    if not RATE_LIMIT_HEADERS.isdisjoint(headers):
        told = merge_budgets(told, read_budget_headers(headers, now))
    return merge_budgets(told, read_rate_limit_field(data)) if data is not None else told


def merge_budgets(first: Budget, second: Budget) -> Budget:
    """Return one budget of two: what is left as the first says it, if it does, and either cost."""
    cost = second.cost if first.cost is None else first.cost
    return replace(second if first.remaining is None else first, cost=cost)


def read_budget_headers(headers: Mapping[str, str], now: float) -> Budget:
    """Return what headers say: GitHub's ``x-ratelimit-*``, and the IETF's in three revisions.

    Parameters
    ----------
    headers
        By lower-case name.
    now
        Seconds since the epoch.

    Notes
    -----
    Source: GitHub documentation, "Rate limits and query limits for the GraphQL API";
    draft-ietf-httpapi-ratelimit-headers, revisions 3, 7 and 9. Of several limits at once the one
    counts of which least is left. A reset is a moment or a number of seconds from now, whichever is
    nearer; where the endpoint tells the time, its own clock counts.
    """
    for prefix in PREFIXES:
        left = parse_amount(headers.get(f"{prefix}remaining"))
        reset = parse_reset_time(headers.get(f"{prefix}reset", ""), headers, now)
        if left is not None or reset is not None:
            return Budget(parse_amount(headers.get(f"{prefix}limit")), left, reset)
    if "ratelimit" not in headers:
        return UNKNOWN_BUDGET
    return parse_ratelimit_header(
        headers["ratelimit"], headers.get("ratelimit-policy", ""), headers, now
    )


def parse_ratelimit_header(
    said: str, policy: str, headers: Mapping[str, str], now: float
) -> Budget:
    """Return what the one header of the later revisions says."""
    if "=" in said.partition(",")[0] and ";" not in said:  # one limit, its members in a list
        items, named = [said], {}
    else:
        items = said.split(",")
        named = {
            parse_policy_name(item): parse_policy_parameters(item) for item in policy.split(",")
        }
    found = [
        (parse_policy_parameters(item), named.get(parse_policy_name(item), {})) for item in items
    ]
    told = [
        Budget(
            parse_amount(own.get("limit") or of.get("q")),
            parse_amount(own.get("remaining") or own.get("r")),
            parse_reset_time(own.get("reset") or own.get("t") or "", headers, now),
        )
        for own, of in found
    ]
    known = [each for each in told if each.remaining is not None]
    return min(known, key=lambda each: each.remaining or 0, default=UNKNOWN_BUDGET)


def parse_policy_name(item: str) -> str:
    """Return the name of a limit or of a policy."""
    return item.partition(";")[0].strip().strip('"')


def parse_policy_parameters(item: str) -> dict[str, str]:
    """Return the parameters of a limit or of a policy."""
    return {match[1].lower(): match[2] for match in PARAMETER_PATTERN.finditer(item)}


def read_cost_extension(extensions: Mapping[str, Any]) -> Budget:
    """Return what ``extensions.cost`` says, as Shopify writes it.

    Notes
    -----
    Source: Shopify documentation, "API limits": ``requestedQueryCost``, ``actualQueryCost`` and
    ``throttleStatus`` with ``maximumAvailable``, ``currentlyAvailable`` and ``restoreRate``.
    """
    cost = extensions.get("cost")
    if not isinstance(cost, Mapping):
        return UNKNOWN_BUDGET
    status = cost.get("throttleStatus")
    status = status if isinstance(status, Mapping) else NO_MEMBERS
    spent = parse_amount(cost.get("actualQueryCost"))
    return Budget(
        limit=parse_amount(status.get("maximumAvailable")),
        remaining=parse_amount(status.get("currentlyAvailable")),
        cost=parse_amount(cost.get("requestedQueryCost")) if spent is None else spent,
        restored=parse_amount(status.get("restoreRate")),
    )


def compute_restore_wait(told: Budget) -> float | None:
    """Return the seconds until as much has come back as the request costs; None if none does."""
    if not told.restored or told.cost is None or told.remaining is None:
        return None
    return max(0.0, (told.cost - told.remaining) / told.restored)


def read_rate_limit_field(data: Any) -> Budget:
    """Return what the field ``rateLimit`` of GitHub says, under whatever alias at the top."""
    for value in data.values() if isinstance(data, Mapping) else ():
        if isinstance(value, Mapping) and not {"remaining", "cost"}.isdisjoint(value):
            limit, left, cost = (parse_amount(value.get(n)) for n in ("limit", "remaining", "cost"))
            return Budget(limit, left, parse_iso_date(value.get("resetAt")), cost)
    return UNKNOWN_BUDGET


def parse_amount(said: object) -> float | None:
    """Return a number from 0 up, whole where it is whole; None for anything else."""
    if isinstance(said, str):
        match = AMOUNT_PATTERN.fullmatch(said)
        said = float(match[1]) if match else None
    if isinstance(said, bool) or not isinstance(said, (int, float)) or not isfinite(said):
        return None
    return None if said < 0 else int(said) if said == int(said) else said


def parse_reset_time(said: str, headers: Mapping[str, str], now: float) -> datetime | None:
    """Return the moment a reset time means by our clock; None if it means none."""
    value = parse_amount(said)
    if value is None:
        at = parse_http_date(said)
        at = convert_date(parse_iso_date(said)) if at is None else at
    elif value < now / 2:
        return convert_timestamp(now + value)  # from now on
    else:
        at = value / 1000 if value > now * 100 else value
    told = parse_http_date(headers.get("date", ""))
    return None if at is None else convert_timestamp(at if told is None else at - told + now)


def convert_timestamp(at: float) -> datetime | None:
    """Return seconds since the epoch as a date; None if it is beyond the calendar."""
    try:
        return datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def convert_date(at: datetime | None) -> float | None:
    """Return a date as seconds since the epoch."""
    return None if at is None else at.timestamp()


def parse_iso_date(said: object) -> datetime | None:
    """Return a date in ISO 8601, such as ``resetAt`` is; None if it is none."""
    if not isinstance(said, str):
        return said if isinstance(said, datetime) and said.tzinfo is not None else None
    try:
        made = datetime.fromisoformat(said)
        return (made if made.tzinfo else made.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_http_date(date: str) -> float | None:
    """Return an HTTP date as seconds since the epoch; None if it is none."""
    try:
        made = parsedate_to_datetime(date)
        return made.replace(tzinfo=made.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError, TypeError):
        return None


FailureKind = Literal["broken", "busy", "limited"]

MAX_ATTEMPTS = 4  # in all; GitHub counts each against the same limits
FIRST_BACKOFF = 0.5  # seconds before the second attempt; doubled for each further one
# GitHub, "Rate limits and query limits for the GraphQL API": without a word on how long, wait for
# at least one minute, and longer each time.
DEFAULT_LIMIT_WAIT = 60.0
TRANSIENT_STATUSES = frozenset({502, 503, 504})  # the statuses that urllib3 and GitHub's guide name
SECONDS_PATTERN = re.compile(r"[0-9]+(?:\.[0-9]+)?")  # some endpoints send fractions of a second
MAX_DOUBLINGS = 6  # times at most: an hour


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
    seconds_left
        Seconds that may still be spent on waiting.
    retry_after
        Seconds the endpoint asks to wait, None if it does not say.
    """

    kind: str
    failure: FailureKind | None
    number: int
    seconds_left: float
    retry_after: float | None = None


def compute_retry_delay(attempt: Attempt, fraction: float) -> float | None:
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
    if attempt.kind != "query" or attempt.failure is None or attempt.number >= MAX_ATTEMPTS:
        return None
    backoff = FIRST_BACKOFF * 2.0 ** (attempt.number - 1) * (0.5 + fraction / 2)
    if attempt.retry_after is not None:
        wait = max(attempt.retry_after, backoff)
    elif attempt.failure == "limited":
        wait = compute_default_wait(attempt.number)
    else:
        wait = backoff
    return wait if wait <= attempt.seconds_left else None


def compute_default_wait(number: int) -> float:
    """Return the seconds to wait after the n-th rate limit in a row that does not say how long."""
    return DEFAULT_LIMIT_WAIT * 2.0 ** min(number - 1, MAX_DOUBLINGS)


def classify_failure(error: Exception) -> FailureKind | None:
    """Return what kind of failure an error is; None for one that asking again would not mend."""
    if isinstance(error, RateLimited):
        return "limited"
    if not isinstance(error, TransportError):
        return None
    if error.transient or error.status in TRANSIENT_STATUSES:
        return "busy"
    return "broken" if error.broken else None


def read_retry_after(headers: Mapping[str, str], now: float, *, limited: bool) -> float | None:
    """Return the seconds an endpoint asks to wait, None if it does not.

    Parameters
    ----------
    headers
        Those of its answer, by lower-case name: ``Retry-After`` in seconds or as a date, else when
        the budget is whole again, as :func:`~gqlnb.http.rate_limit_rules.read_budget_headers` reads it.
    now
        Seconds since the epoch; for dates the endpoint's own clock counts, if it tells the time.
    limited
        Whether the answer says that a limit is reached: ``x-ratelimit-remaining`` may be above 0
        then (yanyongyu/githubkit#271). Otherwise the reset time counts where nothing remains.
    """
    after = headers.get("retry-after", "").strip()
    if SECONDS_PATTERN.fullmatch(after):
        return min(float(after), MAX_SECONDS)
    until = parse_http_date(after)
    if until is not None:
        told = parse_http_date(headers.get("date", ""))
        return max(0.0, until - (now if told is None else told))
    said = read_budget_headers(headers, now)
    if said.reset is not None and (limited or said.remaining == 0):
        return min(max(0.0, said.reset.timestamp() + CLOCK_MARGIN - now), MAX_SECONDS)
    return None

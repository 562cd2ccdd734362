"""What an endpoint says about how much may still be asked of it, in each of the spellings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

__all__ = [
    "LONGEST",
    "MARGIN",
    "TELLING",
    "UNKNOWN",
    "Budget",
    "budget_of",
    "from_cost",
    "from_field",
    "from_headers",
    "seconds",
    "until_restored",
]

MARGIN = 1.0  # seconds that the clock of an endpoint may differ from its reset time
LONGEST = 1e9  # seconds, 30 years: an endpoint may ask for more digits than a number should have
SAID = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(?:[,;].*)?")  # a policy may stand behind
# The IETF's draft, from its 7th revision on: `limit=100, remaining=50, reset=5`, then
# `"default";r=50;t=5`, with the limit in a policy `"default";q=100;w=60`.
MEMBER = re.compile(r"(?<![a-z])(limit|remaining|reset|r|t|q|w)=([0-9]{1,15})", re.IGNORECASE)
PREFIXES = ("x-ratelimit-", "ratelimit-", "x-rate-limit-")
TELLING = frozenset(
    {f"{prefix}{name}" for prefix in PREFIXES for name in ("limit", "remaining", "reset")}
    | {"ratelimit", "ratelimit-policy"}
)
NOTHING: Mapping[str, Any] = {}


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
        return self != UNKNOWN

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


UNKNOWN = Budget()


def budget_of(
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
    told = from_cost(extensions) if extensions else UNKNOWN
    if not TELLING.isdisjoint(headers):
        told = joined(told, from_headers(headers, now))
    return joined(told, from_field(data)) if data is not None else told


def joined(first: Budget, second: Budget) -> Budget:
    """Return one budget of two: what is left as the first says it, if it does, and either cost."""
    cost = second.cost if first.cost is None else first.cost
    return replace(second if first.remaining is None else first, cost=cost)


def from_headers(headers: Mapping[str, str], now: float) -> Budget:
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
        left = number(headers.get(f"{prefix}remaining"))
        reset = moment(headers.get(f"{prefix}reset", ""), headers, now)
        if left is not None or reset is not None:
            return Budget(number(headers.get(f"{prefix}limit")), left, reset)
    if "ratelimit" not in headers:
        return UNKNOWN
    return structured(headers["ratelimit"], headers.get("ratelimit-policy", ""), headers, now)


def structured(said: str, policy: str, headers: Mapping[str, str], now: float) -> Budget:
    """Return what the one header of the later revisions says."""
    if "=" in said.partition(",")[0] and ";" not in said:  # one limit, its members in a list
        items, named = [said], {}
    else:
        items = said.split(",")
        named = {title(item): members(item) for item in policy.split(",")}
    found = [(members(item), named.get(title(item), {})) for item in items]
    told = [
        Budget(
            number(own.get("limit") or of.get("q")),
            number(own.get("remaining") or own.get("r")),
            moment(own.get("reset") or own.get("t") or "", headers, now),
        )
        for own, of in found
    ]
    known = [each for each in told if each.remaining is not None]
    return min(known, key=lambda each: each.remaining or 0, default=UNKNOWN)


def title(item: str) -> str:
    """Return the name of a limit or of a policy."""
    return item.partition(";")[0].strip().strip('"')


def members(item: str) -> dict[str, str]:
    """Return the parameters of a limit or of a policy."""
    return {match[1].lower(): match[2] for match in MEMBER.finditer(item)}


def from_cost(extensions: Mapping[str, Any]) -> Budget:
    """Return what ``extensions.cost`` says, as Shopify writes it.

    Notes
    -----
    Source: Shopify documentation, "API limits": ``requestedQueryCost``, ``actualQueryCost`` and
    ``throttleStatus`` with ``maximumAvailable``, ``currentlyAvailable`` and ``restoreRate``.
    """
    cost = extensions.get("cost")
    if not isinstance(cost, Mapping):
        return UNKNOWN
    status = cost.get("throttleStatus")
    status = status if isinstance(status, Mapping) else NOTHING
    spent = number(cost.get("actualQueryCost"))
    return Budget(
        limit=number(status.get("maximumAvailable")),
        remaining=number(status.get("currentlyAvailable")),
        cost=number(cost.get("requestedQueryCost")) if spent is None else spent,
        restored=number(status.get("restoreRate")),
    )


def until_restored(told: Budget) -> float | None:
    """Return the seconds until as much has come back as the request costs; None if none does."""
    if not told.restored or told.cost is None or told.remaining is None:
        return None
    return max(0.0, (told.cost - told.remaining) / told.restored)


def from_field(data: Any) -> Budget:
    """Return what the field ``rateLimit`` of GitHub says, under whatever alias at the top."""
    for value in data.values() if isinstance(data, Mapping) else ():
        if isinstance(value, Mapping) and not {"remaining", "cost"}.isdisjoint(value):
            limit, left, cost = (number(value.get(n)) for n in ("limit", "remaining", "cost"))
            return Budget(limit, left, day(value.get("resetAt")), cost)
    return UNKNOWN


def number(said: object) -> float | None:
    """Return a number from 0 up, whole where it is whole; None for anything else."""
    if isinstance(said, str):
        match = SAID.fullmatch(said)
        said = float(match[1]) if match else None
    if isinstance(said, bool) or not isinstance(said, (int, float)) or not isfinite(said):
        return None
    return None if said < 0 else int(said) if said == int(said) else said


def moment(said: str, headers: Mapping[str, str], now: float) -> datetime | None:
    """Return the moment a reset time means by our clock; None if it means none."""
    value = number(said)
    if value is None:
        at = seconds(said)
        at = stamp(day(said)) if at is None else at
    elif value < now / 2:
        return dated(now + value)  # from now on
    else:
        at = value / 1000 if value > now * 100 else value
    told = seconds(headers.get("date", ""))
    return None if at is None else dated(at if told is None else at - told + now)


def dated(at: float) -> datetime | None:
    """Return seconds since the epoch as a date; None if it is beyond the calendar."""
    try:
        return datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def stamp(at: datetime | None) -> float | None:
    """Return a date as seconds since the epoch."""
    return None if at is None else at.timestamp()


def day(said: object) -> datetime | None:
    """Return a date in ISO 8601, such as ``resetAt`` is; None if it is none."""
    if not isinstance(said, str):
        return said if isinstance(said, datetime) and said.tzinfo is not None else None
    try:
        made = datetime.fromisoformat(said)
        return (made if made.tzinfo else made.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def seconds(date: str) -> float | None:
    """Return an HTTP date as seconds since the epoch; None if it is none."""
    try:
        made = parsedate_to_datetime(date)
        return made.replace(tzinfo=made.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError, TypeError):
        return None

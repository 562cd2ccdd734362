"""Rate limits: budgets in responses, in all spellings, and the delay before a retry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

import msgspec
from msgspec.structs import fields, replace

__all__ = [
    "CLOCK_MARGIN",
    "MAX_SECONDS",
    "RATE_LIMIT_HEADERS",
    "UNKNOWN_BUDGET",
    "Budget",
    "compute_restore_wait",
    "parse_http_date",
    "read_budget",
    "read_budget_headers",
    "read_cost_extension",
]

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
        shown = [f"{name}={value!r}" for name, value in values.items() if value is not None]
        return f"Budget({', '.join(shown)})"

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

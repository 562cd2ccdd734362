"""The budget that one request is told of: set by who answers it, read by ``rateLimit``."""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from gqlnb.github.data import iso
from gqlnb.github.pricing import Price

__all__ = ["HOUR", "LIMIT", "METER", "Meter"]

LIMIT = 5_000
"""Points of a user's token for an hour. Source: GitHub documentation, "Primary rate limit"."""
HOUR = 3_600.0
_NOTHING = Price(0, 0)


@dataclass(slots=True)
class Meter:
    """One request's look at the budget.

    Attributes
    ----------
    limit
        Points for an hour.
    used
        How many were used before.
    reset
        When the hour is over, in seconds since 1970.
    price
        What the request costs, once that is known.
    free
        Whether it is not charged: a dry run.
    refusal
        The error that it was refused with before it was executed, as GitHub writes it.
    """

    limit: int = LIMIT
    used: int = 0
    reset: float = field(default_factory=lambda: time.time() + HOUR)
    price: Price = _NOTHING
    free: bool = False
    refusal: dict[str, Any] | None = None

    @property
    def charged(self) -> int:
        """The points that the request takes from the budget."""
        return 0 if self.free else self.price.points

    @property
    def remaining(self) -> int:
        """The points that are left after it."""
        return max(0, self.limit - self.used - self.charged)

    def members(self) -> dict[str, Any]:
        """Return the fields of ``RateLimit``."""
        return {
            "cost": self.price.points,
            "limit": self.limit,
            "nodeCount": self.price.nodes,
            "remaining": self.remaining,
            "resetAt": iso(int(self.reset)),
            "used": self.used + self.charged,
        }


METER: ContextVar[Meter | None] = ContextVar("METER", default=None)

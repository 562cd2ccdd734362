"""The budget that one request is told of: set by who answers it, read by ``rateLimit``."""

from __future__ import annotations

import time
from collections.abc import Callable
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
    take
        Takes what it costs from the account of its token, as ``take(meter, forced=...)``, and says
        whether there was enough; None where nobody counts.
    price
        What the request costs, once that is known.
    free
        Whether it is not charged: a dry run.
    refusal
        The error that it was refused with before it was executed, as GitHub writes it.
    broke
        Whether there were too few points left for it.
    """

    limit: int = LIMIT
    used: int = 0
    reset: float = field(default_factory=lambda: time.time() + HOUR)
    take: Callable[..., bool] | None = field(default=None, repr=False)
    price: Price = _NOTHING
    free: bool = False
    refusal: dict[str, Any] | None = None
    broke: bool = False

    def pay(self) -> bool:
        """Pay the price; False, and nothing is paid, where too few points are left."""
        self.broke = self.take is not None and not self.take(self, forced=False)
        return not self.broke

    def fine(self, points: int) -> None:
        """Pay for what is charged without having been executed, as far as points are left."""
        self.price = Price(points, 0)
        if self.take is not None:
            self.take(self, forced=True)

    @property
    def charged(self) -> int:
        """The points that the request takes from the budget."""
        return 0 if self.free or self.broke or self.refusal else self.price.points

    @property
    def spent(self) -> int:
        """The points that are gone after it; no more than there are."""
        return min(self.limit, self.used + self.charged)

    @property
    def remaining(self) -> int:
        """The points that are left after it."""
        return self.limit - self.spent

    def members(self) -> dict[str, Any]:
        """Return the fields of ``RateLimit``."""
        return {
            "cost": self.price.points,
            "limit": self.limit,
            "nodeCount": self.price.nodes,
            "remaining": self.remaining,
            "resetAt": iso(int(self.reset)),
            "used": self.spent,
        }


METER: ContextVar[Meter | None] = ContextVar("METER", default=None)

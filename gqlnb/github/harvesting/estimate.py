"""How much a harvest will take, from one request."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from gqlnb.github.harvesting.asking import AT_ONCE
from gqlnb.github.harvesting.narrowing import counted
from gqlnb.github.search import PAGE, REACH

if TYPE_CHECKING:
    from gqlnb.client.client import Client
    from gqlnb.github.harvesting.scope import Scope
    from gqlnb.wire.budget import Budget

__all__ = ["Estimate", "estimated", "pages"]

# By lowest stars: pages in excess of the lower bound, somewhat more than are counted on a synthetic
# population of 3.27 million in the shape of 2023: in tests/benchmarks/harvest.py a harvest that
# takes more is MISSED. Repositories of equal stars are what costs them, and there are more of them
# the fewer stars they have.
WASTE = ((1000, 0.02), (100, 0.03), (50, 0.04), (20, 0.06), (0, 0.09))


@dataclass(frozen=True, slots=True)
class Estimate:
    """How much a harvest will take.

    Attributes
    ----------
    query
        The search expression.
    source
        Where the count is from.
    repositories
        How many match now.
    least, most
        Pages: fewer do not hold them; more have not been needed for such a population.
    budget
        What the endpoint says is left.

    Examples
    --------
    >>> estimate = gqlnb.github.harvest(">20000", dry_run=True)
    >>> estimate.repositories, estimate.least
    (1067, 11)
    """

    query: str
    source: str
    repositories: int
    least: int
    most: int
    budget: Budget

    @property
    def requests(self) -> tuple[int, int]:
        """Fewest and most requests: up to ten pages come in one, where the endpoint is quick."""
        return ceil(self.least / AT_ONCE), self.most

    def lines(self) -> list[str]:
        """Return what is to be expected, a line each."""
        least, most = self.requests
        found = [
            f"{self.repositories:,} repositories of {self.query!r}, from {self.source}",
            f"  {self.least:,} to {self.most:,} pages of {PAGE}",
            f"  {least:,} to {most:,} requests: up to ten pages come in one",
        ]
        if self.budget:
            found.append(f"  budget: {self.budget}")
        return found

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def pages(total: int, low: int, width: int = 1) -> tuple[int, int]:
    """Return how many pages a harvest takes at least and at most.

    Parameters
    ----------
    total
        How many repositories match.
    low
        Their fewest stars.
    width
        In how many slices of time it goes on; each ends with a page that is not full.
    """
    least = max(1, ceil(total / PAGE))
    waste = next(share for stars, share in WASTE if low >= stars)
    return least, least if total <= REACH else ceil(least * (1 + waste)) + width


def estimated(client: Client, scope: Scope, width: int = 1) -> Estimate:
    """Count what matches, and return how much it will take to get it.

    Raises
    ------
    GqlnbError
        If there is no answer.
    """
    total = counted(client, scope)
    least, most = pages(total, scope.low, width)
    return Estimate(scope.expression(order=""), client.source, total, least, most, client.budget)

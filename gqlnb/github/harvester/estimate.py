"""Narrowing a search to the rows that stand first, where only so many are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isqrt
from typing import TYPE_CHECKING

import msgspec

from gqlnb.github.harvester.requests import PAGES_PER_REQUEST, PortableClient, fetch_pages
from gqlnb.github.harvester.search_windows import SearchRequest
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, MAX_SEARCH_RESULTS

if TYPE_CHECKING:
    from gqlnb.client.client import Client
    from gqlnb.github.harvester.query_range import Scope
    from gqlnb.http.rate_limit_rules import Budget

__all__ = ["Estimate", "count_matches", "estimate_harvest", "estimate_pages", "narrow_scope"]

CLOSE_ENOUGH = (
    1.05  # times as many as are wanted are near enough: a page more costs less than asking
)
_MAX_STARS = 2**31 - 1  # more than any repository can have


def count_matches(client: Client, scope: Scope) -> int:
    """Return how many repositories match, in one request.

    Raises
    ------
    GqlnbError
        If there is no answer.
    """
    outcome = fetch_pages(
        PortableClient(client), [SearchRequest(0, 0, 1, scope.format_expression())]
    )
    if outcome.pages is None:
        raise outcome.error or AssertionError  # one of the two is always there
    return outcome.pages[0].total


def narrow_scope(
    client: Client, scope: Scope, most: int, *, rising: bool = False
) -> tuple[Scope, int]:
    """Return the part of a search that holds at least its first `most` results.

    Counts are asked for, each in one request, until the part holds few more than wanted, or all of
    the last number of stars.

    Parameters
    ----------
    client
        What to ask.
    scope
        What is searched.
    most
        How many results are wanted.
    rising
        Whether the fewest stars stand first; by default the most.

    Returns
    -------
    (Scope, int)
        The part, and how many match the whole search.

    Raises
    ------
    GqlnbError
        If there is no answer.
    """
    found = total = count_matches(client, scope)
    least, top = scope.low, _MAX_STARS if scope.high is None else scope.high
    enough, less = (top, least - 1) if rising else (least, top + 1)
    while found > most * CLOSE_ENOUGH and abs(enough - less) > 1:
        middle = _find_middle(enough, less)
        part = _cut_scope(scope, middle, rising=rising)
        count = count_matches(client, part)
        if count >= most:
            enough, found = middle, count
        else:
            less = middle
    return (_cut_scope(scope, enough, rising=rising) if found < total else scope), total


def _find_middle(one: int, other: int) -> int:
    """Return a number between two, in the middle of their logarithms: stars are spread so."""
    low, high = sorted((one, other))
    return min(max(isqrt((low + 1) * (high + 1)), low + 1), high - 1)


def _cut_scope(scope: Scope, edge: int, *, rising: bool) -> Scope:
    if rising:
        return msgspec.structs.replace(scope, high=edge)
    return msgspec.structs.replace(scope, low=edge)


# By lowest stars: pages in excess of the lower bound, somewhat more than are counted on a synthetic
# population of 3.27 million in the shape of 2023: in tests/benchmarks/harvest.py a harvest that
# takes more is MISSED. Repositories of equal stars are what costs them, and there are more of them
# the fewer stars they have.
PAGE_OVERHEAD = ((1000, 0.02), (100, 0.03), (50, 0.04), (20, 0.06), (0, 0.09))


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
        return ceil(self.least / PAGES_PER_REQUEST), self.most

    def format_lines(self) -> list[str]:
        """Return what is to be expected, a line each."""
        least, most = self.requests
        found = [
            f"{self.repositories:,} repositories of {self.query!r}, from {self.source}",
            f"  {self.least:,} to {self.most:,} pages of {MAX_PAGE_SIZE}",
            f"  {least:,} to {most:,} requests: up to ten pages come in one",
        ]
        if self.budget:
            found.append(f"  budget: {self.budget}")
        return found

    def __repr__(self) -> str:
        return "\n".join(self.format_lines())


def estimate_pages(total: int, low: int, width: int = 1) -> tuple[int, int]:
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
    least = max(1, ceil(total / MAX_PAGE_SIZE))
    waste = next(share for stars, share in PAGE_OVERHEAD if low >= stars)
    return least, least if total <= MAX_SEARCH_RESULTS else ceil(least * (1 + waste)) + width


def estimate_harvest(client: Client, scope: Scope, width: int = 1) -> Estimate:
    """Count what matches, and return how much it will take to get it.

    Raises
    ------
    GqlnbError
        If there is no answer.
    """
    total = count_matches(client, scope)
    least, most = estimate_pages(total, scope.low, width)
    return Estimate(
        scope.format_expression(order=""), client.source, total, least, most, client.budget
    )

"""Counts that are requested before a harvest: its cost, and the range of its first rows."""

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

CLOSE_ENOUGH = 1.05  # times the rows wanted: fetching a page more costs less than another count
_MAX_STARS = 2**31 - 1  # the range of GraphQL's Int

# Pages above the lower bound, by lowest star count: somewhat more than tests/benchmarks/harvest.py
# counts on a synthetic population of 3.27 million repositories in the distribution of 2023; it
# fails for a harvest that takes more. The cost comes from repositories with equal stars, of which
# there are more the fewer stars they have.
PAGE_OVERHEAD = ((1000, 0.02), (100, 0.03), (50, 0.04), (20, 0.06), (0, 0.09))


@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected cost of a harvest.

    Attributes
    ----------
    query
        Search expression.
    source
        Address of the endpoint.
    repositories
        Number of matching repositories.
    least, most
        Pages: the fewest that can hold them, and the most expected for such a population.
    budget
        The endpoint's remaining budget.

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
        """Fewest and most requests: up to ten pages come in one if the endpoint is fast."""
        return ceil(self.least / PAGES_PER_REQUEST), self.most

    def __repr__(self) -> str:
        least, most = self.requests
        lines = [
            f"{self.repositories:,} repositories of {self.query!r}, from {self.source}",
            f"  {self.least:,} to {self.most:,} pages of {MAX_PAGE_SIZE}",
            f"  {least:,} to {most:,} requests: up to ten pages come in one",
        ]
        if self.budget:
            lines.append(f"  budget: {self.budget}")
        return "\n".join(lines)


def estimate_pages(total: int, low: int, width: int = 1) -> tuple[int, int]:
    """Return the fewest and the most pages of a harvest.

    Parameters
    ----------
    total
        Number of matching repositories.
    low
        Their lowest star count.
    width
        Number of time slices; each ends with a page that is not full.
    """
    least = max(1, ceil(total / MAX_PAGE_SIZE))
    overhead = next(share for stars, share in PAGE_OVERHEAD if low >= stars)
    return least, least if total <= MAX_SEARCH_RESULTS else ceil(least * (1 + overhead)) + width


def estimate_harvest(client: Client, scope: Scope, width: int = 1) -> Estimate:
    """Count the matching repositories, and estimate the cost of their harvest.

    Raises
    ------
    GqlnbError
        If the request fails.
    """
    total = count_matches(client, scope)
    least, most = estimate_pages(total, scope.low, width)
    query = scope.format_expression(order="")
    return Estimate(query, client.source, total, least, most, client.budget)


def count_matches(client: Client, scope: Scope) -> int:
    """Return the number of matching repositories, in one request.

    Raises
    ------
    GqlnbError
        If the request fails.
    """
    request = SearchRequest(0, 0, 1, scope.format_expression())
    outcome = fetch_pages(PortableClient(client), [request])
    if outcome.pages is None:
        raise outcome.error or AssertionError  # one of them is always set
    return outcome.pages[0].total


def narrow_scope(
    client: Client, scope: Scope, most: int, *, rising: bool = False
) -> tuple[Scope, int]:
    """Return the part of a scope that contains at least its first `most` repositories.

    It is found by bisection, with one count per request, until the part contains few more, or only
    repositories with equal stars beyond them.

    Parameters
    ----------
    client
        The client.
    scope
        The scope to narrow.
    most
        Number of repositories wanted.
    rising
        Whether the fewest stars come first; by default the most.

    Returns
    -------
    (Scope, int)
        The part, and the number of repositories in the whole scope.

    Raises
    ------
    GqlnbError
        If a request fails.
    """

    def cut(stars: int) -> Scope:
        bound = {"high": stars} if rising else {"low": stars}
        return msgspec.structs.replace(scope, **bound)

    found = total = count_matches(client, scope)
    least, top = scope.low, _MAX_STARS if scope.high is None else scope.high
    enough, too_few = (top, least - 1) if rising else (least, top + 1)
    while found > most * CLOSE_ENOUGH and abs(enough - too_few) > 1:
        # The geometric mean, as the distribution of stars is about log-uniform.
        low, high = sorted((enough, too_few))
        middle = min(max(isqrt((low + 1) * (high + 1)), low + 1), high - 1)
        count = count_matches(client, cut(middle))
        if count >= most:
            enough, found = middle, count
        else:
            too_few = middle
    return (cut(enough) if found < total else scope), total

"""Counts that are requested before a harvest: its cost, and the range of its first rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, isqrt
from typing import TYPE_CHECKING

import msgspec

from gqlnb.document.document import Document
from gqlnb.errors import format_count
from gqlnb.github.harvester.requests import (
    COUNTS_PER_PAGE,
    PAGES_PER_REQUEST,
    PortableClient,
    SearchRequest,
    build_query,
    fetch_pages,
)
from gqlnb.github.query_cost import MAX_NODES, compute_cost
from gqlnb.github.search_syntax import MAX_PAGE_SIZE
from gqlnb.lists.window_harvest import FIRST_COUNTS
from gqlnb.option_checks import explain_keywords
from gqlnb.result.renderer import render_lines

if TYPE_CHECKING:
    from gqlnb.client.client import Client
    from gqlnb.github.harvester.scope import Scope
    from gqlnb.http.rate_limit_rules import Budget
    from gqlnb.lists.accounts import AccountPool

CLOSE_ENOUGH = 1.05  # times the rows wanted: fetching a page more costs less than another count
_MAX_STARS = 2**31 - 1  # the range of GraphQL's Int

# GitHub's limits for an account. A page of 100 results takes its search about a second; its
# secondary limit is a minute of processing time in a minute.
POINTS_PER_HOUR = 5000
SECONDS_PER_PAGE = 1.0

# Windows are planned to 97 of 100 rows, and a few are planned again. Of 1,000 to 18,400 simulated
# repositories, still or with one move a request, harvests took 1.03 to 1.08 times the fewest pages,
# and 2.4 to 2.9 counts for each of them.
PAGE_OVERHEAD, SPARE_PAGES = 0.08, 2
COUNTS_PER_WINDOW = 3
# Planning takes steps one after another, as many as a tree of windows is deep.
FEWEST_STEPS, MOST_STEPS = 3, 16


@explain_keywords
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
        Pages: the fewest that can hold them, and the most expected while few of them change.
    budget
        The remaining budget, of all accounts together.
    accounts
        Number of accounts that send requests.
    fields
        The own fields; None without.
    page_points
        Points of a page, with the own fields.
    node_batch
        Repositories per request whose own fields are fetched by id, since a page of 100 with them
        would exceed GitHub's limit of nodes; 0 if they come with the pages.

    Examples
    --------
    >>> estimate = gqlnb.github.estimate(">20000")
    >>> estimate.repositories, estimate.least
    (1067, 11)
    """

    query: str
    source: str
    repositories: int
    least: int
    most: int
    budget: Budget
    accounts: int = 1
    fields: str | None = None
    page_points: int = 1
    node_batch: int = 0

    @property
    def counts(self) -> int:
        """Most searches that only count."""
        return (
            FIRST_COUNTS
            if self.repositories <= MAX_PAGE_SIZE
            else ceil(COUNTS_PER_WINDOW * self.most)
        )

    @property
    def points(self) -> int:
        """Most points of GitHub's budget."""
        if not self.node_batch:
            return self.most * self.page_points
        return self.most + self._batches * self.page_points

    @property
    def hours(self) -> float:
        """Most hours at GitHub's limits: points in an hour, and seconds of work in a minute."""
        by_points = self.points / POINTS_PER_HOUR
        pages = self.most + self._batches + self.counts / COUNTS_PER_PAGE
        by_time = pages * SECONDS_PER_PAGE / 3600
        return max(by_points, by_time) / self.accounts

    @property
    def requests(self) -> tuple[int, int]:
        """Fewest and most requests: up to ten pages come in one if the endpoint is fast."""
        if self.repositories <= MAX_PAGE_SIZE:
            return 2 + self._batches, self.most + 2 + self._batches
        fewest = ceil(self.least / PAGES_PER_REQUEST) + FEWEST_STEPS
        most = self.most + ceil(self.counts / COUNTS_PER_PAGE) + MOST_STEPS
        return fewest + self._batches, most + self._batches

    @property
    def _batches(self) -> int:
        return ceil(self.repositories / self.node_batch) if self.node_batch else 0

    def __repr__(self) -> str:
        least, most = self.requests
        lines = [
            f"{self.repositories:,} repositories of {self.query!r}, from {self.source}",
            f"  {self.least:,} to {self.most:,} pages of {MAX_PAGE_SIZE}, {self.counts:,} counts",
            f"  {least:,} to {most:,} requests: up to ten pages come in one",
        ]
        if self.node_batch:
            lines.append(
                f"  fields= by id, {self.node_batch} repositories in a request: a page of "
                f"{MAX_PAGE_SIZE} with them exceeds {MAX_NODES:,} nodes"
            )
        elif self.fields is not None:
            points = format_count(self.page_points, "point")
            lines.append(f"  {points} per page with fields=")
        accounts = "" if self.accounts == 1 else f" with {self.accounts} accounts"
        lines.append(
            f"  {self.points:,} points at most, {format_hours(self.hours)} at GitHub's limits"
            f"{accounts}"
        )
        if self.budget:
            lines.append(f"  budget: {self.budget}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return render_lines(repr(self))


def format_hours(hours: float) -> str:
    """Return a duration in hours, or in minutes if it is short."""
    if hours >= 2:
        return f"{hours:,.1f} hours"
    minutes = max(1, round(hours * 60))
    return format_count(minutes, "minute")


def estimate_pages(total: int, *, twice: bool = False) -> tuple[int, int]:
    """Return the fewest and the most pages of a harvest.

    Parameters
    ----------
    total
        Number of matching repositories.
    twice
        Whether everything is read a second time.

    Returns
    -------
    (int, int)
        The fewest, and the most.
    """
    least = max(1, ceil(total / MAX_PAGE_SIZE))
    most = least
    if total > MAX_PAGE_SIZE:
        most = ceil(least * (1 + PAGE_OVERHEAD)) + SPARE_PAGES
    return (2 * least, 2 * most) if twice else (least, most)


def estimate_harvest(
    pool: AccountPool[PortableClient],
    scope: Scope,
    fields: str = "",
    *,
    twice: bool = False,
) -> Estimate:
    """Count the matching repositories, and estimate the cost of their harvest.

    Parameters
    ----------
    pool
        The accounts that will send requests; the first one requests the count.
    scope
        The repositories to harvest.
    fields
        Own fields; empty for none.
    twice
        Whether everything is read a second time.

    Returns
    -------
    Estimate
        The count, the pages, and the remaining budget of all accounts.

    Raises
    ------
    GqlnbError
        If the request fails.
    """
    client = pool.accounts[0].client.client
    total = count_matches(client, scope)
    least, most = estimate_pages(total, twice=twice)
    query = scope.format_expression(order="")
    for account in pool.accounts:
        account.budget = account.client.client.budget
    budget = pool.budget or client.budget
    made = Estimate(query, client.source, total, least, most, budget, len(pool.accounts))
    if not fields:
        return made
    page = compute_cost(Document.parse(build_query((True,), fields)), {"n0": MAX_PAGE_SIZE})
    if page.nodes <= MAX_NODES:
        return replace(made, fields=fields, page_points=page.points)
    batch = max(1, MAX_PAGE_SIZE * MAX_NODES // page.nodes)
    points = max(1, page.points * batch // MAX_PAGE_SIZE)
    return replace(made, fields=fields, page_points=points, node_batch=batch)


def count_matches(client: Client, scope: Scope) -> int:
    """Return the number of matching repositories, in one request.

    Parameters
    ----------
    client
        The client.
    scope
        The repositories to count.

    Returns
    -------
    int
        The number that the endpoint reports, which may exceed the 1,000 results of a search.

    Raises
    ------
    GqlnbError
        If the request fails.
    """
    request = SearchRequest(scope.format_expression())
    (page,) = fetch_pages(PortableClient(client), [request]).answers
    return int(page.total)


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

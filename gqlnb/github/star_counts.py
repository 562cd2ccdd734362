"""Numbers of repositories in ranges of stars, counted by the endpoint in one request."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gqlnb.github.star_query import StarQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gqlnb.client.client import Client

__all__ = ["count_ranges", "find_most_stars", "read_least_stars"]

# GitHub refuses less than one row of a search.
COUNT = "{name}: search(query: ${name}, type: REPOSITORY, first: 1) {{ repositoryCount }}"
MOST_STARS = """
query MostStars($query: String!) {
  search(query: $query, type: REPOSITORY, first: 1) {
    nodes { ... on Repository { stargazerCount } }
  }
}
""".strip()


def count_ranges(client: Client, query: StarQuery, ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Return how many repositories of a search have stars in each range, both ends included.

    Raises
    ------
    GqlnbError
        If the request fails, or a count is missing.
    """
    names = [f"range{number}" for number in range(len(ranges))]
    declared = ", ".join(f"${name}: String!" for name in names)
    counts = "\n  ".join(COUNT.format(name=name) for name in names)
    variables = {
        name: replace(query, threshold=f"{low}..{high}", order="").expression
        for name, (low, high) in zip(names, ranges, strict=True)
    }
    result = client.execute(f"query StarCounts({declared}) {{\n  {counts}\n}}", variables)
    data: Any = result.raise_for_errors().data
    return [int(data[name]["repositoryCount"]) for name in names]


def find_most_stars(client: Client, query: StarQuery) -> int:
    """Return the stars of the repository of a search that has most; 0 if there is none."""
    variables = {"query": replace(query, order="stars-desc").expression}
    data: Any = client.execute(MOST_STARS, variables).raise_for_errors().data
    return max((int(node["stargazerCount"]) for node in data["search"]["nodes"]), default=0)


def read_least_stars(query: StarQuery) -> int:
    """Return the fewest stars that a search admits.

    Examples
    --------
    >>> [read_least_stars(StarQuery(text)) for text in (">1000", "10..20", "*..5", "7", "")]
    [1001, 10, 0, 7, 0]
    """
    sign, number = re.match(r"(>?)=?(\d*)", query.threshold).groups()  # type: ignore[union-attr]
    return int(number or 0) + len(sign) * ("=" not in query.threshold)

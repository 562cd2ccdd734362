"""How many requests all pages take: the sizes of pages grow, unless the user fixes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.postgraphile.database import POSTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

MOST_REQUESTS = 40  # for 100,000 rows; pages of a fixed 1,000 would take 100
TEXTS = {
    "first in the text": "{ allPosts(first: 1000) { nodes { id views } } }",
    "counted": "{ allPosts(first: 1000) { totalCount nodes { id views } } }",
    "no size": "{ allPosts { nodes { id views } } }",
    "backward": "{ allPosts(last: 1000) { nodes { id views } } }",
}


@pytest.fixture(scope="module")
def totals(database: Postgres) -> tuple[int, int]:
    """Return the number of posts, and the sum of their views."""
    [row] = database.fetch_rows("SELECT count(*), sum(views) FROM forum.posts")
    return row["count"], row["sum"]


@pytest.mark.parametrize("case", TEXTS)
def test_a_hundred_thousand_rows_take_few_requests(
    case: str, plain: PostGraphile, connect: Connect, totals: tuple[int, int]
) -> None:
    """Pages grow to the server's limit; each row is returned once, with its exact value."""
    plain.take_requests()
    result = connect(plain).execute_all(TEXTS[case], follow="all")
    nodes = result.data["allPosts"]["nodes"]
    assert (len(nodes), sum(int(node["views"]) for node in nodes)) == totals
    assert len({node["id"] for node in nodes}) == POSTS
    assert result.report.complete, result.report
    assert result.report.requests == len(plain.take_requests()) <= MOST_REQUESTS


def test_a_plain_list_of_a_hundred_thousand_rows(
    lists: PostGraphile, connect: Connect, totals: tuple[int, int]
) -> None:
    """Pages of plain lists grow too."""
    lists.take_requests()
    result = connect(lists).execute_all("{ allPostsList(first: 1000) { id views } }")
    rows = result.data["allPostsList"]
    assert (len(rows), sum(int(row["views"]) for row in rows)) == totals
    assert len({row["id"] for row in rows}) == POSTS
    assert result.report.complete, result.report
    assert result.report.requests == len(lists.take_requests()) <= MOST_REQUESTS

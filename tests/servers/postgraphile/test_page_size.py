"""How many requests all pages take: the sizes of pages grow, unless the user fixes them."""

from __future__ import annotations

import math
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


def test_a_hundred_thousand_rows_as_a_frame(
    plain: PostGraphile, connect: Connect, totals: tuple[int, int]
) -> None:
    """The frame has every row, with integers above 2^53 exact."""
    frame = connect(plain).frame(TEXTS["first in the text"], pages="all")
    assert str(frame["views"].dtype) == "Int64"
    assert (len(frame), sum(frame["views"].tolist())) == totals
    assert not frame.attrs["partial"]


def test_a_page_size_given_by_the_user_is_fixed(plain: PostGraphile, connect: Connect) -> None:
    """With `page_size` every page has that size, and there are as many as that takes."""
    comments = plain.query("{ allComments { totalCount } }")["allComments"]["totalCount"]
    result = connect(plain).execute_all("{ allComments { nodes { body } } }", page_size=2000)
    assert len(result.data["allComments"]["nodes"]) == comments
    assert result.report.requests == math.ceil(comments / 2000)


def test_small_answers_take_one_request(plain: PostGraphile, connect: Connect) -> None:
    """Fewer rows than a page need no second request."""
    assert connect(plain).execute_all("{ allTags { nodes { id } } }").report.requests == 1


def test_only_the_requested_rows_are_fetched(plain: PostGraphile, connect: Connect) -> None:
    """`max_results` below a page limits the page size."""
    plain.take_requests()
    result = connect(plain).execute_all("{ allPosts { nodes { id } } }", max_results=50)
    assert len(result.data["allPosts"]["nodes"]) == 50
    assert len(plain.take_requests()) == result.report.requests == 1

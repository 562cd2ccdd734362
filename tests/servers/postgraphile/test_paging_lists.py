"""All rows of plain lists, which PostGraphile pages by `first` and `offset`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.servers.postgraphile.rows import count_rows, read_leaves

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

# name: the query, the name of its list, and the SQL that returns the same rows
LISTS = {
    "in pages": (
        "{ allTagsList(first: 7) { id name } }",
        "allTagsList",
        "SELECT id, name FROM forum.tags",
    ),
    "whole": ("{ allTagsList { id name } }", "allTagsList", "SELECT id, name FROM forum.tags"),
    "without the key": (
        "{ allVotesList(first: 1000) { value } }",
        "allVotesList",
        "SELECT value FROM forum.votes",
    ),
    "no key, duplicate rows": (
        "{ allVisitsList(first: 300) { page day seconds } }",
        "allVisitsList",
        "SELECT page, day, seconds FROM forum.visits",
    ),
    "empty": (
        "{ allEmptyTablesList(first: 7) { id } }",
        "allEmptyTablesList",
        "SELECT id FROM forum.empty_table",
    ),
    "exactly full pages": (
        "{ allTagsList(first: 20) { id name } }",
        "allTagsList",
        "SELECT id, name FROM forum.tags",
    ),
    "from an offset": (
        "{ allTagsList(first: 7, offset: 10) { id name } }",
        "allTagsList",
        "SELECT id, name FROM forum.tags WHERE id > 10",
    ),
    "offset alone": (
        "{ allTagsList(offset: 10) { id name } }",
        "allTagsList",
        "SELECT id, name FROM forum.tags WHERE id > 10",
    ),
    "filtered": (
        '{ allAuthorsList(condition: {country: "Perú"}, first: 9) { id name } }',
        "allAuthorsList",
        "SELECT id, name FROM forum.authors WHERE country = 'Perú'",
    ),
    "function": (
        "{ postsOfTeamList(team: 2, first: 30) { id title } }",
        "postsOfTeamList",
        "SELECT id, title FROM forum.posts_of_team(2)",
    ),
    "scalars of a function": (
        "{ numbersUpToList(top: 50, first: 7) }",
        "numbersUpToList",
        "SELECT n FROM forum.numbers_up_to(50) AS n",
    ),
    "renamed": (
        "{ labels: allTagsList(first: 7) { id title: name } }",
        "labels",
        "SELECT id, name FROM forum.tags",
    ),
}


@pytest.mark.parametrize("variant", ["lists", "only"])
@pytest.mark.parametrize("case", LISTS)
def test_all_rows_of_a_plain_list(
    case: str, variant: str, v4: dict[str, PostGraphile], connect: Connect, database: Postgres
) -> None:
    """For a fresh client, each row is as frequent as in the table."""
    text, name, sql = LISTS[case]
    result = connect(v4[variant]).execute_all(text)
    assert Counter(read_leaves(result.data, name)) == count_rows(database.fetch_rows(sql))
    assert result.report.complete or result.report.notes


@pytest.mark.parametrize("case", ["in pages", "from an offset", "exactly full pages", "filtered"])
def test_a_list_of_distinct_rows_is_complete(
    case: str, lists: PostGraphile, connect: Connect
) -> None:
    """A short or empty last page, and no repeated row, prove that all rows are there."""
    result = connect(lists).execute_all(LISTS[case][0])
    assert result.report.complete, result.report


@pytest.mark.parametrize("case", LISTS)
def test_frames_of_plain_lists(
    case: str, lists: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """`frame(pages="all")` has as many rows as the table."""
    text, _, sql = LISTS[case]
    assert len(connect(lists).frame(text, pages="all")) == len(database.fetch_rows(sql))


def test_variables_of_the_user_are_the_start(lists: PostGraphile, connect: Connect) -> None:
    """`first` and `offset` may be variables of the text; they are not sent twice."""
    text = "query Tags($n: Int, $from: Int) { allTagsList(first: $n, offset: $from) { id } }"
    result = connect(lists).execute_all(text, {"n": 9, "from": 4})
    assert [row["id"] for row in result.data["allTagsList"]] == list(range(5, 41))
    assert result.report.complete


def test_execute_does_not_page(lists: PostGraphile, connect: Connect) -> None:
    """`execute` sends the text once, as it is."""
    assert len(connect(lists).execute(LISTS["in pages"][0]).data["allTagsList"]) == 7


def test_a_limit_of_a_list_makes_the_result_partial(lists: PostGraphile, connect: Connect) -> None:
    """`max_results` limits the rows, and the report says that there may be more."""
    result = connect(lists).execute_all(LISTS["in pages"][0], max_results=20)
    assert len(result.data["allTagsList"]) == 20
    assert not result.report.complete


def test_pages_of_a_list(lists: PostGraphile, connect: Connect) -> None:
    """`pages` yields every row once."""
    pages = connect(lists).pages(LISTS["in pages"][0])
    ids = [row["id"] for page in pages for row in page.data["allTagsList"]]
    assert ids == list(range(1, 41))


def test_no_request_for_a_list_is_refused(lists: PostGraphile, connect: Connect) -> None:
    """The server accepts each request, and the report counts them all."""
    lists.take_requests()
    report = connect(lists).execute_all(LISTS["in pages"][0]).report
    requests = lists.take_requests()
    assert {request.status for request in requests} == {200}
    assert report.requests == len(requests)

"""All rows of plain lists, which PostGraphile pages by `first` and `offset`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.servers.postgraphile.rows import count_rows, read_leaves
from tests.servers.postgraphile.test_paging import TAGS, TAGS_FROM_11, VISITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

# The query, and the SQL that returns the same rows.
LISTS = {
    "in pages": ("{ allTagsList(first: 7) { id name } }", TAGS),
    "whole": ("{ allTagsList { id name } }", TAGS),
    "without the key": ("{ allVotesList(first: 1000) { value } }", "SELECT value FROM forum.votes"),
    "no key, duplicate rows": ("{ allVisitsList(first: 300) { page day seconds } }", VISITS),
    "empty": ("{ allEmptyTablesList(first: 7) { id } }", "SELECT id FROM forum.empty_table"),
    "exactly full pages": ("{ allTagsList(first: 20) { id name } }", TAGS),
    "from an offset": ("{ allTagsList(first: 7, offset: 10) { id name } }", TAGS_FROM_11),
    "offset alone": ("{ allTagsList(offset: 10) { id name } }", TAGS_FROM_11),
    "filtered": ('{ allAuthorsList(condition: {country: "Perú"}, first: 9) { id name } }',
     "SELECT id, name FROM forum.authors WHERE country = 'Perú'"),
    "function": ("{ postsOfTeamList(team: 2, first: 30) { id title } }",
     "SELECT id, title FROM forum.posts_of_team(2)"),
    "scalars of a function": ("{ numbersUpToList(top: 50, first: 7) }",
     "SELECT n FROM forum.numbers_up_to(50) AS n"),
    "renamed": ("{ labels: allTagsList(first: 7) { id title: name } }", TAGS),
}  # fmt: skip
# A short or empty last page, and no repeated row, prove that all rows are there.
PROVED = {"in pages", "from an offset", "exactly full pages", "filtered"}


@pytest.mark.parametrize("variant", ["lists", "only", "compatible"])
@pytest.mark.parametrize("case", LISTS)
def test_all_rows_of_a_plain_list(
    case: str, variant: str, server: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """For a fresh client, each row is as frequent as in the table; a frame has as many."""
    text, sql = LISTS[case]
    rows = count_rows(database.fetch_rows(sql))
    server.take_requests()
    result = connect(server).execute_all(text)
    requests = server.take_requests()
    assert Counter(read_leaves(result.data)) == rows
    assert result.report.complete or (result.report.notes and case not in PROVED)
    assert {request.status for request in requests} == {200}
    assert result.report.requests == len(requests)
    assert len(connect(server).frame(text, pages="all")) == rows.total()

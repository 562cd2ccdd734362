"""All pages of flat connections of PostGraphile are the rows of the table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.servers.postgraphile.rows import check_pages, count_rows, read_items

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

TAGS = "SELECT id, name FROM forum.tags"
TAGS_FROM_11 = f"{TAGS} WHERE id > 10"
VISITS = "SELECT page, day, seconds FROM forum.visits"
# The query, and the SQL that returns the same rows.
FLAT = {
    "forward": ("{ allTags(first: 7) { totalCount nodes { id name } } }", TAGS),
    "not counted": ("{ allTags(first: 7) { nodes { id name } } }", TAGS),
    "page info asked for": (
        "{ allTags(first: 7) { pageInfo { hasNextPage endCursor } nodes { id name } } }",
        TAGS,
    ),
    "without arguments": ("{ allTags { nodes { id name } } }", TAGS),
    "edges": ("{ allTags(first: 9) { edges { node { id name } } } }", TAGS),
    "backward": ("{ allTags(last: 7) { totalCount nodes { id name } } }", TAGS),
    "without the key": ("{ allVotes(first: 900) { totalCount nodes { value } } }",
     "SELECT value FROM forum.votes"),
    "key of two columns": ("{ allPostTags(first: 2000) { totalCount nodes { postId tagId } } }",
     "SELECT post_id, tag_id FROM forum.post_tags"),
    "no key, duplicate rows": (
        "{ allVisits(first: 300) { totalCount nodes { page day seconds } } }",
        VISITS,
    ),
    "no key, ordered": (
        "{ allVisits(first: 300, orderBy: NATURAL) { totalCount nodes { page day seconds } } }",
        VISITS,
    ),
    "empty": ("{ allEmptyTables(first: 7) { totalCount nodes { id } } }",
     "SELECT id FROM forum.empty_table"),
    "exactly one page": ("{ allTags(first: 40) { totalCount nodes { id name } } }", TAGS),
    "view": ("{ allAuthorTotals(first: 70) { totalCount nodes { authorId name posts } } }",
     "SELECT author_id, name, posts::text FROM forum.author_totals"),
    "function": ("{ postsOfTeam(team: 2, first: 30) { totalCount nodes { id title } } }",
     "SELECT id, title FROM forum.posts_of_team(2)"),
    "scalars of a function": ("{ numbersUpTo(top: 50, first: 7) { totalCount edges { node } } }",
     "SELECT n FROM forum.numbers_up_to(50) AS n"),
    "condition": (
        '{ allAuthors(condition: {country: "Perú"}, first: 11) { totalCount nodes { id name } } }',
        "SELECT id, name FROM forum.authors WHERE country = 'Perú'",
    ),
    "condition on null": (
        "{ allAuthors(condition: {country: null}, first: 11) { totalCount nodes { id } } }",
        "SELECT id FROM forum.authors WHERE country IS NULL",
    ),
    "ordered by what is not unique": (
        "{ allAuthors(orderBy: [TEAM_DESC], first: 11) { totalCount nodes { id } } }",
        "SELECT id FROM forum.authors",
    ),
    "from an offset": ("{ allTags(first: 7, offset: 10, orderBy: ID_ASC) { nodes { id name } } }",
     TAGS_FROM_11),
    "two connections": (
        "{ allTags(first: 7) { nodes { id name } } allAuthors(first: 90) { nodes { id } } }",
        TAGS,
    ),
    "renamed": ("{ labels: allTags(first: 7) { nodes { id title: name } } }", TAGS),
    "below the root's `query`": ("{ query { allTags(first: 7) { nodes { id name } } } }", TAGS),
}  # fmt: skip
# Version 5 has no root field `query`; with its own defaults, ids have another name.
VARIANTS = {
    "plain": list(FLAT),
    "compatible": [name for name in FLAT if name not in {"below the root's `query`"}],
    "amber": ["forward", "backward", "from an offset", "no key, duplicate rows", "function",
     "empty"],
}  # fmt: skip


def rename_ids(text: str) -> str:
    """Return a query with the ids of version 5."""
    return re.sub(r"\bid\b", "rowId", text).replace("ID_ASC", "ROW_ID_ASC")


@pytest.mark.parametrize(
    ("variant", "case"), [(variant, case) for variant in VARIANTS for case in VARIANTS[variant]]
)
def test_all_pages_are_the_rows_of_the_table(
    variant: str, case: str, server: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Whatever the size of a page, in data and in a frame, which is not marked as partial."""
    text, sql = FLAT[case]
    text = rename_ids(text) if variant == "amber" else text
    rows = count_rows(database.fetch_rows(sql))
    check_pages(connect, server, text, rows)
    if variant == "plain" and case != "two connections":
        check_pages(connect, server, text, rows, page_size=max(2, rows.total() // 7))
        frame = connect(server).frame(text, pages="all", follow="all")
        assert len(frame) == rows.total()
        assert not frame.attrs["partial"]


def test_two_connections_are_both_complete(plain: PostGraphile, connect: Connect) -> None:
    """Connections beside each other are followed to their ends."""
    data = connect(plain).execute_all(FLAT["two connections"][0]).data
    assert len(read_items(data["allTags"])) == 40
    assert len(read_items(data["allAuthors"])) == 400


def test_backward_pages_keep_the_order(plain: PostGraphile, connect: Connect) -> None:
    """Pages from the end are joined to the order of the list."""
    text = "{ allTags(last: 7) { nodes { id } } }"
    data = connect(plain).execute_all(text, follow="all").data
    assert [node["id"] for node in data["allTags"]["nodes"]] == list(range(1, 41))


def test_the_last_rows_are_those_that_the_query_asks_for(
    plain: PostGraphile, connect: Connect
) -> None:
    """`last: 7` is a question of its own: seven rows; the report says that they were kept so."""
    result = connect(plain).execute_all("{ allTags(last: 7) { nodes { id } } }")
    assert [node["id"] for node in result.data["allTags"]["nodes"]] == list(range(34, 41))
    assert result.report.complete
    assert "`last: 7`" in str(result.report.notes)


def test_rows_deleted_between_pages_do_not_hide_others(
    plain: PostGraphile, connect: Connect, tasks: Postgres
) -> None:
    """With cursors, all remaining rows are returned."""
    tasks.run_script("INSERT INTO forum.tasks (title) SELECT 'x' FROM generate_series(1, 30);")
    seen: list[int] = []
    for page in connect(plain).pages("{ allTasks { nodes { id } } }", page_size=10):
        if not seen:
            tasks.run_script("DELETE FROM forum.tasks WHERE id = 3;")
        seen += [node["id"] for node in page.data["allTasks"]["nodes"]]
    assert seen == list(range(1, 31))


def test_an_invalid_cursor_is_an_error_of_the_server(plain: PostGraphile, connect: Connect) -> None:
    """The result is not marked as complete."""
    text = '{ allTags(first: 7, after: "nonsense") { nodes { id } } }'
    result = connect(plain).execute_all(text)
    assert "Invalid cursor" in result.errors[0]["message"]
    assert not result.report.complete


@pytest.mark.parametrize("count", ["totalCount", ""], ids=["counted", "not counted"])
def test_rows_that_the_server_omits_are_noticed(
    count: str, plain: PostGraphile, connect: Connect
) -> None:
    """Ordered by a nullable column, PostGraphile's cursors skip the nulls: that is not complete.

    It says ``hasNextPage: false`` after 320 of 400 rows; its count alone shows that they are not
    all. A client that fetches the others in another way is welcome to.
    """
    text = f"{{ allAuthors(orderBy: COUNTRY_ASC, first: 11) {{ {count} nodes {{ id }} }} }}"
    result = connect(plain).execute_all(text)
    came = len(result.data["allAuthors"]["nodes"])
    assert result.report.complete == (came == 400), f"{came} of 400: {result.report}"
    assert result.frame().attrs["partial"] == (came < 400)

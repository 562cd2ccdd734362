"""All pages of connections and lists nested in each other, to three levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.postgraphile.rows import check_pages, count_rows, read_items
from tests.servers.postgraphile.test_paging import rename_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

POSTS = """SELECT a.id AS author, p.id FROM forum.authors a
  JOIN forum.posts p ON p.author_id = a.id WHERE a.team = 1"""
COMMENTS = """SELECT a.id AS author, p.id, c.number FROM forum.authors a
  JOIN forum.posts p ON p.author_id = a.id JOIN forum.comments c ON c.post_id = p.id
  WHERE a.team = 1"""
VOTES = """SELECT a.id AS author, p.id AS post, c.number, v.id FROM forum.authors a
  JOIN forum.posts p ON p.author_id = a.id JOIN forum.comments c ON c.post_id = p.id
  JOIN forum.votes v ON v.post_id = c.post_id AND v.number = c.number WHERE a.team = 1"""
ONE_AUTHOR = "SELECT id, title FROM forum.posts WHERE author_id = 20"
TAGS_OF_POSTS = """SELECT t.name, p.post_id FROM forum.tags t
  JOIN forum.post_tags p ON p.tag_id = t.id"""

# The query, and the SQL that returns the same rows.
NESTED = {
    "two levels": (
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(first: 5) { nodes { id } } } } }""",
        POSTS,
    ),
    "two levels, counted": (
        """{ allAuthors(condition: {team: 1}, first: 4) { totalCount nodes { id
             postsByAuthorId(first: 5) { totalCount nodes { id } } } } }""",
        POSTS,
    ),
    "two levels of edges": (
        """{ allAuthors(condition: {team: 1}, first: 4) { edges { node { id
             postsByAuthorId(first: 5) { edges { node { id } } } } } } }""",
        POSTS,
    ),
    "inner pages backward": (
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(last: 5) { nodes { id } } } } }""",
        POSTS,
    ),
    "three levels": (
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(first: 5) { nodes { id
               commentsByPostId(first: 4) { nodes { number } } } } } } }""",
        COMMENTS,
    ),
    "four levels": (
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(first: 5) { nodes { id
               commentsByPostId(first: 4) { nodes { number
                 votesByPostIdAndNumber(first: 2) { nodes { id } } } } } } } } }""",
        VOTES,
    ),
    "join table": (
        """{ allTags(first: 15) { nodes { name
             postTagsByTagId(first: 200) { nodes { postId } } } } }""",
        TAGS_OF_POSTS,
    ),
    "below one object": (
        "{ authorById(id: 20) { postsByAuthorId(first: 5) { totalCount nodes { id title } } } }",
        ONE_AUTHOR,
    ),
    "lists in lists": (
        """{ allAuthorsList(condition: {team: 1}, first: 4) { id
             postsByAuthorIdList(first: 5) { id
               commentsByPostIdList(first: 4) { number } } } }""",
        COMMENTS,
    ),
    "lists in connections": (
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorIdList(first: 5) { id } } } }""",
        POSTS,
    ),
    "connections in lists": (
        """{ allAuthorsList(condition: {team: 1}, first: 4) { id
             postsByAuthorId(first: 5) { nodes { id } } } }""",
        POSTS,
    ),
    "inner connections without arguments": (
        """{ allAuthors(condition: {team: 1}) { nodes { id
             postsByAuthorId { nodes { id } } } } }""",
        POSTS,
    ),
}
# Variants beside PostGraphile 4 and 5 with the same names: of "keys", objects are found by their
# keys, one of two columns; of the others, ids have another name.
VARIANTS = {
    **dict.fromkeys(NESTED, ("plain", "compatible")),
    **dict.fromkeys(["lists in connections", "connections in lists"], ("lists", "compatible")),
    "three levels": ("plain", "compatible", "keys", "classic", "amber"),
    "four levels": ("plain", "compatible", "keys", "amber"),
    "lists in lists": ("only",),
}


@pytest.mark.parametrize(
    ("case", "variant"), [(case, variant) for case in NESTED for variant in VARIANTS[case]]
)
def test_all_pages_of_nested_lists_are_the_joined_rows(
    case: str, variant: str, server: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Every item of every level is there once."""
    text, sql = NESTED[case]
    text = rename_ids(text) if variant in {"classic", "amber"} else text
    check_pages(connect, server, text, count_rows(database.fetch_rows(sql)))


def test_a_small_size_of_a_nested_list_is_kept(
    plain: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """All authors, and of each the five posts that the query asks for; the report says so."""
    text, _ = NESTED["two levels"]
    result = connect(plain).execute_all(text)
    authors = database.fetch_rows("SELECT id FROM forum.authors WHERE team = 1")
    assert [author["id"] for author in read_items(result.data["allAuthors"])] == [
        author["id"] for author in authors
    ]
    posts = [
        read_items(author["postsByAuthorId"]) for author in read_items(result.data["allAuthors"])
    ]
    assert max(map(len, posts)) == 5
    assert result.report.complete
    assert "`first: 5`" in str(result.report.notes)


def test_several_objects_share_a_request(plain: PostGraphile, connect: Connect) -> None:
    """The further pages of eight authors with more than five posts take far fewer than one each."""
    text, _ = NESTED["two levels"]
    report = connect(plain).execute_all(text, follow="all").report
    # 105 posts, at most 21 for an author: 3 pages of authors, then at most 4 further inner pages,
    # each for all authors of a page at once.
    assert report.requests <= 3 * 5


def test_nested_connections_of_a_functions_rows_are_paged(
    plain: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """A function returns objects of a table, with connections of their own."""
    text = """{ postsOfTeam(team: 1, first: 50) { nodes { id
                commentsByPostId(first: 3) { nodes { number } } } } }"""
    sql = COMMENTS.replace("a.id AS author, ", "")
    check_pages(connect, plain, text, count_rows(database.fetch_rows(sql)))

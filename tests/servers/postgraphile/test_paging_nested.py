"""All pages of connections and lists nested in each other, to three levels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.servers.postgraphile.rows import count_rows, read_items, read_leaves

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

# name: variant of the server, query, path of the innermost items, SQL
NESTED = {
    "two levels": (
        "plain",
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(first: 5) { nodes { id } } } } }""",
        ("allAuthors", "postsByAuthorId"),
        POSTS,
    ),
    "two levels, counted": (
        "plain",
        """{ allAuthors(condition: {team: 1}, first: 4) { totalCount nodes { id
             postsByAuthorId(first: 5) { totalCount nodes { id } } } } }""",
        ("allAuthors", "postsByAuthorId"),
        POSTS,
    ),
    "two levels of edges": (
        "plain",
        """{ allAuthors(condition: {team: 1}, first: 4) { edges { node { id
             postsByAuthorId(first: 5) { edges { node { id } } } } } } }""",
        ("allAuthors", "postsByAuthorId"),
        POSTS,
    ),
    "inner pages backward": (
        "plain",
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(last: 5) { nodes { id } } } } }""",
        ("allAuthors", "postsByAuthorId"),
        POSTS,
    ),
    "three levels": (
        "plain",
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(first: 5) { nodes { id
               commentsByPostId(first: 4) { nodes { number } } } } } } }""",
        ("allAuthors", "postsByAuthorId", "commentsByPostId"),
        COMMENTS,
    ),
    "four levels": (
        "plain",
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(first: 5) { nodes { id
               commentsByPostId(first: 4) { nodes { number
                 votesByPostIdAndNumber(first: 2) { nodes { id } } } } } } } } }""",
        ("allAuthors", "postsByAuthorId", "commentsByPostId", "votesByPostIdAndNumber"),
        VOTES,
    ),
    "join table": (
        "plain",
        """{ allTags(first: 15) { nodes { name
             postTagsByTagId(first: 200) { nodes { postId } } } } }""",
        ("allTags", "postTagsByTagId"),
        TAGS_OF_POSTS,
    ),
    "below one object": (
        "plain",
        "{ authorById(id: 20) { postsByAuthorId(first: 5) { totalCount nodes { id title } } } }",
        ("authorById", "postsByAuthorId"),
        ONE_AUTHOR,
    ),
    "classic ids": (
        "classic",
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { rowId
             postsByAuthorId(first: 5) { nodes { rowId
               commentsByPostId(first: 4) { nodes { number } } } } } } }""",
        ("allAuthors", "postsByAuthorId", "commentsByPostId"),
        COMMENTS,
    ),
    "objects found by their key": (
        "keys",
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(first: 5) { nodes { id
               commentsByPostId(first: 4) { nodes { number } } } } } } }""",
        ("allAuthors", "postsByAuthorId", "commentsByPostId"),
        COMMENTS,
    ),
    "objects found by a key of two columns": (
        "keys",
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorId(first: 5) { nodes { id
               commentsByPostId(first: 4) { nodes { number
                 votesByPostIdAndNumber(first: 2) { nodes { id } } } } } } } } }""",
        ("allAuthors", "postsByAuthorId", "commentsByPostId", "votesByPostIdAndNumber"),
        VOTES,
    ),
    "lists in lists": (
        "only",
        """{ allAuthorsList(condition: {team: 1}, first: 4) { id
             postsByAuthorIdList(first: 5) { id
               commentsByPostIdList(first: 4) { number } } } }""",
        ("allAuthorsList", "postsByAuthorIdList", "commentsByPostIdList"),
        COMMENTS,
    ),
    "lists in connections": (
        "lists",
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
             postsByAuthorIdList(first: 5) { id } } } }""",
        ("allAuthors", "postsByAuthorIdList"),
        POSTS,
    ),
    "connections in lists": (
        "lists",
        """{ allAuthorsList(condition: {team: 1}, first: 4) { id
             postsByAuthorId(first: 5) { nodes { id } } } }""",
        ("allAuthorsList", "postsByAuthorId"),
        POSTS,
    ),
    "inner connections without arguments": (
        "plain",
        """{ allAuthors(condition: {team: 1}) { nodes { id
             postsByAuthorId { nodes { id } } } } }""",
        ("allAuthors", "postsByAuthorId"),
        POSTS,
    ),
}


@pytest.mark.parametrize("case", NESTED)
def test_all_pages_of_nested_lists_are_the_joined_rows(
    case: str, v4: dict[str, PostGraphile], connect: Connect, database: Postgres
) -> None:
    """Every item of every level is there once, and the report is complete."""
    variant, text, path, sql = NESTED[case]
    result = connect(v4[variant]).execute_all(text, follow="all")
    data = result.data
    if path[0] == "authorById":
        data, path = data["authorById"], path[1:]
    assert Counter(read_leaves(data, *path)) == count_rows(database.fetch_rows(sql))
    assert result.report.complete, result.report


def test_a_small_size_of_a_nested_list_is_kept(
    plain: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """All authors, and of each the five posts that the query asks for; the report says so."""
    _, text, path, _ = NESTED["two levels"]
    result = connect(plain).execute_all(text)
    authors = database.fetch_rows("SELECT id FROM forum.authors WHERE team = 1")
    assert [author["id"] for author in read_items(result.data["allAuthors"])] == [
        author["id"] for author in authors
    ]
    posts = [read_items(author[path[1]]) for author in read_items(result.data["allAuthors"])]
    assert max(map(len, posts)) == 5
    assert result.report.complete
    assert "`first: 5`" in str(result.report.notes)


@pytest.mark.parametrize("case", NESTED)
def test_no_request_for_nested_pages_is_refused(
    case: str, v4: dict[str, PostGraphile], connect: Connect
) -> None:
    """The server accepts each request, and the report counts them all."""
    variant, text, _, _ = NESTED[case]
    server = v4[variant]
    server.take_requests()
    report = connect(server).execute_all(text, follow="all").report
    requests = server.take_requests()
    assert {request.status for request in requests} == {200}
    assert report.requests == len(requests)


def test_several_objects_share_a_request(plain: PostGraphile, connect: Connect) -> None:
    """The further pages of eight authors with more than five posts take far fewer than one each."""
    _, text, _, _ = NESTED["two levels"]
    report = connect(plain).execute_all(text, follow="all").report
    # 105 posts, at most 21 for an author: 3 pages of authors, then at most 4 further inner pages,
    # each for all authors of a page at once.
    assert report.requests <= 3 * 5


def test_frames_of_nested_pages_have_the_keys_of_their_parents(
    plain: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """The frame of the inner connection has every row, beside the row of its parent."""
    _, text, _, _ = NESTED["two levels"]
    frame = connect(plain).frame(text, path="allAuthors.postsByAuthorId", pages="all", follow="all")
    assert len(frame) == len(database.fetch_rows(POSTS))
    assert not frame.attrs["partial"]


def test_nested_connections_of_a_functions_rows_are_paged(
    plain: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """A function returns objects of a table, with connections of their own."""
    text = """{ postsOfTeam(team: 1, first: 50) { nodes { id
                commentsByPostId(first: 3) { nodes { number } } } } }"""
    result = connect(plain).execute_all(text, follow="all")
    sql = COMMENTS.replace("a.id AS author, ", "")
    found = Counter(read_leaves(result.data, "postsOfTeam", "commentsByPostId"))
    assert found == count_rows(database.fetch_rows(sql))
    assert result.report.complete


def test_one_page_of_a_longer_connection_is_not_complete(
    plain: PostGraphile, connect: Connect
) -> None:
    """`execute_all` limited to one page reports it."""
    _, text, _, _ = NESTED["two levels"]
    result = connect(plain).execute_all(text, max_requests=1)
    assert not result.report.complete
    assert result.frame().attrs["partial"]

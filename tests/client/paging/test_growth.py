"""Larger pages never cost values: what a limit of the endpoint left null is requested again."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from gqlnb import Client, Schema
from tests.client.paging.lists import (
    assert_whole,
    build_page,
    build_rows,
    complete_sdl,
    fail,
    fetch,
    read_rows,
)

AUTHORS = 240
MOST_QUERIES = 100  # of one request, as datasette-graphql 2.2 has it by default


@pytest.mark.parametrize("size", [10, 20, 80])
def test_lists_in_the_rows_of_large_pages_are_not_lost(size):
    """An error that smaller pages did not have refuses the larger page, not its rows."""
    sdl = """rows(first: Int = 10, after: String): Nodes!
      type Row { id: ID! posts: [Post!] } type Post { id: ID! }"""
    queries = 0  # one for each list

    def list_authors(args: dict[str, Any]) -> dict[str, Any]:
        nonlocal queries
        queries = 1
        return build_page(build_rows(AUTHORS), args.get("after"), args["first"])

    def list_posts(_author: Any, _args: Any, _context: Any) -> list[dict[str, str]]:
        nonlocal queries
        queries += 1
        return build_rows(7) if queries <= MOST_QUERIES else fail("Query limit exceeded")

    text = f"{{ rows(first: {size}) {{ nodes {{ id posts {{ id }} }} }} }}"
    result = fetch(sdl, list_authors, text, {"Row": {"posts": list_posts}})
    assert_whole(result, range(AUTHORS))
    assert [len(author["posts"]) for author in read_rows(result)] == [7] * AUTHORS
    assert result.errors == ()


@pytest.mark.parametrize(("count", "is_complete"), [(9_137, True), (10_150, False)])
def test_the_largest_size_that_is_tried_is_ten_thousand(count, is_complete):
    """DataJunction 0.0.272 returns 1,000 rows, and 10,000 at most; the sizes double."""
    rows = build_rows(min(count, 10_000))
    sdl = "rows(limit: Int = 1000): [Row!]!"
    result = fetch(sdl, lambda args: rows[: args["limit"]], "{ rows { id } }")
    assert len(result.data["rows"]) == min(count, 10_000)
    assert result.report.complete == is_complete


PAGES = """
rows(limit: Int, page: Int, offset: Int): Rows row(id: ID!): Row
type Rows { totalCount: Int! items: [Row!]! }
type Row { id: Int! parts(limit: Int, page: Int, offset: Int): Parts }
type Parts { items: [Part!]! } type Part { id: ID! label: String! }
"""


@pytest.mark.parametrize("size", [7, 20])
def test_an_offset_that_counts_whole_pages_takes_sizes_that_divide_it(size):
    """Of remult 3.3.18 an offset is the page it lies on: behind 20 rows, 50 are the first ones."""

    def cut(rows: list[dict[str, Any]], args: dict[str, Any]) -> dict[str, Any]:
        size = args.get("limit") or len(rows)
        start = ((args.get("page") or (args.get("offset") or 0) // size + 1) - 1) * size
        return build_page(rows, start, size)

    rows = [{"id": number} for number in range(230)]
    parts = [
        [{"id": f"{row}.{part}", "label": "part"} for part in range(row * 7 % 61)]
        for row in range(230)
    ]
    resolvers = {
        "Query": {
            "rows": lambda _, a, __: cut(rows, a),
            "row": lambda _, a, __: rows[int(a["id"])],
        },
        "Row": {"parts": lambda row, args, _context: cut(parts[row["id"]], args)},
    }
    inner = "parts(limit: 10) { items { id label } }"
    text = f"{{ rows(limit: {size}, offset: 0) {{ items {{ id {inner} }} }} }}"
    client = Client(Schema(complete_sdl(PAGES), resolvers))
    result = client.execute_all(text, follow="all", progress=False)
    items = result.data["rows"]["items"]
    assert [row["id"] for row in items] == list(range(230))
    assert [row["parts"]["items"] for row in items] == parts
    assert result.report.complete, str(result.report)


BOUNDED = {
    "token": ("(first: Int, nextToken: String)", "nextToken: String"),
    "connection": ("(first: Int, after: String)", "pageInfo: PageInfo!"),
    "offset": ("(first: Int, offset: Int)", "hasMore: Boolean!"),
    "last": ("(first: Int, offset: Int)", "isLast: Boolean!"),
}


@pytest.mark.parametrize("shape", BOUNDED)
@pytest.mark.parametrize("most", [60, 100, 130])
@pytest.mark.parametrize("size", ["", "(first: 10)", "(first: 50)"])
@pytest.mark.parametrize("is_nested", [False, True])
def test_no_row_is_lost_where_the_end_is_said_of_the_size_that_was_requested(
    shape, most, size, is_nested
):
    """The endpoint bounds a page, and says that rows follow if as many came as were requested."""
    rows, users = build_rows(430), build_rows(30)

    def resolve(_root: Any, args: dict[str, Any], _context: Any) -> dict[str, Any]:
        asked = args.get("first", 20)
        start = args.get("nextToken") or args.get("after") or args.get("offset")
        page = build_page(rows, start, min(asked, most))
        more = len(page["nodes"]) == asked
        page["pageInfo"]["hasNextPage"] = more
        token = page["pageInfo"]["endCursor"] if more else None
        return {**page, "hasMore": more, "isLast": not more, "nextToken": token}

    arguments, sign = BOUNDED[shape]
    sdl = f"""users: [User!]! user(id: ID!): User rows{arguments}: Page!
      type Page {{ nodes: [Row!]! {sign} }} type User {{ id: ID! rows{arguments}: Page! }}"""
    root = {"users": lambda *_: users, "user": lambda _root, args, _context: args, "rows": resolve}
    client = Client(Schema(complete_sdl(sdl), {"User": {"rows": resolve}, "Query": root}))
    text = f"rows{size} {{ nodes {{ id }} }}"
    text = f"{{ users {{ id {text} }} }}" if is_nested else f"{{ {text} }}"
    with warnings.catch_warnings(action="ignore"):
        result = client.execute_all(text, progress=False)
    holders = result.data["users"] if is_nested else [result.data]
    is_whole = all(holder["rows"]["nodes"] == rows for holder in holders)
    # 60 rows of the 100 that a first page is asked for are not known to be cut.
    assert is_whole or (not size and most == 60)
    assert result.report.complete or is_nested

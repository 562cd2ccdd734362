"""A page number that is written in the query stays the place where its rows begin."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from tests.client.paging.lists import (
    assert_whole,
    build_client,
    build_page,
    build_rows,
    fail,
    fetch,
    read_rows,
)
from tests.examples import select_combinations

if TYPE_CHECKING:
    from gqlnb import Client

SDL = "rows(page: Int, perPage: Int): %s type Page { total: Int! items: [Row!]! }"


def build_numbered_client(count: int, first: int, *, counted: bool) -> Client:
    """Return a client of a list with 25 rows in a page, whose first page has a number."""

    def resolve(args: dict[str, Any]) -> Any:
        page, size = args.get("page"), args.get("perPage") or 25
        start = ((first if page is None else page) - first) * size
        if page is None and first == 0:  # as json-graphql-server 3.3.2 does
            start, size = 0, count
        found = build_page(build_rows(count), start, size)
        return found if counted else found["items"]

    return build_client(SDL % ("Page!" if counted else "[Row!]!"), resolve)


QUERIES = {
    "(page: 0)": (0, 25),
    "(page: 1)": (1, 25),
    "(page: 2)": (2, 25),
    "(page: 0, perPage: 10)": (0, 10),
    "(page: 2, perPage: 10)": (2, 10),
    "(page: 3, perPage: 10)": (3, 10),
}


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("count", [35, 60])
def test_rows_begin_where_the_query_says(count, first, *, counted):
    """Whatever was asked before, and found out about the list by it."""
    for queries in select_combinations(QUERIES, QUERIES):
        client = build_numbered_client(count, first, counted=counted)
        for query in queries:
            page, size = QUERIES[query]
            if page < first:
                continue
            selection = "{ items { id } }" if counted else "{ id }"
            result = client.execute_all(f"{{ rows{query} {selection} }}", progress=False)
            rows, expected = read_rows(result), build_rows(count)[(page - first) * size :]
            assert rows == expected[: len(rows)], (queries, query)
            if result.report.complete:
                assert rows == expected, (queries, query)


PAIRS = """
rows(pagination: Pagination): %s type Page { nodes: [Row!]! }
input Pagination { page: Int, pageSize: Int, start: Int, limit: Int }
"""
PAIRED = {
    "limit: 100": 0,
    "page: 3": 20,
    "start: 13": 13,
    "pageSize: 40": 0,
    "page: 2, pageSize: 33": 33,
}


@pytest.mark.parametrize("wrapper", ["", "nodes"])
@pytest.mark.parametrize("queries", permutations(PAIRED, 2))
def test_the_pairs_of_two_conventions_are_not_mixed(queries, wrapper):
    """Strapi 5.54 refuses `page` beside `start`, also where the other pair was found before."""

    def resolve(args: dict[str, Any]) -> Any:
        given = args.get("pagination") or {}
        if given.keys() & {"page", "pageSize"} and given.keys() & {"start", "limit"}:
            fail("Cannot use both page & offset pagination in the same query")
        size = given.get("pageSize") or given.get("limit") or 10
        start = given.get("start") or (given.get("page", 1) - 1) * size
        rows = build_rows(230)[start : start + size]
        return {"nodes": rows} if wrapper else rows

    client = build_client(PAIRS % ("Page!" if wrapper else "[Row!]!"), resolve)
    for query in queries:
        inner = "{ nodes { id } }" if wrapper else "{ id }"
        text = f"{{ rows(pagination: {{ {query} }}) {inner} }}"
        assert_whole(client.execute_all(text, progress=False), range(PAIRED[query], 230))


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("name", ["limit", "pageSize"])
def test_a_size_of_zero_proves_nothing(name, least):
    """Strapi 5.54 has one row for it."""

    def resolve(args: dict[str, Any]) -> Any:
        return build_rows(max(least, (args.get("pagination") or {}).get(name, 10)))

    client = build_client(PAIRS % "[Row!]!", resolve)
    text = f"{{ rows(pagination: {{ {name}: 0 }}) {{ id }} }}"
    assert client.frame(text).attrs["completeness"].startswith("unknown: the query has `")
    with pytest.warns(UserWarning, match=f"{name}: 0"):
        assert not client.execute_all(text, progress=False).report.complete


@pytest.mark.parametrize("total", [20, 21, 30])
def test_a_count_includes_the_rows_before_an_offset_of_a_round_list(total):
    """So 16 rows after 4 are all of 20, and not of 21."""

    def resolve(args: dict[str, Any]) -> Any:
        return build_page(build_rows(20), args["skip"], 20, total=total)

    sdl = "rows(skip: Int! = 0): Page! type Page { total: Int! items: [Row!]! }"
    result = fetch(sdl, resolve, "{ rows(skip: 4) { items { id } } }")
    assert len(read_rows(result)) == 16
    assert result.report.complete == (total == 20), result.report.doubts

"""Sizes above the most that an endpoint returns, and offsets that need a size."""

from __future__ import annotations

import json
from typing import Any

import pytest
from graphql import build_schema, graphql_sync, print_schema

from gqlnb import Client
from gqlnb.http.messages import Response
from tests.client.faults import Wire
from tests.client.paging.lists import (
    assert_whole,
    build_client,
    build_page,
    build_rows,
    complete_sdl,
    fail,
    fetch,
    read_rows,
)

SDL = """
rows(options: Options): Page! type Page { items: [Row!]!, totalItems: Int! }
input Options { take: Int, skip: Int, least: Int, maxId: Int }
"""
COUNT = 1137
ALL = "{ items { id } }"


def build_vendure_client(refusal: str) -> Client:
    """Return a client of a list of at most 100 rows, in the shape of Vendure 3."""

    def resolve(args: dict[str, Any]) -> Any:
        options = args.get("options") or {}
        take, skip = options.get("take", 100), options.get("skip", 0)
        if take > 100:
            fail(refusal)
        rows = build_rows(COUNT)[options.get("least", 0) : options.get("maxId", COUNT - 1) + 1]
        return build_page(rows, skip, take)

    return build_client(SDL, resolve)


@pytest.mark.parametrize(
    ("query", "variables", "expected"),
    [
        (f"{{ rows(options: {{take: 500}}) {ALL} }}", {}, range(COUNT)),
        (f"{{ rows(options: {{take: 500, skip: 7}}) {ALL} }}", {}, range(7, COUNT)),
        (f"{{ rows(options: {{take: 500, least: 400}}) {ALL} }}", {}, range(400, COUNT)),
        (f"{{ rows(options: {{take: 500, maxId: 700}}) {ALL} }}", {}, range(701)),
        (f"query ($n: Int) {{ rows(options: {{take: $n}}) {ALL} }}", {"n": 101}, range(COUNT)),
        (f"query ($o: Options) {{ rows(options: $o) {ALL} }}", {"o": {"take": 999}}, range(COUNT)),
    ],
)
def test_a_size_above_the_most_is_lowered(query, variables, expected):
    """Wherever it stands; a filter that is larger than the limit is left alone."""
    client = build_vendure_client("Cannot take more than 100 results from a list query")
    result = client.execute_all(query, variables)
    assert_whole(result, expected)
    assert not result.errors


@pytest.mark.parametrize(
    ("query", "count", "came", "is_complete"),
    [
        ("{ rows { id } }", 1350, 1000, False),
        ("{ rows { id } }", 930, 930, True),
        ("{ rows(limit: 600) { id } }", 1350, 1000, False),
        ("{ rows(limit: 600) { id } }", 930, 930, True),
        ("{ rows(limit: 5000) { id } }", 930, 930, True),
    ],
)
def test_a_list_without_places_grows_to_the_size_that_a_refusal_names(
    query, count, came, is_complete
):
    """store-graphql-py 0.5.0 has 50 rows by default, 1,000 at most, and no offset."""

    def resolve(args: dict[str, Any]) -> Any:
        limit = args.get("limit", 50)
        if limit > 1000:
            fail(f"ERR_LIMIT:list limit 上限 1000,收到 {limit}")
        return build_rows(count)[:limit]

    result = fetch("rows(limit: Int): [Row!]!", resolve, query)
    assert read_rows(result) == build_rows(came)
    assert result.report.complete == is_complete, result.report.doubts
    assert not result.errors


@pytest.mark.parametrize("is_broken", [False, True])
def test_a_list_that_fails_for_an_added_identifier_is_read_without_it(is_broken):
    """easy-graphql-server 0.9.31 fails for each list with an alias among the fields of its rows."""

    def reply(request: Any) -> Response:
        if is_broken or "gqlnb_" in request.query:
            error = {"message": '{"type": "INTERNAL", "payload": {}}', "path": ["rows"]}
            members: dict[str, Any] = {"data": {"rows": None}, "errors": [error]}
        else:
            members = {"data": {"rows": [{"title": f"title {row}"} for row in range(200)]}}
        return Response(200, {"content-type": "application/json"}, json.dumps(members).encode())

    sdl = "type Query { rows(pages: Int): [Row!] } type Row { id: ID! title: String }"
    wire = Wire(reply)
    result = Client(wire, schema=sdl).execute_all("{ rows { title } }", progress=False)
    assert not result.report.complete
    if is_broken:
        assert len(wire.requests) == 2
        assert [error["path"] for error in result.errors] == [["rows"]]
    else:
        assert len(result.data["rows"]) == 200
        assert not result.errors


@pytest.mark.parametrize("arguments", ["", "(limit: 30)"])
def test_a_list_is_followed_without_the_sign_whose_alias_is_refused(arguments):
    """In nexusx 6.8.0 methods alone take aliases, and an error joins the steps below by dots."""

    def resolve(_root: Any, _info: Any, limit: int = 20, offset: int = 0) -> Any:
        return {"items": build_rows(130)[offset:][: min(limit, 100)]}

    def reply(request: Any) -> Response:
        if "gqlnb_pagination:" in request.query:
            path = ["Team", "by_id", "rows.gqlnb_pagination"]
            error = {"message": "Aliases are not supported", "path": path}
            result: Any = {"data": {"Team": {}}, "errors": [error]}
        else:
            values = {"Team": {"by_id": {}}}
            result = graphql_sync(schema, request.query, values, None, request.variables).formatted
        return Response(200, {"content-type": "application/json"}, json.dumps(result).encode())

    schema = build_schema("""
    type Query { Team: TeamQuery! }
    type TeamQuery { by_id: Team }
    type Team { rows(limit: Int, offset: Int): Page! }
    type Page { items: [Row!]! pagination: Pagination! }
    type Pagination { has_more: Boolean! total_count: Int }
    type Row { id: ID! }
    """)
    schema.get_type("Team").fields["rows"].resolve = resolve
    text = f"{{ Team {{ by_id {{ rows{arguments} {{ items {{ id }} }} }} }} }}"
    result = Client(Wire(reply), schema=print_schema(schema)).execute_all(text, progress=False)
    rows = result.data["Team"]["by_id"]["rows"]["items"]
    assert rows == build_rows(130)
    assert result.report.complete, result.report.doubts
    assert not result.errors


@pytest.mark.parametrize("failing", [("rows",), ("rows", "parts")])
def test_lists_with_offsets_that_fail_for_added_identifiers_are_read_without_them(failing):
    """graphql-sequelize-generator 9.7.1 takes an alias in the rows of a list for a column."""

    def resolve(root: Any, info: Any, limit: int | None = None, offset: int = 0) -> Any:
        names = tuple(step for step in info.path.as_list() if isinstance(step, str))
        if names == failing and any(s.alias for s in info.field_nodes[0].selection_set.selections):
            fail('column "gqlnb_id" does not exist')
        above, count = (root["title"], 3) if root else ("row", 130)
        return [{"title": f"{above} {n}", "id": n} for n in range(count)][offset:][:limit]

    schema = build_schema("""
    type Query { rows(limit: Int, offset: Int): [Row] }
    type Row { id: ID! title: String parts(limit: Int, offset: Int): [Part] }
    type Part { id: ID! title: String }
    """)
    schema.query_type.fields["rows"].resolve = resolve
    schema.get_type("Row").fields["parts"].resolve = resolve
    text = "{ rows(limit: 20) { title parts { title } } }"
    result = Client(schema).execute_all(text, progress=False)
    rows = result.data["rows"]
    assert [row["title"] for row in rows] == [f"row {n}" for n in range(130)]
    parts = [part["title"] for row in rows for part in row["parts"]]
    assert parts == [f"row {n} {part}" for n in range(130) for part in range(3)]
    assert not result.errors


@pytest.mark.parametrize("mark", ["", "!"])
@pytest.mark.parametrize("last", ["", ", last: Int"])
@pytest.mark.parametrize("shape", ["connection", "offset"])
def test_a_size_that_was_added_is_left_out_where_it_is_refused_in_any_words(shape, last, mark):
    """Yoga and Apollo Server hide the messages of resolvers, as of one that takes 60 at most."""

    def resolve(args: dict[str, Any]) -> Any:
        size = args.get("first", 20)
        if size > 60 or "last" in args:
            fail("Unexpected error.")
        return build_page(build_rows(137), args.get("after") or args.get("offset"), size)

    place = "after: String" if shape == "connection" else "offset: Int"
    info = "pageInfo: PageInfo!" if shape == "connection" else ""
    sdl = f"rows(first: Int, {place}{last}): Page{mark} type Page {{ nodes: [Row!]! {info} }}"
    result = fetch(sdl, resolve, "{ rows { nodes { id } } }")
    assert_whole(result, range(137))
    assert not result.errors


@pytest.mark.parametrize("status", [200, 400])
def test_a_size_that_was_added_is_left_out_of_a_request_that_is_refused(status):
    """A limit of the cost of a request, by a server that hides its messages."""
    sdl = "rows(first: Int, offset: Int): Page type Page { nodes: [Row!]! total: Int }"
    inside = build_client(sdl, lambda args: build_page(build_rows(137), args.get("offset"), 20))

    def reply(request: Any) -> Response:
        kind = {"content-type": "application/json"}
        if "first" in request.query:
            return Response(status, kind, b'{"errors": [{"message": "Bad request"}]}')
        data = inside.execute(request.query, request.variables).data
        return Response(200, kind, json.dumps({"data": data}).encode())

    client = Client(Wire(reply), schema=complete_sdl(sdl))
    assert_whole(client.execute_all("{ rows { nodes { id } } }"), range(137))


def test_a_refusal_without_a_number_is_said():
    """No row came, and the report says why."""
    client = build_vendure_client("Too many rows")
    with pytest.warns(UserWarning, match="Too many rows"):
        result = client.execute_all(f"{{ rows(options: {{take: 500}}) {ALL} }}")
    assert not result.report.complete


@pytest.mark.parametrize("count", [1350, 1000, 137])
def test_an_offset_is_sent_with_the_size_that_it_needs(count):
    """CAP 8 ignores `skip` without `top`, and returns 1,000 rows."""

    def resolve(args: dict[str, Any]) -> Any:
        top, skip = args.get("top"), args.get("skip") or 0
        return build_page(build_rows(count), 0 if top is None else skip, min(top or 1000, 1000))

    sdl = "rows(top: Int, skip: Int): Page type Page { totalCount: Int nodes: [Row] }"
    assert_whole(fetch(sdl, resolve, "{ rows { nodes { id } } }"), range(count))


@pytest.mark.parametrize("most", [30, 200])
@pytest.mark.parametrize("text", ["{ rows { id } }", "{ rows(where: { n_eq: 7 }) { id } }"])
def test_a_list_that_is_refused_without_a_size_is_given_one(text, most):
    """OpenReader 5.3 refuses what may be too long, where its responses are limited."""

    def resolve(args: dict[str, Any]) -> Any:
        if args.get("limit", 10**9) > most:
            fail("response might exceed the size limit")
        start = args.get("offset", 0)
        return build_rows(7 if args.get("where") else 437)[start : start + args["limit"]]

    sdl = "rows(where: Where, offset: Int, limit: Int): [Row!]! input Where { n_eq: Int }"
    client = build_client(sdl, resolve)
    for _ in range(2):
        assert_whole(client.execute_all(text), range(7 if "where" in text else 437))


@pytest.mark.parametrize("most", [137, 1000])
def test_an_offset_beside_a_default_size_proves_the_end(most):
    """In specstar 0.12 a list has all rows without `query`, and ten with it."""

    def resolve(args: dict[str, Any]) -> Any:
        query = args.get("query") or {"limit": most, "offset": 0}
        rows = [{"meta": {"key": f"{row}"}} for row in range(COUNT if most < 1000 else 137)]
        return rows[query["offset"] :][: query["limit"]]

    sdl = """rows(query: Search): [Row!]! type Row { meta: Meta! } type Meta { key: String! }
    input Search { limit: Int! = 10, offset: Int! = 0 }"""
    client = build_client(sdl, resolve)
    frame = client.frame("{ rows { meta { key } } }", pages="all")
    assert len(frame) == 137
    assert frame.attrs["completeness"].startswith("complete" if most == 1000 else "unknown")

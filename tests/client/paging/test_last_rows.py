"""Connections without a count: their last row must be among the rows, and cursors must differ."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import build_schema, print_ast

from gqlnb import Client, Limits, QueryError, serve
from tests.client.paging.lists import build_client, complete_sdl, fail, fetch, read_rows

SDL = """
people({arguments}): Connection! me: Me! type Me {{ people({arguments}): Connection! }}
type Connection {{ edges: [Edge!]! pageInfo: PageInfo! {count} }} type Row {{ id: ID! age: Int }}
"""
BOTH = "first: Int = 10, after: String, last: Int, before: String"
ROWS = [{"id": str(n), "age": n if n < 120 else None} for n in range(137)]
TEXT = "{ people { edges { node { age } } } }"


class People:
    """A connection in the order of `age`, and what was asked for.

    A cursor is the age of a row, as in join-monster 4.0 and strawberry-sqlalchemy-mapper 0.9, so
    that no row comes after one without an age.
    """

    def __init__(self, most: int = 1000, last: Any = None) -> None:
        self.most, self.last, self.asked = most, last, list[dict[str, Any]]()

    def resolve(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return a page, or the last rows."""
        self.asked.append(args)
        if args.get("last"):
            page = ROWS[-args["last"] :] if self.last is None else self.last()
            return self.build(page, has_more=False)
        after = args.get("after")
        rows = [
            row
            for number, row in enumerate(ROWS[: self.most])
            if after is None or (row["age"] is not None and number > int(after))
        ]
        page = rows[: args["first"]]
        return self.build(page, has_more=len(rows) > len(page))

    def build(self, page: list[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
        """Return a page as a connection."""
        end = str(page[-1]["age"]) if page else None
        info = {"hasNextPage": has_more, "endCursor": end}
        edges = [{"cursor": str(row["age"]), "node": row} for row in page]
        return {"edges": edges, "pageInfo": info, "totalCount": len(ROWS)}


def open_client(people: People, arguments: str = BOTH, count: str = "") -> Client:
    """Return a client of the connection."""
    resolvers = {"people": people.resolve, "me": lambda _: {}}
    of_me = {"people": lambda _root, args, _context: people.resolve(args)}
    return build_client(SDL.format(arguments=arguments, count=count), resolvers, {"Me": of_me})


@pytest.mark.parametrize("text", [TEXT, "{ me { people(first: 30) { edges { node { id } } } } }"])
@pytest.mark.parametrize("most", [50, 137])
def test_rows_behind_a_null_or_a_limit_are_missed(text, most):
    """The pages alone end as those of a whole list do."""
    with pytest.warns(UserWarning, match="may be incomplete"):
        result = open_client(People(most)).execute_all(text, progress=False)
    assert result.report.got == min(most, 120)
    assert not result.report.complete
    assert "`last: 1` brings a row" in str(result.report.doubts)
    assert "gqlnb" not in str(result.data)


def test_pages_are_judged_by_the_last_row_too():
    """Although their rows are not kept."""
    with pytest.warns(UserWarning, match="`last: 1` brings a row"):
        pages = [*open_client(People()).pages(TEXT, progress=False)]
    assert sum(len(page.data["people"]["edges"]) for page in pages) == 120


@pytest.mark.parametrize("text", [TEXT, "{ people { edges { mark: cursor node { id } } } }"])
@pytest.mark.parametrize(
    ("shared", "cursor", "is_complete"),
    [(3, None, False), (20, None, False), (1, None, True), (1, "page", True)],
)
def test_rows_that_share_a_cursor_may_be_missed(text, shared, cursor, is_complete):
    """The last of them are skipped where a page ends; join-monster 4.0 skips 11 of 1,350 rows.

    A cursor that all rows of a page share is not of a row, unless the page ends with it, as in
    typeorm-cursor-connection 0.5.2, where rows of a whole page have the value of the order.
    """
    rows = [{"id": str(n), "age": n // shared} for n in range(119)] + [{"id": "119", "age": 999}]

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        after = args.get("after")
        following = [row for row in rows if after is None or row["age"] > int(after)]
        page = following[-1:] if args.get("last") else following[:10]
        info = {"hasNextPage": page[-1] is not rows[-1], "endCursor": str(page[-1]["age"])}
        edges = [{"cursor": cursor or str(row["age"]), "node": row} for row in page]
        return {"edges": edges, "pageInfo": info}

    result = fetch(SDL.format(arguments=BOTH, count=""), resolve, text)
    assert (result.report.got == 120) == is_complete
    assert result.report.complete == is_complete, result.report.doubts
    assert is_complete or "have the same cursor" in str(result.report.doubts)
    assert "gqlnb" not in str(result.data)


@pytest.mark.parametrize("age", [119, 0])
def test_a_list_with_its_last_row_is_complete(age):
    """Also where `last` is not understood, and the row is another one that came."""
    people = People(120, last=lambda: [ROWS[age]])
    result = open_client(people).execute_all(TEXT, progress=False)
    assert result.report.complete, result.report.doubts
    assert result.report.got == 120
    assert [args["last"] for args in people.asked if "last" in args] == [1]


@pytest.mark.parametrize("error", [ValueError("no last"), QueryError("no last")])
def test_a_refused_last_row_costs_one_request(error):
    """The list is read without it."""

    def refuse() -> None:
        raise error

    people = People(120, last=refuse)
    result = open_client(people).execute_all(TEXT, progress=False)
    assert (result.report.got, result.report.complete, result.errors) == (120, True, ())
    assert sum("last" in args for args in people.asked) == 1


def test_an_endpoint_that_refuses_the_whole_query_is_asked_without_it():
    """Such as one that takes few aliases."""
    text = "{ people { edges { node { id years: age } } pageInfo { hasNextPage endCursor } } }"
    people = People(120)
    schema = open_client(people).schema
    with serve(schema, port=0, limits=Limits(aliases=1)) as server:
        result = Client(server.url).execute_all(text, progress=False)
    assert (result.report.got, result.report.complete) == (120, True), result.report.doubts
    assert not any("last" in args for args in people.asked)


@pytest.mark.filterwarnings("ignore:The result may be incomplete")
@pytest.mark.parametrize(
    ("arguments", "count", "text"),
    [
        (BOTH, "totalCount: Int!", TEXT),
        ("first: Int = 10, after: String", "", TEXT),
        (BOTH, "", '{ people(first: 10, before: "60") { edges { node { id } } } }'),
        (BOTH, "", "{ people(last: 10) { edges { node { id } } } }"),
    ],
)
def test_no_last_row_is_added_elsewhere(arguments, count, text):
    """Where a count proves more, and where the query or the schema leave no place for it."""
    people = People()
    open_client(people, arguments, count).execute_all(text, progress=False)
    assert all(args.get("last") in {None, 10} for args in people.asked)


@pytest.mark.parametrize("arguments", [BOTH, "first: Int = 10, after: String"])
@pytest.mark.parametrize(("step", "is_complete"), [(1, True), (20, False)])
def test_the_second_page_begins_with_the_row_after_its_cursor(step, is_complete, arguments):
    """Cursors of @pothos/plugin-drizzle 0.20 hold milliseconds and a key, columns microseconds.

    Newest first, they skip the rows that are left in the same millisecond: 5 of 1,350. So do those
    of kysely-cursor 0.1, which take no `last`: 96 of 1,350.
    """
    rows = [{"id": str(n), "age": 3 * n} for n in range(137)][::-1]

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        time, key = map(int, args["after"].split()) if args.get("after") else (1000, 0)
        following = [r for r in rows if (r["age"], int(r["id"])) < (time, key)]
        page = rows[-1:] if args.get("last") else following[: args["first"]]
        edges = [{"cursor": f"{r['age'] // step * step} {r['id']}", "node": r} for r in page]
        has_more = bool(page) and page[-1] is not rows[-1]
        info = {"hasNextPage": has_more, "endCursor": edges[-1]["cursor"] if edges else None}
        return {"edges": edges, "pageInfo": info}

    result = fetch(SDL.format(arguments=arguments, count=""), resolve, TEXT)
    ages = [row["age"] for row in read_rows(result)]
    assert (ages == [row["age"] for row in rows]) == is_complete
    assert result.report.complete == is_complete, result.report.doubts
    assert is_complete or "does not begin with the row" in str(result.report.doubts)


@pytest.mark.parametrize("text", [TEXT, "{ people { edges { node { id } } } }"])
def test_a_connection_that_fails_for_added_cursors_is_read_without_them(text):
    """As graphql-sequelize-generator 9.7 fails for each list with an alias in its rows."""
    people = People(120)
    sdl = SDL.format(arguments="first: Int = 10, after: String", count="")
    schema = build_schema(complete_sdl(sdl))

    def resolve(_root: object, info: Any, **args: Any) -> dict[str, Any]:
        for node in info.field_nodes[0].selection_set.selections:
            if "gqlnb_" in print_ast(node) and node.name.value == "edges":
                fail('column "gqlnb_cursor" does not exist')
        return people.resolve(args)

    schema.query_type.fields["people"].resolve = resolve
    result = Client(schema).execute_all(text, progress=False)
    assert (len(result.data["people"]["edges"]), result.errors) == (120, ())


@pytest.mark.parametrize("whole", [True, False])
def test_a_list_in_a_row_is_counted_with_its_second_page(whole):
    """Ponder 0.16 loses the rows after a null, and nothing but their count shows it."""
    counted = []
    rows = [row | {"age": row["age"] or 0} for row in ROWS] if whole else ROWS
    most = len([row for row in rows if row["age"] is not None])

    def resolve(team: dict[str, Any], args: dict[str, Any], _context: object) -> dict[str, Any]:
        start, total = int(args.get("after") or 0), team["total"]
        page = rows[start : min(start + args["limit"], total, most)]
        end = start + len(page)
        info = {"hasNextPage": end < min(total, most), "endCursor": str(end)}
        return {"nodes": page, "pageInfo": info, "total": total}

    def count(page: dict[str, Any], *_: object) -> int:
        counted.append(page["total"])
        return page["total"]

    sdl = """team(id: ID!): Team teams: [Team!]! type Row { id: ID! age: Int }
    type Team { id: ID! people(limit: Int = 20, after: String): People! }
    type People { nodes: [Row!]! pageInfo: PageInfo! totalCount: Int! }"""
    teams = [{"id": "0", "total": 7}, {"id": "1", "total": 137}]
    query = {"teams": lambda _: teams, "team": lambda args: teams[int(args["id"])]}
    types = {"Team": {"people": resolve}, "People": {"totalCount": count}}
    result = fetch(sdl, query, "{ teams { people { nodes { age } } } }", types)
    assert [len(team["people"]["nodes"]) for team in result.data["teams"]] == [7, most]
    assert result.report.complete == whole
    assert counted == [137]
    assert "totalCount" not in str(result.data)

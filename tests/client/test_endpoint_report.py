"""The report of an endpoint, against schemas whose behaviour is written here."""

from __future__ import annotations

import json
import re
import time
import tomllib
from typing import Any

import pytest
from graphql import build_schema

import gqlnb
from gqlnb import Access, Client, OptionError, Schema, TransportError, config, serve
from gqlnb.cli.main import main
from gqlnb.client import connections
from gqlnb.client.endpoint_report.describe import choose_lists, name_form
from gqlnb.client.endpoint_report.protocol import load_members, read_parts
from gqlnb.client.endpoint_report.report import Meter, RequestLimitError
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.http.messages import Response
from tests.client.paging.lists import build_client, build_page, build_rows, fail
from tests.named_connections import forget_connection

SDL = """
scalar Date
scalar BigInt
type Star { id: ID!, born: Date, weight: BigInt }
type Stars { rows: [Star!]!, total: Int! }
type Query {
  cut(take: Int, skip: Int): Stars!
  strict(limit: Int = 10, offset: Int = 0): [Star!]!
  all: [Star!]!
  find(name: String!): [Star!]!
}
type Mutation { remove: Boolean }
type Subscription { tick: Int }
"""
STARS = [
    {"id": str(n), "born": None if n % 7 == 0 else "1999-12-31", "weight": 2**60 + n}
    for n in range(230)
]


def get_cut(_root: Any, args: Any, _context: Any) -> Any:
    """Return at most 100 rows silently, with the count of all."""
    start, size = args.get("skip") or 0, args.get("take")
    return {"rows": STARS[start : start + min(20 if size is None else size, 100)], "total": 230}


def get_strict(_root: Any, args: Any, _context: Any) -> Any:
    """Refuse more than 50 rows."""
    if args["limit"] > 50:
        msg = "limit may be at most 50"
        raise ValueError(msg)
    return STARS[args["offset"] :][: args["limit"]]


RESOLVERS = {
    "Query": {"cut": get_cut, "strict": get_strict, "all": lambda *_: STARS[:13]},
    "Mutation": {"remove": lambda *_: pytest.fail("a report sends only queries")},
}


@pytest.fixture
def server():
    """Yield a server of the schema."""
    with serve(Schema(SDL, RESOLVERS), port=0) as made:
        yield made


@pytest.fixture
def client(server):
    """Yield a client of it."""
    with Client(server.url) as made:
        yield made


def describe(sdl: str, resolve: Any, names: Any = None) -> Any:
    """Return the report of lists of stars, without the names of an SDL's usual types."""
    return build_client(f"{sdl} type Star {{ id: ID! }}", resolve).describe(names)


@pytest.mark.parametrize(
    ("subject", "finding"),
    [
        ("cut: default page", "20 rows"),
        ("cut: two readings", "agree"),
        ("cut: `skip`", "offset"),
        ("cut: `take`", "size"),
        ("cut: largest page", "100 rows"),
        ("cut: above it", "cut silently"),
        ("cut: count", "`total`: 230, agrees"),
        ("cut: size 0", "0 rows"),
        ("cut: `skip` beyond the end", "no rows"),
        ("strict: default page", "10 rows"),
        ("strict: largest page", "50 rows"),
        ("strict: above it", "refused"),
        ("strict: count", "none"),
        ("all: arguments", "none that pages"),
        ("BigInt", "integer above 2**53 (20)"),
        ("BigInt: dtype", "Int64"),
        ("Date", "null (3), date (17)"),
        ("Date: variable", "not tried"),
        ("queries", "4"),
        ("mutations", "1"),
        ("introspection", "whole"),
        ("GET", "refused, HTTP 405"),
        ("syntax error", "HTTP 400, errors"),
        ("arrays of requests", "refused, HTTP 400"),
        ("WebSocket", "graphql-transport-ws"),
        ("server-sent events", "offered"),
        ("@defer", "not declared"),
        ("@stream", "not declared"),
        ("cut: page_size=100", "fewer requests than with pages of 20"),
    ],
)
def test_lines(subject, finding, reports):
    """Each finding is that of the resolvers, and of the server."""
    assert reports[subject].finding == finding
    assert reports[subject].evidence


@pytest.fixture(scope="module")
def reports():
    """Return the lines of one report, by subject."""
    with serve(Schema(SDL, RESOLVERS), port=0) as made, Client(made.url) as client:
        report = client.describe()
        assert report.requests <= 60
    return {line.subject: line for line in report}


def test_a_dry_run_sends_nothing(server, client):
    """It tells the most requests, and there are no more."""
    plan = client.describe(dry_run=True)
    assert len(server.log) == 0
    assert "at most 60 requests" in repr(plan)
    assert {line.section for line in plan} == {"protocol", "schema", "lists", "scalars"}


def test_the_number_of_requests_is_bounded(server, client):
    """What was not examined for want of requests is not tried."""
    report = client.describe(max_requests=20)
    assert 18 <= report.requests <= 20
    assert any(line.finding == "not tried" and "requests" in line.evidence for line in report)


def test_named_lists_are_examined(client):
    """With arguments, too; another name is an error before any list is examined."""
    report = client.describe(["all", 'find(name: "a")'], max_requests=40)
    assert report.find("all: default page").finding == "13 rows"
    assert report.find("find: rows").finding == "not tried"
    with pytest.raises(OptionError, match=r"'cot'.*Did you mean 'cut'"):
        client.describe(["cot"])
    with pytest.raises(OptionError, match=r"find\(name: 5\).*String cannot represent"):
        client.describe(["find(name: 5)"])


def test_refused_introspection_is_reported():
    """Nothing is known of the schema then, and the protocol is examined all the same."""
    hidden = Access(introspection=False)
    with serve(Schema(SDL, RESOLVERS), port=0, access=hidden) as server:
        report = Client(server.url).describe()
        assert report.find("introspection").finding == "refused"
        assert report.find("schema=FILE").section == "advice"
        given = Client(server.url, schema=SDL).describe()
    assert report.find("syntax error").finding == "HTTP 400, errors"
    assert report.find("@stream").finding == "not tried"
    assert given.find("cut: `skip`").finding == "offset"


def test_a_schema_of_this_process_has_no_protocol():
    """Its lists are examined, which takes less than a second."""
    report = Client(Schema(SDL, RESOLVERS)).describe()
    assert report.find("HTTP").finding == "not tried"
    assert report.find("cut: `skip`").finding == "offset"
    assert report.seconds < 5


def test_a_report_is_shown_as_table_text_and_json(client):
    """All of them have all lines."""
    report = client.describe(["all"])
    frame = report.frame()
    assert list(frame.columns) == ["section", "subject", "finding", "evidence"]
    assert len(frame) == len(report) == len(report.to_dict()["lines"])
    for line in report:
        assert line.subject in repr(report)
    assert report._repr_html_().count("<tr>") >= len(report)
    assert "&#x27;" in report._repr_html_() or "<script" not in report._repr_html_()
    assert json.loads(json.dumps(report.to_dict()))["requests"] == report.requests


def test_requests_to_other_machines_are_spaced():
    """Two a second; the clock is that of the machine."""
    meter, begun = Meter(3, interval=0.1), time.monotonic()
    for _ in range(3):
        meter.measure(lambda: Response(200))
    assert time.monotonic() - begun >= 0.2
    with pytest.raises(RequestLimitError):
        meter.count()


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("2024-02-29", "date"),
        ("2024-02-29T10:00:00", "timestamp without a zone"),
        ("2024-02-29T10:00:00.5+02:00", "timestamp with a zone"),
        ("10:30:00", "time"),
        ("9007199254740993", "whole number as text"),
        ("-1.50", "decimal as text"),
        (2**53, "integer"),
        (2**53 + 1, "integer above 2**53"),
        (1.5, "number"),
        (True, "boolean"),
        ({"a": 1}, "object"),
        (["a"], "list"),
        ("P1DT2H", "duration"),
        ("P", "text"),
        (None, "null"),
    ],
)
def test_forms_of_values(value, form):
    """Text is told by its form."""
    assert name_form(value) == form


@pytest.fixture
def kept(tmp_path, server, monkeypatch):
    """Yield the settings file with a connection to the server."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    connections.save_connection("sky", server.url, None, {})
    yield config.get_user_file()
    forget_connection("sky")


def test_kept_roles_spare_the_experiments(server, kept):
    """A later client takes the roles and the largest page from the settings of the connection."""
    text = "{ cut { total rows { id } } }"
    before = gqlnb.connect("sky").execute_all(text)
    gqlnb.connect("sky").describe(["cut"], keep=True)
    assert tomllib.loads(kept.read_text())["connections"]["sky"]["lists"]["Query.cut"] == {
        "arguments": {
            "kind": "offset",
            "position": ["skip"],
            "position_type": "Int",
            "size": ["take"],
            "default_position": 0,
            "found_size": 40,
            "quoted": [],
            "is_number": True,
        },
        "largest": 100,
    }
    connections.close_client("sky")
    count = len(server.log)
    after = gqlnb.connect("sky").execute_all(text)
    assert after.data == before.data
    assert after.report.complete
    assert after.report.requests < before.report.requests
    assert len(server.log) - count <= after.report.requests + 1  # and the schema


def test_a_second_report_replaces_what_was_kept(kept):
    """The rest of the file stays as it is."""
    kept.write_text(f"# mine\n{kept.read_text()}\n[connections.other]\nurl = 'http://other/'\n")
    gqlnb.connect("sky").describe(["cut"], keep=True)
    once = kept.read_text()
    gqlnb.connect("sky").describe(["cut"], keep=True)
    assert kept.read_text() == once
    assert once.startswith("# mine\n")
    assert tomllib.loads(once)["connections"]["other"] == {"url": "http://other/"}


def test_nothing_is_kept_for_an_address(server, client):
    """There is no place for it, which is said before anything is sent."""
    with pytest.raises(OptionError, match="not a connection of a settings file"):
        client.describe(["all"], keep=True)
    assert len(server.log) == 0


@pytest.mark.parametrize(
    ("table", "reason"),
    [("'Query.cut' = 1", "Expected `object`"), ("cut = { largest = 5 }", "not a type and a field")],
)
def test_invalid_lists_are_named(kept, table, reason):
    """As any other mistake in a settings file."""
    kept.write_text(f"{kept.read_text()}\n[connections.sky.lists]\n{table}\n")
    with pytest.raises(gqlnb.TargetError, match=reason):
        gqlnb.connect("sky")


def test_the_command_prints_the_report(server, capsys):
    """As text and as JSON; a list that does not exist is an error."""
    assert main(["endpoint", server.url, "--list", "cut"]) == 0
    assert "cut silently" in capsys.readouterr().out
    assert main(["endpoint", "-c", server.url, "--list", "all", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"section", "subject", "finding", "evidence"} == set(report["lines"][0])
    assert main(["endpoint", server.url, "--dry-run"]) == 0
    assert "at most 60 requests" in capsys.readouterr().out
    assert main(["endpoint", server.url, "--list", "cot"]) == 2
    assert "--list 'cot'" in (error := capsys.readouterr().err)
    assert "Did you mean 'cut'?" in error
    assert main(["endpoint", server.url, "-c", server.url]) == 2
    assert "Name the endpoint once" in capsys.readouterr().err


def test_what_names_suggest_is_not_tried():
    """With no rows to try, an argument that is named like a cursor is not called one."""
    sdl = """stars(first: Int, after: String): Stars!
    type Stars { nodes: [Star!]! pageInfo: PageInfo! totalCount: Int! }"""
    page = {"nodes": [], "pageInfo": {"hasNextPage": False}, "totalCount": 0}
    assert describe(sdl, lambda _: page).find("lists without rows").evidence == "stars"
    report = describe(sdl, lambda _: page, ["stars"])
    assert report.find("stars: `after`").finding == "not tried"
    assert report.find("stars: `first`").evidence.startswith("named like a size")


@pytest.mark.parametrize(("count", "line"), [(137, "`total`: 137, agrees"), (None, "none")])
def test_a_count_may_come_with_a_size_only(count, line):
    """As from graphql-sequelize 9.5; one that is always null is named."""

    def get(_root: Any, args: Any, _context: Any) -> Any:
        start, size = args.get("skip") or 0, args.get("take")
        rows = STARS[:137][start:][:size]
        return {"rows": rows, "total": None if size is None else count}

    sdl = SDL.replace("total: Int!", "total: Int")
    report = Client(Schema(sdl, {"Query": {"cut": get}})).describe(["cut"])
    found = report.find("cut: count")
    assert found.finding == line
    assert (found.evidence == "`total` is null") == (count is None)


def test_a_list_without_rows_is_called_empty():
    """It is whole, and nothing counts more."""
    report = describe("stars(take: Int, skip: Int): [Star!]!", lambda _: [], ["stars"])
    line = report.find("stars: paging")
    assert line.finding == "the first page is whole"
    assert line.evidence == "the list is empty; no request"


def test_empty_lists_in_rows_are_not_said_to_lack_a_size():
    """As the aliases of addresses in Balboa 2.0, which take a limit."""
    sdl = "stars: [Star!]! type Star { id: ID! near(limit: Int = 9): [Star!]! }"
    client = build_client(sdl, lambda _: build_rows(2), {"Star": {"near": lambda *_: []}})
    line = client.describe(["stars"]).find("stars: near, in each row")
    assert line.finding == "not tried"
    assert line.evidence == "the longest of the page has 0 items"


def test_a_size_is_given_where_one_is_needed():
    """As GitHub's connections refuse a query without it."""

    def get(args: Any) -> Any:
        return STARS[: args["first"]] if "first" in args else fail("You must provide `first`.")

    report = describe("stars(first: Int): [Star!]!", get)
    assert report.find("stars: without a size").finding == "refused"
    assert report.find("stars: default page").evidence == "asked first: 10"
    assert report.find("stars: `first`").finding == "size"


@pytest.mark.parametrize("size", ["limit", "first"])
def test_cursors_are_followed_whatever_the_size_is_called(size):
    """DataJunction 0.0.272 has `limit` beside `after`; strawberry-django refuses what it sent."""
    sdl = f"""stars({size}: Int, after: String): Stars! type Edge {{ node: Star! }}
    type Stars {{ edges: [Edge!]! pageInfo: PageInfo! totalCount: Int! }}"""

    def get(args: Any) -> Any:
        if (args.get(size) or 0) > 40:
            fail("at most 40")
        return build_page(STARS, args.get("after"), args.get(size) or 100)

    report = describe(sdl, get)
    assert report.find("stars: default page").finding == "100 rows"
    assert "at most 40" in report.find("stars: `after`").evidence or size == "limit"
    assert report.find("stars: count").finding.startswith("`totalCount`: 230")


def test_a_scalar_is_reported_beside_the_errors_of_other_fields():
    """Strawchemy 0.24 has durations that are JSON in a text, and integers beyond 32 bits."""
    sdl = """stars(since: Date): [Star!]!
    type Star { id: ID! born: Date big: Int span: Interval }
    scalar Date scalar Interval @specifiedBy(url: "https://tools.ietf.org/html/rfc3339")"""
    rows = [{"id": "1", "born": "1999-12-31", "big": 2**40, "span": '"PT1S"'}]
    report = build_client(sdl, lambda _: rows).describe()
    assert report.find("Date: variable").finding == 'takes "1999-12-31"'
    assert report.find("Interval: dtype").finding == "object"


@pytest.mark.parametrize(
    ("box", "lists"),
    [
        ("box(kind: String)", None),
        ("box(kind: String!)", ['box(kind: "a. }") { stars }']),
        ("box(kind: String!)", ['{ box(kind: "a. }") { stars { id } } }']),
    ],
)
def test_a_list_in_an_object_has_its_own_arguments(box, lists):
    """They are written on the list, and a count beside it is compared."""
    sdl = f"""{box}: Box! type Star {{ id: ID! }}
    type Box {{ stars(limit: Int = 10, offset: Int = 0): [Star!]! total: Int! }}"""

    def get(_root: Any, args: Any, _context: Any) -> Any:
        return STARS[args["offset"] :][: min(args["limit"], 50)]

    client = build_client(sdl, lambda _: {"total": len(STARS)}, {"Box": {"stars": get}})
    report = client.describe(lists)
    assert report.find("box.stars: `limit`").finding == "size"
    assert report.find("box.stars: largest page").finding == "50 rows"
    assert report.find("box.stars: count").finding == f"`total`: {len(STARS)}, agrees"
    assert report.lists["Box.stars"].arguments.position == ("offset",)
    assert report.find("harvest").finding == "not needed for box.stars"


def test_a_harvest_is_advised_where_the_last_rows_do_not_come():
    """As of a search that counts all matches, and returns the first ones."""
    sdl = "find(limit: Int = 10, offset: Int = 0): Page! type Page { rows: [Star!]! total: Int! }"

    def find(args: Any) -> Any:
        return {"rows": STARS[:40][args["offset"] :][: min(args["limit"], 15)], "total": len(STARS)}

    report = describe(sdl, find)
    assert "the list has a cap" in report.find("find: count").evidence
    assert report.find("find: harvest()").finding == "may fetch more than its pages"


def test_an_address_without_a_server_is_an_error():
    """And no report of refusals."""
    with pytest.raises(TransportError, match="Nothing listens"):
        Client("http://127.0.0.1:9/graphql").describe()


def test_the_members_of_filters_are_tried_last():
    """A filter of OpenReader 5.3 has thousands, some with names like those of sizes."""
    asked = []

    def resolve(args: Any) -> Any:
        asked.append(args)
        return [] if args.get("where") else STARS[args.get("offset") or 0 :][: args.get("limit")]

    sdl = """stars(where: Where, offset: Int, limit: Int): [Star!]!
    input Where { near: Where, num_eq: Int, num_gt: Int, count_eq: Int }"""
    report = describe(sdl, resolve, ["stars"])
    assert report.find("stars: `limit`").finding == "size"
    assert report.find("stars: `offset`").finding == "offset"
    assert not [args for args in asked if args.get("where")]


def test_the_cursor_of_a_page_of_items_is_tried():
    """Ponder 0.16 has `items`, and page info as connections do."""
    report = describe(
        "stars(after: String, limit: Int): Page! type Page { items: [Star!]! pageInfo: PageInfo! }",
        lambda args: build_page(STARS, args.get("after"), args.get("limit") or 50),
        ["stars"],
    )
    assert report.find("stars: `after`").finding == "cursor"


def test_look_ups_are_no_lists():
    """Relay's `nodes` needs identifiers; that of Graphinate 0.17 is the nodes of a graph."""
    types = """
    interface Node { id: ID! } type Star implements Node { id: ID! } union _Entity = Star
    scalar _Any type _Service { sdl: String } type Query {
      node(id: ID!): Node _entities(representations: [_Any!]!): [_Entity]! _service: _Service!
    """
    relay = build_schema(types + "nodes(ids: [ID!]!): [Node]! }")
    assert choose_lists(relay, None) == []
    graph = build_schema(types + "nodes(nodeId: ID): [Node!]! }")
    assert [query.name for query in choose_lists(graph, ["nodes"])] == ["nodes"]


def test_page_info_in_snake_case_is_read():
    """As of db-graphql-gateway 0.3 and other servers in Python; at most 20 rows come at once."""

    def resolve(args: Any) -> Any:
        start, size = int(args.get("after") or 0), min(args.get("first") or 20, 20)
        rows = STARS[start : start + size]
        info = {"has_next_page": start + size < len(STARS), "end_cursor": str(start + len(rows))}
        return {"edges": [{"node": row} for row in rows], "page_info": info}

    sdl = """stars(after: String, first: Int): Page! type Edge { node: Star! }
    type Page { edges: [Edge!]! page_info: Info! }
    type Info { has_next_page: Boolean! end_cursor: String }"""
    report = describe(sdl, resolve, ["stars"])
    assert report.find("stars: `after`").finding == "cursor"
    assert report.find("stars: largest page").finding == "20 rows"
    assert report.find("stars: above it").finding == "cut silently"


def test_the_offset_of_a_page_of_nodes_is_tried():
    """As in Gatsby 5, which has a count beside them."""
    sdl = """stars(skip: Int! = 0, limit: Int): Page! type PageInfo { hasNextPage: Boolean! }
    type Page { nodes: [Star!]! totalCount: Int! pageInfo: PageInfo! }"""
    report = describe(
        sdl, lambda args: build_page(STARS, args["skip"], args.get("limit") or 230), ["stars"]
    )
    assert report.find("stars: `skip`").finding == "offset"
    assert report.find("stars: `limit`").finding == "size"


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("name", ["page", "place"])
@pytest.mark.parametrize("text", ["stars", "stars({}: {})"])
@pytest.mark.parametrize(
    ("most", "largest", "above", "count"),
    [
        (1000, "at least 137 rows", None, "`pagination.total`: 137, agrees"),
        (100, "100 rows", "cut silently", "`pagination.total`: 137"),
    ],
)
def test_the_rows_behind_a_page_are_not_its_own(base, name, text, most, largest, above, count):
    """Grapple 0.31 has the last page behind it, too; django-graphbox 1.5 requires a page."""

    def resolve(args: Any) -> Any:
        size = min(args.get("perPage") or 10, most)
        start = min(args.get(name, base) - base, 136 // size) * size
        return {"items": STARS[start : min(start + size, 137)], "pagination": {"total": 137}}

    sdl = """stars(%s: Int, perPage: Int): Page! type Pagination { total: Int! }
    type Page { items: [Star!]! pagination: Pagination! }"""
    report = describe(sdl % name, resolve, [text.format(name, base)])
    findings = {line.subject.removeprefix("stars: "): line.finding for line in report.lines}
    assert findings[f"`{name}`"] == "page"
    assert findings["largest page"] == largest
    assert findings.get("above it") == above
    assert findings["count"] == count


DIRECTIVES = """
directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD
"""


@pytest.mark.parametrize(
    ("field", "finding"),
    [
        ("all: [Star!]!", "in parts, multipart/mixed" if IS_GRAPHQL_33 else "in one answer"),
        ("find(name: String!): [Star!]!", "not tried"),
    ],
)
def test_declared_directives_are_tried(field, finding):
    """By one query each, of a list that needs no argument."""
    sdl = f"{DIRECTIVES} type Query {{ {field} }} type Star {{ id: ID! }}"
    schema = Schema(sdl, {"Query": {re.split(r"\W", field)[0]: lambda *_: STARS[:13]}})
    # Where introspection is refused, the schema is the given one, with the directives.
    with serve(schema, port=0, access=Access(introspection=False)) as server:
        report = Client(server.url, schema=sdl).describe()
    assert report.find("@stream").finding == finding
    assert report.find("@defer").finding.startswith("in ")


def test_the_arguments_may_be_those_of_a_field_around_the_page():
    """The page is in a further object, and the arguments are written on the outer field."""
    sdl = """stars(page: Int, perPage: Int): Answer! type Answer { id: ID result: Page! }
    type Page { rows: [Star!]! total: Int! }"""

    def get(args: Any) -> Any:
        size = min(args.get("perPage") or 20, 50)
        start = ((args.get("page") or 1) - 1) * size
        return {"result": {"rows": STARS[start:][:size], "total": len(STARS)}}

    report = describe(sdl, get)
    assert report.find("stars.result: `page`").finding == "page"
    assert report.find("stars.result: largest page").finding == "50 rows"
    assert report.lists["Query.stars"].holder == ("result",)


MULTIPART = {"content-type": 'multipart/mixed; boundary="-"'}


PART = b"\r\n---\r\ncontent-type: application/json\r\n\r\n"


@pytest.mark.parametrize(
    ("response", "finding"),
    [
        (
            Response(200, MULTIPART, PART + b'{"data":{},"hasNext": true}' + PART + b"{}"),
            "in parts, multipart/mixed",
        ),
        (Response(200, MULTIPART, PART + b'{"data":{"a":1},"hasNext":false}'), "in one answer"),
        (Response(200, {}, b'{"data": {"a": 1}}'), "in one answer"),
        (Response(200, MULTIPART, PART + b'{"errors":[{}],"hasNext":false}'), "refused, HTTP 200"),
        (Response(400, {}, b'{"errors": [{}]}'), "refused, HTTP 400"),
        (Response(500, {}, b"Oh."), "refused, HTTP 500"),
    ],
)
def test_answers_in_parts(response, finding):
    """One that comes as multipart is in parts only if it says that more follow."""
    assert read_parts(response, load_members(response)) == finding

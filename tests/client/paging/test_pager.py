"""Paging of correct and faulty endpoints: it ends, and keeps the items that came."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Access, Client, OptionError, QueryError, Schema, serve
from gqlnb.client.transports import InProcessTransport
from gqlnb.http.messages import Response
from gqlnb.result.paging_report import Report
from tests.client.paging.lists import assert_whole, build_rows, fail, fetch

if TYPE_CHECKING:
    from collections.abc import Callable


FORWARD = "(first: Int, after: String)"
SDL = f"""
interface Node {{ id: ID! }}
type PageInfo {{
  hasNextPage: Boolean! endCursor: String hasPreviousPage: Boolean! startCursor: String
}}
type Query {{
  node(id: ID!): Node items(first: Int, after: String, last: Int, before: String): Items!
  loose{FORWARD}: Loose! me: Item all: [Item!]! plain: String
}}
type Mutation {{ items{FORWARD}: Items! }} type Subscription {{ items{FORWARD}: Items! }}
type Item implements Node {{ id: ID! name: String parts{FORWARD}: Parts secret: String }}
type Items {{ nodes: [Item] edges: [ItemEdge] pageInfo: PageInfo! totalCount: Int! }}
type ItemEdge {{ cursor: String! node: Item role: String }}
type Part implements Node {{ id: ID! name: String }}
type Parts {{ nodes: [Part] edges: [PartEdge] pageInfo: PageInfo! totalCount: Int! }}
type PartEdge {{ cursor: String! node: Part }}
type Tag {{ name: String parts{FORWARD}: Parts }}
type Loose {{ edges: [TagEdge] pageInfo: PageInfo! }} type TagEdge {{ cursor: String! node: Tag }}
"""
ITEMS = "{ items(first: 10) { totalCount nodes { name } } }"
NESTED = "{ items(first: 4) { nodes { name parts(first: 3) { nodes { name } } } } }"
PARTS = 8


def item(number: int) -> dict[str, Any]:
    """Return one of the items."""
    return {"id": f"i{number}", "name": f"item {number}", "number": number, "type": "Item"}


def part(owner: str, number: int) -> dict[str, Any]:
    """Return a part of an item."""
    return {"id": f"{owner}.{number}", "name": f"{owner}.{number}", "type": "Part"}


def page(rows: list[Any], args: dict[str, Any]) -> dict[str, Any]:
    """Return a correct page."""
    start = int(args.get("after") or 0)
    end = min(start + (args.get("first") or 100), len(rows))
    low, high = start, end
    if args.get("last"):
        high = int(args.get("before") or len(rows) + 1) - 1
        low = max(0, high - args["last"])
    part_ = rows[low:high]
    return {
        "nodes": part_,
        "edges": [{"cursor": str(low + i + 1), "node": row} for i, row in enumerate(part_)],
        "totalCount": len(rows),
        "pageInfo": {
            "hasNextPage": high < len(rows),
            "endCursor": str(high),
            "hasPreviousPage": low > 0,
            "startCursor": str(low + 1),
        },
    }


class World:
    """A schema of 25 items with eight parts each, whose pages of items can be made faulty."""

    def __init__(self, count: int = 25) -> None:
        self.items = [item(number) for number in range(count)]
        self.asked: list[dict[str, Any]] = []
        self.fault: Callable[[dict[str, Any], int], dict[str, Any]] | None = None
        parts = {"parts": lambda root, args, _: page(self.parts(root["id"]), args)}
        kinds = {"__resolveType": lambda value, _: value["type"]}
        query = {
            "items": self.page,
            "node": self.node,
            "me": lambda *_: self.items[3],
            "all": lambda *_: self.items[:3],
            "plain": lambda *_: "text",
            "loose": lambda _, args, __: page(self.items[:6], args),
        }
        self.schema = Schema(SDL, {"Query": query, "Node": kinds, "Item": parts, "Tag": parts})

    def parts(self, owner: str) -> list[Any]:
        """Return the parts of an item."""
        return [part(owner, number) for number in range(PARTS)]

    def node(self, _: Any, args: dict[str, Any], __: Any) -> Any:
        """Return an object by its identifier."""
        owner, _, number = args["id"].partition(".")
        return self.items[int(owner[1:])] if not number else part(owner, int(number))

    def page(self, _: Any, args: dict[str, Any], __: Any) -> dict[str, Any]:
        """Return a page of the items, correct or faulty."""
        self.asked.append(args)
        made = page(self.items, args)
        if self.fault is not None:
            made = {**made, **self.fault(made, len(self.asked))}
        return made

    def client(self, wire: Callable[[Any, int], Response | None] | None = None) -> Any:
        """Return a client; `wire` may answer a request instead of the schema."""
        return Client(Wire(self.schema, wire))

    def answer_beside(self, request: Any, error: dict[str, Any], **headers: str) -> Response:
        """Return the answer to a request, beside an error."""
        data = self.schema.execute(request.query, dict(request.variables or {})).data
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Response(200, named, members={"data": data, "errors": [error]})

    def names(self, result: Any) -> list[str]:
        """Return the names of the items of a result."""
        return [each["name"] for each in result.data["items"]["nodes"]]


class Wire(InProcessTransport):
    """Executes in this process, unless a test answers first."""

    def __init__(self, schema: Schema, wire: Callable[[Any, int], Response | None] | None) -> None:
        super().__init__(schema)
        self.wire = wire
        self.requests: list[Any] = []

    def send(self, request: Any) -> Response:
        """Answer a request."""
        self.requests.append(request)
        made = self.wire(request, len(self.requests)) if self.wire is not None else None
        return made if made is not None else super().send(request)


@pytest.fixture
def world():
    """Return a world with correct pages."""
    return World()


ALL = [f"item {number}" for number in range(25)]


# -- results


def test_added_fields_are_hidden(world):
    """Data, frames and reprs have only the fields of the query."""
    result = world.client().execute_all(NESTED, follow="all")
    assert set(result.data["items"]) == {"nodes"}
    assert set(result.data["items"]["nodes"][0]) == {"name", "parts"}
    assert set(result.data["items"]["nodes"][0]["parts"]) == {"nodes"}
    shown = f"{result!r}{result._repr_mimebundle_()}{result.frames!r}{result.frame('items')}"
    assert "gqlnb" not in shown.replace('class="gqlnb', "")
    assert "pageInfo" not in shown


def test_the_report_is_in_the_repr_and_in_the_frame(world):
    """The last line of the repr has it as text, `attrs` as JSON values."""
    client = world.client()
    assert repr(client.execute_all(ITEMS, follow="all")).endswith(
        "Pages: 25 of 25 items in 3 requests"
    )
    frame = client.frame(ITEMS, pages="all")
    assert len(frame) == 25
    assert frame.attrs["report"]["requests"] == 3


def test_connections_in_a_plain_list_are_followed(world):
    """A plain list around connections does not prevent their paging."""
    result = world.client().execute_all(
        "{ all { parts(first: 3) { nodes { name } } } }", follow="all"
    )
    assert [len(row["parts"]["nodes"]) for row in result.data["all"]] == [PARTS] * 3
    assert result.report.requests == 3


@pytest.mark.parametrize("name", ["endCursor", "cursor", "after"])
def test_a_cursor_variable_of_the_query_is_the_start(world, name):
    """Paging starts at the cursor that the query takes as a variable."""
    text = (
        f"query ($n: Int!, ${name}: String) {{ items(first: $n, after: ${name}) {{"
        " totalCount pageInfo { hasNextPage endCursor } nodes { name } } }"
    )
    client = world.client()
    assert world.names(client.execute_all(text, {"n": 10}, follow="all")) == ALL
    result = client.execute_all(text, {"n": 10, name: "20"}, follow="all")
    assert world.names(result) == ALL[20:]
    assert result.report.complete
    assert result.data["items"]["pageInfo"] == {"hasNextPage": False, "endCursor": "25"}


def test_a_page_size_is_added_if_the_query_has_none(world):
    """A hundred items by default, else `page_size`."""
    client = world.client()
    client.execute_all("{ items { nodes { name } } }", follow="all")
    client.execute_all("{ items { nodes { name } } }", page_size=9, follow="all")
    assert [args["first"] for args in world.asked] == [100, 9, 9, 9]


@pytest.mark.parametrize("size", [0, -4])
def test_an_invalid_page_size_is_sent_unchanged(world, size):
    """The endpoint answers a negative size itself."""
    world.client().execute_all(f"{{ items(first: {size}) {{ nodes {{ name }} }} }}", follow="all")
    assert [args["first"] for args in world.asked] == [size]


def test_leaving_the_iterator_sends_no_request(world):
    """Breaking out of the loop causes no further request."""
    for _ in world.client().pages(ITEMS, follow="all"):
        break
    assert len(world.asked) == 1


def test_a_query_without_connections_is_one_page(world):
    """The report states that the query has no list to page."""
    result = world.client().execute_all("{ plain }", follow="all")
    assert result.data == {"plain": "text"}
    assert result.report.notes == ("The query has no list with pages.",)
    assert str(result.report) == "nothing to page, 1 request"


def test_a_path_selects_the_list_to_follow(world):
    """Only that connection is followed, with those around and in it."""
    text = (
        "{ items(first: 10) { nodes { name } } me { parts(first: 3) { nodes { name } } }"
        " other: items(first: 2) { nodes { name parts(first: 3) { nodes { name } } } } }"
    )
    result = world.client().execute_all(text, path="me.parts", follow="all")
    assert len(result.data["me"]["parts"]["nodes"]) == PARTS
    assert len(result.data["items"]["nodes"]) == 10
    assert len(result.data["other"]["nodes"]) == 2
    with pytest.raises(QueryError, match=r"The query has: items, me\.parts, other, other\.parts\."):
        world.client().execute_all(text, path="nowhere", follow="all")


def test_results_and_requests_are_capped(world):
    """`max_results` requests no more items than needed; paging can resume after `max_requests`."""
    client = world.client()
    few = client.execute_all(ITEMS, max_results=12, follow="all")
    assert world.names(few) == ALL[:12]
    assert [args["first"] for args in world.asked] == [10, 2]
    assert few.report.ended == "max_results"
    some = client.execute_all(ITEMS, max_requests=2, follow="all")
    assert world.names(some) == ALL[:20]
    assert some.report.ended == "max_requests"
    assert some.report.cursors == {"items": "20"}
    assert world.names(client.resume(some)) == ALL


def test_progress_is_called_for_each_answer(world):
    """With items so far, items expected, and the number of requests."""
    heard: list[tuple[int, int | None, int]] = []
    world.client().execute_all(ITEMS, progress=lambda *args: heard.append(args[:3]), follow="all")
    assert heard == [(10, 25, 1), (20, 25, 2), (25, 25, 3)]


# -- refusals


@pytest.mark.parametrize("kind", ["mutation", "subscription"])
def test_only_queries_are_paged(world, kind):
    """A mutation is never sent twice."""
    with pytest.raises(QueryError, match=f"Only queries are paged; this is a {kind}"):
        world.client().execute_all(
            f"{kind} {{ items(first: 3) {{ nodes {{ name }} }} }}", follow="all"
        )
    assert world.asked == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"page_size": 0}, "page_size= takes a whole number above 0"),
        ({"max_requests": True}, "max_requests= takes a whole number above 0"),
        (
            {"max_result": 5},
            r"execute_all\(\) has no argument max_result=. Did you mean max_results=\?",
        ),
        ({"path": 5}, "path= takes the dotted name of a list"),
        ({"progress": 5}, "progress= takes"),
    ],
)
def test_invalid_options_raise(world, options, said):
    """Before any request is sent."""
    with pytest.raises(OptionError, match=said):
        world.client().execute_all(ITEMS, **options, follow="all")
    assert world.asked == []


# -- badly behaved endpoints


def shifted(args: dict[str, Any]) -> dict[str, Any]:
    """Return arguments that start two items too early."""
    return {**args, "after": str(int(args["after"]) - 2)} if args.get("after") else args


def ended(world: World, text: str = ITEMS) -> tuple[list[str], Any]:
    """Return the names of the items, and the report."""
    result = world.client().execute_all(text, follow="all")
    return world.names(result), result.report


def test_sizes_that_are_part_of_the_question_are_kept(world):
    """A small size of a nested list and `last:` are no page sizes, unless `follow` says so."""
    result = world.client().execute_all(NESTED)
    assert [len(each["parts"]["nodes"]) for each in result.data["items"]["nodes"]] == [3] * 25
    assert result.report.complete
    assert result.report.notes == (
        "items.parts: `first: 3` was kept as written; follow='items.parts' requests all items.",
    )
    assert result.frame().attrs["completeness"] == "complete: all pages were received"
    parts = result.frame(explode="parts").attrs["completeness"]
    assert parts == "unknown: 25 of 25 lists: `first: 3` is reached"
    text = "{ items(last: 2) { nodes { name } } }"
    newest = world.client().execute_all(text)
    assert world.names(newest) == ALL[-2:]
    assert newest.report.complete
    note = "items: `last: 2` was kept as written; follow='items' requests all items."
    assert note in newest.report.notes
    for follow in ("all", "items", ["items"]):
        assert world.names(world.client().execute_all(text, follow=follow)) == ALL
    whole = world.client().execute_all(NESTED, follow="items.parts")
    assert whole.data == world.client().execute_all(NESTED, follow="all").data
    assert [len(each["parts"]["nodes"]) for each in whole.data["items"]["nodes"]] == [PARTS] * 25
    parts = whole.frame(explode="parts").attrs["completeness"]
    assert parts == "complete: all pages were received"


def test_last_is_kept_beside_page_info_of_another_spelling():
    """db-graphql-gateway 0.3.2 has `page_info`, and refuses `first` beside `last`."""

    def resolve(args: dict[str, Any]) -> Any:
        if args["first"] is not None:
            fail("Passing both 'first' and 'last' is not supported.")
        edges = [{"node": row} for row in build_rows(200)[-args["last"] :]]
        return {"edges": edges, "page_info": {"has_next_page": False}}

    sdl = """rows(first: Int = null, after: String, last: Int, before: String): Page!
    type Page { edges: [Edge!]! page_info: Info! } type Edge { node: Row! }
    type Info { has_next_page: Boolean! end_cursor: String }"""
    result = fetch(sdl, resolve, "{ rows(last: 10) { edges { node { id } } } }")
    assert_whole(result, range(190, 200))


def test_changing_counts_are_reported(world):
    """Counts that shrink and grow neither end nor extend the paging."""
    world.fault = lambda _, number: {"totalCount": [30, 3, 25][number - 1]}
    names, report = ended(world)
    assert names == ALL
    assert report.expected == 25
    assert report.notes == ("items: the count changed while paging. (2 times)",)
    assert not report.complete


def test_one_node_in_different_edges_is_not_a_duplicate(world):
    """A node may have two edges with different fields."""
    roles = iter(["a", "b", "a"])
    world.items = [item(1), item(1), item(1)]
    world.fault = lambda made, _: {"edges": [e | {"role": next(roles)} for e in made["edges"]]}
    text = "{ items(first: 2) { edges { role node { name } } } }"
    result = world.client().execute_all(text, follow="all")
    assert [edge["role"] for edge in result.data["items"]["edges"]] == ["a", "b"]
    assert result.report.duplicates == 1
    assert "1 duplicates left out" in str(result.report)


def test_equal_rows_without_identifiers_are_not_duplicates(world):
    """Unless the cursors of their edges are equal, too."""
    world.items = [{"name": "x", "id": "i0"}] * 6
    text = "{ loose(first: 4) { edges { node { name } } } }"
    result = world.client().execute_all(text, follow="all")
    assert result.data == {"loose": {"edges": [{"node": {"name": "x"}}] * 6}}
    world.schema.resolver("Query.loose")(lambda _, args, __: page(world.items, shifted(args)))
    again = world.client().execute_all(text, follow="all")
    assert len(again.data["loose"]["edges"]) == 6
    assert again.report.duplicates == 4  # two of them after the end


def test_the_report_of_many_unfinished_lists_is_short():
    """Hundreds of cursors are in the report, and three in its text."""
    cursors = {f"users.{number}.repos": "Y3Vyc29yOnYyOpHOAAGVtg==" for number in range(300)}
    report = Report(10, None, 0, 1, "max_requests", notes=("The same.",) * 50, cursors=cursors)
    assert len(repr(report)) < 500
    assert repr(report).startswith("Report(got=10, expected=None, duplicates=0, requests=1, ended=")
    assert report.cursors["users.299.repos"] in repr(report)


@pytest.mark.parametrize(("most", "got"), [(None, PARTS), (5, 5), (3, 3)])
def test_lists_of_objects_without_identifiers_are_requested_with_a_larger_size(world, most, got):
    """Their first page is the only one; the limit that a refusal names is taken."""

    def cut(row: Any, args: dict[str, Any], _: Any) -> Any:
        if most and args["first"] > most:
            fail(f"`first` is at most {most}.")
        return page(world.parts(row["id"]), args)

    world.schema.resolver("Tag.parts")(cut)
    text = "{ loose { edges { node { name parts(first: 3) { nodes { name } } } } } }"
    result = world.client().execute_all(text, follow="all")
    assert [len(edge["node"]["parts"]["nodes"]) for edge in result.data["loose"]["edges"]] == [
        got
    ] * 6
    assert result.report.complete == (got == PARTS)
    assert result.report.requests == {PARTS: 2, 5: 3, 3: 2}[got]
    if got == 3:
        assert result.report.ended == (
            "there are more items, but their object cannot be requested again: give a larger "
            "`first:` in the query"
        )
        assert result.report.notes[0].endswith("(6 times)")


@pytest.mark.parametrize(("count", "complete"), [(51, False), (49, True)])
def test_a_larger_size_that_the_endpoint_lowers_proves_nothing(world, count, complete):
    """It may compare the rows that it returns at most with the size that was requested."""

    def cut(_row: Any, args: dict[str, Any], _: Any) -> Any:
        rows = [{"id": f"p{n}", "name": f"p{n}"} for n in range(min(count, 50, args["first"]))]
        info = {"hasNextPage": len(rows) == args["first"] < count, "endCursor": "x"}
        return {"nodes": rows, "pageInfo": info}

    world.schema.resolver("Tag.parts")(cut)
    text = "{ loose { edges { node { name parts(first: 10) { nodes { name } } } } } }"
    with warnings.catch_warnings(action="ignore"):
        report = world.client().execute_all(text).report
    assert report.complete == complete
    assert any("the endpoint's maximum" in doubt for doubt in report.doubts) == (not complete)


def test_a_deleted_object_keeps_its_first_page(world):
    """Only its own further pages are lost, and the result is partial."""
    real = world.node

    def node(root: Any, args: dict[str, Any], context: Any) -> Any:
        is_gone = args["id"] == "i1"
        return fail("Could not resolve to a node.") if is_gone else real(root, args, context)

    world.schema.resolver("Query.node")(node)
    result = world.client().execute_all(NESTED, follow="all")
    sizes = [len(row["parts"]["nodes"]) for row in result.data["items"]["nodes"]]
    assert sizes == [PARTS, 3, *[PARTS] * 23]
    assert [error["path"] for error in result.errors] == [["items", "nodes", 1, "parts"]]
    assert "Could not resolve to a node." in result.report.ended


def test_errors_of_later_pages_have_paths_in_the_joined_data(world):
    """Indexes count the items of the pages before."""
    secret = world.schema.resolver("Item.secret")
    secret(lambda root, _, __: fail("forbidden") if root["number"] == 13 else "s")
    text = "{ items(first: 10) { nodes { name secret } } }"
    result = world.client().execute_all(text, follow="all")
    assert [error["path"] for error in result.errors] == [["items", "nodes", 13, "secret"]]
    assert result.data["items"]["nodes"][13] == {"name": "item 13", "secret": None}


# -- failures


@pytest.mark.parametrize("way", ["threads", "loop"])
def test_an_interrupt_during_parallel_requests_loses_no_items(world, way):
    """Only requests without an answer are repeated."""
    whole = world.client().execute_all(NESTED, follow="all").data
    calls = iter(range(100))

    def stop(*_: Any) -> None:
        if next(calls) == 3:
            raise KeyboardInterrupt

    text = NESTED.replace("first: 4", "first: 25")  # a round of fifty chains
    with serve(world.schema, port=0) as server, Client(server.url, schema=world.schema) as client:
        ways = {
            "threads": lambda: client.execute_all(text, progress=stop, follow="all"),
            "loop": lambda: asyncio.run(client.aexecute_all(text, progress=stop, follow="all")),
        }
        with pytest.raises(KeyboardInterrupt) as caught:
            ways[way]()
        assert len(caught.value.result.data["items"]["nodes"]) == 25  # type: ignore[attr-defined]
        assert client.resume().data == whole


def test_pages_are_halved_after_a_gateway_error_and_grow_again(world):
    """HTTP 502 halves the pages; successful answers double them again."""
    slow = True

    def wire(_: Any, number: int) -> Response | None:
        return Response(502, {}, b"<html>") if number in {2, 3} and slow else None

    client = world.client(wire)
    result = client.execute_all("{ items(first: 4) { nodes { name } } }", follow="all")
    assert world.names(result) == ALL
    assert [args["first"] for args in world.asked][:4] == [4, 1, 1, 1]
    assert max(args["first"] for args in world.asked[4:]) > 1
    assert result.report.requests == len(world.asked) + 2


def test_pages_are_halved_where_a_refusal_has_no_data(world):
    """Too many nodes are requested in smaller pages."""
    errors = [{"type": "MAX_NODE_LIMIT_EXCEEDED", "message": "Too much.", "path": ["items"]}]

    def wire(request: Any, _: int) -> Response | None:
        is_large = "first: 10" in request.query
        return Response(200, members={"errors": errors}) if is_large else None

    result = world.client(wire).execute_all(ITEMS, follow="all")
    assert world.names(result) == ALL
    assert world.asked[0]["first"] == 5
    assert result.errors == ()


def test_refused_lookups_are_sent_in_smaller_batches(world):
    """An endpoint that refuses many objects in a request gets fewer."""

    def wire(request: Any, _: int) -> Response | None:
        if request.query.count("node(id:") <= 3:
            return None
        return Response(400, members={"errors": [{"message": "Too complex."}]})

    result = world.client(wire).execute_all(NESTED, follow="all")
    assert len(result.frame("items.parts")) == 25 * PARTS


def test_a_query_refused_with_pages_is_sent_unchanged(world):
    """Added fields are removed, and the report states that there is one page."""

    def wire(request: Any, _: int) -> Response | None:
        if "gqlnb_" not in request.query:
            return None
        return Response(400, members={"errors": [{"message": "Nothing of that kind."}]})

    result = world.client(wire).execute_all(ITEMS, follow="all")
    assert world.names(result) == ALL[:10]
    assert "Nothing of that kind." in result.report.notes[0]
    assert result.report.requests == 2


@pytest.mark.parametrize("path", [None, [], 5, True, "items", {"a": 1}, [None], ["items", {}]])
@pytest.mark.parametrize("faulty_answer", [1, 3])
def test_an_error_without_a_path_leaves_a_doubt(world, faulty_answer, path):
    """It may concern any list of the answer; so may one with a path of another form."""

    def wire(request: Any, number: int) -> Response | None:
        error = {"message": "Half of it.", "path": path}
        return world.answer_beside(request, error) if number == faulty_answer else None

    result = world.client(wire).execute_all(ITEMS, follow="all")
    assert world.names(result) == ALL
    assert result.report.doubts == ("an error does not say which field it concerns: Half of it.",)
    assert not result.report.complete


@pytest.mark.parametrize("faulty_answer", [1, 3])
@pytest.mark.parametrize("times", [1, 9])
@pytest.mark.parametrize("message", ["Something went wrong while executing your query.", "No."])
def test_an_empty_page_beside_an_error_is_not_the_end(world, message, times, faulty_answer):
    """GitHub sends empty pages beside such errors; it is requested again if they are temporary."""
    faulty = range(faulty_answer, faulty_answer + times)

    def wire(request: Any, number: int) -> Response | None:
        if number not in faulty:
            return None
        data = world.schema.execute(request.query, dict(request.variables or {})).data
        page_of = {"nodes": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}
        data = {name: {**value, **page_of} for name, value in data.items()}
        errors = [{"message": message, "path": [name]} for name in data]
        return Response(200, members={"data": data, "errors": errors})

    result = world.client(wire).execute_all("{ items(first: 10) { nodes { id } } }", follow="all")
    if message != "No." and times == 1:
        assert len(result.data["items"]["nodes"]) == 25
        assert result.report.complete
    else:
        assert not result.report.complete
        assert any(message in doubt for doubt in result.report.doubts)


def test_rows_that_are_null_are_not_complete(world):
    """The endpoint did not send them, and gives no reason."""
    world.fault = lambda page, number: {"nodes": [None, *page["nodes"][1:]]} if number == 2 else {}
    result = world.client().execute_all("{ items(first: 10) { nodes { id } } }", follow="all")
    assert result.report.doubts == (
        "items: 1 of its items are null, so the endpoint did not send them.",
    )


def test_a_rate_limit_beside_rows_is_waited_for(world):
    """Its rows prove nothing: the page is requested again after the time that the endpoint says."""
    message = "You have exceeded a secondary rate limit."

    def wire(request: Any, number: int) -> Response | None:
        error = {"message": message}
        return world.answer_beside(request, error, retry_after="0") if number == 2 else None

    result = world.client(wire).execute_all(ITEMS, follow="all")
    assert world.names(result) == ALL
    assert result.report.complete
    assert result.errors == ()


# -- without a schema


@pytest.fixture
def secretive(world):
    """Yield the address of an endpoint that does not reveal its schema."""
    with serve(world.schema, port=0, access=Access(introspection=False)) as server:
        yield server.url


def test_without_a_schema_connections_are_found_by_names(secretive):
    """Nested connections are requested by `id`."""
    text = NESTED.replace("{ name parts", "{ id name parts")
    with Client(secretive) as client:
        result = client.execute_all(text, follow="all")
        bare = client.execute_all(NESTED, follow="all")
    rows = result.data["items"]["nodes"]
    assert [len(row["parts"]["nodes"]) for row in rows] == [PARTS] * 25
    assert set(rows[0]) == {"id", "name", "parts"}
    assert result.report.complete
    assert result.report.notes[0].startswith("No schema could be loaded: ")
    assert result.report.notes[1] == "Lists were found by their names, as no schema is available."
    assert [len(row["parts"]["nodes"]) for row in bare.data["items"]["nodes"]] == [PARTS] * 25
    assert bare.report.complete  # by a larger size


def test_without_a_schema_a_refused_page_is_a_doubt():
    """Shopify's `productTags` takes no `after`, which is guessed where the schema is hidden."""
    sdl = "type Query { tags(first: Int!): Tags! } type Tags { nodes: [String!]! pageInfo: Info! }"
    info = {"hasNextPage": True, "endCursor": "x"}
    tags = {"tags": lambda _, args, __: {"nodes": ["a"] * args["first"], "pageInfo": info}}
    schema = Schema(
        f"{sdl} type Info {{ hasNextPage: Boolean! endCursor: String }}", {"Query": tags}
    )
    with serve(schema, port=0, access=Access(introspection=False)) as server:
        client = Client(server.url)
        text = "{ tags(first: 50) { nodes pageInfo { hasNextPage endCursor } } }"
        with pytest.warns(UserWarning, match="its next page was refused: Unknown argument 'after'"):
            result = client.execute_all(text)
    assert len(result.data["tags"]["nodes"]) == 50


def test_a_plain_list_without_a_schema_is_not_complete(secretive):
    """Only a schema tells whether the list has arguments for further pages."""
    with (
        Client(secretive) as client,
        pytest.warns(UserWarning, match="all: may have more items, which is unknown"),
    ):
        result = client.execute_all("{ all { name } }", follow="all")
    assert not result.report.complete


def test_lists_in_json_without_a_schema_are_no_pages():
    """Caluma 11.3 hides its schema in production; its `meta` is JSON of any form."""
    meta = {"tags": ["a", {"b": [1]}], "empty": []}
    sdl = "scalar JSON type Query { form: Form } type Form { meta: JSON tags: [String!]! }"
    schema = Schema(sdl, {"Query": {"form": lambda *_: {"meta": meta, "tags": ["a"]}}})
    with serve(schema, port=0, access=Access(introspection=False)) as server:
        client = Client(server.url)
        result = client.execute_all("{ form { ...Meta } } fragment Meta on Form { extra: meta }")
        with pytest.warns(UserWarning, match="incomplete: .* form.tags: may have more items"):
            client.execute_all("{ form { meta tags } }")
    assert result.data["form"]["extra"] == meta
    assert result.report.complete

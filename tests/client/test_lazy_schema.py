"""Frames of results that were received before the schema was loaded."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from typing import Any

import pytest
from graphql import build_schema, introspection_from_schema

from gqlnb import Access, Client, FrameError, PartialError, QueryError, Schema, serve
from gqlnb.server.app import App
from tests.asgi import send_answer
from tests.client.faults import Endpoint, json_answer
from tests.examples import select_combinations

UNSAID = pytest.mark.filterwarnings("error:No schema is known")
SDL = """type Query { rows: [Row!]! } type Subscription { row: Row }
type Row { n: Int price: Float kind: Kind must: Int! } enum Kind { A B }"""
ROWS = [{"n": None, "price": 1, "kind": "A", "must": 1}]
TEXT = "{ rows { n price kind } }"
TYPED = {"n": "Int64", "price": "Float64", "kind": "category"}


def schema() -> Schema:
    """Return a schema whose values alone do not show its types."""
    return Schema(
        SDL, {"Query": {"rows": lambda *_: ROWS}, "Subscription": {"row": lambda *_: iter(ROWS)}}
    )


def dtypes(frame: Any) -> dict[str, str]:
    """Return the dtypes of a frame, by name."""
    return {name: str(kind) for name, kind in frame.dtypes.items()}


@pytest.fixture
def server():
    """Yield a server."""
    with serve(schema(), port=0) as made:
        yield made


@UNSAID
def test_every_table_conversion_is_typed(server, tmp_path):
    """Arrow and files; of in-process applications, subscriptions and unreferenced clients."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    assert Client(server.url).execute(TEXT).arrow().schema.field("n").type == pa.int64()
    Client(server.url).execute(TEXT).to_parquet(tmp_path / "rows.parquet")
    assert pq.read_schema(tmp_path / "rows.parquet").field("n").type == pa.int64()
    assert dtypes(Client(App(schema())).execute(TEXT).frame()) == TYPED
    assert dtypes(Client(server.url).frame(TEXT)) == TYPED
    for transport in ("ws", "sse"):
        client = Client(server.url)
        (event,) = client.subscribe("subscription { row { n } }", transport=transport)
        assert dtypes(event.frame()) == {"row.n": "Int64"}


@pytest.mark.filterwarnings("ignore:No schema is known")
def test_a_closed_client_sends_no_request(server):
    """Nor does a copied or unpickled result."""
    with Client(server.url) as client:
        result, other = client.execute(TEXT), client.execute(TEXT)
        for copied in (copy.copy(result), pickle.loads(pickle.dumps(result))):
            assert dtypes(copied.frame()) != TYPED
    assert dtypes(result.frame()) != TYPED
    assert dtypes(other.frame()) != TYPED
    assert len(server.log) == 2


def test_a_recording_contains_the_schema_of_its_frames(server, tmp_path):
    """A frame has the same dtypes while recording and in a replay."""
    path = tmp_path / "a.jsonl"
    with Client(server.url, recording=path, mode="record") as client:
        assert dtypes(client.execute(TEXT).frame()) == TYPED
    asked = len(server.log)
    with Client(server.url, recording=path, mode="replay") as client:
        assert dtypes(client.execute(TEXT).frame()) == TYPED
    assert len(server.log) == asked == 2


def test_a_schema_loaded_earlier_is_recorded_too(server, tmp_path):
    """Earlier accesses do not affect the replay."""
    path = tmp_path / "a.jsonl"
    with Client(server.url, recording=path, mode="record") as client:
        assert client.schema.query_type is not None
        client.execute(TEXT)
    with Client(server.url, recording=path, mode="replay") as client:
        assert dtypes(client.execute(TEXT).frame()) == TYPED


@pytest.mark.filterwarnings("ignore:No schema is known")
def test_an_endpoint_without_introspection_gets_one_request():
    """Its frames are inferred; loading the schema explicitly raises the reason."""
    with serve(schema(), port=0, access=Access(introspection=False)) as server:
        client = Client(server.url)
        for _ in range(3):
            assert dtypes(client.execute(TEXT).frame()) != TYPED
        assert len(server.log) == 4


LOOSE = """
type Query { user(filter: Filter, n: Int): User hits: [Hit] }
type User { name: String! age: Int born: String } input Filter { kind: Kind = A }
union Hit = One | Two type One { state: Kind! } type Two { state: Other! }
enum Kind { A B } enum Other { C D }"""


def loose_app(sdl: str, data: Any) -> Any:
    """Return an application that describes a schema, and answers everything else alike."""
    described = introspection_from_schema(build_schema(sdl))

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        request = json.loads((await receive())["body"])
        body = {"data": described if "__schema" in request["query"] else data}
        await send_answer(send, body)

    return app


HITS = "{ hits { ... on One { state } ... on Two { state } } }"
SAME = {
    "null": ("{ user { name age } }", None, {"user": {"name": None, "age": None}}, True),
    "text": ("{ user { age } }", None, {"user": {"age": "7"}}, True),
    "object": ("{ user { born } }", None, {"user": {"born": {"year": 1}}}, True),
    "list": ("{ user { age } }", None, {"user": [{"age": 1}, None]}, True),
    "two enums": (HITS, None, {"hits": [{"state": "A"}, {"state": "C"}]}, False),
    "field": ("{ user { extra } }", None, {"user": {"extra": 1}}, False),
    "argument": ("{ user(m: 1) { age } }", None, {"user": {"age": None}}, False),
    "variable type": ("query ($n: String) { user(n: $n) { age } }", {"n": "1"},
        {"user": {"age": None}}, False),
    "variable": ("query ($f: Filter) { user(filter: $f) { age } }",
        {"f": {"kind": "NEW", "more": 1}}, {"user": {"age": None}}, True),
}  # fmt: skip


def describe_outcome(result: Any) -> Any:
    """Return the data of a result, its errors and the dtypes of its frame, or its error."""
    try:
        frame = dtypes(result.frame())
    except FrameError as error:
        frame = str(error)
    try:
        result.raise_for_errors()
    except PartialError as error:
        return result.data, frame, result.errors, str(error)
    return result.data, frame, result.errors, None


@pytest.mark.filterwarnings("ignore:The answer is partial", "ignore:The schema of")
@pytest.mark.filterwarnings("error:No schema is known")
@pytest.mark.parametrize(
    ("case", "call"), select_combinations(SAME, ["execute", "aexecute", "execute_many", "document"])
)
def test_a_call_has_the_same_outcome_before_and_after_the_schema_is_known(case, call):
    """Whatever the schema says of the text, of the variables and of the answer."""
    text, variables, data, fits = SAME[case]
    client = Client(loose_app(LOOSE, data))

    def execute() -> Any:
        if call == "execute_many":
            return client.execute_many([(text, variables)])[0]
        if call == "aexecute":
            return asyncio.run(client.aexecute(text, variables))
        return client.execute(
            client.parse_document(text) if call == "document" else text, variables
        )

    results = [execute(), execute()]
    outcomes = [describe_outcome(result) for result in results]
    outcomes += [describe_outcome(execute()) for _ in range(2)]
    assert client.schema is not None
    outcomes.append(describe_outcome(execute()))
    assert outcomes[1:] == outcomes[:1] * 4
    assert outcomes[0][0] == data
    assert (outcomes[0][3] is not None) == (case in ("null", "text", "object", "list"))
    assert (results[0].document.schema is client.schema) == fits


@pytest.mark.filterwarnings("ignore:The schema of")
def test_pages_and_maps_of_an_answered_text_are_sent_as_it_is():
    """The requests of pages are made from it, and are not refused either."""
    text, variables, data, _ = SAME["two enums"]
    client = Client(loose_app(LOOSE, data))
    assert client.execute(text, variables).data == data
    assert client.schema is not None
    assert client.execute_all(text).data == data
    assert [page.data for page in client.pages(text)] == [data]
    assert client.frame(text)["state"].tolist() == ["A", "C"]
    with pytest.raises(QueryError, match="Cannot query field 'hit'"):
        client.execute("{ hit }")
    text, _, data, _ = SAME["variable"]
    client = Client(loose_app(LOOSE, data))
    assert client.execute(text, {"f": {"kind": "NEW"}}).frame() is not None
    assert client.execute(text, {"f": {"kind": "NEW"}}).data == data
    with pytest.raises(QueryError, match=r"Enum 'Kind' cannot represent this text"):
        client.execute(text, {"f": {"kind": "NEWER"}})


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("type Query { rows: Int }", "The schema of .* does not fit a query .* must not have"),
        ("type Query { lines: Int }", "does not fit a query .* Cannot query field 'rows'"),
        (SDL.replace("n: Int", "n: Int!"), r"rows\[0\].n: The schema has Int! here"),
    ],
)
def test_a_frame_says_what_the_schema_contradicts(other, message):
    """Of the text, whose dtypes are then inferred, or of the answer; nothing is raised."""
    told = json_answer({"data": introspection_from_schema(build_schema(other))})
    with Endpoint(json_answer({"data": {"rows": ROWS}}), told, told) as endpoint:
        with pytest.warns(UserWarning, match=message) as given:
            frame = Client(endpoint.url).execute(TEXT).frame()
        assert len(given) == 1
        assert frame["price"].tolist() == [1]
        assert len(endpoint.requests) == 2
        assert "__schema" in json.loads(endpoint.requests[1].partition(b"\r\n\r\n")[2])["query"]

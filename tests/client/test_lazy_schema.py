"""Frames of results that were received before the schema was loaded."""

from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from graphql import build_schema, introspection_from_schema

from gqlnb import Access, Client, Schema, serve
from gqlnb.result.result import get_shape
from gqlnb.server.app import App
from tests.client.faults import Endpoint, json_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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
def server() -> Iterator[Any]:
    """Yield a server."""
    with serve(schema(), port=0) as made:
        yield made


@UNSAID
@pytest.mark.parametrize(
    "view", [lambda it: it.frame(), lambda it: it.frames["rows"]], ids=["frame", "frames"]
)
def test_the_first_frame_is_typed(server: Any, view: Callable[[Any], Any]) -> None:
    """It loads the schema, once; displaying a result sends no request."""
    client = Client(server.url)
    result = client.execute(TEXT)
    assert repr(result)
    assert result._repr_mimebundle_()
    assert result.dicts() == result["rows"]
    assert len(server.log) == 1
    assert dtypes(view(result)) == TYPED
    assert dtypes(view(client.execute(TEXT))) == TYPED
    assert len(server.log) == 3
    assert dtypes(view(result)) == TYPED
    assert len(server.log) == 3
    assert get_shape(result) is not None


@UNSAID
def test_every_table_conversion_is_typed(server: Any, tmp_path: Path) -> None:
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
def test_a_closed_client_sends_no_request(server: Any) -> None:
    """Nor does a copied or unpickled result."""
    with Client(server.url) as client:
        result, other = client.execute(TEXT), client.execute(TEXT)
        for copied in (copy.copy(result), pickle.loads(pickle.dumps(result))):
            assert dtypes(copied.frame()) != TYPED
    assert dtypes(result.frame()) != TYPED
    assert dtypes(other.frame()) != TYPED
    assert len(server.log) == 2


def test_a_recording_contains_the_schema_of_its_frames(server: Any, tmp_path: Path) -> None:
    """A frame has the same dtypes while recording and in a replay."""
    path = tmp_path / "a.jsonl"
    with Client(server.url, recording=path, mode="record") as client:
        assert dtypes(client.execute(TEXT).frame()) == TYPED
    asked = len(server.log)
    with Client(server.url, recording=path, mode="replay") as client:
        assert dtypes(client.execute(TEXT).frame()) == TYPED
    assert len(server.log) == asked == 2


def test_a_schema_loaded_earlier_is_recorded_too(server: Any, tmp_path: Path) -> None:
    """Earlier accesses do not affect the replay."""
    path = tmp_path / "a.jsonl"
    with Client(server.url, recording=path, mode="record") as client:
        assert client.schema.query_type is not None
        client.execute(TEXT)
    with Client(server.url, recording=path, mode="replay") as client:
        assert dtypes(client.execute(TEXT).frame()) == TYPED


@pytest.mark.filterwarnings("ignore:No schema is known")
def test_an_endpoint_without_introspection_gets_one_request() -> None:
    """Its frames are inferred; loading the schema explicitly raises the reason."""
    with serve(schema(), port=0, access=Access(introspection=False)) as server:
        client = Client(server.url)
        for _ in range(3):
            assert dtypes(client.execute(TEXT).frame()) != TYPED
        assert len(server.log) == 4


@pytest.mark.filterwarnings("ignore:No schema is known")
@pytest.mark.parametrize(
    "other",
    ["type Query { rows: Int }", "type Query { lines: Int }", SDL.replace("n: Int", "n: Int!")],
)
def test_a_schema_that_does_not_match_the_result_is_not_used(other: str) -> None:
    """If the document or the data are invalid; nothing is raised."""
    told = json_answer({"data": introspection_from_schema(build_schema(other))})
    with Endpoint(json_answer({"data": {"rows": ROWS}}), told, told) as endpoint:
        frame = Client(endpoint.url).execute(TEXT).frame()
        assert frame["price"].tolist() == [1]
        assert len(endpoint.requests) == 2
        assert "__schema" in json.loads(endpoint.requests[1].partition(b"\r\n\r\n")[2])["query"]

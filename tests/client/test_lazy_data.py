"""Large responses over HTTP: data are decoded on access, frames do not need them."""

import asyncio
import subprocess
import sys

import pytest

from gqlnb import Client, Schema, serve
from gqlnb.server.app import App

SDL = "type Query { rows: [Row!]! } type Row { name: String! size: Int! note: String }"
TEXT = "{ rows { name size note } }"
ROWS = [{"name": f"row {n}", "size": n, "note": None if n % 2 else "é"} for n in range(3000)]

FRESH = """
import json, sys
from graphql import build_schema
from gqlnb import Client
from gqlnb.http.messages import Response

class Came:
    source = "here"

    def send(self, request):
        rows = [{"name": f"row {n}", "size": n, "note": None} for n in range(3000)]
        body = json.dumps({"data": {"rows": rows}}).encode()
        return Response(200, {"content-type": "application/json"}, body)

    def asend(self, request): ...
    def close(self): ...

result = Client(Came(), schema=build_schema(sys.argv[1])).execute(sys.argv[2])
assert "data" not in vars(result)
assert not {"pandas", "pyarrow"} & sys.modules.keys()
assert len(result.data["rows"]) == 3000
assert not {"pandas", "pyarrow"} & sys.modules.keys()
"""


@pytest.fixture(params=["asgi", "socket"])
def client(request):
    """Yield a client that knows the schema, through the ASGI application and over a socket."""
    schema = Schema(SDL, {"Query": {"rows": lambda *_: ROWS}})
    with serve(schema, port=0) as server:
        target = {"asgi": App(schema), "socket": server.url}[request.param]
        yield Client(target, schema=schema)


def test_frames_are_built_without_decoding_data(client):
    """The data are available on access, before and after."""
    result = client.execute(TEXT)
    frame = result.frame()
    assert "data" not in vars(result)
    assert list(frame["name"]) == [row["name"] for row in ROWS]
    assert str(frame.dtypes["size"]) == "Int64"
    assert result.data == {"rows": ROWS}
    assert result.frame().equals(frame)


def test_async_results_are_lazy_too(client):
    """Sync and async results are decoded alike."""
    result = asyncio.run(client.aexecute(TEXT))
    assert "data" not in vars(result)
    assert result["rows"] == ROWS


def test_data_do_not_import_pandas():
    """Responses are validated without it until it is imported elsewhere."""
    subprocess.run([sys.executable, "-c", FRESH, SDL, TEXT], check=True)

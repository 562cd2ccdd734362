"""Large answers over HTTP: data wait until they are touched, frames do not need them."""

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


def test_a_frame_needs_no_data(client):
    """And data are there for whoever wants them, before and after it."""
    result = client.execute(TEXT)
    frame = result.frame()
    assert "data" not in vars(result)
    assert list(frame["name"]) == [row["name"] for row in ROWS]
    assert str(frame.dtypes["size"]) == "Int64"
    assert result.data == {"rows": ROWS}
    assert result.frame().equals(frame)


def test_an_awaited_answer_waits_too(client):
    """Both ways of asking read alike."""
    result = asyncio.run(client.aexecute(TEXT))
    assert "data" not in vars(result)
    assert result["rows"] == ROWS


def test_pandas_is_not_loaded_for_data():
    """An answer is checked without it where nobody has used it yet."""
    subprocess.run([sys.executable, "-c", FRESH, SDL, TEXT], check=True)

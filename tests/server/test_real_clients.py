"""Clients from npm and pip, in their default settings, against the server.

Those from npm are installed once, by hand or by CI::

    npm install --prefix FOLDER --ignore-scripts --no-package-lock   # FOLDER has our package.json
    GRAPHQL_CLIENTS=FOLDER pytest -m "" tests/server/test_real_clients.py

Without the variable they are looked for in ``tests/server/clients``.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import requests

from gqlnb import Access, Schema, serve

pytestmark = pytest.mark.slow

HERE = Path(__file__).with_name("clients")
FOLDER = Path(os.environ.get("GRAPHQL_CLIENTS", HERE))
SDL = """
scalar Upload
type Query { hello: String fail: String long: String }
type Mutation { add(n: Int): Int save(files: [Upload!]!): [String!] }
type Subscription { count(to: Int): Int endless: Int breaks: Int }
"""


async def count(_root, args, _context):
    """Yield numbers."""
    for number in range(args["to"]):
        await asyncio.sleep(0.01)
        yield {"count": number}


async def break_after_one(*_):
    """Yield a number, and raise."""
    yield {"breaks": 1}
    msg = "a secret of the source"
    raise ValueError(msg)


async def run_endlessly(*_):
    """Yield zeros."""
    while True:
        yield {"endless": 0}
        await asyncio.sleep(0.01)


def fail(*_):
    """Raise."""
    msg = "no"
    raise ValueError(msg)


def save(_root, args, _context):
    """Return names, types and contents of files."""
    return [f"{it.filename} {it.content_type} {it.read()!r}" for it in args["files"]]


@pytest.fixture
def schema():
    """Return a schema with queries, mutations, uploads and subscriptions."""
    return Schema(
        SDL,
        {
            "Query": {
                "hello": lambda *_: "Hello world!",
                "fail": fail,
                "long": lambda *_: "x" * 5000,
            },
            "Mutation": {"add": lambda _root, args, _context: args["n"] + 1, "save": save},
            "Subscription": {"count": count, "endless": run_endlessly, "breaks": break_after_one},
        },
    )


@pytest.fixture(scope="module")
def folder():
    """Return the folder of the clients from npm, or skip."""
    if shutil.which("node") is None:
        pytest.skip("No Node on this machine")
    if not (FOLDER / "node_modules" / "@urql").is_dir():
        pytest.skip("The clients from npm are not installed; GRAPHQL_CLIENTS says where they are")
    return FOLDER


@pytest.fixture
def play(folder, schema):
    """Return a function that plays a scenario against a server with some access."""

    def play(scenario, access=None):
        with serve(schema, port=0, access=access) as server:
            done = subprocess.run(
                ["node", str(HERE / "run.mjs"), scenario, server.url, str(folder)],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return play


def test_urql_by_default_is_told_how_to_enable_get(play):
    """It sends short queries by GET."""
    answer = play("urql")
    assert answer["query"] is None
    assert answer["status"] == 405
    assert "Access(get=True)" in answer["message"]
    assert answer["mutation"] == {"add": 3}


def test_urql_by_default_works_with_get_enabled(play):
    """Queries by GET, mutations by POST."""
    answer = play("urql", Access(get=True))
    assert answer["query"] == {"hello": "Hello world!"}
    assert answer["mutation"] == {"add": 3}


def test_apollo_client(play):
    """Queries, mutations and errors."""
    answer = play("apollo")
    assert answer["query"] == {"hello": "Hello world!"}
    assert answer["mutation"] == {"add": 4}
    assert "Cannot query field 'nope'" in answer["failed"]


def test_apollo_client_reads_subscriptions_in_multipart(play):
    """Its HttpLink alone, without a WebSocket: events, errors, and leaving an endless one."""
    answer = play("apolloSubscription")
    assert answer["counts"] == [{"count": 0}, {"count": 1}, {"count": 2}]
    assert answer["many"] == 300
    first, last = answer["broken"]
    assert first == {"data": {"breaks": 1}}
    assert last["errors"][0]["message"].startswith("Internal error ")
    assert "Cannot query field 'nope'" in json.dumps(answer["wrong"])
    assert answer["stopped"] == {"endless": 0}
    assert answer["query"] == {"hello": "Hello world!"}
    accept, media = answer["sent"][0]
    assert "subscriptionSpec=1.0" in accept
    assert "boundary=graphql" in accept
    assert media == "multipart/mixed; boundary=graphql; subscriptionSpec=1.0"


def test_persisted_queries_of_apollo(play):
    """The text is sent once; another client sends the hash alone."""
    answer = play("persisted")
    assert answer["answers"] == [{"hello": "Hello world!"}] * 2
    assert answer["sent"] == [False, True, False]


def test_persisted_queries_of_apollo_by_get(play):
    """The hash by GET, where that is enabled."""
    answer = play("persistedByGet", Access(get=True))
    assert answer["data"] == {"hello": "Hello world!"}
    assert answer["methods"][0] == "GET"


def test_batches_of_apollo(play):
    """One request for three operations, and each has its own answer."""
    answer = play("batch", Access(batch=10))
    assert answer["answers"][:2] == [{"hello": "Hello world!"}, {"a": "Hello world!"}]
    assert answer["answers"][2].startswith("Internal error")
    assert answer["requests"] == 1


def test_uploads_of_apollo_upload_client(play):
    """Files arrive byte for byte, with their names and types."""
    assert play("upload", Access(uploads=True)) == {
        "save": [
            "a.txt text/plain " + repr("één\r\n--line".encode()),
            "b.bin application/octet-stream " + repr(b"\x00\xff\r\n"),
        ]
    }


def test_graphql_sse_with_distinct_connections(play):
    """A stream for each operation."""
    answer = play("sseDistinct")
    assert answer["events"] == [{"count": n} for n in range(3)]
    assert answer["single"] == [{"hello": "Hello world!"}]


def test_graphql_sse_with_a_single_connection(play):
    """One stream for all operations, reserved by PUT."""
    answer = play("sseSingle")
    assert answer["counts"] == [[0, 1], [0, 1, 2]]
    assert answer["single"] == [{"hello": "Hello world!"}]
    assert answer["wrong"] == [1]
    assert answer["rest"] == 4
    assert answer["stopped"] == {"endless": 0}
    assert {"PUT", "GET", "POST", "DELETE"} <= set(answer["methods"])
    assert answer["methods"].count("PUT") < answer["methods"].count("POST")


def test_graphql_ws(play):
    """The current protocol over WebSocket."""
    assert play("socket") == [{"count": n} for n in range(3)]


def test_graphql_request(play):
    """Single requests and batches."""
    answer = play("graphqlRequest", Access(batch=10))
    assert answer["single"] == {"hello": "Hello world!"}
    assert answer["batch"] == [{"hello": "Hello world!"}, {"a": "Hello world!"}]
    assert play("graphqlRequest")["batch"] != answer["batch"]


def test_node_reads_compressed_answers(play):
    """gzip, and br where its library is installed."""
    answer = play("compressed")
    assert answer["gzip"] == ["gzip", 5000]
    assert answer["identity"] == [None, 5000]
    assert answer["br"] in (["br", 5000], [None, 5000])


@pytest.mark.parametrize("transport", ["requests", "httpx", "aiohttp"])
def test_gql_of_python(schema, transport):
    """Queries, batches and uploads of pip's gql."""
    import io

    from gql import Client, GraphQLRequest, gql

    module = pytest.importorskip(f"gql.transport.{transport}")
    name = {"requests": "RequestsHTTP", "httpx": "HTTPX", "aiohttp": "AIOHTTP"}[transport]
    with serve(schema, port=0, access=Access(batch=10, uploads=True)) as server:
        client = Client(transport=getattr(module, f"{name}Transport")(url=server.url))
        assert client.execute(gql("{ hello }")) == {"hello": "Hello world!"}
        batch = [GraphQLRequest("{ hello }"), GraphQLRequest("{ a: hello }")]
        assert client.execute_batch(batch) == [{"hello": "Hello world!"}, {"a": "Hello world!"}]
        file = io.BytesIO(b"a,b")
        file.name = "t.csv"
        mutation = gql("mutation ($f: Upload!) { save(files: [$f]) }")
        mutation.variable_values = {"f": file}
        saved = client.execute(mutation, upload_files=True)
        (line,) = saved["save"]
        assert "b'a,b'" in line


def test_gql_of_python_reads_subscriptions_in_multipart(schema):
    """It insists on the boundary that it asks for."""
    from gql import Client, gql
    from gql.transport.aiohttp import AIOHTTPTransport

    with serve(schema, port=0) as server:
        client = Client(transport=AIOHTTPTransport(url=server.url))
        events = [*client.subscribe(gql("subscription { count(to: 300) }"))]
    assert events == [{"count": n} for n in range(300)]


def test_requests_of_python_ask_for_compression(schema):
    """Requests asks for gzip by default."""
    with serve(schema, port=0) as server:
        answer = requests.post(server.url, json={"query": "{ long }"}, timeout=10)
        assert answer.headers["content-encoding"] in {"gzip", "br", "zstd"}
        assert answer.headers["vary"] == "Accept-Encoding"
        assert len(answer.json()["data"]["long"]) == 5000

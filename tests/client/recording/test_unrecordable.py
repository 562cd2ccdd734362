"""Requests that cannot be recorded are refused while a recording is active."""

from __future__ import annotations

import io
from contextlib import ExitStack

import pytest

from gqlnb import Client, ReplayError, Schema, recorded, serve

SDL = """
type Query { hello: String }
type Mutation { size(file: Upload!): Int }
type Subscription { count(to: Int!): Int }
scalar Upload
"""
COUNT = "subscription { count(to: 2) }"
SIZE = "mutation ($file: Upload!) { size(file: $file) }"


@pytest.fixture
def asked():
    """Return a schema, and the operations started on it."""
    begun = []

    def size(root, args, context):
        begun.append("mutation")
        return len(args["file"].read())

    def count(root, args, context):
        begun.append("subscription")
        yield from range(args["to"])

    hello = {"hello": lambda *_: "Hello world!"}
    resolvers = {"Query": hello, "Mutation": {"size": size}, "Subscription": {"count": count}}
    return Schema(SDL, resolvers), begun


def within(stack, monkeypatch, kind, path, mode):
    """Activate a recording in one of the possible ways; return a client's options."""
    if kind == "environment":
        monkeypatch.setenv("GQLNB_REPLAY", str(path))
    elif kind == "block":
        stack.enter_context(recorded(path, mode=mode))
    else:
        return {"recording": path, "mode": mode}
    return {}


@pytest.mark.parametrize("where", ["in process", "socket"])
@pytest.mark.parametrize(
    ("kind", "mode", "way_out"),
    [
        ("client", "record", "ask a client that has no recording="),
        ("client", "replay", "ask a client that has no recording="),
        ("block", "auto", r"ask outside of `with gqlnb.recorded\(...\)`, and of cells with"),
        ("environment", "replay", "unset GQLNB_REPLAY"),
    ],
)
def test_subscriptions_and_files_are_refused(
    asked, tmp_path, monkeypatch, where, kind, mode, way_out
):
    """Before any request; afterwards, and without a recording, they work."""
    schema, begun = asked
    path = tmp_path / "it.jsonl"
    Client(schema, recording=path, mode="record").execute("{ hello }")
    with serve(schema, port=0) as server, ExitStack() as stack:
        options = within(stack, monkeypatch, kind, path, mode)
        client = Client(schema if where == "in process" else server.url, **options)
        with pytest.raises(ReplayError, match=f"cannot hold subscriptions: .*{way_out}"):
            client.subscribe(COUNT)
        with pytest.raises(ReplayError, match=f"cannot hold requests with files: .*{way_out}"):
            client.execute(SIZE, {"file": io.BytesIO(b"x")})
        assert begun == []
        assert len(server.log) == 0
    monkeypatch.delenv("GQLNB_REPLAY", raising=False)
    free = Client(schema)
    assert [event["count"] for event in free.subscribe(COUNT)] == [0, 1]
    assert free.execute(SIZE, {"file": io.BytesIO(b"123")})["size"] == 3
    assert b"file" not in path.read_bytes()

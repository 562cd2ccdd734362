"""A client of gql as a connection."""

from __future__ import annotations

import asyncio

import pytest

import gqlnb
from gqlnb import GqlnbError, QueryError, Token, TransportError

gql = pytest.importorskip("gql")
SECRET = "canary-gql1"
SDL = "type Query { hello: String fail: Int add(a: Int!): Int }"


@pytest.fixture
def server():
    """Serve a schema to whoever sends the secret."""
    schema = gqlnb.Schema(
        SDL,
        {
            "Query": {
                "hello": lambda *_: "Hello world!",
                "fail": lambda *_: 1 / 0,
                "add": lambda root, args, context: args["a"] + 1,
            }
        },
    )
    with gqlnb.serve(schema, port=0, token=Token(SECRET)) as made:
        yield made


def client(url, secret=SECRET):
    """Return a client of gql over requests, with a header of its own."""
    from gql.transport.requests import RequestsHTTPTransport

    headers = {"Authorization": f"Bearer {secret}"}
    return gql.Client(transport=RequestsHTTPTransport(url=url, headers=headers))


def test_it_is_asked_with_what_it_sends(server):
    """Its authentication; variables and operations as everywhere."""
    asked = gqlnb.Client(client(server.url))
    assert asked.execute("{ hello }").data == {"hello": "Hello world!"}
    text = "query A($a: Int!) { add(a: $a) } query B { hello }"
    assert asked.execute(text, {"a": 2}, operation="A").data == {"add": 3}
    assert asked.source == server.url
    assert "add" in asked.schema.query_type.fields
    assert asyncio.run(asked.aexecute("{ hello }")).data == {"hello": "Hello world!"}
    assert gqlnb.connect(client(server.url)).execute("{ hello }").data


def test_its_failures_are_ours(server):
    """Partial data are data; what was refused is an error without anything of gql behind it."""
    asked = gqlnb.Client(client(server.url))
    result = asked.execute("{ hello fail }")
    assert result["hello"] == "Hello world!"
    assert result.errors[0]["path"] == ["fail"]
    with pytest.raises(QueryError, match="Cannot query field 'helo'"):
        asked.execute("{ helo }")
    with pytest.raises(GqlnbError, match="Bad credentials") as caught:
        gqlnb.Client(client(server.url, "wrong")).execute("{ hello }")
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    server.close()
    with pytest.raises(TransportError) as caught:
        asked.execute("{ hello }")
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert SECRET not in str(caught.value)


def test_its_schema_is_used(server):
    """To check a text before it is sent."""
    from graphql import build_schema

    made = client(server.url)
    made.schema = build_schema(SDL)
    with pytest.raises(QueryError, match="Cannot query field 'helo'"):
        gqlnb.Client(made).execute("{ helo }")
    assert len(server.log) == 0


def test_headers_that_would_go_nowhere_are_refused(server):
    """It sends its own."""
    with pytest.raises(gqlnb.TargetError, match="sends its own headers"):
        gqlnb.Client(client(server.url), token=Token("abc"))

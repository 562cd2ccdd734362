"""A gql client as a connection, and our client as a transport of gql."""

from __future__ import annotations

import asyncio
import sys

import pytest

import gqlnb
from gqlnb import GqlnbError, QueryError, Token, TransportError
from tests.client.faults import Endpoint, json_answer

gql = pytest.importorskip("gql")
SECRET = "canary-gql1"
SDL = """
type Query { hello: String fail: Int add(a: Int!): Int }
type Mutation { size(file: Upload!): Int }
type Subscription { count(to: Int!): Int }
scalar Upload
"""
COUNT = "subscription ($to: Int!) { count(to: $to) }"
BOTH = pytest.mark.parametrize("asynchronous", [False, True])


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
            },
            "Subscription": {"count": lambda root, args, context: iter(range(args["to"]))},
        },
    )
    with gqlnb.serve(schema, port=0, token=Token(SECRET)) as made:
        yield made


def client(url, secret=SECRET):
    """Return a client of gql over requests, with a header of its own."""
    from gql.transport.requests import RequestsHTTPTransport

    headers = {"Authorization": f"Bearer {secret}"}
    return gql.Client(transport=RequestsHTTPTransport(url=url, headers=headers))


def test_a_gql_client_sends_its_own_authentication(server):
    """In each call; tests/contract has its answers."""
    asked = gqlnb.Client(client(server.url))
    assert asked.execute("{ hello }").data == {"hello": "Hello world!"}
    assert asked.source == server.url
    assert "add" in asked.schema.query_type.fields
    assert asyncio.run(asked.aexecute("{ hello }")).data == {"hello": "Hello world!"}
    assert gqlnb.connect(client(server.url)).execute("{ hello }").data


def test_failures_of_gql_are_raised_as_our_errors(server):
    """Without a gql exception as context."""
    asked = gqlnb.Client(client(server.url))
    with pytest.raises(GqlnbError, match="Bad credentials") as caught:
        gqlnb.Client(client(server.url, "wrong")).execute("{ hello }")
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    server.close()
    with pytest.raises(TransportError) as caught:
        asked.execute("{ hello }")
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert SECRET not in str(caught.value)


def test_the_schema_of_a_gql_client_is_used(server):
    """To validate a document before it is sent."""
    from graphql import build_schema

    made = client(server.url)
    made.schema = build_schema(SDL)
    with pytest.raises(QueryError, match="Cannot query field 'helo'"):
        gqlnb.Client(made).execute("{ helo }")
    assert len(server.log) == 0


def test_headers_beside_a_gql_client_are_refused(server):
    """The gql transport sends its own."""
    with pytest.raises(gqlnb.TargetError, match="sends its own headers"):
        gqlnb.Client(client(server.url), token=Token("abc"))


# -- the other way


def lent(server, *, asynchronous=False, **options):
    """Return a client of gql that sends through one of ours."""
    ours = gqlnb.Client(server, **options)
    return gql.Client(transport=ours.as_gql(asynchronous=asynchronous))


@BOTH
def test_gql_code_runs_through_our_client(server, asynchronous):
    """Documents, variables, operations, batches and introspection; the token stays here."""
    made = lent(server, asynchronous=asynchronous)
    assert made.execute(gql.gql("{ hello }")) == {"hello": "Hello world!"}
    text = "query A($a: Int!) { add(a: $a) } query B { hello }"
    both = [
        gql.GraphQLRequest(text, variable_values={"a": 2}, operation_name="A"),
        gql.GraphQLRequest(text, operation_name="B"),
    ]
    answers = [{"add": 3}, {"hello": "Hello world!"}]
    assert [made.execute(request) for request in both] == answers
    assert made.execute_batch(both) == answers
    told = gql.Client(transport=made.transport, fetch_schema_from_transport=True)
    told.execute(gql.gql("{ hello }"))
    assert "add" in told.schema.query_type.fields
    assert SECRET not in repr(vars(made.transport))


@BOTH
def test_partial_and_refused_results_are_gql_errors(server, asynchronous):
    """With data, errors and locations; also for requests refused before they are sent."""
    from gql.transport.exceptions import TransportQueryError

    made = lent(server, asynchronous=asynchronous)
    with pytest.raises(TransportQueryError) as caught:
        made.execute(gql.gql("{ hello fail }"))
    assert caught.value.data == {"hello": "Hello world!", "fail": None}
    assert caught.value.errors[0]["path"] == ["fail"]
    with pytest.raises(TransportQueryError, match="Cannot query field 'helo'") as caught:
        made.execute(gql.gql("{ helo }"))
    assert caught.value.errors[0]["locations"] == [{"line": 2, "column": 3}]  # as gql prints it
    known = lent(server, asynchronous=asynchronous, schema=SDL)
    asked = len(server.log)
    with pytest.raises(TransportQueryError, match="Cannot query field 'helo'"):
        known.execute(gql.gql("{ helo }"))
    assert len(server.log) == asked


@BOTH
def test_a_failed_request_is_a_gql_error(server, asynchronous):
    """With its status; the cause is our error, which has more details."""
    from gql.transport import exceptions as known

    wrong = gql.Client(
        transport=gqlnb.Client(server.url, token=Token("wrong")).as_gql(asynchronous=asynchronous)
    )
    with pytest.raises(known.TransportServerError, match="Bad credentials") as caught:
        wrong.execute(gql.gql("{ hello }"))
    assert caught.value.code == 401
    assert isinstance(caught.value.__cause__, gqlnb.AuthError)
    made = lent(server, asynchronous=asynchronous)
    server.close()
    with pytest.raises(known.TransportConnectionFailed, match="Nothing listens there") as caught:
        made.execute(gql.gql("{ hello }"))
    assert SECRET not in str(caught.value)


def test_an_invalid_answer_is_a_gql_error():
    """The same as with gql's own transports."""
    from gql.transport.exceptions import TransportProtocolError

    with Endpoint(json_answer({"neither": 1})) as endpoint:
        made = lent(endpoint.url)
        with pytest.raises(TransportProtocolError, match="neither"):
            made.execute(gql.gql("{ hello }"))


def test_subscriptions_of_gql_run_through_our_client(server):
    """Until they end or are closed; a refused one is a gql error."""
    from gql.transport.exceptions import TransportQueryError

    made = lent(server, asynchronous=True)
    request = gql.GraphQLRequest(COUNT, variable_values={"to": 3})
    assert list(made.subscribe(request)) == [{"count": 0}, {"count": 1}, {"count": 2}]

    async def there():
        async with made as session:
            stream = session.subscribe(gql.GraphQLRequest(COUNT, variable_values={"to": 10**9}))
            async for event in stream:
                assert event == {"count": 0}
                break
            await stream.aclose()
            with pytest.raises(TransportQueryError, match="Cannot query field 'nothing'"):
                await anext(session.subscribe(gql.gql("subscription { nothing }")))

    asyncio.run(there())


def test_files_of_gql_are_sent_through_our_client(tmp_path):
    """As gql's FileVar, by path or open."""
    (tmp_path / "a.txt").write_bytes(b"12345")
    size = {"size": lambda root, args, context: len(args["file"].read())}
    made = lent(gqlnb.Schema(SDL, {"Mutation": size}))
    with (tmp_path / "a.txt").open("rb") as file:
        for content in (str(tmp_path / "a.txt"), file):
            request = gql.GraphQLRequest(
                "mutation ($file: Upload!) { size(file: $file) }",
                variable_values={"file": gql.FileVar(content, filename="b.txt")},
            )
            assert made.execute(request, upload_files=True) == {"size": 5}


def test_recordings_are_replayed_to_gql_code(server, tmp_path):
    """The recording belongs to our client; a missing answer raises its usual error."""
    path = tmp_path / "it.jsonl"
    options = {"recording": path, "mode": "record", "token": Token(SECRET)}
    assert lent(server.url, **options).execute(gql.gql("{ hello }")) == {"hello": "Hello world!"}
    server.close()
    replayed = lent(server.url, recording=path, mode="replay")
    assert replayed.execute(gql.gql("{ hello }")) == {"hello": "Hello world!"}
    with pytest.raises(gqlnb.ReplayError, match="no answer"):
        replayed.execute(gql.gql("{ add(a: 1) }"))


def test_unsupported_request_members_are_refused(server):
    """Extensions of the request."""
    request = gql.GraphQLRequest("{ hello }")
    request.extensions = {"a": 1}  # older versions of gql take none
    with pytest.raises(gqlnb.OptionError, match="extensions="):
        lent(server).execute(request)


def test_a_missing_gql_is_named_in_the_error(monkeypatch):
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, "gql", None)
    monkeypatch.setitem(sys.modules, "gql.transport", None)
    with pytest.raises(gqlnb.MissingExtraError, match="pip install gql"):
        gqlnb.Client(gqlnb.reference_schema()).as_gql()

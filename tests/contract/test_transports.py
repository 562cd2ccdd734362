"""One contract for every transport and status profile, gql's among them; for recordings of each."""

import asyncio
from contextlib import contextmanager

import pytest

from gqlnb import (
    Access,
    AuthError,
    Client,
    PartialError,
    QueryError,
    Schema,
    Token,
    reference_schema,
    serve,
)
from gqlnb.server.app import App

SDL = """
type Query {
  hello: String fail: Int must: Int! later: Int
  add(a: Int!, b: Int = 2): Int items(n: Int!): [Item!]!
  any(a: Any): Any
}
scalar Any
type Item { id: ID! name: String! }
type Mutation { put(name: String!): Item }
"""


async def later(root, args, context):
    """Answer after giving way once."""
    await asyncio.sleep(0)
    return 7


def fail(root, args, context):
    """Fail on purpose, with words for the client."""
    from graphql import GraphQLError

    msg = "broken on purpose"
    raise GraphQLError(msg)


RESOLVERS = {
    "Query": {
        "hello": lambda *_: "Hello world!",
        "fail": fail,
        "must": fail,
        "add": lambda root, args, context: args["a"] + args["b"],
        "items": lambda root, args, context: [{"id": i, "name": f"n{i}"} for i in range(args["n"])],
        "later": later,
    },
    "Mutation": {"put": lambda root, args, context: {"id": 1, "name": args["name"]}},
}


LIVE = [
    "in process",
    "asgi",
    "asgi as drafted",
    "socket",
    "socket as drafted",
    "gql",
    "ours in gql",
]
DRAFT = Access(profile="draft")


@contextmanager
def living(way):
    """Yield what can be asked in a way."""
    schema = Schema(SDL, RESOLVERS)
    access = DRAFT if way.endswith("drafted") else None
    if way.startswith("asgi"):
        yield App(schema, access=access)
    elif way == "in process":
        yield schema
    else:
        with serve(schema, port=0, access=access) as server:
            yield in_gql(way, server.url) if "gql" in way else server.url


def in_gql(way, url):
    """Return a client of gql, with a transport of its own or one of ours."""
    gql = pytest.importorskip("gql")
    if way == "ours in gql":
        return gql.Client(transport=Client(url).as_gql())
    from gql.transport.requests import RequestsHTTPTransport

    return gql.Client(transport=RequestsHTTPTransport(url=url))


async def gone(scope, receive, send):
    """Be an application that answers nobody."""
    msg = "replayed, and asked all the same"
    raise RuntimeError(msg)


@pytest.fixture(params=[*LIVE, *(f"{way}, replayed" for way in LIVE)])
def client(request, tmp_path):
    """Yield a client each way: in process, through the ASGI app, over a socket, with gql between.

    Each once more from a recording: the test runs twice then, first against what is living, and
    then against a schema without resolvers, an application that is broken, a closed server.
    """
    way, _, replayed = request.param.partition(", ")
    with living(way) as target:
        if not replayed:
            with Client(target) as made:
                yield made
            return
        arguments = {k: v for k, v in request.node.callspec.params.items() if k != "client"}
        with Client(target, recording=tmp_path / "it.jsonl", mode="record") as made:
            request.function(client=made, **arguments)
    target = {"in process": Schema(SDL), "asgi": gone}.get(way.removesuffix(" as drafted"), target)
    yield Client(target, recording=tmp_path / "it.jsonl", mode="replay")


def test_hello_is_the_same_on_every_transport(client):
    """Every transport returns the greeting."""
    assert client.execute("{ hello }").data == {"hello": "Hello world!"}


@pytest.mark.parametrize(
    ("text", "variables", "data"),
    [
        ("{ add(a: 1) }", None, {"add": 3}),
        ("query ($a: Int!, $b: Int) { add(a: $a, b: $b) }", {"a": 1, "b": 5}, {"add": 6}),
        ("query ($a: Int!) { x: add(a: $a) y: add(a: 2) }", {"a": 1}, {"x": 3, "y": 4}),
        ('mutation { put(name: "ü🙂") { name } }', None, {"put": {"name": "ü🙂"}}),
        ("{ later hello }", None, {"later": 7, "hello": "Hello world!"}),
        ("{ items(n: 0) { id } }", None, {"items": []}),
    ],
)
def test_an_operation_has_the_same_data_on_every_transport(client, text, variables, data):
    """Queries, mutations, variables, defaults, async resolvers; the operation decides."""
    assert client.execute(text, variables).data == data
    assert asyncio.run(client.aexecute(text, variables)).data == data


def test_an_operation_is_chosen_by_name(client):
    """`operation=` is passed to the server."""
    assert client.execute("query A { hello } query B { add(a: 1) }", operation="B").data == {
        "add": 3
    }


def test_partial_data_is_returned_with_its_errors(client):
    """The failed field is null, and its error has a path and a location."""
    result = client.execute("{ hello fail }")
    assert result.data == {"hello": "Hello world!", "fail": None}
    (error,) = result.errors
    assert (error["message"], error["path"]) == ("broken on purpose", ["fail"])
    assert error["locations"] == [{"line": 1, "column": 9}]
    with pytest.raises(PartialError, match="fail: broken on purpose"):
        result.raise_for_errors()


def test_null_data_is_a_result(client):
    """A failed non-null root field leaves `data` null and present."""
    result = client.execute("{ must }")
    assert result.data is None
    assert result.errors[0]["path"] == ["must"]


@pytest.mark.parametrize(
    ("text", "variables", "message", "line", "column"),
    [
        (
            "{ helo }",
            None,
            "Cannot query field 'helo' on type 'Query'. Did you mean 'hello'?",
            1,
            3,
        ),
        ("{\n  hello", None, "Syntax Error: Expected Name, found <EOF>.", 2, 8),
        ("{ items(n: 1) }", None, "Field 'items' of type '[Item!]!' must have a selection", 1, 3),
        ("query ($a: Int!) { add(a: $a) }", None, "Variable '$a' of required type 'Int!'", 1, 8),
        ("query ($a: Int!) { add(a: $a) }", {"a": "x"}, "Variable '$a'", 1, 8),
    ],
)
def test_an_invalid_query_raises_the_same_error_everywhere(
    client, text, variables, message, line, column
):
    """Class, message and location are the same, whichever side detects it."""
    with pytest.raises(QueryError) as caught:
        client.execute(text, variables)
    problem = caught.value.problems[0]
    assert problem.message.startswith(message)
    assert (problem.line, problem.column) == (line, column)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (NAN, r"Variable '\$a' of type 'Any': nan has no JSON form"),
        ([1.0, [-INF]], r"Variable '\$a' of type 'Any': -inf at \[1\]\[0\] has no JSON form"),
        ({"b": "canary\ud800"}, r"Variable '\$a': Lone surrogate in text at b: "),
        ({"b": [{"\udfff": 1}]}, r"Variable '\$a': Lone surrogate in text of a key at b\[0\]"),
    ],
)
def test_a_variable_without_a_json_form_raises_the_same_everywhere(client, value, place):
    """The error names the variable and the path in it, but not the value."""
    for known in (False, True):
        assert not known or client.schema
        with pytest.raises(QueryError, match=place) as caught:
            client.execute("query ($a: Any) { any(a: $a) }", {"a": value})
        assert "canary" not in str(caught.value)


def test_a_query_without_a_json_form_raises_the_same_everywhere(client):
    """For a lone surrogate in the text."""
    with pytest.raises(QueryError, match=r"Invalid character within String: U\+D800"):
        client.execute('{ any(a: "\ud800") }')


def test_a_missing_selection_lists_the_fields_everywhere(client):
    """The hint is sent with the error."""
    with pytest.raises(QueryError, match="Item has: id, name"):
        client.execute("{ items(n: 1) }")


def test_rows_become_the_same_frame_everywhere(client):
    """Once the schema is known, it determines the dtypes."""
    assert client.schema.query_type is not None
    frame = client.frame("{ items(n: 3) { id name } }")
    assert frame["name"].tolist() == ["n0", "n1", "n2"]
    assert [str(kind).split("[")[0] for kind in frame.dtypes] == ["string", "string"]
    assert client.frame("{ items(n: 0) { id } }").columns.tolist() == ["id"]


def test_the_schema_is_fetched_once_and_validates_later_queries(client):
    """An invalid query is not sent."""
    assert client.schema is client.schema
    with pytest.raises(QueryError, match="Cannot query field 'helo'"):
        client.execute("{ helo }")


def test_a_closed_client_can_be_reused(client):
    """Closing releases connections only."""
    client.close()
    assert client.execute("{ hello }").data == {"hello": "Hello world!"}


def test_a_client_of_a_server_object_sends_the_servers_token():
    """It need not be repeated."""
    with serve(reference_schema(), port=0, token=Token("canary-12")) as server:
        assert Client(server).execute("{ hello }").data == {"hello": "Hello world!"}
        with pytest.raises(AuthError, match="requires you to be authenticated"):
            Client(server.url).execute("{ hello }")


def test_the_reference_schema_answers_over_http():
    """`{ hello }` returns `Hello world!`."""
    with serve(reference_schema(), port=0) as server:
        assert Client(server).execute("{ hello }").data == {"hello": "Hello world!"}

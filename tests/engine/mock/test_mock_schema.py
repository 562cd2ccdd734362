"""A mock: what it makes of arguments, mutations and subscriptions, and resolvers beside it."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import graphql
import pytest
import strawberry

from gqlnb import Client, Schema, SchemaError, serve

SDL = """
scalar DateTime
scalar Money
enum Color { RED GREEN }
interface Node { id: ID! }
interface Nobody { id: ID! }
type PageInfo {
  hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
}
type RepoEdge { cursor: String! node: Repo }
type RepoConnection { edges: [RepoEdge] nodes: [Repo] pageInfo: PageInfo! totalCount: Int! }
type Repo implements Node {
  id: ID! name: String! owner: User! stars: Int createdAt: DateTime! updatedAt: DateTime!
  color: Color price: Money tags: [String!]! paths: [[String!]!]!
}
type User implements Node {
  id: ID! login: String! name: String email: String repo(name: String!): Repo
  repos(first: Int, after: String, last: Int, before: String, orderBy: Color, color: Color):
    RepoConnection!
}
type Point { x: Int! y: Int! }
type Thing { id: Int! name: String! }
union Any = Repo | User
input RepoInput { name: String!, color: Color, tags: [String!], note: String }
input UpdateInput { id: ID!, name: String, repo: RepoInput }
type RepoPayload { note: String repo: Repo edge: RepoEdge errors: [String!]! userName: String }
type Query {
  viewer: User! user(login: String!): User node(id: ID!): Node nodes(ids: [ID!]!): [Node]!
  repo(owner: String, name: String): Repo! search(text: String!, first: Int): [Any!]!
  thing(id: ID, name: String): Thing! nobody: Nobody sure: [Nobody!]! point(x: Int): Point!
  words: [String] hello: String
}
type Mutation {
  createRepo(input: RepoInput!): RepoPayload updateRepo(input: UpdateInput!): RepoPayload
  renameUser(userId: ID!, name: String!): User
}
type Subscription { added(owner: String): Repo! count: Int! json: DateTime }
"""


@pytest.fixture(scope="module")
def schema():
    """Return a mock of the schema above."""
    return Schema.mock(SDL, seed=1)


def ask(schema: Schema, text: str, **variables: Any) -> Any:
    """Return the data of an answer without errors."""
    result = schema.execute(text, variables)
    assert not result.errors
    return result.data


# -- looked up


def test_an_object_has_the_values_it_is_looked_up_by(schema):
    """A user found by login has this login, and is found again by its id."""
    found = ask(schema, '{ user(login: "ada") { id login name email } }')["user"]
    assert found["login"] == "ada"
    text = "query ($i: ID!) { node(id: $i) { ... on User { id login name email } } }"
    assert ask(schema, text, i=found["id"])["node"] == found


def test_nested_objects_belong_to_their_parent(schema):
    """Repositories of one name differ between users, and each is found again."""
    text = 'query ($l: String!) { user(login: $l) { repo(name: "web") { id name stars } } }'
    ada, bob = (ask(schema, text, l=login)["user"]["repo"] for login in ("ada", "bob"))
    assert ada["name"] == bob["name"] == "web"
    assert ada["id"] != bob["id"]
    text = "query ($i: [ID!]!) { nodes(ids: $i) { ... on Repo { id name stars } } }"
    assert ask(schema, text, i=[bob["id"], ada["id"]])["nodes"] == [bob, ada]


def test_arguments_that_are_not_fields_select_different_objects(schema):
    """`owner` is no text field of a repository, but two owners give two repositories."""
    text = 'query ($o: String) { repo(owner: $o, name: "web") { id name } }'
    found = [ask(schema, text, o=owner)["repo"] for owner in ("ada", "bob", "ada")]
    assert found[0] == found[2] != found[1]


def test_an_id_of_another_type_is_converted(schema):
    """An Int id is found by its text; a text that is not a number selects an object too."""
    assert ask(schema, '{ thing(id: "12") { id } }') == {"thing": {"id": 12}}
    assert ask(schema, '{ thing(id: "x") { id } }')["thing"]["id"] > 0
    assert ask(schema, '{ thing(name: "nut") { name } }') == {"thing": {"name": "nut"}}


@pytest.mark.parametrize(
    "identity",
    [
        'User:{"login":5,"name":null,"repos":1}',
        'Repo:{"color":"BLUE","stars":99999999999,"createdAt":7}',
        'Repo:{"color":["RED"],"stars":true}',
        'User:{"login',
        "User:{" + '"a":{' * 5000,
        "Nobody:1",
        ":",
        "",
        "\ud83e\udd86",
    ],
)
def test_any_id_selects_a_mocked_object(schema, identity):
    """The object has the given id and the declared type."""
    text = """query ($i: ID!) { node(id: $i) { id ... on User { login repos { totalCount } }
              ... on Repo { color stars createdAt } } }"""
    assert ask(schema, text, i=identity)["node"]["id"] == identity


def test_two_paths_to_one_person_return_equal_data(schema):
    """Name, login and e-mail match, and creation precedes update."""
    text = '{ search(text: "x", first: 50) { ... on User { name login email } } }'
    people = [row for row in ask(schema, text)["search"] if row]
    assert people
    for row in people:
        if row["name"] and row["email"]:
            first, last = row["name"].lower().split()
            assert re.fullmatch(f"{first}-{last}[0-9]+", row["login"])
            assert row["email"].startswith(f"{first}.{last}")
    text = "{ viewer { repos { nodes { createdAt updatedAt } } } }"
    rows = ask(schema, text)["viewer"]["repos"]["nodes"]
    assert rows
    assert all(row["createdAt"] < row["updatedAt"] for row in rows)


def test_foreign_ids_refer_to_their_object():
    """`authorId` is the id of the adjacent author, `userId` one of any user."""
    sdl = """type Query { posts: [Post!]! }
        type Post { authorId: ID! author: User! userId: ID! thingId: Int! thingsId: ID! }
        type User { id: ID! } type Thing { id: Int! }"""
    rows = ask(Schema.mock(sdl), "{ posts { authorId author { id } userId thingId thingsId } }")
    for row in rows["posts"]:
        assert row["authorId"] == row["author"]["id"]
        assert re.fullmatch("User:[0-9]+", row["userId"])
        assert row["thingId"] > 0
        assert ":" not in row["thingsId"]


# -- lists and pages


FRAGMENTS = """
interface Node { id: ID! }
interface Owner { login: String! }
type User implements Node & Owner { id: ID! login: String! bio: String! friend: Owner! }
type Bot implements Node & Owner { id: ID! login: String! version: Int! }
type Team implements Node { id: ID! slug: String! }
type Issue implements Node { id: ID! title: String! subjects: [Subject!]! }
type Pull implements Node { id: ID! title: String! diff: String! }
union Subject = Issue | Pull | Team
type SubjectConnection { nodes: [Subject!]! edges: [SubjectEdge!]! pageInfo: PageInfo! }
type SubjectEdge { node: Subject! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
enum Kind { ISSUE TEAM }
input StarInput { starrableId: ID! }
type StarPayload { subject: Subject! }
type Query {
  node(id: ID!): Node!  nodes(ids: [ID!]!): [Node!]!  owner(login: String!): Owner!
  search(type: Kind, first: Int): SubjectConnection!  list: [Subject!]!  grid: [[Owner!]!]!
}
type Mutation { star(input: StarInput!): StarPayload }
type Subscription { happened: Subject! }
"""


@pytest.mark.parametrize(
    "text",
    [
        '{ node(id: "MDQ6VXNlcjE=") { ... on Team { slug } } }',
        '{ nodes(ids: ["a", "b", "c", "d"]) { ... on Pull { diff } ... on Bot { version } } }',
        '{ owner(login: "ada") { ... on User { bio friend { ... on Bot { version } } } } }',
        "{ search(first: 9) { nodes { ...A } edges { node { ...B } } } }"
        " fragment A on Subject { ... on Node { ... on Pull { diff } } }"
        " fragment B on Team { slug }",
        "{ search(type: ISSUE, first: 9) { nodes { ... on Pull { diff } } } }",
        "{ list { ... on Issue { subjects { ... on Team { slug } } } } }",
        "{ grid { ... on Bot { version } } }",
        "query ($n: Int = 9) { search(first: $n) { nodes { ... { ... on Issue { title } } } } }",
        '{ node(id: "x") { ... on Owner { login } } }',
        'mutation { star(input: {starrableId: "x"}) { subject { ... on Pull { diff } } } }',
        "subscription { happened { ... on Issue { title } } }",
    ],
)
def test_objects_have_the_types_that_fragments_name(text):
    """Wherever the type is open: none comes back empty, with any seed, and it is the same twice."""
    for seed in range(3):
        answers = []
        for _ in range(2):
            schema = Schema.mock(FRAGMENTS, seed=seed, nulls=0, lengths=(3, 6))
            is_stream = text.startswith("subscription")
            results = list(schema.subscribe(text)) if is_stream else [schema.execute(text)]
            assert not any(result.errors for result in results)
            answers.append(json.dumps([result.data for result in results]))
        assert "{}" not in answers[0]
        assert answers[0] == answers[1]


def test_a_type_that_is_certain_or_named_stays():
    """By the id, by an argument, and among the named ones: all of them occur."""
    schema = Schema.mock(FRAGMENTS, nulls=0)
    text = '{ node(id: "User:1") { __typename ... on Team { slug } } }'
    assert schema.execute(text).data == {"node": {"__typename": "User"}}
    spread = "__typename ... on Issue { title } ... on Team { slug }"
    kinds = schema.execute(f"{{ search(first: 40) {{ nodes {{ {spread} }} }} }}").data["search"]
    assert {node["__typename"] for node in kinds["nodes"]} == {"Issue", "Team"}
    kinds = schema.execute(f"{{ search(type: TEAM, first: 9) {{ nodes {{ {spread} }} }} }}").data
    assert {node["__typename"] for node in kinds["search"]["nodes"]} == {"Team"}
    plain = "{ search(first: 40) { nodes { __typename } } }"
    kinds = schema.execute(plain).data["search"]
    assert {node["__typename"] for node in kinds["nodes"]} == {"Issue", "Pull", "Team"}


def test_ordering_keeps_the_connection_size_and_filters_change_it(schema):
    """A different order has the same items; a different filter is a different connection."""
    text = """{ viewer { a: repos { ...P } b: repos(orderBy: RED) { ...P }
              c: repos(color: RED) { ...P } } }
              fragment P on RepoConnection { totalCount nodes { id } }"""
    found = ask(schema, text)["viewer"]
    assert found["a"] == found["b"] != found["c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("first: -1", "'first' of 'repos' is 0 or more; got -1."),
        ('after: "Y3Vy"', "'Y3Vy' is not a cursor of 'repos'. Take one from its last result."),
    ],
)
def test_invalid_page_arguments_are_an_error(schema, arguments, message):
    """A negative number and a foreign cursor."""
    result = schema.execute(f"{{ viewer {{ repos({arguments}) {{ totalCount }} }} }}")
    assert [error["message"] for error in result.errors] == [message]


def test_a_page_beyond_the_end_is_empty(schema):
    """After the last cursor there are no items and hasNextPage is false."""
    text = """query ($c: String) { viewer { repos(after: $c) { nodes { id }
              pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
    whole = ask(schema, text)["viewer"]["repos"]
    rest = ask(schema, text, c=whole["pageInfo"]["endCursor"])["viewer"]["repos"]
    assert rest == {
        "nodes": [],
        "pageInfo": {
            "hasNextPage": False,
            "hasPreviousPage": True,
            "startCursor": None,
            "endCursor": None,
        },
    }


def test_an_interface_without_implementations_is_null(schema):
    """A list of such an interface is empty."""
    assert ask(schema, "{ nobody { id } sure { id } }") == {"nobody": None, "sure": []}


# -- mutations and subscriptions


def test_a_mutation_returns_its_input_values(schema):
    """Input fields appear in the payload and its objects, without errors."""
    text = """mutation { createRepo(input: {name: "new", color: GREEN, tags: ["a"], note: "n"}) {
        note errors repo { id name color tags owner { name } } edge { node { id name } } } }"""
    payload = ask(schema, text)["createRepo"]
    assert (payload["note"], payload["errors"]) == ("n", [])
    repo = payload["repo"]
    assert (repo["name"], repo["color"], repo["tags"]) == ("new", "GREEN", ["a"])
    assert repo["owner"]["name"] != "new"
    assert payload["edge"]["node"] == {"id": repo["id"], "name": "new"}
    text = "query ($i: ID!) { node(id: $i) { ... on Repo { name color } } }"
    assert ask(schema, text, i=repo["id"])["node"] == {"name": "new", "color": "GREEN"}


def test_a_mutation_of_an_object_returns_that_object(schema):
    """The updated object has its id, the given values and its other mocked values."""
    before = ask(schema, '{ node(id: "Repo:5") { ... on Repo { id name stars } } }')["node"]
    text = """mutation { updateRepo(input: {id: "Repo:5", name: "new", repo: {name: "newer"}}) {
        repo { id name stars } } }"""
    after = ask(schema, text)["updateRepo"]["repo"]
    assert after == {**before, "name": "newer"}
    text = 'mutation { renameUser(userId: "User:9", name: "Ada") { id name } }'
    assert ask(schema, text) == {"renameUser": {"id": "User:9", "name": "Ada"}}
    again = ask(schema, '{ node(id: "Repo:5") { ... on Repo { id name stars } } }')["node"]
    assert again == before


def test_a_subscription_is_a_short_stream(schema):
    """Three events, different ones, the same each time."""
    text = 'subscription { added(owner: "ada") { id name } }'
    first, second = ([result.data for result in schema.subscribe(text)] for _ in range(2))
    assert len(first) == 3
    assert first == second
    assert len({event["added"]["id"] for event in first}) == 3
    assert len(list(schema.subscribe("subscription { count }"))) == 3


def test_a_subscription_may_be_an_object():
    """A service of paid plans has a type with the name of the root."""
    sdl = """
        type Query { plan: Subscription! }
        type Subscription { id: ID! state: State! }
        enum State { PAID }
    """
    schema = Schema.mock(sdl)
    assert ask(schema, "{ plan { state } }") == {"plan": {"state": "PAID"}}
    assert len(list(schema.subscribe("subscription { state }"))) == 3


# -- resolvers of one's own


def test_custom_resolvers_override_mocked_values():
    """A function resolves its field, and reads mocked fields from its root."""
    made = Schema.mock(SDL, resolvers={"Query": {"hello": lambda *_: "own"}})
    assert ask(made, "{ hello }") == {"hello": "own"}

    @made.resolver("User.name")
    def name(root: Any, args: dict[str, Any], context: Any) -> str:
        return f"the {root['login']}"

    found = ask(made, '{ user(login: "ada") { login name } }')["user"]
    assert found == {"login": "ada", "name": "the ada"}
    with pytest.raises(SchemaError, match="no such field"):
        Schema.mock(SDL, resolvers={"Query": {"helo": lambda *_: "own"}})


@pytest.mark.parametrize("make", [dict, SimpleNamespace])
def test_a_partial_object_is_completed_with_mocked_values(make):
    """Missing fields are mocked, by the id where there is one."""
    made = Schema.mock(SDL)
    made.resolver("Query.viewer")(lambda *_: make(id="User:7", name="Own", email=None))
    found = ask(
        made, '{ viewer { id name email login } node(id: "User:7") { ... on User { login } } }'
    )
    assert found["viewer"]["id"] == "User:7"
    assert found["viewer"]["name"] == "Own"
    assert found["viewer"]["email"] is None
    assert found["viewer"]["login"] == found["node"]["login"]


def test_custom_interface_values_define_their_type():
    """A mapping by `__typename`, an object by its class."""

    class User:
        id = "User:1"

    made = Schema.mock(SDL)
    for value in ({"__typename": "User", "id": "User:1"}, User()):
        made.resolver("Query.node")(lambda *_, value=value: value)
        found = ask(made, '{ node(id: "x") { __typename id ... on User { login } } }')["node"]
        assert (found["__typename"], found["id"]) == ("User", "User:1")
        assert found["login"]


def test_custom_scalars_are_mocked():
    """A scalar is made as a known one is, or by a function."""
    text = "{ viewer { repos { nodes { price } } } }"
    made = Schema.mock(SDL, scalars={"Money": "Decimal"}, nulls=0)
    rows = ask(made, text)["viewer"]["repos"]["nodes"]
    assert all(re.fullmatch(r"[0-9]+\.[0-9]{2}", row["price"]) for row in rows)
    made = Schema.mock(SDL, scalars={"Money": lambda number: {"cents": number % 10}}, nulls=0)
    assert set(ask(made, text)["viewer"]["repos"]["nodes"][0]["price"]) == {"cents"}


# -- where the schema is from


def test_introspection_sdl_and_schema_objects_give_equal_mocks(schema):
    """The data are equal for each form; a schema object keeps its resolvers."""
    text = "{ viewer { login repos(first: 3) { nodes { id name tags paths color } } } }"
    want = ask(schema, text)
    told = graphql.introspection_from_schema(graphql.build_schema(SDL))
    given = graphql.build_schema(SDL)
    for source in (told, {"data": told}, json.dumps({"data": told}), given, Schema(SDL), schema):
        assert ask(Schema.mock(source, seed=1), text) == want
    assert given.type_map["User"].fields["login"].resolve is None


def test_a_schema_of_another_library_is_mocked_too():
    """Its own functions are not called."""

    @strawberry.type
    class Query:
        @strawberry.field
        def hello(self, name: str) -> str:
            raise NotImplementedError

    assert ask(Schema.mock(strawberry.Schema(Query)), '{ hello(name: "x") }')["hello"]


DOUBTFUL = {
    # GitHub's own SDL: fields of two types are defined twice
    "type Query { a: Int b: Bar } type Bar { c: Int c: Int }": "'Bar.c' can only be defined once",
    "type Query { a: Int } directive @x on FIELD directive @x on FIELD": "one directive named '@x'",
    "interface N { b: Int } type A implements N { x: Int } type Query { a: Int }": "field N.b expe",
}


@pytest.mark.parametrize(("sdl", "mistake"), DOUBTFUL.items())
def test_invalid_published_schemas_are_mocked_with_a_warning(sdl, mistake):
    """The warning equals that of the client where the client tolerates the same faults."""
    with pytest.warns(UserWarning, match=f"in spite of a mistake in it: .*{mistake}") as caught:
        made = Schema.mock(sdl, nulls=0)
    assert caught[0].filename == __file__
    assert made.notes == (str(caught[0].message),)
    assert type(ask(made, "{ a }")["a"]) is int
    told = Client("http://127.0.0.1:9/graphql", schema=sdl).schema_notes
    assert [*told] in ([], [*made.notes])
    assert Schema.mock(SDL).notes == ()


def test_an_introspection_with_an_invalid_default_is_mocked():
    """The default value is dropped."""
    told: Any = graphql.introspection_from_schema(
        graphql.build_schema("type Query { a(b: Int = 1): Int }")
    )
    (kind,) = [kind for kind in told["__schema"]["types"] if kind["name"] == "Query"]
    kind["fields"][0]["args"][0]["defaultValue"] = "}{"
    with pytest.warns(UserWarning, match=r"no GraphQL, which are left out: Query.a\(b:\)"):
        made = Schema.mock({"data": told}, nulls=0)
    assert type(ask(made, "{ a }")["a"]) is int


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("type Query {", "Syntax Error"),
        ("type Query { a: Nope }", "Unknown type 'Nope'"),
        ("", "The SDL is empty"),
        ("schema.graphql", "the name of a file"),
        ('{"data": null}', "no '__schema'"),
        ({"__schema": {}}, "The introspection result describes no schema"),
        (
            {"__schema": {"queryType": {"name": "Query"}, "types": []}},
            "The introspection result describes no schema",
        ),
        (5, "A int can't be mocked."),
    ],
)
def test_sources_that_are_not_schemas_are_refused(source, message):
    """The error describes the given value."""
    with pytest.raises(SchemaError, match=message):
        Schema.mock(source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nulls": 2}, "nulls= is the share"),
        ({"lengths": (3, 1)}, r"lengths= is \(fewest, most\)"),
        ({"lengths": 3}, r"lengths= is \(fewest, most\).* got 3"),
        ({"sizes": (-1, 1)}, "sizes= is"),
        ({"scalars": {"String": "Date"}}, "no such scalar"),
        ({"scalars": {"Money": "Coins"}}, "scalars= says 'Coins' of 'Money'"),
    ],
)
def test_unknown_mock_options_are_refused(options, message):
    """The error describes valid options."""
    with pytest.raises(SchemaError, match=message):
        Schema.mock(SDL, **options)


# -- in use


def test_concurrent_threads_get_equal_mock_responses():
    """The mock is new, and threads query it in any order."""
    texts = [
        "{ viewer { id email repos(first: 5) { nodes { id stars } pageInfo { endCursor } } } }",
        "{ point { x y } viewer { repos(first: 2) { totalCount edges { cursor node { id } } } } }",
        '{ repo(name: "web") { id stars createdAt color } }',
        '{ user(login: "ada") { id name email } }',
    ]
    alone = Schema.mock(SDL, seed=5)
    want = {text: ask(alone, text) for text in texts}
    made = Schema.mock(SDL, seed=5)
    begin = Barrier(8)

    def work(first: int) -> list[tuple[str, Any]]:
        begin.wait(20)
        order = texts[first % 4 :] + texts[: first % 4]
        return [(text, ask(made, text)) for _ in range(20) for text in order]

    with ThreadPoolExecutor(8) as threads:
        found = [each for done in threads.map(work, range(8)) for each in done]
    assert len(found) == 8 * 20 * 4
    assert all(want[text] == data for text, data in found)


def test_a_served_mock_is_read_as_frames(schema):
    """The HTTP response equals the one in process, and makes a typed frame."""
    text = "{ viewer { repos(first: 7) { nodes { id stars createdAt color } } } }"
    with serve(schema, port=0) as server, Client(server.url) as client:
        assert client.execute(text).data == schema.execute(text).data
    frame = schema.execute(text).frame()
    assert len(frame) == 7
    dtypes = frame.dtypes.astype(str).to_dict()
    assert (dtypes["stars"], dtypes["color"]) == ("Int64", "category")
    assert "UTC" in dtypes["createdAt"]


def test_mocked_data_of_a_seed_are_stable():
    """Results are equal in every release and on every version of Python."""
    made = Schema.mock(SDL, seed=7)
    text = '{ viewer { id login email } point { x y } repo(name: "web") { id stars createdAt } }'
    assert ask(made, text) == {
        "viewer": {
            "id": "User:1432347813",
            "login": "maya-diaz83",
            "email": "maya.diaz83@example.org",
        },
        "point": {"x": 2, "y": 112},
        "repo": {"id": 'Repo:{"name":"web"}', "stars": 9, "createdAt": "2019-07-16T06:22:23Z"},
    }

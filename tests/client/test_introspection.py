"""Introspection queries: complete first, reduced if an endpoint refuses, and bounded in number."""

from __future__ import annotations

import json

import pytest
from graphql import (
    FieldNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    build_schema,
    introspection_from_schema,
    parse,
    visit,
)

from gqlnb import AnswerError, AuthError, Client, RateLimited, SchemaError, TransportError
from tests.client.faults import Endpoint, answer, json_answer

SDL = 'schema { query: Query } "A root." type Query { hello(x: [[Int!]!]! = [[1]]): String }'
TOLD = json_answer({"data": introspection_from_schema(build_schema(SDL))})
RICH = ("isOneOf", "specifiedByURL", "isRepeatable", "args(includeDeprecated: true)")


def refusal(*messages: str, code: str | None = None, status: str = "200 OK") -> bytes:
    """Return an answer of errors alone."""
    more = {"extensions": {"code": code}} if code else {}
    return json_answer({"errors": [{"message": it, **more} for it in messages]}, status)


def asked(endpoint: Endpoint) -> list[str]:
    """Return the texts that were asked."""
    return [json.loads(request.partition(b"\r\n\r\n")[2])["query"] for request in endpoint.requests]


def test_a_modern_endpoint_gets_one_complete_query(endpoint):
    """Descriptions, deprecated arguments, and additions of newer specifications."""
    made = endpoint(TOLD)
    client = Client(made.url)
    assert client.schema.query_type is not None
    assert client.schema is client.schema
    (text,) = asked(made)
    assert all(word in text for word in (*RICH, "description"))
    assert client.schema_notes == ()


ARGUMENT = 'Unknown argument "includeDeprecated" on field'
NEWER = {  # graphql-js 14.7; 15.5 has all of these but the last three
    'Cannot query field "description" on type "__Schema". Did you mean "subscriptionType"?': (
        "__Schema.description"
    ),
    'Cannot query field "isRepeatable" on type "__Directive".': "__Directive.isRepeatable",
    f'{ARGUMENT} "args" of type "__Field".': "__Field.args(includeDeprecated)",
    f'{ARGUMENT} "inputFields" of type "__Type".': "__Type.inputFields(includeDeprecated)",
    'Cannot query field "isDeprecated" on type "__InputValue".': "__InputValue.isDeprecated",
    'Cannot query field "deprecationReason" on type "__InputValue".': (
        "__InputValue.deprecationReason"
    ),
    'Cannot query field "isOneOf" on type "__Type".': "__Type.isOneOf",
    'Cannot query field "specifiedByURL" on type "__Type". Did you mean "specifiedByUrl"?': (
        "__Type.specifiedByURL"
    ),
    f'{ARGUMENT} "__Directive.args".': "__Directive.args(includeDeprecated)",
}


def list_coordinates(text: str) -> set[str]:
    """Return the coordinates of the fields and arguments of an introspection query."""
    found = set()
    types = TypeInfo(build_schema("type Query { a: Int }"))

    class Collector(Visitor):
        def enter_field(self, node: FieldNode, *_: object) -> None:
            place = f"{types.get_parent_type()}.{node.name.value}"
            found.add(place)
            found.update(f"{place}({it.name.value})" for it in node.arguments or ())

    visit(parse(text), TypeInfoVisitor(types, Collector()))
    return found


@pytest.mark.parametrize(
    ("messages", "dropped"),
    [
        ([*NEWER], {*NEWER.values()}),
        ([*NEWER][6:], {*[*NEWER.values()][6:]}),
        *(([message], {place}) for message, place in NEWER.items()),
        (["Field 'specifiedByURL' doesn't exist on type '__Type'"], {"__Type.specifiedByURL"}),
        (["field 'isRepeatable' not found in type: '__Directive'"], {"__Directive.isRepeatable"}),
        (
            ["Field 'args' doesn't accept argument 'includeDeprecated'"],
            {"__Field.args(includeDeprecated)", "__Directive.args(includeDeprecated)"},
        ),
        ([f'{ARGUMENT} "__Type.enumValues".'], {"__Type.enumValues(includeDeprecated)"}),
    ],
)
@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request"])
def test_fields_refused_by_the_endpoint_are_dropped(endpoint, messages, dropped, status):
    """The second query lacks only those, and a note says so."""
    made = endpoint(refusal(*messages, status=status), TOLD)
    client = Client(made.url)
    assert client.schema.query_type is not None
    first, second = map(list_coordinates, asked(made))
    assert first - second == dropped
    assert "does not describe" in client.schema_notes[0]


def test_fields_refused_one_at_a_time_are_dropped_one_at_a_time(endpoint):
    """Some endpoints report the first error alone; a place without a name is found by location."""
    made = endpoint(*map(refusal, [*NEWER][:6]), TOLD)
    assert Client(made.url).schema
    texts = asked(made)
    assert list_coordinates(texts[0]) - list_coordinates(texts[-1]) == {*[*NEWER.values()][:6]}
    line = next(n for n, it in enumerate(texts[0].splitlines(), 1) if "inputFields(" in it)
    error = {"message": "The argument `includeDeprecated` does not exist."}
    place = {"line": line, "column": texts[0].splitlines()[line - 1].index("includeDep") + 1}
    made = endpoint(json_answer({"errors": [{**error, "locations": [place]}]}), TOLD)
    assert Client(made.url).schema
    first, second = map(list_coordinates, asked(made))
    assert first - second == {"__Type.inputFields(includeDeprecated)"}


@pytest.mark.parametrize("status", ["400 Bad Request", "500 Oops", "422 No"])
def test_an_unexplained_refusal_leads_to_the_minimal_query(endpoint, status):
    """Some endpoints fail on unknown fields."""
    made = endpoint(answer("<p>Oops", status, Content_Type="text/html"), TOLD)
    assert Client(made.url).schema
    assert not any(word in asked(made)[1] for word in RICH)


def test_a_depth_limit_leads_to_shallower_type_references(endpoint):
    """Nine levels are more than most schemas have."""
    made = endpoint(refusal("Query is too deep: 15 exceeds the maximum depth of 11."), TOLD)
    client = Client(made.url)
    assert client.schema
    first, second = asked(made)
    assert second.count("ofType") < first.count("ofType")
    assert "3 levels" in client.schema_notes[0]


FORBIDDING = {
    "Apollo": refusal(
        "GraphQL introspection is not allowed by Apollo Server, but the query contained __schema "
        "or __type.",
        code="INTROSPECTION_DISABLED",
        status="400 Bad Request",
    ),
    "graphql-js": refusal(
        "GraphQL introspection has been disabled, but the requested query contained the field "
        '"__schema".'
    ),
    "graphql-ruby": refusal("Field '__schema' doesn't exist on type 'Query'"),
    "403": json_answer({"message": "Forbidden"}, "403 Forbidden"),
    "403 page": answer("<p>No", "403 Forbidden", Content_Type="text/html"),
    "null": json_answer(
        {"data": {"__schema": None}, "errors": [{"message": "Introspection is off."}]}
    ),
}


@pytest.mark.parametrize("whose", FORBIDDING)
def test_an_endpoint_without_introspection_is_still_usable(endpoint, whose):
    """One request and one error with the remedy; queries are sent unvalidated."""
    made = endpoint(FORBIDDING[whose], json_answer({"data": {"hello": "Hi"}}))
    client = Client(made.url)
    for _ in range(2):
        with pytest.raises(SchemaError, match=r"refuses introspection: .*pass schema= the path"):
            client.schema  # noqa: B018
    assert len(made.requests) == 1
    assert client.execute("{ hello }").data == {"hello": "Hi"}
    assert client.schema_notes == ()


def test_introspection_stops_after_a_few_refusals(endpoint):
    """The last refusal is raised."""
    made = endpoint(
        refusal('Cannot query field "isOneOf" on type "__Type".'), refusal("I do not like this.")
    )
    with pytest.raises(SchemaError, match="I do not like this"):
        Client(made.url).schema  # noqa: B018
    assert len(made.requests) <= 4


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (json_answer({"message": "Bad credentials"}, "401 No"), AuthError),
        (json_answer({"message": "Slow"}, "429 Slow", Retry_After="86400"), RateLimited),
        (json_answer({"message": "Not found"}, "404 Not Found"), TransportError),
        (answer("<p>Hello", Content_Type="text/html"), AnswerError),
    ],
)
def test_other_errors_are_raised_unchanged(endpoint, said, kind):
    """An invalid token, a rate limit, a wrong address."""
    made = endpoint(said)
    with pytest.raises(kind):
        Client(made.url).schema  # noqa: B018
    assert len(made.requests) == 1


def test_an_answer_that_is_not_a_schema_is_an_error(endpoint):
    """With the reason from graphql-core."""
    kinds = [{"kind": "OBJECT", "name": "Query", "fields": [], "interfaces": []}]
    schema = {"queryType": {"name": "Nope"}, "types": kinds, "directives": []}
    made = endpoint(json_answer({"data": {"__schema": schema}}))
    with pytest.raises(SchemaError, match=r"describes no schema: .*unknown type: Nope"):
        Client(made.url).schema  # noqa: B018

"""What a client is told of errors: so many, so long, and no suggestion where none is wanted."""

from __future__ import annotations

import json

import pytest

from gqlnb.engine.schema import Schema
from gqlnb.http.handler import limit_errors, mask_errors, remove_hints
from gqlnb.http.server_rules import Access, ServerRules
from gqlnb.limits import Limits
from tests.http.http_requests import GRAPHQL, ask, request, said

SILENT = ServerRules(access=Access(hints=False))


@pytest.mark.parametrize(("count", "said_"), [(3, "1 more error is"), (12, "10 more errors are")])
def test_the_error_limit_can_be_set(count, said_):
    """The last error has the number of omitted ones."""
    errors = [{"message": "No."}] * count
    told = limit_errors(errors, count, Limits(errors=2))
    assert told == [*errors[:2], {"message": f"{said_} not shown."}]
    assert limit_errors(errors, count, Limits(errors=count)) == errors
    assert limit_errors(errors, count, Limits(errors=None)) == errors


def test_only_reported_errors_are_masked_and_stored():
    """A thousand failures store ten exceptions."""
    faults = []
    errors, causes = [{"message": "x", "path": ["a"]}] * 1000, [ValueError("x")] * 1000
    told = mask_errors(errors, causes, Limits(), faults)
    assert (len(told), len(faults)) == (10, 10)


def test_a_long_message_is_truncated():
    """It may echo input of any length."""
    long = {"message": "x" * 1000, "extensions": {"hint": "y" * 1000, "code": "Z"}}
    (told,) = limit_errors([long], 1, Limits(message=50))
    assert told == {"message": "x" * 49 + "…", "extensions": {"hint": "y" * 49 + "…", "code": "Z"}}
    assert limit_errors([long], 1, Limits(message=None)) == [long]


@pytest.mark.parametrize("accept", [{}, GRAPHQL])
@pytest.mark.parametrize(
    "query",
    [
        "{ " + "x" * 90_000 + " }",
        "{ " + " ".join(f"x{n}" for n in range(9_000)) + " }",
        "query " + "Q" * 90_000 + " { helo }",
        "{ echo(text: " + "x" * 90_000 + ") }",
        "{ hello(" + "x" * 90_000 + ": 1) }",
        "{ ..." + "F" * 90_000 + " }",
        "{ hello @" + "d" * 90_000 + " }",
        "query ($" + "v" * 90_000 + ": String!) { hello }",
        "\x00" * 90_000,
        '"' + "x" * 90_000,
    ],
    ids=range(10),
)
def test_names_of_a_megabyte_are_truncated(query, accept):
    """In every kind of error."""
    assert len(ask(request(query, headers=accept)).body) < 10_000


def test_a_long_operation_name_is_truncated():
    """Both defined and requested names."""
    body = json.dumps({"query": "query A { hello }", "operationName": "x" * 900_000}).encode()
    assert len(ask(request(body=body)).body) < 10_000


SUGGESTED = [
    "{ helo }",
    "{ echo(txt: 1) }",
    "query ($x: Strng) { echo(text: $x) }",
    "{ hello @skp(if: true) }",
    "{ hello { id } }",
    "query Alpha { hello } query Beta { hello }",
]


@pytest.mark.parametrize("query", SUGGESTED)
def test_suggestions_can_be_disabled(query):
    """In messages and in extensions."""
    errors = said(ask(request(query), SILENT))["errors"]
    assert all("Did you mean" not in error["message"] for error in errors)
    assert all(error["message"].endswith((".", '"')) for error in errors)
    assert all("extensions" not in error for error in errors)


def test_an_unknown_operation_gets_no_suggestion_without_hints():
    """The names of other operations are not sent."""
    body = b'{"query": "query Alpha { hello }", "operationName": "Alpa"}'
    assert b"Alpha" in ask(request(body=body)).body
    assert b"Alpha" not in ask(request(body=body), SILENT).body


def test_an_unknown_enum_value_gets_no_suggestion_without_hints():
    """Also inside a longer explanation."""
    message = "Value 'REDD' does not exist in 'Color' enum. Did you mean the enum value 'RED'?"
    assert remove_hints({"message": message}) == {
        "message": "Value 'REDD' does not exist in 'Color' enum."
    }
    schema = Schema("enum Color { RED } type Query { a(color: Color): Int }")
    with pytest.raises(Exception, match="Did you mean") as caught:
        schema.execute("{ a(color: REDD) }")
    told = remove_hints({"message": caught.value.problems[0].message})
    assert "RED'" not in told["message"].replace("REDD'", "")


def test_messages_of_resolvers_are_not_stripped():
    """A question in them is not one of the engine's suggestions."""
    message = "Did you mean it? Then say so."
    assert remove_hints({"message": message})["message"] == message

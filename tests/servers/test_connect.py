"""A first contact with each server: queries, schema, completion, and every kind of error."""

from __future__ import annotations

import asyncio

import pytest

import gqlnb
from gqlnb import AuthError, Client, PartialError, QueryError, SchemaError, TransportError

TOKEN = "open-sesame"


def test_a_query_is_answered(client):
    """With variables, by `execute` and `aexecute`."""
    text = "query ($text: String!, $times: Int) { hello echo(text: $text, times: $times) }"
    expected = {"hello": "Hello world!", "echo": "ü🎉ü🎉"}
    variables = {"text": "ü🎉", "times": 2}
    assert client.execute(text, variables).data == expected
    assert asyncio.run(client.aexecute(text, variables)).data == expected


def test_a_mutation_is_executed(client):
    """The new row is returned with its nullable field."""
    text = 'mutation { addBook(title: "Neu", pages: 3) { number title pages } }'
    expected = {"number": 0, "title": "Neu", "pages": 3}
    assert client.execute(text).data == {"addBook": expected}


def test_the_operation_is_chosen_by_name(client):
    """Of a document with several."""
    text = 'query A { hello } query B { echo(text: "b") }'
    assert client.execute(text, operation="B").data == {"echo": "b"}


def test_the_schema_is_fetched_once(proxy):
    """With its fields, arguments and enums."""
    client = Client(proxy.url)
    assert {"hello", "books", "scalars"} <= set(client.schema.query_type.fields)
    assert set(client.schema.type_map["Genre"].values) == {
        *("NOVEL", "POETRY", "ESSAY", "DRAMA", "SCIENCE")
    }
    assert client.schema is client.schema
    assert len(proxy.bodies) == 1


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("{ hel|", ["hello"]),
        ("{ allBooks { tit|", ["title"]),
        ("{ booksByOffset(lim|", ["limit"]),
        ("mutation { addB|", ["addBook"]),
    ],
)
def test_names_are_completed(client, complete, marked, expected):
    """In a cell, from the server's schema."""
    assert complete(client, marked) == expected


# -- errors


def test_an_unknown_field_is_named_by_the_server(client):
    """For a fresh client, which has no schema for validation."""
    with pytest.raises(QueryError, match=r'Cannot query field [\'"]helo[\'"]'):
        client.execute("{ helo }")


@pytest.mark.parametrize("loaded", [False, True])
def test_a_wrong_variable_is_named(client, loaded):
    """By the server, or here with the schema; a missing one too."""
    if loaded:
        assert client.schema.query_type
    text = 'query ($times: Int!) { echo(text: "a", times: $times) }'
    with pytest.raises(QueryError, match=r"times"):
        client.execute(text, {"times": "many"})
    with pytest.raises(QueryError, match=r"times"):
        client.execute(text)


def test_a_failed_field_makes_the_result_partial(client):
    """The error has path and message."""
    result = client.execute("{ hello person { name fails nested { name fails } } }")
    nested = {"name": "Person 0", "fails": None}
    person = {"name": "Person 1", "fails": None, "nested": nested}
    assert result.data == {"hello": "Hello world!", "person": person}
    assert sorted(error["path"] for error in result.errors) == [
        ["person", "fails"],
        ["person", "nested", "fails"],
    ]
    assert {error["extensions"]["code"] for error in result.errors} == {"PERSON_FAILED"}
    with pytest.raises(PartialError, match="This person fails"):
        result.raise_for_errors()


def test_a_failed_field_marks_the_frame(client):
    """It warns once; the rows are there, and the errors have rows of their own."""
    result = client.execute("{ people { name fails } }")
    with pytest.warns(UserWarning, match="partial") as caught:
        frame = result.frame()
    assert len(caught) == 1
    assert frame.attrs["partial"] is True
    assert frame["name"].dropna().tolist() == ["Person 1", "Person 0"]
    assert result.errors_frame()["path"].tolist() == ["people[0].fails", "people[2].fails"]


def test_a_root_field_that_fails_has_its_code(client):
    """Data with null in its place, as the server answered."""
    text = 'query ($c: String) { hello fail(code: $c, message: "größer 🎉") }'
    result = client.execute(text, {"c": "OWN_CODE"})
    assert result.data == {"hello": "Hello world!", "fail": None}
    (error,) = result.errors
    assert error["message"] == "größer 🎉"
    assert error["extensions"]["code"] == "OWN_CODE"


def test_a_field_that_needs_a_token(server):
    """It is null without a token."""
    result = Client(server.url).execute("{ secret }")
    assert result.data == {"secret": None}
    assert result.errors[0]["extensions"]["code"] == "UNAUTHENTICATED"
    trusted = Client(server.url, token=gqlnb.Token(TOKEN))
    assert trusted.execute("{ secret }").data == {"secret": "42"}


def test_an_endpoint_that_needs_a_token(server):
    """HTTP 401 is an AuthError with the server's words; the token lets in and never shows."""
    headers = {"X-Private": "1"}
    with pytest.raises(AuthError, match="This endpoint needs a token") as caught:
        Client(server.url, headers=headers).execute("{ hello }")
    assert "401" in str(caught.value)
    with pytest.raises(AuthError) as caught:
        Client(server.url, headers=headers, token=gqlnb.Token("wrong-token-1")).execute("{ hello }")
    assert "wrong-token-1" not in str(caught.value)
    trusted = Client(server.url, headers=headers, token=gqlnb.Token(TOKEN))
    assert trusted.execute("{ hello }").data == {"hello": "Hello world!"}


def test_a_server_that_is_gone_is_an_error(server, start, name):
    """The error says that no program listens at the address."""
    with start(name) as gone:
        client = Client(gone.url)
        assert client.execute("{ hello }").data
    with pytest.raises(TransportError, match="Nothing listens there"):
        client.execute("{ hello }")


@pytest.mark.parametrize("name", ["apollo", "ariadne"])
def test_a_server_that_hides_its_schema(start, name):
    """Queries work; reading the schema raises the reason, and frames are inferred."""
    client = Client(start(name, introspection=False).url)
    assert client.execute("{ hello }").data == {"hello": "Hello world!"}
    with pytest.raises(SchemaError, match=r"(?i)introspection"):
        _ = client.schema
    frame = client.execute("{ booksByOffset(limit: 3) { number title } }").frame()
    assert frame["number"].tolist() == [1, 2, 3]

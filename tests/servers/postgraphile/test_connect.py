"""Connecting to PostGraphile: schema, and the errors of everyday mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gqlnb import PartialError, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile

    Connect = Callable[..., Client]

BY_ID = "query Author($id: Int!) { authorById(id: $id) { name } }"


@pytest.mark.parametrize("version", ["v4", "v5"])
def test_every_variant_answers(
    version: str, connect: Connect, request: pytest.FixtureRequest
) -> None:
    """A client of each variant has its schema, and a response."""
    for name, server in request.getfixturevalue(version).items():
        client = connect(server)
        root = "allTagsList(first: 1) { name }" if name == "only" else "allTags { nodes { name } }"
        assert "café" in str(client.execute(f"{{ {root} }}").data)
        assert client.schema.query_type.fields.keys() >= {"allAuthors" + "List" * (name == "only")}


def test_non_ascii_values_are_preserved(forum: PostGraphile, connect: Connect) -> None:
    """Text is the same in variables and in responses."""
    text = "query ($name: String!) { tagByName(name: $name) { name } }"
    for name in ("café", "日本語", "emoji 🎉", "quote ' and \"", "back\\slash", "tab\there"):
        assert connect(forum).execute(text, {"name": name}).data == {"tagByName": {"name": name}}


@pytest.mark.parametrize("schema_first", [False, True], ids=["fresh", "schema first"])
@pytest.mark.parametrize(
    ("text", "variables", "words"),
    [
        ("{ allTags { nodes { nam } } }", None, r"(?s)nam.*Tag.*Did you mean.*name.*\^"),
        ("{ allTags(orderBy: NOPE) { nodes { id } } }", None, r"(?s)NOPE.*TagsOrderBy"),
        ("{ allTags { nodes { id } }", None, "line 1"),
        ("{ allTags(frist: 3) { nodes { id } } }", None, r"(?s)frist.*first"),
        (BY_ID, None, r"(?s)\$id.*not provided"),
        (BY_ID, {"id": "x"}, r"(?s)\$id.*Int cannot represent"),
        (BY_ID, {"id": 2**40}, r"(?s)\$id.*32"),
    ],
)
def test_invalid_queries_and_variables_are_query_errors(
    text: str,
    variables: dict[str, object] | None,
    words: str,
    schema_first: bool,
    plain: PostGraphile,
    connect: Connect,
) -> None:
    """Both are named, by the client's validation or by the server."""
    client = connect(plain)
    if schema_first:
        assert client.schema
    with pytest.raises(QueryError, match=words):
        client.execute(text, variables)


def test_an_sql_error_is_a_field_error(plain: PostGraphile, connect: Connect) -> None:
    """It has message, path, and the server's own members, beside the data."""
    result = connect(plain).execute(
        '{ fail(reason: "on purpose") allTags(first: 1) { nodes { id } } }'
    )
    assert result.data == {"fail": None, "allTags": {"nodes": [{"id": 1}]}}
    assert result.errors[0]["message"] == "refused: on purpose"
    assert result.errors[0]["extensions"]["exception"]["hint"] == "Do not call this function."
    assert result.errors_frame()["path"].tolist() == ["fail"]
    with pytest.raises(PartialError, match="refused: on purpose"):
        result.raise_for_errors()


def test_a_violated_constraint_is_a_field_error(plain: PostGraphile, connect: Connect) -> None:
    """The error of the mutation names the constraint."""
    text = 'mutation { createTag(input: {tag: {name: "café"}}) { tag { id } } }'
    result = connect(plain).execute(text)
    assert result.data == {"createTag": None}
    with pytest.raises(PartialError, match="tags_name_key"):
        result.raise_for_errors()

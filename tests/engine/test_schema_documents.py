"""Documents of a schema are remembered, while the schema is unchanged."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import build_schema

from gqlnb import QueryError, Schema
from gqlnb.document.document import Document
from gqlnb.engine.schema_adapters import MAX_CACHED_NAME, SchemaAdapter
from gqlnb.limits import MAX_CACHED_TEXT, Limits

SCHEMA = "type Query { hello: String }"


class Parser(SchemaAdapter):
    """Counts how often a text is parsed."""

    calls = 0

    def parse(self, text: str, *_: Any, **_options: Any) -> Document:
        """Parse a text."""
        self.calls += 1
        return Document.parse(text)


def test_a_document_is_parsed_once():
    """And again for different options."""
    parser = Parser(build_schema(SCHEMA))
    for count, given in enumerate(
        [
            ("{ a }", None, None, True),
            ("{ a } # b", None, None, True),
            ("{ a }", "A", None, True),
            ("{ a }", None, Limits(), True),
            ("{ a }", None, Limits(depth=3), True),
            ("{ a }", None, None, False),
        ],
        1,
    ):
        *more, introspection = given
        documents = [parser.get_document(*more, introspection=introspection) for _ in range(2)]
        assert documents[0] is documents[1]
        assert parser.calls == count
    documents = [parser.get_document("{ a }", None, Limits()) for _ in range(2)]
    assert documents[0] is documents[1]


@pytest.mark.parametrize(
    ("text", "operation"),
    [("{ a }" + " " * MAX_CACHED_TEXT, None), ("{ a }", "A" * (MAX_CACHED_NAME + 1))],
)
def test_long_documents_are_not_cached(text, operation):
    """Clients cannot fill the memory."""
    parser = Parser(build_schema(SCHEMA))
    for _ in range(2):
        parser.get_document(text, operation, None)
    assert parser.calls == 2


def test_a_schema_remembers():
    """Under its limits a text is another document."""
    schema = Schema(SCHEMA)
    document = schema.parse_document("{ hello }")
    assert schema.parse_document("{ hello }") is document
    assert schema.parse_document("{ hello }", limits=Limits()) is not document
    for _ in range(2):
        with pytest.raises(QueryError, match="Did you mean 'hello'"):
            schema.parse_document("{ helo }")


@pytest.mark.parametrize("text", [None, 1, b"{ hello }", ["{ hello }"]])
def test_documents_that_are_not_strings_are_refused(text):
    """With a descriptive error."""
    with pytest.raises(QueryError, match="A query must be a string"):
        Schema(SCHEMA).parse_document(text)


@pytest.mark.parametrize("operation", [1, ["A"], {}])
def test_an_operation_name_that_is_not_a_string_matches_nothing(operation):
    """Unhashable values are included."""
    with pytest.raises(QueryError, match="The name of an operation must be a string"):
        Schema(SCHEMA).parse_document("{ hello }", operation)

"""Documents of a schema are remembered, while the schema is unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from gqlnb import Client, QueryError, Schema
from gqlnb.document.document import Document
from gqlnb.document.sized_cache import SizedCache
from gqlnb.engine.schema import MAX_CACHED_NAME, cache_documents
from gqlnb.limits import MAX_CACHED_TEXT, Limits

SCHEMA = "type Query { hello: String }"


class Parser:
    """Counts how often a text is parsed."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, text: str, operation: Any, limits: Any, introspection: bool) -> Document:
        """Parse a text."""
        self.calls += 1
        return Document.parse(text)


def test_a_document_is_parsed_once():
    """And again for different options."""
    parse = Parser()
    document = cache_documents(parse, SizedCache(10))
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
        assert document(*given) is document(*given)
        assert parse.calls == count
    assert document("{ a }", None, Limits(), True) is document("{ a }", None, Limits(), True)


@pytest.mark.parametrize(
    ("text", "operation"),
    [("{ a }" + " " * MAX_CACHED_TEXT, None), ("{ a }", "A" * (MAX_CACHED_NAME + 1))],
)
def test_long_documents_are_not_cached(text, operation):
    """Clients cannot fill the memory."""
    parse = Parser()
    document = cache_documents(parse, SizedCache(10))
    for _ in range(2):
        document(text, operation, None, True)
    assert parse.calls == 2


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


def test_operations_variables_and_fragments_may_have_descriptions():
    """They are part of the specification of September 2025; also from a client."""
    schema = Schema(
        "type Query { echo(n: Int): Int }", {"Query": {"echo": lambda _, a, __: a["n"]}}
    )
    text = '''"""Echo a number."""
    query Echo("any number" $n: Int = 3) { ...Parts }
    "the parts" fragment Parts on Query { echo(n: $n) }'''
    assert schema.execute(text, {"n": 4}).data == {"echo": 4}
    with Client(schema) as client:
        assert client.execute(text, {"n": 5}).data == {"echo": 5}

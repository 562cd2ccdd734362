"""Descriptions in executable documents, of the specification of September 2025."""

from __future__ import annotations

import pytest

from gqlnb import Client, QueryError, Schema
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.server.background_server import serve

TEXT = '''
"""Greets somebody."""
query Greet("the name" $name: String) { ...Parts }
"What is asked."
fragment Parts on Query { hello(name: $name) }
'''


@pytest.fixture
def schema():
    """Return a schema that greets."""
    greet = {"hello": lambda _root, args, _context: f"Hello {args['name']}!"}
    return Schema("type Query { hello(name: String): String }", {"Query": greet})


@pytest.mark.skipif(not IS_GRAPHQL_33, reason="graphql-core before 3.3 does not parse them.")
def test_descriptions_are_allowed_everywhere(schema):
    """In process, with limits, and over HTTP."""
    with serve(schema, port=0) as server:
        for target in (schema, Client(schema), Client(server.url)):
            for _ in range(3):
                assert target.execute(TEXT, {"name": "you"}).data == {"hello": "Hello you!"}


def test_a_shorthand_query_has_no_description(schema):
    """As the specification says; graphql-core 3.2 refuses all descriptions."""
    with pytest.raises(QueryError, match=r"description|String"):
        schema.execute('"text" { hello }')

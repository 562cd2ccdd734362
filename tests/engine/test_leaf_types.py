"""What is known of the leaves of an answer before there is one."""

from __future__ import annotations

import math

import pytest
from graphql import build_schema

from gqlnb import Schema
from gqlnb.document.document import Document

SDL = """
scalar Any
enum Size { SMALL }
interface Named { name: String any: Any }
type Row implements Named { id: ID name: String any: Any n: Int f: Float b: Boolean size: Size
  row: Row found: Found }
type Other implements Named { name: String any: Any }
union Found = Row | Other
type Query { row: Row rows: [[Row!]!] named: Named found: Found many: [Any] }
type Mutation { row: Row }
"""

FOREIGN = [
    "{ row { any } }",
    "{ many }",
    "{ named { any } }",
    "{ rows { row { row { id any } } } }",
    "{ found { ... on Row { id } ... on Other { any } } }",
    "{ row { ... { ... { any } } } }",
    "{ ...F } fragment F on Query { row { ...G } } fragment G on Row { id found { ...H } } "
    "fragment H on Found { ... on Named { any } }",
    "mutation { row { any } }",
]


@pytest.mark.parametrize("text", FOREIGN)
def test_a_scalar_of_somebodys_own_may_be_anything(text):
    """One is enough."""
    assert not Schema(SDL).parse_document(text).has_builtin_leaves


def test_only_the_operation_that_runs_counts():
    """Another of the same text may ask for more."""
    schema, text = Schema(SDL), "query A { row { id } } query B { row { any } }"
    assert schema.parse_document(text, "A").has_builtin_leaves
    assert not schema.parse_document(text, "B").has_builtin_leaves


def test_a_serializer_of_somebodys_own_is_foreign():
    """Also that of a scalar of a usual name."""
    schema = Schema("enum Size { A } type Query { size: Size }")
    schema.graphql.type_map["Size"].serialize = lambda _value: math.nan  # type: ignore[union-attr]
    schema.graphql.type_map["Size"].coerce_output_value = lambda _value: math.nan  # type: ignore[union-attr]
    assert not schema.parse_document("{ size }").has_builtin_leaves


def test_no_leaf_types_are_known_without_a_schema():
    """The document alone does not contain types."""
    assert not Document.parse("{ a }").has_builtin_leaves


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_known_leaf_types_are_enforced(value):
    """A non-finite Float is an error for every resolver."""
    schema = Schema("type Query { f: Float fs: [Float] }")
    document = schema.parse_document("{ f fs }")
    assert document.has_builtin_leaves
    for _ in range(200):
        result = schema.execute(document.text, root={"f": value, "fs": [1.0, value]})
        assert result.data == {"f": None, "fs": [1.0, None]}


def test_leaf_types_are_unknown_with_middleware():
    """Middleware may change values."""
    core = build_schema("type Query { a: Int }")
    assert Schema.adopt(core).parse_document("{ a }").has_builtin_leaves
    handed = Schema.adopt(core, middleware=[lambda resolve, *args: resolve(*args)])
    assert not handed.parse_document("{ a }").has_builtin_leaves

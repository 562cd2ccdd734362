"""The shape of an answer, read from schema and document."""

import gc
import weakref

import pytest
from graphql import build_schema

from gqlnb.document.document import Document
from gqlnb.errors import QueryError
from gqlnb.result.shape import build_response_shape, build_shape, infer_shape
from gqlnb.result.tables import get_read_plan

SDL = """
type Query { items: [Item!]! node: Node a: Int! }
interface Node { id: ID! size: Int }
union Item = A | B
type A implements Node { id: ID! size: Int tags: [[String!]!]! b: B }
type B implements Node { id: ID! size: Int name: String! }
"""
SCHEMA = build_schema(SDL)
NESTED = build_schema(
    "type Query { node: Node } interface Node { node: Node id: ID }"
    " type A implements Node { node: Node id: ID } type B implements Node { node: Node id: ID }"
)


def columns(text, variables=None):
    """Return the columns of the one list, whether they may be null."""
    shape = build_shape(Document.parse(text, SCHEMA), variables)
    (table,) = get_read_plan(shape).root.inner_tables
    return {column.name: column.nullable for column in table.columns}


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ("... on Node { id size }", {"id": False, "size": True}),
        ("... on A { id }", {"id": True}),
        ("... on A { ... on Node { id } }", {"id": True}),
        ("... on A { id } ... on B { id name }", {"id": True, "name": True}),
        ("... on A { id } ... on Node { id }", {"id": False}),
        ("... on Node { id @include(if: true) }", {"id": False}),
        ("... on Node { id @skip(if: true) size }", {"size": True}),
        ("__typename ... on A { b { id } }", {"__typename": False, "b.id": True}),
        ("... { __typename }", {"__typename": False}),
    ],
)
def test_nullable_columns_depend_on_field_and_parent_type(selection, expected):
    """A field of some union members is missing in the rows of the others."""
    assert columns(f"{{ items {{ {selection} }} }}") == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"x": True}, {"id": False}),
        ({"x": False}, {"size": True}),
        ({}, {"size": True}),
        (None, {"id": True, "size": True}),
    ],
)
def test_conditions_are_read_from_variables_and_their_defaults(variables, expected):
    """A selection that depends on an unknown value is optional."""
    inner = "id @include(if: $x) size @skip(if: $x)"
    text = f"query ($x: Boolean = false) {{ items {{ ... on Node {{ {inner} }} }} }}"
    assert columns(text, variables) == expected


def test_the_same_text_has_the_same_shape():
    """Other operations and other conditions have their own."""
    text = "query P($x: Boolean = true) { a node @skip(if: $x) { id } } query Q { a }"
    first, second = (Document.parse(text, SCHEMA, "P") for _ in range(2))
    assert build_shape(first, {}) is build_shape(second, {"x": True, "more": 1})
    assert list(build_shape(first, {}).children) == ["a"]
    assert build_shape(first, {"x": False}) is not build_shape(first, {})
    assert build_shape(Document.parse(text, SCHEMA, "Q"), {}) is not build_shape(first, {})


def test_shapes_do_not_keep_a_schema_alive():
    """A notebook makes a schema anew with each run of its cell."""
    schema = build_schema(SDL)
    shape = build_shape(Document.parse("{ a }", schema))
    gone = weakref.ref(schema)
    del schema
    gc.collect()
    assert gone() is None
    assert list(shape.children) == ["a"]


def test_without_a_schema_there_is_no_shape():
    """But values show one."""
    assert build_shape(Document.parse("{ a }")) is None
    shape = infer_shape({"a": [{"b": 1}, {"b": None, "c": "x"}], "d": []})
    assert {name: child.type for name, child in shape.children["a"].children.items()} == {
        "b": "Int",
        "c": "String",
    }
    assert shape.children["d"].lists == 1


def build_nested_spreads(body, levels=60):
    """Return a document of fragments, each with `body`, in which %s is the name of the next one."""
    parts = ["query ($c: Boolean!) { node { ...F0 } }"]
    parts += [
        f"fragment F{n} on Node {{ {body.replace('%s', f'F{n + 1}')} }}" for n in range(levels)
    ]
    return " ".join([*parts, f"fragment F{levels} on Node {{ id id @include(if: $c) }}"])


@pytest.mark.parametrize("schema", [NESTED, None])
@pytest.mark.parametrize(
    "body",
    [
        "...%s ...%s",
        "node { ...%s ...%s }",
        "node { ...%s } node { ...%s }",
        "node { ...%s ...%s @include(if: $c) ... on A { ...%s } }",
        "node { ...%s } node @include(if: $c) { ...%s }",
    ],
)
def test_nested_spreads_are_read_once(body, schema):
    """Each level has its fields once; read for each spread, 60 levels would never end."""
    document = Document.parse(build_nested_spreads(body), schema)
    shape, depth = build_response_shape(document, None), 0
    while shape.children:
        (shape,) = shape.children.values()
        depth += 1
    assert shape.field_name == "id"
    assert depth == (62 if "node" in body else 2)


@pytest.mark.parametrize("schema", [NESTED, None])
def test_too_many_response_paths_are_an_error(schema):
    """Aliases double the response paths at each level; that many have no shape."""
    text = build_nested_spreads("a: node { ...%s } b: node { ...%s }")
    document = Document.parse(text, schema)
    with pytest.raises(QueryError, match="expand to more than"):
        build_response_shape(document, None)


def test_a_long_text_without_spreads_has_a_shape():
    """Programs write such texts; their fields are not more than their characters."""
    text = f"{{ {' '.join(f'a{n}: node {{ id }}' for n in range(10_001))} }}"
    assert len(build_response_shape(Document.parse(text), {}).children) == 10_001

"""The source that the compiler writes: strings stay strings, and its length is bounded."""

from __future__ import annotations

import ast
import json
import linecache
from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
)

from gqlnb import engine
from gqlnb.engine.compiler import function_writer, plans
from gqlnb.engine.compiler.plans import get_operation_cache

if TYPE_CHECKING:
    from graphql import DocumentNode

CALL = "gqlnb_marker()"
TEXTS = [
    CALL,
    f"']; {CALL} #",
    f'"]; {CALL} #',
    f"' + {CALL} + '",
    f"\n {CALL}\n",
    f"{{{CALL}}}",
    f"\\'; {CALL} #",
    f"\r{CALL}",
    f"\N{LINE SEPARATOR}{CALL}",
    '"""',
    "",
    "x" * 100_000,
]
ROOT = {
    "field": lambda _info, **given: ascii(sorted(given.items())),
    "rows": [{"name": "a"}, {"name": "b"}],
}


def write_sdl(text: str) -> str:
    """Return a schema with a text at each place of a string."""
    literal = json.dumps(text)
    return f"""
    {literal} type Query {{
      field({literal} text: String = {literal}, in: In = {{ text: {literal} }}): String
        @deprecated(reason: {literal})
      rows: [Row]
    }}
    {literal} type Row {{ name(text: String = {literal}): String }}
    input In {{ text: String = {literal} }}
    """


def write_document(text: str) -> str:
    """Return a document with a text at each place of a string."""
    literal = json.dumps(text)
    return f"""query ($text: String = {literal}, $class: String = {literal}) {{
      field class: field(text: {literal}) None: field(in: {{ text: {literal} }})
      variable: field(text: $text) other: field(in: {{ text: $class }})
      rows {{ name class: name(text: {literal}) __typename }}
    }}"""


def outcome(execute: Any, schema: GraphQLSchema, document: DocumentNode) -> Any:
    """Return the answer, or the exception that was raised."""
    try:
        found = execute(schema, document, ROOT)
    except Exception as error:
        return type(error), str(error)
    errors = [(e.message, e.path and list(e.path)) for e in found.errors or ()]
    return found.data, errors


@pytest.mark.parametrize("hot", [0, plans.HOT], ids=["at once", "later"])
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_no_string_becomes_code(text, hot, monkeypatch):
    """Of the document and of the schema; keywords of Python are names as any."""
    monkeypatch.setattr(plans, "HOT", hot)
    schema = graphql.build_schema(write_sdl(text))
    document = graphql.parse(write_document(text))
    wanted = outcome(graphql.execute, schema, document)
    for _ in range(4):
        assert outcome(engine.execute, schema, document) == wanted
    sources = [
        "".join(linecache.getlines(name))
        for operation in get_operation_cache(schema).values()
        for plan in operation.plans.values()
        for name in plan.source_names
    ]
    assert sources
    for source in sources:
        used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        assert "gqlnb_marker" not in used
        assert len(source) < 30_000


def test_a_constant_that_is_no_literal_is_bound():
    """Long integers, infinity and long texts are no part of the source."""
    values = [10**5000, float("inf"), float("nan"), "x" * 10_000, True, None, 7]
    kind = GraphQLScalarType("Any")
    arguments = {
        f"a{n}": GraphQLArgument(kind, default_value=value) for n, value in enumerate(values)
    }
    seen: list[Any] = []
    field = GraphQLField(
        GraphQLString, arguments, lambda *_, **given: seen.append([*given.values()])
    )
    schema = GraphQLSchema(GraphQLObjectType("Query", {"f": field}), assume_valid=True)
    document = graphql.parse("{ f }")
    for _ in range(3):
        assert engine.execute(schema, document).errors is None
    assert all(got is value for given in seen for got, value in zip(given, values, strict=True))


@pytest.mark.parametrize("bound", [0, 300, 2_000, 5_000])
def test_an_operation_beyond_the_bound_is_executed_in_part_by_graphql_core(bound, monkeypatch):
    """The results are equal whichever part of a plan is compiled."""
    monkeypatch.setattr(function_writer, "MAX_PLAN_SOURCE", bound)
    monkeypatch.setattr(plans, "HOT", 0)
    schema = graphql.build_schema(write_sdl("text"))
    document = graphql.parse(write_document("text"))
    wanted = outcome(graphql.execute, schema, document)
    for _ in range(3):
        assert outcome(engine.execute, schema, document) == wanted
    (operation,) = get_operation_cache(schema).values()
    assert operation.source_size <= bound + 300  # the heads of functions are not counted

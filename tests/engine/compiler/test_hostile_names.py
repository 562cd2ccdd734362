"""Schemas and documents built in Python may hold any text as a name: none of it becomes code."""

from __future__ import annotations

import ast
import builtins
import linecache
import re
from typing import Any

import graphql
import pytest
from graphql import (
    DocumentNode,
    GraphQLArgument,
    GraphQLField,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    Node,
    OperationType,
    parse,
)

from gqlnb import engine
from gqlnb.engine.compiler import function_writer, plans
from gqlnb.engine.compiler.operation_cache import get_operation_cache

CALL = "gqlnb_marker()"


class Sly(str):
    """A name whose representations are code."""

    __slots__ = ()

    def __repr__(self) -> str:
        return CALL

    def __str__(self) -> str:
        return CALL

    def __format__(self, spec: str) -> str:
        return CALL


TEXTS = [
    CALL,
    f"x(s, p, x): pass\n{CALL}\ndef y",
    f"']; {CALL} #",
    f'"]; {CALL} #',
    f"' + {CALL} + '",
    f"\n {CALL}\n",
    f"{{{CALL}}}",
    f"\\'; {CALL} #",
    f"x; {CALL}",
    f"x if {CALL} else y",
    f"\r{CALL}",
    f"\N{LINE SEPARATOR}{CALL}",
    "class",
    "None",
    "__class__",
    "\N{LATIN SMALL LIGATURE FI}",  # Python reads it as the name fi
    "\ud800",
    "",
    "x" * 100_000,
    Sly("sly"),
]

# Each name and text is the name of its place, so that it can be replaced: `field2` by the text for
# `field` and a 2, to keep names apart.
SDL = """
"description" directive @directive(directive_argument: String) on FIELD
schema { query: query_type }
"description"
type query_type { field: row_type field2: [row_type] field3: interface field4: [union] }
interface interface { looked_up: String }
"description"
type row_type implements interface {
  "description" looked_up: String
  resolved(
    argument: String
    "description" argument2: String = "default"
    argument3: enum
    argument4: input
    argument5: scalar
  ): String @deprecated(reason: "reason")
  leaf: enum
  leaf2: scalar
}
union union = row_type
enum enum { "description" member }
scalar scalar @specifiedBy(url: "url")
input input { "description" input_field: String = "default" }
"""
TEXT = '''
query operation($variable: String = "variable_default", $variable2: enum) {
  field { ...fragment }
  alias: field { looked_up @directive(directive_argument: "directive_text") @include(if: true) }
  field2 { ... on row_type { ...fragment } }
  alias2: field2 { looked_up leaf resolved(argument: $variable) }
  field3 { looked_up ...fragment __typename }
  field4 { ...fragment }
}
fragment fragment on row_type {
  looked_up
  leaf
  leaf2
  resolved
  alias: resolved(
    argument: "string", argument2: """string""", argument3: member
    argument4: {input_field: "string"}, argument5: enum_literal
  )
  alias2: resolved(argument: $variable, argument3: $variable2)
}
'''
PLACES = {
    "description",
    "directive",
    "directive_argument",
    "directive_text",
    "query_type",
    "field",
    "interface",
    "looked_up",
    "row_type",
    "resolved",
    "argument",
    "default",
    "enum",
    "member",
    "input",
    "scalar",
    "reason",
    "leaf",
    "union",
    "url",
    "input_field",
    "operation",
    "variable",
    "variable_default",
    "fragment",
    "alias",
    "string",
    "enum_literal",
    "value",
    "out_name",
}
FIXED = {"include", "if", "String", "Boolean", "__typename"}


class Row:
    """An object with attributes."""


def renamer(names: dict[str, str]) -> Any:
    """Return a function that replaces the names and texts of some places."""

    def rename(text: Any) -> Any:
        place, number = re.fullmatch(r"(\w*?)(\d?)", text).groups() if text else ("", "")
        found = names.get(place, place)
        return found + number if number else found

    return rename


def hostile_document(names: dict[str, str]) -> DocumentNode:
    """Return a document that no parser has read."""
    rename = renamer(names)

    def change(node: Any) -> None:
        for key in node.keys:
            value = getattr(node, key, None)
            for below in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(below, Node):
                    change(below)
            if isinstance(value, str) and not isinstance(value, OperationType):
                object.__setattr__(node, key, rename(value))  # frozen in graphql-core 3.3

    document = parse(TEXT, no_location=True)
    change(document)
    return document


def rename_texts(thing: Any, rename: Any) -> None:
    """Replace the texts of a type, a field, an argument or a directive."""
    for name in ("description", "deprecation_reason", "specified_by_url"):
        if getattr(thing, name, None):
            setattr(thing, name, rename(getattr(thing, name)))
    # graphql-core 3.3 keeps the literal of the SDL.
    if getattr(thing, "default", None) or isinstance(getattr(thing, "default_value", 0), str):
        thing.default, thing.default_value = None, rename("default")


def rename_members(kind: Any, rename: Any) -> None:
    """Replace the names and texts in a type."""
    where = "values" if isinstance(kind, graphql.GraphQLEnumType) else "fields"
    members = getattr(kind, where, {})
    for thing in (kind, *members.values()):
        rename_texts(thing, rename)
        arguments = getattr(thing, "args", None) or {}
        for argument in arguments.values():
            rename_texts(argument, rename)
        if arguments:
            thing.args = {rename(name): argument for name, argument in arguments.items()}
    if where == "values":
        vars(kind).pop("_value_lookup", None)
        kind.values["member"].value = 1
    if members:
        setattr(kind, where, {rename(name): member for name, member in members.items()})


def hostile_schema(names: dict[str, str], *, objects: bool) -> GraphQLSchema:
    """Return a schema with names that graphql-core's constructors refuse."""
    rename = renamer(names)
    schema = graphql.build_schema(SDL)
    shared = {*graphql.specified_scalar_types, *graphql.introspection_types}
    own = [kind for name, kind in schema.type_map.items() if name not in shared]
    types = {kind.name: kind for kind in own}

    value: Any = {rename("looked_up"): rename("value"), rename("leaf"): 1, rename("leaf2"): "é"}
    if objects:
        row = Row()
        vars(row).update(value)
        value = row
    answers = {"field": value, "field2": [value, value], "field3": value, "field4": [value]}
    for name, answer in answers.items():
        types["query_type"].fields[name].resolve = lambda *_, answer=answer: answer
    resolved = types["row_type"].fields["resolved"]
    resolved.resolve = lambda *_, **given: ascii(sorted(given.items()))
    resolved.args["argument"].out_name = rename("out_name")
    for kind in ("interface", "union"):
        types[kind].resolve_type = lambda *_: rename("row_type")
    for kind in own:
        rename_members(kind, rename)
    schema._implementations_map = {
        rename(name): found for name, found in schema._implementations_map.items()
    }
    for kind in own:
        kind.name = rename(kind.name)
        schema.type_map[kind.name] = kind
    (directive,) = [d for d in schema.directives if d.name == "directive"]
    rename_texts(directive, rename)
    directive.name = rename("directive")
    return schema


def outcome(execute: Any, schema: GraphQLSchema, document: DocumentNode) -> Any:
    """Return the answer, or the exception that was raised."""
    try:
        found = execute(schema, document)
    except Exception as error:
        return type(error), str(error)
    errors = [(e.message, e.path and list(e.path)) for e in found.errors or ()]
    return found.data, errors


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the calls of the function that hostile texts name."""
    seen: list[int] = []
    monkeypatch.setattr(builtins, "gqlnb_marker", lambda: seen.append(1) or "", raising=False)
    return seen


def check(names: dict[str, str], *, objects: bool) -> int:
    """Compare four executions with graphql-core's; return the number of compiled functions."""
    schema, document = hostile_schema(names, objects=objects), hostile_document(names)
    wanted = outcome(graphql.execute, schema, document)
    for _ in range(4):
        assert outcome(engine.execute, schema, document) == wanted
    sources = [
        "".join(linecache.getlines(name))
        for operation in get_operation_cache(schema).values()
        for plan in operation.plans.values()
        for name in plan.source_names
    ]
    for text in sources:
        used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        assert "gqlnb_marker" not in used
        assert len(text) < 30_000
    return len(sources)


@pytest.mark.parametrize("objects", [False, True], ids=["dicts", "objects"])
@pytest.mark.parametrize("place", sorted(PLACES))
def test_no_hostile_name_at_one_position_is_executed_as_code(
    place: str, objects: bool, calls: list[int]
) -> None:
    """Neither as a statement, in a string, nor as a repr."""
    for text in (CALL, f"\n{CALL}\n", f"']; {CALL} #", f'"]; {CALL} #', Sly("sly")):
        assert check({place: text}, objects=objects) > 0
    assert calls == []


@pytest.mark.parametrize("hot", [0, plans.HOT], ids=["at once", "later"])
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_no_hostile_name_at_all_positions_is_executed_as_code(
    text: str, hot: int, calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every name and string is the same hostile one."""
    monkeypatch.setattr(plans, "HOT", hot)
    for objects in (False, True):
        check(dict.fromkeys(PLACES, text), objects=objects)
    assert calls == []


def strings(node: Any) -> set[str]:
    """Return the strings of a document."""
    if isinstance(node, (tuple, list)):
        return set().union(*map(strings, node))
    if isinstance(node, Node):
        return strings([getattr(node, key, None) for key in node.keys])
    return {node} if isinstance(node, str) and not isinstance(node, OperationType) else set()


def test_every_name_and_string_is_covered() -> None:
    """Of the document and of the schema."""
    found = strings(parse(TEXT)) | strings(parse(SDL)) - {
        "deprecated",
        "reason",
        "specifiedBy",
        "FIELD",
    }
    assert {re.sub(r"\d", "", text) for text in found} - FIXED <= PLACES


def test_a_constant_that_is_no_literal_is_bound() -> None:
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
def test_an_operation_beyond_the_bound_is_executed_in_part_by_graphql_core(
    bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results are equal whichever part of a plan is compiled."""
    monkeypatch.setattr(function_writer, "MAX_PLAN_SOURCE", bound)
    monkeypatch.setattr(plans, "HOT", 0)
    schema, document = hostile_schema({}, objects=False), hostile_document({})
    wanted = outcome(graphql.execute, schema, document)
    for _ in range(3):
        assert outcome(engine.execute, schema, document) == wanted
    (operation,) = get_operation_cache(schema).values()
    assert operation.source_size <= bound + 300  # the heads of functions are not counted

"""Variables are coerced as by graphql-core, which is asked for anything unusual."""

from __future__ import annotations

from collections import OrderedDict
from itertools import product
from typing import Any

import graphql
import pytest
from graphql import Undefined, build_schema, parse
from graphql.execution.values import get_variable_values

from gqlnb.engine.compiler.variable_values import MAX_DEPTH, UnusualValueError, VariableCoercer
from gqlnb.engine.schema_watch import SchemaWatch
from tests.engine.comparison import OURS, told
from tests.property.differential.outcome import exact

SDL = """
scalar Date
enum Color { RED GREEN }
input Filter { text: String! limit: Int = 5 color: Color tags: [String!] = ["a"] inner: Filter }
input Choice @oneOf { a: Int b: Int }
directive @oneOf on INPUT_OBJECT
type Query { echo(id: ID, filter: Filter = {text: "default"}, numbers: [Int], on: Boolean): String }
"""
TYPES = (
    *("String", "ID", "Int", "Float", "Boolean", "Color", "Date", "Filter", "Choice", "Query"),
    *("[Int]", "[Int!]", "[[String]]", "[Filter!]"),
)
VALUES: tuple[Any, ...] = (
    *(None, Undefined, "", "RED", "x", True, 0, 7, 2**31, -(2**31) - 1, 1.0, 1.5, float("inf")),
    *([], [1], [None], ["a"], [["a"], None], (1, 2), {1}, b"x", object),
    *({}, {"text": "a"}, {"text": None}, {"text": "a", "limit": None, "color": "GREEN"}),
    *({"text": "a", "extra": 1}, {"text": "a", "inner": {"text": "b", "tags": "c"}}),
    *({"text": "a", "color": "BLUE"}, OrderedDict(text="a"), {"a": 1}, {"a": 1, "b": 2}),
    *({"text": "a", "limit": Undefined}, [{"text": "a"}], [{"text": 1}]),
)
DEFAULTS = ("", " = null", ' = "x"', " = 7", " = [1]", ' = {text: "t"}', " = RED")


@pytest.fixture(scope="module")
def schema():
    """Return a schema with a scalar that takes dates only as text."""
    built = build_schema(SDL)
    scalar: Any = built.type_map["Date"]
    name = "coerce_input_value" if hasattr(scalar, "coerce_input_value") else "parse_value"
    setattr(scalar, name, lambda value: value.upper())
    return built


@pytest.mark.parametrize("kind", [name + mark for name in TYPES for mark in ("", "!")])
def test_coerced_variables_are_those_of_graphql_core(schema, kind):
    """Whatever is coerced here is equal, of the same types, in the same order."""
    coerced = 0
    for default in DEFAULTS:
        node: Any = parse(f"query ($v: {kind}{default}) {{ __typename }}", no_location=True)
        declared = node.definitions[0].variable_definitions
        coercer = VariableCoercer(schema, declared, SchemaWatch())
        for given in [{}, *({"v": value} for value in VALUES)]:
            want = get_variable_values(schema, declared, given)
            for _ in range(2):
                try:
                    got = coercer.coerce(given)
                except Exception:
                    continue
                coerced += 1
                assert not isinstance(want, list), (default, given)
                assert type(got) is type(want)
                assert exact(got) == exact(want), (default, given)
    # Float is not in this schema.
    assert coerced > 5 or kind.rstrip("!") in {"Query", "Choice", "Float"}


def test_deep_values_are_left_to_graphql_core(schema):
    """It reports those that are too deep."""
    node: Any = parse("query ($v: Filter) { __typename }")
    coercer = VariableCoercer(schema, node.definitions[0].variable_definitions, SchemaWatch())
    value: Any = {"text": "x"}
    for _ in range(MAX_DEPTH + 2):
        value = {"text": "x", "inner": value}
    with pytest.raises(UnusualValueError):
        coercer.coerce({"v": value})


CALLS = (
    "{ echo }",
    "{ echo(id: $id, filter: $filter, numbers: $numbers, on: $on) }",
    '{ echo(id: "7", filter: $filter, numbers: [1]) }',
    "{ echo(filter: {text: $id}, numbers: [$n]) }",
    "{ echo(filter: null, numbers: $numbers) }",
)
GIVEN: tuple[dict[str, Any], ...] = (
    {},
    {"id": "1", "filter": {"text": "a"}, "numbers": [1, None], "on": True},
    {"id": None, "filter": None, "numbers": None, "on": None},
    {"id": 7, "numbers": 3},
    {"id": [], "filter": {}},
)


@pytest.mark.parametrize(("call", "required"), product(CALLS, ("", "!")))
def test_resolvers_get_the_arguments_of_graphql_core(call, required):
    """A missing variable, null and defaults included; a resolver may change its arguments."""
    built = build_schema(SDL.replace("id: ID,", f"id: ID{required},"))
    seen: list[Any] = []

    def echo(_source: Any, _info: Any, **args: Any) -> str:
        seen.append(exact(args))
        return str(args.popitem()) if args else ""

    built.query_type.fields["echo"].resolve = echo  # type: ignore[union-attr]
    text = f"query ($id: ID, $filter: Filter, $numbers: [Int], $on: Boolean, $n: Int) {call}"
    document = parse(text)
    for given in GIVEN:
        want = told(graphql.execute(built, document, variable_values=given))
        called = list(seen)
        for execute in OURS:
            for _ in range(3):
                seen.clear()
                assert told(execute(built, document, variable_values=given)) == want
                assert seen == called, given
        seen.clear()

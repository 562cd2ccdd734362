"""Serializers of custom scalars are called by compiled code, with graphql-core's answers."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from datetime import date
from decimal import Decimal
from typing import Any

import graphql
import pytest
from graphql import GraphQLScalarType, Undefined, build_schema, parse

from gqlnb import engine
from gqlnb.engine.compiler import plans
from gqlnb.engine.graphql_compat import SERIALIZER_NAME
from tests.engine.comparison import answered

pytestmark = [pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")]


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Compile operations when they are first executed."""
    monkeypatch.setattr(plans, "HOT", 0)


SDL = """
scalar Any
type Query { row: Row rows: [Row!] list: [Any] sure: [Any!] nested: [[Any!]] one: Any must: Any! }
type Row { a: Any b: Any! c: [Any!] other: String! }
"""


class Later:
    """An awaitable."""

    def __await__(self) -> Any:
        yield
        return "later"


async def fail_later() -> Any:
    """Fail when it is awaited."""
    msg = "later"
    raise ValueError(msg)


async def answer_later() -> Any:
    """Answer when it is awaited."""
    return "later"


class Lazy:
    """An object with attributes of every name but one."""

    def __getattr__(self, name: str) -> Any:
        if name == "__await__":
            raise AttributeError(name)
        return 1


def raise_error(value: Any) -> Any:
    """Refuse every value."""
    msg = f"not {type(value).__name__}"
    raise TypeError(msg)


SERIALIZERS: dict[str, Any] = {
    "text": str,
    "same": lambda value: value,
    "none": lambda value: None,
    "undefined": lambda value: Undefined,
    "raises": raise_error,
    "some": lambda value: value if isinstance(value, (int, str)) else raise_error(value),
    "dict": lambda value: OrderedDict(a=1),
    "later": lambda value: Later(),
    "coroutine": lambda value: answer_later(),
    "fails later": lambda value: fail_later(),
}
VALUES: dict[str, Any] = {
    "date": lambda: date(2026, 11, 22),
    "decimal": lambda: Decimal("1.50"),
    "text": lambda: "x",
    "number": lambda: 10**20,
    "null": lambda: None,
    "undefined": lambda: Undefined,
    "list": lambda: [1, {"a": 2}],
    "dict": lambda: {"a": [1]},
    "mapping": lambda: OrderedDict(a=1),
    "exception": lambda: ValueError("value"),
    "function": lambda: lambda info: "called",
    "type": lambda: int,
    "lazy": Lazy,
    "awaitable": Later,
    "coroutine": answer_later,
}


def make_schema(serialize: Any) -> Any:
    """Return a schema with a scalar that has a serializer."""
    schema = build_schema(SDL)
    setattr(schema.type_map["Any"], SERIALIZER_NAME, serialize)
    return schema


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", SERIALIZERS)
def test_values_and_serializers_of_every_kind(name, value):
    """In fields, lists and lists of lists, nullable or not."""
    make = VALUES[value]

    def root() -> Any:
        row, second = (
            {"a": make(), "b": make(), "c": [make(), "c"], "other": "o"} for _ in range(2)
        )
        many = {"list": [make(), "l", None], "sure": [make(), make()], "nested": [[make()], None]}
        return {"row": row, "rows": [second, {**row, "a": 4, "b": 5}], "one": make(), **many}

    schema = make_schema(SERIALIZERS[name])
    answered(schema, "{ row { a c } list one }", root)
    answered(schema, "{ row { b } rows { a other b } sure nested }", root)


def test_a_serializer_is_called_once_for_each_value():
    """Also if it returns null."""
    seen: list[Any] = []
    schema, document = make_schema(seen.append), parse("{ one list }")
    for number in range(1, 4):
        found = engine.execute(schema, document, {"one": 1, "list": [2, 3]})
        assert found.data == {"one": None, "list": [None, None]}
        assert len(found.errors) == 3
        assert seen == [1, 2, 3] * number


def test_a_serializer_that_is_a_method():
    """It belongs to a subclass of graphql-core's scalar."""

    class Own(GraphQLScalarType):
        """A scalar with a method."""

    setattr(Own, SERIALIZER_NAME, lambda self, value: f"{self.name} {value}")
    schema = build_schema(SDL)
    own = Own("Own")
    vars(own).pop(SERIALIZER_NAME, None)
    schema.query_type.fields["one"].type = own
    answered(schema, "{ one }", lambda: {"one": 5})


# Literals and defaults, which graphql-core parses at each call


CLOCK = """
scalar Clock input Span { of: Clock = "default" size: Int = 1 } enum Size { S L }
type Query { rows: [Row!] at(c: Clock = "d", s: Span = {of: "e"}, z: Size = L, n: Int = 3): String }
type Row { at(c: Clock, all: [Clock!], s: Span, z: Size, n: Int): String }
"""
CLOCK_TEXTS = (
    '{ at(c: "now") a: at(c: 7, n: 1) b: at(c: true, z: S) d: at(c: now) e: at }',
    '{ at(s: {of: "now"}) a: at(s: {}) b: at(c: null, s: null, n: null) }',
    'query ($n: Int = 2) { at(n: $n, c: "now") a: at(s: {of: "now", size: $n}) }',
    'query ($c: Clock = "now", $d: Clock = null) { at(c: $c) a: at(c: $d) b: at(s: {of: $c}) }',
    "query ($c: Clock, $z: Size = S, $n: Int) { at(c: $c, z: $z, n: $n) }",
    'query ($s: Span = {of: "x"}, $n: Int) { at(s: $s, n: $n) }',
    '{ rows { at(c: "now", n: 1) a: at(all: ["now", 1]) b: at(all: "now") d: at(s: {of: 1}) } }',
    'query ($n: Int = 4, $c: Clock = "now") { rows { at(c: "now", n: $n) a: at(c: $c, z: L) } }',
)


def read_clock(execute: Any, text: str, variables: dict[str, Any] | None) -> list[Any]:
    """Return the answers to a text by a schema whose scalar counts the literals that it parses."""
    schema, document, count = build_schema(CLOCK), parse(text), itertools.count()

    def tick(value: Any, _variables: Any = None) -> Any:
        text = getattr(value, "value", value)
        return text if text in ("d", "e", "default") else next(count)  # graphql-core keeps defaults

    kind: Any = schema.type_map["Clock"]
    kind.parse_value = kind.parse_literal = tick
    if hasattr(kind, "coerce_input_literal"):
        kind.coerce_input_value = kind.coerce_input_literal = tick
    kind = schema.type_map["Span"]
    kind.out_type = repr
    for name in ("Query", "Row"):
        field: Any = schema.type_map[name]
        field.fields["at"].resolve = lambda _source, _info, **given: repr(given)
    root = {"rows": [{}, {}, {}]}
    return [execute(schema, document, root, variable_values=variables) for _ in range(6)]


@pytest.mark.parametrize("text", CLOCK_TEXTS)
@pytest.mark.parametrize("variables", [None, {"n": 5, "c": "v"}, {"s": {"size": 2}}])
def test_custom_scalars_are_parsed_as_often_as_by_graphql_core(monkeypatch, text, variables):
    """In each execution, and for each row: "now" means something else the next time."""
    want = read_clock(graphql.execute, text, variables)
    assert not any(result.errors for result in want)
    for hot in (0, 64):
        monkeypatch.setattr("gqlnb.engine.compiler.plans.HOT", hot)
        assert read_clock(engine.execute, text, variables) == want

"""Serializers of custom scalars are called by compiled code, with graphql-core's answers."""

from __future__ import annotations

from collections import OrderedDict
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from graphql import GraphQLScalarType, Undefined, build_schema, parse

from gqlnb import engine
from gqlnb.engine.compiler import plans
from gqlnb.engine.graphql_compat import SERIALIZER_NAME
from tests.engine.comparison import answered

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
]


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_values_and_serializers_of_every_kind(name: str, value: str) -> None:
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


def test_a_replaced_serializer_takes_effect() -> None:
    """At the next execution, like a resolver."""
    schema, document = make_schema(lambda value: "first"), parse("{ one }")
    for answer in ("first", "second"):
        setattr(schema.type_map["Any"], SERIALIZER_NAME, lambda _, answer=answer: answer)
        for _ in range(3):
            assert engine.execute(schema, document, {"one": 1}).data == {"one": answer}


def test_a_serializer_is_called_once_for_each_value() -> None:
    """Also if it returns null."""
    seen: list[Any] = []
    schema, document = make_schema(seen.append), parse("{ one list }")
    for number in range(1, 4):
        found = engine.execute(schema, document, {"one": 1, "list": [2, 3]})
        assert found.data == {"one": None, "list": [None, None]}
        assert len(found.errors) == 3
        assert seen == [1, 2, 3] * number


def test_a_serializer_that_is_a_method() -> None:
    """It belongs to a subclass of graphql-core's scalar."""

    class Own(GraphQLScalarType):
        """A scalar with a method."""

    setattr(Own, SERIALIZER_NAME, lambda self, value: f"{self.name} {value}")
    schema = build_schema(SDL)
    own = Own("Own")
    vars(own).pop(SERIALIZER_NAME, None)
    schema.query_type.fields["one"].type = own
    answered(schema, "{ one }", lambda: {"one": 5})

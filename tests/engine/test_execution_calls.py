"""How resolvers are called and what they are told, by our executor and by graphql-core."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInt,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    build_schema,
    parse,
)

from gqlnb import engine
from tests.engine.comparison import metered, rooted, same

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("road")

# Resolvers

DEEP = "type Query { q(x: Int = 1): T! l: [[T]] } type T { t(x: Int): T s: String l: [T!]! }"


class Made:
    """Is made by calling its class."""

    def __init__(self, source: Any, info: Any, **args: Any) -> None:
        self.args = args

    def __str__(self) -> str:
        return f"made {self.args}"


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function around another, as decorators do."""

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        return function(*args, **named)

    return call


# The differential tests have the usual ones: functions, methods, objects, and partials of them.
RESOLVERS: dict[str, Callable[..., Any]] = {
    "class": Made,
    "partial with an argument": functools.partial(lambda *given, **args: f"{args}", x=5),
    "wrapped": wrapped(lambda source, info, x: f"{x}"),
    "cached": functools.lru_cache(lambda source, info, **args: f"{args}"),
    "nothing": lambda: "none",
    "positional only": lambda source, info, /, x=None: f"{x}",
    "keywords by name": lambda source, info, *, x="own": f"{x}",
    "builtin": max,
    "single dispatch": functools.singledispatch(lambda source, info, **args: f"{args}"),
}


@pytest.mark.parametrize("name", RESOLVERS)
def test_resolvers_and_methods_of_the_data_may_be_any_callable(name):
    """Source and info are positional, arguments are keywords."""
    schema = build_schema("type Query { r(x: Int, y: Int = 3): String n: String }")
    text = "query ($x: Int) { r n given: r(x: 1) null: r(x: $x, y: null) other: r(y: 1) }"
    if name != "single dispatch":  # graphql-core calls it by the class of the info
        same(schema, text, rooted(r=RESOLVERS[name], n=RESOLVERS[name]))
    fields = schema.query_type.fields
    fields["r"].resolve = fields["n"].resolve = RESOLVERS[name]
    same(schema, text, lambda: {"root_value": "root"})


@pytest.mark.parametrize("chosen", [("q",), ("s",), ("t",), ("l",), ("q", "s"), ("l", "s", "t")])
@pytest.mark.parametrize("execute", [engine.execute, metered], ids=["free", "metered"])
def test_paths_are_those_of_the_reference(execute, chosen):
    """Also where compiled code makes them since a resolver's code names the path."""
    schema, told = build_schema(DEEP), []  # type: ignore[var-annotated]

    def read_by_name(info: Any) -> Any:
        path, keys = getattr(info, "pa" + "th"), []
        while path is not None:
            keys.append((type(path), path.key, path.typename))
            path = path.prev
        return keys

    def direct(source: Any, info: Any, **_args: Any) -> Any:
        told.append((info.path, info.path == info[4], read_by_name(info)))
        return {"s": "s", "t": {}, "q": {}}.get(info.field_name, [{}, {}])

    def indirect(source: Any, info: Any, **_args: Any) -> Any:
        told.append(read_by_name(info))
        return {"s": "s", "t": {}, "q": {}}.get(info.field_name, [{}, {}])

    for kind in (schema.type_map["Query"], schema.type_map["T"]):
        for name, field in kind.fields.items():
            field.resolve = direct if name in chosen else indirect
    document = parse("{ q { t { s } l { s } } l { s t { s } t2: t { l { s t { s } } } } }")
    want = graphql.execute(schema, document).data
    expected = list(told)
    for _ in range(3):
        told.clear()
        assert execute(schema, document).data == want
        assert told == expected


def test_info_objects_remain_valid_after_the_execution():
    """Also for items of lists."""
    schema = build_schema("type Query { l: [T] } type T { s: String }")

    def kept(execute: Callable[..., Any]) -> list[Any]:
        infos: list[Any] = []
        rows = [{"s": infos.append} for _ in range(3)]
        execute(schema, parse("{ l { s a: s } }"), root_value={"l": rows})
        return [info.path.as_list() for info in infos]

    assert kept(engine.execute) == kept(graphql.execute)
    assert len(kept(engine.execute)) == 6


# What is remembered


def test_the_cache_drops_collected_schemas():
    """A new schema at the same address, with the same id, gets its own plan."""
    document = parse("{ a }")
    for number in range(40):
        schema = build_schema("type Query { a: Int }")
        schema.query_type.fields["a"].resolve = lambda *_, n=number: n
        assert engine.execute(schema, document).data == {"a": number}
        del schema


def test_objects_in_arguments_are_shared_like_graphql_cores():
    """The value of a variable is one object for all calls; a literal is a new one for each."""
    schema = build_schema(
        "input I { a: Int b: [Int] } type Query { rows: [R!] } "
        "type R { f(i: I, l: [I!], d: I = {a: 1}): Int }"
    )
    seen: list[Any] = []

    def resolve(source: Any, info: Any, **given: Any) -> int:
        seen.append(given)
        given["i"]["a"] += 1
        given["l"][0]["b"].append(0)
        return int(given["i"]["a"])

    schema.type_map["R"].fields["f"].resolve = resolve
    text = """
    query ($i: I, $b: [Int], $n: Int) {
      rows { f(i: $i, l: {b: $b}) g: f(i: {a: $n}, l: [{b: [1]}]) h: f(i: $i, l: [$i]) }
    }
    """
    same(
        schema,
        text,
        lambda: {
            "root_value": {"rows": [{}] * 5},
            "variable_values": {"i": {"a": 5, "b": [7]}, "b": [1, 2], "n": 3},
        },
    )
    core = [{k: dict(v) if isinstance(v, dict) else v for k, v in g.items()} for g in seen[:15]]
    ours = [{k: dict(v) if isinstance(v, dict) else v for k, v in g.items()} for g in seen[15:30]]
    assert [g["i"] for g in core] == [g["i"] for g in ours]
    sharing = [[first["i"] is second["i"] for second in seen[:15]] for first in seen[:15]]
    for start in (15, 30, 45, 60):
        run = seen[start : start + 15]
        assert [[first["i"] is second["i"] for second in run] for first in run] == sharing


@pytest.mark.parametrize(
    "name", ["class", "self", "None", "__debug__", "not a name", "\N{GREEK SMALL LETTER MU}"]
)
def test_resolvers_get_arguments_by_any_python_name(name):
    """Also by one that no call in Python can have."""
    arguments = {"a": GraphQLArgument(GraphQLInt, out_name=name), "b": GraphQLArgument(GraphQLInt)}
    field = GraphQLField(GraphQLString, arguments, lambda _s, _i, /, **given: repr(given))
    schema = GraphQLSchema(GraphQLObjectType("Query", {"echo": field}))
    same(schema, "query ($v: Int = 2) { echo(a: 1, b: 2) e: echo(b: 3) v: echo(a: $v) }")

"""How resolvers are called and what they are told, by our executor and by graphql-core."""

from __future__ import annotations

import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInt,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    GraphQLString,
    build_schema,
    parse,
)

from gqlnb import engine
from tests.engine.comparison import metered, rooted, same, seen
from tests.property.differential.outcome import exact

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("road")

# Resolvers

DEEP = "type Query { q(x: Int = 1): T! l: [[T]] } type T { t(x: Int): T s: String l: [T!]! }"


class Method:
    """Has resolvers of several makes."""

    def bound(self, source: Any, info: Any, **args: Any) -> Any:
        """Resolve as a bound method."""
        return f"{args}"

    @classmethod
    def of_class(cls, source: Any, info: Any, **args: Any) -> Any:
        """Resolve as a class method."""
        return f"{cls.__name__} {args}"

    @staticmethod
    def static(source: Any, info: Any, **args: Any) -> Any:
        """Resolve as a static method."""
        return f"{args}"

    def __call__(self, source: Any, info: Any, **args: Any) -> Any:
        """Resolve as an object."""
        return f"called {args}"


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


RESOLVERS: dict[str, Callable[..., Any]] = {
    "bound method": Method().bound,
    "class method": Method.of_class,
    "static method": Method.static,
    "object": Method(),
    "class": Made,
    "partial": functools.partial(Method.bound, Method()),
    "partial with an argument": functools.partial(Method.static, x=5),
    "wrapped": wrapped(lambda source, info, x: f"{x}"),
    "cached": functools.lru_cache(lambda source, info, **args: f"{args}"),
    "source and info only": lambda source, info: "two",
    "nothing": lambda: "none",
    "everything": lambda *args, **named: f"{len(args)} {named}",
    "positional only": lambda source, info, /, x=None: f"{x}",
    "keywords by name": lambda source, info, *, x="own": f"{x}",
    "other names": lambda obj, context, x="own", y=2: f"{x} {y}",
    "builtin": max,
    "single dispatch": functools.singledispatch(lambda source, info, **args: f"{args}"),
}


@pytest.mark.parametrize("name", RESOLVERS)
def test_resolvers_may_be_any_callable(name):
    """Source and info are positional, arguments are keywords."""
    schema = build_schema("type Query { r(x: Int, y: Int = 3): String n: String }")
    fields = schema.query_type.fields
    fields["r"].resolve = fields["n"].resolve = RESOLVERS[name]
    for text in (
        "{ r n }",
        "{ r(x: 1) }",
        "query ($x: Int) { r(x: $x, y: null) }",
        "{ a: r(y: 1) b: r(x: 2) }",
    ):
        same(schema, text, lambda: {"root_value": "root"})


def test_methods_in_the_data_are_called_with_info_and_arguments():
    """A function found in a dict or on an object gets the info and the arguments."""
    for name, function in RESOLVERS.items():
        if name != "single dispatch":
            text = "{ q { s } q2: q(x: 5) { s } }"
            same("type Query { q(x: Int = 1): T } type T { s: String }", text, rooted(q=function))
            same("type Query { q(x: Int = 1): String }", "{ q a: q(x: 2) }", rooted(q=function))


def record(info: Any, root: Any) -> tuple[Any, ...]:
    """Return everything that an info tells."""
    path, keys = info.path, []
    while path is not None:
        keys.append((path.key, path.typename))
        path = path.prev
    return (
        info.field_name,
        [(node.loc.start, id(node)) for node in info.field_nodes],
        type(info.field_nodes),
        str(info.return_type),
        id(info.parent_type),
        info.path.as_list(),
        keys,
        id(info.schema),
        [(name, id(node)) for name, node in info.fragments.items()],
        info.root_value is root,
        id(info.operation),
        repr(getattr(info.variable_values, "coerced", info.variable_values)),
        sorted(getattr(info.variable_values, "sources", ())),
        info.context,
        [info.is_awaitable(value) for value in (1, None, "x")],
        isinstance(info, GraphQLResolveInfo),
        info._fields,
        len(info),
        list(info._asdict()) == list(info._fields),
        info[0],
        info._replace(context=1).context,
    )


ROOT: dict[str, Any] = {}
INFO = """
query Main($x: Int = 4, $no: Int) {
  q { ...F t(x: $x) { s } again: t { l { s } } } q { t(x: $x) { u: s } } l { ... on T { s } ...F }
}
fragment F on T { s l { s t { s } } }
query Other { q { s } }
"""


FACED = "type Query { f: F } interface F { s: String } type T implements F { s: String }"


def infos(execute: Callable[..., Any], schema: Any, document: Any, **options: Any) -> list[Any]:
    """Return what the infos of an execution tell; `note` among the options records one."""
    told: list[Any] = []
    options = {name: option(told) for name, option in options.items()}
    answer = seen(
        execute,
        schema,
        document,
        {
            "root_value": ROOT,
            "context_value": "context",
            "operation_name": "Main",
            "variable_values": {"no": None},
            **options,
        },
    )
    assert told
    return [answer, *told]


def resolving(told: list[Any]) -> Callable[..., Any]:
    """Return a resolver for all fields that records its info."""

    def resolve(source: Any, info: Any, **args: Any) -> Any:
        told.append(record(info, ROOT))
        return {"q": {}, "t": {}, "s": "s"}.get(info.field_name, [{}, {}])

    return resolve


def equal_infos(schema: Any, document: Any, **options: Any) -> None:
    """Assert that infos tell the same, the first time and later."""
    want = infos(graphql.execute, schema, document, **options)
    for _ in range(3):
        assert infos(engine.execute, schema, document, **options) == want


def test_info_of_the_default_resolver():
    """Name, nodes, types, path, schema, fragments, root, operation, variables and context."""
    equal_infos(build_schema(DEEP), parse(INFO), field_resolver=resolving)


def test_field_resolvers_get_the_reference_info():
    """Default resolvers get the same."""
    schema, told = build_schema(DEEP), []  # type: ignore[var-annotated]
    for name, kind in schema.type_map.items():
        for field in kind.fields.values() if name in ("Query", "T") else ():
            field.resolve = resolving(told)
    document = parse(INFO)
    want = seen(graphql.execute, schema, document, {"root_value": ROOT, "operation_name": "Main"})
    expected = list(told)
    for _ in range(3):
        told.clear()
        options = {"root_value": ROOT, "operation_name": "Main"}
        assert seen(engine.execute, schema, document, options) == want
        assert told == expected


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


def test_methods_of_the_data_get_the_reference_info():
    """They get the same info as a resolver."""

    def row(told: list[Any]) -> dict[str, Any]:
        ROOT.update(
            s=lambda i, **a: told.append(record(i, ROOT)),
            t=lambda i, **a: ROOT,
            q=lambda i, **a: ROOT,
            l=lambda i, **a: [] if i.path.prev and i.path.prev.prev else [ROOT],
        )
        return ROOT

    equal_infos(build_schema(DEEP), parse(INFO), root_value=row)


def test_type_resolvers_get_the_info_of_the_field():
    """With the interface as an argument."""

    def telling(told: list[Any]) -> Callable[..., Any]:
        def tell(value: Any, info: Any, kind: Any) -> str:
            told.append((record(info, ROOT), id(kind)))
            return "T"

        return tell

    def row(told: list[Any]) -> dict[str, Any]:
        return {"f": {"s": 1}}

    document = parse("query Main { f { s } }")
    equal_infos(build_schema(FACED), document, type_resolver=telling, root_value=row)


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


def test_arguments_are_new_for_each_call():
    """A resolver that changes its arguments changes them for itself only."""
    schema = build_schema(
        "type Query { f(l: [Int] = [1], o: I = {a: [1]}): String } input I { a: [Int] }"
    )

    def greedy(source: Any, info: Any, **args: Any) -> str:
        told = repr(args)
        args.clear()
        return told

    schema.query_type.fields["f"].resolve = greedy
    same(schema, "query ($v: [Int] = [2]) { a: f b: f(l: [1, 2]) c: f(l: $v) d: f(l: $v) }")


def test_resolvers_are_called_in_the_order_of_the_reference():
    """Once per field and object, depth first."""
    schema = build_schema(DEEP)
    calls: list[Any] = []

    def resolve(source: Any, info: Any, **args: Any) -> Any:
        calls.append((info.path.as_list(), args))
        return {"s": "s", "l": [{}, {}]}.get(info.field_name, {})

    def made() -> list[Any]:
        calls.clear()
        return calls

    document = parse("{ q { s t { s l { s } } l { s t(x: 1) { s } } } l { s } z: q(x: 3) { s } }")
    want, got = made(), made()
    graphql.execute(schema, document, field_resolver=resolve)
    want = list(calls)
    for _ in range(2):
        made()
        engine.execute(schema, document, field_resolver=resolve)
        got = list(calls)
        assert got == want
    assert len(want) > 10


# What is remembered


def test_replaced_fields_types_and_scalars_take_effect():
    """Cells are run again: fields, types and scalars may be other ones the next time."""
    schema = build_schema(
        "type Query { a: Int f: F } interface F { x: Int }"
        "type A implements F { x: Int } type B implements F { x: Int }"
    )
    document = parse("{ a f { __typename x } }")
    root = lambda: {"root_value": {"a": 1, "f": {"x": 2, "__typename": "A"}}}  # noqa: E731
    field, face = schema.query_type.fields["a"], schema.type_map["F"]
    same(schema, document, root)
    for resolve in (lambda *_: 5, lambda *_: 6, None, lambda *_: "x"):
        field.resolve = resolve
        same(schema, document, root)
    for told in (lambda *_: "B", lambda *_: "C", None):
        face.resolve_type = told
        same(schema, document, root)
    for asked in (lambda *_: True, lambda *_: False, None):
        schema.type_map["A"].is_type_of = asked
        same(schema, document, root)


def test_plans_are_cached_per_schema():
    """One document is executed on several schemas."""
    document = parse("{ a b { a } }")
    for kinds in (("Int", "Q"), ("String", "[Q!]"), ("Float!", "Q!"), ("ID", "Q")):
        schema = build_schema("schema {{ query: Q }} type Q {{ a: {} b: {} }}".format(*kinds))
        same(schema, document, rooted(a=1, b=[{"a": 2}]))
        same(schema, document, rooted(a=1, b={"a": None}))


def test_the_cache_drops_collected_schemas():
    """A new schema at the same address, with the same id, gets its own plan."""
    document = parse("{ a }")
    for number in range(40):
        schema = build_schema("type Query { a: Int }")
        schema.query_type.fields["a"].resolve = lambda *_, n=number: n
        assert engine.execute(schema, document).data == {"a": number}
        del schema


def test_concurrent_first_executions_are_correct():
    """Several threads execute a new document at once."""
    schema = build_schema(DEEP)
    barrier = threading.Barrier(8)
    text = "{ q { s t { s l { s } } } l { s } }"
    row = {"s": "x", "l": [{"s": "y"}]}
    root = {"q": {**row, "t": row}, "l": [[row]]}
    want = graphql.execute(schema, parse(text), root)

    def execute(document: Any) -> Any:
        barrier.wait(10)
        return engine.execute(schema, document, root)

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            for got in pool.map(execute, [parse(text)] * 8):
                assert exact(got.data) == exact(want.data)


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


# Names of arguments

KEYWORDS = ("class", "from", "self", "info", "source", "lambda", "None", "x")


def echoing(**types: Any) -> GraphQLSchema:
    """Return a schema with a field that tells its arguments."""
    args = {
        name: kind if isinstance(kind, GraphQLArgument) else GraphQLArgument(kind)
        for name, kind in types.items()
    }
    field = GraphQLField(GraphQLString, args, resolve=lambda _s, _i, /, **given: repr(given))
    return GraphQLSchema(GraphQLObjectType("Query", {"echo": field}))


@pytest.mark.parametrize("name", KEYWORDS)
def test_arguments_may_have_any_name(name):
    """Names that are keywords of Python, or those of the resolver's parameters, are passed on."""
    schema = echoing(**{name: GraphQLInt, "other": GraphQLArgument(GraphQLInt, out_name="out")})
    same(schema, f"{{ echo({name}: 1, other: 2) }}")
    for resolve in (lambda source, info, **args: repr(args), lambda source, info: "none"):
        schema.query_type.fields["echo"].resolve = resolve
        same(schema, f"{{ echo({name}: 1) e: echo }}")


@pytest.mark.parametrize(
    "name", [*KEYWORDS, "__debug__", "not a name", "\N{GREEK SMALL LETTER MU}"]
)
def test_resolvers_get_arguments_by_any_python_name(name):
    """Also by one that no call in Python can have."""
    schema = echoing(a=GraphQLArgument(GraphQLInt, out_name=name), b=GraphQLInt)
    same(schema, "query ($v: Int = 2) { echo(a: 1, b: 2) e: echo(b: 3) v: echo(a: $v) }")


class Stop(BaseException):
    """Not an exception."""


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_base_exceptions_are_not_caught(error):
    """A KeyboardInterrupt ends the execution, in a field, a list and a resolver."""

    def fail(*_: Any) -> Any:
        raise error

    schema = build_schema("type Query { a: A l: [A] x: Int } type A { x: Int }")
    schema.query_type.fields["x"].resolve = fail
    for text in ("{ a { x } }", "{ l { x } }", "{ x }"):
        rows = rooted(a={"x": fail}, l=[{"x": 1}, {"x": fail}])
        assert same(schema, text, rows) == (error, "")

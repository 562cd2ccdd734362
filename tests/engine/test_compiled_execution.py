"""What `execute` itself is given, and how deep it goes: ours and graphql-core's."""

from __future__ import annotations

import sys
from typing import Any

import graphql
import pytest
from graphql import GraphQLSchema, build_schema, get_introspection_query, parse

from gqlnb import engine
from tests.engine.comparison import rooted, same, seen
from tests.property.differential.outcome import exact

pytestmark = pytest.mark.usefixtures("road")

# Depth

SELF = "type Query { me: Query n: Int! e: Int list: [Query] }"


def nested(depth: int, inside: str = "n") -> str:
    """Return a document that asks for `me` that many times."""
    return "{ " + "me { " * depth + inside + " }" * depth + " }"


@pytest.fixture
def deep_stack():
    """Let both executors go as deep as they want."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("depth", [1, 3, 4, 5, 8, 19, 20, 21, 40, 99, 150])
def test_deep_documents_are_executed(depth):
    """At any depth the parser accepts, with self-referencing objects too."""
    root: dict[str, Any] = {"n": 1, "e": ValueError("e")}
    root |= {"me": root, "list": [root]}
    same(SELF, nested(depth, "n e list { n e }"), lambda: {"root_value": root})


def test_execution_deeper_than_the_stack_is_an_error():
    """Responses equal the reference's where it has one; otherwise an error, not a crash."""
    schema = build_schema(SELF)
    root: dict[str, Any] = {"n": 1}
    root["me"] = lambda info: root
    for depth in (50, 100, 130, 150):
        document = parse(nested(depth))
        want = graphql.execute(schema, document, root)
        got = engine.execute(schema, document, root)
        assert want.errors or exact(got.data) == exact(want.data)
        assert all("recursion" in str(error.original_error) for error in got.errors or ())


def test_documents_deeper_than_validation_allows_do_not_crash():
    """300 levels, as a program may build them, are executed or refused."""
    schema = build_schema(SELF)
    fragments = " ".join(
        f"fragment F{n} on Query {{ {'me { ' * 50} ...F{n + 1} {'} ' * 50} }}" for n in range(6)
    )
    document = parse("{ ...F0 } " + fragments + " fragment F6 on Query { n }")
    root: dict[str, Any] = {"n": 1}
    root["me"] = root
    want = graphql.execute(schema, document, root)
    got = engine.execute(schema, document, root)
    if not got.errors:
        data, depth = got.data, 0
        while "me" in data:
            data, depth = data["me"], depth + 1
        assert (data, depth) == ({"n": 1}, 300)
    if not want.errors:
        assert exact(got.data) == exact(want.data)


def test_infinite_recursion_of_a_resolver_is_a_field_error():
    """The RecursionError is handled like any other exception."""

    def endless(info: Any) -> Any:
        return endless(info)

    data, errors, _ = same("type Query { a: Int b: Int }", "{ a b }", rooted(a=endless, b=1))
    assert data == exact({"a": None, "b": 1})
    assert errors[0]["original"].startswith("RecursionError")


# The arguments of execute itself

ALL = build_schema(
    "type Query { a(x: Int): Int b: T } interface T { s: String } type U implements T { s: String }"
)


def test_positional_arguments_have_the_order_of_the_reference():
    """The first eight parameters are equal."""
    document = parse("query A($x: Int) { a(x: $x) b { s } }")

    def resolve(source: Any, info: Any, **args: Any) -> Any:
        return args.get("x") if info.field_name == "a" else {"s": (source, info.context)}

    given = (ALL, document, "root", "context", {"x": 7}, "A", resolve, lambda *_: "U")
    want, got = graphql.execute(*given), engine.execute(*given)
    assert (got, got.data["a"]) == (want, 7)


@pytest.mark.parametrize("variables", [[], "x", 5, (("x", 1),), [("x", 1)]])
def test_variables_that_are_not_a_dict_give_the_reference_result(variables):
    """Something else in place of variables meets the reference's answer."""
    for text in ("{ a }", "query ($x: Int) { a(x: $x) }"):
        same(ALL, text, lambda: {"root_value": {"a": 1}, "variable_values": variables})


def test_non_executable_documents_are_refused_as_by_the_reference():
    """No document, an invalid schema, and a document without operations."""
    broken = build_schema(
        "type Query { a: Int } interface I { x: Int } type B implements I { y: Int }",
        assume_valid_sdl=True,
    )
    for schema in (broken, GraphQLSchema(), None, "schema"):
        want = seen(graphql.execute, schema, parse("{ a }"), {})
        assert seen(engine.execute, schema, parse("{ a }"), {}) == want
    for document in (None, "{ a }", parse("type A { a: Int }"), parse("fragment F on Query { a }")):
        want = seen(graphql.execute, ALL, document, {})
        assert seen(engine.execute, ALL, document, {}) == want


NEW = graphql.version_info >= (3, 3)
EXECUTOR: Any = getattr(graphql.execution, "Executor" if NEW else "ExecutionContext")
OPTION = "executor_class" if NEW else "execution_context_class"


class Louder(EXECUTOR):
    """An executor of somebody's own."""

    @staticmethod
    def complete_leaf_value(return_type: Any, result: Any) -> Any:
        """Return something of its own."""
        return f"{result}!"


def around(next_: Any, source: Any, info: Any, **args: Any) -> Any:
    """Middleware."""
    return next_(source, info, **args) + 1


def test_middleware_and_executor_classes_run_as_in_the_reference():
    """Custom middleware and executor classes are used."""
    root = {"a": 1, "b": {"s": "x", "__typename": "U"}}
    for options in ({"middleware": [around]}, {OPTION: Louder}, {"is_awaitable": lambda _: False}):
        same(ALL, "{ a x: a(x: 1) }", lambda o=options: {"root_value": root, **o})


def test_unknown_arguments_are_refused():
    """A misspelt argument is a TypeError."""
    for execute in (graphql.execute, engine.execute):
        with pytest.raises(TypeError):
            execute(ALL, parse("{ a }"), nowhere=1)


def test_results_are_not_shared():
    """Mutating one result does not change later ones."""
    document = parse(
        '{ __typename __schema { queryType { name } } __type(name: "U") { fields { name } } }'
    )
    want = exact(graphql.execute(ALL, document).data)
    for _ in range(3):
        got = engine.execute(ALL, document)
        assert exact(got.data) == want
        got.data["__schema"]["queryType"]["name"] = "changed"
        got.data["__type"]["fields"].clear()


def test_introspection_of_a_large_schema_equals_the_reference(root):
    """The full introspection of the mocked GitHub schema is equal, including key order."""
    schema = build_schema((root / "gqlnb/github/schema.graphql").read_text())
    same(schema, get_introspection_query(directive_is_repeatable=True, schema_description=True))

"""Compiled plans: what they do beyond graphql-core's answers, which the differential tests hold."""

import asyncio
import gc
import linecache
import sys
import threading
import traceback
from collections import deque

import graphql
import pytest
from graphql import build_schema, parse

from gqlnb import Limits, QueryError, Schema, engine
from gqlnb.engine.compiler import function_writer, lazy_functions
from gqlnb.engine.compiler import plans as plans_module
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33

SDL = """
type Query { rows(first: Int = 2): [Row!]! pet: Pet slow: Int deep: Deep }
type Row { name: String! n: Int }
interface Pet { name: String }
type Dog implements Pet { name: String bark: Int }
type Cat implements Pet { name: String }
type Deep { deep: Deep x: Int! }
type Subscription { ticks(n: Int!): Int }
"""


async def slow(root, args, context):
    """Answer after giving way once."""
    await asyncio.sleep(0)
    return 7


async def ticks(root, args, context):
    """Count up."""
    for number in range(args["n"]):
        yield number


@pytest.fixture
def schema():
    """Return a schema with plain, native, async and subscription fields."""
    return Schema(
        SDL,
        {
            "Query": {
                "rows": lambda root, args, context: [
                    {"name": f"r{i}"} for i in range(args["first"])
                ],
                "pet": lambda *_: {"__typename": "Dog", "name": "Rex", "bark": 3},
                "slow": slow,
                "deep": lambda *_: {"deep": {"deep": {"deep": {"x": None}}}},
            },
            "Row": {"n": lambda row, args, context: len(row["name"])},
            "Subscription": {"ticks": ticks},
        },
    )


def plans(schema):
    """Return the plans held for a schema."""
    operations = plans_module.get_operation_cache(schema.graphql).values()
    return [plan for operation in operations for plan in operation.plans.values()]


def count_executions(text, root, monkeypatch, hot=64, first_runs=100):
    """Return the number of the execution in which a text is compiled; the next reuse the plan."""
    monkeypatch.setattr(plans_module, "HOT", hot)
    monkeypatch.setattr(plans_module, "FIRST_RUNS", first_runs)
    core = build_schema(
        "type Query { a: Int b: Int more: Row rows: [Row!] } type Row { name: String }"
    )
    core.type_map["Query"].fields["more"].resolve = lambda source, info: {"name": "more"}
    document = parse(text)
    first = engine.execute(core, document, root)
    ((plan,),) = [o.plans.values() for o in plans_module.get_operation_cache(core).values()]
    number = 1
    while not plan.source_names:
        assert engine.execute(core, document, root) == first
        number += 1
    made = len(plan.source_names)
    assert engine.execute(core, document, root) == first
    assert len(plan.source_names) == made
    return number


def test_a_repeated_operation_is_compiled_after_a_few_executions(monkeypatch):
    """Larger ones later."""
    fields = " ".join(f"a{n}: a" for n in range(64))
    assert count_executions("{ a }", {"a": 1}, monkeypatch, first_runs=3) == 4
    assert count_executions(f"{{ {fields} }}", {"a": 1}, monkeypatch, first_runs=3) == 8


def test_costly_fields_and_rows_are_compiled_earlier(monkeypatch):
    """Other fields than leaves that are looked up count more, and each row counts."""
    assert 5 < count_executions("{ more { name } }", {}, monkeypatch) < 30
    rows = [{"name": "row"}] * 20
    assert 1 < count_executions("{ rows { name } }", {"rows": rows}, monkeypatch) < 8


def test_an_operation_that_is_too_large_is_not_compiled(monkeypatch):
    """Its source would take megabytes."""
    monkeypatch.setattr(function_writer, "MAX_PLAN_SOURCE", 50_000)
    names = [f"f{n}" for n in range(300)]
    core = build_schema(f"type Query {{ {' '.join(f'{name}: Int' for name in names)} }}")
    document, root = parse(f"{{ {' '.join(names)} }}"), dict.fromkeys(names, 1)
    for _ in range(plans_module.HOT + 3):
        assert engine.execute(core, document, root).data == root
    (operation,) = plans_module.get_operation_cache(core).values()
    assert operation.source_size == 0


def test_a_long_list_is_compiled_immediately(schema):
    """Its rows make compilation worthwhile."""
    schema.execute("{ rows(first: 500) { name } }")
    (plan,) = plans(schema)
    assert any("rows" in text for text in plan.source_names)


def test_the_number_of_plans_for_directive_values_is_bounded():
    """The oldest plan is dropped for a new set of values."""
    names = [f"v{n}" for n in range(7)]
    core = build_schema(f"type Query {{ {' '.join(f'{name}: Int' for name in names)} a: Int }}")
    given = " ".join(f"${name}: Boolean!" for name in names)
    # Each field is selected twice, so that the order of the fields depends on the values.
    fields = " ".join(f"{name} @include(if: ${name})" for name in names) + " ".join(["", *names])
    document, root = parse(f"query ({given}) {{ a {fields} }}"), dict.fromkeys([*names, "a"], 1)
    for number in [*range(128), *range(128)]:
        values = {name: bool(number >> n & 1) for n, name in enumerate(names)}
        found = engine.execute(core, document, root, variable_values=values)
        assert found == graphql.execute(core, document, root, variable_values=values)
    (operation,) = plans_module.get_operation_cache(core).values()
    assert len(operation.plans) == plans_module.MAX_PLANS_PER_OPERATION


def test_equal_sources_share_their_code_and_their_place_in_linecache(monkeypatch):
    """The text of a place stays there until the last plan that uses it is dropped."""
    monkeypatch.setattr(plans_module, "HOT", 0)
    sdl, text = "type Query { a: Int b: Int }", "{ first: a b }"
    schemas = [Schema(sdl), Schema(sdl)]
    for number, schema in enumerate(schemas):
        assert schema.execute(text, root={"a": number, "b": 2}).data == {"first": number, "b": 2}
    first, second = map(plans, schemas)
    places = list(first[0].source_names)
    assert places
    assert places == second[0].source_names
    for schema, kept in zip(schemas, (True, False), strict=True):
        plans_module.get_operation_cache(schema.graphql).clear()
        (first if kept else second).clear()
        gc.collect()
        Schema(sdl).execute("{ a }", root={"a": 1})
        assert all((place in linecache.cache) is kept for place in places)


def test_a_traceback_shows_the_generated_line(schema):
    """The exception of a resolver can be followed through the compiled code."""

    def fail(root, args, context):
        msg = "lost"
        raise LookupError(msg)

    schema.resolver("Query.rows")(fail)
    schema.execute("{ rows { name } }")
    error = schema.execute("{ rows { name } }").causes[0]
    shown = "".join(traceback.format_exception(error))
    assert "<gqlnb" in shown
    assert "x.context_value)" in shown


def test_a_subscription_that_cannot_start_returns_errors(schema):
    """As with graphql-core."""

    async def outcome():
        made = engine.subscribe(schema.graphql, parse("subscription ($n: Int!) { ticks(n: $n) }"))
        return await made if asyncio.iscoroutine(made) else made

    assert "'$n'" in asyncio.run(outcome()).errors[0].message


def test_explain_lists_fields_resolvers_and_source(schema):
    """The report names each resolver and contains the generated Python."""
    made = schema.explain("query Q { rows(first: 3) { name n } pet { ... on Dog { bark } } }")
    assert made.compiled
    assert "query Q: compiled" in made.plan
    assert "Row.name: String!  looked up in its parent" in made.plan
    assert "(root, args, context)" in made.plan
    assert "{'first': 3}" in made.plan
    assert "on Dog" in made.plan
    compile(made.source, "explained", "exec")
    assert repr(made).startswith("query Q: compiled")


def test_explain_names_functions_without_those_around_them():
    """A lambda or an inner function is named by its module and line; of a cell only by its line."""

    def outer():
        def inner(root, args, context):
            return 1

        return inner

    made = Schema("type Query { a: Int b: Int }", {"Query": {"a": outer(), "b": lambda *_: 2}})
    line = outer().__code__.co_firstlineno
    plan = made.explain("{ a b }").plan
    assert f"Query.a: Int  inner(root, args, context) line {line} of {__name__}" in plan
    assert "Query.b: Int  lambda(root, args, context) line" in plan
    cell = outer()
    cell.__module__ = "__main__"
    made = Schema("type Query { a: Int }", {"Query": {"a": cell}})
    assert f"inner(root, args, context) line {line}" in made.explain("{ a }").plan


def test_explain_executes_nothing(schema):
    """A resolver is not called."""
    schema.resolver("Query.rows")(lambda *_: pytest.fail("called"))
    schema.explain("{ rows { name } }")


def test_explain_gives_the_reason_for_a_fallback_to_graphql_core(monkeypatch):
    """The report lists the parts that graphql-core executes."""
    core = Schema("directive @defer on FIELD | INLINE_FRAGMENT type Query { a: Int }")
    made = core.explain("{ ... @defer { a } }")
    assert not made.compiled
    assert "graphql-core executes it" in made.plan
    assert made.source == ""


def test_schemas_with_incremental_delivery_directives_are_executed():
    """Using them is an error, or, with graphql-core 3.2, one complete response."""
    sdl = """
    directive @defer on INLINE_FRAGMENT
    type Query { a: Int } type Subscription { n: Int }
    """
    counting = {"Subscription": {"n": lambda *_: iter((1, 2))}}
    for core in (Schema(sdl, counting), Schema.mock(sdl, resolvers=counting)):
        core.resolver("Query.a")(lambda *_: 1)
        assert "@defer" in core.sdl
        for limits in (None, Limits()):
            assert core.execute("{ a }", limits=limits).data == {"a": 1}
        assert [event["n"] for event in core.subscribe("subscription { n }")] == [1, 2]
        if not IS_GRAPHQL_33:
            assert core.execute("{ ... @defer { a } }").data == {"a": 1}
            continue
        with pytest.raises(QueryError, match="@defer asks for a response in parts") as caught:
            core.execute("{ ... @defer { a } }")
        assert caught.value.problems[0].column == 7


def test_a_profile_counts_calls_and_seconds(schema):
    """Per field, as bars and as a frame, beside the result."""
    profile = schema.profile("{ rows(first: 50) { name n } slow }")
    frame = profile.frame().set_index("field")
    assert frame.loc["Row.n", "calls"] == 50
    assert frame.loc["Query.rows", "calls"] == 1
    assert frame.loc["Query.rows", "seconds"] >= frame.loc["Row.n", "seconds"]
    assert len(profile.result["rows"]) == 50
    assert profile.result["slow"] == 7
    assert profile.result.profile is profile
    assert schema.execute("{ slow }").profile is None
    assert "█" in repr(profile)
    assert "Row.n" in repr(profile)


def test_a_profile_of_a_wrong_query_is_an_error(schema):
    """As with execute."""
    with pytest.raises(QueryError):
        schema.profile("{ rowz }")


def test_another_thread_may_forget_sources_at_the_same_time(monkeypatch):
    """The last one may be gone between the test and its removal."""

    class Emptied(deque):
        def __bool__(self):
            return True

    monkeypatch.setattr(lazy_functions, "_forgotten", Emptied(["<gqlnb 0>"]))
    lazy_functions.add_source("<gqlnb 1>", "text")
    assert linecache.cache.pop("<gqlnb 1>")[2] == ["text"]


def test_threads_share_plans(schema):
    """Compiling at the same time gives every thread the same answer."""
    text, answers = "{ rows(first: 100) { name n } pet { name } }", []
    ready = threading.Barrier(8)

    def ask():
        ready.wait()
        answers.extend(schema.execute(text).data for _ in range(20))

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert len(answers) == 160
    assert all(answer == answers[0] for answer in answers)

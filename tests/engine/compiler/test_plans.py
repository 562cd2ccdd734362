"""Compiled plans: what they do beyond graphql-core's answers, which the differential tests hold."""

import asyncio
import gc
import linecache
import sys
import threading
import traceback

import graphql
import pytest
from graphql import GraphQLResolveInfo, build_schema, default_field_resolver, parse

from gqlnb import Limits, QueryError, Schema, engine
from gqlnb.engine.compiler import plans as cache
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
    found = [o for o in cache.cached_operations.values() if o.schema is schema.graphql]
    return [plan for operation in found for plan in operation.plans.values()]


def test_an_operation_is_compiled_when_it_is_seen_again(schema):
    """The first execution costs no compilation, the second one does, the third nothing."""
    text = "{ rows { name n } }"
    first = schema.execute(text).data
    (plan,) = plans(schema)
    assert plan.compiler.sources == []
    assert schema.execute(text).data == first
    made = len(plan.compiler.sources)
    assert made > 0
    assert schema.execute(text).data == first
    assert len(plan.compiler.sources) == made


def test_a_long_list_is_compiled_at_once(schema):
    """Its rows pay for it."""
    schema.execute("{ rows(first: 500) { name } }")
    (plan,) = plans(schema)
    assert any("rows" in text for text in plan.compiler.sources)


def test_a_resolver_that_is_replaced_takes_effect_at_the_next_execution(schema):
    """By decorator, or by setting it on graphql-core's own object."""
    text = "{ pet { name } }"
    for _ in range(3):
        assert schema.execute(text).data == {"pet": {"name": "Rex"}}
    schema.resolver("Dog.name")(lambda *_: "Fido")
    assert schema.execute(text).data == {"pet": {"name": "Fido"}}
    schema.graphql.type_map["Dog"].fields["name"].resolve = lambda source, info: "Waldi"
    assert schema.execute(text).data == {"pet": {"name": "Waldi"}}
    schema.type_resolver("Pet")(lambda value, context: "Cat")
    assert schema.execute("{ pet { __typename } }").data == {"pet": {"__typename": "Cat"}}


def test_each_set_of_directive_values_has_its_own_answer(schema):
    """A plan for `true` is no plan for `false`."""
    text = "query ($a: Boolean!) { rows { name @include(if: $a) n @skip(if: $a) } }"
    for _ in range(3):
        assert schema.execute(text, {"a": True}).data["rows"][0] == {"name": "r0"}
        assert schema.execute(text, {"a": False}).data["rows"][0] == {"n": 2}
    assert len(plans(schema)) == 2


def test_arguments_are_new_for_every_call(schema):
    """A resolver that changes them changes nothing for the next."""
    seen = []

    def rows(root, args, context):
        seen.append(dict(args))
        args["first"] = 99
        return []

    schema.resolver("Query.rows")(rows)
    for text in ("{ rows(first: 1) { name } }", "query ($n: Int) { rows(first: $n) { name } }"):
        for _ in range(4):
            schema.execute(text, {"n": 1})
    assert seen == [{"first": 1}] * 8


def test_the_cache_is_bounded(monkeypatch):
    """New documents push out the oldest."""
    monkeypatch.setattr(cache, "MAX_OPERATIONS", 4)
    monkeypatch.setattr(cache, "cached_operations", {})
    monkeypatch.setattr(
        "gqlnb.engine.compiled_execution.cached_operations", cache.cached_operations
    )
    core = build_schema("type Query { a: Int }")
    for number in range(20):
        engine.execute(core, parse(f"{{ a{number}: a }}"), {"a": 1})
    assert len(cache.cached_operations) <= 4


def test_a_plan_that_is_dropped_takes_its_source_along(schema):
    """Nothing stays behind in `linecache`."""
    text = "{ rows { name } }"
    schema.execute(text), schema.execute(text)
    (plan,) = plans(schema)
    places = list(plan.source_names)
    assert all(place in linecache.cache for place in places)
    for key in [k for k, o in cache.cached_operations.items() if o.schema is schema.graphql]:
        del cache.cached_operations[key]
    del plan
    gc.collect()
    assert not any(place in linecache.cache for place in places)


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


def test_an_info_object_stands_for_graphql_cores():
    """It is taken for one, and tells the same."""
    seen = []
    core = build_schema("type Query { a(x: Int): [B] } type B { c: Int }")

    def resolve(source, info, **args):
        seen.append(info)
        return 5

    core.type_map["B"].fields["c"].resolve = resolve
    document = parse("query Q($x: Int) { r: a(x: $x) { d: c ...F } } fragment F on B { d: c }")
    given = {"root_value": {"a": [{}, {}]}, "context_value": "C", "variable_values": {"x": 1}}
    for _ in range(3):
        engine.execute(core, document, **given)
    graphql.execute(core, document, **given)
    mine, theirs = seen[-3], seen[-1]
    assert isinstance(mine, GraphQLResolveInfo)
    assert mine.path.as_list() == theirs.path.as_list() == ["r", 1, "d"]
    for name in theirs._fields:
        if name != "async_helpers":
            assert getattr(mine, name) == getattr(theirs, name), name
    assert len(mine) == len(theirs)
    assert mine[0] == theirs[0]
    assert [*mine][:4] == [*theirs][:4]
    assert mine._asdict().keys() == theirs._asdict().keys()
    assert repr(mine)[:40] == repr(theirs)[:40]


def test_what_is_not_compiled_is_handed_over():
    """Middleware runs, by graphql-core."""
    core = build_schema("type Query { a: Int }")

    def middle(following, source, info, **args):
        return following(source, info, **args) + 1

    for _ in range(3):
        outcome = engine.execute(core, parse("{ a }"), {"a": 1}, middleware=[middle])
        assert outcome.data == {"a": 2}


def test_a_field_resolver_of_the_caller_is_used():
    """It answers every field that has none, and is no part of another's plan."""
    core, document = build_schema("type Query { a: Int }"), parse("{ a }")
    for _ in range(3):
        assert engine.execute(core, document, field_resolver=lambda *_: 5).data == {"a": 5}
        assert engine.execute(core, document, {"a": 1}).data == {"a": 1}
        same = engine.execute(core, document, {"a": 1}, field_resolver=default_field_resolver)
        assert same.data == {"a": 1}


@pytest.mark.parametrize("levels", [60, 150])
def test_a_deep_document_has_graphql_cores_answer(levels):
    """Functions nest no deeper than CPython's blocks, and recurse less than graphql-core."""
    core = build_schema("type Query { deep: Query x: Int! }")
    core.query_type.fields["deep"].resolve = lambda *_: {"x": 1}
    document = parse("{ deep " * levels + "{ x }" + " }" * levels, no_location=True)
    expected = graphql.execute(core, document)
    assert expected.errors is None
    for _ in range(3):
        assert engine.execute(core, document) == expected


def test_null_goes_up_to_the_nearest_place_that_takes_it(schema):
    """The innermost `x` is null and must not be."""
    for _ in range(3):
        result = schema.execute("{ deep { deep { deep { deep { x } } } } }")
        assert result.data == {"deep": {"deep": {"deep": {"deep": None}}}}
        assert result.errors[0]["path"] == ["deep", "deep", "deep", "deep", "x"]


def test_events_of_a_subscription_run_the_plan(schema):
    """One result an event."""

    async def collected():
        stream = engine.subscribe(schema.graphql, parse("subscription { ticks(n: 4) }"))
        stream = await stream if asyncio.iscoroutine(stream) else stream
        return [result.data async for result in stream]

    assert asyncio.run(collected()) == [{"ticks": n} for n in range(4)]


def test_a_subscription_that_cannot_begin_is_a_result_with_errors(schema):
    """As with graphql-core."""

    async def outcome():
        made = engine.subscribe(schema.graphql, parse("subscription ($n: Int!) { ticks(n: $n) }"))
        return await made if asyncio.iscoroutine(made) else made

    assert "'$n'" in asyncio.run(outcome()).errors[0].message


def test_explain_lists_fields_resolvers_and_source(schema):
    """Which function answers is said, and the Python made of it can be read."""
    made = schema.explain("query Q { rows(first: 3) { name n } pet { ... on Dog { bark } } }")
    assert made.compiled
    assert "query Q: compiled" in made.plan
    assert "Row.name: String!  looked up in its parent" in made.plan
    assert "(root, args, context)" in made.plan
    assert "{'first': 3}" in made.plan
    assert "on Dog" in made.plan
    compile(made.source, "explained", "exec")
    assert repr(made).startswith("query Q: compiled")


def test_explain_executes_nothing(schema):
    """A resolver is not called."""
    schema.resolver("Query.rows")(lambda *_: pytest.fail("called"))
    schema.explain("{ rows { name } }")


def test_explain_says_why_an_operation_is_handed_over(monkeypatch):
    """What graphql-core executes is told."""
    core = Schema("directive @defer on FIELD | INLINE_FRAGMENT type Query { a: Int }")
    made = core.explain("{ ... @defer { a } }")
    assert not made.compiled
    assert "graphql-core executes it" in made.plan
    assert made.source == ""


def test_directives_of_incremental_delivery_keep_no_schema_from_being_executed():
    """What uses them is refused where it does, or, by graphql-core 3.2, answered at once."""
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
        with pytest.raises(QueryError, match="@defer asks for many results") as caught:
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

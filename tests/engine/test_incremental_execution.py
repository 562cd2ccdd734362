"""Operations with `@defer` and `@stream`, executed in parts for schemas of this process."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import gqlnb
from gqlnb import Client, Limits, QueryError, Schema
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.engine.schema import get_adapter
from gqlnb.engine.subscription import SubscriptionArguments
from gqlnb.http.incremental import LegacyPartWriter
from tests.engine.part_schema import PATIENCE, Source, build_part_schema, execute_whole, merge_parts

pytestmark = pytest.mark.skipif(
    not IS_GRAPHQL_33, reason="graphql-core before 3.3 executes nothing in parts."
)

LEAVES = ("id", "name", "later", "fails", "tags")
LISTS = ("items", "rows", "ticks")


def write_selections(depth):
    """Return a strategy of selection sets, parts of which come later."""
    found = [
        st.sampled_from(LEAVES),
        st.integers(0, 4).map("tags @stream(if: $later, initialCount: {})".format),
    ]
    if depth:
        below = write_selections(depth - 1)
        found += [
            st.builds("... @defer(if: $later) {}".format, below),
            st.builds("... @defer(if: $later) {{ required ... {} }}".format, below),
            st.builds("child {}".format, below),
            st.builds("{} {}".format, st.sampled_from(LISTS), below),
            st.builds(
                "{} @stream(if: $later, initialCount: {}) {}".format,
                st.sampled_from(LISTS),
                st.integers(0, 4),
                below,
            ),
        ]
    return st.lists(st.one_of(found), min_size=1, max_size=4, unique=True).map(
        lambda each: f"{{ {' '.join(each)} }}"
    )


def collect_parts(schema, text, variables):
    """Return all parts of an answer."""

    async def collect():
        document = schema.parse_document(text)
        arguments = SubscriptionArguments(variables)
        return [it async for it in get_adapter(schema).execute_in_parts(document, arguments)]

    return asyncio.run(collect())


SCHEMA = build_part_schema()


@settings(max_examples=20, suppress_health_check=list(HealthCheck))  # many conflict
@given(write_selections(2))
def test_merged_parts_equal_the_whole_answer_of_graphql_core(selection):
    """In both forms, and as the Results of `subscribe`; later parts change no earlier Result."""
    rest = "... @defer(if: $later) { item { id } }"
    text = f"query ($later: Boolean!) {{ item {selection} {rest} }}"
    try:
        SCHEMA.parse_document(text)
    except QueryError:  # two streams of one list conflict
        reject()
    # A failed fragment is left out; a whole answer becomes null further up.
    expected = None if "required" in text else execute_whole(text)
    parts = collect_parts(SCHEMA, text, {"later": True})
    writer = LegacyPartWriter()
    older = [writer.convert(part.members, part.starts) for part in parts]
    assert not any({"pending", "completed"} & part.keys() for part in older)
    found = merge_parts([part.members for part in parts])
    assert merge_parts(older)["data"] == found["data"]
    results, copies = [], []
    for result in SCHEMA.subscribe(text, {"later": True}):
        results.append(result)
        copies.append(json.dumps(result.data))
    assert [json.dumps(result.data) for result in results] == copies
    assert results[-1].data == found["data"]
    assert [len(it.errors) for it in results] == [len(it.causes) for it in results]
    if expected is not None:
        assert found["data"] == expected["data"]
        paths = [
            sorted({str(error["path"]) for error in it.get("errors", ())})
            for it in (found, expected)
        ]
        assert paths[0] == paths[1]


def test_a_failed_fragment_is_left_out_with_its_error():
    """Its exception is the cause."""
    *_, last = SCHEMA.subscribe("{ item { id ... @defer { name required } } }")
    assert last.data == {"item": {"id": "i"}}
    assert last.errors[0]["path"] == ["item", "required"]
    assert isinstance(last.causes[0], ValueError)


@pytest.mark.parametrize("target", [SCHEMA, Client(SCHEMA)], ids=["schema", "client"])
def test_results_are_iterated_synchronously_and_asynchronously(target):
    """With the same parts."""
    text = "{ item { id rows @stream(initialCount: 1) { id } } }"

    async def collect():
        return [result.data async for result in target.subscribe(text)]

    found = [result.data for result in target.subscribe(text)]
    assert found == asyncio.run(collect())
    assert [len(each["item"]["rows"]) for each in found][::2] == [1, 3]


def test_mutations_are_executed_in_parts_too():
    """Once."""
    *_, last = SCHEMA.subscribe("mutation { add { id ... @defer { name } } }")
    assert last.data == {"add": {"id": "m", "name": "item m"}}


def test_an_answer_without_later_parts_is_one_result():
    """The directive may be switched off."""
    text = "query ($later: Boolean!) { item { id ... @defer(if: $later) { name } } }"
    assert len(list(SCHEMA.subscribe(text, {"later": False}))) == 1


@pytest.mark.parametrize("taken", [1, 3])
def test_leaving_the_stream_closes_its_sources(taken):
    """Also before the first later part was asked for."""
    source = Source()
    stream = build_part_schema(endless=source).subscribe("{ endless @stream(initialCount: 1) }")
    for number, _ in enumerate(stream, 1):
        if number == taken:
            break
    assert source.begun.is_set()
    assert source.closed.wait(PATIENCE)


def test_the_time_limit_covers_all_parts():
    """What was received stays; whatever was pending has failed."""
    source = Source()
    schema = build_part_schema(endless=source)
    *_, last = schema.subscribe("{ endless @stream }", limits=Limits(seconds=0.3))
    assert last.errors[0]["message"].startswith("Execution stopped after 0.3 s")
    assert last.data["endless"][:3] == [0, 1, 2]
    assert source.closed.wait(PATIENCE)


def test_a_hanging_resolver_is_abandoned_at_the_time_limit():
    """In the first part and in a later one."""
    gate = threading.Event()
    schema = build_part_schema(wait=lambda *_: str(gate.wait(PATIENCE)))
    try:
        for text in ("{ wait ... @defer { item { id } } }", "{ item { id } ... @defer { wait } }"):
            began = time.monotonic()
            *_, last = schema.subscribe(text, limits=Limits(seconds=0.2))
            assert time.monotonic() - began < PATIENCE / 2
            assert "Execution stopped after 0.2 s" in last.errors[-1]["message"]
    finally:
        gate.set()


def test_the_field_limit_covers_all_parts():
    """A fragment beyond it fails; the data before it stay."""
    text = "{ item { id ... @defer { items { id name } } } }"
    *_, last = SCHEMA.subscribe(text, limits=Limits(fields=4))
    assert last.data == {"item": {"id": "i"}}
    assert last.errors[0]["message"].startswith("Execution stopped after 4 fields")
    *_, last = SCHEMA.subscribe(text, limits=Limits(fields=9))
    assert not last.errors


def test_plain_resolvers_of_later_parts_run_in_threads():
    """So that a blocking one delays nothing else."""
    schema = build_part_schema(where=lambda *_: threading.current_thread().name)

    async def collect():
        stream = schema.subscribe("{ item { id } ... @defer { where } }")
        return [result.data async for result in stream]

    assert asyncio.run(collect())[-1]["where"] != threading.current_thread().name


def test_execute_refuses_incremental_delivery():
    """The error has the place of each directive, and says what to use."""
    with pytest.raises(QueryError, match=r"@defer asks for a response in parts.*subscribe\(\)"):
        SCHEMA.execute("{ item { ... @defer { id } } }")


def test_variables_are_checked_before_the_first_part():
    """At the call."""
    with pytest.raises(QueryError, match="later"):
        SCHEMA.subscribe("query ($later: Boolean!) { item { ... @defer(if: $later) { id } } }", {})


def test_a_schema_without_the_directives_names_them():
    """The validation error comes first."""
    with pytest.raises(QueryError, match="defer"):
        gqlnb.reference_schema().subscribe("{ ... @defer { hello } }")


def test_adopted_schemas_answer_in_parts():
    """A GraphQLSchema with graphql-core's own directives."""
    from graphql import GraphQLDeferDirective, GraphQLSchema, build_schema, specified_directives

    core = build_schema("type Query { a: Int b: Int }")
    made = GraphQLSchema(core.query_type, directives=[*specified_directives, GraphQLDeferDirective])
    found = Schema.adopt(made).subscribe("{ a ... @defer { b } }", root={"a": 1, "b": 2})
    assert [result.data for result in found] == [{"a": 1}, {"a": 1, "b": 2}]


def test_middleware_runs_for_later_parts():
    """It is an option of graphql-core's incremental execution."""
    seen = []

    def note(following, root, info, **arguments):
        seen.append(info.field_name)
        return following(root, info, **arguments)

    schema = Schema.adopt(SCHEMA.graphql, middleware=[note])
    *_, last = schema.subscribe("{ item { id ... @defer { name } } }")
    assert last.data == {"item": {"id": "i", "name": "item i"}}
    assert seen == ["item", "id", "name"]

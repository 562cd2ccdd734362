"""What a resolver reads of its info object is the same under its library and here."""

from __future__ import annotations

import asyncio
from typing import Any

import graphql
import pytest
from graphql import GraphQLField, GraphQLResolveInfo, GraphQLSchema, parse, print_ast

from gqlnb import Client, Limits, Schema, serve
from gqlnb.engine.schema_adapters import extract_schema
from tests.engine.libraries.world import CONTEXT
from tests.engine.test_schema_adapters import LIBRARIES, ROUNDS, with_schema

TEXT = """
query Q($n: Int = 3, $word: String! = "soon", $dogs: Boolean!, $none: Int) {
  pets(first: $n) { name ...on Dog @include(if: $dogs) { n: shout(times: $n) friend { ...D } } }
  greeting @skip(if: $dogs)  later(word: $word)  more: pets(first: 1) { ...D }
}
fragment D on Dog { owner shout(times: $none) later }
"""
OPERATIONS = [
    (TEXT, {"dogs": True}),
    (TEXT, {"dogs": False, "n": 70, "word": "x", "none": 2}),
    ("query ($p: PetInput!) { describe(pet: $p) }", {"p": {"name": "Rex"}}),
    ("{ pets { name } }", None),
    ("mutation ($n: String!) { rename(name: $n) { name } again: rename(name: $n) { size } }",
     {"n": "Rex"}),
]  # fmt: skip
SUBSCRIPTION = "subscription { ticks }"


def read_info(info: Any) -> dict[str, Any]:
    """Return all that a resolver can read, in a form that two executions share."""
    members = {name: getattr(info, name) for name in info._fields}
    assert list(info) == [*members.values()]
    values: dict[str, Any] = {name: (type(value), value) for name, value in members.items()}
    # The others are parsed, coerced or bound to an executor anew in each execution, and two
    # functions with the same answers tell what can be awaited.
    nodes = (*info.field_nodes, info.operation, *info.fragments.values())
    values |= {
        "field_nodes": (type(info.field_nodes), list(map(print_ast, info.field_nodes))),
        "operation": print_ast(info.operation),
        "fragments": (type(info.fragments), *map(print_ast, info.fragments.values())),
        "texts": [(node.loc.source.body, node.loc.start, type(node)) for node in nodes],
        "path": (type(info.path), info.path.as_list(), info.path.typename),
        "variable_values": (
            type(info.variable_values),
            dict(getattr(info.variable_values, "coerced", info.variable_values)),
        ),
        "is_awaitable": list(map(info.is_awaitable, (1, "a", [], asyncio.Future))),
        "async_helpers": type(members.get("async_helpers")),
        "class": (info.__class__, isinstance(info, GraphQLResolveInfo), len(info)),
        "forms": (repr(info)[:40], [*info._asdict()]),
        "other": getattr(info, "no_such_member", "missing"),
    }
    return values


def record_infos(core: GraphQLSchema, monkeypatch: pytest.MonkeyPatch) -> dict[Any, Any]:
    """Let each function of a schema that takes an info object add it to a dict."""
    seen: dict[Any, Any] = {}

    def record(owner: Any, name: str) -> None:
        function = getattr(owner, name, None)
        if function is None:
            return

        def record_and_call(value: Any, info: Any, *given: Any, **arguments: Any) -> Any:
            seen[name, str(owner), *info.path.as_list()] = read_info(info)
            return function(value, info, *given, **arguments)

        monkeypatch.setattr(owner, name, record_and_call)  # schemas may share their types

    for kind in core.type_map.values():
        if not kind.name.startswith("__"):
            record(kind, "resolve_type")
            record(kind, "is_type_of")
            for field in getattr(kind, "fields", {}).values():
                if isinstance(field, GraphQLField):
                    record(field, "resolve")
                    record(field, "subscribe")
    return seen


def compare_infos(seen: dict[Any, Any], wanted: dict[Any, Any]) -> None:
    """Assert that the same resolvers read the same, and forget it."""
    # Answers of type resolvers are remembered here for objects of one class.
    resolvers = [key for key in wanted if key[0] in {"resolve", "subscribe"}]
    assert not set(resolvers) - seen.keys()
    assert seen == {key: wanted[key] for key in seen}
    seen.clear()


@pytest.fixture(params=LIBRARIES)
def library(request):
    """Return each library."""
    return with_schema(request.param)


@pytest.mark.parametrize(("text", "variables"), OPERATIONS)
def test_resolvers_read_the_infos_of_their_library(library, text, variables, monkeypatch):
    """Each member and its type, executed in each way that we have, compiled and not yet."""
    seen = record_infos(extract_schema(library.schema), monkeypatch)
    library.answer(text, variables)
    wanted = dict(seen)
    assert wanted
    seen.clear()
    schema = Schema.adopt(library.schema)
    for options in ({}, {"limits": Limits()}):
        for _ in range(ROUNDS):
            schema.execute(text, variables, context=CONTEXT, **options)
            compare_infos(seen, wanted)
    schema.profile(text, variables, context=CONTEXT)
    compare_infos(seen, wanted)
    with serve(library.schema, port=0, context=lambda _request: CONTEXT) as server:
        Client(server.url).execute(text, variables)
        compare_infos(seen, wanted)


def test_sources_and_events_read_the_infos_of_their_library(library, monkeypatch):
    """In this process and over a socket."""
    core = extract_schema(library.schema)
    seen = record_infos(core, monkeypatch)

    async def subscribe_by_library() -> None:
        if library.name == "strawberry":
            events = library.schema.subscribe(SUBSCRIPTION, context_value=CONTEXT)
        else:
            events = graphql.subscribe(core, parse(SUBSCRIPTION), context_value=CONTEXT)
        events = await events if asyncio.iscoroutine(events) else events
        assert [event.data async for event in events] == [{"ticks": n} for n in range(3)]

    asyncio.run(subscribe_by_library())
    wanted = dict(seen)
    assert wanted
    seen.clear()
    schema = Schema.adopt(library.schema)
    assert len(list(schema.subscribe(SUBSCRIPTION, context=CONTEXT))) == 3
    compare_infos(seen, wanted)
    assert len(list(schema.subscribe(SUBSCRIPTION, context=CONTEXT, limits=Limits()))) == 3
    compare_infos(seen, wanted)
    with serve(library.schema, port=0, context=lambda _request: CONTEXT) as server:
        assert len(list(Client(server.url).subscribe(SUBSCRIPTION))) == 3
        compare_infos(seen, wanted)

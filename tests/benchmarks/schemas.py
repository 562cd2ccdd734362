"""Benchmarks of loading schemas: ``python tests/benchmarks/schemas.py [names...]``.

``cached`` reads a schema of GitHub's size from the cache; its rival builds the same from SDL.
``mock-object`` builds one from a schema object of 4,000 types.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import msgspec
from graphql import (
    GraphQLSchema,
    build_ast_schema,
    introspection_from_schema,
    parse,
    print_schema,
)
from graphql import lexicographic_sort_schema as in_order

from gqlnb import Schema
from gqlnb.client.schema_store import CachedSchema, read_cache, unpack_schema, write_cache
from tests.benchmarks.big_schema import big_sdl
from tests.benchmarks.measure import OURS, Goal, Sides, Workload, main

SDL = "build_ast_schema(parse(sdl))"
CHECKED = "gqlnb.Schema(sdl)"


def built(sdl: str) -> GraphQLSchema:
    """Return a schema as somebody builds it who is in a hurry: nothing is checked."""
    ast = parse(sdl, no_location=True)
    return build_ast_schema(ast, assume_valid=True, assume_valid_sdl=True)


def cached(size: int) -> Sides:
    """Read a schema from its file, against building it from SDL; `size` in types, about."""
    sdl = big_sdl()
    if size < 1000:
        sdl = "\n".join(["type Query { hello: String }", *map(kind, range(size))])
    told = introspection_from_schema(built(sdl))
    place = Path(tempfile.mkdtemp(), "a.schema")
    write_cache(place, CachedSchema.pack(msgspec.json.encode(told), time.time()), "benchmark")

    def ours() -> GraphQLSchema:
        entry = read_cache(place)
        assert entry is not None
        return unpack_schema(entry).graphql

    return {OURS: ours, SDL: lambda: built(sdl)}


def mocked_object(size: int) -> Sides:
    """Build a mock from a schema object, against building a schema; `size` in types."""
    sdl = "\n".join(["type Query { hello: String }", *map(kind, range(size))])
    given = Schema(sdl)
    return {OURS: lambda: Schema.mock(given).graphql, CHECKED: lambda: Schema(sdl).graphql}


def kind(number: int) -> str:
    """Return one of many types, which refer to each other in a circle."""
    return f'"One of many." type T{number} {{ id: ID! next(first: Int = 1): T{number // 2} }}'


def same(answer: GraphQLSchema) -> str:
    """Return a schema as text by which it is compared; introspection is in no certain order."""
    return print_schema(in_order(answer))


WORKLOADS = [
    Workload("cached", cached, (Goal(SDL, 0.25, most=True),), 1_700, 50, rounds=9, text=same),
    Workload(
        "mock-object",
        mocked_object,
        (Goal(CHECKED, 1.5, most=True),),
        4_000,
        50,
        rounds=5,
        text=same,
    ),
]

if __name__ == "__main__":
    main(__file__, WORKLOADS)

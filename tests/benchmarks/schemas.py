"""Benchmarks of loading schemas: ``python tests/benchmarks/schemas.py [names...]``.

``cached`` reads a schema of GitHub's size from the cache; its rival builds the same from SDL.
``mock`` builds a mock from SDL and answers by it; its rival only builds the schema.
``mock-object`` builds one from a schema object of 4,000 types.
``many-types`` is not compared with anybody: it loads 100,000 types in the background while another
thread ticks, and tells how long the longest pause between two ticks was, and what it took.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
from graphql import (
    GraphQLSchema,
    build_ast_schema,
    build_schema,
    introspection_from_schema,
    parse,
    print_schema,
)
from graphql import lexicographic_sort_schema as in_order

from gqlnb import Client, Schema
from gqlnb.client.schema_store import CachedSchema, read_cache, unpack_schema, write_cache
from tests.benchmarks.big_schema import big_sdl
from tests.benchmarks.measure import OURS, Goal, Sides, Workload, main

SDL = "build_ast_schema(parse(sdl))"
BUILT = "build_schema(sdl)"
CHECKED = "gqlnb.Schema(sdl)"
TYPES = 100_000
TICK = 0.005  # seconds between two ticks of the thread that must not be kept waiting


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


def mocked(size: int) -> Sides:
    """Build a mock from SDL and answer by it, against building the schema; `size` in types."""
    sdl = big_sdl()
    if size < 1000:
        sdl = "\n".join(["type Query { hello: String }", *map(kind, range(size))])

    def ours() -> GraphQLSchema:
        mock = Schema.mock(sdl)
        assert mock.execute("{ __typename }").data == {"__typename": "Query"}
        return mock.graphql

    return {OURS: ours, BUILT: lambda: build_schema(sdl)}


def mocked_object(size: int) -> Sides:
    """Build a mock from a schema object, against building a schema; `size` in types."""
    sdl = "\n".join(["type Query { hello: String }", *map(kind, range(size))])
    given = Schema(sdl)
    return {OURS: lambda: Schema.mock(given).graphql, CHECKED: lambda: Schema(sdl).graphql}


def kind(number: int) -> str:
    """Return one of many types, which refer to each other in a circle."""
    return f'"One of many." type T{number} {{ id: ID! next(first: Int = 1): T{number // 2} }}'


def many_types(types: int) -> dict[str, float]:
    """Load many types behind, and return what it took: seconds and MiB."""
    kinds: list[dict[str, Any]] = [
        {
            "kind": "OBJECT",
            "name": f"T{number}" if number else "Query",
            "description": "One of many.",
            "interfaces": [],
            "fields": [
                {
                    "name": name,
                    "description": None,
                    "args": [],
                    "type": {"kind": "OBJECT", "name": f"T{number // 2 or 1}", "ofType": None},
                    "isDeprecated": False,
                    "deprecationReason": None,
                }
                for name in ("this", "that")
            ],
        }
        for number in range(types)
    ]
    schema = {"queryType": {"name": "Query"}, "types": kinds, "directives": []}
    body = json.dumps({"data": {"__schema": schema}}).encode()
    del kinds, schema

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    client = Client(app)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, last, longest = time.monotonic(), time.monotonic(), 0.0
    tick = threading.Event()
    while client.peek_schema() is None:
        tick.wait(TICK)
        now = time.monotonic()
        last, longest = now, max(longest, now - last)
    taken = time.monotonic() - begun
    assert len(client.schema.type_map) > types
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"types": types, "MiB told": len(body) / 2**20, "seconds": taken} | {
        "longest pause": longest,
        "MiB peak": peak,
    }


def same(answer: GraphQLSchema) -> str:
    """Return a schema as text by which it is compared; introspection is in no certain order."""
    return print_schema(in_order(answer))


WORKLOADS = [
    Workload("cached", cached, (Goal(SDL, 0.25, most=True),), 1_700, 50, rounds=9, text=same),
    Workload("mock", mocked, (Goal(BUILT, 1.3, most=True),), 1_700, 50, rounds=5, text=same),
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
    if sys.argv[1:] == ["many-types", "--here"]:
        json.dump(many_types(TYPES), sys.stdout)
    elif sys.argv[1:] == ["many-types"]:
        command = [sys.executable, __file__, "many-types", "--here"]
        subprocess.run(command, check=True)
    else:
        main(__file__, WORKLOADS)

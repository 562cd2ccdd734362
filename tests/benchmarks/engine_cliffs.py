"""Workloads of the engine on data that is not plain: errors, variables, generators, awaitables.

They are part of the table of ``python tests/benchmarks/engine.py``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import cycle
from random import Random
from typing import Any

import graphql
from graphql import build_schema, parse

import gqlnb.engine
from tests.benchmarks.measure import EXECUTE, OURS, Goal, Sides, Workload

SOME = 1_000  # rows of workloads whose rows are dear

SDL = """
input Filter { text: String! tags: [String!] = ["a"] limit: Int = 5 inner: Filter }
type Query { rows: [Row!]! item(id: ID!, first: Int = 10, filter: Filter): Row pets: [Pet!]! }
type Row { id: ID! name: String later: String }
union Pet = Cat | Dog
type Cat { name: String lives: Int }
type Dog { name: String bark: String }
type Mutation { set(id: ID!, value: Int): Row }
"""


def text_with_errors(answer: Any) -> str:
    """Return an answer as text, its errors included."""
    if isinstance(answer, dict):
        return json.dumps(answer)
    errors = [error.formatted for error in answer.errors or ()]
    return json.dumps([answer.data, errors]) if errors else json.dumps(answer.data)


def field(schema: graphql.GraphQLSchema, owner: str, name: str, resolve: Any) -> None:
    """Put a resolver on a field."""
    schema.type_map[owner].fields[name].resolve = resolve  # type: ignore[union-attr]


def both(schema: graphql.GraphQLSchema, query: str, root: Any = None, **more: Any) -> Sides:
    """Return both executors at the same parsed document."""
    given = (schema, parse(query), root)
    return {
        OURS: partial(gqlnb.engine.execute, *given, **more),
        EXECUTE: partial(graphql.execute, *given, **more),
    }


def members_of(n: int) -> dict[str, Any]:
    """Return the members of a row."""
    return {"id": f"R_{n}", "name": f"row-{n}"}


def wide(size: int) -> Sides:
    """Answer fifty fields in each row."""
    names = [f"f{n}" for n in range(50)]
    fields = " ".join(
        f"{name}: {('String', 'Int', 'Float')[n % 3]}" for n, name in enumerate(names)
    )
    schema = build_schema(f"type Query {{ rows: [Row!]! }} type Row {{ {fields} }}")
    values = ("text", 7, 1.5)
    rows = [{name: values[n % 3] for n, name in enumerate(names)} for _ in range(size)]
    return both(schema, f"{{ rows {{ {' '.join(names)} }} }}", {"rows": rows})


def unions(size: int) -> Sides:
    """Answer a union by fragments."""
    pets = [
        {"__typename": "Cat", "name": f"c{n}", "lives": 9}
        if n % 2
        else {"__typename": "Dog", "name": f"d{n}", "bark": "woof"}
        for n in range(size)
    ]
    query = "{ pets { ... on Cat { name lives } ... on Dog { name bark } } }"
    return both(build_schema(SDL), query, {"pets": pets})


# -- resolvers, arguments and variables

SMALL = "query ($id: ID!, $first: Int, $filter: Filter) {" + (
    " item(id: $id, first: $first, filter: $filter) { id name } }"
)
FILTER = {"text": "x", "tags": ["b", "c"], "inner": {"text": "y"}}


def small_operation(_size: int) -> Sides:
    """Answer one object by a resolver with three variables, one an input object."""
    schema = build_schema(SDL)
    field(schema, "Query", "item", lambda source, info, **args: members_of(1))
    variables = {"id": "R_1", "first": 5, "filter": FILTER}
    return both(schema, SMALL, None, variable_values=variables)


def included(_size: int) -> Sides:
    """Answer one object whose twelve fields are included at random, anew in each execution."""
    names = [f"f{n}" for n in range(12)]
    schema = build_schema(f"type Query {{ {' '.join(f'{n}: Int' for n in names)} id: ID! }}")
    document = parse(
        f"query ({' '.join(f'${n}: Boolean!' for n in names)}) "
        f"{{ id {' '.join(f'{n} @include(if: ${n})' for n in names)} }}"
    )
    root = {"id": "R_1"} | dict.fromkeys(names, 7)

    def side(execute: Any) -> Callable[[], Any]:
        random = Random(28)
        sets = cycle([{name: random.random() < 0.5 for name in names} for _ in range(997)])
        return lambda: execute(schema, document, root, variable_values=next(sets))

    return {OURS: side(gqlnb.engine.execute), EXECUTE: side(graphql.execute)}


def mutations(_size: int) -> Sides:
    """Execute ten mutations, one after the other."""
    schema = build_schema(SDL)
    state: dict[str, Any] = {}

    def put(_source: Any, _info: Any, id: str, value: int) -> Any:  # noqa: A002
        state[id] = value
        return {"id": id, "name": "set"}

    field(schema, "Mutation", "set", put)
    fields = " ".join(f'm{n}: set(id: "{n}", value: {n}) {{ id name }}' for n in range(10))
    return both(schema, f"mutation {{ {fields} }}", None)


def generator(size: int) -> Sides:
    """Answer rows from a generator, as a resolver that reads a file returns them."""
    schema = build_schema(SDL)
    rows = [members_of(n) for n in range(size)]

    def generate(_source: Any, _info: Any) -> Iterator[Any]:
        yield from rows

    field(schema, "Query", "rows", generate)
    return both(schema, "{ rows { id name } }", None)


# -- awaitables


def awaited(make: Callable[[], Any], size: int, text: str = "{ rows { id later } }") -> Sides:
    """Await a field of each row; `make` returns its resolver within the running loop."""
    schema = build_schema(SDL)
    rows = [members_of(n) for n in range(size)]
    document = parse(text)

    def side(execute: Any) -> Callable[[], Any]:
        async def once() -> Any:
            field(schema, "Row", "later", resolve := make())
            assert resolve
            return await execute(schema, document, {"rows": rows})

        def call() -> Any:
            with closing(asyncio.new_event_loop()) as loop:
                return loop.run_until_complete(once())

        return call

    return {OURS: side(gqlnb.engine.execute), EXECUTE: side(graphql.execute)}


async def sleep(source: Any, _info: Any) -> Any:
    """Answer after a turn of the loop."""
    await asyncio.sleep(0)
    return source["name"]


class Loader:
    """A loader in the manner of aiodataloader, reduced to batches: futures, one batch a turn."""

    current: Loader
    waiting: list[tuple[str, asyncio.Future[str]]]

    def __init__(self) -> None:
        self.waiting = []

    def load(self, key: str) -> asyncio.Future[str]:
        """Return the future of a key."""
        loop = asyncio.get_running_loop()
        if not self.waiting:
            loop.call_soon(self.dispatch)
        future = loop.create_future()
        self.waiting.append((key, future))
        return future

    def dispatch(self) -> None:
        """Answer every key that was asked for."""
        waiting, self.waiting = self.waiting, []
        for key, future in waiting:
            future.set_result(key.upper())


def load(source: Any, info: Any) -> Any:
    """Answer by a loader."""
    return LOADER.load(source["name"])


LOADER = Loader()


TWO_LEAVES = "{ rows { id later again: later } }"
MANY_LEAVES = f"{{ rows {{ {' '.join(f'a{n}: later' for n in range(500))} }} }}"


def row(name: str, sides: Callable[[int], Sides], size: int = 1, core: float = 10) -> Workload:
    """Return a workload that should be `core` times as fast as graphql-core."""
    return Workload(name, sides, (Goal(EXECUTE, core),), size, min(size, 50), text=text_with_errors)


CLIFFS = [
    row("wide", wide, SOME),
    row("unions", unions, 10_000),
    row("generator", generator, 10_000),
    row("small-variables", small_operation, core=5),
    row("include-random", included, core=5),
    row("mutations", mutations, core=5),
    # Nearly all of it is the event loop's time: asyncio.gather of these coroutines alone is 3.1
    # times as fast as graphql-core 3.3. Coroutines started by hand, before their tasks, would make
    # it 5.2, but begin a turn early, and see the task of their caller in asyncio.current_task(). Of
    # two leaves in each row, gather alone is 2.0 times as fast, of 500 in one object 1.9.
    row("async-sleep", partial(awaited, lambda: sleep), SOME, core=4),
    row("async-loader", partial(awaited, lambda: load), SOME, core=4),
    row("async-two-leaves", partial(awaited, lambda: sleep, text=TWO_LEAVES), SOME, core=4),
    row("async-many-leaves", partial(awaited, lambda: sleep, text=MANY_LEAVES), core=4),
]  # fmt: skip

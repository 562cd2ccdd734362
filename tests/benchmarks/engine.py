"""Benchmarks of the engine: ``python tests/benchmarks/engine.py [names...]``."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import make_dataclass
from functools import partial
from itertools import count, repeat
from statistics import median
from time import process_time
from types import SimpleNamespace
from typing import Any

import graphql
from graphql import build_schema, get_introspection_query, parse

import gqlnb
import gqlnb.engine
import gqlnb.github
from tests.benchmarks.engine_adopted import ADOPTED
from tests.benchmarks.engine_cliffs import CLIFFS, both
from tests.benchmarks.measure import (
    EXECUTE,
    OURS,
    RESULT,
    SYNC,
    Costs,
    Goal,
    Sides,
    Workload,
    bytes_taken,
    main,
)

HAND = "by hand"
FIRST = "the first run"
MANY = 10_000

# -- what is asked, and of what

SDL = """
interface Node { id: ID! }
type Query { rows: [Repository!]! nodes: [Node!]! hello: String }
type Repository implements Node {
  id: ID! name: String! private: Boolean! owner: Owner! stargazers: Stargazers!
}
type Owner implements Node { id: ID! login: String! }
type Stargazers { totalCount: Int! }
"""
ROWS = "{ rows { name owner { login } stargazers { totalCount } id private } }"
NODES = "{ nodes { id ... on Repository { name } ... on Owner { login } } }"
FIELDS = {
    "Query": ["rows"],
    "Repository": ["id", "name", "private", "owner", "stargazers"],
    "Owner": ["login"],
    "Stargazers": ["totalCount"],
}

Shape = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]


def classes(*, slots: bool) -> Shape:
    """Return data classes of a repository, an owner and stargazers."""
    repository = make_dataclass("Repository", FIELDS["Repository"], slots=slots)
    owner = make_dataclass("Owner", FIELDS["Owner"], slots=slots)
    return repository, owner, make_dataclass("Stargazers", FIELDS["Stargazers"], slots=slots)


DICT: Shape = (dict, dict, dict)
NAMESPACE: Shape = (SimpleNamespace, SimpleNamespace, SimpleNamespace)


def rows_of(shape: Shape, size: int) -> list[Any]:
    """Return the rows that a resolver would have read from somewhere."""
    repository, owner, stargazers = shape
    return [
        repository(
            id=f"R_{n}",
            name=f"repository-{n}",
            private=n % 7 == 0,
            owner=owner(login=f"owner-{n % 100}"),
            stargazers=stargazers(totalCount=1_000 + n),
        )
        for n in range(size)
    ]


def keys_by_hand(rows: list[Any]) -> dict[str, Any]:
    """Build the answer to `ROWS` of dicts as a person would write it."""
    return {
        "rows": [
            {
                "name": row["name"],
                "owner": {"login": row["owner"]["login"]},
                "stargazers": {"totalCount": row["stargazers"]["totalCount"]},
                "id": row["id"],
                "private": row["private"],
            }
            for row in rows
        ]
    }


def attributes_by_hand(rows: list[Any]) -> dict[str, Any]:
    """Build the answer to `ROWS` of other objects as a person would write it."""
    return {
        "rows": [
            {
                "name": row.name,
                "owner": {"login": row.owner.login},
                "stargazers": {"totalCount": row.stargazers.totalCount},
                "id": row.id,
                "private": row.private,
            }
            for row in rows
        ]
    }


def kind(schema: graphql.GraphQLSchema, name: str) -> Any:
    """Return a type of a schema, to put resolvers on."""
    return schema.type_map[name]


def greet(_source: Any, _info: Any) -> str:
    """Resolve the greeting as graphql-core calls a resolver."""
    return "Hello world!"


def plain(name: str) -> Callable[..., Any]:
    """Return a resolver as graphql-core calls it."""
    return lambda source, info, **args: source[name]


def native(name: str) -> Callable[[Any, dict[str, Any], Any], Any]:
    """Return the same resolver as a Schema calls it."""
    return lambda root, args, context: root[name]


def plain_schema() -> graphql.GraphQLSchema:
    """Return a graphql-core schema with a resolver on every field that `ROWS` asks for."""
    schema = build_schema(SDL)
    for owner, names in FIELDS.items():
        for name in names:
            kind(schema, owner).fields[name].resolve = plain(name)
    return schema


# -- the workloads


def a_list(shape: Shape, size: int) -> Sides:
    """Answer a list of rows whose fields are looked up in them."""
    rows = rows_of(shape, size)
    by_hand = keys_by_hand if shape is DICT else attributes_by_hand
    sides = both(build_schema(SDL), ROWS, {"rows": rows})
    return sides | {HAND: partial(by_hand, rows)}


def hello_as_text(_size: int) -> Sides:
    """Answer the greeting: text in, Result out."""
    schema = build_schema("type Query { hello: String }")
    kind(schema, "Query").fields["hello"].resolve = greet
    ours = gqlnb.reference_schema()
    return {
        OURS: lambda: ours.execute("{ hello }"),
        SYNC: lambda: graphql.graphql_sync(schema, "{ hello }"),
    }


def hello_as_document(_size: int) -> Sides:
    """Answer the greeting from a document, by a native resolver against its like."""
    ours = gqlnb.reference_schema().graphql
    document = parse("{ hello }")
    return hello_adopted(_size) | {OURS: lambda: gqlnb.engine.execute(ours, document)}


def hello_adopted(_size: int) -> Sides:
    """Answer the greeting from a document, both by one resolver ``(source, info)``."""
    schema = build_schema("type Query { hello: String }")
    kind(schema, "Query").fields["hello"].resolve = greet
    return both(schema, "{ hello }")


def native_resolvers(size: int) -> Sides:
    """Call a resolver ``(root, args, context)`` on every field, against its like."""
    root = {"rows": rows_of(DICT, size)}
    members = {owner: {name: native(name) for name in names} for owner, names in FIELDS.items()}
    ours = gqlnb.Schema(SDL, members)
    return both(plain_schema(), ROWS, root) | {OURS: lambda: ours.execute(ROWS, root=root)}


def adopted_resolvers(size: int) -> Sides:
    """Call a resolver ``(source, info, **args)`` on every field, both the same."""
    return both(plain_schema(), ROWS, {"rows": rows_of(DICT, size)})


def interface(by: str, size: int) -> Sides:
    """Answer a list of an interface whose two object types take turns, told apart by `by`."""
    schema = build_schema(SDL)
    key = "__typename" if by == "__typename" else "kind"
    nodes = [
        {key: "Repository", "id": f"R_{n}", "name": f"repository-{n}"}
        if n % 2
        else {key: "Owner", "id": f"O_{n}", "login": f"owner-{n}"}
        for n in range(size)
    ]
    if by == "resolve_type":
        kind(schema, "Node").resolve_type = lambda value, info, kind: value["kind"]
    if by == "is_type_of":
        for name in ("Repository", "Owner"):
            kind(schema, name).is_type_of = partial(is_of, name)
    return both(schema, NODES, {"nodes": nodes})


def is_of(name: str, value: Any, info: Any) -> bool:
    """Tell whether a value says it is of a type."""
    return value["kind"] == name  # type: ignore[no-any-return]


def introspection(_size: int) -> Sides:
    """Answer the standard introspection query of the schema of the stand-in for GitHub."""
    return both(gqlnb.github.schema().graphql, get_introspection_query())


def first_sight(query: str, size: int) -> Sides:
    """Answer texts that were never seen before: parse, validate, plan and run."""
    ours, theirs = gqlnb.Schema(SDL), build_schema(SDL)
    root = {"hello": "Hello world!", "rows": rows_of(DICT, size)}
    here, there = texts(query), texts(query)
    return {
        OURS: lambda: ours.execute(next(here), root=root),
        SYNC: lambda: graphql.graphql_sync(theirs, next(there), root),
    }


def selections(size: int) -> tuple[str, str, Any]:
    """Return a schema's SDL, a query of many selections, and its root value."""
    names = [f"f{n}" for n in range(size)]
    sdl = f"type Query {{ row: Row }} type Row {{ {' '.join(f'{name}: Int' for name in names)} }}"
    root = {"row": {name: n for n, name in enumerate(names)}}
    return sdl, f"{{ row {{ {' '.join(names)} }} }}", root


def first_selections(size: int, runs: int = 1) -> Sides:
    """Answer texts of many selections that were never seen before, each several times."""
    sdl, query, root = selections(size)
    ours, theirs = gqlnb.Schema(sdl), build_schema(sdl)
    here, there = texts(query), texts(query)

    def answer(execute: Callable[[str], Any], found: Iterator[str]) -> Any:
        text = next(found)
        return [execute(text) for _ in range(runs)][-1]

    return {
        OURS: partial(answer, lambda text: ours.execute(text, root=root), here),
        SYNC: partial(answer, lambda text: graphql.graphql_sync(theirs, text, root), there),
    }


def repeated_text(size: int) -> Sides:
    """Answer a text of many selections that was never seen before, and the same text again."""
    sdl, query, root = selections(size)
    schema, found = gqlnb.Schema(sdl), texts(query)
    last = [next(found)]

    def answer_new() -> Any:
        last[0] = next(found)
        return schema.execute(last[0], root=root)

    return {FIRST: answer_new, OURS: lambda: schema.execute(last[0], root=root)}


def runs_taken(sides: Sides, rounds: int, *, runs: int) -> Costs:
    """Return the processor seconds of the first run of texts, and those of a further one.

    It is the run, of as many as `runs`, that takes longest in the median of all texts.
    """
    taken = []
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        texts_runs = [sides[FIRST], *repeat(sides[OURS], runs)]
        taken.append([read_seconds(call) for call in texts_runs])
        gc.enable()
    by_run = [list(costs) for costs in zip(*taken, strict=True)]
    return {FIRST: by_run[0], OURS: max(by_run[1:], key=median)}


def read_seconds(call: Callable[[], Any]) -> float:
    """Return the processor seconds of a call."""
    begun = process_time()
    call()
    return process_time() - begun


def texts(query: str) -> Iterator[str]:
    """Yield a query under one new alias after the other."""
    return (query.replace("{ ", f"{{ a{n}: ", 1) for n in count())


def memory(size: int) -> Sides:
    """Answer a list of rows, against the answer alone."""
    sides = a_list(DICT, size)
    return {OURS: sides[OURS], RESULT: sides[HAND]}


def listed(name: str, shape: Shape, core: float, hand: float) -> Workload:
    """Return the workload of a list of one shape of rows."""
    goals = (Goal(EXECUTE, core), Goal(HAND, hand, most=True))
    return Workload(name, partial(a_list, shape), goals, MANY, 100)


def compared(name: str, sides: Callable[[int], Sides], least: float, size: int = 1) -> Workload:
    """Return a workload that graphql-core executes too."""
    return Workload(name, sides, (Goal(EXECUTE, least),), size, min(size, 100))


def first(name: str, query: str, size: int = 1) -> Workload:
    """Return the workload of the first sight of texts."""
    return Workload(name, partial(first_sight, query), (Goal(SYNC, 1.5, most=True),), size, size)


def first_text(name: str, sides: Callable[[int], Sides], size: int = 1) -> Workload:
    """Return the workload of the first sight of texts, without long lists."""
    return Workload(name, sides, (Goal(SYNC, 0.8, most=True),), size, min(size, 10))


def further_run(name: str, size: int, runs: int) -> Workload:
    """Return the workload of the second run of texts, or of the dearest of several."""
    goals = (Goal(FIRST, 1, most=True),)
    return Workload(name, repeated_text, goals, size, 10, partial(runs_taken, runs=runs))


WORKLOADS = [
    listed("list-dict", DICT, 25, 1.4),
    listed("list-namespace", NAMESPACE, 18, 1.6),
    listed("list-dataclass", classes(slots=False), 18, 1.6),
    listed("list-slots", classes(slots=True), 18, 1.6),
    Workload("hello-text", hello_as_text, (Goal(SYNC, 100),)),
    compared("hello-document", hello_as_document, 4),
    compared("hello-adopted", hello_adopted, 4),
    compared("resolvers-native", native_resolvers, 10, MANY),
    compared("resolvers-adopted", adopted_resolvers, 4, MANY),
    compared("interface-typename", partial(interface, "__typename"), 20, MANY),
    compared("interface-resolve-type", partial(interface, "resolve_type"), 10, MANY),
    compared("interface-is-type-of", partial(interface, "is_type_of"), 10, MANY),
    compared("introspection", introspection, 5),
    *CLIFFS,
    *ADOPTED,
    first_text("first-hello", partial(first_sight, "{ hello }")),
    first_text("first-selections-10", first_selections, 10),
    first_text("first-selections-100", first_selections, 100),
    first_text("first-selections-1000", first_selections, 1_000),
    first_text("five-runs-10", partial(first_selections, runs=5), 10),
    first_text("five-runs-100", partial(first_selections, runs=5), 100),
    further_run("second-run-10", 10, 1),
    further_run("second-run-100", 100, 1),
    further_run("dearest-run-10", 10, 99),
    further_run("dearest-run-100", 100, 99),
    first("first-list-10", ROWS, 10),
    first("first-list-30", ROWS, 30),
    first("first-list-100", ROWS, 100),
    Workload("memory", memory, (Goal(RESULT, 1.1, most=True),), 100_000, 2_000, bytes_taken, 1),
]

if __name__ == "__main__":
    main(__file__, WORKLOADS)

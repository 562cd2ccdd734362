"""Benchmarks of the engine: ``python tests/benchmarks/engine.py [names...]``.

Each workload runs in a fresh process with the collector on. The answers of all sides are compared
first; then every round times each side once, after ``gc.collect()``; a call too short for the clock
is timed in a batch. A figure is the ratio of the medians, with the lowest and the highest ratio of
a round in brackets. Ratios are stated against graphql-core `STATED`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import platform
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, make_dataclass
from functools import partial
from itertools import count, repeat
from pathlib import Path
from statistics import geometric_mean, median
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import graphql
from graphql import build_schema, get_introspection_query, parse

import gqlnb
import gqlnb.engine
import gqlnb.github

Sides = dict[str, Callable[[], Any]]  # who answers, to a call without arguments that does
Costs = dict[str, list[float]]  # who answered, to the cost of each round

STATED = "3.2.14"
ROUNDS = 11
WARM = 4  # calls before the first that is timed
SHORT = 0.001  # seconds; a shorter call is timed in a batch
BATCH = 0.01  # seconds a batch takes, about

OURS = "gqlnb"
EXECUTE = "graphql.execute"
SYNC = "graphql.graphql_sync"
HAND = "by hand"
RESULT = "the result itself"
CORE = (EXECUTE, SYNC)

# -- measuring


class UnequalError(AssertionError):
    """The sides of a workload do not answer the same, so that comparing them means nothing."""


@dataclass(frozen=True)
class Goal:
    """What a ratio should reach.

    Attributes
    ----------
    against
        The side we are compared with.
    reach
        How many times as fast we should be; with `most`, how many times its cost we may cost.
    most
        Whether `reach` is a limit from above.
    """

    against: str
    reach: float
    most: bool = False

    def ratio(self, ours: float, theirs: float) -> float:
        """Return the ratio of two costs, the way round that `reach` is meant."""
        return ours / theirs if self.most else theirs / ours

    def met(self, ratio: float) -> bool:
        """Tell whether a ratio reaches the goal."""
        return ratio <= self.reach if self.most else ratio >= self.reach

    def __str__(self) -> str:
        return f"{'<=' if self.most else '>='} {self.reach:g}"


def times(sides: Sides, rounds: int) -> Costs:
    """Return the seconds per call of each side, round by round, once all of them are warm."""
    for call in WARM * list(sides.values()):
        call()
    batches = {name: batch(call) for name, call in sides.items()}
    taken: Costs = {name: [] for name in sides}
    for turn in range(rounds):
        order = list(sides) if turn % 2 else list(reversed(sides))
        for name in order:
            taken[name].append(timed(sides[name], batches[name]))
    return taken


def batch(call: Callable[[], Any]) -> int:
    """Return how many calls are timed at once: enough for the clock to tell."""
    once = timed(call, 1)
    return 1 if once >= SHORT else 1 + int(BATCH / timed(call, 1 + int(SHORT / once)))


def timed(call: Callable[[], Any], calls: int) -> float:
    """Return the seconds that a call takes; its answer is dropped when the clock has stopped."""
    gc.collect()
    begun = perf_counter()
    for _ in repeat(None, calls):
        answer = call()
    ended = perf_counter()
    del answer
    return (ended - begun) / calls


def bytes_taken(sides: Sides, rounds: int) -> Costs:
    """Return the bytes each side takes, as tracemalloc counts them.

    For the result itself what it holds when it is there, for anybody else the peak until then.
    """
    taken: Costs = {name: [] for name in sides}
    tracemalloc.start()
    for name, call in rounds * list(sides.items()):
        gc.collect()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        answer = call()
        held, peak = tracemalloc.get_traced_memory()
        del answer
        taken[name].append((held if name == RESULT else peak) - before)
    tracemalloc.stop()
    return taken


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    Attributes
    ----------
    name
        What it is called on the command line.
    sides
        Builds who answers, of a size.
    goals
        What we should reach, by side.
    size, small
        How many items there are, and how many in the test suite.
    costs
        What is measured.
    rounds
        How often, unless the command line says.
    """

    name: str
    sides: Callable[[int], Sides]
    goals: tuple[Goal, ...]
    size: int = 1
    small: int = 1
    costs: Callable[[Sides, int], Costs] = times
    rounds: int = ROUNDS


def measured(workload: Workload, size: int, rounds: int) -> Costs:
    """Return what each side costs, once all of them have given the same answer.

    Raises
    ------
    UnequalError
        If one of them has not.
    """
    sides = workload.sides(size)
    answers = {name: text(call()) for name, call in sides.items()}
    for name, answer in answers.items():
        if answer != answers[OURS]:
            msg = f"{workload.name}: {name} answers {answer[:200]}, we {answers[OURS][:200]}"
            raise UnequalError(msg)
    del answers
    return workload.costs(sides, rounds)


def text(answer: Any) -> str:
    """Return an answer as text that shows the order of its fields too; none has errors."""
    if getattr(answer, "errors", None):
        raise UnequalError(repr(answer.errors))
    return json.dumps(answer if isinstance(answer, dict) else answer.data)


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


def classes(**options: bool) -> Shape:
    """Return data classes of a repository, an owner and stargazers."""
    repository = make_dataclass("Repository", FIELDS["Repository"], **options)
    owner = make_dataclass("Owner", FIELDS["Owner"], **options)
    return repository, owner, make_dataclass("Stargazers", FIELDS["Stargazers"], **options)


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


def executed(schema: graphql.GraphQLSchema, query: str, root: Any = None) -> Sides:
    """Return both executors at the same parsed document."""
    given = (schema, parse(query), root)
    return {
        OURS: partial(gqlnb.engine.execute, *given),
        EXECUTE: partial(graphql.execute, *given),
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
    sides = executed(build_schema(SDL), ROWS, {"rows": rows})
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
    return executed(schema, "{ hello }")


def native_resolvers(size: int) -> Sides:
    """Call a resolver ``(root, args, context)`` on every field, against its like in graphql-core."""
    root = {"rows": rows_of(DICT, size)}
    members = {owner: {name: native(name) for name in names} for owner, names in FIELDS.items()}
    ours = gqlnb.Schema(SDL, members)
    return executed(plain_schema(), ROWS, root) | {OURS: lambda: ours.execute(ROWS, root=root)}


def adopted_resolvers(size: int) -> Sides:
    """Call a resolver ``(source, info, **args)`` on every field, both the same."""
    return executed(plain_schema(), ROWS, {"rows": rows_of(DICT, size)})


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
    return executed(schema, NODES, {"nodes": nodes})


def is_of(name: str, value: Any, info: Any) -> bool:
    """Tell whether a value says it is of a type."""
    return value["kind"] == name  # type: ignore[no-any-return]


def coroutines(size: int) -> Sides:
    """Answer a list of rows, one of whose two fields is resolved by an ``async`` function."""
    schema = build_schema(SDL)

    async def name(source: Any, info: Any) -> Any:
        await asyncio.sleep(0)
        return source["name"]

    kind(schema, "Repository").fields["name"].resolve = name
    sides = executed(schema, "{ rows { id name } }", {"rows": rows_of(DICT, size)})
    return {side: partial(in_a_loop, call) for side, call in sides.items()}


def in_a_loop(call: Callable[[], Any]) -> Any:
    """Call an executor as an application on an event loop does."""

    async def awaited() -> Any:
        return await call()

    return asyncio.run(awaited())


def introspection(_size: int) -> Sides:
    """Answer the standard introspection query of the schema of the stand-in for GitHub."""
    return executed(gqlnb.github.schema().graphql, get_introspection_query())


def first_sight(query: str, size: int) -> Sides:
    """Answer texts that were never seen before: parse, validate, plan and run."""
    ours, theirs = gqlnb.Schema(SDL), build_schema(SDL)
    root = {"hello": "Hello world!", "rows": rows_of(DICT, size)}
    here, there = texts(query), texts(query)
    return {
        OURS: lambda: ours.execute(next(here), root=root),
        SYNC: lambda: graphql.graphql_sync(theirs, next(there), root),
    }


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
    return Workload(name, partial(a_list, shape), goals, 10_000, 100)


WORKLOADS = [
    listed("list-dict", DICT, 25, 1.4),
    listed("list-namespace", NAMESPACE, 18, 1.6),
    listed("list-dataclass", classes(), 18, 1.6),
    listed("list-slots", classes(slots=True), 18, 1.6),
    Workload("hello-text", hello_as_text, (Goal(SYNC, 100),)),
    Workload("hello-document", hello_as_document, (Goal(EXECUTE, 4),)),
    Workload("hello-adopted", hello_adopted, (Goal(EXECUTE, 4),)),
    Workload("resolvers-native", native_resolvers, (Goal(EXECUTE, 10),), 10_000, 100),
    Workload("resolvers-adopted", adopted_resolvers, (Goal(EXECUTE, 4),), 10_000, 100),
    Workload(
        "interface-typename", partial(interface, "__typename"), (Goal(EXECUTE, 20),), 10_000, 100
    ),
    Workload(
        "interface-resolve-type",
        partial(interface, "resolve_type"),
        (Goal(EXECUTE, 10),),
        10_000,
        100,
    ),
    Workload(
        "interface-is-type-of", partial(interface, "is_type_of"), (Goal(EXECUTE, 10),), 10_000, 100
    ),
    Workload("async", coroutines, (Goal(EXECUTE, 3.5),), 1_000, 100, rounds=21),
    Workload("introspection", introspection, (Goal(EXECUTE, 5),), rounds=21),
    Workload(
        "first-hello", partial(first_sight, "{ hello }"), (Goal(SYNC, 1.5, most=True),), rounds=21
    ),
    # Ten rows: a list just long enough to be compiled, and too short for that to pay.
    Workload(
        "first-list", partial(first_sight, ROWS), (Goal(SYNC, 1.5, most=True),), 10, 10, rounds=21
    ),
    Workload(
        "memory", memory, (Goal(RESULT, 1.1, most=True),), 100_000, 2_000, bytes_taken, rounds=1
    ),
]

# -- the table


def apart(workload: Workload, rounds: int) -> Costs:
    """Measure a workload in a process of its own."""
    command = [sys.executable, __file__, workload.name, "--here", "--rounds", str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def figures(workload: Workload, costs: Costs) -> list[dict[str, Any]]:
    """Return the ratio for each goal, and what it was made from."""
    found = []
    for goal in workload.goals:
        ours, theirs = costs[OURS], costs[goal.against]
        ratio = goal.ratio(median(ours), median(theirs))
        each = [goal.ratio(a, b) for a, b in zip(ours, theirs, strict=True)]
        found.append(
            {
                "against": goal.against,
                "goal": str(goal),
                "ratio": ratio,
                "lowest": min(each),
                "highest": max(each),
                "met": goal.met(ratio),
                "times as fast": median(theirs) / median(ours),
            }
        )
    return found


def line(name: str, ratios: list[dict[str, Any]]) -> str:
    """Return the line of a workload."""
    parts = [
        f"{r['ratio']:7.2f}x ({r['lowest']:.2f}..{r['highest']:.2f}) "
        f"{r['goal']} {'reached' if r['met'] else 'MISSED'}, {r['against']}"
        for r in ratios
    ]
    return f"{name:24}{';'.join(parts)}\n"


def mean(table: dict[str, Any]) -> float | None:
    """Return the geometric mean of how many times as fast as graphql-core we are."""
    ratios = [
        figure["times as fast"]
        for workload in table.values()
        for figure in workload["ratios"]
        if figure["against"] in CORE
    ]
    return geometric_mean(ratios) if ratios else None


def report(chosen: list[Workload], rounds: int | None, file: Path | None) -> None:
    """Measure workloads, write a line for each, and the figures to a JSON file."""
    about = {
        "graphql-core": graphql.__version__,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load": os.getloadavg(),
    }
    sys.stdout.write(f"{about}\n")
    if graphql.__version__ != STATED:
        sys.stdout.write(f"Ratios are stated against graphql-core {STATED}, not this one.\n")
    table: dict[str, Any] = {}
    for workload in chosen:
        costs = apart(workload, rounds or workload.rounds)
        table[workload.name] = {"ratios": figures(workload, costs), "costs": costs}
        sys.stdout.write(line(workload.name, table[workload.name]["ratios"]))
        sys.stdout.flush()
    overall = mean(table)
    if overall is not None:
        sys.stdout.write(f"Geometric mean: {overall:.1f} times as fast as graphql-core.\n")
    if file is not None:
        made = about | {"workloads": table, "geometric mean": overall}
        file.write_text(json.dumps(made, indent=1), encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    known = {workload.name: workload for workload in WORKLOADS}
    parser = argparse.ArgumentParser(description="Measure the engine against graphql-core.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--rounds", type=int, help="how often each side is timed")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in known:
            parser.error(f"There is no workload {name!r}. There are: {', '.join(known)}.")
    chosen = [known[name] for name in given.names] or WORKLOADS
    if given.here:
        json.dump(measured(chosen[0], chosen[0].size, given.rounds), sys.stdout)
    else:
        report(chosen, given.rounds, given.json)


if __name__ == "__main__":
    main()

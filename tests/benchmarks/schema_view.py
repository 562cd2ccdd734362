"""How long it takes to search and browse a schema: at each key stroke, and from page to page.

Run it: ``python tests/benchmarks/schema_view.py``. The figures are milliseconds of the processor,
in the kernel: what a view waits for beside the way there and back. The goal is 50 ms for each key
stroke on a schema of GitHub's size. A schema of 100,000 types shows that nothing freezes. What is
found must be what a search through everything finds, before anything is timed.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLField,
    GraphQLInt,
    GraphQLList,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
)

if __name__ == "__main__":  # run as a file: the house is two folders up
    sys.path.insert(0, str(Path(__file__).parents[2]))

from gqlnb.notebook.schema_docs import SchemaDocs
from gqlnb.notebook.schema_search import SchemaIndex
from tests.benchmarks.big_schema import big_sdl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GOAL = 50.0  # milliseconds
ROUNDS = 7
FOUND = 50  # as many as the view asks for
TYPED = ("account", "the owner of number", "createAccountInfo", "everything", "ids", "zzzz")
HUGE = 100_000


def strokes() -> Iterator[list[str]]:
    """Yield the words that stand in the box after each key stroke."""
    for text in TYPED:
        for length in range(1, len(text) + 1):
            yield text[:length].split()


def huge(types: int) -> GraphQLSchema:
    """Return a schema of that many types, each leading to another."""
    made: list[GraphQLObjectType] = []

    def fields(number: int) -> Callable[[], dict[str, GraphQLField]]:
        other = (number * 7919 + 1) % types
        return lambda: {
            f"count{number}": GraphQLField(GraphQLInt, description="How many."),
            "others": GraphQLField(GraphQLList(made[other])),
        }

    made += [GraphQLObjectType(f"Type{number}", fields(number)) for number in range(types)]
    query = GraphQLObjectType("Query", {"first": GraphQLField(made[0])})
    return GraphQLSchema(query, types=made)


def everything(schema: GraphQLSchema) -> Iterator[tuple[str, str]]:
    """Yield the places of a schema, each with its own name and description, folded."""
    for name, kind in schema.type_map.items():
        if name.startswith("__"):
            continue
        yield name, f"{name} {kind.description or ''}".casefold()
        members: Any = getattr(kind, "fields", None) or getattr(kind, "values", None) or {}
        for member_name, member in members.items():
            place = f"{name}.{member_name}"
            yield place, f"{member_name} {member.description or ''}".casefold()
            for argument, it in getattr(member, "args", {}).items():
                yield f"{place}({argument})", f"{argument} {it.description or ''}".casefold()


def check(schema: GraphQLSchema, index: SchemaIndex) -> None:
    """Compare what is found with what a look at everything finds.

    Raises
    ------
    AssertionError
        If the two differ.
    """
    for word in ("account", "number", "kind", "e"):
        wanted = {place for place, text in everything(schema) if word in text}
        found, count = index.search([word], 10**6)
        places = {it.place for it in found if not it.place.startswith("@")}
        assert len(found) == count
        assert places == wanted
        assert index.search([word], FOUND) == (found[:FOUND], count)


def milliseconds(work: Callable[[], Any]) -> float:
    """Return what something takes."""
    begun = process_time()
    work()
    return (process_time() - begun) * 1000


def searches(index: SchemaIndex, rounds: int = ROUNDS) -> list[float]:
    """Return the median of each key stroke, in order of their length."""
    costs = []
    for words in strokes():
        times = sorted(milliseconds(lambda w=words: index.search(w, FOUND)) for _ in range(rounds))  # type: ignore[misc]
        costs.append(times[rounds // 2])
    return sorted(costs)


def report(schema: GraphQLSchema, rounds: int) -> Iterator[str]:
    """Yield the lines about a schema."""
    gc.collect()
    made: list[SchemaIndex] = []
    yield f"{len(schema.type_map):,} types"
    yield f"  index       {milliseconds(lambda: made.append(SchemaIndex(schema))):8.1f} ms, once"
    index = made[0]
    yield f"  entries     {len(index):8,}"
    gc.collect()
    costs = searches(index, rounds)
    for share in (0.5, 0.99, 1.0):
        cost = costs[int(share * (len(costs) - 1))]
        yield f"  search {share:>4.0%} {cost:8.1f} ms (goal {GOAL:g})"
    sheets = SchemaDocs(schema)
    sheets.build_message("")  # sorts the types by kind, once
    last = next(reversed(schema.type_map))
    for name, place in (("first page", ""), ("a type", last)):
        times = sorted(milliseconds(lambda p=place: sheets.build_message(p)) for _ in range(rounds))  # type: ignore[misc]
        yield f"  {name:<11} {times[rounds // 2]:8.1f} ms"


def main() -> None:
    """Print the figures."""
    schema = build_schema(big_sdl())
    check(schema, SchemaIndex(schema))
    lines = [*report(schema, ROUNDS), *report(huge(HUGE), 3)]
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()

"""The benchmark of completion, at every 50th offset: what was cut off is proposed."""

from __future__ import annotations

from graphql import build_schema

from tests.benchmarks.big_schema import MUTATIONS, big_sdl
from tests.benchmarks.completion import LINES, document, measured

DEAREST = 20.0  # milliseconds: more means that something is broken, not that the machine is busy


def test_completion_time_is_plausible() -> None:
    """On a schema of GitHub's size; the median is far below the goal."""
    schema = build_schema(big_sdl())
    assert len(schema.type_map) > 1600
    assert schema.mutation_type is not None
    assert len(schema.mutation_type.fields) == MUTATIONS
    text = document(schema)
    assert text.count("\n") + 1 >= LINES - 4
    costs = measured(schema, text, step=50)
    assert costs[len(costs) // 2] < DEAREST


def test_the_same_seed_gives_the_same_schema() -> None:
    """Another seed gives another schema."""
    assert big_sdl(1) == big_sdl(1) != big_sdl(2)

"""The benchmark of completion, at every 50th offset: what was cut off is proposed."""

from __future__ import annotations

import sys

from graphql import build_schema

from tests.benchmarks.big_schema import MUTATIONS, big_sdl
from tests.benchmarks.completion import LINES, document, measured


def test_names_that_were_cut_off_are_proposed():
    """On a schema of GitHub's size; the median time is printed."""
    schema = build_schema(big_sdl())
    assert len(schema.type_map) > 1600
    assert schema.mutation_type is not None
    assert len(schema.mutation_type.fields) == MUTATIONS
    text = document(schema)
    assert text.count("\n") + 1 >= LINES - 4
    costs = measured(schema, text, step=50)
    assert len(costs) == 2 * len(range(0, len(text) + 1, 50))
    sys.stdout.write(f"Median: {costs[len(costs) // 2]:.2f} ms\n")


def test_the_same_seed_gives_the_same_schema():
    """Another seed gives another schema."""
    assert big_sdl(1) == big_sdl(1) != big_sdl(2)

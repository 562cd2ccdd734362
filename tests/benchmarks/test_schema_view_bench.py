"""The benchmark of browsing: what is found is right, and takes no absurd time."""

from __future__ import annotations

from graphql import build_schema

from gqlnb.notebook.schema_search import SchemaIndex
from tests.benchmarks.big_schema import big_sdl
from tests.benchmarks.schema_view import check, huge, report, searches

DEAREST = 200.0  # milliseconds: more means that something is broken, not that the machine is busy


def test_searches_are_correct_and_fast() -> None:
    """On a schema of GitHub's size, at each key stroke."""
    schema = build_schema(big_sdl())
    index = SchemaIndex(schema)
    check(schema, index)
    costs = searches(index, rounds=1)
    assert costs[len(costs) // 2] < DEAREST


def test_the_report_includes_a_huge_schema() -> None:
    """The test uses a small schema of the same form."""
    lines = list(report(huge(500), 1))
    assert lines[0].endswith("types")
    assert sum("search" in line for line in lines) == 3

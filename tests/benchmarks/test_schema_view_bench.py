"""The benchmark of browsing: what is found is right."""

from __future__ import annotations

import sys

from graphql import build_schema

from gqlnb.notebook.schema_search import SchemaIndex
from tests.benchmarks.big_schema import big_sdl
from tests.benchmarks.schema_view import check, huge, report, searches


def test_searches_are_correct():
    """On a schema of GitHub's size, at each key stroke; the median time is printed."""
    schema = build_schema(big_sdl())
    index = SchemaIndex(schema)
    check(schema, index)
    costs = searches(index, rounds=1)
    sys.stdout.write(f"Median: {costs[len(costs) // 2]:.1f} ms\n")


def test_the_report_includes_a_huge_schema():
    """The test uses a small schema of the same form."""
    lines = list(report(huge(500), 1))
    assert lines[0].endswith("types")
    assert sum("search" in line for line in lines) == 3

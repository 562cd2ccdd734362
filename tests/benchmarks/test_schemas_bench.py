"""The memory that schemas of many types take."""

from __future__ import annotations

from tests.benchmarks.schemas import many_types


def test_a_schema_of_many_types_is_measured():
    """With 2,000 types; no figure is negative."""
    figures = many_types(2_000)
    assert figures["types"] == 2_000
    assert all(value >= 0 for value in figures.values())

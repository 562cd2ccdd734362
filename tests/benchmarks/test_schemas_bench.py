"""The benchmarks of schemas, at small sizes: all sides give equal schemas."""

from __future__ import annotations

import gc

import pytest

from tests.benchmarks import measure
from tests.benchmarks.schemas import WORKLOADS, many_types


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_schemas_are_equal(workload):
    """The schema equals the one built from SDL; the ratios are printed."""
    gc.unfreeze()  # what the tests have frozen would be counted in each call
    measure.report_small(workload, rounds=3)


def test_a_schema_of_many_types_is_measured():
    """With 2,000 types; no figure is negative."""
    figures = many_types(2_000)
    assert figures["types"] == 2_000
    assert all(value >= 0 for value in figures.values())

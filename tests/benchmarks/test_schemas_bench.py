"""The benchmarks of schemas, at small sizes: equal answers, and no figure that is absurd."""

from __future__ import annotations

import gc

import pytest

from tests.benchmarks import measure
from tests.benchmarks.measure import OURS, Workload
from tests.benchmarks.schemas import WORKLOADS, many_types

# How far a figure may lie from what should be reached before something must be broken rather than
# the machine busy.
DEAREST = 5


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_schemas_are_equal_and_ratios_plausible(workload: Workload) -> None:
    """The schema equals the one built from SDL, within a multiple of its time."""
    gc.unfreeze()  # what the tests have frozen would be counted in each call
    costs = measure.measured(workload, workload.small, rounds=3)
    (goal,) = workload.goals
    assert min(costs[OURS]) <= DEAREST * min(costs[goal.against])


def test_a_schema_of_many_types_is_measured() -> None:
    """With 2,000 types; no figure is negative."""
    figures = many_types(2_000)
    assert figures["types"] == 2_000
    assert all(value >= 0 for value in figures.values())

"""The benchmarks of tables, at small sizes: equal answers, and no figure that is absurd."""

from __future__ import annotations

import pytest

from tests.benchmarks import measure
from tests.benchmarks.measure import OURS, Workload
from tests.benchmarks.tables import WORKLOADS

FACTOR = 30  # how far a figure may lie from its goal: small answers cost what does not grow


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_tables_are_equal_and_ratios_plausible(workload: Workload) -> None:
    """Every side gives the same rows."""
    costs = measure.measured(workload, workload.small, rounds=3)
    for goal in workload.goals:
        ratio = goal.ratio(min(costs[OURS]), min(costs[goal.against]))
        assert ratio >= goal.reach / FACTOR

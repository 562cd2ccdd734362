"""The benchmarks of paging, at small sizes: all sides give equal answers."""

from __future__ import annotations

import pytest

from tests.benchmarks import measure
from tests.benchmarks.measure import OURS, bytes_taken
from tests.benchmarks.pages import WORKLOADS

SLACK = 3  # times the goal that memory may take at the small size


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_responses_are_equal(workload):
    """The ratios are printed; that of memory is within a multiple of the goal."""
    pytest.importorskip("gql")
    costs = measure.report_small(workload, rounds=2)
    if workload.costs is bytes_taken:
        for goal in workload.goals:
            assert goal.ratio(min(costs[OURS]), min(costs[goal.against])) <= SLACK * goal.reach

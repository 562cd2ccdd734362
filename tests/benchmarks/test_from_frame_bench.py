"""The benchmarks of schemas over frames, at small sizes: every side answers the same."""

from __future__ import annotations

import pytest

from tests.benchmarks import measure
from tests.benchmarks.from_frame import WORKLOADS


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_responses_are_equal(workload):
    """The compared sides do the same work."""
    costs = measure.measured(workload, workload.small, rounds=1)
    assert costs.keys() >= {goal.against for goal in workload.goals}

"""The benchmarks of the client, at small sizes: equal answers, and no figure that is absurd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.benchmarks import measure
from tests.benchmarks.client import WORKLOADS
from tests.benchmarks.measure import OURS

if TYPE_CHECKING:
    from tests.benchmarks.measure import Workload

# How far a figure may lie from what should be reached before something must be broken rather than
# the machine busy.
DEAREST = 5


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_responses_are_equal_and_ratios_plausible(workload: Workload) -> None:
    """The ratio is within a multiple of the goal."""
    costs = measure.measured(workload, workload.small, rounds=3)
    for goal in workload.goals:
        assert goal.ratio(min(costs[OURS]), min(costs[goal.against])) <= DEAREST * goal.reach

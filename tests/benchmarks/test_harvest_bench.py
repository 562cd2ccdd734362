"""The benchmarks of harvesting, at small sizes: equal answers, and no figure that is absurd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.benchmarks import measure
from tests.benchmarks.harvest_speed import WORKLOADS
from tests.benchmarks.measure import OURS

if TYPE_CHECKING:
    from tests.benchmarks.measure import Workload

SLACK = 10  # at this size a harvest is as quick as starting to ask, and the machine may be busy


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_rows_are_equal_and_ratios_plausible(workload: Workload) -> None:
    """The ratio is within a multiple of the goal."""
    pytest.importorskip("gql")
    costs = measure.measured(workload, workload.small, rounds=5)
    for goal in workload.goals:
        assert goal.ratio(min(costs[OURS]), min(costs[goal.against])) >= goal.reach / SLACK

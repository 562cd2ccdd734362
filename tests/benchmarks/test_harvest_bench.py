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
def test_answers_are_equal_and_no_ratio_is_absurd(workload: Workload) -> None:
    """Both sides bring the same rows, and ours takes no multiple of what is aimed at."""
    pytest.importorskip("gql")
    costs = measure.measured(workload, workload.small, rounds=5)
    for goal in workload.goals:
        assert goal.ratio(min(costs[OURS]), min(costs[goal.against])) >= goal.reach / SLACK

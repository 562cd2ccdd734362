"""The benchmarks of harvesting, at small sizes: equal answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.benchmarks import measure
from tests.benchmarks.harvest_speed import WORKLOADS
from tests.benchmarks.measure import OURS

if TYPE_CHECKING:
    from tests.benchmarks.measure import Workload


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_rows_are_equal(workload: Workload) -> None:
    """Each side runs and gives the same rows; at this size the times mean nothing."""
    pytest.importorskip("gql")
    costs = measure.measured(workload, workload.small, rounds=1)
    assert costs.keys() >= {OURS, *(goal.against for goal in workload.goals)}

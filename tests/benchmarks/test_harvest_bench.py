"""The benchmarks of harvesting, at small sizes: all sides give equal rows."""

from __future__ import annotations

import pytest

from tests.benchmarks import measure
from tests.benchmarks.harvest_speed import WORKLOADS


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_rows_are_equal(workload):
    """The ratios are printed."""
    pytest.importorskip("gql")
    measure.report_small(workload, rounds=5)

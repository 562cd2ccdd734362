"""The benchmarks of the client, at small sizes: all sides give equal answers."""

from __future__ import annotations

import pytest

from tests.benchmarks import measure
from tests.benchmarks.client import WORKLOADS


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_responses_are_equal(workload):
    """The ratios are printed."""
    measure.report_small(workload, rounds=3)

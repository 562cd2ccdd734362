"""The benchmarks of tables, at small sizes: all sides give equal answers."""

from __future__ import annotations

import pytest

from tests.benchmarks import measure
from tests.benchmarks.tables import WORKLOADS


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_tables_are_equal(workload):
    """Every side gives the same rows; the ratios are printed."""
    measure.report_small(workload, rounds=3)

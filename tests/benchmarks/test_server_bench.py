"""The benchmarks of the server, for a second each: all sides give equal answers."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace

import pytest

from tests.benchmarks import server
from tests.benchmarks.measure import UnequalError
from tests.benchmarks.server import WORKLOADS, Load


@pytest.fixture(autouse=True)
def wrk():
    """Skip where there is no wrk."""
    if shutil.which("wrk") is None:
        pytest.skip("No wrk on this machine: apt-get install wrk")


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_responses_are_equal(workload):
    """The ratios are printed."""
    taken = server.measured(workload, rounds=1, seconds=1)
    assert all(min(costs) > 0 for costs in taken.values())
    sys.stdout.write(server.line(workload, taken))


def test_failed_responses_are_not_measured():
    """A workload with an invalid query raises an error."""
    wrong = replace(WORKLOADS[0], load=Load("{ nowhere }"))
    with pytest.raises(UnequalError, match="hello: "):
        server.measured(wrong, rounds=1, seconds=1)

"""The benchmarks of the server, for a second each: equal answers, and no figure that is absurd."""

from __future__ import annotations

import shutil
from dataclasses import replace
from statistics import median

import pytest

from tests.benchmarks import server
from tests.benchmarks.measure import UnequalError
from tests.benchmarks.server import WORKLOADS, Load, Workload

# How far from what should be reached before something must be broken rather than the machine busy.
FAR = 8


@pytest.fixture(autouse=True)
def wrk() -> None:
    """Skip where there is no wrk."""
    if shutil.which("wrk") is None:
        pytest.skip("No wrk on this machine: apt-get install wrk")


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_responses_are_equal_and_ratios_plausible(workload: Workload) -> None:
    """Our server is within a multiple of the goal."""
    _, ratios = server.ratios(workload, server.measured(workload, rounds=1, seconds=1))
    assert workload.met(median(ratios) * (FAR if workload.measure is server.rate else 1 / FAR))


def test_failed_responses_are_not_measured() -> None:
    """A workload with an invalid query raises an error."""
    wrong = replace(WORKLOADS[0], load=Load("{ nowhere }"))
    with pytest.raises(UnequalError, match="hello: "):
        server.measured(wrong, rounds=1, seconds=1)

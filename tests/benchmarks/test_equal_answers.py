"""The benchmarks at small sizes: all sides give equal answers, and the ratios are printed."""

from __future__ import annotations

import gc

import pytest

from tests.benchmarks import engine, frames, measure, schemas

BENCHMARKS = {
    "engine": engine.WORKLOADS,
    "frames": [workload for workload in frames.WORKLOADS if workload.costs is not frames.peaks],
    "schemas": schemas.WORKLOADS,
}
CASES = [
    pytest.param(workload, id=f"{name}-{workload.name}")
    for name, workloads in BENCHMARKS.items()
    for workload in workloads
]


@pytest.fixture(autouse=True)
def small_heap():
    """Keep what other tests have left behind from being looked through in each round."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("workload", CASES)
def test_answers_are_equal(workload):
    """Every side does the same work."""
    costs = measure.report_small(workload, rounds=3)
    assert costs.keys() >= {goal.against for goal in workload.goals}

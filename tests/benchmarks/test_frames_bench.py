"""The benchmarks of frames, at small sizes: equal frames, and plausible peaks of memory."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest

from tests.benchmarks import measure
from tests.benchmarks.frames import BYTES, WORKLOADS, client_peaks, peaks
from tests.benchmarks.measure import OURS, UnequalError

MEMORY = [workload for workload in WORKLOADS if workload.costs in (peaks, client_peaks)]


@pytest.fixture(autouse=True)
def small_heap():
    """Keep what other tests have left behind from being looked through in each round."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("workload", MEMORY, ids=lambda workload: workload.name)
def test_peak_memory_is_measured_in_a_separate_process(workload):
    """At least the allocated bytes, and less than a multiple of them."""
    costs = measure.measured(workload, workload.small, rounds=1)
    assert 1 < costs[OURS][0] / costs[BYTES][0] < 3 * workload.goals[0].reach


def test_different_frames_are_not_measured():
    """With another value, column or row."""
    workload = WORKLOADS[0]
    ours = workload.sides(2)[OURS]
    wrong = replace(workload, sides=lambda size: {OURS: ours, "wrong": workload.sides(3)[OURS]})
    with pytest.raises(UnequalError, match="wrong answers"):
        measure.measured(wrong, 2, rounds=1)

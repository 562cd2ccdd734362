"""The benchmarks of frames, at small sizes: equal frames, and plausible peaks of memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.benchmarks import measure
from tests.benchmarks.frames import BYTES, WORKLOADS
from tests.benchmarks.measure import OURS, UnequalError


def test_peak_memory_is_measured_in_a_separate_process():
    """At least the allocated bytes, and less than a multiple of them."""
    workload = next(it for it in WORKLOADS if it.name == "memory")
    costs = measure.measured(workload, workload.small, rounds=1)
    assert 1 < costs[OURS][0] / costs[BYTES][0] < 3 * workload.goals[0].reach


def test_different_frames_are_not_measured():
    """With another value, column or row."""
    workload = WORKLOADS[0]
    ours = workload.sides(2)[OURS]
    wrong = replace(workload, sides=lambda size: {OURS: ours, "wrong": workload.sides(3)[OURS]})
    with pytest.raises(UnequalError, match="wrong answers"):
        measure.measured(wrong, 2, rounds=1)

"""The benchmarks of frames, at small sizes: equal answers, and no figure that is absurd."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks import measure
from tests.benchmarks.frames import BYTES, WORKLOADS, client_peaks, peaks
from tests.benchmarks.measure import OURS, UnequalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measure import Workload

# How far a figure may lie from what should be reached: small answers cost what does not grow.
FACTOR = 30
MEMORY = [workload for workload in WORKLOADS if workload.costs in (peaks, client_peaks)]
SIDES = [workload for workload in WORKLOADS if workload not in MEMORY]


@pytest.fixture(autouse=True)
def small_heap() -> Iterator[None]:
    """Keep what other tests have left behind from being looked through in each round."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("workload", SIDES, ids=lambda workload: workload.name)
def test_frames_are_equal_and_ratios_plausible(workload: Workload) -> None:
    """Every side gives the same rows."""
    costs = measure.measured(workload, workload.small, rounds=3)
    for goal in workload.goals:
        ratio = goal.ratio(min(costs[OURS]), min(costs[goal.against]))
        assert ratio <= FACTOR * goal.reach if goal.most else ratio >= goal.reach / FACTOR


@pytest.mark.parametrize("workload", MEMORY, ids=lambda workload: workload.name)
def test_peak_memory_is_measured_in_a_separate_process(workload: Workload) -> None:
    """At least the allocated bytes, and less than a multiple of them."""
    costs = measure.measured(workload, workload.small, rounds=1)
    assert 1 < costs[OURS][0] / costs[BYTES][0] < 3 * workload.goals[0].reach


def test_different_frames_are_not_measured() -> None:
    """With another value, column or row."""
    workload = WORKLOADS[0]
    ours = workload.sides(2)[OURS]
    wrong = replace(workload, sides=lambda size: {OURS: ours, "wrong": workload.sides(3)[OURS]})
    with pytest.raises(UnequalError, match="wrong answers"):
        measure.measured(wrong, 2, rounds=1)

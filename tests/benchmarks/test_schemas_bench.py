"""The benchmarks of schemas, at small sizes: equal answers, and no figure that is absurd."""

from __future__ import annotations

import gc

from tests.benchmarks import measure
from tests.benchmarks.measure import OURS
from tests.benchmarks.schemas import SDL, WORKLOADS, many_types

# How far a figure may lie from what should be reached before something must be broken rather than
# the machine busy.
DEAREST = 5


def test_answers_are_equal_and_no_ratio_is_absurd() -> None:
    """What is read from the cache is what was built from SDL, and costs no multiple of it."""
    (workload,) = WORKLOADS
    gc.unfreeze()  # what the tests have frozen would be counted in each call
    costs = measure.measured(workload, workload.small, rounds=3)
    assert min(costs[OURS]) <= DEAREST * min(costs[SDL])


def test_many_types_are_loaded_behind() -> None:
    """Some thousand here; each figure is one."""
    figures = many_types(2_000)
    assert figures["types"] == 2_000
    assert all(value >= 0 for value in figures.values())

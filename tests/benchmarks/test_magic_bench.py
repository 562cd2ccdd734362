"""The benchmarks of the cell, at small sizes: equal answers, and no figure that is absurd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.benchmarks import magic, measure
from tests.benchmarks.measure import OURS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measure import Workload

# How far a figure may lie from what should be reached before something must be broken rather than
# the machine busy.
DEAREST = 5


@pytest.fixture(autouse=True)
def no_shell() -> Iterator[None]:
    """Leave no shell behind."""
    yield
    if InteractiveShell.initialized():
        InteractiveShell.instance()._atexit_once()
        InteractiveShell.clear_instance()


@pytest.mark.parametrize("workload", magic.WORKLOADS, ids=lambda workload: workload.name)
def test_responses_are_equal_and_ratios_plausible(workload: Workload) -> None:
    """The ratio is within a multiple of the goal."""
    costs = measure.measured(workload, workload.small, rounds=5)
    for goal in workload.goals:
        assert goal.ratio(min(costs[OURS]), min(costs[goal.against])) <= DEAREST * goal.reach

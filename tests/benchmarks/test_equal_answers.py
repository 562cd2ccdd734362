"""The benchmarks at small sizes: all sides give equal answers, and the ratios are printed."""

from __future__ import annotations

import gc

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.benchmarks import client, engine, from_frame, harvest_speed, magic, measure, tables
from tests.benchmarks.frames import WORKLOADS as FRAMES
from tests.benchmarks.frames import client_peaks, peaks
from tests.benchmarks.schemas import WORKLOADS as SCHEMAS

BENCHMARKS = {
    "client": client.WORKLOADS,
    "engine": engine.WORKLOADS,
    "frames": [workload for workload in FRAMES if workload.costs not in (peaks, client_peaks)],
    "from_frame": from_frame.WORKLOADS,
    "harvest": harvest_speed.WORKLOADS,
    "magic": magic.WORKLOADS,
    "schemas": SCHEMAS,
    "tables": tables.WORKLOADS,
}
CASES = [
    pytest.param(name, workload, id=f"{name}-{workload.name}")
    for name, workloads in BENCHMARKS.items()
    for workload in workloads
]


@pytest.fixture
def heap():
    """Have no frozen objects in memory, which would be counted, and leave no shell behind."""
    gc.unfreeze()
    yield
    if InteractiveShell.initialized():
        InteractiveShell.instance()._atexit_once()
        InteractiveShell.clear_instance()


@pytest.mark.usefixtures("heap")
@pytest.mark.parametrize(("name", "workload"), CASES)
def test_answers_are_equal(name, workload):
    """Every side does the same work."""
    if name == "harvest":
        pytest.importorskip("gql")
    if name in {"engine", "frames"}:  # what other tests have left is not looked through
        gc.freeze()
    costs = measure.report_small(workload, rounds=5 if name in {"harvest", "magic"} else 3)
    assert costs.keys() >= {goal.against for goal in workload.goals}

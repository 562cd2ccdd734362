"""The benchmarks of the cell, at small sizes: all sides give equal answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.benchmarks import magic, measure

if TYPE_CHECKING:
    pass


@pytest.fixture(autouse=True)
def no_shell():
    """Leave no shell behind."""
    yield
    if InteractiveShell.initialized():
        InteractiveShell.instance()._atexit_once()
        InteractiveShell.clear_instance()


@pytest.mark.parametrize("workload", magic.WORKLOADS, ids=lambda workload: workload.name)
def test_responses_are_equal(workload):
    """The ratios are printed."""
    measure.report_small(workload, rounds=5)

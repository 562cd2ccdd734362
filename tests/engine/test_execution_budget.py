"""Budgets: what is counted, when the clock is looked at, and how it ends."""

from __future__ import annotations

import pytest

from gqlnb.engine.execution_budget import (
    BudgetExceededError,
    ExecutionBudget,
    format_time_limit,
)


class Clock:
    """A clock that somebody moves on."""

    def __init__(self) -> None:
        self.now = 100.0
        self.looked = 0

    def __call__(self) -> float:
        """Return seconds."""
        self.looked += 1
        return self.now


def spend(budget: ExecutionBudget, fields: int) -> None:
    """Count fields, as executors do."""
    budget.left -= fields
    budget.check()


def test_the_budget_error_names_the_remedy():
    """Remote clients see the message too."""
    with pytest.raises(BudgetExceededError) as caught:
        spend(ExecutionBudget(1_000), 1_001)
    assert str(caught.value) == (
        "Execution stopped after 1,000 fields, which is the limit. Ask for less at once, or have "
        "whoever serves this raise it: serve(schema, limits=Limits(fields=2000))."
    )


def test_the_first_stop_reason_is_reported():
    """Later reasons are consequences of the first."""
    budget = ExecutionBudget(seconds=1)
    budget.stop()
    budget.stop("Another.")
    assert budget.reason == format_time_limit(1)


def looks(budget: ExecutionBudget, clock: Clock, fields: int, seconds: float) -> int:
    """Return how often the clock is looked at while fields of some seconds are executed."""
    before = clock.looked
    for _ in range(fields):
        clock.now += seconds
        budget.left -= 1
        if budget.left < 0:
            budget.renew_credit()
    return clock.looked - before


def test_fast_fields_are_seldom_interrupted_and_slow_ones_often():
    """A list of slow fields after a million fast ones is seen to be slow."""
    clock = Clock()
    budget = ExecutionBudget(seconds=10_000, clock=clock)
    assert looks(budget, clock, 100_000, 1e-7) < 100
    looks(budget, clock, 5_000, 0.01)  # the credit that was given before
    assert looks(budget, clock, 100, 0.01) >= 40
    looks(budget, clock, 10_000, 1e-7)
    assert looks(budget, clock, 100_000, 1e-7) < 100

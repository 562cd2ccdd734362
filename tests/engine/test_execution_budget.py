"""Budgets: what is counted, when the clock is looked at, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest

from gqlnb.engine.execution_budget import (
    FIRST_CREDIT,
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


@pytest.mark.parametrize("fields", [1, 2, FIRST_CREDIT, FIRST_CREDIT + 1, 10_000])
def test_the_field_budget_is_exact(fields):
    """One field more is an error."""
    budget = ExecutionBudget(fields)
    for _ in range(fields):
        spend(budget, 1)
    assert budget.used == fields
    with pytest.raises(BudgetExceededError, match=f"^Execution stopped after {fields:,} field"):
        spend(budget, 1)


def test_the_time_limit_is_exact():
    """By the given clock."""
    clock = Clock()
    budget = ExecutionBudget(seconds=2, clock=clock)
    clock.now += 2
    budget.check()
    clock.now += 0.001
    with pytest.raises(
        BudgetExceededError, match=r"^Execution stopped after 2 s, which is the limit\."
    ):
        budget.check()
    assert budget.reason == format_time_limit(2)


def test_execution_without_limits_is_unbounded():
    """Both limits are optional."""
    clock = Clock()
    budget = ExecutionBudget(clock=clock)
    clock.now += 10**9
    spend(budget, 10**12)
    assert budget.used == 10**12


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


def executed(budget: ExecutionBudget, rows: Any, each: int, dicts: bool = True) -> int:
    """Execute rows as compiled code does; return how many were."""
    done = 0
    budget.left -= len(rows) * each
    for row in rows if budget.left >= 0 else budget.count_rows(rows, each, dicts):
        if row is None:
            budget.left += each
        else:
            done += 1
    budget.check()
    return done


@pytest.mark.parametrize("dicts", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 10, 1_000, 50_000])
def test_list_items_are_counted_exactly(rows, dicts):
    """Null rows do not count, however few fields are left."""
    given = [None if n % 3 else {} for n in range(rows)]
    there = sum(row is not None for row in given)
    budget = ExecutionBudget(4 * there)
    assert executed(budget, given, 4, dicts) == there
    assert budget.used == 4 * there
    if there:
        with pytest.raises(BudgetExceededError):
            executed(ExecutionBudget(4 * there - 1), given, 4, dicts)


def test_a_list_is_stopped_within_one_row_of_the_limit():
    """No further row is executed."""
    done = []
    budget = ExecutionBudget(10)
    rows: list[dict[str, Any]] = [{}] * 100_000
    budget.left -= 3 * len(rows)
    with pytest.raises(BudgetExceededError):
        done.extend(budget.count_rows(rows, 3, True))
    assert len(done) <= 4

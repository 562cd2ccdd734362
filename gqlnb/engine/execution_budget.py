"""The fields and seconds that one execution may use.

An executor subtracts fields from a credit and looks at the clock when the credit is used up, so
that counting costs a subtraction. The credit grows while it is used up quickly and shrinks when it
is not: slow resolvers are watched closely, at little cost for fast ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from itertools import chain
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from gqlnb.engine.compiler.executor import PlanExecutor, PlannedField
from gqlnb.engine.compiler.resolve_info import LazyPath
from gqlnb.engine.graphql_compat import BaseExecutor, Value
from gqlnb.errors import format_count
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Callable, Sequence

    from gqlnb.document.document import Document

FIRST_CREDIT, MAX_CREDIT = 256, 2048  # fields of credit; a field takes some tenths of a microsecond
CREDIT_SECONDS = 0.001  # seconds in which a credit should be used up
MAX_ROWS_AT_ONCE = 32_768  # fields of a list that is counted as a whole; some milliseconds
UNLIMITED = 1 << 62  # fields; more than any execution has


# Not derived from `Exception`, so that the handlers of field errors in this engine, in
# graphql-core and in resolvers do not catch it.
class BudgetExceededError(BaseException):
    """A budget is used up."""


class ExecutionBudget:
    """The fields and seconds that one execution may use, and has used.

    One execution counts, in one thread at a time; :meth:`stop` may be called from any thread.

    Parameters
    ----------
    fields
        Fields it may execute; None for any number.
    seconds
        Seconds it may take from now on; None for any time.
    clock
        Returns seconds.

    Attributes
    ----------
    left
        The credit: fields until the clock is looked at.
    deadline
        The end of the time, by the clock.
    reason : str or None
        The reason why the execution was stopped, as a sentence; None if it was not.
    task
        The task that awaits the execution, once there is one; it is cancelled with all below it.
    """

    reason: str | None = None
    task: Task[Any] | None = None
    _step = FIRST_CREDIT

    def __init__(
        self,
        fields: int | None = None,
        seconds: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.fields = fields
        self.seconds = seconds
        self.clock = clock
        self._renewed_at = clock()
        self.deadline = inf if seconds is None else self._renewed_at + seconds
        total = UNLIMITED if fields is None else fields
        self.left = FIRST_CREDIT if total > FIRST_CREDIT else total
        self._uncredited = total - self.left  # fields beyond the credit

    def restart(self) -> None:
        """Let the time begin now: the execution had to wait for a thread."""
        if self.seconds is not None and self.reason is None:
            self._renewed_at = self.clock()
            self.deadline = self._renewed_at + self.seconds

    @property
    def used(self) -> int:
        """Fields executed so far, or about to be."""
        return (UNLIMITED if self.fields is None else self.fields) - self._uncredited - self.left

    def stop(self, reason: str | None = None) -> None:
        """Stop the execution at its next look at the clock; from any thread, without waiting."""
        self.reason = self.reason or reason or self._format_reason()
        self.deadline = -inf

    def check(self) -> None:
        """Look at the clock.

        Raises
        ------
        BudgetExceededError
            If time is up.
        """
        if self.left < 0 or self.clock() > self.deadline:
            self.renew_credit()

    def renew_credit(self) -> None:
        """Look at the clock, and grant new credit.

        Raises
        ------
        BudgetExceededError
            If time is up, or more fields were counted than there are.
        """
        now = self.clock()
        if now > self.deadline:
            self._raise_exceeded(self._format_reason())
        left = self._uncredited + self.left
        if left < 0:
            self._raise_exceeded(format_field_limit(self.fields or 0))
        taken = now - self._renewed_at
        self._renewed_at = now
        if taken < CREDIT_SECONDS:
            self._step = min(2 * self._step, MAX_CREDIT)
        else:
            self._step = max(1, int(self._step * CREDIT_SECONDS / taken))
        self.left = min(self._step, left)
        self._uncredited = left - self.left

    def count_rows(
        self,
        rows: Sequence[object],
        per_row: int,
        dicts: bool,  # noqa: FBT001 - compiled code gives it by position
    ) -> Iterable[object]:
        """Return the rows of a list that exceeds the credit, to be counted during iteration.

        Parameters
        ----------
        rows
            The rows, which have been counted as a whole.
        per_row
            The fields of each row. Those of null rows are refunded, so that the last row is
            executed even if it may exceed the budget, and checked afterwards.
        dicts
            Whether the rows are dicts, whose look-ups are never slow.

        Raises
        ------
        BudgetExceededError
            If time is up.
        """
        counted = len(rows) * per_row
        self.left += counted
        self.renew_credit()
        if counted > self.left:
            if not dicts or counted > min(MAX_ROWS_AT_ONCE, self._uncredited + self.left):
                return chain.from_iterable(self._split_rows(rows, per_row))
            self._uncredited += self.left - counted
            self.left = counted
        self.left -= counted
        return rows

    def _split_rows(self, rows: Sequence[object], per_row: int) -> Iterator[Sequence[object]]:
        done = 0
        while done < len(rows):
            if self.left < per_row:
                self.renew_credit()
            size = min(max(1, self.left // per_row), len(rows) - done)
            self.left -= size * per_row
            yield rows[done : done + size]
            done += size
            if self.left < 0:
                self.renew_credit()

    def watch_items(self, items: Iterator[object]) -> Iterator[object]:
        """Yield items of a possibly infinite iterator while there is time, then close it."""
        try:
            for item in items:
                self.check()
                yield item
        finally:
            if close := getattr(items, "close", None):
                close()

    async def wait_for_task(self, task: Task[Any]) -> bool:
        """Await a task, and cancel it at the deadline; return whether it is done."""
        left = self.deadline - self.clock()
        try:
            await asyncio.wait({task}, timeout=None if left == inf else max(0.0, left))
        finally:
            if not task.done():  # time is up, or the caller has stopped waiting
                self.stop()
                task.cancel()
                task.add_done_callback(retrieve_exception)
        return task.done()

    def _format_reason(self) -> str:
        return "Execution was stopped." if self.seconds is None else format_time_limit(self.seconds)

    def _raise_exceeded(self, reason: str) -> None:
        self.stop(reason)
        if self.task is not None:
            self.task.get_loop().call_soon(self.task.cancel)
        raise BudgetExceededError(self.reason)


def format_field_limit(fields: int) -> str:
    """Return the reason for stopping at a limit of fields."""
    return (
        f"Execution stopped after {format_count(fields, 'field')}, which is the limit. "
        f"Ask for less at once, or have whoever serves this raise it: "
        f"serve(schema, limits=Limits(fields={2 * fields}))."
    )


def format_time_limit(seconds: float) -> str:
    """Return the reason for stopping at a limit of seconds."""
    return (
        f"Execution stopped after {seconds:g} s, which is the limit. Ask for less at once, or have "
        f"whoever serves this raise it: serve(schema, limits=Limits(seconds={2 * seconds:g}))."
    )


IN_PROCESS = "in-process"  # the `source` of results of this process


class FieldCountingMixin:
    """An executor's mixin that counts the fields which graphql-core's methods execute."""

    budget: ExecutionBudget

    def execute_field(self, *given: object, **options: object) -> Value:
        """Count and execute a field."""
        self.budget.left -= 1
        self.budget.check()
        return super().execute_field(*given, **options)  # type: ignore[misc]

    def complete_list_value(self, *given: Value) -> Value:
        """Complete a list, also of an infinite iterator while there is time."""
        return_type, group, info, path, result, *more = given
        if isinstance(result, Iterator):
            result = self.budget.watch_items(result)
        return super().complete_list_value(  # type: ignore[misc]
            return_type, group, info, path, result, *more
        )


class BudgetedPlanExecutor(FieldCountingMixin, PlanExecutor):
    """One execution of a plan, within a budget; compiled code counts the fields."""

    # A `__getattr__`, as in RepeatPlanExecutor, would make every attribute slower.
    __slots__ = ("budget",)  # compiled code reads it for every list

    def queue_field(self, value: Value, *given: Value) -> tuple[Value, list[Value] | None]:
        """Complete a value of an unusual type, whose conversion may take time."""
        self.budget.check()
        return super().queue_field(value, *given)

    def complete_unusual(self, value: Value, field: PlannedField, path: LazyPath) -> Value:
        """Complete a value of an unusual type, which may be a function to call."""
        self.budget.check()
        return super().complete_unusual(value, field, path)


def build_counting_executor(budget: ExecutionBudget, base: type | None) -> type:
    """Return a subclass of an executor class that counts fields off one budget.

    `base` is graphql-core's own executor class if it is None.
    """
    base = base or BaseExecutor
    return type(base.__name__, (FieldCountingMixin, base), {"budget": budget})


def retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Retrieve the exception of a task that is not awaited, or asyncio would log it."""
    if not task.cancelled():
        task.exception()


def build_stopped_result(reason: str | None, document: Document) -> Result:
    """Return the result of an execution that was stopped."""
    return Result(None, ({"message": reason},), document=document, source=IN_PROCESS)

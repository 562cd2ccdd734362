"""Executing within a budget: what counts where compiled code does not, and how an answer ends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from inspect import CORO_CREATED, getcoroutinestate, isawaitable
from pathlib import Path
from types import CoroutineType
from typing import TYPE_CHECKING, Any

import graphql
from graphql import ExecutionResult

from gqlnb.engine.budget import Budget, ExceededError
from gqlnb.engine.core import FieldPlan, Run
from gqlnb.engine.info import Lean
from gqlnb.engine.version import Base, new
from gqlnb.model.result import Result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gqlnb.model.document import Document

__all__ = ["HERE", "Metered", "bounded", "counting", "stopped"]

HERE = "in-process"  # the source of results that were executed here


class Counted:
    """Counts the fields that graphql-core's methods execute, one at a time; an executor's mixin.

    Attributes
    ----------
    budget
        What it counts them off.
    """

    budget: Budget

    def execute_field(self, *given: Any, **options: Any) -> Any:
        """Execute a field as graphql-core does."""
        self.budget.spend(1)
        return super().execute_field(*given, **options)  # type: ignore[misc]

    def complete_list_value(
        self, return_type: Any, group: Any, info: Any, path: Any, result: Any, *more: Any
    ) -> Any:
        """Complete a list, which may have no end."""
        if isinstance(result, Iterator):
            result = self.budget.watched(result)
        given = (return_type, group, info, path, result, *more)
        return super().complete_list_value(*given)  # type: ignore[misc]


class Metered(Counted, Run):
    """One execution of a plan, within a budget.

    Compiled code counts the fields of the objects that it completes.
    """

    __slots__ = ("budget",)  # compiled code reads it for every list

    @classmethod
    def again(cls, plan: Any, root: Any, context: Any, variables: Any, budget: Budget) -> Metered:
        """Return a further run of a plan, with all that the first has.

        It has no ``__getattr__``, which would make every attribute slower.
        """
        run = new(cls)
        run.__dict__.update(plan.proto)
        run.plan = plan
        run.root_value = root
        run.context_value = context
        run.variable_values = variables
        run.budget = budget
        return run

    def field(self, field: FieldPlan, source: Any, path: Lean) -> Any:
        """Execute a field as graphql-core does, that compiled code has counted."""
        self.budget.left += 1
        return super().field(field, source, path)

    def late(self, value: Any, field: FieldPlan, path: Lean) -> Any:
        """Complete a value that is not of the usual kind; it may be a function to call."""
        self.budget.check()
        return super().late(value, field, path)


def counting(budget: Budget, base: type = Base) -> type:
    """Return a class of graphql-core's executor whose one execution counts its fields.

    Parameters
    ----------
    budget
        What it counts them off.
    base
        The class that would execute without.
    """
    return type(base.__name__, (Counted, base), {"budget": budget})


def bounded(
    execute: Callable[[], Any],
    budget: Budget,
    document: Document,
    finish: Callable[[Any, Document], Result],
) -> Result | Awaitable[Result]:
    """Execute within a budget.

    Parameters
    ----------
    execute
        Returns an outcome, or an awaitable of one.
    budget
        What it counts off.
    document
        What is executed.
    finish
        Makes a result of the outcome.

    Returns
    -------
    Result, or an awaitable of one
        Without data, and with the reason as its one error, where the budget did not suffice.
    """
    try:
        outcome = execute()
        budget.check()
        if type(outcome) is not ExecutionResult and isawaitable(outcome):
            return within(outcome, budget, document, finish)
    except ExceededError as error:
        close_unawaited(error)
        return stopped(budget, document)
    return finish(outcome, document)


async def within(
    outcome: Awaitable[Any],
    budget: Budget,
    document: Document,
    finish: Callable[[Any, Document], Result],
) -> Result:
    """Await an outcome while there is time.

    What it awaits is cancelled when time is up, and not waited for: it may not listen.
    """
    try:
        budget.check()  # it may have been a while
    except ExceededError as error:
        close_unawaited(error)
        return stopped(budget, document)
    budget.task = task = asyncio.ensure_future(outcome)
    left = budget.deadline - budget.clock()
    try:
        await asyncio.wait({task}, timeout=None if left == float("inf") else max(0.0, left))
    except asyncio.CancelledError:  # whoever asked waits no more
        budget.stop()
        task.cancel()
        raise
    if not task.done():
        budget.stop()
        task.cancel()
        task.add_done_callback(heard)
        return stopped(budget, document)
    try:
        found = task.result()
        budget.check()
    except (ExceededError, asyncio.CancelledError) as error:
        if budget.reason is None:
            raise
        close_unawaited(error)
        return stopped(budget, document)
    return finish(found, document)


def close_unawaited(error: BaseException) -> None:
    """Close the coroutines that a stopped execution has made and nobody will await.

    Python would complain of each of them, on the screen of whoever serves. They are found in the
    frames that the error has passed through, and in those of the coroutines found.
    """
    step, waiting = error.__traceback__, []
    while step is not None:
        if step.tb_frame.f_code.co_filename.startswith(HOMES):
            waiting += coroutines(step.tb_frame.f_locals)
        step = step.tb_next
    while waiting:
        each = waiting.pop()
        if getcoroutinestate(each) == CORO_CREATED:
            waiting += coroutines(each.cr_frame.f_locals)
            each.close()


# How the names of files begin: of compiled code, of the engine and of graphql-core.
HOMES = ("<gqlnb ", str(Path(__file__).parent), str(Path(graphql.__file__).parent))
# The local names of lists and dicts in which such code holds coroutines; compiled code: w1, w2, ...
HOLDERS = frozenset({"completed_results", "results", "values", "waiting"})


def coroutines(names: Mapping[str, Any]) -> list[Any]:
    """Return the coroutines among the local variables of a function in `HOMES`."""
    found = list(names.values())
    for name, value in names.items():
        if name in HOLDERS or re.fullmatch(r"w\d*", name):
            held = value.values() if isinstance(value, dict) else value
            members = held if isinstance(held, Iterable) else ()
            found += [each[-1] if type(each) is tuple and each else each for each in members]
    return [each for each in found if isinstance(each, CoroutineType)]


def heard(task: asyncio.Task[Any]) -> None:
    """Ask a task that nobody waits for how it ended, or asyncio would log its exception."""
    if not task.cancelled():
        task.exception()


def stopped(budget: Budget, document: Document) -> Result:
    """Return the result of an execution that was stopped."""
    return Result(None, ({"message": budget.reason},), document=document, source=HERE)

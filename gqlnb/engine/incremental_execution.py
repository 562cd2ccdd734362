"""Operations with ``@defer`` and ``@stream``, executed in parts by graphql-core 3.3.

Its incremental executor decides what is delivered when. Added here: plain resolvers of later parts
run in threads, so that they may block; the execution has a budget; leaving the stream, or the time
limit, stops everything that is still running.

This module needs graphql-core 3.3; ``find_incremental_fault`` of the adapters says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, suppress
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import ExecutionResult, GraphQLError, GraphQLResolveInfo, get_named_type, is_leaf_type
from graphql.execution.incremental import IncrementalExecutor

from gqlnb import background
from gqlnb.engine.compiled_execution import is_request_error
from gqlnb.engine.compiler.executor import reject_table
from gqlnb.engine.execution_budget import (
    IN_PROCESS,
    BudgetExceededError,
    ExecutionBudget,
    FieldCountingMixin,
)
from gqlnb.engine.graphql_compat import Outcome, Value
from gqlnb.engine.subscription import Runner, SubscriptionArguments, ThreadedIterator
from gqlnb.result.answer_notes import IncrementalResponse
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLOutputType, GraphQLSchema
    from graphql.pyutils import Path

    from gqlnb.document.document import Document

CLEANUP_SECONDS = 1.0  # for the `finally` blocks of resolvers that are cancelled


class ResponsePart(NamedTuple):
    """One part of a response.

    Attributes
    ----------
    members
        The part in the form of 2023, with JSON-like values.
    causes
        The exceptions behind its errors: those of the part, of its increments, and of what it
        completes, in this order.
    starts
        The number of items delivered so far of each list that the part announces, by id.
    """

    members: dict[str, Any]
    causes: tuple[BaseException | None, ...] = ()
    starts: Mapping[str, int] = {}


class ThreadedIncrementalExecutor(IncrementalExecutor):
    """graphql-core's incremental executor, with the plain resolvers of later parts in threads.

    Deferred fields are the slow ones: on the event loop a blocking one would delay every other
    request. One thread runs at a time, since the executors of the parts share their state.
    """

    # Set on a subclass for each execution: graphql-core copies executors, whose attributes these
    # would be otherwise.
    run_in: Runner
    turn: asyncio.Lock
    stream_starts: dict[tuple[str | int, ...], int]

    def complete_list_value(
        self,
        return_type: Value,
        group: Value,
        info: Value,
        path: Value,
        result: Value,
        *more: Value,
    ) -> Value:
        """Complete a list that is not a table."""
        reject_table(result, info)
        return super().complete_list_value(return_type, group, info, path, result, *more)

    def execute_execution_group(self, *given: Value) -> Awaitable[Any]:
        """Execute the fields of a deferred fragment."""
        return self._run_elsewhere(partial(super().execute_execution_group, *given))

    def handle_stream(
        self,
        index: int,
        path: Path,
        iterator: Value,
        is_async: bool,  # noqa: FBT001 - graphql-core gives it by position
        *given: Value,
    ) -> bool:
        """Record the start of a list that is delivered item by item."""
        self.stream_starts[tuple(path.as_list())] = index
        if not is_async and not hasattr(iterator, "__length_hint__"):  # those of lists have it
            # A generator may block. This also closes one that is left early, which graphql-core
            # would read to its end.
            iterator, is_async = ThreadedIterator(convert_budget_errors(iterator)), True
        return super().handle_stream(index, path, iterator, is_async, *given)

    def complete_stream_item(
        self,
        item_path: Path,
        item: Value,
        details: Value,
        info: GraphQLResolveInfo[Any],
        item_type: GraphQLOutputType,
    ) -> Value:
        """Execute the fields of an item of a list."""
        run = partial(super().complete_stream_item, item_path, item, details, info, item_type)
        return run() if is_leaf_type(get_named_type(item_type)) else self._run_elsewhere(run)

    async def _run_elsewhere(self, run: Callable[[], Outcome]) -> Value:
        try:
            async with self.turn:
                outcome = await self.run_in(run)
            return await outcome if isawaitable(outcome) else outcome
        except BudgetExceededError as error:  # graphql-core's tasks expect an Exception
            raise GraphQLError(str(error)) from None


def convert_budget_errors(items: Iterator[object]) -> Iterator[object]:
    """Yield items; end with a GraphQLError where the budget is used up."""
    try:
        yield from items
    except BudgetExceededError as error:
        raise GraphQLError(str(error)) from None


def build_executor_class(
    run_in: Runner, budget: ExecutionBudget, library: type | None
) -> type[Any]:
    """Return the executor class of one execution."""
    members = {"run_in": staticmethod(run_in), "turn": asyncio.Lock(), "stream_starts": {}}
    bases = (FieldCountingMixin, ThreadedIncrementalExecutor, *([library] if library else []))
    return type("IncrementalExecutor", bases, {**members, "budget": budget})


def execute_in_parts(
    schema: GraphQLSchema,
    document: Document,
    arguments: SubscriptionArguments,
    options: Mapping[str, Value],
    library: type | None = None,
) -> AsyncGenerator[ResponsePart, None]:
    """Return the parts of the response to an operation; the first one has `data`.

    The execution begins at the first step; closing the generator stops it. Exceptions of resolvers
    become errors of the parts.

    Parameters
    ----------
    schema
        The schema, with ``@defer`` or ``@stream``.
    document
        The document with its operation chosen.
    arguments
        The further arguments; the limits are for all parts together.
    options
        Further arguments of graphql-core's ``experimental_execute_incrementally``.
    library
        The executor class of a library that builds info objects of its own, or None.
    """
    limits = arguments.limits
    budget = ExecutionBudget() if limits is None else ExecutionBudget(limits.fields, limits.seconds)
    run_in: Runner = arguments.run_in or background.run_in_thread
    executor_class = build_executor_class(run_in, budget, library)
    executor = executor_class.build(
        schema,
        document.ast,
        arguments.root,
        arguments.context,
        dict(arguments.variables) or None,
        document.name,
        **options,
        **({} if library is None else {"operation_extensions": arguments.extensions}),
    )
    return PartExecution(executor, run_in, budget).iterate_parts()


class PartExecution:
    """One execution in parts, from its first resolver to its last part.

    `executor` is a ThreadedIncrementalExecutor, or a list of errors in its place.
    """

    def __init__(self, executor: Value, run_in: Runner, budget: ExecutionBudget) -> None:
        self._executor, self._run_in, self._budget = executor, run_in, budget
        self._pending: list[str] = []  # ids

    async def iterate_parts(self) -> AsyncGenerator[ResponsePart, None]:
        """Yield the parts; the last one says so."""
        if isinstance(self._executor, list):
            yield build_whole_part(ExecutionResult(None, errors=self._executor))
            return
        self._budget.restart()
        try:
            outcome = await self._await_in_time(self._begin())
            if isinstance(outcome, ExecutionResult):
                yield build_whole_part(outcome)
                return
            yield self._build_part(outcome.initial_result)
            async for result in self._iterate_later(outcome.subsequent_results):
                yield self._build_part(result)
        except (TimeoutError, BudgetExceededError):
            yield self._build_last_part()
        finally:
            # Also if nothing of the later parts has begun: the sources of lists are open.
            await self._executor.cancel_incremental_work()

    async def _begin(self) -> Outcome:
        outcome = await self._run_in(self._executor.execute_operation)
        return await outcome if isawaitable(outcome) else outcome

    async def _iterate_later(self, later: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
        try:
            while (result := await self._await_in_time(anext(later, None))) is not None:
                yield result
        finally:
            # A resolver that suppresses its cancellation still runs in it.
            with suppress(RuntimeError):
                await later.aclose()

    async def _await_in_time(self, step: Awaitable[Any]) -> Value:
        """Await a step until the deadline; it is cancelled then, and given a second to clean up.

        Raises
        ------
        TimeoutError
            At the deadline.
        """
        task = asyncio.ensure_future(step)
        try:
            if await self._budget.wait_for_task(task):
                return task.result()
        finally:
            if not task.done():
                await asyncio.wait({task}, timeout=CLEANUP_SECONDS)
        raise TimeoutError

    def _build_part(self, result: Outcome) -> ResponsePart:
        """Return a part of graphql-core's, and update the list of pending parts."""
        starts = self._executor.stream_starts
        announced = {}
        for pending in result.pending or ():
            self._pending.append(pending.id)
            start = starts.pop(tuple(pending.path), None)
            if start is not None:
                announced[pending.id] = start
        later = [
            *(getattr(result, "incremental", None) or ()),
            *(getattr(result, "completed", None) or ()),
        ]
        for completed in getattr(result, "completed", None) or ():
            self._pending.remove(completed.id)
        errors = [error for each in (later or [result]) for error in each.errors or ()]
        causes = tuple(error.original_error for error in errors)
        return ResponsePart(dict(result.formatted), causes, announced)

    def _build_last_part(self) -> ResponsePart:
        """Return the last part of a stopped execution: all pending parts have failed."""
        self._budget.stop()
        errors = [{"message": self._budget.reason}]
        if not self._pending:  # there was no first part
            return ResponsePart({"data": None, "errors": errors, "hasNext": False})
        completed = [{"id": ident, "errors": errors} for ident in self._pending]
        return ResponsePart({"completed": completed, "hasNext": False})


def build_whole_part(outcome: ExecutionResult) -> ResponsePart:
    """Return the only part of a response that was not divided."""
    members = {**outcome.formatted, "hasNext": False}
    if outcome.data is None and all(map(is_request_error, outcome.errors or ())):
        del members["data"]  # nothing was executed
    return ResponsePart(members, tuple(error.original_error for error in outcome.errors or ()))


async def iterate_merged_results(
    parts: AsyncGenerator[ResponsePart, None], document: Document, variables: Mapping[str, object]
) -> AsyncGenerator[Result, None]:
    """Yield a Result for each part, with all parts so far."""
    growing = IncrementalResponse()
    causes: tuple[BaseException | None, ...] = ()
    async with aclosing(parts):
        async for part in parts:
            members = growing.feed(part.members)
            causes += part.causes
            yield Result(
                data=members.get("data"),
                errors=tuple(members.get("errors", ())),
                extensions=members.get("extensions", {}),
                document=document,
                source=IN_PROCESS,
                variables=variables or None,
                causes=causes,
            )

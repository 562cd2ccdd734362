"""Execution of requests on a schema: in a worker thread or on the event loop, with a time limit."""

from __future__ import annotations

import asyncio
import logging
import time  # Pyodide has no `thread_time`
from collections.abc import Awaitable
from dataclasses import replace
from functools import lru_cache, partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, isawaitable
from time import perf_counter, process_time
from typing import TYPE_CHECKING

from graphql import GraphQLError

from gqlnb.document.document import Document
from gqlnb.document.syntax import parse_source
from gqlnb.document.variables import bind_variables
from gqlnb.engine.execution_budget import ExecutionBudget
from gqlnb.engine.schema import Schema, get_adapter
from gqlnb.engine.schema_adapters import is_schema
from gqlnb.errors import Problem, QueryError, ServerError, sanitize_text
from gqlnb.http.handler import RESOLVER_EXCEPTIONS, remove_hints
from gqlnb.http.messages import PersistedQueries, PersistedQueryError, Request, Response
from gqlnb.result.result import Result
from gqlnb.server.scheduling import WAIT_SECONDS, RunOutcome, Scheduler, StallWatchdog
from gqlnb.server.worker_pool import (
    MAX_THREADS,
    HangingError,
    NoThreadError,
    WorkerPool,
    is_cancelled,
)

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from gqlnb.http.server_rules import ServerRules
    from gqlnb.limits import Limits
    from gqlnb.server.scheduling import KnownRequest
    from gqlnb.server.worker_pool import HangingCall

# Seconds for an operation to reach its own time limit, before it is abandoned.
_DEADLINE_SLACK = 0.25
_SUSPENDABLE = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
REQUEST_ERRORS = (QueryError, PersistedQueryError, NoThreadError)  # nothing was executed
_LOG = logging.getLogger("gqlnb")


def adopt_schema(schema: object) -> Schema:
    """Return a Schema; schema objects of other libraries are adopted.

    Raises
    ------
    ServerError
        If it is neither a Schema nor a schema object of a known library.
    SchemaError
        If it is such an object, and not valid.
    """
    if isinstance(schema, Schema) or is_schema(schema):
        return Schema.adopt(schema)
    message = (
        f"Only a gqlnb.Schema can be served; got {sanitize_text(type(schema).__name__, 80)}. "
        f"Make one with: Schema('type Query {{ hello: String }}', {{'Query': {{'hello': f}}}}), "
        "or give a schema object of graphql-core, Strawberry, Ariadne or Graphene."
    )
    raise ServerError(message)


def _read_clocks() -> tuple[float, float, float, float]:
    """Return seconds, CPU seconds of the thread and of the process, and its voluntary waits."""
    # Linux alone counts the waits of a thread; elsewhere slow runs and stalls have to do.
    scope = getattr(resource, "RUSAGE_THREAD", None)
    waits = resource.getrusage(scope).ru_nvcsw if scope is not None else 0
    return perf_counter(), time.thread_time(), process_time(), waits


class RequestExecutor:
    """Runs requests on a schema.

    Parsing, validation and plain resolvers run in a worker thread until a request has proven fast
    (:mod:`gqlnb.server.scheduling`); ``async`` resolvers are awaited on the caller's loop. An
    operation with a hanging resolver is abandoned, and answered with an error.

    Parameters
    ----------
    schema
        The schema.
    rules
        The rules of the server.

    Attributes
    ----------
    adapter
        Executes the parsed documents of the schema.
    pool
        The threads in which it is called.
    """

    def __init__(self, schema: Schema, rules: ServerRules) -> None:
        self.schema, self.rules = schema, rules
        self.adapter = get_adapter(schema)
        # Each server has its own threads: those of another may hang.
        self.pool = WorkerPool()
        self.scheduler = Scheduler(self.adapter)
        self.persisted_queries = PersistedQueries()
        self._watchdog = StallWatchdog(self.scheduler.record_stall)

    async def __call__(self, request: Request) -> Response:
        """Run a request."""
        budget, task = self.create_budget(), asyncio.current_task()
        try:
            if request.query_hash is not None or request.http is not None:
                request = await self.prepare_request(request)
            done = await self.start_request(request, budget)
            if isawaitable(done):
                done = await _await_within_budget(budget, done)
        except HangingError:
            return self._build_timeout_response(request, budget)
        except REQUEST_ERRORS as error:
            return self.build_refusal(request, error)
        except BaseException as error:  # noqa: BLE001 - raised again, wrapped
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            # Closed from outside, the coroutine is no longer run by its task.
            if isinstance(error, GeneratorExit) and _find_current_task() is not task:
                raise
            raise _wrap_exception(error)  # noqa: B904 - it has its cause
        return done if isinstance(done, Response) else build_response(done)

    async def prepare_request(self, request: Request) -> Request:
        """Return a request with the text of a persisted query, and the context of its resolvers.

        Raises
        ------
        PersistedQueryError
            If its hash is unknown or wrong.
        """
        if request.query_hash is not None:
            text = self.persisted_queries.resolve(request.query, request.query_hash)
            request = replace(request, query=text)
        make_context = self.rules.context
        if request.http is None or make_context is None or request.context is not None:
            return request
        return replace(request, context=await self.pool.call_function(make_context, request.http))

    async def start_request(
        self, request: Request, budget: ExecutionBudget
    ) -> Result | Awaitable[Result] | Response:
        """Run the plain resolvers of a request, on the loop or in a thread."""
        # A context may make a fast operation slow, and its function runs in a thread anyway.
        known = None if request.http is not None else self.scheduler.find_known(request.raw)
        if known is not None and known.pending_runs:
            return known.pending_runs.pop()
        if known is not None and known.is_fast:
            return self.run_inline(known, budget)
        seconds = None if budget.seconds is None else budget.seconds + _DEADLINE_SLACK
        done = await self.pool.run(partial(self._run_in_thread, request, budget), seconds)
        if isinstance(done, Response):
            return done
        # An execution that was stopped may have been so before its first resolver: it proves
        # nothing about their speed.
        is_complete = budget.reason is None and request.http is None
        if is_complete and isinstance(done.outcome, Result):
            self.scheduler.record_thread_run(request, done)
        return done.outcome

    def _run_in_thread(self, request: Request, budget: ExecutionBudget) -> RunOutcome | Response:
        """Parse and validate a request, and run its plain resolvers."""
        text, name, limits = request.query, request.operation_name, self.rules.limits
        budget.restart()
        try:
            # Before validation: a mutation by GET is a 405 even if it is invalid.
            if request.safe and _find_operation_kind(text, name, limits) != "query":
                return Response(405, operation=name)
            document = self.adapter.get_document(
                text, name, limits, introspection=self.rules.access.introspection
            )
            self.pool.claim_fields(document)
            clocks = _read_clocks()
            result = self.adapter.execute_document(
                document,
                bind_variables(document, request.variables),
                request.context,
                budget=budget,
                extensions=request.extensions,
            )
        except QueryError as error:
            return self.build_refusal(request, error)
        spent = [now - before for now, before in zip(_read_clocks(), clocks, strict=True)]
        seconds, busy, all_busy, switches = spent
        # Idle while other threads compute, it may have waited for the interpreter only.
        has_blocked = switches > 0 and seconds - all_busy > WAIT_SECONDS
        return RunOutcome(result, document, seconds, seconds - busy, has_blocked)

    def build_refusal(self, request: Request, error: Exception) -> Response:
        """Return the response to a request that was not executed, by one of `REQUEST_ERRORS`."""
        errors: list[dict[str, object]]
        if isinstance(error, PersistedQueryError):
            errors, status = [error.error], 422
        elif isinstance(error, NoThreadError):
            errors, status = [{"message": str(error)}], 503
        else:
            problems = getattr(error, "problems", ()) or (Problem(str(error)),)
            errors, status = [problem.formatted for problem in problems], 422
            if not self.rules.access.hints:
                errors = [remove_hints(one) for one in errors]
            if self.rules.access.profile == "draft" and not is_parsable(
                request.query, self.rules.limits
            ):
                status = 400
        return Response(status, members={"errors": errors}, operation=request.operation_name)

    def run_inline(
        self, known: KnownRequest, budget: ExecutionBudget
    ) -> Result | Awaitable[Result]:
        """Run the plain resolvers of a request that has proven fast, on the loop."""
        watchdog = self._watchdog
        watchdog.run_number += 1
        watchdog.running = known
        if not watchdog.is_awake:
            watchdog.wake()
        began = perf_counter()
        try:
            return self.adapter.execute_document(
                known.document, known.variables, budget=budget, extensions=known.extensions
            )
        finally:
            watchdog.running = None
            known.record_loop_run(perf_counter() - began)

    def list_hanging(self) -> list[HangingCall]:
        """Return the calls that run for longer than a second, the oldest first."""
        return sorted(self.pool.list_hanging() + self._watchdog.list_hanging())

    def close(self) -> None:
        """End the threads; a request that comes later starts new ones."""
        self.pool.close()
        self._watchdog.close()

    def _build_timeout_response(self, request: Request, budget: ExecutionBudget) -> Response:
        """Log an operation that hangs in a thread or was cancelled, and return its error."""
        budget.stop()  # no further resolver runs when the hanging one returns
        name = request.operation_name
        _LOG.warning(
            "Operation %s ran for more than %g s. Worker threads that hang: %d, of at most %d.",
            sanitize_text(name, 80) if name else "without a name",
            budget.seconds,
            len(self.pool.list_hanging()),
            MAX_THREADS,
        )
        members = {"errors": [{"message": budget.reason}], "data": None}
        return Response(200, members=members, operation=name)

    def create_budget(self) -> ExecutionBudget:
        """Return the budget of one operation."""
        return ExecutionBudget(self.rules.limits.fields, self.rules.limits.seconds)


class StrayError(Exception):
    """A resolver raised a BaseException, such as CancelledError; it is the cause."""


def _wrap_exception(error: BaseException) -> BaseException:
    """Return an error that ends the request only: not the task, the loop or the server."""
    # A CancelledError or GeneratorExit of a resolver would look like one of our own task.
    if isinstance(error, RESOLVER_EXCEPTIONS):
        return error
    wrapper = StrayError(f"A resolver raised {type(error).__name__}.")
    wrapper.__cause__ = error
    return wrapper


def _find_current_task() -> asyncio.Task[object] | None:
    """Return the running task; None outside of a loop."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


async def _await_within_budget(budget: ExecutionBudget, awaitable: Awaitable[Result]) -> Result:
    """Await ``async`` resolvers; cancel them and raise a HangingError at the time limit."""
    if budget.seconds is None:
        return await awaitable
    deadline = asyncio.timeout(budget.deadline - budget.clock() + _DEADLINE_SLACK)
    try:
        async with deadline:
            return await awaitable
    except TimeoutError:
        if not deadline.expired():
            raise
    raise HangingError


def build_response(result: Result) -> Response:
    """Return the response with a result, to be encoded."""
    document = result.document
    name = document.name if document is not None else None
    members: dict[str, object] = {"errors": list(result.errors)} if result.errors else {}
    members["data"] = result.data
    if result.extensions:
        members["extensions"] = dict(result.extensions)
    for cause in result.causes:
        if cause is not None:
            _clear_callers(cause)
    return Response(
        200,
        members=members,
        causes=result.causes,
        operation=name,
        is_json_safe=document is not None and document.has_builtin_leaves,
    )


# A traceback keeps the frames of all callers alive. Those of the engine hold the request and the
# result, and by it the exception itself: such a cycle, with variables of megabytes, would wait for
# a collection of the oldest generation, which hundreds of requests do not start.
def _clear_callers(error: BaseException) -> None:
    """Clear the locals of the functions that called the resolver and have ended."""
    frame = error.__traceback__ and error.__traceback__.tb_frame  # the one that caught it
    while frame is not None and not frame.f_code.co_flags & _SUSPENDABLE:
        try:
            frame.clear()
        except RuntimeError:  # it is running
            return
        frame = frame.f_back


@lru_cache(maxsize=64)
def _find_operation_kind(text: str, operation: str | None, limits: Limits) -> str:
    """Return ``"query"``, ``"mutation"`` or ``"subscription"``.

    Raises
    ------
    QueryError
        If the text can't be parsed, asks for too much, or has no such operation.
    """
    return Document.parse(text, None, operation, limits).kind


def is_parsable(text: str, limits: Limits) -> bool:
    """Return whether a document has no syntax error."""
    try:
        parse_source(text, no_location=True, max_tokens=limits.tokens)
    except GraphQLError:
        return False
    return True

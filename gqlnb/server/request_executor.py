"""Execution of requests on a schema: in a worker thread or on the event loop, with a time limit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from functools import lru_cache
from inspect import isawaitable
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, Protocol, cast

from graphql import GraphQLError

from gqlnb.document.document import Document
from gqlnb.document.syntax import parse_source
from gqlnb.document.variables import bind_variables
from gqlnb.engine.execution_budget import ExecutionBudget
from gqlnb.engine.leaf_types import has_only_builtin_leaves
from gqlnb.errors import Problem, QueryError, ServerError, sanitize_text
from gqlnb.http.handler import RESOLVER_EXCEPTIONS
from gqlnb.http.messages import Request, Response
from gqlnb.http.response_encoder import remove_hints
from gqlnb.http.server_rules import Access
from gqlnb.result.result import Result
from gqlnb.server import scheduling
from gqlnb.server.scheduling import RunOutcome, Scheduler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.document.limits import Limits
    from gqlnb.server.scheduling import KnownRequest

__all__ = [
    "Executable",
    "RequestExecutor",
    "ResolverRunner",
    "adopt_schema",
    "build_response",
    "is_cancelled",
]

# Seconds for an operation to reach its own time limit, before it is abandoned.
_DEADLINE_SLACK = 0.25
_LOG = logging.getLogger("gqlnb")


class Executable(Protocol):
    """An object that can be served: a Schema, or one with these two methods."""

    def parse_document(
        self,
        text: str,
        operation: str | None = None,
        *,
        limits: Limits | None = None,
        introspection: bool = True,
    ) -> Document:
        """Return the parsed document, validated against the schema."""

    def execute_document(
        self,
        document: Document,
        variables: Mapping[str, Any],
        *,
        budget: ExecutionBudget | None = None,
    ) -> Result | Awaitable[Result]:
        """Run the plain resolvers; return a Result, or an awaitable of one."""


def adopt_schema(schema: Any) -> Executable:
    """Return an executable schema; schema objects of other libraries are adopted.

    Raises
    ------
    ServerError
        If it is neither a Schema nor a schema object of a known library.
    SchemaError
        If it is such an object, and not valid.
    """
    from gqlnb.engine.schema import Schema
    from gqlnb.engine.schema_adapters import is_schema

    if is_schema(schema):
        return Schema.adopt(schema)
    if callable(getattr(schema, "execute_document", None)) and not isinstance(schema, type):
        return schema  # type: ignore[no-any-return]
    message = (
        f"Only a gqlnb.Schema can be served; got {sanitize_text(type(schema).__name__, 80)}. "
        f"Make one with: Schema('type Query {{ hello: String }}', {{'Query': {{'hello': f}}}}), "
        "or give a schema object of graphql-core, Strawberry, Ariadne or Graphene."
    )
    raise ServerError(message)


class ResolverRunner:
    """The synchronous part of a request: parsing, validation and plain resolvers.

    Parameters
    ----------
    schema
        The schema.
    limits
        Limits of documents and of their execution; None for none.
    access
        The access rules: introspection, hints and profile.
    """

    __slots__ = ("access", "limits", "schema")

    def __init__(self, schema: Executable, limits: Limits | None, access: Access) -> None:
        self.schema, self.limits, self.access = schema, limits, access

    def __call__(
        self, request: Request, budget: ExecutionBudget | None = None
    ) -> RunOutcome | Response:
        """Run the plain resolvers within a budget; return a Response for an invalid request."""
        text, name = request.query, request.operation_name
        try:
            # Before validation: a mutation by GET is a 405 even if it is invalid.
            if request.safe and _find_operation_kind(text, name, self.limits) != "query":
                return Response(405, operation=name)
            document = self.schema.parse_document(
                text, name, limits=self.limits, introspection=self.access.introspection
            )
            began, busy = perf_counter(), thread_time()
            variables = bind_variables(document, request.variables)
            result = self.schema.execute_document(document, variables, budget=budget)
        except QueryError as error:
            return self.build_refusal(request, error)
        except BaseException as error:
            raise _wrap_exception(error)  # noqa: B904 - it has its cause
        seconds = perf_counter() - began
        return RunOutcome(result, document, seconds, seconds - (thread_time() - busy))

    def build_refusal(self, request: Request, error: QueryError) -> Response:
        """Return the response to an invalid request."""
        problems = error.problems or (Problem(str(error)),)
        errors = [problem.formatted for problem in problems]
        if not self.access.hints:
            errors = [remove_hints(it) for it in errors]
        status = 422
        if self.access.profile == "draft" and not is_parsable(request.query, self.limits):
            status = 400
        return Response(status, members={"errors": errors}, operation=request.operation_name)


class RequestExecutor:
    """Runs requests on a schema.

    Parsing, validation and plain resolvers run in a worker thread until a request has proven fast
    (:mod:`gqlnb.server.scheduling`); ``async`` resolvers are awaited on the caller's loop. An
    operation with a hanging resolver is abandoned, and answered with an error.

    Parameters
    ----------
    schema
        The schema.
    limits
        Limits of documents and of their execution; None for none.
    access
        The access rules: introspection, hints and profile.
    """

    def __init__(
        self, schema: Executable, limits: Limits | None = None, access: Access | None = None
    ) -> None:
        self.runner = ResolverRunner(schema, limits, access or Access())
        self.scheduler = Scheduler(schema)
        self._seconds = None if limits is None else limits.seconds

    async def __call__(self, request: Request) -> Response:
        """Run a request."""
        budget = self.create_budget()
        try:
            done = await self.start_request(request, budget)
            if isawaitable(done):
                done = await _await_within_budget(budget, done)
        except scheduling.HangingError:
            return _build_timeout_response(request, cast("ExecutionBudget", budget))
        except QueryError as error:  # of a library that executes by itself
            return self.runner.build_refusal(request, error)
        except GeneratorExit:  # the coroutine is closed
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            raise _wrap_exception(error)  # noqa: B904 - it has its cause
        return done if isinstance(done, Response) else build_response(done)

    async def start_request(
        self, request: Request, budget: ExecutionBudget | None
    ) -> Result | Awaitable[Result] | Response:
        """Run the plain resolvers of a request, on the loop or in a thread."""
        known = self.scheduler.find_known(request.raw)
        if known is not None and known.pending_runs:
            return known.pending_runs.pop()
        if known is not None and known.speed:
            return self.run_inline(known, budget)
        seconds = None if self._seconds is None else self._seconds + _DEADLINE_SLACK
        done = await scheduling.run_in_thread(lambda: self.runner(request, budget), seconds)
        if isinstance(done, Response):
            return done
        if isinstance(done.outcome, Result):
            self.scheduler.record_thread_run(request, done)
        return done.outcome

    def run_inline(
        self, known: KnownRequest, budget: ExecutionBudget | None
    ) -> Result | Awaitable[Result]:
        """Run the plain resolvers of a request that has proven fast, on the loop."""
        began = perf_counter()
        try:
            return self.runner.schema.execute_document(
                known.document, known.variables, budget=budget
            )
        except BaseException as error:
            raise _wrap_exception(error)  # noqa: B904 - it has its cause
        finally:
            known.speed.record_loop_run(perf_counter() - began)

    def create_budget(self) -> ExecutionBudget | None:
        """Return the budget of one operation."""
        limits = self.runner.limits
        return ExecutionBudget.from_limits(limits) if limits is not None else None


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


def is_cancelled() -> bool:
    """Return whether the running task was cancelled."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


async def _await_within_budget(
    budget: ExecutionBudget | None, awaitable: Awaitable[Result]
) -> Result:
    """Await ``async`` resolvers; cancel them and raise a HangingError at the time limit."""
    if budget is None or budget.seconds is None:
        return await awaitable
    deadline = asyncio.timeout(budget.deadline - budget.clock() + _DEADLINE_SLACK)
    try:
        async with deadline:
            return await awaitable
    except TimeoutError:
        if not deadline.expired():
            raise
    raise scheduling.HangingError


def build_response(result: Result) -> Response:
    """Return the response with a result, to be encoded."""
    document = result.document
    name = document.name if document is not None else None
    members: dict[str, object] = {"errors": list(result.errors)} if result.errors else {}
    members["data"] = result.data
    if result.extensions:
        members["extensions"] = dict(result.extensions)
    return Response(
        200,
        members=members,
        causes=result.causes,
        operation=name,
        is_json_safe=document is not None and has_only_builtin_leaves(document),
    )


def _build_timeout_response(request: Request, budget: ExecutionBudget) -> Response:
    """Return the response to an operation that hangs in a thread, or was cancelled on the loop."""
    budget.stop()  # no further resolver runs when the hanging one returns
    name = request.operation_name
    _LOG.warning(
        "Operation %s ran for more than %g s. Worker threads that hang: %d, of at most %d.",
        sanitize_text(name, 80) if name else "without a name",
        budget.seconds,
        scheduling.count_hanging(),
        scheduling.MAX_THREADS,
    )
    error = {"message": budget.reason}
    return Response(200, members={"errors": [error], "data": None}, operation=name)


@lru_cache(maxsize=64)
def _find_operation_kind(text: str, operation: str | None, limits: Limits | None) -> str:
    """Return ``"query"``, ``"mutation"`` or ``"subscription"``.

    Raises
    ------
    QueryError
        If the text can't be parsed, asks for too much, or has no such operation.
    """
    return Document.parse(text, None, operation, limits).kind


def is_parsable(text: str, limits: Limits | None) -> bool:
    """Return whether a document has no syntax error."""
    try:
        parse_source(
            text, no_location=True, max_tokens=limits.tokens if limits is not None else None
        )
    except (GraphQLError, RecursionError):
        return False
    return True

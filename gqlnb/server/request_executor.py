"""From a GraphQL request to a schema and back: which thread runs what, and for how long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
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
    "Executor",
    "RequestExecutor",
    "ResolverRunner",
    "adopt_schema",
    "build_members",
    "build_response",
    "is_cancelled",
]

# Seconds an operation gets to notice by itself that its time is up, before it is answered for it.
DEADLINE_SLACK = 0.25
_LOG = logging.getLogger("gqlnb")

Executor = Callable[[Request], Awaitable[Response]]


class Executable(Protocol):
    """What can be served: a Schema, or anything that executes a document as it does."""

    def parse_document(
        self,
        text: str,
        operation: str | None = None,
        *,
        limits: Limits | None = None,
        introspection: bool = True,
    ) -> Document:
        """Return the document of a text, checked against the schema."""

    def execute_document(
        self,
        document: Document,
        variables: Mapping[str, Any],
        *,
        budget: ExecutionBudget | None = None,
    ) -> Result | Awaitable[Result]:
        """Run the plain resolvers; return a Result, or an awaitable of one."""


def adopt_schema(schema: Any) -> Executable:
    """Return what executes for `schema`: itself, or the Schema that adopts it.

    Raises
    ------
    ServerError
        If it is neither a Schema nor a schema object of a library we know; the message says how to
        make one.
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
    """What a request costs a thread: parsing, validation and plain resolvers.

    Parameters
    ----------
    schema
        What executes.
    limits
        Bounds of documents and of their execution; None for none.
    access
        Whether introspection is answered, whether errors suggest, and the profile.
    """

    __slots__ = ("access", "limits", "schema")

    def __init__(self, schema: Executable, limits: Limits | None, access: Access) -> None:
        self.schema, self.limits, self.access = schema, limits, access

    def __call__(
        self, request: Request, budget: ExecutionBudget | None = None
    ) -> RunOutcome | Response:
        """Run the plain resolvers within a budget; a Response for what is refused."""
        text, name = request.query, request.operation_name
        try:
            if request.safe and find_operation_kind(text, name, self.limits) != "query":
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
            raise wrap_exception(error)  # noqa: B904 - it knows its cause
        seconds = perf_counter() - began
        return RunOutcome(result, document, seconds, seconds - (thread_time() - busy))

    def build_refusal(self, request: Request, error: QueryError) -> Response:
        """Return what is wrong with a request, and whether its syntax is."""
        errors = format_request_errors(error)
        if not self.access.hints:
            errors = [remove_hints(error) for error in errors]
        status = 422
        if self.access.profile == "draft" and not is_parsable(request.query, self.limits):
            status = 400
        return Response(status, members={"errors": errors}, operation=request.operation_name)


class RequestExecutor:
    """Runs requests on a schema, each where it belongs.

    Parsing, validation and plain resolvers run in a worker thread until a request has proven fast
    (:mod:`gqlnb.server.scheduler`); what an ``async`` resolver returned is awaited on the loop that
    called, with all that lies below it. An operation that does not notice that its time is up,
    since one resolver hangs, is answered without it.

    Parameters
    ----------
    schema
        What executes.
    limits
        Bounds of documents and of their execution; None for none.
    access
        Whether introspection is answered, whether errors suggest, and the profile.
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
                done = await await_within_budget(budget, done)
        except scheduling.HangingError:
            return build_timeout_response(request, cast("ExecutionBudget", budget))
        except QueryError as error:  # said by a library that executes by itself
            return self.runner.build_refusal(request, error)
        except GeneratorExit:  # nobody waits any more
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            raise wrap_exception(error)  # noqa: B904 - a resolver raised it; it knows its cause
        return done if isinstance(done, Response) else build_response(done)

    async def start_request(
        self, request: Request, budget: ExecutionBudget | None
    ) -> Result | Awaitable[Result] | Response:
        """Run the plain resolvers of a request, on the loop or in a thread."""
        known = self.scheduler.find_known(request.raw)
        if known is not None and (known.pending_runs or known.speed):
            return (
                known.pending_runs.pop() if known.pending_runs else self.run_inline(known, budget)
            )
        patience = None if self._seconds is None else self._seconds + DEADLINE_SLACK
        done = await scheduling.run_in_thread(lambda: self.runner(request, budget), patience)
        if isinstance(done, Response):
            return done
        if isinstance(done.outcome, Result):
            self.scheduler.record_thread_run(request, done)
        return done.outcome

    def run_inline(
        self, known: KnownRequest, budget: ExecutionBudget | None
    ) -> Result | Awaitable[Result]:
        """Run the plain resolvers of a request that has proven fast, here."""
        began = perf_counter()
        try:
            return self.runner.schema.execute_document(
                known.document, known.variables, budget=budget
            )
        except BaseException as error:
            raise wrap_exception(error)  # noqa: B904 - it knows its cause
        finally:
            known.speed.record_loop_run(perf_counter() - began)

    def create_budget(self) -> ExecutionBudget | None:
        """Return what one operation may spend."""
        limits = self.runner.limits
        return ExecutionBudget.from_limits(limits) if limits is not None else None


class StrayError(Exception):
    """A resolver raised what is no Exception; it is the cause."""


def wrap_exception(error: BaseException) -> BaseException:
    """Return an error that ends a request and no more: not the task, the loop or the server."""
    if isinstance(error, RESOLVER_EXCEPTIONS):
        return error
    made = StrayError(f"A resolver raised {type(error).__name__}.")
    made.__cause__ = error
    return made


def is_cancelled() -> bool:
    """Tell whether somebody has cancelled the running task."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


async def await_within_budget(
    budget: ExecutionBudget | None, awaitable: Awaitable[Result]
) -> Result:
    """Await what ``async`` resolvers have begun, as long as the budget lasts.

    Raises
    ------
    HangingError
        If that is not long enough; they are cancelled then.
    """
    if budget is None or budget.seconds is None:
        return await awaitable
    deadline = asyncio.timeout(budget.deadline - budget.clock() + DEADLINE_SLACK)
    try:
        async with deadline:
            return await awaitable
    except TimeoutError:
        if not deadline.expired():
            raise
    raise scheduling.HangingError


def build_response(result: Result) -> Response:
    """Return a result as an answer that is still to be written."""
    document = result.document
    name = document.name if document is not None else None
    return Response(
        200,
        members=build_members(result),
        causes=result.causes,
        operation=name,
        is_json_safe=document is not None and has_only_builtin_leaves(document),
    )


def build_timeout_response(request: Request, budget: ExecutionBudget) -> Response:
    """Answer for an operation that hangs in a thread, or was cancelled on the loop."""
    budget.stop()  # when the resolver that hangs comes back, nothing else is run
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
def find_operation_kind(text: str, operation: str | None, limits: Limits | None) -> str:
    """Return ``"query"``, ``"mutation"`` or ``"subscription"``.

    Raises
    ------
    QueryError
        If the text can't be parsed, asks for too much, or has no such operation.
    """
    return Document.parse(text, None, operation, limits).kind


def is_parsable(text: str, limits: Limits | None) -> bool:
    """Tell whether a document has no error of syntax."""
    try:
        parse_source(
            text, no_location=True, max_tokens=limits.tokens if limits is not None else None
        )
    except (GraphQLError, RecursionError):
        return False
    return True


def build_members(result: Result) -> dict[str, Any]:
    """Return a result as the members of a GraphQL response, errors first where there are any."""
    found: dict[str, Any] = {"data": result.data}
    if result.errors:
        found = {"errors": list(result.errors), "data": result.data}
    if result.extensions:
        found["extensions"] = dict(result.extensions)
    return found


def format_request_errors(error: QueryError) -> list[dict[str, Any]]:
    """Return what is wrong with a request in GraphQL's form, the hint as an extension."""
    return [problem.formatted for problem in error.problems or (Problem(str(error)),)]

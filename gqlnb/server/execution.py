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

from gqlnb.engine.budget import Budget
from gqlnb.engine.leaves import only_builtin_leaves
from gqlnb.errors import Problem, QueryError, ServerError, plain
from gqlnb.model.document import Document
from gqlnb.model.result import Result
from gqlnb.model.syntax import read
from gqlnb.model.variables import bind
from gqlnb.server import workers
from gqlnb.server.placement import Done, Placement
from gqlnb.wire.access import Access
from gqlnb.wire.masking import without_hints
from gqlnb.wire.protocol import FAULTS
from gqlnb.wire.request import Request
from gqlnb.wire.response import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.model.limits import Limits
    from gqlnb.server.placement import Known

__all__ = [
    "Executable",
    "Execution",
    "Executor",
    "Work",
    "cancelled",
    "members",
    "response",
    "servable",
]

# Seconds an operation gets to notice by itself that its time is up, before it is answered for it.
SLACK = 0.25
_LOG = logging.getLogger("gqlnb")

Executor = Callable[[Request], Awaitable[Response]]


class Executable(Protocol):
    """What can be served: a Schema, or anything that executes a document as it does."""

    def document(
        self,
        text: str,
        operation: str | None = None,
        *,
        limits: Limits | None = None,
        introspection: bool = True,
    ) -> Document:
        """Return the document of a text, checked against the schema."""

    def start(
        self,
        document: Document,
        variables: Mapping[str, Any],
        *,
        budget: Budget | None = None,
    ) -> Result | Awaitable[Result]:
        """Run the plain resolvers; return a Result, or an awaitable of one."""


def servable(schema: Any) -> Executable:
    """Return what executes for `schema`: itself, or the Schema that adopts it.

    Raises
    ------
    ServerError
        If it is neither a Schema nor a schema object of a library we know; the message says how to
        make one.
    SchemaError
        If it is such an object, and not valid.
    """
    from gqlnb.engine.adopting import is_schema
    from gqlnb.engine.schema import Schema

    if is_schema(schema):
        return Schema.adopt(schema)
    if callable(getattr(schema, "start", None)) and not isinstance(schema, type):
        return schema  # type: ignore[no-any-return]
    message = (
        f"Only a gqlnb.Schema can be served; got {plain(type(schema).__name__, 80)}. "
        f"Make one with: Schema('type Query {{ hello: String }}', {{'Query': {{'hello': f}}}}), "
        "or give a schema object of graphql-core, Strawberry, Ariadne or Graphene."
    )
    raise ServerError(message)


class Work:
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

    def __call__(self, request: Request, budget: Budget | None = None) -> Done | Response:
        """Run the plain resolvers within a budget; a Response for what is refused."""
        text, name = request.query, request.operation_name
        try:
            if request.safe and kind_of(text, name, self.limits) != "query":
                return Response(405, operation=name)
            document = self.schema.document(
                text, name, limits=self.limits, introspection=self.access.introspection
            )
            began, busy = perf_counter(), thread_time()
            variables = bind(document, request.variables)
            result = self.schema.start(document, variables, budget=budget)
        except QueryError as error:
            return self.refused(request, error)
        except BaseException as error:
            raise tamed(error)  # noqa: B904 - it knows its cause
        seconds = perf_counter() - began
        return Done(result, document, seconds, seconds - (thread_time() - busy))

    def refused(self, request: Request, error: QueryError) -> Response:
        """Return what is wrong with a request, and whether its syntax is."""
        errors = request_errors(error)
        if not self.access.hints:
            errors = [without_hints(error) for error in errors]
        status = 422
        if self.access.profile == "draft" and not readable(request.query, self.limits):
            status = 400
        return Response(status, members={"errors": errors}, operation=request.operation_name)


class Execution:
    """Runs requests on a schema, each where it belongs.

    Parsing, validation and plain resolvers run in a worker thread until a request has proven fast
    (:mod:`gqlnb.server.placement`); what an ``async`` resolver returned is awaited on the loop that
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
        self.work = Work(schema, limits, access or Access())
        self.placement = Placement(schema)
        self._seconds = None if limits is None else limits.seconds

    async def __call__(self, request: Request) -> Response:
        """Run a request."""
        budget = self.budget()
        try:
            done = await self.begin(request, budget)
            if isawaitable(done):
                done = await within(budget, done)
        except workers.HangingError:
            return late(request, cast("Budget", budget))
        except QueryError as error:  # said by a library that executes by itself
            return self.work.refused(request, error)
        except GeneratorExit:  # nobody waits any more
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and cancelled():
                raise
            raise tamed(error)  # noqa: B904 - a resolver raised it; it knows its cause
        return done if isinstance(done, Response) else response(done)

    async def begin(
        self, request: Request, budget: Budget | None
    ) -> Result | Awaitable[Result] | Response:
        """Run the plain resolvers of a request, on the loop or in a thread."""
        known = self.placement.known(request.raw)
        if known is not None and (known.begun or known.proof):
            return known.begun.pop() if known.begun else self.at_once(known, budget)
        patience = None if self._seconds is None else self._seconds + SLACK
        done = await workers.run(lambda: self.work(request, budget), patience)
        if isinstance(done, Response):
            return done
        if isinstance(done.outcome, Result):
            self.placement.learn(request, done)
        return done.outcome

    def at_once(self, known: Known, budget: Budget | None) -> Result | Awaitable[Result]:
        """Run the plain resolvers of a request that has proven fast, here."""
        began = perf_counter()
        try:
            return self.work.schema.start(known.document, known.variables, budget=budget)
        except BaseException as error:
            raise tamed(error)  # noqa: B904 - it knows its cause
        finally:
            known.proof.kept(perf_counter() - began)

    def budget(self) -> Budget | None:
        """Return what one operation may spend."""
        limits = self.work.limits
        return Budget.of(limits) if limits is not None else None


class StrayError(Exception):
    """A resolver raised what is no Exception; it is the cause."""


def tamed(error: BaseException) -> BaseException:
    """Return an error that ends a request and no more: not the task, the loop or the server."""
    if isinstance(error, FAULTS):
        return error
    made = StrayError(f"A resolver raised {type(error).__name__}.")
    made.__cause__ = error
    return made


def cancelled() -> bool:
    """Tell whether somebody has cancelled the running task."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


async def within(budget: Budget | None, awaitable: Awaitable[Result]) -> Result:
    """Await what ``async`` resolvers have begun, as long as the budget lasts.

    Raises
    ------
    HangingError
        If that is not long enough; they are cancelled then.
    """
    if budget is None or budget.seconds is None:
        return await awaitable
    deadline = asyncio.timeout(budget.deadline - budget.clock() + SLACK)
    try:
        async with deadline:
            return await awaitable
    except TimeoutError:
        if not deadline.expired():
            raise
    raise workers.HangingError


def response(result: Result) -> Response:
    """Return a result as an answer that is still to be written."""
    document = result.document
    name = document.name if document is not None else None
    return Response(
        200,
        members=members(result),
        causes=result.causes,
        operation=name,
        sound=document is not None and only_builtin_leaves(document),
    )


def late(request: Request, budget: Budget) -> Response:
    """Answer for an operation that hangs in a thread, or was cancelled on the loop."""
    budget.stop()  # when the resolver that hangs comes back, nothing else is run
    name = request.operation_name
    _LOG.warning(
        "Operation %s ran for more than %g s. Worker threads that hang: %d, of at most %d.",
        plain(name, 80) if name else "without a name",
        budget.seconds,
        workers.hanging(),
        workers.ALL,
    )
    error = {"message": budget.reason}
    return Response(200, members={"errors": [error], "data": None}, operation=name)


@lru_cache(maxsize=64)
def kind_of(text: str, operation: str | None, limits: Limits | None) -> str:
    """Return ``"query"``, ``"mutation"`` or ``"subscription"``.

    Raises
    ------
    QueryError
        If the text can't be parsed, asks for too much, or has no such operation.
    """
    return Document.parse(text, None, operation, limits).kind


def readable(text: str, limits: Limits | None) -> bool:
    """Tell whether a document has no error of syntax."""
    try:
        read(text, no_location=True, max_tokens=limits.tokens if limits is not None else None)
    except (GraphQLError, RecursionError):
        return False
    return True


def members(result: Result) -> dict[str, Any]:
    """Return a result as the members of a GraphQL response, errors first where there are any."""
    found: dict[str, Any] = {"data": result.data}
    if result.errors:
        found = {"errors": list(result.errors), "data": result.data}
    if result.extensions:
        found["extensions"] = dict(result.extensions)
    return found


def request_errors(error: QueryError) -> list[dict[str, Any]]:
    """Return what is wrong with a request in GraphQL's form, the hint as an extension."""
    return [problem.formatted for problem in error.problems or (Problem(str(error)),)]

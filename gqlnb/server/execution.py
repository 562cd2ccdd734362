"""From a GraphQL request to a schema and back: which thread runs what."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol

from gqlnb.errors import Problem, QueryError, ServerError, plain
from gqlnb.server import workers
from gqlnb.wire.response import Response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from gqlnb.model.result import Result
    from gqlnb.wire.protocol import Trace
    from gqlnb.wire.request import Request

__all__ = ["Executable", "Executor", "executor", "servable"]


class Executable(Protocol):
    """What can be served: a Schema, or anything that begins an operation as it does."""

    def begin(
        self, text: str, variables: Mapping[str, Any] | None = None, *, operation: str | None = None
    ) -> Any:
        """Run the plain resolvers; return a Result, or an awaitable of one."""


class Executor(Protocol):
    """Runs a request, and notes in a trace what its operation is called."""

    def __call__(self, request: Request, trace: Trace | None = None) -> Awaitable[Response]:
        """Run a request."""


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
    if callable(getattr(schema, "begin", None)) and not isinstance(schema, type):
        return schema  # type: ignore[no-any-return]
    message = (
        f"Only a gqlnb.Schema can be served; got {plain(type(schema).__name__, 80)}. "
        f"Make one with: Schema('type Query {{ hello: String }}', {{'Query': {{'hello': f}}}}), "
        "or give a schema object of graphql-core, Strawberry, Ariadne or Graphene."
    )
    raise ServerError(message)


def executor(schema: Executable) -> Executor:
    """Return the function that runs a request on a schema.

    Parsing, validation and plain resolvers run in a worker thread; what an ``async`` resolver
    returned is awaited on the loop that called, with all that lies below it.
    """

    async def execute(request: Request, trace: Trace | None = None) -> Response:
        try:
            result = await workers.run(
                lambda: schema.begin(
                    request.query, request.variables, operation=request.operation_name
                )
            )
            if isawaitable(result):
                result = await result
        except QueryError as error:
            return Response(200, members={"errors": request_errors(error)})
        if trace is not None and result.document is not None:
            trace.operation = result.document.name
        return Response(200, members=members(result), causes=result.causes)

    return execute


def members(result: Result) -> dict[str, Any]:
    """Return a result as the members of a GraphQL response, errors first where there are any."""
    errors = {"errors": list(result.errors)} if result.errors else {}
    extensions = {"extensions": dict(result.extensions)} if result.extensions else {}
    return errors | {"data": result.data} | extensions


def request_errors(error: QueryError) -> list[dict[str, Any]]:
    """Return what is wrong with a request in GraphQL's form, the hint as an extension."""
    return [formatted(problem) for problem in error.problems or (Problem(str(error)),)]


def formatted(problem: Problem) -> dict[str, Any]:
    """Return one problem in GraphQL's form."""
    shown: dict[str, Any] = {"message": problem.message}
    if problem.line is not None and problem.column is not None:
        shown["locations"] = [{"line": problem.line, "column": problem.column}]
    if problem.hint:
        shown["extensions"] = {"hint": problem.hint}
    return shown

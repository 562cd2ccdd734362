"""Interoperation with the library gql, in both directions."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from graphql import ExecutionResult, GraphQLSchema, print_ast, separate_operations

from gqlnb import background
from gqlnb.client.credentials import strip_url
from gqlnb.client.transports import return_or_raise
from gqlnb.document.upload import Upload
from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    OptionError,
    QueryError,
    TargetError,
    TransportError,
    sanitize_text,
)
from gqlnb.http.messages import Request, Response
from gqlnb.optional_imports import import_optional
from gqlnb.redact import redact_text, strip_traceback
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from gqlnb.client.batches import BatchItem, BatchOutcome


def is_gql_client(target: object) -> bool:
    """Return whether an object is a client of gql, without importing gql."""
    return any(
        kind.__name__ == "Client" and kind.__module__.partition(".")[0] == "gql"
        for kind in type(target).__mro__
    )


class GqlClientTransport:
    """Sends through a client of gql 4, which connects and closes for each request.

    Parameters
    ----------
    client
        The client.

    Raises
    ------
    TargetError
        If it belongs to an older gql.
    """

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - gql is optional
        kind: Any = getattr(sys.modules.get("gql"), "GraphQLRequest", None)
        if kind is None:
            msg = "gql 4 or later is required. Upgrade gql, or pass the URL instead."
            raise TargetError(msg)
        self._request_class = make_verbatim_request_class(kind)
        self._client = client
        self._lock = Lock()  # gql's transports are not thread-safe
        url = getattr(client.transport, "url", None)
        self.source = strip_url(str(url)) if url is not None else "gql client"

    @property
    def schema(self) -> GraphQLSchema | None:
        """The schema that the client was given or has fetched."""
        return self._client.schema  # type: ignore[no-any-return]

    def send(self, request: Request) -> Response:
        """Send a request and wait for the response.

        Raises
        ------
        TransportError, AnswerError
            If there is no usable response.
        """
        if hasattr(self._client.transport, "subscribe"):  # asynchronous transports only
            return background.run(self.asend(request))
        with self._lock:
            try:
                answer = self._client.execute_sync(
                    self._build_gql_request(request), **EXECUTE_OPTIONS
                )
            except Exception as error:  # noqa: BLE001 - of gql, or of any library that it uses
                failure = self._convert_error(error)
            else:
                return convert_gql_result(answer)
        return return_or_raise(failure)

    async def asend(self, request: Request) -> Response:
        """Send a request and await the response.

        Raises
        ------
        TransportError, AnswerError
            If there is no usable response.
        """
        if not hasattr(self._client.transport, "subscribe"):
            return await background.run_in_thread(lambda: self.send(request))
        try:
            answer = await self._client.execute_async(
                self._build_gql_request(request), **EXECUTE_OPTIONS
            )
        except Exception as error:  # noqa: BLE001 - of gql, or of any library that it uses
            failure = self._convert_error(error)
        else:
            return convert_gql_result(answer)
        return return_or_raise(failure)

    def _build_gql_request(self, request: Request) -> Any:  # noqa: ANN401 - as above
        gql_request = self._request_class(
            request.query,
            variable_values=request.variables or None,
            operation_name=request.operation_name,
        )
        gql_request.text = request.query
        return gql_request

    def _convert_error(self, error: Exception) -> Response | GqlnbError:
        """Return the response in an exception of gql, or the corresponding error."""
        # By name: gql is optional, and its exceptions are not imported for this.
        kind = type(error).__name__
        if kind == "TransportQueryError":
            return convert_gql_result(error)
        status = getattr(error, "code", None)
        if isinstance(status, int):
            return Response(status)
        text = redact_text(sanitize_text(error, 200))
        if kind == "TransportProtocolError":
            return AnswerError(f"{self.source}: {text}")
        return TransportError(f"{self.source}: {kind}: {text}")

    def close(self) -> None:
        """Do nothing: gql closes after each request."""


GqlRequest: TypeAlias = Any  # a ``GraphQLRequest`` of gql, which is optional
GqlnbClient: TypeAlias = Any  # a gqlnb.Client, whose module imports this one
EXECUTE_OPTIONS = {
    "serialize_variables": False,
    "parse_result": False,
    "get_execution_result": True,
}


@cache
def make_verbatim_request_class(kind: Any) -> Any:  # noqa: ANN401 - gql is optional
    """Return a subclass of gql's requests that sends the original text."""
    # gql prints the document anew, so errors would point at other lines.

    def payload(self: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
        return {**kind.payload.fget(self), "query": self.text}

    return type("GraphQLRequest", (kind,), {"payload": property(payload)})


def convert_gql_result(answer: Any) -> Response:  # noqa: ANN401 - gql is optional
    """Return the response for a result of gql."""
    errors = [getattr(error, "formatted", error) for error in answer.errors or ()]
    members: dict[str, Any] = {}
    # gql does not distinguish null from absent data; an error with a path belongs to an execution.
    if answer.data is not None or (errors and any(error.get("path") for error in errors)):
        members["data"] = answer.data
    members.update({k: v for k, v in (("errors", errors), ("extensions", answer.extensions)) if v})
    return Response(200, members=members)


class _GqlnbTransport:
    """The part that both transports have."""

    def __init__(self, client: GqlnbClient) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client!r})"


# gql checks for its two abstract base classes. Registering as a virtual subclass avoids importing
# gql.
# Connecting and closing do nothing: the connections belong to the client, which stays open.
class GqlTransport(_GqlnbTransport):
    """A client as a transport of gql.

    Parameters
    ----------
    client
        The client, with its token, its limits and its recording.
    """

    def connect(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def execute(self, request: GqlRequest, *, upload_files: bool = False) -> ExecutionResult:  # noqa: ARG002 - gql's signature
        """Execute a request of gql.

        Parameters
        ----------
        request
            A ``GraphQLRequest``.
        upload_files
            As gql's own transports have it; files are sent in any case.

        Raises
        ------
        gql.transport.exceptions.TransportError
            If there is no response; the same classes as of gql's own transports.
        """
        try:
            outcome: BatchOutcome = self._client.execute(
                *read_gql_request(request), operation=request.operation_name
            )
        except GqlnbError as error:
            outcome = strip_traceback(error)
        return convert_outcome(outcome)

    def execute_batch(self, requests: Sequence[GqlRequest]) -> list[ExecutionResult]:
        """Execute requests of gql concurrently, and return their results in order."""
        items = [isolate_operation(request) for request in requests]
        return [
            convert_outcome(item) for item in self._client.execute_many(items, return_errors=True)
        ]


class AsyncGqlTransport(_GqlnbTransport):
    """A client as an asynchronous transport of gql, which subscriptions need.

    Parameters
    ----------
    client
        The client that sends the requests.
    """

    async def connect(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    async def execute(self, request: GqlRequest, *, upload_files: bool = False) -> ExecutionResult:  # noqa: ARG002 - gql's signature
        """Asynchronous version of :meth:`GqlTransport.execute`.

        Parameters
        ----------
        request
            A ``GraphQLRequest``.
        upload_files
            As gql's own transports have it; files are sent in any case.

        Raises
        ------
        gql.transport.exceptions.TransportError
            If there is no response; the same classes as of gql's own transports.
        """
        try:
            outcome: BatchOutcome = await self._client.aexecute(
                *read_gql_request(request), operation=request.operation_name
            )
        except GqlnbError as error:
            outcome = strip_traceback(error)
        return convert_outcome(outcome)

    async def execute_batch(self, requests: Sequence[GqlRequest]) -> list[ExecutionResult]:
        """Asynchronous version of :meth:`GqlTransport.execute_batch`."""
        items = [isolate_operation(request) for request in requests]
        return [
            convert_outcome(outcome)
            for outcome in await self._client.aexecute_many(items, return_errors=True)
        ]

    async def subscribe(self, request: GqlRequest) -> AsyncGenerator[ExecutionResult, None]:
        """Yield the events of a subscription, with reconnects.

        Raises
        ------
        gql.transport.exceptions.TransportError
            If there is no stream, or it ends too early.
        """
        try:
            async with self._client.asubscribe(
                *read_gql_request(request), operation=request.operation_name
            ) as events:
                async for result in events:
                    yield convert_outcome(result)
        except GqlnbError as error:
            outcome = strip_traceback(error)
        else:
            return
        yield convert_outcome(outcome)


def make_gql_transport(
    client: GqlnbClient, *, asynchronous: bool
) -> GqlTransport | AsyncGqlTransport:
    """Return a client as a transport of gql; raise MissingExtraError if gql is not installed."""
    base: Any = import_optional("gql.transport", "gql", "ask through a client of gql")
    if asynchronous:
        base.AsyncTransport.register(AsyncGqlTransport)
        return AsyncGqlTransport(client)
    base.Transport.register(GqlTransport)
    return GqlTransport(client)


def read_gql_request(request: GqlRequest) -> tuple[str, dict[str, Any] | None]:
    """Return text and variables of a request of gql; raise OptionError if it has extensions."""
    if getattr(request, "extensions", None):
        msg = "extensions= of a GraphQLRequest are not sent by a gqlnb client. Leave them out."
        raise OptionError(msg)
    variables = request.variable_values
    return request.payload["query"], None if variables is None else replace_file_vars(variables)


def isolate_operation(request: GqlRequest) -> BatchItem:
    """Return a request of gql as an item of a batch, with its one operation."""
    text, variables = read_gql_request(request)
    if request.operation_name is None:
        return text, variables
    # A batch item has no operation name, so the document is reduced to the operation.
    parts = separate_operations(request.document)
    separate = parts.get(request.operation_name)
    return (text if separate is None else print_ast(separate)), variables


def replace_file_vars(value: Any) -> Any:  # noqa: ANN401 - values of variables
    """Return variables with an Upload in the place of each ``FileVar`` of gql."""
    if isinstance(value, dict):
        return {name: replace_file_vars(item) for name, item in value.items()}
    if isinstance(value, list):
        return [replace_file_vars(item) for item in value]
    if type(value).__name__ == "FileVar" and type(value).__module__.startswith("gql."):
        return Upload(value.f, value.filename, value.content_type)
    return value


def convert_outcome(outcome: BatchOutcome) -> ExecutionResult:
    """Return an outcome as a result of gql; raise gql's error, with ours as its cause."""
    # Errors without counterpart in gql, such as those of recordings, are raised unchanged.
    if isinstance(outcome, Result):
        errors: Any = [dict(error) for error in outcome.errors] or None
        return ExecutionResult(outcome.data, errors, dict(outcome.extensions) or None)
    if isinstance(outcome, QueryError):
        return ExecutionResult(None, format_query_error(outcome), None)
    if isinstance(outcome, (TransportError, AnswerError)):
        raise convert_to_gql_error(outcome) from outcome
    raise outcome


def format_query_error(error: QueryError) -> list[Any]:
    """Return an error in a request as the errors of a response, which gql raises."""
    errors: Any = getattr(error.result, "errors", ())
    if errors:
        return [dict(item) for item in errors]
    return [problem.formatted for problem in error.problems] or [{"message": str(error)}]


def convert_to_gql_error(error: TransportError | AnswerError) -> Exception:
    """Return the error of gql that its own transports would raise."""
    exceptions: Any = import_module("gql.transport.exceptions")
    converted: Exception
    if isinstance(error, AnswerError):
        converted = exceptions.TransportProtocolError(str(error))
    elif error.status is not None or isinstance(error, AuthError):
        converted = exceptions.TransportServerError(str(error), error.status)
    else:
        converted = exceptions.TransportConnectionFailed(str(error))
    return converted

"""Our clients as transports of the library gql: its programs, with our tokens, pace and recordings.

gql takes what is an instance of one of its two base classes. Ours are entered there when the first
is asked for (:meth:`abc.ABCMeta.register`), so that gql is not imported before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphql import ExecutionResult, print_ast, separate_operations

from gqlnb.errors import AnswerError, AuthError, GqlnbError, OptionError, QueryError, TransportError
from gqlnb.extras import need
from gqlnb.model.result import Result
from gqlnb.model.upload import Upload
from gqlnb.sealing import bare

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from gqlnb.client.batches import Item, Outcome

__all__ = ["AsyncGqlTransport", "GqlTransport", "transport_of"]


class GqlTransport:
    """A client as a transport of gql.

    What gql calls connecting and closing does nothing here: connections are the client's, which
    stays open for whoever made it.

    Parameters
    ----------
    client
        The client, with its token, its pace, its limits and its recording.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def connect(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def execute(
        self,
        request: Any,
        *,
        upload_files: bool = False,  # noqa: ARG002 - those of gql have it
    ) -> ExecutionResult:
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
            If there is no answer; which of them it is follows gql's own transports.
        """
        try:
            outcome: Outcome = self._client.execute(*asked(request), **named(request))
        except GqlnbError as error:
            outcome = bare(error)
        return given(outcome)

    def execute_batch(self, requests: Sequence[Any]) -> list[ExecutionResult]:
        """Execute requests of gql, several at a time, and return what came of them in order."""
        items = [alone(request) for request in requests]
        return [given(each) for each in self._client.execute_many(items, return_errors=True)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client!r})"


class AsyncGqlTransport:
    """A client as an asynchronous transport of gql, which alone carries subscriptions.

    Parameters
    ----------
    client
        As for :class:`GqlTransport`.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    async def connect(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    async def execute(
        self,
        request: Any,
        *,
        upload_files: bool = False,  # noqa: ARG002 - as above
    ) -> ExecutionResult:
        """Do as :meth:`GqlTransport.execute`, without blocking the running loop.

        Raises
        ------
        gql.transport.exceptions.TransportError
            As there.
        """
        try:
            outcome: Outcome = await self._client.aexecute(*asked(request), **named(request))
        except GqlnbError as error:
            outcome = bare(error)
        return given(outcome)

    async def execute_batch(self, requests: Sequence[Any]) -> list[ExecutionResult]:
        """Do as :meth:`GqlTransport.execute_batch`, without blocking the running loop."""
        items = [alone(request) for request in requests]
        return [given(each) for each in await self._client.aexecute_many(items, return_errors=True)]

    async def subscribe(self, request: Any) -> AsyncGenerator[ExecutionResult, None]:
        """Yield the events of a subscription, beginning again where its connection breaks.

        Raises
        ------
        gql.transport.exceptions.TransportError
            If there is no stream, or it ends before it is complete.
        """
        try:
            async with self._client.asubscribe(*asked(request), **named(request)) as events:
                async for result in events:
                    yield given(result)
        except GqlnbError as error:
            outcome = bare(error)
        else:
            return
        yield given(outcome)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client!r})"


def transport_of(client: Any, *, asynchronous: bool) -> Any:
    """Return a client as a transport of gql.

    Raises
    ------
    MissingExtraError
        If gql is not installed.
    """
    base: Any = need("gql.transport", "gql", "ask through a client of gql")
    if asynchronous:
        base.AsyncTransport.register(AsyncGqlTransport)
        return AsyncGqlTransport(client)
    base.Transport.register(GqlTransport)
    return GqlTransport(client)


def asked(request: Any) -> tuple[str, dict[str, Any] | None]:
    """Return text and variables of a request of gql.

    Raises
    ------
    OptionError
        If there is more in it than that.
    """
    if getattr(request, "extensions", None):
        msg = "extensions= of a GraphQLRequest are not sent by a gqlnb client. Leave them out."
        raise OptionError(msg)
    variables = request.variable_values
    return request.payload["query"], None if variables is None else with_uploads(variables)


def named(request: Any) -> dict[str, Any]:
    """Return which operation a request of gql means."""
    return {"operation": request.operation_name}


def alone(request: Any) -> Item:
    """Return a request of gql as a document of several, with no other operation in it."""
    text, variables = asked(request)
    if request.operation_name is None:
        return text, variables
    parts = separate_operations(request.document)
    found = parts.get(request.operation_name)
    return (text if found is None else print_ast(found)), variables


def with_uploads(value: Any) -> Any:
    """Return variables with an Upload in the place of each ``FileVar`` of gql."""
    if isinstance(value, dict):
        return {name: with_uploads(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_uploads(each) for each in value]
    if type(value).__name__ == "FileVar" and type(value).__module__.startswith("gql."):
        return Upload(value.f, value.filename, value.content_type)
    return value


def given(outcome: Outcome) -> ExecutionResult:
    """Return an outcome as gql has it.

    Raises
    ------
    Exception
        Where there is none: an error of gql, caused by ours. One that gql has no word for, of a
        recording say, is raised as it is.
    """
    if isinstance(outcome, Result):
        return result_of(outcome)
    if isinstance(outcome, QueryError):
        return ExecutionResult(None, refused(outcome), None)
    if isinstance(outcome, (TransportError, AnswerError)):
        raise foreign(outcome) from outcome
    raise outcome


def result_of(result: Result) -> ExecutionResult:
    """Return a result as graphql-core's."""
    errors: Any = [dict(error) for error in result.errors] or None
    return ExecutionResult(result.data, errors, dict(result.extensions) or None)


def refused(error: QueryError) -> Any:
    """Return what is wrong with a request as the errors of an answer, which gql raises."""
    said: Any = getattr(error.result, "errors", ())
    if said:
        return [dict(each) for each in said]
    return [problem.formatted for problem in error.problems] or [{"message": str(error)}]


def foreign(error: TransportError | AnswerError) -> Exception:
    """Return the error of gql that its own transports would raise."""
    known: Any = import_module("gql.transport.exceptions")
    said = str(error)
    made: Exception
    if isinstance(error, AnswerError):
        made = known.TransportProtocolError(said)
    elif error.status is not None or isinstance(error, AuthError):
        made = known.TransportServerError(said, error.status)
    else:
        made = known.TransportConnectionFailed(said)
    return made

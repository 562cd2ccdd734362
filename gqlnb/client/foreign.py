"""Asking through a client of the library gql, with whatever transport and authentication it has."""

from __future__ import annotations

import sys
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from gqlnb import runtime
from gqlnb.client.addresses import address
from gqlnb.errors import AnswerError, GqlnbError, TargetError, TransportError, plain
from gqlnb.leaks import masked
from gqlnb.wire.response import Response

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from gqlnb.wire.request import Request

__all__ = ["Gql", "is_gql"]


def is_gql(target: object) -> bool:
    """Tell whether something is a client of gql, without importing it."""
    return any(
        kind.__name__ == "Client" and kind.__module__.partition(".")[0] == "gql"
        for kind in type(target).__mro__
    )


class Gql:
    """Sends through a client of gql 4; it connects and closes for each request, as gql does.

    Parameters
    ----------
    client
        The client.

    Raises
    ------
    TargetError
        If it is of an older gql.
    """

    def __init__(self, client: Any) -> None:
        kind: Any = getattr(sys.modules.get("gql"), "GraphQLRequest", None)
        if kind is None:
            msg = "This client is of a gql before 4. Update gql, or ask the address itself."
            raise TargetError(msg)
        self._request = as_written(kind)
        self._client = client
        self._lock = Lock()  # gql's transports are for one thread
        url = getattr(client.transport, "url", None)
        self.source = address(str(url)) if url is not None else "gql client"

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
        if hasattr(self._client.transport, "subscribe"):  # of asynchronous transports alone
            return runtime.run(self.asend(request))
        with self._lock:
            try:
                found = self._client.execute_sync(self._asked(request), **PLAIN)
            except Exception as error:  # of gql, and of any library below it
                failure = self._read(error)
            else:
                return answered(found)
        return passed(failure)

    async def asend(self, request: Request) -> Response:
        """Send a request and await the response.

        Raises
        ------
        TransportError, AnswerError
            If there is no usable response.
        """
        if not hasattr(self._client.transport, "subscribe"):
            return await runtime.aside(lambda: self.send(request))
        try:
            found = await self._client.execute_async(self._asked(request), **PLAIN)
        except Exception as error:  # of gql, and of any library below it
            failure = self._read(error)
        else:
            return answered(found)
        return passed(failure)

    def _asked(self, request: Request) -> Any:
        made = self._request(
            request.query,
            variable_values=request.variables or None,
            operation_name=request.operation_name,
        )
        made.text = request.query
        return made

    def _read(self, error: Exception) -> Response | GqlnbError:
        """Return the response that an exception of gql is about, or the error that it means."""
        kind = type(error).__name__
        if kind == "TransportQueryError":
            return answered(error)
        status = getattr(error, "code", None)
        if isinstance(status, int):
            return Response(status)
        said = masked(plain(error, 200))
        if kind == "TransportProtocolError":
            return AnswerError(f"{self.source}: {said}")
        return TransportError(f"{self.source}: {kind}: {said}")

    def close(self) -> None:
        """Do nothing: gql closes after each request."""


PLAIN = {"serialize_variables": False, "parse_result": False, "get_execution_result": True}


@cache
def as_written(kind: Any) -> Any:
    """Return a kind of gql's requests whose text is sent as it is written.

    gql prints texts anew, and errors would then point at lines that nobody wrote.
    """

    def payload(self: Any) -> dict[str, Any]:
        return {**kind.payload.fget(self), "query": self.text}

    return type("GraphQLRequest", (kind,), {"payload": property(payload)})


def answered(found: Any) -> Response:
    """Return the response that gql has read."""
    errors = [getattr(error, "formatted", error) for error in found.errors or ()]
    members: dict[str, Any] = {}
    # gql does not tell null from nothing; an error that has a path is of something executed.
    if found.data is not None or (errors and any(error.get("path") for error in errors)):
        members["data"] = found.data
    members.update({k: v for k, v in (("errors", errors), ("extensions", found.extensions)) if v})
    return Response(200, members=members)


def passed(failure: Response | GqlnbError) -> Response:
    """Return a response, or raise; here, so that no exception of a library is behind it.

    Raises
    ------
    TransportError, AnswerError
        If there is no response.
    """
    if isinstance(failure, Response):
        return failure
    raise failure

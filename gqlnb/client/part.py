"""What the parts of a client take from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from graphql import GraphQLSchema

    from gqlnb.client.pacing import Pace
    from gqlnb.client.secrets import Secrets
    from gqlnb.client.transports import Transport
    from gqlnb.errors import TransportError
    from gqlnb.model.document import Document
    from gqlnb.model.limits import Limits
    from gqlnb.model.result import Result
    from gqlnb.wire.answers import Asked
    from gqlnb.wire.request import Request

__all__ = ["Part"]


class Part:
    """A base of :class:`gqlnb.Client`; what stands here is the client's own."""

    _transport: Transport
    _secrets: Secrets
    _pace: Pace
    _timeout: float
    _limits: Limits

    if TYPE_CHECKING:

        @property
        def source(self) -> str:
            """Where answers are from."""

        @property
        def schema(self) -> GraphQLSchema:
            """The schema of the endpoint."""

        @property
        def _road(self) -> Transport:
            """What carries a request now."""

        def document(self, text: str, operation: str | None = None) -> Document:
            """Return the document of a text."""

        def execute(
            self,
            text: str,
            variables: Mapping[str, Any] | None = None,
            *,
            operation: str | None = None,
        ) -> Result:
            """Execute an operation."""

        async def aexecute(
            self,
            text: str,
            variables: Mapping[str, Any] | None = None,
            *,
            operation: str | None = None,
        ) -> Result:
            """Execute an operation without blocking the running loop."""

        async def _aexecute(
            self,
            text: str,
            variables: Mapping[str, Any] | None,
            operation: str | None,
            turn: Callable[[], AbstractAsyncContextManager[Any]],
        ) -> Result: ...

        def _load_schema(self) -> tuple[str, ...]:
            """Load the schema where the endpoint gives it; return what is to be said otherwise."""

        def _ask(
            self, text: str, variables: Mapping[str, Any] | None, operation: str | None
        ) -> tuple[Request, Asked]: ...

        async def _aask(
            self, text: str, variables: Mapping[str, Any] | None, operation: str | None
        ) -> tuple[Request, Asked]: ...

        def _send(self, request: Request, asked: Asked) -> Result: ...

        def _attempt(self, request: Request, asked: Asked) -> Result | TransportError: ...

        async def _aattempt(self, request: Request, asked: Asked) -> Result | TransportError: ...

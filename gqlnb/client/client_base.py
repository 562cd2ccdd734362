"""What the parts of a client take from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from graphql import GraphQLSchema

    from gqlnb.client.auth_headers import Credentials
    from gqlnb.client.rate_limiter import RateLimiter
    from gqlnb.client.transports import Transport
    from gqlnb.document.document import Document
    from gqlnb.document.limits import Limits
    from gqlnb.errors import TransportError
    from gqlnb.http.messages import Request
    from gqlnb.http.response_parser import ResponseContext
    from gqlnb.result.result import Result

__all__ = ["ClientBase"]


class ClientBase:
    """A base of :class:`gqlnb.Client`; what stands here is the client's own."""

    _transport: Transport
    _credentials: Credentials
    _rate_limiter: RateLimiter
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
        def _active_transport(self) -> Transport:
            """What carries a request now."""

        def parse_document(self, text: str, operation: str | None = None) -> Document:
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

        async def _aexecute_with_retries(
            self,
            text: str,
            variables: Mapping[str, Any] | None,
            operation: str | None,
            turn: Callable[[], AbstractAsyncContextManager[Any]],
        ) -> Result: ...

        def _load_paging_schema(self) -> tuple[str, ...]:
            """Load the schema where the endpoint gives it; return what is to be said otherwise."""

        def _prepare_request(
            self, text: str, variables: Mapping[str, Any] | None, operation: str | None
        ) -> tuple[Request, ResponseContext]: ...

        async def _aprepare_request(
            self, text: str, variables: Mapping[str, Any] | None, operation: str | None
        ) -> tuple[Request, ResponseContext]: ...

        def _send_with_retries(self, request: Request, asked: ResponseContext) -> Result: ...

        def _send_once(
            self, request: Request, asked: ResponseContext
        ) -> Result | TransportError: ...

        async def _asend_once(
            self, request: Request, asked: ResponseContext
        ) -> Result | TransportError: ...

"""Transports: the protocol, one exchange over HTTP, and execution in this process."""

from __future__ import annotations

import asyncio
import inspect
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gqlnb import __version__, background
from gqlnb.client.credentials import Credentials
from gqlnb.errors import TransportError, describe_exception
from gqlnb.http.content_encoding import DecompressionError, decompress_body
from gqlnb.http.error_responses import is_token_refused
from gqlnb.http.messages import Request, Response
from gqlnb.redact import strip_traceback
from gqlnb.result.column_batch import ColumnMembers
from gqlnb.result.result import Result, collect_members, get_columns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from gqlnb.document.document import Document
    from gqlnb.engine.schema import Schema

NOTHING_LISTENS = "Nothing listens there."
MAYBE_EXECUTED = "The request may have been executed. Check before sending it again."
PROXY_LOGIN = (
    "the proxy asks for a user name and a password (HTTP 407). Write them into the proxy's address "
    "in the environment, as in HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT."
)
CONNECT_SECONDS = 10.0  # seconds for TCP and TLS handshakes
MAX_CONNECTIONS = 256  # connections kept alive, and threads of `HttpTransport.asend`

# By thread, since urllib3 hands nothing through from a request to the connection that it picks.
thread_state = threading.local()  # .call: the call of this thread, None between calls


@contextmanager
def enter_call(call: Call) -> Iterator[None]:
    """Make a call that of this thread, until it ends; others within it may be of files it reads."""
    outer = getattr(thread_state, "call", None)
    thread_state.call = call
    try:
        yield
    finally:
        thread_state.call = outer


class InvalidLengthError(Exception):
    """The Content-Length of a response is not valid, or there are several."""


class CallSocket(Protocol):
    """The socket of a connection that carries a call."""

    def wake_reader(self, call: Call) -> None:
        """Shut the connection down if `call` still uses it."""


@dataclass(slots=True, eq=False)
class Call:
    """One exchange with an endpoint, with its deadline and its byte cap.

    Attributes
    ----------
    deadline
        The moment, of :func:`time.monotonic`, after which nothing is waited for.
    cap
        Bytes that the body may have, as it travels; None for any number.
    socket
        The connection it went over, once there is one.
    is_reused
        Whether that connection had carried another call before.
    received
        Bytes that came, with those of the head.
    """

    deadline: float
    cap: int | None = None
    socket: CallSocket | None = None
    is_reused: bool = False
    received: int = 0

    def cancel(self) -> None:
        """End the call at once, from any thread; a read that waits returns."""
        self.deadline = -inf
        if self.socket is not None:
            self.socket.wake_reader(self)


class StreamSecrets(NamedTuple):
    """The secret parts of the request for a stream.

    Attributes
    ----------
    headers
        The headers of the credentials.
    init
        The payload of ``connection_init``; None for none.
    """

    headers: Mapping[str, str]
    init: object


USER_AGENT = f"gqlnb/{__version__}"  # GitHub refuses requests without one
ACCEPT = "application/graphql-response+json, application/json;q=0.9"
LATE_HINT = "no answer in time. Try again, or pass a longer timeout=."
UNREADABLE = "the answer could not be read:"


class Transport(Protocol):
    """Sends requests to an endpoint and returns its responses."""

    @property
    def source(self) -> str:
        """The endpoint, as it is shown, without secrets."""

    def send(self, request: Request) -> Response:
        """Send a request and wait for the response."""

    async def asend(self, request: Request) -> Response:
        """Send a request and await the response."""

    def close(self) -> None:
        """Close connections; sending afterwards opens new ones."""


def return_or_raise(outcome: Response | BaseException) -> Response:
    """Return a response, or raise; outside of ``except``, so that no exception is chained."""
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


class InProcessTransport:
    """Executes on a schema of this process, without serialization.

    Parameters
    ----------
    schema
        The schema.
    source
        The endpoint, as it is shown.
    """

    def __init__(self, schema: Schema, source: str = "in-process") -> None:
        from gqlnb.engine.schema import get_adapter

        self.schema = schema
        self.source = source
        self.adapter = get_adapter(schema)

    def send(self, request: Request) -> Response:
        """Execute a request and return its response."""
        begun = self.adapter.execute_document(self.get_document(request), request.variables or {})
        # On the background loop: a notebook has a running loop in this thread, where `asyncio.run`
        # is refused.
        result = background.run(_await_result(begun)) if inspect.isawaitable(begun) else begun
        return make_response(result)

    async def asend(self, request: Request) -> Response:
        """Execute a request; asynchronous resolvers run on the running loop."""
        begun = self.adapter.execute_document(self.get_document(request), request.variables or {})
        return make_response(await begun if inspect.isawaitable(begun) else begun)

    def get_document(self, request: Request) -> Document:
        """Return the document of a request; one of another schema is parsed again."""
        if request.document is not None and request.document.schema is self.adapter.graphql:
            return request.document
        return self.schema.parse_document(request.query, request.operation_name)

    def close(self) -> None:
        """Do nothing: there are no connections."""


async def _await_result(begun: Awaitable[Result]) -> Result:
    return await begun


def make_response(result: Result) -> Response:
    """Return the response for a result of the engine."""
    columns = get_columns(result)
    if columns is not None and not result.errors:
        more = {"extensions": result.extensions} if result.extensions else {}
        return Response(200, members=ColumnMembers(columns, more))
    return Response(200, members=collect_members(result), causes=result.causes)


class AsgiTransport:
    """Sends to an ASGI application in this process, without a socket.

    Parameters
    ----------
    app
        The application.
    credentials
        The token and headers of the client.
    """

    def __init__(self, app: Callable[..., Awaitable[None]], credentials: Credentials) -> None:
        self.app, self.credentials = app, credentials
        self.source = "ASGI app"
        self.stream_kind: str | None = None  # of subscriptions, once known
        self.speaks_legacy = False  # over WebSockets, the older subprotocol alone

    def send(self, request: Request) -> Response:
        """Send a request and wait; the application runs on the background loop."""
        return background.run(self.asend(request))

    async def asend(self, request: Request) -> Response:
        """Send a request to the application on the running loop.

        Raises
        ------
        TransportError
            If the application raises an exception; the message holds its text and place.
        """
        # No exception leaves the frames below: their locals hold the headers.
        return return_or_raise(await self._try_send(request))

    async def _try_send(self, request: Request) -> Response | BaseException:
        """Return the response, or the exception to raise."""
        seconds = None if request.deadline is None else max(0.0, request.deadline - monotonic())
        send = partial(self._send_within, request, seconds)
        try:
            secrets = await self.credentials.abuild_headers()  # a login is not the app's time
            response = await send(secrets)
            if isinstance(response, Response) and is_token_refused(
                response, is_query=request.is_query
            ):
                renewed = await self.credentials.abuild_headers(secrets)
                response = response if renewed == secrets else await send(renewed)
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            return strip_traceback(error)
        return response

    async def _send_within(
        self, request: Request, seconds: float | None, secrets: Mapping[str, str]
    ) -> Response | TransportError:
        """Return the response of the application, or its failure."""
        deadline = asyncio.timeout(seconds)
        try:
            async with deadline:
                return await self._exchange(request.encode(), secrets)
        except DecompressionError as error:
            failure = TransportError(f"{self.source}: {UNREADABLE} {error}")
        except Exception as error:  # noqa: BLE001 - of the application
            failure = self.build_failure(error)
        return TransportError(f"{self.source}: {LATE_HINT}") if deadline.expired() else failure

    def build_failure(self, error: Exception) -> TransportError:
        """Return the error for an application that raised an exception."""
        why = self.credentials.redact(describe_exception(error))
        return TransportError(f"{self.source}: the application failed: {why}")

    async def _exchange(self, body: bytes, secrets: Mapping[str, str]) -> Response:
        incoming = [{"type": "http.request", "body": body, "more_body": False}]
        started: dict[str, Any] = {"status": 500}
        parts: list[bytes] = []

        async def receive() -> dict[str, Any]:
            return incoming.pop() if incoming else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                started.update(message)
            else:
                parts.append(message.get("body", b""))

        length = {"content-length": str(len(body))}
        await self.app(self.build_scope("http", secrets, length), receive, send)
        headers = read_answer_headers(started)
        encoding = self.credentials.redact(headers.get("content-encoding", ""))
        body = decompress_body(parts, encoding, None)
        return self.credentials.redact_echoes(Response(started["status"], headers, body))

    def build_scope(
        self, kind: str, secrets: Mapping[str, str], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the ASGI scope, which holds the headers with their secrets.

        Parameters
        ----------
        kind
            ``"http"`` or ``"websocket"``.
        secrets
            The headers of the credentials.
        headers
            Further headers by lower-case name.
        """
        headers = {
            "host": "127.0.0.1",
            "content-type": "application/json",
            "accept": ACCEPT,
            "user-agent": USER_AGENT,
            **headers,
            **{name.lower(): value for name, value in secrets.items()},
        }
        return {
            "type": kind,
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/graphql",
            "raw_path": b"/graphql",
            "query_string": b"",
            "root_path": "",
            "headers": [(k.encode("latin-1"), v.encode("latin-1")) for k, v in headers.items()],
            "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", 0),
        }

    def close(self) -> None:
        """Do nothing: there are no connections."""


def read_answer_headers(start: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a response start message, by lower-case name."""
    # They are optional (ASGI specification, "Response Start").
    pairs = start.get("headers", ())
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}

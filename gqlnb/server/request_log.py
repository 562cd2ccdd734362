"""Records of a server: the log of its requests, metrics, and the access log.

They hold sizes, times and masked exceptions, no queries, variables or data.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from email.utils import formatdate
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from gqlnb.document.sized_cache import SizedCache
from gqlnb.errors import ServerError, sanitize_text
from gqlnb.http.messages import Response
from gqlnb.optional_imports import import_optional

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
    from types import TracebackType

    import pandas as pd


MAX_ENTRIES = 1000  # requests
# Exceptions; each keeps the local variables of its traceback alive, and with them the values of the
# request, which take up to ten times the bytes of its body.
MAX_ERRORS = 100
MAX_ERROR_BYTES = 2**22  # of the bodies of their requests
MAX_NAME = 80  # characters of an operation's name; a client may send a million
_DTYPES = {
    "operation": "string",
    "status": "Int64",
    "seconds": "Float64",
    "bytes_in": "Int64",
    "bytes_out": "Int64",
    "error_id": "string",
}


class LogEntry(NamedTuple):
    """One answered request.

    Attributes
    ----------
    time
        Time of its head, in seconds since 1970.
    operation
        The name of its operation, None where it has none.
    status
        The HTTP status; 101 for an operation over a WebSocket. For a WebSocket closed by the
        server, the close code.
    seconds
        From the head to the complete response, sending excluded. For a subscription, until its
        end.
    bytes_in, bytes_out
        The sizes of the two bodies; 0 if the request's was not read.
    error_id
        The id of the first exception that was masked.
    """

    time: float
    operation: str | None
    status: int
    seconds: float
    bytes_in: int
    bytes_out: int
    error_id: str | None


class RequestLog:
    """The last requests of a server, and its last exceptions; safe to use from any thread.

    Attributes
    ----------
    metrics
        Counts the requests; None where no metrics are served.
    """

    def __init__(self) -> None:
        self._entries: deque[LogEntry] = deque(maxlen=MAX_ENTRIES)  # appending is atomic
        self.metrics: Metrics | None = None
        self._errors: SizedCache[str, tuple[BaseException, TracebackType | None]] = SizedCache(
            MAX_ERRORS, MAX_ERROR_BYTES
        )

    def add_request(
        self,
        began: tuple[float, float],
        response: Response,
        size: int = 0,
        sent: int | None = None,
    ) -> None:
        """Add a request; the oldest one is dropped.

        Parameters
        ----------
        began
            Time of its head: :func:`read_clocks`.
        response
            The response.
        size
            Size of its body in bytes, 0 if it was not read.
        sent
            Size of a streamed response in bytes; None for the size of `response`.
        """
        sent = len(response.body) if sent is None else sent
        masked, status = response.masked_errors, response.status
        error_id = masked[0][0] if masked else None
        self.add_entry(began, response.operation, size, sent, status=status, error_id=error_id)
        if masked:
            self.keep_errors(masked, size)

    def add_entry(
        self,
        began: tuple[float, float],
        operation: str | None,
        size: int,
        sent: int,
        *,
        status: int = 200,
        error_id: str | None = None,
    ) -> None:
        """Add a request by its values: those of :class:`LogEntry`, `began` by both clocks."""
        seconds = time.perf_counter() - began[1]
        name = operation and operation[:MAX_NAME]
        entry = LogEntry(began[0], name, status, seconds, size, sent, error_id=error_id)
        self._entries.append(entry)
        if self.metrics is not None:
            self.metrics.count_request(name, status, seconds)

    def keep_errors(self, masked: Sequence[tuple[str, BaseException]], size: int) -> None:
        """Keep masked exceptions of a request by their ids; the oldest are dropped.

        Parameters
        ----------
        masked
            The ids and exceptions.
        size
            Size of the request's body in bytes.
        """
        for error_id, error in masked:
            share = min(size, MAX_ERROR_BYTES) // len(masked)
            self._errors.add(error_id, (error, error.__traceback__), share)

    def find_error(self, error_id: str) -> BaseException:
        """Return a masked exception; raise a ServerError if the id is unknown."""
        kept = self._errors.get(error_id)
        if kept is None:
            quoted = sanitize_text(repr(error_id), 80)
            last = "".join(f" The newest id is {newest!r}." for newest in list(self._errors)[-1:])
            message = (
                f"No exception has the id {quoted}; the last {MAX_ERRORS} are kept, fewer where "
                f"the requests were large.{last}"
            )
            raise ServerError(message)
        error, traceback = kept
        return error.with_traceback(traceback)  # without the frames of `raise server.error(...)`

    def build_frame(self) -> pd.DataFrame:
        """Return the requests, oldest first."""
        # A copy is atomic, so that no request has to take a lock for the sake of a rare reader.
        return build_timed_frame(list(self._entries.copy()), LogEntry._fields, _DTYPES)


def build_timed_frame(
    rows: Sequence[tuple[Any, ...]], names: Sequence[str], dtypes: Mapping[str, str]
) -> pd.DataFrame:
    """Return rows as a DataFrame, whose column ``time`` is given in seconds since 1970."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=list(names)).astype(dict(dtypes))
    frame["time"] = pd.to_datetime(frame["time"], unit="s", utc=True)
    return frame


def read_clocks() -> tuple[float, float]:
    """Return the time since 1970 and the monotonic time, in seconds."""
    return time.time(), time.perf_counter()


# A client chooses the names of its operations, and Prometheus keeps every combination of labels
# for ever: names beyond the first hundred share the label "other".
MAX_OPERATIONS = 100
OTHER = "other"


class Metrics:
    """The counters of one server at ``/metrics``, in the text format of Prometheus.

    Raises
    ------
    MissingExtraError
        If prometheus_client is not installed.
    """

    def __init__(self) -> None:
        self._client = client = import_optional(
            "prometheus_client", "prometheus-client", "serve /metrics"
        )
        self._registry = client.CollectorRegistry()
        self._operations: set[str] = set()
        self._requests = client.Counter(
            "gqlnb_requests",
            "Requests by operation and status; 101 for operations over WebSocket.",
            ["operation", "status"],
            registry=self._registry,
        )
        self._seconds = client.Histogram(
            "gqlnb_request_seconds",
            "Seconds until the response was complete.",
            ["operation"],
            registry=self._registry,
        )

    def count_request(self, operation: str | None, status: int, seconds: float) -> None:
        """Count a request."""
        name = operation or ""
        if name not in self._operations:
            # Of a request that is not valid, it may be any text.
            is_name = not name or (name.isascii() and name.isidentifier())
            if is_name and len(self._operations) < MAX_OPERATIONS:
                self._operations.add(name)
            else:
                name = OTHER
        self._requests.labels(name, status).inc()
        self._seconds.labels(name).observe(seconds)

    def build_response(self) -> Response:
        """Return the response to a request for ``/metrics``."""
        headers = {
            "content-type": self._client.CONTENT_TYPE_LATEST,
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
        }
        return Response(200, headers, self._client.generate_latest(self._registry))


MAX_PATH = 200  # characters
ACCESS_LOGGER = logging.getLogger("gqlnb.access")
ACCESS_LOGGER.setLevel(logging.INFO)  # the option is the switch


# The query string, headers and bodies are left out: they hold queries, variables and tokens.
class AccessLine:
    """The line of one request in the access log, completed from the messages that are sent.

    Parameters
    ----------
    scope
        The ASGI scope.
    send
        The ASGI callable.

    Notes
    -----
    The format is the one of most web servers (Apache HTTP Server, "Common Log Format")::

        127.0.0.1 - - [23/Nov/2026:12:30:35 +0000] "POST /graphql HTTP/1.1" 200 33
    """

    def __init__(
        self,
        scope: Mapping[str, Any],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        self._scope, self._send = scope, send
        self._time = formatdate(usegmt=True)  # strftime would depend on the locale
        self._status: object = "-"
        self._size = 0

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send an ASGI message."""
        kind = message["type"]
        if kind.endswith("response.start"):
            self._status = message["status"]
        elif kind == "websocket.accept":
            self._status = 101
        elif kind == "websocket.close" and self._status == "-":
            self._status = 403  # the server's response to a refused handshake
        self._size += len(message.get("body", b""))
        await self._send(message)

    def write(self) -> None:
        """Log the line; its status is ``-`` if the client left before a response."""
        scope, client = self._scope, self._scope.get("client")
        # Quoted, none of them has a space, quote or line end that could begin another field or
        # line; the address may be a proxy's X-Forwarded-For.
        path = quote(scope["path"][:MAX_PATH], errors="replace")
        address = quote(client[0], safe=":", errors="replace") if client else "-"
        target = (
            f"{quote(scope.get('method', 'GET'))} {path} HTTP/{scope.get('http_version', '1.1')}"
        )
        _, day, month, year, clock, _ = self._time.split()
        ACCESS_LOGGER.info(
            '%s - - [%s/%s/%s:%s +0000] "%s" %s %s',
            *(address, day, month, year, clock),
            *(target, self._status, self._size or "-"),
        )

"""The log of a server: sizes, times and masked exceptions, no queries, variables or data."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.document.sized_cache import SizedCache
from gqlnb.errors import ServerError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import pandas as pd

    from gqlnb.http.messages import Response
    from gqlnb.server.metrics import Metrics

__all__ = ["RequestLog", "read_clocks"]

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
        masked, operation = response.masked_errors, response.operation
        self.add_entry(
            began,
            operation,
            size,
            sent,
            status=response.status,
            error_id=masked[0][0] if masked else None,
        )
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
        self._entries.append(LogEntry(began[0], name, status, seconds, size, sent, error_id))
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
            shown = sanitize_text(repr(error_id), 80)
            last = "".join(f" The newest id is {it!r}." for it in list(self._errors)[-1:])
            message = (
                f"No exception has the id {shown}; the last {MAX_ERRORS} are kept, fewer where the "
                f"requests were large.{last}"
            )
            raise ServerError(message)
        error, traceback = kept
        return error.with_traceback(traceback)  # without the frames of `raise server.error(...)`

    def build_frame(self) -> pd.DataFrame:
        """Return the requests, oldest first."""
        import pandas as pd

        entries = self._copy_entries()
        frame = pd.DataFrame(entries, columns=list(LogEntry._fields)).astype(_DTYPES)
        frame["time"] = pd.to_datetime(frame["time"], unit="s", utc=True)
        return frame

    def _copy_entries(self) -> list[LogEntry]:
        # Without a lock, which every request would have to take for the sake of a rare reader.
        while True:
            try:
                return list(self._entries)
            except RuntimeError:  # one was added meanwhile
                continue


def read_clocks() -> tuple[float, float]:
    """Return the time since 1970 and the monotonic time, in seconds."""
    return time.time(), time.perf_counter()

"""What a server remembers of its requests: enough to find a fault, nothing that a client said."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.errors import ServerError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import pandas as pd

    from gqlnb.http.messages import Response

__all__ = ["RequestLog", "read_clocks"]

MAX_ENTRIES = 1000  # requests remembered
# Exceptions remembered; each holds the variables of the functions it went through.
MAX_ERRORS = 100
MAX_NAME = 80  # characters of an operation's name; a client may send a million
DTYPES = {
    "operation": "string",
    "status": "Int64",
    "seconds": "Float64",
    "bytes_in": "Int64",
    "bytes_out": "Int64",
    "error_id": "string",
}


class LogEntry(NamedTuple):
    """One request that was answered.

    Attributes
    ----------
    time
        When its head had come, in seconds since 1970.
    operation
        The name of its operation, None where it has none.
    status
        The HTTP status: 101 for an operation over a WebSocket. For a WebSocket that we closed, the
        code it was closed with.
    seconds
        From the head to the finished answer; sending it is not counted. For a subscription, until
        it ended.
    bytes_in, bytes_out
        The sizes of the two bodies; 0 where the request's was not read.
    error_id
        Under what the first exception that was kept from the client can be found.
    """

    time: float
    operation: str | None
    status: int
    seconds: float
    bytes_in: int
    bytes_out: int
    error_id: str | None


class RequestLog:
    """The last requests of a server, and its last exceptions; safe to use from any thread."""

    def __init__(self) -> None:
        self._entries: deque[LogEntry] = deque(maxlen=MAX_ENTRIES)  # adding to it needs no lock
        self._errors: dict[str, tuple[BaseException, TracebackType | None]] = {}
        self._lock = threading.Lock()

    def add_request(
        self,
        began: tuple[float, float],
        response: Response,
        size: int = 0,
        sent: int | None = None,
    ) -> None:
        """Remember a request that is about to be answered; the oldest one is forgotten.

        Parameters
        ----------
        began
            When its head had come: :func:`read_clocks`.
        response
            The answer.
        size
            Bytes of its body, 0 where it was not read.
        sent
            Bytes of an answer that was streamed; None for those of the response.
        """
        faults, operation = response.masked_errors, response.operation
        self._entries.append(
            LogEntry(
                began[0],
                operation and operation[:MAX_NAME],
                response.status,
                time.perf_counter() - began[1],
                size,
                len(response.body) if sent is None else sent,
                faults[0][0] if faults else None,
            )
        )
        if faults:
            self.keep_errors(faults)

    def add_success(
        self, began: tuple[float, float], operation: str | None, size: int, sent: int
    ) -> None:
        """Remember a request that is answered as it should be.

        Parameters
        ----------
        began
            When its head had come: :func:`read_clocks`.
        operation
            The name of the operation.
        size, sent
            Bytes of its body, and of the answer's.
        """
        seconds = time.perf_counter() - began[1]
        name = operation and operation[:MAX_NAME]
        self._entries.append(LogEntry(began[0], name, 200, seconds, size, sent, None))

    def keep_errors(self, faults: Sequence[tuple[str, BaseException]]) -> None:
        """Remember exceptions by the ids that a client was told; the oldest are forgotten."""
        with self._lock:
            for number, fault in faults:
                self._errors[number] = fault, fault.__traceback__
            while len(self._errors) > MAX_ERRORS:
                del self._errors[next(iter(self._errors))]

    def find_error(self, number: str) -> BaseException:
        """Return the exception that was kept from a client.

        Raises
        ------
        ServerError
            If none is known under that id.
        """
        with self._lock:
            found = self._errors.get(number)
            newest = next(reversed(self._errors), None)
        if found is None:
            last = f" The newest id is {newest!r}." if newest else ""
            message = (
                f"No exception has the id {sanitize_text(repr(number), 80)}; the last {MAX_ERRORS} are kept."
                f"{last}"
            )
            raise ServerError(message)
        fault, trace = found
        return fault.with_traceback(trace)  # without the frames of who raised it again

    def build_frame(self) -> pd.DataFrame:
        """Return the requests, oldest first."""
        import pandas as pd

        made = pd.DataFrame(self.list_entries(), columns=list(LogEntry._fields)).astype(DTYPES)
        made["time"] = pd.to_datetime(made["time"], unit="s", utc=True)
        return made

    def list_entries(self) -> list[LogEntry]:
        """Return the requests, oldest first."""
        while True:
            try:
                return list(self._entries)
            except RuntimeError:  # one was added meanwhile
                continue


def read_clocks() -> tuple[float, float]:
    """Return the time since 1970 and that of the clock that only goes forward, in seconds."""
    return time.time(), time.perf_counter()

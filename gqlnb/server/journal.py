"""What a server remembers of its requests: enough to find a fault, nothing that a client said."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.errors import ServerError, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import pandas as pd

    from gqlnb.wire.response import Response

__all__ = ["Journal", "clocks"]

ENTRIES = 1000  # requests remembered
# Exceptions remembered; each holds the variables of the functions it went through.
FAULTS = 100
NAME = 80  # characters of an operation's name; a client may send a million
DTYPES = {
    "operation": "string",
    "status": "Int64",
    "seconds": "Float64",
    "bytes_in": "Int64",
    "bytes_out": "Int64",
    "error_id": "string",
}


class Entry(NamedTuple):
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


class Journal:
    """The last requests of a server, and its last exceptions; safe to use from any thread."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=ENTRIES)  # adding to it needs no lock
        self._faults: dict[str, tuple[BaseException, TracebackType | None]] = {}
        self._lock = threading.Lock()

    def add(
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
            When its head had come: :func:`clocks`.
        response
            The answer.
        size
            Bytes of its body, 0 where it was not read.
        sent
            Bytes of an answer that was streamed; None for those of the response.
        """
        faults, operation = response.faults, response.operation
        self._entries.append(
            Entry(
                began[0],
                operation and operation[:NAME],
                response.status,
                time.perf_counter() - began[1],
                size,
                len(response.body) if sent is None else sent,
                faults[0][0] if faults else None,
            )
        )
        if faults:
            self.keep(faults)

    def note(self, began: tuple[float, float], operation: str | None, size: int, sent: int) -> None:
        """Remember a request that is answered as it should be.

        Parameters
        ----------
        began
            When its head had come: :func:`clocks`.
        operation
            The name of the operation.
        size, sent
            Bytes of its body, and of the answer's.
        """
        seconds = time.perf_counter() - began[1]
        name = operation and operation[:NAME]
        self._entries.append(Entry(began[0], name, 200, seconds, size, sent, None))

    def keep(self, faults: Sequence[tuple[str, BaseException]]) -> None:
        """Remember exceptions by the ids that a client was told; the oldest are forgotten."""
        with self._lock:
            for number, fault in faults:
                self._faults[number] = fault, fault.__traceback__
            while len(self._faults) > FAULTS:
                del self._faults[next(iter(self._faults))]

    def error(self, number: str) -> BaseException:
        """Return the exception that was kept from a client.

        Raises
        ------
        ServerError
            If none is known under that id.
        """
        with self._lock:
            found = self._faults.get(number)
            newest = next(reversed(self._faults), None)
        if found is None:
            last = f" The newest id is {newest!r}." if newest else ""
            message = (
                f"No exception has the id {plain(repr(number), 80)}; the last {FAULTS} are kept."
                f"{last}"
            )
            raise ServerError(message)
        fault, trace = found
        return fault.with_traceback(trace)  # without the frames of who raised it again

    def frame(self) -> pd.DataFrame:
        """Return the requests, oldest first."""
        import pandas as pd

        made = pd.DataFrame(self.entries(), columns=list(Entry._fields)).astype(DTYPES)
        made["time"] = pd.to_datetime(made["time"], unit="s", utc=True)
        return made

    def entries(self) -> list[Entry]:
        """Return the requests, oldest first."""
        while True:
            try:
                return list(self._entries)
            except RuntimeError:  # one was added meanwhile
                continue


def clocks() -> tuple[float, float]:
    """Return the time since 1970 and that of the clock that only goes forward, in seconds."""
    return time.time(), time.perf_counter()

"""What a server remembers of its requests: enough to find a fault, nothing that a client said."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.errors import ServerError, plain
from gqlnb.wire.protocol import Trace

if TYPE_CHECKING:
    from types import TracebackType

    import pandas as pd

    from gqlnb.wire.response import Response

__all__ = ["Journal", "Note"]

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
        The HTTP status.
    seconds
        From the head to the finished answer; sending it is not counted.
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
        self._entries: deque[Entry] = deque(maxlen=ENTRIES)
        self._faults: dict[str, tuple[BaseException, TracebackType | None]] = {}
        self._lock = threading.Lock()

    def begin(self) -> Note:
        """Return the note of a request whose head has just come."""
        return Note(self)

    def add(self, entry: Entry, trace: Trace) -> None:
        """Remember a request; the oldest one is forgotten."""
        with self._lock:
            self._entries.append(entry)
            for number, fault in trace.faults:
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

        with self._lock:
            entries = list(self._entries)
        made = pd.DataFrame(entries, columns=list(Entry._fields)).astype(DTYPES)
        made["time"] = pd.to_datetime(made["time"], unit="s", utc=True)
        return made


class Note:
    """One request on its way."""

    __slots__ = ("_began", "_clock", "_journal", "trace")

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._began = time.time()
        self._clock = time.perf_counter()
        self.trace = Trace()

    def end(self, response: Response, size: int = 0) -> None:
        """Enter the request, with the size of its body and what is answered."""
        trace = self.trace
        entry = Entry(
            self._began,
            trace.operation and trace.operation[:NAME],
            response.status,
            time.perf_counter() - self._clock,
            size,
            len(response.body),
            trace.faults[0][0] if trace.faults else None,
        )
        self._journal.add(entry, trace)

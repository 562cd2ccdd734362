"""One exchange with an endpoint over HTTP: its deadline, its byte cap and its failures.

Without requests and urllib3, which take longer to import than the rest of the client.
"""

from __future__ import annotations

import threading
from math import inf
from time import monotonic
from typing import Protocol

__all__ = [
    "MAX_CONNECTIONS",
    "MAYBE_EXECUTED",
    "NOTHING_LISTENS",
    "PROXY_LOGIN",
    "Call",
    "InvalidLengthError",
    "TooLargeError",
    "thread_state",
]

NOTHING_LISTENS = "Nothing listens there."
MAYBE_EXECUTED = "The request may have been executed. Check before sending it again."
PROXY_LOGIN = (
    "the proxy asks for a user name and a password (HTTP 407). Write them into the proxy's address "
    "in the environment, as in HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT."
)
HEAD_BYTES = 1 << 20  # bytes for the head of a response, in addition to its body
MAX_CONNECTIONS = 256  # connections kept alive, and threads of `HttpTransport.asend`
LONGEST_WAIT = 1e6  # seconds; sockets accept no infinite number

# By thread, since urllib3 hands nothing through from a request to the connection that it picks.
thread_state = threading.local()  # .call: the call of this thread


class InvalidLengthError(Exception):
    """The Content-Length of a response is not valid, or there are several."""


class TooLargeError(Exception):
    """More bytes came than the cap allows."""


class CallSocket(Protocol):
    """The socket of a connection that carries a call."""

    def wake_reader(self, call: Call) -> None:
        """Shut the connection down if `call` still uses it."""


class Call:
    """One exchange with an endpoint, with its deadline and its byte cap.

    Parameters
    ----------
    deadline
        The moment, of :func:`time.monotonic`, after which nothing is waited for.
    cap
        Bytes that may come, None for any number.

    Attributes
    ----------
    socket : CallSocket or None
        The connection it went over, once there is one.
    is_reused : bool
        Whether that connection had carried another call before.
    received : int
        Bytes that came.
    """

    __slots__ = ("cap", "deadline", "is_reused", "received", "socket")

    def __init__(self, until: float, cap: int | None = None) -> None:
        self.deadline = until
        self.cap = inf if cap is None else cap + HEAD_BYTES
        self.socket: CallSocket | None = None
        self.is_reused = False
        self.received = 0

    def __enter__(self) -> None:
        thread_state.call = self

    def __exit__(self, *_: object) -> None:
        thread_state.call = None

    def get_remaining(self) -> float:
        """Return the seconds left; raise TimeoutError at the deadline."""
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, LONGEST_WAIT)

    def cancel(self) -> None:
        """End the call at once, from any thread; a read that waits returns."""
        self.deadline = -inf
        if self.socket is not None:
            self.socket.wake_reader(self)

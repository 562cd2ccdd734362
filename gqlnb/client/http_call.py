"""One exchange with an endpoint over HTTP: its deadline, its byte cap and its failures.

Without requests and urllib3, which take longer to import than the rest of the client.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "CONNECT_SECONDS",
    "MAX_CONNECTIONS",
    "MAYBE_EXECUTED",
    "NOTHING_LISTENS",
    "PROXY_LOGIN",
    "Call",
    "InvalidLengthError",
    "StreamSecrets",
    "enter_call",
    "thread_state",
]

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

"""Any ASGI application in a background thread of this process, run by uvicorn itself.

Our own schemas are served by :mod:`gqlnb.server.background_server`, with its limits and its log.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING, Any, Self

import uvicorn

from gqlnb.server.listener import (
    GRACE_SECONDS,
    bind_socket,
    find_calling_cell,
    redirect_sockets,
    resolve_address,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_HOST = "127.0.0.1"
# Python prints the records of a logger without handlers; in a notebook they would land in a cell.
logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())
_lock = threading.RLock()  # held to open and close, not to answer
_open_threads: list[AsgiThread] = []


class AsgiThread:
    """An application that listens on this machine alone, until :meth:`close`.

    A bare :class:`gqlnb.Client` does not look for it. Opened again on the same port, or by the same
    notebook cell with port 0, the new one replaces the old one.

    Parameters
    ----------
    application
        The ASGI application.
    port
        The port, or 0 for any free one.

    Attributes
    ----------
    url : str
        The base URL, without a slash at the end.
    port : int
        The port, also where the system chose it.
    cell : CellRun or None
        The notebook cell that opened it with port 0.

    Raises
    ------
    PortInUseError
        If another program listens on the port.
    ServerError
        If the port is not valid, or the system does not allow listening.
    """

    def __init__(self, application: Callable[..., Any], port: int) -> None:
        with _lock:
            self.cell = find_calling_cell() if port == 0 else None
            for other in _open_threads.copy():
                is_rerun = self.cell is not None and self.cell.is_rerun_of(other.cell)
                if type(other) is type(self) and (other.port == port or is_rerun):
                    other.close()
            self._sock = sock = bind_socket(resolve_address(_HOST, port))
            self.port: int = sock.getsockname()[1]
            self.url = f"http://{_HOST}:{self.port}"
            self._is_port_chosen = port == 0
            config = uvicorn.Config(
                application,
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=int(GRACE_SECONDS),
            )
            self._uvicorn = uvicorn.Server(config)
            self._thread = threading.Thread(
                target=self._uvicorn.run, args=([sock],), name=f"gqlnb-{self.port}", daemon=True
            )
            # The socket listens already: a client that connects before the thread runs has to wait.
            self._thread.start()
            _open_threads.append(self)

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self not in _open_threads

    def close(self) -> None:
        """Stop answering and free the port; closing it again does nothing."""
        with _lock:
            if not self.closed:
                _open_threads.remove(self)
                self._uvicorn.should_exit = True
                self._thread.join(2 * GRACE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # A port that the system chose differs from run to run; a saved notebook should not.
        where = "port=0" if self._is_port_chosen else repr(self.url)
        return f"{type(self).__name__}({where}{', closed' if self.closed else ''})"


def _abandon_after_fork() -> None:
    global _lock  # noqa: PLW0603 - a thread of the parent may hold it
    _lock = threading.RLock()
    redirect_sockets(thread._sock for thread in _open_threads)  # noqa: SLF001 - of this module
    _open_threads.clear()


# In a forked child, which has no server threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_after_fork)

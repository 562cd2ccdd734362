"""The REST service in a background thread of this process, on a port of its own."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import uvicorn

from gqlnb.github.rest.rest_app import DEFAULT_LIMIT, app
from gqlnb.server.calling_cell import find_calling_cell
from gqlnb.server.listener import bind_socket, resolve_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.applications import Starlette

    from gqlnb.auth import Token
    from gqlnb.github.repositories import Repository
    from gqlnb.github.rest.credentials import Usage
    from gqlnb.server.calling_cell import CellRun

__all__ = ["RestServer", "serve"]

HOST = "127.0.0.1"
GRACE_SECONDS = 1  # seconds in which running requests may finish
# Python prints the records of a logger without handlers; in a notebook they would land in a cell.
logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())

_servers_lock = threading.RLock()
_open_servers: list[RestServer] = []


class RestServer:
    """A running REST service; :func:`serve` makes one.

    A bare :class:`gqlnb.Client` does not look for it, because it speaks no GraphQL.

    Parameters
    ----------
    application
        The application of :func:`gqlnb.github.rest.app`.
    port
        The port, or 0 for any free one.
    cell
        The notebook cell that asked for any free port.

    Attributes
    ----------
    url : str
        The base URL, without a slash at the end.
    port : int
        The port, also where the system chose it.
    """

    def __init__(self, application: Starlette, port: int, cell: CellRun | None = None) -> None:
        sock = bind_socket(resolve_address(HOST, port))
        self.port: int = sock.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}"
        self.cell = cell
        self._app = application
        self._is_port_chosen = port == 0
        config = uvicorn.Config(
            application,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        self._uvicorn = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._uvicorn.run, args=([sock],), name=f"gqlnb-rest-{self.port}", daemon=True
        )
        # The socket listens already: a client that connects before the thread runs has to wait.
        self._thread.start()
        with _servers_lock:
            _open_servers.append(self)

    @property
    def usage(self) -> dict[str, Usage]:
        """The ``requests`` and ``refused`` requests of each caller, by its name."""
        usage: dict[str, Usage] = self._app.state.callers.usage
        return usage

    @property
    def closed(self) -> bool:
        """Whether the service has been closed."""
        return self not in _open_servers

    def close(self) -> None:
        """Stop the service and free the port; closing it again does nothing."""
        with _servers_lock:
            if not self.closed:
                _open_servers.remove(self)
                self._uvicorn.should_exit = True
                self._thread.join(2 * GRACE_SECONDS)

    def __enter__(self) -> RestServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # A port that the system chose differs from run to run; a saved notebook should not.
        where = "port=0" if self._is_port_chosen else repr(self.url)
        return f"RestServer({where}{', closed' if self.closed else ''})"


def serve(
    port: int = 4002,
    *,
    keys: Mapping[str, Token | str] | None = None,
    users: Mapping[str, Token | str] | None = None,
    secret: Token | str | None = None,
    limit: int | None = DEFAULT_LIMIT,
    data: Iterable[Repository] | None = None,
) -> RestServer:
    """Serve the REST service from a background thread, to this machine alone.

    It is closed by :meth:`RestServer.close`, at the end of a ``with`` block, or when the
    interpreter exits. Served again on the same port, or from the same notebook cell with port 0,
    the new service replaces the old one.

    Parameters
    ----------
    port
        The port, or 0 for any free one.
    keys, users, secret, limit, data
        As for :func:`gqlnb.github.rest.app`.

    Returns
    -------
    RestServer
        The running service.

    Raises
    ------
    PortInUseError
        If another program listens on the port.
    ServerError
        If an argument is not valid, or the system does not allow listening.
    AuthError
        If a secret's source holds none.

    Examples
    --------
    >>> import requests
    >>> with serve(port=0) as service:
    ...     requests.get(f"{service.url}/repository/1").json()["name"]
    'build-your-own-x'
    """
    application = app(keys=keys, users=users, secret=secret, limit=limit, data=data)
    with _servers_lock:
        cell = find_calling_cell() if port == 0 else None
        for server in _open_servers:
            if server.port == port or (cell is not None and cell.is_rerun_of(server.cell)):
                server.close()
        return RestServer(application, port, cell)

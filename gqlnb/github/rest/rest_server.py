"""The service in a background thread of this process, on a port of its own."""

from __future__ import annotations

import asyncio
import atexit
import logging
import socket
import threading
from contextlib import suppress
from email.utils import formatdate
from functools import partial
from typing import TYPE_CHECKING, Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from gqlnb.document.json_codec import dump_json
from gqlnb.github.rest.rest_app import DEFAULT_LIMIT, app
from gqlnb.server.calling_cell import find_calling_cell
from gqlnb.server.listener import bind_socket, resolve_address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.applications import Starlette

    from gqlnb.auth import Token
    from gqlnb.github.rest.credentials import Usage
    from gqlnb.github.standin.repository_columns import Population
    from gqlnb.server.calling_cell import CellRun

__all__ = ["RestServer", "serve"]

HOST = "127.0.0.1"
KEEP_ALIVE_SECONDS = 75  # seconds an idle connection is kept; nginx's number
GRACE_SECONDS = 1.0  # seconds in which running requests may finish
MAX_HEAD_BYTES = 2**14  # bytes of a request's head
_LOG = logging.getLogger("gqlnb")

_servers_lock = threading.RLock()
_open_servers: list[RestServer] = []


class RestServer:
    """A REST service that is running; :func:`serve` makes one.

    It is none of the servers that a bare :class:`gqlnb.Client` looks for: it speaks no GraphQL.

    Parameters
    ----------
    application
        What answers: :func:`gqlnb.github.rest.app` makes it.
    port
        The port, or 0 for any free one.
    cell
        The notebook cell that asked for any free one.

    Attributes
    ----------
    url : str
        Where it answers, without a slash at the end.
    port : int
        The port, also where the system chose it.
    """

    def __init__(self, application: Starlette, port: int, cell: CellRun | None = None) -> None:
        self._app = application
        self._is_port_chosen = port == 0
        self.cell = cell
        self._sock = bind_socket(resolve_address(HOST, port))
        # Otherwise the body of an answer waits 40 ms for the client's word that it has the head:
        # asyncio sees to it only for sockets that name their protocol.
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port: int = self._sock.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}"
        self._loop = asyncio.new_event_loop()
        self._stop: asyncio.Future[None] = self._loop.create_future()
        name = f"gqlnb-rest-{self.port}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        # The socket listens already: whoever asks before the thread gets there is kept waiting.
        self._thread.start()
        with _servers_lock:
            _open_servers.append(self)

    @property
    def usage(self) -> dict[str, Usage]:
        """What each caller has asked so far, by its name: ``requests`` and ``refused``."""
        usage: dict[str, Usage] = self._app.state.desk.callers.usage
        return usage

    @property
    def closed(self) -> bool:
        """Whether it answers no more."""
        return self not in _open_servers

    def close(self) -> None:
        """Stop answering and free the port; closing it again does nothing."""
        with _servers_lock:
            if self.closed:
                return
            _open_servers.remove(self)
        with suppress(RuntimeError):  # the loop has closed
            self._loop.call_soon_threadsafe(self._stop.cancel)
        self._thread.join(2 * GRACE_SECONDS)

    def __enter__(self) -> RestServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # A port that the system chose differs from run to run; a saved notebook should not.
        where = "port=0" if self._is_port_chosen else repr(self.url)
        return f"RestServer({where}{', closed' if self.closed else ''})"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._sock.close()
            self._loop.close()

    async def _serve(self) -> None:
        config, state = make_config(self._app), ServerState()
        protocol = partial(QuietH11Protocol, config, state, {})
        server = await self._loop.create_server(protocol, sock=self._sock)
        while not self._stop.done():
            # RFC 9110, 6.6.1: an answer has a Date.
            state.default_headers = [(b"date", formatdate(usegmt=True).encode())]
            await asyncio.wait([self._stop], timeout=1.0)
        server.close()
        if state.tasks:
            await asyncio.wait(list(state.tasks), timeout=GRACE_SECONDS)
        for connection in list(state.connections):
            connection.transport.abort()
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


class QuietH11Protocol(H11Protocol):
    """HTTP as uvicorn speaks it, logging to us, and refusing what is no HTTP in JSON."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger, self.access_log = _LOG, False

    def send_400_response(self, msg: str) -> None:
        """Say that this was no HTTP, unless an answer is on its way, and hang up."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            body = dump_json({"message": msg})
            head = (
                "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()


def make_config(application: Starlette) -> Config:
    """Return what uvicorn's protocol shall do: answer, and log nothing of its own."""
    config = Config(
        application,
        interface="asgi3",
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    config.load()
    return config


def serve(
    port: int = 4002,
    *,
    keys: Mapping[str, Token | str] | None = None,
    users: Mapping[str, Token | str] | None = None,
    secret: Token | str | None = None,
    limit: int | None = DEFAULT_LIMIT,
    data: Population | None = None,
) -> RestServer:
    """Serve the REST service from a background thread, to this machine alone.

    It is closed by :meth:`RestServer.close`, at the end of a ``with`` block, or when the
    interpreter exits. Served again on the same port, or from the same notebook cell with port 0,
    the new service takes the old one's place.

    Parameters
    ----------
    port
        The port, or 0 for any free one.
    keys, users, secret, limit, data
        As for :func:`gqlnb.github.rest.app`.

    Returns
    -------
    RestServer

    Raises
    ------
    PortInUseError
        If something else listens on the port.
    ServerError
        If the arguments make no service, or the system does not let us listen.

    Examples
    --------
    >>> import requests
    >>> with serve(port=0) as service:
    ...     requests.get(f"{service.url}/repository/1").json()["name"]
    'build-your-own-x'
    """
    made = app(keys=keys, users=users, secret=secret, limit=limit, data=data)
    with _servers_lock:
        cell = find_calling_cell() if port == 0 else None
        for server in [*_open_servers]:
            if server.port == port or (cell is not None and cell.is_rerun_of(server.cell)):
                server.close()
        return RestServer(made, port, cell)


def _close_all() -> None:
    for server in [*_open_servers]:
        server.close()


atexit.register(_close_all)

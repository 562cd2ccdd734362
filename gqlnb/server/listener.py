"""One open socket, with the thread and the event loop that serve it through uvicorn.

uvicorn's own ``Server`` is made for a process: it handles signals, ends the process when the port
is taken, looks every 0.1 s whether it shall stop, and then waits for every open connection. Its
protocols (the parsing of HTTP) are what we take; opening and closing is done here.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import threading
from asyncio import CancelledError
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.errors import PortInUseError, ServerError, sanitize_text
from gqlnb.server.connection_limits import ConnectionWatcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.server.app import App
    from gqlnb.server.calling_cell import CellRun

__all__ = ["GRACE_SECONDS", "Address", "Listener", "bind_socket", "resolve_address"]

BACKLOG = 2048  # connections that wait to be accepted; uvicorn's default
GRACE_SECONDS = 1.0  # seconds in which running requests may finish when a server is closed
STUCK_SECONDS = 1.0  # seconds more, before a loop that a resolver blocks is left to itself
_POLL_SECONDS = 0.002  # seconds between two looks whether the last answer has left
_LOG = logging.getLogger("gqlnb.server")
# What uvicorn's protocols log to. Of it, exceptions are news: not addresses, paths and faults of
# strangers, and not a request that close() cut off.
_HTTP = logging.getLogger("gqlnb.server.http")
_HTTP.setLevel(logging.ERROR)
_HTTP.addFilter(lambda r: bool(r.exc_info and not isinstance(r.exc_info[1], CancelledError)))


class Address(NamedTuple):
    """Where to listen: what the system needs to bind a socket."""

    family: socket.AddressFamily
    sockaddr: tuple[Any, ...]


def resolve_address(host: str, port: int) -> Address:
    """Return the address of a host name; IPv4 before IPv6.

    Raises
    ------
    ServerError
        If the name is not known, or the port is no port.
    """
    number = index(port) if hasattr(port, "__index__") else -1
    if not 0 <= number <= 65535:
        message = f"A port is a number, 0 to 65535, 0 for any free one; got {sanitize_text(repr(port), 80)}."
        raise ServerError(message)
    with suppress(ValueError):  # an address needs no look-up
        ip = ip_address(host)
        tail = (0, 0) if ip.version == 6 else ()
        return Address(socket.AF_INET6 if tail else socket.AF_INET, (str(ip), number, *tail))
    # Of a name with a null character the system would read the beginning.
    name = str(host) if str(host).isprintable() else ""
    try:
        found = socket.getaddrinfo(name, number, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:  # ValueError: a label of more than 63 characters
        message = f"host={sanitize_text(repr(host), 80)} is not a name or address of this machine."
        raise ServerError(message) from error
    family, _, _, _, sockaddr = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return Address(family, sockaddr)


def bind_socket(address: Address) -> socket.socket:
    """Return a socket that listens.

    Raises
    ------
    PortInUseError
        If something else listens there.
    ServerError
        If the system does not let us.
    """
    # With the protocol named asyncio sends without delay; otherwise a kept connection waits 40 ms.
    sock = socket.socket(address.family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere the option would share a port that is in use
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address.sockaddr)
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except OSError as error:
        sock.close()
        raise build_bind_error(address, error) from error
    return sock


def build_bind_error(address: Address, error: OSError) -> ServerError:
    """Return the error that says why the system did not let us listen."""
    host, port = address.sockaddr[:2]
    if error.errno == errno.EADDRINUSE:
        return PortInUseError(
            f"Port {port} on {host} is in use by another program. Take a free one with port=0, or "
            f"another, such as port={port + 1 if port < 65535 else 4000}."
        )
    return ServerError(f"Cannot listen on port {port} of {host}: {error.strerror}.")


class Listener:
    """A socket that is being served, from :meth:`start` to :meth:`stop`.

    Attributes
    ----------
    app
        The application that answers.
    address
        Where it was bound; with the port that the system chose, if it was asked to.
    owner
        The server that may close it; None once it is closed.
    cell
        The notebook cell that asked for any free port and got this one.
    """

    def __init__(self, sock: socket.socket, app: App) -> None:
        self.app = app
        self.address = Address(sock.family, sock.getsockname())
        self.owner: Any = None
        self.cell: CellRun | None = None
        self.stopped = threading.Event()
        self._sock = sock
        self._watcher: ConnectionWatcher | None = None
        self._started = threading.Event()
        self._error: BaseException | None = None
        self._stop: asyncio.Future[float] | None = None
        name = f"gqlnb-server-{self.address.sockaddr[1]}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread and return when it accepts connections.

        Raises
        ------
        ServerError
            If it can't.
        """
        self._thread.start()
        self._started.wait()
        if self._error is not None:
            message = f"The server did not start: {sanitize_text(self._error)}"
            raise ServerError(message) from self._error

    def stop(self, grace: float = GRACE_SECONDS) -> None:
        """Close the socket and every connection; return when that is done.

        Parameters
        ----------
        grace
            Seconds in which running requests may finish. Half-sent ones are not waited for.
        """
        stop = self._stop
        if stop is not None:
            with suppress(RuntimeError):  # the loop has closed
                stop.get_loop().call_soon_threadsafe(signal_stop, stop, grace)
        if threading.current_thread() is self._thread:
            return  # a resolver closes its own server: the loop does it once this call is over
        self._thread.join(grace + STUCK_SECONDS)
        if self.alive:
            # A resolver blocks the loop. Nothing listens any more; the thread ends when it does.
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)

    def abandon(self) -> None:
        """Let go of the sockets in a forked child, where the thread does not run.

        The numbers stay taken, by the null device: objects of the parent's loop still hold them
        and would one day close a file of the child that had got the same number.
        """
        self.owner = None
        self.stopped.set()
        null = os.open(os.devnull, os.O_RDWR)
        connections = self._watcher.list_connections() if self._watcher else []
        for sock in (
            self._sock,
            *(c.transport.get_extra_info("socket") for c in connections),
        ):
            with suppress(OSError, AttributeError, ValueError):
                os.dup2(null, sock.fileno(), inheritable=False)
        os.close(null)

    # ------------------------------------------------------------ in the thread

    def _run(self) -> None:
        try:
            protocol, self._watcher = create_protocol_factory(self.app)
            loop = create_loop()
            try:
                run_until_done(
                    loop, loop.create_task(self._serve_until_stopped(loop, protocol, self._watcher))
                )
            finally:
                loop.close()
        except BaseException as error:
            self._error = error
            _LOG.debug("The server's thread ended", exc_info=error)
        finally:
            self._sock.close()
            self.stopped.set()
            self._started.set()

    async def _serve_until_stopped(
        self, loop: asyncio.AbstractEventLoop, protocol: Callable[[], Any], watch: ConnectionWatcher
    ) -> None:
        server = await loop.create_server(protocol, sock=self._sock, backlog=BACKLOG)
        self._stop = loop.create_future()
        watching = loop.create_task(watch.run())
        self._started.set()
        grace = await self._stop
        server.close()
        for connection in list(watch.state.connections):
            with suppress(Exception):  # one that is just closing may not like it
                connection.shutdown()  # behind its last answer; at once where nothing runs
        await self._wait_until_quiet(watch, loop.time() + grace)
        watching.cancel()
        for connection in watch.list_connections():
            connection.transport.abort()
        await cancel_tasks(watch.state.tasks)

    async def _wait_until_quiet(self, watch: ConnectionWatcher, deadline: float) -> None:
        """Wait until no request runs and every answer has left, or until the deadline."""
        loop = asyncio.get_running_loop()
        while self.app.running_requests or any(c.count_unsent() for c in watch.list_connections()):
            if loop.time() >= deadline:
                return
            await asyncio.sleep(_POLL_SECONDS)


def create_loop() -> asyncio.AbstractEventLoop:
    """Return uvloop's event loop, which uvicorn takes where it is installed, or asyncio's."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run_until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    """Run a loop until a task is done; ``exit()`` in a resolver's task does not end it."""
    asyncio.set_event_loop(loop)
    while not task.done():
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_until_complete(task)
    loop.run_until_complete(loop.shutdown_asyncgens())


def create_protocol_factory(app: App) -> tuple[Callable[[], Any], ConnectionWatcher]:
    """Return a factory of uvicorn's protocols, guarded, and the watch over what they serve.

    They log to us instead of to uvicorn's loggers, which print to the cell, and whose settings
    belong to whoever else runs uvicorn in this process.

    Parameters
    ----------
    app
        What answers, and whose limits hold.
    """
    from uvicorn import Config
    from uvicorn.server import ServerState

    from gqlnb.server.uvicorn_protocols import HttptoolsConnection

    watch = ConnectionWatcher(app, ServerState())
    config = Config(
        app,
        interface="asgi3",
        lifespan="off",
        http=HttptoolsConnection,
        ws=partial(create_websocket_protocol, watch),  # type: ignore[arg-type]
        ws_max_size=watch.limits.body,  # type: ignore[arg-type]
        # Between two programs of one machine compression saves nothing, and costs 64 KiB for each.
        ws_per_message_deflate=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
    )
    config.load()

    def create_protocol() -> Any:
        made = HttptoolsConnection(config=config, server_state=watch.state, app_state={})
        made.watcher, made.logger, made.access_log = watch, _HTTP, False
        return made

    return create_protocol, watch


def create_websocket_protocol(watch: ConnectionWatcher, **options: Any) -> Any:
    """Return a watched WebSocket protocol; the first one of a process loads websockets."""
    from gqlnb.server.uvicorn_protocols import WatchedWebSocket

    # The limits may have changed since the listener was opened.
    options["config"].ws_max_size = watch.app.limits.body
    made = WatchedWebSocket(**options)
    made.watcher, made.logger, made.conn.logger = watch, _HTTP, _HTTP
    return made


def signal_stop(stop: asyncio.Future[float], grace: float) -> None:
    """Give the signal to stop, once."""
    if not stop.done():
        stop.set_result(grace)


async def cancel_tasks(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel what still runs and give it a moment to notice."""
    for task in list(tasks):
        task.cancel()
    if tasks:
        await asyncio.wait(list(tasks), timeout=STUCK_SECONDS / 2)

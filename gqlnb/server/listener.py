"""A listening socket, with the thread and the event loop that serve it.

uvicorn's own ``Server`` is made for a whole process: it handles signals, exits if the port is in
use, polls every 0.1 s whether to stop, and then waits for all open connections. So only uvicorn's
protocols, which parse HTTP, are used; sockets are opened and closed here.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import sys
import threading
from contextlib import suppress
from inspect import currentframe
from ipaddress import ip_address
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.errors import PortInUseError, ServerError, sanitize_text
from gqlnb.server.deployment import remove_stale_socket

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable

    from gqlnb.server.app import App
    from gqlnb.server.connections import ConnectionWatcher
    from gqlnb.server.deployment import Certificate

# The function in which IPython executes the code of a cell.
_RUN_CODE = ("IPython.core.interactiveshell", "run_code")


class CellRun(NamedTuple):
    """One execution of one cell.

    Attributes
    ----------
    cell_id
        The same for each execution of a cell: the id of JupyterLab; without one, IPython's name
        for the text of the cell.
    run_id
        Different for each execution.
    """

    cell_id: str
    run_id: str

    def is_rerun_of(self, other: CellRun | None) -> bool:
        """Return whether `other` is another execution of the same cell."""
        return other is not None and other.cell_id == self.cell_id and other.run_id != self.run_id


def find_calling_cell() -> CellRun | None:
    """Return the cell that makes this call; None in scripts and in other threads.

    Notes
    -----
    It looks for IPython's own frame: a function called by a cell may be defined in any module.
    """
    cell = runner = None
    frame = currentframe()
    while frame is not None and (caller := frame.f_back) is not None:
        if (caller.f_globals.get("__name__"), caller.f_code.co_name) == _RUN_CODE:
            cell, runner = frame, caller  # the outermost frame is the visible cell
        frame = caller
    if cell is None or runner is None:
        return None
    shell = runner.f_locals.get("self")
    get = getattr(shell, "get_parent", None)
    request = get() if callable(get) else None  # of the front end; None without one
    message = request if isinstance(request, dict) else {}
    name = message.get("metadata", {}).get("cellId") or cell.f_code.co_filename
    run = message.get("header", {}).get("msg_id") or getattr(shell, "execution_count", 0)
    return CellRun(str(name), str(run))


_OWNER_ONLY = 0o600
_BACKLOG = 2048  # connections waiting to be accepted; uvicorn's default
GRACE_SECONDS = 1.0  # seconds for running requests when a server is closed
_STUCK_SECONDS = 1.0  # further seconds before a loop that a resolver blocks is abandoned
_POLL_SECONDS = 0.002  # seconds between two checks for unsent responses
_LOG = logging.getLogger("gqlnb.server")


class Address(NamedTuple):
    """The address of a socket."""

    family: socket.AddressFamily
    sockaddr: tuple[Any, ...]

    @property
    def is_unix(self) -> bool:
        """Whether it is the path of a Unix socket."""
        return len(self.sockaddr) == 1


def resolve_address(host: str, port: int) -> Address:
    """Return the address of a host name; IPv4 before IPv6.

    Raises
    ------
    ServerError
        If the name is unknown, or the port is not valid.
    """
    is_number = hasattr(port, "__index__") and not isinstance(port, bool)
    number = index(port) if is_number else -1
    if not 0 <= number <= 65535:
        given = sanitize_text(repr(port), 80)
        message = f"A port is a number, 0 to 65535, 0 for any free one; got {given}."
        raise ServerError(message)
    with suppress(ValueError):  # an IP address needs no look-up
        ip = ip_address(host)
        tail = (0, 0) if ip.version == 6 else ()
        return Address(socket.AF_INET6 if tail else socket.AF_INET, (str(ip), number, *tail))
    # The system would cut a name at a null character.
    name = str(host) if str(host).isprintable() else ""
    try:
        addresses = socket.getaddrinfo(name, number, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:  # ValueError: a label of more than 63 characters
        message = f"host={sanitize_text(repr(host), 80)} is not a name or address of this machine."
        raise ServerError(message) from error
    family, _, _, _, sockaddr = min(addresses, key=lambda entry: entry[0] != socket.AF_INET)
    return Address(family, sockaddr)


def bind_socket(address: Address) -> socket.socket:
    """Return a listening socket; a Unix socket to which nobody listens is replaced.

    Raises
    ------
    PortInUseError
        If another socket listens there.
    ServerError
        If the system refuses, or another file is at the path of a Unix socket.
    """
    if sys.platform == "emscripten":
        msg = (
            "Python in a browser has no sockets, so it cannot serve a schema. Query the schema "
            "itself: gqlnb.connect(schema)."
        )
        raise ServerError(msg)
    if address.is_unix:
        remove_stale_socket(address.sockaddr[0])
    # asyncio sets TCP_NODELAY only for IPPROTO_TCP; without it a second response waits 40 ms.
    sock = socket.socket(
        address.family, socket.SOCK_STREAM, 0 if address.is_unix else socket.IPPROTO_TCP
    )
    try:
        if address.is_unix:
            sock.bind(address.sockaddr[0])
            # uvicorn lets everybody connect. Until listen() nobody can.
            os.chmod(address.sockaddr[0], _OWNER_ONLY)
        else:
            if os.name == "posix":  # on Windows the option would share a port in use
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address.sockaddr)
        sock.listen(_BACKLOG)
        sock.setblocking(False)  # noqa: FBT003 - its only parameter
    except OSError as error:
        sock.close()
        raise _build_bind_error(address, error) from error
    return sock


def _build_bind_error(address: Address, error: OSError) -> ServerError:
    if address.is_unix:
        quoted = sanitize_text(repr(address.sockaddr[0]))
        return ServerError(f"Cannot listen on the socket {quoted}: {error.strerror or error}.")
    host, port = address.sockaddr[:2]
    if error.errno == errno.EADDRINUSE:
        return PortInUseError(
            f"Port {port} on {host} is in use by another program. Take a free one with port=0, or "
            f"another, such as port={port + 1 if port < 65535 else 4000}."
        )
    return ServerError(f"Cannot listen on port {port} of {host}: {error.strerror}.")


def redirect_sockets(sockets: Iterable[Any]) -> None:
    """Redirect the file descriptors of a parent's sockets to the null device, in a forked child."""
    # Closed descriptors would be reused, and objects of the parent's loop would later close a file
    # of the child with the same number.
    null = os.open(os.devnull, os.O_RDWR)
    for sock in sockets:
        with suppress(OSError, AttributeError, ValueError):
            os.dup2(null, sock.fileno(), inheritable=False)
    os.close(null)


class Listener:
    """A socket that is served from :meth:`start` to :meth:`stop`.

    Attributes
    ----------
    app
        The application.
    address
        The address of the socket, with the actual port; of a Unix socket, its path alone.
    tls
        The TLS context; None for plain HTTP.
    owner
        The Server object that may close it; None once it is closed.
    cell
        The notebook cell that opened it with ``port=0``, or None.
    """

    def __init__(self, sock: socket.socket, app: App, tls: ssl.SSLContext | None = None) -> None:
        self.app = app
        name = sock.getsockname()
        self.address = Address(sock.family, (name,) if isinstance(name, str) else name)
        self.tls = tls
        self.owner: Any = None
        self.cell: CellRun | None = None
        self.stopped = threading.Event()
        self._sock = sock
        self._watcher: ConnectionWatcher | None = None
        self._started = threading.Event()
        self._error: BaseException | None = None
        self._stop: asyncio.Future[float] | None = None
        name = f"gqlnb-server-{self.address.sockaddr[-1 if self.address.is_unix else 1]}"
        # A daemon: a resolver that hangs must not keep the interpreter from exiting.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def alive(self) -> bool:
        """Whether its thread is running."""
        return self._thread.is_alive()

    def can_switch_to(self, app: App, certificate: Certificate | None) -> bool:
        """Return whether it can serve another application, with or without TLS."""
        has_same_scheme = (self.tls is None) == (certificate is None)
        return self.alive and type(self.app) is type(app) and has_same_scheme

    def switch_to(self, app: App, certificate: Certificate | None) -> None:
        """Serve another application, with its certificate, from the next request on."""
        if self.tls is not None and certificate is not None:
            certificate.load_into(self.tls)
        self.app.switch_to(app)

    def start(self) -> None:
        """Start the thread, and return when it accepts connections.

        Raises
        ------
        ServerError
            If that fails.
        """
        self._thread.start()
        self._started.wait()
        if self._error is not None:
            message = f"The server did not start: {sanitize_text(self._error)}"
            raise ServerError(message) from self._error

    def stop(self, grace: float = GRACE_SECONDS) -> None:
        """Close the socket and every connection, and wait for it.

        Parameters
        ----------
        grace
            Seconds for running requests to finish. Incomplete requests are not waited for.
        """
        stop = self._stop
        if stop is not None:
            with suppress(RuntimeError):  # the loop has closed
                stop.get_loop().call_soon_threadsafe(_set_stop, stop, grace)
        if threading.current_thread() is self._thread or self.app.is_in_resolver():
            return  # a resolver closes its own server: the loop does so when it has been answered
        self._thread.join(grace + _STUCK_SECONDS)
        if self.alive:
            # A resolver blocks the loop. The socket is closed; the thread ends with the resolver.
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)

    def abandon(self) -> None:
        """Close the sockets in a forked child, where the thread does not run."""
        self.owner = None
        self.stopped.set()
        connections = self._watcher.list_connections() if self._watcher else []
        redirect_sockets([self._sock, *(c.transport.get_extra_info("socket") for c in connections)])

    def _run(self) -> None:
        try:
            from gqlnb.server.connections import create_protocol_factory  # loads uvicorn

            protocol, self._watcher = create_protocol_factory(self.app)
            loop = _create_loop()
            asyncio.set_event_loop(loop)
            task = loop.create_task(self._serve_until_stopped(loop, protocol, self._watcher))
            try:
                while not task.done():
                    with suppress(SystemExit, KeyboardInterrupt):  # of a resolver's task
                        loop.run_until_complete(task)
                loop.run_until_complete(loop.shutdown_asyncgens())
            finally:
                loop.close()
        except BaseException as error:  # noqa: BLE001 - start() raises it
            self._error = error
            _LOG.debug("The server's thread ended", exc_info=error)
        finally:
            self._sock.close()
            if self.address.is_unix:
                with suppress(OSError):
                    os.unlink(self.address.sockaddr[0])
            self.app.close()
            self.stopped.set()
            self._started.set()

    async def _serve_until_stopped(
        self, loop: asyncio.AbstractEventLoop, protocol: Callable[[], Any], watch: ConnectionWatcher
    ) -> None:
        if self.address.is_unix:
            server = await loop.create_unix_server(protocol, sock=self._sock, backlog=_BACKLOG)
        else:
            # A TLS handshake may take as long as a head.
            timeout = self.app.rules.limits.head_seconds if self.tls else None
            server = await loop.create_server(
                protocol,
                sock=self._sock,
                backlog=_BACKLOG,
                ssl=self.tls,
                ssl_handshake_timeout=timeout,
            )
        self._stop = loop.create_future()
        watching = loop.create_task(watch.run())
        self._started.set()
        grace = await self._stop
        server.close()
        for connection in list(watch.state.connections):
            with suppress(Exception):  # it may be closing already
                connection.shutdown()  # after its last response
        await self._wait_until_quiet(watch, loop.time() + grace)
        watching.cancel()
        for connection in watch.list_connections():
            connection.transport.abort()
        await self.app.close_streams()
        for task in list(watch.state.tasks):
            task.cancel()
        if watch.state.tasks:  # they have a moment to end
            await asyncio.wait(list(watch.state.tasks), timeout=_STUCK_SECONDS / 2)

    async def _wait_until_quiet(self, watch: ConnectionWatcher, deadline: float) -> None:
        """Wait until every request is answered and sent, or until the deadline."""
        loop = asyncio.get_running_loop()
        while self.app.running_requests or any(c.count_unsent() for c in watch.list_connections()):
            if loop.time() >= deadline:
                return
            await asyncio.sleep(_POLL_SECONDS)


def _create_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop of uvloop, if it is installed as for uvicorn, or asyncio."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _set_stop(stop: asyncio.Future[float], grace: float) -> None:
    if not stop.done():
        stop.set_result(grace)

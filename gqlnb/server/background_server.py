"""Serving from a notebook: in a background thread, on a socket bound by the caller."""

from __future__ import annotations

import atexit
import os
import threading
from html import escape
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from gqlnb import background
from gqlnb.auth import Token
from gqlnb.errors import PortInUseError, ServerError, sanitize_text
from gqlnb.http.server_rules import ENDPOINT, LOOPBACK_HOSTS
from gqlnb.redact import hide_locals
from gqlnb.server.app import App
from gqlnb.server.calling_cell import CellRun, find_calling_cell
from gqlnb.server.listener import GRACE_SECONDS, Address, Listener, bind_socket, resolve_address

if TYPE_CHECKING:
    import pandas as pd

    from gqlnb.document.limits import Limits
    from gqlnb.http.server_rules import Access

__all__ = ["Server", "find_allowed_hosts", "serve", "start_server"]

_listeners: set[Listener] = set()
_lock = threading.RLock()  # who opens, replaces or closes; never held while a request is answered


class Server:
    """A schema being served; made by :func:`serve`.

    Attributes
    ----------
    url : str
        The endpoint.
    host : str
        The name or address it was asked to listen on.
    port : int
        The port, also where the system chose it.
    token : Token or None
        What a request must send; a :class:`gqlnb.Client` of this server sends it by itself.

    Examples
    --------
    >>> import gqlnb
    >>> server = gqlnb.serve(gqlnb.reference_schema(), port=0)
    >>> gqlnb.Client(server.url).execute("query Greet { hello }").data
    {'hello': 'Hello world!'}
    >>> server.log[["operation", "status"]]
      operation  status
    0     Greet     200
    >>> server.close()
    """

    def __init__(
        self, listener: Listener, host: str, *, chosen: bool, token: Token | None = None
    ) -> None:
        self._listener = listener
        self._request_log = listener.app.request_log
        self._is_port_chosen = chosen
        self.host = host
        self.token = token
        self.port: int = listener.address.sockaddr[1]
        self.url = f"http://{choose_url_host(host)}:{self.port}{ENDPOINT}"

    @property
    def closed(self) -> bool:
        """Whether it answers no more, or another server has taken over its port."""
        return self._listener.owner is not self

    @property
    def log(self) -> pd.DataFrame:
        """The last 1,000 requests as a DataFrame, oldest first; also when it is closed.

        Columns ``time`` (in UTC), ``operation`` (its name), ``status`` (101 over a WebSocket, or
        the code with which we closed one), ``seconds`` (until the answer was made; until a
        subscription ended), ``bytes_in`` and ``bytes_out`` (of the bodies), ``error_id`` (for
        :meth:`error`). No query, variable, header or data is kept. Serving again on the same port
        goes on with the same log.
        """
        return self._request_log.build_frame()

    def error(self, error_id: str) -> BaseException:
        """Return the exception of which a client was told the id only.

        Parameters
        ----------
        error_id
            The eight characters after "Internal error" in the answer, or ``error_id`` of the log.

        Returns
        -------
        BaseException
            What a resolver raised; ``raise server.error(...)`` shows where.

        Raises
        ------
        ServerError
            If there is none of that id; the last 100 are kept.
        """
        return self._request_log.find_error(error_id)

    def close(self, *, grace: float = GRACE_SECONDS) -> None:
        """Stop answering and free the port; closing it again does nothing.

        Parameters
        ----------
        grace
            Seconds in which requests that run may finish; one by default, 0 to cut them off.
            Nothing else is waited for: connections that are idle, and requests that have not come
            in full, end at once.
        """
        with _lock:
            if self.closed:
                return
            self._listener.owner = None
            background.servers.remove(self)
            _listeners.discard(self._listener)
            self._listener.stop(grace)

    def wait(self) -> None:
        """Return when it is closed; Ctrl+C closes it."""
        try:
            self._listener.stopped.wait()
        except KeyboardInterrupt:
            self.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # A port that the system chose differs from run to run; a saved notebook should not.
        where = "port=0" if self._is_port_chosen else repr(self.url)
        return f"Server({where}{', closed' if self.closed else ''})"

    def _repr_html_(self) -> str:
        if self._is_port_chosen or self.closed:
            return f"<code>{escape(repr(self))}</code>"
        url = escape(self.url, quote=True)
        return f'GraphQL at <a href="{url}" target="_blank" rel="noopener">{url}</a>'


@hide_locals
def serve(
    schema: Any,
    port: int = 4000,
    *,
    host: str = "127.0.0.1",
    token: Token | str | None = None,
    limits: Limits | None = None,
    access: Access | None = None,
) -> Server:
    """Serve a schema at ``/graphql`` from a background thread.

    Returns when it accepts connections. It is closed by :meth:`Server.close`, at the end of a
    ``with`` block, or when the interpreter exits. Served again on the same port, as a re-run cell
    does, the new schema, token, limits and access replace the old ones without closing the port.

    Parameters
    ----------
    schema
        The schema: a :class:`gqlnb.Schema`, or a schema object of graphql-core, Strawberry, Ariadne
        or Graphene, which :meth:`gqlnb.Schema.adopt` takes. Its plain resolvers run in worker
        threads, its ``async`` ones on the server's own event loop. If it has subscriptions, they
        are answered as server-sent events, to who sends ``Accept: text/event-stream``, and over
        WebSocket, subprotocol ``graphql-transport-ws``.
    port
        The port, or 0 for any free one. With 0, a notebook cell that is run again replaces the
        servers it started before, and keeps the port; a script always gets another server.
    host
        The address to listen on. Only this machine can ask the default; for any address that
        others can reach, a token must be given.
    token
        What a request must send as ``Authorization: Bearer ...``: ``"env:NAME"``,
        ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"`` or a Token.
    limits
        How much is let through: ``Limits(depth=30)``. By default every bound of
        :class:`gqlnb.Limits`; None in its place switches one off.
    access
        Who may ask, and for what: ``Access(origins=["http://localhost:5173"], get=True)``. By
        default this machine alone, by POST, and no page of another origin; see
        :class:`gqlnb.Access`.

    Returns
    -------
    Server

    Raises
    ------
    PortInUseError
        If another program listens on the port.
    ServerError
        If `schema` can't be served, or the system does not let us listen.

    Examples
    --------
    >>> from gqlnb.engine.schema import reference_schema
    >>> with serve(reference_schema(), port=0) as server:
    ...     server.url == f"http://127.0.0.1:{server.port}/graphql"
    True
    """
    address, secret = resolve_address(host, port), Token.from_source(token)
    names = find_allowed_hosts(host, address, secret, access)
    app = App(schema, token=secret, limits=limits, access=access, hosts=names)
    return start_server(app, address, host, port=port, token=secret)


def start_server(
    app: App, address: Address, host: str, *, port: int, token: Token | None
) -> Server:
    """Serve an application at an address, in the place of our own server there."""
    with _lock:
        cell = find_calling_cell() if port == 0 else None
        listener = (
            take_over_listener(address, app)
            or inherit_listener(cell, address, app)
            or open_listener(address, app)
        )
        if listener.owner is not None:
            background.servers.remove(listener.owner)
        server = listener.owner = Server(listener, host, chosen=port == 0, token=token)
        listener.cell = cell
        _listeners.add(listener)
        background.servers.add(server)
    return server


def find_allowed_hosts(
    host: str, address: Address, token: object, access: Access | None = None
) -> frozenset[str] | None:
    """Return the names a request may ask for beside those of `access`.

    None, which is any, where others can reach the server and no name is given there.

    Raises
    ------
    ServerError
        If others can reach it and no token is asked of them.
    """
    ip = ip_address(address.sockaddr[0].partition("%")[0])
    if ip.is_loopback:
        return LOOPBACK_HOSTS | {bracket_ipv6(host.lower()), bracket_ipv6(str(ip))}
    if token is not None:
        return LOOPBACK_HOSTS if access is not None and access.hosts else None
    message = (
        f"host={sanitize_text(host, 80)!r} lets other machines ask, so it needs a token: "
        f"serve(schema, host=..., token='env:NAME'). For this machine alone leave host out."
    )
    raise ServerError(message)


def take_over_listener(address: Address, app: App) -> Listener | None:
    """Let our own server at an address serve `app`."""
    for listener in list(_listeners):
        if listener.address != address:
            continue
        if listener.alive and type(listener.app) is type(app):
            listener.app.switch_to(app)
            return listener
        listener.owner.close()
    return None


def inherit_listener(cell: CellRun | None, address: Address, app: App) -> Listener | None:
    """Let a server that a cell started when it ran before serve `app`; close its others."""
    kept: Listener | None = None
    for listener in list(_listeners):
        if cell is None or not cell.is_rerun_of(listener.cell):
            continue
        is_usable = listener.alive and type(listener.app) is type(app)
        if kept is None and is_usable and is_same_host(listener.address, address):
            listener.app.switch_to(app)
            kept = listener
        else:
            listener.owner.close()
    return kept


def is_same_host(one: Address, other: Address) -> bool:
    """Tell whether two addresses differ in the port at most."""
    return (one.family, one.sockaddr[0]) == (other.family, other.sockaddr[0])


def open_listener(address: Address, app: App) -> Listener:
    """Bind a socket here, where a taken port is an error at once, and start its thread.

    A server of ours that is in the way, as one of all addresses is in that of each, is closed.
    """
    try:
        sock = bind_socket(address)
    except PortInUseError:
        port = address.sockaddr[1]
        ours = [one for one in _listeners if one.address.sockaddr[1] == port]
        if not ours:
            raise
        for one in ours:
            one.owner.close()
        sock = bind_socket(address)
    listener = Listener(sock, app)
    listener.start()
    return listener


def bracket_ipv6(host: str) -> str:
    """Return a host as it stands in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def choose_url_host(host: str) -> str:
    """Return the host to ask for what listens on `host`; loopback, if that is every address."""
    every = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not bound here
    return bracket_ipv6(every.get(host, host))


def _close_all() -> None:
    for listener in list(_listeners):
        owner = listener.owner
        if owner is not None:
            owner.close(grace=0.0)


def _abandon_after_fork() -> None:
    global _lock  # noqa: PLW0603 - another thread of the parent may have held it
    _lock = threading.RLock()
    for listener in _listeners:
        listener.abandon()
    _listeners.clear()


# Every port is free when the interpreter exits, and at once in a forked child.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_after_fork)
atexit.register(_close_all)

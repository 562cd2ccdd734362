"""Servers in background threads: the `Server` object, and `serve`."""

from __future__ import annotations

import atexit
import os
import socket
import threading
from html import escape
from ipaddress import ip_address
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

from gqlnb import background
from gqlnb.config import resolve_unix_path
from gqlnb.errors import OptionError, PortInUseError, ServerError, sanitize_text
from gqlnb.http.server_rules import ENDPOINT, LOOPBACK_HOSTS, Access
from gqlnb.option_checks import explain_keywords
from gqlnb.redact import hide_locals
from gqlnb.server.app import App
from gqlnb.server.authentication import TokenOption, read_token_option
from gqlnb.server.deployment import Certificate, check_root_path, read_certificate
from gqlnb.server.listener import (
    GRACE_SECONDS,
    Address,
    CellRun,
    Listener,
    bind_socket,
    find_calling_cell,
    resolve_address,
)
from gqlnb.server.request_log import build_timed_frame
from gqlnb.server.worker_pool import HangingCall
from gqlnb.tokens import Token

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from gqlnb.http.messages import HttpRequest
    from gqlnb.limits import Limits

_DEFAULT_PORT, _DEFAULT_HOST = 4000, "127.0.0.1"
_listeners: set[Listener] = set()
# Reentrant, since serve() closes servers that are in the way.
_lock = threading.RLock()  # held to open, replace or close a server, not to answer requests


@explain_keywords
class Server:
    """A running server; created by :func:`serve`.

    Parameters
    ----------
    listener
        The listener that accepts its connections.
    host
        The name or address that it listens on.
    chosen
        Whether the system chose the port.
    token
        The required token; None for none.
    root_path
        The path under which a proxy shows it.

    Attributes
    ----------
    url : str
        The endpoint; on a Unix socket ``http+unix://`` and the path of the socket, quoted.
    host : str
        The name or address that it listens on, as given; the path of a Unix socket.
    port : int
        The actual port; 0 on a Unix socket.
    token : Token or None
        The required token; a :class:`gqlnb.Client` of this server sends it by default. None
        where `token` is a mapping or function: then the client needs its own, ``Client(server,
        token=...)``, or gets status 401.

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
        self,
        listener: Listener,
        host: str,
        *,
        chosen: bool,
        token: Token | None = None,
        root_path: str = "",
    ) -> None:
        self._listener = listener
        self._request_log = listener.app.request_log
        self._is_port_chosen = chosen
        self.host = host
        self.token = token
        self.port: int = 0 if listener.address.is_unix else listener.address.sockaddr[1]
        path = listener.app.rules.path
        # Browsers resolve it against the page of the notebook, which has the origin of the proxy.
        self._link = f"{root_path}{path}" if root_path else None
        if listener.address.is_unix:  # the form that requests-unixsocket has introduced
            self.url = f"http+unix://{quote(host, safe='')}{path}"
            return
        # Clients cannot connect to the address that means all interfaces.
        wildcards = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
        url_host = _bracket_ipv6(wildcards.get(host, host))
        scheme = "http" if listener.tls is None else "https"
        self.url = f"{scheme}://{url_host}:{self.port}{path}"

    @property
    def closed(self) -> bool:
        """Whether it is closed, or another server has taken over its port."""
        return self._listener.owner is not self

    @property
    def log(self) -> pd.DataFrame:
        """The last 1,000 requests as a DataFrame, oldest first; available after closing too.

        Columns ``time`` (in UTC), ``operation`` (its name), ``status`` (101 over a WebSocket, or
        the code with which the server closed one), ``seconds`` (until the response was complete,
        or a subscription ended), ``bytes_in`` and ``bytes_out`` (of the bodies), ``error_id`` (for
        :meth:`error`). No query, variable, header or data is kept. A server that replaces this one
        on the same port continues the log.
        """
        return self._request_log.build_frame()

    @property
    def hanging(self) -> pd.DataFrame:
        """The resolvers that run for longer than a second, as a DataFrame, oldest first.

        Columns ``time`` (of their begin, in UTC), ``seconds`` (since then), ``operation`` (its
        name), and ``resolver`` (module, function and line; missing for one not written in Python).
        Each holds a worker thread, also after its client got an error or has left: Python cannot
        stop a function. Calls of one field hold at most half of the threads.
        """
        dtypes = {"seconds": "Float64", "operation": "string", "resolver": "string"}
        calls = self._listener.app.list_hanging()
        return build_timed_frame(calls, HangingCall._fields, dtypes)

    def error(self, error_id: str) -> BaseException:
        """Return an exception that was masked: the client got its id only.

        Parameters
        ----------
        error_id
            The eight characters after "Internal error" in the answer, or ``error_id`` of the log.

        Returns
        -------
        BaseException
            The exception of the resolver; ``raise server.error(...)`` shows its traceback.

        Raises
        ------
        ServerError
            If the id is unknown; the last 100 are kept, fewer where the requests were large.
        """
        return self._request_log.find_error(error_id)

    def reload(self, schema: object) -> None:
        """Serve another schema from the next request on, under the same rules and at once.

        Connections stay open. Running requests, and open WebSockets, keep the schema with which
        they began.

        Parameters
        ----------
        schema
            The schema to serve from now on: anything that :func:`gqlnb.serve` takes.

        Raises
        ------
        ServerError
            If it cannot be served, or the server is closed; the former schema stays.

        Examples
        --------
        >>> with gqlnb.serve(gqlnb.Schema("type Query { a: Int }"), port=0) as server:
        ...     server.reload(gqlnb.reference_schema())
        ...     gqlnb.Client(server.url).execute("{ hello }").data
        {'hello': 'Hello world!'}
        """
        with _lock:
            if self.closed:
                message = "The server is closed. Serve the schema again with gqlnb.serve(schema)."
                raise ServerError(message)
            self._listener.app.schema = schema

    def close(self, *, grace: float = GRACE_SECONDS) -> None:
        """Close the server and free the port; closing it again does nothing.

        Parameters
        ----------
        grace
            Seconds for running requests to finish; one by default, 0 to cancel them. Idle
            connections and incomplete requests end at once.
        """
        with _lock:
            if self.closed:
                return
            self._listener.owner = None
            background.servers.remove(self)
            _listeners.discard(self._listener)
            self._listener.stop(grace)

    def wait(self) -> None:
        """Wait until the server is closed; Ctrl+C closes it."""
        try:
            background.wait_for_event(self._listener.stopped)
        except KeyboardInterrupt:
            self.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        msg = (
            "A Server cannot be pickled or copied: it is a socket and threads of this process. "
            "Pass on its address, server.url."
        )
        raise TypeError(msg)

    def __repr__(self) -> str:
        # A port chosen by the system differs from run to run; a saved notebook should not.
        where = "port=0" if self._is_port_chosen else repr(self.url)
        return f"Server({where}{', closed' if self.closed else ''})"

    def _repr_html_(self) -> str:
        # JupyterLab's extension replaces a chosen port by the address, in the page and not in the
        # file; no browser opens a Unix socket.
        has_no_link = self._link is None and (
            self._is_port_chosen or self._listener.address.is_unix
        )
        if self.closed or has_no_link:
            return f'<code class="gqlnb">{escape(repr(self))}</code>'
        url = escape(self._link or self.url, quote=True)
        return f'GraphQL at <a href="{url}" target="_blank" rel="noopener">{url}</a>'


@explain_keywords
@hide_locals
def serve(
    schema: object,
    port: int = _DEFAULT_PORT,
    *,
    host: str = _DEFAULT_HOST,
    token: TokenOption = None,
    limits: Limits | None = None,
    access: Access | None = None,
    context: Callable[[HttpRequest], object] | None = None,
    path: str = ENDPOINT,
    root_path: str = "",
    uds: str | os.PathLike[str] | None = None,
    certfile: str | os.PathLike[str] | None = None,
    keyfile: str | os.PathLike[str] | None = None,
) -> Server:
    """Serve a schema at ``/graphql`` from a background thread.

    It is closed by :meth:`Server.close`, at the end of a ``with`` block, or when the interpreter
    exits. Serving again on the same port, as a re-run cell does, replaces the schema, token, limits
    and access without closing the port.

    Parameters
    ----------
    schema
        The schema: a :class:`gqlnb.Schema`, or a schema object of graphql-core, Strawberry, Ariadne
        or Graphene, which :meth:`gqlnb.Schema.adopt` accepts. Its plain resolvers run in worker
        threads, its ``async`` ones on the server's own event loop. Subscriptions are answered as
        server-sent events, for ``Accept: text/event-stream``, and over WebSocket, subprotocol
        ``graphql-transport-ws``.
    port
        The port, or 0 for any free one. With 0, a notebook cell that is run again replaces the
        servers it started before and keeps the port; a script always gets another server.
    host
        The address to listen on. Other machines cannot reach the default; an address that they can
        reach requires a token.
    token
        The token required as ``Authorization: Bearer ...``: ``"env:NAME"``, ``"keyring:NAME"``,
        ``"file:PATH"``, ``"prompt"`` or a Token. Or several, as a mapping of names to tokens. Or a
        function, plain or ``async``, that gets the text of a token and returns the identity of
        the client, such as the claims of a JWT; None or an exception refuses it with 401,
        PermissionError with 403.
    limits
        The limits, such as ``Limits(depth=30)``; by default those of :class:`gqlnb.Limits`. None
        as the value of a limit switches it off.
    access
        The access rules, such as ``Access(origins=["http://localhost:5173"], get=True)``. By
        default only this machine has access, by POST, and no page of another origin; see
        :class:`gqlnb.Access`.
    context
        A function, plain or ``async``, that is called for each request and returns the `context`
        of its resolvers. It gets the request, with `method`, `path`, `headers` (by lower-case
        name), `client` (its address) and `identity` (that of `token`).
    path
        The path of the endpoint, such as ``"/api/graphql"``.
    root_path
        The path under which a proxy shows the server, and which it removes, such as
        ``"/user/ann/proxy/4000"``: the link under a notebook cell begins with it. The name of the
        proxy belongs into ``access=Access(hosts=...)``.
    uds
        The path of a Unix socket to listen on instead of a port; only programs of the same user can
        connect, until you change the mode of the file.
    certfile, keyfile
        Files in PEM format with a certificate and its private key, for HTTPS; without `keyfile` the
        first has both. A cell that is run again loads them again.

    Returns
    -------
    Server
        The server, which accepts connections.

    Raises
    ------
    PortInUseError
        If another program listens on the port.
    ServerError
        If `schema` cannot be served, the port is not valid or `host` unknown, the system refuses to
        open the port or socket, the certificate cannot be read, or other machines can reach it
        without a token.
    AuthError
        If `token` is not a source of a token, or the source does not have it;
        LiteralSecretError if it is the token itself as text.
    OptionError
        If `limits` or `access` is of another type, a path is not valid, or `uds` is given with an
        option of a port; KeywordError, also a TypeError, if an option has another name.

    Examples
    --------
    >>> from gqlnb.engine.schema import reference_schema
    >>> with serve(reference_schema(), port=0) as server:
    ...     server.url == f"http://127.0.0.1:{server.port}/graphql"
    True
    """
    secret, verify = read_token_option(token)
    if uds is None:
        address = resolve_address(host, port)
        names = find_allowed_hosts(host, address, secret or verify, access)
    else:
        if port != _DEFAULT_PORT or host != _DEFAULT_HOST or certfile is not None:
            message = "uds= replaces port=, host= and certfile=: give either the socket or these."
            raise OptionError(message)
        host, names = resolve_unix_path(uds), LOOPBACK_HOSTS
        address = Address(socket.AF_UNIX, (host,))
    certificate = read_certificate(certfile, keyfile)
    root_path = check_root_path(root_path)
    app = App(
        schema,
        token=secret or verify,
        limits=limits,
        access=access,
        context=context,
        hosts=names,
        path=path,
    )
    return start_server(
        app, address, host, port=port, token=secret, root_path=root_path, certificate=certificate
    )


def start_server(
    app: App,
    address: Address,
    host: str,
    *,
    port: int,
    token: Token | None,
    root_path: str = "",
    certificate: Certificate | None = None,
) -> Server:
    """Serve an application at an address, in the place of our own server there."""
    with _lock:
        cell = find_calling_cell() if port == 0 else None
        listener = _reuse_listener(cell, address, app, certificate)
        if listener is None:
            tls = certificate.create_context() if certificate else None
            listener = Listener(_bind_address(address), app, tls)
            listener.start()
        elif listener.owner is not None:
            background.servers.remove(listener.owner)
        server = listener.owner = Server(
            listener, host, chosen=port == 0, token=token, root_path=root_path
        )
        listener.cell = cell
        _listeners.add(listener)
        background.servers.add(server)
    return server


def find_allowed_hosts(
    host: str, address: Address, token: object, access: Access | None = None
) -> frozenset[str] | None:
    """Return the names that the ``Host`` header may have beside those of `access`.

    None, for any name, if other machines can reach the server and `access` has no names.

    Parameters
    ----------
    host
        The name or address to listen on, as given.
    address
        The address of that name.
    token
        The required token; None for none.
    access
        The access rules; None for the default.

    Returns
    -------
    frozenset of str, or None
        The names in lower case, without ports; None allows any.

    Raises
    ------
    ServerError
        If other machines can reach the server and no token is required.
    """
    ip = ip_address(address.sockaddr[0].partition("%")[0])
    if ip.is_loopback:
        return LOOPBACK_HOSTS | {_bracket_ipv6(host.lower()), _bracket_ipv6(str(ip))}
    if token is not None:
        return LOOPBACK_HOSTS if access is not None and access.hosts else None
    message = (
        f"host={sanitize_text(host, 80)!r} lets other machines ask, so it needs a token: "
        f"serve(schema, host=..., token='env:NAME'). For this machine alone leave host out."
    )
    raise ServerError(message)


def _reuse_listener(
    cell: CellRun | None, address: Address, app: App, certificate: Certificate | None
) -> Listener | None:
    """Switch our own server at an address, or one of an earlier run of the cell, to `app`."""
    # Others of earlier runs, and one that cannot be switched, are closed.
    kept: Listener | None = None
    for listener in list(_listeners):
        is_rerun = cell is not None and cell.is_rerun_of(listener.cell)
        if not is_rerun and listener.address != address:
            continue
        is_same_host = (address.family, address.sockaddr[0]) == (
            listener.address.family,
            listener.address.sockaddr[0],
        )
        if kept is None and is_same_host and listener.can_switch_to(app, certificate):
            listener.switch_to(app, certificate)
            kept = listener
        else:
            listener.owner.close()
    return kept


def _bind_address(address: Address) -> socket.socket:
    """Return a listening socket; our own server on another address of its port is closed."""
    # One on all addresses uses the port of each.
    try:
        return bind_socket(address)
    except PortInUseError:
        port = address.sockaddr[1:2]
        ours = [ready for ready in _listeners if port and ready.address.sockaddr[1:2] == port]
        if not ours:
            raise
        for listener in ours:
            listener.owner.close()
        return bind_socket(address)


def _bracket_ipv6(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _close_all() -> None:
    for listener in list(_listeners):
        owner = listener.owner
        if owner is not None:
            owner.close(grace=0.0)


def _abandon_after_fork() -> None:
    global _lock  # noqa: PLW0603 - a thread of the parent may hold it
    _lock = threading.RLock()
    for listener in _listeners:
        listener.abandon()
    _listeners.clear()


# Ports are freed when the interpreter exits, and in a forked child, which has no server threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_after_fork)
atexit.register(_close_all)

"""Serving the stand-in as GitHub serves: in a background thread, or in the foreground."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from gqlnb import runtime
from gqlnb.github.edge import Edge, chosen
from gqlnb.server.listener import Listener, bind, resolve
from gqlnb.server.thread import Server, allowed
from gqlnb.token import Token

if TYPE_CHECKING:
    from gqlnb.github.standin import StandIn
    from gqlnb.model.limits import Limits

__all__ = ["PORT", "serve"]

PORT = 4001
"""One more than that of :func:`gqlnb.serve`, so that both can be open."""

_lock = threading.Lock()
_open: dict[int, Server] = {}


def serve(
    standin: StandIn | None = None,
    port: int = PORT,
    *,
    host: str = "127.0.0.1",
    token: Token | str | None = None,
    limits: Limits | None = None,
) -> Server:
    """Serve the stand-in at ``/graphql`` from a background thread, with GitHub's HTTP.

    Like :func:`gqlnb.serve`, with statuses, bodies and headers as :func:`app` has them, and with
    the faults of the stand-in's simulation. Served again on the same port, as a re-run cell does,
    the new one takes the place of the old one.

    Parameters
    ----------
    standin
        Of :func:`service`; by default over the embedded snapshot.
    port
        The port, or 0 for any free one.
    host
        The address to listen on; for any that others can reach a token must be given.
    token
        What a request must send, as for :func:`app`.
    limits
        How much is let through, as for :func:`app`.

    Returns
    -------
    Server
        With ``url``, ``port``, ``log`` and ``close()``; closed at the end of a ``with`` block.

    Raises
    ------
    OptionError
        If `standin` or `limits` is something else.
    PortInUseError
        If another program listens on the port.
    ServerError
        If the system does not let us listen, or others could ask and no token is asked of them.

    Examples
    --------
    >>> from gqlnb import connect
    >>> with serve(port=0) as server:
    ...     connect(server).execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    address, secret = resolve(host, port), Token.of(token)
    made = Edge(
        chosen(standin),
        token=secret,
        limits=limits,
        hosts=allowed(host, address, secret),
    )
    with _lock:
        before = _open.pop(port, None)
        if before is not None:
            before.close()
        listener = Listener(bind(address), made)
        listener.start()
        server = listener.owner = Server(listener, host, chosen=port == 0, token=secret)
        runtime.servers.add(server)
        if port:
            _open[port] = server
    return server

"""Connections by name, and which one is meant when none is named."""

from __future__ import annotations

import difflib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gqlnb import runtime
from gqlnb.client.addresses import shown
from gqlnb.client.recordings import spared
from gqlnb.errors import TargetError

if TYPE_CHECKING:
    from gqlnb.client.client import Client

__all__ = [
    "HERE",
    "SERVE",
    "VARIABLE",
    "Connection",
    "chosen",
    "close",
    "default_target",
    "forget",
    "known",
    "named",
    "register",
    "use",
]

HERE = "http://127.0.0.1:4000/graphql"  # /graphql on the current host
VARIABLE = "GQLNB_URL"
SERVE = """To serve a schema from this notebook:
  import gqlnb
  server = gqlnb.serve(gqlnb.reference_schema())"""

Factory = Callable[..., "Client"]


@dataclass(frozen=True, slots=True)
class Connection:
    """A name and how to make its client.

    Attributes
    ----------
    name
        What a person writes after ``-c``.
    make
        Called with the options of :func:`gqlnb.connect`; returns a client.
    about
        One line that says what it is; no secret.
    """

    name: str
    make: Factory
    about: str

    def open(self, **options: Any) -> Client:
        """Return its client, which knows the name: recordings know endpoints by it."""
        client = self.make(**options)
        client.name = self.name
        return client


_lock = threading.RLock()
_known: dict[str, Connection] = {}
_open: dict[str, Client] = {}
_current: list[str] = []


def register(name: str, make: Factory, about: str) -> None:
    """Enter a connection under `name`; one of that name is replaced, and closed if it was open."""
    with _lock:
        _known[name] = Connection(name, make, about)
        old = _open.pop(name, None)
    if old is not None:
        old.close()


def forget(name: str) -> None:
    """Remove a connection; a name that is not known is no error."""
    with _lock:
        if name in _known:
            close(name)
            del _known[name]


def close(name: str) -> None:
    """Close the client of a connection, which is current no more; the next use opens it again.

    Raises
    ------
    TargetError
        If there is no connection of that name.
    """
    with _lock:
        _find(name)
        client = _open.pop(name, None)
        if name in _current:
            _current.remove(name)
    if client is not None:
        client.close()


def known() -> tuple[Connection, ...]:
    """Return the connections in the order they were entered."""
    with _lock:
        return tuple(_known.values())


def use(name: str | None) -> None:
    """Make a connection the current one; None makes none current.

    Raises
    ------
    TargetError
        If there is no connection of that name.
    """
    with _lock:
        if name is not None:
            _find(name)
        _current[:] = [name] if name is not None else []


def current() -> str | None:
    """Return the name of the current connection."""
    with _lock:
        return _current[0] if _current else None


def named(name: str, **options: Any) -> Client:
    """Return the client of a connection; without options the same one each time.

    Raises
    ------
    TargetError
        If there is no connection of that name; the message lists those there are.
    """
    with _lock:
        connection = _find(name)
        if options:
            return connection.open(**options)
        client = _open.get(name)
        # Made without a token while a recording answered; there may be one by now.
        if client is None or (getattr(client, "_lacking", None) is not None and not spared()):
            client = _open[name] = connection.open()
        return client


def default_target() -> Any:
    """Return what is meant when no target is named.

    In this order: the current connection, the address in ``GQLNB_URL``, the newest open server of
    this process, ``/graphql`` on the current host.
    """
    return chosen()[0]


def chosen() -> tuple[Any, str]:
    """Return what is meant when no target is named, and where that was said; "" if nowhere."""
    name = current()
    if name is not None:
        return name, f"{name!r}, the current connection"
    url = os.environ.get(VARIABLE, "").strip()
    if url:
        return url, f"{shown(url)}, which {VARIABLE} names"
    return runtime.servers.newest() or HERE, ""


def _find(name: str) -> Connection:
    if name in _known:
        return _known[name]
    close_ones = difflib.get_close_matches(name, _known, 1)
    guess = f" Did you mean {close_ones[0]!r}?" if close_ones else ""
    names = ", ".join(repr(known_name) for known_name in _known) or "none"
    msg = (
        f"No connection is called {shown(name)!r}.{guess} "
        f"Known: {names}. An address begins with http:// or https://."
    )
    raise TargetError(msg)

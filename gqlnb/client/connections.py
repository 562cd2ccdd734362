"""Connections by name, and which one is meant when none is named."""

from __future__ import annotations

import difflib
import inspect
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gqlnb import runtime
from gqlnb.client.addresses import shown
from gqlnb.client.listed import listed, listing_fault
from gqlnb.client.recordings import spared
from gqlnb.errors import OptionError, TargetError

if TYPE_CHECKING:
    from gqlnb.client.client import Client

__all__ = [
    "HERE",
    "SERVE",
    "VARIABLE",
    "Connection",
    "asks_nobody",
    "chosen",
    "close",
    "current",
    "exists",
    "forget",
    "is_shared",
    "known",
    "named",
    "opened",
    "provide",
    "register",
    "renew",
    "succeed",
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
    place
        Where it was entered.
    """

    name: str
    make: Factory
    about: str
    place: str = "this process"

    def open(self, **options: Any) -> Client:
        """Return its client, which knows the name: recordings know endpoints by it."""
        client = self.make(**options)
        client.name = self.name
        client.is_by_name = not options
        return client


_lock = threading.RLock()
_known: dict[str, Connection] = {}
_provided: dict[str, Connection] = {}
_open: dict[str, tuple[Connection, Client]] = {}
_current: list[str] = []
_gates: dict[str, Any] = {}  # held while a connection is opened, by its name


def register(name: str, make: Factory, about: str, client: Client | None = None) -> None:
    """Enter a connection under `name`; one of that name is replaced, and closed if it was open.

    A client that was made already is the one that is open then.
    """
    with _lock:
        _known[name] = connection = Connection(name, make, about)
        shut = _taken(name)
        if client is not None:
            _open[name] = connection, client
    shut()


def provide(name: str, make: Factory, about: str) -> None:
    """Enter a connection that is there from the start: those of files and sessions go before it."""
    with _lock:
        _provided.setdefault(name, Connection(name, make, about, "built in"))


def forget(name: str) -> None:
    """Remove a connection of this process; a name that is not known is no error."""
    with _lock:
        if _known.pop(name, None) is None:
            return
        shut = _taken(name)
        if name in _current:
            _current.remove(name)
    shut()


def close(name: str) -> None:
    """Close the client of a connection, which is current no more; the next use opens it again.

    Raises
    ------
    TargetError
        If there is no connection of that name.
    """
    with _lock:
        _find(name)
        shut = _taken(name)
        if name in _current:
            _current.remove(name)
    shut()


def exists(name: str) -> bool:
    """Tell whether there is a connection of that name.

    Raises
    ------
    OptionError
        If there is not, and a settings file that may have one cannot be read.
    """
    with _lock:
        if name in _known or name in _provided or name in listed():
            return True
    if fault := listing_fault():
        raise OptionError(fault)
    return False


def known() -> tuple[Connection, ...]:
    """Return the connections: those that are built in, those of files, those of this process.

    Of one name the last of these counts. Those of a settings file that cannot be read are missing;
    :func:`listing_fault` says why.
    """
    with _lock:
        return tuple(_all().values())


def _all() -> dict[str, Connection]:
    named = {name: Connection(name, it, it.about, it.place) for name, it in listed().items()}
    return {**_provided, **named, **_known}


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


def list_options(name: str) -> tuple[str, ...]:
    """Return the names of the options that a connection has beside those of a client.

    Raises
    ------
    TargetError
        If there is no connection of that name.
    """
    with _lock:
        parameters = inspect.signature(_find(name).make).parameters.values()
    return tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)


def named(name: str, **options: Any) -> Client:
    """Return the client of a connection; without options the same one each time.

    Raises
    ------
    TargetError
        If there is no connection of that name; the message lists those there are.
    """
    with _lock:
        gate = _gates.setdefault(name, threading.RLock())
    # Not `_lock`: a keyring may take its time, and completion asks meanwhile which names there are.
    with gate:
        with _lock:
            connection = _find(name)
            before, client = _open.get(name, (None, None))
        if options:
            return connection.open(**options)
        # Made without a token while a recording answered; there may be one by now.
        lacking = getattr(client, "_lacking", None) is not None and not spared()
        if client is None or lacking or before != connection:  # a file may say something else now
            client = connection.open()
            with _lock:
                _open[name] = connection, client
        return client


def renew(name: str) -> Client:
    """Return the client of a connection, made anew.

    Of the one before it keeps only the schema that the session began with, so that changes are
    told since then.

    Raises
    ------
    TargetError
        If there is no connection of that name.
    """
    with _lock:
        _find(name)
        opened = _open.pop(name, None)
    made = named(name)
    if opened is not None:
        succeed(made, opened[1])
    return made


def succeed(made: Client, before: Client) -> None:
    """Close a client in whose place another one of the same endpoint was made."""
    made._schemas.follow(before._schemas)  # noqa: SLF001 - the connection owns both
    before.close()


def _taken(name: str) -> Callable[[], None]:
    """Take the client of a connection away, and return what closes it; call that without the lock.

    Closing may take a while, and others ask meanwhile which names there are.
    """
    opened = _open.pop(name, None)
    return opened[1].close if opened is not None else lambda: None


def is_shared(name: str) -> bool:
    """Return whether other processes have a connection too, and open it without asking a person."""
    with _lock:
        return name not in _known and name in _all() and asks_nobody(name)


def opened(name: str) -> bool:
    """Tell whether the client of a connection is made."""
    with _lock:
        return name in _open


def asks_nobody(name: str) -> bool:
    """Tell whether a connection's client can be made without asking a person for a token."""
    with _lock:
        connection = _all().get(name)
    options = dict(getattr(connection.make, "options", ())) if connection is not None else {}
    return connection is not None and name not in _known and options.get("token") != "prompt"


def chosen() -> tuple[Any, str]:
    """Return what is meant when no target is named, and where that was said; "" if nowhere.

    In this order: the current connection, the address in ``GQLNB_URL``, the newest open server of
    this process, ``/graphql`` on the current host.
    """
    name = current()
    if name is not None:
        return name, f"{name!r}, the current connection"
    url = os.environ.get(VARIABLE, "").strip()
    if url:
        return url, f"{shown(url)}, which {VARIABLE} names"
    return runtime.servers.newest() or HERE, ""


def _find(name: str) -> Connection:
    if name in _known:  # then no file is read
        return _known[name]
    names = _all()
    if name in names:
        return names[name]
    if fault := listing_fault():
        raise OptionError(fault)
    close_ones = difflib.get_close_matches(name, names, 1)
    guess = f" Did you mean {close_ones[0]!r}?" if close_ones else ""
    said = ", ".join(map(repr, names)) or "none"
    msg = (
        f"No connection is called {shown(name)!r}.{guess} "
        f"Known: {said}. An address begins with http:// or https://."
    )
    raise TargetError(msg)

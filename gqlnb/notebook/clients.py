"""Which client a cell means, and those that stay open from one cell to the next."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.client import Client

__all__ = ["Clients", "Opened"]


class Opened(NamedTuple):
    """A client, and what to do with it.

    Attributes
    ----------
    client
        The client.
    name
        What it is called where people read it.
    whence
        Who chose it, where the cell did not.
    own
        Whether it was made for one cell, to be closed after it.
    kept
        Whether it is kept by its name or address, behind which there may be another endpoint by
        now.
    """

    client: Client
    name: str
    whence: str = ""
    own: bool = False
    kept: bool = False


class Clients:
    """The clients of one notebook; those of addresses and servers are made once.

    Parameters
    ----------
    namespace
        The names of the notebook.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace
        self._by_address: dict[tuple[str, str], Client] = {}
        self._by_headers: dict[tuple[Any, ...], Client] = {}
        self._by_server: WeakKeyDictionary[Any, Client] = WeakKeyDictionary()
        self._unknown: WeakKeyDictionary[Client, str] = WeakKeyDictionary()  # and why
        self._said: set[str] = set()  # of which endpoints

    def open(
        self,
        target: str | None,
        headers: Mapping[str, str] | None = None,
        *,
        fresh: bool = False,
        names: Mapping[str, Any] | None = None,
    ) -> Opened:
        """Return the client of a connection's name, of an object of the notebook, or an address.

        Parameters
        ----------
        target
            What the cell names; None for the connection that is meant then.
        headers
            Of each request; with them the client is a new one.
        fresh
            Whether it must remember nothing; it is the one that is kept from then on.
        names
            Where objects are looked up by name; None for the names of the notebook.

        Raises
        ------
        TargetError
            If it is none of these.
        """
        from gqlnb.client import connections
        from gqlnb.client.client import Client
        from gqlnb.client.factory import connect
        from gqlnb.github.entry import enter

        enter()
        meant: Any = target
        whence = ""
        if target is None:
            meant, whence = connections.chosen()
        elif target in (names := self.namespace if names is None else names):
            meant = target if listed(target) else names[target]
        if isinstance(meant, Client) and not headers:
            return Opened(meant, named(meant, target), whence)
        if headers:
            own = not isinstance(meant, str)
            made = connect(meant, headers=headers) if own else self._headed(meant, headers, fresh)
            return Opened(made, named(made, target), whence, own=own)
        if isinstance(meant, str) and connections.exists(meant):
            made = connections.renew(meant) if fresh else connections.named(meant)
            return Opened(made, meant, whence, kept=True)
        made = self._kept(meant, whence, fresh=fresh)
        return Opened(made, named(made, target), kept=isinstance(meant, str))

    def _headed(self, meant: str, headers: Mapping[str, str], fresh: bool) -> Client:
        """Return the client of an address or a name that sends headers, as long as they stay."""
        from gqlnb.client.connections import succeed
        from gqlnb.client.factory import connect

        found = [
            (name, source, hash(os.environ.get(source.partition(":")[2])))
            for name, source in sorted(headers.items())
        ]
        key = (meant, *found)
        before = self._by_headers.pop(key, None) if fresh else None
        if key not in self._by_headers:
            self._by_headers[key] = connect(meant, headers=headers)
        if before is not None:
            succeed(self._by_headers[key], before)
        return self._by_headers[key]

    def _kept(self, meant: Any, whence: str, *, fresh: bool) -> Client:
        """Return the client of an address or a server; one of anything else is made anew."""
        from gqlnb.client.client import Client
        from gqlnb.client.connections import succeed
        from gqlnb.client.factory import connect

        kept: Any = None
        key: Any = meant
        if isinstance(meant, str):
            kept, key = self._by_address, (meant, whence)
        elif isinstance(getattr(meant, "url", None), str):
            kept = self._by_server
        if kept is None:
            return connect(meant)
        before = kept.pop(key, None) if fresh else None
        if key not in kept:
            kept[key] = Client(None) if whence else connect(meant)
        if before is not None:
            succeed(kept[key], before)
        return kept[key]  # type: ignore[no-any-return]

    def schema(self, client: Client, *, ask: bool) -> GraphQLSchema | None:
        """Return the schema of an endpoint; None if it does not tell, or is not to be asked.

        It is asked once; one that does not tell it is asked its operations without.

        Raises
        ------
        TransportError
            If there is no endpoint, or it does not answer at all.
        """
        from gqlnb.errors import GqlnbError, RateLimited, SchemaError, TransportError

        if client.local is not None:
            return client.schema
        if not ask or client in self._unknown:
            return None
        try:
            return client.schema
        except GqlnbError as error:
            silent = isinstance(error, TransportError) and error.status is None
            if silent and not isinstance(error, RateLimited):
                raise
            self._unknown[client] = str(error) if isinstance(error, SchemaError) else ""
        return None

    def unsaid(self, client: Client) -> str:
        """Return that an endpoint does not tell its schema, where nobody has heard it yet."""
        why = self._unknown.get(client, "")
        if not why or client.source in self._said:
            return ""
        self._said.add(client.source)  # not the client: a cell may make it anew
        return why

    def close(self) -> None:
        """Close the clients that were kept open."""
        kept = (self._by_address, self._by_headers, self._by_server)
        for client in [client for clients in kept for client in clients.values()]:
            client.close()
        self._by_address.clear()
        self._by_headers.clear()
        self._by_server.clear()


def listed(name: str) -> bool:
    """Tell whether there is a connection of that name, as far as the settings can be read."""
    from gqlnb.client import connections
    from gqlnb.errors import OptionError

    try:
        return connections.exists(name)
    except OptionError:  # an object of the notebook needs no settings
        return False


def named(client: Client, target: str | None) -> str:
    """Return what a client is called: as the cell does, unless that is an address."""
    return client.source if target is None or "/" in target else target

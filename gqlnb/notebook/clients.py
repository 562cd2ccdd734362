"""Which client a cell means, and those that stay open from one cell to the next."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.client import Client
    from gqlnb.client.recording.session import Recording

__all__ = ["CellRecordings", "CellTarget", "ClientCache"]


class CellTarget(NamedTuple):
    """A client, and what to do with it.

    Attributes
    ----------
    client
        The client.
    name
        What it is called where people read it.
    chosen_by
        Who chose it, where the cell did not.
    single_use
        Whether it was made for one cell, to be closed after it.
    cached
        Whether it is kept by its name or address, behind which there may be another endpoint by
        now.
    """

    client: Client
    name: str
    chosen_by: str = ""
    single_use: bool = False
    cached: bool = False


class ClientCache:
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
        self._without_schema: WeakKeyDictionary[Client, str] = WeakKeyDictionary()  # and why
        self._notified: set[str] = set()  # of which endpoints

    def open(
        self,
        target: str | None,
        headers: Mapping[str, str] | None = None,
        *,
        fresh: bool = False,
        names: Mapping[str, Any] | None = None,
    ) -> CellTarget:
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
        from gqlnb.client.client import Client, connect
        from gqlnb.github.builtin_connections import register_connections

        register_connections()
        meant: Any = target
        whence = ""
        if target is None:
            meant, whence = connections.resolve_default_target()
        elif target in (names := self.namespace if names is None else names):
            meant = target if is_listed_connection(target) else names[target]
        if isinstance(meant, Client) and not headers:
            return CellTarget(meant, get_display_name(meant, target), whence)
        if headers:
            own = not isinstance(meant, str)
            made = (
                connect(meant, headers=headers)
                if own
                else self._open_with_headers(meant, headers, fresh)
            )
            return CellTarget(made, get_display_name(made, target), whence, single_use=own)
        if isinstance(meant, str) and connections.is_known(meant):
            made = connections.reopen_client(meant) if fresh else connections.get_client(meant)
            return CellTarget(made, meant, whence, cached=True)
        made = self._open_cached(meant, whence, fresh=fresh)
        return CellTarget(made, get_display_name(made, target), cached=isinstance(meant, str))

    def _open_with_headers(self, meant: str, headers: Mapping[str, str], fresh: bool) -> Client:
        """Return the client of an address or a name that sends headers, as long as they stay."""
        from gqlnb.client.client import connect

        found = [
            (name, source, hash(os.environ.get(source.partition(":")[2])))
            for name, source in sorted(headers.items())
        ]
        key = (meant, *found)
        before = self._by_headers.pop(key, None) if fresh else None
        if key not in self._by_headers:
            self._by_headers[key] = connect(meant, headers=headers)
        if before is not None:
            self._by_headers[key].replace_client(before)
        return self._by_headers[key]

    def _open_cached(self, meant: Any, whence: str, *, fresh: bool) -> Client:
        """Return the client of an address or a server; one of anything else is made anew."""
        from gqlnb.client.client import Client, connect

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
            kept[key].replace_client(before)
        return kept[key]  # type: ignore[no-any-return]

    def find_schema(self, client: Client, *, ask: bool) -> GraphQLSchema | None:
        """Return the schema of an endpoint; None if it does not tell, or is not to be asked.

        It is asked once; one that does not tell it is asked its operations without.

        Raises
        ------
        TransportError
            If there is no endpoint, or it does not answer at all.
        """
        from gqlnb.errors import GqlnbError, RateLimited, SchemaError, TransportError

        if client.local_schema is not None:
            return client.schema
        if not ask or client in self._without_schema:
            return None
        try:
            return client.schema
        except GqlnbError as error:
            silent = isinstance(error, TransportError) and error.status is None
            if silent and not isinstance(error, RateLimited):
                raise
            self._without_schema[client] = str(error) if isinstance(error, SchemaError) else ""
        return None

    def take_schema_notice(self, client: Client) -> str:
        """Return that an endpoint does not tell its schema, where nobody has heard it yet."""
        why = self._without_schema.get(client, "")
        if not why or client.source in self._notified:
            return ""
        self._notified.add(client.source)  # not the client: a cell may make it anew
        return why

    def close(self) -> None:
        """Close the clients that were kept open."""
        kept = (self._by_address, self._by_headers, self._by_server)
        for client in [client for clients in kept for client in clients.values()]:
            client.close()
        self._by_address.clear()
        self._by_headers.clear()
        self._by_server.clear()


def is_listed_connection(name: str) -> bool:
    """Tell whether there is a connection of that name, as far as the settings can be read."""
    from gqlnb.client import connections
    from gqlnb.errors import OptionError

    try:
        return connections.is_known(name)
    except OptionError:  # an object of the notebook needs no settings
        return False


def get_display_name(client: Client, target: str | None) -> str:
    """Return what a client is called: as the cell does, unless that is an address."""
    return client.source if target is None or "/" in target else target


class CellRecordings:
    """The recordings that cells name; a setting's is the same from cell to cell.

    So that several answers to one request come in their order.
    """

    def __init__(self) -> None:
        self._current: tuple[str, Recording] | None = None

    def select_for_cell(self, options: Namespace, setting: str) -> AbstractContextManager[Any]:
        """Return what a cell runs within.

        Parameters
        ----------
        options
            Those of the cell; they go before the setting.
        setting
            The recording that every cell is answered from; empty for none.

        Raises
        ------
        ReplayError
            If there is nothing to replay.
        """
        from gqlnb.client.recording.session import recorded

        if options.record is not None:
            return recorded(options.record, mode="record")
        if options.replay is not None:
            return recorded(options.replay, mode="replay")
        return self.select_for_setting(setting)

    def select_for_setting(self, setting: str) -> AbstractContextManager[Any]:
        """Return what runs within the recording of a setting; empty for none.

        Raises
        ------
        ReplayError
            If there is nothing to replay.
        """
        from gqlnb.client.recording.session import recorded

        if not setting:
            self._current = None
            return nullcontext()
        if self._current is None or self._current[0] != setting:
            self._current = setting, recorded(setting, mode="replay")
        return self._current[1]

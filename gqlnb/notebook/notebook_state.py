"""State that the cells of a notebook share: settings, clients, recordings, saved cells, history."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from traitlets import Bool, Enum, HasTraits, Int, Unicode

from gqlnb.errors import (
    AuthError,
    GqlnbError,
    OptionError,
    RateLimited,
    SchemaError,
    TransportError,
)
from gqlnb.notebook.magic_options import TYPES
from gqlnb.notebook.saved_cells import History, Snippets
from gqlnb.result.renderer import PANDAS, TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, MutableMapping

    from graphql import GraphQLSchema
    from IPython.core.interactiveshell import InteractiveShell

    from gqlnb.client.client import Client
    from gqlnb.client.recording.session import Recording


class CellSettings(HasTraits):
    """The settings of ``%config GraphQLMagic`` and ``[tool.gqlnb]``."""

    type = Enum(
        TYPES,
        default_value="result",
        help="The type of a cell's value, like --type for one cell: result, frame (or pandas), "
        "frames, json, arrow, polars or raw.",
    ).tag(config=True)
    variables = Enum(
        ("by name", "given"),
        default_value="by name",
        help="The source of $variables: names of the notebook and options (by name), or --param "
        "and --vars alone (given).",
    ).tag(config=True)
    introspect = Enum(
        ("ask", "never"),
        default_value="ask",
        help="Whether an endpoint is asked for its schema before the first operation, to check "
        "texts before they are sent and to determine the dtypes of frames.",
    ).tag(config=True)
    partial = Enum(
        ("show", "raise"),
        default_value="show",
        help="The handling of an answer with both data and errors: show it with the errors, or "
        "raise PartialError.",
    ).tag(config=True)
    frames = Enum(
        (TABLE, PANDAS),
        default_value=TABLE,
        help="The display of the DataFrames of gqlnb at the end of a cell: as the table of a "
        "result, or as pandas shows any other.",
    ).tag(config=True)
    replay = Unicode(
        "",
        help="The recording that answers every cell, like --replay for one cell; empty for none.",
    ).tag(config=True)
    cache = Unicode(
        "",
        help="How long answers to queries are remembered on disk, such as 1h or 7d, like --cache "
        "for one cell; empty for not at all.",
    ).tag(config=True)
    live_rows = Int(
        1000,
        min=1,
        help="The number of last rows of a subscription that are kept and shown.",
    ).tag(config=True)
    stats = Bool(
        default_value=False, help="Show time, bytes, rows and budget of each cell, like --stats."
    ).tag(config=True)


class CellTarget(NamedTuple):
    """The client of a cell.

    Attributes
    ----------
    client
        The client.
    name
        The name shown to people.
    chosen_by
        The rule that selected the client if the cell names none.
    single_use
        Whether the client was created for one cell and is closed after it.
    cached
        Whether the client is kept by name or address, where another endpoint may be by now.
    ignored
        A sentence about a variable that the connection of the same name hides; "" for none.
    """

    client: Client
    name: str
    chosen_by: str = ""
    single_use: bool = False
    cached: bool = False
    ignored: str = ""


class ClientCache:
    """The clients of one notebook; those of addresses and servers are created once.

    Parameters
    ----------
    namespace
        The names of the notebook.
    """

    def __init__(self, namespace: Mapping[str, object]) -> None:
        self._namespace = namespace
        self._by_address: dict[Hashable, Client] = {}
        # Weak, so that a server or schema that the user deletes can be freed.
        self._by_server: WeakKeyDictionary[Any, Client] = WeakKeyDictionary()
        # Clients whose endpoint does not provide its schema, and the reason.
        self._without_schema: WeakKeyDictionary[Client, str] = WeakKeyDictionary()
        self._notified: set[str] = set()  # what the user was told about

    def open(
        self,
        target: str | None,
        headers: Mapping[str, str] | None = None,
        *,
        fresh: bool = False,
        names: Mapping[str, object] | None = None,
    ) -> CellTarget:
        """Return the client of a connection, of an object of the notebook, or of an address.

        Parameters
        ----------
        target
            The target that the cell names; None for the default target.
        headers
            Headers of each request; clients with other headers are separate.
        fresh
            Whether to replace a client that is already open.
        names
            The names to look up objects in; None for those of the notebook.

        Raises
        ------
        TargetError
            If no client can be created for the target.
        """
        from gqlnb.client import connections
        from gqlnb.client.client import Client, connect
        from gqlnb.client.endpoint import is_connection_name
        from gqlnb.github.builtin_connections import register_connections

        register_connections()
        names = self._namespace if names is None else names
        resolved: Any = target
        chosen_by = ""
        if target is None:
            resolved, chosen_by = connections.resolve_default_target()
        elif target in names:
            resolved = target if is_listed_connection(target) else names[target]
        elif is_connection_name(target) and not is_listed_connection(target):
            connections.check_connection(target, list_targets(names))
        if not headers and isinstance(resolved, Client):
            return CellTarget(resolved, get_display_name(resolved, target), chosen_by)
        if headers and not isinstance(resolved, str):
            client = connect(resolved, headers=headers)
            return CellTarget(client, get_display_name(client, target), chosen_by, single_use=True)
        if headers:
            # Environment variables are part of the key: a new value makes a new client.
            sources = [
                (name, source, hash(os.environ.get(source.partition(":")[2])))
                for name, source in sorted(headers.items())
            ]
            create = partial(connect, resolved, headers=headers)
            client = self._reuse(self._by_address, (resolved, *sources), create, fresh=fresh)
            return CellTarget(client, get_display_name(client, target), chosen_by)
        if isinstance(resolved, str) and connections.is_known(resolved):
            return open_connection(resolved, names if target else {}, chosen_by, fresh=fresh)
        # A client without a target resolves it again, and explains the choice in its errors.
        create = partial(Client, None) if chosen_by else partial(connect, resolved)
        is_address = isinstance(resolved, str)
        if is_address:
            client = self._reuse(self._by_address, (resolved, chosen_by), create, fresh=fresh)
        elif isinstance(getattr(resolved, "url", None), str):
            client = self._reuse(self._by_server, resolved, create, fresh=fresh)
        else:
            client = connect(resolved)
        return CellTarget(client, get_display_name(client, target), cached=is_address)

    def _reuse(
        self,
        cache: MutableMapping[Any, Client],
        key: object,
        create: Callable[[], Client],
        *,
        fresh: bool,
    ) -> Client:
        before = cache.pop(key, None) if fresh else None
        if key not in cache:
            cache[key] = create()
        if before is not None:
            cache[key]._replace_client(before)
        return cache[key]

    def find_schema(self, client: Client, *, ask: bool) -> GraphQLSchema | None:
        """Return the schema of an endpoint; None if it is unknown.

        An endpoint that does not provide its schema is asked once.

        Parameters
        ----------
        client
            The client.
        ask
            Whether the endpoint may be asked.

        Raises
        ------
        TransportError
            If the endpoint does not answer at all.
        """
        local = client._local_schema
        if local is not None:
            return local.graphql
        if not ask or client in self._without_schema:
            return None
        try:
            return client.schema
        except GqlnbError as error:
            # Raised if nothing answers there: the operation would only wait for the same error.
            is_silent = isinstance(error, TransportError) and error.status is None
            if is_silent and not isinstance(error, RateLimited):
                raise
            self._without_schema[client] = str(error) if isinstance(error, SchemaError) else ""
        return None

    def take_schema_notice(self, client: Client) -> str:
        """Return the reason why an endpoint provides no schema, once per endpoint; else ""."""
        reason = self._without_schema.get(client, "")
        # By its address: a cell may replace the client.
        return reason if reason and self.is_first_notice(client.source) else ""

    def is_first_notice(self, key: str) -> bool:
        """Return whether the user has not been told yet about something, which is then noted."""
        is_first = key not in self._notified
        self._notified.add(key)
        return is_first

    def close(self) -> None:
        """Close all clients."""
        for client in [*self._by_address.values(), *self._by_server.values()]:
            client.close()
        self._by_address.clear()
        self._by_server.clear()


def describe_target(value: object) -> str:
    """Describe an object of the notebook that can be queried; "" for any other."""
    from gqlnb.client.client import Client
    from gqlnb.engine.schema import Schema
    from gqlnb.engine.schema_adapters import is_schema

    if isinstance(value, Client):
        return f"a client of {value.source}"
    if isinstance(value, Schema):
        return "a schema"
    if isinstance(value, type):
        return ""
    if is_schema(value):
        return f"a schema of {type(value).__module__.partition('.')[0]}"
    # By name: most notebooks have no server, and its module need not be imported for them.
    return "a server" if type(value).__module__ == "gqlnb.server.background_server" else ""


def list_targets(names: Mapping[str, object]) -> list[str]:
    """Return the names of the notebook's objects that can be queried."""
    return [name for name in names if name[:1] != "_" and describe_target(names[name])]


def is_listed_connection(name: str) -> bool:
    """Return whether a connection has this name, as far as the settings can be read."""
    from gqlnb.client import connections

    try:
        return connections.is_known(name)
    except OptionError:  # an object of the notebook needs no settings
        return False


def open_connection(
    name: str, names: Mapping[str, object], chosen_by: str, *, fresh: bool
) -> CellTarget:
    """Return the client of a connection, with a sentence about a variable of the same name."""
    from gqlnb.client import connections

    ignored = ""
    if name in names:
        from gqlnb.client.client import Client
        from gqlnb.engine.schema import Schema

        if isinstance(names[name], (Client, Schema)):
            ignored = (
                f"The connection '{name}' is used, not your variable '{name}': names of "
                "connections come first. To use the variable, give it another name."
            )
    try:
        client = (connections.reopen_client if fresh else connections.get_client)(name)
    except AuthError as error:
        if ignored:
            error.args = (f"{error.args[0]} {ignored}",)
        raise
    ignored = "" if names.get(name) is client else ignored
    return CellTarget(client, name, chosen_by, cached=True, ignored=ignored)


def get_display_name(client: Client, target: str | None) -> str:
    """Return the name in the cell, or the source of the client for an address."""
    return client.source if target is None or "/" in target else target


class NotebookState:
    """The state of one notebook.

    Parameters
    ----------
    shell
        The shell of the notebook.
    settings
        The settings of its cells.

    Attributes
    ----------
    shell
        The shell.
    clients
        The clients that stay open between cells.
    snippets
        The saved cells.
    history
        The operations of the session.
    settings
        The current settings.
    """

    def __init__(self, shell: InteractiveShell, settings: CellSettings) -> None:
        self.shell = shell
        self.clients = ClientCache(shell.user_ns)
        self.snippets = Snippets()
        self.history = History()
        self.settings = settings
        # That of the `replay` setting stays open between cells, so that several answers to the same
        # request are replayed in order.
        self._recording: tuple[str, Recording] | None = None

    def select_recording(
        self, record: str | None, replay: str | None, setting: str
    ) -> AbstractContextManager[object]:
        """Return the context that a cell runs in, with the recording that it reads or writes.

        Parameters
        ----------
        record, replay
            The options of the cell, which take precedence.
        setting
            The recording that every cell replays; "" for none.

        Raises
        ------
        ReplayError
            If there is nothing to replay.
        """
        if record is None and replay is None and not setting:
            self._recording = None
            return nullcontext()
        from gqlnb.client.recording.session import recorded

        if record is not None:
            return recorded(record, mode="record")
        if replay is not None:
            return recorded(replay, mode="replay")
        if self._recording is None or self._recording[0] != setting:
            self._recording = setting, recorded(setting, mode="replay")
        return self._recording[1]

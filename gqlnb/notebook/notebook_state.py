"""State that the cells of a notebook share: clients, recordings, saved cells, history."""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from graphql import (
    FragmentDefinitionNode,
    FragmentSpreadNode,
    NoUnusedFragmentsRule,
    OperationDefinitionNode,
    specified_rules,
    validate,
)

from gqlnb.client import connections
from gqlnb.client.client import Client, connect
from gqlnb.client.endpoint import is_connection_name
from gqlnb.client.recording.session import recorded
from gqlnb.document.document import build_problems, parse_document
from gqlnb.document.syntax import find_nodes
from gqlnb.engine.schema import Schema
from gqlnb.engine.schema_adapters import is_schema
from gqlnb.errors import (
    AuthError,
    GqlnbError,
    OptionError,
    QueryError,
    RateLimited,
    SchemaError,
    TransportError,
    sanitize_text,
)
from gqlnb.github.builtin_connections import register_connections
from gqlnb.notebook.display import Listing, Text

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, MutableMapping

    from graphql import DocumentNode, GraphQLSchema, Node
    from IPython.core.interactiveshell import InteractiveShell

    from gqlnb.client.recording.session import Recording
    from gqlnb.notebook.magic_options import CellSettings


HISTORY_SIZE = 1000  # entries; their texts are small
LISTED_ENTRIES = 20  # entries of a listing
LISTED_CHARACTERS = 60  # of a text in the listing


@dataclass(slots=True)
class HistoryEntry:
    """One operation that was run.

    Attributes
    ----------
    connection
        The name of the connection.
    operation
        The kind and name of the operation.
    outcome
        ``data``, a number of errors or events, or the name of an exception.
    text
        The text; variables are not stored.
    seconds
        How long the cell took; None if it failed.
    value
        Returns the value of the cell, or None once nothing else refers to it.
    """

    connection: str
    operation: str
    outcome: str
    text: str
    seconds: float | None = None
    value: Callable[[], object] = bool

    def record_value(self, value: object, seconds: float) -> None:
        """Note the duration and the value of the operation, without keeping the value."""
        self.seconds = seconds
        with suppress(TypeError):  # such as a list
            self.value = weakref.ref(value)


class History:
    """The operations of the session, numbered from 1; the latest thousand are kept.

    Attributes
    ----------
    entries
        Those that are kept, the latest at the end.
    count
        The number of all.
    """

    def __init__(self) -> None:
        self.entries: deque[HistoryEntry] = deque(maxlen=HISTORY_SIZE)
        self.count = 0

    def add(self, entry: HistoryEntry) -> None:
        """Append an operation."""
        self.entries.append(entry)
        self.count += 1

    def build_listing(self) -> Listing:
        """List the latest operations, the last one at the end."""
        rows = [
            (number, entry.connection, entry.operation, entry.outcome, shorten_text(entry.text))
            for number, entry in enumerate(self.entries, self.count - len(self.entries) + 1)
        ][-LISTED_ENTRIES:]
        note = "%graphql history NUMBER shows the whole text." if rows else "No cell has run yet."
        return Listing(["number", "connection", "operation", "outcome", "text"], rows, note)

    def get_text(self, number: int) -> Text:
        """Return the text of an operation.

        Raises
        ------
        OptionError
            If the history has no such number.
        """
        first = self.count - len(self.entries) + 1
        if first <= number <= self.count:
            return Text(self.entries[number - first].text)
        if not self.entries:
            message = f"The history has no number {number}: no cell has run yet."
        elif first == self.count:
            message = f"The history has no number {number}; its only one is {first}."
        else:
            message = f"The history has no number {number}; it has {first} to {self.count}."
        raise OptionError(message)


@dataclass(frozen=True, slots=True)
class SavedFragment:
    """A fragment of a saved cell: its text, type condition and the fragments that it spreads."""

    text: str
    condition: str
    spreads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A saved cell.

    Attributes
    ----------
    name
        The name under which it was saved.
    text
        Its text.
    operations
        The names of its operations.
    fragments
        Its fragments by name.
    """

    name: str
    text: str
    operations: tuple[str, ...]
    fragments: dict[str, SavedFragment]


class Snippets:
    """The saved cells of a notebook by name; a later cell replaces one of the same name."""

    def __init__(self) -> None:
        self.saved: dict[str, Snippet] = {}
        self._fragments: dict[str, SavedFragment] = {}  # of all snippets, the latest wins

    def save(self, name: str, text: str) -> None:
        """Save a valid text."""
        document = parse_or_none(text)
        operations, fragments = [], {}
        for node in document.definitions if document is not None else ():
            if isinstance(node, OperationDefinitionNode):
                unnamed = f"({node.operation.value})"
                operations.append(node.name.value if node.name else unnamed)
            elif isinstance(node, FragmentDefinitionNode) and node.loc is not None:
                fragments[node.name.value] = SavedFragment(
                    text[node.loc.start : node.loc.end],
                    node.type_condition.name.value,
                    tuple(_find_spreads(node)),
                )
        self.saved.pop(name, None)  # the new one is listed last
        self.saved[name] = Snippet(name, text, tuple(operations), fragments)
        self._fragments = {}
        # Rebuilt as a whole: a replaced cell may have had fragments that hid older ones.
        for snippet in self.saved.values():
            self._fragments |= snippet.fragments

    def add_fragments(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Append the saved fragments that a text spreads without defining them.

        Returns
        -------
        (str, tuple of str)
            The new text, and the names of the added fragments in their order. A text with a syntax
            error is returned unchanged.
        """
        # Most notebooks save no cells, so most texts need not be parsed here.
        document = parse_or_none(text) if self.saved else None
        if document is None:
            return text, ()
        nodes = document.definitions
        defined = {it.name.value for it in nodes if isinstance(it, FragmentDefinitionNode)}
        added: list[str] = []
        waiting = deque(name for node in nodes for name in _find_spreads(node))
        while waiting:
            name = waiting.popleft()
            if name not in defined and name in self._fragments:
                # Each once, so that fragments which spread each other end here.
                defined.add(name)
                added.append(name)
                waiting += self._fragments[name].spreads
        parts = (self._fragments[name].text for name in added)
        return "\n\n".join([text, *parts]), tuple(added)

    def find_operation(self, name: str) -> Snippet | None:
        """Find the saved cell with an operation of a name, or saved under it."""
        for snippet in reversed(self.saved.values()):
            if snippet.operations and name in (snippet.name, *snippet.operations):
                return snippet
        return None

    def get_text(self, name: str) -> Text:
        """Return a saved cell.

        Raises
        ------
        OptionError
            If no cell was saved under that name.
        """
        if name in self.saved:
            return Text(self.saved[name].text)
        saved = ", ".join(self.saved) or "none"
        message = f"No cell was saved as {sanitize_text(name, 40)!r}. Saved: {saved}."
        raise OptionError(message)

    def find_fragment_at(self, added: tuple[str, ...], line: int) -> str:
        """Return the name of the added fragment at a line below the cell's own text, else ""."""
        line -= 2  # the first fragment follows one blank line
        for name in added:
            size = self._fragments[name].text.count("\n") + 2
            if line < size:
                return name
            line -= size
        return ""

    def get_type_conditions(self) -> dict[str, str]:
        """Return the type condition of each saved fragment."""
        return {name: fragment.condition for name, fragment in self._fragments.items()}

    def build_listing(self) -> Listing:
        """List the saved cells."""
        rows = [
            (snippet.name, ", ".join(snippet.operations), ", ".join(snippet.fragments))
            for snippet in self.saved.values()
        ]
        note = "" if rows else "Nothing is saved yet: %%graphql --save NAME keeps a cell."
        return Listing(["name", "operations", "fragments"], rows, note)


def shorten_text(text: str) -> str:
    """Return the first characters of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= LISTED_CHARACTERS else f"{line[:LISTED_CHARACTERS]} …"


def parse_or_none(text: str) -> DocumentNode | None:
    """Parse a text; return None if it has a syntax error."""
    try:
        return parse_document(text)
    except QueryError:
        return None


def _find_spreads(node: Node) -> list[str]:
    """Return the names of the fragments that a definition spreads."""
    return [spread.name.value for spread in find_nodes(node, FragmentSpreadNode)]


def has_operation(text: str) -> bool:
    """Return whether a text has an operation or a syntax error, which execution reports."""
    document = parse_or_none(text)
    return document is None or not all(
        isinstance(node, FragmentDefinitionNode) for node in document.definitions
    )


def check_fragments(text: str, schema: GraphQLSchema | None) -> None:
    """Validate a text that has fragments alone.

    Raises
    ------
    QueryError
        If the text is not valid.
    """
    document = parse_document(text)
    # No operation uses them yet: later cells do.
    rules = [rule for rule in specified_rules if rule is not NoUnusedFragmentsRule]
    errors = [] if schema is None else validate(schema, document, rules)
    if errors:
        raise QueryError(text=text, problems=build_problems(errors))


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
    try:
        return connections.is_known(name)
    except OptionError:  # an object of the notebook needs no settings
        return False


def open_connection(
    name: str, names: Mapping[str, object], chosen_by: str, *, fresh: bool
) -> CellTarget:
    """Return the client of a connection, with a sentence about a variable of the same name."""
    ignored = ""
    if name in names and isinstance(names[name], (Client, Schema)):
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
        if record is not None:
            return recorded(record, mode="record")
        if replay is not None:
            return recorded(replay, mode="replay")
        if self._recording is None or self._recording[0] != setting:
            self._recording = setting, recorded(setting, mode="replay")
        return self._recording[1]

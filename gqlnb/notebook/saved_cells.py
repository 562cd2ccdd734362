"""History and saved cells of a notebook."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gqlnb.errors import OptionError, QueryError, sanitize_text
from gqlnb.notebook.display import Listing, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import DocumentNode, GraphQLSchema, Node

    from gqlnb.document.document import Document

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


class History:
    """The operations of the session, numbered from 1; the latest thousand are kept."""

    def __init__(self) -> None:
        self._entries: deque[HistoryEntry] = deque(maxlen=HISTORY_SIZE)
        self._count = 0

    def add(self, connection: str, document: Document, outcome: str, text: str) -> None:
        """Append an operation."""
        title = f"{document.kind} {document.name or ''}".strip()
        self._entries.append(HistoryEntry(connection, title, outcome, text.strip("\n")))
        self._count += 1

    def record_value(self, value: object, seconds: float) -> None:
        """Note the duration and the value of the latest operation, without keeping the value."""
        entry = self._entries[-1]
        entry.seconds = seconds
        with suppress(TypeError):  # such as a list
            entry.value = weakref.ref(value)

    def iterate_latest(self) -> Iterator[HistoryEntry]:
        """Yield the entries, the latest first."""
        return reversed(self._entries)

    def build_listing(self) -> Listing:
        """List the latest operations, the last one at the end."""
        rows = [
            (number, entry.connection, entry.operation, entry.outcome, shorten_text(entry.text))
            for number, entry in enumerate(self._entries, self._count - len(self._entries) + 1)
        ][-LISTED_ENTRIES:]
        note = "%graphql history NUMBER shows the whole text." if rows else "No cell has run yet."
        return Listing(["number", "connection", "operation", "outcome", "text"], rows, note)

    def __len__(self) -> int:
        return self._count

    def get_texts(self, connection: str) -> list[str]:
        """Return the texts that were sent to a connection, oldest first."""
        return [entry.text for entry in self._entries if entry.connection == connection]

    def get_text(self, number: int) -> Text:
        """Return the text of an operation.

        Raises
        ------
        OptionError
            If the history has no such number.
        """
        first = self._count - len(self._entries) + 1
        if first <= number <= self._count:
            return Text(self._entries[number - first].text)
        if not self._entries:
            message = f"The history has no number {number}: no cell has run yet."
        elif first == self._count:
            message = f"The history has no number {number}; its only one is {first}."
        else:
            message = f"The history has no number {number}; it has {first} to {self._count}."
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
        self._snippets: dict[str, Snippet] = {}
        self._fragments: dict[str, SavedFragment] = {}  # of all snippets, the latest wins

    def save(self, name: str, text: str) -> None:
        """Save a valid text."""
        from graphql import FragmentDefinitionNode, OperationDefinitionNode

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
        self._snippets.pop(name, None)  # the new one is listed last
        self._snippets[name] = Snippet(name, text, tuple(operations), fragments)
        self._fragments = {}
        # Rebuilt as a whole: a replaced cell may have had fragments that hid older ones.
        for snippet in self._snippets.values():
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
        document = parse_or_none(text) if self._snippets else None
        if document is None:
            return text, ()
        from graphql import FragmentDefinitionNode

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
        for snippet in reversed(self._snippets.values()):
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
        if name in self._snippets:
            return Text(self._snippets[name].text)
        known = ", ".join(self._snippets) or "none"
        message = f"No cell was saved as {sanitize_text(name, 40)!r}. Saved: {known}."
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

    def get_names(self) -> tuple[str, ...]:
        """Return the names of the saved cells."""
        return tuple(self._snippets)

    def get_type_conditions(self) -> dict[str, str]:
        """Return the type condition of each saved fragment."""
        return {name: fragment.condition for name, fragment in self._fragments.items()}

    def build_listing(self) -> Listing:
        """List the saved cells."""
        rows = [
            (snippet.name, ", ".join(snippet.operations), ", ".join(snippet.fragments))
            for snippet in self._snippets.values()
        ]
        note = "" if rows else "Nothing is saved yet: %%graphql --save NAME keeps a cell."
        return Listing(["name", "operations", "fragments"], rows, note)


def shorten_text(text: str) -> str:
    """Return the first characters of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= LISTED_CHARACTERS else f"{line[:LISTED_CHARACTERS]} …"


def parse_or_none(text: str) -> DocumentNode | None:
    """Parse a text; return None if it has a syntax error."""
    from gqlnb.document.document import parse_document

    try:
        return parse_document(text)
    except QueryError:
        return None


def _find_spreads(node: Node) -> list[str]:
    """Return the names of the fragments that a definition spreads."""
    from graphql import FragmentSpreadNode

    from gqlnb.document.syntax import find_nodes

    return [spread.name.value for spread in find_nodes(node, FragmentSpreadNode)]


def has_operation(text: str) -> bool:
    """Return whether a text has an operation or a syntax error, which execution reports."""
    from graphql import FragmentDefinitionNode

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
    from graphql import NoUnusedFragmentsRule, specified_rules, validate

    from gqlnb.document.document import build_problems, parse_document

    document = parse_document(text)
    # No operation uses them yet: later cells do.
    rules = [rule for rule in specified_rules if rule is not NoUnusedFragmentsRule]
    errors = [] if schema is None else validate(schema, document, rules)
    if errors:
        raise QueryError(text=text, problems=build_problems(errors))

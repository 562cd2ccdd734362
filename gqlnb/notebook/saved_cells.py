"""What the cells of this session asked."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gqlnb.errors import OptionError, sanitize_text
from gqlnb.notebook.display import Listing, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import DocumentNode, GraphQLSchema

__all__ = ["History", "HistoryEntry", "Snippet", "Snippets", "check_fragments", "has_operation"]

HISTORY_SIZE = 1000  # cells; their texts are small
LISTED_CELLS = 20  # cells of a listing


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One operation that was run.

    Attributes
    ----------
    connection
        Whom it was asked of.
    operation
        Its kind and name.
    outcome
        What came, in a word or two: data, a number of errors or events, the name of an exception.
    text
        Its text; its variables are not kept.
    """

    connection: str
    operation: str
    outcome: str
    text: str


class History:
    """The operations that ran, numbered from 1, the latest thousand of them."""

    def __init__(self) -> None:
        self._entries: deque[HistoryEntry] = deque(maxlen=HISTORY_SIZE)
        self._count = 0

    def add(self, asked: HistoryEntry) -> None:
        """Note an operation."""
        self._entries.append(asked)
        self._count += 1

    @property
    def _first(self) -> int:
        """The number of the oldest operation that is still held."""
        return self._count - len(self._entries) + 1

    def build_listing(self) -> Listing:
        """Return the latest operations, the last one at the end."""
        rows = [
            (number, it.connection, it.operation, it.outcome)
            for number, it in enumerate(self._entries, self._first)
        ][-LISTED_CELLS:]
        note = "%graphql history NUMBER shows the text." if rows else "No cell has run yet."
        return Listing(["number", "connection", "operation", "outcome"], rows, note)

    def get_texts(self, connection: str) -> list[str]:
        """Return the texts that were asked of a connection, oldest first."""
        return [it.text for it in self._entries if it.connection == connection]

    def get_text(self, number: int) -> Text:
        """Return the text of an operation.

        Raises
        ------
        OptionError
            If there is none of that number.
        """
        first = self._first
        if first <= number <= self._count:
            return Text(self._entries[number - first].text)
        told = f"{first} to {self._count}" if self._entries else "none yet"
        message = f"The history has no number {number}; there are: {told}."
        raise OptionError(message)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A saved cell.

    Attributes
    ----------
    name
        What it was saved under.
    text
        Its text.
    operations, fragments
        The names of what it defines.
    conditions
        The type that each of its fragments is on.
    uses
        The fragments that each of its fragments spreads.
    parts
        The text of each fragment.
    """

    name: str
    text: str
    operations: tuple[str, ...]
    conditions: dict[str, str]
    uses: dict[str, tuple[str, ...]]
    parts: dict[str, str]

    @property
    def fragments(self) -> tuple[str, ...]:
        """The names of its fragments."""
        return tuple(self.parts)


class Snippets:
    """The saved cells of a notebook, by name; a cell saved under a name anew takes its place."""

    def __init__(self) -> None:
        self._saved: dict[str, Snippet] = {}

    def save(self, name: str, text: str) -> None:
        """Save a text that is valid."""
        self._saved.pop(name, None)
        self._saved[name] = read_snippet(name, text)

    def add_fragments(self, text: str) -> str:
        """Return a text with the saved fragments that it spreads and does not define, at its end.

        A text with a syntax error comes back as it is.
        """
        if not self._saved:
            return text
        ast = parse_or_none(text)
        if ast is None:
            return text
        known = self._collect_fragments()
        added = dict.fromkeys(find_missing_fragments(ast, known))
        if not added:
            return text
        return "\n\n".join([text, *(known[name].parts[name] for name in added)])

    def find_operation(self, name: str) -> str | None:
        """Return the text of the saved cell with an operation of that name, or saved under it."""
        for saved in reversed(self._saved.values()):
            if saved.operations and name in (saved.name, *saved.operations):
                return saved.text
        return None

    def get_text(self, name: str) -> Text:
        """Return a saved cell.

        Raises
        ------
        OptionError
            If none was saved under that name.
        """
        if name in self._saved:
            return Text(self._saved[name].text)
        known = ", ".join(self._saved) or "none"
        message = f"No cell was saved as {sanitize_text(name, 40)!r}. Saved: {known}."
        raise OptionError(message)

    def find_fragment_at(self, text: str, completed: str, line: int) -> str:
        """Return the name of the saved fragment that a line below a cell's own text is of."""
        below, known = line - text.count("\n") - 3, self._collect_fragments()
        for name in find_added_fragments(text, completed):
            size = known[name].parts[name].count("\n") + 2
            if below < size:
                return name
            below -= size
        return ""

    def _collect_fragments(self) -> dict[str, Snippet]:
        return {name: saved for saved in self._saved.values() for name in saved.parts}

    def get_names(self) -> tuple[str, ...]:
        """Return what cells were saved under."""
        return tuple(self._saved)

    def get_type_conditions(self) -> dict[str, str]:
        """Return the type condition of each saved fragment."""
        return {name: saved.conditions[name] for name, saved in self._collect_fragments().items()}

    def build_listing(self) -> Listing:
        """Return what was saved."""
        rows = [
            (saved.name, ", ".join(saved.operations), ", ".join(saved.fragments))
            for saved in self._saved.values()
        ]
        note = "" if rows else "Nothing is saved yet: %%graphql --save NAME keeps a cell."
        return Listing(["name", "operations", "fragments"], rows, note)


def parse_or_none(text: str) -> DocumentNode | None:
    """Return the AST of a text; None if it has none."""
    from gqlnb.document.document import parse_document as parse
    from gqlnb.errors import QueryError

    try:
        return parse(text)
    except QueryError:
        return None


def read_snippet(name: str, text: str) -> Snippet:
    """Return a snippet of a text that is valid."""
    from graphql import FragmentDefinitionNode, OperationDefinitionNode, print_ast

    ast = parse_or_none(text)
    nodes = ast.definitions if ast is not None else ()
    fragments = [node for node in nodes if isinstance(node, FragmentDefinitionNode)]
    operations = [node for node in nodes if isinstance(node, OperationDefinitionNode)]
    return Snippet(
        name,
        text,
        tuple(node.name.value if node.name else f"({node.operation.value})" for node in operations),
        {node.name.value: node.type_condition.name.value for node in fragments},
        {node.name.value: tuple(find_spreads(node)) for node in fragments},
        {
            node.name.value: text[node.loc.start : node.loc.end] if node.loc else print_ast(node)
            for node in fragments
        },
    )


def find_spreads(node: object) -> Iterator[str]:
    """Yield the names of the fragments that are spread below a node."""
    from graphql import FragmentSpreadNode, SelectionSetNode

    waiting: list[SelectionSetNode | None] = [getattr(node, "selection_set", None)]
    while waiting:
        found = waiting.pop()
        for inner in () if found is None else found.selections:
            if isinstance(inner, FragmentSpreadNode):
                yield inner.name.value
            else:
                waiting.append(inner.selection_set)  # type: ignore[attr-defined]


def find_missing_fragments(ast: DocumentNode, known: dict[str, Snippet]) -> Iterator[str]:
    """Yield the known fragments that a document needs and does not define, in the order needed."""
    from graphql import FragmentDefinitionNode

    defined = {n.name.value for n in ast.definitions if isinstance(n, FragmentDefinitionNode)}
    waiting = [name for node in ast.definitions for name in find_spreads(node)]
    while waiting:
        name = waiting.pop(0)
        if name not in defined and name in known:
            defined.add(name)
            yield name
            waiting += known[name].uses[name]


def find_added_fragments(text: str, completed: str) -> list[str]:
    """Return the fragments that a completed text has and its own text has not."""
    from graphql import FragmentDefinitionNode

    before, after = parse_or_none(text), parse_or_none(completed)
    if before is None or after is None:
        return []
    own = len(before.definitions)
    added = after.definitions[own:]
    return [node.name.value for node in added if isinstance(node, FragmentDefinitionNode)]


def has_operation(text: str) -> bool:
    """Tell whether a text holds an operation, or is too wrong to tell."""
    from graphql import FragmentDefinitionNode

    ast = parse_or_none(text)
    return ast is None or not all(isinstance(n, FragmentDefinitionNode) for n in ast.definitions)


def check_fragments(text: str, schema: GraphQLSchema | None) -> None:
    """Check a text that holds fragments alone.

    Raises
    ------
    QueryError
        If it is not valid.
    """
    from graphql import NoUnusedFragmentsRule, specified_rules, validate

    from gqlnb.document.document import build_problems
    from gqlnb.document.document import parse_document as parse
    from gqlnb.errors import QueryError

    ast = parse(text)
    rules = [rule for rule in specified_rules if rule is not NoUnusedFragmentsRule]
    found = [] if schema is None else validate(schema, ast, rules)
    if found:
        raise QueryError(text=text, problems=build_problems(found))

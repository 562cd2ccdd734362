"""Saved operations and fragments: cells that later cells use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gqlnb.errors import OptionError, plain
from gqlnb.notebook.shown import Listing, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import DocumentNode, GraphQLSchema

__all__ = ["Snippet", "Snippets", "check_fragments", "has_operation"]


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
        self._saved[name] = read(name, text)

    def completed(self, text: str) -> str:
        """Return a text with the saved fragments that it spreads and does not define, at its end.

        A text with a syntax error comes back as it is.
        """
        if not self._saved:
            return text
        ast = parsed(text)
        if ast is None:
            return text
        known = self._fragments()
        added = dict.fromkeys(missing(ast, known))
        if not added:
            return text
        return "\n\n".join([text, *(known[name].parts[name] for name in added)])

    def operation(self, name: str) -> str | None:
        """Return the text of the saved cell with an operation of that name, or saved under it."""
        for saved in reversed(self._saved.values()):
            if saved.operations and name in (saved.name, *saved.operations):
                return saved.text
        return None

    def text(self, name: str) -> Text:
        """Return a saved cell.

        Raises
        ------
        OptionError
            If none was saved under that name.
        """
        if name in self._saved:
            return Text(self._saved[name].text)
        known = ", ".join(self._saved) or "none"
        message = f"No cell was saved as {plain(name, 40)!r}. Saved: {known}."
        raise OptionError(message)

    def fragment_line(self, text: str, completed: str, line: int) -> str:
        """Return the name of the saved fragment that a line below a cell's own text is of."""
        below, known = line - text.count("\n") - 3, self._fragments()
        for name in missing_names(text, completed):
            size = known[name].parts[name].count("\n") + 2
            if below < size:
                return name
            below -= size
        return ""

    def _fragments(self) -> dict[str, Snippet]:
        return {name: saved for saved in self._saved.values() for name in saved.parts}

    def names(self) -> tuple[str, ...]:
        """Return what cells were saved under."""
        return tuple(self._saved)

    def conditions(self) -> dict[str, str]:
        """Return the type condition of each saved fragment."""
        return {name: saved.conditions[name] for name, saved in self._fragments().items()}

    def listing(self) -> Listing:
        """Return what was saved."""
        rows = [
            (saved.name, ", ".join(saved.operations), ", ".join(saved.fragments))
            for saved in self._saved.values()
        ]
        note = "" if rows else "Nothing is saved yet: %%graphql --save NAME keeps a cell."
        return Listing(["name", "operations", "fragments"], rows, note)


def parsed(text: str) -> DocumentNode | None:
    """Return the AST of a text; None if it has none."""
    from gqlnb.errors import QueryError
    from gqlnb.model.document import parsed as parse

    try:
        return parse(text)
    except QueryError:
        return None


def read(name: str, text: str) -> Snippet:
    """Return a snippet of a text that is valid."""
    from graphql import FragmentDefinitionNode, OperationDefinitionNode, print_ast

    ast = parsed(text)
    nodes = ast.definitions if ast is not None else ()
    fragments = [node for node in nodes if isinstance(node, FragmentDefinitionNode)]
    operations = [node for node in nodes if isinstance(node, OperationDefinitionNode)]
    return Snippet(
        name,
        text,
        tuple(node.name.value if node.name else f"({node.operation.value})" for node in operations),
        {node.name.value: node.type_condition.name.value for node in fragments},
        {node.name.value: tuple(spreads(node)) for node in fragments},
        {
            node.name.value: text[node.loc.start : node.loc.end] if node.loc else print_ast(node)
            for node in fragments
        },
    )


def spreads(node: object) -> Iterator[str]:
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


def missing(ast: DocumentNode, known: dict[str, Snippet]) -> Iterator[str]:
    """Yield the known fragments that a document needs and does not define, in the order needed."""
    from graphql import FragmentDefinitionNode

    defined = {n.name.value for n in ast.definitions if isinstance(n, FragmentDefinitionNode)}
    waiting = [name for node in ast.definitions for name in spreads(node)]
    while waiting:
        name = waiting.pop(0)
        if name not in defined and name in known:
            defined.add(name)
            yield name
            waiting += known[name].uses[name]


def missing_names(text: str, completed: str) -> list[str]:
    """Return the fragments that a completed text has and its own text has not."""
    from graphql import FragmentDefinitionNode

    before, after = parsed(text), parsed(completed)
    if before is None or after is None:
        return []
    own = len(before.definitions)
    added = after.definitions[own:]
    return [node.name.value for node in added if isinstance(node, FragmentDefinitionNode)]


def has_operation(text: str) -> bool:
    """Tell whether a text holds an operation, or is too wrong to tell."""
    from graphql import FragmentDefinitionNode

    ast = parsed(text)
    return ast is None or not all(isinstance(n, FragmentDefinitionNode) for n in ast.definitions)


def check_fragments(text: str, schema: GraphQLSchema | None) -> None:
    """Check a text that holds fragments alone.

    Raises
    ------
    QueryError
        If it is not valid.
    """
    from graphql import NoUnusedFragmentsRule, specified_rules, validate

    from gqlnb.errors import QueryError
    from gqlnb.model.document import parsed as parse
    from gqlnb.model.document import problems

    ast = parse(text)
    rules = [rule for rule in specified_rules if rule is not NoUnusedFragmentsRule]
    found = [] if schema is None else validate(schema, ast, rules)
    if found:
        raise QueryError(text=text, problems=problems(found))

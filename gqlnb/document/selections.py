"""A document's selections as a tree that can be extended, and written again in part.

graphql-core's nodes cannot be changed, and a fragment may stand in several places that are to be
asked for differently. Here fragments are written out, so each place has selections of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphql import FieldNode, FragmentSpreadNode, Node, VariableNode, get_named_type, print_ast

from gqlnb.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from graphql import GraphQLSchema, SelectionSetNode

    from gqlnb.document.document import Document

__all__ = [
    "ADDED_PREFIX",
    "EditableSelection",
    "HiddenFields",
    "SelectionWriter",
    "add_field",
    "add_path",
    "find_added_fields",
    "group_by_key",
    "iterate_fields",
    "iterate_variables",
    "parse_selections",
]

ADDED_PREFIX = "gqlnb_"  # of every name that is added to a text
MAX_SELECTIONS = 20_000  # a kilobyte of fragments can spell millions


@dataclass(slots=True, eq=False)
class EditableSelection:
    """A field, or a fragment written out where it is spread.

    Attributes
    ----------
    name
        The field's own name; empty for a fragment.
    key
        Its response name; empty for a fragment.
    arguments
        The value nodes by name.
    directives
        As text, with a blank in front of each.
    directive_variables
        The variables in the directives.
    inner
        The selections below; None for a leaf.
    kind
        The named type below: of the field, or the type condition. None without a schema.
    declared
        The field as the schema declares it; None for fragments, and without a schema.
    on
        The type condition of a fragment; empty for none.
    added
        Whether we added it, so that it never shows.
    """

    name: str = ""
    key: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    directives: str = ""
    directive_variables: frozenset[str] = frozenset()
    inner: list[EditableSelection] | None = None
    kind: Any = None
    declared: Any = None
    on: str = ""
    added: bool = False


def parse_selections(document: Document) -> list[EditableSelection]:
    """Return the selections of a document's operation.

    Raises
    ------
    QueryError
        If its fragments spell more fields than can be handled, or contain themselves.
    """
    schema = document.schema
    top = None if schema is None else schema.get_root_type(document.operation.operation)
    parser = _SelectionParser(schema, document.fragments)
    return parser.parse_set(document.operation.selection_set, top, ())


class _SelectionParser:
    """Builds the tree of a selection set."""

    def __init__(self, schema: GraphQLSchema | None, fragments: Mapping[str, Any]) -> None:
        self.schema = schema
        self.fragments = fragments
        self.remaining = MAX_SELECTIONS

    def parse_set(
        self, node: SelectionSetNode, parent: Any, within: tuple[str, ...]
    ) -> list[EditableSelection]:
        """Return a selection set on a type; `within` names the fragments around it."""
        made = []
        for each in node.selections:
            self.remaining -= 1
            if self.remaining < 0:
                msg = f"The fragments of the query spell more than {MAX_SELECTIONS:,} fields."
                raise QueryError(msg)
            is_field = isinstance(each, FieldNode)
            parse = self.parse_field if is_field else self.parse_fragment
            made.append(parse(each, parent, within))
        return made

    def parse_field(self, node: Any, parent: Any, within: tuple[str, ...]) -> EditableSelection:
        """Return a field with all below it."""
        declared = getattr(parent, "fields", {}).get(node.name.value)
        kind = None if declared is None else get_named_type(declared.type)
        made = EditableSelection(
            node.name.value,
            (node.alias or node.name).value,
            {each.name.value: each.value for each in node.arguments or ()},
            *_print_directives(node),
            kind=kind,
            declared=declared,
        )
        if node.selection_set is not None:
            made.inner = self.parse_set(node.selection_set, kind, within)
        return made

    def parse_fragment(self, node: Any, parent: Any, within: tuple[str, ...]) -> EditableSelection:
        """Return an inline fragment, or the fragment that a spread names."""
        fragment = node
        if isinstance(node, FragmentSpreadNode):
            name = node.name.value
            if name not in self.fragments or name in within:
                msg = f"The fragment '{name}' is not defined, or contains itself."
                raise QueryError(msg)
            fragment, within = self.fragments[name], (*within, name)
        on = fragment.type_condition.name.value if fragment.type_condition else ""
        kind = self.schema.get_type(on) if on and self.schema is not None else parent
        text, uses = _print_directives(node)
        inner = self.parse_set(fragment.selection_set, kind, within)
        return EditableSelection(
            directives=text, directive_variables=uses, inner=inner, kind=kind, on=on
        )


def _print_directives(node: Any) -> tuple[str, frozenset[str]]:
    nodes = node.directives or ()
    text = "".join(f" {print_ast(each)}" for each in nodes)
    return text, frozenset(name for each in nodes for name in iterate_variables(each))


def iterate_variables(node: Any) -> Iterator[str]:
    """Yield the names of the variables in a value or a directive."""
    if isinstance(node, VariableNode):
        yield node.name.value
    elif isinstance(node, Node):
        for name in ("arguments", "fields"):
            for each in getattr(node, name, None) or ():
                yield from iterate_variables(each.value)
        for each in getattr(node, "values", None) or ():
            yield from iterate_variables(each)


def iterate_fields(
    selections: Iterable[EditableSelection], around: tuple[EditableSelection, ...] = ()
) -> Iterator[tuple[EditableSelection, tuple[EditableSelection, ...]]]:
    """Yield the fields of a selection set with the fragments around each, outermost first."""
    for each in selections:
        if each.name:
            yield each, around
        else:
            yield from iterate_fields(each.inner or (), (*around, each))


def group_by_key(selections: Iterable[EditableSelection]) -> dict[str, list[EditableSelection]]:
    """Return the fields of a selection set by response name: several of one name are merged."""
    found: dict[str, list[EditableSelection]] = {}
    for each, _ in iterate_fields(selections):
        found.setdefault(each.key, []).append(each)
    return found


def add_field(
    selections: list[EditableSelection], name: str, below: Sequence[str] = (), on: str = ""
) -> str:
    """Return the response name of a field in a selection set; add the field where it is absent.

    Parameters
    ----------
    selections
        The selection set.
    name
        The field's own name.
    below
        The leaves needed in it.
    on
        The type it is selected on, where that is not the type of the selection set.
    """
    for each in () if on else selections:
        if each.name != name or each.directives or each.arguments:
            continue
        there = {inner.key for inner in each.inner or () if inner.name == inner.key}
        if there >= set(below) and not any(inner.directives for inner in each.inner or ()):
            return each.key
    key = ADDED_PREFIX + name.strip("_")
    made = EditableSelection(
        name, key, inner=[EditableSelection(n, n) for n in below] or None, added=True
    )
    if not on:
        if not any(each.key == key for each in selections):
            selections.append(made)
    elif not any(each.on == on and key in group_by_key(each.inner or ()) for each in selections):
        selections.append(EditableSelection(inner=[made], on=on))
    return key


def add_path(selections: list[EditableSelection], path: Sequence[str]) -> tuple[str, ...]:
    """Return the response names of a leaf below a selection set, which is added where absent."""
    first, *rest = path
    if not rest:
        return (add_field(selections, first),)
    key = ADDED_PREFIX + first.strip("_")
    outer = next((each for each in selections if each.key == key), None)
    if outer is None:
        outer = EditableSelection(first, key, inner=[], added=True)
        selections.append(outer)
    inner = outer.inner if outer.inner is not None else []
    for step in rest:
        found = next((each for each in inner if each.key == step), None)
        if found is None:
            found = EditableSelection(step, step, inner=None if step is rest[-1] else [])
            inner.append(found)
        inner = found.inner if found.inner is not None else []
    return (key, *rest)


@dataclass(slots=True)
class HiddenFields:
    """The response names to remove from an object, and those below that have some to remove."""

    names: list[str] = field(default_factory=list)
    below: dict[str, HiddenFields] = field(default_factory=dict)

    def remove_from(self, value: Any) -> None:
        """Remove them from a value: an object, or lists of objects."""
        if isinstance(value, list):
            for item in value:
                self.remove_from(item)
        elif isinstance(value, dict):
            for name in self.names:
                value.pop(name, None)
            for name, inner in self.below.items():
                inner.remove_from(value.get(name))


def find_added_fields(selections: Iterable[EditableSelection]) -> HiddenFields | None:
    """Return the fields that were added to a selection set; None if there are none."""
    made = HiddenFields()
    for key, pieces in group_by_key(selections).items():
        if all(each.added for each in pieces):
            made.names.append(key)
            continue
        inner = find_added_fields(below for each in pieces for below in each.inner or ())
        if inner is not None:
            made.below[key] = inner
    return made if made.names or made.below else None


class SelectionWriter:
    """Writes selections as text, some of them with other arguments.

    Parameters
    ----------
    edits
        By the `id` of a selection: arguments that replace its own, as GraphQL text by name; None
        leaves an argument out.
    omitted
        The `id` of selections to leave out.

    Attributes
    ----------
    used_variables
        The variables of the operation that were written.
    """

    def __init__(
        self,
        edits: Mapping[int, Mapping[str, str | None]] | None = None,
        omitted: Collection[int] = (),
    ) -> None:
        self.edits: dict[int, Mapping[str, str | None]] = dict(edits or {})
        self.omitted = omitted
        self.used_variables: set[str] = set()

    def write_set(self, selections: Iterable[EditableSelection]) -> str:
        """Return a selection set."""
        written = (
            self.write_selection(each) for each in selections if id(each) not in self.omitted
        )
        return f"{{ {' '.join(written)} }}"

    def write_selection(self, selection: EditableSelection) -> str:
        """Return a selection with all that is below it."""
        below = "" if selection.inner is None else f" {self.write_set(selection.inner)}"
        return self.write_head(selection) + below

    def write_head(self, selection: EditableSelection) -> str:
        """Return the part of a selection before its braces."""
        self.used_variables |= selection.directive_variables
        if not selection.name:
            condition = f" on {selection.on}" if selection.on else ""
            return f"...{condition}{selection.directives}"
        edited = self.edits.get(id(selection), {})
        written = {name: print_ast(node) for name, node in selection.arguments.items()}
        written |= {name: text for name, text in edited.items() if text is not None}
        for name, node in selection.arguments.items():
            if name not in edited:
                self.used_variables.update(iterate_variables(node))
        dropped = {name for name, text in edited.items() if text is None}
        inside = ", ".join(f"{name}: {t}" for name, t in written.items() if name not in dropped)
        alias = f"{selection.key}: " if selection.key != selection.name else ""
        arguments = f"({inside})" if inside else ""
        return f"{alias}{selection.name}{arguments}{selection.directives}"

    def write_path(
        self,
        selections: Iterable[EditableSelection],
        steps: Sequence[str],
        shared: Mapping[int, str],
    ) -> str:
        """Return the selections along response names, the last of them whole.

        `shared` names the fragments that hold the selections below some of them, by their `id`.
        """
        written = []
        for each in selections:
            if each.name and each.key == steps[0]:
                if len(steps) == 1:
                    spread = shared.get(id(each))
                    head = f"{self.write_head(each)} {{ ...{spread} }}"
                    written.append(self.write_selection(each) if spread is None else head)
                    continue
                below = self.write_path(each.inner or (), steps[1:], shared)
            else:
                below = "" if each.name else self.write_path(each.inner or (), steps, shared)
            if below:
                written.append(f"{self.write_head(each)} {{ {below} }}")
        return " ".join(written)

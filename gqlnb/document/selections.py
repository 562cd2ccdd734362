"""An editable tree of a document's selections, and its conversion back to text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from graphql import (
    DirectiveNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLSchema,
    InlineFragmentNode,
    Node,
    SelectionSetNode,
    Undefined,
    ValueNode,
    VariableNode,
    get_named_type,
    parse_value,
    print_ast,
    value_from_ast_untyped,
)

from gqlnb.errors import QueryError

if TYPE_CHECKING:
    from gqlnb.document.document import Document
    from gqlnb.document.json_codec import JSON

ADDED_PREFIX = "gqlnb_"  # of every name that is added to a document
MAX_SELECTIONS = 20_000  # a kilobyte of fragments can expand to millions
NamedType: TypeAlias = Any  # a named type of graphql-core, with `fields` or without; or None


# graphql-core's nodes are immutable, and a fragment may be spread in several places that need
# different arguments. Here fragments are expanded, so that each place has its own selections.
# Selections are copied into this tree because one fragment may be used in places that need
# different pages, and graphql-core's nodes are immutable.
class EditableSelection(msgspec.Struct, eq=False):
    """A field, or an expanded fragment.

    Attributes
    ----------
    name
        The name of the field; empty for a fragment.
    key
        The response name of the field; empty for a fragment.
    arguments
        The value nodes by name.
    directives
        The directives.
    inner
        The selections below; None for a leaf.
    kind
        The named type of the field, or the type condition; None without a schema.
    declared
        The definition of the field in the schema; None for a fragment, and without a schema.
    on
        The type condition of a fragment, or empty.
    added
        Whether the package added the selection, so that it is removed from the result.
    """

    name: str = ""
    key: str = ""
    arguments: dict[str, ValueNode] = msgspec.field(default_factory=dict)
    directives: Sequence[DirectiveNode] = ()
    inner: list[EditableSelection] | None = None
    kind: NamedType = None
    declared: GraphQLField | None = None
    on: str = ""
    added: bool = False


def build_expansion_error(most: int) -> QueryError:
    """Return the error for fragments that expand to too many fields."""
    return QueryError(f"The fragments of the query expand to more than {most:,} fields.")


def parse_selections(document: Document) -> list[EditableSelection]:
    """Return the selections of a document's operation.

    Raises
    ------
    QueryError
        If its fragments expand to more than 20,000 fields, or contain themselves.
    """
    schema = document.schema
    top = None if schema is None else schema.get_root_type(document.operation.operation)
    parser = _SelectionParser(schema, document.fragments)
    return parser.parse_set(document.operation.selection_set, top, ())


class _SelectionParser:
    """Builds the tree of a selection set."""

    def __init__(
        self, schema: GraphQLSchema | None, fragments: Mapping[str, FragmentDefinitionNode]
    ) -> None:
        self.schema = schema
        self.fragments = fragments
        self.remaining = MAX_SELECTIONS

    def parse_set(
        self, node: SelectionSetNode, parent: NamedType, within: tuple[str, ...]
    ) -> list[EditableSelection]:
        """Return a selection set on a type; `within` names the enclosing fragments."""
        selections = []
        for selection in node.selections:
            self.remaining -= 1
            if self.remaining < 0:
                raise build_expansion_error(MAX_SELECTIONS)
            if isinstance(selection, FieldNode):
                selections.append(self.parse_field(selection, parent, within))
            elif isinstance(selection, (FragmentSpreadNode, InlineFragmentNode)):
                selections.append(self.parse_fragment(selection, parent, within))
        return selections

    def parse_field(
        self, node: FieldNode, parent: NamedType, within: tuple[str, ...]
    ) -> EditableSelection:
        """Return a field with its selections."""
        declared = getattr(parent, "fields", {}).get(node.name.value)
        kind = None if declared is None else get_named_type(declared.type)
        below = node.selection_set
        inner = None if below is None else self.parse_set(below, kind, within)
        return EditableSelection(
            name=node.name.value,
            key=(node.alias or node.name).value,
            arguments={argument.name.value: argument.value for argument in node.arguments or ()},
            directives=node.directives or (),
            inner=inner,
            kind=kind,
            declared=declared,
        )

    def parse_fragment(
        self,
        node: FragmentSpreadNode | InlineFragmentNode,
        parent: NamedType,
        within: tuple[str, ...],
    ) -> EditableSelection:
        """Return an inline fragment, or the expanded fragment of a spread."""
        fragment: InlineFragmentNode | FragmentDefinitionNode
        if isinstance(node, InlineFragmentNode):
            fragment = node
        else:
            name = node.name.value
            if name not in self.fragments or name in within:
                msg = f"The fragment '{name}' is not defined, or contains itself."
                raise QueryError(msg)
            fragment, within = self.fragments[name], (*within, name)
        on = fragment.type_condition.name.value if fragment.type_condition else ""
        kind = self.schema.get_type(on) if on and self.schema is not None else parent
        inner = self.parse_set(fragment.selection_set, kind, within)
        directives = node.directives or ()
        return EditableSelection(directives=directives, inner=inner, kind=kind, on=on)


def iterate_variables(node: object) -> Iterator[str]:
    """Yield the names of the variables in a value or a directive."""
    if isinstance(node, VariableNode):
        yield node.name.value
    elif isinstance(node, Node):
        for name in ("arguments", "fields"):
            for member in getattr(node, name, None) or ():
                yield from iterate_variables(member.value)
        for value in getattr(node, "values", None) or ():
            yield from iterate_variables(value)


def merge_defaults(document: Document, variables: Mapping[str, JSON] | None) -> dict[str, JSON]:
    """Return the values of a document's variables, of those without one their defaults."""
    nodes = {name: node.default_value for name, node in document.variables.items()}
    defaults = {name: value_from_ast_untyped(node) for name, node in nodes.items() if node}
    return defaults | dict(variables or {})


def read_values(arguments: Mapping[str, ValueNode], variables: dict[str, JSON]) -> dict[str, JSON]:
    """Return the values of arguments but those of a variable without a value, which are absent."""
    values = {name: value_from_ast_untyped(node, variables) for name, node in arguments.items()}
    return {name: value for name, value in values.items() if value is not Undefined}


def iterate_fields(
    selections: Iterable[EditableSelection], around: tuple[EditableSelection, ...] = ()
) -> Iterator[tuple[EditableSelection, tuple[EditableSelection, ...]]]:
    """Yield the fields of a selection set, each with its enclosing fragments, outermost first."""
    for selection in selections:
        if selection.name:
            yield selection, around
        else:
            yield from iterate_fields(selection.inner or (), (*around, selection))


def group_by_key(selections: Iterable[EditableSelection]) -> dict[str, list[EditableSelection]]:
    """Return the fields of a selection set by response name; fields of one name are merged."""
    by_key: dict[str, list[EditableSelection]] = {}
    for selection, _ in iterate_fields(selections):
        by_key.setdefault(selection.key, []).append(selection)
    return by_key


def get_owner(
    selections: list[EditableSelection], selection: EditableSelection, kind: NamedType
) -> str:
    """Return the name of the type whose field a selection is."""
    around = next((a for each, a in iterate_fields(selections) if each is selection), ())
    return str(next((part.kind for part in reversed(around) if part.kind is not None), kind))


def is_on_path(name: str, path: str) -> bool:
    """Return whether two dotted names are equal, or one of them contains the other."""
    return f"{path}.".startswith(f"{name}.") or f"{name}.".startswith(f"{path}.")


def find_pieces(
    selections: list[EditableSelection], path: Sequence[str]
) -> list[EditableSelection]:
    """Return the selections at the end of response names; empty if there are none."""
    pieces: list[EditableSelection] = []
    for key in path:
        pieces = group_by_key(selections).get(key, [])
        selections = [below for piece in pieces for below in piece.inner or ()]
    return pieces


def add_field(
    selections: list[EditableSelection], name: str, below: Sequence[str] = (), on: str = ""
) -> str:
    """Add a field to a selection set unless it is there, and return its response name.

    Parameters
    ----------
    selections
        The selection set.
    name
        The name of the field.
    below
        The leaves required in it.
    on
        The type condition, if it differs from the type of the selection set.
    """
    for selection in () if on else selections:
        if selection.name != name or selection.directives or selection.arguments:
            continue
        inner = selection.inner if selection.inner is not None else []
        present = {leaf.key for leaf in inner if leaf.name == leaf.key}
        missing = [leaf for leaf in below if leaf not in present]
        merged = group_by_key(selections)[selection.key]
        leaves = (leaf for each in merged for leaf, _ in iterate_fields(each.inner or ()))
        is_taken = any(leaf.key in missing and leaf.name != leaf.key for leaf in leaves)
        if not is_taken and not any(leaf.directives for leaf in inner):
            # sqlalchemy-relay-pagination reads one selection of `pageInfo` alone.
            inner.extend(EditableSelection(leaf, leaf, added=True) for leaf in missing)
            return selection.key
    key = ADDED_PREFIX + name.strip("_")
    required = [EditableSelection(leaf, leaf) for leaf in below]
    added = EditableSelection(name, key, inner=required or None, added=True)
    if not on:
        if not any(selection.key == key for selection in selections):
            selections.append(added)
    elif not any(s.on == on and key in group_by_key(s.inner or ()) for s in selections):
        selections.append(EditableSelection(inner=[added], on=on))
    return key


def add_path(selections: list[EditableSelection], path: Sequence[str]) -> tuple[str, ...]:
    """Add a leaf below a selection set unless it is there, and return its response names."""
    first, *rest = path
    if len(rest) <= 1:
        return (add_field(selections, first, rest), *rest)
    key = ADDED_PREFIX + first.strip("_")
    outer = next((selection for selection in selections if selection.key == key), None)
    if outer is None:
        outer = EditableSelection(first, key, inner=[], added=True)
        selections.append(outer)
    inner = outer.inner if outer.inner is not None else []
    for step in rest:
        found = next((selection for selection in inner if selection.key == step), None)
        if found is None:
            found = EditableSelection(step, step, inner=None if step is rest[-1] else [])
            inner.append(found)
        inner = found.inner if found.inner is not None else []
    return (key, *rest)


# The response names to remove from an object; None, or those of the objects below it.
HiddenFields: TypeAlias = "dict[str, HiddenFields | None]"


def remove_fields(value: object, hidden: HiddenFields) -> None:
    """Remove fields from an object, or from lists of objects."""
    if isinstance(value, list):
        for item in value:
            remove_fields(item, hidden)
    elif isinstance(value, dict):
        for name, below in hidden.items():
            if below is None:
                value.pop(name, None)
            else:
                remove_fields(value.get(name), below)


def find_added_fields(selections: Iterable[EditableSelection]) -> HiddenFields:
    """Return the fields that were added to a selection set."""
    hidden: HiddenFields = {}
    for key, pieces in group_by_key(selections).items():
        # Where the caller selects the name too, the field is theirs.
        if all(piece.added for piece in pieces):
            hidden[key] = None
        elif inner := find_added_fields(below for piece in pieces for below in piece.inner or ()):
            hidden[key] = inner
    return hidden


class SelectionWriter:
    """Converts selections to text, with changed arguments.

    Parameters
    ----------
    omitted
        The `id` of the selections to omit.

    Attributes
    ----------
    edits
        The changed arguments by the `id` of a selection: GraphQL text by name; None omits an
        argument.
    used_variables
        The variables of the operation that occur in the text.
    """

    def __init__(self, omitted: Collection[int] = ()) -> None:
        self.edits: Mapping[int, Mapping[str, str | None]] = {}
        self.omitted = omitted
        self.used_variables: set[str] = set()

    def write_set(self, selections: Iterable[EditableSelection]) -> str:
        """Return the text of a selection set."""
        written = (self.write_selection(s) for s in selections if id(s) not in self.omitted)
        return f"{{ {' '.join(written)} }}"

    def write_selection(self, selection: EditableSelection) -> str:
        """Return the text of a selection."""
        below = "" if selection.inner is None else f" {self.write_set(selection.inner)}"
        return self.write_head(selection) + below

    def write_head(self, selection: EditableSelection) -> str:
        """Return the text of a selection without its selection set."""
        for directive in selection.directives:
            self.used_variables.update(iterate_variables(directive))
        directives = "".join(f" {print_ast(directive)}" for directive in selection.directives)
        if not selection.name:
            condition = f" on {selection.on}" if selection.on else ""
            return f"...{condition}{directives}"
        edited = self.edits.get(id(selection), {})
        written = {name: print_ast(node) for name, node in selection.arguments.items()}
        written |= {name: text for name, text in edited.items() if text is not None}
        changed = {name: parse_value(text or "null") for name, text in edited.items()}
        for node in {**selection.arguments, **changed}.values():
            self.used_variables.update(iterate_variables(node))
        dropped = {name for name, text in edited.items() if text is None}
        inside = ", ".join(f"{name}: {t}" for name, t in written.items() if name not in dropped)
        alias = f"{selection.key}: " if selection.key != selection.name else ""
        arguments = f"({inside})" if inside else ""
        return f"{alias}{selection.name}{arguments}{directives}"

    def write_path(
        self,
        selections: Iterable[EditableSelection],
        steps: Sequence[str],
        shared: Mapping[int, str],
    ) -> str:
        """Return the text of the selections along a path, the last of them completely.

        Parameters
        ----------
        selections
            The selections at the start of the path.
        steps
            The response names.
        shared
            The names of fragments for the selection sets of some selections, by `id`.
        """
        written = []
        for selection in selections:
            inner = selection.inner or ()
            if selection.name and selection.key == steps[0]:
                if len(steps) == 1:
                    fragment = shared.get(id(selection))
                    spread = f"{self.write_head(selection)} {{ ...{fragment} }}"
                    written.append(spread if fragment else self.write_selection(selection))
                    continue
                below = self.write_path(inner, steps[1:], shared)
            else:
                below = "" if selection.name else self.write_path(inner, steps, shared)
            if below:
                written.append(f"{self.write_head(selection)} {{ {below} }}")
        return " ".join(written)

"""Fields of one response name that differ, in the words of graphql-ruby, GitHub's engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, product
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLSchema,
    InlineFragmentNode,
    Node,
    SelectionSetNode,
    get_named_type,
    is_object_type,
    print_ast,
)

from gqlnb.github.standin.variable_errors import dump_value, print_value

# Fields are compared in pairs. A person's mistake has a few pairs, an attack millions.
MAX_PAIRS = 5_000


class FieldConflict:
    """Nodes of one response name that differ.

    Attributes
    ----------
    kind
        ``"field"`` or ``"argument"``: what differs.
    name
        The response name.
    nodes, texts
        The fields, and the text of what differs in each.
    """

    def __init__(self, kind: str, name: str) -> None:
        self.kind, self.name = kind, name
        self.nodes: list[Node] = []
        self.texts: list[str] = []
        self._seen: set[str] = set()

    def add_node(self, node: Node, text: str) -> None:
        """Add a field, unless one of the same text is there."""
        printed = print_ast(node)
        if printed not in self._seen:
            self._seen.add(printed)
            self.nodes.append(node)
            self.texts.append(text)


class _TooManyPairsError(Exception):
    """More pairs than `MAX_PAIRS`."""


class _Field(NamedTuple):
    node: FieldNode
    parent: Any


class FieldConflictFinder:
    """Compares the fields of selection sets, for one document.

    Parameters
    ----------
    fragments
        The fragments of the document, by name.
    schema
        The schema.
    get_field
        Returns the definition of a field of a type, or None.
    """

    def __init__(
        self,
        fragments: Mapping[str, FragmentDefinitionNode],
        schema: GraphQLSchema,
        get_field: Callable[[Any, str], Any],
    ) -> None:
        self._fragments, self._schema, self._get_field = fragments, schema, get_field
        self._conflicts: dict[tuple[str, str], FieldConflict] = {}
        self._compared: set[tuple[int, int]] = set()  # so that each conflict is found once

    def find_conflicts(self, node: Any, kind: Any) -> list[FieldConflict]:
        """Return the conflicts below an operation or a field of a type."""
        self._conflicts = {}
        with suppress(_TooManyPairsError):
            for name, group in self._collect(node.selection_set, kind).items():
                for one, other in combinations(group, 2):
                    self._compare_fields(name, one, other)
        return sorted(self._conflicts.values(), key=lambda conflict: conflict.kind != "field")

    def _collect(
        self, selection_set: SelectionSetNode | None, kind: Any
    ) -> dict[str, list[_Field]]:
        """Return the fields of a selection set by response name, those of fragments last."""
        fields: dict[str, list[_Field]] = {}
        spreads: list[str] = []
        self._collect_into(selection_set, kind, fields, spreads)
        for name in spreads:  # fragments add further ones
            fragment = self._fragments.get(name)
            if fragment is not None:
                parent = self._schema.get_type(fragment.type_condition.name.value)
                self._collect_into(fragment.selection_set, parent, fields, spreads)
        return fields

    def _collect_into(
        self,
        selection_set: SelectionSetNode | None,
        parent: Any,
        fields: dict[str, list[_Field]],
        spreads: list[str],
    ) -> None:
        for node in selection_set.selections if selection_set and parent else ():
            if isinstance(node, FieldNode):
                fields.setdefault((node.alias or node.name).value, []).append(_Field(node, parent))
            elif isinstance(node, InlineFragmentNode):
                condition = node.type_condition
                kind = self._schema.get_type(condition.name.value) if condition else parent
                self._collect_into(node.selection_set, kind, fields, spreads)
            elif node.name.value not in spreads:  # type: ignore[attr-defined]
                spreads.append(node.name.value)  # type: ignore[attr-defined]

    def _compare_fields(self, name: str, one: _Field, other: _Field) -> None:
        nodes, parents = (one.node, other.node), (one.parent, other.parent)
        pair = id(nodes[0]), id(nodes[1])
        is_exclusive = parents[0] is not parents[1] and all(map(is_object_type, parents))
        if is_exclusive or nodes[0] is nodes[1] or pair in self._compared:
            return
        self._compared.add(pair)
        if len(self._compared) > MAX_PAIRS:
            raise _TooManyPairsError
        names = [node.name.value for node in nodes]
        if names[0] != names[1]:
            self._add_conflict("field", name, nodes, names)
        values = [_print_arguments(node) for node in nodes]
        if values[0] != values[1]:
            self._add_conflict("argument", name, nodes, [_join(each) for each in values])
        fields, fields2 = (self._collect_below(each) for each in (one, other))
        for inner, group in fields.items():
            for pair_below in product(group, fields2.get(inner, ())):
                self._compare_fields(inner, *pair_below)

    def _collect_below(self, field: _Field) -> dict[str, list[_Field]]:
        definition = self._get_field(field.parent, field.node.name.value)
        kind = definition and get_named_type(definition.type)
        return self._collect(field.node.selection_set, kind)

    def _add_conflict(
        self, kind: str, name: str, nodes: Sequence[Node], texts: Sequence[str]
    ) -> None:
        conflict = self._conflicts.setdefault((kind, name), FieldConflict(kind, name))
        for node, text in zip(nodes, texts, strict=True):
            conflict.add_node(node, text)


def _print_arguments(node: FieldNode) -> dict[str, str]:
    return {each.name.value: print_value(each.value) for each in node.arguments or ()}


def _join(values: Mapping[str, str]) -> str:
    pairs = (f"{name}:{dump_value(text)}" for name, text in values.items())
    return f"{{{','.join(pairs)}}}"

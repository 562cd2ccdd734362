"""Fields of one response name that graphql-ruby, the engine of GitHub's API, does not merge.

The fragments that definitions spread are resolved in the order of graphql-ruby.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSchema,
    InlineFragmentNode,
    Node,
    OperationDefinitionNode,
    get_named_type,
    is_abstract_type,
    is_object_type,
    print_ast,
)

from gqlnb.github.standin.variable_errors import dump_value, print_value

_Definition = OperationDefinitionNode | FragmentDefinitionNode


class SpreadGraph:
    """The spreads of each definition, in the engine's order of resolving them.

    Attributes
    ----------
    paths
        The paths of spreads and fragments, by the id of the node.
    """

    def __init__(self, fragments: Sequence[FragmentDefinitionNode]) -> None:
        self.paths: dict[int, tuple[Any, ...]] = {}
        by_name: dict[str, list[FragmentDefinitionNode]] = {}
        for fragment in fragments:
            by_name.setdefault(fragment.name.value, []).append(fragment)
        self._fragments = by_name
        self._spreads: dict[int, list[FragmentSpreadNode]] = {}
        self._definitions: dict[int, _Definition] = {}
        self._dependents: dict[str, dict[int, _Definition]] = {}

    def add_spread(
        self, node: FragmentSpreadNode, definition: _Definition, path: tuple[Any, ...]
    ) -> None:
        """Add a spread in an operation or a fragment."""
        self.paths[id(node)] = path
        self._definitions[id(definition)] = definition
        self._spreads.setdefault(id(definition), []).append(node)
        self._dependents.setdefault(node.name.value, {})[id(definition)] = definition

    def get_names(self, definition: _Definition) -> list[str]:
        """Return the names of the fragments that a definition spreads."""
        return [node.name.value for node in self._spreads.get(id(definition), ())]

    def resolve(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Return spreads of no fragment, fragments that are not used, and fragments in a cycle."""
        left = {key: list(nodes) for key, nodes in self._spreads.items()}
        fragments = [node for nodes in self._fragments.values() for node in nodes]
        waiting = [node for node in fragments if id(node) not in left]
        unused: list[Any] = []
        thinned: set[int] = set()
        for _ in fragments:  # the engine fails where fragments of one name take more turns
            if not waiting:
                break
            fragment = waiting.pop()
            left.pop(id(fragment), None)
            name = fragment.name.value
            for key, definition in self._dependents.get(name, {}).items():
                left[key] = [node for node in left.get(key, ()) if node.name.value != name]
                thinned.add(key)
                if isinstance(definition, FragmentDefinitionNode) and not left[key]:
                    waiting += [definition] if definition.name.value != name else []
            if name not in self._dependents and id(fragment) in self.paths:
                unused.append(fragment)
        missing: dict[int, list[Any]] = {}
        for key, nodes in left.items():
            group = key if isinstance(self._definitions[key], FragmentDefinitionNode) else 0
            missing.setdefault(group, []).extend(self._take_missing(nodes, skips=key in thinned))
        cyclic = [self._definitions[key] for key, nodes in left.items() if nodes]
        return (
            [node for nodes in missing.values() for node in nodes],
            unused,
            [node for node in cyclic if id(node) in self.paths],
        )

    def _take_missing(
        self, nodes: list[FragmentSpreadNode], *, skips: bool
    ) -> Iterator[FragmentSpreadNode]:
        """Yield and remove the spreads of no fragment.

        The engine removes them from the list that it goes through, if another spread was removed
        before: the spread after each is then skipped.
        """
        place = 0
        while place < len(nodes):
            node = nodes[place]
            if node.name.value in self._fragments:
                place += 1
                continue
            yield node
            name = node.name.value
            del nodes[place]
            if skips:
                nodes[:] = [other for other in nodes if other.name.value != name]
                place += 1


# The engine compares in pairs. A person's mistake has a few pairs, an attack
# millions.
MAX_PAIRS = 5_000


class FieldConflict:
    """Nodes of one response name that differ.

    Attributes
    ----------
    kind
        ``"field"`` where the names differ, ``"argument"`` where the arguments do.
    name
        The response name.
    nodes
        The fields.
    texts
        Their names or arguments.
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
    definition: Any
    parents: tuple[Any, ...]


class _Spread(NamedTuple):
    name: str
    parents: tuple[Any, ...]


_Fields = dict[str, list[_Field]]


class FieldConflictFinder:
    """Compares the fields of selection sets, for one document.

    Parameters
    ----------
    fragments
        The fragments of the document by name.
    schema
        The schema.
    get_field
        Returns the definition of a field of a type, or None.
    strict
        Whether only objects of different types may differ, as the specification has it.
    """

    def __init__(
        self,
        fragments: Mapping[str, FragmentDefinitionNode],
        schema: GraphQLSchema,
        get_field: Callable[[Any, str], Any],
        *,
        strict: bool,
    ) -> None:
        self._is_strict = strict
        self._fragments, self._schema, self._get_field = fragments, schema, get_field
        self._conflicts: dict[tuple[str, str], FieldConflict] = {}
        self._pairs = 0
        # The engine keeps both for the whole document, so that it finds each conflict once.
        self._visited_fragments: set[str] = set()
        self._compared_fragments: set[tuple[str, str, bool]] = set()

    def find_conflicts(self, node: Any, kind: Any) -> list[FieldConflict]:
        """Return the conflicts below an operation or a field of a type."""
        self._conflicts = {}
        if kind is None:
            return []
        with suppress(_TooManyPairsError):
            self._compare_selections(node, kind)
        return sorted(self._conflicts.values(), key=lambda conflict: conflict.kind != "field")

    def _compare_selections(self, node: Any, kind: Any) -> None:
        fields, spreads = self._collect(node, kind, ())
        for name, group in fields.items():
            for place, field in enumerate(group):
                for other in group[place + 1 :]:
                    self._compare_fields(name, field, other, exclusive=False)
        for place, spread in enumerate(spreads):
            exclusive = self._are_exclusive(spread.parents, (kind,))
            self._compare_with_fragment(spread, fields, exclusive=exclusive)
            for spread2 in spreads[place + 1 :]:
                exclusive = self._are_exclusive(spread.parents, spread2.parents)
                self._compare_fragments(spread, spread2, exclusive=exclusive)

    def _collect(
        self, node: Any, owner: Any, parents: tuple[Any, ...]
    ) -> tuple[_Fields, list[_Spread]]:
        """Return the fields by response name, and the spreads, of a selection set."""
        fields: _Fields = {}
        spreads: list[_Spread] = []
        self._collect_into(node, owner, parents, fields, spreads)
        return fields, spreads

    def _collect_into(
        self,
        node: Any,
        owner: Any,
        parents: tuple[Any, ...],
        fields: _Fields,
        spreads: list[_Spread],
    ) -> None:
        for each in node.selection_set.selections if node.selection_set else ():
            if isinstance(each, FieldNode):
                # Of the type of the whole set, also in a fragment on another type.
                definition = self._get_field(owner, each.name.value)
                name = (each.alias or each.name).value
                fields.setdefault(name, []).append(_Field(each, definition, parents))
            elif isinstance(each, InlineFragmentNode):
                condition = each.type_condition
                kind = self._schema.get_type(condition.name.value) if condition else owner
                if kind is not None:
                    self._collect_into(each, owner, (*parents, kind), fields, spreads)
            else:
                spreads.append(_Spread(each.name.value, parents))

    def _compare_fields(self, name: str, one: _Field, other: _Field, *, exclusive: bool) -> None:
        self._pairs += 1
        if self._pairs > MAX_PAIRS:
            raise _TooManyPairsError
        exclusive = exclusive or self._are_exclusive(one.parents, other.parents)
        nodes = one.node, other.node
        if not exclusive:
            names = [node.name.value for node in nodes]
            if names[0] != names[1]:
                self._add_conflict("field", name, nodes, names)
            values = [_print_arguments(node) for node in nodes]
            if values[0] != values[1]:
                self._add_conflict("argument", name, nodes, [_join(each) for each in values])
        kinds = [each.definition and get_named_type(each.definition.type) for each in (one, other)]
        if None in kinds or not any(node.selection_set for node in nodes):
            return
        fields, spreads = self._collect(nodes[0], kinds[0], (kinds[0],))
        fields2, spreads2 = self._collect(nodes[1], kinds[1], (kinds[1],))
        self._compare_sets(fields, fields2, exclusive=exclusive)
        for spread in spreads2:
            self._compare_with_fragment(spread, fields, exclusive=exclusive)
        for spread in spreads:
            self._compare_with_fragment(spread, fields2, exclusive=exclusive)
        for spread in spreads:
            for spread2 in spreads2:
                self._compare_fragments(spread, spread2, exclusive=exclusive)

    def _add_conflict(
        self, kind: str, name: str, nodes: Sequence[Node], texts: Sequence[str]
    ) -> None:
        conflict = self._conflicts.setdefault((kind, name), FieldConflict(kind, name))
        for node, text in zip(nodes, texts, strict=True):
            conflict.add_node(node, text)

    def _compare_sets(self, fields: _Fields, fields2: _Fields, *, exclusive: bool) -> None:
        for name, group in fields.items():
            for field in group:
                for field2 in fields2.get(name, ()):
                    self._compare_fields(name, field, field2, exclusive=exclusive)

    def _compare_with_fragment(self, spread: _Spread, fields: _Fields, *, exclusive: bool) -> None:
        if spread.name in self._visited_fragments:
            return
        self._visited_fragments.add(spread.name)
        found = self._collect_fragment(spread)
        if found is not None:
            fields2, spreads, _ = found
            self._compare_sets(fields, fields2, exclusive=exclusive)
            for inner in spreads:
                self._compare_with_fragment(inner, fields, exclusive=exclusive)

    def _compare_fragments(self, one: _Spread, other: _Spread, *, exclusive: bool) -> None:
        names = sorted((one.name, other.name))
        key = (names[0], names[1], exclusive)
        if one.name == other.name or key in self._compared_fragments:
            return
        self._compared_fragments.add(key)
        found = self._collect_fragment(one)
        found2 = found and self._collect_fragment(other, found[2])
        if not found or not found2:
            return
        self._compare_sets(found[0], found2[0], exclusive=exclusive)
        for spread in found2[1]:
            self._compare_fragments(one, spread, exclusive=exclusive)
        for spread in found[1]:
            self._compare_fragments(other, spread, exclusive=exclusive)

    def _collect_fragment(
        self, spread: _Spread, owner: Any = None
    ) -> tuple[_Fields, list[_Spread], Any] | None:
        """Return fields, spreads and type of a fragment; None if it or its type is not defined."""
        fragment = self._fragments.get(spread.name)
        kind = fragment and self._schema.get_type(fragment.type_condition.name.value)
        if kind is None:
            return None
        return (*self._collect(fragment, owner or kind, (*spread.parents, kind)), kind)

    def _are_exclusive(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        """Return whether no object has both types; the engine compares level by level."""
        if not one or not other:
            return False
        if self._is_strict:
            last = one[-1], other[-1]
            return last[0] is not last[1] and all(map(is_object_type, last))
        return len(one) != len(other) or any(
            kind is not kind2 and not self._get_names(kind) & self._get_names(kind2)
            for kind, kind2 in zip(one, other, strict=True)
        )

    def _get_names(self, kind: Any) -> set[str]:
        if is_abstract_type(kind):
            return {each.name for each in self._schema.get_possible_types(kind)}
        return {kind.name} if is_object_type(kind) else set()


def _print_arguments(node: FieldNode) -> dict[str, str]:
    return {each.name.value: print_value(each.value) for each in node.arguments or ()}


def _join(values: Mapping[str, str]) -> str:
    pairs = (f"{name}:{dump_value(text)}" for name, text in values.items())
    return f"{{{','.join(pairs)}}}"

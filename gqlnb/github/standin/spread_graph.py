"""The fragments that definitions spread, resolved in the order of graphql-ruby."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphql import FragmentDefinitionNode, FragmentSpreadNode, OperationDefinitionNode

__all__ = ["SpreadGraph"]

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

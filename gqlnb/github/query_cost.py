"""What an operation costs at GitHub: points and nodes, counted before anything is executed.

Of the connections that an operation asks a page of, each is one request for every item of the pages
around it; the requests, divided by 100 and rounded, are the points, one at least. The nodes are the
page sizes, each multiplied by those around it. Source: GitHub documentation, "Rate limits and query
limits for the GraphQL API", whose two examples are in the tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    BooleanValueNode,
    FieldNode,
    FragmentSpreadNode,
    IntValueNode,
    VariableNode,
)

if TYPE_CHECKING:
    from graphql import FragmentDefinitionNode, SelectionSetNode

    from gqlnb.document.document import Document

__all__ = ["MAX_NODES", "QueryCost", "collect_variable_defaults", "compute_cost", "iter_fields"]

MAX_NODES = 500_000
"""Most nodes of one operation. Source: GitHub documentation, "Node limit"."""
_FREE_FIELD = "rateLimit"  # the one field that is free


class QueryCost(NamedTuple):
    """What an operation costs.

    Attributes
    ----------
    points
        Of the budget for an hour; 0 if it asks for nothing but ``rateLimit``.
    nodes
        The most that it can return.
    """

    points: int
    nodes: int


class _CostSums(NamedTuple):
    requests: int
    nodes: int


def compute_cost(document: Document, variables: Mapping[str, Any]) -> QueryCost:
    """Return what an operation costs.

    Parameters
    ----------
    document
        A document that is valid.
    variables
        The values by name, coerced: 100.0 for an Int is 100.
    """
    given = collect_variable_defaults(document) | dict(variables)
    fragments = document.fragments
    top = [document.operation.selection_set]
    names = {field.name.value for field in iter_fields(top, fragments, given)}
    if names <= {_FREE_FIELD, "__typename"}:
        return QueryCost(0, 0)
    sums = _CostCounter(fragments, given).count_selections(tuple(top))
    return QueryCost(max(1, (sums.requests + 50) // 100), sums.nodes)


def collect_variable_defaults(document: Document) -> dict[str, Any]:
    """Return the defaults of the variables, as far as they are counted with."""
    return {name: _read_value(node.default_value, {}) for name, node in document.variables.items()}


class _CostCounter:
    """Counts a selection once, wherever it stands: fragments may stand in very many places."""

    def __init__(
        self, fragments: Mapping[str, FragmentDefinitionNode], variables: Mapping[str, Any]
    ) -> None:
        self._fragments = fragments
        self._variables = variables
        self._cached_sums: dict[tuple[int, ...], _CostSums] = {}

    def count_selections(self, sets: tuple[SelectionSetNode, ...]) -> _CostSums:
        """Return the requests and nodes of selection sets that are one object's."""
        place = tuple(map(id, sets))
        if place not in self._cached_sums:
            merged: dict[str, list[FieldNode]] = {}
            for field in iter_fields(sets, self._fragments, self._variables):
                key = (field.alias or field.name).value
                merged.setdefault(key, []).append(field)
            parts = [self._count_field(fields) for fields in merged.values()]
            self._cached_sums[place] = _CostSums(
                sum(p.requests for p in parts), sum(p.nodes for p in parts)
            )
        return self._cached_sums[place]

    def _count_field(self, fields: list[FieldNode]) -> _CostSums:
        inner = self.count_selections(tuple(f.selection_set for f in fields if f.selection_set))
        # One key may ask for pages of several sizes, where types exclude each other.
        sizes = [_read_page_size(field, self._variables) for field in fields]
        size = max((each for each in sizes if each is not None), default=None)
        if size is None:
            return inner
        return _CostSums(1 + size * inner.requests, size + size * inner.nodes)


def iter_fields(
    sets: list[SelectionSetNode] | tuple[SelectionSetNode, ...],
    fragments: Mapping[str, FragmentDefinitionNode],
    variables: Mapping[str, Any],
) -> Iterator[FieldNode]:
    """Yield the fields of selection sets, those of fragments too, that are not left out.

    Parameters
    ----------
    sets
        Where to look.
    fragments
        Those of the document, by name; each is looked at once.
    variables
        By name, for ``@skip`` and ``@include``.
    """
    waiting, seen = list(reversed(sets)), set[str]()
    while waiting:
        inner: list[SelectionSetNode] = []
        for node in waiting.pop().selections:
            if not _is_included(node, variables):
                continue
            if isinstance(node, FieldNode):
                yield node
            elif isinstance(node, FragmentSpreadNode):
                name = node.name.value
                if name not in seen and name in fragments:
                    inner.append(fragments[name].selection_set)
                seen.add(name)
            else:
                inner.append(node.selection_set)  # type: ignore[attr-defined]
        waiting.extend(reversed(inner))


def _is_included(node: Any, variables: Mapping[str, Any]) -> bool:
    """Tell whether a selection is neither skipped nor left out."""
    for directive in node.directives or ():
        wanted = {"skip": False, "include": True}.get(directive.name.value)
        if wanted is not None:
            (argument,) = directive.arguments
            if _read_value(argument.value, variables) is not wanted:
                return False
    return True


def _read_page_size(field: FieldNode, variables: Mapping[str, Any]) -> int | None:
    """Return `first` or `last` of a connection; None where it asks for no page."""
    for argument in field.arguments or ():
        if argument.name.value in {"first", "last"}:
            size = _read_value(argument.value, variables)
            if isinstance(size, int):
                return max(0, size)
    return None


def _read_value(node: Any, variables: Mapping[str, Any]) -> Any:
    """Return a number or a boolean, all that is counted with, or None."""
    if isinstance(node, VariableNode):
        return variables.get(node.name.value)
    if isinstance(node, IntValueNode):
        return int(node.value)
    return node.value if isinstance(node, BooleanValueNode) else None

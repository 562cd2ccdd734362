"""The cost of an operation at GitHub, in points and nodes, computed before it is executed.

Each connection with a page size is one request for every item of the pages around it. The requests,
divided by 100 and rounded, are the points, at least one. The nodes are the page sizes, each
multiplied by those around it. Source: GitHub documentation, "Rate limits and query limits for the
GraphQL API", whose two examples are in the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from graphql import BooleanValueNode, IntValueNode, VariableNode

from gqlnb.document.document import iterate_fields
from gqlnb.result.shape import is_included

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from graphql import FieldNode, FragmentDefinitionNode, SelectionSetNode, ValueNode

    from gqlnb.document.document import Document

#: Most nodes of one operation. Source: GitHub documentation, "Node limit".
MAX_NODES = 500_000


class QueryCost(NamedTuple):
    """The cost of an operation.

    Attributes
    ----------
    points
        Points of the hourly budget; 0 if only ``rateLimit`` is selected.
    nodes
        The largest number of nodes that it can return.
    """

    points: int
    nodes: int


def compute_cost(document: Document, variables: Mapping[str, object]) -> QueryCost:
    """Return the cost of an operation.

    Parameters
    ----------
    document
        A valid document.
    variables
        The coerced values by name: 100.0 for an Int is 100.

    Returns
    -------
    QueryCost
        Points and nodes.
    """
    values = collect_variable_defaults(document) | dict(variables)
    fragments, top = document.fragments, (document.operation.selection_set,)
    # Fragments may be spread in very many places, so each group of selection sets is counted once.
    cached: dict[tuple[int, ...], tuple[int, int]] = {}

    def count(sets: Sequence[SelectionSetNode]) -> tuple[int, int]:
        """Return the requests and nodes of selection sets of one object."""
        key = tuple(map(id, sets))
        if key not in cached:
            fields: dict[str, list[FieldNode]] = {}
            for field in iter_fields(sets, fragments, values):
                fields.setdefault((field.alias or field.name).value, []).append(field)
            requests = nodes = 0
            for same in fields.values():
                below = [field.selection_set for field in same if field.selection_set]
                inner_requests, inner_nodes = count(below) if below else (0, 0)
                # Fields of one key may ask for pages of several sizes, where their types exclude
                # each other.
                size = max(_read_page_size(field, values) for field in same)
                is_page, times = (0, 1) if size < 0 else (1, size)
                requests += is_page + times * inner_requests
                nodes += is_page * times + times * inner_nodes
            cached[key] = requests, nodes
        return cached[key]

    if {field.name.value for field in iter_fields(top, fragments, values)} <= {
        "rateLimit",
        "__typename",
    }:
        return QueryCost(0, 0)
    requests, nodes = count(top)
    return QueryCost(max(1, (requests + 50) // 100), nodes)


def collect_variable_defaults(document: Document) -> dict[str, object]:
    """Return the default values of the variables that are numbers or booleans."""
    return {name: _read_value(node.default_value, {}) for name, node in document.variables.items()}


def iter_fields(
    sets: Sequence[SelectionSetNode],
    fragments: Mapping[str, FragmentDefinitionNode],
    variables: Mapping[str, object],
) -> Iterator[FieldNode]:
    """Yield the fields of selection sets and of their fragments, without skipped ones.

    Parameters
    ----------
    sets, fragments
        As of :func:`gqlnb.document.document.iterate_fields`.
    variables
        Values by name, for ``@skip`` and ``@include``.

    Yields
    ------
    FieldNode
        The fields.
    """
    return iterate_fields(sets, fragments, lambda node: is_included(node, variables) is True)


def _read_page_size(field: FieldNode, variables: Mapping[str, object]) -> int:
    """Return `first` or `last` of a connection; -1 for a field without a page."""
    for argument in field.arguments or ():
        if argument.name.value in {"first", "last"}:
            size = _read_value(argument.value, variables)
            if isinstance(size, int):
                return max(0, size)
    return -1


def _read_value(node: ValueNode | None, variables: Mapping[str, object]) -> object:
    """Return a number or a boolean; None for other literals."""
    if isinstance(node, VariableNode):
        return variables.get(node.name.value)
    if isinstance(node, IntValueNode):
        return int(node.value)
    return node.value if isinstance(node, BooleanValueNode) else None

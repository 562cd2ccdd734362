"""The shape of an answer: which fields, of which types, at which list levels.

It is read from schema and document before any value is seen, or inferred from the data where no
schema is known; everything after that is one road.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    get_named_type,
    get_nullable_type,
    is_list_type,
    is_non_null_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphql import FragmentDefinitionNode, GraphQLSchema, SelectionSetNode

    from gqlnb.model.document import Document

    Known = tuple[GraphQLSchema, Mapping[str, FragmentDefinitionNode]]

__all__ = ["Shape", "inferred", "level", "shape_of"]


@dataclass(slots=True)
class Shape:
    """One field of an answer, or its root.

    Attributes
    ----------
    type
        The name of the GraphQL type without list and non-null marks; None where it was inferred.
    lists
        How many list levels stand around the value.
    values
        The names of an enum in the order of the schema, else empty.
    children
        The fields selected below, by response name in the order of selection; empty for a leaf.
    """

    type: str | None = None
    lists: int = 0
    values: tuple[str, ...] = ()
    children: dict[str, Shape] = field(default_factory=dict)


def shape_of(document: Document) -> Shape | None:
    """Return the shape that schema and document give; None without a schema."""
    if document.schema is None:
        return None
    root = Shape()
    top = document.schema.get_root_type(document.operation.operation)
    _fill(root, top, document.operation.selection_set, (document.schema, document.fragments))
    return root


def _fill(shape: Shape, kind: Any, selections: SelectionSetNode, known: Known) -> None:
    """Add the selected fields of `kind` to `shape`; equal response names merge, as in execution."""
    schema, fragments = known
    for node in selections.selections:
        if isinstance(node, FieldNode):
            _fill_field(shape, kind, node, known)
            continue
        target: Any = node
        if isinstance(node, FragmentSpreadNode):
            target = fragments[node.name.value]
        on = target.type_condition
        inner = schema.get_type(on.name.value) if on else kind
        _fill(shape, inner, target.selection_set, known)


def _fill_field(shape: Shape, kind: Any, node: FieldNode, known: Known) -> None:
    name = node.alias.value if node.alias else node.name.value
    if node.name.value.startswith("__"):
        found: Any = None  # meta fields: __typename is text, introspection is shown as it comes
    else:
        found = kind.fields[node.name.value].type
    child = shape.children.get(name)
    if child is None:
        child = shape.children[name] = _leaf(found)
    if node.selection_set is not None and found is not None:
        _fill(child, get_named_type(found), node.selection_set, known)


def _leaf(kind: Any) -> Shape:
    lists = 0
    while kind is not None and (is_list_type(kind) or is_non_null_type(kind)):
        lists += is_list_type(get_nullable_type(kind))
        kind = get_nullable_type(kind)
        kind = kind.of_type if is_list_type(kind) else kind
    values = tuple(kind.values) if isinstance(kind, GraphQLEnumType) else ()
    return Shape(str(kind) if kind is not None else "String", lists, values)


def inferred(data: Any) -> Shape:
    """Return the shape that the values show: what was null or empty everywhere has no type."""
    shape = Shape()
    _infer(shape, data)
    return shape


def _infer(shape: Shape, value: Any, depth: int = 0) -> None:
    if isinstance(value, (list, tuple)):
        shape.lists = max(shape.lists, depth + 1)
        for item in value:
            _infer(shape, item, depth + 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            _infer(shape.children.setdefault(name, Shape()), item)


@dataclass(frozen=True, slots=True)
class Level:
    """A list of an answer that can become a frame.

    Attributes
    ----------
    path
        The response names that lead from the data to the value that holds the rows.
    steps
        The names from there to the list, and from an item to a row: ``("edges", "node")``,
        ``("nodes", None)`` or ``(None, None)`` for a plain list.
    row
        The shape of one row.
    extra
        What is selected of an edge beside its node, such as ``cursor``, as by :func:`columns`.
    """

    path: tuple[str, ...]
    steps: tuple[str | None, str | None]
    row: Shape
    extra: Mapping[tuple[str, ...], Shape] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The path as a person writes it."""
        return ".".join(self.path)

    @property
    def place(self) -> tuple[str, ...]:
        """The response names that lead from the data to the list itself."""
        return self.path if self.steps[0] is None else (*self.path, self.steps[0])


def level(path: tuple[str, ...], shape: Shape) -> Level | None:
    """Return the level that a field is: a connection or a list, else None."""
    if shape.lists:
        return Level(
            path, (None, None), Shape(shape.type, shape.lists - 1, shape.values, shape.children)
        )
    nodes, edges = shape.children.get("nodes"), shape.children.get("edges")
    if edges is not None and edges.lists == 1 and "node" in edges.children:
        others = Shape(children={n: s for n, s in edges.children.items() if n != "node"})
        extra = dict(columns(others)) if others.children else {}
        return Level(path, ("edges", "node"), edges.children["node"], extra)
    if nodes is not None and nodes.lists == 1:
        return Level(path, ("nodes", None), Shape(nodes.type, 0, nodes.values, nodes.children))
    return None


def levels(shape: Shape, path: tuple[str, ...] = ()) -> Iterator[Level]:
    """Yield the lists that stand in no other list, in the order of selection."""
    found = level(path, shape) if path else None
    if found is not None:
        yield found
        return
    for name, child in shape.children.items():
        yield from levels(child, (*path, name))


def columns(shape: Shape, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Shape]]:
    """Yield the columns of a row: its leaves and, as one cell each, its inner lists."""
    if not shape.children or shape.lists:
        yield path, shape
        return
    inner = level(path, shape) if path else None
    if inner is not None:
        yield path, shape
    for name, child in shape.children.items():
        if inner is None or name != inner.steps[0]:
            yield from columns(child, (*path, name))

"""The shape of an answer: which fields, of which types, at which list levels.

It is read from schema and document before any value is seen, or inferred from the data where no
schema is known; everything after that is one road. Fields that are selected of the members of a
union or an interface stand side by side: a valid document gives a response name one type whichever
member answers ("field selection merging"), so nothing need be added to the request to tell them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from graphql import (
    BooleanValueNode,
    FieldNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLScalarType,
    SchemaMetaFieldDef,
    TypeMetaFieldDef,
    TypeNameMetaFieldDef,
    VariableNode,
    get_named_type,
    is_abstract_type,
    is_list_type,
    is_non_null_type,
    is_wrapping_type,
)

from gqlnb.document.known_scalars import recognize_scalar

if TYPE_CHECKING:
    from graphql import (
        FragmentDefinitionNode,
        GraphQLSchema,
        SelectionNode,
        SelectionSetNode,
    )

    from gqlnb.document.document import Document

__all__ = [
    "META_FIELDS",
    "Shape",
    "build_shape",
    "find_connection_path",
    "get_object_names",
    "infer_shape",
    "is_included",
]

SHAPES_KEPT = 256  # of one schema; a notebook has some dozens of texts
META_FIELDS = {  # the fields that introspection adds
    "__typename": TypeNameMetaFieldDef,
    "__schema": SchemaMetaFieldDef,
    "__type": TypeMetaFieldDef,
}
INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)
_KIND_NAMES = {
    bool: "booleans",
    dict: "objects",
    float: "numbers",
    int: "integers",
    list: "lists",
    str: "text",
}
MAX_EXACT_INTEGER = 2**53  # beyond it a float does not hold every integer


@dataclass(slots=True, eq=False)
class Shape:
    """One field of an answer, or its root.

    Attributes
    ----------
    type
        The name of the GraphQL type without list and non-null marks; None where values of no one
        type were seen and no schema is known.
    lists
        How many list levels stand around the value.
    values
        The names of an enum in the order of the schema, else empty.
    children
        The fields selected below, by response name in the order of selection; empty for a leaf.
    composite
        Whether the values are objects, which a selection may ask nothing of.
    field_name
        The field's own name, which an alias may hide.
    nullable
        Whether the schema lets the value be null.
    is_conditional
        Whether it is asked of some types only, or under a condition that is not known.
    certain_objects, possible_objects
        Which objects it is asked of for certain, and which perhaps: comparable among the fields of
        one object. Empty where no schema is known.
    objects
        Which objects can stand here, in the terms of `certain_objects` and `possible_objects` of the children.
    cache
        What has been made of this shape to read values with it; see :mod:`gqlnb.result.tables`.
    like
        The known scalar that a leaf's scalar is like, as its schema says; empty where none is.
    mixed_kinds
        The kinds of values that stand here, in words, where no schema is known and they differ.
    """

    type: str | None = None
    lists: int = 0
    values: tuple[str, ...] = ()
    children: dict[str, Shape] = field(default_factory=dict)
    composite: bool = False
    field_name: str = ""
    nullable: bool = True
    is_conditional: bool = False
    certain_objects: frozenset[Any] = frozenset()
    possible_objects: frozenset[Any] = frozenset()
    objects: frozenset[Any] = frozenset()
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)
    like: str = ""
    mixed_kinds: str = ""

    def get_item_shape(self) -> Shape:
        """Return the shape of an item of this list."""
        lists = self.lists - 1
        return Shape(self.type, lists, self.values, self.children, self.composite, like=self.like)


class ShapeContext(NamedTuple):
    """What selections are read with."""

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any] | None


class SelectionScope(NamedTuple):
    """Of which objects selections are asked.

    Attributes
    ----------
    always
        Whether of whatever object comes.
    types
        The names of the types of the objects.
    branch
        What tells these objects from those that other selections of the same field lead to.
    certain
        Whether no condition that is not known stands before the selections.
    """

    always: bool
    types: frozenset[str]
    branch: Any
    certain: bool


_SHAPE_CACHE: WeakKeyDictionary[GraphQLSchema, dict[Any, Shape]] = WeakKeyDictionary()


def build_shape(document: Document, variables: Mapping[str, Any] | None = None) -> Shape | None:
    """Return the shape that schema and document give; None without a schema.

    Parameters
    ----------
    document
        The document that was executed.
    variables
        The JSON-like values sent with it, for ``@skip`` and ``@include``. None where they are not
        known: what hangs on a variable is then in the shape.

    Returns
    -------
    Shape or None
        The same one for the same text, schema and conditions.
    """
    if document.schema is None:
        return None
    kept = _SHAPE_CACHE.setdefault(document.schema, {})
    conditions = _get_conditions(document, variables)
    known_values = None if conditions is None else tuple(sorted(conditions.items()))
    key = (document.text, document.name, known_values)
    found = kept.get(key)
    if found is None:
        root = Shape(nullable=False)
        top = document.schema.get_root_type(document.operation.operation)
        known = ShapeContext(document.schema, document.fragments, conditions)
        asked = SelectionScope(True, get_object_names(known.schema, top), None, True)
        _add_selections(root, top, document.operation.selection_set, known, asked)
        if len(kept) >= SHAPES_KEPT:
            kept.clear()
        found = kept.setdefault(key, root)
    return found


def _get_conditions(
    document: Document, variables: Mapping[str, Any] | None
) -> dict[str, bool] | None:
    """Return the Boolean variables of an execution, defaults included."""
    if not document.variables:
        return {}
    if variables is None:
        return None
    values = {
        name: node.default_value.value
        for name, node in document.variables.items()
        if isinstance(node.default_value, BooleanValueNode)
    }
    return values | {
        name: value
        for name, value in variables.items()
        if isinstance(value, bool) and name in document.variables
    }


def _add_selections(
    shape: Shape,
    kind: Any,
    selections: SelectionSetNode,
    known: ShapeContext,
    asked: SelectionScope,
) -> None:
    """Add the selected fields of `kind` to `shape`; equal response names merge, as in execution."""
    for node in selections.selections:
        there = is_included(node, known.variables)
        if there is False:
            continue
        here = asked._replace(
            always=asked.always and there is True, certain=asked.certain and there is True
        )
        if isinstance(node, FieldNode):
            _add_field(shape, kind, node, known, here)
            continue
        target: Any = node
        if isinstance(node, FragmentSpreadNode):
            target = known.fragments[node.name.value]
        on = target.type_condition
        inner = known.schema.get_type(on.name.value) if on else kind
        names = get_object_names(known.schema, inner)
        always = here.always and get_object_names(known.schema, kind) <= names
        here = here._replace(always=always, types=here.types & names)
        _add_selections(shape, inner, target.selection_set, known, here)


def get_object_names(schema: GraphQLSchema, kind: Any) -> frozenset[str]:
    """Return the names of the object types that values of a composite type can have."""
    kinds = schema.get_possible_types(kind) if is_abstract_type(kind) else [kind]
    return frozenset(each.name for each in kinds)


def is_included(node: SelectionNode, variables: Mapping[str, Any] | None) -> bool | None:
    """Tell by ``@skip`` and ``@include`` whether a selection is executed; None if it depends."""
    there: bool | None = True
    for directive in node.directives or ():
        name = directive.name.value
        if name not in {"skip", "include"} or not directive.arguments:
            continue
        value = directive.arguments[0].value
        given: Any = None
        if isinstance(value, VariableNode):
            given = None if variables is None else variables.get(value.name.value)
        elif isinstance(value, BooleanValueNode):
            given = value.value
        if given is (name == "skip"):
            return False
        there = there if isinstance(given, bool) else None
    return there


def _add_field(
    shape: Shape, kind: Any, node: FieldNode, known: ShapeContext, asked: SelectionScope
) -> None:
    own = node.name.value
    name = node.alias.value if node.alias else own
    declared = META_FIELDS[own] if own in META_FIELDS else kind.fields[own]
    child = shape.children.get(name)
    if child is None:
        child = shape.children[name] = _build_leaf(declared.type, own)
        child.is_conditional = not asked.always
    child.is_conditional = child.is_conditional and not asked.always
    objects = frozenset((asked.branch, name) for name in asked.types)
    child.possible_objects |= objects
    child.certain_objects |= objects if asked.certain else frozenset()
    if node.selection_set is not None:
        child.composite = True
        inner = get_named_type(declared.type)
        place = None if asked.always else (objects, None if asked.certain else id(node))
        below = SelectionScope(asked.always, get_object_names(known.schema, inner), place, True)
        child.objects |= frozenset((place, name) for name in below.types)
        _add_selections(child, inner, node.selection_set, known, below)


def _build_leaf(kind: Any, name: str) -> Shape:
    lists, nullable = 0, not is_non_null_type(kind)
    while is_wrapping_type(kind):
        lists += is_list_type(kind)
        kind = kind.of_type
    values = tuple(kind.values) if isinstance(kind, GraphQLEnumType) else ()
    like = ""
    if isinstance(kind, GraphQLScalarType):
        like = recognize_scalar(kind.name, kind.specified_by_url, kind.description)
    return Shape(str(kind), lists, values, field_name=name, nullable=nullable, like=like)


# -- connections


class ConnectionPath(NamedTuple):
    """How a connection leads to its rows: the list in it, and the row in an item of the list."""

    items: str
    node: str | None


def find_connection_path(shape: Shape) -> ConnectionPath | None:
    """Return the response names of a connection's ``edges`` and ``node``, or of its ``nodes``.

    None for what is no connection. The names of the fields count, not their aliases.
    """
    nodes = None
    for name, child in shape.children.items():
        if child.lists != 1:
            continue
        if child.field_name == "edges":
            for below, node in child.children.items():
                if node.field_name == "node" and not node.lists:
                    return ConnectionPath(name, below)
        elif child.field_name == "nodes" and nodes is None:
            nodes = ConnectionPath(name, None)
    return nodes


# -- without a schema


def infer_shape(data: Any) -> Shape:
    """Return the shape that the values show: what was null or empty everywhere has no type.

    The types are those of GraphQL where all values of a place agree; a place where objects, lists
    or values of several kinds stand is a leaf without a type, whose values are kept as they are.
    """
    return _infer_place([data], "")


def _infer_place(values: list[Any], name: str) -> Shape:
    """Return the shape of all the values of one place."""
    present = [value for value in values if value is not None]
    nullable = len(present) < len(values)
    kinds = set(map(type, present))
    if kinds and all(issubclass(kind, dict) for kind in kinds):
        names = dict.fromkeys(chain.from_iterable(present))
        if all(isinstance(key, str) for key in names):
            below = {key: _infer_place([v.get(key) for v in present], key) for key in names}
            return Shape(children=below, composite=bool(below), field_name=name, nullable=nullable)
    if kinds and all(issubclass(kind, (list, tuple)) for kind in kinds):
        item = _infer_place(list(chain.from_iterable(present)), name)
        item.lists += 1
        item.field_name, item.nullable = name, nullable
        return item
    found = _infer_type(kinds, present)
    mixed = "" if found or not kinds or kinds == {int} else _join_kinds(kinds)
    return Shape(found, field_name=name, nullable=nullable, mixed_kinds=mixed)


def _join_kinds(kinds: set[type]) -> str:
    """Return kinds of values in words, in a fixed order."""
    names = {_KIND_NAMES.get(kind, kind.__name__) for kind in kinds}
    return " and ".join(sorted(names))


def _infer_type(kinds: set[type], values: list[Any]) -> str | None:
    if kinds == {str}:
        return "String"
    if kinds == {bool}:
        return "Boolean"
    if kinds == {float} or (
        kinds == {int, float} and all(-MAX_EXACT_INTEGER <= v <= MAX_EXACT_INTEGER for v in values)
    ):
        return "Float"
    if kinds == {int}:
        low, high = min(values), max(values)
        if low in INT64 and high in INT64:
            return "Int" if low in INT32 and high in INT32 else "BigInt"
    return None

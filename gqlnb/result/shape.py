"""The shape of an answer: its fields with their types, list levels and conditions.

A shape is built from schema and document before any value is read, or inferred from the data where
no schema is known. Fields selected on several members of a union or an interface stand side by
side: a valid document gives each response name a single type ("field selection merging" in the
specification), so nothing has to be added to the request to tell the members apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLNamedType,
    GraphQLScalarType,
    GraphQLSchema,
    SelectionNode,
    SelectionSetNode,
    get_named_type,
    is_abstract_type,
    is_list_type,
    is_non_null_type,
    value_from_ast_untyped,
)
from graphql.language import BooleanValueNode, VariableNode

from gqlnb.document import scalars
from gqlnb.document.scalar_values import OtherFormError
from gqlnb.document.scalars import recognize_scalar
from gqlnb.document.selections import MAX_SELECTIONS, build_expansion_error
from gqlnb.document.validation import META_FIELDS

if TYPE_CHECKING:
    from gqlnb.document.document import Document

SHAPES_KEPT = 256  # per schema; a notebook has some dozens of texts
MAX_BRANCHES = 256  # sets of objects that are told apart; usual documents have some dozens
# The JSON types of the built-in scalars. An ID is text, but endpoints that send numbers are common
# and unambiguous. Custom scalars may be any JSON.
SCALAR_TYPES: Mapping[str, frozenset[type]] = {
    "Int": frozenset({int}),
    "Float": frozenset({float, int}),
    "String": frozenset({str}),
    "ID": frozenset({str, int}),
    "Boolean": frozenset({bool}),
}
# Any text is accepted for an enum: an endpoint may know values that its saved schema does not.
ENUM_TYPES = frozenset({str})
# Type texts in messages where no schema is known.
UNTYPED_ROOT, UNTYPED_OBJECT = "an object", "an object or a list of objects"
UNTYPED_VALUE = "a value"
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
JSONTypes = frozenset[type]
Cached = TypeVar("Cached")
ObjectSet = frozenset[tuple[object, str]]  # (branch of the document, name of an object type)


# Columns and dtypes come from schema and document, not from values, so that an empty answer has
# the same dtypes; unknown scalars are the exception (`ColumnBuilder.infer_dtype`). Without a schema
# the values give the shape, and the rest of the code is the same.
@dataclass(slots=True, eq=False)
class Shape:
    """One field of an answer, or its root.

    Attributes
    ----------
    type
        The name of the GraphQL type without list and non-null marks; None where no schema is known
        and the values have no common type.
    lists
        The number of list levels around the value.
    values
        The names of an enum in the order of the schema, else empty.
    children
        The fields selected below, by response name in the order of selection; empty for a leaf.
    composite
        Whether the values are objects.
    field_name
        The field's own name, which an alias may hide.
    nullable
        Whether the value (the outermost list, if there is one) may be null.
    is_conditional
        Whether a row may lack the field: it is selected for some object types only, or under a
        condition whose value is not known.
    certain_objects, possible_objects
        The objects for which the field is selected without and with an unknown condition;
        comparable among the fields of one object. Empty where no schema is known.
    objects
        The objects that can stand here, comparable with those sets of the children.
    cache
        Plans and decoders made from this shape; see :mod:`gqlnb.result.tables`.
    like
        The known scalar that the leaf's scalar resembles according to its schema; may be empty.
    mixed_kinds
        The kinds of values in words, where no schema is known and they differ.
    type_text
        The GraphQL type with all marks, for messages.
    item_nullable
        Whether items may be null, for each list level from the outermost.
    json_types
        The JSON types that a leaf may have; None for any.
    is_required
        Whether each object that has this field's parent type must have it.
    fragments
        Response names of the children that come together, by the names of the object types they
        are selected for.
    may_be_lists
        Whether objects may stand in lists of any depth: the document alone does not say.
    """

    type: str | None = None
    lists: int = 0
    values: tuple[str, ...] = ()
    children: dict[str, Shape] = field(default_factory=dict)
    composite: bool = False
    field_name: str = ""
    nullable: bool = True
    is_conditional: bool = False
    certain_objects: ObjectSet = frozenset()
    possible_objects: ObjectSet = frozenset()
    objects: ObjectSet = frozenset()
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)
    like: str = ""
    mixed_kinds: str = ""
    type_text: str = ""
    item_nullable: tuple[bool, ...] = ()
    json_types: JSONTypes | None = None
    is_required: bool = True
    fragments: dict[frozenset[str], set[str]] = field(default_factory=dict)
    may_be_lists: bool = False

    def get_cached(self, key: object, make: Callable[[], Cached]) -> Cached:
        """Return what `make` made of this shape when the key was first used; never None."""
        found: Cached | None = self.cache.get(key)
        if found is None:
            found = self.cache.setdefault(key, make())
        return found

    def get_item_shape(self) -> Shape:
        """Return the shape of an item of this list."""
        lists = self.lists - 1
        return Shape(self.type, lists, self.values, self.children, self.composite, like=self.like)

    def is_nullable_at(self, level: int) -> bool:
        """Return whether null is allowed inside that many levels of lists."""
        return self.item_nullable[level - 1] if level else self.nullable

    def get_type_text(self, level: int = 0) -> str:
        """Return the GraphQL type of a value inside that many levels of lists."""
        text = self.type_text
        for _ in range(level):
            text = text.removesuffix("!")[1:-1]
        return text


class _Context(NamedTuple):
    schema: GraphQLSchema | None
    fragments: Mapping[str, FragmentDefinitionNode]
    conditions: Mapping[str, bool] | None
    branches: dict[object, int]  # numbers: sets in sets would take long to compare
    field_numbers: Iterator[int]
    max_fields: int


class _Scope(NamedTuple):
    """The objects that a selection set applies to.

    Attributes
    ----------
    types
        The names of their object types; empty without a schema.
    is_narrowed
        Whether a fragment excludes some of the object types of the place.
    always
        Whether every row of the answer has such an object here.
    branch
        Distinguishes these objects from those that other selections of the same field lead to.
    certain
        Whether no unknown condition stands between the place and the selections.
    required
        Whether each such object must have the selected fields.
    """

    types: frozenset[str]
    is_narrowed: bool = False
    always: bool = True
    branch: int | None = None
    certain: bool = True
    required: bool = True


class _SelectionSet(NamedTuple):
    node: SelectionSetNode
    parent: GraphQLNamedType | None
    scope: _Scope


class _SelectedField(NamedTuple):
    node: FieldNode
    parent: Any  # an object or interface type; None without a schema
    scope: _Scope
    objects: ObjectSet  # that the scope stands for


_SHAPE_CACHE: WeakKeyDictionary[GraphQLSchema, dict[Any, Shape]] = WeakKeyDictionary()
_UNTYPED_SHAPES: dict[Any, Shape] = {}


def build_shape(document: Document, variables: Mapping[str, object] | None = None) -> Shape | None:
    """Return the shape given by schema and document; None without a schema.

    Parameters
    ----------
    document
        The document that was executed.
    variables
        The JSON-like values sent with it, for ``@skip`` and ``@include``. None if they are not
        known: fields that depend on a variable are then part of the shape.

    Returns
    -------
    Shape or None
        The same object for the same text, schema and conditions.
    """
    return None if document.schema is None else get_response_shape(document, variables)


def get_response_shape(document: Document, variables: Mapping[str, object] | None) -> Shape:
    """Return the same as :func:`build_shape`; without a schema, types are left open."""
    schema = document.schema
    cache = _UNTYPED_SHAPES if schema is None else _SHAPE_CACHE.setdefault(schema, {})
    conditions = get_conditions(document, variables)
    values = None if conditions is None else tuple(sorted(conditions.items()))
    key = (document.text, document.name, values)
    shape = cache.get(key)
    if shape is None:
        shape = build_response_shape(document, conditions)
        if len(cache) >= SHAPES_KEPT:  # generated texts; evicting one by one is not worth a lock
            cache.clear()
        shape = cache.setdefault(key, shape)
    return shape


def forget_shapes(schema: GraphQLSchema) -> None:
    """Forget the shapes of a schema whose types have changed."""
    _SHAPE_CACHE.pop(schema, None)


def get_conditions(
    document: Document, variables: Mapping[str, object] | None
) -> dict[str, bool] | None:
    """Return the Boolean variables of an execution, defaults included; None if unknown."""
    if not document.variables:
        return {}
    if variables is None:
        return None
    conditions = {}
    for name, node in document.variables.items():
        default = node.default_value
        value = variables.get(name, default and value_from_ast_untyped(default))
        if isinstance(value, bool):
            conditions[name] = value
    return conditions


def build_response_shape(document: Document, conditions: Mapping[str, bool] | None) -> Shape:
    """Return the shape of the data; without a schema, types and list levels are left open.

    Parameters
    ----------
    document
        A document that was validated against its schema, or one without a schema.
    conditions
        Values of Boolean variables, as by :func:`get_conditions`.

    Raises
    ------
    QueryError
        If fragments that are spread in fragments expand to too many fields.
    """
    schema = document.schema
    operation = document.operation
    root_type = None if schema is None else schema.get_root_type(operation.operation)
    text = UNTYPED_ROOT if root_type is None else str(root_type)
    root = Shape(composite=True, type_text=text)
    scope = _Scope(get_object_names(schema, root_type))
    # Without spreads there are fewer fields than characters, whatever generated the text.
    most = MAX_SELECTIONS + len(document.text)
    context = _Context(schema, document.fragments, conditions, {}, count(1), most)
    _add_children(root, [_SelectionSet(operation.selection_set, root_type, scope)], context)
    return root


def _add_children(shape: Shape, selected: Iterable[_SelectionSet], context: _Context) -> None:
    """Add the selected fields; equal response names merge, as in execution."""
    fields: dict[str, list[_SelectedField]] = {}
    # A selection set adds nothing the second time, and spreads in spreads repeat it exponentially.
    visited: set[tuple[int, _Scope]] = set()
    for selection_set in selected:
        for selected_field in _iter_fields(selection_set, context, visited):
            node = selected_field.node
            fields.setdefault((node.alias or node.name).value, []).append(selected_field)
    for name, parts in fields.items():
        if next(context.field_numbers) > context.max_fields:
            raise build_expansion_error(context.max_fields)
        child = shape.children[name] = _build_child(parts, context)
        if not child.is_required:
            for part in parts:
                if part.scope.required and part.scope.types:
                    shape.fragments.setdefault(part.scope.types, set()).add(name)


def _iter_fields(
    selected: _SelectionSet, context: _Context, visited: set[tuple[int, _Scope]]
) -> Iterator[_SelectedField]:
    """Yield the fields of a selection set that was not visited, those of its fragments included."""
    schema, parent = context.schema, selected.parent
    key = id(selected.node), selected.scope
    if key in visited:
        return
    visited.add(key)
    # Once for all fields, which are many.
    objects = frozenset([(selected.scope.branch, name) for name in selected.scope.types])
    for node in selected.node.selections:
        scope = selected.scope
        if node.directives:
            included = is_included(node, context.conditions)
            if included is False:
                continue
            if not included:
                scope = scope._replace(always=False, certain=False, required=False)
            elif any(directive.name.value == "defer" for directive in node.directives):
                scope = scope._replace(required=False)
        if isinstance(node, FieldNode):
            yield _SelectedField(node, parent, scope, objects)
            continue
        target: Any = node
        if isinstance(node, FragmentSpreadNode):
            target = context.fragments[node.name.value]
        on = target.type_condition
        inner = schema.get_type(on.name.value) if schema and on else parent
        names = get_object_names(schema, inner)
        scope = scope._replace(
            types=scope.types & names,
            is_narrowed=scope.is_narrowed or not scope.types <= names,
            always=scope.always and get_object_names(schema, parent) <= names,
            # Without a schema, a fragment may be on a type that the object does not have.
            required=scope.required and (schema is not None or on is None),
        )
        inner_set = _SelectionSet(target.selection_set, inner, scope)
        yield from _iter_fields(inner_set, context, visited)


def _build_child(parts: list[_SelectedField], context: _Context) -> Shape:
    """Return the shape of a field that is selected once or more."""
    schema, first = context.schema, parts[0]
    child = _build_leaf(first) if schema is not None else Shape(type_text=UNTYPED_VALUE)
    child.field_name = first.node.name.value
    child.is_conditional, child.is_required = True, False
    # A field selected once or always in the same scope must be complete wherever it occurs;
    # otherwise only what is selected for all objects can be required below it.
    is_uniform = True
    first_type = get_named_type(get_field_type(first.node, first.parent))
    below = []
    for part in parts:
        scope = part.scope
        if scope.always:
            child.is_conditional = False
        if scope.required and not scope.is_narrowed:
            child.is_required = True
        is_uniform = is_uniform and (scope.types, scope.required) == (
            first.scope.types,
            first.scope.required,
        )
        child.possible_objects |= part.objects
        if scope.certain:
            child.certain_objects |= part.objects
    for part in parts:
        if part.node.selection_set is None:
            continue
        scope = part.scope
        inner = get_named_type(get_field_type(part.node, part.parent))
        # Objects selected under a condition are others than those selected always: fields below
        # the two selections of one field must not count as selected for the same objects.
        # By its node, the objects of each selection are others: with nested conditions on types,
        # their sets double at each level.
        is_known = scope.certain and len(context.branches) < MAX_BRANCHES
        key = part.objects if is_known else id(part.node)
        branch = None if scope.always else context.branches.setdefault(key, len(context.branches))
        names = get_object_names(schema, inner)
        required = is_uniform or (scope.required and not scope.is_narrowed)
        if inner is not first_type:
            required = False
        child.objects |= frozenset((branch, type_name) for type_name in names)
        inner_scope = _Scope(names, always=scope.always, branch=branch, required=required)
        below.append(_SelectionSet(part.node.selection_set, inner, inner_scope))
    if below:
        child.composite = True
        if schema is None:
            child.type_text, child.may_be_lists = UNTYPED_OBJECT, True
        _add_children(child, below, context)
    return child


def _build_leaf(selected: _SelectedField) -> Shape:
    declared = get_field_type(selected.node, selected.parent)
    nullable = []  # for the value, and for the items of each list level
    inner = declared
    while True:
        nullable.append(not is_non_null_type(inner))
        inner = inner if nullable[-1] else inner.of_type
        if not is_list_type(inner):
            break
        inner = inner.of_type
    values, like = (), ""
    json_types = SCALAR_TYPES.get(inner.name)
    if isinstance(inner, GraphQLEnumType):
        values, json_types = tuple(inner.values), ENUM_TYPES
    elif isinstance(inner, GraphQLScalarType) and json_types is None:
        like = recognize_scalar(inner.name, inner.specified_by_url, inner.description)
    return Shape(
        inner.name,
        len(nullable) - 1,
        values,
        nullable=nullable[0],
        like=like,
        type_text=str(declared),
        item_nullable=tuple(nullable[1:]),
        json_types=json_types,
    )


def get_field_type(node: FieldNode, parent: Any) -> Any:  # noqa: ANN401 - of graphql-core
    """Return the type of a field of an object or interface type; None if that is not known."""
    name = node.name.value
    return None if parent is None else (META_FIELDS.get(name) or parent.fields[name]).type


def get_object_names(
    schema: GraphQLSchema | None, composite: GraphQLNamedType | None
) -> frozenset[str]:
    """Return the names of the object types that values of a composite type can have."""
    if schema is None or composite is None:
        return frozenset()
    if is_abstract_type(composite):
        return frozenset(found.name for found in schema.get_possible_types(composite))
    return frozenset({composite.name})


def is_included(node: SelectionNode, conditions: Mapping[str, Any] | None) -> bool | None:
    """Return whether ``@skip`` and ``@include`` let a selection execute; None if unknown."""
    included: bool | None = True
    for directive in node.directives or ():
        name = directive.name.value
        if name not in {"skip", "include"} or not directive.arguments:
            continue
        argument = directive.arguments[0].value
        value: bool | None = None
        if isinstance(argument, VariableNode):
            value = None if conditions is None else conditions.get(argument.name.value)
        elif isinstance(argument, BooleanValueNode):
            value = argument.value
        if value is (name == "skip"):
            return False
        included = included if isinstance(value, bool) else None
    return included


# -- connections


class ConnectionPath(NamedTuple):
    """Response names from a connection to its rows: its list, and the row in an item of it."""

    items: str
    node: str | None


def find_connection_path(shape: Shape) -> ConnectionPath | None:
    """Return the path to the rows of a connection; None if the shape is not a connection."""
    # A connection is recognized by the names of its fields, not by their aliases.
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


def infer_shape(data: object) -> Shape:
    """Return the shape inferred from values.

    Types are those of GraphQL where all values of a place agree. A place that is null or empty
    everywhere has no type. A place with objects, lists or values of several kinds is a leaf without
    a type, and its values are kept unchanged.
    """
    return _infer_place([data], "")


def _infer_place(values: list[Any], name: str) -> Shape:
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
    scalar = infer_type(kinds, present)
    mixed = ""
    if kinds and scalar is None and kinds != {int}:
        mixed = " and ".join(sorted({_KIND_NAMES.get(kind, kind.__name__) for kind in kinds}))
    return Shape(scalar, field_name=name, nullable=nullable, mixed_kinds=mixed)


def infer_type(kinds: set[type], values: list[Any]) -> str | None:
    """Return the scalar that holds all values exactly; None if there is none.

    Parameters
    ----------
    kinds
        The types of the values.
    values
        The values, without null.
    """
    if kinds == {str}:
        return "String"
    if kinds == {bool}:
        return "Boolean"
    # Integers beside floats are Float, unless one is too large to be exact as a float.
    if kinds == {float} or (
        kinds == {int, float} and all(-MAX_EXACT_INTEGER <= v <= MAX_EXACT_INTEGER for v in values)
    ):
        return "Float"
    if kinds == {int}:
        low, high = min(values), max(values)
        if low in INT64 and high in INT64:
            return "Int" if low in INT32 and high in INT32 else "BigInt"
    return None


class ScalarForms(NamedTuple):
    """The forms of scalar values observed so far.

    Attributes
    ----------
    known
        The form of each leaf that had a value on this page or earlier; empty for the form implied
        by the name of its scalar.
    late
        The leaves whose form was first observed on this page and differs from the one in the
        frames of earlier pages, where all values are null.
    """

    known: Mapping[Shape, str]
    late: frozenset[Shape]


NO_FORMS = ScalarForms(MappingProxyType({}), frozenset())


def observe_forms(shape: Shape | None, data: object, before: ScalarForms | None) -> ScalarForms:
    """Return the forms known after a page.

    Parameters
    ----------
    shape
        The shape of the data; None if no schema is known.
    data
        The data of the page.
    before
        The forms known before it; None for the first page.
    """
    if shape is None or not isinstance(data, dict):
        return before or NO_FORMS
    seen: dict[Shape, str] = {}
    known = NO_FORMS.known if before is None else before.known
    _observe_leaves(shape, [data], known, seen)
    if not seen:
        return ScalarForms(known, frozenset())
    # On the first page no form is late: there are no earlier frames.
    late = [leaf for leaf, form in seen.items() if form and before is not None]
    return ScalarForms({**known, **seen}, frozenset(late))


def _observe_leaves(
    shape: Shape, objects: list[Any], known: Mapping[Shape, str], seen: dict[Shape, str]
) -> None:
    """Add the forms of leaves that are not known yet to `seen`."""
    for name, child in shape.children.items():
        if not _has_forms(child):
            continue
        values = (item.get(name) for item in objects if isinstance(item, dict))
        if child.composite:
            _observe_leaves(child, list(_flatten_lists(values, child.lists)), known, seen)
        elif child not in known:
            # One value decides: a column has one form, and another one later on is an error.
            first = next((value for value in values if value is not None), None)
            if first is not None:
                seen[child] = _get_form(child, first)


def _flatten_lists(values: Iterable[Any], levels: int) -> Iterable[Any]:
    """Return the items of lists of that many levels."""
    if not levels:
        return values
    inner = (item for value in values if isinstance(value, (list, tuple)) for item in value)
    return _flatten_lists(inner, levels - 1)


def _has_forms(shape: Shape) -> bool:
    """Return whether a scalar at or below a place has several forms."""

    def find_forms() -> bool:
        is_leaf = not shape.composite and not shape.lists
        own = is_leaf and bool(scalars.get_scalar(shape).other_forms)
        return own or any(map(_has_forms, shape.children.values()))

    return shape.get_cached(("forms", scalars.get_version()), find_forms)


def _get_form(shape: Shape, value: object) -> str:
    """Return the form of a value; empty for the implied one, and for an invalid value."""
    kind = scalars.get_scalar(shape)
    try:
        if kind.convert is not None:
            kind.convert(value)
    except OtherFormError as error:
        return error.form if error.form in kind.other_forms else ""
    except (TypeError, ValueError, ArithmeticError):
        pass
    return ""

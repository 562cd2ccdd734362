"""What an answer must hold, as schema and document say: fields, types, nulls.

Without a schema the document alone says which fields there are, and which of them hold objects: in
lists or not, and any of them null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    get_named_type,
    is_composite_type,
    is_list_type,
    is_non_null_type,
    value_from_ast_untyped,
)
from graphql.language import VariableNode

from gqlnb.result.shape import META_FIELDS, get_object_names, is_included

if TYPE_CHECKING:
    from graphql import GraphQLSchema, SelectionSetNode

    from gqlnb.document.document import Document

__all__ = [
    "ExpectedValue",
    "Misfit",
    "build_expected_data",
    "find_deciding_variables",
    "find_missing_fields",
    "get_deciding_value",
    "iter_misfits",
]

NULL_TYPE = type(None)
# The types of JSON that the scalars of the specification may be. An ID is text; endpoints that
# send numbers are common, and what is meant is clear. Scalars of an endpoint's own may be anything.
SCALAR_TYPES: Mapping[str, frozenset[type]] = {
    "Int": frozenset({int}),
    "Float": frozenset({float, int}),
    "String": frozenset({str}),
    "ID": frozenset({str, int}),
    "Boolean": frozenset({bool}),
}
TEXT_TYPES = frozenset(
    {str}
)  # enums: a value the schema does not know is an endpoint that is newer
JSON_TYPE_NAMES = {
    NULL_TYPE: "null",
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
}

# What is expected where no schema names a type.
OBJECT, OBJECTS, VALUE = "an object", "an object or a list of objects", "a value"

Path = tuple[str | int, ...]
Kinds = frozenset[str]  # names of object types


class Misfit(NamedTuple):
    """One place of an answer that is not as the schema says.

    Attributes
    ----------
    path
        Response names and indices from the data on.
    wanted
        The GraphQL type.
    got
        What stands there, in words: its kind, never its value.
    absent
        Whether it is null or missing; an error of the answer may excuse that.
    """

    path: Path
    wanted: str
    got: str
    absent: bool


@dataclass(slots=True)
class ExpectedValue:
    """What one place of an answer must hold.

    Attributes
    ----------
    type_text
        The GraphQL type as text.
    is_nullable
        Whether it may be null.
    item
        What each item of a list must be; None if it is no list.
    kinds
        The Python types a leaf may have; None for any, and for objects.
    required
        The fields of an object that are always there; None if it is no object.
    optional
        Its other fields: those of fragments on some of its types, and what we cannot tell.
    fragments
        Fields that come together, with the object types they belong to.
    may_be_lists
        Whether the objects may stand in lists of any depth, as where no schema is known.
    """

    type_text: str
    is_nullable: bool = True
    item: ExpectedValue | None = None
    kinds: frozenset[type] | None = None
    required: dict[str, ExpectedValue] | None = None
    optional: dict[str, ExpectedValue] = field(default_factory=dict)
    fragments: dict[Kinds, set[str]] = field(default_factory=dict)
    may_be_lists: bool = False

    @property
    def fields(self) -> dict[str, ExpectedValue]:
        """All fields of an object."""
        return {**(self.required or {}), **self.optional}


# -- from schema and document


def find_deciding_variables(document: Document) -> tuple[str, ...]:
    """Return the variables that may decide, in a directive, whether a field is there."""
    found: dict[str, None] = {}
    sets = [document.operation.selection_set]
    sets += [fragment.selection_set for fragment in document.fragments.values()]
    while sets:
        for node in sets.pop().selections:
            for directive in node.directives or ():
                for argument in directive.arguments or ():
                    if isinstance(argument.value, VariableNode):
                        found[argument.value.name.value] = None
            inner = getattr(node, "selection_set", None)
            if inner is not None:
                sets.append(inner)
    return tuple(found)


def get_deciding_value(document: Document, name: str, variables: Mapping[str, Any]) -> bool | None:
    """Return the value that a variable has where it decides; None if that can't be told."""
    node = document.variables.get(name)
    default = None if node is None else node.default_value
    value = variables.get(name, default and value_from_ast_untyped(default))
    return value if isinstance(value, bool) else None


class ExpectationContext(NamedTuple):
    """What is known while a plan is made."""

    schema: GraphQLSchema | None
    fragments: Mapping[str, Any]
    variables: Mapping[str, bool | None]


class SelectedField(NamedTuple):
    """A field as it is selected once: its node, its parent type, when it is there.

    `kinds` are the object types of the parent that have it, None for all; `sure` is whether it is
    there for those.
    """

    node: FieldNode
    parent: Any
    kinds: Kinds | None
    sure: bool


class SelectedSet(NamedTuple):
    """A selection set, the type it is made on, and when it counts, as for a `SelectedField`."""

    node: SelectionSetNode
    parent: Any
    kinds: Kinds | None
    sure: bool


def build_expected_data(document: Document, variables: Mapping[str, bool | None]) -> ExpectedValue:
    """Return what the data of an answer must be.

    Parameters
    ----------
    document
        One that was checked against its schema, or one without a schema.
    variables
        The values of those that decide, as by :func:`get_deciding_value`.
    """
    schema = document.schema
    planner = ExpectationContext(schema, document.fragments, variables)
    root = None if schema is None else schema.get_root_type(document.operation.operation)
    place = ExpectedValue(OBJECT if root is None else str(root))
    _add_fields(
        place, [SelectedSet(document.operation.selection_set, root, None, sure=True)], planner
    )
    return place


def _add_fields(
    place: ExpectedValue, selected: Iterable[SelectedSet], planner: ExpectationContext
) -> None:
    """Add the fields of an object."""
    place.required = {}
    parts: dict[str, list[SelectedField]] = {}
    for each in selected:
        for part in _iter_fields(each, planner):
            node = part.node
            parts.setdefault((node.alias or node.name).value, []).append(part)
    for name, found in parts.items():
        made = _build_field(found, planner)
        if any(part.sure and part.kinds is None for part in found):
            place.required[name] = made
            continue
        place.optional[name] = made
        for part in found:
            if part.sure and part.kinds is not None:
                place.fragments.setdefault(part.kinds, set()).add(name)


def _iter_fields(selected: SelectedSet, planner: ExpectationContext) -> Iterator[SelectedField]:
    """Yield the fields of a selection set, fragments unrolled."""
    parent, kinds = selected.parent, selected.kinds
    for node in selected.node.selections:
        there = is_included(node, planner.variables)
        if there is False:
            continue
        deferred = any(each.name.value == "defer" for each in node.directives or ())
        sure = selected.sure and there is True and not deferred
        if isinstance(node, FieldNode):
            yield SelectedField(node, parent, kinds, sure)
            continue
        inner: Any = node
        if isinstance(node, FragmentSpreadNode):
            inner = planner.fragments[node.name.value]
        on = inner.type_condition
        if planner.schema is None:  # no one knows of which objects a fragment on a type is asked
            sure = sure and on is None
            yield from _iter_fields(SelectedSet(inner.selection_set, None, None, sure), planner)
            continue
        target = planner.schema.get_type(on.name.value) if on else parent
        narrowed = narrow_object_types(planner.schema, parent, kinds, target)
        if narrowed is None or narrowed:
            yield from _iter_fields(
                SelectedSet(inner.selection_set, target, narrowed, sure), planner
            )


def narrow_object_types(
    schema: GraphQLSchema, parent: Any, kinds: Kinds | None, on: Any
) -> Kinds | None:
    """Return the object types that a fragment on `on` leaves of a parent's; None for all."""
    if on is parent:
        return kinds
    had = get_object_names(schema, parent) if kinds is None else kinds
    left = had & get_object_names(schema, on)
    return kinds if left == had else left


def _build_field(parts: list[SelectedField], planner: ExpectationContext) -> ExpectedValue:
    """Return what a field must hold that is selected once or more."""
    first = parts[0]
    same = all(part.kinds == first.kinds and part.sure == first.sure for part in parts)
    if planner.schema is None:
        return _build_untyped_field(parts, planner, same=same)
    declared = get_declared_type(first)
    made, leaf = build_list_levels(declared)
    named = get_named_type(declared)
    if not is_composite_type(named):
        leaf.kinds = (
            TEXT_TYPES if isinstance(named, GraphQLEnumType) else SCALAR_TYPES.get(named.name)
        )
        return made
    selected = []
    for part in parts:
        if part.node.selection_set is None:
            continue
        kind = get_named_type(get_declared_type(part))
        # What is selected where the field may not be, is sure only where that is the one place.
        sure = (same or (part.sure and part.kinds is None)) and kind is named
        selected.append(SelectedSet(part.node.selection_set, kind, None, sure))
    _add_fields(leaf, selected, planner)
    return made


def _build_untyped_field(
    parts: list[SelectedField], planner: ExpectationContext, *, same: bool
) -> ExpectedValue:
    """Return what a field must hold whose type is not known; `same` is as in :func:`_build_field`."""
    sets = [(part.node.selection_set, same or part.sure) for part in parts]
    selected = [SelectedSet(node, None, None, sure) for node, sure in sets if node is not None]
    if not selected:
        return ExpectedValue(VALUE)
    made = ExpectedValue(OBJECTS, may_be_lists=True)
    _add_fields(made, selected, planner)
    return made


def get_declared_type(part: SelectedField) -> Any:
    """Return the type that the schema declares for a field."""
    name = part.node.name.value
    return (META_FIELDS.get(name) or part.parent.fields[name]).type


def build_list_levels(kind: Any) -> tuple[ExpectedValue, ExpectedValue]:
    """Return the place of a type, and the innermost place in its lists."""
    place = ExpectedValue(str(kind), is_nullable=not is_non_null_type(kind))
    inner = kind.of_type if is_non_null_type(kind) else kind
    if not is_list_type(inner):
        return place, place
    place.item, leaf = build_list_levels(inner.of_type)
    return place, leaf


# -- one answer, place by place


def find_missing_fields(
    place: ExpectedValue, keys: Iterable[str], kind: str | None = None
) -> set[str]:
    """Return the fields of fragments that an object with these keys lacks.

    Parameters
    ----------
    place
        What it must be.
    keys
        Its response names.
    kind
        Its object type, None if unknown: then a fragment must be there as a whole or not at all,
        since its fields may belong to others too.
    """
    there = set(keys)
    lacking: set[str] = set()
    if kind is not None:
        for kinds, names in place.fragments.items():
            if kind in kinds:
                lacking |= names - there
        return lacking
    names = set().union(*place.fragments.values())
    whole = [fields for fields in place.fragments.values() if fields <= there]
    stray = (there & names).difference(*whole)
    for fields in place.fragments.values():
        if fields & stray:
            lacking |= fields - there
    return lacking


def iter_misfits(place: ExpectedValue, value: Any, path: Path = ()) -> Iterator[Misfit]:
    """Yield what is wrong with a value, outermost and first places first."""
    kind = type(value)
    inner = place if place.may_be_lists and kind is list else place.item
    if value is None:
        if not place.is_nullable:
            yield Misfit(path, place.type_text, JSON_TYPE_NAMES[NULL_TYPE], absent=True)
    elif inner is not None:
        if kind is not list:
            yield Misfit(path, place.type_text, describe_json_type(kind), absent=False)
            return
        for index, item in enumerate(value):
            yield from iter_misfits(inner, item, (*path, index))
    elif place.required is None:
        if place.kinds is not None and kind not in place.kinds:
            yield Misfit(path, place.type_text, describe_json_type(kind), absent=False)
    elif kind is not dict:
        yield Misfit(path, place.type_text, describe_json_type(kind), absent=False)
    else:
        yield from _iter_field_misfits(place, value, path)


def _iter_field_misfits(
    place: ExpectedValue, value: dict[str, Any], path: Path
) -> Iterator[Misfit]:
    always = place.required or {}
    lacking = [name for name in always if name not in value]
    if place.fragments:
        kind = value.get("__typename") if "__typename" in always else None
        found = find_missing_fields(place, value, kind if isinstance(kind, str) else None)
        lacking += [name for name in place.optional if name in found]
    fields = place.fields
    for name in lacking:
        yield Misfit((*path, name), fields[name].type_text, "nothing", absent=True)
    for name, inner in fields.items():
        if name in value:
            yield from iter_misfits(inner, value[name], (*path, name))


def describe_json_type(kind: type) -> str:
    """Return a kind of JSON in words."""
    return JSON_TYPE_NAMES.get(kind, kind.__name__)

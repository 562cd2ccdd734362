"""What may stand at a place of a GraphQL text: names with what they are."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from graphql import (
    DirectiveLocation,
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputField,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    get_named_type,
    is_composite_type,
    is_input_type,
    is_interface_type,
    is_object_type,
    is_required_argument,
)
from graphql.type import SchemaMetaFieldDef, TypeMetaFieldDef, TypeNameMetaFieldDef
from graphql.utilities.print_schema import print_input_value
from graphql.utilities.type_comparators import do_types_overlap

__all__ = [
    "Proposal",
    "format_input_value",
    "propose_directives",
    "propose_fields",
    "propose_input_types",
    "propose_members",
    "propose_type_conditions",
    "propose_values",
]

BOOLEAN = ("true", "false")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A name that may stand at the cursor.

    Attributes
    ----------
    name
        The text to insert.
    kind
        What it is: ``"field"``, ``"argument"``, ``"input field"``, ``"enum value"``, ``"type"``,
        ``"directive"``, ``"variable"``, ``"fragment"``, ``"keyword"`` or ``"value"``. On the line
        of a magic: ``"option"``, ``"value"``, ``"name"``, or ``"keyword"`` for a subcommand.
    detail
        Its type, as GraphQL writes it; on a line what it is for; empty where there is nothing.
    owner
        The name of the type, field or directive that it belongs to.
    thing
        Its definition, of graphql-core; None where it has none.
    """

    name: str
    kind: str
    detail: str = ""
    owner: str = ""
    thing: Any = None

    @property
    def deprecated(self) -> bool:
        """Whether the schema says that it should not be used any more."""
        return getattr(self.thing, "deprecation_reason", None) is not None


def propose_fields(
    schema: GraphQLSchema | None, parent: GraphQLNamedType | None
) -> Iterator[Proposal]:
    """Yield the fields that may be selected of a type, the introspection's last."""
    if schema is None or parent is None:
        return
    for name, field in collect_fields(schema, parent).items():
        yield Proposal(name, "field", str(field.type), parent.name, field)


def collect_fields(schema: GraphQLSchema, parent: GraphQLNamedType) -> Mapping[str, Any]:
    """Return the fields of a type by name, those that every type has included."""
    own = parent.fields if is_object_type(parent) or is_interface_type(parent) else {}
    meta = {"__typename": TypeNameMetaFieldDef} if is_composite_type(parent) else {}
    if parent is schema.query_type:
        meta |= {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef}
    return {**own, **meta}


def propose_type_conditions(
    schema: GraphQLSchema | None, parent: GraphQLNamedType | None
) -> list[Proposal]:
    """Return the types that ``... on`` may name where `parent` is selected from."""
    kinds = get_type_proposals(schema).composites
    if schema is None or not is_composite_type(parent):
        return kinds
    return [kind for kind in kinds if do_types_overlap(schema, parent, kind.thing)]


def propose_input_types(schema: GraphQLSchema | None) -> list[Proposal]:
    """Return the types that a variable may have."""
    return get_type_proposals(schema).inputs


class TypeProposals(NamedTuple):
    """Types of a schema as proposals: those that can be selected from, those that are input."""

    composites: list[Proposal]
    inputs: list[Proposal]


_TYPE_PROPOSALS: WeakKeyDictionary[GraphQLSchema, TypeProposals] = WeakKeyDictionary()


def get_type_proposals(schema: GraphQLSchema | None) -> TypeProposals:
    """Return the types of a schema, found once."""
    if schema is None:
        return TypeProposals([], [])
    if schema not in _TYPE_PROPOSALS:
        own = schema.type_map.values()
        _TYPE_PROPOSALS[schema] = TypeProposals(
            [build_type_proposal(kind) for kind in own if is_composite_type(kind)],
            [build_type_proposal(kind) for kind in own if is_input_type(kind)],
        )
    return _TYPE_PROPOSALS[schema]


def build_type_proposal(kind: Any) -> Proposal:
    """Return a type as a proposal; its detail is its kind, such as ``union``."""
    word = type(kind).__name__.removeprefix("GraphQL").removesuffix("Type")
    return Proposal(kind.name, "type", word.lower().replace("inputobject", "input"), "", kind)


def propose_members(
    types: Mapping[str, Any], kind: str, owner: str, given: Container[str]
) -> Iterator[Proposal]:
    """Yield arguments or input fields that are not given yet, those that must be given first."""
    left = [name for name in types if name not in given]
    for name in sorted(left, key=lambda name: not is_required_argument(types[name])):
        yield Proposal(name, kind, str(types[name].type), owner, types[name])


def propose_values(expected: Any) -> Iterator[Proposal]:
    """Yield the names that are values of an input type: of an enum, true and false, null."""
    if expected is None:
        return
    named = get_named_type(expected)
    if isinstance(named, GraphQLEnumType):
        for name, value in named.values.items():
            yield Proposal(name, "enum value", named.name, named.name, value)
    elif isinstance(named, GraphQLScalarType) and named.name == "Boolean":
        yield from (Proposal(name, "value", "Boolean") for name in BOOLEAN)
    if not isinstance(expected, GraphQLNonNull):
        yield Proposal("null", "value", str(expected))


def propose_directives(
    schema: GraphQLSchema | None, location: DirectiveLocation
) -> Iterator[Proposal]:
    """Yield the directives that may stand at a location."""
    for directive in schema.directives if schema is not None else ():
        if location in directive.locations:
            yield Proposal(directive.name, "directive", "", "", directive)


def format_input_value(name: str, definition: GraphQLArgument | GraphQLInputField) -> str:
    """Return an argument or input field as SDL."""
    try:
        # Both classes have the attributes that graphql-core reads here.
        return print_input_value(name, definition)  # type: ignore[arg-type]
    except (GraphQLError, TypeError, ValueError):  # a scalar's default value without a literal
        return f"{name}: {definition.type} = …"

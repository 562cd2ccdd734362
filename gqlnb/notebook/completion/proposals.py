"""Proposals for completion: names of a schema with their definitions."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable, Iterator, Mapping
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
    GraphQLType,
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

# Of a mistyped name: a shorter word resembles too many.
SHORTEST_TYPO, NEAR_MATCHES, TYPO_CUTOFF = 2, 5, 0.66
TYPE_LENGTH = 16  # characters of a label beside a name of the notebook
BOOLEAN = ("true", "false")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A name for completion.

    Attributes
    ----------
    name
        The text to insert.
    kind
        ``"field"``, ``"argument"``, ``"input field"``, ``"enum value"``, ``"type"``,
        ``"directive"``, ``"variable"``, ``"fragment"``, ``"keyword"`` or ``"value"``. On the line
        of a magic: ``"option"``, ``"value"``, ``"name"``, or ``"keyword"`` for a subcommand.
    detail
        Its type; on a magic line its description, or "".
    owner
        The name of the type, field or directive that it belongs to.
    thing
        Its definition in graphql-core; None if it has none. Typed as Any because many definition
        classes share attributes without a common base class.
    """

    name: str
    kind: str
    detail: str = ""
    owner: str = ""
    thing: Any = None

    @property
    def deprecated(self) -> bool:
        """Whether the schema marks it as deprecated."""
        return getattr(self.thing, "deprecation_reason", None) is not None

    @property
    def type_label(self) -> str:
        """The label beside the name in a list: its type, or its kind."""
        # The detail of an option, and of a connection, is a whole sentence.
        is_sentence = self.kind in ("option", "keyword") or (
            self.kind == "name" and len(self.detail) > TYPE_LENGTH
        )
        return self.kind if is_sentence or not self.detail else self.detail


def find_similar_names(proposals: Iterable[Proposal], word: str) -> list[Proposal]:
    """Return the proposals with names like a word in any case: containing it, else similar."""
    if len(word) < SHORTEST_TYPO:
        return []
    by_name = {proposal.name.lower(): proposal for proposal in proposals}
    folded = word.lower()
    within = sorted((name for name in by_name if folded in name), key=len)
    near = difflib.get_close_matches(folded, by_name, NEAR_MATCHES, TYPO_CUTOFF)
    return [by_name[name] for name in dict.fromkeys([*within[:NEAR_MATCHES], *near])]


def propose_fields(
    schema: GraphQLSchema | None, parent: GraphQLNamedType | None
) -> Iterator[Proposal]:
    """Yield the fields of a type, introspection fields last."""
    if schema is None or parent is None:
        return
    for name, field in collect_fields(schema, parent).items():
        yield Proposal(name, "field", str(field.type), parent.name, field)


def collect_fields(schema: GraphQLSchema, parent: GraphQLNamedType) -> Mapping[str, Any]:
    """Return the fields of a type by name, including introspection fields."""
    own = parent.fields if is_object_type(parent) or is_interface_type(parent) else {}
    meta = {"__typename": TypeNameMetaFieldDef} if is_composite_type(parent) else {}
    if parent is schema.query_type:
        meta |= {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef}
    return {**own, **meta}


def propose_type_conditions(
    schema: GraphQLSchema | None, parent: GraphQLNamedType | None
) -> list[Proposal]:
    """Return the possible type conditions in a selection set on `parent`."""
    kinds = get_type_proposals(schema).composites
    if schema is None or not is_composite_type(parent):
        return kinds
    return [kind for kind in kinds if do_types_overlap(schema, parent, kind.thing)]


def propose_input_types(schema: GraphQLSchema | None) -> list[Proposal]:
    """Return the possible types of a variable."""
    return get_type_proposals(schema).inputs


class TypeProposals(NamedTuple):
    """The composite types and the input types of a schema."""

    composites: list[Proposal]
    inputs: list[Proposal]


# Weak keys: the cache must not keep a replaced schema alive.
_TYPE_PROPOSALS: WeakKeyDictionary[GraphQLSchema, TypeProposals] = WeakKeyDictionary()


def get_type_proposals(schema: GraphQLSchema | None) -> TypeProposals:
    """Return the types of a schema, computed once."""
    if schema is None:
        return TypeProposals([], [])
    if schema not in _TYPE_PROPOSALS:
        own = schema.type_map.values()
        _TYPE_PROPOSALS[schema] = TypeProposals(
            [build_type_proposal(kind) for kind in own if is_composite_type(kind)],
            [build_type_proposal(kind) for kind in own if is_input_type(kind)],
        )
    return _TYPE_PROPOSALS[schema]


def build_type_proposal(kind: GraphQLType) -> Proposal:
    """Build the proposal of a type; its detail is the kind, such as ``union``."""
    word = type(kind).__name__.removeprefix("GraphQL").removesuffix("Type")
    return Proposal(str(kind), "type", word.lower().replace("inputobject", "input"), "", kind)


def propose_members(
    types: Mapping[str, Any], kind: str, owner: str, given: Container[str]
) -> Iterator[Proposal]:
    """Yield missing arguments or input fields, required ones first."""
    left = [name for name in types if name not in given]
    for name in sorted(left, key=lambda name: not is_required_argument(types[name])):
        yield Proposal(name, kind, str(types[name].type), owner, types[name])


def propose_values(expected: GraphQLType | None) -> Iterator[Proposal]:
    """Yield the named values of an input type: enum values, true, false, null."""
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
    """Yield the directives that are allowed at a location."""
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

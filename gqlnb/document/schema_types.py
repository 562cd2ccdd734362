"""Types of a schema, and parts of them, by name."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from graphql import GraphQLEnumType, print_type

from gqlnb.errors import TargetError, sanitize_text, suggest

if TYPE_CHECKING:
    from graphql import GraphQLNamedType, GraphQLSchema

__all__ = ["find_type", "print_coordinate"]


def find_type(schema: GraphQLSchema, name: str) -> GraphQLNamedType:
    """Return a type of a schema.

    Raises
    ------
    TargetError
        If the schema has no such type; the message suggests a similar name.
    """
    kind = schema.type_map.get(name)
    if kind is None:
        known = [it for it in schema.type_map if not it.startswith("__")]
        hint = suggest(str(name), known, abbreviated=True)
        msg = f"The schema has no type {sanitize_text(repr(name), 60)}.{hint}"
        raise TargetError(msg)
    return kind


def print_coordinate(schema: GraphQLSchema, place: str) -> str:
    """Return a type as SDL, or for ``"Type.field"`` the type with that field or value only.

    Raises
    ------
    TargetError
        If the schema has no such type, or the type no such member; the message suggests a similar
        name.
    """
    owner, _, member = place.partition(".")
    kind = find_type(schema, owner)
    if not member:
        return print_type(kind)
    attribute = "values" if isinstance(kind, GraphQLEnumType) else "fields"
    members = getattr(kind, attribute, {})
    if member not in members:
        hint = suggest(member, members, abbreviated=True)
        msg = f"{owner} has no member {sanitize_text(repr(member), 60)}.{hint}"
        raise TargetError(msg)
    part = copy(kind)
    setattr(part, attribute, {member: members[member]})
    return print_type(part)

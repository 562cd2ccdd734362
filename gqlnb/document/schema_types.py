"""Types of a schema by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.errors import TargetError, sanitize_text, suggest

if TYPE_CHECKING:
    from graphql import GraphQLNamedType, GraphQLSchema

__all__ = ["find_type"]


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

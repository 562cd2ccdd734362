"""The SDL of a schema, with the directives that are applied in the text it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from graphql import (
    DirectiveDefinitionNode,
    SchemaDefinitionNode,
    parse,
    print_ast,
    print_schema,
    specified_directives,
)

if TYPE_CHECKING:
    from graphql import ConstDirectiveNode, GraphQLSchema

__all__ = ["SchemaPart", "list_applied_directives", "print_sdl"]

SchemaPart: TypeAlias = Any  # a schema, a directive, a type or one of their members
SchemaNode: TypeAlias = Any  # a definition, or a node in one
SPECIFIED_NAMES = frozenset(directive.name for directive in specified_directives)


def list_applied_directives(part: SchemaPart) -> list[ConstDirectiveNode]:
    """Return the directives that SDL applies to a part of a schema.

    Those of the specification, such as ``@deprecated``, are not among them: the part itself has
    their values. There are none for a schema that was not made from SDL.
    """
    nodes = [part.ast_node, *(getattr(part, "extension_ast_nodes", None) or ())]
    applied = [node for each in nodes if each is not None for node in each.directives or ()]
    return [node for node in applied if node.name.value not in SPECIFIED_NAMES]


def print_sdl(schema: GraphQLSchema) -> str:
    """Return the SDL of a schema, with the applied directives that graphql-core leaves out."""
    text = print_schema(schema)
    if not any(map(list_applied_directives, iterate_parts(schema))):
        return text
    document = parse(text, no_location=True)
    for definition in document.definitions:
        if not isinstance(definition, SchemaDefinitionNode):
            apply_directives(definition, find_part(schema, definition))
    texts = [print_ast(document)]
    if applied := list_applied_directives(schema):
        texts.append(f"extend schema {' '.join(map(print_ast, applied))}")
    return "\n\n".join(texts)


def find_part(schema: GraphQLSchema, definition: SchemaNode) -> SchemaPart:
    """Return the type or the directive that a definition in the SDL of a schema defines."""
    name = definition.name.value
    if isinstance(definition, DirectiveDefinitionNode):
        return schema.get_directive(name)
    return schema.type_map[name]


def iterate_members(part: SchemaPart) -> Iterator[tuple[str, SchemaPart]]:
    """Yield the fields, arguments or values of a part, each with its name."""
    for kind in ("fields", "args", "values"):
        yield from getattr(part, kind, {}).items()


def iterate_parts(part: SchemaPart) -> Iterator[SchemaPart]:
    """Yield a part and all those in it."""
    yield part
    types = [*part.directives, *part.type_map.values()] if hasattr(part, "type_map") else ()
    for member in (*types, *(member for _, member in iterate_members(part))):
        yield from iterate_parts(member)


def apply_directives(node: SchemaNode, part: SchemaPart) -> None:
    """Add the applied directives of a part, and of those in it, to their nodes."""
    directives = (*(node.directives or ()), *list_applied_directives(part))
    object.__setattr__(node, "directives", directives)  # nodes of graphql-core 3.3 are frozen
    members = dict(iterate_members(part))
    for name in ("fields", "arguments", "values"):
        for member in getattr(node, name, None) or ():
            apply_directives(member, members[member.name.value])

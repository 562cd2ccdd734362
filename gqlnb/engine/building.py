"""From SDL text to graphql-core's schema, with everything that is wrong in it said at once."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from graphql import (
    ExecutableDefinitionNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    build_ast_schema,
    parse,
    validate_schema,
)
from graphql.type import specified_scalar_types
from graphql.validation.validate import validate_sdl

from gqlnb.engine.version import NEW
from gqlnb.errors import SchemaError
from gqlnb.model.document import INCREMENTAL, problems
from gqlnb.model.exact_integers import read_large_integer
from gqlnb.model.scalars import is_always_integer

if TYPE_CHECKING:
    from graphql import DocumentNode

__all__ = ["REFERENCE_SDL", "at_once", "built", "executable", "outline", "waits"]

PARSERS = ("parse_value", "coerce_input_value")  # graphql-core 3.3 renamed it
REFERENCE_SDL = """
type Query {
  "The greeting that every installation answers the same."
  hello: String
}
"""


def built(sdl: str) -> GraphQLSchema:
    """Return the schema that SDL text describes.

    Raises
    ------
    SchemaError
        With line, column and caret for everything that is wrong.
    """
    if not isinstance(sdl, str):
        msg = f"SDL is text; got {type(sdl).__name__}."
        raise SchemaError(msg)
    if not sdl.strip():
        msg = "The SDL is empty. Write at least: type Query { hello: String }"
        raise SchemaError(msg)
    try:
        ast = parse(sdl)
        found = executable(ast) or validate_sdl(ast)
        schema = None if found else build_ast_schema(ast, assume_valid_sdl=True)
    except GraphQLError as error:
        found, schema = [error], None
    except RecursionError:
        msg = "The SDL is nested too deeply to parse."
        raise SchemaError(msg) from None
    if schema is not None:
        found = validate_schema(schema)
    if schema is None or found:
        raise SchemaError(text=sdl, problems=problems(found))
    read_large_integers(schema)
    return schema


def read_large_integers(schema: GraphQLSchema) -> None:
    """Let the scalars of big integers read text of one beyond +-(2**53 - 1) as the integer.

    Clients write these as text, ours among them: JavaScript has no such JSON number. A resolver
    gets an int for either form.
    """
    for kind in schema.type_map.values():
        named = isinstance(kind, GraphQLScalarType) and kind.name not in specified_scalar_types
        if named and is_always_integer(kind.name):
            for part in PARSERS:
                setattr(kind, part, read_large_integer)


def at_once(schema: GraphQLSchema) -> GraphQLSchema:
    """Return a schema as it is executed: without ``@defer`` and ``@stream``.

    graphql-core from 3.3 on executes nothing of a schema that has them, whatever is asked for. The
    types and their functions are the same ones.
    """
    if not (NEW and any(schema.get_directive(name) for name in INCREMENTAL)):
        return schema
    parts: dict[str, Any] = dict(schema.to_kwargs())
    parts["directives"] = [it for it in schema.directives if it.name not in INCREMENTAL]
    return GraphQLSchema(**parts)


def executable(ast: DocumentNode) -> list[GraphQLError]:
    """Return an error for each definition that is an operation or a fragment, not a type."""
    message = "This is an operation, not a schema. Execute it on one."
    return [
        GraphQLError(message, [node])
        for node in ast.definitions
        if isinstance(node, ExecutableDefinitionNode)
    ]


def waits(schema: GraphQLSchema) -> bool:
    """Tell whether a resolver of a schema is an ``async`` function."""
    return any(
        inspect.iscoroutinefunction(getattr(field.resolve, "__wrapped__", field.resolve))
        for kind in schema.type_map.values()
        if isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__")
        for field in kind.fields.values()
    )


def outline(schema: GraphQLSchema) -> str:
    """Return the first fields of each kind of operation as one line."""
    parts = [
        f"{word}: {', '.join(list(kind.fields)[:6])}{', …' if len(kind.fields) > 6 else ''}"
        for word, kind in (
            ("query", schema.query_type),
            ("mutation", schema.mutation_type),
            ("subscription", schema.subscription_type),
        )
        if kind is not None
    ]
    return "; ".join(parts)

"""The world as a plain schema of graphql-core, whose types have predicates."""

from __future__ import annotations

from typing import Any

from graphql import GraphQLSchema, graphql

from tests.engine.libraries import with_ariadne
from tests.engine.libraries.world import Cat, Dog

__all__ = ["own", "schema"]


def schema() -> GraphQLSchema:
    """Return a new schema."""
    made = with_ariadne.schema()  # Ariadne's schemas are those of graphql-core
    made.type_map["Pet"].resolve_type = None
    for kind in (Dog, Cat):
        made.type_map[kind.__name__].is_type_of = lambda value, _info, kind=kind: isinstance(
            value, kind
        )
    return made


async def own(schema: GraphQLSchema, text: str, variables: Any, context: Any) -> tuple[Any, Any]:
    """Return data and errors as the library gives them."""
    result = await graphql(schema, text, variable_values=variables, context_value=context)
    return result.data, [error.formatted for error in result.errors or ()]

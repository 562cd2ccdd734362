"""Fields of Strawberry schemas, which are recognised without importing Strawberry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import GraphQLField

__all__ = ["find_attribute_field", "find_user_function"]

FIELD_KEY = "strawberry-definition"  # in the extensions of graphql-core's field
BASIC_RESOLVER = ("strawberry.schema.schema_converter", "_get_basic_result")


def find_attribute_field(definition: GraphQLField) -> Any | None:  # noqa: ANN401 - not imported
    """Return the Strawberry field of a definition if its resolver only reads an attribute.

    Its name is the ``python_name``. It does so while ``default_resolver`` is ``getattr``.
    """
    resolve = definition.resolve
    found = definition.extensions.get(FIELD_KEY)
    named = getattr(resolve, "__module__", None), getattr(resolve, "__name__", None)
    if found is None or named != BASIC_RESOLVER:
        return None
    own = type(found).get_result.__module__.startswith("strawberry.")  # subclasses may override it
    return found if own and found.is_basic_field and found.default_resolver is getattr else None


def find_user_function(definition: GraphQLField) -> Callable[..., Any] | None:
    """Return the function behind the resolver of a Strawberry field."""
    resolver = getattr(definition.extensions.get(FIELD_KEY), "base_resolver", None)
    return getattr(resolver, "wrapped_func", None)

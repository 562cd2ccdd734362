"""Pickling of schemas, also after another library has changed their introspection types."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, NoReturn

from graphql import (
    GraphQLNamedType,
    GraphQLSchema,
    build_schema,
    introspection_types,
)

from gqlnb.document.schema_text import print_sdl
from gqlnb.errors import SchemaError

__all__ = ["dump_schema", "load_schema"]


# graphql-core would pickle these types with their fields, and Strawberry adds a field to the
# `__Type` of the whole process with a local function as resolver, which cannot be pickled.
class _SchemaPickler(pickle.Pickler):
    """A pickler that stores graphql-core's introspection types by name, and no resolvers."""

    def reducer_override(self, obj: Any) -> Any:  # noqa: ANN401 - the signature of pickle
        name = getattr(obj, "name", None)
        if isinstance(name, str) and introspection_types.get(name) is obj:
            return _get_introspection_type, (name,)
        # Resolvers and parsers of scalars: those of a notebook, and local ones, can't be pickled.
        if isinstance(obj, (FunctionType, MethodType)) and _is_foreign(obj):
            return _get_missing_function, ()
        return NotImplemented


def _is_foreign(function: FunctionType | MethodType) -> bool:
    """Return whether a function is neither of graphql-core nor of this module."""
    name = str(function.__module__)
    return name != __name__ and name.partition(".")[0] != "graphql"


def _get_missing_function() -> Callable[..., NoReturn]:
    return _missing_function


def _missing_function(*_: object, **__: object) -> NoReturn:
    msg = "The schema of a pickled document or result has types only; its functions are missing."
    raise SchemaError(msg)


def _get_introspection_type(name: str) -> GraphQLNamedType:
    """Return the type of this process."""
    return introspection_types[name]


def dump_schema(schema: GraphQLSchema) -> bytes:
    """Pickle a schema."""
    file = io.BytesIO()
    try:
        _SchemaPickler(file, protocol=5).dump(schema)
    except RecursionError:  # of a large schema such as GitHub's, whose types refer to each other
        return pickle.dumps(_SchemaText(print_sdl(schema)))
    return file.getvalue()


class _SchemaText:
    """The SDL of a schema, which is the schema once it is loaded from a pickle."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __reduce__(self) -> tuple[Callable[[str], GraphQLSchema], tuple[str]]:
        return _build_schema, (self.text,)


def _build_schema(text: str) -> GraphQLSchema:
    return build_schema(text, assume_valid=True)


def load_schema(pickled: bytes) -> GraphQLSchema:
    """Return the schema of :func:`dump_schema`."""
    # Part of a pickle that is being loaded, so no less trusted than that.
    schema: GraphQLSchema = pickle.loads(pickled)  # noqa: S301
    return schema

"""Pickling of schemas, also after another library has changed their introspection types."""

from __future__ import annotations

import io
import pickle
from typing import Any

from graphql import GraphQLNamedType, GraphQLSchema, introspection_types

__all__ = ["dump_schema", "load_schema"]


# graphql-core would pickle these types with their fields, and Strawberry adds a field to the
# `__Type` of the whole process with a local function as resolver, which cannot be pickled.
class _SchemaPickler(pickle.Pickler):
    """A pickler that stores graphql-core's introspection types by name."""

    def reducer_override(self, obj: Any) -> Any:  # noqa: ANN401 - the signature of pickle
        name = getattr(obj, "name", None)
        if isinstance(name, str) and introspection_types.get(name) is obj:
            return _get_introspection_type, (name,)
        return NotImplemented


def _get_introspection_type(name: str) -> GraphQLNamedType:
    """Return the type of this process."""
    return introspection_types[name]


def dump_schema(schema: GraphQLSchema) -> bytes:
    """Pickle a schema."""
    file = io.BytesIO()
    _SchemaPickler(file, protocol=5).dump(schema)
    return file.getvalue()


def load_schema(pickled: bytes) -> GraphQLSchema:
    """Return the schema of :func:`dump_schema`."""
    # Part of a pickle that is being loaded, so no less trusted than that.
    schema: GraphQLSchema = pickle.loads(pickled)  # noqa: S301
    return schema

"""The cache of the operations executed on a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.document.sized_cache import SizedCache
from gqlnb.engine.compiler.python_types import TypeKinds

if TYPE_CHECKING:
    from graphql import GraphQLSchema

__all__ = ["OperationCache", "get_operation_cache"]

MAX_OPERATIONS = 512  # documents remembered for a schema; a notebook or a server repeats few
# Characters of generated source that the plans of a schema keep; with its code objects, source
# takes some 20 bytes a character.
MAX_SCHEMA_SOURCE = 2_000_000


# The schema itself holds its cache, so that all plans are collected with the schema: a plan refers
# to its schema, which would keep both in a weak dictionary for ever.
class OperationCache(SizedCache[tuple[object, ...], Any]):
    """The operations executed on a schema, by document and name, and the Python types seen.

    Attributes
    ----------
    type_kinds
        The kinds of the Python types of values.
    new_source_size
        The characters of source generated since their sum was last checked.
    """

    def __init__(self) -> None:
        super().__init__(MAX_OPERATIONS)
        self.type_kinds = TypeKinds()
        self.new_source_size = 0

    def __reduce__(self) -> tuple[type[OperationCache], tuple[()]]:
        """Copy or pickle an empty cache, along with the schema that holds it."""
        return OperationCache, ()

    def count_source(self, size: int) -> None:
        """Count new source; drop the oldest operations if that of all has become too long."""
        unchecked = MAX_SCHEMA_SOURCE // 8  # the sum takes as long as a small query
        self.new_source_size += size
        if self.new_source_size > unchecked:
            self.new_source_size = 0
            with self._lock:
                bound = MAX_SCHEMA_SOURCE - unchecked
                while sum(found.source_size for found in self.values()) > bound:
                    self._drop(next(iter(self)))


def get_operation_cache(schema: GraphQLSchema) -> OperationCache:
    """Return the operations executed on a schema."""
    return vars(schema).setdefault("gqlnb_operations", OperationCache())  # type: ignore[no-any-return]

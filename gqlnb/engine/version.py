"""What the engine takes of graphql-core, whichever of 3.2 and 3.3 is installed.

3.3 renamed the executor and what leaf types serialize by; other differences end in
:mod:`gqlnb.engine.core`.
"""

from __future__ import annotations

from asyncio import gather
from importlib import import_module
from types import CoroutineType
from typing import Any

import graphql
from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLString,
)

__all__ = [
    "CORO",
    "NEW",
    "PLAIN",
    "SERIALIZERS",
    "TOO_DEEP",
    "Base",
    "CollectedErrors",
    "check_arguments",
    "collect_fields",
    "collect_subfields",
    "gather_all",
    "invalid_return_type_error",
    "new",
    "serializer",
    "serializes_by_name",
]

NEW = graphql.version_info[:2] >= (3, 3)
# Named as strings, since a type checker sees only the version that is installed.
_home: Any = import_module(f"graphql.execution.{'executor' if NEW else 'execute'}")
_collect: Any = import_module("graphql.execution.collect_fields")
Base: Any = _home.Executor if NEW else _home.ExecutionContext
CollectedErrors: Any = _home.CollectedErrors
invalid_return_type_error: Any = _home.invalid_return_type_error
check_arguments: Any = getattr(_home, "assert_valid_execution_arguments", None)  # 3.2 alone
TOO_DEEP: str = _home.SELECTIONS_NESTED_TOO_DEEPLY
collect_fields: Any = _collect.collect_fields
collect_subfields: Any = _collect.collect_subfields if NEW else _collect.collect_sub_fields
gather_all: Any = getattr(graphql.pyutils, "gather_with_cancel", gather)

CORO = CoroutineType
new = object.__new__
SERIALIZER = "coerce_output_value" if NEW else "serialize"
PLAIN = frozenset({str, int, float, bool})


def serializer(kind: Any) -> Any:
    """Return the function by which a leaf type makes answers of values."""
    return getattr(kind, SERIALIZER)


def serializes_by_name(kind: GraphQLEnumType) -> bool:
    """Tell whether an enum makes answers as graphql-core does, not by a function of its own."""
    return getattr(serializer(kind), "__func__", None) is serializer(GraphQLEnumType)


STANDARD = (GraphQLString, GraphQLID, GraphQLInt, GraphQLBoolean, GraphQLFloat)
SERIALIZERS = {kind: serializer(kind) for kind in STANDARD}

"""The names of graphql-core that differ between its versions 3.2 and 3.3.

3.3 renamed the executor and the serializers of leaf types; :mod:`gqlnb.engine.compiler.executor`
handles the other differences.
"""

from __future__ import annotations

from asyncio import gather
from importlib import import_module
from types import CoroutineType
from typing import Any, TypeAlias

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
    "IS_GRAPHQL_33",
    "NO_INCREMENTAL",
    "PLAIN_TYPES",
    "SERIALIZERS",
    "TOO_DEEP",
    "BaseExecutor",
    "CollectedErrors",
    "FieldGroup",
    "Outcome",
    "Value",
    "check_arguments",
    "collect_fields",
    "collect_subfields",
    "gather_all",
    "get_serializer",
    "invalid_return_type_error",
    "is_serialized_by_name",
    "new_object",
]

# The tests run with the newest graphql-core; engine, contract, property, document, result and
# http tests also run with 3.2.14, because Graphene and older Ariadne releases need it (nox
# session core32).
IS_GRAPHQL_33 = graphql.version_info[:2] >= (3, 3)
# Imported by strings, since a type checker knows the installed version only.
_execute_module: Any = import_module(
    f"graphql.execution.{'executor' if IS_GRAPHQL_33 else 'execute'}"
)
_collect_module: Any = import_module("graphql.execution.collect_fields")
BaseExecutor: Any = _execute_module.Executor if IS_GRAPHQL_33 else _execute_module.ExecutionContext
CollectedErrors: Any = _execute_module.CollectedErrors
invalid_return_type_error: Any = _execute_module.invalid_return_type_error
# Only 3.2 has it.
check_arguments: Any = getattr(_execute_module, "assert_valid_execution_arguments", None)
TOO_DEEP: str = _execute_module.SELECTIONS_NESTED_TOO_DEEPLY
collect_fields: Any = _collect_module.collect_fields
collect_subfields: Any = (
    _collect_module.collect_subfields if IS_GRAPHQL_33 else _collect_module.collect_sub_fields
)
gather_all: Any = getattr(graphql.pyutils, "gather_with_cancel", gather)

# Types that no checker can know: a value of a resolver or of a response is any Python object, and
# the nodes of a field are list[FieldNode] in 3.2, list[FieldDetails] in 3.3.
Value: TypeAlias = Any
FieldGroup: TypeAlias = Any
# An ExecutionResult or an awaitable of one; a subscription has also an asynchronous iterator.
Outcome: TypeAlias = Any

# The last argument of methods of 3.3's executor: the state of incremental delivery.
NO_INCREMENTAL: tuple[None, ...] = (None,) if IS_GRAPHQL_33 else ()

CORO = CoroutineType
new_object = object.__new__
SERIALIZER_NAME = "coerce_output_value" if IS_GRAPHQL_33 else "serialize"
PLAIN_TYPES = frozenset({str, int, float, bool})


def get_serializer(kind: object) -> Any:
    """Return the function that serializes the values of a leaf type."""
    return getattr(kind, SERIALIZER_NAME)


def is_serialized_by_name(kind: GraphQLEnumType) -> bool:
    """Return whether an enum has graphql-core's own serializer."""
    return getattr(get_serializer(kind), "__func__", None) is get_serializer(GraphQLEnumType)


STANDARD_SCALARS = (GraphQLString, GraphQLID, GraphQLInt, GraphQLBoolean, GraphQLFloat)
SERIALIZERS = {kind: get_serializer(kind) for kind in STANDARD_SCALARS}

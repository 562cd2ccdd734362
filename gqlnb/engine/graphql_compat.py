"""The names of graphql-core that differ between its versions 3.2 and 3.3.

3.3 renamed the executor and the serializers of leaf types; :mod:`gqlnb.engine.compiler.executor`
handles the other differences.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec, module_from_spec
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
    Undefined,
    VariableDefinitionNode,
)

# The tests run with the newest graphql-core; engine, contract, property, document, result and
# http tests also run with 3.2.14, because Graphene and older Ariadne releases need it (nox
# session core32).
IS_GRAPHQL_33 = graphql.version_info[:2] >= (3, 3)
# Imported by strings, since a type checker knows the installed version only.
_execute_module: Any = import_module(
    f"graphql.execution.{'executor' if IS_GRAPHQL_33 else 'execute'}"
)
_collect_module: Any = import_module("graphql.execution.collect_fields")
CollectedErrors: Any = _execute_module.CollectedErrors
invalid_return_type_error: Any = _execute_module.invalid_return_type_error
# Only 3.2 has it.
check_arguments: Any = getattr(_execute_module, "assert_valid_execution_arguments", None)
TOO_DEEP: str = _execute_module.SELECTIONS_NESTED_TOO_DEEPLY
collect_fields: Any = _collect_module.collect_fields
collect_subfields: Any = (
    _collect_module.collect_subfields if IS_GRAPHQL_33 else _collect_module.collect_sub_fields
)
# Only 3.3 has them.
_values_module: Any = import_module("graphql.execution.values")
VariableValues: Any = getattr(_values_module, "VariableValues", None)
VariableValueSource: Any = getattr(_values_module, "VariableValueSource", None)
get_variable_signature: Any = getattr(_values_module, "get_variable_signature", None)
_coerce_default_value: Any = getattr(_values_module, "coerce_default_value", None)

# Types that no checker can know: a value of a resolver or of a response is any Python object, and
# the nodes of a field are list[FieldNode] in 3.2, list[FieldDetails] in 3.3.
Value: TypeAlias = Any
# A type of a schema: with graphql-core's unions each attribute would need a cast.
AnyGraphQLType: TypeAlias = Any
FieldGroup: TypeAlias = Any
# An ExecutionResult or an awaitable of one; a subscription has also an asynchronous iterator.
Outcome: TypeAlias = Any


async def await_nested(value: Value, executor: Value) -> Value:
    """Await a value, and its result if that is awaitable too."""
    awaited = await value
    return await awaited if executor.is_awaitable(awaited) else awaited


if IS_GRAPHQL_33:
    BaseExecutor: Any = _execute_module.Executor
else:

    class BaseExecutor(_execute_module.ExecutionContext):  # type: ignore[misc, no-redef]
        """The executor of graphql-core 3.2, with two awaits that it lacks.

        Without them coroutines are left in the data: for the fields of an object whose
        ``is_type_of`` was awaited, and for the items of an asynchronous iterable.
        """

        def complete_object_value(self, return_type: Value, *rest: Value) -> Value:
            """Complete an object."""
            completed = super().complete_object_value(return_type, *rest)
            if return_type.is_type_of and self.is_awaitable(completed):
                return await_nested(completed, self)
            return completed

        def complete_list_value(self, *given: Value) -> Value:
            """Complete a list."""
            completed = super().complete_list_value(*given)
            if self.is_awaitable(completed) and not graphql.pyutils.is_iterable(given[-1]):
                return await_nested(completed, self)
            return completed


# The last argument of methods of 3.3's executor: the state of incremental delivery.
NO_INCREMENTAL: tuple[None, ...] = (None,) if IS_GRAPHQL_33 else ()

CORO = CoroutineType
new_object = object.__new__
EXECUTOR_OPTION = "executor_class" if IS_GRAPHQL_33 else "execution_context_class"
SERIALIZER_NAME = "coerce_output_value" if IS_GRAPHQL_33 else "serialize"
INPUT_COERCER_NAME = "coerce_input_value" if IS_GRAPHQL_33 else "parse_value"
LITERAL_COERCER_NAME = "coerce_input_literal" if IS_GRAPHQL_33 else "parse_literal"
PLAIN_TYPES = frozenset({str, int, float, bool})
# The attributes that decide on the values of a field, and of an argument or an input field.
FIELD_MEMBERS = ("type", "args", "resolve")
INPUT_MEMBERS = ("type", "default_value", "out_name", *(["default"] if IS_GRAPHQL_33 else ()))
# The Python types that these input types coerce to the same value, with the function that does so.
EXACT_INPUT_TYPES: dict[object, tuple[type, object]] = {
    kind: (exact, getattr(kind, INPUT_COERCER_NAME))
    for kind, exact in ((GraphQLString, str), (GraphQLID, str), (GraphQLBoolean, bool))
}


def find_exact_input_type(kind: Value) -> type | None:
    """Return the Python type that an input type coerces to the same value, if there is one."""
    exact, coerce = EXACT_INPUT_TYPES.get(kind, (None, None))
    return exact if exact is not None and getattr(kind, INPUT_COERCER_NAME) is coerce else None


def get_input_default(definition: Value) -> Value:
    """Return the coerced default of an argument or an input field; Undefined without one."""
    if IS_GRAPHQL_33:
        return _coerce_default_value(definition)
    return definition.default_value


def get_variable_default(signature: Value, node: VariableDefinitionNode, kind: Value) -> Value:
    """Return the coerced default of a variable; Undefined without one.

    Parameters
    ----------
    signature
        Its signature, for graphql-core 3.3.
    node
        Its definition.
    kind
        Its type.

    Raises
    ------
    TypeError
        If the default is invalid; not by graphql-core 3.2, which returns Undefined for it.
    """
    if node.default_value is None:
        return Undefined
    if IS_GRAPHQL_33:
        return _coerce_default_value(signature)
    return graphql.value_from_ast(node.default_value, kind)


def read_signature(name: str) -> inspect.Signature:
    """Return the signature of graphql-core's ``execute`` or ``subscribe``.

    Tracing libraries replace it by a wrapper with ``*args, **kwargs``. The signature is then read
    from another copy of its module, which is loaded for this alone.
    """
    signature = inspect.signature(getattr(graphql, name))
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        return signature
    home = name if find_spec(f"graphql.execution.{name}") else "execute"  # one module in 3.3
    spec: Any = find_spec(f"graphql.execution.{home}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return inspect.signature(getattr(module, name))


EXECUTE_SIGNATURE, SUBSCRIBE_SIGNATURE = read_signature("execute"), read_signature("subscribe")


def get_serializer(kind: object) -> Value:
    """Return the function that serializes the values of a leaf type."""
    return getattr(kind, SERIALIZER_NAME)


def is_serialized_by_name(kind: GraphQLEnumType) -> bool:
    """Return whether an enum has graphql-core's own serializer."""
    return getattr(get_serializer(kind), "__func__", None) is get_serializer(GraphQLEnumType)


STANDARD_SCALARS = (GraphQLString, GraphQLID, GraphQLInt, GraphQLBoolean, GraphQLFloat)
SERIALIZERS = {kind: get_serializer(kind) for kind in STANDARD_SCALARS}
LITERAL_COERCERS: dict[Value, object] = {
    kind: getattr(kind, LITERAL_COERCER_NAME) for kind in STANDARD_SCALARS
}


def is_parsed_by_core(kind: object) -> bool:
    """Return whether a type is an enum or a standard scalar whose literals graphql-core parses."""
    coerce = getattr(kind, LITERAL_COERCER_NAME, None)
    if isinstance(kind, GraphQLEnumType):
        return getattr(coerce, "__func__", None) is getattr(GraphQLEnumType, LITERAL_COERCER_NAME)
    return coerce is not None and coerce is LITERAL_COERCERS.get(kind)


def forget_derived_values(schema: Value) -> None:
    """Let graphql-core derive its tables of a schema, which may have changed, again."""
    schema.__dict__.pop("gqlnb_operations", None)  # ours
    schema._sub_type_map.clear()  # noqa: SLF001
    schema._validation_errors = None  # noqa: SLF001
    for kind in schema.type_map.values():
        kind.__dict__.pop("_value_lookup", None)
        for field in getattr(kind, "fields", {}).values():
            for member in (field, *getattr(field, "args", {}).values()):
                if hasattr(member, "_memoized_coerced_value"):
                    member._memoized_coerced_value = Undefined  # noqa: SLF001

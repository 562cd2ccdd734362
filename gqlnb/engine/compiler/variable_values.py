"""Coercion of variables by functions that are built once for an operation.

They accept the usual Python types only, and graphql-core coerces anything else: it reports the
errors. Nothing is generated: each input type has a function that calls those of the types in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from graphql import (
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSchema,
    Undefined,
    VariableDefinitionNode,
    get_named_type,
    is_input_type,
    is_required_input_field,
    type_from_ast,
)

from gqlnb.engine.graphql_compat import (
    INPUT_COERCER_NAME,
    INPUT_MEMBERS,
    IS_GRAPHQL_33,
    PLAIN_TYPES,
    AnyGraphQLType,
    Value,
    VariableValues,
    VariableValueSource,
    find_exact_input_type,
    get_input_default,
    get_variable_default,
    get_variable_signature,
)
from gqlnb.engine.schema_watch import SchemaWatch, is_constant, watch_literal

# Takes a value that is not Undefined and its depth; returns the coerced value.
Coercer: TypeAlias = Callable[[Value, int], Value]
# Of an input object: name, name in Python, and the default, Undefined without one.
Member: TypeAlias = tuple[str, str, Coercer, Value]
UNUSUAL = object()  # the default of a required member, or of a variable left to graphql-core
new_tuple = tuple.__new__  # half the time of the constructors of named tuples
MAX_DEPTH = 32  # levels of lists and input objects; graphql-core allows 200 and reports more


class UnusualValueError(Exception):
    """A value that graphql-core coerces."""


class VariableCoercer:
    """Coerces the variables of one operation.

    Parameters
    ----------
    schema
        The schema.
    definitions
        The variables that the operation declares.
    watch
        Gets the parts of the schema that it takes as constant.
    """

    def __init__(
        self,
        schema: GraphQLSchema,
        definitions: Sequence[VariableDefinitionNode],
        watch: SchemaWatch,
    ) -> None:
        self._watch = watch
        self._coercers: dict[AnyGraphQLType, Coercer] = {}
        self._variables: list[tuple[str, Value, Coercer, Value]] = []
        for node in definitions:
            kind: Any = type_from_ast(schema, node.type)
            signature = get_variable_signature(schema, node) if IS_GRAPHQL_33 else None
            if usable := is_input_type(kind):
                watch.add(schema, ("type_map", get_named_type(kind).name))
                watch_literal(watch, node.default_value, kind)
            self._variables.append(
                (
                    node.variable.name.value,
                    signature,
                    self.find_coercer(kind) if usable else reject,
                    find_variable_default(signature, node, kind) if usable else UNUSUAL,
                )
            )

    def coerce(self, given: dict[str, Value]) -> Value:
        """Return the coerced variables, in the form of the installed graphql-core.

        Parameters
        ----------
        given
            The values by name.

        Raises
        ------
        Exception
            Of any type, if graphql-core must coerce them.
        """
        values: dict[str, Value] = {}
        sources: dict[str, Value] = {}
        for name, signature, coerce, default in self._variables:
            if name in given:
                value = given[name]
                values[name] = coerce(value, 0)
            elif default is UNUSUAL:
                raise UnusualValueError
            else:
                value = Undefined
                if default is not Undefined:
                    values[name] = default
            if IS_GRAPHQL_33:
                sources[name] = new_tuple(VariableValueSource, (signature, value))
        return new_tuple(VariableValues, (sources, values)) if IS_GRAPHQL_33 else values

    def find_coercer(self, kind: GraphQLInputType) -> Coercer:
        """Return the function that coerces values of an input type."""
        found = self._coercers.get(kind)
        if found is None:
            found = self._coercers[kind] = self._build_coercer(kind)
        return found

    def _build_coercer(self, kind: AnyGraphQLType) -> Coercer:
        if isinstance(kind, GraphQLNonNull):
            return self._build_required_coercer(kind)
        if isinstance(kind, GraphQLList):
            return self._build_list_coercer(kind)
        if isinstance(kind, GraphQLInputObjectType):
            self._watch.add(kind, (), "fields", "is_one_of")
            return reject if kind.is_one_of else self._build_object_coercer(kind)

        exact = find_exact_input_type(kind)
        if exact is not None:
            self._watch.add(kind, (), INPUT_COERCER_NAME)

        def coerce_leaf(value: Value, _depth: int) -> Value:
            if value is None or type(value) is exact:
                return value
            if value is Undefined:
                raise UnusualValueError
            coerced = getattr(kind, INPUT_COERCER_NAME)(value)
            if coerced is Undefined:
                raise UnusualValueError
            return coerced

        return coerce_leaf

    def _build_required_coercer(self, kind: GraphQLNonNull[Any]) -> Coercer:
        exact = find_exact_input_type(kind.of_type)
        coerce = self.find_coercer(kind.of_type)

        def coerce_required(value: Value, depth: int) -> Value:
            if type(value) is exact:
                return value
            if value is None:
                raise UnusualValueError
            return coerce(value, depth)

        return coerce_required

    def _build_list_coercer(self, kind: GraphQLList[Any]) -> Coercer:
        coerce = self.find_coercer(kind.of_type)

        def coerce_list(value: Value, depth: int) -> Value:
            if value is None:
                return None
            if depth > MAX_DEPTH:
                raise UnusualValueError
            if type(value) is list:
                return [coerce(item, depth + 1) for item in value]
            if type(value) in PLAIN_TYPES:
                return [coerce(value, depth + 1)]
            raise UnusualValueError

        return coerce_list

    def _build_member(self, kind: GraphQLInputObjectType, name: str) -> Member:
        field = kind.fields[name]
        self._watch.add(kind, ("fields", name), *INPUT_MEMBERS)
        default = UNUSUAL if is_required_input_field(field) else get_input_default(field)
        return name, field.out_name or name, self.find_coercer(field.type), default

    def _build_object_coercer(self, kind: GraphQLInputObjectType) -> Coercer:
        # Built at the first value, since input types may refer to themselves.
        members: list[Member] = []

        def coerce_object(value: Value, depth: int) -> Value:
            if value is None:
                return None
            if type(value) is not dict or depth > MAX_DEPTH:
                raise UnusualValueError
            if not members:
                # All or none of them: an invalid default raises an error.
                members.extend([self._build_member(kind, name) for name in kind.fields])
            coerced, used = {}, 0
            for name, out_name, coerce, default in members:
                if name in value:
                    used += 1
                    coerced[out_name] = coerce(value[name], depth + 1)
                elif default is UNUSUAL:
                    raise UnusualValueError
                elif default is not Undefined:
                    coerced[out_name] = default
            if used != len(value):
                raise UnusualValueError  # a name that the type does not have
            return kind.out_type(coerced)

        return coerce_object


def find_variable_default(signature: Value, node: VariableDefinitionNode, kind: Value) -> Value:
    """Return the default of a variable if all runs can share it; Undefined if it is optional."""
    if node.default_value is None:
        return UNUSUAL if isinstance(kind, GraphQLNonNull) else Undefined
    if not is_constant(node.default_value, kind):
        return UNUSUAL
    try:
        default = get_variable_default(signature, node, kind)
    except TypeError:  # an invalid default
        return UNUSUAL
    return default if default is None or type(default) in PLAIN_TYPES else UNUSUAL


def reject(_value: Value, _depth: int) -> Value:
    """Leave a value to graphql-core."""
    raise UnusualValueError

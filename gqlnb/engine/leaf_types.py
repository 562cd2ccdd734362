"""The types of leaves: their usual Python values, and those that a document selects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLScalarType,
    GraphQLString,
    NullValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
)

from gqlnb.engine.graphql_compat import (
    SERIALIZERS,
    AnyGraphQLType,
    get_serializer,
    is_parsed_by_core,
    is_serialized_by_name,
)
from gqlnb.result.shape import META_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphql import GraphQLField, GraphQLSchema, ValueNode

    from gqlnb.document.document import Document

__all__ = [
    "SMALL_INT",
    "find_leaf_predicate",
    "find_leaf_test",
    "has_only_builtin_leaves",
    "is_constant",
    "iterate_fields",
]

SMALL_INT = (1 << 30) - 1  # integers up to it are one digit in CPython, which compares them fast
LARGEST_FLOAT = "1.7976931348623157e308"  # values outside of its signs are not finite

# The test that a value is not of the usual type of a leaf, whose values need no conversion.
LEAF_TESTS = {
    GraphQLString: "type({0}) is not str",
    GraphQLID: "type({0}) is not str",
    GraphQLInt: f"type({{0}}) is not int or {{0}} > {SMALL_INT} or {{0}} < {-SMALL_INT}",
    GraphQLFloat: f"type({{0}}) is not float or not -{LARGEST_FLOAT} <= {{0}} <= {LARGEST_FLOAT}",
    GraphQLBoolean: "{0} is not True and {0} is not False",
}
LEAF_PREDICATES: dict[object, Callable[[object], bool]] = {
    kind: eval(f"lambda value: not ({test.format('value')})")  # noqa: S307
    for kind, test in LEAF_TESTS.items()
}


def has_only_builtin_leaves(document: Document) -> bool:
    """Return whether all leaves of an operation are enums or of GraphQL's five scalars."""
    # Their serializers reject numbers that are not finite, so that the result contains none; a
    # custom scalar may return any value. Computed once for a document; False for one without a
    # schema.
    known = document.builtin_leaves
    if known is None:
        schema = document.schema
        known = schema is not None and not any(
            map(is_custom_leaf, collect_leaf_types(document, schema))
        )
        # A cache on the frozen document, where it lives as long as the answer is needed.
        object.__setattr__(document, "builtin_leaves", known)
    return known


def collect_leaf_types(document: Document, schema: GraphQLSchema) -> set[Any]:
    """Return the types of the fields of an operation that have no selection."""
    return {
        get_named_type(member.type) if member is not None else None
        for _, node, member in iterate_fields(document, schema)
        if node.selection_set is None
    }


def iterate_fields(
    document: Document, schema: GraphQLSchema
) -> Iterator[tuple[Any, FieldNode, GraphQLField | None]]:
    """Yield the fields of an operation: the type in which each is selected, node and definition."""
    fragments = document.fragments
    entered: set[str] = set()
    waiting: list[tuple[Any, Any]] = [
        (document.operation, schema.get_root_type(document.operation.operation))
    ]
    while waiting:
        node, kind = waiting.pop()
        if isinstance(node, FragmentSpreadNode):
            name = node.name.value
            if name in entered or name not in fragments:
                continue
            entered.add(name)
            node = fragments[name]
        if isinstance(node, FieldNode):
            member = META_FIELDS.get(node.name.value) or getattr(kind, "fields", {}).get(
                node.name.value
            )
            yield kind, node, member
            kind = get_named_type(member.type) if member is not None else None
        elif getattr(node, "type_condition", None) is not None:
            kind = schema.get_type(node.type_condition.name.value)
        if node.selection_set is not None:
            waiting += [(inner, kind) for inner in node.selection_set.selections]


def is_custom_leaf(kind: AnyGraphQLType) -> bool:
    """Return whether a type may serialize a value to one that JSON can't represent."""
    if isinstance(kind, GraphQLEnumType):
        return not is_serialized_by_name(kind)
    usual = SERIALIZERS.get(kind) if isinstance(kind, GraphQLScalarType) else None
    return usual is None or get_serializer(kind) is not usual


def is_constant(node: ValueNode, kind: AnyGraphQLType) -> bool:
    """Return whether a literal has one value: custom scalars may parse "now" each time anew."""
    if isinstance(node, VariableNode):
        return False
    return isinstance(node, NullValueNode) or is_parsed_by_core(get_nullable_type(kind))


def find_leaf_test(kind: AnyGraphQLType) -> str | None:
    """Return the test that a value is not of a leaf's usual type; None without such a type."""
    serializer = get_serializer(kind)
    if kind in SERIALIZERS:
        return LEAF_TESTS[kind] if serializer is SERIALIZERS[kind] else None
    plain = isinstance(kind, GraphQLScalarType) and serializer is GraphQLScalarType.serialize
    return "type({0}) not in JSON" if plain else None


def find_leaf_predicate(kind: AnyGraphQLType) -> Callable[[object], bool] | None:
    """Return a function that tells whether a value is of a leaf's usual type, if it has one."""
    known = LEAF_PREDICATES.get(kind)
    return known if known is not None and get_serializer(kind) is SERIALIZERS[kind] else None

"""The source that completes leaves: scalars and enums."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLEnumType,
    GraphQLID,
    GraphQLScalarType,
    get_nullable_type,
    is_leaf_type,
)

from gqlnb.engine.graphql_compat import (
    SERIALIZER_NAME,
    AnyGraphQLType,
    is_serialized_by_name,
)
from gqlnb.engine.leaf_types import SMALL_INT, find_leaf_test

if TYPE_CHECKING:
    from gqlnb.engine.compiler.function_writer import FunctionWriter, ValueSlot

__all__ = ["can_raise", "list_enum_names", "write_leaf"]


def write_leaf(writer: FunctionWriter, kind: AnyGraphQLType, slot: ValueSlot) -> None:
    """Write the test that a leaf is of its usual type, and the call for any other type."""
    if isinstance(kind, GraphQLEnumType):
        write_enum(writer, kind, slot)
        return
    test = find_leaf_test(kind)
    if test is None:
        writer.write_clock_check()
        if has_own_serializer(kind):
            write_serialization(writer, kind, slot)
            return
    with writer.open_block(f"if {test.format(slot.v)}:" if test else "", when=test is not None):
        head = f"if {slot.v} is not None:" if slot.nullable else ""
        if kind is GraphQLID and test:
            with writer.open_block(
                f"if type({slot.v}) is int and {-SMALL_INT} < {slot.v} < {SMALL_INT}:"
            ):
                writer.add_line(f"{slot.v} = str({slot.v})")
            head = f"elif {slot.v} is not None:" if slot.nullable else "else:"
        with writer.open_block(head, when=bool(head)):
            writer.write_uncompiled(slot)


def write_serialization(writer: FunctionWriter, kind: AnyGraphQLType, slot: ValueSlot) -> None:
    """Write the call of a custom serializer, and the handling of other values than JSON."""
    writer.watch_member(kind, SERIALIZER_NAME)
    function = writer.bind_constant("z", vars(kind)[SERIALIZER_NAME])
    given, bound = writer.new_name("i"), writer.bind_constant("k", kind)
    with writer.open_other_block(slot, first=True):
        writer.add_line(f"{given} = {slot.v}")
        writer.add_line(f"{slot.v} = {function}({given})")
        with writer.open_block(f"if type({slot.v}) not in JSON:"):
            position = writer.build_error_position(slot)
            writer.add_line(
                f"{slot.v} = x.check_serialized({slot.v}, {given}, {bound}, {position})"
            )


def write_enum(writer: FunctionWriter, kind: GraphQLEnumType, slot: ValueSlot) -> None:
    """Write the look-up of an enum member's name."""
    names = writer.bind_constant("n", list_enum_names(kind))
    writer.add_line(f"try: {slot.v} = {names}[{slot.v}]")
    with writer.open_block("except Exception:"):
        head = f"if {slot.v} is not None:" if slot.nullable else ""
        with writer.open_block(head, when=bool(head)):
            writer.write_uncompiled(slot)


def list_enum_names(kind: GraphQLEnumType) -> dict[Any, str]:
    """Return the names of an enum's members by their internal values, a new dict each time."""
    # graphql-core serializes an enum by this table.
    members = kind._value_lookup if is_serialized_by_name(kind) else {}  # noqa: SLF001
    return {value: name for value, name in members.items() if is_safe_lookup_key(value)}


def is_safe_lookup_key(value: object) -> bool:
    """Return whether an enum's internal value can be looked up without running its own code."""
    return type(value) in (str, int) or (isinstance(value, Enum) and not callable(value))


def has_own_serializer(kind: object) -> bool:
    """Return whether a scalar has a serializer of its own, which can be called and watched."""
    # A method of a subclass is another object at each access.
    return isinstance(kind, GraphQLScalarType) and SERIALIZER_NAME in vars(kind)


def can_raise(kind: AnyGraphQLType) -> bool:
    """Return whether the source that completes a value may raise: tests of leaves do not."""
    inner = get_nullable_type(kind)
    if not is_leaf_type(inner):
        return True
    custom = not isinstance(inner, GraphQLEnumType) and find_leaf_test(inner) is None
    return custom and has_own_serializer(inner)

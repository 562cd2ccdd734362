"""The source that completes leaves, which are scalars and enums, and that awaits a single one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from inspect import iscoroutinefunction
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
    from gqlnb.engine.compiler.plans import FieldPlan, SelectionPlan

__all__ = [
    "SingleLeaf",
    "can_raise",
    "find_single_leaf",
    "list_enum_names",
    "write_leaf",
    "write_queued_leaf",
    "write_single_leaf",
]


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
    writer.plan.watch.add(kind, (), "_value_lookup")
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


# -- an object that waits for one leaf only: one coroutine, or none, awaits it


@dataclass(slots=True)
class SingleLeaf:
    """The one leaf that an object waits for.

    Attributes
    ----------
    field
        The field.
    name
        The source of the name of its awaitable.
    is_coroutine
        Whether its resolver is an ``async`` function; else it may return a future.
    path
        The source of its path, once it is written.
    """

    field: FieldPlan
    name: str
    is_coroutine: bool
    path: str = ""


def find_single_leaf(writer: FunctionWriter, selection: SelectionPlan) -> SingleLeaf | None:
    """Return the only field that is an ``async`` function, or has a resolver, if a leaf."""
    if writer.plan.is_awaitable is not None or writer.plan.timed:
        return None
    resolved = [f for f in selection.fields if f.needs_call and f.field_name != "__typename"]
    found = [f for f in resolved if iscoroutinefunction(f.native or f.resolve)] or resolved
    if len(found) != 1 or not is_leaf_type(kind := get_nullable_type(found[0].type)):
        return None
    is_coroutine = iscoroutinefunction(found[0].native or found[0].resolve)
    if not is_coroutine and find_leaf_test(kind) is None:
        return None  # another serializer may return an awaitable itself
    name = writer.new_name("y")
    writer.waiting_names.append(name)
    return SingleLeaf(found[0], name, is_coroutine)


def write_queued_leaf(writer: FunctionWriter, waiting: str, single: SingleLeaf) -> None:
    """Write that a single leaf is awaited together with other fields."""
    field = single.field
    writer.add_line(f"if {waiting} is None: {waiting} = []")
    leaf = f"x.await_leaf({single.name}, {writer.bind_constant('f', field)}, {single.path})"
    writer.add_line(f"{waiting}.append(({writer.write_text(field.name)}, {leaf}))")


def write_single_leaf(
    writer: FunctionWriter, slot: ValueSlot, waiting: str, single: SingleLeaf
) -> None:
    """Write the awaiting of an object's only leaf: in one coroutine, without other fields."""
    field, name = single.field, single.name
    with writer.open_block(f"if {name} is not None:"):
        with writer.open_block(f"if {waiting} is None:"):
            bound = writer.bind_constant("f", field)
            position = f", {writer.build_error_position(slot)}" if slot.nullable else ""
            key = writer.write_text(field.name)
            leaf = f"({slot.v}, {key}, {name}, {bound}, {single.path}{position})"
            if slot.item and slot.waiting is not None and not single.is_coroutine:
                writer.write_append(slot, leaf)
            else:
                writer.add_line(f"{slot.v} = x.await_single_leaf{leaf}")
                writer.write_wait(slot, sure=True)
        with writer.open_block("else:"):
            write_queued_leaf(writer, waiting, single)
        writer.add_line(f"{name} = None")

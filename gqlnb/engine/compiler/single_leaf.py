"""The source of an object that waits for one leaf only: one coroutine, or none, awaits it."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING

from graphql import get_nullable_type, is_leaf_type

from gqlnb.engine.leaf_types import find_leaf_test

if TYPE_CHECKING:
    from gqlnb.engine.compiler.function_writer import FunctionWriter, ValueSlot
    from gqlnb.engine.compiler.plans import FieldPlan, SelectionPlan

__all__ = ["SingleLeaf", "find_single_leaf", "write_queued_leaf", "write_single_leaf"]


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

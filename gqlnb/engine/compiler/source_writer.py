"""The Python source of the functions that execute selections and complete values and leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from inspect import iscoroutinefunction
from itertools import takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLEnumType,
    GraphQLID,
    GraphQLInt,
    GraphQLScalarType,
    default_type_resolver,
    get_nullable_type,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
    is_union_type,
)

from gqlnb.engine.compiler.executor import LONG_LIST
from gqlnb.engine.compiler.function_writer import (
    CLOCK_CHECK,
    FunctionWriter,
    ValueSlot,
    is_identifier,
    is_keyword_name,
)
from gqlnb.engine.compiler.python_types import (
    COMPUTED_OBJECT,
    DICT,
    ITEM_MAPPING,
    MAPPING,
    MAX_TYPES,
    OBJECT,
)
from gqlnb.engine.graphql_compat import (
    IS_GRAPHQL_33,
    SERIALIZER_NAME,
    AnyGraphQLType,
    Value,
    is_serialized_by_name,
)
from gqlnb.engine.schema_watch import SMALL_INT, find_leaf_test

if TYPE_CHECKING:
    from gqlnb.engine.compiler.executor import CompiledFunction, PlanExecutor
    from gqlnb.engine.compiler.plans import FieldPlan, OperationPlan, SelectionPlan
    from gqlnb.engine.compiler.resolve_info import LazyPath


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
    leaf = f"x.await_field({single.name}, {writer.bind_constant('f', field)}, {single.path})"
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


# Beyond these sizes an object gets a function of its own, since Python compiles and runs long
# functions with many locals more slowly.
MAX_INLINE_DEPTH = 3  # levels of objects in one function
MAX_INLINE_FIELDS = 40  # fields of an object that is written into the function of its parent
MAX_INLINE_TYPES = 4  # possible types whose selections are written into the function of a list
MAX_INLINE_TYPE_TESTS = 6  # possible types with a predicate that are tested in the function itself
CONVERT_PATH = "p = to_path(p)"


class SourceWriter(FunctionWriter):
    """Writes the functions that execute selections, complete values and lists.

    Parameters
    ----------
    plan
        The plan it is part of.
    get_rows_function
        Returns the function that completes the lists of a field.
    source_kind
        The kind of the source objects to write for, one of VARIANTS.
    """

    def __init__(
        self,
        plan: OperationPlan,
        get_rows_function: Callable[[FieldPlan, Any], CompiledFunction],
        source_kind: int,
    ) -> None:
        super().__init__(plan)
        self.source_kind = OBJECT if source_kind == COMPUTED_OBJECT else source_kind
        self.dicts = source_kind == DICT
        self._is_computed = source_kind == COMPUTED_OBJECT  # whether rows have a __getattr__
        self._get_rows_function = get_rows_function
        self._fields_per_row = 0  # of a function whose list is counted as a whole; else 0
        self._rows_read_path = False

    # -- whole functions

    def write_selection(self, selection: SelectionPlan) -> None:
        """Write a function that returns the dict of a selection, or a coroutine of it."""
        self.write_prologue()
        if any(field.reads_path for field in selection.fields):
            self.add_line(CONVERT_PATH)
        self.write_count(selection)
        members, waiting, single = self.write_fields(selection, "s", "p", 0)
        self.add_line(f"d = {members}")
        if single is not None:
            with self.open_block(f"if {single.name} is not None:"):
                write_queued_leaf(self, waiting, single)
        self.add_line(f"return d if {waiting} is None else x.join(d, {waiting})")

    def write_completer(self, field: FieldPlan) -> None:
        """Write a function that completes a value; its caller handles its errors."""
        self.write_prologue()
        names = f"{self.bind_constant('f', field)}, {self.bind_constant('k', field.type)}"
        slow = f"x.complete_uncompiled(s, {names}, p)"
        self.write_completion(
            ValueSlot(
                field=field, kind=field.type, v="s", path="p", slow=slow, key=None, waiting=None
            ),
            0,
        )
        self.add_line("return s")

    def write_rows(self, field: FieldPlan, kind: AnyGraphQLType, *, iterator: bool = False) -> None:
        """Write a function that completes a list or tuple; or the first item and an iterator."""
        item, path = kind.of_type, "(p, len(out), None)"
        above = "p" if kind is get_nullable_type(field.type) else "above(p)"
        name, item_name = self.bind_constant("f", field), self.bind_constant("k", item)
        slow = f"x.complete_unusual_item(v, {name}, {item_name}, {path})"
        slot = ValueSlot(
            field=field,
            kind=item,
            v="v",
            path=path,
            slow=slow,
            key="len(out)",
            waiting="w",
            item=True,
            above=above,
        )
        self.write_prologue()
        if get_nullable_type(item) is GraphQLInt and find_leaf_test(GraphQLInt) and not iterator:
            long = f"len(s) >= {LONG_LIST} and type(s[0]) is int"
            self.add_line(f"if {long} and (out := copy_small_ints(s)) is not None: return out")
        self.add_line("out = []")
        self.add_line("w = None")
        if self._is_computed:
            self.write_row_class(field, item)
        if iterator:
            self.add_line("s = chain((s[0],), s[1])")
        rows = "s" if iterator else self.write_row_count(field, item)
        with self.open_block("try:", when=IS_GRAPHQL_33), self.open_block(f"for v in {rows}:"):
            self._first_row_line = len(self.lines)
            guarded = can_raise(item)
            with self.open_block("try:", when=guarded):
                self.write_completion(slot, 0)
            if guarded:
                with self.open_block("except Exception as e:"):
                    self.add_line(f"v = x.fail(e, {name}, {path}, {item_name})")
                    self.write_reset(0)
            self.add_line("out.append(v)")
            # A loop that calls functions looks at the clock once a row, not once a call.
            if self._calls_function or (iterator and self.plan.metered):
                self.lines.insert(self._first_row_line, f"{' ' * self._depth}{CLOCK_CHECK}")
            self._first_row_line = None
        if IS_GRAPHQL_33:
            with self.open_block("except Exception:"):
                self.add_line(f"x.settle(w, {'s' if iterator else 's[len(out) + 1:]'})")
                self.add_line("raise")
        self.add_line("return out if w is None else x.join_items(out, w)")
        if self._rows_read_path:
            self.lines.insert(0, f" {CONVERT_PATH}")

    def write_row_class(self, field: FieldPlan, item: AnyGraphQLType) -> None:
        """Write the look-up of the ``__getattr__`` of the first row's class."""
        inner, selection = get_nullable_type(item), None
        if is_object_type(inner):
            selection = self.find_inlined_selection(inner, field, 0)
        self._is_computed = selection is not None
        if selection is None:
            return
        names = frozenset(below.field_name for below in selection.fields if below.default)
        self.add_line("c = type(s[0])")
        self.add_line(f"h = find_attribute_function(c, {self.bind_constant('n', names)})")
        self.add_line("if h is None: c = None")

    # -- counting fields, in a plan with a budget

    def write_prologue(self) -> None:
        """Write the first lines of a function: the budget and the variables it reads."""
        if self.plan.metered:
            self.add_line("b = x.budget")
        if self.plan.conditions is not None:
            self.add_line("g = x.coerced_variables")

    def write_count(self, selection: SelectionPlan) -> None:
        """Write the count of an object's fields."""
        if self.plan.metered and not self._fields_per_row:
            self.add_line(f"b.left -= {len(selection.fields) - len(selection.conditions)}")
            self.add_line("if b.left < 0: b.renew_credit()")

    def write_row_count(self, field: FieldPlan, item: AnyGraphQLType) -> str:
        """Write the count of a list's fields; return the source of the rows to iterate over."""
        per_row = self.compute_field_count(item, field, 0) if self.plan.metered else None
        self._fields_per_row = per_row or 0
        if not per_row:
            return "s"
        self.add_line(f"b.left -= len(s) * {per_row}")
        self.add_line(f"r = s if b.left >= 0 else b.count_rows(s, {per_row}, {self.dicts})")
        return "r"

    def compute_field_count(self, kind: AnyGraphQLType, field: FieldPlan, level: int) -> int | None:
        """Return the number of fields in a value of a field; None if that is not known yet.

        Of the items of an abstract type, it is that of its possible types, if all have the same.
        """
        inner = get_nullable_type(kind)
        if is_leaf_type(inner):
            return 0
        if is_abstract_type(inner) and level == 0:
            kinds = self.list_few_types(inner)
            # A resolver of the type may fail instead of returning it.
            if kinds and AbstractTypeResolver(self.plan, field, inner).default:
                counts = {self.compute_field_count(below, field, 0) for below in kinds}
                return counts.pop() if len(counts) == 1 else None
        if is_list_type(inner) or is_abstract_type(inner):
            return None
        selection = self.find_inlined_selection(inner, field, level)
        # A predicate may refuse an object.
        if selection is None or selection.conditions or selection.kind.is_type_of is not None:
            return None
        total = len(selection.fields)
        for below in selection.fields:
            found = self.compute_field_count(below.type, below, level + 1)
            # A function may return an error instead of an object.
            if found is None or (found and not below.direct):
                return None
            total += found
        return total

    def find_inlined_selection(
        self, kind: AnyGraphQLType, field: FieldPlan, level: int
    ) -> SelectionPlan | None:
        """Return the selection of an object that is written into the function of its parent."""
        selection = field.find_selection_below(kind)
        if (
            selection is None
            or level >= MAX_INLINE_DEPTH
            or len(selection.fields) > MAX_INLINE_FIELDS
        ):
            return None
        return selection

    # -- selections and fields

    def write_fields(
        self, selection: SelectionPlan, s: str, p: str, level: int
    ) -> tuple[str, str, SingleLeaf | None]:
        """Write the fields of a selection.

        Returns
        -------
        (str, str, SingleLeaf or None)
            The source of its dict, the name of its list of awaitables, and the one leaf it waits
            for besides, if its functions say that there is one.
        """
        waiting = self.new_name("w")
        self.waiting_names.append(waiting)
        single = find_single_leaf(self, selection)
        settled = IS_GRAPHQL_33 and any(
            is_non_null_type(field.type) and field.field_name != "__typename"
            for field in selection.fields
        )
        members: list[tuple[str, str, str]] = []
        with self.open_block("try:", when=settled):
            for field in selection.fields:
                condition = self.build_condition(selection, field)
                with self.open_block(f"if {condition}:", when=bool(condition)):
                    if condition:  # a field of __typename writes no line
                        self.add_line("b.left -= 1" if self.plan.metered else "pass")
                    key, value = self.write_field(field, s, p, waiting, level, single=single)
                members.append((condition, key, value))
        if settled:
            with self.open_block("except Exception:"):
                if single is not None:
                    name = single.name
                    self.add_line(f"if {name} is not None: x.settle([(None, {name})])")
                self.add_line(f"if {waiting} is not None: x.settle({waiting})")
                self.add_line("raise")
        return self.write_members(members), waiting, single

    def build_condition(self, selection: SelectionPlan, field: FieldPlan) -> str:
        """Return the source of the condition of a field; empty without one."""
        tests = []
        for name, value in selection.conditions.get(field.name, ()):
            test = f"g[{self.write_text(name)}]"
            tests.append(test if value else f"not {test}")
        return " and ".join(tests)

    def write_members(self, members: list[tuple[str, str, str]]) -> str:
        """Write the dict of a selection, unless it is an expression; return its source.

        Parameters
        ----------
        members
            Of each field: the source of its condition, or an empty one, of its key and its value.
        """
        first = list(takewhile(lambda member: not member[0], members))
        literal = "{" + ", ".join(f"{key}: {value}" for _, key, value in first) + "}"
        if len(first) == len(members):
            return literal
        name = self.new_name("m")
        self.add_line(f"{name} = {literal}")
        for condition, key, value in members[len(first) :]:
            with self.open_block(f"if {condition}:", when=bool(condition)):
                self.add_line(f"{name}[{key}] = {value}")
        return name

    def write_field(
        self,
        field: FieldPlan,
        s: str,
        p: str,
        waiting: str | None,
        level: int,
        *,
        single: SingleLeaf | None,
    ) -> tuple[str, str]:
        """Write one field; return the source of its name and that of its value."""
        key, parent = self.write_text(field.name), self.write_text(field.parent.name)
        if field.nodes[0].name.value == "__typename":
            return key, parent
        clock = self.new_name("t")
        timer = self.bind_constant("c", perf_counter) if self.plan.timed else ""
        if timer:
            self.add_line(f"{clock} = {timer}()")
        v = self.new_name("v")
        name, path = self.bind_constant("f", field), f"({p}, {key}, {parent})"
        above: str | None = p
        if field.needs_info:  # which needs the path anyway
            self.add_line(f"{v}p = {f'new(Path, {path})' if field.reads_path else path}")
            path, above = f"{v}p", None
        method = "complete_unusual" if field.default else "complete_field"
        slow = f"x.{method}({v}, {name}, {path})"
        slot = ValueSlot(
            field=field,
            kind=field.type,
            v=v,
            path=path,
            slow=slow,
            key=key,
            waiting=waiting,
            parent=above,
        )
        coerced = self.new_name("a") if field.looked_up and not field.direct else ""
        if coerced:  # once in each run of the function: no value depends on the arguments
            self.class_names.append(coerced)
            self.add_line(f"if {coerced} is None: {coerced} = x.accepts_arguments({name})")
        if field.default and not field.direct:
            with self.open_block(f"if not {coerced}:", when=bool(coerced)):
                if self.plan.metered:  # graphql-core's method counts it again
                    self.add_line("b.left += 1")
                self.add_line(f"{v} = x.execute_field_uncompiled({name}, {s}, {path})")
                self.write_wait(slot)
        if coerced or not field.default or field.direct:
            with self.open_block("else:", when=bool(coerced)):
                self.write_field_value(slot, s, level, single)
        if timer:
            self.add_line(f"x.tally({name}, {timer}() - {clock})")
        return key, v

    def write_field_value(
        self, slot: ValueSlot, s: str, level: int, single: SingleLeaf | None
    ) -> None:
        """Write the look-up or the call of the resolver, and the completion of the value."""
        field, v = slot.field, slot.v
        if field.default:
            self.write_lookup(slot, s)
        # x.complete_unusual handles its own errors, and tests of leaves raise none.
        guarded = not field.default or can_raise(field.type)
        before = len(self.waiting_names)
        with self.open_block("try:", when=guarded):
            if not field.default:
                self.write_call(slot, s)
            is_single = single is not None and single.field is field
            is_coroutine = False
            if single is not None and is_single:
                single.path = slot.path
                is_coroutine = single.is_coroutine
                if is_coroutine:
                    self.add_line(f"if type({v}) is CORO: {single.name} = {v}; {v} = None")
                else:
                    slot = replace(slot, single=single.name)
            with self.open_block("else:", when=is_coroutine):
                self.write_completion(slot, level)
        if guarded:
            with self.open_block("except Exception as e:"):
                self.add_line(f"{v} = x.fail(e, {self.bind_constant('f', field)}, {slot.path})")
                self.write_reset(before)

    def write_lookup(self, slot: ValueSlot, s: str) -> None:
        """Write the look-up of a field in its parent."""
        name = slot.field.nodes[0].name.value
        bound, key = self.bind_constant("f", slot.field), self.write_text(name)
        if self.source_kind in (DICT, ITEM_MAPPING):
            self.add_line(f"try: {slot.v} = {s}[{key}]")
            self.add_line(f"except KeyError: {slot.v} = None")
        if self.source_kind == MAPPING:
            self.add_line(f"try: {slot.v} = {s}.get({key})")
        if self.source_kind in (MAPPING, ITEM_MAPPING):
            self.add_line(f"except Exception as e: {slot.v} = x.fail(e, {bound}, {slot.path})")
        if self.source_kind != OBJECT:
            return
        attribute = self.build_attribute(s, name)
        if self._is_computed and s == "v":  # a row
            attribute = f"d[{key}] if {key} in d else h(v, {key})"
        self.add_line(f"try: {slot.v} = {attribute}")
        # Without a name for the error, and a handler of AttributeError: they take Python as long to
        # compile as the rest of the look-up.
        self.add_line(f"except Exception: {slot.v} = x.fail_lookup({bound}, {slot.parent})")

    def build_attribute(self, s: str, name: str) -> str:
        """Return the source of an attribute."""
        return f"{s}.{name}" if is_identifier(name) else f"getattr({s}, {self.write_text(name)})"

    def write_call(self, slot: ValueSlot, s: str) -> None:
        """Write the call of a resolver, or its inlined body."""
        field = slot.field
        if field.attribute is not None:
            self.add_line(f"{slot.v} = {self.build_attribute(s, field.attribute)}")
            return
        arguments = self.write_arguments(field)
        self.write_clock_check()
        if field.native is not None:
            function = self.bind_constant("g", field.native)
            self.add_line(f"{slot.v} = {function}({s}, {arguments}, x.context_value)")
            return
        cls = "PathInfo" if field.reads_path else "Info"
        info = f"new({cls}, ({self.bind_constant('f', field)}, {slot.path}, x))"
        if is_info_unused(field.resolve):
            info = "None"
        function = self.bind_constant("r", field.resolve)
        self.add_line(f"{slot.v} = {function}({s}, {info}{arguments})")

    def write_arguments(self, field: FieldPlan) -> str:
        """Return the source of the coerced arguments: a dict, or ``, name=value`` of a call."""
        if field.constants is not None:
            members = {name: self.write_value(value) for name, value in field.constants.items()}
            # A new dict for each call, which the resolver may change.
            made = ", ".join(f"{self.write_text(name)}: {value}" for name, value in members.items())
            if field.native is not None:
                return f"{{{made}}}"
            if all(map(is_keyword_name, members)):  # half the time of a call with a dict
                return "".join(f", {name}={value}" for name, value in members.items())
            return f", **{{{made}}}"
        bound = self.bind_constant("f", field)
        coerced = f"x.coerce_arguments({bound})"
        if self._first_row_line is not None:
            known = self.new_name("a")
            self.class_names.append(known)
            self.add_line(f"if {known} is None: {known} = x.coerced_arguments.get({bound})")
            known_copy = f"{known}.copy()" if field.native is not None else known
            coerced = f"({known_copy} if {known} else {coerced})"
        return coerced if field.native is not None else f", **{coerced}"

    # -- values

    def write_completion(self, slot: ValueSlot, level: int) -> None:
        """Write the completion of a value."""
        inner = get_nullable_type(slot.kind)
        if is_leaf_type(inner):
            write_leaf(self, inner, slot)
        elif is_list_type(inner):
            self.write_list(inner, slot)
        elif is_abstract_type(inner):
            self.plan.watch.add(inner, (), "resolve_type", *["types"] * is_union_type(inner))
            for kind in self.plan.list_possible_types(inner):
                self.plan.watch.add(kind, (), "is_type_of")
            self.write_abstract(slot, AbstractTypeResolver(self.plan, slot.field, inner), level)
        else:
            self.plan.watch.add(inner, (), "is_type_of")
            self.write_object(inner, slot, level)

    def write_list(self, kind: AnyGraphQLType, slot: ValueSlot) -> None:
        """Write the call of the function that completes a list or a tuple."""
        function = self.bind_constant("l", self._get_rows_function(slot.field, kind))
        v = slot.v
        view = f"type({v}) in VIEWS and ({v} := list({v})) is not None"
        with self.open_block(f"if type({v}) is list or type({v}) is tuple or {view}:"):
            self.add_line(f"{v} = {function}({v}, {slot.path}, x)")
            self.write_wait(slot, guarded=True)
        with self.open_block(f"elif {v} is not None:" if slot.nullable else "else:"):
            self.write_uncompiled(slot)

    def write_abstract(self, slot: ValueSlot, resolver: AbstractTypeResolver, level: int) -> None:
        """Write the resolution of a value's object type, and the execution of its selection."""
        function = self.bind_constant("u", resolver)
        if resolver.types_with_test or not resolver.default:
            self.write_clock_check()
        # Not the class of the last value: each object type has its own class most often.
        expected = f"kinds[type({slot.v})] == {self.source_kind}"
        with self.open_block(f"if {f'type({slot.v}) is dict' if self.dicts else expected}:"):
            self.write_type_choice(slot, resolver, str(self.source_kind), level)
            self.write_wait(slot, guarded=True)
        counted = self._fields_per_row > 0
        with self.open_block("else:", when=counted):
            if counted:  # as if each item were such a value
                self.add_line(f"b.left += {self._fields_per_row}")
            with self.open_other_block(slot, first=counted):
                if resolver.default:
                    self.add_line(f"{slot.v} = {function}({slot.v}, {slot.path}, x)")
                else:
                    self.write_type_choice(slot, resolver, "k", None)

    def write_type_choice(
        self, slot: ValueSlot, resolver: AbstractTypeResolver, kind: str, level: int | None
    ) -> None:
        """Write the resolution of a value's object type; `kind` is the source of its kind.

        At level 0, the selections of few possible types are written into the function.
        """
        function = self.bind_constant("u", resolver)
        v, name, enter = slot.v, self.new_name("n"), self.new_name("e")
        info = f"new(Info, ({self.bind_constant('f', slot.field)}, {slot.above or slot.path}, x))"
        if resolver.default and self.source_kind == OBJECT:
            attributes = self.bind_constant("q", resolver.typename_attributes)
            with self.open_block(f"for q in {attributes}[type({v})]:"):
                self.add_line(f"if {name} := getattr({v}, q, None): break")
            self.add_line(f"else: {name} = None")
            found = name
        elif resolver.default:
            found = f"{v}.get('__typename')"
        elif resolver.native is not None:
            found = f"{self.bind_constant('g', resolver.native)}({v}, x.context_value)"
        else:
            resolve = self.bind_constant("r", resolver.resolve)
            found = f"{resolve}({v}, {info}, {self.bind_constant('k', resolver.kind)})"
        if found != name:
            self.add_line(f"{name} = {found}")
        functions = self.bind_constant("m", resolver.functions)
        word = "if"
        for selection in self.list_inlined_types(slot, resolver) if level == 0 else ():
            test = f"{name} == {self.write_text(selection.kind.name)}"
            with self.open_block(f"{word} type({name}) is str and {test}:"):
                self.write_inline_object(replace(slot, waiting=None), selection, 0)
            word = "elif"
        counted = level == 0 and self._fields_per_row > 0
        with self.open_block("else:", when=counted):
            if counted:
                self.add_line(f"b.left += {self._fields_per_row}")
                word = "if"
            known = f"type({name}) is str and ({enter} := {functions}.get({name}))"
            with self.open_block(f"{word} {known}:"):
                self.add_line(f"{v} = {enter}[{kind}]({v}, {slot.path}, x)")
            if resolver.default and 0 < len(resolver.types_with_test) <= MAX_INLINE_TYPE_TESTS:
                with self.open_block(f"elif {name} is None:"):
                    self.write_type_tests(slot, resolver, info)
            with self.open_block("else:"):
                self.add_line(f"{v} = {function}.enter_named_type({name}, {v}, {slot.path}, x)")

    def list_few_types(self, kind: AnyGraphQLType) -> list[Any]:
        """Return the possible types of an abstract type; none if they are many."""
        kinds, named = self.plan.list_possible_types(kind), self.plan.schema.type_map
        # graphql-core finds a type by its name; that may be another one.
        if len(kinds) > MAX_INLINE_TYPES or any(named.get(k.name) is not k for k in kinds):
            return []
        for found in kinds:
            self.plan.watch.add(self.plan.schema, ("type_map", found.name))
        return kinds

    def list_inlined_types(
        self, slot: ValueSlot, resolver: AbstractTypeResolver
    ) -> list[SelectionPlan]:
        """Return the selections of an abstract type's possible types, if they are few."""
        kinds = self.list_few_types(resolver.kind)
        tested = resolver.types_with_test
        found = (self.find_inlined_selection(k, slot.field, 0) for k in kinds if k not in tested)
        return [selection for selection in found if selection is not None]

    def write_type_tests(self, slot: ValueSlot, resolver: AbstractTypeResolver, info: str) -> None:
        """Write the call of ``is_type_of`` of each possible type."""
        v, function = slot.v, self.bind_constant("u", resolver)
        info_name, answer = self.new_name("i"), self.new_name("q")
        self.add_line(f"{info_name} = {info}")
        depth = self._depth
        for kind in resolver.types_with_test:
            test = self.bind_constant("q", kind.is_type_of)
            self.add_line(f"{answer} = {test}({v}, {info_name})")
            with self.open_block(f"if {answer} is True:"):
                below = slot.field.find_selection_below(kind)
                enter = function
                if below is not None:
                    enter = f"{self.bind_constant('t', below.functions)}[{self.source_kind}]"
                self.add_line(f"{v} = {enter}({v}, {slot.path}, x)")
            retry = f"{function}.retry_type_tests({answer}, {v}, {slot.path}, x)"
            self.add_line(f"elif {answer} is not False: {v} = {retry}")
            self.add_line("else:")
            self._depth += 1
        self.add_line(f"{v} = {function}.resolve_first(None, {v}, {slot.path}, x)")
        self._depth = depth

    def write_object(self, kind: AnyGraphQLType, slot: ValueSlot, level: int) -> None:
        """Write the completion of an object: inline if it has the expected type, else a call."""
        selection = slot.field.find_selection_below(kind)
        if selection is None or kind.is_type_of is not None:
            self.write_clock_check()
        if selection is None:
            with self.open_block(f"if {slot.v} is not None:", when=slot.nullable):
                self.write_uncompiled(slot)
            return
        functions = self.bind_constant("t", selection.functions)
        call = f"{slot.v} = {functions}[k]({slot.v}, {slot.path}, x)"
        if self.find_inlined_selection(kind, slot.field, level) is None:
            with self.open_other_block(slot, first=True), self.open_type_test(slot, kind):
                self.add_line(call)
            return
        test = f"if {self.build_object_test(slot)}:"
        with self.open_block(test), self.open_type_test(slot, kind, inline=True):
            self.write_inline_object(slot, selection, level)
        counted = self._fields_per_row > 0
        with self.open_block("else:", when=counted):
            # The list was counted as if each row were an object: refund one that is not.
            if counted and (fields := self.compute_field_count(kind, slot.field, level)):
                self.add_line(f"b.left += {fields}")
            with self.open_other_block(slot, first=counted), self.open_type_test(slot, kind):
                self.add_line(call)

    @contextmanager
    def open_type_test(
        self, slot: ValueSlot, kind: AnyGraphQLType, *, inline: bool = False
    ) -> Iterator[None]:
        """Write the call of a type's predicate, if it has one; lines within are for its objects.

        Those that are `inline` write themselves what they wait for.
        """
        test = kind.is_type_of
        if test is not None:
            field, answer = self.bind_constant("f", slot.field), self.new_name("q")
            info = f"new(Info, ({field}, {slot.above or slot.path}, x))"
            if slot.item:  # all items get the same
                name = self.new_name("i")
                self.class_names.append(name)
                self.add_line(f"if {name} is None: {name} = {info}")
                info = name
            self.add_line(f"{answer} = {self.bind_constant('q', test)}({slot.v}, {info})")
        with self.open_block(f"if {answer} is True:" if test else "", when=test is not None):
            yield
        if test is not None:
            position = f"{slot.v}, {field}, {slot.path}, {self.bind_constant('k', kind)}"
            with self.open_block("else:"):
                self.add_line(f"{slot.v} = x.enter_tested({answer}, {position})")
                if inline:
                    self.write_wait(slot, guarded=True)

    def write_inline_object(self, slot: ValueSlot, selection: SelectionPlan, level: int) -> None:
        """Write the completion of an object of the expected kind."""
        self.write_count(selection)
        path = self.write_object_path(slot, selection)
        members, waiting, single = self.write_fields(selection, slot.v, path, level + 1)
        self.add_line(f"{slot.v} = {members}")
        if single is not None:
            write_single_leaf(self, slot, waiting, single)
        with self.open_block(f"if {waiting} is not None:"):
            join = f"x.join({slot.v}, {waiting})"
            if slot.nullable:
                position = self.build_error_position(slot)
                join = f"x.join_guarded({slot.v}, {waiting}, {position})"
            self.add_line(f"{slot.v} = {join}")
            self.add_line(f"{waiting} = None")
            self.write_wait(slot, sure=True)

    def write_object_path(self, slot: ValueSlot, selection: SelectionPlan) -> str:
        """Write the path of an object, if its resolvers need it; return the source of the path."""
        if not any(field.needs_info for field in selection.fields):
            return slot.path
        name = slot.path if slot.path.isidentifier() else self.new_name("p")
        path = slot.path
        if any(field.reads_path for field in selection.fields):
            path = f"new(Path, {path})" if slot.item else f"to_path({path})"
            self._rows_read_path = self._rows_read_path or slot.item
        if name != path:
            self.add_line(f"{name} = {path}")
        return name

    def build_object_test(self, slot: ValueSlot) -> str:
        """Return the test that an object is of the kind this function is written for."""
        v = slot.v
        if self.dicts:
            return f"type({v}) is dict"
        if slot.item and self._is_computed:
            return f"type({v}) is c and (d := read_own_attributes({v}, h)) is not None"
        last = self.new_name("c")  # the class of the last object, most often of the next one too
        self.class_names.append(last)
        test, before = f"type({v}) is {last}", last
        if slot.item:  # rows may be of two classes
            before = self.new_name("c")
            self.class_names.append(before)
            test = f"{test} or type({v}) is {before}"
        expected = f"kinds[type({v})] == {self.source_kind}"
        return f"{test} or {expected} and ({before} := {last}, {last} := type({v}))"


def is_info_unused(resolve: Value) -> bool:
    """Return whether a resolver is graphql-core's own for introspection and ignores its info."""
    code = getattr(resolve, "__code__", None)
    own = getattr(resolve, "__module__", None) == "graphql.type.introspection"
    return own and code is not None and code.co_varnames[1:2] == ("_info",)


class TypenameAttributes(dict[type, tuple[str, ...]]):
    """The names of the attribute ``__typename`` of a class and its bases, as Python mangles it."""

    def __missing__(self, cls: type) -> tuple[str, ...]:
        if len(self) > MAX_TYPES:
            self.clear()
        names = self[cls] = tuple(f"_{base.__name__}__typename" for base in cls.__mro__)
        return names


# Compiled code calls the resolver of a type itself. The default resolution is graphql-core's, in
# its order: `__typename` of the value, then `is_type_of` of each possible type. A predicate that
# has returned True is not called a second time.
class AbstractTypeResolver:
    """Finds the object type of an abstract type's value, and executes its selection."""

    def __init__(self, plan: OperationPlan, field: FieldPlan, kind: AnyGraphQLType) -> None:
        self.plan, self.field, self.kind = plan, field, kind
        self.resolve: Any = kind.resolve_type or plan.type_resolver
        self.default = self.resolve is default_type_resolver
        self.native = getattr(self.resolve, "gqlnb_native", None)
        self.types_with_test: list[Any] = [
            k for k in plan.list_possible_types(kind) if k.is_type_of is not None
        ]
        self.kinds = plan.cache.type_kinds
        # By the name of an object type: the functions of its selection, by the kind of the value.
        self.functions: dict[str, list[CompiledFunction]] = {}
        self.typename_attributes = TypenameAttributes()

    def __call__(self, value: Value, path: LazyPath, run: PlanExecutor) -> Value:
        """Return the completed value, by the default resolution, or a coroutine of it."""
        if isinstance(value, Mapping):
            name = value.get("__typename")
        else:
            attributes = self.typename_attributes[type(value)]
            found = (getattr(value, attribute, None) for attribute in attributes)
            name = next(filter(None, found), None)
        return self.enter_named_type(name, value, path, run)

    def enter_named_type(
        self, name: Value, value: Value, path: LazyPath, run: PlanExecutor
    ) -> Value:
        """Return the completed value, given the result of the type resolver."""
        if type(name) is str:
            functions = self.functions.get(name)
            if functions is not None:
                return functions[self.kinds[type(value)]](value, path, run)
        elif self.default and not isinstance(name, str):
            return self.ask_possible_types(value, path, run)
        return self.resolve_first(name, value, path, run)

    def ask_possible_types(self, value: Value, path: LazyPath, run: PlanExecutor) -> Value:
        """Test the value by ``is_type_of`` of each possible type."""
        info = run.build_info(self.field, path)
        for kind in self.types_with_test:
            answer = kind.is_type_of(value, info)
            if answer is True or (answer and not run.is_awaitable(answer)):
                selection = self.plan.get_selection_below(run, kind, self.field.group)
                return selection.functions[self.kinds[type(value)]](value, path, run)
            if answer is not False and run.is_awaitable(answer):
                if hasattr(answer, "close"):
                    answer.close()  # graphql-core calls it again, and awaits all predicates
                return self.resolve_first(self.resolve(value, info, self.kind), value, path, run)
        return self.resolve_first(None, value, path, run)

    def retry_type_tests(
        self, answer: Value, value: Value, path: LazyPath, run: PlanExecutor
    ) -> Value:
        """Repeat the tests if a predicate has returned neither True nor False."""
        if hasattr(answer, "close"):
            answer.close()  # called again below, and awaited there
        return self.ask_possible_types(value, path, run)

    def resolve_first(self, name: Value, value: Value, path: LazyPath, run: PlanExecutor) -> Value:
        """Check the name of a type like graphql-core, and cache a valid one."""
        if run.is_awaitable(name):
            return self.resolve_later(name, value, path, run)
        info = run.build_info(self.field, path)
        kind = run.ensure_valid_runtime_type(name, self.kind, self.field.group, info, value)
        selection = self.field.find_selection_below(kind)
        if type(name) is str and selection is not None:
            functions = self.functions[name] = selection.functions
            if kind.is_type_of is not None:
                enter = partial(partial, self.test_named_type, kind, functions)
                functions = self.functions[name] = [*map(enter, range(len(functions)))]
            self.plan.watch.add(run.schema, ("type_map", name))
            return functions[self.kinds[type(value)]](value, path, run)
        if not IS_GRAPHQL_33:  # which collects the fields first; that fails
            self.plan.get_selection_below(run, kind, self.field.group)
        answer = True if kind.is_type_of is None else kind.is_type_of(value, info)
        return run.enter_tested(answer, value, self.field, path, kind)

    def test_named_type(
        self,
        kind: AnyGraphQLType,
        functions: list[CompiledFunction],
        index: int,
        value: Value,
        path: LazyPath,
        run: PlanExecutor,
    ) -> Value:
        """Complete a value by one of the functions of a type if its predicate returns True."""
        answer = kind.is_type_of(value, run.build_info(self.field, path))
        if answer is True:
            return functions[index](value, path, run)
        return run.enter_tested(answer, value, self.field, path, kind)

    async def resolve_later(
        self, name: Value, value: Value, path: LazyPath, run: PlanExecutor
    ) -> Value:
        """Await the name of the type, then complete the value."""
        completed = self.resolve_first(await name, value, path, run)
        return await completed if run.is_awaitable(completed) else completed

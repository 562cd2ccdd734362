"""The executor of a plan: graphql-core's, with the methods that compiled code calls."""

from __future__ import annotations

import sys
from asyncio import CancelledError
from collections.abc import AsyncIterable, Callable, Mapping
from contextlib import suppress
from copy import copy
from functools import cached_property
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import graphql
from graphql import GraphQLError, Undefined, get_nullable_type, is_leaf_type, is_non_null_type
from graphql.error import located_error
from graphql.execution.values import get_argument_values
from graphql.pyutils import is_iterable

from gqlnb.document.input_coercion import is_table
from gqlnb.engine.compiler.gathering import (
    await_leaves,
    await_members,
    can_gather_leaves,
    queue_awaitable,
    yield_to_loop,
)
from gqlnb.engine.compiler.resolve_info import (
    LazyPath,
    PlanErrors,
    list_keys,
    new_tuple,
    strip_list_indices,
    to_path,
)
from gqlnb.engine.graphql_compat import (
    CORO,
    IS_GRAPHQL_33,
    NO_INCREMENTAL,
    PLAIN_TYPES,
    SERIALIZER_NAME,
    AnyGraphQLType,
    BaseExecutor,
    FieldGroup,
    Value,
    collect_fields,
    collect_subfields,
    get_input_default,
    invalid_return_type_error,
    new_object,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from graphql import FieldNode, GraphQLObjectType, GraphQLOutputType

# Takes a source object, a list or a value; returns its completed form, or a coroutine of it.
CompiledFunction: TypeAlias = "Callable[[Value, LazyPath, PlanExecutor], Value]"


# Name, name of the variable or None, constant or definition of the argument, and whether null is an
# error.
ArgumentSource: TypeAlias = tuple[str, str | None, Any, bool]


# A list of this length is compiled when it is first seen: its rows pay for the compilation.
LONG_LIST = 64


execute_field_by_core = BaseExecutor.execute_field


# A FieldPlan and a SelectionPlan: plans imports this module, so that the types can't be named.
PlannedField: TypeAlias = Any
PlannedSelection: TypeAlias = Any


# The turns of the loop by which graphql-core 3.2 starts a single leaf later, and raises its error
# later: it gathers even one value (see await_after_turn).
SINGLE_LEAF_TURNS, ERROR_TURNS = (0, 0) if IS_GRAPHQL_33 else (1, 2)


async def await_after_turn(value: Awaitable[Value]) -> Value:
    """Await a single value at the time when ``gather`` would run its task, without the task."""
    # graphql-core 3.2 gathers even one value: the task starts a turn of the loop later, and its
    # error is raised two turns after it ends. The order of errors that race for a null depends on
    # that. A value two turns early changes nothing.
    await yield_to_loop()
    try:
        return await value
    except (Exception, CancelledError):
        await yield_to_loop(ERROR_TURNS)
        raise


def is_sync_rows(value: Value) -> bool:
    """Return whether graphql-core iterates over a value at once, as over a generator."""
    return is_iterable(value) and not isinstance(value, AsyncIterable)


def reject_table(value: Value, info: Value) -> None:
    """Raise an error if the value of a list is a table, of which the columns would become items.

    Raises
    ------
    GraphQLError
        If it is; the message names a method that returns its rows.
    """
    if not is_table(value):
        return
    kind = type(value)
    method = "to_dicts()" if hasattr(kind, "to_dicts") else 'to_dict("records")'
    msg = (
        f"Resolver for '{info.parent_type}.{info.field_name}' returned a {kind.__name__} of "
        f"{kind.__module__.partition('.')[0]}, and iteration over it yields its columns. Return a "
        f"list of its rows: .{method}"
    )
    raise GraphQLError(msg)


def read_arguments(
    sources: list[ArgumentSource], variables: dict[str, Any]
) -> dict[str, Any] | None:
    """Return the arguments of a field; None if graphql-core must report an error in them."""
    values = {}
    for name, variable, value, required in sources:
        if variable is None:
            values[name] = value
        elif variable in variables:
            known = values[name] = variables[variable]
            # Undefined: what graphql-core 3.2 has for a variable whose default is invalid.
            if known is Undefined or (required and known is None):
                return None
        else:
            try:
                default = get_input_default(value)
            except TypeError:  # an invalid default
                return None
            if default is Undefined:
                if required:
                    return None
            elif not IS_GRAPHQL_33 and type(default) not in PLAIN_TYPES:
                return None  # graphql-core 3.2 coerces objects anew for each call
            else:
                values[name] = default
    return values


class FieldGroups(dict[str, Any]):
    """The collected fields of a selection, in the form of graphql-core's methods."""

    __slots__ = ("selection",)
    selection: PlannedSelection


class PlanExecutor(BaseExecutor):  # type: ignore[misc]
    """One execution of a plan: the first, which graphql-core has built, or a further one."""

    plan: Any  # an OperationPlan
    # The last list whose rows asked for their paths: its path in compiled code, and as a Path.
    list_path: tuple[Value, Value] = (..., None)
    # The arguments of fields that get the same in each call. Not a cached property, which takes as
    # long as the arguments of a small operation.
    coerced_arguments: Mapping[PlannedField, dict[str, Any]] = MappingProxyType({})
    operation_extensions = None  # Strawberry's executor puts them into its info objects

    @classmethod
    def create(cls, plan: Value, root: Value, context: Value, variables: Value) -> Value:
        """Return an executor for a further run of a plan."""
        run = new_object(cls)
        copied = plan.own_attributes if cls is RepeatPlanExecutor else plan.prototype
        if copied:
            run.__dict__.update(copied)
        run.plan = plan
        run.root_value = root
        run.context_value = context
        run.variable_values = variables
        return run

    # Cached properties, since most runs need none of these objects.
    @cached_property
    def collected_errors(self) -> Value:
        """The errors of nullable positions, in the order of their occurrence."""
        return PlanErrors()

    if IS_GRAPHQL_33:
        # Not stored, as graphql-core does: they refer to the executor, and in a cycle the variables
        # of each first run of an operation would wait for the garbage collector.
        @property
        def async_helpers(self) -> Value:
            """The helpers of ``info.async_helpers``."""
            return graphql.type.GraphQLResolveInfoHelpers(
                gather=self.gather_async_work, track=self.track_async_work
            )

        @async_helpers.setter
        def async_helpers(self, _helpers: Value) -> None:
            pass

        @cached_property
        def background_futures(self) -> Value:
            """Work that continues although its result is not needed."""
            return set()

        @cached_property
        def pending_incremental_futures(self) -> Value:
            """Always empty: graphql-core itself executes incremental delivery."""
            return set()

        @cached_property
        def _stream_usages(self) -> Value:
            return graphql.pyutils.RefMap()

    def build_result(self, data: Value) -> Value:
        """Return the result, with its errors in the order of the installed graphql-core."""
        if IS_GRAPHQL_33:
            return self.build_response(data)
        return self.build_response(data, self.collected_errors.errors)

    @property
    def coerced_variables(self) -> dict[str, Any]:
        """The coerced variables by name."""
        values = self.variable_values
        return values.coerced if IS_GRAPHQL_33 else values  # type: ignore[no-any-return]

    # -- selection sets, which graphql-core's methods reach

    def collect_groups(self, kind: GraphQLOutputType, group: FieldGroup | None = None) -> Value:
        """Collect the fields below a group of fields, or without one those of the operation."""
        conditions, variables = self.plan.conditions, self.variable_values
        if conditions is not None:
            variables = conditions.include_fields(variables)
        given: tuple[Value, ...] = (self.schema, self.fragments, variables)
        if group is None:
            root = self.operation if IS_GRAPHQL_33 else self.operation.selection_set
            given, collect = (*given, kind, root), collect_fields
        else:
            operation = (self.operation,) if IS_GRAPHQL_33 else ()
            given, collect = (*given, *operation, kind, group), collect_subfields
        return collect(*given, self.hide_suggestions)[0] if IS_GRAPHQL_33 else collect(*given)

    if IS_GRAPHQL_33:

        def collect_and_execute_subfields(
            self,
            return_type: GraphQLOutputType,
            field_details_list: FieldGroup,
            path: LazyPath,
            result: Value,
            _context: object,
        ) -> Value:
            """Execute a selection set: by compiled code once that pays."""
            selection = self.plan.get_selection_below(self, return_type, field_details_list)
            return selection.enter(result, path, self)

    else:

        def collect_subfields(
            self, return_type: GraphQLOutputType, field_nodes: list[FieldNode]
        ) -> Value:
            """Return the fields of a selection set with the selection they belong to."""
            return self.plan.get_selection_below(self, return_type, field_nodes).groups

        def execute_fields(
            self, parent_type: GraphQLObjectType, source_value: Value, path: LazyPath, fields: Value
        ) -> Value:
            """Execute a selection set: by compiled code once that pays."""
            if type(fields) is FieldGroups:
                return fields.selection.enter(source_value, path, self)
            return super().execute_fields(parent_type, source_value, path, fields)

    def complete_list_value(
        self,
        return_type: GraphQLOutputType,
        group: FieldGroup,
        info: Value,
        path: LazyPath,
        result: Value,
        *more: Value,
    ) -> Value:
        """Complete a list: by compiled code if it is long, or if the plan is compiled."""
        known = type(result) in (list, tuple)
        if not known:
            reject_table(result, info)
        if len(result) >= LONG_LIST if known else self.plan.is_compiled and is_sync_rows(result):
            complete = self.plan.get_list_completer(
                info.parent_type, group, return_type, iterator=not known
            )
            return complete(result, path, self)
        return super().complete_list_value(return_type, group, info, path, result, *more)

    def complete_rows_uncompiled(
        self, rows: Value, field: PlannedField, kind: GraphQLOutputType, path: LazyPath
    ) -> Value:
        """Complete a list like graphql-core."""
        given = (kind, field.group, self.build_info(field, path), to_path(path), rows)
        return super().complete_list_value(*given, *NO_INCREMENTAL)

    def execute_field(self, *given: Value) -> Value:
        """Execute a field; one that is looked up in its parent, as compiled code does."""
        # Without named parameters and `super()`, with which the first run of an operation, which
        # knows no such field yet, takes 3 % longer.
        field = self.plan.direct_fields.get(id(given[2]))
        if field is None:
            return execute_field_by_core(self, *given)
        _, source, _, path, *_ = given
        # A third of the time of graphql-core's method, for a leaf.
        try:
            if isinstance(source, Mapping):
                value = source.get(field.field_name)
            else:
                value = getattr(source, field.field_name, None)
        except Exception as error:  # noqa: BLE001 - whatever a property raises
            return self.fail(error, field, path)
        if (value is None and field.leaf) or (field.is_usual and field.is_usual(value)):
            return value
        return self.complete_unusual(value, field, path)

    def execute_uncompiled(
        self, selection: PlannedSelection, source: Value, path: LazyPath
    ) -> Value:
        """Execute a selection set like graphql-core."""
        given = (selection.kind, source, to_path(path), selection.list_included_groups(self))
        # The plan's method for the fields of a mutation would enter the selection again.
        execute_field = self.__dict__.pop("execute_field", None) if path is None else None
        completed = super().execute_fields(*given, *NO_INCREMENTAL)
        if execute_field is not None:
            self.__dict__["execute_field"] = execute_field
        return completed

    # -- methods that compiled code calls; source_writer has their names in strings

    def fail(
        self,
        error: Exception,
        field: PlannedField,
        path: LazyPath,
        kind: GraphQLOutputType | None = None,
    ) -> None:
        """Collect an error of a nullable position; raise it, located, in any other."""
        kind = field.type if kind is None else kind
        keys = list_keys(path)
        known: GraphQLError | None
        if type(error) is GraphQLError and error.path is not None:  # of a field below
            known = error
        else:
            known = field.location.locate(error, keys)
        if known is not None:
            if is_non_null_type(kind) and (not IS_GRAPHQL_33 or self.error_propagation):
                raise known
            self.collected_errors.add_at(known, keys)
            return
        at = to_path(path)
        if IS_GRAPHQL_33:
            self.handle_field_error(error, kind, field.group, at)
        else:
            located = located_error(error, field.nodes, at.as_list())
            self.handle_field_error(located, kind, at)

    def fail_lookup(self, field: PlannedField, parent: LazyPath) -> None:
        """Collect or raise the current exception, of the look-up of a field; none if it is missing.

        `parent` is the path of the object it is looked up in.
        """
        error = cast("Exception", sys.exception())
        if not isinstance(error, AttributeError):
            self.fail(error, field, (parent, field.name, field.parent.name))

    def queue_field(
        self,
        value: Value,
        field: PlannedField,
        parent: LazyPath,
        waiting: list[Value] | None,
    ) -> tuple[Value, list[Value] | None]:
        """Complete a value of an unusual type; return it, and the list of values to be awaited.

        `parent` is the path of the object it is a field of.
        """
        path = (parent, field.name, field.parent.name)
        if field.is_usual is not None and not callable(value) and not self.is_awaitable(value):
            # With as few frames as possible: the traceback of an error keeps them all.
            try:
                if value is None or value is Undefined or isinstance(value, Exception):
                    return self.complete_uncompiled(value, field, field.type, path), waiting
                kind: Any = get_nullable_type(field.type)
                return self.complete_leaf_value(kind, value), waiting
            except Exception as error:  # noqa: BLE001 - whatever is raised for or by the value
                self.fail(error, field, path)
                return None, waiting
        complete = self.complete_unusual if field.default else self.complete_field
        return queue_awaitable(complete(value, field, path), field.name, waiting)

    def execute_field_uncompiled(self, field: PlannedField, source: Value, path: LazyPath) -> Value:
        """Resolve and complete a field like graphql-core."""
        given = (field.parent, source, field.group, to_path(path))
        # Not self.execute_field: that of a mutation executes its fields by compiled code.
        return type(self).execute_field(self, *given, *NO_INCREMENTAL)

    def build_info(self, field: PlannedField, path: LazyPath) -> Value:
        """Return the info object of a field, given its path or that of an item of its list."""
        # Compiled code has such an expression inline: the call would cost as much as the object.
        cls = self.plan.info_classes["Info"]
        return new_tuple(cls, (field, strip_list_indices(path), self))

    def build_resolve_info(self, *given: Value) -> Value:
        """Return the info object of a field that graphql-core's methods execute."""
        library = self.plan.library or BaseExecutor
        return library.build_resolve_info(self, *given)

    def coerce_arguments(self, field: PlannedField) -> dict[str, Any]:
        """Return the coerced arguments of a field, a new dict each time.

        Raises
        ------
        GraphQLError
            If a value does not match its type; the error is graphql-core's.
        """
        known: Any = self.coerced_arguments
        if not known:
            known = self.coerced_arguments = {}
        cached: dict[str, Any] | None = known.get(field)
        if cached is not None:
            return cached.copy()
        if field.arguments is not None:
            read = read_arguments(field.arguments, self.coerced_variables)
            if read is not None:
                known[field] = read
                return read.copy()
        more = (None, self.hide_suggestions) if IS_GRAPHQL_33 else ()
        # For each call: objects are new ones, and custom scalars are parsed again.
        return get_argument_values(field.definition, field.nodes[0], self.variable_values, *more)

    def accepts_arguments(self, field: PlannedField) -> bool:
        """Return whether the arguments of a field can be coerced."""
        try:
            self.coerce_arguments(field)
        except Exception:  # noqa: BLE001 - whatever a scalar raises; it is raised for each object
            return False
        return True

    @cached_property
    def tallies(self) -> dict[PlannedField, list[float]]:
        """Calls and seconds of each field, in a profile."""
        return {}

    def tally(self, field: PlannedField, seconds: float, calls: int = 1) -> None:
        """Add calls and seconds of a field."""
        entry = self.tallies.setdefault(field, [0, 0.0])
        entry[0] += calls
        entry[1] += seconds

    def complete_unusual(self, value: Value, field: PlannedField, path: LazyPath) -> Value:
        """Complete a value of an unusual type; return a coroutine if it must be awaited."""
        try:
            if not field.default or not callable(value):
                return self.complete_field(value, field, path)
            value = value(self.build_info(field, path), **self.coerce_arguments(field))
            if self.is_awaitable(value):
                return self.complete_field(value, field, path)
            completed = field.completer(value, path, self)  # now its type is probably usual
            return self.guard(completed, field, path) if self.is_awaitable(completed) else completed
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises
            return self.fail(error, field, path)

    def complete_field(self, value: Value, field: PlannedField, path: LazyPath) -> Value:
        """Complete the value of a field; return a coroutine if it must be awaited."""
        usual = type(value) is CORO and self.plan.is_awaitable is None
        if usual or self.is_awaitable(value):
            return self.await_field(value, field, path)
        completed = self.complete_uncompiled(value, field, field.type, path)
        if self.is_awaitable(completed):
            return self.guard(completed, field, path)
        return completed

    def complete_uncompiled(
        self, value: Value, field: PlannedField, kind: GraphQLOutputType, path: LazyPath
    ) -> Value:
        """Complete a value like graphql-core.

        Raises
        ------
        Exception
            The error of the value, or its own if it is one.
        """
        # What most errors come from is decided here, without an info object and further frames,
        # which the traceback of each error would keep.
        if isinstance(value, Exception):
            raise value
        inner = get_nullable_type(kind)
        if value is None or value is Undefined:
            if inner is kind:
                return None
            place = f"{field.parent.name}.{field.field_name}"
            msg = f"Cannot return null for non-nullable field {place}."
            raise TypeError(msg)
        if is_leaf_type(inner):
            return self.complete_leaf_value(inner, value)
        given = (kind, field.group, self.build_info(field, path), to_path(path), value)
        return self.complete_value(*given, *NO_INCREMENTAL)

    def check_serialized(
        self,
        serialized: Value,
        value: Value,
        kind: AnyGraphQLType,
        field: PlannedField,
        path: LazyPath,
        item: GraphQLOutputType | None = None,
    ) -> Value:
        """Return a serialized value; a coroutine of it if it must be awaited.

        Raises
        ------
        TypeError
            If it is null; the error is graphql-core's.
        """
        answer = copy(kind)
        setattr(answer, SERIALIZER_NAME, lambda _: serialized)
        completed = self.complete_leaf_value(answer, value)
        return (
            self.guard(completed, field, path, item) if self.is_awaitable(completed) else completed
        )

    def complete_unusual_item(
        self, value: Value, field: PlannedField, kind: GraphQLOutputType, path: LazyPath
    ) -> Value:
        """Complete an item of an unusual type."""
        try:
            if self.is_awaitable(value):
                return self.await_item(value, field, kind, path)
            completed = self.complete_uncompiled(value, field, kind, path)
            if self.is_awaitable(completed):
                return self.guard(completed, field, path, kind)
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises
            return self.fail(error, field, path, kind)
        return completed

    def enter_tested(
        self,
        answer: Value,
        value: Value,
        field: PlannedField,
        path: LazyPath,
        kind: GraphQLObjectType,
    ) -> Value:
        """Complete an object, given the answer of the predicate of its type.

        Raises
        ------
        GraphQLError
            If it is not of the type.
        """
        if answer is not True and self.is_awaitable(answer):
            return self.await_test(answer, value, field, path, kind)
        if not answer:
            raise invalid_return_type_error(kind, value, field.group)
        return self.plan.get_selection_below(self, kind, field.group).enter(value, path, self)

    # -- coroutines that compiled code awaits

    async def await_test(self, answer: Awaitable[Value], *position: Value) -> Value:
        """Await the answer of a predicate, then complete the object."""
        completed = self.enter_tested(bool(await answer), *position)
        return await completed if self.is_awaitable(completed) else completed

    async def await_field(
        self, value: Awaitable[Value], field: PlannedField, path: LazyPath
    ) -> Value:
        """Await the value of a field and complete it."""
        try:
            if self.plan.timed:
                value = self.await_timed(value, field)
            awaited = await value
            if type(awaited) is field.exact:
                return awaited
            completed = field.completer(awaited, path, self)
            if completed is None or type(completed) in PLAIN_TYPES:
                return completed
            return await completed if self.is_awaitable(completed) else completed
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises
            return self.fail(error, field, path)

    async def await_timed(self, value: Awaitable[Value], field: PlannedField) -> Value:
        """Await a value and add the seconds to its field."""
        start = perf_counter()
        try:
            return await value
        finally:
            self.tally(field, perf_counter() - start, calls=0)

    async def await_single_leaf(
        self,
        result: Value,
        key: str,
        value: Value,
        field: PlannedField,
        path: LazyPath,
        *taker: Value,
    ) -> Value:
        """Await the one leaf that an object waits for.

        If the object may be null, `taker` is the position that takes an error of the leaf: field,
        path and type.
        """
        try:
            awaited = await value
            if type(awaited) is not field.exact:
                awaited = field.completer(awaited, path, self)
                if type(awaited) not in PLAIN_TYPES and self.is_awaitable(awaited):
                    awaited = await awaited
            result[key] = awaited
        except CancelledError:  # by a resolver, or with the task
            await yield_to_loop(SINGLE_LEAF_TURNS + ERROR_TURNS)
            raise
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises
            await yield_to_loop(SINGLE_LEAF_TURNS)
            try:
                self.fail(error, field, path)
            except Exception as located:
                await yield_to_loop(ERROR_TURNS)
                if not taker:
                    raise
                return self.fail(located, *taker)
            result[key] = None
        return result

    async def await_item(
        self, value: Awaitable[Value], field: PlannedField, kind: GraphQLOutputType, path: LazyPath
    ) -> Value:
        """Await an item of a list and complete it."""
        try:
            completed = self.complete_uncompiled(await value, field, kind, path)
            return await completed if self.is_awaitable(completed) else completed
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises
            return self.fail(error, field, path, kind)

    async def guard(
        self,
        value: Awaitable[Value],
        field: PlannedField,
        path: LazyPath,
        kind: GraphQLOutputType | None = None,
    ) -> Value:
        """Await a completed value; collect or raise its error."""
        try:
            return await value
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises
            return self.fail(error, field, path, kind)

    async def join(self, result: Value, waiting: list[tuple[str | int, Awaitable[Value]]]) -> Value:
        """Await the missing members of a dict or list, all at once."""
        if len(waiting) == 1:
            key, value = waiting[0]
            result[key] = await (value if IS_GRAPHQL_33 else await_after_turn(value))
            return result
        await await_members(result, waiting)
        return result

    async def join_items(self, result: list[Value], waiting: list[tuple[int, Value]]) -> Value:
        """Version of :meth:`join` for a list, in which an item may wait for one future."""
        if can_gather_leaves(waiting):
            await await_leaves(self, result, waiting)
            return result
        return await self.join(result, [(key, self.to_awaitable(value)) for key, value in waiting])

    def to_awaitable(self, value: Value) -> Awaitable[Value]:
        """Return a coroutine of an item that waits for one future; other awaitables as they are."""
        return self.await_single_leaf(*value) if type(value) is tuple else value

    async def join_guarded(
        self,
        result: Value,
        waiting: list[tuple[str | int, Awaitable[Value]]],
        field: PlannedField,
        path: LazyPath,
        kind: GraphQLOutputType,
    ) -> Value:
        """Version of :meth:`join` for a nullable position, which takes the error."""
        try:
            return await self.join(result, waiting)
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises
            return self.fail(error, field, path, kind)

    def settle(self, waiting: Value, rest: Value = ()) -> None:
        """Let awaitables that will not be awaited end in the background."""
        values = [self.to_awaitable(value) for _, value in waiting or ()]
        with suppress(Exception):  # of the iterator that a resolver returned
            values.extend(value for value in rest if self.is_awaitable(value))
        if values:
            self.settle_in_background(values)


# A repeated run copies attributes from the plan's first run when it needs them: a run without
# unusual values never does.
class RepeatPlanExecutor(PlanExecutor):
    """A further execution of a plan."""

    def __getattr__(self, name: str) -> Value:
        """Copy all attributes of the plan's first run."""
        plan = self.__dict__.get("plan")
        if plan is None or name not in plan.prototype:
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message)
        for key, value in plan.prototype.items():
            self.__dict__.setdefault(key, value)
        return plan.prototype[name]

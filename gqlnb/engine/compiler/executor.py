"""Response paths and info objects, made only when somebody looks at them."""

from __future__ import annotations

from functools import cached_property
from time import perf_counter
from types import coroutine
from typing import TYPE_CHECKING, Any, Protocol

from graphql import GraphQLResolveInfo
from graphql.error import located_error
from graphql.execution.values import get_argument_values
from graphql.pyutils import Path

from gqlnb.engine.graphql_compat import (
    CORO,
    IS_GRAPHQL_33,
    PLAIN_TYPES,
    BaseExecutor,
    CollectedErrors,
    collect_fields,
    collect_subfields,
    gather_all,
    invalid_return_type_error,
    new_object,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Generator

__all__ = [
    "FieldGroups",
    "Info",
    "LazyPath",
    "PlanExecutor",
    "PlannedField",
    "RepeatPlanExecutor",
    "strip_list_indices",
    "to_path",
]

# A path as compiled code makes it: nested (previous, key, type name), which is the layout of
# graphql-core's Path; only what leaves the compiled code becomes one.
LazyPath = tuple[Any, Any, Any] | None


def to_path(path: LazyPath) -> Any:
    """Return graphql-core's Path of a nested tuple."""
    if path is None or type(path) is Path:
        return path
    keys = []
    while path is not None and type(path) is not Path:
        keys.append(path)
        path = path[0]
    made = path
    for _, key, name in reversed(keys):
        made = Path(made, key, name)
    return made


def strip_list_indices(path: LazyPath) -> LazyPath:
    """Return the path of the field that a place in its list belongs to."""
    while path is not None and type(path[1]) is int:
        path = path[0]
    return path


# A reader of a tuple's member that ``__getitem__`` does not come between.
_member: Any = type(GraphQLResolveInfo.path)


def _build_field_property(index: int) -> property:
    return property(lambda self: self._field.head[index])


class Info(tuple[Any, ...]):
    """The info object of a resolver, in the place of graphql-core's and taken for one.

    It holds a field, a path and a run, and looks everything up when it is read: most resolvers
    read one member or none.
    """

    __slots__ = ()
    _field: Any = _member(0, "")
    _path: Any = _member(1, "")
    _run: Any = _member(2, "")
    _fields = GraphQLResolveInfo._fields

    field_name = _build_field_property(0)
    field_nodes = _build_field_property(1)
    return_type = _build_field_property(2)
    parent_type = _build_field_property(3)
    path = property(lambda self: to_path(self._path))
    schema = property(lambda self: self._run.plan.schema)
    fragments = property(lambda self: self._run.plan.fragments)
    root_value = property(lambda self: self._run.root_value)
    operation = property(lambda self: self._run.plan.operation)
    variable_values = property(lambda self: self._run.variable_values)
    context = property(lambda self: self._run.context_value)
    is_awaitable = property(lambda self: self._run.plan.awaits)
    abort_signal = None  # an execution with one is graphql-core's own
    async_helpers = property(lambda self: self._run.async_helpers)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class it stands for, so that ``isinstance`` agrees."""
        return GraphQLResolveInfo

    def __iter__(self) -> Any:
        return iter([getattr(self, name) for name in self._fields])

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, index: Any) -> Any:
        return tuple(iter(self))[index]

    def __eq__(self, other: object) -> bool:
        return tuple(iter(self)) == other

    def __hash__(self) -> int:
        return hash(tuple(iter(self)))  # an error, as with graphql-core's: it holds lists

    def __repr__(self) -> str:
        return repr(self._build_real_info())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._build_real_info(), name)

    def _build_real_info(self) -> Any:
        return GraphQLResolveInfo(*iter(self))


Info.__name__ = Info.__qualname__ = GraphQLResolveInfo.__name__  # error messages say it

LONG_LIST = 64  # items of a list that is compiled when it is first seen


class PlannedField(Protocol):
    """What a run must know of a field; see :class:`gqlnb.engine.compiler.plans.PlannedField`."""

    parent: Any
    group: Any
    nodes: Any
    head: tuple[Any, ...]
    definition: Any
    type: Any
    default: bool
    exact: Any
    leaf: bool

    @property
    def completer(self) -> Any:
        """The function that completes an awaited value."""


class PlannedSelection(Protocol):
    """What a run must know of a selection; see :class:`gqlnb.engine.compiler.plans.PlannedSelection`."""

    kind: Any
    groups: Any

    def enter(self, source: Any, path: Any, run: Any) -> Any:
        """Execute it."""


@coroutine
def yield_to_loop() -> Generator[None, None, None]:
    """Let everything that is ready run once."""
    yield


async def await_after_turn(value: Awaitable[Any]) -> Any:
    """Await a single value when ``gather`` would have run it, without its task.

    graphql-core 3.2 gathers even one value: the task starts a turn of the loop later, and an error
    of it comes up two turns after it ends. Errors that race for a null depend on that; a value
    that is there two turns early changes nothing, nor does a leaf, below which nothing can fail.
    """
    await yield_to_loop()
    try:
        return await value
    except Exception:
        await yield_to_loop()
        await yield_to_loop()
        raise


class FieldGroups(dict[str, Any]):
    """The collected fields of a selection, as graphql-core's methods take them."""

    __slots__ = ("selection",)
    selection: Any


class PlanExecutor(BaseExecutor):  # type: ignore[misc]
    """One execution of a plan: the first, which graphql-core has built, or a further one."""

    plan: Any

    @cached_property
    def collected_errors(self) -> Any:
        """The errors of nullable positions, in the order they arose."""
        return CollectedErrors()

    @cached_property
    def _coerced_arguments(self) -> dict[PlannedField, dict[str, Any]]:
        return {}

    if IS_GRAPHQL_33:

        @cached_property
        def async_helpers(self) -> Any:
            """What resolvers may gather and track with."""
            from graphql.type import GraphQLResolveInfoHelpers

            return GraphQLResolveInfoHelpers(
                gather=self.gather_async_work, track=self.track_async_work
            )

        @cached_property
        def background_futures(self) -> Any:
            """Work that goes on although nobody waits for it."""
            return set()

        @cached_property
        def pending_incremental_futures(self) -> Any:
            """Nothing: the engine hands incremental delivery over."""
            return set()

        @cached_property
        def _stream_usages(self) -> Any:
            from graphql.pyutils import RefMap

            return RefMap()

    def build_result(self, data: Any) -> Any:
        """Return the result of this run, its errors in the order of the installed graphql-core."""
        if IS_GRAPHQL_33:
            return self.build_response(data)
        return self.build_response(data, self.collected_errors.errors)

    # -- where graphql-core comes to a selection set

    def collect_root_fields(self, kind: Any) -> Any:
        """Collect the fields of the operation itself."""
        if IS_GRAPHQL_33:
            return collect_fields(
                self.schema,
                self.fragments,
                self.variable_values,
                kind,
                self.operation,
                self.hide_suggestions,
            )[0]
        return collect_fields(
            self.schema, self.fragments, self.variable_values, kind, self.operation.selection_set
        )

    def collect_fields_below(self, kind: Any, group: Any) -> Any:
        """Collect the fields below a group of fields."""
        if IS_GRAPHQL_33:
            return collect_subfields(
                self.schema,
                self.fragments,
                self.variable_values,
                self.operation,
                kind,
                group,
                self.hide_suggestions,
            )[0]
        return collect_subfields(self.schema, self.fragments, self.variable_values, kind, group)

    if IS_GRAPHQL_33:

        def collect_and_execute_subfields(
            self, return_type: Any, field_details_list: Any, path: Any, result: Any, _context: Any
        ) -> Any:
            """Execute a selection set: compiled once it is worth it."""
            selection = self.plan.get_selection_below(self, return_type, field_details_list)
            return selection.enter(result, path, self)

    else:

        def collect_subfields(self, return_type: Any, field_nodes: Any) -> Any:
            """Return the fields of a selection set with the selection they belong to."""
            return self.plan.get_selection_below(self, return_type, field_nodes).groups

        def execute_fields(
            self, parent_type: Any, source_value: Any, path: Any, fields: Any
        ) -> Any:
            """Execute a selection set: compiled once it is worth it."""
            if type(fields) is FieldGroups:
                return fields.selection.enter(source_value, path, self)
            return super().execute_fields(parent_type, source_value, path, fields)

    def complete_list_value(
        self, return_type: Any, group: Any, info: Any, path: Any, result: Any, *more: Any
    ) -> Any:
        """Complete a list: compiled, where it is long enough to pay at once."""
        if type(result) in (list, tuple) and len(result) >= LONG_LIST:
            return self.plan.get_list_completer(info.parent_type, group, return_type)(
                result, path, self
            )
        return super().complete_list_value(return_type, group, info, path, result, *more)

    def execute_uncompiled(self, selection: PlannedSelection, source: Any, path: Any) -> Any:
        """Execute a selection set as graphql-core does."""
        given = (selection.kind, source, to_path(path), dict(selection.groups))
        return (
            super().execute_fields(*given, None)
            if IS_GRAPHQL_33
            else super().execute_fields(*given)
        )

    # -- what compiled code calls

    def fail(self, error: Exception, field: PlannedField, path: LazyPath, kind: Any = None) -> None:
        """Collect an error where the type is nullable, and raise it, located, where it is not."""
        kind = field.type if kind is None else kind
        at = to_path(path)
        if IS_GRAPHQL_33:
            self.handle_field_error(error, kind, field.group, at)
        else:
            located = located_error(error, field.nodes, at.as_list())
            self.handle_field_error(located, kind, at)

    def execute_planned_field(self, field: PlannedField, source: Any, path: LazyPath) -> Any:
        """Resolve and complete a field as graphql-core does."""
        given = (field.parent, source, field.group, to_path(path))
        return self.execute_field(*given, None) if IS_GRAPHQL_33 else self.execute_field(*given)

    def build_info(self, field: PlannedField, path: LazyPath) -> Any:
        """Return the info object of a field."""
        return tuple.__new__(Info, (field, path, self))

    def coerce_arguments(self, field: PlannedField) -> dict[str, Any]:
        """Return the coerced arguments of a field, a new dict each time.

        Raises
        ------
        GraphQLError
            If a value does not fit; as graphql-core says it.
        """
        known = self._coerced_arguments.get(field)
        if known is not None:
            return known.copy()
        more = (None, self.hide_suggestions) if IS_GRAPHQL_33 else ()
        made = get_argument_values(field.definition, field.nodes[0], self.variable_values, *more)
        if all(value is None or type(value) in PLAIN_TYPES for value in made.values()):
            self._coerced_arguments[field] = (
                made.copy()
            )  # nothing in it could be changed by a resolver
        return made

    @cached_property
    def tallies(self) -> dict[PlannedField, list[float]]:
        """Calls and seconds of each field, in a plan that is being profiled."""
        return {}

    def tally(self, field: PlannedField, seconds: float, calls: int = 1) -> None:
        """Count a field that is done."""
        entry = self.tallies.setdefault(field, [0, 0.0])
        entry[0] += calls
        entry[1] += seconds

    def complete_unusual(self, value: Any, field: PlannedField, path: LazyPath) -> Any:
        """Complete a value that is not of the usual kind; a coroutine where one must wait."""
        try:
            if not field.default or not callable(value):
                return self.complete_field(value, field, path)
            value = value(self.build_info(field, path), **self.coerce_arguments(field))
            if self.is_awaitable(value):
                return self.complete_field(value, field, path)
            completed = field.completer(value, path, self)  # now it is likely a usual one
            return self.guard(completed, field, path) if self.is_awaitable(completed) else completed
        except Exception as error:  # whatever a resolver raises
            return self.fail(error, field, path)

    def complete_field(self, value: Any, field: PlannedField, path: LazyPath) -> Any:
        """Complete the value of a field; a coroutine where one must wait."""
        usual = type(value) is CORO and self.plan.is_awaitable is None
        if usual or self.is_awaitable(value):
            return (self.await_leaf if field.leaf else self.await_field)(value, field, path)
        completed = self.complete_uncompiled(value, field, field.type, path)
        if self.is_awaitable(completed):
            return self.guard(completed, field, path)
        return completed

    def complete_uncompiled(
        self, value: Any, field: PlannedField, kind: Any, path: LazyPath
    ) -> Any:
        """Complete a value as graphql-core does."""
        given = (kind, field.group, self.build_info(field, path), to_path(path), value)
        return self.complete_value(*given, None) if IS_GRAPHQL_33 else self.complete_value(*given)

    def complete_unusual_item(
        self, value: Any, field: PlannedField, kind: Any, path: LazyPath
    ) -> Any:
        """Complete an item of a list that is not of the usual kind."""
        try:
            if self.is_awaitable(value):
                return self.await_item(value, field, kind, path)
            completed = self.complete_item(value, field, kind, path)
            if self.is_awaitable(completed):
                return self.guard(completed, field, path, kind)
        except Exception as error:  # whatever a resolver raises
            return self.fail(error, field, path, kind)
        return completed

    def complete_item(self, value: Any, field: PlannedField, kind: Any, path: LazyPath) -> Any:
        """Complete an item as graphql-core does: with the info of the list's field."""
        given = (
            kind,
            field.group,
            self.build_info(field, strip_list_indices(path)),
            to_path(path),
            value,
        )
        return self.complete_value(*given, None) if IS_GRAPHQL_33 else self.complete_value(*given)

    def check_type_and_enter(
        self, value: Any, field: PlannedField, selection: PlannedSelection, path: LazyPath
    ) -> Any:
        """Execute a selection on a value whose type has ``is_type_of``."""
        kind = selection.kind
        answer = kind.is_type_of(value, self.build_info(field, strip_list_indices(path)))
        if answer is True:
            return selection.enter(value, path, self)
        if self.is_awaitable(answer):
            return self.await_type_and_enter(answer, value, field, selection, path)
        if not answer:
            raise invalid_return_type_error(kind, value, field.group)
        return selection.enter(value, path, self)

    async def await_type_and_enter(
        self,
        answer: Any,
        value: Any,
        field: PlannedField,
        selection: PlannedSelection,
        path: LazyPath,
    ) -> Any:
        """Await ``is_type_of``, then execute the selection."""
        if not await answer:
            raise invalid_return_type_error(selection.kind, value, field.group)
        made = selection.enter(value, path, self)
        return await made if self.is_awaitable(made) else made

    # -- what compiled code awaits

    async def await_field(self, value: Awaitable[Any], field: PlannedField, path: LazyPath) -> Any:
        """Await the value of a field and complete it."""
        try:
            if self.plan.timed:
                value = self.await_timed(value, field)
            completed = field.completer(await value, path, self)
            return await completed if self.is_awaitable(completed) else completed
        except Exception as error:  # whatever a resolver raises
            return self.fail(error, field, path)

    async def await_leaf(self, value: Awaitable[Any], field: PlannedField, path: LazyPath) -> Any:
        """Await the value of a leaf and complete it."""
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
        except Exception as error:  # whatever a resolver raises
            return self.fail(error, field, path)

    async def await_timed(self, value: Awaitable[Any], field: PlannedField) -> Any:
        """Await a value and count the seconds."""
        start = perf_counter()
        try:
            return await value
        finally:
            self.tally(field, perf_counter() - start, calls=0)

    async def await_single_leaf(
        self, made: Any, key: str, value: Any, field: PlannedField, path: LazyPath, *taker: Any
    ) -> Any:
        """Await the one leaf that an object waits for.

        Where the object may be null, `taker` says which position takes an error of the leaf. The
        leaf has started a turn before graphql-core 3.2 would start it (see :func:`await_after_turn`);
        an error waits for that.
        """
        try:
            awaited = await value
            if type(awaited) is not field.exact:
                awaited = field.completer(awaited, path, self)
                if type(awaited) not in PLAIN_TYPES and self.is_awaitable(awaited):
                    awaited = await awaited
            made[key] = awaited
        except Exception as error:  # whatever a resolver raises
            if not IS_GRAPHQL_33:
                await yield_to_loop()
            try:
                self.fail(error, field, path)
            except Exception as located:
                if not IS_GRAPHQL_33:
                    await yield_to_loop()
                    await yield_to_loop()
                if not taker:
                    raise
                return self.fail(located, *taker)
            made[key] = None
        return made

    async def await_item(
        self, value: Awaitable[Any], field: PlannedField, kind: Any, path: LazyPath
    ) -> Any:
        """Await an item of a list and complete it."""
        try:
            completed = self.complete_item(await value, field, kind, path)
            return await completed if self.is_awaitable(completed) else completed
        except Exception as error:  # whatever a resolver raises
            return self.fail(error, field, path, kind)

    async def guard(
        self, value: Awaitable[Any], field: PlannedField, path: LazyPath, kind: Any = None
    ) -> Any:
        """Await a completed value; its error is collected or raised on."""
        try:
            return await value
        except Exception as error:  # whatever a resolver raises
            return self.fail(error, field, path, kind)

    async def join(self, made: Any, waiting: list[tuple[Any, Awaitable[Any]]]) -> Any:
        """Await the members of a dict or list that are not there yet, all at once."""
        if len(waiting) == 1:
            key, value = waiting[0]
            if not IS_GRAPHQL_33 and getattr(value, "cr_code", None) is not AWAIT_LEAF_CODE:
                value = await_after_turn(value)
            made[key] = await value
            return made
        values = [value for _, value in waiting]
        done = await gather_all(*values)
        for (key, _), value in zip(waiting, done, strict=True):
            made[key] = value
        return made

    async def join_guarded(
        self,
        made: Any,
        waiting: list[tuple[Any, Awaitable[Any]]],
        field: PlannedField,
        path: LazyPath,
        kind: Any,
    ) -> Any:
        """Do as :meth:`join` in a nullable position, which takes the error."""
        try:
            if len(waiting) == 1:
                key, value = waiting[0]
                if IS_GRAPHQL_33 or getattr(value, "cr_code", None) is AWAIT_LEAF_CODE:
                    made[key] = await value
                    return made
            return await self.join(made, waiting)
        except Exception as error:  # whatever a resolver raises
            return self.fail(error, field, path, kind)

    def settle(self, waiting: Any, rest: Any = ()) -> None:
        """Let what nobody will await come to its end in the background."""
        values = [value for _, value in waiting or ()]
        values += [value for value in rest if self.is_awaitable(value)]
        if values:
            self.settle_in_background(values)


class RepeatPlanExecutor(PlanExecutor):
    """A further execution of a plan.

    It takes its attributes from the plan's first run when it comes to need them: a run in which
    nothing is unusual never does.
    """

    @classmethod
    def create(cls, plan: Any, root: Any, context: Any, variables: Any) -> PlanExecutor:
        """Return a run of a plan."""
        run = new_object(cls)
        run.plan = plan
        run.root_value = root
        run.context_value = context
        run.variable_values = variables
        if plan.own_attributes:
            run.__dict__.update(plan.own_attributes)
        return run

    def __getattr__(self, name: str) -> Any:
        """Take what the unusual needs from the plan's first run, all at once."""
        plan = self.__dict__.get("plan")
        if plan is None or name not in plan.prototype:
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message)
        for key, value in plan.prototype.items():
            self.__dict__.setdefault(key, value)
        return plan.prototype[name]


AWAIT_LEAF_CODE = PlanExecutor.await_leaf.__code__

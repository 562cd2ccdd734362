"""The kind of a Python type, and the object type of an abstract type's value."""

from __future__ import annotations

from collections.abc import Mapping
from types import CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Any

from graphql import Undefined, default_type_resolver

from gqlnb.engine.compiler.executor import strip_list_indices
from gqlnb.engine.graphql_compat import Value

if TYPE_CHECKING:
    from gqlnb.engine.compiler.executor import CompiledFunction, LazyPath, PlanExecutor
    from gqlnb.engine.compiler.plans import FieldPlan, OperationPlan

__all__ = [
    "MAX_TYPES",
    "OBJECT",
    "UNUSUAL",
    "AbstractTypeResolver",
    "classify_type",
    "is_mapping",
    "mapping_types",
    "type_kinds",
]

MAX_TYPES = 1000  # Python types remembered; a program has few whose values it serves

# A dict; another object whose attributes are its fields; values left to graphql-core: null,
# exceptions, awaitables, callables, other mappings, and objects with computed attributes.
DICT, OBJECT, UNUSUAL = 1, 2, 3
NEVER_OBJECTS = (
    BaseException,
    Mapping,
    CoroutineType,
    GeneratorType,
    type,
    type(None),
    type(Undefined),
)

type_kinds: dict[type, int] = {dict: DICT}
mapping_types: dict[type, bool] = {dict: True}


def classify_type(cls: type) -> int:
    """Return the kind of a Python type, and cache it in `type_kinds`."""
    if len(type_kinds) > MAX_TYPES:
        type_kinds.clear()
        type_kinds[dict] = DICT
    unusual = issubclass(cls, NEVER_OBJECTS) or has_special_members(cls)
    type_kinds[cls] = UNUSUAL if unusual else OBJECT
    return type_kinds[cls]


def has_special_members(cls: type) -> bool:
    """Return whether values of a type are callable or awaitable, or compute attributes."""
    # Not hasattr: every class has __call__, through its metaclass.
    members = {name for base in cls.__mro__ for name in vars(base)}
    reads: object = cls.__getattribute__
    # Methods in C, such as SimpleNamespace's, look attributes up like object's own.
    computed = type(reads).__name__ != "wrapper_descriptor"
    return computed or bool(members & {"__getattr__", "__call__", "__await__"})


def is_mapping(cls: type) -> bool:
    """Return whether a type is a mapping, and cache it in `mapping_types`."""
    if len(mapping_types) > MAX_TYPES:
        mapping_types.clear()
    mapping_types[cls] = issubclass(cls, Mapping)
    return mapping_types[cls]


class AbstractTypeResolver:
    """Finds the object type of an abstract type's value, and executes its selection.

    Called as ``(value, path, run)`` with a value that is neither null nor unusual. The default
    resolution is graphql-core's, in its order: ``__typename`` of the value, then ``is_type_of`` of
    each possible type. A predicate that has returned True is not called a second time.
    """

    def __init__(self, plan: OperationPlan, field: FieldPlan, kind: Any) -> None:
        self.plan, self.field, self.kind = plan, field, kind
        self.resolve: Any = kind.resolve_type or plan.type_resolver
        self.default = self.resolve is default_type_resolver
        self.native = getattr(self.resolve, "gqlnb_native", None)
        self.types_with_test: list[Any] = [
            k for k in plan.list_possible_types(kind) if k.is_type_of is not None
        ]
        # By type name: functions for dicts, for any value, and for one that has passed the test.
        self.dict_functions: dict[str, CompiledFunction] = {}
        self.functions: dict[str, CompiledFunction] = {}
        self.tested_functions: dict[str, CompiledFunction] = {}
        self.typename_attributes: dict[type, tuple[str, ...]] = {}

    def __call__(self, value: Value, path: LazyPath, run: PlanExecutor) -> Value:
        """Return the completed value, or a coroutine of it."""
        if self.native is not None:
            name = self.native(value, run.context_value)
            enter = self.functions.get(name) if type(name) is str else None
            if enter is not None:
                return enter(value, path, run)
        elif not self.default:
            name = self.resolve(
                value, run.build_info(self.field, strip_list_indices(path)), self.kind
            )
        elif type(value) is dict:
            name = value.get("__typename")
        else:
            name = self.read_typename(value)
        return self.enter_named_type(name, value, path, run)

    def enter_named_type(
        self, name: Value, value: Value, path: LazyPath, run: PlanExecutor
    ) -> Value:
        """Return the completed value, given the result of the type resolver."""
        if type(name) is str:
            enter = self.functions.get(name)
            if enter is not None:
                return enter(value, path, run)
        elif self.default and not isinstance(name, str):
            return self.ask_possible_types(value, path, run)
        return self.resolve_first(name, value, path, run)

    def read_typename(self, value: Value) -> Any:
        """Return the attribute ``__typename``, a name that Python mangles in a class."""
        cls = value.__class__
        names = self.typename_attributes.get(cls)
        if names is None:
            names = self.typename_attributes[cls] = tuple(
                f"_{c.__name__}__typename" for c in cls.__mro__
            )
        for name in names:
            found = getattr(value, name, None)
            if found:
                return found
        return None

    def ask_possible_types(self, value: Value, path: LazyPath, run: PlanExecutor) -> Value:
        """Test the value by ``is_type_of`` of each possible type."""
        info = run.build_info(self.field, strip_list_indices(path))
        for kind in self.types_with_test:
            answer = kind.is_type_of(value, info)
            if answer is True or (answer and not run.is_awaitable(answer)):
                enter = self.tested_functions.get(kind.name)
                if enter is None:
                    enter = self.plan.get_selection_below(
                        run, kind, self.field.group
                    ).get_function()
                    self.tested_functions[kind.name] = enter
                return enter(value, path, run)
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
        info = run.build_info(self.field, strip_list_indices(path))
        kind = run.ensure_valid_runtime_type(name, self.kind, self.field.group, info, value)
        selection = self.plan.get_selection_below(run, kind, self.field.group)
        if kind.is_type_of is not None:
            return run.check_type_and_enter(value, self.field, selection, path)
        if type(name) is str:
            self.functions[name] = selection.get_function()
            self.dict_functions[name] = self.plan.compiler.get_variant(selection, dicts=True)
        return selection.enter(value, path, run)

    async def resolve_later(
        self, name: Value, value: Value, path: LazyPath, run: PlanExecutor
    ) -> Value:
        """Await the name of the type, then complete the value."""
        completed = self.resolve_first(await name, value, path, run)
        return await completed if run.is_awaitable(completed) else completed

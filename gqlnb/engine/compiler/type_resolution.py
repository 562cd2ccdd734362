"""The object type of an abstract type's value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from graphql import default_type_resolver

from gqlnb.engine.compiler.python_types import MAX_TYPES
from gqlnb.engine.graphql_compat import (
    IS_GRAPHQL_33,
    AnyGraphQLType,
    Value,
)

if TYPE_CHECKING:
    from gqlnb.engine.compiler.executor import CompiledFunction, PlanExecutor
    from gqlnb.engine.compiler.plans import FieldPlan, OperationPlan
    from gqlnb.engine.compiler.resolve_info import LazyPath


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

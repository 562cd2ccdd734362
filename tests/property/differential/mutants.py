"""Executors that are wrong in one thing each: graphql-core, bent a little."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import graphql
from graphql import (
    REMOVE,
    ExecutionResult,
    GraphQLError,
    GraphQLNonNull,
    InlineFragmentNode,
    OperationDefinitionNode,
    VariableNode,
    Visitor,
    default_field_resolver,
    is_interface_type,
    is_non_null_type,
    value_from_ast_untyped,
    visit,
)
from graphql.execution import execute as execute_module_function
from graphql.language import BooleanValueNode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.property.differential.case import Execute

    Change = Callable[[Any], Any]

NEW = graphql.version_info >= (3, 3)
OPTION = "executor_class" if NEW else "execution_context_class"
BASE: Any = graphql.execution.Executor if NEW else graphql.execution.ExecutionContext  # type: ignore[attr-defined]


class Mutant(NamedTuple):
    """A wrong executor."""

    make: Callable[[], Execute]  # a new one each time: some remember
    mode: str = "sync"


# Ways to be wrong


def after(change: Callable[[ExecutionResult], ExecutionResult]) -> Execute:
    """Return an executor whose results are changed."""

    def execute(*args: Any, **options: Any) -> Any:
        result = graphql.execute(*args, **options)
        if isinstance(result, ExecutionResult):
            return change(result)

        async def later() -> ExecutionResult:
            return change(await result)

        return later()

    return execute


def errors(change: Callable[[GraphQLError], Any]) -> Execute:
    """Return an executor whose errors are changed."""

    def all_of(result: ExecutionResult) -> ExecutionResult:
        for error in result.errors or ():
            change(error)
        return result

    return after(all_of)


def leaves(change: Change) -> Execute:
    """Return an executor whose answers' leaves, lists and objects are changed."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            value = {key: walk(item) for key, item in value.items()}
        elif isinstance(value, list):
            value = [walk(item) for item in value]
        return change(value)

    return after(lambda result: ExecutionResult(walk(result.data), result.errors))


def documents(visitor: Callable[..., Visitor]) -> Execute:
    """Return an executor that reads another document than it is given."""

    def execute(schema: Any, document: Any, **options: Any) -> Any:
        return graphql.execute(schema, visit(document, visitor(schema)), **options)

    return execute


def options(change: Callable[[dict[str, Any]], Any]) -> Execute:
    """Return an executor whose options are changed."""

    def execute(schema: Any, document: Any, **given: Any) -> Any:
        change(given)
        return graphql.execute(schema, document, **given)

    return execute


def middleware(function: Callable[..., Any]) -> Execute:
    """Return an executor whose resolvers are called by `function`."""
    return options(lambda given: given.update(middleware=[function]))


def fields(function: Callable[..., Any]) -> Execute:
    """Return an executor with another default for fields."""
    return options(lambda given: given.setdefault("field_resolver", function))


def methods(**members: Any) -> Execute:
    """Return an executor with other methods."""
    wrong = type("Wrong", (BASE,), members)
    return options(lambda given: given.update({OPTION: wrong}))


# Documents read wrongly


class OneOfEach(Visitor):
    """Leaves out fields that were asked before."""

    def __init__(self, schema: Any) -> None:
        super().__init__()

    def enter_selection_set(self, node: Any, *_: Any) -> Any:
        seen: set[str] = set()
        kept = []
        for selection in node.selections:
            name = getattr(getattr(selection, "alias", None) or selection, "name", None)
            key = getattr(selection.alias or selection.name, "value", "") if name and hasattr(selection, "alias") else ""
            if key and key in seen:
                continue
            seen.add(key)
            kept.append(selection)
        changed = node.__copy__()
        changed.selections = tuple(kept)
        return changed


def without_directive(name: str, by_variable: bool) -> Callable[..., Visitor]:
    """Return a visitor that forgets a directive."""

    class Without(OneOfEach):
        enter_selection_set = None  # type: ignore[assignment]

        def enter_directive(self, node: Any, *_: Any) -> Any:
            if node.name.value != name or not node.arguments:
                return None
            return REMOVE if isinstance(node.arguments[0].value, VariableNode) == by_variable else None

    return Without

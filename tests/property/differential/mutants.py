"""Executors that are wrong in one thing each: they show that the comparison finds it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import graphql
from graphql import ExecutionResult

from gqlnb.engine.graphql_compat import BaseExecutor
from tests.property.differential import reference

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.property.differential.case import Execute


class Mutant(NamedTuple):
    """A wrong executor, and the mode of the cases that show it."""

    execute: Execute
    mode: str = "sync"


def change_result(change: Callable[[ExecutionResult], ExecutionResult]) -> Execute:
    """Return an executor whose results are changed."""

    def execute(*args: Any, **options: Any) -> Any:
        result = reference.execute(*args, **options)
        if isinstance(result, ExecutionResult):
            return change(result)

        async def later() -> ExecutionResult:
            return change(await result)

        return later()

    return execute


def change_options(**changed: Any) -> Execute:
    """Return an executor with other options."""
    return lambda *args, **options: reference.execute(*args, **options | changed)


def replace_methods(**members: Any) -> Execute:
    """Return an executor with other methods."""
    return change_options(**{reference.EXECUTOR_OPTION: type("Wrong", (BaseExecutor,), members)})


def lose_locations(result: ExecutionResult) -> ExecutionResult:
    """Return a result whose errors have no locations."""
    for error in result.errors or ():
        error.locations = None
    return result


def return_true_for_one(value: Any) -> Any:
    """Return data with True in place of 1."""
    if type(value) is dict:
        return {key: return_true_for_one(item) for key, item in value.items()}
    if type(value) is list:
        return [return_true_for_one(item) for item in value]
    return value == 1 or value if type(value) is int else value


def resolve_twice(following: Any, source: Any, info: Any, /, **args: Any) -> Any:
    """Call a resolver two times."""
    first = following(source, info, **args)
    return first if inspect.iscoroutine(first) else following(source, info, **args)


def keep_null(self: Any, error: Any, kind: Any, *rest: Any) -> Any:
    """Keep the null where it is."""
    return BaseExecutor.handle_field_error(self, error, graphql.get_nullable_type(kind), *rest)


MUTANTS = {
    "locations are lost": Mutant(change_result(lose_locations)),
    "True for 1": Mutant(
        change_result(
            lambda result: ExecutionResult(return_true_for_one(result.data), result.errors)
        )
    ),
    "null does not propagate": Mutant(replace_methods(handle_field_error=keep_null)),
    "resolvers are called twice": Mutant(change_options(middleware=[resolve_twice])),
    "mutations do not wait": Mutant(
        replace_methods(execute_fields_serially=BaseExecutor.execute_fields), "gated"
    ),
    "later errors are turned round": Mutant(
        change_result(
            lambda result: ExecutionResult(result.data, result.errors and result.errors[::-1])
        ),
        "gated",
    ),
}

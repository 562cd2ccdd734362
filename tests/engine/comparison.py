"""Executing with graphql-core and with ours, and asserting that nothing differs."""

from __future__ import annotations

import asyncio
import inspect
from itertools import product
from typing import TYPE_CHECKING, Any

import graphql
from graphql import build_schema, parse

from gqlnb import engine
from gqlnb.engine.compiled_execution import execute_within
from gqlnb.engine.execution_budget import ExecutionBudget
from gqlnb.result.column_batch import build_data
from tests.property.differential.outcome import detail, exact

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


def metered(  # the names of graphql-core's arguments
    schema: Any,
    document: Any,
    root_value: Any = None,
    context_value: Any = None,
    variable_values: Any = None,
    operation_name: Any = None,
    **options: Any,
) -> Any:
    """Execute as our executor does within a budget that suffices."""
    given = (schema, document, root_value, context_value, variable_values, operation_name)
    return execute_within(*given, budget=ExecutionBudget(10**9, 10**6), **options)


def columnar(  # the names of graphql-core's arguments
    schema: Any,
    document: Any,
    root_value: Any = None,
    context_value: Any = None,
    variable_values: Any = None,
    operation_name: Any = None,
    **options: Any,
) -> Any:
    """Execute as for frames, with lists as columns, then build the data from them."""
    given = (schema, document, root_value, context_value, variable_values, operation_name)
    if options:
        return engine.execute(*given, **options)
    found = execute_within(*given, columnar=True)
    return with_dicts(found) if isinstance(found, graphql.ExecutionResult) else later(found)


async def later(found: Any) -> Any:
    """Await a result, then build its data."""
    return with_dicts(await found)


def with_dicts(result: Any) -> Any:
    """Return a result with lists of dicts."""
    result.data = build_data(result.data)
    return result


OURS = (engine.execute, metered)


def seen(execute: Callable[..., Any], schema: Any, document: Any, options: dict[str, Any]) -> Any:
    """Execute, and return all that can be compared."""
    try:
        result = execute(schema, document, **options)
    except BaseException as error:
        return type(error), str(error)
    return told(result)


def told(result: Any) -> Any:
    """Return all that a result tells."""
    assert type(result) is graphql.ExecutionResult, result
    errors = None if result.errors is None else [detail(error) for error in result.errors]
    return exact(result.data), errors, result.extensions


def same(schema: Any, text: Any, make: Callable[[], dict[str, Any]] = dict) -> Any:
    """Assert that both executors agree, and return what both say.

    Parameters
    ----------
    schema
        A schema, or SDL.
    text
        A document.
    make
        Returns the other arguments, made anew for each execution.
    """
    schema = build_schema(schema) if isinstance(schema, str) else schema
    document = parse(text) if isinstance(text, str) else text
    want = seen(graphql.execute, schema, document, make())
    for execute, attempt in product(OURS, (1, 2)):
        got = seen(execute, schema, document, make())
        assert got == want, f"execution {attempt}, {execute}\nwant {want}\n got {got}"
    return want


def rooted(**fields: Any) -> Callable[[], dict[str, Any]]:
    """Return a maker of arguments with this root value."""
    return lambda: {"root_value": fields}


# In an event loop

PLACES = """
type Query { x: Int y: Int! s: String list: [Int] sure: [Int!]! t: T u: T! ts: [T!] face: F }
interface F { i: Int }
type T implements F { i: Int n: Int! t: T s: String }
"""


async def turn(value: Any) -> Any:
    """Return a value a turn of the loop later."""
    await asyncio.sleep(0)
    return value


def alike(story: Callable[[Callable[..., Any]], Awaitable[Any]]) -> Any:
    """Assert that a story has the same end with both executors, and return it.

    Parameters
    ----------
    story
        A coroutine function of an executor; it returns what is to be compared.
    """

    async def once(execute: Callable[..., Any]) -> Any:
        async with asyncio.timeout(20):
            return await story(execute)

    want = asyncio.run(once(graphql.execute))
    for execute, attempt in product(OURS, (1, 2)):
        got = asyncio.run(once(execute))
        assert got == want, f"execution {attempt}, {execute}\nwant {want}\n got {got}"
    return want


def answered(schema: Any, text: str, make: Callable[[], Any]) -> Any:
    """Assert that both executors give the same answer, and return it."""
    schema = build_schema(schema) if isinstance(schema, str) else schema
    document = parse(text)

    async def story(execute: Callable[..., Any]) -> Any:
        result = execute(schema, document, make())
        waits = inspect.iscoroutine(result)
        return waits, told(await result if inspect.isawaitable(result) else result)

    return alike(story)

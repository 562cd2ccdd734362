"""Executing: graphql-core's ``execute`` over compiled plans, and the native road for a Schema."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from graphql import ExecutionResult, GraphQLError
from graphql import execute as core_execute
from graphql.execution.values import get_variable_values

from gqlnb.document.variables import describe_errors
from gqlnb.engine.compiler.compiler import PlanCompiler
from gqlnb.engine.compiler.executor import PlanExecutor, RepeatPlanExecutor
from gqlnb.engine.compiler.plans import (
    CachedOperation,
    DocumentFacts,
    OperationPlan,
    cached_operations,
    get_operation,
)
from gqlnb.engine.execution_budget import (
    IN_PROCESS,
    BudgetedPlanExecutor,
    build_counting_executor,
    execute_bounded,
)
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33, check_arguments
from gqlnb.errors import QueryError
from gqlnb.result.result import Result, build_data_result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from graphql import DocumentNode, GraphQLSchema

    from gqlnb.document.document import Document
    from gqlnb.engine.execution_budget import ExecutionBudget

__all__ = [
    "await_result",
    "build_plan",
    "build_result",
    "execute",
    "execute_within",
    "run_document",
]

SIGNATURE = inspect.signature(core_execute)
# Arguments we execute with; any other that is not as by default is for graphql-core itself.
SUPPORTED_OPTIONS = frozenset(
    {
        "field_resolver",
        "type_resolver",
        "subscribe_field_resolver",
        "max_coercion_errors",
        "is_awaitable",
        "hide_suggestions",
    }
)
SUPPORTED_ARGUMENTS = SUPPORTED_OPTIONS | {
    "schema",
    "document",
    "root_value",
    "context_value",
    "variable_values",
    "operation_name",
}
BUDGET_KEY = (
    "metered"  # in the key of an operation: code that counts is not for runs without a budget
)
EXECUTOR_OPTION = "executor_class" if IS_GRAPHQL_33 else "execution_context_class"


def execute(  # noqa: PLR0913, PLR0917 - the arguments of graphql-core's
    schema: GraphQLSchema,
    document: DocumentNode,
    root_value: Any = None,
    context_value: Any = None,
    variable_values: dict[str, Any] | None = None,
    operation_name: str | None = None,
    field_resolver: Any = None,
    type_resolver: Any = None,
    *more: Any,
    **options: Any,
) -> Any:
    """Execute an operation as ``graphql.execute`` does, faster.

    The parameters, the return value, the errors and their order are those of the graphql-core that
    is installed. What is not compiled (middleware, an executor class of one's own, incremental
    delivery, abort signals, hooks) is handed to it.

    Parameters
    ----------
    schema
        Any graphql-core schema.
    document
        A parsed document; its plan is remembered while the document lives on in the cache.
    root_value, context_value, variable_values, operation_name, field_resolver, type_resolver
        As for ``graphql.execute``.
    *more, **options
        The further arguments of the installed graphql-core.

    Returns
    -------
    ExecutionResult, or an awaitable of one
        An awaitable only where a resolver gave one.

    Examples
    --------
    >>> from graphql import parse
    >>> schema = gqlnb.reference_schema().graphql
    >>> gqlnb.engine.execute(schema, parse("{ hello }")).data
    {'hello': 'Hello world!'}
    """
    given: tuple[Any, ...] = ()
    if more or options or field_resolver is not None or type_resolver is not None:
        bound = SIGNATURE.bind(
            schema,
            document,
            root_value,
            context_value,
            variable_values,
            operation_name,
            field_resolver,
            type_resolver,
            *more,
            **options,
        )
        if not is_supported(bound.arguments):
            return core_execute(*bound.args, **bound.kwargs)
        options = {
            k: v for k, v in bound.arguments.items() if k in SUPPORTED_OPTIONS and v is not None
        }
        given = tuple(options.items())
    key = (id(schema), id(document), operation_name)
    operation = cached_operations.get((*key, *given) if given else key)
    if operation is None:
        operation = get_operation(schema, document, operation_name, given)
    plan = operation.plan_without_variables
    if plan is not None and variable_values is None and not plan.is_stale():
        return plan.execute(
            RepeatPlanExecutor.create(plan, root_value, context_value, plan.empty_variables)
        )
    return execute_operation(operation, root_value, context_value, variable_values, options)


execute.__signature__ = SIGNATURE  # type: ignore[attr-defined]


def is_supported(arguments: Mapping[str, Any]) -> bool:
    """Tell whether nothing but what we execute with was asked for."""
    for name, value in arguments.items():
        if (
            name not in SUPPORTED_ARGUMENTS
            and value is not SIGNATURE.parameters[name].default
            and value != {}
        ):
            return False
    return True


def execute_within(
    budget: ExecutionBudget,
    schema: GraphQLSchema,
    document: DocumentNode,
    root: Any = None,
    context: Any = None,
    variables: dict[str, Any] | None = None,
    name: str | None = None,
    **options: Any,
) -> Any:
    """Execute an operation as :func:`execute` does, within a budget, by plans of its own.

    Parameters
    ----------
    budget
        What it counts off.
    schema, document, root, context, variables, name, **options
        As for :func:`execute`, in the order of its first arguments.

    Raises
    ------
    ExceededError
        If the budget does not suffice; the awaitable raises it too.
    """
    given: tuple[Any, ...] = (BUDGET_KEY,)
    if options:
        if not is_supported(options):
            return execute_by_core(
                budget, (schema, document, root, context, variables, name), options
            )
        options = {name: value for name, value in options.items() if value is not None}
        given = (BUDGET_KEY, *options.items())
    operation = cached_operations.get((id(schema), id(document), name, *given))
    if operation is None:
        operation = get_operation(schema, document, name, given)
    plan = operation.plan_without_variables
    if plan is not None and variables is None and not plan.is_stale():
        return plan.execute(create_executor(plan, root, context, plan.empty_variables, budget))
    return execute_operation(operation, root, context, variables, options, budget)


def execute_by_core(
    budget: ExecutionBudget | None, given: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Let graphql-core execute, by an executor that counts if there is a budget."""
    if budget is not None:
        made = (
            build_counting_executor(budget, options[EXECUTOR_OPTION])
            if options.get(EXECUTOR_OPTION)
            else build_counting_executor(budget)
        )
        options = {**options, EXECUTOR_OPTION: made}
    return core_execute(*given, **options)


def create_executor(
    plan: OperationPlan, root: Any, context: Any, variables: Any, budget: ExecutionBudget | None
) -> PlanExecutor:
    """Return a further run of a plan."""
    if budget is None:
        return RepeatPlanExecutor.create(plan, root, context, variables)
    return BudgetedPlanExecutor.create(plan, root, context, variables, budget)


def execute_operation(
    operation: CachedOperation,
    root: Any,
    context: Any,
    variables: dict[str, Any] | None,
    options: dict[str, Any],
    budget: ExecutionBudget | None = None,
) -> Any:
    """Execute an operation: by a plan, if it has been seen before with such variables."""
    if not operation.facts.plannable or (
        IS_GRAPHQL_33 and has_incremental_directives(operation.schema)
    ):
        given = (operation.schema, operation.document, root, context, variables, operation.name)
        return execute_by_core(budget, given, options)
    coerced = coerce_variables(operation, variables, options)
    key = None if coerced is None else build_plan_key(operation, coerced)
    plan = operation.plans.get(key) if key is not None else None
    if plan is not None:
        if not plan.is_stale():
            return plan.execute(create_executor(plan, root, context, coerced, budget))
        operation.clear_plans()
    return execute_first_time(operation, root, context, variables, options, budget)


def execute_first_time(
    operation: CachedOperation,
    root: Any,
    context: Any,
    variables: dict[str, Any] | None,
    options: dict[str, Any],
    budget: ExecutionBudget | None,
) -> Any:
    """Execute an operation for the first time: by graphql-core's methods, noting a plan."""
    schema, document = operation.schema, operation.document
    if not IS_GRAPHQL_33:
        check_arguments(schema, document, variables)
    given = (schema, document, root, context, variables, operation.name)
    built = (PlanExecutor if budget is None else BudgetedPlanExecutor).build(*given, **options)
    if isinstance(built, list):
        return ExecutionResult(data=None, errors=built)
    try:
        key = build_plan_key(operation, built.variable_values)
    except TypeError:  # a value that can't be a key: not a Boolean, so never valid
        return execute_by_core(budget, given, options)
    if budget is not None:
        built.budget = budget
    plan = build_plan(built, operation.facts)
    operation.store_plan(key, plan)
    return plan.execute_first(built)


def build_plan(built: Any, known: DocumentFacts, *, timed: bool = False) -> OperationPlan:
    """Return the plan of a run that graphql-core has built, and let it run by that."""
    plan = OperationPlan(built, known, timed=timed)
    plan.compiler = PlanCompiler(plan)
    built.plan = plan
    return plan


def coerce_variables(operation: CachedOperation, variables: Any, options: dict[str, Any]) -> Any:
    """Return coerced variables, None where graphql-core must say what is wrong with them."""
    plan = next(iter(operation.plans.values()), None)
    if plan is None or not (variables is None or isinstance(variables, dict)):
        return None
    declared = plan.operation.variable_definitions or ()
    if not declared:
        return plan.empty_variables
    found = get_variable_values(
        operation.schema,
        declared,
        variables or {},
        max_errors=options.get("max_coercion_errors", 50),
    )
    return None if isinstance(found, list) else found


def build_plan_key(operation: CachedOperation, variables: Any) -> tuple[Any, ...]:
    """Return what ``@skip`` and ``@include`` depend on.

    Raises
    ------
    TypeError
        If a value can't be a key.
    """
    values = variables.coerced if IS_GRAPHQL_33 else variables
    key = tuple(values.get(name, ...) for name in operation.facts.names)
    hash(key)
    return key


def has_incremental_directives(schema: GraphQLSchema) -> bool:
    """Tell whether a schema has the directives of incremental delivery."""
    return bool(schema.get_directive("defer") or schema.get_directive("stream"))


# -- the native road


def run_document(
    schema: GraphQLSchema,
    document: Document,
    variables: Mapping[str, Any],
    context: Any = None,
    root: Any = None,
    budget: ExecutionBudget | None = None,
) -> Result | Awaitable[Result]:
    """Execute a document here.

    Parameters
    ----------
    schema
        The schema the document was checked against.
    document
        The document with its operation chosen.
    variables
        JSON-like values by name.
    context
        Handed to every resolver.
    root
        The value the root resolvers get.
    budget
        What it may use; None for no limit.

    Returns
    -------
    Result, or an awaitable of one
        An awaitable only where a resolver gave one.

    Raises
    ------
    QueryError
        If a variable does not fit its type. Errors of resolvers stand in the result.
    """
    if document.kind == "subscription":
        message = (
            "A subscription gives many results, and this would be one. Use subscribe(); over HTTP, "
            "ask for them with Accept: text/event-stream, or over a WebSocket."
        )
        raise QueryError(message)
    given = dict(variables) if variables else None
    if budget is not None:
        needed = (schema, document.ast, root, context, given, document.name)
        finish = partial(build_result, variables=given)
        return execute_bounded(partial(execute_within, budget, *needed), budget, document, finish)
    outcome = execute(schema, document.ast, root, context, given, document.name)
    if type(outcome) is ExecutionResult:
        if outcome.errors is None:
            return build_data_result(outcome.data, document, IN_PROCESS, given)
        return build_result(outcome, document, given)
    return await_result(outcome, document, given)


async def await_result(
    outcome: Awaitable[ExecutionResult], document: Document, variables: Mapping[str, Any] | None
) -> Result:
    """Await an execution and return its result."""
    return build_result(await outcome, document, variables)


def build_result(
    outcome: ExecutionResult, document: Document, variables: Mapping[str, Any] | None = None
) -> Result:
    """Return the result of an execution.

    Raises
    ------
    QueryError
        If nothing was executed: a variable does not fit its type.
    """
    errors = outcome.errors or []
    if not errors and not outcome.extensions:
        return build_data_result(outcome.data, document, IN_PROCESS, variables)
    if outcome.data is None and errors and all(map(is_request_error, errors)):
        found = describe_errors(document, variables or {}, errors)
        raise QueryError(text=document.text, problems=found)
    return Result(
        data=outcome.data,
        errors=tuple(dict(error.formatted) for error in errors),
        extensions=dict(outcome.extensions or {}),
        document=document,
        source=IN_PROCESS,
        variables=variables,
        causes=tuple(error.original_error for error in errors),
    )


def is_request_error(error: GraphQLError) -> bool:
    """Tell an error about the request from one that arose while it was executed.

    What an extension of a library raises has neither a path nor a location, but an exception
    behind it: that arose in the execution.
    """
    return error.path is None and (error.original_error is None or bool(error.locations))

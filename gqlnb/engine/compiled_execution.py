"""Execution by compiled plans: graphql-core's ``execute``, and a version that returns a Result."""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from types import CoroutineType
from typing import TYPE_CHECKING

from graphql import ExecutionResult, GraphQLError
from graphql import execute as core_execute
from graphql.execution.values import get_variable_values

from gqlnb.document.variables import describe_errors
from gqlnb.engine.compiler.executor import PlanExecutor, RepeatPlanExecutor
from gqlnb.engine.compiler.lazy_functions import PlanCompiler
from gqlnb.engine.compiler.plans import BRANCH, CachedOperation, OperationPlan, get_operation
from gqlnb.engine.compiler.variable_values import VariableCoercer
from gqlnb.engine.execution_budget import (
    IN_PROCESS,
    BudgetedPlanExecutor,
    BudgetExceededError,
    build_counting_executor,
    build_stopped_result,
)
from gqlnb.engine.graphql_compat import (
    EXECUTE_SIGNATURE,
    EXECUTOR_OPTION,
    IS_GRAPHQL_33,
    Outcome,
    Value,
    check_arguments,
)
from gqlnb.errors import QueryError
from gqlnb.result.column_batch import ColumnData, has_batches
from gqlnb.result.result import Result, attach_lazy_data, build_data_result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from graphql import DocumentNode, GraphQLSchema

    from gqlnb.document.document import Document
    from gqlnb.engine.execution_budget import ExecutionBudget

# Arguments that plans support; with any other, unless it is the default, graphql-core executes.
SUPPORTED_OPTIONS = frozenset(
    {"field_resolver", "type_resolver", "subscribe_field_resolver", "max_coercion_errors"}
    | {"is_awaitable", "hide_suggestions"}
)
# Also the first six, from the schema to the operation's name.
SUPPORTED_ARGUMENTS = SUPPORTED_OPTIONS | set([*EXECUTE_SIGNATURE.parameters][:6])


# Everything else in the package calls this module only, so that the executor can be replaced
# here.
def execute(
    schema: GraphQLSchema,
    document: DocumentNode,
    root_value: Value = None,
    context_value: Value = None,
    variable_values: dict[str, Value] | None = None,
    operation_name: str | None = None,
    field_resolver: Value = None,
    type_resolver: Value = None,
    *more: object,
    **options: Value,
) -> Outcome:
    """Execute an operation like ``graphql.execute``, faster.

    The parameters, the return value, the errors and their order are those of the installed
    graphql-core. It executes operations with features that are not compiled: middleware, an
    executor class, incremental delivery, abort signals and hooks.

    Parameters
    ----------
    schema
        Any graphql-core schema.
    document
        A parsed document; its plan is cached.
    root_value, context_value, variable_values, operation_name, field_resolver, type_resolver
        As for ``graphql.execute``.
    *more, **options
        The further arguments of the installed graphql-core.

    Returns
    -------
    ExecutionResult, or an awaitable of one
        An awaitable only if a resolver returned one.

    Examples
    --------
    >>> from graphql import parse
    >>> schema = gqlnb.reference_schema().graphql
    >>> gqlnb.engine.execute(schema, parse("{ hello }")).data
    {'hello': 'Hello world!'}
    """
    given: tuple[object, ...] = ()
    if more or options or field_resolver is not None or type_resolver is not None:
        first = (schema, document, root_value, context_value, variable_values, operation_name)
        bound = EXECUTE_SIGNATURE.bind(*first, field_resolver, type_resolver, *more, **options)
        if not is_supported(bound.arguments):
            return core_execute(*bound.args, **bound.kwargs)
        options = {
            k: v for k, v in bound.arguments.items() if k in SUPPORTED_OPTIONS and v is not None
        }
        given = tuple(options.items())
    operation = get_operation(schema, document, operation_name, given)
    plan = operation.plan_without_variables
    # A shortcut past the coercion of variables. These lines are repeated in execute_within, since
    # a common function would cost a tenth of the time of a small operation.
    if plan is not None and variable_values is None and not plan.watch.has_changed():
        return plan.execute(
            RepeatPlanExecutor.create(plan, root_value, context_value, plan.empty_variables)
        )
    return execute_operation(operation, root_value, context_value, variable_values, options)


execute.__signature__ = EXECUTE_SIGNATURE  # type: ignore[attr-defined]


def is_supported(arguments: Mapping[str, object]) -> bool:
    """Return whether plans support all arguments that differ from their defaults."""
    return all(
        name in SUPPORTED_ARGUMENTS
        or value is EXECUTE_SIGNATURE.parameters[name].default
        or value == {}
        for name, value in arguments.items()
    )


def execute_within(
    schema: GraphQLSchema,
    document: DocumentNode,
    root: Value = None,
    context: Value = None,
    variables: dict[str, Value] | None = None,
    name: str | None = None,
    *,
    budget: ExecutionBudget | None = None,
    library: type | None = None,
    columnar: bool = False,
    **options: Value,
) -> Outcome:
    """Version of :func:`execute` with what this package adds to an execution.

    Parameters
    ----------
    schema, document, root, context, variables, name, **options
        As for :func:`execute`, in the order of its first arguments.
    budget
        The fields and seconds it may use, by plans that count fields; None for no limit.
    library
        The executor class of a library that builds info objects of its own; None for graphql-core's
        info objects.
    columnar
        Whether frames of the answer are read: a long list of plain rows in its data may then be a
        :class:`~gqlnb.result.column_batch.ColumnBatch`.

    Returns
    -------
    ExecutionResult, or an awaitable of one
        An awaitable only if a resolver returned one.

    Raises
    ------
    BudgetExceededError
        If the budget is used up; the awaitable raises it too.
    """
    given: tuple[object, ...] = (budget is not None, library, columnar)
    if options:
        if not is_supported(options):
            arguments = (schema, document, root, context, variables, name)
            return execute_by_core(budget, arguments, options)
        options = {key: value for key, value in options.items() if value is not None}
        given = (*given, *options.items())
    operation = get_operation(schema, document, name, given, library=library, columnar=columnar)
    plan = operation.plan_without_variables
    if plan is not None and variables is None and not plan.watch.has_changed():
        return plan.execute(create_executor(plan, root, context, plan.empty_variables, budget))
    return execute_operation(operation, root, context, variables, options, budget)


def execute_by_core(
    budget: ExecutionBudget | None,
    given: tuple[Value, ...],
    options: dict[str, Value],
    library: type | None = None,
) -> Outcome:
    """Execute by graphql-core, with an executor that counts fields if there is a budget."""
    executor = options.get(EXECUTOR_OPTION, library)
    if budget is not None:
        executor = build_counting_executor(budget, executor)
    return core_execute(*given, **{**options, EXECUTOR_OPTION: executor})


def create_executor(
    plan: OperationPlan,
    root: Value,
    context: Value,
    variables: Value,
    budget: ExecutionBudget | None,
) -> Value:
    """Return an executor for a further run of a plan."""
    if budget is None:
        return RepeatPlanExecutor.create(plan, root, context, variables)
    run = BudgetedPlanExecutor.create(plan, root, context, variables)
    run.budget = budget
    return run


def execute_operation(
    operation: CachedOperation,
    root: Value,
    context: Value,
    variables: dict[str, Value] | None,
    options: dict[str, Value],
    budget: ExecutionBudget | None = None,
) -> Outcome:
    """Execute an operation by its plan, if it has been executed with such variables before."""
    if not operation.plannable:
        operation.check_validity()
        given = (operation.schema, operation.document, root, context, variables, operation.name)
        return execute_by_core(budget, given, options, operation.library)
    coerced = coerce_variables(operation, variables, options)
    key = None
    if coerced is not None:
        key = operation.build_plan_key(coerced.coerced if IS_GRAPHQL_33 else coerced)
    plan = operation.plans.get(key) if key is not None else None
    if plan is not None:
        if not plan.watch.has_changed():
            return plan.execute(create_executor(plan, root, context, coerced, budget))
        operation.check_validity()
        operation.clear_plans()
    return execute_first_time(operation, root, context, variables, options, budget)


def execute_first_time(
    operation: CachedOperation,
    root: Value,
    context: Value,
    variables: dict[str, Value] | None,
    options: dict[str, Value],
    budget: ExecutionBudget | None,
) -> Outcome:
    """Execute an operation by graphql-core's methods, and cache a plan."""
    schema, document = operation.schema, operation.document
    operation.check_validity()
    if not IS_GRAPHQL_33:
        check_arguments(schema, document, variables)
    given = (schema, document, root, context, variables, operation.name)
    built = (PlanExecutor if budget is None else BudgetedPlanExecutor).build(*given, **options)
    if isinstance(built, list):
        return ExecutionResult(data=None, errors=built)
    try:
        key = operation.build_plan_key(built.coerced_variables)
    except TypeError:  # a value that isn't hashable: not a Boolean, so never valid
        return execute_by_core(budget, given, options, operation.library)
    if budget is not None:
        built.budget = budget
    plan = OperationPlan(
        built,
        operation.facts,
        PlanCompiler,
        operation.watch,
        branches=BRANCH in key,
        columnar=operation.columnar,
        library=operation.library,
    )
    operation.store_plan(key, plan)
    return plan.execute(built)


def coerce_variables(
    operation: CachedOperation, variables: Value, options: dict[str, Value]
) -> Value:
    """Return coerced variables, or None if graphql-core must report errors in them."""
    # A list, since other threads add plans.
    plan = next(iter(list(operation.plans.values())), None)
    if plan is None or not (variables is None or isinstance(variables, dict)):
        return None
    declared = plan.operation.variable_definitions or ()
    if not declared:
        return plan.empty_variables
    if operation.coercer is None:
        operation.coercer = VariableCoercer(operation.schema, declared, operation.watch)
    try:
        return operation.coercer.coerce(variables or {})
    except Exception:  # noqa: BLE001, S110 - whatever a scalar raises: graphql-core reports it
        pass
    found = get_variable_values(
        operation.schema,
        declared,
        variables or {},
        max_errors=options.get("max_coercion_errors", 50),
    )
    return None if isinstance(found, list) else found


def finish_execution(
    outcome: Outcome,
    budget: ExecutionBudget | None,
    document: Document,
    variables: Mapping[str, object] | None = None,
) -> Result | Awaitable[Result]:
    """Return the result of an execution.

    Parameters
    ----------
    outcome
        An ExecutionResult, or an awaitable of one.
    budget
        The budget that it uses; None for no limit.
    document
        The document that was executed.
    variables
        Its variables by name, or None.

    Returns
    -------
    Result, or an awaitable of one
        Without data, and with the reason as its one error, if the budget was used up.
    """
    if budget is not None:
        try:
            budget.check()
        except BudgetExceededError as error:
            return build_stopped_result(str(error), document)
    if type(outcome) is not ExecutionResult and isawaitable(outcome):
        return await_result(outcome, budget, document, variables)
    return build_result(outcome, document, variables)


async def await_result(
    pending: Awaitable[ExecutionResult],
    budget: ExecutionBudget | None,
    document: Document,
    variables: Mapping[str, object] | None,
) -> Result:
    """Await an execution until the deadline of its budget, then return its result."""
    if budget is None:
        return build_result(await pending, document, variables)
    try:
        budget.check()  # time may have passed since it was created
    except BudgetExceededError as error:
        if isinstance(pending, CoroutineType):
            pending.close()  # else Python warns that it was never awaited
        return build_stopped_result(str(error), document)
    # The task of the value is cancelled then, but not awaited: it may suppress the cancellation.
    budget.task = task = asyncio.ensure_future(pending)
    if not await budget.wait_for_task(task):
        return build_stopped_result(budget.reason, document)
    try:
        outcome = task.result()
        budget.check()
    except (BudgetExceededError, asyncio.CancelledError):
        if budget.reason is None:
            raise
        return build_stopped_result(budget.reason, document)
    return build_result(outcome, document, variables)


# Messages of asyncio about a future that a plain resolver made or returned.
_FOREIGN_FUTURE = (
    "attached to a different loop",
    "await wasn't used with future",
    "no current event loop",
    "no running event loop",
)
_AWAIT_ADVICE = (
    "A plain resolver cannot return a future, such as that of a DataLoader: make it "
    "'async def', and await the future in it."
)


def _format_error(error: GraphQLError) -> dict[str, object]:
    """Return an error as it is sent, with advice on a future that cannot be awaited."""
    cause = error.original_error
    formatted: dict[str, object] = dict(error.formatted)
    if isinstance(cause, RuntimeError) and any(it in str(cause) for it in _FOREIGN_FUTURE):
        cause.add_note(_AWAIT_ADVICE)  # for server.error(id)
        formatted["message"] = f"{error.message.rstrip('.')}. {_AWAIT_ADVICE}"
    return formatted


def build_result(
    outcome: ExecutionResult, document: Document, variables: Mapping[str, object] | None = None
) -> Result:
    """Return the result of an execution.

    Parameters
    ----------
    outcome
        The result of graphql-core.
    document
        The document that was executed.
    variables
        Its variables by name, or None.

    Returns
    -------
    Result
        Data and errors, with the exception behind each error.

    Raises
    ------
    QueryError
        If a variable does not match its type; nothing was executed then.
    """
    if document.reads_columns is not None and has_batches(outcome.data):
        columns, outcome.data = ColumnData(outcome.data, document), {}
        return attach_lazy_data(build_result(outcome, document, variables), columns)
    errors = outcome.errors or []
    if not errors and not outcome.extensions:
        return build_data_result(outcome.data, document, IN_PROCESS, variables)
    if outcome.data is None and errors and all(map(is_request_error, errors)):
        problems = describe_errors(document, variables or {}, errors)
        raise QueryError(text=document.text, problems=problems)
    result = Result(
        data=outcome.data,
        errors=tuple(map(_format_error, errors)),
        extensions=dict(outcome.extensions or {}),
        document=document,
        source=IN_PROCESS,
        variables=variables,
        causes=tuple(error.original_error for error in errors),
    )
    # The frames of a traceback refer to the executor, and that to this list: with such a cycle, all
    # values of the execution would wait for the garbage collector.
    errors.clear()
    return result


def is_request_error(error: GraphQLError) -> bool:
    """Return whether an error is about the request, rather than its execution.

    Parameters
    ----------
    error
        An error of an execution's result.

    Returns
    -------
    bool
        False for an error with a path, and for an exception without a location.
    """
    # An error that a library's extension raises during the execution has neither a path nor a
    # location, but an original exception.
    return error.path is None and (error.original_error is None or bool(error.locations))

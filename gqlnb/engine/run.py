"""Executing: graphql-core's ``execute`` over compiled plans, and the native road for a Schema."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from graphql import ExecutionResult, GraphQLError
from graphql import execute as core_execute
from graphql.execution.values import get_variable_values

from gqlnb.engine.cache import Operation, known, operation_of
from gqlnb.engine.core import Further, Run
from gqlnb.engine.maker import Maker
from gqlnb.engine.metered import HERE, Metered, bounded, counting
from gqlnb.engine.plan import Facts, Plan
from gqlnb.engine.version import NEW, check_arguments
from gqlnb.errors import QueryError
from gqlnb.model.result import Result
from gqlnb.model.variable_errors import describe_errors

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from graphql import DocumentNode, GraphQLSchema

    from gqlnb.engine.budget import Budget
    from gqlnb.model.document import Document

__all__ = ["execute", "execute_within", "finished", "finished_later", "planned", "run"]

SIGNATURE = inspect.signature(core_execute)
# Arguments we execute with; any other that is not as by default is for graphql-core itself.
OPTIONS = frozenset(
    {
        "field_resolver",
        "type_resolver",
        "subscribe_field_resolver",
        "max_coercion_errors",
        "is_awaitable",
        "hide_suggestions",
    }
)
OURS = OPTIONS | {
    "schema",
    "document",
    "root_value",
    "context_value",
    "variable_values",
    "operation_name",
}
METERED = "metered"  # in the key of an operation: code that counts is not for runs without a budget
CLASS = "executor_class" if NEW else "execution_context_class"


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
        if not ours(bound.arguments):
            return core_execute(*bound.args, **bound.kwargs)
        options = {k: v for k, v in bound.arguments.items() if k in OPTIONS and v is not None}
        given = tuple(options.items())
    key = (id(schema), id(document), operation_name)
    operation = known.get((*key, *given) if given else key)
    if operation is None:
        operation = operation_of(schema, document, operation_name, given)
    plan = operation.only
    if plan is not None and variable_values is None and not plan.stale():
        return plan.execute(Further.again(plan, root_value, context_value, plan.no_variables))
    return prepared(operation, root_value, context_value, variable_values, options)


execute.__signature__ = SIGNATURE  # type: ignore[attr-defined]


def ours(arguments: Mapping[str, Any]) -> bool:
    """Tell whether nothing but what we execute with was asked for."""
    for name, value in arguments.items():
        if name not in OURS and value is not SIGNATURE.parameters[name].default and value != {}:
            return False
    return True


def execute_within(
    budget: Budget,
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
    given: tuple[Any, ...] = (METERED,)
    if options:
        if not ours(options):
            return handed(budget, (schema, document, root, context, variables, name), options)
        options = {name: value for name, value in options.items() if value is not None}
        given = (METERED, *options.items())
    operation = known.get((id(schema), id(document), name, *given))
    if operation is None:
        operation = operation_of(schema, document, name, given)
    plan = operation.only
    if plan is not None and variables is None and not plan.stale():
        return plan.execute(again(plan, root, context, plan.no_variables, budget))
    return prepared(operation, root, context, variables, options, budget)


def handed(budget: Budget | None, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Let graphql-core execute, by an executor that counts if there is a budget."""
    if budget is not None:
        made = counting(budget, options[CLASS]) if options.get(CLASS) else counting(budget)
        options = {**options, CLASS: made}
    return core_execute(*given, **options)


def again(plan: Plan, root: Any, context: Any, variables: Any, budget: Budget | None) -> Run:
    """Return a further run of a plan."""
    if budget is None:
        return Further.again(plan, root, context, variables)
    return Metered.again(plan, root, context, variables, budget)


def prepared(
    operation: Operation,
    root: Any,
    context: Any,
    variables: dict[str, Any] | None,
    options: dict[str, Any],
    budget: Budget | None = None,
) -> Any:
    """Execute an operation: by a plan, if it has been seen before with such variables."""
    if not operation.facts.plannable or (NEW and incremental(operation.schema)):
        given = (operation.schema, operation.document, root, context, variables, operation.name)
        return handed(budget, given, options)
    coerced = coerce(operation, variables, options)
    key = None if coerced is None else values_of(operation, coerced)
    plan = operation.plans.get(key) if key is not None else None
    if plan is not None:
        if not plan.stale():
            return plan.execute(again(plan, root, context, coerced, budget))
        operation.drop()
    return first(operation, root, context, variables, options, budget)


def first(
    operation: Operation,
    root: Any,
    context: Any,
    variables: dict[str, Any] | None,
    options: dict[str, Any],
    budget: Budget | None,
) -> Any:
    """Execute an operation for the first time: by graphql-core's methods, noting a plan."""
    schema, document = operation.schema, operation.document
    if not NEW:
        check_arguments(schema, document, variables)
    given = (schema, document, root, context, variables, operation.name)
    built = (Run if budget is None else Metered).build(*given, **options)
    if isinstance(built, list):
        return ExecutionResult(data=None, errors=built)
    try:
        key = values_of(operation, built.variable_values)
    except TypeError:  # a value that can't be a key: not a Boolean, so never valid
        return handed(budget, given, options)
    if budget is not None:
        built.budget = budget
    plan = planned(built, operation.facts)
    operation.keep(key, plan)
    return plan.begin(built)


def planned(built: Any, known: Facts, *, timed: bool = False) -> Plan:
    """Return the plan of a run that graphql-core has built, and let it run by that."""
    plan = Plan(built, known, timed=timed)
    plan.maker = Maker(plan)
    built.plan = plan
    return plan


def coerce(operation: Operation, variables: Any, options: dict[str, Any]) -> Any:
    """Return coerced variables, None where graphql-core must say what is wrong with them."""
    plan = next(iter(operation.plans.values()), None)
    if plan is None or not (variables is None or isinstance(variables, dict)):
        return None
    declared = plan.operation.variable_definitions or ()
    if not declared:
        return plan.no_variables
    found = get_variable_values(
        operation.schema,
        declared,
        variables or {},
        max_errors=options.get("max_coercion_errors", 50),
    )
    return None if isinstance(found, list) else found


def values_of(operation: Operation, variables: Any) -> tuple[Any, ...]:
    """Return what ``@skip`` and ``@include`` depend on.

    Raises
    ------
    TypeError
        If a value can't be a key.
    """
    values = variables.coerced if NEW else variables
    key = tuple(values.get(name, ...) for name in operation.facts.names)
    hash(key)
    return key


def incremental(schema: GraphQLSchema) -> bool:
    """Tell whether a schema has the directives of incremental delivery."""
    return bool(schema.get_directive("defer") or schema.get_directive("stream"))


# -- the native road


def run(
    schema: GraphQLSchema,
    document: Document,
    variables: Mapping[str, Any],
    context: Any = None,
    root: Any = None,
    budget: Budget | None = None,
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
        finish = partial(finished, variables=given)
        return bounded(partial(execute_within, budget, *needed), budget, document, finish)
    outcome = execute(schema, document.ast, root, context, given, document.name)
    if type(outcome) is ExecutionResult:
        if outcome.errors is None:
            return Result.whole(outcome.data, document, HERE, given)
        return finished(outcome, document, given)
    return finished_later(outcome, document, given)


async def finished_later(
    outcome: Awaitable[ExecutionResult], document: Document, variables: Mapping[str, Any] | None
) -> Result:
    """Await an execution and return its result."""
    return finished(await outcome, document, variables)


def finished(
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
        return Result.whole(outcome.data, document, HERE, variables)
    if outcome.data is None and errors and all(map(is_of_request, errors)):
        found = describe_errors(document, variables or {}, errors)
        raise QueryError(text=document.text, problems=found)
    return Result(
        data=outcome.data,
        errors=tuple(dict(error.formatted) for error in errors),
        extensions=dict(outcome.extensions or {}),
        document=document,
        source=HERE,
        variables=variables,
        causes=tuple(error.original_error for error in errors),
    )


def is_of_request(error: GraphQLError) -> bool:
    """Tell an error about the request from one that arose while it was executed.

    What an extension of a library raises has neither a path nor a location, but an exception
    behind it: that arose in the execution.
    """
    return error.path is None and (error.original_error is None or bool(error.locations))

"""Ways to bend graphql-core, so that it is wrong in one thing."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import graphql
from graphql import (
    REMOVE,
    ExecutionResult,
    GraphQLError,
    VariableNode,
    Visitor,
    default_field_resolver,
    visit,
)
from graphql.language import BooleanValueNode
from graphql.pyutils import Path

from gqlnb.engine.graphql_compat import IS_GRAPHQL_33, BaseExecutor
from tests.property.differential import reference
from tests.property.differential.reference import EXECUTOR_OPTION

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.property.differential.case import Execute


# Ways to be wrong


def after(change: Callable[[ExecutionResult], ExecutionResult]) -> Execute:
    """Return an executor whose results are changed."""

    def execute(*args: Any, **options: Any) -> Any:
        result = reference.execute(*args, **options)
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


def values(change: Callable[[Any], Any]) -> Execute:
    """Return an executor whose answers' leaves, lists and objects are changed."""

    def walk(value: Any) -> Any:
        if type(value) is dict:
            value = {key: walk(item) for key, item in value.items()}
        elif type(value) is list:
            value = [walk(item) for item in value]
        return change(value)

    return after(lambda result: ExecutionResult(walk(result.data), result.errors))


def documents(**enter: Callable[[Any, Any], Any]) -> Execute:
    """Return an executor that misreads nodes: functions of node and schema, by kind of node."""

    def execute(schema: Any, document: Any, **given: Any) -> Any:
        class Misreads(Visitor):
            pass

        for kind, change in enter.items():
            setattr(Misreads, f"leave_{kind}", lambda _, node, *__, by=change: by(node, schema))
        return reference.execute(schema, visit(document, Misreads()), **given)

    return execute


def options(change: Callable[[dict[str, Any]], Any]) -> Execute:
    """Return an executor whose options are changed."""

    def execute(schema: Any, document: Any, **given: Any) -> Any:
        change(given)
        return reference.execute(schema, document, **given)

    return execute


def middleware(function: Callable[..., Any]) -> Execute:
    """Return an executor whose resolvers are called by `function`."""
    return options(lambda given: given.update(middleware=[function]))


def fields(function: Callable[..., Any]) -> Execute:
    """Return an executor with another default for fields."""
    return options(lambda given: given.setdefault("field_resolver", function))


def methods(**members: Any) -> Execute:
    """Return an executor with other methods."""
    wrong = type("Wrong", (BaseExecutor,), members)
    return options(lambda given: given.update({EXECUTOR_OPTION: wrong}))


# Documents


def changed(node: Any, **members: Any) -> Any:
    """Return a node with other members."""
    copy = node.__copy__()
    for name, value in members.items():
        setattr(copy, name, value)
    return copy


def no_directive(name: str, *, lifted: bool) -> Callable[[Any, Any], Any]:
    """Forget a directive, where its condition is a variable or where it is not."""

    def change(node: Any, _: Any) -> Any:
        given = node.arguments and isinstance(node.arguments[0].value, VariableNode)
        return REMOVE if node.name.value == name and bool(given) == lifted else None

    return change


def first_variables() -> Execute:
    """Decide directives once per document, by the variables of the first time."""
    plans: dict[int, Any] = {}

    def execute(schema: Any, document: Any, **given: Any) -> Any:
        known = {
            name: value
            for name, value in (given.get("variable_values") or {}).items()
            if isinstance(value, bool)
        }

        def decide(node: Any, _: Any) -> Any:
            if not node.arguments or node.name.value not in ("skip", "include"):
                return None
            value = node.arguments[0].value
            if not isinstance(value, VariableNode) or value.name.value not in known:
                return None
            literal = BooleanValueNode(value=known[value.name.value])
            return changed(node, arguments=(changed(node.arguments[0], value=literal),))

        class Decides(Visitor):
            def leave_directive(self, node: Any, *_: Any) -> Any:
                return decide(node, None)

        if id(document) not in plans:
            plans[id(document)] = visit(document, Decides()), document
        return reference.execute(schema, plans[id(document)][0], **given)

    return execute


# Resolvers


def twice(next_: Any, source: Any, info: Any, /, **args: Any) -> Any:
    """Call a resolver two times."""
    first = next_(source, info, **args)
    if inspect.iscoroutine(first):
        return first
    return next_(source, info, **args)


def no_exceptions(next_: Any, source: Any, info: Any, /, **args: Any) -> Any:
    """Take a returned exception for null."""
    result = next_(source, info, **args)
    return None if isinstance(result, Exception) else result


def last_key(next_: Any, source: Any, info: Any, /, **args: Any) -> Any:
    """Hand on an info whose path is its last key."""
    return next_(source, info._replace(path=Path(None, info.path.key, None)), **args)


def first_resolvers() -> Execute:
    """Remember the resolvers that fields had the first time."""
    known: dict[Any, Any] = {}

    def call(next_: Any, source: Any, info: Any, /, **args: Any) -> Any:
        key = (id(info.schema), info.parent_type.name, info.field_name)
        known.setdefault(key, (next_, info.schema))
        return known[key][0](source, info, **args)

    return middleware(call)


def one_kind_of_rows() -> Execute:
    """Read all objects of a type as the first one was read."""
    known: dict[str, bool] = {}

    def read(source: Any, info: Any, /, **args: Any) -> Any:
        mapping = known.setdefault(info.parent_type.name, isinstance(source, Mapping))
        if mapping != isinstance(source, Mapping):
            return None
        return default_field_resolver(source, info, **args)

    return fields(read)


# Completion


def propagates_nothing(self: Any, error: Any, kind: Any, *rest: Any) -> Any:
    """Keep the null where it is."""
    return BaseExecutor.handle_field_error(self, error, graphql.get_nullable_type(kind), *rest)


def list_as(change: Callable[[Any], Any]) -> Execute:
    """Return an executor that takes lists for something else."""

    def complete(self: Any, kind: Any, nodes: Any, info: Any, path: Any, *rest: Any) -> Any:
        return BaseExecutor.complete_list_value(
            self, kind, nodes, info, path, change(rest[0]), *rest[1:]
        )

    return methods(complete_list_value=complete)


def leaf_as(change: Callable[[Any, Any], Any]) -> Execute:
    """Return an executor that leaves some leaves as they are: `change` returns None for others."""

    def complete(kind: Any, result: Any) -> Any:
        left = change(kind.name, result)
        return BaseExecutor.complete_leaf_value(kind, result) if left is None else left

    return methods(complete_leaf_value=staticmethod(complete))


def any_type(self: Any, name: Any, *rest: Any) -> Any:
    """Take every object type for a possible one."""
    kind = self.schema.get_type(name) if isinstance(name, str) else None
    if graphql.is_object_type(kind):
        return kind
    return BaseExecutor.ensure_valid_runtime_type(self, name, *rest)


def nulled_errors() -> Execute:
    """Keep the errors below a position that was nulled before."""

    def init(self: Any, *args: Any, **given: Any) -> None:
        BaseExecutor.__init__(self, *args, **given)
        collected = type(self.collected_errors)
        name = "has_nulled_position" if IS_GRAPHQL_33 else "_has_nulled_position"
        self.collected_errors = type("All", (collected,), {name: lambda *_: False})()

    return methods(__init__=init)


# The whole


def always_later(*args: Any, **given: Any) -> Any:
    """Return an awaitable, needed or not."""

    async def later() -> Any:
        result = reference.execute(*args, **given)
        return await result if inspect.isawaitable(result) else result

    return later()


def turned(result: ExecutionResult) -> ExecutionResult:
    """Turn the order of the errors round."""
    return ExecutionResult(result.data, result.errors and result.errors[::-1])


def setting(name: str, change: Callable[[Any], Any]) -> Callable[[GraphQLError], None]:
    """Return a change of one attribute."""
    return lambda error: setattr(error, name, change(getattr(error, name)))


def only(kind: type, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a change of the values of one type."""
    return lambda value: change(value) if type(value) is kind else value

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
    GraphQLNonNull,
    VariableNode,
    Visitor,
    default_field_resolver,
    is_interface_type,
    is_non_null_type,
    visit,
)
from graphql.language import BooleanValueNode

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


def first_of_each(node: Any, _: Any) -> Any:
    """Keep only the first selection for each name in the answer."""
    kept: dict[Any, Any] = {}
    for selection in node.selections:
        alias = getattr(selection, "alias", None)
        plain = hasattr(selection, "alias")
        key = (alias or selection.name).value if plain else selection
        kept.setdefault(key, selection)
    return changed(node, selections=tuple(kept.values()))


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


def no_interface(node: Any, schema: Any) -> Any:
    """Leave out inline fragments on interfaces."""
    condition = node.type_condition
    kind = condition and schema.get_type(condition.name.value)
    return REMOVE if is_interface_type(kind) else None


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


def first_operation(given: dict[str, Any]) -> None:
    """Forget which operation was asked for, as long as that is no error."""
    if given.get("operation_name") != "Nobody":
        given["operation_name"] = None


# Resolvers


def twice(next_: Any, source: Any, info: Any, /, **args: Any) -> Any:
    """Call a resolver two times."""
    first = next_(source, info, **args)
    if inspect.iscoroutine(first):
        return first
    return next_(source, info, **args)


def no_defaults(next_: Any, source: Any, info: Any, /, **args: Any) -> Any:
    """Leave out arguments that are as by default."""
    known = info.parent_type.fields.get(info.field_name)
    for name, definition in known.args.items() if known else ():
        if args.get(name, known) == definition.default_value:
            del args[name]
    return next_(source, info, **args)


def no_exceptions(next_: Any, source: Any, info: Any, /, **args: Any) -> Any:
    """Take a returned exception for null."""
    result = next_(source, info, **args)
    return None if isinstance(result, Exception) else result


def everything_caught(next_: Any, source: Any, info: Any, /, **args: Any) -> Any:
    """Catch what no executor may catch."""
    try:
        return next_(source, info, **args)
    except BaseException as error:
        raise ValueError(str(error)) from None


def other_info(**members: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a middleware that hands on another info."""

    def call(next_: Any, source: Any, info: Any, /, **args: Any) -> Any:
        other = {name: change(info) for name, change in members.items()}
        return next_(source, info._replace(**other), **args)

    return call


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


def by_item(source: Any, info: Any, /, **args: Any) -> Any:
    """Read a dict by item, not by `get`."""
    if isinstance(source, dict) and info.field_name in source:
        value = source[info.field_name]
        return value(info, **args) if callable(value) else value
    return default_field_resolver(source, info, **args)


def own_attributes(source: Any, info: Any, /, **args: Any) -> Any:
    """Read an object's own attributes only, not its class's."""
    if not isinstance(source, Mapping) and hasattr(source, "__dict__"):
        source = vars(source)
    return default_field_resolver(source, info, **args)


def no_calls(source: Any, info: Any, /, **args: Any) -> Any:
    """Take methods for values."""
    if isinstance(source, Mapping):
        return source.get(info.field_name)
    return getattr(source, info.field_name, None)


# Completion


def propagates_nothing(self: Any, error: Any, kind: Any, *rest: Any) -> Any:
    """Keep the null where it is."""
    return BaseExecutor.handle_field_error(self, error, graphql.get_nullable_type(kind), *rest)


def propagates_items(self: Any, error: Any, kind: Any, *rest: Any) -> Any:
    """Let a failed item fail its list."""
    if isinstance(rest[-1].key, int) and not is_non_null_type(kind):
        kind = GraphQLNonNull(kind)
    return BaseExecutor.handle_field_error(self, error, kind, *rest)


def list_as(change: Callable[[Any], Any]) -> Execute:
    """Return an executor that takes lists for something else."""

    def complete(self: Any, kind: Any, nodes: Any, info: Any, path: Any, *rest: Any) -> Any:
        return BaseExecutor.complete_list_value(
            self, kind, nodes, info, path, change(rest[0]), *rest[1:]
        )

    return methods(complete_list_value=complete)


def partial(result: Any) -> Any:
    """Read an iterable as far as it goes."""
    if not inspect.isgenerator(result):
        return result
    items: list[Any] = []
    try:
        items.extend(result)
    except Exception:
        return items
    return items


def leaf_as(change: Callable[[Any, Any], Any]) -> Execute:
    """Return an executor that leaves some leaves as they are: `change` returns None for others."""

    def complete(kind: Any, result: Any) -> Any:
        left = change(kind.name, result)
        return BaseExecutor.complete_leaf_value(kind, result) if left is None else left

    return methods(complete_leaf_value=staticmethod(complete))


def no_is_type_of(self: Any, kind: Any, *rest: Any) -> Any:
    """Take every object for what it should be."""
    asked, kind.is_type_of = kind.is_type_of, None
    try:
        return BaseExecutor.complete_object_value(self, kind, *rest)
    finally:
        kind.is_type_of = asked


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


def raised(result: ExecutionResult) -> ExecutionResult:
    """Raise the error of a request that was not executed."""
    if result.data is None and result.errors and result.errors[0].path is None:
        raise result.errors[0]
    return result


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


def not_null(given: dict[str, Any]) -> None:
    """Forget variables that are null."""
    variables = given.get("variable_values") or {}
    given["variable_values"] = {key: item for key, item in variables.items() if item is not None}


def only(kind: type, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a change of the values of one type."""
    return lambda value: change(value) if type(value) is kind else value

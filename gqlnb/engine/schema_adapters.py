"""Execution of schemas, ours and those of other libraries, which are recognised without imports."""

from __future__ import annotations

import inspect
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from copy import copy
from functools import cached_property, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from graphql import GraphQLError, GraphQLSchema, validate_schema
from graphql import subscribe as core_subscribe
from graphql import version as graphql_version

from gqlnb.document.document import INCREMENTAL_DIRECTIVES, Document, build_problems
from gqlnb.document.sized_cache import SizedCache
from gqlnb.document.variables import check_variables
from gqlnb.engine.compiled_execution import execute, execute_within, finish_execution
from gqlnb.engine.execution_budget import (
    BudgetExceededError,
    build_counting_executor,
    build_stopped_result,
)
from gqlnb.engine.graphql_compat import (
    EXECUTE_SIGNATURE,
    IS_GRAPHQL_33,
    SUBSCRIBE_SIGNATURE,
    BaseExecutor,
    Outcome,
    Value,
)
from gqlnb.engine.schema_builder import remove_incremental_directives
from gqlnb.engine.schema_watch import SchemaChangedError, watch_document
from gqlnb.engine.subscription import (
    RESOLVER_OPTIONS,
    Stream,
    build_subscription,
    check_subscription,
)
from gqlnb.errors import Problem, QueryError, SchemaError, sanitize_text
from gqlnb.limits import MAX_CACHED_TEXT, Limits
from gqlnb.option_checks import raise_option_error
from gqlnb.result.shape import forget_shapes

if TYPE_CHECKING:
    from gqlnb.engine.execution_budget import ExecutionBudget
    from gqlnb.engine.incremental_execution import ResponsePart
    from gqlnb.engine.subscription import SubscriptionArguments
    from gqlnb.result.result import Result

T = TypeVar("T")
MAX_DOCUMENTS = 512  # texts per schema; a notebook or a server repeats few
MAX_CACHED_NAME = 200

# The attributes of the schema objects of libraries that hold graphql-core's schema. Strawberry's
# begins with an underscore, but its documentation and the packages built on it use it too.
SCHEMA_ATTRIBUTES = {"graphene": "graphql_schema", "strawberry": "_schema"}
MEMO_ATTRIBUTE = "_gqlnb_adoption"  # the attribute by which an object remembers its adoption
_PARAMETERS = tuple(EXECUTE_SIGNATURE.parameters)
EXECUTE_OPTIONS = frozenset(_PARAMETERS[_PARAMETERS.index("operation_name") + 1 :])
PART_OPTIONS = frozenset({*RESOLVER_OPTIONS, "middleware", "hide_suggestions"})
SUBSCRIBE_OPTIONS = frozenset(SUBSCRIBE_SIGNATURE.parameters)
EXTENSION_HOOKS = (
    "on_operation",
    "on_parse",
    "on_validate",
    "on_execute",
    "resolve",
    "get_results",
)


# Schemas of other libraries are recognized by their class, without importing the library. What a
# library does around an execution (Strawberry's extensions and directives, middleware, executor
# classes) is left to it; `Schema.explain` says so. The adopted object holds the adapter: both
# refer to each other, and a weak dictionary would never release such a pair.
class SchemaAdapter:
    """Parses and executes documents of one schema.

    Parameters
    ----------
    graphql
        The schema of graphql-core.
    context
        For operations whose caller gives no context: a value, or a function that returns one.
    options
        Further arguments of graphql-core's ``execute``.

    Attributes
    ----------
    reason : str or None
        The reason why a library executes, as the end of a sentence; None for the compiled engine.
    library : type or None
        The library's executor class, if it builds info objects of its own.
    revision : int
        The number of times that the schema has changed.
    documents
        Parsed documents.
    """

    def __init__(
        self,
        graphql: GraphQLSchema,
        context: object = None,
        options: Mapping[str, object] | None = None,
    ) -> None:
        self.graphql = graphql
        self.options: dict[str, Value] = dict(options or {})
        self.library: type | None = None
        self.revision = 0
        self.documents: SizedCache[tuple[object, ...], Document] = SizedCache(MAX_DOCUMENTS)
        self._context = context
        foreign = sorted(self.options.keys() - RESOLVER_OPTIONS)  # which the engine takes itself
        self.reason = f"graphql-core executes with {', '.join(foreign)}" if foreign else None

    # Computed late, since a schema with resolvers bound to it later has the same type objects.
    @cached_property
    def _executable(self) -> GraphQLSchema:
        return remove_incremental_directives(self.graphql)

    def get_document(
        self,
        text: str,
        operation: str | None,
        limits: Limits | None,
        *,
        introspection: bool = True,
    ) -> Document:
        """Return the cached document of a text; one that is refused may be valid later."""
        name = "" if operation is None else operation
        if limits is not None and not isinstance(limits, Limits):
            raise_option_error("limits", limits, "gqlnb.Limits(...)")
        if type(text) is not str or type(name) is not str or len(text) > MAX_CACHED_TEXT:
            return self.parse(text, operation, limits, introspection=introspection)
        key = (text, operation, limits, introspection)
        document = self.documents.get(key)
        if document is None:
            document = self.parse(text, operation, limits, introspection=introspection)
            if len(name) <= MAX_CACHED_NAME:
                self.documents.add(key, document, len(text))
        return document

    def parse(
        self,
        text: str,
        operation: str | None,
        limits: Limits | None = None,
        *,
        introspection: bool = True,
    ) -> Document:
        """Return the document of a text, validated the way the library validates it.

        Raises
        ------
        QueryError
            If the text is invalid, or exceeds the limits.
        """
        document = Document.parse(
            text, self.graphql, operation, limits, introspection=introspection
        )
        watch, has_builtin_leaves = watch_document(document, self.graphql)
        object.__setattr__(document, "watch", watch)
        # Where a library executes, it may change the values of leaves.
        has_builtin_leaves &= self.reason is None
        object.__setattr__(document, "has_builtin_leaves", has_builtin_leaves)
        return document

    def renew(self, document: Document) -> Document:
        """Parse and validate a document again if the schema has changed.

        Raises
        ------
        QueryError
            If it is not valid any more.
        """
        if document.watch is None or not document.watch.has_changed():
            return document
        self.forget_documents()
        return self.parse(document.text, document.name)

    def forget_documents(self) -> None:
        """Forget what was derived from the schema, since it has changed."""
        self.revision += 1
        self.documents.clear()
        forget_shapes(self.graphql)
        self.__dict__.pop("_executable", None)

    def execute_document(
        self,
        document: Document,
        variables: Mapping[str, object],
        context: object = None,
        root: object = None,
        budget: ExecutionBudget | None = None,
        extensions: Mapping[str, Any] | None = None,
    ) -> Result | Awaitable[Result]:
        """Execute a document; an awaitable only if something must be awaited.

        The plain resolvers have run when it returns. `extensions` are those of the request.

        Raises
        ------
        QueryError
            If it is a subscription, or a variable does not match its type.
        """
        if context is None and self._context is not None:
            context = self._build_context()
        if self.reason is not None:  # the engine's plans notice changes themselves
            document = self.renew(document)
        if document.kind == "subscription":
            message = (
                "A subscription gives many results, and this would be one. Use subscribe(); over "
                "HTTP, ask for them with Accept: text/event-stream, or over a WebSocket."
            )
            raise QueryError(message)
        if self._executable is not self.graphql and (
            problems := find_incremental_problems(document)
        ):
            raise QueryError(text=document.text, problems=problems)
        values = dict(variables) if variables else None
        try:
            outcome = self.run_operation(budget, document, values, context, root, extensions)
        except BudgetExceededError as error:
            return build_stopped_result(str(error), document)
        except SchemaChangedError:
            renewed = self.renew(document)
            return self.execute_document(renewed, variables, context, root, budget, extensions)
        return finish_execution(outcome, budget, document, values)

    def subscribe_document(self, document: Document, arguments: SubscriptionArguments) -> Stream:
        """Return the stream of a subscription, or of an answer in parts, merged.

        It begins at its first step.

        Raises
        ------
        QueryError
            If it is another operation, or a variable does not match its type.
        """
        document = self.renew(document)
        if document.kind != "subscription" and document.incremental_directives:
            parts = self.execute_in_parts(document, arguments)
            # Only now, since it needs graphql-core 3.3.
            from gqlnb.engine.incremental_execution import iterate_merged_results

            return Stream(
                lambda: iterate_merged_results(parts, document, arguments.variables), document
            )
        check_subscription(document, arguments.variables)
        if arguments.context is None:
            arguments = arguments._replace(context=self._build_context())
        if not self.is_left_to_library(arguments.extensions):
            begin = build_subscription(
                self._executable, document, arguments, self.options, self.library
            )
        else:
            begin = partial(self.subscribe, document, arguments)
        return Stream(begin, document)

    @cached_property
    def delivers_parts(self) -> bool:
        """Whether operations with ``@defer`` and ``@stream`` can be executed in parts."""
        return find_incremental_fault(self) is None

    def execute_in_parts(
        self, document: Document, arguments: SubscriptionArguments
    ) -> AsyncGenerator[ResponsePart, None]:
        """Return the parts of an answer; the execution begins at the first step.

        Raises
        ------
        QueryError
            If the operation can't be executed in parts, or a variable does not match its type.
        """
        if fault := find_incremental_fault(self):
            raise QueryError(fault, text=document.text)
        from gqlnb.engine.incremental_execution import execute_in_parts

        check_variables(document, dict(arguments.variables))
        if arguments.context is None:
            arguments = arguments._replace(context=self._build_context())
        return execute_in_parts(self.graphql, document, arguments, self.options, self.library)

    def is_left_to_library(self, _extensions: Mapping[str, Any] | None) -> bool:
        """Return whether the library executes a request with these extensions."""
        return self.reason is not None

    def subscribe(self, document: Document, arguments: SubscriptionArguments) -> Outcome:
        """Subscribe by graphql-core, with the options.

        Raises
        ------
        QueryError
            If graphql-core's ``subscribe`` does not take the options.
        """
        if wrong := sorted(self.options.keys() - SUBSCRIBE_OPTIONS):
            message = (
                f"The subscribe of the installed graphql-core does not take {', '.join(wrong)}."
            )
            raise QueryError(message, text=document.text)
        return core_subscribe(
            self.graphql,
            document.ast,
            arguments.root,
            arguments.context,
            dict(arguments.variables),
            document.name,
            **self.options,
        )

    def get_profile_context(self, document: Document, context: object) -> object:
        """Return the context to profile a document with.

        Raises
        ------
        QueryError
            If a library executes it.
        """
        if self.reason is not None:
            message = (
                f"Only operations that the compiled engine executes can be profiled: {self.reason}."
            )
            raise QueryError(message, text=document.text)
        return self._build_context() if context is None else context

    def _build_context(self) -> object:
        return self._context() if callable(self._context) else self._context

    def run_operation(
        self,
        budget: ExecutionBudget | None,
        document: Document,
        variables: dict[str, Value] | None,
        context: object,
        root: object,
        _extensions: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Return an execution's result in graphql-core's form, or an awaitable of it."""
        is_core = self.reason is not None or document.watch is None
        source: Any = document.ast if is_core else document  # which the engine takes too
        arguments = (self._executable, source, root, context, variables, document.name)
        columnar = budget is None and bool(document.reads_columns) and not self.options
        if budget is None and self.library is None and not columnar:
            return execute(*arguments, **self.options)
        return execute_within(
            *arguments, budget=budget, library=self.library, columnar=columnar, **self.options
        )


# Schema extensions, operation directives, the executor class and the like work around the
# execution, so that only Strawberry itself can execute a schema that has them.
class StrawberryAdapter(SchemaAdapter):
    """Parses and executes documents of a Strawberry schema."""

    def __init__(self, graphql: GraphQLSchema, schema: Value, context: object) -> None:
        super().__init__(graphql, context)
        self.schema = schema
        self.reason = find_strawberry_reason(schema)
        executor = getattr(schema, "execution_context_class", BaseExecutor)
        if executor.build_resolve_info is not BaseExecutor.build_resolve_info:
            self.library = executor
        self.suggests = not getattr(schema.config, "disable_field_suggestions", False)
        # Strawberry's own rules, from the module that defines its schema class.
        modules = (sys.modules.get(base.__module__) for base in type(schema).__mro__)
        validators = (getattr(module, "validate_document", None) for module in modules)
        self.validate = next(filter(None, validators), None)

    @cached_property
    def is_async(self) -> bool:
        """Whether it has an async function, so that Strawberry must execute it on a loop."""
        return has_strawberry_async(self.schema)

    def is_left_to_library(self, extensions: Mapping[str, Any] | None) -> bool:
        """Return whether Strawberry executes; its resolvers may read the request's extensions."""
        return self.reason is not None or bool(extensions)

    def parse(
        self,
        text: str,
        operation: str | None,
        limits: Limits | None = None,
        *,
        introspection: bool = True,
    ) -> Document:
        """Return the document of a text, validated by Strawberry's own rules too."""
        problems: tuple[Problem, ...]
        try:
            document = super().parse(text, operation, limits, introspection=introspection)
        except QueryError as error:
            if self.suggests or not error.problems:
                raise
            problems = tuple(map(remove_suggestion, error.problems))
        else:
            errors = self.validate(self.graphql, document.ast, ()) if self.validate else ()
            problems = tuple(build_problems(errors))
            if self.reason and not problems:
                fault = find_incremental_fault(self)
                problems = tuple(find_incremental_problems(document, fault))
        if problems:
            raise QueryError(text=text, problems=problems)
        return document

    def run_operation(
        self,
        budget: ExecutionBudget | None,
        document: Document,
        variables: dict[str, Value] | None,
        context: object,
        root: object,
        extensions: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Return Strawberry's result; an awaitable of it if the schema has an async function."""
        if not self.is_left_to_library(extensions):
            return super().run_operation(budget, document, variables, context, root)
        schema = self.schema
        if budget is not None:
            schema = copy(schema)  # with an executor for this execution
            schema.execution_context_class = build_counting_executor(
                budget, schema.execution_context_class
            )
        method = schema.execute if self.is_async else schema.execute_sync
        return method(
            document.text,
            variable_values=variables,
            context_value=context,
            root_value=root,
            operation_name=document.name,
            **({"operation_extensions": extensions} if extensions else {}),
        )

    def subscribe(self, document: Document, arguments: SubscriptionArguments) -> Outcome:
        """Subscribe by Strawberry."""
        return self.schema.subscribe(
            document.text,
            variable_values=dict(arguments.variables),
            context_value=arguments.context,
            root_value=arguments.root,
            operation_name=document.name,
            **({"operation_extensions": arguments.extensions} if arguments.extensions else {}),
        )


# -- recognising schema objects


def detect_library(schema: object) -> str | None:
    """Return the name of the library of a schema object; None for any other object."""
    if isinstance(schema, GraphQLSchema):
        return "graphql"
    for base in type(schema).__mro__:
        package = str(base.__module__).partition(".")[0]
        if base.__name__ == "Schema" and package in SCHEMA_ATTRIBUTES:
            return package
    return None


def is_schema(schema: object) -> bool:
    """Return whether an object is a schema of graphql-core, Strawberry or Graphene."""
    return detect_library(schema) is not None


def build_adapter(
    schema: object, context: object = None, options: Mapping[str, object] | None = None
) -> SchemaAdapter:
    """Return the adapter of a schema object.

    Raises
    ------
    SchemaError
        If it is not a schema object, is not valid, or does not take the options.
    """
    core, library, options = extract_schema(schema), detect_library(schema), options or {}
    if inspect.iscoroutinefunction(context):
        msg = "The function that makes a context is called, not awaited; it can't be async."
        raise SchemaError(msg)
    if library == "strawberry" and options:
        msg = (
            f"A Strawberry schema has its own execution options, so {', '.join(options)} can't be "
            "given. Use strawberry.Schema(extensions=..., execution_context_class=...)."
        )
        raise SchemaError(msg)
    if wrong := sorted(options.keys() - EXECUTE_OPTIONS):
        msg = (
            f"graphql-core's execute takes no {wrong[0]!r}. "
            f"Beside the context it takes: {', '.join(sorted(EXECUTE_OPTIONS))}."
        )
        raise SchemaError(msg)
    if errors := validate_schema(core):
        raise SchemaError(problems=build_problems(errors))
    if library == "strawberry":
        return StrawberryAdapter(core, schema, context)
    return SchemaAdapter(core, context, options)


def extract_schema(schema: object) -> GraphQLSchema:
    """Return the schema of graphql-core that a schema object is, or holds.

    Raises
    ------
    SchemaError
        If it is not a schema object.
    """
    library = detect_library(schema)
    if library == "graphql":
        core: object = schema
    else:
        core = getattr(schema, SCHEMA_ATTRIBUTES.get(library or "", ""), None)
    if isinstance(core, GraphQLSchema):
        return core
    if library is not None:
        msg = f"This {library} schema holds no schema of the installed graphql-core."
        raise SchemaError(msg)
    name = sanitize_text(schema.__name__ if isinstance(schema, type) else type(schema).__name__, 80)
    given = f"the class {name}" if isinstance(schema, type) else name
    msg = (
        "Schema.adopt takes a GraphQLSchema of graphql-core (Ariadne's make_executable_schema "
        f"returns one), a strawberry.Schema or a graphene.Schema; got {given}."
    )
    raise SchemaError(msg)


# -- remembering the adopted schema


class AdapterMemo:
    """The Schema made of an object; a copy or a pickle of the object holds an empty memo."""

    __slots__ = ("owner", "value")

    def __init__(self, owner: object = None, value: Value = None) -> None:
        self.owner = None if owner is None else ref(owner)
        self.value = value

    def __reduce__(self) -> tuple[type[AdapterMemo], tuple[()]]:
        return AdapterMemo, ()


_lock = RLock()


def get_remembered(schema: object, kind: type[T], make: Callable[[], T]) -> T:
    """Return the value made of an object before; make it the first time."""
    # The schema itself holds the value, so that both are collected together: graphql-core's schema
    # and the value refer to each other, which would keep them in a weak dictionary for ever.
    if not is_schema(schema):
        return make()
    with _lock:
        memo = vars(schema).get(MEMO_ATTRIBUTE, AdapterMemo())
        # A copy of the object has its memo.
        if memo.owner is not None and memo.owner() is schema and type(memo.value) is kind:
            return memo.value
        value = make()
        vars(schema)[MEMO_ATTRIBUTE] = AdapterMemo(schema, value)
        return value


# -- Strawberry


def find_strawberry_reason(schema: Value) -> str | None:
    """Return the reasons why only Strawberry can execute a schema, or None."""
    own = [
        name
        for name in ("execute", "execute_sync", "process_errors")
        if not is_from_strawberry(getattr(type(schema), name, None))
    ]
    executor = getattr(schema, "execution_context_class", None)
    extensions = [getattr(e, "__name__", type(e).__name__) for e in schema.extensions]
    reasons = {
        f"the schema extensions {', '.join(extensions)}": extensions,
        "its operation directives": list(schema.directives),
        f"its own {' and '.join(own)}": own,
        "its execution context class": not is_from_strawberry(executor),
    }
    found = [reason for reason, holds in reasons.items() if holds]
    return f"Strawberry executes {', '.join(found)}" if found else None


def is_from_strawberry(thing: Value) -> bool:
    """Return whether a function or class is defined by Strawberry, or is None."""
    return thing is None or thing.__module__.partition(".")[0] == "strawberry"


def has_strawberry_async(schema: Value) -> bool:
    """Return whether a schema has an async resolver, permission or extension hook."""
    functions = [
        getattr(type(e), name, None)
        for e in schema.get_extensions(sync=True)
        for name in EXTENSION_HOOKS
    ]
    for type_ in extract_schema(schema).type_map.values():
        for field in getattr(type_, "fields", {}).values():
            functions.append(getattr(field, "resolve", None))
            definition = field.extensions.get("strawberry-definition")
            for extension in getattr(definition, "extensions", ()):
                if not getattr(extension, "supports_sync", True):
                    return True
        functions += [getattr(type_, "resolve_type", None), getattr(type_, "is_type_of", None)]
    return any(inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f) for f in functions)


def remove_suggestion(problem: Problem) -> Problem:
    """Return a problem without the names that the schema suggests."""
    message = problem.message
    if message.startswith("Cannot query field"):
        message = message.partition("Did you mean")[0].strip()
    return Problem(message, problem.line, problem.column)


def find_incremental_problems(document: Document, fault: str | None = None) -> list[Problem]:
    """Return a problem for each ``@defer`` and ``@stream``, which need several results.

    `fault` is the reason why the schema can't answer in parts, if it can't.
    """
    message = fault or (
        "@{} asks for a response in parts (incremental delivery), and this request gets a single "
        "one. Use subscribe(), or accept multipart/mixed over HTTP, or leave it out."
    )
    return build_problems(
        [
            GraphQLError(message.format(node.name.value), node)
            for node in document.incremental_directives
        ]
    )


def find_incremental_fault(adapter: SchemaAdapter) -> str | None:
    """Return the reason why a schema can't answer in parts, as an error message, or None."""
    if not IS_GRAPHQL_33:
        return (
            "@defer and @stream need graphql-core 3.3 for a response in parts, and "
            f"{graphql_version} is installed. Use execute(), which returns the whole "
            "answer at once, or install it with: pip install 'graphql-core>=3.3'"
        )
    if not any(map(adapter.graphql.get_directive, INCREMENTAL_DIRECTIVES)):
        return "The schema has neither @defer nor @stream."
    foreign = isinstance(adapter, StrawberryAdapter) and adapter.reason
    if foreign or adapter.options.keys() - PART_OPTIONS:
        return f"{adapter.reason}, so that the response can't be delivered in parts."
    return None

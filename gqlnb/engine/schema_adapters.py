"""Schemas of other libraries, run as they are; they are told by their class, never imported."""

from __future__ import annotations

import inspect
import sys
from copy import copy
from functools import partial
from inspect import isawaitable
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from graphql import GraphQLError, GraphQLSchema, validate_schema
from graphql import execute as core_execute
from graphql import subscribe as core_subscribe

from gqlnb.document.document import INCREMENTAL_DIRECTIVES, Document, build_problems
from gqlnb.engine.compiled_execution import (
    await_result,
    build_result,
    execute,
    execute_within,
    run_document,
)
from gqlnb.engine.execution_budget import build_counting_executor, execute_bounded
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.engine.subscription import RESOLVER_OPTIONS, build_subscription
from gqlnb.errors import Problem, QueryError, SchemaError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gqlnb.document.limits import Limits
    from gqlnb.engine.execution_budget import ExecutionBudget
    from gqlnb.engine.explanation import Explanation
    from gqlnb.engine.subscription import SubscriptionArguments
    from gqlnb.result.result import Result

__all__ = [
    "SchemaAdapter",
    "build_adapter",
    "extract_schema",
    "find_incremental_problems",
    "get_remembered",
    "is_schema",
]

T = TypeVar("T")

# Where the schema objects of a library hold graphql-core's. Strawberry's attribute begins with an
# underscore, but it is the one that its documentation and the packages built on it use.
SCHEMA_ATTRIBUTES = {"graphene": "graphql_schema", "strawberry": "_schema"}
MEMO_ATTRIBUTE = "_gqlnb_adoption"  # the attribute by which an object remembers its adoption
_PARAMETERS = tuple(inspect.signature(core_execute).parameters)
EXECUTE_OPTIONS = frozenset(_PARAMETERS[_PARAMETERS.index("operation_name") + 1 :])
SUBSCRIBE_OPTIONS = frozenset(inspect.signature(core_subscribe).parameters)
EXTENSION_HOOKS = (
    "on_operation",
    "on_parse",
    "on_validate",
    "on_execute",
    "resolve",
    "get_results",
)
SUGGESTION = "Did you mean"


class SchemaAdapter:
    """A graphql-core schema, or an object that holds one, and how it is executed.

    Parameters
    ----------
    graphql
        The schema of graphql-core.
    build_context
        For operations whose caller gives no context: a value, or a function that makes one.
    options
        Further arguments of graphql-core's ``execute``.

    Attributes
    ----------
    reason : str or None
        Why somebody else executes, as the end of a sentence; None if the compiled engine does.
    """

    def __init__(
        self, graphql: GraphQLSchema, context: Any = None, options: Mapping[str, Any] | None = None
    ) -> None:
        self.graphql = graphql
        self.options = dict(options or {})
        self._context = context
        foreign = sorted(self.options.keys() - RESOLVER_OPTIONS)  # which the engine takes itself
        self.reason = f"graphql-core executes with {', '.join(foreign)}" if foreign else None

    def parse(
        self, text: str, operation: str | None, limits: Limits | None, introspection: bool
    ) -> Document:
        """Return the document of a text, checked as the library checks it.

        Raises
        ------
        QueryError
            If the text is wrong, or asks for too much.
        """
        document = Document.parse(text, self.graphql, operation, limits, introspection)
        if self.reason is not None:  # and who executes may change what leaves become
            object.__setattr__(document, "builtin_leaves", False)
        return document

    def execute_document(
        self,
        document: Document,
        variables: Mapping[str, Any],
        context: Any,
        root: Any,
        budget: ExecutionBudget | None = None,
    ) -> Result | Awaitable[Result]:
        """Execute a document; an awaitable only where something must be awaited.

        Raises
        ------
        QueryError
            If it is a subscription, or a variable does not fit.
        """
        context = self.build_context(context)
        if document.kind == "subscription" or not (self.options or self.reason):
            return run_document(self.graphql, document, variables, context, root, budget)
        given = (document, dict(variables), context, root)
        if budget is not None:
            finish = partial(build_result, variables=variables)
            return execute_bounded(
                partial(self.run_operation, budget, *given), budget, document, finish
            )
        outcome = self.run_operation(None, *given)
        if isawaitable(outcome):
            return await_result(outcome, document, variables)
        return build_result(outcome, document, variables)

    def prepare_subscription(
        self, document: Document, given: SubscriptionArguments
    ) -> Callable[[], Any]:
        """Return what begins a subscription; see :func:`gqlnb.engine.subscription.build_subscription`.

        Raises
        ------
        QueryError
            If graphql-core does not subscribe with the options.
        """
        given = given._replace(context=self.build_context(given.context))
        if self.reason is None:
            return build_subscription(self.graphql, document, given, self.options)
        return lambda: self.subscribe(document, given)

    def subscribe(self, document: Document, given: SubscriptionArguments) -> Any:
        """Subscribe as the library does."""
        if wrong := sorted(self.options.keys() - SUBSCRIBE_OPTIONS):
            message = f"The graphql-core that is installed subscribes without {', '.join(wrong)}."
            raise QueryError(message, text=document.text)
        return core_subscribe(
            self.graphql,
            document.ast,
            given.root,
            given.context,
            dict(given.variables),
            document.name,
            **self.options,
        )

    def build_context(self, given: Any) -> Any:
        """Return the context of an operation: what its caller gave, else what the adopter did."""
        if given is not None:
            return given
        return self._context() if callable(self._context) else self._context

    def explain(self, document: Document) -> Explanation:
        """Say why somebody else executes a document."""
        from gqlnb.engine.explanation import Explanation

        title = f"{document.kind} {document.name or ''}".strip()
        return Explanation(False, f"{title}: {self.reason}.", "")

    def get_profile_context(self, document: Document, context: Any) -> Any:
        """Return the context to profile a document with.

        Raises
        ------
        QueryError
            If somebody else executes it.
        """
        if self.reason is not None:
            message = f"Only what the compiled engine executes can be profiled: {self.reason}."
            raise QueryError(message, text=document.text)
        return self.build_context(context)

    def run_operation(
        self,
        budget: ExecutionBudget | None,
        document: Document,
        variables: dict[str, Any],
        context: Any,
        root: Any,
    ) -> Any:
        """Return what graphql-core answers with the options, or an awaitable of it."""
        given = (self.graphql, document.ast, root, context, variables, document.name)
        if budget is not None:
            return execute_within(budget, *given, **self.options)
        return execute(*given, **self.options)


class StrawberryAdapter(SchemaAdapter):
    """A Strawberry schema: compiled, or executed by Strawberry where more than a schema is asked.

    Its schema extensions, operation directives, executor class and the like live around the
    execution, so that only Strawberry itself can run them.
    """

    def __init__(self, graphql: GraphQLSchema, schema: Any, context: Any) -> None:
        super().__init__(graphql, context)
        self.schema = schema
        self.reason = find_strawberry_reason(schema)
        self.is_async = self.reason is not None and has_strawberry_async(schema)
        self.suggests = not getattr(schema.config, "disable_field_suggestions", False)
        self.validate = getattr(_find_strawberry_module(schema), "validate_document", None)

    def parse(
        self, text: str, operation: str | None, limits: Limits | None, introspection: bool
    ) -> Document:
        """Return the document of a text, checked by Strawberry's own rules too."""
        try:
            document = super().parse(text, operation, limits, introspection)
        except QueryError as error:
            if self.suggests or not error.problems:
                raise
            found: Any = [remove_suggestion(problem) for problem in error.problems]
        else:
            found = build_problems(
                self.validate(self.graphql, document.ast, ()) if self.validate else ()
            )
            if self.reason and not found:
                found = find_incremental_problems(document)
        if found:
            raise QueryError(text=text, problems=found)
        return document

    def run_operation(
        self,
        budget: ExecutionBudget | None,
        document: Document,
        variables: dict[str, Any],
        context: Any,
        root: Any,
    ) -> Any:
        """Return what Strawberry answers: awaited on the loop, if anything of it is async."""
        schema = self.schema
        if budget is not None:
            base = schema.execution_context_class
            schema = copy(schema)  # with an executor for this execution
            schema.execution_context_class = (
                build_counting_executor(budget, base) if base else build_counting_executor(budget)
            )
        method = schema.execute if self.is_async else schema.execute_sync
        return method(
            document.text,
            variable_values=variables,
            context_value=context,
            root_value=root,
            operation_name=document.name,
        )

    def subscribe(self, document: Document, given: SubscriptionArguments) -> Any:
        """Subscribe as Strawberry does."""
        return self.schema.subscribe(
            document.text,
            variable_values=dict(given.variables),
            context_value=given.context,
            root_value=given.root,
            operation_name=document.name,
        )


# -- recognising


def detect_library(schema: Any) -> str | None:
    """Return the name of the library that a schema object is of; None if it is no such object."""
    if isinstance(schema, GraphQLSchema):
        return "graphql"
    for base in type(schema).__mro__:
        home = str(base.__module__).partition(".")[0]
        if base.__name__ == "Schema" and home in SCHEMA_ATTRIBUTES:
            return home
    return None


def is_schema(schema: Any) -> bool:
    """Tell whether an object is a schema of graphql-core, Strawberry or Graphene."""
    return detect_library(schema) is not None


def build_adapter(
    schema: Any, context: Any = None, options: Mapping[str, Any] | None = None
) -> SchemaAdapter:
    """Return how a schema object is executed.

    Raises
    ------
    SchemaError
        If it is no schema object, is not valid, or does not go with the options.
    """
    core, kind, options = extract_schema(schema), detect_library(schema), options or {}
    if inspect.iscoroutinefunction(context):
        msg = "The function that makes a context is called, not awaited; it can't be async."
        raise SchemaError(msg)
    if kind == "strawberry" and options:
        msg = (
            f"{', '.join(options)}: a Strawberry schema holds itself what it is executed with. "
            "Give strawberry.Schema(extensions=..., execution_context_class=...)."
        )
        raise SchemaError(msg)
    if wrong := sorted(options.keys() - EXECUTE_OPTIONS):
        msg = (
            f"graphql-core's execute takes no {wrong[0]!r}. "
            f"Beside the context it takes: {', '.join(sorted(EXECUTE_OPTIONS))}."
        )
        raise SchemaError(msg)
    if found := validate_schema(core):
        raise SchemaError(problems=build_problems(found))
    if kind == "strawberry":
        return StrawberryAdapter(core, schema, context)
    if IS_GRAPHQL_33 and any(core.get_directive(name) for name in INCREMENTAL_DIRECTIVES):
        msg = (
            "graphql-core executes no schema with the directives @defer or @stream as one result. "
            "Leave them out of GraphQLSchema(directives=...)."
        )
        raise SchemaError(msg)
    return SchemaAdapter(core, context, options)


def extract_schema(schema: Any) -> GraphQLSchema:
    """Return the schema of graphql-core that a schema object is, or holds.

    Raises
    ------
    SchemaError
        If it is no schema object.
    """
    kind = detect_library(schema)
    found = (
        schema
        if kind == "graphql"
        else getattr(schema, SCHEMA_ATTRIBUTES.get(kind or "", ""), None)
    )
    if not isinstance(found, GraphQLSchema):
        raise SchemaError(format_unknown_schema(schema, kind))
    return found


def format_unknown_schema(schema: Any, kind: str | None) -> str:
    """Return the message for an object that can't be adopted."""
    name = sanitize_text(schema.__name__ if isinstance(schema, type) else type(schema).__name__, 80)
    if kind is not None:
        return f"This {kind} schema holds no schema of the graphql-core that is installed."
    what = f"the class {name}" if isinstance(schema, type) else name
    return (
        "Schema.adopt takes a GraphQLSchema of graphql-core (Ariadne's make_executable_schema "
        f"returns one), a strawberry.Schema or a graphene.Schema; got {what}."
    )


# -- remembering


class AdapterMemo:
    """What an object remembers: neither copied nor pickled with it."""

    __slots__ = ("made", "owner")

    def __init__(self, owner: Any = None, made: Any = None) -> None:
        self.owner = None if owner is None else ref(owner)
        self.made = made

    def recall(self, owner: Any, kind: type[T]) -> T | None:
        """Return what was made of `owner`, if this is its memory and that is of the kind."""
        own = self.owner is not None and self.owner() is owner
        return self.made if own and type(self.made) is kind else None

    def __reduce__(self) -> Any:
        return AdapterMemo, ()


_lock = RLock()


def get_remembered(schema: Any, kind: type[T], make: Callable[[], T]) -> T:
    """Return what was made of an object before, else make it.

    The object itself holds it, so that both are collected together: graphql-core's schema and what
    is made of it refer to each other, which a weak dictionary would keep for ever.
    """
    if not is_schema(schema):
        return make()
    with _lock:
        memory = vars(schema).get(MEMO_ATTRIBUTE)
        if isinstance(memory, AdapterMemo) and (found := memory.recall(schema, kind)) is not None:
            return found
        made = make()
        vars(schema)[MEMO_ATTRIBUTE] = AdapterMemo(schema, made)
        return made


# -- Strawberry


def find_strawberry_reason(schema: Any) -> str | None:
    """Return what of a schema only Strawberry can execute, if there is anything."""
    own = [
        name
        for name in ("execute", "execute_sync", "process_errors")
        if not is_strawberry_own(getattr(type(schema), name, None))
    ]
    executor = getattr(schema, "execution_context_class", None)
    extensions = [getattr(e, "__name__", type(e).__name__) for e in schema.extensions]
    found = {
        f"the schema extensions {', '.join(extensions)}": extensions,
        "its operation directives": list(schema.directives),
        f"its own {' and '.join(own)}": own,
        "its execution context class": not is_strawberry_own(executor),
        "incremental delivery": getattr(
            schema.config, "enable_experimental_incremental_execution", False
        ),
    }
    reasons = [reason for reason, there in found.items() if there]
    return f"Strawberry executes {', '.join(reasons)}" if reasons else None


def is_strawberry_own(thing: Any) -> bool:
    """Tell whether a function or class is Strawberry's own, or there is none."""
    return thing is None or thing.__module__.partition(".")[0] == "strawberry"


def has_strawberry_async(schema: Any) -> bool:
    """Tell whether a schema holds anything async: a resolver, a permission, an extension's hook."""
    hooks = [
        getattr(type(e), name, None)
        for e in schema.get_extensions(True)
        for name in EXTENSION_HOOKS
    ]
    resolvers = []
    for kind in extract_schema(schema).type_map.values():
        for field in getattr(kind, "fields", {}).values():
            resolvers.append(getattr(field, "resolve", None))
            definition = field.extensions.get("strawberry-definition")
            for extension in getattr(definition, "extensions", ()):
                if not getattr(extension, "supports_sync", True):
                    return True
        resolvers += [getattr(kind, "resolve_type", None), getattr(kind, "is_type_of", None)]
    return any(is_async_function(function) for function in hooks + resolvers)


def is_async_function(function: Any) -> bool:
    """Tell whether calling a function gives something to await or to iterate with awaits."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def remove_suggestion(problem: Problem) -> Problem:
    """Return a problem as a schema that gives nothing away states it."""
    message = problem.message
    if message.startswith("Cannot query field"):
        message = message.partition(SUGGESTION)[0].strip()
    return Problem(message, problem.line, problem.column)


def find_incremental_problems(document: Document) -> list[Problem]:
    """Return a problem for each ``@defer`` and ``@stream``: there is one result, not many."""
    said = "@{} asks for many results, and a schema of this process gives one. Leave it out."
    return build_problems(
        [
            GraphQLError(said.format(node.name.value), node)
            for node in document.incremental_directives
        ]
    )


def _find_strawberry_module(schema: Any) -> Any:
    """Return the module that defines Strawberry's schema class."""
    homes = (sys.modules.get(base.__module__) for base in type(schema).__mro__)
    return next((home for home in homes if hasattr(home, "validate_document")), None)

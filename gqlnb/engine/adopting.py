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

from gqlnb.engine.metered import bounded, counting
from gqlnb.engine.run import execute, execute_within, finished, finished_later, run
from gqlnb.engine.streaming import compiled
from gqlnb.engine.subscription import RESOLVERS
from gqlnb.engine.version import NEW
from gqlnb.errors import Problem, QueryError, SchemaError, plain
from gqlnb.model.document import INCREMENTAL, Document, problems

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gqlnb.engine.budget import Budget
    from gqlnb.engine.explaining import Explanation
    from gqlnb.engine.streaming import Given
    from gqlnb.model.limits import Limits
    from gqlnb.model.result import Result

__all__ = ["Adoption", "adoption", "deferred", "held", "is_schema", "remembered"]

T = TypeVar("T")

# Where the schema objects of a library hold graphql-core's. Strawberry's attribute begins with an
# underscore, but it is the one that its documentation and the packages built on it use.
HELD = {"graphene": "graphql_schema", "strawberry": "_schema"}
KEPT_AS = "_gqlnb_adoption"  # the attribute by which an object remembers its adoption
_PARAMETERS = tuple(inspect.signature(core_execute).parameters)
OPTIONS = frozenset(_PARAMETERS[_PARAMETERS.index("operation_name") + 1 :])
SUBSCRIBING = frozenset(inspect.signature(core_subscribe).parameters)
HOOKS = ("on_operation", "on_parse", "on_validate", "on_execute", "resolve", "get_results")
SUGGESTION = "Did you mean"


class Adoption:
    """A graphql-core schema, or an object that holds one, and how it is executed.

    Parameters
    ----------
    graphql
        The schema of graphql-core.
    context
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
        foreign = sorted(self.options.keys() - RESOLVERS)  # which the engine takes itself
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

    def start(
        self,
        document: Document,
        variables: Mapping[str, Any],
        context: Any,
        root: Any,
        budget: Budget | None = None,
    ) -> Result | Awaitable[Result]:
        """Execute a document; an awaitable only where something must be awaited.

        Raises
        ------
        QueryError
            If it is a subscription, or a variable does not fit.
        """
        context = self.context(context)
        if document.kind == "subscription" or not (self.options or self.reason):
            return run(self.graphql, document, variables, context, root, budget)
        given = (document, dict(variables), context, root)
        if budget is not None:
            finish = partial(finished, variables=variables)
            return bounded(partial(self.executed, budget, *given), budget, document, finish)
        outcome = self.executed(None, *given)
        if isawaitable(outcome):
            return finished_later(outcome, document, variables)
        return finished(outcome, document, variables)

    def subscribed(self, document: Document, given: Given) -> Callable[[], Any]:
        """Return what begins a subscription; see :func:`gqlnb.engine.streaming.compiled`.

        Raises
        ------
        QueryError
            If graphql-core does not subscribe with the options.
        """
        given = given._replace(context=self.context(given.context))
        if self.reason is None:
            return compiled(self.graphql, document, given, self.options)
        return lambda: self.subscribe(document, given)

    def subscribe(self, document: Document, given: Given) -> Any:
        """Subscribe as the library does."""
        if wrong := sorted(self.options.keys() - SUBSCRIBING):
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

    def context(self, given: Any) -> Any:
        """Return the context of an operation: what its caller gave, else what the adopter did."""
        if given is not None:
            return given
        return self._context() if callable(self._context) else self._context

    def explain(self, document: Document) -> Explanation:
        """Say why somebody else executes a document."""
        from gqlnb.engine.explaining import Explanation

        title = f"{document.kind} {document.name or ''}".strip()
        return Explanation(False, f"{title}: {self.reason}.", "")

    def to_profile(self, document: Document, context: Any) -> Any:
        """Return the context to profile a document with.

        Raises
        ------
        QueryError
            If somebody else executes it.
        """
        if self.reason is not None:
            message = f"Only what the compiled engine executes can be profiled: {self.reason}."
            raise QueryError(message, text=document.text)
        return self.context(context)

    def executed(
        self,
        budget: Budget | None,
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


class StrawberryAdoption(Adoption):
    """A Strawberry schema: compiled, or executed by Strawberry where more than a schema is asked.

    Its schema extensions, operation directives, executor class and the like live around the
    execution, so that only Strawberry itself can run them.
    """

    def __init__(self, graphql: GraphQLSchema, schema: Any, context: Any) -> None:
        super().__init__(graphql, context)
        self.schema = schema
        self.reason = strawberry_reason(schema)
        self.waits = self.reason is not None and strawberry_waits(schema)
        self.suggests = not getattr(schema.config, "disable_field_suggestions", False)
        self.validate = getattr(_home(schema), "validate_document", None)

    def parse(
        self, text: str, operation: str | None, limits: Limits | None, introspection: bool
    ) -> Document:
        """Return the document of a text, checked by Strawberry's own rules too."""
        try:
            document = super().parse(text, operation, limits, introspection)
        except QueryError as error:
            if self.suggests or not error.problems:
                raise
            found: Any = [unsuggesting(problem) for problem in error.problems]
        else:
            found = problems(self.validate(self.graphql, document.ast, ()) if self.validate else ())
            if self.reason and not found:
                found = deferred(document)
        if found:
            raise QueryError(text=text, problems=found)
        return document

    def executed(
        self,
        budget: Budget | None,
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
            schema.execution_context_class = counting(budget, base) if base else counting(budget)
        method = schema.execute if self.waits else schema.execute_sync
        return method(
            document.text,
            variable_values=variables,
            context_value=context,
            root_value=root,
            operation_name=document.name,
        )

    def subscribe(self, document: Document, given: Given) -> Any:
        """Subscribe as Strawberry does."""
        return self.schema.subscribe(
            document.text,
            variable_values=dict(given.variables),
            context_value=given.context,
            root_value=given.root,
            operation_name=document.name,
        )


# -- recognising


def library(schema: Any) -> str | None:
    """Return the name of the library that a schema object is of; None if it is no such object."""
    if isinstance(schema, GraphQLSchema):
        return "graphql"
    for base in type(schema).__mro__:
        home = str(base.__module__).partition(".")[0]
        if base.__name__ == "Schema" and home in HELD:
            return home
    return None


def is_schema(schema: Any) -> bool:
    """Tell whether an object is a schema of graphql-core, Strawberry or Graphene."""
    return library(schema) is not None


def adoption(
    schema: Any, context: Any = None, options: Mapping[str, Any] | None = None
) -> Adoption:
    """Return how a schema object is executed.

    Raises
    ------
    SchemaError
        If it is no schema object, is not valid, or does not go with the options.
    """
    core, kind, options = held(schema), library(schema), options or {}
    if inspect.iscoroutinefunction(context):
        msg = "The function that makes a context is called, not awaited; it can't be async."
        raise SchemaError(msg)
    if kind == "strawberry" and options:
        msg = (
            f"{', '.join(options)}: a Strawberry schema holds itself what it is executed with. "
            "Give strawberry.Schema(extensions=..., execution_context_class=...)."
        )
        raise SchemaError(msg)
    if wrong := sorted(options.keys() - OPTIONS):
        msg = (
            f"graphql-core's execute takes no {wrong[0]!r}. "
            f"Beside the context it takes: {', '.join(sorted(OPTIONS))}."
        )
        raise SchemaError(msg)
    if found := validate_schema(core):
        raise SchemaError(problems=problems(found))
    if kind == "strawberry":
        return StrawberryAdoption(core, schema, context)
    if NEW and any(core.get_directive(name) for name in INCREMENTAL):
        msg = (
            "graphql-core executes no schema with the directives @defer or @stream as one result. "
            "Leave them out of GraphQLSchema(directives=...)."
        )
        raise SchemaError(msg)
    return Adoption(core, context, options)


def held(schema: Any) -> GraphQLSchema:
    """Return the schema of graphql-core that a schema object is, or holds.

    Raises
    ------
    SchemaError
        If it is no schema object.
    """
    kind = library(schema)
    found = schema if kind == "graphql" else getattr(schema, HELD.get(kind or "", ""), None)
    if not isinstance(found, GraphQLSchema):
        raise SchemaError(unknown(schema, kind))
    return found


def unknown(schema: Any, kind: str | None) -> str:
    """Return the message for an object that can't be adopted."""
    name = plain(schema.__name__ if isinstance(schema, type) else type(schema).__name__, 80)
    if kind is not None:
        return f"This {kind} schema holds no schema of the graphql-core that is installed."
    what = f"the class {name}" if isinstance(schema, type) else name
    return (
        "Schema.adopt takes a GraphQLSchema of graphql-core (Ariadne's make_executable_schema "
        f"returns one), a strawberry.Schema or a graphene.Schema; got {what}."
    )


# -- remembering


class Memory:
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
        return Memory, ()


_lock = RLock()


def remembered(schema: Any, kind: type[T], make: Callable[[], T]) -> T:
    """Return what was made of an object before, else make it.

    The object itself holds it, so that both are collected together: graphql-core's schema and what
    is made of it refer to each other, which a weak dictionary would keep for ever.
    """
    if not is_schema(schema):
        return make()
    with _lock:
        memory = vars(schema).get(KEPT_AS)
        if isinstance(memory, Memory) and (found := memory.recall(schema, kind)) is not None:
            return found
        made = make()
        vars(schema)[KEPT_AS] = Memory(schema, made)
        return made


# -- Strawberry


def strawberry_reason(schema: Any) -> str | None:
    """Return what of a schema only Strawberry can execute, if there is anything."""
    own = [
        name
        for name in ("execute", "execute_sync", "process_errors")
        if not strawberrys(getattr(type(schema), name, None))
    ]
    executor = getattr(schema, "execution_context_class", None)
    extensions = [getattr(e, "__name__", type(e).__name__) for e in schema.extensions]
    found = {
        f"the schema extensions {', '.join(extensions)}": extensions,
        "its operation directives": list(schema.directives),
        f"its own {' and '.join(own)}": own,
        "its execution context class": not strawberrys(executor),
        "incremental delivery": getattr(
            schema.config, "enable_experimental_incremental_execution", False
        ),
    }
    reasons = [reason for reason, there in found.items() if there]
    return f"Strawberry executes {', '.join(reasons)}" if reasons else None


def strawberrys(thing: Any) -> bool:
    """Tell whether a function or class is Strawberry's own, or there is none."""
    return thing is None or thing.__module__.partition(".")[0] == "strawberry"


def strawberry_waits(schema: Any) -> bool:
    """Tell whether a schema holds anything async: a resolver, a permission, an extension's hook."""
    hooks = [getattr(type(e), name, None) for e in schema.get_extensions(True) for name in HOOKS]
    resolvers = []
    for kind in held(schema).type_map.values():
        for field in getattr(kind, "fields", {}).values():
            resolvers.append(getattr(field, "resolve", None))
            definition = field.extensions.get("strawberry-definition")
            for extension in getattr(definition, "extensions", ()):
                if not getattr(extension, "supports_sync", True):
                    return True
        resolvers += [getattr(kind, "resolve_type", None), getattr(kind, "is_type_of", None)]
    return any(asynchronous(function) for function in hooks + resolvers)


def asynchronous(function: Any) -> bool:
    """Tell whether calling a function gives something to await or to iterate with awaits."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def unsuggesting(problem: Problem) -> Problem:
    """Return a problem as a schema that gives nothing away states it."""
    message = problem.message
    if message.startswith("Cannot query field"):
        message = message.partition(SUGGESTION)[0].strip()
    return Problem(message, problem.line, problem.column)


def deferred(document: Document) -> list[Problem]:
    """Return a problem for each ``@defer`` and ``@stream``: there is one result, not many."""
    said = "@{} asks for many results, and a schema of this process gives one. Leave it out."
    return problems(
        [GraphQLError(said.format(node.name.value), node) for node in document.incremental]
    )


def _home(schema: Any) -> Any:
    """Return the module that defines Strawberry's schema class."""
    homes = (sys.modules.get(base.__module__) for base in type(schema).__mro__)
    return next((home for home in homes if hasattr(home, "validate_document")), None)

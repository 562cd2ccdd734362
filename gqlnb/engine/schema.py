"""A schema with its resolvers, executed in this process."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from graphql import GraphQLSchema, print_schema

from gqlnb import background
from gqlnb.document.document import Document
from gqlnb.document.variables import bind_variables
from gqlnb.engine.compiled_execution import run_document
from gqlnb.engine.execution_budget import ExecutionBudget
from gqlnb.engine.resolvers import bind_field, bind_resolvers, bind_type_resolver
from gqlnb.engine.schema_adapters import (
    SchemaAdapter,
    build_adapter,
    find_incremental_problems,
    get_remembered,
)
from gqlnb.engine.schema_builder import (
    REFERENCE_SDL,
    build_sdl_schema,
    has_async_resolvers,
    remove_incremental_directives,
    summarize_operations,
)
from gqlnb.engine.subscription import (
    Stream,
    SubscriptionArguments,
    build_subscription,
    check_subscription,
)
from gqlnb.errors import Problem, QueryError
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphql import GraphQLSchema

    from gqlnb.document.document import Document
    from gqlnb.document.limits import Limits
    from gqlnb.engine.explanation import Explanation, Profile
    from gqlnb.engine.schema_adapters import SchemaAdapter
    from gqlnb.engine.subscription import Runner

__all__ = [
    "MAX_CACHED_TEXT",
    "MockMixin",
    "Schema",
    "SubscriptionMixin",
    "cache_documents",
    "reference_schema",
]

F = TypeVar("F", bound=Callable[..., Any])


async def _await_result(begun: Awaitable[Result]) -> Result:
    return await begun


if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.document.document import Document
    from gqlnb.document.limits import Limits

    # Of a text, the name of its operation, the limits, and whether introspection is allowed.
    DocumentParser = Callable[[str, str | None, Limits | None, bool], Document]

MAX_DOCUMENTS = 512  # texts per schema; a notebook or a server repeats few
# Characters; what is longer is parsed anew, so that strangers can't fill memory.
MAX_CACHED_TEXT = 16_000
MAX_CACHED_NAME = 200
MAX_CACHED_REFUSAL = 16_000  # messages repeat the names of the text


class CachedRefusal(NamedTuple):
    """What a wrong text is answered: its problems, or a message where there are none."""

    message: str
    problems: tuple[Problem, ...]


def cache_documents(parse: DocumentParser) -> DocumentParser:
    """Return a function that does as `parse` and remembers, also what it refuses."""

    @lru_cache(MAX_DOCUMENTS)
    def parse_or_refuse(
        text: str, operation: str | None, limits: Limits | None, introspection: bool
    ) -> Document | CachedRefusal:
        try:
            return parse(text, operation, limits, introspection)
        except QueryError as error:
            refusal = CachedRefusal("" if error.problems else str(error), error.problems)
            said = sum(len(each.message) + len(each.hint or "") for each in refusal.problems)
            if said + len(refusal.message) > MAX_CACHED_REFUSAL:
                raise
            return refusal

    def get_document(
        text: str, operation: str | None, limits: Limits | None, introspection: bool
    ) -> Document:
        if type(text) is not str or len(text) > MAX_CACHED_TEXT:
            return parse(text, operation, limits, introspection)
        if operation is not None and (
            type(operation) is not str or len(operation) > MAX_CACHED_NAME
        ):
            return parse(text, operation, limits, introspection)
        found = parse_or_refuse(text, operation, limits, introspection)
        if type(found) is CachedRefusal:  # raised anew: whoever catches an error may change it
            raise QueryError(found.message, text=text, problems=found.problems)
        return found  # type: ignore[return-value]

    return get_document


class MockMixin:
    """How a schema is made that answers with made-up data; :class:`gqlnb.Schema` is whole."""

    notes: tuple[str, ...] = ()
    _graphql: GraphQLSchema
    _adapter: SchemaAdapter | None
    _cached_parse: Callable[..., Document]
    _parse: Callable[..., Document]

    @classmethod
    def mock(
        cls,
        schema: Any,
        *,
        seed: int = 0,
        resolvers: Mapping[str, Mapping[str, Any]] | None = None,
        nulls: float = 0.1,
        lengths: tuple[int, int] = (1, 5),
        sizes: tuple[int, int] = (5, 50),
        scalars: Mapping[str, str | Callable[[int], Any]] | None = None,
    ) -> Self:
        """Return a Schema that answers with made-up data, so that a notebook can come first.

        Values are right by type and by format, and depend on the seed alone: the same question has
        the same answer everywhere. An object found again by its id is the same in every field, and
        the pages of a connection are those of one list. The module :mod:`gqlnb.engine.mock`
        says what becomes of names, arguments, mutations and subscriptions.

        Parameters
        ----------
        schema
            SDL; the answer to an introspection query, as JSON text or as a mapping; or a schema
            object, as for :meth:`Schema.adopt`, of which a copy without its resolvers is made.
            What others publish is not always valid, GitHub's SDL is not: a mistake that can be
            passed over is, with a warning that names it, which is in ``notes`` of the Schema too.
        seed
            Another seed gives other data.
        resolvers
            Functions that answer instead, as for :class:`Schema`; also later, by
            :meth:`Schema.resolver`. They may return a part of an object.
        nulls
            The share of the values of nullable fields that are null, 0 to 1.
        lengths
            The fewest and the most items of a list.
        sizes
            The same of a connection, and of a list that is asked for in pages.
        scalars
            For scalars of one's own: the name of a known one with the same format, or a function
            that makes a value of a number of 64 bits.

        Raises
        ------
        SchemaError
            If there is no schema in it, an option has no such value, or a resolver fits no field.

        Examples
        --------
        >>> from gqlnb import Schema
        >>> sdl = "type Query { user(id: ID!): User } type User { id: ID! age: Int! }"
        >>> Schema.mock(sdl).execute('{ user(id: "7") { id age } }').data
        {'user': {'id': '7', 'age': 86}}
        """
        from gqlnb.engine.mock.generator import MockOptions
        from gqlnb.engine.mock.mock_schema import build_mock_schema

        options = MockOptions(seed, nulls, lengths, sizes, scalars or {})
        self = cls.__new__(cls)
        self._graphql, self.notes = build_mock_schema(schema, options, resolvers)
        for note in self.notes:
            warnings.warn(note, stacklevel=2)
        self._adapter = None
        self._cached_parse = cache_documents(self._parse)
        return self


class SubscriptionMixin:
    """What a schema does with subscriptions; :class:`gqlnb.Schema` is whole."""

    _graphql: GraphQLSchema
    _adapter: SchemaAdapter | None

    @cached_property
    def _executable_schema(self) -> GraphQLSchema:
        return remove_incremental_directives(self._graphql)

    def parse_document(
        self, text: str, operation: str | None = None, *, limits: Limits | None = None
    ) -> Document:
        """Return the document of a text; the schema says how."""
        raise NotImplementedError

    def subscribe(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
    ) -> Stream:
        """Subscribe, and return the stream of results, one for each event.

        Parameters
        ----------
        text, variables, operation, context, root
            As for :meth:`execute`.
        limits
            How much the text may ask for, and the execution of each event take; None for no limit.

        Returns
        -------
        Stream
            For ``for`` and for ``async for``. The function of the subscription is called at the
            first step. What it raises then is an error of the one result; what it raises later
            ends the stream, as it is.

        Raises
        ------
        QueryError
            If the text or the variables are wrong, or it is no subscription; at the call, not at
            the first step.

        Examples
        --------
        >>> def countdown(root, args, context):
        ...     yield from range(args["start"], 0, -1)
        >>> from gqlnb import Schema
        >>> schema = Schema(
        ...     "type Query { hello: String } type Subscription { countdown(start: Int!): Int }",
        ...     {"Subscription": {"countdown": countdown}},
        ... )
        >>> stream = schema.subscribe("subscription { countdown(start: 3) }")
        >>> [result["countdown"] for result in stream]
        [3, 2, 1]
        """
        document = self.parse_document(text, operation, limits=limits)
        given = bind_variables(document, variables)
        return self.subscribe_document(document, given, context=context, root=root, limits=limits)

    def subscribe_document(
        self,
        document: Document,
        variables: Mapping[str, Any],
        *,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
        place: Runner | None = None,
    ) -> Stream:
        """Do as :meth:`subscribe` with a document of this schema and JSON-like variables.

        Parameters
        ----------
        place
            Calls the function it is given and awaits it, in a thread perhaps: the plain resolvers
            of an event run in it. None for the thread that iterates.
        """
        check_subscription(document, variables)
        given = SubscriptionArguments(variables, context, root, limits, place)
        if self._adapter is not None:
            return Stream(self._adapter.prepare_subscription(document, given), document)
        return Stream(build_subscription(self._executable_schema, document, given, {}), document)


class Schema(MockMixin, SubscriptionMixin):
    """A GraphQL schema and the functions that resolve its fields.

    It keeps no state between operations and may be used from any thread.

    Parameters
    ----------
    sdl
        The schema in GraphQL's schema definition language.
    resolvers
        Functions by type and field, ``{"Query": {"hello": f}}``. A resolver is called positionally
        as ``f(root, args, context)``: the parent value, the arguments by name, and what the caller
        gave as context; it may be ``async``. ``"__resolveType": f(value, context)`` names the
        object type of an interface's or union's value, ``"__serialize"`` and ``"__parseValue"``
        convert a scalar's, and a member of an enum may be given the Python value it stands for.
        A field without a resolver is looked up in its parent: a key of a mapping, an attribute of
        any other object. The function of a field of ``Subscription`` is a generator, ``async`` or
        not, or returns an iterable: it yields the values of the field, one for each event. (It may
        yield ``{field: value}`` too, as graphql-core's own subscriptions do.) The steps of a plain
        generator run in threads, so that it may wait.

    Raises
    ------
    SchemaError
        If the SDL is wrong (with line, column and caret) or a resolver fits no field.

    Attributes
    ----------
    revision : int
        How often a resolver was put in the place of another, or of none, since it was made.
    notes : tuple of str
        What was passed over in the schema of a mock, a sentence each; empty for others.

    Examples
    --------
    >>> schema = Schema("type Query { hello: String }", {"Query": {"hello": lambda *_: "Hi!"}})
    >>> schema.execute("{ hello }").data
    {'hello': 'Hi!'}
    """

    revision = 0

    def __init__(self, sdl: str, resolvers: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._graphql = build_sdl_schema(sdl)
        bind_resolvers(self._graphql, resolvers or {})
        self._adapter: SchemaAdapter | None = None
        self._cached_parse = cache_documents(self._parse)

    @classmethod
    def adopt(cls, schema: Any, *, context: Any = None, **options: Any) -> Schema:
        """Return a Schema around a schema object of another library, which runs as it is.

        Its resolvers are called as that library calls them. Nothing of the library is imported,
        and nothing of the object is changed, but that it remembers what is returned here: adopted
        again without `context` and `options`, it gives the same Schema, with its documents and
        plans. :class:`gqlnb.Client`, :func:`gqlnb.connect`, :func:`gqlnb.serve` and ``%%graphql``
        adopt by themselves.

        Parameters
        ----------
        schema
            A ``GraphQLSchema`` of graphql-core, which is what Ariadne's ``make_executable_schema``
            returns; a ``strawberry.Schema``; a ``graphene.Schema``; or a Schema.
        context
            What resolvers find in ``info.context`` where the caller gives no context, as none can
            over HTTP or in ``%%graphql``: a value, or a function of no arguments that makes a new
            one for each operation (of new data loaders, say).
        **options
            Further arguments of graphql-core's ``execute``, such as Graphene's and Ariadne's
            ``middleware=[...]``; not for Strawberry, whose schema holds its own.

        Raises
        ------
        SchemaError
            If `schema` is something else or is not valid, or an option does not exist.

        Notes
        -----
        The compiled engine executes, unless the schema or the options ask for what only their
        library can do: Strawberry executes by itself a schema with extensions, operation
        directives, an executor class, incremental delivery or a ``process_errors`` of its own;
        graphql-core executes with middleware or an executor class.

        What does not work:

        * ``@defer`` and ``@stream``: ``execute`` returns one result.
        * A subscription with ``middleware`` or another option that the ``subscribe`` of the
          graphql-core that is installed does not take.
        * What belongs to a library's web application rather than to its schema: the context it
          makes of an HTTP request, and Ariadne's extensions and error formatters. Ask such an
          application as it is: it is ASGI, and ``gqlnb.Client(app)`` takes it.
        * A plain resolver that hands out a future of the running loop, as a data loader's ``load``
          is: there is a loop only where :meth:`aexecute` is awaited. An ``async def`` works
          everywhere.
        * Documents that only an extension of Strawberry understands: they are parsed and validated
          here first, and of several operations one must be named.
        * Strawberry's ``info.input_extensions``: no request has any, and reading them is an error
          unless Strawberry executes.
        """
        if isinstance(schema, Schema):
            if context is None and not options:
                return schema
            schema = schema.graphql

        def make() -> Schema:
            self = cls.__new__(cls)
            self._adapter = build_adapter(schema, context, options)
            self._graphql = self._adapter.graphql
            self._cached_parse = cache_documents(self._parse)
            return self

        return get_remembered(schema, cls, make) if context is None and not options else make()

    @classmethod
    def from_frame(
        cls,
        frames: Mapping[str, Any] | None = None,
        /,
        *,
        types: Mapping[str, str] | None = None,
        keys: Mapping[str, str] | None = None,
        relations: Mapping[str, str] | None = None,
        page_sizes: tuple[int, int] = (100, 1000),
        **named: Any,
    ) -> Schema:
        """Return a Schema over DataFrames: typed, filtered, ordered and paged by whole columns.

        ``from_frame(repositories=df)`` has the field ``repositories(first, after, last, before,
        where, orderBy)``, a connection of rows of type ``Repository``, and one row by its key,
        ``repository(id)``. The module :mod:`gqlnb.engine.dataframe` says what becomes of names,
        dtypes, missing values and later changes, and what filters and orders mean.

        Parameters
        ----------
        frames, **named
            DataFrames by the name of their field; also what else Arrow can read, such as Polars.
        types
            The type of a frame's rows, ``{"people": "Person"}``; by default made from its name.
        keys
            The column that rows are looked up by; by default a named index, else ``id``.
        relations
            Columns that refer to others, ``{"repositories.owner": "owners.login"}``: ``owner`` is
            then an Owner, and an Owner has ``repositories``.
        page_sizes
            Rows of a page where neither `first` nor `last` is given, and at most.

        Raises
        ------
        SchemaError
            If a column has no GraphQL type or shares its name, or an option fits no frame.

        Examples
        --------
        >>> import pandas as pd
        >>> schema = Schema.from_frame(rows=pd.DataFrame({"stars": [7, 30, 12]}))
        >>> schema.execute("{ rows(where: {stars: {gt: 10}}) { nodes { stars } } }").data
        {'rows': {'nodes': [{'stars': 30}, {'stars': 12}]}}
        """
        from gqlnb.engine.dataframe.frame_schema import FrameSchema

        given = {} if frames is None else frames
        service = FrameSchema(given, named, types, keys, relations, page_sizes)
        self = cls(service.sdl, service.scalars)
        service.set_resolvers(self._graphql.type_map)
        return self

    @property
    def graphql(self) -> GraphQLSchema:
        """The schema as graphql-core's own object, which runs under graphql-core too."""
        return self._graphql

    @property
    def sdl(self) -> str:
        """The schema as SDL text."""
        return print_schema(self._graphql)

    @property
    def is_async(self) -> bool:
        """Whether a resolver is an ``async`` function."""
        return has_async_resolvers(self._graphql)

    def resolver(self, place: str) -> Callable[[F], F]:
        """Return a decorator that lets a function resolve the field at `place`.

        The function is returned unchanged; running the cell again replaces it, also while the
        schema is being served.

        Parameters
        ----------
        place
            Type and field, such as ``"Query.hello"``.

        Raises
        ------
        SchemaError
            If there is no such field, or the function does not take (root, args, context).
        """

        def decorate(function: F) -> F:
            bind_field(self._graphql, place, function)
            self.revision += 1
            return function

        return decorate

    def type_resolver(self, name: str) -> Callable[[F], F]:
        """Return a decorator that lets a function name the type of an interface's value.

        Parameters
        ----------
        name
            The interface or union.

        Raises
        ------
        SchemaError
            If there is no such type, or the function does not take (value, context).
        """

        def decorate(function: F) -> F:
            bind_type_resolver(self._graphql, name, function)
            self.revision += 1
            return function

        return decorate

    def execute(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
    ) -> Result:
        """Execute an operation and return its result.

        Parameters
        ----------
        text
            The document.
        variables
            Python values by name, without the ``$``.
        operation
            The name of the operation to run; None where there is only one.
        context
            Handed to every resolver as its third argument.
        root
            The parent value of the root fields.
        limits
            How much the text may ask for, and the execution take; None for no limit.

        Returns
        -------
        Result
            Also when resolvers failed: their errors stand beside the data. One that was stopped
            has no data, and one error.

        Raises
        ------
        QueryError
            If the text or the variables are wrong, or the text asks for too much; nothing was
            executed then.
        """
        document = self._cached_parse(text, operation, limits, True)
        given = bind_variables(document, variables)  # as begin() does, without the call
        begun = self.execute_document(document, given, context=context, root=root, limits=limits)
        return begun if isinstance(begun, Result) else background.run(_await_result(begun))

    async def aexecute(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
    ) -> Result:
        """Do as :meth:`execute`, awaiting resolvers on the running loop."""
        begun = self.begin_execution(
            text, variables, operation=operation, context=context, root=root, limits=limits
        )
        return begun if isinstance(begun, Result) else await begun

    def begin_execution(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
        introspection: bool = True,
    ) -> Result | Awaitable[Result]:
        """Do as :meth:`execute` and :meth:`parse_document`, leaving what must be awaited to the caller.

        Returns
        -------
        Result, or an awaitable of one
            The plain resolvers have run when it returns; an awaitable only where one was async.
        """
        document = self._cached_parse(text, operation, limits, introspection)
        given = bind_variables(document, variables)
        return self.execute_document(document, given, context=context, root=root, limits=limits)

    def execute_document(
        self,
        document: Document,
        variables: Mapping[str, Any],
        *,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
        budget: ExecutionBudget | None = None,
    ) -> Result | Awaitable[Result]:
        """Do as :meth:`begin_execution` with a document of this schema and JSON-like variables.

        Parameters
        ----------
        limits
            How many fields and seconds it may take from now on.
        budget
            The same, for who may have to stop it; `limits` do not count then.
        """
        if budget is None and limits is not None:
            budget = ExecutionBudget.from_limits(limits)
        if self._adapter is not None:
            return self._adapter.execute_document(document, variables, context, root, budget)
        if self._executable_schema is not self._graphql and (
            found := find_incremental_problems(document)
        ):
            raise QueryError(text=document.text, problems=found)
        return run_document(self._executable_schema, document, variables, context, root, budget)

    def explain(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
    ) -> Explanation:
        """Explain how an operation is executed, without executing it.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`.

        Returns
        -------
        Explanation
            ``.plan`` lists the fields with what answers each, ``.source`` is the Python made of
            it; where graphql-core executes it instead, ``.plan`` says why.

        Raises
        ------
        QueryError
            If the text or the variables are wrong.
        """
        from gqlnb.engine.explanation import explain_operation

        document = self.parse_document(text, operation)
        if self._adapter is not None and self._adapter.reason is not None:
            return self._adapter.explain(document)
        return explain_operation(self._graphql, document, bind_variables(document, variables))

    def profile(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        context: Any = None,
        root: Any = None,
    ) -> Profile:
        """Execute an operation and tell where its time went.

        Parameters
        ----------
        text, variables, operation, context, root
            As for :meth:`execute`.

        Returns
        -------
        Profile
            ``.frame()`` has calls and seconds per field, its repr draws them as bars, and
            ``.result`` is the Result.

        Raises
        ------
        QueryError
            If the text or the variables are wrong, or the compiled engine does not execute it.
        """
        from gqlnb.engine.explanation import profile_operation

        document = self.parse_document(text, operation)
        if self._adapter is not None:
            context = self._adapter.get_profile_context(document, context)
        return profile_operation(
            self._graphql, document, bind_variables(document, variables), context, root
        )

    def parse_document(
        self,
        text: str,
        operation: str | None = None,
        *,
        limits: Limits | None = None,
        introspection: bool = True,
    ) -> Document:
        """Return the document of a text, checked against this schema.

        Parameters
        ----------
        limits
            How much the text may ask for; None for no limit.
        introspection
            Whether ``__schema`` and ``__type`` may be asked for.

        Raises
        ------
        QueryError
            If the text is wrong, or asks for too much.
        """
        return self._cached_parse(text, operation, limits, introspection)

    def _parse(
        self, text: str, operation: str | None, limits: Limits | None, introspection: bool
    ) -> Document:
        if self._adapter is not None:
            return self._adapter.parse(text, operation, limits, introspection)
        return Document.parse(text, self._graphql, operation, limits, introspection)

    def __repr__(self) -> str:
        return f"Schema({summarize_operations(self._graphql)})"


def reference_schema() -> Schema:
    """Return the reference schema: ``{ hello }`` answers ``Hello world!``.

    Examples
    --------
    >>> reference_schema().execute("{ hello }").data
    {'hello': 'Hello world!'}
    """
    return Schema(REFERENCE_SDL, {"Query": {"hello": lambda *_: "Hello world!"}})

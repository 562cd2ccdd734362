"""A schema with its resolvers, executed in this process."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from graphql import GraphQLSchema

from gqlnb import background
from gqlnb.document.schema_text import Diagram, build_diagram, print_sdl
from gqlnb.document.variables import bind_variables
from gqlnb.engine.execution_budget import ExecutionBudget
from gqlnb.engine.graphql_compat import forget_derived_values
from gqlnb.engine.schema_adapters import SchemaAdapter, build_adapter, get_remembered
from gqlnb.engine.schema_builder import (
    REFERENCE_SDL,
    Resolvers,
    bind_field,
    bind_resolvers,
    bind_type_resolver,
    build_sdl_schema,
    has_async_resolvers,
    summarize_operations,
)
from gqlnb.engine.subscription import SubscriptionArguments
from gqlnb.engine.tracing import build_traced_adapter
from gqlnb.interactive import raise_attribute_error, split_hints, warn_caller
from gqlnb.option_checks import explain_keywords
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from gqlnb.document.document import Document
    from gqlnb.engine.explanation import Explanation, Profile
    from gqlnb.engine.subscription import Stream
    from gqlnb.limits import Limits

F = TypeVar("F", bound=Callable[..., Any])

# Names that readers of other libraries try first.
_HINTS = split_hints(
    {
        "query run execute_sync": "execute(text, variables)",
        "execute_async aquery": "aexecute(text, variables)",
        "serve start listen app asgi": "gqlnb.serve(schema)",
        "connect client": "gqlnb.connect(schema)",
        "frame df": "execute(text).df",
        "pages execute_all": "gqlnb.connect(schema).execute_all(text)",
        "as_str print to_sdl to_string": "sdl",
        "types type_map get_type graphql_schema": "graphql, the schema of graphql-core",
        "field query_field add_resolver set_resolver": "resolver('Type.field')",
        "introspect validate": "execute(text) for introspection, parse_document(text) to validate",
        "from_df from_dataframe from_frames": "from_frame",
    }
)


async def _await_result(pending: Awaitable[Result]) -> Result:
    return await pending


# A request error (syntax, validation, variables) is an exception; an error of a field is part of
# the result. The engine, the HTTP responses and the contract tests agree on this line, so that a
# mistake is the same exception on every transport.
@explain_keywords
class Schema:
    """A GraphQL schema and the functions that resolve its fields.

    It keeps no state between operations and may be used from any thread.

    Parameters
    ----------
    sdl
        The schema in GraphQL's schema definition language.
    resolvers
        Functions by type and field, ``{"Query": {"hello": f}}``. A resolver is called positionally
        as ``f(root, args, context)``: the parent value, the arguments by name, and the caller's
        context; it may be ``async``. ``"__resolveType": f(value, context)`` returns the name of
        the object type of an interface's or union's value, ``"__serialize"`` and ``"__parseValue"``
        convert the values of a scalar, and an enum member maps to its Python value. A field without
        a resolver is looked up in its parent: a key of a mapping, an attribute of any other object.
        The function of a field of ``Subscription`` is a generator, ``async`` or not, or returns an
        iterable: it yields the values of the field, one for each event. (It may yield
        ``{field: value}`` too, like graphql-core's own subscriptions.) The steps of a plain
        generator run in threads, so that they may block.

    Raises
    ------
    SchemaError
        If the SDL is invalid (with line, column and caret) or a resolver matches no field.

    Attributes
    ----------
    notes : tuple of str
        The mistakes ignored in the schema of a mock, a sentence each; empty for other schemas.

    Examples
    --------
    >>> schema = Schema("type Query { hello: String }", {"Query": {"hello": lambda *_: "Hi!"}})
    >>> schema.execute("{ hello }").data
    {'hello': 'Hi!'}
    """

    notes: tuple[str, ...] = ()

    def __init__(self, sdl: str, resolvers: Resolvers | None = None) -> None:
        graphql = build_sdl_schema(sdl)
        bind_resolvers(graphql, resolvers or {})
        self._set_adapter(SchemaAdapter(graphql))

    def _set_adapter(self, adapter: SchemaAdapter) -> None:
        self._adapter, self._graphql = adapter, adapter.graphql

    if not TYPE_CHECKING:  # type checkers would accept any attribute name

        def __getattr__(self, name: str) -> NoReturn:
            raise_attribute_error(self, name, _HINTS)

    @classmethod
    def mock(
        cls,
        schema: object,
        *,
        seed: int = 0,
        resolvers: Resolvers | None = None,
        nulls: float = 0.1,
        lengths: tuple[int, int] = (1, 5),
        sizes: tuple[int, int] = (5, 50),
        scalars: Mapping[str, str | Callable[[int], object]] | None = None,
    ) -> Self:
        """Return a Schema that answers with generated data, before there are any resolvers.

        Values have the right type and format and depend on the seed alone: the same query has the
        same result everywhere. An object has the same values in every field that leads to its id,
        and the pages of a connection are parts of one list. The module :mod:`gqlnb.engine.mock`
        documents the handling of names, arguments, mutations and subscriptions.

        Parameters
        ----------
        schema
            SDL; the result of an introspection query, as JSON text or as a mapping; or a schema
            object, as for :meth:`Schema.adopt`, which is copied without its resolvers. Published
            schemas are not always valid, GitHub's is not: a mistake that can be ignored is
            reported as a warning, and in ``notes`` of the Schema.
        seed
            Another seed gives other data.
        resolvers
            Functions used instead of generated data, as for :class:`Schema`; also later, by
            :meth:`Schema.resolver`. They may return a part of an object.
        nulls
            The share of null among the values of nullable fields, 0 to 1.
        lengths
            The smallest and the largest number of items of a list.
        sizes
            The same for a connection, and for a list that takes paging arguments.
        scalars
            For custom scalars: the name of a known scalar of the same format, or a function from a
            number of 64 bits to a value.

        Returns
        -------
        Schema
            A schema with a generator of values for each field.

        Raises
        ------
        SchemaError
            If `schema` is not a schema, an option has an invalid value, or a resolver matches no
            field.

        Examples
        --------
        >>> from gqlnb import Schema
        >>> sdl = "type Query { user(id: ID!): User } type User { id: ID! age: Int! }"
        >>> Schema.mock(sdl).execute('{ user(id: "7") { id age } }').data
        {'user': {'id': '7', 'age': 86}}
        """
        from gqlnb.engine.mock.mock_schema import MockOptions, build_mock_schema

        options = MockOptions(seed, nulls, lengths, sizes, scalars or {})
        graphql, notes = build_mock_schema(schema, options, resolvers)
        for note in notes:
            warn_caller(note)
        self = cls.__new__(cls)
        self.notes = notes
        self._set_adapter(SchemaAdapter(graphql))
        return self

    @classmethod
    def adopt(cls, schema: object, *, context: object = None, **options: object) -> Schema:
        """Return a Schema around a schema object of another library.

        Its resolvers are called the way that library calls them. The library is not imported. The
        object is not changed, except that it remembers the Schema returned here: adopted again
        without `context` and `options`, it gives the same Schema, with its documents and plans.
        :class:`gqlnb.Client`, :func:`gqlnb.connect`, :func:`gqlnb.serve` and ``%%graphql`` adopt
        schema objects automatically.

        Parameters
        ----------
        schema
            A ``GraphQLSchema`` of graphql-core, such as Ariadne's ``make_executable_schema``
            returns; a ``strawberry.Schema``; a ``graphene.Schema``; or a Schema.
        context
            The context of resolvers if the caller gives none, as over HTTP and in ``%%graphql``: a
            value, or a function without arguments that returns a new one for each operation (with
            new data loaders, say). The `context` of :func:`gqlnb.serve` takes its place.
        **options
            Further arguments of graphql-core's ``execute``, such as Graphene's and Ariadne's
            ``middleware=[...]``; not for Strawberry, whose schema has its own options.

        Returns
        -------
        Schema
            `schema` itself if it is a Schema and neither `context` nor options are given.

        Raises
        ------
        SchemaError
            If `schema` is another object or is not valid, or an option does not exist.

        Notes
        -----
        The compiled engine executes, unless the schema or the options need a feature of their
        library: Strawberry itself executes a schema with extensions, operation directives, an
        executor class or a ``process_errors`` of its own, and requests that come with
        ``extensions``; graphql-core executes with middleware or an executor class.

        Not supported:

        * ``@defer`` and ``@stream`` where a library executes; elsewhere :meth:`subscribe` takes
          them.
        * A subscription with ``middleware`` or another option that the ``subscribe`` of the
          installed graphql-core does not take.
        * Features of a library's web application rather than of its schema: the context it makes
          of an HTTP request, and Ariadne's extensions and error formatters. Query such an
          application as it is: it is ASGI, and ``gqlnb.Client(app)`` takes it.
        * A plain resolver that returns a future of the running loop, such as a data loader's
          ``load``: there is a loop only where :meth:`aexecute` is awaited. An ``async def`` works
          everywhere.
        * Documents that only an extension of Strawberry understands: they are parsed and validated
          here first, and of several operations one must be named.
        """
        if isinstance(schema, Schema):
            if context is None and not options:
                return schema
            schema = schema.graphql

        # Only without arguments: a remembered Schema can't know another context or other options.
        def make() -> Schema:
            self = cls.__new__(cls)
            self._set_adapter(build_adapter(schema, context, options))
            return self

        return get_remembered(schema, cls, make) if context is None and not options else make()

    @classmethod
    def from_frame(
        cls,
        frames: Mapping[str, object] | None = None,
        /,
        *,
        types: Mapping[str, str] | None = None,
        keys: Mapping[str, str] | None = None,
        relations: Mapping[str, str] | None = None,
        page_sizes: tuple[int, int] = (100, 1000),
        **named: object,
    ) -> Schema:
        """Return a Schema over DataFrames: typed, filtered, ordered and paged by whole columns.

        ``from_frame(repositories=df)`` has the field ``repositories(first, after, last, before,
        where, orderBy)``, a connection of rows of type ``Repository``, and one row by its key,
        ``repository(id)``. Names become valid GraphQL names, missing values become null, and later
        changes of a frame have no effect.

        Parameters
        ----------
        frames, **named
            DataFrames by the name of their field; also other tables that Arrow can read, such as
            those of Polars.
        types
            The type of a frame's rows, ``{"people": "Person"}``; by default made from its name.
        keys
            The column that rows are looked up by; by default a named index, else ``id``.
        relations
            Columns that refer to others, ``{"repositories.owner": "owners.login"}``: ``owner`` is
            then an Owner, and an Owner has ``repositories``.
        page_sizes
            The number of rows of a page without `first` and `last`, and the largest number.

        Returns
        -------
        Schema
            It holds the frames as they are now.

        Raises
        ------
        SchemaError
            If a column has no GraphQL type or shares its name, or an option matches no frame.

        Examples
        --------
        >>> import pandas as pd
        >>> schema = Schema.from_frame(rows=pd.DataFrame({"stars": [7, 30, 12]}))
        >>> schema.execute("{ rows(where: {stars: {gt: 10}}) { nodes { stars } } }").data
        {'rows': {'nodes': [{'stars': 30}, {'stars': 12}]}}
        """
        from gqlnb.engine.dataframe.frame_schema import FrameSchema

        service = FrameSchema(
            {} if frames is None else frames, named, types, keys, relations, page_sizes
        )
        self = cls(service.sdl, service.scalars)
        service.set_resolvers(self._graphql.type_map)
        return self

    @property
    def graphql(self) -> GraphQLSchema:
        """The schema as graphql-core's own object, which graphql-core can execute too."""
        return self._graphql

    @property
    def sdl(self) -> str:
        """The schema as SDL text.

        Directives that are applied in it, such as ``@key`` and ``@tag``, are kept where the schema
        was made from SDL: introspection and other libraries' schema objects do not have them.
        """
        return print_sdl(self._graphql)

    def diagram(self, types: Iterable[str] | None = None) -> Diagram:
        """Return a class diagram of the schema, which JupyterLab draws.

        Parameters
        ----------
        types
            Names of types, drawn with the fields between them; None for all but scalars, of which
            there may be 60.

        Returns
        -------
        Diagram
            Its ``text`` is in Mermaid's language.

        Raises
        ------
        OptionError
            If there are too many types.
        TargetError
            If a type does not exist.

        Examples
        --------
        >>> import gqlnb
        >>> sdl = "type Query { me: User } type User { name: String! friends: [User] }"
        >>> gqlnb.Schema(sdl).diagram()
        classDiagram
        class Query {
          me User
        }
        Query --> User : me
        class User {
          name String!
          friends [User]
        }
        User --> User : friends
        <BLANKLINE>
        """
        return build_diagram(self._graphql, types)

    @property
    def is_async(self) -> bool:
        """Whether a resolver is an ``async`` function."""
        return has_async_resolvers(self._graphql)

    def resolver(self, place: str) -> Callable[[F], F]:
        """Return a decorator that makes a function the resolver of a field.

        The function is returned unchanged. Running the cell again replaces it, also while the
        schema is being served.

        Parameters
        ----------
        place
            Type and field, such as ``"Query.hello"``.

        Returns
        -------
        function
            The decorator.

        Raises
        ------
        SchemaError
            If no such field exists, or the function does not take (root, args, context).
        """

        def decorate(function: F) -> F:
            bind_field(self._graphql, place, function)
            self._adapter.revision += 1
            return function

        return decorate

    def type_resolver(self, name: str) -> Callable[[F], F]:
        """Return a decorator that makes a function the type resolver of an abstract type.

        Parameters
        ----------
        name
            The interface or union.

        Returns
        -------
        function
            The decorator.

        Raises
        ------
        SchemaError
            If no such type exists, or the function does not take (value, context).
        """

        def decorate(function: F) -> F:
            bind_type_resolver(self._graphql, name, function)
            self._adapter.revision += 1
            return function

        return decorate

    def execute(
        self,
        text: str,
        variables: Mapping[str, object] | None = None,
        *,
        operation: str | None = None,
        context: object = None,
        root: object = None,
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
            The name of the operation to run; None if there is only one.
        context
            Passed to every resolver as its third argument.
        root
            The parent value of the root fields.
        limits
            Limits of the document and of its execution; None for no limit.

        Returns
        -------
        Result
            Also if resolvers failed: their errors stand beside the data. An execution that was
            stopped has no data, and one error.

        Raises
        ------
        QueryError
            If the text or the variables are invalid, or the text exceeds the limits; nothing was
            executed then.
        """
        document = self._adapter.get_document(text, operation, limits)
        values = bind_variables(document, variables)
        budget = None if limits is None else ExecutionBudget(limits.fields, limits.seconds)
        result = self._adapter.execute_document(document, values, context, root, budget)
        return result if isinstance(result, Result) else background.run(_await_result(result))

    async def aexecute(
        self,
        text: str,
        variables: Mapping[str, object] | None = None,
        *,
        operation: str | None = None,
        context: object = None,
        root: object = None,
        limits: Limits | None = None,
    ) -> Result:
        """Asynchronous version of :meth:`execute`; resolvers are awaited on the running loop.

        Parameters
        ----------
        text, variables, operation, context, root, limits
            As for :meth:`execute`.

        Returns
        -------
        Result
            As for :meth:`execute`.

        Raises
        ------
        QueryError
            As for :meth:`execute`.
        """
        document = self._adapter.get_document(text, operation, limits)
        values = bind_variables(document, variables)
        budget = None if limits is None else ExecutionBudget(limits.fields, limits.seconds)
        result = self._adapter.execute_document(document, values, context, root, budget)
        if isinstance(result, Result):
            return result
        with background.wake_loop():
            return await result

    def subscribe(
        self,
        text: str,
        variables: Mapping[str, object] | None = None,
        *,
        operation: str | None = None,
        context: object = None,
        root: object = None,
        limits: Limits | None = None,
    ) -> Stream:
        """Subscribe, and return the stream of results, one for each event.

        An operation with ``@defer`` or ``@stream`` has a result for each part of its answer, with
        all parts so far; this needs graphql-core 3.3, and the directives in the schema.

        Parameters
        ----------
        text, variables, operation, context, root
            As for :meth:`execute`.
        limits
            Limits of the document, and of the execution of each event, or of all parts of an
            answer together; None for no limit.

        Returns
        -------
        Stream
            For ``for`` and for ``async for``. The function of the subscription is called at the
            first step. An exception raised then is an error of the one result; one raised later
            ends the stream and is raised unchanged.

        Raises
        ------
        QueryError
            If the text or the variables are invalid, or the operation has a single result; at the
            call, not at the first step.

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
        document = self._adapter.get_document(text, operation, limits)
        values = bind_variables(document, variables)
        arguments = SubscriptionArguments(values, context, root, limits)
        return self._adapter.subscribe_document(document, arguments)

    def explain(
        self,
        text: str,
        variables: Mapping[str, object] | None = None,
        *,
        operation: str | None = None,
    ) -> Explanation:
        """Explain the execution of an operation, without executing it.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`.

        Returns
        -------
        Explanation
            ``.plan`` lists the fields, each with its resolver, ``.source`` is the generated
            Python; if graphql-core executes the operation, ``.plan`` gives the reason.

        Raises
        ------
        QueryError
            If the text or the variables are invalid.
        """
        from gqlnb.engine.explanation import explain_operation

        document = self.parse_document(text, operation)
        values = bind_variables(document, variables)
        return explain_operation(self._graphql, document, values, self._adapter.reason)

    def profile(
        self,
        text: str,
        variables: Mapping[str, object] | None = None,
        *,
        operation: str | None = None,
        context: object = None,
        root: object = None,
    ) -> Profile:
        """Execute an operation and measure the time of each field.

        The time of a field includes the fields below it. Many calls of a resolver that makes a
        query of a database mean as many queries: a DataLoader makes one.

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
            If the text or the variables are invalid, or the compiled engine does not execute it.
        """
        from gqlnb.engine.explanation import profile_operation

        document = self.parse_document(text, operation)
        context = self._adapter.get_profile_context(document, context)
        values = bind_variables(document, variables)
        return profile_operation(
            self._graphql, document, values, context, root, self._adapter.library
        )

    def with_tracing(self, provider: object = None) -> Self:
        """Return a copy of this schema with OpenTelemetry spans for operations and resolvers.

        Each operation, and each event of a subscription, has a span with its type and name, and
        below it each call of a resolver one with the field's path and type. Neither texts nor
        values are recorded; exceptions of resolvers are. This schema itself stays without spans and
        without their cost; resolvers set on it later are not in the copy.

        Parameters
        ----------
        provider
            An OpenTelemetry ``TracerProvider``; None for the global one.

        Returns
        -------
        Schema
            The copy.

        Raises
        ------
        MissingExtraError
            If OpenTelemetry is not installed: ``pip install opentelemetry-api``.
        SchemaError
            If Strawberry itself executes the schema.

        Examples
        --------
        >>> from gqlnb import reference_schema
        >>> reference_schema().with_tracing().execute("{ hello }").data  # doctest: +SKIP
        {'hello': 'Hello world!'}
        """
        traced: Self = copy.copy(self)
        traced._set_adapter(build_traced_adapter(self._adapter, provider))
        return traced

    def refresh(self) -> None:
        """Forget everything that was derived from the schema.

        A change of :attr:`graphql`, such as a replaced field, type, default or resolver, is noticed
        at the next execution, as by graphql-core. This method is needed for what graphql-core
        itself derives once and keeps: the names of enum values in answers, the types of an
        abstract type, and, in version 3.3, defaults.

        Examples
        --------
        >>> import gqlnb
        >>> schema = gqlnb.Schema("type Query { size: Size } enum Size { S L }")
        >>> schema.execute("{ size }", root={"size": "S"}).data
        {'size': 'S'}
        >>> schema.graphql.type_map["Size"].values["S"].value = 1
        >>> schema.refresh()
        >>> schema.execute("{ size }", root={"size": 1}).data
        {'size': 'S'}
        """
        self._adapter.forget_documents()
        forget_derived_values(self._graphql)

    def parse_document(
        self,
        text: str,
        operation: str | None = None,
        *,
        limits: Limits | None = None,
        introspection: bool = True,
    ) -> Document:
        """Parse a text and validate it against this schema.

        Parameters
        ----------
        text
            The document.
        operation
            The name of the operation to choose; None if there is only one.
        limits
            Limits of the document; None for no limit.
        introspection
            Whether ``__schema`` and ``__type`` are allowed.

        Returns
        -------
        Document
            The same object for the same arguments, while it is cached.

        Raises
        ------
        QueryError
            If the text is invalid, or exceeds the limits.
        """
        document = self._adapter.get_document(text, operation, limits, introspection=introspection)
        if self._adapter.renew(document) is document:
            return document
        return self._adapter.get_document(text, operation, limits, introspection=introspection)

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = memo[id(self)] = object.__new__(type(self))
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    def __reduce__(self) -> NoReturn:
        msg = (
            "A Schema cannot be pickled: its resolvers are functions of this process. Serve it and "
            "connect to its address, or pickle its SDL, schema.sdl, and make it again there."
        )
        raise TypeError(msg)

    def __repr__(self) -> str:
        return f"Schema({summarize_operations(self._graphql)})"


def get_adapter(schema: Schema) -> SchemaAdapter:
    """Return the object that executes the parsed documents of a schema."""
    return schema._adapter  # noqa: SLF001 - of this module


@explain_keywords
def reference_schema() -> Schema:
    """Return the reference schema: ``{ hello }`` answers ``Hello world!``.

    Returns
    -------
    Schema
        A new schema at each call.

    Examples
    --------
    >>> reference_schema().execute("{ hello }").data
    {'hello': 'Hello world!'}
    """
    return Schema(REFERENCE_SDL, {"Query": {"hello": lambda *_: "Hello world!"}})

"""A schema with its resolvers, executed in this process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from graphql import GraphQLSchema, print_schema

from gqlnb import runtime
from gqlnb.engine.adopting import Adoption, adoption, deferred, remembered
from gqlnb.engine.binding import bind_all, bind_field, bind_type_resolver
from gqlnb.engine.budget import Budget
from gqlnb.engine.building import REFERENCE_SDL, built, outline, waits
from gqlnb.engine.documents import remembering
from gqlnb.engine.mocking.mock import Mocking
from gqlnb.engine.run import run
from gqlnb.engine.subscribing import Subscribing
from gqlnb.errors import QueryError
from gqlnb.model.document import Document
from gqlnb.model.result import Result
from gqlnb.model.variables import bind

if TYPE_CHECKING:
    from gqlnb.engine.explaining import Explanation, Profile
    from gqlnb.model.limits import Limits

__all__ = ["Schema", "reference_schema"]

F = TypeVar("F", bound=Callable[..., Any])


class Schema(Mocking, Subscribing):
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
    age : int
        How often a resolver was put in the place of another, or of none, since it was made.
    notes : tuple of str
        What was passed over in the schema of a mock, a sentence each; empty for others.

    Examples
    --------
    >>> schema = Schema("type Query { hello: String }", {"Query": {"hello": lambda *_: "Hi!"}})
    >>> schema.execute("{ hello }").data
    {'hello': 'Hi!'}
    """

    age = 0

    def __init__(self, sdl: str, resolvers: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._graphql = built(sdl)
        bind_all(self._graphql, resolvers or {})
        self._adopted: Adoption | None = None
        self._document = remembering(self._parse)

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
            self._adopted = adoption(schema, context, options)
            self._graphql = self._adopted.graphql
            self._document = remembering(self._parse)
            return self

        return remembered(schema, cls, make) if context is None and not options else make()

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
        ``repository(id)``. The module :mod:`gqlnb.engine.frames` says what becomes of names,
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
        from gqlnb.engine.frames.service import Service

        given = {} if frames is None else frames
        service = Service(given, named, types, keys, relations, page_sizes)
        self = cls(service.sdl, service.scalars)
        service.resolve(self._graphql.type_map)
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
        return waits(self._graphql)

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
            self.age += 1
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
            self.age += 1
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
        document = self._document(text, operation, limits, True)
        given = bind(document, variables)  # as begin() does, without the call
        begun = self.start(document, given, context=context, root=root, limits=limits)
        return begun if isinstance(begun, Result) else runtime.run(_awaited(begun))

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
        begun = self.begin(
            text, variables, operation=operation, context=context, root=root, limits=limits
        )
        return begun if isinstance(begun, Result) else await begun

    def begin(
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
        """Do as :meth:`execute` and :meth:`document`, leaving what must be awaited to the caller.

        Returns
        -------
        Result, or an awaitable of one
            The plain resolvers have run when it returns; an awaitable only where one was async.
        """
        document = self._document(text, operation, limits, introspection)
        given = bind(document, variables)
        return self.start(document, given, context=context, root=root, limits=limits)

    def start(
        self,
        document: Document,
        variables: Mapping[str, Any],
        *,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
        budget: Budget | None = None,
    ) -> Result | Awaitable[Result]:
        """Do as :meth:`begin` with a document of this schema and JSON-like variables.

        Parameters
        ----------
        limits
            How many fields and seconds it may take from now on.
        budget
            The same, for who may have to stop it; `limits` do not count then.
        """
        if budget is None and limits is not None:
            budget = Budget.of(limits)
        if self._adopted is not None:
            return self._adopted.start(document, variables, context, root, budget)
        if self._executed is not self._graphql and (found := deferred(document)):
            raise QueryError(text=document.text, problems=found)
        return run(self._executed, document, variables, context, root, budget)

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
        from gqlnb.engine.explaining import explained

        document = self.document(text, operation)
        if self._adopted is not None and self._adopted.reason is not None:
            return self._adopted.explain(document)
        return explained(self._graphql, document, bind(document, variables))

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
        from gqlnb.engine.explaining import profiled

        document = self.document(text, operation)
        if self._adopted is not None:
            context = self._adopted.to_profile(document, context)
        return profiled(self._graphql, document, bind(document, variables), context, root)

    def document(
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
        return self._document(text, operation, limits, introspection)

    def _parse(
        self, text: str, operation: str | None, limits: Limits | None, introspection: bool
    ) -> Document:
        if self._adopted is not None:
            return self._adopted.parse(text, operation, limits, introspection)
        return Document.parse(text, self._graphql, operation, limits, introspection)

    def __repr__(self) -> str:
        return f"Schema({outline(self._graphql)})"


async def _awaited(begun: Awaitable[Result]) -> Result:
    return await begun


def reference_schema() -> Schema:
    """Return the reference schema: ``{ hello }`` answers ``Hello world!``.

    Examples
    --------
    >>> reference_schema().execute("{ hello }").data
    {'hello': 'Hello world!'}
    """
    return Schema(REFERENCE_SDL, {"Query": {"hello": lambda *_: "Hello world!"}})

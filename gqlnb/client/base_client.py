"""A client's endpoint, schema, harvests and life; :class:`gqlnb.Client` adds the operations."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, Unpack, cast, overload

from graphql import print_schema

from gqlnb.client import connections
from gqlnb.client.arguments import (
    CLIENT_KEYWORDS,
    check_batch,
    check_options,
    check_persisted_queries,
)
from gqlnb.client.call_options import CallOptions, take_call_options
from gqlnb.client.endpoint import (
    DEFAULT_TIMEOUT,
    EndpointOptions,
    is_connection_name,
    open_endpoint,
)
from gqlnb.client.exchange import Exchange, ExchangeLog
from gqlnb.client.gql_interop import GqlClientTransport
from gqlnb.client.paging.pager import Pager
from gqlnb.client.pickling import make_recipe, reduce_client
from gqlnb.client.progress import Progress
from gqlnb.client.rate_limiter import RateLimiter, get_queue
from gqlnb.client.recording.recording_transport import resolve_secrets
from gqlnb.client.recording.session import RecordingOptions, resolve_recording
from gqlnb.client.request_preparer import RequestPreparer
from gqlnb.client.request_sender import RequestSender
from gqlnb.client.response_cache import resolve_cache
from gqlnb.client.schema_store import SchemaStore
from gqlnb.config import resolve_unix_path
from gqlnb.document.schema_diagram import build_diagram
from gqlnb.errors import TargetError, check_names
from gqlnb.redact import hide_locals

if TYPE_CHECKING:
    import os
    import ssl
    from collections.abc import Iterable, Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.pickling import ClientRecipe
    from gqlnb.client.progress import ShowProgress
    from gqlnb.client.range_harvest.harvest_result import RangeEstimate, RangeHarvest
    from gqlnb.client.range_harvest.range_options import RangeOptions
    from gqlnb.client.range_harvest.reader_pool import FindAccounts
    from gqlnb.client.range_harvest.slices import Slice
    from gqlnb.client.schema_diff import SchemaChanges
    from gqlnb.document.document import Document
    from gqlnb.document.schema_diagram import Diagram
    from gqlnb.engine.schema import Schema
    from gqlnb.http.rate_limit_rules import Budget
    from gqlnb.limits import Limits
    from gqlnb.tokens import Token, TokenHolder

__all__ = ["BaseClient", "ClientParts"]


class FurtherOptions(RecordingOptions, total=False):
    """Keyword arguments of a client for recordings, remembered answers and its connections."""

    cache: object
    uds: str | os.PathLike[str] | None
    batch: int | None
    persisted_queries: bool


class ConnectionOptions(FurtherOptions, total=False):
    """Keyword arguments of `connect`: all of a client, and those of ``demo`` and ``github``."""

    schema: object
    timeout: float
    limits: Limits | None
    verify: bool | str | os.PathLike[str] | ssl.SSLContext | None
    viewer: str
    restricted: bool
    base_url: str | None


class ClientParts(NamedTuple):
    """The parts of a client that send the requests of a call."""

    endpoint: Endpoint
    sender: RequestSender
    preparer: RequestPreparer
    pager: Pager


class BaseClient:
    """A client without operations; its parameters are described in :class:`gqlnb.Client`."""

    @hide_locals
    def __init__(
        self,
        target: object = None,
        *,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        schema: object = None,
        timeout: float = DEFAULT_TIMEOUT,
        limits: Limits | None = None,
        verify: bool | str | os.PathLike[str] | ssl.SSLContext | None = None,
        **options: Unpack[FurtherOptions],
    ) -> None:
        check_names("Client", options, CLIENT_KEYWORDS)
        check_options(timeout, limits, verify)
        further = read_further_options(options)
        recording = resolve_recording(options.get("recording"), options.get("mode", "auto"))
        credentials, missing = resolve_secrets(token, headers, recording)
        endpoint_options = EndpointOptions(
            credentials, missing, recording, timeout, limits, verify, **further
        )
        description = ""
        if target is None:
            target, description = connections.resolve_default_target()
        shared: BaseClient | None = None
        try:
            if is_connection_name(target):
                shared = connections.get_client(target, **endpoint_options.collect_given())
                endpoint = shared._endpoint  # noqa: SLF001 - the same class
            else:
                endpoint = open_endpoint(target, endpoint_options)
        except TargetError as error:
            if connections.URL_VARIABLE not in description:
                raise
            msg = f"{connections.URL_VARIABLE} does not specify a valid endpoint. {error}"
            raise TargetError(msg) from None
        explicit_schema = endpoint.explicit_schema if schema is None else schema
        self._endpoint: Endpoint = replace(
            endpoint, description=description, explicit_schema=explicit_schema
        )
        # Every part has its own state and knows the parts below alone: endpoint, limiter, sender,
        # store, preparer, pager.
        self._rate_limiter = RateLimiter(
            get_queue(endpoint.transport), endpoint.source, endpoint.limits.wait
        )
        self._sender = RequestSender(self._endpoint, self._rate_limiter)
        if shared is not None and schema is None:
            self._schema_store: SchemaStore = shared._schema_store  # noqa: SLF001 - the same class
        else:  # a schema that is given here leaves that of the named connection as it is
            self._schema_store = open_schema_store(self._endpoint, self._sender)
        self._preparer = RequestPreparer(self._endpoint, self._schema_store)
        self._pager = Pager(
            self._endpoint, self._preparer, self._sender, self._schema_store, self._rate_limiter
        )
        self._parts = ClientParts(self._endpoint, self._sender, self._preparer, self._pager)

    @property
    def source(self) -> str:
        """The address without secrets, or a word for this process."""
        return self._endpoint.source

    @property
    def name(self) -> str | None:
        """The name of the connection, by which recordings know the endpoint."""
        return self._endpoint.name

    @property
    def budget(self) -> Budget:
        """The rest of the endpoint's rate limit, as far as it has reported it.

        Its `limit`, `remaining`, `reset` (in UTC) and the `cost` of the last request; None for
        each that was not reported. All clients that send the same token share it.
        """
        return self._rate_limiter.budget

    @property
    def schema(self) -> GraphQLSchema:
        """The schema of the endpoint: as given, cached on disk, or requested once.

        A cached schema is used for seven days, and longer if the endpoint can't be reached, with a
        warning; before a document is refused because of it, the schema is requested again. The
        schemas of other machines are cached, without any secret; with ``GQLNB_CACHE=1`` in the
        environment those of this machine too, with ``GQLNB_CACHE=0`` none. Full introspection is
        requested first, and less if it is refused, in at most four requests.

        Raises
        ------
        SchemaError
            If the endpoint refuses introspection, or described no valid schema. Documents are then
            sent without being checked; ``Client(..., schema=...)`` takes one from elsewhere.
        TransportError, AuthError, AnswerError
            If the endpoint gave no usable answer, and no schema is cached.
        """
        return self._schema_store.get_schema()

    @property
    def sdl(self) -> str:
        """The schema of the endpoint as SDL text, with descriptions.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            As :attr:`schema`.
        """
        return print_schema(self.schema)

    def diagram(self, types: Iterable[str] | None = None) -> Diagram:
        """Return a class diagram of the endpoint's schema, which JupyterLab draws.

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
            If there is no such type.
        SchemaError, TransportError, AuthError, AnswerError
            As :attr:`schema`.
        """
        return build_diagram(self.schema, types)

    def peek_schema(self) -> GraphQLSchema | None:
        """Return the schema if it is known by now, else None; this never waits and never fails.

        The first call begins to load it in a background thread, with one attempt per request. An
        error there is reported when :attr:`schema` is read. A function that returns a token is
        called in that thread. With a recording nothing is loaded: its contents would depend on the
        timing of threads.

        Returns
        -------
        GraphQLSchema or None
            The schema, or None while it is not known.
        """
        return self._schema_store.peek_schema()

    def refresh_schema(self) -> GraphQLSchema:
        """Request the schema from the endpoint again, cache it, and return it.

        Returns
        -------
        GraphQLSchema
            The new schema.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            If the endpoint gave none; the schema that was known stays.
        """
        return self._schema_store.refresh()

    @property
    def schema_notes(self) -> tuple[str, ...]:
        """Remarks about the schema, a sentence each; empty while it is not loaded.

        Its age if it was cached, the parts that the endpoint leaves out, and mistakes in SDL that
        were passed over.
        """
        return self._schema_store.notes

    def schema_changes(
        self, since: object = None, *, documents: Iterable[str] = ()
    ) -> SchemaChanges:
        """Request the schema again, and return the changes that may break queries.

        Parameters
        ----------
        since
            The schema to compare with, in any form that ``schema=`` of :class:`gqlnb.Client` has;
            None for the schema that this session began with: as given, as it was cached on this
            machine, or as it was first requested.
        documents
            Texts to look for beside those that this client has sent: saved queries, say.

        Returns
        -------
        SchemaChanges
            Breaking and dangerous changes, those first that touch documents.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            If the endpoint gave no schema, or `since` is not a schema.
        """
        return self._schema_store.find_changes(since, documents)

    def parse_document(self, text: str | Document, operation: str | None = None) -> Document:
        """Return the document of a text, checked if the schema is known.

        Parameters
        ----------
        text
            The text; a document is checked again only if the schema has changed.
        operation
            The name of the operation to run; None where there is only one.

        Returns
        -------
        Document
            It can be given to :meth:`execute` and the other methods in the place of its text.

        Raises
        ------
        QueryError
            If the text is wrong.
        """
        return self._preparer.parse_document(text, operation)

    @overload
    def harvest(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        slice: Slice | str,
        out: str | os.PathLike[str] | None = None,
        progress: ShowProgress = "auto",
        dry_run: Literal[False] = False,
        **options: Unpack[RangeOptions],
    ) -> RangeHarvest: ...

    @overload
    def harvest(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        slice: Slice | str,
        out: str | os.PathLike[str] | None = None,
        progress: ShowProgress = "auto",
        dry_run: Literal[True],
        **options: Unpack[RangeOptions],
    ) -> RangeEstimate: ...

    def harvest(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        slice: Slice | str,  # noqa: A002 - the word for it; `slice` is not used here
        out: str | os.PathLike[str] | None = None,
        progress: ShowProgress = "auto",
        dry_run: bool = False,
        **options: Unpack[RangeOptions],
    ) -> RangeHarvest | RangeEstimate:
        """Fetch a whole list of which the endpoint returns only a number of rows, range by range.

        Parameters
        ----------
        text
            A query with one list, and variables for the ends of a range.
        variables
            The other variables, as for :meth:`execute`.
        slice
            The column that divides the list and the filter for its ranges: a
            :class:`gqlnb.Slice`, or the name of the column where the variables are ``$low`` and
            ``$high``, both included, and the endpoint returns at most 1,000 rows.
        out
            Folder for the rows, as Parquet parts with a log beside them. An interrupted harvest is
            continued there when the same call is made again. None keeps the rows in memory.
        progress
            As for :meth:`pages`. If a function returns False, the harvest stops: the result has
            the rows so far, is not complete, and the same call with `out` goes on later.
        dry_run
            Whether to request only the count.
        **options
            ``operation``, ``path`` and ``page_size``, as for :meth:`pages`; ``part``, the number of
            rows per Parquet part; ``resume=False``, to remove a harvest in `out` first;
            ``refresh=True``, to update a finished one with the rows that came or changed since, and
            to read the ranges again that were not complete, such as those of which a field failed;
            ``token``, ``headers``, ``extensions`` and ``timeout``, as for :meth:`execute`.

        Returns
        -------
        RangeHarvest or RangeEstimate
            With ``complete``, ``coverage``, ``frame()`` and ``arrow()``; a RangeEstimate for a
            dry run.

        Raises
        ------
        QueryError
            If the text is wrong, or the endpoint ignores the filter.
        OptionError
            If an option is wrong, the rows lack the column, or `out` holds something else.
        GqlnbError
            If a request fails for good. The rows so far are in `out`.

        Warns
        -----
        UserWarning
            If completeness is not proved, or the endpoint's answers have notes, such as fields
            without data.

        Notes
        -----
        A range with more rows than the cap is divided, by the values of its first page or in equal
        steps, down to a single value. Each range is read as by :meth:`execute_all`, with the same
        proof. At the end all rows are counted again, and the rows of every range unless the values
        are ``fixed``; ranges whose count has changed are read again. A row that was in several
        ranges is kept once.

        A refresh reads the values from five minutes before the harvest before. It finds changes of
        a row if the column is a time of its last change; by a time of creation it finds new rows
        only. Deleted rows are found by the counts, and the ranges that lost them are read again, as
        are ranges that were not proved complete, unless the reason is one that remains: the
        endpoint does not count rows, or returns no more rows with equal values. Without counts
        deleted rows stay in the result, and ``coverage.notes`` says so. What counts cannot show is
        not noticed: a row that is deleted and one that moves into the same range while the list is
        read, as a column that is not ``fixed`` allows.

        Times, and whole numbers that are ``fixed`` or ids, are taken to rise with each row that
        comes or changes. In other columns rows may come anywhere, so that a refresh reads all
        ranges again, for as many requests as the first harvest.

        A list that more than doubles while it is read is given up with its rows so far, and is not
        complete. Without a count this cannot be noticed.

        Examples
        --------
        >>> import gqlnb
        >>> text = '''query ($query: String!) {
        ...   search(query: $query, type: REPOSITORY) { nodes { ... on Repository { createdAt } } }
        ... }'''
        >>> created = gqlnb.Slice(
        ...     column="createdAt",
        ...     low="query",
        ...     template="stars:>20000 created:{low}..{high}",
        ...     least="2008-01-01",
        ... )
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):  # most dates of this data are generated
        ...     found = gqlnb.connect("demo").harvest(text, slice=created)
        >>> found.complete, len(found)
        (True, 1067)
        """
        from gqlnb.client.range_harvest.harvest_result import list_warnings

        harvested = self._harvest(
            text, variables, slice=slice, out=out, progress=progress, dry_run=dry_run, **options
        )
        for warning in list_warnings(harvested):
            warnings.warn(warning, stacklevel=2)
        return harvested

    def request(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Exchange:
        """Send one request as it is; return both messages without secrets, for debugging.

        It is sent once, without remembered answers, and the response is not interpreted: a refusal
        or an HTML page is returned as any answer. Print the exchange to see headers and bodies.
        Tokens and secret headers are masked; variables and data are shown.

        Parameters
        ----------
        text, variables, operation, **options
            As for :meth:`execute`.

        Returns
        -------
        Exchange
            ``request_headers``, ``request_body``, ``status``, ``headers``, ``body``, ``seconds``,
            and ``history`` for redirects and persisted queries.

        Raises
        ------
        QueryError
            If text or variables are wrong.
        TargetError
            If the client sends nothing over HTTP.
        TransportError, AuthError
            If there is no response.
        ReplayError
            Within a recording.

        Examples
        --------
        >>> import gqlnb
        >>> with gqlnb.serve(gqlnb.reference_schema(), port=0) as server:
        ...     exchange = gqlnb.connect(server.url).request("{ hello }")
        >>> exchange.request_body, exchange.status, exchange.body
        ('{"query":"{ hello }"}', 200, '{"data":{"hello":"Hello world!"}}')
        """
        parts = self._select_parts("request", options)
        prepared = parts.preparer.prepare(text, variables, operation)
        log = ExchangeLog(parts.endpoint)
        parts.sender.limiter.check_wait()
        return log.finish(log.transport.try_send(prepared.request))

    async def arequest(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Exchange:
        """Asynchronous version of :meth:`request`.

        Parameters
        ----------
        text, variables, operation, **options
            As for :meth:`request`.

        Returns
        -------
        Exchange
            As of :meth:`request`.

        Raises
        ------
        QueryError, TargetError, TransportError, AuthError, ReplayError
            As for :meth:`request`.
        """
        parts = self._select_parts("arequest", options)
        prepared = await parts.preparer.aprepare(text, variables, operation)
        log = ExchangeLog(parts.endpoint)
        parts.sender.limiter.check_wait()
        return log.finish(await log.transport.atry_send(prepared.request))

    def _select_parts(
        self, function: str, options: Mapping[str, Any], known: type[CallOptions] = CallOptions
    ) -> ClientParts:
        """Select the parts of the client for one call.

        Parameters
        ----------
        function
            The name of the method.
        options
            The keyword arguments of the call; those of :class:`CallOptions` are removed.
        known
            The type of the keyword arguments.

        Returns
        -------
        ClientParts
            With options of the call, parts of their own, which share schema, connections, parsed
            documents and rate limits with the client.

        Raises
        ------
        KeywordError
            If a keyword argument is unknown.
        """
        if not options:
            return self._parts
        others = cast("dict[str, Any]", options)  # a dict of that call alone
        endpoint = take_call_options(self._endpoint, others)
        if not others.keys() <= known.__annotations__.keys():
            names = list(others)
            others.clear()  # the message has no values, and no traceback may show them
            check_names(function, names, known.__annotations__)
        if endpoint is self._endpoint:
            return self._parts
        limiter = self._rate_limiter
        # A budget belongs to a token: another one has another queue.
        if endpoint.credentials.tokens != self._endpoint.credentials.tokens:
            queue = get_queue(endpoint.transport)
            limiter = RateLimiter(queue, endpoint.source, endpoint.limits.wait)
        sender = self._sender.with_endpoint(endpoint, limiter)
        preparer = self._preparer.with_endpoint(endpoint)
        pager = Pager(
            endpoint, preparer, sender, self._schema_store, limiter, self._pager.unfinished
        )
        return ClientParts(endpoint, sender, preparer, pager)

    def close(self) -> None:
        """Close the connections that are kept alive; the client opens new ones when used again."""
        self._endpoint.transport.close()
        # Frames of earlier results would open connections again, to load the schema.
        self._preparer.suspend()
        if self._endpoint.options.recording is not None:
            self._endpoint.options.recording.close()

    async def aclose(self) -> None:
        """Asynchronous version of :meth:`close`, for ``contextlib.aclosing`` and ``async with``."""
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.source!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_client(type(self), self._endpoint, self._schema_store.schema)

    def __copy__(self) -> Self:
        # A copy in this process shares secrets, schema and connections.
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()

    # -- for the other packages of gqlnb

    def _harvest(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        slice: Slice | str,  # noqa: A002 - as of harvest()
        out: str | os.PathLike[str] | None = None,
        progress: ShowProgress = "auto",
        dry_run: bool = False,
        find_accounts: FindAccounts | None = None,
        **options: Unpack[RangeOptions],
    ) -> RangeHarvest | RangeEstimate:
        """Return the result of :meth:`harvest` without a warning, also with several accounts."""
        from gqlnb.client.range_harvest.harvest_result import RangeEstimate, RangeHarvest
        from gqlnb.client.range_harvest.range_harvester import RangeHarvester
        from gqlnb.client.range_harvest.range_options import (
            RangeOptions,
            make_slice,
            open_reader,
            open_store,
        )
        from gqlnb.client.range_harvest.reader_pool import ReaderAccount, ReaderPool
        from gqlnb.client.range_harvest.slices import ValueRange

        slice_ = make_slice(slice)
        question = text, variables, slice_
        parts = self._select_parts("harvest", options, RangeOptions)
        reader = open_reader(parts.pager, *question, options)
        store = open_store(out, text, variables, slice_, self.source, options)
        if dry_run:
            whole = ValueRange(slice_.least, slice_.most)
            count, notes = reader.count_rows(whole)
            return RangeEstimate(self.source, count, slice_.cap, tuple(notes.values()))
        with store, Progress(progress, "Harvest") as bar:
            if not store.state.is_ended or options.get("refresh"):
                pool = ReaderPool([ReaderAccount("", [reader])])
                if find_accounts is not None:
                    accounts, refused, doubt = find_accounts()
                    pool = ReaderPool(
                        [
                            ReaderAccount(
                                name, [open_reader(pager, *question, options) for pager in pagers]
                            )
                            for name, pagers in accounts.items()
                        ],
                        doubt,
                    )
                    pool.notes += refused
                RangeHarvester(pool, slice_, store, bar).run()
        return RangeHarvest(self.source, store)

    @property
    def _lacks_token(self) -> bool:
        """Whether a token was not found, so that only a recording can answer."""
        return self._endpoint.options.missing_token_error is not None

    @property
    def _local_schema(self) -> Schema | None:
        """The schema of this process that executes; None for any other endpoint."""
        return self._endpoint.local_schema

    @property
    def _concurrency(self) -> int:
        """The number of requests that may run at once; one before an endpoint has answered."""
        return self._rate_limiter.concurrency

    def _make_recipe(self) -> ClientRecipe:
        """Return the recipe by which another process makes this client, without secrets."""
        return make_recipe(self._endpoint)

    def _set_connection_name(self, name: str | None, *, is_by_name: bool) -> None:
        """Take the name of a connection; `is_by_name` if the name is enough to make the client."""
        self._endpoint.name, self._endpoint.is_by_name = name, is_by_name

    def _replace_client(self, before: Self) -> None:
        """Take the place of another client of the same endpoint, which is closed.

        Changes of the schema are reported since the session of that client began.
        """
        self._schema_store.inherit_history(before._schema_store)
        before.close()


def read_further_options(options: FurtherOptions) -> dict[str, Any]:
    """Return the options of a client that are no parameters, but for recordings.

    Returns
    -------
    dict
        Fields of EndpointOptions.

    Raises
    ------
    OptionError
        If one has no such value.
    """
    uds = options.get("uds")
    return {
        "cache": resolve_cache(options.get("cache")),
        "uds": None if uds is None else resolve_unix_path(uds),
        "batch": check_batch(options.get("batch")),
        "persisted_queries": check_persisted_queries(options.get("persisted_queries")),
    }


def open_schema_store(endpoint: Endpoint, sender: RequestSender) -> SchemaStore:
    """Return a new store for an endpoint, with the schema that is known without asking."""
    store = SchemaStore(endpoint, sender)
    if isinstance(endpoint.transport, GqlClientTransport) and endpoint.transport.schema is not None:
        store.set_schema(endpoint.transport.schema)
    if endpoint.explicit_schema is not None:
        store.set_schema(endpoint.explicit_schema)
    if endpoint.local_schema is not None:
        store.set_schema(endpoint.local_schema.graphql)
    return store

"""The client of an endpoint, a schema or an application, and `connect`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, overload

from gqlnb import background
from gqlnb.client import connections
from gqlnb.client.batches import (
    BatchItem,
    BatchOutcome,
    arun_batch,
    check_items,
    require_results,
    run_batch,
)
from gqlnb.client.client_parts import ClientParts
from gqlnb.client.endpoint import (
    DEFAULT_TIMEOUT,
    EndpointOptions,
    Exchange,
    ExchangeLog,
    ListSettings,
    PagingOptions,
    check_batch,
    check_nan,
    check_options,
    check_persisted_queries,
    is_connection_name,
    open_endpoint,
    require_settings,
    save_lists,
)
from gqlnb.client.gql_interop import AsyncGqlTransport, GqlTransport, make_gql_transport
from gqlnb.client.mapping import MapOptions
from gqlnb.client.pickling import reduce_client
from gqlnb.client.progress import Progress, ShowProgress
from gqlnb.client.recording.session import (
    Recording,
    RecordingMode,
    resolve_recording,
    resolve_secrets,
)
from gqlnb.client.response_cache import CachePolicy, resolve_cache
from gqlnb.config import resolve_unix_path
from gqlnb.document.schema_text import Diagram, build_diagram, print_sdl
from gqlnb.errors import GqlnbError, TargetError, TransportError
from gqlnb.interactive import raise_attribute_error, split_hints, warn_caller
from gqlnb.limits import DEFAULT_RECONNECTS, Limits
from gqlnb.option_checks import (
    check_boolean,
    check_whole_number,
    explain_keywords,
    raise_option_error,
)
from gqlnb.redact import hide_locals
from gqlnb.result.models import add_typenames
from gqlnb.result.result import Result, warn_incomplete

if TYPE_CHECKING:
    import os
    import ssl
    from datetime import timedelta

    import pandas as pd
    from graphql import GraphQLSchema

    from gqlnb.client.endpoint_report.report import EndpointReport
    from gqlnb.client.schema_diff import SchemaChanges
    from gqlnb.client.subscriptions import ConnectionInit, StreamKind, Subscription
    from gqlnb.document.document import Document
    from gqlnb.engine.schema import Schema
    from gqlnb.http.rate_limit_rules import Budget
    from gqlnb.lists.columns import Slice
    from gqlnb.lists.list_harvest import RangeEstimate, RangeHarvest
    from gqlnb.result.event_frames import MappedFrame
    from gqlnb.tokens import Token, TokenHolder

# Names that readers of other libraries try first.
_HINTS = split_hints(
    {
        "query run send get post fetch call mutate mutation": "execute(text, variables)",
        "execute_async execute_sync aquery query_async": "execute(), or aexecute() to await it",
        "df dataframe DataFrame to_dataframe to_df read_frame": "frame(text), or execute(text).df",
        "query_all fetch_all get_all all paginate iterate": "execute_all(text), or pages(text)",
        "batch batching_enabled query_many": "execute_many(documents), or map(text, inputs)",
        "stream listen": "subscribe(text)",
        "introspect get_schema fetch_schema types": "schema, or refresh_schema()",
        "validate": "parse_document(text)",
        "url endpoint address target": "source",
        "headers token timeout": "connect(target, headers=..., token=..., timeout=...)",
        "rate_limit remaining quota": "budget",
        "session transport": "as_gql() for a transport of gql",
        "connect connect_async connect_sync disconnect": "close(); it connects by itself",
    }
)


@explain_keywords
class Client:
    """A client of one endpoint, schema or application; safe to use from several threads.

    Parameters
    ----------
    target
        An address; a path on the current host such as ``"/graphql"``; the name of a connection; a
        :class:`Schema`, or a schema object that :meth:`Schema.adopt` takes; a server of this
        process; an ASGI application; a client of gql, with the headers it sends; None for the
        current connection, else ``GQLNB_URL``, else the newest server of this process, else
        ``http://127.0.0.1:4000/graphql``. With options of its own a named connection is made anew.
    token
        ``"env:NAME"``, ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"``, a :class:`Token` or a
        :class:`TokenBox`, sent in ``Authorization`` to that address alone: a Token that a client of
        another scheme, host or port had before is refused.
    headers
        Further headers of every request. A secret is given as for `token`: ``"env:NAME"``,
        ``"keyring:NAME"`` or ``"file:PATH"`` for where the whole value is, ``"Bearer env:NAME"``
        for the token after a scheme, a Token or a TokenBox. As text it is refused, by the name of
        its header (``Authorization``, ``Cookie``, ``X-Api-Key``) or by its form; programs pass
        ``Token(value)`` or ``Token.from_header(line)``.
    schema
        The endpoint's schema, to check documents before they are sent: SDL text, the path of a file
        with SDL or introspection JSON, an introspection result, or any object that
        :meth:`Schema.adopt` takes; None to ask the endpoint when :attr:`schema` is first needed.
    timeout
        Longest time for an answer, from connecting to its last byte, in seconds, above 0. All
        attempts share it; waiting between them is not counted.
    limits
        Bounds for one endpoint: ``answer``, the bytes of an answer as it travels and unpacked,
        64 MiB by default, and ``wait``, the seconds to wait in all for an endpoint that asks to,
        60 by default.
    verify
        Whether TLS certificates are checked; the path of a CA bundle; an ``ssl.SSLContext``, whose
        ``load_cert_chain()`` gives a client certificate to endpoints that ask for one; None for
        the setting of the named connection, else True: against the bundle in
        ``REQUESTS_CA_BUNDLE``, ``CURL_CA_BUNDLE``, ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``, if one
        is set.
    validate
        Whether texts and variables are checked before they are sent, as soon as the schema is
        known. False to let the endpoint decide, as for one call ``execute(..., validate=False)``.
    recording, mode
        The file of a recording, and ``"replay"``, ``"record"`` or ``"auto"``, as for
        :func:`gqlnb.recorded`; or its return value. While replaying no token is needed.
    cache
        How long answers to queries are remembered on disk and used again, also by later kernels,
        as for :func:`gqlnb.cached`: ``"1h"``, ``"7d"``, True for a day. None for not at all. For
        addresses alone; objects of this process refuse it.
    uds
        The path of a Unix socket to connect to: the host of the address is then only the name that
        is sent, as in ``Client("http://localhost/graphql", uds="/run/gql.sock")``. No proxy is
        used. The ``url`` of a server on a socket names both.
    batch
        How many requests the endpoint accepts in one POST, as a JSON array, 1 to 1,000;
        :meth:`execute_many` and :meth:`map` then send so many together. None for one at a time.
    persisted_queries
        Whether hashes are sent in the place of texts, as by Apollo's persisted-query link: a text
        follows once, where the endpoint does not know it. Where the endpoint has no persisted
        queries, texts are sent from then on. Subscriptions and requests with files have texts.
    nan
        How NaN and infinities are read, which JSON does not have and some endpoints write anyway,
        as Graphene does for its ``GenericScalar``: ``"error"``, the default, is an
        :exc:`AnswerError` that names the field; ``"null"`` reads them as null, and a warning gives
        their number, which is also in the extensions of the result.

    Raises
    ------
    TargetError
        If no client can be made for `target`, or an option has no such value.
    OptionError
        If no keyword has that name; it is a TypeError too.
    SchemaError
        If `target` or `schema` is not a valid schema.
    AuthError
        If the token can't be found, would travel over plain http to another machine, or belongs to
        another endpoint; if a secret is given as text.
    ReplayError
        If the recording to replay does not exist.

    Examples
    --------
    >>> from gqlnb import Client, reference_schema
    >>> Client(reference_schema()).execute("{ hello }").data
    {'hello': 'Hello world!'}
    """

    if not TYPE_CHECKING:  # type checkers would accept any attribute name

        def __getattr__(self, name: str) -> NoReturn:
            raise_attribute_error(self, name, _HINTS)

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
        validate: bool = True,
        recording: Recording | str | os.PathLike[str] | None = None,
        mode: RecordingMode = "auto",
        cache: str | float | timedelta | CachePolicy | None = None,
        uds: str | os.PathLike[str] | None = None,
        batch: int | None = None,
        persisted_queries: bool = False,
        nan: Literal["error", "null"] | None = None,
    ) -> None:
        check_options(timeout, limits, verify)
        opened = resolve_recording(recording, mode)
        credentials, missing_token_error = resolve_secrets(token, headers, opened)
        options = EndpointOptions(
            credentials,
            missing_token_error=missing_token_error,
            recording=opened,
            timeout=timeout,
            explicit_limits=limits,
            verify=verify,
            cache=resolve_cache(cache),
            uds=None if uds is None else resolve_unix_path(uds),
            batch=check_batch(batch),
            persisted_queries=check_persisted_queries(persisted_queries),
            nan=check_nan(nan),
            validate=check_boolean("validate", validate),
        )
        description = ""
        if target is None:
            target, description = connections.resolve_default_target()
        shared: Client | None = None
        try:
            if is_connection_name(target):
                shared = connections.get_client(target, **options.collect_given())
                endpoint = shared._endpoint  # noqa: SLF001 - the same class
            else:
                endpoint = open_endpoint(target, options)
        except TargetError as error:
            if connections.URL_VARIABLE not in description:
                raise
            msg = f"{connections.URL_VARIABLE} does not specify a valid endpoint. {error}"
            raise TargetError(msg) from None
        explicit_schema = endpoint.explicit_schema if schema is None else schema
        endpoint = replace(endpoint, description=description, explicit_schema=explicit_schema)
        store = None
        if shared is not None and schema is None:  # else that of the named connection stays
            store = shared._schema_store  # noqa: SLF001 - the same class
        self._set_parts(ClientParts.build(endpoint, store))

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
        requested first, and without the members that an endpoint refuses, in at most twelve
        requests; :attr:`schema_notes` names them.

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

        Applied directives, such as ``@key``, are in it if the client's schema was given as SDL.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            As :attr:`schema`.
        """
        return print_sdl(self.schema)

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

    def describe(
        self,
        lists: Sequence[str] | None = None,
        *,
        max_requests: int = 60,
        dry_run: bool = False,
        keep: bool = False,
    ) -> EndpointReport:
        """Find out by experiment how the endpoint behaves, and report it with the evidence.

        The report has lines on the protocol (statuses, media types, optional forms of requests),
        the schema, lists (the roles of arguments, the default and the largest page, counts,
        cursors), the values of custom scalars, and advice. Only queries are sent, at most two a
        second to other machines. A property that cannot be shown is "not tried".

        Parameters
        ----------
        lists
            The fields to examine, such as ``"books"``, ``"viewer.repositories"``,
            ``'search(query: "graphql")'`` or ``'user(login: "octocat") { repositories }'``; None
            for the first three that need no arguments.
        max_requests
            The most requests to send.
        dry_run
            Whether to send nothing, and to return how many requests there would be at most.
        keep
            Whether to write the roles of arguments and the largest pages into the settings of the
            connection, so that its lists are paged without new experiments.

        Returns
        -------
        EndpointReport
            The lines, each with subject, finding and evidence; ``frame()`` has them as a DataFrame.

        Raises
        ------
        OptionError
            If the query type has no such list, or `keep` is given for an endpoint that is not a
            connection of a settings file.

        Examples
        --------
        >>> from gqlnb import Client, reference_schema
        >>> Client(reference_schema()).describe().find("queries").finding != "none"
        True
        """
        from gqlnb.client.endpoint_report.describe import describe_endpoint

        check_whole_number("max_requests", max_requests, least=1)
        if keep:
            require_settings(self.name or "")
        report = describe_endpoint(
            self._endpoint,
            self._sender,
            self._schema_store,
            lists,
            max_requests=max_requests,
            dry_run=dry_run,
        )
        if keep and not dry_run:
            save_lists(self.name or "", report.lists)
            self._use_measured_lists(report.lists)
        return report

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

    def parse_document(
        self, text: str | Document, operation: str | None = None, *, validate: bool | None = None
    ) -> Document:
        """Return the document of a text, checked if the schema is known.

        Parameters
        ----------
        text
            The text; a document is checked again only if the schema has changed.
        operation
            The name of the operation to run; None where there is only one.
        validate
            False to let the endpoint decide what is valid; None for the setting of the client. A
            document that was not refused here is not refused later.

        Returns
        -------
        Document
            It can be given to :meth:`execute` and the other methods in the place of its text.

        Raises
        ------
        QueryError
            If the text is wrong.
        """
        preparer = self._parts.with_options(None, None, None, None, validate).preparer
        return preparer.parse_document(text, operation)

    def execute(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Execute an operation and return its result.

        Parameters
        ----------
        text
            The text of the document, or a :class:`Document` of :meth:`parse_document`.
        variables
            Python values by name, without the ``$``. A table of pandas, Polars, Arrow or NumPy is
            a list of input objects, and a row of one, a data class or a model of attrs, pydantic
            or msgspec is an input object; NaN in them is null. Decimals are sent as text. So are
            integers beyond ±(2**53 - 1), which servers in JavaScript would round: those of
            ``BigInt``, ``Long``, ``numeric``, ``ID`` and of unknown scalars;
            ``gqlnb.scalar(NAME, serialise=int)`` sends numbers. For these the endpoint's schema
            is loaded first if the document leaves the types open. A misspelled name is an error;
            other undeclared names are left out.
        operation
            The name of the operation to run; None where there is only one.
        validate
            False to let the endpoint decide: a text or a variable that its schema, or graphql-core,
            refuses is sent as it is. What the endpoint has answered before is not refused either.
            None for the setting of the client.
        token, headers
            For this call alone, as for :class:`Client`. `headers` take the place of those with the
            same name, and ``Authorization`` that of the token.
        extensions
            The member ``extensions`` of the request: a mapping of JSON values, which a recording
            does not tell apart.
        timeout
            Longest time for an answer in seconds, above 0; None for that of the client.

        Returns
        -------
        Result
            Whenever the answer holds `data`, also if fields failed.

        Raises
        ------
        QueryError
            If text or variables are wrong; found before sending if the schema is known. Null
            `data` with errors of which none has a `path` counts as absent: some servers refuse
            requests in this way, and errors of fields have a path.
        TransportError, AuthError, RateLimited, AnswerError
            If no usable answer came. Queries, never mutations, are sent again up to three times
            where that may help: after a connection that broke, HTTP 502, 503 and 504, and rate
            limits whose wait is within `limits`. Nothing is sent before the time that an endpoint
            named for its limit, to this client or another one with the same token.
        """
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        return parts.sender.send(parts.preparer.prepare(text, variables, operation))

    async def aexecute(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Asynchronous version of :meth:`execute`: the same parameters, result and errors."""
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        with background.wake_loop():
            prepared = await parts.preparer.aprepare(text, variables, operation)
            return await parts.sender.asend(prepared)

    def request(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Exchange:
        """Send one request as it is; return both messages without secrets, for debugging.

        It is sent once, without remembered answers, and the response is not interpreted: a refusal
        or an HTML page is returned as any answer. Print the exchange to see headers and bodies.
        Tokens and secret headers are masked; variables and data are shown.

        Parameters
        ----------
        text, variables, operation, validate
            The document, its variables by name, the name of the operation to run, and False to let
            the endpoint validate it; :meth:`execute` has details.
        token, headers, extensions, timeout
            For this call alone: credentials and headers in the place of the client's, the member
            ``extensions`` of requests, and the longest time for an answer in seconds;
            :meth:`execute` has details.

        Returns
        -------
        Exchange
            ``request_headers``, ``request_body``, ``status``, ``headers``, ``body``, ``seconds``,
            and ``history`` for redirects, persisted queries and tokens that were renewed.

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
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
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
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Exchange:
        """Asynchronous version of :meth:`request`: the same parameters, result and errors."""
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        with background.wake_loop():
            prepared = await parts.preparer.aprepare(text, variables, operation)
            log = ExchangeLog(parts.endpoint)
            parts.sender.limiter.check_wait()
            return log.finish(await log.transport.atry_send(prepared.request))

    def pages(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        progress: ShowProgress = "auto",
        path: str | None = None,
        page_size: int | None = None,
        max_results: int | None = None,
        max_requests: int | None = None,
        experiments: bool = True,
        follow: str | Sequence[str] = (),
        paging: Mapping[str, str] | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Iterator[Result]:
        """Iterate over the pages of a query, each of them a result.

        A page holds the next items of the outermost lists, with everything that is nested in them
        complete. The other fields of the query are in each page.

        Parameters
        ----------
        text, variables, operation, validate
            The document, its variables by name, the name of the operation to run, and False to let
            the endpoint validate it; :meth:`execute` has details. A page size or a position that
            the text gives (``first: 50``, ``after: $endCursor``, ``offset: 200``) is where its list
            begins; ``before:`` pages backwards, and so does ``last:`` with `follow`. `pageInfo`,
            page size, positions and a count of all items are added where they are absent; nothing
            that is added shows in data and frames.
        progress
            ``"auto"`` for a bar where a person sees it, True, False, or a function that is called
            as ``progress(got, wanted, requests, budget)``: if it returns False, no more pages are
            fetched, ``report.ended`` says so, and :meth:`resume` continues from there.
        path
            The dotted name of the one list to follow, with those it stands in and those in it; None
            for all lists. The result is complete only if the first pages of the others are all of
            theirs; a frame of the list does not depend on them.
        page_size
            The items of a page; None for the text's, else 100.
        max_results
            The most items of an outermost list; None for all.
        max_requests
            The most requests; None for no limit.
        experiments
            False to send no requests that only find out how a list is paged.
        follow
            The names of lists to follow although the text has ``last`` for them, or a size below 10
            in the rows of another list; ``"all"`` for all of these.
        paging
            The roles of arguments that the rows cannot show, such as ``{"season": "page"}``:
            ``"page"``, ``"offset"``, ``"size"``, ``"cursor"`` or ``"filter"``.
        token, headers, extensions, timeout
            For this call alone: credentials and headers in the place of the client's, the member
            ``extensions`` of requests, and the longest time for an answer in seconds;
            :meth:`execute` has details, and :meth:`resume` takes these again.

        Returns
        -------
        iterator of Result
            The ``.report`` of each counts the items so far.

        Raises
        ------
        QueryError
            If the text is wrong, or not a query: a mutation is never sent twice.
        OptionError
            If an option is wrong.
        GqlnbError
            If a page fails; the items received of it are in ``.result``, and :meth:`resume`
            continues.

        Warns
        -----
        UserWarning
            Once, after the last page, if the completeness of the result is not proved.

        Notes
        -----
        Relay's connections, and lists with an end sign such as ``hasMore`` or ``nextToken``, are
        followed as these say. Another list that may be cut is requested again with one argument
        changed at a time, about ten times at most, until the rows show how it goes on; the client
        remembers that. The schema is loaded before the first page; where it cannot be had, the
        names in the text decide.

        Ends at a cursor that is repeated or missing, and after five pages without new items.
        """
        pager = self._parts.with_options(token, headers, extensions, timeout, validate).pager
        options = PagingOptions(
            path=path,
            page_size=page_size,
            max_results=max_results,
            max_requests=max_requests,
            experiments=experiments,
            follow=follow,
            paging=paging,
        )
        crawler = pager.start_crawler(text, variables, operation, options, keep=False)
        return pager.iterate_pages(crawler, Progress(progress))

    def apages(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        progress: ShowProgress = "auto",
        path: str | None = None,
        page_size: int | None = None,
        max_results: int | None = None,
        max_requests: int | None = None,
        experiments: bool = True,
        follow: str | Sequence[str] = (),
        paging: Mapping[str, str] | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[Result]:
        """Asynchronous version of :meth:`pages`: the same parameters and pages."""
        pager = self._parts.with_options(token, headers, extensions, timeout, validate).pager
        options = PagingOptions(
            path=path,
            page_size=page_size,
            max_results=max_results,
            max_requests=max_requests,
            experiments=experiments,
            follow=follow,
            paging=paging,
        )
        options.check()
        start = partial(pager.start_crawler, text, variables, operation, options, keep=False)
        return pager.aiterate_pages(start, Progress(progress))

    def execute_all(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        progress: ShowProgress = "auto",
        path: str | None = None,
        page_size: int | None = None,
        max_results: int | None = None,
        max_requests: int | None = None,
        experiments: bool = True,
        follow: str | Sequence[str] = (),
        paging: Mapping[str, str] | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Execute a query and return one result with all pages of its lists, nested ones too.

        Parameters
        ----------
        text, variables, operation, validate, progress
            The document, its variables by name, the name of the operation to run, False to let the
            endpoint validate it, and whether to show a bar; :meth:`pages` has details.
        path, max_results, max_requests, experiments, follow, paging
            Which lists to follow, how far, and how they are paged; :meth:`pages` has details.
        page_size
            The items of a page. By default the pages of long lists grow beyond the text's size, up
            to the largest that the endpoint gives.
        token, headers, extensions, timeout
            For this call alone: credentials and headers in the place of the client's, the member
            ``extensions`` of requests, and the longest time for an answer in seconds;
            :meth:`execute` has details.

        Returns
        -------
        Result
            In the shape of the query; ``.report`` has the numbers of received and expected
            items and of requests, the reason of the end, and whether completeness is proved.

        Raises
        ------
        QueryError
            If the text is wrong, or not a query: a mutation is never sent twice.
        OptionError
            If an option is wrong.
        GqlnbError
            If a page fails: the pages received are in ``.result``, the positions in its
            ``.report``, and :meth:`resume` continues from there, also after an interrupt.

        Warns
        -----
        UserWarning
            If completeness is not proved, and neither ``max_results`` nor ``max_requests`` is the
            reason.

        Notes
        -----
        Lists nested in others are followed if the object that contains them can be requested by its
        key: ``node(id:)``, ``node(nodeId:)`` or a root field such as ``user(id:)``; up to ten
        objects in a request. Items are distinguished by their identifier, else by the
        cursor of their edge.

        Examples
        --------
        >>> import gqlnb
        >>> text = '{ search(query: "stars:>300000", type: REPOSITORY) { nodes { __typename } } }'
        >>> gqlnb.connect("demo").execute_all(text, page_size=5).report.requests
        3
        """
        pager = self._parts.with_options(token, headers, extensions, timeout, validate).pager
        options = PagingOptions(
            path=path,
            page_size=page_size,
            max_results=max_results,
            max_requests=max_requests,
            experiments=experiments,
            follow=follow,
            paging=paging,
        )
        crawler = pager.start_crawler(text, variables, operation, options)
        return warn_incomplete(pager.run_crawler(crawler, progress))

    async def aexecute_all(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        progress: ShowProgress = "auto",
        path: str | None = None,
        page_size: int | None = None,
        max_results: int | None = None,
        max_requests: int | None = None,
        experiments: bool = True,
        follow: str | Sequence[str] = (),
        paging: Mapping[str, str] | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Asynchronous version of :meth:`execute_all`: the same parameters, result and errors."""
        pager = self._parts.with_options(token, headers, extensions, timeout, validate).pager
        options = PagingOptions(
            path=path,
            page_size=page_size,
            max_results=max_results,
            max_requests=max_requests,
            experiments=experiments,
            follow=follow,
            paging=paging,
        )
        options.check()
        start = partial(pager.start_crawler, text, variables, operation, options)
        with background.wake_loop():
            crawler = await asyncio.to_thread(start)
            return warn_incomplete(await pager.arun_crawler(crawler, progress))

    def resume(
        self,
        failure: BaseException | Result | None = None,
        *,
        max_requests: int | None = None,
        progress: ShowProgress = "auto",
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Continue paging that failed or was interrupted, and return the whole result.

        Parameters
        ----------
        failure
            The error, or a result that ended at ``max_requests`` or lost a page; None for the last
            one that was interrupted, and for the last :meth:`frame` that ended so.
        max_requests
            Most further requests.
        progress
            Whether to show a bar, or a function to call after each page; :meth:`pages` has details.
        token, headers, extensions, timeout
            For this call alone: credentials and headers in the place of the client's, the member
            ``extensions`` of requests, and the longest time for an answer in seconds;
            :meth:`execute` has details.

        Returns
        -------
        Result
            As of :meth:`execute_all`. After :meth:`pages` it holds only the remaining
            pages.

        Raises
        ------
        QueryError
            If there is nothing to continue.
        GqlnbError
            If a page fails again.
        """
        pager = self._parts.with_options(token, headers, extensions, timeout, None).pager
        crawler = pager.reopen_crawler(failure, max_requests)
        return warn_incomplete(pager.run_crawler(crawler, progress))

    async def aresume(
        self,
        failure: BaseException | Result | None = None,
        *,
        max_requests: int | None = None,
        progress: ShowProgress = "auto",
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Asynchronous version of :meth:`resume`: the same parameters, result and errors."""
        pager = self._parts.with_options(token, headers, extensions, timeout, None).pager
        crawler = pager.reopen_crawler(failure, max_requests)
        with background.wake_loop():
            return warn_incomplete(await pager.arun_crawler(crawler, progress))

    def frame(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        path: str | None = None,
        pages: str | None = None,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
        nullable: bool = True,
        page_size: int | None = None,
        max_results: int | None = None,
        max_requests: int | None = None,
        experiments: bool = True,
        follow: str | Sequence[str] = (),
        paging: Mapping[str, str] | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> pd.DataFrame:
        """Execute an operation and return its rows: :meth:`execute`, then :meth:`Result.frame`.

        Parameters
        ----------
        text, variables, operation, validate
            The document, its variables by name, the name of the operation to run, and False to let
            the endpoint validate it; :meth:`execute` has details.
        path
            The list to take, as for :meth:`Result.frame`; with all pages also the one to follow.
        pages
            ``"all"`` for all pages, as of :meth:`execute_all`; None for the first ones.
        short, explode, strict, nullable
            Whether to shorten column names, a list in the rows to unfold, whether a value that does
            not fit its column is an error, and whether to use nullable dtypes;
            :meth:`Result.frame` has details.
        page_size, max_results, max_requests, experiments, follow, paging
            Which lists to follow, how far, and how they are paged; any of them requests all pages,
            and :meth:`execute_all` has details.
        token, headers, extensions, timeout
            For this call alone: credentials and headers in the place of the client's, the member
            ``extensions`` of requests, and the longest time for an answer in seconds;
            :meth:`execute` has details.

        Returns
        -------
        DataFrame
            ``attrs["partial"]`` is True unless it is known that all rows are there. If pages are
            missing since a field failed, :meth:`resume` without arguments requests them, and
            returns the whole Result.

        Raises
        ------
        OptionError
            If `pages` or an option is wrong.
        GqlnbError
            As of :meth:`execute`, :meth:`execute_all` and :meth:`Result.frame`. The answer, or the
            pages received, are in ``.result``.
        """
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        options = PagingOptions(
            path=path,
            page_size=page_size,
            max_results=max_results,
            max_requests=max_requests,
            experiments=experiments,
            follow=follow,
            paging=paging,
        )
        if pages not in (None, "all"):
            raise_option_error("pages", pages, "'all', or None for the first page alone")
        if pages is None and replace(options, path=None) == PagingOptions():
            result = parts.sender.send(parts.preparer.prepare(text, variables, operation))
        else:
            result = parts.pager.collect_pages(text, variables, operation, options)
        try:
            return result.frame(
                path, short=short, explode=explode, strict=strict, nullable=nullable
            )
        except GqlnbError as error:
            error.result = result
            error.args = (f"{error.args[0]} The answer is in error.result.",)
            raise

    def models(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Any:  # noqa: ANN401 - of a class that is made now
        """Execute an operation and return its data as an object: :meth:`Result.models`.

        Parameters
        ----------
        text, variables, operation, validate, token, headers, extensions, timeout
            The operation, and options for this call alone, as :meth:`execute` describes them. Where
            fragments select fields of some types of a union or an interface, ``__typename`` is
            added, so that each type has its own class.

        Returns
        -------
        object
            An instance of the class of the operation.

        Raises
        ------
        PartialError
            If a field failed; ``error.result.models()`` has the others.
        SchemaError
            If the endpoint gave no schema.
        GqlnbError
            As of :meth:`execute` and :meth:`Result.models`.
        """
        _ = self.schema  # so that the document is checked, and its classes are known
        typed = add_typenames(self.parse_document(text, operation, validate=validate))
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        result = parts.sender.send(parts.preparer.prepare(typed, variables, operation))
        return result.raise_for_errors().models()

    @overload
    def execute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> list[Result]: ...

    @overload
    def execute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: bool,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> list[BatchOutcome]: ...

    def execute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: bool = False,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> list[Result] | list[BatchOutcome]:
        """Execute documents, several at a time, and return their results in order.

        Parameters
        ----------
        documents
            Texts, or pairs of a text and its variables. They are taken from their iterable as
            others end, so that a generator may make them meanwhile.
        concurrency
            Largest number of documents at once, 1 to 256. An endpoint gets at most six requests at
            once, and fewer if it has rate limits: requests wait for their turn as pages do, so
            that a budget is not exceeded; GitHub gets one at a time. For a client with ``batch=``
            the number of arrays at once.
        return_errors
            Whether to return errors in the places of their documents' results.
        validate
            False to let the endpoint decide what is valid; None for the setting of the client.
        token, headers, extensions, timeout
            For this call alone: credentials and headers in the place of the client's, the member
            ``extensions`` of requests, and the longest time for an answer in seconds;
            :meth:`execute` has details.

        Returns
        -------
        list of Result
            With `return_errors` of Results and errors.

        Raises
        ------
        BatchError
            If a document failed, without `return_errors`, after all were executed. Its
            ``.outcomes`` holds all results and errors.
        OptionError
            If `documents` or `concurrency` is not valid.

        Notes
        -----
        An interrupt, or any other exception before the end, cancels the running requests and
        carries the results so far in ``.outcomes``, None for the others.
        """
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        items = check_items(documents, concurrency)
        with background.WorkerThreads() as threads:
            execute = partial(parts.execute_documents, threads=threads)
            outcomes = run_batch(items, execute, concurrency, parts.group_size)
        return outcomes if return_errors else require_results(outcomes)

    @overload
    async def aexecute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> list[Result]: ...

    @overload
    async def aexecute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: bool,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> list[BatchOutcome]: ...

    async def aexecute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: bool = False,
        validate: bool | None = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> list[Result] | list[BatchOutcome]:
        """Asynchronous version of :meth:`execute_many`: the same parameters, result and errors."""
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        items = check_items(documents, concurrency)
        with background.wake_loop():
            outcomes = await arun_batch(
                items, parts.execute_documents, concurrency, parts.group_size
            )
        return outcomes if return_errors else require_results(outcomes)

    def map(
        self,
        text: str | Document,
        inputs: object,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        concurrency: int | None = None,
        progress: ShowProgress = "auto",
        batch_size: int | None = None,
        resume: object = None,
        path: str | None = None,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> MappedFrame:
        """Execute an operation for each input, and return one frame with the inputs beside.

        Parameters
        ----------
        text
            The document.
        inputs
            The variables of each request: a DataFrame of pandas or Polars, an Arrow table, or a
            list of dicts, named tuples or models, whose columns are named as the variables; other
            columns are not sent. Or a list, an array or a Series of values of the only variable;
            if that is an input object, rows whose columns are its fields.
        variables
            Further variables, the same in all requests.
        operation
            The name of the operation to run; None where there is only one.
        validate
            False to let the endpoint decide what is valid; None for the setting of the client.
        concurrency
            Largest number of requests at once, as for :meth:`execute_many`; by default 4 for
            queries, 1 for mutations.
        progress
            As for :meth:`pages`, with inputs as rows. If a function returns False, no more requests
            are sent: the frame has the answers so far, and `resume` continues from it.
        batch_size
            How many inputs to send in one request, in the only variable, which is a list: 1,000
            rows of an insert. The frame then has the columns ``first_row`` and ``last_row``.
        resume
            The frame or the error of an earlier call with the same inputs: those without an answer
            are sent.
        path, short, explode, strict
            The list to read, whether to shorten column names, a list in the rows to unfold, and
            whether a value that does not fit its column is an error; :meth:`Result.frame` has
            details.
        token, headers, extensions, timeout
            For this call alone: credentials and headers in the place of the client's, the member
            ``extensions`` of requests, and the longest time for an answer in seconds;
            :meth:`execute` has details.

        Returns
        -------
        DataFrame
            The rows of all answers, in the order of the inputs, whose columns come first; with a
            ``$`` before their name where the answer has a column of that name. If the answers hold
            one list, its items are the rows, beside the other values of the answer; an empty one
            has one row, except of a batch. `path` gives the items alone. Its ``.errors`` is
            a frame with a row for each error, beside the input that it belongs to; its
            ``.outcomes`` are the Results and exceptions.

        Raises
        ------
        OptionError
            If the inputs do not fit the variables, or an option is wrong; nothing was sent.
        QueryError
            If the text is wrong, or the variables of an input, which the message numbers from 0;
            nothing was sent. One that the endpoint refuses is in ``.errors``.
        AuthError, RateLimited, TransportError
            If the endpoint refuses the token, asks for too long a wait, or five requests in a row
            failed. ``error.result`` is the frame of the answers so far, as after an interrupt, and
            ``resume=error`` continues.
        FrameError
            As of :meth:`Result.frame`; the answers are in ``error.outcomes``.

        Warns
        -----
        UserWarning
            If inputs have errors, or were not sent because `progress` returned False.

        Notes
        -----
        A mutation is never sent twice: `resume` leaves out inputs whose request was sent and has
        no answer.

        Examples
        --------
        >>> import gqlnb
        >>> text = "query($login: String!) { user(login: $login) { login } }"
        >>> gqlnb.connect("demo").map(text, ["torvalds", "antirez"], short=True)
             $login     login
        0  torvalds  torvalds
        1   antirez   antirez
        """
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        options = MapOptions(
            operation=operation,
            concurrency=concurrency,
            batch_size=batch_size,
            resume=resume,
            shape={"path": path, "short": short, "explode": explode, "strict": strict},
        )
        run, *width = parts.start_map(text, inputs, variables, options)
        try:
            with Progress(progress, "Inputs") as bar, background.WorkerThreads() as threads:
                run_batch(
                    run.draw(bar), partial(parts.execute_inputs, run, threads=threads), *width
                )
                run.report(bar)
        except BaseException as error:
            run.attach(error)
            raise
        return run.finish()

    async def amap(
        self,
        text: str | Document,
        inputs: object,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        concurrency: int | None = None,
        progress: ShowProgress = "auto",
        batch_size: int | None = None,
        resume: object = None,
        path: str | None = None,
        short: bool = False,
        explode: str | None = None,
        strict: bool = True,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> MappedFrame:
        """Asynchronous version of :meth:`map`: the same parameters, result and errors."""
        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        options = MapOptions(
            operation=operation,
            concurrency=concurrency,
            batch_size=batch_size,
            resume=resume,
            shape={"path": path, "short": short, "explode": explode, "strict": strict},
        )
        with background.wake_loop():
            run, *width = await asyncio.to_thread(parts.start_map, text, inputs, variables, options)
        try:
            with Progress(progress, "Inputs") as bar, background.wake_loop():
                await arun_batch(run.draw(bar), partial(parts.execute_inputs, run), *width)
                run.report(bar)
        except BaseException as error:
            run.attach(error)
            raise
        return run.finish()

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
        validate: bool | None = None,
        operation: str | None = None,
        path: str | None = None,
        page_size: int | None = None,
        part: int = 100_000,
        resume: bool = True,
        refresh: bool = False,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
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
        validate: bool | None = None,
        operation: str | None = None,
        path: str | None = None,
        page_size: int | None = None,
        part: int = 100_000,
        resume: bool = True,
        refresh: bool = False,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
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
        validate: bool | None = None,
        operation: str | None = None,
        path: str | None = None,
        page_size: int | None = None,
        part: int = 100_000,
        resume: bool = True,
        refresh: bool = False,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> RangeHarvest | RangeEstimate:
        """Fetch a whole list of which the endpoint returns only a number of rows, range by range.

        Parameters
        ----------
        text
            A query with one list, and variables for the ends of a range.
        variables
            The other variables: Python values by name, without the ``$``.
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
        validate
            False to let the endpoint decide what is valid; None for the setting of the client.
        operation
            The name of the operation to run; None where there is only one.
        path
            The dotted name of the list, if the query has several.
        page_size
            Rows per page; by default 100, growing.
        part
            Rows per Parquet part; a part may have as many more as a range.
        resume
            Whether to continue the harvest in `out`, or return it if it is finished; False removes
            it first.
        refresh
            Whether to update a finished harvest in `out` with the rows that came or changed since,
            and to read the ranges again that were not complete, such as those of which a field
            failed.
        token, headers, extensions, timeout
            For this call alone: credentials and headers in the place of the client's, the member
            ``extensions`` of requests, and the longest time for an answer in seconds;
            :meth:`execute` has details.

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
        from gqlnb.client.paging.list_reader import ListQuery, estimate_list, harvest_list
        from gqlnb.lists.columns import make_slice

        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        query = ListQuery(text, variables, make_slice(slice), operation, path, page_size)
        harvested: RangeHarvest | RangeEstimate
        if dry_run:
            harvested = estimate_list(query, parts.pager, self.source)
        else:
            harvested = harvest_list(
                query,
                parts.pager,
                source=self.source,
                out=out,
                progress=progress,
                resume=resume,
                refresh=refresh,
                part=part,
            )
        for warning in harvested._list_warnings():
            warn_caller(warning)
        return harvested

    @hide_locals
    def subscribe(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        transport: StreamKind | None = None,
        reconnect: int = DEFAULT_RECONNECTS,
        init: ConnectionInit = None,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        extensions: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Subscription:
        """Subscribe, and return the stream of Results, one for each event.

        Parameters
        ----------
        text, variables, operation, validate
            The document, its variables by name, the name of the operation to run, and False to let
            the endpoint validate it; :meth:`execute` has details. A query or mutation with
            ``@defer`` or ``@stream`` is accepted too: each Result holds the parts of its answer so
            far. It is sent over HTTP, once, unless `transport` is ``"ws"``.
        transport
            ``"ws"``, a WebSocket that speaks graphql-transport-ws or the older graphql-ws, as the
            endpoint chooses; ``"sse"``, server-sent events, or ``"multipart"``, parts of
            multipart/mixed as Apollo Router has them, a connection for each subscription; None for
            the first of the three that the endpoint offers.
        reconnect
            Attempts in a row to subscribe again after a connection that broke, after 0.5 s, 1 s and
            so on up to 30 s; 0 for none. Events in between are missing: the log says so, and
            :attr:`Subscription.reconnects` counts.
        init
            The payload of ``connection_init``, for services that read a token there: True for the
            client's token and headers; a mapping, with Tokens or ``"env:NAME"`` in it, for other
            payloads. Token and headers are in the handshake in any case.
        token, headers, extensions, timeout
            For this call alone: credentials and headers in the place of the client's, the member
            ``extensions`` of requests, and the longest time for an answer in seconds;
            :meth:`execute` has details.

        Returns
        -------
        Subscription
            For ``for`` and ``async for``. The request is sent at the first step; the client's
            `timeout` bounds the time until the subscription is accepted, `limits.answer` the size
            of each event, and of the parts of one answer together.

        Raises
        ------
        QueryError
            If text or variables are wrong, or the document has a single answer; while iterating,
            if the endpoint finds an error, or ends the stream with errors. Errors of fields are in
            the Results.
        OptionError, AuthError, TargetError
            If an option has no such value, a token in `init` can't be found or may not be sent
            there, or the client's transport carries no subscriptions.
        ReplayError
            Within a recording, which holds no subscriptions.
        TransportError, AnswerError
            While iterating: if the endpoint can't be reached or refuses, the connection broke once
            too often, or a message is not valid.

        Examples
        --------
        >>> def countdown(root, args, context):
        ...     yield from range(args["start"], 0, -1)
        >>> from gqlnb import Client, Schema
        >>> schema = Schema(
        ...     "type Query { hello: String } type Subscription { countdown(start: Int!): Int }",
        ...     {"Subscription": {"countdown": countdown}},
        ... )
        >>> events = Client(schema).subscribe("subscription { countdown(start: 3) }")
        >>> [event["countdown"] for event in events]
        [3, 2, 1]
        """
        from gqlnb.client.subscriptions import open_subscription

        parts = self._parts.with_options(token, headers, extensions, timeout, validate)
        return open_subscription(
            parts.preparer.prepare(text, variables, operation),
            kind=transport,
            reconnect=reconnect,
            init=init,
            timeout=float(parts.endpoint.options.timeout),
        )

    asubscribe = subscribe  # its stream is one for ``async for``, too

    def as_gql(self, *, asynchronous: bool = False) -> GqlTransport | AsyncGqlTransport:
        """Return this client as a transport of the library gql: ``gql.Client(transport=...)``.

        Code for gql then uses this client's token, limits and recording; gql does not see the
        token. Errors are gql's own, each caused by ours: ``TransportQueryError`` for refused
        requests and partial results, ``TransportServerError`` with its status,
        ``TransportProtocolError``, ``TransportConnectionFailed``.

        Parameters
        ----------
        asynchronous
            Whether it is for ``await`` and for subscriptions. gql's ``execute`` can't use an
            asynchronous transport while a loop runs, as in a notebook.

        Returns
        -------
        gql.transport.Transport or gql.transport.AsyncTransport
            Closing it leaves this client open.

        Raises
        ------
        MissingExtraError
            If gql is not installed.

        Notes
        -----
        For the opposite direction, pass a ``gql.Client`` as the target of a :class:`gqlnb.Client`.
        """
        return make_gql_transport(self, asynchronous=asynchronous)

    def with_options(
        self,
        *,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        timeout: float | None = None,
        validate: bool | None = None,
    ) -> Self:
        """Return a client of the same endpoint with other options.

        It shares schema, connections and, with the same token, the rate limit; closing one of them
        closes the connections of both, which are opened again when one is used.

        Parameters
        ----------
        token, headers, timeout, validate
            As for :class:`Client`, in the place of this client's. `headers` are added to its own;
            ``Authorization`` among them replaces its token. None leaves an option as it is.

        Returns
        -------
        Client
            The new client.

        Raises
        ------
        TargetError, AuthError
            If an option is not valid, or would have no effect at this endpoint.

        Examples
        --------
        >>> from gqlnb import Client, reference_schema
        >>> client = Client(reference_schema())
        >>> client.with_options(timeout=5).execute("{ hello }").data
        {'hello': 'Hello world!'}
        """
        parts = self._parts.with_options(token, headers, None, timeout, validate)
        variant = self.__copy__()
        # The name of a connection alone no longer makes the same client in another process.
        variant._set_parts(replace(parts, endpoint=replace(parts.endpoint, is_by_name=False)))  # noqa: SLF001 - the same class
        return variant

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

    # -- the parts of a client for one call

    def _set_parts(self, parts: ClientParts) -> None:
        """Use these parts in all calls."""
        self._parts = parts
        self._endpoint, self._sender, self._schema_store = parts.endpoint, parts.sender, parts.store
        self._preparer, self._pager = parts.preparer, parts.pager
        self._rate_limiter = parts.sender.limiter

    def _execute_in_turn(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        wait: float | None = None,
        give_up: Callable[[TransportError], bool] | None = None,
    ) -> Result:
        """Execute a query in turn with all clients that share its budget; show no warnings."""
        prepared = self._preparer.prepare(text, variables)
        return self._sender.send(prepared, queued=True, max_wait=wait, give_up=give_up, quiet=True)

    def _collect_pages(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None,
        *,
        operation: str | None = None,
        validate: bool | None = None,
        path: str | None = None,
        max_results: int | None = None,
    ) -> Result:
        """Return the result of :meth:`execute_all` without a warning; for callers that show it."""
        pager = self._parts.with_options(None, None, None, None, validate).pager
        options = PagingOptions(path=path, max_results=max_results)
        return pager.collect_pages(text, variables, operation, options)

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

    def _set_connection_name(self, name: str | None, *, is_by_name: bool) -> None:
        """Take the name of a connection; `is_by_name` if the name is enough to make the client."""
        self._endpoint.name, self._endpoint.is_by_name = name, is_by_name

    def _use_measured_lists(self, lists: Mapping[str, ListSettings]) -> None:
        """Page lists as a report of the endpoint measured it."""
        self._set_parts(self._parts.use_measured_lists(lists))

    def _replace_client(self, before: Self) -> None:
        """Take the place of another client of the same endpoint, which is closed.

        Changes of the schema are reported since the session of that client began.
        """
        self._schema_store.inherit_history(before._schema_store)
        before.close()


@explain_keywords
@hide_locals
def connect(
    target: object = None,
    *,
    token: Token | TokenHolder | str | None = None,
    headers: Mapping[str, str | Token | TokenHolder] | None = None,
    schema: object = None,
    timeout: float | None = None,
    limits: Limits | None = None,
    verify: bool | str | os.PathLike[str] | ssl.SSLContext | None = None,
    validate: bool | None = None,
    recording: Recording | str | os.PathLike[str] | None = None,
    mode: RecordingMode | None = None,
    cache: str | float | timedelta | CachePolicy | None = None,
    uds: str | os.PathLike[str] | None = None,
    batch: int | None = None,
    persisted_queries: bool | None = None,
    nan: Literal["error", "null"] | None = None,
    viewer: str | None = None,
    restricted: bool | None = None,
    base_url: str | None = None,
) -> Client:
    """Return a client for a connection by name, or for anything a :class:`Client` takes.

    :class:`Client` describes the options in full. None is the setting of a named connection, else
    the default.

    Parameters
    ----------
    target
        ``"github"``, ``"demo"`` or the name of another connection; an address; a schema object,
        an ASGI application or a client of gql; or a Client. None for the current connection.
    token
        ``"env:NAME"``, ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"`` or a :class:`Token`.
    headers
        Further headers, their secrets by source: ``{"X-Api-Key": "env:NAME"}``.
    schema
        SDL, a file or a schema object, in the place of introspection.
    timeout
        Seconds for an answer, 60 by default.
    limits
        ``Limits(answer=..., wait=...)``, bytes of an answer and seconds of waiting.
    verify
        False, the path of a CA bundle, or an ``ssl.SSLContext``.
    validate
        False to let the endpoint decide whether a text is valid.
    recording, mode
        A file, and ``"replay"``, ``"record"`` or ``"auto"``.
    cache
        How long answers are remembered on disk, ``"1h"`` or ``"7d"``.
    uds
        The path of the Unix socket of the endpoint.
    batch
        How many requests the endpoint accepts in one array.
    persisted_queries
        Whether hashes are sent in the place of texts.
    nan
        ``"null"`` to read NaN and infinities in answers as null.
    viewer, restricted
        Of ``"demo"`` alone: the login of the account that asks, and whether the token has few
        rights.
    base_url
        Of ``"github"`` alone: the address of a GitHub Enterprise.

    Returns
    -------
    Client
        For a name without options, the same client each time.

    Raises
    ------
    TargetError
        If the connection does not exist, no client can be made for `target`, or it is a Client and
        there are options.
    OptionError
        If no keyword has that name; it is a TypeError too.
    AuthError
        If the token can't be found.

    Examples
    --------
    >>> import gqlnb
    >>> gqlnb.connect("demo").execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    options = locals()  # all parameters, so that none can be forgotten here
    del options["target"]
    options["headers"] = headers or None
    given: Any = {name: value for name, value in options.items() if value is not None}
    if isinstance(target, Client) and given:
        msg = (
            f"{', '.join(f'{name}=' for name in given)} cannot be changed on an existing client. "
            "Create a new client from the URL or connection name."
        )
        raise TargetError(msg)
    if isinstance(target, Client):
        return target
    if is_connection_name(target):
        client: Client = connections.get_client(target, **given)
        return client
    return Client(target, **given)


connections.set_client_factory(Client)

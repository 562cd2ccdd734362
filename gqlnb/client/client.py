"""The client of an endpoint, a schema or an application, and `connect`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

from gqlnb import background
from gqlnb.client import connections
from gqlnb.client.arguments import check_keywords, check_options
from gqlnb.client.batches import BatchItem, BatchOutcome, arun_batch, require_results, run_batch
from gqlnb.client.endpoint import (
    DEFAULT_TIMEOUT,
    EndpointOptions,
    is_connection_name,
    open_endpoint,
)
from gqlnb.client.gql_interop import GqlClientTransport, make_gql_transport
from gqlnb.client.paging.options import check_options as check_paging_options
from gqlnb.client.paging.pager import Pager
from gqlnb.client.progress import Progress
from gqlnb.client.rate_limiter import RateLimiter, get_queue
from gqlnb.client.recipes import make_recipe, reduce_client
from gqlnb.client.recording.recording_transport import resolve_secrets
from gqlnb.client.recording.session import RecordingOptions, resolve_recording
from gqlnb.client.request_preparer import RequestPreparer
from gqlnb.client.request_sender import RequestSender
from gqlnb.client.schema_store import SchemaStore
from gqlnb.client.subscriptions import DEFAULT_RECONNECTS, open_subscription
from gqlnb.errors import OptionError, TargetError, sanitize_text
from gqlnb.redact import hide_locals
from gqlnb.result.result import build_frame, warn_incomplete

if TYPE_CHECKING:
    import os
    import ssl
    from collections.abc import AsyncIterator, Callable, Iterator

    import pandas as pd
    from graphql import GraphQLSchema

    from gqlnb.auth import Token, TokenHolder
    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.gql_interop import AsyncGqlTransport, GqlTransport
    from gqlnb.client.paging.options import FrameOptions, PagingOptions
    from gqlnb.client.progress import ProgressCallback
    from gqlnb.client.recipes import ClientRecipe
    from gqlnb.client.schema_diff import SchemaChanges
    from gqlnb.client.subscriptions import ConnectionInit, StreamKind, Subscription
    from gqlnb.document.document import Document
    from gqlnb.document.limits import Limits
    from gqlnb.engine.schema import Schema
    from gqlnb.errors import TransportError
    from gqlnb.http.rate_limit_rules import Budget
    from gqlnb.result.result import Result

__all__ = ["Client", "connect"]

FRAME_OPTIONS = ("short", "explode", "strict")


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
        Further headers of every request; their values may be Tokens, or ``"env:NAME"`` or
        ``"keyring:NAME"`` for where the whole value is. Text becomes a Token where the name says
        that it is a secret, such as ``Authorization``, ``Cookie`` or ``X-Api-Key``, and where it
        looks like one.
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
    recording, mode
        The file of a recording, and ``"replay"``, ``"record"`` or ``"auto"``, as for
        :func:`gqlnb.recorded`; or its return value. While replaying no token is needed.

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
        another endpoint.
    ReplayError
        If there is no recording to replay.

    Examples
    --------
    >>> from gqlnb import Client, reference_schema
    >>> Client(reference_schema()).execute("{ hello }").data
    {'hello': 'Hello world!'}
    """

    @hide_locals
    def __init__(
        self,
        target: Any = None,
        *,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        schema: Any = None,
        timeout: float = DEFAULT_TIMEOUT,
        limits: Limits | None = None,
        verify: bool | str | os.PathLike[str] | ssl.SSLContext | None = None,
        **options: Unpack[RecordingOptions],
    ) -> None:
        check_keywords("Client", options)
        check_options(timeout, limits, verify)
        recording = resolve_recording(**options)
        credentials, missing = resolve_secrets(token, headers, recording)
        endpoint_options = EndpointOptions(credentials, missing, recording, timeout, limits, verify)
        description = ""
        if target is None:
            target, description = connections.resolve_default_target()
        shared: Client | None = None
        try:
            if is_connection_name(target):
                shared = connections.get_client(target, **endpoint_options.collect_given())
                endpoint = shared._endpoint  # noqa: SLF001 - the same class
            else:
                endpoint = open_endpoint(target, endpoint_options)
        except TargetError as error:
            if connections.URL_VARIABLE not in description:
                raise
            msg = f"{connections.URL_VARIABLE} names no endpoint. {error}"
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

    @property
    def source(self) -> str:
        """The address without secrets, or a word for this process."""
        return self._endpoint.source

    @property
    def name(self) -> str | None:
        """The name of the connection, by which recordings know the endpoint."""
        return self._endpoint.name

    @property
    def lacks_token(self) -> bool:
        """Whether a token was not found, so that only a recording can answer."""
        return self._endpoint.options.missing_token_error is not None

    @property
    def local_schema(self) -> Schema | None:
        """The schema of this process that executes; None for any other endpoint."""
        return self._endpoint.local_schema

    @property
    def budget(self) -> Budget:
        """The rest of the endpoint's rate limit, as far as it has reported it.

        Its `limit`, `remaining`, `reset` (in UTC) and the `cost` of the last request; None for
        each that was not reported. All clients that send the same token share it.
        """
        return self._rate_limiter.budget

    @property
    def concurrency(self) -> int:
        """The number of requests that may run at once: one, before an endpoint has answered.

        It changes with the endpoint's reports; GitHub takes one at a time.
        """
        return self._rate_limiter.concurrency

    @property
    def schema(self) -> GraphQLSchema:
        """The schema of the endpoint: as given, cached a few days ago, or asked for, once.

        A cached schema is used for seven days, and longer where the endpoint can't be reached,
        which a warning says with its age; before a document is refused because of it, the endpoint
        is asked again. The schemas of other machines are cached, without any secret; with
        ``GQLNB_CACHE=1`` in the environment those of this machine too, with ``GQLNB_CACHE=0``
        none. The endpoint is asked for full introspection, and for less where it refuses, in at
        most four requests.

        Raises
        ------
        SchemaError
            If the endpoint refuses introspection, or described no valid schema. Documents are then
            sent without being checked; ``Client(..., schema=...)`` takes one from elsewhere.
        TransportError, AuthError, AnswerError
            If the endpoint gave no usable answer, and no schema is cached.
        """
        return self._schema_store.get_schema()

    def peek_schema(self) -> GraphQLSchema | None:
        """Return the schema if it is known by now, else None; this never waits and never fails.

        The first call begins to load it in a background thread, with one attempt per request. An
        error there is reported when :attr:`schema` is asked for. A function that gives a token is
        called in that thread. With a recording nothing is loaded: its contents would depend on the
        timing of threads.
        """
        return self._schema_store.peek_schema()

    def refresh_schema(self) -> GraphQLSchema:
        """Ask the endpoint for its schema anew, cache it, and return it.

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
        """Ask for the schema anew, and return the changes that may break queries.

        Parameters
        ----------
        since
            The schema to compare with, in any form that ``schema=`` of :class:`gqlnb.Client` has;
            None for the schema that this session began with: as given, as it was cached on this
            machine, or as it was first asked for.
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

    def execute(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
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
        return self._sender.send(self._preparer.prepare(text, variables, operation))

    async def aexecute(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
    ) -> Result:
        """Asynchronous version of :meth:`execute`.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`.

        Returns
        -------
        Result
            As of :meth:`execute`.

        Raises
        ------
        QueryError, TransportError, AuthError, RateLimited, AnswerError
            As for :meth:`execute`.
        """
        return await self._sender.asend(await self._preparer.aprepare(text, variables, operation))

    def execute_in_turn(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        wait: float | None = None,
        over: Callable[[TransportError], bool] | None = None,
    ) -> Result:
        """Execute a query as :meth:`execute` does, in turn with all clients that share its budget.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`.
        wait
            Longest wait that the endpoint may ask for, in seconds; None for the client's limits.
        over
            Returns whether to raise an error at once, although another attempt might help.

        Returns
        -------
        Result
            As of :meth:`execute`.

        Raises
        ------
        GqlnbError
            As for :meth:`execute`.
        """
        prepared = self._preparer.prepare(text, variables, operation)
        return self._sender.send(prepared, queued=True, max_wait=wait, give_up=over)

    @overload
    def execute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
    ) -> list[Result]: ...

    @overload
    def execute_many(
        self, documents: Iterable[BatchItem], *, concurrency: int = 4, return_errors: bool
    ) -> list[BatchOutcome]: ...

    def execute_many(
        self, documents: Iterable[BatchItem], *, concurrency: int = 4, return_errors: bool = False
    ) -> list[Result] | list[BatchOutcome]:
        """Execute documents, several at a time, and return their results in order.

        Parameters
        ----------
        documents
            Texts, or pairs of a text and its variables. They are taken from their iterable as
            others end, so that a generator may make them meanwhile.
        concurrency
            Largest number of documents at once, 1 to 32. An endpoint gets at most six requests at
            once, and fewer if it has rate limits: requests wait for their turn as pages do, so
            that a budget is not exceeded; GitHub gets one at a time.
        return_errors
            Whether to return errors in the places of their documents' results.

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
        outcomes = run_batch(documents, partial(self._execute_item, aside=True), concurrency)
        return outcomes if return_errors else require_results(outcomes)

    @overload
    async def aexecute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
    ) -> list[Result]: ...

    @overload
    async def aexecute_many(
        self, documents: Iterable[BatchItem], *, concurrency: int = 4, return_errors: bool
    ) -> list[BatchOutcome]: ...

    async def aexecute_many(
        self, documents: Iterable[BatchItem], *, concurrency: int = 4, return_errors: bool = False
    ) -> list[Result] | list[BatchOutcome]:
        """Asynchronous version of :meth:`execute_many`.

        Parameters
        ----------
        documents, concurrency, return_errors
            As for :meth:`execute_many`.

        Returns
        -------
        list of Result
            As of :meth:`execute_many`.

        Raises
        ------
        BatchError, OptionError
            As for :meth:`execute_many`.
        """
        outcomes = await arun_batch(documents, self._execute_item, concurrency)
        return outcomes if return_errors else require_results(outcomes)

    async def _execute_item(
        self, text: str, variables: Mapping[str, Any] | None, *, aside: bool = False
    ) -> Result:
        """Execute one document of a batch, in a thread if `aside` and resolvers might block."""
        if self.local_schema is None:
            prepared = await self._preparer.aprepare(text, variables)
            return await self._sender.asend(prepared, queued=True)
        if aside:
            return await background.run_in_thread(partial(self.execute, text, variables))
        return await self.aexecute(text, variables)

    def pages(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: bool | str | ProgressCallback = "auto",
        **options: Unpack[PagingOptions],
    ) -> Iterator[Result]:
        """Iterate over the pages of a query, each of them a result.

        A page holds the next items of the outermost lists, with everything that is nested in them
        complete. The other fields of the query are in each page.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`. A page size or a position that the text gives (``first: 50``,
            ``after: $endCursor``, ``offset: 200``) is where its list begins, ``last:`` and
            ``before:`` page backwards. `pageInfo`, page size, positions and a count of all items
            are added where they are absent; nothing that is added shows in data and frames.
        progress
            ``"auto"`` for a bar where a person sees it, True, False, or a function that is called
            as ``progress(got, wanted, requests, budget)``.
        **options
            ``path``, the dotted name of the one list to follow, with those it stands in and those
            in it; ``page_size``, the items of a page (the text's by default, else 100);
            ``max_results``, the most items of an outermost list; ``max_requests``.

        Yields
        ------
        Result
            ``.report`` counts the items so far.

        Raises
        ------
        QueryError
            If the text is wrong, or not a query: a mutation is never sent twice.
        OptionError
            If an option is wrong.
        GqlnbError
            If a page fails; the items that came of it are in ``.result``, and :meth:`resume` goes
            on.

        Warns
        -----
        UserWarning
            Once, if the last page came and it is not proved that everything did.

        Notes
        -----
        Lists are followed by the arguments that the schema declares for them: cursors (Relay's
        connections, and ``nextToken`` and the like), ``offset`` or ``skip`` with ``limit``,
        ``first`` or ``take``, and ``page`` with ``perPage`` or ``pageSize``. The schema is loaded
        before the first page; where it cannot be had, the names in the text decide.

        Ends at a cursor that comes twice or is missing, and after five pages with nothing new.
        """
        crawler = self._pager.start_crawler(text, variables, operation, options, keep=False)
        return self._pager.iterate_pages(crawler, Progress(progress))

    def apages(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: bool | str | ProgressCallback = "auto",
        **options: Unpack[PagingOptions],
    ) -> AsyncIterator[Result]:
        """Asynchronous version of :meth:`pages`.

        Parameters
        ----------
        text, variables, operation, progress, **options
            As for :meth:`pages`.

        Yields
        ------
        Result
            As of :meth:`pages`.

        Raises
        ------
        QueryError, OptionError, GqlnbError
            As for :meth:`pages`.
        """
        check_paging_options(options)
        start = partial(self._pager.start_crawler, text, variables, operation, options, keep=False)
        return self._pager.aiterate_pages(start, Progress(progress))

    def execute_all(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: bool | str | ProgressCallback = "auto",
        **options: Unpack[PagingOptions],
    ) -> Result:
        """Execute a query and return one result with all pages of its lists, nested ones too.

        Parameters
        ----------
        text, variables, operation, progress, **options
            As for :meth:`pages`. On long lists the pages grow beyond the text's size, up to the
            largest that the endpoint gives; ``page_size`` fixes it.

        Returns
        -------
        Result
            In the shape of the query; ``.report`` says how many items came of how many, in how
            many requests, why it ended, and whether it is proved that everything came.

        Raises
        ------
        QueryError, OptionError
            As for :meth:`pages`.
        GqlnbError
            If a page fails: the pages that came are in ``.result``, the positions in its
            ``.report``, and :meth:`resume` goes on from there. So it does after an interrupt.

        Warns
        -----
        UserWarning
            If it is not proved that everything came, and neither ``max_results`` nor
            ``max_requests`` is the reason.

        Notes
        -----
        Lists nested in others are followed where the object they stand in can be asked for again by
        its key: ``node(id:)``, ``node(nodeId:)`` or a root field such as ``user(id:)``; up to ten
        objects in a request. Items are distinguished by their identifier, else by the
        cursor of their edge.

        Examples
        --------
        >>> import gqlnb
        >>> text = '{ search(query: "stars:>300000", type: REPOSITORY) { nodes { __typename } } }'
        >>> gqlnb.connect("demo").execute_all(text, page_size=5).report.requests
        3
        """
        crawler = self._pager.start_crawler(text, variables, operation, options)
        return warn_incomplete(self._pager.run_crawler(crawler, progress), 2)

    async def aexecute_all(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: bool | str | ProgressCallback = "auto",
        **options: Unpack[PagingOptions],
    ) -> Result:
        """Asynchronous version of :meth:`execute_all`.

        Parameters
        ----------
        text, variables, operation, progress, **options
            As for :meth:`execute_all`.

        Returns
        -------
        Result
            As of :meth:`execute_all`.

        Raises
        ------
        QueryError, OptionError, GqlnbError
            As for :meth:`execute_all`.
        """
        check_paging_options(options)
        crawler = await asyncio.to_thread(
            self._pager.start_crawler, text, variables, operation, options
        )
        return warn_incomplete(await self._pager.arun_crawler(crawler, progress), 2)

    def collect_pages(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None,
        *,
        operation: str | None = None,
        **options: Unpack[PagingOptions],
    ) -> Result:
        """Return the result of :meth:`execute_all` without a warning; for callers that show it."""
        crawler = self._pager.start_crawler(text, variables, operation, options)
        return self._pager.run_crawler(crawler, "auto")

    def resume(
        self,
        failure: BaseException | Result | None = None,
        *,
        max_requests: int | None = None,
        progress: bool | str | ProgressCallback = "auto",
    ) -> Result:
        """Go on with paging that failed or was interrupted, and return the whole.

        Parameters
        ----------
        failure
            The error, or a result that ended at ``max_requests`` or lost a page; None for the last
            one that was interrupted.
        max_requests
            Most further requests.
        progress
            As for :meth:`pages`.

        Returns
        -------
        Result
            As of :meth:`execute_all`. After :meth:`pages` it holds the pages that are still to
            come: those before were handed out.

        Raises
        ------
        QueryError
            If there is nothing to go on with.
        GqlnbError
            If a page fails again.
        """
        return warn_incomplete(
            self._pager.run_crawler(self._pager.reopen_crawler(failure, max_requests), progress), 2
        )

    async def aresume(
        self,
        failure: BaseException | Result | None = None,
        *,
        max_requests: int | None = None,
        progress: bool | str | ProgressCallback = "auto",
    ) -> Result:
        """Asynchronous version of :meth:`resume`.

        Parameters
        ----------
        failure, max_requests, progress
            As for :meth:`resume`.

        Returns
        -------
        Result
            As of :meth:`resume`.

        Raises
        ------
        QueryError, GqlnbError
            As for :meth:`resume`.
        """
        crawler = self._pager.reopen_crawler(failure, max_requests)
        return warn_incomplete(await self._pager.arun_crawler(crawler, progress), 2)

    def frame(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        path: str | None = None,
        pages: str | None = None,
        **options: Unpack[FrameOptions],
    ) -> pd.DataFrame:
        """Execute an operation and return its rows: :meth:`execute`, then :meth:`Result.frame`.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`execute`.
        path
            The list to take, as for :meth:`Result.frame`; with all pages also the one to follow.
        pages
            ``"all"`` for all pages, as of :meth:`execute_all`; None for the first ones.
        **options
            ``short``, ``explode`` and ``strict`` of :meth:`Result.frame`; any option of
            :meth:`execute_all` asks for all pages.

        Returns
        -------
        DataFrame
            ``attrs["partial"]`` is True unless it is known that all rows are there.

        Raises
        ------
        OptionError
            If `pages` or an option is wrong.
        GqlnbError
            As of :meth:`execute`, :meth:`execute_all` and :meth:`Result.frame`.
        """
        bounds: Any = {name: it for name, it in options.items() if name not in FRAME_OPTIONS}
        shape: Any = {name: it for name, it in options.items() if name in FRAME_OPTIONS}
        if pages not in (None, "all"):
            shown = sanitize_text(repr(pages), 40)
            msg = f"pages= takes 'all', or None for the first ones; got {shown}."
            raise OptionError(msg)
        if pages is None and not bounds:
            result = self.execute(text, variables, operation=operation)
        else:
            result = self.collect_pages(text, variables, operation=operation, path=path, **bounds)
            warn_incomplete(result, 2)
        return build_frame(result, path, 1, **shape)

    @hide_locals
    def subscribe(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        transport: StreamKind | None = None,
        reconnect: int = DEFAULT_RECONNECTS,
        init: ConnectionInit = None,
    ) -> Subscription:
        """Subscribe, and return the stream of Results, one for each event.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`Client.execute`. A query or mutation with ``@defer`` or ``@stream`` is
            accepted too: each Result holds the parts of its answer so far. It is sent over HTTP,
            once, unless `transport` is ``"ws"``.
        transport
            ``"ws"``, a WebSocket that speaks graphql-transport-ws or the older graphql-ws, as the
            endpoint chooses; ``"sse"``, server-sent events, a connection for each subscription;
            None for the first of both that the endpoint offers.
        reconnect
            Attempts in a row to subscribe again after a connection that broke, after 0.5 s, 1 s and
            so on up to 30 s; 0 for none. Events in between are missing: the log says so, and
            :attr:`Subscription.reconnects` counts.
        init
            The payload of ``connection_init``, for services that read a token there: True for the
            client's token and headers; a mapping, with Tokens or ``"env:NAME"`` in it, for other
            payloads. Token and headers are in the handshake in any case.

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
        return open_subscription(
            self._preparer.prepare(text, variables, operation),
            kind=transport,
            reconnect=reconnect,
            init=init,
            timeout=float(self._endpoint.options.timeout),
        )

    @hide_locals
    def asubscribe(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        transport: StreamKind | None = None,
        reconnect: int = DEFAULT_RECONNECTS,
        init: ConnectionInit = None,
    ) -> Subscription:
        """Return the same stream as :meth:`subscribe`, for ``async for`` on the running loop.

        Parameters
        ----------
        text, variables, operation, transport, reconnect, init
            As for :meth:`subscribe`.

        Returns
        -------
        Subscription
            ``async with`` ends it where the loop is left before its end.

        Raises
        ------
        QueryError, OptionError, AuthError, TargetError, ReplayError
            As for :meth:`subscribe`.
        """
        return self.subscribe(
            text,
            variables,
            operation=operation,
            transport=transport,
            reconnect=reconnect,
            init=init,
        )

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

    def make_recipe(self) -> ClientRecipe:
        """Return the recipe by which another process makes this client.

        Returns
        -------
        ClientRecipe
            It holds no secret and can be pickled.

        Raises
        ------
        TargetError
            If the endpoint is in this process, a secret was given by value, or a recording is used.
        """
        return make_recipe(self._endpoint)

    def set_connection_name(self, name: str | None, *, is_by_name: bool) -> None:
        """Take the name of a connection, by which recordings know the endpoint.

        Parameters
        ----------
        name
            The name; None for none.
        is_by_name
            Whether the name alone is enough to make this client again.
        """
        self._endpoint.name, self._endpoint.is_by_name = name, is_by_name

    def replace_client(self, before: Client) -> None:
        """Take the place of another client of the same endpoint, which is closed.

        Parameters
        ----------
        before
            The other client; changes of the schema are reported since its session began.
        """
        self._schema_store.inherit_history(before._schema_store)
        before.close()

    def close(self) -> None:
        """Close the connections that are kept alive; the client opens new ones when used again."""
        self._endpoint.transport.close()
        self._preparer.suspend()
        if self._endpoint.options.recording is not None:
            self._endpoint.options.recording.close()

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


@hide_locals
def connect(
    target: Any = None,
    *,
    token: Token | TokenHolder | str | None = None,
    headers: Mapping[str, str | Token | TokenHolder] | None = None,
    **options: Any,
) -> Client:
    """Return a client for a connection by name, or for anything a :class:`Client` takes.

    Parameters
    ----------
    target
        ``"github"``, ``"demo"`` or the name of another connection; else as for :class:`Client`,
        or a Client.
    token, headers, **options
        As for :class:`Client`.

    Returns
    -------
    Client
        For a name without options, the same client each time.

    Raises
    ------
    TargetError
        If there is no such connection, no client can be made for `target`, or it is a Client and
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
    is_name = is_connection_name(target)
    own = connections.list_options(target) if is_name and options else ()
    check_keywords("connect", {name: it for name, it in options.items() if name not in own})
    first = {"token": token, "headers": headers or None}
    given: dict[str, Any] = {name: it for name, it in first.items() if it is not None} | options
    if isinstance(target, Client) and given:
        msg = (
            f"This client exists already, so {', '.join(f'{name}=' for name in given)} would have "
            "no effect. Make another one from its address or name."
        )
        raise TargetError(msg)
    if isinstance(target, Client):
        return target
    if is_name:
        client: Client = connections.get_client(target, **given)
        return client
    return Client(target, **given)


connections.set_client_factory(Client)

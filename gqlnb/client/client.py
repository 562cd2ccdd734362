"""The client of an endpoint, a schema or an application, and `connect`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Unpack

from gqlnb.client import connections
from gqlnb.client.arguments import CLIENT_KEYWORDS
from gqlnb.client.batch_client import BatchClient
from gqlnb.client.endpoint import is_connection_name
from gqlnb.client.gql_interop import make_gql_transport
from gqlnb.client.paging.options import FrameOptions, PagingOptions
from gqlnb.client.paging.options import check_options as check_paging_options
from gqlnb.client.progress import Progress
from gqlnb.errors import GqlnbError, OptionError, TargetError, check_names, sanitize_text
from gqlnb.interactive import raise_attribute_error, split_hints
from gqlnb.limits import DEFAULT_RECONNECTS
from gqlnb.redact import hide_locals
from gqlnb.result.result import build_frame, warn_incomplete

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    import pandas as pd

    from gqlnb.client.base_client import ConnectionOptions
    from gqlnb.client.call_options import CallOptions
    from gqlnb.client.gql_interop import AsyncGqlTransport, GqlTransport
    from gqlnb.client.progress import ShowProgress
    from gqlnb.client.subscriptions import ConnectionInit, StreamKind, Subscription
    from gqlnb.document.document import Document
    from gqlnb.errors import TransportError
    from gqlnb.result.result import Result
    from gqlnb.tokens import Token, TokenHolder

__all__ = ["Client", "connect"]

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
FRAME_OPTIONS = ("short", "explode", "strict")


class Client(BatchClient):
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

    def execute(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        **options: Unpack[CallOptions],
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
        **options
            For this call alone: ``token``, as for :class:`Client`; ``headers``, in the place of
            those with the same name, ``Authorization`` of the token; ``extensions``, a mapping of
            JSON values, which a recording does not tell apart; ``timeout`` in seconds.

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
        parts = self._select_parts("execute", options) if options else self._parts
        return parts.sender.send(parts.preparer.prepare(text, variables, operation))

    async def aexecute(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Result:
        """Asynchronous version of :meth:`execute`.

        Parameters
        ----------
        text, variables, operation, **options
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
        parts = self._select_parts("aexecute", options) if options else self._parts
        return await parts.sender.asend(await parts.preparer.aprepare(text, variables, operation))

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

    def pages(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: ShowProgress = "auto",
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
            as ``progress(got, wanted, requests, budget)``: if it returns False, no more pages are
            fetched, ``report.ended`` says so, and :meth:`resume` continues from there.
        **options
            ``path``, the dotted name of the one list to follow, with those it stands in and those
            in it (the result is complete only if the first pages of the others are all of theirs;
            a frame of the list does not depend on them); ``page_size``, the items of a page (the
            text's by default, else 100); ``max_results``, the most items of an outermost list;
            ``max_requests``; ``token``, ``headers``, ``extensions`` and ``timeout`` as for
            :meth:`execute`; :meth:`resume` takes these again.

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
        Lists are followed by the arguments that the schema declares for them: cursors (Relay's
        connections, and ``nextToken`` and the like), ``offset`` or ``skip`` with ``limit``,
        ``first`` or ``take``, and ``page`` with ``perPage`` or ``pageSize``. The schema is loaded
        before the first page; where it cannot be had, the names in the text decide.

        Ends at a cursor that is repeated or missing, and after five pages without new items.
        """
        pager = self._select_parts("pages", options, PagingOptions).pager
        crawler = pager.start_crawler(text, variables, operation, options, keep=False)
        return pager.iterate_pages(crawler, Progress(progress))

    def apages(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: ShowProgress = "auto",
        **options: Unpack[PagingOptions],
    ) -> AsyncIterator[Result]:
        """Asynchronous version of :meth:`pages`.

        Parameters
        ----------
        text, variables, operation, progress, **options
            As for :meth:`pages`.

        Returns
        -------
        asynchronous iterator of Result
            As of :meth:`pages`.

        Raises
        ------
        QueryError, OptionError, GqlnbError
            As for :meth:`pages`.
        """
        pager = self._select_parts("apages", options, PagingOptions).pager
        check_paging_options(options)
        start = partial(pager.start_crawler, text, variables, operation, options, keep=False)
        return pager.aiterate_pages(start, Progress(progress))

    def execute_all(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: ShowProgress = "auto",
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
            In the shape of the query; ``.report`` has the numbers of received and expected
            items and of requests, the reason of the end, and whether completeness is proved.

        Raises
        ------
        QueryError, OptionError
            As for :meth:`pages`.
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
        pager = self._select_parts("execute_all", options, PagingOptions).pager
        crawler = pager.start_crawler(text, variables, operation, options)
        return warn_incomplete(pager.run_crawler(crawler, progress), 2)

    async def aexecute_all(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        progress: ShowProgress = "auto",
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
        pager = self._select_parts("aexecute_all", options, PagingOptions).pager
        check_paging_options(options)
        crawler = await asyncio.to_thread(pager.start_crawler, text, variables, operation, options)
        return warn_incomplete(await pager.arun_crawler(crawler, progress), 2)

    def _collect_pages(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None,
        *,
        operation: str | None = None,
        **options: Unpack[PagingOptions],
    ) -> Result:
        """Return the result of :meth:`execute_all` without a warning; for callers that show it."""
        pager = self._select_parts("execute_all", options, PagingOptions).pager
        return pager.collect_pages(text, variables, operation, options)

    def resume(
        self,
        failure: BaseException | Result | None = None,
        *,
        max_requests: int | None = None,
        progress: ShowProgress = "auto",
        **options: Unpack[CallOptions],
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
            As for :meth:`pages`.
        **options
            ``token``, ``headers``, ``extensions`` and ``timeout`` as for :meth:`execute`.

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
        pager = self._select_parts("resume", options).pager
        crawler = pager.reopen_crawler(failure, max_requests)
        return warn_incomplete(pager.run_crawler(crawler, progress), 2)

    async def aresume(
        self,
        failure: BaseException | Result | None = None,
        *,
        max_requests: int | None = None,
        progress: ShowProgress = "auto",
        **options: Unpack[CallOptions],
    ) -> Result:
        """Asynchronous version of :meth:`resume`.

        Parameters
        ----------
        failure, max_requests, progress, **options
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
        pager = self._select_parts("aresume", options).pager
        crawler = pager.reopen_crawler(failure, max_requests)
        return warn_incomplete(await pager.arun_crawler(crawler, progress), 2)

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
            :meth:`execute_all` requests all pages; and ``token``, ``headers``, ``extensions`` and
            ``timeout`` as for :meth:`execute`.

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
        parts = self._select_parts("frame", options, FrameOptions)
        bounds: Any = {name: it for name, it in options.items() if name not in FRAME_OPTIONS}
        shape: Any = {name: it for name, it in options.items() if name in FRAME_OPTIONS}
        if pages not in (None, "all"):
            shown = sanitize_text(repr(pages), 40)
            msg = f"pages= must be 'all' or None (first page only), got {shown}."
            raise OptionError(msg)
        if pages is None and not bounds:
            result = parts.sender.send(parts.preparer.prepare(text, variables, operation))
        else:
            bounds["path"] = path
            result = parts.pager.collect_pages(text, variables, operation, bounds)
        try:
            return build_frame(result, path, 1, **shape)
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
        **options: Unpack[CallOptions],
    ) -> Any:  # noqa: ANN401 - of a class that is made now
        """Execute an operation and return its data as an object: :meth:`Result.models`.

        Parameters
        ----------
        text, variables, operation, **options
            As for :meth:`execute`. Where fragments select fields of some types of a union or an
            interface, ``__typename`` is added, so that each type has its own class.

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
        from gqlnb.client.operation_module import add_document_typenames

        _ = self.schema  # so that the document is checked, and its classes are known
        typed = add_document_typenames(self.parse_document(text, operation))
        result = self.execute(typed, variables, operation=operation, **options)
        return result.raise_for_errors().models()

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
        **options: Unpack[CallOptions],
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
        **options
            ``token``, ``headers``, ``extensions`` and ``timeout`` as for :meth:`execute`.

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

        parts = self._select_parts("subscribe", options)
        return open_subscription(
            parts.preparer.prepare(text, variables, operation),
            kind=transport,
            reconnect=reconnect,
            init=init,
            timeout=float(parts.endpoint.options.timeout),
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
        **options: Unpack[CallOptions],
    ) -> Subscription:
        """Return the same stream as :meth:`subscribe`, for ``async for`` on the running loop.

        Parameters
        ----------
        text, variables, operation, transport, reconnect, init, **options
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
            **options,
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


@hide_locals
def connect(
    target: object = None,
    *,
    token: Token | TokenHolder | str | None = None,
    headers: Mapping[str, str | Token | TokenHolder] | None = None,
    **options: Unpack[ConnectionOptions],
) -> Client:
    """Return a client for a connection by name, or for anything a :class:`Client` takes.

    Parameters
    ----------
    target
        ``"github"``, ``"demo"`` or the name of another connection; an address; a schema object,
        an ASGI application or a client of gql; or a Client. None for the current connection.
    token
        ``"env:NAME"``, ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"`` or a :class:`Token`.
    headers
        Further headers, their secrets by source: ``{"X-Api-Key": "env:NAME"}``.
    **options
        As for :class:`Client`, which describes them in full; ``viewer`` and ``restricted`` of
        ``"demo"``, ``base_url`` of ``"github"``. A connection of this process may have its own,
        which type checkers do not know:

        * ``schema``: SDL, a file or a schema object, in the place of introspection;
        * ``timeout``: seconds for an answer, 60 by default;
        * ``limits``: ``Limits(answer=..., wait=...)``, bytes of an answer and seconds of waiting;
        * ``verify``: False, the path of a CA bundle, or an ``ssl.SSLContext``;
        * ``recording`` and ``mode``: a file, and ``"replay"``, ``"record"`` or ``"auto"``;
        * ``cache``: how long answers are remembered on disk, ``"1h"`` or ``"7d"``;
        * ``uds``: the path of the Unix socket of the endpoint;
        * ``batch``: how many requests the endpoint accepts in one array;
        * ``persisted_queries``: whether hashes are sent in the place of texts.

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
    own = connections.list_options(target) if is_connection_name(target) and options else ()
    check_names("connect", options, (*CLIENT_KEYWORDS, *own))
    first = {"token": token, "headers": headers or None}
    given: dict[str, Any] = {name: it for name, it in first.items() if it is not None}
    given |= options
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

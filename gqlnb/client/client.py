"""The client: one way to ask any endpoint, schema or application."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, overload

from gqlnb import background
from gqlnb.auth import Token, TokenHolder
from gqlnb.client import connections
from gqlnb.client.arguments import (
    add_target_hint,
    check_json,
    check_keywords,
    find_option_error,
    is_asgi_app,
    prepare_files,
    resolve_verify,
)
from gqlnb.client.auth_headers import bind_credentials
from gqlnb.client.batches import BatchItem, BatchOutcome, arun_batch, require_results, run_batch
from gqlnb.client.client_base import ClientBase
from gqlnb.client.connections import set_client_factory
from gqlnb.client.gql_interop import GqlClientTransport, is_gql_client, make_gql_transport
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.paging.pager import Pager
from gqlnb.client.rate_limiter import RateLimiter, get_queue
from gqlnb.client.recipes import RecipeMixin
from gqlnb.client.recording.recording_transport import resolve_secrets, select_transport
from gqlnb.client.recording.session import (
    SERVER_NAME,
    RecordingOptions,
    get_active_recording,
    resolve_recording,
)
from gqlnb.client.retry_loop import RetryLoop
from gqlnb.client.schema_sources import IntrospectionReader
from gqlnb.client.schema_store import SchemaEndpoint, SchemaStore
from gqlnb.client.subscriptions import (
    DEFAULT_RECONNECTS,
    Subscription,
    ask_for_parts,
    check_kind,
    check_subscription_options,
    require_streaming,
)
from gqlnb.client.transports import AsgiTransport, InProcessTransport, Transport
from gqlnb.document.document import Document
from gqlnb.document.limits import Limits
from gqlnb.document.variables import (
    bind_variables,
    check_variable_names,
    check_variables,
    depends_on_types,
    needs_schema,
    write_large_integers,
)
from gqlnb.engine.schema import MAX_CACHED_TEXT, Schema
from gqlnb.engine.schema_adapters import is_schema
from gqlnb.errors import (
    AnswerError,
    GqlnbError,
    QueryError,
    SchemaError,
    TargetError,
    TransportError,
    sanitize_text,
)
from gqlnb.http.messages import Request
from gqlnb.http.response_parser import ResponseContext, parse_response
from gqlnb.redact import hide_locals, strip_traceback
from gqlnb.result.checked_decoder import DecoderSelector
from gqlnb.result.result import Result

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from graphql import GraphQLSchema

    from gqlnb.auth import Token, TokenHolder
    from gqlnb.client.recording.session import Recording
    from gqlnb.client.schema_diff import SchemaChanges
    from gqlnb.client.subscriptions import ConnectionInit, StreamKind
    from gqlnb.http.rate_limit_rules import Budget
    from gqlnb.result.result import Result, SchemaLoader

__all__ = ["Client", "SchemaMixin", "StreamingMixin", "connect"]

MAX_DOCUMENTS = 512  # texts per client; a notebook repeats few
NO_HEADERS_IN_PROCESS = (
    "a schema of this process is executed without HTTP, so there are no headers. Leave them out, "
    "or serve the schema and ask its address."
)
NO_HEADERS_OWN_TRANSPORT = "a transport of one's own sends its own headers. Give them to it."
DEFAULT_TIMEOUT = 60.0  # seconds; this very object as an argument means that none was given


T = TypeVar("T")
_LOG = logging.getLogger("gqlnb")


class SchemaMixin(ClientBase):
    """What a client knows of its endpoint's schema; it is a part of :class:`gqlnb.Client`."""

    _schema_store: SchemaStore
    _is_closed = False  # closed, and not used since
    _recording: Recording | None
    _recorded_with: Recording | None = None  # the recording that its schema was loaded through

    @property
    def schema(self) -> GraphQLSchema:
        """The schema of the endpoint: as given, kept from a few days ago, or asked for, once.

        One that is kept on this machine is used for seven days, and later too where the endpoint
        can't be reached, which a warning says with its age; before a document is called wrong
        because of it, the endpoint is asked again. Kept are the schemas of other machines, without
        any secret; with ``GQLNB_CACHE=1`` in the environment those of this machine too, with
        ``GQLNB_CACHE=0`` none. The endpoint is asked for all that introspection has, and for less
        where it refuses, four times at most.

        Raises
        ------
        SchemaError
            If the endpoint does not tell its schema, or described none. Documents are then sent
            without being checked; ``Client(..., schema=...)`` takes one from elsewhere.
        TransportError, AuthError, AnswerError
            If the endpoint gave no usable answer, and no schema is kept.
        """
        self._load_recorded_schema()
        return self._schema_store.get_schema(self._describe_endpoint())

    def peek_schema(self) -> GraphQLSchema | None:
        """Return the schema if it is known by now, else None; this never waits and never fails.

        The first call begins to load it in a background thread, by one request per step, without
        another attempt. What goes wrong there is said when :attr:`schema` is asked for. A function
        that gives a token is called in that thread. With a recording nothing is loaded: what is
        recorded would depend on who was quicker.
        """
        if self._active_transport is not self._transport:
            return self._schema_store.schema
        return self._schema_store.peek_schema(self._describe_endpoint(quiet=True))

    def refresh_schema(self) -> GraphQLSchema:
        """Ask the endpoint for its schema anew, keep it, and return it.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            If it gave none; the schema that was known stays.
        """
        if isinstance(self._transport, InProcessTransport):
            return self._transport.schema.graphql
        return self._schema_store.refresh(self._describe_endpoint())

    @property
    def schema_notes(self) -> tuple[str, ...]:
        """What is to be known about the schema, a sentence each; empty while it is not loaded.

        How old it is where it was kept, what the endpoint does not tell, and mistakes in SDL that
        were passed over.
        """
        return self._schema_store.notes

    def schema_changes(self, since: Any = None, *, documents: Iterable[str] = ()) -> SchemaChanges:
        """Ask for the schema anew, and return what in it may break queries.

        Parameters
        ----------
        since
            What to compare with, in any form that ``schema=`` of :class:`gqlnb.Client` has; None
            for the schema that this session began with: as given, as it was kept on this machine,
            or as it was first asked for.
        documents
            Texts to look for beside those that this client has asked: saved queries, say.

        Returns
        -------
        SchemaChanges
            Breaking and dangerous changes, those first that touch what was asked.

        Raises
        ------
        SchemaError, TransportError, AuthError, AnswerError
            If the endpoint gave no schema, or `since` is none.
        """
        return self._schema_store.find_changes(self._describe_endpoint(), since, documents)

    @property
    def _known_schema(self) -> GraphQLSchema | None:
        """The schema if it is known."""
        return self._schema_store.schema

    @_known_schema.setter
    def _known_schema(self, schema: Any) -> None:
        if schema is not None:
            self._schema_store.set_schema(schema)

    def _retry_with_fresh_schema(self, find: Callable[..., T], *given: Any) -> T:
        """Call what checks a text; before it says no by a schema from the cache, ask for it anew.

        Raises
        ------
        QueryError
            If the text is wrong.
        """
        try:
            return find(*given)
        except QueryError:
            if not self._schema_store.is_doubtful:
                raise
        self._schema_store.revalidate(self._describe_endpoint())
        return find(*given)

    async def _aprepare_request(
        self, text: str, variables: Mapping[str, Any] | None, operation: str | None
    ) -> tuple[Request, ResponseContext]:
        """Check a text as `_ask` does, in a thread if the endpoint may be asked for its schema."""
        types = self._known_schema is None and any(
            map(depends_on_types, (variables or {}).values())
        )
        if self._schema_store.is_doubtful or types:
            return await asyncio.to_thread(self._prepare_request, text, variables, operation)
        return self._prepare_request(text, variables, operation)

    def _describe_endpoint(self, *, quiet: bool = False) -> SchemaEndpoint:
        """Return what loading the schema takes; quiet asks once and says nothing."""
        through = self._transport
        url = ""
        if (
            isinstance(through, HttpTransport) and self._active_transport is through
        ):  # no recording counts
            url = through.url
        names = list(self._credentials.headers)
        if self._credentials.token is not None:
            names.append("authorization")
        ask = self._introspect_once if quiet else self._introspect
        return SchemaEndpoint(ask, self.source, self._credentials.redact, url, names)

    def _load_paging_schema(self) -> tuple[str, ...]:
        """Load the schema before paging, which depends on it; return why it cannot be had."""
        if isinstance(self._transport, InProcessTransport):
            return ()
        try:
            if not self._load_recorded_schema():
                _ = self.schema
        except (SchemaError, TransportError, AnswerError) as error:
            _LOG.info("%s: paging without a schema: %s", self.source, error)
            if self._schema_store.schema is None:
                return (f"No schema could be loaded: {sanitize_text(error, 200)}",)
        return ()

    def _load_recorded_schema(self) -> bool:
        """Load the schema through the recording that is active; return whether there is one.

        The requests of paging and the dtypes of frames depend on the schema, so a recording must
        hold the one that it was made with. Recordings of earlier versions hold none; then the known
        one, if any, is used.
        """
        recording = get_active_recording(self._recording)
        if recording is None or isinstance(self._transport, InProcessTransport):
            return False
        if self._schema_store.is_given or self._recorded_with is recording:
            return True
        self._recorded_with = recording
        try:
            self._schema_store.load_recorded(self._describe_endpoint())
        except GqlnbError as error:
            _LOG.info("%s: the recording holds no schema: %s", self.source, error)
        return True

    def _make_schema_finder(self, document: Document) -> SchemaLoader | None:
        """Return what finds the schema of a document's answer later; None if it is known."""
        self._is_closed = False  # whoever asks uses the client again
        asks = document.schema is None and isinstance(
            self._transport, (AsgiTransport, HttpTransport)
        )
        return self._find_schema_later if asks else None

    def _find_schema_later(self, result: Result) -> Document | None:
        """Return the document of an answer with the schema, asked for now if nobody did before.

        None where it can't be had, or does not describe the answer; and where the client was closed
        meanwhile.
        """
        document, response = result.document, result.response
        if self._is_closed or document is None or response is None:
            return None
        if not self._load_recorded_schema():
            self._schema_store.try_load(self._describe_endpoint(quiet=True))
        if self._schema_store.schema is None:
            return None
        try:
            _, asked = self._prepare_request(document.text, result.variables, document.name)
            return parse_response(response, asked).document
        except GqlnbError as error:
            _LOG.info("%s: frames are inferred: %s", self.source, error)
        return None

    def _introspect(self, text: str) -> Result:
        """Execute an introspection query, without checking it: the schema may be a wrong one."""
        return self._send_with_retries(*self._prepare_unchecked(text))

    def _introspect_once(self, text: str) -> Result:
        outcome = self._send_once(*self._prepare_unchecked(text))
        if isinstance(outcome, Result):
            return outcome
        raise outcome

    def _prepare_unchecked(self, text: str) -> tuple[Request, ResponseContext]:
        document = Document.parse(text)
        asked = ResponseContext(
            document, self.source, self._credentials.redact, expected=IntrospectionReader()
        )
        return Request(text, {}, None, document), asked


class StreamingMixin(ClientBase):
    """Subscriptions and batches; it is a part of :class:`gqlnb.Client`."""

    @hide_locals
    def subscribe(
        self,
        text: str,
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
            As for :meth:`Client.execute`. A query or mutation that says ``@defer`` or ``@stream``
            is taken too: each Result is its answer as far as it has come. It is asked over HTTP,
            once, unless `transport` is ``"ws"``.
        transport
            ``"ws"``, a WebSocket that speaks graphql-transport-ws or the older graphql-ws, as the
            endpoint chooses; ``"sse"``, server-sent events, a connection for each subscription;
            None for the first of both that the endpoint offers.
        reconnect
            Attempts in a row to subscribe again after a connection that broke, after 0.5 s, 1 s and
            so on up to 30 s; 0 for none. What happens meanwhile is missing: the log says so, and
            :attr:`Subscription.reconnects` counts.
        init
            The payload of ``connection_init``, for services that look for a token there: True for
            the client's token and headers; a mapping, with Tokens or ``"env:NAME"`` in it, for
            other words. Token and headers are in the handshake anyway.

        Returns
        -------
        Subscription
            For ``for`` and ``async for``. The endpoint is asked at the first step; `timeout` of the
            client bounds only how long it may take to let us in, `limits.answer` each event, and
            the parts of one answer together.

        Raises
        ------
        QueryError
            If text or variables are wrong, or it is answered once; while iterating, if the
            endpoint says so, or ends the stream with errors. Errors of fields are in the Results.
        OptionError, AuthError, TargetError
            If an option has no such value, a token in `init` can't be found or may not travel
            there, or what the client asks carries no subscriptions.
        ReplayError
            Within a recording, which holds none.
        TransportError, AnswerError
            While iterating: if the endpoint can't be reached or refuses, the connection broke once
            too often, or what came is no message of the protocol.

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
        request, asked = self._prepare_request(text, variables, operation)
        check_kind(asked)
        road = require_streaming(self._active_transport)
        ways, secrets = check_subscription_options(
            transport, init, reconnect, float(self._timeout), road
        )
        if asked.document.kind != "subscription":
            ways, reconnect = ask_for_parts(ways, road, asked.document), 0
        asked = replace(asked, redact=make_redactor(self._credentials.redact, secrets))
        return Subscription(road, request, asked, ways, reconnect)

    @hide_locals
    def asubscribe(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        transport: StreamKind | None = None,
        reconnect: int = DEFAULT_RECONNECTS,
        init: ConnectionInit = None,
    ) -> Subscription:
        """Do as :meth:`subscribe`, for ``async for`` on the running loop.

        The stream is the same; ``async with`` ends it where the loop is left before its end.
        """
        return self.subscribe(
            text,
            variables,
            operation=operation,
            transport=transport,
            reconnect=reconnect,
            init=init,
        )

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
            How many are under way at most, 1 to 32. An endpoint is asked six at once at most, and
            fewer where it limits who asks: each request waits for its turn as pages do, so that a
            budget is not overdrawn, and GitHub is asked one after the other.
        return_errors
            Whether an error stands in the place of its document's result.

        Returns
        -------
        list of Result
            With `return_errors` of Results and errors.

        Raises
        ------
        BatchError
            If a document failed, without `return_errors`: when all were executed. Its ``.outcomes``
            are what would have been returned with it.
        OptionError
            If `documents` or `concurrency` is none.

        Notes
        -----
        An interrupt, and whatever else is raised before the end, cancels the requests under way and
        carries as ``.outcomes`` the results there are, None where there is none.
        """
        outcomes = run_batch(documents, self._aexecute_aside, concurrency)
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
        """Do as :meth:`execute_many`, without blocking the running loop."""
        outcomes = await arun_batch(documents, self._aexecute_in_turn, concurrency)
        return outcomes if return_errors else require_results(outcomes)

    def as_gql(self, *, asynchronous: bool = False) -> Any:
        """Return this client as a transport of the library gql: ``gql.Client(transport=...)``.

        What is written for gql then asks with this client's token, pace, limits and recording; the
        token stays here. Errors are gql's own, each caused by ours: ``TransportQueryError`` for
        what was refused or failed in part, ``TransportServerError`` with its status,
        ``TransportProtocolError``, ``TransportConnectionFailed``.

        Parameters
        ----------
        asynchronous
            Whether it is for ``await`` and for subscriptions. gql's ``execute`` can't be used with
            such a one where a loop is running, as in a notebook: there it takes the other one.

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
        The way back is to pass a ``gql.Client`` as the target of a :class:`gqlnb.Client`.
        """
        return make_gql_transport(self, asynchronous=asynchronous)

    async def _aexecute_aside(self, text: str, variables: Mapping[str, Any] | None) -> Result:
        """Execute a document on the background loop; beside it where functions might block it."""
        if isinstance(self._transport, InProcessTransport):
            return await background.run_in_thread(partial(self.execute, text, variables))
        return await self._aexecute_in_turn(text, variables)

    async def _aexecute_in_turn(self, text: str, variables: Mapping[str, Any] | None) -> Result:
        """Execute a document when the endpoint may be asked; what is in process always may."""
        if isinstance(self._transport, InProcessTransport):
            return await self.aexecute(text, variables)
        return await self._aexecute_with_retries(
            text, variables, None, self._rate_limiter.queue_request
        )


def make_redactor(hide: Callable[[str], str], secrets: list[Token]) -> Callable[[str], str]:
    """Return a function that hides some more secrets."""

    def redact_all(text: str) -> str:
        for secret in secrets:
            text = secret.redact(text)
        return hide(text)

    return redact_all if secrets else hide


class Client(SchemaMixin, Pager, RecipeMixin, StreamingMixin):
    """Asks one endpoint, schema or application; safe to use from several threads.

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
        What is taken from an endpoint: ``answer``, the bytes of an answer as it travels and
        unpacked, 64 MiB by default, and ``wait``, the seconds to wait in all for an endpoint that
        asks to, 60 by default.
    verify
        Whether TLS certificates are checked; the path of a CA bundle; an ``ssl.SSLContext``, whose
        ``load_cert_chain()`` gives a client certificate to endpoints that ask for one; None for
        what the named connection says, else True: against the bundle in ``REQUESTS_CA_BUNDLE``,
        ``CURL_CA_BUNDLE``, ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``, if one is set.
    recording, mode
        The file of a recording, and ``"replay"``, ``"record"`` or ``"auto"``, as for
        :func:`gqlnb.recorded`; or what that returned. While replaying no token is needed.

    Raises
    ------
    TargetError
        If `target` is nothing that can be asked, or an option has no such value.
    OptionError
        If there is no keyword of that name; it is a TypeError too.
    SchemaError
        If it is a schema object that is not valid, or `schema` is none.
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
        fault = find_option_error(timeout, limits, verify)
        if fault:
            raise TargetError(fault)
        self.name: str | None = None  # of its connection
        self.is_by_name = False  # whether the connection says all there is to know of it
        self._recording = resolve_recording(**options)
        # Lacking: the error to raise if the token, not found now, is needed after all.
        self._credentials, self._missing_token_error = resolve_secrets(
            token, headers, self._recording
        )
        self._timeout, self._verify = timeout, verify
        self._limits, self._explicit_limits = limits or Limits(), limits
        self._schema_store = SchemaStore()
        self._explicit_schema = None  # of a named connection, unless there is one here
        self._target_explanation = ""  # how the endpoint was chosen, where nobody named it
        self._transport = (
            self._resolve_default_target() if target is None else self._open_transport(target)
        )
        self._rate_limiter = RateLimiter(get_queue(self._transport), self.source, self._limits.wait)
        if schema is not None:
            self._explicit_schema = schema
            self._schema_store = SchemaStore()  # a named connection's own stays as it is
            self._known_schema = schema
        if isinstance(self._transport, InProcessTransport):
            self._known_schema = self._transport.schema.graphql
        self._parse_cached = lru_cache(MAX_DOCUMENTS)(self._parse)
        self._expectations = lru_cache(MAX_DOCUMENTS)(DecoderSelector)

    def _resolve_default_target(self) -> Transport:
        target, self._target_explanation = connections.resolve_default_target()
        try:
            return self._open_transport(target)
        except TargetError as error:
            if connections.URL_VARIABLE not in self._target_explanation:
                raise
            reason = str(error)
        msg = f"{connections.URL_VARIABLE} names no endpoint. {reason}"
        raise TargetError(msg)

    def _open_transport(self, target: Any) -> Transport:
        if isinstance(target, str):
            return self._open_text_target(target)
        url = getattr(target, "url", None)
        if isinstance(url, str):  # a server of this process knows its own token
            own = getattr(target, "token", None)
            if self._credentials.token is None and isinstance(own, Token):
                self._credentials.token = (
                    own.unbound()
                )  # a person's token may serve several servers
            self.name = SERVER_NAME
            return self._open_http(url)
        if isinstance(target, Schema) or is_schema(target):
            self._refuse_credentials(NO_HEADERS_IN_PROCESS)
            return InProcessTransport(Schema.adopt(target))
        if is_asgi_app(target):
            return AsgiTransport(target, self._credentials)
        if is_gql_client(target):
            self._refuse_credentials(NO_HEADERS_OWN_TRANSPORT)
            through = GqlClientTransport(target)
            self._known_schema = through.schema
            return through
        if hasattr(target, "send") and hasattr(target, "asend"):
            self._refuse_credentials(
                NO_HEADERS_IN_PROCESS
                if isinstance(target, InProcessTransport)
                else NO_HEADERS_OWN_TRANSPORT
            )
            return target  # type: ignore[no-any-return]
        msg = (
            f"A {type(target).__name__} is nothing a client can ask. Give an address, the name of "
            "a connection, a Schema, a schema object of graphql-core, Strawberry, Ariadne or "
            "Graphene, a Server, an ASGI application or a Client of gql."
        )
        raise TargetError(msg)

    def _open_text_target(self, target: str) -> Transport:
        if target.startswith("/"):
            base, _, _ = connections.DEFAULT_URL.rpartition("/")
            return self._open_http(base + target)
        if target.startswith(("ws://", "wss://")):  # the same host and port, as people copy it
            target = f"http{target.removeprefix('ws')}"
        if "://" in target:
            return self._open_http(target)
        made = connections.get_client(target, **self._collect_options())
        self._credentials, self._schema_store = made._credentials, made._schema_store  # noqa: SLF001 - the same class
        self._timeout, self._limits = made._timeout, made._limits  # noqa: SLF001 - the same class
        self._verify = made._verify  # noqa: SLF001 - the same class
        self._explicit_schema = made._explicit_schema  # noqa: SLF001 - the same class
        self.name, self._missing_token_error = made.name, made._missing_token_error  # noqa: SLF001 - the same class
        self.is_by_name = made.is_by_name
        return made._transport  # noqa: SLF001 - the same class

    def _collect_options(self) -> dict[str, Any]:
        """Return the options that were given, for a connection to be made with them."""
        given: dict[str, Any] = {}
        if self._credentials.token is not None:
            given["token"] = self._credentials.token
        if self._credentials.headers:
            given["headers"] = self._credentials.headers
        if self._timeout is not DEFAULT_TIMEOUT:
            given["timeout"] = self._timeout
        if self._explicit_limits is not None:
            given["limits"] = self._explicit_limits
        if self._verify is not None:
            given["verify"] = self._verify
        if self._recording is not None:
            given["recording"] = self._recording
        return given

    def _refuse_credentials(self, why: str) -> None:
        """Refuse a token and headers that would go nowhere.

        Raises
        ------
        TargetError
            If there are any.
        """
        given = [f"{name}=" for name in ("token", "headers") if getattr(self._credentials, name)]
        if given:
            msg = f"{' and '.join(given)} would have no effect: {why}"
            raise TargetError(msg)

    def _open_http(self, url: str) -> HttpTransport:
        verify = (
            resolve_verify(self._verify) if url.startswith("https:") else self._verify is not False
        )
        timeout, cap = float(self._timeout), self._limits.answer
        made = HttpTransport(url, self._credentials, timeout=timeout, verify=verify, cap=cap)
        bind_credentials(url, self._credentials)
        return made

    @property
    def source(self) -> str:
        """Where answers are from: the address without secrets, or a word for this process."""
        return self._transport.source

    @property
    def _active_transport(self) -> Transport:
        """What carries a request now: a recording may stand before the endpoint."""
        return select_transport(
            self._transport, self.name, self._recording, self._missing_token_error
        )

    @property
    def local_schema(self) -> Schema | None:
        """The schema of this process that executes; None if something else does."""
        return self._transport.schema if isinstance(self._transport, InProcessTransport) else None

    @property
    def budget(self) -> Budget:
        """What the endpoint has said about how much may still be asked of it.

        Its `limit`, `remaining`, `reset` (in UTC) and the `cost` of the last request; None where
        it has said nothing. All clients that send it the same token know the same.
        """
        return self._rate_limiter.budget

    def execute(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
    ) -> Result:
        """Execute an operation and return its result.

        Parameters
        ----------
        text
            The document.
        variables
            Python values by name, without the ``$``. A table of pandas, Polars, Arrow or NumPy is
            a list of input objects, and a row of one, a data class or a model of attrs, pydantic
            or msgspec is an input object; NaN in them is null. Decimals are sent as text. So are
            integers beyond ±(2**53 - 1), which servers in JavaScript would round: those of
            ``BigInt``, ``Long``, ``numeric``, ``ID`` and of scalars that are not known;
            ``gqlnb.scalar(NAME, serialise=int)`` sends numbers. For these the endpoint's schema
            is loaded first where the document does not tell the types. A misspelled name is an
            error; others that are not declared are left out.
        operation
            The name of the operation to run; None where there is only one.

        Returns
        -------
        Result
            Whenever the answer holds `data`, also when fields failed.

        Raises
        ------
        QueryError
            If text or variables are wrong; found before sending where the schema is known. Null
            `data` beside errors of which none has a `path` count as absent: some servers refuse
            requests in this way, and errors of fields have one.
        TransportError, AuthError, RateLimited, AnswerError
            If no usable answer came. Queries, never mutations, are asked again up to three times
            where that may help: after a connection that broke, HTTP 502, 503 and 504, and rate
            limits whose wait is within `limits`. Before the time that an endpoint named for its
            limit, to this client or another one with the same token, nothing is sent.
        """
        return self._send_with_retries(*self._prepare_request(text, variables, operation))

    def _send_with_retries(self, request: Request, asked: ResponseContext) -> Result:
        """Ask until there is an answer, or no other attempt may help."""
        attempts = RetryLoop(asked.document.kind, self.source, self._timeout, self._limits.wait)
        return attempts.run(lambda until: self._send_once(replace(request, deadline=until), asked))

    async def aexecute(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
    ) -> Result:
        """Do as :meth:`execute`, without blocking the running loop."""
        return await self._aexecute_with_retries(text, variables, operation, nullcontext)

    async def _aexecute_with_retries(
        self,
        text: str,
        variables: Mapping[str, Any] | None,
        operation: str | None,
        turn: Callable[[], AbstractAsyncContextManager[Any]],
    ) -> Result:
        """Execute an operation; each attempt within a turn, waiting for which takes no time."""
        request, asked = await self._aprepare_request(text, variables, operation)
        attempts = RetryLoop(asked.document.kind, self.source, self._timeout, self._limits.wait)
        return await attempts.arun(
            lambda until: self._asend_once(replace(request, deadline=until), asked), turn
        )

    def _send_once(self, request: Request, asked: ResponseContext) -> Result | TransportError:
        """Ask once; what another attempt might mend is returned, not raised."""
        begun = time.monotonic()
        try:
            self._check_rate_limit()
            # The response gets no name here: a traceback may show it.
            result = parse_response(
                self._active_transport.send(request), replace(asked, now=time.time())
            )
            return self._rate_limiter.record_outcome(result, time.monotonic() - begun)
        except TransportError as error:
            return self._rate_limiter.record_outcome(
                strip_traceback(error), time.monotonic() - begun
            )

    def _check_rate_limit(self) -> None:
        """Look whether the endpoint said to wait; a recording has no limits."""
        if self._active_transport is self._transport:
            self._rate_limiter.check_wait()

    async def _asend_once(
        self, request: Request, asked: ResponseContext
    ) -> Result | TransportError:
        begun = time.monotonic()
        try:
            self._check_rate_limit()
            result = parse_response(
                await self._active_transport.asend(request), replace(asked, now=time.time())
            )
            return self._rate_limiter.record_outcome(result, time.monotonic() - begun)
        except TransportError as error:
            return self._rate_limiter.record_outcome(
                strip_traceback(error), time.monotonic() - begun
            )

    def _prepare_request(
        self, text: str, variables: Mapping[str, Any] | None, operation: str | None
    ) -> tuple[Request, ResponseContext]:
        if self._schema_store.schema is not None:
            self._load_recorded_schema()
        return self._retry_with_fresh_schema(self._build_request, text, variables, operation)

    def _build_request(
        self, text: str, variables: Mapping[str, Any] | None, operation: str | None
    ) -> tuple[Request, ResponseContext]:
        try:
            document = self._get_document(text, operation)
            check_variable_names(document, variables)
            if self._load_needed_schema(document, variables):
                document = self._get_document(text, operation)
            values = bind_variables(document, variables)
            if check_json(values):
                values = prepare_files(values, document, self._active_transport)
            if not isinstance(self._transport, InProcessTransport):
                check_variables(document, values)  # in process the engine does it
                values = write_large_integers(document, values)
        except QueryError as error:
            add_target_hint(error, self._target_explanation)
            raise
        self._schema_store.record_text(text)
        request = Request(text, values, operation, document)
        expected = None
        if not isinstance(self._transport, InProcessTransport):
            expected = self._expectations(document).get_decoder(values)
        hide = self._credentials.redact
        learn = self._make_schema_finder(document)
        return request, ResponseContext(
            document, self.source, hide, expected=expected, variables=values, learn=learn
        )

    def _load_needed_schema(self, document: Document, variables: Mapping[str, Any] | None) -> bool:
        """Return whether values needed the schema for their conversion, and it is known now."""
        remote = (
            isinstance(self._transport, (AsgiTransport, HttpTransport))
            and self._active_transport is self._transport
        )
        if not remote or not needs_schema(document, variables):
            return False
        return self._schema_store.try_load(self._describe_endpoint(quiet=True)) is not None

    def parse_document(self, text: str, operation: str | None = None) -> Document:
        """Return the document of a text, checked where the schema is known.

        Raises
        ------
        QueryError
            If the text is wrong.
        """
        try:
            return self._retry_with_fresh_schema(self._get_document, text, operation)
        except QueryError as error:
            add_target_hint(error, self._target_explanation)
            raise

    def _get_document(self, text: str, operation: str | None) -> Document:
        if isinstance(self._transport, InProcessTransport):
            return self._transport.schema.parse_document(text, operation)
        keep = type(text) is str and len(text) <= MAX_CACHED_TEXT
        return (self._parse_cached if keep else self._parse)(
            text, operation, self._schema_store.schema
        )

    def _parse(self, text: str, operation: str | None, schema: GraphQLSchema | None) -> Document:
        return Document.parse(text, schema, operation)

    def close(self) -> None:
        """Close the connections that are kept alive; the client opens new ones when used again."""
        self._transport.close()
        self._is_closed = True
        if self._recording is not None:
            self._recording.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.source!r})"


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
        ``"github"``, ``"demo"`` or a name of one's own; else as for :class:`Client`, or a Client.
    token, headers, **options
        As for :class:`Client`.

    Returns
    -------
    Client
        For a name without options, the same client each time.

    Raises
    ------
    TargetError
        If there is no such connection, `target` is nothing that can be asked, or it is a Client
        and there are options.
    OptionError
        If there is no keyword of that name; it is a TypeError too.
    AuthError
        If the token can't be found.

    Examples
    --------
    >>> import gqlnb
    >>> gqlnb.connect("demo").execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    is_name = isinstance(target, str) and not target.startswith("/") and "://" not in target
    own = connections.list_options(target) if is_name and options else ()
    check_keywords("connect", {name: it for name, it in options.items() if name not in own})
    first = {"token": token, "headers": headers or None}
    given: dict[str, Any] = {name: it for name, it in first.items() if it is not None} | options
    if isinstance(target, Client) and given:
        msg = (
            f"This client is made already, so {', '.join(f'{name}=' for name in given)} would have "
            "no effect. Make another one from its address or name."
        )
        raise TargetError(msg)
    if isinstance(target, Client):
        return target
    if is_name:
        return connections.get_client(target, **given)
    return Client(target, **given)


set_client_factory(Client)

"""The client: one way to ask any endpoint, schema or application."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self, Unpack

from gqlnb.client import connections
from gqlnb.client.attempts import Attempts
from gqlnb.client.certificates import trusted
from gqlnb.client.checks import check_json, check_keywords, is_asgi, locate, unusable
from gqlnb.client.errands import Errands
from gqlnb.client.foreign import Gql, is_gql
from gqlnb.client.http import Http
from gqlnb.client.listed import made_by
from gqlnb.client.pacing import Pace, gate_of
from gqlnb.client.paging.pager import Paged
from gqlnb.client.reach import Reaching
from gqlnb.client.recorder import granted, road
from gqlnb.client.recordings import SERVER, Options, recording_of
from gqlnb.client.schemas import Schemas
from gqlnb.client.schemed import Schemed
from gqlnb.client.secrets import sendable
from gqlnb.client.transports import Asgi, InProcess, Transport
from gqlnb.client.uploads import carried
from gqlnb.engine.adopting import is_schema
from gqlnb.engine.documents import TEXT_KEPT
from gqlnb.engine.schema import Schema
from gqlnb.errors import QueryError, TargetError, TransportError
from gqlnb.model.document import Document
from gqlnb.model.exact_integers import write_large_integers
from gqlnb.model.limits import Limits
from gqlnb.model.result import Result
from gqlnb.model.variables import bind, check, check_names, needs_schema
from gqlnb.sealing import bare, unseen
from gqlnb.token import Token, TokenHolder
from gqlnb.wire.answers import Asked, read
from gqlnb.wire.request import Request
from gqlnb.wire.typed import Expectation

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from graphql import GraphQLSchema

    from gqlnb.wire.budget import Budget

__all__ = ["Client"]

DOCUMENTS_KEPT = 512  # texts per client; a notebook repeats few
SCHEMA = (
    "a schema of this process is executed without HTTP, so there are no headers. Leave them out, "
    "or serve the schema and ask its address."
)
OWN = "a transport of one's own sends its own headers. Give them to it."
TIMEOUT = 60.0  # seconds; this very object as an argument means that none was given


class Client(Schemed, Paged, Errands, Reaching):
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

    @unseen
    def __init__(
        self,
        target: Any = None,
        *,
        token: Token | TokenHolder | str | None = None,
        headers: Mapping[str, str | Token | TokenHolder] | None = None,
        schema: Any = None,
        timeout: float = TIMEOUT,
        limits: Limits | None = None,
        verify: bool | str | os.PathLike[str] | ssl.SSLContext | None = None,
        **options: Unpack[Options],
    ) -> None:
        check_keywords("Client", options)
        fault = unusable(timeout, limits, verify)
        if fault:
            raise TargetError(fault)
        self.name: str | None = None  # of its connection
        self.is_by_name = False  # whether the connection says all there is to know of it
        self._recording = recording_of(**options)
        # Lacking: the error to raise if the token, not found now, is needed after all.
        self._secrets, self._lacking = granted(token, headers, self._recording)
        self._timeout, self._verify = timeout, verify
        self._limits, self._given_limits = limits or Limits(), limits
        self._schemas = Schemas()
        self._given_schema = None  # of a named connection, unless there is one here
        self._whence = ""  # how the endpoint was chosen, where nobody named it
        self._transport = self._chosen() if target is None else self._transport_to(target)
        self._pace = Pace(gate_of(self._transport), self.source, self._limits.wait)
        if schema is not None:
            self._given_schema = schema
            self._schemas = Schemas()  # a named connection's own stays as it is
            self._schema = schema
        if isinstance(self._transport, InProcess):
            self._schema = self._transport.schema.graphql
        self._documents = lru_cache(DOCUMENTS_KEPT)(self._parse)
        self._expectations = lru_cache(DOCUMENTS_KEPT)(Expectation)

    def _chosen(self) -> Transport:
        target, self._whence = connections.chosen()
        try:
            return self._transport_to(target)
        except TargetError as error:
            if connections.VARIABLE not in self._whence:
                raise
            reason = str(error)
        msg = f"{connections.VARIABLE} names no endpoint. {reason}"
        raise TargetError(msg)

    def _transport_to(self, target: Any) -> Transport:
        if isinstance(target, str):
            return self._transport_to_text(target)
        url = getattr(target, "url", None)
        if isinstance(url, str):  # a server of this process knows its own token
            own = getattr(target, "token", None)
            if self._secrets.token is None and isinstance(own, Token):
                self._secrets.token = own.unbound()  # a person's token may serve several servers
            self.name = SERVER
            return self._http(url)
        if isinstance(target, Schema) or is_schema(target):
            self._no_headers(SCHEMA)
            return InProcess(Schema.adopt(target))
        if is_asgi(target):
            return Asgi(target, self._secrets)
        if is_gql(target):
            self._no_headers(OWN)
            through = Gql(target)
            self._schema = through.schema
            return through
        if hasattr(target, "send") and hasattr(target, "asend"):
            self._no_headers(SCHEMA if isinstance(target, InProcess) else OWN)
            return target  # type: ignore[no-any-return]
        msg = (
            f"A {type(target).__name__} is nothing a client can ask. Give an address, the name of "
            "a connection, a Schema, a schema object of graphql-core, Strawberry, Ariadne or "
            "Graphene, a Server, an ASGI application or a Client of gql."
        )
        raise TargetError(msg)

    def _transport_to_text(self, target: str) -> Transport:
        if target.startswith("/"):
            base, _, _ = connections.HERE.rpartition("/")
            return self._http(base + target)
        if target.startswith(("ws://", "wss://")):  # the same host and port, as people copy it
            target = f"http{target.removeprefix('ws')}"
        if "://" in target:
            return self._http(target)
        made = connections.named(target, **self._given())
        self._secrets, self._schemas = made._secrets, made._schemas  # noqa: SLF001 - the same class
        self._timeout, self._limits = made._timeout, made._limits  # noqa: SLF001 - the same class
        self._verify = made._verify  # noqa: SLF001 - the same class
        self._given_schema = made._given_schema  # noqa: SLF001 - the same class
        self.name, self._lacking = made.name, made._lacking  # noqa: SLF001 - the same class
        self.is_by_name = made.is_by_name
        return made._transport  # noqa: SLF001 - the same class

    def _given(self) -> dict[str, Any]:
        """Return the options that were given, for a connection to be made with them."""
        given: dict[str, Any] = {}
        if self._secrets.token is not None:
            given["token"] = self._secrets.token
        if self._secrets.headers:
            given["headers"] = self._secrets.headers
        if self._timeout is not TIMEOUT:
            given["timeout"] = self._timeout
        if self._given_limits is not None:
            given["limits"] = self._given_limits
        if self._verify is not None:
            given["verify"] = self._verify
        if self._recording is not None:
            given["recording"] = self._recording
        return given

    def _no_headers(self, why: str) -> None:
        """Refuse a token and headers that would go nowhere.

        Raises
        ------
        TargetError
            If there are any.
        """
        given = [f"{name}=" for name in ("token", "headers") if getattr(self._secrets, name)]
        if given:
            msg = f"{' and '.join(given)} would have no effect: {why}"
            raise TargetError(msg)

    def _http(self, url: str) -> Http:
        verify = trusted(self._verify) if url.startswith("https:") else self._verify is not False
        timeout, cap = float(self._timeout), self._limits.answer
        made = Http(url, self._secrets, timeout=timeout, verify=verify, cap=cap)
        sendable(url, self._secrets)
        return made

    @property
    def source(self) -> str:
        """Where answers are from: the address without secrets, or a word for this process."""
        return self._transport.source

    @property
    def _road(self) -> Transport:
        """What carries a request now: a recording may stand before the endpoint."""
        return road(self._transport, self.name, self._recording, self._lacking)

    @property
    def local(self) -> Schema | None:
        """The schema of this process that executes; None if something else does."""
        return self._transport.schema if isinstance(self._transport, InProcess) else None

    @property
    def budget(self) -> Budget:
        """What the endpoint has said about how much may still be asked of it.

        Its `limit`, `remaining`, `reset` (in UTC) and the `cost` of the last request; None where
        it has said nothing. All clients that send it the same token know the same.
        """
        return self._pace.budget

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
        return self._send(*self._ask(text, variables, operation))

    def _send(self, request: Request, asked: Asked) -> Result:
        """Ask until there is an answer, or no other attempt may help."""
        attempts = Attempts(asked.document.kind, self.source, self._timeout, self._limits.wait)
        return attempts.run(lambda until: self._attempt(replace(request, until=until), asked))

    async def aexecute(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
    ) -> Result:
        """Do as :meth:`execute`, without blocking the running loop."""
        return await self._aexecute(text, variables, operation, nullcontext)

    async def _aexecute(
        self,
        text: str,
        variables: Mapping[str, Any] | None,
        operation: str | None,
        turn: Callable[[], AbstractAsyncContextManager[Any]],
    ) -> Result:
        """Execute an operation; each attempt within a turn, waiting for which takes no time."""
        request, asked = await self._aask(text, variables, operation)
        attempts = Attempts(asked.document.kind, self.source, self._timeout, self._limits.wait)
        return await attempts.arun(
            lambda until: self._aattempt(replace(request, until=until), asked), turn
        )

    def _attempt(self, request: Request, asked: Asked) -> Result | TransportError:
        """Ask once; what another attempt might mend is returned, not raised."""
        begun = time.monotonic()
        try:
            self._check_pace()
            # The response gets no name here: a traceback may show it.
            result = read(self._road.send(request), replace(asked, now=time.time()))
            return self._pace.learn(result, time.monotonic() - begun)
        except TransportError as error:
            return self._pace.learn(bare(error), time.monotonic() - begun)

    def _check_pace(self) -> None:
        """Look whether the endpoint said to wait; a recording has no limits."""
        if self._road is self._transport:
            self._pace.check()

    async def _aattempt(self, request: Request, asked: Asked) -> Result | TransportError:
        begun = time.monotonic()
        try:
            self._check_pace()
            result = read(await self._road.asend(request), replace(asked, now=time.time()))
            return self._pace.learn(result, time.monotonic() - begun)
        except TransportError as error:
            return self._pace.learn(bare(error), time.monotonic() - begun)

    def _ask(
        self, text: str, variables: Mapping[str, Any] | None, operation: str | None
    ) -> tuple[Request, Asked]:
        if self._schemas.known is not None:
            self._load_recorded_schema()
        return self._surely(self._checked, text, variables, operation)

    def _checked(
        self, text: str, variables: Mapping[str, Any] | None, operation: str | None
    ) -> tuple[Request, Asked]:
        try:
            document = self._find(text, operation)
            check_names(document, variables)
            if self._lacks_schema(document, variables):
                document = self._find(text, operation)
            values = bind(document, variables)
            if check_json(values):
                values = carried(values, document, self._road)
            if not isinstance(self._transport, InProcess):
                check(document, values)  # in process the engine does it
                values = write_large_integers(document, values)
        except QueryError as error:
            locate(error, self._whence)
            raise
        self._schemas.asked_with(text)
        request = Request(text, values, operation, document)
        expected = None
        if not isinstance(self._transport, InProcess):
            expected = self._expectations(document).of(values)
        hide = self._secrets.hide
        learn = self._learner(document)
        return request, Asked(
            document, self.source, hide, expected=expected, variables=values, learn=learn
        )

    def _lacks_schema(self, document: Document, variables: Mapping[str, Any] | None) -> bool:
        """Return whether values needed the schema for their conversion, and it is known now."""
        remote = isinstance(self._transport, (Asgi, Http)) and self._road is self._transport
        if not remote or not needs_schema(document, variables):
            return False
        return self._schemas.sought(self._endpoint(quiet=True)) is not None

    def document(self, text: str, operation: str | None = None) -> Document:
        """Return the document of a text, checked where the schema is known.

        Raises
        ------
        QueryError
            If the text is wrong.
        """
        try:
            return self._surely(self._find, text, operation)
        except QueryError as error:
            locate(error, self._whence)
            raise

    def _find(self, text: str, operation: str | None) -> Document:
        if isinstance(self._transport, InProcess):
            return self._transport.schema.document(text, operation)
        keep = type(text) is str and len(text) <= TEXT_KEPT
        return (self._documents if keep else self._parse)(text, operation, self._schemas.known)

    def _parse(self, text: str, operation: str | None, schema: GraphQLSchema | None) -> Document:
        return Document.parse(text, schema, operation)

    def close(self) -> None:
        """Close the connections that are kept alive; the client opens new ones when used again."""
        self._transport.close()
        self._left = True
        if self._recording is not None:
            self._recording.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.source!r})"


made_by(Client)

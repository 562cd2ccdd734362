"""The client: one way to ask any endpoint, schema or application."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gqlnb.client import connections
from gqlnb.client.http import Http
from gqlnb.client.secrets import Secrets, checked_headers, sendable
from gqlnb.client.transports import Asgi, InProcess, Transport
from gqlnb.engine.adopting import held, is_schema
from gqlnb.engine.documents import TEXT_KEPT
from gqlnb.engine.schema import Schema
from gqlnb.errors import PROBLEMS_SHOWN, QueryError, SchemaError, TargetError, plain
from gqlnb.model.document import Document
from gqlnb.model.variables import bind, check
from gqlnb.token import Token
from gqlnb.wire.answers import Asked, read
from gqlnb.wire.json import faults
from gqlnb.wire.request import Request

if TYPE_CHECKING:
    import pandas as pd
    from graphql import GraphQLSchema

    from gqlnb.model.result import Result

__all__ = ["Client", "connect"]

DOCUMENTS_KEPT = 512  # texts per client; a notebook repeats few
TIMEOUT = 60.0  # seconds; this very object as an argument means that none was given


class Client:
    """Asks one endpoint, schema or application; safe to use from several threads.

    Parameters
    ----------
    target
        An address; a path on the current host such as ``"/graphql"``; the name of a connection; a
        :class:`Schema`, or a schema object that :meth:`Schema.adopt` takes; a server of this
        process; an ASGI application; None for the current connection, else ``GQLNB_URL``, else the
        newest server of this process, else ``http://127.0.0.1:4000/graphql``. With options of its
        own a named connection is made anew.
    token
        ``"env:NAME"``, ``"keyring:NAME"``, ``"prompt"`` or a :class:`Token`, sent in
        ``Authorization`` to that address alone.
    headers
        Further headers of every request; their values may be Tokens. Text becomes one where the
        name says that it is a secret, such as ``Authorization``, ``Cookie`` or ``X-Api-Key``.
    schema
        The endpoint's schema, to check documents before they are sent, as any object that
        :meth:`Schema.adopt` takes; None for unknown.
    timeout
        Longest wait for the endpoint's next byte, in seconds, above 0.
    verify
        Whether TLS certificates are checked, or the path of a CA bundle; None for what the named
        connection says, else True.

    Raises
    ------
    TargetError
        If `target` is nothing that can be asked, or an option has no such value.
    SchemaError
        If it is a schema object that is not valid, or `schema` is none.
    AuthError
        If the token can't be found, or would travel over plain http to another machine.

    Examples
    --------
    >>> from gqlnb import Client, reference_schema
    >>> Client(reference_schema()).execute("{ hello }").data
    {'hello': 'Hello world!'}
    """

    def __init__(
        self,
        target: Any = None,
        *,
        token: Token | str | None = None,
        headers: Mapping[str, str | Token] | None = None,
        schema: Any = None,
        timeout: float = TIMEOUT,
        verify: bool | str | None = None,
    ) -> None:
        checked, fault = checked_headers(headers)
        headers = None  # a traceback may show these locals
        fault = fault or unusable(timeout, verify)
        if fault:
            raise TargetError(fault)
        self._secrets = Secrets(Token.of(token), checked)
        self._timeout, self._verify = timeout, verify
        self._schema: GraphQLSchema | None = None
        self._whence = ""  # how the endpoint was chosen, where nobody named it
        self._transport = self._chosen() if target is None else self._transport_to(target)
        self._lock = threading.Lock()
        if schema is not None:
            self._schema = schema.graphql if isinstance(schema, Schema) else held(schema)
        if isinstance(self._transport, InProcess):
            self._schema = self._transport.schema.graphql
        self._documents = lru_cache(DOCUMENTS_KEPT)(self._parse)

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
            self._secrets.token = self._secrets.token or getattr(target, "token", None)
            return self._http(url)
        if isinstance(target, Schema) or is_schema(target):
            return InProcess(Schema.adopt(target))
        if is_asgi(target):
            return Asgi(target, self._secrets)
        if hasattr(target, "send") and hasattr(target, "asend"):
            return target  # type: ignore[no-any-return]
        msg = (
            f"A {type(target).__name__} is nothing a client can ask. Give an address, the name of "
            "a connection, a Schema, a schema object of graphql-core, Strawberry, Ariadne or "
            "Graphene, a Server or an ASGI application."
        )
        raise TargetError(msg)

    def _transport_to_text(self, target: str) -> Transport:
        if target.startswith("/"):
            base, _, _ = connections.HERE.rpartition("/")
            return self._http(base + target)
        if "://" in target:
            return self._http(target)
        made = connections.named(target, **self._given())
        self._secrets, self._schema = made._secrets, made._schema  # noqa: SLF001 - the same class
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
        if self._verify is not None:
            given["verify"] = self._verify
        return given

    def _http(self, url: str) -> Http:
        verify = True if self._verify is None else self._verify
        made = Http(url, self._secrets, timeout=float(self._timeout), verify=verify)
        sendable(url, self._secrets)
        return made

    @property
    def source(self) -> str:
        """Where answers are from: the address without secrets, or a word for this process."""
        return self._transport.source

    @property
    def schema(self) -> GraphQLSchema:
        """The schema of the endpoint, asked for once by introspection.

        Raises
        ------
        TransportError, AuthError, AnswerError
            If the endpoint did not give it.
        SchemaError
            If what it gave is no valid introspection result.
        """
        with self._lock:
            if self._schema is None:
                self._schema = introspected(self)
                self._documents = lru_cache(DOCUMENTS_KEPT)(self._parse)
            return self._schema

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
            Python values by name, without the ``$``.
        operation
            The name of the operation to run; None where there is only one.

        Returns
        -------
        Result
            Whenever the answer holds `data`, also when fields failed.

        Raises
        ------
        QueryError
            If text or variables are wrong; found before sending where the schema is known.
        TransportError, AuthError, RateLimited, AnswerError
            If no usable answer came.
        """
        request, asked = self._ask(text, variables, operation)
        return read(self._transport.send(request), asked)

    async def aexecute(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
    ) -> Result:
        """Do as :meth:`execute`, without blocking the running loop."""
        request, asked = self._ask(text, variables, operation)
        return read(await self._transport.asend(request), asked)

    def frame(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        path: str | None = None,
    ) -> pd.DataFrame:
        """Execute an operation and return its rows: :meth:`execute`, then :meth:`Result.frame`."""
        return self.execute(text, variables, operation=operation).frame(path)

    def _ask(
        self, text: str, variables: Mapping[str, Any] | None, operation: str | None
    ) -> tuple[Request, Asked]:
        try:
            document = self._find(text, operation)
            values = bind(document, variables)
            check_json(values)
            if not isinstance(self._transport, InProcess):
                check(document, values)  # in process the engine does it
        except QueryError as error:
            locate(error, self._whence)
            raise
        request = Request(text, values, operation, document)
        return request, Asked(document, self.source, self._secrets.hide, time.time())

    def document(self, text: str, operation: str | None = None) -> Document:
        """Return the document of a text, checked where the schema is known.

        Raises
        ------
        QueryError
            If the text is wrong.
        """
        try:
            return self._find(text, operation)
        except QueryError as error:
            locate(error, self._whence)
            raise

    def _find(self, text: str, operation: str | None) -> Document:
        if isinstance(self._transport, InProcess):
            return self._transport.schema.document(text, operation)
        keep = type(text) is str and len(text) <= TEXT_KEPT
        return (self._documents if keep else self._parse)(text, operation)

    def _parse(self, text: str, operation: str | None) -> Document:
        return Document.parse(text, self._schema, operation)

    def close(self) -> None:
        """Close the connections that are kept alive; the client opens new ones when used again."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.source!r})"

    def __reduce__(self) -> Any:
        if isinstance(self._transport, Http):
            return Client, (self._transport.source,)  # the token stays in this process
        msg = "Only a client of an address can be pickled."
        raise TypeError(msg)


def connect(
    target: Any = None,
    *,
    token: Token | str | None = None,
    headers: Mapping[str, str | Token] | None = None,
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
    AuthError
        If the token can't be found.

    Examples
    --------
    >>> import gqlnb
    >>> gqlnb.connect("demo").execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    checked, fault = checked_headers(headers)
    headers = None  # a traceback may show these locals
    if fault:
        raise TargetError(fault)
    first = {"token": token, "headers": checked}
    given = {name: value for name, value in first.items() if value} | options
    if isinstance(target, Client) and given:
        msg = (
            f"This client is made already, so {', '.join(f'{name}=' for name in given)} would have "
            "no effect. Make another one from its address or name."
        )
        raise TargetError(msg)
    if isinstance(target, Client):
        return target
    if isinstance(target, str) and not target.startswith("/") and "://" not in target:
        return connections.named(target, **given)
    return Client(target, **given)


def introspected(client: Client) -> GraphQLSchema:
    """Return the schema that an endpoint describes.

    Raises
    ------
    SchemaError
        If its answer is no valid introspection result.
    """
    from graphql import GraphQLError, build_client_schema, get_introspection_query

    answer = client.execute(get_introspection_query())
    try:
        return build_client_schema(answer.data)
    except (GraphQLError, TypeError, KeyError) as error:
        reason = type(error).__name__
    msg = f"{client.source} answered introspection with no valid schema ({reason})."
    raise SchemaError(msg)


def is_asgi(target: Any) -> bool:
    """Tell whether something is called as an ASGI application: (scope, receive, send)."""
    if not callable(target):
        return False
    called = target if inspect.isroutine(target) else target.__call__
    if not inspect.iscoroutinefunction(called):
        return False
    return len(inspect.signature(target).parameters) == 3


def unusable(timeout: object, verify: object) -> str:
    """Say what is wrong with two options of a client; nothing if they can be used."""
    number = isinstance(timeout, Real) and not isinstance(timeout, bool)
    if not number or not isfinite(timeout) or timeout <= 0:  # type: ignore[arg-type, operator]
        return f"timeout= takes a number of seconds above 0, not {plain(repr(timeout), 40)}."
    if verify is None or isinstance(verify, bool):
        return ""
    if not isinstance(verify, str):
        return f"verify= takes True, False or the path of a CA bundle, not {type(verify).__name__}."
    return "" if Path(verify).exists() else f"verify= names no file: {plain(verify, 80)!r}."


def check_json(variables: Mapping[str, Any]) -> None:
    """Check that variables can be written as JSON, for every transport alike.

    Raises
    ------
    QueryError
        If one cannot: the message names the variable and the place in it, never the value.
    """
    for name, value in variables.items():
        fault = next(faults(value, ()), None)
        if fault is not None:
            msg = f"Variable '${name}': {fault}"
            raise QueryError(msg)


def locate(error: QueryError, whence: str) -> None:
    """Add to an error which endpoint was asked, where nobody had just named it."""
    if not whence:
        return
    said = f"Asked of {whence}."
    if not error.problems:
        error.args = (f"{error.args[0]} {said}",)
        return
    last = min(len(error.problems), PROBLEMS_SHOWN) - 1
    shown = error.problems[last]
    hint = f"{shown.hint}\n  {said}" if shown.hint else said
    error.problems = (
        *error.problems[:last],
        replace(shown, hint=hint),
        *error.problems[last + 1 :],
    )

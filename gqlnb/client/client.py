"""The client: one way to ask any endpoint, schema or application."""

from __future__ import annotations

import inspect
import threading
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from gqlnb.client import connections
from gqlnb.client.http import Http, Secrets, address, sendable
from gqlnb.client.transports import Asgi, InProcess, Transport
from gqlnb.engine.adopting import is_schema
from gqlnb.engine.schema import TEXT_KEPT, Schema
from gqlnb.errors import SchemaError, TargetError
from gqlnb.model.document import Document
from gqlnb.model.variables import bind, check
from gqlnb.token import Token
from gqlnb.wire.answers import Asked, read
from gqlnb.wire.request import Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from graphql import GraphQLSchema

    from gqlnb.model.result import Result

__all__ = ["Client", "connect"]

DOCUMENTS_KEPT = 512  # texts per client; a notebook repeats few


class Client:
    """Asks one endpoint, schema or application; safe to use from several threads.

    Parameters
    ----------
    target
        An address; a path on the current host such as ``"/graphql"``; the name of a connection; a
        :class:`Schema`, or a schema object that :meth:`Schema.adopt` takes; a server of this
        process; an ASGI application; None for the current connection, else ``GQLNB_URL``, else the
        newest server of this process, else ``http://127.0.0.1:4000/graphql``.
    token
        ``"env:NAME"``, ``"keyring:NAME"``, ``"prompt"`` or a :class:`Token`, sent in
        ``Authorization`` to that address alone.
    headers
        Further headers of every request; their values may be Tokens.
    schema
        The endpoint's schema, to check documents before they are sent, as any object that
        :meth:`Schema.adopt` takes; None for unknown.
    timeout
        Longest wait for the endpoint's next byte, in seconds.
    verify
        Whether TLS certificates are checked, or the path of a CA bundle.

    Raises
    ------
    TargetError
        If `target` is nothing that can be asked.
    SchemaError
        If it is a schema object that is not valid.
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
        timeout: float = 60.0,
        verify: bool | str = True,
    ) -> None:
        self._secrets = Secrets(Token.of(token), checked_headers(headers or {}))
        target = connections.default_target() if target is None else target
        self._transport = self._transport_to(target, timeout, verify)
        self._lock = threading.Lock()
        self._schema = None if schema is None else Schema.adopt(schema).graphql
        if isinstance(self._transport, InProcess):
            self._schema = self._transport.schema.graphql
        self._documents = lru_cache(DOCUMENTS_KEPT)(self._parse)

    def _transport_to(self, target: Any, timeout: float, verify: bool | str) -> Transport:
        if isinstance(target, str):
            return self._transport_to_text(target, timeout, verify)
        url = getattr(target, "url", None)
        if isinstance(url, str):  # a server of this process knows its own token
            self._secrets.token = self._secrets.token or getattr(target, "token", None)
            return self._http(url, timeout, verify)
        if isinstance(target, Schema) or is_schema(target):
            return InProcess(Schema.adopt(target))
        if is_asgi(target):
            return Asgi(target, self._sent_headers)
        if hasattr(target, "send") and hasattr(target, "asend"):
            return target  # type: ignore[no-any-return]
        msg = (
            f"A {type(target).__name__} is nothing a client can ask. Give an address, the name of "
            "a connection, a Schema, a schema object of graphql-core, Strawberry, Ariadne or "
            "Graphene, a Server or an ASGI application."
        )
        raise TargetError(msg)

    def _transport_to_text(self, target: str, timeout: float, verify: bool | str) -> Transport:
        if target.startswith("/"):
            base, _, _ = connections.HERE.rpartition("/")
            return self._http(base + target, timeout, verify)
        if "://" in target:
            return self._http(target, timeout, verify)
        return connections.named(target)._transport  # noqa: SLF001 - the same class

    def _http(self, url: str, timeout: float, verify: bool | str) -> Http:
        address(url)
        sendable(url, self._secrets)
        return Http(url, self._secrets, timeout=timeout, verify=verify)

    def _sent_headers(self) -> dict[str, str]:
        import requests

        empty = requests.Request("POST", "http://127.0.0.1").prepare()
        empty.headers.clear()
        return dict(self._secrets(empty).headers)

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
        document = self.document(text, operation)
        values = bind(document, variables)
        if not isinstance(self._transport, InProcess):
            check(document, values)  # in process the engine does it
        request = Request(text, values, operation, document)
        return request, Asked(document, self.source, self._secrets.hide, time.time())

    def document(self, text: str, operation: str | None = None) -> Document:
        """Return the document of a text, checked where the schema is known.

        Raises
        ------
        QueryError
            If the text is wrong.
        """
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
        If there is no such connection, or `target` is nothing that can be asked.
    AuthError
        If the token can't be found.

    Examples
    --------
    >>> import gqlnb
    >>> gqlnb.connect("demo").execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    given = {"token": token, "headers": headers, **options}
    given = {name: value for name, value in given.items() if value is not None}
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


def checked_headers(headers: Mapping[str, str | Token]) -> dict[str, str | Token]:
    """Return headers, refusing names and values that would break out of their line."""
    for name, value in headers.items():
        text = name if isinstance(value, Token) else f"{name}{value}"
        if any(c in text for c in "\r\n\0"):
            msg = "A header holds a line break, which no header can."
            raise TargetError(msg)
    return dict(headers)

"""The endpoint of a client: its transport, credentials and limits, and how a target becomes one."""

from __future__ import annotations

import os
import ssl
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from gqlnb.client.arguments import is_asgi_app, resolve_verify
from gqlnb.client.array_wrapper import ArrayWrapper
from gqlnb.client.credentials import bind_credentials
from gqlnb.client.gql_interop import GqlClientTransport, is_gql_client
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.recording.recording_transport import RecordingTransport
from gqlnb.client.recording.session import SERVER_NAME, get_active_recording
from gqlnb.client.transports import AsgiTransport, InProcessTransport
from gqlnb.client.urls import DEFAULT_URL, split_socket_url, strip_url
from gqlnb.config import resolve_unix_path
from gqlnb.errors import AuthError, TargetError
from gqlnb.limits import Limits
from gqlnb.tokens import Token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.client.credentials import Credentials
    from gqlnb.client.measured_lists import ListSettings
    from gqlnb.client.recording.session import Recording
    from gqlnb.client.response_cache import CachePolicy
    from gqlnb.client.transports import Transport
    from gqlnb.engine.schema import Schema

__all__ = ["DEFAULT_TIMEOUT", "Endpoint", "EndpointOptions", "is_connection_name", "open_endpoint"]

DEFAULT_TIMEOUT = 60.0  # seconds; compared by identity, to tell an explicit 60.0 from the default
IN_PROCESS_HINT = (
    "a local schema is executed without HTTP, so no headers are sent. Omit them, or serve the "
    "schema and connect to its URL."
)
OWN_TRANSPORT_HINT = "a custom transport sends its own headers. Give them to it."


@dataclass(frozen=True, slots=True, eq=False)
class EndpointOptions:
    """The options of a client that say how to reach its endpoint.

    Attributes
    ----------
    credentials
        Token and headers.
    missing_token_error
        The error to raise when a token that was not found is needed after all: a client may be
        made without it while a recording answers.
    recording
        The recording of this client alone.
    timeout
        Seconds for one answer.
    explicit_limits
        The limits as given; None for the defaults.
    verify
        As for :class:`gqlnb.Client`.
    cache
        How answers are remembered; None for not at all.
    uds
        The path of the Unix socket of the endpoint.
    batch
        The number of requests that may share an array; None for none.
    persisted_queries
        Whether hashes are sent in the place of texts.
    nan
        ``"error"`` or ``"null"``: how NaN and infinities in answers are read.
    extensions
        The extensions of the requests of one call.
    validate
        Whether documents and variables are checked against the schema before they are sent.
    """

    credentials: Credentials
    missing_token_error: AuthError | None = None
    recording: Recording | None = None
    timeout: float = DEFAULT_TIMEOUT
    explicit_limits: Limits | None = None
    verify: bool | str | os.PathLike[str] | ssl.SSLContext | None = None
    cache: CachePolicy | None = None
    uds: str | None = None
    batch: int | None = None
    persisted_queries: bool = False
    nan: str = "error"
    extensions: Mapping[str, Any] | None = None
    validate: bool = True

    @property
    def limits(self) -> Limits:
        """The limits in force."""
        return self.explicit_limits or Limits()

    def collect_given(self) -> dict[str, Any]:
        """Return the options that were given, as keyword arguments of a client."""
        given: dict[str, Any] = {
            "token": self.credentials.token,
            "headers": self.credentials.headers or None,
            "timeout": None if self.timeout is DEFAULT_TIMEOUT else self.timeout,
            "limits": self.explicit_limits,
            "verify": self.verify,
            "recording": self.recording,
            "cache": self.cache,
            "uds": self.uds,
            "batch": self.batch,
            "persisted_queries": self.persisted_queries or None,
            "validate": None if self.validate else False,
            "nan": None if self.nan == "error" else self.nan,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(slots=True, eq=False)
class Endpoint:
    """The destination of a client's requests, with credentials and limits.

    Attributes
    ----------
    transport
        Carries the requests, unless a recording answers them.
    options
        Credentials, timeout and limits.
    name
        The name of the connection, by which recordings know the endpoint; None for none.
    is_by_name
        Whether `name` alone is enough to make the same client again.
    explicit_schema
        The value of ``schema=``; None if there was none.
    description
        The source of a default endpoint, such as ``GQLNB_URL``; "" if the caller named it.
    lists
        The paging of its lists, as it was measured.
    source
        The address without secrets, or a word for this process.
    credentials
        Token and headers.
    limits
        The limits in force.
    local_schema
        The schema of this process that executes; None if something else does.
    can_introspect
        Whether the schema may be loaded unasked, which costs a request.
    """

    transport: Transport
    options: EndpointOptions
    name: str | None = None
    is_by_name: bool = False
    explicit_schema: Any = None
    description: str = ""
    lists: Mapping[str, ListSettings] = field(default_factory=dict)
    source: str = field(init=False)
    credentials: Credentials = field(init=False)
    limits: Limits = field(init=False)
    local_schema: Schema | None = field(init=False)
    can_introspect: bool = field(init=False)

    def __post_init__(self) -> None:
        self.source = self.transport.source
        self.credentials, self.limits = self.options.credentials, self.options.limits
        transport = self.transport
        self.local_schema = transport.schema if isinstance(transport, InProcessTransport) else None
        self.can_introspect = isinstance(transport, (AsgiTransport, HttpTransport))

    def get_recording(self) -> Recording | None:
        """Return the recording in force: of a ``with`` block, else of the client."""
        return get_active_recording(self.options.recording)

    def select_transport(self, recording: Recording | None) -> Transport:
        """Return the transport for one call: the endpoint's, or a recording in front of it.

        Raises
        ------
        AuthError
            If the token is missing and there is no recording.
        """
        lacking = self.options.missing_token_error
        if recording is not None:
            return RecordingTransport(
                self.transport, recording, self.name or self.transport.source, lacking
            )
        if lacking is not None:
            # A new error each time: the one that is kept would collect the traceback of each call.
            raise AuthError(str(lacking))
        return self.transport


def is_connection_name(target: object) -> TypeGuard[str]:
    """Return whether a target is the name of a connection, not an address or an object."""
    return isinstance(target, str) and not target.startswith("/") and "://" not in target


def open_endpoint(target: object, options: EndpointOptions) -> Endpoint:
    """Return the endpoint of anything but the name of a connection.

    Parameters
    ----------
    target
        As for :class:`gqlnb.Client`.
    options
        The options of the client.

    Raises
    ------
    TargetError
        If no client can be made for `target`, or an option would have no effect.
    AuthError
        If the token may not be sent there.
    """
    if isinstance(target, str):
        if target.startswith("/"):
            target = DEFAULT_URL.rpartition("/")[0] + target
        elif target.startswith(("ws://", "wss://")):  # the same host and port, as people copy it
            target = f"http{target.removeprefix('ws')}"
        return open_address(target, options)
    # By its attributes: the class is in a package of the same layer, which is not imported here.
    url = getattr(target, "url", None)
    if isinstance(url, str):  # a server of this process knows its own token
        token = getattr(target, "token", None)
        if options.credentials.token is None and isinstance(token, Token):
            # Unbound: the person's own Token object may serve several servers.
            options.credentials.use_token(token.unbound())
        return replace(open_address(url, options), name=SERVER_NAME)
    from gqlnb.engine.schema import Schema
    from gqlnb.engine.schema_adapters import is_schema

    if isinstance(target, Schema) or is_schema(target):
        reject_unused(options, IN_PROCESS_HINT)
        return Endpoint(InProcessTransport(Schema.adopt(target)), options)
    if is_asgi_app(target):
        reject_http_options(options)
        return Endpoint(AsgiTransport(target, options.credentials), options)
    if is_gql_client(target):
        reject_unused(options, OWN_TRANSPORT_HINT)
        return Endpoint(GqlClientTransport(target), options)
    if hasattr(target, "send") and hasattr(target, "asend"):
        local = isinstance(target, InProcessTransport)
        reject_unused(options, IN_PROCESS_HINT if local else OWN_TRANSPORT_HINT)
        return Endpoint(cast("Transport", target), options)
    msg = (
        f"Cannot create a client for a {type(target).__name__}. Give an address, the name of "
        "a connection, a Schema, a schema object of graphql-core, Strawberry, Ariadne or "
        "Graphene, a Server, an ASGI application or a Client of gql."
    )
    raise TargetError(msg)


def open_address(url: str, options: EndpointOptions) -> Endpoint:
    """Return the endpoint of an address, with the credentials bound to its origin."""
    url, uds = split_socket_url(url)  # of a server on a socket, as its `url` names it
    if uds is not None and options.uds is not None:
        msg = f"The address names the socket {uds!r} already: leave uds= out."
        raise TargetError(msg)
    if uds is not None:
        options = replace(options, uds=resolve_unix_path(uds))
    verify, kind = options.verify, HttpTransport
    if sys.platform == "emscripten":  # Pyodide
        from gqlnb.client.browser_transport import BrowserTransport, refuse_secrets

        refuse_secrets(strip_url(url), options.credentials)
        kind = BrowserTransport
    transport = kind(
        url,
        options.credentials,
        timeout=float(options.timeout),
        verify=resolve_verify(verify=verify) if url.startswith("https:") else verify is not False,
        cap=options.limits.answer,
        uds=options.uds,
        hashes=options.persisted_queries,
    )
    if options.batch is not None:
        transport.wrapper = ArrayWrapper()
    bind_credentials(url, options.credentials, options.uds)
    return Endpoint(transport, options)


def reject_unused(options: EndpointOptions, reason: str) -> None:
    """Raise TargetError for options that would have no effect, such as a token or ``cache=``."""
    credentials = options.credentials
    given = {
        "token=": credentials.token,
        "headers=": credentials.headers,
        "nan=": options.nan != "error",
    }
    unused = [name for name, value in given.items() if value]
    if unused:
        msg = f"{' and '.join(unused)} would have no effect: {reason}"
        raise TargetError(msg)
    reject_http_options(options)


def reject_http_options(options: EndpointOptions) -> None:
    """Raise TargetError for options of HTTP, and ``cache=``, with anything but an address.

    A remembered answer is found by the address, the token and the headers. An object of this
    process has no name that means the same to a later kernel, and its answers depend on its data.
    """
    if options.cache is not None:
        msg = (
            "cache= would have no effect: answers are remembered by the address they came from, "
            "and this target is an object of this process. Remove cache=, or serve the object "
            "with gqlnb.serve() and connect to its address."
        )
        raise TargetError(msg)
    given = {
        "uds=": options.uds,
        "batch=": options.batch,
        "persisted_queries=": options.persisted_queries,
    }
    if unused := [name for name, value in given.items() if value]:
        msg = (
            f"{' and '.join(unused)} would have no effect: only requests over HTTP have that, and "
            "this target is an object of this process. Leave it out, or serve the object with "
            "gqlnb.serve() and connect to its address."
        )
        raise TargetError(msg)

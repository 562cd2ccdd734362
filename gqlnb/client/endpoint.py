"""An endpoint: checks of its arguments, options of calls and paging, list settings, exchanges."""

from __future__ import annotations

import inspect
import os
import ssl
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Real
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeGuard, cast
from urllib.parse import urlsplit

import msgspec

from gqlnb.client.credentials import (
    DEFAULT_URL,
    Credentials,
    is_secret_name,
    split_socket_url,
    strip_url,
)
from gqlnb.client.gql_interop import GqlClientTransport, is_gql_client
from gqlnb.client.http_transport import ArrayWrapper, HttpTransport
from gqlnb.client.recording.session import (
    SERVER_NAME,
    Recording,
    RecordingTransport,
    build_unrecordable_error,
    get_active_recording,
    resolve_secrets,
)
from gqlnb.client.transports import AsgiTransport, InProcessTransport, Transport
from gqlnb.config import Settings, find_settings, resolve_unix_path, write_table
from gqlnb.document.json_codec import JSONError, dump_json
from gqlnb.document.paged_fields import ListRole
from gqlnb.document.paging_conventions import PageArguments
from gqlnb.errors import AuthError, OptionError, TargetError, TransportError, sanitize_text
from gqlnb.limits import Limits
from gqlnb.option_checks import check_boolean, check_whole_number, raise_option_error
from gqlnb.redact import MASK, hide_locals, redact_text
from gqlnb.tokens import Token, TokenHolder

if TYPE_CHECKING:
    from gqlnb.client.http_route import Body
    from gqlnb.client.response_cache import CachePolicy
    from gqlnb.engine.schema import Schema
    from gqlnb.http.messages import Response


class ListSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The paging of one list.

    Attributes
    ----------
    arguments
        Its arguments; None for a list that a convention pages.
    cursor, is_cursor_of_row, holder
        As of :class:`ListRole`.
    largest
        The number of rows of the largest page; None if no limit is known.
    """

    arguments: PageArguments | None = None
    cursor: tuple[str, ...] = ()
    is_cursor_of_row: bool = False
    holder: tuple[str, ...] = ()
    largest: int | None = None

    @property
    def role(self) -> ListRole | None:
        """The role, as experiments find it."""
        if self.arguments is None:
            return None
        return ListRole(self.arguments, self.cursor, self.is_cursor_of_row, self.holder)


ListTables = Mapping[str, ListSettings]  # by coordinate, such as "Query.books"


def read_lists(table: object) -> dict[str, ListSettings]:
    """Return the lists of a table of settings; raise ValidationError if it is not valid."""
    return msgspec.convert(table, dict[str, ListSettings])


def check_lists(table: object) -> str:
    """Return the error in a table of lists; "" if it is valid."""
    try:
        lists = read_lists(table)
    except msgspec.ValidationError as error:
        return f"lists: {sanitize_text(error, 200)}. describe(keep=True) writes them."
    wrong = next((name for name in lists if name.count(".") != 1), None)
    return "" if wrong is None else f"lists: {wrong!r} is not a type and a field: 'Query.books'."


def dump_lists(lists: ListTables) -> dict[str, Any]:
    """Return lists as values of TOML, which has no null."""
    tables: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(lists))
    for table in tables.values():
        if "arguments" in table:
            table["arguments"] = {k: v for k, v in table["arguments"].items() if v is not None}
    return tables


def save_lists(name: str, lists: ListTables) -> str:
    """Write lists into the settings of a connection; return the path of the file, as it is shown.

    Raises
    ------
    OptionError
        If no settings file has the connection, or it cannot be changed.
    """
    return write_table(require_settings(name), ("connections", name, "lists"), dump_lists(lists))


def require_settings(name: str) -> Settings:
    """Return the settings with a connection; those of the project count.

    Raises
    ------
    OptionError
        If no settings file has it.
    """
    settings = find_settings("connections", name)
    if settings is not None:
        return settings
    msg = (
        f"{name or 'The endpoint'} is not a connection of a settings file, so nothing can be kept "
        "for it. Add it first: %graphql connect NAME ADDRESS --keep"
    )
    raise OptionError(msg)


# In the order of precedence, as in requests, curl and OpenSSL.
BUNDLE_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")


def resolve_verify(
    *, verify: bool | str | os.PathLike[str] | ssl.SSLContext | None = None
) -> bool | str | ssl.SSLContext:
    """Return the ``verify`` argument of requests.

    Parameters
    ----------
    verify
        False for no check at all; the path of a CA bundle, or of a folder of certificates; an
        SSLContext, which may hold a client certificate and is used as it is; True or None for the
        bundle in ``REQUESTS_CA_BUNDLE``, ``CURL_CA_BUNDLE``, ``SSL_CERT_FILE`` or
        ``SSL_CERT_DIR``, else the authorities that come with requests.

    Raises
    ------
    TargetError
        If there are no certificates at the path; the message names its source.
    """
    if verify is False or isinstance(verify, ssl.SSLContext):
        return verify
    if verify is not None and verify is not True:
        return _check_bundle(os.fspath(verify), "verify=")
    for name in BUNDLE_VARIABLES:
        path = os.environ.get(name, "").strip()
        if path:
            return _check_bundle(path, f"The environment variable {name}")
    return True


def _check_bundle(path: str, origin: str) -> str:
    file = Path(path).expanduser()
    if not file.exists():
        msg = f"{origin} refers to a file that does not exist: {sanitize_text(path, 80)!r}."
        raise TargetError(msg)
    if file.is_file() and not _has_certificates(file):
        name = sanitize_text(path, 80)
        msg = f"{origin} names a file without certificates in PEM form: {name!r}."
        raise TargetError(msg)
    return str(file)


def _has_certificates(file: Path) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError:  # the base class of ssl.SSLError
        return False
    return True


MAX_BATCH = 1_000  # requests in one array


def is_asgi_app(target: object) -> TypeGuard[Callable[..., Awaitable[None]]]:
    """Return whether an object is an ASGI application: ``async (scope, receive, send)``."""
    if not callable(target):
        return False
    if not any(map(inspect.iscoroutinefunction, (target, target.__call__))):
        return False
    # Three parameters: applications of ASGI 2 take the scope alone, and are not supported.
    return len(inspect.signature(target).parameters) == 3


def check_options(timeout: object, limits: object, verify: object) -> None:
    """Raise TargetError for a timeout, limits or certificates that a client can't have."""
    number = isinstance(timeout, Real) and not isinstance(timeout, bool)
    msg = ""
    if not number or not isfinite(timeout) or timeout <= 0:  # type: ignore[arg-type, operator]
        msg = f"timeout= takes a number of seconds above 0, not {sanitize_text(repr(timeout), 40)}."
    elif limits is not None and not isinstance(limits, Limits):
        msg = f"limits= takes Limits(answer=..., wait=...), not {type(limits).__name__}."
    elif isinstance(verify, (str, os.PathLike)):
        if not Path(verify).expanduser().exists():
            msg = f"verify= refers to a file that does not exist: {sanitize_text(verify, 80)!r}."
    elif verify is not None and not isinstance(verify, (bool, ssl.SSLContext)):
        msg = (
            "verify= takes True, False, the path of a CA bundle or an ssl.SSLContext, not "
            f"{type(verify).__name__}."
        )
    if msg:
        raise TargetError(msg)


def check_batch(batch: object) -> int | None:
    """Return ``batch=``; raise OptionError if it is no number of requests in an array."""
    if batch is None:
        return None
    return check_whole_number("batch", batch, least=1, most=MAX_BATCH, or_none=True)


def check_persisted_queries(value: object) -> bool:
    """Return ``persisted_queries=``; raise OptionError if it is neither True, False nor None."""
    return value is not None and check_boolean("persisted_queries", value)


def check_nan(value: object) -> str:
    """Return ``nan=``, "error" for None; raise OptionError for any other value."""
    if value not in (None, "error", "null"):
        raise_option_error("nan", value, '"error" or "null"')
    return str(value or "error")


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
        Whether certificates are checked, or the certificates or the context that checks them.
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
        Whatever a client can be created for, such as an address or a schema.
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
        from gqlnb.client.http_transport import BrowserTransport, refuse_secrets

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
    options.credentials.bind(url, options.uds)
    return Endpoint(transport, options)


def reject_unused(options: EndpointOptions, reason: str) -> None:
    """Raise TargetError for options that would have no effect, such as a token or ``cache=``."""
    credentials = options.credentials
    reject_given(
        reason, token=credentials.token, headers=credentials.headers, nan=options.nan != "error"
    )
    reject_http_options(options)


def reject_http_options(options: EndpointOptions) -> None:
    """Raise TargetError for options of HTTP, and ``cache=``, with anything but an address.

    A remembered answer is found by the address, the token and the headers. An object of this
    process has no name that means the same to a later kernel, and its answers depend on its data.
    """
    reject_given(
        "answers are remembered by the address they came from, and this target is an object of "
        "this process. Remove cache=, or serve the object with gqlnb.serve() and connect to its "
        "address.",
        cache=options.cache,
    )
    reject_given(
        "only requests over HTTP have that, and this target is an object of this process. Leave it "
        "out, or serve the object with gqlnb.serve() and connect to its address.",
        uds=options.uds,
        batch=options.batch,
        persisted_queries=options.persisted_queries,
    )


def reject_given(reason: str, **options: object) -> None:
    """Raise TargetError for those options that were given, as they would have no effect."""
    if unused := [f"{name}=" for name, value in options.items() if value]:
        msg = f"{' and '.join(unused)} would have no effect: {reason}"
        raise TargetError(msg)


@hide_locals
def apply_call_options(
    endpoint: Endpoint,
    *,
    token: Token | TokenHolder | str | None,
    headers: Mapping[str, str | Token | TokenHolder] | None,
    extensions: Mapping[str, Any] | None,
    timeout: float | None,
) -> Endpoint:
    """Return an endpoint for one call, which shares the connections of another one.

    Parameters
    ----------
    endpoint
        The endpoint of the client.
    token, headers, extensions, timeout
        The credentials, headers and extensions of one request, and the longest time for its answer
        in seconds; None for those of the endpoint.

    Raises
    ------
    OptionError
        If the extensions are not a mapping of JSON values.
    TargetError, AuthError
        If the token, a header or the timeout is not valid, or an option would have no effect.
    """
    transport, settings = endpoint.transport, endpoint.options
    # First: a secret given as text is refused before another error can show the arguments.
    given, missing = resolve_secrets(token, headers, settings.recording)
    timeout = settings.timeout if timeout is None else timeout
    check_options(timeout, None, None)
    extensions = check_extensions(extensions)
    # Refused, not dropped: a call that names another token must not be sent with the client's.
    if not isinstance(transport, (HttpTransport, AsgiTransport)):
        is_custom = not isinstance(transport, (InProcessTransport, GqlClientTransport))
        if token or headers or not is_custom:  # a custom transport may send the extensions
            reject_given(
                "only requests over HTTP and to ASGI applications have them, and this client "
                f"executes on {endpoint.source!r}. Leave them out.",
                token=token,
                headers=headers,
                extensions=extensions,
            )
        settings = replace(settings, timeout=timeout, extensions=extensions)
        return replace(endpoint, options=settings)
    credentials = settings.credentials
    if given.token is not None or given.headers or missing is not None:
        names = {name.lower() for name in given.headers}
        kept = {
            name: header
            for name, header in credentials.headers.items()
            if name.lower() not in names
        }
        # A request has one Authorization header, so either takes the place of the client's token.
        replaced = "authorization" in names or token is not None
        token = given.token if replaced else credentials.token
        credentials = Credentials(token, {**kept, **given.headers})
        if isinstance(transport, HttpTransport):
            credentials.bind(transport.url, transport.uds)
        # A client that lacks its token can still make calls that bring their own.
        missing = missing or (None if replaced else settings.missing_token_error)
        settings = replace(settings, missing_token_error=missing)
    settings = replace(settings, credentials=credentials, timeout=timeout, extensions=extensions)
    derived = copy(transport)  # it shares the connections
    derived.credentials = credentials
    if isinstance(derived, HttpTransport):
        derived.timeout = float(timeout)
    return replace(endpoint, transport=derived, options=settings)


def check_extensions(extensions: object) -> dict[str, Any] | None:
    """Return the extensions of a request; raise OptionError if they are not JSON values."""
    if extensions is None:
        return None
    if not isinstance(extensions, Mapping):
        msg = f"extensions= takes a mapping of JSON values, not a {type(extensions).__name__}."
        raise OptionError(msg)
    members = dict(extensions)
    try:
        # Here, so that the error is about the option, and comes before anything is sent.
        dump_json(members)
    except JSONError as error:
        msg = f"extensions= takes a mapping of JSON values: {error}"
        raise OptionError(msg) from None
    return members


MAX_SHOWN = 2_000  # characters of a body in the repr


@dataclass(frozen=True, repr=False)
class Exchange:
    """One request and its response; tokens and secret headers are masked.

    Attributes
    ----------
    url
        The address.
    request_headers, request_body
        What was sent; the body of an upload only by its size.
    status, headers, body
        What was received, the body as text after decompression, whatever it is.
    seconds
        From sending to the last byte, without the time of the exchanges before.
    history
        The exchanges that led to this one, oldest first: redirects, and hashes of persisted
        queries that the endpoint did not know.
    """

    url: str
    request_headers: Mapping[str, str]
    request_body: str
    status: int
    headers: Mapping[str, str]
    body: str
    seconds: float
    history: tuple[Exchange, ...] = ()

    def __repr__(self) -> str:
        sent = "".join(f"> {name}: {value}\n" for name, value in self.request_headers.items())
        received = "".join(f"< {name}: {value}\n" for name, value in self.headers.items())
        return (
            "".join(f"{exchange!r}\n\n" for exchange in self.history)
            + f"> POST {self.url}\n{sent}>\n{cut_body(self.request_body)}\n"
            + f"< HTTP {self.status} after {self.seconds:.3f} s\n{received}<\n"
            + cut_body(self.body)
        )


def cut_body(body: str) -> str:
    """Return a body as it is shown, cut to a length."""
    lines = (sanitize_text(line, MAX_SHOWN) for line in body[:MAX_SHOWN].splitlines())
    rest = len(body) - MAX_SHOWN
    return "\n".join(lines) + (f"… ({rest:,} more characters)" if rest > 0 else "")


class ExchangeLog:
    """Keeps the exchanges of one call.

    Parameters
    ----------
    endpoint
        The endpoint of the call.

    Attributes
    ----------
    transport
        The transport of the endpoint, observed.

    Raises
    ------
    TargetError
        If the client sends nothing over HTTP.
    ReplayError
        Within a recording, which holds no exchanges.
    AuthError
        If the token is missing.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        recording = endpoint.get_recording()
        if recording is not None:
            why = "they are sent to see what an endpoint says now."
            raise build_unrecordable_error(recording, "exchanges of request()", why)
        transport = endpoint.select_transport(None)
        if not isinstance(transport, HttpTransport):
            msg = (
                f"request() shows what travels over HTTP, and this client executes on "
                f"{endpoint.source!r}. Use execute(), or connect to the address of a server."
            )
            raise TargetError(msg)
        self.transport = copy(transport)  # it shares the connections
        self.transport.observe = self.add
        self._exchanges: list[Exchange] = []
        self._moment = monotonic()

    def add(self, url: str, headers: Mapping[str, str], body: Body, response: Response) -> None:
        """Add an exchange, without its secrets."""
        transport, began = self.transport, self._moment
        self._moment = monotonic()
        size = {}
        text = "(an upload)"
        if isinstance(body, bytes):
            size, text = {"Content-Length": str(len(body))}, body.decode()
        headers = {"Host": urlsplit(url).netloc, **headers, **size}
        self._exchanges.append(
            Exchange(
                url=transport.source if url == transport.url else self.mask(strip_url(url)),
                request_headers=self.mask_headers(headers),
                request_body=self.mask(text),
                status=response.status,
                headers=self.mask_headers(response.headers),
                body=self.mask(response.body.decode("utf-8", "replace")),
                seconds=self._moment - began,
            )
        )

    def mask(self, text: str) -> str:
        """Return a text without the secrets of the client, and without tokens of known services."""
        return redact_text(self.transport.credentials.redact(text))

    def mask_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return headers without secrets: of the client, or of the endpoint, such as cookies."""
        masked = {}
        for name, value in headers.items():
            text = self.mask(value)
            masked[name] = MASK if text == value and is_secret_name(name) else text
        return masked

    def finish(self, outcome: object) -> Exchange:
        """Return the last exchange with those before it.

        Parameters
        ----------
        outcome
            What sending ended with: an error that has no response is raised.
        """
        # A redirect that is not followed is an error for execute(), and here what was asked for.
        if isinstance(outcome, BaseException) and not (
            isinstance(outcome, TransportError) and outcome.status is not None and self._exchanges
        ):
            raise outcome
        *earlier, last = self._exchanges
        return replace(last, history=tuple(earlier))


ROLES = frozenset({"page", "offset", "size", "cursor", "filter"})  # of the arguments of a list


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingOptions:
    """The options of paging.

    Attributes
    ----------
    path
        Dotted name of the list to follow, together with the lists around it and in it; None for
        all lists.
    page_size
        Items per page; None for the size in the query, or else 100, growing on long lists.
    max_results
        Most items of an outermost list; None for all.
    max_requests
        Most requests; None for no limit.
    experiments
        Whether to find by experiments how lists are paged that no convention tells.
    follow
        The dotted names of lists of which all items are requested although the text has `last`
        for them, or, in the rows of another list, a size below 10; ``"all"`` for all lists.
    paging
        The role of arguments that experiments cannot tell, by name: ``"page"``, ``"offset"``,
        ``"size"``, ``"cursor"`` or ``"filter"``.
    """

    path: str | None = None
    page_size: int | None = None
    max_results: int | None = None
    max_requests: int | None = None
    experiments: bool = True
    follow: str | Sequence[str] = ()
    paging: Mapping[str, str] | None = None

    def check(self) -> PagingOptions:
        """Return the options with checked values; `follow` is ``"all"`` or a tuple.

        Raises
        ------
        OptionError
            If a value is invalid.
        """
        numbers: dict[str, Any] = {
            name: check_whole_number(name, value, least=1, or_none=True)
            for name in ("page_size", "max_results", "max_requests")
            if (value := getattr(self, name)) is not None
        }
        if not isinstance(self.path, str | None):
            msg = f"path= takes the dotted name of a list; got {type(self.path).__name__}."
            raise OptionError(msg)
        roles, follow = self.paging or {}, self.follow or ()
        if not (isinstance(roles, dict) and ROLES.issuperset(roles.values())):
            names = ", ".join(sorted(ROLES))
            msg = (
                f"paging= takes roles of arguments by name, such as {{'season': 'page'}}: {names}."
            )
            raise OptionError(msg)
        if isinstance(follow, str):
            follow = follow if follow == "all" else (follow,)
        elif not (
            isinstance(follow, (list, tuple, set)) and all(isinstance(n, str) for n in follow)
        ):
            msg = f"follow= takes names of lists, or 'all'; got {type(follow).__name__}."
            raise OptionError(msg)
        experiments = check_boolean("experiments", self.experiments)
        return replace(self, **numbers, experiments=experiments, follow=follow)

"""The way to an endpoint: pools of connections, direct or through a proxy, and their errors."""

from __future__ import annotations

import http.client
import io
import logging
import os
import re
import socket
import ssl
import threading
from contextlib import suppress
from functools import cache, lru_cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy, urldefragauth
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3 import exceptions as urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util import Retry, Timeout

from gqlnb.client.credentials import is_loopback
from gqlnb.client.transports import (
    CONNECT_SECONDS,
    MAX_CONNECTIONS,
    NOTHING_LISTENS,
    PROXY_LOGIN,
    Call,
    InvalidLengthError,
    thread_state,
)
from gqlnb.errors import TransportError, sanitize_text
from gqlnb.http.content_encoding import BodyTooLargeError, DecompressionError, TruncatedBodyError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import WriteableBuffer
    from urllib3 import BaseHTTPResponse, ProxyManager

    from gqlnb.http.multipart_requests import MultipartBody

    Body = bytes | MultipartBody  # the latter is read while it is sent
    from collections.abc import Callable, Iterator

INCOMPLETE = "the response is incomplete: it ended before the full body was received. Try again."

BUNDLE_ADVICE = "If you trust it, pass its CA bundle as verify=."
CLIENT_CERTIFICATE = (
    "Pass one with verify=context: context = ssl.create_default_context(); "
    "context.load_cert_chain(certificate_file, key_file)."
)
PROXY_ADVICE = (
    "Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY in the environment, or list {host} in NO_PROXY."
)
NAME_ADVICE = "Connect to a name that the certificate is for."
# Advice on certificates, by OpenSSL's error codes (X509_V_ERR_*).
CERTIFICATE_ADVICE = {
    9: "It is not valid yet: check the clock of this machine.",
    10: "It has to be renewed at the endpoint; check the clock of this machine too.",
    62: NAME_ADVICE,
    64: NAME_ADVICE,
}
# The message of http.client for a proxy that refuses a tunnel.
TUNNEL_ANSWER = re.compile(r"Tunnel connection failed: (\d{3})(.*)")
MAX_CHAIN = 12  # exceptions wrapped around each other by requests, urllib3 and the library

Reason: TypeAlias = "str | Callable[[BaseException, str], str]"  # of an exception and a host
ReasonTable = tuple[tuple[tuple[type[BaseException], ...], Reason], ...]


# An exception of the HTTP library holds the request with its headers, and thus the token. Ours is
# raised outside the `except` block, so that it has neither cause nor context.
def explain_failure(
    error: BaseException, host: str, connect: float, read: float, *, begun: bool = False
) -> str:
    """Return the reason of a failed request, as the end of a sentence.

    Parameters
    ----------
    error
        The exception of requests.
    host
        The host of the endpoint.
    connect, read
        The time limits of connecting and of the whole response, in seconds.
    begun
        Whether some of the response had come.
    """
    chain = list(iterate_causes(error))
    # After the first byte the endpoint is known to be there: advice about addresses and proxies
    # would mislead.
    if begun and any(isinstance(cause, ssl.SSLEOFError) for cause in chain):
        return INCOMPLETE
    if begun and any(isinstance(cause, TimeoutError) for cause in chain):
        return (
            f"the answer was not complete within {read:g} s. "
            "Ask for less at a time. Try again, or pass a longer timeout=."
        )
    socks = next((cause for cause in chain if is_about_socks(cause)), None)
    if socks is not None:
        return _explain_socks(socks, host)
    for kinds, reason in REASONS:
        for cause in chain:
            if isinstance(cause, kinds):
                if not isinstance(reason, str):
                    return reason(cause, host)
                return reason.format(host=host, connect=f"{connect:g}", read=f"{read:g}")
    return f"the request failed ({type(chain[-1]).__name__})."


def is_broken(error: BaseException) -> bool:
    """Return whether an established connection ended before the end of the response."""
    chain = list(iterate_causes(error))
    return any(isinstance(cause, ENDED_ERRORS) for cause in chain) and not any(
        isinstance(cause, (TimeoutError, urllib3.ProxyError)) for cause in chain
    )


def is_unsent(error: BaseException) -> bool:
    """Return whether a request was not sent: another thread had closed the connections."""
    return isinstance(error, urllib3.ClosedPoolError)


def iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes, outermost first."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < MAX_CHAIN:
        cause = waiting.pop(0)
        if not isinstance(cause, BaseException) or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        inner = getattr(cause, "reason", None)
        waiting += [inner, *cause.args, cause.__cause__, cause.__context__]


def _explain_certificate(error: BaseException, _host: str) -> str:
    detail = getattr(error, "verify_message", None) or getattr(error, "reason", None)
    why = f": {sanitize_text(detail, 120).rstrip('.')}" if isinstance(detail, str) else ""
    advice = CERTIFICATE_ADVICE.get(getattr(error, "verify_code", 0), BUNDLE_ADVICE)
    return f"the TLS certificate was not accepted{why}. {advice}"


def _explain_handshake(error: BaseException, _host: str) -> str:
    detail = getattr(error, "reason", None)
    reason = detail if isinstance(detail, str) else ""
    why = f" ({sanitize_text(reason, 60)})" if reason else ""
    if "CERTIFICATE_REQUIRED" in reason:
        return f"the endpoint asks for a client certificate{why}. {CLIENT_CERTIFICATE}"
    if any(word in reason for word in ("UNKNOWN_CA", "_CERTIFICATE", "CERTIFICATE_")):
        return f"the endpoint did not accept the client certificate{why}."
    if "HANDSHAKE_FAILURE" in reason or isinstance(error, ssl.SSLEOFError):
        return (
            f"TLS failed{why}. Does the endpoint speak https? It may also ask for a "
            f"client certificate. {CLIENT_CERTIFICATE}"
        )
    return f"TLS failed{why}. Does the endpoint speak https?"


def _explain_proxy(error: BaseException, host: str) -> str:
    """Return the reason why a proxy did not reach the endpoint."""
    refused = next(
        (m for cause in iterate_causes(error) if (m := TUNNEL_ANSWER.match(str(cause)))), None
    )
    if refused is None:
        return f"the proxy did not answer. {PROXY_ADVICE.format(host=host)}"
    if refused[1] == "407":
        return PROXY_LOGIN
    words = sanitize_text(f"{refused[1]} {refused[2]}", 80)
    return f"the proxy did not connect (HTTP {words}). {PROXY_ADVICE.format(host=host)}"


def _explain_socks(error: BaseException, host: str) -> str:
    """Return the reason why a SOCKS proxy did not reach the endpoint."""
    if isinstance(error, (ImportError, requests.exceptions.InvalidSchema)):
        return (
            "the environment names a SOCKS proxy, and the library for that is not installed. "
            "Install it with: pip install 'gqlnb[socks]'"
        )
    detail = sanitize_text(getattr(error, "msg", None) or error, 120).rstrip(".")
    advice = PROXY_ADVICE.format(host=host)
    return f"the SOCKS proxy could not connect to the endpoint: {detail}. {advice}"


def is_about_socks(error: BaseException) -> bool:
    """Return whether an exception comes from a SOCKS proxy, or from a missing library for it."""
    if isinstance(error, (ImportError, requests.exceptions.InvalidSchema)):
        return "socks" in str(error).lower()
    return type(error).__module__.partition(".")[0] in ("socks", "python_socks")


def _explain_os_error(error: BaseException, _host: str) -> str:
    detail = getattr(error, "strerror", None)
    why = sanitize_text(detail, 120) if isinstance(detail, str) else type(error).__name__
    return f"the connection failed: {why}."


CUT_ERRORS = (http.client.IncompleteRead, urllib3.IncompleteRead, TruncatedBodyError)
GONE_ERRORS = (
    http.client.RemoteDisconnected,
    ConnectionResetError,
    BrokenPipeError,
    ssl.SSLEOFError,
)
ENDED_ERRORS = (*GONE_ERRORS, *CUT_ERRORS)

# The first row that matches any exception in the chain counts: specific rows before general ones.
REASONS: ReasonTable = (
    ((urllib3.ProxyError, requests.exceptions.ProxyError), _explain_proxy),
    ((ConnectionRefusedError,), NOTHING_LISTENS),
    ((FileNotFoundError,), "there is no such socket. Is the server running?"),
    (
        (socket.gaierror, urllib3.NameResolutionError),
        "the name {host} was not found. Check the address, and the network.",
    ),
    ((ssl.SSLCertVerificationError,), _explain_certificate),
    (
        (urllib3.ConnectTimeoutError,),
        "no connection within {connect} s. Check the address, and the network.",
    ),
    (
        (requests.Timeout, urllib3.ReadTimeoutError, TimeoutError),
        "no answer within {read} s. Try again, or pass a longer timeout=.",
    ),
    ((ssl.SSLError,), _explain_handshake),
    (GONE_ERRORS, "the connection failed: it was closed before an answer came. Try again."),
    (CUT_ERRORS, INCOMPLETE),
    (
        (InvalidLengthError, urllib3.InvalidHeader),
        "the answer could not be read: it does not say what its length is.",
    ),
    ((DecompressionError,), lambda error, _host: f"the answer could not be read: {error}"),
    ((http.client.HTTPException,), "the connection failed: the server there does not speak HTTP."),
    ((requests.exceptions.InvalidURL,), "the address could not be used."),
    ((OSError,), _explain_os_error),
)


NO_RETRIES = Retry(total=False, redirect=False)  # `RetryLoop` retries
BUFFER_BYTES = 1 << 16  # bytes
HEAD_BYTES = 1 << 20  # bytes for the head of a response, in addition to its body
LONGEST_WAIT = 1e6  # seconds; sockets accept no infinite number
ALERT_SECONDS = 1.0  # seconds to wait for an alert, sent before the connection was closed
MAX_PIECES = 64  # of a request; one of JSON has two
# RFC 9112, 7.1; int(text, 16) would accept "-1" too, and then read without end.
PROXY_SCHEMES = frozenset({"http", "https", "socks4", "socks4a", "socks5", "socks5h"})
CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?\r?\n", re.DOTALL)


def _is_foreign_record(_record: logging.LogRecord) -> bool:
    """Drop urllib3's log records of our connections: they hold addresses and unreadable headers."""
    return getattr(thread_state, "call", None) is None


for _room in ("connection", "connectionpool", "response", "util.retry"):
    logging.getLogger(f"urllib3.{_room}").addFilter(_is_foreign_record)


def get_remaining(call: Call) -> float:
    """Return the seconds that a call may still take; raise TimeoutError at its deadline."""
    left = call.deadline - monotonic()
    if left <= 0:
        raise TimeoutError
    return min(left, LONGEST_WAIT)


# Each receive waits for the rest of its call's time. A watchdog thread instead could close a
# socket that meanwhile belongs to another call.
class DeadlineSocket:
    """A socket that waits no longer than its present call allows.

    It takes the place of urllib3's socket, and delegates all other attributes to it.
    """

    def __init__(self, sock: socket.socket, owner: DeadlineConnection) -> None:
        self.bare = sock
        self._owner = owner
        self.call: Call | None = None
        self._pending: list[bytes] = []
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the socket has it
        return getattr(self.bare, name)

    def begin_call(self, call: Call, *, reused: bool) -> None:
        """Set the present call, and with it the deadline."""
        call.socket, call.is_reused = self, reused
        self._pending = []
        with self._lock:
            self.call = call

    def end_call(self, *, surplus: bool) -> None:
        """End the use by a call; close if bytes are left, which would begin the next response."""
        with self._lock:
            self.call = None
        pending = getattr(self.bare, "pending", None)  # bytes that TLS has unpacked already
        if surplus or (pending is not None and pending()):
            self._owner.close()

    def wake_reader(self, call: Call) -> None:
        """Shut the connection down if `call` still uses it."""
        # Closing alone would not wake a thread that waits in `recv`.
        with self._lock:
            if self.call is call:
                with suppress(OSError):
                    socket.socket.shutdown(self.bare, socket.SHUT_RDWR)

    def settimeout(self, _seconds: float | None) -> None:
        """Do nothing: the deadline of the call counts."""

    def sendall(self, data: bytes) -> None:
        """Buffer bytes until the request is complete."""
        # In one piece it wakes the other side once, not for the head and again for the body. What
        # is read from a file while it is sent goes on its way at once.
        self._pending.append(data)
        if len(data) >= BUFFER_BYTES or len(self._pending) >= MAX_PIECES:
            self.flush()

    def flush(self) -> None:
        """Send the buffered bytes before the deadline."""
        data, self._pending = b"".join(self._pending), []
        if not data:
            return
        self.bare.settimeout(None if self.call is None else get_remaining(self.call))
        ended: ssl.SSLEOFError | None = None
        try:
            self.bare.sendall(data)
        except ssl.SSLEOFError as error:
            ended = error
        if ended is not None:
            self._read_alert()  # not above: an alert is not a broken connection
            raise ended

    def _read_alert(self) -> None:
        """Raise the TLS alert, if any, that the peer sent before it closed.

        Raises
        ------
        ssl.SSLError
            If there is an alert.
        """
        # In TLS 1.3 a server that wants a client certificate says so after the client's handshake
        # is over, which may be while the request is sent.
        self.bare.settimeout(ALERT_SECONDS)
        with suppress(ssl.SSLEOFError, TimeoutError, ConnectionError):
            self.bare.recv(1)

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        """Return a buffered file for one response."""
        return AnswerReader(
            IncomingBytes(self, self.bare.makefile("rb", buffering=0)), BUFFER_BYTES
        )


class IncomingBytes(io.RawIOBase):
    """The incoming bytes of a socket.

    Attributes
    ----------
    ended : bool
        Whether the other side has closed.
    is_held : bool
        Whether to return no further bytes than those in the buffer.
    """

    def __init__(self, line: DeadlineSocket, raw: io.RawIOBase) -> None:
        self.socket = line
        self.ended = False
        self.is_held = False
        self._raw = raw

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Receive some bytes before the deadline, and count them."""
        if self.is_held:
            return 0
        call = self.socket.call
        self.socket.bare.settimeout(None if call is None else get_remaining(call))
        count: int = self._raw.readinto(buffer) or 0
        self.ended = self.ended or not count
        if call is not None:
            call.received += count
            if call.cap is not None and call.received > call.cap + HEAD_BYTES:
                raise BodyTooLargeError
        return count

    def close(self) -> None:
        """Release the socket."""
        if not self.closed:
            self._raw.close()
        super().close()


class AnswerReader(io.BufferedReader):
    """A buffered reader of one response, closed at its end."""

    raw: IncomingBytes

    def close(self) -> None:
        """Close the connection too if bytes are left after the response."""
        if not self.closed:
            self.raw.is_held = True  # so that the check does not wait
            surplus = bool(self.peek(1))
            self.raw.socket.end_call(surplus=surplus)
        super().close()


class StrictHTTPResponse(http.client.HTTPResponse):
    """Reads the head of a response as strictly as RFC 9112; the library is more lenient."""

    def begin(self) -> None:
        """Read the head; raise an error if it ends early."""
        raw: Any = self.fp.raw  # of the socket itself while a proxy is asked for a tunnel
        super().begin()
        if getattr(raw, "ended", False):
            self._raise_broken()
        given = self.headers.get("content-length", "")
        if self.chunked and given:
            self.will_close = True  # RFC 9112, 6.3: two lengths may be request smuggling
        elif self.length is None and "," in given:
            lengths = {text.strip() for text in given.split(",")}
            if len(lengths) == 1 and (only := lengths.pop()).isdecimal():
                self.length = int(only)  # the same length twice, which some proxies send
                self.will_close = self._check_close()  # type: ignore[attr-defined]

    def _read_status(self) -> tuple[str, int, str]:
        """Read the first line of the final response, after those with a status 1xx."""
        raw: Any = self.fp.raw
        while True:  # the deadline and the limit of bytes end it
            try:
                version, status, reason = super()._read_status()  # type: ignore[misc]
            except http.client.BadStatusLine:
                if getattr(raw, "ended", False):
                    self._raise_broken()
                raise
            if not 100 <= status < 200 or status == http.client.SWITCHING_PROTOCOLS:
                return version, status, reason
            http.client.parse_headers(self.fp)

    def _read_next_chunk_size(self) -> int:
        line = self.fp.readline(BUFFER_BYTES)
        match = CHUNK_SIZE.fullmatch(line)
        if match is None:
            self._close_conn()  # type: ignore[attr-defined]
            raise ValueError
        return int(match[1], 16)

    def _raise_broken(self) -> None:
        self.close()
        msg = "the response headers are incomplete"
        raise http.client.RemoteDisconnected(msg)


class DeadlineMixin:
    """The part of a connection that serves the call of its thread."""

    response_class: Any = StrictHTTPResponse
    call_count = 0  # since it was connected
    # A class attribute: http.client.HTTPConnection.debuglevel would print our headers.
    debuglevel = 0

    def __init__(self, *arguments: Any, uds: str | None = None, **options: Any) -> None:  # noqa: ANN401 - urllib3's
        super().__init__(*arguments, **options)
        self._uds = uds

    def _new_conn(self) -> socket.socket:
        """Return a socket to the endpoint, or to the Unix socket in front of it."""
        if self._uds is None:
            return super()._new_conn()  # type: ignore[misc, no-any-return]
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(get_remaining(thread_state.call))
            sock.connect(self._uds)
        except BaseException:
            sock.close()
            raise
        return sock

    def connect(self) -> None:
        """Connect, and wrap the socket."""
        super().connect()  # type: ignore[misc]
        self.sock: Any = DeadlineSocket(self.sock, self)  # type: ignore[arg-type]
        self.call_count = 0
        thread_state.call.socket = self.sock

    def request(self, *arguments: object, **options: object) -> None:
        """Send a request; connect first if need be."""
        if self.sock is None:
            self.connect()
        self.sock.begin_call(thread_state.call, reused=self.call_count > 0)
        self.call_count += 1
        super().request(*arguments, **options)  # type: ignore[misc]
        self.sock.flush()


class DeadlineConnection(DeadlineMixin, HTTPConnection):
    """A connection without TLS."""


class SecureDeadlineConnection(DeadlineMixin, HTTPSConnection):
    """A connection over TLS."""


class DeadlinePool(HTTPConnectionPool):
    """Connections without TLS to one origin."""

    ConnectionCls = DeadlineConnection


class SecureDeadlinePool(HTTPSConnectionPool):
    """Connections over TLS to one origin."""

    ConnectionCls = SecureDeadlineConnection


# Set on each pool manager: the classes of urllib3 stay as they are for other libraries.
POOLS = {"http": DeadlinePool, "https": SecureDeadlinePool}


@cache
def build_socks_pools() -> dict[str, type]:
    """Return the pools for connections through a SOCKS proxy; its library is optional."""
    from urllib3.contrib import socks

    class SocksConnection(DeadlineMixin, socks.SOCKSConnection):
        """A connection without TLS through a SOCKS proxy."""

    class SecureSocksConnection(DeadlineMixin, socks.SOCKSHTTPSConnection):
        """A connection over TLS through a SOCKS proxy."""

    class SocksPool(socks.SOCKSHTTPConnectionPool):
        """Connections without TLS to one origin through a SOCKS proxy."""

        ConnectionCls = SocksConnection

    class SecureSocksPool(socks.SOCKSHTTPSConnectionPool):
        """Connections over TLS to one origin through a SOCKS proxy."""

        ConnectionCls = SecureSocksConnection

    return {"http": SocksPool, "https": SecureSocksPool}


class DeadlineAdapter(HTTPAdapter):
    """An adapter of requests that uses these connections, through a proxy too.

    Parameters
    ----------
    context
        Checks certificates of endpoints and holds that of the client; None for requests' own.
    uds
        The path of the Unix socket that all connections are made to; None for hosts and ports.
    **options
        Those of :class:`requests.adapters.HTTPAdapter`.
    """

    def __init__(
        self,
        context: ssl.SSLContext | None = None,
        *,
        uds: str | None = None,
        **options: Any,  # noqa: ANN401 - requests'
    ) -> None:
        self._pools: dict[str, Any] = {k: partial(pool, uds=uds) for k, pool in POOLS.items()}
        self._tls_options = {} if context is None else {"ssl_context": context}
        super().__init__(**options)

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - requests'
        """Create the pools for direct connections."""
        super().init_poolmanager(*arguments, **{**options, **self._tls_options})
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **options: Any) -> ProxyManager:  # noqa: ANN401 - requests'
        """Return the pools for connections through a proxy."""
        manager: ProxyManager = super().proxy_manager_for(proxy, **options, **self._tls_options)
        is_socks = proxy.lower().startswith("socks")
        manager.pool_classes_by_scheme = build_socks_pools() if is_socks else POOLS
        return manager


class Route(NamedTuple):
    """The connection pool for an address, direct or through the proxy of the environment.

    Attributes
    ----------
    adapter
        Holds the pools.
    pool
        The connections to the endpoint or to the proxy.
    uses_absolute_target
        Whether the request line has the whole address, as a proxy needs it.
    """

    adapter: DeadlineAdapter
    pool: HTTPConnectionPool
    uses_absolute_target: bool

    def post(
        self, url: str, body: Body, headers: Mapping[str, str], call: Call, *, method: str = "POST"
    ) -> BaseHTTPResponse:
        """Send a request of the call of this thread; return its response, with the head read."""
        # The pool alone, without a Session of requests, which would keep cookies, read ~/.netrc and
        # send the token along with redirects.
        return self.pool.urlopen(
            method,
            build_request_target(url, whole=self.uses_absolute_target),
            body=body,
            headers=headers,
            retries=NO_RETRIES,
            redirect=False,
            assert_same_host=False,
            # No timeout for reading: `DeadlineSocket` bounds each receive by the deadline of the
            # whole call.
            timeout=Timeout(connect=min(CONNECT_SECONDS, get_remaining(call)), read=None),
            # Read in pieces and decompressed here, so that the limit holds before a body is in
            # memory.
            preload_content=False,
            decode_content=False,
        )


def find_proxies(url: str, uds: str | None = None) -> dict[str, str]:
    """Return the proxies in the environment for an address, by scheme; none for this machine.

    Raises
    ------
    TransportError
        If the one for this address is not an address itself.
    """
    if uds is not None or is_loopback(url):
        return {}
    proxies = get_environ_proxies(url)
    proxy = select_proxy(url, proxies)
    if proxy and not is_proxy_address(proxy):
        schemes = (f"{urlsplit(url).scheme}_proxy", "all_proxy")
        names = [name for name in os.environ if name.lower() in schemes and os.environ[name]]
        where = f"{' or '.join(names)} in the environment" if names else "The proxy of the system"
        # Without the value, which may have a password.
        msg = f"{where} is not the address of a proxy, such as http://proxy.example:3128."
        raise TransportError(msg)
    return proxies


def is_proxy_address(text: str) -> bool:
    """Return whether a text is the address of an HTTP or SOCKS proxy."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        is_complete = parts.port != 0 and re.fullmatch(r"[^\s/]+", parts.hostname or "")
    except ValueError:
        return False
    return bool(is_complete) and parts.scheme in PROXY_SCHEMES


def open_route(url: str, *, verify: bool | str | ssl.SSLContext, uds: str | None = None) -> Route:
    """Return the route to an address, through the proxy of the environment if there is one."""
    proxies = find_proxies(url, uds)
    context = verify if isinstance(verify, ssl.SSLContext) else None
    adapter = DeadlineAdapter(context, uds=uds, pool_connections=1, pool_maxsize=MAX_CONNECTIONS)
    if isinstance(verify, ssl.SSLContext):  # urllib3 would overwrite its mode
        verify = verify.verify_mode is not ssl.CERT_NONE
    request = requests.Request("POST", url).prepare()
    pool: Any = adapter.get_connection_with_tls_context(request, verify, proxies=proxies)
    whole = adapter.request_url(request, proxies) != request.path_url
    return Route(adapter, pool, whole)


@lru_cache(maxsize=64)
def build_request_target(url: str, *, whole: bool) -> str:
    """Return the quoted target of the request line: a path, or the whole address."""
    request = requests.Request("POST", url).prepare()
    return urldefragauth(request.url or "") if whole else request.path_url

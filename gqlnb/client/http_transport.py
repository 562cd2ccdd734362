"""GraphQL over HTTP: one POST, one deadline, no cookies; hashes of texts and arrays of one.

Requests and urllib3 carry it; in a page of a browser (Pyodide) the browser's ``fetch``. Hashes
follow Apollo's persisted-query link, and :mod:`gqlnb.http.messages` on the other side.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urljoin, urlsplit

from gqlnb.client.credentials import (
    DEFAULT_URL,
    SERVE_HINT,
    check_url,
    format_origin,
    format_socket_url,
    is_loopback,
    parse_origin,
    redact_url,
)
from gqlnb.client.transports import (
    ACCEPT,
    CONNECT_SECONDS,
    MAX_CONNECTIONS,
    MAYBE_EXECUTED,
    NOTHING_LISTENS,
    PROXY_LOGIN,
    USER_AGENT,
    Call,
    InvalidLengthError,
    enter_call,
    return_or_raise,
)
from gqlnb.document.error_details import read_error_code
from gqlnb.document.json_codec import JSONError, split_json_array
from gqlnb.document.upload import has_file
from gqlnb.errors import AuthError, GqlnbError, TransportError
from gqlnb.http.content_encoding import BodyTooLargeError, accepted_encodings, decompress_body
from gqlnb.http.error_responses import is_login_path, is_token_refused, list_errors, load_members
from gqlnb.http.messages import (
    NOT_SUPPORTED,
    UNKNOWN,
    Request,
    RequestArray,
    Response,
    compute_hash,
)
from gqlnb.http.multipart_requests import MultipartBody, build_multipart_body
from gqlnb.http.response_parser import demands_array
from gqlnb.limits import ANSWER_HINT, MIB
from gqlnb.redact import hide_locals, strip_traceback

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

    from gqlnb.client.credentials import Credentials
    from gqlnb.client.http_route import Body, Route

    # Called after each exchange, with the address, the headers and the body that were sent.
    Observer = Callable[[str, Mapping[str, str], Body, Response], None]


class ArrayWrapper:
    """Sends single requests in arrays of one once the endpoint has refused one that was alone.

    Attributes
    ----------
    is_needed
        Whether the endpoint has shown that it takes nothing but arrays.
    """

    def __init__(self) -> None:
        self.is_needed = False

    def exchange(
        self, request: Request, send: Callable[[Request | RequestArray], Response]
    ) -> Response:
        """Return the response to a request, as if it had been sent alone.

        Parameters
        ----------
        request
            The request.
        send
            Sends a request or an array.
        """
        if any(map(has_file, (request.variables or {}).values())):
            return send(request)  # an array is JSON
        refusal: Response | None = None
        if not self.is_needed:
            refusal = send(request)
            if not demands_array(refusal):
                return refusal
        response = send(RequestArray((request,), request.deadline))
        parts = split_json_array(response.body)
        if parts is None or len(parts) != 1:
            return refusal or response
        self.is_needed = True
        return replace(response, body=parts[0])


Refusal: TypeAlias = Literal["unknown", "unsupported", "other"]

REFUSALS: Mapping[Refusal, tuple[str, str]] = {"unknown": UNKNOWN, "unsupported": NOT_SUPPORTED}
MAX_REFUSAL = 1 << 16  # bytes; the answers that refuse a hash are short
# These say nothing about the hash: a token, a rate limit, or a server that is not there.
FOREIGN_STATUSES = frozenset({401, 403, 407, 408, 413, 429, 502, 503, 504})


class QueryHashes:
    """Sends hashes in the place of texts for as long as the endpoint understands them.

    Attributes
    ----------
    is_supported
        Whether the endpoint has persisted queries; None until it has shown it.
    """

    def __init__(self) -> None:
        self.is_supported: bool | None = None

    def exchange(self, request: Request, send: Callable[[Request], Response]) -> Response:
        """Return the response to a request, which is sent once, or again with its text.

        Parameters
        ----------
        request
            The request, with its text.
        send
            Sends a request.
        """
        # Files are read while they are sent, some of them once.
        has_files = any(map(has_file, (request.variables or {}).values()))
        if self.is_supported is False or has_files:
            return send(request)
        name = compute_hash(request.query)
        response = send(replace(request, query="", query_hash=name))
        if response.status in FOREIGN_STATUSES:
            return response
        refusal = read_refusal(response)
        if refusal is None or refusal == "unknown":
            self.is_supported = True
        elif refusal == "unsupported":
            self.is_supported = False
            return send(request)
        # An error that says nothing of hashes is taken for one about the missing text, as of
        # servers without persisted queries, until they have been seen to work. Nothing but a query
        # is sent again after a failure within the server, which may have executed it.
        may_repeat = request.is_query or response.status < 500
        if refusal is None or (refusal == "other" and (self.is_supported or not may_repeat)):
            return response
        answer = send(replace(request, query_hash=name))
        if refusal == "other" and read_refusal(answer) is None:
            self.is_supported = False
        return answer


def read_refusal(response: Response) -> Refusal | None:
    """Return why a response to a hash has no data; None if the operation was executed."""
    is_success = 200 <= response.status < 300
    if is_success and len(response.body) > MAX_REFUSAL:
        return None
    members = load_members(response.body[:MAX_REFUSAL])
    errors = list_errors(members)
    # Null data: some servers send it with a refusal, too, whose errors have no path. A mutation
    # that was executed must not be taken for a refusal.
    is_null = "data" in members and members["data"] is None
    of_fields = any(entry.get("path") for entry in errors)
    if members.get("data") is not None or (is_null and is_success) or of_fields:
        return None
    for refusal, (message, code) in REFUSALS.items():
        if any(
            entry.get("message") == message or read_error_code(entry) == code for entry in errors
        ):
            return refusal
    return "other"


REDIRECTS = frozenset({301, 302, 303, 307, 308})
FOLLOWED_STATUSES = frozenset({307, 308})  # the two that keep method and body
MAX_REDIRECTS = 5
DEFAULT_CAP = 64 * MIB  # bytes of a response, compressed and decompressed
CHUNK_BYTES = 1 << 18  # bytes read at a time


class HttpConnections:
    """The connections and threads of a transport, opened when they are first needed.

    Parameters
    ----------
    url
        The endpoint.
    verify, uds
        Whether and how certificates are checked, and the path of a Unix socket; None for none.
    """

    def __init__(self, url: str, *, verify: bool | str | ssl.SSLContext, uds: str | None) -> None:
        self._url, self._verify, self._uds = url, verify, uds
        self._process = os.getpid()  # a forked child must not share the connections
        self._route: Route | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def get_route(self) -> Route:
        """Return the route to the endpoint."""
        # Without the lock in the usual case.
        route = self._route
        if route is not None and self._process == os.getpid():
            return route
        with self._lock:
            self._leave_parent()
            if self._route is None:
                from gqlnb.client.http_route import open_route

                self._route = open_route(self._url, verify=self._verify, uds=self._uds)
            return self._route

    def get_executor(self) -> ThreadPoolExecutor:
        """Return the threads in which asynchronous calls send."""
        with self._lock:
            self._leave_parent()
            if self._threads is None:
                # Threads of its own: those of `asyncio.to_thread` are at most the number of
                # processors and four, and requests that wait would occupy them for the whole
                # notebook. They start as they are needed.
                self._threads = ThreadPoolExecutor(MAX_CONNECTIONS, thread_name_prefix="gqlnb-http")
            return self._threads

    def close(self) -> None:
        """Close the connections that are kept alive."""
        with self._lock:
            self._leave_parent()
            route, self._route = self._route, None
            threads, self._threads = self._threads, None
        if route is not None:
            route.adapter.close()
        if threads is not None:
            threads.shutdown(wait=False)

    def _leave_parent(self) -> None:
        """Forget what a forked child has from its parent."""
        if self._process != os.getpid():
            self._process, self._route, self._threads = os.getpid(), None, None


class HttpTransport:
    """Sends requests to an endpoint over HTTP; safe to use from several threads.

    Parameters
    ----------
    url
        The endpoint.
    secrets
        Its token and headers; sent to the origin of `url` alone.
    timeout
        Longest time for one response, from connecting to its last byte, in seconds.
    verify
        Whether TLS certificates are checked, the path of a CA bundle, or an SSLContext.
    cap
        Largest size of a response in bytes, compressed and decompressed; None for any.
    uds
        The path of a Unix socket to connect to, in the place of the host and port of `url`.
    hashes
        Whether texts are replaced by their hashes, as persisted queries.

    Raises
    ------
    TargetError
        If `url` is not an http or https URL, or holds a password.
    """

    def __init__(
        self,
        url: str,
        secrets: Credentials,
        *,
        timeout: float = 60.0,
        verify: bool | str | ssl.SSLContext = True,
        cap: int | None = DEFAULT_CAP,
        uds: str | None = None,
        hashes: bool = False,
    ) -> None:
        self.url, self.uds = url, uds
        self.source = check_url(url) if uds is None else format_socket_url(check_url(url), uds)
        self.origin = format_origin(url, uds)
        self.is_local = uds is not None or is_loopback(url)
        self._hashes = QueryHashes() if hashes else None
        self.wrapper: ArrayWrapper | None = None  # where requests may be sent in arrays
        self.observe: Observer | None = None
        self.credentials = secrets
        self.timeout = timeout
        self.cap = cap
        self.verify = verify
        self.stream_kind: str | None = None  # of subscriptions, once known
        self.speaks_legacy = False  # over WebSockets, the older subprotocol alone
        # Shared with the copies of this transport that have other headers for one call.
        self._connections = HttpConnections(url, verify=verify, uds=uds)

    def send(self, request: Request | RequestArray) -> Response:
        """Send a request and wait for the response.

        Raises
        ------
        TransportError
            If no response came; the message has the reason and advice.
        """
        return return_or_raise(self.try_send(request))

    async def asend(self, request: Request | RequestArray) -> Response:
        """Send a request in a thread and await the response; cancelling ends the call."""
        return return_or_raise(await self.atry_send(request))

    # No exception leaves the frames below: a traceback may show their locals, and those hold the
    # headers and the address with all its parts.
    def try_send(
        self, request: Request | RequestArray, call: Call | None = None
    ) -> Response | BaseException:
        """Return the response of :meth:`send`, or the exception to raise.

        `call` is the one to send the request in, if the caller may cancel it.
        """
        if call is None:
            call = Call(request.deadline or monotonic() + self.timeout, self.cap)
        post: Callable[..., Response] = partial(self._post_request, call=call)
        for layer in (self.wrapper, self._hashes) if isinstance(request, Request) else ():
            post = post if layer is None else partial(layer.exchange, send=post)
        try:
            return post(request)
        except BaseException as error:  # noqa: BLE001 - returned, see `send`
            return self.convert_failure(error, call, changes=not request.is_query)

    async def atry_send(self, request: Request | RequestArray) -> Response | BaseException:
        """Asynchronous version of :meth:`try_send`."""
        call = Call(request.deadline or monotonic() + self.timeout, self.cap)
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(
                self._connections.get_executor(), self.try_send, request, call
            )
        except asyncio.CancelledError:
            call.cancel()
            raise

    def close(self) -> None:
        """Close the connections that are kept alive; sending afterwards opens new ones."""
        self._connections.close()

    def _post_request(self, request: Request | RequestArray, call: Call) -> Response:
        """Encode a request, send it, and follow redirects."""
        is_query = request.is_query
        try:
            body: Body = request.encode()
        except JSONError as error:  # it fails at the first file, so that others cost no search
            if isinstance(request, RequestArray):
                raise
            body = build_multipart_body(request, error)

        def send(secrets: Mapping[str, str]) -> Response:
            exchange = partial(self._exchange, body, secrets=secrets, call=call, asks=is_query)
            return self.follow_redirects(exchange)

        # Again if the secrets are refused and there are new ones.
        secrets = self._build_secrets(call)
        response = send(secrets)
        is_repeatable = getattr(body, "is_repeatable", True)
        if not is_repeatable or not self.credentials.is_renewable:
            return response
        if is_token_refused(response, is_query=is_query):
            renewed = self._build_secrets(call, secrets)
            return response if renewed == secrets else send(renewed)
        return response

    def _build_secrets(
        self, call: Call, refused: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the headers with their secrets; functions of tokens use up no time of the call."""
        begun = monotonic()
        secrets = self.credentials.build_headers(refused)
        call.deadline += monotonic() - begun
        return secrets

    def convert_failure(self, error: BaseException, call: Call, *, changes: bool) -> BaseException:
        """Return our error for an exception during a call, without its frames.

        Parameters
        ----------
        error
            The exception.
        call
            The call.
        changes
            Whether the operation may have changed data, so that a repetition may not be safe.
        """
        if isinstance(error, GqlnbError) or not isinstance(error, Exception):
            return strip_traceback(error)
        from gqlnb.client.http_route import explain_failure, is_broken

        lost = False
        if isinstance(error, BodyTooLargeError):
            cap = self.cap or 0
            limit = f"{cap // MIB} MiB" if cap >= MIB else f"{cap} bytes"
            why = f"the answer is larger than {limit}. Ask for fewer rows at a time. {ANSWER_HINT}"
        else:
            lost = is_broken(error)
            host = urlsplit(self.url).hostname or ""
            limits = (min(CONNECT_SECONDS, self.timeout), self.timeout)
            why = explain_failure(error, host, *limits, begun=call.received > 0)
            if why == NOTHING_LISTENS and self.origin == format_origin(DEFAULT_URL):
                why = f"{why} {SERVE_HINT}"
        if changes and call.socket is not None:  # the request may have arrived
            why = f"{why.partition(' Try again')[0].rstrip('.')}. {MAYBE_EXECUTED}"
        return TransportError(f"POST {self.source}: {why}", broken=lost)

    def follow_redirects(self, ask: Callable[[str], Response]) -> Response:
        """Send to the endpoint, and to the addresses of its redirects."""
        url = self.url
        for _ in range(MAX_REDIRECTS):
            response = ask(url)
            if response.status == 407:
                msg = f"POST {self.source}: {PROXY_LOGIN}"
                raise TransportError(msg, status=407)
            if response.status not in REDIRECTS:
                return self.credentials.redact_echoes(response)
            url = self._resolve_redirect(url, response)
        msg = f"POST {self.source}: redirected more than {MAX_REDIRECTS} times."
        raise TransportError(msg)

    def _exchange(
        self, body: Body, url: str, *, secrets: Mapping[str, str], call: Call, asks: bool
    ) -> Response:
        """Send a request, and read its response."""
        own = body.headers if isinstance(body, MultipartBody) else {}
        headers = {**build_fixed_headers(), **own, **secrets}

        def ask() -> Response:
            response = self.read_answer(self.open_answer(url, body, call, headers))
            if self.observe is not None:
                self.observe(url, headers, body, response)
            return response

        # Queries alone: the endpoint may have read the request before it closed.
        may_repeat = asks and getattr(body, "is_repeatable", True)
        return self._ask_again(ask, call, may_repeat=may_repeat)

    def _ask_again(self, ask: Callable[[], Response], call: Call, *, may_repeat: bool) -> Response:
        """Return an answer; if a reused connection turns out to be closed, ask once more."""
        for is_last in (False, True):
            try:
                with enter_call(call):
                    return ask()
            except Exception as error:
                from gqlnb.client.http_route import is_broken, is_unsent

                if is_last or not (
                    is_unsent(error)
                    or (may_repeat and call.is_reused and not call.received and is_broken(error))
                ):
                    raise
        raise AssertionError  # the last attempt returns or raises

    @hide_locals
    def probe(
        self,
        body: bytes = b"",
        *,
        query: str = "",
        accept: str = ACCEPT,
        seconds: float = 20.0,
        head_only: bool = False,
    ) -> Response:
        """Send a query in any form, to see how the endpoint answers it.

        Parameters
        ----------
        body
            The body of a POST; empty for a GET.
        query
            The query string of a GET.
        accept
            The media types that are accepted.
        seconds
            Longest time for the response.
        head_only
            Whether the body of the response is left unread, as that of a stream may not end.

        Raises
        ------
        TransportError
            If no response came.
        """
        call = Call(monotonic() + seconds, self.cap)
        try:
            headers = {**build_fixed_headers(), "Accept": accept, **self._build_secrets(call)}
            url, method = self.url, "POST"
            if not body:
                url, method = f"{url}{'&' if '?' in url else '?'}{query}", "GET"
                del headers["Content-Type"]

            def ask() -> Response:
                route = self._connections.get_route()
                answer = route.post(url, body, headers, call, method=method)
                if not head_only:
                    return self.read_answer(answer)
                answer.close()
                return Response(answer.status, read_head(answer))

            return self.credentials.redact_echoes(self._ask_again(ask, call, may_repeat=True))
        except BaseException as error:  # noqa: BLE001 - every frame is hidden
            raise self.convert_failure(error, call, changes=False) from None

    def open_answer(
        self, url: str, body: Body, call: Call, headers: Mapping[str, str]
    ) -> BaseHTTPResponse:
        """Send a request of the call of this thread; return its response, with the head read."""
        return self._connections.get_route().post(url, body, headers, call)

    def read_answer(self, answer: BaseHTTPResponse) -> Response:
        """Read the body of a response."""
        head = read_head(answer)
        try:
            if "content-length" in head:
                self._check_length(head["content-length"])
            parts = iter(partial(answer.read, CHUNK_BYTES), b"")
            body = decompress_body(parts, self.get_encoding(head), self.cap)
        except BaseException:
            answer.close()  # the rest would be read as the next response
            raise
        return Response(answer.status, head, body)

    def get_encoding(self, head: Mapping[str, str]) -> str:
        """Return the ``Content-Encoding`` of a response, without secrets: an error may show it."""
        encoding = head.get("content-encoding")
        return self.credentials.redact(encoding) if encoding else ""

    def _check_length(self, length: str) -> None:
        """Raise an error for an invalid or too large ``Content-Length``."""
        first, *others = length.split(",")  # equal lengths are harmless
        first = first.strip()
        is_clear = not others or {text.strip() for text in others} == {first}
        if not (is_clear and first.isdecimal() and first.isascii()):
            raise InvalidLengthError
        if self.cap is not None and int(first) > self.cap:
            raise BodyTooLargeError

    # Only 307 and 308 keep method and body, and only the same origin may see the credentials. Other
    # redirects may lead to a login page.
    def _resolve_redirect(self, url: str, response: Response) -> str:
        """Return the address of a redirect, if credentials may be sent there."""
        location = response.headers.get("location", "")
        try:
            to = urljoin(url, location)
            same = parse_origin(to) == parse_origin(self.url)
        except ValueError:
            to, same = location, False
        if response.status in FOLLOWED_STATUSES and same and location:
            return to
        msg = (
            f"POST {self.source}: HTTP {response.status} redirects to "
            f"{redact_url(self.credentials.redact(to))}. Connect to that address itself if you "
            "trust it."
        )
        if is_login_path(location):
            msg += " It looks like a login page: the endpoint may want a token."
        raise TransportError(msg, status=response.status)


def read_head(answer: BaseHTTPResponse) -> dict[str, str]:
    """Return the headers of a response by lower-case name."""
    return {name.lower(): answer.headers[name] for name in answer.headers}


@lru_cache(maxsize=1)
def build_fixed_headers() -> dict[str, str]:
    """Return the headers of every request."""
    return {
        "Accept": ACCEPT,
        "Accept-Encoding": accepted_encodings(),
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
    }


class BrowserTransport(HttpTransport):
    """Sends by XMLHttpRequest, which waits for the response; there are no threads and sockets.

    The browser applies its own rules: the endpoint must allow the page's origin (CORS), and it
    follows redirects and decompresses. A timeout does not end a request. Parameters as for
    :class:`HttpTransport`.
    """

    async def atry_send(self, request: Request | RequestArray) -> Response | BaseException:
        """Wait for the response; other tasks of the page wait, too."""
        return self.try_send(request)

    def _exchange(
        self,
        body: bytes | MultipartBody,
        url: str,
        *,
        secrets: Mapping[str, str],
        call: Call,  # noqa: ARG002 - as declared by the base class
        asks: bool,  # noqa: ARG002
    ) -> Response:
        refuse_secrets(self.source, self.credentials)  # a call may have a token of its own
        if not isinstance(body, bytes):
            msg = f"POST {self.source}: files cannot be uploaded from Python in a browser."
            raise TransportError(msg)
        from js import Uint8Array, XMLHttpRequest

        exchange = XMLHttpRequest.new()
        exchange.open("POST", url, False)  # noqa: FBT003 - not asynchronous
        headers = {"Accept": ACCEPT, "Content-Type": "application/json"}
        headers |= secrets
        for name, value in headers.items():
            exchange.setRequestHeader(name, value)
        # Bytes as characters: pages allow no other response type for requests that wait.
        exchange.overrideMimeType("text/plain; charset=x-user-defined")
        try:
            exchange.send(Uint8Array.new(body))
        except Exception as error:
            msg = (
                f"POST {self.source}: the browser could not send the request. Either nothing "
                "answers there, or the endpoint does not allow this page (CORS)."
            )
            raise TransportError(msg) from error
        lines = (line.partition(":") for line in exchange.getAllResponseHeaders().splitlines())
        head = {name.strip().lower(): value.strip() for name, _, value in lines}
        content = bytes(ord(character) & 0xFF for character in exchange.responseText)
        if self.cap is not None and len(content) > self.cap:
            self._check_length(str(len(content)))
        response = Response(exchange.status, head, content)
        if self.observe is not None:
            self.observe(url, headers, body, response)
        return response


def refuse_secrets(url: str, secrets: Credentials) -> None:
    """Refuse tokens and secret headers in a browser.

    Raises
    ------
    AuthError
        If there are any: every script of the page could read them.
    """
    if secrets.tokens:
        msg = (
            f"No token is sent to {url} from Python in a browser, where every script of the page "
            "could read it. Use an endpoint without a token, or a kernel on a machine."
        )
        raise AuthError(msg)

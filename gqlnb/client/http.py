"""HTTP over requests: one POST, no cookies, no surprises with tokens."""

from __future__ import annotations

import asyncio
from http.cookiejar import DefaultCookiePolicy
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase

from gqlnb.client.transports import ACCEPT
from gqlnb.errors import AuthError, TargetError, TransportError, plain
from gqlnb.token import Token
from gqlnb.wire.response import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.wire.request import Request

__all__ = ["Http", "address"]

FOLLOWED = frozenset({307, 308})  # the two that keep method and body
REDIRECTS = 5
CONNECT = 10.0  # seconds; a host that does not answer the handshake by then is not there
CAP = 64 * 1024 * 1024  # bytes of a decompressed answer
CHUNK = 1 << 16

NOTHING_LISTENS = """Nothing listens there. To serve a schema from this notebook:
  import gqlnb
  server = gqlnb.serve(gqlnb.reference_schema())"""


class Secrets(AuthBase):
    """Adds the token and the headers of a client to one request, and to none on another origin.

    An ``AuthBase`` keeps requests from replacing the token by a line of ``.netrc``.
    """

    def __init__(self, token: Token | None, headers: Mapping[str, str | Token]) -> None:
        self.token = token
        self.headers = dict(headers)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        for name, value in self.headers.items():
            request.headers[name] = value.header() if isinstance(value, Token) else value
        if self.token is not None:
            request.headers["Authorization"] = self.token.header()
        return request

    def hide(self, text: str) -> str:
        """Return `text` without any of the secrets."""
        for secret in self.tokens():
            text = secret.hide(text)
        return text

    def hide_bytes(self, body: bytes) -> bytes:
        """Return `body` without any of the secrets, should the other side send one back."""
        for secret in self.tokens():
            body = secret.hide_bytes(body)
        return body

    def tokens(self) -> list[Token]:
        """Return the secrets among token and headers."""
        return [v for v in (self.token, *self.headers.values()) if isinstance(v, Token)]


class Http:
    """Sends requests to an endpoint over HTTP; safe to use from several threads.

    Parameters
    ----------
    url
        The endpoint.
    secrets
        Its token and headers; sent to the origin of `url` alone.
    timeout
        Longest wait for the next byte, in seconds.
    verify
        Whether TLS certificates are checked, or the path of a CA bundle.

    Raises
    ------
    TargetError
        If `url` is no http or https address.
    """

    def __init__(
        self, url: str, secrets: Secrets, *, timeout: float = 60.0, verify: bool | str = True
    ) -> None:
        self.url = url
        self.source = address(url)
        self.secrets = secrets
        self.timeout = timeout
        self._session = session(verify, trust_env=not loopback(url))

    def send(self, request: Request) -> Response:
        """Send a request and wait for the response.

        Raises
        ------
        TransportError
            If no response came; the message says why and what to do.
        """
        body, url = request.encode(), self.url
        for _ in range(REDIRECTS):
            response = self._post(url, body)
            if not 300 <= response.status < 400:
                return response
            url = self._next(url, response)
        msg = f"POST {self.source}: redirected more than {REDIRECTS} times."
        raise TransportError(msg)

    async def asend(self, request: Request) -> Response:
        """Send a request from a worker thread and await the response."""
        return await asyncio.to_thread(self.send, request)

    def close(self) -> None:
        """Close the connections that are kept alive."""
        self._session.close()

    def _post(self, url: str, body: bytes) -> Response:
        # The library's exceptions hold the request with its headers. They are dropped here and a
        # new one is raised outside the except block, so that nothing chains to them.
        try:
            return self._exchange(url, body)
        except TransportError as error:
            failure: TransportError | None = error
            reason = ""
        except (requests.RequestException, OSError, ValueError) as error:
            failure, reason = None, self._reason(error)
        if failure is not None:
            raise failure
        msg = f"POST {self.source}: {reason}"
        raise TransportError(msg)

    def _exchange(self, url: str, body: bytes) -> Response:
        headers = {
            "Accept": ACCEPT,
            "Accept-Encoding": "gzip",
            "Content-Type": "application/json",
            "User-Agent": user_agent(),
        }
        with self._session.post(
            url,
            data=body,
            headers=headers,
            auth=self.secrets,
            timeout=(min(CONNECT, self.timeout), self.timeout),
            allow_redirects=False,
            stream=True,
        ) as response:
            hide = self.secrets.hide
            received = {name.lower(): hide(value) for name, value in response.headers.items()}
            body = self.secrets.hide_bytes(self._body(response))
            return Response(response.status_code, received, body)

    def _body(self, response: requests.Response) -> bytes:
        parts: list[bytes] = []
        left = CAP
        for part in response.iter_content(CHUNK):
            left -= len(part)
            if left < 0:
                msg = (
                    f"POST {self.source}: the answer is larger than {CAP >> 20} MiB. "
                    "Ask for fewer rows at a time."
                )
                raise TransportError(msg)
            parts.append(part)
        return b"".join(parts)

    def _next(self, url: str, response: Response) -> str:
        """Return where a redirect leads, if a request with a token may follow it."""
        to = urljoin(url, response.headers.get("location", ""))
        if response.status in FOLLOWED and origin(to) == origin(self.url):
            return to
        msg = (
            f"POST {self.source}: HTTP {response.status} redirects to {address(to)}. "
            "Connect to that address itself if you trust it."
        )
        raise TransportError(
            msg,
            status=response.status,
        )

    def _reason(self, error: Exception) -> str:
        if refused(error):
            return NOTHING_LISTENS if loopback(self.url) else "the connection was refused."
        if isinstance(error, requests.Timeout):
            return f"no answer within {self.timeout:g} s. Try again, or pass a longer timeout=."
        if isinstance(error, requests.exceptions.SSLError):
            return f"the TLS certificate was not accepted: {self._said(error)}"
        if isinstance(error, requests.ConnectionError):
            return f"the connection failed: {self._said(error)}"
        return f"the answer could not be read: {self._said(error)}"

    def _said(self, error: Exception) -> str:
        return plain(self.secrets.hide(str(error)), 200)


def session(verify: bool | str, *, trust_env: bool) -> requests.Session:
    """Return a session that keeps connections, no cookies, and no proxy for loopback."""
    made = requests.Session()
    made.trust_env = trust_env
    made.verify = verify
    made.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    adapter = HTTPAdapter(pool_connections=1, pool_maxsize=32)
    made.mount("http://", adapter)
    made.mount("https://", adapter)
    return made


def user_agent() -> str:
    """Return what we call ourselves; GitHub refuses requests that do not say."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"gqlnb/{version('gqlnb')}"
    except PackageNotFoundError:
        return "gqlnb"


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), port


def address(url: str) -> str:
    """Return a URL without user, password, query and fragment.

    Raises
    ------
    TargetError
        If it is no http or https address.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        msg = (
            f"{plain(url, 80)!r} is no address of an endpoint. "
            "Write it in full, such as http://127.0.0.1:4000/graphql."
        )
        raise TargetError(msg)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}{parts.path}"


def loopback(url: str) -> bool:
    """Tell whether a URL leads to this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def sendable(url: str, secrets: Secrets) -> None:
    """Check that secrets may travel to `url`.

    Raises
    ------
    AuthError
        If it is plain http to another machine.
    """
    if secrets.tokens() and urlsplit(url).scheme != "https" and not loopback(url):
        msg = (
            f"{address(url)} is plain http, so a token sent there could be read on the way. "
            "Use https."
        )
        raise AuthError(msg)


def refused(error: BaseException) -> bool:
    """Tell whether a refused connection is behind an exception of requests."""
    seen: Any = error
    for _ in range(8):
        if isinstance(seen, ConnectionRefusedError):
            return True
        reason = getattr(seen, "reason", None)
        inner = seen.args[0] if seen.args and isinstance(seen.args[0], Exception) else None
        seen = (
            reason if isinstance(reason, Exception) else inner or seen.__cause__ or seen.__context__
        )
        if seen is None:
            return False
    return False

"""HTTP over requests: one POST, no cookies, no surprises with tokens."""

from __future__ import annotations

import asyncio
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase

from gqlnb.client.addresses import checked_address, loopback, origin, shown
from gqlnb.client.connections import HERE, SERVE
from gqlnb.client.reasons import NOTHING, reason
from gqlnb.client.transports import ACCEPT
from gqlnb.errors import GqlnbError, TransportError
from gqlnb.token import bare
from gqlnb.wire.response import Response

if TYPE_CHECKING:
    from gqlnb.client.secrets import Secrets
    from gqlnb.wire.request import Request

__all__ = ["Http"]

FOLLOWED = frozenset({307, 308})  # the two that keep method and body
REDIRECTS = 5
CONNECT = 10.0  # seconds; a host that does not answer the handshake by then is not there
CAP = 64 * 1024 * 1024  # bytes of a decompressed answer
CHUNK = 1 << 16


class Authorization(AuthBase):
    """Adds the token and the headers of a client to one request.

    An ``AuthBase`` keeps requests from replacing the token by a line of ``.netrc``.
    """

    def __init__(self, secrets: Secrets) -> None:
        self.secrets = secrets

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.update(self.secrets.lines())
        return request


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
        If `url` is no http or https address, or holds a password.
    """

    def __init__(
        self, url: str, secrets: Secrets, *, timeout: float = 60.0, verify: bool | str = True
    ) -> None:
        self.url = url
        self.source = checked_address(url)
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
        # No exception leaves the frames below: a traceback may show their locals, and those hold
        # the headers and the address with all its parts.
        outcome = self._outcome(request.encode())
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _outcome(self, body: bytes) -> Response | BaseException:
        """Return the response, or the exception to raise."""
        try:
            return self._follow(body)
        except GqlnbError as error:
            return bare(error)
        except Exception as error:
            why = self._reason(error)
        except BaseException as error:
            return bare(error)
        return TransportError(f"POST {self.source}: {why}")

    def _follow(self, body: bytes) -> Response:
        """Send a request, and again to where a redirect leads."""
        url = self.url
        for _ in range(REDIRECTS):
            response = self._exchange(url, body)
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
            auth=Authorization(self.secrets),
            timeout=(min(CONNECT, self.timeout), self.timeout),
            allow_redirects=False,
            stream=True,
        ) as response:
            received = {name.lower(): value for name, value in response.headers.items()}
            return Response(response.status_code, received, self._body(response))

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
        location = response.headers.get("location", "")
        try:
            to = urljoin(url, location)
            same = origin(to) == origin(self.url)
        except ValueError:
            to, same = location, False
        if response.status in FOLLOWED and same:
            return to
        msg = (
            f"POST {self.source}: HTTP {response.status} redirects to "
            f"{shown(self.secrets.hide(to))}. Connect to that address itself if you trust it."
        )
        raise TransportError(msg, status=response.status)

    def _reason(self, error: Exception) -> str:
        host = urlsplit(self.url).hostname or ""
        why = reason(error, host, min(CONNECT, self.timeout), self.timeout)
        return f"{why} {SERVE}" if why == NOTHING and origin(self.url) == origin(HERE) else why


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

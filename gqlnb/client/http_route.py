"""The way to an endpoint: urllib3's pool of connections, direct or through a proxy.

:mod:`gqlnb.client.http_transport` imports it with the first request, since the import of requests
and urllib3 takes longer than that of the rest of the client.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import requests
from requests.utils import get_environ_proxies, urldefragauth
from urllib3.util import Retry, Timeout

from gqlnb.client.deadline_sockets import DeadlineAdapter
from gqlnb.client.http_call import MAX_CONNECTIONS
from gqlnb.client.urls import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3 import BaseHTTPResponse, HTTPConnectionPool

    from gqlnb.http.multipart_request import MultipartBody

    Body = bytes | MultipartBody  # the latter is read while it is sent

__all__ = ["Route", "build_request_target", "find_proxies", "open_route"]

NO_RETRIES = Retry(total=False, redirect=False)  # `RetryLoop` retries


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
    process
        The process that opened it; a forked child must not share its connections.
    """

    adapter: DeadlineAdapter
    pool: HTTPConnectionPool
    uses_absolute_target: bool
    process: int

    def post(
        self, url: str, body: Body, headers: Mapping[str, str], seconds: float
    ) -> BaseHTTPResponse:
        """Send a request, connecting within `seconds`; return its response, with the head read."""
        # The pool alone, without a Session of requests, which would keep cookies, read ~/.netrc and
        # send the token along with redirects.
        return self.pool.urlopen(
            "POST",
            build_request_target(url, whole=self.uses_absolute_target),
            body=body,
            headers=headers,
            retries=NO_RETRIES,
            redirect=False,
            assert_same_host=False,
            # No timeout for reading: `DeadlineSocket` bounds each receive by the deadline of the
            # whole call.
            timeout=Timeout(connect=seconds, read=None),
            # Read in pieces and decompressed here, so that the limit holds before a body is in
            # memory.
            preload_content=False,
            decode_content=False,
        )


def find_proxies(url: str, uds: str | None = None) -> dict[str, str]:
    """Return the proxies in the environment for an address, by scheme; none for this machine."""
    return {} if uds is not None or is_loopback(url) else get_environ_proxies(url)


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
    return Route(adapter, pool, whole, os.getpid())


@lru_cache(maxsize=64)
def build_request_target(url: str, *, whole: bool) -> str:
    """Return the quoted target of the request line: a path, or the whole address."""
    request = requests.Request("POST", url).prepare()
    return urldefragauth(request.url or "") if whole else request.path_url

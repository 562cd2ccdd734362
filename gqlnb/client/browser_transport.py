"""HTTP by the browser, for a Python that runs in a page: Pyodide, as in JupyterLite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.transports import ACCEPT
from gqlnb.errors import AuthError, TransportError
from gqlnb.http.messages import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.client.credentials import Credentials
    from gqlnb.client.http_call import Call
    from gqlnb.http.messages import Request, RequestArray
    from gqlnb.http.multipart_requests import MultipartBody

__all__ = ["BrowserTransport", "refuse_secrets"]


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

"""Requests and responses as they were sent and received, without secrets, for debugging."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gqlnb.client.credentials import is_secret_name
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.recording.session import build_unrecordable_error
from gqlnb.client.urls import strip_url
from gqlnb.errors import TargetError, TransportError, sanitize_text
from gqlnb.redact import MASK, redact_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.http_route import Body
    from gqlnb.http.messages import Response

__all__ = ["Exchange", "ExchangeLog"]

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
            "".join(f"{each!r}\n\n" for each in self.history)
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

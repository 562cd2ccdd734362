"""Requests of a report: counted, bounded, and no faster than two a second on other machines."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.paging.page_size import list_messages
from gqlnb.client.request_preparer import RequestPreparer
from gqlnb.client.schema_store import SchemaStore
from gqlnb.client.transports import InProcessTransport
from gqlnb.errors import GqlnbError, sanitize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.request_sender import RequestSender
    from gqlnb.client.transports import Transport
    from gqlnb.http.messages import Request, Response
    from gqlnb.result.result import Result

INTERVAL = 0.5  # seconds between requests to another machine
MAX_SECONDS = 20.0  # for one answer


class RequestLimitError(Exception):
    """The report has sent as many requests as it may."""


@dataclass(slots=True)
class Meter:
    """The number of requests so far, and the times of the answers.

    Attributes
    ----------
    most
        The number of requests that may be sent.
    interval
        The least number of seconds between two.
    """

    most: int
    interval: float
    sent: int = 0
    slowest: float = 0.0
    responses: list[Response] = field(default_factory=list)
    _last: float = 0.0

    @property
    def left(self) -> int:
        """The number of requests that may still be sent."""
        return self.most - self.sent

    @contextmanager
    def reserve(self, requests: int) -> Iterator[None]:
        """Keep some requests for later; the block ends where the others are spent."""
        requests = min(requests, self.left // 3)
        self.most -= requests
        try:
            yield
        except RequestLimitError:
            pass
        finally:
            self.most += requests

    def count(self) -> None:
        """Wait until the next request may be sent, and count it.

        Raises
        ------
        RequestLimitError
            If there were as many as there may be.
        """
        if self.left <= 0:
            raise RequestLimitError
        wait = self._last + self.interval - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        self.sent += 1
        self._last = time.monotonic()

    def measure(self, send: Callable[[], Response]) -> Response:
        """Send a request when its time has come; raise as :meth:`count`."""
        self.count()
        response = send()
        self.slowest = max(self.slowest, time.monotonic() - self._last)
        self.responses.append(replace(response, body=b"", members=None, causes=()))
        return response


class MeteredTransport:
    """A transport in front of that of a client."""

    def __init__(self, transport: Transport, meter: Meter) -> None:
        self._transport, self._meter = transport, meter
        self.source = transport.source

    def send(self, request: Request) -> Response:
        """Send a request and wait for the response."""
        return self._meter.measure(lambda: self._transport.send(request))

    async def asend(self, request: Request) -> Response:
        """Refuse: reports are made by synchronous calls."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing: the connections belong to the client."""


class MeteredClient:
    """The requests of a report, with the credentials and the rate limit of a client.

    Parameters
    ----------
    endpoint, sender
        Of the client.
    most
        The number of requests that may be sent.

    Attributes
    ----------
    meter
        Counts the requests.
    source
        The endpoint, as it is shown.
    extensions
        The names of the extensions of all answers.
    http
        The transport over HTTP; None for anything else.
    store
        A schema store of its own, as the introspection is measured too.
    """

    def __init__(self, endpoint: Endpoint, sender: RequestSender, most: int) -> None:
        transport = endpoint.transport
        is_near = isinstance(transport, InProcessTransport) or getattr(transport, "is_local", True)
        self.meter = Meter(most, 0.0 if is_near else INTERVAL)
        is_recorded = endpoint.get_recording() is not None
        self.http: HttpTransport | None = None
        if isinstance(transport, HttpTransport) and not is_recorded:
            self.http = transport
        local = endpoint.local_schema
        endpoint = replace(endpoint, transport=MeteredTransport(transport, self.meter))
        self.source = endpoint.source
        self.extensions: set[str] = set()
        self.is_in_process = local is not None
        self._sender = sender.with_endpoint(endpoint, sender.limiter)
        self.store = SchemaStore(endpoint, self._sender)
        if local is not None:
            self.store.set_schema(local.graphql)
        self._preparer = RequestPreparer(endpoint, self.store)

    def ask(
        self, text: str, variables: dict[str, Any] | None = None
    ) -> tuple[Result | None, list[str]]:
        """Return the result of a query, sent once, if one came; and the messages of its errors."""
        try:
            prepared = self._preparer.prepare(text, variables)
            result = self._sender.send(prepared, queued=True, quiet=True, give_up=lambda _: True)
        except GqlnbError as error:
            return None, [sanitize_text(it, 200) for it in list_messages(error)]
        self.extensions.update(result.extensions or {})
        return result, [sanitize_text(it.get("message", ""), 200) for it in result.errors]

    def probe(self, body: bytes = b"", **options: Any) -> Response:  # noqa: ANN401 - of `HttpTransport.probe`
        """Send any body over HTTP; raise TransportError if no response comes."""
        http = self.http
        assert http is not None  # noqa: S101 - checked by the caller
        seconds = min(http.timeout, MAX_SECONDS)
        return self.meter.measure(lambda: http.probe(body, seconds=seconds, **options))

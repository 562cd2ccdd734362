"""The report of an endpoint: its lines, how they are shown, and its requests.

The requests are counted, bounded, and no faster than two a second on other machines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.paging.page_size import list_messages
from gqlnb.client.request_preparer import RequestPreparer
from gqlnb.client.schema_store import SchemaStore
from gqlnb.client.transports import InProcessTransport, Transport
from gqlnb.errors import GqlnbError, format_count, sanitize_text
from gqlnb.result.renderer import HTML_CLASSES, Grid

if TYPE_CHECKING:
    import pandas as pd

    from gqlnb.client.endpoint import Endpoint, ListSettings
    from gqlnb.client.request_sender import RequestSender
    from gqlnb.http.messages import Request, Response
    from gqlnb.result.result import Result


NOT_TRIED = "not tried"
SECTIONS = ("protocol", "schema", "lists", "scalars", "advice")
COLUMNS = ("section", "subject", "finding", "evidence")
IN_TEXT, IN_HTML = 100, 400  # characters of a cell


class ReportLine(NamedTuple):
    """A line of a report.

    Attributes
    ----------
    section
        ``"protocol"``, ``"schema"``, ``"lists"``, ``"scalars"`` or ``"advice"``.
    subject
        The property that was examined.
    finding
        The result; ``"not tried"`` if it would have been a guess.
    evidence
        The request and the answer that show it, in words.
    """

    section: str
    subject: str
    finding: str
    evidence: str


AddLine = Callable[..., None]  # takes the subject, the finding and the evidence of a line


def add_line(
    lines: list[ReportLine], section: str, subject: str, finding: object, evidence: str = ""
) -> None:
    """Add a line to a report, of texts that can be shown."""
    texts = (sanitize_text(text, 400) for text in (subject, finding, evidence))
    lines.append(ReportLine(section, *texts))


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The properties of an endpoint, found by experiment.

    Attributes
    ----------
    source
        The endpoint, as it is shown.
    lines
        The lines.
    requests
        The number of requests that were sent; of a dry run, the most that would be.
    seconds
        The time that it took.
    is_planned
        Whether nothing was sent.
    lists
        The paging of the lists, as in the settings of a connection.
    """

    source: str
    lines: Sequence[ReportLine]
    requests: int
    seconds: float = 0.0
    is_planned: bool = False
    lists: Mapping[str, ListSettings] = field(default_factory=dict, repr=False)

    def find(self, subject: str) -> ReportLine:
        """Return the line about a subject.

        Raises
        ------
        KeyError
            If there is none.
        """
        for line in self.lines:
            if line.subject == subject:
                return line
        raise KeyError(subject)

    def frame(self) -> pd.DataFrame:
        """Return the lines as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(list(self.lines), columns=list(COLUMNS), dtype="string")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "endpoint": self.source,
            "requests": self.requests,
            "seconds": round(self.seconds, 2),
            "lines": [line._asdict() for line in self.lines],
        }

    def __iter__(self) -> Iterator[ReportLine]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return self.format_text(IN_TEXT)

    def format_text(self, width: int = IN_HTML) -> str:
        """Return the report as aligned text, with at most `width` characters of a cell."""
        parts = [self._summarize()]
        for section, grid in self._iterate_grids(width):
            body = "\n".join(line[2:] for line in grid.to_text().splitlines()[1:])
            parts.append(f"{section}\n{body}")
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        parts = [f"<p>{escape(self._summarize())}</p>"]
        parts += [f"<h4>{name}</h4>{it.to_html()}" for name, it in self._iterate_grids(IN_HTML)]
        return f'<div class="{HTML_CLASSES}">{"".join(parts)}</div>'

    def _summarize(self) -> str:
        count = format_count(self.requests, "request")
        if self.is_planned:
            return f"{self.source}: a report would send at most {count}, only queries."
        return f"{self.source}: {count} in {self.seconds:.1f} s, only queries."

    def _iterate_grids(self, width: int) -> Iterator[tuple[str, Grid]]:
        for section in SECTIONS:
            lines = [line[1:] for line in self.lines if line.section == section]
            rows = [[sanitize_text(cell, width) for cell in line] for line in lines]
            if rows:
                yield section, Grid(list(COLUMNS[1:]), [False] * 3, rows, [""] * len(rows), [])


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

    def count(self) -> None:
        """Wait until the next request may be sent, and count it.

        Raises
        ------
        RequestLimitError
            If there were as many as there may be.
        """
        if self.sent >= self.most:
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
        self.http: HttpTransport | None = None
        if isinstance(transport, HttpTransport) and endpoint.get_recording() is None:
            self.http = transport
        local, self.source = endpoint.local_schema, endpoint.source
        endpoint = replace(endpoint, transport=MeteredTransport(transport, self.meter))
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

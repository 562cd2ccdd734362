"""How an endpoint answers requests over HTTP: well-formed ones, wrong ones, and optional forms."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from gqlnb import background
from gqlnb.client.subscriptions import SUBPROTOCOLS
from gqlnb.client.websocket_client import NetworkLink, open_network_link
from gqlnb.errors import TransportError, sanitize_text
from gqlnb.http.messages import GRAPHQL_MEDIA_TYPE, JSON_MEDIA_TYPE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.endpoint_report.meter import MeteredClient
    from gqlnb.client.endpoint_report.report import ReportWriter
    from gqlnb.client.http_transport import HttpTransport
    from gqlnb.http.messages import Response

MAX_REQUESTS = 16
QUERY = "{ __typename }"
UNKNOWN_FIELD = "gqlnbUnknownField"
UNKNOWN_HASH = "0" * 64
SOCKET_SECONDS = 5.0
PARTS = 'multipart/mixed;subscriptionSpec="1.0", application/json;q=0.5'
INCREMENTAL_TYPES = "multipart/mixed, text/event-stream;q=0.9, application/json;q=0.5"
# Headers that tell of limits or costs, in any of the spellings that services use.
LIMIT_WORDS = ("ratelimit", "rate-limit", "retry-after", "cost", "complexity")
# A part of an answer that only one library writes, and its name. The first that is found counts.
SIGNS = (
    ("Could not determine what operation to execute", "GraphQL Yoga"),
    ("MER_ERR", "Mercurius"),
    ("GRAPHQL_PARSE_FAILED", "Apollo Server"),
    ("Cannot query field 'gqlnbUnknownField' on type", "graphql-core (Python)"),
    ('Cannot query field \\"gqlnbUnknownField\\" on type', "graphql-js"),
    ("Field 'gqlnbUnknownField' doesn't exist on type", "graphql-ruby"),
    ("graphql-dotnet", "GraphQL.NET"),
    ("HC0", "Hot Chocolate"),
    ("Validation error (FieldUndefined", "graphql-java"),
    ("GRAPHQL_VALIDATION_FAILED", "graphql-js or gqlgen"),
)
PLAIN = {"", "none", "identity"}  # values of Content-Encoding
HEADER_NAMES = ("server", "x-powered-by", "x-graphql-server")


class Probe(NamedTuple):
    """A request in a certain form.

    Attributes
    ----------
    subject
        The property that its answer shows.
    members
        The JSON body; None for a GET.
    options
        Further arguments of :meth:`HttpTransport.probe`.
    read
        Returns the finding for a response.
    """

    subject: str
    members: Any
    options: Mapping[str, Any]
    read: Callable[[Response], str]


def report_protocol(
    client: MeteredClient, schema: GraphQLSchema | None, writer: ReportWriter
) -> str:
    """Report how an endpoint answers over HTTP; return the text of its error messages."""
    if client.http is None:
        writer.skip("HTTP", "the answers come from this process or from a recording")
        return ""
    texts = []
    for probe in list_probes(schema):
        body = b"" if probe.members is None else json.dumps(probe.members).encode()
        try:
            response = client.probe(body, **probe.options)
        except TransportError as error:
            writer.add(probe.subject, "no answer", str(error))
            continue
        writer.add(probe.subject, probe.read(response), describe_response(response))
        texts.append(response.body.decode(errors="replace"))
    report_websocket(client, client.http, writer)
    return "\n".join(texts)


def list_probes(schema: GraphQLSchema | None) -> list[Probe]:
    """Return the requests, in the order of the report."""
    boolean = {"query": "query ($v: Boolean!) { __typename @include(if: $v) }"}
    plain = {"query": QUERY}
    persisted = {"persistedQuery": {"version": 1, "sha256Hash": UNKNOWN_HASH}}
    probes = [
        Probe("GET", None, {"query": f"query={quote(QUERY)}"}, read_acceptance),
        Probe("media type asked for", plain, {"accept": GRAPHQL_MEDIA_TYPE}, read_media_type),
        Probe("media type of older clients", plain, {"accept": JSON_MEDIA_TYPE}, read_media_type),
        Probe("syntax error", {"query": "{"}, {}, read_shape),
        Probe("invalid document", {"query": f"{{ {UNKNOWN_FIELD} }}"}, {}, read_shape),
        Probe(
            "unknown operation",
            {"query": f"query A {QUERY}", "operationName": "B"},
            {},
            read_shape,
        ),
        Probe("wrong variable", {**boolean, "variables": {"v": "text"}}, {}, read_shape),
        Probe("missing variable", boolean, {}, read_shape),
        Probe("arrays of requests", [plain, plain], {}, read_array),
        Probe("persisted queries", {"extensions": persisted}, {}, read_persisted),
        Probe(
            "server-sent events",
            plain,
            {"accept": "text/event-stream", "head_only": True},
            build_type_reader("text/event-stream"),
        ),
        Probe(
            "multipart",
            plain,
            {"accept": PARTS, "head_only": True},
            build_type_reader("multipart/mixed"),
        ),
    ]
    if schema is not None and schema.get_directive("defer") is not None:
        deferred = {"query": "{ ... @defer { __typename } }"}
        options = {"accept": INCREMENTAL_TYPES, "head_only": True}
        probes.append(Probe("@defer", deferred, options, read_incremental))
    return probes


def load_members(response: Response) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON of a response, or None."""
    try:
        return json.loads(response.body)
    except ValueError:
        return None


def get_type(response: Response) -> str:
    """Return the media type of a response, without parameters."""
    return response.headers.get("content-type", "none").partition(";")[0].strip().lower()


def describe_response(response: Response) -> str:
    """Return the status, the media type and the first message of a response."""
    members = load_members(response)
    first = members[0] if isinstance(members, list) and members else members
    errors = first.get("errors") if isinstance(first, dict) else None
    message = ""
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        message = f": {sanitize_text(errors[0].get('message', ''), 100)}"
    return f"HTTP {response.status}, {get_type(response)}{message}"


def is_fine(response: Response) -> bool:
    """Return whether a response has the data of the query, and no errors."""
    members = load_members(response)
    return isinstance(members, dict) and bool(members.get("data")) and not members.get("errors")


def read_acceptance(response: Response) -> str:
    """Return whether the endpoint answered or refused."""
    return "answered" if is_fine(response) else f"refused, HTTP {response.status}"


def read_media_type(response: Response) -> str:
    """Return the media type of an answer."""
    kind = get_type(response)
    return kind if is_fine(response) else f"{kind}, without data"


def read_shape(response: Response) -> str:
    """Return the status, and which members an error response has."""
    members = load_members(response)
    if not isinstance(members, dict):
        return f"HTTP {response.status}, not a JSON object"
    shape = []
    if "errors" in members:
        shape.append("errors")
    if "data" in members:
        shape.append("data: null" if members["data"] is None else "data")
    return f"HTTP {response.status}, {' and '.join(shape) or 'neither errors nor data'}"


def read_array(response: Response) -> str:
    """Return whether an array of requests was answered."""
    members = load_members(response)
    is_array = isinstance(members, list) and len(members) == 2
    if is_array and all(isinstance(item, dict) and item.get("data") for item in members):
        return "answered"
    return f"refused, HTTP {response.status}"


def read_persisted(response: Response) -> str:
    """Return whether the endpoint knows Apollo's persisted queries."""
    text = response.body.decode(errors="replace").lower()
    text = text.replace("_", "").replace(" ", "").lower()
    if "persistedquerynotfound" in text:
        return "by hash"
    return "not offered"


def read_incremental(response: Response) -> str:
    """Return whether an answer came in parts."""
    kind = get_type(response)
    return f"in parts, {kind}" if kind.startswith(("multipart/", "text/event")) else "in one answer"


def build_type_reader(media_type: str) -> Callable[[Response], str]:
    """Return a reader that tells whether a response has a media type."""

    def read(response: Response) -> str:
        if get_type(response) == media_type:
            return "offered"
        return f"not offered for a query, HTTP {response.status}"

    return read


def report_websocket(client: MeteredClient, http: HttpTransport, writer: ReportWriter) -> None:
    """Report whether a WebSocket is opened, and whether its first message is acknowledged."""

    async def shake_hands() -> tuple[str, str]:
        secrets = await http.credentials.abuild_headers(None)
        link = await open_network_link(http, SOCKET_SECONDS, SUBPROTOCOLS, secrets)
        if not isinstance(link, NetworkLink):
            status = getattr(link, "status", None)
            reason = f"HTTP {status} to the handshake" if status else "the handshake failed"
            return "not offered", reason
        try:
            await link.send('{"type": "connection_init"}')
            async with asyncio.timeout(SOCKET_SECONDS):
                answer = await link.receive()
        except TimeoutError:
            return "not offered", "the WebSocket opened, and connection_init was not answered"
        finally:
            await link.close()
        is_acknowledged = isinstance(answer, (str, bytes)) and "connection_ack" in str(answer)
        finding = link.subprotocol if is_acknowledged else "not offered"
        word = "acknowledged" if is_acknowledged else f"answered by {answer!s}"
        return str(finding), f"connection_init was {word}"

    client.meter.count()
    writer.add("WebSocket", *background.run(shake_hands()))


def report_headers(client: MeteredClient, writer: ReportWriter) -> None:
    """Report what the headers of all responses tell: compression, limits and costs."""
    responses = client.meter.responses
    encodings = sorted({r.headers.get("content-encoding", "") for r in responses} - PLAIN)
    largest = "none of the answers had a Content-Encoding"
    writer.add(
        "compression",
        ", ".join(encodings) or "none seen",
        f"Content-Encoding of {len(responses)} answers" if encodings else largest,
    )
    limits = {
        name: value
        for response in responses
        for name, value in response.headers.items()
        if any(word in name for word in LIMIT_WORDS)
    }
    names = sorted(client.extensions)
    writer.add("extensions", ", ".join(names) or "none seen", "of the answers to queries of lists")
    texts = ", ".join(f"{name}: {value}" for name, value in sorted(limits.items()))
    writer.add("rate limit headers", ", ".join(sorted(limits)) or "none seen", texts)


def identify_server(client: MeteredClient, texts: str, writer: ReportWriter) -> None:
    """Report the library of the server, where an answer or a header gives it away."""
    name = next((name for sign, name in SIGNS if sign in texts), "")
    seen = {
        f"{header}: {response.headers[header]}"
        for response in client.meter.responses
        for header in HEADER_NAMES
        if header in response.headers
    }
    finding = name or "unknown"
    evidence = "; ".join(sorted(seen)) or "no header names it"
    writer.add("server library", finding, f"words of its errors; {evidence}" if name else evidence)

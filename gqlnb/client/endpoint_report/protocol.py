"""How an endpoint answers requests over HTTP: well-formed ones, wrong ones, and optional forms."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gqlnb import background
from gqlnb.client.subscriptions import SUBPROTOCOLS
from gqlnb.client.websocket_client import NetworkLink, open_network_link
from gqlnb.errors import TransportError, sanitize_text
from gqlnb.http.messages import GRAPHQL_MEDIA_TYPE, JSON_MEDIA_TYPE, Response

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from gqlnb.client.endpoint_report.report import MeteredClient, ReportWriter
    from gqlnb.client.http_transport import HttpTransport

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


Read = Callable[[Response, Any], str]  # returns the finding for a response and its JSON
Probe = tuple[str, Any, dict[str, Any], Read]  # subject, JSON body, arguments of `probe`


def report_protocol(
    client: MeteredClient, schema: GraphQLSchema | None, writer: ReportWriter
) -> str:
    """Report how an endpoint answers over HTTP; return the text of its error messages."""
    if client.http is None:
        writer.skip("HTTP", "the answers come from this process or from a recording")
        return ""
    texts = []
    for subject, members, options, read in list_probes(schema):
        body = b"" if members is None else json.dumps(members).encode()
        try:
            response = client.probe(body, **options)
        except TransportError as error:
            writer.add(subject, "no answer", str(error))
            continue
        texts.append(response.body.decode(errors="replace"))
        answer = load_members(response)
        writer.add(subject, read(response, answer), describe_response(response, answer))
    report_websocket(client, client.http, writer)
    return "\n".join(texts)


def list_probes(schema: GraphQLSchema | None) -> list[Probe]:
    """Return the requests, in the order of the report."""
    boolean = {"query": "query ($v: Boolean!) { __typename @include(if: $v) }"}
    plain, named = {"query": QUERY}, {"query": f"query A {QUERY}", "operationName": "B"}
    persisted = {"persistedQuery": {"version": 1, "sha256Hash": UNKNOWN_HASH}}
    events = {"accept": "text/event-stream", "head_only": True}
    parts = {"accept": PARTS, "head_only": True}
    probes: list[Probe] = [
        ("GET", None, {"query": f"query={quote(QUERY)}"}, read_acceptance),
        ("media type asked for", plain, {"accept": GRAPHQL_MEDIA_TYPE}, read_media_type),
        ("media type of older clients", plain, {"accept": JSON_MEDIA_TYPE}, read_media_type),
        ("syntax error", {"query": "{"}, {}, read_shape),
        ("invalid document", {"query": f"{{ {UNKNOWN_FIELD} }}"}, {}, read_shape),
        ("unknown operation", named, {}, read_shape),
        ("wrong variable", {**boolean, "variables": {"v": "text"}}, {}, read_shape),
        ("missing variable", boolean, {}, read_shape),
        ("arrays of requests", [plain, plain], {}, read_array),
        ("persisted queries", {"extensions": persisted}, {}, read_persisted),
        ("server-sent events", plain, events, partial(read_offer, "text/event-stream")),
        ("multipart", plain, parts, partial(read_offer, "multipart/mixed")),
    ]
    if schema is not None and schema.get_directive("defer") is not None:
        deferred = {"query": "{ ... @defer { __typename } }"}
        options = {"accept": INCREMENTAL_TYPES, "head_only": True}
        probes.append(("@defer", deferred, options, read_incremental))
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


def describe_response(response: Response, answer: object) -> str:
    """Return the status, the media type and the first message of a response."""
    first = answer[0] if isinstance(answer, list) and answer else answer
    errors = first.get("errors") if isinstance(first, dict) else None
    message = ""
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        message = f": {sanitize_text(errors[0].get('message', ''), 100)}"
    return f"HTTP {response.status}, {get_type(response)}{message}"


def is_fine(answer: object) -> bool:
    """Return whether a response has the data of the query, and no errors."""
    return isinstance(answer, dict) and bool(answer.get("data")) and not answer.get("errors")


def read_acceptance(response: Response, answer: object) -> str:
    """Return whether the endpoint answered or refused."""
    return "answered" if is_fine(answer) else f"refused, HTTP {response.status}"


def read_media_type(response: Response, answer: object) -> str:
    """Return the media type of an answer."""
    return get_type(response) + ("" if is_fine(answer) else ", without data")


def read_shape(response: Response, answer: object) -> str:
    """Return the status, and which members an error response has."""
    if not isinstance(answer, dict):
        return f"HTTP {response.status}, not a JSON object"
    shape = ["errors"] * ("errors" in answer)
    shape += ["data: null" if answer["data"] is None else "data"] if "data" in answer else []
    return f"HTTP {response.status}, {' and '.join(shape) or 'neither errors nor data'}"


def read_array(response: Response, answer: object) -> str:
    """Return whether an array of requests was answered."""
    answers = answer if isinstance(answer, list) and len(answer) == 2 else [None]
    is_answered = all(isinstance(it, dict) and it.get("data") for it in answers)
    return "answered" if is_answered else f"refused, HTTP {response.status}"


def read_persisted(response: Response, _answer: object) -> str:
    """Return whether the endpoint knows Apollo's persisted queries."""
    text = response.body.decode(errors="replace").lower().replace("_", "").replace(" ", "")
    return "by hash" if "persistedquerynotfound" in text else "not offered"


def read_incremental(response: Response, _answer: object) -> str:
    """Return whether an answer came in parts."""
    kind = get_type(response)
    return f"in parts, {kind}" if kind.startswith(("multipart/", "text/event")) else "in one answer"


def read_offer(media_type: str, response: Response, _answer: object) -> str:
    """Return whether a response has a media type."""
    is_offered = get_type(response) == media_type
    return "offered" if is_offered else f"not offered for a query, HTTP {response.status}"


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
        if isinstance(answer, (str, bytes)) and "connection_ack" in str(answer):
            return str(link.subprotocol), "connection_init was acknowledged"
        return "not offered", f"connection_init was answered by {answer!s}"

    client.meter.count()
    writer.add("WebSocket", *background.run(shake_hands()))


def report_headers(client: MeteredClient, texts: str, writer: ReportWriter) -> None:
    """Report what all responses tell: compression, limits, costs, and the server's library."""
    responses = client.meter.responses
    headers = [item for response in responses for item in response.headers.items()]
    encodings = sorted({v for k, v in headers if k == "content-encoding"} - PLAIN)
    evidence = "none of the answers had a Content-Encoding"
    if encodings:
        evidence = f"Content-Encoding of {len(responses)} answers"
    limits = {k: v for k, v in headers if any(word in k for word in LIMIT_WORDS)}
    values = ", ".join(f"{name}: {value}" for name, value in sorted(limits.items()))
    library = next((name for sign, name in SIGNS if sign in texts), "")
    seen = sorted({f"{k}: {v}" for k, v in headers if k in HEADER_NAMES})
    where = "; ".join(seen) or "no header names it"
    of_lists = "of the answers to queries of lists"
    writer.add("compression", ", ".join(encodings) or "none seen", evidence)
    writer.add("extensions", ", ".join(sorted(client.extensions)) or "none seen", of_lists)
    writer.add("rate limit headers", ", ".join(sorted(limits)) or "none seen", values)
    words = f"words of its errors; {where}" if library else where
    writer.add("server library", library or "unknown", words)

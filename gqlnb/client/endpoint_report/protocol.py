"""How an endpoint answers requests over HTTP: well-formed ones, wrong ones, and optional forms."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gqlnb import background
from gqlnb.client.endpoint_report.list_queries import find_list_queries
from gqlnb.client.endpoint_report.report import NOT_TRIED, AddLine, MeteredClient
from gqlnb.client.subscriptions import SUBPROTOCOLS
from gqlnb.client.websocket_client import NetworkLink, open_network_link
from gqlnb.errors import TransportError, sanitize_text
from gqlnb.http.messages import GRAPHQL_MEDIA_TYPE, JSON_MEDIA_TYPE, Response

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from gqlnb.client.http_transport import HttpTransport

MAX_REQUESTS = 16
QUERY = "{ __typename }"
UNKNOWN_FIELD = "gqlnbUnknownField"
SOCKET_SECONDS = 5.0
# Headers that tell of limits or costs, in any of the spellings that services use.
LIMIT_WORDS = ("ratelimit", "rate-limit", "retry-after", "cost", "complexity")
# A part of an answer that only one library writes, and its name. The first that is found counts.
SIGNS = (
    ("Could not determine what operation to execute", "GraphQL Yoga"),
    ("MER_ERR", "Mercurius"),
    ("GRAPHQL_PARSE_FAILED", "Apollo Server"),
    ("Cannot query field 'gqlnbUnknownField' on type", "graphql-core (Python)"),
    ('Cannot query field \\"gqlnbUnknownField\\" on type', "graphql-js or a port of it"),
    ("Field 'gqlnbUnknownField' doesn't exist on type", "graphql-ruby"),
    ("graphql-dotnet", "GraphQL.NET"),
    ("HC0", "Hot Chocolate"),
    ("Validation error (FieldUndefined", "graphql-java"),
    ("GRAPHQL_VALIDATION_FAILED", "graphql-js or gqlgen"),
)
UNCOMPRESSED = {"", "none", "identity"}  # values of Content-Encoding
HEADER_NAMES = ("server", "x-powered-by", "x-graphql-server")


Read = Callable[[Response, Any], str]  # returns the finding for a response and its JSON
Probe = tuple[str, Any, dict[str, Any], Read]  # subject, JSON body, arguments of `probe`


def report_protocol(client: MeteredClient, schema: GraphQLSchema | None, add: AddLine) -> str:
    """Report how an endpoint answers over HTTP; return the text of its error messages."""
    if client.http is None:
        add("HTTP", NOT_TRIED, "the answers come from this process or from a recording")
        return ""
    texts = []
    for subject, members, options, read in chain(PROBES, iterate_incremental_probes(schema, add)):
        body = b"" if members is None else json.dumps(members).encode()
        try:
            response = client.probe(body, **options)
        except TransportError as error:
            add(subject, "no answer", str(error))
            continue
        texts.append(response.body.decode(errors="replace"))
        answer = load_members(response)
        add(subject, read(response, answer), describe_response(response, answer))
    add("WebSocket", *shake_hands(client, client.http))
    return "\n".join(texts)


def iterate_incremental_probes(schema: GraphQLSchema | None, add: AddLine) -> Iterator[Probe]:
    """Yield a query for each declared directive for answers in parts; report the others."""
    lists = [it for it in find_list_queries(schema) if not it.arguments] if schema else []
    stream = lists[0].write(next(iter(lists[0].leaves), ""), " @stream") if lists else ""
    for name, text in (("@defer", "{ ... @defer { __typename } }"), ("@stream", stream)):
        if schema is not None and schema.get_directive(name[1:]) is None:
            add(name, "not declared", "the schema has no such directive")
        elif schema is None or not text:
            add(name, NOT_TRIED, "no schema, or no list in it that needs no argument, is known")
        else:
            yield name, {"query": text}, IN_PARTS, read_parts


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
    """Return whether the endpoint answered or refused, a request or an array of two."""
    answers = answer if isinstance(answer, list) and len(answer) == 2 else [answer]
    return "answered" if all(map(is_fine, answers)) else f"refused, HTTP {response.status}"


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


def read_persisted(response: Response, _answer: object) -> str:
    """Return whether the endpoint knows Apollo's persisted queries."""
    text = response.body.decode(errors="replace").lower().replace("_", "").replace(" ", "")
    return "by hash" if "persistedquerynotfound" in text else "not offered"


def read_parts(response: Response, answer: object) -> str:
    """Return whether an answer came in parts; every form of them says that more follow."""
    body = response.body.replace(b" ", b"")
    if b'"hasNext":true' in body:
        return f"in parts, {get_type(response)}"
    is_answered = is_fine(answer) or (b'"data":{' in body and b'"errors"' not in body)
    return "in one answer" if is_answered else f"refused, HTTP {response.status}"


def read_offer(media_type: str, response: Response, _answer: object) -> str:
    """Return whether a response has a media type."""
    is_offered = get_type(response) == media_type
    return "offered" if is_offered else f"not offered for a query, HTTP {response.status}"


PLAIN, ARRAY = {"query": QUERY}, [{"query": QUERY}, {"query": QUERY}]
NAMED = {"query": f"query A {QUERY}", "operationName": "B"}
BOOLEAN = {"query": "query ($v: Boolean!) { __typename @include(if: $v) }"}
PERSISTED = {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}}}
EVENTS, MULTIPART = "text/event-stream", "multipart/mixed"
IN_PARTS = {"accept": f"{MULTIPART}, {EVENTS};q=0.9, application/json;q=0.5"}
OF_EVENTS = {"accept": EVENTS, "head_only": True}
OF_MULTIPART = {
    "accept": f'{MULTIPART};subscriptionSpec="1.0", application/json;q=0.5',
    "head_only": True,
}
PROBES: list[Probe] = [  # in the order of the report
    ("GET", None, {"query": f"query={quote(QUERY)}"}, read_acceptance),
    ("media type asked for", PLAIN, {"accept": GRAPHQL_MEDIA_TYPE}, read_media_type),
    ("media type of older clients", PLAIN, {"accept": JSON_MEDIA_TYPE}, read_media_type),
    ("syntax error", {"query": "{"}, {}, read_shape),
    ("invalid document", {"query": f"{{ {UNKNOWN_FIELD} }}"}, {}, read_shape),
    ("unknown operation", NAMED, {}, read_shape),
    ("wrong variable", {**BOOLEAN, "variables": {"v": "text"}}, {}, read_shape),
    ("missing variable", BOOLEAN, {}, read_shape),
    ("arrays of requests", ARRAY, {}, read_acceptance),
    ("persisted queries", PERSISTED, {}, read_persisted),
    ("server-sent events", PLAIN, OF_EVENTS, partial(read_offer, EVENTS)),
    ("multipart", PLAIN, OF_MULTIPART, partial(read_offer, MULTIPART)),
]


def shake_hands(client: MeteredClient, http: HttpTransport) -> tuple[str, str]:
    """Return whether a WebSocket opens, and acknowledges its first message, with the evidence."""

    async def connect() -> tuple[str, str]:
        secrets = await http.credentials.abuild_headers(None)
        link = await open_network_link(http, SOCKET_SECONDS, SUBPROTOCOLS, secrets)
        if not isinstance(link, NetworkLink):
            status = getattr(link, "status", None)
            reason = f"HTTP {status} to the handshake" if status else "the handshake failed"
            return "not offered", reason
        try:
            await link.send('{"type": "connection_init"}')
            async with asyncio.timeout(SOCKET_SECONDS):
                answer = str(await link.receive())
        except TimeoutError:
            answer = "nothing"
        finally:
            await link.close()
        finding = str(link.subprotocol) if "connection_ack" in answer else "not offered"
        return finding, f"connection_init was answered by {answer}"

    client.meter.count()
    return background.run(connect())


def report_headers(client: MeteredClient, texts: str, add: AddLine) -> None:
    """Report what all responses tell: compression, limits, costs, and the server's library."""
    responses = client.meter.responses
    headers = [item for response in responses for item in response.headers.items()]
    encodings = sorted({v for k, v in headers if k == "content-encoding"} - UNCOMPRESSED)
    limits = {k: v for k, v in headers if any(word in k for word in LIMIT_WORDS)}
    values = ", ".join(f"{name}: {value}" for name, value in sorted(limits.items()))
    library = next((name for sign, name in SIGNS if sign in texts), "")
    seen = sorted({f"{k}: {v}" for k, v in headers if k in HEADER_NAMES})
    where = f"{'words of its errors; ' if library else ''}{'; '.join(seen) or 'no header names it'}"
    encoded = f"Content-Encoding of {len(responses)} answers"
    of_lists = "of the answers to queries of lists"
    add("compression", ", ".join(encodings) or "none seen", encoded)
    add("extensions", ", ".join(sorted(client.extensions)) or "none seen", of_lists)
    add("rate limit headers", ", ".join(sorted(limits)) or "none seen", values)
    add("server library", library or "unknown", where)

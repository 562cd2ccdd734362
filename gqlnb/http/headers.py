"""An HTTP request as a plain value, and the headers that a GraphQL server reads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

JSON_MEDIA_TYPE, GRAPHQL_MEDIA_TYPE = "application/json", "application/graphql-response+json"
JSON_CONTENT_TYPE = f"{JSON_MEDIA_TYPE}; charset=utf-8"
GRAPHQL_CONTENT_TYPE = f"{GRAPHQL_MEDIA_TYPE}; charset=utf-8"
# RFC 9110, 7.2: a name or an address, IPv6 in brackets, and an optional port.
_HOST_PATTERN = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:\[\]@/,]+)(?::[0-9]{1,5})?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
# RFC 9110, 12.4.2: a weight has at most three decimals.
_WEIGHT = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
# RFC 9110, 5.6.6: a parameter, with a quoted or a plain value.
_PARAMETER = re.compile(r';\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*+)"|([^;]*))', re.DOTALL)
_ESCAPED_CHARACTER = re.compile(r'\\(["\\])')  # browsers send other backslashes as they are
# Media ranges of an `Accept` header that are read; browsers send ten at most, and 16 KB of commas
# would take some hundredths of a second on the event loop.
MAX_RANGES = 64
_ACCEPT_ENTRY = re.compile(r'((?:[^",]|"(?:[^"\\]|\\.?)*+"?)*+)(?:,|$)', re.DOTALL)
_EXTENDED_CHARSETS = frozenset({"utf-8", "iso-8859-1"})  # RFC 8187, 3.2.1, and RFC 5987 before it


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request.

    Attributes
    ----------
    method
        The method in upper case.
    path
        The path, percent-decoded, without the query string.
    headers
        Header values by lower-case name; values of a repeated header joined by ``", "``.
    body
        The whole body; of a body that is too large, any part longer than the limit.
    query_string
        The part behind the question mark, not decoded.
    client
        The address of the client; None if unknown, as over a Unix socket.
    identity
        The value that the function of ``token=`` returned, or the name of a token; else None.
    """

    method: str
    path: str
    # Not in the repr: a traceback with variables must not show a token.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    query_string: bytes = field(default=b"", repr=False)
    client: str | None = None
    identity: object = field(default=None, repr=False)


def parse_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by lower-case name; repeated ones are joined (RFC 9110, 5.3)."""
    # A repeated `Host` or `Origin` thereby becomes a value that is in no allow-list.
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name = raw_name.decode("latin-1").lower()
        value = raw_value.decode("latin-1").strip(" \t")  # white space is no part (RFC 9110, 5.5)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def split_absolute_target(target: str, headers: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Return path and headers of a request, with the host of a target in absolute form.

    That host replaces the one of the ``Host`` header (RFC 9112, 3.2.2). Targets of other forms are
    returned unchanged.
    """
    scheme, separator, rest = target.partition("://")
    if not separator or scheme.lower() not in _DEFAULT_PORTS:
        return target, headers
    host, slash, path = rest.partition("/")
    return slash + path or "/", headers | {"host": host}


def parse_parameters(text: str) -> tuple[str, dict[str, str]]:
    """Return the value of a header in lower case, and its parameters by lower-case name.

    The first of equal names counts. The extended form of a parameter (RFC 8187), such as
    ``filename*=utf-8''na%C3%AFve``, replaces the plain one.
    """
    # Not by email.message: it takes half a second for 16 KB of semicolons behind a quotation mark,
    # and raises errors of many types for malformed parameters of RFC 2231.
    value = text.partition(";")[0]
    parameters: dict[str, str] = {}
    for name, quoted, plain in _PARAMETER.findall(text, len(value)):
        content = _ESCAPED_CHARACTER.sub(r"\1", quoted) if quoted else plain.strip()
        parameters.setdefault(name.lower(), content)
    for name in [it for it in parameters if it.endswith("*")]:
        charset, _, rest = parameters.pop(name).partition("'")
        if charset.lower() in _EXTENDED_CHARSETS:
            parameters[name[:-1]] = unquote(rest.partition("'")[2], charset)
    return value.strip().lower(), parameters


def parse_host(host: str | None) -> str | None:
    """Return the lower-case name of a ``Host`` header without its port; None if it is invalid."""
    match = _HOST_PATTERN.fullmatch(host or "")
    return match[1].lower() if match else None


def normalize_origin(origin: str) -> str:
    """Return an origin in lower case, without the default port of its scheme."""
    origin = origin.lower()
    return origin.removesuffix(_DEFAULT_PORTS.get(origin.partition("://")[0], ""))


def is_same_origin(origin: str, host: str) -> bool:
    """Return whether an ``Origin`` and a ``Host`` header name the same server."""
    scheme, _, authority = origin.lower().partition("://")
    port = _DEFAULT_PORTS.get(scheme)
    return port is not None and authority.removesuffix(port) == host.lower().removesuffix(port)


def is_json(content_type: str | None) -> bool:
    """Return whether a ``Content-Type`` is JSON in UTF-8."""
    if content_type == "application/json":
        return True
    media, *parameters = (part.strip().lower() for part in (content_type or "").split(";"))
    pairs = (parameter.partition("=") for parameter in parameters)
    charsets = {value.strip('"') for name, _, value in pairs if name == "charset"}
    return media == "application/json" and charsets <= {"utf-8", "utf8"}


def split_accept(accept: str) -> Iterator[tuple[str, float, dict[str, str]]]:
    """Yield the media ranges of an ``Accept`` header with their weights and other parameters.

    Weights are 0 to 1, media ranges and names of parameters are in lower case. Entries with a
    malformed weight are left out, and those behind the first `MAX_RANGES`.
    """
    for entry in islice(_ACCEPT_ENTRY.finditer(accept), MAX_RANGES):
        media, parameters = parse_parameters(entry[1])
        weight = parameters.pop("q", "1")
        if media and _WEIGHT.fullmatch(weight):
            yield media, float(weight), parameters


def parse_accept(accept: str) -> dict[str, float]:
    """Return the weights of the media ranges of an ``Accept`` header."""
    weights: dict[str, float] = {}
    for media, weight, _ in split_accept(accept):
        weights[media] = max(weights.get(media, 0.0), weight)
    return weights


def find_media_quality(weights: Mapping[str, float], media: str) -> float:
    """Return the weight of a media type: that of the most specific range that matches it."""
    for name in (media, f"{media.partition('/')[0]}/*", "*/*"):
        if name in weights:
            return weights[name]
    return 0.0


@lru_cache(maxsize=64)
def negotiate_media_type(accept: str | None) -> str:
    """Return the ``Content-Type`` of a response.

    ``application/graphql-response+json`` if it is preferred, or has the weight of JSON and is
    named; else JSON, also where neither is accepted.

    Notes
    -----
    Source: GraphQL over HTTP, "Accept"; audits 47DE and 80D8 for ``*/*`` and no header.
    """
    weights = parse_accept(accept or "")
    graphql = find_media_quality(weights, GRAPHQL_MEDIA_TYPE)
    json = find_media_quality(weights, JSON_MEDIA_TYPE)
    if graphql > json or (graphql == json > 0 and GRAPHQL_MEDIA_TYPE in weights):
        return GRAPHQL_CONTENT_TYPE
    return JSON_CONTENT_TYPE


@lru_cache(maxsize=64)
def is_response_acceptable(accept: str | None) -> bool:
    """Return whether a client accepts JSON, under one of its two names, or streams.

    Whether the operation is a subscription, or answered in parts, is in the body.
    """
    weights = parse_accept(accept or "*/*")
    return (
        find_media_quality(weights, GRAPHQL_MEDIA_TYPE) > 0
        or find_media_quality(weights, JSON_MEDIA_TYPE) > 0
        or weights.get("text/event-stream", 0.0) > 0
        or weights.get("multipart/mixed", 0.0) > 0
    )


def prefers_html(accept: str | None) -> bool:
    """Return whether an ``Accept`` header is a browser's: HTML with at least the weight of JSON."""
    weights = parse_accept(accept or "")
    html = weights.get("text/html", 0.0)
    return html > 0 and html >= find_media_quality(weights, JSON_MEDIA_TYPE)

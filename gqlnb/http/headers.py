"""An HTTP request as a plain value, and the few headers a GraphQL server reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from gqlnb.http.messages import (
    GRAPHQL_CONTENT_TYPE,
    GRAPHQL_MEDIA_TYPE,
    JSON_CONTENT_TYPE,
    JSON_MEDIA_TYPE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "HttpRequest",
    "find_media_quality",
    "is_json",
    "is_response_acceptable",
    "is_same_origin",
    "negotiate_media_type",
    "normalize_origin",
    "parse_accept",
    "parse_headers",
    "parse_host",
    "prefers_html",
    "split_absolute_target",
]

# RFC 9110, 7.2: a name or an address, IPv6 in brackets, and perhaps a port.
_HOST_PATTERN = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:\[\]@/,]+)(?::[0-9]{1,5})?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request, whatever brought it.

    Attributes
    ----------
    method
        The method in upper case.
    path
        The path, percent-decoded, without the query string.
    headers
        Header values by lower-case name; values of a repeated header joined by ``", "``.
    body
        The whole body; of one that is too large, any part longer than the limit.
    query_string
        What stood behind the question mark, as it came.
    """

    method: str
    path: str
    # Not in the repr: a traceback with variables must not show a token.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    query_string: bytes = field(default=b"", repr=False)


def parse_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by lower-case name; a repeated one is joined, as RFC 9110, 5.3 says.

    A repeated ``Host`` or ``Origin`` thereby becomes a value that no allow-list holds.
    """
    found: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def split_absolute_target(target: str, headers: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Read a target in absolute form, whose host counts instead of the header's (RFC 9112, 3.2.2).

    Returns
    -------
    (str, dict)
        The path and the headers; as they were, if the target has another form.
    """
    scheme, found, rest = target.partition("://")
    if not found or scheme.lower() not in _DEFAULT_PORTS:
        return target, headers
    host, slash, path = rest.partition("/")
    return slash + path or "/", headers | {"host": host}


def parse_host(host: str | None) -> str | None:
    """Return the lower-case name of a ``Host`` header without its port; None if it is not one."""
    match = _HOST_PATTERN.fullmatch(host or "")
    return match[1].lower() if match else None


def normalize_origin(origin: str) -> str:
    """Return an origin in lower case without the port that its scheme has anyway."""
    origin = origin.lower()
    return origin.removesuffix(_DEFAULT_PORTS.get(origin.partition("://")[0], ""))


def is_same_origin(origin: str, host: str) -> bool:
    """Tell whether an ``Origin`` names the very ``Host`` that was asked, over http or https."""
    scheme, _, authority = origin.lower().partition("://")
    port = _DEFAULT_PORTS.get(scheme)
    return port is not None and authority.removesuffix(port) == host.lower().removesuffix(port)


def is_json(content_type: str | None) -> bool:
    """Tell whether a ``Content-Type`` is JSON in UTF-8: any case, other parameters ignored."""
    if content_type == "application/json":
        return True
    media, *parameters = (part.strip().lower() for part in (content_type or "").split(";"))
    given = (parameter.partition("=") for parameter in parameters)
    charsets = {value.strip('"') for name, _, value in given if name == "charset"}
    return media == "application/json" and charsets <= {"utf-8", "utf8"}


# RFC 9110, 12.4.2: at most three decimals; anything else is no weight.
_WEIGHT = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")


def parse_accept(accept: str) -> dict[str, float]:
    """Return the weight, 0 to 1, of each media range of an ``Accept`` header."""
    found: dict[str, float] = {}
    for entry in accept.lower().split(","):
        media, *parameters = (part.strip() for part in entry.split(";"))
        given = (parameter.partition("=") for parameter in parameters)
        weight = next((value.strip() for name, _, value in given if name.strip() == "q"), "1")
        if media and _WEIGHT.fullmatch(weight):  # an entry with a malformed weight says nothing
            found[media] = max(found.get(media, 0.0), float(weight))
    return found


def find_media_quality(weights: Mapping[str, float], media: str) -> float:
    """Return the weight that media ranges give to a media type: the most specific range counts."""
    for name in (media, f"{media.partition('/')[0]}/*", "*/*"):
        if name in weights:
            return weights[name]
    return 0.0


@lru_cache(maxsize=64)
def negotiate_media_type(accept: str | None) -> str:
    """Return the media type to answer in.

    ``application/graphql-response+json`` where it is preferred, or as welcome as JSON and named;
    JSON otherwise, also where neither is welcome: an error nobody asked for beats none.

    Notes
    -----
    Source: GraphQL over HTTP, "Accept"; audits 47DE and 80D8 for ``*/*`` and no header.
    """
    weights = parse_accept(accept or "")
    graphql, plain = (
        find_media_quality(weights, GRAPHQL_MEDIA_TYPE),
        find_media_quality(weights, JSON_MEDIA_TYPE),
    )
    named = GRAPHQL_MEDIA_TYPE in weights
    return (
        GRAPHQL_CONTENT_TYPE
        if graphql > plain or (named and graphql == plain > 0)
        else JSON_CONTENT_TYPE
    )


@lru_cache(maxsize=64)
def is_response_acceptable(accept: str | None) -> bool:
    """Tell whether a client takes JSON, in one of its two names, or names events.

    Without a header it takes anything. Events are answered to what is a subscription, which the
    head does not tell.
    """
    weights = parse_accept(accept or "*/*")
    if (
        find_media_quality(weights, GRAPHQL_MEDIA_TYPE) > 0
        or find_media_quality(weights, JSON_MEDIA_TYPE) > 0
    ):
        return True
    return weights.get("text/event-stream", 0.0) > 0


def prefers_html(accept: str | None) -> bool:
    """Tell whether an ``Accept`` names HTML and likes it at least as much as JSON: a browser."""
    weights = parse_accept(accept or "")
    html = weights.get("text/html", 0.0)
    return html > 0 and html >= find_media_quality(weights, JSON_MEDIA_TYPE)

"""An HTTP request as a plain value, and the few headers a GraphQL server reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from gqlnb.wire.response import GRAPHQL_JSON, JSON

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "HttpRequest",
    "fields",
    "host_name",
    "is_json",
    "negotiate",
    "quality",
    "same_origin",
    "wants_page",
]

# RFC 9110, 12.4.2: at most three decimals; anything else is no weight.
_WEIGHT = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
# RFC 9110, 7.2: a name or an address, IPv6 in brackets, and perhaps a port.
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:\[\]@/,]+)(?::[0-9]{1,5})?", re.IGNORECASE)
_PORTS = {"http": ":80", "https": ":443"}


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
    """

    method: str
    path: str
    # Not in the repr: a traceback with variables must not show a token.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


def fields(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by lower-case name; a repeated one is joined, as RFC 9110, 5.3 says.

    A repeated ``Host`` or ``Origin`` thereby becomes a value that no allow-list holds.
    """
    found: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def host_name(host: str | None) -> str | None:
    """Return the lower-case name of a ``Host`` header without its port; None if it is not one."""
    match = _HOST.fullmatch(host or "")
    return match[1].lower() if match else None


def same_origin(origin: str, host: str) -> bool:
    """Tell whether an ``Origin`` names the very ``Host`` that was asked, over http or https."""
    scheme, _, authority = origin.lower().partition("://")
    port = _PORTS.get(scheme)
    return port is not None and authority.removesuffix(port) == host.lower().removesuffix(port)


def is_json(content_type: str | None) -> bool:
    """Tell whether a ``Content-Type`` is JSON in UTF-8: any case, other parameters ignored."""
    media, *parameters = (part.strip().lower() for part in (content_type or "").split(";"))
    given = (parameter.partition("=") for parameter in parameters)
    charsets = {value.strip('"') for name, _, value in given if name == "charset"}
    return media == "application/json" and charsets <= {"utf-8", "utf8"}


def ranges(accept: str) -> dict[str, float]:
    """Return the weight, 0 to 1, of each media range of an ``Accept`` header."""
    found: dict[str, float] = {}
    for entry in accept.lower().split(","):
        media, *parameters = (part.strip() for part in entry.split(";"))
        given = (parameter.partition("=") for parameter in parameters)
        weight = next((value.strip() for name, _, value in given if name.strip() == "q"), "1")
        if media and _WEIGHT.fullmatch(weight):  # an entry with a malformed weight says nothing
            found[media] = max(found.get(media, 0.0), float(weight))
    return found


def quality(weights: Mapping[str, float], media: str) -> float:
    """Return the weight that media ranges give to a media type: the most specific range counts."""
    for name in (media, f"{media.partition('/')[0]}/*", "*/*"):
        if name in weights:
            return weights[name]
    return 0.0


@lru_cache(maxsize=64)
def negotiate(accept: str | None) -> str:
    """Return the media type to answer in.

    ``application/graphql-response+json`` where it is preferred, or as welcome as JSON and named;
    JSON otherwise, also where neither is welcome: an error nobody asked for beats none.

    Notes
    -----
    Source: GraphQL over HTTP, "Accept"; audits 47DE and 80D8 for ``*/*`` and no header.
    """
    weights = ranges(accept or "")
    graphql = quality(weights, "application/graphql-response+json")
    plain = quality(weights, "application/json")
    named = "application/graphql-response+json" in weights
    return GRAPHQL_JSON if graphql > plain or (named and graphql == plain > 0) else JSON


def wants_page(accept: str | None) -> bool:
    """Tell whether an ``Accept`` names HTML and likes it at least as much as JSON: a browser."""
    weights = ranges(accept or "")
    html = weights.get("text/html", 0.0)
    return html > 0 and html >= quality(weights, "application/json")

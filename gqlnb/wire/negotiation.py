"""What a client wants to read: the ``Accept`` header, weighed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from gqlnb.wire.response import GRAPHQL_JSON, GRAPHQL_TYPE, JSON, JSON_TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["acceptable", "negotiate", "quality", "ranges", "wants_page"]

# RFC 9110, 12.4.2: at most three decimals; anything else is no weight.
_WEIGHT = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")


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
    graphql, plain = quality(weights, GRAPHQL_TYPE), quality(weights, JSON_TYPE)
    named = GRAPHQL_TYPE in weights
    return GRAPHQL_JSON if graphql > plain or (named and graphql == plain > 0) else JSON


@lru_cache(maxsize=64)
def acceptable(accept: str | None) -> bool:
    """Tell whether a client takes JSON, in one of its two names, or names events.

    Without a header it takes anything. Events are answered to what is a subscription, which the
    head does not tell.
    """
    weights = ranges(accept or "*/*")
    if quality(weights, GRAPHQL_TYPE) > 0 or quality(weights, JSON_TYPE) > 0:
        return True
    return weights.get("text/event-stream", 0.0) > 0


def wants_page(accept: str | None) -> bool:
    """Tell whether an ``Accept`` names HTML and likes it at least as much as JSON: a browser."""
    weights = ranges(accept or "")
    html = weights.get("text/html", 0.0)
    return html > 0 and html >= quality(weights, JSON_TYPE)

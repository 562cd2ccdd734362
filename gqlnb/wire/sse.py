"""GraphQL over server-sent events as plain values: who wants them, and how they are written.

The protocol is that of ``graphql-sse`` in its distinct connections mode: each request has a stream
of its own, a ``next`` event for each result and a ``complete`` event at the end. What is wrong
with an operation is a ``next`` event too, since a browser's ``EventSource`` shows the body of no
other status than 200; what is wrong with the request itself is answered as always.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from gqlnb.wire.negotiation import quality, ranges
from gqlnb.wire.response import GRAPHQL_JSON, JSON

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COMPLETE", "EVENTS", "HEADERS", "KEEP_ALIVE", "event", "welcome"]

EVENTS = "text/event-stream"
HEADERS: Mapping[str, str] = {
    "content-type": f"{EVENTS}; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # nginx would hold events back
    "x-content-type-options": "nosniff",
}
# An event without a data field is not dispatched (HTML, "Interpreting an event stream").
COMPLETE = b"event: complete\ndata:\n\n"
KEEP_ALIVE = b":\n\n"  # a comment: proxies close what is silent for long


@lru_cache(maxsize=64)
def welcome(accept: str | None) -> Literal["always", "subscriptions", "never"]:
    """Tell which operations a client wants answered as events.

    Returns
    -------
    str
        ``"always"`` where events are named and preferred to JSON; ``"subscriptions"`` where they
        are named and JSON is as welcome, as some clients do with every request; else ``"never"``.
    """
    weights = ranges(accept or "")
    events = weights.get(EVENTS, 0.0)  # named: no client means events by */*
    if not events:
        return "never"
    json = max(quality(weights, media.partition(";")[0]) for media in (JSON, GRAPHQL_JSON))
    return "always" if events > json else "subscriptions"


def event(body: bytes) -> bytes:
    """Return the ``next`` event of a result; JSON holds no line end."""
    return b"event: next\ndata: " + body + b"\n\n"

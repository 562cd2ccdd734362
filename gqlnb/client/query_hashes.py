"""Persisted queries of one client: the hash of a text is sent, and the text where it is unknown.

The rules are those of Apollo's persisted-query link, and of :mod:`gqlnb.http.persisted_queries` on
the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.http.persisted_queries import NOT_SUPPORTED, UNKNOWN, compute_hash

if TYPE_CHECKING:
    from gqlnb.http.messages import Request, Response

    Refusal = Literal["unknown", "unsupported", "other"]

__all__ = ["QueryHashes"]

MAX_REFUSAL = 1 << 16  # bytes; the answers that refuse a hash are short
# These say nothing about the hash: a token, a rate limit, or a server that is not there.
FOREIGN_STATUSES = frozenset({401, 403, 407, 408, 413, 429, 502, 503, 504})


class QueryHashes:
    """Sends hashes in the place of texts for as long as the endpoint understands them.

    Attributes
    ----------
    is_supported
        Whether the endpoint has persisted queries; None until it has shown it.
    """

    def __init__(self) -> None:
        self.is_supported: bool | None = None

    def exchange(self, request: Request, send: Callable[[Request], Response]) -> Response:
        """Return the response to a request, which is sent once, or again with its text.

        Parameters
        ----------
        request
            The request, with its text.
        send
            Sends a request.
        """
        # Texts with files are read while they are sent, and subscriptions are streams: neither
        # comes here.
        if self.is_supported is False:
            return send(request)
        name = compute_hash(request.query)
        response = send(replace(request, query="", query_hash=name))
        refusal = read_refusal(response)
        if refusal is None or refusal == "unknown":
            self.is_supported = True
        elif refusal == "unsupported":
            self.is_supported = False
            return send(request)
        # An error that says nothing of hashes is taken for one about the missing text, as of
        # servers without persisted queries, until they have been seen to work. Nothing but a query
        # is sent again after a failure within the server, which may have executed it.
        may_repeat = request.is_query or response.status < 500
        if refusal is None or (refusal == "other" and (self.is_supported or not may_repeat)):
            return response
        answer = send(replace(request, query_hash=name))
        if refusal == "other" and read_refusal(answer) is None:
            self.is_supported = False
        return answer


def read_refusal(response: Response) -> Refusal | None:
    """Return why a response to a hash has no data; None for any other response."""
    if response.status in FOREIGN_STATUSES or len(response.body) > MAX_REFUSAL:
        return None
    try:
        members = load_json(response.body)
    except JSONError:
        return "other"
    if not isinstance(members, Mapping) or members.get("data") is not None:
        return None if isinstance(members, Mapping) else "other"
    errors = members.get("errors")
    for error in errors if isinstance(errors, list) else ():
        found = error if isinstance(error, Mapping) else {}
        extensions = found.get("extensions")
        code = extensions.get("code") if isinstance(extensions, Mapping) else None
        if found.get("message") == UNKNOWN[0] or code == UNKNOWN[1]:
            return "unknown"
        if found.get("message") == NOT_SUPPORTED[0] or code == NOT_SUPPORTED[1]:
            return "unsupported"
    return "other"

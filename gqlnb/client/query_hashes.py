"""Persisted queries of one client: hashes are sent, and the texts of unknown hashes.

The rules are those of Apollo's persisted-query link, and of :mod:`gqlnb.http.persisted_queries` on
the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.document.upload import has_file
from gqlnb.http.persisted_queries import NOT_SUPPORTED, UNKNOWN, compute_hash

if TYPE_CHECKING:
    from gqlnb.http.messages import Request, Response

__all__ = ["QueryHashes"]

Refusal: TypeAlias = Literal["unknown", "unsupported", "other"]

REFUSALS: Mapping[Refusal, tuple[str, str]] = {"unknown": UNKNOWN, "unsupported": NOT_SUPPORTED}
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
        # Files are read while they are sent, some of them once.
        has_files = any(map(has_file, (request.variables or {}).values()))
        if self.is_supported is False or has_files:
            return send(request)
        name = compute_hash(request.query)
        response = send(replace(request, query="", query_hash=name))
        if response.status in FOREIGN_STATUSES:
            return response
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
    """Return why a response to a hash has no data; None if the operation was executed."""
    is_success = 200 <= response.status < 300
    if is_success and len(response.body) > MAX_REFUSAL:
        return None
    members = read_members(response.body)
    found = members.get("errors")
    errors = [it for it in found if isinstance(it, Mapping)] if isinstance(found, list) else []
    # Null data: some servers send it with a refusal, too, whose errors have no path. A mutation
    # that was executed must not be taken for a refusal.
    is_null = "data" in members and members["data"] is None
    of_fields = any(it.get("path") for it in errors)
    if members.get("data") is not None or (is_null and is_success) or of_fields:
        return None
    for refusal, (message, code) in REFUSALS.items():
        if any(it.get("message") == message or read_code(it) == code for it in errors):
            return refusal
    return "other"


def read_members(body: bytes) -> Mapping[str, Any]:
    """Return the members of a JSON object; none of any other body."""
    try:
        members = load_json(body[:MAX_REFUSAL])
    except JSONError:
        return {}
    return members if isinstance(members, Mapping) else {}


def read_code(error: Mapping[str, Any]) -> object:
    """Return the code of an error; None if it has none."""
    extensions = error.get("extensions")
    return extensions.get("code") if isinstance(extensions, Mapping) else None

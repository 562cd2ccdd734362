"""The fast path for repeated requests: a head seen before, byte for byte, is not parsed again.

Notebooks, pages and load tests repeat the same requests. Most of the time of such a request is
spent on things known from the last one: uvicorn parses the head, creates a scope and a task, and
every check of the head runs again. So a head that has passed the checks is stored as bytes, with
the length of its body. HTTP is not parsed here: uvicorn's parser has accepted the
same bytes before.

Heads with secrets, or with a request for anything but one JSON response, are not stored.
"""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.document.json_codec import dump_valid_json
from gqlnb.http import incremental
from gqlnb.http.content_encoding import MIN_COMPRESSED_BYTES, compress_body, negotiate_encoding
from gqlnb.http.handler import RESOLVER_EXCEPTIONS, build_internal_error, encode_response
from gqlnb.http.headers import negotiate_media_type
from gqlnb.http.incremental import negotiate_parts
from gqlnb.http.messages import GRAPHQL_CONTENT_TYPE, JSON_CONTENT_TYPE
from gqlnb.http.preconditions import GRAPHQL_HEADERS, JSON_HEADERS, check_preconditions
from gqlnb.result.result import Result
from gqlnb.server.request_executor import build_response
from gqlnb.server.request_log import read_clocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.http.headers import HttpRequest
    from gqlnb.http.response_encoder import MaskedErrors
    from gqlnb.http.server_rules import ServerRules
    from gqlnb.server.request_executor import RequestExecutor
    from gqlnb.server.request_log import RequestLog

__all__ = ["HeadCache", "answer_known_request"]

MAX_HEADS = 256
MAX_INLINE_BYTES = 65_536  # compressed on the event loop, in half a millisecond
MAX_HEAD_BYTES = 2048  # so that the cache has half a megabyte at most
# Headers without secrets, that request neither another protocol, nor a chunked body, nor
# 100-continue.
_CACHEABLE_HEADERS = frozenset(
    {"accept", "accept-encoding", "accept-language", "cache-control", "connection"}
    | {"content-length", "content-type", "dnt", "host", "origin", "pragma", "priority", "referer"}
    | {"sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform", "sec-fetch-dest", "sec-fetch-mode"}
    | {"sec-fetch-site", "sec-gpc", "user-agent"}
)


# Behind uvicorn's parser, a table holds the bytes of request heads that passed every check,
# except heads that could contain a secret. A request with the same bytes needs no second check.
# We do not parse HTTP here. With a token or allowed origins every head is checked.
class KnownHead(NamedTuple):
    """The head of a request that passed all checks.

    Attributes
    ----------
    length
        Length of the body in bytes.
    graphql
        Whether the response has GraphQL's media type.
    encoding
        The content coding of long responses; None for no compression.
    """

    length: int
    graphql: bool
    encoding: str | None


class HeadCache:
    """The known heads under one set of rules.

    Attributes
    ----------
    get
        Returns the KnownHead of the bytes of a head, or None.
    """

    def __init__(self, rules: ServerRules) -> None:
        self._rules = rules
        self._by_bytes: dict[bytes, KnownHead] = {}
        self.get = self._by_bytes.get

    def add_head(self, head: bytes, request: HttpRequest, length: int) -> None:
        """Store a head if it is cacheable.

        Parameters
        ----------
        head
            The bytes, with the empty line at the end.
        request
            The parsed head.
        length
            Length of its body in bytes.
        """
        if len(head) > MAX_HEAD_BYTES or not _is_cacheable(request, self._rules):
            return
        if len(self._by_bytes) >= MAX_HEADS:
            del self._by_bytes[next(iter(self._by_bytes))]
        media_type = negotiate_media_type(request.headers.get("accept"))
        encoding = negotiate_encoding(request.headers.get("accept-encoding"))
        self._by_bytes[head] = KnownHead(length, media_type == GRAPHQL_CONTENT_TYPE, encoding)


def _is_cacheable(request: HttpRequest, rules: ServerRules) -> bool:
    headers = request.headers
    return (
        not rules.requires_token
        and not rules.access.log  # its lines have the address of the client
        and rules.context is None  # which depends on the request
        and not rules.access.origins  # their responses differ by origin
        and _CACHEABLE_HEADERS.issuperset(headers)
        and headers.get("connection", "keep-alive").lower() == "keep-alive"
        and request.method == "POST"
        and incremental.negotiate_events(headers.get("accept")) == "never"
        and negotiate_parts(headers.get("accept")) is None
        and check_preconditions(request, rules) is None
    )


def answer_known_request(
    body: bytes,
    head: KnownHead,
    executor: RequestExecutor,
    rules: ServerRules,
    request_log: RequestLog,
) -> tuple[int, bytes] | None:
    """Execute a request on the event loop if it has proven fast; else return None.

    Returns
    -------
    (int, bytes)
        The status, and the bytes of the response behind the status line.
    """
    known = executor.scheduler.find_known(body)
    if known is None or not known.speed or known.pending_runs:
        return None
    began = read_clocks()
    name = known.document.name
    masked: MaskedErrors = []
    try:
        # Each request runs in a context of its own.
        result = copy_context().run(executor.run_inline, known, executor.create_budget())
        if not isinstance(result, Result):
            # The executor, which answers this request now, awaits it.
            known.pending_runs.append(result)
            return None
        encoded = _encode_plain_result(result) if known.is_json_safe else None
        if encoded is not None:
            lines = _HEADER_LINES[head.graphql]
            if len(encoded) >= MIN_COMPRESSED_BYTES:
                lines = _VARY_LINE + lines
                # A longer one is not compressed: no other thread is involved here.
                if head.encoding is not None and len(encoded) <= MAX_INLINE_BYTES:
                    encoded = compress_body(encoded, head.encoding)
                    lines = b"content-encoding: %b\r\n%b" % (head.encoding.encode(), lines)
            request_log.add_entry(began, name, len(body), len(encoded))
            return 200, b"%b%d\r\n\r\n%b" % (lines, len(encoded), encoded)
        media_type = GRAPHQL_CONTENT_TYPE if head.graphql else JSON_CONTENT_TYPE
        response = encode_response(build_response(result), media_type, rules, masked)
    except RESOLVER_EXCEPTIONS as error:
        response = build_internal_error(error, name, masked)
    request_log.add_request(began, response, len(body))
    lines = _encode_header_lines(response.headers)
    return response.status, b"%b%d\r\n\r\n%b" % (lines, len(response.body), response.body)


def _encode_plain_result(result: Result) -> bytes | None:
    """Return a result as JSON if it consists of data."""
    if result.errors or result.extensions:
        return None
    try:
        return dump_valid_json({"data": result.data})
    except UnicodeEncodeError:  # a lone surrogate: encode_response makes an error of it
        return None


def _encode_header_lines(headers: Mapping[str, str]) -> bytes:
    """Return header lines, and the name of ``content-length`` without its value."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{lines}content-length: ".encode("latin-1")


_VARY_LINE = b"vary: Accept-Encoding\r\n"
_HEADER_LINES = {
    False: _encode_header_lines(JSON_HEADERS),
    True: _encode_header_lines(GRAPHQL_HEADERS),
}

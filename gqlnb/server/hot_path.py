"""What was asked before, byte for byte, is answered without being read again.

Notebooks, pages and load tests ask the same thing in the same words. Most of what a request costs
is then spent to find out what is known: uvicorn parses the head, makes a scope and a task, and the
steps of the protocol judge what they judged before. So a head that has passed them is remembered
as the bytes it came in, with the length of the body it announced. Nothing of HTTP is parsed here:
uvicorn's parser has read the very same bytes before, and the protocol let them pass.

A head that may hold a secret is not remembered, nor one that asks for more than an answer.
"""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING, NamedTuple

from gqlnb.document.json_codec import dump_valid_json
from gqlnb.engine.leaf_types import has_only_builtin_leaves
from gqlnb.http import sse
from gqlnb.http.handler import RESOLVER_EXCEPTIONS, build_internal_error, encode_response
from gqlnb.http.headers import negotiate_media_type
from gqlnb.http.messages import GRAPHQL_CONTENT_TYPE, JSON_CONTENT_TYPE
from gqlnb.http.preconditions import GRAPHQL_HEADERS, JSON_HEADERS, check_preconditions
from gqlnb.result.result import Result
from gqlnb.server.request_executor import build_response as response_of
from gqlnb.server.request_log import read_clocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.http.headers import HttpRequest
    from gqlnb.http.response_encoder import MaskedErrors
    from gqlnb.http.server_rules import ServerRules
    from gqlnb.server.request_executor import RequestExecutor
    from gqlnb.server.request_log import RequestLog

__all__ = ["HeadCache", "KnownHead", "answer_known_request"]

MAX_HEADS = 256  # remembered
MAX_HEAD_BYTES = 2048  # bytes of one that is: half a megabyte in all
# The only headers that a head may have to be remembered: none of them is a secret, or asks for
# another protocol, a body in pieces, or an answer before the body.
CACHEABLE_HEADERS = frozenset(
    {"accept", "accept-encoding", "accept-language", "cache-control", "connection"}
    | {"content-length", "content-type", "dnt", "host", "origin", "pragma", "priority", "referer"}
    | {"sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform", "sec-fetch-dest", "sec-fetch-mode"}
    | {"sec-fetch-site", "sec-gpc", "user-agent"}
)


class KnownHead(NamedTuple):
    """The head of a request that passed every step.

    Attributes
    ----------
    length
        Bytes of the body that follows.
    graphql
        Whether the answer is given in GraphQL's media type.
    """

    length: int
    graphql: bool


class HeadCache:
    """The heads that are remembered, for one set of rules."""

    def __init__(self, rules: ServerRules) -> None:
        self._rules = rules
        self._by_bytes: dict[bytes, KnownHead] = {}
        self.get = self._by_bytes.get

    def add_head(self, head: bytes, request: HttpRequest, length: int) -> None:
        """Remember a head, if it is a usual one and passes every step.

        Parameters
        ----------
        head
            The bytes, with the empty line at the end.
        request
            What was parsed from them.
        length
            Bytes of the body that came with it.
        """
        if len(head) > MAX_HEAD_BYTES or not is_cacheable_head(request, self._rules):
            return
        if len(self._by_bytes) >= MAX_HEADS:
            del self._by_bytes[next(iter(self._by_bytes))]
        media = negotiate_media_type(request.headers.get("accept"))
        self._by_bytes[head] = KnownHead(length, media == GRAPHQL_CONTENT_TYPE)


def is_cacheable_head(request: HttpRequest, rules: ServerRules) -> bool:
    """Tell whether a head may be remembered: it says what many say, and passes every step."""
    headers = request.headers
    if rules.token is not None or rules.access.origins or not CACHEABLE_HEADERS.issuperset(headers):
        return False
    if headers.get("connection", "keep-alive").lower() != "keep-alive":
        return False
    if request.method != "POST" or sse.negotiate_events(headers.get("accept")) != "never":
        return False
    return check_preconditions(request, rules) is None


def answer_known_request(
    body: bytes,
    head: KnownHead,
    execution: RequestExecutor,
    rules: ServerRules,
    journal: RequestLog,
) -> tuple[int, bytes] | None:
    """Execute a request that has proven fast; None for any other.

    Returns
    -------
    (int, bytes)
        The status, and the answer from the line behind the status on.
    """
    known = execution.scheduler.find_known(body)
    if known is None or not known.speed or known.pending_runs:
        return None
    began = read_clocks()
    faults: MaskedErrors = []
    try:
        # In a context of its own, as every other request.
        done = copy_context().run(execution.run_inline, known, execution.create_budget())
        if not isinstance(done, Result):
            known.pending_runs.append(
                done
            )  # whoever asks next, which is this very request, awaits it
            return None
        made = encode_plain_result(done)
        if made is not None:
            journal.add_success(began, known.document.name, len(body), len(made))
            return 200, b"%b%d\r\n\r\n%b" % (HEADER_BLOCKS[head.graphql], len(made), made)
        media = GRAPHQL_CONTENT_TYPE if head.graphql else JSON_CONTENT_TYPE
        response = encode_response(response_of(done), media, rules, faults)
    except RESOLVER_EXCEPTIONS as error:
        response = build_internal_error(error, known.document.name, faults)
    journal.add_request(began, response, len(body))
    start = encode_header_lines(response.headers)
    return response.status, b"%b%d\r\n\r\n%b" % (start, len(response.body), response.body)


def encode_plain_result(result: Result) -> bytes | None:
    """Return the bytes of a result that holds nothing but data, and data that JSON can hold."""
    document = result.document
    if result.errors or result.extensions or not (document and has_only_builtin_leaves(document)):
        return None
    try:
        return dump_valid_json({"data": result.data})
    except UnicodeEncodeError:  # a lone surrogate, which has its place in an error
        return None


def encode_header_lines(headers: Mapping[str, str]) -> bytes:
    """Return headers as they go over the wire, and the name of the one that is still to come."""
    text = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{text}content-length: ".encode("latin-1")


HEADER_BLOCKS = {
    False: encode_header_lines(JSON_HEADERS),
    True: encode_header_lines(GRAPHQL_HEADERS),
}

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

from gqlnb.engine.leaves import only_builtin_leaves
from gqlnb.model.result import Result
from gqlnb.server.execution import response as response_of
from gqlnb.server.journal import clocks
from gqlnb.wire import sse
from gqlnb.wire.json import encode
from gqlnb.wire.negotiation import negotiate
from gqlnb.wire.protocol import FAULTS, failed, packed
from gqlnb.wire.response import GRAPHQL_JSON, JSON
from gqlnb.wire.screening import GRAPHQL_HEADERS, HEADERS, screen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.server.execution import Execution
    from gqlnb.server.journal import Journal
    from gqlnb.wire.http import HttpRequest
    from gqlnb.wire.masking import Faults
    from gqlnb.wire.rules import Rules

__all__ = ["Head", "Heads", "answered"]

HEADS = 256  # remembered
LONGEST = 2048  # bytes of one that is: half a megabyte in all
# The only headers that a head may have to be remembered: none of them is a secret, or asks for
# another protocol, a body in pieces, or an answer before the body.
USUAL = frozenset(
    {"accept", "accept-encoding", "accept-language", "cache-control", "connection"}
    | {"content-length", "content-type", "dnt", "host", "origin", "pragma", "priority", "referer"}
    | {"sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform", "sec-fetch-dest", "sec-fetch-mode"}
    | {"sec-fetch-site", "sec-gpc", "user-agent"}
)


class Head(NamedTuple):
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


class Heads:
    """The heads that are remembered, for one set of rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._heads: dict[bytes, Head] = {}
        self.get = self._heads.get

    def remember(self, head: bytes, request: HttpRequest, length: int) -> None:
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
        if len(head) > LONGEST or not usual(request, self._rules):
            return
        if len(self._heads) >= HEADS:
            del self._heads[next(iter(self._heads))]
        media = negotiate(request.headers.get("accept"))
        self._heads[head] = Head(length, media == GRAPHQL_JSON)


def usual(request: HttpRequest, rules: Rules) -> bool:
    """Tell whether a head may be remembered: it says what many say, and passes every step."""
    headers = request.headers
    if rules.token is not None or rules.access.origins or not USUAL.issuperset(headers):
        return False
    if headers.get("connection", "keep-alive").lower() != "keep-alive":
        return False
    if request.method != "POST" or sse.welcome(headers.get("accept")) != "never":
        return False
    return screen(request, rules) is None


def answered(
    body: bytes, head: Head, execution: Execution, rules: Rules, journal: Journal
) -> tuple[int, bytes] | None:
    """Execute a request that has proven fast; None for any other.

    Returns
    -------
    (int, bytes)
        The status, and the answer from the line behind the status on.
    """
    known = execution.placement.known(body)
    if known is None or not known.proof or known.begun:
        return None
    began = clocks()
    faults: Faults = []
    try:
        # In a context of its own, as every other request.
        done = copy_context().run(execution.at_once, known, execution.budget())
        if not isinstance(done, Result):
            known.begun.append(done)  # whoever asks next, which is this very request, awaits it
            return None
        made = plainly(done)
        if made is not None:
            journal.note(began, known.document.name, len(body), len(made))
            return 200, b"%b%d\r\n\r\n%b" % (LINES[head.graphql], len(made), made)
        media = GRAPHQL_JSON if head.graphql else JSON
        response = packed(response_of(done), media, rules, faults)
    except FAULTS as error:
        response = failed(error, known.document.name, faults)
    journal.add(began, response, len(body))
    start = lines(response.headers)
    return response.status, b"%b%d\r\n\r\n%b" % (start, len(response.body), response.body)


def plainly(result: Result) -> bytes | None:
    """Return the bytes of a result that holds nothing but data, and data that JSON can hold."""
    document = result.document
    if result.errors or result.extensions or not (document and only_builtin_leaves(document)):
        return None
    try:
        return encode({"data": result.data})
    except UnicodeEncodeError:  # a lone surrogate, which has its place in an error
        return None


def lines(headers: Mapping[str, str]) -> bytes:
    """Return headers as they go over the wire, and the name of the one that is still to come."""
    text = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{text}content-length: ".encode("latin-1")


LINES = {False: lines(HEADERS), True: lines(GRAPHQL_HEADERS)}

"""GraphQL over HTTP as rules: a request in, a response out, no socket and no clock.

The way of a request::

    screen (the head alone)  > size > members > execute > write

:mod:`gqlnb.wire.screening` has the steps of the head, so that a server refuses before it reads a
body; :mod:`gqlnb.wire.request` reads members, :mod:`gqlnb.wire.masking` decides what is told of
errors, and :mod:`gqlnb.wire.writing` makes the bytes. The published audits are the measure (npm
``graphql-http``, 61 of them): where they differ from the newest draft, a client of plain JSON gets
200 with `errors` and no `data`. ``Access(profile="draft")`` follows the draft;
:data:`gqlnb.wire.rules.STATUSES` has what differs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gqlnb.wire.http import HttpRequest
from gqlnb.wire.masking import masked
from gqlnb.wire.negotiation import negotiate
from gqlnb.wire.request import BadRequestError, Request, asked, decode
from gqlnb.wire.response import GRAPHQL_JSON, Response
from gqlnb.wire.rules import Rules
from gqlnb.wire.screening import (
    GRAPHQL_HEADERS,
    HEADERS,
    refusal,
    screen,
    shared,
    too_large,
)
from gqlnb.wire.writing import written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.wire.masking import Faults

__all__ = ["FAULTS", "Execute", "answer", "failed", "packed", "respond"]

Execute = Callable[[Request], Awaitable[Response]]

ONLY_QUERIES = "Only a query may be asked by GET. Send mutations and subscriptions by POST."
FAULTS = (Exception, SystemExit, KeyboardInterrupt)  # exit() in a resolver ends no server
UNCACHED = {"cache-control": "no-store"}  # what a GET answers is no document


async def answer(request: HttpRequest, execute: Execute, *, rules: Rules | None = None) -> Response:
    """Answer one HTTP request.

    Parameters
    ----------
    request
        The whole request.
    execute
        Runs one GraphQL request: ``Response.members``, and ``Response.causes`` in the order of
        its errors. A request error is an answer without `data`.
    rules
        What is let through; by default, loopback without a token.

    Returns
    -------
    Response
        Status, headers and bytes. Whatever the request holds, nothing is raised; a fault of
        `execute` is 500, named by an id under which the log has it.
    """
    rules = rules or Rules()
    return screen(request, rules) or await respond(request, execute, rules)


async def respond(request: HttpRequest, execute: Execute, rules: Rules) -> Response:
    """Answer a request whose head has passed :func:`gqlnb.wire.screening.screen`."""
    return shared(await executed(request, execute, rules), request, rules)


async def executed(request: HttpRequest, execute: Execute, rules: Rules) -> Response:
    """Read the members of a request, execute it, and write down what came of it."""
    most = rules.limits.body
    if most is not None and len(request.body) > most:
        return too_large(rules)
    safe = request.method == "GET"
    try:
        wanted = asked(request.query_string) if safe else decode(request.body)
    except BadRequestError as error:
        return refusal(rules.statuses.malformed if error.is_json else 400, str(error))
    faults: Faults = []
    try:
        done = await execute(wanted)
        if done.status == 405:
            return refusal(405, ONLY_QUERIES, {"allow": "POST"})
        made = packed(done, negotiate(request.headers.get("accept")), rules, faults)
    except FAULTS as error:
        return failed(error, wanted.operation_name, faults)
    return replace(made, headers={**made.headers, **UNCACHED}) if safe else made


def failed(error: BaseException, operation: str | None, faults: Faults) -> Response:
    """Return the answer to a request at which the server itself failed."""
    refused = refusal(500, masked(error, "the request", faults))
    return replace(refused, operation=operation, faults=tuple(faults))


def packed(done: Response, media: str, rules: Rules, faults: Faults) -> Response:
    """Return what an engine answered as status, headers and bytes."""
    body = written(done, rules.limits, faults)
    graphql = media == GRAPHQL_JSON
    return Response(
        status_of(done, rules, graphql=graphql),
        GRAPHQL_HEADERS if graphql else HEADERS,
        body,
        operation=done.operation,
        faults=tuple(faults),
    )


def status_of(done: Response, rules: Rules, *, graphql: bool) -> int:
    """Return the status of what an engine answered, to who takes GraphQL's media type or not."""
    members: Mapping[str, object] = done.members or {}
    if "errors" not in members:
        return 200
    statuses = rules.statuses
    if "data" in members:
        return statuses.partial if graphql else 200
    if statuses.legacy:
        return 400 if graphql else 200
    return done.status if done.status >= 400 else 422

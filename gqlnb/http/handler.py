"""GraphQL over HTTP as rules: a request in, a response out, no socket and no clock.

The way of a request::

    screen (the head alone)  > size > members > execute > write

:mod:`gqlnb.http.preconditions` has the steps of the head, so that a server refuses before it reads a
body; :mod:`gqlnb.http.messages` reads members, :mod:`gqlnb.http.response_encoder` decides what is told of
errors, and :mod:`gqlnb.http.response_encoder` makes the bytes. The published audits are the measure (npm
``graphql-http``, 61 of them): where they differ from the newest draft, a client of plain JSON gets
200 with `errors` and no `data`. ``Access(profile="draft")`` follows the draft;
:data:`gqlnb.http.server_rules.STATUS_PROFILES` has what differs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gqlnb.http.headers import HttpRequest, negotiate_media_type
from gqlnb.http.messages import (
    GRAPHQL_CONTENT_TYPE,
    BadRequestError,
    Request,
    Response,
    parse_query_string,
    parse_request_body,
)
from gqlnb.http.preconditions import (
    GRAPHQL_HEADERS,
    JSON_HEADERS,
    add_cors_headers,
    build_error_response,
    build_too_large_error,
    check_preconditions,
)
from gqlnb.http.response_encoder import encode_members, mask_exception
from gqlnb.http.server_rules import ServerRules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.http.response_encoder import MaskedErrors

__all__ = [
    "RESOLVER_EXCEPTIONS",
    "ExecuteRequest",
    "build_internal_error",
    "encode_response",
    "handle_checked_request",
    "handle_request",
]

ExecuteRequest = Callable[[Request], Awaitable[Response]]

ONLY_QUERIES_MESSAGE = "Only a query may be asked by GET. Send mutations and subscriptions by POST."
RESOLVER_EXCEPTIONS = (
    Exception,
    SystemExit,
    KeyboardInterrupt,
)  # exit() in a resolver ends no server
NO_STORE_HEADERS = {"cache-control": "no-store"}  # what a GET answers is no document


async def handle_request(
    request: HttpRequest, execute: ExecuteRequest, *, rules: ServerRules | None = None
) -> Response:
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
    rules = rules or ServerRules()
    return check_preconditions(request, rules) or await handle_checked_request(
        request, execute, rules
    )


async def handle_checked_request(
    request: HttpRequest, execute: ExecuteRequest, rules: ServerRules
) -> Response:
    """Answer a request whose head has passed :func:`gqlnb.http.preconditions.check_preconditions`."""
    return add_cors_headers(await execute_request(request, execute, rules), request, rules)


async def execute_request(
    request: HttpRequest, execute: ExecuteRequest, rules: ServerRules
) -> Response:
    """Read the members of a request, execute it, and write down what came of it."""
    most = rules.limits.body
    if most is not None and len(request.body) > most:
        return build_too_large_error(rules)
    safe = request.method == "GET"
    try:
        wanted = (
            parse_query_string(request.query_string) if safe else parse_request_body(request.body)
        )
    except BadRequestError as error:
        return build_error_response(rules.statuses.malformed if error.is_json else 400, str(error))
    faults: MaskedErrors = []
    try:
        done = await execute(wanted)
        if done.status == 405:
            return build_error_response(405, ONLY_QUERIES_MESSAGE, {"allow": "POST"})
        made = encode_response(
            done, negotiate_media_type(request.headers.get("accept")), rules, faults
        )
    except RESOLVER_EXCEPTIONS as error:
        return build_internal_error(error, wanted.operation_name, faults)
    return replace(made, headers={**made.headers, **NO_STORE_HEADERS}) if safe else made


def build_internal_error(
    error: BaseException, operation: str | None, faults: MaskedErrors
) -> Response:
    """Return the answer to a request at which the server itself failed."""
    refused = build_error_response(500, mask_exception(error, "the request", faults))
    return replace(refused, operation=operation, masked_errors=tuple(faults))


def encode_response(
    done: Response, media: str, rules: ServerRules, faults: MaskedErrors
) -> Response:
    """Return what an engine answered as status, headers and bytes."""
    body = encode_members(done, rules.limits, faults)
    graphql = media == GRAPHQL_CONTENT_TYPE
    return Response(
        choose_status(done, rules, graphql=graphql),
        GRAPHQL_HEADERS if graphql else JSON_HEADERS,
        body,
        operation=done.operation,
        masked_errors=tuple(faults),
    )


def choose_status(done: Response, rules: ServerRules, *, graphql: bool) -> int:
    """Return the status of what an engine answered, to who takes GraphQL's media type or not."""
    members: Mapping[str, object] = done.members or {}
    if "errors" not in members:
        return 200
    statuses = rules.statuses
    if "data" in members:
        return statuses.partial if graphql else 200
    if statuses.uses_legacy_errors:
        return 400 if graphql else 200
    return done.status if done.status >= 400 else 422

"""GraphQL over HTTP: one request in, one response out, without I/O.

The steps are: check the head (:mod:`gqlnb.http.preconditions`), check the size of the body, parse
it (:mod:`gqlnb.http.messages`), execute, encode (:mod:`gqlnb.http.response_encoder`).

The statuses are those of the published audits (npm ``graphql-http``, 61 of them): where they differ
from the newest draft, a client of plain JSON gets 200 with `errors` and no `data`.
``Access(profile="draft")`` follows the draft; :data:`gqlnb.http.server_rules.STATUS_PROFILES` has
the differences.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.http.messages import (
    GRAPHQL_CONTENT_TYPE,
    BadRequestError,
    HttpRequest,
    Request,
    Response,
    build_request,
    negotiate_media_type,
    parse_query_string,
    parse_request_body,
)
from gqlnb.http.multipart_requests import find_boundary, parse_upload_body
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
    from gqlnb.http.response_encoder import MaskedErrors

ExecuteRequest = Callable[[Request], Awaitable[Response]]
RETRY_AFTER = "5"  # seconds, of a 503
# exit() or Ctrl-C inside a resolver must not end the server.
RESOLVER_EXCEPTIONS = (Exception, SystemExit, KeyboardInterrupt)


async def handle_request(
    request: HttpRequest, execute: ExecuteRequest, *, rules: ServerRules | None = None
) -> Response:
    """Answer one HTTP request.

    Parameters
    ----------
    request
        The whole request.
    execute
        Runs one GraphQL request. Its Response has `members`, and `causes` in the order of the
        errors; a request error has no `data`.
    rules
        The rules of the server; by default, loopback without a token.

    Returns
    -------
    Response
        Status, headers and bytes. Nothing is raised: an exception of `execute` becomes status 500
        with an id, under which it is logged.
    """
    rules = rules or ServerRules()
    return check_preconditions(request, rules) or await handle_checked_request(
        request, execute, rules
    )


async def handle_checked_request(
    request: HttpRequest, execute: ExecuteRequest, rules: ServerRules
) -> Response:
    """Answer a request after :func:`~gqlnb.http.preconditions.check_preconditions`."""
    return add_cors_headers(await _execute(request, execute, rules), request, rules)


async def _execute(request: HttpRequest, execute: ExecuteRequest, rules: ServerRules) -> Response:
    # Our own listener stops at the limit; other ASGI servers may deliver any body.
    most = rules.limits.body
    if most is not None and len(request.body) > most:
        return build_too_large_error(rules)
    by_get = request.method == "GET"
    try:
        parsed = parse_query_string(request.query_string) if by_get else _parse_post(request, rules)
    except BadRequestError as error:
        status = rules.statuses.malformed if error.is_json else 400
        media_type = negotiate_media_type(request.headers.get("accept"))
        return build_error_response(status, str(error), {"content-type": media_type})
    if isinstance(parsed, list):
        batch = [attach_http_request(it, request, rules) for it in parsed]
        return await _execute_batch(batch, execute, rules)
    parsed = attach_http_request(parsed, request, rules)
    response = await _execute_single(parsed, request, execute, rules)
    if by_get:  # caches may otherwise store the response to a GET
        return replace(response, headers={**response.headers, "cache-control": "no-store"})
    return response


async def _execute_single(
    parsed: Request, request: HttpRequest, execute: ExecuteRequest, rules: ServerRules
) -> Response:
    masked: MaskedErrors = []
    try:
        done = await execute(parsed)
        if done.status in {405, 503}:
            return _build_refusal(done)
        media_type = negotiate_media_type(request.headers.get("accept"))
        return encode_response(done, media_type, rules, masked)
    except RESOLVER_EXCEPTIONS as error:
        return build_internal_error(error, parsed.operation_name, masked)


def attach_http_request(parsed: Request, request: HttpRequest, rules: ServerRules) -> Request:
    """Return a request with the HTTP request, where the context of resolvers is made from it."""
    return replace(parsed, http=request) if rules.context is not None else parsed


def _parse_post(request: HttpRequest, rules: ServerRules) -> Request | list[Request]:
    """Parse the body of a POST: a request, or a batch of requests.

    Raises
    ------
    BadRequestError
        If it is neither, or not enabled.
    """
    body, access = request.body, rules.access
    boundary = find_boundary(request.headers.get("content-type")) if access.uploads else None
    if boundary is not None:
        members = parse_upload_body(body, boundary)
    elif access.batch is None or not body.lstrip(b" \t\r\n").startswith(b"["):
        return parse_request_body(body)
    else:
        try:
            members = load_json(body)
        except JSONError as error:
            msg = f"The body is not JSON: {error}"
            raise BadRequestError(msg) from None
    if access.batch is None or not isinstance(members, list):
        return build_request(members)
    if not 0 < len(members) <= access.batch:
        msg = (
            f"A batch of {len(members):,} requests is not accepted: at least one and at most "
            f"{access.batch:,}. Send several batches, or have whoever serves this raise the "
            f"limit: serve(schema, access=Access(batch={max(len(members), 1)}))."
        )
        raise BadRequestError(msg, is_json=True)
    return [build_request(it) for it in members]


async def _execute_batch(
    batch: list[Request], execute: ExecuteRequest, rules: ServerRules
) -> Response:
    """Execute the requests of a batch, and return their responses as an array, with status 200.

    They run one after the other, so that a batch holds one worker thread at a time.
    """
    masked: MaskedErrors = []
    bodies = []
    for request in batch:
        try:
            bodies.append(encode_members(await execute(request), rules.limits, masked))
        except RESOLVER_EXCEPTIONS as error:
            bodies.append(build_internal_error(error, request.operation_name, masked).body)
    body = b"[" + b",".join(bodies) + b"]"
    return Response(200, JSON_HEADERS, body, masked_errors=tuple(masked))


def _build_refusal(done: Response) -> Response:
    """Return the response to an operation that was not executed: 405, or 503 to send it again."""
    if done.status == 405:
        message = "Only queries are allowed by GET. Send mutations and subscriptions by POST."
        return build_error_response(405, message, {"allow": "POST"})
    message = (done.members or {})["errors"][0]["message"]
    response = build_error_response(503, message, {"retry-after": RETRY_AFTER})
    return replace(response, operation=done.operation)


def build_internal_error(
    error: BaseException, operation: str | None, masked: MaskedErrors
) -> Response:
    """Return the response to a request at which the server itself failed."""
    response = build_error_response(500, mask_exception(error, "the request", masked))
    return replace(response, operation=operation, masked_errors=tuple(masked))


def encode_response(
    done: Response, media_type: str, rules: ServerRules, masked: MaskedErrors
) -> Response:
    """Return the response of an engine as status, headers and bytes."""
    members, statuses = done.members or {}, rules.statuses
    graphql = media_type == GRAPHQL_CONTENT_TYPE
    if "errors" not in members:
        status = 200
    elif "data" in members:
        status = statuses.partial if graphql else 200
    elif statuses.uses_legacy_errors:
        status = 400 if graphql else 200
    else:
        status = done.status if done.status >= 400 else 422
    body = encode_members(done, rules.limits, masked)
    return Response(
        status,
        GRAPHQL_HEADERS if graphql else JSON_HEADERS,
        body,
        operation=done.operation,
        masked_errors=tuple(masked),
    )

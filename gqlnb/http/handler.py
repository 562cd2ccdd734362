"""GraphQL over HTTP: one request in, one response out, without I/O.

The steps are: check the head (:mod:`gqlnb.http.preconditions`), check the size of the body, parse
it (:mod:`gqlnb.http.messages`), execute, and encode: errors are masked and limited, and values
without a JSON form replaced.

The statuses are those of the published audits (npm ``graphql-http``, 61 of them): where they differ
from the newest draft, a client of plain JSON gets 200 with `errors` and no `data`.
``Access(profile="draft")`` follows the draft; :data:`gqlnb.http.server_rules.STATUS_PROFILES` has
the differences.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import islice
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError

from gqlnb.document.json_codec import JSONError, dump_json, dump_valid_json
from gqlnb.http.messages import (
    GRAPHQL_CONTENT_TYPE,
    BadRequestError,
    HttpRequest,
    Request,
    Response,
    build_request,
    load_body,
    negotiate_media_type,
    parse_query_string,
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
from gqlnb.http.server_rules import ServerRules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gqlnb.limits import Limits


MaskedErrors = list[tuple[str, BaseException]]

_NULL_MESSAGE = "Cannot return null for non-nullable field "
# graphql-core puts a suggestion at the end of a message, as a question.
_SUGGESTION = re.compile(r"\s*Did you mean .*\?\Z", re.DOTALL)
# graphql-core's messages about values that do not fit their type: they show the value.
_REJECTED_VALUE = re.compile(r"(?:Int|Float|String|Boolean|ID|Enum '\w+') cannot represent ")
_ENTRY_LISTS = ("incremental", "completed")  # of a response in parts
_ENCODING_ERRORS = (JSONError, TypeError, ValueError)  # msgspec and UTF-8 raise the last two
_LOG = logging.getLogger("gqlnb")
_LOG.addHandler(logging.NullHandler())  # else logging prints errors into the notebook's cell


def mask_errors(
    errors: Sequence[Mapping[str, object]],
    causes: Sequence[BaseException | None],
    limits: Limits,
    masked: MaskedErrors,
) -> list[Mapping[str, object]]:
    """Return the first errors, with unexpected exceptions replaced by an id.

    Parameters
    ----------
    errors, causes
        The errors and the exceptions behind them; there may be fewer exceptions.
    limits
        How many errors are returned; the others are neither logged nor kept.
    masked
        List to which the masked exceptions are added, with their ids.
    """
    # A GraphQLError was raised for the client and keeps its message and extensions. The message of
    # any other exception may contain a path, a query or a secret.
    kept = list(errors[: limits.errors])
    for index, cause in enumerate(causes[: len(kept)]):
        if cause is not None and not _is_public(cause):
            # Place and path are the client's own text.
            error = kept[index]
            place = {name: error[name] for name in ("locations", "path") if name in error}
            message = mask_exception(cause, _join_path(error.get("path")), masked)
            kept[index] = {"message": message, **place}
    return kept


def _is_public(cause: BaseException) -> bool:
    """Return whether an exception's message was written for clients."""
    if isinstance(cause, GraphQLError):
        if cause.original_error is None:
            return not _REJECTED_VALUE.match(cause.message)
        return _is_public(cause.original_error)
    return type(cause) is TypeError and str(cause).startswith(_NULL_MESSAGE)


def mask_exception(cause: BaseException, place: str, masked: MaskedErrors) -> str:
    """Log an exception under a new id, and return a message with that id."""
    # Eight digits: easy to copy, and distinct among the 100 exceptions that a server keeps.
    error_id = token_hex(4)
    masked.append((error_id, cause))
    _LOG.error("Internal error %s in %s", error_id, place, exc_info=cause)
    return (
        f"Internal error {error_id}. On the server, the exception is available as "
        f"server.error('{error_id}'), or under this id in the log 'gqlnb'."
    )


def _join_path(path: object) -> str:
    return ".".join(map(str, path)) if isinstance(path, list) else "the request"


def limit_errors(
    errors: Sequence[Mapping[str, object]], total: int, limits: Limits
) -> list[Mapping[str, object]]:
    """Return errors with limited messages, and a note of how many are left out.

    Parameters
    ----------
    errors
        At least the errors that are returned.
    total
        Number of all errors.
    limits
        How many are returned, and the length of their messages.
    """
    kept = [_truncate_error(error, limits.message) for error in errors[: limits.errors]]
    more = total - len(kept)
    if more > 0:
        are = "error is" if more == 1 else "errors are"
        kept.append({"message": f"{more:,} more {are} not shown."})
    return kept


def _truncate_error(error: Mapping[str, object], most: int | None) -> Mapping[str, object]:
    """Return an error with limited message and hint: both may repeat the client's text."""
    if most is None:
        return error
    cut = dict(error)
    if len(str(cut.get("message", ""))) > most:
        cut["message"] = f"{str(cut['message'])[: most - 1]}…"
    extensions = cut.get("extensions")
    if isinstance(extensions, dict) and len(str(extensions.get("hint", ""))) > most:
        cut["extensions"] = {**extensions, "hint": f"{str(extensions['hint'])[: most - 1]}…"}
    return cut


def remove_hints(error: Mapping[str, object]) -> dict[str, object]:
    """Return an error without suggestions, which reveal the names of a schema."""
    rest = {name: value for name, value in error.items() if name != "extensions"}
    return rest | {"message": _SUGGESTION.sub("", str(error["message"]))}


def encode_members(done: Response, limits: Limits, masked: MaskedErrors) -> bytes:
    """Return the members of an engine's response as JSON, its errors masked and limited.

    Values without a JSON form, which a custom scalar may return, become null with an error. The
    causes of a response in parts are those of its errors, of its increments, and of what it
    completes, in this order.

    Raises
    ------
    Exception
        If the members cannot be encoded.
    """
    if done.body:
        return done.body
    causes = iter(done.causes)

    def mask_entry(entry: Mapping[str, Any]) -> Mapping[str, Any]:
        errors = entry.get("errors")
        if not errors:
            return entry
        kept = mask_errors(errors, list(islice(causes, len(errors))), limits, masked)
        return {**entry, "errors": limit_errors(kept, len(errors), limits)}

    members = _map_entries(mask_entry, done.members or {})
    is_valid = done.is_json_safe and "errors" not in members
    try:
        return (dump_valid_json if is_valid else dump_json)(members)
    except _ENCODING_ERRORS:
        # Rare, so the walk through all values is made only after encoding has failed.
        return dump_json(_map_entries(lambda entry: _repair_entry(entry, limits), members))


def _map_entries(
    convert: Callable[[Mapping[str, Any]], Mapping[str, Any]], members: Mapping[str, Any]
) -> dict[str, Any]:
    """Return members, and the increments and completions in them, converted by a function."""
    converted = dict(convert(members))
    for name in _ENTRY_LISTS:
        if name in converted:
            converted[name] = [convert(entry) for entry in converted[name]]
    return converted


def _repair_entry(entry: Mapping[str, Any], limits: Limits) -> Mapping[str, Any]:
    """Return members with null and an error for each value without a JSON form."""
    repaired: dict[str, Any] = {}
    faults: list[dict[str, object]] = []
    is_increment = not {"id", "path"}.isdisjoint(entry)  # whose paths begin within it
    for name, value in entry.items():
        found: list[dict[str, object]] = []
        is_list = name in _ENTRY_LISTS  # whose entries are repaired one by one
        repaired[name] = value if is_list else replace_unserializable(value, (), found)
        if name != "data" or is_increment:
            for fault in found:
                del fault["path"]
        faults += found
    if not faults:
        return entry
    place = _join_path(faults[0].get("path"))
    _LOG.error("%d values without a JSON form became null, the first in %s", len(faults), place)
    errors = [*repaired.pop("errors", ()), *limit_errors(faults, len(faults), limits)]
    return {"errors": errors, **repaired}


def replace_unserializable(
    value: Any,  # noqa: ANN401 - a JSON value
    path: tuple[str | int, ...],
    faults: list[dict[str, object]],
) -> Any:  # noqa: ANN401 - a JSON value
    """Return a value with null for each part without a JSON form, with an error in `faults`."""
    kind = type(value)
    try:
        if kind is dict:
            dump_json(dict.fromkeys(value))
            return {
                key: replace_unserializable(item, (*path, key), faults)
                for key, item in value.items()
            }
        if kind in {list, tuple}:
            return [
                replace_unserializable(item, (*path, index), faults)
                for index, item in enumerate(value)
            ]
        dump_json(value)
    except _ENCODING_ERRORS as error:
        is_described = isinstance(error, JSONError)
        message = str(error) if is_described else f"A {kind.__name__} has no JSON form."
        faults.append({"message": message, "path": list(path)})
        return None
    return value


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
    # Our own listener stops at the limit; other ASGI servers may deliver any body.
    most, accept = rules.limits.body, request.headers.get("accept")
    if most is not None and len(request.body) > most:
        return add_cors_headers(build_too_large_error(rules), request, rules)
    try:
        parsed = parse_operations(request, rules)
    except BadRequestError as error:
        status = rules.statuses.malformed if error.is_json else 400
        headers = {"content-type": negotiate_media_type(accept)}
        response = build_error_response(status, str(error), headers)
    else:
        if isinstance(parsed, list):
            response = await _execute_batch(parsed, execute, rules)
        else:
            response = await _execute_single(parsed, accept, execute, rules)
            if request.method == "GET":  # caches may otherwise store the response to a GET
                headers = {**response.headers, "cache-control": "no-store"}
                response = replace(response, headers=headers)
    return add_cors_headers(response, request, rules)


async def _execute_single(
    parsed: Request, accept: str | None, execute: ExecuteRequest, rules: ServerRules
) -> Response:
    masked: MaskedErrors = []
    try:
        done = await execute(parsed)
        if done.status in {405, 503}:
            return _build_refusal(done)
        return encode_response(done, negotiate_media_type(accept), rules, masked)
    except RESOLVER_EXCEPTIONS as error:
        return build_internal_error(error, parsed.operation_name, masked)


def attach_http_request(parsed: Request, request: HttpRequest, rules: ServerRules) -> Request:
    """Return a request with the HTTP request, where the context of resolvers is made from it."""
    return replace(parsed, http=request) if rules.context is not None else parsed


def parse_operations(request: HttpRequest, rules: ServerRules) -> Request | list[Request]:
    """Parse the body of a POST, or the query string of a GET: a request, or a batch of requests.

    Raises
    ------
    BadRequestError
        If it is neither, or not enabled.
    """
    if request.method == "GET":
        return attach_http_request(parse_query_string(request.query_string), request, rules)
    parsed = _parse_post(request, rules)
    if isinstance(parsed, list):
        return [attach_http_request(item, request, rules) for item in parsed]
    return attach_http_request(parsed, request, rules)


def _parse_post(request: HttpRequest, rules: ServerRules) -> Request | list[Request]:
    body, access = request.body, rules.access
    boundary = find_boundary(request.headers.get("content-type")) if access.uploads else None
    members = load_body(body) if boundary is None else parse_upload_body(body, boundary)
    if access.batch is None or not isinstance(members, list):
        return build_request(members, raw=body if boundary is None else b"")
    if not 0 < len(members) <= access.batch:
        msg = (
            f"A batch of {len(members):,} requests is not accepted: at least one and at most "
            f"{access.batch:,}. Send several batches, or have whoever serves this raise the "
            f"limit: serve(schema, access=Access(batch={max(len(members), 1)}))."
        )
        raise BadRequestError(msg, is_json=True)
    return [build_request(item) for item in members]


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
    members = done.members or {}
    graphql = media_type == GRAPHQL_CONTENT_TYPE
    if "errors" not in members:
        status = 200
    elif "data" in members:
        status = rules.statuses.partial if graphql else 200
    elif rules.statuses.uses_legacy_errors:
        status = 400 if graphql else 200
    else:
        status = done.status if done.status >= 400 else 422
    body = done.body or encode_members(done, rules.limits, masked)
    return Response(
        status,
        GRAPHQL_HEADERS if graphql else JSON_HEADERS,
        body,
        operation=done.operation,
        masked_errors=tuple(masked),
    )

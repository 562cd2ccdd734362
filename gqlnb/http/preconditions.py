"""Checks of the head of a request, before the body is read.

Each check returns None, or a response that ends the request. :data:`PRECONDITIONS` has them in
order::

    head size 431 > path 404 > method 405 > Host 400, 403 > Origin 403 > preflight 204
    > health 200 > token 401 > page 200 > Accept 406 > Content-Type 415 > Content-Length 400, 413
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from gqlnb.document.json_codec import dump_json
from gqlnb.errors import sanitize_text
from gqlnb.http import incremental
from gqlnb.http.messages import (
    GRAPHQL_CONTENT_TYPE,
    GRAPHQL_MEDIA_TYPE,
    JSON_CONTENT_TYPE,
    JSON_MEDIA_TYPE,
    HttpRequest,
    Response,
    is_json,
    is_response_acceptable,
    is_same_origin,
    normalize_origin,
    parse_host,
    prefers_html,
)
from gqlnb.http.server_rules import HEALTH_PATH, ServerRules

JSON_HEADERS: Mapping[str, str] = {
    "content-type": JSON_CONTENT_TYPE,
    "x-content-type-options": "nosniff",
}
GRAPHQL_HEADERS: Mapping[str, str] = {**JSON_HEADERS, "content-type": GRAPHQL_CONTENT_TYPE}
EVENT_CONNECTION_HEADER = "x-graphql-event-stream-token"  # of graphql-sse
_SAME_SITE = frozenset({None, "same-origin", "none"})  # "none": the user typed the address
# Browsers cache the answer for this long; short, since a re-run cell may serve with other access.
_PREFLIGHT_SECONDS = 600
# Headers, the coding that each may name, and the status for others (RFC 9110, 15.5.16, and RFC
# 9112, 6.1).
_CODINGS = (("content-encoding", "identity", 415), ("transfer-encoding", "chunked", 501))
# RFC 9110, 5.6.2: names of headers. Allowed origins may send any header.
_HEADER_NAMES = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,2000}")


def check_preconditions(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Check the head: return the response that ends the request, or None to read the body."""
    for step in PRECONDITIONS:
        refused = step(request, rules)
        if refused is not None:
            return add_cors_headers(refused, request, rules)
    return None


def build_error_response(
    status: int, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with one error and no data."""
    merged = {**JSON_HEADERS, **headers} if headers else JSON_HEADERS
    return Response(status, merged, dump_json({"errors": [{"message": message}]}))


def add_cors_headers(response: Response, request: HttpRequest, rules: ServerRules) -> Response:
    """Return a response with the CORS headers for an allowed origin."""
    if not rules.access.origins:
        return response
    headers = {**response.headers, "vary": "Origin"}  # for all clients: caches may store it
    origin = request.headers.get("origin")
    if origin is not None and normalize_origin(origin) in rules.access.origins:
        headers["access-control-allow-origin"] = origin
    return replace(response, headers=headers)


def check_head_size(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse a head over the limit; our own listener does so while it reads."""
    most = rules.limits.head
    if most is None:
        return None
    headers = request.headers
    # 4 bytes for ": " and the line end of each header.
    size = len(request.path) + len(request.query_string) + 4 * len(headers)
    size += sum(map(len, headers)) + sum(map(len, headers.values()))
    if size <= most:
        return None
    return build_error_response(
        431, f"The head of the request is too large: at most {most:,} bytes are read."
    )


def check_path(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse a path other than the endpoint and the assets of its page."""
    path, endpoint = request.path, rules.path
    if path == endpoint or path in rules.pages or rules.is_monitoring_path(path):
        return None
    if path.rstrip("/") == endpoint:
        return build_error_response(404, f"The endpoint is {endpoint}, without a slash at the end.")
    return build_error_response(
        404, f"Nothing is at {sanitize_text(path, 80)}. The endpoint is {endpoint}."
    )


def check_method(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse methods other than POST, GET if it is enabled, and a preflight."""
    method = request.method
    if request.path != rules.path:
        return None if method == "GET" else _build_method_error(method, "GET")
    if is_event_connection_request(request, rules):
        return None
    if method == "GET":
        allowed = rules.access.get or is_page_request(request, rules)
    elif method == "OPTIONS":
        allowed = bool(rules.access.origins)
        allowed = allowed and "access-control-request-method" in request.headers
    else:
        allowed = method == "POST"
    return None if allowed else _build_method_error(method, _list_methods(rules))


def is_page_request(request: HttpRequest, rules: ServerRules) -> bool:
    """Return whether a GET is for the page or one of its assets."""
    if request.path not in rules.pages:
        return False
    return request.path != rules.path or prefers_html(request.headers.get("accept"))


def is_event_connection_request(request: HttpRequest, rules: ServerRules) -> bool:
    """Return whether a request belongs to :mod:`gqlnb.server.streams`."""
    is_too_large = len(request.body) > (rules.limits.body or sys.maxsize)
    if is_too_large or not rules.has_subscriptions or request.path != rules.path:
        return False
    if EVENT_CONNECTION_HEADER in request.headers:
        return request.method in {"GET", "POST", "DELETE"}
    if request.method == "PUT":
        return True
    # A browser's EventSource, which sends no headers of its own.
    has_token = b"token=" in request.query_string and b"query=" not in request.query_string
    events = incremental.negotiate_events(request.headers.get("accept")) == "always"
    return request.method == "GET" and has_token and events


def _list_methods(rules: ServerRules) -> str:
    return "GET, POST" if rules.access.get else "POST"


def _build_method_error(method: str, allowed: str) -> Response:
    message = (
        f"{sanitize_text(method, 20)} is not answered here. Use {allowed.replace(', ', ' or ')}."
    )
    if allowed == "POST":
        message = f"{message} Queries and mutations alike are sent as JSON."
    if method == "GET" and allowed == "POST":  # some clients, such as urql, ask by GET
        message = f"{message} To answer queries by GET: serve(schema, access=Access(get=True))."
    return build_error_response(405, message, {"allow": allowed})


def check_host_header(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse a foreign ``Host``, against DNS rebinding."""
    name = parse_host(request.headers.get("host"))
    if name is None:
        return build_error_response(400, "The Host header is missing or malformed.")
    if rules.hosts is None or name in rules.hosts:
        return None
    return build_error_response(
        403, f"Host {sanitize_text(name, 80)} is not served here. Use localhost instead."
    )


def check_origin_header(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse requests from pages of other origins, which could not read the response anyway."""
    # A GET of the page itself may come from anywhere: it executes nothing.
    headers = request.headers
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None:
        if normalize_origin(origin) in rules.access.origins:
            return None
        if not is_same_origin(origin, headers["host"]):
            return build_error_response(
                403, f"Requests from origin {sanitize_text(origin, 80)} are not allowed."
            )
    if site in _SAME_SITE or (request.method == "GET" and is_page_request(request, rules)):
        return None
    return build_error_response(403, "Cross-site requests are not allowed.")


def answer_preflight(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Answer a CORS preflight of an allowed origin."""
    if request.method != "OPTIONS":
        return None
    if normalize_origin(request.headers.get("origin", "")) not in rules.access.origins:
        return _build_method_error("OPTIONS", _list_methods(rules))
    requested = request.headers.get("access-control-request-headers", "")
    headers = {
        "access-control-allow-methods": (
            "GET, POST, PUT, DELETE" if rules.has_subscriptions else _list_methods(rules)
        ),
        "access-control-allow-headers": (
            requested if _HEADER_NAMES.fullmatch(requested) else "content-type"
        ),
        "access-control-max-age": str(_PREFLIGHT_SECONDS),
    }
    if request.headers.get("access-control-request-private-network") == "true":
        headers["access-control-allow-private-network"] = "true"
    return Response(204, headers)


def answer_health(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Answer the probe of a load balancer or container: the event loop runs."""
    if request.path != HEALTH_PATH or not rules.is_monitoring_path(request.path):
        return None
    return Response(200, {**JSON_HEADERS, "cache-control": "no-store"}, b'{"status":"ok"}')


def check_token(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Check the token, if one is required."""
    if rules.token is None:
        return None
    header = request.headers.get("authorization")
    # Token.matches() compares in constant time.
    if rules.token.matches(header):
        return None
    return build_token_error(header, rules)


def build_token_error(header: str | None, rules: ServerRules) -> Response:
    """Return the response to a request with a missing or wrong token in its `header`."""
    guides = rules.token_guides
    message, url = "This endpoint requires you to be authenticated.", guides.missing
    if header:
        message, url = "Bad credentials", guides.wrong
    members = {"message": message, "documentation_url": url, "errors": [{"message": message}]}
    return Response(401, {**JSON_HEADERS, "www-authenticate": "Bearer"}, dump_json(members))


def answer_page(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Return the page or one of its assets; neither where a token is required."""
    if request.method != "GET" or not is_page_request(request, rules):
        return None
    return (
        rules.pages[request.path]
        if not rules.requires_token
        else _build_method_error("GET", "POST")
    )


def check_accept(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse clients that accept none of our media types, in the draft profile."""
    accept = request.headers.get("accept")
    if (
        not rules.statuses.refuses_unacceptable
        or rules.is_monitoring_path(request.path)
        or is_response_acceptable(accept)
        or incremental.negotiate_events(accept) != "never"
    ):
        return None
    return build_error_response(406, f"Accept {GRAPHQL_MEDIA_TYPE} or {JSON_MEDIA_TYPE}.")


def check_codings(request: HttpRequest, _rules: ServerRules) -> Response | None:
    """Refuse a body that would have to be decoded; ``chunked`` is the task of the ASGI server."""
    for header, accepted, status in _CODINGS:
        coding = request.headers.get(header, "").strip().lower()
        if coding not in ("", accepted):
            given = f"{header.title()}: {sanitize_text(coding, 40)}"
            return build_error_response(
                status, f"{given} is not supported. Send the body without this coding."
            )
    return None


def check_content_type(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse bodies other than JSON, and forms with files if they are enabled.

    Pages of other origins can send forms without a preflight; check_origin_header refuses those.
    """
    if request.method != "POST":
        return None
    headers = request.headers
    kind = headers.get("content-type")
    files = kind is not None and kind.lower().startswith("multipart/form-data")
    if is_json(kind) or (files and rules.access.uploads):
        return None
    reason = ""
    if files and not rules.access.uploads:
        reason = (
            "This server does not accept files. To accept them: "
            "serve(schema, access=Access(uploads=True)). "
        )
    advice = "Send JSON in UTF-8, with the header Content-Type: application/json."
    return build_error_response(415, f"{reason}{advice}")


def check_content_length(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse a body with an announced size over the limit."""
    length = request.headers.get("content-length", "0").strip()
    if not (length.isascii() and length.isdecimal()):
        return build_error_response(400, "The Content-Length header is not a number.")
    most = rules.limits.body
    if most is None:
        return None
    # int() refuses numbers of thousands of digits; no limit has more than 18.
    return build_too_large_error(rules) if len(length) > 18 or int(length) > most else None


def build_too_large_error(rules: ServerRules) -> Response:
    """Return the response to a body over the limit."""
    most = cast(int, rules.limits.body)
    message = f"The body is too large: at most {most:,} bytes are read."
    return build_error_response(rules.statuses.too_large, message)


# The order matters: the Origin is compared with a Host that was checked; a preflight carries no
# token; and a page of another origin learns nothing from the checks of token and body.
PRECONDITIONS: tuple[Callable[[HttpRequest, ServerRules], Response | None], ...] = (
    check_head_size,
    check_path,
    check_method,
    check_host_header,
    check_origin_header,
    answer_preflight,
    answer_health,
    check_token,
    answer_page,
    check_accept,
    check_codings,
    check_content_type,
    check_content_length,
)

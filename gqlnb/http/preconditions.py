"""The head of a request, judged step by step before a byte of the body is read.

Each step answers, which ends it, or lets pass; they stand in :data:`PRECONDITIONS` in the order in which
they are asked::

    small_head 431 > known_path 404 > known_method 405 > own_host 400, 403 > own_origin 403
    > preflight 204 > known_token 401 > page 200 > readable 406 > json_body 415
    > announced_size 400, 413
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from gqlnb.document.json_codec import dump_json
from gqlnb.errors import sanitize_text
from gqlnb.http import sse
from gqlnb.http.headers import (
    HttpRequest,
    is_json,
    is_response_acceptable,
    is_same_origin,
    normalize_origin,
    parse_host,
    prefers_html,
)
from gqlnb.http.messages import (
    GRAPHQL_CONTENT_TYPE,
    GRAPHQL_MEDIA_TYPE,
    JSON_CONTENT_TYPE,
    JSON_MEDIA_TYPE,
    Response,
)
from gqlnb.http.server_rules import ENDPOINT, ServerRules

__all__ = [
    "GRAPHQL_HEADERS",
    "JSON_HEADERS",
    "add_cors_headers",
    "build_error_response",
    "build_timeout_error",
    "build_too_large_error",
    "check_head_size",
    "check_host_header",
    "check_origin_header",
    "check_preconditions",
    "check_token",
    "is_page_request",
]

JSON_HEADERS: Mapping[str, str] = {
    "content-type": JSON_CONTENT_TYPE,
    "x-content-type-options": "nosniff",
}
GRAPHQL_HEADERS: Mapping[str, str] = {**JSON_HEADERS, "content-type": GRAPHQL_CONTENT_TYPE}
_SAME_SITE = frozenset({None, "same-origin", "none"})  # none: the person typed the address
_PREFLIGHT_SECONDS = 600  # seconds a browser may remember its answer; a served cell changes
# RFC 9110, 5.6.2: names of headers. Whoever is named in Access may send any of them.
_HEADER_NAMES = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,2000}")


def check_preconditions(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Judge the head alone: the response that ends it here, or None to read the body."""
    for step in PRECONDITIONS:
        refused = step(request, rules)
        if refused is not None:
            return add_cors_headers(refused, request, rules)
    return None


def build_error_response(
    status: int, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer that carries one error and executed nothing."""
    found = {**JSON_HEADERS, **headers} if headers else JSON_HEADERS
    return Response(status, found, dump_json({"errors": [{"message": message}]}))


def add_cors_headers(response: Response, request: HttpRequest, rules: ServerRules) -> Response:
    """Return a response with what a browser must see before it hands it to an allowed page."""
    if not rules.access.origins:
        return response
    headers = {**response.headers, "vary": "Origin"}  # also for others: a cache may hold it
    origin = request.headers.get("origin")
    if origin is not None and normalize_origin(origin) in rules.access.origins:
        headers["access-control-allow-origin"] = origin
    return replace(response, headers=headers)


# ---------------------------------------------------------------- the steps


def check_head_size(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse a head over the limit, as our listener does before it is read."""
    most = rules.limits.head
    if most is None:
        return None
    headers = request.headers
    size = len(request.path) + len(request.query_string) + 4 * len(headers)
    size += sum(map(len, headers)) + sum(map(len, headers.values()))
    if size <= most:
        return None
    return build_error_response(
        431, f"The head of the request is too large: at most {most:,} bytes are read."
    )


def check_path(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse what is neither the endpoint nor an asset of its page."""
    path = request.path
    if path == ENDPOINT or path in rules.pages:
        return None
    if path.rstrip("/") == ENDPOINT:
        return build_error_response(404, f"The endpoint is {ENDPOINT}, without a slash at the end.")
    return build_error_response(
        404, f"Nothing is at {sanitize_text(path, 80)}. The endpoint is {ENDPOINT}."
    )


def check_method(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse all but POST, what a browser asks first, and GET where it is answered."""
    method, asset = request.method, request.path != ENDPOINT
    if asset:
        return None if method == "GET" else build_method_error(method, "GET")
    if method == "POST" or (
        method == "GET" and (rules.access.get or is_page_request(request, rules))
    ):
        return None
    if method == "OPTIONS" and is_preflight(request, rules):
        return None
    return build_method_error(method, list_methods(rules))


def is_page_request(request: HttpRequest, rules: ServerRules) -> bool:
    """Tell whether a GET wants a page or an asset that we have."""
    if request.path not in rules.pages:
        return False
    return request.path != ENDPOINT or prefers_html(request.headers.get("accept"))


def is_preflight(request: HttpRequest, rules: ServerRules) -> bool:
    """Tell a preflight, where pages of other origins are allowed at all."""
    return bool(rules.access.origins) and "access-control-request-method" in request.headers


def list_methods(rules: ServerRules) -> str:
    """Return the methods by which operations may be asked for, as a header lists them."""
    return "GET, POST" if rules.access.get else "POST"


def build_method_error(method: str, allowed: str) -> Response:
    """Return the 405 that names the methods to use."""
    message = (
        f"{sanitize_text(method, 20)} is not answered here. Use {allowed.replace(', ', ' or ')}."
    )
    if allowed == "POST":
        message = f"{message} Queries and mutations alike are sent as JSON."
    return build_error_response(405, message, {"allow": allowed})


def check_host_header(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse a ``Host`` that is not ours: a foreign page whose DNS name now leads here."""
    name = parse_host(request.headers.get("host"))
    if name is None:
        return build_error_response(400, "The Host header is missing or malformed.")
    if rules.hosts is None or name in rules.hosts:
        return None
    return build_error_response(
        403, f"Host {sanitize_text(name, 80)} is not served here. Ask localhost instead."
    )


def check_origin_header(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse what a page of another origin sends, even where it could not read the answer.

    A GET of the page itself may come from anywhere: it executes nothing.
    """
    headers = request.headers
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None:
        if normalize_origin(origin) in rules.access.origins:
            return None
        if not is_same_origin(origin, headers["host"]):
            return build_error_response(
                403, f"Origin {sanitize_text(origin, 80)} may not ask this server."
            )
    if site in _SAME_SITE or (request.method == "GET" and is_page_request(request, rules)):
        return None
    return build_error_response(403, "A page of another site may not ask this server.")


def answer_preflight(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Tell a browser that the page it shows may send what it is about to send."""
    if request.method != "OPTIONS":
        return None
    if normalize_origin(request.headers.get("origin", "")) not in rules.access.origins:
        return build_method_error("OPTIONS", list_methods(rules))
    asked = request.headers.get("access-control-request-headers", "")
    headers = {
        "access-control-allow-methods": list_methods(rules),
        "access-control-allow-headers": asked if _HEADER_NAMES.fullmatch(asked) else "content-type",
        "access-control-max-age": str(_PREFLIGHT_SECONDS),
    }
    if request.headers.get("access-control-request-private-network") == "true":
        headers["access-control-allow-private-network"] = "true"
    return Response(204, headers)


def check_token(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Ask for the token, where there is one; the words are GitHub's."""
    if rules.token is None:
        return None
    header = request.headers.get("authorization")
    if rules.token.matches(header):
        return None
    message, url = "This endpoint requires you to be authenticated.", rules.documentation.missing
    if header:
        message, url = "Bad credentials", rules.documentation.wrong
    members = {"message": message, "documentation_url": url, "errors": [{"message": message}]}
    return Response(401, {**JSON_HEADERS, "www-authenticate": "Bearer"}, dump_json(members))


def answer_page(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Give a browser the page or one of its assets; where there is a token, neither."""
    if request.method != "GET" or not is_page_request(request, rules):
        return None
    return rules.pages[request.path] if rules.token is None else build_method_error("GET", "POST")


def check_accept(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse who can read no answer of ours, where the profile says so."""
    accept = request.headers.get("accept")
    if (
        not rules.statuses.refuses_unacceptable
        or is_response_acceptable(accept)
        or sse.negotiate_events(accept) != "never"
    ):
        return None
    return build_error_response(406, f"Accept {GRAPHQL_MEDIA_TYPE} or {JSON_MEDIA_TYPE}.")


def check_content_type(request: HttpRequest, rules: ServerRules) -> Response | None:  # noqa: ARG001 - a step
    """Refuse what a form of a foreign page could send: only JSON is read."""
    if request.method == "GET":
        return None
    headers = request.headers
    kind = headers.get("content-type")
    if is_json(kind):
        coding = headers.get("content-encoding")
        if coding is None or coding.strip().lower() in {"identity", ""}:
            return None
    files = kind is not None and kind.lower().startswith("multipart/form-data")
    said = "This server takes no files. " if files else ""
    wanted = "Send JSON in UTF-8, with the header Content-Type: application/json."
    return build_error_response(415, f"{said}{wanted}")


def check_content_length(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Refuse a body that says itself that it is too large."""
    length = request.headers.get("content-length", "0").strip()
    if not (length.isascii() and length.isdecimal()):
        return build_error_response(400, "The Content-Length header is no number.")
    most = rules.limits.body
    if most is None:
        return None
    # A length of more digits than any limit has is too large, whatever int() makes of it.
    return build_too_large_error(rules) if len(length) > 18 or int(length) > most else None


def build_too_large_error(rules: ServerRules) -> Response:
    """Return the refusal of a body over the limit."""
    most = cast(int, rules.limits.body)
    message = f"The body is too large: at most {most:,} bytes are read."
    return build_error_response(rules.statuses.too_large, message)


def build_timeout_error(request: HttpRequest, rules: ServerRules) -> Response:
    """Return the refusal of a body that did not come in time."""
    message = f"The body did not come within {rules.limits.body_seconds:g} seconds."
    return add_cors_headers(build_error_response(408, message), request, rules)


PRECONDITIONS: tuple[Callable[[HttpRequest, ServerRules], Response | None], ...] = (
    check_head_size,
    check_path,
    check_method,
    check_host_header,
    check_origin_header,
    answer_preflight,
    check_token,
    answer_page,
    check_accept,
    check_content_type,
    check_content_length,
)

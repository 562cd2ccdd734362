"""The head of a request, judged step by step before a byte of the body is read.

Each step answers, which ends it, or lets pass; they stand in :data:`STEPS` in the order in which
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

from gqlnb.errors import plain
from gqlnb.wire import sse
from gqlnb.wire.http import HttpRequest, bare_origin, host_name, is_json, same_origin
from gqlnb.wire.json import dump
from gqlnb.wire.negotiation import acceptable, wants_page
from gqlnb.wire.response import GRAPHQL_JSON, GRAPHQL_TYPE, JSON, JSON_TYPE, Response
from gqlnb.wire.rules import ENDPOINT, Rules

__all__ = [
    "GRAPHQL_HEADERS",
    "HEADERS",
    "known_token",
    "own_host",
    "own_origin",
    "refusal",
    "screen",
    "shared",
    "shows_page",
    "small_head",
    "too_large",
    "too_slow",
]

HEADERS: Mapping[str, str] = {"content-type": JSON, "x-content-type-options": "nosniff"}
GRAPHQL_HEADERS: Mapping[str, str] = {**HEADERS, "content-type": GRAPHQL_JSON}
_SAME = frozenset({None, "same-origin", "none"})  # none: the person typed the address
_PREFLIGHT = 600  # seconds a browser may remember its answer; a served cell changes
# RFC 9110, 5.6.2: names of headers. Whoever is named in Access may send any of them.
_NAMES = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,2000}")


def screen(request: HttpRequest, rules: Rules) -> Response | None:
    """Judge the head alone: the response that ends it here, or None to read the body."""
    for step in STEPS:
        refused = step(request, rules)
        if refused is not None:
            return shared(refused, request, rules)
    return None


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer that carries one error and executed nothing."""
    found = {**HEADERS, **headers} if headers else HEADERS
    return Response(status, found, dump({"errors": [{"message": message}]}))


def shared(response: Response, request: HttpRequest, rules: Rules) -> Response:
    """Return a response with what a browser must see before it hands it to an allowed page."""
    if not rules.access.origins:
        return response
    headers = {**response.headers, "vary": "Origin"}  # also for others: a cache may hold it
    origin = request.headers.get("origin")
    if origin is not None and bare_origin(origin) in rules.access.origins:
        headers["access-control-allow-origin"] = origin
    return replace(response, headers=headers)


# ---------------------------------------------------------------- the steps


def small_head(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse a head over the limit, as our listener does before it is read."""
    most = rules.limits.head
    if most is None:
        return None
    headers = request.headers
    size = len(request.path) + len(request.query_string) + 4 * len(headers)
    size += sum(map(len, headers)) + sum(map(len, headers.values()))
    if size <= most:
        return None
    return refusal(431, f"The head of the request is too large: at most {most:,} bytes are read.")


def known_path(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse what is neither the endpoint nor an asset of its page."""
    path = request.path
    if path == ENDPOINT or path in rules.pages:
        return None
    if path.rstrip("/") == ENDPOINT:
        return refusal(404, f"The endpoint is {ENDPOINT}, without a slash at the end.")
    return refusal(404, f"Nothing is at {plain(path, 80)}. The endpoint is {ENDPOINT}.")


def known_method(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse all but POST, what a browser asks first, and GET where it is answered."""
    method, asset = request.method, request.path != ENDPOINT
    if asset:
        return None if method == "GET" else no_such_method(method, "GET")
    if method == "POST" or (method == "GET" and (rules.access.get or shows_page(request, rules))):
        return None
    if method == "OPTIONS" and asks_first(request, rules):
        return None
    return no_such_method(method, methods(rules))


def shows_page(request: HttpRequest, rules: Rules) -> bool:
    """Tell whether a GET wants a page or an asset that we have."""
    if request.path not in rules.pages:
        return False
    return request.path != ENDPOINT or wants_page(request.headers.get("accept"))


def asks_first(request: HttpRequest, rules: Rules) -> bool:
    """Tell a preflight, where pages of other origins are allowed at all."""
    return bool(rules.access.origins) and "access-control-request-method" in request.headers


def methods(rules: Rules) -> str:
    """Return the methods by which operations may be asked for, as a header lists them."""
    return "GET, POST" if rules.access.get else "POST"


def no_such_method(method: str, allowed: str) -> Response:
    """Return the 405 that names the methods to use."""
    message = f"{plain(method, 20)} is not answered here. Use {allowed.replace(', ', ' or ')}."
    if allowed == "POST":
        message = f"{message} Queries and mutations alike are sent as JSON."
    return refusal(405, message, {"allow": allowed})


def own_host(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse a ``Host`` that is not ours: a foreign page whose DNS name now leads here."""
    name = host_name(request.headers.get("host"))
    if name is None:
        return refusal(400, "The Host header is missing or malformed.")
    if rules.hosts is None or name in rules.hosts:
        return None
    return refusal(403, f"Host {plain(name, 80)} is not served here. Ask localhost instead.")


def own_origin(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse what a page of another origin sends, even where it could not read the answer.

    A GET of the page itself may come from anywhere: it executes nothing.
    """
    headers = request.headers
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None:
        if bare_origin(origin) in rules.access.origins:
            return None
        if not same_origin(origin, headers["host"]):
            return refusal(403, f"Origin {plain(origin, 80)} may not ask this server.")
    if site in _SAME or (request.method == "GET" and shows_page(request, rules)):
        return None
    return refusal(403, "A page of another site may not ask this server.")


def preflight(request: HttpRequest, rules: Rules) -> Response | None:
    """Tell a browser that the page it shows may send what it is about to send."""
    if request.method != "OPTIONS":
        return None
    if bare_origin(request.headers.get("origin", "")) not in rules.access.origins:
        return no_such_method("OPTIONS", methods(rules))
    asked = request.headers.get("access-control-request-headers", "")
    headers = {
        "access-control-allow-methods": methods(rules),
        "access-control-allow-headers": asked if _NAMES.fullmatch(asked) else "content-type",
        "access-control-max-age": str(_PREFLIGHT),
    }
    if request.headers.get("access-control-request-private-network") == "true":
        headers["access-control-allow-private-network"] = "true"
    return Response(204, headers)


def known_token(request: HttpRequest, rules: Rules) -> Response | None:
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
    return Response(401, {**HEADERS, "www-authenticate": "Bearer"}, dump(members))


def page(request: HttpRequest, rules: Rules) -> Response | None:
    """Give a browser the page or one of its assets; where there is a token, neither."""
    if request.method != "GET" or not shows_page(request, rules):
        return None
    return rules.pages[request.path] if rules.token is None else no_such_method("GET", "POST")


def readable(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse who can read no answer of ours, where the profile says so."""
    accept = request.headers.get("accept")
    if not rules.statuses.refusing or acceptable(accept) or sse.welcome(accept) != "never":
        return None
    return refusal(406, f"Accept {GRAPHQL_TYPE} or {JSON_TYPE}.")


def json_body(request: HttpRequest, rules: Rules) -> Response | None:  # noqa: ARG001 - a step
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
    return refusal(415, f"{said}{wanted}")


def announced_size(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse a body that says itself that it is too large."""
    length = request.headers.get("content-length", "0").strip()
    if not (length.isascii() and length.isdecimal()):
        return refusal(400, "The Content-Length header is no number.")
    most = rules.limits.body
    if most is None:
        return None
    # A length of more digits than any limit has is too large, whatever int() makes of it.
    return too_large(rules) if len(length) > 18 or int(length) > most else None


def too_large(rules: Rules) -> Response:
    """Return the refusal of a body over the limit."""
    most = cast(int, rules.limits.body)
    message = f"The body is too large: at most {most:,} bytes are read."
    return refusal(rules.statuses.too_large, message)


def too_slow(request: HttpRequest, rules: Rules) -> Response:
    """Return the refusal of a body that did not come in time."""
    message = f"The body did not come within {rules.limits.body_seconds:g} seconds."
    return shared(refusal(408, message), request, rules)


STEPS: tuple[Callable[[HttpRequest, Rules], Response | None], ...] = (
    small_head,
    known_path,
    known_method,
    own_host,
    own_origin,
    preflight,
    known_token,
    page,
    readable,
    json_body,
    announced_size,
)

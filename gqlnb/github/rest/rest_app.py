"""The REST service as an ASGI application: access rules, endpoints, request bodies."""

from __future__ import annotations

import logging
import re
import time
from secrets import token_hex
from traceback import extract_tb
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast
from urllib.parse import parse_qsl, urlencode

import msgspec
from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import Response
from starlette.routing import Route

from gqlnb.document.json_codec import dump_json
from gqlnb.errors import ServerError, sanitize_text
from gqlnb.github.repositories import Repository, load_snapshot
from gqlnb.github.rest.credentials import ApiCallers, LoginTokens, make_signing_key, parse_secrets
from gqlnb.github.rest.repository_store import RepositoryStore
from gqlnb.http.headers import is_json, is_same_origin, parse_host

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from starlette.middleware.base import RequestResponseEndpoint
    from starlette.requests import Request

    from gqlnb.auth import Token
    from gqlnb.github.rest.repository_store import StoredRepository

__all__ = ["DEFAULT_LIMIT", "LOCAL_HOSTS", "app"]

DEFAULT_LIMIT = 5000  # requests an hour; GitHub's number
DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE = 30, 100  # items; GitHub's numbers
MAX_BODY_BYTES = 2**16  # bytes; the longest sensible body has a few hundred
MAX_LANGUAGE_LENGTH = 40  # characters
FORM_TYPE = "application/x-www-form-urlencoded"
# The names that this machine has for itself, on the address we listen on. Any other name that
# leads here was rebound by someone's DNS, and the page that did so must not read an answer.
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1"})
_SAME_SITE = frozenset({None, "same-origin", "none"})  # none: the person typed the address
_NUMBER_PATTERN = re.compile("[1-9][0-9]{0,8}")
_ID_PATTERN = re.compile("[1-9][0-9]{0,17}")
_NAME_PATTERN = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_LOG = logging.getLogger("gqlnb")
_LOG.addHandler(logging.NullHandler())


class RepositoryBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body that creates or replaces a repository."""

    name: str
    language: str | None = None


class LoginBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a login."""

    login: str
    password: str


_Body = TypeVar("_Body", RepositoryBody, LoginBody)


def app(
    *,
    keys: Mapping[str, Token | str] | None = None,
    users: Mapping[str, Token | str] | None = None,
    secret: Token | str | None = None,
    limit: int | None = DEFAULT_LIMIT,
    hosts: Collection[str] | None = LOCAL_HOSTS,
    data: Iterable[Repository] | None = None,
    clock: Callable[[], float] = time.time,
) -> Starlette:
    """Return the REST service as an ASGI application.

    Any ASGI server runs it: ``uvicorn --factory gqlnb.github.rest:app``.

    Parameters
    ----------
    keys
        The API key of each caller by its name: ``{"me": "env:NAME"}``, ``"keyring:NAME"``,
        ``"prompt"`` or a Token. None: no key is asked for, and all callers are counted as one,
        ``anonymous``.
    users
        The accounts that may log in and write: passwords by login, given as the keys are. None:
        nobody.
    secret
        The secret that signs logins, 32 characters or more, given as a key is. Services of the
        same secret accept each other's logins. None: a random one, so that logins end with the
        service.
    limit
        Requests that each caller may send within an hour; None for any number.
    hosts
        Names, without port, that the ``Host`` header may hold; None for any, which leaves a
        service without keys open to DNS rebinding.
    data
        The initial repositories: of :func:`gqlnb.github.population`, or by default the embedded
        snapshot. Writing changes a copy that ends with the service, about half a kilobyte and 40
        microseconds for each repository.
    clock
        The time in seconds since 1970.

    Returns
    -------
    Starlette
        The application; its paths and statuses are listed in :mod:`gqlnb.github.rest`.

    Raises
    ------
    ServerError
        If `limit` is not a positive number, a secret is missing or too short, or an argument is
        of another kind; the message names it.
    AuthError
        If a secret's source holds none.
    """
    if limit is not None and (type(limit) is not int or limit < 1):
        _raise_argument_error("limit", limit, "a positive whole number of requests, or None")
    if hosts is not None and (isinstance(hosts, str) or not all(map(parse_host, map(str, hosts)))):
        _raise_argument_error("hosts", hosts, "names such as {'localhost'}, or None")
    rows = load_snapshot() if data is None else list(data)
    if not all(isinstance(row, Repository) for row in rows):
        wanted = "a population, such as github.population(10_000), or None for the snapshot"
        _raise_argument_error("data", data, wanted)
    callers = ApiCallers(parse_secrets(keys, "keys") if keys is not None else None, limit, clock)
    accounts = parse_secrets(users, "users") if users not in (None, {}) else {}
    service = Starlette(
        routes=[
            Route("/repositories", RepositoryList),
            Route("/repository/{id}", RepositoryItem),
            Route("/repository/{id}/star", RepositoryStar),
            Route("/login", Login),
        ],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=check_access)],
        exception_handlers={HTTPException: build_error_response},
    )
    # A redirect has no JSON body, and a client loses its own on the way.
    service.router.redirect_slashes = False
    service.state.store = RepositoryStore(rows)
    service.state.callers = callers
    service.state.logins = LoginTokens(accounts, make_signing_key(secret), clock)
    service.state.hosts = hosts if hosts is None else {name.lower() for name in hosts}
    return service


def _raise_argument_error(name: str, value: object, wanted: str) -> NoReturn:
    message = f"{name}= takes {wanted}; got {sanitize_text(repr(value), 80)}."
    raise ServerError(message)


# ---------------------------------------------------------------- access


async def check_access(request: Request, call_next: RequestResponseEndpoint) -> Response:
    """Check Host, Origin, API key and limit, then call the endpoint."""
    callers: ApiCallers = request.app.state.callers
    refusal = check_browser_headers(request)
    if refusal is not None:
        return refusal
    caller = callers.find_name(request.headers.get("x-api-key"))
    if caller is None:
        message = (
            "Send your API key in the header X-API-Key; the one you sent, if any, is not known."
        )
        return make_json_response(401, {"message": message}, {"www-authenticate": "X-API-Key"})
    decision = callers.admit_request(caller)
    if decision.is_admitted:
        try:
            response = await call_next(request)
        except Exception as error:
            # The message of an exception may quote a request, so neither the client nor the log
            # gets it.
            number, frame = token_hex(4), extract_tb(error.__traceback__)[-1]
            place = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
            _LOG.error("REST %s: %s (%s)", number, type(error).__name__, place)
            message = f"Internal error {number}. The log of the service says where."
            response = make_json_response(500, {"message": message})
    else:
        message = f"API rate limit exceeded. Ask again in {decision.wait} s."
        retry = {"retry-after": str(decision.wait)}
        response = make_json_response(403, {"message": message}, retry)  # GitHub's status
    if callers.limit is not None:
        response.headers["x-ratelimit-limit"] = str(callers.limit)
        response.headers["x-ratelimit-remaining"] = str(decision.remaining)
        response.headers["x-ratelimit-reset"] = str(decision.reset)
    return response


def check_browser_headers(request: Request) -> Response | None:
    """Refuse requests that a page of another site sends through a browser on this machine."""
    headers, hosts = request.headers, request.app.state.hosts
    host, origin = headers.get("host", ""), headers.get("origin")
    is_reading = request.method in {"GET", "HEAD"}
    name = parse_host(host)
    status, message = 403, ""
    if name is None:
        status, message = 400, "The Host header is missing or malformed."
    elif hosts is not None and name not in hosts:
        message = f"Host {sanitize_text(name, 80)} is not served here."
    elif origin is not None and not is_same_origin(origin, host):
        message = f"Origin {sanitize_text(origin, 80)} may not use this service."
    elif not is_reading and headers.get("sec-fetch-site") not in _SAME_SITE:
        message = "A page of another site may not use this service."
    return make_json_response(status, {"message": message}) if message else None


def build_error_response(request: Request, error: Exception) -> Response:
    """Return an HTTPException of an endpoint or of the router as JSON."""
    error = cast(HTTPException, error)  # the only class that this handler is registered for
    message, headers = error.detail, error.headers or {}
    if "Allow" in headers:
        method = sanitize_text(request.method, 20)
        message = f"{method} is not answered here. Use {headers['Allow']}."
    elif message == "Not Found":  # the router's own message
        path = sanitize_text(request.url.path, 80)
        message = f"Nothing is at {path}. Repositories are at /repositories."
    return make_json_response(error.status_code, {"message": message}, headers)


def make_json_response(
    status: int, value: object, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a value as a JSON response."""
    headers = {"x-content-type-options": "nosniff", **(headers or {})}
    return Response(dump_json(value), status, headers, "application/json")


# ---------------------------------------------------------------- endpoints


class RepositoryList(HTTPEndpoint):
    """``/repositories``."""

    async def get(self, request: Request) -> Response:
        """Return names and identifiers, most starred first, a page at a time."""
        size = parse_query_number(request, "per_page", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
        page = parse_query_number(request, "page", 1, 999_999_999)
        rows = request.app.state.store.list_rows()
        items = [{"id": row.id, "name": row.name} for row in rows[(page - 1) * size : page * size]]
        link = format_link_header(request, page, size, len(rows))
        return make_json_response(200, items, {"link": link} if link else {})

    async def post(self, request: Request) -> Response:
        """Create a repository that belongs to the caller."""
        login = find_login(request)
        body = check_repository(await parse_body(request, RepositoryBody))
        try:
            row = request.app.state.store.create(login, body.name, body.language or None)
        except ValueError:
            raise HTTPException(400, f"{login} has a repository {body.name} already.") from None
        return make_json_response(201, row.to_dict(), {"location": f"/repository/{row.id}"})


class RepositoryItem(HTTPEndpoint):
    """``/repository/<id>``."""

    async def get(self, request: Request) -> Response:
        """Return one repository."""
        return make_json_response(200, find_row(request).to_dict())

    async def put(self, request: Request) -> Response:
        """Replace the name and the language."""
        find_own_row(request)
        body = check_repository(await parse_body(request, RepositoryBody))
        row = find_own_row(request)  # again: it may have been deleted while the body came
        try:
            row = request.app.state.store.replace(row.id, body.name, body.language or None)
        except ValueError:
            message = f"{row.login} has a repository {body.name} already."
            raise HTTPException(400, message) from None
        return make_json_response(200, row.to_dict())

    async def delete(self, request: Request) -> Response:
        """Delete the repository and return it."""
        row = request.app.state.store.delete(find_own_row(request).id)
        return make_json_response(200, {"deleted": row.to_dict()})


class RepositoryStar(HTTPEndpoint):
    """``/repository/<id>/star``: an action, and therefore a POST."""

    async def post(self, request: Request) -> Response:
        """Star the repository."""
        login, number = find_login(request), find_row(request).id
        row = request.app.state.store.star(number, login, starred=True)
        return make_json_response(200, row.to_dict())

    async def delete(self, request: Request) -> Response:
        """Take the star back."""
        login, number = find_login(request), find_row(request).id
        row = request.app.state.store.star(number, login, starred=False)
        return make_json_response(200, row.to_dict())


class Login(HTTPEndpoint):
    """``/login``."""

    async def post(self, request: Request) -> Response:
        """Issue a token for a login and its password."""
        body = await parse_body(request, LoginBody)
        token = request.app.state.logins.issue_token(body.login, body.password)
        return make_json_response(200, token, {"cache-control": "no-store"})


def find_login(request: Request) -> str:
    """Return the login of the caller, or answer 401."""
    login: str = request.app.state.logins.find_login(request.headers.get("authorization"))
    return login


def find_row(request: Request) -> StoredRepository:
    """Return the repository that the path names, or answer 404."""
    number: str = request.path_params["id"]
    store: RepositoryStore = request.app.state.store
    row = store.get(int(number)) if _ID_PATTERN.fullmatch(number) else None
    if row is None:
        raise HTTPException(404, f"There is no repository {sanitize_text(number, 40)}.")
    return row


def find_own_row(request: Request) -> StoredRepository:
    """Return the repository that the path names, or answer 403 if it is not the caller's."""
    login, row = find_login(request), find_row(request)
    if row.login.lower() != login.lower():
        raise HTTPException(403, f"{row.login}/{row.name} belongs to {row.login}, not to {login}.")
    return row


def format_link_header(request: Request, page: int, size: int, count: int) -> str:
    """Return the ``Link`` header of a page (RFC 8288): adjacent, first and last pages."""
    last = max(1, -(-count // size))
    targets: dict[str, int] = {}
    if page > 1:
        targets |= {"prev": min(page - 1, last), "first": 1}
    if page < last:
        targets |= {"next": page + 1, "last": last}
    return ", ".join(
        f'<{request.url.replace(query=urlencode({"page": target, "per_page": size}))}>; rel="{rel}"'
        for rel, target in targets.items()
    )


# ---------------------------------------------------------------- requests


async def parse_body(request: Request, kind: type[_Body]) -> _Body:
    """Return the members of a body, JSON or a form by its ``Content-Type``, or answer 400."""
    content_type = request.headers.get("content-type")
    is_form = (content_type or "").partition(";")[0].strip().lower() == FORM_TYPE
    if not is_form and not is_json(content_type):
        message = f"Send JSON (Content-Type: application/json) or a form ({FORM_TYPE})."
        raise HTTPException(400, message)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            message = f"The body is too large: at most {MAX_BODY_BYTES:,} bytes are read."
            raise HTTPException(400, message)
    try:
        if is_form:
            return msgspec.convert(dict(parse_qsl(body.decode(), strict_parsing=True)), kind)
        return msgspec.json.decode(body, type=kind)
    except ValueError as error:  # also msgspec.DecodeError and ValidationError
        message = f"The body is not valid: {sanitize_text(error, 200)}."
        raise HTTPException(400, message) from None


def check_repository(body: RepositoryBody) -> RepositoryBody:
    """Return a body with a valid name and language, or answer 400."""
    if not _NAME_PATTERN.fullmatch(body.name):
        message = "name is 1 to 100 ASCII letters, digits, '.', '_' and '-', and not '.' or '..'."
        raise HTTPException(400, message)
    language = body.language or ""
    if len(language) > MAX_LANGUAGE_LENGTH or not language.isprintable():
        message = f"language is one line of at most {MAX_LANGUAGE_LENGTH} characters."
        raise HTTPException(400, message)
    return body


def parse_query_number(request: Request, name: str, default: int, most: int) -> int:
    """Return a number of the query string, 1 to `most`, or answer 400."""
    value = request.query_params.get(name)
    if value is None:
        return default
    if not _NUMBER_PATTERN.fullmatch(value) or int(value) > most:
        message = f"{name} is a number, 1 to {most:,}; got {sanitize_text(repr(value), 80)}."
        raise HTTPException(400, message)
    return int(value)

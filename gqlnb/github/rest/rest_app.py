"""What a request says: the members of its body, JSON or a form, and the numbers of its query."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import PurePath
from secrets import token_hex
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qsl, urlencode

from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.errors import ServerError, sanitize_text
from gqlnb.github.repositories import load_snapshot
from gqlnb.github.rest.credentials import ApiCallers, LoginTokens, make_signing_key, parse_secrets
from gqlnb.github.rest.repository_store import RepositoryStore, StoredRepository
from gqlnb.github.standin.repository_columns import Population
from gqlnb.http.headers import is_json, is_same_origin, parse_headers, parse_host

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from gqlnb.auth import Token
    from gqlnb.github.rest.credentials import ApiCallers, RateDecision

__all__ = [
    "DEFAULT_LIMIT",
    "LOCAL_HOSTS",
    "AccessMiddleware",
    "ServiceState",
    "app",
    "get_optional_text",
    "make_json_response",
    "parse_members",
    "parse_query_number",
    "require_text",
]

MAX_BODY_BYTES = 2**16  # bytes; the longest sensible body has a few hundred
BODY_TIMEOUT = 10.0  # seconds a body may take
MAX_FORM_FIELDS = 20  # fields of a form; the longest sensible one has two
FORM_TYPE = "application/x-www-form-urlencoded"
_NUMBER_PATTERN = re.compile("[1-9][0-9]{0,8}")


async def parse_members(request: Request, *names: str) -> dict[str, Any]:
    """Return the members of a body, JSON or a form by its ``Content-Type``.

    An empty body has none. Values of a form are text.

    Parameters
    ----------
    request
        The request, its body unread.
    *names
        The members that there may be.

    Raises
    ------
    HTTPException
        400, if the body is something else, too large or too slow, or holds other members.
    """
    kind = request.headers.get("content-type")
    form = (kind or "").partition(";")[0].strip().lower() == FORM_TYPE
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    body = await read_content(request)
    if not body:
        return {}
    if coding != "identity" or not (form or is_json(kind)):
        raise_bad_request(
            f"Send JSON (Content-Type: application/json) or a form ({FORM_TYPE}), uncompressed."
        )
    found = parse_form_members(body) if form else parse_json_members(body)
    for name in found:
        if name not in names:
            known = f"It takes {', '.join(names)}." if names else "It takes none."
            raise_bad_request(f"There is no member {sanitize_text(repr(name), 80)} here. {known}")
    return found


async def read_content(request: Request) -> bytes:
    """Read a body, as far as it may go."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY_BYTES:
                    raise_bad_request(
                        f"The body is too large: at most {MAX_BODY_BYTES:,} bytes are read."
                    )
    except TimeoutError:
        raise_bad_request(f"The body did not come within {BODY_TIMEOUT:g} s.")
    return bytes(body)


def parse_json_members(body: bytes) -> dict[str, Any]:
    """Return the members of a JSON object."""
    try:
        found = load_json(body)
    except JSONError as error:
        raise_bad_request(f"The body is not JSON: {error}")
    if not isinstance(found, dict):
        raise_bad_request("The body is JSON, and not an object, as it should be.")
    return found


def parse_form_members(body: bytes) -> dict[str, Any]:
    """Return the fields of a form; each may stand in it once."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=MAX_FORM_FIELDS,
        )
    except ValueError:  # UnicodeDecodeError is one
        pairs = []
    found = dict(pairs)
    if not pairs or len(found) < len(pairs):
        raise_bad_request(
            f"The body is no form: name=value, joined by &, percent-encoded, at most {MAX_FORM_FIELDS}."
        )
    return found


def require_text(found: dict[str, Any], name: str) -> str:
    """Return a member that has to be there, as text."""
    value = found.get(name)
    if not isinstance(value, str) or not value:
        raise_bad_request(f"{name} is missing, or is no text.")
    return value


def get_optional_text(found: dict[str, Any], name: str, limit: int) -> str | None:
    """Return a member that may be missing or empty, as one line of at most `limit` characters."""
    value = found.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > limit or not value.isprintable():
        raise_bad_request(f"{name} is no text of one line and at most {limit} characters.")
    return value


def parse_query_number(request: Request, name: str, default: int, most: int) -> int:
    """Return a number of the query string, 1 to `most`."""
    value = request.query_params.get(name)
    if value is None:
        return default
    if not _NUMBER_PATTERN.fullmatch(value) or int(value) > most:
        raise_bad_request(
            f"{name} is a number, 1 to {most:,}; got {sanitize_text(repr(value), 80)}."
        )
    return int(value)


def raise_bad_request(message: str) -> NoReturn:
    """Refuse a request that makes no sense."""
    raise HTTPException(400, message)


# The names that this machine has for itself, on the address we listen on. Any other one that leads
# here was rebound by someone's DNS, and the page that did so must not read an answer.
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1"})
_SAME_SITE = frozenset({None, "same-origin", "none"})  # none: the person typed the address
_LOG = logging.getLogger("gqlnb")
_LOG.addHandler(logging.NullHandler())


def make_json_response(
    status: int, value: Any, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a value as an answer in JSON."""
    every = {"x-content-type-options": "nosniff", **(headers or {})}
    return Response(dump_json(value), status, every, "application/json")


def make_refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer that says why nothing was done."""
    return make_json_response(status, {"message": message}, headers)


class AccessMiddleware:
    """Middleware: the Host, the Origin, the API key and its limit; then the endpoints.

    Parameters
    ----------
    app
        What answers those who are let in.
    callers
        Who may ask, and how often.
    hosts
        Lower-case names, without port, that the ``Host`` header may hold; None for any.
    """

    def __init__(self, app: ASGIApp, callers: ApiCallers, hosts: frozenset[str] | None) -> None:
        self._app = app
        self._callers = callers
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever it is."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = parse_headers(scope["headers"])
        closed = self._refuse_foreign_request(headers, scope["method"])
        if closed is not None:
            await closed(scope, receive, send)
            return
        name = self._callers.find_name(headers.get("x-api-key"))
        if name is None:
            await make_key_refusal()(scope, receive, send)
            return
        ticket = self._callers.admit_request(name)
        told = add_limit_headers(send, self._callers.limit, ticket)
        inside = self._call_masked if ticket.is_admitted else make_limit_refusal(ticket)
        await inside(scope, receive, told)

    def _refuse_foreign_request(self, headers: Mapping[str, str], method: str) -> Response | None:
        """Refuse what a page of somebody else's sends."""
        host, origin = headers.get("host", ""), headers.get("origin")
        name = parse_host(host)
        if name is None:
            return make_refusal(400, "The Host header is missing or malformed.")
        if self._hosts is not None and name not in self._hosts:
            return make_refusal(
                403, f"Host {sanitize_text(name, 80)} is not served here. Ask localhost."
            )
        if origin is not None and not is_same_origin(origin, host):
            return make_refusal(
                403, f"Origin {sanitize_text(origin, 80)} may not ask this service."
            )
        if method not in {"GET", "HEAD"} and headers.get("sec-fetch-site") not in _SAME_SITE:
            return make_refusal(403, "A page of another site may not ask this service.")
        return None

    async def _call_masked(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask the endpoints; what goes wrong there gets a number, and its words stay here."""
        begun = False

        async def note_and_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, note_and_send)
        except ClientDisconnect:
            return  # there is nobody to answer
        except Exception as error:
            number = token_hex(4)
            # No traceback: the words of an exception may be those of a client.
            _LOG.error("REST %s: %s (%s)", number, type(error).__name__, format_error_place(error))
            failed = make_refusal(
                500, f"Internal error {number}. The log of the service says where."
            )
        else:
            return
        if not begun:
            await failed(scope, receive, send)


def format_error_place(error: Exception) -> str:
    """Return file and line where an exception was raised."""
    frame = extract_tb(error.__traceback__)[-1]
    return f"{PurePath(frame.filename).name}:{frame.lineno}"


def make_key_refusal() -> Response:
    """Return the refusal of a caller who is not known."""
    message = "Send your API key in the header X-API-Key; the one you sent, if any, is not known."
    return make_refusal(401, message, {"www-authenticate": "X-API-Key"})


def make_limit_refusal(ticket: RateDecision) -> Response:
    """Return the refusal of a caller who has asked too often; the status is GitHub's."""
    message = f"API rate limit exceeded. Ask again in {ticket.wait} s."
    return make_refusal(403, message, {"retry-after": str(ticket.wait)})


def add_limit_headers(send: Send, limit: int | None, ticket: RateDecision) -> Send:
    """Return a `send` that adds how much of the limit is left, in GitHub's headers."""
    if limit is None:
        return send
    added = [
        (b"x-ratelimit-limit", str(limit).encode()),
        (b"x-ratelimit-remaining", str(ticket.remaining).encode()),
        (b"x-ratelimit-reset", str(ticket.reset).encode()),
    ]

    async def send_with_limits(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return send_with_limits


DEFAULT_LIMIT = 5000  # requests an hour; GitHub's number
DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE = 30, 100  # items; GitHub's numbers
MAX_LANGUAGE_LENGTH = 40  # characters
_ID_PATTERN = re.compile("[1-9][0-9]{0,17}")
_NAME_PATTERN = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True)
class ServiceState:
    """What the endpoints work with.

    Attributes
    ----------
    store
        The repositories.
    callers
        Who asks.
    logins
        Who has logged in.
    """

    store: RepositoryStore
    callers: ApiCallers
    logins: LoginTokens


def app(
    *,
    keys: Mapping[str, Token | str] | None = None,
    users: Mapping[str, Token | str] | None = None,
    secret: Token | str | None = None,
    limit: int | None = DEFAULT_LIMIT,
    hosts: Collection[str] | None = LOCAL_HOSTS,
    data: Population | None = None,
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
        Who may log in and write: passwords by login, given as the keys are. None: nobody.
    secret
        What logins are signed with, 32 characters or more, given as a key is. Services of the same
        secret take each other's logins. None: a random one, so that they end with the service.
    limit
        Requests that each caller may send within an hour; None for any number.
    hosts
        Lower-case names, without port, that the ``Host`` header may hold; None for any, which
        leaves a service without keys to DNS rebinding.
    data
        The repositories to begin with: of :func:`gqlnb.github.population`, or by default the
        embedded snapshot. What is written changes a copy that ends with the service, about half a
        kilobyte and 40 microseconds for each repository.
    clock
        The time in seconds since 1970.

    Raises
    ------
    ServerError
        If `limit` is no positive number, a secret is missing or too short, or an argument is of
        another kind; the message names it.
    AuthError
        If a secret's source holds none.

    Notes
    -----
    The paths and statuses stand at the top of :mod:`gqlnb.github.rest`.
    """
    if limit is not None and (type(limit) is not int or limit < 1):
        message = (
            f"limit is a whole number of requests, or None; got {sanitize_text(repr(limit), 80)}."
        )
        raise ServerError(message)
    if data is not None and not isinstance(data, Population):
        message = (
            "data= takes a population, such as github.population(10_000), or None for the embedded "
            f"snapshot; got {sanitize_text(type(data).__name__, 80)}."
        )
        raise ServerError(message)
    names = hosts if hosts is None else check_hosts(hosts)
    callers = ApiCallers(None if keys is None else parse_secrets(keys, "keys"), limit, clock)
    logins = LoginTokens(
        parse_secrets(users, "users") if users not in (None, {}) else {},
        make_signing_key(secret),
        clock,
    )
    made = Starlette(
        routes=[Route(path, endpoint) for path, endpoint in ENDPOINTS.items()],
        middleware=[Middleware(AccessMiddleware, callers=callers, hosts=names)],
        exception_handlers={HTTPException: handle_exception},
    )
    # A redirect has no JSON body, and a client loses its own on the way.
    made.router.redirect_slashes = False
    rows = load_snapshot() if data is None else map(data.__getitem__, range(len(data)))
    made.state.desk = ServiceState(RepositoryStore(rows), callers, logins)
    return made


def check_hosts(hosts: Collection[str]) -> frozenset[str]:
    """Return the names that the ``Host`` header may hold, in lower case.

    Raises
    ------
    ServerError
        If they are no collection of names: a text alone would allow each of its parts.
    """
    given: list[Any] = [] if isinstance(hosts, str) else list(hosts)
    if not given or not all(isinstance(name, str) and name for name in given):
        message = f"hosts= takes names such as {{'localhost'}}, or None; got {sanitize_text(repr(hosts), 80)}."
        raise ServerError(message)
    return frozenset(name.lower() for name in given)


def get_state(request: Request) -> ServiceState:
    """Return what the endpoints of a request's application work with."""
    found: ServiceState = request.app.state.desk
    return found


class RepositoryList(HTTPEndpoint):
    """``/repositories``."""

    async def get(self, request: Request) -> Response:
        """Return names and identifiers, most starred first, a page at a time."""
        size = parse_query_number(request, "per_page", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
        page = parse_query_number(request, "page", 1, 999_999_999)
        rows = get_state(request).store.list_rows()
        shown = rows[(page - 1) * size : page * size]
        link = format_link_header(request, page, size, len(rows))
        return make_json_response(
            200, [row.to_brief_dict() for row in shown], {"link": link} if link else {}
        )

    async def post(self, request: Request) -> Response:
        """Create a repository that belongs to the caller."""
        login = get_state(request).logins.find_login(request.headers.get("authorization"))
        name, language = parse_description(await parse_members(request, "name", "language"))
        try:
            row = get_state(request).store.create(login, name, language)
        except ValueError:
            raise_name_taken(login, name)
        return make_json_response(201, row.to_full_dict(), {"location": f"/repository/{row.id}"})


class RepositoryItem(HTTPEndpoint):
    """``/repository/<id>``."""

    async def get(self, request: Request) -> Response:
        """Return all of a repository."""
        return make_json_response(200, find_requested_row(request).to_full_dict())

    async def put(self, request: Request) -> Response:
        """Replace what its owner may choose: name and language."""
        row = find_own_row(request)
        name, language = parse_description(await parse_members(request, "name", "language"))
        try:
            new = get_state(request).store.replace(row.id, name, language)
        except KeyError:  # it was deleted while the body came
            raise_missing(row.id)
        except ValueError:
            raise_name_taken(row.login, name)
        return make_json_response(200, new.to_full_dict())

    async def delete(self, request: Request) -> Response:
        """Delete it, and say what it was."""
        row = find_own_row(request)
        try:
            gone = get_state(request).store.delete(row.id)
        except KeyError:
            raise_missing(row.id)
        return make_json_response(200, {"deleted": gone.to_full_dict()})


class RepositoryStar(HTTPEndpoint):
    """``/repository/<id>/star``: an action, and therefore a POST."""

    async def post(self, request: Request) -> Response:
        """Star it."""
        return await self._set_star(request, starred=True)

    async def delete(self, request: Request) -> Response:
        """Take the star back."""
        return await self._set_star(request, starred=False)

    async def _set_star(self, request: Request, *, starred: bool) -> Response:
        login = get_state(request).logins.find_login(request.headers.get("authorization"))
        row = find_requested_row(request)
        await parse_members(request)
        try:
            new = get_state(request).store.star(row.id, login, starred=starred)
        except KeyError:
            raise_missing(row.id)
        return make_json_response(200, new.to_full_dict())


class LoginEndpoint(HTTPEndpoint):
    """``/login``."""

    async def post(self, request: Request) -> Response:
        """Give a token to who knows a password."""
        found = await parse_members(request, "login", "password")
        token = get_state(request).logins.issue_token(
            require_text(found, "login"), require_text(found, "password")
        )
        return make_json_response(200, token, {"cache-control": "no-store"})


ENDPOINTS: Mapping[str, type[HTTPEndpoint]] = {
    "/repositories": RepositoryList,
    "/repository/{id}": RepositoryItem,
    "/repository/{id}/star": RepositoryStar,
    "/login": LoginEndpoint,
}


def find_requested_row(request: Request) -> StoredRepository:
    """Return the repository that a path names."""
    number = request.path_params["id"]
    row = get_state(request).store.get(int(number)) if _ID_PATTERN.fullmatch(number) else None
    if row is None:
        raise_missing(number)
    return row


def find_own_row(request: Request) -> StoredRepository:
    """Return the repository that a path names, if it belongs to who asks."""
    login = get_state(request).logins.find_login(request.headers.get("authorization"))
    row = find_requested_row(request)
    if row.login.lower() != login.lower():
        raise HTTPException(403, f"{row.login}/{row.name} belongs to {row.login}, not to {login}.")
    return row


def parse_description(found: dict[str, object]) -> tuple[str, str | None]:
    """Return the name and the language that a body gives to a repository."""
    name = require_text(found, "name")
    if not _NAME_PATTERN.fullmatch(name):
        raise_bad_request(
            "name is 1 to 100 ASCII letters, digits, '.', '_' and '-', and not '.' or '..'."
        )
    return name, get_optional_text(found, "language", MAX_LANGUAGE_LENGTH)


def raise_missing(number: object) -> NoReturn:
    """Refuse what nothing is known of."""
    raise HTTPException(404, f"There is no repository {sanitize_text(number, 40)}.")


def raise_name_taken(login: str, name: str) -> NoReturn:
    """Refuse a name that an owner's other repository has."""
    raise_bad_request(f"{login} has a repository {name} already.")


def format_link_header(request: Request, page: int, size: int, count: int) -> str:
    """Return the ``Link`` header of a page (RFC 8288): the pages around it, and the outermost."""
    last = max(1, -(-count // size))
    targets = {"prev": min(page - 1, last), "next": page + 1, "first": 1, "last": last}
    shown = {"prev", "first"} if page > 1 else set()
    shown |= {"next", "last"} if page < last else set()
    return ", ".join(
        f'<{request.url.replace(query=urlencode({"page": target, "per_page": size}))}>; rel="{it}"'
        for it, target in targets.items()
        if it in shown
    )


async def handle_exception(request: Request, error: Exception) -> Response:
    """Return an exception of the endpoints, or of the router, as an answer."""
    status = getattr(error, "status_code", 500)
    headers: Mapping[str, str] = getattr(error, "headers", None) or {}
    message = getattr(error, "detail", "")
    if message == HTTPStatus(status).phrase:  # the router's own words
        message = f"Nothing is at {sanitize_text(request.url.path, 80)}. Repositories are at /repositories."
        if "Allow" in headers:
            method = sanitize_text(request.method, 20)
            message = f"{method} is not answered here. Use {headers['Allow']}."
    return make_json_response(status, {"message": message}, headers)

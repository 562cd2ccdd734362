"""A conventional REST service over the rows of the stand-in, for comparison with GraphQL.

Paths name things, the method names the action, the status reports the outcome, and every body is
JSON::

    GET    /                          the addresses of everything else: 200
    GET    /repositories              names and identifiers, by pages: 200
    POST   /repositories              create a repository of the caller's: 201
    GET    /repository/<id>           one repository: 200
    PUT    /repository/<id>           replace its name and language: 200
    DELETE /repository/<id>           delete it: 200
    POST   /repository/<id>/star      star it; DELETE takes the star back: 200
    POST   /login                     a token for an hour: 200

    304 not modified since its ETag          403 not the owner, over the limit, foreign Host
    400 malformed, or an unknown parameter   404 unknown path or id; 405 method not allowed
    401 unknown API key, or no valid token   500 internal error, identified by an id in the log
"""

from __future__ import annotations

import hmac
import logging
import re
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import sha256
from math import ceil
from secrets import token_bytes, token_hex
from traceback import extract_tb
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec

from gqlnb.errors import ServerError, sanitize_text
from gqlnb.github.repositories import Repository, load_snapshot
from gqlnb.http.headers import is_json, is_same_origin, parse_headers, parse_host
from gqlnb.server.asgi_thread import AsgiThread
from gqlnb.tokens import ACCEPTED_SCHEMES, Token

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from gqlnb.server.streams import Receive, Send

__all__ = ["app", "serve"]

DEFAULT_LIMIT = 5000  # requests an hour; GitHub's number
WINDOW_SECONDS = TOKEN_LIFETIME = 3600  # seconds; GitHub counts requests by the hour, too
MAX_BODY_BYTES = 2**16  # bytes; the longest sensible body has a few hundred
# RFC 7518, 3.2: a key for HMAC-SHA256 has 256 bits at least, and a character may hold all of 8.
MIN_SECRET_LENGTH = 32
# The names that this machine has for itself, on the address we listen on. Any other name that
# leads here was rebound by someone's DNS, and the page that did so must not read an answer.
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1"})
FORM_TYPE = "application/x-www-form-urlencoded"
_LOG = logging.getLogger("gqlnb")


class PageQuery(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of a list."""

    page: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 1
    per_page: Annotated[int, msgspec.Meta(ge=1, le=100)] = 30  # GitHub's numbers


class RepositoryBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body that creates or replaces a repository."""

    name: str
    language: str | None = None

    def __post_init__(self) -> None:
        """Check the texts; msgspec's own check would show its regular expression to the user."""
        if self.name in (".", "..") or not re.fullmatch("[A-Za-z0-9._-]{1,100}", self.name):
            message = "`name` takes 1 to 100 letters, digits, periods, hyphens and underscores"
            raise ValueError(message)
        if self.language is not None and not re.fullmatch("[ -~]{1,40}", self.language):
            message = "`language` takes 1 to 40 ASCII characters"
            raise ValueError(message)


class LoginBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a login."""

    login: str
    password: str


_Input = TypeVar("_Input", PageQuery, RepositoryBody, LoginBody)


class _Request(NamedTuple):
    """One request; `id` is the part of the path that names a repository."""

    method: str
    path: str
    headers: Mapping[str, str]
    parameters: Mapping[str, str]
    base_url: str
    body: bytes
    id: str = ""


class _Reply(NamedTuple):
    status: int
    value: object
    headers: Mapping[str, str] = {}


class _RefusedError(Exception):
    """A request is answered with the status of an error and a message."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        headers = headers or ({"www-authenticate": "Bearer"} if status == 401 else {})
        self.reply = _Reply(status, {"message": message}, headers)


# `X-API-Key` identifies the calling program, whose requests are counted and limited. Writing takes
# `Authorization: Bearer <token>`. The login is signed into the token, so that the service stores no
# sessions.
class RestApp:
    """The REST service as an ASGI application.

    Any ASGI server runs it: ``uvicorn --factory gqlnb.github.rest:app``.

    Parameters
    ----------
    keys
        The API key of each caller by its name: ``{"me": "env:NAME"}``, ``"keyring:NAME"``,
        ``"prompt"`` or a Token. None: no key is required, and all count as ``anonymous``.
    users
        The passwords of the logins that may write, given as the keys are. None: nobody.
    secret
        The secret that signs logins, 32 characters or more, given as a key is. Services of the
        same secret accept each other's logins. None: a random one.
    limit
        Requests that each caller may send within an hour; None for any number.
    hosts
        Names, without port, that the ``Host`` header may hold; None for any.
    data
        The initial repositories, by default the embedded snapshot; writing changes a copy.
    clock
        The time in seconds since 1970.

    Raises
    ------
    ServerError
        If an argument is not valid; the message names it.
    AuthError
        If a secret's source holds none.
    """

    # Handlers never wait, so each runs uninterrupted on the event loop, and rows need no lock.
    def __init__(
        self,
        *,
        keys: Mapping[str, Token | str] | None = None,
        users: Mapping[str, Token | str] | None = None,
        secret: Token | str | None = None,
        limit: int | None = DEFAULT_LIMIT,
        hosts: Collection[str] | None = LOCAL_HOSTS,
        data: Iterable[Repository] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if limit is not None and (type(limit) is not int or limit < 1):
            message = f"limit= takes a positive whole number of requests, or None; got {limit!r}."
            raise ServerError(message)
        repositories = load_snapshot() if data is None else list(data)
        signing = Token.from_source(secret)
        value = signing.build_header().rpartition(" ")[2].encode() if signing else None
        self._secret = value or token_bytes(MIN_SECRET_LENGTH)
        if len(self._secret) < MIN_SECRET_LENGTH:
            message = f"secret= signs the tokens, so it needs {MIN_SECRET_LENGTH} characters."
            raise ServerError(message)
        self._keys = None if keys is None else _parse_secrets("keys", keys)
        self._users = {} if not users else _parse_secrets("users", users)
        self._limit, self._hosts, self._clock = limit, hosts, clock
        self.usage = {it: {"requests": 0, "refused": 0} for it in self._keys or ["anonymous"]}
        self._windows: dict[str, tuple[int, float]] = {}  # requests so far, and the window's end
        self._rows: dict[int, dict[str, Any]] = {}
        self._listing: list[dict[str, Any]] = []  # in order, kept until something changes
        self._stars: set[tuple[int, str]] = set()  # ids of repositories, and who starred them
        self._ids: dict[str, int] = {}  # by owner and name in lower case, which are unique
        self._kinds = {row.owner.login.lower(): row.owner.kind for row in repositories}
        self._last_id = 0
        for row in repositories:
            members = {"stars": row.stars, "forks": row.forks, "pushed_at": row.pushed_at or None}
            language = row.language.name if row.language else None
            self._add_row(row.owner.login, row.name, language=language, **members)

    def _add_row(self, login: str, name: str, **members: object) -> dict[str, Any]:
        self._last_id += 1  # an id is never given to another repository
        self._ids[f"{login}/{name}".lower()] = self._last_id
        owner = {"login": login, "type": self._kinds.get(login.lower(), "User")}
        row = {"id": self._last_id, "name": name, "owner": owner, "stars": 0, "forks": 0}
        self._rows[self._last_id] = row | {"language": None, "pushed_at": None} | members
        self._listing = []
        return self._rows[self._last_id]

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        headers, body, more = parse_headers(scope["headers"]), b"", scope["method"] != "GET"
        while more and len(body) <= MAX_BODY_BYTES:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        base_url = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}"
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        request = _Request(scope["method"], scope["path"], headers, dict(pairs), base_url, body)
        reply = self._answer_request(request)
        content, lines = b"", {"x-content-type-options": "nosniff", **reply.headers}
        if reply.status != 304:
            content = msgspec.json.encode(reply.value)
            lines |= {"content-type": "application/json", "content-length": str(len(content))}
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in lines.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": encoded})
        await send({"type": "http.response.body", "body": content})

    def _answer_request(self, request: _Request) -> _Reply:
        limits: Mapping[str, str] = {}
        try:
            self._check_browser_headers(request)
            limits = self._count_request(request)
            reply = self._route_request(request)
        except _RefusedError as error:
            reply = error.reply
        except Exception as error:  # noqa: BLE001 - every fault of ours is answered
            # Neither client nor log gets the message of the exception: it may quote a request.
            number, frame = token_hex(4), extract_tb(error.__traceback__)[-1]
            place = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
            _LOG.error("REST %s: %s (%s)", number, type(error).__name__, place)
            message = f"Internal error {number}. The log of the service says where."
            reply = _Reply(500, {"message": message})
        if request.method in {"GET", "HEAD"} and reply.status == 200:
            # The same content has the same tag, so a client that kept it need not get it again.
            tag = f'"{sha256(msgspec.json.encode(reply.value)).hexdigest()[:32]}"'
            known = {it.strip() for it in request.headers.get("if-none-match", "").split(",")}
            headers = {**reply.headers, "etag": tag, "cache-control": "private, no-cache"}
            reply = _Reply(304 if known & {tag, f"W/{tag}", "*"} else 200, reply.value, headers)
        return reply._replace(headers={**limits, **reply.headers})

    def _check_browser_headers(self, request: _Request) -> None:
        """Refuse requests that a page of another site sends through a browser on this machine."""
        headers, name = request.headers, parse_host(request.headers.get("host"))
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if name is None:
            raise _RefusedError(400, "The Host header is missing or malformed.")
        if self._hosts is not None and name not in self._hosts:
            raise _RefusedError(403, f"Host {sanitize_text(name, 80)} is not served here.")
        is_own = request.method in {"GET", "HEAD"} or site in {None, "same-origin", "none"}
        if not is_own or (origin is not None and not is_same_origin(origin, headers["host"])):
            raise _RefusedError(403, "A page of another site may not use this service.")

    def _count_request(self, request: _Request) -> Mapping[str, str]:
        """Count a request of a caller; return the headers that tell it the rate limit."""
        name: str | None = "anonymous"
        if self._keys is not None:
            header = f"Bearer {request.headers.get('x-api-key', '')}"  # what Token.matches() reads
            name = next((it for it, key in self._keys.items() if key.matches(header)), None)
        if name is None:
            challenge = {"www-authenticate": "X-API-Key"}
            raise _RefusedError(401, "Send your API key in the header X-API-Key.", challenge)
        now, usage = self._clock(), self.usage[name]
        used, end = self._windows.get(name, (0, 0.0))
        if now >= end:  # a fixed window, as GitHub has: it begins with the first request after it
            used, end = 0, now + WINDOW_SECONDS
        limit = self._limit
        is_over = limit is not None and used >= limit
        usage["refused" if is_over else "requests"] += 1
        self._windows[name] = used + (not is_over), end
        if limit is None:
            return {}
        left, wait = max(0, limit - used - 1), ceil(end - now)
        told: dict[str, object] = {"limit": limit, "remaining": left, "used": limit - left}
        told |= {"reset": ceil(end), "resource": "core"}
        headers = {f"x-ratelimit-{it}": str(value) for it, value in told.items()}
        if is_over:
            message = f"API rate limit exceeded. Ask again in {wait} s."
            raise _RefusedError(403, message, {**headers, "retry-after": str(wait)})
        return headers

    def _route_request(self, request: _Request) -> _Reply:
        """Call the handler of a path and method."""
        for pattern, handlers in self._routes.items():
            match = re.fullmatch(pattern, request.path)
            if match is None:
                continue
            handler = handlers.get("GET" if request.method == "HEAD" else request.method)
            if handler is None:
                allowed = ", ".join([*handlers, *({"HEAD"} if "GET" in handlers else ())])
                message = (
                    f"{sanitize_text(request.method, 20)} is not answered here. Use {allowed}."
                )
                raise _RefusedError(405, message, {"allow": allowed})
            if request.parameters and request.path != "/repositories":
                raise _RefusedError(400, f"{request.path} has no parameters.")
            return handler(self, request._replace(id=match[match.re.groups]))
        path = sanitize_text(request.path, 80)
        raise _RefusedError(404, f"Nothing is at {path}. Repositories are at /repositories.")

    def _show_index(self, request: _Request) -> _Reply:
        paths = {"repositories": "/repositories{?page,per_page}", "repository": "/repository/{id}"}
        paths |= {"star": "/repository/{id}/star", "login": "/login"}
        return _Reply(200, {f"{name}_url": request.base_url + path for name, path in paths.items()})

    def _list_rows(self, request: _Request) -> _Reply:
        """Return names and identifiers, most starred first, a page at a time."""
        query = _convert(
            "query", lambda: msgspec.convert(request.parameters, PageQuery, strict=False)
        )
        page, size = query.page, query.per_page
        if not self._listing:
            self._listing = sorted(self._rows.values(), key=lambda row: (-row["stars"], row["id"]))
        last = max(1, ceil(len(self._listing) / size))
        targets = {"prev": min(page - 1, last), "first": 1} if page > 1 else {}
        targets |= {"next": page + 1, "last": last} if page < last else {}
        url = f"{request.base_url}/repositories?"
        link = ", ".join(  # RFC 8288
            f'<{url}{urlencode({"page": target, "per_page": size})}>; rel="{rel}"'
            for rel, target in targets.items()
        )
        rows = self._listing[(page - 1) * size : page * size]
        items = [
            {name: _add_links(row, request)[name] for name in ("id", "name", "url")} for row in rows
        ]
        return _Reply(200, items, {"link": link} if link else {})

    def _create_row(self, request: _Request) -> _Reply:
        login, body = self._find_login(request), _parse_body(request, RepositoryBody)
        self._check_name(login, body.name)
        row = _add_links(self._add_row(login, body.name, language=body.language), request)
        return _Reply(201, row, {"location": row["url"]})

    def _replace_row(self, request: _Request) -> _Reply:
        row, body = self._find_own_row(request), _parse_body(request, RepositoryBody)
        login = row["owner"]["login"]
        self._check_name(login, body.name, row["id"])
        self._ids[f"{login}/{body.name}".lower()] = self._ids.pop(f"{login}/{row['name']}".lower())
        row |= {"name": body.name, "language": body.language}
        return _Reply(200, _add_links(row, request))

    def _delete_row(self, request: _Request) -> _Reply:
        row = self._find_own_row(request)
        del self._rows[row["id"]], self._ids[f"{row['owner']['login']}/{row['name']}".lower()]
        self._listing = []
        return _Reply(200, {"deleted": row})

    def _star_row(self, request: _Request) -> _Reply:
        """Star a repository, or take the star back; repeating either changes nothing."""
        login, row = self._find_login(request).lower(), self._find_row(request)
        before = len(self._stars)
        (self._stars.add if request.method == "POST" else self._stars.discard)((row["id"], login))
        row["stars"] += len(self._stars) - before
        self._listing = []
        return _Reply(200, _add_links(row, request))

    def _log_in(self, request: _Request) -> _Reply:
        """Return a token in the form of RFC 6749, 5.1."""
        body = _parse_body(request, LoginBody)
        login = next((it for it in self._users if it.lower() == body.login.lower()), None)
        if login is None or not self._users[login].matches(f"Bearer {body.password}"):
            raise _RefusedError(401, "Login and password do not go together.")
        claims = {"login": login, "expires": int(self._clock()) + TOKEN_LIFETIME}
        payload = urlsafe_b64encode(msgspec.json.encode(claims)).decode().rstrip("=")
        token = f"{payload}.{self._sign(payload)}"
        members = {"token_type": "Bearer", "expires_in": TOKEN_LIFETIME, "login": login}
        return _Reply(200, {"token": token, **members}, {"cache-control": "no-store"})

    def _find_login(self, request: _Request) -> str:
        """Return the login of the ``Authorization`` header, or answer 401."""
        header = request.headers.get("authorization", "").strip()
        if not header:
            message = "Log in first: POST /login, then send its token as a bearer token."
            raise _RefusedError(401, message)
        scheme, _, token = header.partition(" ")
        payload, _, signature = token.strip().partition(".")
        # The signature is compared before anything is decoded: a forged payload is never parsed.
        if scheme.lower() not in ACCEPTED_SCHEMES or not hmac.compare_digest(
            signature.encode(), self._sign(payload).encode()
        ):
            raise _RefusedError(401, "Bad credentials")
        claims = msgspec.json.decode(urlsafe_b64decode(payload + "=="))  # ignores extra padding
        if claims["expires"] <= self._clock() or claims["login"] not in self._users:
            raise _RefusedError(401, "The token has expired. Log in again: POST /login.")
        return str(claims["login"])

    def _sign(self, payload: str) -> str:
        # With a purpose in the signed text, another use of the same secret cannot make a token.
        return hmac.digest(self._secret, f"gqlnb rest login {payload}".encode(), "sha256").hex()

    def _find_row(self, request: _Request) -> dict[str, Any]:
        """Return the repository that the path names, or answer 404."""
        row = (
            self._rows.get(int(request.id))
            if re.fullmatch("[1-9][0-9]{0,17}", request.id)
            else None
        )
        if row is None:
            raise _RefusedError(404, f"There is no repository {sanitize_text(request.id, 40)}.")
        return row

    def _find_own_row(self, request: _Request) -> dict[str, Any]:
        """Return the repository that the path names, or answer 403 if it is not the caller's."""
        login, row = self._find_login(request), self._find_row(request)
        owner = row["owner"]["login"]
        if owner.lower() != login.lower():
            message = f"{owner}/{row['name']} belongs to {owner}, not to {login}."
            raise _RefusedError(403, message)
        return row

    def _check_name(self, login: str, name: str, own_id: int | None = None) -> None:
        if self._ids.get(f"{login}/{name}".lower(), own_id) != own_id:
            raise _RefusedError(400, f"{login} has a repository {name} already.")

    _routes: ClassVar[dict[str, dict[str, Callable[[RestApp, _Request], _Reply]]]] = {
        "/": {"GET": _show_index},
        "/repositories": {"GET": _list_rows, "POST": _create_row},
        "/repository/([^/]+)": {
            "GET": lambda self, request: _Reply(200, _add_links(self._find_row(request), request)),
            "PUT": _replace_row,
            "DELETE": _delete_row,
        },
        "/repository/([^/]+)/star": {"POST": _star_row, "DELETE": _star_row},
        "/login": {"POST": _log_in},
    }


def _add_links(row: dict[str, Any], request: _Request) -> dict[str, Any]:
    """Return a repository with the addresses of itself and of its actions."""
    url = f"{request.base_url}/repository/{row['id']}"
    return {
        **row,
        "url": url,
        "star_url": f"{url}/star",
        "list_url": f"{request.base_url}/repositories",
    }


def _parse_body(request: _Request, kind: type[_Input]) -> _Input:
    """Return the members of a body, JSON or a form by its ``Content-Type``, or answer 400."""
    content_type = request.headers.get("content-type", "")
    if len(request.body) > MAX_BODY_BYTES:
        message = f"The body is too large: at most {MAX_BODY_BYTES:,} bytes are read."
        raise _RefusedError(400, message)
    if is_json(content_type):
        return _convert("body", lambda: msgspec.json.decode(request.body, type=kind))
    if content_type.partition(";")[0].strip().lower() == FORM_TYPE:
        pairs = parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True)
        return _convert("body", lambda: msgspec.convert(dict(pairs), kind))
    message = f"Send JSON (Content-Type: application/json) or a form ({FORM_TYPE})."
    raise _RefusedError(400, message)


def _convert(part: str, convert: Callable[[], _Input]) -> _Input:
    """Return a part of a request as its type, or answer 400."""
    try:
        return convert()
    except ValueError as error:  # also msgspec's DecodeError and ValidationError
        message = f"The {part} is not valid: {sanitize_text(error, 200)}."
    raise _RefusedError(400, message)


def _parse_secrets(argument: str, sources: object) -> dict[str, Token]:
    """Return secrets by name."""
    secrets: dict[str, Token] = {}
    for name, source in sources.items() if isinstance(sources, Mapping) else ():
        token = Token.from_source(source)
        if token is not None and isinstance(name, str) and name.strip():
            secrets[name] = token
    if not isinstance(sources, Mapping) or not 0 < len(secrets) == len(sources):
        example = f"{argument}={{'me': 'env:NAME'}}"
        message = f"{argument}= takes a secret for each name, such as {example}."
        raise ServerError(message)
    return secrets


class RestServer(AsgiThread):
    """The REST service in a background thread, for this machine alone.

    Parameters
    ----------
    port
        The port, or 0 for any free one. Served again on the same port, or from the same notebook
        cell with port 0, a new service replaces the old one.
    keys, users, secret, limit, data
        As for :class:`RestApp`.

    Attributes
    ----------
    usage : dict of dict
        The number of ``requests`` and ``refused`` requests of each caller, by its name.
    """

    def __init__(
        self,
        port: int = 4002,
        *,
        keys: Mapping[str, Token | str] | None = None,
        users: Mapping[str, Token | str] | None = None,
        secret: Token | str | None = None,
        limit: int | None = DEFAULT_LIMIT,
        data: Iterable[Repository] | None = None,
    ) -> None:
        application = RestApp(keys=keys, users=users, secret=secret, limit=limit, data=data)
        self.usage = application.usage
        super().__init__(application, port)


app, serve = RestApp, RestServer  # read as verbs: rest.serve(), uvicorn --factory gqlnb...rest:app

"""A conventional REST service over the rows of the stand-in, for comparison with GraphQL.

Paths name things, the method names the action, the status reports the outcome, and every body is
JSON::

    GET    /                   the addresses of everything else: 200
    GET    /repositories       names and identifiers, by pages: 200
    POST   /repositories       create a repository of the caller's: 201
    GET    /repository/<id>    one repository: 200
    PUT    /repository/<id>    replace its name and language: 200
    DELETE /repository/<id>    delete it: 200

    304 not modified since its ETag          403 not the owner, or a foreign Host
    400 malformed, or an unknown parameter   404 unknown path or id
    401 writing without a valid API key      405 method not allowed
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self
from urllib.parse import parse_qsl

import msgspec
import uvicorn
from msgspec.structs import astuple

from gqlnb.github.repositories import Repository, load_snapshot
from gqlnb.http.messages import parse_headers, parse_host
from gqlnb.server.listener import (
    GRACE_SECONDS,
    bind_socket,
    find_calling_cell,
    redirect_sockets,
    resolve_address,
)
from gqlnb.tokens import Token

if TYPE_CHECKING:
    from gqlnb.server.streams import Receive, Send


_HOST = "127.0.0.1"
# Python prints the records of a logger without handlers; in a notebook they would land in a cell.
logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())
_open_servers: list[RestServer] = []


def _abandon_after_fork() -> None:
    redirect_sockets(server.sock for server in _open_servers)
    _open_servers.clear()


# In a forked child, which has no server threads, and would hold the ports of its parent.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_after_fork)

Keys = Mapping[str, Token | str] | None
MAX_BODY_BYTES = 2**16  # the longest sensible body has a few hundred
# The names that this machine has for itself, on the address we listen on. Any other name that
# leads here was rebound by someone's DNS, and the page that did so must not read an answer. Other
# pages cannot read one either, nor write: no browser sends them X-API-Key unasked.
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1"})


class PageQuery(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of a list."""

    page: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 1
    per_page: Annotated[int, msgspec.Meta(ge=1, le=100)] = 30  # GitHub's numbers


class RepositoryBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body that creates or replaces a repository."""

    name: str
    language: Annotated[str, msgspec.Meta(min_length=1, max_length=40)] | None = None

    def __post_init__(self) -> None:
        """Check the name; msgspec's own check would show its regular expression to the user."""
        if self.name in (".", "..") or not re.fullmatch("[A-Za-z0-9._-]{1,100}", self.name):
            message = "`name` takes 1 to 100 letters, digits, periods, hyphens and underscores"
            raise ValueError(message)


class _Request(NamedTuple):
    """One request; `id` is the part of the path that names a repository."""

    method: str
    path: str
    headers: Mapping[str, str]
    parameters: Mapping[str, str]
    body: bytes
    base_url: str
    id: str = ""

    def add_link(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a repository with its address."""
        return {**row, "url": f"{self.base_url}/repository/{row['id']}"}

    def read_body(self) -> RepositoryBody:
        """Return the members of the body, or answer 400."""
        if len(self.body) > MAX_BODY_BYTES:
            raise _Reply(400, f"The body is too large: at most {MAX_BODY_BYTES:,} bytes are read.")
        return msgspec.json.decode(self.body, type=RepositoryBody)


class _Reply(Exception):  # noqa: N818 - an answer, raised where it ends a request early
    def __init__(self, status: int, value: object, **headers: str) -> None:
        super().__init__(value)
        self.status, self.headers = status, {"content-type": "application/json", **headers}
        self.value = value if status < 400 else {"message": value}


class RestApp:
    """The REST service as an ASGI application.

    Any ASGI server runs it: ``uvicorn --factory gqlnb.github.rest:app``.

    Parameters
    ----------
    keys
        The API key of each account that may write, by its login: ``{"me": "env:NAME"}``,
        ``"keyring:NAME"``, ``"prompt"`` or a Token. None: nobody.
    data
        The initial repositories, by default the embedded snapshot; writing changes a copy.

    Raises
    ------
    AuthError
        If a key's source holds none, or a key is given as text.
    """

    # Handlers never wait, so each runs uninterrupted on the event loop, and rows need no lock.
    def __init__(self, *, keys: Keys = None, data: Iterable[Repository] | None = None) -> None:
        self._keys = {login: Token.from_source(source) for login, source in (keys or {}).items()}
        self._rows, self._last_id = dict[int, dict[str, Any]](), 0
        for row in load_snapshot() if data is None else data:
            language = row.language and row.language.name
            self._add_row(
                row.owner.login, row.name, language=language, stars=row.stars, forks=row.forks
            )

    def _add_row(self, login: str, name: str, **members: object) -> dict[str, Any]:
        self._last_id += 1  # an id is never given to another repository
        row = {"id": self._last_id, "name": name, "owner": {"login": login}, "stars": 0, "forks": 0}
        return self._rows.setdefault(self._last_id, row | members)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        headers, body, more = parse_headers(scope["headers"]), b"", scope["method"] != "GET"
        while more and len(body) <= MAX_BODY_BYTES:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        url = f"http://{headers.get('host')}"
        request = _Request(scope["method"], scope["path"], headers, dict(pairs), body, url)
        reply = self._answer(request)
        content = b"" if reply.status == 304 else msgspec.json.encode(reply.value)
        lines = [(name.encode(), value.encode("latin-1")) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": lines})
        await send({"type": "http.response.body", "body": content})

    def _answer(self, request: _Request) -> _Reply:
        if parse_host(request.headers.get("host")) not in LOCAL_HOSTS:
            return _Reply(403, "This host is not served here.")
        try:
            reply = self._route(request)
        except _Reply as refusal:
            return refusal
        except msgspec.DecodeError as error:  # also ValidationError
            return _Reply(400, f"The request is not valid: {error}.")
        if request.method == "GET":
            # The same content has the same tag, so a client that kept it need not get it again.
            tag = f'"{sha256(msgspec.json.encode(reply.value)).hexdigest()[:32]}"'
            reply.headers["etag"] = tag
            reply.status = 304 if tag in request.headers.get("if-none-match", "") else 200
        return reply

    def _route(self, request: _Request) -> _Reply:
        """Call the handler of a path and method."""
        for pattern, handlers in self._routes.items():
            if (match := re.fullmatch(pattern, request.path)) is not None:
                if handler := handlers.get(request.method):
                    return handler(self, request._replace(id=match[match.re.groups]))
                raise _Reply(405, "Use another method.", allow=", ".join(handlers))
        raise _Reply(404, "Nothing is here. Repositories are at /repositories.")

    def _show_index(self, request: _Request) -> _Reply:
        paths = {"repositories": "/repositories{?page,per_page}", "repository": "/repository/{id}"}
        return _Reply(200, {f"{name}_url": request.base_url + path for name, path in paths.items()})

    def _list_rows(self, request: _Request) -> _Reply:
        """Return names and identifiers, most starred first, a page at a time."""
        page, size = astuple(msgspec.convert(request.parameters, PageQuery, strict=False))
        rows = sorted(self._rows.values(), key=lambda row: (-row["stars"], row["id"]))
        last = max(1, ceil(len(rows) / size))
        url = f"{request.base_url}/repositories?per_page={size}&page="
        link = f'<{url}{page + 1}>; rel="next", <{url}{last}>; rel="last"'  # RFC 8288
        linked = map(request.add_link, rows[(page - 1) * size : page * size])
        items = [{name: row[name] for name in ("id", "name", "url")} for row in linked]
        return _Reply(200, items, **({"link": link} if page < last else {}))

    def _show_row(self, request: _Request) -> _Reply:
        return _Reply(200, request.add_link(self._find_row(request)))

    def _create_row(self, request: _Request) -> _Reply:
        login, body = self._find_login(request), request.read_body()
        row = request.add_link(self._add_row(login, body.name, language=body.language))
        return _Reply(201, row, location=row["url"])

    def _replace_row(self, request: _Request) -> _Reply:
        row, body = self._find_own_row(request), request.read_body()
        row |= {"name": body.name, "language": body.language}
        return _Reply(200, request.add_link(row))

    def _delete_row(self, request: _Request) -> _Reply:
        return _Reply(200, {"deleted": self._rows.pop(self._find_own_row(request)["id"])})

    def _find_login(self, request: _Request) -> str:
        """Return the login of the API key, or answer 401."""
        header = f"Bearer {request.headers.get('x-api-key', '')}"  # what Token.matches() reads
        for login, key in self._keys.items():
            if key is not None and key.matches(header):
                return login
        raise _Reply(401, "Send your API key as X-API-Key.", **{"www-authenticate": "X-API-Key"})

    def _find_row(self, request: _Request) -> dict[str, Any]:
        """Return the repository that the path names, or answer 404."""
        if (number := int(request.id)) not in self._rows:
            raise _Reply(404, "There is no such repository.")
        return self._rows[number]

    def _find_own_row(self, request: _Request) -> dict[str, Any]:
        """Return the repository that the path names, or answer 403 if it is not the caller's."""
        login, row = self._find_login(request), self._find_row(request)
        if row["owner"]["login"] != login:
            raise _Reply(403, f"{row['name']} belongs to {row['owner']['login']}, not to {login}.")
        return row

    _routes: ClassVar[dict[str, dict[str, Callable[[RestApp, _Request], _Reply]]]] = {
        "/": {"GET": _show_index},
        "/repositories": {"GET": _list_rows, "POST": _create_row},
        "/repository/([1-9][0-9]{0,9})": {
            "GET": _show_row,
            "PUT": _replace_row,
            "DELETE": _delete_row,
        },
    }


class RestServer:
    """The REST service in a background thread, for this machine alone, until :meth:`close`.

    A bare :class:`gqlnb.Client` does not look for it. Served again on the same port, or from the
    same notebook cell with port 0, a new service replaces the old one.

    Parameters
    ----------
    port
        The port, or 0 for any free one.
    keys, data
        As for :class:`RestApp`.

    Attributes
    ----------
    url : str
        The base URL, without a slash at the end.
    port : int
        The port, also where the system chose it.
    cell : CellRun or None
        The notebook cell that opened it with port 0.
    sock : socket
        The socket that listens.

    Raises
    ------
    PortInUseError
        If another program listens on the port.
    ServerError
        If the port is not valid, or the system does not allow listening.
    """

    def __init__(
        self, port: int = 4002, *, keys: Keys = None, data: Iterable[Repository] | None = None
    ) -> None:
        application = RestApp(keys=keys, data=data)
        self.cell = find_calling_cell() if port == 0 else None
        for other in _open_servers.copy():
            is_rerun = self.cell is not None and self.cell.is_rerun_of(other.cell)
            if other.port == port or is_rerun:
                other.close()
        self.sock = sock = bind_socket(resolve_address(_HOST, port))
        self.port: int = sock.getsockname()[1]
        self.url = f"http://{_HOST}:{self.port}"
        self._is_port_chosen = port == 0
        config = uvicorn.Config(
            application,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=int(GRACE_SECONDS),
        )
        self._uvicorn = uvicorn.Server(config)
        # The socket listens already: a client that connects before the thread runs has to wait.
        self._thread = threading.Thread(
            target=self._uvicorn.run, args=([sock],), name=f"gqlnb-{self.port}", daemon=True
        )
        self._thread.start()
        _open_servers.append(self)

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self not in _open_servers

    def close(self) -> None:
        """Stop answering and free the port; closing it again does nothing."""
        if not self.closed:
            _open_servers.remove(self)
            self._uvicorn.should_exit = True
            self._thread.join(2 * GRACE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # A port that the system chose differs from run to run; a saved notebook should not.
        where = "port=0" if self._is_port_chosen else repr(self.url)
        return f"RestServer({where}{', closed' if self.closed else ''})"


app, serve = RestApp, RestServer  # read as verbs: rest.serve(), uvicorn --factory gqlnb...rest:app

"""The endpoints: one class a path, one method a verb."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.endpoints import HTTPEndpoint
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from gqlnb.errors import ServerError, plain
from gqlnb.github.data import embedded
from gqlnb.github.finding import Population
from gqlnb.github.rest.bodies import bad, members, number, optional, text
from gqlnb.github.rest.callers import Callers, tokens
from gqlnb.github.rest.gate import HOSTS, Gate, answer
from gqlnb.github.rest.logins import Logins, signing_key
from gqlnb.github.rest.store import Row, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from gqlnb.token import Token

__all__ = ["LIMIT", "Desk", "app"]

LIMIT = 5000  # requests an hour; GitHub's number
PER_PAGE, LARGEST_PAGE = 30, 100  # items; GitHub's numbers
LANGUAGE = 40  # characters
_ID = re.compile("[1-9][0-9]{0,17}")
_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True)
class Desk:
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

    store: Store
    callers: Callers
    logins: Logins


def app(
    *,
    keys: Mapping[str, Token | str] | None = None,
    users: Mapping[str, Token | str] | None = None,
    secret: Token | str | None = None,
    limit: int | None = LIMIT,
    hosts: Collection[str] | None = HOSTS,
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
        message = f"limit is a whole number of requests, or None; got {plain(repr(limit), 80)}."
        raise ServerError(message)
    if data is not None and not isinstance(data, Population):
        message = (
            "data= takes a population, such as github.population(10_000), or None for the embedded "
            f"snapshot; got {plain(type(data).__name__, 80)}."
        )
        raise ServerError(message)
    names = hosts if hosts is None else host_names(hosts)
    callers = Callers(None if keys is None else tokens(keys, "keys"), limit, clock)
    logins = Logins(
        tokens(users, "users") if users not in (None, {}) else {}, signing_key(secret), clock
    )
    made = Starlette(
        routes=[Route(path, endpoint) for path, endpoint in PATHS.items()],
        middleware=[Middleware(Gate, callers=callers, hosts=names)],
        exception_handlers={HTTPException: refused},
    )
    # A redirect has no JSON body, and a client loses its own on the way.
    made.router.redirect_slashes = False
    rows = embedded() if data is None else map(data.__getitem__, range(len(data)))
    made.state.desk = Desk(Store(rows), callers, logins)
    return made


def host_names(hosts: Collection[str]) -> frozenset[str]:
    """Return the names that the ``Host`` header may hold, in lower case.

    Raises
    ------
    ServerError
        If they are no collection of names: a text alone would allow each of its parts.
    """
    given: list[Any] = [] if isinstance(hosts, str) else list(hosts)
    if not given or not all(isinstance(name, str) and name for name in given):
        message = (
            f"hosts= takes names such as {{'localhost'}}, or None; got {plain(repr(hosts), 80)}."
        )
        raise ServerError(message)
    return frozenset(name.lower() for name in given)


def desk(request: Request) -> Desk:
    """Return what the endpoints of a request's application work with."""
    found: Desk = request.app.state.desk
    return found


class Many(HTTPEndpoint):
    """``/repositories``."""

    async def get(self, request: Request) -> Response:
        """Return names and identifiers, most starred first, a page at a time."""
        size = number(request, "per_page", PER_PAGE, LARGEST_PAGE)
        page = number(request, "page", 1, 999_999_999)
        rows = desk(request).store.listing()
        shown = rows[(page - 1) * size : page * size]
        link = links(request, page, size, len(rows))
        return answer(200, [row.brief() for row in shown], {"link": link} if link else {})

    async def post(self, request: Request) -> Response:
        """Create a repository that belongs to the caller."""
        login = desk(request).logins.who(request.headers.get("authorization"))
        name, language = described(await members(request, "name", "language"))
        try:
            row = desk(request).store.create(login, name, language)
        except ValueError:
            taken(login, name)
        return answer(201, row.full(), {"location": f"/repository/{row.id}"})


class One(HTTPEndpoint):
    """``/repository/<id>``."""

    async def get(self, request: Request) -> Response:
        """Return all of a repository."""
        return answer(200, wanted(request).full())

    async def put(self, request: Request) -> Response:
        """Replace what its owner may choose: name and language."""
        row = own(request)
        name, language = described(await members(request, "name", "language"))
        try:
            new = desk(request).store.replace(row.id, name, language)
        except KeyError:  # it was deleted while the body came
            missing(row.id)
        except ValueError:
            taken(row.login, name)
        return answer(200, new.full())

    async def delete(self, request: Request) -> Response:
        """Delete it, and say what it was."""
        row = own(request)
        try:
            gone = desk(request).store.delete(row.id)
        except KeyError:
            missing(row.id)
        return answer(200, {"deleted": gone.full()})


class Star(HTTPEndpoint):
    """``/repository/<id>/star``: an action, and therefore a POST."""

    async def post(self, request: Request) -> Response:
        """Star it."""
        return await self._set(request, starred=True)

    async def delete(self, request: Request) -> Response:
        """Take the star back."""
        return await self._set(request, starred=False)

    async def _set(self, request: Request, *, starred: bool) -> Response:
        login = desk(request).logins.who(request.headers.get("authorization"))
        row = wanted(request)
        await members(request)
        try:
            new = desk(request).store.star(row.id, login, starred=starred)
        except KeyError:
            missing(row.id)
        return answer(200, new.full())


class Login(HTTPEndpoint):
    """``/login``."""

    async def post(self, request: Request) -> Response:
        """Give a token to who knows a password."""
        found = await members(request, "login", "password")
        token = desk(request).logins.open(text(found, "login"), text(found, "password"))
        return answer(200, token, {"cache-control": "no-store"})


PATHS: Mapping[str, type[HTTPEndpoint]] = {
    "/repositories": Many,
    "/repository/{id}": One,
    "/repository/{id}/star": Star,
    "/login": Login,
}


def wanted(request: Request) -> Row:
    """Return the repository that a path names."""
    number = request.path_params["id"]
    row = desk(request).store.get(int(number)) if _ID.fullmatch(number) else None
    if row is None:
        missing(number)
    return row


def own(request: Request) -> Row:
    """Return the repository that a path names, if it belongs to who asks."""
    login = desk(request).logins.who(request.headers.get("authorization"))
    row = wanted(request)
    if row.login.lower() != login.lower():
        raise HTTPException(403, f"{row.login}/{row.name} belongs to {row.login}, not to {login}.")
    return row


def described(found: dict[str, object]) -> tuple[str, str | None]:
    """Return the name and the language that a body gives to a repository."""
    name = text(found, "name")
    if not _NAME.fullmatch(name):
        bad("name is 1 to 100 ASCII letters, digits, '.', '_' and '-', and not '.' or '..'.")
    return name, optional(found, "language", LANGUAGE)


def missing(number: object) -> NoReturn:
    """Refuse what nothing is known of."""
    raise HTTPException(404, f"There is no repository {plain(number, 40)}.")


def taken(login: str, name: str) -> NoReturn:
    """Refuse a name that an owner's other repository has."""
    bad(f"{login} has a repository {name} already.")


def links(request: Request, page: int, size: int, count: int) -> str:
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


async def refused(request: Request, error: Exception) -> Response:
    """Return an exception of the endpoints, or of the router, as an answer."""
    status = getattr(error, "status_code", 500)
    headers: Mapping[str, str] = getattr(error, "headers", None) or {}
    message = getattr(error, "detail", "")
    if message == HTTPStatus(status).phrase:  # the router's own words
        message = f"Nothing is at {plain(request.url.path, 80)}. Repositories are at /repositories."
        if "Allow" in headers:
            method = plain(request.method, 20)
            message = f"{method} is not answered here. Use {headers['Allow']}."
    return answer(status, {"message": message}, headers)

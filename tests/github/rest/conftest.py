"""Small services on free ports, and sessions that ask them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests

from gqlnb.auth import Token
from gqlnb.github.repositories import Language, Owner, Repository
from gqlnb.github.rest.rest_app import app
from gqlnb.github.rest.rest_server import RestServer
from gqlnb.github.standin.repository_columns import Population

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 20  # seconds until a test gives up; nothing waits that long unless it is broken
PASSWORDS = {"ada": Token("password-of-ada"), "bob": Token("password-of-bob")}


def rows(count: int = 5) -> Population:
    """Return repositories of one owner, ada, with 100, 99, ... stars."""
    ada, python = Owner("ada", "User"), Language("Python")
    day = "2026-08-01T00:00:00Z"
    return Population.from_repositories(
        Repository(f"r{it}", ada, 100 - it, it, python if it else None, day) for it in range(count)
    )


class Asking(requests.Session):
    """A session below one URL, which can log in."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.trust_env = False
        self.url = url

    def request(self, method: str, url: str, **options: Any) -> requests.Response:
        """Ask for a path."""
        where = url if url.startswith("http") else self.url + url
        return super().request(method, where, **{"timeout": PATIENCE} | options)

    def log_in(self, login: str) -> Asking:
        """Log in and keep the token."""
        password = PASSWORDS[login].build_header().split()[1]
        answer = self.post("/login", json={"login": login, "password": password})
        self.headers["Authorization"] = f"Bearer {answer.json()['token']}"
        return self


class Clock:
    """A time that tests set."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        """Return it."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Return the time that services go by."""
    return Clock()


class Switch:
    """An ASGI application that passes requests on to the one that a test sets."""

    def __init__(self) -> None:
        self.current: Any = None

    @property
    def state(self) -> Any:
        """Return the state of the current application."""
        return self.current.state

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on."""
        await self.current(scope, receive, send)


@pytest.fixture(scope="session")
def servers() -> Iterator[list[RestServer]]:
    """Return running servers for all tests: stopping one takes uvicorn a third of a second."""
    opened: list[RestServer] = []
    yield opened
    for server in opened:
        server.close()


@pytest.fixture
def running(clock: Clock, servers: list[RestServer]) -> Iterator[Callable[..., Asking]]:
    """Return a function that starts a service and returns a session that asks it."""
    opened: list[Asking] = []

    def run(**options: Any) -> Asking:
        application = app(**{"data": rows(), "users": PASSWORDS, "clock": clock} | options)
        if len(servers) == len(opened):
            servers.append(RestServer(Switch(), 0))
        server = servers[len(opened)]
        server._app.current = application
        asking = Asking(server.url)
        asking.server = server
        opened.append(asking)
        return asking

    yield run
    for asking in opened:
        asking.close()


@pytest.fixture
def anyone(running: Callable[..., Asking]) -> Asking:
    """Return a session of who has not logged in, on a service of five repositories."""
    return running()


@pytest.fixture
def ada(running: Callable[..., Asking]) -> Asking:
    """Return a session of ada, who owns the five repositories."""
    return running().log_in("ada")


def message(answer: requests.Response) -> str:
    """Return what an answer says was wrong."""
    assert answer.headers["content-type"] == "application/json"
    (only,) = answer.json().items()
    assert only[0] == "message"
    return only[1]


@pytest.fixture
def says() -> Callable[[requests.Response], tuple[int, str]]:
    """Return a function that reads a refusal: its status and its one member."""
    return lambda answer: (answer.status_code, message(answer))

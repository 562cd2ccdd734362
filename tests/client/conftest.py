"""Servers on raw sockets that answer what a test tells them to."""

from contextlib import suppress

import pytest

from tests.client.faults import Close, Endpoint, read_request


class Canned(Endpoint):
    """An endpoint that answers each connection once, and closes those for which no answer is left.

    A connection that sends nothing takes no answer: a program that looks for open ports.
    """

    def _talk(self, connection):
        with connection, suppress(OSError):
            if request := read_request(connection):
                self.requests.append(request)
                self._say(connection, self.answers.pop(0) if self.answers else Close())


@pytest.fixture
def endpoint():
    """Return a function that starts an endpoint with these answers."""
    begun = []

    def begin(*answers):
        begun.append(Endpoint(*answers))
        return begun[-1]

    yield begin
    for each in begun:
        each.close()


@pytest.fixture
def canned():
    """Yield a canned server."""
    with Canned() as server:
        yield server


@pytest.fixture
def other():
    """Yield a second canned server: another origin."""
    with Canned() as server:
        yield server


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait a thousandth of what would be waited between attempts."""
    monkeypatch.setattr("gqlnb.http.rate_limit_rules.FIRST_BACKOFF", 0.0005)

"""A server on a raw socket that answers what a test tells it to."""

import socket
import threading

import pytest

from tests.client.faults import Endpoint, read_request


class Canned:
    """Answers each connection with the next bytes, and keeps what was sent to it.

    An answer of None closes the connection without a byte; a function gets the connection, which
    then stays open until the server is closed.
    """

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/graphql"
        self.answers, self.requests, self.held = [], [], []
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        """Take connections until the listener is closed."""
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        """Answer one connection; one that sends nothing takes no answer, and keeps none waiting."""
        request = read_request(connection)
        if not request:  # a program that looks for open ports
            connection.close()
            return
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else None
        if callable(answer):
            self.held.append(connection)
            answer(connection)
            return
        with connection:
            if answer is not None:
                connection.sendall(answer)

    def close(self):
        """Stop and wait for the thread."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)
        for connection in self.held:
            connection.close()


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
    server = Canned()
    yield server
    server.close()


@pytest.fixture
def other():
    """Yield a second canned server: another origin."""
    server = Canned()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait a thousandth of what would be waited between attempts."""
    monkeypatch.setattr("gqlnb.http.rate_limit_rules.FIRST_BACKOFF", 0.0005)

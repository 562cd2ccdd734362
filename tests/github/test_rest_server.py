"""The REST service in a background thread: starting, replacing, stopping."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
import requests

import gqlnb
from gqlnb import background
from gqlnb.github import rest
from tests.ports import find_free_port

PATIENCE = 20  # seconds until a test gives up


def read(server: rest.RestServer) -> bytes:
    """Return the repositories of a server."""
    return requests.get(f"{server.url}/repositories", timeout=PATIENCE).content


def run(code: str) -> tuple[str, str]:
    """Return what a script writes to its two streams."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True, timeout=60
    )
    return done.stdout, done.stderr


def test_the_server_answers_until_it_is_closed():
    """Closing frees the port and ends the thread, and is idempotent."""
    with rest.serve(0, data=()) as server:
        assert (read(server), server.closed, repr(server)) == (b"[]", False, "RestServer(port=0)")
    assert not server._thread.is_alive()
    assert repr(server) == "RestServer(port=0, closed)"
    with pytest.raises(requests.ConnectionError):
        read(server)
    socket.create_server(("127.0.0.1", server.port)).close()
    server.close()


def test_a_client_without_endpoint_ignores_it():
    """It is not registered as a GraphQL server of this process."""
    with gqlnb.serve(gqlnb.reference_schema(), port=0) as server, rest.serve(0, data=()):
        assert background.servers.get_newest() is server


def test_a_second_server_on_a_port_replaces_the_first():
    """A re-run cell does this."""
    port = find_free_port()
    with rest.serve(port) as first, rest.serve(port, data=()) as second:
        assert first.closed
        assert (read(second), repr(second)) == (b"[]", f"RestServer('http://127.0.0.1:{port}')")


def test_a_re_run_cell_with_port_0_closes_its_old_server():
    """Servers of other cells stay open."""
    code = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell()
shell.compile.get_code_name = lambda raw, code, number: f"cell {hash(raw)}"
serve = "from gqlnb.github import rest; {} = rest.serve(port=0)"
first, _, second = (
    shell.run_cell(serve.format(name), store_history=True).raise_error() or shell.user_ns[name]
    for name in ("one", "two", "one")
)
print(first.closed, second.closed, shell.user_ns["two"].closed)
"""
    assert run(code) == ("True False False\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_does_not_hold_the_port():
    """The port is free when the parent has closed the server, while the child lives."""
    # A thread that imports concurrent.futures.thread during a fork adds its hooks between the calls
    # of the hooks, so that Python releases a lock that it has not acquired, and says so.
    code = """
import concurrent.futures.thread, os, socket
from gqlnb.github import rest

server = rest.serve(port=0)
there, here = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    os.close(here[1])  # so that it ends with the parent
    os.write(there[1], b"closed" if server.closed else b"open")
    os.read(here[0], 1)
    os._exit(0)
print(os.read(there[0], 6), server.closed)
server.close()
try:
    socket.create_connection(("127.0.0.1", server.port), timeout=20)
except ConnectionRefusedError:
    print("refused")
rest.serve(port=server.port).close()
os.write(here[1], b"1")
print(os.waitpid(child, 0)[1])
"""
    assert run(code) == ("b'closed' False\nrefused\n0\n", "")


def test_incomplete_requests_do_not_delay_closing(capfd):
    """Their connections are closed, and nothing is printed."""
    server = rest.serve(0)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as sock:
        sock.sendall(b"GET / HT")
        server.close()
        assert not server._thread.is_alive()
    assert capfd.readouterr() == ("", "")

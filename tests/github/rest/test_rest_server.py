"""Starting and stopping beside a notebook."""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import requests

import gqlnb
from gqlnb import background
from gqlnb.errors import PortInUseError, ServerError
from gqlnb.github import rest
from tests.github.rest.conftest import PATIENCE, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.github.rest.conftest import Asking


def ask(server: rest.RestServer) -> int:
    """Return the status of a list."""
    return requests.get(f"{server.url}/repositories", timeout=PATIENCE).status_code


def test_it_answers_when_the_call_returns_and_no_more_when_closed() -> None:
    """Closing frees the port, ends the thread, and may be done twice."""
    with rest.serve(port=0) as server:
        assert ask(server) == 200
        assert not server.closed
    assert server.closed
    assert not server._thread.is_alive()
    with pytest.raises(requests.ConnectionError):
        ask(server)
    socket.create_server(("127.0.0.1", server.port)).close()
    server.close()


def test_a_bare_client_does_not_ask_it() -> None:
    """It speaks no GraphQL, so it is none of the servers of this process."""
    with gqlnb.serve(gqlnb.reference_schema(), port=0) as server, rest.serve(port=0):
        assert background.servers.get_newest() is server
        assert gqlnb.Client().execute("{ hello }").data == {"hello": "Hello world!"}


def test_what_is_shown_is_the_same_in_every_run() -> None:
    """A port that the system chose is not shown; one that a person named is."""
    with rest.serve(port=0) as server:
        assert repr(server) == "RestServer(port=0)"
    assert repr(server) == "RestServer(port=0, closed)"
    with rest.serve(port=free()) as named:
        assert repr(named) == f"RestServer('http://127.0.0.1:{named.port}')"


def free() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


def test_a_cell_that_is_run_again_replaces_its_service() -> None:
    """Served on the same port, the new one answers from then on."""
    with rest.serve(port=free()) as first, rest.serve(port=first.port, data=rows(2)) as second:
        assert first.closed
        answer = requests.get(f"{second.url}/repositories", timeout=PATIENCE)
        assert len(answer.json()) == 2


def test_a_cell_with_port_0_leaves_nothing_behind() -> None:
    """Run again, it closes what it opened before; another cell's service stays."""
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
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("True False False\n", "")


def test_a_port_in_use_is_said() -> None:
    """At once, in the caller's thread."""
    with (
        socket.create_server(("127.0.0.1", 0)) as sock,
        pytest.raises(PortInUseError, match="port=0"),
    ):
        rest.serve(port=sock.getsockname()[1])
    with pytest.raises(ServerError, match="A port is a number"):
        rest.serve(port=70000)


def test_arguments_that_make_no_service_leave_the_old_one() -> None:
    """They are looked at before anything is closed."""
    with rest.serve(port=free()) as server:
        with pytest.raises(ServerError):
            rest.serve(port=server.port, limit=0)
        assert ask(server) == 200


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET /repositories HT",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
    ],
)
def test_half_a_request_does_not_keep_it_open(
    half: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    """Closing hangs up on who has not finished, and prints nothing."""
    server = rest.serve(port=0)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as sock:
        sock.sendall(half)
        server.close()
        assert not server._thread.is_alive()
        assert heard(sock)
    assert capfd.readouterr() == ("", "")


def heard(sock: socket.socket) -> bool:
    """Return whether the connection ends, maybe after an answer."""
    try:
        while sock.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True


def test_a_script_may_end_without_closing_it() -> None:
    """The interpreter ends at once, in silence, with a connection open."""
    code = (
        "import socket; from gqlnb.github import rest; server = rest.serve(port=0)\n"
        "sock = socket.create_connection(('127.0.0.1', server.port)); sock.sendall(b'GET /')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_application_runs_anywhere(running: Callable[..., Asking]) -> None:
    """As uvicorn's factory finds it: by the name that is documented."""
    from uvicorn.importer import import_from_string

    made = import_from_string("gqlnb.github.rest:app")(data=rows())
    assert [route.path for route in made.routes] == [
        "/repositories",
        "/repository/{id}",
        "/repository/{id}/star",
        "/login",
    ]


def test_importing_it_loads_nothing() -> None:
    """Neither Starlette nor uvicorn, until it is used."""
    code = (
        "import sys; from gqlnb.github import rest; print(dir(rest), "
        "[name for name in ('starlette', 'uvicorn', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "['RestServer', 'app', 'serve'] []\n"


def test_a_wrong_name_says_so() -> None:
    """As any module does."""
    with pytest.raises(AttributeError, match="has no attribute 'start'"):
        rest.start  # noqa: B018

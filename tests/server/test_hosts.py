"""The same application, unchanged, under other ASGI servers in processes of their own."""

from __future__ import annotations

import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import requests

ROOT = Path(__file__).resolve().parents[2]
MODULE = """
from gqlnb.engine.schema import Schema
from gqlnb.server.app import App

async def later(*_):
    return "later"

QUERY = {"hello": lambda *_: "Hello world!", "later": later, "fails": lambda *_: 1 / 0}
app = App(Schema("type Query { hello: String later: String fails: Int }", {"Query": QUERY}))
"""
COMMANDS = {
    "uvicorn": ["uvicorn", "served:app", "--fd", "{fd}"],
    "uvicorn-h11": ["uvicorn", "served:app", "--fd", "{fd}", "--http", "h11", "--loop", "asyncio"],
    "hypercorn": ["hypercorn", "served:app", "--bind", "fd://{fd}"],
}


@pytest.fixture(scope="module", params=COMMANDS)
def url(request, tmp_path_factory):
    """Return the URL of the application under one server; the socket listens from the start."""
    command = COMMANDS[request.param]
    if find_spec(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed.")
    folder = tmp_path_factory.mktemp("served")
    (folder / "served.py").write_text(MODULE, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as sock:
        sock.set_inheritable(True)
        process = subprocess.Popen(
            [sys.executable, "-m", *(word.format(fd=sock.fileno()) for word in command)],
            cwd=folder,
            env={"PYTHONPATH": f"{ROOT}:{folder}", "PATH": "/usr/bin:/bin"},
            pass_fds=[sock.fileno()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield f"http://127.0.0.1:{sock.getsockname()[1]}/graphql"
        finally:
            process.terminate()
            process.wait(20)


def post(url, query, **headers):
    """Post a query."""
    return requests.post(url, json={"query": query}, headers=headers, timeout=30)


def test_it_answers(url):
    """Plain and async resolvers give their data."""
    response = post(url, "{ hello later }")
    assert response.json() == {"data": {"hello": "Hello world!", "later": "later"}}
    assert response.headers["content-type"] == "application/json; charset=utf-8"


def test_it_refuses(url):
    """The statuses are the same as under our own server."""
    assert requests.get(url, timeout=30).headers["allow"] == "POST"
    assert requests.head(url, timeout=30).status_code == 405
    assert requests.post(url, data=b"x", timeout=30).status_code == 415
    assert post(f"{url}/x", "{ hello }").status_code == 404
    assert post(url, "{ hello }", Host="evil.example").status_code == 403
    assert post(url, "{ helo }", Accept="application/graphql-response+json").status_code == 400


def test_it_masks(url):
    """The words of an exception stay in the process."""
    response = post(url, "{ fails }")
    assert response.status_code == 200
    assert "division" not in response.text


def test_it_refuses_a_large_body_readably(url):
    """4 MiB, announced and chunked, get an answer under every server."""
    headers = {"Content-Type": "application/json"}
    for body in (b"x" * 2**22, iter([b"x" * 2**20] * 4)):
        response = requests.post(url, data=body, headers=headers, timeout=30)
        assert (response.status_code, list(response.json())) == (400, ["errors"])


def test_it_refuses_websockets(url):
    """An upgrade is refused."""
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    assert requests.get(url, headers=headers, timeout=30).status_code in {403, 405}


def test_it_gives_a_browser_the_page(url):
    """The page is part of the application."""
    page = requests.get(url, headers={"Accept": "text/html"}, timeout=30)
    assert page.headers["content-type"] == "text/html; charset=utf-8"

"""The server behind nginx, by the configuration of its how-to page, and jupyter-server-proxy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry
from websockets.sync.client import connect

import gqlnb
from gqlnb.http.server_rules import Access
from gqlnb.server.background_server import serve
from tests.ports import find_free_port

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "behind-a-proxy.md"
HELLO = {"query": "{ hello }"}
ANSWER = {"data": {"hello": "Hello world!"}}
SDL = "type Query { hello: String } type Subscription { count: Int }"


async def count(*_):
    """Yield two events."""
    for number in range(2):
        yield {"count": number}


@pytest.fixture
def schema():
    """Return a schema with a query and a subscription."""
    query = {"hello": lambda *_: "Hello world!"}
    return gqlnb.Schema(SDL, {"Query": query, "Subscription": {"count": count}})


@contextmanager
def running(command, ready, **options):
    """Run a program, from the line that says that it listens to the end of the block."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)
    try:
        seen = []
        for line in process.stderr:
            seen.append(line)
            if ready in line:
                break
        else:
            pytest.fail("".join(seen))
        yield
    finally:
        process.terminate()
        process.communicate(timeout=20)


@contextmanager
def run_nginx(folder, target):
    """Run nginx with the page's configuration before a target, and give its port."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is not installed")
    found = re.search(r"^```nginx\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    port = find_free_port()
    recipe = found[1].replace("listen 80;", f"listen 127.0.0.1:{port};")
    recipe = recipe.replace("http://127.0.0.1:4000", target)
    paths = "".join(
        f"{name}_temp_path {folder};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = (
        f"daemon off; pid {folder}/pid; error_log stderr notice; events {{}}\n"
        f"{'user root;' if os.getuid() == 0 else ''}\n"
        f"http {{ access_log off; {paths}\n{recipe} }}"
    )
    (folder / "nginx.conf").write_text(config)
    command = [nginx, "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"]
    with running(command, "start worker process "):
        yield port


def check_all_ways(url, schema_origin, host):
    """Ask a query, a subscription in both ways, and the page with its assets, through a proxy."""
    headers = {"Host": host, "Origin": schema_origin, "Sec-Fetch-Site": "same-origin"}
    assert requests.post(url, json=HELLO, headers=headers, timeout=20).json() == ANSWER
    evil = {**headers, "Origin": "https://evil.example"}
    assert requests.post(url, json=HELLO, headers=evil, timeout=20).status_code == 403
    body = {"query": "subscription { count }"}
    events = requests.post(
        url, json=body, headers={**headers, "Accept": "text/event-stream"}, timeout=20
    )
    assert re.findall(r'"count":(\d)', events.text) == ["0", "1"]
    page = requests.get(url, headers={**headers, "Accept": "text/html"}, timeout=20)
    links = re.findall(r'(?:href|src)="([^"]+)"', page.text)
    assert len(links) >= 3
    for link in links:
        asset = urljoin(url, link)
        assert requests.get(asset, headers=headers, timeout=20).status_code == 200, asset


def check_websocket(url, **options):
    """Run a subscription over a WebSocket."""
    target = url.replace("http", "ws", 1)
    with connect(target, subprotocols=["graphql-transport-ws"], **options) as sock:
        sock.send('{"type": "connection_init"}')
        assert "connection_ack" in sock.recv(timeout=20)
        sock.send(
            '{"id": "1", "type": "subscribe", "payload": {"query": "subscription { count }"}}'
        )
        texts = [sock.recv(timeout=20) for _ in range(3)]
    assert [re.search(r'"count":(\d)|complete', it)[0] for it in texts] == [
        '"count":0',
        '"count":1',
        "complete",
    ]


@pytest.mark.parametrize("way", ["port", "uds"])
def test_the_recipe_for_nginx_works(schema, tmp_path, way):
    """Queries, events, WebSockets and the page, under the name of the proxy."""
    access = Access(hosts=["api.example.com"], health=True)
    path = tmp_path / "gql.sock"
    where = {"port": 0} if way == "port" else {"uds": path}
    with serve(schema, path="/api/graphql", access=access, **where) as server:
        target = f"http://127.0.0.1:{server.port}" if way == "port" else f"http://unix:{path}"
        with run_nginx(tmp_path, target) as port:
            base = f"http://127.0.0.1:{port}"
            check_all_ways(f"{base}/api/graphql", "http://api.example.com", "api.example.com")
            assert gqlnb.Client(f"{base}/api/graphql").execute("{ hello }").data == ANSWER["data"]
            check_websocket(f"{base}/api/graphql")
            assert requests.get(f"{base}/health", timeout=20).status_code == 404
            evil = {"Host": "evil.example"}
            refused = requests.post(f"{base}/api/graphql", json=HELLO, headers=evil, timeout=20)
            assert refused.status_code == 403


def test_jupyter_server_proxy_shows_the_server(schema, tmp_path):
    """Below the path of a Hub's user, and under the Hub's name."""
    if find_spec("jupyter_server_proxy") is None:
        pytest.skip("jupyter-server-proxy is not installed")
    port = find_free_port()
    command = [sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root"]
    settings = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.base_url": "/user/ann/",
        "ServerApp.allow_remote_access": True,  # as the servers of a Hub
        "ServerApp.jpserver_extensions": {"jupyter_server_proxy": True},
        "IdentityProvider.token": "of-jupyter",
    }
    folders = {
        name: str(tmp_path) for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")
    }
    command += [f"--{name}={value}" for name, value in settings.items()]
    with (
        serve(schema, port=0, access=Access(hosts=["hub.example.com"])) as server,
        running(command, "is running at", cwd=tmp_path, env={**os.environ, **folders}),
    ):
        shown = f"/user/ann/proxy/{server.port}"
        with serve(
            schema, server.port, root_path=shown, access=Access(hosts=["hub.example.com"])
        ) as again:
            link = re.search(r'href="([^"]+)"', again._repr_html_())[1]
            url = f"http://127.0.0.1:{port}{link}"
            assert "of-jupyter" not in url
            with requests.Session() as session:
                # Jupyter prints its line just before it listens.
                patient = HTTPAdapter(max_retries=Retry(connect=9, backoff_factor=0.1))
                session.mount("http://", patient)
                refused = session.post(url, json=HELLO, timeout=20, allow_redirects=False)
                assert refused.status_code in {302, 403}
            token = "?token=of-jupyter"
            headers = {"Host": "hub.example.com", "Origin": "https://hub.example.com"}
            answer = requests.post(url + token, json=HELLO, headers=headers, timeout=20)
            assert answer.json() == ANSWER
            page = requests.get(url + token, headers={"Accept": "text/html"}, timeout=20)
            asset = re.search(r'src="([^"]+)"', page.text)[1]
            assert requests.get(urljoin(url, asset) + token, timeout=20).ok
            check_websocket(url + token)

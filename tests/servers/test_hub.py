"""A served schema on JupyterHub: behind its own proxy and jupyter-server-proxy."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import pytest
import requests

import gqlnb
from gqlnb import Access, Client, Token, TransportError, serve
from tests.ports import find_free_port
from tests.servers.processes import LoggedProcess, find_packages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gqlnb import Server

TOKEN = "token-of-a-service-of-the-hub"
USER = "ann@example.com"
PREFIX = "/user/ann@example.com/"
SDL = "type Query { hello: String } type Subscription { count: Int }"
SETTINGS = """
import json, os
settings = json.loads(os.environ["HUB_SETTINGS"])
for owner, values in settings.items():
    get_config()[owner].update(values)
"""


def build_settings(folder: Path, port: int) -> dict[str, dict[str, Any]]:
    """Return the settings of a Hub whose users need no password, and of its proxy."""
    node, packages = find_packages("hub-proxy")
    program = packages / "node_modules" / "configurable-http-proxy" / "bin"
    python = os.pathsep.join([str(packages / "python"), *sys.path])
    scopes = ["admin:users", "admin:servers", "access:servers"]
    return {
        "JupyterHub": {
            "bind_url": f"http://127.0.0.1:{port}",
            "hub_bind_url": f"http://127.0.0.1:{find_free_port()}",
            "authenticator_class": "dummy",
            "spawner_class": "simple",
            "db_url": "sqlite:///:memory:",
            "services": [{"name": "tester", "api_token": TOKEN}],
            "load_roles": [{"name": "testing", "scopes": scopes, "services": ["tester"]}],
        },
        "ConfigurableHTTPProxy": {
            "api_url": f"http://127.0.0.1:{find_free_port()}",
            "command": [node, str(program / "configurable-http-proxy")],
        },
        "Authenticator": {"allow_all": True},
        "Spawner": {
            "cmd": [sys.executable, "-m", "jupyterhub.singleuser"],
            "args": ["--allow-root", "--LabApp.expose_app_in_browser=True"],
            "environment": {"PYTHONPATH": python, "HOME": str(folder)},
            "notebook_dir": str(folder),
        },
    }


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a Hub on which the server of a user runs."""
    folder, port = tmp_path_factory.mktemp("hub"), find_free_port()
    try:
        settings = build_settings(folder, port)
    except LookupError as error:
        pytest.skip(str(error))
    (folder / "jupyterhub_config.py").write_text(SETTINGS)
    env = {
        "HUB_SETTINGS": json.dumps(settings),
        "PYTHONPATH": settings["Spawner"]["environment"]["PYTHONPATH"],
        "HOME": str(folder),
    }
    command = [sys.executable, "-m", "jupyterhub"]
    with LoggedProcess(command, env=env, cwd=folder) as process:
        process.wait_for("JupyterHub is now running at", 120)
        url = f"http://127.0.0.1:{port}"
        headers = {"Authorization": f"token {TOKEN}"}
        api = f"{url}/hub/api/users/{USER}"
        requests.post(api, headers=headers, timeout=60).raise_for_status()
        requests.post(f"{api}/server", headers=headers, timeout=60).raise_for_status()
        # A stream of events, which ends when the user's server answers.
        progress = requests.get(f"{api}/server/progress", headers=headers, timeout=120)
        assert '"ready": true' in progress.text
        yield url


@pytest.fixture
def server() -> Iterator[Server]:
    """Yield a server whose link begins with the path of the user's server, as on its page."""

    async def count(*_: object) -> Any:
        for number in range(2):
            yield {"count": number}

    resolvers = {"Query": {"hello": lambda *_: "Hello!"}, "Subscription": {"count": count}}
    schema, port = gqlnb.Schema(SDL, resolvers), find_free_port()
    access = Access(hosts=["hub.example.com"])
    with serve(schema, port, root_path=f"{PREFIX}proxy/{port}", access=access) as made:
        yield made


def test_a_served_schema_is_reached_through_the_hub(hub: str, server: Server) -> None:
    """With a token of the Hub: queries, subscriptions, and the page with what belongs to it."""
    url = f"{hub}{PREFIX}proxy/{server.port}/graphql"
    with Client(url, token=Token(TOKEN, scheme="token")) as client:
        assert client.execute("{ hello }").data == {"hello": "Hello!"}
        for way in ("ws", "sse"):
            events = client.subscribe("subscription { count }", transport=way)
            assert [event["count"] for event in events] == [0, 1]
    headers = {"Authorization": f"token {TOKEN}", "Host": "hub.example.com", "Accept": "text/html"}
    page = requests.get(url, headers=headers, timeout=20)
    asset = page.text.partition('src="')[2].partition('"')[0]
    assert requests.get(urljoin(url, asset), headers=headers, timeout=20).ok


def test_strangers_are_refused_by_the_hub(hub: str, server: Server) -> None:
    """Nothing reaches the server."""
    with pytest.raises(TransportError) as caught:
        Client(f"{hub}{PREFIX}proxy/{server.port}/graphql").execute("{ hello }")
    assert caught.value.status in (302, 403)
    assert len(server.log) == 0

"""Clients of endpoints on Unix sockets: ours, and nginx."""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import (
    AuthError,
    Client,
    OptionError,
    Schema,
    TargetError,
    Token,
    TransportError,
    connect,
    recorded,
    reference_schema,
    serve,
)
from gqlnb.client.response_cache import cached

if TYPE_CHECKING:
    from pathlib import Path

    from gqlnb import Server

SDL = "type Query { hello: String } type Subscription { count: Int }"
URL = "http://localhost/graphql"
DATA = {"hello": "Hello world!"}


async def count(*_: object) -> Any:
    """Yield three events."""
    for number in range(3):
        yield {"count": number}


@pytest.fixture
def socket_path(tmp_path):
    """Return the path of the server's socket."""
    return tmp_path / "Server.sock"


@pytest.fixture
def server(socket_path):
    """Yield a server on a socket."""
    query = {"hello": lambda *_: "Hello world!"}
    schema = Schema(SDL, {"Query": query, "Subscription": {"count": count}})
    with serve(schema, uds=socket_path) as made:
        yield made


def make_targets(server: Server, path: Path) -> dict[str, Client]:
    """Return clients by each way to name the socket."""
    return {
        "uds=": Client(URL, uds=path),
        "the server": Client(server),
        "its address": connect(server.url),
    }


@pytest.mark.parametrize("way", ["uds=", "the server", "its address"])
@pytest.mark.parametrize("transport", ["ws", "sse"])
def test_queries_and_subscriptions_reach_the_socket(
    server, socket_path, way, transport, monkeypatch
):
    """Sync and async, past the proxy that the environment names, over one connection."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with make_targets(server, socket_path)[way] as client:
        assert client.execute("{ hello }").data == DATA
        assert asyncio.run(client.aexecute("{ hello }")).data == DATA
        assert client.schema.subscription_type is not None
        assert client._endpoint.transport._connections.get_route().pool.num_connections == 1
        events = client.subscribe("subscription { count }", transport=transport)
        assert [event["count"] for event in events] == [0, 1, 2]
        assert client.source == server.url


def test_a_pickle_keeps_the_socket(server, socket_path):
    """Another process of this machine finds it."""
    again = pickle.loads(pickle.dumps(Client(URL, uds=os.fspath(socket_path))))
    assert again.execute("{ hello }").data == DATA


def test_a_connection_of_a_settings_file_names_its_socket(
    server, socket_path, tmp_path, monkeypatch
):
    """A wrong value is reported with its line."""
    monkeypatch.chdir(tmp_path)
    table = f'[tool.gqlnb.connections.local]\nurl = "{URL}"\nuds = "{socket_path}"\n'
    (tmp_path / "pyproject.toml").write_text(table)
    assert connect("local").execute("{ hello }").data == DATA
    (tmp_path / "pyproject.toml").write_text(table.replace(f'"{socket_path}"', "7"))
    with pytest.raises(TargetError, match=r"line 3: .*uds= takes the path of a socket"):
        connect("local")


def test_two_sockets_are_two_endpoints(tmp_path):
    """In recordings, among remembered answers, and for tokens, although the address is the same."""
    with (
        serve(reference_schema(), uds=tmp_path / "a") as first,
        serve(Schema("type Query { hello: Int }", {"Query": {"hello": lambda *_: 7}}),
              uds=tmp_path / "b"),
    ):  # fmt: skip
        clients = [Client(URL, uds=tmp_path / name) for name in "ab"]
        with cached("1h"):
            for client in clients * 2:
                client.execute("{ hello }")
            answers = [client.execute("{ hello }") for client in clients]
        assert [answer["hello"] for answer in answers] == ["Hello world!", 7]
        assert len(first.log) == 1
        with recorded(tmp_path / "both.json"):
            recordings = [client.execute("{ hello }")["hello"] for client in clients]
        assert recordings == ["Hello world!", 7]
        token = Token("secret-of-a")
        Client(URL, uds=tmp_path / "a", token=token)
        with pytest.raises(AuthError, match="was given to a client of"):
            Client(URL, uds=tmp_path / "b", token=token)


def test_a_socket_without_a_server_is_explained(socket_path):
    """Its file is missing, or nobody listens there."""
    with pytest.raises(TransportError, match=r"http\+unix://.*: there is no such socket"):
        Client(URL, uds=socket_path).execute("{ hello }")
    with pytest.raises(TransportError, match="there is no such socket"):
        list(Client(URL, uds=socket_path).subscribe("subscription { count }", reconnect=0))
    server = serve(reference_schema(), uds=socket_path)
    socket_path.rename(socket_path.with_suffix(".old"))
    server.close()
    with pytest.raises(TransportError, match="Nothing listens there"):
        Client(URL, uds=socket_path.with_suffix(".old")).execute("{ hello }")


def test_wrong_sockets_are_refused(server, socket_path):
    """Each error names the option."""
    for value in ("", 7, "a\0b"):
        with pytest.raises(OptionError, match="uds= takes the path of a socket"):
            Client(URL, uds=value)  # type: ignore[arg-type]
    with pytest.raises(TargetError, match="uds= would have no effect"):
        Client(reference_schema(), uds=socket_path)
    with pytest.raises(TargetError, match=r"names the socket .* already"):
        Client(server.url, uds=socket_path)


@pytest.mark.slow
def test_virtual_hosts_of_nginx_on_one_socket(tmp_path):
    """The host of the address chooses between them; a token may go there without TLS."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is not installed")
    hosts = "".join(
        f'server {{ listen unix:{tmp_path}/n.sock; server_name {name}; location / {{ default_type '
        f'application/json; return 200 \'{{"data":{{"hello":"{name}"}}}}\'; }} }}'
        for name in ("one.internal", "two.internal")
    )  # fmt: skip
    logs = f"error_log {tmp_path}/error.log; pid {tmp_path}/pid; daemon on;"
    paths = "".join(
        f"{name}_temp_path {tmp_path}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = tmp_path / "nginx.conf"
    config.write_text(f"{logs} events {{}} http {{ access_log off; {paths} {hosts} }}")
    command = [nginx, "-p", str(tmp_path), "-e", f"{tmp_path}/error.log", "-c", str(config)]
    subprocess.run(command, check=True)  # it returns when it listens
    try:
        for name in ("one.internal", "two.internal"):
            address = f"http://{name}/graphql"
            with Client(address, uds=tmp_path / "n.sock", token=Token("secret-1")) as client:
                assert client.execute("{ hello }").data == {"hello": name}
    finally:
        subprocess.run([*command, "-s", "stop"], check=True)

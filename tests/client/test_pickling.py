"""Clients are pickled with all of their options, or refused; copies share their resources."""

from __future__ import annotations

import copy
import pickle
import ssl
import subprocess
import sys

import pytest
from graphql import build_schema

from gqlnb import Client, Limits, Token, connect, recorded, reference_schema, serve
from gqlnb.client import connections
from gqlnb.client.pickling import build_recipe
from gqlnb.server.app import App
from tests.named_connections import forget_connection

HELLO = "{ hello }"
SECRET = "abcdefgh-1234"
KEY = "c0ffee0123456789abcdef0123456789"


@pytest.fixture
def server():
    """Yield a server that asks for a token."""
    with serve(reference_schema(), port=0, token=Token(SECRET)) as made:
        yield made


def test_all_options_are_pickled(server, monkeypatch, tmp_path):
    """Timeout, limits, headers, verify, schema and the source of the token."""
    monkeypatch.setenv("SOME_TOKEN", SECRET)
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("")
    client = Client(
        server.url,
        token="env:SOME_TOKEN",
        headers={"X-Api-Key": "env:SOME_TOKEN", "X-Plain": "yes"},
        schema="type Query { hello: String added: Int }",
        timeout=7,
        limits=Limits(answer=1000, wait=3),
        verify=bundle,
    )
    data = pickle.dumps(client)
    assert SECRET.encode() not in data
    again = pickle.loads(data)
    recipe = build_recipe(again._endpoint)
    assert recipe == build_recipe(client._endpoint)
    assert (recipe["timeout"], recipe["limits"]) == (7, Limits(answer=1000, wait=3))
    assert (recipe["headers"]["X-Plain"], recipe["verify"]) == ("yes", str(bundle))
    assert "added" in again.schema.query_type.fields
    assert again.execute(HELLO).data == client.execute(HELLO).data


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda url: Client(url, token=Token(SECRET)), "token='env:NAME'"),
        (lambda url: Client(f"{url}?api_key={SECRET}"), "passed as a value"),
        (lambda url: Client(f"{url}/{KEY}"), "passed as a value"),
        (
            lambda url: Client(url, headers={"Cookie": Token(f"a={SECRET}", "")}),
            "headers={'X-Api-Key'",
        ),
        (lambda _: Client(reference_schema()), "Serve it, and ask its address"),
        (lambda _: Client(build_schema("type Query { a: Int }")), "Serve it, and ask its address"),
        (lambda _: Client(App(reference_schema())), "Serve it, and ask its address"),
        (lambda _: connect("demo", viewer="ann"), "Serve it, and ask its address"),
        (lambda url: Client(url, token=Token(lambda: SECRET)), "token='env:NAME'"),
        (
            lambda url: Client(url, verify=ssl.create_default_context()),
            "its verify= is an SSLContext of this process. Give the path of a CA bundle.",
        ),
    ],
    ids=[
        *(
            "token",
            "address",
            "path",
            "cookie",
            "schema",
            "adopted schema",
            "ASGI application",
            "options",
        ),
        *("function", "context"),
    ],
)
def test_unpicklable_clients_are_refused(make, reason):
    """The error has the reason and the remedy, and no secret."""
    with pytest.raises(TypeError, match="This client cannot be pickled: ") as caught:
        pickle.dumps(make("http://127.0.0.1:4000/graphql"))
    assert reason in str(caught.value)
    assert SECRET not in str(caught.value)


def test_session_connections_are_not_pickled_by_name():
    """Other processes do not know them; the client's address is pickled with the name."""
    connections.register_connection(
        "here", lambda **given: Client(reference_schema(), **given), "a schema"
    )
    connections.register_connection(
        "there", lambda **given: Client("http://127.0.0.1:9/x", **given), "far"
    )
    try:
        with pytest.raises(TypeError, match="Serve it"):
            pickle.dumps(connect("here"))
        again = pickle.loads(pickle.dumps(connect("there")))
        assert (again.source, again.name) == ("http://127.0.0.1:9/x", "there")
    finally:
        forget_connection("here")
        forget_connection("there")


def test_options_of_session_connections_are_pickled_or_refused(tmp_path):
    """CA bundle and schema are pickled with the address; an SSLContext cannot be."""
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("")
    options = {"verify": bundle, "schema": "type Query { added: Int }"}
    address = "http://127.0.0.1:9/x"
    connections.register_connection(
        "there", lambda **given: Client(address, **(options | given)), "far"
    )
    try:
        for client in (Client("there"), connect("there")):
            again = pickle.loads(pickle.dumps(client))
            assert build_recipe(again._endpoint)["verify"] == str(bundle)
            assert "added" in again.schema.query_type.fields
        own = Client("there", schema="type Query { a: Int }")
        assert "a" in pickle.loads(pickle.dumps(own)).schema.query_type.fields
        options["verify"] = ssl.create_default_context()
        connections.register_connection(
            "there", lambda **given: Client(address, **(options | given)), "far"
        )
        for make in (Client, connect):
            with pytest.raises(TypeError, match="verify= is an SSLContext"):
                pickle.dumps(make("there"))
    finally:
        forget_connection("there")


def test_a_recording_is_pickled_with_its_client(tmp_path):
    """As its path and mode; a replay needs no endpoint."""
    path = tmp_path / "a.jsonl"
    with serve(reference_schema(), port=0) as server, recorded(path):
        client = Client(server.url)
        expected = client.execute(HELLO).data
    again = pickle.loads(pickle.dumps(Client(client.source, recording=path, mode="replay")))
    assert again.execute(HELLO).data == expected


LOAD = """
import pickle, sys
for data, text in pickle.load(sys.stdin.buffer):
    client = pickle.loads(data)
    about = client.source, client.name, client._endpoint.options.validate
    print(*about, client.execute(text).data if text else "")
"""
FRESH = {
    "demo": (lambda _: connect("demo"), "{ viewer { login } }", "{'viewer': {'login': 'demo'}}"),
    "demo by its class": (lambda _: Client("demo", schema=connect("demo").schema),
        "{ viewer { login } }", "{'viewer': {'login': 'demo'}}"),
    "github": (lambda _: connect("github"), "", ""),
    "settings file": (lambda _: connect("work"), HELLO, "{'hello': 'Hello world!'}"),
    "address": (lambda url: Client(url, token="env:SOME_TOKEN", validate=False), HELLO,
        "{'hello': 'Hello world!'}"),
    "options": (lambda url: Client(url, token="env:SOME_TOKEN", batch=2,
        schema="type Query { hello: ID }"), HELLO, "{'hello': 'Hello world!'}"),
    "session": (lambda _: connect("session"), HELLO, "{'hello': 'Hello world!'}"),
    "recording": (lambda _: Client("http://x.example/graphql", recording="a.jsonl", mode="auto"),
        "", ""),
}  # fmt: skip


def test_a_fresh_process_makes_the_same_clients(server, monkeypatch, tmp_path):
    """It has imported nothing but the pickle, as a worker of multiprocessing with spawn."""
    monkeypatch.setenv("SOME_TOKEN", SECRET)
    monkeypatch.setenv("GH_TOKEN", SECRET)
    monkeypatch.chdir(tmp_path)
    lines = "[tool.gqlnb.connections.work]", f'url = "{server.url}"', 'token = "env:SOME_TOKEN"'
    (tmp_path / "pyproject.toml").write_text("\n".join(lines))
    connections.register_connection(
        "session", lambda **more: Client(server.url, **{"token": "env:SOME_TOKEN", **more}), "here"
    )
    given, expected = [], []
    try:
        for make, text, answer in FRESH.values():
            client = make(server.url)
            given.append((pickle.dumps(client), text))
            options = client._endpoint.options
            expected.append(f"{client.source} {client.name} {options.validate} {answer}")
            if client.name:
                connections.close_client(client.name)
    finally:
        forget_connection("session")
    data = pickle.dumps(given)
    assert SECRET.encode() not in data
    done = subprocess.run(
        [sys.executable, "-c", LOAD], input=data, capture_output=True, check=False, timeout=60
    )
    assert done.stdout.decode().splitlines() == expected, done.stderr.decode()


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_has_the_same_options_and_secrets(server, duplicate):
    """Within a process nothing is refused."""
    client = Client(server.url, token=Token(SECRET), timeout=7, headers={"X-Plain": "yes"})
    again = duplicate(client)
    assert again is not client
    assert again.execute(HELLO).data == {"hello": "Hello world!"}
    assert (again._endpoint.options.timeout, again._endpoint.credentials.headers) == (
        7,
        {"X-Plain": "yes"},
    )


def test_a_copy_of_an_in_process_client_works():
    """It executes with the same schema."""
    client = Client(reference_schema())
    assert copy.deepcopy(client)._local_schema is client._local_schema

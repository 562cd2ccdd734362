"""Rate-limited execution, and re-creating a client in another process."""

from __future__ import annotations

import pickle

import pytest

from gqlnb import Client, Limits, QueryError, TargetError, Token, reference_schema, serve
from gqlnb.client.client import connect
from gqlnb.errors import TransportError
from gqlnb.tokens import Token as Secret
from tests.client.faults import Wire

HELLO = "{ hello }"


def test_rate_limited_execution_returns_the_same_as_execute():
    """The same result, and the same error for an invalid document."""
    with serve(reference_schema(), port=0) as server, Client(server) as client:
        assert client._execute_in_turn(HELLO).data == client.execute(HELLO).data
        assert client._concurrency == 6
        with pytest.raises(QueryError, match="helo"):
            client._execute_in_turn("{ helo }")


def test_retries_can_be_disabled():
    """The first failure is raised to callers with their own policy."""

    def fail(_request):
        message = "busy: too much"
        raise TransportError(message, status=502)

    wire = Wire(fail)
    with pytest.raises(TransportError, match="too much"):
        Client(wire)._execute_in_turn(HELLO, give_up=lambda error: error.status == 502)
    assert len(wire.requests) == 1


@pytest.mark.parametrize("source", ["env:SOME_TOKEN", "file"])
def test_a_token_has_its_source(source, tmp_path, monkeypatch):
    """Not its value; an unbound copy has the same source."""
    monkeypatch.setenv("SOME_TOKEN", "abcdefgh-1234")
    path = tmp_path / "token"
    path.write_text("abcdefgh-1234")
    path.chmod(0o600)
    source = f"file:{path}" if source == "file" else source
    found = Token.from_source(source, "token")
    assert (found.where, found.unbound().where) == (source, source)
    assert found.build_header() == "token abcdefgh-1234"
    assert Token("abcdefgh-1234").where is None


def test_a_recipe_creates_an_equal_client(monkeypatch):
    """With address, token, headers and options; secrets as their sources."""
    monkeypatch.setenv("SOME_TOKEN", "abcdefgh-1234")
    with serve(reference_schema(), port=0, token=Secret("abcdefgh-1234")) as server:
        client = Client(
            server.url,
            token="env:SOME_TOKEN",
            headers={"X-Api-Key": "env:SOME_TOKEN", "X-Plain": "yes"},
            timeout=7,
            limits=Limits(wait=3),
        )
        data = pickle.dumps(client._make_recipe())
        assert b"abcdefgh" not in data
        recipe = pickle.loads(data)
        assert recipe.headers == (("X-Api-Key", "env:SOME_TOKEN"), ("X-Plain", "yes"))
        again = recipe.open_client(connect)
        assert again.execute(HELLO).data == client.execute(HELLO).data
        assert recipe.open_client(connect) is again
        assert again._make_recipe() == recipe


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda url: Client(url, token=Secret("abcdefgh-1234")), "passed as a value"),
        (lambda url: Client(f"{url}?api_key=abcdefgh-1234"), "passed as a value"),
        (
            lambda url: Client(url, headers={"Cookie": Secret("session=abcdefgh", "")}),
            "passed as a value",
        ),
        (lambda url: Client(reference_schema()), "Serve it"),
    ],
    ids=["token", "address", "cookie", "schema"],
)
def test_process_bound_clients_have_no_recipe(make, reason):
    """Secrets given by value and in-process schemas are refused without showing them."""
    with pytest.raises(TargetError, match=reason) as caught:
        make("http://127.0.0.1:4000/graphql")._make_recipe()
    assert "abcdefgh" not in str(caught.value)

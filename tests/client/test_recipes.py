"""A client asks in turn, waits as long as it is told, and can be made again elsewhere."""

from __future__ import annotations

import pickle

import pytest

from gqlnb import Client, Limits, QueryError, TargetError, Token, reference_schema, serve
from gqlnb.auth import Token as Secret
from gqlnb.client.client import connect
from gqlnb.errors import TransportError

HELLO = "{ hello }"


def test_in_turn_answers_as_execute_does():
    """The same result comes, and the same error for a text that is wrong."""
    with serve(reference_schema(), port=0) as server, Client(server) as client:
        assert client.execute_in_turn(HELLO).data == client.execute(HELLO).data
        assert client.concurrency == 6
        with pytest.raises(QueryError, match="helo"):
            client.execute_in_turn("{ helo }")


def test_a_failure_may_be_handed_over_at_once():
    """Who knows better than to ask again is told of the first failure."""
    asked = []

    class Busy:
        source = "busy"

        def send(self, request):
            asked.append(request)
            message = "busy: too much"
            raise TransportError(message, status=502)

        async def asend(self, request):
            return self.send(request)

        def close(self):
            """Do nothing."""

    with pytest.raises(TransportError, match="too much"):
        Client(Busy()).execute_in_turn(HELLO, over=lambda error: error.status == 502)
    assert len(asked) == 1


@pytest.mark.parametrize("source", ["env:SOME_TOKEN", "file"])
def test_a_token_knows_where_it_was_found(source, tmp_path, monkeypatch):
    """Its source, and not its value, is known; so it is of its unbound twin."""
    monkeypatch.setenv("SOME_TOKEN", "abcdefgh-1234")
    path = tmp_path / "token"
    path.write_text("abcdefgh-1234")
    path.chmod(0o600)
    source = f"file:{path}" if source == "file" else source
    found = Token.from_source(source, "token")
    assert (found.where, found.unbound().where) == (source, source)
    assert found.build_header() == "token abcdefgh-1234"
    assert Token("abcdefgh-1234").where is None


def test_a_recipe_makes_the_same_client(monkeypatch):
    """Address, token, headers and options travel, the secrets as where they are."""
    monkeypatch.setenv("SOME_TOKEN", "abcdefgh-1234")
    with serve(reference_schema(), port=0, token=Secret("abcdefgh-1234")) as server:
        client = Client(
            server.url,
            token="env:SOME_TOKEN",
            headers={"X-Api-Key": "env:SOME_TOKEN", "X-Plain": "yes"},
            timeout=7,
            limits=Limits(wait=3),
        )
        data = pickle.dumps(client.make_recipe())
        assert b"abcdefgh" not in data
        recipe = pickle.loads(data)
        assert recipe.headers == (("X-Api-Key", "env:SOME_TOKEN"), ("X-Plain", "yes"))
        again = recipe.open_client(connect)
        assert again.execute(HELLO).data == client.execute(HELLO).data
        assert recipe.open_client(connect) is again
        assert again.make_recipe() == recipe


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda url: Client(url, token=Secret("abcdefgh-1234")), "given by value"),
        (lambda url: Client(f"{url}?api_key=abcdefgh-1234"), "given by value"),
        (lambda url: Client(url, headers={"Cookie": "session=abcdefgh"}), "given by value"),
        (lambda url: Client(reference_schema()), "Serve it"),
    ],
    ids=["token", "address", "cookie", "schema"],
)
def test_what_stays_in_this_process_has_no_recipe(make, reason):
    """A secret given by value, or a schema of this process, is refused in words without it."""
    with pytest.raises(TargetError, match=reason) as caught:
        make("http://127.0.0.1:4000/graphql").make_recipe()
    assert "abcdefgh" not in str(caught.value)

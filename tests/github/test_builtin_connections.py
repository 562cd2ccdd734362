"""The names ``demo`` and ``connect_github`` lead to the stand-in and to GitHub."""

import pytest

from gqlnb import AuthError, connect
from gqlnb.github.builtin_connections import GITHUB_ENDPOINT, connect_github


def test_demo_answers_in_this_process():
    """The connection `demo` asks the stand-in and says so."""
    client = connect("demo")
    assert client.execute("{ viewer { login } }").data == {"viewer": {"login": "demo"}}
    assert client.source == "demo: embedded snapshot of 2026-08-22"


def test_demo_takes_the_options_of_the_service():
    """Options of the service pass through the connection."""
    client = connect("demo", viewer="mona", restricted=True)
    result = client.execute(
        '{ viewer { login } repository(owner: "git", name: "git") { stargazers { totalCount } } }'
    )
    assert result.data == {"viewer": {"login": "mona"}, "repository": None}


def test_github_without_a_token_says_how_to_get_one(monkeypatch):
    """Without a token the connection `github` names the kind of token and where to create it."""
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    with pytest.raises(AuthError) as caught:
        connect("github")
    for part in ("GITHUB_TOKEN is not set", "personal access token", "no permission", "prompt"):
        assert part in str(caught.value)


def test_github_takes_its_token_from_the_environment(monkeypatch):
    """With GITHUB_TOKEN set the connection leads to GitHub, and nothing shows the token."""
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secret")
    client = connect_github()
    assert client.source == GITHUB_ENDPOINT
    assert "ghp_secret" not in repr(client)


def test_github_takes_a_token_from_elsewhere(monkeypatch):
    """A token that is named wins over the environment."""
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.setenv("OTHER", "ghp_other")
    assert connect_github(token="env:OTHER").source == GITHUB_ENDPOINT

"""The built-in connections ``demo`` and ``github``."""

import pytest

from gqlnb import AuthError, TargetError, connect
from gqlnb.github.builtin_connections import GITHUB_ENDPOINT, connect_github, find_github_endpoint
from tests.client.faults import Endpoint, json_answer

ANSWER = json_answer({"data": {"viewer": {"login": "mona"}}})


def test_the_demo_connection_uses_the_stand_in():
    """Its source is the embedded snapshot."""
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


def test_github_without_a_token_explains_how_to_create_one(monkeypatch):
    """The error has the kind of token and the page to create it."""
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    with pytest.raises(AuthError) as caught:
        connect("github")
    for part in ("GITHUB_TOKEN is not set", "personal access token", "no permission", "prompt"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("variables", "sent"),
    [
        ({"GITHUB_TOKEN": "one-1"}, "one-1"),
        ({"GH_TOKEN": "two-2"}, "two-2"),
        ({"GITHUB_TOKEN": "one-1", "GH_TOKEN": "two-2"}, "two-2"),
        ({"GITHUB_TOKEN": "one-1", "GH_TOKEN": " "}, "one-1"),
    ],
)
def test_gh_token_has_priority_over_github_token(monkeypatch, variables, sent):
    """As in GitHub's command line tool; an empty variable is ignored."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    client = connect_github()
    assert client.source == GITHUB_ENDPOINT
    with Endpoint(ANSWER) as endpoint:
        monkeypatch.setattr("gqlnb.github.builtin_connections.GITHUB_ENDPOINT", endpoint.url)
        monkeypatch.setattr(
            "gqlnb.github.builtin_connections._is_github_cloud", lambda url: url == endpoint.url
        )
        connect_github().execute("{ viewer { login } }")
        assert f"bearer {sent}".encode() in endpoint.requests[0].lower()


@pytest.mark.parametrize(
    ("base", "endpoint"),
    [
        ("https://github.com", GITHUB_ENDPOINT),
        ("https://api.github.com", GITHUB_ENDPOINT),
        ("https://ghe.example.com", "https://ghe.example.com/api/graphql"),
        ("https://ghe.example.com:8443/", "https://ghe.example.com:8443/api/graphql"),
        ("https://ghe.example.com/api/v3/", "https://ghe.example.com/api/graphql"),
        ("https://ghe.example.com/api/graphql", "https://ghe.example.com/api/graphql"),
        ("https://octocorp.ghe.com", "https://api.octocorp.ghe.com/graphql"),
        ("https://api.octocorp.ghe.com", "https://api.octocorp.ghe.com/graphql"),
    ],
)
def test_an_enterprise_endpoint_is_derived_from_its_address(base, endpoint):
    """From the address of its website, its REST API or its GraphQL API."""
    assert find_github_endpoint(base) == endpoint


@pytest.mark.parametrize("base", ["ghe.example.com", "", "ftp://x", "https://u:canary@ghe.com"])
def test_a_base_url_that_is_not_an_address_is_refused(base):
    """The message shows the form of an address, and no password."""
    with pytest.raises(TargetError, match=r"https://github\.example\.com") as caught:
        connect("github", base_url=base)
    assert "canary" not in str(caught.value)


def test_an_enterprise_has_a_separate_token(monkeypatch):
    """The token of github.com is not sent to another host."""
    monkeypatch.setenv("GITHUB_TOKEN", "canary-1")
    monkeypatch.setenv("GH_TOKEN", "canary-2")
    with Endpoint(ANSWER) as endpoint:
        base = endpoint.url.removesuffix("/graphql")
        with pytest.raises(AuthError, match="GITHUB_ENTERPRISE_TOKEN is not set, nor is GH_ENT"):
            connect("github", base_url=base)
        monkeypatch.setenv("GH_ENTERPRISE_TOKEN", "ours-1")
        connect("github", base_url=base).execute("{ viewer { login } }")
        (request,) = endpoint.requests
    assert b"POST /api/graphql" in request
    assert b"ours-1" in request
    assert b"canary" not in request

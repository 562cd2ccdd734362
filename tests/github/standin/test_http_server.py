"""The stand-in is served on a port of its own, with GitHub's HTTP."""

import socket

import pytest
import requests

from gqlnb import OptionError, ServerError, background, connect, github, reference_schema, serve
from gqlnb.tokens import Token

VIEWER = {"query": "{ viewer { login } }"}


def test_a_server_answers_requests_and_our_client():
    """Over a socket: a plain request, and a client that finds the token by itself."""
    with github.serve(github.service(viewer="mona"), port=0, token=Token("open-sesame")) as server:
        answer = requests.post(
            server.url, json=VIEWER, headers={"Authorization": "bearer open-sesame"}, timeout=20
        )
        assert answer.json() == {"data": {"viewer": {"login": "mona"}}}
        assert answer.headers["x-ratelimit-resource"] == "graphql"
        assert requests.post(server.url, json=VIEWER, timeout=20).status_code == 401
        assert connect(server).execute("{ viewer { login } }").data == {"viewer": {"login": "mona"}}
        assert server in background.servers.list_open()
    assert server.closed
    assert server not in background.servers.list_open()


def test_serving_again_on_a_port_replaces_the_server():
    """Running a cell again closes the earlier server."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    first = github.serve(github.service(viewer="one"), port)
    with github.serve(github.service(viewer="two"), port) as second:
        assert first.closed
        answer = requests.post(second.url, json=VIEWER, timeout=20).json()
        assert answer == {"data": {"viewer": {"login": "two"}}}
    with github.serve(port=port) as third:
        assert third.port == port


def test_any_schema_can_replace_a_stand_in():
    """With `gqlnb.serve` on the same port the schema has plain HTTP, and vice versa."""
    with github.serve(port=0) as first:
        with serve(reference_schema(), first.port) as second:
            assert first.closed
            assert connect(second.url).execute("{ hello }").data == {"hello": "Hello world!"}
            headers = {"User-Agent": ""}
            assert (
                requests.post(second.url, json={}, headers=headers, timeout=20).status_code == 400
            )
        with github.serve(port=second.port) as third:
            answer = requests.post(third.url, json=VIEWER, headers=headers, timeout=20)
            assert answer.status_code == 403


def test_gh_is_answered_under_its_local_name():
    """The name that gh 2.23 sends with GH_HOST=github.localhost; others remain refused."""
    with github.serve(port=0) as server:
        for name, status in [
            ("api.github.localhost", 200),
            ("github.localhost.example", 403),
            ("other.localhost", 403),
        ]:
            answer = requests.post(server.url, json=VIEWER, headers={"Host": name}, timeout=20)
            assert answer.status_code == status


def test_a_public_address_needs_a_token():
    """An address that other hosts can reach."""
    with pytest.raises(ServerError, match="needs a token"):
        github.serve(port=0, host="0.0.0.0")


@pytest.mark.parametrize("options", [{"limits": {"depth": 5}}, {"standin": github.schema()}])
def test_options_of_the_wrong_type_are_refused(options):
    """Limits or a schema of another type are an error in the caller's thread."""
    (name,) = options
    with pytest.raises(OptionError, match=rf"^{name}= takes "):
        github.serve(port=0, **options)

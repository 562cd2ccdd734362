"""The client over HTTP: requests, responses and secrecy."""

import json
import socket
from functools import partial

import pytest

from gqlnb import Client, TargetError, Token, TransportError, connect
from tests.client.faults import answer

SECRET = "canary-91ab"


response = partial(answer, Connection="close")
HELLO = response('{"data": {"hello": "Hi"}}')


def client(server, **options):
    """Return a client with a token."""
    return Client(server.url, token=Token(SECRET), **options)


def test_requests_are_posts_of_json(canned):
    """Method, media types, body and token follow the GraphQL over HTTP specification."""
    canned.answers.append(HELLO)
    result = client(canned).execute("query Q($a: Int) { hello(a: $a) }", {"a": 5}, operation="Q")
    head, _, body = canned.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    assert lines[0] == "POST /graphql HTTP/1.1"
    assert headers["Content-Type"] == "application/json"
    assert headers["Accept"].startswith("application/graphql-response+json")
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert headers["User-Agent"].startswith("gqlnb")
    assert json.loads(body) == {
        "query": "query Q($a: Int) { hello(a: $a) }",
        "variables": {"a": 5},
        "operationName": "Q",
    }
    assert result.data == {"hello": "Hi"}


def test_a_netrc_file_does_not_replace_the_token(canned, tmp_path, monkeypatch):
    """The library `requests` would read it; the given token takes precedence."""
    netrc = tmp_path / "netrc"
    netrc.write_text("default login evil password evil\n")
    monkeypatch.setenv("NETRC", str(netrc))
    canned.answers += [HELLO, HELLO]
    client(canned).execute("{ hello }")
    Client(canned.url).execute("{ hello }")
    assert f"Authorization: Bearer {SECRET}".encode() in canned.requests[0]
    assert b"Authorization" not in canned.requests[1]


def test_environment_proxies_are_not_used_for_localhost(canned, monkeypatch):
    """Loopback traffic stays local."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    canned.answers.append(HELLO)
    assert client(canned).execute("{ hello }").data == {"hello": "Hi"}


def test_cookies_are_not_stored(canned):
    """The client never sends a cookie back."""
    canned.answers += [response('{"data": {"hello": null}}', Set_Cookie="a=b"), HELLO]
    made = client(canned)
    made.execute("{ hello }")
    made.execute("{ hello }")
    assert b"Cookie" not in canned.requests[1]


def test_a_redirect_on_the_same_origin_keeps_method_and_body(canned):
    """307 and 308 are followed there."""
    canned.answers += [response("", "308 Permanent Redirect", Location="/v2/graphql"), HELLO]
    assert client(canned).execute("{ hello }").data == {"hello": "Hi"}
    assert canned.requests[1].startswith(b"POST /v2/graphql ")
    assert b'"query"' in canned.requests[1]


@pytest.mark.parametrize("status", ["304 Not Modified", "300 Multiple Choices", "305 Use Proxy"])
def test_other_responses_of_the_300s_are_no_redirects(canned, status):
    """The error shows the status and the answer."""
    canned.answers.append(response("", status, Location="/x"))
    with pytest.raises(TransportError, match=rf"HTTP {status[:3]}\. Expected a GraphQL") as caught:
        client(canned).execute("{ hello }")
    assert caught.value.status == int(status[:3])


def test_a_refused_default_address_explains_how_to_serve(monkeypatch):
    """The message has the two lines of code."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        here = f"http://127.0.0.1:{free.getsockname()[1]}/graphql"
        for module in ("connections", "http_transport"):
            monkeypatch.setattr(f"gqlnb.client.{module}.DEFAULT_URL", here)
        with pytest.raises(
            TransportError, match=r"server = gqlnb.serve\(gqlnb.reference_schema\(\)\)"
        ):
            Client().execute("{ hello }")


@pytest.mark.parametrize(
    "url", ["ftp://host/graphql", "http://", "http://host:99999999/x", "://", "https:///graphql"]
)
def test_an_invalid_address_is_an_error(url):
    """The message has a valid example."""
    with pytest.raises(TargetError, match=r"http://127\.0\.0\.1:4000/graphql"):
        Client(url)


@pytest.mark.parametrize(
    "options",
    [
        *({"timeout": value} for value in (0, -1, True, "5", float("nan"), float("inf"))),
        *({"verify": value} for value in (5, "no/such/bundle.pem")),
    ],
)
@pytest.mark.parametrize("make", [Client, connect])
def test_an_invalid_option_raises_in_the_constructor(make, options):
    """Not when the first request is sent."""
    with pytest.raises(TargetError, match=f"^{next(iter(options))}= "):
        make("http://127.0.0.1:1/graphql", **options)

"""Exchanges of `request()`: what travelled, without secrets."""

from __future__ import annotations

import asyncio
import io
import pickle
from typing import Any

import pytest

from gqlnb import (
    Access,
    AuthError,
    Client,
    QueryError,
    ReplayError,
    TargetError,
    Token,
    TransportError,
    recorded,
    reference_schema,
    serve,
)
from gqlnb.client.response_cache import cached
from tests.client.faults import Close, Endpoint, answer, json_answer

SECRET = "canary-0f3d-secret"
FINE = json_answer({"data": {"hello": "x"}}, Set_Cookie=f"session={SECRET}x", X_Trace="7")
WAYS = {
    "request": lambda client, *given, **options: client.request(*given, **options),
    "arequest": lambda client, *given, **options: asyncio.run(client.arequest(*given, **options)),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_exchange_shows_what_travelled(way):
    """The headers and the body that the endpoint got, and its answer; of one request."""
    with Endpoint(FINE) as endpoint, Client(endpoint.url, headers={"X-Team": "blue"}) as client:
        exchange = WAYS[way](client, "query ($a: Int) { hello(a: $a) }", {"a": 1}, timeout=20)
        head, _, body = endpoint.requests[0].partition(b"\r\n\r\n")
    sent = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    assert dict(exchange.request_headers) == sent
    assert sent["X-Team"] == "blue"
    assert exchange.request_body == body.decode()
    assert (exchange.status, exchange.headers["x-trace"]) == (200, "7")
    assert exchange.body == '{"data": {"hello": "x"}}'
    assert exchange.url == endpoint.url
    assert exchange.history == ()


@pytest.mark.parametrize("way", WAYS)
def test_secrets_are_masked(way):
    """Tokens, also where the endpoint repeats them, and cookies; in the repr and in pickles."""
    echo = json_answer(
        {"data": {"hello": f"Bearer {SECRET}"}}, Set_Cookie="id=canary-1", X_E=SECRET
    )
    headers = {"X-Api-Key": Token(SECRET, scheme="")}
    with Endpoint(echo) as endpoint, Client(endpoint.url, headers=headers) as client:
        exchange = WAYS[way](client, "query ($a: String) { hello(a: $a) }", {"a": SECRET},
                             token=Token(f"other-{SECRET}"))  # fmt: skip
        assert endpoint.requests[0].count(SECRET.encode()) == 3
    text = f"{exchange!r}{pickle.dumps(exchange)!r}{vars(exchange)}"
    assert "canary" not in text
    assert exchange.request_headers["Authorization"] == "Bearer ***"
    assert exchange.headers["set-cookie"] == "***"


@pytest.mark.parametrize(
    ("response", "status"),
    [
        (answer("<h1>No</h1>", "502 Bad Gateway", Content_Type="text/html"), 502),
        (json_answer({"errors": [{"message": "no"}]}, "401 Unauthorized"), 401),
        (answer("", "302 Found", Location="https://login.example/"), 302),
    ],
)
def test_other_answers_are_returned_too(response, status):
    """They are errors of `execute()`; each is asked for once."""
    with Endpoint(response) as endpoint, Client(endpoint.url) as client:
        exchange = client.request("{ hello }")
        assert exchange.status == status
        assert f"< HTTP {status} after" in repr(exchange)
        assert len(endpoint.requests) == 1


def test_redirects_and_hashes_are_the_history():
    """Oldest first."""
    unknown = json_answer({"errors": [{"message": "PersistedQueryNotFound"}]})
    moved = answer("", "307 Temporary Redirect", Location="/other")
    with (
        Endpoint(unknown, moved, FINE) as endpoint,
        Client(endpoint.url, persisted_queries=True) as client,
    ):
        exchange = client.request("{ hello }")
    assert [it.status for it in (*exchange.history, exchange)] == [200, 307, 200]
    assert '"query"' not in exchange.history[0].request_body
    assert '"query"' in exchange.request_body
    assert exchange.url.endswith("/other")
    assert repr(exchange).count("> POST ") == 3


def test_nothing_is_remembered_or_recorded(tmp_path):
    """A remembered answer is not used; a recording refuses it."""
    with Endpoint(FINE) as endpoint, Client(endpoint.url) as client, cached("1h"):
        client.execute("{ hello }")
        client.request("{ hello }")
        assert len(endpoint.requests) == 2
        with recorded(tmp_path / "x.json"), pytest.raises(ReplayError, match="exchanges of req"):
            client.request("{ hello }")
        assert len(endpoint.requests) == 2


def test_long_bodies_are_cut_and_uploads_named():
    """In the repr alone; of an upload the body is not read again."""
    long = json_answer({"data": {"hello": "é" * 5000}})
    with Endpoint(long) as endpoint, Client(endpoint.url) as client:
        exchange = client.request("mutation ($f: Upload) { a(f: $f) }", {"f": io.BytesIO(b"x")})
    assert exchange.request_body == "(an upload)"
    assert "multipart/form-data" in exchange.request_headers["Content-Type"]
    assert len(exchange.body) > 5000
    assert "more characters)" in repr(exchange)
    assert len(repr(exchange)) < 4000


@pytest.mark.parametrize("way", WAYS)
def test_errors_before_an_answer_are_raised(way):
    """With their usual text."""
    ask: Any = WAYS[way]
    with pytest.raises(TargetError, match=r"request\(\) shows what travels over HTTP"):
        ask(Client(reference_schema()), "{ hello }")
    with Endpoint(Close()) as endpoint, Client(endpoint.url) as client:
        with pytest.raises(QueryError):
            ask(client, "{ hello")
        assert endpoint.requests == []
        with pytest.raises(TransportError, match="closed before an answer came"):
            ask(client, "{ hello }")
        with pytest.raises(AuthError):
            ask(client, "{ hello }", token="env:GQLNB_NO_SUCH_TOKEN")


def test_a_server_on_a_socket_and_in_tls_is_shown_alike(tmp_path):
    """With its address as `source` shows it."""
    with serve(reference_schema(), uds=tmp_path / "s", access=Access()) as server:
        exchange = Client(server).request("{ hello }")
    assert (exchange.url, exchange.request_headers["Host"]) == (server.url, "localhost")

"""Health, metrics, the access log, and the exchange of a schema without a restart."""

from __future__ import annotations

import http.client
import logging
import re
import socket
import sys

import pytest
import requests
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import gqlnb
from gqlnb.engine.schema import Schema
from gqlnb.errors import MissingExtraError, OptionError, ServerError
from gqlnb.http.server_rules import Access
from gqlnb.server.background_server import serve
from gqlnb.server.request_log import MAX_OPERATIONS, Metrics
from gqlnb.tokens import Token

HELLO = {"query": "{ hello }"}
BEARER = {"authorization": "Bearer open-sesame"}
LINE = re.compile(
    r'127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\] "([^" ]+ [^" ]+ [^" ]+)" '
    r"(\d{3}|-) (\d+|-)"
)


def start(**options):
    """Serve the reference schema with access rules."""
    token = options.pop("token", None)
    return serve(gqlnb.reference_schema(), port=0, access=Access(**options), token=token)


def get(server, path, **headers):
    """Get a path of a server."""
    return requests.get(f"http://127.0.0.1:{server.port}{path}", headers=headers, timeout=20)


@pytest.fixture
def lines(caplog):
    """Return a function that returns the requests, statuses and sizes of the access log."""
    caplog.set_level(logging.INFO, "gqlnb.access")

    def read():
        found = [LINE.fullmatch(it.getMessage()) for it in caplog.records]
        assert all(found), caplog.text
        return [it.groups() for it in found]

    return read


def test_nothing_is_there_by_default():
    """Health and metrics are answered only where they are asked for."""
    with start() as server:
        assert get(server, "/health").status_code == 404
        assert get(server, "/metrics").status_code == 404


@pytest.mark.parametrize("token", [None, Token("open-sesame"), lambda text: text == "open-sesame"])
def test_health_needs_no_token_and_tells_nothing(token):
    """It is the one path without a token: others, and other methods, stay as they are."""
    with start(health=True, token=token) as server:
        response = get(server, "/health")
        assert (response.status_code, response.json()) == (200, {"status": "ok"})
        assert response.headers["cache-control"] == "no-store"
        refused = 401 if token else 200
        url = f"http://127.0.0.1:{server.port}/health"
        assert requests.post(url, json=HELLO, timeout=20).headers["allow"] == "GET"
        assert requests.post(server.url, json=HELLO, timeout=20).status_code == refused
        for path in ("/health/", "/health/../graphql", "/health/graphql", "//health", "/HEALTH"):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            connection.request("GET", path)
            assert connection.getresponse().status == 404, path
            connection.close()
        assert get(server, "/metrics").status_code == 404
        assert get(server, "/health", Origin="https://evil.example").status_code == 403
        assert get(server, "/health", Host="evil.example").status_code == 403


@pytest.mark.parametrize(
    "token", [Token("open-sesame"), lambda text: text == "open-sesame" or None]
)
def test_metrics_need_the_token(token):
    """The names of operations are the users' business."""
    with start(metrics=True, token=token) as server:
        assert get(server, "/metrics").status_code == 401
        assert get(server, "/metrics", authorization="Bearer wrong").status_code == 401
        assert get(server, "/metrics", **BEARER).status_code == 200
        assert get(server, "/health").status_code == 404


def test_metrics_count_requests():
    """By operation and status, on the fast path too; read by Prometheus' own parser."""
    parser = pytest.importorskip("prometheus_client.parser")
    with start(metrics=True, profile="draft") as server:
        named = {"query": "query Greet { hello }"}
        for _ in range(6):
            requests.post(server.url, json=named, timeout=20)
        requests.post(server.url, data=b"x", timeout=20)
        response = get(server, "/metrics", accept="text/plain;version=0.0.4")
        assert response.headers["content-type"].startswith("text/plain; version=")
        samples = {
            (it.name, *it.labels.values()): it.value
            for family in parser.text_string_to_metric_families(response.text)
            for it in family.samples
        }
        assert samples["gqlnb_requests_total", "Greet", "200"] == 6
        assert samples["gqlnb_requests_total", "", "415"] == 1
        assert samples["gqlnb_request_seconds_count", "Greet"] == 6
        with serve(gqlnb.reference_schema(), server.port, access=Access(metrics=True)) as again:
            assert 'operation="Greet",status="200"} 6.0' in get(again, "/metrics").text


def test_a_client_cannot_create_labels_without_end():
    """Names beyond a hundred share a label, and no name ends its line."""
    pytest.importorskip("prometheus_client")
    with start(metrics=True) as server, requests.Session() as session:
        for number in range(MAX_OPERATIONS + 20):
            query = f"query Name{number} {{ hello }}"
            assert session.post(server.url, json={"query": query}, timeout=20).ok
        text = get(server, "/metrics").text
        counted = [it for it in text.splitlines() if it.startswith("gqlnb_requests_total")]
        assert len(counted) == MAX_OPERATIONS + 1
        assert 'gqlnb_requests_total{operation="other",status="200"} 20.0' in counted


@pytest.mark.parametrize("name", ['a"} 1\nfake{', "\ud800", "ä", "a b"])
def test_a_label_is_the_name_of_an_operation(name):
    """A text that cannot be one is counted as another."""
    pytest.importorskip("prometheus_client")
    metrics = Metrics()
    metrics.count_request(name, 200, 0.1)
    metrics.count_request("Greet", 200, 0.1)
    text = metrics.build_response().body.decode()
    assert set(re.findall(r'operation="(.*?)"', text)) == {"other", "Greet"}


def test_metrics_name_the_missing_package(monkeypatch):
    """It is optional."""
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(MissingExtraError, match=r"pip install prometheus-client"):
        start(metrics=True)


@pytest.mark.parametrize("path", ["/health", "/metrics"])
def test_the_endpoint_cannot_take_a_monitoring_path(path):
    """Whether or not it is served, since a re-run may switch it on."""
    with pytest.raises(OptionError, match="a path other than"):
        serve(gqlnb.reference_schema(), port=0, path=path)


def test_requests_are_logged_in_the_common_log_format(lines):
    """Every one, repeated ones too, without query strings."""
    with start(log=True, get=True) as server:
        for _ in range(4):
            size = len(requests.post(server.url, json=HELLO, timeout=20).content)
        get(server, "/graphql?query={hello}&token=open-sesame")
        get(server, "/secret")
    posted = ("POST /graphql HTTP/1.1", "200", str(size))
    found = lines()
    assert found[:4] == [posted] * 4
    assert [it[:2] for it in found[4:]] == [
        ("GET /graphql HTTP/1.1", "200"),
        ("GET /secret HTTP/1.1", "404"),
    ]


def test_nothing_is_logged_by_default(lines):
    """The option is off."""
    with start() as server:
        requests.post(server.url, json=HELLO, timeout=20)
    assert lines() == []


@pytest.mark.parametrize(
    ("path", "logged"),
    [
        (b"/a%0d%0a127.0.0.1%20-%20-%20[x]", "/a%0D%0A127.0.0.1%20-%20-%20%5Bx%5D"),
        (b"/%22%20200%205", "/%22%20200%205"),
        (b"/%1b[31m%e2%80%ae", "/%1B%5B31m%E2%80%AE"),
        (b"/" + b"x" * 2000, "/" + "x" * 199),
    ],
)
def test_a_path_cannot_write_a_line_of_its_own(lines, path, logged):
    """Line ends, quotes, spaces, escape and bidirectional characters are percent-encoded."""
    with (
        start(log=True) as server,
        socket.create_connection(("127.0.0.1", server.port), 20) as sock,
    ):
        sock.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert sock.recv(12) == b"HTTP/1.1 404"
    assert [it[:2] for it in lines()] == [(f"GET {logged} HTTP/1.1", "404")]


def test_websockets_are_logged_once(lines):
    """With 101 when they have ended, or the status of the refusal."""
    schema = Schema("type Query { a: Int } type Subscription { count: Int }")
    with serve(schema, port=0, access=Access(log=True)) as server:
        url = server.url.replace("http", "ws")
        with connect(url, subprotocols=["graphql-transport-ws"]):
            pass
        with pytest.raises(InvalidStatus):
            connect(f"{url}/x?query={{a}}")
    assert sorted(it[:2] for it in lines()) == [
        ("GET /graphql HTTP/1.1", "101"),
        ("GET /graphql/x HTTP/1.1", "404"),
    ]


def test_a_schema_is_replaced_without_closing_connections():
    """One connection sees both schemas; the token stays required."""
    one, two = (
        Schema("type Query { name: String }", {"Query": {"name": lambda *_, it=it: it}})
        for it in ("one", "two")
    )
    with serve(one, port=0, token=Token("open-sesame")) as server, requests.Session() as session:

        def ask():
            body = {"query": "{ name }"}
            return session.post(server.url, json=body, headers=BEARER, timeout=20).json()["data"]

        session.post(server.url, json=HELLO, headers=BEARER, timeout=20)
        connections = list(server._listener._watcher.state.connections)
        assert [ask() for _ in range(3)] == [{"name": "one"}] * 3
        server.reload(two)
        assert ask() == {"name": "two"}
        assert list(server._listener._watcher.state.connections) == connections
        assert requests.post(server.url, json=HELLO, timeout=20).status_code == 401
        with pytest.raises(ServerError):
            server.reload(object())
        assert ask() == {"name": "two"}
    with pytest.raises(ServerError, match="The server is closed"):
        server.reload(one)

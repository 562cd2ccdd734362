"""The client over HTTP: requests, responses and secrecy."""

import gzip
import json
import socket
import sys
import threading
import traceback

import pytest

from gqlnb import (
    AnswerError,
    AuthError,
    Client,
    Limits,
    QueryError,
    TargetError,
    Token,
    TransportError,
    connect,
)

SECRET = "canary-91ab"


def response(body, status="200 OK", **headers):
    """Return the bytes of a response."""
    body = body if isinstance(body, bytes) else body.encode()
    named = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


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


def test_headers_may_contain_tokens(canned):
    """Their values are sent and not shown."""
    canned.answers.append(HELLO)
    made = Client(canned.url, headers={"X-Key": Token(SECRET, ""), "X-Other": "plain"})
    made.execute("{ hello }")
    assert f"X-Key: {SECRET}".encode() in canned.requests[0]
    assert b"X-Other: plain" in canned.requests[0]
    assert SECRET not in repr(made)


def test_a_gzipped_response_is_decoded(canned):
    """Gzip is the only encoding we request."""
    body = gzip.compress(b'{"data": {"hello": "Hi"}}')
    canned.answers.append(response(body, Content_Encoding="gzip"))
    assert client(canned).execute("{ hello }").data == {"hello": "Hi"}


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


def test_a_redirect_to_another_origin_is_not_followed(canned, other):
    """Neither the body nor the token is sent to it."""
    canned.answers.append(response("", "307 Temporary Redirect", Location=other.url))
    with pytest.raises(TransportError, match=f"redirects to {other.url}"):
        client(canned).execute("{ hello }")
    assert other.requests == []


def test_a_redirect_on_the_same_origin_keeps_method_and_body(canned):
    """307 and 308 are followed there."""
    canned.answers += [response("", "308 Permanent Redirect", Location="/v2/graphql"), HELLO]
    assert client(canned).execute("{ hello }").data == {"hello": "Hi"}
    assert canned.requests[1].startswith(b"POST /v2/graphql ")
    assert b'"query"' in canned.requests[1]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other"])
def test_a_redirect_that_would_become_a_get_is_an_error(canned, status):
    """The message has the new address."""
    canned.answers.append(response("", status, Location="/login"))
    with pytest.raises(TransportError, match=r"redirects to .*/login"):
        client(canned).execute("{ hello }")


@pytest.mark.parametrize("status", ["304 Not Modified", "300 Multiple Choices", "305 Use Proxy"])
def test_other_responses_of_the_300s_are_no_redirects(canned, status):
    """The error shows the status and the answer."""
    canned.answers.append(response("", status, Location="/x"))
    with pytest.raises(TransportError, match=rf"HTTP {status[:3]}\. Expected a GraphQL") as caught:
        client(canned).execute("{ hello }")
    assert caught.value.status == int(status[:3])


def test_redirects_are_limited(canned):
    """Five are enough."""
    canned.answers += [response("", "307 Temporary Redirect", Location="/graphql")] * 9
    with pytest.raises(TransportError, match="more than 5 times"):
        client(canned).execute("{ hello }")


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


def test_another_refused_address_is_reported_without_advice():
    """Serving on port 4000 would not help."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/graphql"
        with pytest.raises(TransportError, match=r"Nothing listens there\.$"):
            Client(url).execute("{ hello }")


FAULTS = {
    "closed": (None, TransportError, "the connection failed"),
    "cut": (response("x" * 50)[:-20], TransportError, "the response is incomplete"),
    "no http": (b"SSH-2.0-OpenSSH\r\n", TransportError, "the connection failed"),
    "html": (response("<html>hi</html>"), AnswerError, "Is this the address of a GraphQL endpoint"),
    "bad gateway": (response("<html>", "502 Bad Gateway"), TransportError, "HTTP 502"),
    "bad gzip": (
        response(b"notgzip", Content_Encoding="gzip"),
        TransportError,
        "could not be read",
    ),
    "echo": (response(json.dumps({"errors": [{"message": SECRET}]})), QueryError, r"\*\*\*"),
    "refused": (
        response(json.dumps({"message": f"bad {SECRET}"}), "401 No"),
        AuthError,
        "401: bad \\*\\*\\*",
    ),
    "bad json": (response('{"data": '), AnswerError, "not valid JSON"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_one_error_without_the_token(canned, fault):
    """No library exception as cause, and no traceback frame with the token."""
    answer, kind, message = FAULTS[fault]
    canned.answers.append(answer)
    with pytest.raises(kind, match=message) as caught:
        client(canned).execute("{ hello }")
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    report = traceback.TracebackException.from_exception(error, capture_locals=True)
    del report.stack[0]  # this test's own frame, which holds the canned answer
    shown = "".join(report.format())
    assert SECRET not in shown


def test_a_response_over_the_size_limit_is_an_error(canned):
    """A server cannot fill the memory."""
    canned.answers.append(response(json.dumps({"data": {"a": "x" * 5000}})))
    with pytest.raises(TransportError, match="larger than 1000 bytes"):
        client(canned, limits=Limits(answer=1000)).execute("{ a }")


def test_a_timeout_is_an_error():
    """The message has the timeout and the remedy."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/graphql"
        with pytest.raises(TransportError, match=r"no answer within 0.2 s. Try again, or pass"):
            Client(url, timeout=0.2).execute("{ hello }")


@pytest.mark.parametrize(
    "url", ["ftp://host/graphql", "http://", "http://host:99999999/x", "://", "https:///graphql"]
)
def test_an_invalid_address_is_an_error(url):
    """The message has a valid example."""
    with pytest.raises(TargetError, match=r"http://127\.0\.0\.1:4000/graphql"):
        Client(url)


def test_secrets_in_an_address_are_not_shown(canned):
    """The query string is omitted in reprs and errors."""
    made = Client(f"{canned.url}?key={SECRET}")
    canned.answers.append(response("<html>"))
    with pytest.raises(AnswerError) as caught:
        made.execute("{ hello }")
    assert SECRET not in f"{made!r} {caught.value}"


@pytest.mark.parametrize("options", [{"token": Token("x")}, {"headers": {"X": Token("x")}}])
def test_a_token_is_not_sent_without_tls(options):
    """Plain http to another host is refused before a request is sent."""
    with pytest.raises(AuthError, match="Use https"):
        Client("http://example.org/graphql", **options)


def test_a_header_with_a_line_break_is_refused():
    """It would inject another header."""
    with pytest.raises(TargetError, match="line break"):
        Client("http://127.0.0.1:1/graphql", headers={"X": "a\r\nY: b"})


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


def test_one_client_works_from_many_threads(canned):
    """Each thread gets its own answer."""
    canned.answers += [response(json.dumps({"data": {"n": 1}}))] * 40
    made, seen = client(canned), []

    def ask():
        seen.extend(made.execute("{ n }").data["n"] for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 40


def test_the_http_library_is_loaded_on_first_use():
    """`import gqlnb` imports no HTTP library."""
    import subprocess

    code = "import gqlnb, sys; sys.exit('requests' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""No frame, exception or message shows the secrets that a client sends."""

import asyncio
import base64
import signal
import socket
import sys
import threading
from functools import partial
from types import SimpleNamespace

import pytest

import gqlnb
from gqlnb import (
    AuthError,
    Client,
    GqlnbError,
    PartialError,
    ReplayError,
    TargetError,
    Token,
    TransportError,
)
from gqlnb.client.credentials import redact_url, strip_url
from gqlnb.client.transports import InProcessTransport
from tests.client.faults import Close, answer, json_answer
from tests.tracebacks import describe_frames

SECRET = "canary-91ab"
OPTIONS = {  # made anew for each client: a token belongs to one endpoint
    "token": lambda: {"token": Token(SECRET)},
    "function": lambda: {"token": Token(lambda: SECRET)},
    "authorization": lambda: {"headers": {"Authorization": Token.from_header(f"Bearer {SECRET}")}},
    "cookie": lambda: {"headers": {"Cookie": Token.from_header(f"a=b; session={SECRET}")}},
    "key": lambda: {"headers": {"X-Api-Key": Token(SECRET, "")}},
    "headers token": lambda: {"headers": {"X-Other": Token(SECRET, "")}},
}


HELLO = json_answer({"data": {"hello": None}}, Connection="close")


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_an_interrupt_shows_no_header(canned, options):
    """Ctrl-C while the endpoint is silent leaves no frame of the library in the traceback."""
    main = threading.main_thread().ident
    canned.answers.append(lambda _, over: signal.pthread_kill(main, signal.SIGINT) or over.wait())
    with pytest.raises(KeyboardInterrupt) as caught:
        Client(canned.url, **options()).execute("{ hello }")
    assert SECRET.encode() in canned.requests[0]
    assert caught.value.__context__ is None
    assert SECRET not in describe_frames(caught.value)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("how", ["send", "asend"])
def test_an_unrecordable_answer_is_not_shown(canned, tmp_path, monkeypatch, options, how):
    """The disk is full, and the endpoint repeated the token in data and headers."""

    def write_to_full_disk(cassette, _file, line):
        if not line:  # the file is made ready; then the disk is full
            return 0
        raise cassette._build_file_error(OSError(28, "No space left on device"))

    reply = json_answer({"data": {"a": SECRET}, "extensions": {SECRET: [SECRET]}}, X_Seen=SECRET)
    canned.answers.append(reply)
    client = Client(canned.url, **options(), recording=tmp_path / "it.jsonl", mode="record")
    client.close()
    monkeypatch.setattr("gqlnb.client.recording.cassette.Cassette._write_line", write_to_full_disk)
    ask = client.execute if how == "send" else lambda text: asyncio.run(client.aexecute(text))
    with pytest.raises(ReplayError, match="No space left on device") as caught:
        ask("{ hello }")
    assert SECRET.encode() in canned.requests[0]
    assert caught.value.__context__ is None
    assert SECRET not in describe_frames(caught.value)


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, KeyError])
def test_an_unexpected_exception_shows_no_header(canned, monkeypatch, kind):
    """Any failure of a library becomes our error, without the library's frames."""

    def broken(*_, **__):
        raise kind(SECRET)

    canned.answers.append(json_answer({"data": {}}))
    monkeypatch.setattr("http.client.HTTPConnection.endheaders", broken)
    with pytest.raises(TransportError, match=kind.__name__) as caught:
        Client(canned.url, token=Token(SECRET)).execute("{ hello }")
    assert caught.value.__context__ is None
    assert SECRET not in describe_frames(caught.value)
    canned.answers.clear()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("how", ["send", "asend"])
def test_an_application_that_raises_shows_no_header(options, how):
    """The scope has the headers; the error has the exception's message and location."""
    seen = []

    async def app(scope, receive, send):
        seen.append(str(scope["headers"]))
        msg = f"broken by {SECRET}"
        raise ValueError(msg)

    client = Client(app, **options())
    ask = client.execute if how == "send" else lambda text: asyncio.run(client.aexecute(text))
    with pytest.raises(TransportError, match=r"ValueError: broken by \*\*\*.* in app") as caught:
        ask("{ hello }")
    assert SECRET in seen[0]
    assert caught.value.__context__ is None
    assert "scope" not in describe_frames(caught.value)


def test_an_awaited_application_can_be_cancelled():
    """The CancelledError has no frames with the token."""

    async def app(scope, receive, send):
        await asyncio.Event().wait()

    async def main():
        task = asyncio.create_task(Client(app, token=Token(SECRET)).aexecute("{ hello }"))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError) as caught:
        asyncio.run(main())
    assert SECRET not in describe_frames(caught.value)


@pytest.mark.parametrize(
    "headers",
    [
        {"X": None},
        {"X": b"bytes"},
        {"X": "a\r\nY: b"},
        {"X": "\u20ac"},
        {"X-Key": "\u00e9"},
        {"a b": "c"},
        {"": "c"},
        {None: "c"},
        {"X\n": "c"},
        "x",
        5,
    ],
)
def test_invalid_headers_are_refused_in_the_constructor(canned, headers):
    """The message names the header and shows no values, including those of other headers."""
    given = {"Authorization": Token(SECRET), **headers} if type(headers) is dict else headers
    for make in (Client, gqlnb.connect):
        with pytest.raises(TargetError, match="header") as caught:
            make(canned.url, headers=given)
        assert SECRET not in str(caught.value)
        assert caught.value.__context__ is None


SECRET_HEADERS = pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", f"Bearer {SECRET}"),
        ("authorization", SECRET),
        ("Proxy-Authorization", f"Basic {SECRET}"),
        ("Cookie", f"theme=dark; session={SECRET}"),
        ("X-Api-Key", SECRET),
        ("apikey", SECRET),
        ("Private-Token", SECRET),
        ("X-Hasura-Admin-Secret", SECRET),
        ("X-Auth", SECRET),
        ("X-Thing", "ghp_abcdefgh1234"),
        ("X-Thing", "a eyJhbGciOiJI.eyJzdWIiOiIx.abc b"),
    ],
)


@SECRET_HEADERS
def test_a_secret_given_as_text_is_refused(canned, tmp_path, name, value):
    """As ``token=`` refuses it; also where a recording could answer, and in ``connect``."""
    for make in (Client, gqlnb.connect, partial(Client, recording=tmp_path / "new.jsonl")):
        with pytest.raises(AuthError, match=f"{name}' is a secret given as text.*'env:NAME'") as it:
            make(canned.url, headers={name: value})
        assert max(value.split(), key=len) not in str(it.value)
        assert it.value.__context__ is None
    assert canned.requests == []


def test_the_same_header_is_accepted_from_every_source(canned, monkeypatch, tmp_path):
    """A variable, a file, a TokenBox and a Token, with and without a scheme before the source."""
    monkeypatch.setenv("MY_TOKEN", SECRET)
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    box = SimpleNamespace(token=Token(SECRET))
    sources = [
        "Bearer env:MY_TOKEN",
        f"Bearer file:{file}",
        box,
        Token.from_header(f"Bearer {SECRET}"),
    ]
    for source in sources:
        canned.answers.append(HELLO)
        Client(canned.url, headers={"Authorization": source}).execute("{ hello }")
        assert f"Authorization: Bearer {SECRET}\r\n".encode() in canned.requests[-1]
    with pytest.raises(AuthError, match="variable NOT_SET is not set"):
        Client(canned.url, headers={"Authorization": "Bearer env:NOT_SET"})
    with pytest.raises(AuthError, match="can't be read"):
        Client(canned.url, headers={"Authorization": f"Bearer file:{file}x"})


@SECRET_HEADERS
def test_a_secret_header_is_hidden(canned, name, value):
    """It is sent unchanged, hidden in errors, and not sent to other hosts without TLS."""
    canned.answers.append(json_answer({"message": f"no {value.split('=')[-1]}"}, "401 No"))
    with pytest.raises(AuthError, match=r"no .*\*\*\*") as caught:
        Client(canned.url, headers={name: Token.from_header(value)}).execute("{ hello }")
    assert f"{name}: {value}".encode() in canned.requests[0]
    assert SECRET not in describe_frames(caught.value)
    with pytest.raises(AuthError, match="Use https"):
        Client("http://example.org/graphql", headers={name: Token.from_header(value)})


@pytest.mark.parametrize("name", ["Idempotency-Key", "X-Monkeys", "X-Request-Id", "Keyboard"])
def test_other_headers_are_not_secrets(name):
    """They may be sent to any host."""
    assert Client("http://example.org/graphql", headers={name: "abc"}).source


def test_data_are_never_masked(canned):
    """A value equal to the token stays in the data; only errors are masked."""
    members = {
        "data": {"me": SECRET, SECRET: [SECRET]},
        "errors": [{"message": f"no {SECRET}", "path": ["me"]}],
        "extensions": {"trace": [SECRET]},
    }
    canned.answers.append(json_answer(members))
    result = Client(canned.url, token=Token(SECRET)).execute("{ me }")
    assert result.data == members["data"]
    assert result.errors == ({"message": "no ***", "path": ["me"]},)
    assert result.extensions == {"trace": ["***"]}
    assert SECRET not in repr(result.response)
    with pytest.raises(PartialError, match=r"no \*\*\*") as caught:
        result.raise_for_errors()
    assert SECRET not in str(caught.value)


def test_an_excerpt_is_masked_before_it_is_truncated(canned):
    """No part of a secret is left at its end."""
    page = b"<" + b" " * 370 + SECRET.encode() * 8
    canned.answers.append(answer(page, "502 Bad", Connection="close"))
    with pytest.raises(TransportError) as caught:
        Client(canned.url, token=Token(SECRET)).execute("{ hello }")
    assert "canary" not in str(caught.value)


FAILURES = {
    "closed": (Close(), "closed before an answer came"),
    "redirect": (
        f"HTTP/1.1 302 Found\r\nLocation: ftp://u:{SECRET}@h/?key={SECRET}\r\n\r\n".encode(),
        "redirects to ftp://h/"),
    "bad redirect": (
        b"HTTP/1.1 307 No\r\nLocation: http://host:99999/\r\nContent-Length: 0\r\n\r\n",
        "redirects to http"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAILURES)
def test_errors_omit_the_query_of_the_address(canned, fault):
    """The messages of the HTTP library contain it; ours do not."""
    said, message = FAILURES[fault]
    canned.answers.append(said)
    with pytest.raises(TransportError, match=message) as caught:
        Client(f"{canned.url}?key={SECRET}").execute("{ hello }")
    assert f"key={SECRET}".encode() in canned.requests[0]
    assert SECRET not in describe_frames(caught.value)
    assert "Max retries" not in str(caught.value)


def test_an_endpoint_without_tls_is_reported():
    """With a specific reason."""
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def talk():
            connection, _ = plain.accept()
            with connection:
                connection.recv(9)
                connection.sendall(b"HTTP/1.1 400 No\r\n\r\n")

        thread = threading.Thread(target=talk)
        thread.start()
        url = f"https://127.0.0.1:{plain.getsockname()[1]}/graphql?key={SECRET}"
        with pytest.raises(TransportError, match=r"TLS failed.*speak https") as caught:
            Client(url).execute("{ hello }")
        thread.join()
    assert SECRET not in describe_frames(caught.value)


def test_an_unknown_host_name_is_reported(monkeypatch):
    """The library's exception is simulated, as tests have no network."""

    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(TransportError, match=r"the name nowhere\.localhost was not found"):
        Client(f"http://nowhere.localhost/?key={SECRET}").execute("{ hello }")


@pytest.mark.parametrize(
    "url",
    [
        f"ftp://user:{SECRET}@host/",
        f"http://user:{SECRET}/x@host/",
        f"http://host:99999/?key={SECRET}",
        f"http://user:{SECRET}@host/graphql",
        f"https://{SECRET}@host/graphql",
        f"user:{SECRET}@host/graphql",
        f"host/graphql?key={SECRET}",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_shown(url):
    """It would be ignored, or saved with the notebook."""
    with pytest.raises(TargetError) as caught:
        Client(url)
    assert SECRET not in describe_frames(caught.value)
    if "@host/graphql" in url and url.startswith("http"):
        assert "token= or headers=" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("https://a:b@host:1/graphql?key=c#d", "https://host:1/graphql"),
        ("ftp://a:b/c@host/x?y", "ftp://host/x"),
        ("/graphql?key=a", "/graphql"),
        ("demo", "demo"),
        ("", ""),
    ],
)
def test_displayed_targets_have_no_secrets(text, seen):
    """For reprs: an address, a path or a name, valid or invalid."""
    assert redact_url(text) == seen


def test_other_addresses_are_shown_completely():
    """Brackets and ports stay."""
    assert strip_url("http://[::1]:4000/a?b") == "http://[::1]:4000/a"


@pytest.mark.parametrize(
    "echo", [SECRET, SECRET.upper(), base64.b64encode(f"Bearer {SECRET}".encode()).decode()]
)
def test_a_response_header_that_repeats_the_token_is_masked(canned, echo):
    """Also on success: results are stored, pickled and displayed."""
    canned.answers.append(json_answer({"data": {"hello": "Hi"}}, X_Seen=f"a {echo}"))
    result = Client(canned.url, token=Token(SECRET)).execute("{ hello }")
    assert result.data == {"hello": "Hi"}
    assert "***" in result.response.headers["x-seen"]
    assert echo not in repr(result.response)


def test_a_token_is_bound_to_one_endpoint(canned, other):
    """A client of another endpoint refuses it; another client of the same one does not."""
    hello = HELLO
    canned.answers += [hello, hello]
    token = Token(SECRET)
    Client(canned.url, token=token).execute("{ hello }")
    Client(f"{canned.url}/other?a=b", token=token).execute("{ hello }")
    for options in ({"token": token}, {"headers": {"X-Key": token}}):
        with pytest.raises(AuthError, match=rf"127\.0\.0\.1:{canned.port}.*not sent to") as caught:
            Client(other.url, **options)
        assert str(other.port) in str(caught.value)
    Client(other.url, token=token.unbound())
    assert other.requests == []


def test_a_refused_token_is_not_bound(canned):
    """Plain http to another host never becomes its endpoint."""
    token = Token(SECRET)
    with pytest.raises(AuthError, match="Use https"):
        Client("http://example.org/graphql", token=token)
    assert Client(canned.url, token=token)


def test_a_token_may_be_shared_by_local_servers():
    """A server in this process knows the token already."""
    token = Token(SECRET)
    for _ in range(2):
        with gqlnb.serve(gqlnb.reference_schema(), port=0, token=token) as server:
            assert Client(server).execute("{ hello }").data == {"hello": "Hello world!"}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_secrets_that_would_not_be_sent_are_refused(options):
    """In-process schemas and custom transports do not send our headers."""
    schema = gqlnb.reference_schema()
    name = f"{next(iter(options()))}="
    for target in (
        schema,
        schema.graphql,
        InProcessTransport(schema),
        SimpleNamespace(send=1, asend=2),
    ):
        with pytest.raises(TargetError, match=f"{name} would have no effect") as caught:
            Client(target, **options())
        assert SECRET not in describe_frames(caught.value)
    with pytest.raises(TargetError, match=f"{name} would have no effect"):
        gqlnb.connect("demo", **options())


def test_header_values_may_be_read_from_a_source(canned, monkeypatch):
    """The whole value, from an environment variable or the keyring; it is then a secret."""
    keyring = SimpleNamespace(get_password=lambda service, name: f"{service}-{name}-kept")
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    monkeypatch.setenv("MY_HEADER", f"Basic {SECRET}")
    canned.answers.append(json_answer({"message": f"{SECRET} gqlnb-a-kept"}, "401 No"))
    headers = {"Authorization": "env:MY_HEADER", "X-Thing": "keyring:a"}
    with pytest.raises(AuthError, match=r"401: \*\*\* \*\*\*") as caught:
        Client(canned.url, headers=headers).execute("{ hello }")
    assert f"Authorization: Basic {SECRET}".encode() in canned.requests[0]
    assert b"X-Thing: gqlnb-a-kept" in canned.requests[0]
    assert SECRET not in describe_frames(caught.value)
    with pytest.raises(AuthError, match="variable NOT_SET is not set"):
        Client(canned.url, headers={"X-Thing": "env:NOT_SET"})


def test_reprs_of_secrets_have_only_names(canned):
    """Also of a client's attributes in a debugger."""
    client = Client(canned.url, token=Token(SECRET), headers={"X-Key": Token(SECRET, "")})
    assert repr(client._endpoint.credentials) == "Credentials(Authorization, X-Key)"


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: Client("http://127.0.0.1:1", token=f"{SECRET}x"), id="client"),
        pytest.param(lambda: gqlnb.connect("demo", token=f"{SECRET}x"), id="connect"),
        pytest.param(lambda: gqlnb.connect("github", token=f"{SECRET}x"), id="github"),
        pytest.param(
            lambda: gqlnb.serve(gqlnb.reference_schema(), port=0, token=f"{SECRET}x"), id="serve"
        ),
        pytest.param(lambda: gqlnb.connect(f"me:{SECRET}@h"), id="name"),
        pytest.param(lambda: Client("demo", headers={"a b": SECRET}), id="header"),
        pytest.param(lambda: Client("http://h/", headers={"X-Key": SECRET}), id="header text"),
    ],
)
def test_refused_values_are_in_no_frame_of_the_package(make):
    """The caller's own frame may have the value."""
    with pytest.raises(GqlnbError) as caught:
        make()
    assert SECRET not in describe_frames(caught.value, skipped=2)


@pytest.mark.parametrize("url", ["?api_key={}", "?a=1&access_token={}", "?X-Amz-Signature={}"])
def test_a_secret_in_the_query_of_an_address_is_hidden(canned, url):
    """A server may repeat its address."""
    canned.answers.append(answer(f"no {SECRET} here", "404 No"))
    with pytest.raises(TransportError, match=r"no \*\*\* here"):
        Client(f"{canned.url}{url.format(SECRET)}").execute("{ hello }")


def test_the_debug_output_of_http_client_is_disabled(canned, monkeypatch, capfd):
    """It would print every header."""
    monkeypatch.setattr("http.client.HTTPConnection.debuglevel", 1)
    canned.answers.append(HELLO)
    Client(canned.url, token=Token(SECRET)).execute("{ hello }")
    assert SECRET.encode() in canned.requests[0]
    assert capfd.readouterr() == ("", "")


def test_the_quoted_line_of_an_error_has_no_token():
    """The output of a cell is shown more widely than its text."""
    with pytest.raises(GqlnbError) as caught:
        Client("no such connection", headers={"Authorization": "Bearer ghp_" + "a1" * 18})
    assert "a secret given as text" in str(caught.value)
    assert "Authorization" not in caught.value._render_traceback_()[-1]
    with pytest.raises(GqlnbError) as caught:
        ("ghp_a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1", Client("no such connection"))
    shown = caught.value._render_traceback_()[-1]
    assert "no such connection" in shown
    assert "***" in shown
    assert "a1a1" not in shown

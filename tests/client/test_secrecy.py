"""No frame, no exception and no message shows what a client sends in secret."""

import asyncio
import json
import signal
import socket
import threading
import traceback

import pytest

from gqlnb import AuthError, Client, GqlnbError, PartialError, TargetError, Token, TransportError
from gqlnb.client.addresses import address, shown

SECRET = "canary-91ab"
OPTIONS = {
    "token": {"token": Token(SECRET)},
    "authorization": {"headers": {"Authorization": f"Bearer {SECRET}"}},
    "cookie": {"headers": {"Cookie": f"theme=dark; session={SECRET}"}},
    "key": {"headers": {"X-Api-Key": SECRET}},
}


def report(error):
    """Return everything a debugger could show of an exception, but for the frame that caught it."""
    made = traceback.TracebackException.from_exception(error, capture_locals=True)
    del made.stack[0]
    return "".join(made.format())


def answer(status, members, length=None):
    """Return the bytes of a response; a length beyond the body cuts it."""
    body = members if isinstance(members, bytes) else json.dumps(members).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Length: {length or len(body)}\r\nConnection: close\r\n"
    return f"{head}Content-Type: application/json\r\n\r\n".encode() + body


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_an_interrupt_shows_no_header(canned, options):
    """Ctrl-C while the endpoint is silent leaves no frame of the library in the traceback."""
    main = threading.main_thread().ident
    canned.answers.append(lambda _: signal.pthread_kill(main, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt) as caught:
        Client(canned.url, **options).execute("{ hello }")
    assert SECRET.encode() in canned.requests[0]
    assert caught.value.__context__ is None
    assert SECRET not in report(caught.value)


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, KeyError])
def test_an_unforeseen_exception_shows_no_header(canned, monkeypatch, kind):
    """Whatever breaks below us becomes an error of ours without the frames it came from."""

    def broken(*_, **__):
        raise kind(SECRET)

    canned.answers.append(answer("200 OK", {"data": {}}))
    monkeypatch.setattr("http.client.HTTPConnection.endheaders", broken)
    with pytest.raises(TransportError, match=kind.__name__) as caught:
        Client(canned.url, token=Token(SECRET)).execute("{ hello }")
    assert caught.value.__context__ is None
    assert SECRET not in report(caught.value)
    canned.answers.clear()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("how", ["send", "asend"])
def test_an_application_that_raises_shows_no_header(options, how):
    """Its scope holds them; the error has its words and its place."""
    seen = []

    async def app(scope, receive, send):
        seen.append(str(scope["headers"]))
        msg = f"broken by {SECRET}"
        raise ValueError(msg)

    client = Client(app, **options)
    ask = client.execute if how == "send" else lambda text: asyncio.run(client.aexecute(text))
    with pytest.raises(TransportError, match=r"ValueError: broken by \*\*\*.* in app") as caught:
        ask("{ hello }")
    assert SECRET in seen[0]
    assert caught.value.__context__ is None
    assert "scope" not in report(caught.value)


def test_an_awaited_application_can_be_cancelled():
    """A cancelled task stays one, without the frames below."""

    async def app(scope, receive, send):
        await asyncio.Event().wait()

    async def main():
        task = asyncio.create_task(Client(app, token=Token(SECRET)).aexecute("{ hello }"))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError) as caught:
        asyncio.run(main())
    assert SECRET not in report(caught.value)


@pytest.mark.parametrize(
    "headers",
    [
        {"X": None},
        {"X": 5},
        {"X": b"bytes"},
        {"X": "a\r\nY: b"},
        {"X": "\u20ac"},
        {"X-Key": "\u00e9"},
        {"a b": "c"},
        {"": "c"},
        {None: "c"},
        {"X\n": "c"},
        "x",
        ["X"],
        5,
    ],
)
def test_headers_that_none_can_be_are_refused_when_given(canned, headers):
    """The message names the header and shows no value, not even of the others."""
    given = {"Authorization": f"Bearer {SECRET}", **headers} if type(headers) is dict else headers
    for make in (lambda: Client(canned.url, headers=given), lambda: connect_to(canned, given)):
        with pytest.raises(TargetError, match="header") as caught:
            make()
        assert SECRET not in str(caught.value)
        assert caught.value.__context__ is None


def connect_to(server, headers):
    """Connect with headers."""
    from gqlnb import connect

    return connect(server.url, headers=headers)


@pytest.mark.parametrize(
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
    ],
)
def test_a_header_whose_name_says_so_is_a_secret(canned, name, value):
    """It is sent as it was given, hidden in errors, and never in the clear to other machines."""
    canned.answers.append(answer("401 No", {"message": f"no {SECRET}"}))
    with pytest.raises(AuthError, match=r"no \*\*\*") as caught:
        Client(canned.url, headers={name: value}).execute("{ hello }")
    assert f"{name}: {value}".encode() in canned.requests[0]
    assert SECRET not in report(caught.value)
    with pytest.raises(AuthError, match="Use https"):
        Client("http://example.org/graphql", headers={name: value})


@pytest.mark.parametrize("name", ["Idempotency-Key", "X-Monkeys", "X-Request-Id", "Keyboard"])
def test_other_headers_are_plain(name):
    """They may go anywhere."""
    assert Client("http://example.org/graphql", headers={name: "abc"}).source


def test_data_are_never_masked(canned):
    """A value that happens to be the token is still the value; only errors are masked."""
    members = {
        "data": {"me": SECRET, SECRET: [SECRET]},
        "errors": [{"message": f"no {SECRET}", "path": ["me"]}],
    }
    canned.answers.append(answer("200 OK", members))
    result = Client(canned.url, token=Token(SECRET)).execute("{ me }")
    assert result.data == members["data"]
    assert result.errors == ({"message": "no ***", "path": ["me"]},)
    with pytest.raises(PartialError, match=r"no \*\*\*") as caught:
        result.raise_for_errors()
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("status", ["200 OK", "400 Bad", "401 No", "403 No", "500 No"])
@pytest.mark.parametrize(
    "members",
    [
        {"errors": [{"message": SECRET, "extensions": {"hint": SECRET, SECRET: [SECRET]}}]},
        {"errors": [{"message": [SECRET]}], "extensions": {"a": SECRET}},
        {"message": SECRET},
        {"message": {"a": SECRET}},
        {"other": SECRET},
        {"data": SECRET},
    ],
)
def test_an_echo_is_hidden_however_json_spells_it(canned, status, members):
    """In the message, in what the error carries, and in the locals of its frames."""
    spelled = json.dumps(members).replace("canary", r"\u0063an\u0061ry").encode()
    canned.answers.append(answer(status, spelled))
    with pytest.raises(GqlnbError) as caught:
        Client(canned.url, token=Token(SECRET)).execute("{ hello }")
    error = caught.value
    carried = (error.result.errors, error.result.extensions, error.result) if error.result else ""
    shown_text = f"{error} {carried} {report(error)}"
    assert SECRET not in shown_text
    assert "u0063" not in shown_text


def test_an_excerpt_is_masked_before_it_is_cut(canned):
    """No half of a secret is left at its end."""
    page = b"<" + b" " * 370 + SECRET.encode() * 8
    canned.answers.append(answer("502 Bad", page))
    with pytest.raises(TransportError) as caught:
        Client(canned.url, token=Token(SECRET)).execute("{ hello }")
    assert "canary" not in str(caught.value)


FAILURES = {
    "closed": (None, "closed before an answer came"),
    "cut": (answer("200 OK", {"data": {}}, length=500), "breaks off before its end"),
    "no http": (b"SSH-2.0-OpenSSH\r\n", "does not speak HTTP"),
    "gzip": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        "not compressed as it says",
    ),
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnope",
        "breaks off|could not be read",
    ),
    "redirect": (
        f"HTTP/1.1 302 Found\r\nLocation: ftp://u:{SECRET}@h/?key={SECRET}\r\n\r\n".encode(),
        "redirects to ftp://h/",
    ),
    "bad redirect": (
        b"HTTP/1.1 307 No\r\nLocation: http://host:99999/\r\nContent-Length: 0\r\n\r\n",
        "redirects to http",
    ),
}


@pytest.mark.parametrize("fault", FAILURES)
def test_a_failure_is_told_without_the_query_of_the_address(canned, fault):
    """The library's own texts print it; ours say what happened."""
    said, message = FAILURES[fault]
    canned.answers.append(said)
    with pytest.raises(TransportError, match=message) as caught:
        Client(f"{canned.url}?key={SECRET}").execute("{ hello }")
    assert f"key={SECRET}".encode() in canned.requests[0]
    assert SECRET not in report(caught.value)
    assert "Max retries" not in str(caught.value)


def test_an_endpoint_without_tls_is_told_so():
    """The reason has words of its own."""
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
    assert SECRET not in report(caught.value)


def test_a_name_nobody_knows_is_told_so(monkeypatch):
    """No machine without a network can ask for one, so the library's answer is put in."""

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
    """It would be lost, or saved with the notebook."""
    with pytest.raises(TargetError) as caught:
        Client(url)
    assert SECRET not in str(caught.value)
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
def test_what_is_shown_of_a_target_has_no_secrets(text, seen):
    """For reprs: an address, a path or a name, right or wrong."""
    assert shown(text) == seen


def test_an_address_is_shown_whole_otherwise():
    """Brackets and ports stay."""
    assert address("http://[::1]:4000/a?b") == "http://[::1]:4000/a"

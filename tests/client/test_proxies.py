"""Proxies that refuse or need a login, and SOCKS with and without its library."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Access, Client, Schema, Token, TransportError, serve
from tests.client.faults import Endpoint, answer, dripping, json_answer, silent
from tests.client.relays import Relay
from tests.examples import select_combinations
from tests.ports import find_free_port, wait_for_port

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "canary-55e0"
LOGIN = r"the proxy asks for a user name and a password \(HTTP 407\).*HTTPS_PROXY=http://USER"
ADVICE = r"Check HTTPS_PROXY.*or list example.test in NO_PROXY"


@pytest.fixture
def use_proxy(monkeypatch):
    """Return a function that names a proxy in the environment."""

    def name(url: str) -> None:
        for variable in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(variable, url)
        for variable in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(variable, raising=False)

    return name


def ask_once(client: Client) -> Any:
    """Execute a query."""
    return client.execute("{ a }")


def subscribe(way: Any) -> Callable[[Client], Any]:
    """Return a function that subscribes one way."""
    return lambda client: list(client.subscribe("subscription { a }", transport=way, reconnect=0))


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
WAYS = {"execute": ask_once, "ws": subscribe("ws"), "sse": subscribe("sse")}
SCHEMES = ["http", "https"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_proxy_that_needs_a_login_is_explained(use_proxy, way, scheme):
    """For tunnels and for forwarded requests; the error says where to put the login."""
    with Endpoint(answer("<h1>Who?</h1>", "407 Proxy Authentication Required")) as proxy:
        use_proxy(proxy.url.removesuffix("/graphql"))
        with pytest.raises(TransportError, match=LOGIN) as caught:
            WAYS[way](Client(f"{scheme}://example.test/graphql"))
    assert caught.value.status in (407, None)


@pytest.mark.parametrize("way", ["execute", "sse"])
def test_a_refused_tunnel_is_reported(use_proxy, way):
    """With the proxy's status, and before a token is sent."""
    with Endpoint(answer("no", "403 Forbidden")) as proxy:
        use_proxy(proxy.url.removesuffix("/graphql"))
        with pytest.raises(TransportError, match=r"did not connect \(HTTP 403 Forbidden\)\. Ch"):
            WAYS[way](Client("https://example.test/graphql", token=Token(SECRET)))
        assert SECRET.encode() not in b"".join(proxy.requests)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_unreachable_proxy_is_named_as_the_reason(use_proxy, way, scheme):
    """The endpoint is not at fault."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    use_proxy(f"http://127.0.0.1:{port}")
    with pytest.raises(TransportError, match=rf"the proxy did not answer\. {ADVICE}"):
        WAYS[way](Client(f"{scheme}://example.test/graphql"))


NONSENSE = [
    *("http://", "http://:80", f"http://{SECRET}:x@", "://x", "ftp://proxy.test:1", "http://[::1"),
    *("http://proxy.test:port", "http://proxy.test:99999", "http://proxy.test:0"),
    *("http://a b:80", "not a proxy", "  "),
]


@pytest.mark.parametrize(("value", "way"), select_combinations(NONSENSE, WAYS))
def test_nonsense_in_place_of_a_proxy_names_the_variable(monkeypatch, use_proxy, way, value):
    """And not its value, which may have a password."""
    use_proxy(value)
    monkeypatch.delenv("HTTPS_PROXY")
    expected = r"^https_proxy in the environment is not the address of a proxy, such as http://"
    with pytest.raises(TransportError, match=expected) as caught:
        WAYS[way](Client("https://example.test/graphql"))
    assert SECRET not in str(caught.value)


class Socks(Relay):
    """A SOCKS5 proxy that leads everywhere to one port.

    Attributes
    ----------
    asked
        The names that it was asked for.
    """

    def __init__(self, port: int, reply: int = 0) -> None:
        self.asked: list[str] = []
        self._reply = reply
        super().__init__(f"http://127.0.0.1:{port}")
        self.url = f"socks5h://127.0.0.1:{self.port}"

    def _reach(self, near: socket.socket) -> socket.socket | None:
        near.recv(64)
        near.sendall(b"\x05\x00")  # no login
        request = near.recv(512)
        self.asked.append(request[5 : 5 + request[4]].decode())
        near.sendall(bytes([5, self._reply, 0, 1, 127, 0, 0, 1, 0, 0]))
        return None if self._reply else super()._reach(near)


@pytest.fixture
def socks():
    """Return a function that starts a SOCKS proxy."""
    pytest.importorskip("socks")
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(Socks(*options))


def test_a_socks_proxy_connects_to_the_endpoint(use_proxy, socks):
    """If its library is installed; the proxy resolves the name."""
    with Endpoint(json_answer({"data": {"a": 1}})) as endpoint:
        proxy = socks(endpoint.port)
        use_proxy(proxy.url)
        with Client("http://example.test/graphql") as client:
            assert client.execute("{ a }").data == {"a": 1}
        assert proxy.asked == ["example.test"]


def test_a_socks_refusal_is_named_as_the_reason(use_proxy, socks):
    """With its reply code: here, not allowed by its rules."""
    use_proxy(socks(0, 2).url)
    match = f"the SOCKS proxy could not connect to the endpoint: .*not allowed by ruleset.*{ADVICE}"
    with pytest.raises(TransportError, match=match):
        Client("http://example.test/graphql").execute("{ a }")


WITHOUT_LIBRARY = """
import sys
sys.modules["socks"] = sys.modules["python_socks"] = None  # as if they were not installed
from gqlnb import Client, TransportError
client = Client("http://example.test/graphql")
for ask in (
    lambda: client.execute("{ a }"),
    lambda: list(client.subscribe("subscription { a }", transport="ws", reconnect=0)),
):
    try:
        ask()
    except TransportError as error:
        print(error)
"""


def test_a_missing_socks_library_is_named(use_proxy):
    """For requests, and for WebSockets, which need a different one."""
    use_proxy("socks5://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LIBRARY], capture_output=True, text=True, check=True
    )
    said = "the environment names a SOCKS proxy, and the library for that is not installed."
    advice = f"{said} Install it with: pip install 'gqlnb[socks]'"
    assert [line.endswith(advice) for line in done.stdout.splitlines()] == [True, True]


@pytest.mark.parametrize("answer", [silent, dripping(HEAD, b" ")])
def test_the_timeout_holds_behind_a_socks_proxy(use_proxy, socks, answer):
    """An endpoint that says nothing, or never ends, does not keep the caller."""
    with Endpoint(answer) as endpoint:
        use_proxy(socks(endpoint.port).url)
        with pytest.raises(TransportError, match=r"within 0\.3 s"):
            Client("http://example.test/graphql", timeout=0.3).execute("{ a }")


@pytest.fixture
def microsocks():
    """Yield the address of a SOCKS proxy of another project, which asks for a login."""
    program = shutil.which("microsocks")
    if program is None:
        pytest.skip("microsocks is not installed")
    port = find_free_port()
    command = [program, "-i", "127.0.0.1", "-p", str(port), "-u", "ann", "-P", SECRET]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_port(port)
            yield f"socks5h://ann:{SECRET}@127.0.0.1:{port}"
        finally:
            process.terminate()


@pytest.mark.slow
def test_queries_and_subscriptions_pass_a_socks_proxy_with_a_login(use_proxy, microsocks):
    """By its two libraries; a wrong password is the reason of the error, and is not shown."""
    pytest.importorskip("socks")
    pytest.importorskip("python_socks")
    count = {"count": lambda *_: iter([1, 2])}
    sdl = "type Query { a: Int } type Subscription { count: Int }"
    schema = Schema(sdl, {"Query": {"a": lambda *_: 1}, "Subscription": count})
    # An address of this machine that is not recognised as such, so that the proxy is used.
    with serve(schema, port=0, access=Access(hosts=["0.0.0.0"])) as server:
        url = server.url.replace("127.0.0.1", "0.0.0.0")
        use_proxy(microsocks)
        with Client(url) as client:
            assert client.execute("{ a }").data == {"a": 1}
            for way in ("ws", "sse"):
                events = client.subscribe("subscription { count }", transport=way)
                assert [event["count"] for event in events] == [1, 2]
        use_proxy(microsocks.replace(SECRET, f"{SECRET}-wrong"))
        for way in ("execute", "ws"):
            with pytest.raises(TransportError, match="the SOCKS proxy could not") as caught:
                WAYS[way](Client(url))
            assert SECRET not in str(caught.value)

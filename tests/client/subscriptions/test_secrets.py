"""No subscription shows a token, even if the endpoint repeats it."""

from __future__ import annotations

import json
import logging
import traceback
from typing import Any

import pytest

from gqlnb import AuthError, Client, GqlnbError, Token, TransportError, reference_schema, serve
from gqlnb.server.app import App
from tests.client.faults import Close, Endpoint, answer
from tests.client.subscriptions.speaking import greeted, speaking
from tests.client.subscriptions.tickers import CANARY, SUBSCRIPTION


def test_the_token_is_in_the_init_message_only_with_the_init_option():
    """The handshake always has it."""
    heard: list[Any] = []

    def talk(link: Any) -> None:
        heard.append((link.request.headers, json.loads(link.recv()).get("payload")))
        link.send('{"type":"connection_ack"}')
        link.send('{"type":"complete","id":"1"}')

    with speaking(talk) as url:
        client = Client(url, token=Token(CANARY), headers={"X-Api-Key": Token(CANARY, "")})
        own = {"headers": {"x-secret": Token(CANARY, "")}, "auth": Token(CANARY, ""), "n": 1}
        for init in (None, True, own):
            assert not list(client.subscribe(SUBSCRIPTION, transport="ws", init=init))
    assert [said["Authorization"] for said, _ in heard] == [f"Bearer {CANARY}"] * 3
    assert {said["X-Api-Key"] for said, _ in heard} == {CANARY}
    assert heard[0][1] is None
    assert heard[1][1] == {"Authorization": f"Bearer {CANARY}", "X-Api-Key": CANARY}
    assert heard[2][1] == {"headers": {"x-secret": CANARY}, "auth": CANARY, "n": 1}


def test_a_server_with_a_token_accepts_only_clients_with_the_token(ticker):
    """Over both protocols; other clients get an error that says so."""
    with serve(ticker.schema, port=0, token=Token(CANARY)) as server:
        for way in (None, "ws", "sse"):
            stream = Client(server).subscribe(SUBSCRIPTION, transport=way)
            assert next(stream)["ticks"]
            with pytest.raises(AuthError):
                list(Client(server.url).subscribe(SUBSCRIPTION, transport=way))
            wrong = Client(server.url, token=Token("wrong-one"))
            with pytest.raises(AuthError):
                list(wrong.subscribe(SUBSCRIPTION, transport=way))
            stream.close()


@pytest.mark.parametrize("address", ["ws://api.example/graphql", "http://api.example/graphql"])
def test_a_token_is_not_sent_without_tls(address):
    """Neither in the handshake nor in the init message."""
    with pytest.raises(AuthError, match="does not use TLS"):
        Client(address, token=Token(CANARY))
    with pytest.raises(AuthError, match="does not use TLS") as caught:
        Client(address).subscribe(SUBSCRIPTION, init={"token": Token(CANARY, "")})
    assert CANARY not in shown(caught.value)
    with pytest.raises(AuthError, match="'token' is a secret given as text") as caught:
        Client(address).subscribe(SUBSCRIPTION, init={"token": CANARY})
    assert CANARY not in shown(caught.value)


def test_a_token_of_another_endpoint_is_not_sent(url):
    """A Token in `init` belongs to one endpoint, too."""
    token = Token(CANARY)
    Client("https://api.example/graphql", token=token)
    with pytest.raises(AuthError, match="is not sent to"):
        Client(url).subscribe(SUBSCRIPTION, init={"token": token})


def shown(error: BaseException) -> str:
    """Return what a traceback with the locals of its frames shows, those of the test apart."""
    steps = traceback.walk_tb(error.__traceback__)
    local = [repr(f.f_locals) for f, _ in steps if f.f_code.co_filename != __file__]
    assert local
    assert error.__cause__ is error.__context__ is None
    return "".join([*local, repr(error), str(error), repr(vars(error))])


ECHO = f"no Bearer {CANARY} here"


def echo_close(link: Any) -> None:
    """Repeat the token as a reason."""
    link.recv()
    link.close(4403, ECHO[:120])


def echo_error(link: Any) -> None:
    """Repeat the token in an error."""
    greeted(f'{{"id":"1","type":"error","payload":[{{"message":"{ECHO}"}}]}}')(link)


def echo_type(link: Any) -> None:
    """Repeat the token as the type of a message."""
    greeted(f'{{"type":"{CANARY}"}}')(link)


def echo_field(link: Any) -> None:
    """Repeat the token in an error of a field, and break."""
    payload = {"data": {"ticks": None}, "errors": [{"message": ECHO}]}
    greeted(json.dumps({"id": "1", "type": "next", "payload": payload}), "{")(link)


@pytest.mark.parametrize("talk", [echo_close, echo_error, echo_type, echo_field])
@pytest.mark.parametrize("place", ["token", "header"])
def test_no_websocket_shows_a_token(talk, place, spelled, capfd, caplog):
    """In errors with the locals of their frames, in results and in logs."""
    token = Token(CANARY)
    options = {"token": token} if place == "token" else {"headers": {"X-Key": token}}
    caplog.set_level(0)
    logging.getLogger("websockets").setLevel(0)
    left = []
    with speaking(talk) as url:
        client = Client(url, **options)
        stream = client.subscribe(SUBSCRIPTION, transport="ws", reconnect=0, init=True)
        try:
            for result in stream:
                left += [repr(result), repr(result.errors), repr(result.response.headers)]
        except GqlnbError as error:
            left += [shown(error), repr(stream), repr(vars(stream))]
        else:
            pytest.fail("nothing went wrong")
    left += [record.getMessage() for record in caplog.records if "server" not in record.name]
    left += capfd.readouterr()
    found = [text for form in spelled(CANARY) for text in left if form in text.encode()]
    assert not found


@pytest.mark.parametrize(
    "said",
    [
        answer(ECHO, "401 Unauthorized"),
        answer(ECHO, "404 Not Found", X_Seen=ECHO),
        answer("", f"500 {CANARY}"),
        answer("", "302 Found", Location=f"http://127.0.0.1:1/{CANARY}"),
        Close(f"{CANARY}\r\n\r\n".encode()),
        Close(f"HTTP/1.1 101 Ok\r\n{CANARY}\r\n\r\n".encode()),
        Close(f"HTTP/1.1 101 Ok\r\nSec-WebSocket-Protocol: {CANARY}\r\n\r\n".encode()),
        Close(),
    ],
    ids=["401", "404", "500", "302", "no http", "bad head", "bad protocol", "closed"],
)
@pytest.mark.parametrize("way", [None, "ws", "sse"])
def test_no_refused_handshake_shows_a_token(said, way, spelled, capfd, caplog):
    """Even if the endpoint repeats the headers."""
    caplog.set_level(0)
    with Endpoint(said) as endpoint:
        client = Client(endpoint.url, token=Token(CANARY))
        with pytest.raises(GqlnbError) as caught:
            list(client.subscribe(SUBSCRIPTION, transport=way, reconnect=1))
    left = [shown(caught.value), *capfd.readouterr(), caplog.text]
    assert not [text for form in spelled(CANARY) for text in left if form in text.encode()]
    assert CANARY.encode() in endpoint.requests[0]


def test_a_redirect_of_a_handshake_is_not_followed(ticker, url):
    """The headers would be sent to the new address."""
    with Endpoint(answer("", "307 Temporary Redirect", Location=url)) as endpoint:
        client = Client(endpoint.url, headers={"X-Key": Token(CANARY, "")})
        with pytest.raises(TransportError, match="HTTP 307"):
            list(client.subscribe(SUBSCRIPTION, transport="ws"))
    assert ticker.begun == 0


def test_a_proxy_gets_no_token(monkeypatch):
    """It refuses the tunnel, for WebSockets as for server-sent events."""
    with Endpoint(answer("", "403 Forbidden")) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        client = Client("https://endpoint.test/graphql", token=Token(CANARY))
        for way in ("ws", None):
            with pytest.raises(TransportError, match=r"the proxy (did not connect|refused)"):
                list(client.subscribe(SUBSCRIPTION, transport=way, reconnect=0))
    assert {request.split(b" HTTP")[0] for request in proxy.requests} == {
        b"CONNECT endpoint.test:443"
    }
    assert not [request for request in proxy.requests if CANARY.encode() in request]


async def raising(scope: Any, receive: Any, send: Any) -> None:
    """Fail with the headers in the message."""
    raise ValueError(scope["headers"])


@pytest.mark.parametrize("way", [None, "ws", "sse"])
def test_an_application_that_fails_shows_no_token(way, spelled):
    """The application has the headers in its scope."""
    client = Client(raising, token=Token(CANARY))
    with pytest.raises(TransportError) as caught:
        list(client.subscribe(SUBSCRIPTION, transport=way))
    text = shown(caught.value).encode()
    assert not [form for form in spelled(CANARY) if form in text]


def test_an_application_without_subscriptions_is_reported():
    """As over a socket."""
    with pytest.raises(GqlnbError):
        list(Client(App(reference_schema())).subscribe(SUBSCRIPTION))

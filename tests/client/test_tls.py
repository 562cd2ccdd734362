"""TLS: certificates are checked unless a person says otherwise, and truncation is noticed."""

import shutil
import socket
import ssl
import subprocess
import threading
import warnings

import pytest
from websockets.sync.server import serve

from gqlnb import Client, Limits, Token, TransportError
from gqlnb.client.certificates import VARIABLES
from tests.client.faults import Close, Endpoint, dripping, json_answer

SECRET = "canary-91ab"
HI = {"data": {"hello": "Hi"}}
OK = json_answer(HI)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Return a key and a certificate of this machine, signed by itself."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and it is not installed")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=gqlnb"]
    names = "subjectAltName=IP:127.0.0.1"
    done = subprocess.run(
        [*command, "-addext", names, "-keyout", "-", "-out", "-"], capture_output=True, check=True
    )
    file.write_bytes(done.stdout)
    return file


class Secure(Endpoint):
    """The endpoint over TLS."""

    def __init__(self, certificate, *answers):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)
        super().__init__(*answers)
        self.url = self.url.replace("http:", "https:")

    def _talk(self, connection):
        try:
            wrapped = self.context.wrap_socket(connection, server_side=True)
            self._open.append(wrapped)
            super()._talk(wrapped)
        except (OSError, ssl.SSLError):
            connection.close()


@pytest.fixture
def secure(certificate):
    """Return a function that starts an endpoint over TLS."""
    started = []

    def start(*answers):
        started.append(Secure(certificate, *answers))
        return started[-1]

    yield start
    for each in started:
        each.close()


def test_a_certificate_that_nobody_vouches_for_is_refused(secure):
    """On this machine too, and before the token is sent."""
    server = secure(OK)
    with pytest.raises(TransportError, match="TLS certificate was not accepted") as caught:
        Client(server.url, token=Token(SECRET)).execute("{ hello }")
    assert caught.value.__context__ is None
    assert server.requests == []


@pytest.mark.parametrize("how", ["verify", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
def test_a_bundle_vouches_for_it(secure, certificate, monkeypatch, how):
    """One that is passed, or that the environment names; the connection is kept."""
    server = secure(OK)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    if how != "verify":
        monkeypatch.setenv(how, str(certificate))
    given = {"verify": str(certificate)} if how == "verify" else {}
    made = Client(server.url, token=Token(SECRET), **given)
    for _ in range(3):
        assert made.execute("{ hello }").data == HI["data"]
    assert server.connections == 1


def test_a_certificate_of_another_name_is_refused(secure, certificate):
    """Whoever vouches for it."""
    server = secure(OK)
    url = server.url.replace("127.0.0.1", "localhost")
    with pytest.raises(TransportError, match="TLS certificate was not accepted"):
        Client(url, verify=str(certificate)).execute("{ hello }")


def test_verification_can_be_switched_off(secure):
    """Said so, it is not done."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # urllib3 says that this is no good idea
        assert Client(secure(OK).url, verify=False).execute("{ hello }").data == HI["data"]


@pytest.mark.parametrize("end", [9, 40, len(OK) - 1])
def test_an_answer_that_is_cut_is_no_answer(secure, certificate, end):
    """A connection that ends without the goodbye of TLS."""
    server = secure(Close(OK[:end]))
    made = Client(server.url, verify=str(certificate), limits=Limits(wait=1e-9))
    with pytest.raises(TransportError, match=r"breaks off|closed before") as caught:
        made.execute("{ hello }")
    assert caught.value.broken


def test_what_comes_beyond_an_answer_is_not_read_as_the_next(secure, certificate):
    """Though TLS had unpacked it already."""
    server = secure(OK + json_answer({"data": {"hello": "attacker"}}) * 1000)
    made = Client(server.url, verify=str(certificate))
    assert made.execute("{ hello }").data == HI["data"]
    assert made.execute("{ hello }").data == HI["data"]
    assert server.connections == 2


def test_the_deadline_holds(secure, certificate):
    """However bytes come."""
    server = secure(dripping(OK[:40], b"x"))
    made = Client(server.url, verify=str(certificate), timeout=0.3)
    with pytest.raises(TransportError, match=r"not complete within 0.3 s"):
        made.execute("{ hello }")
    assert server.gone.wait(10)


@pytest.fixture
def websocket(certificate):
    """Yield the address of a WebSocket over TLS, and what was sent to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    heard = []

    def talk(link):
        heard.append(link.request.headers["Authorization"])
        link.recv()
        link.send('{"type":"connection_ack"}')
        link.recv()
        link.send('{"id":"1","type":"next","payload":{"data":{"a":1}}}')
        link.send('{"id":"1","type":"complete"}')

    protocols = ["graphql-transport-ws"]
    with serve(talk, "127.0.0.1", 0, ssl=context, subprotocols=protocols) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://127.0.0.1:{server.socket.getsockname()[1]}/graphql", heard
        server.shutdown()
        thread.join(10)


def test_the_certificate_of_a_websocket_is_checked(websocket, certificate):
    """By the same rules, and before the token is sent."""
    url, heard = websocket
    with pytest.raises(TransportError, match="TLS certificate was not accepted") as caught:
        list(Client(url, token=Token(SECRET)).subscribe("subscription { a }", transport="ws"))
    assert caught.value.__context__ is None
    assert heard == []
    for verify in (str(certificate), False):
        client = Client(url, token=Token(SECRET), verify=verify)
        (result,) = client.subscribe("subscription { a }", transport="ws")
        assert result["a"] == 1
    assert heard == [f"Bearer {SECRET}"] * 2


def test_the_deadline_holds_before_there_is_tls():
    """An endpoint that takes the connection and never answers the handshake."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"https://127.0.0.1:{mute.getsockname()[1]}/graphql"
        before = threading.active_count()
        with pytest.raises(TransportError, match=r"within 0.3 s"):
            Client(url, timeout=0.3).execute("{ hello }")
        assert threading.active_count() == before

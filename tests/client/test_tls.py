"""TLS: certificates are verified by default, and truncation is detected."""

import shutil
import socket
import ssl
import subprocess
import threading
import warnings

import pytest

from gqlnb import Client, Limits, Token, TransportError
from gqlnb.client.endpoint import BUNDLE_VARIABLES
from tests.client.faults import Close, Endpoint, dripping, json_answer
from tests.client.subscriptions.speaking import greeted, speaking

SECRET = "canary-91ab"
HI = {"data": {"hello": "Hi"}}
OK = json_answer(HI)
END = '{"id":"1","type":"complete"}'


def openssl(folder, *arguments):
    """Run openssl in a folder."""
    subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, check=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Return a folder with an authority, and with what it has certified: key and certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates, and it is not installed")
    folder = tmp_path_factory.mktemp("authority")
    new = ["req", "-newkey", "rsa:2048", "-nodes"]
    openssl(folder, *new, "-x509", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")
    for name, days in (("server", "30"), ("client", "30"), ("expired", "-1")):
        made = ["-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr"]
        openssl(folder, *new, *made)
        signed = ["x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key"]
        about = ["-CAcreateserial", "-days", days, "-extfile", "names", "-out", f"{name}.pem"]
        openssl(folder, *signed, *about)
    return folder


def server_context(folder, name="server", **options):
    """Return the context of a server with a certificate of the authority."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    for option, value in options.items():
        setattr(made, option, value)
    made.load_verify_locations(folder / "ca.pem")
    return made


class Secure(Endpoint):
    """The endpoint over TLS."""

    def __init__(self, context, *answers):
        self.context = context
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
def secure(authority):
    """Return a function that starts an endpoint over TLS."""
    started = []

    def start(*answers):
        started.append(Secure(server_context(authority), *answers))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def certificate(authority):
    """Return the path of the authority's own certificate."""
    return authority / "ca.pem"


def test_an_untrusted_certificate_is_refused(secure):
    """Also on localhost, and before the token is sent."""
    server = secure(OK)
    with pytest.raises(TransportError, match="TLS certificate was not accepted") as caught:
        Client(server.url, token=Token(SECRET)).execute("{ hello }")
    assert caught.value.__context__ is None
    assert server.requests == []


@pytest.mark.parametrize("how", ["verify", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
def test_a_ca_bundle_makes_a_certificate_trusted(secure, certificate, monkeypatch, how):
    """Passed as an option or named by the environment; the connection is reused."""
    server = secure(OK)
    for name in BUNDLE_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    if how != "verify":
        monkeypatch.setenv(how, str(certificate))
    given = {"verify": str(certificate)} if how == "verify" else {}
    made = Client(server.url, token=Token(SECRET), **given)
    for _ in range(3):
        assert made.execute("{ hello }").data == HI["data"]
    assert server.connections == 1


def test_verification_can_be_disabled(secure):
    """Explicitly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # urllib3 says that this is no good idea
        assert Client(secure(OK).url, verify=False).execute("{ hello }").data == HI["data"]


@pytest.mark.parametrize("end", [9, 40, len(OK) - 1])
def test_a_truncated_answer_is_an_error(secure, certificate, end):
    """The connection ends without a TLS close_notify."""
    server = secure(Close(OK[:end]))
    made = Client(server.url, verify=str(certificate), limits=Limits(wait=1e-9))
    with pytest.raises(TransportError, match=r"the response is incomplete|closed before") as caught:
        made.execute("{ hello }")
    assert caught.value.broken


def test_excess_bytes_are_not_read_as_the_next_response(secure, certificate):
    """Although TLS had decrypted them already."""
    server = secure(OK + json_answer({"data": {"hello": "attacker"}}) * 1000)
    made = Client(server.url, verify=str(certificate))
    assert made.execute("{ hello }").data == HI["data"]
    assert made.execute("{ hello }").data == HI["data"]
    assert server.connections == 2


def test_the_deadline_applies_over_tls(secure, certificate):
    """However slowly bytes arrive."""
    server = secure(dripping(OK[:40], b"x"))
    made = Client(server.url, verify=str(certificate), timeout=0.3)
    with pytest.raises(TransportError, match=r"not complete within 0.3 s"):
        made.execute("{ hello }")
    assert server.gone.wait(10)


@pytest.fixture
def websocket(authority):
    """Yield the address of a WebSocket over TLS, and what was sent to it."""
    context = server_context(authority)
    heard = []

    def talk(link):
        heard.append(link.request.headers["Authorization"])
        greeted('{"id":"1","type":"next","payload":{"data":{"a":1}}}', END)(link)

    with speaking(talk, ssl=context) as url:
        yield url, heard


def test_websocket_certificates_are_verified(websocket, certificate):
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


def test_the_deadline_applies_to_the_handshake():
    """The endpoint accepts the connection and never answers the handshake."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"https://127.0.0.1:{mute.getsockname()[1]}/graphql"
        before = set(threading.enumerate())
        with pytest.raises(TransportError, match=r"within 0.3 s"):
            Client(url, timeout=0.3).execute("{ hello }")
        assert set(threading.enumerate()) <= before


# -- certificates of the client, and what is wrong with one of the endpoint


WAYS = {
    "execute": lambda client: client.execute("{ hello }"),
    "sse": lambda client: list(
        client.subscribe("subscription { a }", transport="sse", reconnect=0)
    ),
    "ws": lambda client: list(client.subscribe("subscription { a }", transport="ws", reconnect=0)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_required_client_certificate_is_explained(authority, way, version):
    """With the code that adds one, and without a retry."""
    context = server_context(
        authority, verify_mode=ssl.CERT_REQUIRED, maximum_version=version, minimum_version=version
    )
    with Secure(context, OK) as server:
        client = Client(server.url, verify=str(authority / "ca.pem"), token=Token(SECRET))
        with pytest.raises(TransportError, match=r"client certificate.*load_cert_chain") as caught:
            WAYS[way](client)
        assert server.requests == []
        if way == "execute":
            assert server.connections == 1
            assert not caught.value.broken


def client_context(folder):
    """Return a context with the client's certificate."""
    made = ssl.create_default_context(cafile=folder / "ca.pem")
    made.load_cert_chain(folder / "client.pem", folder / "client.key")
    return made


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_an_ssl_context_provides_the_client_certificate(authority, version):
    """For queries; the connection is reused."""
    context = server_context(authority, verify_mode=ssl.CERT_REQUIRED, maximum_version=version)
    with Secure(context, OK) as server:
        client = Client(server.url, verify=client_context(authority), token=Token(SECRET))
        for _ in range(2):
            assert client.execute("{ hello }").data == HI["data"]
        assert server.connections == 1


def test_an_ssl_context_is_used_for_websockets(authority):
    """With the same certificate."""
    context = server_context(authority, verify_mode=ssl.CERT_REQUIRED)
    names = []

    def talk(link):
        names.append(dict(item[0] for item in link.socket.getpeercert()["subject"]))
        greeted(END)(link)

    with speaking(talk, ssl=context) as url:
        client = Client(url, verify=client_context(authority))
        assert list(client.subscribe("subscription { a }", transport="ws")) == []
    assert names == [{"commonName": "client"}]


def test_an_ssl_context_without_verification_is_unchanged(authority):
    """Its mode stays the same."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with Secure(server_context(authority), OK) as server, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # urllib3 says that this is no good idea
        assert Client(server.url, verify=context).execute("{ hello }").data == HI["data"]
    assert context.verify_mode is ssl.CERT_NONE


def test_an_ssl_context_without_authorities_refuses_all_servers(authority):
    """No CA bundle is added to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with (
        Secure(server_context(authority), OK) as server,
        pytest.raises(TransportError, match="not accepted"),
    ):
        Client(server.url, verify=context).execute("{ hello }")


@pytest.mark.parametrize("way", ["execute", "ws"])
@pytest.mark.parametrize(
    ("name", "host", "bundle", "words"),
    [
        ("server", "127.0.0.1", "client", r"certificate.*pass its CA bundle as verify="),
        ("server", "localhost", "ca", r"Hostname mismatch.*Connect to a name that the cert"),
        ("expired", "127.0.0.1", "ca", r"has expired.*renewed at the endpoint; check the clock"),
    ],
)
def test_certificate_errors_state_the_remedy(authority, way, name, host, bundle, words):
    """For an unknown authority, another host name, and an expired certificate."""
    path = authority / f"{bundle}.pem"
    with Secure(server_context(authority, name), OK) as server:
        url = server.url.replace("127.0.0.1", host)
        with pytest.raises(TransportError, match=f"was not accepted: .*{words}"):
            WAYS[way](Client(url, verify=str(path)))
        assert server.requests == []

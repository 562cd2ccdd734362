"""Servers at other paths, on Unix sockets, over TLS and behind proxies."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
from urllib.parse import urljoin, urlsplit

import pytest
import requests

import gqlnb
from gqlnb.errors import GqlnbError, OptionError, PortInUseError, ServerError
from gqlnb.http.server_rules import Access
from gqlnb.server.app import App
from gqlnb.server.background_server import serve
from gqlnb.tokens import Token
from tests.server.stream_helpers import UPGRADE, Life, streaming_schema

HELLO = {"query": "{ hello }"}
ANSWER = {"data": {"hello": "Hello world!"}}


@pytest.fixture
def schema():
    """Return the reference schema."""
    return gqlnb.reference_schema()


def create_certificate(folder, name, *options):
    """Write a certificate for 127.0.0.1, signed by itself, and its key; return both paths."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and it is not installed")
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-subj", f"/CN={name}"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout", paths[1]]
    subprocess.run([*command, *names, *(options or ["-nodes"])], capture_output=True, check=True)
    return paths


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the paths of a certificate and its key."""
    return create_certificate(tmp_path_factory.mktemp("tls"), "first")


def post_unix(path, url_path="/graphql", host="localhost"):
    """Post to a Unix socket, and return status and body."""
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(path))
    headers = {"content-type": "application/json"}
    connection.request("POST", url_path, json.dumps(HELLO), headers)
    response = connection.getresponse()
    found = response.status, json.loads(response.read())
    connection.close()
    return found


@pytest.mark.parametrize("path", ["/api/graphql", "/api/v1.2/gql", "/", "/x"])
def test_a_path_replaces_the_endpoint_and_its_page(schema, path):
    """The page's own links work there, and nothing is at the default path."""
    with serve(schema, port=0, path=path) as server:
        assert urlsplit(server.url).path == path
        assert requests.post(server.url, json=HELLO, timeout=20).json() == ANSWER
        assert gqlnb.Client(server.url).execute("{ hello }").data == ANSWER["data"]
        page = requests.get(server.url, headers={"accept": "text/html"}, timeout=20)
        links = re.findall(r'(?:href|src)="([^"]+)"', page.text)
        assert len(links) >= 3
        for link in links:
            assert requests.get(urljoin(server.url, link), timeout=20).status_code == 200
        assert requests.post(f"{server.url}/graphql", json=HELLO, timeout=20).status_code == 404
        missing = requests.post(urljoin(server.url, "/graphql"), json=HELLO, timeout=20)
        assert (missing.status_code, f"The endpoint is {path}." in missing.text) == (404, True)


def test_a_path_with_a_token_has_no_other_way_in(schema):
    """Spellings of the path are other paths; each is refused with 401 or 404."""
    with serve(schema, port=0, path="/api/gql", token=Token("open-sesame")) as server:
        for path in (
            "/api/gql",
            "//api/gql",
            "/api/./gql",
            "/api/x/../gql",
            "/api/gql/",
            "/API/gql",
        ):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            headers = {"content-type": "application/json"}
            connection.request("POST", path, json.dumps(HELLO), headers)
            assert connection.getresponse().status == (401 if path == "/api/gql" else 404)
            connection.close()
        client = gqlnb.Client(server.url, token=Token("open-sesame"))
        assert client.execute("{ hello }").data == ANSWER["data"]


def test_a_websocket_is_at_the_path_only():
    """The handshake elsewhere gets 404."""
    with serve(streaming_schema(Life()), port=0, path="/live/gql") as server:
        events = list(gqlnb.Client(server.url).subscribe("subscription { count(to: 2) }"))
        assert [it.data for it in events] == [{"count": 0}, {"count": 1}]
        url = urljoin(server.url, "/graphql")
        assert requests.get(url, headers=UPGRADE, timeout=20).status_code == 404


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(
            ("path", it)
            for it in ("graphql", "/graphql/", "", "/a//b", "/a b", '/"><script>', None)
        ),
        *(("path", it) for it in ("/a/../b", "/a?b", "/%61", "/..", "/.well-known")),
        *(("root_path", it) for it in ("user", "//evil.example", "/a\r\nb", '/"', "https://x", 4)),
        *(("uds", it) for it in ("", "a\0b", 3)),
    ],
)
def test_a_bad_path_is_refused_before_anything_is_opened(schema, option, value):
    """The error names the option."""
    with pytest.raises(OptionError, match=f"^{option}= takes "):
        serve(schema, port=4000 if option == "uds" else 0, **{option: value})


def test_a_root_path_is_in_the_link_of_the_notebook(schema):
    """Also with a port that the system chose; repr and url stay those of this machine."""
    with serve(schema, port=0, root_path="/user/ann%40example.com/proxy/4000/") as server:
        link = '<a href="/user/ann%40example.com/proxy/4000/graphql"'
        assert link in server._repr_html_()
        assert repr(server) == "Server(port=0)"
        assert server.url == f"http://127.0.0.1:{server.port}/graphql"
        assert requests.post(server.url, json=HELLO, timeout=20).json() == ANSWER


@pytest.mark.usefixtures("loop")
def test_a_unix_socket_is_served_and_removed(schema, tmp_path):
    """Only its owner may connect; the Host header is checked, and a re-run replaces the schema."""
    path = tmp_path / "gql.sock"
    with serve(schema, uds=path, path="/api") as server:
        assert path.stat().st_mode & 0o777 == 0o600
        assert post_unix(path, "/api") == (200, ANSWER)
        assert post_unix(path, "/api", host="evil.example")[0] == 403
        assert (server.port, server.host) == (0, str(path))
        assert server.url == f"http+unix://{str(path).replace('/', '%2F')}/api"
        assert repr(server) in server._repr_html_().replace("&#x27;", "'")
        again = serve(schema, uds=path, access=Access(hosts=["evil.example"]))
        assert (server.closed, again.closed) == (True, False)
        assert post_unix(path, host="evil.example") == (200, ANSWER)
        assert list(again.log["status"]) == [200, 403, 200]
        again.close()
    assert not path.exists()


def test_a_stale_unix_socket_is_replaced(schema, tmp_path):
    """A killed process leaves its file; a socket in use, and other files, stay."""
    path = tmp_path / "gql.sock"
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(path))
        sock.listen()
        with pytest.raises(PortInUseError, match="Another program listens"):
            serve(schema, uds=path)
    with serve(schema, uds=path):
        assert post_unix(path) == (200, ANSWER)
    path.write_text("mine")
    with pytest.raises(ServerError, match="exists and is not a socket"):
        serve(schema, uds=path)
    assert path.read_text() == "mine"
    with pytest.raises(ServerError, match=r"Cannot listen on the socket .*too long"):
        serve(schema, uds=tmp_path / ("x" * 120))
    with pytest.raises(ServerError, match="No such file"):
        serve(schema, uds=tmp_path / "missing" / "s")


@pytest.mark.parametrize("option", [{"port": 4001}, {"host": "::1"}, {"certfile": "x"}])
def test_a_unix_socket_excludes_the_options_of_a_port(schema, tmp_path, option):
    """Neither is ignored."""
    with pytest.raises(OptionError, match="uds= replaces"):
        serve(schema, uds=tmp_path / "s", **option)


@pytest.mark.usefixtures("loop")
def test_tls_is_served(schema, files):
    """The address is https, and clients verify the certificate."""
    with serve(schema, port=0, certfile=files[0], keyfile=files[1]) as server:
        assert server.url.startswith("https://127.0.0.1:")
        client = gqlnb.Client(server.url, verify=files[0])
        for _ in range(4):  # the fast path, too
            assert client.execute("{ hello }").data == ANSWER["data"]
        with pytest.raises(GqlnbError, match="certificate"):
            gqlnb.Client(server.url).execute("{ hello }")
        context = ssl.create_default_context(cafile=files[0])
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with socket.create_connection(("127.0.0.1", server.port), 20) as sock:
            sock.sendall(b"POST /graphql HTTP/1.1\r\n\r\n")  # plain HTTP gets no HTTP response
            assert b"HTTP" not in sock.recv(100)


def test_a_rerun_loads_the_new_certificate(schema, files, tmp_path):
    """On the same port; one without a certificate is plain HTTP again."""
    second = create_certificate(tmp_path, "second")

    def read_name(server):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        address = "127.0.0.1", server.port
        with socket.create_connection(address, 20) as sock, context.wrap_socket(sock) as tls:
            return b"second" in tls.getpeercert(binary_form=True)

    with serve(schema, port=0, certfile=files[0], keyfile=files[1]) as server:
        assert not read_name(server)
        with serve(schema, server.port, certfile=second[0], keyfile=second[1]) as again:
            assert again.port == server.port
            assert read_name(again)
            with serve(schema, again.port) as plain:
                assert requests.post(plain.url, json=HELLO, timeout=20).json() == ANSWER


def test_bad_certificates_are_explained(schema, files, tmp_path):
    """A missing file, another file, a missing or encrypted key; nothing asks for a password."""
    other = create_certificate(tmp_path, "other", "-passout", "pass:secret")
    (tmp_path / "text").write_text("no certificate")
    for options, message in (
        ({"certfile": tmp_path / "missing.pem"}, r"missing.pem': No such file.*Check certfile="),
        ({"certfile": files[0], "keyfile": tmp_path / "no.key"}, r"no.key': No such file"),
        ({"certfile": tmp_path / "text"}, "not a certificate in PEM format"),
        ({"certfile": files[0]}, "not a certificate in PEM format with its private key"),
        ({"certfile": files[0], "keyfile": other[1]}, "encrypted"),
        ({"certfile": other[0], "keyfile": other[1]}, "encrypted"),
    ):
        with pytest.raises(ServerError, match=message):
            serve(schema, port=0, **options)
    with pytest.raises(OptionError, match="keyfile= needs the certificate"):
        serve(schema, port=0, keyfile=files[1])


def test_a_misspelled_option_is_refused(schema):
    """A certificate must not be ignored."""
    with pytest.raises(TypeError, match="Did you mean certfile="):
        serve(schema, port=0, certfil="x.pem")


def test_an_application_takes_a_path(schema):
    """For other ASGI servers."""
    assert App(schema, path="/api").rules.path == "/api"
    with pytest.raises(OptionError, match="path= takes"):
        App(schema, path="api")

"""Which certificates are trusted."""

import os

import certifi
import pytest

from gqlnb import Client, TargetError
from gqlnb.client.arguments import BUNDLE_VARIABLES, resolve_verify


@pytest.fixture(autouse=True)
def _none_named(monkeypatch):
    for name in BUNDLE_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_the_environment_names_a_bundle_in_this_order(monkeypatch, tmp_path):
    """Requests', curl's, OpenSSL's file and folder; each is used where those before are not set."""
    for name in reversed(BUNDLE_VARIABLES):
        path = tmp_path / name
        path.mkdir()
        monkeypatch.setenv(name, str(path))
        assert resolve_verify() == resolve_verify(verify=True) == str(path)


def test_what_was_asked_for_wins(monkeypatch, tmp_path):
    """A path, also as an object; or no check at all."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path))
    assert resolve_verify(verify=False) is False
    assert resolve_verify(certifi.where()) == certifi.where()
    assert resolve_verify(os.fspath(tmp_path)) == str(tmp_path)


def test_without_any_it_is_left_to_requests(monkeypatch):
    """An empty variable is none."""
    monkeypatch.setenv("SSL_CERT_FILE", " ")
    assert resolve_verify() is True


def test_a_bundle_that_is_none_is_told_by_its_name(monkeypatch, tmp_path):
    """When the client is made, and only for https."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "none.pem")
    with pytest.raises(TargetError, match=r"REQUESTS_CA_BUNDLE names no file.*none\.pem"):
        Client("https://127.0.0.1:1/graphql")
    (tmp_path / "none.pem").write_text("no certificate")
    with pytest.raises(TargetError, match="REQUESTS_CA_BUNDLE names a file without certificates"):
        Client("https://127.0.0.1:1/graphql")
    assert Client("http://127.0.0.1:1/graphql")
    with pytest.raises(TargetError, match="verify= names a file without certificates"):
        Client("https://127.0.0.1:1/graphql", verify=tmp_path / "none.pem")

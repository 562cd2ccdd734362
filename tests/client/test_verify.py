"""The choice of trusted certificates."""

import pytest

from gqlnb import Client, TargetError
from gqlnb.client.endpoint import BUNDLE_VARIABLES, resolve_verify


@pytest.fixture(autouse=True)
def _none_named(monkeypatch):
    for name in BUNDLE_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_environment_variables_name_a_bundle_in_order(monkeypatch, tmp_path):
    """Those of requests, curl, and OpenSSL's file and folder; the first one set is used."""
    for name in reversed(BUNDLE_VARIABLES):
        path = tmp_path / name
        path.mkdir()
        monkeypatch.setenv(name, str(path))
        assert resolve_verify() == resolve_verify(verify=True) == str(path)


def test_an_invalid_bundle_is_named_in_the_error(monkeypatch, tmp_path):
    """In the constructor, and only for https."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "none.pem")
    with pytest.raises(
        TargetError, match=r"REQUESTS_CA_BUNDLE refers to a file that does not exist.*none\.pem"
    ):
        Client("https://127.0.0.1:1/graphql")
    (tmp_path / "none.pem").write_text("no certificate")
    with pytest.raises(TargetError, match="REQUESTS_CA_BUNDLE names a file without certificates"):
        Client("https://127.0.0.1:1/graphql")
    assert Client("http://127.0.0.1:1/graphql")
    with pytest.raises(TargetError, match="verify= names a file without certificates"):
        Client("https://127.0.0.1:1/graphql", verify=tmp_path / "none.pem")


def test_without_a_bundle_requests_chooses(monkeypatch):
    """An empty variable counts as unset."""
    monkeypatch.setenv("SSL_CERT_FILE", " ")
    assert resolve_verify() is True

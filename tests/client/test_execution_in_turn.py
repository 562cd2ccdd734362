"""Execution in turn with other clients, and the sources of tokens."""

from __future__ import annotations

import pytest

from gqlnb import Client, Token
from gqlnb.errors import TransportError
from tests.client.faults import Wire


def test_retries_can_be_disabled():
    """The first failure is raised to callers with their own policy."""

    def fail(_request):
        message = "busy: too much"
        raise TransportError(message, status=502)

    wire = Wire(fail)
    with pytest.raises(TransportError, match="too much"):
        Client(wire)._execute_in_turn("{ hello }", give_up=lambda error: error.status == 502)
    assert len(wire.requests) == 1


@pytest.mark.parametrize("source", ["env:SOME_TOKEN", "file"])
def test_a_token_has_its_source(source, tmp_path, monkeypatch):
    """Not its value; an unbound copy has the same source."""
    monkeypatch.setenv("SOME_TOKEN", "abcdefgh-1234")
    path = tmp_path / "token"
    path.write_text("abcdefgh-1234")
    path.chmod(0o600)
    source = f"file:{path}" if source == "file" else source
    found = Token.from_source(source, "token")
    assert (found.where, found.unbound().where) == (source, source)
    assert found.build_header() == "token abcdefgh-1234"
    assert Token("abcdefgh-1234").where is None

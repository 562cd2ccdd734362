"""``--cache``, ``--refresh`` and ``%graphql cache``, in a real shell."""

from __future__ import annotations

import pytest

import gqlnb
from gqlnb import OptionError, Schema
from gqlnb.client import response_cache
from tests.notebook.cells import run


@pytest.fixture
def calls(shell, tmp_path, monkeypatch):
    """Serve a schema that counts its calls, with a cache folder of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    response_cache._open_path.cache_clear()
    calls = []
    hello = {"hello": lambda root, args, context: calls.append(1) or f"Hello {len(calls)}"}
    with gqlnb.serve(Schema("type Query { hello: String }", {"Query": hello}), port=0) as server:
        shell.push({"server": server})
        yield calls
    response_cache._open_path.cache_clear()


def test_a_cell_uses_remembered_answers(shell, calls):
    """``--refresh`` sends it again; a cell without the option does neither."""
    for _ in range(2):
        result = run(shell, "%%graphql server --cache 1h\n{ hello }")
        assert result["hello"] == "Hello 1"
    assert "cached" in repr(result)
    assert run(shell, "%%graphql server --cache 1h --refresh\n{ hello }")["hello"] == "Hello 2"
    assert run(shell, "%%graphql server\n{ hello }")["hello"] == "Hello 3"
    assert run(shell, "%%graphql server --refresh\n{ hello }")["hello"] == "Hello 4"
    assert run(shell, "%%graphql server --cache 1h --no-cache\n{ hello }")["hello"] == "Hello 2"


def test_the_setting_applies_to_every_cell(shell, calls):
    """``%config GraphQLMagic.cache``."""
    run(shell, '%config GraphQLMagic.cache = "1h"')
    try:
        for _ in range(2):
            assert run(shell, "%graphql server { hello }")["hello"] == "Hello 1"
    finally:
        run(shell, '%config GraphQLMagic.cache = ""')


def test_answers_are_listed_and_removed(shell, calls):
    """With endpoint, operation, age and bytes."""
    run(shell, "%%graphql server --cache 1h\nquery Greeting { hello }")
    listing = run(shell, "%graphql cache list")
    assert [row[1] for row in listing] == ["Greeting"]
    assert "1 answer, " in repr(listing)
    assert str(run(shell, "%graphql cache clear")) == "Removed 1 answer."
    assert len(run(shell, "%graphql cache")) == 0
    assert run(shell, "%%graphql server --cache 1h\nquery Greeting { hello }")["hello"] == "Hello 2"


@pytest.mark.parametrize("line", ["%graphql cache lst", "%graphql server --cache 1 { hello }"])
def test_other_words_are_refused(shell, calls, line):
    """With the choices."""
    with pytest.raises(OptionError, match=r"'?list'?, '?clear'?|'15min', '1h'"):
        run(shell, line)

"""``gqlnb scrub`` and the headers of the command line."""

from __future__ import annotations

import pytest

from gqlnb import Token, reference_schema, serve
from gqlnb.cli.main import main

TEXT = "a\nghp_abcdefgh1234\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in an empty folder: its exit code, and what it says."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: (main([*arguments]), *capsys.readouterr())


def test_a_check_fails_if_there_are_tokens(run, tmp_path):
    """For use before a commit: each token is reported, and no file is changed."""
    for name in ("a.ipynb", "b.txt", "c.md"):
        (tmp_path / name).write_text(TEXT if name != "c.md" else "nothing")
    code, said, errors = run("scrub", "--dry-run", "a.ipynb", "b.txt", "c.md")
    assert (code, errors) == (1, "")
    assert said.splitlines() == [
        "Found 2 tokens in 2 of 3 files.",
        "  a.ipynb: line 2: GitHub token ghp_***",
        "  b.txt: line 2: GitHub token ghp_***",
        "Revoke those that were real: there may be other copies.",
    ]
    assert (tmp_path / "b.txt").read_text() == TEXT


def test_tokens_are_removed(run, tmp_path):
    """From a folder; a second run finds none."""
    (tmp_path / "b.txt").write_text(TEXT)
    code, said, _ = run("scrub", ".")
    assert (code, said.splitlines()[0]) == (0, "Removed 1 token from 1 of 1 file.")
    assert (tmp_path / "b.txt").read_text() == "a\n***\n"
    assert run("scrub", "--dry-run", ".")[1] == "No token in 1 file.\n"


def test_a_missing_file_is_named_in_the_error(run):
    """The error is one sentence."""
    found = run("scrub", "none.ipynb")
    assert found == (1, "", "gqlnb: none.ipynb: No such file or directory\n")


def test_a_header_is_read_from_the_environment(run, monkeypatch):
    """It is sent; a literal one is refused and not repeated."""
    monkeypatch.setenv("MY_HEADER", "Bearer s3cret-1")
    with serve(reference_schema(), port=0, token=Token("s3cret-1")) as server:
        ask = ("-c", server.url, "-H")
        code, said, errors = run("query", "{ hello }", *ask, "Authorization=env:MY_HEADER")
        assert (code, "Hello world!" in said) == (0, True), errors
        assert "hello: String" in run("schema", *ask, "Authorization=env:MY_HEADER")[1]
        code, _, errors = run("query", "{ hello }", *ask, "Authorization=Bearer s3cret-1")
    assert code == 2
    assert "--header takes NAME=env:VAR" in errors
    assert "s3cret" not in errors


def test_a_token_for_the_sample_is_refused(run, monkeypatch):
    """No request would send it; the error names shell options."""
    monkeypatch.setenv("MY_TOKEN", "a1")
    code, _, errors = run("stars", "400000", "--token", "env:MY_TOKEN")
    assert code == 1
    assert "--token would have no effect" in errors

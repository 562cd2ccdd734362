"""``gqlnb scrub`` and the headers of the command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., Any]

TEXT = "a\nghp_abcdefgh1234\n"


def test_a_check_fails_if_there_are_tokens(gqlnb, tmp_path):
    """For use before a commit: each token is reported, and no file is changed."""
    for name in ("a.ipynb", "b.txt", "c.md"):
        (tmp_path / name).write_text(TEXT if name != "c.md" else "nothing")
    done = gqlnb("scrub", "--dry-run", "a.ipynb", "b.txt", "c.md")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "Found 2 tokens in 2 of 3 files.",
        "  a.ipynb: line 2: GitHub token ghp_***",
        "  b.txt: line 2: GitHub token ghp_***",
        "Revoke those that were real: there may be other copies.",
    ]
    assert (tmp_path / "b.txt").read_text() == TEXT


def test_tokens_are_removed(gqlnb, tmp_path):
    """From a folder; a second run finds none."""
    (tmp_path / "b.txt").write_text(TEXT)
    done = gqlnb("scrub", ".")
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0,
        "Removed 1 token from 1 of 1 file.",
    )
    assert (tmp_path / "b.txt").read_text() == "a\n***\n"
    assert gqlnb("scrub", "--dry-run", ".").stdout == "No token in 1 file.\n"


def test_a_missing_file_is_named_in_the_error(gqlnb):
    """The error is one sentence."""
    done = gqlnb("scrub", "none.ipynb")
    assert (done.returncode, done.stderr) == (1, "gqlnb: none.ipynb: No such file or directory\n")


def test_a_header_is_read_from_the_environment(background, gqlnb, tmp_path):
    """It is sent; a literal one is refused and not repeated."""
    environment = {**os.environ, "MY_TOKEN": "s3cret-1", "MY_HEADER": "Bearer s3cret-1"}
    server = background(
        "serve", "--port", "0", "--token", "env:MY_TOKEN", cwd=tmp_path, env=environment
    )
    url = server.wait_for(r"http://127\.0\.0\.1:\d+/graphql").group()
    ask = ("-c", url, "-H")
    done = gqlnb("query", "{ hello }", *ask, "Authorization=env:MY_HEADER", env=environment)
    assert (done.returncode, "Hello world!" in done.stdout) == (0, True), done.stderr
    done = gqlnb("schema", *ask, "Authorization=env:MY_HEADER", env=environment)
    assert "hello: String" in done.stdout
    refused = gqlnb("query", "{ hello }", *ask, "Authorization=Bearer s3cret-1")
    assert refused.returncode == 2
    assert "--header takes NAME=env:VAR" in refused.stderr
    assert "s3cret" not in refused.stderr


def test_a_token_for_the_sample_is_refused(gqlnb):
    """No request would send it; the error names shell options."""
    done = gqlnb("stars", "400000", "--token", "env:MY_TOKEN", env={**os.environ, "MY_TOKEN": "a1"})
    assert done.returncode == 1
    assert "--token would have no effect" in done.stderr

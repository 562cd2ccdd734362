"""Tokens are removed from files, and all other bytes stay."""

import base64
import json
import stat

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import gqlnb
from gqlnb import TargetError, Token, scrub

SECRET = "canary/53ab+c9"  # of no service's shape
STATE = "application/vnd.jupyter.widget-state+json"


@pytest.fixture
def notebook(tmp_path):
    """Write a notebook with a token in each part; return its path."""
    output = new_output("stream", text=f"é\nghp_abcdefgh1234\n{SECRET}\n")
    error = new_output(
        "error", ename="E", evalue="x", traceback=["\x1b[31mglpat-abcdefghij12\x1b[0m"]
    )
    shown = new_output("display_data", data={"text/html": "<b>xoxb-1234567890-abc</b>"})
    attached = base64.b64encode(b"key: AKIAIOSFODNN7EXAMPLE.").decode()
    cells = [
        new_code_cell("a = 1\nt = 'ghp_abcdefgh1234'", outputs=[output, error, shown]),
        new_markdown_cell("![](attachment:a)", attachments={"a": {"text/plain": attached}}),
        new_code_cell("print('typed-in-a-box')", metadata={"tags": [SECRET]}),
    ]
    widgets = {
        "one": {"model_name": "PasswordModel", "state": {"value": "typed-in-a-box"}},
        "two": {"model_name": "TextModel", "state": {"value": "value"}},
        "three": {"model_name": "PasswordModel", "state": {"value": "a"}},
        "four": {"model_name": "PasswordModel", "state": {"value": ""}},
    }
    for model in widgets.values():
        model |= {"model_module": "@jupyter-widgets/controls", "model_module_version": "2.0.0"}
    state = {STATE: {"state": widgets, "version_major": 2, "version_minor": 0}}
    made = new_notebook(cells=cells, metadata={"widgets": state})
    nbformat.write(made, tmp_path / "a.ipynb")
    return tmp_path / "a.ipynb"


PLACES = [
    ("cell 1, output 1", "GitHub token", "ghp_***"),
    ("cell 1, output 1", "known token", "***"),
    ("cell 1, output 2", "GitLab token", "glpat-***"),
    ("cell 1, output 3", "Slack token", "xoxb-***"),
    ("cell 1, line 2", "GitHub token", "ghp_***"),
    ("cell 2, attachment", "token in base64", "***"),
    ("cell 3, line 1", "typed password", "***"),
    ("cell 3, metadata", "known token", "***"),
    ("state of the widgets", "typed password", "***"),
    ("state of the widgets", "typed password", "***"),
]


def test_all_parts_of_a_notebook_are_cleaned(notebook):
    """Sources, outputs, metadata, attachments and widget state; it remains a valid notebook."""
    token = Token(SECRET)
    before = notebook.read_text().splitlines()
    report = scrub(notebook)
    assert sorted((f.where, f.kind, f.shown) for f in report) == sorted(PLACES)
    after = notebook.read_text().splitlines()
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert len(changed) == 10
    assert all("***" in b or "AqKiou" in b for _, b in changed)
    nbformat.validate(nbformat.read(notebook, 4))
    left = notebook.read_text()
    for secret in (SECRET, "ghp_", "glpat-", "xoxb-", "typed-in-a-box"):
        assert secret not in left
    attached = json.loads(left)["cells"][1]["attachments"]["a"]["text/plain"]
    assert base64.b64decode("".join(attached)) == b"key: ***."
    assert token.build_header().endswith(SECRET)
    assert not scrub(notebook)


def test_a_dry_run_changes_nothing(notebook):
    """Neither the file nor its modification time."""
    token = Token(SECRET)
    before, time = notebook.read_bytes(), notebook.stat().st_mtime_ns
    report = scrub(notebook, dry_run=True)
    assert len(report) == len(PLACES)
    assert (notebook.read_bytes(), notebook.stat().st_mtime_ns) == (before, time)
    assert repr(report).startswith("Found 10 tokens in 1 of 1 file.\n")
    assert f"{notebook}: cell 1, line 2: GitHub token ghp_***" in repr(report)
    assert not any(word in repr(report) for word in (SECRET, "abcdefgh", "typed-in"))
    assert repr(token) == "Token(***)"


@pytest.mark.parametrize(
    "data",
    [
        b"token ghp_abcdefgh1234\r\nb\r",
        b"\xef\xbb\xbfghp_abcdefgh1234\n",
        b"latin \xe9 ghp_abcdefgh1234",
        "\u2028 ghp_abcdefgh1234 \U0001f600".encode(),
        b'{"cells": [ghp_abcdefgh1234',
    ],
)
def test_the_rest_of_a_file_stays_byte_for_byte(tmp_path, data):
    """Line endings, byte order marks, other encodings, and notebooks with merge conflicts."""
    file = tmp_path / "a.ipynb"
    file.write_bytes(data)
    report = scrub(file)
    assert [finding.where for finding in report] == ["line 1"]
    assert file.read_bytes() == data.replace(b"ghp_abcdefgh1234", b"***")


def test_a_file_without_tokens_is_not_written(tmp_path):
    """Its modification time stays."""
    file = tmp_path / "a.txt"
    file.write_text("nothing")
    time = file.stat().st_mtime_ns
    report = scrub(file)
    assert (len(report), bool(report), report.files) == (0, False, 1)
    assert repr(report) == "No token in 1 file."
    assert file.stat().st_mtime_ns == time


def test_a_written_file_keeps_its_mode_and_its_link(tmp_path):
    """The link still points to it, and no other file is left."""
    folder = tmp_path / "real"
    folder.mkdir()
    file, link = folder / "a.txt", tmp_path / "link.txt"
    file.write_text("ghp_abcdefgh1234")
    file.chmod(0o640)
    link.symlink_to(file)
    assert scrub(link)
    assert link.is_symlink()
    assert file.read_text() == "***"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in folder.iterdir()] == ["a.txt"]


def test_an_unwritable_file_stays_unchanged(tmp_path, monkeypatch):
    """It is replaced atomically."""

    def full(_handle):
        raise OSError(28, "No space left on device")

    file = tmp_path / "a.txt"
    file.write_text("ghp_abcdefgh1234")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        scrub(file)
    assert file.read_text() == "ghp_abcdefgh1234"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_is_searched(tmp_path):
    """Notebooks, their checkpoints and recordings; not files that contain tokens on purpose."""
    wanted = ["a.ipynb", ".ipynb_checkpoints/a-checkpoint.ipynb", "b/c.yaml", "b/d.HTML", "e.log"]
    others = [".env", "settings.toml", "app.py", ".docker/config.json", "node_modules/a.json"]
    for name in (*wanted, *others):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("ghp_abcdefgh1234")
    (tmp_path / "binary.txt").write_bytes(b"\0ghp_abcdefgh1234")
    (tmp_path / "link.txt").symlink_to(tmp_path / ".env")
    report = scrub(str(tmp_path))
    assert {str(f.path.relative_to(tmp_path)) for f in report} == set(wanted)
    assert report.files == len(wanted)
    assert all((tmp_path / name).read_text() == "ghp_abcdefgh1234" for name in others)
    assert repr(report).startswith("Removed 5 tokens from 5 of 5 files.")


def test_a_named_file_is_read_with_any_suffix(tmp_path):
    """Only folders are filtered."""
    file = tmp_path / ".env"
    file.write_text("A=ghp_abcdefgh1234")
    assert scrub(file)
    assert file.read_text() == "A=***"


def test_unreadable_files_raise(tmp_path):
    """A missing file, and a binary file."""
    with pytest.raises(FileNotFoundError):
        scrub(tmp_path / "none")
    (tmp_path / "a.sqlite").write_bytes(b"SQLite\0ghp_abcdefgh1234")
    with pytest.raises(TargetError, match="is a binary file"):
        scrub(tmp_path / "a.sqlite")


def test_a_notebook_stays_valid_json(tmp_path):
    """A secret that looks like JSON syntax is left, with an error."""
    token = Token('aaaa"},{"b')
    file = tmp_path / "a.ipynb"
    file.write_text('{"cells": [{"x":"aaaa"},{"b":1}]}')
    with pytest.raises(gqlnb.GqlnbError, match="Remove them by hand"):
        scrub(file)
    assert json.loads(file.read_text())["cells"] == [{"x": "aaaa"}, {"b": 1}]
    assert token.build_header().startswith("Bearer")


def test_environment_variables_with_secret_names_are_scrubbed(tmp_path, monkeypatch):
    """Their values are removed."""
    monkeypatch.setenv("SERVICE_TOKEN", SECRET)
    file = tmp_path / "a.txt"
    file.write_text(f"x {SECRET} y {SECRET.encode().hex()}")
    assert len(scrub(file)) == 2
    assert file.read_text() == "x *** y ***"


def test_recordings_of_other_libraries_are_cleaned(tmp_path):
    """In the formats of libraries that record requests."""
    file = tmp_path / "cassette.yaml"
    file.write_text(
        "interactions:\n- request:\n    headers:\n      Authorization:\n      - Bearer abc123xyz\n"
        "      X-Api-Key: [abc123xyz]\n    uri: http://h/?access_token=abc\n"
    )
    assert [finding.where for finding in scrub(file)] == ["line 5", "line 6", "line 7"]
    assert "abc" not in file.read_text()

"""Connections in files: the project's, the user's, and invalid ones."""

from __future__ import annotations

import stat
import tomllib

import pytest

import gqlnb
from gqlnb import config
from gqlnb.client import connections
from gqlnb.client.connections import read_connection_files, save_connection
from gqlnb.errors import OptionError, TargetError
from tests.named_connections import forget_connection

CANARY = "ghp_" + "canary0123456789" * 2


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in a folder of its own, with a folder of its own for what belongs to the user."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "project" / "notebooks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "notebooks")
    yield tmp_path
    connections.use_connection(None)
    for name in ("work", "other"):
        forget_connection(name)


def project(here, text):
    """Write the project's file."""
    (here / "project" / "pyproject.toml").write_text(text)


def mine(here, text):
    """Write the user's file."""
    path = config.get_user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def entry(*lines, name="work"):
    """Return a connection as the project's file holds it."""
    return "\n".join([f"[tool.gqlnb.connections.{name}]", *lines, ""])


def test_project_connections_are_found_from_subfolders(here, monkeypatch):
    """The token is read from the configured source, and sent."""
    monkeypatch.setenv("WORK_TOKEN", "canary-w0rk")
    schema = gqlnb.reference_schema()
    with gqlnb.serve(schema, port=0, token=gqlnb.Token("canary-w0rk")) as server:
        project(here, entry(f'url = "{server.url}"', 'token = "env:WORK_TOKEN"', "timeout = 5"))
        assert gqlnb.connect("work").execute("{ hello }").data == {"hello": "Hello world!"}
        assert gqlnb.connect("work") is gqlnb.connect("work")
        assert gqlnb.Client("work").source == server.url
    (about,) = [it for it in connections.list_connections() if it.name == "work"]
    assert about.description == f"{server.url}, token env:WORK_TOKEN"
    assert about.location.endswith("pyproject.toml, line 1")


def test_session_connections_precede_project_and_user_ones(here):
    """Those of the project precede those of the user; all precede the built-in ones."""
    mine(here, 'version = 1\n[connections.work]\nurl = "http://127.0.0.1:1/user"\n')
    assert gqlnb.connect("work").source == "http://127.0.0.1:1/user"
    project(here, entry('url = "http://127.0.0.1:1/project"'))
    assert gqlnb.connect("work").source == "http://127.0.0.1:1/project"
    connections.register_connection(
        "work", lambda **_: gqlnb.Client("http://127.0.0.1:1/now"), "now"
    )
    assert gqlnb.connect("work").source == "http://127.0.0.1:1/now"
    project(here, entry('url = "http://127.0.0.1:1/enterprise"', name="github"))
    assert gqlnb.connect("github").source == "http://127.0.0.1:1/enterprise"


def test_a_changed_file_is_read_again(here):
    """Without restarting the kernel."""
    project(here, entry('url = "http://127.0.0.1:1/a"'))
    assert gqlnb.connect("work").source == "http://127.0.0.1:1/a"
    project(here, entry('url = "http://127.0.0.1:1/longer"'))
    assert gqlnb.connect("work").source == "http://127.0.0.1:1/longer"


def test_a_removed_or_added_file_is_noticed(here):
    """The files of the project and of the user."""
    project(here, entry('url = "http://127.0.0.1:1/a"'))
    assert connections.is_known("work")
    (here / "project" / "pyproject.toml").unlink()
    assert not connections.is_known("work")
    mine(here, 'version = 1\n[connections.work]\nurl = "http://127.0.0.1:1/user"\n')
    assert gqlnb.connect("work").source == "http://127.0.0.1:1/user"


def test_the_nearest_project_file_applies(here):
    """Even if it has no section for us."""
    project(here, entry('url = "http://127.0.0.1:1/a"'))
    (here / "project" / "notebooks" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    with pytest.raises(TargetError, match="No connection is called 'work'"):
        gqlnb.connect("work")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.gqlnb\n", r"pyproject\.toml, line 1: invalid TOML\. "),
        ("a = 1\n\nb = \n", r"pyproject\.toml, line 3: invalid TOML\. Invalid value"),
        ("a = 1\na = 2\n", r"pyproject\.toml, line 2: invalid TOML\. "),
        ("[tool.gqlnb]\n\nconnections = 3\n", r"line 3: 'connections' must be a table"),
    ],
)
def test_a_toml_error_names_file_and_line(here, text, said):
    """For every function that reads the file."""
    project(here, text)
    with pytest.raises(OptionError, match=said):
        gqlnb.connect("work")


def test_a_binary_file_is_reported(here):
    """The error states that it is not text."""
    (here / "project" / "pyproject.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(OptionError, match=r"pyproject\.toml cannot be read: it is not UTF-8"):
        gqlnb.connect("work")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['token = "env:A"'], "line 1: the connection 'work' has no address"),
        (['url = "ftp://x"'], "line 2: the connection 'work': 'ftp://x' is not a valid address"),
        (["url = 3"], "url must be text"),
        (
            ['url = "http://h/"', 'tokn = "env:A"'],
            "line 3: .*no such setting: 'tokn'. Did you mean",
        ),
        (['url = "http://h/"', f'token = "{CANARY}"'], "line 3: .*token must be a reference"),
        (['url = "http://h/"', 'token = "canary"'], "line 3: .*token must be a reference"),
        (['url = "http://h/"', f'token = "env:{CANARY}"'], "line 3: .*token must be a reference"),
        ([f'url = "http://h/?token={CANARY}"'], "line 2: .*the URL contains a secret"),
        (['url = "http://me:canary@h/"'], "line 2: .*holds a user name or a password"),
        (['url = "http://h/"', 'headers = "a"'], "line 3: .*headers must be a table"),
        (
            ['url = "http://h/"', 'headers = { X-Api-Key = "canary" }'],
            "line 3: .*the header 'X-Api-Key' must be a reference",
        ),
        (['url = "http://h/"', "timeout = 0"], "line 3: .*timeout must be a number of seconds"),
        (['url = "http://h/"', "verify = 1"], "line 3: .*verify must be"),
    ],
)
def test_an_invalid_connection_raises_when_used(here, lines, said):
    """With its line, and without possible secrets; other connections work."""
    project(here, entry(*lines) + entry('url = "http://127.0.0.1:1/x"', name="other"))
    with pytest.raises(TargetError, match=said) as caught:
        gqlnb.connect("work")
    told = [str(caught.value), *(it.description for it in connections.list_connections())]
    assert not [text for text in told if "canary" in text]
    assert any(text.startswith("cannot be used. ") for text in told)
    assert gqlnb.connect("other").source == "http://127.0.0.1:1/x"


def test_a_connection_that_is_not_a_table_is_reported(here):
    """A string is not a valid connection."""
    project(here, '[tool.gqlnb.connections]\nwork = "http://127.0.0.1:1/x"\n')
    with pytest.raises(TargetError, match=r"write a table: \[tool\.gqlnb\.connections\.work\]"):
        gqlnb.connect("work")


def test_the_user_file_has_a_format_version(here):
    """A later version is refused."""
    mine(here, "version = 2\n")
    with pytest.raises(OptionError, match=r"connections\.toml, line 1: the format must be 1"):
        gqlnb.connect("work")


def test_a_symlink_to_the_user_file_is_preserved(here):
    """Users may have their settings in a separate repository."""
    path = config.get_user_file()
    path.parent.mkdir(parents=True)
    (here / "kept.toml").write_text("# mine\n")
    path.symlink_to(here / "kept.toml")
    save_connection("work", "http://127.0.0.1:1/a", None, {})
    assert path.is_symlink()
    assert (here / "kept.toml").read_text().startswith("# mine\n")
    assert list(read_connection_files()[0]) == ["work"]


def test_a_saved_file_is_private_and_complete(here):
    """Mode 600; comments and other connections stay."""
    shown = save_connection("work", 'http://127.0.0.1:1/"a"\\é😀', "env:A", {"X-Api-Key": "env:B"})
    path = config.get_user_file()
    assert shown.endswith("connections.toml")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text(f"# mine\n{path.read_text()}")
    save_connection("other", "http://127.0.0.1:1/b", None, {})
    assert path.read_text().startswith("# mine\n")
    found, _ = read_connection_files()
    assert list(found) == ["work", "other"]
    assert found["work"].make_client.url == 'http://127.0.0.1:1/"a"\\é😀'
    assert dict(found["work"].make_client.options) == {
        "token": "env:A",
        "headers": (("X-Api-Key", "env:B"),),
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [it.name for it in path.parent.iterdir()] == ["connections.toml"]


@pytest.mark.parametrize(
    ("name", "url", "token", "said"),
    [
        ("work", "http://127.0.0.1:1/b", None, "line 4 has a connection 'work'. Change it there"),
        ("a b", "http://127.0.0.1:1/b", None, "'a b' is not a valid name"),
        ("other", "http://127.0.0.1:1/b", CANARY, "token must be a reference"),
        ("other", "nowhere", None, "is not a valid address"),
    ],
)
def test_a_failed_save_leaves_the_file_unchanged(here, name, url, token, said):
    """Byte for byte."""
    save_connection("work", "http://127.0.0.1:1/a", None, {})
    before = config.get_user_file().read_bytes()
    with pytest.raises(OptionError, match=said):
        save_connection(name, url, token, {})
    assert config.get_user_file().read_bytes() == before


@pytest.mark.parametrize("name", ["café", "naïve-1", "名前", "plain", "1_2"])
def test_a_name_with_any_characters_is_saved(here, name):
    """The file stays valid TOML, and all of its connections can be used."""
    save_connection("first", "http://127.0.0.1:1/a", None, {})
    save_connection(
        name, "http://127.0.0.1:1/b", "env:A", {"X-Plain": "yes"} if name == "café" else {}
    )
    save_connection("last", "http://127.0.0.1:1/c", None, {})
    assert [*read_connection_files()[0]] == ["first", name, "last"]
    assert read_connection_files()[0][name].make_client.url == "http://127.0.0.1:1/b"
    assert gqlnb.connect("last").source == "http://127.0.0.1:1/c"
    assert list(tomllib.loads(config.get_user_file().read_text())["connections"]) == [
        *("first", name, "last")
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('connections = { work = { url = "http://127.0.0.1:1/a" }}\n', 1),
        ("connections.work.url = 'http://127.0.0.1:1/a'\n", 3),
    ],
)
def test_a_connection_is_added_to_a_table_of_any_form(here, text, line):
    """Within an inline table, which no header can extend, and at the end of the file otherwise."""
    mine(here, text)
    save_connection("other", "http://127.0.0.1:1/b", None, {})
    found, _ = read_connection_files()
    assert [*found] == ["work", "other"]
    assert found["other"].make_client.url == "http://127.0.0.1:1/b"
    assert found["other"].location.endswith(f"line {line}")
    assert connections.change_connection("other", None).endswith("connections.toml")
    assert config.get_user_file().read_text().rstrip() == text.rstrip()


def test_a_connection_is_not_added_where_other_tables_would_move(here):
    """Within an inline table; tomlkit would write `[[x]]` behind the other tables."""
    text = "connections = {}\n[a.b]\n[[x]]\n[a.c]\nk = 1\n"
    mine(here, text)
    with pytest.raises(OptionError, match=r"connections\.other must be edited by hand"):
        save_connection("other", "http://127.0.0.1:1/b", None, {})
    assert config.get_user_file().read_text() == text


def test_an_invalid_file_is_not_changed(here):
    """Its error is reported."""
    mine(here, "[connections.work]\nurl = \n")
    with pytest.raises(OptionError, match=r"connections\.toml, line 2: invalid TOML"):
        save_connection("other", "http://127.0.0.1:1/b", None, {})
    assert config.get_user_file().read_text() == "[connections.work]\nurl = \n"


def test_an_invalid_user_file_does_not_affect_the_project_file(here):
    """An unknown name raises the error of the user's file, which may define it."""
    mine(here, '[connections.first]\nurl = "http://127.0.0.1:1/a"\n[connections.last]\nurl = \n')
    project(here, entry('url = "http://127.0.0.1:1/x"'))
    assert gqlnb.connect("work").source == "http://127.0.0.1:1/x"
    assert gqlnb.connect("demo").name == "demo"
    assert {"work", "demo"} <= {it.name for it in connections.list_connections()}
    with pytest.raises(OptionError, match=r"connections\.toml, line 4: invalid TOML"):
        gqlnb.connect("first")


def test_an_invalid_project_file_does_not_affect_the_user_file(here):
    """An unknown name raises the error of the project file, which may define it."""
    mine(here, '[connections.work]\nurl = "http://127.0.0.1:1/a"\n')
    project(here, "[tool.gqlnb\n")
    assert gqlnb.connect("work").source == "http://127.0.0.1:1/a"
    assert gqlnb.connect("demo").name == "demo"
    with pytest.raises(OptionError, match=r"pyproject\.toml, line 1: invalid TOML"):
        gqlnb.connect("other")


@pytest.mark.parametrize(
    "url",
    [
        f"/graphql?access_token={CANARY}",
        f"/graphql?key={CANARY}",
        f"http://127.0.0.1:1/graphql?access_token={CANARY}",
        f"http://127.0.0.1:1/graphql/{CANARY}",
        f"/v1/{'0123456789abcdef' * 2}/graphql",
    ],
)
def test_an_address_with_a_secret_is_not_saved(here, url):
    """In its query or its path, absolute or relative."""
    with pytest.raises(OptionError, match="the URL contains a secret") as caught:
        save_connection("work", url, None, {})
    assert not config.get_user_file().exists()
    assert "canary" not in str(caught.value)
    assert "0123456789abcdef" not in str(caught.value)

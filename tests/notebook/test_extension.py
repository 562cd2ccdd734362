"""How a project's and a person's settings reach the cells, and how nothing is left of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import graphql
import pytest

from gqlnb.notebook.extension import load_ipython_extension, unload_ipython_extension
from tests.notebook.cells import failure, run


def magic(shell):
    """Return the magic that is loaded."""
    return shell._gqlnb.magic


def loaded(shell, text):
    """Load the extension anew in a folder with a project's file."""
    Path("pyproject.toml").write_text(text)
    unload_ipython_extension(shell)
    load_ipython_extension(shell)
    return magic(shell)


def test_every_setting_is_explained(shell, capsys):
    """`%config GraphQLMagic` lists them with their values."""
    shell.run_line_magic("config", "GraphQLMagic")
    shown = capsys.readouterr().out
    for name, trait in magic(shell).traits(config=True).items():
        assert f"GraphQLMagic.{name}=" in shown
        assert len(trait.help) > 40


def test_a_setting_applies_to_every_cell(shell):
    """Options of the cell take precedence; an invalid value is an error."""
    run(shell, "%config GraphQLMagic.type = 'json'")
    assert run(shell, "%%graphql schema\n{ hello }") == {"hello": "Hello world!"}
    assert run(shell, "%%graphql schema -t result\n{ hello }").data
    run(shell, "%config GraphQLMagic.type = 'table'")
    assert magic(shell).type == "json"


def test_pyproject_sets_the_defaults(shell):
    """`[tool.gqlnb]` sets defaults; IPython's own configuration takes precedence."""
    made = loaded(shell, "[tool.gqlnb]\ntype = 'frame'\nstats = true\n")
    assert (made.type, made.stats) == ("frame", True)
    shell.config.GraphQLMagic.type = "json"
    try:
        made = loaded(shell, "[tool.gqlnb]\ntype = 'frame'\nstats = true\n")
        assert (made.type, made.stats) == ("json", True)
    finally:
        del shell.config.GraphQLMagic


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[tool.gqlnb]\ntyp = 'frame'\n", r"line 2: no setting 'typ'\. Did you mean 'type'\?"),
        ("[tool.gqlnb]\n\ntype = 'table'\n", r"line 3: type = 'table' is not valid: any of \["),
        ("[tool.gqlnb]\nstats = 3\n", r"line 2: stats = '3' is not valid: a boolean is expected"),
        ("[tool.gqlnb\n", r"pyproject\.toml, line 1: invalid TOML"),
    ],
)
def test_an_invalid_pyproject_setting_is_a_warning(shell, text, told):
    """The extension loads with the valid settings of the file."""
    with pytest.warns(UserWarning, match=told):
        loaded(shell, text)
    assert run(shell, "%%graphql schema\n{ hello }").data == {"hello": "Hello world!"}


def test_unloading_removes_everything(shell):
    """No magic, configurable, attribute or open client remains."""
    unload_ipython_extension(shell)
    before = list(shell.configurables)
    load_ipython_extension(shell)
    clients = magic(shell).state.clients
    run(shell, "import gqlnb\nserver = gqlnb.serve(schema, port=0)")
    run(shell, "%%graphql server -q\n{ hello }")
    unload_ipython_extension(shell)
    assert list(shell.configurables) == before
    assert not [name for name in vars(shell) if "gql" in name]
    assert list(clients._by_server) == []


def test_a_schema_of_another_library_is_summarized(shell):
    """As text and as HTML, whose lines a notebook breaks between words."""
    schema = graphql.build_schema("type Query { hello: String }")
    for mime in ("text/plain", "text/html"):
        assert "query Query: hello" in shell.display_formatter.format(schema)[0][mime]
    unload_ipython_extension(shell)
    shown = shell.display_formatter.format(schema)[0]
    assert "text/html" not in shown
    assert "hello" not in shown["text/plain"]


def test_unloading_preserves_foreign_magics(shell):
    """A magic registered under our name later survives unloading."""
    shell.register_magic_function(len, "cell", "graphql")
    unload_ipython_extension(shell)
    assert shell.magics_manager.magics["cell"]["graphql"] is len
    assert "graphql" not in shell.magics_manager.magics["line"]


def test_help_is_shown_for_either_name(shell, capsys):
    """`%%graphql?` and `%gql?`."""
    for name in ("%%graphql", "%gql"):
        shell.run_cell(f"{name}?")
        shown = capsys.readouterr().out
        assert "-o, --output NAME" in shown
        assert "[tool.gqlnb.connections.NAME]" in shown


def test_loading_opens_no_connection_and_no_user_file():
    """No request is sent, and no large library is imported."""
    code = (
        "import sys\n"
        "def watch(event, args):\n"
        "    if event.startswith('socket.') and event != 'socket.__new__': print(event, args)\n"
        "sys.addaudithook(watch)\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'gqlnb')\n"
        "print([m for m in ('pandas', 'graphql', 'requests', 'platformdirs') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_broken_connection_file_is_named_in_the_error(shell):
    """An invalid pyproject.toml is reported when a connection is looked up in it."""
    Path("pyproject.toml").write_text("[tool.gqlnb\n")
    shown = failure(shell, "%%graphql work\n{ hello }")
    assert shown.startswith("OptionError: pyproject.toml, line 1: invalid TOML.")

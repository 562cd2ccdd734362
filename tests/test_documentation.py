"""The code of the documentation runs, and its results are those that the pages show."""

from __future__ import annotations

import ast
import inspect
import re
import runpy
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import gqlnb
from gqlnb.cli.help import COMMANDS
from gqlnb.client.client import Client
from gqlnb.client.connections import SETTING_CHECKS

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TITLES = {page: page.stem for page in PAGES if "```python" in page.read_text()}


def parse_shown_value(line: str) -> list[object]:
    """Return the value in the comment of a line, in a list; an empty list for any other remark."""
    match = re.search(r"  # (.+)$", line)
    try:
        return [] if match is None else [ast.literal_eval(match[1])]
    except (SyntaxError, ValueError):
        return []


def run_block(code: str, space: dict[str, object]) -> int:
    """Execute a block, compare each shown value, and return how many were compared."""
    compared = 0
    for statement in ast.parse(code).body:
        shown = parse_shown_value(code.splitlines()[(statement.end_lineno or 1) - 1])
        if isinstance(statement, ast.Expr):
            found = eval(
                compile(ast.Expression(statement.value), "page", "eval", dont_inherit=True), space
            )
            if shown:
                assert found == shown[0], ast.unparse(statement)
                compared += 1
        else:
            exec(compile(ast.Module([statement], []), "page", "exec", dont_inherit=True), space)
    return compared


def serve_anywhere(serve: Callable[..., gqlnb.Server], *args: object, **options: Any) -> object:
    """Serve on a free port, unless on a socket."""
    return serve(*args, **{**({} if "uds" in options else {"port": 0}), **options})


@pytest.mark.parametrize("page", TITLES, ids=TITLES.get)
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    """All blocks of Python, in order and in one namespace; then the tests that they define."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("API_TOKEN", "SESSION", "ANNA", "OTTO"):
        monkeypatch.setenv(name, "set by the page")
    monkeypatch.setattr(gqlnb, "serve", partial(serve_anywhere, gqlnb.serve))
    module = ModuleType("page")  # Strawberry looks a class up in its module
    monkeypatch.setitem(sys.modules, "page", module)
    space = vars(module)
    space["__file__"] = str(tmp_path / "page.py")
    for code in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        run_block(code, space)
    for name, found in list(space.items()):
        if name.startswith("test_") and callable(found):
            found()
    if server := space.get("server"):
        server.close()


def test_the_command_line_page_has_each_command(tmp_path, monkeypatch):
    """The page that the build writes has the help of every command."""
    pages = runpy.run_path(str(ROOT / "docs" / "reference_pages.py"))
    write_command_line = pages["write_command_line"]
    monkeypatch.setitem(write_command_line.__globals__, "REFERENCE", tmp_path)
    write_command_line()
    text = (tmp_path / "command-line.md").read_text()
    assert re.findall(
        r"^## `gqlnb (\w+)`\n\n```text\nUsage: gqlnb \1 ", text, re.MULTILINE
    ) == list(COMMANDS)


def test_the_table_of_client_options_has_each_option(root):
    """And marks those of settings files and of a call."""
    text = (root / "docs" / "reference" / "client-options.md").read_text()
    cells = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    rows = {name: row for row in cells for name in re.findall(r"\w+", row[1])}
    assert list(rows) == list(inspect.signature(Client).parameters)[1:]
    of_settings = {*SETTING_CHECKS} - {"url", "lists"}  # the latter are written by describe --keep
    assert {name for name, row in rows.items() if row[3].strip()} == of_settings
    of_call = {name for name, row in rows.items() if row[4].strip()}
    call = {*inspect.signature(Client.execute).parameters}
    assert of_call == call - {"self", "text", "variables", "operation", "extensions"}


def test_every_page_is_listed():
    """Each how-to page stands once in the index."""
    names = {page.stem for page in (ROOT / "docs" / "howto").glob("*.md")} - {"index"}
    listed = re.findall(
        r"^([a-z-]+)$", (ROOT / "docs" / "howto" / "index.md").read_text(), re.MULTILINE
    )
    assert sorted(names) == sorted(listed)
    assert len(names) >= 40

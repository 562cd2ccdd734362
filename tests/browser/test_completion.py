"""Completion and documentation in the cells of a real JupyterLab."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

pytestmark = pytest.mark.browser

SETUP = """%load_ext gqlnb
import gqlnb
sdl = 'type Query { "Who is asking." viewer: User } type User { login: String bio: String }'
here = gqlnb.Schema(sdl)"""
CELL = """%%graphql here
{
  viewer {
    lo
    \x20
  }
}"""
LINE = 4  # of the cell, the one that is being written


@pytest.fixture
def cell(open_notebook: Callable, write_notebook: Callable[[list[str]], str]) -> Any:
    """Open a notebook whose second cell is being written, the cursor behind `lo`."""
    notebook = open_notebook(write_notebook([SETUP, CELL]))
    notebook.run_all()
    editor = notebook.cell(1).locator(".cm-content")
    editor.click()
    editor.press("Control+Home")
    for _ in range(LINE - 1):
        editor.press("ArrowDown")
    editor.press("End")
    return notebook, editor


def names(notebook: Any) -> Any:
    """Return the names in the popup."""
    return notebook.page.locator(".jp-Completer-item .jp-Completer-match")


def test_tab_in_the_middle_of_a_cell(cell: Any) -> None:
    """The one name that fits is offered and taken; what stands below stays."""
    notebook, editor = cell
    editor.press("Tab")
    expect(names(notebook)).to_have_text(["login"])
    notebook.page.keyboard.press("Enter")
    expect(editor).to_contain_text("login")
    lines = editor.locator(".cm-line").all_inner_texts()
    assert lines[3].strip() == "login"
    assert lines[5].strip() == "}"


def test_ctrl_space_on_an_empty_line(cell: Any) -> None:
    """There Tab would indent; Ctrl-Space shows the fields, and Enter takes one."""
    notebook, editor = cell
    editor.press("ArrowDown")
    editor.press("End")
    begun = time.monotonic()
    editor.press("Control+Space")
    expect(names(notebook).first).to_be_visible()
    print(f"popup after {(time.monotonic() - begun) * 1000:.0f} ms")  # noqa: T201 - shown by -s
    expect(names(notebook).filter(has_text="bio")).to_have_count(1)
    expect(names(notebook).filter(has_text="abs")).to_have_count(0)
    notebook.page.keyboard.type("bi")
    notebook.page.keyboard.press("Enter")
    expect(editor).to_contain_text("bio")


def test_shift_tab_shows_the_documentation_of_a_field(cell: Any) -> None:
    """Signature and description, in the tooltip that Python's functions have too."""
    notebook, editor = cell
    editor.press("ArrowUp")
    editor.press("End")
    for _ in range(3):
        editor.press("ArrowLeft")
    editor.press("Shift+Tab")
    tooltip = notebook.page.locator(".jp-Tooltip")
    expect(tooltip).to_contain_text("Query.viewer: User")
    expect(tooltip).to_contain_text("Who is asking.")

"""Completion and documentation in the cells of a real JupyterLab."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.acting import photograph

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

pytestmark = pytest.mark.browser

SETUP = """%load_ext gqlnb
import gqlnb
sdl = '''
type Query {
  "Who is asking." viewer: User
  user(login: String!, first: Int): User
  "What it is." aFieldWithArguments(argumentOne: Int, argumentTwo: Int, argumentThree: Int): User
}
type User { login: String bio: String at(order: Order): Int online: Int old: Int @deprecated }
enum Order { ASC DESC }'''
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
def cell(show: Callable[..., Any]) -> Any:
    """Open a notebook whose second cell is being written, the cursor behind `lo`."""
    notebook = show(SETUP, CELL)
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


def test_tab_completes_in_the_middle_of_a_cell(cell: Any) -> None:
    """The only matching name is inserted; the text below is unchanged."""
    notebook, editor = cell
    editor.press("Tab")
    expect(names(notebook)).to_have_text(["login"])
    notebook.page.keyboard.press("Enter")
    expect(editor).to_contain_text("login")
    lines = editor.locator(".cm-line").all_inner_texts()
    assert lines[3].strip() == "login"
    assert lines[5].strip() == "}"


def test_ctrl_space_completes_on_an_empty_line(cell: Any) -> None:
    """Tab would indent; Ctrl-Space lists the fields, and Enter inserts one."""
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


def open_popup(notebook: Any, editor: Any, text: str) -> None:
    """Write a cell, and ask for completion at its end."""
    editor.press("Control+a")
    notebook.page.keyboard.insert_text(text)
    editor.press("Control+Space")


def test_entries_show_arguments_types_and_documentation(cell: Any) -> None:
    """Deprecated fields are last and struck through."""
    notebook, editor = cell
    open_popup(notebook, editor, "%%graphql here\n{ viewer { ")
    expect(names(notebook)).to_have_text(
        ["login", "bio", "at(order)", "online", "__typename", "old"]
    )
    items = notebook.page.locator(".jp-Completer-item")
    expect(items.nth(0).locator(".jp-Completer-typeExtended")).to_have_text("String")
    expect(items.nth(0).locator(".jp-Completer-monogram")).to_have_attribute("title", "field")
    expect(notebook.page.locator(".jp-Completer-deprecated")).to_have_text("foldInt")
    expect(notebook.page.locator(".jp-Completer-docpanel")).to_contain_text("User.login: String")
    photograph(notebook.page, "completion-fields")


@pytest.mark.parametrize(
    ("text", "listed", "inserted"),
    [
        # Not JupyterLab's words of the cell, after white space.
        ("query Long { viewer { at(order: ", ["ASC", "DESC", "null"], "at(order: ASC"),
        # Deprecated ones last, though JupyterLab sorts by names.
        ("{ viewer { o", ["online", "old"], "{ viewer { online"),
        ("{ us", ["user(login, first)"], '{ user(login: "")'),
        ("{ veiwer", ["viewer"], "{ viewer"),
        (None, ["here"], "%%graphql here"),
    ],
)
def test_names_are_listed_and_inserted(
    cell: Any, text: str | None, listed: list[str], inserted: str
) -> None:
    """Those of the schema; required arguments have placeholders, mistyped words are replaced."""
    notebook, editor = cell
    open_popup(notebook, editor, "%%graphql hre" if text is None else f"%%graphql here\n{text}")
    expect(names(notebook)).to_have_text(listed)
    notebook.page.keyboard.press("Enter")
    expect(editor).to_contain_text(inserted)


def test_a_list_of_long_names_leaves_room_for_the_documentation(cell: Any) -> None:
    """Long lists of arguments, and long types, end with an ellipsis."""
    notebook, editor = cell
    open_popup(notebook, editor, "%%graphql here\n{ aFieldWith")
    expect(names(notebook)).to_have_text(["aFieldWithArguments(argumentOne, …)"])
    panel = notebook.page.locator(".jp-Completer-docpanel")
    expect(panel).to_contain_text("What it is.")
    expect(panel).to_be_in_viewport(ratio=1)


def test_a_line_of_python_lists_the_subcommands(cell: Any) -> None:
    """Without words of the cell; only in the line of the magic, Ctrl-Space is a key of ours."""
    notebook, editor = cell
    open_popup(notebook, editor, "word = 1\n%graphql ")
    expect(names(notebook).filter(has_text="schema")).to_have_count(1)
    expect(names(notebook).filter(has_text="word")).to_have_count(0)
    notebook.page.keyboard.type("sche")
    notebook.page.keyboard.press("Enter")
    expect(editor).to_contain_text("%graphql schema")
    expect(notebook.cell(1).locator("[data-gqlnb=line]")).to_have_count(1)
    editor.press("ArrowUp")
    expect(notebook.cell(1).locator("[data-gqlnb]")).to_have_count(0)


def test_the_list_is_filled_when_the_schema_is_loaded(show: Callable[..., Any]) -> None:
    """Until then one entry says that the schema is being loaded."""
    setup = """%load_ext gqlnb
import time, gqlnb
from gqlnb.client import connections
def open_late():
    time.sleep(4)
    return gqlnb.Client(gqlnb.Schema('type Query { slowly: Int }'))
connections.provide_builtin('late', open_late, 'opens late')"""
    notebook = show(setup, "%%graphql late")
    editor = notebook.cell(1).locator(".cm-content")
    editor.click()
    open_popup(notebook, editor, "%%graphql late\n{ ")
    expect(names(notebook)).to_have_text(["loading the schema of late …"])
    expect(names(notebook)).to_have_text(["slowly", "__typename", "__schema", "__type(name)"])


def test_a_tooltip_shows_a_description_as_it_is(show: Callable[..., Any]) -> None:
    """No formula is typeset, no script runs, and no character turns the text around."""
    sdl = (
        'type Query { "Costs $5 to $9 or \\\\\\\\(x\\\\\\\\), **not** `$x$`, \\u202egpj.exe '
        '<img src=x onerror=window.struck=1>" price: Int }'
    )
    setup = f"%load_ext gqlnb\nimport gqlnb\nhere = gqlnb.Schema('{sdl}')"
    markdown = "from IPython.display import Markdown\nMarkdown('$y$')"  # so that MathJax is there
    notebook = show(setup, markdown, "%%graphql here\n{ price }")
    expect(notebook.outputs(1).locator("mjx-container")).to_have_count(1)
    editor = notebook.cell(2).locator(".cm-content")
    editor.click()
    editor.press("Control+End")
    for _ in range(4):
        editor.press("ArrowLeft")
    editor.press("Shift+Tab")
    tooltip = notebook.page.locator(".jp-Tooltip")
    expect(tooltip).to_contain_text("Costs $5 to $9 or")
    expect(tooltip.locator("strong")).to_have_text("not")
    expect(tooltip).to_contain_text("$x$")
    notebook.page.evaluate("() => new Promise(done => setTimeout(done, 500))")
    expect(tooltip.locator("mjx-container")).to_have_count(0)
    assert "\u202e" not in tooltip.inner_text()
    assert notebook.page.evaluate("window.struck") is None


def test_shift_tab_shows_the_documentation_of_a_field(cell: Any) -> None:
    """Signature and description, in JupyterLab's tooltip."""
    notebook, editor = cell
    editor.press("ArrowUp")
    editor.press("End")
    for _ in range(3):
        editor.press("ArrowLeft")
    editor.press("Shift+Tab")
    tooltip = notebook.page.locator(".jp-Tooltip")
    expect(tooltip).to_contain_text("Query.viewer: User")
    expect(tooltip).to_contain_text("Who is asking.")

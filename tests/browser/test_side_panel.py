"""The side panel in a real browser: endpoints, schema, history, commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.acting import EXECUTE, photograph, theme
from tests.browser.conftest import READY

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import BrowserContext, Page

    from tests.browser.conftest import Lab, Notebook, Pipe

    Show = Callable[..., Notebook]

pytestmark = pytest.mark.browser

LOAD = "%load_ext gqlnb"
SOURCE = """([cell, text]) => window.jupyterapp.shell.currentWidget.content.widgets[cell]
    .model.sharedModel.getSource() === text"""
OPEN = "path => void window.jupyterapp.commands.execute('docmanager:open', {path})"


class Side:
    """The panel, in the words of a person who uses it."""

    def __init__(self, page: Page) -> None:
        page.locator(".jp-SideBar [data-id=gqlnb-panel]").click()
        self.page = page
        self.root = page.locator("#gqlnb-panel")
        self.status = self.root.locator("> [role=status]")
        self.tree = self.root.get_by_role("tree")
        self.box = self.root.get_by_role("searchbox")
        self.detail = self.root.get_by_role("region", name="Documentation")

    def press(self, name: str) -> None:
        """Press a button of the panel."""
        self.root.get_by_role("button", name=name, exact=True).click()

    def open(self, view: str) -> None:
        """Open one of the three views."""
        self.press(view)

    def open_path(self, *places: str) -> None:
        """Click rows of the tree, each below the one before."""
        within = self.tree.get_by_role("treeitem", name="Query, type")
        for name in places:
            within = within.locator(f'> ul > [aria-label^="{name},"]')
            within.locator("> .gqlnb-row").click()
            expect(within).to_have_attribute("aria-selected", "true")


def test_a_table_by_mouse_alone(show: Show, axe: Callable[..., None]) -> None:
    """Somebody who has never seen the demo gets repositories with their languages."""
    notebook = show("")
    side = Side(notebook.page)
    expect(side.root).to_contain_text("gqlnb is not loaded in this kernel.")
    side.press("Load gqlnb")
    expect(side.root.get_by_role("button", name="Endpoints")).to_be_focused()
    side.press("Schema of demo")
    side.open_path("search", "nodes", "Repository", "languages")
    expect(side.detail).to_contain_text("languages")
    photograph(notebook.page, "panel-tree")
    side.press("New cell with Repository.languages")
    cell = notebook.cell(1)
    expect(cell).to_contain_text("%%graphql demo")
    notebook.page.get_by_role("button", name="Run this cell and advance").click()
    table = cell.locator("table").first
    expect(table).to_contain_text("build-your-own-x")
    expect(table).to_contain_text("Markdown")
    axe(notebook.page, "#gqlnb-panel")
    photograph(notebook.page, "panel-table")


def resize(page: Page, width: int) -> None:
    """Drag the border of the panel until it has a width in pixels."""
    handle = page.locator("#jp-main-split-panel > .lm-SplitPanel-handle").first
    box, panel = handle.bounding_box(), page.locator("#gqlnb-panel").bounding_box()
    assert box is not None
    assert panel is not None
    page.mouse.move(box["x"] + 1, 400)
    page.mouse.down()
    page.mouse.move(box["x"] + 1 + width - panel["width"], 400, steps=4)
    page.mouse.up()


@pytest.fixture
def side(show: Show) -> Callable[..., tuple[Notebook, Side]]:
    """Return a function that opens a notebook of cells, runs it, and opens the panel."""

    def open_it(*cells: str) -> tuple[Notebook, Side]:
        notebook = show(LOAD, *cells)
        return notebook, Side(notebook.page)

    return open_it


def test_an_endpoint_is_added_tested_renamed_and_removed(
    side: Callable[..., Any], lab: Lab, axe: Callable[..., None]
) -> None:
    """Its token by a source; nothing is sent until Test is pressed, and what is typed stays."""
    setup = (
        "import gqlnb\nserver = gqlnb.serve(gqlnb.reference_schema(), port=0)\nprint(server.url)"
    )
    notebook, panel = side(setup)
    address = notebook.outputs(1).inner_text().strip()
    panel.root.get_by_text("Add an endpoint").click()
    panel.root.get_by_role("textbox", name="Name").fill("local")
    notebook.page.evaluate(EXECUTE, "another = gqlnb.reference_schema()")
    expect(panel.root.get_by_role("heading", name="another")).to_be_visible()
    expect(panel.root.get_by_role("textbox", name="Name")).to_have_value("local")
    panel.root.get_by_role("textbox", name="Address").fill(address)
    panel.root.get_by_role("combobox", name="Token from").select_option("")
    panel.press("Add")
    entry = panel.root.locator("li", has=notebook.page.get_by_role("heading", name="local"))
    expect(entry).to_contain_text(address)
    axe(notebook.page, "#gqlnb-panel")
    panel.press("Test local")
    expect(entry).to_contain_text("Answered in ")
    panel.press("Schema of local")
    expect(panel.root.get_by_role("combobox", name="Endpoint")).to_have_value("local")
    panel.press("Endpoints")
    panel.press("Rename local")
    dialog = notebook.page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("mine")
    dialog.get_by_role("textbox").press("Enter")
    expect(panel.root.get_by_role("heading", name="mine")).to_be_visible()
    panel.press("Schema")
    expect(panel.root.get_by_role("combobox", name="Endpoint")).to_have_value("demo")
    panel.press("Endpoints")
    panel.root.get_by_role("button", name="Use mine", exact=True).hover()
    notebook.page.mouse.down()
    notebook.page.evaluate(EXECUTE, "third = gqlnb.reference_schema()")
    notebook.page.wait_for_timeout(1000)  # in which the panel would be drawn again
    notebook.page.mouse.up()
    expect(panel.root.get_by_role("heading", name="mine")).to_contain_text("current")
    expect(panel.root.get_by_role("heading", name="third")).to_be_visible()
    panel.press("Remove mine")
    dialog.get_by_role("button", name="Remove").click()
    expect(panel.root.get_by_role("heading", name="mine")).to_have_count(0)


def test_a_token_is_asked_for_in_a_cell(side: Callable[..., Any]) -> None:
    """By the kernel, when Connect is pressed; the panel has no box for it."""
    notebook, panel = side("1")
    panel.root.get_by_text("Add an endpoint").click()
    panel.root.get_by_role("textbox", name="Name").fill("asks")
    panel.root.get_by_role("textbox", name="Address").fill("http://127.0.0.1:9/graphql")
    panel.root.get_by_role("combobox", name="Token from").select_option("prompt")
    panel.press("Add")
    panel.press("Connect asks in a cell")
    prompt = notebook.cell(2).locator(".jp-Stdin-input")
    expect(prompt).to_have_attribute("type", "password")
    prompt.fill("canary-p4nel")
    prompt.press("Enter")
    entry = panel.root.locator("li", has=notebook.page.get_by_role("heading", name="asks"))
    expect(entry).to_contain_text("token: set in the kernel")
    assert "canary" not in notebook.page.content()
    panel.press("Remove asks")
    notebook.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(panel.root.get_by_role("heading", name="asks")).to_have_count(0)


def test_no_answer_and_no_introspection_are_said(side: Callable[..., Any]) -> None:
    """In the panel; the tree of another endpoint is shown as before."""
    setup = (
        "import gqlnb\n"
        "import socket\n"
        "access = gqlnb.Access(introspection=False)\n"
        "closed = gqlnb.serve(gqlnb.reference_schema(), port=0, access=access)\n"
        "refusing = gqlnb.Client(closed.url)\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"  # accepts, and never answers
        "address = 'http://127.0.0.1:%d/graphql' % listener.getsockname()[1]\n"
        "silent = gqlnb.Client(address, timeout=2)"
    )
    notebook, panel = side(setup)
    for name, words in (("silent", "no answer"), ("refusing", "introspection")):
        panel.press("Endpoints")
        panel.press(f"Schema of {name}")
        expect(panel.root).to_contain_text("Nothing is sent until you press this.")
        panel.press(f"Load the schema of {name}")
        expect(panel.status).to_contain_text(words)
    panel.press("Endpoints")
    panel.press("Test silent")
    entry = panel.root.locator("li", has=notebook.page.get_by_role("heading", name="silent"))
    expect(entry.get_by_role("status")).to_contain_text("Waiting for an answer")
    panel.press("Use demo")  # the kernel is free meanwhile
    expect(panel.root.get_by_role("heading", name="demo")).to_contain_text("current")
    panel.press("Schema of demo")
    expect(panel.tree.get_by_role("treeitem", name="Query, type")).to_be_visible()


def test_a_field_is_inserted_sampled_and_reached(side: Callable[..., Any]) -> None:
    """Insert puts it at the cursor; paths lead to its type; a hit opens as other rows do."""
    notebook, panel = side(
        '%%graphql demo\nquery { repository(owner: "a", name: "b") {\n  name\n} }'
    )
    panel.press("Schema of demo")
    editor = notebook.cell(1).locator(".cm-content")
    panel.open_path("search", "nodes", "Repository", "stargazerCount")
    panel.press("Sample of Repository.stargazerCount")
    sample = panel.root.get_by_role("region", name="Sample")
    expect(sample.locator("tbody tr")).to_have_count(5)
    photograph(notebook.page, "panel-sample")
    notebook.cell(1).get_by_text("name", exact=True).last.click()
    notebook.page.keyboard.press("End")
    panel.press("Insert Repository.stargazerCount")
    expect(editor).to_contain_text("name  stargazerCount} }".replace("  ", "  "))
    panel.box.fill("ReleaseConnection")
    hit = panel.tree.get_by_role("treeitem", name="ReleaseConnection, type")
    hit.locator(".gqlnb-row").click()
    expect(hit).to_contain_text("totalCount")
    panel.box.fill("Release.tagName")
    expect(panel.tree.get_by_role("treeitem").first).to_contain_text("Release.tagName")
    panel.tree.locator(".gqlnb-row").first.click()
    panel.press("Paths to Release.tagName")
    path = panel.root.get_by_role("button", name="Path: repository / latestRelease")
    expect(path).to_be_visible()
    path.click()
    expect(panel.detail.get_by_role("heading", level=3)).to_have_text("Repository.latestRelease")


def test_the_tree_is_used_by_keys(side: Callable[..., Any]) -> None:
    """Arrows, Enter and Tab reach everything; deprecated fields are marked."""
    sdl = 'type Query { a: A old: Int @deprecated(reason: "No.") } type A { b: Int }'
    notebook, panel = side(f"import gqlnb\nhere = gqlnb.Schema('{sdl}')")
    panel.press("Schema of here")
    expect(panel.tree.get_by_role("treeitem")).to_have_count(3)
    expect(panel.tree).to_contain_text("olddeprecatedInt")
    expect(panel.box).to_be_focused()
    keys = notebook.page.keyboard
    keys.press("Tab")
    focused = notebook.page.locator(":focus")
    expect(focused).to_have_attribute("aria-label", "Query, type")
    for key, label in (("ArrowDown", "a, A"), ("End", "old, Int, deprecated"), ("ArrowUp", "a, A")):
        keys.press(key)
        expect(focused).to_have_attribute("aria-label", label)
    keys.press("ArrowRight")
    expect(panel.tree.get_by_role("treeitem")).to_have_count(4)
    keys.press("ArrowRight")
    expect(focused).to_have_attribute("aria-label", "b, Int")
    keys.press("Enter")
    expect(panel.detail).to_contain_text("A.b")
    keys.press("ArrowLeft")
    expect(focused).to_have_attribute("aria-label", "a, A")
    keys.press("Enter")
    expect(panel.detail).to_contain_text("Query.a")
    keys.press("Tab")
    expect(focused).to_have_attribute("aria-label", "Documentation")
    for name in ("Insert Query.a", "New cell with Query.a"):
        keys.press("Tab")
        expect(focused).to_have_attribute("aria-label", name)
    keys.press("Enter")
    expect(notebook.cell(2)).to_contain_text("%%graphql here")


def test_the_history_makes_cells(side: Callable[..., Any]) -> None:
    """Rows, time and completeness of each operation; saved cells."""
    text = (
        '{ search(query: "", type: REPOSITORY, first: 2) { nodes { ... on Repository { name } } } }'
    )
    notebook, panel = side(f"%%graphql demo --save two\n{text}")
    panel.press("History")
    expect(panel.root).to_contain_text("demo · 2 rows")
    expect(panel.root).to_contain_text(" ms")
    expect(panel.root.get_by_role("heading", name="two")).to_be_visible()
    photograph(notebook.page, "panel-history")
    panel.press(f"New cell: {text}")
    expect(notebook.cell(2)).to_contain_text("%%graphql demo{ search")


def test_commands_change_the_cell(side: Callable[..., Any], bundled: None) -> None:
    """Format, documentation, fragment, rename: by shortcuts, the palette and the menu of a cell."""
    cell = "%%graphql demo -p n=2\n# What\nquery($n:Int){one:viewer{login,\nid # why\n}}"
    notebook, panel = side(cell)
    page, editor = notebook.page, notebook.cell(1).locator(".cm-content")
    formatted = (
        "%%graphql demo -p n=2\n# What\nquery ($n: Int) {\n  one: viewer {\n    login\n"
        "    id # why\n  }\n}"
    )
    editor.click()
    for _ in range(2):  # a second time changes nothing
        page.keyboard.press("Alt+Shift+f")
        page.wait_for_function(SOURCE, arg=[1, formatted])
    editor.get_by_text("login").dblclick()
    page.keyboard.press("Alt+Shift+d")
    expect(panel.detail.get_by_role("heading", level=3)).to_have_text("User.login")
    editor.get_by_text("login").dblclick()
    editor.get_by_text("login").click(button="right")
    page.get_by_role("menuitem", name="Extract the Selection as a Fragment").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("Parts")
    dialog.get_by_role("textbox").press("Enter")
    fragment = "\n\nfragment Parts on User {\n  login\n}"
    page.wait_for_function(SOURCE, arg=[1, formatted.replace("login", "...Parts") + fragment])
    editor.get_by_text("one").dblclick()
    page.keyboard.press("Control+Shift+c")
    page.locator("#command-palette, .lm-CommandPalette").get_by_role("textbox").first.fill(
        "Rename the Alias"
    )
    page.keyboard.press("Enter")
    dialog.get_by_role("textbox").fill("me")
    dialog.get_by_role("textbox").press("Enter")
    expect(editor).to_contain_text("me: viewer")


def test_a_format_that_would_change_a_text_is_refused(side: Callable[..., Any]) -> None:
    """Prettier takes the spaces at the ends of lines out of block strings."""
    text = '"""\nstars:>1  \nlanguage:C\n"""'
    cell = f"%%graphql demo\n{{search(query:{text},type:REPOSITORY){{repositoryCount}}}}"
    notebook, panel = side(cell)
    notebook.cell(1).locator(".cm-content").click()
    notebook.page.keyboard.press("Alt+Shift+f")
    expect(panel.root).to_contain_text("so the cell stays as it was")
    notebook.page.wait_for_function(SOURCE, arg=[1, cell])


def test_the_panel_follows_the_notebook_and_its_kernel(
    side: Callable[..., Any], lab: Lab, pipe: Pipe
) -> None:
    """Two notebooks, a busy kernel, a restart."""
    notebook, panel = side("import gqlnb\nfirst = gqlnb.reference_schema()", "1")
    page = notebook.page
    expect(panel.root.get_by_role("heading", name="first")).to_be_visible()
    cells = [LOAD, "import gqlnb\nsecond = gqlnb.reference_schema()"]
    written = nbformat.v4.new_notebook(
        cells=[*map(nbformat.v4.new_code_cell, cells)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(written, lab.folder / "second.ipynb")
    page.evaluate(OPEN, "second.ipynb")
    page.wait_for_function(READY, arg="second.ipynb")
    expect(panel.root).to_contain_text("gqlnb is not loaded in this kernel.")
    notebook.run_all()
    expect(panel.root.get_by_role("heading", name="second")).to_be_visible()
    expect(panel.root.get_by_role("heading", name="first")).to_have_count(0)
    page.get_by_role("tab", name="test_the_panel").click()
    expect(panel.root.get_by_role("heading", name="first")).to_be_visible()
    page.evaluate(EXECUTE, pipe.cell)
    panel.press("Use first")
    expect(panel.status).to_have_text("The kernel is busy. This waits in line.")
    pipe.let_go()
    expect(panel.root.get_by_role("heading", name="first")).to_contain_text("current")
    expect(panel.status).to_have_text("")
    page.evaluate(EXECUTE, pipe.cell)
    page.get_by_role("tab", name="second").click()
    expect(panel.root.get_by_role("heading", name="second")).to_be_visible()
    page.get_by_role("tab", name="test_the_panel").click()
    expect(panel.status).to_have_text("The kernel is busy. This waits in line.")
    expect(panel.root.get_by_role("heading", name="second")).to_have_count(0)
    pipe.let_go()
    expect(panel.root.get_by_role("heading", name="first")).to_be_visible()
    page.evaluate("() => void window.jupyterapp.commands.execute('kernelmenu:restart')")
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(panel.root).to_contain_text("gqlnb is not loaded in this kernel.")
    panel.press("Load gqlnb")
    expect(panel.root.get_by_role("heading", name="demo")).to_be_visible()
    expect(panel.root.get_by_role("heading", name="first")).to_have_count(0)


@pytest.mark.parametrize("width", [250, 400])
def test_the_panel_fits_in_both_themes(
    side: Callable[..., Any], axe: Callable[..., None], width: int
) -> None:
    """No view is wider than the panel, and axe finds nothing; the pictures are looked at."""
    text = (
        '{ search(query: "", type: REPOSITORY, first: 2) { nodes { ... on Repository { name } } } }'
    )
    notebook, panel = side(f"%%graphql demo\n{text}")
    page = notebook.page
    resize(page, width)
    for name in ("Light", "Dark"):
        theme(page, name)
        panel.press("Endpoints")
        expect(panel.root).to_contain_text("demo")
        check_view(page, axe, f"panel-endpoints-{width}-{name}")
        panel.press("History")
        check_view(page, axe, f"panel-history-{width}-{name}")
        panel.press("Endpoints")
        panel.press("Schema of demo")
        panel.open_path("search", "nodes", "Repository", "languages")
        panel.press("Sample of Repository.languages")
        expect(panel.root.get_by_role("region", name="Sample")).to_be_visible()
        check_view(page, axe, f"panel-schema-{width}-{name}")
    theme(page, "Light")


def check_view(page: Page, axe: Callable[..., None], name: str) -> None:
    """Check that nothing is cut at the side, and that axe finds nothing."""
    axe(page, "#gqlnb-panel")
    photograph(page, name)
    assert page.locator(".gqlnb-main").evaluate("it => it.scrollWidth - it.clientWidth") <= 0


def test_notebook_7_has_the_panel(
    write_notebook: Callable[[list[str]], str],
    lab: Lab,
    browser: BrowserContext,
    stop_kernels: None,
) -> None:
    """In its left sidebar, opened by keys."""
    pytest.importorskip("notebook", reason="Notebook 7 is not installed")
    path, page = write_notebook(["1"]), browser.new_page()  # Notebook 7 itself reports errors
    page.goto(f"{lab.url}/notebooks/{path}?token={lab.token}")
    page.wait_for_function(READY, arg=path, timeout=60_000)
    page.keyboard.press("Alt+Shift+g")
    panel = page.locator("#gqlnb-panel")
    panel.get_by_role("button", name="Load gqlnb").click()
    panel.get_by_role("button", name="Schema of demo").click()
    expect(panel.get_by_role("treeitem", name="Query, type")).to_be_visible()
    photograph(page, "panel-notebook-7")
    page.close()

"""GraphiQL in a real JupyterLab: it asks by way of the kernel, and leaves nothing behind."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.acting import SAVED, fill_editor, photograph, theme

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Notebook, Pipe

    Show = Callable[..., Notebook]

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("bundled")]

EVIL = "<img src=x onerror=window.struck=1><script>window.struck=1</script>"
SETUP = f"""import gqlnb
EVIL = {EVIL!r}
sdl = '''
scalar Any
"EVIL [x](javascript:window.struck=1)"
type Query {{
  "Says hello. EVIL ![p](http://192.0.2.1/p.png)"
  hello(name: String = "world"): String
  same(value: Any): Any  bad: String  kind: Kind
}}
type Subscription {{ ticks(from: Int!): Int }}
enum Kind {{ "EVIL" ONE }}
'''.replace("EVIL", EVIL)
def ticks(root, args, context):
    yield from range(args["from"], 0, -1)
    import threading
    threading.Event().wait(60)  # until it is stopped
def bad(root, args, context):
    raise ValueError(EVIL)
schema = gqlnb.Schema(sdl, {{
    "Query": {{
        "hello": lambda root, args, context: f"Hello {{args['name']}}!",
        "same": lambda root, args, context: args["value"],
        "bad": bad,
    }},
    "Subscription": {{"ticks": ticks}},
}})
explorer = gqlnb.Explorer(schema, query="{{ hello }}")
"""
COMMAND = "([name, args]) => window.jupyterapp.commands.execute(name, args)"


class Widget:
    """One view of the explorer, in the words of a person who uses it."""

    def __init__(self, place: Locator) -> None:
        self.root = place.locator(".gqlnb-explorer")
        self.page = place.page
        self.query = self.root.locator(".graphiql-query-editor .monaco-editor")
        self.variables = self.root.locator(".graphiql-editor-tool .monaco-editor").first
        self.answer = self.root.locator(".result-window .view-lines")
        self.execute = self.root.locator(".graphiql-execute-button")
        self.said = self.root.locator(".gqlnb-about [role=status]")

    def write(self, text: str, editor: Locator | None = None) -> None:
        """Replace what stands in an editor, by default that of the query."""
        fill_editor(editor or self.query, text)

    def press(self, name: str) -> None:
        """Press a button of GraphiQL."""
        self.root.get_by_role("button", name=name).click()


def shown(notebook: Notebook, index: int = 0) -> Widget:
    """Return the view in a cell, and print how long it took to be there."""
    begun = time.monotonic()
    widget = Widget(notebook.cell(index))
    expect(widget.query.locator(".view-line").first).to_be_visible()
    print(f"shown after {time.monotonic() - begun:.2f} s")  # noqa: T201 - by -s
    return widget


def test_a_query_runs_through_the_kernel(show: Show) -> None:
    """The response is shown and is the result in the notebook; names are completed."""
    notebook = show(f"{SETUP}explorer", "explorer.result['hello']")
    widget = shown(notebook)
    expect(widget.root.locator(".gqlnb-about")).to_contain_text("Target: a schema of this notebook")
    widget.execute.click()
    expect(widget.answer).to_contain_text('"hello": "Hello world!"')
    widget.write('{\n  hello(name: "you")\n}')
    notebook.page.keyboard.press("Control+Enter")  # in a notebook: run the cell
    expect(widget.answer).to_contain_text("Hello you!")
    notebook.rerun(1)
    expect(notebook.outputs(1)).to_contain_text("'Hello you!'")
    widget.write("{ he")
    notebook.page.keyboard.press("Control+Space")
    expect(widget.root.locator(".suggest-widget")).to_contain_text("hello")
    notebook.page.keyboard.press("Enter")
    expect(widget.query).to_contain_text("hello")
    expect(notebook.cell(0)).to_contain_text("[1]:")  # it ran once


def test_numbers_and_variables_are_sent_exactly(show: Show) -> None:
    """JavaScript would round them."""
    notebook = show(f"{SETUP}explorer", "explorer.result['same'], explorer.variables")
    widget = shown(notebook)
    widget.write("query ($value: Any) { same(value: $value) }")
    widget.write('{"value": [18446744073709551617, 1.50]}', widget.variables)
    widget.execute.click()
    expect(widget.answer).to_contain_text("18446744073709551617")
    notebook.rerun(1)
    expect(notebook.outputs(1)).to_contain_text("[18446744073709551617, 1.5]")
    widget.write("{value: 1}", widget.variables)
    widget.execute.click()
    expect(widget.answer).to_contain_text("Variables")
    expect(widget.answer).to_contain_text("JSON")


def test_a_subscription_runs_and_stops_while_a_cell_runs(show: Show, pipe: Pipe) -> None:
    """The widget is displayed, subscribes and stops while the main thread is busy."""
    notebook = show(f"{SETUP}explorer", pipe.cell, wait=False)
    expect(notebook.outputs(1)).to_have_text("holding")
    widget = shown(notebook)
    widget.write("subscription { ticks(from: 3) }")
    widget.execute.click()
    expect(widget.answer).to_contain_text('"ticks": 1')
    expect(widget.execute).to_have_attribute("aria-label", "Stop query (Ctrl-Enter)")
    widget.execute.click()
    expect(widget.execute).to_have_attribute("aria-label", "Execute query (Ctrl-Enter)")
    widget.write("{ hello }")
    widget.execute.click()
    expect(widget.answer).to_contain_text("Hello world!")
    pipe.let_go()
    expect(notebook.outputs(1)).to_contain_text("let go")


def test_two_explorers_share_only_the_bundle(show: Show) -> None:
    """Each has its own text, schema and completion; the second one loads at once."""
    other = """schema = gqlnb.Schema("type Query { other: String }")
second = gqlnb.Explorer(schema, query="{ other }")
sent = []
send = second.send
second.send = lambda message, buffers=None: (sent.append(message["kind"]), send(message, buffers))
second"""
    notebook = show(f"{SETUP}explorer", "0", "print(sent)")
    first = shown(notebook)
    notebook.cell(1).locator(".cm-content").fill(other)
    notebook.rerun(1)
    second = shown(notebook, 1)
    second.execute.click()
    expect(second.answer).to_contain_text('"other": null')
    first.execute.click()
    expect(first.answer).to_contain_text("Hello world!")
    expect(first.query).to_contain_text("hello")
    expect(second.query).to_contain_text("other")
    second.write("{ ot")
    notebook.page.keyboard.press("Control+Space")
    expect(second.root.locator(".suggest-widget")).to_contain_text("other")
    first.write("{ he")
    notebook.page.keyboard.press("Control+Space")
    expect(first.root.locator(".suggest-widget")).to_contain_text("hello")
    notebook.rerun(2)
    expect(notebook.outputs(2)).to_contain_text("'state'")
    expect(notebook.outputs(2)).not_to_contain_text("'bundle'")


def test_foreign_html_is_shown_as_text(show: Show) -> None:
    """In descriptions, values and error messages; no script runs."""
    notebook = show(f"{SETUP}explorer")
    widget = shown(notebook)
    widget.write("{ bad same(value: " + json.dumps(EVIL) + ") }")
    widget.execute.click()
    expect(widget.answer).to_contain_text('"bad": null')
    expect(widget.answer).to_contain_text("<img src=x")
    widget.press("Show Documentation Explorer")
    docs = widget.root.locator(".graphiql-doc-explorer")
    docs.get_by_role("link", name="Query", exact=True).click()
    expect(docs).to_contain_text("Says hello. <img src=x")
    docs.get_by_role("link", name="Kind", exact=True).click()
    expect(docs).to_contain_text("<img src=x")
    widget.write("{ hello }")
    widget.query.get_by_text("hello").hover()
    hovering = notebook.page.locator(".monaco-hover-content").filter(has_text="Says hello.")
    expect(hovering).to_be_visible()
    expect(hovering).to_contain_text("<img src=x")
    expect(hovering).to_contain_text("![p](http://192.0.2.1/p.png)")
    widget.write("{ he")
    notebook.page.keyboard.press("Control+Space")
    expect(widget.root.locator(".suggest-widget")).to_contain_text("hello")
    assert notebook.page.locator(".gqlnb-explorer :is(img, a[href^=javascript])").count() == 0
    assert notebook.page.locator(".monaco-hover img").count() == 0
    assert notebook.page.evaluate("window.struck") is None


def test_an_equivalent_cell_is_inserted_below(show: Show) -> None:
    """It runs the same operation, also if the magic was not loaded."""
    notebook = show(f"{SETUP}explorer", "1")
    widget = shown(notebook)
    widget.write("query ($name: String) { hello(name: $name) }")
    widget.write('{"name": "it\'s you"}', widget.variables)
    widget.press("Insert a %%graphql cell below")
    expect(widget.said).to_have_text(
        "The cell is below. In a new kernel, %load_ext gqlnb has to run before it."
    )
    below = notebook.cell(1)
    expect(below).to_contain_text('%%graphql schema -p name="it\'s you"')
    notebook.rerun(1)
    expect(notebook.outputs(1)).to_contain_text("Hello it's you!")


def test_keys_go_to_graphiql_except_for_saving(show: Show) -> None:
    """Typing `dd` deletes no cell, Ctrl-S saves the notebook, Tab moves between controls."""
    notebook = show(f"{SETUP}explorer")
    widget, keyboard = shown(notebook), notebook.page.keyboard
    widget.execute.focus()
    keyboard.type("dd")
    keyboard.press("Enter")
    expect(widget.answer).to_contain_text("Hello world!")
    widget.query.locator(".view-lines").click()
    keyboard.type("# dd")
    keyboard.press("Control+s")
    notebook.page.wait_for_function(SAVED)
    expect(widget.query).to_contain_text("dd")
    names = []
    widget.root.get_by_role("button").first.focus()
    for _ in range(30):
        keyboard.press("Tab")
        names.append(notebook.page.evaluate("document.activeElement.ariaLabel"))
    assert "Execute query (Ctrl-Enter)" in names
    assert names.index("Insert a %%graphql cell below") < names.index("Result Window")
    assert names[-1] != "Result Window"


def test_a_new_view_keeps_the_history(show: Show) -> None:
    """Earlier queries are listed after the cell has been rerun."""
    notebook = show(f"{SETUP}explorer", "explorer")
    widget = shown(notebook)
    widget.write("query Asked { hello }")
    widget.execute.click()
    expect(widget.answer).to_contain_text("Hello world!")
    widget.press("Show History")
    past = widget.root.get_by_role("region", name="History")
    expect(past).to_contain_text("Asked")
    notebook.rerun(1)
    notebook.wait_idle()
    expect(notebook.outputs(1).locator(".graphiql-execute-button")).to_be_visible()
    widget.write("query Later { hello }")
    widget.execute.click()
    expect(past).to_contain_text("Later")
    expect(past).to_contain_text("Asked")


@pytest.mark.parametrize("name", ["Light", "Dark"])
def test_the_explorer_follows_the_theme_and_is_accessible(
    name: str, show: Show, axe: Callable[[Page, Any], None]
) -> None:
    """Text has sufficient contrast, and controls have names."""
    notebook = show(f"{SETUP}explorer")
    widget, page = shown(notebook), notebook.page
    try:
        theme(page, name)
        expect(page.locator("body")).to_have_class(re.compile(f"graphiql-{name.lower()}"))
        widget.execute.click()
        expect(widget.answer).to_contain_text("Hello world!")
        widget.press("Show Documentation Explorer")
        photograph(page, f"explorer-{name}")
        axe(page, ".gqlnb-explorer")
    finally:
        theme(page, "Light")


def test_long_names_are_whole_in_the_documentation(show: Show) -> None:
    """They are broken where the pane has too little room."""
    name = "AcceptEnterpriseAdministratorInvitationPayload" * 2
    sdl = f"type Query {{ one: {name} }} type {name} {{ n: Int }}"
    notebook = show(f"import gqlnb\ngqlnb.Explorer(gqlnb.Schema({sdl!r}))")
    widget = shown(notebook, 0)
    widget.press("Show Documentation Explorer")
    docs = widget.root.locator(".graphiql-doc-explorer")
    link = docs.get_by_role("link", name=name)
    expect(link).to_be_visible()
    assert docs.evaluate("docs => docs.scrollWidth <= docs.clientWidth")
    right = "node => node.getBoundingClientRect().right"
    assert link.evaluate(right) <= docs.evaluate(right)


def test_open_panels_survive_a_change_of_theme(show: Show) -> None:
    """The documentation stays where it was, and so does the history."""
    notebook = show(f"{SETUP}explorer")
    widget, page = shown(notebook), notebook.page
    try:
        widget.press("Show Documentation Explorer")
        docs = widget.root.locator(".graphiql-doc-explorer")
        docs.get_by_role("link", name="Query", exact=True).click()
        expect(docs).to_contain_text("Says hello.")
        theme(page, "Dark")
        expect(page.locator("body")).to_have_class(re.compile("graphiql-dark"))
        expect(docs).to_contain_text("Says hello.")
        widget.press("Show History")
        theme(page, "Light")
        expect(page.locator("body")).to_have_class(re.compile("graphiql-light"))
        expect(widget.root.get_by_role("region", name="History")).to_be_visible()
    finally:
        theme(page, "Light")


def test_a_run_in_the_notebook_shows_its_answer(show: Show) -> None:
    """In every view: those that are there, and those that come later; errors too."""
    bad = "explorer.client.execute = lambda *_, **__: 1 / 0\nexplorer.run()"
    notebook = show(f"{SETUP}explorer", "explorer.run()", "explorer", bad)
    later = shown(notebook, 2)
    expect(later.answer).to_contain_text("ZeroDivisionError")
    expect(shown(notebook).answer).to_contain_text("ZeroDivisionError")
    notebook.cell(3).locator(".cm-content").fill("del explorer.client.execute\nexplorer.run()")
    notebook.rerun(3)
    expect(shown(notebook).answer).to_contain_text("Hello world!")
    expect(shown(notebook, 2).answer).to_contain_text("Hello world!")


def test_editors_far_out_of_sight_are_given_up_and_come_back(show: Show) -> None:
    """With tabs, texts, variables, answers and panel; an answer that comes meanwhile is shown."""
    far = "import IPython; IPython.display.HTML('<div style=height:9000px>')"
    notebook = show(f"{SETUP}explorer", far, "explorer.run()['hello']")
    widget, page = shown(notebook), notebook.page
    editors = page.locator(".graphiql-query-editor .monaco-editor")
    widget.write('query First { hello(name: "first") }')  # the notebook's run answered "world"
    widget.execute.click()
    expect(widget.answer).to_contain_text("Hello first!")
    widget.press("New tab")
    widget.write("query Second($value: Any) { same(value: $value) }")
    widget.write('{"value": [1, 2.50]}', widget.variables)
    widget.execute.click()
    expect(widget.answer).to_contain_text("2.5")
    widget.press("Show Documentation Explorer")
    widget.root.locator(".graphiql-doc-explorer").click()
    notebook.cell(2).locator(".cm-content").click()
    expect(editors).to_have_count(0)
    shown(notebook)
    expect(widget.query).to_contain_text("query Second")
    expect(widget.variables).to_contain_text("2.50")
    expect(widget.answer).to_contain_text("2.5")
    expect(widget.root.locator(".graphiql-doc-explorer")).to_be_visible()
    widget.root.get_by_role("button", name="First", exact=True).click()
    expect(widget.query).to_contain_text("query First")
    expect(widget.answer).to_contain_text("Hello first!")
    page.wait_for_timeout(1_000)  # the kernel is told of the tab a moment after it is shown
    notebook.rerun(2)  # of the tab that is chosen now
    expect(notebook.outputs(2)).to_contain_text("Hello first!")
    shown(notebook)
    widget.write('query First { hello(name: "all") }')
    notebook.cell(2).locator(".cm-content").click()
    expect(editors).to_have_count(0)
    notebook.rerun(2)
    expect(notebook.outputs(2)).to_contain_text("Hello all!")
    expect(editors).to_have_count(0)
    shown(notebook)
    expect(widget.answer).to_contain_text("Hello all!")
    widget.write("{ he")
    page.keyboard.press("Control+Space")
    expect(widget.root.locator(".suggest-widget")).to_contain_text("hello")


def test_a_running_subscription_keeps_its_editors(show: Show) -> None:
    """However far they are out of sight."""
    far = "import IPython; IPython.display.HTML('<div style=height:9000px>')"
    notebook = show(f"{SETUP}explorer", far, "1")
    widget, page = shown(notebook), notebook.page
    widget.write("subscription { ticks(from: 3) }")
    widget.execute.click()
    expect(widget.answer).to_contain_text('"ticks": 1')
    notebook.cell(2).locator(".cm-content").click()
    expect(page.locator(".graphiql-query-editor .monaco-editor")).to_have_count(1)
    shown(notebook).execute.click()
    notebook.cell(2).locator(".cm-content").click()
    expect(page.locator(".graphiql-query-editor .monaco-editor")).to_have_count(0)


def test_the_wheel_scrolls_the_notebook_at_the_end_of_an_editor(show: Show) -> None:
    """A short text has its end in view."""
    notebook = show(f"{SETUP}explorer", *["\n" * 40] * 3)
    widget, page = shown(notebook), notebook.page
    before = widget.query.bounding_box()
    assert before is not None
    page.mouse.move(before["x"] + 60, before["y"] + 60)
    page.mouse.wheel(0, 200)
    moved = "([it, y]) => it.getBoundingClientRect().y < y - 100"
    page.wait_for_function(moved, arg=[widget.query.element_handle(), before["y"]])


def test_the_headers_pane_has_names_and_sources_only(show: Show, tmp_path: Path) -> None:
    """No value is in the page; the pane cannot be edited."""
    (tmp_path / "token").write_text("canary-1234567890")
    cell = f"""import os, gqlnb
os.environ["TEAM"] = "canary-team-0987"
headers = {{"X-Team": "env:TEAM", "X-Plain": "canary-plain"}}
token = gqlnb.Token.from_file({str(tmp_path / "token")!r})
schema = gqlnb.reference_schema().graphql
client = gqlnb.Client("http://127.0.0.1:9/graphql", token=token, headers=headers, schema=schema)
gqlnb.Explorer(client)"""
    (tmp_path / "token").chmod(0o600)
    notebook = show(cell)
    widget = shown(notebook)
    widget.press("Headers")
    pane = widget.root.get_by_role("group", name="Headers")
    for text in ('"Authorization": "file:', '"X-Team": "env:TEAM"', '"X-Plain": "set in the no'):
        expect(pane).to_contain_text(text)
    pane.locator(".view-lines").last.click()
    notebook.page.keyboard.type("typed")
    expect(pane).not_to_contain_text("typed")
    assert "canary" not in widget.root.inner_html()


def test_stop_cancels_the_request(show: Show) -> None:
    """The endpoint sees the end of the request."""
    cell = """import gqlnb, asyncio, threading
begun, ended = threading.Event(), threading.Event()
async def app(scope, receive, send):
    begun.set()
    try:
        await asyncio.sleep(600)
    finally:
        ended.set()
explorer = gqlnb.Explorer(gqlnb.Client(app, schema="type Query { a: Int }"), query="{ a }")
explorer"""
    cells = ["begun.wait(seconds), ended.is_set()", "ended.wait(seconds), explorer.error"]
    notebook = show(cell, "seconds = 0 if 'seconds' not in vars() else 30", *cells)
    widget = shown(notebook)
    widget.execute.click()
    notebook.rerun(1)
    notebook.rerun(2)
    expect(notebook.outputs(2)).to_contain_text("(True, False)")
    widget.execute.click()
    notebook.rerun(3)
    expect(notebook.outputs(3)).to_contain_text("(True, None)")


def test_editors_start_dark_in_a_dark_notebook(
    open_notebook: Callable[[str], Notebook], write_notebook: Callable[[list[str]], str]
) -> None:
    """Both the first editor of a page, and a second one with Monaco already loaded."""
    notebook = open_notebook(write_notebook([f"{SETUP}explorer", "gqlnb.Explorer(schema)"]))
    page = notebook.page
    theme(page, "Dark")
    try:
        notebook.run_all()
        for index in (0, 1):
            editor = shown(notebook, index).query
            expect(editor).to_have_class(re.compile(r"\bvs-dark\b"))
    finally:
        theme(page, "Light")


def test_a_missing_bundle_is_explained_in_the_notebook(show: Show) -> None:
    """A sentence replaces GraphiQL."""
    without = "import gqlnb.notebook.widgets.explorer as it\nit.read_checksum = lambda: None\n"
    widget = Widget(show(f"{without}{SETUP}explorer").cell(0))
    expect(widget.said).to_contain_text("GraphiQL is not in this installation")
    expect(widget.root.locator(".gqlnb-graphiql")).to_be_hidden()


@pytest.mark.parametrize("width", [600, 1000, 1600])
def test_beside_the_documentation_the_editor_can_be_read(
    show: Show, width: int, axe: Callable[..., None]
) -> None:
    """Panes stack where there is no room beside each other, and nothing is clipped."""
    notebook = show(f"{SETUP}explorer")
    page = notebook.page
    page.set_viewport_size({"width": width, "height": 1000})
    page.evaluate(COMMAND, ["application:toggle-left-area", {}])
    expect(page.locator(".jp-FileBrowser")).to_be_hidden()
    widget = shown(notebook)
    widget.press("Show Documentation Explorer")
    for large in (False, True):
        if large:
            widget = Widget(page.locator("body > .gqlnb-explorer").locator(".."))
            axe(page, ".gqlnb-about")
        whole = widget.root.locator(".gqlnb-graphiql").bounding_box()
        assert whole is not None
        for pane in (
            page.locator(f".graphiql-{name}").first
            for name in ("plugin", "query-editor", "response")
        ):
            box = pane.bounding_box()
            assert box is not None
            assert box["width"] > 240
            assert box["height"] > 120
            assert box["x"] + box["width"] <= whole["x"] + whole["width"] + 1
            assert box["y"] + box["height"] <= whole["y"] + whole["height"] + 1
        if not large:
            page.get_by_role("button", name="Enlarge").click()
    assert whole["width"] > width - 40
    widget.execute.click()
    expect(widget.answer).to_contain_text("Hello world!")
    page.get_by_role("button", name="Back to the notebook").press("Escape")
    expect(notebook.cell(0).locator(".gqlnb-explorer .result-window")).to_contain_text("Hello")

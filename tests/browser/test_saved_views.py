"""Widgets in saved notebooks: nothing random in the file, and HTML when it is reopened."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

import gqlnb
from tests.browser.acting import expect_saved_html, photograph, save, toggle_saved_state
from tests.browser.conftest import READY, SECONDS, Lab, Notebook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("bundled")]

SETUP = "%load_ext gqlnb\nimport gqlnb\nhere = gqlnb.reference_schema()"
WIDGETS = {
    "search = gqlnb.StarSearch('>300000', limit=3)\nsearch.run()\nsearch": ".gqlnb-stars",
    "gqlnb.ResultView(here.execute('{ hello }'))": ".gqlnb-result",
    "gqlnb.SchemaView(here)": ".gqlnb-schema",
    "gqlnb.Explorer(here, query='{ hello }')": ".gqlnb-explorer .graphiql-container",
    "gqlnb.TokenBox()": ".gqlnb-token",
    "n = 3\nbooks = gqlnb.Schema.mock('type Query { n(n: Int): Int }')": "",
    "%%graphql books --interact n\nquery ($n: Int!) { n(n: $n) }": ".widget-slider",
}
OF_A_CLIENT = {
    "gqlnb.StarSearch('>300000', limit=50, client=client)": "[data-phase=done]",
    "gqlnb.ResultView(client.execute('{ viewer { login } }'))": ".gqlnb-result",
    "gqlnb.SchemaView(client)": ".gqlnb-schema",
    "gqlnb.Explorer(client, query='{ viewer { login } }')": ".graphiql-container",
}
SAVED = [
    "build-your-own-x",
    "Hello world!",
    "Query",
    "run this notebook to explore it",
    "",
    "",
    "$n = 3",
]
TRUSTED = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
    .filter(({ type }) => type === 'code').every(({ trusted }) => trusted)"""
MAX_SHUTDOWN = 120_000  # ms; other tests run meanwhile


def stop_kernel(lab: Lab, page: Page, name: str) -> None:
    """Shut down the kernel of a notebook."""
    url = f"{lab.url}/api/sessions"
    sessions = page.request.get(url, headers=lab.headers, timeout=MAX_SHUTDOWN)
    (ident,) = (it["id"] for it in sessions.json() if it["path"] == name)
    page.request.delete(f"{url}/{ident}", headers=lab.headers, timeout=MAX_SHUTDOWN)


def expect_live(notebook: Notebook) -> None:
    """Wait until every widget shows its view."""
    for index, selector in enumerate(WIDGETS.values(), start=1):
        if selector:
            expect(notebook.cell(index).locator(selector).first).to_be_visible()


def expect_saved(find: Callable[[int], Locator]) -> None:
    """Check that each output shows its HTML."""
    for index, text in enumerate(SAVED, start=1):
        expect(find(index)).to_contain_text(text)
        expect(find(index)).not_to_contain_text("Error displaying")
        expect(find(index).locator(".gqlnb-widget")).to_have_count(0)


def read_outputs(path: Path) -> list[Any]:
    """Return the outputs of all cells."""
    return [cell.outputs for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


@pytest.fixture
def saved(
    lab: Lab,
    open_notebook: Callable[[str], Notebook],
    write_notebook: Callable[[list[str]], str],
) -> tuple[Notebook, Path]:
    """Return a notebook of all widgets, run and saved by JupyterLab, and its file."""
    name = write_notebook([SETUP, *WIDGETS])
    notebook = open_notebook(name)
    notebook.run_all()
    expect_live(notebook)
    save(notebook.page)
    return notebook, lab.folder / name


def test_two_runs_save_the_same_file(
    saved: tuple[Notebook, Path], lab: Lab, open_notebook: Callable[[str], Notebook]
) -> None:
    """By JupyterLab; and nbclient, which `jupyter execute` uses, saves the same outputs."""
    notebook, path = saved
    first = path.read_bytes()
    assert b"widget-view" not in first
    assert all(len(outputs) == 1 for outputs in read_outputs(path)[1:5])
    stop_kernel(lab, notebook.page, path.name)
    again = open_notebook(path.name)
    again.run_all()
    expect_live(again)
    save(again.page)
    assert path.read_bytes() == first
    executed = shutil.copy(path, path.with_name(f"{path.stem}-nbclient.ipynb"))
    command = [sys.executable, "-m", "jupyter", "execute", "--inplace", str(executed)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert read_outputs(executed) == read_outputs(path)
    assert "widgets" not in nbformat.read(executed, 4).metadata


def test_no_token_is_saved(
    show: Callable[..., Notebook], lab: Lab, tmp_path: Path, spelled: Callable[[str], list[bytes]]
) -> None:
    """Of a client whose widgets' state is saved: not in the file, the page or the browser."""
    secret = f"canary/{secrets.token_hex(8)}+="
    token = tmp_path / "token"
    token.write_text(secret)
    token.chmod(0o600)
    with gqlnb.github.serve(port=0, token=gqlnb.Token(secret)) as server:
        connect = f"import gqlnb\nclient = gqlnb.connect({server.url!r}, token='file:{token}')"
        notebook = show(connect, *OF_A_CLIENT)
        page = notebook.page
        toggle_saved_state(page)
        for index, selector in enumerate(OF_A_CLIENT.values(), start=1):
            expect(notebook.cell(index).locator(selector).first).to_be_visible()
        explorer = notebook.cell(len(OF_A_CLIENT))
        explorer.locator(".graphiql-execute-button").click()
        expect(explorer.locator(".result-window")).to_contain_text('"login"')
        save(page)
        toggle_saved_state(page)
    text = (lab.folder / f"{tmp_path.name}.ipynb").read_bytes()
    assert text.count(b'"model_name": "AnyModel"') == len(OF_A_CLIENT)
    assert len(text) < 20_000 * len(OF_A_CLIENT)
    kept = page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert "graphiql" not in kept
    places = [text, page.content().encode(), kept.encode()]
    assert [form for form in spelled(secret) if any(form in place for place in places)] == []


def test_a_search_started_by_its_view_saves_its_rows_once(
    lab: Lab,
    open_notebook: Callable[[str], Notebook],
    write_notebook: Callable[[list[str]], str],
) -> None:
    """One output, whose HTML follows the searches below one view; a second run changes nothing."""
    name = write_notebook(["import gqlnb\ngqlnb.StarSearch('>300000', limit=3)"])
    files = []
    for _ in range(2):
        notebook = open_notebook(name)
        notebook.run_all()
        view = notebook.cell(0).locator(".gqlnb-stars")
        view.get_by_role("tab", name="Histogram").click()
        expect_saved_html(notebook.page, 0, "build-your-own-x")
        view.get_by_role("textbox", name="Rows").fill("2")
        view.get_by_role("button", name="Search").click()
        expect_saved_html(notebook.page, 0, ">2 of the")
        expect(view.get_by_role("tab", name="Histogram")).to_have_attribute("aria-selected", "true")
        expect(notebook.outputs(0)).to_have_count(1)
        save(notebook.page)
        files.append((lab.folder / name).read_bytes())
        stop_kernel(lab, notebook.page, name)
    assert b"widget-view" not in files[0]
    assert files[1] == files[0]


def test_a_reopened_notebook_shows_the_saved_html(
    saved: tuple[Notebook, Path], lab: Lab, open_notebook: Callable[[str], Notebook]
) -> None:
    """Trusted and not; a view that is run again is live."""
    notebook, path = saved
    unknown = shutil.copy(path, path.with_name(f"{path.stem}-unknown.ipynb"))
    unknown.write_text(path.read_text().replace("Hello world!", "Hello world!!"))  # not signed
    stop_kernel(lab, notebook.page, path.name)
    for name, trusted in ((path.name, True), (unknown.name, False)):
        notebook = open_notebook(name)
        assert notebook.page.evaluate(TRUSTED) is trusted
        expect_saved(notebook.cell)
        photograph(notebook.page, f"reopened-{trusted}")
    notebook.run_all()
    expect_live(notebook)


def test_a_reloaded_page_finds_the_views_of_its_kernel(
    saved: tuple[Notebook, Path], open_notebook: Callable[[str], Notebook]
) -> None:
    """The kernel is still running, so the widgets work as before."""
    notebook = open_notebook(saved[1].name)
    expect_live(notebook)
    explorer = notebook.cell(4)
    explorer.locator(".graphiql-execute-button").click()
    expect(explorer.locator(".result-window")).to_contain_text("Hello world!")


def test_notebook_7_shows_views_and_saved_html(
    saved: tuple[Notebook, Path], lab: Lab, browser: BrowserContext
) -> None:
    """As JupyterLab does: live with the kernel, as HTML without it."""
    pytest.importorskip("notebook", reason="Notebook 7 is not installed")
    path, page = saved[1], browser.new_page()  # Notebook 7 itself reports errors

    def find(index: int) -> Locator:
        return page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{index}"]')

    def open_it() -> None:
        page.goto(f"{lab.url}/notebooks/{path.name}?token={lab.token}")
        page.wait_for_function(READY, arg=path.name, timeout=SECONDS * 1000)

    stop_kernel(lab, page, path.name)
    open_it()
    expect_saved(find)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(find(2).locator(".gqlnb-result")).to_be_visible()
    expect(find(4).locator(".graphiql-container")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-NotebookCheckpoint")).to_contain_text("ago")
    assert "widget-view" not in path.read_text()
    stop_kernel(lab, page, path.name)
    open_it()
    expect_saved(find)
    photograph(page, "reopened-7")
    page.close()

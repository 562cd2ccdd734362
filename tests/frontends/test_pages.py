"""Front ends in a browser: each runs a notebook, and its widgets are clicked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.acting import photograph, theme
from tests.browser.conftest import READY, SECONDS, Notebook
from tests.frontends.conftest import write_notebook

pytestmark = pytest.mark.browser

# Once it has asked the kernel for widgets, ipywidgets goes through the cells and shows outputs
# again. Views that are there by then are lost.
CLASSIC_READY = """() => {
    const manager = window.Jupyter?.notebook?.kernel?.widget_manager;
    if (manager && window.gqlnbReady === undefined) {
        window.gqlnbReady = false;
        const { notebook } = manager;
        const get_cells = () => {
            manager.notebook = notebook;
            window.gqlnbReady = true;
            return notebook.get_cells();
        };
        manager.notebook = Object.create(notebook, { get_cells: { value: get_cells } });
    }
    return window.gqlnbReady;
}"""
UNFINISHED = "%%graphql demo\n{ rep"
COLOUR = "element => getComputedStyle(element).color"
DRIVE_FIREFOX = Path(__file__).with_name("firefox.mjs")
MARIMO_WIDGETS = """
@app.cell
def _(gqlnb):
    gqlnb.StarSearch(">300000", limit=3)


@app.cell
def _(gqlnb):
    gqlnb.SchemaView(gqlnb.reference_schema())


@app.cell
def _(gqlnb):
    gqlnb.Explorer(gqlnb.reference_schema(), query="{ hello }")
"""


def check_page(page: Page | Locator) -> None:
    """Check the table of the query, search stars, and run a query in GraphiQL."""
    expect(page.locator(".gqlnb table").first).to_contain_text("build-your-own-x")
    stars = page.locator(".gqlnb-stars")
    expect(stars.locator(".gqlnb-grid")).to_contain_text("public-apis")
    tab = stars.get_by_role("tab", name="Histogram")
    tab.click()
    stars.get_by_role("textbox", name="Rows").fill("2")
    stars.get_by_role("button", name="Search").click()
    expect(stars).to_contain_text("2 rows in 1 page")
    expect(tab).to_have_attribute("aria-selected", "true")  # the view is the same one
    expect(page.locator(".gqlnb-schema")).to_contain_text("A fixed greeting")
    explorer = page.locator(".gqlnb-explorer")
    button = explorer.locator(".graphiql-execute-button")
    button.click()
    expect(explorer.locator(".result-window")).to_contain_text("Hello world!")
    box, window = button.bounding_box(), explorer.bounding_box()
    assert box is not None
    assert window is not None
    assert box["width"] > 30, "GraphiQL has no style"
    assert box["x"] > window["x"] + 100, "GraphiQL has no style"


def check_editor(page: Page) -> None:
    """Check the colours of the query in JupyterLab's editor, and the names that Tab lists."""
    editor = page.locator(".jp-Cell").nth(1).locator(".cm-content")
    keyword = editor.get_by_text("on", exact=True)
    expect(keyword).to_have_css("font-weight", "700")  # in Python it would be a name
    editor.press("Control+a")
    page.keyboard.insert_text(UNFINISHED)
    editor.press("Tab")
    names = page.locator(".jp-Completer-item .jp-Completer-match")
    expect(names).to_contain_text(["repository(", "repositoryOwner("])


@pytest.mark.front_end(
    "JupyterLab 4.4.0", cells="yes", completion="yes", colours="yes", widgets="yes", explorer="yes"
)
@pytest.mark.usefixtures("bundled")
def test_lowest_jupyterlab(start_server, page):
    """The lowest JupyterLab 4 that the extra `lab` allows, in both themes."""
    lab = start_server("lowest")
    path = write_notebook(lab.folder / "notebook.ipynb")
    page.goto(f"{lab.url}/lab/tree/{path.name}?reset&token={lab.token}")
    page.wait_for_function(READY, arg=path.name)
    Notebook(page).run_all()
    check_page(page)
    for name in ("Dark", "Light"):
        theme(page, name)
        photograph(page, f"lab-lowest-{name}")
    check_editor(page)


@pytest.mark.front_end(
    "notebook",
    "Notebook",
    cells="yes",
    completion="yes",
    colours="yes",
    widgets="yes",
    explorer="yes",
)
@pytest.mark.usefixtures("bundled")
def test_notebook_7(start_server, page):
    """Notebook 7 runs the cells and shows the widgets."""
    lab = start_server("newest")
    path = write_notebook(lab.folder / "notebook7.ipynb")
    page.goto(f"{lab.url}/notebooks/{path.name}?token={lab.token}")
    page.wait_for_function(READY, arg=path.name)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    check_page(page)
    for name in ("Dark", "Light"):
        theme(page, name)
        photograph(page, f"notebook-7-{name}")
    check_editor(page)


@pytest.mark.front_end(
    "nbclassic", cells="yes", completion="yes", colours="no", widgets="yes", explorer="yes"
)
@pytest.mark.usefixtures("bundled")
def test_nbclassic(start_server, page):
    """The classic notebook runs the cells and shows the widgets."""
    lab = start_server("newest")
    path = write_notebook(lab.folder / "classic.ipynb")
    page.goto(f"{lab.url}/nbclassic/notebooks/{path.name}?token={lab.token}")
    page.wait_for_function(CLASSIC_READY)
    page.evaluate("Jupyter.notebook.execute_all_cells()")
    check_page(page)
    photograph(page, "nbclassic")
    # It asks no busy kernel for names, and GraphiQL's answer is shown while the kernel is busy.
    expect(page.locator("#kernel_indicator_icon")).to_have_class("kernel_idle_icon")
    editor = page.locator(".cell").nth(1).locator(".CodeMirror")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(UNFINISHED)
    page.keyboard.press("Tab")
    expect(page.locator("#complete option")).to_have_text(["repository", "repositoryOwner"])


@pytest.mark.front_end("voila", "Voila", cells="yes", widgets="yes", explorer="yes")
@pytest.mark.usefixtures("bundled")
@pytest.mark.parametrize("shade", ["light", "dark"])
def test_voila(start_server, page, shade):
    """Voila shows the outputs alone; our extension of JupyterLab reports nothing there."""
    lab = start_server("newest")
    path = write_notebook(lab.folder / "voila.ipynb")
    page.goto(f"{lab.url}/voila/render/{path.name}?token={lab.token}&theme={shade}")
    check_page(page)
    photograph(page, f"voila-{shade}")


@pytest.mark.front_end("Firefox, Voila", cells="yes", widgets="yes", explorer="yes")
@pytest.mark.usefixtures("bundled")
def test_firefox(front_ends, start_server, tmp_path):
    """Firefox shows the same page as Chromium, driven over WebDriver BiDi."""
    node, firefox = shutil.which("node"), shutil.which("firefox-esr") or shutil.which("firefox")
    if firefox is None:
        pytest.skip("No Firefox on this machine")
    assert node is not None
    lab = start_server("newest")
    path = write_notebook(lab.folder / "firefox.ipynb")
    url = f"{lab.url}/voila/render/{path.name}?token={lab.token}"
    puppeteer = front_ends.folder / "node_modules" / "puppeteer-core"
    folder = os.environ.get("WIDGET_PICTURES")
    picture = [str(Path(folder, "firefox.png"))] if folder else []
    command = [node, str(DRIVE_FIREFOX), str(puppeteer), firefox, url, *picture]
    env = front_ends.env | {"HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


@pytest.mark.front_end(
    "jupyter-book", "Jupyter Book", cells="as saved", widgets="as HTML", saved="yes"
)
def test_jupyter_book(front_ends, notebook, page):
    """A page of a book has the tables and the HTML of widgets, legible in both themes."""
    folder = notebook.parent
    front_ends.run("jupyter-book", "build", str(notebook), cwd=folder, environment="book")
    page.emulate_media(color_scheme="light")
    page.goto((folder / "_build" / "_page" / "notebook" / "html" / "notebook.html").as_uri())
    outputs = page.locator("article")
    for text in ("build-your-own-x", "run this notebook to search", "A fixed greeting"):
        expect(outputs).to_contain_text(text)
    for shade in ("light", "dark"):
        page.emulate_media(color_scheme=shade)
        expect(page.locator("html")).to_have_attribute("data-theme", shade)
        # In the dark theme outputs have a light background, on which the theme's code is illegible.
        colour = outputs.get_by_text("A fixed greeting").evaluate(COLOUR)
        for text in ("hello: String", "schema: Query"):
            expect(outputs.locator("code", has_text=text)).to_have_css("color", colour)
        photograph(page, f"book-{shade}")


@pytest.mark.front_end(
    "marimo", cells="calls in Python", completion="no", widgets="yes", explorer="yes"
)
@pytest.mark.usefixtures("bundled")
def test_marimo(front_ends, background, patient, root, tmp_path, page):
    """The notebook of the how-to page: a slider is a variable of a query, and widgets answer."""
    text = (root / "docs" / "howto" / "marimo.md").read_text("utf-8")
    (tmp_path / "notebook.py").write_text(
        text.split("```")[1].removeprefix("{code-block} python\n") + MARIMO_WIDGETS
    )
    (tmp_path / ".marimo.toml").write_text('[display]\ntheme = "system"\n')
    server = background(
        *("-y", "run", "notebook.py", "--headless", "--no-token", "--host=127.0.0.1"),
        program=(front_ends.find("marimo"),),
        cwd=tmp_path,
        env=front_ends.env | {"MARIMO_SKIP_UPDATE_CHECK": "1"},
    )
    url = f"http://127.0.0.1:{server.wait_for(r'URL: http://[^:]+:([0-9]+)').group(1)}"
    assert patient.get(url, timeout=SECONDS).ok
    page.emulate_media(color_scheme="light")
    page.goto(url)
    check_page(page)
    cell = page.locator(".gqlnb table").first.locator("td").first
    expect(cell).to_have_css("padding-left", "8px")
    photograph(page, "marimo-light")
    page.get_by_role("slider").first.press("ArrowRight")
    expect(page.locator(".gqlnb table").first).to_contain_text("freeCodeCamp")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body")).to_have_attribute("data-theme", "dark")
    photograph(page, "marimo-dark")

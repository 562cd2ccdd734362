"""JupyterLite: the site that docs/build_lite.py builds, with Python in the browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.acting import photograph, serve_files, theme
from tests.browser.conftest import READY, Notebook
from tests.frontends.install import NPM_VERSIONS

BUILDER = Path(__file__).parents[2] / "docs" / "build_lite.py"
QUERY, VIEW, EXPLORER = 6, 8, 10  # cells
START_SECONDS = 120  # Python is compiled in the browser


def test_the_site_has_the_pyodide_of_the_other_tests():
    """Both names of its version are equal."""
    found = re.search(r'^PYODIDE = "(.+)"$', BUILDER.read_text("utf-8"), re.MULTILINE)
    assert found is not None
    assert found.group(1) == NPM_VERSIONS["pyodide"]


@pytest.fixture
def site(front_ends, tmp_path):
    """Build the site and serve its files; return the address."""
    output = tmp_path / "site"
    front_ends.run("python", str(BUILDER), f"--output={output}", cwd=tmp_path, timeout=400)
    settings = output / "jupyter-lite.json"
    data = json.loads(settings.read_text("utf-8"))
    data["jupyter-config-data"]["exposeAppInBrowser"] = True
    settings.write_text(json.dumps(data), "utf-8")
    with serve_files(output) as url:
        yield url


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.front_end(
    "jupyterlite-pyodide-kernel",
    "JupyterLite, its Pyodide kernel",
    cells="yes, as JSON without pandas",
    completion="yes",
    colours="yes",
    widgets="SchemaView",
    explorer="yes",
)
@pytest.mark.usefixtures("bundled")
def test_jupyterlite(site, page):
    """Cells, names that Tab lists, errors and a widget, all without a server or another site."""
    page.context.route(lambda url: not url.startswith(site), lambda route: route.abort())
    page.goto(f"{site}/lab/index.html?path=start.ipynb")
    page.wait_for_function(READY, arg="start.ipynb", timeout=1000 * START_SECONDS)
    notebook = Notebook(page)
    notebook.run_all(START_SECONDS)
    answer = notebook.outputs(QUERY)
    expect(answer).to_contain_text("Persuasion")
    expect(answer).not_to_contain_text("Emma")
    expect(answer).to_contain_text("tables need numpy, which is not installed")
    view = notebook.cell(VIEW).locator(".gqlnb-schema")
    expect(view).to_contain_text("books(shorterThan: Int): [Book!]!")
    expect(view).not_to_contain_text("Deprecated undefined")
    explorer = notebook.cell(EXPLORER).locator(".gqlnb-explorer")
    explorer.locator(".graphiql-execute-button").click()
    expect(explorer.locator(".result-window")).to_contain_text("Emma")
    for name in ("Dark", "Light"):
        theme(page, name)
        photograph(page, f"lite-{name}")
    editor = notebook.cell(QUERY).locator(".cm-content")
    expect(editor.get_by_text("query", exact=True)).to_have_css("font-weight", "700")
    editor.press("Control+a")
    page.keyboard.insert_text("%%graphql library\n{ books { ti")
    editor.press("Tab")
    names = page.locator(".jp-Completer-item .jp-Completer-match")
    expect(names).to_contain_text(["title"])
    page.keyboard.press("Escape")
    page.keyboard.insert_text("tel } }")
    page.keyboard.press("Shift+Enter")
    expect(notebook.outputs(QUERY)).to_contain_text("Did you mean 'title'?")

"""VS Code: the editor of code-server, and the widget manager of its Jupyter extension.

The extension itself comes from a marketplace, so nothing runs cells in the editor here. The editor
shows saved outputs; the widgets answer a kernel in a page of JupyterLab, shown by the package that
the extension takes its widget manager from.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.acting import photograph
from tests.frontends.conftest import CELLS, WRONG, write_notebook
from tests.frontends.install import NODE
from tests.frontends.test_pages import COLOUR, check_page

pytestmark = pytest.mark.browser

SHOW = Path(__file__).with_name("vscode_widgets.mjs")
WIDGETS = "@vscode/jupyter-ipywidgets8"
SETTINGS = {
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "window.autoDetectColorScheme": True,
    "workbench.editorAssociations": {"*.ipynb": "jupyter-notebook"},
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
}


@pytest.mark.front_end(
    "code-server", "VS Code, code-server", cells="as saved", widgets="as HTML", saved="yes"
)
def test_vscode(front_ends, background, tmp_path, page):
    """The editor shows the outputs of a saved notebook, in the colours of both themes."""
    path = write_notebook(tmp_path / "notebook.ipynb", (*CELLS, WRONG))
    front_ends.run("jupyter", "execute", "--inplace", "--allow-errors", str(path), cwd=tmp_path)
    settings = tmp_path / "data" / "User" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS))
    (node,) = front_ends.folder.glob(NODE)
    entry = front_ends.folder / "node_modules" / "code-server" / "out" / "node" / "entry.js"
    server = background(
        *("--auth=none", "--bind-addr=127.0.0.1:0", "--disable-telemetry"),
        *("--disable-update-check", f"--user-data-dir={tmp_path / 'data'}"),
        program=(str(node), str(entry)),
        cwd=tmp_path,
        env=front_ends.env | {"HOME": str(tmp_path)},
    )
    url = server.wait_for(r"listening on (http://127\.0\.0\.1:\d+)").group(1)
    file = f"vscode-remote://{urlsplit(url).netloc}{path}"
    page.emulate_media(color_scheme="light")
    page.goto(f"{url}/?folder={tmp_path}&payload={quote(json.dumps([['openFile', file]]))}")
    outputs = page.frame_locator("iframe.webview").frame_locator("#active-frame")
    cell = outputs.locator(".gqlnb td", has_text="build-your-own-x")
    expect(cell).to_be_visible()
    body = outputs.locator("body")
    for text in ("run this notebook to search", "A fixed greeting", "Did you mean 'viewer'"):
        expect(body).to_contain_text(text)
    colours = []
    for shade in ("light", "dark"):
        page.emulate_media(color_scheme=shade)
        expect(body).to_have_attribute("data-vscode-theme-kind", f"vscode-{shade}")
        expect(cell).to_have_css("color", body.evaluate(COLOUR))
        colours.append(cell.evaluate(COLOUR))
        photograph(page, f"vscode-{shade}")
    assert colours[0] != colours[1]


@pytest.mark.front_end(
    WIDGETS, "VS Code, its widget manager", cells="yes", widgets="yes", explorer="yes"
)
@pytest.mark.usefixtures("bundled")
def test_widgets_of_vscode(front_ends, start_server, page):
    """Its widget manager finds our widgets and anywidget, and they answer."""
    lab = start_server("newest")
    widgets = front_ends.folder / "archives" / WIDGETS / "package" / "dist" / "ipywidgets.js"
    (require,) = front_ends.folder.glob("newest/share/jupyter/voila/*/*/static/require.min.js")
    page.goto(f"{lab.url}/lab?reset&token={lab.token}")
    page.wait_for_function("window.jupyterapp?.serviceManager?.isReady")
    page.add_script_tag(path=require)
    page.add_script_tag(
        content=f"{widgets.read_text('utf-8')}\n__webpack_exports__activate();", type="module"
    )
    page.add_script_tag(content=SHOW.read_text("utf-8"), type="module")
    page.wait_for_function("Boolean(window.vscIPyWidgets8 && window.showCells)")
    page.evaluate("([url, cells]) => showCells(url, cells)", [lab.url, CELLS])
    check_page(page.locator("#vscode"))
    photograph(page, "vscode-widgets")

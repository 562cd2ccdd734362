"""A token typed into a real JupyterLab, and then looked for in all that it leaves behind."""

from __future__ import annotations

import json
import secrets
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

import gqlnb
from tests.browser.acting import save, toggle_saved_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Locator

    from tests.browser.conftest import Lab, Notebook

pytestmark = pytest.mark.browser

SHOW = "import gqlnb\nbox = gqlnb.TokenBox('GitHub token')\nbox"
ASK = "gqlnb.connect({url!r}, token=box).execute('{{ hello }}').data"
LOOK = """import json, os, pathlib
shell = get_ipython()
shell.history_manager.writeout_cache()
seen = [repr(box), box.get_state(), box._repr_mimebundle_(), vars(box), shell.parent_header,
        shell.kernel.get_parent(), shell.user_ns.keys(), box.token, [box.token], str(locals())]
print(seen)
%whos
names = 'JUPYTER_CONFIG_DIR', 'JUPYTER_DATA_DIR', 'JUPYTER_RUNTIME_DIR', 'IPYTHONDIR'
pathlib.Path('places.json').write_text(json.dumps([os.environ[name] for name in names]))"""
PASSWORD = "import ipywidgets\nipywidgets.Password(description='Other')"


class Widget:
    """One view of the box, in the words of a person who uses it."""

    def __init__(self, place: Locator) -> None:
        self.root = place.locator(".gqlnb-token")
        self.box = self.root.get_by_label("GitHub token", exact=True)
        self.use = self.root.get_by_role("button", name="Use")
        self.said = self.root.get_by_role("status")


@pytest.fixture
def secret() -> str:
    """Return what no other test ever wrote, of no service's shape; each spelling differs."""
    return f"canary/{secrets.token_hex(8)}+={secrets.token_hex(4)}"


@pytest.fixture
def url(secret: str) -> Iterator[str]:
    """Serve the reference schema to whoever has the token."""
    with gqlnb.serve(gqlnb.reference_schema(), port=0, token=gqlnb.Token(secret)) as server:
        yield server.url


@pytest.fixture
def saving(
    open_notebook: Callable[[str], Notebook], write_notebook: Callable[..., str], url: str
) -> Iterator[tuple[Notebook, str]]:
    """Open a notebook whose widgets' state is saved, run up to the cell that needs the token."""
    name = write_notebook([SHOW, ASK.format(url=url), PASSWORD, LOOK])
    notebook = open_notebook(name)
    toggle_saved_state(notebook.page)
    notebook.run_all()
    yield notebook, name
    toggle_saved_state(notebook.page)


def test_a_typed_token_is_used_and_not_saved(
    saving: tuple[Notebook, str],
    lab: Lab,
    secret: str,
    tmp_path: Path,
    spelled: Callable[[str], list[bytes]],
) -> None:
    """Not in notebook, checkpoint, history, workspace, settings or the exported page."""
    notebook, name = saving
    widget, keyboard = Widget(notebook.cell(0)), notebook.page.keyboard
    expect(notebook.outputs(1)).to_contain_text("No token was entered in the box 'GitHub token'")
    expect(widget.said).to_have_text("Kept in the kernel's memory, not in the notebook.")
    assert widget.box.get_attribute("type") == "password"
    assert widget.box.get_attribute("autocomplete") == "off"
    widget.box.focus()
    keyboard.type(f" {secret} ")
    keyboard.press("Enter")
    expect(widget.box).to_have_value("")
    expect(widget.said).to_contain_text("The kernel has it; the notebook does not.")
    notebook.rerun(1)
    expect(notebook.outputs(1)).to_contain_text("Hello world!")
    control = "control-6b21"  # shows that this test would find what is left behind
    notebook.rerun(2)
    notebook.cell(2).locator("input[type=password]").fill(control)
    notebook.rerun(3)
    expect(notebook.outputs(3).first).to_contain_text("TokenBox('GitHub token', Token(***))")
    save(notebook.page)
    saved = lab.folder / name
    state = nbformat.read(saved, 4).metadata.widgets["application/vnd.jupyter.widget-state+json"]
    assert any(model["state"].get("label") == "GitHub token" for model in state.state.values())
    page = tmp_path / "exported.html"
    page.write_text(HTMLExporter().from_filename(str(saved))[0])
    assert control in saved.read_text()
    assert control in page.read_text()
    folders = [lab.folder, *map(Path, json.loads((lab.folder / "places.json").read_text()))]
    files = [page, *(file for folder in folders for file in folder.rglob("*") if file.is_file())]
    with sqlite3.connect(next(file for file in files if file.name == "history.sqlite")) as history:
        assert history.execute("SELECT count(*) FROM history").fetchone() > (3,)
    assert any(file.parent.name == ".ipynb_checkpoints" for file in files)
    data = {file: file.read_bytes() for file in files}
    forms = spelled(secret)
    assert [file for file, held in data.items() if any(form in held for form in forms)] == []
    assert secret not in notebook.page.content()
    assert secret not in notebook.page.evaluate("JSON.stringify([localStorage, sessionStorage])")


def test_an_invalid_token_is_refused_without_showing_it(
    show: Callable[..., Notebook], secret: str
) -> None:
    """By keyboard: Tab moves to the button, and a second token is accepted."""
    notebook = show(SHOW)
    widget, page = Widget(notebook.cell(0)), notebook.page
    widget.box.focus()
    expect(widget.use).to_be_disabled()
    page.keyboard.type(f"{secret} and more")
    page.keyboard.press("Tab")
    expect(widget.use).to_be_focused()
    page.keyboard.press("Enter")  # in a notebook: edit the cell
    expect(widget.said).to_contain_text("contains a space")
    expect(widget.box).to_have_attribute("aria-invalid", "true")
    assert secret not in page.content()
    expect(widget.box).to_be_focused()
    page.keyboard.type(secret)
    page.keyboard.press("Enter")
    expect(widget.said).to_contain_text("The kernel has it")
    expect(widget.box).to_have_attribute("aria-invalid", "false")

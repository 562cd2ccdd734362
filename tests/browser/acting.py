"""What several browser tests do with a page, beside what a notebook's fixture offers."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page

WRITE = """(element, text) => {
    const all = globalThis.__MONACO.editor.getEditors();
    const editor = all.find((each) => element.contains(each.getDomNode()));
    editor.setValue(text);
    editor.focus();
    editor.setPosition(editor.getModel().getFullModelRange().getEndPosition());
}"""
SAVED_HTML = """([cell, text]) => {
    const { model } = window.jupyterapp.shell.currentWidget.content.widgets[cell];
    return model.outputs.toJSON().some(({ data }) => String(data?.["text/html"]).includes(text));
}"""
STORE = """() => window.jupyterapp.commands.execute(
    '@jupyter-widgets/jupyterlab-manager:saveWidgetState')"""
SAVED = "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"


def fill_editor(editor: Locator, text: str) -> None:
    """Replace what stands in an editor of GraphiQL; the cursor is behind it.

    Typed key by key, its brackets would be closed.
    """
    editor.evaluate(WRITE, text)


def photograph(page: Page, name: str) -> None:
    """Leave a picture where WIDGET_PICTURES says, for people."""
    if folder := os.environ.get("WIDGET_PICTURES"):
        page.screenshot(path=Path(folder, f"{name}.png"))


def theme(page: Page, name: str) -> None:
    """Change to JupyterLab's theme ``"Light"`` or ``"Dark"``, and wait until it is there."""
    change = "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
    page.evaluate(change, f"JupyterLab {name}")
    light = str(name == "Light").lower()
    page.wait_for_function(f"document.body.dataset.jpThemeLight === '{light}'")
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)


def save(page: Page) -> None:
    """Save the notebook, and wait until it is."""
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function(SAVED)


def toggle_saved_state(page: Page) -> None:
    """Switch on, or off again, that the state of all widgets is saved with the notebook."""
    page.evaluate(STORE)


def expect_saved_html(page: Page, cell: int, text: str) -> None:
    """Wait until the HTML that the notebook will save for a cell, the first being 0, has a text."""
    page.wait_for_function(SAVED_HTML, arg=[cell, text])


# Runs code in the main thread of the kernel, and waits for nothing.
EXECUTE = """code => {
    const {sessionContext} = window.jupyterapp.shell.currentWidget;
    sessionContext.session.kernel.requestExecute({code});
}"""
TYPING = """async ([text, boxAt, hitsAt]) => {
    const box = document.querySelector(boxAt);
    const hits = document.querySelector(hitsAt);
    const times = [];
    for (let length = 1; length <= text.length; length += 1) {
        const begun = performance.now();
        box.value = text.slice(0, length);
        const shown = new Promise(done => {
            const watch = new MutationObserver(() => {
                if (hits.dataset.found !== box.value.trim()) return;
                watch.disconnect();
                done();
            });
            watch.observe(hits, {attributes: true});
        });
        box.dispatchEvent(new Event('input'));
        await shown;
        times.push(performance.now() - begun);
    }
    return times;
}"""


def measure_typing(page: Page, text: str, box: str, hits: str) -> list[float]:
    """Type a text into a box; return the milliseconds from each key to the hits for it.

    The hits, and what was asked for in their ``data-found``, are found by a selector.
    """
    times: list[float] = page.evaluate(TYPING, [text, box, hits])
    return times


class QuietHandler(SimpleHTTPRequestHandler):
    """A handler without a log."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serve_files(folder: Path) -> Iterator[str]:
    """Serve the files of a folder, and yield the address."""
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()

"""Colab by simulation: each saved output in a sandboxed frame of its own, without an extension."""

from __future__ import annotations

from html import escape

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.acting import photograph
from tests.frontends.conftest import CELLS, WRONG, write_notebook
from tests.frontends.test_pages import COLOUR

pytestmark = pytest.mark.browser

# The colours of Colab's frames; nothing else of its page reaches an output.
FRAME = """<!doctype html><html theme={shade}><style>
  html {{ color-scheme: {shade} }}
  body {{ margin: 0; background: {background}; color: {colour}; font: 14px sans-serif }}
</style><body>{output}"""
SHADES = {"light": ("#ffffff", "#212121"), "dark": ("#383838", "#d5d5d5")}


@pytest.mark.front_end("Colab, simulated", cells="as saved", widgets="as HTML", saved="yes")
def test_colab(front_ends, tmp_path, page, watch):
    """Outputs need nothing outside of their frames, and take the colours of the theme."""
    path = write_notebook(tmp_path / "notebook.ipynb", (*CELLS, WRONG))
    front_ends.run("jupyter", "execute", "--inplace", "--allow-errors", str(path), cwd=tmp_path)
    outputs = [output for cell in nbformat.read(path, 4).cells for output in cell.outputs]
    shown = [
        f"<pre>{escape(chr(10).join(output.traceback))}</pre>"
        if output.output_type == "error"
        else output.data["text/html"]
        for output in outputs
    ]
    for shade, (background, colour) in SHADES.items():
        look = {"shade": shade, "background": background, "colour": colour}
        pages = [escape(FRAME.format(**look, output=output)) for output in shown]
        frames = [
            f'<iframe sandbox="allow-scripts" width="1200" srcdoc="{it}"></iframe>' for it in pages
        ]
        page.set_content("".join(frames))
        table, stars, schema, explorer, error = (
            page.frame_locator("iframe").nth(at).locator("body") for at in range(len(shown))
        )
        cell = table.locator("td", has_text="build-your-own-x")
        expect(cell).to_be_visible()
        assert cell.evaluate(COLOUR) == table.evaluate(COLOUR)
        expect(stars).to_contain_text("run this notebook to search")
        expect(schema).to_contain_text("A fixed greeting")
        expect(explorer).to_contain_text("run this notebook to explore")
        expect(error).to_contain_text("Did you mean 'viewer'")
        photograph(page, f"colab-{shade}")
    assert watch.errors == []

"""The README's pictures, taken from the running product.

No test, so it is collected only by name: ``pytest -n0 -m '' tests/browser/pictures.py`` takes them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.test_side_panel import Side

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pytestmark = pytest.mark.browser

FOLDER = Path(__file__).with_name("pictures")
QUERY = """%%graphql demo
query ($above: String!) {
  search(query: $above, type: REPOSITORY, first: 5) {
    nodes { ... on Repository { name owner { login } stargazerCount } }
  }
}"""
CELLS = {
    "": '%load_ext gqlnb\nimport gqlnb\nabove = "stars:>300000"',
    "cell": QUERY,
    "stars": 'search = gqlnb.StarSearch(">50000 language:python")\nsearch',
    "explorer": (
        'gqlnb.Explorer("demo", query="{\\n  viewer { login }\\n  rateLimit { remaining }\\n}")'
    ),
    "schema": 'gqlnb.SchemaView("demo", "Repository")',
    "error": QUERY.replace("stargazerCount", "stargazerCont"),  # the last: it ends the run
}


def test_picture_of_the_panel(
    open_notebook: Callable[[str], Any], write_notebook: Callable[[Sequence[str]], str]
) -> None:
    """Take a picture of the side panel beside the table of a cell that it made."""
    notebook = open_notebook(write_notebook(["%load_ext gqlnb"]))
    notebook.run_all()
    page = notebook.page
    page.set_viewport_size({"width": 1000, "height": 720})
    panel = Side(page)
    panel.press("Schema of demo")
    panel.open_path("search", "nodes", "Repository", "languages")
    panel.press("New cell with Repository.languages")
    page.get_by_role("button", name="Run this cell and advance").click()
    notebook.cell(1).locator("table").first.wait_for()
    page.screenshot(path=FOLDER / "panel.png")


def test_pictures(
    open_notebook: Callable[[str], Any], write_notebook: Callable[[Sequence[str]], str]
) -> None:
    """Take a picture of each cell with what stands under it."""
    notebook = open_notebook(write_notebook([*CELLS.values()]))
    notebook.run_all()
    page = notebook.page
    page.get_by_role("button", name="Search", exact=True).first.click()
    page.locator(".gqlnb-grid [role=row]").nth(5).wait_for()
    explorer = notebook.cell([*CELLS].index("explorer"))
    explorer.locator(".graphiql-execute-button").click()
    explorer.get_by_text('"login"').wait_for()
    notebook.cell(1).get_by_role("button", name="Open as grid").wait_for()
    FOLDER.mkdir(exist_ok=True)
    for index, name in enumerate(CELLS):
        if name:
            notebook.cell(index).screenshot(path=FOLDER / f"{name}.png")

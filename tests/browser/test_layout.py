"""The widgets in windows of several widths, in both themes: nothing is cut, axe is content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.acting import photograph, theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Notebook

pytestmark = pytest.mark.browser

WIDTHS = (600, 1000, 1600)
SIDEBAR = "window.jupyterapp.commands.execute('application:toggle-left-area')"
# The parts of a widget that stick out of it, or whose content does not fit into them. The rows of a
# grid are not among them: they are scrolled, and cells end with an ellipsis. Nor are patterns: they
# are not drawn where they stand.
CUT = """root => {
    const edge = root.getBoundingClientRect();
    const cut = [];
    for (const part of root.querySelectorAll("*")) {
        const box = part.getBoundingClientRect();
        if (!part.checkVisibility() || part.closest(".gqlnb-space, .gqlnb-spoken, pattern"))
            continue;
        const out = box.left < edge.left - 1 || box.right > edge.right + 1;
        const hides = getComputedStyle(part).overflowX !== "visible" || part.tagName === "BUTTON";
        const wide = part.clientWidth && part.scrollWidth > part.clientWidth + 1;
        const high = part.clientHeight && part.scrollHeight > part.clientHeight + 1;
        if (out || (hides && (wide || high) && !part.matches(".gqlnb-scroll, .gqlnb-whole")))
            cut.push(part.outerHTML.slice(0, 120));
    }
    return cut;
}"""
# Whether all columns of a grid are in sight, and the share of the room that they take.
FILLED = """grid => {
    const cells = [...grid.querySelectorAll("[role=columnheader]")];
    const right = Math.max(...cells.map((cell) => cell.getBoundingClientRect().right));
    const { left, width } = grid.getBoundingClientRect();
    return (right - left) / width;
}"""
SETUP = """import gqlnb, pandas as pd
long = "a description that is longer than what most columns have room for, and goes on " * 3
frame = pd.DataFrame({"name": [f"repo{i}" for i in range(50)], "text": [long] * 50,
                      "share": [i / 7 for i in range(50)], "stars": range(1_000_000, 1_000_050)})
"""
STARS = "gqlnb.StarSearch('>150000', limit=20)"
RESULT = "gqlnb.ResultView(frame)"


@pytest.fixture
def notebook(show: Callable[..., Notebook]) -> Iterator[Notebook]:
    """Yield a notebook with both widgets; afterwards the theme is as it was."""
    opened = show(SETUP, STARS, RESULT)
    yield opened
    theme(opened.page, "Light")


def settle(page: Page, width: int) -> None:
    """Give the window a width, and wait until everything has taken its place."""
    page.set_viewport_size({"width": width, "height": 1600})
    page.evaluate("() => new Promise(requestAnimationFrame)")
    page.evaluate("() => new Promise(done => setTimeout(done, 300))")


def expect_whole(root: Locator) -> None:
    """Fail on parts of a widget that are cut."""
    assert root.evaluate(CUT) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_in_a_window_of_any_width(
    notebook: Notebook, width: int, axe: Callable[[Page, str], None]
) -> None:
    """In each tab and theme, beside the list of files too; all columns are in sight without it."""
    page = notebook.page
    stars = notebook.cell(1).locator(".gqlnb-stars")
    result = notebook.cell(2).locator(".gqlnb-result")
    expect(stars).to_have_attribute("data-phase", "done")
    expect(result.locator(".gqlnb-count")).to_have_text("50 rows")
    for sidebar in (True, False):
        if not sidebar:
            page.evaluate(SIDEBAR)
        settle(page, width)
        for name in ("Dark", "Light"):
            theme(page, name)
            for tab in ("Most stars", "Histogram", "Rows"):
                notebook.cell(1)
                stars.get_by_role("tab", name=tab).click()
                expect_whole(stars)
                if tab != "Rows":
                    twin = stars.locator("details:visible")
                    twin.locator("summary").click()
                    expect_whole(stars)
                    twin.locator("summary").click()
                photograph(page, f"stars-{width}-{name}-{tab}-{sidebar}")
            axe(page, ".gqlnb-stars")
            notebook.cell(2)
            expect_whole(result)
            photograph(page, f"result-{width}-{name}-{sidebar}")
            axe(page, ".gqlnb-result")
    for cell in (1, 2):
        grid = notebook.cell(cell).get_by_role("grid")
        assert grid.evaluate("grid => grid.scrollWidth <= grid.clientWidth")
        assert 0.7 < grid.evaluate(FILLED) <= 1
    page.evaluate(SIDEBAR)


def test_columns_follow_the_room_until_one_is_dragged(notebook: Notebook) -> None:
    """A long text gets what is left; a width that the person chose stays."""
    page, root = notebook.page, notebook.cell(2).locator(".gqlnb-result")
    text = root.get_by_role("columnheader", name="text")
    expect(root.locator(".gqlnb-count")).to_have_text("50 rows")

    def measure() -> float:
        box = text.bounding_box()
        assert box is not None
        return box["width"]

    settle(page, 1000)
    narrow = measure()
    settle(page, 1600)
    assert measure() > narrow + 400
    box = text.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 249, box["y"] + 10, steps=3)
    page.mouse.up()
    assert abs(measure() - 252) < 3
    settle(page, 1000)
    assert abs(measure() - 252) < 3

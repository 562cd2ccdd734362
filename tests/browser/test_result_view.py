"""Frames and data looked through in a real browser: scrolled, sorted, searched, copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.acting import photograph, theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator

    from tests.browser.conftest import Notebook, Pipe

    Open = Callable[..., Notebook]

pytestmark = pytest.mark.browser

ROWS = 100_000
FRAME = f"""import numpy as np, pandas as pd, gqlnb
rows = np.arange({ROWS})
frame = pd.DataFrame({{"name": [f"repo{{i}}" for i in rows], "stars": (rows * 7919) % {ROWS},
                      "when": pd.date_range("2020", periods={ROWS}, freq="h"),
                      "topics": [["a", "b"]] * {ROWS}}})
view = gqlnb.ResultView(frame)
view"""
BAD = '<img src="x" onerror="window.hacked = true"><script>window.hacked = true</script>'
# Milliseconds from a jump of the scroll bar until the row there is drawn, for each of some places.
JUMPS = """async ([grid, rows]) => {
    const took = [];
    for (const row of rows) {
        const started = performance.now();
        grid.scrollTop = row * 26;
        while (![...grid.querySelectorAll('[role=row]')].some(
            line => line.ariaRowIndex == row + 2 && line.textContent.includes(`repo${row}`)))
            await new Promise(requestAnimationFrame);
        took.push(performance.now() - started);
    }
    return took;
}"""


class View:
    """One view of the widget, in the words of a person who uses it."""

    def __init__(self, place: Locator) -> None:
        self.root = place.locator(".gqlnb-result")
        self.grid = self.root.get_by_role("grid")
        self.find = self.root.get_by_role("searchbox")
        self.count = self.root.locator(".gqlnb-count")
        self.whole = self.root.locator(".gqlnb-whole")
        self.wrong = self.root.get_by_role("alert")
        self.tree = self.root.get_by_role("tree")

    def tab(self, name: str) -> Locator:
        """Return the tab of that name."""
        return self.root.get_by_role("tab", name=name)

    def name(self, column: str) -> Locator:
        """Return what stands above a column."""
        return self.grid.get_by_role("columnheader", name=column)

    def cell(self, row: int, column: int) -> Locator:
        """Return a cell as a screen reader counts: the names are row 1, the index is column 1."""
        return self.grid.locator(f".gqlnb-row[aria-rowindex='{row}'] [aria-colindex='{column}']")


def test_a_long_frame_scrolls_sorts_and_filters_beside_a_running_cell(
    show: Open, pipe: Pipe, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows are drawn after a jump; the kernel sorts and filters in the background."""
    notebook = show(FRAME, pipe.cell, wait=False)
    expect(notebook.outputs(1)).to_have_text("holding")
    view = View(notebook.cell(0))
    expect(view.count).to_have_text("100,000 rows")
    rows = [50_000, 99_000, 12_345, 77_777, 31_000, 64_000, 5_000, 88_888, 43_210]
    took = sorted(notebook.page.evaluate(JUMPS, [view.grid.element_handle(), rows]))
    with capsys.disabled():
        print(f" jumps: median {took[4]:.0f} ms, longest {took[-1]:.0f} ms")  # noqa: T201
    view.name("stars").click()
    expect(view.name("stars")).to_have_attribute("aria-sort", "ascending")
    view.name("stars").click()
    expect(view.name("stars")).to_have_attribute("aria-sort", "descending")
    expect(view.cell(2, 3)).to_have_text("99,999")
    view.root.get_by_role("button", name="Filter columns").click()
    view.root.get_by_label("Filter stars").fill("100..199")
    expect(view.count).to_have_text("100 of 100,000 rows")
    expect(view.cell(3, 3)).to_have_text("199")
    view.find.fill("repo1")
    wanted = sum(100 <= (i * 7919) % ROWS < 200 and str(i)[0] == "1" for i in range(ROWS))
    expect(view.count).to_have_text(f"{wanted} of 100,000 rows")
    view.root.get_by_label("Filter stars").fill("many")
    expect(view.wrong).to_contain_text("'many' of column 'stars' is not a number")
    expect(view.count).to_have_text(f"{wanted} of 100,000 rows")
    expect(notebook.outputs(1)).to_have_text("holding")
    pipe.let_go()


def test_failing_rows_are_requested_once(show: Open) -> None:
    """An error is shown for a value whose `str()` raises, and the other rows are shown."""
    notebook = show(
        """import gqlnb, pandas as pd
class Mute:
    asked = 0
    def __str__(self):
        Mute.asked += 1
        raise ValueError("no words")
values = [f"repo{i}" for i in range(2000)]
values[1003] = Mute()  # none of those that the width of the column is taken from
gqlnb.ResultView(pd.DataFrame({"name": values}))""",
        "print('asked', Mute.asked)",
    )
    view = View(notebook.cell(0))
    expect(view.cell(2, 2)).to_have_text("repo0")
    notebook.page.evaluate(JUMPS, [view.grid.element_handle(), [500]])
    view.grid.evaluate("grid => (grid.scrollTop = 1000 * 26)")
    expect(view.wrong).to_contain_text("no words")
    notebook.rerun(1)
    expect(notebook.outputs(1)).to_have_text("asked 1")
    notebook.page.evaluate(JUMPS, [view.grid.element_handle(), [1500]])


def test_every_action_has_a_key(show: Open) -> None:
    """Tab enters and leaves, arrows move, Enter sorts, Ctrl-C copies; the cell is not edited."""
    notebook = show(FRAME)
    page, view = notebook.page, View(notebook.cell(0))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press = page.keyboard.press
    expect(view.count).to_have_text("100,000 rows")
    view.find.focus()
    for _ in ("Filter columns", "Copy", "CSV", "the grid"):
        press("Tab")
    expect(view.grid).to_be_focused()
    page.keyboard.type("dd")  # in a notebook: delete the cell
    press("ArrowUp")
    press("ArrowRight")
    press("Enter")  # stars
    press("Enter")
    expect(view.name("stars")).to_have_attribute("aria-sort", "descending")
    press("Control+End")
    expect(view.whole).to_contain_text('"b"')
    press("Control+Home")
    press("ArrowRight")
    press("PageDown")
    press("Shift+ArrowRight")
    press("Shift+ArrowDown")
    expect(view.grid.locator("[aria-selected=true]")).to_have_count(4)
    active = view.grid.get_attribute("aria-activedescendant")
    assert page.locator(f"[id='{active}']").is_visible()
    press("Control+c")
    expect(view.whole).to_have_text("Copied 4 cells.")
    lines = str(page.evaluate("navigator.clipboard.readText()")).split("\n")
    assert [line.split("\t")[1] for line in lines] == ["99986", "99985"]
    press("Control+a")
    press("Control+c")
    expect(view.wrong).to_contain_text("500,000 cells are too many to copy")
    press("Tab")
    expect(view.grid).not_to_be_focused()
    expect(view.root).to_be_visible()


def test_ten_million_rows_can_be_scrolled(show: Open) -> None:
    """To the last row, and row by row with the wheel, though a pixel is many rows."""
    notebook = show(
        "import gqlnb, numpy as np, pandas as pd\n"
        "gqlnb.ResultView(pd.DataFrame({'n': np.arange(10_000_000)}))"
    )
    view, press = View(notebook.cell(0)), notebook.page.keyboard.press
    expect(view.count).to_have_text("10,000,000 rows")
    view.grid.focus()
    press("Control+End")
    expect(view.grid.get_by_role("gridcell", name="9,999,999", exact=True)).to_be_in_viewport()
    view.grid.hover()
    notebook.page.mouse.wheel(0, -260)
    expect(view.grid.get_by_role("gridcell", name="9,999,976", exact=True)).to_be_in_viewport()
    expect(view.grid.get_by_role("gridcell", name="9,999,990", exact=True)).to_have_count(0)


PARTIAL = """import gqlnb
schema = gqlnb.Schema("type Query { rows: [Row!]! } type Row { n: Int fail: Int }", {
    "Query": {"rows": lambda *_: [{"n": 1}, {"n": None}]}, "Row": {"fail": lambda *_: 1 / 0}})
gqlnb.ResultView(schema.execute("{ rows { n fail } }"))"""


@pytest.mark.parametrize("name", ["Light", "Dark"])
def test_every_view_is_accessible(show: Open, name: str, axe: Callable[..., None]) -> None:
    """Names, roles and contrast are correct in each theme."""
    notebook = show(PARTIAL)
    page, view = notebook.page, View(notebook.cell(0))
    theme(page, name)
    try:
        expect(view.count).to_have_text("2 rows")
        view.root.get_by_role("button", name="Filter columns").click()
        view.root.get_by_label("Filter n").fill("many")
        expect(view.wrong).to_contain_text("is not a number")
        view.name("fail").click(modifiers=["Shift"])
        axe(page, ".gqlnb-result")
        view.tab("JSON").click()
        expect(view.tree).to_contain_text("2 items")
        axe(page, ".gqlnb-result")
    finally:
        theme(page, "Light")


HOSTILE = f"""import gqlnb
bad = {BAD!r}
schema = gqlnb.Schema('''
type Query {{ rows: [Row!]! }}
type Row {{ text: String list: [String] fail: Int kind: JSON }}
scalar JSON
''', {{"Query": {{"rows": lambda *_: [{{"text": bad, "list": [bad], "kind": {{bad: bad}}}}]}},
     "Row": {{"fail": lambda *_: 1 / (bad and 0)}}}})
result = schema.execute("{{ rows {{ text list kind fail }} }}")
result = gqlnb.Result({{**result.data, bad: bad}}, errors=({{"message": bad, "path": [bad]}},))
gqlnb.ResultView(result)"""


def test_markup_is_shown_as_text(show: Open) -> None:
    """In cells, names, index labels, lists, errors and the tree; no script runs."""
    named = "import pandas as pd\ngqlnb.ResultView(pd.DataFrame({bad: [bad]}, index=[bad]))"
    notebook = show(HOSTILE, named)
    view, other = View(notebook.cell(0)), View(notebook.cell(1))
    expect(view.root.get_by_role("note")).to_contain_text(BAD)
    expect(view.grid.get_by_role("gridcell", name=BAD, exact=True)).to_have_count(2)
    view.tab("Errors").click()
    expect(view.grid.get_by_role("gridcell", name=BAD, exact=True)).to_have_count(2)
    view.tab("JSON").click()
    view.tree.press("End")
    view.root.get_by_label("Find in names and values").fill("<img")
    expect(view.root.get_by_text("1 of ")).to_be_visible()
    expect(view.tree).to_contain_text(BAD[:40])
    view.tree.locator("[tabindex='0']").press("Enter")
    expect(other.name(BAD)).to_be_visible()
    expect(other.grid.get_by_role("rowheader", name=BAD)).to_be_visible()
    other.grid.focus()
    expect(other.whole).to_contain_text(BAD)
    assert notebook.page.evaluate("window.hacked") is None
    assert notebook.page.locator(".gqlnb-result :is(img, script)").count() == 0


def test_a_nested_list_unfolds_below_the_grid(show: Open) -> None:
    """As a table of its items, with the JSON behind a click; markup is text."""
    frame = "[[{'b': bad, 'c': {'d': i}} for i in range(3)], [[1, 2], [3]], [1]]"
    show_it = f"import pandas as pd\ngqlnb.ResultView(pd.DataFrame({{'a': {frame}}}))"
    view = View(show(HOSTILE, show_it).cell(1))
    view.cell(2, 2).click()
    expect(view.cell(2, 2)).to_have_text("3 items")
    table = view.whole.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["b", "c.d"])
    expect(table.get_by_role("row").last).to_contain_text(BAD[:40])
    expect(view.whole.locator(".gqlnb-text")).to_be_hidden()
    view.whole.get_by_text("JSON").click()
    expect(view.whole.locator(".gqlnb-text")).to_be_visible()
    view.cell(3, 2).click()
    expect(table.get_by_role("row").last).to_have_text("13")  # the number of the item, and 3
    view.cell(4, 2).click()
    expect(view.whole).to_have_text("a[\n  1\n]")
    expect(table).to_have_count(0)


def test_a_view_far_out_of_sight_comes_back_as_it_was(show: Open) -> None:
    """At the row that was scrolled to, with its filter; it is laid out only near the window."""
    far = "import IPython; IPython.display.HTML('<div style=height:9000px>')"
    notebook = show(FRAME, far, "1")
    view = View(notebook.cell(0))
    view.find.fill("repo1")
    wanted = sum(str(i)[0] == "1" for i in range(ROWS))
    expect(view.count).to_have_text(f"{wanted:,} of 100,000 rows")
    view.grid.evaluate("it => { it.scrollTop = 26 * 3000 }")
    row = view.grid.locator(".gqlnb-row[aria-rowindex='3005']")
    expect(row).to_contain_text("repo")
    shown = row.inner_text()
    view.root.evaluate("async () => { await document.fonts.ready; }")
    view.root.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    box = view.root.bounding_box()
    notebook.cell(2).locator(".cm-content").click()
    expect(view.root).to_be_hidden()
    expect(view.grid.locator(".gqlnb-row")).to_have_count(0)
    notebook.cell(0).locator(".cm-content").click()
    expect(row).to_have_text(shown.replace("\n", ""))
    assert view.find.input_value() == "repo1"
    again = view.root.bounding_box()
    assert box is not None
    assert again is not None
    assert again["height"] == box["height"]


def test_the_tree_opens_searches_and_copies_paths(show: Open, axe: Callable[..., None]) -> None:
    """A long list is folded into ranges; a search expands the path to its hits."""
    notebook = show(
        "import gqlnb\n"
        "rows = [{'id': i, 'tags': [{'name': f'tag{i}'}]} for i in range(25_000)]\n"
        "gqlnb.ResultView(gqlnb.Result({'me': {'login': 'x'}, 'rows': rows}))"
    )
    page, view = notebook.page, View(notebook.cell(0))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    view.tab("rows").first.press("End")
    tree = view.tree
    expect(tree.get_by_role("treeitem", name="rows")).to_contain_text("25,000 items")
    tree.get_by_role("treeitem").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(tree.get_by_role("treeitem", name="login")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(view.root.locator(".gqlnb-where")).to_have_text("result.data['me']['login']")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(tree.get_by_role("treeitem", name="me")).to_have_attribute("aria-expanded", "false")
    view.root.get_by_label("Find in names and values").fill("tag24990")
    expect(view.root.locator(".gqlnb-where")).to_have_text(
        "result.data['rows'][24990]['tags'][0]['name']"
    )
    expect(tree.locator("[aria-selected=true]")).to_be_in_viewport()
    assert tree.get_by_role("treeitem").count() < 600
    view.root.get_by_role("button", name="Copy path").click()
    expect(view.root.get_by_text("Copied the path.")).to_be_visible()
    found = page.evaluate("navigator.clipboard.readText()")
    assert found == "result.data['rows'][24990]['tags'][0]['name']"
    axe(page, ".gqlnb-result")


def test_pictures_filter_columns_fit_and_rows_are_copied(
    show: Open, axe: Callable[..., None]
) -> None:
    """A click on a bar or value filters, again clears; a double click fits; Copy and CSV."""
    notebook = show(
        "import gqlnb, pandas as pd\n"
        "rows = [(i * 1000, ['Go', 'C'][i % 3 > 0], 'x' * 90) for i in range(60)]\n"
        "gqlnb.ResultView(pd.DataFrame(rows, columns=['a_long_name_of_a_count', 'kind', 'text']))"
    )
    page, view = notebook.page, View(notebook.cell(0))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(view.count).to_have_text("60 rows")
    name = view.name("a_long_name_of_a_count").locator(".gqlnb-name > span").first
    assert name.evaluate("it => it.scrollWidth <= it.clientWidth")
    bar = view.root.locator(".gqlnb-bars > span").first
    bar.click()
    expect(view.count).to_have_text("5 of 60 rows")
    expect(view.root.get_by_label("Filter a_long_name_of_a_count")).to_have_value("..4,915")
    bar.click()
    expect(view.count).to_have_text("60 rows")
    view.root.locator(".gqlnb-values > span", has_text="Go").click()
    expect(view.count).to_have_text("20 of 60 rows")
    axe(page, ".gqlnb-result")
    photograph(page, "grid-pictures")
    view.root.get_by_role("button", name="Copy", exact=True).click()
    expect(view.whole).to_contain_text("Copied 80 cells.")
    lines = str(page.evaluate("navigator.clipboard.readText()")).split("\n")
    assert len(lines) == 21
    assert lines[1].split("\t")[1:3] == ["0", "Go"]
    with page.expect_download() as download:
        view.root.get_by_role("button", name="CSV").click()
    saved = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert saved[0] == "a_long_name_of_a_count,kind,text"
    assert len(saved) == 21
    grip = view.name("a_long_name_of_a_count").locator(".gqlnb-grip")
    wide = view.name("a_long_name_of_a_count").evaluate("it => it.offsetWidth")
    box = grip.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 3, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] - 100, box["y"] + 9)
    page.mouse.up()
    assert view.name("a_long_name_of_a_count").evaluate("it => it.offsetWidth") < wide - 60
    grip.dblclick(position={"x": 3, "y": 9})
    assert name.evaluate("it => it.scrollWidth <= it.clientWidth")

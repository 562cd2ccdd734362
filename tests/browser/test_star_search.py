"""The star search in a real browser: typed into, clicked, read, also beside a running cell."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from gqlnb import stars as found_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator

    from tests.browser.conftest import Notebook

    Show = Callable[..., Notebook]

pytestmark = pytest.mark.browser

SHOW = "from gqlnb import StarSearch\nsearch = StarSearch('>300000', limit=5)\nsearch"
# Without waiting for the end: the last cell may wait for what is done in the page meanwhile.
START = "() => void window.jupyterapp.commands.execute('notebook:run-all-cells')"
SERVICE = """
from gqlnb import Schema, StarSearch
from graphql import GraphQLError

schema = Schema('''
    type Query { search(query: String!, type: Kind!, first: Int!, after: String): Hits! }
    enum Kind { REPOSITORY }
    type Hits { repositoryCount: Int! pageInfo: Info! edges: [Edge!]! }
    type Info { hasNextPage: Boolean! endCursor: String }
    type Edge { node: Repository }
    type Repository { name: String! owner: Owner! stargazers: Stars! }
    type Owner { login: String! }
    type Stars { totalCount: Int! }
''')

@schema.resolver("Query.search")
def answer(root, args, context):
    if args["query"] == "stars:>2":
        raise GraphQLError(NAME)
    start = int(args.get("after") or 0)
    if start == 300:
        open(PIPE).read()
    end = start + args["first"]
    info = {"hasNextPage": True, "endCursor": str(end)}
    count = {"totalCount": 1000}
    nodes = [{"name": f"{NAME}{i}", "owner": {"login": NAME}, "stargazers": count}
             for i in range(start, end)]
    return {"repositoryCount": 5000, "pageInfo": info, "edges": [{"node": n} for n in nodes]}

StarSearch(">1", limit=2, client=schema)
"""


class Widget:
    """One view of the widget, in the words of a person who uses it.

    Attributes
    ----------
    root
        The element around all of it.
    """

    def __init__(self, place: Locator) -> None:
        self.root = place.locator(".gqlnb-stars")
        self.stars = self.root.get_by_label("Stars", exact=True)
        self.rows = self.root.get_by_label("Rows", exact=True)
        self.run = self.root.get_by_role("button", name="Search")
        self.cancel = self.root.get_by_role("button", name="Cancel")
        self.bar = self.root.get_by_role("progressbar")
        self.alert = self.root.get_by_role("alert")
        self.result = self.root.get_by_role("region", name="Repositories")
        self.source = self.root.locator(".gqlnb-source")

    def search(self, stars: str, rows: str) -> None:
        """Type into both boxes and click at once."""
        self.stars.fill(stars)
        self.rows.fill(rows)
        self.run.click()

    def expect_answer(self, stars: str, rows: int) -> None:
        """Wait for what `stars` finds, and compare the whole table with it."""
        wanted = found_by(stars, limit=rows)
        total = wanted.attrs["total_count"]
        expect(self.source).to_contain_text(
            f"{len(wanted):,} of the {total:,} repositories that match stars:{stars}."
        )
        expect(self.root).to_have_attribute("data-phase", "done")
        assert self.table() == [
            [name, owner, f"{count:,}"] for name, owner, count in wanted.itertuples(index=False)
        ]

    def table(self) -> list[list[str]]:
        """Return the texts of the table, a list per row."""
        read = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
        found: list[list[str]] = self.root.locator("tbody tr").evaluate_all(read)
        return found


@dataclass
class Pipe:
    """What a line of the kernel waits for until it is let go.

    Attributes
    ----------
    path
        Where it is.
    """

    path: Path

    @property
    def cell(self) -> str:
        """A cell that keeps the main thread busy."""
        return f"print('holding', flush=True)\nprint(open({str(self.path)!r}).read())"

    def let_go(self) -> None:
        """Let the line go on; it reads "let go"."""
        self.path.write_text("let go")


@pytest.fixture
def pipe(tmp_path: Path) -> Pipe:
    """Return a pipe that holds who reads it."""
    os.mkfifo(tmp_path / "pipe")
    return Pipe(tmp_path / "pipe")


@pytest.fixture
def show(
    open_notebook: Callable[[str], Notebook], write_notebook: Callable[[list[str]], str]
) -> Show:
    """Return a function that opens a notebook of cells and runs it; with `wait`, to its end."""

    def show_it(*cells: str, wait: bool = True) -> Notebook:
        notebook = open_notebook(write_notebook(list(cells)))
        if wait:
            notebook.run_all()
        else:
            notebook.page.evaluate(START)
        return notebook

    return show_it


def rerun(notebook: Notebook, index: int) -> None:
    """Run one cell as a person does."""
    notebook.cell(index).locator(".cm-content").click()
    notebook.page.keyboard.press("Shift+Enter")


def test_typing_and_clicking_fills_the_table(show: Show) -> None:
    """The table holds what the threshold typed last finds, and the source is named."""
    widget = Widget(show(SHOW).cell(0))
    expect(widget.stars).to_have_value(">300000")
    expect(widget.rows).to_have_value("5")
    widget.search(">=100000", "150")
    widget.expect_answer(">=100000", 150)
    expect(widget.source).to_contain_text("embedded snapshot of")
    expect(widget.source).to_contain_text("not GitHub's counts")


def test_all_rows_are_there_and_scroll_in_a_fixed_height(show: Show) -> None:
    """A thousand rows are in the table, which is no higher than before."""
    widget = Widget(show(SHOW).cell(0))
    widget.search(">1000", "1000")
    widget.expect_answer(">1000", 1000)
    assert widget.result.bounding_box()["height"] < 400
    last = widget.root.locator("tbody tr").last
    expect(last).not_to_be_in_viewport()
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()
    expect(widget.root.locator("th").first).to_be_in_viewport()


def test_the_keyboard_is_enough(show: Show) -> None:
    """Tab goes through the controls, Enter searches, arrows scroll; the cell stays as it is."""
    notebook = show(SHOW)
    widget, keyboard = Widget(notebook.cell(0)), notebook.page.keyboard
    widget.stars.focus()
    keyboard.press("Control+a")
    keyboard.type("200000..250000")
    keyboard.press("Enter")
    widget.expect_answer("200000..250000", 5)
    keyboard.press("Tab")
    keyboard.type("30")  # the text of a box that Tab enters is selected
    keyboard.press("Tab")
    expect(widget.run).to_be_focused()
    keyboard.press("Enter")  # in a notebook: edit the cell
    widget.expect_answer("200000..250000", 30)
    expect(widget.run).to_be_focused()
    keyboard.press("Tab")  # Cancel has nothing to cancel, so the rows are next
    expect(widget.result).to_be_focused()
    keyboard.press("End")
    expect(widget.root.locator("tbody tr").last).to_be_in_viewport()
    keyboard.type("dd")  # in a notebook: delete the cell
    keyboard.press("Control+s")
    notebook.page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    expect(widget.root).to_be_visible()


def test_it_searches_while_a_cell_runs(show: Show, pipe: Pipe) -> None:
    """Run All goes on to a long cell before a person can click; clicks are served all the same."""
    notebook = show(SHOW, pipe.cell, wait=False)
    expect(notebook.outputs(1)).to_have_text("holding")
    widget = Widget(notebook.cell(0))
    widget.search(">100000", "20")
    widget.expect_answer(">100000", 20)
    widget.search("150000..200000", "")
    widget.expect_answer("150000..200000", 1000)
    pipe.let_go()
    expect(notebook.outputs(1)).to_contain_text("let go")


def test_a_cell_that_uses_the_widget_and_runs_on_draws_no_click(show: Show, pipe: Pipe) -> None:
    """What the main thread sends does not make the next click wait for the main thread."""
    notebook = show(SHOW, f"search.limit = 7\nsearch.run()\n{pipe.cell}", wait=False)
    expect(notebook.outputs(1)).to_have_text("holding")
    widget = Widget(notebook.cell(0))
    widget.expect_answer(">300000", 7)
    expect(widget.rows).to_have_value("7")
    widget.search(">200000", "9")
    widget.expect_answer(">200000", 9)
    pipe.let_go()
    expect(notebook.outputs(1)).to_contain_text("let go")


def test_progress_shows_and_cancel_stops(show: Show, pipe: Pipe) -> None:
    """The bar stands where the search stands; Cancel ends it and keeps the rows before."""
    notebook = show(f"NAME, PIPE = 'repo', {str(pipe.path)!r}\n{SERVICE}")
    widget = Widget(notebook.cell(0))
    widget.search(">1", "2")
    expect(widget.root).to_have_attribute("data-phase", "done")
    widget.search(">1", "1,000")
    expect(widget.root).to_contain_text("300 of 1,000 rows")
    expect(widget.bar).to_have_attribute("aria-valuenow", "30")
    expect(widget.rows).to_have_value("1000")
    widget.cancel.click()
    expect(widget.root).to_contain_text("Cancelled after 300 rows.")
    expect(widget.cancel).to_be_disabled()
    assert widget.table() == [["repo0", "repo", "1,000"], ["repo1", "repo", "1,000"]]
    pipe.let_go()


def test_a_bad_threshold_is_said_and_loses_nothing(show: Show) -> None:
    """The error is an alert in words; the table stays; the next good search takes it away."""
    widget = Widget(show(SHOW).cell(0))
    widget.search(">200000", "9")
    widget.expect_answer(">200000", 9)
    table = widget.table()
    widget.search("many", "9")
    expect(widget.alert).to_contain_text("'many'")
    expect(widget.stars).to_have_value("many")
    assert widget.table() == table
    widget.search(">200000", "8")
    widget.expect_answer(">200000", 8)
    expect(widget.alert).to_be_hidden()


def test_other_cells_and_views_have_what_a_click_found(show: Show) -> None:
    """The frame is in the kernel; a view opened later shows the rows; both follow a click."""
    notebook = show(SHOW, "print(search, search.frame)", "search")
    widget = Widget(notebook.cell(0))
    widget.search(">= 400,000", "2")
    widget.expect_answer(">=400000", 2)
    rerun(notebook, 1)
    expect(notebook.outputs(1)).to_contain_text("StarSearch('>=400000', limit=2, client='demo')")
    expect(notebook.outputs(1)).to_contain_text("1           awesome     sindresorhus      498692")
    rerun(notebook, 2)
    second = Widget(notebook.cell(2))
    second.expect_answer(">=400000", 2)
    second.search(">250000", "4")
    second.expect_answer(">250000", 4)
    widget.expect_answer(">250000", 4)
    expect(widget.stars).to_have_value(">250000")


def test_the_kernel_does_not_overwrite_what_is_being_typed(show: Show) -> None:
    """A cell that sets the widget changes the box that nobody has touched, and only that."""
    notebook = show(SHOW, "search.limit += 1\nsearch.query = f'>30000{search.limit}'")
    widget = Widget(notebook.cell(0))
    expect(widget.stars).to_have_value(">300006")
    widget.stars.fill(">250000")
    rerun(notebook, 1)
    expect(widget.rows).to_have_value("7")
    expect(widget.stars).to_have_value(">250000")
    widget.run.click()
    widget.expect_answer(">250000", 7)


def test_a_page_loaded_again_goes_on(
    open_notebook: Callable[[str], Notebook], write_notebook: Callable[[list[str]], str]
) -> None:
    """After the page was closed and opened, the view has its rows and searches."""
    name = write_notebook([SHOW])
    notebook = open_notebook(name)
    notebook.run_all()
    widget = Widget(notebook.cell(0))
    widget.search(">200000", "9")
    widget.expect_answer(">200000", 9)
    notebook.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    widget = Widget(open_notebook(name).cell(0))
    widget.expect_answer(">200000", 9)
    widget.search(">250000", "4")
    widget.expect_answer(">250000", 4)


def test_markup_in_the_answers_stays_text(show: Show, pipe: Pipe) -> None:
    """Names and error messages that are HTML show as the text they are, and nothing runs."""
    bad = '<img src="x" onerror="window.hacked = true">'
    notebook = show(f"NAME, PIPE = {bad!r}, None\n{SERVICE}")
    widget = Widget(notebook.cell(0))
    widget.search(">1", "1")
    expect(widget.root).to_have_attribute("data-phase", "done")
    assert widget.table() == [[f"{bad}0", bad, "1,000"]]
    widget.search(">2", "1")
    expect(widget.alert).to_contain_text(bad)
    assert notebook.page.evaluate("window.hacked") is None

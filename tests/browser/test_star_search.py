"""The star search in a real browser: typed into, clicked, read, also beside a running cell."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from gqlnb import Client
from gqlnb import stars as found_by
from tests.browser.acting import SAVED, expect_saved_html, theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from pandas import DataFrame
    from playwright.sync_api import BrowserContext, Locator, Page

    from tests.browser.conftest import Notebook, Pipe

    Show = Callable[..., Notebook]

pytestmark = pytest.mark.browser

SHOW = "from gqlnb import StarSearch\nsearch = StarSearch('>300000', limit=5)\nsearch"
# Without waiting for the end: the last cell may wait for what is done in the page meanwhile.
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
    if args["query"].startswith("stars:>2 "):
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
        self.stars = self.root.get_by_role("textbox", name="Stars")
        self.slider = self.root.get_by_role("slider")
        self.also = self.root.get_by_role("textbox", name="Qualifiers")
        self.order = self.root.get_by_role("combobox", name="Order")
        self.rows = self.root.get_by_role("textbox", name="Rows")
        self.run = self.root.get_by_role("button", name="Search")
        self.cancel = self.root.get_by_role("button", name="Cancel")
        self.bar = self.root.get_by_role("progressbar")
        self.alert = self.root.locator("> [role=alert]")
        self.result = self.root.get_by_role("grid", name="Repositories")
        self.source = self.root.locator(".gqlnb-source")

    def search(self, stars: str, rows: str) -> None:
        """Type into both boxes and click at once."""
        self.stars.fill(stars)
        self.rows.fill(rows)
        self.run.click()

    def expect_answer(self, query: str, rows: int | None) -> None:
        """Wait for what a search finds, and compare the table with it."""
        wanted = found_by(query, limit=rows)
        total, expression = wanted.attrs["total_count"], wanted.attrs["query"]
        expect(self.source).to_contain_text(
            f"{len(wanted):,} of the {total:,} repositories that match {expression}."
        )
        expect(self.root).to_have_attribute("data-phase", "done")
        expect(self.result).to_have_attribute("aria-rowcount", str(len(wanted) + 1))
        self.expect_rows(wanted)

    def expect_rows(self, wanted: DataFrame) -> None:
        """Wait until the first rows are these."""
        for at, (name, owner, count) in enumerate(wanted.head(5).itertuples(index=False)):
            row = self.result.locator(f"[role=row][aria-rowindex='{at + 2}'] [role=gridcell]")
            expect(row).to_have_text([name, owner, f"{count:,}"])

    def show(self, tab: str) -> Locator:
        """Choose a tab, and return what it shows."""
        self.root.get_by_role("tab", name=tab).click()
        return self.root.get_by_role("tabpanel", name=tab)


def test_typing_and_clicking_fills_the_table(show: Show) -> None:
    """The rows match the last typed value, the source is named; the table sorts and filters.

    The slider and the threshold move each other, in steps of a logarithmic scale.
    """
    widget = Widget(show(SHOW).cell(0))
    expect(widget.stars).to_have_value(">300000")
    expect(widget.rows).to_have_value("5")
    for text, said in ((">100,000", "100,000 stars"), ("5000..20000", "5,000 stars")):
        widget.stars.fill(text)
        expect(widget.slider).to_have_attribute("aria-valuetext", said)
    for key, stars in (("ArrowRight", "5600..20000"), ("End", ">1000000"), ("Home", ">0")):
        widget.slider.press(key)
        expect(widget.stars).to_have_value(stars)
    widget.run.click()
    widget.expect_answer(">0", 5)
    widget.also.fill("language:Python")
    widget.order.select_option("Most forks")
    widget.search(">= 10,000", "150")
    query = ">=10000 language:Python sort:forks"
    widget.expect_answer(query, 150)
    expect(widget.stars).to_have_value(">=10000")
    expect(widget.source).to_contain_text("embedded snapshot of")
    expect(widget.source).to_contain_text("not GitHub's counts")
    widget.result.get_by_role("columnheader", name="name").click()
    widget.expect_rows(found_by(query, limit=150).sort_values("name"))
    widget.root.get_by_role("searchbox").fill("awesome")
    expect(widget.root.get_by_text("of 101 rows")).to_be_visible()


def test_a_given_query_is_searched_when_the_widget_is_shown(show: Show) -> None:
    """Without a click; each name links to the page of its repository."""
    notebook = show(SHOW, "print(search.frame['name'][0])")
    widget = Widget(notebook.cell(0))
    widget.expect_answer(">300000", 5)
    links = [
        f"https://github.com/{row.owner}/{row.name}"
        for row in found_by(">300000", limit=5).itertuples()
    ]
    for at, link in enumerate(links):
        row = widget.result.locator(f"[role=row][aria-rowindex='{at + 2}']")
        expect(row.get_by_role("link")).to_have_attribute("href", link)
        expect(row.get_by_role("link")).to_have_attribute("rel", "noopener noreferrer")
    picture = widget.show("Most stars")
    picture.get_by_text("As a table").click()
    assert [a.get_attribute("href") for a in picture.get_by_role("link").all()] == links
    widget.show("Rows")
    widget.result.focus()
    with notebook.page.context.expect_page() as opened:  # no other host can be reached from here
        notebook.page.keyboard.press("Enter")
    opened.value.close()
    assert notebook.page.evaluate("document.activeElement.getAttribute('role')") == "grid"


def test_a_bad_threshold_keeps_the_rows(show: Show) -> None:
    """It is an error in words, also beside a qualifier, with which it could be a word to search."""
    widget = Widget(show(SHOW).cell(0))
    widget.expect_answer(">300000", 5)
    widget.also.fill("language:python")
    for text in ("many", "1k", ">>5"):
        widget.search(text, "5")
        expect(widget.alert).to_contain_text(f"'{text}'")
        expect(widget.alert).to_contain_text("is not one of '>N'")
        expect(widget.stars).to_have_value(text)
        expect(widget.source).to_contain_text("repositories that match stars:>300000.")
        widget.expect_rows(found_by(">300000", limit=5))
    widget.search(">200000", "5")
    widget.expect_answer(">200000 language:python", 5)
    expect(widget.alert).to_be_hidden()


def test_every_action_has_a_key(show: Show) -> None:
    """Tab moves through controls, Enter searches, arrows select; the cell is not edited."""
    notebook = show(SHOW)
    widget, keyboard = Widget(notebook.cell(0)), notebook.page.keyboard
    widget.stars.focus()
    keyboard.press("Control+a")
    keyboard.type("150000..250000")
    keyboard.press("Enter")
    widget.expect_answer("150000..250000", 5)
    for control in (widget.slider, widget.also, widget.order, widget.rows):
        keyboard.press("Tab")
        expect(control).to_be_focused()
    keyboard.type("30")  # the text of a box that Tab enters is selected
    keyboard.press("Tab")
    expect(widget.run).to_be_focused()
    keyboard.press("Enter")  # in a notebook: edit the cell
    widget.expect_answer("150000..250000", 30)
    expect(widget.run).to_be_focused()
    keyboard.press("Tab")  # Cancel has nothing to cancel, so the result is next
    expect(widget.root.get_by_role("tab", name="Rows")).to_be_focused()
    keyboard.press("ArrowLeft")
    expect(widget.root.get_by_role("tab", name="Histogram")).to_be_focused()
    expect(widget.root.get_by_role("img", name="Histogram. ")).to_be_visible()
    keyboard.press("ArrowRight")
    for _ in range(7):  # Copy query, Copy code, Find, Filter columns, Copy, CSV, the rows
        keyboard.press("Tab")
    expect(widget.result).to_be_focused()
    keyboard.press("Control+End")
    expect(widget.result.locator("[aria-rowindex='31']")).to_be_in_viewport()
    keyboard.type("dd")  # in a notebook: delete the cell
    keyboard.press("Control+s")
    notebook.page.wait_for_function(SAVED)
    expect(widget.root).to_be_visible()


def test_clicks_are_handled_while_a_cell_runs(show: Show, pipe: Pipe) -> None:
    """For example a long cell under Run All."""
    notebook = show(SHOW, pipe.cell, wait=False)
    expect(notebook.outputs(1)).to_have_text("holding")
    widget = Widget(notebook.cell(0))
    widget.search(">100000", "20")
    widget.expect_answer(">100000", 20)
    widget.search("150000..200000", "")
    widget.expect_answer("150000..200000", 1000)
    pipe.let_go()
    expect(notebook.outputs(1)).to_contain_text("let go")


def test_a_running_cell_that_uses_the_widget_blocks_no_click(show: Show, pipe: Pipe) -> None:
    """Messages from the main thread do not make the next click wait for it."""
    notebook = show(SHOW, f"search.limit = 7\nsearch.run()\n{pipe.cell}", wait=False)
    expect(notebook.outputs(1)).to_have_text("holding")
    widget = Widget(notebook.cell(0))
    widget.expect_answer(">300000", 7)
    expect(widget.rows).to_have_value("7")
    widget.search(">200000", "9")
    widget.expect_answer(">200000", 9)
    pipe.let_go()
    expect(notebook.outputs(1)).to_contain_text("let go")


def test_progress_is_shown_and_cancel_stops_the_search(show: Show, pipe: Pipe) -> None:
    """Cancel keeps the rows of the search before."""
    notebook = show(f"NAME, PIPE = 'repo', {str(pipe.path)!r}\n{SERVICE}")
    widget = Widget(notebook.cell(0))
    widget.search(">1", "2")
    expect(widget.root).to_have_attribute("data-phase", "done")
    widget.search(">1", "1,000")
    expect(widget.root).to_contain_text("300 of 1,000 rows, 3 pages …")
    expect(widget.bar).to_have_attribute("aria-valuenow", "30")
    expect(widget.rows).to_have_value("1000")
    widget.cancel.click()
    expect(widget.root).to_contain_text("Cancelled after 300 rows.")
    expect(widget.cancel).to_be_disabled()
    cells = widget.result.get_by_role("gridcell")
    expect(cells).to_have_text(["repo0", "repo", "1,000", "repo1", "repo", "1,000"])
    pipe.let_go()


def test_other_cells_and_views_get_the_result_of_a_click(show: Show) -> None:
    """The kernel has the frame; a view opened later shows the rows; both follow a click."""
    notebook = show(SHOW, "print(search, search.frame)", "search")
    widget = Widget(notebook.cell(0))
    widget.search(">= 400,000", "2")
    widget.expect_answer(">=400000", 2)
    notebook.rerun(1)
    expect(notebook.outputs(1)).to_contain_text("StarSearch('>=400000', limit=2, client='demo')")
    expect(notebook.outputs(1)).to_contain_text("1           awesome     sindresorhus      498692")
    notebook.rerun(2)
    second = Widget(notebook.cell(2))
    second.expect_answer(">=400000", 2)
    second.search(">250000", "4")
    second.expect_answer(">250000", 4)
    widget.expect_answer(">250000", 4)
    expect(widget.stars).to_have_value(">250000")


def test_the_kernel_does_not_overwrite_edited_boxes(show: Show) -> None:
    """A cell that sets the widget changes only boxes without edits."""
    notebook = show(SHOW, "search.limit += 1\nsearch.query = f'>30000{search.limit}'")
    widget = Widget(notebook.cell(0))
    expect(widget.stars).to_have_value(">300006")
    widget.stars.fill(">250000")
    notebook.rerun(1)
    expect(widget.rows).to_have_value("7")
    expect(widget.stars).to_have_value(">250000")
    widget.run.click()
    widget.expect_answer(">250000", 7)


def test_markup_in_responses_is_shown_as_text(show: Show, pipe: Pipe) -> None:
    """In names and error messages; no script runs."""
    bad = '<img src="x" onerror="window.hacked = true">'
    notebook = show(f"NAME, PIPE = {bad!r}, None\n{SERVICE}")
    widget = Widget(notebook.cell(0))
    widget.search(">1", "1")
    expect(widget.result.get_by_role("gridcell")).to_have_text([f"{bad}0", bad, "1,000"])
    picture = widget.show("Most stars")
    expect(picture.get_by_role("img")).to_have_attribute("aria-label", re.compile("<img src="))
    picture.get_by_text("As a table").click()
    expect(picture.locator("tbody")).to_contain_text("<img src=")
    widget.search(">2", "1")
    expect(widget.alert).to_contain_text(bad)
    expect_saved_html(notebook.page, 0, escape(f"{bad}0"))
    assert notebook.page.evaluate("window.hacked") is None


def test_the_widget_is_accessible(show: Show, axe: Callable[[Page, str], None]) -> None:
    """Form, table, charts and errors have names, roles and sufficient contrast in both themes.

    Pictures are tables too; an error loses nothing of the result.
    """
    notebook = show(SHOW)
    notebook.page.emulate_media(reduced_motion="reduce")
    widget = Widget(notebook.cell(0))
    for name in ("Dark", "Light"):
        theme(notebook.page, name)
        widget.search(">100000", "50")
        expect(widget.root).to_have_attribute("data-phase", "done")
        widget.show("Rows")
        widget.expect_answer(">100000", 50)
        expect(widget.alert).to_be_hidden()
        axe(notebook.page, ".gqlnb-stars")
        picture = widget.show("Most stars")
        picture.get_by_text("As a table").click()
        wanted = found_by(">100000", limit=20).itertuples()
        rows = [f"{row.owner}/{row.name}{row.stargazers:,}" for row in wanted]
        expect(picture.locator("tbody tr")).to_have_text(rows)
        expect(picture.locator("rect")).to_have_count(20)
        axe(notebook.page, ".gqlnb-stars")
        picture = widget.show("Histogram")
        picture.get_by_text("As a table").click()
        counts = picture.locator("tbody td:last-child").all_text_contents()
        assert sum(map(int, counts)) == 50
        axe(notebook.page, ".gqlnb-stars")
        widget.search("many", "50")
        expect(widget.alert).to_contain_text("'many'")
        expect(widget.stars).to_have_value("many")
        # A range whose rows were cut has a second, hatched column behind that of its rows.
        expect(picture.locator("rect:not(.gqlnb-hatched)")).to_have_count(len(counts))
        expect(picture.locator("rect.gqlnb-hatched").first).to_be_attached()
        axe(notebook.page, ".gqlnb-stars")


def test_query_and_code_are_copied(show: Show, browser: BrowserContext) -> None:
    """To the clipboard; without permission, into a text box."""
    browser.grant_permissions(["clipboard-read", "clipboard-write"])
    notebook = show(SHOW)
    widget, read = Widget(notebook.cell(0)), "navigator.clipboard.readText()"
    widget.also.fill("language:python")
    widget.search(">100000", "7")
    widget.expect_answer(">100000 language:python", 7)
    widget.root.get_by_role("button", name="Copy code").click()
    expect(widget.root.get_by_text("Code copied")).to_be_visible()
    code = "gqlnb.stars('>100000 language:python', limit=7, client='demo')"
    assert notebook.page.evaluate(read) == f"import gqlnb; {code}"
    widget.root.get_by_role("button", name="Copy query").click()
    expect(widget.root.get_by_text("Query copied")).to_be_visible()
    text = notebook.page.evaluate(read)
    frame = found_by(">100000 language:python", limit=7)
    nodes = [edge["node"] for edge in Client("demo").execute(text)["search"]["edges"]]
    assert [node["name"] for node in nodes] == frame["name"].tolist()
    notebook.page.evaluate("() => { document.execCommand = () => false; }")
    notebook.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(0); }")
    widget.root.get_by_role("button", name="Copy query").click()
    box = widget.root.get_by_role("textbox", name="To be copied by hand")
    expect(box).to_have_value(text)
    expect(box).to_be_focused()

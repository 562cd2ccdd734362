"""The view of a schema in a real browser: searched, clicked through, by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.acting import EXECUTE, measure_typing, photograph, theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator

    from tests.browser.conftest import Notebook, Pipe

    Show = Callable[..., Notebook]

pytestmark = pytest.mark.browser

DEMO = "import gqlnb\nview = gqlnb.SchemaView('demo')\nview"
BAD = "<img src=x onerror=window.struck=1><script>window.struck=1</script> **b** [x](javascript:1)"
HOSTILE = f"""
import gqlnb
BAD = {BAD!r}
DEFAULT = BAD.replace('"', '')
view = gqlnb.SchemaView(f'''
"{{BAD}}" directive @odd("{{BAD}}" a: String = "{{DEFAULT}}") on FIELD
"{{BAD}}" type Query {{{{
  "{{BAD}}" f("{{BAD}}" a: String = "{{DEFAULT}}"): Kind @deprecated(reason: "{{BAD}}")
}}}}
"{{BAD}}" enum Kind {{{{ "{{BAD}}" A @deprecated(reason: "{{BAD}}") }}}}
''')
view
"""


class View:
    """One view, in the words of a person who uses it."""

    def __init__(self, place: Locator) -> None:
        self.root = place.locator(".gqlnb-schema")
        self.box = self.root.get_by_role("combobox", name="Search the schema")
        self.hits = self.root.get_by_role("option")
        self.title = self.root.get_by_role("heading", level=3)
        self.chosen = self.root.locator("[role=option][aria-selected=true]")
        self.crumbs = self.root.get_by_role("navigation")
        self.back = self.root.get_by_role("button", name="Back")
        self.forward = self.root.get_by_role("button", name="Forward")

    def link(self, name: str) -> Locator:
        """Return a link of the page."""
        return self.root.locator(".gqlnb-sheet").get_by_role("button", name=name, exact=True).first

    def part(self, name: str) -> Locator:
        """Return a section of the page."""
        heading = self.root.page.get_by_role("heading", level=4, name=name)
        return self.root.locator("section").filter(has=heading).first


def test_a_schema_is_searched_and_browsed(show: Show, axe: Callable[..., None]) -> None:
    """Search hits and types open pages; back and forward retrace them."""
    notebook = show(DEMO)
    view = View(notebook.cell(0))
    expect(view.title).to_contain_text("Schema")
    view.box.fill("stargazers")
    expect(view.hits.first).to_contain_text(".stargazers")
    photograph(notebook.page, "schema-hits")
    axe(notebook.page, ".gqlnb-schema")  # hits; below pages, in the other theme
    view.hits.filter(has_text="Repository.stargazers").first.click()
    expect(view.title).to_contain_text("stargazers: StargazerConnection!")
    expect(view.crumbs).to_contain_text("Repository")
    view.link("StargazerConnection").click()
    expect(view.title).to_contain_text("StargazerConnection")
    expect(view.part("Leads here")).to_contain_text("Repository")
    view.part("Leads here").get_by_role("button", name="Repository", exact=True).click()
    expect(view.title).to_have_text("type Repository")
    photograph(notebook.page, "schema-Light")
    theme(notebook.page, "Dark")
    photograph(notebook.page, "schema-Dark")
    axe(notebook.page, ".gqlnb-schema")
    theme(notebook.page, "Light")
    view.back.click()
    expect(view.title).to_contain_text("StargazerConnection")
    view.forward.click()
    expect(view.title).to_have_text("type Repository")
    expect(view.forward).to_be_disabled()


def test_every_action_has_a_key(show: Show) -> None:
    """Slash focuses the box, arrows and Enter select, Alt with arrows goes back and forward."""
    notebook = show(DEMO)
    view, keyboard = View(notebook.cell(0)), notebook.page.keyboard
    view.root.get_by_role("region", name="Schema").focus()
    keyboard.press("/")
    expect(view.box).to_be_focused()
    keyboard.type("repository")
    expect(view.root).to_have_attribute("data-found", "repository")
    expect(view.chosen).to_have_count(1)
    first = view.chosen.inner_text()
    keyboard.press("ArrowDown")
    expect(view.chosen).not_to_have_text(first)
    keyboard.press("ArrowUp")
    keyboard.press("Escape")
    expect(view.box).to_have_value("")
    expect(view.title).to_contain_text("Schema")
    keyboard.type("starrable")
    keyboard.press("Enter")  # before the hits are there, or after
    expect(view.title).to_have_text("interface Starrable")
    expect(view.title).to_be_focused()
    keyboard.press("Tab")
    keyboard.press("Enter")  # in a notebook: edit the cell
    expect(view.crumbs).to_contain_text("Starrableid")
    keyboard.press("Alt+ArrowLeft")
    expect(view.title).to_have_text("interface Starrable")
    keyboard.press("Alt+ArrowLeft")
    expect(view.title).to_contain_text("Schema")
    keyboard.press("Alt+ArrowRight")
    expect(view.title).to_have_text("interface Starrable")
    keyboard.type("dd")  # in a notebook: delete the cell
    expect(notebook.page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(1)


def test_a_large_schema_is_searched_at_each_key_stroke(show: Show, pipe: Pipe) -> None:
    """1,676 types and a busy kernel: hits appear without a noticeable pause."""
    root = Path(__file__).parents[2]
    make = (
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "from tests.benchmarks.big_schema import big_sdl\n"
        "import gqlnb; view = gqlnb.SchemaView(big_sdl()); view"
    )
    notebook = show(make)
    view, page = View(notebook.cell(0)), notebook.page
    expect(view.title).to_contain_text("Schema")
    page.evaluate(EXECUTE, pipe.cell)
    times = measure_typing(page, "account", ".gqlnb-schema input", ".gqlnb-schema")
    print("milliseconds from key stroke to hits:", [round(time) for time in times])  # noqa: T201
    expect(view.root).to_have_attribute("data-found", "account")
    photograph(page, "schema-large")
    assert view.hits.count() == 50
    view.root.get_by_role("region", name="Schema").evaluate("it => it.scrollTo(0, it.scrollHeight)")
    expect(view.hits).to_have_count(100)
    view.box.fill("PageInfo")
    expect(view.root).to_have_attribute("data-found", "PageInfo")
    view.hits.first.click()
    expect(view.title).to_have_text("type PageInfo")
    users = view.part("Leads here").get_by_role("listitem")
    expect(users).to_have_count(40)
    photograph(page, "schema-links")
    view.part("Leads here").get_by_role("button", name="270 more").click()
    expect(users).to_have_count(240)
    pipe.let_go()
    notebook.wait_idle()
    assert sorted(times)[len(times) // 2] < 1000, times


def test_markup_in_a_schema_is_shown_as_text(show: Show, axe: Callable[..., None]) -> None:
    """In descriptions, reasons and defaults; no script runs, and no link is created."""
    notebook = show(HOSTILE)
    view, page = View(notebook.cell(0)), notebook.page
    for place, heading in (("f", "f: Kind"), ("A", "Kind"), ("@odd", "@odd")):
        view.box.fill(place)
        expect(view.root).to_have_attribute("data-found", place)
        expect(view.hits.first).to_contain_text("<img src=x")
        view.hits.first.click()
        expect(view.title).to_contain_text(heading)
        sheet = view.root.locator(".gqlnb-sheet")
        expect(sheet).to_contain_text("<img src=x onerror=window.struck=1><script>")
        expect(sheet.locator("img, script, a")).to_have_count(0)
        expect(sheet.locator("strong").first).to_have_text("b")
    photograph(page, "schema-hostile")
    axe(page, ".gqlnb-schema")
    assert page.evaluate("window.struck") is None

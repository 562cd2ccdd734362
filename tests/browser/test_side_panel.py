"""The side panel in a real browser: endpoints, schema, history, commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.acting import photograph

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.browser.conftest import Notebook

    Show = Callable[..., Notebook]

pytestmark = pytest.mark.browser

LOAD = "%load_ext gqlnb"


class Side:
    """The panel, in the words of a person who uses it."""

    def __init__(self, page: Page) -> None:
        page.locator(".jp-SideBar [data-id=gqlnb-panel]").click()
        self.page = page
        self.root = page.locator("#gqlnb-panel")
        self.status = self.root.locator("> [role=status]")
        self.tree = self.root.get_by_role("tree")
        self.box = self.root.get_by_role("searchbox")
        self.detail = self.root.get_by_role("region", name="Documentation")

    def press(self, name: str) -> None:
        """Press a button of the panel."""
        self.root.get_by_role("button", name=name, exact=True).click()

    def open(self, view: str) -> None:
        """Open one of the three views."""
        self.press(view)

    def open_path(self, *places: str) -> None:
        """Click rows of the tree, each below the one before."""
        within = self.tree.get_by_role("treeitem", name="Query, type")
        for name in places:
            within = within.locator(f'> ul > [aria-label^="{name},"]')
            within.locator("> .gqlnb-row").click()
            expect(within).to_have_attribute("aria-selected", "true")


def test_a_table_by_mouse_alone(show: Show, axe: Callable[..., None]) -> None:
    """Somebody who has never seen the demo gets repositories with their languages."""
    notebook = show("")
    side = Side(notebook.page)
    expect(side.root).to_contain_text("gqlnb is not loaded in this kernel.")
    side.press("Load gqlnb")
    side.press("Schema of demo")
    side.open_path("search", "nodes", "Repository", "languages")
    expect(side.detail).to_contain_text("languages")
    photograph(notebook.page, "panel-tree")
    side.press("New cell with Repository.languages")
    cell = notebook.cell(1)
    expect(cell).to_contain_text("%%graphql demo")
    notebook.page.get_by_role("button", name="Run this cell and advance").click()
    table = cell.locator("table").first
    expect(table).to_contain_text("build-your-own-x")
    expect(table).to_contain_text("Markdown")
    axe(notebook.page, "#gqlnb-panel")
    photograph(notebook.page, "panel-table")

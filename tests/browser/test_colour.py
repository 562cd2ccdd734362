"""GraphQL colours in `%%graphql` cells, and in no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator

pytestmark = pytest.mark.browser

CELL = """%%graphql demo
# repositories
query Q($n: Int!) {
  search(query: "stars:>9", type: REPOSITORY, first: $n) { repositoryCount }
}"""
PYTHON = "def search(query):\n    return None"


def shown(cell: Locator) -> dict[str, str]:
    """Return the colours of the words of a cell."""
    spans = cell.locator(".cm-line span")
    return dict(
        spans.evaluate_all("all => all.map(it => [it.textContent, getComputedStyle(it).color])")
    )


def test_a_graphql_cell_is_highlighted_as_graphql(
    open_notebook: Callable, write_notebook: Callable[[list[str]], str]
) -> None:
    """Keywords, types, strings, values and comments differ; Python cells are unchanged."""
    notebook = open_notebook(write_notebook([CELL, PYTHON]))
    expect(notebook.page.locator("[data-gqlnb]")).to_have_count(1)
    colours = shown(notebook.cell(0))
    words = ("query", "Int", '"stars:>9"', "REPOSITORY", "# repositories", "$n", "first")
    assert {*words} <= {*colours}
    assert len({colours[word] for word in words}) >= 4
    assert {"def", "return", "None"} <= {*shown(notebook.cell(1))}


def test_a_timed_cell_is_highlighted_as_graphql(
    open_notebook: Callable, write_notebook: Callable[[list[str]], str]
) -> None:
    """Both magics have one colour, and the query the colours that it has without `%%time`."""
    notebook = open_notebook(write_notebook([CELL, f"%%time\n{CELL}"]))
    expect(notebook.page.locator("[data-gqlnb]")).to_have_count(2)
    usual, timed = shown(notebook.cell(0)), shown(notebook.cell(1))
    assert timed.pop("%%time") == usual["%%graphql demo"]
    assert timed == usual


def test_highlighting_follows_the_magic(
    open_notebook: Callable, write_notebook: Callable[[list[str]], str]
) -> None:
    """It appears when the magic is typed, and disappears when it is edited away."""
    notebook = open_notebook(write_notebook([""]))
    cells = notebook.page.locator("[data-gqlnb]")
    editor = notebook.cell(0).locator(".cm-content")
    editor.click()
    expect(cells).to_have_count(0)
    notebook.page.keyboard.type("%%graphql\n{ hello")
    expect(cells).to_have_count(1)
    editor.press("Control+Home")
    editor.press("Delete")
    expect(cells).to_have_count(0)
    notebook.page.keyboard.type("%")
    expect(cells).to_have_count(1)


def test_a_new_line_is_indented_by_two_spaces(
    open_notebook: Callable, write_notebook: Callable[[list[str]], str]
) -> None:
    """After an open brace; the closing brace is dedented."""
    notebook = open_notebook(write_notebook(["%%graphql"]))
    editor = notebook.cell(0).locator(".cm-content")
    editor.click()
    editor.press("Control+End")
    for piece in ("\n", "{", "\n", "viewer {", "\n", "login"):
        notebook.page.keyboard.type(piece)
    lines = editor.locator(".cm-line").all_inner_texts()
    assert lines[1:4] == ["{", "  viewer {", "    login"]

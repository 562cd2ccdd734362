"""Answers in parts: shown while they arrive, in a cell and in the explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from tests.browser.acting import photograph, theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.conftest import Notebook, Pipe

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not IS_GRAPHQL_33, reason="graphql-core before 3.3 executes nothing in parts."
    ),
]

SETUP = """%load_ext gqlnb
import gqlnb

SDL = '''
directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @stream(if: Boolean! = true, label: String, initialCount: Int = 0) on FIELD
type Query { title: String books: [Book] slow: String }
type Book { title: String pages: Int }
'''

def books(root, args, context):
    for at in range(4):
        if at == 3:
            open(PIPE).read()
        yield {"title": f"Book {at}", "pages": 100 * at}

def slow(root, args, context):
    return "all of it"

query = {"title": lambda *_: "A library", "books": books, "slow": slow}
library = gqlnb.Schema(SDL, {"Query": query})
"""
TEXT = "{ title books @stream(initialCount: 1) { title pages } ... @defer { slow } }"


def test_a_cell_shows_the_parts_as_they_arrive(show: Callable[..., Notebook], pipe: Pipe) -> None:
    """The answer so far, and then only the complete one."""
    notebook = show(f"PIPE = {str(pipe.path)!r}\n{SETUP}", f"%%graphql library\n{TEXT}", wait=False)
    outputs = notebook.cell(1).locator(".jp-OutputArea")
    expect(outputs).to_contain_text("Book 2")
    expect(outputs).to_contain_text("More parts follow")
    expect(outputs).not_to_contain_text("Book 3")
    for name in ("Dark", "Light"):
        theme(notebook.page, name)
        photograph(notebook.page, f"deferred-{name}")
    pipe.let_go()
    expect(outputs).to_contain_text("Book 3")
    notebook.wait_idle()
    expect(outputs).to_contain_text("all of it")
    expect(outputs).not_to_contain_text("received")
    assert outputs.inner_text().count("Book 0") == 1
    photograph(notebook.page, "deferred-end")


def test_the_explorer_shows_the_parts_as_they_arrive(
    show: Callable[..., Notebook], pipe: Pipe
) -> None:
    """Merged into one answer; of a schema of this process, as of an endpoint."""
    explorer = f"gqlnb.Explorer(library, query={TEXT!r})"
    notebook = show(f"PIPE = {str(pipe.path)!r}\n{SETUP}", explorer)
    view = notebook.cell(1).locator(".gqlnb-explorer")
    view.locator(".graphiql-execute-button").click()
    answer = view.locator(".result-window .view-lines")
    expect(answer).to_contain_text("Book 2")
    expect(answer).not_to_contain_text("Book 3")
    photograph(notebook.page, "deferred-explorer")
    pipe.let_go()
    expect(answer).to_contain_text("Book 3")
    expect(answer).to_contain_text("all of it")
    photograph(notebook.page, "deferred-explorer-end")

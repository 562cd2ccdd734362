"""The first thing a person does, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_a_graphql_cell_shows_its_result(show: Callable[..., Any]) -> None:
    """A `%%graphql` cell on a schema of the namespace shows the greeting."""
    cells = ["import gqlnb\nhere = gqlnb.reference_schema()", "%%graphql here\n{ hello }"]
    notebook = show("%load_ext gqlnb", *cells)
    expect(notebook.outputs(2)).to_contain_text("Hello world!")


def test_lab_opens_the_first_notebook_without_dialogs(lab: Any, page: Page) -> None:
    """There is no question about news or updates."""
    page.goto(f"{lab.url}/lab/tree/01_hello.ipynb?reset&token={lab.token}")
    expect(page.locator(".jp-NotebookPanel .jp-Cell").first).to_be_visible()
    page.evaluate("window.jupyterapp.restored")
    setting = "@jupyterlab/apputils-extension:notification"
    chosen = page.request.get(f"{lab.url}/lab/api/settings/{setting}?token={lab.token}").json()
    assert chosen["schema"]["properties"]["fetchNews"]["default"] == "false"
    expect(page.locator(".Toastify__toast")).to_have_count(0)

"""The slider of ``--interact`` in JupyterLab, with a mouse and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.conftest import Notebook

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext gqlnb\nimport gqlnb\n"
    'schema = gqlnb.Schema("type Query { add(a: Int!, b: Int = 0): Int }", '
    '{"Query": {"add": lambda root, args, context: args["a"] + args["b"]}})\na, b = 3, 0',
    "%%graphql schema --interact a --interact b\nquery ($a: Int!, $b: Int) { add(a: $a, b: $b) }",
)


def test_a_slider_runs_the_query_again(show: Callable[..., Notebook]) -> None:
    """Each move shows the result for the current values, in the same output."""
    notebook = show(*CELLS)
    outputs = notebook.outputs(1)
    expect(outputs.nth(1)).to_contain_text("add3")
    handles = notebook.cell(1).locator(".noUi-handle")
    handles.nth(0).press("ArrowRight")
    expect(outputs.nth(1)).to_contain_text("add4")
    handles.nth(1).press("ArrowRight")
    expect(outputs.nth(1)).to_contain_text("add5")
    handles.nth(0).press("ArrowRight")
    expect(outputs.nth(1)).to_contain_text("add6")
    expect(outputs).to_have_count(2)

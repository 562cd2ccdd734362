"""How a result looks in JupyterLab: to its author, and to a reader who does not trust it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from playwright.sync_api import expect

from gqlnb import Schema
from tests.browser.acting import photograph, theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

HOSTILE = [
    "<img src=x onerror=window.struck=1>",
    "<script>window.struck=1</script>",
    "$5 and $6, \\(x\\), $$\\href{javascript:window.struck=1}{y}$$",
    '" onmouseover="window.struck=1',
    "javascript:window.struck=1",
    "a\u202egpj.exe\x1b[31m",
    "https://example.com/a?b=1&c=2",
]
SDL = """
type Query { repos: [Repo] viewer: Viewer }
type Repo { name: String stars: Int }
type Viewer { name: String repos: [[Repo]] }
"""
STRUCK = "document.querySelectorAll('mjx-container').length || window.struck || 0"


def fail(*_: Any) -> None:
    """Fail with a message that would be markup."""
    message = "<b onclick=window.struck=1>broken</b> $1$"
    raise ValueError(message)


def results() -> list[Any]:
    """Return a table, a partial answer and a long nested one, all with hostile values."""
    rows = [{"name": name, "stars": 2**at} for at, name in enumerate(HOSTILE)]
    schema = Schema(SDL, {"Viewer": {"name": fail}})
    seen = [row for row in rows if "\x1b" not in row["name"]]  # the others keep a tree away
    nested = {"viewer": {"repos": [[row] * 20 for row in seen]}}
    return [
        schema.execute("{ repos { name stars } }", root={"repos": rows}),
        schema.execute("{ viewer { name } repos { name } }", root={"viewer": {}, "repos": rows}),
        schema.execute("{ viewer { repos { name stars } } }", root=nested),
    ]


def output(result: Any) -> Any:
    """Return a result as a notebook stores it."""
    data, metadata = result._repr_mimebundle_()
    return nbformat.v4.new_output("execute_result", data, metadata=metadata, execution_count=1)


@pytest.fixture
def saved(lab: Any, tmp_path: Path) -> Callable[[], str]:
    """Return a function that writes a notebook of results which nobody has signed."""

    def write() -> str:
        cells = [
            nbformat.v4.new_code_cell("result", outputs=[output(result)], execution_count=1)
            for result in results()
        ]
        name = f"{tmp_path.name}.ipynb"
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
        nbformat.write(notebook, lab.folder / name)
        return name

    return write


@pytest.mark.parametrize("trusted", [False, True], ids=["untrusted", "trusted"])
def test_hostile_values_are_text_in_every_view(
    open_notebook: Any, saved: Any, page: Page, trusted: bool
) -> None:
    """No script runs, no maths is typeset, and tables, bars, errors and trees are shown."""
    notebook = open_notebook(saved())
    if trusted:
        page.evaluate("() => { window.jupyterapp.commands.execute('notebook:trust') }")
        page.locator(".jp-Dialog .jp-mod-accept").click()
    table = notebook.outputs(0)
    for value in HOSTILE[:5]:
        expect(table).to_contain_text(value)
    expect(table).to_contain_text("a gpj.exe [31m")
    expect(table).to_contain_text("█" * 20)
    links = table.locator("a")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", HOSTILE[-1])
    bar = table.locator("td", has_text="█").first
    assert bar.evaluate("e => parseFloat(getComputedStyle(e).letterSpacing)") < 0  # no gaps
    assert table.locator("td").nth(1).evaluate("e => getComputedStyle(e).textAlign") == "right"
    expect(notebook.outputs(1)).to_contain_text("viewer.name: ValueError: <b onclick=window")
    tree = notebook.outputs(2)
    tree.get_by_text("viewer").click()
    expect(tree).to_contain_text("6 items")
    notebook.cell(0)
    for name in ("Light", "Dark"):
        theme(page, name)
        photograph(page, f"{'trusted' if trusted else 'untrusted'}-{name}")
    theme(page, "Light")
    assert page.evaluate(STRUCK) == 0

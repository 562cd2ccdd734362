"""A subscription in a real notebook: shown while it comes, stopped by the interrupt button."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.acting import photograph, save

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.conftest import Lab, Notebook, Pipe

pytestmark = pytest.mark.browser

BAD = "<img src=x onerror=window.struck=1>"
SETUP = f"""
import gqlnb, os
%load_ext gqlnb

def ticks(root, args, context):
    with open(PIPE) as pipe:
        for line in pipe:
            if line == "fail\\n":
                raise ValueError({BAD!r})
            yield {{"n": int(line), "said": {BAD!r}}}

schema = gqlnb.Schema(
    "type Query {{ hello: String }} type Subscription {{ tick: Tick }} "
    "type Tick {{ n: Int said: String }}",
    {{"Subscription": {{"tick": ticks}}}},
)
"""
INTERRUPT = "window.jupyterapp.commands.execute('notebook:interrupt-kernel')"


def saved(notebook: Notebook, lab: Lab, name: str) -> list[list[dict[str, Any]]]:
    """Save the notebook, and return the outputs of its cells."""
    save(notebook.page)
    cells = json.loads((lab.folder / name).read_text())["cells"]
    return [cell["outputs"] for cell in cells]


def test_a_cell_shows_rows_until_it_is_interrupted(
    open_notebook: Callable[[str], Notebook],
    write_notebook: Callable[[list[str]], str],
    pipe: Pipe,
    lab: Lab,
) -> None:
    """Rows appear while the cell runs; the value is saved after the interrupt."""
    cells = [
        f"PIPE = {str(pipe.path)!r}\n{SETUP}",
        "%%graphql schema\nsubscription { tick { n said } }",
        "_live.frame['tick.n'].sum()",
    ]
    name = write_notebook(cells)
    notebook = open_notebook(name)
    notebook.start_all()
    with pipe.path.open("w") as events:
        for number in range(3):
            events.write(f"{number}\n")
        events.flush()
        shown = notebook.cell(1)
        expect(shown).to_contain_text("Live, 3 rows so far. The interrupt button ends it.")
        expect(shown).to_contain_text(BAD)
        events.write("40\n")
        events.flush()
        expect(shown).to_contain_text("Live, 4 rows so far.")
        photograph(notebook.page, "live")
        notebook.page.evaluate(INTERRUPT)
        expect(shown).to_contain_text("Stopped after 4 rows.")
    notebook.wait_idle()
    photograph(notebook.page, "live-stopped")
    expect(notebook.cell(2)).to_contain_text("43")
    first, last = saved(notebook, lab, name)[1]
    assert ["".join(first["data"][kind]) for kind in ("text/plain", "text/html")] == ["", ""]
    assert last["output_type"] == "execute_result"
    assert "Stopped after 4 rows." in "".join(last["data"]["text/plain"])
    assert notebook.page.evaluate("window.struck") is None


def test_a_live_frame_grows_while_other_cells_run(
    open_notebook: Callable[[str], Notebook],
    write_notebook: Callable[[list[str]], str],
    pipe: Pipe,
    lab: Lab,
) -> None:
    """It is updated in place; after a failure its rows are saved as HTML."""
    cells = [
        f"PIPE = {str(pipe.path)!r}\n{SETUP}",
        "client = gqlnb.Client(schema)\n"
        "live = gqlnb.LiveFrame(client.subscribe('subscription { tick { n said } }'), rows=2)\n"
        "live",
        "live.wait(), live.frame['tick.n'].tolist()",
    ]
    name = write_notebook(cells)
    notebook = open_notebook(name)
    notebook.start_all()
    with pipe.path.open("w") as events:
        events.write("1\n2\n3\n")
        events.flush()
        shown = notebook.cell(1)
        expect(shown).to_contain_text("Live, 3 rows so far; the last 2 are kept, 1 was dropped.")
        events.write("fail\n")
    expect(shown).to_contain_text("Failed after 3 rows")
    expect(shown).to_contain_text(BAD)
    expect(notebook.cell(2)).to_contain_text("(True, [2, 3])")
    notebook.wait_idle()
    photograph(notebook.page, "live-failed")
    outputs = saved(notebook, lab, name)[1]
    assert [output["output_type"] for output in outputs] == ["display_data"]
    html = "".join(outputs[0]["data"]["text/html"])
    assert "Failed after 3 rows" in html
    assert BAD not in html
    assert len(json.dumps(outputs)) < 20_000
    assert notebook.page.evaluate("window.struck") is None

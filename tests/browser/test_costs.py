"""What widgets cost: seconds until rows are shown, and the memory of a page with fifty of them."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Error, expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.browser.conftest import Notebook

pytestmark = pytest.mark.browser

WIDGETS = {  # and what shows that a view has its data
    "gqlnb.StarSearch('>100000', limit=100)": ".gqlnb-row",
    "gqlnb.ResultView(frame)": ".gqlnb-row",
    "gqlnb.SchemaView('demo', 'Repository')": ".gqlnb-schema",
    "gqlnb.ResultView(result)": ".gqlnb-row",
    "gqlnb.Explorer('demo', query='{ viewer { login } }')": ".graphiql-query-editor .view-line",
}
SETUP = """import gqlnb, numpy as np, pandas as pd
frame = pd.DataFrame(np.random.default_rng(0).random((100_000, 20)))
query = '{ search(query: "stars:>1000", type: REPOSITORY, first: 100) {'
query += ' nodes { ... on Repository { name stargazerCount } } } }'
result = gqlnb.Client('demo').execute(query)
"""
CELLS = 50
LIMIT = 100  # MB
MEASURES = 15  # at most, a second apart
COLLECT = "HeapProfiler.collectGarbage"
ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False}


def read_parent(process: Path) -> int:
    """Return the id of the parent of a process."""
    return int((process / "stat").read_text().rpartition(")")[2].split()[1])


def list_renderers() -> list[Path]:
    """Return the processes that draw pages for this one."""
    parents = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(process.name)] = read_parent(process)
        except OSError:  # it ended meanwhile
            continue
    own = {os.getpid()}
    while more := {number for number, parent in parents.items() if parent in own} - own:
        own |= more
    processes = [Path("/proc", str(number)) for number in own]
    return [it for it in processes if b"--type=renderer" in (it / "cmdline").read_bytes()]


def measure_memory(page: Page) -> float:
    """Return the memory of the pages in MB, without what is garbage and what is shared."""
    session = page.context.new_cdp_session(page)
    waiting: set[str] = set()  # workers whose garbage is being collected; some end meanwhile
    session.on("Target.attachedToTarget", lambda event: waiting.add(event["sessionId"]))
    for name in ("Target.receivedMessageFromTarget", "Target.detachedFromTarget"):
        session.on(name, lambda event: waiting.discard(event["sessionId"]))
    session.send("Target.setAutoAttach", ATTACH)
    for _ in range(3):
        session.send(COLLECT)
    for worker in [*waiting]:
        with suppress(Error):
            message = json.dumps({"id": 1, "method": COLLECT})
            session.send("Target.sendMessageToTarget", {"sessionId": worker, "message": message})
    while waiting:
        page.evaluate("0")  # the answers arrive meanwhile
    session.detach()
    sizes = []
    for process in list_renderers():
        lines = (process / "smaps_rollup").read_text().splitlines()
        sizes += [int(line.split()[1]) for line in lines if line.startswith("Private_")]
    return sum(sizes) / 1000


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="No /proc of Linux")
def test_fifty_widgets_need_little_memory(
    open_notebook: Callable[[str], Notebook],
    write_notebook: Callable[[list[str]], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each of them is scrolled into view and shows its data."""
    widgets = [*WIDGETS.items()] * (CELLS // len(WIDGETS))
    cells = [cell for cell, _ in widgets]
    notebook = open_notebook(write_notebook([SETUP, *cells]))
    page = notebook.page
    before = measure_memory(page)
    notebook.run_all()
    for at, (_, shown) in enumerate(widgets, 1):
        expect(notebook.cell(at).locator(shown).first).to_be_visible()
    sizes = [measure_memory(page) - before]
    # The browser gives back what was freed only after some seconds.
    while sizes[-1] >= LIMIT and len(sizes) < MEASURES:
        page.wait_for_timeout(1000)
        sizes.append(measure_memory(page) - before)
    shown = ", ".join(f"{size:.0f}" for size in sizes)
    with capsys.disabled():
        print(f" {CELLS} widgets: {shown} MB on top of {before:.0f}")  # noqa: T201
    assert sizes[-1] < LIMIT

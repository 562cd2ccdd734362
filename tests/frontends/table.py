"""Run the tests of front ends, and write docs/reference/front-ends.md.

Usage: ``GQLNB_FRONTENDS=FOLDER GQLNB_SERVERS=FOLDER python -m tests.frontends.table``, with the
folders of both ``install.py``; with ``--check`` it runs nothing, and compares the page with the
tests.

A row is a test with the mark ``front_end``: the package whose version is pinned in ``install.py``,
or a name, and what the test checks. The page is written only if all of them pass.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.frontends.install import BOOK, NPM_ARCHIVES, NPM_VERSIONS, VERSIONS
from tests.servers.install import HUB_PACKAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Collector", "build_page"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "front-ends.md"
PINS = VERSIONS | BOOK | NPM_VERSIONS | NPM_ARCHIVES | dict([HUB_PACKAGE.split("==")])
COLUMNS = {
    "cells": "Cells, tables",
    "completion": "Completion",
    "colours": "Colours",
    "widgets": "Widgets",
    "explorer": "Explorer",
    "saved": "Saved page",
}
HEAD = """# Front ends

Each row is a test, named in the last column. It starts the front end and runs a notebook in it: a
query, a star search that is clicked, the documentation of a schema, and GraphiQL. *As saved*: the
notebook was run by another program, and the front end shows its outputs.
`python -m tests.frontends.table` runs the tests and writes this page, if none of them fails. Empty
fields were not looked at.

"""
TAIL = """
JupyterLab 4.6 has tests of its own in `tests/browser`: cells, completion, documentation, colours,
widgets, the Explorer and saved notebooks.
"""
NOT_RUN = {
    "Cells in the editor of VS Code": "its Jupyter extension comes from a marketplace on the "
    "internet; the rows above test the editor, and the widget manager of the extension",
    "Colab itself": "a service on the internet; its frames are simulated, and so is the call that "
    "names its widget manager (`tests/notebook/widgets/test_base.py`)",
    "Binder, Codespaces": "services on the internet; tests check their files",
    "Jupyter Book 2 (MyST)": "it downloads its theme from a site of its own when it builds a page",
    "Quarto": "its package on PyPI downloads the program from GitHub",
    "JupyterLite with pandas": "numpy, pandas and pyarrow for it come from a site of Pyodide, not "
    "from PyPI or npm; it is tested without them",
    "Safari, Edge": "neither is in Debian; their engines are tested, in WebKitGTK and Chromium",
}


class Collector:
    """A plugin of pytest that remembers the tests with the mark."""

    def __init__(self) -> None:
        self.rows: dict[str, list[str]] = {}

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Make a row of each marked test; one of several parameters counts once."""
        for item in items:
            mark = item.get_closest_marker("front_end")
            if mark is None:
                continue
            package, *title = mark.args
            version = f" {PINS[package]}" if package in PINS else ""
            name = title[0] if title else package
            test = item.nodeid.partition("[")[0]
            cells = [mark.kwargs.get(column, "") for column in COLUMNS]
            self.rows[f"{name}{version}"] = [*cells, f"`{test}`"]
            assert not set(mark.kwargs) - set(COLUMNS), test


def build_page(rows: dict[str, list[str]]) -> str:
    """Return the page of the rows, in Markdown."""
    heads = ["", *COLUMNS.values(), "Test"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    lines += [f"| {' | '.join([name, *rows[name]])} |" for name in sorted(rows, key=str.lower)]
    left_out = [f"| {name} | {reason} |" for name, reason in NOT_RUN.items()]
    lines += [TAIL, "## Not run\n", "| | Reason |", "|---|---|", *left_out, ""]
    return HEAD + "\n".join(lines)


def main(*, check: bool) -> int | str:
    """Run the tests in this process and write the page, or compare it; return the exit code."""
    os.environ["GQLNB_REQUIRE"] = "" if check else "all"  # a skipped test fails
    collector = Collector()
    options = ["-n0", "-q", "-m", "front_end", "-p", "no:cacheprovider", *["--co"] * check]
    code = int(pytest.main([*options, str(ROOT / "tests" / "frontends")], plugins=[collector]))
    page = build_page(collector.rows)
    if check and PAGE.read_text("utf-8") != page:
        return f"{PAGE} differs from the tests. Run: python -m tests.frontends.table"
    if code == 0 and not check:
        PAGE.write_text(page, "utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))

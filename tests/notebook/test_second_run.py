"""A second run of a notebook changes nothing in git but real changes of output, and succeeds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
NOTEBOOKS = [*sorted(ROOT.glob("docs/reference/*.ipynb")), *sorted(ROOT.glob("notebooks/*.ipynb"))]
MEASURED = re.compile(r"\d[\d,.]*|[█▏▎▍▌▋▊▉]+|\s+")  # durations, rates, and their bars


def blur(cell: nbformat.NotebookNode) -> str:
    """Return the outputs of a cell as text, without numbers if they are measured."""
    text = json.dumps(cell.outputs, sort_keys=True, ensure_ascii=False)
    tags = cell.metadata.get("tags", ())
    is_measured = "nbval-ignore-output" in tags or "NBVAL_IGNORE_OUTPUT" in cell.source
    return MEASURED.sub("", text) if is_measured else text


def execute(notebook: nbformat.NotebookNode, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a notebook in a new kernel; raise the first error of a cell that should not fail."""
    for name in ("PYTEST_VERSION", "PYTEST_CURRENT_TEST"):  # the kernel is to know of no test
        monkeypatch.delenv(name, raising=False)
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        coalesce_streams=True,  # a kernel of a busy machine sends one print in several parts
        resources={"metadata": {"path": path.parent}},
    ).execute()


@pytest.mark.parametrize("path", NOTEBOOKS[:-1], ids=lambda path: path.stem)  # the last: charts
def test_a_second_run_saves_the_same_outputs(path, monkeypatch):
    """All of them, also those that nbval leaves out; and no state of widgets."""
    saved, run = nbformat.read(path, 4), nbformat.read(path, 4)
    execute(run, path, monkeypatch)
    assert "widgets" not in run.metadata
    saved_outputs, new_outputs = (
        [(cell.source, blur(cell)) for cell in notebook.cells if cell.cell_type == "code"]
        for notebook in (saved, run)
    )
    assert new_outputs == saved_outputs
    assert "widget-view" not in nbformat.writes(run)


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_all_cells_run_twice_in_one_kernel(path, monkeypatch):
    """Names that the first run leaves behind break nothing."""
    notebook = nbformat.read(path, 4)
    notebook.cells += [nbformat.from_dict(cell | {"id": f"{cell.id}2"}) for cell in notebook.cells]
    execute(notebook, path, monkeypatch)

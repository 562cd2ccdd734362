"""Widgets in notebooks that a program runs, and in those that a person has open."""

from __future__ import annotations

import pytest

from tests.notebook.kernel import run_kernel

VIEW = "application/vnd.jupyter.widget-view+json"
CREATE = "import gqlnb, os\nview = gqlnb.SchemaView(gqlnb.reference_schema())"


@pytest.fixture(scope="module")
def kernel():
    """Yield a kernel."""
    with run_kernel() as kernel:
        yield kernel


def run(kernel, code, *, attended):
    """Run a cell; return the types of its messages, and its result."""
    kinds, found = [], {}
    for kind, content in kernel.start(code, attended=attended):
        assert kind != "error", content["evalue"]
        if kind == "execute_result":
            found = content["data"]
        kinds.append(kind)
    return kinds, found


def test_a_program_that_runs_notebooks_gets_no_view_and_no_comm(kernel):
    """It would save their random identifiers; a person who displays the widget later gets both."""
    kinds, data = run(kernel, f"{CREATE}\nview", attended=False)
    assert "comm_open" not in kinds
    assert sorted(data) == ["application/vnd.gqlnb.widget+json", "text/html", "text/plain"]
    kinds, later = run(kernel, "view", attended=True)
    assert kinds.count("comm_open") == 2  # of the widget and its layout
    assert later.pop(VIEW)["model_id"]
    assert later == data


def test_a_widget_inside_another_one_has_a_comm(kernel):
    """The outer one refers to it."""
    cell = f"{CREATE}\nimport ipywidgets\nipywidgets.VBox([view]);view.comm is not None"
    assert run(kernel, cell, attended=False)[1]["text/plain"] == "True"


@pytest.mark.parametrize(
    ("name", "value"), [("SERVER_SOFTWARE", "voila/0.5.8"), ("DATABRICKS_RUNTIME_VERSION", "16")]
)
def test_voila_and_databricks_get_the_view(kernel, name, value):
    """They allow no input, but show widgets."""
    cell = f"{CREATE}\nos.environ[{name!r}] = {value!r}\nview"
    try:
        assert VIEW in run(kernel, cell, attended=False)[1]
    finally:
        run(kernel, f"del os.environ[{name!r}]", attended=False)


def test_controls_of_variables_leave_no_state(kernel):
    """The values are in the output, and the answer below."""
    mock = "here = gqlnb.Schema.mock('type Query { f(n: Int): Int }')"
    run(kernel, f"%load_ext gqlnb\n{mock}", attended=False)
    cell = "%%graphql here --interact n\nquery ($n: Int = 3) { f(n: $n) }"
    shown = []
    for kind, content in kernel.start(cell):
        assert not kind.startswith("comm")
        shown.append(content.get("data", {}))
    (controls,) = [data for data in shown if "application/vnd.gqlnb.widget+json" in data]
    assert controls["text/plain"] == "$n = 3"
    assert VIEW not in controls


@pytest.mark.parametrize("attended", [True, False])
def test_a_bar_leaves_nothing(kernel, attended):
    """Neither a widget nor text; a program that runs notebooks gets no bar."""
    cell = """import os
os.environ.pop("PYTEST_VERSION", None), os.environ.pop("PYTEST_CURRENT_TEST", None)
from gqlnb.client.progress import Progress
with Progress(clock=iter(range(0, 90, 10)).__next__) as progress:
    progress(50, 100, 3)"""
    bars = []
    for kind, content in kernel.start(cell, attended=attended):
        assert not kind.startswith(("comm", "stream"))
        if "data" in content:
            bars.append(content["data"]["text/plain"])
    if attended:
        assert any(bar.startswith("Pages:  50%|") for bar in bars)
        assert bars[-1] == ""
    else:
        assert bars == []

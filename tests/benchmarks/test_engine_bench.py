"""What a benchmark does not measure, and its figures, by those of the engine."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from graphql import build_schema

from tests.benchmarks import engine, measure
from tests.benchmarks.engine import WORKLOADS
from tests.benchmarks.measure import EXECUTE, OURS, RESULT, Goal, UnequalError


@pytest.mark.parametrize("name", ["list-dict", "memory"])
def test_unequal_responses_are_not_measured(name):
    """A different response on any side is an error."""
    workload = next(w for w in WORKLOADS if w.name == name)
    wrong = replace(workload, sides=lambda size: workload.sides(size) | {"wrong": dict})
    with pytest.raises(UnequalError, match=f"{name}: wrong answers {{}}"):
        measure.measured(wrong, 2, rounds=1)


def test_responses_with_errors_are_not_measured():
    """Also if both sides have the same errors."""
    schema = build_schema(engine.SDL)
    failing = replace(WORKLOADS[0], sides=lambda size: engine.both(schema, engine.ROWS))
    with pytest.raises(UnequalError, match="Cannot return null"):
        measure.measured(failing, 2, rounds=1)


def test_ratios_of_medians_have_the_direction_of_the_goal():
    """For speed-ups their time over ours, for limits ours over theirs."""
    goals = (Goal(EXECUTE, 4), Goal(RESULT, 1.5, most=True))
    workload = replace(WORKLOADS[0], goals=goals)
    costs = {OURS: [2.0, 1.0, 9.0], EXECUTE: [8.0, 6.0, 7.0], RESULT: [1.0, 1.0, 2.0]}
    faster, limit = measure.figures(workload, costs)
    assert (faster["ratio"], faster["lowest"], faster["highest"]) == (3.5, 7 / 9, 6)
    assert (limit["ratio"], limit["lowest"], limit["highest"]) == (2, 1, 4.5)
    assert not faster["met"]
    assert not limit["met"]


def test_the_script_measures_in_a_fresh_process_and_writes_json(root, tmp_path):
    """The output has a line for each workload and the mean; the JSON has the same figures."""
    script = root / "tests" / "benchmarks" / "engine.py"
    file = tmp_path / "figures.json"
    command = [sys.executable, script, "hello-text", "--rounds", "1", "--json", file]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    made = json.loads(file.read_text())
    assert "hello-text" in done.stdout
    assert f"{made['geometric mean']:.1f} times as fast as graphql-core" in done.stdout
    assert list(made["workloads"]) == ["hello-text"]
    assert {len(costs) for costs in made["workloads"]["hello-text"]["costs"].values()} == {1}


def test_an_unknown_workload_is_an_error(capsys):
    """The error lists the workloads."""
    with pytest.raises(SystemExit):
        measure.main("engine.py", WORKLOADS, ["nonsense"])
    assert "There is no workload 'nonsense'. There are: list-dict" in capsys.readouterr().err

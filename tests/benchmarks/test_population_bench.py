"""The benchmark of the population, at a small size: right answers, and a figure for everything."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gqlnb import github
from tests.benchmarks import population
from tests.benchmarks.population import FIGURES, Figure, WrongAnswerError, line


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_every_figure_is_measured_on_correct_results(figure):
    """Each is positive."""
    costs = figure.measure(200_000 if figure.name == "memory" else 5_000, 2)
    assert costs
    assert all(cost >= 0 for cost in costs)
    if figure.name == "memory":
        assert max(costs) <= 100


def test_an_incorrect_result_is_not_measured():
    """If it differs from a plain filter and sort."""
    made = github.population(3_000, 1)
    found = next(population.asking(github.service(population=made), ""))()
    population.checked(made.frame(), found, "")
    with pytest.raises(WrongAnswerError, match="language:go"):
        population.checked(made.frame(), found, "language:go")


def test_the_report_compares_figures_with_their_goals():
    """A figure without a goal has no verdict."""
    made = Figure("x", lambda size, rounds: [], "ms", 5)
    assert "2.00" in line(made, [1, 2, 9])
    assert "reached" in line(made, [1, 2, 9])
    assert "MISSED" in line(made, [6])
    assert "<=" not in line(Figure("x", made.measure, "ms"), [6])


def test_the_script_measures_in_fresh_processes_and_writes_json(root, tmp_path):
    """The command line prints each figure and writes the same as JSON."""
    script, file = root / "tests" / "benchmarks" / "population.py", tmp_path / "figures.json"
    command = [sys.executable, script, "memory", "build", "--size", "2000", "--json", file]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=120)
    made = json.loads(file.read_text())
    assert list(made["figures"]) == ["memory", "build"]
    assert "bytes a row" in done.stdout


def test_an_unknown_figure_is_an_error(capsys):
    """The error lists the figures."""
    with pytest.raises(SystemExit):
        population.main(["nonsense"])
    assert "There is no figure 'nonsense'. There are: build" in capsys.readouterr().err

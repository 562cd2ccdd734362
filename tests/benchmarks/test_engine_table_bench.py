"""The table of row types and kinds of fields: equal answers, and the same cells in notebook 13."""

from __future__ import annotations

import json

import pytest

from tests.benchmarks import engine_table
from tests.benchmarks.engine_table import FIELDS, MAKERS, MARK, NOTEBOOK


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("maker", MAKERS)
def test_answers_are_equal(maker: str, field: str) -> None:
    """The engine, graphql-core and the loop by hand answer alike in each cell."""
    core, hand = engine_table.measure_cell(maker, field, size=3, rounds=1).split(" · ")
    assert float(core) >= 1
    assert float(hand) < 100


def test_notebook_has_the_table() -> None:
    """With a line for each row type and a column for each kind of field."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    (text,) = [found for cell in cells if MARK in (found := "".join(cell["source"]))]
    head, _, *lines = [line for line in text.splitlines() if line.startswith("|")]
    assert head == f"| rows | {' | '.join(FIELDS)} |"
    assert [line.split("|")[1].strip().replace("`", "") for line in lines] == list(MAKERS)

"""The table of row types and kinds of fields: equal answers, and the same cells in notebook 13."""

from __future__ import annotations

import json

import pytest

from tests.benchmarks import engine_table
from tests.benchmarks.engine_table import FIELDS, MAKERS, MARK, NOTEBOOK


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("maker", MAKERS)
def test_answers_are_equal(maker, field):
    """The engine, graphql-core and the loop by hand answer alike in each cell."""
    core, hand = engine_table.measure_cell(maker, field, size=3, rounds=1).split(" · ")
    assert float(core) >= 1
    assert float(hand) < 100


def test_notebook_has_the_table():
    """With a row for each row type and a column for each kind of field, as it is written."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    (text,) = [found for cell in notebook if MARK in (found := "".join(cell["source"]))]
    cells = {}
    for part in text.partition(MARK)[2].split("\n\n")[:2]:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()]
        for maker, *values in rows[2:]:
            for field, value in zip(rows[0][1:], values, strict=True):
                cells[maker.replace("`", ""), field] = value.replace("&nbsp;", " ")
    assert engine_table.format_table(cells) in text
    assert all(" · " in cell for cell in cells.values())

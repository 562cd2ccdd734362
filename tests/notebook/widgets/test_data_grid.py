"""The data of a grid: windows, orders, filters and copies of any columns."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gqlnb import QueryError
from gqlnb.notebook.widgets import data_grid as module
from gqlnb.notebook.widgets.data_grid import GridSource

ALL = {"ask": "rows", "start": 0, "end": 200, "from": 0, "to": 50}
TOPICS = [["graphql", "py"], None, [], ["x"]]


@pytest.fixture
def source() -> GridSource:
    """Return four rows with a column of each usual kind."""
    frame = pd.DataFrame(
        {
            "name": ["b", "<b>", "Ä", None],
            "stars": pd.array([1_000, None, 5, 20_000], "Int64"),
            "score": [1.5, np.nan, -0.25, 10.0],
            "when": pd.to_datetime(
                ["2024-03-01", "2024-03-31T23:59", None, "2025-01-01"], utc=True, format="ISO8601"
            ),
            "topics": TOPICS,
            "language": pd.Categorical(
                ["py", "js", None, "py"], categories=["py", "js"], ordered=True
            ),
        }
    )
    return GridSource(frame)


def rows(source: GridSource, **query: Any) -> list[str]:
    """Return the labels of the rows that a query shows, in their order."""
    answer = source.answer({**ALL, "query": query})
    assert answer["rows"] == len(answer["cells"][0])
    return answer["cells"][0]


def test_a_window_holds_the_rows_and_columns_that_were_asked_for(source: GridSource) -> None:
    """Cells are texts by column, None if missing, with formatted numbers."""
    answer = source.answer({**ALL, "start": 1, "end": 3, "from": 1, "to": 4})
    cells = [["<b>", "Ä"], [None, "5"], [None, "-0.25"]]
    assert answer == {"rows": 4, "start": 1, "from": 1, "cells": cells}


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        ([[2, False]], ["2", "0", "3", "1"]),
        ([[2, True]], ["3", "0", "2", "1"]),
        ([[1, False]], ["1", "0", "2", "3"]),
        ([[3, True]], ["3", "0", "2", "1"]),
        ([[4, True]], ["3", "1", "0", "2"]),
        ([[6, False], [2, True]], ["3", "0", "1", "2"]),  # an order of its own: py before js
        ([[6, True]], ["1", "0", "3", "2"]),  # equal ones stay as they were
        ([[5, False]], ["0", "3", "2", "1"]),  # lists as they are written
        ([], ["0", "1", "2", "3"]),
    ],
)
def test_rows_are_sorted_and_what_is_missing_is_last(
    source: GridSource, sort: list[Any], wanted: list[str]
) -> None:
    """By type, not by text; the first column decides, equal rows keep their order."""
    assert rows(source, sort=sort) == wanted


@pytest.mark.parametrize(
    ("column", "text", "wanted"),
    [
        (2, ">5", ["0", "3"]),
        (2, ">=5 <20,000", ["0", "2"]),
        (2, "5..1000", ["0", "2"]),
        (2, "..1000", ["0", "2"]),
        (2, "1_000", ["0"]),
        (2, "!=5", ["0", "3"]),
        (2, "=", ["1"]),
        (2, "!=", ["0", "2", "3"]),
        (3, "<-.2", ["2"]),
        (3, "!=1.5", ["2", "3"]),
        (4, "2024-03", ["0", "1"]),
        (4, ">2024-03", ["3"]),
        (4, "!=2024", ["3"]),
        (4, "2024-03-31..", ["1", "3"]),
        (4, "23:59:00.0", ["1"]),
        (4, "2024-03-31 23:59", ["1"]),
        (4, "2024-03..2024-12", ["0", "1"]),
        (4, "=2025", ["3"]),
        (4, "<=2024-03-31", ["0", "1"]),
        (1, "B", ["0", "1"]),
        (1, "=b", ["0"]),
        (1, "!b", ["2", "3"]),
        (1, "ä", ["2"]),
        (5, '"py"', ["0"]),
        (6, "j", ["1"]),
        (0, "2..3", ["2", "3"]),
    ],
)
def test_a_filter_goes_by_the_type_of_its_column(
    source: GridSource, column: int, text: str, wanted: list[str]
) -> None:
    """Numbers and dates are compared, text contains."""
    assert rows(source, filters={str(column): text}) == wanted


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("PY", ["0", "3"]), ("20,000", ["3"]), ("graphql", ["0"]), ("<b", ["1"]), ("nothing", [])],
)
def test_words_are_looked_for_in_all_columns(
    source: GridSource, words: str, wanted: list[str]
) -> None:
    """Values of any type are searched in the form that is shown."""
    assert rows(source, find=words) == wanted


def test_filters_words_and_sorting_work_together(source: GridSource) -> None:
    """Filters, search and sorting are combined."""
    query = {"find": "2", "filters": {"2": ">5"}, "sort": [[2, True]]}
    assert rows(source, **query) == ["3", "0"]


@pytest.mark.parametrize("text", ["many", ">", "1 2x", "1..x", "=1=", "1e"])
def test_a_number_that_is_none_is_said(source: GridSource, text: str) -> None:
    """The error lists the valid forms."""
    with pytest.raises(QueryError, match=r"of column 'stars' is not a number\. Write N, >N"):
        rows(source, filters={"2": text})


@pytest.mark.parametrize("text", [">2024-99", "2024-02..9999-99", ">5", "..", "=x"])
def test_a_date_that_is_none_is_said(source: GridSource, text: str) -> None:
    """The error lists the valid forms."""
    with pytest.raises(QueryError, match="in the filter of column 'when' is not a date"):
        rows(source, filters={"4": text})


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"ask": "rows"},
        {"ask": "about", "query": {"sort": [[99, True]]}},
        {"ask": "about", "query": {"sort": 5}},
        {"ask": "about", "query": {"filters": {"x": "1"}}},
        {"ask": "about", "query": ["x"]},
        {"ask": "cell", "row": "0", "column": 0},
    ],
)
def test_other_messages_are_refused(source: GridSource, message: dict[str, Any]) -> None:
    """Unknown messages raise an error with a sentence."""
    with pytest.raises(QueryError, match="Run the cell again"):
        source.answer(message)


ODD = {
    "huge": [10**30, -(10**5000), None],
    "decimal": [Decimal("1.50"), Decimal("NaN"), Decimal("-2")],
    "mixed": [1, "x", None],
    "bytes": [b"x", b"y", None],
    "dict": [{"a": [1, {"b": None}]}, {}, None],
    "span": pd.to_timedelta([1, 2, None], unit="h"),
    "complex": [1 + 2j, 3j, None],
    "unsigned": np.array([2**64 - 1, 0, 1], "uint64"),
    "date": [dt.date(2020, 1, 1), None, dt.date(1, 1, 1)],
    "time": [dt.time(1, 2), None, dt.time(0)],
    "infinite": [np.inf, -np.inf, 1e300],
    "period": pd.period_range("2020-01", periods=3, freq="M"),
    "interval": pd.interval_range(0, 3),
    "control": ["\x1b[31m\u202egnp", "a\tb\nc", "\x00"],
    "object": [object(), None, None],
    "nothing": [None, None, None],
}


@pytest.mark.parametrize("name", ODD)
def test_every_kind_of_column_shows_sorts_and_filters(name: str) -> None:
    """Values show on one line without addresses; missing ones are None."""
    source = GridSource(pd.DataFrame({name: pd.Series(ODD[name])}))
    shown = source.answer(ALL)["cells"][1]
    values = pd.Series(ODD[name]).astype(object)
    assert [text is None for text in shown] == values.isna().tolist()
    assert all(text.isprintable() and " at 0x" not in text for text in shown if text)
    for down in (False, True):
        assert sorted(rows(source, sort=[[1, down]])) == ["0", "1", "2"]
    assert set(rows(source, find="1")) <= {"0", "1", "2"}
    gone = [str(at) for at, text in enumerate(shown) if text is None]
    assert rows(source, filters={"1": "="}) == gone
    assert source.answer({"ask": "copy", "rows": [0, 3], "columns": [0, 2]})["text"]
    for row in range(3):
        text = source.answer({"ask": "cell", "row": row, "column": 1})["text"]
        assert (text is None) == (shown[row] is None)


def test_numbers_beyond_64_bits_are_exact_and_in_order() -> None:
    """As numbers, not as texts or floats."""
    source = GridSource(pd.DataFrame({"n": [2**70, 5, None, 2**70 + 1, -(2**70)]}, dtype=object))
    assert rows(source, sort=[[1, False]]) == ["4", "1", "0", "3", "2"]
    assert rows(source, filters={"1": f">{2**70}"}) == ["3"]
    assert source.answer(ALL)["cells"][1][3] == f"{2**70 + 1:,}"


def test_names_may_be_anything() -> None:
    """Twice the same, numbers, tuples, none; levels of the index stand before them."""
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=["x", "x", 3, ("a", None)])
    frame.index = pd.MultiIndex.from_tuples([("k", 7)], names=["key", None])
    about = GridSource(frame).answer({"ask": "about"})
    assert [column["name"] for column in about["columns"]] == ["key", "", "x", "x", "3", "a / None"]
    assert [column["index"] for column in about["columns"]] == [True] * 2 + [False] * 4
    assert GridSource(frame).answer(ALL)["cells"] == [["k"], ["7"], ["1"], ["2"], ["3"], ["4"]]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame({"a": []}),
        pd.DataFrame(index=[1, 2]),
        pa.table({}),
        pa.table({"a": pa.array([], pa.list_(pa.int8()))}),
    ],
)
def test_an_empty_frame_is_a_grid_too(frame: pd.DataFrame | pa.Table) -> None:
    """Every message gets an answer."""
    source = GridSource(frame)
    about = source.answer({"ask": "about"})
    assert about["rows"] == len(frame)
    assert len(about["columns"]) == 1 + frame.shape[1]
    query = {"sort": [[0, True]], "find": "x"}
    assert source.answer({**ALL, "query": query})["rows"] == 0
    assert source.answer({"ask": "cell", "row": 0, "column": 0, "query": query}) == {"text": None}


def test_an_arrow_table_is_a_grid_without_becoming_a_frame() -> None:
    """Its types are those it has, names may repeat."""
    arrays = [pa.array([2, None]), pa.array([{"a": 1}, None]), pa.array(["x", "y"])]
    table = pa.Table.from_arrays([*arrays, arrays[2].dictionary_encode()], ["n", "s", "n", "d"])
    source = GridSource(table)
    about = source.answer({"ask": "about"})["columns"]
    assert [it["dtype"] for it in about][1:] == ["int64", "struct<a: int64>", "string", "category"]
    assert source.answer(ALL)["cells"][1:] == [
        *(["2", None], ['{"a": 1}', None], ["x", "y"], ["x", "y"]),
    ]
    assert rows(source, sort=[[4, True]], filters={"3": "x"}) == ["0"]


def test_numbers_below_each_other_have_as_many_decimals() -> None:
    """Very small numbers are exempt; ids and years have no separators."""
    frame = pd.DataFrame({"x": [1.25, 1e-9, 3.0, 1e20], "year": [2024, 1, 2, 3]})
    cells = GridSource(frame).answer(ALL)["cells"]
    assert cells[1:] == [["1.25", "1e-09", "3.00", "1e+20"], ["2024", "1", "2", "3"]]


def test_a_long_cell_is_cut_and_its_whole_is_told() -> None:
    """The full value is indented, and cut at a limit."""
    long = "line\n" * 100
    source = GridSource(pd.DataFrame({"a": [long, {"k": [1]}, "x" * 30_000]}))
    shown = source.answer(ALL)["cells"][1]
    assert len(shown[0]) == 200
    assert shown[0].endswith("…")

    def whole(row: int) -> str:
        text: str = source.answer({"ask": "cell", "row": row, "column": 1})["text"]
        return text

    assert whole(0) == long
    assert whole(1) == '{\n  "k": [\n    1\n  ]\n}'
    assert whole(2).endswith("x … (30,000 characters)")


def test_a_copy_is_what_other_programs_paste() -> None:
    """Tab-separated, digits without commas, names where every row is copied."""
    frame = pd.DataFrame({"n": [1000, 2], "text": ['a\t"b"', "c"], "list": [[1, "é"], None]})
    source = GridSource(frame)
    whole = source.answer({"ask": "copy", "rows": [0, 2], "columns": [1, 4]})["text"]
    assert whole == 'n\ttext\tlist\n1000\t"a\t""b"""\t"[1, ""é""]"\n2\tc\t'
    part = {"ask": "copy", "rows": [0, 1], "columns": [1, 2], "query": {"sort": [[1, False]]}}
    assert source.answer(part)["text"] == "2"


def test_too_much_to_copy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error suggests a file."""
    monkeypatch.setattr(module, "COPIED", 5)
    source = GridSource(pd.DataFrame({"a": range(3)}))
    with pytest.raises(QueryError, match=r"6 cells are too many to copy; 5 .*to_csv"):
        source.answer({"ask": "copy", "rows": [0, 9], "columns": [0, 9]})


def test_threads_share_one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many that ask for the same at once wait for the one that works it out."""
    made = []
    order_of = module.compute_order
    monkeypatch.setattr(module, "compute_order", lambda *args: made.append(args) or order_of(*args))
    n = 20_000
    source = GridSource(pd.DataFrame({"a": np.arange(n)[::-1], "b": np.arange(n) % 7}))
    queries = [{"sort": [[1 + at % 2, at % 4 > 1]]} for at in range(24)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda query: source.answer({**ALL, "query": query}), queries))
    assert len(made) == 4
    alone = GridSource(pd.DataFrame({"a": np.arange(n)[::-1], "b": np.arange(n) % 7}))
    assert answers == [alone.answer({**ALL, "query": query}) for query in queries]


def test_only_a_few_orders_are_kept(source: GridSource) -> None:
    """Each key press of a search creates a query."""
    for at in range(50):
        rows(source, find=str(at))
    assert len(source._orders) == module.ORDERS
    assert source._order_locks == {}

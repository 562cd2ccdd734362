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
from gqlnb.notebook.widgets.data_grid import GridQuery, GridSource, read_query
from gqlnb.result.renderer import build_grid

ALL = {"ask": "rows", "start": 0, "end": 200, "from": 0, "to": 50}
TOPICS = [["graphql", "py"], None, [], ["x"]]


@pytest.fixture
def source():
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


def test_a_window_has_the_requested_rows_and_columns(source):
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
def test_rows_are_sorted_with_missing_values_last(source, sort, wanted):
    """By type, not by text; the first column has priority, equal rows keep their order."""
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
def test_a_filter_depends_on_the_column_type(source, column, text, wanted):
    """Numbers and dates are compared; text is searched."""
    assert rows(source, filters={str(column): text}) == wanted


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("PY", ["0", "3"]), ("20,000", ["3"]), ("graphql", ["0"]), ("<b", ["1"]), ("nothing", [])],
)
def test_search_covers_all_columns(source, words, wanted):
    """Values of any type are searched in their displayed form."""
    assert rows(source, find=words) == wanted


def test_filters_search_and_sorting_are_combined(source):
    """Each row that passes all of them, in order."""
    query = {"find": "2", "filters": {"2": ">5"}, "sort": [[2, True]]}
    assert rows(source, **query) == ["3", "0"]


@pytest.mark.parametrize(
    ("column", "words", "texts"),
    [
        ("2", "'stars' is not a number\\. Write N, >N", ["many", ">", "1 2x", "1..x", "=1=", "1e"]),
        ("4", "'when' is not a date", [">2024-99", "2024-02..9999-99", ">5", "..", "=x"]),
    ],
)
def test_an_invalid_filter_is_an_error(source, column, words, texts):
    """The error lists the valid forms."""
    for text in texts:
        with pytest.raises(QueryError, match=words):
            rows(source, filters={column: text})


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
def test_unknown_messages_are_refused(source, message):
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
def test_every_kind_of_column_shows_sorts_and_filters(name):
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


def test_numbers_beyond_64_bits_are_exact_and_in_order():
    """As numbers, not as texts or floats."""
    source = GridSource(pd.DataFrame({"n": [2**70, 5, None, 2**70 + 1, -(2**70)]}, dtype=object))
    assert rows(source, sort=[[1, False]]) == ["4", "1", "0", "3", "2"]
    assert rows(source, filters={"1": f">{2**70}"}) == ["3"]
    assert source.answer(ALL)["cells"][1][3] == f"{2**70 + 1:,}"


def test_a_grid_shows_the_cells_of_the_static_table():
    """Truth as in JSON, decimals; but shorter times, and separators between thousands."""
    times = ["2021-05-06T00:00", None, "2021-05-07T00:00"]
    frame = pd.DataFrame(
        {
            "good": pd.array([True, None, False], "boolean"),
            "fork": [True, False, True],
            "day": pd.to_datetime(times),
            "at": pd.to_datetime(["2021-05-06T12:30", None, "2021-05-07T00:00"]),
            "zoned": pd.to_datetime(times, utc=True),
            "stars": [541915, 5, 2**40],
            "share": [1 / 3, 2.0, np.nan],
            "price": [Decimal("1.50"), None, Decimal(2)],
        }
    )
    table = build_grid(frame).rows
    assert table[0] == [
        *("true", "true", "2021-05-06", "2021-05-06 12:30:00", "2021-05-06 00:00:00+00:00"),
        *("541915", "0.333333", "1.50"),
    ]
    cells = GridSource(frame).answer(ALL)["cells"][1:]
    shown = [["<NA>" if text is None else text for text in row] for row in zip(*cells, strict=True)]
    assert shown[0][3:6] == ["2021-05-06", "2021-05-06", "541,915"]
    assert shown[2][3:6] == ["2021-05-07", "2021-05-07", f"{2**40:,}"]
    assert [row[:3] + row[6:] for row in shown] == [row[:3] + row[6:] for row in table]


@pytest.mark.parametrize(
    ("times", "shown"),
    [
        (["2021-05-06T12:30", "2021-05-07T09:00"], "2021-05-06"),
        (["2021-05-06T12:30", "2021-05-06T09:00"], "2021-05-06 12:30"),
        (["2021-05-06T12:30:01", "2021-05-06T12:30:02"], "2021-05-06 12:30:01"),
        (["2021-05-06T12:30:01.5", "2021-05-06T12:30:01.25"], "2021-05-06 12:30:01.500000"),
    ],
)
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_are_as_short_as_tells_them_apart(times, shown, zone):
    """Of all rows, not of a sample; the whole time is below the grid."""
    values = pd.to_datetime(pd.Series([*times * 400, None]), format="ISO8601").dt.tz_localize(zone)
    source = GridSource(pd.DataFrame({"at": values}))
    ((cell, *_),) = source.get_window(GridQuery(), slice(0, 9), slice(1, 2))["cells"]
    assert cell == (f"{shown}+00:00" if zone and len(shown) > 19 else shown)
    assert source.get_cell(GridQuery(), 0, 1)["text"].startswith(times[0][:10])


PICTURED = pd.DataFrame(
    {
        "stars": [*range(1000, 1099), 1_000_000],
        "share": [number / 7 for number in range(100)],
        "at": pd.date_range("2020-01-01", periods=100, freq="7h"),
        "language": pd.array([*["Python"] * 60, *["Go"] * 30, *["C"] * 9, None], "string"),
        "archived": [True, False] * 50,
        "name": [f"repo{number}" for number in range(100)],
        "id": range(100),
    }
)


@pytest.mark.parametrize("at", range(1, 8))
def test_each_part_of_a_picture_selects_its_rows(at):
    """The filter of a bar or value passes as many rows as it says, and all parts are all rows."""
    source = GridSource(PICTURED)
    picture = source.answer({"ask": "about"})["columns"][at]["picture"]
    assert picture["said"]
    for part in picture["parts"]:
        if part["filter"]:
            query = read_query({"filters": {str(at): part["filter"]}}, 8)
            assert len(source.get_order(query)) == part["count"], part
    assert sum(part["count"] for part in picture["parts"]) == (0 if at == 6 else 100)
    assert bool(picture["parts"]) == (at != 6)


def test_skewed_numbers_have_bars_of_growing_width():
    """Else all but one of them would be in the first bar."""
    skewed = pd.DataFrame({"stars": [10**power for power in range(1, 7)] * 20})
    (_, column) = GridSource(skewed).answer({"ask": "about"})["columns"]
    assert sum(part["count"] > 0 for part in column["picture"]["parts"]) > 4
    (_, single) = GridSource(pd.DataFrame({"n": [5, 5]})).answer({"ask": "about"})["columns"]
    assert single["picture"] is None


def test_csv_has_the_rows_that_are_shown():
    """With a header, in their order, numbers without separators, and quotes where needed."""
    frame = pd.DataFrame({"name": ["a", 'b"', "c"], "stars": [1, 2000, 30_000]})
    asked = {"ask": "csv", "query": {"sort": [[2, True]], "filters": {"2": ">10"}}}
    text = GridSource(frame).answer(asked)["text"]
    assert text == 'name,stars\r\nc,30000\r\n"b""",2000\r\n'


def test_column_names_may_be_any_value():
    """Duplicates, numbers, tuples, None; index levels are the first columns."""
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
def test_an_empty_frame_is_a_grid_too(frame):
    """Every message gets an answer."""
    source = GridSource(frame)
    about = source.answer({"ask": "about"})
    assert about["rows"] == len(frame)
    assert len(about["columns"]) == 1 + frame.shape[1]
    query = {"sort": [[0, True]], "find": "x"}
    assert source.answer({**ALL, "query": query})["rows"] == 0
    assert source.answer({"ask": "cell", "row": 0, "column": 0, "query": query})["text"] is None


def test_an_arrow_table_is_shown_without_conversion():
    """Its types are preserved, and names may repeat."""
    arrays = [pa.array([2, None]), pa.array([{"a": 1}, None]), pa.array(["x", "y"])]
    table = pa.Table.from_arrays([*arrays, arrays[2].dictionary_encode()], ["n", "s", "n", "d"])
    source = GridSource(table)
    about = source.answer({"ask": "about"})["columns"]
    assert [it["dtype"] for it in about][1:] == ["int64", "struct<a: int64>", "string", "category"]
    assert source.answer(ALL)["cells"][1:] == [
        *(["2", None], ['{"a": 1}', None], ["x", "y"], ["x", "y"])
    ]
    assert rows(source, sort=[[4, True]], filters={"3": "x"}) == ["0"]


@pytest.mark.parametrize(
    "values",
    [[0.1, 0.30000000000000004], [1 / 3, 2.0], [1e20, 1.5], [1e-9, 0.25], [float("inf"), -1.5]],
)
def test_floats_are_written_as_in_the_static_table(values):
    """A result looks the same before and after it is opened as a grid."""
    frame = pd.DataFrame({"share": values})
    (cells,) = GridSource(frame).get_window(GridQuery(), slice(0, 9), slice(1, 2))["cells"]
    assert cells == [row[0] for row in build_grid(frame).rows]


def test_numbers_of_a_column_have_equal_decimals():
    """Very small numbers are exempt; ids and years have no separators."""
    frame = pd.DataFrame({"x": [1.25, 1e-9, 3.0, 1e20], "year": [2024, 1, 2, 3]})
    cells = GridSource(frame).answer(ALL)["cells"]
    assert cells[1:] == [["1.25", "1e-09", "3.00", "1e+20"], ["2024", "1", "2", "3"]]


def test_a_long_cell_is_cut_and_its_full_value_is_available():
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


def test_a_nested_list_is_counted_and_its_items_are_a_table():
    """The search finds what is within the items, and the copy has all of it."""
    values = [[{"b": 1, "c": {"d": "<x>"}}] * 12, [[1, 2], [3]], [1], None]
    source = GridSource(pd.DataFrame({"a": values}))
    assert source.answer(ALL)["cells"][1] == ["12 items", "2 items", "[1]", None]
    cell = {"ask": "cell", "column": 1}
    items = source.answer({**cell, "row": 0})["items"]
    assert items["names"] == ["b", "c.d"]
    assert items["rows"][0] == ["1", "<x>"]
    assert items["index"][-1] == "… 2 more"
    assert source.answer({**cell, "row": 1})["items"]["rows"] == [["1", "2"], ["3", ""]]
    assert [source.answer({**cell, "row": row})["items"] for row in (2, 3, 9)] == [None] * 3
    found = source.answer({**ALL, "query": {"find": "<x>"}})
    assert found["cells"][1] == ["12 items"]
    deep = GridSource(pd.DataFrame({"a": [[[[{"e": 1}]]]]})).answer({**cell, "row": 0})["items"]
    (inner,) = deep["inner"]
    assert (inner["row"], inner["column"]) == (0, 0)
    assert inner["table"]["rows"] == [["1 item"]]


def test_rows_are_copied_as_tab_separated_text():
    """Digits without commas; names are included if every row is copied."""
    frame = pd.DataFrame({"n": [1000, 2], "text": ['a\t"b"', "c"], "list": [[1, "é"], None]})
    source = GridSource(frame)
    whole = source.answer({"ask": "copy", "rows": [0, 2], "columns": [1, 4]})["text"]
    assert whole == 'n\ttext\tlist\n1000\t"a\t""b"""\t"[1, ""é""]"\n2\tc\t'
    part = {"ask": "copy", "rows": [0, 1], "columns": [1, 2], "query": {"sort": [[1, False]]}}
    assert source.answer(part)["text"] == "2"


def test_copying_too_many_cells_is_an_error(monkeypatch):
    """The error suggests a file."""
    monkeypatch.setattr(module, "COPIED", 5)
    source = GridSource(pd.DataFrame({"a": range(3)}))
    with pytest.raises(QueryError, match=r"6 cells are too many to copy \(at most 5\).*to_csv"):
        source.answer({"ask": "copy", "rows": [0, 9], "columns": [0, 9]})


def test_threads_share_one_sort(monkeypatch):
    """Concurrent equal requests wait for the thread that computes the order."""
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


def test_the_cache_of_row_orders_is_bounded(source):
    """Each key press of a search creates a query."""
    for at in range(50):
        rows(source, find=str(at))
    assert len(source._orders) == module.ORDERS
    assert source._order_locks == {}

"""Lists of scalars that stay in one cell each hold what a column of the scalar holds."""

import datetime as dt
import json
from decimal import Decimal
from io import StringIO

import pandas as pd
import pytest
from graphql import build_schema

import gqlnb
from gqlnb import FrameError
from gqlnb.document.document import Document
from gqlnb.result.result import Result

LONG = "12345678901234567890.123456789"


def answers(scalar, lists, levels=1):
    """Return results of rows with one list each: in this process, and from bytes."""
    kind = "[" * levels + scalar + "]" * levels
    schema = build_schema(
        f"scalar {scalar} type Query {{ rows: [Row] }} type Row {{ id: ID! v: {kind} }}"
        if scalar not in {"Int", "Float", "String"}
        else f"type Query {{ rows: [Row] }} type Row {{ id: ID! v: {kind} }}"
    )
    document = Document.parse("{ rows { id v } }", schema)
    data = {"rows": [{"id": str(n), "v": value} for n, value in enumerate(lists)]}
    body = json.dumps({"data": data}).encode()
    return [Result(data, document=document), Result.from_bytes(body, document)]


MOMENT = "2024-02-29T12:30:00.123456"
CASES = {
    # scalar: values in JSON, items of a cell, type of an item in Arrow
    "BigInt": (["9007199254740993", 5, None], [2**53 + 1, 5, None], "int64"),
    "bigint": ([2**53 + 1, "5"], [2**53 + 1, 5], "int64"),
    "BigFloat": (["1.10", "-0.001"], [Decimal("1.10"), Decimal("-0.001")], "decimal128(38, 18)"),
    "float8": ([1.5, "Infinity"], [1.5, float("inf")], "double"),
    "timestamp": ([MOMENT, None], [pd.Timestamp(MOMENT), None], "timestamp[us]"),
    "DateTime": ([MOMENT + "Z"], [pd.Timestamp(MOMENT + "Z")], "timestamp[us, tz=UTC]"),
    "Datetime": ([MOMENT], [pd.Timestamp(MOMENT)], "timestamp[us]"),
    "Date": (["2024-02-29"], [pd.Timestamp("2024-02-29")], "date32[day]"),
    "Time": (["12:30:00"], [dt.time(12, 30)], "time64[us]"),
    "Duration": (["PT90S", None], [pd.Timedelta(90, "s"), None], "duration[us]"),
    "UUID": (["a", None], ["a", None], "large_string"),
    "JSON": ([{"a": [1]}, None], [{"a": [1]}, None], "large_string"),
}


@pytest.mark.parametrize("scalar", CASES)
def test_items_are_values_of_their_scalar(scalar):
    """As in a column of the scalar, null items and null lists included; Arrow has the type."""
    values, items, arrow = CASES[scalar]
    for result in answers(scalar, [values, None, [], values[:1]]):
        cells = result.frame()["v"].tolist()
        assert cells == [items, None, [], items[:1]]
        assert [type(item) for item in cells[0]] == [type(item) for item in items]
        column = result.frames["rows.v"]["v"]
        assert [None if pd.isna(v) is True else v for v in column.tolist()] == items + items[:1]
        table = result.arrow()
        assert str(table.schema.field("v").type) == f"list<item: {arrow}>"
        assert [value is None for value in table["v"].to_pylist()] == [False, True, False, False]
        assert result.data["rows"][0]["v"] == values


@pytest.mark.parametrize("scalar", CASES)
def test_arrow_types_do_not_depend_on_values(scalar):
    """Without rows, with null lists and with empty ones; `Datetime` without values is in UTC."""
    arrow = {"Datetime": "timestamp[us, tz=UTC]"}.get(scalar, CASES[scalar][2])
    for lists in ([], [None], [[]], [[None]]):
        for result in answers(scalar, lists):
            assert result.frame()["v"].tolist() == lists
            assert str(result.arrow().schema.field("v").type) == f"list<item: {arrow}>"
            assert result.arrow()["v"].to_pylist() == lists


def test_lists_of_lists():
    """At any depth, with null lists at each."""
    lists = [[["1.5", None], None, []], None, [], [["2"]]]
    wanted = [[[Decimal("1.5"), None], None, []], None, [], [[Decimal(2)]]]
    for result in answers("numeric", lists, levels=2):
        assert result.frame()["v"].tolist() == wanted
        assert result.arrow()["v"].to_pylist() == wanted
        assert str(result.arrow().schema.field("v").type) == (
            "list<item: list<item: decimal128(38, 18)>>"
        )


def test_decimals_in_lists_keep_all_digits_of_json_numbers():
    """Whether or not the data, where they are floats, were looked at before."""
    schema = build_schema(
        "scalar numeric type Query { rows: [Row] } type Row { id: ID v: [[numeric]] }"
    )
    document = Document.parse("{ rows { id v } }", schema)
    body = f'{{"data":{{"rows":[{{"id":"1","v":[[{LONG},null],null]}}]}}}}'.encode()
    result = Result.from_bytes(body, document)
    assert result.frame()["v"].tolist() == [[[Decimal(LONG), None], None]]


def test_explode_gives_the_items_the_dtype_of_their_scalar():
    """The same values in a column."""
    for result in answers("timestamp", [[MOMENT], [], None]):
        column = result.frame(explode="v")["v"]
        assert column.dtype == "datetime64[us]"
        assert column.tolist()[0] == pd.Timestamp(MOMENT)
        assert column.isna().tolist() == [False, True, True]


def test_the_first_item_determines_the_time_zone_of_all_lists():
    """A mix is an error that names the row; `strict=False` keeps text."""
    lists = [[], [MOMENT], [MOMENT, MOMENT + "Z"]]
    for result in answers("Datetime", lists):
        with pytest.raises(FrameError, match=r"row 2 is .*Z.*unlike values before it"):
            result.frame()
        assert result.frame(strict=False)["v"].tolist() == lists


@pytest.mark.parametrize(
    ("scalar", "wrong"), [("BigInt", "1.5"), ("numeric", "abc"), ("Date", "2024"), ("Int", 2**40)]
)
def test_an_invalid_list_item_is_an_error(scalar, wrong):
    """It names column, row, value and remedy; an Int is unconverted JSON."""
    lists = [[None], [wrong]]
    for result in answers(scalar, lists):
        if scalar == "Int":
            assert result.frame()["v"].tolist() == lists
            continue
        with pytest.raises(FrameError, match=rf"'v' of 'rows'.*{scalar}.*row 1 is .*{wrong}"):
            result.frame()
        assert result.frame(strict=False)["v"].tolist() == lists


def test_a_value_that_is_not_a_list_of_lists_is_an_error():
    """As it is in the outer list."""
    for result in answers("BigInt", [[[1]], [2]], levels=2):
        with pytest.raises(FrameError, match=r"row 1 is \[2\], with an item that is not a list"):
            result.frame()
        assert result.frame(strict=False)["v"].tolist() == [[[1]], [2]]


def test_custom_scalars_apply_to_list_items(monkeypatch):
    """With their `parse` and `dtype`."""
    monkeypatch.setattr("gqlnb.document.scalars._REGISTERED", {})
    gqlnb.scalar("Price", parse=lambda text: float(text.removeprefix("$")), dtype="Float64")
    for result in answers("Price", [["$1.5", None]]):
        assert result.frame()["v"].tolist() == [[1.5, None]]


def test_objects_in_cells_are_unconverted_json():
    """Their lists have frames of their own."""
    schema = build_schema(
        "scalar timestamp type Query { rows: [Row] } type Row { of: [Part] } "
        "type Part { at: timestamp all: [timestamp] }"
    )
    document = Document.parse("{ rows { of { at all } } }", schema)
    cell = [{"at": MOMENT, "all": [MOMENT]}]
    result = Result({"rows": [{"of": cell}]}, document=document)
    assert result.frame()["of"].tolist() == [cell]
    assert result.frames["rows.of"]["at"].dtype == "datetime64[us]"
    assert result.frames["rows.of.all"]["all"].tolist() == [pd.Timestamp(MOMENT)]
    assert result.frame("rows.of")["all"].tolist() == [[pd.Timestamp(MOMENT)]]


def test_files_contain_the_list_items(tmp_path):
    """CSV has JSON with moments in ISO 8601; Parquet has Arrow's lists."""
    for scalar, text in [
        ("timestamp", '["2024-02-29T12:30:00.123456",null]'),
        ("BigFloat", '["1.10","-0.001"]'),
        ("BigInt", "[9007199254740993,5,null]"),
        ("Duration", '["PT90S",null]'),
        ("Time", '["12:30:00"]'),
    ]:
        for result in answers(scalar, [CASES[scalar][0]]):
            rows = pd.read_csv(StringIO(result.to_csv()))
            assert rows["v"].tolist() == [text]
            result.to_parquet(tmp_path / "rows.parquet")
            found = pd.read_parquet(tmp_path / "rows.parquet")["v"][0]
            assert len(found) == len(CASES[scalar][0])

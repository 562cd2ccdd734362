"""Frames as files: nothing becomes something else on the way."""

import io

import pandas as pd
import pyarrow.parquet as pq
import pytest
from graphql import build_schema

from gqlnb.document.document import Document
from gqlnb.errors import FrameError
from gqlnb.result.result import Result

SCHEMA = build_schema(
    """
    scalar DateTime scalar Date scalar Decimal scalar JSON scalar Odd
    enum Level { LOW HIGH }
    type Query { rows: [Row] other: [Row] }
    type Row {
      id: ID! stars: Int old: Boolean at: DateTime day: Date price: Decimal level: Level any: JSON
      odd: Odd tags: [String] inner: [Row]
    }
    """
)
TEXT = "{ rows { id stars old at day price level any odd tags inner { id any } } }"
ROWS = [
    {"id": "1", "stars": 1, "old": True, "at": "2026-01-02T03:04:05Z", "day": "2026-01-02",
     "price": "1.10", "level": "HIGH", "any": {"a": 1}, "odd": {"p": 1}, "tags": ["x,y", None],
     "inner": [{"id": "2", "any": {"b": [1]}}]},
    {"id": "3", "any": {"b": 2}, "odd": "text"},
    {"id": "4", "any": "text", "odd": 5},
]  # fmt: skip


def result(rows, text=TEXT):
    """Return a result of rows."""
    return Result({"rows": rows}, document=Document.parse(text, SCHEMA), source="here")


def test_parquet_keeps_json_values_apart(tmp_path):
    """Each is the JSON it was; objects do not get the names of others."""
    file = tmp_path / "a.parquet"
    result(ROWS).to_parquet(file)
    frame = pd.read_parquet(file)
    assert frame["any"].tolist() == ['{"a":1}', '{"b":2}', '"text"']
    assert frame["odd"].tolist() == ['{"p":1}', "text", "5"]
    assert frame["tags"].iloc[0].tolist() == ["x,y", None]
    assert pq.read_table(file)["inner"].to_pylist()[0] == [{"id": "2", "any": '{"b":[1]}'}]


@pytest.mark.parametrize("rows", [ROWS, [], [{"id": "1"}]], ids=["full", "empty", "nulls"])
def test_pandas_reads_the_dtypes_of_the_frame_from_parquet(rows, tmp_path):
    """And its attrs; text of JSON apart."""
    answer = result(rows)
    answer.to_parquet(tmp_path / "a.parquet", compression="zstd")
    found, frame = pd.read_parquet(tmp_path / "a.parquet"), answer.frame()
    typed = ["stars", "old", "at", "day"]
    assert found[typed].dtypes.tolist() == frame[typed].dtypes.tolist()
    assert isinstance(found["id"].dtype, pd.StringDtype)
    assert found["level"].dtype == "category"
    assert found.attrs == frame.attrs
    assert found.index.equals(frame.index)


def test_a_list_in_rows_is_written_by_its_path(tmp_path):
    """With its keys."""
    result(ROWS).to_parquet(tmp_path / "a.parquet", "rows.inner")
    frame = pd.read_parquet(tmp_path / "a.parquet")
    assert frame.to_dict("list") == {"rows.id": ["1"], "id": ["2"], "any": ['{"b":[1]}']}


def test_csv_contains_lists_and_json_values_as_json():
    """Not as Python reprs; the index is omitted by default."""
    text = result(ROWS).to_csv()
    frame = pd.read_csv(io.StringIO(text))
    assert frame["any"].tolist() == ['{"a":1}', '{"b":2}', '"text"']
    assert frame["odd"].tolist() == ['{"p":1}', "text", "5"]
    assert frame["tags"].iloc[0] == '["x,y",null]'
    assert frame["inner"].iloc[0] == '[{"id":"2","any":{"b":[1]}}]'
    assert frame["price"].iloc[0] == 1.1
    assert result(ROWS).to_csv(path="rows.inner", index=True).startswith(",rows.id,id,any")


def test_csv_of_no_rows_has_its_header(tmp_path):
    """Into a file, too."""
    assert result([], "{ rows { id any } }").to_csv() == "id,any\n"
    assert result([], "{ rows { id any } }").to_csv(tmp_path / "a.csv") is None
    assert (tmp_path / "a.csv").read_text() == "id,any\n"


def test_a_file_is_strict_and_partial_as_a_frame_is(tmp_path):
    """Of the same parameters, with the same words."""
    answer = result([{"stars": 2**31}], "{ rows { stars } }")
    with pytest.raises(FrameError, match="32 bits"):
        answer.to_parquet(tmp_path / "a.parquet")
    answer.to_parquet(tmp_path / "a.parquet", strict=False)
    assert pd.read_parquet(tmp_path / "a.parquet")["stars"].tolist() == [2**31]
    broken = Result({"rows": []}, ({"message": "no"},), document=answer.document)
    with pytest.warns(UserWarning, match="partial: 1 error") as caught:
        broken.to_csv()
    assert caught[0].filename == __file__

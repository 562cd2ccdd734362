"""Frames as files: nothing becomes something else on the way."""

import datetime as dt
import io

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graphql import build_schema
from pyarrow import feather

from gqlnb.document.document import Document
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


TYPED = build_schema(
    """
    scalar BigInt scalar DateTime scalar LocalDateTime scalar Decimal scalar Date scalar Time
    scalar Duration scalar JSON scalar Odd scalar timetz
    enum Level { LOW HIGH }
    type Query { rows: [Row] }
    type Row {
      id: ID stars: BigInt at: DateTime fine: DateTime local: LocalDateTime day: Date
      price: Decimal level: Level old: Boolean score: Float clock: Time took: Duration
      huge: BigInt any: JSON odd: Odd zoned: timetz months: Duration tags: [Level]
    }
    """
)
TYPED_ROW = {
    "id": "1", "stars": 2**53 + 1, "at": "2026-01-02T03:04:05Z",
    "fine": "2026-01-02T03:04:05.123456789Z", "local": "2026-01-02T03:04:05", "day": "2026-01-02",
    "price": "1.10", "level": "HIGH", "old": True, "score": 0.5, "clock": "03:04:05",
    "took": "PT5S", "huge": 2**70, "any": {"a": 1}, "odd": {"p": 1}, "zoned": "03:04:05+01:00",
    "months": "P1M", "tags": ["LOW"],
}  # fmt: skip
# The types that Parquet does not have, as the docstring of to_parquet lists them.
LOST = {
    "full": {"any": ['{"a":1}', None], "odd": ['{"p":1}', None], "zoned": ["03:04:05+01:00", None],
             "months": ["P1M", None]},
    "nulls": {"any": [None], "odd": [None], "zoned": [None]},
    "empty": {"any": [], "odd": [], "zoned": [], "level": []},
}  # fmt: skip


def read_parquet(answer, folder):
    """Return a frame read from a Parquet file."""
    answer.to_parquet(folder / "a.parquet", compression="zstd")
    return pd.read_parquet(folder / "a.parquet")


def read_arrow_stream(answer, _):
    """Return a frame made of an Arrow stream, as pandas and narwhals make it."""
    return pa.table(answer).to_pandas()


def read_feather(answer, folder):
    """Return a frame read from a Feather file of the table."""
    feather.write_feather(answer.to_arrow(), folder / "a.feather")
    return pd.read_feather(folder / "a.feather")


@pytest.mark.filterwarnings("ignore:Values of the scalar 'Duration'")
@pytest.mark.parametrize("read", [read_parquet, read_arrow_stream, read_feather])
@pytest.mark.parametrize(
    ("rows", "case"),
    [([TYPED_ROW, dict.fromkeys(TYPED_ROW)], "full"), ([dict.fromkeys(TYPED_ROW)], "nulls"),
     ([], "empty")],
    ids=["full", "nulls", "empty"],
)  # fmt: skip
def test_pandas_reads_back_the_dtypes_of_the_frame(rows, case, read, tmp_path):
    """Exceptions are the types that the docstring lists; large integers keep their digits."""
    document = Document.parse(f"{{ rows {{ {' '.join(TYPED_ROW)} }} }}", TYPED)
    answer = Result({"rows": rows}, document=document)
    found, frame, lost = read(answer, tmp_path), answer.frame(), dict(LOST[case])
    if read is read_arrow_stream:
        lost.pop("level", None)
    if read is not read_parquet:  # Arrow has days, which are objects in pandas
        lost["day"] = [None if row["day"] is None else dt.date(2026, 1, 2) for row in rows]
    for name, values in lost.items():
        assert found[name].dtype != frame[name].dtype
        assert found.pop(name).astype(object).where(lambda it: it.notna(), None).tolist() == values
        frame.pop(name)
    assert found.dtypes.to_dict() == frame.dtypes.to_dict()
    plain = frame.columns.drop("tags")
    assert found[plain].equals(frame[plain])
    assert found.index.equals(frame.index)
    if read is read_parquet:
        assert found.attrs == frame.attrs


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

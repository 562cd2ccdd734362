"""The shortcuts from a result to tables of several libraries take the same options."""

from __future__ import annotations

import io
import re
import warnings

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from graphql import build_schema

from gqlnb import FrameError, Result
from gqlnb.document.document import Document

SCHEMA = build_schema(
    """
    scalar JSON scalar Decimal enum Level { LOW HIGH }
    type Query { rows: [Row] other: [Row] }
    type Row { id: ID! stars: Int level: Level price: Decimal any: JSON owner: Owner
      tags: [String] inner: [Row] }
    type Owner { login: String }
    """
)
TEXT = """{ rows { id stars level owner { login } any tags inner { id price any tags level } }
            other { id } }"""
ROWS = [
    {"id": "1", "stars": 1, "level": "HIGH", "owner": {"login": "x"}, "any": {"a": 1},
     "tags": ["p", None], "inner": [
        {"id": "2", "price": "1.10", "any": [1], "tags": ["q"], "level": "LOW"},
        {"id": "3", "price": None, "any": None, "tags": None, "level": None}]},
    {"id": "4", "stars": None, "level": None, "owner": None, "any": None, "tags": [], "inner": []},
]  # fmt: skip
OPTIONS = [
    {},
    {"short": True},
    {"explode": "inner"},
    {"explode": "inner.tags", "short": True},
    {"explode": "tags"},
]


@pytest.fixture
def result():
    """Return an answer with two lists."""
    return Result({"rows": ROWS, "other": []}, document=Document.parse(TEXT, SCHEMA))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_shortcut_has_the_rows_of_the_frame(result, options):
    """Names, number of rows, and values, whichever list is exploded."""
    frame = result.frame("rows", **options)
    table = result.to_arrow("rows", **options)
    assert table.column_names == list(frame.columns)
    assert table.num_rows == len(frame)
    assert result.arrow("rows", **options).equals(table)
    pd.testing.assert_frame_equal(result.to_pandas("rows", **options), frame)
    for name in frame.columns:
        if frame[name].dtype != object:
            plain = frame[name].astype(object).where(frame[name].notna(), None)
            assert table[name].to_pylist() == plain.tolist()
    frame_of_polars = result.to_polars("rows", **options)
    assert isinstance(frame_of_polars, pl.DataFrame)
    assert frame_of_polars.equals(pl.DataFrame(pl.from_arrow(table)))
    connection = duckdb.connect()
    view = result.to_duckdb(connection, "answer", "rows", **options)
    assert view.columns == list(frame.columns)
    ((count,),) = connection.sql("select count(*) from answer").fetchall()
    assert count == len(frame)
    file = io.BytesIO()
    result.to_parquet(file, "rows", **options)
    assert list(pd.read_parquet(file).columns) == list(frame.columns)
    text = pd.read_csv(io.StringIO(result.to_csv(None, "rows", **options)))
    assert list(text.columns) == list(frame.columns)
    assert len(text) == len(frame)


def test_exploded_columns_keep_their_arrow_types(result):
    """Those of the columns that are not exploded."""
    exploded = result.to_arrow("rows", explode="inner")
    plain = result.to_arrow("rows")
    assert exploded["stars"].to_pylist() == [1, 1, None]
    assert exploded["inner.id"].to_pylist() == ["2", "3", None]
    assert exploded["inner.any"].to_pylist() == ["[1]", None, None]
    assert {exploded.schema.field(n).type for n in ("level", "inner.level")} == {
        plain.schema.field("level").type
    }
    assert exploded["inner.price"].type == pa.decimal128(38, 18)


def test_strict_is_an_option_of_every_shortcut():
    """An invalid value is an error, or kept."""
    rows = [{"id": "1", "stars": 2**31}]
    answer = Result({"rows": rows}, document=Document.parse("{ rows { id stars } }", SCHEMA))
    for read in (
        answer.frame,
        answer.to_pandas,
        answer.to_arrow,
        answer.arrow,
        answer.to_polars,
        answer.to_csv,
        lambda **options: answer.to_duckdb(duckdb.connect(), "a", **options),
        lambda **options: answer.to_parquet(io.BytesIO(), **options),
    ):
        with pytest.raises(FrameError, match="'stars'"):
            read()
        read(strict=False)
    assert answer.to_polars(strict=False)["stars"].to_list() == [2**31]


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        ({"path": ["rows"]}, "It has: 'rows' (2 rows), "),
        ({"path": "rows", "explode": ["inner"]}, "the rows of 'rows' have 'tags', 'inner', "),
    ],
    ids=["path", "explode"],
)
def test_a_list_of_names_is_refused_with_the_choices(result, options, choices):
    """``DataFrame.explode`` of pandas accepts one."""
    with pytest.raises(FrameError, match=re.escape(choices)):
        result.frame(**options)


def test_df_is_the_frame_of_the_only_list(result):
    """With the errors of `frame`."""
    one = Result({"rows": ROWS}, document=Document.parse("{ rows { id } }", SCHEMA))
    pd.testing.assert_frame_equal(one.df, one.frame())
    with pytest.raises(FrameError, match="2 lists"):
        _ = result.df


def test_warnings_name_the_line_of_the_user():
    """Of each shortcut."""
    document = Document.parse("{ rows { id } }", SCHEMA)
    for read in (
        lambda answer: answer.df,
        lambda answer: answer.frame(),
        lambda answer: answer.to_pandas(),
        lambda answer: answer.to_arrow(),
        lambda answer: answer.to_polars(),
        lambda answer: answer.to_csv(),
        lambda answer: answer.to_duckdb(duckdb.connect(), "a"),
        lambda answer: answer.to_parquet(io.BytesIO()),
    ):
        answer = Result({"rows": []}, ({"message": "no"},), document=document)
        with pytest.warns(UserWarning, match="is partial: 1 error: no. See") as caught:
            read(answer)
        assert [one.filename for one in caught] == [__file__]


def test_a_missing_key_names_the_keys(result):
    """With a guess."""
    with pytest.raises(KeyError, match=re.escape("It has 'rows', 'other'. Did you mean 'rows'?")):
        result["row"]
    with pytest.raises(KeyError, match="It has no data"):
        Result(None)["row"]
    many = Result({f"field{n}": n for n in range(20)})
    with pytest.raises(KeyError, match="'field11' and 8 more"):
        many["nothing"]


def test_the_frame_of_a_failed_request_warns_with_its_errors():
    """The frame itself has no rows."""
    errors = tuple({"message": f"refused {n}"} for n in range(5))
    answer = Result(None, errors, document=Document.parse("{ rows { id stars } }", SCHEMA))
    said = "The answer is partial: no data, and 5 errors: refused 0; refused 1; refused 2."
    with pytest.warns(UserWarning, match=said):
        frame = answer.frame()
    assert list(frame.columns) == ["id", "stars"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer.frame()

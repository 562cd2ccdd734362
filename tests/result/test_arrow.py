"""Arrow: typed tables, read by other libraries as they are."""

import datetime
import json
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from graphql import build_schema

from gqlnb.document import scalars
from gqlnb.document.document import Document
from gqlnb.errors import FrameError
from gqlnb.result.result import Result

SCHEMA = build_schema(
    """
    scalar DateTime scalar Date scalar Time scalar Decimal scalar JSON scalar Odd
    enum Level { LOW HIGH }
    type Query { repos: [Repo] names: [String] one: Repo }
    type Repo {
      id: ID! stars: Int score: Float old: Boolean level: Level at: DateTime day: Date clock: Time
      price: Decimal any: JSON odd: Odd topics: [String] languages: Languages related: [Repo]
    }
    type Languages { edges: [Edge] }
    type Edge { size: Int node: Language }
    type Language { name: String at: DateTime }
    """
)
TEXT = """{ repos {
  id stars score old level at day clock price any odd topics
  languages { edges { size node { name at } } } related { id topics }
} }"""
ROW = {
    "id": "R", "stars": 1, "score": 0.5, "old": True, "level": "HIGH",
    "at": "2026-01-02T03:04:05Z", "day": "2026-01-02", "clock": "03:04:05", "price": "1.10",
    "any": {"a": [1]}, "odd": {"p": 1}, "topics": ["x", None],
    "languages": {"edges": [{"size": 5, "node": {"name": "C", "at": "2026-01-02"}}, None]},
    "related": [{"id": "S", "topics": None}, None],
}  # fmt: skip
MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
TYPES = {
    "id": "large_string",
    "stars": "int64",
    "score": "double",
    "old": "bool",
    "level": "dictionary<values=large_string, indices=int32, ordered=0>",
    "at": "timestamp[us, tz=UTC]",
    "day": "date32[day]",
    "clock": "time64[us]",
    "price": "decimal128(38, 18)",
    "any": "large_string",
    "odd": "large_string",
    "topics": "list<item: large_string>",
    "languages": "list<item: struct<size: int64, name: large_string, at: large_string>>",
    "related": "list<item: struct<id: large_string, topics: list<item: large_string>>>",
}


def result(rows, text=TEXT):
    """Return a result of repositories."""
    return Result({"repos": rows}, document=Document.parse(text, SCHEMA))


@pytest.mark.parametrize(
    "rows", [[ROW], [], [dict.fromkeys(ROW)], None], ids=["full", "empty", "nulls", "null"]
)
def test_arrow_types_come_from_the_schema_not_the_values(rows):
    """Nested lists are lists of structs; JSON and unknown scalars are text."""
    table = result(rows).arrow()
    assert {field.name: str(field.type) for field in table.schema} == TYPES


def test_values_are_those_of_the_answer():
    """Read back as Python values."""
    (row,) = result([ROW]).arrow().to_pylist()
    assert row == ROW | {
        "at": MOMENT,
        "day": datetime.date(2026, 1, 2),
        "clock": datetime.time(3, 4, 5),
        "price": Decimal("1.10"),
        "any": json.dumps({"a": [1]}, separators=(",", ":")),
        "odd": '{"p":1}',
        "languages": [{"size": 5, "name": "C", "at": "2026-01-02"}],
    }


def test_values_without_an_arrow_type_are_text():
    """No value is lost, and no error is raised."""
    edges = {"edges": [{"size": "big", "node": {"name": "C"}}]}
    rows = [
        {"odd": 1, "price": "1" * 40, "topics": ["a"], "languages": edges},
        {"odd": "x", "topics": [{"b": 1}, 2]},
    ]
    text = "{ repos { odd price topics languages { edges { size node { name } } } } }"
    table = result(rows, text).arrow()
    assert table["odd"].to_pylist() == ["1", "x"]
    assert table["price"].to_pylist() == ["1" * 40, None]
    assert table["topics"].to_pylist() == [["a"], ['{"b":1}', "2"]]
    assert table["languages"].to_pylist() == ['[{"size":"big","name":"C"}]', None]


def test_json_in_lists_is_text():
    """For all values; a list of objects remains one."""
    schema = build_schema(
        "scalar JSON type Query { rows: [Row] } type Row { of: [Row] any: [JSON] }"
    )
    document = Document.parse("{ rows { any of { any } } }", schema)
    for values in (["a"], [{"b": 1}], []):
        rows = [{"any": values, "of": [{"any": values}, None]}]
        table = Result({"rows": rows}, document=document).arrow()
        texts = [json.dumps(value, separators=(",", ":")) for value in values]
        assert str(table.schema.field("of").type) == (
            "list<item: struct<any: list<item: large_string>>>"
        )
        assert table.to_pylist() == [{"any": texts, "of": [{"any": texts}, None]}]


def test_edge_fields_have_one_name_in_all_cells():
    """Also where a node's type has no such field."""
    schema = build_schema(
        "type Query { rows: [Row] } type Row { all: All } type All { edges: [Edge] } "
        "type Edge { size: Int node: Node } union Node = A | B type A { size: Int } "
        "type B { x: Int }"
    )
    text = "{ rows { all { edges { size node { ... on A { size } ... on B { x } } } } } }"
    edges = [{"size": 1, "node": {"size": 2}}, {"size": 3, "node": {"x": 4}}]
    answer = Result({"rows": [{"all": {"edges": edges}}]}, document=Document.parse(text, schema))
    assert answer.frame()["all"].tolist() == [
        [{"edge.size": 1, "size": 2}, {"edge.size": 3, "x": 4}]
    ]
    assert [set(row) for row in answer.arrow()["all"].to_pylist()[0]] == [
        {"edge.size", "size", "x"}
    ] * 2


def test_nested_lists_are_not_listed_as_alternatives():
    """They follow the lists to choose from; their names are valid for path= too."""
    data = {"repos": [{"topics": ["x", "y"]}], "names": []}
    answer = Result(data, document=Document.parse("{ repos { topics } names }", SCHEMA))
    message = (
        "The answer holds 2 lists. Choose one with path=: 'repos' (1 row), 'names' (0 rows). "
        "Lists in their rows, also for path=: 'repos.topics' (2 rows)."
    )
    with pytest.raises(FrameError, match=re.escape(message)):
        answer.arrow()
    assert answer.arrow("repos.topics").num_rows == 2


def test_any_consumer_of_the_arrow_interface_takes_a_result():
    """Arrow's own library, for one."""
    assert pa.table(result([ROW])).equals(result([ROW]).arrow())


@pytest.mark.parametrize("rows", [[ROW, dict.fromkeys(ROW)], []], ids=["full", "empty"])
@pytest.mark.parametrize(
    "convert",
    [
        pd.DataFrame,
        pd.Series,
        np.asarray,
        lambda answer: answer.__dataframe__(allow_copy=True),  # plotly, Altair
        lambda answer: pd.DataFrame({"one": answer}),
    ],
    ids=["frame", "series", "array", "exchange", "column"],
)
def test_an_array_of_the_rows_is_an_error_that_names_the_frame(convert, rows):
    """Their values in JSON would be mistyped: floats for large integers beside null."""
    with pytest.raises(FrameError, match=r"Pass its frame, result\.df"):
        convert(result(rows))
    with pytest.raises(KeyError, match=r"no field 0\. .* Rows are in result\.df"):
        result(rows)[0]


def test_results_are_values_of_a_series():
    """As any object is."""
    answers = [result([ROW]), result([])]
    assert pd.Series(answers).tolist() == answers
    assert pd.Series([1, 2]).map(lambda _: answers[0]).tolist() == [answers[0]] * 2


def test_polars_reads_a_result():
    """Types and values arrive."""
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(result([ROW, dict.fromkeys(ROW)]))
    assert frame.schema["stars"] == polars.Int64
    assert frame.schema["at"] == polars.Datetime("us", "UTC")
    assert frame["level"].to_list() == ["HIGH", None]
    assert frame["at"].to_list() == [MOMENT, None]
    assert frame["languages"].to_list()[0][0]["name"] == "C"
    assert frame["price"].to_list() == [Decimal("1.10"), None]


def test_dtypes_unknown_to_arrow_are_inferred_from_the_values(monkeypatch):
    """No error is raised in a table of many columns."""
    monkeypatch.setattr(scalars, "_REGISTERED", dict(scalars._REGISTERED))
    scalars.scalar("Odd", parse=complex, dtype="complex128")
    table = result([{"odd": "1"}], "{ repos { odd } }").arrow()
    scalars._version += 1
    assert table["odd"].to_pylist() == ["(1+0j)"]

"""Tables, rows and models as input objects, and arrays as lists, by the declared type."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import sqlite3
import uuid
from decimal import Decimal
from pathlib import PurePosixPath
from types import MappingProxyType

import attrs
import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pydantic
import pytest

import gqlnb
from gqlnb import Client, QueryError, Schema, serve

SDL = """
type Query {
  add(rows: [Row!]!): JSON
  addSome(rows: [Row]): JSON
  one(row: Row): JSON
  numbers(xs: [Int]): JSON
  must(xs: [Float!]!): JSON
  texts(xs: [String]): JSON
  matrix(xs: [[Float]]): JSON
  any(value: JSON): JSON
  pick(choice: Choice): JSON
  single(n: Int): JSON
  choose(choices: [Choice!]): JSON
}
input Row {
  n: Int!  name: String  x: Float  ok: Boolean  id: ID  big: BigInt  price: Decimal  when: DateTime
  day: Date  kind: Kind  tags: [String!]  inner: Inner  inners: [Inner!]  span: Duration  uid: UUID
}
input Inner { a: Int! b: Float = 2.5 }
input Choice @oneOf { a: Int b: String }
enum Kind { GOOD BAD }
scalar JSON scalar BigInt scalar Decimal scalar DateTime scalar Date scalar Duration scalar UUID
"""
# By declared type, a field with one argument of it.
FIELDS = {
    "[Row!]!": "add(rows: $v)",
    "[Row]": "addSome(rows: $v)",
    "Row": "one(row: $v)",
    "[Int]": "numbers(xs: $v)",
    "[Float!]!": "must(xs: $v)",
    "[String]": "texts(xs: $v)",
    "[[Float]]": "matrix(xs: $v)",
    "JSON": "any(value: $v)",
    "Choice": "pick(choice: $v)",
    "Int": "single(n: $v)",
    "[Choice!]": "choose(choices: $v)",
}


def echo(root, args, context):
    """Return the one argument."""
    return next(iter(args.values()))


@pytest.fixture(scope="module")
def schema():
    """Return a schema whose fields answer what they were given."""
    names = [field.partition("(")[0] for field in FIELDS.values()]
    return Schema(SDL, {"Query": dict.fromkeys(names, echo)})


@pytest.fixture(scope="module")
def sent(schema):
    """Return a function that sends a value as a declared type, and returns what arrived."""
    client = Client(schema)

    def send(declared, value):
        text = f"query ($v: {declared}) {{ found: {FIELDS[declared]} }}"
        return client.execute(text, {"v": value}).data["found"]

    return send


class Kind(enum.Enum):
    """An enum of a notebook."""

    GOOD = 1
    BAD = 2


Point = collections.namedtuple("Point", "n name")


@dataclasses.dataclass
class Inner:
    """A nested data class."""

    a: int
    b: float


@dataclasses.dataclass
class Outer:
    """A data class with others in it."""

    n: int
    inner: Inner
    inners: list[Inner]
    kind: Kind = Kind.BAD


@attrs.define
class Attrs:
    """A class of attrs."""

    n: int
    name: str | None = None


class Struct(msgspec.Struct, rename={"number": "n"}):
    """A struct of msgspec, with a name of its own and a value that is not set."""

    number: int
    name: str | msgspec.UnsetType = msgspec.UNSET


class Model(pydantic.BaseModel):
    """A model of pydantic, with an alias and a nested one."""

    number: int = pydantic.Field(alias="n")
    name: str | None = None
    inner: Nested | None = None


@pydantic.dataclasses.dataclass
class ModelData:
    """A data class of pydantic, with an alias."""

    number: int = pydantic.Field(alias="n")


class Nested(pydantic.BaseModel):
    """A nested model."""

    a: int


FRAME = pd.DataFrame(
    {
        "n": [1, 2],
        "name": ["a", None],
        "x": [0.5, np.nan],
        "ok": pd.array([True, None], dtype="boolean"),
        "id": [7.0, np.nan],
        "big": [3.0, np.nan],
        "when": pd.to_datetime(["2026-01-02T03:04:05.000000006Z", None]),
        "day": pd.to_datetime(["2026-01-02", None]),
        "kind": pd.Categorical(["GOOD", None]),
        "span": pd.to_timedelta(["90s", None]),
    }
)
ROWS = [
    {"n": 1, "name": "a", "x": 0.5, "ok": True, "big": 3,
     "when": "2026-01-02T03:04:05.000000006+00:00", "day": "2026-01-02", "kind": "GOOD",
     "span": "PT90S"},
    dict.fromkeys(FRAME.columns.drop("id")) | {"n": 2},
]  # fmt: skip


def test_a_frame_is_a_list_of_input_objects(sent):
    """Each cell is converted to the field's type, and missing cells to null."""
    assert sent("[Row!]!", FRAME.drop(columns="id")) == ROWS


def test_whole_floats_of_a_column_with_nan_are_integers(sent):
    """3.0 is sent as 3, also for type Int."""
    frame = pd.DataFrame({"n": np.array([3.0, 4.0]), "big": [3.0, np.nan]})
    found = sent("[Row!]!", frame)
    assert found == [{"n": 3, "big": 3}, {"n": 4, "big": None}]
    assert [type(row["n"]) for row in found] == [int, int]
    assert type(found[0]["big"]) is int
    assert sent("[Int]", pd.Series([1.0, np.nan])) == [1, None]


@pytest.mark.parametrize(
    "make",
    [
        pl.from_pandas,
        pa.Table.from_pandas,
        pa.RecordBatch.from_pandas,
        lambda frame: frame.to_dict("records"),
        lambda frame: list(frame.itertuples(index=False)),
        lambda frame: [row for _, row in frame.iterrows()],
        lambda frame: frame.to_records(index=False),
        lambda frame: (MappingProxyType(row) for row in frame.to_dict("records")),
        lambda frame: frame.set_axis([5, 5]),
    ],
    ids=list("abcdefghi"),
)
def test_every_table_gives_the_same_rows(sent, make):
    """Of pandas, Polars, Arrow and NumPy, and as lists of rows in each form."""
    frame = pd.DataFrame({"n": [1, 2], "name": ["a", "b"], "x": [0.5, np.nan]})
    expected = [{"n": 1, "name": "a", "x": 0.5}, {"n": 2, "name": "b", "x": None}]
    assert sent("[Row!]!", make(frame)) == expected
    assert sent("[Row]", make(frame)) == expected


def test_rows_of_sqlite(sent):
    """Rows that have names are objects."""
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    rows = connection.execute("select 1 as n, 'a' as name union select 2, null").fetchall()
    connection.close()
    assert sent("[Row!]!", rows) == [{"n": 1, "name": "a"}, {"n": 2, "name": None}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (FRAME[["n", "x"]].iloc[0], {"n": 1, "x": 0.5}),
        (FRAME[["n", "x"]].iloc[1], {"n": 2, "x": None}),
        (FRAME[["n", "name"]].head(1), {"n": 1, "name": "a"}),
        (pl.DataFrame({"n": [1]}), {"n": 1}),
        (pl.DataFrame({"n": [1], "x": [None]}).row(0, named=True), {"n": 1, "x": None}),
        (np.array([(1, 0.5)], dtype=[("n", "i4"), ("x", "f8")])[0], {"n": 1, "x": 0.5}),
        (Point(1, "a"), {"n": 1, "name": "a"}),
        (MappingProxyType({"n": 1, "x": float("nan")}), {"n": 1, "x": None}),
        (Attrs(1, "a"), {"n": 1, "name": "a"}),
        (Struct(1), {"n": 1}),
        (Model(n=1, inner=Nested(a=2)), {"n": 1, "name": None, "inner": {"a": 2, "b": 2.5}}),
        (ModelData(n=1), {"n": 1}),
        (
            Outer(1, Inner(2, 0.5), [Inner(3, float("nan"))]),
            {"n": 1, "inner": {"a": 2, "b": 0.5}, "inners": [{"a": 3, "b": None}], "kind": "BAD"},
        ),
    ],
)
def test_a_row_or_a_model_is_an_input_object(sent, value, expected):
    """Alone, and as the item of a list."""
    assert sent("Row", value) == expected
    assert sent("[Row!]!", [value]) == [expected]
    assert sent("[Row]", value) == [expected]


def test_cells_of_other_kinds(sent):
    """Decimals, UUIDs, paths, enum members, dates, lists and objects within a frame."""
    frame = pd.DataFrame(
        {
            "n": [Decimal(1)],
            "name": [PurePosixPath("a/b")],
            "price": [Decimal("1.50")],
            "uid": [uuid.UUID(int=1)],
            "kind": [Kind.GOOD],
            "day": [datetime.date(2026, 1, 2)],
            "tags": [["a", "b"]],
            "inner": [Inner(1, 0.5)],
            "inners": [[{"a": np.int64(1)}]],
        }
    )
    assert sent("[Row!]!", frame) == [
        {
            "n": 1,
            "name": "a/b",
            "price": "1.50",
            "uid": "00000000-0000-0000-0000-000000000001",
            "kind": "GOOD",
            "day": "2026-01-02",
            "tags": ["a", "b"],
            "inner": {"a": 1, "b": 0.5},
            "inners": [{"a": 1, "b": 2.5}],
        }
    ]


def test_values_are_preserved_exactly(sent):
    """Large integers keep their digits, and times without a zone get none."""
    frame = pd.DataFrame(
        {"n": [1], "big": [2**62 + 1], "when": pd.to_datetime(["2026-01-02T03:04"])}
    )
    row = sent("[Row!]!", frame)[0]
    assert (row["big"], row["when"]) == (2**62 + 1, "2026-01-02T03:04:00")


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("[Int]", pd.Series([1, None], dtype="Int64"), [1, None]),
        ("[Int]", pd.Index([1, 2]), [1, 2]),
        ("[Int]", np.array([1.0, np.nan]), [1, None]),
        ("[Int]", pl.Series([1, None]), [1, None]),
        ("[Int]", pa.chunked_array([[1], [None]]), [1, None]),
        ("[Int]", pd.DataFrame({"a": [1.0, np.nan]}), [1, None]),
        ("[Float!]!", pd.Series([1, 2]), [1.0, 2.0]),
        ("[String]", pd.Series(["a", None]), ["a", None]),
        ("[String]", pd.Series(["a", "b"], index=["x", "y"]), ["a", "b"]),
        ("[String]", pd.Categorical(["a", None]), ["a", None]),
        ("[[Float]]", np.array([[1, np.nan]]), [[1.0, None]]),
        ("JSON", pd.DataFrame({"a": [1, np.nan]}), [{"a": 1.0}, {"a": None}]),
        ("JSON", Model(n=1), {"number": 1, "name": None, "inner": None}),
        ("[Choice!]", pd.DataFrame({"a": [1, np.nan], "b": [None, "x"]}), [{"a": 1}, {"b": "x"}]),
    ],
)
def test_arrays_are_lists(sent, declared, value, expected):
    """Missing values are null."""
    assert sent(declared, value) == expected


@pytest.mark.parametrize(
    ("declared", "value", "said"),
    [
        ("[Row!]!", pd.DataFrame({"n": [1], "naem": ["a"], "Unnamed: 0": [0]}),
         ("columns 'naem', 'Unnamed: 0'", "Did you mean 'name'?",
         "rename(columns={'naem': 'name'})", 'df[["n"]]')),
        ("[Row!]!", pd.DataFrame({"name": ["a"]}),
         ("no column 'n', which Row requires (n: Int!)",)),
        ("[Row!]!", pd.DataFrame({"name": ["a"]}, index=pd.Index([1], name="n")),
         ("df.reset_index()",)),
        ("[Row!]!", pd.DataFrame({"n": [1, None, None]}),
         ("column 'n' has no value in 2 of 3 rows, first in row 1", "df.dropna(subset=['n'])")),
        ("[Row!]!", pd.DataFrame({"n": [1, 3.5]}),
         ("row 1, column 'n' of the DataFrame", "a number with a fraction")),
        ("[Row!]!", pd.DataFrame({"n": [2**40]}), ("row 0, column 'n'", "32 bits of Int")),
        ("[Row!]!", pd.DataFrame({"n": [1], "big": [2.0**60]}),
         ("may have lost digits", "'Int64'")),
        ("[Row!]!", pd.DataFrame({"n": [1], "name": [5]}), ("column 'name'", ".astype(str)")),
        ("[Row!]!", pd.DataFrame({"n": [1], "id": [1.5]}), ("column 'id'", "ID takes text")),
        ("[Row!]!", pd.DataFrame({"n": [1], "ok": [1]}), ("Boolean takes bool",)),
        ("[Row!]!", pd.DataFrame({"n": [1], "x": ["a"]}), ("Float takes numbers",)),
        ("[Row!]!", pd.DataFrame({"n": [1], "x": [np.inf]}),
         ("row 0, column 'x'", "inf has no JSON")),
        ("[Row!]!", pd.DataFrame({"n": [1], "kind": ["UGLY"]}), ("values of Kind: 'GOOD', 'BAD'",)),
        ("[Row!]!", pd.DataFrame({"n": [1], "name": [object()]}),
         ("column 'name'", "no JSON form")),
        ("[Row!]!", pd.DataFrame({"n": [1], "day": pd.to_datetime(["2026-01-02T03:00"])}),
         ("column 'day'", "has a time of day")),
        ("[Row!]!", pd.DataFrame({"n": [1], "inners": [[{"a": 1}, {"a": object()}]]}),
         ("column 'inners'", "[1].a")),
        ("[Row!]!", pd.DataFrame([[1, 2]], columns=["n", "n"]), ("more than one column 'n'",)),
        ("[Row!]!", pl.DataFrame({"naem": ["a"], "n": [1]}), ("'name'", 'df[["n"]]')),
        ("Row", pd.DataFrame({"n": [1, 2]}), ("2 rows", "df.iloc[0]", "[Row!]")),
        ("[String]", pd.DataFrame({"a": ["x"], "b": ["y"]}), ("'a', 'b'", "df['name']")),
        ("[Float!]!", pd.Series([1.0, np.nan]), ("[1]",)),
        ("Row", Point(1, object()), ("at name",)),
        ("[Row!]!", pd.DataFrame({"n": [1]}).itertuples(), ("df.itertuples(index=False)",)),
        ("[Row!]!", pd.DataFrame({"n": [1]}).groupby("n"), ("has no JSON form", "list of dicts")),
        ("Row", pd.DataFrame({"n": [1]}).groupby("n"), ("has no JSON form",)),
        ("Int", pd.Series([1]), ("a Series holds many values", "[Int]")),
        ("Int", pd.DataFrame({"n": [1]}), ("rows and columns, and Int takes one value",)),
        ("Row", collections.namedtuple("Other", "n naem")(1, "a"), ("field 'naem'", "'name'")),
    ],
)  # fmt: skip
def test_a_conversion_error_names_variable_row_and_column(sent, declared, value, said):
    """It suggests a fix and never contains the value."""
    with pytest.raises(QueryError) as caught:
        sent(declared, value)
    message = str(caught.value)
    assert "Variable '$v'" in message
    assert [part for part in said if part not in message] == [], message
    assert "3.5" not in message


def test_a_table_of_an_unsupported_library_is_refused(sent):
    """Iterating over one would give its column names."""
    with pytest.raises(QueryError, match="LazyFrame"):
        sent("[Row!]!", pl.LazyFrame({"n": [1]}))


@pytest.mark.parametrize("asks", ["at once", "schema first"])
def test_a_new_client_fetches_the_schema_to_convert_a_table(schema, asks):
    """So that values do not depend on the cache."""
    with serve(schema, port=0) as server, Client(server.url) as client:
        if asks == "schema first":
            assert client.schema
        text = "query ($rows: [Row!]!) { found: add(rows: $rows) }"
        assert client.execute(text, {"rows": FRAME.drop(columns="id")}).data["found"] == ROWS
        point = client.execute("query ($r: Row) { f: one(row: $r) }", {"r": Point(1, "a")})
        assert point.data["f"] == {"n": 1, "name": "a"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"onyl": 3}, "The operation does not declare $onyl. Did you mean $only?"),
        ({"zzz": 3}, "The operation does not declare $zzz. It declares $only: Int"),
    ],
)
def test_a_misspelled_variable_is_an_error(given, said):
    """It would be left out, and the operation would run with null."""
    client = Client(Schema("type Query { f(only: Int): Int }"))
    with pytest.raises(QueryError) as caught:
        client.execute("query ($only: Int) { f(only: $only) }", given)
    assert said in str(caught.value)


def test_undeclared_names_are_not_sent():
    """One mapping may serve several operations."""
    client = gqlnb.Client(Schema("type Query { f(only: Int): Int }"))
    text = "query ($only: Int) { f(only: $only) }"
    assert client.execute(text, {"only": 1, "onyl": 2, "other": 3}).data == {"f": None}
    assert client.execute("{ f }", {"other": 3}).data == {"f": None}

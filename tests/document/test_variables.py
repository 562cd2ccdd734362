"""Variables: Python values become the JSON values that a request carries."""

import datetime
import enum
import math
import uuid
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from graphql import build_schema

from gqlnb.document.document import Document
from gqlnb.document.input_coercion import convert_value
from gqlnb.document.variables import bind_variables
from gqlnb.errors import QueryError


class Colour(enum.Enum):
    """An enum of a notebook."""

    RED = 1


@dataclass
class Point:
    """A data class of a notebook."""

    x: int
    y: float


class Words(str):
    """A subclass of text."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(5), 5),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (pd.Series([1.5, 2.5]), [1.5, 2.5]),
        (pd.Series([1, None], dtype="Int64"), [1, None]),
        (pd.NA, None),
        (pd.NaT, None),
        (pd.Timestamp("2026-01-02T03:04:05Z"), "2026-01-02T03:04:05+00:00"),
        (pd.Timestamp("2026-01-02T03:04:05.000000006"), "2026-01-02T03:04:05.000000006"),
        (np.datetime64("2026-01-02T03:04:05.000000006"), "2026-01-02T03:04:05.000000006"),
        (
            np.array(["2026-01-02", "NaT"], "datetime64[ns]"),
            ["2026-01-02T00:00:00.000000000", None],
        ),
        (np.timedelta64("NaT", "ns"), None),
        (np.timedelta64(1, "ns"), "PT0.000000001S"),
        (np.array([90], "timedelta64[s]"), ["PT90S"]),
        (pd.Timedelta(-1500, "ns"), "-PT0.0000015S"),
        (datetime.timedelta(days=1, seconds=0.5), "PT86400.5S"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (Decimal("1.50"), "1.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Colour.RED, "RED"),
        (Point(1, 2.0), {"x": 1, "y": 2.0}),
        ((1, {"a": Colour.RED}), [1, {"a": "RED"}]),
        (range(3), [0, 1, 2]),
        (2**70, 2**70),
        (Words("a"), "a"),
    ],
)
def test_values_are_converted_to_json(value, expected):
    """Each supported type has one JSON form, of a plain Python type."""
    found = convert_value(value)
    assert found == expected
    assert type(found) is type(expected)


def test_a_missing_variable_is_named_with_its_type():
    """The error gives its name, its type, its location and the given value."""
    document = Document.parse("query ($first: Int!) { f(a: $first) }")
    with pytest.raises(QueryError) as caught:
        bind_variables(document, {"frist": 1})
    problem = caught.value.problems[0]
    assert problem.message == "Variable '$first' of required type 'Int!' was not provided."
    assert (problem.line, problem.column) == (1, 8)
    assert problem.hint == "Given: $frist."


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (np.float64("nan"), "nan"),
        ([1.0, [math.inf]], "inf at [1][0]"),
        ({"a": [{"b": math.nan}]}, "nan at a[0].b"),
    ],
    ids=repr,
)
def test_a_number_that_is_not_finite_is_refused(value, said):
    """JSON has no form for it; null is None."""
    document = Document.parse("query ($x: Any) { f(x: $x) }")
    with pytest.raises(QueryError) as caught:
        bind_variables(document, {"x": value})
    expected = f"Variable '$x' of type 'Any': {said} has no JSON form. Give None for null, or a"
    assert str(caught.value).startswith(expected)


def test_self_referencing_values_are_refused():
    """A list that contains itself has no JSON form."""
    document = Document.parse("query ($x: Any) { f(x: $x) }")
    value = {"a": []}
    value["a"].append(value)
    with pytest.raises(QueryError, match="'Any': it is nested too deeply, or contains itself"):
        bind_variables(document, {"x": value})


class Level(enum.IntEnum):
    """An enum whose values are numbers."""

    HIGH = 3


class Order(enum.Enum):
    """An enum whose values are the names of the schema."""

    up = "ASC"
    DESC = 2


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("Int", Level.HIGH, 3),
        ("[Int!]", [Level.HIGH], [3]),
        ("String", Order.up, "ASC"),
        ("Order", Order.up, "ASC"),
        ("Order", Order.DESC, "DESC"),
        ("[Order]", pd.Series([Order.DESC, Order.up]), ["DESC", "ASC"]),
        ("Order", "ASC", "ASC"),
        ("Where", {"by": Order.up, "least": Level.HIGH}, {"by": "ASC", "least": 3}),
    ],
)
def test_an_enum_member_is_converted_by_its_declared_type(declared, value, expected):
    """To its name for an enum, to its value for a number or a string."""
    schema = build_schema(
        "type Query { f(a: Int, o: Order, w: Where): Int } enum Order { ASC DESC }"
        " input Where { by: Order least: Int }"
    )
    document = Document.parse(f"query ($x: {declared}) {{ __typename @skip(if: false) }}")
    document = Document(document.text, document.ast, document.operation, schema)
    assert bind_variables(document, {"x": value}) == {"x": expected}


KINDS = build_schema(
    """
    scalar DateTime scalar Date scalar BigInt scalar Decimal scalar Duration scalar JSON scalar Odd
    enum Level { LOW HIGH }
    input Row { text: String level: Level n: Int }
    type Query { f(text: String, level: Level, n: Int, at: DateTime, day: Date, big: BigInt,
      price: Decimal, took: Duration, any: JSON, ns: [Int], row: Row, texts: [String], x: Float,
      odd: Odd, id: ID, yes: Boolean): String }
    """
)
NOON = datetime.datetime(2026, 1, 2, 12, tzinfo=datetime.UTC)


def bind(declared, value, schema=KINDS):
    """Return the JSON value of a variable."""
    argument = {"String": "text", "Level": "level", "Int": "n", "DateTime": "at", "Date": "day",
                "BigInt": "big", "Decimal": "price", "Duration": "took", "JSON": "any",
                "[Int]": "ns", "Row": "row", "[String]": "texts", "Float": "x", "Odd": "odd",
                "ID": "id", "Boolean": "yes"}[declared]  # fmt: skip
    document = Document.parse(f"query($v: {declared}) {{ f({argument}: $v) }}", schema)
    return bind_variables(document, {"v": value})["v"]


@pytest.mark.parametrize("schema", [KINDS, None], ids=["schema", "no schema"])
@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("String", pa.scalar("x", pa.large_string()), "x"),
        ("String", pa.scalar(None, pa.string()), None),
        ("Int", pa.scalar(5, pa.int8()), 5),
        ("BigInt", pa.scalar(2**60), 2**60),
        ("Float", pa.scalar(0.5), 0.5),
        ("Boolean", pa.scalar(True), True),
        ("DateTime", pa.scalar(NOON), "2026-01-02T12:00:00+00:00"),
        (
            "DateTime",
            pa.scalar(1, pa.timestamp("ns", "UTC")),
            "1970-01-01T00:00:00.000000001+00:00",
        ),
        ("Date", pa.scalar(NOON.date()), "2026-01-02"),
        ("Decimal", pa.scalar(Decimal("1.10")), "1.10"),
        ("Duration", pa.scalar(datetime.timedelta(seconds=5)), "PT5S"),
        ("Level", pa.scalar("LOW").cast(pa.dictionary(pa.int8(), pa.string())), "LOW"),
        ("[Int]", pa.scalar([1, None]), [1, None]),
        ("[Int]", [pa.scalar(1), None], [1, None]),
        ("JSON", {"a": pa.scalar([1])}, {"a": [1]}),
        ("Row", pa.scalar({"text": "a", "n": 1}), {"text": "a", "n": 1}),
    ],
    ids=lambda value: str(value)[:24],
)
def test_scalars_of_arrow_are_converted(declared, value, expected, schema):
    """As the Python values that they hold."""
    assert bind(declared, value, schema) == expected


@pytest.mark.parametrize("missing", [math.nan, np.float32("nan"), Decimal("nan")])
@pytest.mark.parametrize(
    "declared", ["String", "ID", "Int", "Boolean", "Level", "DateTime", "Date"]
)
def test_nan_is_null_where_it_cannot_be_a_value(declared, missing):
    """It is the missing value in columns of text and categories."""
    assert bind(declared, missing) is None
    assert bind("[String]", ["a", missing]) == ["a", None]


@pytest.mark.parametrize("declared", ["Float", "JSON", "Odd"])
def test_nan_of_a_number_is_not_null(declared):
    """Infinity neither; the caller decides."""
    for value in (math.nan, math.inf):
        with pytest.raises(QueryError, match="has no JSON form"):
            bind(declared, value)

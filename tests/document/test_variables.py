"""Variables: Python values become the JSON values that a request carries."""

import datetime
import enum
import math
import uuid
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd
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


def test_a_value_without_a_json_form_names_variable_and_type_not_the_value():
    """The message names `$a`, its GraphQL type and the Python class."""
    document = Document.parse("query ($a: Int) { f(a: $a) }")
    with pytest.raises(
        QueryError, match=r"Variable '\$a' of type 'Int': a object has no JSON form"
    ):
        bind_variables(document, {"a": object()})


def test_a_missing_variable_is_named_with_its_type():
    """The error gives its name, its type, its location and the given value."""
    document = Document.parse("query ($first: Int!) { f(a: $first) }")
    with pytest.raises(QueryError) as caught:
        bind_variables(document, {"frist": 1})
    problem = caught.value.problems[0]
    assert problem.message == "Variable '$first' of required type 'Int!' was not provided."
    assert (problem.line, problem.column) == (1, 8)
    assert problem.hint == "Given: $frist."


def test_only_declared_variables_are_sent():
    """A namespace may contain more than the operation declares."""
    document = Document.parse("query ($a: Int $b: Int! = 3) { f(a: $a b: $b) }")
    assert bind_variables(document, {"a": 1, "other": object()}) == {"a": 1}


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

"""Scalars: dtypes by name, and one's own with what reads and sends them."""

import datetime
import uuid
from decimal import Decimal

import msgspec
import numpy as np
import pandas as pd
import pytest
from graphql import build_schema

from gqlnb.document import scalars
from gqlnb.document.document import Document
from gqlnb.document.scalars import scalar
from gqlnb.document.variables import bind_variables
from gqlnb.errors import FrameError, OptionError, QueryError
from gqlnb.result.result import Result

NAMES = "DateTime Date Time Decimal BigInt UnsignedInt64 Duration JSON UUID URI Money Odd"
SCHEMA = build_schema(
    " ".join(f"scalar {name}" for name in NAMES.split())
    + " type Query { rows(money: [Money!], in: In): [Row] } input In { money: Money at: DateTime }"
    + " type Row { float: Float int: Int boolean: Boolean id: ID string: String "
    + " ".join(f"{name.lower()}: {name}" for name in NAMES.split())
    + " }"
)


@pytest.fixture(autouse=True)
def _registry(monkeypatch):
    """Forget what a test registers."""
    monkeypatch.setattr(scalars, "_REGISTERED", dict(scalars._REGISTERED))
    yield
    scalars._version += 1


def column(name, values, **options):
    """Return a column of values, by both roads where JSON can hold them."""
    rows = [{name: value} for value in values]
    document = Document.parse(f"{{ rows {{ {name} }} }}", SCHEMA)
    return Result({"rows": rows}, document=document).frame(**options)[name]


U = datetime.UTC


@pytest.mark.parametrize(
    ("name", "values", "dtype", "expected"),
    [
        ("datetime", ["2026-01-02T03:04:05.5+02:00", None, "2026-01-02T03:04:05.1234560Z"],
         "datetime64[us, UTC]", [datetime.datetime(2026, 1, 2, 1, 4, 5, 500_000, U), None,
         datetime.datetime(2026, 1, 2, 3, 4, 5, 123_456, U)]),
        ("datetime", [None, datetime.datetime(2026, 1, 2), datetime.date(2026, 1, 2), "2026-01-02"],
         "datetime64[us]", [None, *[datetime.datetime(2026, 1, 2)] * 3]),
        ("datetime", [datetime.datetime(2026, 1, 2, tzinfo=U), pd.Timestamp(0, tz="UTC")],
         "datetime64[us, UTC]", [datetime.datetime(2026, 1, 2, tzinfo=U),
         datetime.datetime(1970, 1, 1, tzinfo=U)]),
        ("date", ["2026-01-02", None, datetime.date(9999, 1, 1)], "datetime64[us]",
         [datetime.datetime(2026, 1, 2), None, datetime.datetime(9999, 1, 1)]),
        ("time", ["03:04", None], "object", [datetime.time(3, 4), None]),
        ("decimal", ["1.10", 2, 0.1], "object", [Decimal("1.10"), Decimal(2), Decimal("0.1")]),
        ("bigint", ["9007199254740993", 2**63 - 1, None], "Int64", [2**53 + 1, 2**63 - 1, None]),
        ("duration", ["P1W", "-PT1.5S", None, datetime.timedelta(1), np.timedelta64(3, "us")],
         "timedelta64[us]", [datetime.timedelta(7), datetime.timedelta(seconds=-1.5), None,
         datetime.timedelta(1), datetime.timedelta(microseconds=3)]),
        ("uuid", [uuid.UUID(int=1), "b"], "string", ["00000000-0000-0000-0000-000000000001", "b"]),
        ("odd", [1, "a", {"b": 2}, None], "object", [1, "a", {"b": 2}, None]),
        ("int", [np.int64(5), 6.0], "Int64", [5, 6]),
        ("float", [np.float64(0.5), Decimal("0.25"), 2**60 + 1], "Float64", [0.5, 0.25, 2.0**60]),
        ("boolean", [np.bool_(True), None], "boolean", [True, None]),
        ("id", [7, "x"], "string", ["7", "x"]),
    ],
)  # fmt: skip
def test_known_scalars_have_their_dtype(name, values, dtype, expected):
    """For JSON values of a response and for Python objects of resolvers."""
    found = column(name, values)
    assert found.dtype == dtype
    assert [None if v is None or v is pd.NA or v is pd.NaT else v for v in found] == expected
    usual = dtype if name != "datetime" else "datetime64[us, UTC]"
    assert column(name, []).dtype == usual
    assert column(name, [None]).dtype == usual


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("datetime", "yesterday"), ("datetime", True), ("date", "2026-01-32"), ("date", True),
        ("time", "noon"), ("decimal", "much"),
        ("decimal", True), ("bigint", 2.5), ("bigint", "x"), ("uuid", 5), ("string", "\ud800"),
        ("boolean", 1), ("float", True), ("id", 1.5), ("int", "1"), ("int", float("inf")),
        ("datetime", "2026-01-02T03:04:05.1234567891Z"), ("time", "03:04:05.1234567"),
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_value_names_column_and_row(name, value):
    """Not strictly, the column keeps it."""
    with pytest.raises(FrameError, match=f"Column '{name}' of 'rows' .*: row 1 is "):
        column(name, [None, value])
    (kept,) = column(name, [None, value], strict=False).tolist()[1:]
    assert kept is value


NANO = "2026-01-02T03:04:05.123456789Z"
LONG = 4_000  # rows, beyond those that are read at a time


@pytest.mark.parametrize(
    ("name", "value", "dtype", "arrow", "shown"),
    [
        ("datetime", NANO, "datetime64[ns, UTC]", "timestamp[ns, tz=UTC]", pd.Timestamp(NANO)),
        ("datetime", pd.Timestamp(NANO).tz_convert("Asia/Tokyo"), "datetime64[ns, UTC]",
         "timestamp[ns, tz=UTC]", pd.Timestamp(NANO)),
        ("bigint", 2**63, "object", "decimal128(38, 0)", 2**63),
        ("bigint", str(-(10**30)), "object", "decimal128(38, 0)", -(10**30)),
        ("bigint", 2**256 - 1, "object", "large_string", 2**256 - 1),
        ("duration", "-PT0.000000001S", "timedelta64[ns]", "duration[ns]", pd.Timedelta(-1, "ns")),
        ("duration", "P1M", "object", "string", "P1M"),
        ("duration", 12.5, "object", "string", 12.5),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Values of the scalar 'Duration'")
def test_one_value_out_of_range_widens_the_column(name, value, dtype, arrow, shown):
    """No value is truncated, at any position and by either decoder."""
    usual = {"datetime": "2026-01-02T03:04:05.5+01:00", "bigint": 5, "duration": "PT1S"}[name]
    document = Document.parse(f"{{ rows {{ {name} }} }}", SCHEMA)
    for place in (0, LONG):
        values = [None, *[usual] * LONG]
        values.insert(place, value)
        data = {"rows": [{name: it} for it in values]}
        answers = [Result(data, document=document)]
        if isinstance(value, (str, int, float)):
            body = msgspec.json.encode({"data": data}, enc_hook=str)
            answers.append(Result.from_bytes(body, document))
        for answer in answers:
            found = answer.frame()[name]
            assert str(found.dtype) == dtype
            assert found.iloc[place] == shown
            usually = usual if arrow == "string" else column(name, [usual]).iloc[0]
            assert (found.drop([place, 0 if place else 1]) == usually).all()
            assert found.isna().sum() == 1
            assert str(answer.arrow().schema.field(name).type) in {arrow, f"large_{arrow}"}


MISSING = [
    pd.NaT,
    pd.NA,
    float("nan"),
    np.float32("nan"),
    np.datetime64("NaT", "ns"),
    np.timedelta64("NaT", "ns"),
    Decimal("NaN"),
]


@pytest.mark.parametrize("missing", MISSING, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("datetime", datetime.datetime(2026, 1, 2, tzinfo=U)), ("date", datetime.date(2026, 1, 2)),
        ("time", datetime.time(1)), ("decimal", Decimal(1)), ("bigint", np.int64(2**40)),
        ("bigint", 2**70), ("duration", datetime.timedelta(1)), ("json", {"a": 1}),
        ("uuid", uuid.UUID(int=1)), ("odd", "x"), ("int", 1), ("float", 0.5), ("string", "x"),
        ("boolean", True),
    ],
)  # fmt: skip
def test_missing_values_of_pandas_are_null(name, value, missing):
    """In frames and in Arrow, for every scalar."""
    document = Document.parse(f"{{ rows {{ {name} }} }}", SCHEMA)
    whole = Result({"rows": [{name: value}, {name: None}]}, document=document)
    answer = Result({"rows": [{name: value}, {name: missing}]}, document=document)
    pd.testing.assert_frame_equal(answer.frame(), whole.frame())
    assert answer.arrow().equals(whole.arrow())
    assert answer.frame()[name].isna().tolist() == [False, True]


def test_a_custom_scalar_is_parsed_into_its_dtype():
    """Empty columns have it too; a new registration applies from then on."""
    with pytest.warns(UserWarning, match="Values of the scalar 'Money' are text"):
        assert column("money", ["$1.5"]).tolist() == ["$1.5"]
    scalar("Money", parse=lambda text: float(text.removeprefix("$")), dtype="Float64")
    assert column("money", ["$1.5", None]).tolist() == [1.5, pd.NA]
    assert column("money", []).dtype == "Float64"
    scalar("Money", parse=Decimal)
    assert column("money", ["1.5"]).tolist() == [Decimal("1.5")]


def test_a_parser_exception_is_an_error_with_a_row():
    """With the parser's message."""
    scalar("Money", parse=float, dtype="Float64")
    with pytest.raises(FrameError, match=r"row 1 is 'x' .could not convert string to float: 'x'"):
        column("money", ["1", "x"])


def test_a_scalar_can_be_declared_like_another():
    """It is read and sent alike; with a parser, it is stored in that dtype."""
    scalar("Odd", like="DateTime")
    assert column("odd", ["2026-01-02T00:00:00Z"]).dtype == "datetime64[us, UTC]"
    scalar("Odd", like="DateTime", parse=lambda s: datetime.datetime.fromtimestamp(s, U))
    assert column("odd", [0])[0] == pd.Timestamp(0, tz="UTC")
    scalar("Odd", like="Int")
    with pytest.raises(FrameError, match="32 bits"):
        column("odd", [2**31])


@pytest.mark.parametrize(
    ("dtype", "values", "made", "wrong"),
    [
        ("bool", [True, 0], "boolean", "no"),
        ("int64", [5, "6"], "Int64", 1.9),
        ("uint8", [255, 0], "UInt8", -1),
        ("int8", [127], "Int8", 300),
        ("int64", [5], "Int64", True),
        ("Float64", ["1.5", 2], "Float64", "x"),
        ("float64", [1.5], "float64", True),
        ("string", ["a", 5], "string", {"a": 1}),
        ("<U1", ["abc"], "string", {"a": 1}),
        ("datetime64[ns, UTC]", ["2026-01-02"], "datetime64[ns, UTC]", "never"),
    ],
)
def test_a_dtype_accepts_null_and_refuses_lossy_conversions(dtype, values, made, wrong):
    """NumPy's integers and booleans have no null; the row of an invalid value is named."""
    scalar("Odd", dtype=dtype)
    found = column("odd", [*values, None])
    assert found.dtype == made
    assert found.isna().tolist() == [False] * len(values) + [True]
    assert column("odd", []).dtype == made
    with pytest.raises(FrameError, match=r"Column 'odd' of 'rows' .*row 1 is .* at rows\[1\].odd"):
        column("odd", [values[0], wrong])
    kept = column("odd", [values[0], wrong], strict=False)
    assert kept.tolist() == [values[0], wrong]


def test_a_parser_with_a_dtype_may_give_null():
    """It is missing then, not false."""
    scalar("Odd", parse={"y": True, "n": False}.get, dtype="bool")
    assert column("odd", ["y", "n", "?"]).tolist() == [True, False, pd.NA]
    scalar("Odd", like="Decimal", dtype="Float64")
    assert column("odd", ["1.5", None]).tolist() == [1.5, pd.NA]


def test_invalid_options_list_the_valid_ones():
    """An unknown scalar in `like`, and an unknown dtype."""
    with pytest.raises(OptionError, match=r"like='Dtae'.: known are .*Date, DateTime"):
        scalar("Odd", like="Dtae")
    with pytest.raises(OptionError, match="pandas does not have it"):
        scalar("Odd", dtype="Int65")


QUERY = "query ($money: [Money!] $in: In) { rows(money: $money in: $in) { int } }"


def test_variables_of_a_custom_scalar_are_serialised():
    """In lists and in input objects; null is not passed to the serialiser."""
    scalar("Money", serialise=lambda value: f"${value}")
    document = Document.parse(QUERY, SCHEMA)
    assert bind_variables(document, {"money": [1, 2]}) == {"money": ["$1", "$2"]}
    assert bind_variables(document, {"money": pd.Series([1])}) == {"money": ["$1"]}
    assert bind_variables(document, {"money": 1}) == {"money": "$1"}
    assert bind_variables(document, {"in": {"money": 3, "at": None}}) == {
        "in": {"money": "$3", "at": None}
    }
    assert bind_variables(document, {"in": {"money": pd.NA}}) == {"in": {"money": None}}
    plain = Document.parse(QUERY)
    assert bind_variables(plain, {"money": [1]}) == {"money": ["$1"]}


def test_a_serialiser_error_does_not_contain_the_value():
    """The message names the variable, its type, the path and the kind of the error."""
    scalar("Money", serialise=int)
    with pytest.raises(QueryError) as caught:
        bind_variables(Document.parse(QUERY), {"money": ["secret"]})
    said = (
        "Variable '$money' of type '[Money!]': at [0]: its serialiser raised ValueError for a str."
    )
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        ("DateTime", datetime.date(2026, 1, 2), "2026-01-02T00:00:00+00:00"),
        ("DateTime", datetime.datetime(2026, 1, 2), "2026-01-02T00:00:00"),
        ("DateTime", "as it is", "as it is"),
        ("DateTime", pd.NaT, None),
        ("Date", pd.Timestamp("2026-01-02"), "2026-01-02"),
        ("Date", datetime.date(2026, 1, 2), "2026-01-02"),
        ("Float", Decimal("0.5"), 0.5),
        ("Decimal", Decimal("0.50"), "0.50"),
        ("String", Decimal("0.50"), "0.50"),
        ("LocalDateTime", datetime.date(2026, 1, 2), "2026-01-02T00:00:00"),
        ("AWSTimestamp", pd.Timestamp("2026-01-02T13:30:00+01:00"), 1767357000),
        ("AWSTimestamp", 5, 5),
    ],
)
def test_variables_are_serialised_by_their_declared_type(kind, value, sent):
    """The Python type alone does not determine the JSON form."""
    assert bind_variables(Document.parse(f"query ($a: {kind}!) {{ f(a: $a) }}"), {"a": value}) == {
        "a": sent
    }


def test_a_time_of_day_in_an_input_object_is_located():
    """With the name of the scalar, which the declared type does not show."""
    schema = build_schema("input New { born: Date } scalar Date type Query { f(a: [New]): Int }")
    document = Document.parse("query ($a: [New]) { f(a: $a) }", schema)
    with pytest.raises(QueryError, match=r"at \[0\]\.born: a date is.*scalar\('Date', like='DateT"):
        bind_variables(document, {"a": [{"born": datetime.datetime(2026, 1, 2, 3)}]})

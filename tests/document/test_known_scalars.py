"""Scalars that are known by name, by specification or by description: dtypes and values."""

import datetime as dt
import json
import warnings
from decimal import Decimal
from functools import partial
from math import copysign

import pandas as pd
import pyarrow as pa
import pytest
from graphql import build_schema
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.document.document import Document
from gqlnb.document.scalars import KNOWN_SCALARS
from gqlnb.errors import FrameError
from gqlnb.result.result import Result

U = dt.UTC
DAY = dt.datetime(2026, 1, 2)
NOON = dt.datetime(2026, 1, 2, 12, 30)
ZONED, LOCAL = "datetime64[us, UTC]", "datetime64[us]"
ZONED_TEXT, LOCAL_TEXT = "2026-01-02T13:30:00+01:00", "2026-01-02T12:30:00"
PLUS_2 = dt.timezone(dt.timedelta(hours=2))


STANDARD = {"Int", "Float", "String", "ID", "Boolean"}


def results(definition, values):
    """Return a result of rows with one value each, by both roads: from data and from bytes."""
    name = definition.rpartition("scalar ")[2].split("@")[0].strip()
    return build_results({"v": name}, "" if name in STANDARD else definition, values)


def results_of_names(names, values):
    """Return such results in which each scalar has a column of its name."""
    definitions = " ".join(f"scalar {name}" for name in names if name not in STANDARD)
    return build_results({name: name for name in names}, definitions, values)


def build_results(columns, definitions, values):
    """Return results of rows in which all columns, given with their types, have the same values."""
    fields = " ".join(f"{column}: {kind}" for column, kind in columns.items())
    schema = build_schema(f"{definitions} type Query {{ rows: [Row] }} type Row {{ {fields} }}")
    document = Document.parse(f"{{ rows {{ {' '.join(columns)} }} }}", schema)
    data = {"rows": [dict.fromkeys(columns, value) for value in values]}
    body = json.dumps({"data": data}, default=dt.datetime.isoformat).encode()
    return [Result(data, document=document), Result.from_bytes(body, document)]


def plain(column):
    """Return the values of a column, None for missing ones."""
    found = column.tolist()
    return [None if v is pd.NA or v is pd.NaT else v for v in found]


# name(s), values as JSON has them, dtype, values of the column (None: the same)
TABLE = [
    ("DateTime DateTimeISO Datetime timestamptz Instant OffsetDateTime ISO8601DateTime "
     "GitTimestamp PreciseDateTime AWSDateTime CustomDateTime Timestamp datetimeoffset",
     [ZONED_TEXT, "2026-01-02T12:30:00Z", "2026-01-02t12:30:00z"], ZONED,
     [NOON.replace(tzinfo=U)] * 3),
    ("LocalDateTime timestamp datetime2 DateTimeWithoutTimezone DateTime Datetime Timestamp",
     [LOCAL_TEXT, "2026-01-02 12:30:00", "2026-01-02t12:30:00"], LOCAL, [NOON] * 3),
    ("timestamp", ["1500-01-01T00:00:00"], LOCAL, [dt.datetime(1500, 1, 1)]),
    ("ZonedDateTime", [f"{ZONED_TEXT}[Europe/Paris]"], ZONED, [NOON.replace(tzinfo=U)]),
    ("AWSTimestamp SecondsSinceEpoch", [1767357000, "1767357000"], ZONED,
     [NOON.replace(tzinfo=U)] * 2),
    ("Date LocalDate date ISO8601Date AWSDate CustomDate", ["2026-01-02", "1500-03-04"], LOCAL,
     [DAY, dt.datetime(1500, 3, 4)]),
    ("Time LocalTime time AWSTime TimeWithoutTimezone CustomTime", ["12:30:00.5"], "object",
     [dt.time(12, 30, 0, 500_000)]),
    ("Time time timetz OffsetTime", ["12:30:00+02:00", "12:30:00+02", "12:30:00z"], "object",
     [*[dt.time(12, 30, tzinfo=PLUS_2)] * 2, dt.time(12, 30, tzinfo=U)]),
    ("Duration ISO8601Duration TimeSpan AccurateDuration interval", ["PT90S", "P1DT1H"],
     "timedelta64[us]", [dt.timedelta(seconds=90), dt.timedelta(hours=25)]),
    ("interval", ["1 day 02:00:00", "-00:00:01.5", "3 days", "-1 days +01:00:00"],
     "timedelta64[us]",
     [dt.timedelta(hours=26), dt.timedelta(seconds=-1.5), dt.timedelta(3),
      dt.timedelta(hours=-23)]),
    ("BigFloat numeric Decimal PositiveDecimal BigDecimal Money decimal money bignumeric",
     ["1.10", 2, "-0", "1e3"], "object", [Decimal("1.10"), Decimal(2), Decimal(0), Decimal(1000)]),
    ("numeric BigFloat", ["1" * 50 + ".5", "0.1234567890123456789", "Infinity"], "object",
     [Decimal("1" * 50 + ".5"), Decimal("0.1234567890123456789"), Decimal("Infinity")]),
    ("Double float8 float4 real PositiveFloat NonNegativeFloat UnsignedFloat",
     [1.5, 2, "0.25", "Infinity", "-Infinity"], "Float64",
     [1.5, 2.0, 0.25, float("inf"), float("-inf")]),
    ("NegativeFloat NonPositiveFloat Latitude Longitude Float", [-1.5, -0.0], "Float64", None),
    ("NonNegativeInt PositiveInt UnsignedInt NonPositiveInt NegativeInt SafeInt Long bigint int8 "
     "smallint Short Port Day Hour Minute Int64 UnsignedByte oid BigInt BigInteger UnsignedInt64",
     [5, 2**53 + 1, 5_000_000_000], "Int64", None),
    ("BigInt bigint Long UnsignedInt64", ["9007199254740993", 9007199254740993], "Int64",
     [2**53 + 1] * 2),
    ("BigInt BigInteger BigIntScalar UnsignedLong", ["18446744073709551615", 7], "object",
     [2**64 - 1, 7]),
    ("Byte UnsignedByte SignedByte", [0, 255], "Int64", None),
    ("uint8 Uint16 uint32_t UINT64 u64 usize ulong int256 Integer", [0, 2**53 + 1], "Int64", None),
    ("uint64 UInt64 u128", ["18446744073709551615", 7], "object", [2**64 - 1, 7]),
    ("float32 Float64 f64 double", [1.5, 2, "0.25", "-Infinity"], "Float64",
     [1.5, 2.0, 0.25, float("-inf")]),
    ("string str bytes Bytes", ["", "YQ=="], "string", None),
    ("Int", [1, 2**31 - 1], "Int64", None),
    ("bool Boolean boolean Bool", [True, False], "boolean", None),
    ("UUID GUID uuid URL Url URI EmailAddress HexColorCode Currency TimeZone UtcOffset Locale "
     "ObjectID citext bpchar name bytea inet HTML GitObjectID Base64String X509Certificate Base16 "
     "Cursor BitString InternetAddress JSONString FormattedString Char Country CountryCode "
     "LocalEndTime AWSURL String USCurrency JWT SemVer Color", ["24:00", "#ffffff"], "string",
     None),
    ("CidrAddress JSONPath TSQuery TSVector LTree JwtToken pg_lsn txid_snapshot int4multirange "
     "regclass vector", ["10.0.0.0/8", "0/16B3748"], "string", None),
    ("Oid xid cid xid8 bigquery_int Bigint Int8", [4294967295, "5"], "Int64", [4294967295, 5]),
    ("bigquery_decimal Numeric", ["1.10", "-0.001"], "object",
     [Decimal("1.10"), Decimal("-0.001")]),
    ("JSON JSONObject json jsonb Jsonb Geography KeyValueHash Metadata GenericScalar Any Object "
     "AWSJSON _text _int4 _timestamptz geography", [{"a": [1]}, [1, 2], "x"], "object", None),
]  # fmt: skip


@pytest.mark.parametrize(("names", "values", "dtype", "expected"), TABLE)
@pytest.mark.filterwarnings("error")
def test_known_names_have_their_dtype_and_values(names, values, dtype, expected):
    """With nulls too, by both decoders, and without a warning."""
    expected = [*(values if expected is None else expected), None]
    for result in results_of_names(names.split(), [*values, None]):
        frame = result.frame()
        for name in names.split():
            assert frame[name].dtype == dtype, name
            assert plain(frame[name]) == expected, name
        assert result.arrow().num_rows == len(expected)


EMPTY = {
    "timestamp[us, UTC]": ZONED, "timestamp[us]": LOCAL, "date32": LOCAL, "large_string": "string",
    "int64": "Int64", "float64": "Float64", "bool": "boolean",
}  # fmt: skip


@pytest.mark.filterwarnings("error")
def test_columns_without_values_have_the_dtype_of_their_scalar():
    """Empty ones and those of nulls alike."""
    for values in ([], [None]):
        for result in results_of_names(sorted(KNOWN_SCALARS), values):
            frame = result.frame()
            for name, kind in KNOWN_SCALARS.items():
                is_span = kind.arrow in {"duration", "seconds"}
                dtype = "timedelta64[us]" if is_span else EMPTY.get(kind.arrow, "object")
                assert frame[name].dtype == dtype, name


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("Datetime", [LOCAL_TEXT, ZONED_TEXT], "row 1 is .*it has a time zone, unlike"),
        ("Datetime", [None, ZONED_TEXT, LOCAL_TEXT], "row 2 is .*no time zone, unlike"),
        ("DateTime", [ZONED_TEXT, "2026-01-02"], "row 1 is '2026-01-02' .*no time zone"),
        ("timestamp", [LOCAL_TEXT, ZONED_TEXT], "row 1 is .*it has a time zone"),
        ("Time", ["12:30:00", "12:30:00Z"], "row 1 is '12:30:00Z' .*it has a time zone"),
        ("Time", ["12:30:00", ZONED_TEXT], "row 1 is .*it is a timestamp with a time zone, unlike"),
        ("timestamp", ["infinity"], "row 0 is 'infinity'"),
        ("timestamptz", ["-infinity"], "row 0 is '-infinity'"),
        ("timestamp", ["0044-03-15T00:00:00 BC"], "row 0 is '0044-03-15T00:00:00 BC'"),
        ("date", ["0044-03-15 BC"], "row 0 is"),
        ("date", ["infinity"], "row 0 is"),
        ("Date", ["12026-01-02"], "row 0 is"),
        ("time", ["24:00:00"], "row 0 is"),
        ("float8", [1.5, "NaN"], "row 1 is 'NaN' .*dtype='float64'"),
        ("float8", ["many"], "row 0 is 'many'"),
        ("bigint", ["9223372036854775808"], "row 0 is .*64 bits"),
        ("BigInt", [1e300], "row 0 is .*not exact beyond"),
        ("PositiveInt", [1.5], "row 0 is 1.5"),
        ("Money", ["1.00", "$5"], "row 1 is .*not a plain number, unlike"),
        ("citext", [5], "row 0 is 5"),
        ("DateTime", [ZONED_TEXT, 1767357000], "row 1 is 1767357000 .*a number, unlike"),
        ("Date", ["2026-01-02", ZONED_TEXT], "row 1 is .*a timestamp with a time zone, unlike"),
    ],
)  # fmt: skip
def test_an_invalid_scalar_value_is_an_error_that_suggests_a_fix(name, values, message):
    """With strict=False the column keeps its values."""
    for result in results(f"scalar {name}", values):
        for view in (result.frame, result.arrow):
            with pytest.raises(FrameError, match=rf"Column 'v' of 'rows' .*: {message}") as caught:
                view()
            assert "at rows[" in str(caught.value)
            assert str(caught.value).endswith(
                "Pass strict=False to keep values of other types unchanged."
            )
        assert result.frame(strict=False)["v"].tolist() == values


UNFIT = [
    ("Uint32", ["abc", 5], "object"), ("Uint32", [1.5], "Float64"), ("int256", ["0x1f"], "string"),
    ("float64", [2**53 + 1, 0.5], "object"), ("float64", [2**53 + 1], "Int64"),
    ("float64", ["0.10000000000000000001"], "string"), ("float64", ["NaN"], "string"),
    ("string", [1, 2], "Int64"), ("string", [1, "a"], "object"), ("bool", [0, 1], "Int64"),
    ("bool", ["yes"], "string"), ("bytes", [[1, 2]], "object"), ("UInt32", ["", 1], "object"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "values", "dtype"), UNFIT, ids=[f"{name}-{at}" for at, (name, *_) in enumerate(UNFIT)]
)
def test_values_decide_where_the_name_of_a_machine_type_is_a_hint(name, values, dtype):
    """No value is lost or changed; a warning names the column."""
    for result in results(f"scalar {name}", [*values, None]):
        with pytest.warns(UserWarning, match=f"scalar '{name}' do not all fit .* column 'v' keeps"):
            column = result.frame()["v"]
        assert (column.dtype, plain(column)) == (dtype, [*values, None])
        assert result.arrow()["v"].to_pandas().isna().tolist() == column.isna().tolist()
    listed = build_schema(f"scalar {name} type Query {{ rows: [Row] }} type Row {{ v: [{name}] }}")
    answer = Result({"rows": [{"v": values}]}, document=Document.parse("{ rows { v } }", listed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert answer.frame()["v"].tolist() == [values]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2**53 + 1], "Int64"), ([1, 0.5], "Float64"), (["a", ""], "string"),
        ([True, False], "boolean"), ([2**53 + 1, 0.5], "object"), ([2**64], "object"),
        ([1, "a"], "object"), ([True, 1], "object"), ([{"a": 1}], "object"), ([], "object"),
    ],
    ids=["integers", "numbers", "text", "booleans", "inexact", "large", "mixed", "bits", "objects",
         "nulls"],
)  # fmt: skip
def test_an_unknown_scalar_with_values_of_one_kind_gets_its_dtype(values, dtype, request):
    """A warning says so once for each scalar; dtype='object' keeps values as received."""
    name = f"X{request.node.callspec.id}"
    first, second = results(f"scalar {name}", [*values, None])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        column = first.frame()["v"]
        assert second.frame()["v"].equals(column)
        assert first.arrow().num_rows == len(values) + 1
    assert (column.dtype, plain(column)) == (dtype, [*values, None])
    if dtype == "object":
        assert caught == []
        return
    (warning,) = caught
    like = str(warning.message).partition("like='")[2].partition("'")[0]
    assert str(warning.message).startswith(f"The scalar {name!r} is not known")
    assert results(f"scalar {like}", [None])[0].frame()["v"].dtype == dtype


NANO = "2026-01-02T12:30:00.123456789"


@pytest.mark.parametrize("far", ["9999-12-31T23:59:59", "0001-01-01T00:00:00"])
@pytest.mark.parametrize(("name", "zone"), [("DateTime", "Z"), ("timestamp", ""), ("Datetime", "")])
def test_nanoseconds_with_a_year_out_of_range_are_an_error(name, zone, far, tmp_path):
    """In frames, Arrow and Parquet; it names column, value and remedy."""
    values = [NANO + zone, far + zone]
    for order in (values, values[::-1], [values[1], *[values[0]] * 4000]):
        for result in results(f"scalar {name}", order):
            for view in (result.frame, result.arrow, partial(result.to_parquet, tmp_path / "x")):
                with pytest.raises(FrameError, match=f"'v' of 'rows' .* is '{far[:4]}.*1677 to"):
                    view()
            assert result.frame(strict=False)["v"].tolist() == order


@pytest.mark.parametrize(
    ("name", "zone", "dtype"), [("DateTime", "Z", ", UTC"), ("timestamp", "", "")]
)
def test_nanoseconds_are_preserved(name, zone, dtype):
    """With a zone and without, in pandas and in Arrow."""
    for result in results(f"scalar {name}", [LOCAL_TEXT + zone, NANO + zone, None]):
        column = result.frame()["v"]
        assert column.dtype == f"datetime64[ns{dtype}]"
        assert column[1] == pd.Timestamp(NANO + zone)
        assert result.arrow()["v"].to_pylist()[1] == pd.Timestamp(NANO + zone)


@pytest.mark.parametrize(
    ("name", "values", "dtype", "said"),
    [
        ("Time", [None, ZONED_TEXT], ZONED, "timestamps, not times of day.*like='DateTime'"),
        ("Time", [LOCAL_TEXT], LOCAL, "timestamps, not times of day.*like='LocalDateTime'"),
        ("Time", [NANO + "Z"], "datetime64[ns, UTC]", "timestamps, not times of day"),
        ("Date", [None, ZONED_TEXT], ZONED, "timestamps, not dates.*like='DateTime'"),
        ("Date", ["2024-05-01T00:00:00.000Z"], ZONED, "timestamps, not dates.*like='DateTime'"),
        ("Date", [LOCAL_TEXT], LOCAL, "timestamps, not dates.*like='LocalDateTime'"),
        ("Date", [1767357000000], "Int64", "numbers in a unit that is not known"),
        ("Date", [dt.datetime(2026, 1, 2, 3)], LOCAL, "timestamps, not dates"),
        ("DateTime", [1767357000000], "Int64", "numbers in a unit that is not known"),
        ("timestamp", [ZONED_TEXT], ZONED, "timestamps with a time zone"),
        ("Timestamp", [1767357000000], "Int64", "numbers in a unit that is not known"),
        ("Timestamp", ["1767357000000"], "Int64", "numbers in a unit that is not known"),
        ("Duration", [12.5, 3], "Float64", "numbers in a unit that is not known"),
        ("Duration", ["P1M", "PT1S"], "object", "not all of a fixed length"),
        ("Duration", ["PT0.000000001S", "P300Y"], "object", "not all of a fixed length"),
        ("Duration", ["PT0.000000001S", "P200000D"], "object", "not all of a fixed length"),
        ("Byte", ["YQ=="], "string", "text, not numbers"),
        ("money", ["$1,234.50"], "string", "text, not plain numbers"),
    ],
)  # fmt: skip
def test_values_that_contradict_the_scalar_name_are_inferred(name, values, dtype, said):
    """One warning is emitted for each response, not for each frame."""
    for result in results(f"scalar {name}", values):
        with pytest.warns(UserWarning, match=f"the scalar '{name}' are {said}"):
            column = result.frame()["v"]
        assert column.dtype == dtype
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert result.arrow().num_rows == len(values)


@pytest.mark.parametrize(
    ("value", "time"),
    [("10:11:12", dt.time(10, 11, 12)), ("10:11Z", dt.time(10, 11, tzinfo=dt.UTC))],
)
def test_a_date_may_be_a_time_of_day(value, time):
    """Directus has one scalar for dates, times and timestamps, so there is no warning."""
    for result in results("scalar Date", [None, value]):
        assert result.frame()["v"].tolist() == [None, time]
        assert result.arrow()["v"].type == (pa.large_string() if time.tzinfo else pa.time64("us"))
    mixed, _ = results("scalar Date", ["2026-01-02", value])
    with pytest.raises(
        FrameError, match=r"row 1 is .* \(it is a time of day, unlike values before"
    ):
        mixed.frame()


SCALARS_ORG = "https://scalars.graphql.org"
DESCRIBED = [
    ('scalar Interval @specifiedBy(url: "https://en.wikipedia.org/wiki/ISO_8601#Durations")',
     "PT1S", "timedelta64[us]"),
    (f'scalar X @specifiedBy(url: "{SCALARS_ORG}/andimarek/date-time")', ZONED_TEXT, ZONED),
    (f'scalar X @specifiedBy(url: "{SCALARS_ORG}/andimarek/date-time.html")', ZONED_TEXT, ZONED),
    (f'scalar X @specifiedBy(url: "{SCALARS_ORG}/andimarek/local-date")', "2026-01-02", LOCAL),
    (f'scalar X @specifiedBy(url: "{SCALARS_ORG}/jakobmerrild/long.html")', 2**40, "Int64"),
    (f'scalar Time @specifiedBy(url: "{SCALARS_ORG}/andimarek/date-time")', ZONED_TEXT, ZONED),
    ('scalar X @specifiedBy(url: "https://ibm.github.io/graphql-specs/custom-scalars/date.html")',
     "2026-01-02", LOCAL),
    ('scalar Moment @specifiedBy(url: "https://tools.ietf.org/html/rfc3339")', ZONED_TEXT, ZONED),
    ('scalar MyDate @specifiedBy(url: "https://datatracker.ietf.org/doc/html/rfc3339#section-5.6")',
     "2026-01-02", LOCAL),
    ('scalar Key @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc4122")', "a", "string"),
    ('scalar Link @specifiedBy(url: "https://www.ietf.org/rfc/rfc3986.txt")', "a:b", "string"),
    ('scalar X @specifiedBy(url: "https://example.org/what")', ["a"], "object"),
    ('"Time represented in ISO 8601. For example: \\"2021-03-09T14:58:50+00:00\\"." scalar Time',
     ZONED_TEXT, ZONED),
    ('"Duration between two instants, represented as a fractional number of seconds." '
     'scalar Duration', 12.5, "timedelta64[us]"),
    ('"Type represents date and time as number of milliseconds from start of UNIX epoch." '
     'scalar Timestamp', 1767357000000, ZONED),
    ('"A `ProjectID` is a global ID. It is encoded as a string." scalar ProjectID', "gid://x",
     "string"),
]  # fmt: skip


@pytest.mark.parametrize(("definition", "value", "dtype"), DESCRIBED)
@pytest.mark.filterwarnings("error")
def test_scalars_are_identified_by_specifiedby_or_description(definition, value, dtype):
    """Also for columns without values."""
    for result in results(definition, [value]):
        assert result.frame()["v"].dtype == dtype
    for result in results(definition, [None]):
        assert result.frame()["v"].dtype == dtype


def test_registered_scalars_override_known_ones(monkeypatch):
    """Also for a scalar with a specification URL."""
    from gqlnb.document import scalars

    monkeypatch.setattr(scalars, "_REGISTERED", {})
    monkeypatch.setattr(scalars, "_version", scalars._version)
    scalars.scalar("Time", like="DateTime")
    scalars.scalar("float8", dtype="float64")
    assert results("scalar Time", [])[0].frame()["v"].dtype == ZONED
    column = results("scalar float8", ["NaN", 1, None])[0].frame()["v"]
    assert (column.dtype, column.isna().tolist()) == ("float64", [True, False, True])


def test_nan_decimals_are_preserved():
    """PostgreSQL's numeric has NaN, and so has Python's Decimal; Arrow's has not, and gets text."""
    for result in results("scalar numeric", ["NaN", "1.5"]):
        first, second = result.frame()["v"]
        assert first.is_nan()
        assert second == Decimal("1.5")
        assert result.arrow()["v"].to_pylist() == ["NaN", "1.5"]


def test_negative_zero_is_preserved():
    """As a float and as a decimal."""
    for result in results("scalar float8", [-0.0, "-0.0"]):
        assert [copysign(1, value) for value in result.frame()["v"]] == [-1, -1]
    for result in results("scalar numeric", ["-0"]):
        assert str(result.frame()["v"][0]) == "-0"


MOMENTS = st.datetimes(min_value=dt.datetime(1700, 1, 1), max_value=dt.datetime(2200, 1, 1))
OFFSETS = st.sampled_from([U, PLUS_2, dt.timezone(dt.timedelta(hours=-7, minutes=-30))])


@given(
    name=st.sampled_from(["DateTime", "Datetime", "timestamp", "timestamptz", "LocalDateTime"]),
    moments=st.lists(st.none() | MOMENTS | MOMENTS.flatmap(
        lambda moment: OFFSETS.map(lambda zone: moment.replace(tzinfo=zone)))),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Values of the scalar")
def test_time_zones_are_neither_lost_nor_invented(name, moments):
    """The column contains equal moments or an error is raised."""
    values = [moment and moment.isoformat() for moment in moments]
    kinds = {moment.tzinfo is not None for moment in moments if moment is not None}
    for result in results(f"scalar {name}", values):
        if len(kinds) == 2:
            with pytest.raises(FrameError, match="time zone, unlike values before"):
                result.frame()
            continue
        column = result.frame()["v"]
        if kinds:
            assert (column.dt.tz is not None) == kinds.pop()
            kinds = {column.dt.tz is not None}
        assert plain(column) == moments


@given(st.lists(st.none() | st.integers(-(2**80), 2**80) | st.integers(-5, 5)))
def test_whole_numbers_are_exact(numbers):
    """As numbers and as text, of 64 bits and more."""
    for values in (numbers, [None if n is None else str(n) for n in numbers]):
        for result in results("scalar BigInt", values):
            assert plain(result.frame()["v"]) == numbers


@given(st.lists(st.none() | st.decimals(allow_nan=False, allow_infinity=False, places=12)))
def test_decimals_are_exact(numbers):
    """As the text of PostGraphile."""
    values = [None if n is None else str(n) for n in numbers]
    for result in results("scalar BigFloat", values):
        assert plain(result.frame()["v"]) == numbers

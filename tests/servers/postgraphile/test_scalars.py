"""Frames of every scalar that PostGraphile exposes, compared with what PostgreSQL holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from gqlnb import FrameError
from tests.servers.postgraphile.database import INFINITE_ROW, ORDINARY_ROWS

if TYPE_CHECKING:
    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

NAIVE, AWARE, DAY = "datetime64[us]", "datetime64[us, UTC]", "datetime64[us]"

# field: dtype of its column, the SQL that writes its values as text, and what reads that text
SCALARS: dict[str, tuple[str, str, Callable[[str], Any]]] = {
    "aSmallint": ("Int64", "a_smallint", int),
    "anInteger": ("Int64", "an_integer", int),
    "aBigint": ("Int64", "a_bigint", int),
    "aNumeric": ("object", "a_numeric", Decimal),
    "aReal": ("Float64", "a_real", float),
    "aDouble": ("Float64", "a_double", float),
    "aMoney": ("Float64", "a_money::numeric", float),
    "aText": ("string", "a_text", str),
    "aVarchar": ("string", "a_varchar", str),
    "aChar": ("string", "rpad(a_char, 6)", str),
    "aCitext": ("string", "a_citext", str),
    "aUuid": ("string", "a_uuid", str),
    "aBoolean": ("boolean", "a_boolean", lambda text: text == "true"),
    "aDate": (DAY, "a_date", lambda text: datetime.combine(date.fromisoformat(text), time())),
    "aTime": ("object", "a_time", time.fromisoformat),
    "aTimetz": ("object", "a_timetz", time.fromisoformat),
    "aTimestamp": (NAIVE, "a_timestamp", datetime.fromisoformat),
    "aTimestamptz": (AWARE, "a_timestamptz", datetime.fromisoformat),
    "aHstore": ("object", "a_hstore::json", json.loads),
    "aBytea": ("string", "a_bytea", str),
    "anInet": ("string", "to_json(an_inet) #>> '{}'", str),
    "aCidr": ("string", "a_cidr", str),
    "aMacaddr": ("string", "a_macaddr", str),
    "aBit": ("string", "a_bit", str),
    "anXml": ("string", "an_xml", str),
    "aStatus": ("category", "upper(a_status::text)", str),
}
# What version 5 sends of a column differs from version 4.
AMBER_SCALARS = SCALARS | {
    "aTimetz": ("object", "a_timetz AT TIME ZONE 'UTC'", time.fromisoformat),
    "aBytea": ("string", "replace(encode(a_bytea, 'base64'), E'\\n', '')", str),
    "aStatus": ("category", "a_status", str),
}
# Lists stand in one cell each; their items are what the scalar's own values would be.
LISTS: dict[str, Callable[[Any], Any]] = {
    "integers": int,
    "bigints": int,
    "numerics": Decimal,
    "texts": str,
    "statuses": str.upper,
    "instants": datetime.fromisoformat,
}
GROUPS = {"extremes": "first: 6", "ordinary": f"first: 500, offset: {INFINITE_ROW}"}
ROWS = {"extremes": f"id < {INFINITE_ROW}", "ordinary": f"id > {INFINITE_ROW}"}


def column_values(frame: pd.DataFrame, name: str) -> list[Any]:
    """Return the cells of a column as Python values, None for each null."""
    null = frame[name].isna()
    return [None if null[n] else value for n, value in enumerate(frame[name].tolist())]


@pytest.mark.parametrize(
    ("variant", "group"), [("plain", "extremes"), ("plain", "ordinary"), ("amber", "ordinary")]
)
@pytest.mark.parametrize("field", SCALARS)
def test_a_column_has_the_values_of_the_table(
    field: str,
    group: str,
    variant: str,
    server: PostGraphile,
    connect: Connect,
    database: Postgres,
) -> None:
    """Each scalar has its dtype, exact values and its nulls; a fresh client reads the schema."""
    dtype, sql, read = (AMBER_SCALARS if variant == "amber" else SCALARS)[field]
    rows = database.fetch_rows(
        f"SELECT ({sql})::text AS value FROM forum.readings WHERE {ROWS[group]} ORDER BY id"
    )
    wanted = [None if row["value"] is None else read(row["value"]) for row in rows]
    frame = connect(server).frame(f"{{ allReadings({GROUPS[group]}) {{ nodes {{ {field} }} }} }}")
    assert str(frame[field].dtype) == dtype
    found = column_values(frame, field)
    if field == "aNumeric" and group == "extremes":  # NaN is no null, and equals nothing
        nan = [n for n, value in enumerate(wanted) if value is not None and value.is_nan()]
        found = frame[field].tolist()
        assert [n for n, value in enumerate(found) if value is not None and value.is_nan()] == nan
        found, wanted = (
            [v for n, v in enumerate(side) if n not in nan] for side in (found, wanted)
        )
    assert found == wanted
    assert len(rows) == (ORDINARY_ROWS if group == "ordinary" else INFINITE_ROW - 1)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("field", LISTS)
def test_lists_have_values_of_their_scalar(
    field: str, group: str, plain: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Items of lists are exact, and have the scalar's type in a column."""
    read = LISTS[field]
    cast = "text[]" if field != "integers" else "int[]"
    rows = database.fetch_rows(
        f"SELECT {field}::{cast} AS value FROM forum.readings WHERE {ROWS[group]} ORDER BY id"
    )
    wanted = [
        None if row["value"] is None else [None if v is None else read(v) for v in row["value"]]
        for row in rows
    ]
    frame = connect(plain).frame(f"{{ allReadings({GROUPS[group]}) {{ nodes {{ {field} }} }} }}")
    found = [None if value is None else list(value) for value in frame[field]]
    assert found == wanted


@pytest.mark.parametrize("group", GROUPS)
def test_json_is_text_if_the_server_sends_text(
    group: str, plain: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """By default PostGraphile encodes JSON as text, and the column has the text."""
    rows = database.fetch_rows(
        f"SELECT a_jsonb AS value FROM forum.readings WHERE {ROWS[group]} ORDER BY id"
    )
    frame = connect(plain).frame(f"{{ allReadings({GROUPS[group]}) {{ nodes {{ aJsonb }} }} }}")
    found = [None if value is None else json.loads(value) for value in frame["aJsonb"]]
    assert found == [row["value"] for row in rows]


@pytest.mark.parametrize("group", GROUPS)
def test_json_is_values_if_the_server_sends_values(
    group: str, lists: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """With ``--dynamic-json`` the cells are dictionaries, lists, texts and numbers."""
    rows = database.fetch_rows(
        f"SELECT a_jsonb AS value FROM forum.readings WHERE {ROWS[group]} ORDER BY id"
    )
    frame = connect(lists).frame(f"{{ allReadings({GROUPS[group]}) {{ nodes {{ aJsonb }} }} }}")
    assert frame["aJsonb"].tolist() == [row["value"] for row in rows]


def test_objects_are_columns_of_their_own(
    plain: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Intervals, points and ranges are objects with numeric fields: a column for each field."""
    text = """{ allReadings(first: 6) { nodes {
      anInterval { years months days hours minutes seconds } aPoint { x y }
      anInt4Range { start { value inclusive } end { value } } } } }"""
    frame = connect(plain).frame(text)
    whole = {"anInterval.years", "anInterval.hours", "anInt4Range.start.value"}
    assert {str(frame[name].dtype) for name in whole} == {"Int64"}
    assert {str(frame[n].dtype) for n in ("anInterval.seconds", "aPoint.x")} == {"Float64"}
    assert str(frame["anInt4Range.start.inclusive"].dtype) == "boolean"
    parts = ("years", "months", "days", "hours", "minutes")
    extracted = ", ".join(f"extract({part} FROM an_interval)::int AS {part}" for part in parts)
    rows = database.fetch_rows(
        f"SELECT {extracted}, extract(seconds FROM an_interval)::float AS seconds, a_point[0] AS x,"
        " a_point[1] AS y, lower(an_int4range) AS low, upper(an_int4range) AS high"
        f" FROM forum.readings WHERE id < {INFINITE_ROW} ORDER BY id"
    )
    for part in (*parts, "seconds"):
        found = column_values(frame, f"anInterval.{part}")
        assert found == [None if row[part] is None else float(row[part]) for row in rows]
    for column, part in (("aPoint.x", "x"), ("aPoint.y", "y")):
        found = column_values(frame, column)
        assert found == [None if row[part] is None else float(row[part]) for row in rows]
    assert column_values(frame, "anInt4Range.start.value") == [row["low"] for row in rows]
    assert column_values(frame, "anInt4Range.end.value") == [row["high"] for row in rows]


@pytest.mark.parametrize("field", ["aTimestamp", "aTimestamptz", "aDate"])
def test_infinite_times_are_an_error_with_a_remedy(
    field: str, plain: PostGraphile, connect: Connect
) -> None:
    """The error names column and value of ``infinity``; ``strict=False`` returns text."""
    text = f"{{ allReadings(first: 3, offset: {INFINITE_ROW - 2}) {{ nodes {{ {field} }} }} }}"
    client = connect(plain)
    with pytest.raises(FrameError, match=rf"{field}.*infinity.*strict=False"):
        client.frame(text)
    assert "infinity" in client.frame(text, strict=False)[field][1]
    assert "infinity" in client.execute(text).frame(strict=False)[field][1]


def test_an_infinite_decimal_is_a_decimal(plain: PostGraphile, connect: Connect) -> None:
    """PostgreSQL's infinite numeric is one that Python's ``Decimal`` has."""
    text = f"{{ readingById(id: {INFINITE_ROW}) {{ aNumeric }} }}"
    frame = connect(plain).frame(text)
    assert frame["readingById.aNumeric"].tolist() == [Decimal("Infinity")]


def test_an_infinite_float_is_the_servers_error(plain: PostGraphile, connect: Connect) -> None:
    """GraphQL's Float has no infinity: the cell is null, with a warning."""
    text = f"{{ allReadings(first: 1, offset: {INFINITE_ROW - 1}) {{ nodes {{ id aReal }} }} }}"
    with pytest.warns(UserWarning, match="1 error"):
        frame = connect(plain).frame(text)
    assert frame.attrs["partial"]
    assert frame["aReal"].isna().all()


def test_times_with_different_offsets_are_one_instant_in_utc(
    plain: PostGraphile, connect: Connect
) -> None:
    """In one column."""
    text = "{ allReadings(first: 5) { nodes { aTimestamptz } } }"
    moments = connect(plain).frame(text)["aTimestamptz"]
    assert moments[4] == datetime(2024, 2, 29, 6, 30, 0, 123456, tzinfo=UTC)
    assert moments[3] == datetime(1970, 1, 1, tzinfo=UTC)
    assert moments[4] - moments[3] == timedelta(
        days=19782, hours=6, minutes=30, microseconds=123456
    )

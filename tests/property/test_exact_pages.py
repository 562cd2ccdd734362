"""Frames of joined pages equal the frame of one answer with the same rows.

The endpoint sends decimals as JSON numbers, as Hasura does, with more digits than a float holds.
"""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import re
from decimal import Decimal
from functools import partial
from typing import Any

import pandas as pd
import pytest
from graphql import build_schema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gqlnb import Client, FrameError, Schema
from gqlnb.http.messages import Response
from tests.client.faults import Wire

SDL = """
scalar numeric scalar bigint scalar BigInt scalar float8 scalar timestamp scalar Datetime
scalar jsonb scalar Duration scalar interval scalar Money scalar date scalar Odd
type Query { rows(first: Int, after: String): Rows owner: Owner
  plain(offset: Int, limit: Int): [Row] }
type Owner { total: numeric rows(first: Int, after: String): Rows }
type Rows { edges: [Edge] nodes: [Row] pageInfo: PageInfo! totalCount: Int sum: numeric }
type Edge { weight: numeric node: Row }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Row { id: ID! numeric: numeric money: Money list: [[numeric]] bigint: bigint BigInt: BigInt
  float8: float8 Float: Float Int: Int timestamp: timestamp Datetime: Datetime date: date
  jsonb: jsonb Odd: Odd Duration: Duration text: String part: Part parts: [Part] }
type Part { price: numeric }
"""
PART = "part { price } parts { price }"
LEAVES = (
    "id numeric money list bigint BigInt float8 Float Int timestamp Datetime date jsonb Odd "
    "Duration text"
)
FORMS = {
    "nodes": f"{{ rows(first: SIZE) {{ sum nodes {{ {LEAVES} {PART} }} }} }}",
    "edges": f"{{ rows(first: SIZE) {{ edges {{ weight node {{ {LEAVES} {PART} }} }} }} }}",
    "nested": f"{{ owner {{ total rows(first: SIZE) {{ nodes {{ {LEAVES} {PART} }} }} }} }}",
    "plain": f"{{ plain(offset: 0, limit: SIZE) {{ {LEAVES} {PART} }} }}",
}
NUMBER = re.compile(r'"@([^"@]*)@"')
HUGE = 10_000


class Numbers(Wire):
    """A transport to rows, which writes texts between @ as JSON numbers."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        def page(args: dict[str, Any]) -> dict[str, Any]:
            start = int(args.get("after") or 0)
            end = start + (args.get("first") or HUGE)
            part = rows[start:end]
            edges = [{"weight": row["numeric"], "node": row} for row in part]
            info = {"hasNextPage": end < len(rows), "endCursor": str(end)}
            total = {"totalCount": len(rows), "sum": "@0.10000000000000000000001@"}
            return {"edges": edges, "nodes": part, "pageInfo": info, **total}

        def cut(args: dict[str, Any]) -> list[dict[str, Any]]:
            start = args.get("offset") or 0
            return rows[start : start + (args.get("limit") or HUGE)]

        resolvers = {
            "Query": {
                "rows": lambda _root, args, _context: page(args),
                "owner": lambda *_: {"total": "@12345678901234567890.5@"},
                "plain": lambda _root, args, _context: cut(args),
            },
            "Owner": {"rows": lambda _root, args, _context: page(args)},
        }
        self.schema = Schema(SDL, resolvers)

    def send(self, request: Any) -> Response:
        """Execute a request."""
        result = self.schema.execute(
            request.query, request.variables, operation=request.operation_name
        )
        members = {"data": result.data}
        body = NUMBER.sub(r"\1", json.dumps(members))
        return Response(200, {"content-type": "application/json"}, body.encode())


DIGITS = st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9])?", fullmatch=True)
EXACT = st.none() | DIGITS.map("@{}@".format) | DIGITS
INTEGERS = st.integers(-(2**63), 2**63 - 1)
WHOLE = st.none() | INTEGERS | INTEGERS.map(str)
ANY = st.none() | st.sampled_from([1, "x", [1.5], {"a": {"price": 0.1}}])
FLOAT = st.none() | st.floats(allow_nan=False, allow_infinity=False)
MOMENT = "2024-02-29T12:30:00.123456"
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "numeric": EXACT,
            "money": EXACT,
            "list": st.none() | st.lists(st.none() | st.lists(EXACT, max_size=3), max_size=3),
            "bigint": WHOLE,
            "BigInt": WHOLE | st.integers(-(2**100), 2**100),
            "float8": FLOAT,
            "Float": FLOAT,
            "Int": st.none() | st.integers(-(2**31), 2**31 - 1),
            "timestamp": st.none() | st.sampled_from([MOMENT, MOMENT + "789"]),
            "Datetime": st.none() | st.sampled_from([MOMENT]),
            "date": st.none() | st.just("2024-02-29"),
            "jsonb": ANY,
            "Odd": ANY,
            "Duration": st.none() | st.sampled_from(["PT1S", "P1D"]),
            "text": st.none() | st.text(st.characters(exclude_characters='"@', codec="ascii")),
            "part": st.none() | st.fixed_dictionaries({"price": EXACT}),
            "parts": st.lists(st.none() | st.fixed_dictionaries({"price": EXACT}), max_size=2),
        }
    ),
    max_size=8,
).map(lambda rows: [{"id": str(number), **row} for number, row in enumerate(rows)])


def repickle(value: Any) -> Any:
    """Return a value after pickling."""
    return pickle.loads(pickle.dumps(value))


def check_equal(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    """Compare dtypes, values, and the types of values in object columns."""
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    for name in wanted.columns:
        for mine, other in zip(found[name].tolist(), wanted[name].tolist(), strict=True):
            assert repr(mine) == repr(other), name


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=ROWS, form=st.sampled_from(list(FORMS)), size=st.integers(1, 5))
@pytest.mark.filterwarnings("ignore:Values of the scalar")
@pytest.mark.filterwarnings("ignore:The result may be incomplete")
def test_merged_pages_equal_a_single_response(rows, form, size):
    """Every scalar at every level, in columns, lists, objects and tables."""
    wire = Numbers(rows)
    with Client(wire, schema=wire.schema.graphql) as client:
        one = client.execute(FORMS[form].replace("SIZE", str(HUGE)))
        text = FORMS[form].replace("SIZE", str(size))
        merged = client.execute_all(text, page_size=size, progress=False)
        assert len(merged) == len(rows)
        for again in range(2):
            check_equal(merged.frame(), one.frame())
            assert set(merged.frames) == set(one.frames)
            for name in one.frames:
                check_equal(merged.tables()[name], one.frames[name])
            assert merged.arrow().equals(one.arrow())
            assert merged.data == one.data, again
            assert json.dumps(merged.dicts()) == json.dumps(one.dicts())


LONG = "12345678901234567890.123456789"


def long_rows(count: int) -> list[dict[str, Any]]:
    """Return rows with decimals of 29 digits."""
    names = LEAVES.split()
    blank = {**dict.fromkeys(names), "part": {"price": f"@{LONG}@"}, "parts": []}
    return [{**blank, "id": str(n), "numeric": f"@{LONG}@"} for n in range(count)]


@pytest.fixture
def client():
    """Return a client of an endpoint with seven rows."""
    wire = Numbers(long_rows(7))
    return Client(wire, schema=wire.schema.graphql)


TEXT = "{ rows(first: 3) { sum nodes { id numeric part { price } } } }"


def check_long(frame: pd.DataFrame, count: int) -> None:
    """Check the decimals of a frame."""
    assert frame["numeric"].tolist() == [Decimal(LONG)] * count
    assert frame["part.price"].tolist() == [Decimal(LONG)] * count


@pytest.mark.filterwarnings("ignore:The result may be incomplete")  # said of each page but the last
def test_single_pages_are_exact(client):
    """Also if the frame of a page is built after later pages arrive."""
    pages = list(client.pages(TEXT, progress=False))
    assert [len(page.dicts()) for page in pages] == [3, 3, 1]
    for page in pages:
        check_long(page.frame(), len(page.dicts()))
        assert type(page.data["rows"]["nodes"][0]["numeric"]) is float
        assert type(page.data["rows"]["sum"]) is float
    whole = pd.concat([page.frame() for page in pages], ignore_index=True)
    check_equal(whole, client.frame(TEXT.replace("3", "10")))


def test_all_paging_methods_are_exact(client):
    """Methods, asynchronous methods, and a frame of all pages."""
    check_long(client.execute_all(TEXT, progress=False).frame(), 7)
    check_long(client.frame(TEXT, pages="all"), 7)
    check_long(asyncio.run(client.aexecute_all(TEXT, progress=False)).frame(), 7)

    async def collect() -> list[pd.DataFrame]:
        return [page.frame() async for page in client.apages(TEXT, progress=False)]

    check_long(pd.concat(asyncio.run(collect()), ignore_index=True), 7)


def test_resumed_pages_are_exact(client):
    """Those before the interruption and those after it."""
    first = client.execute_all(TEXT, page_size=3, max_requests=1, progress=False)
    check_long(first.frame(), 3)
    check_long(client.resume(first, progress=False).frame(), 7)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, repickle])
def test_copied_and_pickled_results_are_exact(copied):
    """Frames have all digits, and data have floats, whether or not they were decoded before."""
    client = Client(Numbers(long_rows(7)), schema=build_schema(SDL))
    whole = "{ rows { sum nodes { id list numeric part { price } parts { price } } } }"
    for make in (partial(client.execute, whole), partial(client.execute_all, TEXT, progress=False)):
        result, decoded = make(), make()
        assert type(decoded["rows"]["sum"]) is float
        for found in (result, decoded):
            again = copied(copied(found))
            check_equal(again.frame(), found.frame())
            assert json.dumps(again.data) == json.dumps(found.data)
            assert again.frame()["numeric"].tolist()[0] == Decimal(LONG)
    first = client.execute_all(TEXT, page_size=3, max_requests=1, progress=False)
    check_long(copied(first).frame(), 3)


def test_object_columns_have_json_values():
    """Floats for JSON numbers beside text of another form, as for a single response."""
    wire = Numbers([*long_rows(3), {**long_rows(1)[0], "id": "9", "numeric": "abc"}])
    client = Client(wire, schema=wire.schema.graphql)
    merged = client.execute_all(TEXT, progress=False)
    one = client.execute(TEXT.replace("3", "10"))
    with pytest.raises(FrameError, match="row 3 is 'abc'"):
        merged.frame()
    assert merged.frame(strict=False)["numeric"].tolist() == [float(LONG)] * 3 + ["abc"]
    check_equal(merged.frame(strict=False), one.frame(strict=False))


def test_numbers_outside_a_list_are_json(client):
    """In `attrs`, as for a single response."""
    merged = client.execute_all(TEXT, progress=False).frame().attrs["beside"]
    one = client.frame(TEXT.replace("3", "10")).attrs["beside"]
    assert merged == one
    assert merged == {"rows.sum": 0.1}


ZONED, LOCAL = "datetime64[us, UTC]", "datetime64[us]"
MOMENTS = "{ rows(first: 1) { nodes { id Datetime timestamp } } }"


def pages_of(moments: list[str | None], name: str = "Datetime") -> list[pd.DataFrame]:
    """Return the frames of pages with one timestamp each."""
    rows = [{**row, name: moment} for row, moment in zip(long_rows(9), moments, strict=False)]
    wire = Numbers(rows)
    client = Client(wire, schema=wire.schema.graphql)
    return [page.frame() for page in client.pages(MOMENTS, progress=False, page_size=1)]


@pytest.mark.filterwarnings("ignore:The result may be incomplete")
@pytest.mark.parametrize(("moment", "dtype"), [(MOMENT, LOCAL), (MOMENT + "Z", ZONED)])
def test_a_page_of_nulls_has_the_dtypes_of_earlier_pages(moment, dtype):
    """For scalars with or without a time zone, so that pages can be concatenated."""
    frames = pages_of([moment, None, None, moment])
    assert [str(frame["Datetime"].dtype) for frame in frames] == [dtype] * 4
    whole = pd.concat(frames, ignore_index=True)["Datetime"]
    assert str(whole.dtype) == dtype
    assert whole.isna().tolist() == [False, True, True, False]
    assert str(frames[1]["timestamp"].dtype) == LOCAL


@pytest.mark.filterwarnings("ignore:The result may be incomplete")
def test_a_late_time_zone_warns_once():
    """A column without values is assumed to be in UTC; a later page may contradict that."""
    with pytest.warns(UserWarning, match="'Datetime' is datetime64.us. from this page on") as said:
        frames = pages_of([None, MOMENT, None])
    assert [str(frame["Datetime"].dtype) for frame in frames] == [ZONED, LOCAL, LOCAL]
    assert len([each for each in said if "from this page on" in str(each.message)]) == 1
    frames = pages_of([None, None])
    assert [str(frame["Datetime"].dtype) for frame in frames] == [ZONED, ZONED]

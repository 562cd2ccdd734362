"""JSON numbers with more digits than a float has, in columns of decimals."""

import json
from decimal import Decimal

import pytest
from graphql import build_schema, introspection_from_schema

import gqlnb
from tests.client.faults import Wire, answer

SCHEMA = build_schema(
    "scalar numeric type Query { rows: [Row] sums: Sums } type Row { v: numeric } "
    "type Sums { v: numeric at: String }"
)
LONG = "12345678901234567890.123456789"


def rows(count):
    """Return an answer of rows."""
    listed = ",".join([f'{{"v":{LONG}}}'] * count)
    return f'{{"data":{{"rows":[{listed}]}}}}'


def check(result):
    """Check that the columns are exact before the data are looked at, and after."""
    for _ in range(2):
        assert set(result.frame()["v"]) == {Decimal(LONG)}
        assert set(result.frames["rows"]["v"]) == {Decimal(LONG)}
        assert set(result.arrow()["v"].to_pylist()) == {Decimal(LONG)}
        assert type(result.data["rows"][0]["v"]) is float


@pytest.mark.parametrize("count", [1, 3000])
def test_decimal_columns_are_exact_with_a_lazily_loaded_schema(count, endpoint):
    """The first frame loads it."""
    schema = json.dumps({"data": introspection_from_schema(SCHEMA)})
    server = endpoint(answer(rows(count)), answer(schema))
    check(gqlnb.Client(server.url).execute("{ rows { v } }"))


def test_an_answer_without_lists_is_exact_too():
    """Such as a sum."""
    body = f'{{"data":{{"sums":{{"v":{LONG},"at":"x"}}}}}}'
    result = gqlnb.Client(Wire(body), schema=SCHEMA).execute("{ sums { v at } }")
    assert result.frame().values.tolist() == [[Decimal(LONG), "x"]]
    assert result.data == {"sums": {"v": float(LONG), "at": "x"}}


def test_recordings_contain_all_digits(endpoint, tmp_path):
    """A replay has the same columns; floats keep their notation."""
    schema = json.dumps({"data": introspection_from_schema(SCHEMA)})
    body = f'{{"data":{{"rows":[{{"v":{LONG}}},{{"v":1.10}},{{"v":1e2}},{{"v":5}}]}}}}'
    server = endpoint(answer(schema), answer(body))
    wanted = [Decimal(LONG), Decimal("1.1"), Decimal(100), Decimal(5)]
    for _ in range(2):
        with gqlnb.recorded(tmp_path / "numbers.jsonl"):
            client = gqlnb.Client(server.url)
            assert client.schema
            result = client.execute("{ rows { v } }")
            assert result.frame()["v"].tolist() == wanted
            assert result.data["rows"][1:] == [{"v": 1.1}, {"v": 100.0}, {"v": 5}]
    assert len(server.requests) == 2

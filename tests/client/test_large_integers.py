"""Integers beyond 2**53 as variables: JavaScript servers round them as JSON numbers."""

import json
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from graphql import build_schema, introspection_from_schema

import gqlnb
from gqlnb.document import scalars
from tests.client.faults import Wire, answer

BIG = 2**53 + 1
SAFE = 2**53 - 1
SDL = """
scalar BigInt scalar Long scalar bigint scalar numeric scalar BigFloat scalar Snowflake
scalar JSON scalar jsonb scalar float8
type Query { f(big: BigInt, long: Long, hasura: bigint, numeric: numeric, exact: BigFloat,
  other: Snowflake, id: ID, any: JSON, row: Row, rows: [Row!], many: [BigInt!]): String }
input Row { big: BigInt numeric: numeric other: Snowflake any: jsonb number: float8 rows: [Row!]
  many: [[BigInt]] }
"""
SCHEMA = build_schema(SDL)


def ask_with(declared):
    """Return a query with a variable of a declared type."""
    arguments = dict(re.findall(r"(\w+): ([\w\[\]!]+)[,)]", SDL.partition("input")[0]))
    (name,) = (name for name, kind in arguments.items() if kind == declared)
    return f"query($v: {declared}) {{ f({name}: $v) }}"


def send(declared, value, schema):
    """Return the JSON form in which a variable of a declared type is sent."""
    wire = Wire('{"data":{"f":null}}')
    client = gqlnb.Client(wire, schema=SCHEMA if schema else None)
    client.execute(ask_with(declared), {"v": value})
    return json.loads(wire.requests[-1].encode())["variables"]["v"]


@pytest.mark.parametrize("schema", [True, False], ids=["schema", "no schema"])
@pytest.mark.parametrize(
    "declared", ["BigInt", "Long", "bigint", "numeric", "BigFloat", "Snowflake", "ID"]
)
def test_large_integers_are_sent_as_text(declared, schema):
    """Integers that every JSON parser represents exactly stay numbers."""
    assert send(declared, BIG, schema) == str(BIG)
    assert send(declared, -BIG, schema) == str(-BIG)
    assert send(declared, 2**70, schema) == str(2**70)
    assert send(declared, SAFE, schema) == SAFE
    assert send(declared, -SAFE, schema) == -SAFE
    assert send(declared, str(BIG), schema) == str(BIG)


@pytest.mark.parametrize("schema", [True, False], ids=["schema", "no schema"])
@pytest.mark.parametrize(
    "values",
    [
        [BIG, 1],
        (BIG, 1),
        np.array([BIG, 1]),
        pd.Series([BIG, 1], dtype="Int64"),
        [Decimal(BIG), Decimal(1)],
    ],
    ids=["list", "tuple", "array", "Series", "decimals"],
)
def test_large_integers_in_lists_are_sent_as_text(values, schema):
    """In every kind of list, including single items coerced to lists."""
    assert send("[BigInt!]", values, schema) == [str(BIG), 1]
    assert send("[BigInt!]", BIG, schema) == str(BIG)


def test_fields_of_input_objects_are_converted_by_type():
    """Text for big integers at any depth, numbers for JSON and Float."""
    row = {"big": BIG, "numeric": BIG, "other": BIG, "any": {"x": [BIG]}, "many": [[BIG, None]]}
    sent = {
        "big": str(BIG),
        "numeric": str(BIG),
        "other": str(BIG),
        "any": {"x": [BIG]},
        "many": [[str(BIG), None]],
    }
    assert send("Row", row, schema=True) == sent
    assert send("Row", {"number": BIG}, schema=True) == {"number": BIG}
    assert send("[Row!]", [{"rows": [row]}], schema=True) == [{"rows": [sent]}]
    frame = pd.DataFrame({"big": [BIG, SAFE], "number": [1.5, 2.5]})
    assert send("[Row!]", frame, schema=True) == [
        {"big": str(BIG), "number": 1.5},
        {"big": SAFE, "number": 2.5},
    ]


def test_without_a_schema_all_large_integers_are_text():
    """A server refuses an unexpected text, but rounds numbers silently."""
    assert send("Row", {"big": BIG, "rows": [{"big": -BIG, "number": 0.5}]}, schema=False) == {
        "big": str(BIG),
        "rows": [{"big": str(-BIG), "number": 0.5}],
    }
    assert send("JSON", {"x": BIG}, schema=False) == {"x": BIG}


def test_the_variables_of_the_caller_are_not_changed():
    """A copy is sent."""
    given = {"big": BIG, "rows": [{"big": BIG}]}
    send("Row", given, schema=True)
    assert given == {"big": BIG, "rows": [{"big": BIG}]}


def test_the_schema_is_loaded_for_input_objects(endpoint):
    """A new client sends the same as one with the schema."""
    schema = json.dumps({"data": introspection_from_schema(SCHEMA)})
    server = endpoint(answer(schema), answer('{"data":{"f":null}}'))
    client = gqlnb.Client(server.url)
    text = "query($v: Row) { f(row: $v) }"
    client.execute(text, {"v": {"big": BIG, "number": 2**60, "any": BIG}})
    sent = json.loads(server.requests[-1].split(b"\r\n\r\n", 1)[1])["variables"]["v"]
    assert sent == {"big": str(BIG), "number": 2**60, "any": BIG}


def test_a_custom_serializer_takes_precedence(monkeypatch):
    """`gqlnb.scalar(..., serialise=int)` sends numbers."""
    monkeypatch.setattr(scalars, "_REGISTERED", {})
    gqlnb.scalar("Snowflake", serialise=int)
    assert send("Snowflake", BIG, schema=True) == BIG
    assert send("Snowflake", BIG, schema=False) == BIG
    gqlnb.scalar("Snowflake", like="BigInt")
    assert send("Snowflake", BIG, schema=True) == str(BIG)


@pytest.mark.parametrize("value", ["0.1000000000000000000001", "12345678901234567890.10", "1E+40"])
def test_decimals_are_sent_as_text(value):
    """With all their digits, for any scalar, with and without a schema."""
    for declared in ("numeric", "BigFloat", "Snowflake"):
        for schema in (True, False):
            assert send(declared, Decimal(value), schema) == value
    assert send("Row", {"numeric": Decimal(value)}, schema=True) == {"numeric": value}


@pytest.fixture(params=["in process", "http"])
def ask(request):
    """Yield a function that returns the argument that a resolver of ours gets."""
    got = []
    fields = "f(big: BigInt, long: Long, id: ID, row: Row): String"
    schema = gqlnb.Schema(
        "scalar BigInt scalar Long input Row { big: BigInt many: [BigInt] }"
        f"type Query {{ {fields} }}",
        {"Query": {"f": lambda _root, args, _context: got.append(args)}},
    )

    def call(client, declared, name, value):
        client.execute(f"query($v: {declared}) {{ f({name}: $v) }}", {"v": value})
        return got.pop()[name]

    if request.param == "in process":
        yield lambda *given: call(gqlnb.Client(schema), *given)
        return
    with gqlnb.serve(schema, port=0) as server:
        yield lambda *given: call(gqlnb.Client(server.url), *given)


def test_our_resolvers_get_integers(ask):
    """In process and over HTTP, for both forms of a value."""
    assert ask("BigInt", "big", BIG) == BIG
    assert ask("BigInt", "big", str(BIG)) == BIG
    assert ask("Long", "long", -BIG) == -BIG
    assert ask("BigInt", "big", 5) == 5
    assert ask("ID", "id", BIG) == str(BIG)
    assert ask("Row", "row", {"big": BIG, "many": [BIG, 1]}) == {"big": BIG, "many": [BIG, 1]}


def test_text_that_is_not_a_large_integer_stays_text(ask):
    """A resolver may expect text for small numbers, and numbers have no leading zeros."""
    for text in ("5", "0" + str(BIG), "1e20", "x", str(SAFE)):
        assert ask("BigInt", "big", text) == text


# As graphique 2.1 and @cap-js/graphql 0.10.1 answer.
ONLY_NUMBERS = (
    "Variable '$v' has invalid value at [0]: Expected value of type 'BigInt', but encountered "
    "error 'BigInt cannot represent value: 1152921504606846976'; found: '1152921504606846976'."
)
ONLY_TEXT = (
    'Variable "$v" got invalid value 5; Int64 variable value must be represented by a string: 5'
)


@pytest.mark.parametrize("schema", [True, False], ids=["schema", "no schema"])
@pytest.mark.parametrize(
    ("message", "declared", "value", "advice"),
    [
        (ONLY_NUMBERS, "[BigInt!]", [2**60], "gqlnb.scalar('BigInt', serialise=int)"),
        (ONLY_TEXT, "BigInt", 5, "gqlnb.scalar('BigInt', serialise=str)"),
        (ONLY_TEXT, "Snowflake", 5, "gqlnb.scalar('Snowflake', serialise=str)"),
        ("BigInt cannot be text", "Row", {"big": 2**60}, "gqlnb.scalar('BigInt', serialise=int)"),
        ("Cannot query field 'f'", "BigInt", 5, None),
        (ONLY_TEXT, "ID", 5, None),
    ],
    ids=["only numbers", "only text", "unknown scalar", "input object", "another fault", "ID"],
)
def test_a_refused_integer_names_the_other_form(message, declared, value, advice, schema):
    """No schema says whether a scalar takes numbers or text."""
    if declared == "Row" and not schema:  # the scalars of its fields are not known
        advice = None
    error = {"message": message, "locations": [{"line": 1, "column": 7}]}
    wire = Wire(json.dumps({"errors": [error]}))
    client = gqlnb.Client(wire, schema=SCHEMA if schema else None)
    with pytest.raises(gqlnb.QueryError) as caught:
        client.execute(ask_with(declared), {"v": value})
    assert caught.value.problems[0].hint is None or advice is not None
    assert advice is None or advice in str(caught.value)


def test_the_other_form_is_sent_after_its_registration(monkeypatch):
    """Numbers of any size, or text for all integers."""
    monkeypatch.setattr(scalars, "_REGISTERED", {})
    monkeypatch.setattr(scalars, "_version", scalars._version)
    gqlnb.scalar("BigInt", serialise=int)
    assert send("[BigInt!]", [2**60, 5], schema=True) == [2**60, 5]
    gqlnb.scalar("BigInt", serialise=str)
    assert send("[BigInt!]", [2**60, 5], schema=False) == [str(2**60), "5"]

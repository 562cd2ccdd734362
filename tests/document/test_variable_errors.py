"""Errors about values of variables name the variable, the place and the type, never the value."""

import graphql
import pytest
from graphql import build_schema

import gqlnb
from gqlnb import QueryError
from gqlnb.document.document import Document
from gqlnb.document.variables import check_variables

SDL = """
type Query { f(int: Int, row: Row, rows: [Row!], many: [Int!], level: Level, text: String,
  one: One, flag: Boolean, id: ID, number: Float, needed: Int, code: Code): Int }
input Row { x: Int! rows: [Row!] text: String level: Level many: [[Int]] }
input One @oneOf { a: Int b: Int }
enum Level { LOW HIGH }
scalar Code
"""
SECRET = "hunter2"
TYPES = {
    "int": "Int", "row": "Row", "rows": "[Row!]", "many": "[Int!]", "level": "Level",
    "text": "String", "one": "One", "flag": "Boolean", "id": "ID", "number": "Float",
    "needed": "Int!", "code": "Code",
}  # fmt: skip
CASES = [
    ("int", SECRET, "Int cannot represent text."),
    ("int", 3.7, "Int cannot represent a number with a fraction."),
    ("int", 7777777777, "Int cannot represent a number of more than 32 bits."),
    ("int", [SECRET], "Int cannot represent a list."),
    ("row", SECRET, "text, and Row takes an object."),
    ("row", [{"x": 1}], "a list, and Row takes an object."),
    ("row", {"x": SECRET}, "at x: Int cannot represent text."),
    ("row", {"x": 1, "text": {"password": SECRET}}, "at text: String cannot represent an object"),
    ("row", {"x": 1, "rows": [{"x": 1}, {"x": SECRET}]}, "at rows[1].x: Int cannot represent"),
    ("row", {"x": 1, "many": [[1], [SECRET]]}, "at many[1][0]: Int cannot represent text."),
    ("row", {"x": 1, "txet": SECRET}, "the object has the field 'txet', which the type Row does"),
    ("row", {"x": 1, "txet": SECRET}, "not have. Did you mean 'text'?"),
    ("row", {"text": SECRET}, "the field 'x' is missing, which Row requires: Int!."),
    ("row", {"x": None, "text": SECRET}, "at x: null, and the type Int! is non-null."),
    ("rows", [{"x": 1}, None, {"text": SECRET, "x": 1}], "at [1]: null, and the type Row!"),
    ("many", [1, SECRET], "at [1]: Int cannot represent text."),
    ("level", SECRET, "Enum 'Level' cannot represent this text. It has 'LOW', 'HIGH'."),
    ("level", 7777, "Enum 'Level' cannot represent a whole number."),
    ("text", 7777, "String cannot represent a whole number."),
    ("text", {"password": SECRET}, "String cannot represent an object."),
    ("one", {"a": 7777, "b": 8888}, "One takes exactly one of its fields"),
    ("flag", SECRET, "Boolean cannot represent text."),
    ("id", 7777.5, "ID cannot represent a number."),
    ("number", SECRET, "Float cannot represent text."),
    pytest.param(
        "number", 2**53 + 1, "Float cannot represent an integer that a float does not hold.",
        marks=pytest.mark.skipif(
            graphql.version_info < (3, 3), reason="graphql-core 3.2 rounds such integers."
        ),
    ),
    ("code", SECRET, "Code cannot represent this value, which is text."),
]  # fmt: skip
VALUES = (SECRET, "7777", "8888", "3.7", "9007199254740993", "password")


def refuse(value):
    """Refuse every value, and show it."""
    message = f"no code: {value}"
    raise ValueError(message)


def make_schema():
    """Return a schema with a scalar that refuses every value."""
    return gqlnb.Schema(SDL, {"Code": {"__parseValue": refuse}})


def check_error(target, name, value, said):
    """Execute on a schema or by a client; assert that the error says this, and not the value."""
    with pytest.raises(QueryError) as caught:
        target.execute(f"query($v: {TYPES[name]}) {{ f({name}: $v) }}", {"v": value})
    error = caught.value
    assert str(error).startswith("Variable '$v' has invalid value")
    assert said in str(error)
    shown = f"{error} {error!r} {error.problems} {''.join(error._render_traceback_())}"
    assert not [it for it in VALUES if it in shown]
    assert (error.problems[0].line, error.problems[0].column) == (1, 7)
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize(("name", "value", "said"), CASES)
def test_an_error_never_contains_the_value(name, value, said):
    """At any position; it describes what the type accepts."""
    check_error(make_schema(), name, value, said)


def test_an_error_of_a_served_schema_never_contains_the_value():
    """Which the server checks, too."""
    with gqlnb.serve(make_schema(), port=0) as server, gqlnb.Client(server.url) as client:
        for case in CASES:
            if type(case) is tuple:  # another depends on the version of graphql-core
                check_error(client, *case)


def test_several_faults_are_reported_together():
    """Each with its path."""
    document = Document.parse("query($v: Row $w: Int) { f(row: $v int: $w) }", build_schema(SDL))
    with pytest.raises(QueryError) as caught:
        check_variables(document, {"v": {"x": SECRET, "level": SECRET}, "w": SECRET})
    assert [problem.message.partition(":")[0] for problem in caught.value.problems] == [
        "Variable '$v' has invalid value at x",
        "Variable '$v' has invalid value at level",
        "Variable '$w' has invalid value",
    ]


@pytest.mark.parametrize("value", [3.0, 5, None])
def test_valid_values_are_accepted(value):
    """A whole float is an Int, as in graphql-core."""
    document = Document.parse("query($v: Int) { f(int: $v) }", build_schema(SDL))
    check_variables(document, {"v": value})

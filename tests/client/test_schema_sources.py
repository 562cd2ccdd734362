"""Third-party schemas: read as data, tolerated despite mistakes, or refused with one sentence."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from graphql import build_schema, introspection_from_schema, print_schema
from hypothesis import given, settings
from hypothesis import strategies as st

from gqlnb import Client, QueryError, Schema, SchemaError, connect
from gqlnb.client.schema_sources import read_schema
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.engine.schema_builder import load_introspection
from tests.examples import count_examples

if TYPE_CHECKING:
    from collections.abc import Callable

SDL = """type Query { hello(name: String = "you"): String  pet: Pet }
type Pet { name: Name } enum Name { A B }"""
TOLD = introspection_from_schema(build_schema(SDL))
# As GitHub's published SDL: two fields are there twice.
TWICE = """
type Query { owner: OwnerInfo }
type OwnerInfo {
  setting: Int  setting: String  settings(first: Int): Int  settings(first: Int): Int
}
"""
NOWHERE = "http://127.0.0.1:1/graphql"  # schemas are given, so nothing is asked


def files(folder: Path) -> dict[str, Path]:
    """Return files that hold the schema."""
    texts = {
        "schema.graphql": SDL,
        "schema.graphqls": f"\ufeff{SDL}",
        "bare.json": json.dumps(TOLD),
        "whole.json": json.dumps({"data": TOLD}, indent=1),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {name: folder / name for name in texts}


@pytest.mark.parametrize("name", ["schema.graphql", "schema.graphqls", "bare.json", "whole.json"])
@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("make", [Client, connect])
def test_schema_files_are_accepted(tmp_path, name, kind, make):
    """SDL or introspection, with and without its envelope; documents are validated with it."""
    client = make(NOWHERE, schema=kind(files(tmp_path)[name]))
    assert print_schema(client.schema) == print_schema(build_schema(SDL))
    with pytest.raises(QueryError, match="Did you mean 'hello'"):
        client.execute("{ helo }")


@pytest.mark.parametrize(
    "given",
    [SDL, f"\n{SDL}", TOLD, {"data": TOLD}, json.dumps(TOLD), Schema(SDL), build_schema(SDL)],
    ids=["SDL", "line", "result", "envelope", "JSON", "Schema", "graphql-core"],
)
def test_schema_values_are_accepted(given):
    """Text, an introspection result, an object."""
    client = Client(NOWHERE, schema=given)
    assert print_schema(client.schema) == print_schema(build_schema(SDL))
    assert client.schema_notes == ()


def test_invalid_sdl_like_githubs_is_used_with_a_note():
    """The later definition applies, and the note names the duplicates."""
    client = Client(NOWHERE, schema=TWICE)
    assert str(client.schema.type_map["OwnerInfo"].fields["setting"].type) == "String"
    (note,) = client.schema_notes
    assert note.startswith("The text is used in spite of 2 mistakes in it: ")
    assert "'OwnerInfo.setting' can only be defined once" in note


def test_undefined_directives_are_ignored():
    """Federation, authorization and code generators use some."""
    client = Client(NOWHERE, schema='type Query @key(fields: "id") { id: ID! @auth }')
    assert client.schema.query_type is not None
    assert "Unknown directive" in client.schema_notes[0]


WRONG = {
    "nothing": (" \n", r"The text is empty\. schema= takes SDL text, the path"),
    "a number": (5, r"schema= takes SDL text, .* got int\."),
    "no file": (
        "nowhere.graphql",
        r"does not refer to a readable file: 'nowhere.graphql' \(No such file",
    ),
    "a folder": (Path(__file__).parent, r"does not refer to a readable file"),
    "a null": (Path("a\0b"), r"does not refer to a readable file"),
    "syntax": ("type Query {\n  a: ?\n}", r"Syntax Error(.|\n)*line 2, column 6"),
    "a query": ("query { hello }", "This is an operation, not a schema"),
    "no such type": ("type Query { a: B }", "Unknown type"),
    "no query type": ("type A { a: Int }", "there is no query type"),
    "depth": ("type Query { a: " + "[" * 9999 + "Int" + "]" * 9999 + " }", "nested too deeply"),
    "JSON": ('{"a": }', "begins like JSON, but is not valid"),
    "other JSON": ('{"a": 1}', "there is no '__schema' in it"),
    "errors": ({"errors": [{"message": "No"}]}, "there is no '__schema' in it"),
    "a list": ('{"__schema": []}', "there is no '__schema' in it"),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_invalid_schema_is_an_error_with_the_reason(what):
    """The message shows the value and the accepted forms."""
    value, message = WRONG[what]
    with pytest.raises(SchemaError, match=message):
        Client(NOWHERE, schema=value)


def test_a_binary_file_is_an_error(tmp_path):
    """An image, for example."""
    (tmp_path / "a.graphql").write_bytes(b"\x89PNG\xff")
    with pytest.raises(SchemaError, match="it is not UTF-8"):
        Client(NOWHERE, schema=tmp_path / "a.graphql")


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return the introspection result with a change, given the types by name."""
    told = deepcopy(TOLD)
    change({kind["name"]: kind for kind in told["__schema"]["types"]} | {"": told["__schema"]})
    return told


def endless(levels: int) -> dict[str, Any]:
    """Return a type of many levels."""
    kind: dict[str, Any] = {"kind": "SCALAR", "name": "String"}
    for _ in range(levels):
        kind = {"kind": "LIST", "name": None, "ofType": kind}
    return kind


def argument(types: dict[str, Any]) -> dict[str, Any]:
    """Return an argument."""
    return types["Query"]["fields"][0]["args"][0]


HOSTILE = {
    "names of Python": lambda types: types["Pet"].update(name="__import__('os')"),
    "a value true": lambda types: types["Name"]["enumValues"][0].update(name="true"),
    "no name": lambda types: types["Pet"].pop("name"),
    "a name that is a list": lambda types: types["Pet"].update(name=[]),
    "an unknown type": lambda types: types["Query"]["fields"][1]["type"].update(name="Gone"),
    "fields that are text": lambda types: types["Pet"].update(fields="abc"),
    "endless": lambda types: types["Pet"]["fields"][0].update(type=endless(50_000)),
    "types that are none": lambda types: types[""].update(types=[None, 5, "a", []]),
    "no query type": lambda types: types[""].update(queryType=None),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_an_invalid_introspection_result_is_a_one_sentence_error(what):
    """No foreign exception is raised, and none of its content is executed."""
    told = changed(HOSTILE[what])
    with pytest.raises(SchemaError) as caught:
        read_schema(told)
    assert str(caught.value).startswith("The introspection result describes no schema: ")
    assert len(str(caught.value)) < 400
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "default",
    ["__import__('os').system('touch {}')", "", "$variable", "[" * 50_000, 5],
)
def test_an_invalid_default_value_is_omitted(default, tmp_path):
    """With a note; it is never evaluated, and the input is not changed."""
    touched = tmp_path / "touched"
    if isinstance(default, str):
        default = default.replace("{}", str(touched))
    told = changed(lambda types: argument(types).update(defaultValue=default))
    before = json.dumps(told)
    made = read_schema(told)
    assert "name: String)" in print_schema(made.graphql)
    if IS_GRAPHQL_33 or default != "$variable":  # graphql-core 3.2 drops it by itself
        assert made.notes == (
            "The introspection result has default values that are no GraphQL, which are left out: "
            "Query.hello(name:).",
        )
    assert json.dumps(told) == before
    assert not touched.exists()


@pytest.mark.parametrize(
    ("locations", "known"),
    [
        (["LATER", "FIELD"], ["directive @mark on FIELD"]),
        (["FIELD", 5, ["LATER"]], ["directive @mark on FIELD"]),
        (["LATER"], []),
    ],
)
def test_a_directive_location_of_a_later_specification_is_omitted(locations, known):
    """Silently: graphql-core reads no schema with it. The SDL is valid."""
    directive = {"name": "mark", "description": None, "args": [], "locations": locations}
    told = changed(lambda types: types[""]["directives"].append(directive))
    made = read_schema(told)
    sdl = print_schema(made.graphql)
    assert [line for line in sdl.splitlines() if "@mark" in line] == known
    assert build_schema(sdl).query_type
    assert made.notes == ()
    assert directive["locations"] == locations


def test_directives_of_every_endpoint_need_not_be_listed():
    """bramble-graphql 0.3 lists none, and fields of introspection as fields of Query."""
    told = changed(lambda types: types[""].update(directives=[]))
    fields = told["__schema"]["types"][0]["fields"]
    schema = {"kind": "OBJECT", "name": "__Schema", "ofType": None}
    meta = {"name": "__schema", "type": schema, "args": [], "isDeprecated": False}
    told["__schema"]["types"][0]["fields"] = [*fields, meta]
    made = read_schema(told)
    assert [*made.graphql.query_type.fields] == ["hello", "pet"]
    client = Client(NOWHERE, schema=told)
    text = "query ($is: Boolean!) { hello @skip(if: $is) pet @include(if: $is) { name } }"
    assert client.parse_document(text)


def test_a_duplicate_type_is_named():
    """The later definition applies."""
    told = changed(lambda types: types[""]["types"].append(dict(types["Pet"], description="2nd")))
    made = read_schema(told)
    assert made.graphql.type_map["Pet"].description == "2nd"
    assert made.notes == ("The introspection result describes types more than once: Pet.",)


def test_circular_types_are_accepted():
    """In outputs, inputs and interfaces, even invalid ones; documents are still validated."""
    sdl = """
    type Query { a(x: X): Query  b: I }
    input X { x: X! }
    interface I implements I { i: I }
    type T implements I { i: I t: [T!]! }
    """
    client = Client(NOWHERE, schema=sdl)
    assert (
        client.parse_document("{ a { a { b { i { i { __typename } } } } } }").schema
        is client.schema
    )
    with pytest.raises(QueryError):
        client.parse_document("{ a(x: {}) { __typename } }")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["Query", "Pet", "a b", "", "\0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "kind", "ofType", "fields"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=count_examples(200))
@given(data=st.data())
def test_any_corruption_gives_a_schema_or_a_clear_error(data):
    """One value anywhere in a result is replaced by any other JSON value."""
    told = deepcopy(TOLD)
    place: Any = told["__schema"]
    while True:
        step = data.draw(
            st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place)))
        )
        inner = place[step]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.integers(0, 4)) == 0:
            break
        place = inner
    place[step] = data.draw(JSON)
    said = printed(told)
    assert said.startswith(("It ", "type ", "schema ", '"', "enum ", "directive ", "scalar "))


def printed(told: dict[str, Any]) -> str:
    """Return a schema as SDL, or the sentence that says why there is none."""
    try:
        return print_schema(load_introspection(told, "It").graphql)
    except SchemaError as error:
        return str(error)

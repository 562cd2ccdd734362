"""Schema changes and the operations that they affect."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any

import msgspec
import pytest
from graphql import (
    build_client_schema,
    build_schema,
    introspection_from_schema,
    introspection_types,
    print_schema,
)

import gqlnb
from gqlnb import Client, OptionError, QueryError, Schema, SchemaError, serve
from gqlnb.client.schema_diff import compare_schemas
from gqlnb.client.schema_sources import read_schema
from tests.client.faults import Endpoint, json_answer
from tests.client.inspector_verdicts import BASE as INSPECTED
from tests.client.inspector_verdicts import CHANGES

BEFORE = """
directive @gone(x: Int) on FIELD
directive @kept(x: Int, y: Int) repeatable on FIELD | QUERY
type Query { pet(size: Int = 1, old: Int): Pet  either: Either  many(filter: Filter): Int  x: Node }
interface Node { id: ID }
interface Named { name: String }
type Pet implements Node & Named { id: ID  name: String  kind: Kind  unused: Int }
type Stone implements Node { id: ID }
type Removed { a: Int }
type Changed { a: Int }
union Either = Pet | Stone
enum Kind { A B }
input Filter { text: String  deep: Deep  loop: Filter }
input Deep { kind: Kind }
"""
AFTER = """
directive @kept(x: Int, z: Int!) on FIELD
type Query { pet(size: Int = 2, must: Int!, may: Int): Pet  either: Either  x: Node
  many(filter: Filter): Int }
interface Node { id: ID }
interface Named { name: Int }
type Pet implements Node & Named { id: ID  name: Int  kind: Kind }
type Stone implements Node & Named { id: ID  name: Int }
enum Changed { a }
union Either = Pet | Query
enum Kind { A C }
input Filter { text: String  deep: Deep  loop: Filter  more: Int! }
input Deep { kind: Kind  may: Int }
"""


FILTER = {"Filter.more", "Kind.B", "Kind.C", "Deep.may"}


def changes(*texts: str, before: str = BEFORE, after: str = AFTER) -> Any:
    """Return the changes between two schemas."""
    return compare_schemas(
        Schema(before).graphql, Schema(after).graphql, texts, "https://api.example/"
    )


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ("query Q { pet { id } }", {"Query.pet(old:)", "Query.pet(must:)", "Query.pet(size:)"}
         | {"Query.pet(may:)"}),
        ("query Q { x { ... on Pet { name } } }", {"Pet.name"}),
        ("query Q { x { ...F } } fragment F on Pet { unused }", {"Pet.unused"}),
        ("query Q { x { ... on Pet { kind } } }", {"Kind.B", "Kind.C"}),
        ("query Q { either { __typename } }", {"Either"}),
        ("query Q { many(filter: {text: \"a\"}) }", FILTER),
        ("query Q($f: Filter) { many(filter: $f) }", FILTER),
        ("query Q { x @gone { id } }", {"@gone"}),
        ("query Q { x { id } }", set()),
    ],
)  # fmt: skip
def test_changes_list_the_affected_operations(text, touched):
    """Those changes are first, breaking ones before dangerous ones."""
    found = changes(text)
    assert {each.place for each in found if each.touches} == touched
    assert {each.touches for each in found} <= {(), ("Q",)}
    ranks = [(not each.touches, each.severity) for each in found]
    assert ranks == sorted(ranks)


def test_newly_invalid_operations_are_reported():
    """With their errors; operations that were invalid before are not."""
    found = changes("query Q { pet { unused } }", "query R { x { id } }", "{ nonsense }")
    assert list(found.broken) == ["Q"]
    assert "Q is wrong now: " in repr(found)


def test_the_text_is_a_summary_and_a_table():
    """It is deterministic, without memory addresses, times or colors."""
    found = changes("query Q { either { __typename } }")
    lines = repr(found).splitlines()
    assert lines[0] == (
        "15 breaking changes and 6 dangerous changes in the schema of https://api.example/. "
        "2 of them touch operations of this session."
    )
    assert lines[1].split() == ["severity", "change", "touches"]
    assert lines[2].split()[:2] == ["Either", "breaking"]
    assert len(lines) == 23
    assert repr(changes("query Q { either { __typename } }")) == repr(found)
    assert (len(found.breaking), len(found.dangerous), len(found.frame())) == (15, 6, 21)


def test_the_html_is_escaped():
    """For any content of an operation."""
    found = changes('{ many(filter: {text: "<script>alert(1)</script>"}) }')
    html = found._repr_html_()
    assert "<script" not in html
    assert "&lt;scri" in html
    assert html.count("<tr>") == 22


def test_an_empty_diff_is_one_sentence():
    """Without an empty table."""
    same = changes(after=BEFORE)
    assert (
        repr(same) == "No breaking and no dangerous change in the schema of https://api.example/."
    )
    assert "<table" not in same._repr_html_()
    assert list(same) == []


def test_changes_are_counted_in_the_summary():
    """With singular and plural."""
    found = changes(before="type Query { a: Int }", after="type Query { a(b: Int): String }")
    said = "1 breaking change and 1 dangerous change in the schema of https://api.example/. None of"
    assert repr(found).startswith(f"{said} them touch")


def test_a_long_diff_is_truncated():
    """The frame has all changes."""
    fields = " ".join(f"f{number}: Int" for number in range(200))
    found = changes(before=f"type Query {{ a: Int {fields} }}", after="type Query { a: Int }")
    assert len(found) == len(found.frame()) == 200
    assert repr(found).endswith("… and 150 more; .frame() has all.")


def told(sdl: str) -> bytes:
    """Return the answer that tells a schema."""
    return json_answer({"data": introspection_from_schema(build_schema(sdl))})


def test_a_client_compares_with_the_initial_schema():
    """Every time, also after the schema was refreshed."""
    hello = json_answer({"data": {"x": None}})
    with Endpoint(told(BEFORE), hello, hello, told(AFTER)) as endpoint:
        client = Client(endpoint.url)
        first = client.schema_changes()
        assert (len(first), first.first) == (0, True)
        assert repr(first).startswith(f"There is no earlier schema of {endpoint.url} to compare")
        client.execute("query Mine { x { id } }")
        client.execute("query Yours { x { id ... on Pet { unused } } }")
        for _ in range(2):
            found = client.schema_changes()
            assert found[0].touches == ("Yours",)
            assert list(found.broken) == ["Yours"]
            assert len(found) == 21
        assert "unused" not in client.schema.type_map["Pet"].fields


def test_the_initial_schema_is_the_cached_one(tmp_path, monkeypatch):
    """A notebook reports changes since its last run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("GQLNB_CACHE", "1")
    with Endpoint(told(BEFORE), told(AFTER)) as endpoint:
        assert Client(endpoint.url).schema
        assert len(Client(endpoint.url).schema_changes()) == 21
        assert len(Client(endpoint.url).schema_changes()) == 0  # the new one is kept now


def test_a_given_schema_is_compared_and_not_replaced(tmp_path):
    """In any form, as is the schema to compare with."""
    (tmp_path / "before.graphql").write_text(BEFORE)
    with gqlnb.serve(Schema(AFTER), port=0) as server:
        client = Client(server.url, schema=tmp_path / "before.graphql")
        given = client.schema
        assert len(client.schema_changes()) == 21
        assert client.schema is given
        assert len(client.schema_changes(since=AFTER)) == 0
        with pytest.raises(SchemaError, match="does not refer to a readable file"):
            client.schema_changes(since="nowhere.graphql")
    assert len(Client(Schema(AFTER)).schema_changes(since=BEFORE)) == 21


def test_an_endpoint_without_introspection_is_an_error():
    """With the endpoint's message."""
    access = gqlnb.Access(introspection=False)
    with (
        gqlnb.serve(Schema(AFTER), port=0, access=access) as server,
        pytest.raises(SchemaError, match="introspection has been disabled"),
    ):
        Client(server.url, schema=BEFORE).schema_changes()


OLD_SDL = "type Query { a: Int b: Int d(x: Int!): Int }"
NEW_SDL = """enum E { A } type Query { a: Int! c(y: Int): Int e: E @deprecated(reason: "no")
d(x: Int): Int @deprecated(reason: "old") }"""
DIFF = [
    ("breaking", "Query.b"),
    ("safe", "E"),
    ("safe", "Query.a"),
    ("safe", "Query.c"),
    ("safe", "Query.e"),
    ("safe", "Query.d"),
    ("safe", "Query.d(x:)"),
]


def test_diff_has_safe_changes_too():
    """Additions, deprecations and types that no query minds."""
    found = gqlnb.diff(OLD_SDL, NEW_SDL)
    assert sorted((each.severity, each.place) for each in found) == sorted(DIFF)
    assert (len(found.breaking), len(found.safe)) == (1, 6)
    assert repr(found).startswith("1 breaking change and 6 safe changes from the text to the text.")
    assert list(found.frame()["place"]) == [each.place for each in found]
    assert gqlnb.diff(NEW_SDL, NEW_SDL).changes == ()


# Where our severity is another than that of graphql-inspector, and why.
OTHER_SEVERITIES = {
    # It reads them as a removed argument of a directive; no operation can depend on the reason.
    "field deprecation reason changed": "safe",
    "enum value reason changed": "safe",
    # Those of graphql-core: a program that passes on unknown input may send them.
    "input field added": "dangerous",
    "oneOf field added": "dangerous",
    "directive repeatable removed": "breaking",  # documents that repeat it are invalid
    "oneOf removed": "dangerous",  # clients that rely on one member find the others
    "schema description added": "safe",  # it does not look at it
}


@pytest.mark.parametrize("change", CHANGES, ids=[change[0] for change in CHANGES])
def test_single_changes_are_as_grave_as_to_graphql_inspector(change, monkeypatch):
    """From SDL, and, but for applied directives, from introspection."""
    # Strawberry replaces it for all schemas of a process, which then have no one-of type.
    one_of = introspection_types["__Type"].fields["isOneOf"]
    monkeypatch.setattr(one_of, "resolve", lambda kind, _info: getattr(kind, "is_one_of", None))
    name, text, replacement, verdict, place = change
    after = INSPECTED.replace(text, replacement) if text else INSPECTED + replacement
    severity = OTHER_SEVERITIES.get(name, verdict)
    for prepare in (read, introspect):
        if prepare is introspect and "applied" in name:
            continue
        schema = prepare(after)
        found = gqlnb.diff(prepare(INSPECTED), schema)
        assert found[0].severity == severity
        assert (severity, place) in {(each.severity, each.place) for each in found}
        assert len({(each.place, each.kind) for each in found}) == len(found)
        assert gqlnb.diff(schema, schema).changes == ()
    touching = compare_schemas(read(INSPECTED), read(after), [], "x")
    assert bool(touching) is (severity != "safe")


@pytest.mark.parametrize("kind", ["type Query { f(a: %s): Int }", "input I { a: %s }"])
@pytest.mark.parametrize(
    ("before", "now", "severity"),
    [
        ("Int! = 1", "Int!", "breaking"),
        ("Int! = 1", "Int! = 2", "dangerous"),
        ("Int = 1", "Int", "dangerous"),
        ("[Int!]! = []", "[Int!]!", "breaking"),
    ],
)
def test_an_input_that_must_be_given_now_is_a_breaking_change(kind, before, now, severity):
    """Only a default that goes leaves queries invalid; one of another value is dangerous."""
    rest = "" if "Query" in kind else " type Query { f(i: I): Int }"
    changes = gqlnb.diff(kind % before + rest, kind % now + rest)
    assert [change.severity for change in changes] == [severity]
    assert len(changes.breaking) == (severity == "breaking")


@cache
def read(sdl: str) -> Any:
    """Return a schema of SDL, as a client reads it."""
    return read_schema(sdl).graphql


@cache
def introspect(sdl: str) -> Any:
    """Return the schema that a client makes of the introspection of another one."""
    asks = "input_object_one_of" in inspect.signature(introspection_from_schema).parameters
    options: dict[str, Any] = {"input_object_one_of": True} if asks else {}  # 3.3 always does
    return build_client_schema(introspection_from_schema(build_schema(sdl), **options))


def test_further_changes_touch_operations():
    """As those of graphql-core do; several facts of one place are several changes."""
    before = "type Query { a(by: In, n: Int): Int } input In { x: Int }"
    after = (
        "type Query { a(by: In, n: Int = 3 @deprecated): Int @deprecated } "
        "input In @oneOf { x: Int }"
    )
    found = gqlnb.diff(before, after, documents=["query Q { a(by: {x: 1}) }"])
    assert [(each.severity, each.place, each.touches) for each in found] == [
        ("breaking", "In", ("Q",)),
        ("dangerous", "Query.a(n:)", ("Q",)),
        ("safe", "Query.a", ("Q",)),
        ("safe", "Query.a(n:)", ("Q",)),
    ]


APPLIED = """
directive @key(fields: String!) repeatable on OBJECT
directive @tag(name: String!) repeatable on FIELD_DEFINITION | ARGUMENT_DEFINITION | ENUM_VALUE
  | INPUT_FIELD_DEFINITION | SCHEMA | UNION | SCALAR
schema @tag(name: "schema") { query: Query }
"Asked."
type Query { a(x: Int = 1 @tag(name: "argument") @deprecated): P @tag(name: "f") @tag(name: "g") }
type P @key(fields: "id") { id: ID! }
extend type P @key(fields: "b") { b: Int @tag(name: "extension")  e: E }
enum E { A @tag(name: "value") @deprecated(reason: "old")  B }
input I { z: Int @tag(name: "input") }
union U @tag(name: "union") = P
scalar S @tag(name: "scalar") @specifiedBy(url: "https://x.example")
"""


def test_the_sdl_of_a_schema_keeps_applied_directives():
    """Of every part, also of a client with SDL; those of the specification appear once."""
    sdl = Schema(APPLIED).sdl
    names = re.findall(r"@(\w+)\(\w+: \"", APPLIED)
    assert sorted(re.findall(r"@(\w+)\(\w+: \"", sdl)) == sorted(names)
    assert Schema(sdl).sdl == sdl
    assert gqlnb.diff(APPLIED, sdl).changes == ()
    with Endpoint() as endpoint:
        assert Client(endpoint.url, schema=APPLIED).sdl == sdl
    plain = Schema(OLD_SDL)
    assert plain.sdl == print_schema(plain.graphql)


def test_diff_takes_schemas_of_any_kind(tmp_path):
    """A file with SDL or introspection JSON, an address, a client, and schema objects."""
    sdl, described = tmp_path / "old.graphql", tmp_path / "old.json"
    sdl.write_text(OLD_SDL)
    described.write_bytes(msgspec.json.encode(introspection_from_schema(build_schema(OLD_SDL))))
    with serve(Schema(OLD_SDL), port=0) as server, Client(server.url) as client:
        kinds = [str(sdl), sdl, described, server.url, client, Schema(OLD_SDL)]
        for old in [*kinds, build_schema(OLD_SDL)]:
            assert len(gqlnb.diff(old, NEW_SDL)) == len(DIFF)
        assert client.sdl == print_schema(build_schema(OLD_SDL))


@pytest.mark.parametrize("old", ["missing.graphql", "nowhere", "type Query {", 3])
def test_diff_refuses_what_is_not_a_schema(old):
    """A file that is missing, an unknown connection, and wrong SDL."""
    with pytest.raises(gqlnb.GqlnbError):
        gqlnb.diff(old, NEW_SDL)


# ---------------------------------------------------------------- fields that nobody uses

USED = """
    type Query { node: Node star: Star other: Int }
    interface Node { id: ID name: String }
    type Star implements Node { id: ID name: String magnitude: Float twin: Star }
"""


def test_unused_fields_are_those_that_no_document_selects():
    """Across documents, fragments and aliases; a field of an interface stands for its types."""
    documents = [
        "{ node { id } }",
        "query A { s: star { ...F } } fragment F on Star { m: magnitude __typename }",
    ]
    assert gqlnb.unused_fields(USED, documents) == [
        "Query.other",
        "Node.name",
        "Star.name",
        "Star.twin",
    ]
    assert "Query.node" in gqlnb.unused_fields(gqlnb.Client(gqlnb.Schema(USED)), [])


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ("{ node { id } }", OptionError, r"takes a list of texts.*Write \[text\]"),
        (["{ star { nme } }"], QueryError, r"documents\[0\].*Cannot query field 'nme'"),
        (["{ other }", "query B { other"], QueryError, r"documents\[1\].*Syntax Error"),
    ],
)
def test_documents_must_be_valid_to_be_counted(documents, error, message):
    """An invalid document would hide what it uses."""
    with pytest.raises(error, match=message):
        gqlnb.unused_fields(USED, documents)

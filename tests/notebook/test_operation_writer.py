"""Operations written from a schema: valid, with values for their variables."""

from __future__ import annotations

import graphql
import pytest

import gqlnb
from gqlnb.errors import TargetError
from gqlnb.notebook.cell_edits import find_paths, write_operation, write_selection


@pytest.fixture(scope="module")
def demo():
    """Return a client of the demo."""
    return gqlnb.connect("demo")


def test_a_path_becomes_a_query_that_runs(demo):
    """Variables for required arguments, page sizes, and what tells the rows apart."""
    path = ["Query", "Query.search", "SearchResultItemConnection.nodes", "Repository"]
    text, variables = write_operation(demo.schema, [*path, "Repository.languages"])
    assert text == (
        "query ($query: String!, $type: SearchType!) {\n"
        "  search(first: 10, query: $query, type: $type) {\n"
        "    nodes {\n"
        "      ... on Repository {\n"
        "        name\n"
        "        languages(first: 10) {\n"
        "          nodes {\n"
        "            name\n"
        "          }\n"
        "        }\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "}"
    )
    assert variables == {"query": "", "type": "REPOSITORY"}, "the value that names the type"
    rows = demo.execute(text, variables).dicts()
    assert len(rows) == 10
    assert rows[0]["languages"]["nodes"][0]["name"] == "Markdown"


def test_every_root_field_of_the_demo_can_be_written(demo):
    """The texts are valid: unions, interfaces, lists of identifiers."""
    for name in demo.schema.query_type.fields:
        text = write_operation(demo.schema, [f"Query.{name}"])[0]
        assert graphql.validate(demo.schema, graphql.parse(text)) == [], text


def test_the_rows_of_a_union_are_told_apart(demo):
    """By a field of each type; fields of equal names have one type, or the query is not valid."""
    text, variables = write_operation(demo.schema, ["Query.search"])
    assert graphql.validate(demo.schema, graphql.parse(text)) == []
    frame = demo.execute(text, {**variables, "type": "REPOSITORY"}).frame()
    assert frame["name"].notna().all()
    sdl = """
      type Query { any: Any } union Any = A | B | C
      type A { name: String id: ID! } type B { name: Int id: ID! } type C { size: Int }
    """
    selection = write_selection(gqlnb.Schema(sdl).graphql, "Query.any")
    expected = "any { __typename ... on A { name } ... on B { id } }"
    assert " ".join(selection.split()) == expected


def test_a_path_below_the_root_is_completed(demo):
    """By the shortest way from the query type."""
    text, variables = write_operation(demo.schema, ["Repository.issue"])
    assert text.splitlines()[:3] == [
        "query ($name: String!, $owner: String!, $number: Int!) {",
        "  repository(name: $name, owner: $owner) {",
        "    name",
    ]
    assert variables == {"name": "", "owner": "", "number": 1}


def test_paths_lead_to_a_type_the_shortest_first(demo):
    """Through fields and type conditions; each is a valid operation."""
    paths = find_paths(demo.schema, "Release")
    assert paths[0] == ("Query.repository", "Repository.latestRelease")
    assert len(paths) == len(set(paths)) == 5
    for path in paths:
        text = write_operation(demo.schema, path)[0]
        assert graphql.validate(demo.schema, graphql.parse(text)) == [], text


def test_variables_of_equal_arguments_have_two_names():
    """And required members of input objects have values."""
    schema = graphql.build_schema("""
        type Query { a(id: ID!): A }
        type A { b(id: ID!, where: Where!, only: [ID!]!): B }
        input Where { n: Int! x: Float! y: Boolean! z: Int }
        type B { c: Int }
    """)
    text, variables = write_operation(schema, ["A.b"])
    assert text.startswith(
        "query ($id: ID!, $id2: ID!, $where: Where!, $only: [ID!]!) {\n  a(id: $id) {\n"
        "    b(id: $id2, where: $where, only: $only) {\n      c\n"
    )
    assert variables["where"] == {"n": 1, "x": 1.0, "y": False}
    assert graphql.validate(schema, graphql.parse(text)) == []


def test_an_insertion_has_literals_in_place_of_variables(demo):
    """A field with its arguments and first fields; a type as a condition."""
    assert write_selection(demo.schema, "Query.repository") == (
        'repository(name: "", owner: "") {\n  name\n}'
    )
    assert write_selection(demo.schema, "Release").splitlines()[0] == "... on Release {"
    assert write_selection(demo.schema, "Repository.stargazerCount") == "stargazerCount"


def test_a_mutation_is_written_as_one():
    """And a type that only it leads to is not found from the query type."""
    schema = graphql.build_schema(
        "type Query { a: Int } type Mutation { put(a: Int!): Done } type Done { ok: Boolean }"
    )
    assert write_operation(schema, ["Mutation", "Mutation.put"]) == (
        "mutation ($a: Int!) {\n  put(a: $a) {\n    ok\n  }\n}",
        {"a": 1},
    )
    with pytest.raises(TargetError, match="leads to Done"):
        write_operation(schema, ["Done.ok"])


def test_what_does_not_exist_is_an_error(demo):
    """A field, and a path without one."""
    with pytest.raises(TargetError, match="is not a field"):
        write_operation(demo.schema, ["Query.nothing"])
    with pytest.raises(TargetError, match="leads to Query"):
        write_operation(demo.schema, ["Query"])

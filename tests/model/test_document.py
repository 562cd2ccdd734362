"""Documents: parsed, checked, with one operation chosen."""

import pytest
from graphql import build_schema

from gqlnb.errors import QueryError
from gqlnb.model.document import Document

SCHEMA = build_schema(
    "type Query { hello: String viewer: User } type User { login: String! name: String }"
)


def test_a_document_knows_its_operation():
    """Name, kind and variables are those of the operation that runs."""
    document = Document.parse("mutation M($a: Int! $b: [ID] = []) { f }")
    assert (document.name, document.kind, list(document.variables)) == ("M", "mutation", ["a", "b"])


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("{", 1, 2, "Syntax Error: Expected Name, found <EOF>."),
        ("{ helo }", 1, 3, "Cannot query field 'helo' on type 'Query'. Did you mean 'hello'?"),
        ("query {\n  viewer { nme }\n}", 2, 12, "Cannot query field 'nme' on type 'User'"),
        ("{ hello(a: 1) }", 1, 9, "Unknown argument 'a' on field 'Query.hello'."),
        ("{ ...F }", 1, 6, "Unknown fragment 'F'."),
    ],
)
def test_what_is_wrong_has_a_place(text, line, column, message):
    """Every mistake carries its line, its column and the validator's words."""
    with pytest.raises(QueryError) as caught:
        Document.parse(text, SCHEMA)
    problem = caught.value.problems[0]
    assert (problem.line, problem.column) == (line, column)
    assert problem.message.startswith(message)


def test_a_selection_left_out_lists_the_fields_to_choose_from():
    """Nothing is returned by default: the client decides."""
    with pytest.raises(QueryError, match="must have a selection of subfields") as caught:
        Document.parse("{ viewer }", SCHEMA)
    assert caught.value.problems[0].hint == "User has: login, name."


CHOICE = build_schema(
    """
    type Query { search: Found node: Node thing: Thing nothing: Empty }
    type Found { nodes: [Item] edges: [Edge] }
    type Edge { node: Item }
    union Item = Org | Repo | User
    interface Node { id: ID! }
    interface Empty { a: Int }
    union Thing = Bare
    type Bare { at(n: Int!): Int }
    type Org { login: String }
    type User implements Node { id: ID! login: String }
    type Repo implements Node { forks: Int issue(n: Int!): Int id: ID! name: String owner: User }
    """
)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "{ search { nodes } }",
            "Item is one of: Org, Repo, User. Choose with: ... on Repo { id, name, forks, ... }",
        ),
        (
            "{ search { edges { node } } }",
            "Item is one of: Org, Repo, User. Choose with: ... on Repo { id, name, forks, ... }",
        ),
        (
            "{ node }",
            "Node has: id. Node is one of: User, Repo. "
            "Choose with: ... on Repo { id, name, forks, ... }",
        ),
        ("{ thing }", "Thing is one of: Bare. Choose with: ... on Bare { __typename, ... }"),
        ("{ nothing }", "Empty has: a."),
    ],
)
def test_a_selection_left_out_of_an_abstract_type_says_how_to_choose(text, hint):
    """Which object types it may be, and a fragment to begin with."""
    with pytest.raises(QueryError) as caught:
        Document.parse(text, CHOICE)
    assert caught.value.problems[0].hint == hint


def test_all_mistakes_are_reported_at_once():
    """Two unknown fields are two problems."""
    with pytest.raises(QueryError) as caught:
        Document.parse("{ a b }", SCHEMA)
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("text", "operation", "message"),
    [
        ("query A { hello } query B { hello }", None, "Must provide operation name"),
        ("query A { hello } query B { hello }", "C", "Unknown operation named 'C'"),
        ("query Alpha { hello }", "Alfa", "Did you mean 'Alpha'"),
        ("fragment F on User { login }", None, "Must provide an operation."),
    ],
)
def test_an_operation_that_is_not_there_is_an_error(text, operation, message):
    """Several without a name, an unknown name, and none at all."""
    with pytest.raises(QueryError, match=message):
        Document.parse(text, operation=operation)


@pytest.mark.parametrize("text", ["", "  \n", "# only a comment", None, 5])
def test_no_text_is_an_error_of_ours(text):
    """Empty text and other kinds of value are told apart in words."""
    with pytest.raises(QueryError):
        Document.parse(text)


def test_a_document_nested_too_deeply_is_an_error_of_ours():
    """The parser's recursion never reaches the user."""
    with pytest.raises(QueryError):
        Document.parse("{a" * 100_000)

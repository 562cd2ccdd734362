"""Documents: parsed, checked, with one operation chosen."""

from time import process_time

import pytest
from graphql import build_schema

from gqlnb.document.document import Document
from gqlnb.document.limits import Limits
from gqlnb.errors import QueryError

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


def test_an_input_field_that_does_not_exist_lists_those_that_do():
    """graphql-core guesses from similar names alone."""
    schema = build_schema(
        """
        type Query { rows(where: [Where]): Int }
        input Where { stars: Bounds }
        input Bounds { gt: Int lt: Int }
        """
    )
    with pytest.raises(QueryError) as caught:
        Document.parse("{ rows(where: [{stars: {gt: 1, above: 5}}]) }", schema)
    problem = caught.value.problems[0]
    assert (problem.column, problem.hint) == (32, "Bounds has: gt, lt.")


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


def test_errors_are_told_up_to_the_limit():
    """No error more, such as one that says that there are more."""
    text = "{" + "".join(f" a{n}" for n in range(30)) + " }"
    with pytest.raises(QueryError) as caught:
        Document.parse(text, SCHEMA, limits=Limits(errors=4))
    assert [p.message for p in caught.value.problems] == [
        f"Cannot query field 'a{n}' on type 'Query'." for n in range(4)
    ]


def test_introspection_can_be_refused():
    """Of all that begins with two underscores, only the name of a type may be asked for."""
    for text in ("{ __schema { types { name } } }", '{ __type(name: "User") { name } }'):
        assert Document.parse(text, SCHEMA)
        with pytest.raises(QueryError, match="introspection has been disabled"):
            Document.parse(text, SCHEMA, introspection=False)
    assert Document.parse("{ __typename viewer { __typename } }", SCHEMA, introspection=False)


def test_a_hint_is_no_way_around_it():
    """What could be selected is not listed either."""
    with pytest.raises(QueryError) as caught:
        Document.parse("{ viewer }", SCHEMA, introspection=False)
    assert caught.value.problems[0].hint is None


FLOATS = build_schema(
    "scalar Any input In { f: Float any: Any } "
    "type Query { e(f: Float, fs: [Float!], i: In, any: Any, s: String): Float }"
)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("{ e(f: 1e400) }", 8),
        ("{ e(f: -1.5E+999) }", 8),
        (f"{{ e(f: {'1' * 400}) }}", 8),
        ("{ e(fs: [1, 1e400]) }", 13),
        ("{ e(i: {f: 1e400}) }", 12),
        ("query ($f: Float = 1e400) { e(f: $f) }", 20),
    ],
)
def test_a_literal_that_no_float_can_hold_is_refused(text, column):
    """It would be infinite, which is no value of Float."""
    with pytest.raises(QueryError, match=r"Float cannot represent .*: it is infinite") as caught:
        Document.parse(text, FLOATS)
    assert caught.value.problems[0].column == column


@pytest.mark.parametrize(
    "text", ["{ e(f: 1e308) }", "{ e(any: 1e400) }", "{ e(i: {any: 1e400}) }", '{ e(s: "1e400") }']
)
def test_other_large_numbers_are_not(text):
    """A scalar of somebody's own may hold them."""
    assert Document.parse(text, FLOATS)


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("{{ ... on {0}x {{ hello }} }} type {0}y {{ a: Int }}", None),
        ("query {0}x {{ hello }}", "{0}y"),
        ("{{ {0}x }}", None),
        ("query (${0}x: Int) {{ hello(a: ${0}y) }}", None),
        ("{{ ...{0}x }} fragment {0}y on Query {{ hello }}", None),
    ],
)
def test_long_names_that_are_alike_take_no_time(text, operation):
    """What one may have meant is found in the product of the lengths, so it is not looked for."""
    name = "a" * 20_000
    begun = process_time()
    with pytest.raises(QueryError):
        Document.parse(text.format(name), SCHEMA, operation and operation.format(name))
    assert process_time() - begun < 5  # graphql-core takes some minutes


@pytest.mark.parametrize("text", ["{}", "{ a {} }", "query { }", "{ ...{} }", "fragment F on T {}"])
@pytest.mark.parametrize("limits", [None, Limits()])
def test_an_empty_selection_is_a_syntax_error(text, limits):
    """The published grammar asks for a selection, whichever graphql-core is installed."""
    with pytest.raises(QueryError, match=r"Syntax Error: Expected Name, found '}'\."):
        Document.parse(text, limits=limits)

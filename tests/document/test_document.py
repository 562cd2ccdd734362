"""Documents: parsed, checked, with one operation chosen."""

import pickle
from time import process_time

import pytest
from graphql import build_schema, print_schema

from gqlnb.document.document import Document
from gqlnb.errors import QueryError
from gqlnb.limits import Limits

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
def test_validation_errors_have_a_location(text, line, column, message):
    """Each has its line, its column and the validator's message."""
    with pytest.raises(QueryError) as caught:
        Document.parse(text, SCHEMA)
    problem = caught.value.problems[0]
    assert (problem.line, problem.column) == (line, column)
    assert problem.message.startswith(message)


def test_an_unknown_field_lists_the_names_that_contain_it_first():
    """They are too long to be similar, and may come after those that are listed."""
    fields = " ".join(f"a{number}: Int" for number in range(20))
    schema = build_schema(f"type Query {{ {fields} priceRange: Int compareAtPrice: Int }}")
    with pytest.raises(QueryError) as caught:
        Document.parse("{ price }", schema)
    assert caught.value.problems[0].hint.startswith("Query has: priceRange, compareAtPrice, a0,")


def test_a_missing_selection_lists_the_available_fields():
    """No field is selected by default."""
    with pytest.raises(QueryError, match="must have a selection of subfields") as caught:
        Document.parse("{ viewer }", SCHEMA)
    assert caught.value.problems[0].hint == "User has: login, name."


def test_an_unknown_input_field_lists_the_available_ones():
    """graphql-core suggests only similar names."""
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


ORDER_HINT = "Order has: ASC, DESC, A3, A4, A5, A6, A7, A8, A9, B1, B2, B3 and 2 more."


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("{ xyzzy }", "Query has: rows, one."),
        ("{ rows(xyzzy: 1) }", "The arguments are: order, first."),
        ("{ rows(order: XYZZY) }", ORDER_HINT),
        ('{ rows(order: "xyzzy") }', ORDER_HINT),
        ("{ rows(order: 1234567) }", ORDER_HINT),
        ("{ one { ... on Row { xyzzy } } }", "Row has: n."),
        ("{ row }", None),
        ("{ rows(ordre: ASC) }", None),
        ("{ rows(order: DES) }", None),
        ("{ rows(order: ASC, first: true) }", None),
        ("{ one { n } }", None),
    ],
)
def test_unknown_names_without_a_similar_one_list_the_available_ones(text, hint):
    """Fields, arguments and enum values; where the validator suggests some, there is no list."""
    schema = build_schema(
        """
        type Query { rows(order: Order, first: Int): Int one: Any }
        union Any = Row
        type Row { n: Int }
        enum Order { ASC DESC A3 A4 A5 A6 A7 A8 A9 B1 B2 B3 B4 B5 }
        """
    )
    with pytest.raises(QueryError) as caught:
        Document.parse(text, schema)
    assert caught.value.problems[0].hint == hint


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
        ("{ search { nodes } }",
         "Item is one of: Org, Repo, User. Choose with: ... on Repo { id, name, forks, ... }"),
        ("{ search { edges { node } } }",
         "Item is one of: Org, Repo, User. Choose with: ... on Repo { id, name, forks, ... }"),
        ("{ node }", "Node has: id. Node is one of: User, Repo. "
         "Choose with: ... on Repo { id, name, forks, ... }"),
        ("{ thing }", "Thing is one of: Bare. Choose with: ... on Bare { __typename, ... }"),
        ("{ nothing }", "Empty has: a."),
    ],
)  # fmt: skip
def test_a_missing_selection_of_an_abstract_type_suggests_fragments(text, hint):
    """The possible object types, and an example fragment."""
    with pytest.raises(QueryError) as caught:
        Document.parse(text, CHOICE)
    assert caught.value.problems[0].hint == hint


@pytest.mark.parametrize(
    ("text", "operation", "message"),
    [
        ("query A { hello } query B { hello }", None, "Must provide operation name"),
        ("query A { hello } query B { hello }", "C", "Unknown operation named 'C'"),
        ("query Alpha { hello }", "Alfa", "Did you mean 'Alpha'"),
        ("fragment F on User { login }", None, "Must provide an operation."),
    ],
)
def test_an_unknown_or_missing_operation_is_an_error(text, operation, message):
    """Several without a name, an unknown name, and none at all."""
    with pytest.raises(QueryError, match=message):
        Document.parse(text, operation=operation)


def test_errors_are_limited_in_number():
    """Without an additional error that there are more."""
    text = "{" + "".join(f" a{n}" for n in range(30)) + " }"
    with pytest.raises(QueryError) as caught:
        Document.parse(text, SCHEMA, limits=Limits(errors=4))
    assert [p.message for p in caught.value.problems] == [
        f"Cannot query field 'a{n}' on type 'Query'." for n in range(4)
    ]


def test_introspection_can_be_disabled():
    """Of the fields that begin with two underscores, only `__typename` is allowed."""
    for text in ("{ __schema { types { name } } }", '{ __type(name: "User") { name } }'):
        assert Document.parse(text, SCHEMA)
        with pytest.raises(QueryError, match="introspection has been disabled"):
            Document.parse(text, SCHEMA, introspection=False)
    assert Document.parse("{ __typename viewer { __typename } }", SCHEMA, introspection=False)


def test_hints_do_not_reveal_a_schema_without_introspection():
    """The available fields are not listed either."""
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
def test_a_float_literal_out_of_range_is_refused(text, column):
    """It would be infinite, which is not a valid Float."""
    with pytest.raises(QueryError, match=r"Float cannot represent .*: it is infinite") as caught:
        Document.parse(text, FLOATS)
    assert caught.value.problems[0].column == column


def test_an_integer_of_thousands_of_digits_is_refused_in_our_words():
    """Python's advice on its own limit is of no use to the author of a query."""
    schema = build_schema("type Query { at(number: Int): Int }")
    with pytest.raises(QueryError, match="An integer of thousands of digits is not accepted"):
        Document.parse("{ at(number: " + "9" * 5000 + ") }", schema)


@pytest.mark.parametrize(
    "text", ["{ e(f: 1e308) }", "{ e(any: 1e400) }", "{ e(i: {any: 1e400}) }", '{ e(s: "1e400") }']
)
def test_large_literals_of_custom_scalars_are_accepted(text):
    """A custom scalar may support them."""
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
def test_no_suggestions_are_computed_for_long_names(text, operation):
    """The cost of a suggestion is the product of the lengths."""
    name = "a" * 20_000
    begun = process_time()
    with pytest.raises(QueryError):
        Document.parse(text.format(name), SCHEMA, operation and operation.format(name))
    assert process_time() - begun < 5  # graphql-core takes some minutes


@pytest.mark.parametrize("text", ["{}", "{ a {} }", "query { }", "{ ...{} }", "fragment F on T {}"])
@pytest.mark.parametrize("limits", [None, Limits()])
def test_an_empty_selection_is_a_syntax_error(text, limits):
    """The specification requires a selection, with every version of graphql-core."""
    with pytest.raises(QueryError, match=r"Syntax Error: Expected Name, found '}'\."):
        Document.parse(text, limits=limits)


def test_a_document_is_pickled_beside_strawberry():
    """Strawberry gives graphql-core's `__Type` a resolver that cannot be pickled."""
    strawberry = pytest.importorskip("strawberry")

    @strawberry.type
    class Query:
        hello: str = "Hello world!"

    strawberry.Schema(Query)
    document = Document.parse("{ hello }", build_schema("type Query { hello: String }"))
    again = pickle.loads(pickle.dumps(document))
    assert again.text == document.text
    assert print_schema(again.schema) == print_schema(document.schema)
    assert again.schema.type_map["__Type"] is document.schema.type_map["__Type"]


def test_unknown_names_have_the_hint_of_the_schema():
    """A schema that is part of a larger one can say so under errors about unknown names."""
    schema = build_schema("type Query { user(id: ID): User } type User { login: String }")
    schema.extensions = {"unknownNameHint": "GitHub may have more."}
    for text, column, names in (
        ("{ user { name } }", 10, "User has: login."),
        ("{ user(first: 1) { login } }", 8, "The arguments are: id."),
    ):
        with pytest.raises(QueryError) as caught:
            Document.parse(text, schema)
        (problem,) = caught.value.problems
        assert (problem.column, problem.hint) == (column, f"{names} GitHub may have more.")
    with pytest.raises(QueryError) as caught:
        Document.parse("{ user(id: []) { login } }", schema)
    assert caught.value.problems[0].hint is None


def test_a_variable_inside_a_string_is_explained():
    """It is text there, and the variable is unused."""
    schema = build_schema("type Query { find(text: String): Int }")
    text = 'query ($least: Int) { find(text: "stars:>$least") }'
    with pytest.raises(QueryError) as caught:
        Document.parse(text, schema)
    (problem,) = caught.value.problems
    assert problem.message == "Variable '$least' is never used."
    assert problem.hint.startswith("$least inside quotes is text, not the variable.")

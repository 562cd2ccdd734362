"""What is wrong with a document is said as GitHub says it: message, place, path and code."""

import asyncio
import json

import pytest

from gqlnb import github
from gqlnb.github.standin.github_errors import _UNION_TYPES


@pytest.fixture(scope="module")
def app():
    """Return the stand-in over HTTP; it keeps no state."""
    return github.app()


def errors(app, text, **members):
    """Return the errors of a document that is refused."""
    body = json.dumps({"query": text, **members}).encode()
    headers = {"host": "localhost", "user-agent": "tests", "content-type": "application/json"}
    sent = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/graphql",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 200
    ((name, found),) = json.loads(b"".join(message["body"] for message in sent[1:])).items()
    assert name == "errors"
    return found


# ---------------------------------------------------------------- syntax

DEFINITIONS = "one of SCHEMA, SCALAR, TYPE, ENUM, INPUT, UNION, INTERFACE"


@pytest.mark.parametrize(
    ("text", "expected", "actual", "place"),
    [
        ("{ a(: }", "NAME", 'COLON (":")', (1, 5)),
        ("query {\n  viewer {\n    : } }", "NAME", 'COLON (":")', (3, 5)),
        ("{ viewer { login }", "NAME", '(none) ("")', (1, 18)),
        ("{ // x", "NAME", 'UNKNOWN_CHAR ("/")', (1, 3)),
        ("{ viewer { a: 5 } }", "NAME", 'INT ("5")', (1, 15)),
        ('{ viewer { "a" } }', "NAME", r'STRING ("\"a\"")', (1, 12)),
        ("{ search(query: ) { x } }", "VALUE", 'RPAREN (")")', (1, 17)),
        ("query Q(a: Int) { x }", "VAR_SIGN", 'IDENTIFIER ("a")', (1, 9)),
        ("query Q($a Int) { x }", "COLON", 'IDENTIFIER ("Int")', (1, 12)),
        ("foo { x }", DEFINITIONS, 'IDENTIFIER ("foo")', (1, 1)),
        ("{ viewer { login } } }", DEFINITIONS, 'RCURLY ("}")', (1, 22)),
    ],
)
def test_an_error_of_syntax(app, text, expected, actual, place):
    """The token that was expected, the one that came, and where; no type, no path."""
    (error,) = errors(app, text)
    line, column = place
    assert list(error.items()) == [
        ("locations", [{"line": line, "column": column}]),
        ("message", f"Expected {expected}, actual: {actual} at [{line}, {column}]"),
    ]


def test_nothing_but_comments(app):
    """A document without a token has no place to show."""
    assert errors(app, "# nothing") == [{"locations": [], "message": "Unexpected end of document"}]


# ---------------------------------------------------------------- validation


def test_a_union_is_known():
    """The unions of the schema are those that the words are made for."""
    types = github.schema().graphql.type_map.values()
    assert {kind.name for kind in types if hasattr(kind, "types")} == _UNION_TYPES


@pytest.mark.parametrize(
    ("text", "path", "field", "kind"),
    [
        ("query { DSD }", ["query", "DSD"], "DSD", "Query"),
        ("query Q { DSD }", ["query Q", "DSD"], "DSD", "Query"),
        ("{ viewer { a: nope } }", ["query", "viewer", "a"], "nope", "User"),
        (
            "{ viewer { ... on User { nope } } }",
            ["query", "viewer", "... on User", "nope"],
            "nope",
            "User",
        ),
        ("{ viewer { ... { nope } } }", ["query", "viewer", "...", "nope"], "nope", "User"),
        ("{ ...f } fragment f on Query { no }", ["fragment f", "no"], "no", "Query"),
    ],
)
def test_an_unknown_field(app, text, path, field, kind):
    """200, no data, a path that begins with the operation, and GitHub's words."""
    (error,) = errors(app, text)
    assert list(error.items()) == [
        ("path", path),
        ("extensions", {"code": "undefinedField", "typeName": kind, "fieldName": field}),
        ("locations", [{"line": 1, "column": text.index(field if "a:" not in text else "a:") + 1}]),
        ("message", f"Field '{field}' doesn't exist on type '{kind}'"),
    ]


SEARCH = '{ search(query: "a", type: REPOSITORY, first: 1) { nodes { name } } }'


@pytest.mark.parametrize(
    ("text", "path", "column", "extensions", "message"),
    [
        (
            SEARCH,
            ["query", "search", "nodes", "name"],
            60,
            {"code": "selectionMismatch", "nodeName": "SearchResultItem"},
            "Selections can't be made directly on unions (see selections on SearchResultItem)",
        ),
        (
            "{ viewer }",
            ["query", "viewer"],
            3,
            {"code": "selectionMismatch", "nodeName": "field 'viewer'", "typeName": "User"},
            "Field must have selections (field 'viewer' returns User but has no selections. Did "
            "you mean 'viewer { ... }'?)",
        ),
        (
            "{ viewer { login { x y } } }",
            ["query", "viewer", "login"],
            12,
            {"code": "selectionMismatch", "nodeName": "field 'login'", "typeName": "String"},
            "Selections can't be made on scalars (field 'login' returns String but has selections "
            '["x", "y"])',
        ),
        (
            "{ viewer(x: 1) { login } }",
            ["query", "viewer", "x"],
            10,
            {
                "code": "argumentNotAccepted",
                "name": "viewer",
                "typeName": "Field",
                "argumentName": "x",
            },
            "Field 'viewer' doesn't accept argument 'x'",
        ),
        (
            "{ search { repositoryCount } }",
            ["query", "search"],
            3,
            {
                "code": "missingRequiredArguments",
                "className": "Field",
                "name": "search",
                "arguments": "query, type",
            },
            "Field 'search' is missing required arguments: query, type",
        ),
        (
            "query Q($a: Int) { viewer { login } }",
            ["query Q"],
            1,
            {"code": "variableNotUsed", "variableName": "a"},
            "Variable $a is declared by Q but not used",
        ),
        (
            "query ($a: Int) { viewer { login } }",
            ["query"],
            1,
            {"code": "variableNotUsed", "variableName": "a"},
            "Variable $a is declared by anonymous query but not used",
        ),
        (
            "query Q { search(query: $x, type: REPOSITORY) { repositoryCount } }",
            ["query Q", "search", "query"],
            25,
            {"code": "variableNotDefined", "variableName": "x"},
            "Variable $x is used by Q but not declared",
        ),
        (
            "{ viewer { login } } fragment f on User { login }",
            ["fragment f"],
            22,
            {"code": "useAndDefineFragment", "fragmentName": "f"},
            "Fragment f was defined, but not used",
        ),
        (
            "{ viewer { ...g } }",
            ["query", "viewer", "... g"],
            12,
            {"code": "useAndDefineFragment", "fragmentName": "g"},
            "Fragment g was used, but not defined",
        ),
    ],
)
def test_an_error_of_validation(app, text, path, column, extensions, message):
    """Path, code, place and words, in this order, without a type."""
    (error,) = errors(app, text)
    assert list(error.items()) == [
        ("path", path),
        ("extensions", extensions),
        ("locations", [{"line": 1, "column": column}]),
        ("message", message),
    ]


def test_several_mistakes_are_all_said(app):
    """Each mistake has its own error, those of one field that lacks arguments have one."""
    found = errors(app, "{ nope search { x: repositoryCount nope } viewer(a: 1, b: 2) { login } }")
    codes = [error["extensions"]["code"] for error in found]
    assert sorted(codes) == [
        *["argumentNotAccepted"] * 2,
        "missingRequiredArguments",
        *["undefinedField"] * 2,
    ]


@pytest.mark.parametrize(
    ("variables", "value", "why"),
    [
        ({}, None, "Expected value to not be null"),
        ({"q": None}, None, "Expected value to not be null"),
        ({"q": 5}, 5, "Could not coerce value 5 to String"),
    ],
)
def test_a_variable_that_does_not_fit(app, variables, value, why):
    """The value and what is wrong with it stand in ``extensions``."""
    text = "query Q($q: String!) { search(query: $q, type: REPOSITORY) { repositoryCount } }"
    assert errors(app, text, variables=variables) == [
        {
            "extensions": {"value": value, "problems": [{"path": [], "explanation": why}]},
            "locations": [{"line": 1, "column": 9}],
            "message": "Variable $q of type String! was provided invalid value",
        }
    ]


def test_the_operation_has_to_be_named(app):
    """Two operations and no name, or one that there is not."""
    two = "query A { viewer { login } } query B { viewer { login } }"
    assert errors(app, two) == [{"message": "An operation name is required"}]
    unknown = errors(app, two, operationName="C")
    assert unknown == [{"message": 'No operation named "C"'}]


SEARCH = '{ search(query: "x", type: %s, first: %s) { repositoryCount } }'
OWNED = "query Q($o: %s) { viewer { r: repositories(orderBy: %s) { totalCount } } }"


@pytest.mark.parametrize(
    ("text", "path", "column", "owner", "value", "wanted"),
    [
        (SEARCH % ("FOO", 1), "search.type", 3, "Field 'search'", "FOO", "SearchType!"),
        (SEARCH % ("null", 1), "search.type", 3, "Field 'search'", "null", "SearchType!"),
        (SEARCH % ("USER", '"1"'), "search.first", 3, "Field 'search'", '"1"', "Int"),
        (
            SEARCH % ("USER", "4294967296"),
            "search.first",
            3,
            "Field 'search'",
            "4294967296",
            "Int",
        ),
        ("{ a: nodes(ids: [1.5]) { id } }", "a.ids", 3, "Field 'nodes'", "[1.5]", "[ID!]!"),
        (
            "{ viewer { repositories(orderBy: {field: ID, direction: ASC}) { totalCount } } }",
            "viewer.repositories.orderBy.field",
            34,
            "InputObject 'RepositoryOrder'",
            "ID",
            "RepositoryOrderField!",
        ),
    ],
)
def test_a_literal_that_does_not_fit(app, text, path, column, owner, value, wanted):
    """The argument, what it was given and what it takes; the place is what it belongs to."""
    (error,) = errors(app, text)
    name = path.rpartition(".")[2]
    assert list(error.items()) == [
        ("path", ["query", *path.split(".")]),
        (
            "extensions",
            {
                "code": "argumentLiteralsIncompatible",
                "typeName": owner.split()[0],
                "argumentName": name,
            },
        ),
        ("locations", [{"line": 1, "column": column}]),
        (
            "message",
            f"Argument '{name}' on {owner} has an invalid value ({value}). "
            f"Expected type '{wanted}'.",
        ),
    ]


@pytest.mark.parametrize(
    ("kind", "given", "path", "wanted", "problem"),
    [
        ("Int", "$o", "orderBy", "RepositoryOrder", "Type mismatch"),
        ("[RepositoryOrder]", "$o", "orderBy", "RepositoryOrder", "List dimension mismatch"),
        (
            "OrderDirection",
            "{field: NAME, direction: $o}",
            "orderBy.direction",
            "OrderDirection!",
            "Nullability mismatch",
        ),
    ],
)
def test_a_variable_of_another_type(app, kind, given, path, wanted, problem):
    """The variable, the argument that it was given to, and both types."""
    text = OWNED % (kind, given)
    (error,) = errors(app, text)
    name = path.rpartition(".")[2]
    assert list(error.items()) == [
        ("path", ["query Q", "viewer", "r", *path.split(".")]),
        (
            "extensions",
            {
                "code": "variableMismatch",
                "variableName": "o",
                "typeName": kind,
                "argumentName": name,
                "errorMessage": problem,
            },
        ),
        ("locations", [{"line": 1, "column": text.index(f"{name}: ") + 1}]),
        ("message", f"{problem} on variable $o and argument {name} ({kind} / {wanted})"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "query ($i: Int!) { nodes(ids: [$i]) { id } }",
        "{ viewer { login @include(if: 5) } }",
        'query ($n: Int = "x") { search(query: "x", type: USER, first: $n) { userCount } }',
    ],
)
def test_values_elsewhere_keep_their_words(app, text):
    """In a list, a directive or a default value, graphql-core's words and places stay."""
    variables = {"i": 1} if "$i" in text else {}
    (error,) = errors(app, text, variables=variables)
    assert list(error) == ["locations", "message"]


@pytest.mark.parametrize("text", ["{ a " * 300 + "}" * 300, "{ nodes(ids: %s) { id } }"])
def test_what_is_too_deep_to_be_parsed_is_too_large(app, text):
    """Where nothing but our own bound is passed, no error of syntax is made up."""
    text = text.replace("%s", "[" * 300 + "]" * 300)
    said = {"locations": [], "message": "This query is too large to execute."}
    assert errors(app, text) == [said]


def test_what_has_no_known_form_keeps_its_words(app):
    """Where no answer of GitHub's is known, graphql-core's words and places stay."""
    (error,) = errors(app, "{ viewer { login @foo } }")
    assert error == {
        "locations": [{"line": 1, "column": 18}],
        "message": "Unknown directive '@foo'.",
    }

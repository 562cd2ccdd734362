"""What is wrong with a document is said as GitHub says it: message, place, path and code."""

import asyncio
import json

import pytest

from gqlnb import github


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


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("{ a(: }", "Expected Name, found ':' at [1, 5]", (1, 5)),
        ("query {\n  viewer {\n    : } }", "Expected Name, found ':' at [3, 5]", (3, 5)),
        ("{ viewer { login }", "Expected Name, found <EOF> at [1, 19]", (1, 19)),
        ("# nothing", "Unexpected <EOF> at [1, 10]", (1, 10)),
    ],
)
def test_a_syntax_error(app, text, message, place):
    """The message ends with the position, as GitHub's do; no type, no path."""
    (error,) = errors(app, text)
    line, column = place
    assert list(error.items()) == [
        ("locations", [{"line": line, "column": column}]),
        ("message", message),
    ]


# ---------------------------------------------------------------- validation


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
    """The path begins with the operation; the error has GitHub's code and the type's name."""
    (error,) = errors(app, text)
    assert list(error.items()) == [
        ("path", path),
        ("extensions", {"code": "undefinedField", "typeName": kind, "fieldName": field}),
        ("locations", [{"line": 1, "column": text.index(field if "a:" not in text else "a:") + 1}]),
        ("message", f"Field '{field}' doesn't exist on type '{kind}' in this stand-in"),
    ]


SEARCH = '{ search(query: "a", type: REPOSITORY, first: 1) { nodes { name } } }'


@pytest.mark.parametrize(
    ("text", "path", "column", "extensions", "message"),
    [
        (
            SEARCH,
            ["query", "search", "nodes", "name"],
            60,
            {"code": "undefinedField", "typeName": "SearchResultItem", "fieldName": "name"},
            "Field 'name' doesn't exist on type 'SearchResultItem' in this stand-in",
        ),
        (
            "{ viewer }",
            ["query", "viewer"],
            3,
            {"code": "selectionMismatch"},
            "Field 'viewer' of type 'User!' must have a selection of subfields. Did you mean "
            "'viewer { ... }'?",
        ),
        (
            "{ viewer { login { x y } } }",
            ["query", "viewer", "login"],
            12,
            {"code": "selectionMismatch"},
            "Field 'login' must not have a selection since type 'String!' has no subfields.",
        ),
        (
            "{ viewer(x: 1) { login } }",
            ["query", "viewer", "x"],
            10,
            {"code": "argumentNotAccepted", "name": "viewer", "argumentName": "x"},
            "Field 'viewer' doesn't accept argument 'x' in this stand-in",
        ),
        (
            '{ search(query: "x") { repositoryCount } }',
            ["query", "search"],
            3,
            {"code": "missingRequiredArguments", "name": "search", "arguments": "type"},
            "Field 'search' is missing required arguments: type",
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
def test_a_validation_error(app, text, path, column, extensions, message):
    """Path, code, locations and message, in this order, without a type."""
    (error,) = errors(app, text)
    assert list(error.items()) == [
        ("path", path),
        ("extensions", extensions),
        ("locations", [{"line": 1, "column": column}]),
        ("message", message),
    ]


def test_every_validation_error_is_reported(app):
    """Each one has its own error."""
    found = errors(app, "{ nope search { x: repositoryCount nope } viewer(a: 1, b: 2) { login } }")
    codes = [error["extensions"]["code"] for error in found]
    assert sorted(codes) == [
        *["argumentNotAccepted"] * 2,
        *["missingRequiredArguments"] * 2,
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
def test_a_variable_of_the_wrong_type(app, variables, value, why):
    """``extensions`` have the value and the problem."""
    text = "query Q($q: String!) { search(query: $q, type: REPOSITORY) { repositoryCount } }"
    assert errors(app, text, variables=variables) == [
        {
            "extensions": {"value": value, "problems": [{"path": [], "explanation": why}]},
            "locations": [{"line": 1, "column": 9}],
            "message": "Variable $q of type String! was provided invalid value",
        }
    ]


def test_an_ambiguous_or_unknown_operation_name(app):
    """Two operations and no name, or a name that does not exist."""
    two = "query A { viewer { login } } query B { viewer { login } }"
    assert errors(app, two) == [{"message": "An operation name is required"}]
    unknown = errors(app, two, operationName="C")
    assert unknown == [{"message": 'No operation named "C"'}]


@pytest.mark.parametrize(
    ("text", "path", "column", "code"),
    [
        (
            '{ search(query: "x", type: FOO) { userCount } }',
            ["query", "search", "type"],
            3,
            "argumentLiteralsIncompatible",
        ),
        (
            '{ search(query: "x", type: USER, first: "1") { userCount } }',
            ["query", "search", "first"],
            3,
            "argumentLiteralsIncompatible",
        ),
        (
            "query ($o: Int) { viewer { repositories(orderBy: $o) { totalCount } } }",
            None,
            None,
            "variableMismatch",
        ),
    ],
)
def test_a_literal_of_the_wrong_type(app, text, path, column, code):
    """Path and code are GitHub's, the message is graphql-core's."""
    (error,) = errors(app, text)
    if path is None:
        assert error["extensions"] == {"code": code, "variableName": "o"}
    else:
        assert (error["path"], error["extensions"]) == (path, {"code": code})
        assert error["locations"] == [{"line": 1, "column": column}]


@pytest.mark.parametrize("text", ["{ a " * 300 + "}" * 300, "{ nodes(ids: %s) { id } }"])
def test_a_query_nested_too_deeply_is_too_large(app, text):
    """A query over our own limit is not reported as a syntax error."""
    text = text.replace("%s", "[" * 300 + "]" * 300)
    said = {"locations": [], "message": "This query is too large to execute."}
    assert errors(app, text) == [said]


def test_other_errors_keep_graphql_cores_message(app):
    """If GitHub's form is unknown, message and locations are unchanged."""
    (error,) = errors(app, "{ viewer { login @foo } }")
    assert error == {
        "locations": [{"line": 1, "column": 18}],
        "message": "Unknown directive '@foo'.",
    }

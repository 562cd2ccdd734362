"""What is wrong with a document is said as GitHub says it: message, place, path and code."""

import pytest

from gqlnb import github
from tests.github.standin.exchange import post


@pytest.fixture(scope="module")
def app():
    """Return the stand-in over HTTP; it keeps no state."""
    return github.app()


def errors(app, text):
    """Return the errors of a document that is refused."""
    answer = post(app, {"query": text}, token=None)
    assert answer.status == 200
    ((name, found),) = answer.json.items()
    assert name == "errors"
    return found


# ---------------------------------------------------------------- syntax


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("{ a(: }", 'Expected NAME, actual: COLON (":") at [1, 5]', (1, 5)),
        ("query {\n  viewer {\n    : } }", 'Expected NAME, actual: COLON (":") at [3, 5]', (3, 5)),
        ("{ viewer { login }", 'Expected NAME, actual: (none) ("") at [1, 18]', (1, 18)),
        ("{ viewer { login } } }",
         "Expected one of SCHEMA, SCALAR, TYPE, ENUM, INPUT, UNION, INTERFACE, actual: "
         'RCURLY ("}") at [1, 22]', (1, 22)),
        ('{ repository(owner: "a", name: "b") { issue(number: 0158) { id } } }',
         'Expected NAME, actual: INT ("158") at [1, 54]', (1, 54)),
    ],
)  # fmt: skip
def test_a_syntax_error(app, text, message, place):
    """As in recorded answers of GitHub: the message ends with the position; no type, no path."""
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


@pytest.mark.parametrize("text", ["{ a " * 300 + "}" * 300, "{ nodes(ids: %s) { id } }"])
def test_a_query_nested_too_deeply_is_too_large(app, text):
    """A query over our own limit is not reported as a syntax error."""
    text = text.replace("%s", "[" * 300 + "]" * 300)
    said = {"locations": [], "message": "This query is too large to execute."}
    assert errors(app, text) == [said]

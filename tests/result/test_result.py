"""Results: the views of one answer."""

import pytest
from graphql import GraphQLError

from gqlnb import PartialError, Schema
from gqlnb.result.result import Result

SDL = "type Query { a: Int b: Int items: [Item!] } type Item { n: Int name: String }"


def fail(root, args, context):
    """Fail as a person's resolver fails."""
    return 1 / 0


@pytest.fixture
def partial():
    """Return an answer of which one field failed."""
    return Schema(SDL, {"Query": {"a": fail, "b": lambda *_: 2}}).execute("{ a b }")


def test_rows_are_counted_and_iterated():
    """Length and iteration are those of the answer's one list."""
    rows = [{"n": 1, "name": "x"}, {"n": 2, "name": "y"}]
    result = Schema(SDL).execute("{ items { n name } }", root={"items": rows})
    assert len(result) == 2
    assert list(result) == rows
    assert result.dicts() == rows
    assert result["items"] == rows


def test_a_result_without_rows_is_true():
    """`if result:` tests for the presence of data."""
    assert Result({"items": []})


def test_raise_for_errors_preserves_the_result_and_the_cause(partial):
    """The resolver's exception is the cause."""
    with pytest.raises(PartialError, match="a: division by zero") as caught:
        partial.raise_for_errors()
    assert caught.value.result is partial
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_errors_are_a_frame(partial):
    """Message, path, line and column."""
    row = partial.errors_frame().iloc[0]
    assert (row["message"], row["path"], row["line"], row["column"]) == (
        "division by zero",
        "a",
        1,
        3,
    )


def test_a_partial_result_shows_its_errors_and_their_locations(partial):
    """Text and HTML name the field, the message and the line of the resolver."""
    bundle, _ = partial._repr_mimebundle_()
    for shown in bundle.values():
        assert "Partial answer, 1 error:" in shown
        assert "a: ZeroDivisionError: division by zero, in fail, line" in shown
        assert "return 1 / 0" in shown


def test_the_class_of_a_graphql_error_is_not_shown():
    """It is raised for its message; the classes of other exceptions help to find their cause."""

    def refuse(root, args, context):
        message = "Not today."
        raise {"a": GraphQLError, "b": ValueError}[args["name"]](message)

    schema = Schema("type Query { refuse(name: String!): Int }", {"Query": {"refuse": refuse}})
    result = schema.execute('{ a: refuse(name: "a") b: refuse(name: "b") }')
    assert "a: Not today, in refuse, line" in repr(result)
    assert "b: ValueError: Not today, in refuse, line" in repr(result)


CONNECTION = """
type Query { viewer: User search: Search }
type User { login: String }
type Search { repositoryCount: Int pageInfo: Page nodes: [Item] }
type Page { endCursor: String }
type Item { name: String }
"""


@pytest.mark.parametrize("rows", [[], [{"name": "a"}]])
def test_scalars_next_to_the_rows_are_rendered(rows):
    """As text on lines of their own, in HTML as a table; also if there are no rows."""
    root = {
        "viewer": {"login": "<i>me</i>\x1b[31m"},
        "search": {"repositoryCount": 119, "pageInfo": {"endCursor": None}, "nodes": rows},
    }
    text = "{ viewer{login} search { repositoryCount pageInfo{endCursor} nodes{name} } }"
    bundle = Schema(CONNECTION).execute(text, root=root)._repr_mimebundle_()[0]
    assert bundle["text/plain"].splitlines()[:3] == [
        "viewer.login: <i>me</i> [31m",
        "search.repositoryCount: 119",
        "search.pageInfo.endCursor: null",
    ]
    cells = '<th style="text-align:left">{}</th><td style="text-align:left{}">{}</td>'
    assert cells.format("search.repositoryCount", "", 119) in bundle["text/html"]
    login = cells.format("viewer.login", ";white-space:nowrap", "&lt;i&gt;me&lt;/i&gt; [31m")
    assert login in bundle["text/html"]


def test_many_or_long_values_next_to_the_rows_are_truncated():
    """They do not push the table off the screen."""
    data = {f"v{n}": "x" * 1000 for n in range(50)} | {"rows": [{"n": 1}]}
    lines = repr(Result(data)).splitlines()
    assert len(lines) < 30
    assert max(map(len, lines)) < 250
    assert "… and 30 more values" in lines


ODD = [
    {"message": "m", "locations": "x"},
    {"message": "m", "locations": [5]},
    {"message": "m", "locations": {"line": 1}},
    {"message": "m", "locations": [{"line": "x", "column": 10**30}]},
    {"message": "m", "path": "abc"},
    {"message": "m", "path": 5},
    {"message": {"a": 1}, "path": [None, {}]},
    {},
]


@pytest.mark.parametrize("error", ODD, ids=str)
def test_errors_of_any_form_are_shown(error):
    """An endpoint that breaks the rules is shown too: text, HTML, frame and exception."""
    odd = Result({"a": 1}, errors=(error,))
    assert len(odd._repr_mimebundle_()[0]) == 2
    row = odd.errors_frame().iloc[0]
    assert row["message"] == str(error.get("message", "no message"))
    assert row[["line", "column"]].isna().all()
    with pytest.raises(PartialError, match="The answer is partial"):
        odd.raise_for_errors()

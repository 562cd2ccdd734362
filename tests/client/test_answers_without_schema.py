"""Answers of endpoints without a known schema are validated by the document alone."""

import json

import pytest

import gqlnb
from gqlnb.result.checked_decoder import SMALL_BODY
from tests.client.faults import Wire


@pytest.fixture(params=["small", "large", "again"])
def ask(request):
    """Return a function that executes a text: of small and large answers, also a second time."""

    def execute(text, data, variables=None, **members):
        padding = 0 if request.param == "small" else SMALL_BODY
        body = json.dumps({"data": data, **members}) + " " * padding
        client = gqlnb.Client(Wire(body))
        if request.param == "again":
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("gqlnb.http.response_parser._check_expected_data", lambda *_: None)
                client.execute(text, variables)
        return client.execute(text, variables)

    return execute


TEXT = "{ viewer { login } rows { id owner { name } } n }"
DATA = {"viewer": {"login": "a"}, "rows": [{"id": 1, "owner": None}, None], "n": [1, {"x": 2}]}


@pytest.mark.parametrize(
    "data",
    [
        DATA,
        DATA | {"viewer": None, "rows": None, "n": None},
        DATA | {"viewer": [[{"login": {"any": "scalar"}}], None]},
        DATA | {"rows": {"id": [], "owner": [{"name": "x"}]}},
        DATA | {"rows": [[[[{"id": 1, "owner": None}]]]]},
    ],
    ids=["as usual", "null", "lists in lists", "an object", "lists beyond the usual depth"],
)
def test_an_answer_that_matches_the_document_is_accepted(ask, data):
    """Objects in lists or not, nulls anywhere, and any JSON where a leaf is selected."""
    assert ask(TEXT, data).data == data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({**DATA, "viewer": 5}, "at viewer: expected an object or a list of objects, got an int"),
        ({**DATA, "viewer": "a"}, "at viewer: expected an object or a list of objects, got text"),
        ({**DATA, "rows": [1]}, r"at rows\[0\]: expected .*, got an integer"),
        ({**DATA, "rows": [{"id": 1, "owner": [True]}]}, r"at rows\[0\].owner\[0\]: .* a boolean"),
        ({**DATA, "viewer": {}}, "at viewer.login: expected a value, got nothing"),
        ({**DATA, "rows": [{"id": 1}]}, r"at rows\[0\].owner: expected an object .*, got nothing"),
        ({"viewer": None, "rows": None}, "at n: expected a value, got nothing"),
        ({}, "at viewer: .* got nothing; at rows: .*; at n: "),
    ],
)
def test_an_answer_that_does_not_match_the_document_is_an_error(ask, data, message):
    """A missing name, or a scalar for a selected object; the error has the answer."""
    with pytest.raises(gqlnb.AnswerError, match=f"does not fit its query {message}") as caught:
        ask(TEXT, data)
    assert caught.value.result.data == data


@pytest.mark.parametrize(
    ("text", "data", "fits"),
    [
        ("{ a { ... on User { login } } }", {"a": {}}, True),
        ("{ a { ...F } } fragment F on User { login }", {"a": [{}, {"login": "x"}]}, True),
        ("{ a { ... { login } } }", {"a": {}}, False),
        ("{ a { ... on User { b { c } } } }", {"a": {"b": {}}}, False),
        ("{ a { ... on User { b { c } } } }", {"a": {"b": 5}}, False),
        ("{ a { b { c } ... on User { b { d } } } }", {"a": {"b": {"c": 1}}}, True),
        ("{ a { b { c } ... on User { b { d } } } }", {"a": {"b": {"d": 1}}}, False),
        ("{ x: a { y: b } }", {"x": {"y": 1}}, True),
        ("{ x: a { y: b } }", {"a": {"b": 1}}, False),
        ("{ a @skip(if: true) b }", {"b": 1}, True),
        ("{ a @include(if: false) { c } b }", {"b": 1}, True),
        ("{ a @skip(if: false) b }", {"b": 1}, False),
        ("query ($on: Boolean!) { a @include(if: $on) b }", {"b": 1}, False),
        ("query ($on: Boolean!) { a @skip(if: $on) b }", {"b": 1}, True),
        ("query ($on: Boolean = true, $q: Int) { a @skip(if: $on) b(q: $q) }", {"b": 1}, True),
        ("{ b ... @defer { a } }", {"b": 1}, True),
        ("{ b a { ... @defer { c } } }", {"b": 1, "a": {}}, True),
    ],
)
def test_the_document_determines_optional_fields(ask, text, data, fits):
    """By directives, type conditions and deferred fragments; by response names."""
    variables = {"on": True} if "$on: Boolean!" in text else None
    if fits:
        assert ask(text, data, variables).data == data
        return
    with pytest.raises(gqlnb.AnswerError, match="does not fit its query"):
        ask(text, data, variables)


def test_a_missing_field_with_an_error_is_accepted(ask):
    """As with a schema."""
    problem = {"message": "no", "path": ["viewer"]}
    assert ask("{ viewer { id } n }", {"n": 1}, errors=[problem]).data == {"n": 1}
    with pytest.raises(gqlnb.AnswerError, match="at n: expected a value"):
        ask("{ viewer { id } n }", {}, errors=[problem])

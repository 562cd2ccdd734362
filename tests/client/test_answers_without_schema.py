"""Answers of endpoints without a known schema are validated by the document alone."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gqlnb
from gqlnb.document.document import Document
from gqlnb.document.json_codec import load_json
from gqlnb.result.checked_decoder import SMALL_BODY, DecoderSelector, iter_misfits
from tests.client.faults import Wire
from tests.examples import count_examples


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


TEXTS = [
    TEXT,
    "{ a { ...A ...B b } } fragment A on Item { next { id } } fragment B on Item { next { n } }",
    "query ($s: Boolean!) { n @skip(if: $s) item { id @include(if: $s) kind } }",
    "{ class: n item { def: id ... @defer { kind } } }",
]
KEYS = ["viewer", "login", "rows", "id", "owner", "name", "n", "a", "b", "next", "item", "class"]
LEAVES = st.sampled_from([None, True, 0, 1.5, "text", []])
ANY = st.recursive(
    LEAVES,
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from(KEYS), below),
)


def depth(value):
    """Return how many lists stand around each other at most."""
    if isinstance(value, dict):
        return max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def drawn(place, draw):
    """Draw data that fit a place, but for a part here and there."""
    if draw(st.integers(0, 40)) == 0:
        return draw(ANY)
    if not place.composite:
        return draw(LEAVES)
    if draw(st.integers(0, 6)) == 0:
        return None
    if place.may_be_lists and draw(st.integers(0, 2)) == 0:
        return [drawn(place, draw) for _ in range(draw(st.integers(0, 2)))]
    return {
        name: drawn(child, draw)
        for name, child in place.children.items()
        if child.is_required or draw(st.booleans())
    }


@pytest.mark.parametrize("text", TEXTS)
@settings(max_examples=count_examples(150))
@given(data=st.data(), skip=st.booleans())
def test_both_validation_methods_agree(text, data, skip):
    """An answer is decoded by types if it has no mismatch, except for deep lists."""
    typed = DecoderSelector(Document.parse(text)).get_decoder({"s": skip})
    made = drawn(typed.shape, data.draw)
    made = made if isinstance(made, dict) else {}
    body = json.dumps({"data": made}).encode() + b" " * SMALL_BODY
    typed.decode_response(body)
    members = typed.decode_response(body)
    found = list(iter_misfits(typed.shape, made))
    if members is not None:
        assert found == []
        assert set(members["data"]) <= set(load_json(body)["data"])
    elif depth(made) <= 2:
        assert found != []

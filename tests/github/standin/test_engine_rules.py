"""The stand-in's errors beside those of graphql-ruby, on which GitHub's API is built.

``graphql_ruby_answers.json`` has requests with the errors of graphql-ruby 1.13.15 (Debian 12), and
texts with those of the parser of 2.2.17 (Debian 13), which writes syntax errors as GitHub does.
"""

import json
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path
from time import perf_counter

import pytest

from gqlnb import github
from gqlnb.github.standin.github_errors import format_request_errors
from tests.github.standin.exchange import post

FOLDER = Path(__file__).parent
RECORDED = json.loads((FOLDER / "graphql_ruby_answers.json").read_text(encoding="utf-8"))
REQUESTS, TEXTS = RECORDED["requests"], RECORDED["texts"]
MEMBERS = ("query", "variables", "operationName")
ORDER = ("path", "extensions", "locations", "message")  # as GitHub writes them


def ask_engine(requests):
    """Return graphql-ruby's version and its errors for each request."""
    sdl = (files("gqlnb.github") / "schema.graphql").read_text(encoding="utf-8")
    sdl = sdl[sdl.index("schema {") :]  # its parser knows no description of the schema
    ruby = subprocess.run(
        ["ruby", FOLDER / "graphql_ruby.rb"],
        input=json.dumps({"sdl": sdl, "requests": requests}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return json.loads(ruby.stdout) if ruby.returncode == 0 else None


@cache
def find_engine_version():
    """Return the version of graphql-ruby here, or None."""
    answer = ask_engine([]) if shutil.which("ruby") else None
    return answer and answer["version"]


@pytest.fixture(scope="module")
def ask():
    """Return a function that answers a request as the stand-in does over HTTP."""
    app = github.app()
    return lambda request: post(app, request, token=None).json


def remove_hint(answer):
    """Return an answer without the words that only a stand-in says."""
    for error in answer.get("errors", ()):
        error["message"] = error["message"].removesuffix(" in this stand-in")
    return answer


@pytest.mark.parametrize(("requests", "least"), [(REQUESTS, 200), (TEXTS, 50)], ids=["", "syntax"])
def test_the_errors_are_those_of_graphql_ruby(ask, requests, least):
    """All of them, in its order: message, locations, path and extensions."""
    assert len(requests) >= least
    for case in requests:
        request = {name: case[name] for name in MEMBERS if name in case}
        answer = remove_hint(ask(request))
        assert (request, answer) == (request, {"errors": case["errors"]})
        for error in answer["errors"]:
            assert [*error] == [name for name in ORDER if name in error]


@pytest.mark.skipif(
    "find_engine_version() not in {None, RECORDED['version']}", reason="another graphql-ruby"
)
def test_the_recorded_answers_are_those_of_graphql_ruby():
    """Where Ruby has graphql."""
    if find_engine_version() is None:
        pytest.skip("No Ruby with graphql on this machine")
    answers = ask_engine(REQUESTS)["answers"]
    assert answers == [request["errors"] for request in REQUESTS]


@pytest.mark.parametrize(
    ("text", "extensions"),
    [
        (
            '{ search(query: "", type: USER) { nodes } }',
            {
                "code": "selectionMismatch",
                "nodeName": "field 'nodes'",
                "typeName": "SearchResultItem",
            },
        ),
        (
            "{ viewer { ...f } } fragment f on User { a: id a: login }",
            {"code": "fieldConflict", "fieldName": "a", "conflicts": "id or login"},
        ),
    ],
)
def test_what_graphql_ruby_overlooks_is_refused_in_its_form(ask, text, extensions):
    """The stand-in cannot execute it."""
    (error,) = ask({"query": text})["errors"]
    assert error["extensions"] == extensions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{ viewer { ...f } } fragment f on User { ...g } fragment g on Nope { id }",
            "No such type Nope, so it can't be a fragment condition",
        ),
        (
            "{ u1: viewer { ...A ...B } u2: viewer { ...B ...A } }"
            "fragment A on User { x: id } fragment B on User { x: login }",
            "Field 'x' has a field conflict: id or login?",
        ),
        (
            "query A($x: Int) { viewer { ...F } }"
            "fragment F on User { repositories(first: $x) { totalCount } }"
            "fragment F on User { repositories(first: $y) { totalCount } }",
            'Fragment name "F" must be unique',
        ),
    ],
)
def test_fragments_have_no_error_of_another(ask, text, message):
    """As graphql-ruby 1.13.15 says; of a chain of fragments each is resolved once."""
    assert [error["message"] for error in ask({"query": text})["errors"]] == [message]


def test_what_no_rule_of_the_engine_refuses_has_a_plain_error(ask):
    """A variable in a fragment before its operation: the stand-in cannot execute it."""
    text = "fragment f on Query { node(id: $x) { id } } query ($x: ID) { ...f }"
    (error,) = ask({"query": text})["errors"]
    assert error.keys() == {"locations", "message"}
    assert "used in position expecting type 'ID!'" in error["message"]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("{ viewer { shoeSize } }", True),
        ("{ viewer { logn } }", False),
        ('{ node(id: "é") { shoeSize } }', True),
        ('{ node(id: "é") { idd } }', False),
        ("{ viewer(shoeSize: 1) { login } }", True),
        ("{ viewer { repositories(frst: 1) { totalCount } } }", False),
    ],
)
def test_only_names_without_a_similar_one_may_be_at_github(ask, text, marked):
    """GitHub suggests no names."""
    message = ask({"query": text})["errors"][0]["message"]
    assert message.endswith(" in this stand-in") is marked


def test_a_float_without_a_fraction_is_not_an_int(ask):
    """By the specification it may be one; GitHub's Ruby takes no Float for an Integer."""
    text = "query ($n: Int) { viewer { repositories(first: $n) { totalCount } } }"
    assert "data" in ask({"query": text, "variables": {"n": 1}})
    (error,) = ask({"query": text, "variables": {"n": 1.0}})["errors"]
    assert error["extensions"]["problems"][0]["explanation"] == "Could not coerce value 1.0 to Int"


def test_a_required_variable_may_have_a_default(ask):
    """The engine refused it until 2024."""
    text = "query ($n: Int! = 1) { viewer { repositories(first: $n) { totalCount } } }"
    assert "data" in ask({"query": text})
    (error,) = ask({"query": text.replace("= 1", "= null")})["errors"]
    assert error["extensions"]["code"] == "defaultValueInvalidType"


@pytest.mark.parametrize(
    "text",
    [
        "{ nope " + "viewer { login } " * 10_000 + "}",
        "{ nope "
        + "viewer { ...F } " * 200
        + "} fragment F on User { "
        + " ".join(f"a{number}: login" for number in range(1_400))
        + " }",
    ],
    ids=["fields", "fragments"],
)
def test_many_equal_fields_are_not_compared_without_end(text):
    """In pairs, these would take minutes."""
    began, schema = perf_counter(), github.schema().graphql
    errors = format_request_errors([{"message": ""}], {"query": text}, schema)
    assert [error["extensions"]["code"] for error in errors] == ["undefinedField"]
    assert perf_counter() - began < 30

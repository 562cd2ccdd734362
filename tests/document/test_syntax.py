"""Documents that ask the same have one form."""

import gc
from contextlib import suppress

import pytest
from graphql import build_schema, parse

from gqlnb import QueryError
from gqlnb.document.document import Document
from gqlnb.document.syntax import normalize_document


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("{a}", "{ a }"),
        ("\ufeffquery{ # why\n  a,b }", "{ a b }"),
        ("fragment B on T { b } query Z { ...B } fragment A on T { a } query A { ...A }",
         "query A { ...A } query Z { ...B } fragment A on T { a } fragment B on T { b }"),
        ('{ a(b: "x  y\\n z") }', '{ a(b: "x  y\\n z") }'),
        ('{ a(b: """\n    x\n      y\n    """) }', '{ a(b: "x\\n  y") }'),
        ("query($a:Int=1@b){a(b:$a)@skip(if:true)}",
         "query ($a: Int = 1 @b) { a(b: $a) @skip(if: true) }"),
    ],
)  # fmt: skip
def test_normalisation_removes_layout_comments_and_order(text, form):
    """One line, operations first, then fragments, by name; values are unchanged."""
    assert normalize_document(text) == form
    assert normalize_document(parse(text)) == form
    assert normalize_document(form) == form


def test_different_documents_have_different_normal_forms():
    """Field order, aliases, arguments and names are significant."""
    texts = ["{ a b }", "{ b a }", "{ a: b }", "{ a(b: 1) }", '{ a(b: "1") }', "query A { a }"]
    assert len({normalize_document(text) for text in texts}) == len(texts)


def test_many_arguments_are_on_the_same_line():
    """A printer breaks long lines."""
    names = ", ".join(f"argument{n}: {n}" for n in range(20))
    assert "\n" not in normalize_document(f"{{ a({names}) }}")


@pytest.mark.parametrize("text", ["", "{", "hello"])
def test_invalid_documents_are_their_own_normal_form(text):
    """Nothing is raised, since a recording may contain any text."""
    assert normalize_document(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "{" + "a " * 2000 + "}",
        "{" + "a " * 2000,  # a syntax error
        "{" + "a " * 2000 + "wrong }",
        "{" + "wrong " * 2000 + "}",  # more errors than are reported
        "{" + "a(x: 1) a(x: 2) " * 500 + "}",
    ],
    ids=["valid", "syntax", "unknown", "aborted", "conflict"],
)
def test_a_long_document_is_freed_without_the_garbage_collector(text):
    """Whether it is valid or not, and however its validation ended."""
    schema = build_schema("type Query { a(x: Int): Int }")
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        with suppress(QueryError):
            Document.parse(text, schema)
        assert gc.collect() < 1000
    finally:
        if was_enabled:
            gc.enable()


@pytest.mark.parametrize("text", ["{ a " * 9000, "{ a(x: " + "[" * 9000])
def test_a_text_nested_too_deeply_is_an_error_at_a_position(text):
    """Its error is like any other syntax error."""
    with pytest.raises(QueryError, match="nested too deeply") as caught:
        Document.parse(text)
    assert caught.value.problems[0].line == 1


SQL, PYTHON = "This is SQL.", "This is Python."
OTHER_TEXTS = {
    "SELECT name FROM rows": SQL,
    "select *\nfrom rows\nwhere n > 1": SQL,
    "WITH x AS (SELECT 1) SELECT * FROM x": SQL,
    "INSERT INTO rows VALUES (1)": SQL,
    "name": "Braces around the fields are missing: { name }",
    "rows { n }": "Braces around the fields are missing: { rows { n } }",
    "select { n }": "Braces around the fields are missing: { select { n } }",
    "from": "Braces around the fields are missing: { from }",
    "add(a: 1)": "Braces around the fields are missing: { add(a: 1) }",
    "# all\nname\nstars\n": "Braces around the fields are missing: { name ... }",
    "rows { n": "An operation begins with a brace",
    '{"query": "{ rows }", "variables": {}}': "Write the text of its member query alone",
    '{"a": 1}': "This is JSON or a value of Python.",
    "{'a': 1}": "This is JSON or a value of Python.",
    "[1, 2]": "This is JSON or a value of Python.",
    "https://example.org/graphql": "This is an address.",
    "%%graphql demo\n{ a }": "This is a line of IPython.",
    "!pip install x": "This is a line of IPython.",
    "<html>": "This is HTML or XML.",
    "import pandas as pd": PYTHON,
    "df = result.df": PYTHON,
    "result.df": PYTHON,
    "print(1)": PYTHON,
    "for x in y:\n    pass": PYTHON,
    "await client.aexecute(text)": PYTHON,
    "Query { a }": "Did you mean query?",
    "mutate { a }": "Did you mean mutation?",
    "query": "Write the fields in braces, at least one: { __typename }",
    "{ }": "Write the fields in braces, at least one: { __typename }",
    "{ a { b } } }": "There is one } more than {.",
    "{ a { b }": "Add at the end: }",
    'query ($a: [Int!]) { a(b: [{c: "}"': "Add at the end: } ] ) }",
    "{ a(b: }": "",
    '"""A."""\nquery Q { a(b: ) }': "",
}


@pytest.mark.parametrize(("text", "hint"), OTHER_TEXTS.items(), ids=map(repr, OTHER_TEXTS))
def test_a_text_of_another_language_is_named(text, hint):
    """What a beginner writes in the place of a query: the error says what is missing."""
    with pytest.raises(QueryError) as caught:
        Document.parse(text)
    (problem,) = caught.value.problems
    assert hint in (problem.hint or "")
    assert bool(problem.hint) is bool(hint)
    assert problem.line is not None


@pytest.mark.parametrize("text", ["", " \n,\n", "# only this\n", "\ufeff # a\r # b"])
def test_a_text_without_tokens_is_empty(text):
    """White space, commas and comments are no query."""
    with pytest.raises(QueryError, match="The query is empty"):
        Document.parse(text)

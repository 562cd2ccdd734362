"""Documents that ask the same have one form."""

import pytest
from graphql import parse

from gqlnb.document.syntax import normalize_document


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("{a}", "{ a }"),
        ("\ufeffquery{ # why\n  a,b }", "{ a b }"),
        (
            "fragment B on T { b } query Z { ...B } fragment A on T { a } query A { ...A }",
            "query A { ...A } query Z { ...B } fragment A on T { a } fragment B on T { b }",
        ),
        ('{ a(b: "x  y\\n z") }', '{ a(b: "x  y\\n z") }'),
        ('{ a(b: """\n    x\n      y\n    """) }', '{ a(b: "x\\n  y") }'),
        (
            "query($a:Int=1@b){a(b:$a)@skip(if:true)}",
            "query ($a: Int = 1 @b) { a(b: $a) @skip(if: true) }",
        ),
    ],
)
def test_layout_comments_and_order_are_no_part_of_it(text, form):
    """One line, operations first, then fragments, each by name; values stay as they are."""
    assert normalize_document(text) == form
    assert normalize_document(parse(text)) == form
    assert normalize_document(form) == form


def test_what_is_different_stays_different():
    """The order of fields is that of the answer; aliases, arguments and names count."""
    texts = ["{ a b }", "{ b a }", "{ a: b }", "{ a(b: 1) }", '{ a(b: "1") }', "query A { a }"]
    assert len({normalize_document(text) for text in texts}) == len(texts)


def test_many_arguments_are_on_the_same_line():
    """A printer breaks long lines."""
    names = ", ".join(f"argument{n}: {n}" for n in range(20))
    assert "\n" not in normalize_document(f"{{ a({names}) }}")


@pytest.mark.parametrize("text", ["", "{", "hello"])
def test_what_is_no_document_has_no_form(text):
    """Nothing is raised: a recording may hold anything."""
    assert normalize_document(text) == ""

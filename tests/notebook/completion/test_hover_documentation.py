"""Documentation as Markdown: an endpoint's words stay words."""

from __future__ import annotations

import pytest
from graphql import GraphQLSchema, build_schema

from gqlnb.notebook.completion.completion_list import find_at_cursor, render_markdown

ATTACK = "<img src=x onerror=1>"


def documented(schema: GraphQLSchema, text: str) -> str:
    """Return the documentation of the name at the end of a text."""
    found = find_at_cursor(schema, text, len(text))
    assert found is not None
    return render_markdown(found)


def test_a_default_value_does_not_end_the_code():
    """A multi-line string may contain the end of a code block."""
    value = f'"""\n```\n{ATTACK}\n"""'
    schema = build_schema(f"type Query {{ f(a: String = {value}): Int }}")
    for text in ("{ f", "{ f(a"):
        shown = documented(schema, text).splitlines()
        assert shown[0].endswith("graphql")
        fence = shown[0].removesuffix("graphql")
        assert shown.index(fence) == len(shown) - 1


@pytest.mark.parametrize("before", ["", "\\", "\\\\", "\\\\\\", "`", "x\\\\"])
def test_markup_of_a_description_is_escaped_once(before):
    """Backslashes already before a markup character do not cancel the escape."""
    schema = build_schema("type Query { f: Int }")
    assert schema.query_type is not None
    for attack in (ATTACK, "![a](https://example.org/a.png)", "<!-- "):
        schema.query_type.fields["f"].description = before + attack
        escaped = documented(schema, "{ f").partition(attack)[0]
        assert (len(escaped) - len(escaped.rstrip("\\"))) % 2 == 1


def test_a_default_value_without_a_literal_is_left_out():
    """A custom scalar may have any Python value as its default."""
    schema = build_schema("scalar J type Query { f(a: J = {b: [1]}, c: Int): Int }")
    assert "a: J = " in documented(schema, "{ f")

"""Where the cursor is in a cell."""

from __future__ import annotations

import pytest

from gqlnb.notebook.magic_options import locate_cursor


def at(marked: str):
    """Return where the cursor is, which is written as `|`."""
    return locate_cursor(marked.replace("|", "", 1), marked.index("|"))


@pytest.mark.parametrize(
    ("marked", "line", "text", "inside", "offset"),
    [
        ("%%graphql demo -|\n{ a }", " demo -", "{ a }", False, 7),
        ("%%graphql |", " ", "", False, 1),
        ("\n  %%gql x\n{ |a }", " x", "{ a }", True, 2),
        ("%%graphql\n|", "", "", True, 0),
        ("%%time\n%%graphql x\n{ |a }", " x", "{ a }", True, 2),
        ("%%capture out\n%%timeit -n1\n\n%%gql x|\n{ a }", " x", "{ a }", False, 2),
        ("x = 1\n%graphql demo { h| }", " demo ", "{ h }", True, 3),
        ("r = %gql c|onnections", " connections", "", False, 2),
        ("%graphql query { |", " ", "query { ", True, 8),
    ],
)
def test_cursor_inside_a_magic(marked, line, text, inside, offset):
    """The location is the option line, or a position in the operation."""
    found = at(marked)
    assert found is not None
    assert (found.line, found.text, found.inside, found.offset) == (line, text, inside, offset)


@pytest.mark.parametrize(
    "marked",
    [
        "{ a|",
        "%%graph|ql\n{ a }",
        "%%graphql|",
        "x = %graphql| schema",
        "%%graphqls x|",
        "x = 1\n%%graphql\n{ a|",
        "%time f(|",
        "%%sql\na|",
        "%%sql\n%%graphql\n{ a|",
        "%%time\nx = 1\n%%graphql\n{ a|",
    ],
)
def test_cursor_outside_the_magic(marked):
    """Python code, other magics and the magic's own name have no location."""
    assert at(marked) is None

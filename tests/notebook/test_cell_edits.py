"""Edits of a cell: a fragment of a selection, another name for an alias or a variable."""

from __future__ import annotations

import pytest

import gqlnb
from gqlnb.errors import OptionError
from gqlnb.notebook.cell_edits import extract_fragment, find_place, rename_at

CELL = """%%graphql demo -p first=3
# Repositories
query ($first: Int!) {
  one: repository(owner: "torvalds", name: "linux") {
    name
    owner { login }  # who
    languages(first: $first) { nodes { name } }
  }
}
"""


@pytest.fixture(scope="module")
def schema():
    """Return the schema of the demo."""
    return gqlnb.connect("demo").schema


def extract(schema, code, selected, name="Parts"):
    """Extract a text of a cell."""
    start = code.index(selected)
    return extract_fragment(schema, code, start, start + len(selected), name)


def test_a_selection_becomes_a_fragment(schema):
    """Its comments stay with it, and the type is that of the selection set."""
    selected = CELL[CELL.index("name\n") : CELL.index("    languages")]
    changed = extract(schema, CELL, selected)
    assert changed == (
        CELL.replace("name\n    owner { login }  # who\n", "...Parts\n").rstrip()
        + "\n\nfragment Parts on Repository {\n  name\n  owner { login }  # who\n}"
    )
    with pytest.raises(OptionError, match="'Parts' is taken"):
        extract(schema, changed, "languages(first: $first) { nodes { name } }")


def test_fields_of_one_line_become_a_fragment(schema):
    """What stands before them in their line stays."""
    code = "%%graphql demo\n{ viewer { login id } }"
    assert extract(schema, code, "login id") == (
        "%%graphql demo\n{ viewer { ...Parts } }\n\nfragment Parts on User {\n  login id\n}"
    )


@pytest.mark.parametrize(
    "selected",
    ["owner", "{ login }", "login }  # who\n    languages", "torvalds", "repository", "$first"],
)
def test_other_selections_are_refused(schema, selected):
    """Parts of fields, several levels, arguments."""
    with pytest.raises(OptionError, match="Select whole fields"):
        extract(schema, CELL, selected)


@pytest.mark.parametrize("place", ["$first: Int", "first) {", "first: Int"])
def test_a_variable_is_renamed_everywhere(place):
    """Where it is declared, used and given; an argument of that name stays."""
    changed = rename_at(CELL, CELL.index(place), "count")
    assert changed == CELL.replace("$first", "$count").replace("-p first", "-p count")


def test_an_alias_is_renamed():
    """It alone."""
    assert rename_at(CELL, CELL.index("one:"), "kernel") == CELL.replace("one:", "kernel:")


@pytest.mark.parametrize(
    ("place", "name", "words"),
    [
        ("owner {", "x", "an alias or a variable"),
        ("owner:", "x", "an alias or a variable"),
        ("one:", "1x", "Write letters"),
        ("graphql", "x", "in the text of a %%graphql cell"),
    ],
)
def test_other_names_are_not_renamed(place, name, words):
    """Fields, arguments, names that are not valid, the line of the magic."""
    with pytest.raises(OptionError, match=words):
        rename_at(CELL, CELL.index(place), name)


def test_a_variable_does_not_take_the_name_of_another():
    """It would become that one."""
    text = "%%graphql\nquery ($a: Int, $b: Int) { x(a: $a, b: $b) }"
    with pytest.raises(OptionError, match="'b' is taken"):
        rename_at(text, text.index("$a"), "$b")


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("owner {", "Repository.owner"),
        ("owner:", "Query.repository(owner)"),
        ("Int!", "Int"),
        ("one:", "Query.repository"),
    ],
)
def test_the_name_under_the_cursor_has_a_place(schema, at, place):
    """Which has a page of documentation."""
    assert find_place(schema, CELL, CELL.index(at)) == place


def test_another_word_has_no_place(schema):
    """Such as a comment."""
    with pytest.raises(OptionError, match="not on a name"):
        find_place(schema, CELL, CELL.index("Repositories"))

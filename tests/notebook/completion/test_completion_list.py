"""Proposals at a cursor, for cases that the property tests do not cover."""

from __future__ import annotations

import pytest
from graphql import build_schema

from gqlnb.notebook.completion.completion_list import (
    complete_at_cursor,
    write_insertion,
    write_label,
)

SCHEMA = build_schema(
    """
    input By @oneOf { id: ID name: String }
    type Query { find(by: By, first: Int, also: Int): Query }
    """
)


def names(marked: str) -> list[str]:
    """Return the proposals at `|`."""
    text = marked.replace("|", "", 1)
    return [found.name for found in complete_at_cursor(SCHEMA, text, marked.index("|")).proposals]


@pytest.mark.parametrize(
    "marked",
    ["{ .|", "{ ..|", "{ é|", "{ find(first: 10|", "{ find(first: 1|0)", "{ find(first: -|"],
)
def test_no_proposal_adjoins_a_partial_token(marked):
    """Directly after the first dots of a spread, or a number, a name would be invalid."""
    assert names(marked) == []


def test_the_next_argument_is_proposed_after_a_number():
    """White space separates them."""
    assert names("{ find(first: 10 |") == ["by", "also"]


@pytest.mark.parametrize("marked", ["{ find(by: {id: 1 |", "{ find(by: {| name: 2})"])
def test_a_oneof_input_proposes_one_field(marked):
    """A second field would be invalid."""
    assert names("{ find(by: {|") == ["id", "name"]
    assert names(marked) == []


def test_a_oneof_field_does_not_propose_null():
    """Neither null nor a nullable variable is proposed."""
    assert names("query($a: ID, $b: ID!) { find(by: {id: |") == ["$b"]


def test_similar_names_are_proposed_for_a_mistyped_name():
    """Only if no name starts with the typed characters; names that contain them come first."""
    assert names("{ fnid|") == ["find"]
    assert names("{ fn|") == ["find"]
    assert names("{ ind|") == ["find"]
    assert names("{ find(frist|") == ["first"]
    assert names("{ q|") == []


@pytest.mark.parametrize(
    ("sdl", "following", "label", "inserted"),
    [
        ("f: Int", "", "f", "f"),
        ("f(a: Int): Int", "", "f(a)", "f"),
        ("f(a: Int!, b: [ID!]!, c: O!): Int", "", "f(a, b, c)", "f(a: 0, b: [], c: UP)"),
        ("f(a: I!, b: Boolean!, c: ID!): Int", "", "f(a, b, c)", 'f(a: {}, b: false, c: "")'),
        ("f(a: Int!): Int", " (a: 1)", "f(a)", "f"),
        ("f(a: Int! = 3): Int", "", "f(a)", "f"),
    ],
)
def test_required_arguments_are_inserted(sdl, following, label, inserted):
    """Each has a literal of its type, unless arguments follow already."""
    schema = build_schema(f"type Query {{ {sdl} }} enum O {{ UP }} input I {{ n: Int }}")
    found = complete_at_cursor(schema, "{ f", 3).proposals[0]
    assert write_label(found) == label
    assert write_insertion(found, following) == inserted

"""Proposals at a cursor, for cases that the property tests do not cover."""

from __future__ import annotations

import pytest
from graphql import build_schema

from gqlnb.notebook.completion.language_service import complete_at_cursor

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
def test_a_name_is_not_glued_to_something_else(marked: str) -> None:
    """Behind the first dots of a spread, or a number, it would make no sense."""
    assert names(marked) == []


def test_behind_a_number_the_next_argument_may_stand() -> None:
    """White space divides them."""
    assert names("{ find(first: 10 |") == ["by", "also"]


@pytest.mark.parametrize("marked", ["{ find(by: {id: 1 |", "{ find(by: {| name: 2})"])
def test_of_one_of_several_fields_there_is_one(marked: str) -> None:
    """A second one would be refused."""
    assert names("{ find(by: {|") == ["id", "name"]
    assert names(marked) == []


def test_a_field_of_one_of_several_is_not_null() -> None:
    """Nor is a variable that it takes."""
    assert names("query($a: ID, $b: ID!) { find(by: {id: |") == ["$b"]

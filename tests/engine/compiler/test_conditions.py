"""Fields under ``@skip`` and ``@include`` are branches of one plan, with graphql-core's answers."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from graphql import build_schema, parse

from gqlnb import engine
from gqlnb.engine.compiler.conditions import collect_facts, find_branch_variables
from gqlnb.engine.compiler.plans import get_operation_cache

SDL = """
type Query { a: Int b: Int c: Int row: Row rows: [Row!] pet: Pet must: Int! }
type Row { x: Int y: String! row: Row }
interface Pet { name: String }
type Dog implements Pet { name: String bark: Int }
type Cat implements Pet { name: String lives: Int }
type Mutation { first: Int second: Row }
"""
ROW = {"x": 1, "y": "y", "row": {"x": 2, "y": None}}
ROOT: dict[str, Any] = {
    "a": 1,
    "b": 2,
    "c": ValueError("c"),
    "row": ROW,
    "rows": [ROW, {"x": 3, "y": "z"}],
    "pet": {"__typename": "Dog", "name": "Rex", "bark": 3},
    "must": None,
    "first": 1,
    "second": ROW,
}
# Of each document: how many plans all combinations of $p and $q have.
DOCUMENTS = {
    "{ a @include(if: $p) b c @skip(if: $q) }": 1,
    "{ a @include(if: $p) @skip(if: $q) b @include(if: $p) }": 1,
    "{ row @include(if: $p) { x @skip(if: $q) y row { y @skip(if: $q) x } } }": 1,
    "{ rows { x @include(if: $p) y @skip(if: $q) } }": 1,
    "{ rows @skip(if: $p) { __typename @include(if: $q) row { x @skip(if: $p) y } } }": 1,
    "{ ... @include(if: $p) { a row { x @skip(if: $q) } } b }": 1,
    "{ ...F @skip(if: $p) b } fragment F on Query { a row { ...G } }"
    " fragment G on Row { x @include(if: $q) y }": 1,
    "{ pet { name ... on Dog @include(if: $p) { bark } ... on Cat { lives @skip(if: $q) } } }": 1,
    "{ a @include(if: $p) must @include(if: $q) }": 1,
    # The order of the fields, or their selections, depend on the values.
    "{ a @include(if: $p) b a }": 2,
    "{ row @include(if: $p) { x } row @skip(if: $q) { y } }": 4,
    "{ row { x @include(if: $p) y } row { x } }": 2,
    "{ ...F @include(if: $p) b @skip(if: $q) ...F } fragment F on Query { a }": 2,
    "{ ...F @include(if: $p) ... on Query @skip(if: $q) { ...F } } fragment F on Query { a }": 4,
    "{ a @include(if: $p) @include(if: $q) }": 4,
    # A variable decides on fields in both ways.
    "{ a @include(if: $p) @skip(if: $q) b @skip(if: $p) }": 2,
    "{ row @include(if: $p) { x @skip(if: $q) y row { y @include(if: $q) x } } }": 2,
    "{ rows @skip(if: $p) { __typename @include(if: $q) row { x @include(if: $p) y } } }": 2,
}
PREFIX = "query ($p: Boolean!, $q: Boolean = true)"


@pytest.mark.parametrize(("text", "count"), DOCUMENTS.items())
def test_plans_are_built_only_for_values_that_change_the_collected_fields(text, count):
    """All other conditions are branches."""
    schema, document = build_schema(SDL), parse(PREFIX + text)
    for p, q in [*product((True, False), repeat=2)] * 2:
        engine.execute(schema, document, ROOT, variable_values={"p": p, "q": q})
    (operation,) = get_operation_cache(schema).values()
    assert len(operation.plans) == count


def test_a_document_that_would_take_long_to_search_has_no_branches():
    """Fragments that spread each other twice would be entered very often."""
    fragments = " ".join(
        f"fragment F{n} on Row {{ a: row {{ ...F{n + 1} }} b: row {{ ...F{n + 1} }} }}"
        for n in range(30)
    )
    text = f"query ($p: Boolean!) {{ a @include(if: $p) row {{ ...F0 }} }} {fragments}"
    document = parse(f"{text} fragment F30 on Row {{ x }}")
    assert find_branch_variables(document, ["p"]) == {}
    assert collect_facts(document).plannable


def test_a_cycle_of_fragments_has_no_branches():
    """Such a document is invalid, and its execution fails."""
    document = parse(
        "query ($p: Boolean!) { row { ...F } } fragment F on Row { x @skip(if: $p) row { ...F } }"
    )
    assert find_branch_variables(document, ["p"]) == {}

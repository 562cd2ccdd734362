"""Fields that can be merged: the outcome of graphql-core's rule, in bounded time."""

from __future__ import annotations

from time import process_time

import pytest
from graphql import OverlappingFieldsCanBeMergedRule, build_schema, parse, validate
from hypothesis import given, settings
from hypothesis import strategies as st

from gqlnb.document import validation
from gqlnb.document.validation import check_overlapping_fields, validate_document
from tests.examples import count_examples

SDL = """
interface Named { name(short: Boolean, of: In): String self: Named list: [Named!] }
input In { a: Int b: [Int] }
type Dog implements Named {
  name(short: Boolean, of: In): String self: Dog list: [Named!] age: Int odd: String! owner: Owner }
type Cat implements Named {
  name(short: Boolean, of: In): String self: Named list: [Named!] age: Float odd: Int }
type Owner { pet: Pet name: String age: Int! }
union Pet = Dog | Cat
type Query { pet: Pet dog: Dog cat: Cat named: Named owner: Owner name: String s(a: Int): String }
"""
SCHEMA = build_schema(SDL)
NAMES = ["name", "self", "list", "age", "odd", "owner", "pet", "dog", "cat", "named", "nope"]
ARGUMENTS = ["", "(short: true)", "(short: $v)", "(of: {a: 1, b: [2]})", "(of: {b: [2], a: 1})"]
FRAGMENTS = ["A", "B", "C"]

field = st.tuples(
    st.sampled_from(["", "", "x: ", "name: "]), st.sampled_from(NAMES), st.sampled_from(ARGUMENTS)
).map("".join)
spread = st.sampled_from(FRAGMENTS).map("...{}".format)
kinds = st.sampled_from(["Dog", "Cat", "Named", "Pet", "Owner", "Query", "Nope"])


def build_set(selections: list[str]) -> str:
    """Return a selection set."""
    return "{ " + " ".join(selections) + " }"


selection_sets = st.recursive(
    st.lists(field | spread, min_size=1, max_size=4).map(build_set),
    lambda inner: st.lists(
        field
        | spread
        | st.tuples(field, inner).map(" ".join)
        | st.tuples(kinds.map("... on {}".format), inner).map(" ".join)
        | inner.map("... {}".format),
        min_size=1,
        max_size=5,
    ).map(build_set),
    max_leaves=12,
)
documents = st.tuples(selection_sets, *[st.tuples(kinds, selection_sets)] * len(FRAGMENTS)).map(
    lambda parts: " ".join(
        [parts[0]]
        + [
            f"fragment {name} on {kind} {body}"
            for name, (kind, body) in zip(FRAGMENTS, parts[1:], strict=True)
        ]
    )
)


@settings(max_examples=count_examples(150))
@given(documents)
def test_conflicts_and_errors_are_those_of_graphql_core(text):
    """Valid and invalid documents, with recursive fragments and unknown types."""
    document = parse(text)
    conflicts = validate(SCHEMA, document, [OverlappingFieldsCanBeMergedRule])
    found = check_overlapping_fields(SCHEMA, document)
    # An error takes the place of the rule's where the rule would take too long.
    assert (found.needs_rule or found.error is not None) == bool(conflicts)
    if found.error is None:
        expected = [error.formatted for error in validate(SCHEMA, document)]
        assert [error.formatted for error in validate_document(SCHEMA, document)] == expected


def repeat_fragments(count: int) -> str:
    """Return a document with that many fragments, all spread in one place."""
    spreads = "".join(f"...f{n} " for n in range(count))
    return f"{{ {spreads}}}" + "".join(
        f" fragment f{n} on Query {{ dog {{ name }} }}" for n in range(count)
    )


HOSTILE = {
    "fields": "{" + "dog { name } " * 1200 + "}",
    "fragments": repeat_fragments(300),
    "arguments": "{" + "s(a: 1) " * 800 + "}",
    "inline": "{ pet {" + "... on Dog { name } ... on Cat { name } " * 300 + "} }",
    "nested": "{ dog {" + "self {" * 15 + "name " * 2000 + "}" * 15 + "} }",
}
CONFLICTS = {
    "arguments": "{" + "s(a: 1) s(a: 2) " * 500 + "}",
    "names": "{ dog {" + "x: name x: age " * 600 + "} }",
    "types": "{ pet {" + "... on Dog { x: name } ... on Cat { x: age } " * 300 + "} }",
    "fragments": repeat_fragments(300).replace("dog { name }", "x: name", 1)
    + " fragment g on Query { ...f0 x: dog { name } ...f1 ...f2 }",
    "deep": "{ dog {" + "self { x: name x: age " * 100 + "name" + "}" * 100 + "} }",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_repeated_fields_are_checked_in_linear_time(name):
    """graphql-core takes one to three seconds for each, or gives up."""
    document = parse(HOSTILE[name])
    seconds = []
    for _ in range(3):
        began = process_time()
        assert check_overlapping_fields(SCHEMA, document) == (False, None)
        seconds.append(process_time() - began)
    assert min(seconds) < 0.05
    assert validate_document(SCHEMA, document) == []


@pytest.mark.parametrize("name", CONFLICTS)
def test_many_conflicts_are_one_error(name):
    """It says which fields, and what to do."""
    document = parse(CONFLICTS[name])
    began = process_time()
    found = validate_document(SCHEMA, document)
    assert process_time() - began < 1
    assert any(" conflict because " in error.message for error in found)
    assert all(error.locations for error in found)


def test_documents_over_the_bound_are_refused_with_a_reason(monkeypatch):
    """Each merged set is visited once; a document that has too many gets one error."""
    monkeypatch.setattr(validation, "MAX_VISITED_FIELDS", 1_000)
    (error,) = validate_document(SCHEMA, parse(HOSTILE["fields"]))
    assert "lead to more than 1,000 fields" in error.message


def test_fragments_that_expand_to_millions_of_fields_are_visited_once():
    """Twenty fragments that each spread the next twice."""
    text = "{ dog { ...g0 } } fragment g20 on Dog { name }" + "".join(
        f" fragment g{n} on Dog {{ a: self {{ ...g{n + 1} }} b: self {{ ...g{n + 1} }} }}"
        for n in range(20)
    )
    began = process_time()
    assert check_overlapping_fields(SCHEMA, parse(text)) == (False, None)
    assert process_time() - began < 0.05


def test_deeply_spread_fragments_are_refused_with_a_reason():
    """Graphql-core says "Validation aborted." only."""
    text = "{ ...f0 }" + "".join(
        f" fragment f{n} on Query {{ name ...f{n + 1} }}" for n in range(400)
    )
    text += " fragment f400 on Query { name }"
    found = [error.message for error in validate_document(SCHEMA, parse(text))]
    assert all("Validation aborted." not in message for message in found)
    assert not found or "MAX_NESTING_DEPTH" in found[-1]


def test_fragments_shared_by_many_operations_are_refused_with_a_reason():
    """graphql-core gives up on these too."""
    text = "".join(f"query q{n}($v: Int) {{ ...f0 }} " for n in range(600))
    text += "".join(f"fragment f{n} on Query {{ s(a: $v) ...f{n + 1} }} " for n in range(190))
    text += "fragment f190 on Query { s(a: $v) }"
    began = process_time()
    (error,) = validate_document(SCHEMA, parse(text))
    assert "MAX_FRAGMENT_WORK" in error.message
    assert process_time() - began < 5

"""Notes in the extensions of answers."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gqlnb.result.answer_notes import (
    MAX_NOTES,
    iterate_warnings,
    merge_extensions,
    read_missing_fields,
    read_notes,
    summarize_notes,
)

PLACES = st.sampled_from([f"Repository.{letter}" for letter in "abcdefgh"])
OUTCOMES = st.sampled_from(["null", "empty", "generated", "derived"])
WARNINGS = st.lists(
    st.one_of(
        st.sampled_from("xyz"),
        st.fixed_dictionaries({"type": st.sampled_from("AB"), "message": st.sampled_from("mn")}),
        st.none(),
        st.integers(),
    ),
    max_size=4,
)
EXTENSIONS = st.fixed_dictionaries(
    {},
    optional={
        "standIn": st.one_of(st.dictionaries(PLACES, OUTCOMES, max_size=4), st.none()),
        "warnings": st.one_of(WARNINGS, st.none()),
        "cost": st.integers(),
    },
)


@given(st.lists(EXTENSIONS, max_size=5))
def test_merged_extensions_have_the_notes_of_all(answers: list[dict[str, Any]]):
    """The notes of merged extensions are those of each, and other members are the last."""
    merged: Any = {}
    for each in answers:
        merged = merge_extensions(merged, each)
    assert set(read_notes(merged)) == {key for each in answers for key in read_notes(each)}
    costs = [each["cost"] for each in answers if "cost" in each]
    assert merged.get("cost") == (costs[-1] if costs else None)


@given(EXTENSIONS)
def test_derived_values_are_no_missing_data(extensions: dict[str, Any]):
    """A field whose value follows from facts by a rule is not reported."""
    listed = extensions.get("standIn") or {}
    missing = read_missing_fields(extensions)
    assert missing == {place: it for place, it in listed.items() if it != "derived"}


def test_an_endpoint_cannot_fill_the_memory_with_warnings():
    """At most twenty kinds of warnings are kept."""
    merged: Any = {"warnings": ["0"]}
    for number in range(100):
        merged = merge_extensions(merged, {"warnings": [str(number)]})
    assert len(list(iterate_warnings(merged))) == MAX_NOTES


def test_a_summary_names_each_field_once():
    """One sentence lists the fields, others follow, and the number of the rest is stated."""
    notes = read_notes({"standIn": dict.fromkeys("abcdefg", "null"), "warnings": ["Old ids."]})
    assert summarize_notes([*notes.values()], "notes") == [
        "Not in the data of the stand-in: a (null), b (null), c (null), d (null), e (null). "
        "The endpoint warns: Old ids. 2 more notes: see notes."
    ]
    assert summarize_notes([], "notes") == []

"""Notes in the extensions of answers."""

from __future__ import annotations

import asyncio
import io
import pickle
import re
import warnings
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gqlnb
from gqlnb import Client, Result
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
def test_merged_extensions_have_the_notes_of_all(answers):
    """The notes of merged extensions are those of each, and other members are the last."""
    merged: Any = {}
    for each in answers:
        merged = merge_extensions(merged, each)
    assert set(read_notes(merged)) == {key for each in answers for key in read_notes(each)}
    costs = [each["cost"] for each in answers if "cost" in each]
    assert merged.get("cost") == (costs[-1] if costs else None)


@given(EXTENSIONS)
def test_derived_values_are_no_missing_data(extensions):
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


NOTE = "Not in the data of the stand-in: Repository.issues (empty)."
ISSUES = "{ name issues { totalCount } }"
SEARCH = (
    'query ($q: String = "stars:>100000") { search(query: $q, type: REPOSITORY, first: 3) '
    f"{{ nodes {{ ... on Repository {ISSUES} }} }} }}"
)
LOOKUP = (
    f"query ($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) {ISSUES} }}"
)
INPUTS = [{"owner": "torvalds", "name": "linux"}, {"owner": "python", "name": "cpython"}]


async def amap(client: Client) -> pd.DataFrame:
    """Map without blocking."""
    return await client.amap(LOOKUP, INPUTS)


FRAMES = {
    "execute": lambda client: client.execute(SEARCH).df,
    "tables": lambda client: client.execute(SEARCH).frames["search"],
    "frame": lambda client: client.frame(SEARCH),
    "all pages": lambda client: client.frame(SEARCH, max_results=5),
    "execute_all": lambda client: client.execute_all(SEARCH, max_results=5).frame(),
    "pages": lambda client: gqlnb.concat([it.df for it in client.pages(SEARCH, max_results=5)]),
    "execute_many": lambda client: client.execute_many([SEARCH])[0].df,
    "map": lambda client: client.map(LOOKUP, INPUTS),
    "amap": lambda client: asyncio.run(amap(client)),
    "concat": lambda client: gqlnb.concat(
        [client.frame("{ rateLimit { cost } }"), client.frame(SEARCH)]
    ),
}


@pytest.mark.parametrize("build", FRAMES.values(), ids=FRAMES)
def test_zeros_without_data_are_noted_with_every_frame(build):
    """A totalCount that the stand-in has no facts for says nothing: in attrs, and a warning."""
    with pytest.warns(UserWarning, match=re.escape(NOTE)):
        frame = build(gqlnb.connect("demo"))
    assert frame.attrs["notes"] == [NOTE]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clean = gqlnb.connect("demo").frame(
            SEARCH.replace("issues { totalCount }", "stargazerCount")
        )
    assert "notes" not in clean.attrs


@pytest.mark.parametrize(
    "execute", [Client.execute, Client.execute_all], ids=lambda it: it.__name__
)
def test_a_result_shows_its_notes(execute):
    """Below its rows, as text and HTML; in a file they are beside the rows."""
    result = execute(gqlnb.connect("demo"), SEARCH.replace("100000", "300000"))
    assert result.notes == (NOTE,)
    assert repr(result).splitlines()[-1] == NOTE
    assert NOTE in result._repr_mimebundle_()[0]["text/html"]
    assert pickle.loads(pickle.dumps(result)).notes == (NOTE,)
    with pytest.warns(UserWarning, match=re.escape(NOTE)):
        result.to_parquet(file := io.BytesIO())
    assert pd.read_parquet(file).attrs["notes"] == [NOTE]


def test_warnings_of_an_endpoint_are_notes_without_a_warning():
    """They are about the query, not about its values."""
    result = Result({"a": 1}, extensions={"warnings": [{"type": "OLD", "message": "Old ids."}] * 2})
    assert result.notes == ("The endpoint warns: Old ids.",)
    assert repr(result).endswith("\nThe endpoint warns: Old ids.")

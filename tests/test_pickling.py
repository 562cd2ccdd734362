"""Public objects are pickled, or say why they are not."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pandas as pd
import pytest

import gqlnb
from gqlnb import Schema
from gqlnb.result.event_frames import build_events_frames

SEARCH = 'search(query: "stars:>300000", type: REPOSITORY, first: 3)'
TEXT = f"{{ {SEARCH} {{ nodes {{ ... on Repository {{ name }} }} }} }}"


def again(value: Any) -> Any:
    """Return a value as another process would get it."""
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize(
    "make", [lambda it: it.frames, lambda it: it.tables(quiet=True)], ids=["frames", "tables"]
)
def test_frames_are_pickled(make):
    """With their result, from which they are read again; a large schema travels with it."""
    result = gqlnb.connect("demo").execute(TEXT)
    frames = make(result)
    found = again(frames)
    assert list(found) == ["search"]
    pd.testing.assert_frame_equal(found["search"], frames["search"])
    copied = copy.deepcopy(frames)
    pd.testing.assert_frame_equal(copied["search"], frames["search"])


def test_results_of_resolvers_are_pickled():
    """Of local functions too: the schema of a pickled result has types only."""
    schema = Schema("type Query { n: Int }", {"Query": {"n": lambda *_: 5}})
    result = schema.execute("{ n }")
    found = again(result)
    assert found.data == {"n": 5}
    assert found.df["n"].dtype == "Int64"
    resolve = found.document.schema.query_type.fields["n"].resolve
    with pytest.raises(gqlnb.SchemaError, match="its functions are missing"):
        resolve(None, None)


def test_a_partial_error_is_pickled_with_its_result():
    """A worker process may raise it."""
    schema = Schema("type Query { n: Int m: Int }", {"Query": {"n": lambda *_: 1 // 0}})
    with pytest.raises(gqlnb.PartialError) as caught:
        schema.execute("{ n m }").raise_for_errors()
    found = again(caught.value)
    assert found.result.errors[0]["path"] == ["n"]


@pytest.mark.parametrize(
    "make",
    [
        gqlnb.reference_schema,
        gqlnb.github.service,
        lambda: Schema.mock("type Query { n: Int }"),
        lambda: Schema.from_frame(rows=pd.DataFrame({"a": [1]})),
    ],
    ids=["reference", "service", "mock", "frame"],
)
def test_a_schema_says_why_it_is_not_pickled(make):
    """It has functions of this process; a copy of it works."""
    schema = make()
    with pytest.raises(TypeError, match=r"A Schema cannot be pickled: .* schema\.sdl"):
        pickle.dumps(schema)
    assert copy.copy(schema).execute("{ __typename }").data == {"__typename": "Query"}


def test_a_deep_copy_of_a_schema_is_its_own():
    """A resolver that is bound to it later is not the other's."""
    schema = gqlnb.reference_schema()
    copied = copy.deepcopy(schema)
    copied.resolver("Query.hello")(lambda *_: "Bye")
    assert copied.execute("{ hello }").data == {"hello": "Bye"}
    assert schema.execute("{ hello }").data == {"hello": "Hello world!"}


def test_a_server_says_why_it_is_not_pickled():
    """Neither is it copied; its address is text."""
    with gqlnb.serve(gqlnb.reference_schema(), port=0) as server:
        for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"A Server cannot be pickled .* server\.url"):
                duplicate(server)


def test_frames_of_events_say_why_they_are_not_pickled():
    """They have no result of their own."""
    results = [gqlnb.reference_schema().execute("{ hello }")]
    with pytest.raises(TypeError, match=r"Pickle dict\(frames\)"):
        pickle.dumps(build_events_frames(results))

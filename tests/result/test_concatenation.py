"""Concatenating frames without losing dtypes."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from graphql import build_schema

import gqlnb
from gqlnb import FrameError, Result
from gqlnb.document.document import Document

SCHEMA = build_schema(
    "scalar Datetime enum Size { S M L } scalar Decimal "
    "type Query { rows: [Row] } type Row { at: Datetime size: Size price: Decimal n: Int }"
)
DOCUMENT = Document.parse("{ rows { at size price n } }", SCHEMA)
LOCAL, ZONED = "2026-01-02T03:04:05", "2026-01-02T03:04:05Z"


def read(*rows):
    """Return the frame of an answer with rows of timestamp and size."""
    members = [{"at": at, "size": size, "price": None, "n": None} for at, size in rows]
    body = json.dumps({"data": {"rows": members}}).encode()
    return Result.from_bytes(body, DOCUMENT, source="here").frame()


@pytest.mark.parametrize(
    ("moment", "dtype"), [(LOCAL, "datetime64[us]"), (ZONED, "datetime64[us, UTC]")]
)
@pytest.mark.parametrize("blank", [[], [(None, None)]])
def test_frames_without_values_take_the_dtype_of_the_others(moment, dtype, blank):
    """An empty page, and one of nulls, before pages with values and after them."""
    frames = [read(*blank), read((moment, "S")), read(*blank), read((moment, "L"))]
    whole = gqlnb.concat(frames)
    assert str(whole["at"].dtype) == dtype
    assert whole["at"].count() == 2
    assert whole["at"].iloc[-1] == pd.Timestamp(moment)
    assert list(whole.index) == list(range(len(whole)))
    assert str(whole["n"].dtype) == "Int64"
    assert whole["price"].tolist() == [None] * len(whole)


def test_enums_keep_their_categories():
    """The order of the schema, then the values that it does not know, as in one frame."""
    whole = gqlnb.concat([read((None, "L")), read((None, "XL"), (None, "S")), read((None, "XS"))])
    assert list(whole["size"].cat.categories) == ["S", "M", "L", "XL", "XS"]
    assert whole["size"].tolist() == ["L", "XL", "S", "XS"]


def test_frames_that_disagree_are_left_to_pandas():
    """No value is changed."""
    whole = gqlnb.concat([read((LOCAL, None)), read((ZONED, None))])
    assert whole["at"].dtype == object
    assert whole["at"].tolist() == [pd.Timestamp(LOCAL), pd.Timestamp(ZONED)]
    numbers = gqlnb.concat([pd.DataFrame({"n": [1]}), pd.DataFrame({"n": [None]}, dtype=object)])
    assert numbers["n"].tolist()[0] == 1


def test_the_frames_themselves_stay_as_they_are():
    """Copies are converted."""
    blank = read()
    before = blank.dtypes.copy()
    gqlnb.concat([blank, read((LOCAL, "S"))])
    assert blank.dtypes.equals(before)


def test_common_attrs_are_kept():
    """One partial frame makes the result partial."""
    one, other = read((LOCAL, "S")), read()
    other.attrs |= {"partial": True, "dropped": 3}
    whole = gqlnb.concat([one, other], ignore_index=False)
    assert whole.attrs["source"] == "here"
    assert whole.attrs["partial"] is True
    assert "dropped" not in whole.attrs


@pytest.mark.parametrize(("given", "named"), [([], "nothing"), ([[1]], "list"), ("ab", "str")])
def test_values_that_are_not_frames_are_named_in_the_error(given, named):
    """The message describes valid arguments."""
    with pytest.raises(FrameError, match=f"takes DataFrames, .*got {named}"):
        gqlnb.concat(given)


def test_one_frame_and_repeated_columns_are_refused():
    """With what is right, instead of an error from inside pandas."""
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(FrameError, match=r"takes several DataFrames.*got one DataFrame"):
        gqlnb.concat(frame)
    with pytest.raises(FrameError, match="different names; 'a' is there twice"):
        gqlnb.concat([frame, frame])

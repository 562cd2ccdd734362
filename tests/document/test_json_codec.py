"""JSON both ways."""

import json
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.document import json_codec
from gqlnb.document.json_codec import JSONError, dump_json, encode_in_pieces, load_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


@given(VALUES)
def test_json_values_round_trip(value):
    """Integers of any size included."""
    assert load_json(dump_json(value)) == value
    assert json.loads(dump_json(value)) == value


@given(VALUES)
def test_a_value_in_pieces_is_encoded_as_a_whole(value):
    """Lists and dicts are divided wherever they are."""
    whole = {"data": {"value": value, "rows": [value] * 20}}
    with mock.patch.object(json_codec, "PIECE_BYTES", 8):
        for is_valid in (True, False):
            body = bytearray()
            pieces = sum(1 for _ in encode_in_pieces(whole, body, is_valid=is_valid))
            assert body == dump_json(whole)
            assert pieces > 2


@pytest.mark.parametrize("value", [[1, 2, {3}], {"a": {1: 2}}])
def test_a_piece_without_a_json_form_is_refused(value):
    """So are keys that are not strings."""
    with pytest.raises(JSONError):
        list(encode_in_pieces(value, bytearray(), is_valid=False))


def test_a_dict_with_many_members_is_one_piece():
    """As a value of a JSON scalar may be: a piece of each member would take much longer."""
    body, value = bytearray(), {"data": {str(number): [number] for number in range(10_000)}}
    assert sum(1 for _ in encode_in_pieces(value, body, is_valid=True)) == 1
    assert bytes(body) == dump_json(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [1.0, float("nan")]}, "nan at a[1] has no JSON form"),
        (float("inf"), "inf has no JSON form"),
        ({"a": {"b": object()}}, "A object at a.b has no JSON form"),
        ({"a": "\ud800"}, "Lone surrogate in text at a"),
        ({"a": {"\udc00": 1}}, "Lone surrogate in text of a key at a"),
        ({1: 2}, "Key 1 is not a string"),
        ([b"x"], "A bytes at [0] has no JSON form"),
    ],
)
def test_values_without_a_json_form_are_named_with_their_path(value, message):
    """NaN is not written as null, and no value is dropped."""
    with pytest.raises(JSONError) as caught:
        dump_json(value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [b"NaN", b'{"a": Infinity}', b'"\xff"', b'"\\ud800"', b"{", b"", b"[" * 100_000, b"1e999"],
)
def test_invalid_json_is_refused(body):
    """NaN, bad UTF-8, lone surrogates, truncated and too deeply nested texts."""
    with pytest.raises(JSONError):
        load_json(body)


def test_the_last_of_duplicate_keys_is_used():
    """As in common JSON libraries."""
    assert load_json(b'{"a": 1, "a": 2}') == {"a": 2}
